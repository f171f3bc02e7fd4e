"""The summary of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fewgold.comparison._comparison import Comparison


def summary(result: Comparison) -> str:
    """Ranking, what tells neighbours apart, and notes."""
    facts = result.facts
    about = (
        f"all {facts['pool_size']} segments"
        if facts["target"] == "pool"
        else f"new {facts['unit']}s like these"
    )
    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(np.nanmin(scores["se"])))
    level = f"{100 * result.confidence:.10g}%"
    wide = max(6, *(len(name) for name in scores["system"]))
    head = f"{len(result.systems)} systems, {facts['n']} segments rated; about {about}"
    lines = [
        head,
        "",
        f"{'rank':<6}{'system':<{wide + 2}}{'score':>8}  {level + ' interval':<18}{'P(best)':>7}",
    ]
    group = 0
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    for place, own in both:
        if place.group != group and group:
            lines.append("-" * (wide + 43))
        group, first, last = place.group, place.rank_low, place.rank_high
        span = f"{first}" if first == last else f"{first}–{last}"
        interval = f"{own.low:.{digits}f} to {own.high:.{digits}f}"
        lines.append(
            f"{span:<6}{own.system:<{wide + 2}}{own.score:>8.{digits}f}  {interval:<18}"
            f"{place.p_best:>7.3f}"
        )
    pairs = result.differences()
    sure = int(pairs["significant"].sum())
    lines += [
        "",
        f"{sure} of {len(pairs)} differences are significant at {result.level:g} "
        f"({_CORRECTED[result.correction]})",
    ]
    if float(result.pairs.gain) > 0:
        lines.append(
            f"metrics took {100 * float(result.pairs.gain):.0f}% off the variance of differences"
        )
    factor = result.factor[np.isfinite(result.factor) & (result.basis == "shared")]
    if factor.size:
        lines.append(
            f"rated on different {facts['unit']}s, differences would have "
            f"{np.median(factor):.1f} times the variance"
        )
    if result.people is not None:
        lines.append(
            f"{len(result.people.names)} raters: α = {result.people.alpha:.2f}, biases from "
            f"{np.nanmin(result.people.bias):+.2f} to {np.nanmax(result.people.bias):+.2f}"
            if np.isfinite(result.people.bias).any()
            else f"{len(result.people.names)} raters, no output rated by two of them"
        )
    lines += [f"note: {note}" for note in result.remarks]
    return "\n".join([*lines, result.signature()])


_CORRECTED = {
    "holm": "Holm: no false finding among all",
    "fdr": "FDR: share of false findings",
    "none": "each by itself, not corrected",
}


def decimals(error: float, digits: int = 2) -> int:
    """Digits after the point that show an error of this size to some digits."""
    if not (math.isfinite(error) and error > 0):
        return 3
    return min(max(digits - 1 - math.floor(math.log10(error)), 0), 8)


def findings(result: Comparison) -> list[str]:
    """What stands out: significant differences first, then what metrics and pairing gained."""
    pairs = result.differences()
    by = {"holm": "by Holm", "fdr": "by FDR", "none": "not corrected"}[result.correction]
    found = [
        f"{int(pairs['significant'].sum())} of {len(pairs)} differences are significant at "
        f"{result.level:g} ({by})."
    ]
    gain = float(result.pairs.gain)
    if gain > 0:
        found.append(f"Metrics took {100 * gain:.0f}% off the variance of the differences.")
    factor = result.factor[np.isfinite(result.factor) & (result.basis == "shared")]
    if factor.size:
        found.append(
            f"Rated on different {result.facts['unit']}s, differences would have "
            f"{np.median(factor):.1f} times the variance."
        )
    return found
