"""Odd pools: ties, one document, a document a segment, one segment, huge and tiny numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fewgold import Pool, registry

MODEST = settings(
    max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
SCALES = (1.0, 1e150, 1e-150)
NAMES = ("comet", "ter", "own")
ESTIMATORS = [
    e
    for e in registry.estimator_names()
    if e not in ("cv-forest", "alpha") and not e.startswith("cv-sklearn:")
] + ["cv-comet"]
UNPRINTED = [e for e in ESTIMATORS if not e.endswith("printed")]
UNPRINTED_SAMPLERS = [s for s in registry.sampler_names() if not s.endswith("printed")]


@st.composite
def pools(draw):
    """A pool with one to three metrics and documents, and as many scores."""
    size = draw(st.integers(1, 16) | st.sampled_from([30, 45]))
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    documents = draw(
        st.sampled_from(
            [
                np.zeros(size, dtype=int),  # one document
                np.arange(size),  # a document a segment
                np.array([f"d{j}" for j in np.sort(rng.integers(0, max(size // 3, 1), size))]),
                rng.integers(0, 4, size),  # documents in no order
                np.minimum(np.arange(size), 1),  # one segment alone, the rest together
            ]
        )
    )
    ids = np.arange(size) if draw(st.booleans()) else np.array([f"s{i}" for i in range(size)])
    metrics = {}
    for name in NAMES[: draw(st.integers(1, 3))]:
        kind = draw(st.sampled_from(["normal", "ties", "copy", "binary"]))
        values = {
            "normal": rng.normal(size=size),
            "ties": rng.integers(0, 3, size).astype(float),
            "binary": (np.arange(size) % 2).astype(float),
            "copy": next(iter(metrics.values()), rng.normal(size=size)),
        }[kind]
        if size > 1 and np.ptp(values) == 0:
            values = values + (np.arange(size) == 0)
        metrics[name] = values * (1.0 if kind == "copy" else draw(st.sampled_from(SCALES)))
    scores = draw(st.sampled_from(["normal", "skewed", "ties"]))
    gold = {
        "normal": rng.normal(5, 2, size),
        "skewed": np.round(rng.gamma(0.3, 8.0, size), 1),
        "ties": rng.integers(0, 2, size).astype(float),
    }[scores]
    pool = Pool(ids=ids, documents=documents, metrics=metrics)
    return pool, gold, draw(st.integers(1, size))


def hopeless(design):
    """Where the ratings cannot show a spread at all."""
    return (design.df <= 0) | design._lonely


# Samplers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.sampler_names())
@MODEST
@given(case=pools(), seed=st.integers(0, 100))
def test_samplers_keep_their_promises(name, case, seed):
    pool, _, n = case
    sampler = registry.sampler(name)
    sample = sampler.draw(pool, n, draws=3, rng=seed)
    design = sample.design
    assert sample.indices.shape == (3, n)
    assert sample.indices.min() >= 0
    assert sample.indices.max() < len(pool)
    for rows in sample.indices:
        assert np.unique(rows).size == n
    np.testing.assert_allclose(design.weights.sum(-1), 1.0, rtol=1e-12)
    assert (design.weights > 0).all()
    assert (design.inclusion > 0).all()
    assert (design.inclusion <= 1).all()
    assert design.groups.min() >= 0
    if n == len(pool):
        np.testing.assert_allclose(design.inclusion, 1.0, rtol=1e-12)
        np.testing.assert_allclose(design.weights, 1 / n, rtol=1e-12)
    again = sampler.draw(pool, n, draws=3, rng=seed)
    np.testing.assert_array_equal(sample.indices, again.indices)
    if design.unbiased and design.kind != "adaptive":
        # Horvitz and Thompson: a segment's weight is one over N times its chance. Where chances
        # differ, weights are in proportion to that and sum to 1 (Hájek).
        chances = design.weights * design.inclusion * len(pool)
        whole = chances.mean(-1, keepdims=True) if "uneven" in name else 1.0
        np.testing.assert_allclose(chances, np.broadcast_to(whole, chances.shape), rtol=1e-9)


@pytest.mark.parametrize("name", registry.sampler_names())
@MODEST
@given(case=pools(), seed=st.integers(0, 100))
def test_top_ups_keep_their_promises(name, case, seed):
    pool, gold, n = case
    if n == len(pool):
        return
    sampler = registry.sampler(name)
    first = sampler.draw(pool, n, rng=seed)
    given_ratings = first.rate(gold[first.indices])
    more = 1 + seed % (len(pool) - n)
    wave = sampler.draw(pool, more, given=given_ratings, rng=seed)
    ratings = wave.rate(gold[wave.indices])
    assert ratings.n == n + more
    assert np.unique(ratings.sample.indices).size == n + more
    weights = ratings.sample.design.weights
    assert weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert (weights > 0).all()
    made = registry.estimator("mean").estimate(ratings)
    assert np.isfinite(made.value)
    assert not np.isnan(made.se)
    if n + more == len(pool):
        assert made.value == pytest.approx(gold.mean(), rel=1e-10, abs=1e-12)
        assert made.se == pytest.approx(0.0, abs=1e-9)


# Estimators ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ESTIMATORS)
@MODEST
@given(
    case=pools(),
    sampler=st.sampled_from(registry.sampler_names()),
    scale=st.sampled_from(SCALES),
)
def test_estimators_give_numbers(name, case, sampler, scale):
    pool, gold, n = case
    gold = gold * scale
    sample = registry.sampler(sampler).draw(pool, n, rng=1)
    made = registry.estimator(name, pool).estimate(sample.rate(gold[sample.indices]))
    assert np.isfinite(made.value)
    assert not np.isnan(made.se)
    assert made.se >= 0
    assert np.isfinite(made.se) or hopeless(sample.design)
    low, high = made.interval(0.9)
    assert not np.isnan(low)
    assert low <= made.value <= high
    if n == len(pool):
        top = np.abs(gold).max()
        assert made.value == pytest.approx(gold.mean(), rel=1e-10, abs=1e-12 * top)
        assert made.se == 0


@pytest.mark.parametrize("name", UNPRINTED)
@MODEST
@given(
    case=pools(),
    sampler=st.sampled_from(registry.sampler_names()),
    shift=st.sampled_from([0.0, 100.0, -7.0]),
    slope=st.sampled_from([1.0, -1.0, 2.5, -1000.0, 1e150, 1e-150]),
)
def test_affine_equivariance(name, case, sampler, shift, slope):
    """Scores a + b y give a + b value and |b| se: no estimate depends on the units."""
    pool, gold, n = case
    shift = shift * slope
    sample = registry.sampler(sampler).draw(pool, n, rng=1)
    estimator = registry.estimator(name, pool)
    y = gold[sample.indices]
    one = estimator.estimate(sample.rate(y))
    two = estimator.estimate(sample.rate(shift + slope * y))
    size = np.abs(slope) * (np.abs(y).max() + 100.0)
    assert two.value == pytest.approx(shift + slope * one.value, rel=1e-6, abs=1e-7 * size)
    assert two.se == pytest.approx(abs(slope) * one.se, rel=1e-4, abs=1e-7 * size)


@pytest.mark.parametrize("name", UNPRINTED)
@MODEST
@given(
    case=pools(),
    sampler=st.sampled_from(registry.sampler_names()),
    constant=st.sampled_from([0.0, 1.0, -3.7, 95.0, 1e150, 1e-150, 0.1]),
)
def test_constant_scores_give_that_constant(name, case, sampler, constant):
    pool, _, n = case
    sample = registry.sampler(sampler).draw(pool, n, rng=1)
    made = registry.estimator(name, pool).estimate(sample.rate(np.full(n, constant)))
    assert made.value == pytest.approx(constant, rel=1e-10)
    if np.isinf(made.se):
        assert hopeless(sample.design)
        assert n < len(pool)
    else:
        assert made.se <= 1e-9 * abs(constant)


@pytest.mark.parametrize("name", UNPRINTED_SAMPLERS)
@MODEST
@given(case=pools())
def test_metrics_on_any_scale_give_the_same_estimate(name, case):
    """Metrics are standardised: their units say nothing. The sample is drawn once."""
    pool, gold, n = case
    sample = registry.sampler(name).draw(pool, n, rng=2)
    other = Pool(
        ids=pool.ids,
        documents=pool.documents,
        metrics={k: 8.0 * v for k, v in pool.metrics.items()},
        orientation=pool.orientation,
    )
    moved = registry.sampler(name).draw(other, n, rng=2)
    np.testing.assert_array_equal(sample.indices, moved.indices)
    for estimator in ("cv-multi", "cv-mean", "cv-knn", "ridge"):
        a = registry.estimator(estimator, pool).estimate(sample.rate(gold[sample.indices]))
        b = registry.estimator(estimator, other).estimate(moved.rate(gold[moved.indices]))
        assert a.value == pytest.approx(float(b.value), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("scale", [1e150, 1e-150])
@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("sampler", registry.sampler_names())
def test_ridge_on_huge_and_tiny_scores(sampler, n, scale):
    """Leave-one-out errors of few ratings are divided by next to nothing and then squared."""
    rng = np.random.default_rng(n)
    documents = np.repeat([0, 1, 2, 3], [4, 3, 2, 1])
    pool = Pool(ids=np.arange(10), documents=documents, metrics={"comet": rng.normal(size=10)})
    sample = registry.sampler(sampler).draw(pool, n, draws=5, rng=n)
    gold = rng.normal(5, 2, 10)
    ridge = registry.estimator("ridge", pool)
    one = ridge.estimate(sample.rate(gold[sample.indices]))
    two = ridge.estimate(sample.rate(gold[sample.indices] * scale))
    np.testing.assert_allclose(two.value, one.value * scale, rtol=1e-6)
