"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from fewgold.formats.base import (
    Format,
    Keys,
    Names,
    Probe,
    Rating,
    RatingScale,
    Reading,
    Rejected,
    Segment,
    Tasks,
    alias,
    holds_name,
    is_key,
    key,
)
from fewgold.formats.mqm import MqmWeights
from fewgold.formats.mtme import read_tree
from fewgold.formats.registry import TABULAR, RatedTable, get, names, rated_table, read, recognise

__all__ = [
    "TABULAR",
    "Format",
    "Keys",
    "MqmWeights",
    "Names",
    "Probe",
    "RatedTable",
    "Rating",
    "RatingScale",
    "Reading",
    "Rejected",
    "Segment",
    "Tasks",
    "alias",
    "get",
    "holds_name",
    "is_key",
    "key",
    "names",
    "rated_table",
    "read",
    "read_tree",
    "recognise",
]
