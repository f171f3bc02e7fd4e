"""``fewgold roc`` from a table to figures, and what it says when something is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fewgold.bayes import roc_table
from fewgold.datasets import demo_frame

Run = Callable[..., Any]
PLAIN = ("--human", "human", "--adequate", "<=3")


@pytest.fixture
def demo(folder: Path) -> pd.DataFrame:
    """Three systems with one rater's MQM scores, as ``demo.csv``; not all is rated."""
    frame = demo_frame("zhen")[["segment", "system", "rater1", "comet", "bleu", "ter"]]
    frame = frame[frame["system"].isin(["human", "alpha", "beta"])]
    frame.to_csv("demo.csv", index=False)
    return frame


def test_a_table_for_each_metric(run: Run, demo: pd.DataFrame) -> None:
    done = run(
        "roc", "demo.csv", "--human", "rater1", "--adequate", "<=1", "--metrics", "comet,ter"
    )
    assert "columns guessed: id = segment, system = system\n" in done.stderr
    want = roc_table(
        demo, human="rater1", adequate="<= 1", metrics=["comet", "ter"], system="system"
    ).to_frame()
    lines = [line.split() for line in done.stdout.splitlines()]
    for row in want.to_dict("records"):
        numbers = [f"{row[name]:.3f}" for name in ("rho", "eta", "K")]
        start = [row["system"], str(row["n"]), f"{row['alpha']:.3f}", f"{row['auc']:.3f}"]
        assert any(line[:4] == start and line[-3:] == numbers for line in lines), row
    assert done.stdout.count("(all the same: p") == 2
    assert "ter at <= " in done.stdout and "comet at >= " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_formats(run: Run, demo: pd.DataFrame) -> None:
    args = ("roc", "demo.csv", "--human", "rater1", "--adequate", "<=1", "--metrics", "comet")
    record = json.loads(run(*args, "--json", "-q").stdout)
    assert [row["system"] for row in record["rows"]] == ["(all)", "human", "alpha", "beta"]
    assert record["adequate"] == "<= 1" and record["rule"] == "equal"
    assert 0 <= record["heterogeneity"][0]["p"] <= 1
    rows = run(*args, "--format", "csv", "-q").stdout.splitlines()
    assert rows[0] == "metric,system,n,gaps,alpha,auc,auc_se,auc_low,auc_high,cut,rho,eta,K"
    assert len(rows) == 5
    assert r"\toprule" in run(*args, "--format", "latex").stdout
    alone = json.loads(run(*args, "--system", "none", "--json").stdout)
    assert len(alone["rows"]) == 1 and alone["heterogeneity"] == []


def test_thresholds(run: Run, demo: pd.DataFrame) -> None:
    args = ("roc", "demo.csv", "--human", "rater1", "--adequate", "<=1", "--metrics", "comet")

    def cuts(*more: str) -> list[str]:
        return [row["cut"] for row in json.loads(run(*args, *more, "--json").stdout)["rows"]]

    assert len(set(cuts())) == 1
    assert len(set(cuts("--per-system"))) > 1
    assert cuts("--strict")[0].startswith("> ")
    assert cuts("--orientation", "comet=-1")[0].startswith("<= ")
    assert cuts("--rule", "information") != cuts()
    assert "separate threshold for each system" in run(*args, "--per-system").stdout


def test_figure(run: Run, demo: pd.DataFrame, folder: Path) -> None:
    args = ("roc", "demo.csv", "--human", "rater1", "--adequate", "<=1", "--metrics", "comet")
    done = run(*args, "-o", "roc.svg")
    assert "written: roc.svg" in done.stdout
    assert "<svg" in (folder / "roc.svg").read_text(encoding="utf-8")
    assert run(*args, "-o", "roc.png", "--json", "-q").stdout.strip().startswith("{")
    assert (folder / "roc.png").stat().st_size > 5000
    assert ".png, .svg or .pdf" in run(*args, "-o", "roc.gif", code=3).stderr


def test_metrics_are_guessed(run: Run) -> None:
    done = run("roc", "pool.csv", *PLAIN)
    assert "metrics = comet, bleu, words" in done.stderr and "position" in done.stderr
    assert "comet at >=" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "say"),
    [
        (("pool.csv",), 2, "--human"),
        (
            ("pool.csv", "--human", "human", "--metrics", "comet"),
            3,
            "say which are adequate",
        ),
        (("pool.csv", "--human", "human", "--adequate", "good"), 2, "'<=0' or '>=0.5'"),
        (("pool.csv", *PLAIN, "--metrics", "comte"), 3, "Did you mean 'comet'"),
        (("pool.csv", *PLAIN, "--system", "team"), 3, "unknown column 'team'"),
        (("pool.csv", *PLAIN, "--rule", "best"), 2, "information"),
        (("pool.csv", "--human", "human", "--adequate", "<=99"), 3, "every score in"),
        (("pool.csv", *PLAIN, "--metrics", "source"), 3, "must hold numbers"),
        (("nowhere.csv", *PLAIN), 3, "no file"),
    ],
)
def test_what_is_wrong(run: Run, args: tuple[str, ...], code: int, say: str) -> None:
    done = run("roc", *args, code=code)
    assert say in " ".join(done.stderr.replace("│", " ").split())


def test_what_was_known_before(run: Run) -> None:
    """Beta posteriors of ρ and η, checked with scipy; a uniform prior is near the plain shares."""
    from scipy.stats import beta

    asked = ("roc", "pool.csv", "--human", "human", "--adequate", "<=4", "--metrics", "comet")
    plain = json.loads(run(*asked, "--json").stdout)["rows"][0]
    done = run(*asked, "--prior", "rho=30/40,eta=0.9@50", "--json")
    row = json.loads(done.stdout)["rows"][0]
    adequate = round(plain["n"] * plain["alpha"])
    hits = round(plain["rho"] * adequate)
    rho = beta(31 + hits, 11 + adequate - hits)
    assert row["rho"] == pytest.approx(rho.mean()) and row["rho_sd"] == pytest.approx(rho.std())
    assert [row["rho_low"], row["rho_high"]] == pytest.approx(rho.interval(0.95))
    rest = plain["n"] - adequate
    kept = round(plain["eta"] * rest)
    assert row["eta"] == pytest.approx(beta(45 + kept, 5 + rest - kept).mean())
    assert "posterior means" in done.stderr
    assert "a prior must be like" in " ".join(
        run(*asked, "--prior", "rho=x", code=2).stderr.replace("│", " ").split()
    )
