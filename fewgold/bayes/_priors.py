"""What is known before any rating."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias, cast

import numpy as np

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
        object.__setattr__(self, "alpha", beta_pair("alpha", self.alpha))
        for name in ("rho", "eta"):
            rate = getattr(self, name)
            known = isinstance(rate, int | float | np.number)
            object.__setattr__(self, name, _rate(name, rate) if known else beta_pair(name, rate))
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


def beta_pair(name: str, pair: object) -> Beta:
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
