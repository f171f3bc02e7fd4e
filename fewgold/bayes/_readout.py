"""What all posteriors say of themselves: value, se, summary, plain numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray
from fewgold.errors import FewgoldError
from fewgold.estimate import Interval


class Readout(ABC):
    """Turns mean, sd and interval into the parts of an estimate."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]: ...

    @property
    @abstractmethod
    def mean(self) -> FloatArray: ...

    @property
    @abstractmethod
    def sd(self) -> FloatArray: ...

    @abstractmethod
    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval: ...

    @property
    @abstractmethod
    def _source(self) -> str: ...

    @property
    def var(self) -> FloatArray:
        """Posterior variance."""
        return np.asarray(self.sd**2)

    @property
    def value(self) -> FloatArray:
        """The estimate: the posterior mean."""
        return self.mean

    @property
    def se(self) -> FloatArray:
        """Posterior standard deviation, where other estimates have a standard error."""
        return self.sd

    def summary(self, confidence: float = 0.95) -> str:
        """A few lines for people."""
        self._check_single("summary")
        low, high = self.interval(confidence)
        return "\n".join(
            [
                f"{float(self.mean):.4f} ± {float(self.sd):.4f} (posterior mean and sd)",
                f"{100 * confidence:.6g}% credible interval {low:.4f} to {high:.4f} (equal tails)",
                self._source,
            ]
        )

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        low, high = self.interval(confidence)
        return {
            "value": self.mean.tolist(),
            "se": self.sd.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "confidence": confidence,
            "bound": "posterior",
            "bound_kind": "credible",
            "bound_label": "posterior, credible interval with equal tails",
        }

    def _check_single(self, name: str) -> None:
        if self.shape:
            raise FewgoldError(
                f"{name} is for one posterior, and this is a batch of shape {self.shape}; take one "
                "of it with draw(k)."
            )


def check_chances(p: ArrayLike) -> FloatArray:
    """Probabilities from 0 to 1."""
    chances = np.asarray(p, dtype=np.float64)
    if not np.all((chances >= 0) & (chances <= 1)):
        raise FewgoldError(f"a quantile is asked for at probabilities from 0 to 1; got {p!r}.")
    return chances
