"""Rows of a naive table: what each way of estimating says of a system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import BoolArray
from fewgold.bayes._binary_table import ALL, BinaryTable
from fewgold.bayes._counts import Counts
from fewgold.bayes._naive_rates import HUMAN
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._priors import Priors
from fewgold.bayes._ways import Way
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def human_row(table: BinaryTable, system: str, seen: BoolArray, target: str) -> dict[str, Any]:
    """By the human ratings of the system alone."""
    own = table.of(system)
    labels = table.labels[own & seen]
    if not labels.size:
        raise DataError(f"no item of {system} is rated.")
    counts = Counts(human_ones=int(labels.sum()), human_total=labels.size)
    posterior: AlphaPosterior | PoolPosterior = AlphaPosterior(counts)
    if target == "pool":
        posterior = PoolPosterior(counts, unrated=int(own.sum()) - labels.size)
    return {"metric": HUMAN, "system": system, "cut": ""} | estimate_row("human", posterior)


def posterior_of(way: Way, target: str) -> AlphaPosterior | PoolPosterior:
    """Of the success rate in this test set, or of what made the items."""
    if target == "pool":
        return PoolPosterior(way.counts, way.priors)
    return AlphaPosterior(way.counts, way.priors or Priors())


def estimate_row(how: str, posterior: AlphaPosterior | PoolPosterior) -> dict[str, Any]:
    """A row but for the truth; ρ and η are those of the paired items, or the known ones."""
    counts, priors = posterior.counts, posterior.priors
    rho = eta = np.nan
    tp, fn, fp, tn = (int(x) for x in (counts.tp, counts.fn, counts.fp, counts.tn))
    if priors is not None and priors.known:
        rho, eta = priors.rho, priors.eta  # type: ignore[assignment]
    else:
        rho = tp / (tp + fn) if tp + fn else np.nan
        eta = tn / (tn + fp) if tn + fp else np.nan
    naive = how == "naive"
    people = int(counts.human_total) + (tp + fn + fp + tn) * (counts.pairs == "sample")
    row = {"how": how, "rho": rho, "eta": eta, "rated": 0 if naive else people}
    auto = counts.human_total if naive else counts.metric_total
    return row | {"scored": int(auto), "posterior": posterior}


def frame_of(rows: list[dict[str, Any]], table: BinaryTable, confidence: float) -> pd.DataFrame:
    """Rows with mean, sd, interval and, where all items are rated, the truth."""
    import pandas as pd

    truth = {}
    for name in table.systems or [ALL]:
        labels = table.labels[table.of(name)]
        truth[name] = float(labels.mean())  # NaN where an item has no human score
    done = []
    for row in rows:
        posterior = row.pop("posterior")
        low, high = (float(end) for end in posterior.interval(confidence))
        right = truth[row["system"]]
        row |= {"mean": float(posterior.mean), "sd": float(posterior.sd), "low": low, "high": high}
        row |= {"truth": right, "error": row["mean"] - right}
        row["covered"] = pd.NA if np.isnan(right) else bool(low <= right <= high)
        done.append(row)
    return pd.DataFrame(done).astype({"covered": "boolean"})
