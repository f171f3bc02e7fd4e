"""Do the metrics follow the ratings? Correlations over the pool, with intervals by the design."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from fewgold.design import Design
from fewgold.sample import Ratings

if TYPE_CHECKING:
    import pandas as pd

    from fewgold._arrays import FloatArray

#: Ratings below which a correlation has no interval, and below which it is not shown at all.
_INTERVAL, _SHOWN = 6, 3


def correlation(
    design: Design, x: FloatArray, y: FloatArray, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Pearson's correlation over the pool, weighted as drawn, and an interval for it.

    The interval is Student's on Fisher's scale. The standard error is the design's own, of the
    terms by which each segment moves the correlation, zx·zy − r(zx² + zy²)/2; so strata, whole
    documents and the share of the pool that was rated are taken in.
    """
    w = design.weights
    x, y = x - x.mean(), y - y.mean()
    x, y = x - w @ x, y - w @ y
    vx, vy = float(w @ x**2), float(w @ y**2)
    if w.size < _SHOWN or vx <= 0 or vy <= 0:
        return math.nan, math.nan, math.nan
    zx, zy = x / math.sqrt(vx), y / math.sqrt(vy)
    r = float(np.clip(w @ (zx * zy), -1.0, 1.0))
    if w.size < _INTERVAL or bool(design.blind) or 1 - r * r < 1e-12 or float(design.df) < 1:
        return r, math.nan, math.nan
    term = zx * zy - r * (zx**2 + zy**2) / 2
    _, cov = design.moments(term[None, :])
    half = math.sqrt(float(cov[0, 0])) / (1 - r * r)
    half *= float(stdtrit(float(design.df), (1 + confidence) / 2))
    middle = math.atanh(r)
    return r, math.tanh(middle - half), math.tanh(middle + half)


def correlations(ratings: Ratings, confidence: float = 0.95) -> pd.DataFrame:
    """Each metric's correlation with the human scores, the strongest first."""
    import pandas as pd

    sample = ratings.sample
    rows = []
    for name, values in sample.pool.metrics.items():
        found = correlation(sample.design, values[sample.indices], ratings.scores, confidence)
        rows.append((name, *found))
    frame = pd.DataFrame(rows, columns=["metric", "r", "low", "high"])
    order = np.argsort(-frame["r"].abs().fillna(-1.0).to_numpy(dtype=float), kind="stable")
    return frame.iloc[order].reset_index(drop=True)
