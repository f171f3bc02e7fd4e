"""What bounds that go by the range of the scores have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._instead import for_design, limits_of
from fewgold.bounds._reach import within_reach
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class RangeBound(Bound):
    """A bound proved for scores between known limits, on the designs that its proof covers.

    The interval is cut to what the unrated segments can still make of it, which holds without any
    chance and makes it a point at n = N.

    Parameters
    ----------
    printed
        Apply the formula of the simple mean to any estimate, as the paper does. Not guaranteed.
    score_range
        R, the width of the scale, where its limits did not come with the ratings. It must come
        from the scale; only ``printed`` allows less than the limits say.
    """

    printed: bool = False
    score_range: float | None = None

    kind: ClassVar[str] = "guaranteed"
    covers: ClassVar[tuple[str, ...]]

    def __post_init__(self) -> None:
        if self.score_range is not None and not 0 < self.score_range < np.inf:
            raise DesignError(
                f"score_range must be the width of the scale, above 0; got {self.score_range!r}."
            )
        if self.printed:  # the formula is applied to what its proof does not cover
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
        """Half of the interval's width, for scores that span ``span``, missing ``miss`` at most."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        if not self.printed:
            self._refuse(estimate)
        span = self._span(estimate)
        half = self._half_width(estimate, span, 1 - confidence)
        whole = Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))
        return whole if self.printed else within_reach(estimate, whole, span)

    def _refuse(self, estimate: LinearEstimate) -> None:
        """Finite-sample proofs hold for what they were proved for."""
        way_out = "or printed=True to apply the formula as the paper did, without guarantee."
        if estimate.tuned:
            raise DesignError(
                f"{self.name} holds only if the control was not tuned on these ratings, and "
                f"{estimate.method!r} was. Use bound=Betting(), which goes by the ratings alone, "
                f"bound=Student(), the plain mean, or slopes fixed beforehand; {way_out}"
            )
        if estimate.design.kind not in self.covers:
            raise DesignError(
                f"{self.name} covers {' and '.join(self.covers)} samples, and this one is "
                f"{estimate.design.kind}. Use {for_design(estimate.design.kind)}; {way_out}"
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
                    f"score_range={self.score_range:g} is less than the scale or the ratings span, "
                    f"{least - estimate.control_range:g}: {self.name} would not be guaranteed. "
                    "Give the width of the scale, or printed=True."
                )
            return span
        if limits is None and self.printed:
            limits = estimate.ratings.limits  # the paper's R is that of the scores
        if limits is None:
            raise DesignError(limits_of(self.name))
        return limits[1] - limits[0]
