"""A sentence of a paper, the figures that it comes down to, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

HOLDS, FAILS, OPEN = "holds", "does not hold", "not resolved"
#: Monte-Carlo errors by which a figure must lie beyond its limit to be told from it.
ERRORS = 2.0


@dataclass(frozen=True)
class Check:
    """One figure and the side of a limit on which the paper says it lies."""

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
        if not np.isfinite(gap) or not np.isfinite(self.mc):
            return OPEN
        if abs(gap) <= ERRORS * self.mc:
            return OPEN
        return HOLDS if gap > 0 else FAILS

    def __str__(self) -> str:
        printed = "" if self.printed is None else f" (paper {self.printed:.3g})"
        return f"{self.data} {self.what} {self.value:.3f} ± {self.mc:.3f}{printed}"


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper with the checks that it comes down to.

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
        """All of it, for JSON."""
        return {
            **{"name": self.name, "sentence": self.sentence, "verdict": self.verdict},
            "remark": self.remark,
            "checks": [vars(c) | {"verdict": c.verdict} for c in self.checks],
        }
