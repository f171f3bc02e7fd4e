"""Posteriors that are steps: shares with their masses, of a finite test set or of draws."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, RNGLike, as_rng
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._readout import Readout, check_chances
from fewgold.estimate import Interval


class Steps(NamedTuple):
    """A distribution on the shares ``values``, in order, with masses ``mass``."""

    values: FloatArray
    mass: FloatArray

    @property
    def below(self) -> FloatArray:
        """P(share ≤ value) at each value."""
        return np.minimum(np.cumsum(self.mass), 1.0)


class StepReadout(Readout):
    """CDF, quantiles and intervals from the steps of each posterior of a batch, in order."""

    @property
    @abstractmethod
    def steps(self) -> list[Steps]: ...

    @property
    def laws(self) -> list[Steps]:
        """What comparisons go by."""
        return self.steps

    def _stack(self, answers: list[Any]) -> FloatArray:
        array = np.array(answers, dtype=np.float64)
        return array.reshape(self.shape + array.shape[1:])

    def cdf(self, x: ArrayLike) -> FloatArray:
        """P(share ≤ x): (*batch, *x.shape)."""
        at = np.asarray(x, dtype=np.float64) + 1e-12  # shares are fractions, and rounded
        found = [np.searchsorted(step.values, at, side="right") for step in self.steps]
        sums = [np.append(0.0, step.below) for step in self.steps]
        return self._stack([total[k] for total, k in zip(sums, found, strict=True)])

    def quantile(self, p: ArrayLike) -> FloatArray:
        """Smallest share whose CDF reaches ``p``: (*batch, *p.shape)."""
        chances = check_chances(p) - 1e-13
        out = []
        for step in self.steps:
            at = np.searchsorted(step.below, chances)
            out.append(step.values[np.minimum(at, step.values.size - 1)])
        return self._stack(out)

    def interval(self, confidence: float = 0.95, kind: str = "equal") -> Interval:
        """Credible interval: equal tails, or ``kind="hdi"``, the shortest. Shares of a test set
        are steps, so it holds a little more than ``confidence``."""
        check_confidence(confidence)
        if check_choice("kind", kind, ("equal", "hdi")) == "equal":
            ends = self.quantile([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
        else:
            ends = self._stack([_shortest(step, confidence) for step in self.steps])
        return Interval(ends[..., 0], ends[..., 1])

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of the share: (*batch, size)."""
        generator = as_rng(rng)
        return self._stack([generator.choice(s.values, size, p=s.mass) for s in self.steps])


def _shortest(step: Steps, confidence: float) -> FloatArray:
    """Ends of the shortest interval that holds ``confidence``."""
    before = np.append(0.0, step.below[:-1])
    last = np.searchsorted(step.below, before + confidence - 1e-13)
    fits = last < step.values.size
    last = np.minimum(last, step.values.size - 1)
    width = np.where(fits, step.values[last] - step.values, np.inf)
    best = int(width.round(12).argmin())  # the first of equal ones
    return step.values[[best, int(last[best])]]
