"""Tables of a comparison: ranking, differences of pairs, raters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fewgold.web._replay_show import Grid, minus

if TYPE_CHECKING:
    from fewgold.comparison import Comparison


def ranking(result: Comparison) -> Grid:
    """Ranks, groups and scores, the best system first."""
    from fewgold.comparison._text import decimals

    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(scores["se"].min()))
    level = f"{100 * result.confidence:.10g}%"
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    rows = [
        [
            "–".join(map(str, sorted({place.rank_low, place.rank_high}))),
            own.system, str(place.group), minus(f"{own.score:.{digits}f}"),
            minus(f"{own.low:.{digits}f} to {own.high:.{digits}f}"), f"{place.p_best:.3f}",
        ]
        for place, own in both
    ]  # fmt: skip
    caption = (
        "Ranking, the best first. Systems of one group cannot be told apart with these ratings, "
        "which does not say that they are equal."
    )
    return Grid("ranking", caption, ["rank", "system", "group", "score", level, "P(best)"], rows, 2)


def differences(result: Comparison) -> Grid:
    """All pairs of systems, with what is significant."""
    from fewgold.comparison._text import decimals

    frame, level = result.differences(), f"{100 * result.confidence:.10g}%"
    digits = decimals(float(frame["se"].min()))
    every: Any = frame.itertuples()
    rows = [
        [
            f"{row.first} − {row.second}",
            minus(f"{row.difference:+.{digits}f}"),
            minus(f"{row.low:.{digits}f} to {row.high:.{digits}f}")
            if math.isfinite(row.low)
            else "unknown",
            f"{row.p_better:.3f}",
            "< 0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}",
            "yes" if row.significant else "not shown",
        ]
        for row in every
    ]
    heads = ["difference", "first less second", level, "P(better)", "p, corrected", "significant"]
    caption = (
        "Differences of pairs, on the same segments where there are any. P(better): the "
        "probability that the first is truly better. Where a difference is not shown, more "
        "ratings may show it."
    )
    return Grid("differences", caption, heads, rows)


def raters(result: Comparison) -> Grid:
    """Raters, how well they agree and how each one differs from the others."""
    assert result.people is not None
    people = result.people
    agree = (
        f"Krippendorff's α {_number(people.alpha, 2)}, mean correlation "
        f"{_number(people.correlation, 2)}; "
        if people.shared
        else ""
    )
    caption = f"Raters: {agree}{people.shared} of {people.outputs} outputs rated by two or more."
    every: Any = people.to_frame().itertuples()
    rows = [
        [
            row.rater, str(row.ratings), minus(f"{row.mean:.3f}"), _number(row.bias, 3, "+"),
            _number(row.bias_se, 3), _number(row.spread, 3),
        ]
        for row in every
    ]  # fmt: skip
    return Grid("raters", caption, ["rater", "ratings", "mean", "bias", "±", "spread"], rows)


def _number(value: float, digits: int, sign: str = "") -> str:
    return "–" if math.isnan(value) else minus(f"{value:{sign}.{digits}f}")
