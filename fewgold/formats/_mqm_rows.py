"""Lines of an MQM file: which columns it has, and what each line is about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._format import Names
from fewgold.formats._mqm_weights import MqmWeights, plain_severity
from fewgold.formats._textfiles import Line, json_of, lines_of
from fewgold.formats._texts import UNNAMED, armed
from fewgold.tables import plain

#: Column names as published, newer style.
HEADER = (
    "system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category",
    "severity", "metadata",
)  # fmt: skip
#: What the category of a row says that is there for reading only.
CONTEXT = "context: do not rate"
#: Field of the metadata under which this package keeps what must survive the trip.
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
# Deliberate errors that keep raters awake; they say nothing about the segment.
_CONTROL = "hotw-test"


def roles_of(header: Sequence[str]) -> dict[str, int]:
    """Where each role's column stands; the first of equal names counts."""
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
    known = {*MqmWeights(critical=0.0).severities, _CONTROL}
    return len(cells) in (9, 10) and plain_severity(cells[8]) in known and cells[3].strip() != ""


@dataclass(frozen=True)
class Row:
    """One line: cells by role, or why it cannot be read."""

    line: Line
    cells: Mapping[str, str]
    why: str = ""

    def __getitem__(self, role: str) -> str:
        return self.cells.get(role, "")

    @property
    def system(self) -> str:
        """The system, empty where the file does not name it."""
        return "" if self["system"] == UNNAMED else self["system"]

    @cached_property
    def whereabouts(self) -> tuple[str, ...]:
        """What tells segments of a system apart."""
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
        """The metadata where they are a JSON object, else nothing."""
        if not self["note"].startswith("{"):
            return {}
        try:
            found = json_of(self["note"])
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def ours(self) -> dict[str, Any]:
        """What this package itself put into the metadata when the tasks went out."""
        found = self.metadata.get(OURS)
        return found if isinstance(found, dict) else {}

    @cached_property
    def key(self) -> str:
        """The key that went out with the segment, if it is still there."""
        if self.ours.get("key"):
            return str(self.ours["key"])
        found = _KEY.search(self["note"]) if not self.metadata else None
        return found[0].lower() if found else ""

    @property
    def extras(self) -> dict[str, Any]:
        """The rater's comment and the tool's metadata, where there are any."""
        if not self.metadata:
            return {"comment": self["note"]} if self["note"].strip() else {}
        rest = {k: v for k, v in self.metadata.items() if k != OURS}
        made: dict[str, Any] = {}
        if isinstance(rest.get("note"), str):
            made["comment"] = rest.pop("note")
        return {**made, "metadata": rest} if rest else made


def rows_of(path: str | Path, names: Names = Names()) -> list[Row]:  # noqa: B008
    """Every line of an MQM file below its header."""
    lines = lines_of(path)
    header = [armed(c).strip() for c in lines[0].text.split("\t")] if lines else []
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
            "MQM files hold errors and no scores: the score is the sum of their weights. Leave "
            f"out the name of the score column, {names.score!r}."
        )
    for role, name in (("id", names.id), ("rater", names.rater)):
        if name is not None:
            if name not in header:
                raise UnknownNameError("column", name, filter(None, header))
            roles[role] = header.index(name)
    return [_row(line, header, roles) for line in lines]


def _row(line: Line, header: Sequence[str], roles: Mapping[str, int]) -> Row:
    cells = line.text.split("\t")
    named = {role: armed(cells[i]).strip() for role, i in roles.items() if i < len(cells)}
    if "note" not in roles and len(cells) == len(header) + 1:
        named["note"] = armed(cells.pop()).strip()  # a comment that the header forgot
    row = Row(line, named)
    if "\0" in line.text:
        return Row(line, named, "the line holds a NUL character: it was damaged on its way")
    lost = [role for role in _NEEDED if role not in named]
    if lost or any(cell.strip() for cell in cells[len(header) :]):
        return Row(
            line,
            named,
            f"expected {len(header)} cells separated by tabs, got {len(cells)}: a tab or an end of "
            "line is missing or stands within a text",
        )
    if row.kind == "error" and not row["severity"]:
        return Row(line, named, "there is a category but no severity")
    if not any(row[role] for role in ("segment", "position", "id")) and not row.key:
        return Row(line, named, "the line names no segment")
    return row
