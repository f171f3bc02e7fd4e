"""``fewgold simulate`` from a table to files, and what it says when something is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

from fewgold import Simulation
from fewgold.cli import parse
from fewgold.simulation import result as simulation_result
from waiting import PATIENCE, until

Run = Callable[..., Any]
QUICK = ("--strategies", "random,docs-prop,random+cv-comet", "--budgets", "10%,30", "--draws", 20)


def test_from_a_table_to_a_folder(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two figures of six will do: drawing is what takes long.
    monkeypatch.setattr(
        simulation_result, "_figures", lambda done: {k: done.plot(k) for k in ("error", "coverage")}
    )
    done = run("simulate", "pool.csv", *QUICK, "-o", "out")
    assert "random+cv-comet" in done.stdout and "covers %" in done.stdout
    (guessed,) = [line for line in done.stderr.splitlines() if "columns guessed" in line]
    assert "id = segment, " in guessed and "human = human, " in guessed
    cells = pd.read_csv("out/cells.csv")
    assert set(cells["strategy"]) == {"random+mean", "docs-prop+mean", "random+cv-comet"}
    assert sorted(set(cells["n"])) == [15, 30]
    for name in ("ranking.csv", "by_budget.csv", "report.html", "error.png", "coverage.png"):
        assert (folder / "out" / name).stat().st_size > 200, name
    assert "random+cv-comet" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_formats(run: Run) -> None:
    record = json.loads(run("simulate", "pool.csv", "--human", "human", *QUICK, "--json").stdout)
    assert {"signature", "ranking", "cells", "failures"} <= set(record)
    assert record["ranking"][0]["reduction_mc"] is not None
    rows = run("simulate", "pool.csv", *QUICK, "--format", "csv", "-q").stdout.splitlines()
    assert rows[0].startswith("pool,strategy,budget,n,")
    assert len(rows) == 7
    assert r"\toprule" in run("simulate", "pool.csv", *QUICK, "--format", "latex").stdout


def test_the_same_seed_whatever_the_workers(run: Run) -> None:
    args = ("simulate", "pool.csv", *QUICK, "--format", "csv", "-q")
    alone = run(*args).stdout
    assert run(*args, "--n-jobs", 2).stdout == alone
    assert run(*args, "--backend", "threading").stdout == alone
    assert run(*args, "--seed", 5).stdout != alone


def test_on_a_dask_cluster(run: Run) -> None:
    distributed = pytest.importorskip("distributed", reason="dask is an extra")
    args = ("simulate", "pool.csv", *QUICK, "--format", "csv", "-q")
    # Workers in this process; test_simulation.py has processes. The address is real.
    where = {"processes": False, "protocol": "tcp", "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **where) as cluster:
        assert cluster.scheduler_address.startswith("tcp://")
        on_cluster = run(*args, "--backend", "dask", "--scheduler", cluster.scheduler_address)
    assert on_cluster.stdout == run(*args).stdout


def test_several_systems(run: Run, table: pd.DataFrame) -> None:
    both = pd.concat([table, table.assign(model="beta", human=table["human"] + 1)])
    both.to_csv("both.csv", index=False)
    done = run("simulate", "both.csv", "--human", "human", *QUICK)
    assert "each model is a separate pool" in done.stderr
    assert done.stdout.startswith("2 pools × 2 budgets")
    assert run("simulate", "both.csv", *QUICK, "--by", "model", "-q").stdout == done.stdout


def test_embedded_data(run: Run) -> None:
    done = run("simulate", "demo-zhen", "--strategies", "random", "--budgets", "5%", "--draws", 3)
    assert done.stdout.startswith("5 pools × 1 budget (5%)")
    assert "demo" in run("simulate", "demo-french", code=3).stderr.lower()


@pytest.mark.parametrize(
    ("args", "code", "say"),
    [
        (("pool.csv", "--human", "score"), 3, "unknown column 'score'"),
        (("pool.csv", "--by", "rater"), 3, "unknown column 'rater'"),
        (("pool.csv", "--strategies", "docs-porp"), 3, "docs-prop"),
        (("pool.csv", "--budgets", "5%:50%"), 2, "5%:50%:5%"),
        (("pool.csv", "--budgets", "much"), 2, "--budget"),
        (("pool.csv", "--budgets", "50%:5%:5%"), 2, "from small to large"),
        (("pool.csv", "--bounds", "hofding"), 3, "hoeffding"),
        (("pool.csv", "--resume"), 2, "--out"),
        (("pool.csv", "--backend", "spark"), 3, "loky"),
        (("pool.csv", "--scheduler", "tcp://x:1"), 3, "dask"),
        (("pool.csv", "--baseline", "nothing"), 3, "nothing"),
        (("nowhere.csv",), 3, "no file"),
    ],
)
def test_what_is_wrong(run: Run, args: tuple[str, ...], code: int, say: str) -> None:
    done = run("simulate", *args, "--draws", 3, code=code)
    assert say in " ".join(done.stderr.replace("│", " ").split())


def test_gaps_in_the_scores(run: Run, table: pd.DataFrame) -> None:
    table.assign(human=table["human"].where(table.index % 5 != 0)).to_csv("gaps.csv", index=False)
    assert "30 of 150 rows have no human" in run("simulate", "gaps.csv", *QUICK, code=3).stderr
    done = run("simulate", "gaps.csv", *QUICK, "--rated-only")
    assert "30 of 150 rows have no human and are left out" in done.stderr


def test_interrupt_and_resume(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    args = ["simulate", "demo-ende", "--strategies", "random,docs-balanced+ridge", "--draws", "50"]
    args += ["--budgets", "5%:25%:5%", "-o", "out"]
    process = subprocess.Popen(
        [sys.executable, "-m", "fewgold", *args], stderr=subprocess.PIPE, text=True
    )
    until(lambda: len(list(folder.glob("out/cells/*.json"))) >= 3, process)
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "--resume" in said
    assert not list(folder.glob("out/cells/.cell-*"))  # no half-written files
    kept = {p: p.stat().st_mtime_ns for p in folder.glob("out/cells/*.json")}
    monkeypatch.setattr(Simulation, "save", lambda *_: [])  # the page is not what this is about
    less = [*args[:3], "random", *args[4:]]  # a part of it, so that the test is quick
    run(*less, "--resume")
    assert (
        kept.items() <= {p: p.stat().st_mtime_ns for p in folder.glob("out/cells/*.json")}.items()
    )
    run(*less)  # without --resume all are computed again
    assert all(
        p.stat().st_mtime_ns != stamp for p, stamp in kept.items() if "random" in p.read_text()
    )


@pytest.mark.parametrize(
    ("text", "budgets"),
    [
        ("5%:15%:5%", [0.05, 0.1, 0.15]),
        ("0.5%:1.5%:0.5%", [0.005, 0.01, 0.015]),
        ("50:150:50", [50, 100, 150]),
        ("50:140:50", [50, 100]),
        ("5%, 100, 100%", [0.05, 100, 1.0]),
        (" 7 ", [7]),
    ],
)
def test_budgets(text: str, budgets: list[float]) -> None:
    made = parse.budgets(text)
    assert made == pytest.approx(budgets)
    assert [type(m) for m in made] == [type(b) for b in budgets]


@pytest.mark.parametrize("text", ["", "5%:50:5%", "0:10:0", "a:b:c", "1:2", "5:1:1"])
def test_bad_budgets(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="--budget"):
        parse.budgets(text)


def test_printed_bounds_with_ranges_side_by_side(run: Run) -> None:
    """Table 5 of Saldías et al. (2022) on any table: two ranges, each under the name as typed."""
    two = ["hoeffding-printed:4", "hoeffding-printed:25"]
    asked = ("--strategies", "random+mean", "--budgets", "30", "--bounds", ",".join(two))
    done = run("simulate", "pool.csv", *asked, "--draws", 8, "--format", "csv", "-q")
    (row,) = pd.read_csv(StringIO(done.stdout)).to_dict("records")
    k = 1 - 29 / 150
    for name, width in zip(two, (4, 25), strict=True):
        t = width * np.sqrt(k * np.log(2 / 0.05) / 60)
        assert row[f"half_width_{name}"] == pytest.approx(t)
