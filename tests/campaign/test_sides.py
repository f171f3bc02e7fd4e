"""Two outputs side by side: left and right by lot, keys that tell, and who is preferred."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.bayes.pairwise import preferences
from fewgold.campaign import Campaign, sides
from fewgold.common.text import plain_value
from fewgold.comparison import PairRanking, bradley_terry
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating
from fewgold.pool import Pool

N = 80


def pairs_pool(systems: bool = False) -> Pool:
    rng = np.random.default_rng(4)
    names = np.array(["ant", "bee", "cow"])
    both = np.array([rng.permutation(3)[:2] for _ in range(N)])
    labels = [f"{names[a]} vs {names[b]}" for a, b in both]
    return Pool(
        ids=np.array([f"q{i:02d}" for i in range(N)]),
        metrics={"judge": rng.choice([-1.0, 0.0, 1.0], N)},
        texts={
            "source": np.array([f"question {i}" for i in range(N)]),
            "ours": np.array([f"first {i}" for i in range(N)]),
            "theirs": np.array([f"second {i}" for i in range(N)]),
        },
        system=np.array(labels) if systems else None,
    )


@pytest.fixture
def study(tmp_path: Path) -> Campaign:
    made = Campaign.create(
        tmp_path / "s", pairs_pool(), seed=3, strategy="random", sides=("ours", "theirs")
    )
    made.select(40)
    return made


def says(campaign: Campaign, key: str, verdict: str, rater: str) -> None:
    code = {v: k for k, v in sides.CODES.items()}[verdict]
    assert campaign.add([Rating(key, float(code), rater)]).stored == 1


def test_left_and_right_are_by_lot_balanced_and_recorded(study: Campaign) -> None:
    assert study.settings.limits == (-1, 1) and study.settings.asked == "Which output is better?"
    left: dict[str, list[str]] = {"ann": [], "bob": []}
    study.change(each=2)
    for rater, seen in left.items():
        while (pair := study.next(rater)) is not None:
            assert set(pair.texts) == {"source", "left", "right"} and pair.id == pair.key
            number = pair.texts["source"].split()[1]
            assert {pair.texts["left"], pair.texts["right"]} == {
                f"first {number}",
                f"second {number}",
            }
            seen.append(pair.texts["left"])
            best = "left" if pair.texts["left"].startswith("first") else "right"
            says(study, pair.key, best, rater)
        assert Counter(text.split()[0] for text in seen) == {"first": 20, "second": 20}
    # The first output was always preferred, wherever it stood.
    answers = study.answers()
    assert (answers["score"] == 1).all() and len(answers) == 80
    told = answers["details"].map(json.loads)
    assert Counter(d["left"] for d in told) == {"ours": 40, "theirs": 40}
    assert {(d["verdict"] == "left") == (d["left"] == "ours") for d in told} == {True}
    assert study.estimate().value == pytest.approx(1.0)


def test_keys_and_exports_tell_no_side(study: Campaign) -> None:
    tasks = study.tasks("all")
    assert len(tasks.to_rate) == 40 and tasks.limits == (1, 4)
    assert "1 = left is better" in tasks.question
    for segment in tasks.segments:
        assert segment.id == segment.key and not segment.document
        assert set(segment.texts) == {"source", "left", "right"}
    # Numbers of the keys, odd or even, say nothing of the side.
    odd = [int(s.key.split("-")[1]) % 2 for s in tasks.segments]
    first = [s.texts["left"].startswith("first") for s in tasks.segments]
    assert sum(first) == 20
    assert abs(np.corrcoef(odd, first)[0, 1]) < 0.5


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json"])
def test_answers_come_back_from_files(study: Campaign, tmp_path: Path, name: str) -> None:
    from fewgold import formats

    tasks = study.tasks("all")
    told = ["left", "right", "tie", "both bad"] * 10
    code = {v: k for k, v in sides.CODES.items()}
    given = [
        Rating(s.key, float(code[v]), "ann", answer=f"a{k}")
        for k, (s, v) in enumerate(zip(tasks.segments, told, strict=True))
    ]
    to = {"t.csv": "csv", "t.jsonl": "jsonl", "t.json": "label-studio"}[name]
    formats.get(to).write_ratings(tasks, given, tmp_path / name)
    receipt = study.import_file(tmp_path / name)
    assert receipt.stored == 40 and not receipt.rejected
    by_id = {str(i): s for i, s in zip(study.sample.ids, study.scores(), strict=True)}
    for s, v in zip(tasks.segments, told, strict=True):
        ours_left = s.texts["left"].startswith("first")
        number = int(s.texts["source"].split()[1])
        expected = 0.0 if v in ("tie", "both bad") else 1.0 if (v == "left") == ours_left else -1.0
        assert by_id[f"q{number:02d}"] == expected
    # And out again, as a sheet would have them, and in again: known.
    back = study.store.rated()
    assert [r.score for r in back] == [r.score for r in given]
    assert study.import_file(tmp_path / name).known == 40


def test_what_is_no_verdict(study: Campaign) -> None:
    key = study.tasks("all").segments[0].key
    receipt = study.add([Rating(key, 5.0, "ann"), Rating(key, 1.5, "bob")])
    assert receipt.stored == 0 and receipt.rejected == 2
    assert "is not a verdict (1 = left" in study.store.rejected()["why"][0]
    # By its id a pair is rated as such: 1 where the first is better.
    assert study.add([Rating(study.sample.ids[0], -1.0, "ann")]).stored == 1
    assert study.scores()[0] == -1.0
    assert study.add([Rating(study.sample.ids[1], 0.5, "ann")]).rejected == 1
    assert "must be 1 (the first output is better)" in study.store.rejected()["why"].iloc[-1]
    assert len(study.store.rated()) == 1


def test_a_pair_is_settled_under_its_key_by_the_codes_of_the_sheets(study: Campaign) -> None:
    study.change(each=2, differ=1.0)
    one, two, *_ = (str(i) for i in study.sample.ids)
    study.add([Rating(i, s, who) for i in (one, two) for s, who in ((1, "ann"), (-1, "bob"))])
    for name in (one, two):
        place = study.pool.ids.tolist().index(name)
        ours_left = not sides.flipped(study.store, place)
        assert study.settle(study.desk.key_at(place), 1, by="cleo")  # left is better
        assert study.store.settled()[name] == (1 if ours_left else -1)
        assert study.settle(name, 0, by="cleo") and study.store.settled()[name] == 0
    with pytest.raises(DataError, match="5 is not a verdict"):
        study.settle(study.desk.key_at(0), 5, by="cleo")
    with pytest.raises(DataError, match=r"must be 1 \(the first output"):
        study.settle(one, 0.5, by="cleo")


def test_verdicts_have_no_mean(study: Campaign, tmp_path: Path) -> None:
    """Codes of left, right, tie and both bad: their mean would be another verdict."""
    from fewgold import formats

    for name in formats.names():
        if name in ("mqm-averages", "wmt-da"):
            with pytest.raises(DataError, match="verdicts on pairs have no mean"):
                formats.check_fits(formats.get(name), study.tasks("all"))
        else:
            formats.check_fits(formats.get(name), study.tasks("all"))


def test_two_systems_have_the_posterior(study: Campaign) -> None:
    rng = np.random.default_rng(1)
    words = {}
    for s in study.tasks("all").segments:
        verdict = str(rng.choice(["left", "right", "tie", "both bad"]))
        says(study, s.key, verdict, "ann")
        number = int(s.texts["source"].split()[1])
        ours = s.texts["left"].startswith("first")
        tied = verdict in ("tie", "both bad")
        words[number] = verdict if tied else "A" if (verdict == "left") == ours else "B"
    found = study.preferences("judge")
    frame = pd.DataFrame({
        "judge": study.pool.metrics["judge"], "human": [words.get(i) for i in range(N)],
    })  # fmt: skip
    expected = preferences(frame, human="human", judges=["judge"], a="ours", b="theirs")
    assert found.to_frame().equals(expected.to_frame()) and (found.a, found.b) == ("ours", "theirs")
    bad = sum(w == "both bad" for w in words.values())
    assert any(f"{bad} of 40 verdicts say that both are bad" in n for n in found.notes)
    with pytest.raises(FewgoldError, match="metric"):
        study.preferences("nobody")
    shown = study.report(confidence=0.8)
    assert shown.to_dict()["preferences"] == plain_value(study.preferences().to_dict(0.8))
    assert "## Preferences" in shown.markdown()


def test_several_systems_are_ranked(tmp_path: Path) -> None:
    study = Campaign.create(
        tmp_path / "s", pairs_pool(systems=True), seed=3, strategy="metrics-prop",
        sides=("ours", "theirs"),
    )  # fmt: skip
    study.select(60)
    rng, words = np.random.default_rng(2), {}
    for s in study.tasks("all").segments:
        assert not any(n in str(s) for n in ("ant", "bee", "cow", "ours", "theirs"))
        verdict = str(rng.choice(["left", "right", "tie"]))
        says(study, s.key, verdict, "ann")
        number = int(s.texts["source"].split()[1])
        first = s.texts["left"].startswith("first")
        words[f"q{number:02d}"] = "tie" if verdict == "tie" else "AB"[(verdict == "left") != first]
    found = study.preferences(["judge"])
    assert isinstance(found, PairRanking) and set(found.systems) == {"ant", "bee", "cow"}
    ids = study.sample.ids.astype(str).tolist()
    order = ids + [i for i in study.pool.ids.tolist() if i not in set(ids)]
    place = {i: k for k, i in enumerate(study.pool.ids.tolist())}
    rows = [[*str(study.pool.system[place[i]]).split(" vs "), words.get(i),
             study.pool.metrics["judge"][place[i]]] for i in order]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["a", "b", "people", "judge"])
    expected = bradley_terry(
        frame, human="people", first="a", second="b", judges="judge", chosen=study.sample.design
    )
    np.testing.assert_allclose(found.covariance, expected.covariance)
    np.testing.assert_allclose(found.strength, expected.strength)
    # The report has the ranking, at its own level; there are no scores to compare.
    shown = study.report(confidence=0.8)
    ranking = study.preferences()
    assert isinstance(ranking, PairRanking)
    assert shown.to_dict()["preferences"] == replace(ranking, level=0.2).to_dict()
    best = ranking.to_frame().iloc[0]
    row = f"| {best['system']} +\\| +{best['share']:.3f} \\|"
    assert "80% interval from" in shown.markdown() and re.search(row, shown.markdown())
    with pytest.raises(FewgoldError, match=r"campaign.preferences\(\)"):
        study.compare()


def test_slips(tmp_path: Path, campaign: Campaign) -> None:
    pool = pairs_pool()
    for bad, problem in (
        (("ours",), "sides are the names of two texts"), (("ours", "nobody"), "no text 'nobody'"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=problem):
            Campaign.create(tmp_path / "x", pool, sides=bad)
    with pytest.raises(FewgoldError, match="their own scale"):
        Campaign.create(tmp_path / "x", pool, sides=("ours", "theirs"), limits=(0, 5))
    campaign.select(5)
    with pytest.raises(FewgoldError, match="one output at a time"):
        campaign.preferences()
