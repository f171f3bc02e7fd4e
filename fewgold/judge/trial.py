"""One judge against people, over the pool or a slice: the suitable measures and their values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from fewgold.bounds import Auto
from fewgold.common.arrays import BoolArray, FloatArray
from fewgold.common.checks import as_names
from fewgold.common.text import counted, listed, plain_frame, plain_value
from fewgold.cut import Cut
from fewgold.design import Design, DesignKind
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import LinearEstimate
from fewgold.judge import measures as m
from fewgold.judge.calibration import Calibration, bin_edges, calibration
from fewgold.judge.measures import Measure, MeasuredValue, Paired, Scored, figure
from fewgold.sample import Ratings

if TYPE_CHECKING:
    import pandas as pd

#: Name and explanation of each measure.
MEASURES = {
    "people": ("people", "mean of people over the pool"),
    "judge": ("judge", "mean of the judge over the pool"),
    "difference": ("judge − people", "above 0 the judge is too lenient, below 0 too strict"),
    "accuracy": ("accuracy", "share on which both agree"),
    "sensitivity": ("ρ, recall", "share of the good ones that the judge passes"),
    "specificity": ("η, specificity", "share of the bad ones that the judge fails"),
    "precision": ("precision", "share of good ones among those that the judge passes"),
    "negative_value": (
        "negative predictive value",
        "share of bad ones among those that the judge fails",
    ),
    "f1": ("F1", "harmonic mean of precision and recall"),
    "kappa": ("Cohen's κ", "agreement beyond chance: 0 is chance, 1 is perfect"),
    "kappa_linear": ("κ, linear", "like κ, but a miss by two levels counts double"),
    "kappa_quadratic": ("κ, quadratic", "like κ, but a miss by two levels counts four times"),
    "ac1": ("Gwet's AC1", "like κ, but more stable if one class is rare"),
    "ac2": ("Gwet's AC2", "like AC1, but a miss by two levels counts four times"),
    "auc": ("AUC", "probability that a good one scores above a bad one"),
    "ece": ("calibration error", "mean gap between stated and true probability (ECE)"),
    "pearson": ("Pearson's r", "correlation"),
    "spearman": ("Spearman's ρ", "rank correlation"),
    "kendall": ("Kendall's τ-b", "rank correlation, by pairs"),
    "distance": ("mean distance", "mean of |judge − people|"),
}
BINARY = np.array([0.0, 1.0])
_LEVELS = 11  # with more levels than this, scores count as continuous
_SLICES = 30
_FEW = 5
_BIN = 20  # rated segments per bin, so that its share is informative


# What is known of the pool


class JudgedColumns:
    """Access to columns, over the whole pool and at the rated segments."""

    def __init__(self, ratings: Ratings, more: Mapping[str, Any]) -> None:
        self.sample, self.pool = ratings.sample, ratings.sample.pool
        self.process = ratings.sample.design.kind == DesignKind.PROCESS
        self._more = more
        for name, values in more.items():
            if len(values) != len(self.pool):
                raise DataError(
                    f"the column {name!r} has {len(values)} values, but the pool has "
                    f"{len(self.pool)} segments."
                )

    def judges(self, told: str | Sequence[str] | None) -> tuple[str, ...]:
        pool = self.pool
        if told is None:
            found = tuple(n for n in pool.metrics if pool.orientation.get(n) != 0)
            if not found:
                raise DataError("the pool has no metric that could be a judge. Name its column.")
            return found
        names = as_names(told)
        for name in names:
            if name not in pool.metrics and name not in self._more:
                raise UnknownNameError("judge", name, [*pool.metrics, *self._more])
        return names

    def scores(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Scores of a judge on the whole pool (N,) and on the rated segments (n,), NaN in gaps."""
        if name in self._more:
            whole = self._numbers(name)
            return whole, whole[self.sample.indices]
        return self.pool._metric_values(name), self.pool.metrics[name][self.sample.indices]

    def _numbers(self, name: str) -> FloatArray:
        from fewgold import io

        column = io.column_of(self._more[name], name)
        if not column.numeric or not column.finite.any():
            raise DataError(f"the column {name!r} holds no scores of a judge.")
        return column.values

    def values(self, name: str) -> NDArray[Any]:
        """Any column over the whole pool: (N,)."""
        pool = self.pool
        if not pool._rows_in_memory:
            raise DataError(
                "slices and error analysis by column need the whole pool in memory; this one "
                "stays on disk."
            )
        known: dict[str, Any] = {**pool.texts, **pool.metrics, **self._more}
        if pool.documents is not None:
            known.setdefault("document", pool.documents)
        if pool.system is not None:
            known.setdefault("system", pool.system)
        if name not in known:
            raise UnknownNameError("column", name, known)
        return np.asarray(known[name])

    def covariate(self, name: str) -> tuple[str, FloatArray]:
        """A column as numbers (N,) and their name; for a text, its number of words."""
        from fewgold import io

        values = self.values(name)
        column = io.column_of(values, name)
        if column.numeric:
            if column.gaps:
                raise DataError(
                    f"the column {name!r} has {counted(column.gaps, 'missing value')}. Fill the "
                    "gaps first."
                )
            return name, column.values
        return f"words of {name}", np.array([len(str(v).split()) for v in values], dtype=float)


class TrialSettings(NamedTuple):
    ratings: Ratings
    table: JudgedColumns
    cut: Cut | None
    bins: int | None
    confidence: float


# One judge, over the pool or over a slice of it

_PLOTS = {
    "confusion": "what people and the judge say, as shares of the pool",
    "reliability": "stated and true chance",
    "scores": "people's scores by the judge's",
}


@dataclass(frozen=True, eq=False)
class Trial:
    """Measures of one judge against people, over the pool or over a slice of it.

    Parameters
    ----------
    judge, slice
        The judge's name, and the value that defines the slice, if any.
    kind
        ``binary``, ``probability``, ``score`` (people say 0 or 1, the judge gives a score),
        ``ordinal`` or ``numeric``.
    rated, size
        Number of rated segments, and of segments in the pool.
    figures
        Value, standard error and interval of each measure, by the names in `MEASURES`.
    confusion, counts
        (K, K) shares of the pool, and numbers of rated segments: rows are human levels, columns the
        judge's; None without levels.
    levels
        (K,) the levels used by people and the judge.
    calibration
        Reliability curve of a probability.
    worth
        Number of ratings without the judge that are worth the actual ones with it, and its
        interval.
    notes
        Remarks for the reader.
    """

    judge: str
    slice: str | None
    kind: str
    rated: int
    size: int
    figures: Mapping[str, MeasuredValue]
    confusion: FloatArray | None = None
    counts: FloatArray | None = None
    levels: FloatArray = field(default_factory=lambda: BINARY)
    calibration: Calibration | None = None
    worth: tuple[float, float, float] | None = None
    notes: tuple[str, ...] = ()
    _made: Mapping[str, tuple[Paired, Measure]] = field(default_factory=dict, repr=False)
    _error: tuple[Paired, FloatArray] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        where = "" if self.slice is None else f" where {self.slice}"
        return f"Trial({self.judge}{where}, {self.kind}, {self.rated} of {self.size} rated)"

    @property
    def plots(self) -> dict[str, str]:
        """The available figures of this judge, and what they show."""
        graded = self.kind in ("score", "ordinal", "numeric")
        there = {
            "confusion": self.confusion is not None,
            "reliability": self.calibration is not None,
            "scores": graded and bool(self._made),
        }
        return {name: _PLOTS[name] for name, found in there.items() if found}

    def matrix(self) -> pd.DataFrame:
        """The confusion matrix as shares of the pool: rows by people, columns by the judge."""
        import pandas as pd

        names = [f"{v:g}" for v in self.levels]
        index = pd.Index(names, name="people")
        return pd.DataFrame(self.confusion, index=index, columns=pd.Index(names, name="judge"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        curve = self.calibration
        return {
            "judge": self.judge, "slice": self.slice, "kind": self.kind, "rated": self.rated,
            "size": self.size,
            "measures": {k: plain_value(f._asdict()) for k, f in self.figures.items()},
            "levels": None if self.confusion is None else plain_value(self.levels),
            "confusion": plain_value(self.confusion), "counts": plain_value(self.counts),
            "calibration": None if curve is None else plain_frame(curve_frame(curve)),
            "worth": None if self.worth is None else plain_value(
                dict(zip(("ratings", "low", "high"), self.worth, strict=True))),
            "notes": list(self.notes),
        }  # fmt: skip


def trial_of(
    setting: TrialSettings, name: str, inside: BoolArray | None = None, told: str | None = None
) -> Trial:
    """Assess a judge over the pool, or over the segments ``inside`` (N,) of it."""
    ratings, table = setting.ratings, setting.table
    whole, at = table.scores(name)
    notes = [] if told is not None else list(ratings.warnings)
    gaps = int(np.isnan(whole).sum())
    if gaps:
        inside = np.isfinite(whole) if inside is None else inside & np.isfinite(whole)
        notes.append(
            f"{name} has no score for {counted(gaps, 'segment')}: this is about the others"
        )
    part = whole if inside is None else whole[inside]
    picked = None if inside is None else inside[ratings.sample.indices]
    rated = ratings.n if picked is None else int(picked.sum())
    common: dict[str, Any] = {"judge": name, "slice": told, "rated": rated, "size": part.size}
    if rated < (1 if told is None else _FEW):
        few = f"{counted(rated, 'rating')}: too few for any statement about this part"
        return Trial(**common, kind="unknown", figures={}, notes=(few.replace("s is", "s are"),))
    seen = ratings.scores if picked is None else ratings.scores[picked]
    kind, labels = _kind(setting, name, ratings.scores, whole)

    def paired(values: FloatArray, pool: FloatArray) -> Paired:
        own = np.where(np.isnan(values), 0.0, values)
        inner = picked if picked is not None else slice(None)
        mean = own[inner].mean() if table.process else pool.mean()
        return Paired(
            ratings.scores, own, ratings.sample.design, float(mean), picked, not table.process
        )

    score = paired(at, part)
    verdict, levels = score, BINARY
    if labels is not None:
        verdict = paired(labels(at), labels(part))
    if kind == "ordinal":
        levels = _levels(ratings.scores, whole)
    same_scale = kind != "numeric" or _same_scale(ratings.scores, whole)
    wanted = dict(_wanted(kind, labels is not None, levels, same_scale, verdict, score))
    found: dict[str, MeasuredValue] = {}
    made: dict[str, tuple[Paired, Measure]] = {}
    for key, (of, measure, over) in wanted.items():
        found[key] = _figure(setting, of, measure, over)
        made[key] = of, measure(of)
    found, curve = _completed(setting, found, verdict, score, kind, part, rated)
    confusion = counts = None
    if labels is not None or kind == "ordinal":
        confusion = m.confusion(verdict, levels)
        plain = np.zeros((levels.size, levels.size))
        keep = slice(None) if picked is None else picked
        places = (np.searchsorted(levels, v[keep]) for v in (ratings.scores, verdict.judge))
        np.add.at(plain, tuple(places), 1.0)
        counts = plain
    notes += _remarks(setting, name, kind, seen, verdict, found, same_scale)
    # The difference if judge and people share a scale, otherwise the residual from a straight line.
    error = score.judge - score.human
    if kind in ("score", "numeric") and not (same_scale and kind == "numeric"):
        error = _residual(score)
    if labels is not None and kind != "probability":
        error = verdict.judge - verdict.human
    return Trial(
        **common, kind=kind, figures=found, confusion=confusion, counts=counts, levels=levels,
        calibration=curve, worth=_worth(found, score, rated, int(part.size), table.process),
        notes=tuple(notes), _made=made, _error=(score, error),
    )  # fmt: skip


def _kind(
    setting: TrialSettings, name: str, human: FloatArray, whole: FloatArray
) -> tuple[str, Callable[[FloatArray], FloatArray] | None]:
    """The kind of judge, and the cut that turns its scores into 0 and 1, if any."""
    known = whole[np.isfinite(whole)]
    zero_one = bool(np.isin(human, BINARY).all())
    binary = bool(np.isin(known, BINARY).all())
    cut = setting.cut
    if cut is not None and not zero_one:
        raise DataError(
            "a threshold turns the judge into pass or fail, but the human scores are not 0 and "
            "1. Say which human scores are good:",
            hints={
                "python": 'ratings.cut(">= 4").',
                "cli": "--adequate '>=4'.",
                "web": "choose them.",
            },
        )
    probable = bool(((known >= 0) & (known <= 1)).all())

    def label(scores: FloatArray, by: Cut) -> FloatArray:
        return np.where(np.isnan(scores), np.nan, by(np.nan_to_num(scores)))

    if zero_one and binary:
        return "binary", lambda scores: scores
    if zero_one and probable:
        by = cut or Cut(">=", 0.5)
        return "probability", lambda scores: label(scores, by)
    if zero_one:
        return "score", None if cut is None else lambda scores: label(scores, cut)
    levels = np.unique(np.concatenate([human, known]))
    steps = np.isclose(levels * 2, np.round(levels * 2)).all() and levels.size <= _LEVELS
    return ("ordinal" if steps else "numeric"), None


def _levels(human: FloatArray, whole: FloatArray) -> FloatArray:
    """The levels (K,) that people or the judge use, at least two."""
    found = np.unique(np.concatenate([human.ravel(), whole[np.isfinite(whole)]]))
    return found if found.size > 1 else np.array([found[0], found[0] + 1])


def _same_scale(human: FloatArray, whole: FloatArray) -> bool:
    """Whether judge and people seem to use the same scale: central 90 % ranges overlap by half."""
    low, high = np.quantile(human, [0.05, 0.95])
    least, most = np.quantile(whole[np.isfinite(whole)], [0.05, 0.95])
    longest = max(high - low, most - least)
    return bool(longest > 0 and min(high, most) - max(low, least) >= longest / 2)


_Wanted: TypeAlias = tuple[Paired, Callable[[Scored], Measure], FloatArray | None]


def _wanted(
    kind: str,
    labelled: bool,
    levels: FloatArray,
    same_scale: bool,
    verdict: Paired,
    score: Paired,
) -> Iterator[tuple[str, _Wanted]]:
    """The suitable measures, their data, and the levels of their table."""
    zero_one = kind in ("binary", "probability", "score")
    if zero_one:
        yield "people", (verdict, m.share_human, BINARY if labelled else None)
    else:
        yield "people", (score, m.mean_human, None)
        if same_scale:
            yield "difference", (score, m.mean_difference, None)
    if labelled:
        yield "accuracy", (verdict, m.accuracy, BINARY)
        for key in ("sensitivity", "specificity", "precision", "negative_value", "f1"):
            yield key, (verdict, getattr(m, key), BINARY)
    if labelled or kind == "ordinal":
        yield "kappa", (verdict, partial(_kappa, levels, "none"), levels)
    if kind == "ordinal":
        yield "accuracy", (verdict, m.accuracy, levels)
        for weight in ("linear", "quadratic"):
            yield f"kappa_{weight}", (verdict, partial(_kappa, levels, weight), levels)
    if labelled or kind == "ordinal":
        yield "ac1", (verdict, lambda of: m.ac1(of, levels), levels)
    if kind == "ordinal":
        yield "ac2", (verdict, lambda of: m.ac1(of, levels, "quadratic"), levels)
    if kind in ("probability", "score"):
        yield "auc", (score, m.auc, None)
    if not zero_one:
        for key in ("pearson", "spearman", "kendall"):
            yield key, (score, getattr(m, key), None)
        if same_scale:
            yield "distance", (score, m.mean_distance, None)


def _kappa(levels: FloatArray, weight: str, of: Scored) -> Measure:
    return m.kappa(of, levels, weight)


def figures(
    human: FloatArray,
    judge: FloatArray,
    design: Design,
    pool: FloatArray,
    *,
    bins: int | None = None,
    confidence: float = 0.95,
) -> dict[str, MeasuredValue]:
    """Measures of a batch of studies, for simulations: arrays (..., n) give figures (...).

    Parameters
    ----------
    human, judge
        (..., n) scores of the rated segments: verdicts of 0 and 1 from both; or 0 and 1 from people
        and a probability from the judge; or levels of one scale from both.
    design
        How the segments of each study were drawn.
    pool
        (N,) the judge's scores of all segments.
    """
    of = Paired(human, judge, design, float(pool.mean()))
    zero_one, binary = np.isin(human, BINARY).all(), np.isin(pool, BINARY).all()
    kind = "binary" if binary else "probability" if zero_one else "ordinal"
    levels = BINARY if zero_one else _levels(human, pool)
    verdict = of
    if kind == "probability":
        verdict = Paired(
            human, np.where(judge >= 0.5, 1.0, 0.0), design, float((pool >= 0.5).mean())
        )
    wanted = _wanted(kind, bool(zero_one), levels, True, verdict, of)
    found = {key: figure(measure, by, confidence, over) for key, (by, measure, over) in wanted}
    if kind == "probability":
        edges = bin_edges(pool, bins or bins_for(human.shape[-1]))
        found["ece"] = calibration(of, pool, edges, confidence).ece
    return found


def bins_for(rated: int) -> int:
    """Bins of a reliability curve: one per 20 ratings, between 2 and 10."""
    return int(np.clip(rated // _BIN, 2, 10))


def _figure(
    setting: TrialSettings,
    of: Paired,
    measure: Callable[[Scored], Measure],
    levels: FloatArray | None,
) -> MeasuredValue:
    """A measure with its interval; means of scores have the same interval as estimates."""
    found = figure(measure, of, setting.confidence, levels)
    made = measure(of)
    if np.isfinite(made.high - made.low) or of.inside is not None:
        return found
    estimate = LinearEstimate(
        offset=made.value, residuals=of.residuals(made.influence), ratings=setting.ratings,
        bound=Auto(), method="judge", parameters=1.0 * of.known,
    )  # fmt: skip
    low, high = Auto().interval(estimate, setting.confidence)
    return MeasuredValue(made.value, found.se, np.maximum(low, made.low), high)


def _completed(
    setting: TrialSettings,
    found: dict[str, MeasuredValue],
    verdict: Paired,
    score: Paired,
    kind: str,
    pool: FloatArray,
    rated: int,
) -> tuple[dict[str, MeasuredValue], Calibration | None]:
    """Figures in the order of `MEASURES`, adding calibration and what is known about the judge."""
    curve = None
    mean, people = np.asarray(verdict.judge_mean), found["people"]
    shares = kind in ("binary", "probability", "score")
    if kind == "score" and verdict is score:
        pass  # without a threshold there is no share to compare with people's
    elif verdict.known:
        found["judge"] = MeasuredValue(mean, np.asarray(0.0), mean, mean)
        if shares:
            found["difference"] = MeasuredValue(
                mean - people.value, people.se, mean - people.high, mean - people.low
            )
    else:
        found["judge"] = figure(m.mean_judge, verdict, setting.confidence)
        if shares:
            found["difference"] = figure(m.mean_difference, verdict, setting.confidence, BINARY)
    if kind == "probability":
        edges = bin_edges(pool, setting.bins or bins_for(rated))
        curve = calibration(score, pool, edges, setting.confidence)
        found["ece"] = curve.ece
    return {key: found[key] for key in MEASURES if key in found}, curve


def _residual(of: Paired) -> FloatArray:
    """Residuals of people's scores on a straight line in the judge's, with the sign reversed."""
    dev, spread = of._centred_judge
    slope = of.mean(dev * of.human) / spread[..., 0] if spread[..., 0] > 0 else 0.0
    return np.asarray(of.mean(of.human) + slope * dev - of.human)


def _worth(
    found: Mapping[str, MeasuredValue], of: Paired, n: int, size: int, process: bool
) -> tuple[float, float, float] | None:
    """Number of simple random ratings worth as much as n with the judge, and its interval.

    A judge with correlation r to people leaves 1 − r² of the variance of the mean, which is worth a
    sample larger by the factor 1/(1 − r²), apart from the finite population correction. One degree
    of freedom is lost to the slope.
    """
    r = figure(m.pearson, of, 0.95)
    if n < 4 or not np.isfinite(r.value):
        return None
    cross = r.low <= 0 <= r.high
    ends = sorted(float(abs(end)) for end in (r.low, r.high))

    def ratings(correlation: float) -> float:
        left = min((1 - correlation**2) * (n - 1) / (n - 2), 1.0)
        rest = 0.0 if process else 1 / size
        return 1 / max(rest + (1 / n - rest) * left, 1e-12)

    return ratings(float(r.value)), float(n) if cross else ratings(ends[0]), ratings(ends[1])


def _remarks(
    setting: TrialSettings,
    name: str,
    kind: str,
    seen: FloatArray,
    verdict: Paired,
    found: Mapping[str, MeasuredValue],
    same_scale: bool,
) -> list[str]:
    """Remarks on measures that cannot be computed, and on choices made."""
    notes = []
    if kind == "probability" and setting.cut is None:
        notes.append(
            f"{name} is treated as a probability: 0.5 or more counts as good, unless a "
            "threshold is given"
        )
    if kind == "score" and setting.cut is None:
        notes.append(
            f"{name} is a score: accuracy, κ and similar measures need a threshold from which "
            "it counts as good"
        )
    if not same_scale:
        notes.append(f"{name} and people use different scales, so differences are left out")
    inner = verdict.judge if verdict.inside is None else verdict.judge[verdict.inside]
    if seen.size < 20:
        say = "says" if seen.size == 1 else "say"
        notes.append(f"{counted(seen.size, 'rating')} {say} little: the intervals are rough")
    if np.ptp(seen) == 0:
        notes.append(
            f"people gave all rated segments a {seen[0]:g}: measures that need both classes "
            "cannot be computed"
        )
    if np.ptp(inner) == 0:
        notes.append(f"{name} says {inner[0]:g} for all rated segments")
    if any(np.isinf(made.low) or np.isinf(made.high) for made in found.values()):
        notes.append(
            "equal ratings give no interval for a mean unless the limits of the scale are known"
        )
    unknown = [MEASURES[key][0] for key, made in found.items() if np.isnan(made.value)]
    if unknown:
        notes.append(f"not defined for these ratings: {listed(unknown)}")
    elif np.array_equal(inner, seen) and np.ptp(seen) > 0:
        notes.append(
            f"{name} and people agree on all {seen.size} rated segments; the intervals allow "
            "for disagreements on unrated ones"
        )
    area = found.get("auc")
    if area is not None and area.high < 0.5:
        notes.append(f"{name} points the other way: higher scores go with bad segments")
    if setting.table.process and kind != "unknown":
        notes.append("all rows are rated: intervals are for further segments from the same process")
    return notes


# Slices, and what errors depend on


def slices_of(setting: TrialSettings, names: Sequence[str], by: Sequence[str]) -> Iterator[Trial]:
    """Trials for each value of a column, or each combination of the values of several."""
    parts: dict[str, BoolArray] = {}
    for column in by:
        own = _parts(setting.table.values(column), column)
        parts = {
            f"{told}, {label}" if told else label: inside & part
            for told, inside in (parts or {"": np.array(True)}).items()
            for label, part in own.items()
            if (inside & part).any()
        }
    if len(parts) > _SLICES:
        raise DataError(
            f"{' and '.join(by)} make {len(parts)} slices, but at most {_SLICES} are supported. "
            "Name fewer columns."
        )
    for told, inside in parts.items():
        for name in names:
            yield trial_of(setting, name, inside, told)


def _parts(values: NDArray[Any], by: str) -> dict[str, BoolArray]:
    """Parts of the pool by the values of a column; many different numbers are cut into quarters."""
    from fewgold import io

    texts = np.array([str(v) for v in values.tolist()])
    labels = list(dict.fromkeys(texts.tolist()))
    if len(labels) <= _SLICES:
        return {label: texts == label for label in sorted(labels)}
    column = io.column_of(values, by)
    if not column.numeric or column.gaps:
        raise DataError(
            f"the column {by!r} has {len(labels)} different values, too many for slices. Choose "
            f"one with at most {_SLICES}, or a numeric column without missing values."
        )
    cuts = np.unique(np.quantile(column.values, [0.25, 0.5, 0.75], method="inverted_cdf"))
    place = np.searchsorted(cuts, column.values)
    ends = [-np.inf, *cuts.tolist(), np.inf]
    found = {}
    for k in range(len(cuts) + 1):
        label = f"> {ends[k]:g}" if k == len(cuts) else f"≤ {ends[k + 1]:g}"
        if 0 < k < len(cuts):
            label = f"{ends[k]:g} to {ends[k + 1]:g}"
        if (place == k).any():
            found[label] = place == k
    return found


def follows_of(setting: TrialSettings, trial: Trial, name: str) -> dict[str, Any]:
    """Regression of a judge's errors, and of their size, on a column: per standard deviation."""
    told, values = setting.table.covariate(name)
    found: dict[str, Any] = {"judge": trial.judge, "column": told}
    if trial._error is None:
        return found
    of, error = trial._error
    x = values[setting.ratings.sample.indices]
    spread = float(values.std())
    for key, y in (("error", error), ("size", np.abs(error))):
        dx = x - of.mean(x)
        square = float(of.mean(dx**2))
        if spread <= 0 or square <= 1e-12 * max(float(np.square(x).max()), 1e-300):
            found |= {f"{key}_{end}": np.nan for end in ("slope", "low", "high", "p")}
            continue
        slope = float(of.mean(dx * y)) / square
        z = dx * (y - of.mean(y) - slope * dx) / square
        se = float(np.sqrt(of.variance_of(of._scaled((z - of.mean(z)) * of._g))))
        half = float(of.quantile(setting.confidence)) * se
        p = 2 * float(stdtr(float(of.df), -abs(slope) / se)) if se > 0 else float("nan")
        ends = {"slope": slope, "low": slope - half, "high": slope + half}
        found |= {f"{key}_{k}": v * spread for k, v in ends.items()} | {f"{key}_p": p}
    return found


def curve_frame(curve: Calibration, quantile: float = 1.96) -> pd.DataFrame:
    """A reliability curve, one row per bin."""
    import pandas as pd

    return pd.DataFrame(
        {
            "from": curve.edges[:-1],
            "to": curve.edges[1:],
            "share": curve.share,
            "rated": curve.rated,
            "stated": curve.stated,
            "observed": np.where(curve.rated > 0, curve.observed, np.nan),
            "low": np.clip(curve.observed - quantile * curve.se, 0, 1),
            "high": np.clip(curve.observed + quantile * curve.se, 0, 1),
        }
    )
