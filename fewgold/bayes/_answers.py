"""Answers of several raters, sorted into patterns: items with the same answers are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Answers:
    """What was answered, sorted into patterns.

    Parameters
    ----------
    names
        The raters, the metric last.
    humans
        How many of them are human.
    patterns
        (P, R) distinct rows of answers to items of unknown class; NaN where there is none.
    counts
        (P,) how many items have each.
    which
        (n,) pattern of each item; −1 for gold items and −2 for items without any answer.
    gold
        (n,) class of the gold items, NaN for the others.
    cells
        (4, R) answers to gold items: hits and misses of the adequate, hits and misses of the
        inadequate.
    answered
        (R,) answers of each rater, gold included.
    """

    names: tuple[str, ...]
    humans: int
    patterns: FloatArray
    counts: IntArray
    which: IntArray
    gold: FloatArray
    cells: IntArray
    answered: IntArray

    @property
    def gold_ones(self) -> int:
        return int((self.gold == 1).sum())

    @property
    def gold_zeros(self) -> int:
        return int((self.gold == 0).sum())

    @property
    def unanswered(self) -> int:
        """Items that are not gold and that nobody rated."""
        return int((self.which == -2).sum())

    @property
    def most(self) -> int:
        """The largest number of answers to one item of unknown class."""
        if not self.counts.size:
            return 0
        return int(np.isfinite(self.patterns).sum(-1).max())
