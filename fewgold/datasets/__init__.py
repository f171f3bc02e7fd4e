"""Data to try things on: an embedded synthetic set, and readers for public ones."""

from __future__ import annotations

from fewgold.datasets._demo import demo_frame, demo_systems, load_demo
from fewgold.datasets._formats import (
    read_avg_seg_scores,
    read_metric_submission,
    read_mqm_tsv,
    read_wmt_da,
)
from fewgold.datasets._judged import judged_frame
from fewgold.datasets._shared import data_folder, load_real, real_frame, real_systems

__all__ = [
    "data_folder",
    "demo_frame",
    "demo_systems",
    "judged_frame",
    "load_demo",
    "load_real",
    "read_avg_seg_scores",
    "read_metric_submission",
    "read_mqm_tsv",
    "read_wmt_da",
    "real_frame",
    "real_systems",
]
