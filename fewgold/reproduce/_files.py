"""A reproduction as files: tables and figures, and one page with all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots
from fewgold.reproduce._methods import lines
from fewgold.reproduce._page import page
from fewgold.tables import write_texts

if TYPE_CHECKING:
    from fewgold.reproduce._saldias import Reproduction

#: The figures of the paper, by the table that has the same methods.
FIGURES = {
    "figure2": ("table1", "Figure 2: stratified sampling"),
    "figure3": ("table3", "Figure 3: control variates"),
    "figure4": ("table4", "Figure 4: stratified sampling with control variates"),
    "figure5": ("table6", "Figure 5: two metrics, chosen beforehand"),
}
_PANEL = 5.2  # inches


def save(made: Reproduction, folder: Path) -> list[Path]:
    """Write everything and say where."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        folder / "summary.txt": made.summary() + "\n",
        folder / "findings.json": json.dumps(
            [finding.to_dict() for finding in made.findings], indent=2, ensure_ascii=False
        )
        + "\n",
    }
    for name, frame in made.tables.items():
        texts[folder / f"{name}.csv"] = frame.to_csv(index=False, lineterminator="\n")
    drawn = figures(made)
    titles = {table: (name, title) for name, (table, title) in FIGURES.items()}
    texts[folder / "report.html"] = page(made, drawn, titles)
    write_texts(texts)
    files = list(texts)
    for name, figure in drawn.items():
        files += [plots.save(figure, folder / f"{name}.{kind}") for kind in ("png", "svg")]
    return files


def figures(made: Reproduction) -> dict[str, Any]:
    """Figures 2 to 5, the data sets side by side; none where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return {}
    drawn: dict[str, Any] = {}
    for name, (table, _) in FIGURES.items():
        runs = {
            key.removesuffix("/two"): run
            for key, run in made.simulations.items()
            if key.endswith("/two") == (table == "table6")
        }
        figure = Figure(figsize=(_PANEL * len(runs), 4.0), dpi=100, layout="constrained")
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, (data, run) in zip(axes, runs.items(), strict=True):
            first = made.labels.get(data, "")
            shown = {n.strategy: n.method for n in lines(table, first) if n.kind == "printed"}
            names = shown | {s: f"cv-{first}" for s, m in shown.items() if m == "cv-bleurt"}
            frame = run.by_budget()
            frame = frame[frame["strategy"].isin(shown)]
            frame = frame.assign(strategy=frame["strategy"].map(names))
            # The methods in the order of the table, so that panels share their colours.
            plots.error_curves(
                *(frame, ax), baseline="baseline", highlight=list(names.values()), band="sd",
                title=data,
            )  # fmt: skip
        drawn[name] = figure
    return drawn
