"""What makes ratings differ: segments, raters, and all else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Components:
    """Variances of score = segment + rater + rest; NaN where they cannot be told apart.

    Parameters
    ----------
    segment, rater, residual
        Variances; negative estimates are set to 0. ``residual`` holds what a rater makes of a
        particular segment as well as whims of the moment.
    circles
        Sets of raters that no shared segment ties together; 1 if all are tied.
    freedom
        Degrees of freedom of the residual.
    """

    segment: float
    rater: float
    residual: float
    circles: int
    freedom: int

    @property
    def icc(self) -> float:
        """Intraclass correlation of single ratings by any raters, ICC(2,1): agreement."""
        return _share(self.segment, self.segment + self.rater + self.residual)

    @property
    def icc_consistency(self) -> float:
        """The same for raters whose level does not matter, ICC(3,1): consistency."""
        return _share(self.segment, self.segment + self.residual)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def components(segment: IntArray, rater: IntArray, score: FloatArray) -> Components:
    """Variance components of two crossed factors, for any pattern of who rated what.

    Henderson's method 3: sums of squares of each factor after the other, set equal to their
    expectations. These hold for any number of ratings in any cell and any distribution, so the
    estimates are unbiased (before negative ones are set to 0); in a full table they are those of
    the analysis of variance.

    References
    ----------
    Henderson (1953), Estimation of variance and covariance components. Searle, Casella and
    McCulloch (1992), Variance Components, section 5.5.
    """
    score = score - score.mean()
    n, segments, raters = score.size, int(segment.max()) + 1, int(rater.max()) + 1
    per_segment, per_rater = np.bincount(segment), np.bincount(rater)
    # Raters after segments: indicators less their mean over the ratings of the segment.
    indicator = np.zeros((raters, n))
    indicator[rater, np.arange(n)] = 1.0
    own = np.stack([np.bincount(segment, row, segments) / per_segment for row in indicator])
    left = indicator - own[:, segment]
    mean = np.bincount(segment, score) / per_segment
    y = score - mean[segment]
    table, cross = left @ left.T, left @ y
    values, axes = np.linalg.eigh(table)
    told = values > 1e-9 * max(float(values[-1]), 1.0)
    rank = int(told.sum())
    explained = float((np.square(cross @ axes[:, told]) / values[told]).sum())
    freedom = n - segments - rank
    circles = raters - rank
    if not rank or freedom <= 0:
        return Components(np.nan, np.nan, np.nan, circles, max(freedom, 0))
    residual = max(float((y**2).sum()) - explained, 0.0) / freedom
    between = (explained - rank * residual) / float(np.trace(table))
    # Segments after raters: R(s | r) = R(s) + R(r | s) − R(r).
    squares = float((per_segment * mean**2).sum()) + explained
    squares -= float((np.bincount(rater, score) ** 2 / per_rater).sum())
    cell = np.unique(segment * raters + rater, return_counts=True)
    mass = n - float((cell[1] ** 2 / per_rater[cell[0] % raters]).sum())
    spread = (squares - (segments + rank - raters) * residual) / mass if mass > 0 else np.nan
    small = 1e-12 * max(float((score**2).mean()), 1e-300)  # rounding
    found = [0.0 if v < small else float(v) for v in (spread, between, residual)]
    return Components(found[0], found[1], found[2], circles, freedom)
