"""Documents as clusters: how alike their segments are, and what that does to a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import FloatArray
from fewgold.common.statistics import intraclass_correlation, smallest_enough
from fewgold.reliability.scores import DocumentScores


@dataclass(frozen=True, eq=False)
class Clusters:
    """Effect of documents on the variance of a mean, for each score and system: (scores, systems).

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
    d, n = scores.sizes.size, scores.sizes.sum()
    value = scores.means
    deviations = scores.values - value[..., None]
    excess = np.add.reduceat(deviations, scores.starts, axis=-1)  # total − value·size
    variance = (deviations**2).sum(-1) / (n - 1)
    between = (excess**2).sum(-1) / (d - 1) / (n / d) ** 2
    icc = intraclass_correlation(scores.values, np.repeat(np.arange(d), scores.sizes))
    with np.errstate(invalid="ignore", divide="ignore"):
        deff = between / d / (variance / n)
    return Clusters(value, np.sqrt(variance), np.sqrt(between), icc, deff)


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
    """The fewest documents whose half-width is at most the target; NaN where none are enough."""

    def enough(d: int) -> bool:
        return float(half_width_of(np.asarray(between), d, confidence, population)) <= target

    most = MOST if population is None else population
    return float(smallest_enough(enough, 2, most)) if enough(most) else float("nan")
