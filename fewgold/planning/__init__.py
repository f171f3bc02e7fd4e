"""Planning: how many ratings a study needs."""

from fewgold.planning.binary import (
    MeasurableDifferences,
    detection_power,
    difference_table,
    measurable_difference,
    measurable_differences,
    plan_binary,
    ratings_needed,
    sample_estimates,
    simulated_power,
)
from fewgold.planning.goal import Goal, Plan
from fewgold.planning.scores import Outlook, plan, plan_from_history, plan_worst_case
from fewgold.planning.scores import difference_studies as difference_studies
from fewgold.planning.setting import Setting
from fewgold.planning.split import Split, best_split, break_even, information

__all__ = [
    "Goal",
    "MeasurableDifferences",
    "Outlook",
    "Plan",
    "Setting",
    "Split",
    "best_split",
    "break_even",
    "detection_power",
    "difference_table",
    "information",
    "measurable_difference",
    "measurable_differences",
    "plan",
    "plan_binary",
    "plan_from_history",
    "plan_worst_case",
    "ratings_needed",
    "sample_estimates",
    "simulated_power",
]
