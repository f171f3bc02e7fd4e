"""Read tables of segments from files and guess what their columns mean."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")

# Names that people give to these columns, best first. Compared in lower case without separators.
ID_NAMES = ("id", "segment", "segmentid", "segid", "globalsegid", "itemid", "uid")
DOCUMENT_NAMES = ("document", "documentid", "docid", "doc", "conversation", "conversationid")
HUMAN_NAMES = ("human", "score", "rating", "gold", "mqm", "da", "humanscore", "label")
COST_NAMES = ("cost", "seconds", "price")
SYSTEM_NAMES = ("system", "model", "sys")
POSITION_NAMES = ("position", "docsegid", "index", "line")


def read_table(path: str | Path) -> pd.DataFrame:
    """A table from CSV, TSV, JSON lines or Parquet (also ``.gz``); ``-`` is CSV on standard input.

    Ids and documents are often numbers with leading zeros, so text columns stay text.
    """
    import pandas as pd

    name = str(path)
    stem = name.removesuffix(".gz").lower()
    if name != "-" and not Path(name).is_file():
        raise DataError(f"there is no file {name!r}. Give the path of a {_kinds()} file.")
    try:
        if name == "-":
            text = sys.stdin.read()
            frame = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
        elif stem.endswith(".csv"):
            frame = pd.read_csv(name, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        elif stem.endswith(".tsv"):
            frame = pd.read_csv(
                name, sep="\t", dtype=str, keep_default_na=False, quoting=3, encoding="utf-8-sig"
            )
        elif stem.endswith((".jsonl", ".ndjson")):
            frame = pd.read_json(name, lines=True, dtype=False, convert_dates=False)
        elif stem.endswith(".parquet"):
            frame = _read_parquet(name)
        else:
            raise DataError(
                f"cannot tell the format of {name!r} from its name. Expected a file that ends in "
                f"{', '.join(SUFFIXES)} (the text formats also with .gz)."
            )
    except pd.errors.EmptyDataError:
        raise DataError(f"{name!r} is empty. Expected a header line and a row a segment.") from None
    except (pd.errors.ParserError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {name!r}: {error}. Expected a {_kinds()} file.") from error
    if frame.empty:
        raise DataError(f"{name!r} has no rows. Expected a row a segment.")
    return frame


def _kinds() -> str:
    return "CSV, TSV, JSON lines or Parquet"


def _read_parquet(name: str) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(name)
    except ImportError:
        raise DataError(
            "reading Parquet needs pyarrow. Install it with: pip install 'fewgold[parquet]'."
        ) from None


def plain(name: str) -> str:
    """A column's name in lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())


def guess_column(columns: Iterable[str], names: Iterable[str]) -> str | None:
    """The one column whose name is among ``names``; the earliest name wins, a tie is no guess."""
    found = list(columns)
    for wanted in names:
        hits = [c for c in found if plain(str(c)) == wanted]
        if len(hits) == 1:
            return hits[0]
        if hits:
            return None
    return None


def numeric_columns(frame: pd.DataFrame, leave_out: Iterable[str] = ()) -> list[str]:
    """Columns that hold a number in every row, except those left out."""
    import pandas as pd

    skip = set(leave_out)
    numeric: list[str] = []
    for name in frame.columns:
        if name in skip:
            continue
        column: Any = pd.to_numeric(frame[name], errors="coerce")
        if column.notna().all():
            numeric.append(str(name))
    return numeric
