"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from fewgold.formats.base import Format, Names, Rating, Reading, Rejected, Segment, Tasks
from fewgold.formats.base import Keys as Keys  # this and what follows with "as": not public
from fewgold.formats.base import Probe as Probe
from fewgold.formats.base import RatingScale as RatingScale
from fewgold.formats.base import alias as alias
from fewgold.formats.base import holds_name as holds_name
from fewgold.formats.base import is_key as is_key
from fewgold.formats.base import key as key
from fewgold.formats.mqm import MqmWeights
from fewgold.formats.mtme import read_tree
from fewgold.formats.registry import TABULAR as TABULAR
from fewgold.formats.registry import RatedTable, get, names, rated_table, read, recognise

__all__ = [
    "Format", "MqmWeights", "Names", "RatedTable", "Rating", "Reading", "Rejected", "Segment",
    "Tasks", "get", "names", "rated_table", "read", "read_tree", "recognise",
]  # fmt: skip
