"""Published tables made again, beside the printed values."""

from fewgold.reproduce.daniken_study import DanikenReproduction, daniken
from fewgold.reproduce.findings import Reproduction
from fewgold.reproduce.saldias_study import DATA, DEMO_DATA, saldias

__all__ = ["DATA", "DEMO_DATA", "DanikenReproduction", "Reproduction", "daniken", "saldias"]
