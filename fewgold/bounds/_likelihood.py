"""Adjusted empirical likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._shape import Shape, ShapeBound, student_quantile

_STEPS = 60


@dataclass(frozen=True)
class Likelihood(ShapeBound):
    """el"""

    name: ClassVar[str] = "likelihood"

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        t = student_quantile(df, confidence)
        ends = [np.empty(df.shape), np.empty(df.shape)]
        for n in np.unique(shape.members).astype(np.int64):
            which = shape.members == n
            for end, sign in ((0, -1.0), (1, 1.0)):
                x = sign * shape.units[which, :n]
                far = _furthest(x, t[which] ** 2 * (1 - shape.fraction[which]))
                ends[end][which] = sign * far * np.sqrt(n / (1 - shape.fraction[which]))
        return ends[0], ends[1]


def _furthest(x: FloatArray, most: FloatArray) -> FloatArray:
    """The mean above that of x, 0, at which −2 log R is ``most``: (draws, n), (draws,) -> (draws,).

    The root of −2 log R is nearly a straight line in the mean: Newton's steps, kept in a bracket.
    """
    n = x.shape[-1]
    extra = max(1.0, np.log(n) / 2)  # Chen, Variyath and Abraham's a_n
    # Far out only n units on one side and the extra one on the other are left.
    limit = -2 * (n * np.log((n + 1) * extra / (n * (1 + extra))) + np.log((n + 1) / (1 + extra)))
    found = np.full(most.shape, np.inf)
    todo = np.flatnonzero(most < limit)
    x, goal = x[todo], np.sqrt(most[todo])
    mean, pull = goal / np.sqrt(n), np.zeros(todo.size)
    low, high = np.zeros(todo.size), np.full(todo.size, np.inf)
    for _ in range(_STEPS):
        pull, ratio, slope = _profile(x, mean, pull, extra)
        root = np.sqrt(np.maximum(ratio, 1e-300))
        low, high = np.where(root < goal, mean, low), np.where(root < goal, high, mean)
        step = mean + (goal - root) * 2 * root / slope
        halved = np.where(np.isfinite(high), (low + np.minimum(high, 4 * low)) / 2, 2 * mean)
        new = np.where((step > low) & (step < high) & (step < 4 * mean), step, halved)
        settled = np.abs(new - mean) <= 1e-11 * mean
        mean = new
        if settled.all():
            break
    found[todo] = mean
    return found


def _profile(
    x: FloatArray, mean: FloatArray, pull: FloatArray, extra: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The Lagrange multiplier at a mean, −2 log R there, and its slope in the mean."""
    g = np.concatenate([x - mean[:, None], extra * mean[:, None]], axis=-1)
    low, high = -1 / g.max(-1), -1 / g.min(-1)  # within which all weights are above 0
    pull = np.where((pull > low) & (pull < high), pull, 0.0)
    for _ in range(_STEPS):
        weight = 1 / (1 + pull[:, None] * g)
        pulled = g * weight
        left = pulled.sum(-1)  # falls in the multiplier
        low, high = np.where(left > 0, pull, low), np.where(left > 0, high, pull)
        step = pull + left / (pulled**2).sum(-1)
        new = np.where((step > low) & (step < high), step, (low + high) / 2)
        settled = np.abs(new - pull) <= 1e-12 * np.abs(pull)
        pull = new
        if settled.all():
            break
    ratio = 2 * np.log1p(pull[:, None] * g).sum(-1)
    weight = 1 / (1 + pull[:, None] * g)
    slope = 2 * pull * (extra * weight[:, -1] - weight[:, :-1].sum(-1))
    return pull, np.asarray(ratio), np.asarray(slope)
