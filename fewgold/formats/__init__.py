"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Rejected, Segment, Tasks, is_key, key
from fewgold.formats._mqm_weights import MqmWeights
from fewgold.formats._mtme_list import TreePair, list_tree
from fewgold.formats._mtme_tree import read_tree
from fewgold.formats._names import TABULAR, RatedTable, get, names, rated_table, read, recognise

__all__ = [
    "TABULAR",
    "Format",
    "MqmWeights",
    "Names",
    "Probe",
    "RatedTable",
    "Rating",
    "Reading",
    "Rejected",
    "Segment",
    "Tasks",
    "TreePair",
    "get",
    "is_key",
    "key",
    "list_tree",
    "names",
    "rated_table",
    "read",
    "read_tree",
    "recognise",
]
