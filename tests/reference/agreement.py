"""Variance components with whole matrices, as the definition has them."""

from __future__ import annotations

import numpy as np


def henderson(segment, rater, score):
    """Henderson's method 3: reductions in sums of squares, set equal to their expectations."""
    segment, rater, y = np.asarray(segment), np.asarray(rater), np.asarray(score, dtype=float)
    s = (segment[:, None] == np.unique(segment)).astype(float)
    r = (rater[:, None] == np.unique(rater)).astype(float)

    def onto(x):
        return x @ np.linalg.pinv(x)

    both, one, other = onto(np.hstack([s, r])), onto(s), onto(r)
    identity = np.eye(y.size)
    rank = {name: round(np.trace(p)) for name, p in (("b", both), ("s", one), ("r", other))}
    noise = y @ (identity - both) @ y / (y.size - rank["b"])
    raters = (y @ (both - one) @ y - (rank["b"] - rank["s"]) * noise) / np.trace(
        r.T @ (identity - one) @ r
    )
    segments = (y @ (both - other) @ y - (rank["b"] - rank["r"]) * noise) / np.trace(
        s.T @ (identity - other) @ s
    )
    return segments, raters, noise


def alpha(table, distance):
    """Krippendorff's α from all ordered pairs: ``table`` is a list of lists of values."""
    table = [values for values in table if len(values) > 1]
    flat = [v for values in table for v in values]
    observed = sum(
        distance(a, b) / (len(values) - 1)
        for values in table
        for i, a in enumerate(values)
        for j, b in enumerate(values)
        if i != j
    )
    expected = sum(distance(a, b) for i, a in enumerate(flat) for j, b in enumerate(flat) if i != j)
    return 1 - (len(flat) - 1) * observed / expected
