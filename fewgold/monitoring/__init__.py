"""Scores over time: one score per batch from few ratings, with alarms valid at every look.

`from_labelled` and `from_ratings` make `Batches`, and `monitor` computes the line and the alarm.
To plan, `delays` shows how late an alarm would be, `ratings_for_delay` how many ratings a delay
takes, and `next_batch` and `share_budget` how many each batch gets. `judge_drift` tests whether
the judge has changed, using items that it judged again.
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
