"""``fewgold alpha`` from a table or from counts, and ratings that are cut on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors, success_rates

Run = Callable[..., Any]
Rate = Callable[..., None]
COUNTS = "tp=43,fn=18,fp=12,tn=29,metric=540/1000"


@pytest.fixture
def judged(folder: Path) -> pd.DataFrame:
    """Two systems of 200 items, 50 of each rated; the judge is right 4 times of 5."""
    rng = np.random.default_rng(5)
    frames = []
    for name, rate in (("one", 0.7), ("two", 0.4)):
        gold = (rng.random(200) < rate).astype(float)
        judge = np.where(rng.random(200) < 0.8, gold, 1 - gold).astype(int)
        passed = np.where(np.arange(200) < 50, gold, np.nan)
        score = np.round(gold + rng.normal(0, 0.5, 200), 2)
        frames.append(
            pd.DataFrame({"system": name, "judge": judge, "score": score, "passed": passed})
        )
    table = pd.concat(frames)
    table.to_csv("judged.csv", index=False)
    return table


def _counts(part: pd.DataFrame) -> Counts:
    rated, rest = part[part["passed"].notna()], part[part["passed"].isna()]
    cells = rated.groupby(["passed", "judge"]).size()
    return Counts(
        tp=cells.get((1, 1), 0), fn=cells.get((1, 0), 0),
        fp=cells.get((0, 1), 0), tn=cells.get((0, 0), 0),
        metric_ones=int(rest["judge"].sum()), metric_total=len(rest),
    )  # fmt: skip


def test_from_a_table(run: Run, judged: pd.DataFrame) -> None:
    asked = ("alpha", "judged.csv", "--human", "passed", "--metric", "judge")
    got = json.loads(run(*asked, "--json").stdout)
    for row, (name, part) in zip(got["systems"], judged.groupby("system"), strict=True):
        expected = PoolPosterior(_counts(part))
        assert row["system"] == name
        assert row["mean"] == pytest.approx(float(expected.mean), abs=1e-12)
        assert [row["low"], row["high"]] == pytest.approx([float(x) for x in expected.interval()])
        assert row["naive"] == pytest.approx(part["judge"].mean())
        assert (row["items"], row["rated"]) == (200, 50)
    assert got["comparisons"][0]["probability"] > 0.99
    process = json.loads(run(*asked, "--target", "process", "--json").stdout)
    assert process["systems"][0]["sd"] > got["systems"][0]["sd"]
    text = run(*asked)
    assert "corrected" in text.stdout and "P(row > column)" in text.stdout
    assert text.stderr == "note: columns guessed: system = system\n"
    assert len(run(*asked, "--format", "csv").stdout.splitlines()) == 3


def test_cuts_and_rules(run: Run, judged: pd.DataFrame) -> None:
    asked = ("alpha", "judged.csv", "--human", "passed", "--metric", "score", "--system", "none")
    said = run(*asked, code=3).stderr
    assert "scores of 'score' without a threshold must be 0 or 1" in said
    for rule in ("equal", "information"):
        got = json.loads(run(*asked, "--threshold", rule, "--json").stdout)
        assert got["metric"].startswith("score >= ")
        assert len(got["systems"]) == 1
    got = json.loads(run(*asked, "--threshold", ">0.5", "--json").stdout)
    assert got["metric"] == "score > 0.5"
    assert "--threshold must be" in run(*asked, "--threshold", "half", code=2).stderr


def test_calibration_on_the_other_system(run: Run, judged: pd.DataFrame) -> None:
    judged.loc[judged["system"] == "two", "passed"] = np.nan
    judged.to_csv("judged.csv", index=False)
    asked = ("alpha", "judged.csv", "--human", "passed", "--metric", "judge")
    assert "--pairs calibration" in run(*asked, code=3).stderr
    got = json.loads(run(*asked, "--pairs", "calibration", "--json").stdout)
    two = got["systems"][1]
    assert two["rated"] == 0 and two["human"] is None
    assert two["low"] < 0.4 < two["high"]
    assert "fewgold roc" in got["notes"][0]
    one = _counts(judged[judged["system"] == "one"])
    rest = judged[judged["system"] == "two"]["judge"]
    expected = PoolPosterior(Counts(
        tp=one.tp, fn=one.fn, fp=one.fp, tn=one.tn, pairs="calibration",
        metric_ones=int(rest.sum()), metric_total=len(rest),
    ))  # fmt: skip
    assert two["mean"] == pytest.approx(float(expected.mean), abs=1e-12)


def test_people_alone(run: Run, judged: pd.DataFrame) -> None:
    got = json.loads(run("alpha", "judged.csv", "--human", "passed", "--json").stdout)
    part = judged[judged["system"] == "one"]["passed"].dropna()
    counts = Counts(human_ones=int(part.sum()), human_total=len(part))
    assert got["systems"][0]["mean"] == float(PoolPosterior(counts, unrated=150).mean)
    said = run("alpha", "judged.csv", "--human", "passed", "--pairs", "calibration", code=3)
    assert "there is no metric" in said.stderr


def test_every_row_rated(judged: pd.DataFrame) -> None:
    whole = judged.dropna()
    found = success_rates(whole, human="passed", metric="judge", system="system")
    assert "people rated every row of one, two" in found.notes[0]
    assert found.to_frame()["sd"].tolist() == [0, 0]
    assert "50 of 50 items rated" in found.summary()


def test_from_counts(run: Run) -> None:
    counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    got = json.loads(run("alpha", "--counts", COUNTS, "--json").stdout)
    assert got["target"] == "process"
    row = got["systems"][0]
    assert row["mean"] == pytest.approx(float(AlphaPosterior(counts).mean), abs=1e-12)
    assert row["human"] == pytest.approx(61 / 102)
    assert row["naive"] == pytest.approx((43 + 12 + 540) / 1102)
    pool = json.loads(run("alpha", "--counts", COUNTS, "--target", "pool", "--json").stdout)
    assert pool["systems"][0]["sd"] == pytest.approx(float(PoolPosterior(counts).sd), abs=1e-12)
    known = ("alpha", "--counts", "metric=540/1000", "--rho", 0.7, "--eta", 0.8, "--json")
    expected = AlphaPosterior(Counts(metric_ones=540, metric_total=1000), Priors(rho=0.7, eta=0.8))
    assert json.loads(run(*known).stdout)["systems"][0]["mean"] == pytest.approx(
        float(expected.mean), abs=1e-12
    )


@pytest.mark.parametrize(
    ("args", "code", "problem"),
    [
        ((), 2, "either a FILE"),
        (("judged.csv", "--counts", COUNTS), 2, "either a FILE"),
        (("--counts", "tp=4/5"), 2, "--counts must be like"),
        (("--counts", "tp=-4"), 2, "--counts must be like"),
        (("--counts", "tp=1.5"), 2, "--counts must be like"),
        (("--counts", "metric=540"), 2, "--counts must be like"),
        (("--counts", "tp=1,tp=2"), 2, "tp twice"),
        (("--counts", "human=1/2,human=1/2"), 2, "human twice"),
        (("--counts", COUNTS, "--metric", "judge"), 2, "columns and cuts need a FILE"),
        (("--counts", COUNTS, "--rho", "0.7"), 2, "--rho and --eta go together"),
        (("--counts", "metric=1540/1000"), 3, "metric=1540/1000 has more ones than ratings"),
        (("--counts", COUNTS, "--rho", "1.7", "--eta", "0.5"), 3, "between 0 and 1"),
        (("--counts", COUNTS, "--confidence", "95"), 2, "--confidence"),
    ],
)
def test_slips(
    run: Run, judged: pd.DataFrame, args: tuple[str, ...], code: int, problem: str
) -> None:
    result = run("alpha", *args, code=code)
    assert problem in " ".join(result.stderr.replace("│", " ").split())


def test_the_loop_with_a_cut(run: Run, rate: Rate) -> None:
    strategy = "random+alpha-comet:information"
    run("select", "pool.csv", "--budget", 60, "--strategy", strategy, "--seed", 3, "-o", "s.csv")
    rate("s.csv")
    assert "ratings must be 0 or 1" in run("estimate", "s.csv", code=3).stderr
    done = run("estimate", "s.csv", "--adequate", "<=4")
    assert "share with a score <= 4 among all 150 segments" in " ".join(done.stdout.split())
    assert "comet >= " in done.stdout and "adequate:<=4" in done.stdout.replace("\n", "")
    got = json.loads(run("estimate", "s.csv", "--adequate", "<=4", "--json").stdout)
    other = json.loads(
        run("estimate", "s.csv", "--adequate", "<=4", "--estimator", "mean", "--json").stdout
    )
    assert 0 < got["low"] < other["value"] < got["high"] < 1
    short = json.loads(
        run("estimate", "s.csv", "--adequate", "<=4", "--bound", "hdi", "--json").stdout
    )
    assert short["high"] - short["low"] <= got["high"] - got["low"] + 1e-12
    asked = ("estimate", "s.csv", "--adequate", "<=4", "--bound", "hypergeometric")
    sure = json.loads(run(*asked, "--json").stdout)
    assert sure["bound_kind"] == "guaranteed" and sure["value"] == got["value"]
    assert "posterior sd" in run(*asked).stdout
    asked = ("estimate", "s.csv", "--adequate", "<=4", "--prior", "alpha=0.9@500")
    informed = json.loads(run(*asked, "--json").stdout)
    assert informed["se"] < got["se"] and informed["value"] > got["value"]
    assert "(alpha=450.0+50.0)" in informed["signature"]
    assert "is for the binary model" in " ".join(
        run(*asked, "--estimator", "mean", code=2).stderr.split()
    )
    assert "--adequate must be" in run("estimate", "s.csv", "--adequate", "4", code=2).stderr


def test_judges_of_different_rows_and_bins(run: Run, judged: pd.DataFrame) -> None:
    half = np.arange(len(judged)) % 2 == 0
    first = np.where(judged["judge"] == 1, "good", "bad")
    rows = judged.assign(one=np.where(half, first, ""), two=judged["judge"].mask(half))
    rows.to_csv("two.csv", index=False)
    asked = ("alpha", "two.csv", "--human", "passed", "--system", "none", "--json")
    done = run(*asked, "--metric", "one,two")
    assert "is a category: 4 of them occur" in done.stderr
    assert "filled with the mean" not in done.stderr
    alone = json.loads(run(*asked).stdout)["systems"][0]
    assert json.loads(done.stdout)["systems"][0]["sd"] < alone["sd"]
    binned = json.loads(run(*asked, "--metric", "score", "--threshold", "bins").stdout)
    assert binned["metric"] == "score in 8 bins"
    assert binned["systems"][0]["sd"] < alone["sd"]


def test_simulate_with_a_cut(run: Run, table: pd.DataFrame) -> None:
    names = "random+alpha,random+alpha-comet:bins"
    asked = ("--strategies", names, "--budgets", "40", "--draws", 20, "--adequate", "<=4")
    got = json.loads(run("simulate", "pool.csv", "--human", "human", *asked, "--json").stdout)
    assert not got["failures"]
    share = float((table["human"] <= 4).mean())
    assert [cell["truth"] for cell in got["cells"]] == pytest.approx([share] * 3)


def test_verdicts_in_words_and_gaps_of_other_programs(run: Run, judged: pd.DataFrame) -> None:
    asked = ("alpha", "other.csv", "--human", "passed", "--metric", "judge", "--json")
    expected = json.loads(run("alpha", "judged.csv", *asked[2:]).stdout)["systems"]
    words = judged.assign(judge=judged["judge"].astype(bool))
    words.to_csv("other.csv", index=False, na_rep="NA")
    assert json.loads(run(*asked).stdout)["systems"] == expected
    said = judged["passed"].map({1: "yes", 0: "No"})
    for one, zero in (("PASS", "FAIL"), ("true", "false"), ("passed", "Failed")):
        judged.assign(judge=np.where(judged["judge"], one, zero), passed=said).to_csv(
            "other.csv", index=False, na_rep="n/a"
        )
        done = run(*asked)
        assert json.loads(done.stdout)["systems"] == expected
        assert f"in judge, {one.lower()} counts as 1 and {zero.lower()} as 0" in done.stderr
        assert "in passed, yes counts as 1 and no as 0" in done.stderr
    judged.assign(judge=np.where(judged["judge"], "fine", "poor")).to_csv("other.csv", index=False)
    assert "Write 1 for pass and 0 for fail" in run(*asked, code=3).stderr


def test_what_gives_reason_to_ask(run: Run, judged: pd.DataFrame) -> None:
    asked = ("alpha", "other.csv", "--human", "passed", "--metric", "judge", "--system", "none")

    def notes(**columns: Any) -> str:
        judged.assign(**columns).to_csv("other.csv", index=False)
        return str(run(*asked).stderr)

    assert "ρ + η ≤ 1" in notes(judge=1 - judged["judge"])
    assert "carries no information: is the threshold right?" in notes(judge=1)
    passed = judged["passed"]
    assert "were failures left empty?" in notes(passed=passed.where(passed == 1))
    assert "note" not in notes(judge=judged["judge"])
    prior = run("alpha", "--counts", "metric=540/1000")
    assert "rests on the priors alone" in prior.stderr
    four = run("alpha", "--counts", "tp=43,fn=18,fp=12,metric=540/1000", code=2).stderr
    assert "come in four counts" in " ".join(four.replace("│", " ").split())


def test_select_refuses_what_estimate_would(run: Run) -> None:
    strategy = "random+alpha-comet"
    asked = ("select", "pool.csv", "--budget", 60, "--strategy", strategy, "-o", "s.csv")
    assert "without a threshold must be 0 or 1" in run(*asked, code=3).stderr
    assert not Path("s.csv").exists()


def test_what_was_known_of_the_judge_before(run: Run) -> None:
    counts = "tp=20,fn=6,fp=3,tn=11,metric=300/600"

    def found(*more: str) -> dict[str, float]:
        return json.loads(run("alpha", "--counts", counts, *more, "--json").stdout)["systems"][0]

    plain = found()
    before = found("--prior", "tp=800,fn=200,fp=100,tn=900")
    means = found("--prior", "rho=0.8/1000,eta=0.9/1000")
    assert before["sd"] < plain["sd"]
    assert before["mean"] == pytest.approx(means["mean"], abs=0.005)
    for wrong in ("tp=8,fn=2", "rho=0.8", "rho=0.8/50,rho=0.9/50", "tp=8/3,fn=2,fp=1,tn=3", "x"):
        asked = run("alpha", "--counts", counts, "--prior", wrong, code=2).stderr
        assert "a prior must be like rho=30/40" in " ".join(asked.replace("│", " ").split())
    both = run(
        "alpha", "--counts", counts, "--prior", "rho=0.8/9", "--rho", 0.8, "--eta", 0.9, code=2
    )
    assert "leave out --rho" in " ".join(both.stderr.replace("│", " ").split())
