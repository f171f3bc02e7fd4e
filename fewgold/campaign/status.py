"""The state of a campaign at one moment."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.bounds import sequence
from fewgold.campaign.answers import rated_differently, raters_of
from fewgold.campaign.study import waves_to_use
from fewgold.common.text import counted, decimals, plain_frame, verb
from fewgold.errors import FewgoldError
from fewgold.missing import PartialRatings, estimate

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign.settings import Settings
    from fewgold.campaign.study import Campaign


@dataclass(frozen=True)
class Status:
    """The state of a campaign at one moment.

    Parameters
    ----------
    name, strategy, confidence
        As in the settings.
    pool_size, sampled, rated
        Number of segments in the pool, in the sample, and in the sample with an answer.
    unrated
        Ids of sampled segments without an answer, in the order of drawing.
    waves
        Every draw.
    answers, raters, each, incomplete
        Number of answers that count, how many each rater gave, how many raters a segment should
        have, and how many sampled segments have fewer.
    changed
        Number of segments that somebody rated twice with different scores.
    set_aside, adoptable, rejected
        Number of answers that do not count, by reason; how many of these are about segments that
        have since been sampled; and number of rows that could not be read.
    estimate
        The estimate so far in plain values, or None.
    goal
        The tolerance, the half-width so far, and roughly how many ratings the goal takes; or None.
    stop
        What the stopping rule says, for plain random samples with a tolerance; or None.
    notes
        Sentences about what is unusual or missing, and what to do.
    criteria
        With several criteria: how many segments are rated on each, and the estimates so far.
    systems
        With several systems: the progress of each, and its estimate so far. The counts above are
        then numbers of outputs, and ``pool_size`` is the number of segments.
    comparison
        The comparison of the systems so far: ranking, differences, and how many more segments would
        separate those that cannot be told apart yet; or None.
    """

    name: str
    strategy: str
    confidence: float
    pool_size: int
    sampled: int
    rated: int
    unrated: tuple[str, ...]
    waves: tuple[dict[str, Any], ...]
    answers: int
    raters: dict[str, int]
    each: int
    incomplete: int
    changed: int
    set_aside: dict[str, int]
    adoptable: int
    rejected: int
    estimate: dict[str, Any] | None
    goal: dict[str, Any] | None
    stop: dict[str, Any] | None
    notes: tuple[str, ...]
    criteria: tuple[dict[str, Any], ...] = ()
    systems: tuple[dict[str, Any], ...] = ()
    comparison: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        found = asdict(self)
        return found if self.systems else {k: v for k, v in found.items() if k not in _SEVERAL}


_SEVERAL = ("systems", "comparison")


def status(campaign: Campaign) -> Status:
    """The progress of a campaign, the estimate so far, and what is missing."""
    settings, store = campaign.settings, campaign.store
    waves, answers = campaign.waves, campaign.answers()
    raters = raters_of(answers, settings)
    enough = raters.index[raters >= settings.each + raters.index.isin(store.for_two())]
    sampled = sum(wave.n for wave in waves)
    unrated = campaign.unrated if waves else ()
    notes: list[str] = []
    made = goal = stop = compared = None
    criteria: tuple[dict[str, Any], ...] = ()
    each: tuple[dict[str, Any], ...] = ()
    if campaign.systems:
        each = tuple(_of_system(campaign, name) for name in campaign.systems)
        if sampled > len(unrated):
            try:
                compared = comparison(campaign)
            except FewgoldError as error:
                notes.append(f"no comparison yet: {error.message}")
    elif sampled > len(unrated):
        partial = campaign._partial(waves_to_use(campaign))
        try:
            found = estimate(partial, campaign._estimator(), "at-random")
            made = found.to_dict(settings.confidence) | {"gaps": int(partial.missing.size)}
            goal = _goal(campaign, made, partial.rated)
        except FewgoldError as error:
            notes.append(f"no estimate yet: {error.message}")
        if settings.criteria:
            criteria = _criteria(campaign)
        stop = _stopping_rule(settings, partial, set(enough))
    told = Status(
        name=settings.name, strategy=settings.strategy, confidence=settings.confidence,
        pool_size=len(store.frame), sampled=sampled, rated=sampled - len(unrated),
        unrated=unrated, waves=tuple(wave.to_dict() for wave in waves), answers=len(answers),
        raters=_counts(answers, "rater"), each=settings.each,
        incomplete=sampled - len(enough), changed=rated_differently(answers),
        set_aside=_counts(store.set_aside(), "why"), adoptable=store.adoptable(),
        rejected=len(store.rejected()), estimate=made, goal=goal, stop=stop, notes=(),
        criteria=criteria,
        systems=each, comparison=compared,
    )  # fmt: skip
    return replace(told, notes=(*notes, *_remarks(told, settings.repeats)))


def _criteria(campaign: Campaign) -> tuple[dict[str, Any], ...]:
    """The progress of each criterion."""
    rows = []
    waves, level = waves_to_use(campaign), campaign.settings.confidence
    for criterion in campaign.settings.criteria:
        row: dict[str, Any] = {
            "criterion": criterion.name,
            "rated": int(np.isfinite(campaign.scores(criterion=criterion.name)).sum()),
        }
        with suppress(FewgoldError):  # no answers yet
            found = campaign.estimate("at-random", waves=waves, criterion=criterion.name)
            told = found.to_dict(level)
            row |= {name: told[name] for name in ("value", "se", "low", "high")}
        rows.append(row)
    return tuple(rows)


def _of_system(campaign: Campaign, name: str) -> dict[str, Any]:
    """The progress of one of several systems."""
    part = campaign.of(name)
    found: dict[str, Any] = {"system": name, "sampled": 0, "rated": 0, "estimate": None}
    found["pool_size"] = len(part.pool)
    if not campaign.waves:
        return found | {"goal": None}
    sampled, unrated = part.store.drawn().size, part.unrated
    found |= {"sampled": int(sampled), "rated": int(sampled) - len(unrated), "goal": None}
    if found["rated"]:
        partial = part._partial(waves_to_use(part))
        try:
            made = estimate(partial, part._estimator(), "at-random")
            level = campaign.settings.confidence
            found["estimate"] = made.to_dict(level) | {"gaps": int(partial.missing.size)}
            found["goal"] = _goal(part, found["estimate"], partial.rated)
        except FewgoldError:  # too few answers for this system
            pass
    return found


def comparison(campaign: Campaign) -> dict[str, Any]:
    """The comparison of the systems so far, in plain values."""
    result = campaign.compare("at-random")
    told = result.to_dict()
    kept = ("n", "pool_size", "level", "ranking", "differences", "notes", "signature")
    return {k: told[k] for k in kept} | {"needed": plain_frame(result.needed())}


def _counts(frame: pd.DataFrame, column: str) -> dict[str, int]:
    return {str(k): int(v) for k, v in frame[column].value_counts(sort=False).items()}


def _goal(campaign: Campaign, made: dict[str, Any], rated: int) -> dict[str, Any] | None:
    """How far the interval is from the tolerance, and how many ratings it takes to get there.

    The width is taken as proportional to √(1/n − 1/N). This assumes that the metrics explain
    further scores as well as those so far.
    """
    tolerance, size = campaign.settings.tolerance, len(campaign.pool)
    if tolerance is None or made["low"] is None or made["high"] is None:
        return None
    half = (made["high"] - made["low"]) / 2
    needed = more = None
    if half <= tolerance:
        needed, more = rated, 0
    elif rated < size and made["se"]:
        n, ratio = rated, half / tolerance
        needed = min(math.ceil(1 / ((1 / n - 1 / size) / ratio**2 + 1 / size) - 1e-9), size)
        more = max(needed - campaign.sample.n, 0)
    return {"tolerance": tolerance, "half_width": half, "needed": needed, "more": more}


def _stopping_rule(
    settings: Settings, partial: PartialRatings, enough: set[str]
) -> dict[str, Any] | None:
    """What the stopping rule says, using the answers in the order of drawing up to the first gap.

    A segment that still needs a rater is a gap, since its score may change.
    """
    sample = partial.sample
    if settings.tolerance is None or settings.limits is None:
        return None
    if not sample.design.drawn_as("simple"):
        return None
    gaps = np.flatnonzero([str(i) not in enough for i in sample.ids.tolist()])
    upto = int(gaps[0]) if gaps.size else sample.n
    if not upto:
        return None
    ratings = sequence.first(sample, upto).rate(partial.scores[:upto], limits=settings.limits)
    path = sequence.path(ratings, settings.tolerance, settings.confidence, rule=settings.rule)
    at = (path.stopped or upto) - 1 if settings.rule == "hall" else upto - 1
    rule = sequence.RULES[settings.rule]
    return {
        "rule": settings.rule, "kind": rule.kind, "promise": rule.promise,
        "fired": bool(path.stopped > 0), "after": int(path.stopped) or None, "looked_at": upto,
        "low": float(path.low[at]), "high": float(path.high[at]),
        "half_width": float(path.half_width[at]), "signature": path.signature(),
    }  # fmt: skip


def _remarks(found: Status, rule: str) -> list[str]:
    """Sentences about what is unusual or missing."""
    said = []
    if found.estimate is not None and found.estimate["gaps"]:
        said.append(
            f"{counted(found.estimate['gaps'], 'sampled segment')} without an answer. The estimate "
            "so far assumes that answers are missing at random; it is biased if raters leave hard "
            "segments for last."
        )
    elif found.systems and found.comparison is not None and found.unrated:
        said.append(
            f"{counted(len(found.unrated), 'chosen output')} without an answer. The comparison so "
            "far assumes that answers are missing at random; it is biased if raters leave hard "
            "outputs for last."
        )
    elif found.estimate is not None and found.unrated:
        said.append(
            f"{counted(len(found.unrated), 'segment')} of the last waves without an answer. Until "
            "more are rated, the estimate uses only the waves before, which is more precise."
        )
    if found.changed:
        counts = "mean of the answers" if rule == "mean" else f"{rule} answer"
        said.append(
            f"{counted(found.changed, 'segment')} rated twice by the same rater with different "
            f"scores: the {counts} counts."
        )
    if found.raters.get("") and (found.changed or found.each > 1 or len(found.raters) > 1):
        said.append(
            f"{counted(found.raters[''], 'answer')} without the name of a rater, counted as one "
            "person's. Name the rater when you import: fewgold import CAMPAIGN FILE --by NAME."
        )
    if found.set_aside:
        reasons = "; ".join(f"{count}: {why}" for why, count in found.set_aside.items())
        said.append(f"answers that are set aside and do not count: {reasons}.")
    if found.adoptable:
        said.append(
            f"{found.adoptable} of them {verb(found.adoptable, 'are')} about segments that have "
            "since been sampled. To let them count: fewgold import CAMPAIGN --adopt."
        )
    if found.rejected:
        said.append(f"{counted(found.rejected, 'unreadable row')} in imported files, kept as is.")
    fired = found.stop is not None and found.stop["fired"]
    reached = found.goal is not None and found.goal["half_width"] <= found.goal["tolerance"]
    if reached and not fired:
        said.append(
            "the interval is as narrow as wanted. It is valid for one look at the end; if you "
            "stop the moment it looks narrow, it misses the true score more often than it should."
        )
    return said


# The goal and the stopping rule in words, the same everywhere


def goal_line(goal: dict[str, Any]) -> str:
    """The tolerance, the half-width so far and the ratings still needed; from `Status.goal`.

    >>> goal_line({"tolerance": 2.0, "half_width": 2.51, "needed": 80, "more": 20})
    '± 2 wanted, ± 2.51 so far; about 80 ratings in all, 20 more than drawn'
    """
    digits = decimals(goal["half_width"])
    told = f"± {goal['tolerance']:g} wanted, ± {goal['half_width']:.{digits}f} so far"
    if goal["half_width"] <= goal["tolerance"]:
        return f"{told}: reached"
    if goal["more"]:
        return f"{told}; about {goal['needed']} ratings in all, {goal['more']} more than drawn"
    if goal["needed"]:
        return f"{told}; about {goal['needed']} ratings, which are drawn already"
    return told


def stop_line(stop: dict[str, Any]) -> str:
    """Whether to stop, and the interval that says so; from `Status.stop`."""
    digits = decimals(stop["half_width"])
    fired = f"stop: {stop['after']} ratings are enough" if stop["fired"] else "go on"
    return (
        f"{fired} ({stop['rule']}, {stop['kind']}: {stop['low']:.{digits}f} to "
        f"{stop['high']:.{digits}f} from the first {stop['looked_at']})"
    )
