"""Draw the layers of fewgold: ``python docs/layers.py`` writes layers.svg.

The layers are the numbered list in architecture.md, which tests/test_architecture.py checks on the
source; here they only get a picture.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "architecture.md"
PICTURE = HERE / "layers.svg"

ROW, HIGH, LETTER, GAP, LEFT = 62, 26, 7.6, 10, 44  # pixels
INK, LINE, FILL, BAND, HEART = "#1f2933", "#8a97a6", "#fff", "#eef3f8", "#fbe8c8"
# What a visitor comes for.
FIRST = {"samplers", "estimators", "bounds", "bayes"}


def layers(page: str) -> list[tuple[list[str], str]]:
    """Each layer's parts, in the order in which they may import each other, and its sentence."""
    listed = page.split("## Nine layers")[1].split("\n## ", maxsplit=1)[0]
    found = []
    for item in re.findall(r"^\d+\. (.*(?:\n {3}.*)*)", listed, re.MULTILINE):
        parts, _, sentence = " ".join(item.split()).partition(": ")
        found.append((re.findall(r"`([^`]+)`", parts), sentence))
    return found


def drawn(rows: list[tuple[list[str], str]]) -> str:
    """The picture as SVG: the first layer at the bottom, private modules left out."""
    shown = [([p for p in parts if not p.startswith("_")], sentence) for parts, sentence in rows]
    width = round(LEFT + GAP + max(sum(map(_wide, parts)) + GAP * len(parts) for parts, _ in shown))
    height = ROW * len(rows) + GAP
    told = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="12.5">',
        "<title>The layers of fewgold: each imports from those below it</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for k, (parts, sentence) in enumerate(shown):
        top = GAP + ROW * (len(rows) - 1 - k)
        told += [
            f'<rect x="{GAP}" y="{top}" width="{width - 2 * GAP}" height="{ROW - 8}" rx="6" '
            f'fill="{BAND}"/>',
            f'<text x="{GAP + 12}" y="{top + 32}" font-size="16" fill="{LINE}">{k + 1}</text>',
            f'<text x="{LEFT}" y="{top + 48}" font-size="11" fill="{INK}">'
            f"{escape(sentence)}</text>",
        ]
        x = float(LEFT)
        for part in parts:
            wide = _wide(part)
            fill = HEART if part in FIRST else FILL
            told += [
                f'<rect x="{x:.0f}" y="{top + 6}" width="{wide:.0f}" height="{HIGH}" rx="5" '
                f'fill="{fill}" stroke="{LINE}"/>',
                f'<text x="{x + wide / 2:.0f}" y="{top + 23}" text-anchor="middle" fill="{INK}" '
                f'font-family="ui-monospace, Menlo, Consolas, monospace">{part}</text>',
            ]
            x += wide + GAP
    return "\n".join([*told, "</svg>", ""])


def _wide(part: str) -> float:
    """Width of a part's box."""
    return LETTER * len(part) + 16


def picture() -> str:
    """What layers.svg must hold for the page as it is."""
    return drawn(layers(PAGE.read_text(encoding="utf-8")))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
