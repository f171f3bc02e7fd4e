"""What is known before any rating, and what it becomes with the counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias, cast

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bayes._counts import Counts
from fewgold.errors import FewgoldError

Beta: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Priors:
    """Beta priors of the success rate α and of the metric's hit rates ρ and η.

    Parameters
    ----------
    alpha
        (a, b) of the Beta prior of α, the share of adequate items.
    rho, eta
        (a, b) of the Beta priors of ρ = P(metric 1 | adequate) and η = P(metric 0 | inadequate).
        A number instead of a pair says that the rate is known; then both must be.

    Notes
    -----
    With uniform priors and without ratings of both kinds on the same items the metric tells
    nothing: the posterior mean of α stays at ½ whatever it says.

    Examples
    --------
    >>> Priors(rho=0.7, eta=0.8).known
    True
    """

    alpha: Beta = (1.0, 1.0)
    rho: Beta | float = (1.0, 1.0)
    eta: Beta | float = (1.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", _pair("alpha", self.alpha))
        for name in ("rho", "eta"):
            rate = getattr(self, name)
            known = isinstance(rate, int | float | np.number)
            object.__setattr__(self, name, _rate(name, rate) if known else _pair(name, rate))
        if isinstance(self.rho, tuple) != isinstance(self.eta, tuple):
            raise FewgoldError(
                f"rho and eta must both be known numbers or both have Beta priors; got "
                f"rho={self.rho!r} and eta={self.eta!r}. A tight prior such as (700, 300) stands "
                "for a rate that is known nearly."
            )

    @property
    def known(self) -> bool:
        """True when the hit rates of the metric are given numbers."""
        return not isinstance(self.rho, tuple)

    def flipped(self) -> Priors:
        """The priors when 0 and 1 of the metric change places, as in `Counts.flipped`.

        Examples
        --------
        >>> Priors(rho=0.25, eta=0.5).flipped()
        Priors(alpha=(1.0, 1.0), rho=0.75, eta=0.5)
        """
        if isinstance(self.rho, tuple) and isinstance(self.eta, tuple):
            return replace(self, rho=self.rho[::-1], eta=self.eta[::-1])
        rho, eta = cast(tuple[float, float], (self.rho, self.eta))
        return replace(self, rho=1 - rho, eta=1 - eta)


def _pair(name: str, pair: object) -> Beta:
    try:
        a, b = (float(x) for x in pair)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        a = b = 0.0
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise FewgoldError(f"{name} must be a pair of positive numbers (a, b); got {pair!r}.")
    return a, b


def _rate(name: str, rate: float) -> float:
    if not 0 <= rate <= 1:
        raise FewgoldError(f"a known {name} must lie between 0 and 1; got {rate!r}.")
    return float(rate)


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
