"""Whether larger human scores mean better output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewgold import tables
from fewgold._orientation import known_orientation
from fewgold.comparison._table import Table

# Words in the names of scores that count errors.
_ERRORS = {"mqm", "penalty", "penalties", "error", "errors", "hter", "ter", "wer", "edits"}
# How many standard errors of a correlation are needed to go by it.
_CLEAR = 2.5


def direction(
    names: Sequence[str], table: Table, orientation: dict[str, int], scale: object = None
) -> tuple[bool, str]:
    """Whether higher is better, and the sentence that says why that was taken.

    By the name of the column or of the scale (such as "mqm"), else by the way the scores follow
    metrics that are known to be larger for better output, else the usual way.
    """
    rated = np.isfinite(table.human)
    scores = table.human[rated]
    told = [*names, scale] if isinstance(scale, str) else names
    words = {word for name in told for word in tables.parts(name)}
    if words & _ERRORS:
        higher = bool((scores <= 0).all() and (scores < 0).any())
        how = "counts errors, and is negative" if higher else "counts errors"
        which = next(name for name in told if set(tables.parts(name)) & _ERRORS)
        return higher, f"{_way(higher)}, as {which!r} {how}"
    if isinstance(scale, str):
        return True, f"{_way(True)}, as on the scale {scale!r}"
    from scipy.stats import rankdata

    followed = 0.0
    for name, values in table.metrics.items():
        seen = values[rated]
        good = np.isfinite(seen)
        sign = orientation.get(name, known_orientation(name, values[np.isfinite(values)])) or 0
        if sign and good.sum() > 2 and np.ptp(seen[good]) > 0 and np.ptp(scores[good]) > 0:
            # By ranks: one slip of the pen, 250 for 2.5, must not turn the ranking round.
            r = float(np.corrcoef(rankdata(seen[good]), rankdata(scores[good]))[0, 1])
            ratio = sign * r * np.sqrt(good.sum())
            followed = ratio if abs(ratio) > abs(followed) else followed
    if abs(followed) > _CLEAR:
        higher = bool(followed > 0)
        return higher, f"{_way(higher)}, as the scores follow the metrics"
    return True, "higher scores are taken for better; say so if they are not"


def _way(higher: bool) -> str:
    return f"{'higher' if higher else 'lower'} scores are better"
