"""One score per batch, with intervals valid at every look, and an alarm for a drop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from fewgold.bounds import Auto, StratifiedBetting
from fewgold.bounds.base import interval_of_totals, tail_misses, to_unit
from fewgold.bounds.betting import PRIOR, Bets, fixed_size_total
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import as_names, check_choice, check_confidence
from fewgold.common.text import verb
from fewgold.design import Design
from fewgold.errors import DataError, DesignError
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean, Ridge
from fewgold.monitoring import detector as d
from fewgold.monitoring.batches import Batch, Batches
from fewgold.monitoring.result import Alarm, Monitoring
from fewgold.pool import Pool
from fewgold.quantities import weighted_mean
from fewgold.sample import Ratings, Sample

METHODS = ("auto", "guaranteed", "approximate")
# Fewest ratings of earlier batches to fit a model of the judge, and the most (latest) to use.
_FEWEST, _LATEST = 30, 1000
# Number of first batches used to put metrics on the human scale if no baseline is named.
_CALIBRATING = 4
# Number of latest batches that predict the variance of the next one.
_WINDOW = 10
# With fewer ratings in the latest batches that differ from the most common score, their shape is
# not known well enough for intervals that must hold for all batches together.
_HANDFUL = 30
# With fewer ratings per batch, false alarms that take batch scores as normal are too common.
_TINY = 5


def monitor(
    batches: Batches,
    *,
    drop: float | None = None,
    target: float | None = None,
    baseline: int | str | Sequence[str] = "before",
    higher_is_better: bool = True,
    false_alarms: d.FalseAlarms | float = 0.05,
    method: str = "auto",
    estimator: Estimator | None = None,
    confidence: float = 0.95,
) -> Monitoring:
    """One score per batch, a line of intervals, and an alarm for a drop.

    Parameters
    ----------
    batches
        From `from_labelled` or `from_ratings`.
    drop
        The smallest drop that matters, in units of the scores, to which the alarm is tuned.
        Smaller drops also cause an alarm, but later. None for no alarm.
    target
        The score that batches must not be worse than. None compares with the baseline.
    baseline
        ``before``: compare each batch with all earlier ones. A number or labels: compare with a
        fixed baseline, the first batches or the named ones. Its uncertainty delays alarms,
        because batches are compared with its conservative bound. With a target all batches are
        watched.
    higher_is_better
        Direction of the scores.
    false_alarms
        The chance of any false alarm, or `FalseAlarms`.
    method
        ``guaranteed`` bets on single ratings, which needs the ends of the scale, simple random
        samples in each batch, and a target or a fixed baseline; ``approximate`` treats batch
        scores as normal; ``auto`` bets if there is a target, and is approximate otherwise. Bets
        and targets are about the segments of each batch; approximate comparisons with other
        batches are about the system, and each batch is a sample of its outputs.
    estimator
        Estimator for each batch. None corrects each batch by metrics with a model fitted to
        earlier batches, and the first batches with their own.
    confidence
        Confidence level of the intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from fewgold.chosen import read_labelled
    >>> from fewgold.monitoring import from_labelled
    >>> rng = np.random.default_rng(1)
    >>> frame = pd.DataFrame({"week": np.repeat(np.arange(1, 13), 200)})
    >>> good = rng.random(2400) < np.where(frame["week"] > 8, 0.6, 0.9)
    >>> frame["judge"] = np.where(rng.random(2400) < 0.9, good, ~good).astype(float)
    >>> frame["passed"] = np.where(np.arange(2400) % 200 < 40, good, np.nan)
    >>> found = read_labelled(frame, human="passed", metrics=["judge"], other=["week"])
    >>> made = monitor(from_labelled(found, "week"), drop=0.2)
    >>> made.alarm.batch, made.alarm.began
    ('9', '9')
    """
    check_confidence(confidence)
    check_choice("method", method, METHODS)
    alarms = false_alarms
    if not isinstance(alarms, d.FalseAlarms):
        alarms = d.FalseAlarms(alarms)
    if drop is not None and not (math.isfinite(drop) and drop > 0):
        raise DataError(f"the drop must be a number above 0, in units of the scores; got {drop!r}.")
    parts = batches.parts
    if not any(b.rated for b in parts):
        raise DataError("no batch has a rating. Rate some segments of each batch first.")
    growing = baseline == "before" and target is None
    base = _baseline(parts, _CALIBRATING if baseline == "before" else baseline)
    line = _Scores(batches, estimator, higher_is_better, _limits(batches))
    for k in range(len(parts)):
        line.add(k)
    notes = [*batches.notes, *line.notes]
    betting = line.can_bet and method != "approximate"
    if method == "guaranteed" and not betting:
        raise DesignError(
            "the guaranteed method bets on single ratings: it needs the ends of the scale (limits) "
            "and a simple random sample of each batch. Give the limits, or use the method "
            "'approximate'."
        )
    looks = None if alarms.looks is None else max(alarms.looks + len(base), len(parts))
    misses = _spending(len(parts), looks, 1 - confidence)
    guaranteed = betting and method == "guaranteed"
    if growing and guaranteed and drop is not None:
        raise DesignError(
            "a comparison with all earlier batches is approximate. For a guaranteed alarm give a "
            "target, or a fixed baseline such as the first 4 batches."
        )
    # Comparisons with other batches are about the system, of which batches are samples; bets are
    # about the segments of a batch.
    system = target is None and not guaranteed
    betting = betting and not system
    if drop is not None:
        _check_alarm(parts, line.limits, drop, target, betting)
    ends = {"": np.full(len(parts), 1 - confidence), "_all": misses}
    table: dict[str, Any] = {
        "batch": list(batches.labels), "n": [b.rated for b in parts],
        "size": [b.size for b in parts], "value": line.values, "se": line.errors,
    }  # fmt: skip
    for name, share in ends.items():
        pairs = [line.interval(k, 1 - share[k], guaranteed, bool(name)) for k in range(len(parts))]
        table["low" + name], table["high" + name] = np.array(pairs).T
    table["judge"], table["difference"] = line.judged(base)
    table |= _running(line, confidence)
    first = next(k for k, b in enumerate(parts) if b.rated)
    if growing:
        watched = list(range(first + 1, len(parts)))
        reference, base_value, base_se = line.level(range(len(parts)))
    else:
        watched = [k for k in range(len(parts)) if target is not None or k not in base]
        reference, base_value, base_se = _reference(line, base, target, alarms, guaranteed)
    found = shift = None
    table["evidence"] = np.full(len(parts), np.nan)
    if drop is not None and watched and growing:
        evidence, parts_of, weights = _before(line, watched, drop, alarms)
        threshold = alarms.log_threshold(False)
        table["evidence"][watched] = np.exp(np.clip(evidence - threshold, -700, 700))
        found = _growing_alarm(evidence, parts_of, weights, threshold, watched, batches.labels)
        if found is not None:  # what the score was before it fell
            began = batches.labels.index(found.began)
            reference, base_value, base_se = line.level(range(began))
        later = [k for k in watched if k not in base]
        shift = _judge_shift(line, table, later, base, drop, alarms, batches.labels)
    elif drop is not None and watched:
        log_e = np.array([
            line.evidence(k, reference, drop, base_value, betting, system) for k in watched
        ])  # fmt: skip
        weights = alarms.weights(len(watched))
        evidence = d.log_evidence(log_e, weights)
        threshold = alarms.log_threshold(target is None)
        table["evidence"][watched] = np.exp(np.clip(evidence - threshold, -700, 700))
        found = _alarm(evidence, log_e, weights, threshold, watched, batches.labels)
        shift = _judge_shift(line, table, watched, base, drop, alarms, batches.labels)
        sign = 1 if higher_is_better else -1
        if target is None and not sign * (base_value - reference) < drop:
            notes.append(
                f"the baseline is too uncertain for a drop of {drop:g}: scores are compared with "
                f"its bound {reference:.4g} instead of {base_value:.4g}. Rate more of it, or use "
                f"more batches for the baseline"
            )
    if alarms.looks is not None and len(watched) > alarms.looks:
        notes.append(
            f"there were more looks ({len(watched)}) than the {alarms.looks} that were planned: "
            f"the false alarm rate still holds, but later drops are found late"
        )
    unrated = sum(b.rated == 0 for b in parts)
    if unrated:
        many = "1 batch" if unrated == 1 else f"{unrated} batches"
        notes.append(f"{many} without ratings {verb(unrated, 'have')} no score")
    kind = "guaranteed" if betting and (guaranteed or target is not None) else "approximate"
    return Monitoring(
        table=table, by=batches.by, higher_is_better=higher_is_better, target=target,
        baseline=() if target is not None or growing else tuple(batches.labels[k] for k in base),
        growing=growing,
        reference=reference, baseline_value=base_value, baseline_se=base_se, drop=drop,
        false_alarms=alarms, alarm=found, judge_alarm=shift, confidence=confidence,
        looks=looks, kind=kind, bets=betting,
        line_kind="guaranteed" if guaranteed else "approximate",
        method=line.method, limits=line.limits, unit_sd=line.unit_sd, notes=tuple(notes),
    )  # fmt: skip


def _check_alarm(
    parts: Sequence[Batch], limits: tuple[float, float] | None, drop: float, target: float | None,
    betting: bool,
) -> None:  # fmt: skip
    """Refuse a target or a drop that the scale does not have, and batches of very few ratings."""
    if limits is not None:
        low, high = limits
        scale = f"the scale of the scores, from {low:g} to {high:g}"
        if target is not None and not low <= target <= high:
            raise DataError(f"the target must lie on {scale}; got {target:g}.")
        if drop >= high - low:
            raise DataError(f"the drop must be smaller than {scale}; got {drop:g}.")
    usual = float(np.median([b.rated for b in parts if b.rated]))
    if usual < _TINY and not betting:
        raise DataError(
            f"an alarm needs about {_TINY} ratings per batch or more, because it takes the scores "
            f"of batches to be about normal; half of the rated batches have {usual:g} or fewer. "
            "Group the batches, for instance by week, or rate more of each. With a target and the "
            "ends of the scale the alarm bets on single ratings, which may be few. Leave out the "
            "drop to see the scores without an alarm."
        )


def _limits(batches: Batches) -> tuple[float, float] | None:
    if batches.whole is not None:
        return batches.whole.limits
    return next((b.ratings.limits for b in batches.parts if b.ratings is not None), None)


def _baseline(parts: Sequence[Batch], told: int | str | Sequence[str]) -> list[int]:
    """Positions of the batches of the baseline: the first ones with ratings, or the named ones."""
    if isinstance(told, int):
        if told < 1:
            raise DataError(f"the baseline must have at least 1 batch; got {told}.")
        rated = [k for k, b in enumerate(parts) if b.rated]
        last = rated[min(told, len(rated)) - 1]
        return list(range(last + 1))
    labels = [b.label for b in parts]
    names = list(as_names(told))
    for name in names:
        if name not in labels:
            from fewgold.errors import UnknownNameError

            raise UnknownNameError("batch of the baseline", name, labels)
    found = sorted(labels.index(name) for name in names)
    if not any(parts[k].rated for k in found):
        raise DataError("the baseline has no ratings. Name batches that have some.")
    return found


def _spending(count: int, looks: int | None, alpha: float) -> FloatArray:
    """The error rate of each batch, such that all together have at most ``alpha``."""
    j = np.arange(1, count + 1, dtype=np.float64)
    return np.asarray(alpha / (j * (j + 1))) if looks is None else np.full(count, alpha / looks)


class _Scores:
    """The score of each batch, in order: each uses only what was known before it was rated."""

    def __init__(
        self, batches: Batches, estimator: Estimator | None, higher: bool,
        limits: tuple[float, float] | None,
    ) -> None:  # fmt: skip
        self.batches, self.estimator, self.higher, self.limits = batches, estimator, higher, limits
        count = len(batches.parts)
        self.made: list[LinearEstimate | None] = [None] * count
        self.predicted: list[FloatArray | None] = [None] * count
        self.values, self.errors = np.full(count, np.nan), np.full(count, np.nan)
        self.unit = np.full(count, np.nan)  # variance of a rating, design included
        self.total = np.full(count, np.nan)  # variance of the scores themselves
        self.freedom = np.zeros(count)
        self.notes: list[str] = []
        self._fits: dict[tuple[int, ...], tuple[FloatArray, float] | None] = {}
        rated = [b.ratings for b in batches.parts if b.ratings is not None]
        self.metrics = list(rated[0].sample.pool.metrics) if rated else []
        self.can_bet = limits is not None and all(
            b.ratings is None or b.ratings.sample.design.drawn_as("simple") for b in batches.parts
        ) and batches.whole is None  # fmt: skip
        self.method = "mean" if estimator is None else estimator.name

    def add(self, k: int) -> None:
        batch = self.batches.parts[k]
        if not batch.rated:
            return
        made = self._estimated(k, batch)
        if not isinstance(made, LinearEstimate):
            raise DataError(
                f"{self.method} gives a posterior; a line over time needs a linear estimator such "
                "as ridge or mean."
            )
        self.made[k] = made
        self.values[k], self.errors[k] = float(made.value), float(made.se)
        chance = 1 / batch.rated - 1 / batch.size
        self.freedom[k] = max(float(made.df), 0.0)
        if chance > 0 and math.isfinite(self.errors[k]) and self.freedom[k] > 0:
            self.unit[k] = self.errors[k] ** 2 / chance
        scores, w = made.ratings.scores, made.design.weights / made.design.weights.sum()
        if scores.size > 1:
            spread = float(w @ np.square(scores - w @ scores))
            self.total[k] = spread / (1 - float(np.square(w).sum()))

    def _estimated(self, k: int, batch: Batch) -> Any:
        whole = self.batches.whole
        if whole is not None or batch.ratings is None:
            assert whole is not None
            inside = np.zeros(self.batches.size)
            inside[batch.rows] = 1.0
            own = self.estimator or (Ridge() if whole.sample.pool.metrics else Mean())
            self.method = own.name
            return weighted_mean(whole, own, inside, of=f"mean of {batch.label}")
        ratings = batch.ratings
        if self.estimator is not None:
            return self.estimator.estimate(ratings)
        predicted = self._predict(k) if self.metrics else None
        if predicted is None:
            first: Estimator = Ridge() if self.metrics else Mean()
            self.method = self.method if self.method == "earlier" else first.name
            return first.estimate(ratings)
        self.method = "earlier"
        self.predicted[k] = predicted
        rows = ratings.sample.indices
        return LinearEstimate(
            np.asarray(predicted.mean()), ratings.scores - predicted[rows], ratings, Auto(),
            "earlier", notes=(),
        )  # fmt: skip

    def _predict(self, k: int, train: Sequence[int] | None = None) -> FloatArray | None:
        """The scores of batch k that metrics predict, from ratings of other batches.

        All earlier batches, unless ``train`` names others.
        """
        own = self.batches.parts[k].ratings
        assert own is not None
        # Refitted after every batch at first, later when there are a tenth more ratings.
        upto = k - k % max(k // 10, 1)
        fit = self._fitted(tuple(range(upto) if train is None else train))
        if fit is None:
            return None
        slopes, start = fit
        found = start + slopes @ own.sample.pool.matrix(self.metrics)
        return np.asarray(found if self.limits is None else np.clip(found, *self.limits))

    def _fitted(self, train: tuple[int, ...]) -> tuple[FloatArray, float] | None:
        """Slopes and intercept of a ridge regression on the latest ratings of these batches.

        None if there are too few.
        """
        from sklearn.linear_model import RidgeCV

        if train in self._fits:
            return self._fits[train]
        rated = [r for j in train if (r := self.batches.parts[j].ratings) is not None]
        found = None
        if sum(r.n for r in rated) >= _FEWEST:
            latest: list[Ratings] = []
            for one in reversed(rated):
                latest.insert(0, one)
                if sum(r.n for r in latest) >= _LATEST:
                    break
            z = np.concatenate(
                [r.sample.pool.matrix(self.metrics)[:, r.sample.indices] for r in latest], 1
            ).T
            y = np.concatenate([r.scores for r in latest])
            centre, spread = z.mean(0), z.std(0)
            spread = np.where(spread > 0, spread, np.inf)
            model = RidgeCV(np.geomspace(0.1, 1e4, 11)).fit((z - centre) / spread, y)
            slopes = model.coef_ / spread
            found = slopes, float(model.intercept_ - slopes @ centre)
        self._fits[train] = found
        return found

    def expected_unit(self, k: int) -> float:
        """The expected variance of a rating in batch k, from the latest earlier batches."""
        before = np.flatnonzero(np.isfinite(self.unit[:k]))[-_WINDOW:]
        if not before.size:
            before = k + np.flatnonzero(np.isfinite(self.unit[k : k + 1]))
        guess = 0.0 if self.limits is None else PRIOR * (self.limits[1] - self.limits[0]) ** 2
        weight = 2.0 if guess else 0.0
        freedom = float(self.freedom[before].sum()) + weight
        if freedom == 0:
            return math.nan
        mean = float((self.unit[before] @ self.freedom[before] + weight * guess) / freedom)
        return mean * (1 + 2 / freedom)  # as a t distribution is wider than a normal one

    @property
    def unit_sd(self) -> float:
        """Expected standard deviation of a rating in the next batch, after correction by
        metrics."""
        value = self.expected_unit(self.unit.size)
        return math.sqrt(value) if value >= 0 else math.nan

    def interval(
        self, k: int, confidence: float, guaranteed: bool, one_of_many: bool = False
    ) -> tuple[float, float]:
        """The interval of one batch; ``one_of_many`` for one that must hold jointly with all
        others."""
        made, batch = self.made[k], self.batches.parts[k]
        if made is None:
            return math.nan, math.nan
        value = float(self.values[k])
        if batch.rated == batch.size:
            return value, value
        if guaranteed:
            return self._guaranteed(k, confidence)
        low, high = self._approximate(k, confidence, one_of_many)
        own = batch.ratings
        rated = [own]
        if one_of_many:
            rated = [self.batches.parts[j].ratings for j in self._window(k)]
        others = _others([r.scores for r in rated if r is not None])
        if others < (_HANDFUL if one_of_many else 1) or (own is None and self.errors[k] == 0):
            # Such ratings show almost nothing of the spread.
            first, last = self._careful(k, confidence, one_of_many)
            low, high = min(low, first), max(high, last)
        if self.limits is not None:
            low, high = max(low, self.limits[0]), min(high, self.limits[1])
        return min(low, value), max(high, value)

    def _window(self, k: int) -> IntArray:
        """The latest batches up to this one that have a variance; at first those that come next."""
        return np.flatnonzero(np.isfinite(self.unit[: max(k, _WINDOW) + 1]))[-_WINDOW - 1 :]

    def _approximate(self, k: int, confidence: float, one_of_many: bool) -> tuple[float, float]:
        """An interval from the variance and the skewness of the latest batches and this one.

        Forty ratings of skewed, mostly good scores may contain none of the bad ones. Then an
        interval from these alone is too narrow: it misses too often, and ten times too often if the
        intervals of 200 batches must hold together, each with an error rate of 1 in 4,000. The
        quantiles are those of Cornish and Fisher (1937), and at least Student's. The variance of
        the batch alone is used too, since a batch may vary more than earlier ones; far out in the
        tails, where few ratings would make Student's quantile huge, the mean of both quantiles is
        used.
        """
        batch = self.batches.parts[k]
        chance = max(1 / batch.rated - 1 / batch.size, 0.0)
        value = float(self.values[k])
        used = self._window(k)
        freedom = float(self.freedom[used].sum())
        if freedom < 1:
            return -math.inf, math.inf
        latest = float(self.unit[used] @ self.freedom[used] / freedom)
        own = float(self.unit[k]) if np.isfinite(self.unit[k]) else 0.0
        t = float(stdtrit(freedom, (1 + confidence) / 2))
        if one_of_many:
            unit = max(latest, (latest + own) / 2)
            half = t * math.sqrt(unit * chance)
        else:
            unit = max(latest, own)
            student = float(stdtrit(max(self.freedom[k], 1.0), (1 + confidence) / 2))
            half = max(t * math.sqrt(latest * chance), student * math.sqrt(own * chance))
        skew = self._skewness(used) / math.sqrt(batch.rated)
        more = skew * (t * t - 1) / 6 * math.sqrt(unit * chance)
        return value - half - max(more, 0.0), value + half + max(-more, 0.0)

    def _careful(self, k: int, confidence: float, one_of_many: bool) -> tuple[float, float]:
        """An interval from the ends of the scale, for a batch whose ratings are almost all
        equal."""
        made, own = self.made[k], self.batches.parts[k].ratings
        assert made is not None
        if own is None:
            return tuple(map(float, made.interval(confidence)))  # type: ignore[return-value]
        pass_or_fail = own.limits == (0.0, 1.0) and bool(np.isin(own.scores, (0.0, 1.0)).all())
        if one_of_many and self.can_bet and not pass_or_fail:
            return self._guaranteed(k, confidence)
        low, high = Mean().estimate(own).interval(confidence)
        return float(low), float(high)

    def _guaranteed(self, k: int, confidence: float) -> tuple[float, float]:
        """An interval by betting, extended to contain the plain mean."""
        batch = self.batches.parts[k]
        assert self.limits is not None and batch.ratings is not None
        ratings, left = batch.ratings, batch.size - batch.rated
        plain = Mean().estimate(ratings)
        x = to_unit(ratings.scores, self.limits)
        both = np.stack([x, 1.0 - x])
        rest = np.cumsum(both[:, ::-1], axis=-1)[:, ::-1]
        payoff, margin = both, None
        if (told := self._unit_control(k, worse=False)) is not None:
            control, least, most = told
            payoff = both - np.stack([control, -control])
            margin = np.maximum(np.stack([most, -least]), 0.0)
        totals = fixed_size_total(
            Bets(rest, payoff, margin, batch.size), tail_misses(confidence, 0.5)
        )
        zero = replace(plain, offset=np.asarray(0.0))
        ends = interval_of_totals(zero, self.limits, totals[:1], left - totals[1:])
        first, last = (float(np.clip(end, *self.limits)) for end in ends)
        return first, last

    def _skewness(self, used: IntArray) -> float:
        """Variance of the ratings after correction by metrics, around the mean of each batch."""
        left = [
            made.residuals - float(np.mean(made.residuals))
            for j in used if (made := self.made[j]) is not None
        ]  # fmt: skip
        e = np.concatenate(left) if left else np.zeros(1)
        spread = float(np.mean(np.square(e)))
        return float(np.mean(e**3)) / spread**1.5 if spread > 0 else 0.0

    def _unit_control(
        self, k: int, worse: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray] | None:
        """The prediction by metrics for each rating, on a scale from 0 to 1."""
        predicted, batch = self.predicted[k], self.batches.parts[k]
        if predicted is None or self.limits is None or batch.ratings is None:
            return None
        unit = to_unit(predicted, self.limits)
        if worse and self.higher:
            unit = 1.0 - unit
        return d.fixed_control(unit, batch.ratings.sample.indices)

    def evidence(
        self, k: int, reference: float, drop: float, base: float, betting: bool, system: bool
    ) -> float:
        """Logarithm of the e-value against batch k being no worse than the reference.

        With ``system`` the hypothesis is about the system behind the batch, otherwise about its
        segments.
        """
        batch, made = self.batches.parts[k], self.made[k]
        if made is None:
            return 0.0
        sign = 1.0 if self.higher else -1.0
        # A drop from the baseline is a smaller drop from its bound.
        size = max(drop - sign * (base - reference), drop / 3)
        if betting:
            assert batch.ratings is not None and self.limits is not None
            low, high = self.limits
            unit = to_unit(batch.ratings.scores, self.limits)
            mark = (reference - low) / (high - low)
            bad, mark = (1.0 - unit, 1.0 - mark) if self.higher else (unit, mark)
            spread = self.expected_unit(k) if self._known_before(k) else math.nan
            guess = None if math.isnan(spread) else spread / (high - low) ** 2
            return d.betting_e(
                bad, batch.size, mark, size / (high - low), self._unit_control(k, worse=True), guess
            )
        expected = self.expected_unit(k)
        if math.isnan(expected):
            return 0.0
        chance = max(1 / batch.rated - 1 / batch.size, 0.0)
        own = self.errors[k] ** 2 if math.isfinite(self.errors[k]) else expected * chance
        more = self.chance(k) if system else 0.0
        gap = sign * (reference - self.values[k])
        told = d.normal_e(
            np.asarray(gap), size, np.asarray(expected * chance + more), np.asarray(own + more)
        )
        return float(told)

    def _known_before(self, k: int) -> bool:
        return bool(np.isfinite(self.unit[:k]).any())

    def judged(self, base: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """The score of each batch by metrics alone, on the human scale, and people minus that.

        NaN without metrics, or with too few ratings in the baseline.
        """
        count = len(self.values)
        said = np.full(count, np.nan)
        for k, batch in enumerate(self.batches.parts):
            if batch.ratings is None or not self.metrics:
                continue
            found = self._predict(k, list(base))
            if found is not None:
                said[k] = float(found.mean())
        return said, self.values - said

    def reference_of(self, base: Sequence[int], system: bool = False) -> tuple[float, float, float]:
        """The mean of all segments of the baseline, its standard error and degrees of freedom.

        With ``system`` the error is that of the system's score.
        """
        used = [k for k in base if self.made[k] is not None]
        sizes = np.array([self.batches.parts[k].size for k in used], dtype=np.float64)
        w = sizes / sizes.sum()
        more = [self.chance(k) if system else 0.0 for k in used]
        variances = np.square(w) * (np.square(self.errors[used]) + more)
        total = float(variances.sum())
        if not math.isfinite(total):
            raise DataError(
                "a batch of the baseline has too few ratings to estimate its error. Rate at least "
                "2 segments of each, or use other batches for the baseline."
            )
        spent = float((np.square(variances) / np.maximum(self.freedom[used], 1e-9)).sum())
        df = total**2 / spent if spent > 0 else 1e9
        return float(w @ self.values[used]), math.sqrt(total), max(df, 1.0)

    def level(self, rows: Sequence[int]) -> tuple[float, float, float]:
        """The mean of batches, weighted by their expected variance, and its error."""
        used = [k for k in rows if np.isfinite(self.values[k])]
        w = 1 / np.maximum([self.expected(k) for k in used], 1e-300)
        w = np.where(np.isfinite(w), w, 0.0)
        if not w.sum() > 0:
            return math.nan, math.nan, math.nan
        value = float(w @ self.values[used] / w.sum())
        return value, value, float(1 / math.sqrt(w.sum()))

    def expected(self, k: int) -> float:
        """The variance of the score of batch k that earlier batches predict.

        For a system, of which the batch is a sample, it includes the variance S²/N of the batch's
        own mean.
        """
        batch = self.batches.parts[k]
        chance = self.chance(k)
        if batch.rated < batch.size:
            chance += self.expected_unit(k) * (1 / batch.rated - 1 / batch.size)
        return chance

    def chance(self, k: int) -> float:
        """The variance of the mean of all segments of batch k, as a sample of the system's
        outputs."""
        used = np.flatnonzero(np.isfinite(self.total[: k + 1]))[-_WINDOW - 1 :]
        if not used.size:
            return 0.0
        return float(self.total[used].mean()) / self.batches.parts[k].size

    def union(self, base: Sequence[int]) -> Ratings:
        """All ratings of the baseline as a stratified sample of its segments."""
        rated = [(k, r) for k in base if (r := self.batches.parts[k].ratings) is not None]
        sizes = np.array([self.batches.parts[k].size for k, _ in rated], dtype=np.int64)
        start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows: list[IntArray] = [
            r.sample.indices + s for (_, r), s in zip(rated, start, strict=True)
        ]
        strata = np.repeat(np.arange(len(rated)), [r.n for _, r in rated])
        pool = Pool(np.arange(int(sizes.sum())), {})
        sample = Sample(pool, np.concatenate(rows), Design.stratified(strata, sizes))
        return Ratings(sample, np.concatenate([r.scores for _, r in rated]), self.limits)


def _others(scores: Sequence[FloatArray]) -> float:
    """How many scores differ from the most common one; infinitely many if there are no scores."""
    if not scores:
        return math.inf
    _, counts = np.unique(np.concatenate(scores), return_counts=True)
    return float(counts.sum() - counts.max())


def _reference(
    line: _Scores,
    base: Sequence[int],
    target: float | None,
    alarms: d.FalseAlarms,
    guaranteed: bool,
) -> tuple[float, float, float]:
    """The score that batches are compared with, and the baseline's own value and error.

    The baseline is estimated from few ratings, and its error does not shrink over time. So
    batches are compared with the conservative end of its interval.
    """
    value, error, df = line.reference_of(base, system=not guaranteed)
    if target is not None:
        return float(target), float(target), 0.0
    level = 1 - 2 * alarms.baseline_rate
    if guaranteed:
        made = Mean(bound=StratifiedBetting()).estimate(line.union(base))
        low, high = (float(end) for end in made.interval(level))
        return (low if line.higher else high), float(made.value), float(made.se)
    half = float(stdtrit(df, (1 + level) / 2)) * error
    reference = value - half if line.higher else value + half
    if line.limits is not None:
        reference = float(np.clip(reference, *line.limits))
    return reference, value, error


def _running(line: _Scores, confidence: float) -> dict[str, Any]:
    """The mean of all batches so far, with a confidence sequence."""
    keep = np.flatnonzero(np.isfinite(line.values) & np.isfinite(line.errors))
    found = {name: np.full(line.values.size, np.nan) for name in
             ("running", "running_low", "running_high")}  # fmt: skip
    if keep.size:
        count = np.arange(1, keep.size + 1)
        mean = np.cumsum(line.values[keep]) / count
        # The first batches alone may underestimate the variance.
        variance = np.square(line.errors[keep])
        first = variance[:_WINDOW]
        variance[:_WINDOW] = np.maximum(first, np.cumsum(first) / count[:_WINDOW])
        half = d.running_mean_halfwidth(np.sqrt(variance), confidence)
        half = half + _skewed(line, keep, half, np.sqrt(np.cumsum(variance)) / count)
        found["running"][keep] = mean
        low, high = mean - half, mean + half
        if line.limits is not None:
            low, high = np.clip(low, *line.limits), np.clip(high, *line.limits)
        found["running_low"][keep], found["running_high"][keep] = low, high
    return found


def _skewed(line: _Scores, rows: IntArray, half: FloatArray, error: FloatArray) -> FloatArray:
    """Extra half-width of a running mean for skewness, by Cornish and Fisher (1937).

    It fades with the number of ratings; few ratings of skewed scores look too precise.
    """
    rated = np.cumsum([line.batches.parts[k].rated for k in rows])
    skew = np.array([line._skewness(rows[max(i - _WINDOW, 0) : i + 1]) for i in range(rows.size)])
    z = half / np.where(error > 0, error, 1.0)
    more = np.abs(skew) / np.sqrt(rated) * np.maximum(np.square(z) - 1, 0.0) / 6 * error
    return np.where(np.isfinite(more), more, 0.0)


def _before(
    line: _Scores, watched: Sequence[int], drop: float, alarms: d.FalseAlarms
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Evidence that scores fell, for the watched batches: (T,), parts and weights."""
    first = watched[0] - 1
    rows = [first, *watched]
    sign = 1.0 if line.higher else -1.0
    rated = [i for i, k in enumerate(rows) if np.isfinite(line.values[k])]
    rated = [i for i in rated if np.isfinite(line.expected(rows[i]))]
    if not rated or rated[0] != 0:
        raise DataError(
            "the first batch has too few ratings to compare others with it. Rate at least 2 of its "
            "segments, or leave it out."
        )
    places = [rows[i] for i in rated]
    values = sign * line.values[places]
    expected = np.array([line.expected(k) for k in places])
    own = np.square(line.errors[places]) + [line.chance(k) for k in places]
    own = np.where(np.isfinite(own), own, expected)
    weights = np.concatenate([[0.0], alarms.weights(len(watched))])
    relative = np.array([1 / line.batches.parts[k].rated for k in places])
    some, parts = d.log_evidence_before(values, expected, own, drop, weights[rated], relative)
    # A batch without a score changes nothing.
    at = np.searchsorted(rated, np.arange(1, len(rows)), side="right") - 1
    evidence = np.where(at > 0, some[at], -np.inf)
    whole = parts[:, at]
    beginnings = np.full((len(watched), len(watched)), -np.inf)
    for i, place in enumerate(rated):
        if place > 0:
            beginnings[place - 1] = whole[i]
    return evidence, beginnings, weights[1:]


def _growing_alarm(
    evidence: FloatArray, parts: FloatArray, weights: FloatArray, threshold: float,
    watched: Sequence[int], labels: Sequence[str],
) -> Alarm | None:  # fmt: skip
    over = np.flatnonzero(evidence >= threshold - 1e-12)
    if not over.size:
        return None
    at = int(over[0])
    with np.errstate(divide="ignore"):
        began = int(np.argmax(np.log(weights) + parts[:, at]))
    return Alarm(
        labels[watched[at]], at + 1, labels[watched[began]],
        tuple(labels[watched[int(k)]] for k in over),
    )  # fmt: skip


def _alarm(
    evidence: FloatArray, log_e: FloatArray, weights: FloatArray, threshold: float,
    watched: Sequence[int], labels: Sequence[str],
) -> Alarm | None:  # fmt: skip
    over = np.flatnonzero(evidence >= threshold - 1e-12)
    if not over.size:
        return None
    at = int(over[0])
    return Alarm(
        labels[watched[at]], at + 1, labels[watched[d.likely_start(log_e, weights, at)]],
        tuple(labels[watched[int(k)]] for k in over),
    )  # fmt: skip


def _judge_shift(
    line: _Scores, table: dict[str, Any], watched: Sequence[int], base: Sequence[int], drop: float,
    alarms: d.FalseAlarms, labels: Sequence[str],
) -> Alarm | None:  # fmt: skip
    """Whether people and metrics differ more than in the baseline, in either direction.

    Two approximate detectors with half the rate each, for a shift as large as the drop.
    """
    difference = table["difference"]
    known = [k for k in watched if np.isfinite(difference[k])]
    if not known or _no_difference(difference, base):
        return None
    _, error, df = line.reference_of(base)
    used = [k for k in base if np.isfinite(difference[k])]
    sizes = np.array([line.batches.parts[k].size for k in used], dtype=np.float64)
    centre = float(sizes @ difference[used] / sizes.sum())
    half = replace(alarms, rate=alarms.rate / 2)
    if alarms.average_run is not None:
        half = replace(half, average_run=2 * alarms.average_run)
    slack = float(stdtrit(df, 1 - half.baseline_rate)) * error
    weights = half.weights(len(known))
    first: Alarm | None = None
    for sign in (1.0, -1.0):
        log_e = []
        for k in known:
            expected, batch = line.expected_unit(k), line.batches.parts[k]
            # On other segments both people and metrics would differ, so no finite correction
            # applies.
            chance = 1 / batch.rated
            own = line.errors[k] ** 2 + expected / batch.size
            own = own if math.isfinite(own) else expected * chance
            gap = sign * (difference[k] - centre) - slack
            size = max(drop - slack, drop / 3)
            log_e.append(float(d.normal_e(np.asarray(gap), size, np.asarray(expected * chance),
                                          np.asarray(own))))  # fmt: skip
        found = np.array(log_e)
        made = _alarm(
            d.log_evidence(found, weights), found, weights, half.log_threshold(True), known, labels
        )
        if made is not None and (first is None or made.look < first.look):
            first = made
    return first


def _no_difference(difference: FloatArray, base: Sequence[int]) -> bool:
    """Whether no batch of the baseline has both ratings and metrics."""
    return not np.isfinite(difference[list(base)]).any()
