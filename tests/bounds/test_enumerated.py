"""Every order in which a small pool can be drawn: the chance of a miss, exactly.

No simulation and no tolerance but that of rounding: each of the N!/(N−n)! ordered samples is as
likely as any other.
"""

from itertools import permutations, product

import numpy as np
import pytest

from fewgold import Pool
from fewgold.bounds import (
    Bernstein,
    BernsteinSerfling,
    Betting,
    Gaffke,
    Hoeffding,
    Hypergeometric,
    MaurerPontil,
    STaR,
    StratifiedBetting,
)
from fewgold.estimators import Mean
from fewgold.sample import Sample
from fewgold.samplers import SimpleRandom, Stratified

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
BOUNDS = [
    *(Hoeffding(), Bernstein(), MaurerPontil(), BernsteinSerfling()),
    *(Betting(), Betting(upper=0.8), STaR(), STaR(upper=0.8), StratifiedBetting()),
]
ODD = np.random.default_rng(0).beta(0.2, 0.2, 6)
POOLS = {
    **{f"{k} of 6": np.r_[np.zeros(6 - k), np.ones(k)] for k in range(1, 6)},
    "constant but one": np.r_[np.full(5, 0.07), 1.0],
    "odd": ODD,
    "even": np.arange(6) / 5,
    "skewed": ODD**4,
}


def ids(bound):
    return f"{bound.name}-{getattr(bound, 'upper', 0.5)}"


def every_order(gold, n):
    """Estimates from all ordered samples of n."""
    orders = np.array(list(permutations(range(len(gold)), n)))
    pool = Pool(np.arange(len(gold)))
    design = SimpleRandom().draw(pool, n, draws=len(orders), rng=0).design
    sample = Sample(pool, orders, design)
    return Mean().estimate(sample.rate(gold[orders], limits=(0.0, 1.0)))


def chances(made, bound, level, truth):
    """Chance that the interval lies above the truth, and below it."""
    low, high = made.interval(level, bound)
    return (low > truth + 1e-15).mean(), (high < truth - 1e-15).mean()


def check(made, bound, truth, levels=LEVELS):
    upper = getattr(bound, "upper", 0.5)
    for level in levels:
        above, below = chances(made, bound, level, truth)
        miss = 1 - level + 1e-12
        assert above <= miss * (1 - upper), (made.n, level)
        assert below <= miss * upper, (made.n, level)


@pytest.mark.sweep
@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
@pytest.mark.parametrize("pool", POOLS)
def test_no_end_misses_above_its_level(bound, pool):
    gold = POOLS[pool]
    for n in (1, 2, 3, 5):
        check(every_order(gold, n), bound, gold.mean())


@pytest.mark.parametrize("pool", POOLS)
def test_gaffke_and_exact_intervals(pool):
    gold = POOLS[pool]
    exact = [Hypergeometric()] if pool.endswith("of 6") else []
    for bound in (Gaffke(), *exact):
        check(every_order(gold, 3), bound, gold.mean())


def test_the_level_is_used_where_it_can_be():
    """Of four noughts and two ones, three of which are drawn: not just wide intervals."""
    gold = POOLS["2 of 6"]
    made = every_order(gold, 3)
    for bound in (Betting(), STaR(), Hypergeometric()):
        used = [chances(made, bound, c, gold.mean())[0] / ((1 - c) / 2) for c in LEVELS]
        assert max(used) > 0.6, bound.name


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "gold",
    [
        np.r_[0, 0, 1, 0, 0, 0, 1],
        np.r_[0, 0, 0, 1, 1, 1, 1],
        np.r_[0, 1, 1, 0.1, 0.1, 0.1, 1],
        np.r_[0.5, 0.2, 0.9, 0.3, 1.0, 0.0, 0.6],
    ],
    ids=["rare", "between", "mixed", "odd"],
)
@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (1, 3), (3, 2)])
@pytest.mark.parametrize("bound", [Hoeffding(), StratifiedBetting(), StratifiedBetting(upper=0.3)])
def test_two_strata(gold, counts, bound):
    """Three segments and four: all ordered samples of either, in all combinations."""
    gold = gold.astype(float)
    parts = [permutations(range(3), counts[0]), permutations(range(3, 7), counts[1])]
    orders = np.array([[*a, *b] for a, b in product(*parts)])
    pool = Pool(np.arange(7), documents=np.array([*"aaabbbb"]))
    sampler = Stratified(allocation=lambda *_: np.array(counts, float), rounding="printed")
    design = sampler.draw(pool, sum(counts), draws=len(orders), rng=0).design
    assert design.kind == "stratified"
    assert np.bincount(design.strata[0]).tolist() == list(counts)
    sample = Sample(pool, orders, design)
    check(Mean().estimate(sample.rate(gold[orders], limits=(0, 1))), bound, gold.mean())
