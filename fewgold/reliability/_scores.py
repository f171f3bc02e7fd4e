"""Scores of segments in documents, the same segments for every system."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.errors import DataError

ONE = "(all)"  # the name of the only system where none is told


@dataclass(frozen=True, eq=False)
class DocumentScores:
    """Scores by score, system and segment; documents in the order of the file, each in one piece.

    ``values`` is (scores, systems, segments) and ``sizes`` says how many segments each document
    has. ``left_out`` counts segments that lacked a score.
    """

    scores: tuple[str, ...]
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    values: FloatArray
    sizes: IntArray
    left_out: int = 0

    @property
    def starts(self) -> IntArray:
        """Where each document begins: (documents,)."""
        return np.cumsum(self.sizes) - self.sizes

    @property
    def means(self) -> FloatArray:
        """The score of all documents together: (scores, systems)."""
        found: FloatArray = self.values.mean(-1)
        return found

    @property
    def totals(self) -> FloatArray:
        """Sums within documents: (scores, systems, documents)."""
        found: FloatArray = np.add.reduceat(self.values, self.starts, axis=-1)
        return found


def check_means(scores: DocumentScores) -> None:
    """Refuse means of 0, where something is to be relative to them."""
    top = np.abs(scores.values).max(-1)
    zero = np.argwhere(np.abs(scores.means) <= 1e-12 * top)
    if zero.size:
        which, who = zero[0]
        raise DataError(
            f"score {scores.scores[which]!r} of system {scores.systems[who]!r} is 0 on average, so "
            "a standard deviation relative to the mean means nothing. Take it as it is with "
            "relative=False (--absolute)."
        )
