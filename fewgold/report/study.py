"""All numbers in the report of a study; other modules lay them out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from fewgold.agreement import Agreement, Answers
from fewgold.common.text import fixed
from fewgold.design import Design, simple_design
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Estimate, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean, Ridge
from fewgold.report.sections import is_missing
from fewgold.sample import Ratings, Sample

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.common.arrays import FloatArray

# How many plain random ratings would have been as informative

# With fewer ratings two standard errors cannot be compared reliably.
_LEAST = 10


@dataclass(frozen=True)
class Saved:
    """The ratings that a plain random sample would need for the standard error of this study.

    A rough figure, because both errors come from the same ratings. Over repeated studies of the
    built-in data it varied by 6 to 31 per cent; with balanced samples, whose standard error is
    conservative, it came out about a seventh too small.

    Parameters
    ----------
    n
        Ratings of this study.
    plain
        Number of plain random ratings with the same standard error; None if unknown.
    random_se
        Approximate standard error of the mean of ``n`` plain random ratings.
    spread
        Approximate standard deviation of the scores over the pool.
    why
        Why ``plain`` is None.
    """

    n: int
    plain: float | None = None
    random_se: float | None = None
    spread: float | None = None
    why: str = ""

    @property
    def saved(self) -> float | None:
        """Ratings saved; below 0 if plain random sampling would have done with fewer."""
        return None if self.plain is None else self.plain - self.n

    def to_dict(self) -> dict[str, Any]:
        return {
            "plain_random_ratings": self.plain,
            "saved": self.saved,
            "random_se": self.random_se,
            "score_sd": self.spread,
            "why_not": self.why or None,
        }


def pool_variance(ratings: Ratings) -> float:
    """S², the variance of the scores over the pool (divisor N − 1), from the sample.

    The mean of the squares minus the square of the mean, plus the variance of the mean, because
    the squared mean of a sample is too large by that amount. Unbiased if the mean and its
    variance are; equal to the usual s² for a simple random sample.
    """
    design, scores = ratings.sample.design, ratings.scores
    shift = float(scores.mean())  # squares of large scores would lose the spread to rounding
    around = scores - shift
    mean, cov = design.moments(around[None, :])
    own = float(cov[0, 0])
    within = float(design.weights @ (around - mean[0]) ** 2)
    if bool(design._lonely) or not math.isfinite(own):
        own = within / max(ratings.n - 1, 1)
    size = len(ratings.sample.pool)
    return (within + own) * size / max(size - 1, 1)


def same_error(se: float, variance: float, size: float) -> float:
    """The n at which S²(1/n − 1/N) = se²; ``size`` may be infinite.

    >>> round(same_error(0.5, 25.0, math.inf), 6), round(same_error(0.5, 25.0, 100), 6)
    (100.0, 50.0)
    """
    return 1.0 / (se**2 / variance + 1.0 / size)


def about_process(estimate: Estimate) -> bool:
    """Whether an estimate is about new segments like those of the pool."""
    if isinstance(estimate, LinearEstimate):
        return estimate.ratings.sample.info.target == "process"
    return getattr(estimate, "target", "pool") == "process"


def saved(ratings: Ratings, estimate: Estimate) -> Saved:
    """What the strategy gained over the mean of a plain random sample."""
    n, size = ratings.n, len(ratings.sample.pool)
    linear = estimate if isinstance(estimate, LinearEstimate) else None
    if n < 2:
        return Saved(n, why="one rating does not show how much scores vary")
    process = about_process(estimate)
    whole = math.inf if process else float(size)
    variance = pool_variance(ratings)
    if linear is None:  # for shares the spread follows from the mean
        share = float(estimate.value)
        variance = share * (1 - share) * (1.0 if process else size / max(size - 1, 1))
    spread = math.sqrt(variance)
    error = math.sqrt(variance * max(1 / n - 1 / whole, 0.0))
    told: dict[str, Any] = {"random_se": error, "spread": spread}
    if n == size and not process:
        return Saved(n, why="every segment was rated", **told)
    if n < _LEAST:
        return Saved(n, why=f"{n} ratings are too few", **told)
    se = float(estimate.se)
    if not math.isfinite(se):
        return Saved(n, why="the ratings are too few for a standard error", **told)
    if variance <= 0 or se <= 0 or (linear is not None and bool(linear.spreadless)):
        return Saved(n, why="the ratings do not vary", **told)
    printed = linear is not None and linear.method.endswith("-printed")
    if printed or not ratings.sample.design.unbiased:
        why = "this estimator is biased, and the standard error does not include bias"
        return Saved(n, why=why, **told)
    return Saved(n, same_error(se, variance, whole), **told)


# Correlation of metrics with ratings

#: Fewest ratings to give a correlation an interval, and to show it at all.
_INTERVAL, _SHOWN = 6, 3


def correlation(
    design: Design, x: FloatArray, y: FloatArray, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Pearson's correlation over the pool, weighted as drawn, and an interval for it.

    The interval is Student's on Fisher's scale. The standard error is that of the design for the
    influence of each segment on the correlation, zx·zy − r(zx² + zy²)/2, so it allows for strata,
    whole documents and the share of the pool that was rated.
    """
    w = design.weights
    x, y = x - x.mean(), y - y.mean()
    x, y = x - w @ x, y - w @ y
    vx, vy = float(w @ x**2), float(w @ y**2)
    if w.size < _SHOWN or vx <= 0 or vy <= 0:
        return math.nan, math.nan, math.nan
    zx, zy = x / math.sqrt(vx), y / math.sqrt(vy)
    r = float(np.clip(w @ (zx * zy), -1.0, 1.0))
    if w.size < _INTERVAL or bool(design._lonely) or 1 - r * r < 1e-12 or float(design.df) < 1:
        return r, math.nan, math.nan
    term = zx * zy - r * (zx**2 + zy**2) / 2
    _, cov = design.moments(term[None, :])
    half = math.sqrt(float(cov[0, 0])) / (1 - r * r)
    half *= float(stdtrit(float(design.df), (1 + confidence) / 2))
    middle = math.atanh(r)
    return r, math.tanh(middle - half), math.tanh(middle + half)


def correlations(ratings: Ratings, confidence: float = 0.95) -> pd.DataFrame:
    """Each metric's correlation with the human scores, strongest first."""
    import pandas as pd

    sample = ratings.sample
    rows = []
    for name, values in sample.pool.metrics.items():
        found = correlation(sample.design, values[sample.indices], ratings.scores, confidence)
        rows.append((name, *found))
    frame = pd.DataFrame(rows, columns=["metric", "r", "low", "high"])
    order = np.argsort(-frame["r"].abs().fillna(-1.0).to_numpy(dtype=float), kind="stable")
    return frame.iloc[order].reset_index(drop=True)


# Most influential segments


def pulls(estimate: LinearEstimate, count: int = 5) -> pd.DataFrame:
    """The rated segments that move the estimate most, and by how much.

    ``pull`` is the weight times the difference of the segment's residual from the mean residual,
    so that pulls sum to 0. ``share`` is its part of the sum of squared pulls.
    """
    import pandas as pd

    design, sample = estimate.design, estimate.ratings.sample
    left = estimate.residuals - design.weights @ estimate.residuals
    pull = design.weights * left
    total = float(pull @ pull)
    order = np.argsort(-np.abs(pull), kind="stable")[:count]
    table: dict[str, Any] = {"segment": [str(i) for i in sample.ids[order]]}
    if sample.pool.documents is not None:
        table["document"] = [str(d) for d in sample.pool.documents[sample.indices[order]]]
    table["score"] = estimate.ratings.scores[order]
    table["pull"] = pull[order]
    table["share"] = pull[order] ** 2 / total if total > 0 else np.zeros(order.size)
    return pd.DataFrame(table)


# Raters

UNKNOWN = "(not named)"


def checked_answers(answers: pd.DataFrame | None) -> pd.DataFrame | None:
    """Answers with columns segment, rater, score and time; None if there is no table."""
    import pandas as pd

    if answers is None:
        return None
    missing = [c for c in ("segment", "score") if c not in answers.columns]
    if missing:
        raise DataError(
            "answers must be a table with columns segment, rater, score and time, one row per "
            f"answer; it has no {' and no '.join(missing)}, only "
            f"{', '.join(map(str, answers.columns)) or 'none'}."
        )
    frame = pd.DataFrame({"segment": [str(s) for s in answers["segment"].tolist()]})
    raters = answers["rater"].tolist() if "rater" in answers else [None] * len(answers)
    frame["rater"] = [UNKNOWN if r == "" or is_missing(r) else str(r) for r in raters]
    frame["score"] = pd.to_numeric(answers["score"], errors="coerce").to_numpy(dtype=float)
    times = answers["time"].tolist() if "time" in answers else [None] * len(answers)
    frame["time"] = ["" if is_missing(t) else str(t) for t in times]
    return frame


# Number of points in the figure of the estimate over time, and fewest ratings of a point.
_LOOKS, _FIRST = 12, 8


@dataclass(frozen=True, eq=False)
class StudyNumbers:
    """The parts of a study, and everything the report derives from them."""

    ratings: Ratings
    estimator: Estimator
    strategy: str
    confidence: float
    answers: pd.DataFrame | None = None
    waves: Sequence[Mapping[str, Any]] = ()
    unrated: Sequence[str] = ()
    strays: int = 0
    context: Mapping[str, Any] = field(default_factory=dict)
    target: str = "pool"

    @cached_property
    def estimate(self) -> Estimate:
        return self._estimated(self.estimator, self.ratings)

    def _estimated(self, estimator: Estimator, ratings: Ratings) -> Estimate:
        """The estimate of what the study is about."""
        if self.target == "pool":
            return estimator.estimate(ratings)
        if hasattr(estimator, "target"):
            estimator = replace(estimator, target=self.target)  # type: ignore[type-var]
        made = estimator.estimate(ratings)
        return made.for_process() if isinstance(made, LinearEstimate) else made

    @property
    def process(self) -> bool:
        """Whether the result is about new segments like these."""
        return about_process(self.estimate)

    @cached_property
    def record(self) -> dict[str, Any]:
        """The estimate in plain numbers."""
        return self.estimate.to_dict(self.confidence)

    @property
    def linear(self) -> LinearEstimate | None:
        """The estimate, unless it is a posterior."""
        return self.estimate if isinstance(self.estimate, LinearEstimate) else None

    @property
    def n(self) -> int:
        return self.ratings.n

    @property
    def size(self) -> int:
        return len(self.ratings.sample.pool)

    @property
    def by_class(self) -> bool:
        """Whether the rated segments were chosen by class, and so do not represent the pool."""
        return getattr(self.estimator, "pairs", "sample") == "calibration"

    @property
    def what(self) -> str:
        """What is estimated, such as ``mean human score``."""
        adequate = self.ratings.sample.info.adequate
        share = "share of adequate segments"
        if adequate is not None:
            share = f"share of segments with a score {adequate}"
        if self.linear is None:
            return "success rate of the system" if self.process else share
        if adequate is not None:
            return share
        return f"mean {self.context.get('score') or 'human score'}"

    @property
    def level(self) -> str:
        return f"{100 * self.confidence:.10g}%"

    @cached_property
    def places(self) -> int:
        """Number of decimals that show the standard error to two digits."""
        se, half = self.record["se"], self.half_width
        spread = se or (half or 0.0) / 2  # ratings without a spread may have an interval
        if self.exact or not spread > 0:
            value = float(self.record["value"])
            return next((p for p in range(4) if abs(value - round(value, p)) < 5e-5), 4)
        return min(max(1 - math.floor(math.log10(spread)), 0), 12)

    def shown(self, value: float | None) -> str:
        """A score with as many decimals as the standard error justifies."""
        return "unknown" if value is None else fixed(float(value), self.places)

    @cached_property
    def exact(self) -> bool:
        """Whether every segment was rated, so that there is no sampling error."""
        return self.n == self.size and not self.process

    @cached_property
    def saved(self) -> Saved:
        return saved(self.ratings, self.estimate)

    @cached_property
    def correlations(self) -> pd.DataFrame:
        return correlations(self.ratings, self.confidence)

    @cached_property
    def likeness(self) -> pd.DataFrame:
        """Metric means of the sample against the pool's.

        ``difference`` is in standard deviations of the pool; ``chance`` is the same in standard
        errors of a plain random sample of that size; about 2 in 100 exceed 2.3 by chance.
        """
        import pandas as pd

        sample = self.ratings.sample
        w, error = sample.design.weights, math.sqrt(max(1 / self.n - 1 / self.size, 0.0))
        rows = []
        for name, values in sample.pool.metrics.items():
            centre, sd = float(values.mean()), float(values.std(ddof=1))
            mean = centre + float(w @ (values[sample.indices] - centre))
            gap = (mean - centre) / sd if sd > 0 else 0.0
            rows.append((name, centre, mean, gap, gap / error if error > 0 else 0.0))
        return pd.DataFrame(rows, columns=["metric", "pool", "sample", "difference", "chance"])

    @cached_property
    def weights(self) -> dict[str, float | None]:
        """How unequal the weights are, and how design and weights change the variance of the
        plain mean.

        ``design_effect`` is the variance of the weighted mean over that of a plain random sample
        of the same size; ``effective`` is Kish's sample size, 1 / Σ w².
        """
        design, n = self.ratings.sample.design, self.n
        w = design.weights / design.weights.sum()
        base = pool_variance(self.ratings) * (1 / n - 1 / self.size) if n > 1 else 0.0
        _, cov = design.moments((self.ratings.scores - self.ratings.scores.mean())[None, :])
        known = base > 0 and not bool(design._lonely)
        return {
            "weight_min": float(w.min() * n),
            "weight_max": float(w.max() * n),
            "effective": float(1 / (w @ w)),
            "weighting_effect": float(n * (w @ w)),
            "design_effect": float(cov[0, 0]) / base if known else None,
            "inclusion_min": float(design.inclusion.min()),
            "inclusion_max": float(design.inclusion.max()),
        }

    @cached_property
    def documents(self) -> dict[str, int] | None:
        """How many documents there are, how many have ratings, and how many segments each."""
        sample = self.ratings.sample
        if sample.pool.documents is None:
            return None
        codes = sample.pool.codes
        _, counts = np.unique(codes[sample.indices], return_counts=True)
        return {
            "pool": int(codes.max()) + 1,
            "sample": int(counts.size),
            "fewest": int(counts.min()),
            "most": int(counts.max()),
        }

    @cached_property
    def strata(self) -> pd.DataFrame | None:
        """Ratings by stratum, for a stratified sample."""
        import pandas as pd

        design, scores = self.ratings.sample.design, self.ratings.scores
        labels = design.strata
        if labels is None and design.drawn_as("stratified"):
            labels = design.groups
        if labels is None:
            return None
        rows = []
        for label in np.unique(labels).tolist():
            inside = labels == label
            own = scores[inside]
            sd = float(own.std(ddof=1)) if own.size > 1 else math.nan
            share = float(design.weights[inside].sum())
            rows.append((int(label) + 1, int(own.size), share, float(own.mean()), sd))
        return pd.DataFrame(rows, columns=["stratum", "ratings", "share", "mean", "sd"])

    @cached_property
    def pulls(self) -> pd.DataFrame | None:
        if self.linear is None or self.exact or bool(self.linear.spreadless) or self.n < 3:
            return None
        return pulls(self.linear)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Counts of answers: used, missing, repeated and set aside."""
        found, answers = {"unrated": len(self.unrated), "strays": self.strays}, self.answers
        if answers is None:
            return found
        scored = answers[answers["score"].notna()]
        inside = scored[scored["segment"].isin([str(i) for i in self.ratings.sample.ids.tolist()])]
        each = inside.groupby("segment")["rater"].agg(["size", "nunique"])
        return {
            **found,
            "answers": len(inside),
            "raters": int(inside["rater"].nunique()),
            "segments": len(each),
            "several_raters": int((each["nunique"] > 1).sum()),
            "repeats": int(inside.duplicated(["segment", "rater"]).sum()),
            "without_score": int(answers["score"].isna().sum()),
            "elsewhere": len(scored) - len(inside),
        }

    @cached_property
    def _agreed(self) -> tuple[Agreement | None, bool]:
        """Agreement of raters on the rated segments, and whether their answers determine the
        ratings.

        They do if each rating is the mean of its raters' last, first or averaged answers. Only
        then do they show the error that other raters would make.
        """
        answers, ids = self.answers, {str(i): i for i in self.ratings.sample.ids.tolist()}
        if answers is None:
            return None, False
        used = answers[answers["score"].notna() & answers["segment"].isin(ids)]
        if not len(used):
            return None, False
        times = used["time"].tolist() if (used["time"] != "").all() else None
        segments = [ids[s] for s in used["segment"]]
        made = Answers(segments, used["rater"].tolist(), used["score"].tolist(), times)
        rated = self.ratings
        wanted = dict(zip(rated.sample.ids.tolist(), rated.scores.tolist(), strict=True))
        for repeats in ("last", "mean", "first"):
            scores = made.scores(repeats=repeats)
            if scores.keys() == wanted.keys() and all(
                math.isclose(scores[i], wanted[i], rel_tol=1e-9, abs_tol=1e-9) for i in wanted
            ):
                return made.agreement(repeats), True
        return made.agreement(), False

    @property
    def agreement(self) -> Agreement | None:
        """Agreement of raters, if there are answers."""
        return self._agreed[0]

    @cached_property
    def raters(self) -> pd.DataFrame | None:
        """One row per rater, the busiest first."""
        if self.agreement is None:
            return None
        frame = self.agreement.to_frame()
        order = sorted(range(len(frame)), key=lambda k: (-frame["answers"][k], frame["rater"][k]))
        return frame.iloc[order].reset_index(drop=True)

    @cached_property
    def any_raters(self) -> dict[str, float] | None:
        """Standard error and interval for any raters like these, if they can be estimated."""
        agreement, same = self._agreed
        linear = self.linear
        if agreement is None or not same or linear is None or len(agreement.table) < 2:
            return None
        error = agreement.error(linear, "any")
        low, high = agreement.interval(linear, self.confidence, "any")
        told = {"se": error.se, "df": error.df, "low": float(low), "high": float(high)}
        return told if all(math.isfinite(told[k]) for k in ("se", "low", "high")) else None

    @cached_property
    def seeds(self) -> list[str]:
        """The known seeds of all waves."""
        told: list[Any] = [wave.get("seed") for wave in self.waves]
        if not told:
            told = list(self.ratings.sample.info.seeds)
        return [str(seed) for seed in told if seed is not None]

    @cached_property
    def samplers(self) -> list[str]:
        """The samplers that drew the segments, in the order of the waves."""
        if self.chosen is not None:
            return []
        drawn = self.ratings.sample.info.samplers or (self.estimator.sampler.name,)
        return list(dict.fromkeys(drawn))

    @property
    def chosen(self) -> str | None:
        """A sentence about what is assumed of existing labels, which fewgold did not sample."""
        told = self.ratings.sample.info.chosen
        return None if told is None else f"{told.note[:1].upper()}{told.note[1:]}."

    @property
    def plain(self) -> bool:
        """Whether this is itself the mean of a plain random sample."""
        labels = self.chosen is not None and self.ratings.sample.design.drawn_as("simple")
        return (labels or self.samplers == ["random"]) and isinstance(self.estimator, Mean)

    @cached_property
    def alternatives(self) -> pd.DataFrame:
        """The estimate, and those of other estimators from the same ratings."""
        import pandas as pd

        rows = [self._row(self.estimate, self.record)]
        others: list[Estimator] = []
        if not self.by_class:
            others = [Mean(), *([Ridge()] if self.ratings.sample.pool.metrics else [])]
        for other in others:
            if type(other) is type(self.estimator) and other.bound == self.estimator.bound:
                continue
            try:
                row = self._row(self._estimated(other, self.ratings))
            except FewgoldError:  # not for this sample
                continue
            # An estimator that fell back on the plain mean adds nothing.
            if not any(row[1:5] == known[1:5] for known in rows):
                rows.append(row)
        return pd.DataFrame(rows, columns=["name", "value", "se", "low", "high", "interval"])

    def _row(
        self, estimate: Estimate, record: Mapping[str, Any] | None = None
    ) -> tuple[str, float, float, float, float, str]:
        record = record or estimate.to_dict(
            self.confidence
        )  # computed once, because an interval may be slow
        low = -math.inf if record["low"] is None else record["low"]
        high = math.inf if record["high"] is None else record["high"]
        numbers = (float(estimate.value), float(estimate.se), low, high)
        return (str(record["method"]), *numbers, str(record["bound_label"]))

    @cached_property
    def path(self) -> pd.DataFrame | None:
        """The estimate after some of the ratings: after each wave if given, else in the order
        drawn.

        The first k segments of a simple random sample, in the order drawn, are a simple random
        sample too. Other samples lack this property.
        """
        import pandas as pd

        told = [w for w in self.waves if all(w.get(k) is not None for k in ("value", "n"))]
        if len(told) > 1 and len(told) == len(self.waves):
            frame = pd.DataFrame(
                {k: [w.get(k) for w in told] for k in ("n", "value", "low", "high")}, dtype=float
            )
            return frame.assign(n=frame["n"].cumsum())
        simple = self.ratings.sample.design.drawn_as("simple") and self.chosen is None
        if not simple or self.n < 2 * _FIRST:  # existing labels come in the order of a table
            return None
        first = max(_FIRST, self.n // 10)  # a very wide first interval would hide the others
        looks = np.unique(np.linspace(first, self.n, _LOOKS).round().astype(int)).tolist()
        sample, scores, rows = self.ratings.sample, self.ratings.scores, []
        try:
            for k in looks[:-1]:
                design = simple_design(k, self.size)
                part = Sample(sample.pool, sample.indices[:k], design, info=sample.info)
                so_far = Ratings(part, scores[:k], self.ratings.limits)
                rows.append(self._row(self._estimated(self.estimator, so_far)))
        except FewgoldError:  # the estimator needs more ratings
            return None
        rows.append(self._row(self.estimate, self.record))
        table = [(k, *row[1:5]) for k, row in zip(looks, rows, strict=True)]
        return pd.DataFrame(table, columns=["n", "value", "se", "low", "high"])

    @cached_property
    def half_width(self) -> float | None:
        low, high = self.record["low"], self.record["high"]
        return None if low is None or high is None else (high - low) / 2

    @cached_property
    def needed(self) -> float | None:
        """Approximate total number of ratings that this strategy needs for the tolerance."""
        tolerance, half, se = self.context.get("tolerance"), self.half_width, self.record["se"]
        if tolerance is None or not half or not se or self.n == self.size:
            return None
        size = math.inf if self.process else float(self.size)
        own = se**2 / (1 / self.n - 1 / size)  # variance of one rating, as this strategy sees it
        return same_error(se * float(tolerance) / half, own, size)
