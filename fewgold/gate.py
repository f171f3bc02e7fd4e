"""A gate: whether a score is better than a bar, worse, or not yet known, with a stated confidence.

The answer is "better" only if the whole interval lies on the better side of the bar, and "worse"
only if all of it lies on the worse side. The truth is on one side, so only one of the two answers
can be wrong, and a one-sided interval at the stated confidence is enough for each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from fewgold.common.checks import check_choice, check_count
from fewgold.common.text import decimals, fixed, plain_value, rounded
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from fewgold.missing import GapBounds

__all__ = ["Gate", "gate"]

#: The verdicts of a gate, and the exit codes of ``fewgold gate``.
VERDICTS = {"better": 0, "worse": 1, "unknown": 3}
# Probability that the further ratings decide, if the score is as estimated.
_POWER = 0.8


@dataclass(frozen=True, eq=False)
class Gate:
    """A score compared with a bar.

    Parameters
    ----------
    verdict
        ``better`` (or just as good), ``worse`` or ``unknown``.
    bar, higher_is_better
        The bar, and which side of it is good.
    value, low, high
        The estimate (None if gaps leave it open) and the ends of the interval that was used.
    confidence
        The chance of a wrong "better", or of a wrong "worse", is at most 1 minus this.
    looks
        Number of looks that share this chance.
    n, size
        Ratings and segments.
    more
        Further ratings that would probably decide; None if unknown or already decided.
    kind, label
        Kind of interval (``guaranteed``, ``approximate`` or ``credible``) and its name.
    notes, signature
        Notes and signature of the estimate.
    of
        What is estimated.
    """

    verdict: str
    bar: float
    higher_is_better: bool
    value: float | None
    low: float
    high: float
    confidence: float
    looks: int
    n: int
    size: int
    more: int | None
    kind: str
    label: str
    notes: tuple[str, ...]
    signature: str
    of: str = "mean"

    def __post_init__(self) -> None:
        check_choice("verdict", self.verdict, tuple(VERDICTS))

    def __repr__(self) -> str:
        return f"Gate({self.verdict}: {self._interval()} against {self.bar:g}, n={self.n})"

    @property
    def exit_code(self) -> int:
        """0: better, 1: worse, 3: not yet known."""
        return VERDICTS[self.verdict]

    @property
    def passed(self) -> bool | None:
        """True, False, or None if not yet known."""
        return None if self.verdict == "unknown" else self.verdict == "better"

    def _interval(self) -> str:
        places = decimals((self.high - self.low) / 4)
        ends = (fixed(end, places).replace("inf", "∞") for end in (self.low, self.high))
        return " to ".join(ends)

    @property
    def level(self) -> float:
        """Confidence of the two-sided interval: each tail has the error probability of a
        verdict."""
        return 1 - 2 * (1 - self.confidence) / self.looks

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        good, bad = ("above", "below") if self.higher_is_better else ("below", "above")
        sure = f"with {100 * self.confidence:.6g}% confidence"
        if self.looks > 1:
            sure += f" over {self.looks} looks"
        if self.verdict == "better":
            return f"The score is at or {good} the bar of {self.bar:g}, {sure}."
        if self.verdict == "worse":
            return f"The score is {bad} the bar of {self.bar:g}, {sure}."
        return f"Not yet known on which side of the bar of {self.bar:g} the score is, {sure}."

    @property
    def advice(self) -> str:
        """What to do while the verdict is unknown; empty once it is known."""
        if self.verdict != "unknown":
            return ""
        if self.more is None:
            return (
                "These ratings are too few to predict how many more would decide; rate about 20 "
                "more."
            )
        left = self.size - self.n
        if self.more >= left > 0:
            return f"Rating all {left} other segments would decide; fewer probably would not."
        return (
            f"About {rounded(self.more)} more ratings would decide with {_POWER:.0%} probability, "
            f"if the score is really {self._value()}."
        )

    def _value(self) -> str:
        if self.value is None:
            return "unknown"
        return fixed(self.value, decimals((self.high - self.low) / 4))

    def summary(self) -> str:
        """A readable summary of a few lines."""
        lines = [
            self.sentence,
            f"score {self._value()}, {100 * self.level:.6g}% interval {self._interval()} "
            f"({self.label}), from {self.n} of "
            f"{self.size} segments",
            *([self.advice] if self.advice else []),
            *(f"note: {note}" for note in self.notes),
            self.signature,
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The gate in plain numbers, for JSON."""
        names = (
            "verdict", "exit_code", "passed", "bar", "higher_is_better", "value", "low", "high",
            "level", "confidence", "looks", "n", "size", "more", "kind", "label", "of", "sentence",
            "advice", "notes", "signature",
        )  # fmt: skip
        made: dict[str, Any] = plain_value({name: getattr(self, name) for name in names})
        return made

    def to_frame(self) -> pd.DataFrame:
        """The gate as a dataframe of one row."""
        import pandas as pd

        flat = {k: v for k, v in self.to_dict().items() if not isinstance(v, list)}
        return pd.DataFrame([flat])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The interval, and the bar as a line."""
        import pandas as pd

        from fewgold.plots import forest

        shown = {"system": self.of, "score": self.value, "low": self.low, "high": self.high}
        made = forest(pd.DataFrame([shown]), ax, label="score")
        made.axvline(self.bar, color="#a33e7c", linewidth=1.4)
        made.set_title(self.sentence, fontsize=8.5, loc="left")
        return made


def gate(
    estimate: Estimate | GapBounds,
    bar: float,
    *,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    looks: int = 1,
) -> Gate:
    """Whether a score is better than a bar.

    Parameters
    ----------
    estimate
        Any estimate; its bound determines the interval.
    bar
        The score to reach, in the units of the scores and on their scale. A score equal to the bar
        passes.
    higher_is_better
        Which side of the bar is good.
    confidence
        Above 0.5. The chance of a wrong verdict is at most 1 minus this.
    looks
        How often you may ask while ratings come in. The chance of error is divided among the
        looks (Bonferroni), so it holds for all of them together.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.estimators import Ridge
    >>> pool, gold = load_demo("ende")
    >>> sample = Ridge().select(pool, 200, rng=1)
    >>> made = Ridge().estimate(sample.rate(gold[sample.indices], limits="mqm"))
    >>> gate(made, 3.0, higher_is_better=False).verdict
    'better'
    """
    bar, share = float(bar), 1 - float(confidence)
    if not math.isfinite(bar):
        raise DataError(f"the bar must be a number in the units of the scores; got {bar!r}.")
    scale = getattr(getattr(estimate, "ratings", None), "limits", None)
    if scale is not None and not scale[0] <= bar <= scale[1]:
        raise DataError(
            f"the bar must lie on the scale of the scores, from {scale[0]:g} to {scale[1]:g}; got "
            f"{bar:g}."
        )
    if not 0 < share < 0.5:
        raise FewgoldError(
            f"the confidence of a gate must be above 0.5 and below 1; got {confidence!r}."
        )
    looks = check_count("looks", looks)
    used = getattr(estimate, "bound", None)
    if used == "hdi" or getattr(used, "upper", 0.5) != 0.5:
        raise FewgoldError(
            "a gate needs intervals with equal tails, but those of this estimate are unequal. "
            "Leave the share of the upper tail at one half; for alpha use the bound 'equal'."
        )
    level = 1 - 2 * share / looks  # as `Gate.level`
    told = estimate.to_dict(level)
    low, high = (float(end) for end in estimate.interval(level))
    low, high = (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)
    value = told.get("value")
    if (low >= bar) if higher_is_better else (high <= bar):
        verdict = "better"
    elif (high < bar) if higher_is_better else (low > bar):
        verdict = "worse"
    else:
        verdict = "unknown"
    n, size = int(told["n"]), int(told["pool_size"])
    ratings = getattr(estimate, "ratings", None)
    of = told.get("target") or (ratings is not None and ratings.sample.info.target)
    more = None
    if verdict == "unknown" and value is not None:
        ends = (float(value), low, high)
        more = _needed(ends, bar, told.get("se"), n, math.inf if of == "process" else size)
    kind = told.get("bound_kind") or ("credible" if "target" in told else "approximate")
    label = told.get("bound_label") or told.get("interval_label") or kind
    return Gate(
        verdict, bar, bool(higher_is_better), None if value is None else float(value), low, high,
        float(confidence), looks, n, size, more, str(kind), str(label), tuple(told["notes"]),
        str(told["signature"]), str(told.get("quantity", "mean")),
    )  # fmt: skip


def _needed(
    ends: tuple[float, float, float], bar: float, se: float | None, n: int, size: float
) -> int | None:
    """Further ratings after which the interval will probably exclude the bar.

    The error falls as √(1/n − 1/N), and the interval with it. It excludes the bar with
    probability `_POWER` if the bar is z + Φ⁻¹(`_POWER`) standard errors away, where z is its
    current half-width in standard errors.
    """
    value, low, high = ends
    if se is None or not (math.isfinite(se) and se > 0) or n < 2:
        return None
    half = (value - low) if bar <= value else (high - value)
    if not (math.isfinite(half) and half > 0):
        return None
    left = size - n if math.isfinite(size) else None
    unit = se**2 / (1 / n - (0.0 if math.isinf(size) else 1 / size))
    target = abs(value - bar) / (half / se + float(ndtri(_POWER)))
    if target == 0:
        return None if left is None else int(left)
    wanted = 1 / (target**2 / unit + (0.0 if math.isinf(size) else 1 / size))
    most = 10**9 if left is None else int(left)
    return min(max(math.ceil(wanted - 1e-9) - n, 1), most)
