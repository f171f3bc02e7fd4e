"""Cells that only look like numbers, and texts that raters should not see as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fewgold.doctor._model import Finding, plural, some
from fewgold.tables import Column

if TYPE_CHECKING:
    import pandas as pd

_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d{1,3}(\.\d{3})+,\d+")
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_FORMULA = re.compile(r"\s*(=\s*[A-Za-z(+\-\"]|@[A-Z]+\(|[+-][A-Z]+[0-9]*\()")


_SAID = {
    "thousands": ("{n} with commas between thousands", "Write 1234.5 and not 1,234.5."),
    "decimal-comma": ("{n} with a decimal comma", "Write 3.5 and not 3,5."),
    "percent": ("{n} with a percent sign", "Write 85 or 0.85 and not 85%, the same everywhere."),
    "spreadsheet-error": ("{n} with an error of the spreadsheet", "Mend the formula there."),
    "infinite": ("{n} infinite", "Find out what went wrong there, and leave the cell empty."),
    "words": ("{n} not a number", "Every cell must hold a number or nothing."),
}


def to_points(path: str, columns: Sequence[Column], frame: pd.DataFrame, out: str) -> str | None:
    """Python that writes the table with points for decimal commas, if that is what commas are.

    None where no column has any, or one also has commas between thousands, as ``1,234.5``.
    """
    found = [c for c in columns if "decimal-comma" in c.odd]
    cells = [str(frame[c.name].iloc[p]).strip() for c in found for p in c.odd["decimal-comma"]]
    if not cells or not all(map(_COMMA.fullmatch, cells)):
        return None
    return (
        f"from fewgold.tables import read_table; t = read_table({path!r}); "
        f"c = {[c.name for c in found]!r}; "
        "t[c] = t[c].map(lambda v: str(v).replace('.', '').replace(',', '.') if ',' in str(v) "
        f"else v); t.to_csv({out!r}, index=False)"
    )


def cell_findings(
    columns: Sequence[Column], frame: pd.DataFrame, matter: Sequence[str]
) -> list[Finding]:
    """Cells that only look like numbers; an error in the columns that ``matter``."""
    findings = [
        Finding("note", "decimal-comma", f"column “{c.name}”: decimal commas, read as points")
        for c in columns
        if c.read_as == "decimal commas"
    ]
    for column in columns:
        for sort, places in column.odd.items():
            said, do = _SAID[sort]
            shown = [f"row {p + 1:,}: {frame[column.name].iloc[p]}" for p in places[:3]]
            grave = column.name in matter
            findings.append(
                Finding(
                    "error" if grave else "warning",
                    sort if sort != "words" else "mixed-types",
                    f"column “{column.name}”: {said.format(n=plural(len(places), 'cell'))}",
                    "; ".join(shown),
                    do,
                )
            )
    return findings


def empty_findings(columns: Sequence[Column]) -> list[Finding]:
    """Columns with nothing in them."""
    bare = [c.name for c in columns if c.blank.all()]
    if not bare:
        return []
    return [
        Finding("note", "empty-columns", f"{plural(len(bare), 'column')} with nothing in it",
                some(bare), "Nothing to do: they are not used.")
    ]  # fmt: skip


def text_findings(frame: pd.DataFrame, names: Sequence[str]) -> list[Finding]:
    """Escaped characters and formulas in texts that raters would see."""
    findings = []
    for code, pattern, severity, what, do in (
        ("html-escaped", _ENTITY, "warning", "texts with escaped characters such as &amp;",
         "Unescape them (Python: html.unescape) before raters see them, and before metrics do."),
        ("formula", _FORMULA, "note", "texts that a spreadsheet takes for formulas",
         "Sheets of fewgold put an apostrophe before them; your own exports should too."),
    ):  # fmt: skip
        hits = []
        for name in names:
            cells = frame[name].tolist()
            rows = [k for k, v in enumerate(cells) if isinstance(v, str) and _hit(pattern, v, code)]
            if rows:
                first = str(cells[rows[0]]).strip()[:40]
                hits.append(f"{name}: {plural(len(rows), 'row')}, first {rows[0] + 1:,}: {first}")
        if hits:
            findings.append(Finding(severity, code, what, "; ".join(hits[:3]), do))  # type: ignore[arg-type]
    return findings


def _hit(pattern: re.Pattern[str], text: str, code: str) -> bool:
    return bool(pattern.match(text) if code == "formula" else pattern.search(text))
