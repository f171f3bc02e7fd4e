"""The figures of a cell against the baseline, each with its Monte-Carlo error.

Draw k of a strategy and draw k of the baseline may share their sample, so errors of ratios and
differences come from the pairs: right whether they are correlated or not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray
from fewgold.simulation._cell import OWN, Cell
from fewgold.simulation._scores import (
    NOTHING,
    Score,
    deviation,
    if_enough,
    over_known,
    ratio,
    root,
    squared_deviations,
)

PARTS = ("coverage", "half_width", "slack")
AGAINST = ("reduction", "variance_ratio", "ess", "ess_ratio", "win")


def figures(cell: Cell, baseline: Cell | None, plain: bool) -> dict[str, float]:
    """All figures of a cell; ``plain`` where the baseline is the mean of a simple random sample.

    Its mean squared error is then known exactly, S²(1/n − 1/N), and need not be simulated.
    """
    unit = float(np.abs(cell.errors).max()) or 1.0  # squares of 1e-200 or 1e200 are none
    errors = cell.errors / unit
    size = np.abs(errors)
    found: dict[str, Score] = {
        "abs_error": Score.of(size).times(unit),
        "abs_error_sd": deviation(size).times(unit),
        "bias": Score.of(errors).times(unit),
        "rmse": root(Score.of(errors**2)).times(unit),
        "sd": deviation(errors).times(unit),
    }
    if baseline is not None and baseline.failure is None:
        found |= _against(cell, baseline, plain)
    else:
        found |= dict.fromkeys(AGAINST, NOTHING)
    for name in ("se", "se_ratio", "cost"):
        found[name] = getattr(cell, name) or NOTHING
    own = cell.covers.get(OWN)
    for part in PARTS:
        found[part] = NOTHING if own is None else getattr(own, part)
    for bound in (*cell.covers, *cell.refusals):
        for part in PARTS:
            cover = cell.covers.get(bound)
            if bound != OWN:
                found[f"{part}_{bound}"] = NOTHING if cover is None else getattr(cover, part)
    means = {name: score.mean for name, score in found.items()}
    return means | {f"{name}_mc": score.mc for name, score in found.items()}


def _against(cell: Cell, baseline: Cell, plain: bool) -> dict[str, Score]:
    unit = float(np.abs(baseline.errors).max())
    if unit == 0:  # all rated, or all scores equal: nothing to compare
        return dict.fromkeys(AGAINST, NOTHING)
    errors, base = cell.errors / unit, baseline.errors / unit
    alone = cell.strategy == baseline.strategy
    gain = ratio(np.abs(errors), np.abs(base))
    left = 1 / baseline.n - 1 / cell.size
    if alone:
        variance = mse = Score(1.0, 0.0)
    elif plain:
        exact = (cell.spread / unit) ** 2 * left
        variance = over_known(squared_deviations(errors), base**2, exact)
        mse = over_known(errors**2, base**2, exact)
    else:
        variance = ratio(squared_deviations(errors), squared_deviations(base))
        mse = ratio(errors**2, base**2)
    ess = _worth(if_enough(mse, errors.size), cell.size, left)
    return {
        "reduction": Score(0.0, 0.0) if alone else Score(1 - gain.mean, gain.mc),
        "variance_ratio": if_enough(variance, errors.size),
        "ess": ess,
        "ess_ratio": ess.times(1 / cell.n),
        "win": NOTHING if alone else _win(np.abs(base) - np.abs(errors)),
    }


def _worth(mse: Score, size: int, left: float) -> Score:
    """The sample of the baseline's kind that would have had this mean squared error.

    Where the baseline is not the mean of a random sample, this takes its mean squared error to go
    as 1/n − 1/N too. The inverse of a noisy figure is too large on average, which the last line
    takes back to first order.
    """
    ess = 1 / (1 / size + mse.mean * left)
    noise = 0.0 if np.isnan(mse.mc) else (left * ess * mse.mc) ** 2
    return Score(ess / (1 + noise), ess**2 * left * mse.mc)


def _win(gain: FloatArray) -> Score:
    """1 where the mean error is below the baseline's, as the paper counts; else 0.

    Its Monte-Carlo error is that of a coin that falls this way as often as a repetition of the
    whole simulation would.
    """
    mean = float(gain.mean())
    spread = float(gain.std(ddof=1)) if gain.size > 1 else 0.0
    if spread == 0:
        return Score(float(mean > 0), 0.0)
    p = float(ndtr(mean / spread * np.sqrt(gain.size)))
    return Score(float(mean > 0), float(np.sqrt(p * (1 - p))))
