"""Several criteria per item, such as fluency and adequacy: one sample, estimates side by side.

All criteria are rated on the same segments, so they share the sample, its design and its metrics.
Each criterion has its own scale, gaps and estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.chosen import Chosen, as_pandas, read_labelled
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import Limits, as_names, check_confidence
from fewgold.common.text import decimals, html_table, plain_value
from fewgold.cut import Cut
from fewgold.errors import DataError, UnknownNameError
from fewgold.estimate import Estimate, Interval, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.formats.base import Criterion, parse_criteria
from fewgold.labels import for_target, partial_ratings, usual_estimator
from fewgold.missing import GapBounds, PartialRatings
from fewgold.sample import Sample

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CriteriaEstimate", "CriteriaRatings", "Criterion", "from_table", "rate"]

# Points of the normal distribution from which the level of simultaneous intervals is computed.
_POINTS = 1 << 14


def rate(
    sample: Sample,
    scores: Mapping[str, Any] | pd.DataFrame,
    criteria: str | Iterable[str | Criterion] | None = None,
    *,
    given: CriteriaRatings | None = None,
) -> CriteriaRatings:
    """Attach the scores of several criteria to one sample.

    Parameters
    ----------
    sample
        One sample; for a top-up give ``given`` as well.
    scores
        For each criterion an array in the order of the sample (NaN where unrated), a mapping or a
        Series from id; or a dataframe indexed by id, with one column per criterion.
    criteria
        Scales and directions, such as ``["fluency:1-5", "adequacy:0-100:higher"]``. None takes all
        columns of ``scores``, without a known scale.
    given
        The ratings that a top-up continues.

    Examples
    --------
    >>> import numpy as np, fewgold as fg
    >>> pool, human = fg.datasets.load_demo("zhen")
    >>> sample = fg.samplers.Balanced().draw(pool, 100, rng=1)
    >>> fluency = human[sample.indices]
    >>> accuracy = np.clip(2 * fluency - 1, 0, 25)
    >>> rated = fg.criteria.rate(
    ...     sample, {"fluency": fluency, "accuracy": accuracy}, ["fluency:mqm", "accuracy:mqm"]
    ... )
    >>> rated
    CriteriaRatings(fluency: 100 of 100 rated, accuracy: 100 of 100 rated)
    >>> result = rated.estimate(fg.estimators.Ridge())
    >>> list(result.table().columns)
    ['criterion', 'value', 'se', 'low', 'high', 'n']
    """
    named = [str(name) for name in scores]
    chosen = parse_criteria(named if criteria is None else criteria)
    for criterion in chosen:
        if criterion.name not in named:
            raise UnknownNameError("criterion", criterion.name, named, "It has no scores.")
    unused = [name for name in named if name not in {c.name for c in chosen}]
    if unused:
        raise DataError(
            f"there are scores for {', '.join(unused)}, but the criteria are only "
            f"{', '.join(c.name for c in chosen)}. Add what is missing to the criteria, or leave "
            "those scores out."
        )
    parts = {}
    for criterion in chosen:
        drawn = sample
        if sample.given is not None:
            if given is None or criterion.name not in given.parts:
                raise DataError(
                    f"this sample is a top-up, and the earlier ratings of {criterion.name!r} are "
                    "missing. Give them: rate(sample, scores, given=ratings)."
                )
            drawn = replace(sample, given=given.parts[criterion.name].complete())
        own: Any = scores[criterion.name]
        with _named(criterion.name):
            parts[criterion.name] = PartialRatings(drawn, own, criterion.limits)
    return CriteriaRatings(chosen, parts)


@contextmanager
def _named(criterion: str) -> Iterator[None]:
    """Makes errors begin with the criterion that they are about."""
    try:
        yield
    except DataError as error:
        told = f"{criterion}: {error.message}"
        raise DataError(told, code=error.code, hints=error.hints) from None


def from_table(
    table: Any,
    criteria: str | Iterable[str | Criterion],
    *,
    chosen: str | Chosen = "random",
    limits: Limits | None = None,
    metrics: str | Sequence[str] | None = None,
    **columns: Any,
) -> CriteriaRatings:
    """Read existing labels from a dataframe in which some rows are labelled on several criteria.

    Parameters
    ----------
    table
        A dataframe of pandas, polars, pyarrow or narwhals; missing labels are NaN or null.
    criteria
        The columns of labels, with their scales where known, such as ``["fluency:1-5", "ok"]``.
    chosen, metrics, columns
        As in `fewgold.estimate_mean`. Rows may be labelled on some of the criteria only.
    limits
        Ends of the scale for criteria that do not state their own.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"judge": rng.normal(size=500)})
    >>> for name in ("fluency", "adequacy"):
    ...     frame[name] = np.where(np.arange(500) < 80, frame["judge"] + rng.normal(size=500), None)
    >>> result = from_table(frame, ["fluency", "adequacy"], metrics="judge").estimate()
    >>> [round(float(made.value), 2) for made in result.estimates.values()]
    [-0.01, -0.15]
    """
    frame, parsed = as_pandas(table), parse_criteria(criteria)
    for criterion in parsed:
        if criterion.name not in frame.columns:
            raise UnknownNameError("column", criterion.name, [str(c) for c in frame.columns])
    parts, own = {}, set() if metrics is None else set(as_names(metrics))
    notes: dict[str, None] = {}
    both = [c.name for c in parsed if c.name in own]
    if both:
        raise DataError(f"{both[0]!r} is a criterion and a metric. It can only be one of the two.")
    for criterion in parsed:
        # One criterion cannot serve as a metric for another: it is known for the labelled rows
        # only.
        others = [c.name for c in parsed if c.name != criterion.name]
        found = read_labelled(
            frame.drop(columns=others), human=criterion.name, chosen=chosen, metrics=metrics,
            **columns,
        )  # fmt: skip
        with _named(criterion.name):
            parts[criterion.name] = partial_ratings(found, criterion.limits or limits)
        notes |= dict.fromkeys(found.notes)
    return CriteriaRatings(parsed, parts, tuple(notes))


@dataclass(frozen=True, eq=False)
class CriteriaRatings:
    """Scores of one sample on several criteria, perhaps with gaps.

    Parameters
    ----------
    criteria
        What was rated, with scales and directions.
    parts
        The scores of each criterion by name; see `fewgold.missing.PartialRatings`.
    notes
        Warnings from reading the scores.
    """

    criteria: tuple[Criterion, ...]
    parts: Mapping[str, PartialRatings]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        told = (f"{name}: {p.rated} of {p.sample.n} rated" for name, p in self.parts.items())
        return f"CriteriaRatings({', '.join(told)})"

    def __getitem__(self, name: str) -> PartialRatings:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    @property
    def missing(self) -> dict[str, list[Any]]:
        """The ids of the unrated segments of each criterion."""
        return {name: part.missing.tolist() for name, part in self.parts.items()}

    def only(self, names: str | Iterable[str]) -> CriteriaRatings:
        """The same ratings restricted to some of the criteria."""
        wanted = as_names(names)
        for name in wanted:
            if name not in self.parts:
                raise UnknownNameError("criterion", name, self.parts)
        criteria = tuple(c for n in wanted for c in self.criteria if c.name == n)
        return replace(self, criteria=criteria, parts={n: self.parts[n] for n in wanted})

    def cut(self, cut: Cut | str) -> CriteriaRatings:
        """1 (adequate) or 0 from each score: the mean is then the share of adequate segments."""
        return replace(
            self,
            criteria=tuple(Criterion(c.name, (0, 1), True) for c in self.criteria),
            parts={name: part.cut(cut) for name, part in self.parts.items()},
        )

    def estimate(
        self,
        estimator: Estimator | None = None,
        gaps: str = "wait",
        *,
        target: str = "pool",
        confidence: float = 0.95,
    ) -> CriteriaEstimate:
        """The score of the whole pool on each criterion.

        Parameters
        ----------
        estimator
            Used for every criterion, with slopes fitted to each; ridge regression on the metrics by
            default. It receives the directions of the criteria.
        gaps
            What to do about unrated segments of a criterion: ``wait``, ``at-random`` or ``bounds``;
            see `fewgold.missing.estimate`.
        target
            ``"pool"`` or ``"process"``, as in `fewgold.estimate_mean`.
        confidence
            Default confidence of the interval for ``bounds``.
        """
        made: dict[str, Any] = {}
        for criterion in self.criteria:
            part = self.parts[criterion.name]
            usual = usual_estimator(part.sample.pool) if estimator is None else estimator
            with _named(criterion.name):
                made[criterion.name] = for_target(
                    directed(usual, criterion), part, target, gaps, confidence
                )
        return CriteriaEstimate(self, made)

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        return list(combinations(self.parts, 2))

    def _both(self, first: str, second: str) -> PartialRatings:
        """The scores of the first criterion; NaN where the second is unrated."""
        one, other = self.parts[first], self.parts[second]
        known = dict(
            zip(other.sample.indices.tolist(), np.isfinite(other.scores).tolist(), strict=True)
        )
        keep = np.array([known.get(row, False) for row in one.sample.indices.tolist()])
        scores = np.where(keep, one.scores, np.nan)
        if np.isnan(scores).all():
            raise DataError(f"no segment is rated on both {first} and {second}.")
        return PartialRatings(one.sample, scores, one.limits)

    def correlations(self, confidence: float = 0.95) -> pd.DataFrame:
        """Pearson's correlation over the pool of every pair of criteria, with its interval.

        Means are weighted by the design and intervals follow it (linearisation; Deville 1999), on
        the segments that are rated on both. Segments rated on one criterion only are treated as
        missing at random.
        """
        import pandas as pd

        from fewgold.judge.measures import Paired, figure, pearson

        rows: list[dict[str, Any]] = []
        for first, second in self._pairs:
            try:
                shared = self._both(first, second).at_random()
            except DataError:
                empty = dict.fromkeys(("value", "se", "low", "high"), np.nan)
                rows.append({"first": first, "second": second, **empty, "n": 0})
                continue
            part = self.parts[second]
            by_row = dict(zip(part.sample.indices.tolist(), part.scores.tolist(), strict=True))
            other = np.array([by_row[row] for row in shared.sample.indices.tolist()])
            of = Paired(shared.scores, other, shared.sample.design, 0.0, known=False)
            found = figure(pearson, of, check_confidence(confidence))
            told = {name: float(end) for name, end in found._asdict().items()}
            rows.append({"first": first, "second": second, **told, "n": shared.n})
        names = ["first", "second", "value", "se", "low", "high", "n"]
        return pd.DataFrame(rows, columns=names)


def directed(estimator: Estimator, criterion: Criterion) -> Estimator:
    """The estimator with the direction of a criterion, if it uses one."""
    way = criterion.higher_is_better
    if way is None or getattr(estimator, "higher_is_better", way) is not None:
        return estimator
    return replace(estimator, higher_is_better=way)  # type: ignore[type-var]


@dataclass(frozen=True, eq=False)
class CriteriaEstimate:
    """Estimates of several criteria from one sample, side by side.

    Parameters
    ----------
    ratings
        The ratings they were made from.
    estimates
        The estimate of each criterion by name.
    """

    ratings: CriteriaRatings
    estimates: Mapping[str, Estimate | GapBounds]

    def __repr__(self) -> str:
        told = (f"{name} {float(made.value):.4g}" if isinstance(made, LinearEstimate) else name
                for name, made in self.estimates.items())  # fmt: skip
        return f"CriteriaEstimate({', '.join(told)})"

    def _repr_html_(self) -> str:
        """The criteria side by side in a notebook."""
        rows = []
        for row in self._rows(0.95, False):
            error, value = row.get("se"), row.get("value")
            digits = decimals(error or 0.0)
            cells = [f"{v:.{digits}f}" if v is not None else "–" for v in (value, error)]
            ends = "–"
            if row["low"] is not None and row["high"] is not None:
                ends = f"{row['low']:.{digits}f} to {row['high']:.{digits}f}"
            rows.append((row["criterion"], *cells, ends, row["n"]))
        heads = ("criterion", "score", "standard error", "95% interval", "ratings")
        return html_table("Criteria", rows, heads, self.notes)

    def __getitem__(self, name: str) -> Estimate | GapBounds:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    @cached_property
    def error_correlation(self) -> FloatArray | None:
        """Correlation of the errors of the estimates (k, k), under the design.

        None where the criteria were not rated on the same segments, or where estimates have no
        linear form.
        """
        made = [m for m in self.estimates.values() if isinstance(m, LinearEstimate)]
        rows = [m.ratings.sample.indices for m in made]
        if len(made) < len(self.estimates) or any(not np.array_equal(r, rows[0]) for r in rows):
            return None
        dev = np.array([m.deviations() for m in made])
        size = np.sqrt(np.square(dev).sum(-1))
        if not (size > 0).all():
            return None
        return np.asarray((dev / size[:, None]) @ (dev / size[:, None]).T)

    def level(self, confidence: float = 0.95, simultaneous: bool = False) -> float:
        """The level of each interval at which all of them jointly have the level ``confidence``.

        Approximate intervals use the quantile of the largest of correlated normal errors (max-t);
        others, and criteria that were not rated on the same segments, use Bonferroni's inequality,
        which always holds.
        """
        alpha, k = 1 - check_confidence(confidence), len(self.estimates)
        if not simultaneous or k == 1:
            return confidence
        correlation = self.error_correlation
        if correlation is None or not all(map(_is_approximate, self.estimates.values())):
            return 1 - alpha / k
        return _joint_level(correlation, confidence)

    def intervals(
        self, confidence: float = 0.95, *, simultaneous: bool = False
    ) -> dict[str, Interval]:
        """The interval of each criterion; ``simultaneous`` ones hold jointly."""
        level = self.level(confidence, simultaneous)
        return {name: made.interval(level) for name, made in self.estimates.items()}

    def table(self, confidence: float = 0.95, *, simultaneous: bool = False) -> pd.DataFrame:
        """One row per criterion: value, standard error, interval and number of ratings."""
        import pandas as pd

        names = ["criterion", "value", "se", "low", "high", "n"]
        rows = self._rows(confidence, simultaneous)
        return pd.DataFrame([[row.get(n) for n in names] for row in rows], columns=names)

    def correlations(self, confidence: float = 0.95) -> pd.DataFrame:
        """As `CriteriaRatings.correlations`."""
        return self.ratings.correlations(confidence)

    def _rows(self, confidence: float, simultaneous: bool) -> list[dict[str, Any]]:
        level, rows = self.level(confidence, simultaneous), []
        for criterion in self.ratings.criteria:
            made = self.estimates[criterion.name].to_dict(level)
            part = self.ratings.parts[criterion.name]
            told = {
                "criterion": criterion.name,
                "limits": part.limits,
                "higher_is_better": criterion.higher_is_better,
                "missing": int(part.missing.size),
            }
            rows.append(told | made)
        return rows

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader; a remark about one criterion begins with its name."""
        found: dict[str, list[str]] = {}
        for name, made in self.estimates.items():
            for note in made.to_dict()["notes"]:
                found.setdefault(note, []).append(name)
        everywhere = len(self.estimates)
        return tuple(
            note if len(names) == everywhere else f"{', '.join(names)}: {note}"
            for note, names in found.items()
        )

    def summary(self, confidence: float = 0.95, *, simultaneous: bool = False) -> str:
        """A readable summary of a few lines."""
        level = self.level(confidence, simultaneous)
        together = " for all criteria together" if simultaneous else ""
        lines = [f"{100 * confidence:.10g}% intervals{together}"]
        for row in self._rows(confidence, simultaneous):
            digits = decimals((row["high"] or 0.0) - (row["low"] or 0.0))
            value = row.get("value")
            shown = "open" if value is None else f"{value:.{digits}f}"
            ends = f"{row['low']:.{digits}f} to {row['high']:.{digits}f}"
            lines.append(f"{row['criterion']}: {shown} ({ends}), {row['n']} ratings")
        for row in plain_value(self.correlations(confidence).to_dict("records")):
            if row["value"] is not None:
                ends = f"{row['low']:.2f} to {row['high']:.2f}"
                pair = f"{row['first']} and {row['second']}"
                lines.append(f"correlation of {pair}: {row['value']:.2f} ({ends})")
        lines += [f"note: {note}" for note in self.notes]
        lines += [self._signature(name, level) for name in self.estimates]
        return "\n".join(lines)

    def _signature(self, name: str, level: float) -> str:
        return f"{name}: {self.estimates[name].to_dict(level)['signature']}"

    def to_dict(self, confidence: float = 0.95, *, simultaneous: bool = False) -> dict[str, Any]:
        """The estimates in plain numbers, for JSON."""
        found: dict[str, Any] = plain_value({
            "criteria": self._rows(confidence, simultaneous),
            "correlations": self.correlations(confidence).to_dict("records"),
            "confidence": confidence,
            "simultaneous": simultaneous,
            "level": self.level(confidence, simultaneous),
            "notes": list(self.notes),
        })  # fmt: skip
        return found


def _is_approximate(made: Estimate | GapBounds) -> bool:
    return bool(made.to_dict().get("bound_kind") == "approximate")


def _joint_level(correlation: FloatArray, confidence: float) -> float:
    """Level γ with P(all |Z_k| ≤ z_((1+γ)/2)) = confidence, for normal Z with this correlation.

    Between the confidence itself (all errors equal) and Bonferroni's level. The probability is a
    mean over Halton points, so it is reproducible.
    """
    from scipy.special import ndtr, ndtri
    from scipy.stats import qmc

    k = len(correlation)
    points = qmc.Halton(k, scramble=False)
    points.fast_forward(1)  # the first point is 0, where the normal quantile is infinite
    values, axes = np.linalg.eigh(correlation)
    z = ndtri(points.random(_POINTS)) @ (axes * np.sqrt(np.maximum(values, 0.0))).T
    largest = float(np.quantile(np.abs(z).max(-1), confidence))
    level = 2 * float(ndtr(largest)) - 1
    return float(np.clip(level, confidence, 1 - (1 - confidence) / k))
