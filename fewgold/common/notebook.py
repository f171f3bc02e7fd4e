"""Small HTML tables: what a notebook shows of a result."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

# Colours are those of the notebook, light or dark.
_CELL = "padding:.15em .8em;text-align:{side}"


def html_table(
    caption: str,
    rows: Sequence[Sequence[object]],
    heads: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """A table with a caption and notes below it; all text is escaped.

    The first column holds the names of the rows, at the left like other texts. Numbers stand at the
    right, so write them as numbers or give them ready-made as text.

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
    side = "right" if numbers else "left"
    first = f'<th scope="row" style="{_CELL.format(side="left")}">{escape(str(row[0]))}</th>'
    rest = (f'<td style="{_CELL.format(side=side)}">{escape(str(cell))}</td>' for cell in row[1:])
    return first + "".join(rest)
