"""Tables of segments: read and write them, guess what their columns mean."""

from __future__ import annotations

from fewgold.tables._cells import as_text, cell, is_empty, neutral, refuse, scores_of, text_of
from fewgold.tables._cost import CostTerms, cost_terms, with_cost
from fewgold.tables._names import (
    COST_NAMES,
    DOCUMENT_NAMES,
    HUMAN_NAMES,
    ID_NAMES,
    POSITION_NAMES,
    SYSTEM_NAMES,
    TEXT_NAMES,
    guess_column,
    looks_human,
    looks_like_position,
    parts,
    plain,
)
from fewgold.tables._read import SUFFIXES, is_wide, not_utf8, read_table
from fewgold.tables._write import write_texts

__all__ = [
    "COST_NAMES",
    "DOCUMENT_NAMES",
    "HUMAN_NAMES",
    "ID_NAMES",
    "POSITION_NAMES",
    "SUFFIXES",
    "SYSTEM_NAMES",
    "TEXT_NAMES",
    "CostTerms",
    "as_text",
    "cell",
    "cost_terms",
    "guess_column",
    "is_empty",
    "is_wide",
    "looks_human",
    "looks_like_position",
    "neutral",
    "not_utf8",
    "parts",
    "plain",
    "read_table",
    "refuse",
    "scores_of",
    "text_of",
    "with_cost",
    "write_texts",
]
