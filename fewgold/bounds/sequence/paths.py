"""The interval after each rating of a sample, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.bounds.base import to_unit
from fewgold.bounds.sequence.rules import Metric, Rule, first_narrow, make_rule
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import Limits, as_limits
from fewgold.design import Design
from fewgold.errors import DataError, DesignError, FewgoldError
from fewgold.sample import Ratings

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Path:
    """The interval after each rating, (..., n); made by `path`.

    Parameters
    ----------
    ratings
        The ratings, in the order of drawing.
    rule
        The rule that makes the interval; its tolerance is a share of the scale.
    low, high
        (..., n) ends of the interval after 1, 2, …, n ratings.
    metric
        Name of the metric used as a control variate.
    """

    ratings: Ratings
    rule: Rule
    low: FloatArray
    high: FloatArray
    metric: str | None = None

    def __repr__(self) -> str:
        return f"Path({self.rule.name}, {self.ratings.n} ratings, stopped: {self.stopped})"

    @property
    def _tolerance(self) -> float:
        """The wanted half-width, in the units of the scores."""
        low, high = limits_of(self.ratings)
        return self.rule.tolerance * (high - low)

    @property
    def half_width(self) -> FloatArray:
        """Half of the interval's width after each rating."""
        return np.asarray((self.high - self.low) / 2)

    @property
    def mean(self) -> FloatArray:
        """Mean of the ratings so far: (..., n)."""
        scores = self.ratings.scores
        return np.asarray(np.cumsum(scores, axis=-1) / np.arange(1, self.ratings.n + 1))

    @property
    def stopped(self) -> Any:
        """Number of ratings at which the rule first stops, 0 if it has not: an int, or (...)."""
        first = self.rule.first_look(len(self.ratings.sample.pool))
        found = first_narrow(self.low, self.high, self._tolerance, first)
        found = np.where(found > self.ratings.n, 0, found)
        return found if found.ndim else int(found)

    def signature(self) -> str:
        """How the interval was made, in one line."""
        sample = self.ratings.sample
        parts = {
            "seq": self.rule.name, "tol": f"{self._tolerance:.10g}",
            "metric": self.metric or "none", "n": self.ratings.n, "N": len(sample.pool),
            "level": f"{self.rule.confidence:.10g}", "upper": f"{self.rule.upper:.10g}",
            **self.ratings._signed(),
        }  # fmt: skip
        return "|".join(f"{k}:{v}" for k, v in parts.items())

    def summary(self) -> str:
        """A readable summary of a few lines."""
        if self.low.ndim > 1:
            raise FewgoldError(
                f"this is a batch of {self.low.size // self.ratings.n} paths; summarise one of "
                "them with sequence.path(ratings.draw(k), …)."
            )
        n, size, stop = self.ratings.n, len(self.ratings.sample.pool), self.stopped
        at = (stop or n) - 1
        low, high, half = self.low[at], self.high[at], self.half_width[at]
        if stop:
            verdict = f"Stop: after {stop} of {size} ratings the interval is narrow enough,"
        else:
            verdict = f"Continue: after {n} of {size} ratings the interval is still too wide,"
        return (
            f"{verdict}\n"
            f"{(low + high) / 2:.4f} ± {half:.4f} for a tolerance of {self._tolerance:g}\n"
            f"{100 * self.rule.confidence:.6g}% interval {low:.4f} to {high:.4f}; "
            f"mean of the ratings {self.mean[at]:.4f}\n{self.rule.label}\n{self.signature()}"
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The interval as a band against the number of ratings, their mean, and where to stop."""
        if self.low.ndim > 1:
            raise FewgoldError(
                "this is a batch of paths; plot one of them: path(ratings.draw(k), …)."
            )
        from fewgold.plots.style import INK, PALETTE, SMALL, SOFT, axes_for, name_axes, settings

        with settings():
            ax = axes_for(ax, 3.6)
            count = np.arange(1, self.ratings.n + 1)
            ax.fill_between(
                count, self.low, self.high, facecolor=(PALETTE[0], 0.15), edgecolor=PALETTE[0],
                label=f"{100 * self.rule.confidence:.6g}% interval, {self.rule.kind}",
                linewidth=1.0,
            )  # fmt: skip
            ax.plot(count, self.mean, color=INK, linewidth=1.2, label="mean of the ratings")
            if self.stopped:
                at = self.stopped
                ax.axvline(at, color=PALETTE[1], linewidth=1.2, linestyle="--")
                ax.annotate(
                    f" stop after {at}", (at, 1), xycoords=("data", "axes fraction"), va="top",
                    color=PALETTE[1], fontsize=SMALL,
                )  # fmt: skip
            # The first intervals are as wide as the scale and would hide the rest.
            seen = slice(min(len(count) - 1, len(count) // 20), None)
            low, high = self.low[seen].min(), self.high[seen].max()
            room = 0.05 * (high - low) or 1.0
            ax.set_ylim(low - room, high + room)
            ax.legend(loc="lower right", frameon=False, fontsize=SMALL, labelcolor=SOFT)
            name_axes(ax, f"ratings (of {len(self.ratings.sample.pool)} segments)", "score", None)
        return ax


def path(
    ratings: Ratings,
    tolerance: float,
    confidence: float = 0.95,
    *,
    metric: str | None = None,
    rule: str = "kelly",
    upper: float = 0.5,
) -> Path:
    """The interval for the mean of the pool after each rating, valid however often you look.

    A mean m is rejected once the capital of a bettor against it reaches 1/δ times the initial
    capital, for each side with δ/2: ``K_t = Π (1 + λ_s (x_s − μ_s(m)))``, ``μ_s(m) = (N m − x_1 − …
    − x_{s−1}) / (N − s + 1)``. The bets make the capital grow fastest if m is off by the tolerance:
    ``λ_t = d_t / (v_{t−1} + d_t²)``, ``d_t = tolerance · N/(N − t + 1)``, capped at ``0.9/μ_t``,
    with v from the earlier ratings. Rejected means stay rejected, so the interval only narrows.

    Guaranteed for every population between the limits, simple random samples, and ratings in the
    order of drawing: the probability that the true mean is *ever* outside is at most 1 −
    confidence. The rule "hall" is narrower and not guaranteed.

    Parameters
    ----------
    ratings
        A simple random sample, rated in the order of drawing, with the limits of the scale; or a
        batch of draws.
    tolerance
        The wanted half-width, in the units of the scores. The bets depend on it: another tolerance
        gives another interval. Fix it before any rating is known.
    confidence
        The confidence of the whole sequence.
    metric
        Name of a metric, or "mean" for the mean of all, as a control variate with slopes from
        earlier ratings. Fix it before any rating is known.
    rule
        "kelly", guaranteed; or "hall", Hall's interval of the ratings so far, first looked at after
        50 ratings and a tenth of the pool: approximate, and worse under peeking.
    upper
        Share of the error probability at the upper end (kelly). Fix it before any rating is known.

    References
    ----------
    Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without replacement, theorem
    3.1. Kelly (1956), A new interpretation of information rate. Hall (1992), On the removal of
    skewness by transformation.

    Examples
    --------
    >>> from fewgold.bounds import sequence
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.samplers import SimpleRandom
    >>> pool, gold = load_demo("zhen")
    >>> sample = SimpleRandom().draw(pool, 1.0, rng=1)  # all, in random order
    >>> ratings = sample.rate(gold[sample.indices], limits="mqm")
    >>> sequence.path(ratings, tolerance=0.5).stopped < 0.4 * len(pool)
    True
    """
    limits = limits_of(ratings)
    check_design(ratings.sample.design)
    if ratings.sample.info.chosen is not None:
        raise DesignError(
            "ratings may be looked at one by one only in the order of drawing, which existing "
            "labels do not have. Use the bound star or betting, which looks at all of them once."
        )
    made = make_rule(rule, unit_tolerance(tolerance, limits), confidence, upper)
    scores, control = unit_scores(ratings, metric)
    low, high = made.path(scores, len(ratings.sample.pool), control)
    low, high = (
        limits[0] + (limits[1] - limits[0]) * end.reshape(ratings.scores.shape)
        for end in (low, high)
    )
    return Path(ratings, made, low, high, metric)


def unit_scores(ratings: Ratings, metric: str | None) -> tuple[FloatArray, Metric | None]:
    """Scores from 0 to 1, and the metric with the rows drawn, with batch axes flattened."""
    scores = to_unit(ratings.scores.reshape(-1, ratings.n), limits_of(ratings))
    if metric is None:
        return scores, None
    rows = ratings.sample.indices.reshape(-1, ratings.n)
    return scores, (ratings.sample.pool._metric_values(metric), rows)


def known_limits(limits: Limits) -> tuple[float, float]:
    """The ends of the scale."""
    ends = as_limits(limits)
    if ends is None:
        raise DataError("limits are needed: the ends of the scale, such as (0, 25) or 'mqm'.")
    return ends


def limits_of(ratings: Ratings) -> tuple[float, float]:
    if ratings.limits is None:
        raise DesignError(
            "a sequence needs the limits of the scale, from its definition and not from the "
            'answers. Give them with the ratings: sample.rate(scores, limits="mqm") or '
            "limits=(0, 25)."
        )
    return ratings.limits


def check_design(design: Design) -> None:
    if design.kind == "simple" and design.gaps:
        raise DesignError(
            "ratings may be looked at one by one only in the order of drawing, but some in "
            "between are missing. Have those rated, or look at the ratings before the first gap."
        )
    if not design.drawn_as("simple"):
        raise DesignError(
            "ratings may be looked at one by one only if the segments are in random order, as "
            f"in a simple random sample; this sample's design is {design._label!r}.",
            hints={
                "python": "Draw it with SimpleRandom().",
                "cli": "Draw it with fewgold select --strategy random.",
            },
        )


def unit_tolerance(tolerance: float, limits: tuple[float, float]) -> float:
    """The tolerance as a share of the scale."""
    low, high = limits
    if not 0 < tolerance < (high - low) / 2:
        raise FewgoldError(
            "tolerance, the half-width that you want, must be above 0 and below half of the scale, "
            f"here {(high - low) / 2:g}; got {tolerance!r}."
        )
    return float(tolerance) / (high - low)
