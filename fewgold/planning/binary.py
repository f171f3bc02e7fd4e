"""Planning adequate/inadequate ratings: detectable differences, and study sizes.

Studies of two systems are described by the keywords of `Setting`; both systems are rated with the
same number of items, in the same way, and independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fewgold.bayes import Counts, PoolPosterior, Priors
from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold.common.checks import check_choice, check_count
from fewgold.common.statistics import padded_share, smallest_enough
from fewgold.errors import DesignError, FewgoldError
from fewgold.planning.goal import Goal, Plan, with_curve
from fewgold.planning.setting import Setting, check_rate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Sampled:
    """Posterior means and sds of α over random studies.

    Attributes
    ----------
    setting
        The setting that was drawn from.
    means, sds
        Posterior mean and sd of each draw: (*shape, draws).
    """

    setting: Setting
    means: FloatArray
    sds: FloatArray

    @classmethod
    def of(cls, setting: Setting, draws: int, rng: RNGLike = None) -> Sampled:
        """Draw random studies of a setting."""
        check_count("draws", draws, 2)
        return cls(setting, *setting._moments(setting._sampled(draws, rng)))

    @property
    def draws(self) -> int:
        """Number of studies drawn."""
        return int(self.means.shape[-1])

    @property
    def bias(self) -> FloatArray:
        """Mean of posterior mean − α; (1 − 2α)/(n + 2) with uniform priors and humans alone."""
        return np.asarray(self.means.mean(-1) - self.setting.alpha)

    @property
    def bias_spread(self) -> FloatArray:
        """Standard deviation of the posterior mean between studies, which is its standard error."""
        return np.asarray(self.means.std(-1, ddof=1))

    @property
    def bias_mc(self) -> FloatArray:
        """Monte-Carlo error of `bias`."""
        return np.asarray(self.bias_spread / np.sqrt(self.draws))

    @property
    def sd(self) -> FloatArray:
        """Mean of the posterior sd."""
        return np.asarray(self.sds.mean(-1))

    @property
    def sd_spread(self) -> FloatArray:
        """Standard deviation of the posterior sd between studies."""
        return np.asarray(self.sds.std(-1, ddof=1))

    @property
    def sd_mc(self) -> FloatArray:
        """Monte-Carlo error of `sd`."""
        return np.asarray(self.sd_spread / np.sqrt(self.draws))

    def to_frame(self) -> pd.DataFrame:
        """One row per setting: sizes, rates, and the results."""
        import pandas as pd

        s = self.setting
        sizes = {"human": s.alone + s.both, "paired": s.both, "metric": s.metric}
        rates = {"alpha": s.alpha, "rho": s.rho, "eta": s.eta}
        names = ("bias", "bias_spread", "bias_mc", "sd", "sd_spread", "sd_mc")
        columns = rates | sizes | {name: getattr(self, name) for name in names}
        return pd.DataFrame({name: np.ravel(value) for name, value in columns.items()})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the bias of each setting, with the range that contains 95 % of the errors."""
        from fewgold.plots import forest

        found = self.to_frame()
        names = [
            f"{human} human, {metric} metric"
            for human, metric in zip(found["human"], found["metric"], strict=True)
        ]
        half = -ndtri(0.025) * found["bias_spread"]
        frame = found.assign(
            system=names, score=found["bias"], low=found["bias"] - half, high=found["bias"] + half
        )
        return forest(frame, ax, label="error of the estimated success rate")


def sample_estimates(*, draws: int = 200, rng: RNGLike = None, **study: Any) -> Sampled:
    """Bias and sd of the estimate of α, with their spread, over random studies.

    Parameters
    ----------
    draws
        Studies to draw for each setting; 50 in the thesis.
    rng
        A seed or a generator.
    **study
        Rates and sizes: see `Setting`.

    References
    ----------
    von Däniken (2023), Algorithm 2. Its line 6 draws the true negatives with ρ; here it is η. What
    it calls ``vars`` are standard deviations.

    Examples
    --------
    >>> found = sample_estimates(
    ...     alpha=0.9, rho=0.9, eta=0.9, human=100, metric=[0, 5000], draws=400, rng=0
    ... )
    >>> print(found.to_frame()[["metric", "bias", "bias_mc", "sd", "sd_spread"]].round(4))
       metric    bias  bias_mc      sd  sd_spread
    0       0 -0.0109   0.0015  0.0306     0.0039
    1    5000 -0.0055   0.0012  0.0238     0.0024
    """
    return Sampled.of(Setting(**study), draws, rng)


def measurable_difference(
    *,
    level: ArrayLike = 0.05,
    power: ArrayLike | None = None,
    method: str = "expected",
    draws: int = 200,
    rng: RNGLike = None,
    **study: Any,
) -> FloatArray:
    """The difference between two success rates that is significant, or detected with given power.

    All numbers may be arrays; they broadcast.

    Without ``power`` this is ε_γ = √2 σ z of the papers, σ being the posterior sd: the smallest
    *observed* difference that is significant in a two-sided test. **A true difference of that size
    is found in only one of two studies**: the power is ½. To plan a study, give ``power=0.8``; then
    it is √2 σ (z_{1−γ/2} + z_{0.8}), 1.43 times as much.

    Parameters
    ----------
    level
        Significance level γ of the two-sided test.
    power
        Probability of finding the difference, in the right direction.
    method
        ``"expected"``: σ at the expected counts (von Däniken et al. 2022). ``"sampled"``: the mean
        of σ over ``draws`` random studies (von Däniken 2023); see `sample_estimates`.
    draws, rng
        Number of studies for the sampled method.
    **study
        Rates and sizes of each of the two systems: see `Setting`. ``alpha`` is midway between
        theirs. By default all human ratings are paired with ratings of the metric.

    References
    ----------
    von Däniken et al. (2022), On the effectiveness of automated metrics for text generation
    systems, section 4 and appendix B. von Däniken (2023), section 5.3, whose Tables 5.8 and 5.9
    leave out the √2.

    Examples
    --------
    How much do 10,000 ratings of a metric add to 100 or 1000 human ones?

    >>> study = dict(alpha=0.6, rho=0.9, eta=0.9, human=[[100], [1000]], metric=[0, 10_000])
    >>> measurable_difference(**study).round(3)
    array([[0.134, 0.086],
           [0.043, 0.028]])
    >>> measurable_difference(**study, power=0.8).round(3)
    array([[0.191, 0.123],
           [0.061, 0.04 ]])
    """
    check_choice("method", method, ("expected", "sampled"))
    factor, setting = standard_errors(level, power), Setting(**study)
    sd = Sampled.of(setting, draws, rng).sd if method == "sampled" else setting.sd()
    return np.asarray(factor * sd)[()]


def standard_errors(level: ArrayLike, power: ArrayLike | None = None) -> FloatArray:
    """√2 (z_{1−γ/2} + z_power): the difference in units of one system's posterior sd."""
    gamma = np.asarray(level, dtype=np.float64)
    if not np.all((gamma > 0) & (gamma < 1)):
        raise FewgoldError(f"level must lie between 0 and 1, such as 0.05; got {level!r}.")
    z = -ndtri(gamma / 2)
    if power is None:
        return np.asarray(np.sqrt(2) * z)
    wanted = np.asarray(power, dtype=np.float64)
    if not np.all((wanted > gamma / 2) & (wanted < 1)):
        raise FewgoldError(
            "power must lie between level/2 (the power without any difference) and 1; got "
            f"{power!r}."
        )
    return np.asarray(np.sqrt(2) * (z + ndtri(wanted)))


def ratings_needed(
    difference: float,
    *,
    alpha: float,
    human: int | None = None,
    metric: int | None = None,
    power: float | None = None,
    **study: Any,
) -> int:
    """The fewest human ratings, or metric ratings, that detect a difference.

    Parameters
    ----------
    difference
        The difference that should be significant or, with ``power``, be found.
    alpha, power, **study
        As in `measurable_difference`.
    human, metric
        Give one of them, and the other is computed. Without either, only people rate.

    Notes
    -----
    Counts are whole numbers, so one more rating may be slightly worse. The returned number is
    enough, and one less is not; near 0 and 1 an even smaller sufficient number may be missed. More
    metric ratings help only up to a point, because the metric's errors must be known too. If no
    number of them is enough, the error says what could be reached.

    Examples
    --------
    >>> ratings_needed(0.05, alpha=0.6), ratings_needed(0.05, alpha=0.6, power=0.8)
    (735, 1505)
    >>> ratings_needed(0.05, alpha=0.6, rho=0.9, eta=0.9, human=400)
    1101
    """
    if not 0 < difference < 1:
        raise FewgoldError(f"difference must lie between 0 and 1; got {difference!r}.")
    if not difference / 2 <= alpha <= 1 - difference / 2:
        raise FewgoldError(
            f"two success rates around {alpha:g} cannot differ by {difference:g}: one would lie "
            "outside 0 to 1. Give an alpha midway between those you expect."
        )
    return fewest(difference, alpha=alpha, human=human, metric=metric, power=power, **study)


_MOST = 10_000_000  # ratings
_GRID = 16  # sizes tried at once


def fewest(
    difference: float,
    *,
    alpha: float,
    human: int | None = None,
    metric: int | None = None,
    power: float | None = None,
    **study: Any,
) -> int:
    """Like `ratings_needed`, also for targets other than a difference, such as a half-width."""
    if human is not None and metric is not None:
        raise FewgoldError(
            f"give human or metric, and the other is computed; got human={human!r} and "
            f"metric={metric!r}."
        )
    name = "human" if human is None else "metric"

    def measured(sizes: IntArray) -> FloatArray:
        people, rest = (sizes, metric or 0) if human is None else (human, sizes)
        return measurable_difference(alpha=alpha, human=people, metric=rest, power=power, **study)

    ladder = np.unique(np.r_[0, np.geomspace(1, _MOST, 25).round().astype(np.int64)])
    reached = measured(ladder)
    if not (reached <= difference).any():
        raise DesignError(
            f"no number of {name} ratings can measure a difference of {difference:g}: {_MOST:,} "
            f"of them measure {reached.min():.4f}. Ask for more ratings of the other kind, or a "
            "better metric."
        )
    first = int((reached <= difference).argmax())
    low, high = (int(ladder[first - 1]) if first else -1), int(ladder[first])
    while high - low > 1:  # low is too few, high is enough
        sizes = np.unique(np.linspace(low, high, _GRID + 1).round().astype(np.int64))[1:]
        at = int((measured(sizes) <= difference).argmax())
        low, high = (int(sizes[at - 1]) if at else low), int(sizes[at])
    return high


#: The sizes of Tables 11 to 14 of von Däniken et al. (2022).
HUMAN = (0, 100, 250, 500, 1000, 2500, 5000, 10_000)
METRIC = (0, 1000, 2500, 5000, 10_000, 50_000, 100_000)


def difference_table(
    *, human: Sequence[int] = HUMAN, metric: Sequence[int] = METRIC, **study: Any
) -> pd.DataFrame:
    """Measurable differences: one row per number of human ratings, one column per metric size.

    Parameters
    ----------
    human, metric
        The sizes; those of the paper by default.
    **study
        ``alpha``, ``rho``, ``eta`` and the other arguments of `measurable_difference`, as single
        numbers. ``paired`` is the same in all cells, if given.

    Examples
    --------
    >>> table = difference_table(alpha=0.6, rho=0.9, eta=0.9, human=[100, 1000])
    >>> print(table.rename_axis(None).round(3))
    metric  0       1000    2500    5000    10000   50000   100000
    100      0.134   0.091   0.088   0.087   0.086   0.086   0.086
    1000     0.043   0.036   0.032   0.030   0.028   0.027   0.026
    """
    import pandas as pd

    for name, sizes in (("human", human), ("metric", metric)):
        if np.ndim(sizes) != 1 or not len(sizes):
            raise FewgoldError(f"{name} must be a list of sizes; got {sizes!r}.")
    found = measurable_difference(human=np.asarray(human)[:, None], metric=metric, **study)
    if np.ndim(found) != 2:
        raise FewgoldError(
            "a table needs single numbers for everything except human and metric; got arrays "
            f"that make it {np.ndim(found)}-dimensional. Use measurable_difference for arrays."
        )
    rows, columns = pd.Index(list(human), name="human"), pd.Index(list(metric), name="metric")
    return pd.DataFrame(found, index=rows, columns=columns)


@dataclass(frozen=True, eq=False)
class MeasurableDifferences:
    """Differences that studies of several sizes can measure. Made by `measurable_differences`.

    Attributes
    ----------
    setting
        Rates and sizes: one row per number of human ratings, one column per number of metric-only
        ratings.
    sd
        Posterior sd of one system's success rate, of the same shape.
    level, power
        Level of the test, and probability of finding a difference.
    sampled
        The studies drawn at random, if any.
    """

    setting: Setting
    sd: FloatArray
    level: float
    power: float
    sampled: Sampled | None = None

    def __repr__(self) -> str:
        rows, columns = self.sd.shape
        return f"MeasurableDifferences({rows} × {columns} sizes, level {self.level:g})"

    @property
    def epsilon(self) -> FloatArray:
        """ε = √2 σ z: observed differences of this size are just significant (power ½)."""
        return np.asarray(standard_errors(self.level) * self.sd)

    @property
    def found(self) -> FloatArray:
        """The true difference that is found with the stated power: 1.43 ε at 0.05 and 0.8."""
        return np.asarray(standard_errors(self.level, self.power) * self.sd)

    def to_frame(self) -> pd.DataFrame:
        """One row per size: human, metric, sd, epsilon, found; bias and spreads if sampled."""
        import pandas as pd

        s = self.setting
        columns: dict[str, Any] = {"human": s.alone + s.both, "metric": s.metric}
        if s.alone.any():
            columns = {"human": s.alone, "paired": s.both, "metric": s.metric}
        columns |= {"sd": self.sd, "epsilon": self.epsilon, "found": self.found}
        if self.sampled is not None:
            names = ("bias", "bias_mc", "bias_spread", "sd_spread")
            columns |= {name: getattr(self.sampled, name) for name in names}
        return pd.DataFrame({name: np.ravel(value) for name, value in columns.items()})

    def wide(self, value: str = "epsilon") -> pd.DataFrame:
        """One column of `to_frame` as a table of human by metric ratings, as in the paper."""
        frame = self.to_frame()
        check_choice("value", value, tuple(frame.columns))
        return frame.pivot(index="human", columns="metric", values=value)

    def summary(self) -> str:
        """A readable summary of a few lines, and a table if there are several sizes."""
        s = self.setting
        rates = f"success rate {s.alpha.flat[0]:g}"
        if s.metric.any():
            how = "known" if s.known else "estimated from the paired ratings"
            rates += f", ρ {s.rho.flat[0]:g} and η {s.eta.flat[0]:g} ({how})"
        lines = [f"Two systems compared, {rates}, level {self.level:.4g}:", ""]
        if self.sd.size == 1:
            eps, found = float(self.epsilon.flat[0]), float(self.found.flat[0])
            lines += [
                f"ε = {eps:.4f}: the smallest observed difference that is significant",
                f"{found:.4f}: the true difference that is found with {self.power:.0%} power",
            ]
        else:
            shown = self.wide().rename_axis(index=None, columns="human \\ metric")
            lines += [shown.to_string(float_format=lambda x: f"{x:.3f}"), ""]
            ratio = float(standard_errors(self.level, self.power) / standard_errors(self.level))
            lines += [
                "ε: the smallest observed difference that is significant. A true difference",
                f"of that size is found in one of two studies; for {self.power:.0%} power it must "
                f"be {ratio:.2f} times as large.",
            ]
        if self.sampled is not None:
            frame = self.to_frame()[["human", "metric", "bias", "bias_spread", "sd", "sd_spread"]]
            table = frame.to_string(index=False, float_format=lambda x: f"{x:.4f}")
            lines += ["", f"over {self.sampled.draws} random studies of each size:", table]
            lines.append(
                "bias: mean error of the estimate, bias_spread its sd between studies; sd: mean "
                "posterior sd"
            )
        lines += ["", "Ratings are those of each of the two systems."]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        s = self.setting
        rates = {name: float(getattr(s, name).flat[0]) for name in ("alpha", "rho", "eta")}
        if not s.metric.any():
            rates = {"alpha": rates["alpha"]}
        return rates | {
            "known": s.known, "level": self.level, "power": self.power,
            "draws": None if self.sampled is None else self.sampled.draws,
            "sizes": self.to_frame().to_dict("records"),
        }  # fmt: skip

    def plot(self, ax: Axes | None = None, *, target: float | None = None) -> Axes:
        """ε by size as a heat map; ``target`` frames the sizes that measure at most this."""
        from fewgold.plots import heat

        return heat(self.wide(), ax, target=target, title="Measurable difference ε")


def measurable_differences(
    *,
    human: int | Sequence[int],
    metric: int | Sequence[int] = 0,
    level: float = 0.05,
    power: float = 0.8,
    draws: int | None = None,
    rng: RNGLike = None,
    **study: Any,
) -> MeasurableDifferences:
    """Measurable differences for all combinations of sizes: Tables 1 and 11 to 14 of the paper.

    Parameters
    ----------
    human, metric
        Human ratings, and metric-only ratings, of each of the two systems.
    level, power
        As in `measurable_difference`; both ε and the difference found with this power are returned.
    draws
        Draw this many studies of each size at random (Algorithm 2 of the thesis), instead of taking
        the expected counts: this also gives the bias and its spread.
    rng
        A seed or a generator.
    **study
        ``alpha``, ``rho``, ``eta``, ``known``, ``priors`` and ``paired`` as for `Setting`, as
        single numbers.

    Examples
    --------
    >>> found = measurable_differences(
    ...     alpha=0.6, rho=0.7, eta=0.7, known=True, human=[100, 1000], metric=[0, 10_000]
    ... )
    >>> found.wide().to_numpy().round(3)
    array([[0.134, 0.033],
           [0.043, 0.027]])
    """
    for name, value in study.items():
        if name in ("alpha", "rho", "eta", "paired") and np.ndim(value):
            raise FewgoldError(f"{name} must be a single number here; got {value!r}.")
    rows, columns = (np.atleast_1d(np.asarray(sizes)) for sizes in (human, metric))
    for name, sizes in (("human", rows), ("metric", columns)):
        if sizes.ndim != 1 or not sizes.size or np.unique(sizes).size < sizes.size:
            raise FewgoldError(f"{name} must be different sizes; got {sizes.tolist()!r}.")
    setting = Setting(human=rows[:, None], metric=columns[None, :], **study)
    standard_errors(level, power)
    drawn = None if draws is None else Sampled.of(setting, draws, rng)
    sd = setting.sd() if drawn is None else drawn.sd
    return MeasurableDifferences(setting, sd, level, power, drawn)


def detection_power(difference: ArrayLike, *, level: ArrayLike = 0.05, **study: Any) -> FloatArray:
    """Power: the probability that a true ``difference`` of two systems is significant.

    In the right direction, by the normal approximation: the inverse of `measurable_difference`
    with ``power=``. ``study`` are rates and sizes: see `Setting`. `simulated_power` draws whole
    studies instead, and shows how good the approximation is with few ratings.

    Examples
    --------
    >>> detection_power([0.02, 0.05, 0.1], alpha=0.6, human=1000).round(2)
    array([0.15, 0.63, 1.  ])
    """
    z = standard_errors(level) / np.sqrt(2)
    sd = Setting(**study).sd()
    gap = np.abs(np.asarray(difference, dtype=np.float64)) / (np.sqrt(2) * sd)
    return np.asarray(ndtr(gap - z))[()]


class SimulatedPower(NamedTuple):
    """Share of simulated studies that found the difference, and its Monte-Carlo error."""

    power: float
    mc: float


def simulated_power(
    difference: float,
    *,
    alpha: float,
    level: float = 0.05,
    draws: int = 2000,
    rng: RNGLike = None,
    **study: Any,
) -> SimulatedPower:
    """Power by drawing studies of two systems with rates alpha ± difference/2.

    Each pair of studies is tested as in the papers: |μ1 − μ2| > z √(σ1² + σ2²). ``study`` are the
    other rates and the sizes: see `Setting`.

    Examples
    --------
    >>> found = simulated_power(0.05, alpha=0.6, human=1000, rng=0)
    >>> round(found.power, 2), round(found.mc, 2)
    (0.62, 0.01)
    """
    ends = alpha + abs(difference) / 2, alpha - abs(difference) / 2
    if not (ends[1] >= 0 and ends[0] <= 1):
        raise FewgoldError(
            f"both rates, alpha ± difference/2, must lie between 0 and 1; got {ends[1]:g} and "
            f"{ends[0]:g}."
        )
    generator = as_rng(rng)
    high, low = (sample_estimates(alpha=end, draws=draws, rng=generator, **study) for end in ends)
    z = float(standard_errors(level)) / np.sqrt(2)
    return SimulatedPower(*padded_share(high.means - low.means > z * np.hypot(high.sds, low.sds)))


# How many human ratings a success rate takes, with and without a metric ---


def _reached(goal: Goal, human: int, *, size: int | None, **study: Any) -> float:
    """The half-width, or the difference, that ``human`` ratings achieve."""
    level = 1 - goal.confidence
    power = None if goal.difference is None else goal.power
    if size is None:
        found = float(measurable_difference(human=human, level=level, power=power, **study))
    else:
        found = float(standard_errors(level, power)) * _pool_sd(human, size, **study)
    return found / (np.sqrt(2) if goal.difference is None else 1.0)


def _pool_sd(
    human: int,
    size: int,
    *,
    alpha: float,
    rho: float | None = None,
    eta: float | None = None,
    known: bool = False,
    priors: Priors | None = None,
) -> float:
    """Posterior sd of the share in a test set, at expected counts."""
    if human >= size:
        return 0.0
    yes = round(human * alpha)
    if rho is None or eta is None:
        counts = Counts(human_ones=yes, human_total=human)
        return float(PoolPosterior(counts, priors, unrated=size - human).sd)
    tp, tn = round(yes * rho), round((human - yes) * eta)
    said = round((size - human) * (alpha * rho + (1 - alpha) * (1 - eta)))
    counts = Counts(
        tp=tp, fn=yes - tp, tn=tn, fp=human - yes - tn, metric_ones=said,
        metric_total=size - human,
    )  # fmt: skip
    return float(PoolPosterior(counts, Priors(rho=rho, eta=eta) if known else priors).sd)


def _fewest(goal: Goal, *, size: int | None, **study: Any) -> int:
    """Fewest ratings for the goal; all of a test set if fewer are not enough."""
    level = 1 - goal.confidence
    if size is not None:
        return smallest_enough(
            lambda k: _reached(goal, k, size=size, **study) <= goal.size, 1, size
        )
    if goal.difference is not None:
        return ratings_needed(goal.difference, power=goal.power, level=level, **study)
    return fewest(float(np.sqrt(2) * goal.size), level=level, **study)


def plan_binary(
    goal: Goal,
    *,
    alpha: float,
    rho: float | None = None,
    eta: float | None = None,
    metric: int = 0,
    known: bool = False,
    size: int | None = None,
    cost: float = 1.0,
    priors: Priors | None = None,
) -> Plan:
    """How many adequate/inadequate ratings a goal takes, with and without a metric.

    Parameters
    ----------
    goal
        A half-width of the success rate, or a difference between two systems with a power; in that
        case ratings are per system, made independently.
    alpha
        Expected success rate; 0.5 is the worst case.
    rho, eta
        True positive and true negative rate of the metric, if there is one.
    metric
        Number of items that only the metric rates.
    known
        Whether the rates are known; otherwise they are estimated from items rated by both.
    size
        Plan for the share in a test set of this many items, all rated by the metric, instead of for
        the success rate of the system that made them.
    cost
        Cost of one human rating.
    priors
        Prior knowledge, such as about last month's judge; uniform by default.

    Examples
    --------
    >>> goal = Goal(difference=0.1, power=0.8)
    >>> found = plan_binary(goal, alpha=0.6, rho=0.9, eta=0.9, metric=10_000)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('people alone', 375), ('with the metric', 151)]
    >>> found = plan_binary(Goal(half_width=0.05), alpha=0.6, rho=0.9, eta=0.9, size=500)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('people alone', 211), ('with the metric', 117)]
    """
    if (rho is None) != (eta is None):
        raise FewgoldError("give both rates of the metric, rho and eta, or neither.")
    if rho is None and metric:
        raise FewgoldError(f"{metric} ratings of a metric need its rates: give rho and eta.")
    if size is not None and metric:
        raise FewgoldError(
            f"in a test set of {size} items the metric rates everything that people do not: "
            f"leave out the {metric} ratings by the metric alone."
        )
    if rho is not None and not metric and size is None:
        raise FewgoldError(
            "rho and eta also need the number of items that only the metric rates, or the size of "
            "the test set.",
            hints={
                "python": "Give one of them with metric= or size=.",
                "cli": "Give one of them with --metric-ratings or --size.",
            },
        )
    for name, rate in {"alpha": alpha, "rho": rho, "eta": eta}.items():
        if rate is not None:
            check_rate(name, rate)
    study: dict[str, Any] = {"alpha": alpha, "size": size, "priors": priors}
    settings: dict[str, dict[str, Any]] = {"people alone": study}
    if rho is not None:
        more = {} if size is not None else {"metric": metric}
        settings["with the metric"] = study | more | {"rho": rho, "eta": eta, "known": known}
    needs = []
    for name, options in settings.items():
        n = _fewest(goal, **options)
        note = f"and {metric} ratings of the metric alone" if options.get("metric") else ""
        needs.append(with_curve(name, n, size, partial(_reached, goal, **options), note))
    told = f"success rate {alpha:g}"
    if rho is not None:
        told += f", ρ {rho:g}, η {eta:g}" + (" (known)" if known else "")
    notes = ("for each of the two systems",) if goal.difference is not None else ()
    return Plan(goal, tuple(needs), size, cost, f"from {told}", notes)
