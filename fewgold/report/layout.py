"""The page around the sections. It loads nothing: style and script are inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold._version import __version__
from fewgold.io import write_texts
from fewgold.report.sections import (
    Section,
    inline_markdown,
    markdown_of,
    paragraphs_html,
    paragraphs_markdown,
)

if TYPE_CHECKING:
    import pandas as pd

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

    ``top`` are sections that come before the contents and without a heading, such as a `Headline`.

    It works without a network and without scripts, on screens light and dark, wide and narrow,
    and on paper.

    >>> html = page("Results", "All is well.", [])
    >>> html.startswith("<!doctype html>"), "<h1>Results</h1>" in html
    (True, True)
    """
    style = (_HERE / "page.css").read_text(encoding="utf-8")
    script = (_HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # Browsers then refuse every script but ours, and to load anything from elsewhere.
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
    """The same document as Markdown, for a terminal or a repository.

    >>> print(markdown("Results", "All is *well*.", []))
    # Results
    <BLANKLINE>
    All is \\*well\\*.
    <BLANKLINE>
    """
    parts = [f"# {inline_markdown(title)}\n\n", paragraphs_markdown(lead)]
    parts += map(markdown_of, top)
    for section in sections:
        parts += [f"## {inline_markdown(section.title)}\n\n", markdown_of(section)]
    if footer:
        parts += ["---\n\n", paragraphs_markdown(footer)]
    return "".join(parts).rstrip("\n") + "\n"


def write(path: str | Path, text: str) -> Path:
    """Write a page or a Markdown document to a file, whole or not at all."""
    target = Path(path)
    write_texts({target: text})
    return target


def figures_of(draw: Callable[[str], Any], names: list[str]) -> dict[str, Any]:
    """The figures of these names; none where matplotlib is not installed."""
    from fewgold.plots.style import available

    return {name: draw(name) for name in names} if available() else {}


def save_result(
    folder: str | Path,
    frames: Mapping[str, pd.DataFrame],
    texts: Mapping[str, str],
    figures: Mapping[str, Any],
    kinds: tuple[str, ...] = ("png",),
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
