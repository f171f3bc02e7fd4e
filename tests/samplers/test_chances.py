"""Uneven chances: water-filling, exact inclusion probabilities, and where spreads come from."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewgold import Pool, Sample, registry
from fewgold.datasets import load_demo
from fewgold.errors import BudgetError, DataError, DesignError
from fewgold.estimators import KNN, ControlVariates, Learned, Mean, Ridge
from fewgold.samplers import (
    Balanced,
    ByMetric,
    Chances,
    ExpectedSpread,
    RankSpread,
    RatedSpread,
    SimpleRandom,
    Stratified,
    Systematic,
    spread_of_probability,
)
from fewgold.samplers.chances import capped
from fewgold.samplers.systematic import along_line
from reference import water_filled

BY_RANK = Chances(RankSpread())
UNEVEN = [
    SimpleRandom(chances=BY_RANK),
    Systematic(chances=BY_RANK),
    Stratified(ByMetric(), chances=BY_RANK),
    Balanced(chances=BY_RANK),
]
by_sampler = pytest.mark.parametrize("sampler", UNEVEN, ids=lambda s: s.name)


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=30),
    st.floats(0.01, 1.0),
)
def test_water_filling_agrees_with_the_loop(mass, share):
    mass = np.array(mass)
    n = max(round(share * mass.size), 1)
    made = capped(mass, n)
    np.testing.assert_allclose(made, water_filled(mass, n), atol=1e-9)
    np.testing.assert_allclose(made.sum(), n, rtol=1e-12)
    assert made.max() <= 1.0


def test_ties_are_treated_alike():
    made = capped(np.array([5.0, 5.0, 1.0, 1.0, 1.0]), 3)
    np.testing.assert_allclose(made, [1, 1, 1 / 3, 1 / 3, 1 / 3])


class Fixed:
    """A generator whose only number is given."""

    def __init__(self, start):
        self.start = start

    def random(self, shape):
        return np.full(shape, self.start)


@pytest.mark.parametrize("mass", [(1, 2, 3, 1, 2), (9, 1, 1, 2, 1), (1, 1, 1, 1, 1)])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_order_and_start_give_exact_chances_and_an_unbiased_mean(mass, n):
    """Enumerated: all orders of the line, and all starts between two borders at once."""
    inclusion = capped(np.array(mass, dtype=float), n)
    y = np.array([0.0, 1.0, 7.0, 2.0, 25.0])
    chance, mean = np.zeros(5), 0.0
    orders = list(permutations(range(5)))
    for order in orders:
        certain = inclusion[list(order)] >= 1 - 1e-12
        ends = inclusion[list(order)][~certain].cumsum()
        borders = np.unique(np.round(np.r_[0.0, ends % 1.0, 1.0], 12))
        for low, high in pairwise(borders):
            rows, _ = along_line(np.array([order]), inclusion, n, Fixed((low + high) / 2))
            assert len(set(rows[0].tolist())) == n
            chance[rows[0]] += (high - low) / len(orders)
            weight = 1 / (5 * inclusion[rows[0]])
            mean += (high - low) / len(orders) * (weight * y[rows[0]]).sum()
    np.testing.assert_allclose(chance, inclusion, atol=1e-10)
    np.testing.assert_allclose(mean, y.mean(), atol=1e-10)


@by_sampler
def test_segments_are_drawn_as_often_as_the_design_says(sampler):
    pool, _ = load_demo()
    draws, n = 3000, 200
    sample = sampler.draw(pool, n, draws=draws, rng=3)
    often = np.bincount(sample.indices.ravel(), minlength=len(pool)) / draws
    stated = np.zeros(len(pool))
    stated[sample.indices.ravel()] = sample.design.inclusion.ravel()
    # Every segment is hit in 3000 draws at a chance of 5 % or more.
    assert (often > 0).all()
    z = (often - stated) / np.sqrt(stated * (1 - stated) / draws)
    # 1418 normal deviates: the largest is below 4.9 with a chance of 0.999.
    assert np.abs(z).max() < 4.9
    np.testing.assert_allclose(sample.design.weights.sum(-1), 1.0)


@by_sampler
def test_a_batch_is_the_same_as_single_draws(sampler):
    pool, gold = load_demo()
    sample = sampler.draw(pool, 120, draws=3, rng=5)
    for estimator in (Mean(), ControlVariates(), Ridge(), Learned(KNN())):
        batch = estimator.estimate(sample.rate(gold[sample.indices]))
        for k in range(3):
            own = sample.draw(k)
            single = estimator.estimate(own.rate(gold[own.indices]))
            np.testing.assert_allclose(single.value, batch.value[k], rtol=1e-10)
            np.testing.assert_allclose(single.se, batch.se[k], rtol=1e-10)


@by_sampler
def test_the_standard_error_is_right_on_average(sampler):
    """For the mean on a random or stratified design; along documents it may be too large."""
    pool, gold = load_demo()
    sample = sampler.draw(pool, 150, draws=2000, rng=8)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    ratio = np.sqrt((made.se**2).mean()) / made.value.std()
    # The spread of 2000 draws is known to 1.6 %, doubled for skewness: four of these.
    assert ratio > 1 - 0.13
    assert ratio < (1.4 if isinstance(sampler, Systematic | Balanced) else 1.13)
    assert abs(made.value.mean() - gold.mean()) < 5 * made.value.std() / 2000**0.5 + 0.01


def test_certain_segments_add_nothing_to_the_variance():
    size = 40
    y = np.r_[np.zeros(36), 100.0, 0.0, 50.0, 0.0]
    spread = np.r_[np.ones(36), 200.0, 200.0, 200.0, 200.0]
    pool = Pool(np.arange(size), {"m": np.arange(size) * 1.0}, spread=spread)
    sample = SimpleRandom(chances=Chances(uniform=0.01)).draw(pool, 14, rng=1)
    assert {36, 37, 38, 39} <= set(sample.indices.tolist())
    made = Mean().estimate(sample.rate(y[sample.indices]))
    np.testing.assert_allclose(made.design.inclusion[-4:], 1.0)
    # All the others are 0, and the four are known: weights of the others sum to 36/40.
    np.testing.assert_allclose(made.value, 150 / 40, rtol=0.02)


def test_a_whole_pool_is_a_census():
    pool, gold = load_demo()
    for sampler in UNEVEN:
        sample = sampler.draw(pool, len(pool), rng=1)
        made = Mean().estimate(sample.rate(gold[sample.indices]))
        np.testing.assert_allclose(made.value, gold.mean())
        assert made.se == 0


def test_top_ups_continue_an_uneven_sample():
    pool, gold = load_demo()
    sampler = SimpleRandom(chances=BY_RANK)
    first = sampler.draw(pool, 60, rng=1)
    rated = first.rate(gold[first.indices])
    more = sampler.draw(pool, 40, given=rated, rng=2)
    assert not set(more.ids.tolist()) & set(first.ids.tolist())
    both = more.rate(gold[more.indices])
    made = Mean().estimate(both)
    assert both.n == 100 and np.isfinite(made.se)
    np.testing.assert_allclose(both.sample.design.weights.sum(), 1.0)


def test_guaranteed_bounds_refuse_uneven_chances():
    pool, gold = load_demo()
    sample = SimpleRandom(chances=BY_RANK).draw(pool, 60, rng=1)
    ratings = sample.rate(gold[sample.indices], limits=(0, 25))
    for bound in ("hoeffding", "betting", "bernstein"):
        with pytest.raises(
            DesignError, match=r"covers simple .* and this sample's design is 'uneven'"
        ):
            Mean(bound=bound).estimate(ratings).interval()


def test_spread_sources():
    pool, _ = load_demo()
    ranked = RankSpread()(pool)
    # The worst output by the metrics has the largest spread, and the mean is 1.
    assert ranked.argmax() == pool.composite().argmin()
    np.testing.assert_allclose(ranked.mean(), 1.0)
    np.testing.assert_array_equal(ExpectedSpread()(pool), 1.0)
    own = np.linspace(1, 2, len(pool))
    np.testing.assert_array_equal(ExpectedSpread()(pool.with_spread(own)), own)
    np.testing.assert_allclose(spread_of_probability(np.array([0, 0.5, 1])), [0, 0.5, 0])
    with pytest.raises(DataError, match=r"between 0 and 1; 1 of 2 does not, first 1\.5"):
        spread_of_probability(np.array([0.5, 1.5]))


def test_ratings_teach_where_they_stray():
    rng = np.random.default_rng(0)
    m = rng.normal(size=2000)
    pool = Pool(np.arange(2000), {"m": m})
    gold = 2 * m + np.exp(0.5 * m) * rng.normal(size=2000)
    sample = SimpleRandom().draw(pool, 200, rng=1)
    spread = RatedSpread(sample.rate(gold[sample.indices]))(pool)
    assert np.corrcoef(np.log(spread), 0.5 * m)[0, 1] > 0.95
    few = SimpleRandom().draw(pool, 10, rng=1)
    np.testing.assert_array_equal(RatedSpread(few.rate(gold[few.indices]))(pool), 1.0)
    constant = sample.rate(np.ones(200))
    np.testing.assert_array_equal(RatedSpread(constant)(pool), 1.0)


def _spread(values):
    return Chances(lambda pool: np.asarray(values))


def test_chances_that_do_not_fit():
    pool = Pool(np.arange(4), {"m": np.arange(4.0)})
    draw = lambda chances, n=2: SimpleRandom(chances=chances).draw(pool, n, rng=1)  # noqa: E731
    with pytest.raises(DataError, match=r"one number per segment, shape \(4,\); got \(3,\)"):
        draw(_spread([1, 2, 3]))
    with pytest.raises(DataError, match="1 of 4 expected spreads is negative, missing or inf"):
        draw(_spread([1, 2, -3, 1]))
    with pytest.raises(DataError, match="first for id 3"):
        draw(_spread([1, 2, 3, np.nan]))
    with pytest.raises(DataError, match="all expected spreads are 0"):
        draw(_spread([0, 0, 0, 0]))
    with pytest.raises(DesignError, match="above 0 and up to 1; got 0"):
        Chances(uniform=0)
    with pytest.raises(DesignError, match="above 0 and up to 1; got 'half'"):
        Chances(uniform="half")
    with pytest.raises(DesignError, match=r"must be a function .*got ndarray.*with_spread"):
        Chances(np.ones(4))
    for sampler in (SimpleRandom, Stratified, Systematic, Balanced):
        with pytest.raises(DesignError, match=r"must be Chances.* or None; got ndarray"):
            sampler(chances=np.full(4, 0.5))
    with pytest.raises(BudgetError, match="only 2 have a chance above 0"):
        capped(np.array([1.0, 2.0, 0.0, 0.0]), 3)
    with pytest.raises(DataError, match="at least 0 for every segment and above 0 for some"):
        Pool(np.arange(3), spread=[1.0, -1.0, 1.0])
    with pytest.raises(DataError, match=r"missing or infinite value, .* or no spread"):
        Pool(np.arange(3), spread=[1.0, np.nan, 1.0])
    with pytest.raises(DesignError, match="determine the allocation"):
        Stratified(allocation="optimal", chances=Chances())


def test_the_spread_is_part_of_the_pool():
    pool = Pool(np.arange(3), {"m": np.arange(3.0)})
    other = pool.with_spread(np.array([1.0, 2.0, 3.0]))
    assert other.fingerprint != pool.fingerprint
    assert set(other._digests()) - set(pool._digests()) == {"spread"}
    np.testing.assert_array_equal(other.take(np.array([2, 0])).spread, [3.0, 1.0])
    sample = Sample(other, np.arange(3), SimpleRandom().draw(other, 3, rng=0).design)
    assert sample.pool.spread is not None


def test_the_share_of_equal_chances_by_name():
    pool, _ = load_demo()
    for name in ("docs-uneven", "docs-uneven-rank", "docs-sys-uneven", "random-uneven"):
        made = registry.strategy(f"{name}+ridge", pool, uniform=0.7).sampler
        assert made.chances.uniform == 0.7 and made.name == name
    assert registry.strategy("docs-two-wave", uniform=0.7).sampler.uniform == 0.7
    with pytest.raises(DesignError, match="with the same chance, so there is nothing to mix"):
        registry.strategy("docs-balanced+ridge", uniform=0.7)
    with pytest.raises(DesignError, match="above 0 and up to 1; got 2"):
        registry.strategy("docs-two-wave", uniform=2)


def test_ranks_need_a_metric_of_known_direction():
    rng = np.random.default_rng(0)
    values = {"length": rng.normal(size=50), "mine": rng.normal(size=50)}
    for names, told in (((), "has none"), (("length",), "that of length is not"),
                        (("length", "mine"), "that of length, mine is not")):  # fmt: skip
        pool = Pool(np.arange(50), {m: values[m] for m in names})
        with pytest.raises(DesignError, match=told):
            SimpleRandom(chances=BY_RANK).draw(pool, 5, rng=0)
        assert "docs-uneven-rank+ridge" not in registry.strategy_names(pool)
    worse = Pool(np.arange(50), values, orientation={"mine": -1})
    assert RankSpread()(worse).argmax() == values["mine"].argmax()


def test_the_strategies_of_a_pool_follow_what_is_known():
    pool, _ = load_demo()
    known = pool.with_spread(np.ones(len(pool)))
    bare = Pool(pool.ids, spread=np.ones(len(pool)))
    assert registry.recommended(pool) == "docs-balanced+ridge"
    assert registry.recommended(known) == "docs-uneven+ridge"
    assert registry.recommended(bare) == "random-uneven+mean"
    two = "docs-two-wave+ridge"
    found = [{n for n in registry.strategy_names(p) if "uneven" in n or n == two}
             for p in (pool, known, bare)]  # fmt: skip
    assert found == [{"docs-uneven-rank+ridge", two}, {"docs-uneven+ridge", two}, set()]
