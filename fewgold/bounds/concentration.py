"""Bounds by concentration inequalities, for scores between known limits."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds.base import bound_hints, clip_to_possible, limits_missing, not_covered
from fewgold.common.arrays import FloatArray, group_sum, spread_out
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class RangeBound(Bound):
    """A bound proved for scores between known limits, on the designs that its proof covers.

    The interval is clipped to the means that are still possible given the ratings, which makes it a
    point at n = N.

    Parameters
    ----------
    printed
        Apply the formula for the simple mean to any estimate, as the paper does. Not guaranteed.
    score_range
        R, the width of the scale, if its limits did not come with the ratings. It must come from
        the scale; only ``printed`` allows less than the limits imply.
    """

    printed: bool = False
    score_range: float | None = None

    kind: ClassVar[str] = "guaranteed"
    _covers: ClassVar[tuple[str, ...]] = ("simple",)
    assumes: ClassVar[str] = (
        "simple random samples, a mean or slopes fixed beforehand, and any scores between the "
        "limits"
    )

    def __post_init__(self) -> None:
        if self.score_range is not None and not 0 < self.score_range < np.inf:
            raise DesignError(
                f"score_range must be the width of the scale, above 0; got {self.score_range!r}."
            )
        if self.printed:  # the formula is applied beyond what its proof covers
            object.__setattr__(self, "kind", "approximate")

    @property
    def label(self) -> str:
        if self.printed:
            return f"{self.name}, as printed: not guaranteed here"
        return super().label

    @property
    def needs_limits(self) -> bool:
        return self.score_range is None

    @abstractmethod
    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        """Half of the interval's width, for scores with range ``span`` and error rate ``miss``."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        if not self.printed:
            self._refuse(estimate)
        span = self._span(estimate)
        half = self._half_width(estimate, span, 1 - confidence)
        whole = Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))
        return whole if self.printed else clip_to_possible(estimate, whole, span)

    def _refuse(self, estimate: LinearEstimate) -> None:
        """Refuse estimates that the proof does not cover."""
        as_printed = "or {} to apply the formula as the paper did, without guarantee."
        way_out = bound_hints(as_printed, f"{self.name}-printed")
        way_out["python"] = as_printed.format("printed=True")
        design = estimate.design
        if not design.drawn_as(*self._covers):
            covers = f"{' and '.join(self._covers)} samples"
            raise not_covered(self.name, covers, design, way_out)
        if estimate.tuned:
            betting = "stratified-betting" if design.drawn_as("stratified") else "betting"
            hints = bound_hints(
                "Use {}, which uses only the ratings; {}; the plain mean; or slopes fixed "
                "beforehand;",
                *(betting, "student"),
            )
            hints["cli"] = f"Use --bound {betting} or --bound student, or the estimator mean;"
            raise DesignError(
                f"{self.name} holds only if the control was not tuned on these ratings, but "
                f"that of {estimate.method!r} was.",
                hints={audience: f"{hint} {way_out[audience]}" for audience, hint in hints.items()},
            )

    def _span(self, estimate: LinearEstimate) -> float:
        limits = estimate.limits
        if self.score_range is not None:
            span = self.score_range + estimate.control_range
            least = float(np.ptp(estimate.residuals, axis=-1).max())
            if limits is not None:
                least = max(least, limits[1] - limits[0])
            if not self.printed and span < least * (1 - 1e-12):
                raise DesignError(
                    f"score_range={self.score_range:g} is less than the range of the scale or "
                    f"the ratings, {least - estimate.control_range:g}: {self.name} would not be "
                    "guaranteed. Give the width of the scale, or printed=True."
                )
            return span
        if limits is None and self.printed:
            limits = estimate.ratings.limits  # the paper's R is that of the scores
        if limits is None:
            raise limits_missing(self.name)
        return limits[1] - limits[0]


@dataclass(frozen=True)
class Hoeffding(RangeBound):
    """Hoeffding–Serfling bound (Saldías et al. 2022, section 2.3).

    ``t = R sqrt(k_n ln(2/δ) / (2n))`` with ``k_n = 1 - (n-1)/N`` for a simple random sample, and
    ``(1 - n/N)(1 + 1/n)`` beyond n = N/2, where the unrated segments are the smaller sample and
    carry the same information. For a stratified sample the terms of the strata add up: ``t² = R²
    ln(2/δ)/2 · Σ_h W_h² k_h/n_h``, since the strata are independent and Serfling bounds the moment
    generating function of each. As printed: the first k_n, ignoring strata.

    References
    ----------
    Serfling (1974), Probability inequalities for the sum in sampling without replacement, theorem
    2.2; Bardenet and Maillard (2015), corollary 2.5, for more than half of the pool.
    """

    name: ClassVar[str] = "hoeffding"
    _covers: ClassVar[tuple[str, ...]] = ("simple", "stratified")
    assumes: ClassVar[str] = (
        "simple or stratified random samples, a mean or slopes fixed beforehand, and any scores "
        "between the limits"
    )
    reference: ClassVar[str] = (
        "Serfling (1974), Probability inequalities for the sum in sampling without replacement, "
        "theorem 2.2"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, size = estimate.n, estimate.design.size
        if self.printed:
            spread = np.broadcast_to((1 - (n - 1) / size) / n, estimate.value.shape)
        else:
            # Σ_h W_h² k_h / n_h: each of the n_h segments of a stratum contributes w² = (W_h/n_h)².
            design = estimate.design
            strata = design.groups if design.strata is None else design.strata
            counts = group_sum(np.ones(strata.shape), strata, int(strata.max()) + 1)
            taken, share = spread_out(counts, strata), design.inclusion
            k = np.minimum(1 - share + share / taken, (1 - share) * (1 + 1 / taken))
            spread = (design.weights**2 * k).sum(-1)
        return np.asarray(span * np.sqrt(spread * np.log(2 / miss) / 2))


@dataclass(frozen=True)
class Bernstein(RangeBound):
    """Empirical Bernstein bound (Mnih et al. 2008; Saldías et al. 2022, section 2.3).

    ``t = σ̂ sqrt(2 ln(3/δ)/n) + 3 R ln(3/δ)/n``. The paper calls σ̂ the variance; it is the
    standard deviation (divisor n), which is what is computed here. There is no factor for sampling
    without replacement: near n = N it narrows only because unrated scores are within the scale.

    Guaranteed for simple random samples. The proof for independent draws takes three events of
    δ/3 each: either tail of the sum of x, and the lower tail of the sum of (x − μ)². Each is a
    Chernoff bound of a sum of fixed functions of the draws, and such a sum has no larger moment
    generating function without replacement (Hoeffding 1963, theorem 4); what follows is algebra.

    References
    ----------
    Audibert, Munos and Szepesvári (2009), Exploration–exploitation tradeoff using variance
    estimates in multi-armed bandits, theorem 1; Mnih, Szepesvári and Audibert (2008), Empirical
    Bernstein stopping, eq. 1; Hoeffding (1963), Probability inequalities for sums of bounded random
    variables, theorem 4.
    """

    name: ClassVar[str] = "bernstein"
    reference: ClassVar[str] = (
        "Audibert, Munos and Szepesvári (2009), Exploration–exploitation tradeoff using variance "
        "estimates in multi-armed bandits, theorem 1"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, log = estimate.n, np.log(3 / miss)
        sd = estimate.residuals.std(-1)
        return np.asarray(sd * np.sqrt(2 * log / n) + 3 * span * log / n)


_KAPPA = 7 / 3 + 3 / np.sqrt(2)


@dataclass(frozen=True)
class BernsteinSerfling(RangeBound):
    """Empirical Bernstein–Serfling bound, guaranteed for simple random samples.

    ``t = σ̂ sqrt(2 ρ_n l/n) + (7/3 + 3/√2) R l/n`` with σ̂ of divisor n, ρ_n = 1 − (n−1)/N up to n
    = N/2 and (1 − n/N)(1 + 1/n) beyond, and l = ln(7/δ). The theorem is one-sided and uses 5δ': 2δ'
    for the mean and 3δ' for σ̂. The other side shares the bound on σ̂, so both sides use 7δ'. The
    second term does not shrink with ρ_n.

    References
    ----------
    Bardenet and Maillard (2015), Concentration inequalities for sampling without replacement,
    theorem 4.3 (corollary 3.6 for the mean, lemma 4.1 for σ̂).
    """

    name: ClassVar[str] = "bernstein-serfling"
    reference: ClassVar[str] = (
        "Bardenet and Maillard (2015), Concentration inequalities for sampling without "
        "replacement, theorem 4.3"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, size, log = estimate.n, estimate.design.size, np.log(7 / miss)
        rho = 1 - (n - 1) / size if n <= size / 2 else (1 - n / size) * (1 + 1 / n)
        sd = estimate.residuals.std(-1)
        return np.asarray(sd * np.sqrt(2 * rho * log / n) + _KAPPA * span * log / n)


@dataclass(frozen=True)
class MaurerPontil(RangeBound):
    """Empirical Bernstein bound of Maurer and Pontil, for simple random samples.

    ``t = s sqrt(2 ln(4/δ)/n) + 7 R ln(4/δ)/(3(n−1))`` on both sides, s with divisor n − 1. It is
    proved for independent draws. Hoeffding's reduction extends results on sums to drawing without
    replacement, but the step that bounds s uses self-bounding functions and not a sum, so here the
    bound is *conjectured*: `BernsteinSerfling` is proved. There is no factor for sampling without
    replacement. With one rating there is no spread, so the interval covers all possible values.

    References
    ----------
    Maurer and Pontil (2009), Empirical Bernstein bounds and sample variance penalization,
    theorem 4, with δ/2 on each side.
    """

    name: ClassVar[str] = "maurer-pontil"
    kind: ClassVar[str] = "conjectured"
    reference: ClassVar[str] = (
        "Maurer and Pontil (2009), Empirical Bernstein bounds and sample variance penalization, "
        "theorem 4"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, log = estimate.n, np.log(4 / miss)
        if n < 2:
            return np.full(estimate.value.shape, np.inf)
        sd = estimate.residuals.std(-1, ddof=1)
        return np.asarray(sd * np.sqrt(2 * log / n) + 7 * span * log / (3 * (n - 1)))
