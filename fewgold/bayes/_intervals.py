"""A few quantiles of each of many posteriors of α, where no density has to be drawn for them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes._known import known_bank
from fewgold.bayes._moments import LARGE
from fewgold.bayes._priors import Shapes
from fewgold.bayes._quantiles import quantiles
from fewgold.bayes._weights import weights

_EXACT = 1e-8


def batch_quantiles(
    shape: Shapes, rates: tuple[float, float] | None, p: FloatArray, sums: bool
) -> tuple[FloatArray, BoolArray]:
    """Quantiles at p (q,) of the posteriors with shapes (n,): (n, q), and which are done.

    ``sums`` takes the mixture where rates are known, and where there are very many ratings.
    """
    out = np.full((shape.a0.size, p.size), np.nan)
    done = shape.total == 0
    out[done] = betaincinv(shape.a0[done, None], shape.b0[done, None], p)
    todo = ~done
    if rates is not None and not sums:
        if todo.any():
            bank, error = known_bank(shape.draw(todo), rates)
            here = np.flatnonzero(todo)[error < _EXACT]
            out[here] = bank.draw(error < _EXACT).quantile(p)
            done[here] = True
        return out, done
    small = np.minimum(shape.a0, shape.b0) < 0.3  # infinite at an end: nearer to it than 1e-16
    todo &= ((shape.total <= LARGE) | sums) & ~small
    if todo.any():
        chosen = np.flatnonzero(todo)
        for rows, found in weights(shape.draw(chosen), rates):
            some = shape.draw(chosen[rows])
            chances = np.broadcast_to(p, (rows.size, p.size))
            out[chosen[rows]] = quantiles(found, some.a0, some.b0, some.total, chances)
        done |= todo
    return out, done
