"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Rejected, Segment, Tasks, is_key, key
from fewgold.formats._names import get, names, read, recognise

__all__ = [
    "Format",
    "Names",
    "Probe",
    "Rating",
    "Reading",
    "Rejected",
    "Segment",
    "Tasks",
    "get",
    "is_key",
    "key",
    "names",
    "read",
    "recognise",
]
