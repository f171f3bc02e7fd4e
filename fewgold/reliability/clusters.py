"""Documents as clusters: how alike their segments are, and what that does to a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from fewgold._arrays import FloatArray
from fewgold.reliability.scores import DocumentScores


@dataclass(frozen=True, eq=False)
class Clusters:
    """What documents do to the variance of a mean, for each score and system: (scores, systems).

    Attributes
    ----------
    value
        The mean over all segments.
    sd
        Standard deviation of segments.
    between
        Standard deviation of a document's contribution: that of (total − value·size) over the
        mean size. The mean of d documents, drawn from many, has the standard error between/√d.
    icc
        Intraclass correlation by analysis of variance: 0 where segments of a document are no more
        alike than others, 1 where they are all the same; NaN if all documents have one segment.
    deff
        Design effect: variance with whole documents over that of as many single segments.
    """

    value: FloatArray
    sd: FloatArray
    between: FloatArray
    icc: FloatArray
    deff: FloatArray


def clusters(scores: DocumentScores) -> Clusters:
    """Work out the figures of `Clusters` (Cochran 1977, ch. 9A; Lohr 2022, ch. 5)."""
    sizes = scores.sizes.astype(np.float64)
    d, n = sizes.size, sizes.sum()
    value = scores.means
    deviations = scores.values - value[..., None]
    excess = np.add.reduceat(deviations, scores.starts, axis=-1)  # total − value·size
    total = (deviations**2).sum(-1)
    variance = total / (n - 1)
    between = (excess**2).sum(-1) / (d - 1) / (n / d) ** 2
    among = (excess**2 / sizes).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        deff = between / d / (variance / n)
        if n > d:
            a, w = among / (d - 1), (total - among) / (n - d)
            usual = (n - (sizes**2).sum() / n) / (d - 1)
            icc = (a - w) / (a + (usual - 1) * w)
        else:
            icc = np.full(value.shape, np.nan)
    return Clusters(value, np.sqrt(variance), np.sqrt(between), icc, deff)


# The half-width of a mean over whole documents, and the fewest documents for a given one.


MOST = 10**9  # documents; beyond that the answer is "never"


def half_width_of(
    between: FloatArray, documents: Any, confidence: float, population: int | None
) -> FloatArray:
    """Student's quantile times the standard error of the mean over d documents."""
    left = 1.0 if population is None else 1 - documents / population
    quantile = stdtrit(documents - 1, (1 + confidence) / 2)
    return np.asarray(quantile * between * np.sqrt(left / documents))


def fewest_documents(
    between: float, target: float, confidence: float, population: int | None
) -> float:
    """The fewest documents whose half-width is at most the target: it only falls with d."""

    def wide(d: int) -> bool:
        return float(half_width_of(np.asarray(between), d, confidence, population)) > target

    low, high = 1, MOST if population is None else population  # too few, enough
    if wide(high):
        return float("nan")
    while high - low > 1:
        middle = (low + high) // 2
        if middle > 1 and not wide(middle):
            high = middle
        else:
            low = middle
    return float(max(high, 2))
