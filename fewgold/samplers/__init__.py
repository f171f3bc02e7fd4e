"""Which segments to annotate."""

from fewgold.samplers._allocation import allocate, nearest_counts
from fewgold.samplers._balanced import Balanced
from fewgold.samplers._base import Annotate, Budget, Cost, Sampler
from fewgold.samplers._clusters import Clusters
from fewgold.samplers._incremental import Incremental
from fewgold.samplers._simple import SimpleRandom
from fewgold.samplers._strata import ByColumn, ByDocument, ByMetric, Stratifier
from fewgold.samplers._stratified import Stratified
from fewgold.samplers._systematic import Systematic

__all__ = [
    "Annotate",
    "Balanced",
    "Budget",
    "ByColumn",
    "ByDocument",
    "ByMetric",
    "Clusters",
    "Cost",
    "Incremental",
    "Sampler",
    "SimpleRandom",
    "Stratified",
    "Stratifier",
    "Systematic",
    "allocate",
    "nearest_counts",
]
