"""The score of each system by itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fewgold._arrays import IntArray
from fewgold.bounds import Auto
from fewgold.comparison._designs import part
from fewgold.comparison._table import Table
from fewgold.design import Design
from fewgold.estimate import LinearEstimate
from fewgold.estimators import Mean, Ridge
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample


def system_estimates(
    table: Table,
    rows: IntArray,
    design: Design,
    *,
    metrics: tuple[str, ...],
    orientation: Mapping[str, int],
    higher: bool,
    limits: tuple[float, float] | None,
    info: Mapping[str, object],
    correct: bool = True,
) -> list[LinearEstimate]:
    """An estimate for each system, with its own metrics as a control where there are any.

    ``correct=False`` takes nothing off for the size of the pool, as for two systems that were
    rated on segments of their own.
    """
    found = []
    for s, scores in enumerate(table.human[:, rows]):
        rated = np.isfinite(scores)
        whole = bool(rated.all()) and correct
        pool = (
            Pool(
                ids=table.ids,
                metrics={
                    m: table.metrics[m][s] for m in metrics if np.ptp(table.metrics[m][s]) > 0
                },
                orientation={k: v for k, v in orientation.items() if k in metrics},
            )
            if metrics
            else Pool(ids=table.ids)
        )
        own = design if whole else part(design, rated, correct=correct)
        ratings = Ratings(Sample(pool, rows[rated], own, info=info), scores[rated], limits)
        method = Ridge(higher_is_better=higher, bound=Auto()) if pool.metrics else Mean()
        found.append(method.estimate(ratings))
    return found
