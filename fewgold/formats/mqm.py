"""Ratings as lists of errors: the tab-separated MQM files of Google's evaluations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fewgold.common.text import counted, verb
from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Rejected, Segment, Tasks
from fewgold.formats.json import dumps
from fewgold.formats.rows import (
    NUL,
    UNNAMED,
    TextLine,
    guarded,
    json_of,
    lines_of,
    matched,
    source_of,
    target_of,
)
from fewgold.io import bare, plain, write_texts

# Weights of errors in MQM (Multidimensional Quality Metrics) --------------------------------------

NO_ERROR = "no-error"


def plain_severity(severity: str) -> str:
    """A severity as tools spell it, in one spelling.

    >>> plain_severity("No_Error"), plain_severity(" Major")
    ('no-error', 'major')
    """
    return "-".join(severity.strip().lower().replace("_", " ").split())


@dataclass(frozen=True)
class MqmWeights:
    """Error weights of Freitag et al. (2021), Table 4, by default.

    The sum over a segment is capped at 25, the weight of five major errors, which is the most that
    raters of that study could mark.

    Parameters
    ----------
    major, minor, neutral
        Weights of the severities.
    critical
        Weight of critical errors, which some newer campaigns mark. There is no default: some use
        10, some 25, and Google's script does not support them. If None, files with critical errors
        raise an error.
    punctuation
        Weight of minor errors of the category Fluency/Punctuation.
    non_translation
        Weight of the category Non-translation, whatever its severity.
    cap
        The largest score of a segment, or None.

    References
    ----------
    Freitag et al. (2021). Experts, errors, and context: a large-scale study of human
    evaluation for machine translation. TACL 9.

    Examples
    --------
    >>> MqmWeights().score([("Accuracy/Omission", "Major"), ("Fluency/Punctuation", "Minor")])
    5.1
    """

    major: float = 5.0
    minor: float = 1.0
    neutral: float = 0.0
    critical: float | None = None
    punctuation: float = 0.1
    non_translation: float = 25.0
    cap: float | None = 25.0

    @cached_property
    def _severities(self) -> dict[str, float]:
        """Weights by severity."""
        known = {"major": self.major, "minor": self.minor, "neutral": self.neutral, NO_ERROR: 0.0}
        return known if self.critical is None else {**known, "critical": self.critical}

    def _weight(self, category: str, severity: str) -> float:
        """The weight of one error."""
        kind, plain = category.strip().lower(), plain_severity(severity)
        # Written "Non-translation" and "Non-translation!"; some files call it neutral.
        if kind.startswith("non-translation"):
            return self.non_translation
        if plain == "minor" and kind == "fluency/punctuation":
            return self.punctuation
        return self._severities[plain]

    def score(self, errors: Iterable[tuple[str, str]]) -> float:
        """The score of a segment from the category and severity of each error in it."""
        total = sum((self._weight(category, severity) for category, severity in errors), 0.0)
        # Rounding removes the noise of adding tenths.
        return round(total if self.cap is None else min(total, self.cap), 6)


def unknown_severity(severity: str, weights: MqmWeights) -> str:
    """What is wrong with a severity, as a sentence; empty if it has a weight."""
    plain, known = plain_severity(severity), weights._severities
    if plain in known:
        return ""
    why = f"expected the severities {', '.join(known)}, got {plain!r}."
    if plain == "critical":
        why += (
            " Campaigns weigh critical errors differently (10 or 25): say which with "
            "MqmWeights(critical=...)."
        )
    return why


# Lines of an MQM file: which columns it has, and what each line is about --------------------------

#: Column names as published, newer style.
HEADER = (
    "system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category",
    "severity", "metadata",
)  # fmt: skip
#: The category of a row that is shown only as context.
CONTEXT = "context: do not rate"
#: Field of the metadata for fewgold's own values.
OURS = "fewgold"

# Names of each column, without separators and in lower case, in both styles.
_ROLES = {
    "system": ("system",),
    "doc": ("doc", "document"),
    "position": ("docid", "docsegid"),
    "segment": ("segid", "globalsegid"),
    "rater": ("rater",),
    "source": ("source",),
    "target": ("target",),
    "category": ("category",),
    "severity": ("severity",),
    "note": ("comment", "metadata", "note", "misc"),
}
_NEEDED = ("system", "doc", "segment", "rater", "category", "severity")
_SHOWN = {"segment": "seg_id"}
_KEY = re.compile(r"\bfg-\d+-[a-z2-7]{6}\b", re.IGNORECASE)
# Deliberate errors as attention checks; they say nothing about the segment.
_CONTROL = "hotw-test"


def roles_of(header: Sequence[str]) -> dict[str, int]:
    """The index of each role's column; the first of equal names counts."""
    found = [plain(name) for name in header]
    return {
        role: next(i for i, name in enumerate(found) if name in names)
        for role, names in _ROLES.items()
        if any(name in names for name in found)
    }


def is_header(cells: Sequence[str]) -> bool:
    """True for the first line of an MQM file, and for that of hardly any other table."""
    return {*_NEEDED, "target"} <= roles_of(cells).keys()


def is_row(cells: Sequence[str]) -> bool:
    """True for a line of a file that came without a header, as some tools write it."""
    known = {*MqmWeights(critical=0.0)._severities, _CONTROL}
    return len(cells) in (9, 10) and plain_severity(cells[8]) in known and cells[3].strip() != ""


@dataclass(frozen=True)
class MqmRow:
    """One line: cells by role, or why it cannot be read."""

    line: TextLine
    cells: Mapping[str, str]
    why: str = ""

    def __getitem__(self, role: str) -> str:
        return self.cells.get(role, "")

    @property
    def system(self) -> str:
        """The system; empty if the file does not name it."""
        return "" if self["system"] == UNNAMED else self["system"]

    @cached_property
    def whereabouts(self) -> tuple[str, ...]:
        """The values that identify a segment of a system."""
        return tuple(self[role] for role in ("system", "doc", "position", "segment", "id"))

    @cached_property
    def kind(self) -> str:
        """``error``, ``blank`` (yet to be rated), ``context`` or ``control``."""
        category, severity = self["category"].strip().lower(), plain_severity(self["severity"])
        if not severity and category.startswith("context"):
            return "context"
        if severity == _CONTROL:
            return "control"
        return "error" if category or severity else "blank"

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata if they are a JSON object, else empty."""
        if not self["note"].startswith("{"):
            return {}
        try:
            found = json_of(self["note"])
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def ours(self) -> dict[str, Any]:
        """The values that fewgold put into the metadata when the tasks were exported."""
        found = self.metadata.get(OURS)
        return found if isinstance(found, dict) else {}

    @cached_property
    def key(self) -> str:
        """The key with which the segment was exported, if still present."""
        if self.ours.get("key"):
            return str(self.ours["key"])
        found = _KEY.search(self["note"]) if not self.metadata else None
        return found[0].lower() if found else ""

    @property
    def extras(self) -> dict[str, Any]:
        """The rater's comment and the tool's metadata, if any."""
        if not self.metadata:
            return {"comment": self["note"]} if self["note"].strip() else {}
        rest = {k: v for k, v in self.metadata.items() if k != OURS}
        made: dict[str, Any] = {}
        if isinstance(rest.get("note"), str):
            made["comment"] = rest.pop("note")
        return {**made, "metadata": rest} if rest else made


def rows_of(path: str | Path, names: Names = Names()) -> list[MqmRow]:  # noqa: B008
    """Every line of an MQM file below its header."""
    lines = lines_of(path)
    header = [bare(c).strip() for c in lines[0].text.split("\t")] if lines else []
    if lines and is_row(header) and not is_header(header):
        header = list(HEADER)
    else:
        lines = lines[1:]
    roles = roles_of(header)
    missing = [_SHOWN.get(role, role) for role in _NEEDED if role not in roles]
    if missing:
        expected = [_SHOWN.get(role, role) for role in _NEEDED]
        raise DataError(
            f"{path}: expected the columns {', '.join(expected)}, separated by tabs, got "
            f"{', '.join(filter(None, header)) or 'none'} (no {', '.join(missing)})."
        )
    if names.score is not None:
        raise DataError(
            "MQM files hold errors instead of scores: the score is the sum of their weights. "
            f"Leave out the name of the score column, {names.score!r}."
        )
    for role, name in (("id", names.id), ("rater", names.rater)):
        if name is not None:
            if name not in header:
                raise UnknownNameError("column", name, filter(None, header))
            roles[role] = header.index(name)
    return [_row(line, header, roles) for line in lines]


def _row(line: TextLine, header: Sequence[str], roles: Mapping[str, int]) -> MqmRow:
    cells = line.text.split("\t")
    named = {role: bare(cells[i]).strip() for role, i in roles.items() if i < len(cells)}
    if "note" not in roles and len(cells) == len(header) + 1:
        named["note"] = bare(cells.pop()).strip()  # a comment that the header forgot
    row, why = MqmRow(line, named), ""
    lost = [role for role in _NEEDED if role not in named]
    if "\0" in line.text:
        why = NUL
    elif lost or any(cell.strip() for cell in cells[len(header) :]):
        why = (
            f"expected {len(header)} cells separated by tabs, got {len(cells)}: a tab or line "
            "end is missing, or is inside a text"
        )
    elif row.kind == "error" and not row["severity"]:
        why = "there is a category but no severity"
    elif not any(row[role] for role in ("segment", "position", "id")) and not row.key:
        why = "the line names no segment"
    return replace(row, why=why) if why else row


# Lines of an MQM file combined into ratings, every line accounted for -----------------------------


def reading_of(rows: Sequence[MqmRow], weights: MqmWeights) -> Reading:
    """Make one rating per system, segment and rater; other lines are counted."""
    segment, notes = _segments(rows)
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        # A broken line counts towards the segment it seems to be about.
        if row.why or row.kind == "error":
            groups.setdefault((*row.whereabouts, row["rater"]), []).append(i)
    ratings, answered = [], set()
    rejected: dict[int, Rejected] = {}
    copies: set[int] = set()
    both = 0
    for group in groups.values():
        repeated = _copies(rows, group)
        places = [i for i in group if i not in repeated]
        made = [rows[i] for i in places]
        why = _wrong(made, weights)
        if why is not None:
            rejected |= {i: rows[i].line.rejected(why(rows[i])) for i in group}
            continue
        copies.update(repeated)
        both += len(made) > 1 and any(plain_severity(r["severity"]) == NO_ERROR for r in made)
        ratings.append(_rating(made, segment, weights))
        answered.add(made[0].whereabouts)
    rest = [row for i, row in enumerate(rows) if row.kind != "error" and i not in rejected]
    blank = [segment(r) for r in rest if r.kind == "blank" and r.whereabouts not in answered]
    counts = {
        "hold test items (HOTW-test): not counted.": sum(row.kind == "control" for row in rest),
        "repeat earlier lines for the same rater and segment: not counted again.": len(copies),
        "mark a segment as No-error that has other lines as well.": both,
    }
    return Reading(
        format="mqm",
        rows=len(rows),
        used=len(rows) - len(rest) - len(copies) - len(rejected),
        ratings=tuple(ratings),
        blank=tuple(blank),
        context=len(rest) - len(blank) + len(copies),
        rejected=tuple(rejected[i] for i in sorted(rejected)),
        notes=(*notes, *(_counted_lines(n, what) for what, n in counts.items() if n)),
    )


def _counted_lines(count: int, what: str) -> str:
    """``1 line is …``, ``2 lines are …``; ``what`` begins with the plural of a verb."""
    plural, _, rest = what.partition(" ")
    return f"{counted(count, 'line')} {verb(count, plural)} {rest}"


def _wrong(rows: Sequence[MqmRow], weights: MqmWeights) -> Callable[[MqmRow], str] | None:
    """Why each line of a rater and segment is rejected; None if they can all be read."""
    found = {id(row): row.why or unknown_severity(row["severity"], weights) for row in rows}
    keys = sorted({row.key for row in rows} - {""})
    if len(keys) > 1:
        return lambda row: f"lines of one segment carry different keys: {', '.join(keys)}"
    first = next((row for row in rows if found[id(row)]), None)
    if first is None:
        return None
    place, reason = first.line.place, found[id(first)]
    beside = f"of the same rater and segment as {place}, where {reason}"
    return lambda row: found.get(id(row)) or beside


def _copies(rows: Sequence[MqmRow], places: Sequence[int]) -> set[int]:
    """Lines of a rater and segment that occur a second time, as in merged exports.

    Tools write the errors of a segment together, so equal adjacent lines are two errors, while a
    block of lines repeated further down is a copy.
    """
    runs: list[list[int]] = []
    for i in places:
        if runs and runs[-1][-1] + 1 == i:
            runs[-1].append(i)
        else:
            runs.append([i])
    first = [rows[i].line.text for i in runs[0]]
    again = [run for run in runs[1:] if [rows[i].line.text for i in run] == first]
    return {i for run in again for i in run}


def _segments(rows: Sequence[MqmRow]) -> tuple[Callable[[MqmRow], str], list[str]]:
    """The name of the segment of a row, and a note on it."""
    places: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        if not row.why and row["segment"]:
            places.setdefault(row["segment"], set()).add((row["doc"], row["position"]))
    shared = next((seg for seg, found in places.items() if len(found) > 1), None)
    # The viewer's manual says to write 0 if segments are not numbered across documents.
    numbered = shared is None and places.keys() != {"0"}
    keyed: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        if row.key:
            keyed.setdefault(row.whereabouts, set()).add(row.key)

    def name(row: MqmRow) -> str:
        keys = {row.key} if row.key else keyed.get(row.whereabouts, set())
        if len(keys) == 1:  # raters may delete it from some of the lines
            return next(iter(keys))
        if row["id"]:
            return row["id"]
        if numbered and row["segment"]:
            return row["segment"]
        return f"{row['doc']}:{row['position'] or row['segment']}"

    without = [row for row in rows if not row.why and row.whereabouts not in keyed]
    notes = []
    if shared is not None and any(not row["id"] for row in without):
        notes.append(
            f"the segment id {shared!r} stands for several segments, so they are identified as "
            "document:position."
        )
    return name, notes


def _rating(
    rows: Sequence[MqmRow], segment: Callable[[MqmRow], str], weights: MqmWeights
) -> Rating:
    first = rows[0]
    errors: list[dict[str, Any]] = []
    extras: dict[str, Any] = {}
    for row in rows:
        spoilt = row["category"].lower().startswith("non-translation")
        if plain_severity(row["severity"]) == NO_ERROR and not spoilt:
            extras.update(row.extras)
            continue
        error: dict[str, Any] = {"category": row["category"], "severity": row["severity"]}
        if row["target"]:
            error["target"] = row["target"]
        if "<v>" in row["source"]:
            error["source"] = row["source"]
        errors.append({**error, **row.extras})
    about = {"document": "doc", "position": "position", "segment": "segment"}
    details: dict[str, Any] = {n: first[role] for n, role in about.items() if first[role]}
    details |= {
        n: first[n].replace("<v>", "").replace("</v>", "") for n in ("source", "target") if first[n]
    }
    times = [str(t) for row in rows if (t := row.ours.get("time", row.metadata.get("timestamp")))]
    return Rating(
        segment=segment(next((row for row in rows if row.key), first)),
        score=weights.score((row["category"], row["severity"]) for row in rows),
        rater=first["rater"],
        time=max(times, key=lambda t: (len(t), t), default=""),
        system=first.system,
        answer=next((str(a) for row in rows if (a := row.ours.get("answer"))), ""),
        details={**details, "errors": errors, **extras},
    )


_STANDARD = MqmWeights()


class MqmTsv(Format):
    """Google MQM: one line per error, ``No-error`` for a clean segment, no quoting.

    Both styles are read: ``system doc doc_id seg_id rater source target category severity
    [comment]`` and that of the viewer Marot, ``system doc docSegId globalSegId rater source target
    category severity metadata``, with or without a header. The second one is written.

    One rating per system, segment and rater; ``score`` is the sum of the weights, 0 for perfect.
    ``segment`` is the key that went out in the metadata (field ``fewgold``) or that is found in the
    comment; else the global segment id; else, if segments of different documents share it,
    ``document:position``. ``details`` keeps ``document``, ``position``, ``segment``, ``source``,
    ``target`` and ``errors``: category, severity, the target with the span marked by ``<v>``,
    comment and metadata of each.

    Test items of severity ``HOTW-test`` are context, and so are errors of a segment that the file
    repeats further down. A rater's segment with one line that cannot be read is rejected as a
    whole, since its score would be too low.
    """

    name = "mqm"
    title = "Google MQM (TSV, one line per error)"
    suffixes = (".tsv",)

    def _recognises(self, probe: Probe) -> bool:
        """By the header, or by the severities where there is none."""
        if probe.is_folder or not probe.lines:
            return False
        lines = [line.split("\t") for line in probe.lines[:20] if line.strip()]
        return bool(lines) and (is_header(lines[0]) or all(is_row(cells) for cells in lines))

    def read(
        self,
        path: str | Path,
        names: Names = Names(),  # noqa: B008
        weights: MqmWeights = _STANDARD,
    ) -> Reading:
        """The ratings in a file; ``names.id`` and ``names.rater`` may name other columns."""
        return reading_of(rows_of(path, names), weights)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write one line per segment, with category and severity to fill in; context is marked.

        Raters copy the line for each further error. The key travels in the metadata.
        """
        lines = []
        for s in tasks.segments:
            ours = {"key": s.key} if s.rate else {"key": s.key, "context": True}
            category = "" if s.rate else CONTEXT
            lines.append([*_front(s, "", {}), category, "", dumps({OURS: ours})])
        _write(path, lines)

    def write_ratings(
        self,
        tasks: Tasks,
        ratings: Iterable[Rating],
        path: str | Path,
        weights: MqmWeights = _STANDARD,
    ) -> None:
        """Write one line per error, from ``details["errors"]``, or No-error for a segment."""
        lines: list[Sequence[str]] = []
        for segment, rating in matched(tasks, ratings):
            lines.extend(_error_lines(segment, rating, weights))
        _write(path, lines)


def _front(segment: Segment, system: str, details: Mapping[str, Any]) -> list[str]:
    """The cells up to the target."""
    given = {
        "document": segment.document, "position": segment.position, "segment": segment.id,
        "rater": "", "source": source_of(segment.texts),
        "target": target_of(segment.texts),
    }  # fmt: skip
    return [system or UNNAMED, *(str(details.get(name, own)) for name, own in given.items())]


def _error_lines(segment: Segment, rating: Rating, weights: MqmWeights) -> Iterator[list[str]]:
    errors = rating.details.get("errors") or []
    _check(rating, errors, weights)
    clean = {"category": "No-error", "severity": "No-error"}
    extras = {n: rating.details[n] for n in ("comment", "metadata") if n in rating.details}
    front = _front(segment, rating.system, rating.details)
    front[4] = rating.rater
    for error in errors or [{**clean, **extras}]:
        metadata = dict(error.get("metadata", {}))
        if "comment" in error:
            metadata["note"] = error["comment"]
        ours = {"key": rating.segment} if rating.segment == segment.key else {}
        if rating.time and "timestamp" not in metadata:
            ours["time"] = rating.time
        if rating.answer:
            ours["answer"] = rating.answer
        if ours:
            metadata[OURS] = ours
        cells = list(front)
        cells[5] = str(error.get("source", cells[5]))
        cells[6] = str(error.get("target", cells[6]))
        yield [*cells, error["category"], error["severity"], dumps(metadata) if metadata else ""]


def _check(rating: Rating, errors: Sequence[Mapping[str, Any]], weights: MqmWeights) -> None:
    who = f"the rating of {rating.segment!r} by {rating.rater!r}"
    if not errors and rating.score != 0:
        raise DataError(
            f"{who} is a score of {rating.score:g} without errors. MQM files hold errors "
            "instead of scores: only a score of 0 can be written without errors. Write CSV "
            "instead."
        )
    for error in errors:
        if not {"category", "severity"} <= error.keys():
            raise DataError(f"{who}: expected a category and a severity in each error.")
        if why := unknown_severity(error["severity"], weights):
            raise DataError(f"{who}: {why}")
    total = weights.score((e["category"], e["severity"]) for e in errors)
    if abs(total - rating.score) > 1e-6:
        raise DataError(
            f"{who} is {rating.score:g}, but its errors add up to {total:g}. Give the weights "
            "used for the score."
        )


def _write(path: str | Path, lines: Iterable[Sequence[str]]) -> None:
    texts = ["\t".join(HEADER), *("\t".join(map(guarded, cells)) for cells in lines)]
    write_texts({Path(path): "\n".join(texts) + "\n"})
