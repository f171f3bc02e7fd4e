"""Allocation and rounding against recursion and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from fewgold import Pool
from fewgold.samplers import Cost, SimpleRandom, Stratified
from fewgold.samplers.stratified import allocate, nearest_counts
from reference import best_rounding_cost, neyman


@st.composite
def cases(draw):
    """Masses, sizes and a budget that the sizes can hold."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    mass = [draw(st.sampled_from([0.0, 0.1, 1.0, 2.5, 7.0, 40.0])) for _ in sizes]
    n = draw(st.integers(1, sum(sizes)))
    return np.array(mass), np.array(sizes), n


@settings(max_examples=300, deadline=None)
@given(cases())
def test_allocate_matches_the_recursion(case):
    mass, sizes, n = case
    share = allocate(mass, sizes, n)
    np.testing.assert_allclose(share.sum(), n, rtol=1e-9)
    assert (share <= sizes).all()
    np.testing.assert_allclose(share, neyman(mass, sizes, n), atol=1e-8)


@settings(max_examples=150, deadline=None)
@given(cases(), st.integers(0, 1))
def test_rounding_is_as_near_as_any(case, least):
    mass, sizes, n = case
    if least * len(sizes) > n:
        least = 0
    share = allocate(mass, sizes, n)
    counts = nearest_counts(share, sizes, n, least=least)
    assert counts.sum() == n
    assert (counts >= np.minimum(least, sizes)).all()
    assert (counts <= sizes).all()
    best = best_rounding_cost(share, sizes.tolist(), n, least)
    assert np.abs(share - counts).sum() == pytest.approx(best, abs=1e-8)


def test_paper_example_of_an_over_full_stratum():
    """n_h - N_h is largest in the second stratum: it is taken whole and the rest shared again."""
    share = allocate(np.array([1.0, 50.0, 9.0]), np.array([10, 4, 6]), 12)
    assert share.tolist() == pytest.approx([2.0, 4.0, 6.0])  # 8 · 0.9 = 7.2 > 6: full in turn


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_allocation_does_not_depend_on_the_scale_of_the_mass(scale):
    mass, sizes = np.array([1.0, 2.0, 3.0]), np.array([10, 10, 10])
    np.testing.assert_allclose(allocate(mass * scale, sizes, 6), [1, 2, 3], rtol=1e-12)


def test_mass_of_nought_goes_by_size():
    np.testing.assert_allclose(allocate(np.zeros(2), np.array([2, 6]), 4), [1, 3])
    # The only stratum with a spread is full: the rest goes by size.
    np.testing.assert_allclose(allocate(np.array([1.0, 0, 0]), np.array([2, 2, 6]), 6), [2, 1, 3])


def test_rounding_refuses_what_it_cannot_meet():
    """Three strata with two each at the least do not fit into four: never a negative count."""
    with pytest.raises(ValueError, match="least"):
        nearest_counts(np.array([1.0, 1.0, 2.0]), np.array([5, 5, 5]), 4, least=2)


def test_neyman_allocation_follows_the_spread_of_the_metric():
    documents = np.repeat(["a", "b"], 10)
    metric = np.concatenate([np.tile([0.0, 1.0], 5), np.tile([0.0, 3.0], 5)])
    pool = Pool(ids=np.arange(20), documents=documents, metrics={"m": metric})
    sample = Stratified(allocation="optimal").draw(pool, 8, rng=0)
    assert np.bincount(pool.codes[sample.indices]).tolist() == [2, 6]


def test_cost_divides_by_the_root_of_the_mean_cost():
    documents = np.repeat(["a", "b"], 20)
    metric = np.tile([0.0, 1.0], 20)
    pool = Pool(
        ids=np.arange(40),
        documents=documents,
        metrics={"m": metric},
        cost=np.repeat([1.0, 9.0], 20),
    )
    sample = Stratified(allocation="optimal-cost").draw(pool, 12, rng=0)
    assert np.bincount(pool.codes[sample.indices]).tolist() == [9, 3]


def test_optimal_cost_is_the_least_variance_that_the_money_buys():
    """Strata of unequal size: of all allocations that cost no more, none has a lower variance."""
    sizes, cost = np.array([60, 20]), np.array([1.0, 9.0])
    pool = Pool(
        ids=np.arange(80),
        documents=np.repeat(["a", "b"], sizes),
        metrics={"m": np.tile([0.0, 1.0], 40)},
        cost=np.repeat(cost, sizes),
    )
    sample = Stratified(allocation="optimal-cost").draw(pool, 40, rng=0)
    counts = np.bincount(pool.codes[sample.indices])
    spent = counts @ cost
    affordable = [
        (int(a), int(b))
        for a in range(1, sizes[0] + 1)
        for b in range(1, sizes[1] + 1)
        if a * cost[0] + b * cost[1] <= spent
    ]
    best = min(affordable, key=lambda c: (sizes**2 / np.array(c)).sum())  # equal spreads
    assert counts.tolist() == list(best) == [36, 4]


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_flat_stratum_counts_with_a_quarter_of_the_pooled_spread(scale):
    """Spreads of 0 and 2 in halves of the pool: pooled √2, so masses are as √2/4 to 2."""
    metric = np.r_[np.zeros(200), 10 + np.tile([-2.0, 2.0], 100)]

    def spreads(pool, strata):  # the same by hand, in any unit
        return 200 * scale * np.array([np.sqrt(2) / 4, 2.0])

    pool = Pool(np.arange(400), {"m": scale * metric}, np.repeat(["a", "b"], 200))
    counts, expected = (
        np.bincount(pool.codes[Stratified(allocation=how).draw(pool, 100, rng=0).indices])
        for how in ("optimal", spreads)
    )
    assert counts.tolist() == expected.tolist() == [15, 85]


def test_a_cost_budget_pays_for_as_many_as_the_normal_tail_allows():
    cost = np.random.default_rng(1).gamma(2.0, 5.0, 200)
    pool = Pool(np.arange(200), cost=cost)
    for limit, risk in [(300, 0.5), (300, 0.05), (1000, 0.01)]:
        z = norm.isf(risk)

        def needed(n, z=z):
            return n * cost.mean() + z * np.sqrt(n * (1 - n / 200) * cost.var())

        most = max(n for n in range(1, 201) if needed(n) <= limit)
        assert SimpleRandom().count(pool, Cost(limit, risk)) == most
