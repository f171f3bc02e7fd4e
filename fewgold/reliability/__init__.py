"""Reliability of scores by number of documents, and how many documents are enough."""

from fewgold.reliability.bootstrap import reliability
from fewgold.reliability.corpus import CorpusScore
from fewgold.reliability.documents import DocumentsNeeded, documents_needed
from fewgold.reliability.result import Reliability

__all__ = ["CorpusScore", "DocumentsNeeded", "Reliability", "documents_needed", "reliability"]
