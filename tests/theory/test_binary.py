"""The binary model over many studies: methods agree, and posteriors are calibrated.

``FEWGOLD_SEED`` sets another seed: the tests hold for any.

Measured with seed 7 over 500 random studies, relative to mean (from the nearer end) and sd: mixture
and quadrature differ by less than 1e-8, and the reverse factorisation, where its two rules agree,
by less than 1e-9.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from scipy import stats

from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors
from fewgold.bayes.batch import reverse_moments
from fewgold.bayes.mixture import Shapes, mixture
from fewgold.bayes.quadrature import by_quadrature
from reference import binary as twin

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("FEWGOLD_SEED", "7"))


def gap(mean, variance, mu, v):
    return max(abs(mean - mu) / min(mu, 1 - mu), abs(np.sqrt(variance / v) - 1))


def test_three_methods_over_500_studies():
    rng = np.random.default_rng(SEED)
    studies = [twin.random_shapes(rng, largest=10_000) for _ in range(500)]
    batch = Shapes(*np.array(studies, dtype=float).T.copy())
    reverse = reverse_moments(batch)
    worst = {"quadrature": 0.0, "reverse": 0.0}
    converged = reverse.error < 1e-7
    for at in range(500):
        one = batch.draw(at)
        true = mixture(one).moments()
        worst["quadrature"] = max(worst["quadrature"], gap(*by_quadrature(one).moments(), *true))
        if converged[at]:
            found = reverse.mean[at], reverse.variance[at]
            worst["reverse"] = max(worst["reverse"], gap(*found, *true))
    print(worst, converged.mean())
    assert worst["quadrature"] < 1e-6
    assert worst["reverse"] < 1e-6
    assert converged.mean() > 0.1


def drawn(rng, studies, priors, paired, human, metric):
    """Rates from the priors, and counts from the rates."""
    alpha, rho, eta = (rng.beta(*p, studies) for p in (priors.alpha, priors.rho, priors.eta))
    adequate = rng.binomial(paired, alpha)
    tp, tn = rng.binomial(adequate, rho), rng.binomial(paired - adequate, eta)
    hidden = rng.binomial(metric, alpha)  # adequate items that only the metric rates
    ones = rng.binomial(hidden, rho) + rng.binomial(metric - hidden, 1 - eta)
    counts = Counts(
        human_ones=rng.binomial(human, alpha),
        human_total=human,
        tp=tp,
        fn=adequate - tp,
        tn=tn,
        fp=paired - adequate - tn,
        metric_ones=ones,
        metric_total=metric,
    )
    return counts, alpha, rho, eta, hidden


@pytest.mark.parametrize(
    "priors, paired, human, metric",
    [
        (Priors(), 20, 0, 100),
        (Priors(), 5, 10, 300),
        (Priors(alpha=(2, 5), rho=(8, 2), eta=(4, 2)), 10, 0, 50),
        (Priors(alpha=(0.5, 0.5)), 0, 30, 100),
    ],
)
def test_ranks_are_uniform(priors, paired, human, metric):
    """Simulation-based calibration: the CDF at the true rate is uniform over the prior."""
    rng = np.random.default_rng(SEED)
    studies = 400
    counts, alpha, rho, eta, _ = drawn(rng, studies, priors, paired, human, metric)
    posterior = AlphaPosterior(counts, priors)
    curves = posterior._distributions
    ranks = [float(c.cdf(np.array(a))) for c, a in zip(curves, alpha, strict=True)]
    # Four studies with up to three tests each: below 1e-5 once in some 10,000 runs.
    assert stats.kstest(ranks, "uniform").pvalue > 1e-5
    some = range(60)
    ones = [posterior.draw(k) for k in some]
    assert (
        stats.kstest(
            [float(p.rho.cdf(rho[k])) for k, p in zip(some, ones, strict=True)], "uniform"
        ).pvalue
        > 1e-5
    )
    assert (
        stats.kstest(
            [float(p.eta.cdf(eta[k])) for k, p in zip(some, ones, strict=True)], "uniform"
        ).pvalue
        > 1e-5
    )


@pytest.mark.parametrize("priors", [Priors(), Priors(alpha=(2, 2))])
def test_ranks_of_the_pool_are_uniform(priors):
    """Of a share in steps, the rank is drawn within its step."""
    rng = np.random.default_rng(SEED)
    counts, *_, hidden = drawn(rng, 1000, priors, 30, 0, 60)
    pool = PoolPosterior(counts, priors)
    share = (np.asarray(counts.tp + counts.fn) + hidden) / 90
    ranks = []
    for at, step in enumerate(pool._distributions):
        upto = step.mass[step.values < share[at] + 1e-9].sum()
        below = step.mass[step.values < share[at] - 1e-9].sum()
        ranks.append(below + rng.random() * (upto - below))
    assert stats.kstest(ranks, "uniform").pvalue > 1e-5


LEVELS = (0.95, 0.9)
MIDDLE, ENDS = (0.1, 0.5, 0.9), (0.01, 0.99)


def held(posterior, truth):
    """Whether the 95 % and the 90 % intervals hold the truth: (2, *batch)."""
    ends = [posterior.interval(level) for level in LEVELS]
    return np.array([(low <= truth + 1e-9) & (truth - 1e-9 <= high) for low, high in ends])


@pytest.mark.parametrize("alpha", MIDDLE + ENDS)
def test_coverage_of_humans_alone(alpha):
    """Exact sums over all outcomes: 94 to 96 % (and 89 to 91 %) on average over n = 100 … 200.

    For a single n coverage jumps with each rating more, because ratings are counts: 0.935 to 0.965
    at 0.1 and 0.9, 0.942 to 0.960 at ½, 0.911 to 0.975 at 0.01 and 0.99. No interval for a
    proportion is free of that. So it is averaged over all n, and single ones are let deviate by 2
    points in the middle.
    """
    found = []
    for n in range(100, 201):
        k = np.arange(n + 1)
        inside = held(AlphaPosterior(Counts(human_ones=k, human_total=n)), alpha)
        found.append(inside @ stats.binom.pmf(k, n, alpha))
    mean, least, most = np.mean(found, 0), np.min(found, 0), np.max(found, 0)
    print(alpha, mean.round(4), least.round(4), most.round(4))
    assert 0.94 < mean[0] < 0.96
    assert 0.89 < mean[1] < 0.915
    if alpha in MIDDLE:
        assert least[0] > 0.93 and most[0] < 0.97


@pytest.mark.parametrize("alpha", MIDDLE + ENDS)
def test_coverage_with_known_rates(alpha):
    """Exact sums over the counts of 100 people and of a metric that is right in 80 %."""
    n, rate = 100, 0.8
    found = []
    for metric in (100, 150, 200):
        k, m = np.arange(n + 1), np.arange(metric + 1)
        human = stats.binom.pmf(k, n, alpha)
        auto = stats.binom.pmf(m, metric, alpha * rate + (1 - alpha) * (1 - rate))
        k, m = k[human > 1e-8], m[auto > 1e-8]
        counts = Counts(
            human_ones=k[:, None], human_total=n, metric_ones=m, metric_total=metric
        )  # fmt: skip
        inside = held(AlphaPosterior(counts, Priors(rho=rate, eta=rate)), alpha)
        found.append((inside * np.outer(human[k], auto[m])).sum((1, 2)))
    mean = np.mean(found, 0)
    print(alpha, mean.round(4), np.round(found, 4).tolist())
    assert (0.94 if alpha in MIDDLE else 0.93) < mean[0] < 0.96
    assert 0.89 < mean[1] < 0.92


def error(level, draws):
    return 4 * np.sqrt(level * (1 - level) / draws)


@pytest.mark.parametrize("alpha", MIDDLE + ENDS)
def test_coverage_at_a_fixed_rate(alpha):
    """94 to 96 %, give or take the error of the draws, on average over n = 100, 110, … 200.

    Of the metric's errors nothing is known but the paired ratings. Outcomes have four dimensions,
    so they are drawn. At 0.01 and 0.99 one or two of 100 paired items tell about one of the rates,
    and single n go down to 93 %.
    """
    rng = np.random.default_rng(SEED)
    metric, rate, sizes, draws = 500, 0.8, range(100, 201, 10), 600
    found = []
    for paired in sizes:
        adequate = rng.binomial(paired, alpha, draws)
        tp, tn = rng.binomial(adequate, rate), rng.binomial(paired - adequate, rate)
        counts = Counts(
            tp=tp,
            fn=adequate - tp,
            tn=tn,
            fp=paired - adequate - tn,
            metric_ones=rng.binomial(metric, alpha * rate + (1 - alpha) * (1 - rate), draws),
            metric_total=metric,
        )
        found.append(held(AlphaPosterior(counts), alpha).mean(1))
    mean = np.mean(found, 0)
    print(alpha, mean.round(4), np.min(found, 0).round(4))
    total = draws * len(sizes)
    assert 0.94 - error(0.95, total) < mean[0] < 0.96 + error(0.95, total)
    assert 0.89 - error(0.9, total) < mean[1] < 0.91 + error(0.9, total)


@pytest.mark.parametrize("share", MIDDLE + ENDS)
def test_coverage_of_the_pool_by_humans_alone(share):
    """Exact sums: a share of 1000 items, of which 100 to 200 are rated.

    Shares are steps, so intervals hold a little more than stated.
    """
    size, found = 1000, []
    for n in range(100, 201, 5):
        k = np.arange(n + 1)
        pool = PoolPosterior(Counts(human_ones=k, human_total=n), unrated=size - n)
        found.append(held(pool, share) @ stats.hypergeom.pmf(k, size, round(share * size), n))
    mean = np.mean(found, 0)
    print(share, mean.round(4), np.min(found, 0).round(4), np.max(found, 0).round(4))
    assert 0.94 < mean[0] < (0.96 if share in MIDDLE else 0.975)
    assert 0.89 < mean[1] < (0.915 if share in MIDDLE else 0.94)


@pytest.mark.parametrize("priors", [Priors(), Priors(alpha=(2, 2))], ids=["uniform", "cells"])
@pytest.mark.parametrize("share", MIDDLE + ENDS)
def test_coverage_of_the_pool_with_a_metric(share, priors):
    """94 % and more of samples of 1000 items cover the share; the metric is right in 80 %.

    Uniform cells of the 2 × 2 table make α ~ Beta(2, 2), as if two adequate and two inadequate
    items had been seen. That is too much against shares near 0 and 1: with 100 to 200 ratings 89 %
    of the intervals hold 0.01. Uniform α, ρ and η hold it in 95 %, and do as well in the middle.
    """
    rng = np.random.default_rng(SEED)
    size, rate, sizes, draws = 1000, 0.8, range(100, 201, 10), 300
    adequate = round(share * size)
    right, passed = round(rate * adequate), round(rate * (size - adequate))
    cells = [right, adequate - right, size - adequate - passed, passed]
    found = []
    for n in sizes:
        tp, fn, fp, tn = rng.multivariate_hypergeometric(cells, n, draws).T
        ones = cells[0] + cells[2] - tp - fp
        counts = Counts(tp=tp, fn=fn, fp=fp, tn=tn, metric_ones=ones, metric_total=size - n)
        found.append(held(PoolPosterior(counts, priors), share).mean(1))
    mean = np.mean(found, 0)
    print(share, priors, mean.round(4), np.min(found, 0).round(4))
    total = draws * len(sizes)
    if share in ENDS and priors != Priors():
        assert mean[0] < 0.93
        return
    assert mean[0] > 0.94 - error(0.95, total)
    assert mean[1] > 0.89 - error(0.9, total)
