"""The reproduction as files: tables, heat maps, and one page with all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.reproduce._daniken import _text
from fewgold.reproduce._daniken._printed import GRIDS, ORDERS
from fewgold.tables import write_texts

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reproduce._daniken._made import DanikenReproduction

_CAPTION = "Difference that is significant at level 0.05: half of all studies find a true one."
_LAYOUT = {
    "order": "“their way” is with ties dropped, “here” with ties counted half.",
    "grid": "Human ratings by metric ratings; cells are paper / here.",
    "thesis": "Human ratings by metric ratings; cells are paper / without √2 / here.",
    "quoted": "",
}
_LINES = {"printed": "paper", "here": "here", "their_way": "their way"}


def save(made: DanikenReproduction, folder: Path) -> list[Path]:
    """Write everything and say where."""
    folder.mkdir(parents=True, exist_ok=True)
    odd = made.disagreements.to_dict("records")
    texts = {
        folder / "summary.txt": made.summary() + "\n",
        folder / "disagreements.json": json.dumps(odd, indent=2, ensure_ascii=False) + "\n",
    }
    for name, frame in made.tables.items():
        texts[folder / f"{name}.csv"] = frame.to_csv(index=False, lineterminator="\n")
    drawn = figures(made)
    texts[folder / "report.html"] = page(made, drawn)
    write_texts(texts)
    files = list(texts)
    for name, figure in drawn.items():
        files += [plots.save(figure, folder / f"{name}.{kind}") for kind in ("png", "svg")]
    return files


def figures(made: DanikenReproduction) -> dict[str, Any]:
    """A heat map of each table of differences; none where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return {}
    drawn = {}
    for name, grid in GRIDS.items():
        wide = made.tables[name].pivot(index="human", columns="metric", values="here")
        drawn[name] = plots.heat(wide, title=grid.title)
    return drawn


def page(made: DanikenReproduction, drawn: dict[str, Any]) -> str:
    """The whole result on one page."""
    sections: list[Any] = [_differences(made)]
    named = _text.titles()
    for name, frame in made.tables.items():
        kind = "order" if name in ORDERS else "quoted" if name == "quoted" else "grid"
        kind = "thesis" if name.startswith("thesis") else kind
        said = [f"{_text.score(frame).capitalize()}.", *_text.notes(name), _LAYOUT[kind]]
        caption = " ".join(filter(None, said))
        sections.append(_table(name, named[name], frame, caption))
        if name in drawn:
            svg = plots.to_svg(drawn[name], alt=f"{named[name]}. {_CAPTION}")
            sections.append(report.Figure(f"{named[name]}, as a map", svg, _CAPTION))
    return report.page(_text.TITLE, _text.ABOUT[:1], sections, made.signature)


def _differences(made: DanikenReproduction) -> report.Table:
    frame = made.causes[["cause", "table", "cell", "gap"]]
    odd, why = len(made.disagreements), len(made.unexplained)
    caption = f"{odd} figures differ from print; {why} for no known reason."
    return report.Table(
        *("What differs, and why", frame, caption),
        formats={"gap": ".4f"},
        names={"gap": "by up to"},
    )


def _table(name: str, title: str, frame: pd.DataFrame, caption: str) -> report.Table:
    formats = dict.fromkeys(("here", "their_way"), ".4f") | {"printed": ".3f"}
    if name == "quoted":
        columns = ["sentence", "source", "printed", "here", "cause"]
    elif name in ORDERS:
        frame = frame.assign(pair=frame["first"] + " > " + frame["second"])
        columns = ["pair", "printed", "their_way", "here"]
    else:
        return report.Table(title, _wide(frame), caption)
    return report.Table(
        *(title, frame[columns], caption),
        formats={c: f for c, f in formats.items() if c in columns},
        names={c: n for c, n in _LINES.items() if c in columns},
    )


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Paper / here over both sizes; for the thesis paper / without √2 / here."""
    import pandas as pd

    ways = ["their_way", "here"] if (frame["their_way"] != frame["here"]).any() else ["here"]
    cells = [
        " / ".join([f"{r['printed']:.3f}", *(f"{r[way]:.3f}" for way in ways)])
        for r in frame.to_dict("records")
    ]
    wide = frame.assign(cell=cells).pivot(index="human", columns="metric", values="cell")
    named = pd.DataFrame({"human": [f"{n:,}" for n in wide.index]})
    for size in wide.columns:
        named[f"{size:,}"] = wide[size].to_numpy()
    return named
