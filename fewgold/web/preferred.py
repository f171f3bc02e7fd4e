"""Which system people prefer: the page Compare of a campaign with outputs side by side."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fewgold.common.text import fixed, listed
from fewgold.comparison import PairRanking
from fewgold.errors import DataError, FewgoldError
from fewgold.web.files import TextTable

if TYPE_CHECKING:
    import pandas as pd
    from fastapi import Request

    from fewgold.bayes.pairwise import Preferences
    from fewgold.web.explore_view import View

    Found = Preferences | PairRanking

FIGURES = {
    "preferences": (
        "Preferences",
        "Shares with their intervals. Hollow marks: the judges alone.",
    ),
}
_WITHOUT_JUDGES = {"preferences": ("Preferences", "Shares with their intervals.")}


def found(view: View, judges: tuple[str, ...]) -> Found:
    """The preferences so far; an error says why there are none yet."""
    if not view.status.rated:
        raise DataError("there are no answers yet.")
    key = ("preferences", judges)
    made: Found = view.results.get(key, lambda: view.campaign.preferences(judges))
    return made


def judges_of(view: View, request: Request) -> tuple[str, ...]:
    """The metrics that were ticked as judges, in the order of the pool."""
    asked = request.query_params.getlist("judge")
    return tuple(name for name in view.metrics if name in asked)


def shown(view: View, judges: tuple[str, ...], place: str) -> dict[str, Any]:
    """Everything that the page shows."""
    words = [f"fewgold preferences {place}"]
    words += [f"--judge {shlex.quote(','.join(judges))}"] if judges else []
    level = view.status.confidence
    words += [f"--confidence {level:g}"] if level != 0.95 else []
    told: dict[str, Any] = {
        "told": view.status, "at": view.version, "metrics": view.metrics, "judges": judges,
        "commands": [(" ".join(words), "Compute which system people prefer.")], "sides":
        view.campaign.settings.sides, "trouble": "", "lead": "", "grids": [], "notes": [],
        "kinds": FIGURES if judges else _WITHOUT_JUDGES,
        "query": "".join(f"{urlencode({'judge': name})}&" for name in judges),
    }  # fmt: skip
    try:
        made = found(view, judges)
    except FewgoldError as error:
        return told | {"trouble": error.message_for("web")}
    return told | (_of_many(made) if isinstance(made, PairRanking) else _of_two(made, level))


def frames(made: Found, level: float) -> dict[str, pd.DataFrame]:
    """The tables to download, by name."""
    if isinstance(made, PairRanking):
        return {"ranking": made.to_frame(), "differences": made.differences()}
    return {"preferences": made.to_frame(level)}


def _of_two(made: Preferences, level: float) -> dict[str, Any]:
    """Shares of wins and ties, and the net preference."""
    chance, names = made.probability_better, (made.a, made.b)
    if chance < 0.5:
        chance, names = 1 - chance, names[::-1]
    said = "over 0.999" if chance > 0.9995 else f"{chance:.3f}"
    called = {
        made.a: f"{made.a} is better", made.b: f"{made.b} is better", "tie": "neither",
        "net": f"net preference for {made.a}",
    }  # fmt: skip
    rows = [
        [
            called[row["preferred"]], fixed(row["people"], 3),
            *([fixed(row["judges"], 3)] if made.judges else []), fixed(row["mean"], 3),
            f"{fixed(row['low'], 3)} to {fixed(row['high'], 3)}",
        ]
        for row in made.to_frame(level).to_dict("records")
    ]  # fmt: skip
    heads = ["", "people", *(["judges"] if made.judges else []), "all pairs", f"{100 * level:g}%"]
    caption = (
        "Shares of the pairs: of those that people judged, and estimated for all pairs. The net "
        "preference is the share of the first minus that of the second."
    )
    return {
        "lead": f"{names[0]} is preferred more often than {names[1]} with probability {said}.",
        "grids": [TextTable("preferences", caption, heads, rows)], "notes": list(made.notes),
    }  # fmt: skip


def _of_many(made: PairRanking) -> dict[str, Any]:
    """Ranks by the Bradley–Terry model, and all pairs of systems."""
    level = f"{100 * made.confidence:g}%"
    table = made.to_frame().to_dict("records")
    rows = [
        [
            "–".join(map(str, sorted({row["rank_low"], row["rank_high"]}))), str(row["system"]),
            fixed(row["share"], 3),
            f"{fixed(row['share_low'], 3)} to {fixed(row['share_high'], 3)}",
            str(row["pairs"]), str(row["wins"]), str(row["ties"]), str(row["losses"]),
        ]
        for row in table
    ]  # fmt: skip
    heads = ["rank", "system", "points", level, "judged", "won", "tied", "lost"]
    caption = (
        "Ranking, best first. Points: the share of pairs that a system wins against the others, "
        "where a tie is half a win (Bradley–Terry model)."
    )
    pairs = [
        [
            f"{row['first']} preferred to {row['second']}", fixed(row["preferred"], 3),
            f"{fixed(row['low'], 3)} to {fixed(row['high'], 3)}",
            "< 0.001" if row["p_adjusted"] < 0.001 else fixed(row["p_adjusted"], 3),
            "yes" if row["significant"] else "no",
        ]
        for row in made.differences().to_dict("records")
    ]  # fmt: skip
    apart = TextTable(
        "differences",
        "Probability that the first system of a pair is preferred. p is corrected for all pairs.",
        ["pair", "chance", level, "p", "told apart"], pairs,
    )  # fmt: skip
    told = f"People judged {made.rated:,} of {made.pool_size:,} pairs."
    if made.judges:
        helps = f"removes {made.gain:.0%} of the variance"
        told += f" All pairs were judged by {listed(list(made.judges))}, which "
        told += f"{helps if made.gain > 0.005 else 'does not help'}."
    return {
        "lead": told, "grids": [TextTable("ranking", caption, heads, rows, 2), apart],
        "notes": list(made.notes),
    }  # fmt: skip
