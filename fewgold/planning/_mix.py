"""A budget divided between people and a metric: the result, as a frame and as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class Mix(NamedTuple):
    """A number of ratings of each kind, and what they give."""

    human: int
    metric: int
    sd: float
    difference: float
    cost: float


@dataclass(frozen=True, eq=False)
class Split:
    """The best division of a budget, and what to compare it with.

    Attributes
    ----------
    best
        The mix of least posterior sd. ``human`` items are rated by people (and, unless ρ and η are
        known, by the metric too), ``metric`` more by the metric alone.
    humans_alone
        All of the budget spent on people.
    formula
        What the large-sample formula would choose, and what that gives.
    pays
        Whether the metric lowers the sd at all.
    information, break_even, cost_ratio
        K, the cost ratio below which a metric pays in large studies, and the ratio of costs here.
    tried
        Every mix that was looked at, in the order of human ratings.
    level, power
        What ``difference`` refers to: see `measurable_difference`.
    """

    best: Mix
    humans_alone: Mix
    formula: Mix
    information: float
    break_even: float
    cost_ratio: float
    tried: tuple[Mix, ...]
    level: float = 0.05
    power: float | None = None

    @property
    def pays(self) -> bool:
        """Whether the best mix has metric ratings."""
        return self.best.metric > 0

    @property
    def saving(self) -> float:
        """Share of the variance that the best mix saves over humans alone."""
        return 1 - (self.best.sd / self.humans_alone.sd) ** 2

    def frame(self) -> pd.DataFrame:
        """All mixes tried."""
        import pandas as pd

        return pd.DataFrame(self.tried)

    def summary(self) -> str:
        """A few lines for people."""
        found = "is significant" if self.power is None else f"is found with power {self.power:g}"
        best, alone = self.best, self.humans_alone
        lines = [
            f"{best.human} human and {best.metric} metric-only ratings: sd {best.sd:.4f}",
            f"a difference of {best.difference:.4f} {found} at level {self.level:g}",
            f"humans alone: {alone.human} ratings, sd {alone.sd:.4f}, difference "
            f"{alone.difference:.4f}",
            f"large-sample formula: {self.formula.human} and {self.formula.metric}, sd "
            f"{self.formula.sd:.4f}",
            f"the metric costs {self.cost_ratio:.3g} of a human rating; in large studies it pays "
            f"below {self.break_even:.3g}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """In plain numbers, for JSON."""
        mixes = {n: getattr(self, n)._asdict() for n in ("best", "humans_alone", "formula")}
        names = ("pays", "saving", "information", "break_even", "cost_ratio", "level", "power")
        return mixes | {name: getattr(self, name) for name in names}
