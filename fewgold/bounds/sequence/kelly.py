"""Bets for an interval meant to become as narrow as a tolerance, and their capital.

The proof is that of `fewgold.bounds.betting`: the capital against the true mean is a nonnegative
martingale, and the chance that it *ever* reaches 1/δ is δ at most (Ville 1939). It does not need a
size fixed beforehand, so you may look after every rating and stop whenever you like.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fewgold.bounds.betting import (
    CAP,
    PRIOR,
    WEIGHT,
    anderson_bjorck,
    capital_factors,
    control_variate,
    running_variance,
)
from fewgold.common.arrays import FloatArray, IntArray, batches

#: Ends of intervals are multiples of this share of the scale, so that they do not depend on how
#: they were searched for.
LATTICE = 1e-6


def mean_of(steps: IntArray) -> FloatArray:
    """The mean that is this many lattice steps above the lower end of the scale."""
    return np.asarray(steps * LATTICE, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Game:
    """Bets that the mean is higher than some candidate, one row per draw: (rows, n) all."""

    seen: FloatArray  # sum of the ratings before this one, in [0, 1] each
    after: FloatArray  # the same including this one
    payoff: FloatArray  # the rating minus the control variate
    margin: FloatArray | None  # how far below 0 the control variate may push a payoff
    bets: FloatArray  # stakes from earlier ratings only, not yet capped
    size: int  # segments in the pool

    @property
    def n(self) -> int:
        return int(self.seen.shape[-1])

    @property
    def left(self) -> FloatArray:
        """Segments not drawn before each rating: (n,); 1 where columns were added at the end."""
        return np.maximum(self.size - np.arange(self.n, dtype=np.float64), 1.0)

    def __getitem__(self, at: tuple[slice | IntArray, slice]) -> Game:
        """The same game, restricted to some rows and the first columns."""
        margin = None if self.margin is None else self.margin[at]
        parts = {name: getattr(self, name)[at] for name in ("seen", "after", "payoff", "bets")}
        return replace(self, margin=margin, **parts)

    def factors(self, means: FloatArray, bets: FloatArray | None = None) -> FloatArray:
        """Factors by which ratings multiply the capital if ``means`` are true: (rows, n).

        They are decreasing in the mean, and so is the capital: an end of the interval is a root. A
        game of one row can be played against many means.
        """
        mean = self.size * means[:, None] - self.seen
        np.maximum(mean, 0.0, out=mean)  # rounding below 0 would reject sparse scores
        mean /= self.left  # mean of the segments left before each rating
        stakes = self.bets if bets is None else bets
        return capital_factors(mean, self.payoff, self.margin, stakes, CAP)

    def capital(self, means: FloatArray) -> FloatArray:
        """Logarithm of the capital after each rating: (rows, n)."""
        factors = self.factors(means)
        np.log(factors, out=factors)
        return np.cumsum(factors, axis=-1, out=factors)


def games(
    scores: FloatArray,
    size: int,
    tolerance: float,
    metric: tuple[FloatArray, IntArray] | None = None,
) -> tuple[Game, Game]:
    """Bets on high scores, and bets on low ones with the scale reversed.

    ``scores`` (draws, n) and ``tolerance`` are on the scale from 0 to 1; ``metric`` is that of the
    pool (N,) with the rows drawn (draws, n).

    For a bet that wins d on average with variance v, capital grows fastest with the stake d/(v +
    d²) (Kelly 1956, to second order). If the mean is off by the tolerance, the mean of the segments
    left before rating t is off by d = tolerance · N/(N − t + 1).
    """
    told = np.zeros(1)
    margins: tuple[FloatArray | None, FloatArray | None] = (None, None)
    if metric is not None:
        told, (least, most) = control_variate(scores, *metric)
        margins = (most, -least)
    off = tolerance * size / (size - np.arange(scores.shape[-1], dtype=np.float64))
    both = []
    for x, payoff, margin in zip(
        (scores, 1.0 - scores), (scores - told, 1.0 - scores + told), margins, strict=True
    ):
        after = np.cumsum(x, axis=-1)
        seen = np.concatenate([np.zeros((len(x), 1)), after[:, :-1]], axis=-1)
        variance = running_variance(payoff, PRIOR, WEIGHT)
        both.append(Game(seen, after, payoff, margin, off / (variance + off * off), size))
    return both[0], both[1]


# The ends of the interval after each rating, and when it is narrow enough ---
#
# Ends are on a lattice: the largest multiple of `LATTICE` that is rejected. Since capital is
# decreasing in the mean, that multiple does not depend on the search: a path, a batch of draws and
# ratings that come one by one give the same interval.

# Number of means to try first, for all ratings at once.
_SCOUTS = 64
# Number of parts of the scale in the search for the last end.
_PARTS = 16
# Factors to multiply before taking a logarithm, the most expensive step.
_CHUNK = 16
# Numbers to process at once: they should stay in the cache.
_BLOCK = 1 << 16
_TOP = round(1 / LATTICE)
_NEVER = 1 << 40


def last_end(game: Game, goal: float) -> IntArray:
    """The end after the last rating, in units of the lattice: (rows,)."""
    rows = range(len(game.seen))
    return np.array([_last_of(game[k : k + 1, :], goal) for k in rows], dtype=np.int64)


def _last_of(game: Game, goal: float) -> int:
    """`last_end` for one row: two rounds of a few means, then false position with bisection."""

    def over(tried: IntArray) -> FloatArray:
        """Excess of the maximum capital so far over its goal."""
        return np.asarray(game.capital(mean_of(tried)).max(-1) - goal)

    a, b = 0, _TOP
    f_a, f_b = np.inf, -np.inf
    for _ in range(2):
        tried = np.arange(1, _PARTS) * (b - a) // _PARTS + a
        values = over(tried)
        count = int((values >= 0).sum())
        if count > 0:
            a, f_a = int(tried[count - 1]), float(values[count - 1])
        if count < tried.size:
            b, f_b = int(tried[count]), float(values[count])
    turn = 0
    while b - a > 1:
        turn += 1
        x = (a + b) // 2
        if turn % 3 and np.isfinite(f_a - f_b):
            x = min(max(round(b - f_b * (b - a) / (f_b - f_a)), a + 1), b - 1)
        f = float(over(np.array([x]))[0])
        # The value at the end that stays is halved, or the other end would converge slowly
        # (Illinois).
        a, b, f_a, f_b = (x, b, f, f_b / 2) if f >= 0 else (a, x, f_a / 2, f)
    return a


def ends(game: Game, goal: float) -> IntArray:
    """The end after each rating, in units of the lattice: (rows, n)."""
    found = np.empty(game.seen.shape, dtype=np.int64)
    for row, top in enumerate(last_end(game, goal)):
        found[row] = _ends_of(game[row : row + 1, :], goal, int(top))
    return found


def _ends_of(game: Game, goal: float, top: int) -> IntArray:
    """`ends` for one row, given the end after its last rating: (n,).

    Some means are tried against all ratings at once. This leaves a narrow range for each end, and
    shows which ratings can have moved it: only those that raised the capital there.
    """
    # Most ends are near the last one.
    near = 1 - (1 - np.linspace(0, 1, _SCOUTS)) ** 2
    tried = np.append(np.unique((top * near).astype(np.int64)), top + 1)
    capital = game.capital(mean_of(tried)) - goal
    rejected = np.maximum.accumulate(capital, axis=-1) >= 0
    rejected[0] = True  # the end of the scale counts as rejected by convention
    below = rejected.sum(0) - 1
    column = np.arange(game.n)
    low, high = tried[below], tried[below + 1]
    at_low, at_high = capital[below, column], capital[below + 1, column]
    moves = at_low >= 0
    low_mean = np.maximum(game.size * mean_of(low) - game.seen[0], 0) / game.left
    moves &= game.payoff[0] > low_mean
    chosen = np.flatnonzero(moves)
    found = np.zeros(game.n, dtype=np.int64)
    width = max(1, _BLOCK // max(game.n, 1))
    for block in batches(chosen.size, width):
        at = chosen[block]
        found[at] = _search(game, goal, at + 1, (low[at], high[at]), (at_low[at], at_high[at]))
    return np.maximum.accumulate(np.maximum(found, low))


def _search(
    game: Game,
    goal: float,
    count: IntArray,
    within: tuple[IntArray, IntArray],
    values: tuple[FloatArray, FloatArray],
) -> IntArray:
    """The largest mean that the capital after ``count`` ratings rejects, by false position.

    Bisection if three of its steps gained less.
    """
    (a, b), (f_a, f_b) = within, values
    columns = -(-int(count.max()) // _CHUNK) * _CHUNK
    # Pad with columns that have no effect if the game has too few.
    game, more = game[:, :columns], ((0, 0), (0, max(0, columns - game.n)))
    margin = None if game.margin is None else np.pad(game.margin, more)
    seen, payoff, stakes = (np.pad(v, more) for v in (game.seen, game.payoff, game.bets))
    game = replace(game, seen=seen, payoff=payoff, margin=margin, bets=stakes)
    bets = np.where(np.arange(columns) < count[:, None], game.bets, 0.0)
    found, live = a.copy(), np.flatnonzero(b - a > 1)
    a, b, f_a, f_b, bets = a[live], b[live], f_a[live], f_b[live], bets[live]
    last, before, turn = np.zeros(live.size), b - a, 0
    while live.size:
        turn += 1
        x = np.rint(b - f_b * (b - a) / (f_b - f_a)).astype(np.int64)
        if turn % 3 == 0:
            x = np.where(b - a > before // 2, (a + b) // 2, x)
            before = b - a
        x = np.clip(x, a + 1, b - 1)
        factors = game.factors(mean_of(x), bets).reshape(live.size, -1, _CHUNK)
        f = np.log(factors.prod(-1)).sum(-1) - goal
        up = f >= 0
        f_a, f_b = anderson_bjorck(f, f_a, f_b, last)
        a, b, last = np.where(up, x, a), np.where(up, b, x), np.where(up, 1, -1)
        found[live] = a
        keep = b - a > 1
        if not keep.all():
            live, bets, a, b = live[keep], bets[keep], a[keep], b[keep]
            f_a, f_b, last, before = f_a[keep], f_b[keep], last[keep], before[keep]
    return found


def first_stop(sides: tuple[Game, Game], goals: tuple[float, float], tolerance: float) -> IntArray:
    """Ratings after which the interval is at most two tolerances wide, n + 1 for never: (rows,).

    The interval is this narrow once its lower end has passed some mean and its upper end, from
    above, has passed the mean two tolerances higher. The higher the mean, the later the first
    happens and the earlier the second: the time to stop is where they meet. So one search over
    means finds it, without computing any interval.
    """
    rows, n = sides[0].seen.shape
    found = np.empty(rows, dtype=np.int64)
    for block in batches(rows, max(1, _BLOCK // n)):
        found[block] = _stop((sides[0][block, :], sides[1][block, :]), goals, tolerance)
    return found


def _stop(sides: tuple[Game, Game], goals: tuple[float, float], tolerance: float) -> IntArray:
    rows, n = sides[0].seen.shape
    none_left = n == sides[0].size  # nothing is uncertain any more
    both = int(np.ceil((1 - 2 * tolerance) / LATTICE - 1e-6))
    found, live = np.full(rows, n if none_left else n + 1), np.arange(rows)
    a, b = np.full(rows, -1), np.full(rows, both + 1)
    lower, upper = sides
    while live.size:
        middle = (a + b) // 2
        first = _passed(lower, middle, goals[0])
        second = _passed(upper, both - middle, goals[1])
        found[live] = np.minimum(found[live], np.maximum(first, second))
        a, b = np.where(first < second, middle, a), np.where(first > second, middle, b)
        keep = np.flatnonzero((first != second) & (b - a > 1))
        # Ratings after the point where all draws may stop do not matter any more.
        columns = min(lower.n, int(found[live[keep]].max(initial=0)))
        live, a, b = live[keep], a[keep], b[keep]
        lower, upper = lower[keep, :columns], upper[keep, :columns]
    return found


def _passed(game: Game, tried: IntArray, goal: float) -> IntArray:
    """Number of ratings after which a mean is rejected: (rows,)."""
    means = mean_of(tried)
    rejected = game.capital(means) >= goal
    # If the ratings alone already exceed the total for this mean, it is rejected without any bet.
    rejected |= game.after >= game.size * means[:, None] - 1e-9
    rejected[tried <= 0] = True  # the end of the scale needs no rating
    return np.where(rejected.any(-1), rejected.argmax(-1) + 1, _NEVER)
