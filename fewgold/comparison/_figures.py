"""Figures of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold import plots
from fewgold._validate import check_choice
from fewgold.comparison._text import decimals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fewgold.comparison._comparison import Comparison

PLOTS = ("forest", "differences", "ranks")
_LEVELS = (0.05, 0.01, 0.001)
_CORRECTED = {"holm": "by Holm", "fdr": "by FDR", "none": "not corrected"}


def draw(result: Comparison, kind: str, ax: Axes | None) -> Axes:
    """Draw the scores, all differences or the ranks."""
    check_choice("kind", kind, PLOTS)
    if kind == "forest":
        names = result.facts["human"]
        way = "higher" if result.higher_is_better else "lower"
        label = f"{' and '.join(names) if len(names) < 3 else 'score'} ({way} is better)"
        frame = result.scores().assign(group=result.ranking()["group"])
        return plots.forest(frame, ax, label=label, confidence=result.confidence)
    if kind == "ranks":
        return plots.rank_intervals(
            result.ranking(), result.rank_probabilities(), ax, confidence=result.confidence
        )
    return _differences(result, ax)


def _differences(result: Comparison, ax: Axes | None) -> Axes:
    import pandas as pd

    at = np.ix_(result.order, result.order)
    names = [result.systems[k] for k in result.order]
    value, half, adjusted = result.pairs.value[at], result.half[at], result.adjusted[at]
    depth = (adjusted[..., None] <= np.array(_LEVELS)).sum(-1)
    np.fill_diagonal(depth, 0)
    known = half[np.isfinite(half) & (half > 0)]
    digits = decimals(float(np.median(known))) if known.size else 2
    cells = [
        [
            f"{v:+.{digits}f}\n±{h:.{digits}f}".replace("-", "−").replace("inf", "?")
            for v, h in zip(*rows, strict=True)
        ]
        for rows in zip(value, half, strict=True)
    ]
    return plots.significance_matrix(
        pd.DataFrame(result.p_better[at], index=names, columns=names), depth, ax, levels=_LEVELS,
        means=result.scores()["score"].to_numpy(), cells=cells,
        said=f"row less column, ± for {100 * result.confidence:.10g}%",
        note=_CORRECTED[result.correction],
    )  # fmt: skip
