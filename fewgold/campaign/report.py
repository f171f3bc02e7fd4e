"""The report of a campaign."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from fewgold._validate import check_choice
from fewgold.campaign.database import FILE
from fewgold.errors import FewgoldError
from fewgold.estimator import Estimator
from fewgold.missing import ratings_for
from fewgold.report import StudyReport, study_report

if TYPE_CHECKING:
    from fewgold.campaign.study import Campaign


def report(
    campaign: Campaign,
    gaps: str,
    *,
    estimator: Estimator | str | None = None,
    cut: str | None = None,
    confidence: float | None = None,
    title: str | None = None,
) -> StudyReport:
    """All that is known of the campaign, ready to be shown."""
    check_choice("gaps", gaps, ("wait", "at-random"))
    settings, chosen = campaign.settings, campaign.estimator(estimator)
    level = confidence or settings.confidence
    partial = campaign.partial(campaign.begun if gaps == "at-random" else None)
    partial = partial if cut is None else partial.cut(cut)
    told: dict[str, Any] = {"commands": _commands(campaign, gaps, cut, estimator, confidence)}
    if settings.tolerance is not None and cut is None:
        told["tolerance"] = settings.tolerance
    if settings.system is not None:
        told["system"] = settings.system
    if gaps == "at-random" and partial.missing.size:
        told["gaps"] = "taken as missing at random"
        if partial.limits is not None:
            low, high = partial.bounds(chosen).interval(level)
            told["worst_case"] = (float(low), float(high))
    return study_report(
        ratings_for(partial, chosen, gaps),
        chosen,
        strategy=settings.strategy,
        title=title or settings.name,
        confidence=level,
        answers=campaign.answers(),
        waves=_waves(campaign, chosen, cut, level),
        unrated=partial.missing.tolist(),
        strays=len(campaign.set_aside()),
        context=told,
    )


def _waves(
    campaign: Campaign, estimator: Estimator, cut: str | None, level: float
) -> list[dict[str, Any]]:
    """Every wave, with the estimate after it where its answers and those before are complete."""
    found = []
    for wave in campaign.waves:
        row: dict[str, Any] = {
            "number": wave.number, "n": wave.n, "seed": wave.seed, "strategy": wave.strategy,
            "date": wave.drawn_at[:10],
        }  # fmt: skip
        try:
            made = campaign.estimate(estimator=estimator, cut=cut, waves=wave.number)
            record = made.to_dict(level)
            row |= {name: record[name] for name in ("value", "low", "high")}
        except FewgoldError:  # answers are wanting, or the strategy learns
            pass
        found.append(row)
    return found


def _commands(
    campaign: Campaign, gaps: str, cut: str | None, estimator: Estimator | str | None,
    confidence: float | None,
) -> list[str]:  # fmt: skip
    place = campaign.path.parent if campaign.path.name == FILE else campaign.path
    named = estimator.name if isinstance(estimator, Estimator) else estimator
    options = {
        "--gaps": None if gaps == "wait" else gaps, "--adequate": cut, "--estimator": named,
        "--confidence": None if confidence is None else repr(confidence),
    }  # fmt: skip
    words = [word for name, value in options.items() if value is not None for word in (name, value)]
    return [shlex.join(["fewgold", "estimate", place.as_posix(), *words])]
