"""Draw which part of fewgold imports which: ``python docs/import_graph.py`` writes imports.svg.

A part stands above all that it imports. An import that follows from others is left out (the
transitive reduction), and modules that begin with an underscore are looked through.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent / "fewgold"
PICTURE = HERE / "imports.svg"

ROW, HIGH, LETTER, GAP = 58, 26, 7.6, 22  # pixels
INK, LINE, FILL = "#1f2933", "#8a97a6", "#eef3f8"

Graph = dict[str, set[str]]
Knot = tuple[str, int]  # a part in its row, or a bend of the line to it in a row above


def imports(source: Path = SOURCE) -> Graph:
    """The parts of the package and what each imports of the others, as the source has it."""
    files = [
        p for p in sorted(source.rglob("*.py")) if p.name not in ("__init__.py", "__main__.py")
    ]
    files += [p for p in sorted(source.rglob("__init__.py")) if p.parent != source]
    parts = {p.relative_to(source).parts[0].removesuffix(".py") for p in files}
    graph: Graph = {part: set() for part in sorted(parts)}
    for path in files:
        part = path.relative_to(source).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            found = {n.split(".")[1] for n in names if n.startswith("fewgold.")}
            graph[part] |= found & parts - {part}
    return graph


def public(graph: Graph) -> Graph:
    """Without private modules: who imports one imports what it imports."""
    graph = dict(graph)
    for private in [part for part in graph if part.startswith("_")]:
        behind = graph.pop(private)
        for part, others in graph.items():
            if private in others:
                graph[part] = others - {private} | behind
    return graph


def reduced(graph: Graph) -> Graph:
    """Without imports that follow from others."""

    def below(part: str) -> set[str]:
        return graph[part].union(*(below(other) for other in graph[part]))

    under = {part: below(part) for part in graph}
    return {a: {b for b in graph[a] if not any(b in under[c] for c in graph[a])} for a in graph}


def rows_of(graph: Graph) -> dict[str, int]:
    """How far each part is above the ground."""
    height: dict[str, int] = {}

    def of(part: str) -> int:
        if part not in height:
            height[part] = 1 + max((of(other) for other in graph[part]), default=-1)
        return height[part]

    return {part: of(part) for part in graph}


def lines_of(graph: Graph, row: dict[str, int]) -> list[tuple[Knot, Knot]]:
    """Lines from row to row. Those to one part share a stem, so that few are needed."""
    lines = set()
    for target in graph:
        above = [part for part in graph if target in graph[part]]
        top = max((row[part] for part in above), default=0) - 1
        stem = [(target, k) for k in range(row[target], top + 1)]
        lines |= set(pairwise(stem)) | {((target, row[p] - 1), (p, row[p])) for p in above}
    return sorted(lines)


def placed(
    knots: list[Knot], lines: list[tuple[Knot, Knot]], wide: dict[Knot, float]
) -> dict[Knot, float]:
    """Where each knot stands from left to right: near those that it is joined to."""
    joined: dict[Knot, list[Knot]] = {knot: [] for knot in knots}
    for a, b in lines:
        joined[a].append(b)
        joined[b].append(a)
    levels = [[k for k in knots if k[1] == r] for r in range(1 + max(k[1] for k in knots))]
    x = {knot: 60.0 * k for level in levels for k, knot in enumerate(level)}
    for turn in range(60):
        for level in levels if turn % 2 else levels[::-1]:
            wish = {}
            for knot in level:
                near = [j for j in joined[knot] if (j[1] < knot[1]) == bool(turn % 2)]
                near = near if near and turn < 40 else joined[knot]
                wish[knot] = sum(x[j] for j in near) / len(near) if near else x[knot]
            order = sorted(level, key=lambda knot: (wish[knot], knot))
            x |= _apart(order, wish, wide)
    left = min(x[k] - wide[k] / 2 for k in knots)
    return {knot: x[knot] - left + GAP for knot in knots}


def _apart(
    order: list[Knot], wish: dict[Knot, float], wide: dict[Knot, float]
) -> dict[Knot, float]:
    """Places in this order as near to the wishes as the widths allow, in least squares."""
    offset, at = 0.0, {}
    blocks: list[tuple[float, int]] = []  # mean wish and size, as isotonic regression pools them
    for k, knot in enumerate(order):
        if k:
            offset += (wide[order[k - 1]] + wide[knot]) / 2 + GAP
        at[knot] = offset
        mean, size = wish[knot] - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, more = blocks.pop()
            mean, size = (mean * size + other * more) / (size + more), size + more
        blocks.append((mean, size))
    starts = [mean for mean, size in blocks for _ in range(size)]
    return {knot: start + at[knot] for knot, start in zip(order, starts, strict=True)}


def drawn(graph: Graph) -> str:
    """The picture as SVG."""
    row = rows_of(graph)
    lines = lines_of(graph, row)
    parts = {(part, row[part]) for part in graph}
    knots = sorted(parts | {knot for line in lines for knot in line})
    wide = {k: LETTER * len(k[0]) + 20 if k in parts else 4.0 for k in knots}
    x = placed(knots, lines, wide)
    top = max(row.values())
    y = {knot: GAP + HIGH / 2 + ROW * (top - knot[1]) for knot in knots}
    width = max(x[k] + wide[k] / 2 for k in knots) + GAP
    height = 2 * GAP + HIGH + ROW * top
    told = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" '
        'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12.5">',
        "<title>Which part of fewgold imports which</title>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#fff"/>',
        f'<g fill="none" stroke="{LINE}" stroke-width="1.2">',
    ]
    for low, high in lines:
        start, end = y[low] - (HIGH / 2 if low in parts else 0), y[high] + HIGH / 2
        if high not in parts:
            end = y[high]
        half = (start + end) / 2
        told.append(
            f'<path d="M{x[low]:.0f} {start:.0f}C{x[low]:.0f} {half:.0f} {x[high]:.0f} {half:.0f} '
            f'{x[high]:.0f} {end:.0f}"/>'
        )
    told += ["</g>", f'<g text-anchor="middle" fill="{INK}">']
    for knot in sorted(parts):
        left, upper = x[knot] - wide[knot] / 2, y[knot] - HIGH / 2
        told += [
            f'<rect x="{left:.0f}" y="{upper:.0f}" width="{wide[knot]:.0f}" height="{HIGH}" '
            f'rx="5" fill="{FILL}" stroke="{LINE}"/>',
            f'<text x="{x[knot]:.0f}" y="{y[knot] + 4:.0f}">{knot[0]}</text>',
        ]
    return "\n".join([*told, "</g>", "</svg>", ""])


def picture() -> str:
    """What imports.svg must hold for the code as it is."""
    return drawn(reduced(public(imports())))


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
