"""Missing answers by brute force: every set of answers that could have come."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np


def answer_sets(classes, counts):
    """Every way to have ``counts`` answers in each class, equally likely: (·, n) True or False."""
    classes = np.asarray(classes)
    parts = [list(combinations(np.flatnonzero(classes == h), c)) for h, c in enumerate(counts)]
    found = []
    for choice in product(*parts):
        keep = np.zeros(classes.size, dtype=bool)
        keep[[row for part in choice for row in part]] = True
        found.append(keep)
    return np.array(found)


def stratified(scores, strata, sizes):
    """Textbook mean and variance of r_h of N_h segments in each stratum."""
    scores, strata = np.asarray(scores), np.asarray(strata)
    total, value, variance = sum(sizes), 0.0, 0.0
    for h, size in enumerate(sizes):
        y = scores[strata == h]
        share = size / total
        value += share * y.mean()
        variance += share**2 * (1 - y.size / size) * y.var(ddof=1) / y.size
    return value, variance


def permutation_p(values, gone, classes=None):
    """Exact chance of a difference as large, over all sets of gaps with as many in each class."""
    values, gone = np.asarray(values, dtype=float), np.asarray(gone)
    classes = np.zeros(gone.size, dtype=int) if classes is None else np.asarray(classes)
    counts = [int(gone[classes == h].sum()) for h in range(classes.max() + 1)]
    sets = answer_sets(classes, counts)
    sums = sets @ values
    return float((abs(sums - sums.mean()) >= abs(values[gone].sum() - sums.mean()) - 1e-9).mean())
