"""Ridge regression of many draws at once, each with the strength of least leave-one-out error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray, batches
from fewgold.estimators._signed_slopes import both_active, constrain, on_hold

# Relative to the mean variance of a standardised metric. The last shrinks slopes to next to none.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 1e6)
# Residuals of all strengths to hold at a time: few enough for the processor's own memory.
_CELLS = 1 << 14


class RidgeFit(NamedTuple):
    """Slopes (..., p), leverages (..., n), and the matrix (..., p, p) from Σ z y to the slopes."""

    beta: FloatArray
    lever: FloatArray
    inverse: FloatArray


def ridge_slopes(dev: FloatArray, signs: FloatArray) -> RidgeFit:
    """The fit at the strength of least leave-one-out error.

    ``dev`` (..., 1 + p, n) holds the centred score and metrics.
    """
    batch, (columns, n) = dev.shape[:-2], dev.shape[-2:]
    p = columns - 1
    flat = dev.reshape(-1, columns, n)
    allowed = np.broadcast_to(signs, (*batch, p)).reshape(-1, p)
    draws = len(flat)
    beta, lever, inverse = np.empty((draws, p)), np.empty((draws, n)), np.empty((draws, p, p))
    for part in batches(draws, _CELLS // (n * len(STRENGTHS))):
        beta[part], lever[part], inverse[part] = _best_of_all(flat[part], allowed[part])
    return RidgeFit(
        beta.reshape(*batch, p), lever.reshape(*batch, n), inverse.reshape(*batch, p, p)
    )


def _best_of_all(dev: FloatArray, signs: FloatArray) -> RidgeFit:
    """All strengths of some draws (draws, 1 + p, n) side by side, and the best of each."""
    y, z = dev[:, 0], dev[:, 1:]
    # Scores of 1e150 are odd, but they are numbers: squares must not overflow.
    top = np.abs(y).max(-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    y = y / top
    gram = z @ np.swapaxes(z, -1, -2)
    cross = (z @ y[..., None])[..., 0]
    # In the directions of the principal axes every strength is a mere division.
    values, axes = (gram[..., 0], np.ones_like(gram)) if len(z[0]) == 1 else np.linalg.eigh(gram)
    strengths = np.array(STRENGTHS)[:, None]
    shrink = 1.0 / (np.maximum(values, 0.0)[:, None] + strengths)  # (draws, strengths, p)
    turned = np.swapaxes(axes, -1, -2) @ z
    slopes = shrink * (cross[:, None] @ axes)
    beta = slopes @ np.swapaxes(axes, -1, -2)
    left = y[:, None] - slopes @ turned
    lever = shrink @ np.square(turned)
    loss = _left_out_error(left, lever)
    wrong = (beta * signs[:, None] < 0).any(-1)
    draw, at = np.nonzero(wrong)
    if draw.size:
        ridged = gram[draw] + strengths[at, :, None] * np.eye(len(z[0]))
        held = _constrained(z[draw], ridged, cross[draw], beta[draw, at], signs[draw])
        beta[draw, at], lever[draw, at] = held.beta, held.lever
        left = y[draw] - (held.beta[:, None] @ z[draw])[:, 0]
        loss[draw, at] = _left_out_error(left, held.lever)
    every, best = np.arange(len(y)), loss.argmin(-1)
    inverse = (axes * shrink[every, best][:, None]) @ np.swapaxes(axes, -1, -2)
    if draw.size:
        won = at == best[draw]
        inverse[draw[won]] = held.inverse[won]
    return RidgeFit(beta[every, best] * top, lever[every, best], inverse)


def _left_out_error(left: FloatArray, lever: FloatArray) -> FloatArray:
    """Sum of squared errors of predicting each rating by the others, from what is left over."""
    error = left / np.clip(1.0 - lever - 1.0 / left.shape[-1], 1e-6, None)
    return np.asarray(np.vecdot(error, error))


def _constrained(
    z: FloatArray, ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> RidgeFit:
    """Fits whose free slopes ``beta`` have a wrong sign, one a row."""
    beta = constrain(ridged, cross, beta, signs)
    active = (beta != 0).astype(np.float64)
    kept = z * active[..., None]
    inverse = np.linalg.inv(ridged * both_active(active) + on_hold(active)) * both_active(active)
    return RidgeFit(beta, (kept * (inverse @ kept)).sum(-2), inverse)
