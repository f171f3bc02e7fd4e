"""``fewgold stop``: enough or not, in the order of drawing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold import io, sheets
from fewgold.bounds import sequence

Run = Callable[..., Any]
HOW = ("--tolerance", 2, "--limits", "mqm")


@pytest.fixture
def sheet(run: Run, table: pd.DataFrame) -> Callable[..., None]:
    """Make a sheet in the order of drawing, rated as far as the number says."""
    gold = dict(zip(table["segment"], table["human"], strict=True))

    def make(rated: int, *more: object) -> None:
        select = ("select", "pool.csv", "--strategy", "random", "--in-order", "--seed", 4)
        run(*select, "--budget", "100%", "-o", "s.csv", "--force", *more)
        frame = io.read_table("s.csv").astype(object)
        ids = [str(i) for i in frame["id"]]
        frame["score"] = [repr(float(gold[i])) if k < rated else "" for k, i in enumerate(ids)]
        frame.to_csv("s.csv", index=False)

    return make


def answer(run: Run, *more: object, code: int = 0) -> dict[str, Any]:
    return dict(json.loads(run("stop", "s.csv", *HOW, *more, "--json", code=code).stdout))


def drawn() -> tuple[Any, list[str]]:
    side = sheets.design_path("s.csv")
    sample = sheets.load_sample(side, sheets.load_pool(side))
    return sample, [str(i) for i in sample.ids]


def test_sheets_list_the_order_of_drawing(run: Run, sheet: Callable[..., None]) -> None:
    sheet(0)
    _, ids = drawn()
    assert io.read_table("s.csv")["id"].tolist() == ids
    assert ids != sorted(ids)
    shown = run("select", "pool.csv", "--strategy", "random", "--budget", 9, "--in-order",
                "-o", "t.csv").stdout  # fmt: skip
    assert "Rate from the top" in shown and "fewgold stop t.csv" in shown


def test_a_larger_budget_with_the_same_seed_begins_with_the_same_rows(
    sheet: Callable[..., None],
) -> None:
    sheet(0)
    whole = drawn()[1]
    sheet(0, "--budget", 30)
    assert drawn()[1] == whole[:30]


@pytest.mark.sweep
@pytest.mark.parametrize("more", [(), ("--metric", "comet"), ("--rule", "hall"),
                                  ("--confidence", "80%")])  # fmt: skip
@pytest.mark.parametrize("rated", [12, 140])
def test_it_says_what_the_library_says(
    run: Run, sheet: Callable[..., None], table: pd.DataFrame, more: tuple[str, ...], rated: int
) -> None:
    sheet(rated)
    got = answer(run, *more)
    sample, ids = drawn()
    gold = dict(zip(table["segment"], table["human"].astype(float), strict=True))
    scores = np.array([gold[i] for i in ids[:rated]])
    ratings = sequence.first(sample, rated).rate(scores, limits="mqm")
    metric = "comet" if "comet" in more else None
    rule = "hall" if "hall" in more else "kelly"
    level = 0.8 if "80%" in more else 0.95
    path = sequence.path(ratings, 2.0, level, metric=metric, rule=rule)
    at = path.stopped - 1 if rule == "hall" and path.stopped else -1
    assert got["low"] == pytest.approx(path.low[at], rel=1e-12)
    assert got["high"] == pytest.approx(path.high[at], rel=1e-12)
    assert got["stop"] == (path.stopped > 0) == (rated == 140)
    assert got["stopped_after"] == (path.stopped or None)
    assert got["signature"] == path.signature()
    assert got["n"] == rated and got["pool_size"] == 150
    if not got["stop"]:
        assert 0 < got["more_low"] <= got["more"] <= got["more_high"] <= 150 - rated


def test_text(run: Run, sheet: Callable[..., None]) -> None:
    sheet(0)
    assert "no row has a score yet" in run("stop", "s.csv", *HOW).stdout
    sheet(3)
    shown = run("stop", "s.csv", *HOW).stdout
    assert "Go on" in shown and "still to rate" not in shown
    sheet(20)
    shown = run("stop", "s.csv", *HOW).stdout
    assert "Go on" in shown and "still to rate" in shown and "kelly, guaranteed" in shown
    sheet(150)
    shown = run("stop", "s.csv", *HOW).stdout
    assert "Stop" in shown and "of 150 ratings are enough" in shown
    shown = run("stop", "s.csv", *HOW, "--rule", "hall").stdout
    assert "approximate: not valid under" in shown


def test_a_sheet_that_ends_too_soon_says_how_to_go_on(run: Run, sheet: Callable[..., None]) -> None:
    sheet(15, "--budget", 15)
    shown = run("stop", "s.csv", *HOW).stdout
    assert "--seed 4" in shown and "begins with the same rows" in " ".join(shown.split())


@pytest.mark.parametrize("how", ["csv", "latex"])
def test_other_formats(run: Run, sheet: Callable[..., None], how: str) -> None:
    sheet(20)
    assert "half_width" in run("stop", "s.csv", *HOW, "--format", how).stdout.replace("\\_", "_")


def test_a_sheet_on_stdin(run: Run, sheet: Callable[..., None]) -> None:
    sheet(20)
    text = Path("s.csv").read_text()
    got = run("stop", "-", *HOW, "--design", "s.csv.design.json", "--json", stdin=text).stdout
    assert {**json.loads(got), "file": "s.csv"} == answer(run)
    assert "with --design FILE" in run("stop", "-", *HOW, code=2, stdin=text).stderr


def test_exit_codes(run: Run, sheet: Callable[..., None]) -> None:
    sheet(20)
    assert not answer(run)["stop"]
    assert not answer(run, "--fail-open", code=1)["stop"]
    sheet(150)
    assert answer(run, "--fail-open")["stop"]


@pytest.mark.parametrize(
    "args",
    [
        ("--limits", "mqm"),
        ("--tolerance", 2),
        ("--tolerance", 0, "--limits", "mqm"),
        ("--tolerance", 12.5, "--limits", "mqm"),
        ("--tolerance", 2, "--limits", "high"),
        (*HOW, "--rule", "coin"),
        (*HOW, "--confidence", "7"),
    ],
)
def test_usage_errors(run: Run, sheet: Callable[..., None], args: tuple[object, ...]) -> None:
    sheet(5)
    assert not run("stop", "s.csv", *args, code=2).stdout


def test_in_order_is_for_one_random_sample(run: Run, sheet: Callable[..., None]) -> None:
    sentence = "--in-order is for one plain random sample"
    order = ("select", "pool.csv", "--budget", 10, "--in-order", "-o", "x.csv")
    assert sentence in run(*order, "--strategy", "docs-sys+mean", code=2).stderr
    sheet(15, "--budget", 15)
    assert sentence in run(*order, "--given", "s.csv", code=2).stderr
    assert not Path("x.csv").exists()


def test_gaps_and_other_bad_data(run: Run, sheet: Callable[..., None]) -> None:
    sheet(20)
    frame = io.read_table("s.csv").astype(object)
    broken = frame.copy()
    broken.loc[4, "score"] = ""
    broken.to_csv("s.csv", index=False)
    shown = run("stop", "s.csv", *HOW, code=3).stderr
    assert f"1 id is not rated, but later ones are: {frame['id'][4]}" in shown
    assert "--in-order" in shown
    frame.loc[4, "score"] = "26"
    frame.to_csv("s.csv", index=False)
    assert "outside the scale 0 to 25" in run("stop", "s.csv", *HOW, code=3).stderr
    frame.loc[4, "score"] = "good"
    frame.to_csv("s.csv", index=False)
    assert "no number" in run("stop", "s.csv", *HOW, code=3).stderr
    frame.loc[4, ["id", "score"]] = "nowhere", "3"
    frame.to_csv("s.csv", index=False)
    assert "not in the sample: nowhere" in run("stop", "s.csv", *HOW, code=3).stderr
    assert "unknown column" in run("stop", "s.csv", *HOW, "--human", "mqm", code=3).stderr
    sheet(20)
    assert "unknown metric 'comt'" in run("stop", "s.csv", *HOW, "--metric", "comt", code=3).stderr


def test_other_designs_are_refused(run: Run) -> None:
    run("select", "pool.csv", "--strategy", "docs-sys+mean", "--budget", 10, "-o", "s.csv")
    shown = run("stop", "s.csv", *HOW, code=3).stderr
    assert "this sample's design is 'systematic'" in shown and "--strategy random" in shown
