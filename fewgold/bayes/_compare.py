"""Which of two success rates is larger."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray
from fewgold._validate import check_choice
from fewgold.bayes._panels import Panels
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._windows import gauss_legendre
from fewgold.errors import FewgoldError

_NODES = 32


def probability_greater(
    first: AlphaPosterior | PoolPosterior,
    second: AlphaPosterior | PoolPosterior,
    method: str = "exact",
) -> float:
    """P(α1 > α2) for two independent posteriors; ties of test sets count one half.

    Systems that were rated on the same items are not independent: compare those item by item.

    Parameters
    ----------
    first, second
        The posteriors of the two systems, one each.
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
    """
    for posterior in (first, second):
        if posterior.shape:
            raise FewgoldError(
                f"probability_greater is for two posteriors, and one is a batch of shape "
                f"{posterior.shape}; take one of it with draw(k)."
            )
    if check_choice("method", method, ("exact", "normal")) == "normal":
        spread = float(np.sqrt(first.var + second.var))
        gap = float(first.mean - second.mean)
        return float(ndtr(gap / spread)) if spread > 0 else 0.5 * (1 + float(np.sign(gap)))
    if isinstance(first, PoolPosterior):
        step = first.steps[0]
        return float(step.mass @ _middle_cdf(second, step.values))
    if isinstance(second, PoolPosterior):
        return 1 - probability_greater(second, first)
    return _between(first.curves[0].panels, second)


def _middle_cdf(posterior: AlphaPosterior | PoolPosterior, x: FloatArray) -> FloatArray:
    """P(α < x) + P(α = x)/2."""
    upto = posterior.cdf(x)
    if isinstance(posterior, AlphaPosterior):
        return upto
    return 0.5 * (upto + posterior.cdf(x - 2e-12))


def _between(panels: Panels, other: AlphaPosterior) -> float:
    """∫ p1 F2: Gauss rules between the edges of both, so that each sees one polynomial."""
    theirs = other.curves[0].panels.edges
    inside = theirs[(theirs > panels.edges[0]) & (theirs < panels.edges[-1])]
    edges = np.union1d(panels.edges, inside)
    nodes, weights = gauss_legendre(_NODES)
    omega = edges[:-1, None] + np.diff(edges)[:, None] * nodes
    x = np.sin(omega) ** 2
    mass = panels.pdf(x) * np.sin(2 * omega) * weights * np.diff(edges)[:, None]
    return float((mass * other.cdf(x)).sum() / mass.sum())
