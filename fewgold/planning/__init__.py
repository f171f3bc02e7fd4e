"""How many ratings a study needs, before any are made."""

from fewgold.planning._asymptotic import asymptotic_sd, break_even, information
from fewgold.planning._binary import plan_binary
from fewgold.planning._difference import measurable_difference
from fewgold.planning._difference_studies import difference_studies
from fewgold.planning._goal import Goal
from fewgold.planning._history import plan_from_history
from fewgold.planning._mix import Mix, Split
from fewgold.planning._need import Need
from fewgold.planning._needed import ratings_needed
from fewgold.planning._outlook import Outlook
from fewgold.planning._plan import plan, plan_worst_case
from fewgold.planning._plan_table import Plan
from fewgold.planning._power import SimulatedPower, detection_power, simulated_power
from fewgold.planning._sampled import Sampled, sample_estimates
from fewgold.planning._setting import Setting
from fewgold.planning._split import best_split
from fewgold.planning._tables import difference_table

__all__ = [
    "Goal",
    "Mix",
    "Need",
    "Outlook",
    "Plan",
    "Sampled",
    "Setting",
    "SimulatedPower",
    "Split",
    "asymptotic_sd",
    "best_split",
    "break_even",
    "detection_power",
    "difference_studies",
    "difference_table",
    "information",
    "measurable_difference",
    "plan",
    "plan_binary",
    "plan_from_history",
    "plan_worst_case",
    "ratings_needed",
    "sample_estimates",
    "simulated_power",
]
