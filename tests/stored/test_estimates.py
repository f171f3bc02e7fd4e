"""Estimates from a pool on disk are those of the same segments in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Linear

from fewgold import Pool
from fewgold.bayes import BinaryPosterior
from fewgold.bounds import Betting
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Mean, Ridge
from fewgold.sample import Ratings, Sample
from fewgold.samplers import ByMetric, Clusters, Cost, SimpleRandom, Stratified, Systematic
from fewgold.stored import DuckDB, StoredPool
from sweeps import quick

SIZE = 300
LIMITS = (0.0, 25.0)


def make_pool():
    rng = np.random.default_rng(11)
    gold = np.minimum(rng.gamma(0.6, 5.0, SIZE), 25.0)
    metrics = {
        "comet": -gold + rng.normal(0, 4, SIZE),
        "ter": gold + rng.normal(0, 6, SIZE),
        "odd": -gold + rng.normal(0, 9, SIZE),
        "judge": ((gold < 2) ^ (rng.random(SIZE) < 0.15)).astype(float),
        "guard": ((gold < 2) ^ (rng.random(SIZE) < 0.3)).astype(float),
    }
    documents = np.repeat(np.arange(60), rng.multinomial(SIZE, np.full(60, 1 / 60)))
    ids = np.array([f"s{k}" for k in range(SIZE)])
    return Pool(ids, metrics, documents, cost=rng.uniform(1, 5, SIZE)), gold


POOL, GOLD = make_pool()
BY_ID = dict(zip(POOL.ids.tolist(), GOLD.tolist(), strict=True))
SAMPLERS = [
    SimpleRandom(), Systematic(), Stratified(), Stratified(ByMetric(), allocation="optimal"),
    Stratified(rounding="printed"), Clusters(3),
]  # fmt: skip
ESTIMATORS = {
    "mean": Mean(),
    "cv-comet": ControlVariates(("comet",)),
    "cv-two": ControlVariates(("ter", "odd")),
    "cv-multi": ControlVariates(),
    "cv-mean": ControlVariates("mean"),
    "cv-fixed": ControlVariates(slopes={"comet": -1.5, "odd": -0.2}),
    "cv-printed": ControlVariates(form="printed"),
    "cv-mean-printed": ControlVariates("mean", form="printed"),
    "ridge": Ridge(),
    "ridge-free": Ridge(signs=False),
    "knn": Learned(),
    "knn-printed": Learned(KNN(folds=None), slope="printed"),
    "learned": Learned(CrossFit(Linear())),
}


@pytest.fixture(scope="module")
def stored():
    with StoredPool.of(POOL, engine=DuckDB(threads=1)) as pool:
        yield pool


def in_memory(ratings):
    """The same ratings of the same segments, all of the pool in memory."""
    row = {i: k for k, i in enumerate(POOL.ids.tolist())}
    rows = np.array([row[i] for i in ratings.sample.ids.tolist()])
    sample = Sample(POOL, rows, ratings.sample.design, info=ratings.sample.info)
    return Ratings(sample, ratings.scores, ratings.limits)


def assert_equal(mine, theirs, tol=1e-9):
    np.testing.assert_allclose(mine.value, theirs.value, rtol=0, atol=tol)
    np.testing.assert_allclose(mine.se, theirs.se, rtol=0, atol=tol)
    np.testing.assert_allclose(mine.interval(0.9), theirs.interval(0.9), rtol=0, atol=10 * tol)


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: s.name)
def test_every_estimator(stored, sampler):
    ratings = sampler.draw(stored, 60, rng=5).rate(BY_ID, limits=LIMITS)
    for estimator in ESTIMATORS.values():
        assert_equal(estimator.estimate(ratings), estimator.estimate(in_memory(ratings)))


@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda s: s.name)
def test_two_top_ups(stored, sampler):
    ratings = sampler.draw(stored, 30, rng=5).rate(BY_ID, limits=LIMITS)
    for n in (20, 25):
        ratings = sampler.draw(stored, n, given=ratings, rng=n).rate(BY_ID)
    assert ratings.n == 75 and len(set(ratings.sample.ids.tolist())) == 75
    assert ratings.scores.tolist() == [BY_ID[i] for i in ratings.sample.ids.tolist()]
    if sampler.name == "random":
        assert ratings.sample.design.kind == "simple"  # three random samples make one
    for name in ("mean", "ridge", "cv-multi", "cv-mean"):
        estimator = ESTIMATORS[name]
        assert_equal(estimator.estimate(ratings), estimator.estimate(in_memory(ratings)))


def test_a_top_up_has_the_design_of_one_in_memory(stored):
    for sampler in SAMPLERS:
        first = sampler.draw(stored, 30, rng=5).rate(BY_ID)
        mine = sampler.draw(stored, 20, given=first, rng=6)
        theirs = sampler.draw(POOL, 20, given=in_memory(first), rng=6)
        assert (mine.design.kind, mine.design.size) == (theirs.design.kind, theirs.design.size)
        assert not set(mine.ids.tolist()) & set(first.sample.ids.tolist())


def test_topping_up_all_that_is_left(stored):
    ratings = SimpleRandom().draw(stored, 290, rng=5).rate(BY_ID)
    ratings = Systematic().draw(stored, 10, given=ratings, rng=6).rate(BY_ID)
    assert set(ratings.sample.ids.tolist()) == set(POOL.ids.tolist())


@pytest.mark.parametrize(
    "judge",
    [
        BinaryPosterior(),
        BinaryPosterior("judge"),
        BinaryPosterior(("judge", "guard")),
        BinaryPosterior("comet", threshold=">= -3"),
        BinaryPosterior("ter", threshold=4.0),
        BinaryPosterior("comet", threshold="equal"),
        BinaryPosterior("comet", threshold="information"),
        BinaryPosterior("comet", threshold="bins"),
        BinaryPosterior(()),
    ],
    ids=lambda j: j.name,
)
def test_binary_posteriors(stored, judge):
    ratings = SimpleRandom().draw(stored, 80, rng=5).rate(BY_ID, limits=LIMITS).cut("<= 2")
    assert_equal(judge.estimate(ratings), judge.estimate(in_memory(ratings)), tol=1e-8)


@pytest.mark.parametrize("metric", [None, "comet", "mean"])
def test_betting_with_a_metric(stored, metric):
    ratings = SimpleRandom().draw(stored, 40, rng=5).rate(BY_ID, limits=LIMITS)
    mine, theirs = (
        Mean().estimate(r).interval(0.9, Betting(metric=metric))
        for r in (ratings, in_memory(ratings))
    )
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


def test_a_metric_everywhere(stored):
    part = SimpleRandom().draw(stored, 40, rng=5).pool
    for metric in ("ter", "mean"):
        np.testing.assert_allclose(
            np.sort(part._metric_values(metric)), np.sort(POOL._metric_values(metric)), atol=1e-9
        )
        own = POOL._metric_values(metric)[[int(i[1:]) for i in part.ids.tolist()]]
        np.testing.assert_allclose(part._metric_values(metric)[:40], own, atol=1e-9)


def test_cost_budgets(stored):
    """The same number of segments as in memory, where costs are known by a formula there too."""
    for sampler in (SimpleRandom(), Systematic(), Stratified()):
        for budget in (Cost(150), Cost(150, risk=0.05)):
            assert sampler.count(stored, budget) == sampler.count(POOL, budget)
    for sampler in (
        Clusters(),
        Stratified(allocation="optimal-cost"),
        Stratified(ByMetric(), "optimal"),
    ):
        for budget in (Cost(150), Cost(150, risk=0.05)):  # by 200 trials in memory
            mine, theirs = sampler.count(stored, budget), sampler.count(POOL, budget)
            assert abs(mine - theirs) <= 0.1 * theirs


def test_moments(stored):
    x = POOL.matrix()
    np.testing.assert_allclose(stored._scan.moments.mean[:-1], x.mean(1), atol=1e-12)
    np.testing.assert_allclose(stored._scan.moments.sd[:-1], x.std(1), atol=1e-12)
    np.testing.assert_allclose(
        stored._scan.correlation(list(POOL.metrics)), POOL._gram(), atol=1e-12
    )
    assert stored.n_documents == POOL.n_documents
    assert stored.binary_metrics == POOL.binary_metrics == ("judge", "guard")
    assert stored._scan.orientation == POOL.orientation


ODD = {
    "far from 0": lambda x: 2.0**30 + x / 1024,
    "enormous": lambda x: x * 1e300,
    "minute": lambda x: x * 1e-200,
    "one outlier": lambda x: np.where(x == x.max(), 1e300, x),
    "ties": lambda x: np.round(x / 10),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_numbers(name):
    """No overflow, and no digits lost: another unit or origin changes nothing."""
    x = np.round(POOL.metrics["comet"][:200] * 4096) / 4096
    pool = Pool(POOL.ids[:200], {"comet": ODD[name](x), "ter": POOL.metrics["ter"][:200]})
    truth = pool.standardised().copy()
    if name in ("far from 0", "enormous", "minute"):
        truth[0] = (x - x.mean()) / x.std()
    with StoredPool.of(pool) as stored:
        for sampler in (SimpleRandom(), Stratified(ByMetric("comet", bins=4))):
            sample = sampler.draw(stored, 40, rng=1)
            rows = np.array([int(i[1:]) for i in sample.ids.tolist()])
            np.testing.assert_allclose(
                sample.pool.standardised(), truth[:, rows], rtol=0, atol=1e-9
            )


def test_constant_in_what_is_left():
    """One of the metrics differs in a single segment, which is rated first."""
    pool = Pool(np.arange(6), {"comet": np.eye(6)[0], "odd": np.arange(6.0)}, np.arange(6) // 2)
    with StoredPool.of(pool) as stored:
        ratings = Sample(stored._fetch([0, 3]), np.arange(2), SimpleRandom().draw(pool, 2).design)
        ratings = ratings.rate([1.0, 2.0])
        for sampler in (Stratified(ByMetric(bins=2)), Stratified(allocation="optimal")):
            wave = sampler.draw(stored, 4, given=ratings, rng=1)
            assert sorted(wave.ids.tolist()) == [1, 2, 4, 5]


@pytest.mark.parametrize("size", quick([1, 2, 5], [1, 2]))
def test_small_pools(size):
    pool = Pool(np.arange(size), {"m": np.arange(float(size))}, np.zeros(size, dtype=int))
    with StoredPool.of(pool, engine=DuckDB(threads=1)) as stored:
        for sampler in [*SAMPLERS, Systematic(inside="m"), Clusters()]:
            for n in {1, size}:
                assert len(set(sampler.draw(stored, n, rng=1).ids.tolist())) == n
            made = Mean().estimate(sampler.draw(stored, size, rng=1).rate(np.full(size, 7.0)))
            assert made.value == pytest.approx(7.0)
