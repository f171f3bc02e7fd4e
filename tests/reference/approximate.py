"""Intervals of simple random samples, one draw at a time and in plain steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def maurer_pontil(x, span, delta):
    """Half-width: s sqrt(2 ln(4/δ)/n) + 7 R ln(4/δ)/(3(n−1))."""
    n, log = len(x), math.log(4 / delta)
    mean = sum(x) / n
    s = math.sqrt(sum((v - mean) ** 2 for v in x) / (n - 1))
    return s * math.sqrt(2 * log / n) + 7 * span * log / (3 * (n - 1))


def bernstein_serfling(x, size, span, delta):
    """Half-width: σ̂ sqrt(2 ρ l/n) + (7/3 + 3/√2) R l/n, l = ln(7/δ)."""
    n, log = len(x), math.log(7 / delta)
    mean = sum(x) / n
    sd = math.sqrt(sum((v - mean) ** 2 for v in x) / n)
    rho = 1 - (n - 1) / size if 2 * n <= size else (1 - n / size) * (1 + 1 / n)
    first = sd * math.sqrt(2 * rho * log / n)
    return first + (7 / 3 + 3 / math.sqrt(2)) * span * log / n


def chance_of(k, size, ones, n):
    """P(X = k) for k ones among n of a pool, exactly."""
    if k > ones or n - k > size - ones:
        return Fraction(0)
    ways = math.comb(ones, k) * math.comb(size - ones, n - k)
    return Fraction(ways, math.comb(size, n))


def hypergeometric(k, n, size, delta):
    """The numbers of ones in the pool that neither tail rejects, by trying all: first and last."""
    tail = Fraction(delta) / 2
    held = [
        ones
        for ones in range(size + 1)
        if sum(chance_of(j, size, ones, n) for j in range(k, n + 1)) > tail
        and sum(chance_of(j, size, ones, n) for j in range(k + 1)) > tail
    ]
    return held[0], held[-1]


def hall(x, size, delta):
    """Skew-corrected Student interval with a finite population, as the table of formulas has it."""
    from scipy import stats

    n = len(x)
    f = n / size
    se = np.std(x, ddof=1) * math.sqrt((1 - f) / n)
    a = stats.skew(x, bias=False) / math.sqrt(n * (1 - f))
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    t = stats.t.ppf(1 - delta / 2, n - 1)

    def g(u):
        return (np.cbrt(1 + 3 * p * (u - q)) - 1) / p

    return np.mean(x) - se * g(t), np.mean(x) - se * g(-t)
