"""Results as files: tables, texts and figures in one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots
from fewgold.io import write_texts

if TYPE_CHECKING:
    import pandas as pd


def figures_of(draw: Callable[[str], Any], names: list[str]) -> dict[str, Any]:
    """The figures of these names; none where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return {}
    return {name: draw(name) for name in names}


def save_result(
    folder: str | Path,
    frames: Mapping[str, pd.DataFrame],
    texts: Mapping[str, str],
    figures: Mapping[str, Any],
    kinds: tuple[str, ...] = ("png",),
) -> list[Path]:
    """Write each table as CSV, each text under its name and each figure; returns the paths."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = {place / f"{name}.csv": frame.to_csv(index=False) for name, frame in frames.items()}
    files |= {place / name: text for name, text in texts.items()}
    write_texts(files)
    drawn = [
        plots.save(figure, place / f"{name}.{kind}")
        for name, figure in figures.items()
        for kind in kinds
    ]
    return [*files, *drawn]
