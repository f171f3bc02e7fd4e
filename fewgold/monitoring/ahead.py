"""Planning a monitor: delay until an alarm, ratings needed, and their division among batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng, batches
from fewgold.common.checks import check_choice, check_count
from fewgold.common.text import plain_frame, plain_value
from fewgold.errors import DataError
from fewgold.monitoring import detector as d
from fewgold.monitoring.result import Monitoring

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Number of batches without a change before the drop.
_QUIET = 10
_MOST = 20_000


@dataclass(frozen=True, eq=False)
class Delays:
    """Batches until an alarm, by ratings per batch and size of the drop.

    Parameters
    ----------
    ratings, drops
        (R,) ratings per batch and (D,) drops.
    found
        (R, D, draws) batches from the drop to the alarm: 1 is the first worse batch, 0 an alarm
        before the drop, and horizon + 1 no alarm.
    horizon
        Number of batches simulated after the drop.
    sd, size, baseline
        Standard deviation of one rating after correction by metrics; segments per batch; batches
        of the baseline, 0 for a target, or ``before``.
    false_alarms
        As in `monitor`.
    """

    ratings: IntArray
    drops: FloatArray
    found: IntArray
    horizon: int
    sd: float
    size: int | None
    baseline: int | str
    false_alarms: d.FalseAlarms

    def __repr__(self) -> str:
        return f"Delays({self.ratings.size} numbers of ratings, {self.drops.size} drops)"

    def quantile(self, q: float) -> FloatArray:
        """Quantile ``q`` of the number of batches until the alarm: (R, D), inf if not reached."""
        out = np.empty(self.found.shape[:2])
        for at in np.ndindex(*out.shape):
            real = np.sort(self.found[at][self.found[at] > 0])
            out[at] = real[min(math.ceil(q * real.size), real.size) - 1] if real.size else 1
        return np.where(out > self.horizon, np.inf, out)

    @property
    def mean(self) -> FloatArray:
        """Mean number of batches until the alarm: (R, D); inf if over 5 % come after the
        horizon."""
        real = self.found > 0
        late = ((self.found > self.horizon).sum(-1) / np.maximum(real.sum(-1), 1)) > 0.05
        made = np.where(real, self.found, 0).sum(-1) / np.maximum(real.sum(-1), 1)
        return np.where(late, np.inf, made)

    def to_frame(self) -> pd.DataFrame:
        """One row per number of ratings and drop."""
        import pandas as pd

        middle, slow, mean = self.quantile(0.5), self.quantile(0.9), self.mean
        rows = []
        for (r, k), one in np.ndenumerate(mean):
            found = self.found[r, k]
            real = found[found > 0]
            rows.append({
                "ratings": int(self.ratings[r]), "drop": float(self.drops[k]), "mean": float(one),
                "median": float(middle[r, k]), "p90": float(slow[r, k]),
                "first_batch": float((real == 1).mean()) if real.size else math.nan,
                "missed": float((real > self.horizon).mean()) if real.size else math.nan,
                "false": float((found == 0).mean()),
            })  # fmt: skip
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """A readable table: the median delay, and the delay that one alarm in ten exceeds."""
        middle, slow = self.quantile(0.5), self.quantile(0.9)

        def cell(value: float) -> str:
            return f"> {self.horizon}" if math.isinf(value) else f"{value:.0f}"

        heads = ["ratings per batch", *(f"drop of {drop:g}" for drop in self.drops)]
        rows = [
            [
                str(n),
                *(f"{cell(middle[r, k])} ({cell(slow[r, k])})" for k in range(middle.shape[1])),
            ]
            for r, n in enumerate(self.ratings)
        ]
        wide = [max(len(line[k]) for line in [heads, *rows]) for k in range(len(heads))]
        lines = ["  ".join(c.rjust(w) for c, w in zip(line, wide, strict=True))
                 for line in [heads, *rows]]  # fmt: skip
        told = (
            "against a target"
            if not self.baseline
            else f"against all earlier batches, {_QUIET} of them good"
            if self.baseline == "before"
            else f"baseline of {self.baseline} batches"
        )
        told += f"; {self.false_alarms.promise(self.baseline not in (0, 'before'))}"
        told += f"; standard deviation of a rating {self.sd:.4g}"
        if self.size is not None:
            told += f"; {self.size} segments per batch"
        return "\n".join(
            [
                "Batches until the alarm: median (and what one alarm in ten exceeds)",
                "",
                *lines,
                "",
                told,
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """The table in plain numbers, for JSON."""
        made: dict[str, Any] = plain_value({
            "sd": self.sd, "size": self.size, "baseline": self.baseline, "horizon": self.horizon,
            "false_alarms": {
                "rate": self.false_alarms.rate, "looks": self.false_alarms.looks,
                "average_run": self.false_alarms.average_run,
            },
            "delays": plain_frame(self.to_frame()),
        })  # fmt: skip
        return made

    def plot(self, ax: Axes | None = None) -> Axes:
        """Median delay against ratings per batch, one curve per drop."""
        from fewgold.plots import style

        ax = style.axes_for(ax, 3.2, 5.6)
        middle = self.quantile(0.5)
        for k, drop in enumerate(self.drops):
            ax.plot(
                self.ratings, middle[:, k], marker=style.MARKERS[k % len(style.MARKERS)],
                color=style.PALETTE[k % len(style.PALETTE)], label=f"drop of {drop:g}",
            )  # fmt: skip
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False, fontsize=style.SMALL)
        style.name_axes(ax, "ratings per batch", "batches until the alarm", None)
        return ax


def delays(
    sd: float,
    drops: float | Sequence[float],
    ratings: int | Sequence[int] = (10, 20, 50, 100, 200),
    *,
    size: int | None = None,
    baseline: int | str = "before",
    false_alarms: d.FalseAlarms | float = 0.05,
    horizon: int = 104,
    draws: int = 400,
    rng: RNGLike = 0,
) -> Delays:
    """How late an alarm would be, by simulating the detector on normal batch scores.

    Parameters
    ----------
    sd
        Standard deviation of one rating after correction by metrics (`Monitoring.unit_sd`), or of
        the scores without metrics.
    drops
        One or several sizes of a drop; each alarm is tuned to its own.
    ratings
        Ratings per batch.
    size
        Segments per batch; None for very many.
    baseline
        ``before`` compares each batch with all earlier ones, with the drop after ten batches;
        otherwise the number of batches of a fixed baseline, or 0 for a target.
    false_alarms
        As in `monitor`.
    horizon
        Number of batches simulated after the drop.
    draws
        Simulations per cell.
    rng
        Seed or generator.

    Examples
    --------
    >>> made = delays(0.35, [0.1, 0.2], [25, 100], size=500, draws=200)
    >>> made.quantile(0.5)[1].tolist()
    [3.0, 1.0]
    """
    counts = np.atleast_1d(np.asarray(ratings, dtype=np.int64))
    sizes = np.atleast_1d(np.asarray(drops, dtype=np.float64))
    if not (math.isfinite(sd) and sd > 0):
        raise DataError(f"the standard deviation of a rating must be above 0; got {sd!r}.")
    if not (np.isfinite(sizes).all() and (sizes > 0).all() and sizes.size):
        raise DataError(f"drops must be numbers above 0; got {drops!r}.")
    if counts.min() < 2 or (size is not None and counts.max() > size):
        most = "" if size is None else f" and at most {size}, the segments of a batch"
        raise DataError(f"ratings per batch must be at least 2{most}; got {ratings!r}.")
    growing = baseline == "before"
    fixed = 0 if isinstance(baseline, str) else baseline
    if (isinstance(baseline, str) and not growing) or fixed < 0:
        raise DataError(
            f"the baseline must be 'before' or a number of batches (0: a target); got {baseline!r}."
        )
    check_count("horizon", horizon)
    check_count("draws", draws, 2)
    alarms = false_alarms
    if not isinstance(alarms, d.FalseAlarms):
        alarms = d.FalseAlarms(alarms)
    generator = as_rng(rng)
    noise = generator.normal(size=(draws, _QUIET + horizon))
    base = generator.normal(size=draws)
    weights = alarms.weights(_QUIET + horizon)
    threshold = alarms.log_threshold(fixed > 0)
    found = np.empty((counts.size, sizes.size, draws), dtype=np.int64)
    for r, n in enumerate(counts):
        # When compared with each other, batches are samples of the system's outputs.
        variance = sd**2 * (1 / n - (0.0 if size is None or growing or fixed else 1 / size))
        error = math.sqrt(variance)
        reference = np.zeros(draws)
        slack = 0.0
        if fixed:
            df = max(fixed * (int(n) - 1), 1)
            slack = float(stdtrit(df, 1 - alarms.baseline_rate)) * error / math.sqrt(fixed)
            reference = base * error / math.sqrt(fixed) - slack
        for k, drop in enumerate(sizes):
            score = error * noise
            score[:, _QUIET:] -= drop
            # As in `monitor`: tuned to the drop minus the margin of the baseline's bound.
            tuned = np.maximum(drop - slack, drop / 3)
            flat = np.full(score.shape, variance)
            if growing:
                later = np.concatenate([[0.0], weights[:-1]])
                evidence = np.concatenate([
                    d.log_evidence_before(score[b], flat[b], flat[b], float(drop), later)[0]
                    for b in batches(draws, 50)
                ])  # fmt: skip
            else:
                gap = reference[:, None] - score
                evidence = d.log_evidence(d.normal_e(gap, tuned, flat, flat), weights)
            over = evidence >= threshold
            first = np.where(over.any(-1), over.argmax(-1), _QUIET + horizon)
            found[r, k] = np.maximum(first - _QUIET + 1, 0)
    return Delays(counts, sizes, found, horizon, float(sd), size, baseline, alarms)


def ratings_for_delay(
    sd: float, drop: float, delay: float, *, size: int | None = None, **options: Any
) -> int | None:
    """The fewest ratings per batch for which the mean delay is at most ``delay`` batches.

    ``options`` are those of `delays`. None if even all segments of a batch (or 20,000) are too few.

    Examples
    --------
    >>> ratings_for_delay(0.35, 0.1, 4, size=1000, draws=200) < 150
    True
    """
    if not delay >= 1:
        raise DataError(
            f"the delay must be at least 1 (an alarm at the first worse batch); got {delay!r}."
        )
    most = _MOST if size is None else size

    def late(n: int) -> float:
        return float(delays(sd, drop, n, size=size, **options).mean[0, 0])

    if late(most) > delay:
        return None
    low, high = 1, most
    while high - low > 1:
        middle = int(math.sqrt(low * high)) if high > 2 * low else (low + high) // 2
        low, high = (low, middle) if late(max(middle, 2)) <= delay else (middle, high)
    return max(high, 2)


def share_budget(
    sds: Sequence[float] | FloatArray,
    sizes: Sequence[int] | IntArray,
    budget: int,
    *,
    goal: str = "each",
    least: int = 2,
) -> IntArray:
    """Divide ratings among several batches, by their expected variance.

    Parameters
    ----------
    sds
        (K,) expected standard deviation of one rating in each batch.
    sizes
        (K,) number of segments of each batch.
    budget
        Ratings for all batches together.
    goal
        ``each``: equal standard errors for all batches. ``all``: the smallest error of the mean
        of all segments (Neyman 1934).
    least
        Fewest ratings per batch.

    Examples
    --------
    >>> share_budget([0.2, 0.4], [1000, 1000], 100).tolist()
    [21, 79]
    >>> share_budget([0.2, 0.4], [1000, 1000], 100, goal="all").tolist()
    [33, 67]
    """
    check_choice("goal", goal, ("each", "all"))
    spread, count = np.asarray(sds, dtype=np.float64), np.asarray(sizes, dtype=np.int64)
    if spread.shape != count.shape or spread.ndim != 1 or not spread.size:
        raise DataError(
            f"each batch needs an expected standard deviation and a size; got {spread.size} and "
            f"{count.size}."
        )
    if not (np.isfinite(spread).all() and (spread >= 0).all() and (count >= 1).all()):
        raise DataError("standard deviations must be numbers of at least 0, sizes at least 1.")
    floor = np.minimum(least, count)
    if not floor.sum() <= budget:
        raise DataError(
            f"{budget} ratings are fewer than {least} for each of {count.size} batches "
            f"({int(floor.sum())}). Use more ratings, or fewer batches."
        )
    if budget >= count.sum():
        return count
    spread = np.maximum(spread, 1e-9 * max(float(spread.max()), 1e-300))
    low, high = -60.0, 60.0
    scale = float(np.log(spread.max()))

    def wanted(level: float) -> FloatArray:
        if goal == "each":
            made = 1 / (np.exp(2 * (scale + level)) / spread**2 + 1 / count)
        else:
            made = count * spread * np.exp(-scale - level)
        return np.asarray(np.clip(made, floor, count))

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if wanted(middle).sum() > budget else (low, middle)
    real = wanted(high)
    whole = np.floor(real + 1e-9).astype(np.int64)
    rest = int(budget - whole.sum())
    order = np.argsort(-(real - whole), kind="stable")
    for k in [*order, *order]:
        if rest > 0 and whole[k] < count[k]:
            whole[k] += 1
            rest -= 1
    return np.asarray(whole)


@dataclass(frozen=True)
class NextBatch:
    """How many ratings the next batch should get.

    Parameters
    ----------
    ratings
        Ratings for the next batch.
    left, batches
        Remaining ratings and batches, including the next one.
    se
        Expected standard error of the batch.
    suspicious
        Whether the latest batches looked worse, so that the next one gets more.
    """

    ratings: int
    left: int
    batches: int
    se: float
    suspicious: bool

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        made: dict[str, Any] = plain_value({
            "ratings": self.ratings, "left": self.left, "batches": self.batches, "se": self.se,
            "suspicious": self.suspicious,
        })  # fmt: skip
        return made

    def summary(self) -> str:
        """The plan in a sentence."""
        more = (
            ", twice the normal share because the latest batches look worse"
            if self.suspicious
            else ""
        )
        return (
            f"Rate {self.ratings} segments of the next batch{more}: {self.left} ratings are left "
            f"for {self.batches} batches. Its standard error will be about {self.se:.2g}."
        )


def next_batch(found: Monitoring, size: int, *, budget: int, batches: int) -> NextBatch:
    """How many segments of the next batch to rate, out of a budget for all batches.

    Ratings that earlier batches left unused are shared by the later ones. If the evidence of a
    drop has reached a tenth of that for an alarm, the next batch gets twice its share. Alarms and
    intervals stay valid, because this uses past data only.

    Parameters
    ----------
    found
        The result so far.
    size
        Number of segments of the next batch.
    budget, batches
        Total numbers of ratings and batches, including earlier ones.
    """
    used, seen = int(np.sum(found.table["n"])), len(found)
    left, ahead = int(budget) - used, int(batches) - seen
    if ahead < 1 or left < 1:
        raise DataError(
            f"{used} of {budget} ratings and {seen} of {batches} batches are already used: nothing "
            f"is left to plan. Give the budget and the number of batches in total, including "
            f"earlier ones."
        )
    if not math.isfinite(found.unit_sd):
        raise DataError("there are too few ratings to know how much scores vary. Rate a few more.")
    evidence = np.asarray(found.table["evidence"], dtype=np.float64)
    known = evidence[np.isfinite(evidence)]
    suspicious = bool(known.size and known[-1] >= 0.1)
    share = left / (ahead + suspicious)
    ratings = int(min(max(round(share * (1 + suspicious)), 1), size, left))
    se = found.unit_sd * math.sqrt(max(1 / ratings - 1 / size, 0.0))
    return NextBatch(ratings, left, ahead, se, suspicious)
