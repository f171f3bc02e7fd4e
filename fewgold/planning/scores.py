"""How many ratings a goal takes: by formula, or by replaying studies on rated data."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from fewgold import registry
from fewgold.bayes import BinaryPosterior
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import Limits, as_limits, as_names
from fewgold.common.statistics import intraclass_correlation, smallest_enough
from fewgold.design import Design, DesignKind
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.estimators import Mean, Ridge
from fewgold.planning.goal import ALL_OF_THEM, Goal, Need, Plan, standard_error, with_curve
from fewgold.sample import Ratings, Sample
from fewgold.simulation import simulate
from fewgold.simulation.cells import OWN, Cell
from fewgold.simulation.studies import Study, as_studies

BASELINE = "random+mean"
#: Strategies whose accuracy can be predicted from an outlook.
STRATEGIES = (
    "random+mean", "random+ridge", "docs-balanced+ridge", "docs-chunks3+mean", "docs-whole+mean"
)  # fmt: skip
#: The gain of these samplers over a random sample with the same estimator is left out; replays show
#: it.
_AS_RANDOM = ("docs-balanced", "docs-prop", "docs-sys")
_AT_MOST = "upper limit, planned like random+{}; a replay of ratings may find fewer"
# A ridge does not lose a whole rating for the slope of a metric. With half of one, half-widths on
# WMT20 were right within 5 % for 16 to 33 metrics (tests/theory/test_plan_real.py).
_SPENT = 0.5
# Iterations for the number of ratings and the documents that they touch, and the smallest share of
# the variance between documents that chunks are assumed to leave.
_ROUNDS, _LEAST_BETWEEN = 4, 0.1
_CHUNKS = re.compile(r"docs-chunks(\d+)")


@dataclass(frozen=True)
class Outlook:
    """What is known or guessed about the scores.

    Parameters
    ----------
    sd
        Standard deviation of human scores over the segments.
    correlation
        Correlation of the metrics with human scores; the multiple correlation for several.
    slopes
        Number of metrics used.
    icc
        Intraclass correlation: the share of the variance between documents. WMT20 has 0.15
        (English–German) and 0.28 (Chinese–English).
    per_document
        Segments per document: Σm²/Σm for unequal documents, which the large ones dominate.
    size
        Segments of the pool; None for an infinite one.
    cost
        Cost of one rating.
    kept
        For pass or fail and estimators such as ``alpha-judge``: the share of the variance that they
        leave, computed by `from_pilot`.

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
    kept: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, value in (("sd", self.sd), ("cost of a rating", self.cost)):
            if not 0 < value < np.inf:
                raise FewgoldError(f"the {name} must be a positive number; got {value!r}.")
        if not -1 < self.correlation < 1:
            raise FewgoldError(
                f"correlation must lie between -1 and 1, such as 0.5; got {self.correlation!r}."
            )
        if self.icc is not None and not 0 <= self.icc <= 1:
            raise FewgoldError(f"icc must lie between 0 and 1, such as 0.15; got {self.icc!r}.")
        if self.per_document is not None and not 1 <= self.per_document < np.inf:
            raise FewgoldError(
                f"the segments per document must be at least 1; got {self.per_document!r}."
            )
        if self.size is not None and self.size < 1:
            raise FewgoldError(f"size must be at least 1; got {self.size!r}.")

    @classmethod
    def from_pilot(
        cls,
        ratings: Ratings,
        *,
        size: int | None = None,
        assurance: float | None = None,
        strategies: str | Sequence[str] = (),
    ) -> Outlook:
        """The outlook from a pilot: its sd, what its metrics explain out of sample, its documents.

        Parameters
        ----------
        ratings
            The pilot's ratings: one study, of any design; its sd uses the design's weights.
        size
            Segments of the pool to plan for; that of the pilot if not given.
        assurance
            Plan with an sd that is too small with a probability of only about 1 − assurance, such
            as 0.8; otherwise with the sd of the pilot, which is too small in at least half of all
            pilots. It is based on the tails seen in the pilot; with MQM scores of WMT20, where few
            segments have large ones, 0.8 was in fact 0.67 and 0.75 with pilots of 100.
        strategies
            Strategies to plan for, if ratings are 0 and 1 and the binary model is among them, such
            as ``random+alpha-judge``. All 0/1 metrics (``alpha``) are included anyway.
        """
        if ratings.scores.ndim != 1:
            raise FewgoldError("a pilot is one study; get one of a batch with ratings.draw(k).")
        if ratings.n < 10:
            raise FewgoldError(f"a pilot needs at least 10 ratings for planning; got {ratings.n}.")
        pool, scores = ratings.sample.pool, ratings.scores
        weights = ratings.sample.design.weights / ratings.sample.design.weights.sum()
        spread = float(weights @ (scores - weights @ scores) ** 2)
        sd = float(np.sqrt(spread * ratings.n / (ratings.n - 1)))
        if sd == 0:
            raise FewgoldError(
                "all ratings of the pilot are equal, so the sd cannot be estimated. Rate more, "
                "or give a guess."
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
        simple = _as_random(ratings)
        named = [e for e in (s.partition("+")[2] for s in as_names(strategies)) if _is_share(e)]
        if np.isin(scores, (0.0, 1.0)).all():
            named = list(dict.fromkeys([*named, *(["alpha"] if pool.binary_metrics else [])]))
            found = replace(found, kept={name: _kept_by(name, simple) for name in named})
        if pool.metrics:
            kept = float(Ridge().estimate(simple).se / Mean().estimate(simple).se) ** 2
            explained = float(np.clip(1 - kept, 0.0, 0.999))
            # The standard error already accounts for the slopes, and so would the plan.
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

    def _accuracy(self, strategy: str, n: int | None = None) -> tuple[float, float, float]:
        """Residual sd of a strategy, number of slopes, and ratings per degree of freedom."""
        sampler, _, estimator = strategy.partition("+")
        chunks = _CHUNKS.fullmatch(sampler)
        if _is_share(estimator) and estimator not in self.kept:
            raise FewgoldError(
                f"planning for {strategy} needs a pilot with this metric and ratings of 0 and 1. "
                "Give one (or cut its ratings), or plan from the rates of the metric or from a "
                "history."
            )
        if estimator not in ("mean", "ridge", *self.kept) or not (
            chunks or sampler in ("random", *_AS_RANDOM, "docs-whole")
        ):
            raise UnknownNameError(
                "strategy that can be planned by formula", strategy, STRATEGIES,
                "Others need a simulation on rated data (history).",
            )  # fmt: skip
        kept, spent = self.kept.get(estimator, 1.0), 0.0
        if estimator == "ridge":
            kept, spent = 1 - self.correlation**2, _SPENT * self.slopes
        members = 1.0
        if sampler not in ("random", *_AS_RANDOM):
            if self.icc is None or (self.per_document is None and not chunks):
                raise FewgoldError(
                    f"{strategy} needs the intraclass correlation within documents, and the number "
                    "of segments per document.",
                    hints={
                        "python": "Give icc and per_document.",
                        "cli": "Give --icc and --per-document.",
                        "web": "",
                    },
                )
            members = float(chunks[1]) if chunks else float(self.per_document or 1.0)
        # Chunks at regular intervals touch as many documents as possible: the variance between
        # documents has the finite population correction of documents, not of segments.
        between = 1.0
        if n is not None and chunks and self.per_document and self.size and n < self.size:
            share = n / self.size
            touched = share * max(self.per_document / members, 1.0)
            between = max(1 - touched, _LEAST_BETWEEN) / (1 - share)
        icc = self.icc or 0.0
        effect = icc * members * min(between, 1.0) + 1 - icc
        return float(self.sd * np.sqrt(kept * effect)), spent, members

    def ratings(self, strategy: str, goal: Goal) -> int:
        """Fewest ratings with which a strategy meets a goal."""
        n: int | None = None
        for _ in range(_ROUNDS):  # more ratings touch more documents
            sd, spent, per = self._accuracy(strategy, n)
            n = goal.least(sd, self.size, spent=spent, per=per)
        assert n is not None
        return n

    def half_width(self, strategy: str, n: int, confidence: float = 0.95) -> float:
        """Half-width of the interval from ``n`` ratings.

        >>> guess = Outlook(sd=2.4, correlation=0.5, size=1418)
        >>> round(guess.half_width("random+ridge", 166), 2)
        0.3
        """
        return self._reached(strategy, n, Goal(half_width=1.0, confidence=confidence))

    def _reached(self, strategy: str, n: int, goal: Goal) -> float:
        """The half-width, or the difference, that ``n`` ratings achieve."""
        sd, spent, per = self._accuracy(strategy, n)
        if n == self.size:
            return 0.0
        return standard_error(n, sd, self.size, spent) * goal._standard_errors(n / per - 1 - spent)

    @property
    def _known_strategies(self) -> tuple[str, ...]:
        """The strategies that can be planned with the available information."""
        found = [BASELINE]
        if self.correlation:
            found += ["random+ridge", "docs-balanced+ridge"]
        found += [f"random+{name}" for name in self.kept]
        if self.icc is not None:
            found.append("docs-chunks3+mean")
            if self.per_document is not None:
                found.append("docs-whole+mean")
        return tuple(found)


def _is_share(estimator: str) -> bool:
    """Whether the name is that of the binary model."""
    return estimator == "alpha" or estimator.startswith("alpha-")


def _as_random(ratings: Ratings) -> Ratings:
    """The same ratings as if from a simple random sample, to isolate the gain from metrics."""
    n, whole = ratings.n, len(ratings.sample.pool)
    same = np.full(n, 1 / n), np.full(n, min(n / whole, 1 - 1e-9)), np.zeros(n, np.int64)
    design = Design(DesignKind.SIMPLE, whole, *same)
    return Ratings(Sample(ratings.sample.pool, ratings.sample.indices, design), ratings.scores)


def _kept_by(name: str, simple: Ratings) -> float:
    """Share of the posterior variance that remains with the metric in ``name``."""
    model = registry.estimator(name, simple.sample.pool)
    return float(model.estimate(simple).se / BinaryPosterior(()).estimate(simple).se) ** 2


def plan(goal: Goal, outlook: Outlook, strategies: Sequence[str] | None = None) -> Plan:
    """How many ratings a goal takes, by formula, from a guess or a pilot.

    Parameters
    ----------
    goal
        A half-width, a tolerance, or a difference with a power.
    outlook
        A guess of sd, correlation, documents and sizes, or `Outlook.from_pilot`.
    strategies
        By default those the outlook has information for. Others need a simulation:
        `plan_from_history`.

    Examples
    --------
    >>> found = plan(Goal(half_width=0.3), Outlook(sd=2.4, correlation=0.5, icc=0.15, size=1418))
    >>> print(found.summary())
    For ±0.3 at 95% confidence, from sd 2.4, correlation 0.5, icc 0.15:
    <BLANKLINE>
    strategy              ratings   share   saved
    random+mean               212   15.0%       –
    random+ridge              166   11.7%     22%
    docs-balanced+ridge       166   11.7%     22%
    docs-chunks3+mean         267   18.8%    −26%
    <BLANKLINE>
    ratings of 1418 segments; saved: against random+mean.
    docs-balanced+ridge: upper limit, planned like random+ridge; a replay of ratings may find fewer
    """
    names = dict.fromkeys([BASELINE, *as_names(strategies or outlook._known_strategies)])
    needs = []
    for name in names:
        n = outlook.ratings(name, goal)
        reached = partial(outlook._reached, name, goal=goal)
        whole = ALL_OF_THEM if n == outlook.size else ""
        sampler, _, estimator = name.partition("+")
        whole = whole or (_AT_MOST.format(estimator) if sampler in _AS_RANDOM else "")
        needs.append(with_curve(name, n, outlook.size, reached, whole))
    told = [f"sd {outlook.sd:.4g}"]
    if outlook.correlation:
        told.append(f"correlation {abs(outlook.correlation):.3g}")
    if outlook.icc is not None:
        told.append(f"icc {outlook.icc:.3g}")
    return Plan(goal, tuple(needs), outlook.size, outlook.cost, f"from {', '.join(told)}")


def plan_worst_case(goal: Goal, limits: Limits, size: int | None = None, cost: float = 1.0) -> Plan:
    """How many ratings a goal takes when only the limits of the scale are known.

    ``hoeffding`` is guaranteed whatever the scores (Hoeffding–Serfling; Saldías et al. 2022);
    ``worst sd`` uses half of the scale as the sd, the largest possible, and a normal distribution
    of the mean. Real scores need far fewer: have a pilot rated.

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
            """Half-width of the Hoeffding–Serfling bound, whose k_n changes at half of the pool."""
            kept = 1.0
            if size is not None:
                kept = min(1 - (n - 1) / size, (1 - n / size) * (1 + 1 / n))
            return float(width * np.sqrt(kept * np.log(2 / (1 - goal.confidence)) / (2 * n)))

        most = size if size is not None else 2**40
        n = smallest_enough(lambda k: reached(k) <= goal.size, 1, most)
        needs.append(with_curve("hoeffding", n, size, reached))
    n = sd.ratings(BASELINE, goal)
    needs.append(with_curve("worst sd", n, size, partial(sd._reached, BASELINE, goal=goal)))
    source = f"knowing only that scores lie between {ends[0]:g} and {ends[1]:g}"
    notes = ("real scores need far fewer: plan again with an sd, a pilot or last year's ratings",)
    return Plan(goal, tuple(needs), size, cost, source, notes)


# By simulation on rated data ---


def difference_studies(studies: Mapping[str, Any]) -> dict[str, Any]:
    """Differences of all pairs of systems that were rated on the same segments, as studies.

    Scores and metrics are those of one system minus those of the other; a metric that becomes
    constant is left out. It is an error if there is only one system, or if no two share segments.
    """
    found = {}
    for (a, one), (b, two) in combinations(studies.items(), 2):
        ids = [str(i) for i in two.pool.ids.tolist()]
        place = {i: k for k, i in enumerate(ids)}
        mine = [str(i) for i in one.pool.ids.tolist()]
        if set(mine) != set(ids):
            continue
        order = np.array([place[i] for i in mine])
        metrics = {
            name: values - two.pool.metrics[name][order]
            for name, values in one.pool.metrics.items()
            if name in two.pool.metrics and np.ptp(values - two.pool.metrics[name][order]) > 0
        }
        signs = {m: s for m, s in one.pool.orientation.items() if m in metrics}
        pool = replace(one.pool, metrics=metrics, orientation=signs, system=None)
        found[f"{a} − {b}"] = Study(pool, one.gold - two.gold[order])
    if not found:
        raise FewgoldError(
            "planning for a difference needs two systems rated on the same segments, and the "
            f"history has none: {', '.join(studies)}. Give a table with several systems whose "
            "segment ids agree, or plan from the sd of the differences."
        )
    return found


_SHARES = (0.03, 0.06, 0.12, 0.25, 0.5)
_LEAST = 10  # fewest ratings of a replayed study


def _scaled_width(cells: Sequence[Cell], goal: Goal) -> float:
    """Width over √(1/n − 1/N), averaged over the pools: nearly the same for all n."""
    found = []
    for cell in cells:
        if goal.tolerance is not None:
            wide = float(np.quantile(np.abs(cell.errors), goal.confidence))
        elif goal.difference is None:
            wide = cell.covers[OWN].half_width.mean if OWN in cell.covers else np.nan
        else:
            assert cell.se is not None
            wide = cell.se.mean * goal._standard_errors(cell.n - 1)
        found.append(wide / np.sqrt(1 / cell.n - 1 / cell.size))
    return float(np.mean(found))


def _need(
    name: str,
    goal: Goal,
    at: FloatArray,
    scaled: FloatArray,
    studies: Mapping[str, Study],
    size: int,
    options: Mapping[str, Any],
) -> Need:
    """Ratings needed: interpolated from the scaled widths at sizes ``at``, replayed, corrected."""

    def width(n: int, correction: float = 1.0) -> float:
        here = float(np.interp(np.log(n), np.log(at), scaled)) * correction
        return here * float(np.sqrt(max(1 / n - 1 / size, 0.0)))

    n = smallest_enough(lambda k: width(k) <= goal.size, 2, size)
    correction = 1.0
    smallest = min(len(study.pool) for study in studies.values())
    if _LEAST <= n < min(smallest, size):
        check = simulate(studies, None, [name], [n], **options)
        true = _scaled_width([cell for cell in check.cells if cell.strategy == name], goal)
        correction = true * float(np.sqrt(1 / n - 1 / size)) / width(n)
        n = smallest_enough(lambda k: width(k, correction) <= goal.size, 2, size)
    note = ""
    if n == size:
        note = ALL_OF_THEM
    elif n < at[0] or n > at[-1]:
        note = f"beyond the sizes that were replayed ({at[0]:.0f} to {at[-1]:.0f}), so less certain"
    return with_curve(name, n, size, lambda k: width(k, correction), note)


def plan_from_history(
    goal: Goal,
    data: Any,
    gold: Any = None,
    strategies: Sequence[str] = ("random+mean", "random+ridge", "docs-balanced+ridge"),
    *,
    size: int | None = None,
    draws: int = 200,
    rng: int = 0,
    limits: Any = None,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int | None = None,
) -> Plan:
    """How many ratings would have met the goal on last year's data, for any strategy.

    Studies are replayed at several sizes; the width times the root of the number of ratings is
    nearly constant and is interpolated. The planned size is then replayed and corrected once.

    Parameters
    ----------
    goal
        A half-width of the strategy's own interval; a tolerance for the errors themselves; or a
        difference with a power, in which case ``gold`` holds per-segment differences.
    data, gold
        As in `simulate`: a rated pool, (pool, gold), or a mapping from names to (pool, gold). With
        several pools the plan is for their mean.
    strategies
        Names; the plain ``random+mean`` is always among them.
    size
        Segments of the pool to plan for, if its size differs from last year's.
    draws, rng, limits, progress, n_jobs
        As in `simulate`.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> goal = Goal(half_width=0.4)
    >>> found = plan_from_history(goal, *load_demo("zhen"), ["random+ridge"], draws=20)
    >>> found["random+ridge"].n < found["random+mean"].n
    True
    """
    studies = as_studies(data, gold)
    names = list(dict.fromkeys([BASELINE, *as_names(strategies)]))
    sizes = [len(study.pool) for study in studies.values()]
    options: dict[str, Any] = {
        "draws": draws, "rng": rng, "limits": limits, "confidence": goal.confidence,
        "n_jobs": n_jobs,
    }  # fmt: skip
    grid = sorted({max(round(share * min(sizes)), _LEAST) for share in _SHARES})
    grid = [n for n in grid if n < min(sizes)]
    if len(grid) < 2:
        raise FewgoldError(
            "last year's pools are too small for replaying studies: the smallest has "
            f"{min(sizes)} segments."
        )
    first = simulate(studies, None, names, grid, progress=progress, **options)
    target = size if size is not None else round(float(np.mean(sizes)))
    needs, notes = [], []
    for name in names:
        worked = [cell for cell in first.cells if cell.strategy == name and cell.failure is None]
        at = np.array(sorted({cell.n for cell in worked}), dtype=np.float64)
        scaled = np.array([_scaled_width([c for c in worked if c.n == n], goal) for n in at])
        # Few ratings may all be equal, such as ten passes, so that the width is unknown.
        told = np.isfinite(scaled)
        if told.sum() >= 2 or (at.size and told.all()):
            needs.append(_need(name, goal, at[told], scaled[told], studies, target, options))
        else:
            why = first.failures.loc[first.failures["strategy"] == name, "reason"]
            reason = why.iloc[0] if len(why) else "its intervals have no finite width"
            notes.append(f"{name} was left out: {reason}")
    if not needs:
        raise FewgoldError(f"no strategy could be replayed: {'; '.join(notes)}.")
    source = f"replayed {draws} times on " + (
        "last year's ratings" if len(sizes) == 1 else f"{len(sizes)} rated pools"
    )
    prices = [study.pool.cost for study in studies.values()]
    cost = 1.0
    if all(price is not None for price in prices):
        cost = float(np.concatenate([price for price in prices if price is not None]).mean())
    return Plan(goal, tuple(needs), target, cost, source, tuple(notes))
