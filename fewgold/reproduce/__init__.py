"""Published tables made again, beside the printed values."""

from fewgold.reproduce._daniken import DanikenReproduction, daniken
from fewgold.reproduce._findings import Check, Finding
from fewgold.reproduce._saldias import DATA, DEMO_DATA, Reproduction, saldias

__all__ = [
    "DATA",
    "DEMO_DATA",
    "Check",
    "DanikenReproduction",
    "Finding",
    "Reproduction",
    "daniken",
    "saldias",
]
