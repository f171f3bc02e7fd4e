"""Sums over the nearest rated segments, for all draws and folds at once.

Neighbours are walked through from near to far, and each fold takes the first k that train it.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._neighbours import Nearest


class Studies(NamedTuple):
    """A batch of draws, each in ascending order of rows.

    ``label`` (draws, n) is the fold of each rating, one of ``folds``. ``fresh`` (draws,) says where
    mean predictions leave the training folds out. Without ``held`` all ratings train all folds.
    """

    rows: IntArray
    y: FloatArray
    label: IntArray
    fresh: BoolArray
    folds: int
    held: bool

    def some(self, part: slice) -> Studies:
        return self._replace(
            rows=self.rows[part], y=self.y[part], label=self.label[part], fresh=self.fresh[part]
        )

    @property
    def trains(self) -> BoolArray:
        """Whether a rating belongs to the training set of a fold: (folds, draws, n)."""
        fold = np.arange(self.folds)[:, None, None]
        return np.asarray((self.label != fold) | (not self.held))


def nearest_sums(nearest: Nearest, part: slice, studies: Studies, need: IntArray) -> FloatArray:
    """Sums of the scores of the first ``need`` that train a fold: (folds, draws, segments)."""
    draws, n = studies.rows.shape
    folds, start = len(need), part.start
    enough = _steps(n, int(need.max()), float(studies.trains.mean(-1).min()))
    near = nearest.among(studies.rows, part, enough)
    segments = near.shape[1]
    walk = _Walk(
        first=n * np.repeat(np.arange(draws), segments),
        y=studies.y.ravel(),
        label=(studies.label if studies.held else studies.label - 1).ravel().astype(np.int32),
        left=np.repeat(need, segments, axis=-1).astype(np.int32),
        sums=np.zeros((folds, draws * segments)),
    )
    walk.go(near.reshape(-1, enough), int(need.min()))
    short = np.flatnonzero((walk.left > 0).any(0))
    if short.size:  # a few need more than nearly all do
        rest = walk.only(short)
        lines = np.empty((short.size, n - enough), dtype=near.dtype)
        for line, (draw, segment) in zip(
            lines, zip(*divmod(short, segments), strict=True), strict=True
        ):
            one = slice(start + int(segment), start + int(segment) + 1)
            line[:] = nearest.among(studies.rows[draw], one)[0, 0, enough:]
        rest.go(lines, 0)
        walk.sums[:, short] = rest.sums
    return walk.sums.reshape(folds, draws, segments)


def _steps(n: int, k: int, share: float) -> int:
    """Ratings to look at so that for nearly every segment k of them train, a share of them all."""
    least = max(share, 1 / n)
    return min(n, ceil((k + 3 * sqrt(k * (1 - least))) / least) + 2)


class _Walk(NamedTuple):
    """From near to far, for m pairs of a draw and a segment.

    ``first`` (m,) is where the ratings of the draw begin in ``y`` and ``label``. ``left`` and
    ``sums`` (folds, m) say how many more scores a fold needs, and what it has so far.
    """

    first: IntArray
    y: FloatArray
    label: NDArray[np.int32]
    left: NDArray[np.int32]
    sums: FloatArray

    def only(self, some: IntArray) -> _Walk:
        return self._replace(
            first=self.first[some], left=self.left[:, some], sums=self.sums[:, some]
        )

    def go(self, near: NDArray[Any], free: int) -> None:
        """Add the scores of ``near`` (m, steps); no fold has enough before step ``free``."""
        fold = np.arange(len(self.sums), dtype=np.int32)[:, None]
        part = np.empty_like(self.sums)
        for step, position in enumerate(np.ascontiguousarray(near.T)):
            if step % 32 == 31 and not self.left.any():
                return
            at = self.first + position
            takes = self.label[at] != fold
            if step >= free:
                takes &= self.left > 0
            np.subtract(self.left, takes, out=self.left)
            np.add(self.sums, np.multiply(takes, self.y[at], out=part), out=self.sums)
