"""Tables of segments: read and write them, and guess the roles of their columns."""

from __future__ import annotations

from fewgold.io.arrow import is_dataset
from fewgold.io.cells import (
    Column,
    CostTerms,
    as_numbers,
    as_text,
    bare,
    cell,
    column_of,
    cost_terms,
    filled,
    guard,
    is_empty,
    is_gap,
    neutral,
    read_as_sentence,
    refuse,
    scores_of,
    with_cost,
)
from fewgold.io.columns import ID_NAMES, guess_column, looks_human, parts, plain, with_paths
from fewgold.io.files import TableError, read_text, write_texts
from fewgold.io.table import SUFFIXES, TableFile, read_file, read_table

__all__ = [
    "ID_NAMES", "SUFFIXES", "Column", "CostTerms", "TableError", "TableFile", "as_numbers",
    "as_text", "bare", "cell", "column_of", "cost_terms", "filled", "guard", "guess_column",
    "is_dataset", "is_empty", "is_gap", "looks_human", "neutral", "parts", "plain",
    "read_as_sentence", "read_file", "read_table", "read_text", "refuse", "scores_of", "with_cost",
    "with_paths", "write_texts",
]  # fmt: skip
