"""The estimator for adequate/inadequate ratings: human on some segments, a metric on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fewgold.bayes.cells import CellPosterior, bins, tally
from fewgold.bayes.counts import Counts, hit_rates
from fewgold.bayes.density import Curve
from fewgold.bayes.effective import Effective, effective_counts, is_exact
from fewgold.bayes.finite import PartsPosterior, PoolPosterior, posterior_of, prior_of_part
from fewgold.bayes.posterior import Posterior, Steps
from fewgold.bayes.priors import Pooled, Priors, Trend
from fewgold.bayes.roc import RULES, choose_cuts
from fewgold.bounds import as_bound
from fewgold.common.arrays import BoolArray, FloatArray, IntArray, RNGLike, codes_of
from fewgold.common.checks import check_choice
from fewgold.cut import Cut, binary
from fewgold.design import DesignKind
from fewgold.errors import DesignError, FewgoldError, UnknownNameError
from fewgold.estimate import Bound, Interval, LinearEstimate, signature
from fewgold.estimator import Estimator
from fewgold.estimators import Mean
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget, Sampler, SimpleRandom

# A metric's label for every segment of a pool ---

Threshold: TypeAlias = "float | str | Cut | None"
_FEW = 5  # fewest rated segments per class for the warning that a metric points the wrong way


class Coded(NamedTuple):
    """Labels of the pool's segments, (N,), or (..., N) if each draw chose its own cut."""

    labels: BoolArray
    how: str  # such as "comet >= 0.5", for summaries and signatures
    notes: tuple[str, ...] = ()


def coded(
    ratings: Ratings, adequate: BoolArray, metric: str, threshold: Threshold, strict: bool
) -> Coded:
    """The labels of ``metric`` for every segment, cut at ``threshold``."""
    pool = ratings.sample.pool
    scores = scores_of(pool, metric)
    if threshold is None:
        return Coded(check_binary(metric, scores), metric)
    falls = pool.orientation.get(metric) == -1
    sign = ("<" if falls else ">") + ("" if strict else "=")
    if isinstance(threshold, str) and threshold in RULES:
        # A cut for each draw, from its own ratings; the median if its ratings are all equal.
        at = choose_cuts(adequate, scores[ratings.sample.indices], threshold, sign)
        told = np.isfinite(at)
        at = np.where(told, at, np.median(scores))
        how = metric if at.ndim else f"{metric} {Cut(sign, float(at))}"
        note = f"the ratings do not show where to cut {metric} (all are equal), so it was cut at "
        notes = () if told.all() else (note + "its median",)
        return Coded(np.array(Cut(sign, 0.0)(scores - at[..., None])), how, notes)
    number = isinstance(threshold, int | float)
    cut = Cut(sign, float(threshold)) if number else Cut.parse(threshold)  # type: ignore[arg-type]
    labels = cut(scores)
    note = f"{metric} {cut} is {int(labels[0])} for every segment, so it carries no information"
    return Coded(labels, f"{metric} {cut}", (note,) if labels.min() == labels.max() else ())


def check_binary(metric: str, scores: FloatArray) -> BoolArray:
    """The labels of a metric that is 0 or 1 everywhere; any other metric needs a threshold."""
    named = (
        f"in the name of the strategy or estimator: 'alpha-{metric}>=0.5' (in quotes); "
        f"alpha-{metric}:equal lets the ratings choose it, and alpha-{metric}:bins needs none."
    )
    hint = {
        "python": f"Give threshold='>= 0.5', 'equal' or 'bins', or a threshold {named}",
        "cli": f"Give a threshold {named}",
    }
    return binary(scores, f"scores of {metric!r} without a threshold", hint)


def without_verdict(pool: Population, metric: str) -> BoolArray | None:
    """Segments without a verdict of a 0/1 judge; None if the metric is not such a judge.

    Gaps of a metric were filled with a mean (`fewgold.io.filled`), which is neither 0 nor 1.
    """
    scores = scores_of(pool, metric)
    odd = (scores != 0) & (scores != 1)
    if not odd.any() or odd.all():
        return None
    system = pool.system if isinstance(pool, Pool) else None
    groups = codes_of(system) if system is not None else np.zeros(scores.size, dtype=np.int64)
    for group in (np.zeros_like(groups), groups):
        count = np.maximum(np.bincount(group[~odd], minlength=int(group.max()) + 1), 1)
        mean = np.bincount(group[~odd], scores[~odd], minlength=count.size) / count
        if np.allclose(scores[odd], mean[group[odd]], rtol=1e-9, atol=0):
            return np.asarray(odd)
    return None


def scores_of(pool: Population, metric: str) -> FloatArray:
    """The scores of a metric; an unknown name is an error."""
    if metric not in pool.metrics:
        raise UnknownNameError("metric", metric, pool.metrics)
    return pool._metric_values(metric)


def each_threshold(
    names: tuple[str, ...], threshold: Threshold | Mapping[str, Threshold]
) -> dict[str, Threshold]:
    """The threshold of each metric."""
    if not isinstance(threshold, Mapping):
        return dict.fromkeys(names, threshold)
    unknown = [name for name in threshold if name not in names]
    if unknown:
        raise UnknownNameError("metric in threshold", unknown[0], names)
    return {name: threshold.get(name) for name in names}


class Counted(NamedTuple):
    """Rated items (..., J, 2) and unrated ones (..., J) by category, with effective counts."""

    rated: IntArray
    unrated: IntArray
    effective: Effective | None = None  # None if each category is sampled at random
    adaptive: bool = (
        False  # whether documents are the categories, since earlier ratings decided among them
    )

    @property
    def weights(self) -> FloatArray | None:
        return None if self.effective is None else self.effective.counts


def counted(ratings: Ratings, adequate: BoolArray, codes: IntArray, count: int) -> Counted:
    """Count items by category ``codes`` (..., N) and class, given the design of the sample."""
    rows, design = ratings.sample.indices, ratings.sample.design
    rated, unrated = tally(codes, rows, adequate, count=count)
    cells = codes[rows] if codes.ndim == 1 else np.take_along_axis(codes, rows, -1)
    if is_exact(design, cells, count):
        return Counted(rated, unrated)
    return Counted(rated, unrated, effective_counts(design, cells, adequate, rated, unrated))


def documents_of(ratings: Ratings) -> IntArray | None:
    """The document of every segment, if its own ratings decided how many more it got.

    Not if a model of the metrics decided: in that case weights are better, since the number of
    ratings of a document depends on its metrics, which depend on its rate.
    """
    sample = ratings.sample
    design, pool, samplers = sample.design, sample.pool, sample.info.samplers
    if design.kind != DesignKind.ADAPTIVE or design.strata is None or not isinstance(pool, Pool):
        return None
    if not any("-incr-human" in s for s in samplers) or any("-incr-metrics" in s for s in samplers):
        return None
    # With gaps, strata are renumbered.
    known = design.gaps or np.array_equal(pool.codes[sample.indices], design.strata)
    return pool.codes if known else None


def design_notes(ratings: Ratings, found: Counted) -> tuple[str, ...]:
    """Remarks on a sample that is not a simple random one."""
    design, effective = ratings.sample.design, found.effective
    notes = []
    if found.adaptive:
        return (
            "approximate: earlier ratings decided which documents got more, so each document "
            "has its own rate, shrunk towards the overall rate; metrics are not used",
        )
    if effective is not None:
        note = (
            f"approximate: the model accounts for the sample's design ({design._label}) through "
            "its design effect"
        )
        if not np.ndim(effective.design_effect):
            n = float(effective.counts.sum())
            note += (
                f" of {float(effective.design_effect):.2f}: the ratings count as {n:.0f} of a "
                "simple random sample"
            )
        notes.append(note)
    if not design.unbiased:
        why = "it leaves out documents or metric bins without any drawn segment"
        if design.kind == DesignKind.ADAPTIVE:
            why = (
                "how many ratings a document got depends on earlier ratings, and documents "
                "without any are left out"
            )
        notes.append(f"this design is biased: {why}; the interval may be wrong")
    return tuple(notes)


def worse_than_chance(metric: str, counts: Counts) -> tuple[str, ...]:
    """A note if the metric of a single study is right less often than chance."""
    if counts.shape or min(counts.tp + counts.fn, counts.fp + counts.tn) < _FEW:
        return ()
    rho, eta = hit_rates(*counts._cells)
    if rho + eta > 1:
        return ()
    return (
        f"{metric} is right on {rho:.0%} of adequate and {eta:.0%} of inadequate items, no "
        "better than chance (ρ + η ≤ 1): it carries little information, or its 0 and 1 are "
        "swapped. Reverse the cut, for instance '<= …' instead of '>= …'; the estimate is the "
        "same either way unless the priors favour one",
    )


_KINDS = {"equal": "credible interval with equal tails", "hdi": "shortest credible interval"}


@dataclass(frozen=True, eq=False)
class RatedPosterior(Posterior):
    """Posterior of the success rate from the ratings of a sample; an estimate like the others.

    Parameters
    ----------
    posterior
        The underlying posterior, for the test set or the process, with its density and more.
    ratings
        The ratings it was made from.
    method
        Short name of the estimator.
    how
        The condition for a metric label of 1, such as ``comet >= 0.5``; empty without a metric.
    kind
        ``"equal"`` for equal tails, ``"hdi"`` for the shortest interval, or a `Bound`, which uses
        the human ratings alone and ignores the model.
    target
        ``"pool"`` or ``"process"``.
    notes
        Remarks for the reader.
    approximate
        Whether effective counts were used because the design has no exact model.
    """

    posterior: Posterior
    ratings: Ratings
    method: str
    how: str = ""
    kind: Bound | str = "equal"
    target: str = "pool"
    notes: tuple[str, ...] = ()
    approximate: bool = False

    def __repr__(self) -> str:
        if self.shape:
            return f"RatedPosterior({self.method}, a batch of shape {self.shape})"
        low, high = (float(end) for end in self.interval())
        return (
            f"RatedPosterior({self.method}: {float(self.mean):.4f} ± {float(self.sd):.4f}, "
            f"95% {low:.4f} to {high:.4f}, n = {self.ratings.n})"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self.posterior.shape

    @property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        return self.posterior._moments

    @property
    def _distributions(self) -> Sequence[Curve | Steps]:
        return self.posterior._distributions

    def draw(self, k: Any) -> RatedPosterior:
        return replace(self, posterior=self.posterior.draw(k), ratings=self.ratings.draw(k))

    def quantile(self, p: ArrayLike) -> FloatArray:
        return self.posterior.quantile(p)

    def sample(self, size: int, *, rng: RNGLike = None) -> FloatArray:
        """Independent draws of the success rate: (*batch, size)."""
        return self.posterior.sample(size, rng=rng)

    def interval(self, confidence: float = 0.95, kind: str | None = None) -> Interval:
        """The estimator's interval, or a credible interval of the given kind."""
        chosen = kind or self.kind
        if isinstance(chosen, Bound):
            return self._plain(chosen).interval(confidence)
        return self.posterior.interval(confidence, chosen)

    def _plain(self, bound: Bound) -> LinearEstimate:
        """The mean of the same ratings, to which a bound applies."""
        ratings = self.ratings
        if ratings.limits is None:
            ratings = replace(ratings, limits=(0.0, 1.0))
        return Mean(bound=bound).estimate(ratings)

    def signature(self, confidence: float = 0.95) -> str:
        """How the number was made, in one line."""
        kind = self.kind.spelled if isinstance(self.kind, Bound) else self.kind
        how = f"posterior-{kind}-{self.target}"
        told = not self.how or self.how.replace(" ", "") in self.method
        method = self.method if told else f"{self.method}({self.how})"
        return signature(self.ratings, method, how, confidence)

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and warnings that follow from the ratings."""
        return (*self.notes, *self.ratings.warnings)

    @property
    def _label(self) -> str:
        if isinstance(self.kind, Bound):
            used = self.kind.resolve(self._plain(self.kind))
            return f"{used.label}, from the human ratings alone"
        return f"posterior, {_KINDS[self.kind]}" + (", approximate" if self.approximate else "")

    @property
    def _source(self) -> str:
        of = "" if self.target == "pool" else ", for the system that made them"
        return f"from {self.ratings.n} of {len(self.ratings.sample.pool)} segments{of}"

    def summary(self, confidence: float = 0.95) -> str:
        """A readable summary of a few lines."""
        self._check_single("summary")
        low, high = self.interval(confidence)
        lines = [
            f"{float(self.mean):.4f} ± {float(self.sd):.4f} (posterior mean and sd)",
            f"{100 * confidence:.6g}% interval {low:.4f} to {high:.4f} ({self._label})",
            self._source,
            *([f"metric: {self.how}"] if self.how else []),
            *(f"note: {note}" for note in self.remarks),
            self.signature(confidence),
        ]
        return "\n".join(lines)

    @property
    def _hits(self) -> dict[str, float | None]:
        """Share of rated adequate and of rated inadequate segments that a 0/1 metric gets right."""
        counts = getattr(self.posterior, "counts", None)
        if self.shape or counts is None or not int(counts._paired_total):
            return {}
        rho, eta = (None if np.isnan(rate) else rate for rate in hit_rates(*counts._cells))
        return {"rho": rho, "eta": eta}

    def to_dict(self, confidence: float = 0.95) -> dict[str, Any]:
        """The posterior in plain numbers, for JSON."""
        found = super().to_dict(confidence)
        if isinstance(self.kind, Bound):
            plain = self._plain(self.kind).to_dict(confidence)
            found |= {key: plain[key] for key in ("bound", "bound_kind")}
        return {
            **found, "bound_label": self._label, "method": self.method,
            "metric": self.how, "target": self.target, **self._hits, "n": self.ratings.n,
            "pool_size": len(self.ratings.sample.pool), "notes": list(self.remarks),
            "signature": self.signature(confidence),
        }  # fmt: skip


#: Jeffreys' prior for the share (worth half a rating of each class), and uniform hit rates. With a
#: uniform prior and few ratings of a rare class, the shrinkage towards one half would exceed the
#: error of the mean (Brown, Cai and DasGupta 2001, Interval estimation for a binomial proportion).
DEFAULT_PRIORS = Priors(alpha=(0.5, 0.5))
_CUT = {
    "python": "Cut scores into adequate and inadequate first: ratings.cut('<= 0').",
    "cli": "Say which scores are adequate, such as --adequate '<=0'.",
    "web": "Say which scores are adequate, such as '<=0'.",
}
_BINS = "bins"
_JOINTLY = (
    4  # metrics; with more, patterns are too numerous and too rare, and the estimate is biased
)


def parts_posterior(
    rated: IntArray, unrated: IntArray, priors: Priors, effective: FloatArray | None = None
) -> Posterior:
    """The posterior from items (..., 3) that a 0/1 judge failed, passed or left without a verdict.

    ``rated`` is (..., 3, 2), by class. Both parts have their sizes in the test set, the same in
    each draw.
    """
    sizes = (rated.sum(-1) + unrated).reshape(-1, 3)[0]
    size, rest = int(sizes[:2].sum()), int(sizes[2])
    weighed = (None, None) if effective is None else (effective[..., :2, :], effective[..., 2:, :])
    counts = Counts(
        tp=rated[..., 1, 1], fn=rated[..., 0, 1], fp=rated[..., 1, 0], tn=rated[..., 0, 0],
        metric_ones=unrated[..., 1], metric_total=unrated[..., :2].sum(-1), effective=weighed[0],
    )  # fmt: skip
    one, two = (prior_of_part(priors.alpha, n / (size + rest)) for n in (size, rest))
    alone = CellPosterior(
        rated[..., 2:, :], unrated[..., 2:], prior=Pooled(two), effective=weighed[1]
    )
    if not size:
        return alone
    return PartsPosterior((PoolPosterior(counts, replace(priors, alpha=one)), alone), (size, rest))


@dataclass(frozen=True)
class BinaryPosterior(Estimator):
    """Share of adequate segments by the Bayesian model of success rate and metric errors.

    Ratings are 0 or 1 (see `Ratings.cut`). The rated segments show how often the metric is right,
    on adequate ones (ρ) and on inadequate ones (η), which corrects the metric's labels of all
    others. Rated and unrated segments never overlap, so none counts twice.

    Parameters
    ----------
    metric
        A metric of the pool, or several used jointly. By default all that are 0 or 1 everywhere;
        ``()`` uses human ratings alone.
    threshold
        When a metric is 1: a cut such as ``">= 0.5"``; a number (≥ it, or ≤ it for a metric where
        smaller is better); a rule by which the ratings choose the cut, ``"equal"`` (least |ρ − η|,
        as in the papers) or ``"information"`` (the most informative, but over-optimistic when few
        ratings choose it); or ``"bins"``, which needs no cut and keeps the information that a cut
        loses. A mapping for different choices per metric.
    target
        ``"pool"``: the share of adequate segments in this test set. ``"process"``: the success rate
        of the system that made them, which is less certain.
    pairs
        ``"sample"``: the rated segments are a random sample. ``"calibration"``: they were chosen by
        class, for example equal numbers of adequate and inadequate ones, and inform only about ρ
        and η.
    strict
        Use > instead of ≥ with a rule or a number.
    priors
        See `PoolPosterior` and `AlphaPosterior`. By default Jeffreys' prior of the share, Beta(½,
        ½), and uniform hit rates. Several metrics and bins use only the prior of the share.

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
    0.2434 ± 0.0277 (posterior mean and sd)
    95% interval 0.1915 to 0.3000 (posterior, credible interval with equal tails)
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
        if self.bound in _KINDS:
            return
        object.__setattr__(self, "bound", as_bound(self.bound))
        if self.target == "process" or self.pairs == "calibration":
            raise FewgoldError(
                "bounds other than 'equal' and 'hdi' only work for the share of this test set, "
                f"with ratings that are a sample of it; got the target {self.target!r} and the "
                f"pairs {self.pairs!r}."
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
    def _named_fields(self) -> tuple[str, ...]:
        named = () if isinstance(self.threshold, Mapping) else ("threshold",)
        return (*super()._named_fields, "metric", "target", *named)

    def select(
        self,
        pool: Population,
        budget: Budget,
        *,
        draws: int | None = None,
        given: Ratings | None = None,
        rng: RNGLike = None,
    ) -> Sample:
        """Choose segments to annotate; an error if no estimate would be possible later."""
        for name, cut in each_threshold(self._names(pool), self.threshold).items():
            plain = cut is not None or name in pool.binary_metrics
            if not plain and without_verdict(pool, name) is None:
                check_binary(name, scores_of(pool, name))
        return super().select(pool, budget, draws=draws, given=given, rng=rng)

    def estimate(self, ratings: Ratings) -> RatedPosterior:
        adequate = binary(ratings.scores, "ratings", _CUT)
        names = self._names(ratings.sample.pool)
        how = ""
        documents = documents_of(ratings)
        if documents is not None:
            self._check_plain("a sampler that used earlier ratings to choose segments")
            posterior, found, notes = self._by_document(ratings, adequate, documents)
        elif not names:
            self._check_plain("no metric")
            posterior, found, notes = self._alone(ratings, adequate)
        elif len(names) > 1 or self.threshold == _BINS or self._gaps(ratings, names[0]) is not None:
            self._check_plain("several metrics, bins or a judge without a verdict on some segments")
            if len(names) == 1 and self.threshold != _BINS and self._rates_known_before:
                posterior, found, how, notes = self._in_parts(ratings, adequate, names[0])
            else:
                posterior, found, how, notes = self._jointly(ratings, adequate, names)
        else:
            posterior, found, how, notes = self._single(ratings, adequate, names[0])
        notes = (*design_notes(ratings, found), *notes)
        return RatedPosterior(
            posterior, ratings, self.spelled, how, self.bound, self.target, notes,
            approximate=found.adaptive or found.effective is not None,
        )  # fmt: skip

    def _names(self, pool: Population) -> tuple[str, ...]:
        if self.metric is None:
            return pool.binary_metrics
        return (self.metric,) if isinstance(self.metric, str) else tuple(self.metric)

    def _gaps(self, ratings: Ratings, metric: str) -> BoolArray | None:
        """Segments without a verdict, if the metric is not cut."""
        names = self._names(ratings.sample.pool)
        if each_threshold(names, self.threshold)[metric] is not None:
            return None
        return without_verdict(ratings.sample.pool, metric)

    @property
    def _rates_known_before(self) -> bool:
        """Whether the priors are informative about ρ or η."""
        return self.priors is not None and self.priors != Priors(alpha=self.priors.alpha)

    def _check_plain(self, what: str) -> None:
        if self.pairs == "calibration":
            raise FewgoldError(
                f"a calibration set needs exactly one metric, cut into 0 and 1; got {what}."
            )

    def _check_calibration(self, found: Counted) -> None:
        if found.effective is not None:
            raise DesignError(
                "the pairs 'calibration' mean that the rated segments were chosen by class, but "
                "this sample was drawn by documents or with unequal chances. Leave out the pairs "
                "(it is a sample of the pool), or give the ratings as a simple sample."
            )

    def _by_document(
        self, ratings: Ratings, adequate: BoolArray, documents: IntArray
    ) -> tuple[Posterior, Counted, tuple[str, ...]]:
        """Documents as categories, for samplers that decide by the ratings so far.

        A document whose first ratings are equal gets no more, so its mean is biased, and weights do
        not correct this. A likelihood does not depend on the stopping decision if the model
        includes everything it was based on: the ratings of each document (Rubin 1976). So documents
        have their own rates, shrunk towards a common one the more they agree (`Pooled`). Crossing
        documents with a metric would break that: both parts of a document share its peculiarities.
        """
        count = int(documents.max()) + 1
        rated, unrated = tally(documents, ratings.sample.indices, adequate, count=count)
        prior = Pooled(rate=(self.priors or DEFAULT_PRIORS).alpha)
        posterior = CellPosterior(rated, unrated, self.target, prior)
        return posterior, Counted(rated, unrated, adaptive=True), ()

    def _alone(
        self, ratings: Ratings, adequate: BoolArray
    ) -> tuple[Posterior, Counted, tuple[str, ...]]:
        everyone = np.zeros(len(ratings.sample.pool), dtype=np.int64)
        found = counted(ratings, adequate, everyone, 1)
        ones = adequate.sum(-1)
        counts = Counts(human_ones=ones, human_total=ratings.n, effective=found.weights)
        unused = () if self.metric is not None else tuple(ratings.sample.pool.metrics)
        notes: tuple[str, ...] = ()
        if unused:
            notes = (
                f"no metric is used: none of {', '.join(unused)} is 0 or 1. Choose one with a "
                f"threshold, such as alpha-{unused[0]}:bins or alpha-{unused[0]}:equal",
            )
        left = len(ratings.sample.pool) - ratings.n
        priors = self.priors or DEFAULT_PRIORS
        return posterior_of(counts, priors, self.target, unrated=left), found, notes

    def _single(
        self, ratings: Ratings, adequate: BoolArray, metric: str
    ) -> tuple[Posterior, Counted, str, tuple[str, ...]]:
        cut = each_threshold((metric,), self.threshold)[metric]
        labels = coded(ratings, adequate, metric, cut, self.strict)
        if labels.labels.ndim == 1 and labels.labels.min() == labels.labels.max():
            # The priors of its rates would draw conclusions from a metric that never varies.
            self._check_plain("one that is constant")
            posterior, found, _ = self._alone(ratings, adequate)
            return posterior, found, labels.how, labels.notes
        found = counted(ratings, adequate, labels.labels.astype(np.int64), 2)
        rated, unrated = found.rated, found.unrated
        counts = Counts(
            tp=rated[..., 1, 1], fn=rated[..., 0, 1], fp=rated[..., 1, 0], tn=rated[..., 0, 0],
            metric_ones=unrated[..., 1], metric_total=unrated.sum(-1), pairs=self.pairs,
            effective=found.weights,
        )  # fmt: skip
        known, priors = None, self.priors or DEFAULT_PRIORS
        if self.pairs == "calibration":
            self._check_calibration(found)
            priors = self.priors or Priors()
            known = Counts(human_ones=counts.tp + counts.fn, human_total=counts._paired_total)
        posterior = posterior_of(counts, priors, self.target, known=known)
        notes = (*labels.notes, *worse_than_chance(metric, counts))
        return posterior, found, labels.how, notes

    def _in_parts(
        self, ratings: Ratings, adequate: BoolArray, metric: str
    ) -> tuple[Posterior, Counted, str, tuple[str, ...]]:
        """The posterior if a 0/1 judge lacks verdicts and its rates have informative priors."""
        assert self.priors is not None
        if self.target == "process":
            raise FewgoldError(
                f"{metric} has no value for some segments; in that case priors of ρ and η work "
                "only for the share of this test set: leave out the target 'process' or the priors."
            )
        gaps = self._gaps(ratings, metric)
        assert gaps is not None
        said = scores_of(ratings.sample.pool, metric) == 1
        codes = np.where(gaps, 2, said).astype(np.int64)
        found = counted(ratings, adequate, codes, 3)
        notes = (
            f"{int(gaps.sum())} of {gaps.size} segments without {metric}: only human ratings "
            "are used for these",
        )
        posterior = parts_posterior(found.rated, found.unrated, self.priors, found.weights)
        return posterior, found, metric, notes

    def _jointly(
        self, ratings: Ratings, adequate: BoolArray, names: tuple[str, ...]
    ) -> tuple[Posterior, Counted, str, tuple[str, ...]]:
        priors = self.priors or DEFAULT_PRIORS
        if self._rates_known_before:
            raise FewgoldError(
                "priors of ρ and η need a single metric that is 0 or 1; several metrics and "
                "bins have no ρ and η. Give a prior of alpha alone."
            )
        cuts = each_threshold(names, self.threshold)
        # With many metrics, count how many say 1: their patterns would be too rare to learn from.
        votes = len(names) > _JOINTLY and self.threshold != _BINS
        if votes and _BINS in cuts.values():
            raise FewgoldError(
                f"bins work with up to {_JOINTLY} metrics; got {len(cuts)}. Leave some out."
            )
        codes: IntArray = np.zeros(len(ratings.sample.pool), dtype=np.int64)
        parts, count, unordered = [], 1, False
        notes = [f"{len(cuts)} metrics are combined by counting how many say 1"] if votes else []
        for name, cut in cuts.items():
            levels = 1 if votes else 2
            if cut == _BINS:
                own: Any = bins(scores_of(ratings.sample.pool, name))
                levels = int(own.max()) + 1
                parts.append(f"{name} in {levels} bins")
            elif (gaps := self._gaps(ratings, name)) is not None:
                said = scores_of(ratings.sample.pool, name) == 1
                parts.append(name)
                told = f"{int(gaps.sum())} of {gaps.size} segments without {name}: "
                if votes:
                    own = np.where(gaps, 1, 2 * said)
                    notes.append(told + "that is half a vote")
                else:
                    levels, unordered = 3, True
                    own = np.where(gaps, 2, said)
                    notes.append(told + "they form a third category, besides its 0 and 1")
            else:
                labels = coded(ratings, adequate, name, cut, self.strict)
                own = labels.labels.astype(np.int64) * (2 if votes else 1)
                parts.append(labels.how)
                notes += labels.notes
            codes = codes * levels + own
            if not votes or name == names[-1]:
                # Leave out patterns that do not occur.
                seen, codes = np.unique(codes, return_inverse=True)
                count = seen.size
        found = counted(ratings, adequate, codes, count)
        # Bins of one metric follow a trend.
        in_order = votes or (len(names) == 1 and not unordered)
        prior = (Trend if in_order else Pooled)(rate=priors.alpha)
        posterior = CellPosterior(
            found.rated, found.unrated, self.target, prior, effective=found.weights
        )
        notes = list(dict.fromkeys(notes)) if votes else notes
        return posterior, found, " and ".join(parts), tuple(notes)
