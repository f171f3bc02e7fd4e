"""The reproduction of von Däniken et al. as text, heat maps and one HTML page."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.report.sections import figures_of
from fewgold.reproduce.daniken_printed import GRIDS, ORDERS
from fewgold.reproduce.daniken_tables import ERRORS, THEIR_DRAWS, THEIR_SAMPLE

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reproduce.daniken_study import DanikenReproduction

WIDTH = 100
_ALL_NAMED = "all of them for a reason that is named"
TITLE = "von Däniken et al. (2022) and von Däniken (2023), made again"
ABOUT = (
    "ε is the difference that is significant at level 0.05, √2 · 1.96 · posterior sd, with uniform "
    "priors and counts at their expected values. A true difference of that size is found in only "
    "one of two studies; for 80 % power take 1.43 times as much.",
    "Cells are paper/here; * marks what differs from print, and the list at the end says why.",
)
ROW0 = (
    "The row of 0 human ratings says nothing about a metric: with uniform priors on ρ and η the "
    "posterior mean of α is ½ whatever the metric says."
)
TIES = (
    "Equation 6 on a grid of 2000 cells drops what falls into one cell, so that P(a > b) and "
    "P(b > a) do not add up to 1. Counted half, as is right, they do."
)
STB_COUNTS = (
    "The counts are those that give every printed figure: 253, 201, 163, 119, 43 and 27 of 670 "
    "(671 for LiC). The caption says 600 ratings, the thesis 669 to 673; 600 do not fit."
)
ROOT = (
    f"Mean over studies with sampled counts ({THEIR_DRAWS} in the thesis). The thesis writes "
    "√2 σ z and prints σ z. Cells agree if without √2 they lie within half a digit and "
    f"{ERRORS:g} Monte-Carlo errors: of our draws, of theirs, and of their MCMC, "
    f"for which a tenth of its 50,000 draws ({THEIR_SAMPLE}) is counted as independent."
)


#: How the two tables of a pair are told apart.
PAIRS = {
    "order": "First paper/with ties dropped, as they did; then paper/ties counted half.",
    "thesis": "First paper/without √2, as they did; then paper/what it should be.",
}


TITLES = {name: table.title for name, table in (GRIDS | ORDERS).items()}
TITLES |= {"quoted": "Figures quoted in the text"}
#: What to know about a table.
NOTES = {"table11": [ROW0], "table4": [TIES], "table8": [STB_COUNTS]}
NOTES |= {name: [ROOT] for name in GRIDS if name.startswith("thesis")}


def summary(made: DanikenReproduction) -> str:
    """Tables, then what differs and why."""
    total = sum(len(frame) for frame in made.tables.values())
    odd = len(made.disagreements)
    unknown = len(made.failed)
    rest = f"{unknown} of them for no known reason" if unknown else _ALL_NAMED
    verdict = f"{total - odd} of {total} figures are as printed; {odd} are not, {rest}."
    parts = [TITLE, *map(_wrap, ABOUT), "", _wrap(verdict), ""]
    for name, frame in made.tables.items():
        kind = "order" if name in ORDERS else "thesis" if name.startswith("thesis") else ""
        lead = [*NOTES.get(name, []), *([PAIRS[kind]] if kind else [])]
        parts += [f"{TITLES[name]} ({score(frame)})", *map(_wrap, lead)]
        parts += [table_text(name, frame), ""]
    causes = [
        _wrap(
            f"{r['table']}, {r['cell']}, by {'up to ' if r['cells'] > 1 else ''}{r['gap']:.4f}: "
            f"{r['cause']}", "  "
        )
        for r in made._causes.to_dict("records")
    ]  # fmt: skip
    parts += ["What differs, and why", *(causes or ["  nothing"]), "", made.signature]
    return "\n".join(parts)


def score(frame: pd.DataFrame) -> str:
    """How many cells agree, in words."""
    agree, known, total = frame["agrees"].sum(), frame["explained"].sum(), len(frame)
    text = f"{agree} of {total} to the printed digit"
    return text if agree == total else f"{text}, {known} with the errors named below"


def table_text(name: str, frame: pd.DataFrame) -> str:
    """A table for people."""
    if name == "quoted":
        lines = [f"{'paper':>6} {'here':>7}"]
        for r in frame.to_dict("records"):
            paper = f"{r['printed']:.{r['digits']}f}"
            mark = " " if r["agrees"] else "*"
            lines.append(f"{paper:>6} {r['here']:7.4f}{mark} {r['source']}: {r['sentence']}")
        return "\n".join(lines)
    row, column = ("first", "second") if name in ORDERS else ("human", "metric")
    two = name in ORDERS or GRIDS[name].sampled
    shown = ["their_way", "here"] if two else ["here"]
    return "\n".join(matrix(frame, row, column, value) for value in shown)


def matrix(frame: pd.DataFrame, row: str, column: str, value: str) -> str:
    """One line a row, paper/here in each cell; * where they differ in their three digits."""
    heads = [f"{head:,}" if column == "metric" else head for head in frame[column].unique()]
    if column == "second":  # the first row has no cell for the first system
        heads = list(frame[row].unique())
    lines = [f"{row if row == 'human' else '':>6}" + "".join(f"{head:>12} " for head in heads)]
    for label, some in frame.groupby(row, sort=False):
        cells = []
        for printed, here in zip(some["printed"], some[value], strict=True):
            mark = " " if f"{printed:.3f}" == f"{here:.3f}" else "*"
            cells.append(f"{f'{printed:.3f}/{here:.3f}{mark}':>13}")
        if column == "second":
            cells.insert(heads.index(str(label)), f"{'– ':>13}")
        shown = f"{label:,}" if row == "human" else str(label)
        lines.append(f"{shown:>6}" + "".join(cells))
    return "\n".join(line.rstrip() for line in lines)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent),
        break_on_hyphens=False,
    )  # fmt: skip


#: Tables that are drawn as heat maps, too.
HEAT_MAPS = list(GRIDS)
_CAPTION = "Difference that is significant at level 0.05: half of all studies find a true one."
_LAYOUT = {
    "order": "“their way” is with ties dropped, “here” with ties counted half.",
    "grid": "Human ratings by metric ratings; cells are paper / here.",
    "thesis": "Human ratings by metric ratings; cells are paper / without √2 / here.",
    "quoted": "",
}
_LINES = {"printed": "paper", "here": "here", "their_way": "their way"}


def figures(made: DanikenReproduction) -> dict[str, Any]:
    """A heat map of each table of differences; none where matplotlib is not installed."""

    def draw(name: str) -> Any:
        wide = made.tables[name].pivot(index="human", columns="metric", values="here")
        return plots.heat(wide, title=GRIDS[name].title)

    return figures_of(draw, HEAT_MAPS)


def page(made: DanikenReproduction, drawn: dict[str, Any]) -> str:
    """The whole result on one page."""
    odd, why = len(made.disagreements), len(made.unexplained)
    differences = report.Table(
        "What differs, and why",
        made._causes[["cause", "table", "cell", "gap"]],
        f"{odd} figures differ from print; {why} for no known reason.",
        formats={"gap": ".4f"},
        names={"gap": "by up to"},
    )
    sections: list[Any] = [differences]
    for name, frame in made.tables.items():
        kind = "order" if name in ORDERS else "quoted" if name == "quoted" else "grid"
        kind = "thesis" if name.startswith("thesis") else kind
        said = [f"{score(frame).capitalize()}.", *NOTES.get(name, []), _LAYOUT[kind]]
        caption = " ".join(filter(None, said))
        sections.append(_table(name, TITLES[name], frame, caption))
        if name in drawn:
            svg = plots.to_svg(drawn[name], alt=f"{TITLES[name]}. {_CAPTION}")
            sections.append(report.Figure(f"{TITLES[name]}, as a map", svg, _CAPTION))
    return report.page(TITLE, ABOUT[:1], sections, made.signature)


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

    shown = ["their_way", "here"] if (frame["their_way"] != frame["here"]).any() else ["here"]
    cells = [
        " / ".join([f"{r['printed']:.3f}", *(f"{r[value]:.3f}" for value in shown)])
        for r in frame.to_dict("records")
    ]
    wide = frame.assign(cell=cells).pivot(index="human", columns="metric", values="cell")
    named = pd.DataFrame({"human": [f"{n:,}" for n in wide.index]})
    for size in wide.columns:
        named[f"{size:,}"] = wide[size].to_numpy()
    return named
