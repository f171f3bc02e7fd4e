"""von Däniken et al. (2022), *On the effectiveness of automated metrics for text generation
systems*, and the thesis of 2023 that goes on from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._version import __version__
from fewgold.common.checks import check_count
from fewgold.reproduce.daniken_printed import GRIDS, ORDERS
from fewgold.reproduce.daniken_tables import THEIR_DRAWS, grid_table, orders_table, quotes_table
from fewgold.reproduce.findings import Reproduction

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]
_SHOWN = ["table", "cell", "printed", "here", "cause"]


@dataclass(frozen=True, eq=False)
class DanikenReproduction(Reproduction):
    """Tables beside the printed ones, with the cause of every disagreement.

    Attributes
    ----------
    tables
        ``table1``, ``table4`` … ``table14``, ``thesis5.8``, ``thesis5.9`` and ``quoted``. Each has
        a row for a cell: ``printed``, ``here`` (the right value), ``agrees`` (to the printed
        digit), ``explained`` (it agrees, or we know why not) and ``cause``; and but for ``quoted``
        ``their_way``, the value with what we take to be their error.
    draws, seed
        Studies drawn for each cell of the thesis's tables, and the seed.
    """

    draws: int
    seed: int

    def __repr__(self) -> str:
        cells = sum(map(len, self.tables.values()))
        return (
            f"DanikenReproduction({len(self.tables)} tables, {cells} figures, "
            f"{len(self.disagreements)} differ, {len(self.unexplained)} without a known cause)"
        )

    @property
    def signature(self) -> str:
        return f"daniken|fewgold {__version__}|draws {self.draws}|seed {self.seed}"

    @property
    def disagreements(self) -> pd.DataFrame:
        """Every figure that differs from print: table, cell, printed, here, cause."""
        import pandas as pd

        parts = []
        for name, frame in self.tables.items():
            odd = frame[~frame["agrees"]]
            parts.append(odd.assign(table=name, cell=_cells(odd))[_SHOWN])
        return pd.concat(parts, ignore_index=True)

    @property
    def _causes(self) -> pd.DataFrame:
        """Disagreements by table and cause: those that many cells share are counted."""
        import pandas as pd

        odd = self.disagreements
        kind = odd["cause"].str.partition(":")[0]  # without the figures of a single cell
        rows = []
        for (table, cause), some in odd.groupby(["table", kind], sort=False):
            one = some.iloc[0]
            gap = float((some["here"] - some["printed"]).abs().max())
            many = len(some) > 1
            cell = f"{len(some)} cells" if many else one["cell"]
            said = cause if many else one["cause"]
            rows.append((table, cell, len(some), gap, said or "no known cause"))
        return pd.DataFrame(rows, columns=["table", "cell", "cells", "gap", "cause"])

    @property
    def unexplained(self) -> pd.DataFrame:
        """Those that no known cause explains."""
        found = self.disagreements
        return found[found["cause"] == ""]

    @property
    def failed(self) -> list[str]:
        """Cells that differ from print for no known reason."""
        rows = self.unexplained.to_dict("records")
        return [f"{row['table']} {row['cell']}" for row in rows]

    def summary(self) -> str:
        from fewgold.reproduce import daniken_output

        return daniken_output.summary(self)

    def _details(self) -> dict[str, Any]:
        return {
            "disagreements": self.disagreements.to_dict("records"),
            "unexplained": self.failed,
        }

    def _output(self) -> tuple[str, str, dict[str, Any]]:
        from fewgold.reproduce import daniken_output

        drawn = daniken_output.figures(self)
        return "disagreements", daniken_output.page(self, drawn), drawn


def _cells(frame: pd.DataFrame) -> list[str]:
    """What each row is about, in words."""
    if "first" in frame:
        return [f"{a} > {b}" for a, b in zip(frame["first"], frame["second"], strict=True)]
    if "sentence" in frame:
        return [f"{a}: {b}" for a, b in zip(frame["source"], frame["sentence"], strict=True)]
    return [f"{n} human, {m} metric" for n, m in zip(frame["human"], frame["metric"], strict=True)]


def daniken(
    draws: int = 2 * THEIR_DRAWS, *, rng: int = 0, progress: Progress | None = None
) -> DanikenReproduction:
    """Make the tables of von Däniken et al. (2022) and of his thesis again, beside the printed.

    Tables 1, 4, 5, 8, 9 and 11 to 14, the quoted figures of Figures 1 to 3, and Tables 5.8 and 5.9
    of the thesis. It needs no data: the tables say which counts they come from. Tables 2 and 3 are
    extracts; Tables 6, 7 and 10 come from metric scores that are not printed.

    Parameters
    ----------
    draws
        Studies drawn for each cell of Tables 5.8 and 5.9, where the thesis has 50.
    rng
        Seed of these.
    progress
        Called with a name, how many tables are done, and how many there are.
    """
    check_count("draws", draws, 2)
    seeds = np.random.SeedSequence(rng).spawn(len(GRIDS))
    rows = zip(GRIDS.items(), seeds, strict=True)
    jobs = {name: partial(grid_table, name, grid, draws, seed) for (name, grid), seed in rows}
    jobs |= {name: partial(orders_table, order) for name, order in ORDERS.items()}
    jobs["quoted"] = partial(quotes_table)
    tables = {}
    for k, name in enumerate(sorted(jobs, key=_place)):
        tables[name] = jobs[name]()
        if progress is not None:
            progress("tables", k + 1, len(jobs))
    return DanikenReproduction(tables, draws, rng)


def _place(name: str) -> tuple[int, float]:
    """Tables by number, then the quoted figures, then the thesis."""
    kinds = ("table", "quoted", "thesis")
    kind = next(k for k, word in enumerate(kinds) if name.startswith(word))
    return kind, float(name.removeprefix(kinds[kind]) or 0)
