"""The estimator for adequate/inadequate ratings: people on some segments, a metric on all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewgold._arrays import BoolArray, IntArray, RNGLike
from fewgold._validate import check_choice
from fewgold.bayes._bins import bins
from fewgold.bayes._cell_priors import Pooled, Trend
from fewgold.bayes._cells import CellPosterior, tally
from fewgold.bayes._coding import (
    Threshold,
    check_binary,
    check_design,
    check_sample,
    coded,
    each_threshold,
    scores_of,
    worse_than_chance,
)
from fewgold.bayes._counts import Counts
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._priors import Priors
from fewgold.bayes._process import ProcessPosterior
from fewgold.bayes._rated import Posterior, RatedPosterior
from fewgold.cut import binary
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget, Sampler, SimpleRandom
from fewgold.stored import StoredPool

_CUT = "Cut scores into adequate and inadequate first: ratings.cut('<= 0'), or --adequate '<=0'."
_BINS = "bins"
_JOINTLY = 4  # metrics; with more, patterns are too many and too rare, and the estimate is biased
_FEW = 5  # rated segments of each class, before a metric is said to point the wrong way


@dataclass(frozen=True)
class BinaryPosterior(Estimator):
    """Share of adequate segments by the Bayesian model of success rate and metric errors.

    Ratings are 0 or 1 (`Ratings.cut` makes them so). The segments that people rated tell how often
    the metric is right, on adequate ones (ρ) and on inadequate ones (η); with that, what the metric
    says of all others is corrected. Rated and unrated segments never overlap, so none counts twice.

    Parameters
    ----------
    metric
        A metric of the pool, or several that are taken jointly. By default all that are 0 or 1
        everywhere; ``()`` for none: human ratings alone.
    threshold
        Where a metric becomes 1: a cut such as ``">= 0.5"``; a number (≥ it, or ≤ it for a metric
        of which less is better); a rule by which the ratings choose it, ``"equal"`` (|ρ − η|, as
        in the papers) or ``"information"`` (the one that tells most, of which too much is made
        where few ratings choose it); or ``"bins"``, which does without and keeps what a cut
        loses. A mapping for metrics that differ.
    target
        ``"pool"``: the share of adequate segments in this test set. ``"process"``: the success rate
        of the system that made them, which is less certain.
    pairs
        ``"sample"``: the rated segments are a random sample. ``"calibration"``: they were chosen by
        their class, such as as many adequate as inadequate ones, and tell about ρ and η alone.
    strict
        With a rule or a number: > instead of ≥.
    priors
        See `PoolPosterior` and `AlphaPosterior`; with several metrics or bins not needed.

    References
    ----------
    von Däniken, Deriu, Tuggener and Cieliebak (2022), On the effectiveness of automated metrics
    for text generation systems.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> pool, gold = load_demo("zhen", system="alpha")
    >>> judge = BinaryPosterior("comet", threshold="equal")
    >>> sample = judge.select(pool, 200, rng=1)
    >>> ratings = sample.rate(gold[sample.indices]).cut("<= 1")  # at most a minor error
    >>> print(judge.estimate(ratings).summary())
    0.2445 ± 0.0277 (posterior mean and sd)
    95% interval 0.1925 to 0.3010 (posterior, credible interval with equal tails)
    from 200 of 2000 segments
    metric: comet >= 0.427
    est:alpha-comet:equal(comet >= 0.427)|design:random|n:200|N:2000|...
    """

    metric: str | tuple[str, ...] | None = None
    threshold: Threshold | Mapping[str, Threshold] = None
    target: str = "pool"
    pairs: str = "sample"
    strict: bool = False
    priors: Priors | None = None
    sampler: Sampler = SimpleRandom()
    bound: Bound | str = "equal"

    def __post_init__(self) -> None:
        check_choice("target", self.target, ("pool", "process"))
        check_choice("pairs", self.pairs, ("sample", "calibration"))
        if self.bound not in ("equal", "hdi"):
            name = self.bound if isinstance(self.bound, str) else self.bound.name
            raise FewgoldError(
                "a posterior has its own credible interval: bound must be 'equal' (equal tails) or "
                f"'hdi' (the shortest); got {name!r}. Other bounds go with mean, cv-multi or ridge."
            )

    @property
    def name(self) -> str:
        if self.metric is None:
            return "alpha"
        names = (self.metric,) if isinstance(self.metric, str) else self.metric
        cut = self.threshold
        how = "" if cut is None or isinstance(cut, Mapping) else f":{cut}"
        if how[1:2] in ("<", ">", "="):
            how = how[1:].replace(" ", "")
        return "-".join(["alpha", *names]) + how

    @property
    def _told(self) -> tuple[str, ...]:
        named = () if isinstance(self.threshold, Mapping) else ("threshold",)
        return (*super()._told, "metric", "target", *named)

    def select(
        self,
        pool: Pool | StoredPool,
        budget: Budget,
        *,
        draws: int | None = None,
        given: Ratings | None = None,
        rng: RNGLike = None,
    ) -> Sample:
        """Choose segments to annotate; what cannot be estimated is refused before it is rated."""
        for name, cut in each_threshold(self._names(pool), self.threshold).items():
            if cut is None and name not in pool.binary_metrics:
                check_binary(name, scores_of(pool, name))
        sample = super().select(pool, budget, draws=draws, given=given, rng=rng)
        check_design(sample.design)
        return sample

    def estimate(self, ratings: Ratings) -> RatedPosterior:
        adequate = binary(ratings.scores, "ratings", _CUT)
        names = self._names(ratings.sample.pool)
        notes = check_sample(ratings)
        how = ""
        posterior: Posterior
        if not names:
            self._check_plain("no metric")
            posterior, more = self._alone(ratings, adequate)
        elif len(names) > 1 or self.threshold == _BINS:
            self._check_plain("several metrics or bins")
            posterior, how, more = self._jointly(ratings, adequate, names)
        else:
            posterior, how, more = self._single(ratings, adequate, names[0])
        return RatedPosterior(
            posterior, ratings, self.spelled, how, str(self.bound), self.target, (*notes, *more)
        )

    def _names(self, pool: Pool | StoredPool) -> tuple[str, ...]:
        if self.metric is None:
            return pool.binary_metrics
        return (self.metric,) if isinstance(self.metric, str) else tuple(self.metric)

    def _check_plain(self, what: str) -> None:
        if self.pairs == "calibration":
            raise FewgoldError(
                f"pairs='calibration' goes with one metric that is cut into 0 and 1; got {what}."
            )

    def _alone(self, ratings: Ratings, adequate: BoolArray) -> tuple[Posterior, tuple[str, ...]]:
        counts = Counts(human_ones=adequate.sum(-1), human_total=ratings.n)
        unused = () if self.metric is not None else tuple(ratings.sample.pool.metrics)
        notes: tuple[str, ...] = ()
        if unused:
            notes = (
                f"no metric is used: none of {', '.join(unused)} is 0 or 1. Name one with a "
                f"threshold, such as alpha-{unused[0]}:bins or alpha-{unused[0]}:equal",
            )
        if self.target == "process":
            return AlphaPosterior(counts, self.priors or Priors()), notes
        left = len(ratings.sample.pool) - ratings.n
        return PoolPosterior(counts, self.priors, unrated=left), notes

    def _single(
        self, ratings: Ratings, adequate: BoolArray, metric: str
    ) -> tuple[Posterior, str, tuple[str, ...]]:
        cut = each_threshold((metric,), self.threshold)[metric]
        labels = coded(ratings, adequate, metric, cut, self.strict)
        if labels.labels.ndim == 1 and labels.labels.min() == labels.labels.max():
            # The priors of its rates would make something of a metric that never differs.
            self._check_plain("one that is the same everywhere")
            posterior, _ = self._alone(ratings, adequate)
            return posterior, labels.how, labels.notes
        rated, unrated = tally(
            labels.labels.astype(np.int64), ratings.sample.indices, adequate, count=2
        )
        counts = Counts(
            tp=rated[..., 1, 1],
            fn=rated[..., 0, 1],
            fp=rated[..., 1, 0],
            tn=rated[..., 0, 0],
            metric_ones=unrated[..., 1],
            metric_total=unrated.sum(-1),
            pairs=self.pairs,
        )
        notes = (*labels.notes, *_pointing(counts, metric))
        return self._posterior(counts), labels.how, notes

    def _posterior(self, counts: Counts) -> Posterior:
        if self.pairs == "calibration":
            known = Counts(human_ones=counts.tp + counts.fn, human_total=counts.paired_total)
            pool = PoolPosterior(counts, self.priors, known=known)
            return pool if self.target == "pool" else ProcessPosterior(pool)
        if self.target == "process":
            return AlphaPosterior(counts, self.priors or Priors())
        return PoolPosterior(counts, self.priors)

    def _jointly(
        self, ratings: Ratings, adequate: BoolArray, names: tuple[str, ...]
    ) -> tuple[Posterior, str, tuple[str, ...]]:
        if self.priors is not None:
            raise FewgoldError(
                "priors go with a single metric that is cut into 0 and 1, or with none; several "
                "metrics and bins have a prior of their own."
            )
        cuts = each_threshold(names, self.threshold)
        if len(names) > _JOINTLY and self.threshold != _BINS:
            return self._by_votes(ratings, adequate, cuts)
        codes: IntArray = np.zeros(len(ratings.sample.pool), dtype=np.int64)
        parts: list[str] = []
        notes: list[str] = []
        count = 1
        for name, cut in cuts.items():
            if cut == _BINS:
                own: Any = bins(scores_of(ratings.sample.pool, name))
                parts.append(f"{name} in {int(own.max()) + 1} bins")
            else:
                found = coded(ratings, adequate, name, cut, self.strict)
                own = found.labels.astype(np.int64)
                parts.append(found.how)
                notes += found.notes
            levels = int(own.max()) + 1 if cut == _BINS else 2
            # Patterns that do not occur are no categories.
            found_codes, codes = np.unique(codes * levels + own, return_inverse=True)
            count = found_codes.size
        rated, unrated = tally(codes, ratings.sample.indices, adequate, count=count)
        in_order = len(names) == 1  # bins of one metric, which rise or fall
        posterior = CellPosterior(rated, unrated, self.target, Trend() if in_order else Pooled())
        return posterior, " and ".join(parts), tuple(notes)

    def _by_votes(
        self, ratings: Ratings, adequate: BoolArray, cuts: Mapping[str, Threshold]
    ) -> tuple[Posterior, str, tuple[str, ...]]:
        """Many metrics by how many of them say 1: their patterns would be too rare to learn."""
        if _BINS in cuts.values():
            raise FewgoldError(
                f"bins go with up to {_JOINTLY} metrics; got {len(cuts)}. Leave some out."
            )
        found = [coded(ratings, adequate, name, cut, self.strict) for name, cut in cuts.items()]
        votes = np.sum(np.broadcast_arrays(*(f.labels for f in found)), axis=0, dtype=np.int64)
        seen, codes = np.unique(votes, return_inverse=True)
        codes = codes.reshape(votes.shape)
        rated, unrated = tally(codes, ratings.sample.indices, adequate, count=seen.size)
        note = f"{len(cuts)} metrics are taken by how many of them say 1"
        notes = tuple(dict.fromkeys([note, *(n for f in found for n in f.notes)]))
        posterior = CellPosterior(rated, unrated, self.target, Trend())
        return posterior, " and ".join(f.how for f in found), notes


def _pointing(counts: Counts, metric: str) -> tuple[str, ...]:
    """A note where a single study shows a metric that is right less often than chance."""
    if counts.shape:
        return ()
    yes, no = int(counts.tp + counts.fn), int(counts.fp + counts.tn)
    if min(yes, no) < _FEW:
        return ()
    rho, eta = int(counts.tp) / yes, int(counts.tn) / no
    if rho + eta > 1:
        return ()
    return (worse_than_chance(metric, rho, eta),)
