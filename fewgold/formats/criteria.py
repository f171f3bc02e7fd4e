"""Answers to several criteria: read one criterion at a time, and joined answer by answer.

Every reader accepts the name of the column or question with the score. So the same file is read
once for each criterion, and a rater's answers on a segment become one `Rating`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats.base import Criterion, Format, Names, Rating, Reading, Rejected
from fewgold.formats.json import identifier


def read_criteria(
    format: Format, path: str | Path, names: Names, criteria: Sequence[Criterion]
) -> Reading:
    """The answers in a file, with the score of each criterion that the file has.

    Parameters
    ----------
    names
        ``names.score`` lists the columns or questions of the criteria, in their order, if their
        names differ from those of the criteria.
    """
    if format.name == "mqm":
        return _by_category(format.read(path, replace(names, score=None)), criteria)
    called = {c.name: _called(c.name) for c in criteria}
    if names.score is not None:
        told = [part.strip() for part in names.score.split(",")]
        if len(told) != len(criteria):
            raise DataError(
                f"{names.score!r} names {len(told)} columns, but there are {len(criteria)} "
                f"criteria: {', '.join(called)}. Name one column for each, in this order."
            )
        called = {c.name: (column,) for c, column in zip(criteria, told, strict=True)}
    found: dict[str, Reading] = {}
    errors: list[FewgoldError] = []
    for criterion, options in called.items():
        for column in options:
            try:
                found[criterion] = format.read(path, replace(names, score=column))
                break
            except (DataError, UnknownNameError) as error:
                errors.append(error)
    if not found:
        raise errors[0]
    absent = [c.name for c in criteria if c.name not in found]
    if absent and names.score is not None:
        raise errors[0]
    notes = (f"the file has no scores of {', '.join(absent)}.",) if absent else ()
    return _joined(found, notes)


def _called(name: str) -> tuple[str, ...]:
    """Possible names of a criterion in files: tools want plain letters."""
    return tuple(dict.fromkeys((name, identifier(name, ()), identifier(name, (), lower=True))))


def _joined(found: Mapping[str, Reading], notes: tuple[str, ...]) -> Reading:
    """Join the readings of all criteria into one, with every row accounted for."""
    first = next(iter(found.values()))
    answers: dict[tuple[Any, ...], Rating] = {}
    for name, reading in found.items():
        seen: Counter[tuple[str, ...]] = Counter()
        for r in reading.ratings:
            one = (r.segment, r.rater, r.time, r.system, r.answer)
            seen[one] += 1
            known = answers.setdefault((*one, seen[one]), replace(r, scores={}))
            answers[*one, seen[one]] = replace(known, scores={**known.scores, name: r.score})
    ratings = tuple(_told(r, found) for r in answers.values())
    rejected: dict[str, Rejected] = {}
    for name, reading in found.items():
        for row in reading.rejected:
            why = row.why if len(found) == 1 else f"{name}: {row.why}"
            before = rejected.get(row.place)
            if before is None:
                rejected[row.place] = replace(row, why=why)
            elif row.why not in before.why:
                rejected[row.place] = replace(before, why=f"{before.why} {why}")
    rated = {r.segment for r in ratings}
    blank = [segment for segment in first.blank if segment not in rated]
    context = min(reading.context for reading in found.values())
    room = first.rows - len(rejected) - context
    blank = blank[: max(room, 0)]
    said = dict.fromkeys(note for reading in found.values() for note in reading.notes)
    return Reading(
        first.format, first.rows, room - len(blank), ratings, tuple(blank), context,
        tuple(rejected.values()), (*notes, *said),
    )  # fmt: skip


def _told(rating: Rating, criteria: Mapping[str, Any]) -> Rating:
    """The rating with the score of the first answered criterion; other answers are not repeated."""
    scores = {name: rating.scores[name] for name in criteria if name in rating.scores}
    details = dict(rating.details)
    if isinstance(others := details.get("answers"), dict):
        known = {option for name in criteria for option in _called(name)}
        left = {name: value for name, value in others.items() if name not in known}
        details.pop("answers")
        details |= {"answers": left} if left else {}
    return replace(rating, score=next(iter(scores.values())), scores=scores, details=details)


def _by_category(reading: Reading, criteria: Sequence[Criterion]) -> Reading:
    """MQM: the errors of each category, weighted as in the whole score; 0 where there is none."""
    from fewgold.formats.mqm import MqmWeights

    weights = MqmWeights()
    known = {
        str(error.get("category", "")).partition("/")[0].strip().lower()
        for rating in reading.ratings
        for error in rating.details.get("errors", ())
    }
    unknown = [c.name for c in criteria if c.name.lower() not in known]
    if len(unknown) == len(criteria):
        raise DataError(
            f"the file has no errors in the categories {', '.join(unknown)}. It has: "
            f"{', '.join(sorted(known - {''})) or 'none'}."
        )
    made = []
    for rating in reading.ratings:
        errors = [
            (str(e.get("category", "")), str(e.get("severity", "")))
            for e in rating.details.get("errors", ())
        ]
        # An output that is not a translation at all is bad on every criterion.
        whole = any(kind.lower().startswith("non-translation") for kind, _ in errors)
        scores = {
            c.name: rating.score if whole else weights.score(
                e for e in errors if e[0].partition("/")[0].strip().lower() == c.name.lower()
            )
            for c in criteria
        }  # fmt: skip
        made.append(replace(rating, score=next(iter(scores.values())), scores=scores))
    notes = (
        "scores are the weighted errors of each category.",
        *((f"no error is in the category {', '.join(unknown)}.",) if unknown else ()),
    )
    return replace(reading, ratings=tuple(made), notes=(*reading.notes, *notes))
