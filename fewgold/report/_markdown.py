"""Text and tables as Markdown: plain in a terminal, and the same text on a page that renders it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_CODE = re.compile(r"`([^`]+)`")
# Marks that could begin emphasis, a link, a tag, an entity, a formula or a struck line.
_MARKS = re.compile(
    r"[\\`*\[\]$]|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)|(?<=~)~|(?<=:)/(?=/)"
)
_START = re.compile(r"^(?:(\s*)([#>+=-])(?=\s|=|-|#|>|$)|(\s*\d{1,9})([.)])(?=\s|$))")


def plain_markdown(text: str) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> print(plain_markdown("*a* <b> seg_01 _x_ 3 < 4"))
    \\*a\\* \\<b> seg_01 \\_x\\_ 3 < 4
    """
    line = " ".join(text.split())
    line = _MARKS.sub(lambda m: "\\" + m[0], line)
    return _START.sub(lambda m: f"{m[1] or m[3] or ''}\\{m[2] or m[4]}", line)


def inline_markdown(text: str) -> str:
    """Text, with what stands in `backticks` as code, as it is on the HTML page."""
    line = " ".join(text.split())
    parts = _CODE.split(line)
    done = [f"`{part}`" if i % 2 else _inner(part, i == 0) for i, part in enumerate(parts)]
    return "".join(done)


def _inner(part: str, first: bool) -> str:
    """A stretch between two pieces of code, with the blanks at its ends."""
    if not part.strip():
        return part
    before, after = part[: len(part) - len(part.lstrip())], part[len(part.rstrip()) :]
    made = plain_markdown(part) if first else plain_markdown("x " + part.strip())[2:]
    return f"{before}{made}{after}"


def paragraphs_markdown(text: str | Sequence[str]) -> str:
    """Paragraphs, a blank line after each."""
    parts = [text] if isinstance(text, str) else text
    return "".join(f"{inline_markdown(part)}\n\n" for part in parts if part)


def fenced(text: str, language: str = "text") -> str:
    """A block of code, whatever backticks it holds."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n\n"


def table_markdown(
    heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]
) -> str:
    """A table whose columns line up in a terminal too; ``right`` says which hold numbers.

    The cells are Markdown already; only what would end a cell is escaped here.
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
    """Columns that a terminal takes for a text: two for a Chinese character, none for an accent."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
