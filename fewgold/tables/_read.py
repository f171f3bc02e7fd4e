"""Read a table from CSV, TSV, JSON, Parquet or a spreadsheet."""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fewgold._xlsx import Formula, read_sheet
from fewgold.errors import DataError
from fewgold.tables._cells import text_of

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")


def read_table(path: str | Path) -> pd.DataFrame:
    """A table from CSV, TSV, JSON, Parquet or a spreadsheet; ``-`` is CSV on standard input.

    Ids and documents are often numbers with leading zeros, so text columns stay text. Text files
    may be packed (``.gz``). Of a spreadsheet (``.xlsx``) the first sheet is read.
    """
    import pandas as pd

    name = str(path)
    stem = name.removesuffix(".gz").lower()
    if name != "-" and not Path(name).is_file():
        raise DataError(f"there is no file {name!r}. Give the path of a {_kinds()} file.")
    try:
        if name != "-" and not stem.endswith((".xlsx", ".parquet")):
            _refuse_wide(name)
        if name == "-":
            text = sys.stdin.read()
            text = text.removeprefix("\ufeff")
            sep = _separator(text.partition("\n")[0])
            frame = pd.read_csv(io.StringIO(text), sep=sep, dtype=str, keep_default_na=False)
        elif stem.endswith(".csv"):
            frame = pd.read_csv(
                name,
                sep=_separator(_first_line(name)),
                dtype=str,
                keep_default_na=False,
                encoding="utf-8-sig",
            )
        elif stem.endswith(".tsv"):
            frame = pd.read_csv(
                name, sep="\t", dtype=str, keep_default_na=False, quoting=3, encoding="utf-8-sig"
            )
        elif stem.endswith((".jsonl", ".ndjson")):
            frame = _read_lines(name)
        elif stem.endswith(".json"):
            frame = _read_array(name)
        elif name.lower().endswith(".xlsx"):
            frame = _read_sheet(name)
        elif stem.endswith(".parquet"):
            frame = _read_parquet(name)
        else:
            raise DataError(
                f"cannot tell the format of {name!r} from its name. Expected a file that ends in "
                f"{', '.join(SUFFIXES)} (the text formats also with .gz)."
            )
    except pd.errors.EmptyDataError:
        raise DataError(f"{name!r} is empty. Expected a header line and a row a segment.") from None
    except UnicodeDecodeError as error:
        raise not_utf8(name, error.object) from None
    except (OSError, EOFError, RecursionError, ValueError, zlib.error) as error:
        if isinstance(error, DataError):
            raise
        why = " ".join(str(error).split()).rstrip(".")
        raise DataError(f"cannot read {name!r}: {why}. Expected a {_kinds()} file.") from error
    if frame.empty:
        raise DataError(f"{name!r} has no rows. Expected a row a segment.")
    is_text = name == "-" or stem.endswith((".csv", ".tsv"))
    if is_text and not isinstance(frame.index, pd.RangeIndex):
        # pandas takes the first cells for an index then, and every value moves a column on.
        raise DataError(f"rows of {name!r} have more cells than its header. Name every column.")
    return _verdicts(frame)


def not_utf8(name: str, head: bytes) -> DataError:
    """What to do about a text file in another encoding, which begins with ``head``."""
    kind = "UTF-8 but in UTF-16, it seems" if is_wide(head) else "UTF-8"
    return DataError(
        f"{name!r} is not in {kind}. Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”); "
        "fewgold doctor shows where it differs and how to convert it."
    )


def is_wide(head: bytes) -> bool:
    """True for text in UTF-16, by its mark; without one, by every other byte being a zero."""
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return True
    # In other binary files zeros lie at odd and at even places.
    low, high = sorted(head[k:64:2].count(b"\x00") for k in (0, 1))
    return low == 0 and high * 4 > len(head[:64])


def _verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    """Columns of nothing but True and False as 1 and 0: that is how pandas writes verdicts."""
    for name in frame.columns:
        column = frame[name]
        if column.dtype == bool:
            frame[name] = column.astype(int)
            continue
        first = str(column.iloc[0]).strip().lower()
        if first not in ("true", "false", ""):
            continue
        words = [str(v).strip().lower() for v in column.tolist()]
        if {"true", "false", ""} >= set(words) and set(words) != {""}:
            frame[name] = [{"true": "1", "false": "0"}.get(word, "") for word in words]
    return frame


def _open(name: str) -> IO[str]:
    if name.lower().endswith(".gz"):
        return gzip.open(name, "rt", encoding="utf-8-sig")
    return open(name, encoding="utf-8-sig")


def _refuse_wide(name: str) -> None:
    """Without its mark UTF-16 reads as UTF-8, with zeros between the letters."""
    with gzip.open(name) if name.lower().endswith(".gz") else open(name, "rb") as file:
        head = file.read(64)
    if is_wide(head):
        raise not_utf8(name, head)


def _first_line(name: str) -> str:
    with _open(name) as file:
        return file.readline()


def _separator(header: str) -> str:
    """Spreadsheets of many countries write CSV with semicolons."""
    return ";" if ";" in header and "," not in header else ","


def _kinds() -> str:
    return "CSV, TSV, JSON, Parquet or .xlsx"


def _read_lines(name: str) -> pd.DataFrame:
    """JSON lines, with every digit of their numbers: pandas' own reader rounds the last ones."""
    import pandas as pd

    with _open(name) as file:
        rows = [json.loads(line) for line in file if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name!r} must hold an object {{…}} in every line.")
    return pd.DataFrame(rows)


def _read_array(name: str) -> pd.DataFrame:
    import pandas as pd

    with _open(name) as file:
        rows = json.load(file)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name!r} must hold an array of objects: [{{…}}, {{…}}].")
    return pd.DataFrame(rows)


def _read_sheet(name: str) -> pd.DataFrame:
    """A spreadsheet, its cells as the text that CSV would have."""
    import pandas as pd

    sheet = read_sheet(name)
    if not sheet.rows:
        raise DataError(f"the sheet {sheet.name!r} of {name!r} is empty. Expected a header line.")
    header = [text_of(v) for v in sheet.rows[0][1]]
    double = next((c for c in header if c and header.count(c) > 1), None)
    if double is not None:
        raise DataError(f"{name!r} has two columns {double!r}. Rename one.")
    kept = [k for k, title in enumerate(header) if title]
    rows = []
    for number, cells in sheet.rows[1:]:
        row = [text_of(v) for v in cells] + [""] * (len(header) - len(cells))
        loose = any(row[k] for k in range(len(row)) if k >= len(header) or not header[k])
        if loose or any(isinstance(v, Formula) for v in cells):
            what = "a cell without a header" if loose else "a formula without a value"
            raise DataError(f"row {number} of {name!r} has {what}. Type values below the headers.")
        rows.append([row[k] for k in kept])
    return pd.DataFrame(rows, columns=[header[k] for k in kept], dtype=str)


def _read_parquet(name: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(name)
    except ImportError:
        raise DataError(
            "reading Parquet needs pyarrow. Install it with: pip install 'fewgold[parquet]'."
        ) from None
