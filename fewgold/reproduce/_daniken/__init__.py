"""von Däniken et al. (2022) and von Däniken (2023) made again."""

from fewgold.reproduce._daniken._made import DanikenReproduction, daniken

__all__ = ["DanikenReproduction", "daniken"]
