"""Values by scikit-learn and statsmodels, influence values by small steps, variances by formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk
from statsmodels.stats import inter_rater
from statsmodels.stats.proportion import proportion_confint

from fewgold import Pool
from fewgold.design import simple_design
from fewgold.judge import calibration as c
from fewgold.judge import figures
from fewgold.judge import measures as m
from fewgold.registry import sampler
from reference import judge as slow

BINARY = np.array([0.0, 1.0])
LEVELS = np.arange(1.0, 6.0)
N = 400


def verdicts(n: int = 60, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    human = (rng.random(n) < 0.6) * 1.0
    return human, np.where(rng.random(n) < 0.8, human, 1 - human)


def levels(n: int = 60, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 6, n) * 1.0
    return human, np.clip(human + rng.integers(-1, 2, n), 1, 5)


def probabilities(n: int = 60, seed: int = 1) -> tuple[Any, Any]:
    human, judge = verdicts(n, seed)
    noise = np.random.default_rng(seed).normal(0, 0.25, n)
    return human, np.clip(0.2 + 0.6 * judge + noise, 0, 1).round(1)


def weighted(human: Any, judge: Any, seed: int = 3) -> m.Paired:
    """Ratings with uneven weights, which are not calibrated since the judge's mean fits."""
    weights = np.random.default_rng(seed).dirichlet(np.full(len(human), 3.0))
    design = simple_design(len(human), N)
    design = type(design)(
        kind="uneven", size=N, weights=weights, inclusion=design.inclusion, groups=design.groups
    )
    return m.Paired(human, judge, design, float(weights @ judge))


TABLES = {
    "accuracy": (m.accuracy, lambda y, g, w: sk.accuracy_score(y, g, sample_weight=w)),
    "recall": (m.sensitivity, lambda y, g, w: sk.recall_score(y, g, sample_weight=w)),
    "specificity": (
        m.specificity, lambda y, g, w: sk.recall_score(y, g, pos_label=0, sample_weight=w)
    ),
    "precision": (m.precision, lambda y, g, w: sk.precision_score(y, g, sample_weight=w)),
    "negative predictive value": (
        m.negative_value, lambda y, g, w: sk.precision_score(y, g, pos_label=0, sample_weight=w)
    ),
    "f1": (m.f1, lambda y, g, w: sk.f1_score(y, g, sample_weight=w)),
    "kappa": (
        lambda of: m.kappa(of, BINARY), lambda y, g, w: sk.cohen_kappa_score(y, g, sample_weight=w)
    ),
    "ac1": (lambda of: m.ac1(of, BINARY), slow.ac1(BINARY)),
}  # fmt: skip
SCORES = {
    "kappa": (
        lambda of: m.kappa(of, LEVELS), lambda y, g, w: sk.cohen_kappa_score(y, g, sample_weight=w)
    ),
    "linear": (
        lambda of: m.kappa(of, LEVELS, "linear"),
        lambda y, g, w: sk.cohen_kappa_score(y, g, weights="linear", sample_weight=w),
    ),
    "quadratic": (
        lambda of: m.kappa(of, LEVELS, "quadratic"),
        lambda y, g, w: sk.cohen_kappa_score(y, g, weights="quadratic", sample_weight=w),
    ),
    "ac1": (lambda of: m.ac1(of, LEVELS), slow.ac1(LEVELS)),
    "ac2": (lambda of: m.ac1(of, LEVELS, "quadratic"), slow.ac2(LEVELS)),
    "spearman": (m.spearman, slow.spearman),
    "kendall": (m.kendall, slow.kendall),
    "pearson": (m.pearson, lambda y, g, w: np.cov(y, g, aweights=w)[0, 1]
                / np.sqrt(np.cov(y, aweights=w) * np.cov(g, aweights=w))),
    "distance": (m.mean_distance, lambda y, g, w: sk.mean_absolute_error(y, g, sample_weight=w)),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_table_measures(name: str) -> None:
    human, judge = verdicts()
    of = weighted(human, judge)
    ours, theirs = TABLES[name]
    found = ours(of)
    assert found.value == pytest.approx(theirs(human, judge, of.weights), abs=1e-12)
    z = slow.influence(theirs, human, judge, of.weights)
    assert found.influence - of.mean(found.influence) == pytest.approx(z, abs=1e-7)


@pytest.mark.parametrize("name", SCORES)
def test_score_measures(name: str) -> None:
    human, judge = levels(30)
    of = weighted(human, judge)
    ours, theirs = SCORES[name]
    found = ours(of)
    assert found.value == pytest.approx(theirs(human, judge, of.weights), abs=1e-12)
    z = slow.influence(theirs, human, judge, of.weights)
    assert found.influence - of.mean(found.influence) == pytest.approx(z, abs=1e-7)


def test_area_under_the_curve() -> None:
    human, judge = probabilities()
    of = weighted(human, judge)

    def theirs(y: Any, g: Any, w: Any) -> float:
        return float(sk.roc_auc_score(y, g, sample_weight=w))

    found = m.auc(of)
    assert found.value == pytest.approx(theirs(human, judge, of.weights), abs=1e-12)
    z = slow.influence(theirs, human, judge, of.weights)
    assert found.influence - of.mean(found.influence) == pytest.approx(z, abs=1e-7)


def test_plain_weights_are_those_of_scipy_and_statsmodels() -> None:
    human, judge = levels()
    of = m.Paired(human, judge, simple_design(human.size, N), float(judge.mean()))
    assert m.spearman(of).value == pytest.approx(stats.spearmanr(human, judge).statistic)
    assert m.kendall(of).value == pytest.approx(stats.kendalltau(human, judge).statistic)
    counts = sk.confusion_matrix(human, judge)
    theirs = inter_rater.cohens_kappa(counts, wt="quadratic")
    found = m.kappa(of, LEVELS, "quadratic")
    assert found.value == pytest.approx(theirs.kappa)
    # Large-sample variances differ by n/(n − 1) and the finite population correction; the
    # judge's mean is not taken as known there.
    free = m.Paired(human, judge, of.design, float(judge.mean()), known=False)
    n = human.size
    expected = theirs.var_kappa * n / (n - 1) * (1 - n / N)
    assert free.variance(found.influence) == pytest.approx(expected, rel=1e-9)


def test_variance_of_a_poststratified_sample() -> None:
    human, judge = verdicts()
    of = m.Paired(human, judge, simple_design(human.size, N), float(judge.mean()))
    z = m.specificity(of).influence
    expected = slow.variance_of_simple_sample(z, judge, N)
    assert of.variance(z) == pytest.approx(expected, rel=1e-12)


def test_weights_give_the_judges_share_of_the_pool() -> None:
    human, judge = verdicts()
    of = m.Paired(human, judge, simple_design(human.size, N), 0.5)
    assert of.mean(judge) == pytest.approx(0.5)
    assert of.weights.sum() == pytest.approx(1)
    for label in (0, 1):  # poststratification: equal weights within what the judge says
        assert np.ptp(of.weights[judge == label]) == pytest.approx(0, abs=1e-15)


def test_confusion_shares_sum_to_one() -> None:
    human, judge = levels()
    of = weighted(human, judge)
    found = m.confusion(of, LEVELS)
    theirs = sk.confusion_matrix(human, judge, sample_weight=of.weights, labels=LEVELS)
    assert found == pytest.approx(theirs)


@pytest.mark.parametrize("make", [verdicts, levels, probabilities])
@pytest.mark.parametrize("name", ["random", "docs-sys", "docs-whole", "docs-balanced"])
def test_a_batch_equals_one_by_one(name: str, make: Any) -> None:
    human, judge = make(N, seed=5)
    documents = np.arange(N) // 8
    noise = np.random.default_rng(1).normal(size=N)
    pool = Pool(np.arange(N), {"judge": judge + 0.1 * noise}, documents)
    sample = sampler(name).draw(pool, 60, draws=3, rng=2)
    rows = sample.indices
    batch = figures(human[rows], judge[rows], sample.design, judge)
    for k in range(3):
        single = figures(human[rows[k]], judge[rows[k]], sample.design.draw(k), judge)
        for key, made in single.items():
            for one, many in zip(made, batch[key], strict=True):
                assert many[k] == pytest.approx(one, rel=1e-9, abs=1e-9, nan_ok=True), key


def test_a_census_is_known() -> None:
    human, judge = verdicts(N)
    found = figures(human, judge, simple_design(N, N), judge)
    for key, made in found.items():
        assert made.se == 0 and made.low == made.high == made.value, key
    assert found["kappa"].value == pytest.approx(sk.cohen_kappa_score(human, judge))
    human, chance = probabilities(N)
    found = figures(human, chance, simple_design(N, N), chance, bins=4)
    edges = c.bin_edges(chance, 4)
    place = np.searchsorted(edges[1:-1], chance, side="right")
    by_hand = sum(
        np.mean(place == k) * abs((human - chance)[place == k].mean()) for k in np.unique(place)
    )
    assert found["ece"].value == pytest.approx(by_hand)


def test_bins_hold_about_as_much_each() -> None:
    values = np.random.default_rng(1).random(1000)
    edges = c.bin_edges(values, 5)
    assert np.histogram(values, edges)[0] == pytest.approx(200, abs=1)
    assert c.bin_edges(np.full(50, 0.3), 5).tolist() == [0, 1]
    ties = np.repeat([0.0, 0.5, 1.0], [10, 80, 10])
    assert c.bin_edges(ties, 4).tolist() == [0, 0.5, 1]


def test_calibration_error_is_corrected_for_chance() -> None:
    """A judge that is right about itself: the plain error is chance alone, most of it goes."""
    rng = np.random.default_rng(4)
    chance = rng.random(4000)
    human = (rng.random(4000) < chance) * 1.0
    pool = Pool(np.arange(4000), {"judge": chance})
    rows = sampler("random").draw(pool, 100, draws=300, rng=1)
    of = m.Paired(human[rows.indices], chance[rows.indices], rows.design, float(chance.mean()))
    found = c.calibration(of, chance, c.bin_edges(chance, 5), 0.95)
    assert found.plain.mean() > 0.06
    assert found.ece.value.mean() < 0.6 * found.plain.mean()
    assert (found.ece.low == 0).mean() > 0.9


def test_slices_are_those_of_the_part_alone() -> None:
    """A slice that was sampled whole is known; others have the value of their own ratings."""
    human, judge = verdicts(80)
    inside = np.arange(80) < 30
    of = m.Paired(human, judge, simple_design(80, N), 0.55, inside)
    own = m.Paired(human[inside], judge[inside], simple_design(30, 150), 0.55)
    assert m.f1(of).value == pytest.approx(m.f1(own).value)
    # By a random sample the variance of a part is that of its own, but for Bessel's correction.
    ratio = of.variance(m.f1(of).influence) / own.variance(m.f1(own).influence)
    assert ratio == pytest.approx((80 / 79) / (30 / 29), rel=1e-9)


def test_documents_are_the_units() -> None:
    """Doubling every rating within its unit leaves the interval as it was."""
    human, judge = verdicts(40)
    documents = np.repeat(np.arange(20), 2)
    design = simple_design(40, 10**9)
    whole = type(design)(
        kind="clusters", size=10**9, weights=design.weights, inclusion=design.inclusion,
        groups=design.groups, units=documents,
    )  # fmt: skip
    human[1::2], judge[1::2] = human[::2], judge[::2]
    twice = m.Paired(human, judge, whole, float(judge.mean()))
    once = m.Paired(human[::2], judge[::2], simple_design(20, 10**9), float(judge.mean()))
    z, y = (m.kappa(of, BINARY).influence for of in (twice, once))
    assert twice.variance(z) == pytest.approx(once.variance(y), rel=1e-7)


def test_a_pass_and_a_fail_are_added_where_the_judge_says_the_same() -> None:
    """Agresti and Caffo: the precision of a judge that passes all, by hand."""
    human = np.repeat([1.0, 0.0], [17, 3])
    design = simple_design(20, 10**9)
    of = m.Paired(human, np.ones(20), design, 1.0)
    found = m.figure(m.precision, of, 0.95, BINARY)
    p = 18 / 22
    ratings = (20 / 19) * ((human - 0.85) ** 2).sum()
    added = (1 - p) ** 2 + p**2
    se = np.sqrt(ratings + added) / 22
    # Only the ratings' part of the variance is estimated, with 18 degrees of freedom.
    q = stats.t.ppf(0.975, 18 * ((ratings + added) / ratings) ** 2)
    assert (found.value, found.se) == pytest.approx((0.85, se), rel=1e-6)
    assert (found.low, found.high) == pytest.approx((p - q * se, p + q * se), rel=1e-6)


@pytest.mark.parametrize("hits", [0, 1, 13, 40])
def test_wilson_is_that_of_statsmodels(hits: int) -> None:
    q = np.asarray(stats.norm.ppf(0.975))
    ours = m.wilson(np.asarray(hits / 40), np.asarray(40.0), q)
    assert tuple(ours) == pytest.approx(proportion_confint(hits, 40, 0.05, "wilson"), abs=1e-12)


def test_perfect_agreement_leaves_room_for_what_was_missed() -> None:
    human = np.repeat([1.0, 0.0], [30, 20])
    found = figures(human, human, simple_design(50, 1000), np.repeat([1.0, 0.0], [600, 400]))
    for key in ("accuracy", "kappa", "ac1", "f1", "sensitivity", "specificity"):
        assert found[key].value == pytest.approx(1) and found[key].high == pytest.approx(1)
        assert 0.7 < found[key].low < 0.98, key


def test_folded_normal() -> None:
    mean, sd = np.array([0.0, 0.3, 2.0, 1.0]), np.array([1.0, 0.5, 0.7, 0.0])
    found = c._folded(mean, sd)
    for k, (a, s) in enumerate(zip(mean, sd, strict=True)):
        if s == 0:
            theirs = [a, 0, 0]
        else:
            law = stats.foldnorm(a / s, scale=s)
            theirs = [law.mean(), law.var(), float(law.stats("s")) * law.std() ** 3]
        assert [x[k] for x in found] == pytest.approx(theirs, abs=1e-9)


def test_a_few_good_segments_decide_the_area() -> None:
    """Student's quantile of the rarer kind, with Bessel's correction for its number."""
    of = m.Paired(np.zeros(40), np.arange(40.0), simple_design(40, 10**9), 20.0)
    rare = np.arange(40) < 5
    expected = stats.t.ppf(0.975, 4) * np.sqrt(5 / 4)
    assert of.quantile(0.95, rare) == pytest.approx(expected, rel=1e-6)
    assert of.quantile(0.95) == pytest.approx(stats.t.ppf(0.975, 38))


@pytest.mark.parametrize("correlation, size", [(0.0, 0.0), (0.0, 0.1), (0.5, 0.15), (0.3, 0.03)])
def test_calibration_errors_hold_where_bins_err_together(correlation: float, size: float) -> None:
    """Gaps of one sign with correlated errors, whose covariance few units estimate."""
    rng = np.random.default_rng(3)
    k, df, draws, share = 6, 20, 2000, np.full(6, 1 / 6)
    true = -size * np.linspace(0.5, 1.5, k)
    scatter = 0.1**2 * (correlation + (1 - correlation) * np.eye(k))
    root = np.linalg.cholesky(scatter)
    gap = true + rng.normal(size=(draws, k)) @ root.T
    parts = rng.normal(size=(draws, df, k)) @ root.T
    covariance = np.swapaxes(parts, -1, -2) @ parts / df
    found = c._error(gap, covariance, covariance, share, np.full(draws, df * 1.0), 0.95)[1]
    error = share @ np.abs(true)
    held = (found.low <= error) & (error <= found.high)
    # Without any error only the lower end can miss.
    expected = 0.95 if size else 0.975
    assert expected - 0.02 < held.mean() < expected + 0.02
