"""Pools that do not fit into memory: Parquet files read by DuckDB, or by Spark on a cluster."""

from fewgold.stored.engine import DuckDB, Engine, Progress
from fewgold.stored.pool import StoredPool, make_engine
from fewgold.stored.spark import Spark

__all__ = ["DuckDB", "Engine", "Progress", "Spark", "StoredPool", "make_engine"]
