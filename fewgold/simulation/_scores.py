"""Means over draws with their Monte-Carlo errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray


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


NOTHING = Score(np.nan, np.nan)
_ENOUGH = 30  # draws for a slope


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
    apart from it with fewer draws. A few draws cannot tell the slope: it is nought there.
    """
    if not known > 0:
        return NOTHING
    slope = float(np.array_equal(values, control))
    if values.size >= _ENOUGH and control.var() > 0:
        slope = float(((values - values.mean()) * control).mean() / control.var())
    score = Score.of(values - slope * (control - known))
    return Score(score.mean / known, score.mc / known)


def squared_deviations(values: FloatArray) -> FloatArray:
    """Terms whose mean is the variance with divisor draws − 1."""
    return np.asarray((values - values.mean()) ** 2 * values.size / max(values.size - 1, 1))


def root(square: Score) -> Score:
    """The square root of a mean, with the error that follows."""
    value = float(np.sqrt(square.mean))
    return Score(value, square.mc / (2 * value) if value > 0 else 0.0)
