"""Categories of a metric the slow way, written from the formulas.

v_j ~ Beta(κ μ_j, κ (1 − μ_j)) with κ from a list and μ_j = logistic(θ + slope z_j): dense sums over
θ, and the numbers of adequate items in the categories by enumeration.
"""

from itertools import product
from math import comb, exp, lgamma, log

import numpy as np

from reference.binary import beta_binomial


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def dense_nodes(rated, items, strengths, slopes=(0.0,), places=None, rate=(1.0, 1.0), steps=1000):
    """Weights and Beta parameters for every κ, slope and θ of a fine grid: a list of triples."""
    count = len(rated)
    places = [0.0] * count if places is None else places
    share = [n / sum(items) for n in items]
    found = []
    for kappa in strengths:
        for slope in slopes:
            for theta in np.linspace(-30, 30, steps):
                up = [1 / (1 + exp(-(theta + slope * z))) for z in places]
                down = [1 / (1 + exp(theta + slope * z)) for z in places]
                log_w = log(sum(s * x * y for s, x, y in zip(share, up, down, strict=True)))
                log_w += (rate[0] - 1) * log(sum(s * x for s, x in zip(share, up, strict=True)))
                log_w += (rate[1] - 1) * log(sum(s * y for s, y in zip(share, down, strict=True)))
                log_w -= 0.5 * slope**2
                betas = []
                for (zeros, ones), x, y in zip(rated, up, down, strict=True):
                    a, b = kappa * x, kappa * y
                    log_w += log_beta(a + ones, b + zeros) - log_beta(a, b)
                    betas.append((a + ones, b + zeros))
                found.append((log_w, betas))
    top = max(log_w for log_w, _ in found)
    total = sum(exp(log_w - top) for log_w, _ in found)
    kept = [(exp(log_w - top) / total, betas) for log_w, betas in found]
    return [node for node in kept if node[0] > 1e-15]


def pool_mass(nodes, unrated):
    """Chances of 0 … U adequate items among the unrated: beta-binomials, convolved."""
    mass = np.zeros(sum(unrated) + 1)
    for weight, betas in nodes:
        one = np.ones(1)
        for u, (a, b) in zip(unrated, betas, strict=True):
            one = np.convolve(one, beta_binomial(u, a, b))
        mass += weight * one
    return mass


def net_mass(rated, unrated, prior):
    """Chances of each number of wins less losses among the unrated, by enumeration: a dict."""

    def one_category(cell, n):
        a = [x + prior for x in cell]
        chances = {}
        for losses in range(n + 1):
            for ties in range(n - losses + 1):
                counts = (losses, ties, n - losses - ties)
                log_p = lgamma(sum(a)) - lgamma(sum(a) + n)
                log_p += sum(lgamma(x + k) - lgamma(x) for x, k in zip(a, counts, strict=True))
                ways = comb(n, losses) * comb(n - losses, ties)
                net = counts[2] - losses
                chances[net] = chances.get(net, 0.0) + ways * exp(log_p)
        return chances

    total = {}
    each = [one_category(cell, n).items() for cell, n in zip(rated, unrated, strict=True)]
    for chosen in product(*each):
        net = sum(value for value, _ in chosen)
        total[net] = total.get(net, 0.0) + float(np.prod([chance for _, chance in chosen]))
    return total
