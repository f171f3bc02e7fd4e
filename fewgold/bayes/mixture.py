"""The posterior of α as a finite mixture of Betas, by a convolution.

Of the items that only the metric rated, suppose that i of its m ones and j of its k zeros are
adequate. Then p^m (1 − p)^k is a sum over i and j of products of powers, and integrating α, ρ and η
leaves, with s = i + j and N = m + k,

    p(α | data) = Σ_s W_s Beta(α; a0 + s, b0 + N − s),    W_s ∝ S(s) (f ∗ g)(s),
    f(i) = BetaBinomial(i; m, ar, be),    g(j) = BetaBinomial(j; k, br, ae),
    S(s) = Γ(a0 + s) Γ(b0 + N − s) / (Γ(ar + br + s) Γ(ae + be + N − s)).

`mixture` computes one study at full precision; `mixtures` does a batch by one FFT, and passes the
studies for which that is not accurate enough to `mixture`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.special import betainc, betaln, gammaln

from fewgold.bayes.counts import Counts
from fewgold.bayes.density import log_sum
from fewgold.bayes.priors import Priors
from fewgold.common.arrays import BoolArray, FloatArray, IntArray, batches


class Shapes(NamedTuple):
    """Exponents of the posterior: everything that it depends on, as arrays of one shape.

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
    def exchanged(self) -> Shapes:
        """The same with 0 and 1 exchanged for humans and the metric: α → 1 − α, ρ ↔ η."""
        return Shapes(self.b0, self.a0, self.ae, self.be, self.ar, self.br, self.k, self.m)

    def distinct(self) -> tuple[Shapes, IntArray]:
        """Distinct shapes (n,), and the index of each element of the batch, flat."""
        table = np.stack([field.ravel() for field in self], axis=-1)
        rows, where = np.unique(table, axis=0, return_inverse=True)
        return Shapes(*rows.T.copy()), where.ravel()

    def draw(self, k: object) -> Shapes:
        """One element of a batch, or a smaller batch."""
        return Shapes(*(field[k] for field in self))  # type: ignore[call-overload]


def shapes(counts: Counts, priors: Priors) -> Shapes:
    """Exponents of the posterior; those of ρ and η are 1 if these are known."""
    (a, b), rho, eta = priors.alpha, priors.rho, priors.eta
    ones = np.ones(counts.shape)
    hits: tuple[FloatArray, ...] = (ones, ones, ones, ones)
    *table, adequate, inadequate = counts._weights
    if isinstance(rho, tuple) and isinstance(eta, tuple):
        cells = zip(table, (*rho, *eta), strict=True)  # tp, fn, tn and fp
        hits = tuple(ones * count + prior for count, prior in cells)
    rate = ones * adequate + a, ones * inadequate + b
    return Shapes._make((*rate, *hits, ones * counts.metric_ones, ones * counts._metric_zeros))


# Beta-binomial probabilities, from the ratios of neighbours ---

_SAFE = 900.0  # 2^900 is still finite


def _ratio(i: FloatArray, a: FloatArray, b: FloatArray, n: FloatArray) -> FloatArray:
    """BetaBinomial(i + 1; n, a, b) / BetaBinomial(i; n, a, b), and 0 from i = n on."""
    top = n - i  # overwritten step by step: these arrays are large
    rest = top + (b - 1)
    np.maximum(rest, 1e-300, out=rest)
    rest *= i + 1
    np.maximum(top, 0.0, out=top)
    top *= a + i
    top /= rest
    return top


def log_beta_binomial(a: FloatArray, b: FloatArray, n: int) -> FloatArray:
    """Log probabilities of 0, …, n of BetaBinomial(n; a, b), up to a constant: (..., n + 1).

    The logarithms of the ratios are summed up, which loses fewer digits than differences of log Γ.
    """
    i = np.broadcast_to(np.arange(n, dtype=np.float64), (*a.shape, n))
    return _running(_ratio(i, a[..., None], b[..., None], np.array(float(n))))


def _running(ratios: FloatArray) -> FloatArray:
    """Logarithms of a sequence that starts at 1, from the ratios of its neighbours."""
    logs = np.zeros((*ratios.shape[:-1], ratios.shape[-1] + 1))
    np.cumsum(np.log(ratios), axis=-1, out=logs[..., 1:])
    return logs


def beta_binomial(a: FloatArray, b: FloatArray, n: int) -> FloatArray:
    """Probabilities of 0, 1, …, n of BetaBinomial(n; a, b) for a and b (G,): (G, n + 1).

    C(n, i) B(a + i, b + n − i) is a product of a rising and a falling sequence, each a running
    product of ratios, or a sum of logarithms if the products overflow.
    """
    if a.max() + b.max() + n < _SAFE:
        i = np.arange(n, dtype=np.float64)
        chance, falling = np.ones((2, a.size, n + 1))
        np.cumprod((a[:, None] + i) / (i + 1), axis=1, out=chance[:, 1:])
        np.cumprod((b[:, None] + i) / (i + 1), axis=1, out=falling[:, 1:])
        chance *= falling[:, ::-1]
    else:
        chance = log_beta_binomial(a, b, n)
        np.exp(chance - chance.max(1, keepdims=True), out=chance)
    chance /= chance.sum(1, keepdims=True)
    return chance


def peak_window(a: FloatArray, b: FloatArray, n: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """A place near the peak of BetaBinomial(n; a, b), and how far it extends on either side.

    Less than e^−40 of it is beyond: a normal tail ends at 9 sd, an exponential one at 41.
    """
    total = a + b
    sd = np.sqrt(n * a * b * (total + n) / (total + 1)) / total
    far = sd * (9.0 + 36.0 / np.sqrt(np.minimum(np.minimum(a, b), total))) + 10
    centre = np.floor(np.clip(n * a / total, 0, n))
    left, right = np.minimum(centre, far), np.minimum(n - centre, far)
    return centre.astype(np.int64), left.astype(np.int64), right.astype(np.int64)


def beta_binomial_rows(a: FloatArray, b: FloatArray, n: FloatArray) -> tuple[IntArray, FloatArray]:
    """The start of each row, and BetaBinomial(n; a, b) from there, for a, b and n (B,).

    Built outwards from a place near the peak, so that nothing relevant overflows.
    """
    centre, left, right = peak_window(a, b, n)
    a, b, n, mid = (np.asarray(x, dtype=np.float64)[:, None] for x in (a, b, n, centre))
    up = _ratio(mid + np.arange(right.max()), a, b, n)
    down = _ratio(n - mid + np.arange(left.max()), b, a, n)  # the same, counted from the other end
    values = _outwards(up, down)
    return centre - left.max(), values / values.sum(-1, keepdims=True)


def _outwards(up: FloatArray, down: FloatArray) -> FloatArray:
    """Values relative to the middle one, from the ratios of neighbours upwards and downwards."""
    left = np.cumprod(down, axis=-1)[:, ::-1]
    return np.concatenate([left, np.ones((len(up), 1)), np.cumprod(up, axis=-1)], axis=-1)


# One study: the convolution, accurate far out in its tails ---
#
# All terms of f ∗ g are positive, so a direct sum loses no digits; a convolution by FFT does, since
# its error is relative to the largest value and S may put the weight far out in the tail. So f and
# g are tilted, f(i) e^{θi} and g(j) e^{θj}, which multiplies f ∗ g by e^{θs} and moves its peak to
# where it is needed. If one tilt does not suffice, the next starts at its end.

_SURE = 1e-15  # treats a known rate of 0 or 1 as nearly so
#: Weights below e^−DROP of the largest are left out.
DROP = 46.0
# Convolutions of up to this many products are summed directly, which keeps full precision down to
# e^−600.
_DIRECT = 300_000
# The error of an FFT is about 1e-16 of the norms: values above this share of them have 9 correct
# digits.
_RELIABLE = 1e-7
_POINTS = 400  # number of points used to find the first tilt
# Above this many components, the density is summed only from those near α.
_MANY = 30_000


class Mixture(NamedTuple):
    """Weights of the components s = first, first + 1, …, and the parameters of the Betas."""

    first: int
    weights: FloatArray
    a0: float
    b0: float
    total: float

    def _components(self, of: slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Parameters of all or some of the Betas."""
        s = self.first + np.arange(*of.indices(self.weights.size), dtype=np.float64)
        return self.a0 + s, self.b0 + (self.total - s)

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        size = np.array(self.a0 + self.b0 + self.total)
        mean, variance = _moments(self.weights, self._components()[0], size)
        return float(mean), float(variance)

    def log_density(self, alpha: FloatArray, beta: FloatArray) -> FloatArray:
        """Log density of α at ``alpha`` = 1 − ``beta``, each (n,)."""
        if self.weights.size > _MANY:
            # A component matters only near its own mean: beyond 15 sd no weight compensates.
            far = 15 * np.sqrt(self.total * alpha * beta) + 100
            first = np.floor(self.total * alpha - far) - self.first
            last = np.ceil(self.total * alpha + far) - self.first
            ends = np.clip(np.stack([first, last + 1]), 0, self.weights.size).astype(np.int64)
            at = zip(alpha[:, None], beta[:, None], *ends, strict=True)
            return np.array([self._log_sum(x, y, slice(low, high))[0] for x, y, low, high in at])
        step = max(1, 2_000_000 // self.weights.size)
        parts = [
            self._log_sum(alpha[start : start + step], beta[start : start + step], slice(None))
            for start in range(0, alpha.size, step)
        ]
        return np.concatenate(parts)

    def _log_sum(self, alpha: FloatArray, beta: FloatArray, of: slice) -> FloatArray:
        """Log density from some of the components."""
        weights = self.weights[of]
        keep = weights > 0
        if not keep.any():
            return np.full(alpha.size, -1e300)
        a, b = (shape[keep] for shape in self._components(of))
        terms = np.multiply.outer(np.log(alpha), a - 1) + np.multiply.outer(np.log(beta), b - 1)
        terms += np.log(weights[keep]) - betaln(a, b)
        return log_sum(terms)


def _moments(mass: FloatArray, a: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of a mixture of Beta(a, size − a), weights ``mass`` (..., n)."""
    mean = np.vecdot(mass, a) / size
    within = np.vecdot(mass, a * (size[..., None] - a)) / (size * size * (size + 1))
    gaps = a / size[..., None] - mean[..., None]
    return mean, np.asarray(within + np.vecdot(mass, gaps * gaps))


def mixture(shape: Shapes, rates: tuple[float, float] | None = None) -> Mixture:
    """The mixture for one set of shapes (scalars); ``rates`` are ρ and η if they are known."""
    first, log_w = log_weights(*log_factors(shape, rates))
    weights = np.exp(log_w - log_w.max())
    size = float(shape.total)
    return Mixture(first, weights / weights.sum(), float(shape.a0), float(shape.b0), size)


def log_factors(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logarithms of f, g and S."""
    a0, b0, ar, br, ae, be, m, k = (float(x) for x in shape)
    s = np.arange(m + k, dtype=np.float64)
    rest = m + k - 1 - s
    if rates is None:
        return (
            log_beta_binomial(np.array(ar), np.array(be), int(m)),
            log_beta_binomial(np.array(br), np.array(ae), int(k)),
            _running((a0 + s) * (ae + be + rest) / ((ar + br + s) * (b0 + rest))),
        )
    # f and g are binomial, and ρ and η are not integrated.
    rho, eta = (min(max(rate, _SURE), 1 - _SURE) for rate in rates)
    i, j = np.arange(m, dtype=np.float64), np.arange(k, dtype=np.float64)
    return (
        _running((m - i) * rho / ((i + 1) * (1 - eta))),
        _running((k - j) * (1 - rho) / ((j + 1) * eta)),
        _running((a0 + s) / (b0 + rest)),
    )


def log_weights(
    log_f: FloatArray, log_g: FloatArray, log_s: FloatArray, direct: bool | None = None
) -> tuple[int, FloatArray]:
    """Log of S(s) (f ∗ g)(s) on the range of s that matters, and where the range starts.

    ``direct`` sums term by term; by default if that is fast, or if f or g has two peaks (shapes
    below 1), which no single tilt can cover.
    """
    if direct is None:
        direct = log_f.size * log_g.size <= _DIRECT
    last = log_s.size - 1
    low, high, log_h = _tilted(log_f, log_g, _first_tilt(log_f, log_g, log_s), direct)
    log_w = np.full(last + 1, -np.inf)
    log_w[low : high + 1] = log_h + log_s[low : high + 1]
    left = right = log_h
    stuck = False
    while not stuck and low > 0 and log_w[low] > log_w.max() - DROP:
        start, end, left = _tilted(log_f, log_g, _slope(left[:3]), direct)
        stuck = not start < low <= end + 1
        if not stuck:
            log_w[start:low] = left[: low - start] + log_s[start:low]
            low = start
    while not stuck and high < last and log_w[high] > log_w.max() - DROP:
        start, end, right = _tilted(log_f, log_g, _slope(right[-3:]), direct)
        stuck = not start <= high + 1 <= end
        if not stuck:
            log_w[high + 1 : end + 1] = right[high + 1 - start :] + log_s[high + 1 : end + 1]
            high = end
    if stuck and not direct:
        return log_weights(log_f, log_g, log_s, direct=True)
    kept = np.flatnonzero(log_w > log_w.max() - DROP)
    return int(kept[0]), log_w[kept[0] : kept[-1] + 1]


def _slope(log_h: FloatArray) -> float:
    """The tilt that makes f ∗ g flat where it has these neighbouring values."""
    return float(log_h[0] - log_h[-1]) / max(log_h.size - 1, 1)


def _first_tilt(log_f: FloatArray, log_g: FloatArray, log_s: FloatArray) -> float:
    """The θ at which S(s) e^{−θs} is flat at the mean of the tilted f ∗ g: near the peak of W."""
    if log_s.size < 2:
        return 0.0
    slopes = np.diff(log_s)
    places = [np.unique(np.linspace(0, x.size - 1, _POINTS).round()) for x in (log_f, log_g)]
    logs = [x[at.astype(np.int64)] for x, at in zip((log_f, log_g), places, strict=True)]
    low, high = float(slopes.min()), float(slopes.max())
    for _ in range(24):
        tilt = 0.5 * (low + high)
        mean = 0.0
        for at, log_x in zip(places, logs, strict=True):
            tilted = log_x + tilt * at
            weights = np.exp(tilted - tilted.max())
            mean += float(weights @ at) / float(weights.sum())
        if slopes[min(int(mean), slopes.size - 1)] > tilt:
            low = tilt
        else:
            high = tilt
    return 0.5 * (low + high)


def _tilted(
    log_f: FloatArray, log_g: FloatArray, tilt: float, direct: bool
) -> tuple[int, int, FloatArray]:
    """First and last accurate s around the tilted peak, and log (f ∗ g) between them."""
    drop = 740.0 if direct else 60.0
    parts, origin, scale = [], 0, 0.0
    for log_x in (log_f, log_g):
        tilted = log_x + tilt * np.arange(log_x.size)
        top = float(tilted.max())
        near = np.flatnonzero(tilted > top - drop)
        first, end = int(near[0]), int(near[-1]) + 1
        parts.append(np.exp(tilted[first:end] - top))
        origin, scale = origin + first, scale + top
    f, g = parts
    if direct:
        h = np.convolve(f, g)
        floor = np.exp(-600.0)
    else:
        size = f.size + g.size - 1
        length = fft.next_fast_len(size, real=True)
        h = fft.irfft(fft.rfft(f, length) * fft.rfft(g, length), length)[:size]
        floor = _RELIABLE * np.sqrt((f @ f) * (g @ g))
    peak = int(h.argmax())
    low_side, high_side = h[:peak] < floor, h[peak:] < floor
    low = int(np.flatnonzero(low_side)[-1]) + 1 if low_side.any() else 0
    high = peak + int(np.flatnonzero(high_side)[0]) - 1 if high_side.any() else h.size - 1
    s = np.arange(origin + low, origin + high + 1)
    return origin + low, origin + high, np.log(h[low : high + 1]) + scale - tilt * s


# A batch of studies ---
#
# Beta(a0 + s, b0 + N − s) is at most x with probability I(s), which falls from 1 to 0 as s grows.
# With T = a0 + b0 + N its steps are
#
#     I(s) − I(s + 1) = D(s) = Γ(T) x^a (1 − x)^(T − a − 1) / (Γ(a + 1) Γ(T − a)),    a = a0 + s,
#
# a binomial distribution apart from the shifts a0 and b0. Summed by parts, the CDF of the mixture
# is Σ C(s) D(s) with C the running sums of its weights W, and x p(x) = Σ (a0 + s) W(s) D(s). Only
# the s near T x matter, a window that grows with √N. Newton's steps start from the quantile of s.

_WINDOWED = 1 << 16  # values of D to process at once
_STEPS = 100
_SETTLED, _EPSILON = 1e-6, 3e-16


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Mixtures of a batch: ``mass`` (B, n) of the components s = first, first + 1, … of each."""

    first: IntArray
    mass: FloatArray
    a0: FloatArray
    b0: FloatArray
    total: FloatArray

    def row(self, k: int) -> tuple[int, FloatArray]:
        """The first component of one study, and its masses."""
        kept = np.flatnonzero(self.mass[k])
        return int(self.first[k]) + int(kept[0]), self.mass[k, kept[0] : kept[-1] + 1]

    def draw(self, rows: IntArray) -> Mixtures:
        """A part of the batch."""
        betas = (x[rows] for x in (self.a0, self.b0, self.total))
        return Mixtures(self.first[rows], self.mass[rows], *betas)

    @property
    def _size(self) -> FloatArray:
        return np.asarray(self.a0 + self.b0 + self.total)

    @cached_property
    def _below(self) -> FloatArray:
        return np.cumsum(self.mass, axis=-1)

    @cached_property
    def _padded(self) -> tuple[FloatArray, FloatArray]:
        """(a0 + s) W(s) and C(s) with one more column on either side, for all components beyond."""
        a = (self.a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        slopes = np.pad(self.mass * a, ((0, 0), (1, 1)))
        sums = np.pad(np.pad(self._below, ((0, 0), (1, 0))), ((0, 0), (0, 1)), "edge")
        return slopes.ravel(), sums.ravel()

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances."""
        a = (self.a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        return _moments(self.mass, a, self._size)

    def quantile(self, p: FloatArray) -> FloatArray:
        """Quantiles at the probabilities p (q,): (B, q)."""
        rows = len(self.mass)
        row, chance = np.repeat(np.arange(rows), p.size), np.tile(p, rows)
        x = self._start(p).ravel()
        low, high = np.zeros(x.size), np.ones(x.size)
        todo = np.flatnonzero((chance > 0) & (chance < 1))
        x[chance <= 0], x[chance >= 1] = 0.0, 1.0
        for _ in range(_STEPS):
            if not todo.size:
                break
            at, here = x[todo], row[todo]
            cdf, density = self.cdf_and_pdf(here, at)
            over = cdf - chance[todo]
            low[todo] = np.where(over < 0, at, low[todo])
            high[todo] = np.where(over < 0, high[todo], at)
            step = over / np.where(density > 0, density, np.inf)
            moved = at - step
            inside = (moved > low[todo]) & (moved < high[todo]) & (density > 0)
            x[todo] = np.where(inside, moved, 0.5 * (low[todo] + high[todo]))
            # Newton's error decreases with the square of the step, in units of tail / density.
            tail = np.minimum(chance[todo], 1 - chance[todo])
            small = np.maximum(_SETTLED * tail / np.maximum(density, 1e-300), _EPSILON * at)
            near = (np.abs(step) < small) & (density > 0)
            x[todo[near]] = np.clip(moved[near], 0.0, 1.0)
            todo = todo[~near & (high[todo] - low[todo] > _EPSILON * at)]
        return np.asarray(x.reshape(rows, p.size))

    def _start(self, p: FloatArray) -> FloatArray:
        """Quantiles of the component means, rescaled to the sd of the mixture."""
        size = self._size
        s = self.first[:, None] + np.arange(self.mass.shape[1])
        mean = np.vecdot(self.mass, s)
        between = np.vecdot(self.mass, (s - mean[:, None]) ** 2)
        centre = (self.a0 + mean) / size
        within = size * size * centre * (1 - centre) / (size + 1)
        at = (self._below[:, None, :] < p[:, None]).sum(-1)
        wide = np.sqrt((between + within) / np.maximum(between, 1e-3 * within + 1e-9))
        spread = mean[:, None] + (self.first[:, None] + at - mean[:, None]) * wide[:, None]
        start = (self.a0[:, None] + spread) / size[:, None]
        inner = 0.5 / size[:, None]
        return np.asarray(np.clip(start, inner, 1 - inner))

    def densities(self, x: FloatArray) -> FloatArray:
        """Densities at x (B, q), one row for each mixture: (B, q).

        The logarithm of a component is linear in logit x, so all of them at all x are one
        exponential of an outer product. If only a few components are near each x, as with very many
        ratings, just those are summed (`cdf_and_pdf`).
        """
        width = self.mass.shape[1]
        near = 2 * (8.3 * np.sqrt(self._size.max() * 0.25) + 25)
        if width > 4 * near:
            row = np.repeat(np.arange(len(x)), x.shape[1])
            return self.cdf_and_pdf(row, x.ravel())[1].reshape(x.shape)
        a = (self.a0 + self.first)[:, None] + np.arange(width)
        b = (self.a0 + self.b0 + self.total)[:, None] - a
        inside = (self.mass > 0) & (b > 0) & (a > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_w = np.where(inside, np.log(self.mass) - betaln(a, b), -np.inf)
        odds, rest = np.log(x) - np.log1p(-x), np.log1p(-x)
        # From the middle of the row, so that no term is large.
        middle = a[:, width // 2, None]
        top = (middle - 1) * odds + (self._size[:, None] - 2) * rest
        out = np.empty(x.shape)
        for rows in batches(len(x), max(1, _DENSE // (width * x.shape[1]))):
            terms = (a[rows] - middle[rows])[:, None, :] * odds[rows, :, None]
            terms += log_w[rows, None, :] + top[rows, :, None]
            out[rows] = np.exp(terms, out=terms).sum(-1)
        return out

    def cdf_and_pdf(self, row: IntArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """CDF and density of the mixtures of these rows at x, one each."""
        size = self._size[row]
        spread = np.sqrt(size * x * (1 - x))
        far = np.minimum(8.3 * spread + 25, self.total[row]).astype(np.int64)
        order = np.argsort(far, kind="stable")
        cdf, density = np.empty(x.size), np.empty(x.size)
        start = 0
        while start < order.size:
            some = order[start : start + max(1, _WINDOWED // (2 * int(far[order[start]]) + 1))]
            cdf[some], density[some] = self._window(row[some], x[some], int(far[some[-1]]))
            start += some.size
        return cdf, density

    def _window(self, row: IntArray, x: FloatArray, far: int) -> tuple[FloatArray, FloatArray]:
        """Sums over the components within ``far`` of the peak of D."""
        a0, b0, total, first = (y[row] for y in (self.a0, self.b0, self.total, self.first))
        peak = np.clip(np.floor((a0 + b0 + total - 1) * x - a0), 0, total)
        left, right = min(far, int(peak.max())), min(far, int((total - peak).max()))
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
        density = top * np.vecdot(np.take(self._padded[0], at), steps) / x
        below = np.take(self._padded[1], at)
        end = peak + right >= total
        if end.any():  # the last component has no next one: its own I, in place of a step
            last = (total - peak).astype(np.int64)[end] + left
            steps[np.flatnonzero(end), last] = 0.0
        cdf = top * np.vecdot(below, steps)
        cdf[end] += betainc(a0 + total, b0, x)[end]
        return np.asarray(cdf), np.asarray(density)


# Weights of many mixtures by one FFT ---
#
# One FFT without a tilt suffices when S is nearly flat over the bulk of f ∗ g, as it is when the
# human ratings are the paired ones. The rounding error that S amplifies is bounded: a row in which
# it may exceed 1e-12 of the mass is summed by `mixture`.

_ROUNDING = 1e-15  # rounding error of an FFT, relative to the norms of its inputs
_LOST = 1e-12  # share of the mass
_OUTSIDE = 1e-9  # the same for the part beyond the row, by a rough bound
_AT_ONCE = 1 << 17  # number of values that stays in the cache
_HUGE = 200_000  # components
_DENSE = 1 << 18  # numbers in one block of densities


def mixtures(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> Iterator[tuple[IntArray, Mixtures]]:
    """The mixtures of shapes (B,): groups of rows of similar size, with the weights of each."""
    if rates is not None:
        yield from _one_by_one(shape, rates, np.arange(shape.a0.size))
        return
    huge = shape.total > _HUGE
    for row in np.flatnonzero(huge):
        yield np.array([row]), _huge(*(float(x) for x in shape.draw(row)))
    rows = np.flatnonzero(~huge)
    spans = [peak_window(*law) for law in _beta_binomials(shape.draw(rows))]
    width = np.sum([left + right + 1 for _, left, right in spans], axis=0)
    order = np.argsort(width, kind="stable")
    hard, start = [np.empty(0, dtype=np.int64)], 0
    while start < order.size:
        some = order[start : start + max(1, _AT_ONCE // int(width[order[start]]))]
        start += some.size
        found, good = _weight_rows(shape.draw(rows[some]))
        if good.all():
            yield rows[some], found
        elif good.any():
            betas = (x[good] for x in (found.a0, found.b0, found.total))
            yield rows[some[good]], Mixtures(found.first[good], found.mass[good], *betas)
        hard.append(rows[some[~good]])
    yield from _one_by_one(shape, None, np.concatenate(hard))


@lru_cache(maxsize=1)
def _huge(*values: float) -> Mixtures:
    """The mixture of one study, cached since the next call is likely to be for the same study."""
    shape = Shapes(*(np.array([x]) for x in values))
    found, good = _weight_rows(shape)
    return found if good[0] else next(_one_by_one(shape, None, np.array([0])))[1]


def _one_by_one(
    shape: Shapes, rates: tuple[float, float] | None, rows: IntArray
) -> Iterator[tuple[IntArray, Mixtures]]:
    """Compute the mixtures one by one, at full precision."""
    for row in rows:
        one = mixture(shape.draw(row), rates)
        numbers = (np.array([x]) for x in (one.a0, one.b0, one.total))
        yield np.array([row]), Mixtures(np.array([one.first]), one.weights[None], *numbers)


def _beta_binomials(shape: Shapes) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """f and g, as (a, b, n)."""
    return [(shape.ar, shape.be, shape.m), (shape.br, shape.ae, shape.k)]


def _weight_rows(shape: Shapes) -> tuple[Mixtures, BoolArray]:
    """The mixtures of some studies, and whether each is accurate enough."""
    (start, f), (other, g) = (beta_binomial_rows(*law) for law in _beta_binomials(shape))
    first = start + other
    size = f.shape[1] + g.shape[1] - 1
    length = fft.next_fast_len(size, real=True)
    mass = fft.irfft(fft.rfft(f, length) * fft.rfft(g, length), length)[:, :size]
    noise = _ROUNDING * np.sqrt(np.vecdot(f, f) * np.vecdot(g, g))
    mass[mass < noise[:, None]] = 0.0
    held = np.flatnonzero(mass.any(0))
    first, size = first + held[0], int(held[-1] - held[0]) + 1
    mass = mass[:, held[0] : held[-1] + 1]
    s = first[:, None] + np.arange(size)
    mass *= (s >= 0) & (s <= shape.total[:, None])
    if np.any(shape.a0 != shape.ar + shape.br) or np.any(shape.b0 != shape.ae + shape.be):
        with np.errstate(over="ignore", invalid="ignore"):
            factor = _factor_rows(shape, first, size)
            mass *= factor
            outside = noise * _factor_beyond(shape, first, size, factor)
            noise *= factor.sum(-1)
    else:
        outside = noise * shape.total
        noise *= size
    total = mass.sum(-1)
    good = np.isfinite(total) & (noise < _LOST * total) & (outside < _OUTSIDE * total)
    mass = mass / np.where(good, total, 1.0)[:, None]
    return Mixtures(first, mass, shape.a0, shape.b0, shape.total), good


def _factor_beyond(shape: Shapes, first: IntArray, size: int, factor: FloatArray) -> FloatArray:
    """A bound on the sum of S over all s outside a row, in the units of ``factor``.

    S is a product of two factors, each monotone in s.
    """
    n = shape.total

    def logs(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        up = gammaln(shape.a0 + s) - gammaln(shape.ar + shape.br + s)
        return up, gammaln(shape.b0 + n - s) - gammaln(shape.ae + shape.be + n - s)

    middle = np.clip((first + size // 2).astype(np.float64), 0.0, n)
    at = (middle - first).astype(np.int64)
    here = factor[np.arange(len(first)), at]
    bound = np.zeros(len(first))
    for end, edge in ((np.zeros_like(n), np.maximum(first, 0.0)), (n, np.minimum(first + size, n))):
        pairs = zip(logs(end), logs(edge), logs(middle), strict=True)
        rise = sum((np.maximum(a, b) - c for a, b, c in pairs), np.zeros(len(first)))
        bound += np.abs(edge - end) * np.exp(rise)
    return np.asarray(bound * here)


def _factor_rows(shape: Shapes, first: IntArray, size: int) -> FloatArray:
    """S(s) for s = first, …, first + size − 1, up to a constant; 0 outside the range of s."""
    a0, b0, ar, br, ae, be, m, k = (x[:, None] for x in shape)
    total = m + k
    if np.all(a0 + 1 == ar + br) and np.all(b0 + 1 == ae + be):
        # Uniform priors and all human ratings paired: Γ(a0 + s) / Γ(a0 + s + 1), and so for b0.
        s = first[:, None] + np.arange(size)
        inside = (s >= 0) & (s <= total)
        s = np.where(inside, s, 0)
        return np.asarray(inside / ((a0 + s) * (b0 + total - s)))
    middle = np.clip(first + size // 2, 0, shape.total).astype(np.int64)
    mid = middle[:, None].astype(np.float64)
    right, left = size - int((middle - first).min()), int((middle - first).max())
    s = np.minimum(mid + np.arange(right), total)
    rest = total - 1 - s
    inside = (s < total).astype(np.float64)
    up = inside * (a0 + s) * (ae + be + rest) / ((ar + br + s) * np.maximum(b0 + rest, 1e-300))
    s = np.maximum(mid - 1 - np.arange(left), -1)
    rest = total - 1 - s
    inside = (s >= 0).astype(np.float64)
    down = inside * (ar + br + s) * (b0 + rest) / (np.maximum(a0 + s, 1e-300) * (ae + be + rest))
    values = _outwards(up, down)
    at = (first - middle)[:, None] + left + np.arange(size)
    return np.asarray(np.take_along_axis(values, np.clip(at, 0, values.shape[1] - 1), axis=1))


# Draws of α, ρ and η through the hidden counts: how many of the metric's ones are adequate ---
#
# s, the adequate items of both kinds together, comes from the weights of the mixture. Given s, the
# probability of i among the ones is proportional to f(i) g(s − i), which is log-concave if no shape
# is below 1. Then draws are made by rejection, all at once: the envelope is flat between the points
# on either side of the peak where it has fallen by a factor of e, with geometric tails through
# these.


# Above this many metric-only ratings, joint samples come from importance weighting, if the weights
# are flat.
_LARGE, _FLAT = 1_000_000, 20.0
_PROPOSALS = 50  # for each draw


def sample_rates(
    shape: Shapes, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws of α, ρ and η from their joint posterior, each (size,).

    Exact: draw the hidden numbers of adequate items, then α, ρ and η, which are Betas given these.
    With many metric-only ratings, draws of the reverse factorisation are reweighted instead.
    """
    up = float(shape.a0 - shape.ar - shape.br)
    down = float(shape.b0 - shape.ae - shape.be)
    if shape.total <= _LARGE or max(abs(up), abs(down)) > _FLAT:
        i, j = draw_hidden(shape, size, rng)
        hidden = i + j, shape.total - i - j
        alpha = rng.beta(shape.a0 + hidden[0], shape.b0 + hidden[1])
        rho = rng.beta(shape.ar + i, shape.br + j)
        eta = rng.beta(shape.ae + shape.k - j, shape.be + shape.m - i)
        return alpha, rho, eta
    many = _PROPOSALS * size
    psi = rng.beta(shape.m + shape.ar + shape.be, shape.k + shape.br + shape.ae, many)
    hit, miss = rng.beta(shape.ar, shape.be, many), rng.beta(shape.br, shape.ae, many)
    alpha = psi * hit + (1 - psi) * miss
    log_w = up * np.log(alpha) + down * np.log1p(-alpha)
    weight = np.exp(log_w - log_w.max())
    chosen = rng.choice(many, size, p=weight / weight.sum())
    alpha, psi, hit, miss = (x[chosen] for x in (alpha, psi, hit, miss))
    return alpha, psi * hit / alpha, (1 - psi) * (1 - miss) / (1 - alpha)


def draw_hidden(
    shape: Shapes, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of i and j, the adequate items among the ones and the zeros of the metric."""
    log_f, log_g, log_s = log_factors(shape)
    first, log_w = log_weights(log_f, log_g, log_s)
    weights = np.exp(log_w - log_w.max())
    drawn = first + rng.choice(weights.size, size, p=weights / weights.sum())
    concave = min(float(x) for x in (shape.ar, shape.br, shape.ae, shape.be)) >= 1
    i = (_by_rejection if concave else _by_sums)(log_f, log_g, drawn, rng)
    return i.astype(np.float64), (drawn - i).astype(np.float64)


def _by_sums(
    log_f: FloatArray, log_g: FloatArray, drawn: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draws of i given each s, from the full table of probabilities."""
    out = np.empty(drawn.size, dtype=np.int64)
    for s in np.unique(drawn):
        low, high = max(0, s - log_g.size + 1), min(s, log_f.size - 1)
        terms = log_f[low : high + 1] + log_g[s - high : s - low + 1][::-1]
        chance = np.exp(terms - terms.max())
        here = drawn == s
        out[here] = low + rng.choice(chance.size, int(here.sum()), p=chance / chance.sum())
    return out


def _by_rejection(
    log_f: FloatArray, log_g: FloatArray, drawn: IntArray, rng: np.random.Generator
) -> IntArray:
    """The same by rejection, if the probabilities are log-concave."""
    low = np.maximum(0, drawn - log_g.size + 1)
    high = np.minimum(drawn, log_f.size - 1)

    def log_chance(i: IntArray, s: IntArray = drawn) -> FloatArray:
        return np.asarray(log_f[i] + log_g[s - i])

    def falls(i: IntArray) -> BoolArray:
        return np.asarray(log_chance(np.minimum(i + 1, high)) <= log_chance(i))

    def fallen_at(i: IntArray) -> BoolArray:
        return np.asarray(log_chance(i) <= top - 1)

    def fallen_back(steps: IntArray) -> BoolArray:
        return fallen_at(np.asarray(mode - steps))

    mode = _first(falls, low, high)
    top = log_chance(mode)
    right = _first(fallen_at, mode, high)
    left = np.asarray(mode - _first(fallen_back, np.zeros_like(mode), np.asarray(mode - low)))
    tails = []
    for end, last in ((left, low), (right, high)):
        gap = np.abs(end - mode)
        fallen = log_chance(end) - top
        slope = fallen / np.maximum(gap, 1)
        open_ = (end != last) & (gap > 0) & (slope < 0)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            mass = np.exp(fallen + slope) / -np.expm1(slope)
        tails.append((fallen, np.where(open_, slope, -1.0), np.where(open_, mass, 0.0)))
    centre = (right - left + 1).astype(np.float64)
    out = np.empty(drawn.size, dtype=np.int64)
    todo = np.arange(drawn.size)
    while todo.size:
        at = rng.random(todo.size) * (centre + tails[0][2] + tails[1][2])[todo]
        i = left[todo] + np.minimum(at, centre[todo] - 1).astype(np.int64)
        bound = top[todo].copy()
        for sign, end, (fallen, slope, mass), start in (
            (-1, left, tails[0], centre),
            (1, right, tails[1], centre + tails[0][2]),
        ):
            here = (at >= start[todo]) & (at < (start + mass)[todo])
            rows = todo[here]
            steps = 1 + np.floor(np.log1p(-rng.random(rows.size)) / slope[rows]).astype(np.int64)
            i[here] = end[rows] + sign * steps
            bound[here] += fallen[rows] + slope[rows] * steps
        inside = (i >= low[todo]) & (i <= high[todo])
        i = np.clip(i, low[todo], high[todo])
        log_odds = log_chance(i, drawn[todo]) - bound
        taken = inside & (np.log1p(-rng.random(todo.size)) <= log_odds)
        out[todo[taken]] = i[taken]
        todo = todo[~taken]
    return out


def _first(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """The first place from low to high where a monotone condition holds; otherwise high."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        found = holds(middle)
        high = np.where(found, middle, high)
        low = np.where(found, low, np.minimum(middle + 1, high))
    return np.asarray(low)
