"""Many posteriors at once: as exact as one by one, and as sums written out."""

import numpy as np
import pytest
from scipy.special import betainc

from fewgold.bayes import CELLS, AlphaPosterior, Counts, PoolPosterior, Priors
from fewgold.bayes.batch import mixture_moments
from fewgold.bayes.density import PanelBatch, panel_nodes
from fewgold.bayes.mixture import Shapes, beta_binomial_rows, mixture, mixtures, shapes
from reference import binary as twin

P = np.array([1e-6, 0.025, 0.5, 0.975, 0.9999])


def studies(rng, size, paired, metric, rate, accuracy):
    adequate = rng.binomial(paired, rate, size)
    tp, tn = rng.binomial(adequate, accuracy), rng.binomial(paired - adequate, accuracy)
    p = rate * accuracy + (1 - rate) * (1 - accuracy)
    return Counts(
        tp=tp,
        fn=adequate - tp,
        tn=tn,
        fp=paired - adequate - tn,
        metric_ones=rng.binomial(metric, p, size),
        metric_total=metric,
    )


def random_batch(seed, size, priors):
    rng = np.random.default_rng(seed)
    rows = [twin.random_shapes(rng, largest=1000, priors=priors) for _ in range(size)]
    batch = Shapes(*np.array(rows, dtype=float).T.copy())
    return batch.draw(batch.total > 0)


@pytest.mark.parametrize("priors", [(1.0, 2.0), (0.3, 0.5, 1.7)])
def test_weights_of_a_batch(priors):
    """Flat and steep factors S, shapes below 1, empty cells and conflicting data."""
    batch = random_batch(1, 120, priors)
    seen = []
    for rows, found in mixtures(batch):
        seen.extend(rows)
        for at, row in enumerate(rows):
            true = mixture(batch.draw(row))
            gap = np.zeros(int(batch.total[row]) + 1)
            gap[true.first : true.first + true.weights.size] = true.weights
            first, mass = found.row(at)
            gap[first : first + mass.size] -= mass
            assert np.abs(gap).sum() < 1e-9
    assert sorted(seen) == list(range(batch.a0.size))
    mean, variance = mixture_moments(batch)
    for row in range(batch.a0.size):
        mu, v = mixture(batch.draw(row)).moments()
        assert mean[row] == pytest.approx(mu, rel=1e-9)
        assert variance[row] == pytest.approx(v, rel=1e-8)


def test_quantiles_solve_the_sum_of_incomplete_betas():
    batch = random_batch(2, 80, (0.5, 1.0, 2.0))
    for rows, found in mixtures(batch):
        some = batch.draw(rows)
        x = found.quantile(P)
        for at in range(rows.size):
            one = some.draw(at)
            a = one.a0 + found.first[at] + np.arange(found.mass.shape[1])
            b = one.a0 + one.b0 + one.total - a
            real = (a > 0) & (b > 0)  # a row may have empty places beyond 0 and N
            a, b, mass = a[real], b[real], found.mass[at, real]
            inside = x[at] < 1 - 1e-9  # nearer to 1 a float has no digits left for the CDF
            cdf = betainc(a, b, x[at, inside][:, None]) @ mass
            np.testing.assert_allclose(cdf, P[inside], rtol=1e-7, atol=1e-11)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "paired, metric, rate, accuracy",
    [(50, 300, 0.9, 0.9), (100, 1000, 0.6, 0.7), (500, 10_000, 0.95, 0.95), (3, 500, 0.5, 0.8)],
)
@pytest.mark.parametrize(
    "priors", [Priors(), Priors(*[(0.5, 0.5)] * 3), Priors(alpha=(2, 2)), Priors(rho=0.8, eta=0.7)]
)
def test_intervals_of_a_batch_are_those_of_the_curves(paired, metric, rate, accuracy, priors):
    rng = np.random.default_rng(0)
    counts = studies(rng, 4, paired, metric, rate, accuracy)
    batch = AlphaPosterior(counts, priors)
    found = batch.quantile(P)
    for k, row in enumerate(found):
        slow = batch.draw(k)._distributions[0].quantile(P)
        np.testing.assert_allclose(row, slow, atol=1e-8)
        np.testing.assert_allclose(batch.draw(k).quantile(P), row, rtol=1e-10)


def test_batch_with_everything_in_it():
    """No ratings, humans alone, few, many and steep: each as on its own."""
    counts = Counts(
        human_ones=[0, 7, 0, 0, 900, 0],
        human_total=[0, 9, 0, 0, 1000, 0],
        tp=[0, 0, 2, 43, 20, 43],
        fn=[0, 0, 1, 18, 20, 18],
        fp=[0, 0, 0, 12, 5, 12],
        tn=[0, 0, 1, 29, 5, 29],
        metric_ones=[0, 0, 13, 540, 100, 540_000],
        metric_total=[0, 0, 40, 1000, 1000, 1_000_000],
    )
    batch = AlphaPosterior(counts)
    found = batch.quantile([[0.025, 0.5], [0.9, 0.999]])
    assert found.shape == (6, 2, 2)
    for k in range(6):
        curve = batch.draw(k)._distributions[0]
        np.testing.assert_allclose(
            found[k].ravel(), curve.quantile([0.025, 0.5, 0.9, 0.999]), atol=1e-8
        )
        assert batch.mean[k] == pytest.approx(curve.moments()[0], rel=1e-7)
        assert batch.sd[k] == pytest.approx(np.sqrt(curve.moments()[1]), rel=1e-6)


def test_ends_of_the_scale():
    batch = AlphaPosterior(Counts(tp=[3, 30], fp=2, tn=4, metric_ones=20, metric_total=50))
    np.testing.assert_array_equal(batch.quantile([0.0, 1.0]), [[0, 1], [0, 1]])


def test_beta_binomials_of_a_batch():
    a, b, n = np.array([3.0, 0.5, 40.0]), np.array([5.0, 0.5, 1.0]), np.array([12.0, 7.0, 30.0])
    first, mass = beta_binomial_rows(a, b, n)
    for k in range(3):
        true = twin.beta_binomial(int(n[k]), a[k], b[k])
        at = np.arange(mass.shape[1]) + first[k]
        inside = (at >= 0) & (at <= n[k])
        np.testing.assert_allclose(mass[k, inside], true, rtol=1e-11, atol=1e-15)
        assert not mass[k, ~inside].any()


def test_pools_of_a_batch_against_all_pairs_of_hidden_counts():
    rng = np.random.default_rng(3)
    counts = studies(rng, 40, 30, 40, 0.7, 0.8)
    batch = PoolPosterior(counts, CELLS)
    low, high = batch.interval(0.9)
    for k in range(40):
        one = counts.draw(k)
        cells = (int(x) for x in (one.tp, one.fn, one.fp, one.tn, one.metric_ones))
        values, mass = twin.pool_by_cells(*cells, int(one._metric_zeros))
        below = np.cumsum(mass)
        mean = mass @ values
        assert batch.mean[k] == pytest.approx(mean, rel=1e-12)
        assert batch.sd[k] == pytest.approx(np.sqrt(mass @ (values - mean) ** 2), rel=1e-11)
        assert low[k] == pytest.approx(values[np.searchsorted(below, 0.05)], rel=1e-12)
        assert high[k] == pytest.approx(values[np.searchsorted(below, 0.95)], rel=1e-12)
        np.testing.assert_allclose(batch.draw(k).cdf(values), below, atol=1e-12)


def test_panels_of_a_batch():
    a, b = np.array([40.0, 5.0]), np.array([30.0, 60.0])
    low, high = np.array([0.3, 0.0]), np.array([1.4, 1.0])
    omega = panel_nodes(low, high, 10)
    logs = (2 * a[:, None] - 1) * np.log(np.sin(omega)) + (2 * b[:, None] - 1) * np.log(
        np.cos(omega)
    )
    made, error = PanelBatch.fit(low, high, np.exp(logs))
    assert np.all(error < 1e-9)
    x = np.array([0.02, 0.1, 0.5, 0.7])
    for k in range(2):
        row = made.row(k)
        np.testing.assert_allclose(row.cdf(x), betainc(a[k], b[k], x), atol=1e-10)
        mean, variance = row.moments()
        assert mean == pytest.approx(a[k] / (a + b)[k], rel=1e-10)
        assert variance == pytest.approx((a * b / (a + b) ** 2 / (a + b + 1))[k], rel=1e-9)
        np.testing.assert_allclose(made.quantile(P)[k], row.quantile(P), atol=1e-13)


def test_flat_factors_need_no_loop(monkeypatch):
    """Paired studies with uniform priors never go one by one: that is what makes them quick."""
    counts = studies(np.random.default_rng(5), 300, 100, 2000, 0.8, 0.9)

    def slow(*_):
        raise AssertionError("one by one")

    monkeypatch.setattr("fewgold.bayes.mixture.mixture", slow)
    low, high = AlphaPosterior(counts).interval()
    mean, variance = mixture_moments(shapes(counts, Priors()))
    assert np.all((low < mean) & (mean < high) & (variance > 0))
