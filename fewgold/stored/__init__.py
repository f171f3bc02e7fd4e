"""Pools that do not fit into memory: Parquet files read by DuckDB, or by Spark on a cluster."""

from fewgold.stored._again import make_engine, reopen, rows_of
from fewgold.stored._engine import DuckDB, Engine, Progress
from fewgold.stored._excerpt import Excerpt
from fewgold.stored._groups import Groups, MergedGroups, Wanted, salt_of
from fewgold.stored._pool import StoredPool
from fewgold.stored._spark import Spark

__all__ = [
    "DuckDB",
    "Engine",
    "Excerpt",
    "Groups",
    "MergedGroups",
    "Progress",
    "Spark",
    "StoredPool",
    "Wanted",
    "make_engine",
    "reopen",
    "rows_of",
    "salt_of",
]
