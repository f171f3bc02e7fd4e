"""All that a report tells about a study, in numbers; how it looks is for the other modules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.agreement import Agreement
from fewgold.design import Design
from fewgold.errors import FewgoldError
from fewgold.estimate import Estimate, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean, Ridge
from fewgold.report._number import fixed
from fewgold.reporting import _correlations, _diagnostics, _raters
from fewgold.reporting._saved import Saved, same_error, saved
from fewgold.sample import Ratings, Sample

if TYPE_CHECKING:
    import pandas as pd

# Looks at the estimate on the way, for the figure of how it settled, and the fewest ratings of one.
_LOOKS, _FIRST = 12, 8


@dataclass(frozen=True, eq=False)
class Study:
    """The parts of a study as they came, and what follows from them."""

    ratings: Ratings
    estimator: Estimator
    strategy: str
    confidence: float
    answers: pd.DataFrame | None = None
    waves: Sequence[Mapping[str, Any]] = ()
    unrated: Sequence[str] = ()
    strays: int = 0
    context: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def estimate(self) -> Estimate:
        return self.estimator.estimate(self.ratings)

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
        """Whether the rated segments were chosen by their class, and do not stand for the pool."""
        return getattr(self.estimator, "pairs", "sample") == "calibration"

    @property
    def what(self) -> str:
        """What is estimated, such as ``mean human score``."""
        if "adequate" in self.ratings.sample.info:
            share = f"share of segments with a score {self.ratings.sample.info['adequate']}"
        else:
            share = "share of adequate segments"
        if self.linear is None:
            process = getattr(self.estimate, "target", "pool") == "process"
            return "success rate of the system" if process else share
        if "adequate" in self.ratings.sample.info:
            return share
        return f"mean {self.context.get('score') or 'human score'}"

    @property
    def level(self) -> str:
        return f"{100 * self.confidence:.10g}%"

    @cached_property
    def places(self) -> int:
        """Decimals that show the standard error to two digits."""
        se, half = self.record["se"], self.half_width
        spread = se or (half or 0.0) / 2  # ratings without a spread may have an interval
        if self.exact or not spread > 0:
            value = float(self.record["value"])
            return next((p for p in range(4) if abs(value - round(value, p)) < 5e-5), 4)
        return min(max(1 - math.floor(math.log10(spread)), 0), 12)

    def shown(self, value: float | None) -> str:
        """A score with as many decimals as the standard error bears."""
        return "unknown" if value is None else fixed(float(value), self.places)

    @cached_property
    def exact(self) -> bool:
        """Whether every segment was rated, and nothing is left to chance."""
        return self.n == self.size and getattr(self.estimate, "target", "pool") != "process"

    @cached_property
    def saved(self) -> Saved:
        return saved(self.ratings, self.estimate)

    @cached_property
    def correlations(self) -> pd.DataFrame:
        return _correlations.correlations(self.ratings, self.confidence)

    @cached_property
    def likeness(self) -> pd.DataFrame:
        return _diagnostics.likeness(self.ratings)

    @cached_property
    def weights(self) -> dict[str, float | None]:
        return _diagnostics.weights(self.ratings)

    @cached_property
    def documents(self) -> dict[str, int] | None:
        return _diagnostics.documents(self.ratings)

    @cached_property
    def strata(self) -> pd.DataFrame | None:
        return _diagnostics.strata(self.ratings)

    @cached_property
    def pulls(self) -> pd.DataFrame | None:
        if self.linear is None or self.exact or bool(self.linear.spreadless) or self.n < 3:
            return None
        return _diagnostics.pulls(self.linear)

    @cached_property
    def counts(self) -> dict[str, int]:
        ids = [str(i) for i in self.ratings.sample.ids.tolist()]
        return _raters.counts(self.answers, ids, self.unrated, self.strays)

    @cached_property
    def _agreed(self) -> tuple[Agreement | None, bool]:
        return _raters.agreed(self.answers, self.ratings)

    @property
    def agreement(self) -> Agreement | None:
        """How far raters agree, where answers are given."""
        return self._agreed[0]

    @cached_property
    def raters(self) -> pd.DataFrame | None:
        """A row a rater, the busiest first."""
        if self.agreement is None:
            return None
        frame = self.agreement.to_frame()
        order = sorted(range(len(frame)), key=lambda k: (-frame["answers"][k], frame["rater"][k]))
        return frame.iloc[order].reset_index(drop=True)

    @cached_property
    def any_raters(self) -> dict[str, float] | None:
        """Standard error and interval for any raters like these, where that can be told."""
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
        """The seeds of all waves, as far as they are known."""
        told: list[Any] = [wave.get("seed") for wave in self.waves]
        if not told:
            known = self.ratings.sample.info.get("seed")
            told = [] if known is None else str(known).split("+")
        return [str(seed) for seed in told if seed is not None]

    @cached_property
    def samplers(self) -> list[str]:
        """The samplers that drew the segments, in the order of the waves."""
        drawn = self.ratings.sample.info.get("sampler")
        if drawn is None:
            drawn = self.estimator.sampler.name
        return list(dict.fromkeys(str(drawn).split("+")))

    @property
    def plain(self) -> bool:
        """Whether this is itself the mean of a plain random sample."""
        return self.samplers == ["random"] and isinstance(self.estimator, Mean)

    @cached_property
    def alternatives(self) -> pd.DataFrame:
        """The estimate, and what other estimators make of the same ratings."""
        import pandas as pd

        rows = [self._row(self.estimate)]
        others: list[Estimator] = []
        if not self.by_class:
            others = [Mean(), *([Ridge()] if self.ratings.sample.pool.metrics else [])]
        for other in others:
            try:
                row = self._row(other.estimate(self.ratings))
            except FewgoldError:  # not for this sample
                continue
            # An estimator that fell back on the plain mean is no second opinion.
            if not any(row[1:5] == known[1:5] for known in rows):
                rows.append(row)
        return pd.DataFrame(rows, columns=["name", "value", "se", "low", "high", "interval"])

    def _row(self, estimate: Estimate) -> tuple[str, float, float, float, float, str]:
        low, high = estimate.interval(self.confidence)
        record = estimate.to_dict(self.confidence)
        numbers = (float(estimate.value), float(estimate.se), float(low), float(high))
        return (str(record["method"]), *numbers, str(record["bound_label"]))

    @cached_property
    def path(self) -> pd.DataFrame | None:
        """The estimate after so many ratings: after each wave if told, else along the drawing.

        The first k of a simple random sample, in the order of drawing, are one themselves. Other
        samples have no such beginning.
        """
        import pandas as pd

        told = [w for w in self.waves if all(w.get(k) is not None for k in ("value", "n"))]
        if len(told) > 1 and len(told) == len(self.waves):
            frame = pd.DataFrame(
                {k: [w.get(k) for w in told] for k in ("n", "value", "low", "high")}, dtype=float
            )
            return frame.assign(n=frame["n"].cumsum())
        if self.ratings.sample.design.kind != "simple" or self.n < 2 * _FIRST:
            return None
        first = max(_FIRST, self.n // 10)  # a very wide first interval would hide the others
        looks = np.unique(np.linspace(first, self.n, _LOOKS).round().astype(int)).tolist()
        try:
            rows = [(k, *self._row(self.estimator.estimate(self._first(k)))[1:5]) for k in looks]
        except FewgoldError:  # an estimator that asks for more ratings
            return None
        return pd.DataFrame(rows, columns=["n", "value", "se", "low", "high"])

    def _first(self, k: int) -> Ratings:
        """The first ``k`` ratings of a simple random sample, as a sample of their own."""
        sample = self.ratings.sample
        design = Design(
            kind="simple",
            size=self.size,
            weights=np.full(k, 1 / k),
            inclusion=np.full(k, k / self.size),
            groups=np.zeros(k, dtype=np.int64),
        )
        part = Sample(sample.pool, sample.indices[:k], design, info=sample.info)
        return Ratings(part, self.ratings.scores[:k], self.ratings.limits)

    @cached_property
    def half_width(self) -> float | None:
        low, high = self.record["low"], self.record["high"]
        return None if low is None or high is None else (high - low) / 2

    @cached_property
    def needed(self) -> float | None:
        """Ratings in all that this strategy would need, about, for the tolerance asked for."""
        tolerance, half, se = self.context.get("tolerance"), self.half_width, self.record["se"]
        if tolerance is None or not half or not se or self.n == self.size:
            return None
        share = getattr(self.estimate, "target", "pool") == "process"
        size = math.inf if share else float(self.size)
        own = se**2 / (1 / self.n - 1 / size)  # variance of one rating, as this strategy sees it
        return same_error(se * float(tolerance) / half, own, size)
