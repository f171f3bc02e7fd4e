"""Bets that go by the capital that is still missing, for a size that was fixed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from fewgold._arrays import FloatArray, IntArray, batches
from fewgold.bounds._betting import PRIOR, WEIGHT, bet_for_size
from fewgold.bounds._ordered import OrderedBound
from fewgold.bounds._refused import least_unrated
from fewgold.bounds._sides import Side, running_variance

CAP, EAGER, AIM = 0.95, 0.9, 1.1
# The share of the misses that is spent on finding where to look.
_SCOUT = 0.01
# Width of a cell, as a share of twice the standard error of a binary score.
_CELL = 0.04
# Means that are tried at once, and numbers that are worked on at once.
_WIDTH = 12
_BLOCK = 1 << 19


@dataclass(frozen=True)
class STaR(OrderedBound):
    """STaR bets (Voráček and Orabona 2025), adapted to samples without replacement.

    As `Betting`, but each bet goes by what the capital still lacks of its goal and by what is left
    of the sample: ``λ_t = 0.9 w_t sqrt(2 ln(1.1/(δ K_{t−1})) / (v_t Σ_{s≥t} w_s²))``, capped at
    ``0.95/μ_t``, with ``v_t = σ̂² + (x̄ − μ_t)₊²`` from the ratings before.

    Guaranteed for every population between the limits, simple random samples of a size that was
    fixed before, and ratings in the order they were drawn in. Since K depends on the mean in
    question, so do the bets, and the capital need not fall in the mean. So the scale is cut
    beforehand into cells, and all means of a cell are judged by the bets for its upper end: with
    these the capital does fall, within the cell and from it to its end. The end of the interval
    lies in the first cell whose end is not refused. A true mean below it would have been refused by
    the bets of its own cell, which has a chance of δ at most. `Betting` with a hundredth of
    the misses says where to begin.

    Parameters
    ----------
    metric
        Name of a metric, or ``"mean"`` for the mean of all, that takes a part of the spread away: a
        control variate with slopes from the ratings before. Fix it before the ratings come.
    upper
        Share of the misses that the upper end may have. Fix it before the ratings come.

    References
    ----------
    Voráček and Orabona (2025), STaR-Bets: sequential target-recalculating bets for tighter
    confidence intervals.
    """

    name: ClassVar[str] = "star"
    reference: ClassVar[str] = (
        "Voráček and Orabona (2025), STaR-Bets: sequential target-recalculating bets for tighter "
        "confidence intervals"
    )

    def _least(self, side: Side, miss: FloatArray) -> FloatArray:
        rows, n = side.rest.shape
        goal = -np.log((1 - _SCOUT) * miss)
        floor = bet_for_size(side, _SCOUT * miss)
        total = side.rest[:, 0]
        # Cells are as wide at each mean as a binary score would be uncertain there.
        angle = _CELL * np.sqrt((1 - n / side.size) / n)
        last = int(np.ceil(np.pi / 2 / angle))
        first = np.sqrt(np.clip((total + floor) / side.size, 0.0, 1.0))
        cell = np.floor(np.arcsin(first) / angle).astype(np.int64) + 1
        found = np.full(rows, float(side.size - n))
        seek = np.arange(rows)
        while seek.size:
            tried = cell[seek, None] + np.arange(-1, _WIDTH)
            ends = side.size * np.sin(np.minimum(tried * angle, np.pi / 2)) ** 2
            ends = np.maximum(ends - total[seek, None], floor[seek, None])
            game = _play(side.rows(seek), ends[:, 1:], goal[seek])
            hit = np.flatnonzero(game.cell < _WIDTH)
            at = game.cell[hit]
            within = (ends[hit, at], np.maximum(ends[hit, at + 1], ends[hit, at]))
            chosen = seek[hit]
            found[chosen] = least_unrated(
                side.rows(chosen), game.bets[hit], goal[chosen], CAP, within
            )
            cell[seek] += _WIDTH
            seek = seek[(game.cell == _WIDTH) & (tried[:, -1] < last)]
        return found


class _Game(NamedTuple):
    cell: IntArray  # (rows,) first mean that is not refused, or their number
    bets: FloatArray  # (rows, n) bets for that mean


def _play(side: Side, unrated: FloatArray, goal: FloatArray) -> _Game:
    """Bet against each of the means that ``unrated`` (rows, means) stands for."""
    (rows, n), width = side.rest.shape, unrated.shape[-1]
    cell, bets = np.empty(rows, dtype=np.int64), np.empty((rows, n))
    for block in batches(rows, max(1, _BLOCK // (n * width))):
        part = _play_block(side.rows(block), unrated[block], goal[block])
        cell[block], bets[block] = part
    return _Game(cell, bets)


def _play_block(side: Side, unrated: FloatArray, goal: FloatArray) -> _Game:
    rows, n = side.rest.shape
    before = np.arange(n, dtype=np.float64)
    weight = np.square((side.size - n) / (side.left - 1))
    ahead = weight / np.cumsum(weight[::-1])[::-1]
    # Ratings first: (n, rows, means), so that each step of the game is one piece of memory.
    mean = (side.rest.T[:, :, None] + unrated) / side.left[:, None, None]
    seen = np.zeros((n, rows))
    np.cumsum(side.payoff.T[:-1], axis=0, out=seen[1:])
    seen /= np.maximum(before, 1.0)[:, None]
    pull = np.maximum(seen[:, :, None] - mean, 0.0)
    pull *= pull
    pull *= (before / (before + WEIGHT))[:, None, None]
    pull += running_variance(side.payoff, PRIOR, WEIGHT).T[:, :, None]
    drive = np.divide(2 * EAGER**2 * ahead[:, None, None], pull, out=pull)
    most = mean if side.margin is None else mean + side.margin.T[:, :, None]
    most = CAP / np.maximum(most, 1e-300)
    gain = side.payoff.T[:, :, None] - mean
    # One step after the other, so what counts is how many operations a step takes.
    lacking = np.broadcast_to(goal[:, None] + np.log(AIM), unrated.shape).copy()
    least, step = lacking.copy(), np.empty(unrated.shape)  # of the logarithm that is still missing
    nought, one = np.zeros(unrated.shape), np.ones(unrated.shape)
    for bet, cap, won in zip(drive, most, gain, strict=True):
        np.maximum(lacking, nought, out=step)
        np.multiply(bet, step, out=bet)
        np.sqrt(bet, out=bet)
        np.minimum(bet, cap, out=bet)
        np.multiply(bet, won, out=step)
        step += one
        np.log(step, out=step)  # many times faster than log1p, and no factor is near 0
        lacking -= step
        np.minimum(least, lacking, out=least)
    refused = least <= np.log(AIM)
    cell = np.where(refused.all(-1), unrated.shape[-1], np.argmin(refused, axis=-1))
    chosen = np.minimum(cell, unrated.shape[-1] - 1)
    return _Game(cell, np.ascontiguousarray(drive[:, np.arange(rows), chosen].T))
