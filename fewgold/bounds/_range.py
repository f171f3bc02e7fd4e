"""What bounds that go by the range of the scores have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class RangeBound(Bound):
    """A bound proved for scores between known limits, on the designs that its proof covers.

    Parameters
    ----------
    printed
        Apply the formula of the simple mean to any estimate, as the paper does. Not guaranteed.
    score_range
        R, where the limits of the scale did not come with the ratings.
    """

    printed: bool = False
    score_range: float | None = None

    kind: ClassVar[str] = "guaranteed"
    covers: ClassVar[tuple[str, ...]]

    @property
    def label(self) -> str:
        if self.printed:
            return f"{self.name}, as printed: not guaranteed here"
        return super().label

    @abstractmethod
    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        """Half of the interval's width, for scores that span ``span``, missing ``miss`` at most."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        if not self.printed:
            self._refuse(estimate)
        half = self._half_width(estimate, self._span(estimate), 1 - confidence)
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))

    def _refuse(self, estimate: LinearEstimate) -> None:
        """Finite-sample proofs hold for what they were proved for."""
        way_out = "or printed=True to apply the formula as the paper did, without guarantee."
        if estimate.tuned:
            raise DesignError(
                f"{self.name} holds only if the control was not tuned on these ratings, and "
                f"{estimate.method!r} was. Use bound=Student(), the plain mean, or slopes fixed "
                f"beforehand; {way_out}"
            )
        if estimate.design.kind not in self.covers:
            raise DesignError(
                f"{self.name} covers {' and '.join(self.covers)} samples, and this one is "
                f"{estimate.design.kind}. Use bound=Student(), which covers every design; {way_out}"
            )

    def _span(self, estimate: LinearEstimate) -> float:
        if self.score_range is not None:
            return self.score_range
        limits = estimate.limits
        if limits is None and self.printed:
            limits = estimate.ratings.limits  # the paper's R is that of the scores
        if limits is None:
            raise DesignError(
                f"{self.name} needs to know between which limits scores lie. Give them with the "
                "ratings, sample.rate(scores, limits=(0, 25)), from the scale and not from the "
                "answers."
            )
        return limits[1] - limits[0]
