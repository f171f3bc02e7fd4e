"""How steady scores are by number of documents, and how many documents are enough."""

from fewgold.reliability.bootstrap import reliability
from fewgold.reliability.clusters import Clusters
from fewgold.reliability.documents import DocumentsNeeded, documents_needed
from fewgold.reliability.fits import CubicFit, PowerFit, cubic_fit, power_fit
from fewgold.reliability.result import Reliability

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
