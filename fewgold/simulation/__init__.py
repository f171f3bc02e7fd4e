"""Which strategy would have worked best, on data that are rated already."""

from fewgold.simulation._backend import running_on
from fewgold.simulation._run import DEFAULT_BUDGETS, simulate
from fewgold.simulation._simulation import Simulation
from fewgold.simulation._studies import Study, as_studies
from fewgold.simulation._studies_table import studies_from_table

__all__ = [
    "DEFAULT_BUDGETS",
    "Simulation",
    "Study",
    "as_studies",
    "running_on",
    "simulate",
    "studies_from_table",
]
