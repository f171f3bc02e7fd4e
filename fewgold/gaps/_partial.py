"""Human scores of a sample that is not rated throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import BoolArray, FloatArray
from fewgold._validate import Limits, as_limits, check_choice, check_confidence
from fewgold.cut import Cut
from fewgold.errors import DataError, DesignError
from fewgold.estimator import Estimator
from fewgold.gaps import _diagnosis
from fewgold.gaps._answered import answered
from fewgold.gaps._worst import GapBounds
from fewgold.sample import Ratings, Sample

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 20


@dataclass(frozen=True, eq=False)
class PartialRatings:
    """Scores of a sample with gaps, and the three things that can be done about them.

    Parameters
    ----------
    sample
        One sample, or a top-up: its earlier ratings are then joined.
    scores
        (n,) in the order of the sample, NaN where unrated; or a mapping or Series from id, in
        which unrated segments are left out or None.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or ``"mqm"``: `bounds` goes by them.

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
    '12 of 100 segments are unrated, taken as missing at random: the interval rests on that'
    """

    sample: Sample
    scores: FloatArray
    limits: Limits | None = None

    def __post_init__(self) -> None:
        sample, limits = self.sample, as_limits(self.limits)
        if sample.indices.ndim != 1:
            raise DesignError(
                "gaps are dealt with one study at a time, because each has its own. Take one draw "
                "of the batch, with sample.draw(k)."
            )
        scores = _as_scores(sample, self.scores)
        if sample.given is not None:
            limits = limits or sample.given.limits
            scores = np.concatenate([sample.given.scores, scores])
            sample = sample.rate(np.zeros(sample.n)).sample
        if np.isnan(scores).all():
            raise DataError("no segment of the sample has a rating: there is nothing to go by yet.")
        if np.isinf(scores).any():
            raise DataError(
                f"the rating of id {sample.ids[np.isinf(scores)][0]!s} is infinite. Correct it, or "
                "leave it empty."
            )
        for name, value in (("sample", sample), ("scores", scores), ("limits", limits)):
            object.__setattr__(self, name, value)
        self._answered()  # checks the limits

    def __repr__(self) -> str:
        return f"PartialRatings({self.rated} of {self.sample.n} rated)"

    @property
    def keep(self) -> BoolArray:
        """True where rated: (n,)."""
        return np.asarray(np.isfinite(self.scores))

    @property
    def rated(self) -> int:
        """How many segments have a rating."""
        return int(self.keep.sum())

    @property
    def missing(self) -> NDArray[Any]:
        """The ids of the unrated segments, in the order of the sample."""
        return np.asarray(self.sample.ids[~self.keep])

    def cut(self, cut: Cut | str) -> PartialRatings:
        """1 (adequate) or 0 from each score, unrated ones left so, as `Ratings.cut` does."""
        passing = Cut.parse(cut)
        told = replace(self.sample, info={**self.sample.info, "adequate": str(passing)})
        scores = np.full(self.scores.shape, np.nan)
        scores[self.keep] = passing(self.scores[self.keep])
        return PartialRatings(told, scores, (0.0, 1.0))

    def complete(self) -> Ratings:
        """The ratings, if there are no gaps; an error that lists the unrated segments otherwise."""
        if self.rated == self.sample.n:
            return self._answered()
        names = [str(i) for i in self.missing.tolist()]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        raise DataError(
            f"{len(names)} of {self.sample.n} segments are unrated: {', '.join(names[:_SHOWN])}"
            f"{more}. Have them rated, or say how to go on: at_random() takes the gaps for chance, "
            "bounds(estimator) reckons with the worst."
        )

    def at_random(self, *, within: str = "groups") -> Ratings:
        """Ratings of the answered segments, which stand for the unrated ones of their group.

        That is right if chance alone decided which segments of a group were rated: then the mean
        is unbiased, and its interval covers as that of the whole sample does. If, say, bad
        segments are skipped, it is not, and no look at the rated ones can tell; see `diagnosis`
        for what can be told. Every estimate says that it rests on this.

        Parameters
        ----------
        within
            ``groups``: chance is alike within each group of the design (stratum, neighbours on the
            line, document that was drawn whole), and may differ between them. ``sample``: it is
            alike everywhere. Weights are then as even as they were, which the binary model needs.
        """
        check_choice("within", within, ("groups", "sample"))
        if self.rated == self.sample.n:
            return self._answered()
        lost, of = self._counts()
        design = answered(self.sample.design, self.keep, within)
        told = {
            "gaps": f"{lost} of {of} segments are unrated, taken as missing at random: the "
            "interval rests on that",
            "gaps_signed": f"{lost}-at-random" + ("-anywhere" if within == "sample" else ""),
            "unrated": lost,
        }
        return self._answered(design, told)

    def bounds(self, estimator: Estimator, confidence: float = 0.95) -> GapBounds:
        """What the pool's mean may be, whatever the unrated scores are: nothing is assumed of them.

        Any estimator and any bound will do, guaranteed ones included.
        """
        if self.limits is None:
            raise DataError(
                "the worst that unrated scores can be is the end of the scale, which is not known. "
                'Give it, PartialRatings(sample, scores, limits="mqm") or limits=(0, 25), from the '
                "scale and not from the answers."
            )
        check_confidence(confidence)
        low, high = (self._filled(float(end)) for end in self.limits)
        made: list[Any] = [estimator.estimate(end) for end in (low, high)]
        info, of = self.sample.info, self.sample.n
        before = (info["gaps"], info["gaps_signed"]) if "gaps" in info else None
        return GapBounds(made[0], made[1], of - self.rated, of, confidence, before)

    def diagnosis(self) -> pd.DataFrame:
        """Whether the gaps depend on what is known of the segments, a row for each such thing.

        See `fewgold.gaps._diagnosis.diagnose` for the columns, and `findings` for sentences.
        """
        return _diagnosis.diagnose(self.sample, self.keep)

    def findings(self) -> tuple[str, ...]:
        """What speaks against missing at random, in sentences; empty if nothing does.

        That the end of the list is missing does not, for a simple random sample in the order of
        drawing: what was rated first is a random sample too.
        """
        frame = self.diagnosis()
        if self.sample.design.kind == "simple":
            frame = frame[frame["kind"] != "order"]
        return _diagnosis.sentences(frame)

    def _counts(self) -> tuple[int, int]:
        """Unrated segments and all that were drawn, those given up in earlier waves included."""
        before = int(self.sample.info.get("unrated", 0))
        return self.sample.n - self.rated + before, self.sample.n + before

    def _answered(self, design: Any = None, told: Mapping[str, Any] | None = None) -> Ratings:
        keep, whole = self.keep, self.sample
        if design is None:
            if keep.all():
                return Ratings(whole, self.scores, self._ends)
            design = answered(whole.design, keep)
        part = Sample(whole.pool, whole.indices[keep], design, info={**whole.info, **(told or {})})
        return Ratings(part, self.scores[keep], self._ends)

    @property
    def _ends(self) -> tuple[float, float] | None:
        return as_limits(self.limits)

    def _filled(self, end: float) -> Ratings:
        """The unrated scores put at one end of the scale."""
        keep, info = self.keep, dict(self.sample.info)
        if not keep.all():
            lost, of = self.sample.n - self.rated, self.sample.n
            info["gaps"] = f"{lost} of {of} segments are unrated, counted as {end:g}"
            info["gaps_signed"] = f"{lost}-as-{end:g}"
        sample = replace(self.sample, info=info)
        return Ratings(sample, np.where(keep, self.scores, end), self._ends)


def _as_scores(sample: Sample, scores: Any) -> FloatArray:
    """Scores in the order of the sample, NaN where there is none: (n,)."""
    if hasattr(scores, "to_dict"):  # a pandas Series, indexed by id
        if not scores.index.is_unique:
            raise DataError("some ids have more than one rating. Make one of them first.")
        scores = scores.to_dict()
    if isinstance(scores, Mapping):
        ids = sample.ids.tolist()
        strange = [i for i in scores if i not in set(ids)]
        if strange:
            raise DataError(
                f"{len(strange)} ratings are of segments that are not in the sample, first "
                f"{strange[:3]}. Leave them out: they would bias the estimate."
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
