"""Estimates other than the pool's mean: parts of it, other mixes, totals, ratios, quantiles.

Everything uses one building block, `weighted_mean`: Σ ω y / Σ ω over the pool, for weights ω that
are known for all segments. A slice has weights of 0 and 1, another mix of traffic any weights; a
ratio is the value of R at which the mean of y − R x is 0, and a quantile is found from estimated
shares.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, codes_of, group_sum, spread_out
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.text import html_table, plain_value
from fewgold.cut import Cut
from fewgold.design import Design, DesignKind, document_df, neighbours
from fewgold.errors import DataError
from fewgold.estimate import Interval, LinearEstimate, signature
from fewgold.estimator import Estimator
from fewgold.missing import comparable
from fewgold.sample import Ratings, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DomainEstimate", "quantile", "ratio", "total", "weighted_mean"]

# Groups with fewer units than this on average are treated as neighbours on a line, not strata.
_LINE = 10


@dataclass(frozen=True, eq=False, repr=False)
class DomainEstimate(LinearEstimate):
    """The mean of a part of the pool, or of the pool with other weights, from the same sample.

    Its ratings and design are those of the rated segments with weight. ``variance`` and ``freedom``
    use the whole sample; ``size`` is the number of segments that count, ``of`` says what is
    estimated, and ``digest`` identifies the weights in signatures. ``omega`` has the weights of all
    segments, and ``cells`` the cells whose shares are exact.
    """

    variance: float = math.inf
    freedom: float = 0.0
    size: int = 0
    of: str = "weighted mean"
    digest: str = ""
    omega: FloatArray | None = None
    cells: IntArray | None = None

    def __repr__(self) -> str:
        return super().__repr__().replace("LinearEstimate(", f"DomainEstimate({self.of}, ", 1)

    @cached_property
    def df(self) -> FloatArray:
        return np.asarray(self.freedom)[()]

    @cached_property
    def se(self) -> FloatArray:
        return np.asarray(math.sqrt(self.variance))[()]

    def signature(self, confidence: float = 0.95) -> str:
        used = self.bound.resolve(self, confidence)
        chosen = "" if used is self.bound else f"{self.bound.name}-"
        told = f"{self.of.replace(' ', '-').replace('|', '/')}#{self.digest}"
        return signature(self.ratings, self.method, chosen + used.spelled, confidence, told)

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        return {**super().to_dict(confidence), "pool_size": self.size, "quantity": self.of}

    def for_process(self) -> DomainEstimate:
        """The same value for new segments of this kind, with the same mix: a new test set.

        As in `LinearEstimate.for_process`, the variance of the pool's own mean is added,

            (1 − ρ) Σ s² + ρ Σ_h (Σ_{i in h} s)²,   s = S ω / Σ ω,

        where h are documents and S² is the variance of the scores of this part (of its cell, where
        cells have exact shares). Both parts rest on the same ratings, so that their standard
        errors, and not their squares, add up in the degrees of freedom.
        """
        more, freedom, what = self._process_variance()
        own, design = self.variance, self.design
        left, g = self.residuals, self.g_weights
        changed: dict[str, Any] = {
            "kind": DesignKind.CLUSTERS if design.units is not None else DesignKind.PROCESS,
            "inclusion": np.zeros_like(design.inclusion),
        }
        if own > 0:
            changed["influence"] = design.influence * math.sqrt(1 + more / own)
            if math.isfinite(own) and math.isfinite(more) and self.freedom > 0 and freedom > 0:
                spent = own / math.sqrt(self.freedom) + more / math.sqrt(freedom)
                freedom = ((own + more) / spent) ** 2
            else:
                freedom = 0.0
        else:  # all are rated: the scores themselves show the spread
            w = design.weights
            left, g = self.ratings.scores, None
            changed |= {
                "groups": np.zeros_like(design.groups), "units": None, "balance": None,
                "documents": None, "shares": None, "kind": DesignKind.PROCESS,
                "influence": w * math.sqrt(max(more, 0.0) if math.isfinite(more) else 0.0),
            }  # fmt: skip
        sample = replace(
            self.ratings.sample,
            design=replace(design, **changed),
            info=replace(self.ratings.sample.info, target="process"),
        )
        return replace(
            self,
            offset=np.asarray(self.value - float(design.weights @ left)),
            residuals=left,
            g_weights=g,
            ratings=replace(self.ratings, sample=sample),
            limits=None,
            notes=(*self.notes, f"about a new test set like this one, with other {what}"),
            variance=own + more if freedom > 0 else math.inf,
            freedom=freedom,
        )

    def _process_variance(self) -> tuple[float, float, str]:
        """Variance of the pool's own mean, its degrees of freedom, and what would be new."""
        assert self.omega is not None
        sample, y, w = self.ratings.sample, self.ratings.scores, self.design.weights
        pool, rows, own = sample.pool, sample.indices, self.omega / self.omega.sum()
        cells = np.zeros(own.size, dtype=np.int64) if self.cells is None else self.cells
        count = int(cells.max()) + 1
        dev = y - _centre(w, y, rows, cells)

        def spread(labels: IntArray, size: int) -> FloatArray:
            """Variance of the scores in each cell; NaN where a cell has one rating."""
            mine = labels[rows]
            mass = np.bincount(mine, w, size)
            rate = 1 - np.bincount(mine, w**2, size) / np.where(mass > 0, mass, 1.0) ** 2
            q = w * own[rows]
            total = np.bincount(mine, q, size)
            known = (total > 0) & (rate > 1e-12)
            square = np.bincount(mine, q * dev**2, size) / np.where(known, total * rate, 1.0)
            return np.where(known, square, np.nan)

        found = spread(cells, count)
        if not np.isfinite(found).all():  # cells with one rating take the variance of all others
            found = np.where(np.isfinite(found), found, spread(np.zeros_like(cells), 1)[0])
        s = np.sqrt(found)[cells] * own
        flat = float(np.square(s).sum())
        freedom, what = float(y.size - np.unique(cells[rows]).size), "segments"
        if not (pool.has_documents and pool.n_documents < len(pool)):
            return (flat, freedom, what) if freedom > 0 else (math.inf, 0.0, what)
        share: FloatArray = np.bincount(pool.codes, own).astype(np.float64)
        if (share > 0).sum() < 2 or freedom <= 0:  # one document does not show how they differ
            return (flat, freedom, what) if freedom > 0 else (math.inf, 0.0, what)
        units = np.asarray(pool.codes[rows])
        alike = replace(
            self.design, balance=None, groups=np.zeros_like(self.design.groups), units=None,
            influence=w, documents=units, shares=share[units],
            concentration=float(np.square(share).sum()),
        )  # fmt: skip
        rho = float(np.clip(alike._intraclass(dev[None])[0], 0.0, 1.0))
        parts = (1 - rho) * flat, rho * float(np.square(np.bincount(pool.codes, s)).sum())
        total = sum(parts)
        few = np.clip(document_df(share), 1.0, max(np.unique(units).size - 1, 1))
        spent = float(parts[0] ** 2 / freedom + parts[1] ** 2 / few)
        return total, total**2 / spent if spent > 0 else freedom, "documents"


def weighted_mean(
    ratings: Ratings,
    estimator: Estimator,
    weights: Any,
    *,
    cells: IntArray | None = None,
    of: str = "weighted mean",
) -> DomainEstimate:
    """The mean Σ ω y / Σ ω over the pool, for weights ω that are known for every segment.

    The control is fitted to the whole sample, so that small parts of the pool benefit from all
    ratings; its predictions are averaged over the pool with the weights ω, and the weighted mean of
    its errors is added (a Hájek mean). Weights of 0 and 1 give the mean of a slice.

    Parameters
    ----------
    ratings
        The ratings of one study, with the pool in memory.
    estimator
        Any estimator that returns a `LinearEstimate`. If it cannot say what its control predicts
        for a part of the pool (as with plug-ins), the plain mean is used instead, with a note.
    weights
        (N,) weights of at least 0, in the order of the pool.
    cells
        (N,) whole numbers: ratings are weighted so that each cell has its exact share
        (post-stratification). Every cell with a weight above 0 needs a rating.
    of
        What is estimated, for summaries and signatures.

    References
    ----------
    Särndal, Swensson and Wretman (1992), Model Assisted Survey Sampling, chapter 10.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.estimators import Ridge
    >>> pool, gold = load_demo("ende")
    >>> sample = Ridge().select(pool, 200, rng=1)
    >>> ratings = sample.rate(gold[sample.indices])
    >>> by_length = weighted_mean(ratings, Ridge(), pool.metrics["words"])
    >>> print(f"{by_length.value:.2f} ± {by_length.se:.2f}")
    2.57 ± 0.23
    """
    sample = ratings.sample
    omega = _weights(sample, weights)
    made = estimator.estimate(ratings)
    if isinstance(made, LinearEstimate) and made.beside_weights:
        # What the weight explains would be missing from the predictions for a part of the pool.
        alone = replace(sample, design=replace(sample.design, metrics_only=True))
        made = estimator.estimate(replace(ratings, sample=alone))
    if not isinstance(made, LinearEstimate):
        raise DataError(
            f"{estimator.name} gives a posterior for the whole pool only, not for parts of it. "
            "Use a linear estimator such as ridge or mean.",
            hints={
                "python": "For slices of 0 and 1 use fewgold.bayes.success_rates.",
                "cli": "For slices of 0 and 1 use fewgold alpha --by.",
            },
        )
    if cells is not None:
        cells = codes_of(np.where(omega > 0, cells, -1))
    rows, design = sample.indices, made.design
    own = omega[rows]
    keep = own > 0
    if not keep.any():
        raise DataError(
            "no rated segment has a weight above 0, so there is nothing to estimate from."
        )
    controls, notes, tuned = made.controls, made.notes, made.tuned
    if complete := (omega > 0).sum() == keep.sum():  # the scores are known: nothing to predict
        controls, tuned = None, False
    left = ratings.scores
    if controls is not None:
        z = controls.centred(omega)
        left = left - controls.slopes @ z
    elif tuned:
        notes = (*notes, f"{made.method} cannot predict a part of the pool: metrics are not used")
        tuned = False
    shares = own / own.sum() if complete else _shares(design.weights * own, omega, rows, cells)
    g, beside = np.ones(left.shape), 0.0
    if controls is not None:
        g = np.ones(left.shape) if controls.inflation is None else controls.inflation.copy()
        if controls.sway is not None:
            # The value is Σ share·y − β·(Σ share·z); this adds the error of the slopes, rating by
            # rating.
            moved = (shares @ z.T) @ controls.sway
            g[keep] *= 1.0 - moved[keep] / shares[keep]
            outer = design._centred(made.residuals[None])[0] * moved * design._root_fpc
            beside = float(np.square(outer[~keep]).sum())
    part = _part(sample, design, omega, shares, keep)
    centred = left - _centre(shares, left, rows, cells)
    variance, freedom = _spread(design, part, omega, shares, keep, g * centred)
    variance, freedom = variance + beside, freedom * float(made._df_share)
    if variance > 0 and made._df_share > 0:
        variance /= float(made._df_share)
    if complete:
        variance = 0.0
    elif not freedom > 0:
        variance = math.inf
    subset = replace(sample, indices=rows[keep], design=part)
    return DomainEstimate(
        offset=np.asarray(0.0),
        residuals=left[keep],
        ratings=Ratings(subset, ratings.scores[keep], ratings.limits),
        bound=made.bound,
        method=made.method,
        tuned=tuned,
        g_weights=None if controls is None else g[keep],
        limits=ratings.limits if controls is None else None,
        notes=notes,
        variance=variance,
        freedom=freedom,
        size=int((omega > 0).sum()),
        of=of,
        digest=hashlib.sha256(omega.tobytes()).hexdigest()[:6],
        omega=omega,
        cells=cells,
    )


def _weights(sample: Sample, weights: Any) -> FloatArray:
    if sample.indices.ndim != 1:
        raise DataError("parts of the pool are estimated one study at a time: ratings.draw(k).")
    if not sample.pool._rows_in_memory:
        raise DataError(
            "slices and weights need every segment of the pool in memory, but this one is on disk.",
            hints={
                "python": "Load it with Pool.from_file.",
                "cli": "Select with --engine memory, so that it is loaded.",
            },
        )
    omega = np.asarray(weights, dtype=np.float64)
    size = len(sample.pool)
    if omega.shape != (size,):
        raise DataError(f"weights must be one number per segment, {size}; got {omega.shape}.")
    if not (np.isfinite(omega).all() and (omega >= 0).all() and omega.any()):
        bad = int((~np.isfinite(omega) | (omega < 0)).sum())
        raise DataError(
            f"weights must be at least 0 for every segment and above 0 for some; not so for {bad}."
        )
    return omega


def _shares(
    weights: FloatArray, omega: FloatArray, rows: IntArray, cells: IntArray | None
) -> FloatArray:
    """Weight of each rated segment, sum 1: (n,)."""
    if cells is None:
        return np.asarray(weights / weights.sum())
    count = int(cells.max()) + 1
    due, got = np.bincount(cells, omega, count), np.bincount(cells[rows], weights, count)
    if (got[due > 0] <= 0).any():
        raise DataError(
            f"{int((got[due > 0] <= 0).sum())} of the cells have no rating. Drop the mix, or "
            "merge cells."
        )
    scale = np.where(due > 0, due / np.where(got > 0, got, 1.0), 0.0) / omega.sum()
    return np.asarray(weights * scale[cells[rows]])


def _centre(
    shares: FloatArray, left: FloatArray, rows: IntArray, cells: IntArray | None
) -> FloatArray:
    """The mean residual, or that of its cell, for each rated segment: (n,)."""
    if cells is None:
        return np.full(left.shape, shares @ left)
    count = int(cells.max()) + 1
    total = np.bincount(cells[rows], shares, count)
    mean = np.bincount(cells[rows], shares * left, count) / np.where(total > 0, total, 1.0)
    return np.asarray(mean[cells[rows]])


def _part(
    sample: Sample, design: Design, omega: FloatArray, shares: FloatArray, keep: BoolArray
) -> Design:
    """The design of the rated segments with weight, as a sample of those in the pool.

    The finite population correction is conditional on the number rated: if 15 of the 20 segments of
    a slice happen to be rated, it is a quarter.
    """
    plain = bool((omega[omega > 0] == omega.max()).all())
    weights, size = shares[keep], int((omega > 0).sum())
    expected = design.size * float(design.weights[keep].sum()) / size if plain else 1.0
    inclusion = np.clip(design.inclusion[keep] * expected, 0.0, 1.0)
    left = np.clip(1 - design.inclusion[keep], 0.0, None)
    scale = np.where(left > 0, (1 - inclusion) / np.where(left > 0, left, 1.0), 1.0)
    if size == keep.sum():
        inclusion, scale = np.ones(weights.shape), np.zeros(weights.shape)
    kind, balanced = design.kind, design.documents is not None
    if not balanced and not (design.drawn_as("simple") and plain):
        kind = DesignKind.CLUSTERS if design.units is not None else DesignKind.OTHER
    units = None if design.units is None else codes_of(design.units[keep])
    influence = weights * design._root_fpc[keep] * np.sqrt(scale)
    groups = codes_of(design.groups[keep])
    if balanced:
        groups = comparable(_regrouped(design, keep, units), units, influence)
    return Design(
        kind=kind,
        size=size,
        weights=weights,
        inclusion=inclusion,
        groups=groups if balanced else np.zeros_like(groups),
        influence=influence,
        units=units,
        unbiased=design.unbiased,
        gaps=design.gaps,
        **_documents(sample, design, omega, keep),
    )


def _regrouped(design: Design, keep: BoolArray, units: IntArray | None) -> IntArray:
    """Groups along a line without the segments of weight 0."""
    groups, count = design.groups[keep], design._n_groups
    own = np.arange(groups.size) if units is None else units
    per_group = design._unit_groups.size / count
    if per_group >= _LINE:
        return codes_of(groups)
    first = np.zeros(int(own.max()) + 1, dtype=np.int64)
    first[own] = groups
    line = np.argsort(first, kind="stable")
    place = np.empty_like(first)
    place[line] = neighbours(first.size, round(per_group))
    return np.asarray(place[own])


def _documents(
    sample: Sample, design: Design, omega: FloatArray, keep: BoolArray
) -> dict[str, Any]:
    """What the working model of documents needs to know about segments with weight."""
    if design.documents is None or design.shares is None:
        return {}
    rows, size = sample.indices[keep], len(sample.pool)
    codes = np.arange(size)
    if not np.allclose(design.shares[keep], 1 / size):  # else every segment is its own document
        if sample.pool.documents is None:
            return {}
        codes = sample.pool.codes
        if not np.allclose(np.bincount(codes)[codes[rows]] / size, design.shares[keep]):
            return {}
    share = np.bincount(codes, omega) / omega.sum()
    return {
        "documents": design.documents[keep],
        "shares": share[codes[rows]],
        "concentration": float(np.square(share).sum()),
    }


def _spread(
    design: Design,
    part: Design,
    omega: FloatArray,
    shares: FloatArray,
    keep: BoolArray,
    left: FloatArray,
) -> tuple[float, float]:
    """Variance and degrees of freedom of Σ shares·left, for centred residuals ``left`` (n,).

    If documents were spread along a line, segments with weight are compared with their nearest
    neighbours with weight. Otherwise the variance is that of the whole sample, with residuals of 0
    for segments without weight (linearisation), since their number in each stratum is random.
    """
    if part.documents is not None:
        dev = part.deviations(left[keep][None])[0]
        factor = float(part._document_factor(left[keep][None])[0])
        lost = bool(part._lonely)
        return float(dev @ dev) * factor, 0.0 if lost else float(part.df)
    spread = np.zeros(shares.shape)
    spread[keep] = left[keep] * part.influence / design.influence[keep].clip(1e-300)
    # Groups within the slice have their own means; elsewhere the mean of the slice was subtracted,
    # which makes residuals too small by the unit's share of it.
    units = np.arange(design.n) if design.units is None else design.units
    count = int(units.max()) + 1
    inside = group_sum(design.weights * keep, design.groups, design._n_groups)
    inside = inside / design._group_weights
    nested = spread_out(inside, design.groups) > 1 - 1e-9
    own = np.bincount(units, shares, count)[units]
    whole = np.bincount(units, design.weights, count)[units]
    grow = np.where(nested | (own > 1 - 1e-9), 1.0, (1 - whole) / np.maximum(1 - own, 1e-9))
    dev = design.deviations((spread * np.sqrt(grow))[None])[0]
    # Satterthwaite's degrees of freedom, counting the units with weight in each group.
    mass = np.zeros(count)
    np.add.at(mass, units[keep], part.influence)
    of_unit = np.zeros(count, dtype=np.int64)
    of_unit[units] = design.groups
    squares = np.bincount(of_unit, mass**2, design._n_groups)
    fourth = np.bincount(of_unit, mass**4, design._n_groups)
    seen = fourth > 0
    even = squares[seen] ** 2 / fourth[seen]
    df = np.maximum(even - inside[seen], 1e-9)
    total = squares[seen].sum() ** 2 / (squares[seen] ** 2 / df).sum() if seen.any() else 0.0
    outside = float(squares[seen] @ (1 - inside[seen]) / squares[seen].sum()) if seen.any() else 0.0
    freedom = min(total, df.sum()) - outside if seen.any() else 0.0
    if design.balance is not None:  # each unit has its leverage as its part of what that costs
        x = design._unit_deviations(design.balance)
        freedom -= float((np.linalg.pinv(x).T * x)[:, mass > 0].sum())
    if bool(design._lonely) or (mass > 0).sum() < 2 or freedom < 1e-6:
        freedom = 0.0
    return float(dev @ dev), float(freedom)


# Totals, ratios and quantiles


class _Quantity(ABC):
    """How totals, ratios and quantiles are shown, and converted to a number."""

    base: LinearEstimate
    of: str

    @property
    @abstractmethod
    def value(self) -> FloatArray: ...

    @property
    @abstractmethod
    def se(self) -> FloatArray: ...

    @abstractmethod
    def interval(self, confidence: float = 0.95) -> Interval: ...

    @abstractmethod
    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]: ...

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        low, high = self.interval()
        ends = f"95% {low:.6g} to {high:.6g}"
        return f"{type(self).__name__}({self.of}: {self.value:.6g}, {ends}, n = {self.base.n})"

    def _repr_html_(self) -> str:
        """The answer in a notebook."""
        record, (low, high) = self.to_dict(), self.interval()
        rows = [
            (self.of, f"{self.value:.6g}"),
            ("standard error", f"{self.se:.4g}"),
            ("95% interval", f"{low:.6g} to {high:.6g}"),
            ("ratings", f"{record['n']} of {record['pool_size']} segments"),
            ("method", record["method"]),
        ]
        return html_table("Estimate", rows, notes=record["notes"])

    def summary(self, confidence: float = 0.95) -> str:
        """A readable summary of a few lines."""
        record = self.to_dict(confidence)
        low, high = self.interval(confidence)
        lines = [
            f"{self.of}: {self.value:.6g} ± {self.se:.4g} (standard error)",
            f"{100 * confidence:.10g}% interval {low:.6g} to {high:.6g} ({record['bound_label']})",
            f"from {record['n']} of {record['pool_size']} segments",
            *(f"note: {note}" for note in record["notes"]),
            record["signature"],
        ]
        return "\n".join(lines)

    def plot(self, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw the answer as a dot with its interval."""
        import pandas as pd

        from fewgold import plots

        low, high = self.interval(confidence)
        row = {"system": self.of, "score": float(self), "low": float(low), "high": float(high)}
        return plots.forest(pd.DataFrame([row]), ax, label=self.of, confidence=confidence)


@dataclass(frozen=True, eq=False, repr=False)
class AffineEstimate(_Quantity):
    """``shift`` plus ``scale`` times an estimate, such as a total or a linearised ratio."""

    base: LinearEstimate
    scale: float
    shift: float = 0.0
    of: str = "total"
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> FloatArray:
        return np.asarray(self.shift + self.scale * self.base.value)[()]

    @property
    def se(self) -> FloatArray:
        return np.asarray(abs(self.scale) * self.base.se)[()]

    def interval(self, confidence: float = 0.95) -> Interval:
        low, high = (self.shift + self.scale * end for end in self.base.interval(confidence))
        return Interval(min(low, high), max(low, high))

    def signature(self, confidence: float = 0.95) -> str:
        return _signed(self.base, self.of, confidence)

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The estimate in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        base = self.base.to_dict(confidence)
        own = {"value": self.value, "se": self.se, "low": low, "high": high}
        notes = [*base["notes"], *self.notes]
        return {
            **base, **plain_value(own), "notes": notes, "quantity": self.of,
            "signature": self.signature(confidence),
        }  # fmt: skip


def total(ratings: Ratings, estimator: Estimator, weights: Any = None) -> AffineEstimate:
    """The sum of all scores of the pool, or of its segments times their weights.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.estimators import Mean
    >>> pool, gold = load_demo("ende")
    >>> sample = Mean().select(pool, 100, rng=1)
    >>> found = total(sample.rate(gold[sample.indices]), Mean())
    >>> round(float(found.value / found.base.value))
    1418
    """
    base = mean_of(ratings, estimator, weights)
    size = float(len(ratings.sample.pool) if weights is None else np.sum(weights))
    return AffineEstimate(base, size, of=_of("total", base))


def ratio(
    ratings: Ratings, estimator: Estimator, denominator: Any, weights: Any = None, *,
    target: str = "pool",
) -> AffineEstimate:  # fmt: skip
    """Σ y / Σ x over the pool, such as errors per word.

    The mean of y − R x is estimated like any mean, with metrics, and R is set to where it is 0 (one
    Newton step from the plain ratio). Its standard error is that of the linearised ratio.

    Parameters
    ----------
    ratings
        The numerators y.
    estimator
        Makes the estimate of the mean of y − R x.
    denominator
        x: (N,) for every segment of the pool, or (n,) for the rated ones only.
    weights
        (N,) as in `weighted_mean`.
    target
        ``"pool"``: of these segments. ``"process"``: of a new test set like this one.

    References
    ----------
    Cochran (1977), Sampling Techniques, chapter 6.
    """
    sample, y = ratings.sample, ratings.scores
    if sample.indices.ndim != 1:
        raise DataError("a ratio is estimated one study at a time: ratings.draw(k).")
    given = np.asarray(denominator, dtype=np.float64)
    known = given.shape == (len(sample.pool),)
    if not known and given.shape != y.shape:
        raise DataError(
            f"the denominator must have {len(sample.pool)} values (the pool) or {y.size} (the "
            f"rated segments); got {given.shape}."
        )
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise DataError("the denominator must be at least 0 everywhere and above 0 somewhere.")
    x = given[sample.indices] if known else given
    omega = np.ones(len(sample.pool)) if weights is None else _weights(sample, weights)
    own = sample.design.weights * omega[sample.indices]
    if not own @ x > 0:
        raise DataError("the denominator is 0 for all rated segments, so there is no ratio.")
    first = float(own @ y / (own @ x))
    if known:
        mean = float(omega @ given / omega.sum())
    else:
        mean = float(mean_of(replace(ratings, scores=x, limits=None), estimator, weights).value)
    moved = replace(ratings, scores=y - first * x, limits=None)
    base = mean_of(moved, estimator, weights, target=target)
    return AffineEstimate(base, 1 / mean, first, of=_of("ratio", base))


@dataclass(frozen=True, eq=False, repr=False)
class QuantileEstimate(_Quantity):
    """The score that a share ``p`` of the pool does not exceed.

    ``at`` is that score. ``ends`` returns the interval at a confidence; ``base`` is the estimate of
    the share at the quantile.
    """

    at: FloatArray
    p: float
    base: LinearEstimate
    ends: Callable[[float], Interval]
    of: str = "quantile"

    @property
    def value(self) -> FloatArray:
        return self.at

    @property
    def se(self) -> FloatArray:
        """Standard error implied by the length of the 95% interval, as if normal (Woodruff)."""
        low, high = self.interval(0.95)
        return np.asarray((high - low) / (2 * 1.959963984540054))[()]

    def interval(self, confidence: float = 0.95) -> Interval:
        return self.ends(check_confidence(confidence))

    def signature(self, confidence: float = 0.95) -> str:
        return _signed(self.base, self.of, confidence)

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The estimate in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        base = self.base.to_dict(confidence)
        own = {"value": self.value, "se": self.se, "low": low, "high": high}
        return {
            **base, **plain_value(own), "quantity": self.of, "p": self.p,
            "bound_label": f"Woodruff, {base['bound_label']}",
            "signature": self.signature(confidence),
        }  # fmt: skip


def quantile(
    ratings: Ratings, estimator: Estimator, p: float, weights: Any = None, *, target: str = "pool"
) -> QuantileEstimate:
    """The smallest score that at least a share ``p`` of the pool does not exceed; 0.5: the median.

    The share of scores up to t is estimated like any share, with metrics. The quantile is the t
    where it reaches p, and the interval contains the scores t at which p is in the interval of the
    share (Woodruff). Its ends are observed scores, or the limits of the scale. ``target`` is
    ``"pool"`` (these segments) or ``"process"`` (a new test set like this one).

    References
    ----------
    Woodruff (1952), Confidence intervals for medians and other position measures, JASA 47;
    Francisco and Fuller (1991), Quantile estimation with a complex survey design, Ann. Statist. 19.
    """
    if not 0 < p < 1:
        raise DataError(
            f"the probability of a quantile must lie between 0 and 1, such as 0.5; got {p!r}."
        )
    if ratings.scores.ndim != 1:
        raise DataError("a quantile is estimated one study at a time: ratings.draw(k).")
    levels = np.unique(ratings.scores)
    known: dict[int, LinearEstimate] = {}

    def share(k: int) -> LinearEstimate:
        """Share of scores up to a level; −1 is below all observed scores."""
        if k not in known:
            cut = Cut("<", float(levels[0])) if k < 0 else Cut("<=", float(levels[k]))
            known[k] = mean_of(ratings.cut(cut), estimator, weights, target=target)
        return known[k]

    def first(end: Callable[[LinearEstimate], Any]) -> int:
        """The first level at which p is reached; one beyond the last if none does."""
        low, high = -1, levels.size
        while low < high:
            middle = (low + high) // 2
            if float(end(share(middle))) >= p - 1e-12:
                high = middle
            else:
                low = middle + 1
        return low

    at = min(max(first(lambda e: e.value), 0), levels.size - 1)
    least, most = ratings.limits or (-math.inf, math.inf)
    scores = [least, *levels.tolist(), most]

    def interval(confidence: float) -> Interval:
        low = first(lambda e: e.interval(confidence).high)
        high = first(lambda e: e.interval(confidence).low)
        ends = min(scores[low + 1], float(levels[at])), max(scores[high + 1], float(levels[at]))
        return Interval(*(np.asarray(end)[()] for end in ends))

    base = share(at)
    return QuantileEstimate(levels[at], p, base, interval, _of(f"quantile {p:g}", base))


def mean_of(
    ratings: Ratings, estimator: Estimator, weights: Any = None, of: str | None = None, *,
    target: str = "pool",
) -> LinearEstimate:  # fmt: skip
    """The mean of the pool, or of the pool with weights."""
    check_choice("target", target, ("pool", "process"))
    if weights is not None:
        found = weighted_mean(ratings, estimator, weights, of=of or "weighted mean")
        return found if target == "pool" else found.for_process()
    made = estimator.estimate(ratings)
    if not isinstance(made, LinearEstimate):
        raise DataError(
            f"{estimator.name} gives a posterior for the mean only. For totals, ratios and "
            "quantiles use a linear estimator, such as ridge or mean."
        )
    return made if target == "pool" else made.for_process()


def _of(what: str, base: LinearEstimate) -> str:
    """What is estimated, and for which part of the pool."""
    part = base.of if isinstance(base, DomainEstimate) else ""
    return f"{what} ({part})" if part else what


def _signed(base: LinearEstimate, of: str, confidence: float) -> str:
    used = base.bound.resolve(base, confidence)
    chosen = "" if used is base.bound else f"{base.bound.name}-"
    told = of.replace(" ", "-").replace("|", "/")
    if isinstance(base, DomainEstimate):
        told += f"#{base.digest}"
    return signature(base.ratings, base.method, chosen + used.spelled, confidence, told)
