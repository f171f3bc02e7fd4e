"""Metrics as a control of differences: one set of slopes for all pairs, judged out of sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.design import Design

# Relative to the mean square of a metric's deviations.
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
#: Share of the variance that metrics must take away, out of sample, to be used.
MARGIN = 0.03
_LEAST_UNITS = 20


class Control(NamedTuple):
    """Slopes (..., p), what is left of the unit deviations (..., S, u), and the share taken away.

    Where the control is not worth it, slopes are 0 and the deviations those of the scores.
    """

    slopes: FloatArray
    deviations: FloatArray
    gain: FloatArray


def common_slopes(design: Design, scores: FloatArray, metrics: FloatArray) -> Control:
    """Slopes that make the mean variance of all differences least, and what they leave over.

    One slope a metric for all systems, not one a pair: it is fitted to S − 1 times as many
    deviations, and differences stay consistent, (A − B) + (B − C) = A − C.

    The penalty is chosen, and the gain is measured, with each unit (segment, or document that was
    drawn whole) predicted by slopes from all the others. The deviations returned are those
    predictions' errors, so the variance shows what the slopes cost.

    Parameters
    ----------
    design
        How the n segments were drawn.
    scores
        (..., S, n) of S systems on the same segments.
    metrics
        (..., p, S, n) with mean 0 over the pool for each metric and system.
    """
    y = design.deviations(scores - scores.mean(-2, keepdims=True))
    batch, (p, s, n) = metrics.shape[:-3], metrics.shape[-3:]
    inner = metrics - metrics.mean(-2, keepdims=True)
    x = design.deviations(inner.reshape(*batch, p * s, n))
    units = x.shape[-1]
    x = np.moveaxis(x.reshape(*batch, p, s, units), -1, -3)  # (..., u, p, S)
    yu = np.moveaxis(y, -1, -2)  # (..., u, S)
    gram_u = x @ np.swapaxes(x, -1, -2)
    cross_u = (x @ yu[..., None])[..., 0]
    gram, cross = gram_u.sum(-3), cross_u.sum(-2)
    scale = np.diagonal(gram, axis1=-2, axis2=-1)
    scale = np.where(scale > 0, scale, 1.0)
    total = np.square(y).sum((-1, -2))
    best = np.full(batch, np.inf)
    slopes, left = np.zeros((*batch, p)), np.array(y, copy=True)
    for strength in STRENGTHS:
        hold = strength * scale[..., None] * np.eye(p)
        without = gram[..., None, :, :] - gram_u + hold[..., None, :, :]
        beta_u = np.linalg.solve(without, (cross[..., None, :] - cross_u)[..., None])[..., 0]
        missed = yu - (beta_u[..., None, :] @ x)[..., 0, :]
        error = np.square(missed).sum((-1, -2))
        better = error < best
        best = np.where(better, error, best)
        beta = np.linalg.solve(gram + hold, cross[..., None])[..., 0]
        slopes = np.where(better[..., None], beta, slopes)
        left = np.where(better[..., None, None], np.moveaxis(missed, -1, -2), left)
    gain = 1 - best / np.where(total > 0, total, 1.0)
    use = (gain > MARGIN) & (total > 0) & (units >= max(_LEAST_UNITS, 2 * p + 2))
    return Control(
        np.where(use[..., None], slopes, 0.0),
        np.where(use[..., None, None], left, y),
        np.where(use, gain, 0.0),
    )
