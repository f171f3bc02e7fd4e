"""Finished cells on disk, one file each, so that an interrupted simulation can go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from fewgold.simulation._cell import Cell, Cover
from fewgold.simulation._scores import Score
from fewgold.tables import write_texts


class Store:
    """A folder of finished cells. A file that cannot be read is computed again."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def save(self, key: str, cell: Cell) -> None:
        """Keep a cell; not one that failed, since the cause may go away."""
        if cell.failure is None:
            facts = vars(cell) | {"errors": cell.errors.tolist()}
            write_texts({self._path(key): json.dumps(facts)})

    def load(self, key: str) -> Cell | None:
        """The cell of that key; None where there is none, or none that can be read."""
        try:
            return _cell(json.loads(self._path(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _path(self, key: str) -> Path:
        return self.folder / f"cell-{key}.json"


def _cell(facts: dict[str, Any]) -> Cell:
    for name in ("se", "se_ratio", "cost"):
        if facts[name] is not None:
            facts[name] = Score(*facts[name])
    covers = {b: Cover(*(Score(*s) for s in parts)) for b, parts in facts.pop("covers").items()}
    errors = np.array(facts.pop("errors"), dtype=np.float64)
    return Cell(**facts, covers=covers, errors=errors)
