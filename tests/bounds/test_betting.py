"""Bounds that read the ratings in the order of drawing: Betting, STaR and Gaffke."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from fewgold import Pool
from fewgold.bounds import Betting, Gaffke, STaR, StratifiedBetting, sequence
from fewgold.bounds.gaffke import FILLINGS
from fewgold.chosen import read_labelled
from fewgold.errors import DesignError, UnknownNameError
from fewgold.estimators import ControlVariates, Mean
from fewgold.labels import partial_ratings
from fewgold.samplers import SimpleRandom, Stratified
from fewgold.testing import check_bound, toy_pool
from reference import intervals
from sweeps import quick

BOUNDS = [Betting(), Betting(upper=0.75), STaR(), STaR(upper=0.75), Gaffke()]
LIMITS = (0.0, 25.0)


def ids(bound):
    return f"{bound.name}-{bound.upper}"


def estimate_of(gold, n, draws=None, limits=LIMITS, rng=0):
    pool = Pool(np.arange(len(gold)))
    sample = SimpleRandom().draw(pool, n, draws=draws, rng=rng)
    return Mean().estimate(sample.rate(np.asarray(gold, float)[sample.indices], limits=limits))


def check_ends(fast, slow, scores):
    """The scan stops up to one step of its grid before the end; both are widened to the value."""
    step = 25 / 1000 + 1e-3
    (low, high), (left, right) = fast, slow
    assert left - 1e-3 <= low <= left + step or low == pytest.approx(scores.mean())
    assert right + 1e-3 >= high >= right - step or high == pytest.approx(scores.mean())


def skewed(size, rng=1):
    return np.minimum(np.random.default_rng(rng).exponential(2.0, size).round(1), 25.0)


@pytest.mark.parametrize("bound", [b for b in BOUNDS if b.upper != 0.5], ids=ids)
def test_check_kit(bound):
    """Those with even sides are in test_common.py."""
    check_bound(bound)


@pytest.mark.sweep
@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
@pytest.mark.parametrize(
    "gold",
    [
        np.zeros(60),
        np.full(60, 25.0),
        np.full(60, 7.3),
        np.r_[np.zeros(59), 25.0],
        np.r_[np.zeros(30), np.full(30, 25.0)],
        np.r_[np.full(59, 25.0), 0.0],
        np.linspace(0, 25, 60),
        np.r_[np.full(59, 1e-13), 25.0],
    ],
    ids=["zeros", "top", "constant", "one bad", "half", "one good", "uniform", "tiny"],
)
def test_edges(bound, gold):
    """Finite, ordered, within what is possible, and around the value."""
    for n in (1, 2, 3, 17, 59, 60):
        made = estimate_of(gold, n, draws=5)
        for confidence in (0.5, 0.8, 0.95, 0.999):
            check_edges(made, bound, gold, n, confidence)


def check_edges(made, bound, gold, n, confidence):
    low, high = made.interval(confidence, bound)
    rated, left = made.ratings.scores.sum(-1), 60 - n
    assert np.isfinite(low).all() and np.isfinite(high).all()
    assert (low <= made.value + 1e-12).all() and (made.value <= high + 1e-12).all()
    assert (low >= rated / 60 - 1e-9).all()
    assert (high <= (rated + 25 * left) / 60 + 1e-9).all()
    if n == 60:
        np.testing.assert_allclose(high - low, 0, atol=1e-12)
        np.testing.assert_allclose(low, gold.mean(), atol=1e-12)
    if n == 1 and confidence >= 0.95:
        assert (high - low > 10).all()  # one rating does not say much
    if n >= 59 and confidence >= 0.95:
        assert (low - 1e-12 <= gold.mean()).all() and (gold.mean() <= high + 1e-12).all()


@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
@pytest.mark.parametrize("n", [5, 40, 150])
def test_batch_equals_one_by_one(bound, n):
    made = estimate_of(skewed(200), n, draws=7)
    low, high = made.interval(0.95, bound)
    for k in range(7):
        alone = Mean().estimate(made.ratings.draw(k)).interval(0.95, bound)
        exact = bound.name != "gaffke"  # matrix products of other shapes round otherwise
        assert alone.low == (low[k] if exact else pytest.approx(low[k], rel=1e-12))
        assert alone.high == (high[k] if exact else pytest.approx(high[k], rel=1e-12))


@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
def test_turning_the_scale_turns_the_interval(bound):
    gold = skewed(120)
    made = estimate_of(gold, 40, draws=4)
    turned = Mean().estimate(made.ratings.sample.rate(25 - made.ratings.scores, limits=LIMITS))
    mirror = type(bound)(upper=1 - bound.upper)
    low, high = made.interval(0.9, bound)
    other = turned.interval(0.9, mirror)
    np.testing.assert_allclose(other.low, 25 - high, atol=1e-4)
    np.testing.assert_allclose(other.high, 25 - low, atol=1e-4)


@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
def test_other_scales_give_the_same_interval(bound):
    gold = skewed(120)
    made = estimate_of(gold, 40, draws=4)
    moved = made.ratings.sample.rate(3 * made.ratings.scores - 1000, limits=(-1000.0, -925.0))
    low, high = made.interval(0.9, bound)
    other = Mean().estimate(moved).interval(0.9, bound)
    np.testing.assert_allclose(other.low, 3 * low - 1000, atol=2e-4)
    np.testing.assert_allclose(other.high, 3 * high - 1000, atol=2e-4)


@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
def test_refuses_other_designs_and_unknown_scales(bound):
    pool, gold = toy_pool()
    sample = Stratified().draw(pool, 40, rng=1)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    with pytest.raises(DesignError, match=r"covers simple random samples.*bound=Student\(\)"):
        made.interval(0.95, bound)
    with pytest.raises(DesignError, match=r"needs the limits of the scale"):
        estimate_of(gold, 30, limits=None).interval(0.95, bound)
    with pytest.raises(DesignError, match="share of the error probability"):
        type(bound)(upper=1.0)


def test_any_estimator_may_be_asked():
    """The interval is about the pool, not about the estimator: only its value must be held."""
    pool, gold = toy_pool()
    sample = SimpleRandom().draw(pool, 40, draws=20, rng=1)
    ratings = sample.rate(gold[sample.indices], limits=LIMITS)
    plain, tuned = Mean().estimate(ratings), ControlVariates().estimate(ratings)
    low, high = plain.interval(0.95, Betting())
    other = tuned.interval(0.95, Betting())
    np.testing.assert_array_equal(other.low, np.minimum(low, tuned.value))
    np.testing.assert_array_equal(other.high, np.maximum(high, tuned.value))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    "gold", [skewed(80), np.r_[np.zeros(70), np.full(10, 25.0)]], ids=["skewed", "two points"]
)
@pytest.mark.parametrize("n", [3, 20, 70])
def test_betting_is_the_scan_of_all_means(gold, n, confidence):
    made = estimate_of(gold, n, draws=3)
    low, high = made.interval(confidence, Betting())
    for k in range(3):
        scores = made.ratings.scores[k]
        check_ends((low[k], high[k]), intervals.scan(scores, 80, LIMITS, confidence), scores)


def test_betting_with_a_metric_is_the_scan_with_a_metric():
    pool, gold = toy_pool(400)
    sample = SimpleRandom().draw(pool, 200, draws=4, rng=3)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    low, high = made.interval(0.9, Betting(metric="comet"))
    plain = made.interval(0.9, Betting())
    for k in range(4):
        x = made.ratings.scores[k]
        told = intervals.foretold(x / 25, pool.metrics["comet"], sample.indices[k])
        check_ends((low[k], high[k]), intervals.scan(x, 400, LIMITS, 0.9, told=told), x)
    assert (high - low).mean() < 0.97 * (plain.high - plain.low).mean()
    mean = made.interval(0.9, Betting(metric="mean"))
    assert (mean.high > mean.low).all()
    with pytest.raises(UnknownNameError, match=r"'comets'.*'comet'"):
        made.interval(0.9, Betting(metric="comets"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize(
    "gold", [skewed(80), np.r_[np.zeros(70), np.full(10, 25.0)]], ids=["skewed", "two points"]
)
@pytest.mark.parametrize("n", [3, 20, 70])
def test_star_is_its_twin(gold, n, confidence):
    made = estimate_of(gold, n, draws=3)
    low, high = made.interval(confidence, STaR())
    miss = (1 - confidence) / 2
    for k in range(3):
        x = made.ratings.scores[k] / 25
        left = min(25 * intervals.star_low(x, 80, miss), made.value[k])
        right = max(25 - 25 * intervals.star_low(1 - x, 80, miss), made.value[k])
        assert (low[k], high[k]) == pytest.approx((left, right), abs=2 * 25e-6)


def test_star_with_a_metric_is_its_twin():
    pool, gold = toy_pool(300)
    sample = SimpleRandom().draw(pool, 150, draws=3, rng=3)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    low, high = made.interval(0.9, STaR(metric="comet"))
    plain = made.interval(0.9, STaR())
    for k in range(3):
        x = made.ratings.scores[k] / 25
        told = intervals.foretold(x, pool.metrics["comet"], sample.indices[k])
        left = 25 * intervals.star_low(x, 300, 0.05, told)
        turned = (-told[0], -told[2], -told[1])
        right = 25 - 25 * intervals.star_low(1 - x, 300, 0.05, turned)
        assert (low[k], high[k]) == pytest.approx((left, right), abs=2 * 25e-6)
    assert (high - low).mean() < (plain.high - plain.low).mean()


def test_star_is_narrower_than_betting():
    made = estimate_of(skewed(400), 120, draws=50)
    star, betting = (np.subtract(*made.interval(0.95, b)[::-1]) for b in (STaR(), Betting()))
    assert star.mean() < 0.95 * betting.mean()


@pytest.mark.sweep
@pytest.mark.parametrize(("n", "size"), [(1, 2), (1, 9), (6, 40), (39, 40), (60, 300)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_gaffke_is_exact_for_binary_scores(n, size, confidence):
    ones = np.arange(n + 1)
    scores = (np.arange(n) < ones[:, None]) * 25.0
    sample = SimpleRandom().draw(Pool(np.arange(size)), n, draws=n + 1, rng=0)
    made = Mean().estimate(sample.rate(scores, limits=LIMITS))
    low, high = made.interval(confidence, Gaffke())
    for k in ones:
        left, right = intervals.hypergeometric(k, n, size, confidence)
        # The exact interval may miss the sample's mean by the discreteness of counts.
        assert low[k] == pytest.approx(25 * min(left / size, k / n), abs=1e-9)
        assert high[k] == pytest.approx(25 * max(right / size, k / n), abs=1e-9)


@pytest.mark.parametrize(
    ("n", "size"), quick([(12, 20), (30, 200), (5, 2000)], [(12, 20), (30, 200)])
)
def test_gaffke_is_the_urn(n, size):
    """Both ways of drawing the fillings agree with an urn whose balls are drawn one by one."""
    gold = skewed(size)
    made = estimate_of(gold, n)
    low, high = made.interval(0.9, Gaffke())
    sums = intervals.polya_sums(made.ratings.scores, size, 25.0, 3000)
    for end, guard in ((low, 0), (high, 1)):
        side = 0.05 if guard == 0 else 0.95
        # Below the end lies the quantile's share of the urn's sums, less the safety margin.
        share = (sums[guard] / size < end).mean()
        margin = 2 * np.sqrt(0.05 * 0.95 / 16384)
        inward = side - margin if guard == 0 else side + margin
        assert abs(share - inward) < 5 * np.sqrt(0.05 * 0.95 / 3000) + 0.002


def test_gaffke_errs_to_the_safe_side_by_twice_the_error_of_its_simulation():
    """Equal ratings in the middle of the scale: how many of the urn's draws are ratings is known.

    It is beta-binomial, and the simulated end stands at its quantile less twice the error.
    """
    safe = []
    for n, size in [(20, 2000), (30, 2500), (40, 3000), (150, 1500)]:
        sample = SimpleRandom().draw(Pool(np.arange(size)), n, rng=0)
        made = Mean().estimate(sample.rate(np.full(n, 12.5), limits=LIMITS))
        for confidence in (0.8, 0.9, 0.95):
            low, high = made.interval(confidence, Gaffke())
            miss = (1 - confidence) / 2
            error = np.sqrt(miss * (1 - miss) / FILLINGS)
            for end in (low, 25 - high):  # the guard stands at 0, and on the turned scale too
                drawn = np.round((end * size - 12.5 * n) / 12.5)
                chance = stats.betabinom(size - n, n, 1).cdf(drawn)
                safe.append((miss - chance) / error)
    assert 1 < np.mean(safe) < 3  # 24 ends of 4 simulations: 2, give or take 0.4


def test_gaffke_does_not_look_at_the_order():
    made = estimate_of(skewed(100), 30, draws=3)
    sample = made.ratings.sample
    turned = sample.rate(made.ratings.scores[:, ::-1], limits=LIMITS)
    one, other = made.interval(0.9, Gaffke()), Mean().estimate(turned).interval(0.9, Gaffke())
    np.testing.assert_allclose(one.low, other.low, rtol=1e-12)
    np.testing.assert_allclose(one.high, other.high, rtol=1e-12)


def test_a_metric_without_meaning_costs_little():
    pool, gold = toy_pool()
    noise = Pool(pool.ids, {"noise": np.random.default_rng(0).normal(size=120)})
    sample = SimpleRandom().draw(noise, 60, draws=50, rng=3)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))
    with_noise, without = (
        np.subtract(*made.interval(0.9, Betting(metric=m))[::-1]).mean() for m in ("noise", None)
    )
    assert with_noise < 1.1 * without


@pytest.mark.sweep
@pytest.mark.parametrize("bound", BOUNDS, ids=ids)
@pytest.mark.parametrize("share", [0.001, 0.02, 0.5])
def test_sparse_scores_do_not_miss(bound, share):
    """Most of them 0 and the unrated sum at its least possible value: no rounding refuses it."""
    gold = np.zeros(600)
    gold[: round(600 * share)] = np.random.default_rng(0).uniform(0.1, 25, round(600 * share))
    made = estimate_of(gold, 300, draws=400)
    low, high = made.interval(0.9, bound)
    missed = (low > gold.mean()) | (high < gold.mean())
    assert missed.sum() <= 40 + 4.5 * np.sqrt(400 * 0.1 * 0.9)


@pytest.mark.parametrize(
    ("bound", "chosen"),
    [(Betting(), "random"), (STaR(), "random"), (StratifiedBetting(), "strata:part")],
)
def test_labels_in_the_order_of_the_table_are_put_into_a_random_order(bound, chosen):
    """A table sorted by score: in its order the bets lose, and half of the intervals miss."""
    size, draws, rng = 600, 60, np.random.default_rng(3)
    table = pd.DataFrame({"id": np.arange(size), "part": np.arange(size) % 2})
    scores = (np.arange(size) >= 120).astype(float)
    missed = np.zeros(2)
    for _ in range(draws):
        rows = rng.choice(size, 80, replace=False)
        labels = np.where(np.isin(np.arange(size), rows), scores, np.nan)
        found = read_labelled(table.assign(human=labels), chosen=chosen, metrics=[])
        low, high = Mean(bound=bound).estimate(partial_ratings(found).complete()).interval(0.8)
        missed += low > scores.mean(), high < scores.mean()
    assert (missed / draws <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / draws)).all()
    if chosen == "random":
        with pytest.raises(DesignError, match="existing labels do not have"):
            sequence.path(partial_ratings(found).complete(), tolerance=0.1)
