"""Sequences: the interval after each rating, stopping, monitors and what a tolerance costs."""

import numpy as np
import pytest

from fewgold import Pool
from fewgold.bounds import sequence
from fewgold.bounds.sequence.kelly import first_stop, games
from fewgold.bounds.sequence.rules import HallRule, KellyRule
from fewgold.errors import DataError, DesignError, FewgoldError, UnknownNameError
from fewgold.samplers import SimpleRandom, Stratified
from fewgold.testing import toy_pool
from reference import intervals, sequences

LIMITS = (0.0, 25.0)
RULES = ["kelly", "hall"]
POOLS = {
    "zeros": np.zeros(60),
    "top": np.full(60, 25.0),
    "constant": np.full(60, 7.3),
    "one bad": np.r_[np.zeros(59), 25.0],
    "half": np.r_[np.zeros(30), np.full(30, 25.0)],
    "one good": np.r_[np.full(59, 25.0), 0.0],
    "uniform": np.linspace(0, 25, 60),
    "tiny": np.r_[np.full(59, 1e-13), 25.0],
}


def skewed(size, rng=1):
    return np.minimum(np.random.default_rng(rng).exponential(2.0, size).round(1), 25.0)


def rated(gold, n=None, draws=None, limits=LIMITS, rng=0):
    sample = SimpleRandom().draw(Pool(np.arange(len(gold))), n or len(gold), draws=draws, rng=rng)
    return sample.rate(np.asarray(gold, float)[sample.indices], limits=limits)


def toy(n=120, size=300, draws=None):
    pool, gold = toy_pool(size)
    sample = SimpleRandom().draw(pool, n, draws=draws, rng=3)
    return sample.rate(gold[sample.indices], limits=LIMITS)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("tolerance", [0.5, 3.0])
@pytest.mark.parametrize("gold", [skewed(70), POOLS["one bad"]], ids=["skewed", "one bad"])
def test_the_path_is_the_scan_of_all_means(gold, tolerance, confidence):
    ratings = rated(gold)
    made = sequence.path(ratings, tolerance, confidence)
    low, high = sequences.scan_path(ratings.scores, len(gold), LIMITS, tolerance, confidence)
    step = 25 / 1000
    # Once all means are refused, which is a miss, there is nothing to compare.
    some = np.flatnonzero(low <= high)
    assert some.size > 5
    left, right = (made.low - low)[some], (high - made.high)[some]
    assert left.min() > -1e-4 and left.max() < step + 1e-4
    assert right.min() > -1e-4 and right.max() < step + 1e-4


def test_the_path_with_a_metric_is_the_scan_with_a_metric():
    ratings = toy()
    made = sequence.path(ratings, 2.0, metric="comet")
    pool, rows = ratings.sample.pool, ratings.sample.indices
    told = intervals.foretold(ratings.scores / 25, pool.metrics["comet"], rows)
    low, high = sequences.scan_path(ratings.scores, 300, LIMITS, 2.0, told=told, steps=500)
    step = 25 / 500
    assert (made.low - low > -1e-4).all() and (made.low - low < step + 1e-4).all()
    assert (high - made.high > -1e-4).all() and (high - made.high < step + 1e-4).all()
    plain = sequence.path(ratings, 2.0)
    assert made.half_width[-1] < 0.97 * plain.half_width[-1]
    assert made.metric == "comet" and "metric:comet" in made.signature()


@pytest.mark.parametrize("metric", [None, "comet"])
@pytest.mark.parametrize("n", [4, 30, 119])
def test_hall_is_its_twin(n, metric):
    ratings = toy()
    made = sequence.path(ratings, 1.0, metric=metric, rule="hall")
    pool, rows = ratings.sample.pool, ratings.sample.indices[:n]
    column = None if metric is None else pool.metrics[metric]
    low, high = sequences.hall(ratings.scores[:n], 300, 0.95, column, rows)
    assert made.low[n - 1] == pytest.approx(max(low, 0), rel=1e-9)
    assert made.high[n - 1] == pytest.approx(high, rel=1e-9)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("metric", [None, "comet", "mean"])
def test_batch_equals_one_by_one(rule, metric):
    ratings = toy(draws=5)
    made = sequence.path(ratings, 1.0, metric=metric, rule=rule)
    assert made.low.shape == made.high.shape == made.mean.shape == (5, 120)
    for k in range(5):
        alone = sequence.path(ratings.draw(k), 1.0, metric=metric, rule=rule)
        np.testing.assert_allclose(alone.low, made.low[k], rtol=0, atol=1e-9)
        np.testing.assert_allclose(alone.high, made.high[k], rtol=0, atol=1e-9)
        assert alone.stopped == made.stopped[k]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("metric", [None, "comet"])
def test_the_monitor_is_the_path(rule, metric):
    ratings = toy(n=90, size=150)
    made = sequence.path(ratings, 1.5, 0.9, metric=metric, rule=rule, upper=0.6)
    pool, ids = ratings.sample.pool, ratings.sample.ids
    monitor = sequence.Monitor(
        pool, "mqm", 1.5, confidence=0.9, metric=metric, rule=rule, upper=0.6
    )
    assert monitor.interval == LIMITS and not monitor.stop and "continue" in monitor.summary()
    for k in range(90):
        before = monitor
        monitor = monitor.add(ratings.scores[k], id=ids[k])
        assert (before.n, monitor.n) == (k, k + 1)
        assert monitor.interval.low == pytest.approx(made.low[k], abs=1e-9)
        assert monitor.interval.high == pytest.approx(made.high[k], abs=1e-9)
        assert monitor.stop == (0 < made.stopped <= k + 1)
    at_once = sequence.Monitor(pool, LIMITS, 1.5, 0.9, metric, rule, 0.6).add(ratings.scores, ids)
    assert at_once.interval == monitor.interval
    assert at_once.path.stopped == made.stopped > 0
    assert at_once.summary().startswith("Stop: after")


@pytest.mark.parametrize("metric", [None, "comet"])
def test_the_fast_search_stops_where_the_path_does(metric):
    ratings = toy(n=300, draws=30)
    x, rows = ratings.scores / 25, ratings.sample.indices
    column = ratings.sample.pool.metrics["comet"]
    for tolerance in (0.6, 1.5, 4.0):
        made = sequence.path(ratings, tolerance, metric=metric)
        sides = games(x, 300, tolerance / 25, None if metric is None else (column, rows))
        fast = first_stop(sides, (np.log(40), np.log(40)), tolerance / 25)
        np.testing.assert_array_equal(fast, made.stopped)
        assert made.stopped.min() > 1 and made.stopped.max() < 300


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("gold", POOLS.values(), ids=POOLS)
def test_edges(gold, confidence, rule):
    """Ordered, within what is possible and, if it holds, only narrowing; at the end the mean."""
    ratings = rated(gold, draws=3)
    made = sequence.path(ratings, 1.0, confidence, rule=rule)
    assert np.isfinite(made.low).all() and np.isfinite(made.high).all()
    assert (made.low <= made.high).all()
    assert (made.low >= 0).all() and (made.high <= 25).all()
    np.testing.assert_allclose(made.low[:, -1], gold.mean(), atol=1e-12)
    np.testing.assert_allclose(made.half_width[:, -1], 0, atol=1e-12)
    assert (made.stopped > 0).all()
    if rule == "kelly":
        held = ((made.low <= gold.mean() + 1e-9) & (gold.mean() <= made.high + 1e-9)).all(-1)
        assert (np.diff(made.low[held]) >= -1e-12).all()
        assert (np.diff(made.high[held]) <= 1e-12).all()
        seen = np.cumsum(ratings.scores, -1)
        left = 60 - np.arange(1, 61)
        assert (made.low >= seen / 60 - 1e-9).all()
        assert (made.high <= (seen + 25 * left) / 60 + 1e-9).all()


@pytest.mark.parametrize("rule", RULES)
def test_one_rating_of_one_segment(rule):
    ratings = rated([3.0])
    made = sequence.path(ratings, 1.0, rule=rule)
    assert made.low.tolist() == made.high.tolist() == [3.0]
    assert made.stopped == 1


@pytest.mark.parametrize("rule", RULES)
def test_ratings_that_are_all_alike_do_not_stop_at_once(rule):
    made = sequence.path(rated(np.zeros(1000), 400), 0.3, rule=rule)
    n = made.stopped
    # Were a share q of the rest at 25, all of n ratings would miss it with a chance of (1 − q)^n.
    assert made.high[n - 1] >= 0.9 * 25 * (1 - 0.05 ** (1 / n)) * (1 - n / 1000)
    assert n > 110


def test_hall_does_not_look_before_its_time():
    assert [HallRule(0.1).first_look(n) for n in (10, 400, 5000)] == [10, 50, 500]
    made = sequence.path(rated(skewed(900, 4) / 10, 300), 0.4, rule="hall")
    assert (made.half_width[20:89] < 0.4).all()
    assert made.stopped == 90


def test_stops_at_the_first_narrow_interval():
    made = sequence.path(rated(skewed(300)), 0.5)
    assert made.half_width[made.stopped - 1] <= 0.5 < made.half_width[made.stopped - 2]
    assert sequence.path(rated(skewed(300), 20), 0.5).stopped == 0
    assert sequence.path(rated(skewed(300), 20, draws=2), 0.5).stopped.tolist() == [0, 0]


def test_a_lower_confidence_is_narrower_and_a_wider_tolerance_sooner():
    ratings = rated(skewed(400), draws=20)
    stops = {c: sequence.path(ratings, 0.5, c).stopped.mean() for c in (0.5, 0.9, 0.99)}
    assert stops[0.5] < stops[0.9] < stops[0.99]
    stops = {t: sequence.path(ratings, t).stopped.mean() for t in (0.2, 0.5, 1.0)}
    assert stops[1.0] < stops[0.5] < stops[0.2] < 400


def test_turning_the_scale_turns_the_interval():
    ratings = rated(skewed(150), draws=3)
    turned = ratings.sample.rate(25 - ratings.scores, limits=LIMITS)
    made, other = (sequence.path(r, 0.5, upper=u) for r, u in ((ratings, 0.7), (turned, 1 - 0.7)))
    np.testing.assert_allclose(other.low, 25 - made.high, atol=1e-9)
    np.testing.assert_allclose(other.high, 25 - made.low, atol=1e-9)


def test_other_scales_give_the_same_interval():
    ratings = rated(skewed(150), draws=3)
    moved = ratings.sample.rate(3 * ratings.scores - 1000, limits=(-1000.0, -925.0))
    made, other = sequence.path(ratings, 0.5), sequence.path(moved, 1.5)
    np.testing.assert_allclose(other.low, 3 * made.low - 1000, atol=2e-4)
    np.testing.assert_allclose(other.high, 3 * made.high - 1000, atol=2e-4)


@pytest.mark.slow
def test_the_truth_at_the_end_of_what_is_possible_is_not_refused():
    """A few bad ones, all seen early: the sum of the rest is 0, and no rounding refuses that."""
    gold = np.zeros(500)
    gold[:3] = 0.1, 0.7, 24.9
    sample = SimpleRandom().draw(Pool(np.arange(500)), 500, draws=200, rng=0)
    made = sequence.path(sample.rate(gold[sample.indices], limits=LIMITS), 0.5, 0.9)
    outside = (made.low > gold.mean() + 1e-12) | (made.high < gold.mean() - 1e-12)
    assert outside.any(-1).sum() <= 20 + 4.5 * np.sqrt(200 * 0.1 * 0.9)


def test_refusals():
    pool, gold = toy_pool()
    sample = Stratified().draw(pool, 40, rng=1)
    with pytest.raises(DesignError, match=r"design is 'systematic'.*SimpleRandom\(\)"):
        sequence.path(sample.rate(gold[sample.indices], limits=LIMITS), 1.0)
    with pytest.raises(DesignError, match="needs the limits of the scale"):
        sequence.path(rated(gold, limits=None), 1.0)
    for tolerance in (0.0, -1.0, 12.5, 30.0, float("nan")):
        with pytest.raises(FewgoldError, match=r"below half of the scale, here 12\.5; got"):
            sequence.path(rated(gold), tolerance)
    with pytest.raises(FewgoldError, match="confidence must lie between 0 and 1"):
        sequence.path(rated(gold), 1.0, 1.0)
    with pytest.raises(DesignError, match="share of the error probability"):
        sequence.path(rated(gold), 1.0, upper=0.0)
    with pytest.raises(UnknownNameError, match=r"stopping rule 'kely'.*'kelly'"):
        sequence.path(rated(gold), 1.0, rule="kely")
    with pytest.raises(UnknownNameError, match=r"'comets'.*'comet'"):
        sequence.path(toy(), 1.0, metric="comets")
    with pytest.raises(DataError, match="outside the scale"):
        rated([1.0, 26.0])
    with pytest.raises(FewgoldError, match=r"batch of 3 paths"):
        sequence.path(rated(gold, draws=3), 1.0).summary()
    with pytest.raises(FewgoldError, match=r"plot one of them"):
        sequence.path(rated(gold, draws=3), 1.0).plot()


def test_the_monitor_refuses():
    pool, _ = toy_pool(20)
    with pytest.raises(DataError, match="Give the pool instead of its size"):
        sequence.Monitor(20, "mqm", 1.0, metric="comet")
    with pytest.raises(FewgoldError, match="below half of the scale"):
        sequence.Monitor(20, "mqm", 20.0)
    with pytest.raises(FewgoldError, match="size of the pool must be a whole number"):
        sequence.Monitor(0, "mqm", 1.0)
    monitor = sequence.Monitor(pool, "mqm", 1.0)
    with pytest.raises(DataError, match="outside the scale 0 to 25"):
        monitor.add(26)
    with pytest.raises(DataError, match="'nowhere' is not in the pool"):
        monitor.add(1, id="nowhere")
    with pytest.raises(DataError, match="an id for each score; got 1 for 2"):
        monitor.add([1, 2], id=[pool.ids[0]])
    started = monitor.add(1, id=pool.ids[7])
    with pytest.raises(DataError, match="rated twice"):
        started.add(1, id=pool.ids[7])
    with pytest.raises(DataError, match="ids for all ratings or for none"):
        started.add(1)
    with pytest.raises(DataError, match="name the rated segment"):
        sequence.Monitor(pool, "mqm", 1.0, metric="comet").add(1)
    with pytest.raises(DataError, match="ids are useless"):
        sequence.Monitor(20, "mqm", 1.0).add(1, id="a")
    with pytest.raises(DataError, match="has 2 segments, and 2 are rated; got 1 more"):
        sequence.Monitor(2, "binary", 0.1).add([1, 0]).add(1)


def test_the_first_of_a_sample():
    ratings = toy(n=50)
    first = sequence.first(ratings.sample, 20)
    assert first.ids.tolist() == ratings.sample.ids[:20].tolist()
    part = first.rate(ratings.scores[:20], limits=LIMITS)
    whole = sequence.path(ratings, 1.0)
    np.testing.assert_array_equal(sequence.path(part, 1.0).low, whole.low[:20])
    more = SimpleRandom().draw(ratings.sample.pool, 10, given=ratings, rng=1)
    with pytest.raises(DesignError, match="continues another one"):
        sequence.first(more, 5)


def test_summary_and_plot():
    pytest.importorskip("matplotlib")
    made = sequence.path(rated(skewed(300)), 0.5)
    text = made.summary()
    assert text.startswith(f"Stop: after {made.stopped} of 300")
    assert "kelly, guaranteed: holds however often you look" in text
    assert "tolerance of 0.5" in text and "seq:kelly|tol:0.5" in text
    axes = made.plot()
    assert f" stop after {made.stopped}" in [t.get_text() for t in axes.texts]
    short = sequence.path(rated(skewed(300), 1), 0.5, rule="hall")
    assert short.summary().startswith("Continue: after 1 of 300")
    assert "approximate: not valid under peeking" in short.rule.label
    assert not short.plot().texts


@pytest.mark.parametrize("rule", RULES)
def test_expected_is_what_paths_take(rule):
    gold = skewed(300)
    made = sequence.expected(gold, [0.4, 1.0], limits=LIMITS, draws=100, rng=5, rule=rule)
    generator = np.random.default_rng(5)
    rows = np.stack([generator.permutation(300) for _ in range(100)])
    for k, tolerance in enumerate((0.4, 1.0)):
        ratings = rated(gold, draws=100).sample.rate(gold[rows], limits=LIMITS)
        stopped = sequence.path(ratings, tolerance, rule=rule).stopped
        np.testing.assert_array_equal(made.ratings[k], stopped)
        assert made.mean[k] == stopped.mean()
        assert made.share[k] == stopped.mean() / 300
        assert made._error[k] == pytest.approx(stopped.std(ddof=1) / 10)
        assert made.quantile(0.9)[k] == np.sort(stopped)[90]
    assert (made._late == 0).all()
    assert "0.4" in made.summary() and len(made.to_rows()) == 2


def test_expected_with_a_metric():
    metric, noise = np.random.default_rng(0).normal(size=(2, 300))
    gold = np.clip(12 + 5 * metric + 2 * noise, 0, 25)
    how = {"limits": LIMITS, "draws": 30, "rng": 2}
    plain = sequence.expected(gold, 0.5, **how)
    helped = sequence.expected(gold, 0.5, metric=metric, **how)
    assert helped.mean[0] < 0.85 * plain.mean[0]
    useless = sequence.expected(gold, 0.5, metric=noise[::-1], **how)
    assert useless.mean[0] < 1.05 * plain.mean[0]
    with pytest.raises(DataError, match="each of the 300 scores"):
        sequence.expected(gold, 1.5, metric=gold[:-1], **how)


def test_pools_of_another_size():
    gold = skewed(200)
    small, same, large = (
        sequence.expected(gold, 0.5, limits=LIMITS, size=n, draws=60) for n in (50, None, 2000)
    )
    assert (small.size, same.size, large.size) == (50, 200, 2000)
    assert small.mean[0] < same.mean[0] < large.mean[0]
    assert small.share[0] > same.share[0] > large.share[0]
    # A pilot leaves open how the rest is spread: trials differ by more than the order of drawing.
    pilot = gold[:40]
    urn = sequence.expected(pilot, 0.5, limits=LIMITS, size=2000, draws=100)
    known = sequence.expected(np.tile(pilot, 50), 0.5, limits=LIMITS, draws=100)
    assert urn.ratings.std() > 1.4 * known.ratings.std()
    assert urn.mean[0] == pytest.approx(known.mean[0], rel=0.1)


def test_a_tolerance_out_of_reach_goes_to_the_end():
    made = sequence.expected(POOLS["half"], 0.01, limits=LIMITS, draws=10)
    assert (made.ratings == 60).all() and made._late[0] == 1


@pytest.mark.parametrize(("mean", "sd", "best"), [(2.0, 3.0, 0.0), (2.0, 3.0, 0.4), (12, 1, 0)])
def test_guess_has_its_moments(mean, sd, best):
    made = sequence.guess(mean, sd, 20_000, limits="mqm", best=best)
    assert made.mean() == pytest.approx(mean, rel=1e-3)
    assert made.std() == pytest.approx(sd, rel=1e-2)
    assert (made == 0).mean() == pytest.approx(best, abs=1e-3)
    assert made.size == 20_000 and made.min() >= 0 and made.max() <= 25


def test_guess_and_expected_refuse():
    with pytest.raises(DataError, match="have the mean 2 and the standard deviation 12"):
        sequence.guess(2, 12, 100, limits="mqm")
    with pytest.raises(DataError, match="best is a share"):
        sequence.guess(2, 3, 100, limits="mqm", best=1.0)
    with pytest.raises(DataError, match=r"between 0 and 25; got -1 to 3"):
        sequence.expected([-1.0, 3.0], 1.0, limits="mqm")
    with pytest.raises(DataError, match="without gaps"):
        sequence.expected([np.nan], 1.0, limits="mqm")
    with pytest.raises(FewgoldError, match="draws must be a whole number of at least 2"):
        sequence.expected([1.0, 3.0], 1.0, limits="mqm", draws=1)
    with pytest.raises(DataError, match=r"ratings\.draw"):
        sequence.remaining(rated(skewed(50), 20, draws=2), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("metric", [None, "comet"])
def test_remaining_foretells_the_rest(metric):
    """From 100 ratings of 300: on average about what the draws really take."""
    ratings = toy(n=300, draws=40)
    truth = sequence.path(ratings, 1.0, metric=metric).stopped
    told = []
    for k in range(40):
        sample = sequence.first(ratings.sample.draw(k), 100)
        part = sample.rate(ratings.scores[k, :100], limits=LIMITS)
        made = sequence.remaining(part, 1.0, metric=metric, draws=20, rng=k)
        assert made.before == 100 and (made.ratings <= 300).all()
        told.append(made.mean[0])
    assert np.mean(told) == pytest.approx(truth.mean(), rel=0.06)


def test_nothing_remains_of_a_pool_that_is_rated():
    made = sequence.remaining(rated(skewed(50)), 0.01, draws=5)
    assert (made.ratings <= 50).all() and made.size == 50


@pytest.mark.sweep(2)
@pytest.mark.parametrize("size", [2, 5, 60])
@pytest.mark.parametrize("kind", ["zeros", "ones", "rare", "half", "any"])
@pytest.mark.parametrize("tolerance", [0.03, 0.1, 0.3])
def test_stopping_times_are_those_of_the_path(size, kind, tolerance):
    """Also where an end stays at the end of the scale, or hardly any segments are left."""
    rng = np.random.default_rng(size)
    gold = {
        "zeros": np.zeros(size),
        "ones": np.ones(size),
        "rare": (rng.random(size) < 0.02) * 1.0,
        "half": (rng.random(size) < 0.5) * 1.0,
        "any": rng.random(size),
    }[kind]
    for n in {size, max(1, size // 2)}:
        sample = SimpleRandom().draw(Pool(np.arange(size)), n, draws=4, rng=1)
        ratings = sample.rate(gold[sample.indices], limits="binary")
        path = sequence.path(ratings, tolerance=tolerance)
        narrow = path.high - path.low <= 2 * tolerance + 1e-12
        expected = np.where(narrow.any(-1), narrow.argmax(-1) + 1, n + 1)
        found = KellyRule(tolerance).stops(ratings.scores, size, None)
        np.testing.assert_array_equal(found, expected)
