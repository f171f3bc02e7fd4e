"""The figures of a cell against the baseline, each with its Monte-Carlo error.

Draw k of a strategy and draw k of the baseline may share their sample, so errors of ratios and
differences come from the pairs: right whether they are correlated or not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray
from fewgold.simulation._cells import OWN, Cell
from fewgold.simulation._scores import NOTHING, Score, over_known, ratio, root, squared_deviations


def figures(cell: Cell, baseline: Cell | None, plain: bool) -> dict[str, float]:
    """All figures of a cell; ``plain`` where the baseline is the mean of a simple random sample.

    Its mean squared error is then known exactly, S²(1/n − 1/N), and need not be simulated.
    """
    errors = cell.errors
    size = np.abs(errors)
    found: dict[str, Score] = {
        "abs_error": Score.of(size),
        "abs_error_sd": _sd(size),
        "bias": Score.of(errors),
        "rmse": root(Score.of(errors**2)),
        "sd": _sd(errors),
    }
    if baseline is not None and baseline.failure is None:
        found |= _against(cell, baseline, plain)
    else:
        found |= dict.fromkeys(("reduction", "variance_ratio", "ess", "ess_ratio", "win"), NOTHING)
    found["se"] = cell.se or NOTHING
    found["se_ratio"] = cell.se_ratio or NOTHING
    found["cost"] = cell.cost or NOTHING
    own = cell.covers.get(OWN)
    for part in ("coverage", "half_width", "slack"):
        found[part] = NOTHING if own is None else getattr(own, part)
    for bound in (*cell.covers, *cell.refusals):
        for part in ("coverage", "half_width", "slack"):
            cover = cell.covers.get(bound)
            if bound != OWN:
                found[f"{part}_{bound}"] = NOTHING if cover is None else getattr(cover, part)
    means = {name: score.mean for name, score in found.items()}
    return means | {f"{name}_mc": score.mc for name, score in found.items()}


def _against(cell: Cell, baseline: Cell, plain: bool) -> dict[str, Score]:
    errors, base = cell.errors, baseline.errors
    alone = cell.strategy == baseline.strategy
    gain = ratio(np.abs(errors), np.abs(base))
    spread = squared_deviations(errors)
    left = 1 / baseline.n - 1 / cell.size
    if plain:
        exact = cell.variance * left
        variance = over_known(spread, base**2, exact)
        mse = over_known(errors**2, base**2, exact)
    else:
        variance, mse = ratio(spread, squared_deviations(base)), ratio(errors**2, base**2)
    # The sample of the baseline's kind that would have had this mean squared error.
    ess = 1 / (1 / cell.size + mse.mean * left)
    slope = ess**2 * left
    return {
        "reduction": Score(0.0, 0.0) if alone else Score(1 - gain.mean, gain.mc),
        "variance_ratio": variance,
        "ess": Score(ess, slope * mse.mc),
        "ess_ratio": Score(ess / cell.n, slope * mse.mc / cell.n),
        "win": NOTHING if alone else _win(np.abs(base) - np.abs(errors)),
    }


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


def _sd(values: FloatArray) -> Score:
    """Standard deviation; its error from the fourth moment, since errors are seldom normal."""
    if values.size < 2:
        return NOTHING
    centred = values - values.mean()
    variance = float(values.var(ddof=1))
    fourth = float((centred**4).mean())
    if variance <= 0:
        return Score(0.0, 0.0)
    noise = np.sqrt(max(fourth - variance**2, 0.0) / values.size)
    return Score(float(np.sqrt(variance)), float(noise / (2 * np.sqrt(variance))))
