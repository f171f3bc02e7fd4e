"""Pools that do not fit into memory: Parquet files read by DuckDB, or by Spark on a cluster."""

from fewgold.stored._again import make_engine
from fewgold.stored._again import reopen as reopen
from fewgold.stored._again import rows_of as rows_of
from fewgold.stored._engine import DuckDB, Engine, Progress
from fewgold.stored._excerpt import Excerpt

# For samplers, and not for users: rows by group and rank.
from fewgold.stored._groups import Groups as Groups
from fewgold.stored._groups import MergedGroups as MergedGroups
from fewgold.stored._groups import Wanted as Wanted
from fewgold.stored._groups import salt_of as salt_of
from fewgold.stored._pool import StoredPool
from fewgold.stored._spark import Spark

__all__ = ["DuckDB", "Engine", "Excerpt", "Progress", "Spark", "StoredPool", "make_engine"]
