"""Uneven raters: what their biases add to the systems, and what taking them out costs."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.comparison._rater_fit import best_fit
from fewgold.comparison._raters import Raters
from fewgold.comparison._table import Scored


def adjusted_spread(rated: Scored, documents: IntArray, systems: int) -> FloatArray:
    """Variance of differences of adjusted means, by leaving out a document at a time: (S, S).

    What a document has in common enters the biases and the means alike, above all where a rater
    was given whole documents; a formula that takes ratings for independent misses both.
    """
    where = documents[rated.segment]
    found = []
    for left_out in np.unique(where):
        kept = where != left_out
        some = Scored(
            rated.segment[kept], rated.system[kept], rated.rater[kept], rated.score[kept],
            rated.raters,
        )  # fmt: skip
        if np.unique(some.system).size < systems:
            return np.full((systems, systems), np.inf)
        owner, item = some.outputs()
        bias = np.nan_to_num(best_fit(some, item)[0].bias)
        each = np.bincount(item, some.score - bias[some.rater]) / np.bincount(item)
        mean = np.bincount(owner, each, minlength=systems) / np.bincount(owner, minlength=systems)
        found.append(mean[:, None] - mean[None, :])
    many = np.stack(found)
    return np.asarray(np.square(many - many.mean(0)).sum(0) * (len(many) - 1) / len(many))


def mixes(rated: Scored, systems: int) -> FloatArray:
    """Share that each rater has in the mean score of each system: (S, R), rows sum to 1.

    Times the biases this is what uneven raters add to each system.
    """
    owner, item = rated.outputs()
    share = 1 / (np.bincount(item)[item] * np.bincount(owner, minlength=systems)[rated.system])
    raters = len(rated.raters)
    found = np.bincount(rated.system * raters + rated.rater, share, minlength=systems * raters)
    return np.asarray(found.reshape(systems, raters), dtype=np.float64)


def bias_variance(mix: FloatArray, raters: Raters) -> FloatArray:
    """What taking out estimated biases adds to the variance of each difference: (S, S)."""
    uneven = mix[:, None, :] - mix[None, :, :]
    return np.asarray(np.clip(np.vecdot(uneven @ raters.covariance, uneven), 0.0, None))
