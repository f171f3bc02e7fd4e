"""Effective counts of one sample the slow way: loops over ratings, written from the formulas."""

import numpy as np


def effective_counts(design, cells, adequate, sizes, icc=0.07, icc_stray=0.8, stray=0.2):
    """Counts [inadequate, adequate] of each category, and the design effect.

    ``sizes`` are the items of each category in the pool, rated or not.
    """
    n, total = len(cells), design.size
    groups = [[i for i in range(n) if cells[i] == j] for j in range(len(sizes))]
    stands = [max(total * w - 1, 0) for w in design.weights]
    counts, rates = [], []
    overall = sum(w * y for w, y in zip(design.weights, adequate, strict=True))
    overall /= sum(design.weights)
    for rows in groups:
        if not sum(stands[i] for i in rows):
            for i in rows:
                stands[i] = 1.0
        weight = sum(stands[i] for i in rows)
        share = sum(stands[i] * adequate[i] for i in rows) / weight if rows else 0.0
        counts.append([len(rows) * (1 - share), len(rows) * share])
        rates.append((len(rows) * share + 2 * overall) / (len(rows) + 2))
    # The variance of simple sampling within categories, and by the design.
    left = np.array([adequate[i] - rates[cells[i]] for i in range(n)])
    theirs = simple = expected = 0.0
    for j, rows in enumerate(groups):
        for i in rows:
            influence = sizes[j] * (sizes[j] - len(rows)) / (total * len(rows)) ** 2
            fair = stands[i] * len(rows) / sum(stands[k] for k in rows)
            theirs += influence * fair * (left[i] - left.mean()) ** 2 * n / (n - 1)
            simple += influence * rates[j] * (1 - rates[j])
            expected += design.influence[i] ** 2 * rates[j] * (1 - rates[j])
    ours = float(np.sum(design.deviations(left[None]) ** 2))
    units = range(n) if design.units is None else design.units
    sums = [sum(design.influence[i] for i in range(n) if units[i] == u) for u in set(units)]
    alike = icc * (sum(s**2 for s in sums) / sum(design.influence**2) - 1)
    prior = 2 / (stray**2 + (icc_stray * alike / (1 + alike)) ** 2)
    df = float(design.df) / max(1 - float(design.df) / (n - 1), 1e-3)
    effect = prior * expected / simple * (1 + alike) + df * ours / theirs
    effect /= prior + df - 2
    # c solves A/c + B = effect (A + B).
    a = b = 0.0
    for j, rows in enumerate(groups):
        rest, spread = sizes[j] - len(rows), rates[j] * (1 - rates[j])
        if rows:
            a, b = a + rest**2 * spread / len(rows), b + rest * spread
    factor = a / max(effect * (a + b) - b, a / 4)
    return np.array(counts) * factor, effect
