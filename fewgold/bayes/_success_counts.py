"""The success rate of one system from its counts alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._validate import check_choice
from fewgold.bayes._binary_table import ALL
from fewgold.bayes._counts import Counts
from fewgold.bayes._pool import PoolPosterior
from fewgold.bayes._posterior import AlphaPosterior
from fewgold.bayes._priors import Priors
from fewgold.bayes._success_facts import doubts_about, hits_of
from fewgold.bayes._success_table import SuccessRates


def success_rates_of(
    counts: Counts, priors: Priors | None = None, target: str = "pool"
) -> SuccessRates:
    """The success rate of one system from its counts, as `success_rates` has it from a table.

    Examples
    --------
    >>> counts = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=540, metric_total=1000)
    >>> success_rates_of(counts).to_frame().loc[0, ["mean", "sd"]].astype(float).round(3).tolist()
    [0.597, 0.042]
    """
    check_choice("target", target, ("pool", "process"))
    cells = {name: int(getattr(counts, name)) for name in ("tp", "fn", "fp", "tn")}
    ones, rated = int(counts.adequate), int(counts.adequate + counts.inadequate)
    said = cells["tp"] + cells["fp"] if counts.pairs == "sample" else 0
    paired = int(counts.paired_total) if counts.pairs == "sample" else 0
    scored = paired + int(counts.metric_total)
    posterior: AlphaPosterior | PoolPosterior = AlphaPosterior(counts, priors or Priors())
    if target == "pool":
        posterior = PoolPosterior(counts, priors)
    facts: dict[str, Any] = {
        "items": rated + int(counts.metric_total),
        "rated": rated,
        "human": ones / rated if rated else np.nan,
        "naive": (said + int(counts.metric_ones)) / scored if scored else np.nan,
        **hits_of(cells),
    }
    notes: tuple[str, ...] = ()
    if priors is not None and priors.known:
        facts |= {"rho": priors.rho, "eta": priors.eta}
    elif scored and not int(counts.paired_total):
        notes = (
            "nobody rated items that the metric rated too, so nothing tells how often it is right: "
            "the answer is that of the priors",
        )
    elif scored:
        notes = doubts_about(ALL, cells, "the metric")
    return SuccessRates({ALL: posterior}, {ALL: facts}, "the metric" if scored else "", notes)
