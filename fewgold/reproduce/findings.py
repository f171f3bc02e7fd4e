"""Shared by all reproductions: tables next to the printed ones, and claims with a verdict."""

from __future__ import annotations

import json
import textwrap
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.statistics import padded_share
from fewgold.report.sections import save_result
from fewgold.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd


def printed_tables(name: str) -> list[str]:
    """The tables of one file of published figures, as blocks of lines."""
    text = (Path(__file__).parent / "printed" / f"{name}.txt").read_text(encoding="utf-8")
    return text.strip().split("\n\n")


#: The verdict on a table that this run did not make begins with this; the reason follows.
LEFT_OUT = "left out"


class Item(NamedTuple):
    """A table or figure of a paper.

    ``status`` is ``made``, ``partly`` (what public data allow), ``extract`` (of another table) or
    ``not possible``. ``sources`` names the tables and figures that reproduce it, those of some
    systems as ``table4/FBAI/HU``; ``remark`` says what is left out, or why it cannot be made.
    """

    item: str
    what: str
    status: str
    sources: tuple[str, ...]
    remark: str


def items(paper: str) -> list[Item]:
    """Every table and figure of ``saldias``, ``daniken`` or ``estrella``, in the paper's order."""
    blocks = (block.splitlines() for block in printed_tables("contents"))
    lines = next(rest for name, *rest in blocks if name == paper)
    found = []
    for line in lines:
        item, what, status, sources, remark = (part.strip() for part in line.split("|"))
        found.append(Item(item, what, status, tuple(sources.replace(",", " ").split()), remark))
    return found


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Published tables, reproduced next to the printed values.

    ``tables`` has one dataframe per table of the paper; ``failed`` lists what does not agree.
    """

    tables: Mapping[str, pd.DataFrame]

    @property
    def contents(self) -> pd.DataFrame:
        """Every table and figure of the paper: what it shows, whether it is made, the verdict.

        A table that this run did not make has the status ``left out``; the remark says why.
        """
        import pandas as pd

        rows = []
        for entry in items(self._paper):
            verdict = "; ".join(dict.fromkeys(filter(None, self._verdicts(entry.sources))))
            status, remark = entry.status, entry.remark
            if status == "not possible":
                verdict = status
            elif verdict.startswith(LEFT_OUT):
                status, _, remark = verdict.partition(": ")
                verdict = status
            rows.append((entry.item, entry.what, status, verdict, remark))
        return pd.DataFrame(rows, columns=["item", "shows", "status", "verdict", "remark"])

    @property
    def _paper(self) -> str:
        """The paper's name in the list of tables and figures."""
        return self.signature.partition("|")[0]

    def _verdicts(self, sources: Iterable[str]) -> list[str]:
        """The verdicts on what reproduces a table or figure."""
        return [self._verdict(source) for source in sources]

    @abstractmethod
    def _verdict(self, source: str) -> str:
        """The verdict on one table or figure; if it was not made, why (see `LEFT_OUT`)."""

    def _listed(self) -> list[str]:
        """Lines of the summary: every table and figure with its verdict."""
        lines = ["Every table and figure"]
        for item, shows, status, verdict, remark in self.contents.itertuples(index=False):
            said = f"{status}: {verdict}" if verdict != status else status
            end = f" ({remark})" if remark else ""
            lines.append(wrapped(f"{item}, {shows}: {said}{end}", "  ", "  "))
        return [*lines, ""]

    @property
    @abstractmethod
    def signature(self) -> str:
        """Everything needed to repeat it, in one line."""

    @property
    @abstractmethod
    def failed(self) -> list[Any]:
        """Results that disagree with the paper for no known reason."""

    @abstractmethod
    def summary(self) -> str:
        """Results and tables as text."""

    @abstractmethod
    def _details(self) -> dict[str, Any]:
        """The part of `to_dict` besides the tables."""

    @abstractmethod
    def _output(self) -> tuple[str, str, dict[str, Any]]:
        """The part of `_details` to write as a file, the page, and the figures."""

    def to_dict(self) -> dict[str, Any]:
        """Tables, results and settings in plain types."""
        return {
            "signature": self.signature,
            "contents": self.contents.to_dict("records"),
            **self._details(),
            "tables": {name: frame.to_dict("records") for name, frame in self.tables.items()},
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write summary.txt, a CSV file for each table, a JSON file, figures and report.html."""
        details, page, figures = self._output()
        records = json.dumps(self._details()[details], indent=2, ensure_ascii=False)
        texts = {
            "summary.txt": self.summary() + "\n",
            f"{details}.json": records + "\n",
            "report.html": page,
        }
        return save_result(folder, self.tables, texts, figures, ("png", "svg"))


HOLDS, FAILS, OPEN = "holds", "does not hold", "not resolved"
#: Number of Monte Carlo errors by which a figure must differ from its limit to count as different.
ERRORS = 2.0


@dataclass(frozen=True)
class Check:
    """One figure, and on which side of a limit the paper says it is."""

    data: str
    what: str
    value: float
    mc: float
    side: str
    limit: float
    printed: float | None = None

    @property
    def verdict(self) -> str:
        gap = (self.value - self.limit) * (1 if self.side == "above" else -1)
        if not np.isfinite(gap + self.mc) or abs(gap) <= ERRORS * self.mc:
            return OPEN
        return HOLDS if gap > 0 else FAILS

    def __str__(self) -> str:
        printed = "" if self.printed is None else f" (paper {self.printed:.3g})"
        error = f" ± {self.mc:.3f}" if self.mc else ""
        return f"{self.data} {self.what} {self.value:.3f}{error}{printed}"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper with the checks that test it.

    It holds if every check does, and does not hold if one of them does not.
    """

    name: str
    sentence: str
    checks: tuple[Check, ...]
    remark: str = ""

    @property
    def verdict(self) -> str:
        verdicts = [check.verdict for check in self.checks]
        if FAILS in verdicts:
            return FAILS
        return HOLDS if verdicts and set(verdicts) == {HOLDS} else OPEN

    def to_dict(self) -> dict[str, Any]:
        """The claim and its checks, for JSON."""
        return {
            **{"name": self.name, "sentence": self.sentence, "verdict": self.verdict},
            "remark": self.remark,
            "checks": [vars(c) | {"verdict": c.verdict} for c in self.checks],
        }


@dataclass(frozen=True, eq=False)
class Statistic:
    """A number, and the influence of each draw of each cell on it (delta method): (cells, draws).

    Draw k of two strategies in a cell may share their sample; cells are independent.
    """

    value: float
    influence: FloatArray

    @property
    def mc(self) -> float:
        """Monte-Carlo standard error."""
        draws = self.influence.shape[-1]
        return float(np.sqrt((self.influence.var(-1, ddof=1) / draws).sum()))

    def __truediv__(self, other: Statistic) -> Statistic:
        ratio = self.value / other.value
        return Statistic(ratio, (self.influence - ratio * other.influence) / other.value)

    def __sub__(self, other: Statistic) -> Statistic:
        return Statistic(self.value - other.value, self.influence - other.influence)


def mean_of(values: FloatArray) -> Statistic:
    """Mean over all cells of values (cells, draws)."""
    return Statistic(float(values.mean()), (values - values.mean(-1, keepdims=True)) / len(values))


def spread_of(values: FloatArray) -> Statistic:
    """Standard deviation within a cell, averaged over cells."""
    sd = values.std(-1, ddof=1, keepdims=True)
    squares = (values - values.mean(-1, keepdims=True)) ** 2
    moved = (squares - squares.mean(-1, keepdims=True)) / (2 * np.where(sd > 0, sd, 1.0))
    return Statistic(float(sd.mean()), moved / len(values))


def abs_error(
    simulation: Simulation, strategy: str, budgets: Iterable[float] | None = None
) -> Statistic:
    """Mean of |estimate − truth| over all cells, or over those of some budgets."""
    return mean_of(np.abs(_errors(simulation, strategy, budgets or simulation.budgets)))


def sdev(simulation: Simulation, strategy: str) -> Statistic:
    """Standard deviation of |estimate − truth| in a cell, averaged over cells."""
    return spread_of(np.abs(_errors(simulation, strategy, simulation.budgets)))


def share_within(
    simulation: Simulation, strategy: str, budget: float, t: float
) -> tuple[float, float]:
    """Share of draws with an error of at most ``t``, and its Monte-Carlo error."""
    return padded_share(np.abs(_errors(simulation, strategy, [budget])) <= t)


def _errors(simulation: Simulation, strategy: str, budgets: Iterable[float]) -> FloatArray:
    """Errors of all draws: (pools × budgets, draws)."""
    pools = simulation.pools
    return np.stack([simulation.errors(p, strategy, b) for p in pools for b in budgets])


def wrapped(text: str, indent: str = "", hanging: str = "") -> str:
    """A wrapped paragraph; ``hanging`` indents all lines but the first."""
    return textwrap.fill(
        text, 100, initial_indent=indent, subsequent_indent=indent + hanging, break_on_hyphens=False
    )
