"""Which segments to annotate."""

from fewgold.samplers.balanced import Balanced
from fewgold.samplers.base import Annotate, Budget, Cost, Sampler
from fewgold.samplers.incremental import Incremental
from fewgold.samplers.simple import SimpleRandom
from fewgold.samplers.strata import ByColumn, ByDocument, ByMetric, Stratifier
from fewgold.samplers.stratified import Stratified
from fewgold.samplers.systematic import Clusters, Systematic

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
]
