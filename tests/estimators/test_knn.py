"""Nearest neighbours: the batch against a slow and obvious twin, ties, and working memory."""

import tracemalloc

import numpy as np
import pytest

from fewgold import FewgoldError, Pool
from fewgold.common import neighbours
from fewgold.common.neighbours import Nearest
from fewgold.estimators import KNN, Learned
from fewgold.samplers import Clusters, SimpleRandom, Stratified, Systematic
from fewgold.testing import toy_pool
from reference import knn_predictions

POOL, GOLD = toy_pool(60, 12, seed=2)
SAMPLERS = {
    "simple": SimpleRandom(),
    "unequal weights": Stratified(allocation="optimal"),
    "strata": Stratified(rounding="printed"),
    "systematic": Systematic(),
    "whole documents": Clusters(),
    "chunks": Clusters(3),
}


def rated(sampler, n, pool=POOL, gold=GOLD, **options):
    sample = sampler.draw(pool, n, **{"rng": 0, **options})
    return sample.rate(gold[sample.indices])


def by_twin(control, ratings):
    """The twin's answer for every draw, in the shape of `Predictions`."""
    sample, n = ratings.sample, ratings.n
    labels = None if control.folds is None else sample.folds(max(min(control.folds, n // 2), 1))
    out = np.empty((4, *ratings.scores.shape))
    for draw in np.ndindex(ratings.scores.shape[:-1]):
        out[(slice(None), *draw)] = knn_predictions(
            ratings.scores[draw].tolist(),
            sample.indices[draw].tolist(),
            sample.pool.standardised().T.tolist(),
            None if labels is None else np.broadcast_to(labels, sample.indices.shape)[draw],
            control.k,
            np.broadcast_to(sample.design.weights, sample.indices.shape)[draw],
        )
    return out


def same(predictions, expected):
    for mine, other in zip(predictions, expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("design", SAMPLERS)
@pytest.mark.parametrize("folds", [5, 3, None])
def test_every_design(design, folds):
    control = KNN(k=4, folds=folds)
    ratings = rated(SAMPLERS[design], 24, draws=3)
    same(control.predict(ratings), by_twin(control, ratings))


def test_the_designs_are_what_they_are_called():
    unequal = rated(SAMPLERS["unequal weights"], 24, draws=3).sample.design.weights
    assert np.ptp(unequal, axis=-1).min() > 0.001
    units = rated(SAMPLERS["whole documents"], 24, draws=3).sample.folds(5)
    assert len({tuple(np.bincount(own, minlength=5)) for own in units}) > 1  # uneven folds


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 26, 60])
def test_few_ratings_and_all(n):
    for folds in (5, None):
        control = KNN(k=25, folds=folds)
        ratings = rated(SimpleRandom(), n, draws=2)
        same(control.predict(ratings), by_twin(control, ratings))


def test_one_document_holds_nothing_else_out():
    """A single unit is one fold: nothing is left to train on."""
    pool = Pool(POOL.ids, POOL.metrics, np.arange(60) // 20)
    some = [rated(Clusters(), 10, pool, rng=seed) for seed in range(9)]
    ratings = next(r for r in some if not r.sample.design.units.any())
    for part in KNN(k=2).predict(ratings):
        assert not part.any()


def coarse_pool():
    """Metrics of 1 and -1: points lie in the corners of a cube, many in each."""
    rng = np.random.default_rng(8)
    metrics = {m: rng.permutation(np.repeat([-1.0, 1.0], 25)) for m in ("own", "other", "third")}
    pool = Pool(np.arange(50), metrics)
    assert set(pool.standardised().ravel()) == {-1.0, 1.0}
    return pool, rng.gamma(1.0, 3.0, 50)


@pytest.mark.parametrize("folds", [5, None])
def test_ties_go_by_row(folds):
    pool, gold = coarse_pool()
    control = KNN(k=3, folds=folds)
    ratings = rated(SimpleRandom(), 20, pool, gold, draws=4)
    same(control.predict(ratings), by_twin(control, ratings))


@pytest.mark.parametrize("coarse", [False, True])
@pytest.mark.parametrize("design", ["simple", "whole documents"])
def test_nothing_depends_on_what_is_computed_together(design, coarse, monkeypatch):
    pool, gold = coarse_pool() if coarse else (POOL, GOLD)
    sampler = SimpleRandom() if coarse else SAMPLERS[design]
    ratings = rated(sampler, 20, pool, gold, draws=7)
    whole = np.stack(KNN(k=5).predict(ratings))
    for batch in (1, 3, 100):
        np.testing.assert_array_equal(np.stack(KNN(k=5, batch=batch).predict(ratings)), whole)
    for k in range(7):
        alone = np.stack(KNN(k=5).predict(ratings.draw(k)))
        np.testing.assert_array_equal(alone, whole[:, k])
    # Without the table of ranks, and a few segments at a time.
    monkeypatch.setattr(neighbours, "_TABLE", 0)
    monkeypatch.setattr(neighbours, "_CELLS", 50)
    monkeypatch.setattr("fewgold.estimators.knn.MOST", 20_000)
    monkeypatch.setattr("fewgold.estimators.knn.MOST", 20_000)
    np.testing.assert_array_equal(np.stack(KNN(k=5).predict(ratings)), whole)


def test_segments_with_too_few_near_enough_walk_on(monkeypatch):
    """However few neighbours are looked at first, the answer is the same."""
    ratings = rated(SimpleRandom(), 30, draws=3)
    whole = np.stack(KNN(k=5).predict(ratings))
    monkeypatch.setattr("fewgold.estimators.knn._steps", lambda n, k, share: 4)
    np.testing.assert_array_equal(np.stack(KNN(k=5).predict(ratings)), whole)


@pytest.mark.parametrize("tabled", [False, True])
def test_nearest_first(tabled):
    points = POOL.standardised()
    rows = np.array([[3, 9, 20, 41], [0, 1, 2, 59]])
    near = Nearest(points, tabled=tabled).among(rows, slice(10, 30))
    for draw, row in enumerate(rows):
        gaps = ((points[:, 10:30, None] - points[:, None, row]) ** 2).sum(0)
        np.testing.assert_array_equal(near[draw], np.argsort(gaps, axis=-1, kind="stable"))


def test_few_tables_are_kept():
    for seed in range(6):
        Nearest(np.random.default_rng(seed).normal(size=(2, 30)), tabled=True)
    assert neighbours._ranks.cache_info().currsize <= 4
    before = neighbours._ranks.cache_info().hits
    Nearest(np.random.default_rng(5).normal(size=(2, 30)), tabled=True)
    assert neighbours._ranks.cache_info().hits == before + 1


def test_working_memory_is_bounded():
    rng = np.random.default_rng(0)
    pool = Pool(np.arange(6000), {"own": rng.normal(size=6000)})
    ratings = rated(SimpleRandom(), 2000, pool, rng.normal(size=6000), draws=4)
    tracemalloc.start()
    KNN(batch=4).predict(ratings)  # all at once would be 400 MB of keys alone
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


def test_batch_is_a_count():
    with pytest.raises(FewgoldError, match="batch must be a whole number"):
        KNN(batch=0)
    assert Learned(KNN(batch=2)).name == "cv-knn"


@pytest.mark.parametrize("seed", range(3))
def test_way_from_near_to_far_finds_what_sorting_finds(seed):
    """Where many are rated: also with ties, and where rated segments are far and few."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(2, 400)).round(1)
    rows = np.sort(rng.permuted(np.tile(np.arange(400), (4, 1)), axis=-1)[:, :300], axis=-1)
    rows[3] = np.arange(100, 400)  # none of the first hundred
    points[:, :100] = 50 + rng.normal(size=(2, 100))  # which lie together, far from the rest
    nearest = Nearest(points, tabled=True)
    part = slice(30, 390)
    assert 2 * nearest._enough(300, 20) <= 300, "the other way would be taken"
    np.testing.assert_array_equal(
        nearest.among(rows, part, 20), nearest._sorted(rows, part)[..., :20]
    )


def test_many_rated_against_the_twin():
    pool, gold = toy_pool(220, 20, seed=4)
    control = KNN(k=2, folds=5)
    ratings = rated(SimpleRandom(), 180, pool, gold, draws=2)
    nearest = Nearest(pool.standardised(), tabled=True)
    assert 2 * nearest._enough(180, 8) <= 180
    same(control.predict(ratings), by_twin(control, ratings))
