"""The flat exports of Label Studio, JSON_MIN and CSV: one record per annotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._export import as_number
from fewgold.formats._format import Names
from fewgold.formats._json import (
    EXTRA,
    KEY,
    Rows,
    choose,
    has_score,
    key_field,
    mostly_scores,
    plain,
    score_of,
    text_of,
    with_extra,
)
from fewgold.formats._label_studio_config import RESERVED
from fewgold.formats._layout import AFTER, BEFORE, CARRIED
from fewgold.formats._model import Rating, Reading

_SYSTEM = {*RESERVED, *CARRIED, BEFORE, AFTER, EXTRA}
_VALUES = ("rating", "number", "choices", "text")


def value_of(value: Any) -> Any:
    """The answer within what Label Studio wraps around it."""
    if isinstance(value, dict):
        return next((value[name] for name in _VALUES if name in value), value)
    return value


def answer_of(value: Any) -> Any:
    """The answer in a field of a flat export, such as ``[{"rating": 4}]``."""
    if isinstance(value, list):
        return [value_of(inner) for inner in value]
    return value_of(value)


def read_flat(
    format: str, records: Sequence[tuple[str, Any]], names: Names, rejected: Rows | None = None
) -> Reading:
    """Records with their places; a row is a record."""
    rows = Rows(format) if rejected is None else rejected
    objects = [r for _, r in records if isinstance(r, dict)]
    # The field `id` is Label Studio's own number of the task: it names no segment.
    field = key_field(({n: v for n, v in r.items() if n != "id"} for r in objects), Names())
    field = key_field(objects, names) if names.id is not None else field
    question = _question(objects, names, field)
    if question is not None and names.score is None:
        rows.note(f"the score is the answer to {question!r}.")
    if field is not None and field != KEY:
        rows.note(f"the field {field!r} names the segments.")
    for place, record in records:
        _row(rows, place, record, field, question, names)
    return rows.reading(names)


def _row(
    rows: Rows, place: str, record: Any, field: str | None, question: str | None, names: Names
) -> None:
    if not isinstance(record, dict):
        return rows.reject(place, "expected an object {…}.", record)
    segment = text_of(record, field).strip() if field else ""
    if not segment:
        why = f"no {KEY!r} tells which segment it is about. Name another field with --id."
        return rows.reject(place, why, record)
    try:
        score = score_of(answer_of(record.get(question))) if question else None
    except DataError as error:
        return rows.reject(place, f"the answer to {question!r}: {error}", record)
    if score is None:
        return rows.unanswered(segment)
    lead = record.get("lead_time")
    lead = as_number(lead) if isinstance(lead, str) else lead
    rating = Rating(
        segment=segment,
        score=score,
        rater=text_of(record, names.rater or "annotator"),
        time=text_of(record, "updated_at", "created_at"),
        answer=text_of(record, "annotation_id"),
        details={} if lead is None or lead == "" else {"lead_time": plain(lead)},
    )
    return rows.rating(with_extra(rating, record))


def _question(objects: Sequence[Mapping[str, Any]], names: Names, field: str | None) -> str | None:
    """The field with the score.

    Answers and data lie side by side in these exports. Answers in Label Studio's wrapping are
    told at sight; a choice is bare text, so any other field with mostly numbers may be it.
    """
    found: dict[str, list[Any]] = {}
    for record in objects:
        for name, value in record.items():
            if name not in _SYSTEM and name != field and value not in (None, "", []):
                found.setdefault(name, []).append(value)
    if names.score is not None:
        fields = [str(name) for record in objects for name in record]
        return choose("question", fields, (), names.score)
    wrapped = [n for n, values in found.items() if any(map(_is_wrapped, values))]
    if wrapped:
        likely = [n for n in wrapped if any(has_score(answer_of(v)) for v in found[n])]
        return choose("question", wrapped, likely, None)
    if not any(text_of(record, "annotation_id", "annotator") for record in objects):
        return None
    bare = [n for n, values in found.items() if mostly_scores(values)]
    if not bare:
        raise DataError(
            f"no field holds numbers: {', '.join(map(repr, found)) or 'none'}. "
            "Say which is the score with --human."
        )
    return choose("question", bare, bare, None)


def _is_wrapped(value: Any) -> bool:
    inner = value[0] if isinstance(value, list) and value else value
    return isinstance(inner, dict) and any(name in inner for name in _VALUES)
