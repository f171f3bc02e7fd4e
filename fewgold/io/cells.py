"""Cells of tables: conversion to text and numbers, and protection from spreadsheet formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold.common.text import counted, verb
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

# Characters that make spreadsheets treat a cell as a formula (OWASP, CSV injection), including
# full-width forms.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: A number in plain notation.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def text_of(value: Any) -> str:
    """A cell of any file as text; numbers keep all digits, and whole ones have no decimal point.

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


def neutral(text: str) -> str:
    """Text that no spreadsheet runs as a formula: with a leading apostrophe if needed."""
    return f"'{text}" if text.startswith(_FORMULA) and not NUMBER.fullmatch(text) else text


def guard(text: str) -> str:
    """Text that no spreadsheet runs as a formula, such that `bare` can restore it.

    An apostrophe that already precedes something like a formula gets a second one.

    >>> guard("=1+1"), guard("'=1+1"), guard("it's"), guard("-1")
    ("'=1+1", "''=1+1", "it's", '-1')
    """
    rest = text.lstrip("'")
    return f"'{text}" if neutral(rest) != rest else text


def bare(text: str) -> str:
    """Text as it was before `guard`.

    >>> bare("'=1+1"), bare("''=1+1"), bare("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return text[1:] if text.startswith("'") and guard(text) != text else text


def cell(value: Any, separator: str) -> str:
    """A value as a cell of CSV or TSV that no spreadsheet runs as a formula."""
    text = neutral(str(value))
    return re.sub(r"[\t\r\n]+", " ", text) if separator == "\t" else text


def as_text(lines: Sequence[Sequence[str]], separator: str) -> str:
    """Rows of cells as CSV or TSV."""
    if separator == "\t":  # read without quotes, so written without them
        return "".join("\t".join(line) + "\n" for line in lines)
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(text: str) -> str:
    """A cell, quoted if CSV needs it; Python's own writer misses a lone carriage return."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


def is_empty(value: Any) -> bool:
    """True for a cell with nothing in it, of any kind of file."""
    if isinstance(value, str):
        return not value.strip()
    # Compare as text: comparing pandas.NA with anything gives NA, not a truth value.
    return value is None or str(value).strip() in ("", "nan", "NaN", "NaT", "<NA>")


_VERB = re.compile(r"\b(are|have|do|occur|name)\b")


def refuse(what: str, ids: Sequence[str], hint: str | Mapping[str, str] = "") -> None:
    """Raise an error about ``ids``, if there are any, that names the first few.

    ``hint`` may be one for each audience, as in `FewgoldError`.
    """
    if ids:
        more = ", …" if len(ids) > 5 else ""
        what = _VERB.sub(lambda found: verb(len(ids), found[0]), what, count=1)
        count = counted(len(ids), "id")
        hints = {"python": hint} if isinstance(hint, str) else hint
        raise DataError(f"{count} {what}: {', '.join(ids[:5])}{more}.", hints=hints)


# A column as numbers: decimal commas, verdicts, gaps, and cells that only look like numbers -------

#: Words that programs write for missing values. In ids and documents they are names.
GAPS = frozenset(("nan", "na", "n/a", "none", "null", "<na>", "nat"))
#: Words for 1 and for 0. A column of such words holds only one of these pairs and gaps.
VERDICTS = (
    ("true", "false"), ("yes", "no"), ("pass", "fail"), ("passed", "failed"), ("good", "bad"),
    ("adequate", "inadequate"), ("correct", "incorrect"), ("right", "wrong"), ("ok", "not ok"),
    ("acceptable", "unacceptable"), ("accept", "reject"), ("success", "failure"),
    ("up", "down"), ("thumbs up", "thumbs down"), ("thumbs_up", "thumbs_down"), ("👍", "👎"),
)  # fmt: skip
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?|[+-]?\d{1,3}(,\d{3})*,\d{3}\.\d+")
#: Numbers with a decimal comma, with points as thousands separators or (below) without.
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d{1,3}(\.\d{3})+,\d+")
PLAIN_COMMA = re.compile(r"[+-]?\d*,\d+")
_PERCENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)\s*%")
_BROKEN = re.compile(r"#(N/A|REF!|NAME\?|DIV/0!|VALUE!|NUM!|NULL!)", re.IGNORECASE)
_START = frozenset("+-0123456789.,#")
# With at least this share of numbers, a column counts as numeric with mistakes.
_MOSTLY = 0.8
_KINDS: dict[str, Callable[[str], object]] = {
    "thousands": _THOUSANDS.fullmatch,
    "decimal-comma": DECIMAL_COMMA.fullmatch,
    "percent": _PERCENT.fullmatch,
    "spreadsheet-error": _BROKEN.match,
}


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, as numbers as far as possible.

    Parameters
    ----------
    values
        The numbers, NaN for other cells.
    blank
        True for empty cells and words such as NA.
    sorts
        Rows of other cells without a number, by kind: ``"decimal-comma"``, ``"percent"``,
        ``"words"``, ….
    numeric
        Whether it is a numeric column, perhaps with mistakes.
    read_as
        How the numbers were written, if not as plain numbers: ``"decimal commas"``, or the words
        for 1 and 0 such as ``"pass/fail"``.
    """

    name: str
    values: NDArray[np.float64]
    blank: NDArray[np.bool_]
    sorts: dict[str, list[int]] = field(default_factory=dict)
    numeric: bool = False
    read_as: str = ""

    @property
    def odd(self) -> dict[str, list[int]]:
        """Cells that only look like numbers, in a column of numbers."""
        return self.sorts if self.numeric else {}

    @property
    def finite(self) -> NDArray[np.bool_]:
        """Which cells hold a number."""
        return np.isfinite(self.values)

    @property
    def gaps(self) -> int:
        """Number of cells without a number."""
        return int((~self.finite).sum())


def read_as_sentence(name: str, how: str) -> str:
    """How the numbers of a column are written, from `Column.read_as`.

    >>> read_as_sentence("passed", "yes/no")
    'in passed, yes counts as 1 and no as 0'
    """
    if how == "decimal commas":
        return f"decimal commas in {name} are read as points"
    one, zero = how.split("/")
    return f"in {name}, {one} counts as 1 and {zero} as 0"


def is_gap(value: Any) -> bool:
    """True for a cell of a numeric column that is empty or holds a word such as NA.

    >>> [is_gap(v) for v in ("", None, "NA", float("nan"), "0", "missing?")]
    [True, True, True, True, False, False]
    """
    return is_empty(value) or (isinstance(value, str) and value.strip().lower() in GAPS)


def column_of(values: Any, name: str) -> Column:
    """Classify the cells of a column."""
    import pandas as pd

    series: pd.Series[Any] = (
        values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    )
    raw = series.astype(float) if series.dtype == bool else series
    if raw.dtype.kind in "mM":  # dates and durations
        return Column(name, np.full(len(raw), np.nan), raw.isna().to_numpy())
    numbers = np.array(
        pd.to_numeric(raw, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    )
    if pd.api.types.is_numeric_dtype(raw):
        infinite = np.isinf(numbers)
        odd = {"infinite": np.flatnonzero(infinite).tolist()} if infinite.any() else {}
        return Column(name, np.where(infinite, np.nan, numbers), np.isnan(numbers), odd, True)
    blank = np.zeros(numbers.size, dtype=np.bool_)
    if _running_text(series):
        return Column(name, numbers, np.array([is_gap(v) for v in series.tolist()], dtype=np.bool_))
    places = np.flatnonzero(~np.isfinite(numbers))
    texts: dict[int, str] = {}
    for place, value in zip(places.tolist(), series.iloc[places].tolist(), strict=True):
        if is_gap(value):
            blank[place] = True
        else:
            texts[place] = str(value).strip()
    said = _verdicts(texts, blank, numbers)
    if said is not None:
        return replace(said, name=name)
    sorts: dict[str, list[int]] = {}
    for place, text in texts.items():
        sorts.setdefault(_sort(text, numbers[place]), []).append(place)
    if "decimal-comma" in sorts and "thousands" in sorts:  # 0,12 next to 0,123: both are decimals
        sorts["decimal-comma"] = sorted(sorts["decimal-comma"] + sorts.pop("thousands"))
    if set(sorts) == {"decimal-comma"} and _consistent(
        texts.values(), series[np.isfinite(numbers)]
    ):
        for place, text in texts.items():
            numbers[place] = float(text.replace(",", "."))
        return Column(name, numbers, blank, {}, True, "decimal commas")
    filled = int((~blank).sum())
    likely = filled - len(sorts.get("words", []))
    count = np.isfinite(numbers).sum() + sum(
        len(sorts.get(k, [])) for k in ("thousands", "decimal-comma", "percent", "infinite")
    )
    numeric = filled > 0 and likely >= _MOSTLY * filled and count > 0
    numbers = np.where(np.isinf(numbers), np.nan, numbers)
    return Column(name, numbers, blank, sorts, bool(numeric))


def _running_text(series: pd.Series[Any], looked_at: int = 1000) -> bool:
    """Whether a long column is text, judged by its first cells, since checking all is slow."""
    if len(series) <= 2 * looked_at:
        return False
    head = column_of(series.iloc[:looked_at], "")
    return not head.numeric and len(head.sorts.get("words", ())) > looked_at // 2


def _verdicts(
    texts: dict[int, str], blank: NDArray[np.bool_], numbers: NDArray[np.float64]
) -> Column | None:
    """A column that holds only one pair of words for 1 and 0."""
    if not texts or np.isfinite(numbers).any():
        return None
    words = {text.lower() for text in texts.values()}
    pair = next((p for p in VERDICTS if words <= set(p)), None)
    if pair is None:
        return None
    values = np.full(blank.size, np.nan)
    for place, text in texts.items():
        values[place] = float(text.lower() == pair[0])
    return Column("", values, blank, {}, True, "/".join(pair))


def _consistent(texts: Iterable[str], others: Iterable[Any]) -> bool:
    """Whether all commas are decimal commas: no cell has a point."""
    points = (v for v in others if isinstance(v, str) and set(v) & set(".eE"))
    return all(map(PLAIN_COMMA.fullmatch, texts)) and next(points, None) is None


def _sort(text: str, value: float) -> str:
    if np.isinf(value):
        return "infinite"
    if text[0] not in _START:
        return "words"
    return next((name for name, matches in _KINDS.items() if matches(text)), "words")


def scores_of(
    column: str, ids: Sequence[str], values: Sequence[Any], hint: str | Mapping[str, str]
) -> list[float]:
    """The numbers in a column of scores; a gap or anything else is an error."""
    found = column_of(values, column)
    gaps = [i for i, gap in zip(ids, found.blank, strict=True) if gap]
    refuse(f"have no score in column {column!r}", gaps, hint)

    def told(places: Sequence[int]) -> list[str]:
        return [f"{ids[k]} ({str(values[k]).strip()})" for k in sorted(places)]

    commas = [*found.sorts.get("decimal-comma", ()), *found.sorts.get("thousands", ())]
    do = "Write 3.5 instead of 3,5: a comma may mean thousands."
    refuse("have a decimal comma", told(commas), do)
    others = [k for sort, rows in found.sorts.items() for k in rows]
    # "1_000" and "0x10" are numbers to Python, but nobody types them as scores.
    others += [
        k
        for k, v in enumerate(values)
        if isinstance(v, str) and not found.read_as and not NUMBER.fullmatch(v.strip())
    ]
    do = "Give each a number, such as 3.5."
    refuse(f"have no number in column {column!r}", told(list(dict.fromkeys(others))), do)
    return [float(v) for v in found.values]


def as_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns as numbers, if they hold only numbers and gaps.

    Other columns stay unchanged, so that the code that needs them can report what is wrong.
    """
    made = {}
    for name in dict.fromkeys(names):
        if name in frame.columns and not _is_float(frame[name]):
            found = column_of(frame[name], name)
            if found.numeric and not found.odd:
                made[name] = found.values
    return frame.assign(**made) if made else frame


def filled(frame: pd.DataFrame, metrics: Sequence[str], by: str | None = None) -> pd.DataFrame:
    """The table with metrics as numbers, and gaps filled with the mean of the other values.

    With ``by``, the column of systems, it is the mean of the system. A metric serves only as a
    control, for which any number fixed before rating is valid; the mean is the neutral choice. A
    metric without any number (in a system) stays as it is.
    """
    frame = as_numbers(frame, metrics)
    made = {}
    for name in dict.fromkeys(metrics):
        if name not in frame.columns or not _is_float(frame[name]) or frame[name].notna().all():
            continue
        column = frame[name]
        means = column.mean() if by is None else column.groupby(frame[by]).transform("mean")
        made[name] = column.fillna(means)
    return frame.assign(**made) if made else frame


def _is_float(series: pd.Series[Any]) -> bool:
    return bool(series.dtype == np.float64)


# The cost of rating a segment, from a column or a formula -----------------------------------------

_HINT = "A cost is a column or FIXED+PER*COLUMN, such as 12+0.7*words or 12+0.7*words(output)."
_COST = re.compile(
    r"(?:(?P<fixed>\d+\.?\d*|\.\d+)\s*\+\s*)?(?:(?P<per>\d+\.?\d*|\.\d+)\s*\*\s*)?"
    r"(?:words\((?P<text>.+)\)|(?P<column>.+))"
)


class CostTerms(NamedTuple):
    """FIXED + PER · the number in a column, or · its words."""

    fixed: float
    per: float
    column: str
    words: bool


def cost_terms(cost: str, columns: Sequence[str]) -> CostTerms:
    """Parse a cost: a column, or a formula over one of the ``columns``."""
    if cost in columns:
        return CostTerms(0.0, 1.0, cost, False)
    match = _COST.fullmatch(cost.strip())
    name = (match["text"] or match["column"]).strip() if match else cost
    if match is None or name not in columns:
        raise UnknownNameError("cost column", name, columns, _HINT)
    fixed, per = float(match["fixed"] or 0), float(match["per"] or 1)
    return CostTerms(fixed, per, name, bool(match["text"]))


def with_cost(frame: pd.DataFrame, cost: str) -> pd.DataFrame:
    """The table with a column ``cost`` that holds the cost of each rating.

    ``cost`` is a column, or ``FIXED+PER*COLUMN`` such as ``"12+0.7*words"``; ``words(COLUMN)``
    counts the words of a text column.
    """
    if cost in frame.columns:
        return frame
    fixed, per, name, words = cost_terms(cost, list(map(str, frame.columns)))
    column = frame[name]
    if words:
        amount = [float(len(str(v).split())) for v in column.tolist()]
    else:
        try:
            amount = [float(v) for v in column.tolist()]
        except (TypeError, ValueError):
            raise DataError(
                f"the cost column {name!r} must hold a number in every row. {_HINT}"
            ) from None
    return frame.assign(**{cost: [fixed + per * a for a in amount]})
