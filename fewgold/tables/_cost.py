"""What the rating of a segment costs, from a column or a formula."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

_COST = re.compile(
    r"(?:(?P<fixed>\d+\.?\d*|\.\d+)\s*\+\s*)?(?:(?P<per>\d+\.?\d*|\.\d+)\s*\*\s*)?"
    r"(?:words\((?P<text>.+)\)|(?P<column>.+))"
)


def with_cost(frame: pd.DataFrame, cost: str) -> pd.DataFrame:
    """The table with a column called ``cost`` that holds what each rating costs.

    ``cost`` is a column, or ``FIXED+PER*COLUMN`` such as ``"12+0.7*words"``; ``words(COLUMN)``
    counts the words of a text column.
    """
    if cost in frame.columns:
        return frame
    match = _COST.fullmatch(cost.strip())
    hint = "A cost is a column or FIXED+PER*COLUMN, such as 12+0.7*words or 12+0.7*words(output)."
    name = (match["text"] or match["column"]).strip() if match else cost
    if match is None or name not in frame.columns:
        raise UnknownNameError("cost column", name, map(str, frame.columns), hint)
    column = frame[name]
    if match["text"]:
        amount = [float(len(str(v).split())) for v in column.tolist()]
    else:
        try:
            amount = [float(v) for v in column.tolist()]
        except (TypeError, ValueError):
            raise DataError(
                f"the cost column {name!r} must hold a number in every row. {hint}"
            ) from None
    fixed, per = float(match["fixed"] or 0), float(match["per"] or 1)
    return frame.assign(**{cost: [fixed + per * a for a in amount]})
