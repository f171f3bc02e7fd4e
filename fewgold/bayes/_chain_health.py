"""Whether chains have met, and how many independent draws they are worth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray


class Health(NamedTuple):
    """Split R-hat and effective number of draws of each quantity."""

    rhat: FloatArray
    ess: FloatArray


def health(draws: FloatArray) -> Health:
    """R-hat and effective draws of chains (..., C, T), as Gelman et al. (2013, section 11.4–5).

    Each chain is halved. Autocorrelations are summed in pairs while these are positive, and never
    let rise (Geyer 1992).
    """
    half = draws.shape[-1] // 2
    x = np.concatenate([draws[..., :half], draws[..., half : 2 * half]], axis=-2)
    means = x.mean(-1)
    within = x.var(-1, ddof=1).mean(-1)
    pooled = (half - 1) / half * within + means.var(-1, ddof=1)
    flat = pooled <= 0  # every draw the same: nothing to tell
    safe = np.where(flat, 1.0, pooled)
    rhat = np.sqrt(np.where(flat, 1.0, safe / np.where(within > 0, within, np.nan)))
    spectrum = np.fft.rfft(x - means[..., None], 2 * half)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[..., :half].mean(-2) / half
    correlation = 1 - (within[..., None] - covariance) / safe[..., None]
    pairs = correlation[..., : half // 2 * 2].reshape(*correlation.shape[:-1], -1, 2).sum(-1)
    pairs = np.where(np.logical_and.accumulate(pairs > 0, axis=-1), pairs, 0.0)
    pairs[..., 0] = np.maximum(pairs[..., 0], 1.0)
    time = 2 * np.minimum.accumulate(pairs, axis=-1).sum(-1) - 1
    count = float(x.shape[-2] * half)
    return Health(np.nan_to_num(rhat, nan=np.inf), np.where(flat, count, count / time))
