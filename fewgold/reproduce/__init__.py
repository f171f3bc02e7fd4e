"""Published tables made again, beside the printed values."""

from fewgold.reproduce.daniken_study import DanikenReproduction, daniken
from fewgold.reproduce.findings import Check, Finding
from fewgold.reproduce.saldias_study import DATA, DEMO_DATA, Reproduction, saldias

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
