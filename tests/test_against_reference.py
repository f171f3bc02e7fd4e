"""The fast code against slow and obvious second implementations, and against other libraries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fewgold import Pool, Sample, registry
from fewgold.bounds import Bernstein, Hoeffding
from fewgold.design import Design
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Mean, Ridge
from fewgold.estimators.ridge import STRENGTHS, ridge_slopes
from fewgold.samplers import Balanced, Clusters, SimpleRandom, Stratified, Systematic
from reference import (
    balanced_variance,
    bernstein_half,
    cluster_variance,
    collapsed_variance,
    document_factor,
    hoeffding_half,
    hoeffding_stratified_half,
    knn_cross_fit,
    line_variance,
    printed_multiple,
    printed_scalar,
    regression_estimate,
    ridge_averaged,
    ridge_leave_one_out,
    ridge_signed,
    simple_variance,
    stratified_mean,
    stratified_variance,
    two_waves,
)
from sweeps import quick

SIZE = 60


def make_pool(size=SIZE, seed=11, documents=14):
    rng = np.random.default_rng(seed)
    label = np.sort(np.r_[np.arange(documents), rng.integers(0, documents, size - documents)])
    gold = rng.gamma(0.6, 5.0, size) + rng.gamma(0.5, 3.0, documents)[label]
    metrics = {
        "comet": -gold + rng.normal(0, 4, size),
        "own": rng.normal(size=size) + 0.05 * gold,
        "ter": np.abs(gold + rng.normal(0, 9, size)),
    }
    ids = np.array([f"s{i}" for i in range(size)])
    return Pool(ids=ids, documents=label, metrics=metrics), gold


POOL, GOLD = make_pool()


def rated(sampler, n, rng=0, pool=POOL, gold=GOLD, **options):
    sample = sampler.draw(pool, n, rng=rng, **options)
    return sample.rate(gold[sample.indices])


# Designs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 20, 59])
def test_simple_random(n):
    ratings = rated(SimpleRandom(), n)
    made = Mean().estimate(ratings)
    assert made.value == pytest.approx(np.mean(ratings.scores), rel=1e-12)
    assert made.se == pytest.approx(np.sqrt(simple_variance(ratings.scores, SIZE)), rel=1e-12)


@pytest.mark.parametrize("n", [40, 50])
def test_stratified(n):
    """Few large documents: every stratum gets two or more."""
    pool, gold = make_pool(documents=5)
    sampler = Stratified(allocation="optimal") if n == 50 else Stratified()
    ratings = rated(sampler, n, pool=pool, gold=gold)
    assert ratings.sample.design.kind == "stratified"
    sizes = np.bincount(pool.codes)
    strata = pool.codes[ratings.sample.indices]
    made = Mean().estimate(ratings)
    assert made.value == pytest.approx(stratified_mean(ratings.scores, strata, sizes), rel=1e-12)
    variance = stratified_variance(ratings.scores, strata, sizes)
    assert made.se**2 == pytest.approx(variance, rel=1e-10)


@pytest.mark.parametrize("n", [8, 14, 15, 16, 17, 25, 30])
def test_collapsed_strata(n):
    """As printed, many documents have one rating; these are compared in pairs."""
    ratings = rated(Stratified(rounding="printed"), n)
    sizes = np.bincount(POOL.codes)
    strata = POOL.codes[ratings.sample.indices]
    made = Mean().estimate(ratings)
    variance = collapsed_variance(ratings.scores, strata.tolist(), sizes.tolist())
    assert made.se**2 == pytest.approx(variance, rel=1e-10)


def test_strata_of_one_that_are_taken_whole_need_no_partner():
    """Nothing is left to chance in them, so the lone ratings of others are not compared with them.

    Masses make the whole numbers: two documents of one segment whole, two of ten with one rating.
    """
    documents = np.repeat(np.arange(5), [1, 10, 1, 10, 10])
    mass = np.array([1.0, 1.0, 1.0, 1.0, 4.0])
    gold = np.random.default_rng(2).normal(size=32) + 10 * np.isin(documents, [0, 2])
    pool = Pool(ids=np.arange(32), documents=documents)
    sampler = Stratified(allocation=lambda pool, strata: mass, rounding="printed")
    ratings = rated(sampler, 8, pool=pool, gold=gold)
    strata = documents[ratings.sample.indices].tolist()
    assert sorted(strata) == [0, 1, 2, 3, 4, 4, 4, 4]
    expected = collapsed_variance(ratings.scores, strata, [1, 10, 1, 10, 10])
    assert Mean().estimate(ratings).se ** 2 == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("sampler", [Systematic(), Balanced(), Clusters(3)], ids=lambda s: s.name)
def test_slopes_take_their_share_of_n_less_one_degrees_of_freedom(sampler):
    """Slopes are fitted around one mean, whatever the groups that the variance compares."""
    n, p = 30, 2
    ratings = rated(sampler, n)
    made = ControlVariates(metrics=("comet", "ter")).estimate(ratings)
    design = ratings.sample.design
    # Balanced variates have taken their degrees of freedom already.
    kept = 1 - p / (n - 1) if design.balance is None else 1
    assert made.df == pytest.approx(kept * design.df)
    factor = design._document_factor(made._counting())[0]
    assert made.se**2 == pytest.approx(factor * np.square(made.deviations()).sum() / kept)


@pytest.mark.parametrize("enough", [False, True])
@pytest.mark.parametrize("names", [("comet",), ("comet", "own"), None])
def test_control_variates_need_three_degrees_of_freedom_for_each_slope(names, enough):
    p = 3 if names is None else len(names)
    ratings = rated(SimpleRandom(), 1 + 3 * p - (not enough))  # the mean takes one
    made = ControlVariates(metrics=names).estimate(ratings)
    assert any("the plain mean was used" in note for note in made.notes) != enough
    assert made.parameters == p * enough
    assert enough or np.array_equal(made.residuals, ratings.scores)


def test_weighted_mean_by_statsmodels():
    from statsmodels.stats.weightstats import DescrStatsW

    ratings = rated(Stratified(allocation="optimal"), 40)
    weights = ratings.sample.design.weights
    assert np.ptp(weights) > 0.005
    expected = DescrStatsW(ratings.scores, weights=weights).mean
    assert Mean().estimate(ratings).value == pytest.approx(expected, rel=1e-12)


def factor_of(ratings, variance_of, x=None):
    rows = ratings.sample.indices
    return document_factor(ratings.scores, POOL.codes[rows], POOL.codes, variance_of, x)


@pytest.mark.parametrize("n", [2, 5, 8, 13, 30])
def test_systematic(n):
    ratings = rated(Systematic(), n)
    expected = line_variance(ratings.scores, SIZE)
    factor = factor_of(ratings, lambda column: line_variance(column, SIZE))
    assert abs(factor - 1) > 0.01 or n == 2
    assert Mean().estimate(ratings).se ** 2 == pytest.approx(expected * factor, rel=1e-10)
    # A design of before, which knows nothing of documents, has the variance of before.
    design = replace(ratings.sample.design, documents=None, shares=None)
    before = replace(ratings, sample=replace(ratings.sample, design=design))
    assert Mean().estimate(before).se ** 2 == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(("n", "p"), [(16, 1), (16, 2), (32, 3)])
def test_balanced(n, p):
    """What the balanced variates explain is no chance, and each takes a degree of freedom."""
    ratings = rated(Balanced(components=p), n)
    x = ratings.sample.design.balance.T
    assert x.shape == (n, p)
    variance, freedom = balanced_variance(ratings.scores, x, SIZE)
    made = Mean().estimate(ratings)
    factor = factor_of(ratings, lambda column: line_variance(column, SIZE), x)
    assert abs(factor - 1) > 0.01
    assert made.se**2 == pytest.approx(factor * variance, rel=1e-9)
    assert made.df == pytest.approx(freedom)


@pytest.mark.parametrize("n", [10, 20, 45])
def test_whole_documents(n):
    ratings = rated(Clusters(), n)
    documents = POOL.codes[ratings.sample.indices].tolist()
    expected = cluster_variance(ratings.scores, documents, SIZE)
    assert Mean().estimate(ratings).se ** 2 == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n", [10, 20, 45])
def test_degrees_of_freedom_of_whole_documents(n):
    """By the covariance matrix of deviations, documents varying in proportion to their length."""
    design = rated(Clusters(), n).sample.design
    p = np.bincount(design.units, design.weights)
    residual = np.eye(p.size) - np.outer(p, np.ones(p.size))
    q = residual @ np.diag(p**2) @ residual.T
    assert design.df == pytest.approx(np.trace(q) ** 2 / np.trace(q @ q), rel=1e-9)
    even = replace(design, units=np.arange(n))
    assert even.df == pytest.approx(n - 1, rel=1e-9)


def test_chunks_few_enough_for_one_group():
    ratings = rated(Clusters(3), 18)
    chunks = np.arange(18) // 3  # six chunks: fewer than two groups of four
    expected = cluster_variance(ratings.scores, chunks.tolist(), SIZE)
    factor = factor_of(ratings, lambda column: cluster_variance(column, chunks.tolist(), SIZE))
    assert np.bincount(POOL.codes).max() < 12  # no document has two stretches
    assert abs(factor - 1) > 0.01
    assert Mean().estimate(ratings).se ** 2 == pytest.approx(expected * factor, rel=1e-10)


def test_variances_of_unequal_weights_by_the_method_of_moments():
    """Expected squares and products of deviations, against traces for one draw of any weights."""
    rng = np.random.default_rng(3)
    n, documents = 12, np.array([7, 7, 7, 1, 1, 5, 5, 5, 5, 9, 2, 3])
    weights = rng.dirichlet(np.full(n, 5.0))
    design = Design(
        kind="balanced", size=60, weights=weights, inclusion=rng.uniform(0.1, 0.9, n),
        groups=np.arange(n) // 4, documents=documents, shares=np.full(n, 0.1), concentration=0.1,
    )  # fmt: skip
    same = np.equal.outer(documents, documents).astype(float)
    scale = np.diag(design.influence) @ (np.eye(n) - weights[None, :])
    forms = [scale.T @ scale, scale.T @ (same - np.eye(n)) @ scale]
    expected = [[np.trace(m @ s) for s in (np.eye(n), same)] for m in forms]
    np.testing.assert_allclose(design._levels.moments, expected, rtol=1e-12)
    indicators = np.equal.outer(np.unique(documents), documents).astype(float)
    shown = np.square(design.deviations(indicators)).sum()
    assert design._levels.shown == pytest.approx(shown, rel=1e-12)
    got = indicators @ weights
    unseen = 0.1 - 6 * 0.1**2
    assert design._levels.due == pytest.approx(np.square(got - 0.1).sum() + unseen, rel=1e-12)
    # As chunks of three, of which two reach into the next document.
    design = replace(design, units=np.arange(n) // 3, groups=np.repeat([0, 1], 6))
    shown = np.square(design.deviations(indicators)).sum()
    assert design._levels.shown == pytest.approx(shown, rel=1e-12)


def test_documents_of_two_waves():
    """What a document is due and what it got: the same as if both waves were one sample."""
    first = rated(Systematic(), 15)
    wave = Systematic().draw(POOL, 20, given=first, rng=1)
    joined = wave.rate(GOLD[wave.indices]).sample
    design, codes = joined.design, POOL.codes[joined.indices]
    sizes = np.bincount(POOL.codes)
    np.testing.assert_allclose(design.shares, (sizes / SIZE)[codes], rtol=1e-12)
    got = np.bincount(codes, design.weights, sizes.size)
    assert design._levels.due == pytest.approx(np.square(got - sizes / SIZE).sum(), rel=1e-9)


def test_intraclass_correlation_near_that_of_a_mixed_model():
    """Half of the documents' segments: about what statsmodels finds by maximum likelihood."""
    import statsmodels.api as sm

    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(150), 8)
    gold = rng.normal(0, 0.7, 150)[documents] + rng.normal(size=1200)
    pool = Pool(ids=np.arange(1200), documents=documents)
    sample = Systematic().draw(pool, 600, rng=0)
    y = gold[sample.indices]
    fit = sm.MixedLM(y, np.ones(600), groups=documents[sample.indices]).fit()
    between = float(np.ravel(fit.cov_re)[0])
    expected = between / (between + fit.scale)
    trust = float(sample.design._levels.trust)
    assert trust > 0.9
    found = (sample.design._intraclass(y[None])[0] - (1 - trust) * 0.1) / trust
    assert found == pytest.approx(expected, abs=0.01)


def test_two_waves_of_simple_random():
    first = rated(SimpleRandom(), 9)
    wave = SimpleRandom().draw(POOL, 7, given=first, rng=1)
    scores = np.r_[first.scores, GOLD[wave.indices]]
    value, variance = two_waves(first.scores, GOLD[wave.indices], SIZE)
    joined = first.sample.design._then(wave.design, SIZE)
    mean, covariance = joined.moments(scores[None, :])
    assert mean[0] == pytest.approx(value, rel=1e-12)
    assert covariance[0, 0] == pytest.approx(variance, rel=1e-10)
    # Both together are one random sample, and estimated so.
    made = Mean().estimate(wave.rate(GOLD[wave.indices]))
    assert made.value == pytest.approx(value, rel=1e-12)
    assert made.value == pytest.approx(scores.mean(), rel=1e-12)
    assert made.se**2 == pytest.approx(scores.var(ddof=1) * (1 / 16 - 1 / SIZE), rel=1e-12)


# Control variates ---------------------------------------------------------------------------


@pytest.mark.parametrize("metrics", [("comet",), ("comet", "own"), None], ids=["1", "2", "all"])
def test_regression_estimator(metrics):
    ratings = rated(SimpleRandom(), 25)
    x = POOL.matrix(metrics).T
    value, se = regression_estimate(ratings.scores, x[ratings.sample.indices], x)
    made = ControlVariates(metrics=metrics).estimate(ratings)
    assert made.value == pytest.approx(value, rel=1e-9)
    assert made.se == pytest.approx(se, rel=1e-9)


def test_regression_slope_by_statsmodels():
    import statsmodels.api as sm

    ratings = rated(SimpleRandom(), 25)
    rows = ratings.sample.indices
    z = POOL.standardised()
    fit = sm.OLS(ratings.scores, sm.add_constant(z[:, rows].T)).fit()
    made = ControlVariates().estimate(ratings)
    assert made.value == pytest.approx(fit.predict(np.r_[1.0, np.zeros(3)])[0], rel=1e-9)
    slopes = ratings.scores - fit.params[1:] @ z[:, rows]
    np.testing.assert_allclose(made.residuals, slopes, rtol=1e-8, atol=1e-9)
    # White's covariance of the intercept weighs squared residuals as the estimate leans on them.
    white = np.sqrt(fit.cov_HC1[0, 0])
    assert made.se == pytest.approx(np.sqrt(1 - 25 / SIZE) * white, rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 30])
def test_printed_equations(n):
    ratings = rated(SimpleRandom(), n)
    rows = ratings.sample.indices
    one = ControlVariates(metrics=("comet",), form="printed").estimate(ratings)
    expected = printed_scalar(ratings.scores, rows, POOL.metrics["comet"])
    assert one.value == pytest.approx(expected, rel=1e-9)
    all_ = ControlVariates(form="printed").estimate(ratings)
    expected = printed_multiple(ratings.scores, rows, POOL.matrix().T)
    assert all_.value == pytest.approx(expected, rel=1e-9)


def test_printed_knn_is_equation_three():
    """Eq. 3 to the letter: z is the prediction standardised over the test set, not the sample."""
    from sklearn.neighbors import KNeighborsRegressor

    ratings = rated(SimpleRandom(), 30)
    rows = ratings.sample.indices
    z = POOL.standardised().T
    predicted = KNeighborsRegressor(25).fit(z[rows], ratings.scores).predict(z)
    expected = printed_scalar(ratings.scores, rows, predicted)
    made = registry.estimator("cv-knn-printed").estimate(ratings)
    assert made.value == pytest.approx(expected, rel=1e-9)


# Learned controls ---------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "k", "folds"), [(30, 3, 5), (30, 25, 5), (41, 7, 2), (9, 2, 5)])
def test_knn_cross_fit_by_scikit_learn(n, k, folds):
    ratings = rated(SimpleRandom(), n)
    labels = ratings.sample.folds(min(folds, n // 2))
    assert np.bincount(labels).min() >= n // folds - 1
    value, se = knn_cross_fit(ratings.scores, ratings.sample.indices, POOL.matrix().T, labels, k)
    made = Learned(KNN(k=k, folds=folds), slope="one").estimate(ratings)
    assert made.value == pytest.approx(value, rel=1e-10)
    assert made.se == pytest.approx(se, rel=1e-10)


def test_knn_equals_cross_fit_around_scikit_learn():
    from sklearn.neighbors import KNeighborsRegressor

    ratings = rated(Systematic(), 30)
    ours = Learned(KNN(k=5)).estimate(ratings)
    theirs = Learned(CrossFit(KNeighborsRegressor(5))).estimate(ratings)
    assert ours.value == pytest.approx(float(theirs.value), rel=1e-10)
    assert ours.se == pytest.approx(float(theirs.se), rel=1e-10)


# Ridge --------------------------------------------------------------------------------------


def ridge_case(n=25, p=4, seed=1, common=0.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) + common * rng.normal(size=(n, 1))
    y = x @ np.array([1.0, 0.5, 0.0, -0.5])[:p] + rng.normal(size=n)
    return x, y


def centred(x, y):
    """What ridge_slopes is given: centred columns, divided by √n."""
    dev = np.vstack([y, x.T])
    return (dev - dev.mean(-1, keepdims=True)) / np.sqrt(len(y))


@pytest.mark.parametrize("seed", quick(range(6), slice(2)))
def test_ridge_takes_the_strength_of_least_leave_one_out_error(seed):
    from sklearn.linear_model import Ridge as Theirs
    from sklearn.linear_model import RidgeCV

    x, y = ridge_case(seed=seed)
    n = len(y)
    losses = [ridge_leave_one_out(y, x, s * n) for s in STRENGTHS]
    best = STRENGTHS[int(np.argmin(losses))]
    fit = Theirs(alpha=best * n).fit(x, y)
    beta, leverage, inverse = ridge_slopes(centred(x, y), np.zeros(4), np.full(n, 1 / n))
    np.testing.assert_allclose(inverse @ (centred(x, y)[1:] @ centred(x, y)[0]), beta, rtol=1e-9)
    np.testing.assert_allclose(beta, fit.coef_, rtol=1e-8, atol=1e-10)
    own = x - x.mean(0)
    hat = own @ np.linalg.solve(own.T @ own + best * n * np.eye(4), own.T)
    np.testing.assert_allclose(leverage, np.diag(hat), rtol=1e-9)
    cv = RidgeCV(alphas=[s * n for s in STRENGTHS]).fit(x, y)
    assert cv.alpha_ == pytest.approx(best * n)


@pytest.mark.parametrize("seed", [5, 6, 7, 13])
def test_ridge_leaves_ratings_out_of_the_mean_as_well(seed):
    """Of few ratings, 1/n of an error is in the mean: to forget it chooses other strengths here."""
    n = 10
    x, y = ridge_case(n=n, seed=seed)
    best = min(STRENGTHS, key=lambda s: ridge_leave_one_out(y, x, s * n))
    own, left = x - x.mean(0), y - y.mean()
    hats = {s: own @ np.linalg.inv(own.T @ own + s * n * np.eye(4)) @ own.T for s in STRENGTHS}
    forgetful = {s: (((left - h @ left) / (1 - np.diag(h))) ** 2).sum() for s, h in hats.items()}
    assert min(forgetful, key=forgetful.get) != best
    fit = ridge_slopes(centred(x, y), np.zeros(4), np.full(n, 1 / n))
    np.testing.assert_allclose(own @ fit.beta, hats[best] @ left, rtol=1e-8)


@pytest.mark.parametrize("enough", [False, True])
@pytest.mark.parametrize("names", [("comet",), ("comet", "own"), None])
def test_ridge_needs_twice_as_many_degrees_of_freedom_as_slopes_and_two(names, enough):
    p = 3 if names is None else len(names)
    n = 1 + 2 * p + 2 - (not enough)  # the mean takes one
    for seed in range(3):
        ratings = rated(SimpleRandom(), n, rng=seed)
        made = Ridge(metrics=names, signs=False).estimate(ratings)
        assert np.array_equal(made.residuals, ratings.scores) != enough
        assert any("too few for slopes" in note for note in made.notes) != enough


def many_metrics(p, size=200, seed=4, documents=40):
    """A pool with p judges that see the same quality, each with noise of its own, and more."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=size)
    metrics = {f"judge{k}": quality + rng.uniform(0.5, 3) * rng.normal(size=size) for k in range(p)}
    gold = 3 + quality + 0.3 * metrics["judge0"] + 0.5 * rng.normal(size=size)
    orientation = dict.fromkeys(metrics, 1)
    pool = Pool(np.arange(size), metrics, np.arange(size) % documents, orientation=orientation)
    return pool, gold


@pytest.mark.parametrize(("n", "p"), [(20, 9), (24, 14), (20, 46), (66, 46)])
def test_ridge_averages_over_strengths_where_metrics_are_many(n, p):
    pool, gold = many_metrics(p)
    for seed in range(2):
        ratings = rated(SimpleRandom(), n, rng=seed, pool=pool, gold=gold)
        z, rows = pool.standardised().T, ratings.sample.indices
        penalties = [s * n for s in STRENGTHS]
        slopes, value, se = ridge_averaged(ratings.scores, z[rows], z, penalties)
        made = Ridge(signs=False).estimate(ratings)
        np.testing.assert_allclose(made.residuals, ratings.scores - z[rows] @ slopes, rtol=1e-8)
        assert made.value == pytest.approx(value, rel=1e-9)
        assert made.se == pytest.approx(se, rel=1e-7)
        assert not made.notes


@pytest.mark.parametrize("signs", [True, False])
@pytest.mark.parametrize(
    "sampler", [SimpleRandom(), Balanced(), Stratified()], ids=lambda s: s.name
)
def test_ridge_of_many_metrics_batches_and_follows_the_scale(sampler, signs):
    pool, gold = many_metrics(40, documents=5)
    ratings = rated(sampler, 44, pool=pool, gold=gold, draws=4)
    ridge = Ridge(signs=signs)
    made = ridge.estimate(ratings)
    assert np.any(made.residuals != ratings.scores, axis=-1).all()
    for k in range(4):
        alone = ridge.estimate(ratings.draw(k))
        assert alone.value == made.value[k]
        assert alone.se == made.se[k]
    turned = ridge.estimate(ratings.sample.rate(100 - 2 * ratings.scores))
    np.testing.assert_allclose(turned.value, 100 - 2 * made.value, rtol=1e-10)
    np.testing.assert_allclose(turned.se, 2 * made.se, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_averages_of_a_balanced_sample_count_the_errors_beside_its_variates(seed):
    """A variate that explains much makes the strengths that explain it no better."""
    n, p = 24, 14
    pool, gold = many_metrics(p)
    rows = SimpleRandom().draw(pool, n, rng=seed).indices
    x, y = pool.standardised().T[rows], gold[rows]
    dev = centred(x, y)
    variates = np.stack([dev[1:4].sum(0), dev[4] - dev[5]])
    errors, slopes = [], []
    for strength in (s for s in STRENGTHS if 3 * n * s >= p):
        inverse = np.linalg.inv(dev[1:] @ dev[1:].T + strength * np.eye(p))
        slopes.append(inverse @ dev[1:] @ dev[0])
        hat = dev[1:].T @ inverse @ dev[1:]
        error = (dev[0] - hat @ dev[0]) / (1 - np.diag(hat) - 1 / n)
        explained = variates.T @ np.linalg.lstsq(variates.T, error, rcond=None)[0]
        errors.append(((error - explained) ** 2).sum())
    share = (min(errors) / np.array(errors)) ** (n / 8)
    expected = share / share.sum() @ np.array(slopes)
    weights = np.full(n, 1 / n)
    fit = ridge_slopes(dev, np.zeros(p), weights, choose=False, balance=variates)
    np.testing.assert_allclose(fit.beta, expected, rtol=1e-7, atol=1e-10)
    without = ridge_slopes(dev, np.zeros(p), weights, choose=False)
    assert np.abs(fit.beta - without.beta).max() > 1e-4


def test_averaged_slopes_keep_to_the_known_signs():
    pool, gold = many_metrics(40)
    for seed in range(4):
        ratings = rated(SimpleRandom(), 30, rng=seed, pool=pool, gold=gold)
        dev = centred(pool.standardised().T[ratings.sample.indices], ratings.scores)
        fit = ridge_slopes(dev, np.ones(40), np.full(30, 1 / 30), choose=False)
        assert (fit.beta >= 0).all()
        assert (fit.beta > 0).any()
        # The matrix and the leverages belong to these slopes: the fits are linear in the scores.
        np.testing.assert_allclose(fit.inverse @ (dev[1:] @ dev[0]), fit.beta, atol=1e-9)
        leverage = ((fit.inverse @ dev[1:]) * dev[1:]).sum(0)
        np.testing.assert_allclose(fit.leverage, leverage, atol=1e-9)


@pytest.mark.parametrize(("sampler", "n", "used"), [
    (SimpleRandom(), 19, False), (SimpleRandom(), 20, True), (Clusters(), 90, False),
    (Clusters(), 120, True),
])  # fmt: skip
def test_ridge_of_many_metrics_needs_twenty_ratings_or_units(sampler, n, used):
    """Documents of 5 segments: 90 segments are 18 documents, 120 are 24."""
    pool, gold = many_metrics(60)
    ratings = rated(sampler, n, pool=pool, gold=gold)
    made = Ridge().estimate(ratings)
    assert np.array_equal(made.residuals, ratings.scores) != used
    assert any("too few for slopes" in note for note in made.notes) != used


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("common", [0.0, 1.0, 3.0])
def test_signed_ridge_solves_the_bounded_problem(seed, common):
    """At a single strength, so that only the slopes are compared."""
    from fewgold.estimators.ridge import constrain

    x, y = ridge_case(seed=seed, common=common)
    signs = np.array([-1.0, 1.0, 1.0, 0.0])
    dev = centred(x, y)
    for strength in STRENGTHS:
        gram = dev[1:] @ dev[1:].T + strength * np.eye(4)
        cross = dev[1:] @ dev[0]
        free = np.linalg.solve(gram, cross)
        ours = constrain(gram[None], cross[None], free[None], signs[None])[0]
        expected = ridge_signed(dev[0], dev[1:].T, strength, signs)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6 * scale)


def test_ridge_estimate_by_hand():
    """Free signs on a simple random sample: the whole estimate from its definition."""
    from sklearn.linear_model import Ridge as Theirs

    ratings = rated(SimpleRandom(), 25)
    rows, y = ratings.sample.indices, ratings.scores
    z = POOL.standardised().T
    x = z[rows]
    best = min(STRENGTHS, key=lambda s: ridge_leave_one_out(y, x, s * 25))
    fit = Theirs(alpha=best * 25).fit(x, y)
    left = y - x @ fit.coef_
    own = x - x.mean(0)
    hat = own @ np.linalg.solve(own.T @ own + best * 25 * np.eye(3), own.T)
    made = Ridge(signs=False).estimate(ratings)
    assert made.value == pytest.approx(left.mean(), rel=1e-9)
    g = 1 - 25 * own @ np.linalg.solve(own.T @ own + best * 25 * np.eye(3), x.mean(0))
    errors = g * (left - left.mean()) / (1 - np.diag(hat))
    variance = (1 - 25 / SIZE) / 25 * errors.var(ddof=1)
    assert made.se == pytest.approx(np.sqrt(variance), rel=1e-9)


def test_ridge_keeps_to_the_known_signs():
    """comet is better when larger and ter when smaller, and the scores are penalties."""
    for seed in range(8):
        ratings = rated(SimpleRandom(), 20, rng=seed)
        made = Ridge(metrics=("comet", "ter"), higher_is_better=False).estimate(ratings)
        x = POOL.standardised(["comet", "ter"])[:, ratings.sample.indices]
        gap = ratings.scores - made.residuals
        slopes, *_ = np.linalg.lstsq(x.T, gap, rcond=None)
        assert slopes[0] <= 1e-9
        assert slopes[1] >= -1e-9


# Bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_hoeffding_and_bernstein(confidence):
    sample = SimpleRandom().draw(POOL, 25, rng=0)
    # As printed, nothing is cut off that the unrated segments could not make of it.
    made = Mean().estimate(sample.rate(GOLD[sample.indices]))
    low, high = made.interval(confidence, Hoeffding(score_range=30.0, printed=True))
    assert (high - low) / 2 == pytest.approx(hoeffding_half(30.0, 25, SIZE, confidence))
    assert (high + low) / 2 == pytest.approx(float(made.value))
    low, high = made.interval(confidence, Bernstein(score_range=30.0, printed=True))
    scores = GOLD[sample.indices]
    assert (high - low) / 2 == pytest.approx(bernstein_half(scores, 30.0, confidence))
    assert (high + low) / 2 == pytest.approx(float(made.value))


def test_intervals_do_not_leave_the_scale():
    sample = SimpleRandom().draw(POOL, 25, rng=0)
    made = Mean().estimate(sample.rate(GOLD[sample.indices], limits=(0.0, 50.0)))
    low, high = made.interval(0.95, Bernstein(printed=True))
    assert low == 0.0
    assert high == pytest.approx(made.value + bernstein_half(GOLD[sample.indices], 50.0, 0.95))
    # Nor, but as printed, what the 25 ratings leave possible.
    known = GOLD[sample.indices].sum() / SIZE
    assert made.interval(0.95, Bernstein()).low == pytest.approx(known)
    wide = made.interval(0.999, Bernstein())
    assert wide.high == pytest.approx(known + 50.0 * (1 - 25 / SIZE))


def test_hoeffding_of_strata():
    pool, gold = make_pool(documents=5)
    sample = Stratified().draw(pool, 40, rng=0)
    made = Mean().estimate(sample.rate(gold[sample.indices], limits=(-750.0, 750.0)))
    low, high = made.interval(0.95, Hoeffding())
    counts, sizes = np.bincount(pool.codes[sample.indices]), np.bincount(pool.codes)
    assert (high - low) / 2 == pytest.approx(hoeffding_stratified_half(1500, counts, sizes, 0.95))


def test_hoeffding_with_fixed_slopes_goes_by_the_range_of_the_residuals():
    sample = SimpleRandom().draw(POOL, 25, rng=0)
    ratings = sample.rate(GOLD[sample.indices], limits=(-750.0, 750.0))
    made = ControlVariates(slopes={"comet": -3.0}).estimate(ratings)
    low, high = made.interval(0.95, Hoeffding())
    span = 1500 + 3.0 * np.ptp(POOL.standardised(["comet"])[0])
    assert (high - low) / 2 == pytest.approx(hoeffding_half(span, 25, SIZE, 0.95))


# Every strategy -----------------------------------------------------------------------------

FAST = [
    n
    for n in registry.estimator_names(POOL)
    if n not in ("cv-forest", "alpha") and not n.startswith("cv-sklearn:")
]
STRATEGIES = sorted(
    {*registry.strategy_names(POOL)}
    | {f"{s}+mean" for s in registry.sampler_names()}
    | {f"random+{e}" for e in FAST}
    | {f"docs-prop+{e}" for e in FAST}
    | {f"docs-balanced+{e}" for e in FAST}
)
by_strategy = pytest.mark.parametrize("name", STRATEGIES)


def collect(name, n, pool=POOL, gold=GOLD, **options):
    estimator = registry.strategy(name, pool)
    return estimator, estimator.collect(pool, lambda s: gold[s.indices], n, **options)


@pytest.mark.sweep
@by_strategy
@pytest.mark.parametrize("n", [2, 7, 24, 60])
def test_batch_equals_one_by_one(name, n):
    estimator, ratings = collect(name, n, draws=7, rng=3)
    batch = estimator.estimate(ratings)
    low, high = batch.interval(0.9)
    for k in range(7):
        one = estimator.estimate(ratings.draw(k))
        np.testing.assert_allclose(one.value, batch.value[k], rtol=1e-8)
        np.testing.assert_allclose(one.se, batch.se[k], rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(one.interval(0.9), (low[k], high[k]), rtol=1e-8)


@pytest.mark.sweep
@pytest.mark.parametrize("name", registry.sampler_names())
@pytest.mark.parametrize("sizes", [(4, 4), (9, 2), (12, 20)])
def test_batch_of_top_ups_equals_one_by_one(name, sizes):
    """Two waves; the second is drawn from a pool that differs from draw to draw."""
    sampler = registry.sampler(name)
    first = sampler.draw(POOL, sizes[0], draws=6, rng=5)
    given = first.rate(GOLD[first.indices])
    wave = sampler.draw(POOL, sizes[1], given=given, rng=6)
    batch = Mean().estimate(wave.rate(GOLD[wave.indices]))
    for k in range(6):
        one = wave.draw(k)
        single = Mean().estimate(one.rate(GOLD[one.indices]))
        np.testing.assert_allclose(single.value, batch.value[k], rtol=1e-10)
        np.testing.assert_allclose(single.se, batch.se[k], rtol=1e-10)


@by_strategy
def test_same_seed_same_sample(name):
    one, two, other = (collect(name, 12, draws=3, rng=seed)[1] for seed in (4, 4, 5))
    np.testing.assert_array_equal(one.sample.indices, two.sample.indices)
    assert (one.sample.indices != other.sample.indices).any()


@by_strategy
def test_census_is_exact(name):
    estimator, ratings = collect(name, SIZE, draws=3, rng=0)
    made = estimator.estimate(ratings)
    np.testing.assert_allclose(made.value, GOLD.mean(), rtol=1e-12)
    np.testing.assert_allclose(made.se, 0.0, atol=1e-12)
    np.testing.assert_allclose(made.interval(), np.full((2, 3), GOLD.mean()), rtol=1e-12)


@by_strategy
def test_few_ratings_give_numbers_and_never_a_false_nought(name):
    """Scores all differ, so that a standard error of 0 would be a lie."""
    for n in (1, 2, 3, 4, 5, 8):
        estimator, ratings = collect(name, n, draws=20, rng=1)
        made = estimator.estimate(ratings)
        assert np.isfinite(made.value).all()
        assert not np.isnan(made.se).any()
        assert (made.se > 1e-9).all()
        low, high = made.interval()
        assert not np.isnan(low).any()
        assert (low < high).all()


@pytest.mark.slow
def test_forest():
    estimator, ratings = collect("docs-prop+cv-forest", 20, draws=2, rng=1)
    batch = estimator.estimate(ratings)
    assert batch.value[1] == pytest.approx(float(estimator.estimate(ratings.draw(1)).value))


def test_incremental_accepts_scores_by_id():
    """`collect` promises scores as an array or by id, for every sampler."""
    by_id = dict(zip(POOL.ids.tolist(), GOLD.tolist(), strict=True))
    for name in ("random+mean", "docs-incr-human+mean"):
        estimator = registry.strategy(name, POOL)
        array = estimator.collect(POOL, lambda s: GOLD[s.indices], 10, rng=0)
        mapping = estimator.collect(POOL, lambda s: by_id, 10, rng=0)
        np.testing.assert_array_equal(array.scores, mapping.scores)


def test_wrong_shape_is_refused():
    sample = SimpleRandom().draw(POOL, 5, rng=0)
    with pytest.raises(ValueError, match="shape"):
        Sample(POOL, sample.indices[:3], sample.design)


@pytest.mark.parametrize("n", [4, 8, 12, 20, 30])
def test_knn_of_all_ratings_is_the_plain_mean(n):
    """With 25 neighbours and fewer to train on, every prediction is one constant.

    It explains nothing, so that its slope must be 0 and not the quotient of two rounding errors.
    """
    sample = SimpleRandom().draw(POOL, n, draws=50, rng=2)
    ratings = sample.rate(GOLD[sample.indices])
    made = Learned(KNN(k=25)).estimate(ratings)
    np.testing.assert_allclose(made.value, ratings.scores.mean(-1), rtol=1e-9)


@pytest.mark.parametrize("n", [4, 12, 25])
def test_printed_knn_of_all_ratings_is_the_plain_mean(n):
    sample = SimpleRandom().draw(POOL, n, draws=50, rng=2)
    ratings = sample.rate(GOLD[sample.indices])
    made = registry.estimator("cv-knn-printed").estimate(ratings)
    np.testing.assert_allclose(made.value, ratings.scores.mean(-1), rtol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_top_ups_of_a_batch_may_need_different_designs(seed):
    """What is left of the documents decides between a line and merged strata, draw by draw."""
    pool = Pool(ids=np.arange(10), documents=np.array(list("aaaaaabbcc")))
    gold = GOLD[:10]
    first = SimpleRandom().draw(pool, 4, draws=25, rng=seed)
    given = first.rate(gold[first.indices])
    wave = Stratified().draw(pool, 4, given=given, rng=seed)
    batch = Mean().estimate(wave.rate(gold[wave.indices]))
    generator = np.random.default_rng(seed)
    kinds = set()
    for k in range(25):
        alone = Stratified().draw(pool, 4, given=given.draw(k), rng=generator)
        np.testing.assert_array_equal(alone.indices, wave.indices[k])
        kinds.add(alone.design.kind)
        single = Mean().estimate(alone.rate(gold[alone.indices]))
        np.testing.assert_allclose(single.value, batch.value[k], rtol=1e-10)
        np.testing.assert_allclose(single.se, batch.se[k], rtol=1e-10)
    assert kinds == {"systematic", "stratified"}
