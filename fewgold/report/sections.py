"""Parts of a report: sections, and the page or Markdown document around them.

All text is escaped, except the SVG of a figure. A page loads nothing: style and script are
embedded.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import quote

from fewgold._version import __version__
from fewgold.common.text import fixed, number
from fewgold.errors import DataError
from fewgold.io import neutral, write_texts

if TYPE_CHECKING:
    import pandas as pd


Format: TypeAlias = str | Callable[[Any], str]


class Section(ABC):
    """A titled part of a report that can render itself as HTML."""

    title: str

    @abstractmethod
    def body(self) -> str:
        """The HTML below the title."""

    def markdown(self) -> str:
        """The section as Markdown, for sections that support it."""
        raise DataError(
            f"the section {self.title!r} ({type(self).__name__}) cannot be written as Markdown. "
            f"Give it a method markdown() that returns text, or write HTML."
        )


@dataclass(frozen=True)
class Text(Section):
    """Paragraphs; text in `backticks` becomes code."""

    title: str
    paragraphs: str | Sequence[str]

    def body(self) -> str:
        return paragraphs_html(self.paragraphs)

    def markdown(self) -> str:
        return paragraphs_markdown(self.paragraphs)


@dataclass(frozen=True)
class Facts(Section):
    """The most important figures in large type: pairs of a name and a value."""

    title: str
    items: Sequence[tuple[str, str]]

    def body(self) -> str:
        pairs = (
            f"<div><dt>{code_html(name)}</dt><dd>{code_html(value)}</dd></div>\n"
            for name, value in self.items
        )
        return f'<dl class="facts">\n{"".join(pairs)}</dl>\n'

    def markdown(self) -> str:
        rows = [[inline_markdown(text) for text in item] for item in self.items]
        return table_markdown(["what", "value"], rows, [False, False])


@dataclass(frozen=True)
class Table(Section):
    """A dataframe as a table, with its first column as row headings.

    Parameters
    ----------
    formats : mapping
        For each column a format such as ``".3f"``, ``"%"`` to show fractions as percentages, or a
        function from a value to text.
    errors : mapping
        For each column the column of its standard error, shown together as 0.171 ± 0.004.
    names : mapping
        For each column the heading to show.
    download
        Whether the table has a link to download all columns and digits as CSV.
    """

    title: str
    frame: pd.DataFrame
    caption: str = ""
    formats: Mapping[str, Format] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    download: bool = True

    def body(self) -> str:
        """A table in a scrolling box, and a link to its CSV."""
        columns = self._columns()
        heads = "".join(
            f'<th scope="col"{_NUMERIC if column.numeric else ""}>{escape(column.head)}</th>'
            for column in columns
        )
        cells = [
            [_cell(column, row, first=k == 0) for row in range(len(self.frame))]
            for k, column in enumerate(columns)
        ]
        rows = "".join(f"<tr>{''.join(row)}</tr>\n" for row in zip(*cells, strict=True))
        if not rows:
            rows = f'<tr><td colspan="{max(len(columns), 1)}">No rows.</td></tr>\n'
        name = re.sub(r"[^\w]+", "-", self.title.lower()).strip("-") or "table"
        link = (
            f'<p class="download"><a download="{name}.csv" href="{_data_link(self.frame)}">'
            "Download as CSV</a></p>\n"
        )
        return (
            f'<div class="wide" tabindex="0" role="region" aria-label="{escape(self.title)}">\n'
            f"<table>\n<caption>{code_html(self.caption or self.title)}</caption>\n"
            f"<thead><tr>{heads}</tr></thead>\n"
            f"<tbody>\n{rows}</tbody>\n</table>\n</div>\n" + (link if self.download else "")
        )

    def markdown(self) -> str:
        columns = self._columns()
        cells = [[plain_markdown(text) for text in column.texts] for column in columns]
        return paragraphs_markdown(self.caption) + table_markdown(
            [plain_markdown(column.head) for column in columns],
            list(zip(*cells, strict=True)),
            [column.numeric for column in columns],
        )

    def _columns(self) -> list[_Column]:
        """The columns to show, with consistent digits."""
        frame, errors = self.frame, self.errors
        unknown = {*self.formats, *errors, *errors.values(), *self.names} - set(frame.columns)
        if unknown:
            raise DataError(
                f"the table {self.title!r} has no columns {', '.join(sorted(map(str, unknown)))}; "
                f"it has {', '.join(map(str, frame.columns))}."
            )
        found = []
        for column in frame.columns:
            if column in set(errors.values()):
                continue
            numeric, form = _is_numeric(frame[column]), self.formats.get(column)
            values = frame[column].tolist()
            spread = frame[errors[column]].tolist() if column in errors else [None] * len(values)
            texts = [_text(v, e, form, numeric) for v, e in zip(values, spread, strict=True)]
            found.append(_Column(str(self.names.get(column, column)), numeric, values, texts))
        return found


class _Column(NamedTuple):
    head: str
    numeric: bool
    values: list[Any]
    texts: list[str]


_NUMERIC = ' class="num"'
_LONG = 40  # characters in the longest cell of a column above which its lines may break


def _cell(column: _Column, row: int, first: bool) -> str:
    tag, marks = ("th", ' scope="row"') if first else ("td", "")
    value = column.values[row]
    if column.numeric:
        marks += _NUMERIC
        if not is_missing(value):
            sort = repr(float(value)).replace("inf", "Infinity")  # as JavaScript writes it
            marks += f' data-value="{sort}"'
    elif max(map(len, column.texts)) > _LONG:
        marks += ' class="long"'
    return f"<{tag}{marks}>{escape(column.texts[row])}</{tag}>"


def _text(value: Any, error: Any, form: Format | None, numeric: bool) -> str:
    if is_missing(value):
        return "–"
    if callable(form):
        return form(value)
    if not numeric:
        return str(value)
    if error is not None or form == "%":
        return number(value, error, percent=form == "%")
    if float(value) in (float("inf"), float("-inf")):
        return number(value)
    if form is not None:
        return format(value, form).replace("-", "−")
    return fixed(value, 0) if isinstance(value, int) else number(value, digits=4)


def is_missing(value: Any) -> bool:
    """Whether a cell holds None, NaN, NaT or pandas' NA."""
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _is_numeric(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return is_numeric_dtype(column) and not is_bool_dtype(column)


def _data_link(frame: pd.DataFrame) -> str:
    """The whole frame as a data: URL. Spreadsheets will not read text cells as formulas."""
    safe = frame.copy()
    for column in frame.columns:
        if not _is_numeric(frame[column]):
            safe[column] = [
                "" if is_missing(v) else neutral(str(v)) for v in frame[column].tolist()
            ]
    safe.columns = [neutral(str(c)) for c in frame.columns]
    text = safe.to_csv(index=False, lineterminator="\r\n")
    return "data:text/csv;charset=utf-8," + quote(text, safe="")


@dataclass(frozen=True)
class Figure(Section):
    """A figure as inline SVG, such as from `fewgold.plots.to_svg`, on a white card.

    ``alt`` is the text for screen readers, if the SVG has no aria-label.
    """

    title: str
    svg: str
    caption: str = ""
    alt: str = ""

    def __post_init__(self) -> None:
        if not self.svg.startswith("<svg") or "<script" in self.svg.lower():
            raise DataError(f"expected <svg>…</svg> without scripts; got {self.svg[:40]!r}…")

    def body(self) -> str:
        named = "aria-label" in self.svg.partition(">")[0]
        label = "" if named else f' role="img" aria-label="{escape(self.alt or self.title)}"'
        caption = f"<figcaption>{code_html(self.caption)}</figcaption>\n" if self.caption else ""
        return f'<figure>\n<div class="card"{label}>{self.svg}</div>\n{caption}</figure>\n'

    def markdown(self) -> str:
        """A description of the figure, since Markdown cannot contain the drawing."""
        told = inline_markdown(self.caption or self.alt or self.title)
        return f"*Figure, on the HTML page:* {told}\n\n"


@dataclass(frozen=True)
class Headline(Section):
    """The main number in large type, with its name above and its precision below."""

    title: str
    value: str
    lines: Sequence[str] = ()

    def body(self) -> str:
        lines = "".join(f"<p>{code_html(line)}</p>\n" for line in self.lines)
        return (
            f'<div class="headline">\n<p class="what">{code_html(self.title)}</p>\n'
            f'<p class="value">{escape(self.value)}</p>\n{lines}</div>\n'
        )

    def markdown(self) -> str:
        value = f"**{inline_markdown(self.value)}**"
        return f"{inline_markdown(self.title)}: {value}\n\n{paragraphs_markdown(self.lines)}"


@dataclass(frozen=True)
class Notes(Section):
    """A prominent box with what a reader must know before using the number."""

    title: str
    notes: Sequence[str]

    def body(self) -> str:
        items = "".join(f"<li>{code_html(note)}</li>\n" for note in self.notes)
        return (
            f'<aside class="notes">\n<p class="what">{code_html(self.title)}</p>\n'
            f"<ul>\n{items}</ul>\n</aside>\n"
        )

    def markdown(self) -> str:
        items = "".join(f"> - {inline_markdown(note)}\n" for note in self.notes)
        return f"> **{inline_markdown(self.title)}**\n>\n{items}\n"


@dataclass(frozen=True)
class BulletList(Section):
    """A plain list."""

    title: str
    items: Sequence[str]

    def body(self) -> str:
        items = "".join(f"<li>{code_html(item)}</li>\n" for item in self.items)
        return f'<ul class="items">\n{items}</ul>\n'

    def markdown(self) -> str:
        return "".join(f"- {inline_markdown(item)}\n" for item in self.items) + "\n"


@dataclass(frozen=True)
class Code(Section):
    """Text to copy: a click selects all of it, and there is a button if scripts run."""

    title: str
    text: str
    language: str = "text"

    def body(self) -> str:
        return f'<div class="copy"><pre tabindex="0"><code>{escape(self.text)}</code></pre></div>\n'

    def markdown(self) -> str:
        return fenced(self.text, self.language)


@dataclass(frozen=True)
class Group(Section):
    """Parts under one heading, each with a subheading if it has a title.

    ``beside`` puts figures next to each other if there is room.
    """

    title: str
    parts: Sequence[Section]
    lead: str | Sequence[str] = ()
    beside: bool = False

    def body(self) -> str:
        def heading(title: str) -> str:
            return f"<h3>{code_html(title)}</h3>\n" if title else ""

        parts = "".join(f"<div>\n{heading(p.title)}{p.body()}</div>\n" for p in self.parts)
        kind = "parts beside" if self.beside else "parts"
        return f'{paragraphs_html(self.lead)}<div class="{kind}">\n{parts}</div>\n'

    def markdown(self) -> str:
        told = [paragraphs_markdown(self.lead)]
        for part in self.parts:
            if part.title:
                told.append(f"### {inline_markdown(part.title)}\n\n")
            told.append(part.markdown())
        return "".join(told)


# Text as HTML


def paragraphs_html(text: str | Sequence[str]) -> str:
    """Escaped paragraphs; text in `backticks` becomes code."""
    parts = [text] if isinstance(text, str) else text
    return "".join(f"<p>{code_html(part)}</p>\n" for part in parts if part)


def code_html(text: str) -> str:
    """One escaped line; text in `backticks` becomes code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


# Text as Markdown: readable in a terminal and when rendered


_CODE = re.compile(r"`([^`]+)`")
# Characters that could start emphasis, a link, a tag, an entity, a formula or strikethrough.
_MARKS = re.compile(
    r"[\\`*\[\]$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)|(?<=~)~|(?<=:)/(?=/)"
)
_START = re.compile(r"^(?:(\s*)([#>+=-])(?=\s|=|-|#|>|$)|(\s*\d{1,9})([.)])(?=\s|$))")


def plain_markdown(text: str) -> str:
    """Text on one line, escaped so that Markdown shows it unchanged.

    >>> print(plain_markdown("*a* <b> seg_01 _x_ 3 < 4"))
    \\*a\\* \\<b> seg_01 \\_x\\_ 3 < 4
    """
    line = " ".join(text.split())
    line = _MARKS.sub(lambda m: "\\" + m[0], line)
    return _START.sub(lambda m: f"{m[1] or m[3] or ''}\\{m[2] or m[4]}", line)


def inline_markdown(text: str) -> str:
    """Text with `backticks` as code, as on the HTML page."""
    line = " ".join(text.split())
    parts = enumerate(_CODE.split(line))
    return "".join(f"`{part}`" if i % 2 else _inner(part, i == 0) for i, part in parts)


def _inner(part: str, first: bool) -> str:
    """The text between two pieces of code, with spaces at its ends."""
    if not part.strip():
        return part
    before, after = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    made = plain_markdown(part) if first else plain_markdown("x " + part.strip())[2:]
    return f"{before}{made}{after}"


def paragraphs_markdown(text: str | Sequence[str]) -> str:
    """Paragraphs, each followed by a blank line."""
    parts = [text] if isinstance(text, str) else text
    return "".join(f"{inline_markdown(part)}\n\n" for part in parts if part)


def fenced(text: str, language: str = "text") -> str:
    """A code block, which may contain backticks."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"


def table_markdown(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> str:
    """A table whose columns also align in a terminal; ``right`` marks columns of numbers.

    The cells are already Markdown; only characters that would end a cell are escaped here.
    """
    table = [[text.replace("|", "\\|") for text in row] for row in [heads, *rows]]
    widths = [max(3, *(_width(row[k]) for row in table)) for k in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            " " * (width - _width(cell)) + cell if side else cell + " " * (width - _width(cell))
            for cell, width, side in zip(cells, widths, right, strict=True)
        ]
        return "| " + " | ".join(padded) + " |\n"

    rule = [
        "-" * (width - 1) + (":" if side else "-")
        for width, side in zip(widths, right, strict=True)
    ]
    body = "".join(map(line, table[1:]))
    if not rows:
        body = line(["No rows.", *[""] * (len(heads) - 1)]) if heads else ""
    return line(table[0]) + line(rule) + body + "\n"


def _width(text: str) -> int:
    """Width of a text in terminal columns: two for a Chinese character, none for an accent."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


# The page around the sections

_HERE = Path(__file__).parent


def page(
    title: str,
    lead: str | Sequence[str] = "",
    sections: Sequence[Section] = (),
    footer: str | Sequence[str] = "",
    *,
    top: Sequence[Section] = (),
) -> str:
    """One HTML document: a title, a lead of one or several paragraphs, sections and a footer.

    ``top`` are sections without a heading that come before the contents, such as a `Headline`.

    It works offline and without scripts, in light and dark mode, on wide and narrow screens, and
    on paper.

    >>> html = page("Results", "All is well.", [])
    >>> html.startswith("<!doctype html>"), "<h1>Results</h1>" in html
    (True, True)
    """
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Makes browsers refuse all scripts but ours, and all external resources.
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    name = escape(title)
    links = "".join(
        f'<li><a href="#section-{i}">{escape(section.title)}</a></li>\n'
        for i, section in enumerate(sections, 1)
    )
    contents = f'<nav aria-label="Contents">\n<ol>\n{links}</ol>\n</nav>\n'
    body = "".join(
        f'<section id="section-{i}" aria-labelledby="section-{i}-title">\n'
        f'<h2 id="section-{i}-title">{escape(section.title)}</h2>\n{section.body()}</section>\n'
        for i, section in enumerate(sections, 1)
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta name="generator" content="fewgold {__version__}">\n'
        f"<title>{name}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header>\n<h1>{name}</h1>\n<div class="lead">\n{paragraphs_html(lead)}</div>\n'
        f"{''.join(section.body() for section in top)}</header>\n"
        f"{contents if len(sections) > 1 else ''}<main>\n{body}</main>\n"
        f"<footer>\n{paragraphs_html(footer)}</footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def markdown(
    title: str,
    lead: str | Sequence[str] = "",
    sections: Sequence[Section] = (),
    footer: str | Sequence[str] = "",
    *,
    top: Sequence[Section] = (),
) -> str:
    """The document as Markdown, for a terminal or a repository.

    >>> print(markdown("Results", "All is *well*.", []))
    # Results
    <BLANKLINE>
    All is \\*well\\*.
    <BLANKLINE>
    """
    parts = [f"# {inline_markdown(title)}\n\n", paragraphs_markdown(lead)]
    parts += [section.markdown() for section in top]
    for section in sections:
        parts += [f"## {inline_markdown(section.title)}\n\n", section.markdown()]
    if footer:
        parts += ["---\n\n", paragraphs_markdown(footer)]
    return "".join(parts).rstrip("\n") + "\n"


def write(path: str | Path, text: str) -> Path:
    """Write a page or a Markdown document to a file; leaves no partial file."""
    target = Path(path)
    write_texts({target: text})
    return target


def figures_of(draw: Callable[[str], Any], names: list[str]) -> dict[str, Any]:
    """The named figures; none if matplotlib is not installed."""
    from fewgold.plots.style import available

    return {name: draw(name) for name in names} if available() else {}


def save_result(
    folder: str | Path,
    frames: Mapping[str, pd.DataFrame],
    texts: Mapping[str, str],
    figures: Mapping[str, Any],
    kinds: tuple[str, ...] = ("png", "svg", "pdf"),
) -> list[Path]:
    """Write each table as CSV, each text under its name and each figure; returns the paths."""
    from fewgold import plots

    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = {place / f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    files |= {place / name: text for name, text in texts.items()}
    write_texts(files)
    drawn = [
        plots.save(figure, place / f"{name}.{kind}")
        for name, figure in figures.items()
        for kind in kinds
    ]
    return [*files, *drawn]
