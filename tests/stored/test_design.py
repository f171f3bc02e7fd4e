"""Who is drawn from a pool on disk, and how often: against plain Python and against memory."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest

from fewgold import Pool
from fewgold.samplers import (
    ByColumn,
    ByMetric,
    Clusters,
    SimpleRandom,
    Stratified,
    Systematic,
)
from fewgold.stored import DuckDB, StoredPool, groups
from reference.stored import PlainPool
from sweeps import quick

SEEDS = 300
# Chance of a false alarm of a test, all its comparisons together. Seeds are fixed.
ALARM = 1e-3


def make_pool(seed=3):
    """Documents of 6, 4, 2, 1 and 1 segments, in no order."""
    rng = np.random.default_rng(seed)
    documents = rng.permutation(list("aaaaaabbbbccde"))
    size = documents.size
    return Pool(
        ids=np.array([f"s{k}" for k in range(size)]),
        documents=documents,
        metrics={"m": rng.normal(size=size), "comet": rng.gamma(1.0, size=size)},
        cost=rng.uniform(1, 9, size),
        system=np.where(np.arange(size) < 9, "x", "y"),
        texts={"topic": np.array(list("ppppqqqqqqrrrr"))},
    )


POOL = make_pool()
PLANS = {
    "random": (SimpleRandom(), 5),
    "docs-sys": (Systematic(), 5),
    "docs-sys-many": (Systematic(), 9),
    "docs-sys-metric": (Systematic(inside="m"), 6),
    "metrics-sys": (Systematic(ByMetric(bins=4)), 5),
    "topic-sys": (Systematic(ByColumn("topic")), 5),
    "docs-prop-line": (Stratified(), 3),
    "docs-prop-mixed": (Stratified(), 6),
    "docs-prop-full": (Stratified(), 13),
    "docs-opt": (Stratified(allocation="optimal"), 6),
    "docs-opt-cost": (Stratified(allocation="optimal-cost"), 6),
    "docs-printed": (Stratified(rounding="printed"), 4),
    "metrics-prop": (Stratified(ByMetric("m", bins=3)), 7),
    "metrics-prop-line": (Stratified(ByMetric(bins=7)), 5),
    "metrics-opt": (Stratified(ByMetric(bins=3), allocation="optimal"), 7),
    "column": (Stratified(ByColumn("topic")), 7),
    "system": (Stratified(ByColumn("system"), allocation="optimal-cost"), 6),
    "docs-whole": (Clusters(), 5),
    "docs-chunks": (Clusters(2), 5),
}
by_plan = pytest.mark.parametrize(("sampler", "n"), PLANS.values(), ids=PLANS)
#: One plan of each way of drawing, for the tests of many draws.
OFTEN = (
    "random", "docs-sys", "docs-sys-metric", "docs-prop-mixed", "docs-opt-cost", "docs-printed",
    "metrics-prop-line", "docs-whole", "docs-chunks",
)  # fmt: skip
by_plan_often = pytest.mark.parametrize(("sampler", "n"), quick(PLANS, OFTEN))


@pytest.fixture(scope="module")
def stored():
    with StoredPool.of(POOL, engine=DuckDB(threads=1)) as pool:
        yield pool


@pytest.fixture(scope="module")
def plain():
    made = PlainPool(POOL)
    yield made
    made.close()


@pytest.fixture(scope="module")
def drawn(plain):
    """Which segments each seed draws, (seeds, N), and the designs."""
    known = {}

    def draw(sampler, n, pool=plain):
        key = (sampler, n, id(pool))
        if key not in known:
            samples = [sampler.draw(pool, n, rng=seed) for seed in range(SEEDS)]
            hit = np.zeros((SEEDS, len(POOL)), dtype=bool)
            for k, sample in enumerate(samples):
                hit[k, [pool._scan.where[i] for i in sample.ids.tolist()]] = True
            known[key] = hit, samples
        return known[key]

    return draw


def assert_rates(hits, chances, trials=SEEDS):
    """Counts of events against their chances, exact binomial tests."""
    for count, chance in zip(hits, chances, strict=True):
        if chance >= 1 - 1e-12:
            assert count == trials
        else:
            assert binomtest(int(count), trials, chance).pvalue > ALARM / len(chances)


@by_plan
def test_sql_draws_what_plain_python_draws(stored, plain, sampler, n):
    for seed in (0, 1):
        mine, theirs = sampler.draw(stored, n, rng=seed), sampler.draw(plain, n, rng=seed)
        assert mine.ids.tolist() == theirs.ids.tolist()
        assert_same_design(mine.design, theirs.design)


def assert_same_design(one, other):
    assert (one.kind, one.size, one.unbiased) == (other.kind, other.size, other.unbiased)
    for name in ("weights", "inclusion"):
        np.testing.assert_allclose(
            np.sort(getattr(one, name)), np.sort(getattr(other, name)), rtol=1e-12
        )
    for name in ("groups", "units", "strata"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None) == (theirs is None)
        if mine is not None and name != "units":  # units are the documents that chance brought
            members = [sorted(np.unique(x, return_counts=True)[1]) for x in (mine, theirs)]
            assert members[0] == members[1]


@by_plan
def test_design_is_that_of_a_pool_in_memory(plain, sampler, n):
    for seed in range(3):
        assert_same_design(
            sampler.draw(plain, n, rng=seed).design, sampler.draw(POOL, n, rng=seed).design
        )


@by_plan_often
def test_every_segment_has_the_chance_that_the_design_tells(drawn, sampler, n):
    hit, samples = drawn(sampler, n)
    assert (hit.sum(1) == n).all()
    told = np.zeros(len(POOL))
    for sample in samples:
        rows = [int(i[1:]) for i in sample.ids.tolist()]
        assert ((told[rows] == 0) | np.isclose(told[rows], sample.design.inclusion)).all()
        told[rows] = sample.design.inclusion
    if sampler.name.endswith("printed"):
        assert told.sum() == pytest.approx(n) and (told == 0).sum() == 2  # d and e get none
    else:
        assert told.sum() == pytest.approx(n) and (told > 0).all()
    assert_rates(hit.sum(0)[told > 0], told[told > 0])


@by_plan_often
def test_pairs_are_drawn_as_often_as_in_memory(drawn, sampler, n):
    hit, _ = drawn(sampler, n)
    many = 20_000
    rows = sampler.draw(POOL, n, draws=many, rng=1).indices
    memory = np.zeros((many, len(POOL)), dtype=bool)
    np.put_along_axis(memory, rows, True, axis=1)
    mine, theirs = (x.T.astype(float) @ x for x in (hit, memory))
    pairs = list(combinations(range(len(POOL)), 2))
    for i, j in pairs:
        pooled = (mine[i, j] + theirs[i, j]) / (SEEDS + many)
        if 0 < pooled < 1:
            p = binomtest(int(mine[i, j]), SEEDS, pooled).pvalue
            assert p > ALARM / len(pairs)


@pytest.mark.parametrize("name", ["random", "column", "metrics-opt"])
def test_pairs_by_the_formula(drawn, name):
    """Simple random sampling in each stratum, and strata independent of each other."""
    sampler, n = PLANS[name]
    hit, samples = drawn(sampler, n)
    stratum = np.zeros(len(POOL), dtype=int)
    for sample in samples:
        if sample.design.strata is not None:
            stratum[[int(i[1:]) for i in sample.ids.tolist()]] = sample.design.strata
    sizes = np.bincount(stratum)
    counts = np.array([hit[0][stratum == h].sum() for h in range(sizes.size)])
    for h in range(sizes.size):
        assert (hit[:, stratum == h].sum(1) == counts[h]).all()  # exactly n_h, every time
    pairs, chances = list(combinations(range(len(POOL)), 2)), []
    for i, j in pairs:
        h, g = stratum[i], stratum[j]
        second = (counts[h] - 1) / (sizes[h] - 1) if h == g else counts[g] / sizes[g]
        chances.append(counts[h] / sizes[h] * second)
    assert_rates([(hit[:, i] & hit[:, j]).sum() for i, j in pairs], chances)


@by_plan_often
def test_the_weighted_mean_is_unbiased(drawn, sampler, n):
    _, samples = drawn(sampler, n)
    if sampler.name.endswith("printed"):
        assert not samples[0].design.unbiased
        return
    y = np.random.default_rng(9).gamma(0.5, 4.0, len(POOL))
    value = np.array([s.design.weights @ y[[int(i[1:]) for i in s.ids.tolist()]] for s in samples])
    assert abs(value.mean() - y.mean()) < 4 * value.std(ddof=1) / np.sqrt(SEEDS)


# Groups of very many segments ------------------------------------------------------------------

ENDS = {
    "different": [f"s{k}" for k in range(14)],
    "equal": [f"{k}-same" for k in range(14)],  # no help: falls back to the md5
}
GIANT = 5


@pytest.mark.sweep
@pytest.mark.parametrize("ids", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("name", ["random", "docs-sys", "docs-prop-mixed", "column"])
def test_giants_are_cut_as_in_plain_python(monkeypatch, ids, name):
    monkeypatch.setattr(groups, "_GIANT", GIANT)
    sampler, n = PLANS[name]
    pool = with_ids(ids)
    with StoredPool.of(pool) as stored, PlainPool(pool, giant=GIANT) as plain:
        for seed in range(3):
            mine, theirs = sampler.draw(stored, n, rng=seed), sampler.draw(plain, n, rng=seed)
            assert mine.ids.tolist() == theirs.ids.tolist()


@pytest.mark.sweep
@pytest.mark.parametrize("ids", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("name", ["random", "docs-prop-mixed"])
def test_giants_are_drawn_from_evenly(drawn, ids, name):
    sampler, n = PLANS[name]
    with PlainPool(with_ids(ids), giant=GIANT) as plain:
        hit, samples = drawn(sampler, n, plain)
    told = np.zeros(len(POOL))
    for sample in samples:
        told[[plain._scan.where[i] for i in sample.ids.tolist()]] = sample.design.inclusion
    assert_rates(hit.sum(0), told)
    if name == "random":
        pairs = list(combinations(range(len(POOL)), 2))
        both = n * (n - 1) / 14 / 13
        assert_rates([(hit[:, i] & hit[:, j]).sum() for i, j in pairs], [both] * len(pairs))


def with_ids(ids):
    return Pool(ids=np.array(ids), documents=POOL.documents, metrics=POOL.metrics, texts=POOL.texts)
