"""Simulation: which strategy would have worked best on rated data."""

from fewgold.simulation.result import Simulation
from fewgold.simulation.run import DEFAULT_BUDGETS as DEFAULT_BUDGETS
from fewgold.simulation.run import running_on, simulate
from fewgold.simulation.studies import studies_from_table

__all__ = [
    "Simulation",
    "running_on",
    "simulate",
    "studies_from_table",
]
