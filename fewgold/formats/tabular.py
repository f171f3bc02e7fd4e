"""Plain tables of ratings: how their rows are read, and CSV, TSV and JSON lines.

All plain tables share the columns of `task_grid` and `rating_grid`. Output is read back for
checking before any file changes.
"""

from __future__ import annotations

import gzip
import json
import math
import numbers
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from fewgold.common.temporary import TemporaryFolder
from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Rejected, Tasks, is_key
from fewgold.formats.criteria import read_criteria
from fewgold.formats.rows import Rows, number
from fewgold.io import TableFile, guess_column, plain, read_file, write_texts
from fewgold.io import as_text as joined
from fewgold.io.cells import (
    NUMBER,
    PLAIN_COMMA,
    VERDICTS,
    bare,
    cell,
    column_of,
    guard,
    read_as_sentence,
    text_of,
)
from fewgold.io.columns import (
    HUMAN_NAMES,
    ID_NAMES,
    RATER_NAMES,
    SYSTEM_NAMES,
    TIME_NAMES,
    clear_human,
)
from fewgold.io.table import Row, separator_of
from fewgold.io.xlsx import Formula

#: Values of the column ``rate`` in sheets.
YES, CONTEXT = "yes", "no (context)"
#: Columns right of the score in a sheet of tasks. The key comes last: old spreadsheet programs
#: leave out empty cells at the end of a row, and a file cut short has no whole key.
TAIL = ("rater", "comment", "key")
RATE = "rate"
# Not "answer": that is what question answering calls its texts.
ANSWER_NAMES = ("answerid", "annotationid", "ratingid", "responseid")
_SEGMENT_NAMES = ("key", *ID_NAMES)


@dataclass(frozen=True)
class SheetColumns:
    """Indices of the columns; None for missing ones.

    Parameters
    ----------
    segment, id
        The column that identifies the segment, and the pool's id if that column is a key.
    scores
        The score, or one score per rater.
    wide
        Whether each score column is a separate rater.
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
    """How many of segment and score have a recognisable name in this header."""
    columns = list(header)
    known = {plain(c) for c in columns}
    wanted = set(columns)
    segment = names.id in wanted or bool(known & set(_SEGMENT_NAMES))
    asked = names.score or ""
    scores = {asked, *(part.strip() for part in asked.split(","))} - {""}
    return int(segment) + int(bool(known & set(HUMAN_NAMES) or scores & wanted))


def find(sheet: TableFile, names: Names, path: str) -> SheetColumns:
    """Find the roles of columns by name; the error says which one is missing."""
    header = sheet.header
    own, last = _own_score(header, names)
    if own is not None:
        place = header.index
        id_ = place("id") if "id" in header else None
        tail = {name: last + 1 + k for k, name in enumerate(TAIL)}
        who = _given(header, names.rater, "rater", "--rater") if names.rater else tail["rater"]
        return SheetColumns(
            tail["key"], (own,), id_, who, comment=tail["comment"], rate=place(RATE), own=True
        )
    scores = _scores(sheet, names, path)
    segment = _segment(sheet, names, path, scores)
    rater = _given(header, names.rater, "rater", "--rater") if names.rater else None
    taken = {segment, *scores} | ({rater} if rater is not None else set())

    def guess(known: Sequence[str]) -> int | None:
        free = [c if k not in taken else "" for k, c in enumerate(header)]
        found = guess_column(free, known)
        return None if found is None else free.index(found)

    return SheetColumns(
        segment, scores, guess(ID_NAMES) if plain(header[segment]) == "key" else None,
        rater if rater is not None or len(scores) > 1 else guess((*RATER_NAMES, "judge")),
        guess(TIME_NAMES), guess(SYSTEM_NAMES), guess(ANSWER_NAMES), guess(("details",)),
        guess(("comment", "comments")), guess((RATE,)), wide=len(scores) > 1,
    )  # fmt: skip


def _own_score(header: Sequence[str], names: Names) -> tuple[int | None, int]:
    """The index of the score in a sheet of tasks, whatever its name, and of the last score."""
    for k, name in enumerate(header):
        if name != RATE or names.id:
            continue
        for last in range(k + 1, len(header) - len(TAIL)):
            if tuple(header[last + 1 : last + 1 + len(TAIL)]) == TAIL:
                if last == k + 1 and names.score in (None, header[last]):
                    return last, last
                several = header[k + 1 : last + 1]  # one column for each criterion
                if names.score is not None and list(several).count(names.score) == 1:
                    return k + 1 + list(several).index(names.score), last
    return None, 0


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
    """Whether a column may hold scores: it has numbers, or is still empty."""
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


# Rows of a sheet into ratings ---------------------------------------------------------------------

_FORMULA = "has a formula without a stored value. Open and save the file, or type the value."
# Lone surrogates, which no UTF-8 file can hold, and the character 0.
_UNFIT = re.compile("[\x00\ud800-\udfff]")


class _BadRow(Exception):
    """Why a row is malformed."""


def reading(sheet: TableFile, format: str, names: Names, path: str) -> Reading:
    """Read the whole sheet."""
    columns = find(sheet, names, path)
    read_as = {}  # how all scores of a column are written: decimal commas, or two words
    for k in columns.scores:
        cells = [text_of(row.cells[k]) for row in sheet.rows if row.cells]
        read_as[k] = column_of(cells, sheet.header[k]).read_as or _mostly_words(cells)
    rows = Rows(format)
    used = empty = 0
    for row in sheet.rows:
        try:
            if row.why:
                raise _BadRow(row.why)
            if all(is_empty_cell(value) for value in row.cells):
                empty += 1
            elif _is_context(row, columns):
                rows.context += 1
            else:
                segment, made = _ratings(row, sheet.header, columns, read_as)
                rows.ratings += made
                used += bool(made)
                rows.blank += [] if made else [segment]
        except _BadRow as why:
            rows.rejected.append(Rejected(row.place, str(why), row.raw))
    return Reading(
        format, len(sheet.rows), used, tuple(rows.ratings), tuple(rows.blank),
        rows.context + empty, tuple(rows.rejected),
        tuple(_notes(sheet, columns, read_as, empty)),
    )  # fmt: skip


def _mostly_words(cells: Iterable[str]) -> str:
    """The pair of words that nearly all scores of a column are, if none is a number.

    >>> _mostly_words(["yes", "no", "", "yes", "Yes", "yes?"])
    'yes/no'
    """
    words = [word for cell in cells if (word := cell.strip().lower())]
    if any(NUMBER.fullmatch(word) for word in words):
        return ""
    pairs = (pair for pair in VERDICTS if sum(w in pair for w in words) >= 0.8 * len(words) > 0)
    return "/".join(next(pairs, ()))


def is_empty_cell(value: Any) -> bool:
    """True for a cell with nothing in it. NaN is not empty."""
    return value is None or (isinstance(value, str) and not value.strip())


def _notes(
    sheet: TableFile, columns: SheetColumns, read_as: Mapping[int, str], empty: int
) -> Iterator[str]:
    """Remarks of the table reader, except those counted here, and the roles of columns."""
    for remark, said in zip(sheet.remarks, sheet.sentences, strict=True):
        if remark.code not in ("byte-order-mark", "empty-rows"):
            yield said
    header = sheet.header
    scores = ", ".join(repr(header[k]) for k in columns.scores)
    yield f"segments are named by {header[columns.segment]!r}, scores are in {scores}."
    if columns.rater is not None and not columns.own:
        yield f"raters are in {header[columns.rater]!r}."
    yield from (f"{read_as_sentence(header[k], how)}." for k, how in read_as.items() if how)
    if empty:
        yield f"{empty} row{'s are' if empty > 1 else ' is'} empty."


def _is_context(row: Row, columns: SheetColumns) -> bool:
    if columns.rate is None:
        return False
    value = row.cells[columns.rate]
    if value is not False and not re.match(r"no\b", text_of(value).strip().lower()):
        return False
    scores = [row.cells[k] for k in columns.scores if not is_empty_cell(row.cells[k])]
    if scores:
        raise _BadRow(
            f"is context that was not to be rated, but has the score {text_of(scores[0])!r}."
        )
    return True


def _ratings(
    row: Row, header: Sequence[str], columns: SheetColumns, read_as: Mapping[int, str]
) -> tuple[str, list[Rating]]:
    segment = _text(row, columns.segment)
    if columns.own:  # typed and copied by people
        segment = segment.strip()
        segment = segment.lower() if is_key(segment) else segment
    if not segment.strip():
        raise _BadRow(f"has no segment: its {header[columns.segment]!r} is empty.")
    if columns.own and segment.lower().startswith("fg-") and not is_key(segment):
        raise _BadRow(f"has a damaged key, {segment!r}. Copy it from the original sheet.")
    rater = _text(row, columns.rater)
    rater = rater.strip() if columns.own else rater
    details = _details(row, columns)
    made = []
    for k in columns.scores:
        if is_empty_cell(row.cells[k]):
            continue
        try:
            score = _score(row.cells[k], read_as[k])
        except _BadRow as why:
            place = f" in {header[k]!r}" if columns.wide else ""
            raise _BadRow(f"has{place} {why}") from None
        who = header[k] if columns.wide else rater
        made.append(
            Rating(segment, score, who, _text(row, columns.time), _text(row, columns.system),
                   _text(row, columns.answer), dict(details))
        )  # fmt: skip
    return segment, made


def _text(row: Row, column: int | None, name: bool = True) -> str:
    value = None if column is None else row.cells[column]
    if name and isinstance(value, Formula):
        raise _BadRow(_FORMULA)
    if isinstance(value, dict | list):
        raise _BadRow("has a list or an object where a name is expected.")
    try:
        text = text_of(value)
    except ValueError:  # a whole number of thousands of digits
        raise _BadRow("has a number of thousands of digits.") from None
    if _UNFIT.search(text):
        raise _BadRow("contains invalid characters (NUL or a lone surrogate).")
    return text


def _score(value: Any, read_as: str) -> float:
    if isinstance(value, Formula):
        raise _BadRow(_FORMULA.removeprefix("has "))
    text = text_of(value).strip() if not isinstance(value, dict | list) else "a list or an object"
    if read_as == "decimal commas":
        value = text = text.replace(",", ".")
    elif read_as:
        good, _, bad = read_as.partition("/")
        if text.lower() not in (good, bad):
            raise _BadRow(f"{text[:80]!r} as its score, but the others are {good} and {bad}.")
        return float(text.lower() == good)
    if isinstance(value, str):
        if PLAIN_COMMA.fullmatch(text):
            raise _BadRow(f"the score {text}: write {text.replace(',', '.')}, with a point.")
        if not NUMBER.fullmatch(text):
            raise _BadRow(f"{text[:80]!r} as its score, which is not a number.")
        value = text
    elif isinstance(value, bool) or not isinstance(value, numbers.Real | Decimal):
        raise _BadRow(f"{text[:80]!r} as its score, which is not a number.")
    try:
        score = float(value)
    except (OverflowError, ValueError):
        score = math.inf
    if not math.isfinite(score):
        raise _BadRow(f"{str(value)[:80]!r} as its score, which is not a finite number.")
    return score


def _details(row: Row, columns: SheetColumns) -> dict[str, Any]:
    value = None if columns.details is None else row.cells[columns.details]
    if isinstance(value, str) and value.strip():
        try:
            found = json.loads(value, parse_constant=_refuse)
            value = found if isinstance(found, dict) else value
        except (ValueError, RecursionError):
            pass
    details = dict(value) if isinstance(value, dict) else {}
    if not isinstance(value, dict) and not is_empty_cell(value):
        details["details"] = _text(row, columns.details, name=False)
    if columns.id is not None and not is_empty_cell(row.cells[columns.id]):
        details["id"] = _text(row, columns.id)
    if columns.comment is not None and not is_empty_cell(row.cells[columns.comment]):
        details["comment"] = _text(row, columns.comment, name=False)
    try:
        if details and _UNFIT.search(json.dumps(details, ensure_ascii=False, allow_nan=False)):
            raise _BadRow("has a lone surrogate in its details.")
    except (RecursionError, TypeError, ValueError):
        raise _BadRow("has details that are not plain JSON.") from None
    return details


def _refuse(word: str) -> None:
    raise ValueError(word)


# Tasks and ratings as a header and rows ----------------------------------------------------------

RATING_COLUMNS = (
    "segment", "score", "rater", "time", "system", "answer_id", "details", "pool_id",
)  # fmt: skip


@dataclass(frozen=True)
class SheetContent:
    """The content for a file. ``exact`` lists columns that must be read back unchanged."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    exact: tuple[int, ...]


def task_grid(tasks: Tasks) -> SheetContent:
    """One row per segment in the order of the tasks, context among them.

    The columns are ``id, document, position, <texts>, rate, <score>, rater, comment, key``, with
    one score for each criterion.
    """
    documents = any(s.document for s in tasks.segments)
    front = ("id", "document", "position") if documents else ("id",)
    header = (*front, *tasks._text_names, RATE, *tasks._scores, *TAIL)
    gaps = [None] * len(tasks._scores)
    double = next((name for name in header if header.count(name) > 1), None)
    if double is not None:
        raise DataError(
            f"the sheet would have two columns {double!r}. Rename the text or the score."
        )
    rater = tasks.raters[0] if len(tasks.raters) == 1 else ""
    rows = []
    for s in tasks.segments:
        where = (s.id, s.document, s.position) if documents else (s.id,)
        texts = (s.texts.get(name, "") for name in tasks._text_names)
        who = rater if s.rate else ""
        rows.append((*where, *texts, YES if s.rate else CONTEXT, *gaps, who, "", s.key))
    return SheetContent("tasks", header, tuple(rows), (0, len(header) - 1))


def rating_grid(tasks: Tasks, ratings: Iterable[Rating]) -> SheetContent:
    """One row per rating; the pool's id comes last, if the tasks have it.

    With several criteria, each has a column instead of ``score``.
    """
    several = tuple(c.name for c in tasks.criteria)
    ids = {s.id: s.id for s in tasks.segments} | {s.key: s.id for s in tasks.segments}
    rows = []
    for r in ratings:
        if not r.segment.strip() or not math.isfinite(r.score):
            raise DataError(
                f"a rating needs a segment and a finite score; got {r.segment!r} with {r.score}."
            )
        scores = [r.scores.get(name) for name in several] if several else [float(r.score)]
        rows.append(
            (r.segment, *scores, r.rater, r.time, r.system, r.answer, plain_json(r),
             ids.get(r.segment, r.segment))
        )  # fmt: skip
    header: tuple[str, ...] = RATING_COLUMNS
    if several:
        header = (header[0], *several, *header[2:])
        if double := sorted({name for name in header if header.count(name) > 1}):
            raise DataError(f"the file would have two columns {double[0]!r}. Rename the criterion.")
    return SheetContent("ratings", header, tuple(rows), tuple(range(len(header))))


def plain_json(rating: Rating) -> dict[str, Any]:
    """The details of a rating as JSON knows them: lists for tuples, names as text."""
    try:
        found = json.loads(json.dumps(dict(rating.details), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"the details of a rating of {rating.segment!r} are not plain JSON: {error}."
        ) from None
    assert isinstance(found, dict)
    return found


def as_text(value: Any) -> str:
    """A cell as text: missing values as empty cells, details as JSON."""
    if value is None or value == {}:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(number(value)) if isinstance(value, float) else str(value)


_INSTEAD = "It would be changed when read back. Write JSON lines (.jsonl)."


class Tabular(Format):
    """A format that is a header and rows."""

    _several = True

    @abstractmethod
    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        """A file with these rows."""

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        table = read_file(path, self.name)
        table.check_columns()
        return reading(_unguarded(table), self.name, names, str(path))

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        data = self._packed(task_grid(tasks), tasks, path)
        if tasks.segments:
            found = self._again(data, tasks)
            wanted = [s.key for s in tasks.to_rate]
            if list(found.blank) != wanted or found.rows != len(tasks.segments):
                raise DataError(f"{self.title} cannot hold these keys or texts. {_INSTEAD}")
        write_texts({Path(path): data})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        wanted = [replace(r, score=float(r.score), details=plain_json(r)) for r in ratings]
        data = self._packed(rating_grid(tasks, wanted), tasks, path)
        if wanted:
            found = self._again(data, tasks).ratings
            off = next((w for w, f in zip(wanted, found, strict=False) if w != f), None)
            if off is not None or len(found) != len(wanted):
                raise DataError(f"{self.title} cannot hold the rating {off}. {_INSTEAD}")
        write_texts({Path(path): data})

    def _packed(self, grid: SheetContent, tasks: Tasks, path: str | Path) -> bytes:
        try:
            data = self._file(grid, tasks)
        except UnicodeEncodeError as error:
            raise DataError(
                f"a text has a lone surrogate at position {error.start}, which no file can hold."
            ) from None
        return gzip.compress(data, mtime=0) if str(path).lower().endswith(".gz") else data

    def _again(self, data: bytes, tasks: Tasks) -> Reading:
        """Read the prepared content back, as a check before anything is written."""
        with TemporaryFolder() as folder:
            place = folder / f"made{self.suffixes[0]}"
            place.write_bytes(data)
            if tasks.criteria:
                return read_criteria(self, place, Names(), tasks.criteria)
            return self.read(place)


def _unguarded(table: TableFile) -> TableFile:
    """Texts without the apostrophe that protects them from being treated as formulas."""
    if table.kind not in ("csv", "tsv", "xlsx"):
        return table
    cells = [[bare(v) if isinstance(v, str) else v for v in row] for row in table.cells]
    return replace(table, header=tuple(map(bare, table.header)), cells=cells)


class Csv(Tabular):
    """Comma-separated values, also with semicolons or tabs."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv",)

    def _recognises(self, probe: Probe) -> bool:
        named = probe.name.endswith((".csv", ".tsv"))
        return probe.is_text and (named or _familiar(probe, ",;|"))

    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        rows = [[guard(as_text(v)) for v in row] for row in (grid.header, *grid.rows)]
        return _marked(joined(rows, ","))


class Tsv(Tabular):
    """Tab-separated values; written without quotes, which most readers of TSV do not understand."""

    name = "tsv"
    title = "TSV"
    suffixes = (".tsv",)

    def _recognises(self, probe: Probe) -> bool:
        lines = [f"{line}\n" for line in probe.lines if line.strip()]
        tabs = bool(lines) and "\t" in lines[0] and separator_of(lines, 0, "\t") == "\t"
        return probe.is_text and tabs and (probe.name.endswith(".tsv") or _familiar(probe, "\t"))

    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        rows = [list(map(as_text, row)) for row in (grid.header, *grid.rows)]
        for row in rows[1:]:
            for k in grid.exact:
                if set(row[k]) & set("\t\r\n"):
                    raise DataError(
                        f"{row[k]!r} holds a tab or a line break, which TSV cannot. Write CSV."
                    )
        flat = [[cell(guard(c), "\t") for c in row] for row in rows]
        return _marked(joined(flat, "\t"))


class JsonLines(Tabular):
    """JSON lines, one object per line; a JSON array of objects is read as well."""

    name = "jsonl"
    title = "JSON lines"
    suffixes = (".jsonl", ".ndjson", ".json")

    def _recognises(self, probe: Probe) -> bool:
        if probe.name.endswith((".jsonl", ".ndjson")):
            return probe.is_text
        if probe.first_object is not None:
            return familiar(probe.first_object, Names()) > 0
        found = probe.json
        first = found[0] if isinstance(found, list) and found else None
        return isinstance(first, dict) and familiar(first, Names()) == 2

    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _marked(text: str) -> bytes:
    """Text with a byte order mark, without which spreadsheets do not recognise UTF-8."""
    return (text if text.isascii() else f"\ufeff{text}").encode()


def _familiar(probe: Probe, separators: str) -> bool:
    """Whether the first line, split at this separator, names a segment or a score."""
    lines = [line for line in probe.lines if line.strip()]
    if not lines or lines[0].lstrip().startswith(("{", "[", "<")):
        return False
    found = separator_of([f"{line}\n" for line in lines])
    columns = lines[0].split(found)
    return found in separators and len(columns) > 1 and familiar(columns, Names()) > 0
