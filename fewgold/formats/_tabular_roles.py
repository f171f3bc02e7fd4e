"""Which column of a sheet holds what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._format import Names
from fewgold.formats._model import is_key
from fewgold.formats._tabular_model import RATE, TAIL
from fewgold.roles import clear_human
from fewgold.tables import (
    HUMAN_NAMES,
    ID_NAMES,
    RATER_NAMES,
    SYSTEM_NAMES,
    TIME_NAMES,
    TableFile,
    column_of,
    guess_column,
    plain,
    text_of,
)

# Not "answer": that is what question answering calls its texts.
ANSWER_NAMES = ("answerid", "annotationid", "ratingid", "responseid")
_SEGMENT_NAMES = ("key", *ID_NAMES)


@dataclass(frozen=True)
class Roles:
    """Places of the columns; None where there is no such column.

    Parameters
    ----------
    segment, id
        What names the segment, and the pool's own id where a key names it.
    scores
        The score, or one score a rater.
    wide
        Whether each score column is a rater of its own.
    own
        Whether it is a sheet of tasks as fewgold writes it.
    """

    segment: int
    scores: tuple[int, ...]
    id: int | None = None
    rater: int | None = None
    time: int | None = None
    system: int | None = None
    answer: int | None = None
    details: int | None = None
    comment: int | None = None
    rate: int | None = None
    wide: bool = False
    own: bool = False


def familiar(header: Iterable[str], names: Names) -> int:
    """How many of segment and score have a name in this header that can be understood."""
    columns = list(header)
    known = {plain(c) for c in columns}
    wanted = set(columns)
    segment = names.id in wanted or bool(known & set(_SEGMENT_NAMES))
    score = bool(known & set(HUMAN_NAMES)) or any(s in wanted for s in _listed(names.score))
    return int(segment) + int(score)


def find(sheet: TableFile, names: Names, path: str) -> Roles:
    """The roles of the columns by their names, or an error that says which one is missing."""
    header = sheet.header
    own = None if names.id or names.score else _own_score(header)
    if own is not None:
        place = header.index
        id_ = place("id") if "id" in header else None
        tail = {name: own + 1 + k for k, name in enumerate(TAIL)}
        who = _given(header, names.rater, "rater", "--rater") if names.rater else tail["rater"]
        return Roles(tail["key"], (own,), id_, who, comment=tail["comment"], rate=own - 1, own=True)
    scores = _scores(sheet, names, path)
    segment = _segment(sheet, names, path, scores)
    rater = _given(header, names.rater, "rater", "--rater") if names.rater else None
    taken = {segment, *scores} | ({rater} if rater is not None else set())

    def guess(known: Sequence[str]) -> int | None:
        free = [c if k not in taken else "" for k, c in enumerate(header)]
        found = guess_column(free, known)
        return None if found is None else free.index(found)

    return Roles(
        segment,
        scores,
        guess(ID_NAMES) if plain(header[segment]) == "key" else None,
        rater if rater is not None or len(scores) > 1 else guess((*RATER_NAMES, "judge")),
        guess(TIME_NAMES),
        guess(SYSTEM_NAMES),
        guess(ANSWER_NAMES),
        guess(("details",)),
        guess(("comment", "comments")),
        guess((RATE,)),
        wide=len(scores) > 1,
    )


def _own_score(header: Sequence[str]) -> int | None:
    """Where the score stands in a sheet of tasks, whatever it is called."""
    for k in range(1, len(header) - len(TAIL)):
        if header[k - 1] == RATE and tuple(header[k + 1 : k + 1 + len(TAIL)]) == TAIL:
            return k
    return None


def _listed(score: str | None) -> list[str]:
    return [] if score is None else [score, *(part.strip() for part in score.split(","))]


def _scores(sheet: TableFile, names: Names, path: str) -> tuple[int, ...]:
    header = sheet.header
    if names.score is None:
        found = clear_human([n for n in header if n != names.rater], partial(_holds_numbers, sheet))
        if not found:
            return (_one(header, HUMAN_NAMES, "score", "--human", path),)
        return tuple(_alone(header, name, "--human") for name in found)
    if names.score in header or "," not in names.score:
        return (_given(header, names.score, "score", "--human"),)
    parts = [part.strip() for part in names.score.split(",") if part.strip()]
    places = tuple(_given(header, part, "score", "--human") for part in parts)
    if len(set(places)) != len(places) or not places:
        raise DataError(f"the score columns {names.score!r} must be different ones.")
    return places


def _holds_numbers(sheet: TableFile, name: str) -> bool:
    """Whether a column may be scores: it holds numbers, or nothing yet."""
    place = sheet.header.index(name)
    cells = [text_of(row[place]) for row in sheet.cells if len(row) > place]
    found = column_of(cells, name)
    return found.numeric or bool(found.blank.all())


def _segment(sheet: TableFile, names: Names, path: str, scores: Sequence[int]) -> int:
    if names.id is not None:
        return _given(sheet.header, names.id, "id", "--id")
    columns = [
        k for k, c in enumerate(sheet.header) if plain(c) in _SEGMENT_NAMES and k not in scores
    ]
    for k in sorted(columns, key=lambda k: _SEGMENT_NAMES.index(plain(sheet.header[k]))):
        if any(is_key(text_of(row.cells[k])) for row in sheet.rows if row.cells):
            _alone(sheet.header, sheet.header[k], "--id")
            return k
    return _one(sheet.header, (*ID_NAMES, "key"), "segment", "--id", path)


def _one(header: Sequence[str], known: Sequence[str], what: str, option: str, path: str) -> int:
    found = guess_column(header, known)
    if found is None:
        near = [c for c in header if plain(c) in known]
        has = ", ".join(header[:30]) or "none"
        why = f"{' and '.join(near)} could all be it" if near else f"its columns are {has}"
        raise DataError(
            f"{path!r} has no column that is clearly the {what}: {why}. Name it with {option}."
        )
    return _alone(header, found, option)


def _given(header: Sequence[str], name: str, what: str, option: str) -> int:
    if name in header:
        return _alone(header, name, option)
    alike = [k for k, c in enumerate(header) if plain(c) == plain(name) and plain(c)]
    if len(alike) != 1:
        raise UnknownNameError(
            f"{what} column", name, [c for c in header if c], f"Name another with {option}."
        )
    return alike[0]


def _alone(header: Sequence[str], name: str, option: str) -> int:
    if list(header).count(name) > 1:
        raise DataError(
            f"two columns are called {name!r}. Rename one, so that {option} can tell them apart."
        )
    return list(header).index(name)
