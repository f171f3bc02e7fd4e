"""What the rating of a segment costs, from a column or a formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

_HINT = "A cost is a column or FIXED+PER*COLUMN, such as 12+0.7*words or 12+0.7*words(output)."
_COST = re.compile(
    r"(?:(?P<fixed>\d+\.?\d*|\.\d+)\s*\+\s*)?(?:(?P<per>\d+\.?\d*|\.\d+)\s*\*\s*)?"
    r"(?:words\((?P<text>.+)\)|(?P<column>.+))"
)


class CostTerms(NamedTuple):
    """FIXED + PER · the number in a column, or · its words."""

    fixed: float
    per: float
    column: str
    words: bool


def cost_terms(cost: str, columns: Sequence[str]) -> CostTerms:
    """What a cost is made of: a column, or a formula over one of the ``columns``."""
    if cost in columns:
        return CostTerms(0.0, 1.0, cost, False)
    match = _COST.fullmatch(cost.strip())
    name = (match["text"] or match["column"]).strip() if match else cost
    if match is None or name not in columns:
        raise UnknownNameError("cost column", name, columns, _HINT)
    fixed, per = float(match["fixed"] or 0), float(match["per"] or 1)
    return CostTerms(fixed, per, name, bool(match["text"]))


def with_cost(frame: pd.DataFrame, cost: str) -> pd.DataFrame:
    """The table with a column called ``cost`` that holds what each rating costs.

    ``cost`` is a column, or ``FIXED+PER*COLUMN`` such as ``"12+0.7*words"``; ``words(COLUMN)``
    counts the words of a text column.
    """
    if cost in frame.columns:
        return frame
    fixed, per, name, words = cost_terms(cost, list(map(str, frame.columns)))
    column = frame[name]
    if words:
        amount = [float(len(str(v).split())) for v in column.tolist()]
    else:
        try:
            amount = [float(v) for v in column.tolist()]
        except (TypeError, ValueError):
            raise DataError(
                f"the cost column {name!r} must hold a number in every row. {_HINT}"
            ) from None
    return frame.assign(**{cost: [fixed + per * a for a in amount]})
