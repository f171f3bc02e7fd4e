"""Attention checks, time, adjudication, second raters by lot, and segments that are handed on."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fewgold.agreement import krippendorff, krippendorff_interval
from fewgold.campaign import Campaign
from fewgold.campaign.database import _LATER_TABLES
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating
from fewgold.pool import Pool


def turn(campaign: Campaign, rater: str, form: str, score: float, **details: object) -> str:
    """Answer whatever comes next; its key."""
    segment = campaign.next(rater)
    assert segment is not None
    told = Rating(segment.key, score, rater, answer=f"{rater}-{form}", details=details)
    assert campaign.desk.rate(told).new
    return segment.key


@pytest.fixture
def study(tmp_path: Path, pool: Pool) -> Callable[..., Campaign]:
    def make(budget: int = 12, **settings: object) -> Campaign:
        found = Campaign.create(tmp_path / "s", pool, seed=4, limits=(0, 100), **settings)
        found.select(budget)
        return found

    return make


# Attention checks


def test_repeats_are_no_answers(study: Callable[..., Campaign]) -> None:
    campaign = study(check_every=3)
    keys = [turn(campaign, "ann", str(k), 10.0 * k) for k in range(3)]
    again = campaign.next("ann")
    assert again is None or again.key not in keys  # too early: the last three are fresh in mind
    keys += [turn(campaign, "ann", "3", 30.0)]
    repeat = campaign.next("ann")
    assert repeat is not None and repeat.key == keys[0]
    assert campaign.next("ann") == repeat  # until it is answered
    before = campaign.desk.progress("ann")
    told = Rating(repeat.key, 90, "ann", answer="check", details={"seconds": 3})
    assert campaign.desk.rate(told).new and not campaign.desk.rate(told).new
    after = campaign.desk.progress("ann")
    assert (after.own, after.all) == (before.own + 1, before.all)  # a rater cannot tell it apart
    assert len(campaign.answers()) == 4 and 90 not in campaign.answers()["score"].tolist()
    row = campaign.work().to_frame().iloc[0]
    assert (row["repeats"], row["same"], row["off"]) == (1, 0.0, 90.0)
    # It may be taken back and given again, as any answer.
    assert campaign.desk.last("ann") == ("answer", "check")
    assert campaign.desk.withdraw("ann", "check") == repeat.key
    assert campaign.work().to_frame()["repeats"].tolist() == [0]
    assert campaign.next("ann") == repeat
    assert campaign.desk.rate(told).withdrawn  # the form that was taken back does not return
    assert campaign.desk.rate(Rating(repeat.key, 0, "ann", answer="check-2")).new
    assert campaign.work().to_frame()["same"].tolist() == [1.0]
    assert len(campaign.answers()) == 4


def test_known_answers_are_checks_and_not_ratings(study: Callable[..., Campaign]) -> None:
    campaign = study(check_every=2)
    out = [str(i) for i in campaign.pool.ids if i not in set(campaign.sample.ids.tolist())][:2]
    assert campaign.set_known({out[0]: 50.0, out[1]: (0.0, 10.0)}) == 2
    seen = []
    for k in range(10):
        segment = campaign.next("ann")
        assert segment is not None
        seen.append(segment.id)
        score = 50.0 if segment.id == out[0] else 12.0
        campaign.desk.rate(Rating(segment.key, score, "ann", answer=f"f{k}"))
    assert set(out) <= set(seen)
    assert not set(out) & set(campaign.answers()["segment"])
    row = campaign.work().to_frame().iloc[0]
    assert row["known"] == 2 and row["right"] == 0.5 and row["right_low"] < 0.1
    told = campaign.work().checks.query("kind == 'known'")
    assert sorted(told["off"]) == [0.0, 2.0]  # 12 is 2 above what is right
    with pytest.raises(DataError, match="the pool has no segment 'nobody'"):
        campaign.set_known({"nobody": 1.0})
    with pytest.raises(FewgoldError, match="must be on the scale"):
        campaign.set_known({out[0]: 101.0})


def test_a_check_may_be_skipped(study: Callable[..., Campaign]) -> None:
    campaign = study(check_every=2)
    (out, *_) = (str(i) for i in campaign.pool.ids if i not in set(campaign.sample.ids.tolist()))
    campaign.set_known({out: 50.0})
    turn(campaign, "ann", "1", 5), turn(campaign, "ann", "2", 5)
    check = campaign.next("ann")
    assert check is not None and check.id == out
    campaign.desk.skip(check.key, "ann")
    after = campaign.next("ann")
    assert after is not None and after.id != out and campaign.desk.skipped("ann") == 1
    assert campaign.desk.last("ann") == ("skip", check.key)
    campaign.desk.unskip("ann")
    assert campaign.next("ann") == check and campaign.desk.skipped("ann") == 0


def test_checks_change_no_estimate(tmp_path: Path, pool: Pool) -> None:
    found = []
    for every in (0, 2):
        campaign = Campaign.create(tmp_path / f"s{every}", pool, seed=4, limits=(0, 100))
        campaign.select(20)
        campaign.change(check_every=every)
        for k in range(200):
            segment = campaign.next("ann")
            if segment is None:
                break
            score = float((int(segment.id) * 37) % 101)
            again = segment.id in set(campaign.answers()["segment"])
            told = 100.0 - score if again else score
            campaign.desk.rate(Rating(segment.key, told, "ann", answer=f"f{k}"))
        found.append(campaign.estimate().to_dict(0.95))
        assert len(campaign.work().checks) == (0 if not every else 9)
    assert found[0] == found[1]


# Adjudication


def test_what_differs_is_settled(study: Callable[..., Campaign]) -> None:
    campaign = study(each=2)
    ids = campaign.sample.ids.tolist()
    for k, name in enumerate(["ann", "bob"]):
        campaign.add([Rating(i, 40.0 + 5 * j * k, name) for j, i in enumerate(ids)])
    with pytest.raises(FewgoldError, match="smallest difference between raters"):
        campaign.differing()
    campaign.change(differ=30.0)
    found = campaign.differing()
    assert found["segment"].tolist() == ids[:5:-1]  # those that differ most come first
    assert found["difference"].tolist() == [55.0, 50.0, 45.0, 40.0, 35.0, 30.0]
    alone = campaign.estimate()
    assert campaign.settle(ids[-1], 10.0, by="cleo", comment="wrong language")
    assert campaign.settle(ids[-2], 20.0, by="cleo") and campaign.settle(ids[-2], 25.0, by="cleo")
    assert campaign.differing()["segment"].tolist() == ids[-3:5:-1]
    assert campaign.differing(settled=True)["score"].tolist()[:2] == [10.0, 25.0]
    assert campaign.scores()[-2:].tolist() == [25.0, 10.0]
    now = campaign.estimate()
    assert now.value < alone.value
    assert "adjudicated:replaces(2)" in now.signature() and "adjudicated" not in alone.signature()
    assert any("instead of the raters' answers" in w for w in now.ratings.warnings)
    campaign.change(adjudication="joins")
    assert campaign.scores()[-1] == pytest.approx((40 + 95 + 10) / 3)
    assert "adjudicated:joins(2)" in campaign.estimate().signature()
    # Answers stay as they are, and agreement is that of the raters.
    assert len(campaign.answers()) == 24 and set(campaign.answers()["rater"]) == {"ann", "bob"}
    with pytest.raises(DataError, match="no two raters differ by 30 or more on the segment"):
        campaign.settle(ids[0], 10.0, by="cleo")
    with pytest.raises(DataError, match="outside 0 to 100"):
        campaign.settle(ids[-1], 101.0, by="cleo")
    with pytest.raises(FewgoldError, match="needs the name of the adjudicator"):
        campaign.settle(ids[-1], 10.0, by=" ")


# Second raters by lot, and agreement


def test_a_second_rater_on_a_random_part(study: Callable[..., Campaign]) -> None:
    campaign = study(20, second=0.3)
    twice = campaign.store.for_two()
    assert len(twice) == 6 and twice <= set(campaign.sample.ids.tolist())
    assert campaign.desk.progress("ann").wanted == 26
    assert twice != set(campaign.sample.ids.tolist()[:6])  # chance decided
    for name in ("ann", "bob"):
        k = 0
        while (segment := campaign.next(name)) is not None:
            campaign.desk.rate(Rating(segment.key, float(k % 7), name, answer=f"{name}{k}"))
            k += 1
    per = campaign.answers().groupby("segment")["rater"].nunique()
    assert set(per.index[per == 2]) == twice and set(per) == {1, 2}
    assert campaign.status().incomplete == 0 and not campaign.tasks("incomplete").to_rate
    assert campaign.desk.left("ann") == (0, 0)
    campaign.change(second=0.5)  # further ones, and those stay
    more = campaign.store.for_two()
    assert twice < more and len(more) == 10
    assert {s.id for s in campaign.tasks("incomplete").to_rate} == more - twice
    assert campaign.status().incomplete == 4
    with pytest.raises(FewgoldError, match="second is the share"):
        campaign.change(second=1.5)


def test_agreement_as_it_grows(study: Callable[..., Campaign]) -> None:
    campaign = study(30, each=2)
    rng = np.random.default_rng(1)
    ids, truth = campaign.sample.ids.tolist(), rng.normal(50, 15, 30).round()
    for name in ("ann", "bob"):
        told = (truth + rng.normal(0, 6, 30)).round().clip(0, 100)
        campaign.add([Rating(i, t, name) for i, t in zip(ids, told, strict=True)])
    path = campaign.work().agreement
    assert path["shared"].tolist() == list(range(3, 31, 3))
    width = (path["high"] - path["low"]).to_numpy()
    assert width[-1] < width[1] and (path["low"] < path["alpha"]).all()
    answers = campaign.answers()
    code = answers["segment"].astype("category").cat.codes.to_numpy().astype(np.int64)
    assert path["alpha"].iloc[-1] == pytest.approx(krippendorff(answers["score"].to_numpy(), code))


def test_the_jackknife_of_agreement_is_that_by_hand() -> None:
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(12), [2, 3] * 6)
    y = rng.normal(size=12)[item] + rng.normal(0, 0.7, item.size)
    left = np.array([np.log(1 - krippendorff(y[item != k], item[item != k])) for k in range(12)])
    se = np.sqrt(11 / 12 * np.square(left - left.mean()).sum())
    low, high = krippendorff_interval(y, item, 0.9)
    middle = np.log(1 - krippendorff(y, item))
    half = 1.795884819 * se  # Student's 0.95 quantile for 11 degrees of freedom
    assert (low, high) == pytest.approx((1 - np.exp(middle + half), 1 - np.exp(middle - half)))
    same = krippendorff_interval(np.repeat(np.arange(5.0), 2), np.repeat(np.arange(5), 2))
    assert np.isnan(same.low) and np.isnan(same.high)  # nobody differed: no telling by how much


# Time


def test_time_per_item(study: Callable[..., Campaign], pool: Pool, tmp_path: Path) -> None:
    campaign = study(10)
    for k, seconds in enumerate([10, 20, 30, 40, 3599, 99999]):
        turn(campaign, "ann", str(k), 5, seconds=seconds)
    campaign.add([Rating(campaign.unrated[0], 5, "bob", details={"lead_time": 60})])
    found = campaign.work()
    assert found.to_frame().set_index("rater")["seconds"].to_dict() == {"ann": 30.0, "bob": 60.0}
    assert found.timed == 6 and found.seconds == 35.0
    assert found.left == 3 * 35.0 and np.isnan(found.per_cost)
    json.dumps(found.to_dict(), allow_nan=False)
    from dataclasses import replace

    costs = np.arange(1.0, 61.0)
    other = Campaign.create(tmp_path / "c", replace(pool, cost=costs), seed=1, limits=(0, 100))
    other.select(6)
    ids = other.sample.ids.tolist()
    cost = dict(zip(pool.ids.tolist(), costs, strict=True))
    other.add([Rating(i, 5, "ann", details={"seconds": 2 * cost[i]}) for i in ids[:3]])
    assert other.work().per_cost == pytest.approx(2.0)
    assert other.work().left == pytest.approx(2 * sum(cost[i] for i in ids[3:]))


# Segments that were opened and left


def test_what_was_left_is_handed_on(study: Callable[..., Campaign]) -> None:
    campaign = study(4, hold=600.0)
    first = campaign.next("ann")
    assert first is not None
    (held,) = campaign.desk.held()
    assert (held.segment, held.rater, held.abandoned) == (first.key, "ann", False)
    other = campaign.next("bob")
    assert other is not None and other != first
    assert campaign.desk.hand_on("ann") == 1
    campaign.desk.rate(Rating(other.key, 1, "bob", answer="b1"))
    assert campaign.next("bob") == first
    campaign.desk.rate(Rating(first.key, 30, "bob", answer="b2"))
    # Ann comes back: her answer is stored as well, and counts by the rule for several raters.
    assert campaign.desk.rate(Rating(first.key, 50, "ann", answer="a1")).new
    assert len(campaign.answers()) == 3 and campaign.desk.held() == []
    assert 40.0 in campaign.scores().tolist()
    campaign.change(hold=1e-9)
    third = campaign.next("cleo")
    assert third is not None and campaign.desk.held()[0].abandoned
    assert campaign.next("dora") == third  # after the time that the owner sets
    assert campaign.desk.hand_on() == 2 and campaign.desk.held() == []
    with pytest.raises(FewgoldError, match="hold must be"):
        campaign.change(hold=0.0)


# Several at once, and the stopping rule


def test_the_stopping_rule_goes_by_the_order_of_drawing(tmp_path: Path, pool: Pool) -> None:
    """Whoever is quick and whoever is slow: it looks at the first ones up to the first gap."""
    told = []
    for people in (["ann"], ["ann", "bob", "cleo"]):
        campaign = Campaign.create(
            tmp_path / f"s{len(people)}", pool, strategy="random", seed=3, limits=(0, 100),
            tolerance=20.0,
        )  # fmt: skip
        campaign.select(30)
        waiting = [(name, campaign.next(name)) for name in people]
        k = 0
        while waiting:  # the one who got a segment first answers last
            name, segment = waiting.pop() if k % 4 else waiting.pop(0)
            k += 1
            if segment is None:
                continue
            campaign.add([Rating(segment.key, float((int(segment.id) * 37) % 101), name)])
            waiting.append((name, campaign.next(name)))
        told.append(campaign.status().stop)
    assert told[0] == told[1] and told[0]["looked_at"] == 30


# Files of before


def test_campaigns_of_before_have_none_of_it(campaign: Campaign) -> None:
    campaign.select(10)
    path = campaign.path
    campaign.close()
    with sqlite3.connect(path) as old:
        for name in _LATER_TABLES:
            old.execute(f"DROP TABLE {name}")
        for name in ("second", "hold", "check_every", "differ", "adjudication"):
            old.execute("DELETE FROM meta WHERE name = ?", (name,))
    old.close()
    with Campaign(path) as found:
        assert found.settings.hold == 1800 and found.settings.check_every == 0
        assert turn(found, "ann", "1", 5) and found.work().to_frame()["answers"].tolist() == [1]
        found.change(second=0.5)
        assert len(found.store.for_two()) == 5
