"""A small part of Markdown as safe HTML: enough to write instructions for raters.

Paragraphs, headings, lists, quotes, **bold**, *italic*, `code` and [links](https://…). Everything
else, HTML included, is shown as it was typed: text is escaped first.
"""

from __future__ import annotations

import re
from html import escape

_HEADING = re.compile(r"(#{1,4})\s+(.+?)\s*#*$")
_BULLET = re.compile(r"[-*+]\s+(.+)$")
_NUMBERED = re.compile(r"\d{1,3}[.)]\s+(.+)$")
_QUOTE = re.compile(r">\s?(.*)$")
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\(((?:https?://|mailto:)[^\s()<>\"']+)\)")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])")
_LOWEST = 2  # a page has its own first-level heading


def to_html(text: str) -> str:
    """Convert a text to HTML; nothing the user typed becomes a tag or a script.

    >>> to_html("# How to rate\\n\\nCount *errors*:\\n\\n- **major**: 5\\n- minor: 1")
    '<h2>How to rate</h2>\\n<p>Count <em>errors</em>:</p>\\n<ul>\\n<li><strong>major</strong>: 5</li>\\n<li>minor: 1</li>\\n</ul>\\n'
    >>> to_html("<script>alert(1)</script> [x](javascript:alert(1))")
    '<p>&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert(1))</p>\\n'
    """  # noqa: E501
    made: list[str] = []
    kind, held = "", list[str]()

    def close() -> None:
        nonlocal kind
        if kind == "p":
            made.append(f"<p>{'<br>'.join(map(_inline, held))}</p>\n")
        elif kind == "blockquote":
            made.append(f"<blockquote><p>{'<br>'.join(map(_inline, held))}</p></blockquote>\n")
        elif kind:
            items = "".join(f"<li>{_inline(item)}</li>\n" for item in held)
            made.append(f"<{kind}>\n{items}</{kind}>\n")
        kind = ""
        held.clear()

    def hold(sort: str, line: str) -> None:
        nonlocal kind
        if kind != sort:
            close()
            kind = sort
        held.append(line)

    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        bare = line.strip()
        if not bare:
            close()
        elif found := _HEADING.match(bare):
            close()
            level = min(len(found[1]) + _LOWEST - 1, 6)
            made.append(f"<h{level}>{_inline(found[2])}</h{level}>\n")
        elif found := _BULLET.match(bare):
            hold("ul", found[1])
        elif found := _NUMBERED.match(bare):
            hold("ol", found[1])
        elif found := _QUOTE.match(bare):
            hold("blockquote", found[1])
        elif kind in ("ul", "ol") and line[:1] in " \t":
            held[-1] += f" {bare}"
        else:
            hold("p", bare)
    close()
    return "".join(made)


def _inline(text: str) -> str:
    """A line with its inline markup; text in `code` is left alone."""
    parts = _CODE.split(text)
    return "".join(
        f"<code>{escape(part)}</code>" if k % 2 else _marked(part) for k, part in enumerate(parts)
    )


def _marked(text: str) -> str:
    made, last = [], 0
    for found in _LINK.finditer(text):
        made.append(_emphasised(escape(text[last : found.start()])))
        address = escape(found[2])
        label = _emphasised(escape(found[1]))
        made.append(f'<a href="{address}" target="_blank" rel="noopener noreferrer">{label}</a>')
        last = found.end()
    made.append(_emphasised(escape(text[last:])))
    return "".join(made)


def _emphasised(escaped: str) -> str:
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", escaped))
