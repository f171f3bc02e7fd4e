"""Ways to cut a pool into strata. Any callable from a pool to N labels will do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import IntArray, codes_of
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool

Stratifier: TypeAlias = Callable[[Pool], NDArray[Any]]


@dataclass(frozen=True)
class ByDocument:
    """One stratum a document."""

    label: ClassVar[str] = "docs"

    def __call__(self, pool: Pool) -> IntArray:
        return pool.codes


@dataclass(frozen=True)
class ByMetric:
    """Bins of similar metric scores, each with as many segments.

    Parameters
    ----------
    metric
        A metric's name, or None for the mean of the standardised metrics.
    bins
        Number of bins; by default as many as give about ``size`` segments each.
    size
        Segments in a bin, 80 in Saldías et al. (2022).
    """

    metric: str | None = None
    bins: int | None = None
    size: int = 80

    label: ClassVar[str] = "metrics"

    def __call__(self, pool: Pool) -> IntArray:
        score = pool.composite() if self.metric is None else pool.matrix([self.metric])[0]
        bins = self.bins or max(round(len(pool) / self.size), 1)
        if not 1 <= bins <= len(pool):
            raise DataError(f"bins must be from 1 to {len(pool)}, the pool's size; got {bins}.")
        ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
        return np.asarray(ranks * bins // len(pool), dtype=np.int64)


@dataclass(frozen=True)
class ByColumn:
    """One stratum a value of a column: ``system``, ``document`` or any text column of the pool."""

    column: str

    def __call__(self, pool: Pool) -> IntArray:
        known = dict(pool.texts)
        if pool.system is not None:
            known["system"] = pool.system
        if pool.documents is not None:
            known["document"] = pool.documents
        if self.column not in known:
            raise UnknownNameError(
                "column", self.column, known, "Name it in texts=[…] when the pool is made."
            )
        return codes_of(known[self.column])


def strata_of(by: Stratifier, pool: Pool) -> IntArray:
    """The strata as whole numbers 0, 1, … without gaps: (N,)."""
    labels = np.asarray(by(pool))
    if labels.shape != (len(pool),):
        raise DataError(
            f"a stratifier must give one label a segment, shape ({len(pool)},); got {labels.shape}."
        )
    return codes_of(labels)
