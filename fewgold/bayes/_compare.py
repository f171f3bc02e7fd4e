"""Which of two success rates is larger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray
from fewgold._validate import check_choice
from fewgold.bayes._curve import Curve
from fewgold.bayes._panels import between
from fewgold.bayes._steps import Steps
from fewgold.errors import FewgoldError


class Posterior(Protocol):
    """Anything with a distribution: a curve, or steps with their masses."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def mean(self) -> FloatArray: ...
    @property
    def var(self) -> FloatArray: ...
    @property
    def laws(self) -> Sequence[Any]: ...


def probability_greater(first: Posterior, second: Posterior, method: str = "exact") -> Any:
    """P(α1 > α2) for two independent posteriors; ties of test sets count one half.

    Batches broadcast, and give an array of their shape; two single posteriors give a float.
    Systems that were rated on the same items are not independent: compare those item by item.

    Parameters
    ----------
    first, second
        The posteriors of the two systems, or batches of them.
    method
        ``"exact"``, or ``"normal"``: from means and sds alone, off by 0.02 with 10 ratings.

    References
    ----------
    von Däniken et al. (2022), equation 6. A difference is significant at level γ when this is above
    1 − γ/2 or below γ/2.

    Examples
    --------
    >>> from fewgold.bayes import AlphaPosterior, Counts
    >>> one, two = (AlphaPosterior(Counts(human_ones=k, human_total=527)) for k in (353, 340))
    >>> round(probability_greater(one, two), 4)
    0.8003
    >>> others = AlphaPosterior(Counts(human_ones=[340, 337, 336], human_total=527))
    >>> probability_greater(one, others).round(4)
    array([0.8003, 0.8497, 0.8642])
    """
    try:
        shape = np.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        raise FewgoldError(
            f"batches that are compared must have shapes that fit; got {first.shape} and "
            f"{second.shape}."
        ) from None
    if check_choice("method", method, ("exact", "normal")) == "normal":
        gap, spread = first.mean - second.mean, np.sqrt(first.var + second.var)
        certain = spread <= 0
        chance = np.where(
            certain, 0.5 * (1 + np.sign(gap)), ndtr(gap / np.where(certain, 1.0, spread))
        )
        return chance if shape else float(chance)
    ones, twos = _laws(first, shape), _laws(second, shape)
    known: dict[tuple[int, int], float] = {}  # equal counts share their law
    for one, two in zip(ones, twos, strict=True):
        if (id(one), id(two)) not in known:
            known[id(one), id(two)] = _chance(one, two)
    found = [known[id(one), id(two)] for one, two in zip(ones, twos, strict=True)]
    return np.array(found).reshape(shape) if shape else found[0]


def _laws(posterior: Posterior, shape: tuple[int, ...]) -> list[Curve | Steps]:
    """The distribution of each of a batch that was spread to ``shape``."""
    each: Sequence[Curve | Steps] = posterior.laws
    at = np.broadcast_to(np.arange(len(each)).reshape(posterior.shape), shape)
    return [each[int(k)] for k in at.ravel()]


def _chance(first: Curve | Steps, second: Curve | Steps) -> float:
    """P(first > second) + P(first = second)/2."""
    if isinstance(first, Steps):
        if isinstance(second, Steps):
            return float(first.mass @ _middle(second, first.values))
        return float(first.mass @ second.cdf(first.values))
    if isinstance(second, Steps):
        return 1 - _chance(second, first)
    return between(first.panels, second.panels)


def _middle(steps: Steps, x: FloatArray) -> FloatArray:
    """P(share < x) + P(share = x)/2; shares are fractions, and rounded."""
    sums = np.append(0.0, steps.below)
    upto = np.searchsorted(steps.values, x + 1e-12, side="right")
    before = np.searchsorted(steps.values, x - 1e-12, side="right")
    return np.asarray(0.5 * (sums[upto] + sums[before]))
