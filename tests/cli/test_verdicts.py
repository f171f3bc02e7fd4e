"""``fewgold raters``, ``preferences`` and ``naive``: tables of verdicts, all formats, slips."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.bayes import PreferencePosterior, RaterPosterior, naive_table
from fewgold.comparison import bradley_terry
from fewgold.datasets import demo_frame

Run = Callable[..., Any]


def _said(done: Any) -> str:
    return " ".join(done.stderr.replace("│", " ").split())


def verdicts() -> pd.DataFrame:
    """90 items, three raters in three sorts of words, a judge, and an expert for some."""
    rng = np.random.default_rng(2)
    good = rng.random(90) < 0.75

    def says(right: float, yes: object, no: object) -> Any:
        return np.where(np.where(rng.random(90) < right, good, ~good), yes, no).astype(object)

    frame = pd.DataFrame({
        "item": np.arange(90), "ann": says(0.95, "pass", "fail"), "bob": says(0.85, "yes", "no"),
        "cleo": says(0.8, 1, 0), "llm": says(0.8, "true", "false"),
    })  # fmt: skip
    frame.loc[rng.random(90) < 0.2, "bob"] = None
    frame["expert"] = np.where(np.arange(90) < 12, good, None)
    return frame


def test_raters_of_a_table(run: Run, folder: Path) -> None:
    frame = verdicts()
    frame.to_csv("v.csv", index=False)
    asked = ("raters", "v.csv", "--raters", "ann,bob,cleo", "--judges", "llm", "--gold", "expert")
    got = json.loads(run(*asked, "--json", "-o", "r.png").stdout)
    assert (folder / "r.png").is_file() and got["files"] == ["r.png"]
    labels = pd.DataFrame({
        "ann": frame["ann"].map({"pass": 1, "fail": 0}),
        "bob": frame["bob"].map({"yes": 1, "no": 0}),
        "cleo": frame["cleo"].astype(float),
    }).astype(float)  # fmt: skip
    metric = frame["llm"].map({"true": 1.0, "false": 0.0})
    expected = RaterPosterior(
        labels, metric=metric, gold=frame["expert"].astype(float), target="pool"
    )
    assert got["value"] == float(expected.mean) and got["se"] == float(expected.sd)
    assert [row["rater"] for row in got["raters"]] == ["ann", "bob", "cleo", "llm"]
    assert got["raters"][1]["answers"] == int(frame["bob"].notna().sum())
    text = run(*asked).stdout
    assert "Success rate: " in text and "of the 90 items of this test set" in text
    assert run(*asked, "--format", "csv").stdout.startswith("rater,answers,rho,")
    assert r"\toprule" in run(*asked, "--format", "latex").stdout


def test_one_row_per_answer_is_the_same(run: Run) -> None:
    frame = verdicts()
    words = {"pass": 1, "fail": 0, "yes": 1, "no": 0}
    frame = frame.assign(
        **{n: frame[n].replace(words).astype(float) for n in ("ann", "bob", "cleo")}
    )
    frame.to_csv("wide.csv", index=False)
    long = frame.melt("item", ["ann", "bob", "cleo"], "who", "ok").dropna(subset="ok")
    long.sample(frac=1, random_state=1).to_csv("long.csv", index=False)
    wide = run("raters", "wide.csv", "--raters", "ann,bob,cleo", "--json").stdout
    asked = ("raters", "long.csv", "--rater", "who", "--id", "item", "--human", "ok")
    assert json.loads(run(*asked, "--json").stdout) == json.loads(wide)
    pd.concat([long, long.iloc[:1]]).to_csv("twice.csv", index=False)
    said = _said(run("raters", "twice.csv", *asked[2:], code=3))
    assert "several times (1 extra row). Keep one answer" in said


def test_slips_of_raters(run: Run) -> None:
    verdicts().to_csv("v.csv", index=False)
    assert "name the columns of the verdicts" in _said(run("raters", "v.csv", code=2))
    assert "needs --id" in _said(run("raters", "v.csv", "--rater", "ann", code=2))
    assert "column 'bo'" in _said(run("raters", "v.csv", "--raters", "ann,bo", code=3))
    said = _said(run("raters", "v.csv", "--raters", "item", code=3))
    assert "must be 0 or 1; got 2" in said and "--adequate" in said
    two = run("raters", "v.csv", "--raters", "ann,bob")
    assert "no item has three answers" in _said(two)


def pairs() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    truth = rng.choice(["A", "tie", "B"], 200, p=[0.5, 0.2, 0.3])
    llm = np.where(rng.random(200) < 0.7, truth, rng.choice(["A", "tie", "B"], 200)).astype(object)
    llm[rng.random(200) < 0.05] = None
    other = np.where(rng.random(200) < 0.6, truth, "tie")
    human = np.where(rng.random(200) < 0.3, truth, None)
    return pd.DataFrame({"human": human, "llm": llm, "other": other})


def test_preferences_of_a_table(run: Run, folder: Path) -> None:
    frame = pairs()
    frame.to_csv("p.csv", index=False)
    asked = ("preferences", "p.csv", "--human", "human", "--judge", "llm")
    done = run(*asked, "--json", "-o", "p.svg")
    got = json.loads(done.stdout)
    assert (folder / "p.svg").is_file()
    code = frame["llm"].map({"B": 0, "tie": 1, "A": 2}).fillna(3).astype(int)
    kind = frame["human"].map({"B": 0, "tie": 1, "A": 2})
    rated = [[int(((code == j) & (kind == k)).sum()) for k in range(3)] for j in range(4)]
    unrated = [int(((code == j) & kind.isna()).sum()) for j in range(4)]
    expected = PreferencePosterior(rated, unrated)
    a, tie, b, net = got["preferences"]
    assert (a["preferred"], b["preferred"]) == ("A", "B")
    assert net["mean"] == float(expected.mean) and tie["mean"] == float(expected.tie.mean)
    assert a["people"] == pytest.approx(
        (frame["human"] == "A").sum() / frame["human"].notna().sum()
    )
    assert a["judges"] == pytest.approx((frame["llm"] == "A").sum() / frame["llm"].notna().sum())
    assert net["judges"] == pytest.approx(a["judges"] - b["judges"])
    assert got["probability_better"] == float(expected.probability_better)
    assert "have no verdict from a judge" in _said(done)
    assert "P(A wins more pairs than B)" in run(*asked).stdout
    assert run(*asked, "--format", "csv").stdout.startswith("preferred,people,judges,mean")
    assert r"\toprule" in run(*asked, "--format", "latex").stdout


def test_preferences_in_other_words(run: Run) -> None:
    frame = pairs()
    frame.to_csv("p.csv", index=False)
    rows = ("--human", "human", "--judge", "llm", "--json", "-q")
    plain = json.loads(run("preferences", "p.csv", *rows).stdout)["preferences"]
    for words in ({"A": "GPT", "B": "ours", "tie": "Draw"}, {"A": 0.4, "B": -1, "tie": 0.05}):
        frame.replace(words).to_csv("q.csv", index=False)
        names = ("--a", "gpt", "--b", "Ours", "--tie", 0.1)
        other = json.loads(run("preferences", "q.csv", *rows, *names).stdout)["preferences"]
        assert [row["mean"] for row in other] == [row["mean"] for row in plain]
    both = json.loads(run("preferences", "p.csv", *rows, "--judges", "llm,other").stdout)
    assert both["judges"] == ["llm", "other"] and both["preferences"][0]["sd"] > 0
    alone = json.loads(run("preferences", "p.csv", "--human", "human", "--json").stdout)
    assert alone["preferences"][3]["sd"] > plain[3]["sd"]


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        ([1, 2] * 5, "got 'only 1 and 2'"), (["A", "good"] * 5, "must hold A, B and tie"),
        ([None] * 10, "no row has a verdict in column"),
    ],
)  # fmt: skip
def test_slips_of_preferences(run: Run, column: list[object], problem: str) -> None:
    pd.DataFrame({"human": column, "llm": ["A", "B"] * 5}).to_csv("p.csv", index=False)
    assert problem in _said(run("preferences", "p.csv", "--human", "human", code=3))
    twice = run("preferences", "p.csv", "--human", "llm", "--a", "x", "--b", "X", code=3)
    assert "two different names" in _said(twice)


def test_naive_beside_corrected(run: Run, folder: Path) -> None:
    frame = demo_frame("zhen").dropna(subset="rater1")
    frame = frame[frame["system"].isin(["alpha", "beta"])]
    frame.to_csv("z.csv", index=False)
    asked = (
        "naive",
        "z.csv",
        "--human",
        "rater1",
        "--adequate",
        "<=1",
        "--metrics",
        "comet,bleurt",
    )
    asked = (*asked, "--system", "system", "--rated", 200, "--seed", 3)
    got = json.loads(run(*asked, "--json", "-o", "n.pdf").stdout)
    assert (folder / "n.pdf").is_file()
    expected = naive_table(
        frame, human="rater1", adequate="<=1", metrics=["comet", "bleurt"], system="system",
        rated=200, rng=3,
    ).to_frame()  # fmt: skip
    assert [row["mean"] for row in got["rows"]] == pytest.approx(list(expected["mean"]))
    own = expected[(expected["how"] == "own") & (expected["metric"] == "comet")].iloc[0]
    text = run(*asked).stdout
    assert f"{own['mean']:.3f} ± {own['sd']:.3f}" in text and "transfer" in text
    assert len(run(*asked, "--format", "csv").stdout.splitlines()) == 1 + len(expected)


def test_several_systems_are_ranked(run: Run, folder: Path) -> None:
    rng = np.random.default_rng(5)
    rows = []
    for k in range(300):
        one, two = rng.choice(["ant", "bee", "cow"], 2, replace=False)
        won = rng.choice(["model_a", "tie", "model_b"], p=[0.6, 0.1, 0.3] if one < two else None)
        said = won if rng.random() < 0.7 else "model_a"
        rows.append([one, two, won if k % 3 == 0 else "", said])
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", "gpt"])
    frame.to_csv("arena.csv", index=False)
    asked = ("preferences", "arena.csv", "--human", "winner", "--judge", "gpt")
    asked += ("--systems", "model_a,model_b")
    got = json.loads(run(*asked, "--json", "-o", "rank.png").stdout)
    found = bradley_terry(frame, human="winner", first="model_a", second="model_b", judges=["gpt"])
    assert got["systems"] == list(found.systems) == ["ant", "bee", "cow"]
    assert got["ranking"][0]["share"] == found.to_frame()["share"].iloc[0]
    assert (folder / "rank.png").is_file() and len(got["differences"]) == 3
    text = run(*asked).stdout
    assert "ant preferred to cow" in text and "100 of 300 pairs judged by people" in text
    assert run(*asked, "--format", "csv").stdout.startswith("system,strength,se,low,high,share")
    assert "--systems takes two columns" in _said(run(*asked[:-1], "model_a", code=2))
    assert "needs --systems" in _said(run(*asked[:-2], "--chosen", "random", code=2))
    assert "name two systems" in _said(run(*asked, "--a", "ant", code=2))
