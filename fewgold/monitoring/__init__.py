"""Scores over time: one score per batch from few ratings, with alarms that may be looked at always.

`from_labelled` and `from_ratings` make `Batches`, `monitor` the line and the alarm. `delays` says
beforehand how late an alarm would be, `ratings_for_delay` how many ratings that takes, `next_batch`
and `share_budget` which batches get them; `judge_drift` says whether the judge itself has changed,
by items that it judged again.
"""

from fewgold.monitoring.ahead import (
    Delays,
    NextBatch,
    delays,
    next_batch,
    ratings_for_delay,
    share_budget,
)
from fewgold.monitoring.anchors import Drift, judge_drift
from fewgold.monitoring.batches import Batch, Batches, batch_labels, from_labelled, from_ratings
from fewgold.monitoring.detector import FalseAlarms
from fewgold.monitoring.line import monitor
from fewgold.monitoring.result import Alarm, Monitoring

__all__ = [
    "Alarm",
    "Batch",
    "Batches",
    "Delays",
    "Drift",
    "FalseAlarms",
    "Monitoring",
    "NextBatch",
    "batch_labels",
    "delays",
    "from_labelled",
    "from_ratings",
    "judge_drift",
    "monitor",
    "next_batch",
    "ratings_for_delay",
    "share_budget",
]
