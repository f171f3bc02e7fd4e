"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import (
    Keys,
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
from fewgold.formats._mqm_weights import MqmWeights
from fewgold.formats._mtme_list import TreePair, list_tree
from fewgold.formats._mtme_tree import read_tree
from fewgold.formats._names import TABULAR, RatedTable, get, names, rated_table, read, recognise

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
    "TreePair",
    "alias",
    "get",
    "holds_name",
    "is_key",
    "key",
    "list_tree",
    "names",
    "rated_table",
    "read",
    "read_tree",
    "recognise",
]
