"""A column as numbers: decimal commas, verdicts, gaps, and what only looks like a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.tables._cells import NUMBER, is_empty, refuse

if TYPE_CHECKING:
    import pandas as pd

#: Words that programs write where there is no value. In ids and documents they are names.
GAPS = frozenset(("nan", "na", "n/a", "none", "null", "<na>", "nat"))
#: Words for 1 and for 0. A column of numbers made of words holds one of these pairs and gaps.
VERDICTS = (("true", "false"), ("yes", "no"), ("pass", "fail"), ("passed", "failed"))
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?|[+-]?\d{1,3}(,\d{3})*,\d{3}\.\d+")
_COMMA = re.compile(r"[+-]?\d*,\d+|[+-]?\d{1,3}(\.\d{3})+,\d+")
_PLAIN_COMMA = re.compile(r"[+-]?\d*,\d+")
_PERCENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)\s*%")
_BROKEN = re.compile(r"#(N/A|REF!|NAME\?|DIV/0!|VALUE!|NUM!|NULL!)", re.IGNORECASE)
_START = frozenset("+-0123456789.,#")
# From this share of its cells on, a column with numbers is one of numbers that has mistakes.
_MOSTLY = 0.8
_KINDS: dict[str, Callable[[str], object]] = {
    "thousands": _THOUSANDS.fullmatch,
    "decimal-comma": _COMMA.fullmatch,
    "percent": _PERCENT.fullmatch,
    "spreadsheet-error": _BROKEN.match,
}


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, as numbers where it holds any.

    Parameters
    ----------
    values
        The numbers, NaN where the cell holds none.
    blank
        True for empty cells and words such as NA.
    sorts
        Rows of the other cells without a number, by what they are: ``"decimal-comma"``,
        ``"percent"``, ``"words"``, ….
    numeric
        Whether it is a column of numbers, perhaps with mistakes in it.
    read_as
        How the numbers were written if not as numbers: ``"decimal commas"``, or the words for 1
        and 0 such as ``"pass/fail"``.
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
        """Where the cell holds a number."""
        return np.isfinite(self.values)

    @property
    def gaps(self) -> int:
        """Cells without a number."""
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
    """True for a cell of a column of numbers that holds nothing, or a word such as NA.

    >>> [is_gap(v) for v in ("", None, "NA", float("nan"), "0", "missing?")]
    [True, True, True, True, False, False]
    """
    return is_empty(value) or (isinstance(value, str) and value.strip().lower() in GAPS)


def column_of(values: Any, name: str) -> Column:
    """What the cells of a column are."""
    import pandas as pd

    series: pd.Series[Any] = (
        values if isinstance(values, pd.Series) else pd.Series(list(values), dtype=object)
    )
    raw = series.astype(float) if series.dtype == bool else series
    if raw.dtype.kind in "mM":  # dates and spans of time
        return Column(name, np.full(len(raw), np.nan), raw.isna().to_numpy())
    numbers = np.array(
        pd.to_numeric(raw, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    )
    if pd.api.types.is_numeric_dtype(raw):
        odd = {"infinite": np.flatnonzero(np.isinf(numbers)).tolist()}
        odd = {k: v for k, v in odd.items() if v}
        finite = np.where(np.isinf(numbers), np.nan, numbers)
        return Column(name, finite, np.isnan(numbers), odd, True)
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
    if "decimal-comma" in sorts and "thousands" in sorts:  # 0,12 beside 0,123: decimals both
        sorts["decimal-comma"] = sorted(sorts["decimal-comma"] + sorts.pop("thousands"))
    if set(sorts) == {"decimal-comma"} and _consistent(texts, series, numbers):
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
    """Whether a long column is text, going by its first cells; looking at all of them is slow."""
    if len(series) <= 2 * looked_at:
        return False
    head = column_of(series.iloc[:looked_at], "")
    return not head.numeric and len(head.sorts.get("words", ())) > looked_at // 2


def _verdicts(
    texts: dict[int, str], blank: NDArray[np.bool_], numbers: NDArray[np.float64]
) -> Column | None:
    """A column of nothing but one pair of words for 1 and 0."""
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


def _consistent(
    texts: dict[int, str], series: pd.Series[Any], numbers: NDArray[np.float64]
) -> bool:
    """Whether all commas are decimal ones: no cell has a point."""
    if not all(_PLAIN_COMMA.fullmatch(t) for t in texts.values()):
        return False
    whole = series[np.isfinite(numbers)].tolist()
    return not any("." in str(v) or "e" in str(v).lower() for v in whole if isinstance(v, str))


def _sort(text: str, value: float) -> str:
    if np.isinf(value):
        return "infinite"
    if text[0] not in _START:
        return "words"
    return next((name for name, matches in _KINDS.items() if matches(text)), "words")


def scores_of(column: str, ids: Sequence[str], values: Sequence[Any], hint: str) -> list[float]:
    """The numbers that people typed into a column; a gap or anything else is an error."""
    found = column_of(values, column)
    refuse(
        f"have no score in column {column!r}",
        [i for i, gap in zip(ids, found.blank, strict=True) if gap],
        hint,
    )

    def told(places: Sequence[int]) -> list[str]:
        return [f"{ids[k]} ({str(values[k]).strip()})" for k in sorted(places)]

    commas = [*found.sorts.get("decimal-comma", ()), *found.sorts.get("thousands", ())]
    refuse(
        "have a decimal comma",
        told(commas),
        "Write 3.5 and not 3,5: a comma may mean thousands.",
    )
    others = [k for sort, rows in found.sorts.items() for k in rows]
    # "1_000" and "0x10" are numbers to Python, but nobody types them as scores.
    others += [
        k
        for k, v in enumerate(values)
        if isinstance(v, str) and not found.read_as and not NUMBER.fullmatch(v.strip())
    ]
    refuse(
        f"have no number in column {column!r}",
        told(list(dict.fromkeys(others))),
        "Give each a number, such as 3.5.",
    )
    return [float(v) for v in found.values]


def as_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns as numbers, where they hold nothing but numbers and gaps.

    Columns with anything else stay as they are, so that whoever needs them can say what is wrong.
    """
    made = {}
    for name in dict.fromkeys(names):
        if name in frame.columns and not _is_float(frame[name]):
            found = column_of(frame[name], name)
            if found.numeric and not found.odd:
                made[name] = found.values
    return frame.assign(**made) if made else frame


def filled(frame: pd.DataFrame, metrics: Sequence[str], by: str | None = None) -> pd.DataFrame:
    """The table with metrics as numbers, and their gaps filled with the mean of what is there.

    ``by`` is the column of the systems: then it is the mean of the system. A metric serves only as
    a control, and any number that is fixed before people rate is a valid one; the mean is the one
    that says nothing. A metric without any number (in a system) stays as it is.
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
