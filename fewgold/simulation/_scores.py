"""Means over draws with their Monte-Carlo errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray

# Draws that tell a slope, and draws that tell how much a variance varies.
_FOR_SLOPE, _FOR_SPREAD = 30, 8
# A control variate must not be asked to reach further than this, in standard errors.
_REACH = 3.0


class Score(NamedTuple):
    """Mean of a figure over the draws and its Monte-Carlo standard error."""

    mean: float
    mc: float

    @classmethod
    def of(cls, values: FloatArray) -> Score:
        spread = values.std(ddof=1) if values.size > 1 and np.isfinite(values).all() else np.nan
        return cls(float(values.mean()), float(spread / np.sqrt(values.size)))

    @classmethod
    def of_share(cls, hits: FloatArray) -> Score:
        """A share; two hits and two misses added to the error, so that 100 of 100 has one too."""
        draws, count = hits.size, float(hits.sum())
        p = (count + 2) / (draws + 4)
        return cls(count / draws, float(np.sqrt(p * (1 - p) / (draws + 4))))

    def times(self, unit: float) -> Score:
        return Score(self.mean * unit, self.mc * unit)


NOTHING = Score(np.nan, np.nan)


def ratio(above: FloatArray, below: FloatArray) -> Score:
    """Ratio of two means over paired draws, corrected for its bias of order 1/draws (Beale 1962).

    Beale, Some use of computers in operational research, Industrielle Organisation 31.
    """
    a, b, draws = above.mean(), below.mean(), above.size
    if not b > 0:
        return NOTHING
    if draws < 2 or not np.isfinite(a):
        return Score(float(a / b), np.nan)
    cov = np.cov(above, below)
    value = a / b
    if a > 0:
        value *= (1 + cov[0, 1] / (draws * a * b)) / (1 + cov[1, 1] / (draws * b**2))
    influence = (above - a / b * below) / b
    return Score(float(value), float(influence.std(ddof=1) / np.sqrt(draws)))


def over_known(values: FloatArray, control: FloatArray, known: float) -> Score:
    """Mean of ``values`` over the known mean of ``control``, which serves as a control variate.

    The baseline itself then comes out as exactly 1, and strategies on the same samples are told
    apart from it with fewer draws. Where few draws cannot tell the slope, or the mean of the
    control is far from the known one because no draw met a rare segment, it is a plain ratio.
    """
    if not known > 0:
        return NOTHING
    if np.array_equal(values, control):
        return Score(1.0, 0.0)
    seen = Score.of(control)
    if values.size < _FOR_SLOPE or not abs(seen.mean - known) <= _REACH * seen.mc:
        return ratio(values, control)
    slope = float(((values - values.mean()) * control).mean() / control.var())
    score = Score.of(values - slope * (control - known))
    return score.times(1 / known) if score.mean > 0 else ratio(values, control)


def squared_deviations(values: FloatArray) -> FloatArray:
    """Terms whose mean is the variance with divisor draws − 1."""
    return np.asarray((values - values.mean()) ** 2 * values.size / max(values.size - 1, 1))


def deviation(values: FloatArray) -> Score:
    """Standard deviation; its error from the fourth moment, since errors are seldom normal."""
    draws = values.size
    if draws < 2:
        return NOTHING
    variance = float(values.var(ddof=1))
    if variance <= 0:
        return Score(0.0, 0.0)
    fourth = float(((values - values.mean()) ** 4).mean())
    noise = np.sqrt(max(fourth - variance**2 * (draws - 3) / (draws - 1), 0.0) / draws)
    root = float(np.sqrt(variance))
    return if_enough(Score(root, float(noise / (2 * root))), draws)


def root(square: Score) -> Score:
    """The square root of a mean, with the error that follows."""
    value = float(np.sqrt(square.mean))
    return Score(value, square.mc / (2 * value) if value > 0 else 0.0)


def if_enough(score: Score, draws: int) -> Score:
    """The score without an error, where so few draws cannot tell how much a variance varies."""
    return score if draws >= _FOR_SPREAD or score.mc == 0 else Score(score.mean, np.nan)
