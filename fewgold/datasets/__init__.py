"""Example data: an embedded synthetic set, and public sets in a folder on the user's disk."""

from __future__ import annotations

from fewgold.datasets.demo import demo_frame, demo_systems, judged_frame, load_demo
from fewgold.datasets.real import data_folder as data_folder  # not public
from fewgold.datasets.real import load_real, read_metric_submission, real_frame, real_systems

__all__ = [
    "demo_frame", "demo_systems", "judged_frame", "load_demo", "load_real",
    "read_metric_submission", "real_frame", "real_systems",
]  # fmt: skip
