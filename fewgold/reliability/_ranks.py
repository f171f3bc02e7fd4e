"""How well a ranking of systems agrees with that of the full set."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray


class Agreement(NamedTuple):
    """Means over draws: Kendall's τ-b, pairs in the same order, rankings that are the same."""

    tau: FloatArray
    pairs: FloatArray
    exact: FloatArray


def agreement(means: FloatArray, full: FloatArray) -> Agreement:
    """Compare the rankings of draws (draws, scores, systems) with the full one (scores, systems).

    Pairs that tie in the full set have no order to keep and are left out; pairs that tie in a draw
    count as half in order. A draw in which all systems tie has a τ of 0.

    >>> import numpy as np
    >>> draws = np.array([[[1.0, 2.0, 3.0]], [[2.0, 1.0, 3.0]]])
    >>> found = agreement(draws, np.array([[1.0, 2.0, 4.0]]))
    >>> found.tau.round(3), found.pairs.round(3), found.exact
    (array([0.667]), array([0.833]), array([0.5]))
    """
    first, second = np.triu_indices(full.shape[-1], 1)
    # What differs by rounding alone is a tie.
    hair = 1e-9 * (np.abs(full).max(-1, keepdims=True) + np.ptp(full, axis=-1, keepdims=True))
    seen = _sign(means[..., first] - means[..., second], hair)
    want = _sign(full[..., first] - full[..., second], hair)
    ordered = (want != 0).sum(-1)
    product = seen * want
    both = np.sqrt((seen != 0).sum(-1) * ordered)
    tau = np.divide(product.sum(-1), both, out=np.zeros(both.shape), where=both > 0)
    with np.errstate(invalid="ignore", divide="ignore"):  # all tie in the full set: nothing to keep
        pairs = (1 + (product.sum(-1) / ordered)) / 2
    exact = (product == np.abs(want)).all(-1)
    none = ordered == 0
    return Agreement(
        np.where(none, np.nan, tau.mean(0)),
        np.where(none, np.nan, pairs.mean(0)),
        np.where(none, np.nan, exact.mean(0)),
    )


def _sign(gap: FloatArray, hair: FloatArray) -> FloatArray:
    return np.asarray(np.where(np.abs(gap) <= hair, 0.0, np.sign(gap)))
