"""A campaign from the first draw to the number."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import fewgold as fg
from fewgold import registry
from fewgold.campaign import Campaign, is_campaign
from fewgold.campaign.store import wave_seed
from fewgold.errors import DataError, DesignError, FewgoldError
from fewgold.estimators import Mean
from fewgold.formats import Rating, key
from fewgold.pool import Pool
from fewgold.samplers import Chances


def test_the_pool_comes_back_as_it_was(campaign: Campaign, pool: Pool) -> None:
    back = Campaign(campaign.path).pool
    assert back.fingerprint == pool.fingerprint
    assert back.texts["output"].tolist() == pool.texts["output"].tolist()
    for name in pool.metrics:
        assert back.metrics[name].tobytes() == pool.metrics[name].tobytes()
    assert dict(back.orientation) == dict(pool.orientation)


def test_a_pool_of_numbers_without_anything_else(tmp_path: Path) -> None:
    pool = Pool(ids=np.arange(10))
    study = Campaign.create(tmp_path / "x.fewgold", pool, seed=1)
    assert study.path == tmp_path / "x.fewgold"
    assert study.settings.strategy == "random+mean"
    assert study.select(4).n == 4
    assert len(study.tasks().to_rate) == 4


@pytest.mark.filterwarnings("error")
def test_a_forgotten_campaign_is_closed_wherever_garbage_is_collected(campaign: Campaign) -> None:
    """Python 3.13 warns of connections that are collected in another thread."""
    said = []

    def work() -> None:
        study = Campaign(campaign.path)
        study.__dict__["itself"] = study  # only the garbage collector frees it

    with patch("sys.unraisablehook", said.append):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        gc.collect()
    assert said == []


def test_nothing_is_overwritten(campaign: Campaign, pool: Pool) -> None:
    with pytest.raises(DataError, match="exists already"):
        Campaign.create(campaign.path.parent, pool)
    assert not [p for p in campaign.path.parent.iterdir() if p.name.startswith(".")]


def test_the_same_seed_draws_what_the_file_commands_draw(campaign: Campaign, pool: Pool) -> None:
    wave = campaign.select(12)
    direct = registry.strategy(campaign.settings.strategy, pool).select(pool, 12, rng=4)
    assert list(wave.ids) == direct.ids.tolist()
    np.testing.assert_array_equal(campaign.sample.design.inclusion, direct.design.inclusion)


def test_estimates_equal_those_of_the_library(
    campaign: Campaign, pool: Pool, answer: object
) -> None:
    chosen = registry.strategy(campaign.settings.strategy, pool)
    first = chosen.select(pool, 12, rng=4)
    ratings = first.rate({i: float((int(i) * 37) % 101) for i in first.ids}, limits=(0, 100))
    second = chosen.select(pool, 8, given=ratings, rng=wave_seed(4, 2))
    both = second.rate({i: float((int(i) * 37) % 101) for i in second.ids})
    wanted = chosen.estimate(both)

    campaign.select(12)
    campaign.add(answer(list(campaign.waves[0].ids)))  # type: ignore[operator]
    campaign.more(8)
    campaign.add(answer(list(campaign.waves[1].ids)))  # type: ignore[operator]
    made = Campaign(campaign.path).estimate()
    assert made.value == wanted.value and made.se == wanted.se
    assert made.interval() == wanted.interval()
    assert made.signature().split("|y:")[0] == wanted.signature().split("|y:")[0]  # type: ignore


def test_a_wave_may_be_drawn_before_the_answers_came(campaign: Campaign, pool: Pool) -> None:
    """What is drawn does not depend on scores, so one need not wait for them."""
    campaign.select(12)
    early = campaign.more(8)
    chosen = registry.strategy(campaign.settings.strategy, pool)
    first = chosen.select(pool, 12, rng=4)
    for scores in (np.zeros(12), np.arange(12.0)):
        late = chosen.select(pool, 8, given=first.rate(scores), rng=wave_seed(4, 2))
        assert late.ids.tolist() == list(early.ids)


def test_random_waves_make_a_random_sample(tmp_path: Path, pool: Pool, answer: object) -> None:
    study = Campaign.create(
        tmp_path / "s", pool, strategy="random", seed=2, limits=(0, 100), tolerance=20
    )
    study.select(20)
    study.more(10)
    design = study.sample.design
    assert design.kind == "simple" and np.allclose(design.weights, 1 / 30)
    study.add(answer(list(study.sample.ids)))  # type: ignore[operator]
    status = study.status()
    assert status.stop is not None and status.stop["looked_at"] == 30
    assert status.stop["low"] <= float(study.scores().mean()) <= status.stop["high"]


def test_the_rule_waits_for_all_raters(tmp_path: Path, pool: Pool, answer: object) -> None:
    study = Campaign.create(
        tmp_path / "s", pool, strategy="random", seed=2, limits=(0, 100), tolerance=20, each=2
    )
    ids = list(study.select(20).ids)
    study.add(answer(ids))  # type: ignore[operator]
    assert study.status().stop is None
    study.add(answer(ids[:7], "bob"))  # type: ignore[operator]
    stop = study.status().stop
    assert stop is not None and stop["looked_at"] == 7


def test_a_bound_that_does_not_fit_is_refused_at_the_beginning(tmp_path: Path, pool: Pool) -> None:
    with pytest.raises(FewgoldError, match="star cannot be used with docs-balanced"):
        Campaign.create(tmp_path / "s", pool, bound="star", limits=(0, 100))
    with pytest.raises(FewgoldError, match="none-such"):
        Campaign.create(tmp_path / "s", pool, bound="none-such")
    assert not (tmp_path / "s").exists()
    Campaign.create(tmp_path / "s", pool, bound="star", strategy="random+mean", limits=(0, 100))


@pytest.mark.parametrize("seeds", [20, pytest.param(60, marks=pytest.mark.slow)])
def test_unbiased_over_waves_with_late_answers(tmp_path: Path, seeds: int) -> None:
    """Over many campaigns with two waves, the mean of estimates is the truth."""
    pool, gold = fg.datasets.load_demo("zhen")
    pool, gold = pool.take(np.arange(200)), gold[:200]
    human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))
    values = []
    for seed in range(seeds):
        path = tmp_path / f"{seed}.fewgold"
        with Campaign.create(path, pool, strategy="docs-sys+mean", seed=seed) as study:
            study.select(20)
            study.more(10)
            study.add(Rating(i, human[i]) for i in reversed(study.sample.ids.tolist()))
            values.append(float(study.estimate().value))
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    assert abs(np.mean(values) - gold.mean()) < 3.5 * error


def test_gaps_need_a_choice(campaign: Campaign, answer: object) -> None:
    wave = campaign.select(15)
    campaign.add(answer(list(wave.ids[:11])))  # type: ignore[operator]
    assert campaign.unrated == wave.ids[11:]
    with pytest.raises(DataError, match="4 of 15 segments are unrated"):
        campaign.estimate()
    chance = campaign.estimate("at-random")
    assert any("treated as missing at random" in note for note in chance.to_dict()["notes"])
    bounds = campaign.estimate("bounds")
    assert "gaps:4-worst-case" in bounds.signature()  # type: ignore[union-attr]
    assert bounds.to_dict()["low"] <= chance.value <= bounds.to_dict()["high"]


def test_raters_and_repeats_are_all_kept(campaign: Campaign) -> None:
    one, two, *rest = campaign.select(10).ids
    campaign.add([Rating(one, 10, "ann"), Rating(one, 30, "bob"), Rating(two, 50, "ann")])
    campaign.add([Rating(one, 20, "ann"), Rating(two, 50, "ann"), Rating(two, 70, "ann")])
    assert len(campaign.answers()) == 5
    places = {i: k for k, i in enumerate(campaign.sample.ids.tolist())}
    scores = campaign.scores()
    assert scores[places[one]] == (20 + 30) / 2 and scores[places[two]] == 70
    campaign.change(repeats="first")
    assert campaign.scores()[places[one]] == (10 + 30) / 2
    campaign.change(repeats="mean", among="median")
    assert campaign.scores()[places[two]] == 60
    assert campaign.status().changed == 2
    assert len(campaign.unrated) == len(rest)


def test_times_tell_which_answer_is_the_last(campaign: Campaign) -> None:
    one = campaign.select(5).ids[0]
    campaign.add([Rating(one, 40, "ann", "2026-11-16T12:00:00+02:00")])
    campaign.add([Rating(one, 80, "ann", "2026-11-16T09:00:00Z")])  # earlier, but arrived later
    assert np.nanmax(campaign.scores()) == 40


def test_scores_go_by_the_times_of_each_rater_alone(campaign: Campaign) -> None:
    """Against a slow twin: some raters' answers have times, some none, some have them in part."""
    rng = np.random.default_rng(8)
    ids = campaign.select(6).ids
    told: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for arrival in range(90):
        one, rater = str(rng.choice(ids)), str(rng.choice(["ann", "bob", "cid"]))
        timed = {"ann": True, "bob": False, "cid": bool(arrival % 2)}[rater]
        time = f"2026-11-{rng.integers(10, 29)}T08:00:00Z" if timed else ""
        told.setdefault((one, rater), []).append((time, float(rng.integers(0, 101))))
        campaign.add([Rating(one, told[one, rater][-1][1], rater, time, answer=str(arrival))])
    for repeats, place in (("last", -1), ("first", 0)):
        expected: dict[str, list[float]] = {}
        for (one, _), given in told.items():
            # sorted keeps the order of arrival where times are equal
            line = sorted(given, key=lambda g: g[0]) if all(t for t, _ in given) else given
            expected.setdefault(one, []).append(line[place][1])
        campaign.change(repeats=repeats)
        places = {i: k for k, i in enumerate(campaign.sample.ids.tolist())}
        found = campaign.scores()
        for one, each in expected.items():
            assert found[places[one]] == pytest.approx(sum(each) / len(each))


def test_what_is_acknowledged_is_on_the_disk(campaign: Campaign, tmp_path: Path) -> None:
    """A commit waits for the disk, in the campaign that was just made and in one opened again."""
    with Campaign(tmp_path / "study") as again:
        for one in (campaign, again):
            found = {
                name: one.store.database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("synchronous", "journal_mode", "foreign_keys")
            }
            assert found == {"synchronous": 2, "journal_mode": "wal", "foreign_keys": 1}  # FULL


def test_answers_that_come_twice_are_known(campaign: Campaign, answer: object) -> None:
    wave = campaign.select(10)
    first = campaign.add(answer(list(wave.ids[:5])))  # type: ignore[operator]
    again = campaign.add(answer(list(wave.ids)))  # type: ignore[operator]
    assert (first.stored, first.known, again.stored, again.known) == (5, 0, 5, 5)


def test_answers_that_may_not_count_are_set_aside(campaign: Campaign, pool: Pool) -> None:
    wave = campaign.select(10)
    outside = next(i for i in pool.ids.tolist() if i not in wave.ids)
    place = pool.ids.tolist().index(wave.ids[0])
    mine = key(place, wave.ids[0], pool.fingerprint)
    receipt = campaign.add(
        [
            Rating(outside, 5, "ann"),
            Rating("nobody", 5, "ann"),
            Rating(key(place, wave.ids[0], "another pool"), 5, "ann"),
            Rating(mine, 5, "ann", details={"id": wave.ids[1]}),
            Rating(mine, 105, "ann"),
            Rating(mine, 6, "ann", details={"id": "7"}),  # a spreadsheet took the zeros away
        ]
    )
    assert receipt.stored == 1 and sum(receipt.set_aside.values()) == 4 and receipt.rejected == 1
    assert len(receipt.set_aside) == 4
    assert campaign.status().rejected == 1
    assert np.nansum(campaign.scores()) == 6


def test_answers_can_be_adopted_when_their_segment_is_sampled(
    campaign: Campaign, pool: Pool
) -> None:
    wave = campaign.select(10)
    campaign.add(Rating(i, 5, "ann") for i in pool.ids.tolist() if i not in wave.ids)
    assert campaign.status().adoptable == 0
    more = campaign.more(5)
    assert campaign.unrated == (*wave.ids, *more.ids)  # not by themselves
    assert campaign.status().adoptable == 5
    assert campaign.adopt() == 5
    assert campaign.unrated == wave.ids and campaign.status().adoptable == 0
    assert len(campaign.store.set_aside()) == 45


def test_systems_of_a_file_must_be_told_apart(campaign: Campaign) -> None:
    one = campaign.select(5).ids[0]
    both = [Rating(one, 5, "ann", system="A"), Rating(one, 50, "ann", system="B")]
    with pytest.raises(DataError, match="rates several systems"):
        campaign.add(both)
    campaign.change(system="B")
    receipt = campaign.add(both)
    assert receipt.stored == 1 and receipt.set_aside == {"it rates another system": 1}
    assert np.nansum(campaign.scores()) == 50


def test_text_that_is_no_text_is_rejected(campaign: Campaign) -> None:
    one = campaign.select(5).ids[0]
    receipt = campaign.add([Rating(one, 5, "\ud800"), Rating(one, 5, "a\0b")])
    assert receipt.stored == 1 and receipt.rejected == 1
    assert "d800" in campaign.store.rejected()["raw"][0]


def test_one_at_a_time(tmp_path: Path, pool: Pool) -> None:
    """A strategy that learns hands out segments one by one, up to its budget."""
    study = Campaign.create(
        tmp_path / "s", pool, strategy="docs-incr-human+mean", seed=1, limits=(0, 100)
    )
    study.select(8)
    seen = []
    while (segment := study.next("ann")) is not None:
        assert study.next("ann") == segment and study.sample.n == len(seen) + 1
        seen.append(segment.id)
        study.add([Rating(segment.key, float((int(segment.id) * 37) % 101), "ann")])
    assert len(seen) == len(set(seen)) == 8 and len(study.waves) == 8
    assert study.estimate().n == 8  # type: ignore[attr-defined]
    study.more(2)
    assert study.next("ann") is not None


def test_nobody_waits_where_one_segment_is_drawn_at_a_time(tmp_path: Path, pool: Pool) -> None:
    """Others get segments of their own meanwhile; what is with a rater counts as taken."""
    study = Campaign.create(
        tmp_path / "s", pool, strategy="docs-incr-human+mean", seed=1, limits=(0, 100)
    )
    study.select(9)
    people = ["ann", "bob", "cleo"]
    handed = {name: study.next(name) for name in people}
    assert len({s.id for s in handed.values() if s is not None}) == 3 == study.sample.n
    for turn in range(20):  # ann answers rarely
        name = people[turn % 3] if turn % 6 == 0 else people[1 + turn % 2]
        segment = study.next(name)
        if segment is not None:
            study.add([Rating(segment.key, float((int(segment.id) * 37) % 101), name)])
    for name in people:
        while (segment := study.next(name)) is not None:
            study.add([Rating(segment.key, 3.0, name)])
    assert study.sample.n == 9 == len(set(study.sample.ids.tolist())) and not study.unrated
    assert study.estimate().n == 9  # type: ignore[attr-defined]


def test_two_raters_get_different_segments(tmp_path: Path, pool: Pool) -> None:
    study = Campaign.create(tmp_path / "s", pool, seed=1)
    study.select(4)
    ann, bob = study.next("ann"), study.next("bob")
    assert ann is not None and bob is not None and ann.id != bob.id
    assert study.next("ann") == ann  # hers until she answers
    assert study.next("cleo", hold=0) == ann  # unless it takes too long
    study.change(each=2)
    study.add([Rating(i, 1, "ann") for i in study.sample.ids.tolist()])
    assert study.next("ann") is None and study.next("bob") is not None
    assert study.status().incomplete == 4


@pytest.mark.parametrize(("strategy", "as_drawn"), [("random", True), ("metrics-prop", False)])
def test_segments_are_handed_out_in_a_random_order(
    tmp_path: Path, pool: Pool, strategy: str, as_drawn: bool
) -> None:
    """A random sample lies in a random order; one that is listed by stratum does not."""
    study = Campaign.create(tmp_path / strategy, pool, seed=4, strategy=f"{strategy}+mean")
    wave, handed = study.select(20), []
    while (segment := study.next("ann")) is not None:
        handed.append(segment.id)
        study.desk.rate(Rating(segment.key, 1.0, "ann", answer=f"form-{len(handed)}"))
    assert sorted(handed) == sorted(wave.ids)
    assert (handed == list(wave.ids)) == as_drawn


def test_context_stands_around_what_is_to_be_rated(campaign: Campaign, pool: Pool) -> None:
    campaign.select(6)
    tasks = campaign.tasks("all", context=1)
    chosen = {s.id for s in tasks.to_rate}
    assert chosen == set(campaign.sample.ids.tolist())
    for s in tasks.segments:
        near = {f"{int(s.id) + d:03d}" for d in (-1, 0, 1)}
        near = {i for i in near if 0 <= int(i) < 60 and int(i) // 6 == int(s.id) // 6}
        assert s.rate or near & chosen
        assert s.position == int(s.id) % 6 + 1
    around = {int(i) + d for i in chosen for d in (-1, 0, 1) if (int(i) + d) // 6 == int(i) // 6}
    assert {int(s.id) for s in tasks.segments} == around  # all of them, before and after
    assert len(campaign.tasks("all", context=0).segments) == 6


def test_status_before_between_and_after(campaign: Campaign, answer: object) -> None:
    assert campaign.status().sampled == 0 and campaign.status().estimate is None
    with pytest.raises(DataError, match="nothing has been drawn yet"):
        campaign.estimate()
    with pytest.raises(FewgoldError, match="nothing has been drawn yet"):
        campaign.more(3)
    wave = campaign.select(20)
    with pytest.raises(FewgoldError, match="drawn already"):
        campaign.select(20)
    assert campaign.status().unrated == wave.ids
    campaign.add(answer(list(wave.ids[:10])))  # type: ignore[operator]
    half = campaign.status()
    assert half.rated == 10 and half.estimate is not None and half.estimate["gaps"] == 10
    campaign.change(tolerance=5.0)
    campaign.add(answer(list(wave.ids)))  # type: ignore[operator]
    done = campaign.status()
    assert done.estimate is not None and done.estimate["value"] == campaign.estimate().value
    assert done.goal is not None and done.goal["more"] > 0 and done.raters == {"ann": 20}


@pytest.mark.parametrize("seeds", [3, pytest.param(12, marks=pytest.mark.slow)])
def test_what_the_goal_costs_is_about_right(tmp_path: Path, seeds: int) -> None:
    """Following the advice leads to an interval of about the width that was wanted."""
    pool, gold = fg.datasets.load_demo("zhen")
    human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))
    reached = []
    for seed in range(seeds):
        path = tmp_path / f"{seed}.fewgold"
        with Campaign.create(path, pool, strategy="random+mean", seed=seed, tolerance=0.6) as s:
            s.select(100)
            s.add(Rating(i, human[i]) for i in s.sample.ids.tolist())
            goal = s.status().goal
            assert goal is not None and goal["more"] > 0
            s.more(goal["more"])
            s.add(Rating(i, human[i]) for i in s.waves[-1].ids)
            goal = s.status().goal
            assert goal is not None
            reached.append(goal["half_width"])
    assert 0.54 < np.mean(reached) < 0.66


def test_a_changed_or_foreign_file_is_noticed(campaign: Campaign, tmp_path: Path) -> None:
    campaign.store.database.execute("UPDATE segments SET id = 'x' WHERE place = 3")
    with pytest.raises(DataError, match="was changed"):
        _ = Campaign(campaign.path).pool
    (tmp_path / "no.fewgold").write_bytes(b"SQLite format 3\0" + bytes(100))
    assert not is_campaign(tmp_path / "no.fewgold") and is_campaign(campaign.path.parent)
    with pytest.raises(DataError, match="is not a campaign"):
        Campaign(tmp_path / "no.fewgold")
    with pytest.raises(DataError, match="there is no campaign"):
        Campaign(tmp_path / "nowhere")
    campaign.store.database.execute("PRAGMA user_version = 9")
    with pytest.raises(DataError, match="version 9"):
        Campaign(campaign.path)


def test_everything_is_in_the_journal(campaign: Campaign, answer: object) -> None:
    campaign.select(5)
    campaign.add(answer(list(campaign.sample.ids)))  # type: ignore[operator]
    campaign.change(tolerance=3)
    journal = campaign.store.journal()
    assert journal["what"].tolist() == ["init", "select", "import", "change"]
    assert pd.to_datetime(journal["at"]).is_monotonic_increasing
    for name in ("strategy", "seed", "name"):
        with pytest.raises(FewgoldError, match="cannot be changed"):
            campaign.change(**{name: "x"})
    with pytest.raises(FewgoldError, match="tolerance must be"):
        campaign.change(tolerance=-1.0)


def test_another_estimator_and_a_cut(campaign: Campaign, answer: object) -> None:
    campaign.select(20)
    campaign.add(answer(list(campaign.sample.ids)))  # type: ignore[operator]
    plain = campaign.estimate(estimator="mean")
    assert plain.value == Mean().estimate(campaign.ratings()).value
    share = campaign.estimate(estimator=Mean(), cut=">= 50")
    assert share.value == Mean().estimate(campaign.ratings().cut(">= 50")).value
    assert 0 <= share.value <= 1


def test_a_campaign_keeps_what_is_known_beforehand(tmp_path: Path, pool: Pool) -> None:
    spread = np.linspace(0.1, 2.0, len(pool)) / 3
    known = pool.with_metrics(history=spread**2).with_spread(spread)
    with Campaign.create(tmp_path / "study", known, seed=1, uniform=0.6) as study:
        assert study.settings.strategy == "docs-uneven+ridge"
        study.select(12)
    with Campaign(tmp_path / "study") as study:
        assert study.pool.fingerprint == known.fingerprint
        np.testing.assert_array_equal(study.pool.spread, spread)
        chance = Chances(uniform=0.6).inclusion(known, 12)
        drawn = study.sample
        np.testing.assert_allclose(drawn.design.inclusion, chance[drawn.indices])
        with pytest.raises(FewgoldError, match="uniform cannot be changed"):
            study.change(uniform=0.5)


def test_a_campaign_of_before_has_no_table_of_spreads(tmp_path: Path, pool: Pool) -> None:
    with Campaign.create(tmp_path / "study", pool, seed=1) as study:
        study.store.database.execute("DROP TABLE spread")
        study.store.database.execute("DELETE FROM meta WHERE name IN ('uniform', 'chances')")
    with Campaign(tmp_path / "study") as study:
        assert study.pool.spread is None and study.settings.uniform is None
        assert study.select(10).n == 10


def test_chances_by_rank_are_refused_on_a_short_scale(tmp_path: Path, pool: Pool) -> None:
    with pytest.raises(DesignError, match=r"not a scale from 1 to 5.*Pool\.with_spread"):
        Campaign.create(tmp_path / "a", pool, strategy="docs-uneven-rank+ridge", limits="likert5")
    with pytest.raises(DesignError, match=r"above 0 and up to 1; got 1\.5"):
        Campaign.create(tmp_path / "b", pool, strategy="docs-uneven+ridge", uniform=1.5)
    assert not any(tmp_path.iterdir())


def test_a_second_wave_goes_where_the_first_strayed(tmp_path: Path) -> None:
    pool, human = fg.datasets.load_demo()
    scores = dict(zip(pool.ids.tolist(), human.tolist(), strict=True))
    with Campaign.create(tmp_path / "s", pool, strategy="docs-two-wave+ridge", seed=1) as study:
        first = study.select(60)
        with pytest.raises(DataError, match="there is nothing to estimate from yet"):
            study.more(40)
        study.add(Rating(i, scores[i], "ann") for i in first.ids[1:])
        with pytest.raises(DataError, match="1 of 60"):
            study.more(40)
        study.add([Rating(first.ids[0], scores[first.ids[0]], "ann")])
        second = study.more(40)
        chance = study.sample.design.weights[-40:]
        assert np.ptp(chance) > 0.1 * chance.mean()
        sampler = registry.sampler("docs-two-wave")
        one = sampler.draw(pool, 60, rng=1)
        rated = one.rate(human[one.indices])
        other = sampler.draw(pool, 40, given=rated, rng=wave_seed(1, 2))
        assert list(second.ids) == [str(i) for i in other.ids]
