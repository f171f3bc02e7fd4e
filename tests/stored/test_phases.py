"""Samples in two phases: who is drawn how often, what the design says, and how far it errs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from fewgold import History, Pool, Ratings, registry
from fewgold.errors import DataError, DesignError, UnknownNameError
from fewgold.estimators import Mean, Ridge
from fewgold.samplers import (
    Balanced,
    ByColumn,
    ByMetric,
    Chances,
    Cost,
    Incremental,
    RankSpread,
    SimpleRandom,
    Stratified,
    Systematic,
    TwoWave,
    phases,
)
from fewgold.stored import DuckDB, StoredPool, groups
from reference.stored import PlainPool

# Chance of a false alarm of a test, all its comparisons together. Seeds are fixed.
ALARM = 1e-3
CANDIDATES = 12


def make_pool(size=18, seed=3):
    """Documents of 6, 4, 3, 2, 1, 1 and 1 segments, in no order, with equal scores among them."""
    rng = np.random.default_rng(seed)
    documents = rng.permutation(list("aaaaaabbbbcccddefg") * (size // 18))
    return Pool(
        ids=np.array([f"s{k}" for k in range(size)]),
        documents=documents,
        metrics={"m": rng.integers(4, size=size), "comet": rng.gamma(1.0, size=size).round(1)},
        cost=rng.uniform(1, 9, size),
        spread=rng.gamma(2.0, size=size),
    )


POOL = make_pool()
SAMPLERS = {
    "balanced": Balanced(),
    "uneven": Balanced(chances=Chances()),
    "rank": Balanced(chances=Chances(RankSpread(), uniform=0.5)),
    "sys-uneven": Systematic(chances=Chances()),
    "random-uneven": SimpleRandom(chances=Chances()),
    "metrics-uneven": Stratified(ByMetric(bins=2), chances=Chances()),
}
by_sampler = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch):
    """A first phase that leaves something out of a small pool."""
    monkeypatch.setattr(phases, "_LEAST", CANDIDATES)
    monkeypatch.setattr(phases, "_EACH", 0)


@pytest.fixture(scope="module")
def stored():
    with StoredPool.of(POOL, engine=DuckDB(threads=1)) as pool:
        yield pool


@pytest.fixture(scope="module")
def plain():
    with PlainPool(POOL) as pool:
        yield pool


def rows_of(sample, pool=POOL):
    where = {str(i): k for k, i in enumerate(pool.ids)}
    return np.array([where[str(i)] for i in sample.ids])


@by_sampler
@pytest.mark.parametrize("near", [phases._NEAR, 0], ids=["metrics", "documents"])
def test_sql_draws_what_plain_python_draws(stored, plain, sampler, near, monkeypatch):
    monkeypatch.setattr(phases, "_NEAR", near)
    for seed in range(3):
        mine, theirs = sampler.draw(stored, 7, rng=seed), sampler.draw(plain, 7, rng=seed)
        assert mine.ids.tolist() == theirs.ids.tolist()
        np.testing.assert_allclose(mine.design.weights, theirs.design.weights, rtol=1e-12)
        np.testing.assert_allclose(mine.design.inclusion, theirs.design.inclusion, rtol=1e-9)
        assert mine.pool.spread.tolist() == POOL.spread[rows_of(mine)].tolist()


def test_giant_cells_are_cut_as_in_plain_python(stored, monkeypatch):
    monkeypatch.setattr(groups, "_GIANT", 1)
    few = Pool(POOL.ids, {"m": POOL.metrics["m"]})
    with StoredPool.of(few) as mine, PlainPool(few, giant=1) as theirs:
        for seed in range(3):
            one, other = (Balanced().draw(pool, 5, rng=seed) for pool in (mine, theirs))
            assert one.ids.tolist() == other.ids.tolist()


def test_nothing_is_kept_of_a_draw(stored):
    tables = "SELECT count(*) AS n FROM duckdb_tables()"
    before = stored.engine._frame(tables, "")["n"].iloc[0]
    Balanced().draw(stored, 7, rng=1)
    assert stored.engine._frame(tables, "")["n"].iloc[0] == before


@by_sampler
def test_the_design(plain, sampler):
    sample = sampler.draw(plain, 8, rng=1)
    design = sample.design
    assert (design.size, design.n, sample.n) == (18, 8, 8)
    assert design.weights.sum() == pytest.approx(1.0)
    assert np.unique(sample.ids).size == 8
    assert (design.inclusion < 1).all()  # candidates are drawn by chance
    own = design.weights * design.inclusion
    np.testing.assert_allclose(own, own[0])


@by_sampler
def test_all_of_a_small_pool_are_candidates(plain, sampler, monkeypatch):
    """The design is then that of a pool in memory: weights, chances, groups, balance."""
    monkeypatch.setattr(phases, "_LEAST", 100)
    sample = sampler.draw(plain, 8, rng=1)
    rows = rows_of(sample)
    if getattr(sampler, "by", None) != ByMetric(bins=2):  # whose counts are rounded by bin
        expected = np.full(18, 8 / 18)
        if sampler.chances is not None:
            expected = sampler.chances.inclusion(POOL, 8)
        np.testing.assert_allclose(sample.design.inclusion, expected[rows], rtol=1e-4)
    kind = sampler.draw(POOL, 8, rng=1).design
    assert sample.design.kind == kind.kind
    assert (sample.design.balance is None) == (kind.balance is None)
    if kind.balance is not None:
        assert sample.design.balance.shape == kind.balance.shape


def chances_of(pool, sampler, n):
    """The chance of each segment: over all starts of the first phase, then that of the second.

    The line goes by the sum of the standardised metrics in fine cells, and there by the numbers.
    """
    size = len(pool)
    with PlainPool(pool) as plain:
        every = phases.candidates(plain, size, np.random.default_rng(0))
        order = [int(np.flatnonzero(same(pool, every, k))[0]) for k in range(size)]
        total = np.zeros(size)
        for start in range(size):
            positions = (start + np.arange(CANDIDATES) * size) // CANDIDATES
            rows = np.array(order)[positions]
            if sampler.chances is None:
                second = np.full(CANDIDATES, n / CANDIDATES)
            else:
                second = sampler.chances.inclusion(pool.take(rows), n)
            total[rows] += second / size
    return total


def same(pool, part, k):
    alike = pool.spread == part.spread[k]
    return alike & (pool.cost == part.cost[k]) & (pool.metrics["m"] == part.metrics["m"][k])


@pytest.mark.parametrize("name", ["balanced", "uneven", "sys-uneven", "random-uneven"])
def test_every_segment_has_its_chance(plain, name):
    sampler, n, seeds = SAMPLERS[name], 6, 500
    expected = chances_of(POOL, sampler, n)
    assert expected.sum() == pytest.approx(n)
    if name == "balanced":
        np.testing.assert_allclose(expected, n / 18)
    hits = np.zeros(18)
    for seed in range(seeds):
        sample = sampler.draw(plain, n, rng=seed)
        if name == "balanced":
            np.testing.assert_allclose(sample.design.inclusion, n / 18)
        hits[rows_of(sample)] += 1
    for count, chance in zip(hits, expected, strict=True):
        assert binomtest(int(count), seeds, chance).pvalue > ALARM / 18


def test_the_weighted_total_is_unbiased(plain):
    """Horvitz and Thompson's estimate with m/N times the chance among the candidates."""
    sampler, n, seeds = SAMPLERS["uneven"], 6, 500
    y = np.random.default_rng(9).gamma(0.5, 4.0, 18)
    found = np.empty(seeds)
    for seed in range(seeds):
        sample = sampler.draw(plain, n, rng=seed)
        rows, pi = rows_of(sample), sample.design.inclusion
        # The design tells chances relative to the whole pool; a draw of candidates has its own.
        part = phases.candidates(plain, CANDIDATES, np.random.default_rng(seed))
        mean = sampler.chances.uniform + 0.75 * POOL.spread.mean() / part.spread.mean()
        found[seed] = (y[rows] / (pi * mean)).sum() / 18
    assert abs(found.mean() - y.mean()) < 4 * found.std(ddof=1) / np.sqrt(seeds)


def test_what_the_candidates_missed_shows_in_the_balance(plain):
    """A balanced sample is as far from the pool's mean spread as its candidates are."""
    for seed in range(5):
        sample = SAMPLERS["uneven"].draw(plain, 9, rng=seed)
        part = phases.candidates(plain, CANDIDATES, np.random.default_rng(seed))
        gap = (sample.design.balance @ sample.design.weights)[0]
        mass = 0.25 + 0.75 * part.spread / part.spread.mean()
        mean = 0.25 + 0.75 * POOL.spread.mean() / part.spread.mean()
        pi = sample.design.inclusion / (CANDIDATES / 18) * mean
        assert gap == pytest.approx(9 / (1 / pi).sum() * CANDIDATES / 9 / mean - 1, abs=1e-9)
        assert mass.mean() == pytest.approx(1)


# Errors and intervals ----------------------------------------------------------------------------

DRAWS = 200


@pytest.fixture(scope="module")
def study():
    """450 segments whose ratings stray further where a column says so."""
    rng = np.random.default_rng(5)
    size = 450
    documents = rng.integers(90, size=size)
    quality = rng.normal(size=90)[documents] * 0.4 + rng.normal(size=size)
    spread = np.exp(rng.normal(size=size) * 0.7)
    pool = Pool(
        ids=np.arange(size),
        documents=documents,
        metrics={"a": quality + rng.normal(size=size), "b": quality + 2 * rng.normal(size=size)},
        orientation={"a": 1},
        spread=spread,
    )
    return pool, 3 + quality + 0.7 * spread * rng.normal(size=size)


@pytest.mark.parametrize("name", ["balanced", "uneven", "rank"])
def test_errors_are_those_in_memory_and_intervals_cover(study, name, monkeypatch):
    pool, y = study
    n, m = 40, 240
    monkeypatch.setattr(phases, "_LEAST", m)
    sampler, estimator = SAMPLERS[name], Ridge()
    error, covered = np.empty(DRAWS), 0
    with PlainPool(pool) as plain:
        for seed in range(DRAWS):
            sample = sampler.draw(plain, n, rng=seed)
            rows = rows_of(sample, pool)
            estimate = estimator.estimate(sample.rate(y[rows]))
            low, high = estimate.interval()
            error[seed] = float(estimate.value) - y.mean()
            covered += bool(low <= y.mean() <= high)
    many = sampler.draw(pool, n, draws=2000, rng=1)
    memory = estimator.estimate(many.rate(y[many.indices])).value - y.mean()
    # The first phase adds n/m at the most, and the variance of so many draws is known to this.
    noise = 4 * np.sqrt(2 / DRAWS + 2 / 2000)
    assert (error**2).mean() < (memory**2).mean() * (1 + n / m) * (1 + noise)
    assert (error**2).mean() > (memory**2).mean() * (1 - noise)
    assert abs(error.mean()) < 4 * error.std() / np.sqrt(DRAWS)
    assert binomtest(covered, DRAWS, 0.95).pvalue > ALARM


# Files, waves and costs --------------------------------------------------------------------------


def frame(size=240):
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "id": [f"s{k}" for k in range(size)],
            "doc": [f"d{k // 9}" for k in range(size)],
            "m": rng.normal(size=size).round(2),
            "k": rng.gamma(1, size=size),
            "p": rng.uniform(size=size).round(3),
            "seconds": rng.uniform(10, 60, size),
        }
    )


COLUMNS = {
    "id": "id", "document": "doc", "metrics": ["m", "k"], "cost": "seconds",
    "spread": "p:probability", "orientation": {"m": 1},
}  # fmt: skip


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(phases, "_LEAST", 120)
    frame().to_parquet(tmp_path / "a.parquet")
    return tmp_path


def test_the_same_sample_however_rows_are_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(phases, "_LEAST", 120)
    found = []
    for name, step, threads in (("one", 1, 1), ("many", 11, 2)):
        (tmp_path / name).mkdir()
        shuffled = frame().sample(frac=1, random_state=step)
        for k in range(step):
            shuffled[k::step].to_parquet(tmp_path / name / f"{k}.parquet", row_group_size=7)
        with StoredPool(tmp_path / name, engine=DuckDB(threads=threads), **COLUMNS) as pool:
            drawn = [s.draw(pool, 20, rng=5) for s in SAMPLERS.values()]
            found.append([s.ids.tolist() for s in drawn])
    memory = Pool.from_table(
        frame(), id="id", document="doc", metrics=["m", "k"], cost="seconds", orientation={"m": 1}
    )
    q = frame()["p"].to_numpy()
    with StoredPool.of(memory.with_spread(np.sqrt(q * (1 - q)))) as pool:
        found.append([s.draw(pool, 20, rng=5).ids.tolist() for s in SAMPLERS.values()])
    assert found[0] == found[1] == found[2]


def test_a_probability_is_a_spread(files):
    with StoredPool(files, **COLUMNS) as pool:
        sample = SAMPLERS["uneven"].draw(pool, 20, rng=5)
        q = frame()["p"].to_numpy()[[int(i[1:]) for i in sample.ids]]
        np.testing.assert_allclose(sample.pool.spread, np.sqrt(q * (1 - q)))
    with StoredPool(files, **COLUMNS | {"spread": "p"}) as pool:
        assert SAMPLERS["uneven"].draw(pool, 20, rng=5).pool.spread.max() > 0.5


def test_waves(files):
    y = frame().set_index("id")["m"].to_dict()
    with StoredPool(files, **COLUMNS) as pool:
        for sampler in (Balanced(), SAMPLERS["uneven"], TwoWave()):
            first = sampler.draw(pool, 25, rng=1).rate(y)
            both = sampler.draw(pool, 20, given=first, rng=2).rate(y)
            assert isinstance(both, Ratings) and both.n == 45
            assert np.unique(both.sample.ids).size == 45
            assert float(Mean().estimate(both).se) > 0


def test_costs(files):
    with StoredPool(files, **COLUMNS) as pool:
        equal = Balanced().draw(pool, Cost(1000.0), rng=1)
        assert equal.n == pytest.approx(1000 / frame()["seconds"].mean(), abs=1)
        assert float(equal.cost) == pytest.approx(1000, rel=0.05)  # the cost is in balance
        n = SAMPLERS["uneven"].count(pool, Cost(1000.0))
    memory = Pool.from_table(frame(), id="id", document="doc", metrics=["m"], cost="seconds")
    q = frame()["p"].to_numpy()
    told = SAMPLERS["uneven"].count(memory.with_spread(np.sqrt(q * (1 - q))), Cost(1000.0))
    assert n == pytest.approx(told, abs=2)


def test_chances_that_follow_a_history(files):
    rng = np.random.default_rng(2)
    m, k = rng.normal(size=300), rng.gamma(1, size=300)
    before = Pool(np.arange(300), {"m": m, "k": k})
    history = History([(before, m + np.exp(m) * rng.normal(size=300))])
    with StoredPool(files, **COLUMNS) as pool:
        sampler = Balanced(chances=Chances(history.spread))
        sample = sampler.draw(pool, 60, rng=1)
        high = sample.pool.metrics["m"] > 0
        assert sample.design.inclusion[high].mean() > 1.5 * sample.design.inclusion[~high].mean()
        with pytest.raises(DataError, match=r"this pool is on disk\. Use docs-balanced\+ridge"):
            history.inform(pool)


def test_the_recommended_strategy_is_that_of_memory(files):
    with StoredPool(files, **COLUMNS) as pool:
        assert registry.recommended(pool) == "docs-uneven+ridge"
    with StoredPool(files, id="id", metrics=["m"]) as pool:
        assert registry.recommended(pool) == registry.RECOMMENDED
        assert Balanced().draw(pool, 30, rng=1).n == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": -0.5}, r"expected spread 'p' must be at least 0 .*the least is -0\.5"),
        ({"p": 0.0}, "expected spread 'p' must be at least 0 for every segment and above 0"),
        ({"p": np.nan}, "expected spread 'p' has 240 missing or infinite values of 240"),
        ({"p": "much"}, "expected spread 'p' must hold numbers; the column is of type VARCHAR"),
    ],
)
def test_spreads_that_do_not_fit(tmp_path, change, message):
    frame().assign(**change).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=message):
        len(StoredPool(tmp_path, **COLUMNS | {"spread": "p"}))


def test_probabilities_that_are_none(tmp_path):
    frame().assign(p=np.linspace(-1, 3, 240)).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"between 0 and 1; those of 'p' range from -1 to 3"):
        len(StoredPool(tmp_path, **COLUMNS))
    with pytest.raises(UnknownNameError, match="unknown column 'q'"):
        StoredPool(tmp_path, **COLUMNS | {"spread": "q:probability"})


def test_what_is_refused_says_what_to_take(files):
    with StoredPool(files, **COLUMNS, texts=["doc"]) as pool:
        with pytest.raises(DesignError, match=r"this pool is on disk\. Use docs-balanced"):
            Incremental().draw(pool, 20)
        with pytest.raises(
            DesignError, match=r"name the column of your strata as the document column"
        ):
            Balanced(by=ByColumn("doc")).draw(pool, 20)
    none = StoredPool(files, id="id", document="doc")
    with none, pytest.raises(DesignError, match=r"needs automatic metrics, .* or use docs-sys"):
        Balanced().draw(none, 20)
