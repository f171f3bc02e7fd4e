"""Test sets from which items were picked by their class, and the process behind them."""

from itertools import product

import numpy as np
import pytest
from scipy.special import beta, comb

from fewgold.bayes import (
    AlphaPosterior,
    Counts,
    PoolPosterior,
    Priors,
    RaterPosterior,
)
from fewgold.bayes.finite import ProcessPosterior
from fewgold.errors import FewgoldError


def _by_summing(tp, fn, fp, tn, ones, total, prior):
    """P(T adequate items in all), summed over what the metric's ones and zeros may be."""
    picked = tp + fn, fp + tn
    size = sum(picked) + total
    chance = np.zeros(size + 1)
    for s in range(total + 1):
        rest, like = total - s, 0.0
        for i, j in product(range(s + 1), range(rest + 1)):  # ones among adequate, inadequate
            if i + j == ones:
                hit = comb(s, i) * beta(1 + tp + i, 1 + fn + s - i)
                like += hit * comb(rest, j) * beta(1 + tn + rest - j, 1 + fp + j)
        t = picked[0] + s
        chance[t] = like * comb(size, t) * beta(prior[0] + t, prior[1] + size - t)
    return chance / chance.sum()


@pytest.mark.parametrize("prior", [(1.0, 1.0), (3.0, 5.0), (0.5, 0.5), (20.0, 80.0)])
@pytest.mark.parametrize("cells", [(2, 0, 1, 1), (3, 1, 0, 4), (0, 2, 2, 0), (5, 0, 0, 0)])
def test_picked_by_class(cells, prior):
    expected = _by_summing(*cells, 5, 9, prior)
    size = expected.size - 1
    t = np.arange(size + 1)
    counts = Counts(*(0, 0), *cells, metric_ones=5, metric_total=9, pairs="calibration")
    known = Counts(human_ones=cells[0] + cells[1], human_total=sum(cells))
    pool = PoolPosterior(counts, Priors(alpha=prior), known=known)
    np.testing.assert_allclose(pool.cdf(t / size), np.cumsum(expected), atol=1e-11)
    mean = expected @ t / size
    assert pool.mean == pytest.approx(mean)
    assert pool.sd == pytest.approx(np.sqrt(expected @ (t / size - mean) ** 2))
    process = ProcessPosterior(pool)
    a, b = prior[0] + t, prior[1] + size - t
    each = a / (a + b)
    assert process.mean == pytest.approx(expected @ each)
    second = expected @ (each * (a + 1) / (a + b + 1))
    assert process.sd == pytest.approx(np.sqrt(second - (expected @ each) ** 2))
    x = process.quantile([0.1, 0.5, 0.9])
    np.testing.assert_allclose(process.cdf(x), [0.1, 0.5, 0.9], atol=1e-8)


def test_without_picking_it_is_the_posterior_of_alpha():
    counts = Counts(tp=[12, 30], fn=4, fp=3, tn=9, metric_ones=17, metric_total=30)
    for priors in (Priors(), Priors(alpha=(2, 3), rho=(4, 1), eta=(2, 2))):
        alpha = AlphaPosterior(counts, priors)
        process = ProcessPosterior(PoolPosterior(counts, priors))
        np.testing.assert_allclose(process.mean, alpha.mean, rtol=1e-9)
        np.testing.assert_allclose(process.sd, alpha.sd, rtol=1e-8)
        np.testing.assert_allclose(process.interval(), alpha.interval(), atol=1e-7)
        np.testing.assert_allclose(
            process.interval(kind="hdi"), alpha.interval(kind="hdi"), atol=1e-4
        )
        assert process.draw(1).mean == pytest.approx(process.mean[1])


def test_half_of_the_rated_adequate_is_not_half_of_all():
    """The judge is right nine times of ten; 200 of 1000 are adequate, 150 + 150 were rated."""
    counts = Counts(
        tp=135, fn=15, fp=15, tn=135, metric_ones=110, metric_total=700, pairs="calibration"
    )
    pool = PoolPosterior(counts, known=Counts(human_ones=150, human_total=300))
    for posterior in (pool, ProcessPosterior(pool)):
        low, high = posterior.interval()
        assert low < 0.2 < high
        assert posterior.mean == pytest.approx(0.2, abs=0.01)


def test_raters_with_picked_gold():
    rng = np.random.default_rng(2)
    truth = np.arange(400) < 80
    right = rng.random((400, 3)) < 0.85
    labels = np.where(right, truth[:, None], ~truth[:, None]).astype(float)
    gold = np.full(400, np.nan)
    gold[:50], gold[350:] = 1, 0
    for target in ("pool", "process"):
        found = RaterPosterior(labels, gold=gold, gold_from="picked", target=target)
        low, high = found.interval()
        assert low < 0.2 < high
        assert found._size == 400
    with pytest.raises(FewgoldError, match="uniform prior of alpha"):
        from fewgold.bayes import RaterPriors

        RaterPosterior(labels, gold=gold, gold_from="picked", priors=RaterPriors(alpha=(2, 2)))
