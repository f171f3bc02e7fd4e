"""Tables 4, 5, 8 and 9: which system is better, with ties counted half and as they did it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from fewgold._arrays import FloatArray
from fewgold.bayes import AlphaPosterior, Counts, probability_greater
from fewgold.reproduce._daniken._printed import Order

if TYPE_CHECKING:
    import pandas as pd

_CELLS = 2000  # of their grid over α
TIES = "ties within a cell of their grid are dropped"


def orders_table(order: Order) -> pd.DataFrame:
    """A row for each pair: printed, right (ties half), and with ties dropped as they did."""
    import pandas as pd

    counts = list(zip(order.adequate, order.total, strict=True))
    posteriors = [AlphaPosterior(Counts(human_ones=k, human_total=n)) for k, n in counts]
    masses = [_cells(k, n) for k, n in counts]
    rows = []
    for i, j in product(range(len(counts)), repeat=2):
        if i == j:
            continue
        printed = order.printed(i, j)
        here = max(0.0, probability_greater(posteriors[i], posteriors[j]))  # −1e-29 is 0
        dropped = _without_ties(masses[i], masses[j])
        agrees, explained = f"{here:.3f}" == printed, f"{dropped:.3f}" == printed
        rows.append(
            {
                **{"first": order.systems[i], "second": order.systems[j]},
                **{"printed": float(printed), "here": here, "their_way": dropped},
                **{"agrees": agrees, "explained": explained},
                "cause": "" if agrees or not explained else f"{TIES}: {dropped:.4f}",
            }
        )
    return pd.DataFrame(rows)


def _cells(ones: int, total: int) -> FloatArray:
    """Chances of the cells of their grid (appendix B)."""
    edges = np.arange(_CELLS + 1) / _CELLS
    return np.diff(betainc(ones + 1, total - ones + 1, edges))


def _without_ties(first: FloatArray, second: FloatArray) -> float:
    """Σ over cells i > j: what falls into one cell counts for neither."""
    return float(first[1:] @ np.cumsum(second)[:-1])
