"""How many ratings a goal takes, by formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import special

from fewgold._statistics import intraclass_correlation, smallest_enough
from fewgold._validate import Limits, as_limits, as_names
from fewgold.design import Design, DesignKind
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.estimators import Mean, Ridge
from fewgold.planning.goal import ALL_OF_THEM, Goal, Plan, standard_error, with_curve
from fewgold.sample import Ratings, Sample

BASELINE = "random+mean"
#: Strategies whose accuracy follows from an outlook.
STRATEGIES = ("random+mean", "random+ridge", "docs-chunks3+mean", "docs-whole+mean")
# A ridge does not pay a whole rating for the slope of a metric. With half of one, half-widths on
# WMT20 were right within 5 % for 16 to 33 metrics (tests/theory/test_plan_real.py).
_SPENT = 0.5
_CHUNKS = re.compile(r"docs-chunks(\d+)")


@dataclass(frozen=True)
class Outlook:
    """What is known or guessed of the scores.

    Parameters
    ----------
    sd
        Standard deviation of human scores over the segments.
    correlation
        Of the metrics with human scores; of several, the multiple correlation.
    slopes
        Metrics that are used.
    icc
        Intraclass correlation: the share of the variance that lies between documents. WMT20 has
        0.15 (English–German) and 0.28 (Chinese–English).
    per_document
        Segments that a whole document has: with unequal documents Σm²/Σm, which the large ones
        dominate.
    size
        Segments of the pool; None for an infinite one.
    cost
        Of one rating.

    Examples
    --------
    >>> guess = Outlook(sd=2.4, correlation=0.5, size=1418)
    >>> guess.ratings("random+mean", Goal(half_width=0.3))
    212
    >>> guess.ratings("random+ridge", Goal(half_width=0.3))
    166
    """

    sd: float
    correlation: float = 0.0
    slopes: int = 1
    icc: float | None = None
    per_document: float | None = None
    size: int | None = None
    cost: float = 1.0

    def __post_init__(self) -> None:
        for name, value in (("sd", self.sd), ("cost", self.cost)):
            if not 0 < value < np.inf:
                raise FewgoldError(f"{name} must be a positive number; got {value!r}.")
        if not -1 < self.correlation < 1:
            raise FewgoldError(
                f"correlation must lie between -1 and 1, such as 0.5; got {self.correlation!r}."
            )
        if self.icc is not None and not 0 <= self.icc <= 1:
            raise FewgoldError(f"icc must lie between 0 and 1, such as 0.15; got {self.icc!r}.")
        if self.per_document is not None and not 1 <= self.per_document < np.inf:
            raise FewgoldError(f"per_document must be at least 1; got {self.per_document!r}.")
        if self.size is not None and self.size < 1:
            raise FewgoldError(f"size must be at least 1; got {self.size!r}.")

    @classmethod
    def from_pilot(
        cls, ratings: Ratings, *, size: int | None = None, assurance: float | None = None
    ) -> Outlook:
        """What a pilot tells: its sd, what its metrics explain out of sample, its documents.

        Parameters
        ----------
        ratings
            Of the pilot: one study, of any design; its sd weighs them as they were drawn.
        size
            Segments of the pool to plan for; that of the pilot if not given.
        assurance
            Plan with an sd that is too small only with chance 1 − assurance, about, such as 0.8;
            else with the sd of the pilot, which is too small in every other pilot or more. Goes by
            the tails that the pilot shows; with MQM scores of WMT20, where few segments have large
            ones, 0.8 came to 0.67 and 0.75 with pilots of 100.
        """
        if ratings.scores.ndim != 1:
            raise FewgoldError("a pilot is one study; take one of a batch with ratings.draw(k).")
        if ratings.n < 10:
            raise FewgoldError(f"a pilot needs at least 10 ratings to plan by; got {ratings.n}.")
        pool, scores = ratings.sample.pool, ratings.scores
        weights = ratings.sample.design.weights / ratings.sample.design.weights.sum()
        spread = float(weights @ (scores - weights @ scores) ** 2)
        sd = float(np.sqrt(spread * ratings.n / (ratings.n - 1)))
        if sd == 0:
            raise FewgoldError(
                "all ratings of the pilot are equal and tell no sd. Rate more, or give a guess."
            )
        if assurance is not None:
            if not 0 < assurance < 1:
                raise FewgoldError(f"assurance must lie between 0 and 1; got {assurance!r}.")
            # The log of a variance has the variance (κ − 1)/n, κ being the kurtosis of the scores:
            # 2/n for normal ones, and many times as much for skewed ones.
            centred = scores - scores.mean()
            kurtosis = float((centred**4).mean() / (centred**2).mean() ** 2)
            log_sd = np.sqrt(max(kurtosis - 1, 0.0) / (scores.size - 1))
            sd *= float(np.exp(0.5 * special.ndtri(assurance) * log_sd))
        found = cls(sd, size=len(pool) if size is None else size)
        if pool.cost is not None:
            found = replace(found, cost=float(pool.cost.mean()))
        if pool.metrics:
            # As if drawn plainly: what metrics explain, not what the design gains.
            n, whole = ratings.n, len(pool)
            same = np.full(n, 1 / n), np.full(n, min(n / whole, 1 - 1e-9)), np.zeros(n, np.int64)
            design = Design(DesignKind.SIMPLE, whole, *same)
            simple = Ratings(Sample(pool, ratings.sample.indices, design), scores)
            kept = float(Ridge().estimate(simple).se / Mean().estimate(simple).se) ** 2
            explained = float(np.clip(1 - kept, 0.0, 0.999))
            # The standard error counts the slopes already, and so would the plan.
            free = 1 - _SPENT * len(pool.metrics) / (ratings.n - 1)
            share = 1 - (1 - explained) * max(free, 0.01)
            found = replace(found, correlation=float(np.sqrt(share)), slopes=len(pool.metrics))
        if pool.documents is not None:
            sizes = np.bincount(pool.codes)
            icc = float(intraclass_correlation(scores, pool.codes[ratings.sample.indices]))
            found = replace(
                found,
                per_document=float((sizes**2).sum() / sizes.sum()),
                icc=None if np.isnan(icc) else float(np.clip(icc, 0.0, 1.0)),
            )
        return found

    def _accuracy(self, strategy: str) -> tuple[float, float, float]:
        """Sd of what a strategy averages, slopes it fits, and ratings per degree of freedom."""
        sampler, _, estimator = strategy.partition("+")
        chunks = _CHUNKS.fullmatch(sampler)
        if estimator not in ("mean", "ridge") or not (
            chunks or sampler in ("random", "docs-whole")
        ):
            raise UnknownNameError(
                "strategy to plan for by a formula", strategy, STRATEGIES,
                "Others are planned for by simulation on rated data (history).",
            )  # fmt: skip
        kept, spent = 1.0, 0.0
        if estimator == "ridge":
            kept, spent = 1 - self.correlation**2, _SPENT * self.slopes
        members = 1.0
        if sampler != "random":
            if self.icc is None or (self.per_document is None and not chunks):
                raise FewgoldError(
                    f"{strategy} is planned for by icc and per_document, the segments of one."
                )
            members = float(chunks[1]) if chunks else float(self.per_document or 1.0)
        effect = 1 + (members - 1) * (self.icc or 0.0)
        return float(self.sd * np.sqrt(kept * effect)), spent, members

    def ratings(self, strategy: str, goal: Goal) -> int:
        """Fewest ratings with which a strategy meets a goal."""
        sd, spent, per = self._accuracy(strategy)
        return goal.least(sd, self.size, spent=spent, per=per)

    def reached(self, strategy: str, n: int, goal: Goal) -> float:
        """The half-width, or the difference, that ``n`` ratings achieve."""
        sd, spent, per = self._accuracy(strategy)
        if n == self.size:
            return 0.0
        return standard_error(n, sd, self.size, spent) * goal._standard_errors(n / per - 1 - spent)

    @property
    def _known_strategies(self) -> tuple[str, ...]:
        """The strategies that can be planned for with what is known."""
        found = [BASELINE]
        if self.correlation:
            found.append("random+ridge")
        if self.icc is not None:
            found.append("docs-chunks3+mean")
            if self.per_document is not None:
                found.append("docs-whole+mean")
        return tuple(found)


def plan(goal: Goal, outlook: Outlook, strategies: Sequence[str] | None = None) -> Plan:
    """How many ratings a goal takes, by formula, from a guess or a pilot.

    Parameters
    ----------
    goal
        A half-width, a tolerance, or a difference with a power.
    outlook
        A guess of sd, correlation, documents and sizes, or `Outlook.from_pilot`.
    strategies
        By default those that the outlook tells about. Others are planned for by simulation:
        `plan_from_history`.

    Examples
    --------
    >>> found = plan(Goal(half_width=0.3), Outlook(sd=2.4, correlation=0.5, icc=0.15, size=1418))
    >>> print(found.summary())
    For ±0.3 at 95% confidence, from sd 2.4, correlation 0.5, icc 0.15:
    <BLANKLINE>
    strategy            ratings   share   saved
    random+mean             212   15.0%       –
    random+ridge            166   11.7%     22%
    docs-chunks3+mean       267   18.8%    −26%
    <BLANKLINE>
    ratings of 1418 segments; saved: against random+mean.
    """
    names = dict.fromkeys([BASELINE, *as_names(strategies or outlook._known_strategies)])
    needs = []
    for name in names:
        n = outlook.ratings(name, goal)
        reached = partial(outlook.reached, name, goal=goal)
        whole = ALL_OF_THEM if n == outlook.size else ""
        needs.append(with_curve(name, n, outlook.size, reached, whole))
    told = [f"sd {outlook.sd:.4g}"]
    if outlook.correlation:
        told.append(f"correlation {abs(outlook.correlation):.3g}")
    if outlook.icc is not None:
        told.append(f"icc {outlook.icc:.3g}")
    return Plan(goal, tuple(needs), outlook.size, outlook.cost, f"from {', '.join(told)}")


def plan_worst_case(goal: Goal, limits: Limits, size: int | None = None, cost: float = 1.0) -> Plan:
    """How many ratings a goal takes when nothing is known but the ends of the scale.

    ``hoeffding`` is guaranteed whatever the scores (Hoeffding–Serfling, of Saldías et al. 2022);
    ``worst sd`` takes half of the scale for the sd, the largest that there is, and a normal
    distribution of the mean. Real scores need far fewer: have a pilot rated.

    Examples
    --------
    >>> found = plan_worst_case(Goal(half_width=1), (0, 25), size=1418)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('hoeffding', 637), ('worst sd', 424)]
    """
    ends = as_limits(limits)
    assert ends is not None
    width = ends[1] - ends[0]
    if goal.difference is not None:
        width *= 2  # a difference of two scores spans twice the scale
    sd = Outlook(sd=width / 2, size=size, cost=cost)
    needs = []
    if goal.difference is None:

        def reached(n: int) -> float:
            """Half-width of Hoeffding–Serfling."""
            if n == size:
                return 0.0
            kept = 1.0 if size is None else 1 - (n - 1) / size
            return float(width * np.sqrt(kept * np.log(2 / (1 - goal.confidence)) / (2 * n)))

        most = size if size is not None else 2**40
        n = smallest_enough(lambda k: reached(k) <= goal.size, 1, most)
        needs.append(with_curve("hoeffding", n, size, reached))
    n = sd.ratings(BASELINE, goal)
    needs.append(with_curve("worst sd", n, size, partial(sd.reached, BASELINE, goal=goal)))
    source = f"knowing only that scores lie between {ends[0]:g} and {ends[1]:g}"
    notes = ("real scores need far fewer: plan again with an sd, a pilot or last year's ratings",)
    return Plan(goal, tuple(needs), size, cost, source, notes)
