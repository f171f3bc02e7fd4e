"""What nearest neighbours predict for rated segments and on average over the pool."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, batches
from fewgold._neighbours import Nearest
from fewgold.estimators._knn_sums import Studies, nearest_sums

# Working memory in bytes: what suits the processor, and what a batch asked for may take.
BLOCK, MOST = 1 << 24, 1 << 27


def bytes_needed(n: int, folds: int) -> int:
    """Bytes for each segment of the pool and draw: sorted keys, then sums and counts by fold."""
    return 16 * n + 32 * folds


def predictions(studies: Studies, nearest: Nearest, k: int) -> FloatArray:
    """Centre, prediction, spread and share of each rating: (4, draws, n)."""
    rows, label, size = studies.rows, studies.label, nearest.size
    trains = studies.trains
    trained = trains.sum(-1)
    need = np.minimum(k, trained)
    everywhere = np.empty((*trained.shape, size))
    wide = MOST // (bytes_needed(rows.shape[-1], studies.folds) * len(rows))
    for part in batches(size, wide):
        everywhere[..., part] = nearest_sums(nearest, part, studies, need)
    everywhere /= np.maximum(need, 1)[..., None]
    rated = np.take_along_axis(everywhere, rows[None], axis=-1)
    spread = everywhere.std(-1)
    # Leave out what a fold was trained on, where that makes the estimate unbiased (`cross_fit`).
    left_out = trains & studies.fresh[:, None]
    np.put_along_axis(everywhere, rows[None], np.where(left_out, 0.0, rated), axis=-1)
    outside = size - left_out.sum(-1)
    centre = everywhere.sum(-1) / np.maximum(outside, 1)
    share = np.where(trained > 0, outside / size, 0.0)
    of_fold = np.stack([centre, spread, share]).swapaxes(-1, -2)  # (3, draws, folds)
    centre, spread, share = np.take_along_axis(of_fold, label[None], axis=-1)
    at = np.take_along_axis(rated, label[None], axis=0)[0]
    return np.stack([centre, at, spread, share])
