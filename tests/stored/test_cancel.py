"""Nothing is left behind: by closing, forgetting, failing or Ctrl-C."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pytest

from fewgold.errors import DataError, UnknownNameError
from fewgold.samplers import SimpleRandom, Systematic
from fewgold.stored import DuckDB, StoredPool
from waiting import PATIENCE

# Days of work for any machine, in one query.
ENDLESS = "SELECT sum(hash(a.range + b.range)) AS x FROM range(90000000) AS a, range(90000000) AS b"


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    rng = np.random.default_rng(0)
    table = {"id": np.arange(3000), "doc": np.arange(3000) // 7, "m": rng.normal(size=3000)}
    pd.DataFrame(table).to_parquet(folder / "a.parquet", row_group_size=500)
    return folder


@pytest.fixture
def spill(tmp_path):
    folder = tmp_path / "spill"
    folder.mkdir()
    return folder


def left(folder):
    return list(folder.iterdir())


def opened(files, spill, **more):
    engine = DuckDB(folder=spill, **more)
    return StoredPool(files, id="id", document="doc", metrics="m", engine=engine)


def test_closing_removes_the_folder(files, spill):
    with opened(files, spill) as pool:
        assert [p.name.startswith("fewgold-") for p in left(spill)] == [True]
        Systematic().draw(pool, 50, rng=1)
    assert not left(spill)


def test_forgetting_removes_the_folder(files, spill):
    pool = opened(files, spill)
    sample = SimpleRandom().draw(pool, 50, rng=1)
    del pool
    gc.collect()
    assert left(spill)  # the sample still needs it
    del sample
    gc.collect()
    assert not left(spill)


def test_an_error_while_opening_leaves_nothing(files, spill):
    with pytest.raises(UnknownNameError) as caught:
        StoredPool(files, id="nothing", engine=DuckDB(folder=spill))
    del caught
    gc.collect()
    assert not left(spill)


def test_interrupted_by_what_watches(files, spill):
    """The query stops at once, and the pool can be used again."""

    def stop(doing, share):
        raise KeyboardInterrupt

    with opened(files, spill) as pool:
        pool.engine.progress = stop
        with pytest.raises(KeyboardInterrupt):
            pool.engine._frame(ENDLESS, "Working")  # which comes back only if it is stopped
        pool.engine.progress = None
        assert SimpleRandom().draw(pool, 50, rng=1).n == 50
    assert not left(spill)


@pytest.mark.parametrize("call", ["_frame", "_chunks"])
def test_interrupted_from_the_keyboard(files, spill, call):
    script = f"""
        from fewgold.stored import DuckDB, StoredPool
        engine = DuckDB(folder={str(spill)!r}, progress=lambda *_: print("working", flush=True))
        list(engine.{call}({ENDLESS!r}, "Working"))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "working\n"
        assert left(spill)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE)
    finally:
        child.kill()
        child.wait()
    assert child.returncode != 0 and "KeyboardInterrupt" in said
    assert not left(spill)


def test_leaving_without_closing(files, spill):
    script = f"""
        from fewgold.stored import DuckDB, StoredPool
        pool = StoredPool({str(files)!r}, id="id", engine=DuckDB(folder={str(spill)!r}))
        len(pool)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, timeout=PATIENCE)
    assert not left(spill)


def test_progress_is_told(files, spill):
    told = []
    with opened(files, spill, progress=lambda *what: told.append(what)) as pool:
        Systematic().draw(pool, 50, rng=1)
        list(pool._scan.chunks())
    assert {"Counting documents", "Fetching the chosen segments", "Predicting"} <= {
        t[0] for t in told
    }
    assert all(share is None or 0 <= share <= 1 for _, share in told)
    assert told[-1] == ("Predicting", 1.0)


def test_little_memory(files, spill):
    """What does not fit goes to the temporary folder, and away with it."""
    with opened(files, spill, memory="60MB", threads=1) as pool:
        pool.engine._keep(
            "much", "SELECT range AS x, md5(range::VARCHAR) AS y FROM range(1500000)", "Working"
        )
        found = pool.engine._frame("SELECT y FROM much ORDER BY y LIMIT 1 OFFSET 700000", "Working")
        assert len(found) == 1
        assert sum(f.stat().st_size for f in spill.rglob("*") if f.is_file()) > 10**6
        assert SimpleRandom().draw(pool, 50, rng=1).n == 50
    assert not left(spill)


def test_too_little_memory_says_what_to_do(spill):
    engine = DuckDB(folder=spill, memory="10MB", threads=1)
    with pytest.raises(DataError, match=r"out of memory .*DuckDB\(memory='8GB'\)"):
        engine._frame("SELECT list(range) AS x FROM range(20000000)", "Working")
    engine.close()
    assert not left(spill)
