"""Reliability by documents in plain loops: slow, obvious, and written apart from the package."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def segment_draws(systems, draws, rng):
    """Bootstrap means, a list a system: the same segments for all systems in each draw."""
    n = len(systems[0])
    drawn = rng.integers(n, size=(draws, n)).tolist()
    return [[mean([values[k] for k in sample]) for sample in drawn] for values in systems]


def document_draws(systems, documents, draws, rng):
    """The same with whole documents, one fewer than there are."""
    names = list(dict.fromkeys(documents))
    drawn = rng.integers(len(names), size=(draws, len(names) - 1)).tolist()
    rows = [[k for k, name in enumerate(documents) if name == own] for own in names]
    return [
        [mean([values[k] for d in sample for k in rows[d]]) for sample in drawn]
        for values in systems
    ]


def sd(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.sqrt(math.fsum((v - middle) ** 2 for v in values) / (len(values) - 1))


def ranking(draws, full):
    """Kendall's tau, share of pairs in order and share of equal rankings, over draws."""
    taus, pairs, exact = [], [], []
    for k in range(len(draws[0])):
        now = [values[k] for values in draws]
        taus.append(kendalltau(now, full).statistic)
        right = []
        for i, j in itertools.combinations(range(len(full)), 2):
            seen, want = now[i] - now[j], full[i] - full[j]
            if want != 0:
                right.append(0.5 if seen == 0 else float((seen > 0) == (want > 0)))
        pairs.append(mean(right))
        exact.append(float(min(right) == 1))
    return mean(taus), mean(pairs), mean(exact)


def every_bootstrap_sd(values: Sequence[float]) -> float:
    """The standard deviation of the mean over all n^n samples with replacement."""
    means = [mean(sample) for sample in itertools.product(values, repeat=len(values))]
    middle = mean(means)
    return math.sqrt(mean([(m - middle) ** 2 for m in means]))


def cluster_figures(values, documents):
    """Standard error parts by the formulas of the textbooks: (between, icc, deff)."""
    names = list(dict.fromkeys(documents))
    groups = [
        [v for v, own in zip(values, documents, strict=True) if own == name] for name in names
    ]
    d, n, grand = len(groups), len(values), mean(values)
    residuals = [math.fsum(g) - grand * len(g) for g in groups]
    s2 = math.fsum(e**2 for e in residuals) / (d - 1)
    between = math.sqrt(s2) / (n / d)
    msb = math.fsum(len(g) * (mean(g) - grand) ** 2 for g in groups) / (d - 1)
    msw = math.fsum((v - mean(g)) ** 2 for g in groups for v in g) / (n - d)
    usual = (n - math.fsum(len(g) ** 2 for g in groups) / n) / (d - 1)
    icc = (msb - msw) / (msb + (usual - 1) * msw)
    simple = sd(values) ** 2 / n
    return between, icc, between**2 / d / simple


def every_sample_of_documents(values, documents, size):
    """Means of all samples of whole documents."""
    names = list(dict.fromkeys(documents))
    rows = {
        name: [v for v, o in zip(values, documents, strict=True) if o == name] for name in names
    }
    return [
        mean([v for name in sample for v in rows[name]])
        for sample in itertools.combinations(names, size)
    ]


def known_power_sizes(b: float, documents: int, first: int) -> list[int]:
    """Sizes of documents such that d of them hold first·d^(2b) segments, up to rounding.

    The mean of n unrelated segments has a standard deviation ∝ n^(−1/2), so that of the first d
    documents falls as d^(−b).
    """
    ends = np.round(first * np.arange(documents + 1) ** (2 * b)).astype(int)
    return np.diff(ends).tolist()
