"""StratifiedBetting: against a twin that goes rating by rating, and at the edges."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from fewgold import Pool
from fewgold.bounds import Betting, Hoeffding, StratifiedBetting
from fewgold.datasets import load_demo
from fewgold.errors import DesignError
from fewgold.estimators import Mean, Ridge
from fewgold.registry import sampler
from fewgold.sample import Sample
from fewgold.samplers import ByMetric, SimpleRandom, Stratified, Systematic
from fewgold.testing import check_bound, toy_pool
from reference import intervals

LIMITS = (0.0, 25.0)


def width(made, bound):
    low, high = made.interval(0.95, bound)
    return (high - low).mean()


def rated(n=60, draws=None, by=None, rng=0, size=200, allocation="proportional"):
    pool, gold = toy_pool(size)
    sample = Stratified(by or ByMetric(bins=4), allocation=allocation).draw(
        pool, n, draws=draws, rng=rng
    )
    return Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS)), gold


def test_check_kit():
    check_bound(StratifiedBetting())
    check_bound(StratifiedBetting(upper=0.7))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("allocation", ["proportional", "optimal"])
@pytest.mark.parametrize("n", [20, 60, 190])
def test_is_its_twin(n, allocation, confidence):
    made, _ = rated(n, allocation=allocation)
    design = made.design
    taken = np.bincount(design.strata)
    sizes = [round(n / design.inclusion[design.strata == h][0]) for h, n in enumerate(taken)]
    unit = made.ratings.scores / 25
    miss = (1 - confidence) / 2
    low = 25 * intervals.stratified_low(unit, design.strata, sizes, miss)
    high = 25 - 25 * intervals.stratified_low(1 - unit, design.strata, sizes, miss)
    found = made.interval(confidence, StratifiedBetting())
    np.testing.assert_allclose(found, [low, high], rtol=0, atol=1e-9)


def test_the_sum_of_what_is_left_is_the_error_of_the_mean():
    """Σ a_t (x_t − μ_t) = stratified mean − pool mean: what the bound stands on."""
    made, gold = rated(60)
    strata, rows = made.design.strata, made.ratings.sample.indices
    # Segments of the pool by stratum: from a census of the same strata.
    census, _ = rated(200)
    members = [gold[census.ratings.sample.indices[census.design.strata == h]] for h in range(4)]
    total = 0.0
    for h, scores in enumerate(members):
        mine = gold[rows[strata == h]]
        left, size, n = scores.sum(), len(scores), len(mine)
        for t, x in enumerate(mine, 1):
            a = size / 200 * (size - n) / (n * (size - t))
            total += a * (x - left / (size - t + 1))
            left -= x
    assert total == pytest.approx(float(made.value) - gold.mean(), abs=1e-12)


def test_batch_equals_one_by_one_and_pickles():
    made, _ = rated(40, draws=6)
    bound = pickle.loads(pickle.dumps(StratifiedBetting(upper=0.6)))
    assert bound == StratifiedBetting(upper=0.6)
    low, high = made.interval(0.9, bound)
    for k in range(6):
        alone = Mean().estimate(made.ratings.draw(k)).interval(0.9, bound)
        assert alone == pytest.approx((low[k], high[k]), rel=1e-12)


def test_where_strata_lie_in_the_sample_does_not_matter():
    """Rows of a stratum need not be together, as long as their own order is kept."""
    made, _ = rated(40, draws=3)
    sample, design = made.ratings.sample, made.design
    turns = np.arange(40) - np.searchsorted(design.strata[0], design.strata[0])
    taken = np.bincount(design.strata[0])[design.strata[0]]
    mixed = np.argsort((turns + 0.5) / taken, kind="stable")
    parts = ("weights", "inclusion", "groups", "influence", "strata")
    moved = replace(design, **{name: getattr(design, name)[:, mixed] for name in parts})
    again = Sample(sample.pool, sample.indices[:, mixed], moved)
    other = Mean().estimate(again.rate(made.ratings.scores[:, mixed], limits=LIMITS))
    for confidence in (0.5, 0.95):
        np.testing.assert_allclose(
            other.interval(confidence, StratifiedBetting()),
            made.interval(confidence, StratifiedBetting()),
            rtol=1e-12,
        )


def test_turning_the_scale_turns_the_interval():
    made, _ = rated(40, draws=4)
    turned = Mean().estimate(made.ratings.sample.rate(25 - made.ratings.scores, limits=LIMITS))
    low, high = made.interval(0.9, StratifiedBetting(upper=0.3))
    other = turned.interval(0.9, StratifiedBetting(upper=0.7))
    np.testing.assert_allclose(other.low, 25 - high, atol=1e-9)
    np.testing.assert_allclose(other.high, 25 - low, atol=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("level", [0.0, 7.3, 25.0])
def test_edges(level, confidence):
    """Constant scores: never narrower than what a single other one could do; a point at n = N."""
    for n in (8, 60, 119, 120):
        pool = Pool(np.arange(120), {"m": np.arange(120.0)})
        sample = Stratified(ByMetric(bins=4)).draw(pool, n, draws=3, rng=0)
        made = Mean().estimate(sample.rate(np.full((3, n), level), limits=LIMITS))
        low, high = made.interval(confidence, StratifiedBetting())
        assert np.all((low <= level + 1e-12) & (level <= high + 1e-12))
        if n == 120:
            np.testing.assert_allclose([low, high], level, rtol=1e-12)
        else:
            assert np.all(high - low > 25 * (120 - n) / 120 * 1e-3)


@pytest.mark.parametrize("n", [1, 2, 199, 200])
def test_simple_samples_of_extreme_sizes(n):
    pool, gold = toy_pool(200)
    sample = SimpleRandom().draw(pool, n, draws=5, rng=0)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    low, high = made.interval(0.95, StratifiedBetting())
    assert np.all((low <= gold.mean() + 1e-12) & (gold.mean() <= high + 1e-12))
    assert np.all(high - low <= 25 * (200 - n) / 200 + 1e-9)


def test_refuses_what_it_does_not_cover():
    pool, gold = toy_pool(200)
    sample = Systematic().draw(pool, 40, rng=0)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    with pytest.raises(
        DesignError, match=r"this sample's design is 'systematic'.*bound=Student\(\)"
    ):
        made.interval(0.9, StratifiedBetting())
    sample = SimpleRandom().draw(pool, 40, rng=0)
    with pytest.raises(DesignError, match=r"needs the limits of the scale.*bound=Student\(\)"):
        Mean().estimate(sample.rate(gold[sample.indices])).interval(0.9, StratifiedBetting())
    with pytest.raises(DesignError, match="share of the error probability"):
        StratifiedBetting(upper=0.0)


def test_any_estimator_may_be_asked():
    pool, gold = toy_pool(200)
    sample = Stratified(ByMetric(bins=4)).draw(pool, 60, rng=0)
    ratings = sample.rate(gold[sample.indices], limits=LIMITS)
    plain, tuned = Mean().estimate(ratings), Ridge().estimate(ratings)
    low, high = plain.interval(0.9, StratifiedBetting())
    other = tuned.interval(0.9, StratifiedBetting())
    assert other == (min(low, tuned.value), max(high, tuned.value))


@pytest.mark.parametrize("data", ["ende", "zhen"])
@pytest.mark.parametrize("design", ["metrics-prop", "docs-opt"])
def test_narrower_than_hoeffding_on_the_demo(data, design):
    """And its price: wider than Betting where both can be had."""
    pool, gold = load_demo(data)
    for budget, times in ((0.1, 1.9), (0.3, 2.0), (0.5, 2.1)):
        drawn = sampler(design).draw(pool, budget, draws=20, rng=1)
        made = Mean().estimate(drawn.rate(gold[drawn.indices], limits=LIMITS))
        assert width(made, Hoeffding()) > times * width(made, StratifiedBetting())
    drawn = SimpleRandom().draw(pool, 0.3, draws=20, rng=1)
    made = Mean().estimate(drawn.rate(gold[drawn.indices], limits=LIMITS))
    assert 1.1 < width(made, StratifiedBetting()) / width(made, Betting()) < 1.4
