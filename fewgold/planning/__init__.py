"""How many ratings a study needs, before any are made."""

from fewgold.planning._asymptotic import asymptotic_sd, break_even, information
from fewgold.planning._difference import (
    SimulatedPower,
    detection_power,
    measurable_difference,
    simulated_power,
)
from fewgold.planning._needed import ratings_needed
from fewgold.planning._sampled import Sampled, sample_estimates
from fewgold.planning._setting import Setting
from fewgold.planning._split import Mix, Split, best_split
from fewgold.planning._tables import difference_table

__all__ = [
    "Mix",
    "Sampled",
    "Setting",
    "SimulatedPower",
    "Split",
    "asymptotic_sd",
    "best_split",
    "break_even",
    "detection_power",
    "difference_table",
    "information",
    "measurable_difference",
    "ratings_needed",
    "sample_estimates",
    "simulated_power",
]
