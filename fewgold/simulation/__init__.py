"""Which strategy would have worked best, on data that are rated already."""

from fewgold.simulation.result import Simulation
from fewgold.simulation.run import DEFAULT_BUDGETS, running_on, simulate
from fewgold.simulation.studies import studies_from_table

__all__ = [
    "DEFAULT_BUDGETS",
    "Simulation",
    "running_on",
    "simulate",
    "studies_from_table",
]
