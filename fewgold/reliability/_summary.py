"""Reliability as text for people, 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import IntArray
from fewgold.report import number

if TYPE_CHECKING:
    from fewgold.reliability._documents_table import DocumentsNeeded
    from fewgold.reliability._result import Reliability

_WIDTH = 80
_NAME = 18  # the longest name of a system


def text(result: Reliability) -> str:
    """Curves at three numbers of documents, fits, ranks, and what they do not say."""
    data = result.data
    lines = [
        f"{count(len(data.documents), 'document')}, {count(int(data.sizes.sum()), 'segment')}, "
        f"{result.order_text}, {result.draws} draws of {result.resample}"
    ]
    if data.left_out:
        lines.append(f"{count(data.left_out, 'segment')} without every score left out")
    for s in range(len(result.scores)):
        lines += ["", *_table(result, s)]
    lines += ["", *_meaning(result)]
    return "\n".join(lines)


def _table(result: Reliability, s: int) -> list[str]:
    """A line a system, and how soon their ranking is settled."""
    score = result.scores[s]
    places = _three(result.at)
    fits = [
        row
        for row in result.fits().to_dict("records")
        if row["score"] == score and row["kind"] == "power"
    ]
    heads = [shorten(score), "mean", *(str(result.at[k]) for k in places)]
    rows = [[*heads, "b", "R²", "x_min", "x_max"]]
    for m, fit in enumerate(fits):
        curve = result.curve(s, m)
        cells = [shorten(result.systems[m]), number(result.data.means[s, m])]
        cells += [number(curve[k], percent=result.relative, digits=2) for k in places]
        cells += [number(fit["b"], digits=2), number(fit["r2"])]
        x_min = number(fit["x_min"], digits=2)
        if result.orders > 1:
            ends = [number(fit[f"x_min_{end}"], digits=2) for end in ("low", "high")]
            x_min += f" ({ends[0]}–{ends[1]})"
        rows.append([*cells, x_min, number(fit["x_max"], digits=2)])
    kind = "Relative sd" if result.relative else "Standard deviation"
    ends = [str(result.at[k]) for k in places]
    numbers = f"{', '.join(ends[:-1])} and {ends[-1]}" if len(ends) > 1 else ends[0]
    lines = [f"{kind} with {numbers} documents, and its power law a·x^(−b)"]
    lines += _aligned(rows)
    if len(result.systems) > 1:
        pairs, tau = result.pairs[s].mean(0), result.tau[s].mean(0)
        parts = [
            f"{number(pairs[k], percent=True, digits=2)} with {result.at[k]} (τ {tau[k]:.2f})"
            for k in places
        ]
        lines += wrap(f"Pairs of systems in the final order: {', '.join(parts)}", _WIDTH)
    return lines


def _meaning(result: Reliability) -> list[str]:
    x = "1 + 1/b" if result.x_i == 1 else f"{result.x_i:g}·(1 + 1/b)"
    step = number(result.epsilon, percent=result.relative, digits=1)
    notes = [
        f"x_min = {x} goes by the exponent alone and tells nothing about the noise: that of any "
        f"mean of unrelated segments, 1/2, gives {3 * result.x_i:g}. x_max is where one more "
        f"document lowers the curve by {step}."
    ]
    factor = np.sqrt(result.clusters.deff[np.isfinite(result.clusters.deff)])
    if result.resample == "segments" and factor.size and np.median(factor) > 1.05:
        low, high = f"{factor.min():.1f}", f"{factor.max():.1f}"
        notes.append(
            "Segments of a document are alike: where documents are drawn, the standard deviation "
            f"is {low if low == high else f'{low} to {high}'} times as large (resample documents)."
        )
    last = result.spread[..., -1]
    if result.relative and np.isfinite(last).any() and np.nanmax(last) > 0.5:
        notes.append(
            "Some means are near 0, so that standard deviations relative to them are unsteady. "
            "Take absolute ones."
        )
    return [line for sentence in notes for line in wrap(sentence, _WIDTH)]


def needed(plan: DocumentsNeeded) -> str:
    """How many documents for a half-width, as text."""
    where = "many" if plan.population is None else str(plan.population)
    what = "score" if plan.against is None else f"difference to {plan.against}"
    lines = [
        f"Documents, out of {where}, for a {what} within ±{plan.half_width:g} "
        f"({100 * plan.confidence:g}%)"
    ]
    head = "mean" if plan.against is None else "difference"
    for score, part in plan.to_frame().groupby("score", sort=False):
        rows = [[shorten(str(score)), head, "±", "icc", "deff", "documents", "segments"]]
        for row in part.to_dict("records"):
            cells = [shorten(str(row["system"])), number(row["value"])]
            cells += [number(row[name], digits=2) for name in ("half_width", "icc", "deff")]
            many = [f"{row[name]:.0f}" for name in ("documents", "segments")]
            rows.append([*cells, *(many if row["documents"] == row["documents"] else ["–", "–"])])
        lines += _aligned(rows)
    notes = (
        f"± is what the {len(plan.data.documents)} documents of the data give as a sample from "
        "many; icc is the correlation within documents, deff how many times as many segments whole "
        "documents need."
    )
    return "\n".join([*lines, *wrap(notes, _WIDTH)])


def count(n: int, what: str) -> str:
    """1 document, 2 documents."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def shorten(name: str) -> str:
    """A name that leaves room for the numbers."""
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def _aligned(rows: Sequence[Sequence[Any]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            [f"{row[0]:{widths[0]}}"]
            + [f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True)]
        )
        for row in rows
    ]


def _three(at: IntArray) -> list[int]:
    """Where in ``at`` the first number is, the last, and one half way on a logarithmic scale."""
    middle = np.abs(np.log(at) - np.log(at[[0, -1]]).mean()).argmin()
    return sorted({0, int(middle), at.size - 1})
