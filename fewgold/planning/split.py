"""How to divide a budget between human and metric ratings.

In large studies, with n paired human ratings among N items that the metric rates, Var α̂ =
α(1 − α) [(1 − K)/n + K/N], where K is the squared correlation of metric and human. It is within
2 % of the posterior sd at n = 100 for metrics with an accuracy up to 0.7, within 4 % at 0.9, and
far off at 0.99; `best_split` therefore minimises the exact posterior sd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewgold.bayes import Counts, Priors, moments
from fewgold.common.arrays import FloatArray
from fewgold.errors import BudgetError, FewgoldError
from fewgold.planning.binary import standard_errors
from fewgold.planning.setting import Setting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def information(alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
    """K = α(1 − α)(ρ + η − 1)²/(p(1 − p)): the squared correlation of metric and human.

    The share of a human rating that a metric rating is worth, at best. 0 if human or metric ratings
    are constant.

    Examples
    --------
    >>> information(0.6, [0.6, 0.7, 0.9], [0.6, 0.7, 0.9]).round(3)
    array([0.038, 0.155, 0.631])
    """
    a, r, e = (np.asarray(x, dtype=np.float64) for x in (alpha, rho, eta))
    p = a * r + (1 - a) * (1 - e)
    below = p * (1 - p)
    top = a * (1 - a) * (r + e - 1) ** 2
    return np.asarray(np.where(below > 0, top / np.where(below > 0, below, 1.0), 0.0))[()]


def asymptotic_sd(
    *, alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike, human: ArrayLike, metric: ArrayLike
) -> FloatArray:
    """Large-sample sd of α for ``human`` paired ratings and ``metric`` metric-only ones.

    Examples
    --------
    >>> asymptotic_sd(alpha=0.6, rho=0.9, eta=0.9, human=1000, metric=10_000).round(4)
    np.float64(0.0101)
    """
    k = information(alpha, rho, eta)
    a, n, m = (np.asarray(x, dtype=np.float64) for x in (alpha, human, metric))
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(a * (1 - a) * ((1 - k) / n + k / (n + m))))[()]


def break_even(alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
    """The cost ratio of metric to human ratings below which the metric is worth it.

    ((1 − √(1 − K))/√K)², for ρ and η estimated from the paired ratings. Above it, money for the
    metric is better spent on human ratings.

    Examples
    --------
    >>> break_even(0.6, [0.6, 0.7, 0.9], [0.6, 0.7, 0.9]).round(3)
    array([0.01 , 0.042, 0.244])
    """
    k = np.asarray(information(alpha, rho, eta))
    # (1 − √(1 − K))/√K = √K/(1 + √(1 − K)), which is accurate for K near 0.
    return np.asarray(k / (1 + np.sqrt(np.maximum(1 - k, 0.0))) ** 2)[()]


@dataclass(frozen=True)
class Costs:
    """The costs of ratings, and how many the budget buys."""

    budget: float
    human: float
    metric: float
    items: int | None
    known: bool

    def __post_init__(self) -> None:
        for name, value in (("budget", self.budget), ("cost of a human rating", self.human)):
            if not 0 < value < np.inf:
                raise FewgoldError(f"the {name} must be a positive number; got {value!r}.")
        if not 0 <= self.metric < np.inf:
            raise FewgoldError(
                f"the cost of a metric rating must be 0 or more; got {self.metric!r}."
            )
        if self.items is not None and not (self.items >= 1 and int(self.items) == self.items):
            raise FewgoldError(f"items must be a whole number of at least 1; got {self.items!r}.")
        if self.metric == 0 and self.items is None:
            raise BudgetError(
                "a metric that costs nothing could rate any number of items, so their number is "
                "needed.",
                hints={"python": "Give it with items=….", "cli": "Give it with --size."},
            )
        if self.budget < self.human:
            raise BudgetError(
                f"the budget of {self.budget:g} is less than one human rating, which costs "
                f"{self.human:g}."
            )

    @property
    def pair(self) -> float:
        """Cost of an item that people rate, if the metric is used."""
        return self.human if self.known else self.human + self.metric

    @property
    def humans_alone(self) -> int:
        return self._at_most(self.budget / self.human)

    @property
    def most_human(self) -> int:
        return self._at_most(self.budget / self.pair)

    def _at_most(self, n: float) -> int:
        whole = int(np.floor(n * (1 + 1e-12)))  # 1000/0.01 may come out slightly below 100,000
        return whole if self.items is None else min(whole, self.items)

    def mix(self, human: int) -> tuple[int, int]:
        """The mix with this many human ratings and the rest of the budget spent on the metric."""
        if self.metric == 0:
            return human, int(self.items or 0) - human
        left = max(self.budget - human * self.pair, 0.0)
        most = int(np.floor(left / self.metric * (1 + 1e-12)))
        return human, most if self.items is None else min(most, self.items - human)

    def of(self, human: int, metric: int) -> float:
        return human * (self.pair if metric else self.human) + metric * self.metric


def _formula_mix(costs: Costs, alpha: float, rho: float, eta: float) -> tuple[int, int]:
    """The mix of the large-sample formula: n/N = √((1 − K) c_m/(K c_h)), at most 1."""
    ratio = costs.metric / costs.human
    if costs.known:
        pays = information(alpha, rho, eta) > ratio
        return costs.mix(0) if pays else (costs.humans_alone, 0)
    if ratio >= break_even(alpha, rho, eta):
        return costs.humans_alone, 0
    k = float(information(alpha, rho, eta))
    share = 1.0 if k == 0 else min(1.0, float(np.sqrt((1 - k) * ratio / k)))
    whole = costs.budget / (costs.human + costs.metric / share) if share else 0.0
    return costs.mix(min(round(whole), costs.most_human))


_FEW = 1000  # ratings of the metric


def _expected_sd(setting: Setting, human: int, metric: int) -> float:
    """Posterior sd with ``human`` human ratings and ``metric`` metric-only ones.

    Expected counts are not rounded: otherwise the sd would jump more between sizes than those near
    the best differ.
    """
    alpha, rho, eta = (float(x) for x in (setting.alpha, setting.rho, setting.eta))
    up, down = human * alpha, human * (1 - alpha)
    a, b = setting.priors.alpha
    # Counts are whole numbers, but as parts of the priors the expected counts need not be.
    priors = Priors((a + up, b + down), rho, eta)
    if not setting.known:
        (ra, rb), (ea, eb) = setting.priors.rho, setting.priors.eta
        hits = (ra + up * rho, rb + up * (1 - rho))
        priors = Priors(priors.alpha, hits, (ea + down * eta, eb + down * (1 - eta)))
    expected = float(setting._chance) * metric
    # Metric ratings are whole numbers: small ones are rounded both ways, and the variances are
    # interpolated.
    low = np.floor(expected) if metric < _FEW else np.rint(expected)
    share = max(expected - low, 0.0) if metric < _FEW else 0.0
    ones = np.array([low, low + (share > 0)])
    sds = moments(Counts(metric_ones=ones, metric_total=metric), priors)[1]
    return float(np.sqrt((1 - share) * sds[0] ** 2 + share * sds[1] ** 2))


class Mix(NamedTuple):
    """A number of ratings of each kind, and the precision that they give."""

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
        The mix with the least posterior sd. ``human`` items are rated by people (and, unless ρ and
        η are known, by the metric too), ``metric`` more only by the metric.
    humans_alone
        All of the budget spent on people.
    formula
        The mix that the large-sample formula chooses.
    pays
        Whether the metric reduces the sd at all.
    information, break_even, cost_ratio
        K, the cost ratio below which a metric pays in large studies, and the actual cost ratio.
    tried
        Every mix that was tried, in the order of human ratings.
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

    def to_frame(self) -> pd.DataFrame:
        """All mixes tried."""
        import pandas as pd

        return pd.DataFrame(self.tried)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the measurable difference by human ratings, the rest spent on the metric."""
        import pandas as pd

        from fewgold.plots import budget_curves

        frame = self.to_frame().rename(columns={"human": "n", "difference": "reached"})
        frame = frame[
            frame["reached"] < 3 * self.best.difference
        ]  # values far off would hide the rest
        mixed = frame[frame["metric"] > 0].assign(strategy="with the metric")
        alone = frame[frame["metric"] == 0].assign(strategy="humans alone")
        marks = {"humans alone": (self.humans_alone.human, self.humans_alone.difference)}
        if self.pays:
            marks["with the metric"] = (self.best.human, self.best.difference)
            alone = pd.concat([mixed, alone])
        what = "difference" + ("" if self.power is None else f" found with {self.power:.0%} power")
        return budget_curves(alone, marks, None, what, ax)

    def summary(self) -> str:
        """A readable summary of a few lines."""
        found = "is significant" if self.power is None else f"is found with power {self.power:g}"
        best, alone = self.best, self.humans_alone
        lines = [
            f"{best.human} human and {best.metric} metric-only ratings: sd {best.sd:.4f}",
            f"a difference of {best.difference:.4f} {found} at level {self.level:g}",
            f"humans alone: {alone.human} ratings, sd {alone.sd:.4f}, difference "
            f"{alone.difference:.4f}",
            f"large-sample formula: {self.formula.human} and {self.formula.metric}, sd "
            f"{self.formula.sd:.4f}",
            f"a metric rating costs {self.cost_ratio:.3g} of a human one; in large studies it "
            f"pays off below {self.break_even:.3g}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, for JSON."""
        mixes = {n: getattr(self, n)._asdict() for n in ("best", "humans_alone", "formula")}
        names = ("pays", "saving", "information", "break_even", "cost_ratio", "level", "power")
        return mixes | {name: getattr(self, name) for name in names}


# Sizes tried in a round. Each round looks closer around the best, until all sizes there are tried.
_TRIED = 17
_ROUNDS = 12


def best_split(
    budget: float,
    human_cost: float,
    metric_cost: float,
    *,
    alpha: float,
    rho: float,
    eta: float,
    items: int | None = None,
    known: bool = False,
    priors: Priors | None = None,
    level: float = 0.05,
    power: float | None = None,
) -> Split:
    """Divide a budget for one system to minimise the posterior sd of its success rate.

    Parameters
    ----------
    budget
        What may be spent on one system, in the unit of the costs.
    human_cost, metric_cost
        Cost of one rating. An item that people rate is rated by the metric as well, to estimate its
        errors, and costs both; with ``known=True`` it costs only the first.
    alpha, rho, eta, known, priors
        As in `Setting`.
    items
        Number of available items; needed if the metric costs nothing.
    level, power
        Level and power of the measurable difference.

    Notes
    -----
    The sd is that of the exact posterior at the expected counts, which are not rounded here:
    otherwise the sd would jump more between sizes than those near the best differ. It is flat
    there: a tenth more or fewer human ratings hardly matter.

    The large-sample formula is n/N = √((1 − K) c_m/(K c_h)), at most 1, for n human ratings among N
    items that the metric rates. A metric pays if c_m/c_h < ((1 − √(1 − K))/√K)². With known ρ and η
    the money is spent on whichever gives more per cost: people, or the metric if K/c_m > 1/c_h.

    Examples
    --------
    >>> split = best_split(1000, 1.0, 0.01, alpha=0.6, rho=0.9, eta=0.9)
    >>> print(split.summary())
    887 human and 10413 metric-only ratings: sd 0.0107
    a difference of 0.0296 is significant at level 0.05
    humans alone: 1000 ratings, sd 0.0155, difference 0.0429
    large-sample formula: 884 and 10716, sd 0.0107
    a metric rating costs 0.01 of a human one; in large studies it pays off below 0.244
    """
    costs = Costs(budget, human_cost, metric_cost, items, known)
    rates = Setting(alpha=alpha, rho=rho, eta=eta, human=0, known=known, priors=priors)
    factor = float(standard_errors(level, power))
    alone = costs.humans_alone
    # With and without the metric: n from 0 to all human, the rest of the money for the metric.
    seen = {(alone, 0): _expected_sd(rates, alone, 0)}
    low, high = 0, costs.most_human
    for _ in range(_ROUNDS):
        sizes = np.arange(low, high + 1)
        if high - low > _TRIED:  # denser at the lower end, where the sd changes faster
            dense = low + (high - low) * np.linspace(0, 1, _TRIED) ** 2
            sizes = np.unique(np.rint(dense).astype(np.int64))
        for mix in (costs.mix(int(n)) for n in sizes):
            if mix not in seen:
                seen[mix] = _expected_sd(rates, *mix)
        best = min(seen, key=lambda mix: seen[mix])[0]
        near = int(np.searchsorted(sizes, min(best, high)))
        low, high = int(sizes[max(near - 1, 0)]), int(sizes[min(near + 1, len(sizes) - 1)])
        if high - low < 2:
            break

    def made(human: int, metric: int) -> Mix:
        sd = seen.get((human, metric)) or _expected_sd(rates, human, metric)
        return Mix(human, metric, sd, factor * sd, costs.of(human, metric))

    tried = tuple(made(*mix) for mix in sorted(seen))
    return Split(
        best=min(tried, key=lambda mix: (mix.sd, mix.metric)),
        humans_alone=made(alone, 0),
        formula=made(*_formula_mix(costs, alpha, rho, eta)),
        information=float(information(alpha, rho, eta)),
        break_even=float(information(alpha, rho, eta) if known else break_even(alpha, rho, eta)),
        cost_ratio=metric_cost / human_cost,
        tried=tried,
        level=level,
        power=power,
    )
