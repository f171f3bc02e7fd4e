"""Several ratings per segment: combine them into one score, and measure how far raters agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.statistics import correlation
from fewgold.common.text import counted, plain_value, verb
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import Interval, LinearEstimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Agreement",
    "Answers",
    "krippendorff",
    "krippendorff_interval",
    "prediction_errors",
]


def krippendorff(y: FloatArray, item: IntArray) -> float:
    """Krippendorff's α for interval data; NaN where no item has two ratings.

    Squared differences of two values sum to 2m times their squared deviations, so there is no need
    to go through pairs (Krippendorff 2019, Content Analysis, section 12.3).
    """
    y, item = _shared(y, item)
    if not y.size:
        return float("nan")
    per = np.bincount(item)
    squares = np.square(y - (np.bincount(item, y) / np.maximum(per, 1))[item])
    weight = per / np.maximum(per - 1, 1)
    observed = (weight[item] * squares).sum() / y.size
    expected = np.square(y - y.mean()).sum() / (y.size - 1)
    return float(1 - observed / expected) if expected > 0 else float("nan")


#: If fewer items than this have two ratings, the interval of Krippendorff's α is too narrow.
FEW_SHARED = 30


def few_shared(shared: int) -> str:
    """Warning about `krippendorff_interval` if few items are shared, otherwise empty.

    In simulations with 10 shared items, 95% intervals covered α between 91.7% and 93.5% of the
    time.
    """
    if not 0 < shared < FEW_SHARED:
        return ""
    return (
        f"With fewer than {FEW_SHARED} shared items this interval of Krippendorff's α is too "
        "narrow: in simulations with 10 items, 95% intervals covered α 92% to 94% of the time."
    )


def krippendorff_interval(y: FloatArray, item: IntArray, confidence: float = 0.95) -> Interval:
    """Approximate jackknife interval of `krippendorff`, for items like these.

    Student's interval for ln(1 − α), the log of the ratio of disagreement within items to that of
    all values, with the jackknife's standard error over the items. NaN for fewer than three items
    with two ratings, and where no two raters differ, since the standard error is then unknown.

    >>> y, item = np.array([1.0, 2, 4, 4, 2, 1, 5, 4]), np.repeat(np.arange(4), 2)
    >>> low, high = krippendorff_interval(y, item)
    >>> round(krippendorff(y, item), 2), round(float(low), 2), round(float(high), 2)
    (0.84, 0.72, 0.91)
    """
    check_confidence(confidence)
    unknown = Interval(np.asarray(np.nan), np.asarray(np.nan))
    y, item = _shared(y, item)
    item = np.unique(item, return_inverse=True)[1]
    per = np.bincount(item).astype(np.float64)
    if per.size < 3:
        return unknown
    y = y - y.mean()
    mean = np.bincount(item, y) / per
    within = np.bincount(item, np.square(y - mean[item])) * per / (per - 1)
    # Sums over all values but those of one item
    size, total = y.size - per, -per * mean
    squares = np.square(y).sum() - np.bincount(item, np.square(y)) - total**2 / size
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (within.sum() - within) / size
        left = np.log(observed) - np.log(squares / (size - 1))
        whole = np.log((within.sum() / y.size) / (np.square(y).sum() / (y.size - 1)))
    if not (np.isfinite(left).all() and np.isfinite(whole)):
        return unknown
    m = per.size
    se = np.sqrt((m - 1) / m * np.square(left - left.mean()).sum())
    half = float(stdtrit(m - 1, (1 + confidence) / 2) * se)
    return Interval(np.asarray(1 - np.exp(whole + half)), np.asarray(1 - np.exp(whole - half)))


def krippendorff_nominal(y: FloatArray, item: IntArray) -> float:
    """Krippendorff's α for nominal data: two scores are the same or they are not.

    NaN where no item has two ratings, or where all of them are the same.
    """
    y, item = _shared(y, item)
    if not y.size:
        return float("nan")
    _, value = np.unique(y, return_inverse=True)
    wide = int(value.max()) + 1
    cell, count = np.unique(item * wide + value, return_counts=True)
    per = np.bincount(item)
    alike = np.bincount(cell // wide, count.astype(np.float64) ** 2, per.size)
    # In each item m² − Σ n_c² ordered pairs differ, and a value is paired with m − 1 others.
    observed = ((per**2 - alike) / np.maximum(per - 1, 1)).sum() / y.size
    expected = (y.size**2 - (np.bincount(value).astype(np.float64) ** 2).sum()) / (
        y.size * (y.size - 1)
    )
    return float(1 - observed / expected) if expected > 0 else float("nan")


def _shared(y: FloatArray, item: IntArray) -> tuple[FloatArray, IntArray]:
    """The ratings of items with two or more ratings."""
    kept = np.bincount(item)[item] > 1
    return y[kept], item[kept]


@dataclass(frozen=True)
class Components:
    """Variances of score = segment + rater + rest; NaN where they cannot be told apart.

    Parameters
    ----------
    segment, rater, residual
        Variances; negative estimates are set to 0. ``residual`` includes both the rater-by-segment
        interaction and random error.
    circles
        Number of sets of raters that are not linked by any shared segment; 1 if all raters are
        linked.
    freedom
        Degrees of freedom of the residual.
    """

    segment: float
    rater: float
    residual: float
    circles: int
    freedom: int

    @property
    def icc(self) -> float:
        """Intraclass correlation of single ratings by any raters, ICC(2,1): agreement."""
        return _share(self.segment, self.segment + self.rater + self.residual)

    @property
    def icc_consistency(self) -> float:
        """As `icc`, but ignoring differences in the raters' mean levels, ICC(3,1): consistency."""
        return _share(self.segment, self.segment + self.residual)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else float("nan")


def components(segment: IntArray, rater: IntArray, score: FloatArray) -> Components:
    """Variance components of two crossed factors, for any pattern of who rated what.

    Henderson's method 3: sums of squares of each factor adjusted for the other, set equal to their
    expectations. These hold for any number of ratings in any cell and any distribution, so the
    estimates are unbiased (before negative ones are set to 0); in a full table they are those of
    the analysis of variance.

    References
    ----------
    Henderson (1953), Estimation of variance and covariance components. Searle, Casella and
    McCulloch (1992), Variance Components, section 5.5.
    """
    score = score - score.mean()
    n, segments, raters = score.size, int(segment.max()) + 1, int(rater.max()) + 1
    per_segment, per_rater = np.bincount(segment), np.bincount(rater)
    # Raters adjusted for segments: indicators minus their mean over the ratings of the segment.
    indicator = np.zeros((raters, n))
    indicator[rater, np.arange(n)] = 1.0
    own = np.stack([np.bincount(segment, row, segments) / per_segment for row in indicator])
    left = indicator - own[:, segment]
    mean = np.bincount(segment, score) / per_segment
    y = score - mean[segment]
    table, cross = left @ left.T, left @ y
    values, axes = np.linalg.eigh(table)
    identified = values > 1e-9 * max(float(values[-1]), 1.0)
    rank = int(identified.sum())
    explained = float((np.square(cross @ axes[:, identified]) / values[identified]).sum())
    freedom = n - segments - rank
    circles = raters - rank
    if not rank or freedom <= 0:
        return Components(np.nan, np.nan, np.nan, circles, max(freedom, 0))
    residual = max(float((y**2).sum()) - explained, 0.0) / freedom
    between = (explained - rank * residual) / float(np.trace(table))
    # Segments adjusted for raters: R(s | r) = R(s) + R(r | s) − R(r).
    squares = float((per_segment * mean**2).sum()) + explained
    squares -= float((np.bincount(rater, score) ** 2 / per_rater).sum())
    cell = np.unique(segment * raters + rater, return_counts=True)
    mass = n - float((cell[1] ** 2 / per_rater[cell[0] % raters]).sum())
    spread = (squares - (segments + rank - raters) * residual) / mass if mass > 0 else np.nan
    small = 1e-12 * max(float((score**2).mean()), 1e-300)  # rounding
    found = [0.0 if v < small else float(v) for v in (spread, between, residual)]
    return Components(found[0], found[1], found[2], circles, freedom)


Coded: TypeAlias = tuple[IntArray, IntArray, FloatArray]
TARGETS = ("answers", "these", "any")


class RaterError(NamedTuple):
    """Standard error of a mean for one of the `TARGETS`, and its degrees of freedom."""

    se: float
    df: float


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far raters agree on the segments that they share.

    Parameters
    ----------
    table
        One row per rater; `to_frame` explains the columns.
    alpha, alpha_nominal
        Krippendorff's α for scores as numbers and as categories: 1 is perfect agreement, 0 that
        of chance; NaN where no segment has two raters, or no two scores differ.
    components
        Variances between segments, between raters, and of the rest.
    repeat_sd
        Standard deviation of a rater's answers to the same segment; NaN without repeats.
    segments, shared
        Segments rated, and segments rated by two or more raters.
    ids, segment, rater
        Which segment and rater each single rating is of.
    notes
        What could not be computed, and why.
    """

    table: pd.DataFrame
    alpha: float
    alpha_nominal: float
    components: Components
    repeat_sd: float
    segments: int
    shared: int
    ids: list[Any]
    segment: IntArray
    rater: IntArray
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        size = f"{len(self.table)} raters, {self.shared} shared segments"
        return f"Agreement({size}, α = {self.alpha:.2f})"

    def to_frame(self) -> pd.DataFrame:
        """One row per rater.

        ===================  =====================================================================
        ``answers``          ratings given, repeats included
        ``segments``         segments rated; ``mean`` and ``sd`` of their scores
        ``shared``           segments that others rated too, which the next four rows use
        ``deviation``        mean difference from the mean of the others
        ``deviation_se``     its standard error, with segments random and raters fixed
        ``correlation``      with the mean of the others; NaN for fewer than three segments
        ``same``             share of the others who gave exactly the same score
        ``repeats``          segments rated more than once
        ``self_same``        share of these with the same first and last score
        ``self_difference``  mean distance between first and last score
        ===================  =====================================================================
        """
        return self.table.copy()

    def error(self, estimate: LinearEstimate, target: str = "any") -> RaterError:
        """Standard error of an estimate from these ratings, including that due to the raters.

        ``answers``
            These raters with these answers: the standard error of the estimate.
        ``these``
            The same raters on another day. The residual variance does not shrink as more of the
            pool is rated, so no finite population correction applies to it: this adds σ² Σ (w² −
            influence²)/m, with m raters of the segment.
        ``any``
            Any raters like these: this also adds σ_rater² Σ a², where a is a rater's share of the
            estimate. It cannot be estimated with one rater, and only roughly with three. The
            degrees of freedom are Satterthwaite's; this part has one less than the number of
            raters.

        Differences between raters within the sample are part of the estimate's standard error too,
        so that ``any`` is slightly too large, by at most a segment's share of σ_rater².
        """
        check_choice("target", target, TARGETS)
        if estimate.value.ndim:
            raise DataError(
                "the error due to raters is computed for one study, not for a batch of draws."
            )
        se, df = float(estimate.se), float(estimate.df)
        if target == "answers":
            return RaterError(se, df)
        weights, per, share = self._shares(estimate)
        ratio = np.square(estimate.design._root_fpc)
        noise = self.components.residual * float((weights**2 * (1 - ratio) / per).sum())
        parts = [(se**2, df), (noise, float(self.components.freedom))]
        if target == "any":
            raters = self.components.rater * float(np.square(share).sum())
            parts.append((raters, float(len(self.table) - self.components.circles)))
        total = sum(v for v, _ in parts)
        if not np.isfinite(total):
            return RaterError(total, 0.0)
        spent = sum(v**2 / max(f, 1e-9) for v, f in parts if v > 0)
        return RaterError(float(np.sqrt(total)), total**2 / spent if spent > 0 else np.inf)

    def interval(
        self, estimate: LinearEstimate, confidence: float = 0.95, target: str = "any"
    ) -> Interval:
        """Student's interval with `error` in place of the standard error.

        It is clipped to the scale, if the ratings of the estimate have limits.
        """
        se, df = self.error(estimate, target)
        half = stdtrit(df, (1 + check_confidence(confidence)) / 2) * se if df > 0 else np.nan
        value = float(estimate.value)
        found = Interval(np.asarray(value - half), np.asarray(value + half))
        return found.within(estimate.ratings.limits)

    def _shares(self, estimate: LinearEstimate) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Weight and raters of each sampled segment (n,), and share of each rater (R,)."""
        place = {i: k for k, i in enumerate(self.ids)}
        sampled = estimate.ratings.sample.ids.tolist()
        strange = [i for i in sampled if i not in place]
        if strange:
            raise DataError(
                f"{counted(len(strange), 'segment')} of the estimate {verb(len(strange), 'have')} "
                f"no answer here, first {strange[:3]}. Give the answers that it was made from."
            )
        weights = np.array(estimate.design.weights)
        if estimate.g_weights is not None:
            weights = weights * estimate.g_weights
        rows = np.array([place[i] for i in sampled])
        per = np.bincount(self.segment, minlength=len(self.ids)).astype(np.float64)
        each = np.zeros(len(self.ids))
        each[rows] = weights
        share = np.bincount(self.rater, (each / per)[self.segment], len(self.table))
        return weights, np.asarray(per[rows]), np.asarray(share, dtype=np.float64)

    def summary(self) -> str:
        """A readable summary of a few lines."""
        c = self.components
        lines = [
            f"raters: {len(self.table)}; segments: {self.segments}, {self.shared} of them rated by "
            "two or more",
            f"Krippendorff's α {_text(self.alpha)} (scores as numbers), "
            f"{_text(self.alpha_nominal)} (as categories)",
            f"variance between segments {_text(c.segment)}, between raters {_text(c.rater)}, rest "
            f"{_text(c.residual)}; ICC {_text(c.icc)}",
            self.table.to_string(index=False, float_format=lambda v: f"{v:.3g}", na_rep="-"),
            *(f"note: {note}" for note in self.notes),
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: None where something is unknown."""
        c = self.components
        found: dict[str, Any] = plain_value({
            "alpha": self.alpha, "alpha_nominal": self.alpha_nominal, "icc": c.icc,
            "icc_consistency": c.icc_consistency, "variance_segment": c.segment,
            "variance_rater": c.rater, "variance_residual": c.residual, "repeat_sd": self.repeat_sd,
            "segments": self.segments, "shared_segments": self.shared,
            "raters": self.table.to_dict("records"), "notes": self.notes,
        })  # fmt: skip
        return found


def _text(value: float) -> str:
    return "unknown" if np.isnan(value) else f"{value:.3g}"


def _notes(raters: int, score: FloatArray, per: IntArray, found: Components) -> tuple[str, ...]:
    notes = []
    if raters == 1:
        notes.append("there is only one rater, so agreement cannot be measured")
    elif not (per > 1).any():
        notes.append(
            "no segment has two raters, so agreement cannot be measured. Have some rated by several"
        )
    elif found.circles > 1:
        notes.append(
            f"raters fall into {found.circles} sets that share no segment with each other: "
            "levels can be compared only within a set"
        )
    if (per > 1).any() and np.isnan(found.residual):
        notes.append("too few segments are shared to estimate the variances of segments and raters")
    if np.ptp(score) == 0:
        notes.append("all scores are the same: they say nothing about agreement")
    return tuple(notes)


def prediction_errors(pools: Mapping[str, Agreement]) -> pd.Series[float]:
    """Error of predicting each rater's mean score from the other raters of the same segments.

    The absolute difference between a rater's mean score and that of the other raters on the
    segments they share, averaged over pools such as the outputs of several systems (Saldías et al.
    2022, Table 12). Raters who share no segment with others are NaN.

    Parameters
    ----------
    pools
        The agreement on each pool, by name.

    Returns
    -------
    pandas.Series
        One error per rater, in order of first appearance.
    """
    import pandas as pd

    if not pools:
        raise DataError("expected agreement results for at least one pool; got none.")
    errors = [found.table.set_index("rater")["deviation"].abs() for found in pools.values()]
    both = pd.concat(errors, axis=1)
    return both.mean(axis=1).rename("error")


def _by_rater(names: list[Any], single: Coded, every: Coded) -> tuple[float, pd.DataFrame]:
    """Spread of repeated answers, and the table of raters."""
    import pandas as pd

    segment, rater, score = single
    per, total = np.bincount(segment), np.bincount(segment, score)
    _, value = np.unique(score, return_inverse=True)
    cell = segment * (int(value.max()) + 1) + value
    _, which, alike = np.unique(cell, return_inverse=True, return_counts=True)
    others = np.maximum(per[segment] - 1, 1)
    rest = (total[segment] - score) / others
    same = (alike[which] - 1) / others
    pairs = every[0] * len(names) + every[1]
    rows = []
    for k, name in enumerate(names):
        mine = rater == k
        both = mine & (per[segment] > 1)
        gap, m = (score - rest)[both], int(both.sum())
        # Distance between the first and last score of each segment that this rater rated
        # repeatedly.
        cells, scores = pairs[every[1] == k], every[2][every[1] == k]
        _, first, count = np.unique(cells, return_index=True, return_counts=True)
        last = cells.size - 1 - np.unique(cells[::-1], return_index=True)[1]
        twice = np.abs(scores[last] - scores[first])[count > 1]
        rows.append(
            {
                "rater": name,
                "answers": cells.size,
                "segments": int(mine.sum()),
                "mean": float(score[mine].mean()),
                "sd": float(score[mine].std(ddof=1)) if mine.sum() > 1 else np.nan,
                "shared": m,
                "deviation": float(gap.mean()) if m else np.nan,
                "deviation_se": float(gap.std(ddof=1) / np.sqrt(m)) if m > 1 else np.nan,
                "correlation": correlation(score[both], rest[both]) if m > 2 else np.nan,
                "same": float(same[both].mean()) if m else np.nan,
                "repeats": len(twice),
                "self_same": float((twice == 0).mean()) if len(twice) else np.nan,
                "self_difference": float(twice.mean()) if len(twice) else np.nan,
            }
        )
    _, inverse, count = np.unique(pairs, return_inverse=True, return_counts=True)
    left = every[2] - (np.bincount(inverse, every[2]) / count)[inverse]
    freedom = int((count - 1).sum())
    spread = float(np.sqrt((left**2).sum() / freedom)) if freedom else float("nan")
    return spread, pd.DataFrame(rows)


REPEATS = ("last", "first", "mean")
RATERS = ("mean", "median")


@dataclass(frozen=True, eq=False)
class Answers:
    """A long table of ratings in order of time, in which nothing is overwritten.

    Parameters
    ----------
    segments
        (m,) ids.
    raters
        (m,) names.
    ratings
        (m,) finite numbers.
    times
        (m,) any sortable values; None takes the order of the rows. Ties keep the order of the rows.

    Examples
    --------
    >>> answers = Answers(["a", "a", "a", "b"], ["ann", "bob", "ann", "ann"], [3, 4, 5, 1])
    >>> answers.scores(repeats="last", raters="mean")
    {'a': 4.5, 'b': 1.0}
    >>> answers.scores(repeats="first", raters="mean")
    {'a': 3.5, 'b': 1.0}
    """

    segments: Sequence[Any]
    raters: Sequence[Any]
    ratings: Sequence[float]
    times: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        size = len(self.segments)
        if not size:
            raise DataError("there are no answers; expected at least one rating.")
        lengths = {len(self.segments), len(self.raters), len(self.ratings)}
        lengths |= set() if self.times is None else {len(self.times)}
        if len(lengths) > 1:
            raise DataError(
                "segments, raters, ratings and times must be equally long; got lengths "
                f"{', '.join(map(str, sorted(lengths)))}."
            )
        try:
            scores = np.array([np.nan if s is None else s for s in self.ratings], dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("ratings must be numbers. Correct those that are not.") from None
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise DataError(
                f"{counted(int((~np.isfinite(scores)).sum()), 'answer')} without a score, the "
                "first from "
                f"rater {self.raters[row]!s} for segment {self.segments[row]!s}. Remove these "
                "rows."
            )
        object.__setattr__(self, "ratings", scores)

    @classmethod
    def from_table(
        cls, frame: pd.DataFrame, *, segment: str, rater: str, score: str, time: str | None = None
    ) -> Answers:
        """Answers from a dataframe with one row per answer."""
        wanted = [segment, rater, score, *([time] if time else [])]
        for name in wanted:
            if name not in frame.columns:
                raise UnknownNameError("column", name, [str(c) for c in frame.columns])
        columns = [frame[name].tolist() for name in wanted]
        return cls(columns[0], columns[1], columns[2], columns[3] if time else None)

    @cached_property
    def _coded(self) -> Coded:
        """Segment, rater and score of each answer, in order of time."""
        at = np.arange(len(self.segments))
        if self.times is not None:
            try:
                at = np.array(sorted(at.tolist(), key=list(self.times).__getitem__))
            except TypeError:
                raise DataError(
                    "times must all have the same type, so that they can be sorted."
                ) from None
        scores = np.asarray(self.ratings)[at]
        return _codes(self.segments)[at], _codes(self.raters)[at], scores

    @cached_property
    def _ids(self) -> list[Any]:
        """Segments, in the order of their first row."""
        return list(dict.fromkeys(self.segments))

    @cached_property
    def _names(self) -> list[Any]:
        """Raters, in the order of their first row."""
        return list(dict.fromkeys(self.raters))

    def _one_each(self, repeats: str) -> Coded:
        """Segment, rater and score with one answer per rater and segment: (k,) each.

        Of repeated answers the ``last``, the ``first`` or their ``mean`` is used.
        """
        check_choice("repeats", repeats, REPEATS)
        segment, rater, score = self._coded
        cell, inverse = np.unique(segment * len(self._names) + rater, return_inverse=True)
        if repeats == "mean":
            found = np.bincount(inverse, score) / np.bincount(inverse)
        else:
            found = np.empty(cell.size)
            step = 1 if repeats == "last" else -1  # if several share a place, the last one stays
            found[inverse[::step]] = score[::step]
        return cell // len(self._names), cell % len(self._names), found

    def scores(self, *, repeats: str = "last", raters: str = "mean") -> dict[Any, float]:
        """One score per segment: first one per rater, then the mean or median of the raters."""
        check_choice("raters", raters, RATERS)
        segment, _, score = self._one_each(repeats)
        middle = np.mean if raters == "mean" else np.median
        ends = np.flatnonzero(np.diff(segment)) + 1
        return {
            i: float(middle(part)) for i, part in zip(self._ids, np.split(score, ends), strict=True)
        }

    def agreement(self, repeats: str = "last") -> Agreement:
        """How far raters agree with each other, and with themselves on repeated segments."""
        single = segment, rater, score = self._one_each(repeats)
        per, found = np.bincount(segment), components(segment, rater, score)
        alpha, nominal = krippendorff(score, segment), krippendorff_nominal(score, segment)
        spread, table = _by_rater(self._names, single, self._coded)
        return Agreement(
            table, alpha, nominal, found, spread, int(per.size), int((per > 1).sum()), self._ids,
            segment, rater, _notes(len(self._names), score, per, found),
        )  # fmt: skip


def _codes(labels: Sequence[Any]) -> IntArray:
    """Whole numbers in the order of first appearance, for labels of any kind."""
    place: dict[Any, int] = {}
    return np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int64)
