"""Mean and sd of α for many studies at once, each by the cheapest method that is exact enough."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from scipy.special import betainc, betaincinv, betaln

from fewgold._arrays import BoolArray, FloatArray, IntArray, batches
from fewgold._validate import check_choice
from fewgold.bayes.counts import Counts
from fewgold.bayes.density import Bank, Panels, panel_nodes, singular
from fewgold.bayes.mixture import Shapes, Weights, beta_moments, shapes, weights
from fewgold.bayes.priors import Priors
from fewgold.bayes.quadrature import by_quadrature, check_possible, known_bank, known_moments

# Which method serves a study: by the number of metric-only ratings and the shapes of the Betas.


# Above so many metric-only ratings the mixture costs more than the quadrature.
LARGE = 200_000


def promising(shape: Shapes) -> BoolArray:
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


# Moments by looking from the metric to the human: a tensor of Gauss–Jacobi rules.
#
# Instead of α, ρ and η take ψ = P(metric 1), v1 = P(adequate | metric 1) and v0 = P(adequate |
# metric 0). In these the likelihood factorises: the posterior is that of independent
#
#     ψ ~ Beta(m + ar + be, k + br + ae),    v1 ~ Beta(ar, be),    v0 ~ Beta(br, ae),
#
# times α^(a0 − ar − br) (1 − α)^(b0 − ae − be), with α = ψ v1 + (1 − ψ) v0. The cost does not
# depend
# on the number of ratings. The rules converge fast where that last factor is flat over the bulk of
# the three Betas: when the human ratings are the paired ones and each cell of the 2 × 2 table has
# about 8 items or more. Two rules are compared, and what they leave open is handed back as an
# error.
# With exponents of zero (a Dirichlet prior on the cells) the result is exact with two nodes.


_RULES = ((8, 12), (12, 18))  # a coarse and a fine one, and others where these disagree
_AGREE = 1e-8


class Moments(NamedTuple):
    """Means and variances of a batch, and by how much they may be wrong, relative to each."""

    mean: FloatArray
    variance: FloatArray
    error: FloatArray


def reverse_moments(shape: Shapes, batch: int = 256) -> Moments:
    """Mean and variance of α for shapes (n,), with an estimate of the relative error."""
    parts = [_moments(shape.draw(rows)) for rows in batches(shape.a0.size, batch)]
    return Moments(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _moments(shape: Shapes) -> Moments:
    found = _compared(shape, *_RULES[0])
    again = np.flatnonzero(~(found.error < _AGREE))
    if again.size:
        for old, new in zip(found, _compared(shape.draw(again), *_RULES[1]), strict=True):
            old[again] = new
    return found


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
    # Centre of the j-th polynomial, less the mean.
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
    values, vectors = np.linalg.eigh(matrix)  # reads the lower triangle alone
    weights = vectors[:, 0, :] ** 2
    return np.clip(mean + sd * values, 1e-300, 1 - 1e-16), weights


# Quantiles of mixtures of Betas, exact and for a batch.
#
# Beta(a0 + s, b0 + N − s) is at most x with chance I(s), which falls from 1 to 0 as s grows. With
# T = a0 + b0 + N its steps are
#
#     I(s) − I(s + 1) = D(s) = Γ(T) x^a (1 − x)^(T − a − 1) / (Γ(a + 1) Γ(T − a)),    a = a0 + s,
#
# a binomial distribution but for the shifts a0 and b0. Summed by parts, the CDF of the mixture is
# Σ C(s) D(s) with C the running sums of its weights W, and x p(x) = Σ (a0 + s) W(s) D(s). Only the
# s
# near T x matter, a window that grows with √N. Newton's steps start from the quantile of s.


_SDS, _MORE = 8.3, 25
_AT_ONCE = 1 << 16
_STEPS = 100
_SETTLED, _ROUNDING = 1e-6, 3e-16


def quantiles(
    weights: Weights, a0: FloatArray, b0: FloatArray, total: FloatArray, p: FloatArray
) -> FloatArray:
    """Where the CDFs of the mixtures (B,) are p (B, q)."""
    rows, q = p.shape
    row = np.repeat(np.arange(rows), q)
    law = Law(weights, a0, b0, total)
    chance = p.ravel()
    x = law.start(p).ravel()
    low, high = np.zeros(x.size), np.ones(x.size)
    todo = np.flatnonzero((chance > 0) & (chance < 1))
    x[chance <= 0], x[chance >= 1] = 0.0, 1.0
    for _ in range(_STEPS):
        if not todo.size:
            break
        at, here = x[todo], row[todo]
        cdf, density = law.at(here, at)
        over = cdf - chance[todo]
        low[todo] = np.where(over < 0, at, low[todo])
        high[todo] = np.where(over < 0, high[todo], at)
        step = over / np.where(density > 0, density, np.inf)
        moved = at - step
        inside = (moved > low[todo]) & (moved < high[todo]) & (density > 0)
        x[todo] = np.where(inside, moved, 0.5 * (low[todo] + high[todo]))
        # Newton's error goes down with the square of the step, in units of tail / density.
        tail = np.minimum(chance[todo], 1 - chance[todo])
        small = np.maximum(_SETTLED * tail / np.maximum(density, 1e-300), _ROUNDING * at)
        near = (np.abs(step) < small) & (density > 0)
        x[todo[near]] = np.clip(moved[near], 0.0, 1.0)
        todo = todo[~near & (high[todo] - low[todo] > _ROUNDING * at)]
    return np.asarray(x.reshape(rows, q))


class Law:
    """The mixtures of a batch, ready for sums over windows of components."""

    def __init__(self, weights: Weights, a0: FloatArray, b0: FloatArray, total: FloatArray) -> None:
        self.a0, self.b0, self.total = a0, b0, total
        self.first, self.mass = weights.first, weights.mass
        self.below = np.cumsum(self.mass, axis=-1)
        a = (a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        # With a column more on either side, for all components beyond.
        self._slopes = np.pad(self.mass * a, ((0, 0), (1, 1))).ravel()
        self._sums = np.pad(self.below, ((0, 0), (1, 0)))
        self._sums = np.concatenate([self._sums, self._sums[:, -1:]], axis=-1).ravel()

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances."""
        size = self.a0 + self.b0 + self.total
        a = (self.a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        mean = np.vecdot(self.mass, a) / size
        within = np.vecdot(self.mass, a * (size[:, None] - a)) / (size * size * (size + 1))
        gaps = a / size[:, None] - mean[:, None]
        return mean, np.asarray(within + np.vecdot(self.mass, gaps * gaps))

    def start(self, p: FloatArray) -> FloatArray:
        """Quantiles of the means of the components, spread to the sd of the mixture."""
        size = self.a0 + self.b0 + self.total
        s = self.first[:, None] + np.arange(self.mass.shape[1])
        mean = np.vecdot(self.mass, s)
        between = np.vecdot(self.mass, (s - mean[:, None]) ** 2)
        centre = (self.a0 + mean) / size
        within = size * size * centre * (1 - centre) / (size + 1)
        at = (self.below[:, None, :] < p[:, :, None]).sum(-1)
        found = self.first[:, None] + at
        wide = np.sqrt((between + within) / np.maximum(between, 1e-3 * within + 1e-9))
        spread = mean[:, None] + (found - mean[:, None]) * wide[:, None]
        start = (self.a0[:, None] + spread) / size[:, None]
        inner = 0.5 / size[:, None]
        return np.asarray(np.clip(start, inner, 1 - inner))

    def at(self, row: IntArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """CDF and density of the mixtures of these rows at x, one each."""
        size = (self.a0 + self.b0 + self.total)[row]
        spread = np.sqrt(size * x * (1 - x))
        reach = np.minimum(_SDS * spread + _MORE, self.total[row]).astype(np.int64)
        order = np.argsort(reach, kind="stable")
        cdf, density = np.empty(x.size), np.empty(x.size)
        start = 0
        while start < order.size:
            some = order[start : start + max(1, _AT_ONCE // (2 * int(reach[order[start]]) + 1))]
            cdf[some], density[some] = self._window(row[some], x[some], int(reach[some[-1]]))
            start += some.size
        return cdf, density

    def _window(self, row: IntArray, x: FloatArray, reach: int) -> tuple[FloatArray, FloatArray]:
        """The sums over the components within ``reach`` of the peak of D."""
        a0, b0, total, first = (y[row] for y in (self.a0, self.b0, self.total, self.first))
        peak = np.clip(np.floor((a0 + b0 + total - 1) * x - a0), 0, total)
        left, right = min(reach, int(peak.max())), min(reach, int((total - peak).max()))
        odds = (x / (1 - x))[:, None]
        ahead, back = np.arange(right), np.arange(1, left + 1)
        up = odds * ((b0 + total - 1 - peak)[:, None] - ahead) / ((a0 + peak + 1)[:, None] + ahead)
        down = ((a0 + peak + 1)[:, None] - back) / ((b0 + total - 1 - peak)[:, None] + back) / odds
        if np.any(peak + right > total):
            up[peak[:, None] + ahead >= total[:, None]] = 0.0
        if np.any(peak < left):
            down[back > peak[:, None]] = 0.0
        a, b = a0 + peak, b0 + total - peak
        top = np.exp(a * np.log(x) + (b - 1) * np.log1p(-x) - np.log(a) - betaln(a, b))
        steps = np.empty((x.size, left + right + 1))
        np.cumprod(down, axis=-1, out=steps[:, left - 1 :: -1] if left else down)
        steps[:, left] = 1.0
        np.cumprod(up, axis=-1, out=steps[:, left + 1 :])
        width = self.mass.shape[1] + 2
        start = peak.astype(np.int64) - left - first + 1
        at = np.clip(start[:, None] + np.arange(left + right + 1), 0, width - 1)
        at += (row * width)[:, None]
        density = top * np.vecdot(np.take(self._slopes, at), steps) / x
        below = np.take(self._sums, at)
        end = peak + right >= total
        if end.any():  # the last component has no next one: its own I, in place of a step
            last = (total - peak).astype(np.int64)[end] + left
            steps[np.flatnonzero(end), last] = 0.0
        cdf = top * np.vecdot(below, steps)
        cdf[end] += betainc(a0 + total, b0, x)[end]
        return np.asarray(cdf), np.asarray(density)


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


# A few quantiles of each of many posteriors of α, where no density has to be drawn for them.


_EXACT = 1e-8
# Windows in sds to either side and their panels: wider ones where a density is skewed.
_WINDOWS = ((8.0, 8), (13.0, 14), (25.0, 26))
_FLOOR = 1e-11  # of the highest density: what may be left at the ends of a window
_HALF_PI = 0.5 * np.pi


def batch_quantiles(
    shape: Shapes, rates: tuple[float, float] | None, p: FloatArray, sums: bool
) -> tuple[FloatArray, BoolArray]:
    """Quantiles at p (q,) of the posteriors with shapes (n,): (n, q), and which are done.

    ``sums`` takes the mixture where rates are known, and where there are very many ratings.
    """
    out = np.full((shape.a0.size, p.size), np.nan)
    done = shape.total == 0
    out[done] = betaincinv(shape.a0[done, None], shape.b0[done, None], p)
    todo = ~done
    if rates is not None and not sums:
        if todo.any():
            bank, error = known_bank(shape.draw(todo), rates)
            here = np.flatnonzero(todo)[error < _EXACT]
            out[here] = bank.draw(error < _EXACT).quantile(p)
            done[here] = True
        return out, done
    small = np.minimum(shape.a0, shape.b0) < 0.3  # infinite at an end: nearer to it than 1e-16
    todo &= (by_mixture(shape) | sums) & ~small
    if todo.any():
        chosen = np.flatnonzero(todo)
        for rows, found in weights(shape.draw(chosen), rates):
            some = shape.draw(chosen[rows])
            chances = np.broadcast_to(p, (rows.size, p.size))
            out[chosen[rows]] = quantiles(found, some.a0, some.b0, some.total, chances)
        done |= todo
    return out, done


def batch_panels(shape: Shapes) -> dict[int, Panels]:
    """The densities of the mixtures of shapes (n,) in panels, where that is quick."""
    rough = singular(shape.a0) | singular(shape.b0)
    chosen = np.flatnonzero((shape.total > 0) & (shape.total <= LARGE) & ~rough)
    out: dict[int, Panels] = {}
    if not chosen.size:
        return out
    for rows, found in weights(shape.draw(chosen)):
        some = shape.draw(chosen[rows])
        law = Law(found, some.a0, some.b0, some.total)
        mean, variance = law.moments()
        centre, sd = np.arcsin(np.sqrt(mean)), np.sqrt(variance / (4 * mean * (1 - mean)))
        todo = np.arange(rows.size)
        for reach, panels in _WINDOWS:
            low = np.maximum(centre[todo] - reach * sd[todo], 0.0)
            high = np.minimum(centre[todo] + reach * sd[todo], _HALF_PI)
            omega = panel_nodes(low, high, panels)
            row = np.repeat(todo, omega.shape[1])
            _, density = law.at(row, (np.sin(omega) ** 2).ravel())
            density = density.reshape(omega.shape) * np.sin(2 * omega)
            bank, error = Bank.fit(low, high, density)
            left = np.stack([density[:, 0] * (low > 0), density[:, -1] * (high < _HALF_PI)])
            good = (error < 0.1 * _EXACT) & (left.max(0) < _FLOOR * density.max(-1))
            for at in np.flatnonzero(good):
                out[int(chosen[rows[todo[at]]])] = bank.row(int(at))
            todo = todo[~good]
            if not todo.size:
                break
    return out
