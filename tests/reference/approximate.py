"""Intervals of simple random samples, one draw at a time and in plain steps."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

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


def _replicates(x, size, statistic):
    """A statistic of all samples of n from a pool of copies of x, with chances: [(value, p)].

    In ascending order. The pool holds each rating size/n times, and every set of n of its members
    is as likely as any other (Booth, Butler and Hall 1994).
    """
    n = len(x)
    assert size % n == 0
    chances = {}
    for some in combinations([v for v in x for _ in range(size // n)], n):
        value = round(statistic(some), 9)
        chances[value] = chances.get(value, 0) + Fraction(1, math.comb(size, n))
    return sorted(chances.items())


def bootstrap_t(x, size):
    """Studentised errors of the replicates, with their chances.

    A replicate's standard deviation counts as a third of that of x (divisor n) at the least.
    """
    n, mean = len(x), sum(x) / len(x)
    least = sum((v - mean) ** 2 for v in x) / n / 9

    def studentised(some):
        own = sum(some) / n
        variance = max(sum((v - own) ** 2 for v in some) / (n - 1), least)
        return (own - mean) / math.sqrt(variance * (1 - n / size) / n)

    return _replicates(x, size, studentised)


def bca(x, size, u):
    """The BCa interval's end at the standard normal point u, in standard errors from the mean.

    Returns it with how far the chance that it stands for lies from those of its neighbours: the
    simulated end is the same only where that is more than the simulation's error. Errors are
    standardised by their own standard deviation, and a = (1+f) γ̂ / (6 √(n(1−f))).
    """
    from scipy import stats

    n, f, mean = len(x), len(x) / size, sum(x) / len(x)
    errors = _replicates(x, size, lambda some: sum(some) / n - mean)
    sd = math.sqrt(sum(float(p) * e**2 for e, p in errors))
    below = sum(float(p) * (1.0 if e < -1e-9 else 0.5 if e < 1e-9 else 0.0) for e, p in errors)
    bias = stats.norm.ppf(below)
    a = (1 + f) * stats.skew(x, bias=False) / (6 * math.sqrt(n * (1 - f)))
    w = bias + u
    chance = stats.norm.cdf(bias + w / max(1 - a * w, 0.1))
    total = 0.0
    for error, p in errors:
        if total <= chance <= total + float(p):
            return error / sd, min(chance - total, total + float(p) - chance)
        total += float(p)
    raise AssertionError("chances sum to 1")


def rao_wu(strata, sizes):
    """Errors of all of Rao and Wu's replicates of a stratified mean, with their chances.

    Of the m ratings of a stratum m − 1 are drawn with replacement; the error is the sum of
    W_h √(1 − f_h) (ȳ*_h − ȳ_h) (Rao and Wu 1988, eq. 4.1 with m_h = n_h − 1).
    """
    chances = {0.0: Fraction(1)}
    for own, size in zip(strata, sizes, strict=True):
        m, mean = len(own), sum(own) / len(own)
        scale = size / sum(sizes) * math.sqrt(1 - m / size)
        new = {}
        for some in product(own, repeat=m - 1):
            error = scale * (sum(some) / (m - 1) - mean)
            for before, p in chances.items():
                total = round(before + error, 12)
                new[total] = new.get(total, 0) + p * Fraction(1, m ** (m - 1))
        chances = new
    return sorted(chances.items())


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
