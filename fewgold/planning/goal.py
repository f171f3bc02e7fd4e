"""The goal of a study, and the plan: how many ratings each strategy needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from fewgold.common.checks import check_confidence
from fewgold.common.statistics import smallest_enough
from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Goal:
    """The goal of a study: ``half_width``, ``tolerance``, or ``difference`` with a power.

    Parameters
    ----------
    half_width
        The interval extends this far on either side.
    tolerance
        The error should stay within this with the given confidence, whatever the interval.
    difference
        A true difference from zero of this size should be found significant; scores are then
        differences, of two systems on the same segments or of a score from a target.
    confidence
        Confidence of the interval; tests are two-sided at the level 1 − confidence.
    power
        Probability of finding the difference.

    Examples
    --------
    >>> Goal(half_width=0.3).least(sd=2.4, size=1418)
    212
    >>> Goal(difference=0.5, power=0.8).least(sd=2.4)
    183
    """

    half_width: float | None = None
    difference: float | None = None
    tolerance: float | None = None
    confidence: float = 0.95
    power: float = 0.8

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        given = {k: v for k, v in self._kinds.items() if v is not None}
        if len(given) != 1:
            raise FewgoldError(
                f"a goal must be exactly one of {', '.join(f'{k}=' for k in self._kinds)}; got "
                f"{' and '.join(given) or 'none'}."
            )
        name, size = given.popitem()
        if not 0 < size < np.inf:
            raise FewgoldError(
                f"the {name.replace('_', '-')} must be a positive number; got {size!r}."
            )
        if not (1 - self.confidence) / 2 < self.power < 1:
            raise FewgoldError(
                f"power must lie between {(1 - self.confidence) / 2:g}, the power without any "
                f"difference, and 1; got {self.power!r}."
            )

    @property
    def _kinds(self) -> dict[str, float | None]:
        names = ("half_width", "tolerance", "difference")
        return {name: getattr(self, name) for name in names}

    @property
    def size(self) -> float:
        """The size of the goal: half-width, tolerance or difference."""
        return float(next(v for v in self._kinds.values() if v is not None))

    def __str__(self) -> str:
        if self.tolerance is not None:
            return f"an error within ±{self.tolerance:g} in {100 * self.confidence:g}% of studies"
        if self.difference is None:
            return f"±{self.half_width:g} at {100 * self.confidence:g}% confidence"
        level = 1 - self.confidence
        return f"a difference of {self.difference:g} at level {level:.3g}, {self.power:.0%} power"

    def _standard_errors(self, df: float) -> float:
        """The size of the goal in standard errors, with ``df`` degrees of freedom."""
        if df <= 0:
            return np.inf
        if (
            self.tolerance is not None
        ):  # a bound on the error itself needs no estimate of its spread
            return float(special.ndtri(0.5 + 0.5 * self.confidence))
        t = float(special.stdtrit(df, 0.5 + 0.5 * self.confidence))
        if self.difference is None:
            return t
        # The noncentrality at which a noncentral t is beyond ±t with probability ``power``.
        low, high = 0.0, t + 10.0
        while _power(high, t, df) < self.power:
            high *= 2
        for _ in range(60):
            middle = 0.5 * (low + high)
            if _power(middle, t, df) < self.power:
                low = middle
            else:
                high = middle
        return high

    def least(
        self, sd: float, size: int | None = None, *, spent: float = 0.0, per: float = 1.0
    ) -> int:
        """Fewest ratings that meet the goal; all segments if necessary.

        Parameters
        ----------
        sd
            Standard deviation of the residuals after metrics.
        size
            Segments of the pool; None for an infinite population.
        spent
            Number of fitted slopes, each of which costs one rating.
        per
            Ratings per degree of freedom: those of a whole document count as one.
        """
        top = size if size is not None else 2**40
        if not self._met(top, sd, size, spent, per):
            if size is None:
                raise FewgoldError(f"{self} takes more than {top:,} ratings with an sd of {sd:g}.")
            return top
        return smallest_enough(lambda n: self._met(n, sd, size, spent, per), 1, top)

    def _met(self, n: int, sd: float, size: int | None, spent: float, per: float) -> bool:
        if n == size:
            return True
        df = n / per - 1 - spent
        allowed = self.size / self._standard_errors(df) if df > 0 else 0.0
        return df > 0 and allowed >= standard_error(n, sd, size, spent)


def standard_error(n: float, sd: float, size: int | None, spent: float = 0.0) -> float:
    """Standard error of a mean of ``n`` ratings without replacement, ``spent`` on slopes."""
    left = 1 / n - (0.0 if size is None else 1 / size)
    free = n - 1 - spent
    return float(sd * np.sqrt(max(left, 0.0) * (n - 1) / free)) if free > 0 else np.inf


def _power(shift: float, t: float, df: float) -> float:
    """Probability that a t-test is significant if the mean is ``shift`` standard errors off."""
    if df > 1e6:
        return float(special.ndtr(shift - t) + special.ndtr(-shift - t))
    return float(special.nctdtr(df, shift, -t) + 1 - special.nctdtr(df, shift, t))


_NEARLY_ALL = 0.95  # share of the pool above which sampling does not pay
#: The note for a strategy that reaches the goal only with the whole pool.
ALL_OF_THEM = "all of them: nothing less reaches the goal"


@dataclass(frozen=True)
class Need:
    """The number of ratings that a strategy needs, and what this and other numbers achieve."""

    strategy: str
    n: int
    reached: float
    curve: Mapping[int, float]
    note: str = ""


def with_curve(
    strategy: str, n: int, size: int | None, reached: Callable[[int], float], note: str = ""
) -> Need:
    """Compute what ``n`` ratings achieve, with a curve from a fifth to three times as many."""
    top = 3 * n if size is None else min(3 * n, size)
    points = np.geomspace(max(n / 5, 4), max(top, 5), 25).round().astype(int).tolist()
    sizes = sorted({*(k for k in points if size is None or k <= size), n})
    return Need(strategy, n, reached(n), {k: reached(k) for k in sizes}, note)


@dataclass(frozen=True, eq=False)
class Plan:
    """The number of ratings for a goal. Made by `plan`, `plan_worst_case`, `plan_from_history`."""

    goal: Goal
    needs: tuple[Need, ...]
    size: int | None
    cost: float
    source: str
    notes: tuple[str, ...] = ()
    have: int | None = None

    def __repr__(self) -> str:
        each = ", ".join(f"{need.strategy} {need.n}" for need in self.needs)
        return f"Plan({self.goal}: {each})"

    def __getitem__(self, strategy: str) -> Need:
        found = {need.strategy: need for need in self.needs}
        if strategy not in found:
            raise FewgoldError(f"the plan covers {', '.join(found)}, but not {strategy!r}.")
        return found[strategy]

    def to_frame(self) -> pd.DataFrame:
        """One row per strategy.

        ``n`` ratings, their ``share`` of the pool and ``cost``, the half-width or difference that
        they achieve, and the ratings ``saved`` compared with the first strategy, also as a share.
        """
        import pandas as pd

        # With ``have`` existing ratings, ``more`` is how many are still needed.
        base = self.needs[0].n
        return pd.DataFrame(
            {
                "strategy": need.strategy,
                "n": need.n,
                **({} if self.have is None else {"more": max(need.n - self.have, 0)}),
                "share": np.nan if self.size is None else need.n / self.size,
                "cost": need.n * self.cost,
                "reached": need.reached,
                "saved": base - need.n,
                "saved_share": (base - need.n) / base,
                "note": need.note,
            }
            for need in self.needs
        )

    def curves(self) -> pd.DataFrame:
        """What other numbers of ratings would achieve: strategy, n, reached."""
        import pandas as pd

        rows = [(need.strategy, n, x) for need in self.needs for n, x in need.curve.items()]
        return pd.DataFrame(rows, columns=["strategy", "n", "reached"])

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values, for JSON."""
        from dataclasses import asdict

        return {
            "goal": asdict(self.goal) | {"text": str(self.goal)},
            "source": self.source,
            "size": self.size,
            "have": self.have,
            "strategies": self.to_frame().to_dict("records"),
            "notes": [*self.notes, *self._warnings],
        }

    @property
    def _warnings(self) -> tuple[str, ...]:
        """Warn about strategies that need the whole pool, and ratings that already suffice."""
        found = []
        whole = [n.strategy for n in self.needs if self.size and n.n > _NEARLY_ALL * self.size]
        if whole:
            found.append(
                f"the pool is too small for this goal: with {', '.join(whole)} (nearly) all "
                f"{self.size} segments must be rated. Choose a wider goal or a larger pool"
            )
        enough = [n.strategy for n in self.needs if self.have is not None and n.n <= self.have]
        if enough:
            found.append(f"the {self.have} ratings you have are enough for {', '.join(enough)}")
        return tuple(found)

    def summary(self) -> str:
        """A readable table."""
        of = "" if self.size is None else f" of {self.size} segments"
        lines = [f"For {self.goal}, {self.source}:", ""]
        wide = max(len("strategy"), *(len(need.strategy) for need in self.needs))
        priced = self.cost != 1
        more = self.have is not None
        head = f"{'strategy':{wide}s}  {'ratings':>8s}" + (f"  {'more':>6s}" if more else "")
        head += f"  {'share':>6s}  {'saved':>6s}"
        lines.append(head + (f"  {'cost':>10s}" if priced else ""))
        for row in self.to_frame().to_dict("records"):
            share = "–" if self.size is None else f"{row['share']:.1%}"
            saved = f"{row['saved_share']:.0%}".replace("-", "−")
            saved = "–" if row["strategy"] == self.needs[0].strategy else saved
            line = f"{row['strategy']:{wide}s}  {row['n']:8d}"
            line += (f"  {row['more']:6d}" if more else "") + f"  {share:>6s}  {saved:>6s}"
            lines.append(line + (f"  {row['cost']:10.6g}" if priced else ""))
        beside = f"; more: in addition to the {self.have} you have" if more else ""
        lines += ["", f"ratings{of}{beside}; saved: against {self.needs[0].strategy}."]
        lines += [f"{need.strategy}: {need.note}" for need in self.needs if need.note]
        return "\n".join([*lines, *(f"note: {n}" for n in (*self.notes, *self._warnings))])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot what each number of ratings achieves, one curve per strategy, marking the plan."""
        from fewgold.plots import budget_curves

        marks = {need.strategy: (need.n, need.reached) for need in self.needs}
        label = "half-width" if self.goal.tolerance is None else "error"
        if self.goal.difference is not None:
            label = "difference that is found"
        return budget_curves(self.curves(), marks, self.goal.size, label, ax)
