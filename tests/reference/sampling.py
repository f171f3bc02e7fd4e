"""Designs: means, variances and allocation, in loops."""

from __future__ import annotations

from itertools import product

import numpy as np


def simple_variance(y, size):
    """(1 - n/N) s²/n."""
    y = list(map(float, y))
    n = len(y)
    mean = sum(y) / n
    return (1 - n / size) * sum((v - mean) ** 2 for v in y) / (n - 1) / n


def stratified_mean(y, strata, sizes):
    """Σ_h (N_h/N) ȳ_h (Saldías et al. 2022, eq. 1)."""
    total = 0.0
    for h, size in enumerate(sizes):
        own = [v for v, s in zip(y, strata, strict=True) if s == h]
        total += size / sum(sizes) * sum(own) / len(own)
    return total


def stratified_variance(y, strata, sizes):
    """Σ_h (N_h/N)² (1 - n_h/N_h) s_h²/n_h; strata taken whole add nothing."""
    total = 0.0
    for h, size in enumerate(sizes):
        own = [v for v, s in zip(y, strata, strict=True) if s == h]
        if len(own) < size:
            total += (size / sum(sizes)) ** 2 * simple_variance(own, size)
    return total


def collapsed_variance(y, strata, sizes):
    """The same where some strata have one rating: these are compared in pairs of neighbours.

    Every rating has the weight W_h/n_h and the correction 1 - n_h/N_h of its own stratum and is
    compared with the weighted mean of its group: Σ c w² (1-f) (y - ȳ_group)², c as in `uneven`.
    """
    counts = [sum(s == h for s in strata) for h in range(len(sizes))]
    lone = [h for h, c in enumerate(counts) if c == 1 and sizes[h] > 1]
    groups = [[h] for h, c in enumerate(counts) if c > 0 and h not in lone]
    if len(lone) == 1:
        fullest = int(np.argmax(counts))
        next(g for g in groups if fullest in g).append(lone[0])
    elif lone:
        pairs = [lone[i : i + 2] for i in range(0, len(lone), 2)]
        if len(pairs[-1]) == 1:  # an odd one makes the last pair a triple
            pairs[-2].extend(pairs.pop())
        groups.extend(pairs)
    whole = sum(size for size, c in zip(sizes, counts, strict=True) if c)
    total = 0.0
    for group in groups:
        rows = [i for i, s in enumerate(strata) if s in group]
        w = {i: sizes[strata[i]] / whole / counts[strata[i]] for i in rows}
        if len(rows) < 2:
            continue
        mean = sum(w[i] * y[i] for i in rows) / sum(w.values())
        grow = uneven(list(w.values()))
        for i in rows:
            left = 1 - counts[strata[i]] / sizes[strata[i]]
            total += grow * w[i] ** 2 * left * (y[i] - mean) ** 2
    return total


def line_variance(y, size, group=4):
    """Systematic sampling: neighbours on the line in about n/4 groups, as if strata."""
    n = len(y)
    count = max(n // group, 1)
    total = 0.0
    for g in range(count):
        own = [y[i] for i in range(n) if int(i * count / n) == g]
        m, mean = len(own), sum(own) / len(own)
        total += m / (m - 1) * sum((v - mean) ** 2 for v in own) / n**2
    return (1 - n / size) * total


def balanced_variance(y, x, size, group=4):
    """Variance and degrees of freedom of the mean of a balanced sample of equal weights.

    Least squares of the scores on the balanced variates ``x`` (n, p) and on a constant for each
    group of neighbours: (1 - n/N) s²/n with s² = RSS/(n - G - p), and the square of what the slopes
    make of the balance that was missed. For groups of equal size.
    """
    n, p = x.shape
    count = n // group
    assert count * group == n
    constants = np.repeat(np.eye(count), group, axis=0)
    everything = np.hstack([constants, x])
    found, *_ = np.linalg.lstsq(everything, y, rcond=None)
    freedom = n - count - p
    spread = float(((y - everything @ found) ** 2).sum()) / freedom
    missed = float(found[count:] @ x.mean(0))
    return (1 - n / size) * spread / n + missed**2, freedom


def uneven(sizes):
    """What E Σ (p (y − ȳ))² must be multiplied by to give Σ p² σ², for independent y of units.

    ȳ = Σ p y has the variance σ² Σp², and y − ȳ the variance σ² (1 − 2p + Σp²): m/(m − 1) if equal.
    """
    p = [s / sum(sizes) for s in sizes]
    even = sum(v**2 for v in p)
    return even / sum(v**2 * (1 - 2 * v + even) for v in p)


def cluster_variance(y, documents, size):
    """Document totals of deviations from the mean: (1-f) c Σ_d (Σ_i∈d (y_i - ȳ)/n)²."""
    n, mean = len(y), sum(y) / len(y)
    totals = {}
    for v, d in zip(y, documents, strict=True):
        totals[d] = totals.get(d, 0.0) + (v - mean) / n
    grow = uneven([documents.count(d) for d in totals])
    return (1 - n / size) * grow * sum(t**2 for t in totals.values())


def document_factor(y, documents, pool_documents, variance_of, x=None):
    """By how much less an equally weighted mean varies than ``variance_of`` (column) says.

    Scores are a mean plus an effect of the document plus their own. The two variances come from
    the squares of deviations and from products of those in the same document, with expectations
    tr(M Σ); the error of the mean from every document of the pool, drawn from or not.
    """
    y, n, size = np.asarray(y, dtype=float), len(y), len(pool_documents)
    same = np.equal.outer(documents, documents).astype(float)
    centre = np.eye(n) - 1 / n
    squares, products = centre @ centre, centre @ (same - np.eye(n)) @ centre
    expected = [[np.trace(m @ s) for s in (np.eye(n), same)] for m in (squares, products)]
    left = centre @ y
    if x is not None:
        own = centre @ x
        left = left - own @ np.linalg.lstsq(own, left, rcond=None)[0]
    seen = [left @ left, left @ (same - np.eye(n)) @ left]
    count = np.array([list(documents).count(h) for h in sorted(set(documents))])
    pairs = count * (count - 1)
    rho, trust = 0.0, 0.0
    if pairs.sum() and np.linalg.det(expected) > 0:
        within, between = np.linalg.solve(expected, seen)
        if within + between > 0:
            rho = min(max(between / (within + between), -1.0), 0.95)
            noise = 2 / pairs.sum()
            few = 2 * (pairs**2).sum() / pairs.sum() ** 2
            trust = 1 / (1 + few + noise / 0.15**2)
    rho = trust * rho + (1 - trust) * 0.1
    due = 0.0
    for h in set(pool_documents):
        drawn, there = list(documents).count(h), list(pool_documents).count(h)
        due += (drawn / n - there / size) ** 2
    shown = sum(variance_of(np.equal(documents, h).astype(float)) for h in set(documents))
    own = (1 - rho) * (1 - n / size) / n
    return (own + rho * due) / (own + rho * shown)


def two_waves(first, second, size):
    """Value and variance of two simple random waves, mixed by the variances of equal spreads."""
    n1, n2, left = len(first), len(second), size - len(first)
    one = sum(first) / n1
    two = (sum(first) + left * sum(second) / n2) / size
    v1 = 1 / n1 - 1 / size
    v2 = (left / size) ** 2 * (1 / n2 - 1 / left)
    mix = v1 / (v1 + v2)
    variance = (1 - mix) ** 2 * simple_variance(first, size)
    variance += mix**2 * (left / size) ** 2 * simple_variance(second, left)
    return (1 - mix) * one + mix * two, variance


def neyman(mass, sizes, n):
    """n_h ∝ mass; an over-full stratum is taken whole and the rest shared again, recursively."""
    mass, sizes = list(map(float, mass)), list(map(float, sizes))
    if sum(mass) == 0:
        mass = sizes
    share = [n * m / sum(mass) for m in mass]
    excess = [a - b for a, b in zip(share, sizes, strict=True)]
    if not share or max(excess) <= 1e-9:
        return share
    worst = excess.index(max(excess))
    rest = [h for h in range(len(sizes)) if h != worst]
    others = neyman([mass[h] for h in rest], [sizes[h] for h in rest], n - sizes[worst])
    out = [0.0] * len(sizes)
    out[worst] = sizes[worst]
    for h, value in zip(rest, others, strict=True):
        out[h] = value
    return out


def chances_given_count(chances):
    """Fraction f of the due of a document, and the chances of its segments rounded up and down.

    Rounded up: all are scaled to sum to the count; those above 1 are set to 1 and the rest is
    scaled again, until none is above 1. Rounded down: what makes the mixture right.
    """
    due = sum(chances)
    least = int(due + 1e-9)
    f = max(due - least, 0.0)
    if f < 1e-9:
        return 0.0, list(chances), list(chances)
    count, sure = least + 1, set()
    while True:
        rest = sum(c for i, c in enumerate(chances) if i not in sure)
        scale = (count - len(sure)) / rest if rest else 0.0
        more = {i for i, c in enumerate(chances) if i not in sure and c * scale > 1 + 1e-12}
        if not more:
            break
        sure |= more
    up = [1.0 if i in sure else c * scale for i, c in enumerate(chances)]
    return f, up, [(c - f * u) / (1 - f) for c, u in zip(chances, up, strict=True)]


def best_rounding_cost(share, sizes, n, least=0):
    """The smallest Σ|n_h - n'_h| over all whole n'_h that sum to n, by trying all of them."""
    ranges = [range(min(least, s), s + 1) for s in sizes]
    return min(
        sum(abs(a - b) for a, b in zip(share, counts, strict=True))
        for counts in product(*ranges)
        if sum(counts) == n
    )


def water_filled(mass, n):
    """Chances in proportion to mass, capped at 1 by setting those above to 1 again and again."""
    chance = n * mass / mass.sum()
    while (chance > 1 + 1e-12).any():
        full = chance >= 1
        chance[full] = 1.0
        chance[~full] *= (n - full.sum()) / chance[~full].sum()
    return chance
