"""What every estimator returns: a value, its standard error and an interval."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, from_pivot, single
from fewgold.common.checks import check_confidence
from fewgold.common.text import html_table, plain_value, spelled
from fewgold.design import DesignKind, document_df
from fewgold.errors import FewgoldError
from fewgold.sample import Design, Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Bound", "Estimate", "Interval", "LinearEstimate"]

# Saldías et al. (2022), section 6, warn of covariances from so few ratings.
_FEW_RATINGS = 30
# With fewer degrees of freedom than this, documents or chunks are too few to estimate their spread.
_FEW_CLUSTERS = 3
_WITHOUT_LIMITS = "no interval without the limits of the scale: give them"


class Interval(NamedTuple):
    """Ends of an interval; arrays where the estimate is a batch."""

    low: FloatArray
    high: FloatArray

    def __repr__(self) -> str:
        if np.ndim(self.low) or np.ndim(self.high):
            return f"Interval(low={self.low!r}, high={self.high!r})"
        return f"Interval(low={float(self.low)!r}, high={float(self.high)!r})"

    def within(self, limits: tuple[float, float] | None) -> Interval:
        """Clip the interval to the scale, which a mean cannot leave.

        An interval entirely outside the scale stays as it is: clipped, it would be a single point.

        >>> low, high = Interval(np.asarray(-0.27), np.asarray(4.09)).within((0, 25))
        >>> float(low), float(high)
        (0.0, 4.09)
        """
        if limits is None:
            return self
        low, high = self
        hair = 1e-9 * (limits[1] - limits[0])
        beyond = (high < limits[0] - hair) | (low > limits[1] + hair)
        return Interval(
            np.where(beyond, low, np.clip(low, *limits)),
            np.where(beyond, high, np.clip(high, *limits)),
        )


@runtime_checkable
class Estimate(Protocol):
    """A value, its standard error and an interval: the interface of estimates and posteriors."""

    @property
    def value(self) -> FloatArray: ...
    @property
    def se(self) -> FloatArray: ...
    def interval(self, confidence: float = 0.95) -> Interval: ...
    def summary(self, confidence: float = 0.95) -> str: ...
    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]: ...


class Bound(ABC):
    """Turns a linear estimate into an interval. A subclass is a frozen dataclass with one method.

    ``kind`` says what the interval promises: *guaranteed* (at every sample size, under the stated
    assumptions), *conjectured*, or *approximate* (right in the limit). ``assumes`` lists the
    designs and estimates it is valid for, ``reference`` cites the proof or description.
    """

    name: ClassVar[str] = ""
    kind: ClassVar[str] = ""
    assumes: ClassVar[str] = ""
    reference: ClassVar[str] = ""

    @property
    def label(self) -> str:
        """Label for summaries: the name and what it promises."""
        return f"{self.name}, {self.kind}"

    @property
    def needs_limits(self) -> bool:
        """Whether the interval needs the limits of the scale."""
        return False

    @property
    def spelled(self) -> str:
        """The name, with settings that differ from the defaults in brackets: for signatures."""
        return spelled(self.name, self)

    def resolve(self, estimate: LinearEstimate, confidence: float = 0.95) -> Bound:
        """The bound used for ``estimate``: this one, unless it delegates to another."""
        return self

    @abstractmethod
    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        """The interval of ``estimate`` at ``confidence``."""


@dataclass(frozen=True, eq=False)
class FittedControls:
    """The fitted control variates of a single study, needed for estimates of parts of the pool.

    Parameters
    ----------
    slopes
        (p,) slope of each control.
    centred
        Takes weights of all segments of the pool (N,) and returns the controls at the rated
        segments, less their mean over the pool with these weights: (p, n).
    sway
        (p, n) derivative of each slope with respect to each score; None if slopes were fixed
        beforehand.
    inflation
        (n,) factor from a residual to its leave-one-out residual; None for 1.
    """

    slopes: FloatArray
    centred: Callable[[FloatArray], FloatArray]
    sway: FloatArray | None = None
    inflation: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class LinearEstimate:
    """An ``offset`` known over the whole pool plus the design mean of ``residuals``.

    Parameters
    ----------
    offset
        (...) the part known over the whole pool.
    residuals
        (..., n) the residual at each rated segment.
    ratings
        The ratings it was made from.
    bound
        Makes the intervals.
    method
        Short name of the estimator.
    tuned
        True when the control was tuned on these ratings, which finite-sample bounds do not allow.
    parameters
        (...) effective number of parameters that were fitted to the ratings.
    g_weights
        (..., n) g-weights (Särndal, Swensson and Wretman 1992): the factor by which fitting the
        slopes changes the weight of each rating. The variance uses the residuals times this factor,
        which allows for the error of slopes fitted to few ratings.
    beside_weights
        True if the weight of a rating was a regressor along with the metrics, as with many metrics
        and uneven chances.
    limits
        Ends of the scale of the residuals, where known.
    control_range
        Range of the control over the pool: the residuals can range over that much more than the
        scores.
    notes
        Remarks for the reader, such as a control left out because there are too few ratings.
    controls
        The fitted controls of a single study; None without controls or for a batch.
    freedom
        (...) degrees of freedom, if they are not those of the design.
    """

    offset: FloatArray
    residuals: FloatArray
    ratings: Ratings
    bound: Bound
    method: str
    tuned: bool = False
    parameters: FloatArray | float = 0.0
    g_weights: FloatArray | None = None
    beside_weights: bool = False
    limits: tuple[float, float] | None = None
    control_range: float = 0.0
    notes: tuple[str, ...] = ()
    controls: FittedControls | None = None
    freedom: FloatArray | float | None = None

    def __repr__(self) -> str:
        if np.ndim(self.value):
            return f"LinearEstimate({self.method}, a batch of {self.value.size})"
        found = self._interval_or_none()
        told = "" if found is None else f", 95% {found.low:.4f} to {found.high:.4f}"
        return (
            f"LinearEstimate({self.method}: {self.value:.4f} ± {self.se:.4f}{told}, n = {self.n})"
        )

    def _interval_or_none(self) -> Interval | None:
        """The 95 % interval, or None where the bound refuses this estimate."""
        try:
            return self.interval()
        except FewgoldError:
            return None

    def _repr_html_(self) -> str:
        """The estimate in a notebook."""
        if np.ndim(self.value):
            return html_table("Estimates", [("a batch of", self.value.size), ("n", self.n)])
        found = self._interval_or_none()
        rows: list[tuple[str, object]] = [
            ("score", f"{self.value:.4f}"),
            ("standard error", f"{self.se:.4f}"),
            ("95% interval", "none" if found is None else f"{found.low:.4f} to {found.high:.4f}"),
            ("ratings", f"{self.n} of {len(self.ratings.sample.pool)} segments"),
            ("method", self.method),
        ]
        return html_table("Estimate", rows, notes=self.remarks)

    def plot(self, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
        """Draw the score as a dot with its interval; one row for each draw of a batch."""
        import pandas as pd

        from fewgold import plots

        low, high = self.interval(confidence)
        score = np.atleast_1d(self.value).ravel()
        names = [self.method] if score.size == 1 else [f"draw {k + 1}" for k in range(score.size)]
        ends = {"low": np.ravel(low), "high": np.ravel(high)}
        frame = pd.DataFrame({"system": names, "score": score, **ends})
        return plots.forest(frame, ax, confidence=confidence)

    @property
    def design(self) -> Design:
        return self.ratings.sample.design

    def draw(self, k: int | IntArray) -> LinearEstimate:
        """The ``k``-th draw of a batch, or several draws as a smaller batch."""
        spent, freedom = self.parameters, self.freedom
        known = freedom is not None and np.ndim(freedom) > 0
        return replace(
            self,
            offset=np.broadcast_to(self.offset, self.value.shape)[k],
            residuals=self.residuals[k],
            ratings=self.ratings.draw(k),
            parameters=np.asarray(spent)[k] if np.ndim(spent) else spent,
            g_weights=None if self.g_weights is None else self.g_weights[k],
            freedom=np.asarray(freedom)[k] if known else freedom,
        )

    @property
    def n(self) -> int:
        return self.ratings.n

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        mean = np.vecdot(self.residuals, self.design.weights)
        if self.design._equal:
            return np.asarray(mean), self._square()
        dev = self.deviations()
        square = np.vecdot(dev, dev)
        if self.design.documents is not None:
            square *= self.design._document_factor(self._counting())[..., 0]
        return np.asarray(mean), np.asarray(square)

    def _square(self) -> FloatArray:
        """Sum of the squared `deviations` if all ratings have equal weight, in fewer passes."""
        design, left = self.design, from_pivot(self.residuals, overwrite=False)
        left -= np.vecdot(left, design.weights)[..., None]
        square: FloatArray | float = 0.0
        if self.g_weights is not None:
            left *= self.g_weights
            square = -self.n * np.square(np.vecdot(left, design.weights))
        square += np.vecdot(left, left)
        return np.asarray(square * np.square(design._scale[..., 0] * design._root_bessel[..., 0]))

    def deviations(self, design: Design | None = None) -> FloatArray:
        """Scaled deviations of the drawn units, (..., u), which show bounds how skewed scores are.

        Their squares sum to the variance, apart from the degrees of freedom used by slopes.
        ``design`` is an alternative design for the same ratings, such as one without groups.
        """
        seen = design or self.design
        if self.g_weights is not None and seen._by_strata and seen._n_groups > 1:
            # Centring within strata again would remove the effect of the slopes, in a pair all of
            # it.
            return np.asarray(
                self.g_weights * seen.deviations(self.residuals[..., None, :])[..., 0, :]
            )
        return np.asarray(seen.deviations(self._counting())[..., 0, :])

    def _counting(self) -> FloatArray:
        """Residuals times their g-weights: (..., 1, n)."""
        left = self.residuals[..., None, :]
        if self.g_weights is None:
            return left
        centred, g = self.design._centred(left), self.g_weights[..., None, :]
        if not self.beside_weights:
            return np.asarray(g * centred)
        # Slopes are fitted only to the part of the residuals that the weights do not explain.
        inner = self.design.scatter(left, beside_weights=True)
        scale = np.broadcast_to(self.design._scale[..., None, :], inner.shape)
        inner = np.divide(inner, scale, out=np.zeros(inner.shape), where=scale > 0)
        return np.asarray(centred + (g - 1) * inner)

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom of the standard error, minus those used by fitted slopes."""
        known = self.freedom
        return np.asarray(self.design.df * self._df_share if known is None else known)

    @cached_property
    def _df_share(self) -> FloatArray:
        """Share of the degrees of freedom left after fitting slopes.

        Balanced variates already use degrees of freedom; slopes on the same metrics use no more.
        """
        df = self.design._slope_df
        spent = np.maximum(self.parameters - self.design._balanced_slopes, 0.0)
        share = 1.0 - spent / np.where(df > 0, df, 1.0)
        return np.asarray(np.minimum(np.maximum(share, 0.0), 1.0))  # faster than np.clip

    @cached_property
    def value(self) -> FloatArray:
        """The estimated mean human score of the pool."""
        return single(self.offset + self._moments[0])

    @cached_property
    def se(self) -> FloatArray:
        """Standard error; infinite where there are too few ratings to estimate it."""
        certain = self.design._census
        lost = ~certain & ((self.df <= 0) | self.design._lonely)
        variance = np.where(certain, 0.0, self._moments[1] / np.where(lost, 1.0, self._df_share))
        return single(np.where(lost, np.inf, np.sqrt(variance)))

    @cached_property
    def spreadless(self) -> BoolArray:
        """True if the ratings show no spread although some segments are unrated.

        They are all equal, or equal within each stratum, or exactly predicted by the metrics.
        """
        scores = self.ratings.scores
        # Usually the first few ratings, or the spread of all, already give the answer.
        few = (scores[..., :1] == scores[..., 1:9]).all(-1)
        if not few.any() and np.min(self.se) > 1e-10 * np.ptp(scores):
            return np.asarray(few)
        size = np.ptp(scores, axis=-1)
        flat = (size == 0) | (self.se <= 1e-10 * size)
        return np.asarray(flat & ~self.design._census & (self.n > 1))

    def interval(self, confidence: float = 0.95, bound: Bound | None = None) -> Interval:
        """The interval at ``confidence``, from the estimator's bound or the one given."""
        low, high = (bound or self.bound).interval(self, check_confidence(confidence))
        low, high = Interval(low, high).within(self.ratings.limits)
        return Interval(single(low), single(high))

    def __float__(self) -> float:
        """The value of a single estimate."""
        return float(self.value)

    def for_process(self) -> LinearEstimate:
        """The same value as an estimate for the process: a new test set like this pool.

        The pool is then a sample itself. By the law of total variance this adds the variance of its
        mean human score,

            V(Ȳ) = S² [(1 − ρ)/N + ρ Σ (N_h/N)²],

        with S² the variance of the scores and ρ their intraclass correlation within documents,
        since new text comes in documents too (0 where no documents are known). That holds whatever
        the design and the control: metrics cannot reduce it, since the pool's own metric means are
        as random as its scores. Its second part has the degrees of freedom of the documents
        (`document_df`). Both variances rest on the same ratings, so that their standard errors, and
        not their squares, add up in the degrees of freedom. Guaranteed bounds are about the pool
        and refuse this estimate.
        """
        ratings, design, y = self.ratings, self.design, self.ratings.scores
        n, size, w = self.n, design.size, design.weights / design.weights.sum(-1, keepdims=True)
        pool = ratings.sample.pool
        mean = np.vecdot(y, w)[..., None]
        rate = 1 - np.square(w).sum(-1)
        spread = np.vecdot((y - mean) ** 2, w) / np.where(rate > 0, rate, 1.0)
        share, units = np.full(spread.shape, 1 / size), None
        freedom: FloatArray | None = None
        if pool.has_documents and pool.n_documents < size:
            units = np.asarray(pool.codes[ratings.sample.indices])
            sizes = np.bincount(pool.codes) / size
            concentration = float(np.square(sizes).sum())
            alike = replace(
                design, balance=None, groups=np.zeros_like(design.groups), units=None,
                influence=w, documents=units, shares=sizes[units], concentration=concentration,
            )  # fmt: skip
            rho = np.clip(alike._intraclass(y[..., None, :])[..., 0], 0.0, 1.0)
            parts = (1 - rho) / size, rho * concentration
            share = np.asarray(sum(parts))
            rated = (np.diff(np.sort(units, axis=-1), axis=-1) > 0).sum(-1)
            few = np.clip(document_df(sizes), 1.0, np.maximum(rated, 1.0))
            freedom = share**2 / (parts[0] ** 2 / max(n - 1, 1) + parts[1] ** 2 / few)
        more = np.where(n > 1, spread * share, np.inf)
        own = self.se**2
        if freedom is not None and n > 1:
            spent = own / np.sqrt(np.maximum(self.df, 1e-300)) + more / np.sqrt(freedom)
            some = np.isfinite(own) & (spent > 0)
            both = ((own + more) / np.where(some, spent, 1.0)) ** 2
            freedom = np.where(some, both, np.where(np.isfinite(own), freedom, 0.0))
        covered = (DesignKind.SIMPLE, DesignKind.STRATIFIED, DesignKind.WAVES, DesignKind.ADAPTIVE)
        changed: dict[str, Any] = {
            "kind": DesignKind.PROCESS if design.kind in covered else design.kind,
            "inclusion": np.zeros_like(design.inclusion),
        }
        left = self._counting()[..., 0, :]
        if np.any(own <= 0):  # all are rated or metrics explain everything: use the scores
            left = y - mean
            flat = np.sqrt(share / np.square(w).sum(-1))
            changed |= {
                "kind": DesignKind.PROCESS, "groups": np.zeros_like(design.groups), "units": None,
                "balance": None, "documents": None, "shares": None, "strata": None,
                "influence": w * np.asarray(flat)[..., None],
            }  # fmt: skip
        else:
            grow = np.sqrt(1 + more / own)
            changed["influence"] = design.influence * grow[..., None]
        sample = replace(
            ratings.sample,
            design=replace(design, **changed),
            info=replace(ratings.sample.info, target="process"),
        )
        what = "documents" if units is not None else "segments"
        return replace(
            self,
            offset=self.value - np.vecdot(left, design.weights),
            residuals=left,
            ratings=replace(ratings, sample=sample),
            g_weights=None,
            limits=None,
            freedom=freedom,
            notes=(*self.notes, f"for a new test set like this one, with other {what}"),
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and warnings that follow from the ratings."""
        found, limits = list(self.notes), self.ratings.limits
        if np.any(self.spreadless):
            flat = np.any(np.ptp(self.ratings.scores, axis=-1) == 0)
            what = "all ratings are equal" if flat else "these ratings leave no residual variation"
            scale = "the interval comes from the scale alone" if limits else _WITHOUT_LIMITS
            found.append(f"{what} and say nothing about the spread; {scale}")
        if self.tuned and 1 < self.n <= _FEW_RATINGS < self.design.size:
            found.append(
                f"with {_FEW_RATINGS} ratings or fewer it is unclear how far the metrics can be "
                "trusted; compare with the plain mean"
            )
        if self.design.kind == DesignKind.CLUSTERS and np.any(self.df < _FEW_CLUSTERS):
            found.append(
                "so few documents say little about the error, and the interval may be very wide; "
                "short chunks of more documents (docs-chunks3) would narrow it"
            )
        if limits is not None and np.any((self.value < limits[0]) | (self.value > limits[1])):
            found.append(
                "the estimate lies beyond the end of the scale, which can happen with few "
                "ratings; report the end of the scale, or use the plain mean"
            )
        return (*found, *self.ratings.warnings)

    def signature(self, confidence: float = 0.95) -> str:
        """How the number was made, in one line."""
        used = self.bound.resolve(self, confidence)
        chosen = "" if used is self.bound else f"{self.bound.name}-"
        return signature(self.ratings, self.method, chosen + used.spelled, confidence)

    def summary(self, confidence: float = 0.95) -> str:
        """A readable summary of a few lines."""
        if np.ndim(self.value):
            raise ValueError(
                f"this is a batch of {self.value.size} estimates; summarise one draw of it, "
                "with estimator.estimate(ratings.draw(k))."
            )
        low, high = self.interval(confidence)
        used = self.bound.resolve(self, confidence)
        lines = [
            f"{self.value:.4f} ± {self.se:.4f} (standard error)",
            f"{100 * confidence:.10g}% interval {low:.4f} to {high:.4f} ({used.label})",
            f"from {self.n} of {len(self.ratings.sample.pool)} segments",
            *(f"note: {note}" for note in self.remarks),
            self.signature(confidence),
        ]
        return "\n".join(lines)

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The estimate in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        used = self.bound.resolve(self, confidence)
        return {
            "value": plain_value(self.value),
            "se": plain_value(self.se),
            "low": plain_value(low),
            "high": plain_value(high),
            "confidence": confidence,
            "bound": used.name,
            "bound_kind": used.kind,
            "bound_label": used.label,
            "method": self.method,
            "n": self.n,
            "pool_size": len(self.ratings.sample.pool),
            "df": plain_value(self.df),
            "notes": list(self.remarks),
            "signature": self.signature(confidence),
        }


def signature(
    ratings: Ratings, method: str, interval: str, confidence: float, of: str = "mean"
) -> str:
    """How a number was made, in one line: estimator, design, sizes, interval, seed and data.

    ``of`` says what was estimated, where that is not the mean of the pool.
    """
    sample = ratings.sample
    parts = {
        **({} if of == "mean" else {"of": of}),
        "est": method,
        "design": sample.info.sampler or sample.design._label,
        "n": ratings.n,
        "N": len(sample.pool),
        "ci": interval,
        "level": f"{confidence:.10g}",
        **ratings._signed(),
    }
    return "|".join(f"{k}:{v}" for k, v in parts.items())
