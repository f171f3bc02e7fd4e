"""Mean and sd of α for many studies at once, each by the cheapest method that is exact enough."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import numpy as np
from scipy.special import xlogy

from fewgold._arrays import BoolArray, FloatArray
from fewgold._validate import check_choice
from fewgold.bayes import _quadrature
from fewgold.bayes._counts import Counts
from fewgold.bayes._known import check_possible, known_moments
from fewgold.bayes._panels import LogDensity, Panels, density_window, interpolated
from fewgold.bayes._priors import Priors, Shapes, shapes
from fewgold.bayes._quantiles import Law
from fewgold.bayes._reverse import reverse_moments
from fewgold.bayes._weights import weights

_STEEP = 200_000  # ratings by the metric
METHODS = ("auto", "mixture", "reverse", "quadrature")

# The error that the two Gauss–Jacobi rules may differ by; the finer one is far better.
_CONVERGED = 1e-7
# Values of α to interpolate the quadrature from, and by how much this may be wrong.
_INTERPOLATED, _INTERPOLATES = (24, 48), 3e-8
# Up to so many metric-only ratings the mixture is the quickest.
_FEW = 3000
# Above so many metric-only ratings the mixture costs more than the quadrature.
LARGE = 200_000


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


def beta_moments(shape: Shapes) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of Beta(a0, b0)."""
    total = shape.a0 + shape.b0
    mean = shape.a0 / total
    return mean, mean * (shape.b0 / total) / (total + 1)


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
        tried = todo if method == "reverse" else todo & _promising(shape) & (shape.total > _FEW)
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


def _promising(shape: Shapes) -> BoolArray:
    """Where the reverse factorisation may converge: a flat tilt, and no near-empty cells."""
    up, down = shape.a0 - shape.ar - shape.br, shape.b0 - shape.ae - shape.be
    tilt = np.maximum(np.abs(up), np.abs(down))
    cell = np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0)
    return np.asarray((tilt <= 50) & (cell >= np.where(shape.total > LARGE, 2, 5)))


def by_mixture(shape: Shapes) -> BoolArray:
    """Whether the mixture is the better choice."""
    return np.asarray((shape.total <= LARGE) | ~smooth(shape))


def smooth(shape: Shapes) -> BoolArray:
    """Whether no shape below 1 makes the quadrature crude."""
    return np.asarray(np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0) >= 1)


def by_quadrature(shape: Shapes) -> Panels:
    """The density of α of one study by nested quadrature.

    The quadrature is dear and right to the same relative error everywhere: so what it adds to the
    prior is asked for at a few α and its logarithm interpolated, where that is exact enough.
    """
    return _by_quadrature(*(float(x) for x in shape))


@lru_cache(maxsize=16)
def _by_quadrature(*values: float) -> Panels:
    """Kept: after the moments comes the interval."""
    shape = Shapes(*(np.array(x) for x in values))

    def exact(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return _quadrature.log_density(shape, alpha, beta)

    def prior(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return np.asarray(xlogy(shape.a0 - 1, alpha) + xlogy(shape.b0 - 1, beta))

    powers = float(shape.a0), float(shape.b0)
    low, high = density_window(exact)
    for nodes in _INTERPOLATED:
        rest = interpolated(lambda a, b: exact(a, b) - prior(a, b), low, high, nodes)
        between = low + (high - low) * (np.arange(1, 10) / 10 + 0.013)
        alpha, beta = np.sin(between) ** 2, np.cos(between) ** 2
        true, found = exact(alpha, beta), prior(alpha, beta) + rest(alpha, beta)
        if np.max(np.abs(true - found) * np.exp(true - true.max())) < _INTERPOLATES:
            window = float(np.sin(low) ** 2), float(np.sin(high) ** 2)

            def quick(alpha: FloatArray, beta: FloatArray, rest: LogDensity = rest) -> FloatArray:
                return prior(alpha, beta) + rest(alpha, beta)

            return Panels.fit(quick, window, powers=powers)
    return Panels.fit(exact, powers=powers)
