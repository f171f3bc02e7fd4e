"""Approximate intervals: against plain formulas and other libraries, on all designs, at edges."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

from fewgold import Design, Pool, Sample, registry
from fewgold.bounds import (
    BOUNDS,
    Auto,
    BCa,
    BootstrapT,
    Hall,
    Hypergeometric,
    Likelihood,
    RaoWu,
    STaR,
    Student,
    as_bound,
)
from fewgold.bounds.approximate import _bracketed, _newton
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.estimators import ControlVariates, Mean, Ridge
from fewgold.samplers import Clusters, SimpleRandom, Stratified
from fewgold.testing import toy_pool
from reference import approximate

SHAPED = [Hall(), BootstrapT(), BCa(), Likelihood()]
ALL = [*SHAPED, RaoWu(), Student(), Auto()]


def ids(bound):
    return bound.name


def estimate_of(gold, n, draws=None, *, limits=None, seed=0):
    sample = SimpleRandom().draw(Pool(np.arange(len(gold))), n, draws=draws, rng=seed)
    return Mean().estimate(sample.rate(gold[sample.indices], limits=limits))


def skewed(size, seed=0):
    return np.random.default_rng(seed).exponential(3.0, size).round(1).clip(0, 25)


@pytest.mark.parametrize(("n", "size"), [(5, 40), (30, 200), (150, 200), (80, 100_000)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_hall_is_the_formula(n, size, confidence):
    made = estimate_of(skewed(size), n)
    low, high = made.interval(confidence, Hall())
    left, right = approximate.hall(made.ratings.scores, size, 1 - confidence)
    # The interval is made to hold the mean, which the formula alone need not.
    assert low == pytest.approx(min(left, made.value), rel=1e-9)
    assert high == pytest.approx(max(right, made.value), rel=1e-9)


def test_hall_without_skewness_is_student():
    gold = np.tile([1.0, 2.0, 3.0], 40)
    sample = SimpleRandom().draw(Pool(np.arange(120)), 30, rng=0)
    made = Mean().estimate(sample.rate(np.repeat([1.0, 2.0, 3.0], 10)))
    np.testing.assert_allclose(made.interval(0.9, Hall()), made.interval(0.9, Student()))
    assert gold.size == 120


def likelihood_ratio(x, mean, extra):
    """−2 log R by the definition: weights by Lagrange's multiplier, one unit added."""
    g = np.append(x - mean, -extra * np.mean(x - mean))

    def left(pull):
        return (g / (1 + pull * g)).sum()

    low, high = -1 / g.max(), -1 / g.min()
    pull = brentq(left, low * (1 - 1e-10), high * (1 - 1e-10), xtol=1e-14)
    return 2 * np.log1p(pull * g).sum()


@pytest.mark.parametrize(("n", "size"), [(20, 60), (40, 1000), (200, 300)])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_likelihood_is_what_it_says(n, size, confidence):
    made = estimate_of(skewed(size), n)
    x = made.ratings.scores
    goal = stats.t.ppf((1 + confidence) / 2, n - 1) ** 2 * (1 - n / size)
    # The standard error has the divisor n − 1, the likelihood goes by n.
    stretch = np.sqrt(n / (n - 1))
    for end in made.interval(confidence, Likelihood()):
        at = made.value + (end - made.value) / stretch
        assert likelihood_ratio(x, at, 1.5) == pytest.approx(goal, rel=1e-6)


@pytest.mark.parametrize("alike", [True, False])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_likelihood_of_chunks_is_that_of_their_ratings(alike, confidence):
    """The shape of all ratings; as many of them count as the chunks are worth."""
    n, size, documents = 60, 300, np.repeat(np.arange(30), 10)
    gold = skewed(size) + (np.repeat(skewed(30), 10) if alike else np.tile([0, 9, 18], 100))
    sample = Clusters(3).draw(Pool(np.arange(size), {}, documents), n, rng=3)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    x = made.ratings.scores
    # Chunks are compared in fives of neighbouring four; ratings, if apart, with all others.
    chunks = x.reshape(5, 4, 3)
    totals = (chunks - chunks.mean((1, 2), keepdims=True)).sum(-1)
    effect = 4 / 3 * np.square(totals).sum() / (n * x.var(ddof=1))
    assert (effect > 1) == alike
    effect, left = max(effect, 1.0), 1 - n / size
    goal = stats.t.ppf((1 + confidence) / 2, made.df) ** 2 * left * effect
    stretch = made.se / np.sqrt(x.var() * left * effect / n)
    for end in made.interval(confidence, Likelihood()):
        at = made.value + (end - made.value) / stretch
        assert likelihood_ratio(x, at, 1.5) == pytest.approx(goal, rel=1e-6)


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_likelihood_of_a_large_symmetric_sample_is_students(confidence):
    made = estimate_of(np.random.default_rng(0).normal(size=20_000), 2000)
    plain, ours = (np.array(made.interval(confidence, b)) for b in (Student(), Likelihood()))
    np.testing.assert_allclose(ours - made.value, plain - made.value, rtol=0.02)


def test_both_ways_to_the_likelihood_agree():
    """Newton's steps at once, and the slow way that takes over where they fail."""
    rng = np.random.default_rng(1)
    kinds = (rng.lognormal(0, 1.5, (60, 30)), rng.normal(size=(60, 30)), rng.random((60, 30)) < 0.2)
    for drawn in kinds:
        varied = drawn[drawn.std(-1) > 0]
        x = (varied - varied.mean(-1, keepdims=True)) / varied.std(-1, keepdims=True)
        most = np.full(len(x), 4.0)
        quick, slow = _newton(x, most, 1.5), _bracketed(x, most, 1.5)
        assert np.isfinite(quick).mean() > 0.9
        found = np.isfinite(quick)
        np.testing.assert_allclose(quick[found], slow[found], rtol=1e-8)


def test_bca_of_an_endless_pool_is_scipys():
    made = estimate_of(skewed(200_000), 60)
    x = made.ratings.scores
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=20_000, method="BCa", confidence_level=0.9, rng=1
    ).confidence_interval
    # Ours goes by Student's quantile, wider by this much, and by an unbiased skewness.
    wider = stats.t.ppf(0.95, 59) / stats.norm.ppf(0.95)
    ours = np.array(made.interval(0.9, BCa(replicates=20_000))) - made.value
    np.testing.assert_allclose(ours / wider, np.array(theirs) - made.value, rtol=0.06)


def test_bootstrap_t_of_an_endless_pool_is_the_textbooks():
    made = estimate_of(skewed(200_000), 40)
    x = made.ratings.scores
    rng = np.random.default_rng(2)
    drawn = rng.choice(x, (20_000, 40))
    t = (drawn.mean(-1) - x.mean()) / (drawn.std(-1, ddof=1) / np.sqrt(40))
    high, low = x.mean() - np.quantile(t, [0.05, 0.95]) * x.std(ddof=1) / np.sqrt(40)
    ours = made.interval(0.9, BootstrapT(replicates=20_000))
    np.testing.assert_allclose(
        np.array(ours) - x.mean(), np.array([low, high]) - x.mean(), rtol=0.06
    )


@pytest.mark.parametrize("n", [4, 5])
def test_bootstrap_t_of_a_small_pool_by_enumeration(n):
    """All samples of a pool that holds each rating twice: the quantiles are among their errors."""
    x, size = np.array([0.0, 1.0, 3.0, 7.0, 4.5])[:n], 2 * n
    sample = SimpleRandom().draw(Pool(np.arange(size)), n, rng=0)
    made = Mean().estimate(sample.rate(x))
    se = x.std(ddof=1) * np.sqrt((1 - n / size) / n)
    below, checked = 0.0, 0
    for t, chance in approximate.bootstrap_t(x.tolist(), size):
        middle = below + float(chance) / 2
        below += float(chance)
        # Only replicates that are frequent enough for their place among 20,000 to be certain.
        if chance < 0.025 or not 0.02 < min(middle, 1 - middle) < 0.4:
            continue
        bound = BootstrapT(replicates=20_000)
        low, high = made.interval(1 - 2 * min(middle, 1 - middle), bound)
        end = high if middle < 0.5 else low
        assert end == pytest.approx(made.value - t * se, rel=1e-7)
        checked += 1
    assert checked >= 4


def test_bca_of_a_small_pool_by_enumeration():
    """The same for BCa: its bias, its acceleration and the scale of its errors in a finite pool."""
    x, size, checked = np.array([0.0, 1.0, 3.0, 7.0, 4.5]), 10, 0
    sample = SimpleRandom().draw(Pool(np.arange(size)), 5, rng=0)
    made = Mean().estimate(sample.rate(x))
    for confidence in np.linspace(0.3, 0.97, 24):
        t = stats.t.ppf((1 + confidence) / 2, 4)
        ends = made.interval(float(confidence), BCa(replicates=20_000))
        for u, end in zip((-t, t), ends, strict=True):
            error, room = approximate.bca(x.tolist(), size, u)
            if room > 0.01 and error * u > 0:  # ends on the wrong side are put at the mean
                assert end == pytest.approx(made.value + error * made.se, rel=1e-7)
                checked += 1
    assert checked >= 15


def test_rao_wu_of_unequal_strata_by_enumeration():
    sizes, counts = [6, 12], [2, 4]
    pool = Pool(np.arange(18), documents=np.repeat([0, 1], sizes))
    sampler = Stratified(allocation=lambda pool, strata: np.array([1.0, 2.0]))
    sample = sampler.draw(pool, 6, rng=0)
    strata = [[1.0, 4.0], [0.0, 1.0, 3.5, 9.0]]
    made = Mean().estimate(sample.rate(np.concatenate(strata)))
    assert np.bincount(pool.codes[sample.indices]).tolist() == counts
    below, checked = 0.0, 0
    for error, chance in approximate.rao_wu(strata, sizes):
        middle = below + float(chance) / 2
        below += float(chance)
        if chance < 0.02 or not 0.02 < min(middle, 1 - middle) < 0.4:
            continue
        # The confidence at which Student's quantile stands for that chance.
        confidence = 2 * stats.t.cdf(abs(stats.norm.ppf(middle)), made.df) - 1
        low, high = made.interval(float(confidence), RaoWu(replicates=20_000))
        # Replicates are stretched to the design's standard error, of which they know 1 % or so.
        assert (low if middle < 0.5 else high) == pytest.approx(
            made.value + error, abs=0.015 * abs(error)
        )
        checked += 1
    assert checked >= 4


def test_rao_wu_has_the_variance_of_the_design():
    """Replicates of a stratified mean spread as its standard error says."""
    pool, gold = toy_pool()
    sample = registry.sampler("metrics-prop").draw(pool, 40, rng=3)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    low, high = made.interval(0.9, RaoWu(replicates=20_000))
    t = stats.t.ppf(0.95, made.df)
    assert high - low == pytest.approx(2 * t * made.se, rel=0.05)


@pytest.mark.sweep
@pytest.mark.parametrize("bound", ALL, ids=ids)
@pytest.mark.parametrize("name", registry.sampler_names())
def test_every_design(bound, name):
    """Finite, around the value, nested, and a batch is its draws."""
    pool, gold = toy_pool()
    strategy = registry.strategy(f"{name}+ridge", pool)
    ratings = strategy.collect(pool, lambda s: gold[s.indices], 40, draws=3, rng=1)
    made = strategy.estimate(ratings)
    narrow, wide = made.interval(0.8, bound), made.interval(0.99, bound)
    assert np.isfinite(wide).all()
    assert (wide.low <= narrow.low).all() and (narrow.high <= wide.high).all()
    assert (narrow.low <= made.value).all() and (made.value <= narrow.high).all()
    for k in range(3):
        alone = strategy.estimate(ratings.draw(k)).interval(0.8, bound)
        # Replicates come in matrix products, which round otherwise for other shapes.
        np.testing.assert_allclose(alone, [narrow.low[k], narrow.high[k]], rtol=1e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("bound", [Auto(), *SHAPED[1:], RaoWu()], ids=ids)
@pytest.mark.parametrize("name", [None, *registry.sampler_names()])
def test_a_higher_confidence_never_gives_an_end_further_in(bound, name):
    """Whatever changes on the way: the method, the number of replicates, or the likelihood."""
    pool, gold = toy_pool(300, 60)
    gold = np.exp(gold / 4)
    levels = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999]
    if bound.name in ("auto", "likelihood"):
        levels += [0.9991, 0.999999]
    for n in (8, 20, 60):
        if name is None:
            made = estimate_of(gold, n, draws=4)
        else:
            sample = registry.sampler(name).draw(pool, n, draws=4, rng=n)
            made = Mean().estimate(sample.rate(gold[sample.indices]))
        found = np.array([made.interval(level, bound) for level in levels])
        assert np.isfinite(found).all()
        slack = 1e-9 * np.abs(found[:, 0]).max()
        assert (np.diff(found[:, 0], axis=0) <= slack).all(), (n, levels)
        assert (np.diff(found[:, 1], axis=0) >= -slack).all(), (n, levels)


@pytest.mark.parametrize("bound", ALL, ids=ids)
@pytest.mark.parametrize("kind", ["skewed", "constant", "zeros", "one is not"])
def test_edges(bound, kind):
    gold = {
        "skewed": skewed(60),
        "constant": np.full(60, 7.0),
        "zeros": np.zeros(60),
        "one is not": np.eye(60)[0] * 25,
    }[kind]
    for n in (1, 2, 3, 59, 60):
        made = estimate_of(gold, n, draws=4, limits=(0, 25))
        for confidence in (0.5, 0.95, 0.999):
            low, high = made.interval(confidence, bound)
            assert not np.isnan(low).any() and not np.isnan(high).any()
            assert ((low >= 0) & (low <= made.value + 1e-12)).all()
            assert ((high <= 25) & (high >= made.value - 1e-12)).all()
            if n == 60:
                np.testing.assert_allclose([low, high], gold.mean(), atol=1e-12)
            elif n == 1:
                assert (high - low > 1).all()  # one rating says next to nothing


@pytest.mark.parametrize("bound", ALL, ids=ids)
def test_moved_and_stretched_scores(bound):
    gold = skewed(300)
    plain = estimate_of(gold, 50).interval(0.9, bound)
    moved = estimate_of(1e6 + 3 * gold, 50).interval(0.9, bound)
    np.testing.assert_allclose(moved, 1e6 + 3 * np.array(plain), rtol=1e-9)
    turned = estimate_of(-gold, 50).interval(0.9, bound)
    close = {"rtol": 1e-6} if bound.name in ("hall", "likelihood", "student") else {"rtol": 0.1}
    mean = estimate_of(gold, 50).value
    np.testing.assert_allclose(-turned.high - mean, plain.low - mean, **close)


@pytest.mark.parametrize("bound", SHAPED, ids=ids)
def test_the_long_tail_gets_the_longer_arm(bound):
    made = estimate_of(skewed(5000), 60, draws=50)
    low, high = made.interval(0.95, bound)
    longer = (high - made.value) > (made.value - low)
    assert longer.mean() > 0.95


def test_pairs_do_not_hide_the_skewness():
    """Within groups of two deviations are mirror images; the shape looks across groups."""
    pool, gold = toy_pool(400, 60)
    gold = np.exp(gold / 2)
    sample = registry.sampler("docs-sys").draw(pool, 120, draws=20, rng=1)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    low, high = made.interval(0.95, Likelihood())
    assert ((high - made.value) > 1.1 * (made.value - low)).mean() > 0.9


@pytest.mark.parametrize(
    ("n", "chosen"), [(15, Hall), (16, BootstrapT), (49, BootstrapT), (50, Likelihood)]
)
def test_auto_goes_by_the_number_of_units(n, chosen):
    made = estimate_of(skewed(300), n)
    used = Auto().resolve(made)
    assert isinstance(used, chosen)
    assert made.interval(0.9, Auto()) == made.interval(0.9, used)
    assert used.label in made.summary()
    assert f"|ci:auto-{used.name}|" in made.signature()
    assert made.to_dict()["bound"] == used.name


@pytest.mark.parametrize("lengths", [[10] * 40, [5, 15] * 20], ids=["even", "uneven"])
@pytest.mark.parametrize(
    ("alike", "n", "chosen"),
    [
        *((0, 200, Likelihood), (0, 60, Likelihood), (0, 30, Likelihood)),
        *((3, 200, Likelihood), (3, 90, Hall)),
    ],
)
def test_auto_counts_what_ratings_of_documents_are_worth(lengths, alike, n, chosen):
    documents = np.repeat(np.arange(40), lengths)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400) + alike * rng.normal(size=40)[documents]
    sample = Clusters().draw(Pool(np.arange(400), {}, documents), n, draws=20, rng=1)
    made = Mean().estimate(sample.rate(scores[sample.indices]))
    low, high = made.interval(0.95, Auto())
    found = [type(Auto().resolve(made.draw(k))) for k in range(20)]
    assert found.count(chosen) >= 15
    for k in range(20):
        alone = made.draw(k).interval(0.95, Auto())
        np.testing.assert_allclose(alone, [low[k], high[k]], rtol=1e-9)


@pytest.mark.parametrize(("n", "chosen"), [(49, BootstrapT), (50, Likelihood)])
def test_auto_counts_ratings_of_uneven_weight_in_full(n, chosen):
    """They are worth fewer, and that matters only where they are worth very few."""
    chance = np.where(np.arange(n) % 2, 0.05, 0.2)
    for spread, used in ((1, chosen), (8, Hall)):
        design = Design.of_chances(chance * np.where(np.arange(n) < 4, 1 / spread, 1), 1000)
        sample = Sample(Pool(np.arange(1000)), np.arange(n), design)
        made = Mean().estimate(sample.rate(skewed(n)))
        assert isinstance(Auto().resolve(made), used)


def test_auto_is_exact_for_two_values():
    gold = (np.arange(300) % 7 == 0) * 1.0
    made = estimate_of(gold, 80, limits="binary")
    assert isinstance(Auto().resolve(made), Hypergeometric)
    assert made.interval(0.9, Auto()) == made.interval(0.9, Hypergeometric())
    # Not without limits, not for a scale of more values, not where something was fitted.
    assert not isinstance(Auto().resolve(estimate_of(gold, 80)), Hypergeometric)
    assert not isinstance(Auto().resolve(estimate_of(0 * gold, 80, limits="mqm")), Hypergeometric)
    assert not isinstance(Auto().resolve(estimate_of(25 * gold, 80, limits="mqm")), Hypergeometric)
    pool = Pool(np.arange(300), {"m": np.arange(300.0)})
    sample = SimpleRandom().draw(pool, 80, rng=0)
    fitted = ControlVariates().estimate(sample.rate(gold[sample.indices], limits="binary"))
    assert isinstance(Auto().resolve(fitted), Likelihood)


def test_auto_chooses_for_each_draw():
    """Some draws of a nearly binary scale have two values only, others have more."""
    gold = np.where(np.arange(300) < 6, 0.5, np.arange(300) % 2)
    made = estimate_of(gold, 40, draws=30, limits=(0, 1))
    low, high = made.interval(0.95, Auto())
    kinds = set()
    for k in range(30):
        alone = made.draw(k)
        kinds.add(Auto().resolve(alone).name)
        np.testing.assert_allclose(alone.interval(0.95, Auto()), [low[k], high[k]], rtol=1e-9)
    assert kinds == {"hypergeometric", "bootstrap-t"}


def test_part_of_a_batch_is_an_estimate():
    pool, gold = toy_pool()
    sample = SimpleRandom().draw(pool, 40, draws=5, rng=0)
    made = Ridge().estimate(sample.rate(gold[sample.indices]))
    some = made.draw(np.array([3, 1]))
    np.testing.assert_allclose(some.value, made.value[[3, 1]])
    np.testing.assert_allclose(some.se, made.se[[3, 1]])
    assert made.draw(2).se == pytest.approx(made.se[2])


def test_names():
    assert as_bound("Student") == Student()
    assert as_bound("star:comet").metric == "comet"
    assert as_bound(Hall()) == Hall()
    assert Mean(bound="hall").bound == Hall()
    assert ControlVariates(bound="likelihood").bound == Likelihood()
    for wrong in ("halle", "hall:comet", "star:", ""):
        with pytest.raises(UnknownNameError, match="unknown bound"):
            as_bound(wrong)
    with pytest.raises(UnknownNameError, match="Did you mean 'student'"):
        Ridge(bound="studnet")
    for name, make in BOUNDS.items():
        made = make()
        assert made.name == name
        assert made.kind in ("guaranteed", "conjectured", "approximate")
        assert made.assumes and made.reference, name


@pytest.mark.parametrize("make", [BootstrapT, BCa, RaoWu])
def test_too_few_replicates(make):
    with pytest.raises(FewgoldError, match="at least 100"):
        make(replicates=20)


def test_extra_must_be_positive():
    with pytest.raises(FewgoldError, match="extra"):
        Likelihood(extra=0.0)


@pytest.mark.sweep
@pytest.mark.parametrize("bound", [*SHAPED, RaoWu()], ids=ids)
@pytest.mark.parametrize("name", ["metrics-opt", "docs-opt", "docs-whole", "docs-chunks3"])
def test_uneven_units_do_not_narrow_the_interval(bound, name):
    """Without skewness every interval is about Student's, whatever the weights of the units."""
    rng = np.random.default_rng(4)
    ends = rng.permutation(3000)
    spread = np.where(ends < 600, 6.0, 1.0)  # a fifth varies more, and is rated more
    documents = np.sort(rng.integers(0, 150, 3000))
    pool = Pool(np.arange(3000), {"m": spread * rng.normal(size=3000)}, documents)
    gold = 10 + spread * rng.normal(size=3000)
    sample = registry.sampler(name).draw(pool, 700, draws=20, rng=5)
    made = Mean().estimate(sample.rate(gold[sample.indices]))
    plain, ours = made.interval(0.9, Student()), made.interval(0.9, bound)
    ratio = (ours.high - ours.low) / (plain.high - plain.low)
    assert ratio.mean() == pytest.approx(1, abs=0.08)


def test_no_spread_within_strata_is_no_certainty():
    """A judge that agrees with the raters so far: deviations are 0, the rest may still differ."""
    judge = np.arange(100) < 50
    pool = Pool(np.arange(100), {"judge": judge * 1.0})
    estimator = Mean(sampler=Stratified(by=lambda p: judge.astype(int)))
    sample = estimator.select(pool, 20, rng=5)
    y = judge * 1.0
    made = estimator.estimate(sample.rate(y[sample.indices], limits="binary"))
    assert made.se == 0
    low, high = made.interval()
    assert high - low > 0.2
    assert "say nothing about the spread" in made.summary()
    free = estimator.estimate(sample.rate(y[sample.indices]))
    assert np.isinf(free.interval()).all()
    # The same for slopes that fit the ratings to the last digit.
    z = Pool(np.arange(100), {"z": np.arange(100.0)})
    drawn = SimpleRandom().draw(z, 20, rng=0)
    fitted = ControlVariates().estimate(drawn.rate(drawn.indices / 10.0, limits=(0, 25)))
    low, high = fitted.interval()
    assert high - low > 1


@pytest.mark.parametrize("bound", [BootstrapT(), BCa(), RaoWu(), Auto()], ids=ids)
def test_rare_misses_need_more_replicates(bound):
    """Tails of 99.9 % are not those of the largest of 2,000 replicates."""
    made = estimate_of(np.random.default_rng(0).normal(size=5000), 40, draws=30)
    plain, ours = (made.interval(0.999, b) for b in (Student(), bound))
    ratio = (ours.high - ours.low) / (plain.high - plain.low)
    assert 0.93 < ratio.mean() < 1.35
    if bound.name == "auto":
        assert isinstance(bound.resolve(made.draw(0), 0.9999), Hall)
        assert (made.interval(0.9999, bound).high > ours.high).all()
    else:
        with pytest.raises(FewgoldError, match="replicates"):
            made.interval(0.99999, bound)


def test_signatures_tell_bounds_apart():
    pool, gold = toy_pool()
    sample = SimpleRandom().draw(pool, 40, rng=0)
    found = set()
    for bound in (STaR(), STaR(metric="comet"), STaR(upper=0.9), Likelihood(), Likelihood(extra=2)):
        for limits in ("mqm", "da"):
            made = Mean(bound=bound).estimate(sample.rate(gold[sample.indices], limits=limits))
            found.add(made.signature())
    assert len(found) == 10
    assert any("|ci:star(metric=comet)|" in line and line.endswith("|scale:0-25") for line in found)


def test_an_estimate_beyond_the_scale_is_said_to_be():
    made = estimate_of(skewed(100), 20, limits=(0, 25))
    moved = replace(made, offset=np.asarray(-9.0))
    low, high = moved.interval(0.9)
    assert low < high < 0  # cut, it would be a point
    assert "beyond the end of the scale" in moved.summary()
