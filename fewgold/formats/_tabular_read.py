"""Rows of a sheet into ratings, every row accounted for."""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from fewgold._xlsx import Formula
from fewgold.formats._format import Names
from fewgold.formats._model import Rating, Reading, Rejected, is_key
from fewgold.formats._tabular_roles import Roles, find
from fewgold.tables import NUMBER, Row, TableFile, column_of, read_as_sentence, text_of

_COMMA = re.compile(r"[+-]?\d*,\d+")
_FORMULA = "has a formula whose value is not in the file. Open and save it, or type the value."
# Halves of characters, which no file in UTF-8 can hold, and the character 0.
_UNFIT = re.compile("[\x00\ud800-\udfff]")


class _Unreadable(Exception):
    """Why a row makes no sense."""


def reading(sheet: TableFile, format: str, names: Names, path: str) -> Reading:
    """All that a sheet holds."""
    roles = find(sheet, names, path)
    read_as = {k: _written(sheet.rows, k, sheet.header[k]) for k in roles.scores}
    ratings: list[Rating] = []
    blank: list[str] = []
    rejected: list[Rejected] = []
    used = context = empty = 0
    for row in sheet.rows:
        try:
            if row.why:
                raise _Unreadable(row.why)
            if all(is_empty_cell(value) for value in row.cells):
                empty += 1
            elif _is_context(row, roles):
                context += 1
            else:
                segment, made = _ratings(row, sheet.header, roles, read_as)
                ratings += made
                used += bool(made)
                if not made:
                    blank.append(segment)
        except _Unreadable as why:
            rejected.append(Rejected(row.place, str(why), row.raw))
    return Reading(
        format, len(sheet.rows), used, tuple(ratings), tuple(blank), context + empty,
        tuple(rejected), (*_told(sheet), *_notes(sheet.header, roles, read_as, empty)),
    )  # fmt: skip


def is_empty_cell(value: Any) -> bool:
    """True for a cell with nothing in it; a number that is not one (nan) is something."""
    return value is None or (isinstance(value, str) and not value.strip())


def _told(sheet: TableFile) -> list[str]:
    """What the reader of tables says, but for what is counted here."""
    told = zip(sheet.remarks, sheet.sentences, strict=True)
    return [said for remark, said in told if remark.code not in ("byte-order-mark", "empty-rows")]


def _notes(
    header: Sequence[str], roles: Roles, read_as: Mapping[int, str], empty: int
) -> list[str]:
    scores = ", ".join(repr(header[k]) for k in roles.scores)
    notes = [f"segments are named by {header[roles.segment]!r}, scores are in {scores}."]
    if roles.rater is not None and not roles.own:
        notes.append(f"raters are in {header[roles.rater]!r}.")
    for k, how in read_as.items():
        if how:
            notes.append(f"{read_as_sentence(header[k], how)}.")
    if empty:
        notes.append(f"{empty} row{'s are' if empty > 1 else ' is'} empty.")
    return notes


def _written(rows: Sequence[Row], column: int, name: str) -> str:
    """How all scores of a column are written, if not as numbers: decimal commas, or two words."""
    cells = [text_of(row.cells[column]) for row in rows if row.cells]
    return column_of(cells, name).read_as


def _is_context(row: Row, roles: Roles) -> bool:
    if roles.rate is None:
        return False
    value = row.cells[roles.rate]
    if value is not False and not re.match(r"no\b", text_of(value).strip().lower()):
        return False
    scores = [row.cells[k] for k in roles.scores if not is_empty_cell(row.cells[k])]
    if scores:
        raise _Unreadable(
            f"is context that was not to be rated, but has the score {text_of(scores[0])!r}."
        )
    return True


def _ratings(
    row: Row, header: Sequence[str], roles: Roles, read_as: Mapping[int, str]
) -> tuple[str, list[Rating]]:
    segment = _text(row, roles.segment)
    if roles.own:  # typed and copied by people
        segment = segment.strip()
        segment = segment.lower() if is_key(segment) else segment
    if not segment.strip():
        raise _Unreadable(f"has no segment: its {header[roles.segment]!r} is empty.")
    if roles.own and segment.lower().startswith("fg-") and not is_key(segment):
        raise _Unreadable(f"has a damaged key, {segment!r}. Copy it from the sheet as it went out.")
    rater = _text(row, roles.rater)
    rater = rater.strip() if roles.own else rater
    details = _details(row, roles)
    made = []
    for k in roles.scores:
        if is_empty_cell(row.cells[k]):
            continue
        try:
            score = _score(row.cells[k], read_as[k])
        except _Unreadable as why:
            raise _Unreadable(
                f"{f'has in {header[k]!r} ' if roles.wide else 'has '}{why}"
            ) from None
        made.append(
            Rating(
                segment,
                score,
                header[k] if roles.wide else rater,
                _text(row, roles.time),
                _text(row, roles.system),
                _text(row, roles.answer),
                dict(details),
            )
        )
    return segment, made


def _text(row: Row, column: int | None, name: bool = True) -> str:
    value = None if column is None else row.cells[column]
    if name and isinstance(value, Formula):
        raise _Unreadable(_FORMULA)
    if isinstance(value, dict | list):
        raise _Unreadable("has a list or an object where a name is expected.")
    try:
        text = text_of(value)
    except ValueError:  # a whole number of thousands of digits
        raise _Unreadable("has a number of thousands of digits.") from None
    if _UNFIT.search(text):
        raise _Unreadable("holds characters that are no text (NUL or half a character).")
    return text


def _score(value: Any, read_as: str) -> float:
    if isinstance(value, Formula):
        raise _Unreadable(_FORMULA.removeprefix("has "))
    text = text_of(value).strip() if not isinstance(value, dict | list) else "a list or an object"
    if read_as == "decimal commas":
        value = text = text.replace(",", ".")
    elif read_as:
        return float(text.lower() == read_as.partition("/")[0])
    if isinstance(value, str):
        if _COMMA.fullmatch(text):
            raise _Unreadable(f"the score {text}: write {text.replace(',', '.')}, with a point.")
        if not NUMBER.fullmatch(text):
            raise _Unreadable(f"{text[:80]!r} as its score, which is no number.")
        value = text
    elif isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise _Unreadable(f"{text[:80]!r} as its score, which is no number.")
    try:
        score = float(value)
    except (OverflowError, ValueError):
        score = math.inf
    if not math.isfinite(score):
        raise _Unreadable(f"{str(value)[:80]!r} as its score, which is no finite number.")
    return score


def _details(row: Row, roles: Roles) -> dict[str, Any]:
    value = None if roles.details is None else row.cells[roles.details]
    if isinstance(value, str) and value.strip():
        try:
            found = json.loads(value, parse_constant=_refuse)
            value = found if isinstance(found, dict) else value
        except (ValueError, RecursionError):
            pass
    if isinstance(value, dict):
        details = dict(value)
    else:
        details = {} if is_empty_cell(value) else {"details": _text(row, roles.details, name=False)}
    if roles.id is not None and not is_empty_cell(row.cells[roles.id]):
        details["id"] = _text(row, roles.id)
    if roles.comment is not None and not is_empty_cell(row.cells[roles.comment]):
        details["comment"] = _text(row, roles.comment, name=False)
    try:
        if details and _UNFIT.search(json.dumps(details, ensure_ascii=False)):
            raise _Unreadable("holds half a character in its details.")
    except (RecursionError, TypeError, ValueError):
        raise _Unreadable("has details that are no plain JSON.") from None
    return details


def _refuse(word: str) -> None:
    raise ValueError(word)
