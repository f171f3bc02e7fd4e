"""Data to try things on: an embedded synthetic set, and readers for public ones."""

from __future__ import annotations

from fewgold.datasets.demo import demo_frame, demo_systems, judged_frame, load_demo
from fewgold.datasets.readers import (
    read_avg_seg_scores,
    read_metric_submission,
    read_mqm_tsv,
    read_wmt_da,
)
from fewgold.datasets.real import data_folder, load_real, real_frame, real_systems

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
