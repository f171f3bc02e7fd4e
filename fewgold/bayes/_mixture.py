"""The posterior of α as a finite mixture of Betas, by a convolution.

Write each item that only the metric rated as one of four kinds: i of the m ones are adequate, and
j of the k zeros. Then p^m (1 − p)^k is a sum over i and j of products of powers, and integrating
α, ρ and η leaves, with s = i + j and N = m + k,

    p(α | data) = Σ_s W_s Beta(α; a0 + s, b0 + N − s),    W_s ∝ S(s) (f ∗ g)(s),
    f(i) = BetaBinomial(i; m, ar, be),    g(j) = BetaBinomial(j; k, br, ae),
    S(s) = Γ(a0 + s) Γ(b0 + N − s) / (Γ(ar + br + s) Γ(ae + be + N − s)).

All terms are positive, so the sum loses no digits; a convolution by FFT does, since its error is
relative to the largest value and S may put the weight far out in the tail. So f and g are tilted,
f(i) e^{θi} and g(j) e^{θj}: that multiplies f ∗ g by e^{θs} and moves its peak to where it is
needed. Where one tilt does not reach, the next starts at its end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.special import betaln

from fewgold._arrays import FloatArray
from fewgold.bayes._priors import Shapes

#: Weights below e^−DROP of the largest are left out.
DROP = 46.0
# Convolutions of up to so many products are summed directly, which keeps all digits down to e^−600.
_DIRECT = 300_000
# An FFT is wrong by about 1e-16 of the norms: above this share of them 9 digits are right.
_RELIABLE = 1e-7
# Above so many components the density is summed from those near α.
_MANY = 30_000
_POINTS = 400  # to find the first tilt with
_SURE = 1e-15  # a known rate of 0 or 1 is off by no more than rounding


class Mixture(NamedTuple):
    """Weights of the components s = first, first + 1, …, and the parameters of the Betas."""

    first: int
    weights: FloatArray
    a0: float
    b0: float
    total: float

    def _components(self, of: slice = slice(None)) -> tuple[FloatArray, FloatArray]:
        """Parameters of the Betas, or of some of them."""
        s = self.first + np.arange(*of.indices(self.weights.size), dtype=np.float64)
        return self.a0 + s, self.b0 + (self.total - s)

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        a, b = self._components()
        size = self.a0 + self.b0 + self.total
        mean = float(self.weights @ a) / size
        within = float(self.weights @ (a * b)) / (size * size * (size + 1))
        return mean, within + float(self.weights @ (a / size - mean) ** 2)

    def log_density(self, alpha: FloatArray, beta: FloatArray) -> FloatArray:
        """Log density of α at ``alpha`` = 1 − ``beta``, each (n,)."""
        if self.weights.size > _MANY:
            # A component matters near its own mean only: within 15 sd no weight makes up for it.
            reach = 15 * np.sqrt(self.total * alpha * beta) + 100
            first = np.floor(self.total * alpha - reach) - self.first
            last = np.ceil(self.total * alpha + reach) - self.first
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
        top = terms.max(-1)
        terms -= top[:, None]
        return np.asarray(top + np.log(np.exp(terms, out=terms).sum(-1)))


def mixture(shape: Shapes, rates: tuple[float, float] | None = None) -> Mixture:
    """The mixture for one set of shapes (scalars); ``rates`` are ρ and η where they are known."""
    first, log_w = product(*factors(shape, rates))
    weights = np.exp(log_w - log_w.max())
    size = float(shape.total)
    return Mixture(first, weights / weights.sum(), float(shape.a0), float(shape.b0), size)


def factors(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logarithms of f, g and S."""
    a0, b0, ar, br, ae, be, m, k = (float(x) for x in shape)
    i, j, s = (np.arange(n, dtype=np.float64) for n in (m, k, m + k))
    rest = m + k - 1 - s
    if rates is None:
        return (
            _running((m - i) * (ar + i), (i + 1) * (be + (m - 1 - i))),
            _running((k - j) * (br + j), (j + 1) * (ae + (k - 1 - j))),
            _running((a0 + s) * (ae + be + rest), (ar + br + s) * (b0 + rest)),
        )
    # f and g are binomial, and nothing of ρ and η is integrated.
    rho, eta = (min(max(rate, _SURE), 1 - _SURE) for rate in rates)
    return (
        _running((m - i) * rho, (i + 1) * (1 - eta)),
        _running((k - j) * (1 - rho), (j + 1) * eta),
        _running(a0 + s, b0 + rest),
    )


def urn(a: float, b: float, n: int) -> FloatArray:
    """Chances of 0, 1, …, n of BetaBinomial(n; a, b)."""
    i = np.arange(n, dtype=np.float64)
    logs = _running((n - i) * (a + i), (i + 1) * (b + (n - 1 - i)))
    chance = np.exp(logs - logs.max())
    return np.asarray(chance / chance.sum())


def _running(up: FloatArray, down: FloatArray) -> FloatArray:
    """Logarithms of a sequence from the ratios of its neighbours; more exact than log Γ."""
    return np.concatenate([[0.0], np.cumsum(np.log(up / down))])


def product(
    log_f: FloatArray, log_g: FloatArray, log_s: FloatArray, direct: bool | None = None
) -> tuple[int, FloatArray]:
    """Log of S(s) (f ∗ g)(s) on the range of s that matters, and where the range starts.

    ``direct`` sums term by term; by default where that is quick, and where f or g has two peaks
    (shapes below 1), which no tilt brings together.
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
        return product(log_f, log_g, log_s, direct=True)
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
    """First and last s around the tilted peak that are exact, and log (f ∗ g) between them."""
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
