"""Bounds with a finite-sample formula: closed forms, and exact ones for scores of two values."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from fewgold import registry
from fewgold.bounds import (
    Bernstein,
    BernsteinSerfling,
    Betting,
    ClopperPearson,
    Gaffke,
    Hoeffding,
    Hypergeometric,
    MaurerPontil,
    STaR,
    StratifiedBetting,
    Student,
)
from fewgold.datasets import load_demo
from fewgold.errors import DesignError, UnknownNameError
from fewgold.estimators import ControlVariates, Mean, Ridge
from fewgold.pool import Pool
from fewgold.samplers import ByMetric, SimpleRandom, Stratified, Systematic
from fewgold.testing import check_bound, toy_pool
from reference import approximate as twin
from reference import intervals

CLOSED = [Hoeffding(), Bernstein(), MaurerPontil(), BernsteinSerfling()]
ORDERED = [Betting(), STaR(), StratifiedBetting(), Gaffke()]
BINARY = [Hypergeometric(), ClopperPearson()]
EVERY = pytest.mark.parametrize("bound", [*CLOSED, *BINARY], ids=lambda b: b.name)


def coins(bound, size=60, n=15, draws=None, share=0.3, limits=(0.0, 1.0), seed=0):
    """Estimates from scores at either limit."""
    rng = np.random.default_rng(seed)
    gold = np.where(rng.random(size) < share, limits[1], limits[0])
    sample = SimpleRandom().draw(Pool(np.arange(size)), n, draws=draws, rng=seed)
    ratings = sample.rate(gold[sample.indices], limits=limits)
    return Mean(bound=bound).estimate(ratings), gold.mean()


@pytest.mark.parametrize("bound", CLOSED, ids=lambda b: b.name)
def test_check_kit(bound):
    check_bound(bound)


@pytest.mark.parametrize("bound", BINARY, ids=lambda b: b.name)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_check_kit_of_two_values(bound, share):
    for limits in ((0.0, 1.0), (-3.0, 5.0)):
        check_bound(
            bound,
            limits=limits,
            population=lambda r, ends=limits: np.where(r.random(200) < share, *ends[::-1]),
        )


@pytest.mark.parametrize("n", [2, 3, 29, 30, 31, 59])
def test_closed_forms_against_the_formulas(n):
    pool, gold = toy_pool(60)
    sample = SimpleRandom().draw(pool, n, rng=n)
    # limits so wide that nothing is cut off
    ratings = sample.rate(gold[sample.indices], limits=(-1e9, 1e9))
    for bound, half in (
        (MaurerPontil(printed=True, score_range=25), twin.maurer_pontil(ratings.scores, 25, 0.1)),
        (
            BernsteinSerfling(printed=True, score_range=25),
            twin.bernstein_serfling(ratings.scores, 60, 25, 0.1),
        ),
    ):
        made = Mean(bound=bound).estimate(ratings)
        low, high = made.interval(0.9)
        np.testing.assert_allclose([made.value - low, high - made.value], half, rtol=1e-12)


@pytest.mark.parametrize("bound", CLOSED, ids=lambda b: b.name)
def test_what_cannot_be_is_cut_off(bound):
    """With n of N rated, the mean is at least their sum over N, and the rest at the limit."""
    pool, gold = toy_pool(60)
    for n in (1, 2, 30, 59, 60):
        sample = SimpleRandom().draw(pool, n, draws=4, rng=n)
        made = Mean(bound=bound).estimate(sample.rate(gold[sample.indices], limits=(0, 25)))
        low, high = made.interval(0.95)
        known = gold[sample.indices].sum(-1) / 60
        assert np.all(low >= known - 1e-11) and np.all(high <= known + 25 * (60 - n) / 60 + 1e-11)
    np.testing.assert_allclose(low, high)
    np.testing.assert_allclose(low, gold.mean())


@pytest.mark.parametrize("bound", [Hoeffding, Bernstein, MaurerPontil, BernsteinSerfling])
def test_closed_forms_with_a_range_instead_of_limits(bound):
    pool, gold = toy_pool(60)
    for n in (1, 20, 60):
        sample = SimpleRandom().draw(pool, n, draws=3, rng=n)
        made = Mean(bound=bound(score_range=25)).estimate(sample.rate(gold[sample.indices]))
        low, high = made.interval(0.9)
        assert np.all((low <= gold.mean() + 1e-12) & (gold.mean() <= high + 1e-12))
    np.testing.assert_allclose(high - low, 0, atol=1e-12)


@pytest.mark.parametrize("bound", CLOSED, ids=lambda b: b.name)
def test_closed_forms_with_fixed_slopes(bound):
    pool, gold = toy_pool()
    estimator = ControlVariates(slopes={"comet": -1.0}, bound=bound)
    sample = SimpleRandom().draw(pool, 60, draws=50, rng=0)
    low, high = estimator.estimate(sample.rate(gold[sample.indices], limits=(0, 25))).interval()
    assert np.all((low <= gold.mean()) & (gold.mean() <= high))


@pytest.mark.parametrize(
    ("n", "size"), [(1, 1), (1, 7), (4, 9), (9, 9), (5, 23), (22, 23), (39, 40)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_hypergeometric_against_trying_all_pools(n, size, confidence):
    for k in range(n + 1):
        scores = np.r_[np.ones(k), np.zeros(n - k)]
        sample = SimpleRandom().draw(Pool(np.arange(size)), n, rng=0)
        made = Mean(bound=Hypergeometric()).estimate(sample.rate(scores, limits=(0, 1)))
        low, high = intervals.hypergeometric(k, n, size, confidence)
        # The value k/n need not be a share that a pool can have; intervals hold it nevertheless.
        ends = min(low / size, k / n), max(high / size, k / n)
        np.testing.assert_allclose(made.interval(confidence), ends, rtol=0, atol=1e-12)


@pytest.mark.parametrize("bound", BINARY, ids=lambda b: b.name)
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
def test_coverage_by_enumeration(bound, confidence):
    """Every pool of up to 14 segments, every sample size: never below the promise."""
    for size in range(1, 15):
        for n in range(1, size + 1):
            low, high = bound._shares(np.arange(n + 1), n, size, 1 - confidence)
            for ones in range(size + 1):
                held = (low <= ones / size + 1e-12) & (ones / size <= high + 1e-12)
                chance = sum(twin.chance_of(int(k), size, ones, n) for k in np.flatnonzero(held))
                assert chance >= confidence - 1e-12, (size, n, ones)


def test_clopper_pearson_against_statsmodels():
    """In a pool without end nothing is cut off."""
    for n in (1, 2, 50):
        k = np.arange(n + 1)
        low, high = ClopperPearson()._shares(k, n, 10**9, 0.05)
        np.testing.assert_allclose([low, high], proportion_confint(k, n, 0.05, "beta"), atol=1e-7)


def test_hypergeometric_is_the_narrower_and_both_agree_in_large_pools():
    for size in (60, 10**6):
        k = np.arange(31)
        exact, ignorant = (b._shares(k, 30, size, 0.05) for b in BINARY)
        assert np.all(exact.low >= ignorant.low - 1 / size)
        assert np.all(exact.high <= ignorant.high + 1 / size)
    np.testing.assert_allclose(exact, ignorant, atol=1e-5)


@EVERY
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_extremes(bound, confidence):
    for n in (1, 2, 3, 60):
        for share in (0.0, 0.3, 1.0):
            made, truth = coins(bound, n=n, draws=5, share=share)
            low, high = made.interval(confidence)
            assert low.shape == high.shape == (5,)
            assert np.all((low >= 0) & (high <= 1))
            assert np.all((low <= made.value + 1e-12) & (made.value <= high + 1e-12))
            if n == 60:
                np.testing.assert_allclose([low, high], truth, atol=1e-12)
            else:
                assert np.all(low < high)


@EVERY
def test_batch_equals_one_by_one(bound):
    made, _ = coins(bound, draws=20)
    low, high = made.interval(0.9)
    for k in range(20):
        one = Mean(bound=bound).estimate(made.ratings.draw(k))
        np.testing.assert_allclose(one.interval(0.9), [low[k], high[k]], rtol=1e-12)


@EVERY
def test_refuses_other_designs_and_estimates(bound):
    pool, gold = toy_pool()
    ends = np.where(gold > 3, 25.0, 0.0)
    other = Systematic().draw(pool, 40, rng=0)
    made = Mean(bound=bound).estimate(other.rate(ends[other.indices], limits=(0, 25)))
    with pytest.raises(
        DesignError, match=r"this sample's design is 'systematic'.*bound=Student\(\)"
    ):
        made.interval()
    stratified = Stratified(ByMetric(bins=3)).draw(pool, 40, rng=0)
    made = Mean(bound=bound).estimate(stratified.rate(ends[stratified.indices], limits=(0, 25)))
    if isinstance(bound, Hoeffding):
        made.interval()
    else:
        with pytest.raises(
            DesignError, match=r"this sample's design is 'stratified'.*bound=StratifiedBetting"
        ):
            made.interval()
    sample = SimpleRandom().draw(pool, 40, rng=0)
    made = Ridge(bound=bound).estimate(sample.rate(ends[sample.indices], limits=(0, 25)))
    with pytest.raises(DesignError, match=r"bound=Betting\(\).*bound=Student\(\)"):
        made.interval()
    made = Mean(bound=bound).estimate(sample.rate(ends[sample.indices]))
    with pytest.raises(DesignError, match=r"limits.*bound=Student\(\)"):
        made.interval()


@pytest.mark.parametrize("bound", BINARY, ids=lambda b: b.name)
def test_refuses_scores_between_the_limits(bound):
    pool, gold = toy_pool()
    sample = SimpleRandom().draw(pool, 40, rng=0)
    made = Mean(bound=bound).estimate(sample.rate(gold[sample.indices], limits=(0, 25)))
    with pytest.raises(DesignError, match=r"lie between.*Betting\(\)"):
        made.interval()
    made.interval(bound=BernsteinSerfling())
    made.interval(bound=Student())


def test_labels():
    assert MaurerPontil().label == "maurer-pontil, conjectured"
    assert BernsteinSerfling().label == "bernstein-serfling, guaranteed"
    assert Hypergeometric().label == "hypergeometric, guaranteed for scores of two values"
    assert Gaffke().label == "gaffke, conjectured"


@pytest.mark.parametrize("bound", [*CLOSED, *BINARY, *ORDERED], ids=lambda b: b.name)
def test_says_what_it_assumes_and_where_it_comes_from(bound):
    assert "random samples" in bound.assumes
    assert re.search(r"\(\d{4}\), [A-Z]", bound.reference)
    again = pickle.loads(pickle.dumps(bound))
    assert again == bound
    assert again.kind == bound.kind == type(bound).kind


@pytest.mark.parametrize("bound", CLOSED, ids=lambda b: b.name)
def test_what_is_applied_as_printed_is_not_guaranteed(bound):
    """The label goes by what was asked for: the same formula, without what its proof needs."""
    printed = type(bound)(printed=True, score_range=4)
    assert printed.kind == "approximate"
    assert pickle.loads(pickle.dumps(printed)).kind == "approximate"
    assert "not guaranteed" in printed.label
    pool, gold = toy_pool()
    sample = SimpleRandom().draw(pool, 40, rng=0)
    made = Mean(bound=printed).estimate(sample.rate(gold[sample.indices], limits=(0, 25)))
    assert made.to_dict()["bound_kind"] == "approximate"
    assert "guaranteed)" not in made.summary()
    with pytest.raises(DesignError, match="less than the range of the scale"):
        made.interval(bound=type(bound)(score_range=4))


def test_the_algebra_of_bernstein():
    """From the three events of its proof to σ̂ sqrt(2L) + 3RL, L = ln(3/δ)/n, with R = 1.

    The tails of the mean give d ≤ σ sqrt(2L) + L/3, that of the squares σ² ≤ σ̂² + d² + σ sqrt(2L).
    Beyond 3L = 1 there is nothing to prove.
    """
    sd = np.linspace(0, 0.5, 1001)[:, None]
    root = np.linspace(1e-4, np.sqrt(1 / 3), 1001)
    off = sd * np.sqrt(2) * root + root**2 / 3
    seen = np.sqrt(np.maximum(sd**2 - off**2 - sd * np.sqrt(2) * root, 0.0))
    needed = (off - seen * np.sqrt(2) * root) / root**2
    assert 2.8 < needed.max() < 2.9


@pytest.mark.parametrize("n", [30, 31, 45, 59, 60])
def test_hoeffding_beyond_half_of_the_pool_goes_by_what_is_left(n):
    pool, gold = toy_pool(60)
    sample = SimpleRandom().draw(pool, n, rng=0)
    middle = float(gold[sample.indices].mean())  # limits so wide that nothing is cut off
    ratings = sample.rate(gold[sample.indices], limits=(middle - 500, middle + 500))
    low, high = Mean(bound=Hoeffding()).estimate(ratings).interval(0.9)
    left = 60 - n
    # N·mean is off by as much as the sum of those left out is, a sample of `left`.
    half = 1000 * np.sqrt(left * (1 - (left - 1) / 60) * np.log(2 / 0.1) / 2) / n
    possible = 500 * left / 60
    assert (high - low) / 2 == pytest.approx(min(half, possible), rel=1e-9, abs=1e-9)


def test_clopper_pearson_keeps_its_promise_with_both_ends_only():
    """One of 1,030 at the top and 26 drawn: the lower end misses it whenever it is seen.

    That is 2.52 % of all samples, where δ/2 is 2.5 %; the upper end then never misses.
    """
    count = np.arange(27)
    low, high = ClopperPearson()._shares(count, 26, 1030, 0.05)
    missed = (low > 1 / 1030) | (high < 1 / 1030)
    chance = sum(twin.chance_of(int(k), 1030, 1, 26) for k in np.flatnonzero(missed))
    assert 0.025 < chance < -np.log1p(-0.025) < 0.05


def test_clopper_pearson_refuses_what_is_not_proved():
    made, _ = coins(ClopperPearson())
    made.interval(0.5)
    with pytest.raises(DesignError, match=r"50 % or more; got 40%.*bound=Betting\(\)"):
        made.interval(0.4)


@pytest.mark.parametrize("strategy", ["random+ridge", "metrics-prop+ridge", "docs-uneven+ridge"])
@pytest.mark.parametrize("bound", CLOSED, ids=lambda bound: bound.name)
def test_a_refusal_advises_bounds_that_cover_the_design_too(strategy, bound):
    pool, gold = load_demo("ende")
    sampler, estimator = strategy.split("+")
    sample = registry.sampler(sampler).draw(pool, 60, rng=0)
    ratings = sample.rate(gold[sample.indices], limits=(0, 25))
    made = registry.estimator(estimator, pool).estimate(ratings)
    with pytest.raises(DesignError) as refused:
        made.interval(0.95, bound)
    advised = re.findall(r"--bound ([a-z-]+)", refused.value.hints["cli"])
    assert "student" in advised
    for name in advised:
        low, high = made.interval(0.95, registry.bound(name))
        assert low <= made.value <= high


def test_a_tuned_estimate_may_ask_a_bound_that_goes_by_the_ratings():
    """Ridge with STaR: guaranteed for the pool's mean, and wide enough to hold the value."""
    pool, gold = toy_pool(300)
    sample = SimpleRandom().draw(pool, 100, rng=0)
    ratings = sample.rate(gold[sample.indices], limits=(0, 25))
    made = Ridge(bound=STaR(metric="mean")).estimate(ratings)
    plain = Mean(bound=STaR(metric="mean")).estimate(ratings)
    assert "star, guaranteed" in made.summary()
    assert made.to_dict()["bound_kind"] == "guaranteed"
    low, high = made.interval()
    assert low <= min(made.value, gold.mean()) and max(made.value, gold.mean()) <= high
    other = plain.interval()
    assert (low, high) == (min(other.low, made.value), max(other.high, made.value))


def test_printed_bounds_by_name():
    """Table 5 of Saldías et al. (2022): docs-prop+cv-knn with R = 4, from the command line too."""
    made = registry.bound("hoeffding-printed:4")
    assert (made.printed, made.score_range, made.kind) == (True, 4.0, "approximate")
    assert registry.bound("Bernstein-printed").score_range is None
    pool, gold = load_demo()
    strategy = registry.strategy("docs-prop+cv-knn", pool)
    sample = strategy.select(pool, 142, rng=1)
    ratings = sample.rate(dict(zip(pool.ids, gold, strict=True)))
    estimate = replace(strategy, bound=made).estimate(ratings)
    low, high = estimate.interval(0.95)
    half = 4 * np.sqrt((1 - 141 / 1418) * np.log(40) / (2 * 142))
    assert (high - low) / 2 == pytest.approx(half)
    assert "hoeffding" in estimate.signature() and "4" in estimate.signature().split("ci:")[1]
    with pytest.raises(UnknownNameError, match="hoeffding-printed"):
        registry.bound("student-printed")
    with pytest.raises(DesignError, match="must be a number, such as 4; got 'wide'"):
        registry.bound("hoeffding-printed:wide")
