"""Which segments to annotate."""

from fewgold.samplers.balanced import Balanced
from fewgold.samplers.base import Annotate, Budget, Cost, Sampler
from fewgold.samplers.chances import (
    Chances,
    ExpectedSpread,
    RankSpread,
    RatedSpread,
    Spread,
    spread_of_probability,
)
from fewgold.samplers.incremental import Incremental, TwoWave
from fewgold.samplers.simple import SimpleRandom
from fewgold.samplers.slices import WithinSlices
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
    "Chances",
    "Clusters",
    "Cost",
    "ExpectedSpread",
    "Incremental",
    "RankSpread",
    "RatedSpread",
    "Sampler",
    "SimpleRandom",
    "Spread",
    "Stratified",
    "Stratifier",
    "Systematic",
    "TwoWave",
    "WithinSlices",
    "spread_of_probability",
]
