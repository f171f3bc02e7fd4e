"""Moments by looking from the metric to the human: a tensor of Gauss–Jacobi rules.

Instead of α, ρ and η take ψ = P(metric 1), v1 = P(adequate | metric 1) and v0 = P(adequate |
metric 0). In these the likelihood factorises: the posterior is that of independent

    ψ ~ Beta(m + ar + be, k + br + ae),    v1 ~ Beta(ar, be),    v0 ~ Beta(br, ae),

times α^(a0 − ar − br) (1 − α)^(b0 − ae − be), with α = ψ v1 + (1 − ψ) v0. The cost does not depend
on the number of ratings. The rules converge fast where that last factor is flat over the bulk of
the three Betas: when the human ratings are the paired ones and each cell of the 2 × 2 table has
about 8 items or more. Two rules are compared, and what they leave open is handed back as an error.
With exponents of zero (a Dirichlet prior on the cells) the result is exact with two nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray, batches
from fewgold.bayes._shapes import Shapes

_RULES = ((8, 12), (12, 18))  # a coarse and a fine one, and others where these disagree
_AGREE = 1e-8


class Moments(NamedTuple):
    """Means and variances of a batch, and by how much they may be wrong, relative to each."""

    mean: FloatArray
    variance: FloatArray
    error: FloatArray


def reverse_moments(shape: Shapes, batch: int = 256) -> Moments:
    """Mean and variance of α for shapes (n,), with an estimate of the relative error."""
    parts = [_moments(shape.draw(rows)) for rows in batches(shape.a0.size, batch)]
    return Moments(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _moments(shape: Shapes) -> Moments:
    found = _compared(shape, *_RULES[0])
    again = np.flatnonzero(~(found.error < _AGREE))
    if again.size:
        for old, new in zip(found, _compared(shape.draw(again), *_RULES[1]), strict=True):
            old[again] = new
    return found


def _compared(shape: Shapes, few: int, many: int) -> Moments:
    coarse, fine = _tensor(shape, few), _tensor(shape, many)
    edge = np.minimum(fine[0], 1 - fine[0])
    error = np.maximum(
        np.abs(coarse[0] - fine[0]) / edge, 0.5 * np.abs(coarse[1] - fine[1]) / fine[1]
    )
    return Moments(*fine, error)


def _tensor(shape: Shapes, n: int) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α with n nodes for each of ψ, v1 and v0."""
    a0, b0, ar, br, ae, be, m, k = shape
    psi, w_psi = gauss_jacobi(m + ar + be, k + br + ae, n)
    hit, w_hit = gauss_jacobi(ar, be, n)
    miss, w_miss = gauss_jacobi(br, ae, n)
    psi = psi[:, :, None, None]
    alpha = psi * hit[:, None, :, None] + (1 - psi) * miss[:, None, None, :]
    weight = w_psi[:, :, None, None] * w_hit[:, None, :, None] * w_miss[:, None, None, :]
    alpha, weight = (x.reshape(len(a0), -1) for x in (alpha, weight))
    up, down = (a0 - ar - br)[:, None], (b0 - ae - be)[:, None]
    if np.all(up == -1) and np.all(down == -1):  # uniform priors, all human ratings paired
        weight = weight / (alpha * (1 - alpha))
    elif np.any(up) or np.any(down):
        tilt = up * np.log(alpha) + down * np.log1p(-alpha)
        weight = weight * np.exp(tilt - tilt.max(-1, keepdims=True))
    weight = weight / weight.sum(-1, keepdims=True)
    mean = np.vecdot(weight, alpha)
    return mean, np.vecdot(weight, (alpha - mean[:, None]) ** 2)


def gauss_jacobi(a: FloatArray, b: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes in (0, 1) and weights of the n-point Gauss rules of Beta(a, b): (B,) → (B, n).

    Golub and Welsch (1969): eigenvalues of the recurrence of the Jacobi polynomials, shifted by
    the mean and scaled by the sd so that narrow Betas keep their digits.
    """
    a, b = a[:, None], b[:, None]
    j = np.arange(n, dtype=np.float64)
    c = a + b
    mean = a / c
    sd = np.sqrt(a * b / (c + 1)) / c
    # Centre of the j-th polynomial, less the mean.
    lower = np.where(j == 0, 1.0, 2 * j + c - 2)
    shift = j * (b - a) * (2 * (j + c - 1)) / (c * (2 * j + c) * lower)
    i = j[1:]
    bottom = np.where(i == 1, c * c * (c + 1), (2 * i + c - 2) ** 2 * (2 * i + c - 1))
    top = np.where(i == 1, a * b, i * (i + a - 1) * (i + b - 1) * (i + c - 2))
    bottom = np.where(i == 1, bottom, bottom * (2 * i + c - 3))
    side = np.sqrt(top / bottom) / sd
    matrix = np.zeros((len(a), n, n))
    diagonal = np.arange(n)
    matrix[:, diagonal, diagonal] = shift / sd
    matrix[:, diagonal[1:], diagonal[:-1]] = side
    values, vectors = np.linalg.eigh(matrix)  # reads the lower triangle alone
    weights = vectors[:, 0, :] ** 2
    return np.clip(mean + sd * values, 1e-300, 1 - 1e-16), weights
