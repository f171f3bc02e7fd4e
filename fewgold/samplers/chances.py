"""Uneven chances: rate more where ratings are expected to be far from the metrics' prediction.

The variance of a mean corrected by metrics is about Σ σ² (1/π − 1) / N², where σ is the spread of a
rating around its prediction and π the segment's chance of being drawn. It is smallest for π
proportional to σ: Neyman's allocation, segment by segment (Särndal, Swensson and Wretman 1992,
section 12.2). σ is never known exactly, so the chances are mixed with equal ones: a wrong guess of
σ then costs little.

A small callable provides σ: `ExpectedSpread` reads it from the pool (a column, a judge's
probability, or `fewgold.History`), `RatedSpread` learns it from ratings of an earlier wave, and
`RankSpread` uses the metrics alone, which suits error counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.text import verb
from fewgold.design import Design, DesignKind
from fewgold.errors import BudgetError, DataError, DesignError
from fewgold.pool import Pool
from fewgold.sample import Ratings

#: Returns the expected spread of each segment's rating from the pool: (N,), nonnegative.
Spread: TypeAlias = Callable[[Pool], FloatArray]

# The spread of error counts by rank of the predicted score, best output first, relative to its
# mean: a line that fits several years of MQM ratings.
_LEAST, _SLOPE = 0.42, 1.16
# Scales up to this length are pass or fail, or Likert: ratings do not cluster at their good end.
_SHORT = 10.0
# Fewest ratings of an earlier wave from which spreads can be learnt.
_FEWEST = 20
# Penalty of the prediction, penalty of the slope of log spreads, and the number of standard
# deviations at which predictions are clipped. Chosen on pilots of 30 to 120 real ratings.
_PENALTIES = tuple(np.geomspace(1.0, 1e4, 9))
_SLOPE_PENALTY = 0.1
_FAR = 2.5
# Fewest ratings per balanced variate: the variance loses a degree of freedom for each.
RATINGS_PER_VARIATE = 8


@dataclass(frozen=True)
class RankSpread:
    """Spread from the rank of the metrics alone: the worse an output, the less certain its score.

    For scores bounded at the good end, such as error counts: good outputs all have about 0 errors,
    bad ones any number. Not for pass or fail, nor for ratings that cluster in the middle. At least
    one metric needs a known orientation: ranked the wrong way round, the sample would be worse than
    one with equal chances.
    """

    suffix: ClassVar[str] = "-rank"

    def __call__(self, pool: Pool) -> FloatArray:
        _check_oriented(pool)
        worse = np.argsort(np.argsort(-pool.composite(), kind="stable"), kind="stable")
        return np.asarray(_LEAST + _SLOPE * (worse + 0.5) / len(pool))


def _check_oriented(pool: Pool) -> None:
    if pool._tells_quality:
        return
    names = ", ".join(list(pool.metrics)[:3]) + (", …" if len(pool.metrics) > 3 else "")
    raise DesignError(
        "chances that follow the rank of the metrics need a metric whose direction (is larger "
        "better?) is known; " + (f"that of {names} is not." if names else "this pool has none."),
        hints={
            "python": "Give orientation={name: 1} (larger is better) or -1 (larger is worse) to "
            "the pool, or use docs-balanced.",
            "cli": "Give --orientation NAME=+1 (larger is better) or NAME=-1 (larger is worse), or "
            "use --strategy docs-balanced+ridge.",
            "web": "Choose docs-balanced+ridge.",
        },
    )


@dataclass(frozen=True)
class ExpectedSpread:
    """The pool's own expected spread, or equal spreads if it has none."""

    def __call__(self, pool: Pool) -> FloatArray:
        return np.ones(len(pool)) if pool.spread is None else pool.spread


@dataclass(frozen=True, eq=False)
class RatedSpread:
    """Spread learnt from ratings: log-linear in the score predicted by the metrics.

    The prediction is a ridge regression on all metrics, the residuals are leave-one-out residuals,
    and the slope of the log-linear model is penalised, since few ratings say little about spreads.
    """

    ratings: Ratings

    def __call__(self, pool: Pool) -> FloatArray:
        from sklearn.linear_model import PoissonRegressor, RidgeCV

        sample, y = self.ratings.sample, self.ratings.scores
        if y.ndim != 1:
            raise DesignError("the spread is learnt from one draw at a time: ratings.draw(k).")
        if y.size < _FEWEST or not pool.metrics:
            return np.ones(len(pool))
        # Standardised as in the ratings' pool, of which this one may be a part.
        whole = sample.pool.matrix(pool.metrics)
        centre, scale = whole.mean(-1, keepdims=True), whole.std(-1, keepdims=True)
        rated, every = (((x - centre) / scale).T for x in (whole[:, sample.indices], pool.matrix()))
        model = RidgeCV(_PENALTIES, store_cv_results=True).fit(rated, y)
        error = np.sqrt(model.cv_results_[:, model.cv_results_.mean(0).argmin()])
        seen, predicted = model.predict(rated), model.predict(every)
        if not (error.any() and (width := seen.std()) > 0):  # nothing to learn from
            return np.ones(len(pool))
        place = [
            np.clip((p - seen.mean()) / width, -_FAR, _FAR)[:, None] for p in (seen, predicted)
        ]
        spread = PoissonRegressor(alpha=_SLOPE_PENALTY).fit(place[0], error / error.mean())
        return np.asarray(spread.predict(place[1]))


@dataclass(frozen=True)
class Chances:
    """Inclusion probabilities that follow the expected spread of ratings.

    Parameters
    ----------
    spread
        Source of the expected spread: any callable that returns one number per segment of a pool.
    uniform
        Share of equal chances in the mixture, above 0 and up to 1. A smaller share gains more if
        the spreads are right, and loses more if they are wrong, as with an overconfident judge.
    """

    spread: Spread = ExpectedSpread()
    uniform: float = 0.25

    def __post_init__(self) -> None:
        if not callable(self.spread):
            raise DesignError(
                "spread must be a function that takes a pool and returns one number per segment; "
                f"got {type(self.spread).__name__}. To give the numbers themselves, write "
                "pool.with_spread(numbers) and Chances()."
            )
        if not (isinstance(self.uniform, int | float | np.number) and 0 < self.uniform <= 1):
            raise DesignError(
                "the share of equal chances in the mixture must lie above 0 and up to 1; got "
                f"{self.uniform!r}.",
                hints={
                    "python": "Give uniform=0.5 for half and half.",
                    "cli": "Give --uniform 0.5 for half and half.",
                },
            )

    @property
    def name(self) -> str:
        """Suffix of the names of samplers with these chances."""
        return "uneven" + getattr(self.spread, "suffix", "")

    @property
    def _follow_ranks(self) -> bool:
        """Whether the chances depend on the rank of the metrics alone."""
        return isinstance(self.spread, RankSpread)

    def _check_scale(self, limits: tuple[float, float] | None) -> None:
        """Refuse to follow the rank of the metrics if the rating scale is known to be short."""
        if limits is None or limits[1] - limits[0] > _SHORT or not self._follow_ranks:
            return
        raise DesignError(
            "chances that follow the rank of the metrics suit error counts, but not a scale from "
            f"{limits[0]:g} to {limits[1]:g}: there, ratings do not vary most where the metrics "
            "are worst.",
            hints={
                "python": "Give the pool a spread (Pool.with_spread, spread_of_probability, "
                "History.inform) and use docs-uneven; or use docs-balanced or docs-two-wave.",
                "cli": "Name a column with --uncertainty (a judge's probability will do) or give "
                "earlier ratings with --history, and use --strategy docs-uneven+ridge; or use "
                "docs-balanced+ridge or docs-two-wave+ridge.",
                "web": "Choose docs-balanced+ridge or docs-two-wave+ridge.",
            },
        )

    def inclusion(self, pool: Pool, n: int) -> FloatArray:
        """The chance of each segment of being among ``n``: (N,), with sum n and none above 1."""
        spread = np.asarray(self.spread(pool), dtype=np.float64)
        if spread.shape != (len(pool),):
            raise DataError(
                f"the expected spread must be one number per segment, shape ({len(pool)},); got "
                f"{spread.shape}."
            )
        bad = ~np.isfinite(spread) | (spread < 0)
        if bad.any():
            raise DataError(
                f"{int(bad.sum())} of {bad.size} expected spreads {verb(int(bad.sum()), 'are')} "
                "negative, missing or "
                f"infinite, first for id {pool.ids[bad][0]!s}. Give a number of at least 0 for "
                "every segment."
            )
        if not spread.any():
            raise DataError(
                "all expected spreads are 0, so they favour no segment. Leave them out, or give "
                "spreads above 0."
            )
        # Divide by the largest first, so that extreme spreads do not overflow.
        relative = spread / spread.max()
        return capped(self.uniform + (1 - self.uniform) * relative / relative.mean(), n)


def spread_of_probability(probability: FloatArray) -> FloatArray:
    """The spread √(q(1 − q)) of a pass or fail rating, from a judge's probability q of a pass."""
    q = np.asarray(probability, dtype=np.float64)
    outside = ~((q >= 0) & (q <= 1))
    if outside.any():
        raise DataError(
            f"probabilities lie between 0 and 1; {int(outside.sum())} of {q.size} "
            f"{verb(int(outside.sum()), 'do')} not, first "
            f"{q[outside][0]:g}."
        )
    return np.asarray(np.sqrt(q * (1 - q)))


def capped(mass: FloatArray, n: int) -> FloatArray:
    """Chances proportional to ``mass``, at most 1, with sum ``n``: (N,).

    Segments that would get more than 1 are taken with certainty and the rest is redistributed among
    the others (water-filling), in closed form: with masses in decreasing order, k of them are
    certain if the k-th is the last one with more than 1.
    """
    positive = int((mass > 0).sum())
    if n > positive:
        raise BudgetError(
            f"cannot draw {n} segments, because only {positive} have a chance above 0. Lower the "
            "budget, or give every segment a chance."
        )
    falling = np.sort(mass)[::-1]
    left = falling[::-1].cumsum()[::-1]  # mass of the k-th segment and all after it
    # With k taken already, the next one would get (n − k) mass / left.
    over = (n - np.arange(mass.size)) * falling > left * (1 + 1e-12)
    k = int(np.argmin(over)) if not over.all() else mass.size
    certain = mass > falling[k] if k < mass.size else np.ones(mass.size, dtype=bool)
    if k < mass.size and int(certain.sum()) != k:  # ties at the boundary are treated alike
        k = int(certain.sum())
    rest = float(mass[~certain].sum())
    share = np.minimum(mass * ((n - k) / rest if rest > 0 else 0.0), 1.0)
    return np.asarray(np.where(certain, 1.0, share))


def uneven_design(
    kind: DesignKind,
    inclusion: FloatArray,
    rows: IntArray,
    groups: IntArray,
    variates: FloatArray | None = None,
) -> Design:
    """The design of rows (draws, n) drawn with chances (N,), compared in ``groups`` (n,).

    Weights are in proportion to 1/π and sum to 1 (Hájek). With a fixed number of segments and a
    fixed sum of weights, the chances are balanced too, besides ``variates`` (p, N).
    """
    n, size = rows.shape[-1], inclusion.size
    own = inclusion[rows]
    weights = 1 / own
    balance = None
    if np.ptp(inclusion) > 1e-9 and n >= RATINGS_PER_VARIATE:
        level = (inclusion * (size / n) - 1)[None]
        table = level if variates is None else np.concatenate([level, variates])
        balance = np.moveaxis(table[:, rows], 0, -2)
    return Design(
        kind=kind,
        size=size,
        weights=weights / weights.sum(-1, keepdims=True),
        inclusion=own,
        groups=np.broadcast_to(np.unique(groups, return_inverse=True)[1], rows.shape),
        balance=balance,
    )
