"""The systems of WMT21 and Spot The Bot in von Däniken's thesis (2023), by human ratings.

Success rates (the Human columns of Tables 5.1 to 5.4) and pairwise significance tests (Tables 5.5
and 5.7). Those of Spot The Bot follow from counts that the paper's Table 8 and the thesis's Table
5.2 determine; those of WMT21 need the public scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from scipy.special import ndtri

from fewgold import plots
from fewgold.bayes import Roc
from fewgold.common.arrays import RNGLike
from fewgold.datasets import real_frame
from fewgold.reproduce.findings import printed_tables

if TYPE_CHECKING:
    import pandas as pd

#: Number of adequate ratings and of all ratings of each system.
Tallies = Mapping[str, tuple[int, int]]


class PrintedSystems(NamedTuple):
    """A table with one line per system: rates (mean and sd), or stars against each system."""

    title: str
    cells: dict[str, tuple[str, ...]]


PRINTED: dict[str, PrintedSystems] = {}
for _block in printed_tables("daniken_systems"):
    _first, *_lines = _block.splitlines()
    _name, _title = _first.split(maxsplit=1)
    PRINTED[_name] = PrintedSystems(
        _title, {row[0]: tuple(row[1:]) for row in map(str.split, _lines)}
    )

RATES, STARS = ("thesis5.1", "thesis5.2"), ("thesis5.5", "thesis5.7")
#: Tables that need the public WMT21 scores.
NEED_SCORES = ("thesis5.1", "thesis5.5")
#: Significance levels of one, two and three stars.
LEVELS = (0.05, 0.01, 0.001)

ONE_HALF = "the table is not symmetric, though the test is: the other half is correct"


def wmt21_tallies() -> Tallies:
    """Numbers of outputs without an error (MQM 0) and of all outputs, by system of WMT21 en-de."""
    table = real_frame("wmt21_ende")
    adequate = (table["mqm"] == 0).groupby(table["system"]).agg(["sum", "size"])
    return {str(system): (int(k), int(n)) for system, k, n in adequate.itertuples()}


class BleuCurves(NamedTuple):
    """ROC curves of sentence BLEU against the human ratings of WMT21 English–German.

    ``pooled`` takes the outputs of all systems together, as Figure 5.1 of the thesis does.
    """

    title: str
    caption: str
    pooled: bool = False

    def curves(self) -> dict[str, Roc]:
        """One curve per system, or one of all."""
        table = real_frame("wmt21_ende")
        table = table[table["system"].isin(list(PRINTED["thesis5.1"].cells))]
        labels = ["all systems"] * len(table) if self.pooled else table["system"].tolist()
        adequate = (table["mqm"] == 0).astype(int)
        return {
            str(name): Roc.of(adequate.loc[some.index], some["sb_BLEU"])
            for name, some in table.groupby(labels, sort=False)
        }

    def draw(self, rng: RNGLike = None) -> Any:
        """The figure; marks are where ρ and η differ least."""
        import pandas as pd

        curves = self.curves()
        lines = [c.curve().assign(system=n, auc=c.auc) for n, c in curves.items()]
        chosen = {name: curve.chosen() for name, curve in curves.items()}
        points = [(name, 1 - point.eta, point.rho) for name, point in chosen.items()]
        marks = pd.DataFrame(points, columns=["system", "fpr", "tpr"])
        ax = plots.roc_curves(pd.concat(lines, ignore_index=True), marks, title=self.title)
        return ax.figure

    def verdict(self) -> str:
        """The areas under the curves, in words."""
        areas = {name: curve.auc for name, curve in self.curves().items()}
        if self.pooled:
            return f"BLEU drawn, AUC {areas['all systems']:.2f}"
        least, most = min(areas, key=areas.__getitem__), max(areas, key=areas.__getitem__)
        return f"BLEU drawn, AUC {areas[least]:.2f} ({least}) to {areas[most]:.2f} ({most})"


#: Figures of the thesis that need the public WMT21 scores.
ROC_FIGURES = {
    "figure5.1": BleuCurves(
        "Thesis, Figure 5.1: ROC curve of BLEU, all systems",
        "WMT21 English–German, 527 outputs of each of 11 systems; an output is adequate with MQM "
        "0. The mark is the threshold of least |ρ − η|.",
        pooled=True,
    ),
    "figure5.2": BleuCurves(
        "Thesis, Figure 5.2: ROC curves of BLEU by system",
        "As Figure 5.1, one curve per system; the thesis sets a threshold for each.",
    ),
}


def posterior(tally: tuple[int, int]) -> tuple[float, float]:
    """Mean and standard deviation of the success rate, with a uniform prior."""
    k, n = tally
    mean = (k + 1) / (n + 2)
    return mean, sqrt(mean * (1 - mean) / (n + 3))


def rates_table(name: str, tallies: Tallies) -> pd.DataFrame:
    """Mean and standard deviation of every system's success rate, printed and exact."""
    import pandas as pd

    rows = []
    for system, cells in PRINTED[name].cells.items():
        for what, printed, here in zip(
            ("mean", "sd"), cells, posterior(tallies[system]), strict=True
        ):
            digits = len(printed.partition(".")[2])
            agrees = f"{here:.{digits}f}" == printed
            rows.append(
                {
                    **{"system": system, "quantity": what},
                    **{"printed": float(printed), "here": here},
                    **{"agrees": agrees, "explained": agrees, "cause": ""},
                }
            )
    return pd.DataFrame(rows)


def stars(one: tuple[int, int], other: tuple[int, int]) -> int:
    """Stars of the test on the difference of two posterior means, as in the thesis."""
    (mean1, sd1), (mean2, sd2) = posterior(one), posterior(other)
    z = abs(mean1 - mean2) / sqrt(sd1**2 + sd2**2)
    return sum(z > float(ndtri(1 - level / 2)) for level in LEVELS)


def stars_table(name: str, tallies: Tallies) -> pd.DataFrame:
    """Number of stars for every pair of systems, printed and reproduced."""
    import pandas as pd

    cells = PRINTED[name].cells
    printed = {(a, b): cells[a][k].count("*") for a in cells for k, b in enumerate(cells) if a != b}
    rows = []
    for a, b in product(cells, repeat=2):
        if a == b:
            continue
        here = stars(tallies[a], tallies[b])
        agrees, mirrored = printed[a, b] == here, printed[b, a] == here
        rows.append(
            {
                **{"first": a, "second": b, "printed": printed[a, b], "here": here},
                **{"agrees": agrees, "explained": agrees or mirrored},
                "cause": ONE_HALF if mirrored and not agrees else "",
            }
        )
    return pd.DataFrame(rows)


def table_text(frame: pd.DataFrame) -> str:
    """A readable table: paper/here, with * if they differ (for stars: !)."""
    if "quantity" in frame:
        lines = [f"{'':15} {'mean':^14} {'sd':^14}"]
        for system, some in frame.groupby("system", sort=False):
            shown = []
            for row, digits in zip(some.to_dict("records"), (2, 3), strict=True):
                mark = " " if row["agrees"] else "*"
                both = f"{row['printed']:.{digits}f}/{row['here']:.{digits}f}{mark}"
                shown.append(f"{both:>14}")
            lines.append(f"{system!s:15}{''.join(shown)}".rstrip())
        return "\n".join(lines)
    names = list(dict.fromkeys(frame["first"]))
    lines = [f"{'':15}" + "".join(f"{name[:7]:>9}" for name in names)]
    for first, some in frame.groupby("first", sort=False):
        cells = {
            r["second"]: f"{'*' * r['printed'] or '.'}/{'*' * r['here'] or '.'}"
            + ("" if r["agrees"] else "!")
            for r in some.to_dict("records")
        }
        lines.append(f"{first!s:15}" + "".join(f"{cells.get(name, '–'):>9}" for name in names))
    return "\n".join(lines)
