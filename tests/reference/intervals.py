"""Guaranteed intervals the slow way: one rating after the other, one mean after the other.

Written from the formulas: Waudby-Smith and Ramdas (2020, 2024) for betting, Voráček and Orabona
(2025) for bets that go by the capital that is still missing, Gaffke (2005) for the urn.
"""

import math
from fractions import Fraction

import numpy as np


def bets_by_size(payoffs, size, miss, prior=0.05, weight=2.0):
    """λ_t = w_t sqrt(2 ln(1/δ)/(v_{t−1} Σ w²)), w_t = (N − n)/(N − t), v from the past."""
    n = len(payoffs)
    w = [(size - n) / (size - t) for t in range(1, n + 1)]
    total = sum(x * x for x in w)
    bets, squares, seen = [], 0.0, 0.0
    for t in range(1, n + 1):
        v = (weight * prior + squares) / (weight + t - 1)
        bets.append(w[t - 1] * math.sqrt(2 * math.log(1 / min(miss, 0.1)) / (v * total)))
        seen += payoffs[t - 1]
        squares += (payoffs[t - 1] - seen / t) ** 2
    return bets


def bets_for_tolerance(payoffs, size, tolerance, prior=0.05, weight=2.0):
    """λ_t = d_t/(v_{t−1} + d_t²) with d_t = tolerance · N/(N − t + 1)."""
    bets, squares, seen = [], 0.0, 0.0
    for t in range(1, len(payoffs) + 1):
        v = (weight * prior + squares) / (weight + t - 1)
        d = tolerance * size / (size - t + 1)
        bets.append(d / (v + d * d))
        seen += payoffs[t - 1]
        squares += (payoffs[t - 1] - seen / t) ** 2
    return bets


def foretold(scores, metric, rows, start=10, shrink=10.0):
    """β_{t−1}(z_t − z̄ of what is left) and the least and largest it could have been."""
    z = (metric - metric.mean()) / metric.std()
    z = np.clip(z, -3, 3)
    left = set(range(len(z)))
    told, least, most = [], [], []
    for t, row in enumerate(rows):
        centre = np.mean([z[i] for i in left])
        slope = 0.0
        if t >= start:
            past = z[rows[:t]]
            slope = np.cov(past, scores[:t])[0, 1] / np.var(past, ddof=1) * t / (t + shrink)
        told.append(slope * (z[row] - centre))
        ends = slope * (z.min() - centre), slope * (z.max() - centre)
        least.append(min(ends))
        most.append(max(ends))
        left.remove(row)
    return np.array(told), np.array(least), np.array(most)


def ever_refused(scores, payoffs, margins, bets, size, mean, miss, cap=0.9):
    """Does the capital ever reach 1/δ, if ``mean`` is the mean of the pool? Scores in [0, 1]."""
    capital, seen = 1.0, 0.0
    for t in range(len(scores)):
        mu = (size * mean - seen) / (size - t)
        if mu < -1e-9:
            return True  # more was seen than there is
        mu = max(mu, 0.0)
        most = cap / (mu + margins[t]) if mu + margins[t] > 0 else math.inf
        capital *= 1 + min(bets[t], most) * (payoffs[t] - mu)
        if capital >= 1 / miss:
            return True
        seen += scores[t]
    return seen > size * mean + 1e-9


def scan(scores, size, limits, confidence=0.95, *, steps=1000, bets=bets_by_size, told=None):
    """Ends of the interval on a grid of means: the last refused one from either side."""
    low, high = limits
    unit = (np.asarray(scores, float) - low) / (high - low)
    told, least, most = told or (np.zeros(len(unit)),) * 3
    miss = (1 - confidence) / 2

    def end(x, payoffs, margins):
        stakes = bets(payoffs, size, miss)
        k = 0
        while k <= steps and ever_refused(x, payoffs, margins, stakes, size, k / steps, miss):
            k += 1
        return max(k - 1, 0) / steps

    left = end(unit, unit - told, np.maximum(most, 0))
    right = end(1 - unit, 1 - unit + told, np.maximum(-least, 0))
    return low + (high - low) * left, high - (high - low) * right


def star_capital(scores, payoffs, margins, size, end, mean, miss, prior=0.05, weight=2.0):
    """Highest capital against ``mean`` of bets that are made for ``end``, the end of its cell."""
    n = len(scores)
    w = [((size - n) / (size - t)) ** 2 for t in range(1, n + 1)]
    own = against = best = 1.0
    seen = told = squares = 0.0
    for t in range(n):
        mu = (size * end - seen) / (size - t)
        v = (weight * prior + squares) / (weight + t)
        if t:
            v += max(told / t - mu, 0) ** 2 * t / (t + weight)
        log = max(math.log(1.1 / (miss * own)), 0)
        bet = 0.9 * math.sqrt(2 * log * w[t] / (v * sum(w[t:])))
        bet = min(bet, 0.95 / (mu + margins[t]))
        own *= 1 + bet * (payoffs[t] - mu)
        against *= 1 + bet * (payoffs[t] - (size * mean - seen) / (size - t))
        best = max(best, against)
        seen += scores[t]
        told += payoffs[t]
        squares += (payoffs[t] - told / (t + 1)) ** 2
    return best


def star_low(scores, size, miss, told=None, scout=0.01, cell=0.04):
    """The lower end by STaR: through all cells from the floor that plain betting gives."""
    scores = np.asarray(scores, float)
    told, most = (np.zeros(len(scores)),) * 2 if told is None else (told[0], told[2])
    payoffs, margins = scores - told, np.maximum(most, 0)
    n, total = len(scores), float(np.sum(scores))

    def halve(low, high, refused):
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if refused(middle) else (low, middle)
        return low

    stakes = bets_by_size(payoffs, size, scout * miss)

    def plain(m):
        return ever_refused(scores, payoffs, margins, stakes, size, m, scout * miss)

    floor = halve(total / size, 1.0, plain)
    angle = cell * math.sqrt((1 - n / size) / n)
    k = math.floor(math.asin(math.sqrt(floor)) / angle) + 1
    rest = (1 - scout) * miss
    below = floor
    while below < (total + size - n) / size:
        end = math.sin(min(k * angle, math.pi / 2)) ** 2
        if star_capital(scores, payoffs, margins, size, end, end, rest) < 1 / rest:
            return halve(
                below,
                end,
                lambda m, end=end: (
                    star_capital(scores, payoffs, margins, size, end, m, rest) >= 1 / rest
                ),
            )
        below = end
        k += 1
    return below


def hypergeometric(ones, n, size, confidence):
    """Counts of ones in the pool under which ``ones`` of n is not too many, nor too few.

    In whole numbers: a tail of just δ/2 is refused, which rounding would leave to chance.
    """
    tail = (1 - Fraction(str(confidence))) / 2 * math.comb(size, n)

    def ways(count, seen):
        return sum(math.comb(count, k) * math.comb(size - count, n - k) for k in seen)

    fit = [
        count
        for count in range(ones, size - (n - ones) + 1)
        if ways(count, range(ones, n + 1)) > tail and ways(count, range(ones + 1)) > tail
    ]
    return fit[0], fit[-1]


def polya_sums(scores, size, top, fillings, seed=3):
    """Sums of the pool when the unrated are drawn from the urn, the guard at 0 and at the top."""
    rng = np.random.default_rng(seed)
    n = len(scores)
    at_bottom, at_top = [], []
    for _ in range(fillings):
        balls = list(range(n + 1))  # the last is the guard
        drawn = np.zeros(n + 1)
        for pick in rng.random(size - n):
            ball = balls[int(pick * len(balls))]
            drawn[ball] += 1
            balls.append(ball)
        total = np.sum(scores) + drawn[:n] @ scores
        at_bottom.append(total)
        at_top.append(total + top * drawn[n])
    return np.array(at_bottom), np.array(at_top)


def stratified_low(scores, strata, sizes, miss, prior=0.05, weight=3.0, cap=0.9):
    """The lower end for strata: capital by mean, one rating after the other; scores in [0, 1].

    The product of (1 + c a (x − p)) exp(−c a (μ − p)) has the logarithm
    c (value − mean) − Σ (y − ln(1 + y)), y = c a (x − p), since Σ a (x − μ) = value − mean.
    """
    scores, total = np.asarray(scores, float), sum(sizes)
    counts = [int(np.sum(strata == h)) for h in range(len(sizes))]
    turns, seen = [], [0] * len(sizes)
    for h in strata:
        turns.append(seen[h])
        seen[h] += 1
    pace = [(turns[i] + 0.5) / counts[h] for i, h in enumerate(strata)]
    value = sum(sizes[h] / total * np.mean(scores[strata == h]) for h in range(len(sizes)))
    lever, guess = [], []
    past, own = [], [[] for _ in sizes]
    order = sorted(range(len(scores)), key=lambda i: (pace[i], i))
    for i in order:
        h = strata[i]
        n, size, t = counts[h], sizes[h], turns[i] + 1
        lever.append(size / total * (size - n) / (n * (size - t)) if size > n else 0.0)
        overall = (sum(past) + 0.25) / (len(past) + 0.5)
        guess.append((sum(own[h]) + weight * overall) / (len(own[h]) + weight))
        past.append(scores[i])
        own[h].append(scores[i])
    scale = math.sqrt(2 * math.log(40) / (prior * sum(a * a for a in lever)))

    def capital(mean):
        whole = 0.0
        for times, stake in ((0.25, 0.1), (0.5, 0.2), (1, 0.4), (2, 0.2), (4, 0.1)):
            c, log = times * scale, 0.0
            for i, a, expected in zip(order, lever, guess, strict=True):
                p = min(expected, cap / (c * a)) if a else expected
                log -= c * a * (scores[i] - p) - math.log1p(c * a * (scores[i] - p))
            whole += stake * math.exp(min(log + c * (value - mean), 700))
        return whole

    low, high = 0.0, value
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if capital(middle) >= 1 / miss else (low, middle)
    return max(low, float(np.sum(scores)) / total)
