"""The success rate from categories of a metric."""

import pickle

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import (
    CELLS,
    CellPosterior,
    Counts,
    Pooled,
    PoolPosterior,
    Separate,
    Trend,
    tally,
)
from fewgold.bayes.mixture import beta_binomial
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate
from reference import cells as twin

RATED, UNRATED = [[7, 2], [3, 3], [0, 0], [1, 6]], [9, 5, 3, 11]
ITEMS = [18, 11, 3, 18]
PRIORS = [Separate(), Pooled(), Trend(), Trend(rate=(2.0, 3.0), places=(0.0, 1.0, 1.0, 2.0))]


def reference_nodes(prior, rated=RATED, items=ITEMS):
    if isinstance(prior, Separate):
        return [(1.0, [(prior.a + ones, prior.b + zeros) for zeros, ones in rated])]
    if isinstance(prior, Pooled):
        return twin.dense_nodes(rated, items, prior.strengths, rate=prior.rate)
    middle = (np.cumsum(items) - 0.5 * np.array(items)) / sum(items)
    places = stats.norm.ppf(middle).tolist() if prior.places is None else prior.places
    return twin.dense_nodes(
        rated, items, prior.strengths, prior.slopes, places, prior.rate, steps=600
    )


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_pool_against_dense_sums(prior):
    pool = CellPosterior(RATED, UNRATED, prior=prior)
    mass = twin.pool_mass(reference_nodes(prior), UNRATED)
    values = (11 + np.arange(29)) / 50
    mean = mass @ values
    assert isinstance(pool, Estimate)
    assert pool.mean == pytest.approx(mean, abs=2e-6)
    assert pool.sd == pytest.approx(np.sqrt(mass @ (values - mean) ** 2), rel=2e-5)
    np.testing.assert_allclose(pool.cdf(values), np.cumsum(mass), atol=5e-6)
    low, high = pool.interval(0.9)
    assert mass[values < low - 1e-9].sum() <= 0.05 < mass[values < low + 1e-9].sum()
    assert mass[values > high + 1e-9].sum() <= 0.05 < mass[values > high - 1e-9].sum()


@pytest.mark.parametrize("rated", [[[0, 9], [0, 3]], [[30, 0], [12, 0]], [[0, 0], [0, 0]]])
def test_equal_ratings_and_none(rated):
    """Where the rate lies at an end the density of θ has one long tail, and nothing is lost."""
    pool = CellPosterior(rated, [15, 9])
    items = [n + sum(cell) for n, cell in zip([15, 9], rated, strict=True)]
    mass = twin.pool_mass(reference_nodes(Pooled(), rated, items), [15, 9])
    ones = sum(cell[1] for cell in rated)
    values = (ones + np.arange(25)) / sum(items)
    assert pool.mean == pytest.approx(mass @ values, abs=1e-5)
    np.testing.assert_allclose(pool.cdf(values), np.cumsum(mass), atol=2e-5)
    assert 0 < pool.mean < 1


@pytest.mark.parametrize("prior", PRIORS[:3], ids=lambda p: type(p).__name__)
def test_process_moments_against_dense_sums(prior):
    """E and Var of Σ ψ_j v_j from the second moments of ψ and of each v."""
    posterior = CellPosterior(RATED, UNRATED, "process", prior)
    a = np.array(ITEMS) + 0.25
    share = a / a.sum()
    second = (np.outer(a, a) + np.diag(a)) / (a.sum() * (a.sum() + 1))
    first_moment = square = 0.0
    for weight, betas in reference_nodes(prior):
        up, down = np.array(betas).T
        p = up / (up + down)
        moments = np.outer(p, p) + np.diag(p * (1 - p) / (up + down + 1))
        first_moment += weight * (share @ p)
        square += weight * (second * moments).sum()
    assert posterior.mean == pytest.approx(first_moment, abs=2e-6)
    assert posterior.sd == pytest.approx(np.sqrt(square - first_moment**2), rel=3e-5)


def test_draws_of_the_process_agree():
    posterior = CellPosterior(RATED, UNRATED, "process")
    many = posterior.sample(200_000, rng=3)
    error = posterior.sd / np.sqrt(many.size)
    assert abs(many.mean() - posterior.mean) < 5 * error
    assert abs(many.std() / posterior.sd - 1) < 5 / np.sqrt(many.size)
    gap = posterior.quantile([0.025, 0.5, 0.975]) - np.quantile(many, [0.025, 0.5, 0.975])
    assert np.abs(gap).max() < 0.1 * posterior.sd
    assert posterior.interval() == posterior.interval()
    low, high = posterior.interval(0.9, kind="hdi")
    assert high - low <= np.ptp(posterior.interval(0.9))


def test_one_metric_with_separate_cells_is_the_pool_posterior():
    counts = Counts(tp=12, fn=4, fp=3, tn=9, metric_ones=17, metric_total=30)
    other = PoolPosterior(counts, CELLS)
    pool = CellPosterior([[9, 4], [3, 12]], [13, 17], prior=Separate())
    assert pool.mean == pytest.approx(other.mean, rel=1e-12)
    assert pool.sd == pytest.approx(other.sd, rel=1e-12)
    for kind in ("equal", "hdi"):
        np.testing.assert_allclose(pool.interval(0.8, kind), other.interval(0.8, kind))


@pytest.mark.parametrize("prior", PRIORS[:3], ids=lambda p: type(p).__name__)
def test_humans_alone(prior):
    """One category: Beta for the process, beta-binomial for the pool."""
    pool = CellPosterior([[3, 6]], [11], prior=prior)
    np.testing.assert_allclose(
        pool.cdf((6 + np.arange(12)) / 20), stats.betabinom(11, 7, 4).cdf(np.arange(12)), atol=1e-12
    )
    process = CellPosterior([[3, 6]], [11], "process", prior)
    assert process.mean == pytest.approx(7 / 11)
    assert process.sd == pytest.approx(stats.beta(7, 4).std())
    assert process.quantile(0.975) == pytest.approx(stats.beta(7, 4).ppf(0.975), abs=0.005)
    assert "categor" not in pool.summary() + process.summary()


def test_a_census_is_certain():
    pool = CellPosterior([[3, 6], [1, 2]], [0, 0])
    assert pool.sd == 0
    assert pool.interval() == (8 / 12, 8 / 12)


def test_categories_that_nobody_rated_follow_the_others():
    rated = [[2, 28], [1, 29], [0, 0]]
    pool = CellPosterior(rated, [100, 100, 300])
    assert 0.85 < pool.mean < 0.95
    known = CellPosterior(rated[:2], [100, 100])
    assert pool.sd > 1.5 * known.sd
    apart = CellPosterior(rated, [100, 100, 300], prior=Separate())
    assert apart.mean < 0.75


def test_a_useless_metric_costs_little():
    """Thirty-two categories at random: nearly as if there were none."""
    rng = np.random.default_rng(5)
    codes, labels = rng.integers(0, 32, 1000), rng.random(1000) < 0.9
    rated, unrated = tally(codes, np.arange(100), labels[:100].astype(int))
    one = CellPosterior(rated.sum(0, keepdims=True), [900])
    many = CellPosterior(rated, unrated)
    assert many.mean == pytest.approx(float(one.mean), abs=0.5 * float(one.sd))
    assert 0.85 < many.sd / one.sd < 1.15


def test_batch_is_one_by_one():
    rated = np.array([[RATED, RATED[::-1]]])
    for target in ("pool", "process"):
        batch = CellPosterior(rated, UNRATED, target, Trend())
        assert batch.mean.shape == batch.interval().low.shape == batch.shape == (1, 2)
        assert batch.quantile([0.1, 0.5, 0.9]).shape == (1, 2, 3)
        assert batch.sample(5, rng=1).shape == (1, 2, 5)
        one = batch.draw((0, 1))
        assert one.mean == pytest.approx(batch.mean[0, 1], rel=1e-12)
        np.testing.assert_allclose(one.interval(), [end[0, 1] for end in batch.interval()])
        with pytest.raises(FewgoldError, match="take one of it with draw"):
            batch.summary()
        assert "batch of shape (1, 2)" in repr(batch)
    assert pickle.loads(pickle.dumps(batch)).mean[0, 1] == batch.mean[0, 1]


def test_large_pools():
    """Beta-binomials by logarithms, several blocks of frequencies, and draws beyond 200,000."""
    rated = [[20, 10], [5, 25]]
    sizes = [(6_000, 9_000), (120_000, 180_000)]
    exact, drawn = (CellPosterior(rated, unrated) for unrated in sizes)
    process = CellPosterior(rated, sizes[1], "process")
    step = exact._distributions[0]
    assert step.mass @ step.values == pytest.approx(float(exact.mean), rel=1e-6)
    assert exact.mean == pytest.approx(float(process.mean), abs=1e-3)
    assert drawn.sd == pytest.approx(float(process.sd), rel=1e-3)
    for other in (drawn, process):
        np.testing.assert_allclose(other.interval(), exact.interval(), atol=0.1 * exact.sd)
    assert drawn.sample(10, rng=0).shape == (10,)


@pytest.mark.parametrize("n, a, b", [(40, 0.3, 2.0), (700, 30.0, 200.5), (5, 1e-9, 0.5)])
def test_beta_binomial(n, a, b):
    found = beta_binomial(np.array([a, 2 * a]), np.array([b, b]), n)
    np.testing.assert_allclose(
        found[0], stats.betabinom(n, a, b).pmf(np.arange(n + 1)), rtol=1e-7, atol=1e-13
    )


def test_counts_by_category():
    rng = np.random.default_rng(0)
    codes, rows = rng.integers(0, 3, 50), np.array([rng.permutation(50)[:12] for _ in range(4)])
    labels = rng.integers(0, 2, (4, 12))
    rated, unrated = tally(codes, rows, labels, count=4)
    assert rated.shape == (4, 4, 2)
    for at in range(4):
        for j in range(4):
            mine = codes[rows[at]] == j
            assert rated[at, j].tolist() == [(mine & (labels[at] == c)).sum() for c in (0, 1)]
            assert unrated[at, j] == (codes == j).sum() - mine.sum()


def test_bad_cells():
    with pytest.raises(DataError, match=r"rated must be \(..., J, 2\) and unrated"):
        CellPosterior([[1, 2, 3]], [4])
    with pytest.raises(DataError, match=r"rated must be \(..., J, 2\) and unrated"):
        CellPosterior([[1, 2]], [4, 5])
    with pytest.raises(DataError, match="unrated must be a whole number of 0 or more; got -4"):
        CellPosterior([[1, 2]], [-4])
    with pytest.raises(DataError, match="the test set has no items"):
        CellPosterior([[0, 0]], [0])
    with pytest.raises(FewgoldError, match="target must be one of pool, process"):
        CellPosterior([[1, 2]], [4], "test")
    with pytest.raises(FewgoldError, match="strengths must be positive"):
        Pooled(strengths=(0.0,))
    with pytest.raises(FewgoldError, match="places must have one number for each category"):
        CellPosterior(RATED, UNRATED, prior=Trend(places=(0.0, 1.0))).mean.sum()
    with pytest.raises(FewgoldError, match="pair of positive numbers"):
        Separate(0.0, 1.0)
    with pytest.raises(DataError, match="rows and labels must have one shape"):
        tally([0, 1], [0], [1, 0])
    with pytest.raises(DataError, match="labels must be classes from 0 to 1; got 2"):
        tally([0, 1], [0], [2])
