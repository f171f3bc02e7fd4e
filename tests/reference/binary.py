"""The binary model the slow way, written from the formulas.

Whole shapes and tiny counts: exact fractions. Others: sums over every pair of hidden counts, and
the papers' grid. α ~ Beta(a0, b0), ρ ~ Beta(ar, br), η ~ Beta(ae, be), p = αρ + (1 − α)(1 − η), and
m ones and k zeros from the metric alone.
"""

from fractions import Fraction
from math import comb, exp, factorial, lgamma, log

import numpy as np


def beta_function(a, b):
    """B(a, b) of whole numbers, exactly."""
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def exact_moment(shape, alpha=0, rho=0, eta=0):
    """E[α^alpha ρ^rho η^eta] as a fraction: multiply p^m (1 − p)^k out and integrate each term."""

    def integral(powers):
        a0, b0, ar, br, ae, be, m, k = shape
        a0, ar, ae = a0 + powers[0], ar + powers[1], ae + powers[2]
        return sum(
            comb(m, i)
            * comb(k, j)
            * beta_function(a0 + i + j, b0 + m - i + k - j)
            * beta_function(ar + i, br + j)
            * beta_function(ae + k - j, be + m - i)
            for i in range(m + 1)
            for j in range(k + 1)
        )

    return integral((alpha, rho, eta)) / integral((0, 0, 0))


def hidden_counts(shape):
    """Chances of (i, j), the adequate ones and the adequate zeros, for real shapes: (m+1, k+1)."""
    a0, b0, ar, br, ae, be, m, k = shape

    def log_beta(a, b):
        return lgamma(a) + lgamma(b) - lgamma(a + b)

    logs = np.array(
        [
            [
                log(comb(m, i))
                + log(comb(k, j))
                + log_beta(a0 + i + j, b0 + m - i + k - j)
                + log_beta(ar + i, br + j)
                + log_beta(ae + k - j, be + m - i)
                for j in range(k + 1)
            ]
            for i in range(m + 1)
        ]
    )
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def by_hidden_counts(shape):
    """Means and variances of α, ρ and η: mixtures of Betas over the hidden counts."""
    a0, b0, ar, br, ae, be, m, k = shape
    chances = hidden_counts(shape)
    i, j = np.arange(m + 1)[:, None], np.arange(k + 1)
    betas = {
        "alpha": (a0 + i + j, b0 + m - i + k - j),
        "rho": (ar + i, br + j),
        "eta": (ae + k - j, be + m - i),
    }
    out = {}
    for name, (a, b) in betas.items():
        centre = a / (a + b)
        mean = (chances * centre).sum()
        spread = a * b / (a + b) ** 2 / (a + b + 1)
        out[name] = mean, (chances * (spread + (centre - mean) ** 2)).sum()
    return out


def by_grid(shape, size=150):
    """Mean and variance of α by the midpoints of a grid over α, ρ and η, as the papers do it."""
    a0, b0, ar, br, ae, be, m, k = shape
    x = (np.arange(size) + 0.5) / size
    kernel = [
        np.exp((a - 1) * np.log(x) + (b - 1) * np.log1p(-x))
        for a, b in ((a0, b0), (ar, br), (ae, be))
    ]
    alpha, rho, eta = x[:, None, None], x[:, None], x
    p = alpha * rho + (1 - alpha) * (1 - eta)
    log_like = m * np.log(p) + k * np.log1p(-p)
    like = np.exp(log_like - log_like.max())
    density = kernel[0] * np.einsum("are,r,e->a", like, kernel[1], kernel[2])
    density /= density.sum()
    mean = density @ x
    return mean, density @ (x - mean) ** 2


def known_by_grid(a0, b0, rho, eta, m, k, size=200_001):
    """Mean, variance and mode of α when ρ and η are known."""
    x = (np.arange(size) + 0.5) / size
    p = x * rho + (1 - x) * (1 - eta)
    logs = (a0 - 1) * np.log(x) + (b0 - 1) * np.log1p(-x) + m * np.log(p) + k * np.log1p(-p)
    density = np.exp(logs - logs.max())
    density /= density.sum()
    mean = density @ x
    return mean, density @ (x - mean) ** 2, x[density.argmax()]


def beta_binomial(n, a, b):
    """Chances of 0 … n."""

    def chance(i):
        top = lgamma(a + i) + lgamma(b + n - i) - lgamma(a + b + n)
        return comb(n, i) * exp(top - lgamma(a) - lgamma(b) + lgamma(a + b))

    return np.array([chance(i) for i in range(n + 1)])


def pool_by_cells(tp, fn, fp, tn, ones, zeros):
    """Shares of adequate items in the test set and their chances, uniform prior on the cells."""
    first, second = beta_binomial(ones, tp + 1, fp + 1), beta_binomial(zeros, fn + 1, tn + 1)
    mass = np.zeros(ones + zeros + 1)
    for i in range(ones + 1):
        for j in range(zeros + 1):
            mass[i + j] += first[i] * second[j]
    size = tp + fn + fp + tn + ones + zeros
    return (tp + fn + np.arange(mass.size)) / size, mass


def random_shapes(rng, largest=2000, priors=(1.0, 1.0, 2.0)):
    """A random study, edges and conflicting data included: shapes of the posterior."""
    sizes = [n for n in (0, 1, 2, 3, 10, 30, 100, 300, 1000, 2000, 10_000) if n <= largest]
    total, paired = int(rng.choice(sizes)), int(rng.choice([0, 1, 5, 30, 300, 3000, 100_000]))
    alone = 0 if rng.random() < 0.5 else int(rng.choice([0, 1, 10, 100, 1000, 100_000]))
    alpha = rng.choice([0, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999, 1])
    rho = rng.choice([0.3, 0.5, 0.55, 0.7, 0.9, 0.99, 1.0])
    eta = rng.choice([0.2, 0.5, 0.6, 0.7, 0.9, 0.99, 1.0])
    adequate = rng.binomial(paired, alpha)
    tp, tn = rng.binomial(adequate, rho), rng.binomial(paired - adequate, eta)
    ones = rng.binomial(total, alpha * rho + (1 - alpha) * (1 - eta))
    if rng.random() < 0.2:  # in conflict with the rest
        ones = int(rng.integers(0, total + 1))
    human = rng.binomial(alone, alpha)
    sample = rng.random() < 0.7
    prior = float(rng.choice(priors))
    return (
        human + adequate * sample + prior,
        alone - human + (paired - adequate) * sample + prior,
        tp + prior,
        adequate - tp + prior,
        tn + prior,
        paired - adequate - tn + prior,
        int(ones),
        int(total - ones),
    )
