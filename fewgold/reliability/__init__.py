"""How steady scores are by number of documents, and how many documents are enough."""

from fewgold.reliability._clusters import Clusters
from fewgold.reliability._documents import documents_needed
from fewgold.reliability._documents_table import DocumentsNeeded
from fewgold.reliability._fits import CubicFit, PowerFit, cubic_fit, power_fit
from fewgold.reliability._result import Reliability
from fewgold.reliability._run import reliability

__all__ = [
    "Clusters",
    "CubicFit",
    "DocumentsNeeded",
    "PowerFit",
    "Reliability",
    "cubic_fit",
    "documents_needed",
    "power_fit",
    "reliability",
]
