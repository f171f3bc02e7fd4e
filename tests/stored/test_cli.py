"""`fewgold select` and what follows it, on Parquet files that stay on disk."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold.cli import app
from fewgold.samplers import phases
from sweeps import quick
from waiting import PATIENCE, until

pytest.importorskip("duckdb")
N = 1200


def table():
    rng = np.random.default_rng(5)
    judge = rng.normal(size=N)
    return pd.DataFrame(
        {
            "request": [f"r{i:05d}" for i in range(N)],
            "conversation": [f"c{i // 6}" for i in range(N)],
            "judge": judge,
            "chrf": 50 + 10 * judge + rng.normal(0, 8, N),
            "turn": [i % 6 for i in range(N)],
            "output": [f"words {'and ' * (i % 4)}more" for i in range(N)],
        }
    )


@pytest.fixture
def logs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    for k in range(3):
        table().iloc[k::3].to_parquet(f"logs/part{k}.parquet")
    return [f"logs/part{k}.parquet" for k in range(3)]


def run(*args, code=0):
    done = CliRunner().invoke(app, [str(a) for a in args])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, done.output
    return done


def chosen(*pool, out="s.csv", strategy="docs-sys", seed=4, **more):
    options = [f"--{k.replace('_', '-')}={v}" for k, v in more.items()]
    made = run(
        "select", *pool, "--id=request", "--document=conversation", "--metrics=judge,chrf",
        f"--strategy={strategy}", f"--seed={seed}", "-o", out, "--force", "--json", *options,
    )  # fmt: skip
    return json.loads(made.stdout)


def ids(path="s.csv"):
    return pd.read_csv(path)["id"].tolist()


def rate(path):
    sheet = pd.read_csv(path)
    gold = table().set_index("request")["judge"]
    sheet["score"] = [round(10 + 3 * gold[i], 3) for i in sheet["id"]]
    sheet.to_csv(path, index=False)


@pytest.mark.parametrize(
    "strategy",
    quick(
        ["docs-sys", "metrics-prop", "random", "docs-chunks3", "docs-balanced"],
        ["docs-sys", "docs-balanced"],
    ),
)
def test_files_folders_and_patterns_are_the_same_pool(logs, strategy):
    first = chosen(*logs, budget=60, strategy=strategy)
    assert first["n"] == 60 and first["pool_size"] == N
    assert first["files"] == 3 and first["engine"] == "DuckDB"
    found = ids()
    assert len(set(found)) == 60
    for pool in (["logs"], ["logs/*.parquet"], logs[::-1]):
        again = chosen(*pool, budget=60, strategy=strategy, out="t.csv")
        assert ids("t.csv") == found
        assert again["fingerprint"] == first["fingerprint"]
    table().to_parquet("one.parquet")
    chosen("one.parquet", budget=60, strategy=strategy, out="t.csv", engine="duckdb")
    assert ids("t.csv") == found


@pytest.mark.parametrize("strategy", ["docs-sys+ridge", "docs-balanced+ridge"])
def test_from_sheet_to_estimate_report_and_more(logs, strategy, monkeypatch):
    monkeypatch.setattr(phases, "_LEAST", 600)
    monkeypatch.setattr(phases, "_EACH", 0)
    chosen("logs", budget=80, strategy=strategy)
    rate("s.csv")
    made = json.loads(run("estimate", "s.csv", "--json").stdout)
    truth = float((10 + 3 * table()["judge"]).mean())
    assert made["pool_size"] == N and made["low"] <= truth <= made["high"]
    # Rated by the judge itself, a control variate leaves next to nothing to chance.
    assert abs(made["value"] - truth) < 0.01
    run("report", "s.csv", "-o", "r.html")
    run(
        "select", "logs", "--given=s.csv", "--budget=30", "--seed=9", "-o", "more.csv",
    )  # fmt: skip
    assert not set(ids("more.csv")) & set(ids("s.csv"))
    rate("more.csv")
    both = json.loads(run("estimate", "more.csv", "--json").stdout)
    assert both["n"] == 110 and abs(both["value"] - truth) < 0.01


def test_the_pool_may_move_but_not_change(logs, tmp_path):
    chosen("logs", budget=40)
    rate("s.csv")
    (tmp_path / "logs").rename(tmp_path / "moved")
    gone = run("estimate", "s.csv", code=3)
    assert "give its path with --pool" in gone.stderr
    moved = json.loads(run("estimate", "s.csv", "--pool", "moved", "--json").stdout)
    assert moved["n"] == 40
    other = table().iloc[::3].assign(judge=lambda t: t["judge"] + 1)
    other.to_parquet("moved/part0.parquet")
    changed = run("estimate", "s.csv", "--pool", "moved", code=3)
    assert "metric judge changed" in changed.stderr


def test_in_order_and_stop(logs):
    chosen("logs", budget=200, strategy="random")
    run("select", "logs", "--id=request", "--budget=200", "--strategy=random", "--seed=4",
        "--in-order", "-o", "o.csv")  # fmt: skip
    rate("o.csv")
    made = json.loads(
        run("stop", "o.csv", "--tolerance=3", "--limits=-10,30", "--metric=judge", "--json").stdout
    )
    assert made["n"] == 200 and made["low"] < 10 < made["high"]


def test_costs_and_order(logs):
    made = chosen("logs", cost="2+0.5*words(output)", cost_budget=200, strategy="random")
    words = table()["output"].str.split().str.len()
    assert made["pool_cost"] == pytest.approx(float((2 + 0.5 * words).sum()))
    assert made["cost"] == pytest.approx(200, rel=0.1)
    made = chosen("logs", cost="2+0.5*words(output)", cost_budget=200, strategy="docs-balanced")
    assert made["cost"] == pytest.approx(200, rel=0.02)  # the cost is in balance
    made = chosen("logs", budget=60, strategy="docs-whole", order="turn")
    place = table().set_index("request").loc[ids()]
    whole = place.groupby("conversation").size()
    assert (whole == 6).sum() >= len(whole) - 2


def test_what_cannot_be_done_on_disk_is_said(logs):
    said = run("select", *logs, "--id=request", "--budget=9", "-o", "x.csv", "--shared", code=2)
    assert "--shared needs a single file" in said.stderr
    said = run("select", *logs, "--id=request", "--budget=9", "-o", "x.csv",
               "--strategy=docs-incr-human", code=3)  # fmt: skip
    assert "needs every segment in memory" in said.stderr
    said = run("select", *logs, "--id=request", "--budget=9", "-o", "x.csv",
               "--engine=memory", code=2)  # fmt: skip
    assert "loads one file" in said.stderr
    said = run("select", "logs/part0.parquet", "--id=request", "--budget=9", "-o", "x.csv",
               "--memory=1GB", code=2)  # fmt: skip
    assert "are for pools that stay on disk" in said.stderr
    said = run("select", "nowhere/*.parquet", "--id=request", "--budget=9", "-o", "x.csv", code=3)
    assert "no Parquet file was found" in said.stderr
    said = run("select", *logs, "--id=reqest", "--budget=9", "-o", "x.csv", code=3)
    assert "Did you mean 'request'?" in said.stderr


@pytest.mark.parametrize(
    "how", quick([signal.SIGTERM, signal.SIGHUP], [signal.SIGTERM]), ids=lambda s: s.name
)
def test_termination_leaves_nothing_behind(tmp_path, how):
    rng = np.random.default_rng(0)
    size = 200_000
    frame = pd.DataFrame({"id": np.arange(size), "m": rng.normal(size=size)})
    frame.to_parquet(tmp_path / "big.parquet")
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "fewgold", "select", str(tmp_path / "big.parquet"), "--budget=100",
         "--strategy=random", "--engine=duckdb", "-o", str(tmp_path / "s.csv")],
        env=os.environ | {"TMPDIR": str(tmp_path / "tmp")},
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    until(lambda: list((tmp_path / "tmp").iterdir()), process)
    process.send_signal(how)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in (0, 128 + how)  # 0 if it was done by then
    assert not list((tmp_path / "tmp").iterdir())
