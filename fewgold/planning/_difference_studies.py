"""Differences of two systems as studies, so that they can be replayed like scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.simulation import Study


def difference_studies(studies: Mapping[str, Any]) -> dict[str, Any]:
    """Differences of all pairs of systems that were rated on the same segments, as studies.

    Scores and metrics are those of one system less those of the other; a metric that then is the
    same everywhere is left out. With a single system, or none on the same segments, an error.
    """
    found = {}
    for (a, one), (b, two) in combinations(studies.items(), 2):
        ids = [str(i) for i in two.pool.ids.tolist()]
        place = {i: k for k, i in enumerate(ids)}
        mine = [str(i) for i in one.pool.ids.tolist()]
        if set(mine) != set(ids):
            continue
        order = np.array([place[i] for i in mine])
        metrics = {
            name: values - two.pool.metrics[name][order]
            for name, values in one.pool.metrics.items()
            if name in two.pool.metrics and np.ptp(values - two.pool.metrics[name][order]) > 0
        }
        signs = {m: s for m, s in one.pool.orientation.items() if m in metrics}
        pool = replace(one.pool, metrics=metrics, orientation=signs, system=None)
        found[f"{a} − {b}"] = Study(pool, one.gold - two.gold[order])
    if not found:
        raise FewgoldError(
            "a difference is planned for by differences of two systems on the same segments, and "
            f"the history has none: {', '.join(studies)}. Give a table with several systems whose "
            "segment ids agree, or the sd of differences (--sd)."
        )
    return found
