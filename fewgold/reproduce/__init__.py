"""Published tables, reproduced next to the printed values."""

from fewgold.reproduce.daniken_study import daniken
from fewgold.reproduce.estrella_study import estrella
from fewgold.reproduce.findings import Reproduction
from fewgold.reproduce.saldias_study import saldias

__all__ = ["Reproduction", "daniken", "estrella", "saldias"]
