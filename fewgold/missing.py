"""Estimation when some segments of a sample have not been rated.

Only the user can know why answers are missing, so nothing is done about them silently. There are
three choices: wait for the rest (`PartialRatings.complete`), treat the gaps as missing at random
(`PartialRatings.at_random`), or allow for the worst (`PartialRatings.bounds`).
`PartialRatings.diagnosis` tests whether they look random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, codes_of
from fewgold.common.checks import Limits, as_limits, check_choice, check_confidence
from fewgold.common.statistics import adjusted_p_values, intraclass_correlation
from fewgold.common.text import verb
from fewgold.cut import Cut
from fewgold.design import Design
from fewgold.errors import DataError, DesignError
from fewgold.estimate import Estimate, Interval, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.sample import GapHandling, Ratings, Sample

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes import RatedPosterior

__all__ = ["PartialRatings", "estimate"]

#: What to do about sampled segments without an answer.
CHOICES = ("wait", "at-random", "bounds")


def estimate(
    partial: PartialRatings, estimator: Estimator, gaps: str = "wait", confidence: float = 0.95
) -> Estimate | GapBounds:
    """Estimate the score of the pool, with or without gaps.

    Parameters
    ----------
    partial
        Scores with gaps, or without.
    estimator
        The estimator to use.
    gaps
        ``wait``: raise an error while there are any. ``at-random``: treat them as missing at
        random, with a warning in the result. ``bounds``: assume nothing, so they may have any score
        on the scale.
    confidence
        Default confidence of the interval for ``bounds``.
    """
    check_choice("gaps", gaps, CHOICES)
    if gaps == "bounds" and partial.missing.size:
        return partial.bounds(estimator, confidence)
    return estimator.estimate(ratings_for(partial, estimator, gaps))


def ratings_for(partial: PartialRatings, estimator: Estimator, gaps: str = "wait") -> Ratings:
    """Ratings for an estimator: complete ones, or with gaps treated as missing at random."""
    if gaps == "wait" or not partial.missing.size:
        return partial.complete()
    from fewgold.bayes import BinaryPosterior

    # The binary model has one chance for all segments, so gaps get a single one as well.
    within = "sample" if isinstance(estimator, BinaryPosterior) else "groups"
    return partial.at_random(within=within)


_SHOWN = 20


@dataclass(frozen=True, eq=False)
class PartialRatings:
    """Scores of a sample with gaps, and three ways to handle them.

    Parameters
    ----------
    sample
        One sample, or a top-up, whose earlier ratings are then joined.
    scores
        (n,) in the order of the sample, NaN where unrated; or a mapping or Series from id, in
        which unrated segments are left out or None.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``; needed by `bounds`.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.estimators import Mean
    >>> from fewgold.samplers import SimpleRandom
    >>> pool, gold = load_demo("zhen")
    >>> sample = SimpleRandom().draw(pool, 100, rng=1)
    >>> scores = gold[sample.indices]
    >>> scores[:12] = np.nan
    >>> partial = PartialRatings(sample, scores, limits="mqm")
    >>> partial
    PartialRatings(88 of 100 rated)
    >>> made = Mean().estimate(partial.at_random())
    >>> made.remarks[-1]
    '12 of 100 segments are unrated, treated as missing at random: the interval relies on that'
    """

    sample: Sample
    scores: FloatArray
    limits: Limits | None = None

    def __post_init__(self) -> None:
        sample, limits = self.sample, as_limits(self.limits)
        if sample.indices.ndim != 1:
            raise DesignError(
                "gaps are handled for one study at a time, since each has its own. Use one draw "
                "of the batch, with sample.draw(k)."
            )
        scores = _as_scores(sample, self.scores)
        if sample.given is not None:
            limits = limits or sample.given.limits
            scores = np.concatenate([sample.given.scores, scores])
            # Only the joint design is needed here, so scores are not checked against the scale.
            bare = replace(sample, given=replace(sample.given, limits=None))
            sample = bare.rate(np.zeros(sample.n)).sample
        if np.isnan(scores).all():
            raise DataError(
                "no segment of the sample has a rating: there is nothing to estimate from yet."
            )
        if np.isinf(scores).any():
            raise DataError(
                f"the rating of id {sample.ids[np.isinf(scores)][0]!s} is infinite. Correct it, "
                "or empty the cell."
            )
        for name, value in (("sample", sample), ("scores", scores), ("limits", limits)):
            object.__setattr__(self, name, value)
        self._answered()  # checks the limits

    def __repr__(self) -> str:
        return f"PartialRatings({self.rated} of {self.sample.n} rated)"

    @property
    def _keep(self) -> BoolArray:
        """Mask of the rated segments: (n,)."""
        return np.asarray(np.isfinite(self.scores))

    @property
    def rated(self) -> int:
        """How many segments have a rating."""
        return int(self._keep.sum())

    @property
    def missing(self) -> NDArray[Any]:
        """The ids of the unrated segments, in the order of the sample."""
        return np.asarray(self.sample.ids[~self._keep])

    def cut(self, cut: Cut | str) -> PartialRatings:
        """1 (adequate) or 0 from each score, as `Ratings.cut`; gaps remain gaps."""
        passing = Cut.parse(cut)
        told = replace(self.sample, info=replace(self.sample.info, adequate=str(passing)))
        scores = np.full(self.scores.shape, np.nan)
        scores[self._keep] = passing(self.scores[self._keep])
        return PartialRatings(told, scores, (0.0, 1.0))

    def complete(self) -> Ratings:
        """The ratings if there are no gaps; otherwise an error that lists the unrated segments."""
        if self.rated == self.sample.n:
            return self._answered()
        names = [str(i) for i in self.missing.tolist()]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise DataError(
            f"{len(names)} of {self.sample.n} segments {verb(len(names), 'are')} unrated: "
            f"{', '.join(names[:_SHOWN])}{more}. Have them rated, or choose how to treat them:",
            code="unrated",
            hints={
                "python": "gaps='at-random' or at_random() treats them as missing at random, "
                "gaps='bounds' or bounds(estimator) assumes the worst.",
                "cli": "--gaps at-random treats them as missing at random, "
                "--gaps bounds assumes the worst.",
            },
        )

    def at_random(self, *, within: str = "groups") -> Ratings:
        """Ratings of the answered segments, which represent the unrated ones of their group.

        This is right if chance alone decided which segments of a group were rated: then the mean is
        unbiased, and its interval covers as often as that of a complete sample. If, say, bad
        segments are skipped, the mean is biased, and the ratings cannot show it; `diagnosis` tests
        what can be tested. Every estimate notes this assumption.

        Parameters
        ----------
        within
            ``groups``: the chance of a rating is the same within each group of the design (stratum,
            neighbours on the line, document drawn whole), and may differ between groups.
            ``sample``: it is the same everywhere. Weights are then as even as before, which the
            binary model needs.
        """
        check_choice("within", within, ("groups", "sample"))
        if self.rated == self.sample.n:
            return self._answered()
        # Segments given up in earlier waves count as unrated, and among all drawn.
        before = 0 if self.sample.info.gaps is None else self.sample.info.gaps.unrated
        lost, of = self.sample.n - self.rated + before, self.sample.n + before
        design = answered(self.sample.design, self._keep, within)
        gaps = GapHandling(
            f"{lost} of {of} segments {verb(lost, 'are')} unrated, treated as missing at random: "
            "the interval relies on that",
            f"{lost}-at-random" + ("-anywhere" if within == "sample" else ""),
            lost,
        )
        return self._answered(design, gaps)

    def bounds(self, estimator: Estimator, confidence: float = 0.95) -> GapBounds:
        """Bounds on the pool's mean that assume nothing about the unrated scores.

        Works with any estimator and any bound, including guaranteed ones.
        """
        if self.limits is None:
            raise DataError(
                "the worst score that unrated segments can have is an end of the scale, which "
                "is not known. Give the limits of the scale, from its definition and not from the "
                'answers: PartialRatings(sample, scores, limits="mqm") or limits=(0, 25).'
            )
        check_confidence(confidence)
        low, high = (self._filled(float(end)) for end in self.limits)
        made: list[Any] = [estimator.estimate(end) for end in (low, high)]
        before, of = self.sample.info.gaps, self.sample.n
        return GapBounds(made[0], made[1], of - self.rated, of, confidence, before)

    def diagnosis(self) -> pd.DataFrame:
        """Test whether the gaps depend on known properties of the segments, one row per property.

        See `fewgold.missing.diagnose` for the columns, and `findings` for sentences.
        """
        return diagnose(self.sample, self._keep)

    def findings(self) -> tuple[str, ...]:
        """Evidence against missing at random, in sentences; empty if there is none.

        Gaps at the end of the list are no such evidence for a simple random sample in the order of
        drawing: its first part is a random sample too.
        """
        frame, found = self.diagnosis(), []
        if self.sample.design.drawn_as("simple"):
            frame = frame[frame["kind"] != "order"]
        for row in frame[frame["p_holm"] < 0.05].to_dict("records"):
            chance = f"p = {row['p_holm']:.2g} for all comparisons together"
            if np.isfinite(row["p_within"]):
                chance += f", {row['p_within']:.2g} within groups of the design"
            larger = row["difference"] > 0
            if row["kind"] == "documents":
                what = "are clustered by document"
            elif row["kind"] == "order":
                what = f"come {'later' if larger else 'earlier'} in the list"
            else:
                size = f"by {abs(row['difference']):.2g} standard deviations"
                what = f"have {'higher' if larger else 'lower'} {row['known']}, {size}"
            found.append(f"unrated segments {what} ({chance}): they are not missing at random")
        return tuple(found)

    def _answered(self, design: Design | None = None, gaps: GapHandling | None = None) -> Ratings:
        keep, whole = self._keep, self.sample
        if design is None:
            if keep.all():
                return Ratings(whole, self.scores, as_limits(self.limits))
            design = answered(whole.design, keep)
        info = replace(whole.info, gaps=gaps or whole.info.gaps)
        part = Sample(whole.pool, whole.indices[keep], design, info=info)
        return Ratings(part, self.scores[keep], as_limits(self.limits))

    def _filled(self, end: float) -> Ratings:
        """The ratings with all unrated scores set to one end of the scale."""
        keep, sample = self._keep, self.sample
        if not keep.all():
            lost = sample.n - self.rated
            note = f"{lost} of {sample.n} segments {verb(lost, 'are')} unrated, counted as {end:g}"
            gaps = GapHandling(note, f"{lost}-as-{end:g}")
            sample = replace(sample, info=replace(sample.info, gaps=gaps))
        return Ratings(sample, np.where(keep, self.scores, end), as_limits(self.limits))


def _as_scores(sample: Sample, scores: Any) -> FloatArray:
    """Scores in the order of the sample, NaN where there is none: (n,)."""
    if hasattr(scores, "to_dict"):  # a pandas Series, indexed by id
        if not scores.index.is_unique:
            raise DataError("some ids have more than one rating. Average them first.")
        scores = scores.to_dict()
    if isinstance(scores, Mapping):
        ids = sample.ids.tolist()
        strange = [i for i in scores if i not in set(ids)]
        if strange:
            raise DataError(
                "there are ratings of segments outside the sample, "
                f"{len(strange)} in all, first {strange[:3]}. Leave them out: they would bias the "
                "estimate."
            )
        scores = [scores.get(i) for i in ids]
    try:
        found = np.array([np.nan if s is None else s for s in scores], dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "ratings must be numbers, and NaN or None where a segment is unrated."
        ) from None
    if found.shape != sample.indices.shape:
        raise DataError(
            f"scores must have the shape of the sample, {sample.indices.shape}, with NaN where "
            f"unrated; got {found.shape}."
        )
    return found


@dataclass(frozen=True, eq=False)
class GapBounds:
    """The mean of the pool between two extremes: all unrated scores at one end of the scale.

    Suppose it is fixed for each segment of the pool whether it would be rated. With unrated scores
    set to the low end, the scores are known for the whole sample, and their mean over the pool is
    at most the true one. So the lower end of its interval exceeds the mean of the pool no more
    often than it may; likewise for the upper end, with the unrated at the high end. Nothing is
    assumed about the unrated scores, only that whether a segment is rated does not depend on which
    others were drawn.

    Parameters
    ----------
    low, high
        Estimates with the unrated at the low and at the high end of the scale.
    unrated, sampled
        Segments without a rating, and all that were drawn.
    confidence
        Default level of the interval.
    before
        What was assumed about gaps in earlier waves, as a sentence and as a code for signatures.
    """

    low: LinearEstimate | RatedPosterior
    high: LinearEstimate | RatedPosterior
    unrated: int
    sampled: int
    confidence: float = 0.95
    before: GapHandling | None = None

    def __repr__(self) -> str:
        low, high = self.region
        return f"GapBounds({low:.4f} to {high:.4f}, {self.unrated} of {self.sampled} unrated)"

    @property
    def region(self) -> Interval:
        """The estimates at both extremes: the uncertainty due to the gaps alone."""
        return Interval(self.low.value, self.high.value)

    def interval(self, confidence: float | None = None) -> Interval:
        """The interval: uncertainty due to gaps and sampling together."""
        level = self.confidence if confidence is None else confidence
        return Interval(_ends(self.low, level).low, _ends(self.high, level).high)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the reader."""
        mine = (
            f"{self.unrated} of {self.sampled} segments {verb(self.unrated, 'are')} unrated, and "
            "may have any score: nothing is assumed about missing scores",
        )
        early = () if self.before is None else (f"in an earlier wave, {self.before.note}",)
        own = [n for e in (self.low, self.high) for n in e.remarks if n not in e.ratings.warnings]
        return (*mine, *early, *dict.fromkeys(own))

    def signature(self, confidence: float | None = None) -> str:
        """How the interval was made, in one line."""
        level = self.confidence if confidence is None else confidence
        gaps = f"gaps:{self.unrated}-worst-case"
        if self.before is not None:
            gaps += f"+{self.before.code}"
        parts = self.low.signature(level).split("|")
        return "|".join(gaps if part.startswith("gaps:") else part for part in parts)

    def summary(self, confidence: float | None = None) -> str:
        """A readable summary of a few lines."""
        level = self.confidence if confidence is None else confidence
        (first, last), (low, high) = self.region, self.interval(level)
        label = self.low.to_dict(level)["bound_label"]
        lines = [
            f"{first:.4f} to {last:.4f}, whatever the unrated scores are",
            f"{100 * level:.10g}% interval {low:.4f} to {high:.4f} ({label})",
            f"from {self.sampled - self.unrated} of {len(self.low.ratings.sample.pool)} segments",
            *(f"note: {note}" for note in self.notes),
            self.signature(level),
        ]
        return "\n".join(lines)

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """The bounds in plain numbers, for JSON."""
        level = self.confidence if confidence is None else confidence
        told = self.low.to_dict(level)
        kept = ("bound", "bound_kind", "bound_label", "method", "pool_size")
        low, high = self.interval(level)
        return {
            "region": [float(end) for end in self.region],
            "low": float(low),
            "high": float(high),
            "confidence": level,
            **{name: told[name] for name in kept if name in told},
            "n": self.sampled - self.unrated,
            "unrated": self.unrated,
            "notes": list(self.notes),
            "signature": self.signature(level),
        }


def _ends(estimate: Estimate, confidence: float) -> Interval:
    """The equal-tailed interval: the low end of one estimate, the high end of the other."""
    from fewgold.bayes import RatedPosterior

    if isinstance(estimate, RatedPosterior):
        return estimate.interval(confidence, "equal" if estimate.kind == "hdi" else None)
    return estimate.interval(confidence)


# The design of the rated segments, if chance decided which were rated ---------------------------

# Average number of segments per unit above which each unit has its own response rate; and number
# of segments per class of neighbours.
_LARGE, _ENOUGH = 8, 20


def classes(design: Design) -> tuple[IntArray, IntArray]:
    """Classes in which segments are missing at random, and groups that are compared: (n,) both.

    Strata for a stratified sample, units if they are large, otherwise the groups. Groups of
    neighbours on a line are too small for their own response rates, which would only make weights
    uneven: groups with the same weight are joined along the line until they have twenty segments,
    without looking at any answer.
    """
    groups = _codes(design.groups)
    if design.strata is not None:
        return _codes(design.strata), groups
    groups = _codes(_joined_groups(groups, design.weights)[groups])
    if design.units is not None and design.n >= _LARGE * np.unique(design.units).size:
        return _codes(design.units), groups
    return groups, groups


def _joined_groups(groups: IntArray, weights: FloatArray) -> IntArray:
    """New label of each group: neighbours of equal weight are joined until there are enough."""
    size = np.bincount(groups)
    most, least = np.zeros(size.size), np.full(size.size, np.inf)
    np.maximum.at(most, groups, weights)
    np.minimum.at(least, groups, weights)
    label, held = np.zeros(size.size, dtype=np.int64), int(size[0])
    for g in range(1, size.size):
        ends = max(most[g - 1], most[g]), min(least[g - 1], least[g])
        alike = ends[0] - ends[1] <= 1e-9 * ends[0]
        last = alike and int(size[g:].sum()) < _ENOUGH  # too few are left for another class
        joined = alike and (held < _ENOUGH or last)
        label[g] = label[g - 1] + (not joined)
        held = held + int(size[g]) if joined else int(size[g])
    return label


def answered(design: Design, keep: BoolArray, within: str = "groups") -> Design:
    """The design of the answered segments, as the second phase of a two-phase sample.

    Given the number rated in each class, every set of that size is equally likely. So the rated
    segments represent their class, w' = w/ρ with the response rate ρ, and their weighted mean has
    the mean of the sample as its expectation. Its variance is that of the full sample plus that of
    the second phase, and both can be estimated from the rated segments (Särndal, Swensson and
    Wretman 1992, section 15.6). A deviation e from the group's mean contributes (influence · e)²/ρ
    in the first phase and (w e)² (1 − ρ)/ρ² in the second, which add up to (w' e)² (1 − π ρ) if
    influence is w √(1 − π).

    A class without any rating gives its weight to its group, and a group without any to the next
    one. A group with one rated unit is compared with its neighbour, as lone strata are.

    Balance is dropped. The rated segments are balanced only by chance, so the second phase has
    their full spread; for the first phase this is too large, since it ignores the gain from
    balancing.

    For units drawn whole but rated in part, the spread of their estimated means includes that of
    the second phase. The finite population correction, 1 − π ρ instead of 1 − π for the variance
    between units, is conservative by a share of π (1 − ρ).

    Parameters
    ----------
    design
        The design of the whole sample, (n,).
    keep
        (n,) True for the rated segments, at least one.
    within
        ``groups`` for the classes of the design, ``sample`` if the chance of a rating is the same
        everywhere: then weights stay as even as before, and all units are compared with each other.
    """
    whole = np.zeros(design.n, dtype=np.int64)
    cells, groups = (whole, whole) if within == "sample" else classes(design)
    weights = _response_weights(design.weights, keep, cells, groups)
    before = design.weights[keep]
    rate = np.minimum(before / weights, 1.0)
    influence = np.sqrt(np.square(design.influence[keep]) / rate + (1 - rate) * weights**2)
    units = None if design.units is None else codes_of(design.units[keep])
    return Design(
        kind=design.kind,
        size=design.size,
        weights=weights,
        inclusion=design.inclusion[keep] * rate,
        groups=comparable(_codes(groups[keep]), units, influence),
        influence=influence,
        units=units,
        strata=None if design.strata is None else _codes(design.strata[keep]),
        documents=None if design.documents is None else design.documents[keep],
        shares=None if design.shares is None else design.shares[keep],
        concentration=design.concentration,
        unbiased=design.unbiased,
        gaps=True,
    )


def _codes(labels: IntArray) -> IntArray:
    """Labels as 0, 1, … in sorted order, so that neighbours stay neighbours."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).ravel()


def _response_weights(
    weights: FloatArray, keep: BoolArray, cells: IntArray, groups: IntArray
) -> FloatArray:
    """Weights of the rated segments (r,), which include those of the unrated ones."""
    left = weights[keep]
    due, held = np.bincount(cells, weights), np.bincount(cells[keep], left, cells.max() + 1)
    left = left * (due / np.where(held > 0, held, 1.0))[cells[keep]]
    due = np.bincount(groups, weights)
    held = np.bincount(groups[keep], left, due.size)
    count = np.bincount(groups[keep], minlength=due.size)
    there = np.flatnonzero(count)
    load = due.copy()
    for lost in np.flatnonzero(count == 0):
        place = int(np.searchsorted(there, lost))
        beside = there[max(place - 1, 0) : place + 1]
        # Of the two neighbours, the one with less weight per rating so far.
        load[beside[np.argmin((load / np.maximum(count, 1))[beside])]] += due[lost]
    return np.asarray(left * (load / np.where(held > 0, held, 1.0))[groups[keep]])


def comparable(groups: IntArray, units: IntArray | None, influence: FloatArray) -> IntArray:
    """Groups in which units can be compared; a lone unit joins the next group not taken whole."""
    first = np.arange(groups.size) if units is None else np.unique(units, return_index=True)[1]
    members = np.bincount(groups[first], minlength=int(groups.max()) + 1)
    open_ones = np.flatnonzero(np.bincount(groups, influence) > 0)
    label = np.arange(members.size)
    for place, group in enumerate(open_ones):
        if members[group] > 1 or (label == label[group]).sum() > 1:
            continue
        others = open_ones if open_ones.size > 1 else label
        at = place if open_ones.size > 1 else int(group)
        if others.size > 1:
            other = others[at + 1] if at + 1 < others.size else others[at - 1]
            label[group] = label[other]
    return _codes(label[groups])


# Whether gaps depend on what is known about the segments ------------------------------------------

_PERMUTATIONS = 4999
_SEED = 20220101


def diagnose(sample: Sample, keep: BoolArray) -> pd.DataFrame:
    """Compare unrated with rated segments in everything that is known about both.

    One row for each metric, the cost, the length of each text, the place in the sample (raters who
    stop early leave the end unrated), and documents (whether gaps are clustered).

    ==============  ============================================================================
    ``rated``       mean over the rated segments
    ``unrated``     mean over the unrated ones
    ``difference``  unrated minus rated, in standard deviations over the sample; for documents the
                    intraclass correlation of gaps, about 0 by chance and 1 for whole documents
    ``p``           chance of so large a difference if all sets of gaps of this size were as likely
    ``p_within``    the same with the number of gaps in each group of the design fixed: what
                    `at_random` assumes. NaN where no group has both rated and unrated segments
                    that differ
    ``p_holm``      ``p`` corrected for all rows (Holm): below 0.05 in some row, by chance, in no
                    more than 5 % of studies
    ==============  ============================================================================

    Chances are found by permuting the gaps, with a fixed seed, so they need no assumption about the
    values. Finding nothing does not prove that gaps are random: they may depend on the very scores
    that are missing.
    """
    import pandas as pd

    gone, rows, columns = ~keep, [], []
    for name, kind, x in _known(sample):
        rated, unrated = (float(x[k].mean()) if k.any() else np.nan for k in (keep, gone))
        rows.append((name, kind, rated, unrated, (unrated - rated) / float(x.std(ddof=1))))
        columns.append(x)
    pool = sample.pool
    documents = None if pool.documents is None else codes_of(pool.documents[sample.indices])
    if documents is not None and documents.max() > 0:
        icc = float(intraclass_correlation(gone.astype(np.float64), documents))
        rows.append(("documents", "documents", np.nan, np.nan, icc))
    table = np.array(columns).reshape(len(columns), sample.n)
    whole, within = np.zeros(sample.n, dtype=np.int64), classes(sample.design)[0]
    p, p_within = (_chances(table, gone, c, documents)[: len(rows)] for c in (whole, within))
    frame = pd.DataFrame(rows, columns=["known", "kind", "rated", "unrated", "difference"])
    return frame.assign(p=p, p_within=p_within, p_holm=adjusted_p_values(p, "holm"))


def _known(sample: Sample) -> Iterator[tuple[str, str, FloatArray]]:
    """Name, kind and values of every numeric property that varies over the sample."""
    pool, rows = sample.pool, sample.indices
    every = [(name, "metric", values[rows]) for name, values in pool.metrics.items()]
    if pool.cost is not None:
        every.append(("cost", "cost", pool.cost[rows]))
    for name, texts in pool.texts.items():
        if texts.dtype.kind in "OU":
            lengths = [float(len(str(text))) for text in texts[rows].tolist()]
            every.append((f"length of {name}", "length", np.array(lengths)))
    every.append(("place in the sample", "order", np.arange(1.0, sample.n + 1)))
    return (known for known in every if np.ptp(known[2]) > 0)


def _chances(
    table: FloatArray, gone: BoolArray, classes: IntArray, documents: IntArray | None
) -> FloatArray:
    """P-values of the columns (p, n), and of clustering by document: (p + 1,).

    Gaps are permuted within classes. The statistic for clustering is the sum of squared counts per
    document.
    """
    rng = np.random.default_rng(_SEED)
    base = np.argsort(classes, kind="stable")
    centred = table - table.mean(-1, keepdims=True)
    share = (np.bincount(classes, gone) / np.bincount(classes))[classes]

    def bunching(missing: FloatArray) -> float:
        if documents is None:
            return 0.0
        counts = np.square(np.bincount(documents, missing)) / np.bincount(documents)
        return float(counts.sum())

    seen, bunched = np.empty((_PERMUTATIONS, len(table))), np.empty(_PERMUTATIONS)
    for k in range(_PERMUTATIONS):
        moved = np.empty(gone.shape)
        moved[base] = gone[np.argsort(classes + rng.random(gone.size))]
        seen[k], bunched[k] = centred @ (moved - share), bunching(moved)
    rounding = np.append(1e-9 * np.abs(centred).sum(-1), 1e-9)
    own = np.append(np.abs(centred @ (gone - share)), bunching(gone.astype(np.float64)))
    permuted = np.column_stack([np.abs(seen), bunched])
    found = (1 + (permuted >= own - rounding).sum(0)) / (_PERMUTATIONS + 1.0)
    constant = np.append(np.ptp(seen, axis=0), np.ptp(bunched)) <= rounding
    return np.asarray(np.where(constant, np.nan, found))
