"""Spark draws the samples that DuckDB draws, gives its estimates, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.errors import DataError, FewgoldError
from fewgold.estimators import Mean
from fewgold.registry import bound, estimator, sampler
from fewgold.samplers import ByColumn, Cost, Stratified, phases
from fewgold.stored import DuckDB, Spark, StoredPool, groups
from waiting import until

SIZE = 4000
SEED = 7
SAMPLERS = [
    "random",
    "docs-sys",
    "docs-prop",
    "docs-opt",
    "docs-prop-printed",
    "docs-opt-printed",
    "docs-whole",
    "docs-chunks3",
    "metrics-prop",
    "metrics-opt",
    "docs-balanced",
    "docs-uneven",
    "docs-uneven-rank",
    "docs-sys-uneven",
    "random-uneven",
    "metrics-prop-uneven",
]
ESTIMATORS = [
    "mean",
    "ridge",
    "ridge-free",
    "cv-mean",
    "cv-mean-printed",
    "cv-multi",
    "cv-knn",
    "cv-judge",
]
COLUMNS: dict[str, Any] = {
    "id": "request id",
    "document": "conversation",
    "metrics": ["judge", "chrf", "flag"],
    "cost": "seconds",
    "system": "model",
    "texts": ["topic", "day", "output"],
    "order": "at",
    "spread": "sure:probability",
}
spark_only = pytest.mark.spark
# PySpark leaves it to the collector to close the sockets by which results came.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    pyspark = pytest.importorskip("pyspark.sql")
    made = (
        pyspark.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "3")
        .config("spark.sql.session.timeZone", "Asia/Tokyo")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


def table() -> pd.DataFrame:
    """A log with what engines may treat differently: order of letters, times, nulls, booleans."""
    rng = np.random.default_rng(1)
    conversation = np.minimum(rng.geometric(0.01, SIZE), 400)
    quality = 0.3 * rng.normal(size=SIZE) + np.sin(conversation)
    start = pd.Timestamp("2026-01-01")
    return pd.DataFrame(
        {
            "request id": [f"{'aBzÄé日𝄞'[i % 7]}-{i * 7919 % SIZE}" for i in range(SIZE)],
            "conversation": conversation,
            "judge": (quality + rng.normal(size=SIZE)).round(3),
            "chrf": 50 + 20 * quality + 9 * rng.normal(size=SIZE),
            "flag": quality + rng.normal(size=SIZE) > 0,
            "seconds": rng.integers(3, 60, SIZE),
            "model": np.array(["large", "Small", "ärgste"])[rng.integers(3, size=SIZE)],
            "topic": [None if i % 11 == 0 else f"topic {i % 5}" for i in range(SIZE)],
            "output": [f"some words {i}\tand “more”" for i in range(SIZE)],
            "sure": rng.uniform(size=SIZE).round(2),
            "at": start + pd.to_timedelta(rng.permutation(SIZE) * 1234567, unit="us"),
            "day": [f"2026-01-{1 + i % 3:02d}" for i in range(SIZE)],
        }
    ).sample(frac=1, random_state=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several files in a folder a day, as logs are, with row groups of little and no rows."""
    folder = tmp_path_factory.mktemp("logs [all] {x}")
    for day, rows in table().groupby("day"):
        (folder / f"day={day}").mkdir()
        for k in range(2):
            part = rows.iloc[k::2].drop(columns="day")
            part.to_parquet(folder / f"day={day}" / f"part {k}.parquet", row_group_size=100)
    none = table().iloc[:0].drop(columns="day")
    none.to_parquet(folder / "day=2026-01-01" / "none.parquet")
    return folder


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[StoredPool]:
    with StoredPool(folder, engine=DuckDB(threads=2), **COLUMNS) as pool:
        yield pool


@pytest.fixture(scope="module")
def there(folder: Path, session: Any) -> Iterator[StoredPool]:
    with StoredPool(folder, engine=Spark(session), **COLUMNS) as pool:
        yield pool


def same_rows(one: Any, other: Any) -> None:
    assert one.ids.tolist() == other.ids.tolist()
    assert one.documents.tolist() == other.documents.tolist()
    assert one.system.tolist() == other.system.tolist()
    assert one.cost.tolist() == other.cost.tolist()
    for name in one.metrics:
        assert one.metrics[name].tolist() == other.metrics[name].tolist()
    for name in ("topic", "output"):
        assert [t or "" for t in one.texts[name]] == [t or "" for t in other.texts[name]]


@spark_only
def test_the_pools_agree(here: StoredPool, there: StoredPool) -> None:
    assert there.fingerprint == here.fingerprint
    assert there.n_documents == here.n_documents
    assert there.binary_metrics == here.binary_metrics == ("flag",)
    for moment in ("mean", "sd", "low", "high"):
        a, b = getattr(here._scan.moments, moment), getattr(there._scan.moments, moment)
        np.testing.assert_allclose(b, a, rtol=1e-12)
    np.testing.assert_allclose(
        there._scan.correlation(there.metrics), here._scan.correlation(here.metrics), atol=1e-12
    )
    there.check_ids()


@spark_only
@pytest.mark.parametrize(
    ("name", "giant"),
    # With groups cut by the ends of ids, as those of very many rows are, in three ways to fetch.
    [(n, 20_000) for n in SAMPLERS]
    + [(n, 50) for n in ("random", "docs-prop", "metrics-prop", "docs-balanced")],
)
def test_a_seed_draws_the_same(
    name: str, giant: int, here: StoredPool, there: StoredPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_GIANT", giant)
    monkeypatch.setattr(phases, "_EACH", 10)  # some of the pool, not all of it
    monkeypatch.setattr(phases, "_LEAST", 0)
    monkeypatch.setattr(phases, "_NEAR", giant)
    expected = sampler(name).draw(here, 150, rng=SEED)
    drawn = sampler(name).draw(there, 150, rng=SEED)
    same_rows(expected.pool, drawn.pool)
    assert len(set(drawn.ids)) == 150
    np.testing.assert_allclose(drawn.design.weights, expected.design.weights, rtol=1e-12)


@spark_only
@pytest.mark.parametrize("column", ["topic", "system", "day"])
def test_strata_by_a_column(column: str, here: StoredPool, there: StoredPool) -> None:
    strata = Stratified(ByColumn(column))
    same_rows(strata.draw(here, 60, rng=SEED).pool, strata.draw(there, 60, rng=SEED).pool)


@spark_only
@pytest.mark.parametrize("name", ["random", "docs-opt", "docs-whole", "docs-uneven"])
def test_a_budget_of_costs(name: str, here: StoredPool, there: StoredPool) -> None:
    budget = Cost(3000.0)
    one, other = (sampler(name).draw(pool, budget, rng=SEED) for pool in (here, there))
    same_rows(one.pool, other.pool)


@spark_only
def test_estimates_agree(here: StoredPool, there: StoredPool) -> None:
    samples = [sampler("docs-sys").draw(pool, 120, rng=SEED) for pool in (here, there)]
    scores = np.random.default_rng(3).normal(size=120) + samples[0].pool.metrics["judge"]
    for name in ESTIMATORS:
        one, other = (estimator(name).estimate(s.rate(scores)) for s in samples)
        assert other.value == pytest.approx(one.value, rel=1e-9), name
        assert other.se == pytest.approx(one.se, rel=1e-9), name
        np.testing.assert_allclose(other.interval(), one.interval(), rtol=1e-9, err_msg=name)


@spark_only
def test_binary_estimates_agree(here: StoredPool, there: StoredPool) -> None:
    samples = [sampler("random").draw(pool, 120, rng=SEED) for pool in (here, there)]
    passed = (samples[0].pool.metrics["judge"] > 0).astype(float)
    for name in ("alpha", "alpha-flag", "alpha-chrf>=50"):
        one, other = (estimator(name).estimate(s.rate(passed)) for s in samples)
        assert other.value == pytest.approx(one.value, rel=1e-9), name
        np.testing.assert_allclose(other.interval(), one.interval(), rtol=1e-9, err_msg=name)
    star = replace(Mean(), bound=bound("star:chrf"))
    one, other = (star.estimate(s.rate(passed, limits=(0, 1))) for s in samples)
    np.testing.assert_allclose(other.interval(), one.interval(), rtol=1e-9)


@spark_only
def test_a_top_up_draws_the_same(here: StoredPool, there: StoredPool) -> None:
    drawn = []
    for pool in (here, there):
        first = sampler("docs-sys").draw(pool, 40, rng=SEED)
        rated = first.rate(first.pool.metrics["judge"])
        drawn.append(sampler("docs-sys").draw(pool, 30, given=rated, rng=SEED + 1))
    assert drawn[0].ids.tolist() == drawn[1].ids.tolist()


@spark_only
def test_files_threads_and_engines_do_not_matter(
    session: Any, here: StoredPool, tmp_path: Path
) -> None:
    whole = tmp_path / "all.parquet"
    table().sort_values("judge").to_parquet(whole)
    with StoredPool(whole, engine=Spark(session), **COLUMNS) as pool:
        again = sampler("docs-sys").draw(pool, 100, rng=SEED)
    assert again.ids.tolist() == sampler("docs-sys").draw(here, 100, rng=SEED).ids.tolist()


@spark_only
def test_a_pool_from_memory(session: Any) -> None:
    from fewgold.datasets import load_demo

    pool, _ = load_demo()
    with StoredPool.of(pool) as one, StoredPool.of(pool, engine=Spark(session)) as other:
        for name in ("docs-sys", "metrics-prop", "docs-balanced"):
            drawn = [sampler(name).draw(p, 50, rng=SEED).ids.tolist() for p in (one, other)]
            assert drawn[0] == drawn[1]


@spark_only
def test_words_as_cost_and_whole_numbers_as_ids(session: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"n": np.arange(500), "x": rng.normal(size=500)})
    frame["text"] = ["one two  three"[: 3 + i % 12] for i in range(500)]
    frame.to_parquet(tmp_path / "a.parquet")
    roles: dict[str, Any] = {"id": "n", "metrics": "x", "cost": "12+0.5*words(text)"}
    found = []
    for engine in (DuckDB(), Spark(session)):
        with StoredPool(tmp_path, engine=engine, **roles) as pool:
            found.append((pool._scan.moments, sampler("random").draw(pool, 40, rng=SEED)))
    (_, one), (_, other) = found
    assert one.ids.dtype == other.ids.dtype == np.int64
    assert one.ids.tolist() == other.ids.tolist()
    expected = [12 + 0.5 * len(frame["text"][i].split()) for i in one.ids]
    assert one.pool.cost.tolist() == other.pool.cost.tolist() == expected


@spark_only
def test_chunks_hold_every_row_once(there: StoredPool, here: StoredPool) -> None:
    from fewgold.stored import spark

    before, spark._CHUNK = spark._CHUNK, 300
    try:
        parts = list(there._scan.chunks(["judge"]))
    finally:
        spark._CHUNK = before
    assert [len(p) for p in parts[:-1]] == [300] * (len(parts) - 1)
    found = np.sort(np.concatenate(parts).ravel())
    expected = np.sort(np.concatenate(list(here._scan.chunks(["judge"]))).ravel())
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def two_files(folder: Path, one: Any, other: Any) -> Path:
    for k, more in enumerate((one, other)):
        frame = pd.DataFrame({"id": [f"{k}-{i}" for i in range(20)]})
        if more is not None:
            frame["judge"] = more
        frame.to_parquet(folder / f"{k}.parquet")
    return folder


@spark_only
def test_whole_numbers_and_decimals_are_read_alike(session: Any, tmp_path: Path) -> None:
    two_files(tmp_path, np.arange(20), np.arange(20) / 8)
    for engine in (DuckDB(), Spark(session)):
        with StoredPool(tmp_path, id="id", metrics="judge", engine=engine) as pool:
            assert pool._scan.moments.mean[0] == pytest.approx((9.5 + 9.5 / 8) / 2)


@spark_only
def test_files_that_do_not_agree_are_refused(session: Any, tmp_path: Path) -> None:
    for name in ("types", "missing", "text"):
        (tmp_path / name).mkdir()
    engine = Spark(session)
    with pytest.raises(DataError, match=r"'judge'.* different types .*double in .*0\.parquet"):
        two_files(tmp_path / "types", np.arange(20) / 8, [f"{i}" for i in range(20)])
        StoredPool(tmp_path / "types", id="id", metrics="judge", engine=engine)
    with pytest.raises(DataError, match="'judge' has 20 missing or infinite values of 40"):
        two_files(tmp_path / "missing", np.arange(20) / 8, None)
        len(StoredPool(tmp_path / "missing", id="id", metrics="judge", engine=engine))
    with pytest.raises(DataError, match="'judge' must hold numbers; the column is of type string"):
        two_files(tmp_path / "text", [f"{i}" for i in range(20)], ["1"] * 20)
        StoredPool(tmp_path / "text", id="id", metrics="judge", engine=engine)
    engine.close()


@spark_only
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_broken_metrics_are_refused(session: Any, tmp_path: Path, bad: float) -> None:
    values = np.arange(20) / 8
    two_files(tmp_path, values, np.where(np.arange(20) == 3, bad, values))
    pool = StoredPool(tmp_path, id="id", metrics="judge", engine=Spark(session))
    with pool, pytest.raises(DataError, match="'judge' has 1 missing or infinite values of 40"):
        len(pool)


@spark_only
def test_ids_that_spark_would_write_differently_are_refused(session: Any, tmp_path: Path) -> None:
    two_files(tmp_path, np.arange(20) / 8, np.arange(20) * 1e9 + 0.5)
    engine = Spark(session)
    with pytest.raises(DataError, match=r"'judge' is of type double.* text or whole numbers"):
        StoredPool(tmp_path, id="judge", engine=engine)
    engine.close()


@spark_only
def test_ids_that_occur_twice_are_refused(session: Any, tmp_path: Path) -> None:
    pd.DataFrame({"id": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]}).to_parquet(tmp_path / "a.parquet")
    with StoredPool(tmp_path, id="id", metrics="x", engine=Spark(session)) as pool:
        with pytest.raises(DataError, match="'a' occurs more than once"):
            pool.check_ids()
        with pytest.raises(DataError, match="'a' occurs more than once"):
            sampler("random").draw(pool, 3, rng=SEED)


@spark_only
def test_files_that_cannot_be_read_are_refused(
    session: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.parquet").write_text("no Parquet at all")
    engine = Spark(session)
    with pytest.raises(DataError, match=r"Spark could not read the Parquet files: .*a\.parquet"):
        StoredPool(tmp_path, id="id", engine=engine)
    pd.DataFrame({"id": ["a"]}).to_parquet(tmp_path / "_hidden.parquet")
    with pytest.raises(DataError, match=r"names start with '_' or .*_hidden"):
        StoredPool(tmp_path / "_hidden.parquet", id="id", engine=engine)
    engine.close()
    assert "Traceback" not in capfd.readouterr().err


def cached(session: Any) -> set[int]:
    return {int(k) for k in session.sparkContext._jsc.getPersistentRDDs()}


@spark_only
def test_nothing_is_left_behind(session: Any, tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "a.parquet")
    before = cached(session)
    engine = Spark(session)
    own = engine._session
    with StoredPool(tmp_path, engine=engine, **COLUMNS) as pool:
        sampler("docs-sys").draw(pool, 20, rng=SEED)
        assert own.catalog.listTables()
        assert cached(session) - before  # the documents
    assert not cached(session) - before
    assert not own.catalog.listTables()
    assert not session.catalog.listTables()
    assert session.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
    assert session.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    assert session.range(3).count() == 3  # not ours to stop
    engine.close()
    with pytest.raises(FewgoldError, match="was closed"):
        len(pool)
        sampler("random").draw(pool, 3, rng=SEED)


@spark_only
def test_what_is_drawn_and_forgotten_stays_small(session: Any, there: StoredPool) -> None:
    sampler("docs-sys").draw(there, 20, rng=SEED)
    before, names = cached(session), len(there.engine._session.catalog.listTables())
    for seed in range(3):
        sampler("docs-sys").draw(there, 20, rng=seed)
    assert not cached(session) - before
    assert len(there.engine._session.catalog.listTables()) == names


@spark_only
def test_ctrl_c_cancels_the_job(session: Any) -> None:
    seen: list[tuple[str, float | None]] = []
    engine = Spark(session, progress=lambda doing, share: seen.append((doing, share)))
    slow = "SELECT sum(sqrt(a.id * b.id)) AS s FROM numbers AS a, numbers AS b"
    engine._named("numbers", engine._session.range(1_000_000))

    def press() -> None:
        until(lambda: any(share is not None for _, share in seen))
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        engine._frame(slow, "Waiting")  # an hour of work, which ends sooner only if it is stopped
    presser.join()
    assert {doing for doing, _ in seen} == {"Waiting"}
    assert any(share is not None for _, share in seen)
    tracker = session.sparkContext.statusTracker()
    until(lambda: not tracker.getActiveJobsIds())
    assert engine._frame("SELECT 1 AS one", "Going on")["one"].tolist() == [1]
    engine.close()


ALONE = """
from pyspark.sql import SparkSession
from fewgold.errors import FewgoldError
from fewgold.stored import Spark
try:
    engine = Spark()
except FewgoldError as error:
    print(error)
else:
    print(engine._frame("SELECT 1 AS one", "Looking")["one"].tolist())
    engine.close()
    print(SparkSession.getActiveSession())
"""


@spark_only
@pytest.mark.parametrize("java", [True, False])
def test_a_session_of_its_own_is_started_and_stopped(java: bool, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    environment = dict(os.environ)
    if not java:
        environment |= {"JAVA_HOME": str(tmp_path / "none")}
    done = subprocess.run(
        [sys.executable, "-c", ALONE], env=environment, capture_output=True, text=True, check=True
    )
    said = done.stdout.strip()
    assert said == "[1]\nNone" if java else "needs Java 17 or newer" in said


@spark_only
def test_the_script_of_the_guide(
    session: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = Path(__file__).parents[2] / "docs" / "howto" / "large.md"
    scripts = dict(re.findall(r"```py\n# (\S+)\n(.*?)```", page.read_text("utf-8"), re.DOTALL))
    monkeypatch.chdir(tmp_path)
    for name in ("make.py", "on_spark.py"):
        exec(compile(scripts[name], name, "exec"), {"__name__": "page"})
    roles: dict[str, Any] = {"document": "conversation", "metrics": ["judge", "chrf"]}
    with StoredPool("logs", id="request", **roles) as pool:
        expected = sampler("docs-balanced").draw(pool, 500, rng=7)
    assert capsys.readouterr().out == f"{expected}\n{expected.ids[:3].tolist()}\n"
    assert session.range(3).count() == 3


@spark_only
def test_a_session_must_be_one(session: Any) -> None:
    with pytest.raises(FewgoldError, match=r"expected a SparkSession .* got builtins\.str"):
        Spark("local[2]")


def test_without_spark_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ibis", None)
    with pytest.raises(FewgoldError, match=r"pip install 'fewgold\[spark\]'"):
        Spark()
