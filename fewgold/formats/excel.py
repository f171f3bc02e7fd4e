"""Binary tables: Parquet, and spreadsheets for raters.

In a spreadsheet the header is frozen, texts are wrapped and scores are checked as they are typed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Probe, Tasks
from fewgold.formats.tabular import CONTEXT, RATE, TAIL, SheetContent, Tabular, as_text
from fewgold.io import guard
from fewgold.io.table import GUIDE

_WIDTHS = {
    "id": 14, "document": 16, "position": 9, "rate": 12, "rater": 14, "comment": 30, "key": 17,
    "segment": 17, "score": 12, "time": 22, "system": 16, "answer_id": 16, "details": 40,
    "pool_id": 14,
}  # fmt: skip
_TEXT_WIDTH = 60
_LONGEST = 32767
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


def workbook(grid: SheetContent, tasks: Tasks) -> bytes:
    """A workbook with the grid as its first sheet."""
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font, PatternFill
        from openpyxl.utils import get_column_letter
    except ImportError:
        raise DataError(
            "writing spreadsheets needs openpyxl. Install it with: pip install 'fewgold[xlsx]'."
        ) from None
    book = Workbook()
    sheet = book.active
    sheet.title = grid.title
    wrapped = Alignment(wrap_text=True, vertical="top")
    head = Font(bold=True), PatternFill("solid", fgColor="D9E2EC")
    grey = Font(color="595959"), PatternFill("solid", fgColor="EEEEEE")
    rate = grid.header.index(RATE) if RATE in grid.header else None
    for k, row in enumerate((grid.header, *grid.rows), 1):
        aside = rate is not None and row[rate] == CONTEXT
        for j, value in enumerate(row, 1):
            cell = sheet.cell(k, j)
            _put(cell, value)
            cell.alignment = wrapped
            if k == 1:
                cell.font, cell.fill = head
            elif aside:
                cell.font, cell.fill = grey
    sheet.freeze_panes = "A2"
    for j, name in enumerate(grid.header, 1):
        width = _WIDTHS.get(name, 12 if name in tasks._scores else _TEXT_WIDTH)
        sheet.column_dimensions[get_column_letter(j)].width = width
    if rate is not None:
        _validate(sheet, grid, tasks, rate)
        _explain(book, tasks)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _put(cell: Any, value: Any) -> None:
    """Write a number as a number and everything else as text, never as a formula."""
    if value is None or value in ("", {}):
        return
    if isinstance(value, int | float):
        cell.value = value
        # openpyxl writes 16 digits of a number, and some need 17. Cells of text would be left out
        # of sums, so the digits are set directly; they are read back before anything is written.
        cell._value = repr(value)
        return
    text = guard(as_text(value))
    if len(text) > _LONGEST:
        raise DataError(
            f"a cell of a spreadsheet holds {_LONGEST} characters, and {text[:40]!r}… has "
            f"{len(text)}. Write CSV or JSON lines."
        )
    # A text that looks like an escaped character must not come back as that character.
    cell.value = _ESCAPE.sub("_x005F_", _UNFIT.sub("\ufffd", text).replace("\r", "_x000D_"))
    cell.data_type = "s"
    cell.number_format = "@"


def _validate(sheet: Any, grid: SheetContent, tasks: Tasks, rate: int) -> None:
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.cell_range import MultiCellRange
    from openpyxl.worksheet.datavalidation import DataValidation

    last = rate + len(tasks._each)
    context = [row[rate] == CONTEXT for row in grid.rows]
    scores = []
    for place, asked in enumerate(tasks._each, rate + 2):
        low, high = asked.limits or (-1e9, 1e9)
        ends = f"from {low:g} to {high:g}" if asked.limits else "such as 3.5"
        title = asked.score[:32] if tasks.criteria else "Score"
        score = DataValidation(
            type="decimal", operator="between", formula1=repr(low), formula2=repr(high),
            allow_blank=True, errorTitle=title, error=f"A number {ends}, please.",
            promptTitle=title, prompt=f"A number {ends}. {asked._scale.sentence}".strip()[:255],
        )  # fmt: skip
        score.sqref = MultiCellRange(_runs(get_column_letter(place), context, False))
        scores.append(score)
    aside = DataValidation(
        type="custom", formula1="FALSE", allow_blank=True, errorTitle="Context",
        error="This row is context only: please do not rate it.",
    )  # fmt: skip
    who = DataValidation(type="list", formula1=f'"{",".join(tasks.raters)}"', allow_blank=True)
    columns = [get_column_letter(place) for place in range(rate + 2, last + 2)]
    aside.sqref = MultiCellRange(" ".join(_runs(column, context, True) for column in columns))
    person = get_column_letter(last + 2 + TAIL.index("rater"))
    who.sqref = MultiCellRange(_runs(person, context, False))
    # A list is one text of at most 255 characters, whose names cannot contain commas or quotes.
    fits = len(who.formula1) <= 257 and not any(set(r) & set(',"') for r in tasks.raters)
    for rule in (*scores, aside, *((who,) if fits and len(tasks.raters) > 1 else ())):
        if rule.sqref.ranges:
            rule.showErrorMessage = rule.showInputMessage = True
            sheet.add_data_validation(rule)


def _runs(column: str, marks: Sequence[bool], wanted: bool) -> str:
    """The cells below the header with this mark, as ranges: one by one would take minutes.

    >>> _runs("C", [True, True, False, True], True)
    'C2:C3 C5:C5'
    """
    runs, row = [], 2
    for mark, group in groupby(marks):
        size = len(list(group))
        if mark is wanted:
            runs.append(f"{column}{row}:{column}{row + size - 1}")
        row += size
    return " ".join(runs)


def _explain(book: Any, tasks: Tasks) -> None:
    """Add a second sheet with instructions."""
    columns = " and ".join(filter(None, (", ".join(map(repr, tasks._scores[:-1])),
                                         repr(tasks._scores[-1]))))  # fmt: skip
    many = "s" * (len(tasks._scores) > 1)
    lines = [
        tasks.name,
        tasks.question,
        f"Type a number into the column{many} {columns} of each row that says 'yes' under 'rate'.",
        "Grey rows are context: read them, do not rate them.",
        "Write your name under 'rater' in every row that you rate, if others rate as well.",
        "Leave the column 'key' unchanged: it says which segment an answer is about.",
    ]
    if tasks.criteria:
        lines[1:2] = [f"{t.score}: {t._instruction}" for t in tasks._each]
    else:
        if tasks.limits:
            lines.insert(3, f"The scale goes from {tasks.limits[0]:g} to {tasks.limits[1]:g}.")
        if tasks._scale.sentence:
            lines.insert(2, tasks._scale.sentence)
    lines += [line for line in tasks.instructions.splitlines() if line.strip()]
    sheet = book.create_sheet(GUIDE)
    for k, line in enumerate(lines, 1):
        _put(sheet.cell(k, 1), line)
    sheet.column_dimensions["A"].width = 100


class Xlsx(Tabular):
    """A spreadsheet: the first sheet of a workbook."""

    name = "xlsx"
    title = "a spreadsheet (.xlsx)"
    suffixes = (".xlsx",)

    def _recognises(self, probe: Probe) -> bool:
        if probe.is_folder or probe.head[:4] not in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            return False
        if probe.name.endswith((".xlsx", ".xlsm")):
            return True
        try:
            with zipfile.ZipFile(probe.path) as book:
                return any(name.endswith("xl/workbook.xml") for name in book.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return False

    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        return workbook(grid, tasks)


class Parquet(Tabular):
    """A Parquet file."""

    name = "parquet"
    title = "Parquet"
    suffixes = (".parquet",)

    def _recognises(self, probe: Probe) -> bool:
        named = probe.name.endswith(".parquet") and not probe.is_folder
        return probe.head[:4] == b"PAR1" or (named and not probe.is_text)

    def _file(self, grid: SheetContent, tasks: Tasks) -> bytes:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise DataError(
                "writing Parquet needs pyarrow. Install it with: pip install 'fewgold[parquet]'."
            ) from None
        numeric = {"score": pa.float64(), "position": pa.int64()}
        numeric |= dict.fromkeys(tasks._scores, pa.float64())
        columns = [
            pa.array(
                [as_text(row[k]) if isinstance(row[k], dict) else row[k] for row in grid.rows],
                numeric.get(name, pa.string()),
            )
            for k, name in enumerate(grid.header)
        ]
        out = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_arrays(columns, names=list(grid.header)), out)
        return bytes(out.getvalue().to_pybytes())
