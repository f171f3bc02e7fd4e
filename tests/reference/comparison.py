"""Comparison of systems, slowly and obviously."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import stats


def simple_difference(a, b, size):
    """Mean difference, variance with finite population correction, degrees of freedom."""
    d = [x - y for x, y in zip(a, b, strict=True)]
    n = len(d)
    mean = sum(d) / n
    spread = sum((x - mean) ** 2 for x in d) / (n - 1)
    return mean, spread / n * (1 - n / size), n - 1


def partly_shared_variance(a, b):
    """Variance of the difference of two means over one pool, NaN where a system was not rated.

    With fewer than ten segments rated for both, their covariance is taken at its largest where
    that makes the variance larger.
    """
    size = len(a)
    ra, rb = a[~np.isnan(a)], b[~np.isnan(b)]
    n, m = len(ra), len(rb)
    va, vb = np.var(ra, ddof=1), np.var(rb, ddof=1)
    both = [(x, y) for x, y in zip(a, b, strict=True) if not np.isnan(x + y)]
    k = len(both)
    if k >= 10:  # about the means of all that each was rated on
        c = sum((x - ra.mean()) * (y - rb.mean()) for x, y in both) / k
        c *= np.sqrt(n / (n - 1) * m / (m - 1))
    else:
        c = np.sqrt(va * vb) if k / (n * m) < 1 / size else 0.0
    return va * (1 / n - 1 / size) + vb * (1 / m - 1 / size) - 2 * c * (k / (n * m) - 1 / size)


def left_out_errors(y, x, strength):
    """Squared errors of within-segment deviations, each segment predicted by the others.

    ``y`` (n, S) and ``x`` (n, S, p), centred over segments and systems.
    """
    n, _, p = x.shape
    errors = []
    scale = np.square(x).sum((0, 1))
    for left in range(n):
        others = [i for i in range(n) if i != left]
        rows = np.concatenate([x[i] for i in others])
        gram = rows.T @ rows + strength * np.diag(scale)
        slopes = np.linalg.solve(gram, rows.T @ np.concatenate([y[i] for i in others]))
        assert slopes.shape == (p,)
        errors.append(y[left] - x[left] @ slopes)
    return np.array(errors)


def holm(p):
    """Holm's procedure as it is told: test the smallest at level/m, the next at level/(m − 1), …"""
    m = len(p)
    found = np.empty(m)
    worst = 0.0
    for step, k in enumerate(sorted(range(m), key=lambda k: p[k])):
        worst = max(worst, min((m - step) * p[k], 1.0))
        found[k] = worst
    return found


def groups(beats, order):
    """Split wherever the split is clean; ``beats`` (S, S)."""
    label, found = 1, {order[0]: 1}
    for k in range(1, len(order)):
        pairs = itertools.product(order[:k], order[k:])
        if all(beats[i, j] for i, j in pairs):
            label += 1
        found[order[k]] = label
    return [found[k] for k in range(len(order))]


def krippendorff(items):
    """α for interval data by all pairs of values (Krippendorff 2011); items are lists of scores."""
    kept = [scores for scores in items if len(scores) > 1]
    values = [v for scores in kept for v in scores]
    n = len(values)
    observed = sum(
        sum((a - b) ** 2 for a, b in itertools.permutations(scores, 2)) / (len(scores) - 1)
        for scores in kept
    )
    expected = sum((a - b) ** 2 for a, b in itertools.permutations(values, 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def additive(item, rater, y):
    """Bias of each rater, mean 0, and its standard error, by one large least-squares problem."""
    items, raters = max(item) + 1, max(rater) + 1
    design = np.zeros((len(y), items + raters))
    for k, (i, r) in enumerate(zip(item, rater, strict=True)):
        design[k, i] = design[k, items + r] = 1
    y = np.asarray(y)
    inverse = np.linalg.pinv(design, rcond=1e-9)
    fit = inverse @ y
    rank = np.linalg.matrix_rank(design, tol=1e-9)
    noise = np.square(y - design @ fit).sum() / (len(y) - rank)
    centre = np.eye(raters) - 1 / raters
    take = centre @ inverse[items:]
    return take @ y, np.sqrt(noise * np.square(take).sum(1))


def rank_chances(means, covariance, df, draws, rng, higher):
    """Ranks counted over draws of a multivariate t, one draw at a time."""
    size = len(means)
    counts = np.zeros((size, size))
    drawn = stats.multivariate_t(means, covariance, df, allow_singular=True, seed=rng).rvs(draws)
    for one in drawn:
        for place, system in enumerate(np.argsort(-one if higher else one)):
            counts[system, place] += 1
    return counts / draws
