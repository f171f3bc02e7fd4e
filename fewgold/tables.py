"""Tables of segments: read and write them, guess what their columns mean."""

from __future__ import annotations

import gzip
import io
import json
import math
import numbers
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from fewgold._xlsx import Formula, read_sheet
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")

# Names that people give to these columns, best first. Compared in lower case without separators.
ID_NAMES = ("id", "segment", "segmentid", "segid", "seg", "globalsegid", "itemid", "item", "uid")
DOCUMENT_NAMES = (
    "document", "documentid", "docid", "doc", "conversation", "conversationid", "dialogue",
    "dialogueid", "dialog", "dialogid",
)  # fmt: skip
HUMAN_NAMES = (
    "human", "score", "rating", "gold", "mqm", "da", "humanscore", "label", "passed", "stars",
    "adequate",
)  # fmt: skip
COST_NAMES = ("cost", "seconds", "price")
SYSTEM_NAMES = ("system", "model", "sys", "systemid", "systemname", "modelname", "modelid")
POSITION_NAMES = ("position", "docsegid", "index", "line")
# What raters look at. References stay out: in most protocols raters must not see them.
TEXT_NAMES = (
    "source", "src", "input", "prompt", "question", "article", "context", "output", "hypothesis",
    "hyp", "translation", "target", "tgt", "mt", "summary", "response", "answer", "text",
)  # fmt: skip

# Parts of names that betray human scores, and parts that do unless a known metric carries them
# ("COMET-DA", "bert_score").
_HUMAN_PARTS = {"human", "gold", "rater", "raters", "annotator", "rating", "ratings", "label"}
_HUMAN_UNLESS_METRIC = {
    "score", "scores", "mqm", "da", "z", "adequacy", "fluency", "likert", "factuality", "factual",
    "faithfulness", "naturalness", "coherence", "engagingness", "errors", "major", "minor",
}  # fmt: skip
_POSITION_PARTS = {"id", "ids", "position", "pos", "index", "idx", "line", "row", "number", "no"}
# What makes spreadsheets take a cell for a formula (OWASP, CSV injection), full-width forms too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_COST = re.compile(
    r"(?:(?P<fixed>\d+\.?\d*|\.\d+)\s*\+\s*)?(?:(?P<per>\d+\.?\d*|\.\d+)\s*\*\s*)?"
    r"(?:words\((?P<text>.+)\)|(?P<column>.+))"
)


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


def text_of(value: Any) -> str:
    """A cell of any kind of file as text, its numbers without loss; whole ones without a point.

    >>> [text_of(v) for v in ("007", 7.0, 0.1 + 0.2, None, True)]
    ['007', '7', '0.30000000000000004', '', 'True']
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


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


def parts(name: str) -> list[str]:
    """The words of a column's name: ``"raterA_score2"`` gives rater, a, score."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return re.findall(r"[^\W\d_]+", spaced.lower())


def looks_human(name: str, known_metric: bool = False) -> bool:
    """True for a column that may hold human scores: it must never slip in among the metrics.

    ``known_metric`` says that the name is that of a common automatic metric.
    """
    words = set(parts(name))
    if plain(name).startswith("human") or words & _HUMAN_PARTS:
        return True
    if known_metric:
        return False
    return plain(name) in HUMAN_NAMES or bool(words & _HUMAN_UNLESS_METRIC)


def looks_like_position(name: str) -> bool:
    """True for a column that counts segments or names them, such as ``doc_seg_id``."""
    return plain(name) in POSITION_NAMES or bool(set(parts(name)) & _POSITION_PARTS)


def with_cost(frame: pd.DataFrame, cost: str) -> pd.DataFrame:
    """The table with a column called ``cost`` that holds what each rating costs.

    ``cost`` is a column, or ``FIXED+PER*COLUMN`` such as ``"12+0.7*words"``; ``words(COLUMN)``
    counts the words of a text column.
    """
    if cost in frame.columns:
        return frame
    match = _COST.fullmatch(cost.strip())
    hint = "A cost is a column or FIXED+PER*COLUMN, such as 12+0.7*words or 12+0.7*words(output)."
    name = (match["text"] or match["column"]).strip() if match else cost
    if match is None or name not in frame.columns:
        raise UnknownNameError("cost column", name, map(str, frame.columns), hint)
    column = frame[name]
    if match["text"]:
        amount = [float(len(str(v).split())) for v in column.tolist()]
    else:
        try:
            amount = [float(v) for v in column.tolist()]
        except (TypeError, ValueError):
            raise DataError(
                f"the cost column {name!r} must hold a number in every row. {hint}"
            ) from None
    fixed, per = float(match["fixed"] or 0), float(match["per"] or 1)
    return frame.assign(**{cost: [fixed + per * a for a in amount]})


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula: with an apostrophe in front where needed."""
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


def cell(value: Any, separator: str) -> str:
    """A value as a cell of CSV or TSV that no spreadsheet takes for a formula."""
    text = neutral(str(value))
    return re.sub(r"[\t\r\n]+", " ", text) if separator == "\t" else text


def as_text(lines: Sequence[Sequence[str]], separator: str) -> str:
    """Rows of cells as CSV or TSV."""
    if separator == "\t":  # read back without quotes, so written without
        return "".join("\t".join(line) + "\n" for line in lines)
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(text: str) -> str:
    """In quotes where CSV needs them; Python's own writer forgets a lone carriage return."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


def is_empty(value: Any) -> bool:
    """True for a cell with nothing in it, of any kind of file."""
    if isinstance(value, str):
        return not value.strip()
    # By its text: comparing a gap of pandas with anything gives a gap, not a truth value.
    return value is None or str(value).strip() in ("", "nan", "NaN", "NaT", "<NA>")


def scores_of(column: str, ids: Sequence[str], values: Sequence[Any], hint: str) -> list[float]:
    """The numbers that people typed into a column; a gap or anything else is an error."""
    texts = ["" if is_empty(v) else str(v).strip() for v in values]
    rows = list(zip(ids, texts, values, strict=True))
    refuse(f"have no score in column {column!r}", [i for i, t, _ in rows if not t], hint)
    commas = [f"{i} ({t})" for i, t, _ in rows if _COMMA.fullmatch(t)]
    refuse("have a decimal comma", commas, "Write 3.5 and not 3,5: a comma may mean thousands.")
    bad = [f"{i} ({t})" for i, t, v in rows if not _is_score(t, v)]
    refuse(f"have no number in column {column!r}", bad, "Give each a number, such as 3.5.")
    return [float(v) for v in values]


def _is_score(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))
    return isinstance(value, bool | numbers.Real) and math.isfinite(value)


def refuse(what: str, ids: Sequence[str], hint: str = "") -> None:
    """Raise an error about ``ids``, if there are any, that names the first few."""
    if ids:
        more = ", …" if len(ids) > 5 else ""
        if len(ids) == 1:
            what = re.sub("^have ", "has ", re.sub("^are ", "is ", what))
        count = "1 id" if len(ids) == 1 else f"{len(ids)} ids"
        raise DataError(f"{count} {what}: {', '.join(ids[:5])}{more}. {hint}".strip())


def write_texts(contents: Mapping[Path, str | bytes]) -> None:
    """Write all files or none: each beside its target first, then moved into place."""
    made: dict[Path, str] = {}
    try:
        for target, text in contents.items():
            if not target.parent.is_dir():
                raise DataError(f"there is no folder {str(target.parent)!r} to write to. Make it.")
            handle, made[target] = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(made[target], 0o666 & ~_umask())
        for target in list(made):
            os.replace(made[target], target)
            del made[target]
    finally:
        for left in made.values():
            os.unlink(left)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
