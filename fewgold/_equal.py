"""What a design comes to where all segments weigh alike: no sums are needed."""

from __future__ import annotations

from typing import Any

import numpy as np


def closed_forms(design: Any) -> dict[str, Any]:
    """Properties of a `Design` of one draw by their names, if it is one that has closed forms.

    That is, a simple random sample: one group of segments of the same weight. Such studies are the
    most frequent, and sums over groups would take as long as the rest of the estimate.
    """
    if design.kind != "simple" or not design.n or design.units is not None or design.groups.any():
        return {}
    weight, influence = float(design.weights[0]), float(design.influence[0])
    if (design.weights != weight).any() or (design.influence != influence).any():
        return {}
    n = design.n
    free = n - 1.0 if influence > 0 else 0.0
    factor = n / (n - 1) if n > 1 else 1.0
    return {
        "_n_groups": 1,
        "_total": np.array([n * weight]),
        "_factor": np.array([factor]),
        "_growth": np.array([factor**0.5]),
        "_settled": np.array([influence <= 0]),
        "_group_df": np.array([free]),
        "_satterthwaite": np.array(free),
        "certain": np.array(influence <= 0),
        "freedom": np.array(free),
        "blind": np.array(n == 1 and influence > 0),
        "damping": np.full(n, influence / weight),
        "strongest": np.array(influence**2),
    }
