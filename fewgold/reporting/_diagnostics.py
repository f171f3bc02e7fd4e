"""Is the sample like the pool, do weights differ much, and which segments count most?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.estimate import LinearEstimate
from fewgold.reporting._saved import pool_variance
from fewgold.sample import Ratings

if TYPE_CHECKING:
    import pandas as pd


def likeness(ratings: Ratings) -> pd.DataFrame:
    """Metric means of the sample against the pool's.

    ``difference`` is in standard deviations of the pool; ``chance`` is the same in standard errors
    of a plain random sample of that size, of which 2 in 100 are beyond 2.3.
    """
    import pandas as pd

    sample = ratings.sample
    w, size = sample.design.weights, len(sample.pool)
    error = math.sqrt(max(1 / ratings.n - 1 / size, 0.0))
    rows = []
    for name, values in sample.pool.metrics.items():
        centre, sd = float(values.mean()), float(values.std(ddof=1))
        mean = centre + float(w @ (values[sample.indices] - centre))
        gap = (mean - centre) / sd if sd > 0 else 0.0
        rows.append((name, centre, mean, gap, gap / error if error > 0 else 0.0))
    return pd.DataFrame(rows, columns=["metric", "pool", "sample", "difference", "chance"])


def weights(ratings: Ratings) -> dict[str, float | None]:
    """How unequal the weights are, and what design and weights cost or gain for the plain mean.

    ``design_effect`` is the variance of the weighted mean over that of a plain random sample of as
    many ratings; ``effective`` is Kish's sample size, 1 / Σ w².
    """
    design, n = ratings.sample.design, ratings.n
    w = design.weights / design.weights.sum()
    base = pool_variance(ratings) * (1 / n - 1 / len(ratings.sample.pool)) if n > 1 else 0.0
    _, cov = design.moments((ratings.scores - ratings.scores.mean())[None, :])
    known = base > 0 and not bool(design.blind)
    return {
        "weight_min": float(w.min() * n),
        "weight_max": float(w.max() * n),
        "effective": float(1 / (w @ w)),
        "weighting_effect": float(n * (w @ w)),
        "design_effect": float(cov[0, 0]) / base if known else None,
        "inclusion_min": float(design.inclusion.min()),
        "inclusion_max": float(design.inclusion.max()),
    }


def documents(ratings: Ratings) -> dict[str, int] | None:
    """How many documents there are, how many were reached, and how many segments of each."""
    sample = ratings.sample
    if sample.pool.documents is None:
        return None
    codes = sample.pool.codes
    _, counts = np.unique(codes[sample.indices], return_counts=True)
    return {
        "pool": int(codes.max()) + 1,
        "sample": int(counts.size),
        "fewest": int(counts.min()),
        "most": int(counts.max()),
    }


def strata(ratings: Ratings) -> pd.DataFrame | None:
    """Ratings by stratum, for a sample that was drawn stratum by stratum."""
    import pandas as pd

    design, scores = ratings.sample.design, ratings.scores
    labels = design.strata
    if labels is None and design.kind == "stratified":
        labels = design.groups
    if labels is None:
        return None
    rows = []
    for label in np.unique(labels).tolist():
        inside = labels == label
        own = scores[inside]
        sd = float(own.std(ddof=1)) if own.size > 1 else math.nan
        share = float(design.weights[inside].sum())
        rows.append((int(label) + 1, int(own.size), share, float(own.mean()), sd))
    return pd.DataFrame(rows, columns=["stratum", "ratings", "share", "mean", "sd"])


def pulls(estimate: LinearEstimate, count: int = 5) -> pd.DataFrame:
    """The rated segments that move the estimate most, and by how much.

    ``pull`` is the weight times what the segment's residual is off the mean residual: all pulls
    together are 0. ``share`` is its part of the sum of all squared pulls.
    """
    import pandas as pd

    design, sample = estimate.design, estimate.ratings.sample
    left = estimate.residuals - design.weights @ estimate.residuals
    pull = design.weights * left
    total = float(pull @ pull)
    order = np.argsort(-np.abs(pull), kind="stable")[:count]
    table: dict[str, Any] = {"segment": [str(i) for i in sample.ids[order]]}
    if sample.pool.documents is not None:
        table["document"] = [str(d) for d in sample.pool.documents[sample.indices[order]]]
    table["score"] = estimate.ratings.scores[order]
    table["pull"] = pull[order]
    table["share"] = pull[order] ** 2 / total if total > 0 else np.zeros(order.size)
    return pd.DataFrame(table)
