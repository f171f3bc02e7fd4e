"""``fewgold plan`` from each kind of knowledge, and its slips."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    assert len(run(*asked, "--format", "csv").stdout.splitlines()) == 3


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
        (("--sd", 2), 2, "say what is wanted"),
        (("--half-width", 1, "--difference", 1, "--sd", 2), 2, "say what is wanted"),
        (("--half-width", 1), 2, "got none"),
        (("--half-width", 1, "--sd", 2, "--limits", "0,5"), 2, "--limits and --sd"),
        (("--half-width", -1, "--sd", 2), 3, "must be a positive number"),
        (("--difference", 1, "--sd", 2, "--power", "2"), 2, "--power must be"),
        (("--half-width", 1, "--limits", "5"), 2, "--limits must be"),
        (("--half-width", 1, "--sd", 2, "--strategies", "docs-sys+mean"), 3, "history"),
        (("--half-width", 1, "--pilot", "none.csv"), 3, "takes a sheet of fewgold select"),
        (("--half-width", 1, "--alpha", 0.5, "--rho", 0.9), 3, "rho and eta go together"),
        (("--budget", 100), 2, "--metric-cost"),
        (("--half-width", 1, "--sd", 2, "--assurance", 0.8), 2, "--assurance goes with --pilot"),
        (("--difference", 1, "--history", "pool.csv"), 3, "differences of two systems"),
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
