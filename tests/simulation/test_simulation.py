"""Simulations: the figures, the same figures everywhere, and what happens when parts fail."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import dataclass, field, replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, ClassVar

import joblib
import numpy as np
import pandas as pd
import pytest

import fewgold as fg
from fewgold import registry
from fewgold.bounds import Bound, Hoeffding, Student
from fewgold.datasets import demo_systems, load_demo
from fewgold.errors import BudgetError, DataError, FewgoldError, UnknownNameError
from fewgold.estimate import Interval
from fewgold.estimators import ControlVariates, Mean
from fewgold.samplers import ByColumn, Cost, Sampler, SimpleRandom, Stratified
from fewgold.simulation import result, studies_from_table
from fewgold.simulation.cells import Score, _own_code, over_known, ratio
from fewgold.simulation.studies import Study
from fewgold.testing import toy_pool
from reference.simulation import figures, one_by_one
from waiting import PATIENCE, until

NAMES = ["random+mean", "random+cv-multi", "docs-prop+mean", "docs-sys+ridge"]


def _toy(size: int = 120, seed: int = 0) -> tuple[fg.Pool, np.ndarray]:
    pool, _ = toy_pool(size)
    rng = np.random.default_rng(seed)
    metric = next(iter(pool.metrics.values()))
    return pool, np.asarray(3 + metric + rng.exponential(size=size))


@pytest.fixture(scope="module")
def sim() -> fg.Simulation:
    pool, gold = _toy()
    return fg.simulate(
        *(pool, gold, NAMES, [12, 0.25]),
        draws=130,  # more than a block
        bounds=[Hoeffding()],
        limits=(-10, 30),
    )


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_equals_studies_one_by_one(sim: fg.Simulation, name: str) -> None:
    """The slow twin replays every draw of a cell by itself and takes plain averages."""
    pool, gold = _toy()
    estimator = registry.strategy(name, pool)
    values: list[float] = []
    ends: list[tuple[float, float]] = []
    for k, draws in enumerate((100, 30)):
        words = np.frombuffer(hashlib.sha256(b"pool 1\x1f12").digest()[:16], np.uint32)
        seed = np.random.SeedSequence([0, k, *words.tolist()])
        batch = estimator.collect(
            *(pool, lambda s: gold[s.indices], 12),
            draws=draws,
            limits=(-10, 30),
            rng=np.random.default_rng(seed),
        )
        more, between = one_by_one(estimator, batch)
        values += more
        ends += between
    errors = np.array(values) - gold.mean()
    np.testing.assert_allclose(sim.errors("pool 1", name, 12), errors, atol=1e-10)
    base = sim.errors("pool 1", "random+mean", 12)
    slow = figures(errors.tolist(), base.tolist(), ends, float(gold.mean()))
    frame = sim.to_frame()
    row = frame[(frame.strategy == name) & (frame.budget == 12)].iloc[0]
    for column, value in slow.items():
        if not (column == "win" and name == sim.baseline):
            assert row[column] == pytest.approx(value, abs=1e-9), column


def test_columns_of_the_frame(sim: fg.Simulation) -> None:
    frame = sim.to_frame()
    wanted = ["pool", "strategy", "budget", "n", "draws", "abs_error", "abs_error_sd", "bias"]
    wanted += ["rmse", "win", "coverage", "half_width", "slack", "variance_ratio", "ess"]
    assert set(wanted) <= set(frame.columns)
    assert len(frame) == len(NAMES) * 2
    shown = [c for c in frame.columns if f"{c}_mc" in frame.columns]
    assert len(shown) == 19  # every figure has its Monte-Carlo error
    assert (
        frame.loc[frame.strategy == "docs-sys+ridge", [f"{c}_mc" for c in shown[:8]]]
        .notna()
        .all(axis=None)
    )
    # The frame is a copy: writing to it does not change the simulation.
    frame["abs_error"] = 0.0
    assert (sim.to_frame()["abs_error"] > 0).all()
    for averages in (sim.ranking, sim.by_budget, sim.by_pool):
        own = averages()
        own["abs_error"] = 0.0
        assert (averages()["abs_error"] > 0).all()


def test_baseline_against_itself(sim: fg.Simulation) -> None:
    frame = sim.to_frame()
    own = frame[frame.strategy == "random+mean"]
    assert own["win"].isna().all()
    np.testing.assert_allclose(own["reduction"], 0)
    np.testing.assert_allclose(own["ess"], own["n"], rtol=1e-9)
    np.testing.assert_allclose(own["ess_ratio_mc"], 0, atol=1e-9)


def test_effective_sample_size_by_formula() -> None:
    """A random sample of 30 is worth 30 random ratings, seen from a baseline of another name."""
    pool, gold = _toy(200)
    strategies = {"base": Mean(), "same": Mean(), "better": ControlVariates()}
    sim = fg.simulate(pool, gold, strategies, [30], draws=400, baseline="base")
    frame = sim.to_frame().set_index("strategy")
    assert frame.loc["same", "ess"] == pytest.approx(30)
    better = frame.loc["better"]
    mse = np.mean(sim.errors("pool 1", "better", 30) ** 2)
    plain = gold.var(ddof=1) / (mse + gold.var(ddof=1) / 200)  # S²(1/n − 1/N) solved for n
    assert better["ess"] == pytest.approx(plain, abs=4 * better["ess_mc"])
    assert better["ess"] > 30


def test_baseline_other_than_random() -> None:
    pool, gold = _toy()
    sim = fg.simulate(pool, gold, ["random+mean"], [20], draws=300, baseline="random+cv-multi")
    row = sim.to_frame().set_index("strategy").loc["random+mean"]
    errors = {s: sim.errors("pool 1", s, 20) for s in sim.strategies}
    mse = {s: np.mean(e**2) for s, e in errors.items()}
    plain = 1 / (1 / 120 + mse["random+mean"] / mse["random+cv-multi"] * (1 / 20 - 1 / 120))
    assert row["ess"] == pytest.approx(plain, rel=0.02)  # but for Beale's correction
    assert row["win"] == 0 and row["reduction"] < 0


def test_score_of_a_share() -> None:
    score = Score.of_share(np.ones(100))
    assert score.mean == 1 and 0.005 < score.mc < 0.02
    half = Score.of_share(np.repeat([0.0, 1.0], 500))
    assert half.mc == pytest.approx(np.sqrt(0.25 / 1000), rel=0.01)


@pytest.mark.slow
def test_ratio_is_nearly_unbiased() -> None:
    """Beale's correction takes out the bias of order 1/draws, which is 0.029 here."""
    rng = np.random.default_rng(0)
    above, below = rng.exponential(2.0, (20_000, 20)), np.abs(rng.normal(size=(20_000, 20)))
    truth = 2.0 / np.sqrt(2 / np.pi)
    corrected = np.array([ratio(a, b).mean for a, b in zip(above, below, strict=True)])
    naive = (above.mean(-1) / below.mean(-1)) / truth
    noise = (corrected / truth).std() / np.sqrt(20_000)
    assert abs(corrected.mean() / truth - 1) < 0.003 + 3 * noise
    assert naive.mean() - 1 > 0.02


def test_known_baseline_serves_as_control_variate() -> None:
    rng = np.random.default_rng(1)
    base = rng.normal(size=(4000, 60))
    errors = 0.9 * base + 0.2 * rng.normal(size=base.shape)
    scores = [over_known(e**2, b**2, 1.0) for e, b in zip(errors, base, strict=True)]
    means = np.array([s.mean for s in scores])
    assert means.mean() == pytest.approx(0.85, abs=0.01)
    # Less spread than without, and the Monte-Carlo error tells it.
    assert means.std() < 0.5 * (errors**2).mean(-1).std()
    assert np.mean([s.mc for s in scores]) == pytest.approx(means.std(), rel=0.1)


def test_aggregates_are_means_over_cells() -> None:
    pools = {f"p{k}": Study(*_toy(80, k)) for k in range(3)}
    sim = fg.simulate(pools, strategies=NAMES[:3], budgets=[0.1, 0.3], draws=50)
    frame, ranking = sim.to_frame(), sim.ranking().set_index("strategy")
    for name in NAMES[:3]:
        part = frame[frame.strategy == name]
        row = ranking.loc[name]
        assert row["cells"] == 6
        assert row["abs_error"] == pytest.approx(part["abs_error"].mean())
        assert row["abs_error_sd"] == pytest.approx(part["abs_error_sd"].mean())
        mc = np.sqrt((part["abs_error_mc"] ** 2).sum()) / 6
        assert row["abs_error_mc"] == pytest.approx(mc)
        if name != sim.baseline:
            base = frame[frame.strategy == sim.baseline]["abs_error"].to_numpy()
            assert row["win"] == np.mean(part["abs_error"].to_numpy() < base)
    by_budget = sim.by_budget()
    assert len(by_budget) == 6 and (by_budget["cells"] == 3).all()
    assert len(sim.by_pool()) == 9
    reductions = sim.ranking()["reduction"].tolist()
    assert reductions == sorted(reductions, reverse=True)


# --- the same figures everywhere -----------------------------------------------------------------


def _same(one: fg.Simulation, other: fg.Simulation) -> None:
    pd.testing.assert_frame_equal(one.to_frame(), other.to_frame(), check_exact=True)


def test_parallel_runs_give_the_same_figures(sim: fg.Simulation) -> None:
    pool, gold = _toy()
    again = fg.simulate(
        *(pool, gold, NAMES, [12, 0.25]),
        draws=130,
        bounds=[Hoeffding()],
        limits=(-10, 30),
        n_jobs=2,
    )
    _same(sim, again)


def test_threads_give_the_same_figures(sim: fg.Simulation) -> None:
    pool, gold = _toy()
    with joblib.parallel_config("threading", n_jobs=3):
        again = fg.simulate(
            *(pool, gold, NAMES, [12, 0.25]), draws=130, bounds=Hoeffding(), limits=(-10, 30)
        )
    _same(sim, again)


def test_other_strategies_and_pools_change_nothing(sim: fg.Simulation) -> None:
    data = {"other": _toy(60, 3), "pool 1": _toy()}
    more = fg.simulate(
        data, strategies=["docs-sys+ridge", "random+cv-mean"], budgets=[9, 12], draws=130
    )
    np.testing.assert_array_equal(
        more.errors("pool 1", "docs-sys+ridge", 12), sim.errors("pool 1", "docs-sys+ridge", 12)
    )
    other = more.errors("other", "random+mean", 12)
    assert not np.array_equal(other, more.errors("pool 1", "random+mean", 12))


def test_seeds_differ() -> None:
    pool, gold = _toy()
    runs = [fg.simulate(pool, gold, "random", [12], draws=5, rng=s).cells[0] for s in (0, 0, 1)]
    assert np.array_equal(runs[0].errors, runs[1].errors)
    assert not np.array_equal(runs[0].errors, runs[2].errors)
    generators = [np.random.default_rng(3), np.random.default_rng(3)]
    made = [fg.simulate(pool, gold, "random", [12], draws=5, rng=g) for g in generators]
    assert made[0].seed == made[1].seed


def test_strategies_with_one_sampler_share_their_samples(sim: fg.Simulation) -> None:
    """Oracle slopes that are nought turn control variates into the very same means."""
    pool, gold = _toy()
    nought = ControlVariates(slopes=dict.fromkeys(pool.metrics, 0.0))
    made = fg.simulate(pool, gold, {"nought": nought}, [12], draws=130)
    np.testing.assert_allclose(
        made.errors("pool 1", "nought", 12), sim.errors("pool 1", "random+mean", 12), atol=1e-12
    )


def test_dask_cluster_gives_the_same_figures() -> None:
    distributed = pytest.importorskip("distributed", reason="dask is an extra")
    from fewgold.simulation import running_on

    pool, gold = _toy()
    local = fg.simulate(pool, gold, NAMES, [12, 0.25], draws=40)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=True
        ) as cluster,
        running_on("dask", cluster.scheduler_address),
    ):
        _same(local, fg.simulate(pool, gold, NAMES, [12, 0.25], draws=40))


def test_a_scheduler_that_does_not_answer() -> None:
    pytest.importorskip("distributed", reason="dask is an extra")
    from fewgold.simulation import running_on

    with pytest.raises(FewgoldError, match="scheduler"), running_on("dask", "nonsense"):
        pass
    with pytest.raises(FewgoldError, match="dask backend"), running_on("loky", "tcp://x:1"):
        pass


# --- interruption --------------------------------------------------------------------------------


def test_finished_cells_are_kept(tmp_path: Path) -> None:
    pool, gold = _toy()
    done: list[int] = []

    def stop_early(finished: int, total: int) -> None:
        done.append(finished)
        if finished == 3:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"strategies": NAMES, "budgets": [12, 30], "draws": 20}
    with pytest.raises(KeyboardInterrupt):
        fg.simulate(pool, gold, **options, store=tmp_path, progress=stop_early)
    kept = list(tmp_path.glob("cell-*.json"))
    assert 3 <= len(kept) < 8
    stamps = {p: p.stat().st_mtime_ns for p in kept}
    done.clear()
    resumed = fg.simulate(
        pool, gold, **options, store=tmp_path, progress=lambda k, _: done.append(k)
    )
    assert done[0] == 3
    assert {p: p.stat().st_mtime_ns for p in kept} == stamps  # not computed again
    _same(resumed, fg.simulate(pool, gold, **options))


@pytest.mark.parametrize(
    "change", [{"rng": 1}, {"draws": 21}, {"confidence": 0.9}, {"limits": (-5, 50)}]
)
def test_cells_of_another_setting_are_not_used(tmp_path: Path, change: dict[str, Any]) -> None:
    pool, gold = _toy()
    options: dict[str, Any] = {"strategies": ["random"], "budgets": [12], "draws": 20}
    fg.simulate(pool, gold, **options, store=tmp_path)
    changed = options | change
    _same(fg.simulate(pool, gold, **changed, store=tmp_path), fg.simulate(pool, gold, **changed))
    _same(
        fg.simulate(pool, gold + 1, **options, store=tmp_path),
        fg.simulate(pool, gold + 1, **options),
    )


def test_broken_cells_are_computed_again(tmp_path: Path) -> None:
    pool, gold = _toy()
    first = fg.simulate(pool, gold, "random", [12], draws=20, store=tmp_path)
    for path in tmp_path.glob("cell-*.json"):
        path.write_text(path.read_text()[:40])
    _same(first, fg.simulate(pool, gold, "random", [12], draws=20, store=tmp_path))
    for text in ("{}", "[]", "3", '{"errors": [1]}'):
        for path in tmp_path.glob("cell-*.json"):
            path.write_text(text)
        _same(first, fg.simulate(pool, gold, "random", [12], draws=20, store=tmp_path))


def test_more_strategies_use_the_cells_that_are_there(tmp_path: Path) -> None:
    pool, gold = _toy()
    fg.simulate(pool, gold, ["random"], [12], draws=20, store=tmp_path)
    (kept,) = tmp_path.glob("cell-*.json")
    stamp = kept.stat().st_mtime_ns
    both = fg.simulate(pool, gold, ["random", "random+cv-multi"], [12], draws=20, store=tmp_path)
    assert kept.stat().st_mtime_ns == stamp
    _same(both, fg.simulate(pool, gold, ["random", "random+cv-multi"], [12], draws=20))


def test_cells_of_other_code_or_columns_are_not_used(tmp_path: Path, monkeypatch: Any) -> None:
    """Texts to stratify by, long arrays that repr cuts short, and the code of an estimator."""
    pool, gold = _toy()
    texts = [np.array(["a", "b"])[np.arange(120) % 2], np.array(["a", "b"])[np.arange(120) // 60]]
    by_genre = {"x": Mean(sampler=Stratified(ByColumn("genre")))}
    for text in texts:
        told = fg.Pool(pool.ids, pool.metrics, pool.documents, texts={"genre": text})
        stored = fg.simulate(told, gold, by_genre, [30], draws=20, store=tmp_path)
        _same(stored, fg.simulate(told, gold, by_genre, [30], draws=20))
    for shift in (0.0, 5.0):
        long = {"x": Shifted(tuple(range(2000)), shift=np.full(2000, shift))}
        stored = fg.simulate(pool, gold, long, [30], draws=20, store=tmp_path)
        assert stored.to_frame()["bias"].iloc[-1] == pytest.approx(shift, abs=0.3)
    pickles = set()
    for shift in (0.0, 5.0):
        code = tmp_path / str(shift) / "theirs.py"
        code.parent.mkdir()
        code.write_text(THEIRS.format(shift))
        spec = spec_from_file_location("theirs", code)
        assert spec is not None and spec.loader is not None
        theirs = module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "theirs", theirs)
        spec.loader.exec_module(theirs)
        pickles.add(pickle.dumps(theirs.Theirs()))
        stored = fg.simulate(pool, gold, {"t": theirs.Theirs()}, [30], draws=20, store=tmp_path)
        assert stored.to_frame()["bias"].iloc[-1] == pytest.approx(shift, abs=0.5)
    assert len(pickles) == 1  # all but the code is the same


def test_cells_depend_on_what_the_code_does(tmp_path: Path, monkeypatch: Any) -> None:
    """Not on comments, docstrings and layout, nor on parts that only read or display."""
    pool, gold = _toy()
    package, store = tmp_path / "fewgold", tmp_path / "cells"
    (package / "formats").mkdir(parents=True)
    files = {"mean.py": "def mean(x):\n    return sum(x) / len(x)\n", "formats/csv.py": "a = 1\n"}
    plainer = (
        '"""Means."""\n\ndef mean(x):\n    """The mean."""\n    return sum(x)/len(x)  # of all\n'
    )
    monkeypatch.setattr(fg, "__file__", str(package / "__init__.py"))
    try:
        for changed, cells in (
            ({}, 1),
            ({"mean.py": plainer}, 1),
            ({"formats/csv.py": "a = 2\n"}, 1),
            ({"mean.py": "def mean(x):\n    return sum(x) / (len(x) - 1)\n"}, 2),
            ({"other.py": "a = 1\n"}, 3),
        ):
            files |= changed
            for name, text in files.items():
                (package / name).write_text(text)
            _own_code.cache_clear()
            fg.simulate(pool, gold, ["random"], [12], draws=4, store=store)
            assert len(list(store.glob("cell-*.json"))) == cells, changed
    finally:
        _own_code.cache_clear()


THEIRS = """
from dataclasses import dataclass, replace
from fewgold.estimators import Mean

@dataclass(frozen=True)
class Theirs(Mean):
    def estimate(self, ratings):
        made = super().estimate(ratings)
        return replace(made, offset=made.offset + {})
"""


@dataclass(frozen=True, eq=False)
class Shifted(Mean):
    """Two fields that repr cuts short or leaves out."""

    sampler: Any = SimpleRandom()
    shift: Any = field(default=0.0, repr=False)

    def __init__(self, _: Any, shift: Any) -> None:
        object.__setattr__(self, "shift", shift)

    def estimate(self, ratings: fg.Ratings) -> Any:
        made = super().estimate(ratings)
        return replace(made, offset=made.offset + self.shift[0])


def test_failures_are_tried_again(tmp_path: Path, monkeypatch: Any) -> None:
    pool, gold = _toy()
    with monkeypatch.context() as patch:
        patch.setattr(Mean, "estimate", _out_of_memory)
        sim = fg.simulate(pool, gold, ["random", "random+cv-multi"], [12], draws=5, store=tmp_path)
    assert sim.failures["reason"].tolist() == ["MemoryError: for now"]
    assert fg.simulate(
        pool, gold, ["random", "random+cv-multi"], [12], draws=5, store=tmp_path
    ).failures.empty


def _out_of_memory(*_: Any) -> Any:
    raise MemoryError("for now")


SLOW = """
import fewgold as fg
from fewgold.datasets import load_demo
pool, gold = load_demo()
fg.simulate(pool, gold, ["random", "docs-balanced+ridge"], [k / 20 for k in range(1, 15)],
            draws=100, store={store!r}, n_jobs={jobs})
"""


# Alone: the command does the same in tests/cli/test_simulate.py.
@pytest.mark.slow
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_control_c_keeps_cells(tmp_path: Path, jobs: int) -> None:
    """A real interrupt of a real process, alone and with workers."""
    code = SLOW.format(store=str(tmp_path / "cells"), jobs=jobs)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stderr=subprocess.PIPE, start_new_session=True
    )
    until(lambda: len(list(tmp_path.glob("cells/cell-*.json"))) >= 2, process)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    kept = list(tmp_path.glob("cells/cell-*.json"))
    assert 2 <= len(kept) < 28
    for path in kept:
        json.loads(path.read_text())
    assert not list(tmp_path.glob("cells/.cell-*"))  # no half-written files


# --- parts that fail -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Broken(Mean):
    """Fails on small samples, as somebody's estimator might."""

    def estimate(self, ratings: fg.Ratings) -> Any:
        if ratings.n < 20:
            raise ZeroDivisionError("too few")
        return super().estimate(ratings)


@dataclass(frozen=True)
class BrokenSampler(SimpleRandom):
    def _draw(self, pool: Any, n: int, draws: int, rng: Any) -> Any:
        raise RuntimeError("no paper\nin the printer")


def test_a_failure_is_reported_and_the_others_go_on() -> None:
    pool, gold = _toy()
    strategies = {"broken": Broken(), "mean": Mean(), "printer": Mean(BrokenSampler())}
    sim = fg.simulate(pool, gold, strategies, [12, 30], draws=20)
    failures = sim.failures
    assert set(failures["reason"]) == {
        "ZeroDivisionError: too few",
        "RuntimeError: no paper in the printer",
    }
    assert len(failures) == 3
    frame = sim.to_frame()
    assert len(frame) == 8  # a failed cell keeps its row
    assert frame[frame.strategy == "mean"]["abs_error"].notna().all()
    assert frame[(frame.strategy == "broken") & (frame.budget == 12)]["abs_error"].isna().all()
    ranking = sim.ranking()
    assert ranking["strategy"].tolist()[-2:] == ["broken", "printer"]
    assert ranking["cells"].tolist() == [2, 2, 1, 0]
    text = sim.summary()
    assert "too few" in text and "no paper" in text and "over the 1 cell" in text
    assert "failed in every cell" in text


def test_a_name_that_some_pools_do_not_know_is_a_failure() -> None:
    first, gold = _toy()
    second = first.with_metrics(extra=np.arange(120.0))
    data = {"a": (first, gold), "b": (second, gold)}
    sim = fg.simulate(data, strategies=["random+cv-extra"], budgets=[20], draws=10)
    assert sim.failures["pool"].tolist() == ["a"]
    with pytest.raises(UnknownNameError, match="cv-nowhere"):
        fg.simulate(data, strategies=["random+cv-nowhere"], budgets=[20], draws=10)


def test_nothing_works() -> None:
    pool, gold = _toy()
    with pytest.raises(FewgoldError, match=r"no strategy worked.*budget"):
        fg.simulate(pool, gold, ["random"], [500], draws=5)


def test_bounds_that_refuse(sim: fg.Simulation) -> None:
    frame = sim.to_frame().set_index(["strategy", "budget"])
    assert frame.loc[("random+mean", 12), "coverage_hoeffding"] == 1
    assert np.isnan(frame.loc[("docs-sys+ridge", 12), "coverage_hoeffding"])
    refused = sim.failures
    assert set(refused["bound"]) == {"hoeffding"}
    assert "hoeffding bound does not cover" in " ".join(sim.summary().split())
    assert "cal %" in sim.summary()


@dataclass(frozen=True)
class Refusing(Bound):
    name: ClassVar[str] = "refusing"
    kind: ClassVar[str] = "approximate"

    def interval(self, estimate: Any, confidence: float) -> Interval:
        raise FewgoldError("not today.")


def test_an_estimator_whose_own_bound_refuses() -> None:
    pool, gold = _toy()
    sim = fg.simulate(pool, gold, {"m": Mean(bound=Refusing())}, [20], draws=10)
    row = sim.to_frame().set_index("strategy").loc["m"]
    assert np.isfinite(row["abs_error"]) and np.isnan(row["coverage"])
    assert sim.failures[["bound", "reason"]].to_numpy().tolist() == [["own", "not today."]]


@dataclass(frozen=True)
class Posterior:
    """An estimate that is no linear one, and no batch."""

    alpha: float
    beta: float

    @property
    def value(self) -> np.ndarray:
        return np.asarray(self.alpha / (self.alpha + self.beta))

    @property
    def se(self) -> np.ndarray:
        total = self.alpha + self.beta
        return np.sqrt(self.value * (1 - self.value) / (total + 1))

    def interval(self, confidence: float = 0.95) -> Interval:
        from scipy.special import betaincinv

        tail = (1 - confidence) / 2
        ends = betaincinv(self.alpha, self.beta, [tail, 1 - tail])
        return Interval(ends[0], ends[1])

    def summary(self, confidence: float = 0.95) -> str:
        return ""

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class OneAtATime(fg.Estimator):
    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()
    batched: ClassVar[bool] = False

    def estimate(self, ratings: fg.Ratings) -> Any:
        assert ratings.scores.ndim == 1
        hits = float(ratings.scores.sum())
        return Posterior(1 + hits, 1 + ratings.n - hits)


def test_posteriors_one_at_a_time() -> None:
    pool, gold = _toy()
    right = (gold > 3.5).astype(float)
    sim = fg.simulate(
        *(pool, right, {"beta": OneAtATime()}, [40]),
        draws=60,
        bounds=[Hoeffding()],
        limits="binary",
    )
    row = sim.to_frame().set_index("strategy").loc["beta"]
    shrunk = (sim.errors("pool 1", "random+mean", 40) + right.mean()) * 40
    np.testing.assert_allclose(
        sim.errors("pool 1", "beta", 40), (shrunk + 1) / 42 - right.mean(), atol=1e-12
    )
    assert row["coverage"] > 0.8
    assert "linear estimates" in sim.failures["reason"].iloc[-1]


@dataclass(frozen=True)
class AllAtOnce(fg.Estimator):
    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    def estimate(self, ratings: fg.Ratings) -> Any:
        hits = ratings.scores.sum(-1)
        return Posteriors(1 + hits, 1 + ratings.n - hits)


class Posteriors(Posterior):
    """The same for a batch of draws."""

    def interval(self, confidence: float = 0.95) -> Interval:
        from scipy.special import betaincinv

        tail = (1 - confidence) / 2
        ends = (betaincinv(self.alpha, self.beta, q) for q in (tail, 1 - tail))
        return Interval(*ends)


def test_a_batch_of_posteriors_equals_one_at_a_time() -> None:
    """Estimates need a value, an se and an interval; how they come to them is their own matter."""
    pool, gold = _toy()
    right = (gold > 3.5).astype(float)
    strategies = {"one": OneAtATime(), "batch": AllAtOnce()}
    sim = fg.simulate({"p": (pool, right)}, strategies=strategies, budgets=[20, 0.4], draws=30)
    assert sim.failures.empty
    table = sim.to_frame().drop(columns="strategy").set_index(sim.to_frame()["strategy"])
    pd.testing.assert_frame_equal(
        table.loc["one"].reset_index(drop=True), table.loc["batch"].reset_index(drop=True)
    )
    assert (
        table[["coverage", "half_width", "slack", "se_ratio", "reduction"]].notna().to_numpy().all()
    )
    assert "batch" in sim.summary()


@dataclass(frozen=True)
class WrongShape(Mean):
    def estimate(self, ratings: fg.Ratings) -> Any:
        return super().estimate(ratings.draw(0))


def test_an_estimate_of_the_wrong_shape() -> None:
    pool, gold = _toy()
    sim = fg.simulate(pool, gold, {"w": WrongShape()}, [20], draws=10)
    assert "batched = False" in sim.failures["reason"].iloc[0]


# --- every strategy ------------------------------------------------------------------------------


def test_every_strategy_of_the_registry_runs() -> None:
    pool, gold = _toy(150)
    names = [
        f"{s}+{e}"
        for s in registry.sampler_names()
        for e in registry.estimator_names(pool)
        if "forest" not in e and e != "alpha"
    ]
    sim = fg.simulate(pool, gold, names, [40], draws=3, n_jobs=2)
    assert sim.failures.empty
    assert sim.to_frame()["abs_error"].notna().all()


def test_binary_strategies_run_on_every_design() -> None:
    pool, gold = _toy(150)
    passed = (gold >= np.median(gold)).astype(float)
    metric = next(iter(pool.metrics))
    names = [f"random+alpha-{metric}:information", f"docs-sys+alpha-{metric}:equal", "random+alpha"]
    names += [f"docs-opt+alpha-{metric}:information", "docs-whole+alpha"]
    sim = fg.simulate(pool, passed, names, [40], draws=20, limits=(0, 1))
    assert sim.failures.empty
    scalar = fg.simulate(pool, gold, ["random+alpha"], [40], draws=2)
    assert "ratings must be 0 or 1" in scalar.failures["reason"].iloc[0]


def test_default_strategies_suit_the_pool() -> None:
    pool, gold = _toy(100)
    whole = fg.simulate(pool, gold, budgets=[30], draws=2)
    assert whole.strategies == registry.strategy_names(pool)
    assert whole.failures.empty
    bare = fg.Pool(pool.ids, {}, None)
    sim = fg.simulate(bare, gold, budgets=[30], draws=2)
    assert sim.strategies == ["random+mean"] and sim.failures.empty
    no_documents = fg.Pool(pool.ids, pool.metrics)
    assert fg.simulate(no_documents, gold, budgets=[30], draws=2).failures.empty
    no_metrics = fg.Pool(pool.ids, {}, pool.documents)
    assert fg.simulate(no_metrics, gold, budgets=[30], draws=2).failures.empty


def test_waves_and_costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "_figures", lambda done: {"error": done.plot("error")})
    pool, gold = _toy()
    priced = fg.Pool(pool.ids, pool.metrics, pool.documents, cost=np.linspace(1, 3, 120))
    sim = fg.simulate(priced, gold, ["docs-prop"], [Cost(50.0), 0.2], draws=30)
    frame = sim.to_frame()
    assert set(frame["budget"]) == {"cost 50", 0.2}
    costly = frame[frame.budget == "cost 50"]
    assert (costly["cost"] - 50).abs().max() < 6
    assert "cost 50" in sim.summary()
    costs = fg.simulate(priced, gold, ["docs-prop"], [Cost(50.0), Cost(50.0, 0.05)], draws=10)
    assert costs.budgets == ["cost 50", "cost 50 at risk 0.05"]
    two = fg.simulate(priced, gold, ["docs-prop"], [Cost(50.0), Cost(90.0)], draws=10)
    assert "units of cost" in two.plot("error").get_xlabel()
    html = two.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html
    assert "units of cost" in html
    assert "cost 50" in sim.to_html()


# --- input ---------------------------------------------------------------------------------------


def test_gold_by_id_and_in_pairs() -> None:
    pool, gold = _toy()
    by_id = dict(zip(pool.ids.tolist(), gold, strict=True))
    _same(
        fg.simulate(pool, by_id, "random", [12], draws=5),
        fg.simulate([(pool, gold)], None, "random", [12], draws=5),
    )
    twice = fg.simulate([(pool, gold), (pool, gold)], strategies="random", budgets=12, draws=5)
    assert twice.pools == ["pool 1", "pool 2"]


def test_pools_are_called_by_their_system() -> None:
    data = [load_demo(system=s) for s in demo_systems()[:2]]
    sim = fg.simulate([*data, data[0]], strategies="random", budgets=[20], draws=2)
    assert sim.pools == [*demo_systems()[:2], f"{demo_systems()[0]} (2)"]


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda p, g: fg.simulate(p), DataError, "human score of every segment"),
        (lambda p, g: fg.simulate(p, g[:5]), DataError, "one score for each of the 120"),
        (lambda p, g: fg.simulate(p, np.where(g > 4, np.nan, g)), DataError, "no finite score"),
        (lambda p, g: fg.simulate(p, {1: 2.0}), DataError, "have no score"),
        (lambda p, g: fg.simulate({"a": (p, g)}, g), DataError, "pairs"),
        (lambda p, g: fg.simulate({}), DataError, "at least one pool"),
        (lambda p, g: fg.simulate([p]), DataError, "pairs"),
        (lambda p, g: fg.simulate(p, g, "docs-porp"), UnknownNameError, "docs-prop"),
        (lambda p, g: fg.simulate(p, g, [3]), FewgoldError, "got int"),
        (lambda p, g: fg.simulate(p, g, {"a": 3}), FewgoldError, "got int"),
        (lambda p, g: fg.simulate(p, g, "random", []), BudgetError, "at least one budget"),
        (lambda p, g: fg.simulate(p, g, "random", ["5%"]), BudgetError, "'5%'"),
        (lambda p, g: fg.simulate(p, g, "random", "5%"), BudgetError, "'5%'"),
        (lambda p, g: fg.simulate(p, g, "random", [5, 5]), BudgetError, "differ"),
        (lambda p, g: fg.simulate(p, g, "random", [1, 1.0]), BudgetError, "differ"),
        (lambda p, g: fg.simulate(p, g, "random", [5], rng=-1), FewgoldError, "seed"),
        (lambda p, g: fg.simulate(p, g, "random", [5], limits=(3, 4)), DataError, "outside"),
        (lambda p, g: fg.simulate(p, g, "random", [5], bounds=["hofding"]), FewgoldError, "hoeff"),
        (lambda p, g: fg.simulate(p, g, "random", [5], bounds={"mc": 1}), FewgoldError, "mc"),
        (lambda p, g: fg.simulate(p, g, "random", [5], bounds="star"), FewgoldError, "limits="),
        (lambda p, g: fg.simulate({1: (p, g), "1": (p, g)}), DataError, "called '1'"),
        (lambda p, g: fg.simulate(p, pd.Series(g, index=np.arange(120) + 7)), DataError, "index"),
        (lambda p, g: fg.simulate(p, np.ma.masked_greater(g, 4)), DataError, "no finite score"),
        (lambda p, g: fg.simulate(p, g, "random", [5], draws=1), ValueError, "draws"),
        (lambda p, g: fg.simulate(p, g, "random", [5], confidence=95), ValueError, "confidence"),
        (lambda p, g: fg.simulate(p, g, "random", [5], baseline="base"), UnknownNameError, "base"),
        (
            lambda p, g: fg.simulate(p, g, [Mean(), Mean(bound=Hoeffding())], [5]),
            FewgoldError,
            "called 'SimpleRandom\\+mean'|called 'random\\+mean'",
        ),
        (
            lambda p, g: fg.simulate(p, g, "random", [5], bounds=[Student(), Student()]),
            FewgoldError,
            "same name",
        ),
    ],
)
def test_bad_input(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(*_toy())


def test_a_series_goes_by_id() -> None:
    pool, gold = _toy()
    plain = fg.simulate(pool, gold, "random+ridge", [40], draws=5)
    series = pd.Series(gold, index=pool.ids).sample(frac=1, random_state=1)
    _same(plain, fg.simulate(pool, series, "random+ridge", [40], draws=5))
    _same(plain, fg.simulate(pool, pd.Series(gold), "random+ridge", [40], draws=5))


def test_names_of_pools_never_collide() -> None:
    data = [load_demo(system=demo_systems()[0])] * 2
    first = demo_systems()[0]
    pool, gold = data[0]
    third = fg.Pool(pool.ids, pool.metrics, system=np.full(len(pool), f"{first} (2)"))
    sim = fg.simulate([*data, (third, gold)], strategies="random", budgets=[20], draws=2)
    assert len(sim.pools) == 3
    table = pd.DataFrame({"id": [1, 2], "a": ["x / y", "x"], "b": ["z", "y / z"], "s": [1, 2]})
    with pytest.raises(DataError, match="'x / y / z'"):
        studies_from_table(table, human="s", by=["a", "b"], id="id")


def test_errors_of_unknown_cells(sim: fg.Simulation) -> None:
    with pytest.raises(UnknownNameError, match="budget"):
        sim.errors("pool 1", "random+mean", 13)


def test_degenerate_data() -> None:
    """Equal scores, or all of them rated: no error, no ratio, and nothing breaks."""
    pool, gold = _toy()
    flat = fg.simulate(pool, np.full(120, 2.0), NAMES, [12], draws=10)
    frame = flat.to_frame()
    np.testing.assert_allclose(frame["abs_error"], 0, atol=1e-12)
    assert frame["ess"].isna().all()
    assert isinstance(flat.summary(), str)
    census = fg.simulate(pool, gold, ["random", "docs-prop"], [1.0], draws=10).to_frame()
    assert (census["n"] == 120).all() and (census["coverage"] == 1).all()
    np.testing.assert_allclose(census["abs_error"], 0, atol=1e-12)


@pytest.mark.parametrize("budgets", [[1], pytest.param([2, 3, 5], marks=pytest.mark.slow)])
def test_very_few_ratings_and_draws(budgets: list[int]) -> None:
    """Standard errors are infinite there; the figures say so and nothing breaks."""
    pool, gold = _toy()
    names = [*NAMES, "docs-prop+cv-knn", "docs-whole+ridge"]
    sim = fg.simulate(pool, gold, names, budgets, draws=2)
    assert sim.failures.empty
    frame = sim.to_frame()
    assert np.isfinite(frame["abs_error"]).all()
    assert frame["sd_mc"].isna().all()  # two draws do not tell
    if budgets == [1]:
        assert np.isinf(frame["half_width"]).all() and (frame["coverage"] == 1).all()
    html = sim.to_html()
    assert "∞" in html or budgets != [1]
    assert sim.summary()


def test_a_rare_outlier_does_not_make_nonsense() -> None:
    """No draw met the one segment that makes up the known variance: no extrapolation."""
    y = np.random.default_rng(0).normal(size=1000)
    y[7] = 300
    pool = fg.Pool(np.arange(1000), documents=np.arange(1000) // 10)
    frame = fg.simulate(pool, y, ["docs-prop+mean"], [10], draws=100).to_frame()
    assert (frame["variance_ratio"] > 0.5).all() and (frame["variance_ratio"] < 2).all()
    assert (frame["ess"] > 5).all() and (frame["ess"] < 20).all()


def test_all_rated_is_no_contest() -> None:
    pool, gold = _toy()
    names = ["docs-sys+ridge", "docs-prop+mean", "random+cv-multi"]
    half = fg.simulate(pool, gold, names, [0.5], draws=30).ranking()
    both = fg.simulate(pool, gold, names, [0.5, 1.0], draws=30)
    np.testing.assert_allclose(half["reduction"], both.ranking()["reduction"])
    np.testing.assert_allclose(half["reduction_mc"], both.ranking()["reduction_mc"])
    census = both.to_frame().query("budget == 1.0")
    assert (census["abs_error"] == 0).all() and census["win"].isna().all()


@pytest.mark.parametrize("move", [lambda g: g + 1e9, lambda g: g - g.mean()])
def test_coverage_goes_by_the_spread_of_scores(move: Any) -> None:
    pool, gold = _toy()
    options: dict[str, Any] = {"budgets": [30], "draws": 200, "confidence": 0.5}
    here = fg.simulate(pool, gold, "random", **options).to_frame()["coverage"]
    there = fg.simulate(pool, move(gold), "random", **options).to_frame()["coverage"]
    np.testing.assert_allclose(here, there, atol=0.011)
    census = fg.simulate(pool, move(gold), "random", [1.0], draws=5).to_frame()
    assert (census["coverage"] == 1).all()


@pytest.mark.parametrize("scale", [1e-145, 1e-82, 1e80, 1e145])
def test_scale_of_the_scores(scale: float) -> None:
    pool, gold = _toy()
    here = fg.simulate(pool, gold, NAMES, [30], draws=20).to_frame()
    there = fg.simulate(pool, gold * scale, NAMES, [30], draws=20).to_frame()
    for column in ("reduction", "ess", "win", "se_ratio", "ess_mc", "reduction_mc"):
        np.testing.assert_allclose(here[column], there[column], rtol=1e-6, err_msg=column)
    for column in ("abs_error", "abs_error_sd", "abs_error_sd_mc", "rmse"):
        np.testing.assert_allclose(here[column], there[column] / scale, rtol=1e-6)


def test_same_number_of_ratings_is_drawn_anew_for_each_budget() -> None:
    """Cells that are averaged as independent must be."""
    pool, gold = _toy(40)
    sim = fg.simulate(pool, gold, "random", [0.09, 0.1, 0.11], draws=50)
    assert set(sim.to_frame()["n"]) == {4}
    errors = [sim.errors("pool 1", "random+mean", b) for b in sim.budgets]
    assert not np.array_equal(errors[0], errors[1])


def test_partly_failed_strategies_say_so() -> None:
    """Averages over different cells are marked, ranked last, and left out of the curves."""
    pool, gold = _toy()
    bare = fg.Pool(pool.ids, pool.metrics)
    data = {"documents": (pool, gold), "none": (bare, 10 * gold)}
    sim = fg.simulate(data, strategies=["docs-prop+mean", "random+ridge"], budgets=[30], draws=40)
    ranking = sim.ranking()
    assert ranking["strategy"].iloc[-1] == "docs-prop+mean"
    assert "docs-prop+mean: over the 1 cell of 2" in sim.summary(["docs-prop+mean"])
    frame, _ = sim._for_plots()
    part = frame[frame.strategy == "docs-prop+mean"]
    assert part[["abs_error", "reduction"]].isna().all(axis=None)
    other = fg.simulate(
        data, strategies=["random+ridge"], budgets=[30], draws=40, baseline="docs-prop+mean"
    )
    row = other.ranking().set_index("strategy").loc["random+ridge"]
    assert row["cells"] == 2 and row["compared"] == 1
    cell = other.to_frame().set_index(["pool", "strategy"]).loc[("documents", "random+ridge")]
    assert row["reduction_mc"] == pytest.approx(cell["reduction_mc"])
    assert "compared with the baseline in 1 cell only" in other.summary()


@dataclass(frozen=True)
class Mutating(Mean):
    def estimate(self, ratings: fg.Ratings) -> Any:
        ratings.scores[...] = 0
        return super().estimate(ratings)


@dataclass(frozen=True)
class Sloppy(Mean):
    """Plain numbers where arrays are due."""

    def estimate(self, ratings: fg.Ratings) -> Any:
        made = super().estimate(ratings)

        class Loose:
            value = np.ma.masked_array(made.value, np.zeros(made.value.shape))
            se = 0.1

            def interval(self, confidence: float = 0.95) -> tuple[float, float]:
                return (-100.0, 100.0)

        return Loose()


def test_plug_ins_cannot_spoil_the_others() -> None:
    pool, gold = _toy()
    strategies = {"mutates": Mutating(), "cv": ControlVariates(), "sloppy": Sloppy()}
    sim = fg.simulate(pool, gold, strategies, [30], draws=110)
    assert sim.failures["strategy"].tolist() == ["mutates"]
    alone = fg.simulate(pool, gold, {"cv": ControlVariates()}, [30], draws=110)
    np.testing.assert_array_equal(sim.errors("pool 1", "cv", 30), alone.errors("pool 1", "cv", 30))
    assert sim.to_frame().set_index("strategy").loc["sloppy", "coverage"] == 1


# --- tables --------------------------------------------------------------------------------------


def _table() -> pd.DataFrame:
    pool, gold = _toy(60)
    part = pd.DataFrame({"id": pool.ids, "doc": pool.documents, **pool.metrics, "mqm": gold})
    other = part.assign(mqm=part["mqm"] + 1)
    both = pd.concat([part.assign(system="A"), other.assign(system="B")])
    return both.assign(rater=np.tile(["x", "y"], 60)).reset_index(drop=True)


def test_studies_from_a_table() -> None:
    table = _table()
    metrics = [c for c in table.columns if c not in ("id", "doc", "mqm", "system", "rater")]
    columns = {"id": "id", "document": "doc", "metrics": metrics}
    studies, notes = studies_from_table(table, human="mqm", by=["system", "rater"], **columns)
    assert list(studies) == ["A / x", "A / y", "B / x", "B / y"]
    assert all(len(s.pool) == 30 for s in studies.values())
    assert notes == []
    np.testing.assert_allclose(studies["B / x"].gold, studies["A / x"].gold + 1)
    with pytest.raises(DataError, match="ids must differ"):
        studies_from_table(table, human="mqm", **columns)
    # A metric that only one system lacks is left out there.
    gappy = table.assign(**{metrics[0]: table[metrics[0]].where(table.system == "A")})
    studies, notes = studies_from_table(gappy, human="mqm", by=["system"], **columns)
    assert metrics[0] in studies["A"].pool.metrics
    assert metrics[0] not in studies["B"].pool.metrics
    assert "B: without" in notes[0]
    # Rows without a score are an error unless one says so.
    partly = table.assign(mqm=table["mqm"].where(table.index % 10 != 0))
    with pytest.raises(DataError, match="12 of 120 rows have no mqm"):
        studies_from_table(partly, human="mqm", by=["system"], **columns)
    studies, notes = studies_from_table(
        partly, human="mqm", by=["system"], rated_only=True, **columns
    )
    assert len(studies["A"].pool) == 54 and "12 of 120" in notes[0]
    with pytest.raises(UnknownNameError):
        studies_from_table(table, human="score", **columns)
    with pytest.raises(UnknownNameError):
        studies_from_table(table, human="mqm", id="id", metrics=["nowhere"])
    wordy = table.assign(mqm=table["mqm"].astype(str).where(table.index != 3, "good"))
    with pytest.raises(DataError, match=r"A: .*good"):
        studies_from_table(wordy, human="mqm", by=["system"], **columns)


# --- output --------------------------------------------------------------------------------------


def test_summary_is_the_papers_table(sim: fg.Simulation) -> None:
    text = sim.summary()
    lines = text.splitlines()
    assert lines[0] == "1 pool × 2 budgets (12 to 25%), 130 draws per cell"
    titles = ["strategy", "error", "sdev", "win", "%", "reduction", "%", "worth", "covers", "%"]
    assert lines[2].split() == titles
    assert all(len(line) <= 80 for line in lines[:-1])  # the last is the signature
    only = sim.summary(["random+mean"])
    assert "docs-sys+ridge " not in only.split("error: mean")[0]
    with pytest.raises(UnknownNameError):
        sim.summary(["nothing"])
    assert repr(sim) == "Simulation(1 pool × 4 strategies × 2 budgets, 130 draws per cell)"


@pytest.mark.parametrize("kind", ["error", "relative", "coverage", "ranking"])
def test_plots(sim: fg.Simulation, kind: str) -> None:
    pytest.importorskip("matplotlib", reason="plots are an extra")
    ax = sim.plot(kind)
    assert ax.get_figure() is not None
    with pytest.raises(ValueError, match="kind"):
        sim.plot("pie")


def test_page_and_files(
    sim: fg.Simulation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three figures of six will do: drawing is what takes long.
    few = ("error", "bounds", "widths")
    monkeypatch.setattr(result, "_figures", lambda done: {kind: done.plot(kind) for kind in few})
    written = sim.save(tmp_path / "out")
    names = {p.name for p in written}
    assert {"cells.csv", "ranking.csv", "report.html", "error.png", "failures.csv"} <= names
    assert {"bounds.png", "widths.png"} <= names
    assert all(p.stat().st_size > 100 for p in written)
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "https:" not in html and "http:" not in html.replace("http://www.w3.org", "")
    assert all(name in html for name in NAMES)
    assert "Coverage of the bounds" in html
    back = pd.read_csv(tmp_path / "out" / "cells.csv")
    np.testing.assert_allclose(back["abs_error"], sim.to_frame()["abs_error"])


def test_stratified_objects_and_names_agree() -> None:
    pool, gold = _toy()
    sim = fg.simulate(
        pool, gold, {"mine": Mean(sampler=Stratified()), "docs-prop": "docs-prop"}, [30], draws=20
    )
    np.testing.assert_array_equal(
        sim.errors("pool 1", "mine", 30), sim.errors("pool 1", "docs-prop", 30)
    )


def test_bounds_side_by_side() -> None:
    pool, gold = toy_pool()
    made = fg.simulate(
        *(pool, gold, ["random+mean", "random+ridge"], [20, 60]),
        draws=20,
        bounds=["hoeffding", "star"],
        limits=(0, 25),
    )
    table = made.by_bound()
    # Hoeffding's bound refuses what was tuned; bets go by the ratings alone.
    kinds = {name: set(part["bound"]) for name, part in table.groupby("strategy")}
    assert kinds == {"random+mean": {"own", "hoeffding", "star"}, "random+ridge": {"own", "star"}}
    row = made.by_budget().set_index(["strategy", "budget"]).loc[("random+mean", 60)]
    cell = table[(table["strategy"] == "random+mean") & (table["budget"] == 60)]
    assert cell.set_index("bound").loc["star", "half_width"] == row["half_width_star"]
    for kind in ("bounds", "widths"):
        assert len(made.plot(kind).get_lines()) >= 3
    assert len(made.plot("widths", strategy="random+ridge").get_lines()) >= 2
    with pytest.raises(FewgoldError, match="strategy must be one of"):
        made.plot("bounds", strategy="rigde")


def test_bounds_that_refuse_some_cells_have_no_average() -> None:
    """Strata of one segment at the small budget: an average over the large one is another thing."""
    pool, gold = toy_pool(120, 17)
    made = fg.simulate(
        *(pool, gold, ["docs-prop+mean"], [20, 80]), draws=5, bounds="hoeffding", limits="mqm"
    )
    by_budget = made.by_budget().set_index(["strategy", "budget"])["half_width_hoeffding"]
    assert np.isnan(by_budget["docs-prop+mean", 20])
    assert by_budget["docs-prop+mean", 80] > 0
    ranking = made.ranking().set_index("strategy")["half_width_hoeffding"]
    assert np.isnan(ranking["docs-prop+mean"])
    assert ranking["random+mean"] > 0


def test_a_bound_with_and_without_a_metric() -> None:
    pool, gold = toy_pool()
    made = fg.simulate(pool, gold, [], [40], draws=5, bounds=["star", "star:comet"], limits="mqm")
    assert made.bounds == ("star", "star:comet")


def test_uneven_chances_are_compared_with_equal_ones() -> None:
    pool, gold = _toy(200)
    known = pool.with_spread(np.linspace(1, 3, 200))
    names = ["random+ridge", "random-uneven+ridge", "docs-uneven+mean"]
    found = fg.simulate(known, gold, names, [20, 40], draws=30)
    (row,) = found.uneven().to_dict("records")  # docs-balanced+mean was not simulated
    assert (row["strategy"], row["equal"], row["cells"]) == (names[1], names[0], 2)
    gains = []
    for budget in (20, 40):
        one, other = (np.abs(found.errors("pool 1", n, budget)) for n in (names[1], names[0]))
        gains.append(1 - ratio(one, other).mean)
    np.testing.assert_allclose(row["gain"], np.mean(gains))
    assert 0 < row["gain_mc"] < 1
    assert f"The error of {names[1]} is {100 * abs(row['gain']):.1f} %" in " ".join(
        found.summary().split()
    )
    assert fg.simulate(pool, gold, ["random+ridge"], [20], draws=3).uneven().empty


def test_cells_of_another_spread_are_not_taken(tmp_path: Path) -> None:
    pool, gold = _toy()
    made = [
        fg.simulate(
            pool.with_spread(s), gold, ["random-uneven+mean"], [20], draws=4, store=tmp_path
        )
        for s in (np.ones(120), np.linspace(1, 9, 120))
    ]
    one, other = (s.errors("pool 1", "random-uneven+mean", 20) for s in made)
    assert not np.array_equal(one, other)
