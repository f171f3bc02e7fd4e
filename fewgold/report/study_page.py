"""The report of one study, built from the ratings and written as HTML or Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold._version import __version__
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.text import plain_frame, plain_value
from fewgold.errors import DataError
from fewgold.estimator import Estimator
from fewgold.report.methods import methods, references
from fewgold.report.sections import markdown, page, write
from fewgold.report.study import StudyNumbers, checked_answers
from fewgold.report.study_beside import (
    criteria_sections,
    preference_record,
    preference_sections,
    slice_sections,
    weighted_sections,
)
from fewgold.report.study_sections import commands, notes, sections, top
from fewgold.sample import Ratings

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes.pairwise import Preferences
    from fewgold.comparison import PairRanking
    from fewgold.criteria import CriteriaEstimate
    from fewgold.quantities import DomainEstimate
    from fewgold.slices import Slices


@dataclass(frozen=True, eq=False)
class StudyReport:
    """The report of a study. The same study gives exactly the same file.

    Parameters
    ----------
    study
        All numbers of the report.
    title
    Title of the page.
    slices, criteria
    Scores of slices and of several criteria, to be shown as well.
    weighted
        The score with other weights, such as another traffic mix, to be shown as well.
    preferences
        Which system people prefer, if they compared outputs side by side.
    """

    study: StudyNumbers
    title: str
    slices: Slices | None = None
    criteria: CriteriaEstimate | None = None
    weighted: DomainEstimate | None = None
    preferences: Preferences | PairRanking | None = None

    def html(self) -> str:
        """The report as one self-contained HTML page."""
        return page(self.title, **self._parts(drawn=True))

    def markdown(self) -> str:
        """The same as Markdown, without the figures."""
        return markdown(self.title, **self._parts(drawn=False))

    def _parts(self, *, drawn: bool) -> dict[str, Any]:
        signature = self.study.record["signature"]
        level = self.study.confidence
        beside = [] if self.weighted is None else weighted_sections(self.weighted, level)
        beside += [] if self.criteria is None else criteria_sections(self.criteria, level)
        if self.preferences is not None:
            beside += preference_sections(self.preferences, level)
        if self.slices is not None:
            beside += slice_sections(self.slices, level, drawn)
        return {
            "sections": [*beside, *sections(self.study, drawn=drawn)],
            "footer": [f"Made with fewgold {__version__}.", f"`{signature}`"],
            "top": top(self.study),
        }

    def write(self, path: str | Path) -> Path:
        """Write ``.html`` or ``.md``, depending on the path; leaves no partial file."""
        suffix = Path(path).suffix.lower()
        if suffix in (".html", ".htm"):
            return write(path, self.html())
        if suffix in (".md", ".markdown"):
            return write(path, self.markdown())
        raise DataError(f"a report must end in .html or .md; got {str(path)!r}.")

    def to_dict(self) -> dict[str, Any]:
        """All numbers of the report, for JSON."""
        study = self.study
        return {
            "schema": "fewgold.report/1",
            "title": self.title,
            "what": study.what,
            "strategy": study.strategy,
            "estimate": plain_value(study.record),
            "criteria": None
            if self.criteria is None
            else self.criteria.to_dict(study.confidence)["criteria"],
            "slices": None if self.slices is None else self.slices.to_dict(study.confidence),
            "weighted": None
            if self.weighted is None
            else plain_value(self.weighted.to_dict(study.confidence)),
            "preferences": None
            if self.preferences is None
            else preference_record(self.preferences, study.confidence),
            "notes": notes(study),
            "saved": plain_value(study.saved.to_dict()),
            "tolerance": plain_value(study.context.get("tolerance")),
            "ratings_needed": plain_value(study.needed),
            "seeds": study.seeds,
            "waves": plain_value([dict(wave) for wave in study.waves]),
            "documents": study.documents,
            "weights": plain_value(study.weights),
            "correlations": plain_frame(study.correlations),
            "sample_and_pool": plain_frame(study.likeness),
            "strata": plain_frame(study.strata),
            "pulls": plain_frame(study.pulls),
            "estimators": plain_frame(study.alternatives),
            "answers": study.counts,
            "raters": plain_frame(study.raters),
            "agreement": None if study.agreement is None else study.agreement.to_dict(),
            "any_raters": plain_value(study.any_raters),
            "unrated": list(study.unrated),
            "methods": methods(study),
            "references": references(study),
            "commands": commands(study).splitlines(),
            "version": __version__,
        }


def study_report(
    ratings: Ratings,
    estimator: Estimator,
    *,
    strategy: str,
    title: str = "Human score of the whole test set",
    confidence: float = 0.95,
    answers: pd.DataFrame | None = None,
    waves: Sequence[Mapping[str, Any]] | None = None,
    unrated: Iterable[Any] | None = None,
    strays: int = 0,
    context: Mapping[str, Any] | None = None,
    target: str = "pool",
) -> StudyReport:
    """The report of one study.

    Parameters
    ----------
    ratings
        The ratings of one sample, not of a batch.
    estimator
        The estimator, with its bound.
    strategy
        Name of the strategy that the segments were drawn with.
    title
    Title of the page.
    confidence
        Confidence level of all intervals.
    answers
        One row per answer: ``segment``, ``rater``, ``score`` and ``time``; several raters and
        repeats are fine. Without it the report has nothing about raters.
    waves
        For each draw a mapping with ``number``, ``n``, ``seed``, ``strategy`` and ``date``, as
        far as known; ``value``, ``low`` and ``high`` after each wave appear in the figure of the
        estimate over time.
    unrated
        Ids of sampled segments that have no rating.
    strays
        Number of answers set aside because their segments were never sampled.
    context
        ``tolerance`` (target half-width), ``score`` (what people gave, such as ``MQM score``),
        ``system``, ``gaps`` (how missing ratings were treated), ``worst_case`` (ends of the
        interval whatever the missing scores are), ``pool_file``, ``commands`` (to reproduce it);
        everything else is shown in the overview unchanged.
    target
        ``"pool"``: the score of these segments. ``"process"``: of a new test set like this one.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> from fewgold.registry import strategy
    >>> pool, gold = load_demo("zhen")
    >>> chosen = strategy("docs-balanced+ridge", pool)
    >>> sample = chosen.select(pool, 100, rng=1)
    >>> ratings = sample.rate(gold[sample.indices])
    >>> made = study_report(ratings, chosen, strategy="docs-balanced+ridge")
    >>> made.markdown().startswith("# Human score of the whole test set")
    True
    """
    if ratings.scores.ndim != 1:
        raise DataError("a batch of draws has no single report. Use one draw: ratings.draw(k).")
    if strays < 0:
        raise DataError(f"strays must be a number of answers, 0 or more; got {strays}.")
    listed = list(waves or ())
    for wave in listed:
        if not isinstance(wave, Mapping):
            raise DataError(
                "each wave must be a mapping such as {'number': 1, 'n': 50, 'seed': 7}; got "
                f"{type(wave).__name__}."
            )
    study = StudyNumbers(
        ratings=ratings,
        estimator=estimator,
        strategy=strategy,
        confidence=check_confidence(confidence),
        answers=checked_answers(answers),
        waves=listed,
        unrated=[str(segment) for segment in unrated or ()],
        strays=int(strays),
        context=dict(context or {}),
        target=check_choice("target", target, ("pool", "process")),
    )
    return StudyReport(study, title)
