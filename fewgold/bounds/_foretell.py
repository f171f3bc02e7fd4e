"""What a metric tells of each rating before it is seen, so that bets stay fair."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray


def foretell(
    scores: FloatArray, metric: FloatArray, rows: IntArray, start: int = 10, shrink: float = 10.0
) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """What a metric tells of each rating, by the slope of the ratings before it.

    β_{t−1} (z_t − mean of z over all segments not drawn before) has mean 0 given the past, so that
    taking it from x_t leaves the bet fair. ``metric`` (N,) is the pool's, ``rows`` (draws, n)
    the segments in the order of drawing. Slopes are shrunk by (t−1)/(t−1+shrink), and 0 for the
    first ``start`` ratings. Any function of the metrics is fair: extreme values are moved to 3
    standard deviations, so that a few of them do not force small bets.
    """
    spread = metric.std()
    pool = np.clip((metric - metric.mean()) / (spread if spread > 0 else 1.0), -3.0, 3.0)
    z = pool[rows]
    count = np.arange(z.shape[-1], dtype=np.float64)  # ratings before
    z_mean, x_mean = (_before(v) / np.maximum(count, 1.0) for v in (z, scores))
    cross = _before(z * scores) - count * z_mean * x_mean
    square = _before(z * z) - count * z_mean**2
    slope = cross / np.maximum(square, 1e-9) * (count / (count + shrink))
    slope = np.where((count >= start) & (square > 1e-9), slope, 0.0)
    centre = (pool.sum() - _before(z)) / (len(pool) - count)
    ends = (slope * (pool.min() - centre), slope * (pool.max() - centre))
    reach = np.minimum(0.0, np.minimum(*ends)), np.maximum(0.0, np.maximum(*ends))
    return np.asarray(slope * (z - centre)), reach


def _before(values: FloatArray) -> FloatArray:
    """Sums of the values before each one."""
    out = np.zeros(values.shape)
    np.cumsum(values[:, :-1], axis=-1, out=out[:, 1:])
    return out
