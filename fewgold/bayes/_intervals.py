"""A few quantiles of each of many posteriors of α, where no density has to be drawn for them."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes._bank import Bank, panel_nodes
from fewgold.bayes._choice import LARGE, by_mixture
from fewgold.bayes._known import known_bank
from fewgold.bayes._panels import Panels, singular
from fewgold.bayes._quantiles import Law, quantiles
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._weights import weights

_EXACT = 1e-8
# Windows in sds to either side and their panels: wider ones where a density is skewed.
_WINDOWS = ((8.0, 8), (13.0, 14), (25.0, 26))
_FLOOR = 1e-11  # of the highest density: what may be left at the ends of a window
_HALF_PI = 0.5 * np.pi


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
    todo &= (by_mixture(shape) | sums) & ~small
    if todo.any():
        chosen = np.flatnonzero(todo)
        for rows, found in weights(shape.draw(chosen), rates):
            some = shape.draw(chosen[rows])
            chances = np.broadcast_to(p, (rows.size, p.size))
            out[chosen[rows]] = quantiles(found, some.a0, some.b0, some.total, chances)
        done |= todo
    return out, done


def batch_panels(shape: Shapes) -> dict[int, Panels]:
    """The densities of the mixtures of shapes (n,) in panels, where that is quick."""
    rough = singular(shape.a0) | singular(shape.b0)
    chosen = np.flatnonzero((shape.total > 0) & (shape.total <= LARGE) & ~rough)
    out: dict[int, Panels] = {}
    if not chosen.size:
        return out
    for rows, found in weights(shape.draw(chosen)):
        some = shape.draw(chosen[rows])
        law = Law(found, some.a0, some.b0, some.total)
        mean, variance = law.moments()
        centre, sd = np.arcsin(np.sqrt(mean)), np.sqrt(variance / (4 * mean * (1 - mean)))
        todo = np.arange(rows.size)
        for reach, panels in _WINDOWS:
            low = np.maximum(centre[todo] - reach * sd[todo], 0.0)
            high = np.minimum(centre[todo] + reach * sd[todo], _HALF_PI)
            omega = panel_nodes(low, high, panels)
            row = np.repeat(todo, omega.shape[1])
            _, density = law.at(row, (np.sin(omega) ** 2).ravel())
            density = density.reshape(omega.shape) * np.sin(2 * omega)
            bank, error = Bank.fit(low, high, density)
            left = np.stack([density[:, 0] * (low > 0), density[:, -1] * (high < _HALF_PI)])
            good = (error < 0.1 * _EXACT) & (left.max(0) < _FLOOR * density.max(-1))
            for at in np.flatnonzero(good):
                out[int(chosen[rows[todo[at]]])] = bank.row(int(at))
            todo = todo[~good]
            if not todo.size:
                break
    return out
