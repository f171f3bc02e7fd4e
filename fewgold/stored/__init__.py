"""Pools that do not fit into memory: Parquet files read by DuckDB, or by Spark on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.stored.engine import DuckDB, Engine, Progress
from fewgold.stored.pool import StoredPool, make_engine

if TYPE_CHECKING:
    from fewgold.stored.spark import Spark

__all__ = ["DuckDB", "Engine", "Progress", "Spark", "StoredPool", "make_engine"]


def __getattr__(name: str) -> Any:
    if name == "Spark":  # imported on demand, since few users have a cluster
        from fewgold.stored.spark import Spark

        return Spark
    raise AttributeError(f"module 'fewgold.stored' has no attribute {name!r}")
