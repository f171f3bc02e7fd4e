"""Readable output: JSON design files, numbers with significant digits, notebook tables."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def pretty(record: Mapping[str, Any]) -> str:
    """JSON that is easy to read and diff: segments and other details one per line."""

    def text(value: Any, depth: int) -> str:
        if depth < 2 and isinstance(value, Mapping):
            items = [f"{json.dumps(k)}: {text(v, depth + 1)}" for k, v in value.items()]
            left, right = "{", "}"
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            items, (left, right) = [text(v, 9) for v in value], "[]"
        else:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
        pad = "\n" + " " * (depth + 1)
        return left + pad + ("," + pad).join(items) + "\n" + " " * depth + right

    return text(record, 0) + "\n"


def decimals(error: float | None, digits: int = 3, *, unknown: int = 4) -> int:
    """Decimals needed to show an error of this size with this many significant digits.

    >>> decimals(0.357), decimals(12.0), decimals(0.357, 2), decimals(None)
    (3, 1, 2, 4)
    """
    if error is None or not (math.isfinite(error) and error > 0):
        return unknown
    return min(max(digits - 1 - math.floor(math.log10(error)), 0), 12)


def cell(value: float, places: int, error: float = math.nan) -> str:
    """A number with this many decimals for a text table, ± its error if known.

    >>> cell(0.5, 2), cell(-0.5, 1, 0.1), cell(math.nan, 1), cell(math.inf, 1)
    ('0.50', '−0.5 ± 0.1', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞"
    text = f"{value:.{places}f}".replace("-", "−")
    return text + ("" if math.isnan(error) else f" ± {error:.{places}f}")


def spelled(name: str, thing: Any, named: Collection[str] = ()) -> str:
    """The name of a method, with fields that differ from their defaults in brackets.

    ``named`` lists the fields that the name already contains.
    """
    parts = _chosen(thing, named)
    return f"{name}({','.join(parts)})" if parts else name


def _chosen(thing: Any, named: Collection[str] = ()) -> list[str]:
    found: list[str] = []
    for f in fields(thing) if is_dataclass(thing) else ():
        value = getattr(thing, f.name)
        if f.name in named or (type(value) is type(f.default) and value == f.default):
            continue
        if is_dataclass(value) and not isinstance(value, type):  # a method within another
            found += _chosen(value, getattr(value, "_named_fields", ()))
        elif not hasattr(value, "get_params") or not repr(value).endswith("()"):
            found.append(f"{f.name}={_word(value)}")
    return found


def _word(value: Any) -> str:
    """A value as a word without spaces or bars, the same in every process."""
    if isinstance(value, Mapping):
        return "+".join(f"{k}={_word(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return "+".join(map(_word, value))
    return re.sub(r"[\s|]+| at 0x[0-9a-f]+", "", str(value))


_MOST = 9  # decimals before the exponent is written


def number(
    value: float | None, error: float | None = None, *, percent: bool = False, digits: int = 3
) -> str:
    """A number for people to read.

    The error is given to one digit, or to two if the first is a 1, and the value to the same
    place. Without an error the value has ``digits`` significant digits.

    >>> number(0.17134, 0.0041)
    '0.171 ± 0.004'
    >>> number(0.17134, 0.0012, percent=True)
    '17.13 ± 0.12%'
    >>> number(2.12218), number(float("nan"), 0.1), number(float("inf"))
    ('2.12', '–', '∞')
    """
    known = _float(value)
    if math.isnan(known):
        return "–"
    unit = "%" if percent else ""
    known *= 100 if percent else 1
    if math.isinf(known):
        return "−∞" if known < 0 else "∞"
    spread = _float(error) * (100 if percent else 1)
    if not (math.isfinite(spread) and spread > 0):
        return fixed(known, _places(known, digits)) + unit
    first, size = f"{spread:e}"[0], int(f"{spread:e}".partition("e")[2])
    places = max((1 if first == "1" else 0) - size, 0)
    return f"{fixed(known, places)} ± {fixed(spread, places)}{unit}"


def fixed(value: float, places: int) -> str:
    """A number with this many decimals, a true minus sign, and no minus before 0."""
    text = f"{value:.{places}f}" if places <= _MOST else f"{value:.2e}"
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    return text.replace("-", "−")


def _places(value: float, digits: int) -> int:
    """The decimals that give a number this many significant digits."""
    if value == 0:
        return 0
    size = int(f"{value:.{digits - 1}e}".partition("e")[2])  # once rounded: 9.996 is 10.0
    return max(digits - 1 - size, 0)


def _float(value: float | None) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # None, pandas.NA
        return math.nan


def counted(count: int, noun: str) -> str:
    """``1 segment``, ``2 segments``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


_ONE = {"are": "is", "were": "was", "have": "has", "do": "does"}


def verb(count: int, plural: str) -> str:
    """The form of a verb for so many: ``verb(1, "have")`` is has, ``verb(2, "have")`` is have.

    >>> verb(1, "are"), verb(0, "are"), verb(1, "lie")
    ('is', 'are', 'lies')
    """
    return plural if count != 1 else _ONE.get(plural, f"{plural}s")


def shorter(name: object, longest: int = 60) -> str:
    """Shorten a long name by leaving out its middle."""
    text = " ".join(str(name).split())
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def rounded(count: float) -> str:
    """A number of ratings, rounded to tens from 100 up, since estimates are no more precise.

    >>> rounded(163.4), rounded(12.6), rounded(1391)
    ('160', '13', '1390')
    """
    return str(int(round(count, -1) if count >= 100 else round(count)))


def listed(names: list[str], most: int = 12) -> str:
    """Names separated by commas; if there are many, the last are only counted."""
    shown = [shorter(name, 40) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")


def plain_value(value: Any) -> Any:
    """Convert a value to types that JSON supports; values that are not finite become None."""
    if hasattr(value, "tolist"):  # numpy's arrays and scalars
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain_value(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain_value(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def plain_frame(frame: pd.DataFrame | None) -> list[dict[str, Any]] | None:
    """The rows of a dataframe, as one mapping each."""
    if frame is None:
        return None
    return [plain_value(row) for row in frame.to_dict("records")]


# Small HTML tables for showing results in notebooks. Colours are those of the notebook.
_CELL = "padding:.15em .8em;text-align:{side}"


def html_table(
    caption: str,
    rows: Sequence[Sequence[object]],
    heads: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """A table with a caption and notes below it; all text is escaped.

    The first column holds the names of the rows, left-aligned like other texts. Numbers are
    right-aligned; texts are shown as given.

    >>> html_table("Pool", [("<b>", 3)]).count("&lt;b&gt;")
    1
    """
    top = "".join(
        f'<th scope="col" style="{_CELL.format(side="left" if k == 0 else "right")}">'
        f"{escape(str(head))}</th>"
        for k, head in enumerate(heads)
    )
    body = "".join(f"<tr>{_cells(row, bool(heads))}</tr>" for row in rows)
    below = "".join(f"<div>note: {escape(note)}</div>" for note in notes)
    return (
        '<div class="fewgold"><table><caption style="caption-side:top;text-align:left;'
        f'font-weight:bold">{escape(caption)}</caption>'
        + (f"<thead><tr>{top}</tr></thead>" if top else "")
        + f"<tbody>{body}</tbody></table>{below}</div>"
    )


def _cells(row: Sequence[object], numbers: bool) -> str:
    side = "right;white-space:nowrap" if numbers else "left"
    first = f'<th scope="row" style="{_CELL.format(side="left")}">{escape(str(row[0]))}</th>'
    rest = (f'<td style="{_CELL.format(side=side)}">{escape(str(cell))}</td>' for cell in row[1:])
    return first + "".join(rest)


def latex_table(rows: Sequence[Mapping[Any, Any]]) -> str:
    """A LaTeX table of records, for the package ``booktabs``: numbers with four significant digits.

    >>> print(latex_table([{"judge": "a_b", "kappa": 0.55551}]))
    \\begin{tabular}{lr}
    \\toprule
    judge & kappa \\\\
    \\midrule
    a\\_b & 0.5555 \\\\
    \\bottomrule
    \\end{tabular}
    """

    def short(value: Any) -> str:
        return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)

    cells = [[short(v) for v in plain_value(list(row.values()))] for row in rows]
    return latex([str(name) for name in rows[0]], cells)


def latex(
    heads: Sequence[str], rows: Sequence[Sequence[str] | None], remarks: Sequence[str] = ()
) -> str:
    """A LaTeX table of texts, for the package ``booktabs``; numbers are right-aligned.

    A row of None draws a line between groups. Remarks follow as comments.

    >>> print(latex(["score", "p"], [["−1.5", "< 0.001"]], ["n:30"]))
    \\begin{tabular}{rr}
    \\toprule
    score & p \\\\
    \\midrule
    $-$1.5 & $<$ 0.001 \\\\
    \\bottomrule
    \\end{tabular}
    % n:30
    """

    def line(cells: Sequence[str] | None) -> str:
        if cells is None:
            return r"\midrule"
        return " & ".join("".join(_LATEX.get(c, c) for c in cell) for cell in cells) + r" \\"

    columns = list(zip(*(row for row in rows if row is not None), strict=True))
    sides = "".join("r" if all(map(_NUMERIC.match, c)) else "l" for c in columns)
    body = [r"\toprule", line(heads), r"\midrule", *map(line, rows), r"\bottomrule"]
    table = [rf"\begin{{tabular}}{{{sides or 'l' * len(heads)}}}", *body, r"\end{tabular}"]
    return "\n".join([*table, *(f"% {' '.join(remark.split())}" for remark in remarks)])


_NUMERIC = re.compile(r"[-+−–<]?\s*[\d.]|[-–]?$")
_LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "|": "$|$", "−": "$-$", "–": "--", "∞": r"$\infty$", "<": "$<$", ">": "$>$", "α": r"$\alpha$",
    "ρ": r"$\rho$", "η": r"$\eta$", "κ": r"$\kappa$",
}  # fmt: skip
