"""``fewgold plan`` from each kind of knowledge, and its slips."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.planning import Goal, Outlook, best_split, plan_binary, plan_worst_case

Run = Callable[..., Any]
Rate = Callable[..., None]


def _numbers(done: Any) -> dict[str, int]:
    return {row["strategy"]: row["n"] for row in json.loads(done.stdout)["strategies"]}


def test_from_a_guess(run: Run) -> None:
    asked = ("plan", "--half-width", 0.3, "--sd", 2.4, "--correlation", 0.5, "--size", 1418)
    outlook = Outlook(sd=2.4, correlation=0.5, size=1418)
    expected = {s: outlook.ratings(s, Goal(half_width=0.3)) for s in outlook._known_strategies}
    assert _numbers(run(*asked, "--json")) == expected
    text = run(*asked, "--rating-cost", 30).stdout
    assert "For ±0.3 at 95% confidence, from sd 2.4, correlation 0.5" in text
    assert str(30 * expected["random+ridge"]) in text
    assert len(run(*asked, "--format", "csv").stdout.splitlines()) == 4


def test_from_the_scale(run: Run) -> None:
    got = _numbers(run("plan", "--half-width", 1, "--limits", "mqm", "--size", 1418, "--json"))
    expected = plan_worst_case(Goal(half_width=1), "mqm", 1418)
    assert got == {need.strategy: need.n for need in expected.needs}


def test_from_a_pilot(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 50, "--strategy", "random+mean", "-o", "s.csv")
    rate("s.csv")
    got = _numbers(run("plan", "--half-width", 0.3, "--pilot", "s.csv", "--json"))
    assert set(got) >= {"random+mean", "random+ridge"}
    assert got["random+ridge"] < got["random+mean"] <= 150
    safe = run("plan", "--half-width", 0.3, "--pilot", "s.csv", "--assurance", 0.9, "--json")
    assert _numbers(safe)["random+mean"] > got["random+mean"]


def test_from_history(run: Run, folder: Path) -> None:
    asked = ("plan", "--half-width", 0.5, "--history", "pool.csv", "--draws", 20, "-o", "p.png")
    done = run(*asked)
    assert "docs-balanced+ridge" in done.stdout and "written: p.png" in done.stdout
    assert (folder / "p.png").stat().st_size > 5000
    chosen = ("--strategies", "docs-sys+mean", "--json")
    assert set(_numbers(run(*asked, *chosen))) == {"random+mean", "docs-sys+mean"}


def test_pass_or_fail(run: Run) -> None:
    metric = ("--rho", 0.9, "--eta", 0.9)
    asked = ("plan", "--difference", 0.1, "--alpha", 0.6, *metric, "--metric-ratings", 5000)
    expected = plan_binary(Goal(difference=0.1), alpha=0.6, rho=0.9, eta=0.9, metric=5000)
    assert _numbers(run(*asked, "--json")) == {n.strategy: n.n for n in expected.needs}
    asked = ("plan", "--budget", 1000, "--alpha", 0.6, *metric, "--metric-cost", 0.01)
    split = best_split(1000, 1.0, 0.01, alpha=0.6, rho=0.9, eta=0.9, power=0.8)
    assert json.loads(run(*asked, "--json").stdout)["best"]["human"] == split.best.human
    assert split.summary() in run(*asked).stdout


def test_percent_is_a_share(run: Run) -> None:
    typed = ("--half-width", "5%", "--alpha", "60%", "--rho", "90 %", "--eta", "9e-1")
    expected = plan_binary(Goal(half_width=0.05), alpha=0.6, rho=0.9, eta=0.9, size=500)
    found = run("plan", *typed, "--size", 500, "--json")
    assert _numbers(found) == {n.strategy: n.n for n in expected.needs}


@pytest.mark.parametrize(
    ("args", "code", "problem"),
    [
        (("--sd", 2), 2, "say what you want"),
        (("--half-width", 1, "--difference", 1, "--sd", 2), 2, "say what you want"),
        (("--half-width", 1), 2, "got none"),
        (("--half-width", 1, "--sd", 2, "--limits", "0,5"), 2, "--limits and --sd"),
        (("--half-width", -1, "--sd", 2), 3, "must be a positive number"),
        (("--difference", 1, "--sd", 2, "--power", "2"), 2, "--power must be"),
        (("--half-width", 1, "--limits", "5"), 2, "--limits must be"),
        (("--half-width", 1, "--sd", 2, "--strategies", "docs-opt+mean"), 3, "history"),
        (("--half-width", 1, "--pilot", "none.csv"), 3, "takes a rated sheet of fewgold select"),
        (("--half-width", 1, "--alpha", 0.5, "--rho", 0.9), 3, "give both rates of the metric"),
        (("--budget", 100), 2, "--metric-cost"),
        (("--half-width", 1, "--sd", 2, "--assurance", 0.8), 2, "--assurance needs --pilot"),
        (("--difference", 1, "--history", "pool.csv"), 3, "rated on the same segments"),
        (("--difference", 1, "--pilot", "pool.csv"), 2, "sd of differences with --sd"),
        (("--half-width", "5%", "--sd", 2), 2, "in the units of the scores; got '5%'"),
        (("--half-width", "wide", "--sd", 2), 2, "--half-width must be like 0.5"),
        (("--half-width", "wide", "--alpha", 0.5), 2, "--half-width must be like 0.05 or 5%"),
        (("--half-width", 1, "--sd", "two"), 2, "expected a number, such as 0.5; got 'two'"),
        (("--half-width", 0.1, "--alpha", "half"), 2, "such as 0.9 or 90%; got 'half'"),
        (("--half-width", 0.1, "--alpha", "60", "--size", 50), 3, "alpha must lie between 0 and 1"),
    ],
)
def test_slips(run: Run, args: tuple[object, ...], code: int, problem: str) -> None:
    said = run("plan", *args, code=code).stderr
    assert problem in " ".join(said.replace("│", " ").split())


def test_costs_of_history(run: Run) -> None:
    asked = ("plan", "--half-width", 0.5, "--history", "pool.csv", "--draws", 20, "-q", "--json")
    priced = json.loads(run(*asked, "--cost", "10+0.5*words").stdout)["strategies"][0]
    words = pd.read_csv("pool.csv")["words"]
    assert priced["cost"] == pytest.approx(priced["n"] * (10 + 0.5 * words.mean()))


TABLE_1 = """0.800 0.109 0.049 0.035 0.015
0.379 0.106 0.049 0.034 0.015
0.134 0.085 0.046 0.033 0.015
0.043 0.040 0.032 0.027 0.015
0.027 0.026 0.024 0.021 0.013
0.019 0.019 0.018 0.017 0.012"""
# Rows of 100, 1000 and 10,000 human ratings of Tables 11 to 14, by accuracy of the metric.
TABLES_11_TO_14 = {
    0.70: """0.134 0.124 0.124 0.123 0.123 0.123 0.123
0.043 0.041 0.040 0.040 0.040 0.039 0.039
0.014 0.013 0.013 0.013 0.013 0.013 0.013""",
    0.90: """0.134 0.091 0.088 0.087 0.086 0.086 0.086
0.043 0.036 0.032 0.030 0.028 0.027 0.026
0.014 0.013 0.013 0.012 0.011 0.009 0.009""",
    0.99: """0.134 0.059 0.051 0.048 0.046 0.045 0.045
0.043 0.031 0.024 0.020 0.016 0.011 0.010
0.014 0.013 0.012 0.011 0.010 0.006 0.005""",
    0.51: """0.134 0.133 0.133 0.133 0.133 0.133 0.133
0.043 0.043 0.043 0.043 0.043 0.043 0.043
0.014 0.014 0.014 0.014 0.014 0.014 0.014""",
}


def _printed(text: str) -> str:
    """The numbers of the table in a text, without its header and the sizes."""
    lines = text.split("human ")[1].splitlines()[1:]
    return "\n".join(" ".join(line.split()[1:]) for line in lines[: lines.index("")])


def test_table_1_of_the_paper(run: Run) -> None:
    """Known rates; (0, 0) is printed 1.000 there and (2500, 10,000) 0.020."""
    human, metric = "0,10,100,1000,2500,5000", "0,1000,5000,10000,50000"
    sizes = "--human-ratings", human, "--metric-ratings", metric
    done = run("plan", *sizes, "--alpha", 0.6, "--rho", 0.7, "--eta", 0.7, "--known")
    assert _printed(done.stdout) == TABLE_1
    assert "1.43 times as large" in done.stdout


@pytest.mark.parametrize("accuracy", TABLES_11_TO_14)
def test_tables_11_to_14_of_the_paper(run: Run, accuracy: float) -> None:
    rates = "--alpha", 0.6, "--rho", accuracy, "--eta", accuracy
    metric = "0,1000,2500,5000,10000,50000,100000"
    done = run("plan", "--human-ratings", "100,1000,10000", "--metric-ratings", metric, *rates)
    assert _printed(done.stdout) == TABLES_11_TO_14[accuracy]


@pytest.mark.parametrize(
    ("alpha", "rho", "human", "metric", "epsilon"),
    [(0.65, 0.6, 527, 1000, 0.0555), (0.65, 0.6, 100, 1000, 0.1122), (0.65, None, 527, 0, 0.0574),
     (0.65, None, 100, 0, 0.1305), (0.30, None, 100, 0, 0.1256)],
)  # fmt: skip
def test_figure_2_and_the_text(
    run: Run, alpha: float, rho: float | None, human: int, metric: int, epsilon: float
) -> None:
    rates = () if rho is None else ("--rho", rho, "--eta", rho, "--known")
    sizes = "--human-ratings", human, "--metric-ratings", metric
    got = json.loads(run("plan", *sizes, "--alpha", alpha, *rates, "--json").stdout)["sizes"][0]
    assert got["epsilon"] == pytest.approx(epsilon, abs=5e-5)
    assert got["found"] / got["epsilon"] == pytest.approx(1.4294, abs=1e-3)


def test_it_agrees_with_statsmodels(run: Run) -> None:
    """People alone: two proportions by the normal approximation; the priors shift it a little."""
    from scipy.special import ndtri
    from statsmodels.stats.power import NormalIndPower

    asked = "plan", "--human-ratings", 1000, "--alpha", 0.5, "--power", 0.9, "--json"
    got = json.loads(run(*asked).stdout)["sizes"][0]
    effect = NormalIndPower().solve_power(nobs1=1000, alpha=0.05, power=0.9)
    assert got["found"] == pytest.approx(effect * 0.5, rel=2e-3)  # Cohen's d: in sds of one rating
    assert got["epsilon"] == pytest.approx(np.sqrt(2) * 1.959964 * got["sd"], rel=1e-6)
    assert got["found"] == pytest.approx((1.959964 + ndtri(0.9)) * np.sqrt(2) * got["sd"], rel=1e-6)


def test_bias_and_spread(run: Run, folder: Path) -> None:
    """People alone: the posterior mean has the bias (1 − 2α)/(n + 2)."""
    asked = ("plan", "--human-ratings", "20,100", "--alpha", 0.9, "--bias", "--draws", 2000)
    got = json.loads(run(*asked, "--json", "-o", "b.svg").stdout)
    assert (folder / "b.svg").is_file() and got["draws"] == 2000
    for row in got["sizes"]:
        assert row["bias"] == pytest.approx(-0.8 / (row["human"] + 2), abs=4 * row["bias_mc"])
    assert "bias_spread" in run(*asked).stdout
    assert run(*asked, "--format", "csv").stdout.startswith("human,metric,sd,epsilon,found,bias")
    assert run(*asked, "--format", "latex").stdout.startswith(r"\begin{tabular}")


def test_metric_ratings_for_a_difference(run: Run) -> None:
    study = ("--alpha", 0.6, "--rho", 0.9, "--eta", 0.9, "--difference", 0.05)
    got = json.loads(run("plan", "--human-ratings", "700", *study, "--json").stdout)["sizes"]
    assert got == [{"human": 700, "metric": 4131}]
    text = run("plan", "--human-ratings", 700, *study).stdout
    assert "700 human ratings and 4131 ratings by the metric alone" in text


def test_what_was_known_of_the_judge(run: Run) -> None:
    """Counts stand for the rates too, and make fewer ratings do."""
    goal = ("plan", "--difference", 0.1, "--metric-ratings", 2000, "--alpha", 0.6, "--json")
    plain = _numbers(run(*goal, "--rho", 0.9, "--eta", 0.9))
    known = _numbers(run(*goal, "--prior", "rho=0.9@400,eta=0.9@400"))
    assert known["people alone"] == plain["people alone"]
    assert known["with the metric"] < plain["with the metric"]
    split = ("plan", "--budget", 200, "--metric-cost", 0.02, "--alpha", 0.6, "--json")
    alone = json.loads(run(*split, "--rho", 0.9, "--eta", 0.9).stdout)["best"]["sd"]
    assert json.loads(run(*split, "--prior", "rho=90/100,eta=90/100").stdout)["best"]["sd"] < alone


def test_how_many_more(run: Run, rate: Rate) -> None:
    asked = ("plan", "--half-width", 0.3, "--sd", 2.4, "--correlation", 0.5, "--size", 1418)
    got = json.loads(run(*asked, "--have", 200, "--json").stdout)
    assert got["have"] == 200
    for row in got["strategies"]:
        assert row["more"] == max(row["n"] - 200, 0)
    text = run(*asked, "--have", 200).stdout
    assert "more: in addition to the 200 you have" in text and "docs-balanced+ridge" in text
    assert "the 200 ratings you have are enough for random+ridge" in text
    run("select", "pool.csv", "--budget", 50, "--strategy", "random+mean", "-o", "s.csv")
    rate("s.csv")
    pilot = json.loads(run("plan", "--half-width", 0.3, "--pilot", "s.csv", "--json").stdout)
    assert pilot["have"] == 50
    small = run("plan", "--half-width", 0.01, "--sd", 2.4, "--size", 100).stdout
    assert "the pool is too small for this goal" in small


def test_shares_from_a_pilot_and_a_history(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    run("select", "pool.csv", "--budget", 60, "--strategy", "random+mean", "-o", "s.csv")
    rate("s.csv")
    asked = ("plan", "--half-width", "8%", "--adequate", "<=4", "--strategies", "random+mean")
    rated = pd.read_csv("s.csv")["score"]
    share = float((rated <= 4).mean())
    sd = np.sqrt(share * (1 - share) * 60 / 59)
    by_hand = Outlook(sd=sd, size=150).ratings("random+mean", Goal(half_width=0.08))
    assert _numbers(run(*asked, "--pilot", "s.csv", "--json"))["random+mean"] == by_hand
    share = float((table["human"] <= 4).mean())
    exact = Outlook(sd=np.sqrt(share * (1 - share)), size=150)
    replayed = run(*asked, "--history", "pool.csv", "--human", "human", "--draws", 40, "--json")
    near = exact.ratings("random+mean", Goal(half_width=0.08))
    assert abs(_numbers(replayed)["random+mean"] - near) <= 0.1 * near


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (("--human-ratings", 100), "give the success rate that you expect with --alpha"),
        (("--human-ratings", "1.5", "--alpha", 0.5), "must be whole numbers such as 100"),
        (("--bias", "--half-width", 1, "--sd", 2), "--bias needs --human-ratings"),
        (("--adequate", ">=4", "--sd", 2, "--half-width", 1), "--adequate cuts the scores of"),
        (("--half-width", "5%", "--alpha", 0.5, "--metric-ratings", "1,2"), "give one number"),
        (("--half-width", 1, "--sd", 2, "--size", 9, "--have", 10), "is more than the 9 segments"),
        (("--human-ratings", 9, "--half-width", 0.1, "--alpha", 0.5), "leave out --metric-ratings"),
    ],
)
def test_more_slips(run: Run, args: tuple[object, ...], problem: str) -> None:
    said = " ".join(run("plan", *args, code=2).stderr.replace("│", " ").split())
    assert problem in said


def test_an_icc_of_few_pairs_is_a_guess(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 30, "--seed", 1, "-o", "sheet.csv")
    rate("sheet.csv")
    few = run("plan", "--half-width", 0.3, "--pilot", "sheet.csv").stderr
    assert "documents with more than one rating" in " ".join(few.split())
    run("select", "pool.csv", "--budget", 60, "--seed", 1, "-o", "more.csv")
    rate("more.csv")
    assert "more than one rating" not in run(
        "plan", "--half-width", 0.3, "--pilot", "more.csv").stderr  # fmt: skip
