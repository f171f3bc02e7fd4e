"""Biases of raters by least squares, from the outputs or the segments that they have in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.comparison._table import Scored


class Fit(NamedTuple):
    bias: FloatArray
    covariance: FloatArray
    spread: FloatArray
    circles: int  # of raters that nothing ties to the others

    @property
    def lost(self) -> int:
        """Biases that the fit cannot tell."""
        return int(np.isnan(self.bias).sum()) + max(self.circles - 1, 0)


def best_fit(rated: Scored, item: IntArray) -> tuple[Fit, str]:
    """From outputs that several rated, or from segments if that tells more biases."""
    fit = _fit(rated, item, systems=False)
    if fit.lost:
        _, segment = np.unique(rated.segment, return_inverse=True)
        other = _fit(rated, segment, systems=True)
        if other.lost < fit.lost:
            return other, "segments"
    return fit, "outputs"


def _fit(rated: Scored, item: IntArray, systems: bool) -> Fit:
    """Least squares of score = item (+ system) + rater, with the items eliminated."""
    size, per = len(rated.raters), np.bincount(item)

    def centred(columns: FloatArray) -> FloatArray:
        means = [np.bincount(item, column) / per for column in columns]
        return columns - np.stack(means)[:, item]

    def dummies(codes: IntArray) -> FloatArray:
        found = np.zeros((int(codes.max()) + 1, codes.size))
        found[codes, np.arange(codes.size)] = 1.0
        return centred(found)

    x, y = np.zeros((size, item.size)), centred(rated.score[None])
    seen = dummies(rated.rater)
    x[: len(seen)] = seen
    spent = 0
    if systems:
        s = dummies(rated.system)
        slopes = np.linalg.pinv(s @ s.T, rcond=1e-9, hermitian=True) @ s
        x, y = x - (x @ slopes.T) @ s, y - (y @ slopes.T) @ s
        spent = len(s) - 1
    # A bias that all raters of a circle share cannot be told from the items: that eigenvalue is 0
    # but for rounding.
    table = x @ x.T
    values, axes = np.linalg.eigh(table)
    least = 1e-9 * max(float(values[-1]), 1.0)
    told = values > least
    inverse = (axes * np.where(told, 1 / np.where(told, values, 1.0), 0.0)) @ axes.T
    known = np.diag(table) > least
    bias = inverse @ (x @ y[0])
    circles = int(known.sum() - told.sum())
    left = y[0] - bias @ x
    dof = float((per - 1).sum() - spent - told.sum())
    noise = float(np.square(left).sum() / dof) if dof > 0 else np.nan
    part = np.bincount(rated.rater, 1 - 1 / per[item], minlength=size)
    own = np.bincount(rated.rater, left**2, minlength=size)
    lost = np.where(known, 0.0, np.nan)
    return Fit(
        bias + lost,
        noise * inverse,
        np.sqrt(own / np.where(part > 0, part, 1.0)) + lost,
        circles,
    )
