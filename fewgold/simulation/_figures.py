"""The figures of a cell against the baseline, each with its Monte-Carlo error.

Draw k of a strategy and draw k of the baseline may share their sample, so errors of ratios and
differences come from the pairs: right whether they are correlated or not.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray
from fewgold.simulation._cells import OWN, Cell, Score

_NOTHING = Score(np.nan, np.nan)


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
        "rmse": _root(errors**2),
        "sd": _sd(errors),
    }
    if baseline is not None and baseline.failure is None:
        found |= _against(cell, baseline, plain)
    else:
        found |= dict.fromkeys(("reduction", "variance_ratio", "ess", "ess_ratio", "win"), _NOTHING)
    found["se"] = cell.se or _NOTHING
    found["cost"] = cell.cost or _NOTHING
    own = cell.covers.get(OWN)
    for part in ("coverage", "half_width", "slack"):
        found[part] = _NOTHING if own is None else getattr(own, part)
    for bound in (*cell.covers, *cell.refusals):
        for part in ("coverage", "half_width", "slack"):
            cover = cell.covers.get(bound)
            if bound != OWN:
                found[f"{part}_{bound}"] = _NOTHING if cover is None else getattr(cover, part)
    means = {name: score.mean for name, score in found.items()}
    return means | {f"{name}_mc": score.mc for name, score in found.items()}


def _against(cell: Cell, baseline: Cell, plain: bool) -> dict[str, Score]:
    errors, base = cell.errors, baseline.errors
    alone = cell.strategy == baseline.strategy
    gain = ratio(np.abs(errors), np.abs(base))
    spread = (errors - errors.mean()) ** 2 * errors.size / max(errors.size - 1, 1)
    left = 1 / baseline.n - 1 / cell.size
    if plain:
        exact = cell.variance * left
        variance = over_known(spread, base**2, exact)
        mse = over_known(errors**2, base**2, exact)
    else:
        centred = (base - base.mean()) ** 2 * base.size / max(base.size - 1, 1)
        variance, mse = ratio(spread, centred), ratio(errors**2, base**2)
    # The sample of the baseline's kind that would have had this mean squared error.
    ess = 1 / (1 / cell.size + mse.mean * left)
    slope = ess**2 * left
    return {
        "reduction": Score(0.0, 0.0) if alone else Score(1 - gain.mean, gain.mc),
        "variance_ratio": variance,
        "ess": Score(ess, slope * mse.mc),
        "ess_ratio": Score(ess / cell.n, slope * mse.mc / cell.n),
        "win": _NOTHING if alone else _win(np.abs(base) - np.abs(errors)),
    }


def over_known(values: FloatArray, control: FloatArray, known: float) -> Score:
    """Mean of ``values`` over the known mean of ``control``, which serves as a control variate.

    The baseline itself then comes out as exactly 1, and strategies on the same samples are told
    apart from it with fewer draws.
    """
    if not known > 0:
        return _NOTHING
    spread = control.var()
    slope = ((values - values.mean()) * control).mean() / spread if spread > 0 else 0.0
    score = Score.of(values - slope * (control - known))
    return Score(score.mean / known, score.mc / known)


def ratio(above: FloatArray, below: FloatArray) -> Score:
    """Ratio of two means over paired draws, corrected for its bias of order 1/draws (Beale 1962).

    Beale, Some use of computers in operational research, Industrielle Organisation 31.
    """
    a, b, draws = above.mean(), below.mean(), above.size
    if not b > 0:
        return _NOTHING
    if draws < 2:
        return Score(float(a / b), np.nan)
    cov = np.cov(above, below)
    value = a / b
    if a > 0:
        value *= (1 + cov[0, 1] / (draws * a * b)) / (1 + cov[1, 1] / (draws * b**2))
    influence = (above - a / b * below) / b
    return Score(float(value), float(influence.std(ddof=1) / np.sqrt(draws)))


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
        return _NOTHING
    centred = values - values.mean()
    variance = float(values.var(ddof=1))
    fourth = float((centred**4).mean())
    if variance <= 0:
        return Score(0.0, 0.0)
    noise = np.sqrt(max(fourth - variance**2, 0.0) / values.size)
    return Score(float(np.sqrt(variance)), float(noise / (2 * np.sqrt(variance))))


def _root(squares: FloatArray) -> Score:
    mean = Score.of(squares)
    root = float(np.sqrt(mean.mean))
    return Score(root, mean.mc / (2 * root) if root > 0 else 0.0)
