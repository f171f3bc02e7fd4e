"""A convolution that is exact far out in its tails, weighed by a third sequence.

All terms of f ∗ g are positive, so a direct sum loses no digits; a convolution by FFT does, since
its error is relative to the largest value and S may put the weight far out in the tail. So f and g
are tilted, f(i) e^{θi} and g(j) e^{θj}: that multiplies f ∗ g by e^{θs} and moves its peak to where
it is needed. Where one tilt does not reach, the next starts at its end.
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from fewgold._arrays import FloatArray

#: Weights below e^−DROP of the largest are left out.
DROP = 46.0
# Convolutions of up to so many products are summed directly, which keeps all digits down to e^−600.
_DIRECT = 300_000
# An FFT is wrong by about 1e-16 of the norms: above this share of them 9 digits are right.
_RELIABLE = 1e-7
_POINTS = 400  # to find the first tilt with


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
