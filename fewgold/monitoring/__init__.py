"""Scores over time: one score per batch from few ratings, with alarms that may be looked at always.

`from_labelled` and `from_ratings` make `Batches`, `monitor` the line and the alarm, `plan` says
beforehand how late an alarm would be, `next_batch` how many ratings the next batch should get, and
`judge_drift` whether the judge itself has changed, by items that it judged again.
"""

from fewgold.monitoring.batches import Batch, Batches, batch_labels, from_labelled, from_ratings
from fewgold.monitoring.detector import FalseAlarms
from fewgold.monitoring.line import monitor
from fewgold.monitoring.result import Alarm, Monitoring

__all__ = [
    "Alarm",
    "Batch",
    "Batches",
    "FalseAlarms",
    "Monitoring",
    "batch_labels",
    "from_labelled",
    "from_ratings",
    "monitor",
]
