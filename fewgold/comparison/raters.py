"""Effects of raters: bias, spread and agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold.agreement import krippendorff
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.statistics import correlation
from fewgold.comparison.table import Scored

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Raters:
    """An additive fit: score = output + rater, or score = segment + system + rater.

    Parameters
    ----------
    names
        R raters.
    count, mean
        (R,) ratings and their mean.
    bias, bias_se
        (R,) how far above the average rater each scores the same outputs; NaN for a rater who
        shares nothing with the others.
    spread
        (R,) standard deviation of the residuals after output and bias.
    alpha
        Krippendorff's α for interval data: 1 is perfect agreement, 0 that of chance.
    correlation
        Mean over pairs of raters with ten outputs in common, weighted by their number.
    outputs, shared
        Outputs rated, and outputs rated by two or more raters.
    connected
        False if the raters fall into groups that share nothing; biases then compare only raters of
        the same group.
    basis
        "outputs" if biases come from outputs that several rated, "segments" if they come from
        different systems on the same segments.
    covariance
        (R, R) covariance of the biases.
    """

    names: tuple[str, ...]
    count: IntArray
    mean: FloatArray
    bias: FloatArray
    bias_se: FloatArray
    spread: FloatArray
    alpha: float
    correlation: float
    outputs: int
    shared: int
    connected: bool
    basis: str
    covariance: FloatArray

    def to_frame(self) -> pd.DataFrame:
        """One row per rater."""
        import pandas as pd

        names = ("mean", "bias", "bias_se", "spread")
        columns = {"rater": self.names, "ratings": self.count}
        return pd.DataFrame(columns | {name: getattr(self, name) for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "alpha": self.alpha, "correlation": self.correlation, "outputs": self.outputs,
            "shared_outputs": self.shared, "connected": self.connected, "basis": self.basis,
            "raters": self.to_frame().to_dict("records"),
        }  # fmt: skip


class Fit(NamedTuple):
    """Least-squares biases of raters, from outputs or segments that they share."""

    bias: FloatArray
    covariance: FloatArray
    spread: FloatArray
    circles: int  # raters without any link to the others

    @property
    def lost(self) -> int:
        """Biases that the fit cannot identify."""
        return int(np.isnan(self.bias).sum()) + max(self.circles - 1, 0)


def best_fit(rated: Scored, item: IntArray) -> tuple[Fit, str]:
    """Fit to outputs rated by several raters, or to segments if that identifies more biases."""
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
    # A bias shared by all raters of a group cannot be distinguished from the items: its eigenvalue
    # is 0 up to rounding.
    table = x @ x.T
    values, axes = np.linalg.eigh(table)
    least = 1e-9 * max(float(values[-1]), 1.0)
    identified = values > least
    inverse = (axes * np.where(identified, 1 / np.where(identified, values, 1.0), 0.0)) @ axes.T
    known = np.diag(table) > least
    bias = inverse @ (x @ y[0])
    circles = int(known.sum() - identified.sum())
    left = y[0] - bias @ x
    dof = float((per - 1).sum() - spent - identified.sum())
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


_LEAST_COMMON = 10


def rater_effects(rated: Scored) -> Raters:
    """Bias and spread of each rater by least squares, and how far the raters agree.

    Uses outputs rated by two or more raters. If these do not connect all raters, as when each
    output was rated once, it uses ratings of different systems on the same segments: score =
    segment + system + rater.

    Examples
    --------
    The second rater scores one point higher.

    >>> rated = Scored(np.array([0, 0, 1, 1, 2]), np.zeros(5, int), np.array([0, 1, 0, 1, 0]),
    ...                np.array([2., 3, 5, 6, 4]), ("ann", "bob"))
    >>> rater_effects(rated).bias.round(6).tolist()
    [-0.5, 0.5]
    """
    size, y = len(rated.raters), rated.score
    _, item = rated.outputs()
    per = np.bincount(item)
    count = np.bincount(rated.rater, minlength=size)
    fit, basis = best_fit(rated, item)
    return Raters(
        names=rated.raters,
        count=count,
        mean=np.bincount(rated.rater, y, minlength=size) / np.maximum(count, 1),
        bias=fit.bias,
        bias_se=np.sqrt(np.clip(np.diag(fit.covariance), 0, None))
        + np.where(np.isnan(fit.bias), np.nan, 0.0),
        spread=fit.spread,
        alpha=krippendorff(y, item),
        correlation=_correlation(rated, item, per.size),
        outputs=int(per.size),
        shared=int((per > 1).sum()),
        connected=fit.circles <= 1,
        basis=basis,
        covariance=fit.covariance,
    )


def _correlation(rated: Scored, item: IntArray, items: int) -> float:
    """Mean correlation over pairs of raters, weighted by their number of shared outputs."""
    wide = np.full((len(rated.raters), items), np.nan)
    wide[rated.rater, item] = rated.score
    shared = np.isfinite(wide).astype(np.int64) @ np.isfinite(wide).T
    pairs = [(a, b) for a in range(len(wide)) for b in range(a) if shared[a, b] >= _LEAST_COMMON]
    found = np.array([correlation(wide[a], wide[b]) for a, b in pairs])
    weight = np.array([shared[pair] for pair in pairs])[np.isfinite(found)]
    return float(np.average(found[np.isfinite(found)], weights=weight)) if weight.size else np.nan


def adjusted_spread(rated: Scored, documents: IntArray, systems: int) -> FloatArray:
    """Jackknife variance of differences of adjusted means, over documents: (S, S).

    Document effects enter both the biases and the means, above all if raters were given whole
    documents; a formula that assumes independent ratings misses this.
    """
    where = documents[rated.segment]
    found = []
    for left_out in np.unique(where):
        kept = where != left_out
        some = Scored(
            rated.segment[kept], rated.system[kept], rated.rater[kept], rated.score[kept],
            rated.raters,
        )  # fmt: skip
        if np.unique(some.system).size < systems:
            return np.full((systems, systems), np.inf)
        owner, item = some.outputs()
        bias = np.nan_to_num(best_fit(some, item)[0].bias)
        each = np.bincount(item, some.score - bias[some.rater]) / np.bincount(item)
        mean = np.bincount(owner, each, minlength=systems) / np.bincount(owner, minlength=systems)
        found.append(mean[:, None] - mean[None, :])
    many = np.stack(found)
    return np.asarray(np.square(many - many.mean(0)).sum(0) * (len(many) - 1) / len(many))


def mixes(rated: Scored, systems: int) -> FloatArray:
    """Share that each rater has in the mean score of each system: (S, R), rows sum to 1.

    Multiplied by the biases, this is what an uneven distribution of raters adds to each system.
    """
    owner, item = rated.outputs()
    share = 1 / (np.bincount(item)[item] * np.bincount(owner, minlength=systems)[rated.system])
    raters = len(rated.raters)
    found = np.bincount(rated.system * raters + rated.rater, share, minlength=systems * raters)
    return np.asarray(found.reshape(systems, raters), dtype=np.float64)


def bias_variance(mix: FloatArray, raters: Raters) -> FloatArray:
    """Variance that the estimated biases add to each difference: (S, S)."""
    uneven = mix[:, None, :] - mix[None, :, :]
    return np.asarray(np.clip(np.vecdot(uneven @ raters.covariance, uneven), 0.0, None))
