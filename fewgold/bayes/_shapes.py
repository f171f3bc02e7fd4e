"""What the priors become with the counts: the shapes of the Betas of a study."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bayes._counts import Counts
from fewgold.bayes._priors import Priors


class Shapes(NamedTuple):
    """Exponents of the posterior. All that it depends on, and all arrays of one shape.

    The density of (α, ρ, η) is that of independent Beta(a0, b0), Beta(ar, br) and Beta(ae, be)
    times p^m (1 − p)^k, with p = αρ + (1 − α)(1 − η), the chance of a 1 from the metric
    (von Däniken et al. 2022, eq. 5).
    """

    a0: FloatArray
    b0: FloatArray
    ar: FloatArray
    br: FloatArray
    ae: FloatArray
    be: FloatArray
    m: FloatArray
    k: FloatArray

    @property
    def total(self) -> FloatArray:
        """Items that only the metric rated."""
        return np.asarray(self.m + self.k)

    @property
    def mirrored(self) -> Shapes:
        """The same with adequate and inadequate exchanged: α → 1 − α, ρ ↔ 1 − η."""
        return Shapes(self.b0, self.a0, self.be, self.ae, self.br, self.ar, self.m, self.k)

    def draw(self, k: object) -> Shapes:
        """One of a batch, or a smaller batch."""
        return Shapes(*(field[k] for field in self))  # type: ignore[call-overload]


def shapes(counts: Counts, priors: Priors) -> Shapes:
    """Exponents of the posterior; those of ρ and η are 1 where they are known."""
    (a, b), rho, eta = priors.alpha, priors.rho, priors.eta
    ones = np.ones(counts.shape)
    hits: tuple[FloatArray, ...] = (ones, ones, ones, ones)
    if isinstance(rho, tuple) and isinstance(eta, tuple):
        cells = (counts.tp, rho[0]), (counts.fn, rho[1]), (counts.tn, eta[0]), (counts.fp, eta[1])
        hits = tuple(ones * count + prior for count, prior in cells)
    rate = ones * counts.adequate + a, ones * counts.inadequate + b
    return Shapes._make((*rate, *hits, ones * counts.metric_ones, ones * counts.metric_zeros))


def beta_moments(shape: Shapes) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of Beta(a0, b0)."""
    total = shape.a0 + shape.b0
    mean = shape.a0 / total
    return mean, mean * (shape.b0 / total) / (total + 1)
