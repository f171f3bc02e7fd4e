"""Raters who err, the slow way: every assignment of classes, or weighted draws from the prior.

``labels`` are lists of rows with 0, 1 or None; ``gold`` is a list of 0, 1 or None.
"""

from itertools import product
from math import exp, lgamma

import numpy as np


def log_beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def by_enumeration(labels, alpha, rho, eta, gold=None, gold_tells_alpha=True):
    """Sum over all classes of the items whose class is unknown; the rates are integrated out.

    Returns chances of 0, 1, … adequate items among those of unknown class, the posterior mean of
    α, P(adequate) of each item, and posterior means of ρ and η of each rater.
    """
    items, raters = len(labels), len(labels[0])
    gold = gold or [None] * items
    hidden = [i for i in range(items) if gold[i] is None]
    total, mean, chance = 0.0, 0.0, np.zeros(items)
    steps, rhos, etas = np.zeros(len(hidden) + 1), np.zeros(raters), np.zeros(raters)
    for guess in product((0, 1), repeat=len(hidden)):
        kind = list(gold)
        for i, k in zip(hidden, guess, strict=True):
            kind[i] = k
        told = kind if gold_tells_alpha else list(guess)
        ones, zeros = told.count(1), told.count(0)
        log = log_beta(alpha[0] + ones, alpha[1] + zeros)
        means = np.zeros((2, raters))
        for r in range(raters):
            pairs = [(kind[i], labels[i][r]) for i in range(items)]
            for at, (prior, right) in enumerate(((rho, (1, 1)), (eta, (0, 0)))):
                hit = pairs.count(right)
                miss = pairs.count((right[0], 1 - right[1]))
                log += log_beta(prior[0] + hit, prior[1] + miss)
                means[at, r] = (prior[0] + hit) / (sum(prior) + hit + miss)
        weight = exp(log)
        total += weight
        mean += weight * (alpha[0] + ones) / (sum(alpha) + ones + zeros)
        chance += weight * np.array(kind)
        steps[sum(guess)] += weight
        rhos, etas = rhos + weight * means[0], etas + weight * means[1]
    return steps / total, mean / total, chance / total, rhos / total, etas / total


def by_prior_draws(labels, alpha, rho, eta, size, rng):
    """Rates from the prior, kept where raters are above chance on average, weighted by likelihood.

    Returns mean and sd of α, and the standard error of that mean.
    """
    table = np.array(labels, dtype=float)
    raters = table.shape[1]
    share = rng.beta(*alpha, size)
    hit, passed = rng.beta(*rho, (size, raters)), rng.beta(*eta, (size, raters))
    kept = (hit + passed).mean(1) > 1
    share, hit, passed = share[kept], hit[kept], passed[kept]
    weight = np.ones(share.size)
    for row in table:
        good, bad = share.copy(), 1 - share
        for r, answer in enumerate(row):
            if not np.isnan(answer):
                good *= hit[:, r] if answer else 1 - hit[:, r]
                bad *= 1 - passed[:, r] if answer else passed[:, r]
        weight *= good + bad
    weight /= weight.sum()
    mean = weight @ share
    sd = np.sqrt(weight @ (share - mean) ** 2)
    return mean, sd, np.sqrt(weight**2 @ (share - mean) ** 2)
