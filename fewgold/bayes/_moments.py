"""Mean and sd of α for many studies at once, each by the cheapest method that is exact enough."""

from __future__ import annotations

from typing import cast

import numpy as np

from fewgold._arrays import BoolArray, FloatArray
from fewgold._validate import check_choice
from fewgold.bayes._choice import by_mixture, promising
from fewgold.bayes._counts import Counts
from fewgold.bayes._known import check_possible, known_moments
from fewgold.bayes._priors import Priors
from fewgold.bayes._quadrature_density import by_quadrature
from fewgold.bayes._quantiles import Law
from fewgold.bayes._reverse import reverse_moments
from fewgold.bayes._shapes import Shapes, beta_moments, shapes
from fewgold.bayes._weights import weights

_STEEP = 200_000  # ratings by the metric
METHODS = ("auto", "mixture", "reverse", "quadrature")
# The error that the two Gauss–Jacobi rules may differ by; the finer one is far better.
_CONVERGED = 1e-7
# Up to so many metric-only ratings the mixture is the quickest.
_FEW = 3000


def moments(
    counts: Counts, priors: Priors | None = None, method: str = "auto"
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and standard deviation of α, for a study or a batch of them.

    Parameters
    ----------
    counts
        What was counted; arrays make a batch.
    priors
        Uniform by default.
    method
        ``"mixture"``: the exact sum, O(N log N) in the number N of metric-only ratings; any prior.
        ``"reverse"``: Gauss–Jacobi, at a cost that does not depend on N; exact to about 1e-9 with
        8 or more items in each cell of the 2 × 2 table and hardly any ratings by humans alone,
        and crude without. ``"quadrature"``: to about 3e-8 for shapes of 1 or more, and less
        closely below (3e-5 was seen at ½). ``"auto"``: mixture up to 3000 metric-only ratings;
        above, reverse where two rules of it agree, else mixture up to 200,000 ratings or with
        shapes below 1, else quadrature.

    References
    ----------
    von Däniken et al. (2022), On the effectiveness of automated metrics for text generation
    systems, equation 5, whose integral this is.

    Examples
    --------
    >>> counts = Counts(tp=221, fn=95, fp=63, tn=148, metric_ones=[0, 540], metric_total=[0, 1000])
    >>> mean, sd = moments(counts)
    >>> sd.round(4)
    array([0.0213, 0.0202])
    """
    check_choice("method", method, METHODS)
    priors = priors or Priors()
    full = shapes(counts, priors)
    table = np.stack([field.ravel() for field in full], axis=-1)
    # Studies with the same counts have the same posterior, and simulations have many of them.
    distinct, where = np.unique(table, axis=0, return_inverse=True)
    shape = Shapes(*distinct.T.copy())
    mean, variance = beta_moments(shape)
    todo = shape.total > 0
    if priors.known and method != "mixture":
        rates = cast(tuple[float, float], (priors.rho, priors.eta))
        check_possible(shape, rates)
        if todo.any():
            mean[todo], variance[todo] = known_moments(shape.draw(todo), rates)
            # Where the density is infinite at an end, a sum is exact and a rule of nodes is not.
            steep = todo & ((shape.a0 < 1) | (shape.b0 < 1)) & (shape.total <= _STEEP)
            if steep.any():
                mean[steep], variance[steep] = mixture_moments(shape.draw(steep), rates)
    else:
        _fill(shape, priors, method, todo, mean, variance)
    back = where.reshape(counts.shape)
    return mean[back], np.sqrt(variance[back])


def _fill(
    shape: Shapes,
    priors: Priors,
    method: str,
    todo: BoolArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Write the moments of the studies that are still to do."""
    todo = todo.copy()
    if method in ("auto", "reverse"):
        tried = todo if method == "reverse" else todo & promising(shape) & (shape.total > _FEW)
        if tried.any():
            found = reverse_moments(shape.draw(tried))
            good = (found.error < _CONVERGED) | (method == "reverse")
            done = np.flatnonzero(tried)[good]
            mean[done], variance[done] = found.mean[good], found.variance[good]
            todo[done] = False
    rates = cast(tuple[float, float], (priors.rho, priors.eta)) if priors.known else None
    summed = todo & (by_mixture(shape) if method == "auto" else method == "mixture")
    if summed.any():
        mean[summed], variance[summed] = mixture_moments(shape.draw(summed), rates)
    for at in np.flatnonzero(todo & ~summed):
        mean[at], variance[at] = by_quadrature(shape.draw(at)).moments()


def mixture_moments(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the mixtures of shapes (n,)."""
    mean, variance = np.empty(shape.a0.size), np.empty(shape.a0.size)
    for rows, found in weights(shape, rates):
        some = shape.draw(rows)
        law = Law(found, some.a0, some.b0, some.total)
        mean[rows], variance[rows] = law.moments()
    return mean, variance
