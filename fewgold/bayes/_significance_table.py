"""Which systems differ, as a matrix, a frame, text and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Significance:
    """P(α of the row > α of the column) for all pairs of systems. Made by `significance`.

    Parameters
    ----------
    names, means
        The systems, and the posterior means of their success rates.
    probability
        P(row > column), (k, k); one half on the diagonal.
    p
        Two-sided tails 2 min(P, 1 − P), (k, k), after the correction if there is one.
    levels
        In descending order.
    """

    names: tuple[str, ...]
    means: FloatArray
    probability: FloatArray
    p: FloatArray
    levels: tuple[float, ...]
    correction: str | None = None

    def __repr__(self) -> str:
        found = int((np.triu(self.reached, 1) > 0).sum())
        pairs = len(self.names) * (len(self.names) - 1) // 2
        return f"Significance({found} of {pairs} pairs differ at {self.levels[0]:g})"

    @property
    def reached(self) -> IntArray:
        """How many of the levels each pair reaches: (k, k)."""
        reached = (self.p[..., None] < np.array(self.levels)).sum(-1)
        np.fill_diagonal(reached, 0)
        return np.asarray(reached)

    def matrix(self) -> pd.DataFrame:
        """P(row > column)."""
        import pandas as pd

        return pd.DataFrame(self.probability, list(self.names), list(self.names))

    def to_frame(self) -> pd.DataFrame:
        """One row a pair: who is ahead on average, by how much, P, p and the level reached.

        ``level`` is NaN for pairs that do not differ.
        """
        import pandas as pd

        reached = self.reached
        rows = []
        for i, j in combinations(range(len(self.names)), 2):
            depth = int(reached[i, j])
            rows.append(
                {
                    "first": self.names[i],
                    "second": self.names[j],
                    "difference": float(self.means[i] - self.means[j]),
                    "probability": float(self.probability[i, j]),
                    "p": float(self.p[i, j]),
                    "level": self.levels[depth - 1] if depth else np.nan,
                }
            )
        return pd.DataFrame(rows)

    def summary(self) -> str:
        """The matrix as text, with a star for each level."""
        reached = self.reached
        heads = [f"{n} ({m:.2f})" for n, m in zip(self.names, self.means, strict=True)]
        lines = []
        for i, head in enumerate(heads):
            cells = [
                "–" if i == j else _chance(self.probability[i, j]) + "*" * reached[i, j]
                for j in range(len(heads))
            ]
            lines.append([head, *cells])
        deepest = len(self.levels)
        for line in lines:  # numbers stay below each other
            line[1:] = [c + " " * (deepest - c.count("*")) for c in line[1:]]
        lines = [["", *self.names], *lines]
        width = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        shown = [
            "  ".join([line[0].ljust(width[0]), *map(str.rjust, line[1:], width[1:])]).rstrip()
            for line in lines
        ]
        marks = ", ".join(f"{'*' * (k + 1)} {g:g}" for k, g in enumerate(self.levels))
        after = f", after {self.correction} correction" if self.correction else ""
        return "\n".join([*shown, f"P(row > column); two-sided levels: {marks}{after}"])

    def plot(self, ax: Axes | None = None) -> Axes:
        """The matrix as a figure."""
        from fewgold.plots import significance_matrix

        return significance_matrix(
            self.matrix(), self.reached, ax, levels=self.levels, means=self.means,
            note=f"after {self.correction} correction" if self.correction else "",
        )  # fmt: skip


def _chance(p: float) -> str:
    """Three digits, and no 1 or 0 for what is only near."""
    return ">.999" if p >= 0.9995 else "<.001" if p < 0.0005 else f"{p:.3f}"
