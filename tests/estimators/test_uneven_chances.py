"""Estimators under a design where some segments are likelier to be drawn than others."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from fewgold import Pool, Sample
from fewgold.bounds import Student
from fewgold.design import Design
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Mean, Ridge
from fewgold.samplers import Balanced, Chances, SimpleRandom
from reference.estimation import ridge_beside_weights

SIZE, N, DRAWS = 400, 80, 400


def uneven_ratings(p=3, draws=DRAWS, seed=1):
    """Samples whose chances follow the quality, and with few metrics what no metric knows.

    Many slopes have a bias of the order of p/n where chances follow the residuals.
    """
    rng = np.random.default_rng(seed)
    quality, hidden = rng.normal(size=(2, SIZE))
    metrics = {f"m{k}": quality + 0.5 * (k + 1) ** 0.5 * rng.normal(size=SIZE) for k in range(p)}
    gold = 5 + quality + 0.7 * hidden + 0.5 * rng.normal(size=SIZE)
    pool = Pool(np.arange(SIZE), metrics, orientation=dict.fromkeys(metrics, 1))
    chance = np.clip(np.exp(0.35 * (quality + (hidden if p < 10 else 0))), 0.3, 3.0)
    chance *= N / chance.sum()
    rows = np.stack([systematic(chance, rng) for _ in range(draws)])
    weights = 1 / chance[rows]
    design = Design(
        kind="other",
        size=SIZE,
        weights=weights / weights.sum(-1, keepdims=True),
        inclusion=chance[rows],
        groups=np.zeros(rows.shape, dtype=np.int64),
    )
    return Sample(pool, rows, design).rate(gold[rows]), gold


def systematic(chance, rng):
    """Every segment with its own chance: steps of 1 along the sums of chances, in random order."""
    order = rng.permutation(SIZE)
    ends = np.cumsum(chance[order])
    return order[np.searchsorted(ends, rng.uniform() + np.arange(N)).clip(max=SIZE - 1)]


@pytest.mark.parametrize(
    ("estimator", "p"),
    [
        (Mean(bound=Student()), 3),
        (ControlVariates(bound=Student()), 3),
        (Ridge(bound=Student()), 3),
        (Ridge(bound=Student()), 45),
        (Learned(KNN(), bound=Student()), 3),
        (Learned(KNN(), slope="one", bound=Student()), 3),
        (Learned(CrossFit(LinearRegression()), bound=Student()), 3),
    ],
    ids=lambda v: getattr(v, "spelled", str(v)),
)
def test_uneven_chances_do_not_bias_estimates(estimator, p):
    ratings, gold = uneven_ratings(p)
    assert abs(ratings.scores.mean() - gold.mean()) > 0.2  # what weights must make up for
    made = estimator.estimate(ratings)
    error = made.value - gold.mean()
    spread = error.std()
    # Ratios and slopes have a bias of the order of 1/n, here of 1/√n standard errors.
    assert abs(error.mean()) < spread * (4 / np.sqrt(DRAWS) + 1 / np.sqrt(N))
    # The standard error of a standard deviation is 1/√(2 draws) of it.
    assert abs(np.sqrt(np.mean(made.se**2)) / spread - 1) < 4 / np.sqrt(2 * DRAWS)
    low, high = made.interval(0.95)
    covered = np.mean((low <= gold.mean()) & (gold.mean() <= high))
    assert covered > 0.93 - 4 * np.sqrt(0.93 * 0.07 / DRAWS)


def test_ridge_weighs_ratings_as_the_design_does():
    """Slopes by weighted least squares with a penalty; leave-one-out errors by own weights."""
    from fewgold.estimators.ridge import STRENGTHS

    ratings, _ = uneven_ratings(draws=4)
    made = Ridge(signs=False).estimate(ratings)
    for k in range(4):
        y, design = ratings.scores[k], ratings.sample.design
        x = ratings.sample.pool.standardised()[:, ratings.sample.indices[k]].T
        w, a = design.weights[k], design.influence[k]
        own, left = a[:, None] * (x - w @ x), a * (y - w @ y)
        fits = {}
        for strength in STRENGTHS:
            inverse = np.linalg.inv(own.T @ own + strength * (a @ a) * np.eye(3))
            hat = own @ inverse @ own.T
            error = (left - hat @ left) / (1 - np.diag(hat) - w)
            fits[strength] = error @ error, inverse @ own.T @ left
        slopes = min(fits.values(), key=lambda fit: fit[0])[1]
        np.testing.assert_allclose(made.residuals[k], y - x @ slopes, rtol=1e-9)
        assert made.value[k] == pytest.approx(w @ (y - x @ slopes), rel=1e-10)


def follow_residuals(sampler, n, draws, p, seed=1):
    """Samples whose chances follow what no metric knows, and is skewed."""
    rng = np.random.default_rng(seed)
    factors, residual = rng.normal(size=(3, SIZE)), rng.gamma(0.6, 1.5, SIZE)
    z = 0.6 * rng.normal(size=(p, 3)) @ factors + rng.normal(size=(p, SIZE))
    gold = factors[0] + 0.5 * factors[1] + 1.5 * residual
    pool = Pool(
        np.arange(SIZE),
        {f"m{k}": values for k, values in enumerate(z)},
        np.arange(SIZE) // 8,
        spread=residual + 0.05,
    )
    sample = sampler.draw(pool, n, draws=draws, rng=seed)
    return sample.rate(gold[sample.indices]), gold


MANY = [(Balanced(chances=Chances(uniform=0.25)), 3), (SimpleRandom(chances=Chances()), 20)]


@pytest.mark.parametrize(("sampler", "p"), MANY, ids=lambda v: getattr(v, "name", str(v)))
def test_ridge_has_the_weight_as_one_more_regressor(sampler, p):
    """In balanced samples, and where slopes are many."""
    from fewgold.estimators.ridge import STRENGTHS

    ratings, _ = follow_residuals(sampler, N, 3, p)
    made = Ridge(signs=False).estimate(ratings)
    assert made.beside_weights
    for k in range(3):
        y, design = ratings.scores[k], ratings.sample.design
        x = ratings.sample.pool.standardised()[:, ratings.sample.indices[k]].T
        w, a = design.weights[k], design.influence[k]
        fits = [ridge_beside_weights(y, x, w, a, s * (a @ a)) for s in STRENGTHS]
        slopes = min(fits, key=lambda fit: fit[1])[0]
        np.testing.assert_allclose(made.residuals[k], y - x @ slopes, rtol=1e-8)
        alone = Ridge(signs=False).estimate(ratings.draw(k))
        assert alone.value == pytest.approx(made.value[k], rel=1e-12)
        assert alone.se == pytest.approx(made.se[k], rel=1e-12)


@pytest.mark.parametrize(("sampler", "p"), MANY, ids=lambda v: getattr(v, "name", str(v)))
def test_control_variates_have_the_weight_as_one_more_regressor(sampler, p):
    from statsmodels.regression.linear_model import WLS

    ratings, _ = follow_residuals(sampler, N, 3, p)
    made = ControlVariates().estimate(ratings)
    design, weights = ratings.sample.design, ratings.sample.design.weights
    for k in range(3):
        y, x = ratings.scores[k], ratings.sample.pool.standardised()[:, ratings.sample.indices[k]].T
        table = np.column_stack([np.ones(N), weights[k] / weights[k].mean(), x])
        slopes = WLS(y, table, weights=design.influence[k] ** 2).fit().params[2:]
        np.testing.assert_allclose(made.residuals[k], y - x @ slopes, rtol=1e-8)
        # The estimate is linear in the scores: Σ w g y with the g-weights.
        assert made.value[k] == pytest.approx(weights[k] * made.g_weights[k] @ y, rel=1e-9)


@pytest.mark.parametrize("estimator", [Ridge(signs=False), ControlVariates()], ids=str)
def test_equal_chances_and_few_slopes_need_no_weights(estimator):
    sampler = SimpleRandom(chances=Chances())
    assert not estimator.estimate(follow_residuals(sampler, N, 2, 3)[0]).beside_weights
    for equal in (SimpleRandom(), Balanced()):
        assert not estimator.estimate(follow_residuals(equal, N, 2, 20)[0]).beside_weights


@pytest.mark.parametrize("estimator", [Ridge(), ControlVariates()], ids=lambda e: e.name)
@pytest.mark.parametrize("sampler", [s for s, _ in MANY], ids=lambda s: s.name)
def test_many_slopes_are_not_biased_by_chances_that_follow_residuals(sampler, estimator):
    """Without the weight among the regressors the bias is 0.3 to 1.8 standard deviations here."""
    draws = 300
    ratings, gold = follow_residuals(sampler, N, draws, 24)
    made = estimator.estimate(ratings)
    error = made.value - gold.mean()
    # A bias of the order of 1/n is left, 1/√n standard errors or so.
    assert abs(error.mean()) < error.std() * (4 / np.sqrt(draws) + 1 / np.sqrt(N))
    low, high = made.interval(0.95)
    covered = np.mean((low <= gold.mean()) & (gold.mean() <= high))
    assert covered > 0.92 - 4 * np.sqrt(0.92 * 0.08 / draws)
