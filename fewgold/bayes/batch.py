"""Mean, sd and quantiles of α for many studies at once, by the fastest exact method.

Which method serves a study depends on the number of metric-only ratings and on the shapes of the
Betas: the mixture (`fewgold.bayes.mixture`), the reverse form (here) or nested integrals
(`fewgold.bayes.quadrature`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from fewgold.bayes.counts import Counts
from fewgold.bayes.density import HALF_PI, PanelBatch, Panels, panel_nodes, singular, to_omega
from fewgold.bayes.mixture import Shapes, mixtures, shapes
from fewgold.bayes.priors import Priors
from fewgold.bayes.quadrature import by_quadrature, check_possible, known_moments, known_panels
from fewgold.common.arrays import BoolArray, FloatArray, batches
from fewgold.common.checks import check_choice

METHODS = ("auto", "mixture", "reverse", "quadrature")
# Up to SMALL metric-only ratings the mixture is fastest; above LARGE it is slower than nested
# integrals.
_FEW, LARGE = 3000, 200_000
# Largest accepted difference of the two Gauss–Jacobi rules; the finer one is far more accurate.
_CONVERGED = 1e-7


def moments(
    counts: Counts, priors: Priors | None = None, method: str = "auto"
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and standard deviation of α, for a study or a batch of them.

    Parameters
    ----------
    counts
        The counts; arrays make a batch.
    priors
        Uniform by default.
    method
        ``"mixture"``: the exact sum, O(N log N) in the number N of metric-only ratings; any prior.
        ``"reverse"``: Gauss–Jacobi, at a cost that does not depend on N; exact to about 1e-9 with 8
        or more items in each cell of the 2 × 2 table and hardly any human-only ratings, and crude
        otherwise. ``"quadrature"``: to about 3e-8 for shapes of 1 or more, and less closely below
        (3e-5 was seen at ½). ``"auto"``: mixture up to 3000 metric-only ratings; above, reverse if
        two of its rules agree, else mixture up to 200,000 ratings or with shapes below 1, else
        quadrature.

    References
    ----------
    von Däniken et al. (2022), On the effectiveness of automated metrics for text generation
    systems, equation 5, which this integrates.

    Examples
    --------
    >>> counts = Counts(tp=221, fn=95, fp=63, tn=148, metric_ones=[0, 540], metric_total=[0, 1000])
    >>> mean, sd = moments(counts)
    >>> sd.round(4)
    array([0.0213, 0.0202])
    """
    check_choice("method", method, METHODS)
    priors = priors or Priors()
    # Studies with the same counts have the same posterior, and simulations have many of them.
    shape, where = shapes(counts, priors).distinct()
    mean, variance = _moments(shape, priors._known_rates, method)
    return mean[where].reshape(counts.shape), np.sqrt(variance[where]).reshape(counts.shape)


def _moments(
    shape: Shapes, rates: tuple[float, float] | None, method: str
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α for shapes (n,)."""
    total = shape.a0 + shape.b0
    mean = shape.a0 / total  # those of Beta(a0, b0), without metric-only ratings
    variance = mean * (shape.b0 / total) / (total + 1)
    todo = shape.total > 0
    summed = todo & (method == "mixture")
    if rates is not None and method != "mixture":
        check_possible(shape, rates)
        if todo.any():
            mean[todo], variance[todo] = known_moments(shape.draw(todo), rates)
        # If the density is infinite at an end, a sum is exact but quadrature is not.
        summed = todo & ((shape.a0 < 1) | (shape.b0 < 1)) & (shape.total <= LARGE)
        todo = summed
    elif method in ("auto", "reverse"):
        tried = todo
        if (
            method == "auto"
        ):  # cases in which it may converge: a flat tilt, and no nearly empty cells
            up, down = shape.a0 - shape.ar - shape.br, shape.b0 - shape.ae - shape.be
            flat = np.maximum(np.abs(up), np.abs(down)) <= 50
            cell = np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0)
            full = cell >= np.where(shape.total > LARGE, 2, 5)
            tried = todo & flat & full & (shape.total > _FEW)
        if tried.any():
            found = reverse_moments(shape.draw(tried))
            good = (found.error < _CONVERGED) | (method == "reverse")
            done = np.flatnonzero(tried)[good]
            mean[done], variance[done] = found.mean[good], found.variance[good]
            todo = todo.copy()
            todo[done] = False
        summed = todo & by_mixture(shape)
    if summed.any():
        mean[summed], variance[summed] = mixture_moments(shape.draw(summed), rates)
    for at in np.flatnonzero(todo & ~summed):
        mean[at], variance[at] = by_quadrature(shape.draw(at)).moments()
    return mean, variance


def mixture_moments(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the mixtures of shapes (n,)."""
    mean, variance = np.empty(shape.a0.size), np.empty(shape.a0.size)
    for rows, found in mixtures(shape, rates):
        mean[rows], variance[rows] = found.moments()
    return mean, variance


def by_mixture(shape: Shapes) -> BoolArray:
    """Whether the mixture is the better method."""
    return np.asarray((shape.total <= LARGE) | ~smooth(shape))


def smooth(shape: Shapes) -> BoolArray:
    """Whether all shapes are at least 1, where the quadrature is accurate."""
    return np.asarray(np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0) >= 1)


# Quantiles and densities ---

_EXACT = 1e-8
# Half-widths of windows in sds, and their panels: wider windows for skewed densities.
_WINDOWS = ((8.0, 8), (13.0, 14), (25.0, 26))
_FLOOR = 1e-11  # share of the highest density that may remain at the ends of a window


def batch_quantiles(
    shape: Shapes, rates: tuple[float, float] | None, p: FloatArray, sums: bool
) -> tuple[FloatArray, BoolArray]:
    """Quantiles at p (q,) of the posteriors with shapes (n,): (n, q), and which were computed.

    ``sums`` uses the mixture if rates are known, or if there are very many ratings.
    """
    out = np.full((shape.a0.size, p.size), np.nan)
    done = shape.total == 0
    out[done] = betaincinv(shape.a0[done, None], shape.b0[done, None], p)
    todo = ~done
    if rates is not None and not sums:
        if todo.any():
            panels, error = known_panels(shape.draw(todo), rates)
            here = np.flatnonzero(todo)[error < _EXACT]
            out[here] = PanelBatch(*(x[error < _EXACT] for x in panels)).quantile(p)
            done[here] = True
        return out, done
    small = np.minimum(shape.a0, shape.b0) < 0.3  # infinite at an end: closer to it than 1e-16
    todo &= (by_mixture(shape) | sums) & ~small
    if todo.any():
        chosen = np.flatnonzero(todo)
        for rows, found in mixtures(shape.draw(chosen), rates):
            out[chosen[rows]] = found.quantile(p)
        done |= todo
    return out, done


def batch_panels(shape: Shapes) -> dict[int, Panels]:
    """The densities of the mixtures of shapes (n,) in panels, if that is fast."""
    rough = singular(shape.a0) | singular(shape.b0)
    chosen = np.flatnonzero((shape.total > 0) & (shape.total <= LARGE) & ~rough)
    out: dict[int, Panels] = {}
    for rows, found in mixtures(shape.draw(chosen)):
        mean, variance = found.moments()
        centre, sd = to_omega(mean), np.sqrt(variance / (4 * mean * (1 - mean)))
        todo = np.arange(rows.size)
        for far, panels in _WINDOWS:
            low = np.maximum(centre[todo] - far * sd[todo], 0.0)
            high = np.minimum(centre[todo] + far * sd[todo], HALF_PI)
            omega = panel_nodes(low, high, panels)
            some = found if todo.size == rows.size else found.draw(todo)
            density = some.densities(np.sin(omega) ** 2) * np.sin(2 * omega)
            made, error = PanelBatch.fit(low, high, density)
            left = np.stack([density[:, 0] * (low > 0), density[:, -1] * (high < HALF_PI)])
            good = (error < 0.1 * _EXACT) & (left.max(0) < _FLOOR * density.max(-1))
            for at in np.flatnonzero(good):
                out[int(chosen[rows[todo[at]]])] = made.row(int(at))
            todo = todo[~good]
            if not todo.size:
                break
    return out


# The reverse form: from the metric to the human, by a tensor of Gauss–Jacobi rules ---
#
# Instead of α, ρ and η take ψ = P(metric 1), v1 = P(adequate | metric 1) and v0 = P(adequate |
# metric 0). In these the likelihood factorises: the posterior is that of independent
#
#     ψ ~ Beta(m + ar + be, k + br + ae),    v1 ~ Beta(ar, be),    v0 ~ Beta(br, ae),
#
# times α^(a0 − ar − br) (1 − α)^(b0 − ae − be), with α = ψ v1 + (1 − ψ) v0. The cost does not
# depend on the number of ratings. The rules converge fast if that last factor is flat over the bulk
# of the three Betas: when the human ratings are the paired ones and each cell of the 2 × 2 table
# has about 8 items or more. Two rules are compared, and their difference is returned as the error.
# With exponents of zero (a Dirichlet prior on the cells) two nodes are exact.


_RULES = ((8, 12), (12, 18))  # a coarse and a fine one, and others if these disagree
_AGREE = 1e-8


class Moments(NamedTuple):
    """Means and variances of a batch, with their relative error."""

    mean: FloatArray
    variance: FloatArray
    error: FloatArray


def reverse_moments(shape: Shapes, batch: int = 256) -> Moments:
    """Mean and variance of α for shapes (n,), with an estimate of the relative error."""
    parts = []
    for rows in batches(shape.a0.size, batch):
        some = shape.draw(rows)
        found = _compared(some, *_RULES[0])
        open_ = np.flatnonzero(~(found.error < _AGREE))
        if open_.size:
            for old, new in zip(found, _compared(some.draw(open_), *_RULES[1]), strict=True):
                old[open_] = new
        parts.append(found)
    return Moments(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _compared(shape: Shapes, few: int, many: int) -> Moments:
    coarse, fine = _tensor(shape, few), _tensor(shape, many)
    edge = np.minimum(fine[0], 1 - fine[0])
    error = np.maximum(
        np.abs(coarse[0] - fine[0]) / edge, 0.5 * np.abs(coarse[1] - fine[1]) / fine[1]
    )
    return Moments(*fine, error)


def _tensor(shape: Shapes, n: int) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α with n nodes for each of ψ, v1 and v0."""
    a0, b0, ar, br, ae, be, m, k = shape
    psi, w_psi = gauss_jacobi(m + ar + be, k + br + ae, n)
    hit, w_hit = gauss_jacobi(ar, be, n)
    miss, w_miss = gauss_jacobi(br, ae, n)
    psi = psi[:, :, None, None]
    alpha = psi * hit[:, None, :, None] + (1 - psi) * miss[:, None, None, :]
    weight = w_psi[:, :, None, None] * w_hit[:, None, :, None] * w_miss[:, None, None, :]
    alpha, weight = (x.reshape(len(a0), -1) for x in (alpha, weight))
    up, down = (a0 - ar - br)[:, None], (b0 - ae - be)[:, None]
    if np.all(up == -1) and np.all(down == -1):  # uniform priors, all human ratings paired
        weight = weight / (alpha * (1 - alpha))
    elif np.any(up) or np.any(down):
        tilt = up * np.log(alpha) + down * np.log1p(-alpha)
        weight = weight * np.exp(tilt - tilt.max(-1, keepdims=True))
    weight = weight / weight.sum(-1, keepdims=True)
    mean = np.vecdot(weight, alpha)
    return mean, np.vecdot(weight, (alpha - mean[:, None]) ** 2)


def gauss_jacobi(a: FloatArray, b: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes in (0, 1) and weights of the n-point Gauss rules of Beta(a, b): (B,) → (B, n).

    Golub and Welsch (1969): eigenvalues of the recurrence of the Jacobi polynomials, shifted by
    the mean and scaled by the sd so that narrow Betas keep their digits.
    """
    a, b = a[:, None], b[:, None]
    j = np.arange(n, dtype=np.float64)
    c = a + b
    mean = a / c
    sd = np.sqrt(a * b / (c + 1)) / c
    # Centre of the j-th polynomial, minus the mean.
    lower = np.where(j == 0, 1.0, 2 * j + c - 2)
    shift = j * (b - a) * (2 * (j + c - 1)) / (c * (2 * j + c) * lower)
    i = j[1:]
    bottom = np.where(i == 1, c * c * (c + 1), (2 * i + c - 2) ** 2 * (2 * i + c - 1))
    top = np.where(i == 1, a * b, i * (i + a - 1) * (i + b - 1) * (i + c - 2))
    bottom = np.where(i == 1, bottom, bottom * (2 * i + c - 3))
    side = np.sqrt(top / bottom) / sd
    matrix = np.zeros((len(a), n, n))
    diagonal = np.arange(n)
    matrix[:, diagonal, diagonal] = shift / sd
    matrix[:, diagonal[1:], diagonal[:-1]] = side
    values, vectors = np.linalg.eigh(matrix)  # reads only the lower triangle
    weights = vectors[:, 0, :] ** 2
    return np.clip(mean + sd * values, 1e-300, 1 - 1e-16), weights
