"""Documents as clusters: how alike their segments are, and what that does to a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.reliability._scores import DocumentScores


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
