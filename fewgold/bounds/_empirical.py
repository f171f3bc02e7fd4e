"""The farthest mean that an adjusted empirical likelihood allows, for many draws at once.

R is that of `Likelihood`: to n units x of mean 0 one is added beyond the mean that is tried,
``extra`` times as far from it as 0 is. Newton's steps are quick and nearly always settle; a bracket
serves where they do not.
"""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray

_STEPS, _TRIES = 60, 15
_NEAR = 1e-9


def furthest(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """The mean above that of x, 0, at which −2 log R is ``most``: (draws, n), (draws,) -> (draws,).

    Infinite where even the farthest mean is not too far.
    """
    n = x.shape[-1]
    # Far out only n units on one side and the extra one on the other are left.
    limit = -2 * (n * np.log((n + 1) * extra / (n * (1 + extra))) + np.log((n + 1) / (1 + extra)))
    found = np.full(most.shape, np.inf)
    live = np.flatnonzero(most < limit)
    found[live] = _at_once(x[live], most[live], extra)
    lost = live[np.isnan(found[live])]
    found[lost] = _in_bracket(x[lost], most[lost], extra)
    return found


def _at_once(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """Newton's steps in the mean and the multiplier together; nan where they did not settle."""
    found = np.full(len(x), np.nan)
    live = np.arange(len(x))
    # A column for the extra unit; units move against the mean, the extra one with it.
    x = np.concatenate([x, np.zeros((len(x), 1))], axis=-1)
    move = np.full(x.shape[-1], -1.0)
    move[-1] = extra
    mean = np.sqrt(most / (x.shape[-1] - 1))
    g = x + move * mean[:, None]
    pull = g.sum(-1) / np.square(g).sum(-1) / 2
    for _ in range(_TRIES):
        if not live.size:
            break
        g = x + move * mean[:, None]
        tilt = 1 + pull[:, None] * g
        # Half of the way back to no pull keeps all weights above 0 in the end.
        while (bad := tilt.min(-1) <= 0).any():
            pull = np.where(bad, pull / 2, pull)
            tilt = 1 + pull[:, None] * g
        pulled = g / tilt
        off, over = pulled.sum(-1), 2 * np.log(tilt).sum(-1) - most
        across = (move / np.square(tilt)).sum(-1)
        rise = 2 * pull * (move / tilt).sum(-1)
        bend = np.square(pulled).sum(-1)
        # [−bend across; 2 off rise] (steps) = −(off, over)
        det = -bend * rise - 2 * off * across
        step = (bend * over + 2 * off * off) / np.where(det == 0, np.nan, det)
        new = np.clip(mean + step, mean / 2, mean * 2)
        pull = pull + (off + across * (new - mean)) / bend
        done = (np.abs(new - mean) <= _NEAR * mean) & (np.abs(over) <= 1e-7)
        found[live[done]] = new[done]
        keep = np.flatnonzero(~done & np.isfinite(new) & np.isfinite(pull))
        live, x, most, mean, pull = live[keep], x[keep], most[keep], new[keep], pull[keep]
    return found


def _in_bracket(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """The same where that fails: the multiplier for each mean, and the mean kept in a bracket.

    The root of −2 log R is nearly a straight line in the mean.
    """
    found, live, goal = np.empty(len(x)), np.arange(len(x)), np.sqrt(most)
    mean, pull = goal / np.sqrt(x.shape[-1]), np.zeros(len(x))
    low, high = np.zeros(len(x)), np.full(len(x), np.inf)
    for _ in range(_STEPS):
        if not live.size:
            break
        pull, root, slope = _profile(x, mean, pull, extra)
        low, high = np.where(root < goal, mean, low), np.where(root < goal, high, mean)
        step = mean + (goal - root) / slope
        halved = np.where(np.isfinite(high), (low + high) / 2, 2 * mean)
        new = np.where((step > low) & (step < high) & (step < 4 * mean), step, halved)
        found[live] = new
        keep = np.flatnonzero(np.abs(new - mean) > _NEAR * mean)
        live, x, goal, mean = live[keep], x[keep], goal[keep], new[keep]
        pull, low, high = pull[keep], low[keep], high[keep]
    return found


def _profile(
    x: FloatArray, mean: FloatArray, pull: FloatArray, extra: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The Lagrange multiplier at a mean, the root of −2 log R there, and its slope in the mean."""
    g = np.concatenate([x - mean[:, None], extra * mean[:, None]], axis=-1)
    low, high = -1 / g.max(-1), -1 / g.min(-1)  # within which all weights are above 0
    pull = np.where((pull > low) & (pull < high), pull, 0.0)
    for _ in range(_STEPS):
        pulled = g / (1 + pull[:, None] * g)
        left = pulled.sum(-1)  # falls in the multiplier
        low, high = np.where(left > 0, pull, low), np.where(left > 0, high, pull)
        step = pull + left / np.square(pulled).sum(-1)
        new = np.where((step > low) & (step < high), step, (low + high) / 2)
        settled = np.abs(new - pull) <= _NEAR * np.abs(new)
        pull = new
        if settled.all():
            break
    weight = 1 + pull[:, None] * g
    root = np.sqrt(np.maximum(2 * np.log(weight).sum(-1), 1e-300))
    weight = 1 / weight
    slope = pull * (extra * weight[:, -1] - weight[:, :-1].sum(-1)) / root
    return pull, np.asarray(root), np.asarray(slope)
