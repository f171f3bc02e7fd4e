"""Sequences the slow way: a grid of means, one rating after the other.

Written from the formulas: Waudby-Smith and Ramdas (2020) for the capital, bets d/(v + d²), Hall
(1992) for the approximate rule.
"""

import numpy as np
from scipy.stats import skew, t

from reference.intervals import bets_for_tolerance


def scan_path(scores, size, limits, tolerance, confidence=0.95, *, told=None, steps=1000):
    """Ends after each rating: the last mean from either side that was ever refused."""
    low, high = limits
    unit = (np.asarray(scores, float) - low) / (high - low)
    told, least, most = told or (np.zeros(len(unit)),) * 3
    wanted = tolerance / (high - low)

    def ends(x, payoffs, margins):
        stakes = bets_for_tolerance(payoffs, size, wanted)
        capital = np.ones(steps + 1)
        refused = np.zeros(steps + 1, dtype=bool)
        seen, found = 0.0, []
        for s in range(len(x)):
            for k in range(steps + 1):
                mean = (size * k / steps - seen) / (size - s)
                if mean < -1e-9:
                    refused[k] = True  # more was seen than there is
                if refused[k]:
                    continue
                mean = max(mean, 0.0)
                room = mean + margins[s]
                bet = min(stakes[s], 0.9 / room) if room > 0 else stakes[s]
                capital[k] *= 1 + bet * (payoffs[s] - mean)
                if capital[k] >= 2 / (1 - confidence):
                    refused[k] = True
            seen += x[s]
            last = 0
            while last < steps and refused[last + 1]:
                last += 1
            found.append(max(last / steps, seen / size))
        return np.array(found)

    left = ends(unit, unit - told, np.maximum(most, 0))
    right = ends(1 - unit, 1 - unit + told, np.maximum(-least, 0))
    return low + (high - low) * left, high - (high - low) * right


def hall(scores, size, confidence=0.95, metric=None, rows=None):
    """Hall's interval of all these ratings, with the regression on a metric if there is one."""
    n = len(scores)
    f = n / size
    x, value, df = scores, scores.mean(), n - 1
    if metric is not None:
        z = metric[rows]
        slope = np.cov(z, scores)[0, 1] / np.var(z, ddof=1)
        value = scores.mean() - slope * (z.mean() - metric.mean())
        x, df = scores - slope * z, n - 2
    se = np.sqrt(((x - x.mean()) ** 2).sum() / df * (1 - f) / n)
    a = skew(x, bias=False) / np.sqrt(n * (1 - f))
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    u = t.ppf((1 + confidence) / 2, df)

    def g(v):
        return (np.cbrt(1 + 3 * p * (v - q)) - 1) / p

    return value - se * g(u), value - se * g(-u)
