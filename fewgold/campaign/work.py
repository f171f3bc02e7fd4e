"""What raters did, for the owner: answers, time, attention checks, and agreement as it grows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv

from fewgold.agreement import Answers, few_shared, krippendorff, krippendorff_interval
from fewgold.campaign import checks
from fewgold.campaign.answers import in_time
from fewgold.common.arrays import FloatArray
from fewgold.common.text import plain_value

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign.study import Campaign

# Names that pages and tools use for the seconds that an answer took
_SECONDS = ("seconds", "lead_time", "duration", "time_taken")
_LONGEST = 3600.0  # a rater who takes longer has been away


@dataclass(frozen=True)
class Work:
    """What raters have done so far. Made by `Campaign.work`.

    Parameters
    ----------
    raters
        One row per rater; `to_frame` explains the columns.
    checks
        Every attention check that was answered.
    agreement
        Agreement (Krippendorff's α) on the first segments with two raters and on more and more of
        them. The last row is for all.
    seconds
        Median time of an answer in seconds; NaN if unknown.
    timed
        Number of answers whose time is known.
    per_cost
        Median time per unit of cost, if segments have a cost.
    left
        Approximate time that the remaining answers will take, in seconds; NaN if unknown.
    held
        Segments that raters have opened or left without an answer.
    confidence
        Confidence level of the intervals.
    """

    raters: pd.DataFrame
    checks: pd.DataFrame
    agreement: pd.DataFrame
    seconds: float
    timed: int
    per_cost: float
    left: float
    held: tuple[Any, ...]
    confidence: float

    @property
    def remark(self) -> str:
        """A caveat about the interval of the agreement, or an empty text."""
        if not len(self.agreement) or np.isnan(self.agreement["low"].iloc[-1]):
            return ""
        return few_shared(int(self.agreement["shared"].iloc[-1]))

    def to_frame(self) -> pd.DataFrame:
        """One row per rater.

        ================  ========================================================================
        ``answers``       number of answers that count, about ``segments`` different segments
        ``seconds``       median time of an answer; ``quarter`` and ``three_quarters`` are the
                          quartiles
        ``repeats``       segments shown again; ``same`` is the share with the same score,
                          ``same_low`` to ``same_high`` its interval, ``off`` the mean distance
        ``known``         segments whose answer is known; ``right`` is the share answered
                          correctly, ``right_low`` to ``right_high`` its interval
        ``skipped``       segments and checks that the rater skipped
        ``held``          segments opened or left without an answer
        ================  ========================================================================
        """
        return self.raters.copy()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        found: dict[str, Any] = plain_value({
            "raters": self.raters.to_dict("records"), "checks": self.checks.to_dict("records"),
            "agreement": self.agreement.to_dict("records"), "seconds": self.seconds,
            "timed": self.timed, "seconds_per_cost": self.per_cost, "seconds_left": self.left,
            "held": [asdict(h) for h in self.held], "confidence": self.confidence,
            "agreement_note": self.remark,
        })  # fmt: skip
        return found


def work(campaign: Campaign) -> Work:
    """What raters have done so far."""
    store, level = campaign.store, campaign.settings.confidence
    with store.snapshot():
        answers, tried = campaign.answers(), checks.results(store)
        held = tuple(campaign.desk.held())
        links = campaign.desk.links()
        names = sorted({*answers["rater"], *tried["rater"], *links})
        skipped = {name: campaign.desk.skipped(name) for name in names}
        progress = campaign.desk.progress("")
        open_costs = _open_costs(campaign, answers)
    spent = seconds_of(answers["details"].tolist())
    rows = [
        {
            "rater": name, **_of_rater(answers["rater"].to_numpy() == name, answers, spent),
            **_of_checks(tried[tried["rater"] == name], level), "skipped": skipped[name],
            "held": sum(h.rater == name for h in held),
        }
        for name in names
    ]  # fmt: skip
    known = spent[~np.isnan(spent)]
    median = float(np.median(known)) if known.size else float("nan")
    ratio = _per_cost(campaign, answers, spent)
    wanted = max(progress.wanted - progress.all, 0)
    left = wanted * median if np.isnan(ratio) else ratio * open_costs
    return Work(
        _frame(rows), tried, agreement_as_it_grows(answers, campaign.settings.repeats, level),
        median, int(known.size), ratio, float(left), held, level,
    )  # fmt: skip


_COLUMNS = (
    "rater", "answers", "segments", "seconds", "quarter", "three_quarters", "repeats", "same",
    "same_low", "same_high", "off", "known", "right", "right_low", "right_high", "skipped", "held",
)  # fmt: skip


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=list(_COLUMNS))


def seconds_of(details: Sequence[str]) -> FloatArray:
    """Seconds that each answer took, from its details; NaN if unknown.

    Times above an hour are left out, since the rater was probably away.

    >>> seconds_of(['{"seconds": 12.5}', '{"lead_time": 40}', '{"seconds": 99999}', "{}"])
    array([12.5, 40. ,  nan,  nan])
    """
    found = np.full(len(details), np.nan)
    for k, text in enumerate(details):
        told = json.loads(text)
        for name in _SECONDS:
            value = told.get(name) if isinstance(told, dict) else None
            if isinstance(value, int | float) and 0 < value <= _LONGEST:
                found[k] = float(value)
                break
    return found


def _of_rater(mine: Any, answers: pd.DataFrame, spent: FloatArray) -> dict[str, Any]:
    own = spent[mine]
    own = own[~np.isnan(own)]
    low, middle, high = np.quantile(own, [0.25, 0.5, 0.75]) if own.size else [np.nan] * 3
    return {
        "answers": int(mine.sum()), "segments": int(answers["segment"][mine].nunique()),
        "seconds": float(middle), "quarter": float(low), "three_quarters": float(high),
    }  # fmt: skip


def _of_checks(tried: pd.DataFrame, level: float) -> dict[str, Any]:
    """Counts and shares of the checks of one rater."""
    found: dict[str, Any] = {}
    for kind, count, share in (
        (checks.REPEAT, "repeats", "same"),
        (checks.KNOWN, "known", "right"),
    ):
        own = tried.loc[tried["kind"] == kind, "off"].to_numpy(dtype=np.float64)
        hits = int((own <= 1e-9).sum())
        low, high = _clopper_pearson(hits, own.size, level)
        found |= {
            count: own.size, share: hits / own.size if own.size else np.nan,
            f"{share}_low": low, f"{share}_high": high,
        }  # fmt: skip
        if kind == checks.REPEAT:
            found["off"] = float(own.mean()) if own.size else np.nan
    return found


def _clopper_pearson(hits: int, n: int, level: float) -> tuple[float, float]:
    """The exact interval of a share; NaN without any trial."""
    if not n:
        return float("nan"), float("nan")
    tail = (1 - level) / 2
    low = float(betaincinv(hits, n - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, n - hits, 1 - tail)) if hits < n else 1.0
    return low, high


# Time, for planning


def _costs(campaign: Campaign) -> dict[str, float] | None:
    pool = campaign.pool
    if pool.cost is None:
        return None
    return {str(i): float(c) for i, c in zip(pool.ids.tolist(), pool.cost.tolist(), strict=True)}


def _per_cost(campaign: Campaign, answers: pd.DataFrame, spent: FloatArray) -> float:
    """Median over raters of their median seconds per unit of cost, so that no rater dominates."""
    costs = _costs(campaign)
    if costs is None:
        return float("nan")
    own = np.array([costs.get(str(i), np.nan) for i in answers["segment"].tolist()])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(own > 0, spent / own, np.nan)
    who = answers["rater"].to_numpy()
    each = [np.median(r) for n in set(who.tolist()) if (r := _known(ratio[who == n])).size]
    return float(np.median(each)) if each else float("nan")


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def _open_costs(campaign: Campaign, answers: pd.DataFrame) -> float:
    """The cost of the answers that drawn segments still need."""
    costs = _costs(campaign)
    if costs is None or not campaign.waves:
        return float("nan")
    has = answers.groupby("segment")["rater"].nunique().to_dict()
    twice, each = campaign.store.for_two(), campaign.settings.each
    drawn = [id for wave in campaign.waves for id in wave.ids]
    return float(sum(costs[i] * max(each + (i in twice) - has.get(i, 0), 0) for i in drawn))


def hours(seconds: float) -> str:
    """A time in words.

    >>> hours(42.4), hours(600), hours(9000)
    ('42 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# Agreement


_STEPS = 10


def agreement_as_it_grows(
    answers: pd.DataFrame, repeats: str = "last", confidence: float = 0.95
) -> pd.DataFrame:
    """Krippendorff's α of the segments with two raters, in the order of their second answer.

    One row for a tenth of them, one for two tenths, and so on. Each interval is valid for one look.
    """
    import pandas as pd

    names = ["shared", "alpha", "low", "high", "same"]
    if answers.empty:
        return pd.DataFrame(columns=names)
    told = Answers.from_table(in_time(answers), segment="segment", rater="rater", score="score")
    item, _, score = told._one_each(repeats)
    seconds: dict[Any, int] = {}
    raters: dict[Any, set[Any]] = {}
    for place, (segment, who) in enumerate(zip(answers["segment"], answers["rater"], strict=True)):
        raters.setdefault(segment, set()).add(who)
        if len(raters[segment]) == 2:
            seconds.setdefault(segment, place)
    order = sorted(seconds, key=seconds.__getitem__)
    code = {label: k for k, label in enumerate(told._ids)}
    rank = np.full(len(code), len(order))
    for k, label in enumerate(order):
        rank[code[label]] = k
    upto = sorted({round(len(order) * k / _STEPS) for k in range(1, _STEPS + 1)} - {0, 1})
    rows = []
    for count in upto:
        mine = rank[item] < count
        y, of = score[mine], item[mine]
        low, high = krippendorff_interval(y, of, confidence)
        rows.append([count, krippendorff(y, of), float(low), float(high), _same(y, of)])
    return pd.DataFrame(rows, columns=names)


def _same(y: FloatArray, item: Any) -> float:
    """Share of the pairs of answers to the same segment that are equal."""
    import pandas as pd

    frame = pd.DataFrame({"y": y, "item": item})
    per = frame.groupby("item")["y"].size()
    alike = frame.groupby(["item", "y"])["y"].size()
    pairs, same = (per * (per - 1)).sum(), (alike * (alike - 1)).sum()
    return float(same / pairs) if pairs else float("nan")


def waited(held: Any) -> str:
    """How long a segment has been with its rater."""
    return hours(max(time.time() - held.since, 0.0))
