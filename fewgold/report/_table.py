"""A frame as an HTML table and as a CSV file that the page carries along."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fewgold.errors import DataError
from fewgold.report._markdown import plain_markdown, table_markdown
from fewgold.report._number import fixed, number
from fewgold.tables import neutral

if TYPE_CHECKING:
    import pandas as pd


def table_html(
    frame: pd.DataFrame,
    title: str,
    caption: str,
    formats: Mapping[str, str | Callable[[Any], str]],
    errors: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """A table in a box that scrolls by itself, and a link to its CSV. ``caption`` is HTML."""
    _check_known(frame, title, formats, errors, names)
    shown = [c for c in frame.columns if c not in set(errors.values())]
    heads, columns = [], []
    for column in shown:
        right = _is_numeric(frame[column])
        kind = ' class="num"' if right else ""
        heads.append(f'<th scope="col"{kind}>{escape(str(names.get(column, column)))}</th>')
        error = frame[errors[column]].tolist() if column in errors else [None] * len(frame)
        columns.append(
            [
                _cell(value, spread, formats.get(column), right, first=column == shown[0])
                for value, spread in zip(frame[column].tolist(), error, strict=True)
            ]
        )
    rows = ["<tr>" + "".join(cells) + "</tr>\n" for cells in zip(*columns, strict=True)]
    body = "".join(rows) or f'<tr><td colspan="{max(len(shown), 1)}">No rows.</td></tr>\n'
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(title)}">\n'
        f"<table>\n<caption>{caption}</caption>\n<thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>\n{body}</tbody>\n</table>\n</div>\n"
        f'<p class="download"><a download="{_file_name(title)}" href="{_data_link(frame)}">'
        "Download as CSV</a></p>\n"
    )


def table_text(
    frame: pd.DataFrame,
    title: str,
    formats: Mapping[str, str | Callable[[Any], str]],
    errors: Mapping[str, str],
    names: Mapping[str, str],
) -> str:
    """The same table as Markdown, with the same digits."""
    _check_known(frame, title, formats, errors, names)
    shown = [c for c in frame.columns if c not in set(errors.values())]
    right = [_is_numeric(frame[column]) for column in shown]
    columns = []
    for column, numeric in zip(shown, right, strict=True):
        error = frame[errors[column]].tolist() if column in errors else [None] * len(frame)
        pairs = zip(frame[column].tolist(), error, strict=True)
        texts = [_text(value, e, formats.get(column), numeric) for value, e in pairs]
        columns.append([plain_markdown(text) for text in texts])
    heads = [plain_markdown(str(names.get(c, c))) for c in shown]
    return table_markdown(heads, list(zip(*columns, strict=True)), right)


def _check_known(
    frame: pd.DataFrame,
    title: str,
    formats: Mapping[str, Any],
    errors: Mapping[str, str],
    names: Mapping[str, str],
) -> None:
    unknown = {*formats, *errors, *errors.values(), *names} - set(frame.columns)
    if unknown:
        raise DataError(
            f"the table {title!r} has no columns {', '.join(sorted(map(str, unknown)))}; "
            f"it has {', '.join(map(str, frame.columns))}."
        )


def _cell(
    value: Any, error: Any, form: str | Callable[[Any], str] | None, right: bool, first: bool
) -> str:
    tag, marks = ("th", ' scope="row"') if first else ("td", "")
    if right:
        marks += ' class="num"'
        if not _is_missing(value):
            sort = repr(float(value)).replace("inf", "Infinity")  # as JavaScript writes it
            marks += f' data-value="{sort}"'
    return f"<{tag}{marks}>{escape(_text(value, error, form, right))}</{tag}>"


def _text(value: Any, error: Any, form: str | Callable[[Any], str] | None, right: bool) -> str:
    if _is_missing(value):
        return "–"
    if callable(form):
        return form(value)
    if not right:
        return str(value)
    if error is not None or form == "%":
        return number(value, error, percent=form == "%")
    if float(value) in (float("inf"), float("-inf")):
        return number(value)
    if form is not None:
        return format(value, form).replace("-", "−")
    return fixed(value, 0) if isinstance(value, int) else number(value, digits=4)


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _is_numeric(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _data_link(frame: pd.DataFrame) -> str:
    """The whole frame as a data: address. No cell of text is a formula to a spreadsheet."""
    safe = frame.copy()
    for column in frame.columns:
        if not _is_numeric(frame[column]):
            safe[column] = [
                "" if _is_missing(v) else neutral(str(v)) for v in frame[column].tolist()
            ]
    safe.columns = [neutral(str(c)) for c in frame.columns]
    text = safe.to_csv(index=False, lineterminator="\r\n")
    return "data:text/csv;charset=utf-8," + quote(text, safe="")


def _file_name(title: str) -> str:
    plain = re.sub(r"[^\w]+", "-", title.lower()).strip("-")
    return f"{plain or 'table'}.csv"
