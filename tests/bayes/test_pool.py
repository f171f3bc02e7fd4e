"""The share of adequate items in this test set, and which of two rates is larger."""

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import CELLS as UNIFORM
from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors, probability_greater
from fewgold.bayes.finite import posterior_of
from fewgold.errors import FewgoldError
from fewgold.estimate import Estimate
from reference import binary as twin

CELLS = {"tp": 12, "fn": 4, "fp": 3, "tn": 9}


def test_cells_are_beta_binomials():
    pool = PoolPosterior(Counts(**CELLS, metric_ones=17, metric_total=30), UNIFORM)
    values, mass = twin.pool_by_cells(*CELLS.values(), 17, 13)
    assert isinstance(pool, Estimate)
    np.testing.assert_allclose(pool.cdf(values), np.cumsum(mass), atol=1e-12)
    assert pool.mean == pytest.approx(mass @ values)
    assert pool.sd**2 == pytest.approx(mass @ (values - mass @ values) ** 2)
    low, high = pool.interval(0.9)
    assert mass[values < low - 1e-9].sum() <= 0.05
    assert mass[values > high + 1e-9].sum() <= 0.05
    first, last = pool.interval(0.9, kind="hdi")
    inside = (values > first - 1e-9) & (values < last + 1e-9)
    assert mass[inside].sum() >= 0.9
    assert last - first <= high - low
    assert pool.mode == values[mass.argmax()]
    assert set(pool.sample(50, rng=0)) <= set(values)


def test_other_priors_weigh_the_hidden_counts():
    """With independent uniform α, ρ and η the unrated adequate items are s of the mixture."""
    counts = Counts(**CELLS, human_ones=2, human_total=3, metric_ones=8, metric_total=14)
    pool = PoolPosterior(counts, Priors())
    chances = twin.hidden_counts((19, 14, 13, 5, 10, 4, 8, 6))
    s = np.arange(9)[:, None] + np.arange(7)
    mean = (chances * (18 + s)).sum() / 45
    assert pool.mean == pytest.approx(mean, rel=1e-10)
    known = PoolPosterior(counts, Priors(rho=1.0, eta=1.0))
    assert known.mean == pytest.approx((18 + 8) / 45, rel=1e-10)
    assert known.sd < 1e-6


def test_quoted_sd_of_the_pool():
    """ρ = η = 0.9, 527 of 1002 rated: sd 0.0090, and twice that for the process behind them.

    All three methods give 0.017884 for these counts, which rounds to 0.0179.
    """
    counts = Counts(tp=284, fn=32, fp=21, tn=190, metric_ones=276, metric_total=475)
    assert round(float(PoolPosterior(counts).sd), 4) == 0.0090
    for method in ("mixture", "reverse", "quadrature"):
        assert AlphaPosterior(counts, method=method).sd == pytest.approx(0.017884, abs=5e-7)


def test_humans_alone():
    pool = PoolPosterior(Counts(human_ones=6, human_total=9), unrated=11)
    mass = stats.betabinom(11, 7, 4).pmf(np.arange(12))
    values = (6 + np.arange(12)) / 20
    assert pool.mean == pytest.approx(mass @ values)
    np.testing.assert_allclose(pool.cdf(values), np.cumsum(mass), atol=1e-12)
    assert "of the 20 items" in pool.summary()


def test_a_census_is_certain():
    pool = PoolPosterior(Counts(**CELLS))
    assert pool.sd == 0
    assert pool.interval() == (16 / 28, 16 / 28)


def test_batch_of_pools():
    batch = PoolPosterior(Counts(tp=[12, 5], fn=4, fp=3, tn=9, metric_ones=17, metric_total=30))
    assert batch.mean.shape == batch.interval().low.shape == (2,)
    assert batch.draw(1).sd == pytest.approx(batch.sd[1], rel=1e-12)
    assert "batch" in repr(batch)


def test_bad_pools():
    with pytest.raises(FewgoldError, match="unrated= is for human ratings alone"):
        PoolPosterior(Counts(**CELLS), unrated=3)
    with pytest.raises(FewgoldError, match="the test set has no items"):
        PoolPosterior(Counts())
    with pytest.raises(FewgoldError, match="unrated must be a whole number of 0 or more; got -1"):
        PoolPosterior(Counts(human_ones=1, human_total=1), unrated=-1)


def alpha_of(ones, total=100, **more):
    return AlphaPosterior(Counts(human_ones=ones, human_total=total), **more)


def test_two_betas_in_closed_form():
    """P(α1 > α2) for whole shapes: a finite sum of Beta functions."""
    from scipy.special import betaln

    a1, b1, a2, b2 = 8, 4, 6, 6
    i = np.arange(a1)
    terms = betaln(a2 + i, b1 + b2) - np.log(b1 + i) - betaln(1 + i, b1) - betaln(a2, b2)
    found = probability_greater(alpha_of(7, 10), alpha_of(5, 10))
    assert found == pytest.approx(np.exp(terms).sum(), abs=1e-9)
    normal = probability_greater(alpha_of(7, 10), alpha_of(5, 10), method="normal")
    assert normal == pytest.approx(found, abs=0.02)


def test_sides_add_up_to_one():
    one = AlphaPosterior(Counts(**CELLS, metric_ones=60, metric_total=100))
    two = AlphaPosterior(Counts(human_ones=40, human_total=90), Priors(alpha=(0.5, 0.5)))
    pool = PoolPosterior(Counts(**CELLS, metric_ones=17, metric_total=30))
    other = PoolPosterior(Counts(human_ones=3, human_total=9), unrated=20)
    for first, second in [(one, two), (one, pool), (pool, other), (two, other)]:
        there = probability_greater(first, second)
        back = probability_greater(second, first)
        assert there + back == pytest.approx(1, abs=1e-9)
    for same in (one, two, pool):
        assert probability_greater(same, same) == pytest.approx(0.5, abs=1e-9)


def test_ties_count_half():
    pools = [PoolPosterior(Counts(human_ones=k, human_total=6), unrated=4) for k in (3, 2)]
    mass = [stats.betabinom(4, k + 1, 7 - k).pmf(np.arange(5)) for k in (3, 2)]
    true = sum(
        x * y * (1.0 if 3 + i > 2 + j else 0.5 if 3 + i == 2 + j else 0.0)
        for i, x in enumerate(mass[0])
        for j, y in enumerate(mass[1])
    )
    assert probability_greater(*pools) == pytest.approx(true, abs=1e-12)


def test_far_apart_and_certain():
    assert probability_greater(alpha_of(9_000, 10_000), alpha_of(10, 10_000)) == pytest.approx(1)
    census = [PoolPosterior(Counts(human_ones=k, human_total=6)) for k in (3, 2)]
    assert probability_greater(*census) == 1
    assert probability_greater(*census, method="normal") == 1
    assert probability_greater(census[0], census[0], method="normal") == 0.5


def test_batches_are_compared_in_one_go():
    """Alpha and pool, spread against each other: as one by one."""
    one = alpha_of(np.array([50, 60, 60])[:, None])
    cells = Counts(tp=[12, 5], fn=4, fp=3, tn=9, metric_ones=17, metric_total=30)
    for two in (AlphaPosterior(cells), PoolPosterior(cells), PoolPosterior(cells).draw(0)):
        for method in ("exact", "normal"):
            found = probability_greater(one, two, method)
            assert found.shape == np.broadcast_shapes((3, 1), two.shape)
            for at in np.ndindex(found.shape):
                other = two.draw(at[1]) if two.shape else two
                alone = probability_greater(one.draw((at[0], 0)), other, method)
                assert isinstance(alone, float)
                assert found[at] == pytest.approx(alone, abs=1e-11)
            back = probability_greater(two, one, method)
            np.testing.assert_allclose(found + back, 1.0, atol=1e-9)


@pytest.mark.parametrize("a, b", [(0.1, 0.1), (0.05, 0.3), (0.4, 2.2)])
def test_mass_next_to_the_ends_is_compared_too(a, b):
    """Without ratings the posterior is the prior, infinite at 0 or 1."""
    one, two = (AlphaPosterior(Counts(), Priors(alpha=p)) for p in ((a, b), (b, a)))
    assert probability_greater(one, one) == pytest.approx(0.5, abs=1e-8)
    rng = np.random.default_rng(0)
    size = 400_000
    # log-gammas, since a float has no digits for draws this close to 0 or 1
    logs = [np.log(rng.gamma(s + 1, size=size)) + np.log(rng.random(size)) / s for s in (a, b) * 2]
    share = np.mean(logs[0] - logs[1] > logs[3] - logs[2])
    assert probability_greater(one, two) == pytest.approx(share, abs=0.005)


def test_bad_comparisons():
    with pytest.raises(FewgoldError, match=r"compatible shapes; got \(2,\) and \(3,\)"):
        probability_greater(alpha_of(np.array([1, 2])), alpha_of(np.array([1, 2, 3])))
    with pytest.raises(FewgoldError, match="method must be one of exact, normal"):
        probability_greater(alpha_of(1), alpha_of(2), method="t")


def test_a_test_set_of_a_billion_items() -> None:
    """As good as the process, and worked out as that; just below, both agree."""
    cells = {"tp": 430, "fn": 180, "fp": 120, "tn": 290}
    huge = Counts(**cells, metric_ones=540_000_000, metric_total=1_000_000_000)
    found = posterior_of(huge, None, "pool")
    assert isinstance(found, AlphaPosterior)
    large = Counts(**cells, metric_ones=1_620_000, metric_total=3_000_000)
    exact = posterior_of(large, None, "pool")
    assert isinstance(exact, PoolPosterior)
    assert float(exact.sd) == pytest.approx(float(AlphaPosterior(large).sd), rel=5e-4)
    np.testing.assert_allclose(exact.interval(), AlphaPosterior(large).interval(), atol=2e-5)
    # Where a part is rated the test set is known better.
    part = Counts(human_ones=20_000, human_total=50_000)
    assert isinstance(posterior_of(part, None, "pool", unrated=6_000_000), PoolPosterior)
