"""Slopes of a ridge regression that may not have the wrong sign, for all draws at once."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray

_SWEEPS, _ROUNDS = 4, 150


def both_active(active: FloatArray) -> FloatArray:
    """1 for pairs of active slopes, else 0."""
    return np.asarray(active[..., :, None] * active[..., None, :])


def on_hold(active: FloatArray) -> FloatArray:
    """1 on the diagonal of slopes that are held at nought, to keep the matrix invertible."""
    return np.asarray((1 - active)[..., None] * np.eye(active.shape[-1]))


def constrain(
    ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> FloatArray:
    """Coordinate descent for the ridge with slopes of given sign, all draws at once."""
    clip = np.where(signs > 0, np.maximum(beta, 0), np.where(signs < 0, np.minimum(beta, 0), beta))
    wrong = (clip != beta).any(-1)
    if not wrong.any():
        return beta
    beta, slopes = beta.copy(), clip[wrong]
    a, b, s = ridged[wrong], cross[wrong], np.broadcast_to(signs, beta.shape)[wrong]
    todo = np.flatnonzero(wrong)
    for _ in range(_ROUNDS):
        for _ in range(_SWEEPS):
            for j in range(slopes.shape[-1]):
                rest = b[:, j] - (a[:, j, :] * slopes).sum(-1) + a[:, j, j] * slopes[:, j]
                step = rest / a[:, j, j]
                slopes[:, j] = np.where(step * s[:, j] < 0, 0.0, step)
        slopes, solved = _polish(a, b, s, slopes)
        beta[todo] = slopes
        if solved.all():
            break
        a, b, s, slopes = (part[~solved] for part in (a, b, s, slopes))
        todo = todo[~solved]
    return beta


def _polish(
    a: FloatArray, b: FloatArray, signs: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Solve exactly for the slopes that are not nought; accept where that is the optimum.

    Sweeps find out soon which slopes are nought, but near copies among the metrics make them slow
    to settle on the others.
    """
    active = (slopes != 0).astype(np.float64)
    exact = np.linalg.solve(a * both_active(active) + on_hold(active), (b * active)[..., None])[
        ..., 0
    ]
    pull = b - (a @ exact[..., None])[..., 0]  # where the slopes at nought want to go
    scale = np.abs(b).max(-1, keepdims=True)
    fits = (exact * signs >= 0) & ((active > 0) | (pull * signs <= 1e-12 * scale))
    solved = np.asarray(fits.all(-1))
    return np.where(solved[..., None], exact, slopes), solved
