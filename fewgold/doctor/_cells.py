"""The cells of a table, column by column: numbers, gaps, and what only looks like a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.doctor._model import Finding, plural, some
from fewgold.tables import is_empty

if TYPE_CHECKING:
    import pandas as pd

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?|[+-]?\d{1,3}(,\d{3})*,\d{3}\.\d+")
_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d{1,3}(\.\d{3})+,\d+")
_PERCENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)\s*%")
_NOTHING = {"nan", "na", "n/a", "none", "null", "nil", "missing", "-", "--", "?", "<na>", "."}
_BROKEN = re.compile(r"#(N/A|REF!|NAME\?|DIV/0!|VALUE!|NUM!|NULL!)", re.IGNORECASE)
_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});")
_FORMULA = re.compile(r"\s*(=\s*[A-Za-z(+\-\"]|@[A-Z]+\(|[+-][A-Z]+[0-9]*\()")
_START = frozenset("+-0123456789.,#")
# From this share of its cells on, a column with numbers is one of numbers that has mistakes.
_MOSTLY = 0.8


@dataclass(frozen=True, eq=False)
class Column:
    """One column: ``values`` are NaN where the cell holds no number."""

    name: str
    values: NDArray[np.float64]
    blank: NDArray[np.bool_]
    odd: dict[str, list[int]] = field(default_factory=dict)
    numeric: bool = False

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Where the cell holds a number."""
        return np.isfinite(self.values)

    @property
    def gaps(self) -> int:
        """Cells without a number."""
        return int((~self.finite).sum())


_KINDS: dict[str, Callable[[str], object]] = {
    "thousands": _THOUSANDS.fullmatch,
    "decimal-comma": _COMMA.fullmatch,
    "percent": _PERCENT.fullmatch,
    "spreadsheet-error": _BROKEN.match,
    "written-gap": lambda t: t.lower() in _NOTHING,
}


def column_of(series: pd.Series[Any], name: str) -> Column:
    """What the cells of a column are."""
    import pandas as pd

    raw = series.astype(float) if series.dtype == bool else series
    if raw.dtype.kind in "mM":  # dates and spans of time
        return Column(name, np.full(len(raw), np.nan), raw.isna().to_numpy())
    values = pd.to_numeric(raw, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_numeric_dtype(raw):
        odd = {"infinite": np.flatnonzero(np.isinf(values)).tolist()}
        odd = {k: v for k, v in odd.items() if v}
        return Column(name, np.where(np.isinf(values), np.nan, values), np.isnan(values), odd, True)
    blank = np.zeros(values.size, dtype=np.bool_)
    sorts: dict[str, list[int]] = {}
    places = np.flatnonzero(~np.isfinite(values))
    for place, value in zip(places.tolist(), series.iloc[places].tolist(), strict=True):
        if text := _text(value):
            sorts.setdefault(_sort(text, values[place]), []).append(place)
        else:
            blank[place] = True
    if "decimal-comma" in sorts and "thousands" in sorts:  # 0,12 beside 0,123: decimals both
        sorts["decimal-comma"] = sorted(sorts["decimal-comma"] + sorts.pop("thousands"))
    filled = int((~blank).sum())
    likely = filled - len(sorts.get("words", []))
    numbers = np.isfinite(values).sum() + sum(
        len(sorts.get(k, [])) for k in ("thousands", "decimal-comma", "percent", "infinite")
    )
    numeric = filled > 0 and likely >= _MOSTLY * filled and numbers > 0
    values = np.where(np.isinf(values), np.nan, values)
    return Column(name, values, blank, sorts if numeric else {}, bool(numeric))


def _text(value: Any) -> str:
    return "" if is_empty(value) else str(value).strip()


def _sort(text: str, value: float) -> str:
    if np.isinf(value):
        return "infinite"
    if text[0] not in _START and text.lower() not in _NOTHING:
        return "words"
    return next((name for name, matches in _KINDS.items() if matches(text)), "words")


_SAID = {
    "thousands": ("{n} with commas between thousands", "Write 1234.5 and not 1,234.5."),
    "decimal-comma": ("{n} with a decimal comma", "Write 3.5 and not 3,5."),
    "percent": ("{n} with a percent sign", "Write 85 or 0.85 and not 85%, the same everywhere."),
    "spreadsheet-error": ("{n} with an error of the spreadsheet", "Mend the formula there."),
    "written-gap": ("{n} with a word for “nothing”", "Leave cells without a score empty."),
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
    findings = []
    for column in columns:
        for sort, places in column.odd.items():
            said, do = _SAID[sort]
            shown = [f"row {p + 1:,}: {frame[column.name].iloc[p]}" for p in places[:3]]
            grave = column.name in matter and sort != "written-gap"
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
