"""Hall's interval after each rating: the approximate rule."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from fewgold._arrays import FloatArray, IntArray

# Ratings before which the rule does not look: chance would stop it there.
FIRST, SHARE = 50, 0.1


def first_look(size: int) -> int:
    """Ratings after which the rule looks for the first time."""
    return min(size, max(FIRST, int(np.ceil(SHARE * size))))


def hall_path(
    scores: FloatArray,
    size: int,
    confidence: float,
    metric: tuple[FloatArray, IntArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Ends of the interval of the ratings so far, on the scale from 0 to 1: (draws, n) each.

    Student's interval with finite population correction, corrected for the skewness (Hall 1992;
    Sugden, Smith and Jones 2000 for finite populations). A metric enters by the regression on it.
    Infinite before the third rating.
    """
    n = np.arange(1.0, scores.shape[-1] + 1)
    if metric is None:
        value, second, third = _moments(scores, None, 0.0)
        df = n - 1
    else:
        value, second, third = _moments(scores, metric[0][metric[1]], float(metric[0].mean()))
        df = n - 2
    left = 1 - n / size
    known = (n >= 4) & (left > 0)
    se = np.sqrt(np.maximum(second, 0.0) / np.maximum(df, 1.0) * np.maximum(left, 0.0))
    spread = second > 1e-15
    skew = np.where(spread, third / np.where(spread, second, 1.0) ** 1.5, 0.0)
    skew *= np.sqrt(n * np.maximum(n - 1, 1.0)) / np.maximum(n - 2, 1.0)
    a = skew / np.sqrt(n * np.where(known, left, 1.0))
    t = stdtrit(np.maximum(df, 1.0), (1 + confidence) / 2)
    low = value - se * np.maximum(_untwist(t, a, n / size), 0.0)
    high = value - se * np.minimum(_untwist(-t, a, n / size), 0.0)
    # Ratings that are all alike say nothing of the spread: were a share q of the pool at the end of
    # the scale, n ratings would miss all of it with a chance of (1 − q)^n.
    alike = np.maximum.accumulate(scores, -1) == np.minimum.accumulate(scores, -1)
    rare = np.where(alike, left * (1 - ((1 - confidence) / 2) ** (1 / n)), 0.0)
    low, high = np.minimum(low, value - rare), np.maximum(high, value + rare)
    low, high = np.where(known, low, -np.inf), np.where(known, high, np.inf)
    if scores.shape[-1] == size:
        low[:, -1] = high[:, -1] = scores.mean(-1)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _moments(
    x: FloatArray, z: FloatArray | None, centre: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimate, and second and third central moment of the residuals, of the ratings so far."""
    n = np.arange(1.0, x.shape[-1] + 1)
    first = x[:, :1]
    x = x - first  # small spreads would lose their digits in the powers

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.cumsum(values, axis=-1) / n)

    x1, x2, x3 = mean(x), mean(x**2), mean(x**3)
    second, third = x2 - x1**2, x3 - 3 * x1 * x2 + 2 * x1**3
    if z is None:
        return first + x1, second, third
    z = z - centre
    z1, z2, z3, xz, xxz, xzz = (mean(v) for v in (z, z**2, z**3, x * z, x * x * z, x * z * z))
    cross, square = xz - x1 * z1, z2 - z1**2
    usable = square > 1e-12
    slope = np.where(usable, cross / np.where(usable, square, 1.0), 0.0)
    # Central moments of the pair, then those of x − slope · z.
    c_xxz = xxz - 2 * x1 * xz - z1 * x2 + 2 * x1**2 * z1
    c_xzz = xzz - 2 * z1 * xz - x1 * z2 + 2 * x1 * z1**2
    c_zzz = z3 - 3 * z1 * z2 + 2 * z1**3
    third = third - 3 * slope * c_xxz + 3 * slope**2 * c_xzz - slope**3 * c_zzz
    return first + x1 - slope * z1, second - slope * cross, third


def _untwist(u: FloatArray, a: FloatArray, f: FloatArray) -> FloatArray:
    """The deviation that a skewed mean is to be taken to have, for one of ``u`` without skew."""
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    none = np.abs(p) < 1e-9
    safe = np.where(none, 1.0, p)
    return np.asarray(np.where(none, u - q, (np.cbrt(1 + 3 * safe * (u - q)) - 1) / safe))
