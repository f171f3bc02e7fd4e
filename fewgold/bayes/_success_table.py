"""Success rates of systems, as a frame and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fewgold._validate import check_confidence
from fewgold.bayes._rated import Posterior

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class SuccessRates:
    """A posterior for each system, and what it was made from. Made by `success_rates`."""

    posteriors: Mapping[str, Posterior]
    facts: Mapping[str, Mapping[str, Any]]
    metric: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"SuccessRates({len(self.posteriors)} systems, {self.metric or 'people alone'})"

    def summary(self, confidence: float = 0.95) -> str:
        """A line a system, for people."""
        level = f"{100 * confidence:.6g}%"
        lines = [
            f"{row['system']}: {row['mean']:.4f} ± {row['sd']:.4f}, {level} credible interval "
            f"{row['low']:.4f} to {row['high']:.4f}, {row['rated']} of {row['items']} items rated"
            for row in self.to_frame(confidence).to_dict("records")
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def to_frame(self, confidence: float = 0.95) -> pd.DataFrame:
        """One row a system.

        ``items`` of the system, ``rated`` by people, their share of adequate ones (``human``), the
        share that the metric says (``naive``), posterior mean, sd and interval, and the share of
        adequate and inadequate rated items that the metric recognises, ρ and η.
        """
        import pandas as pd

        check_confidence(confidence)
        rows = []
        for name, posterior in self.posteriors.items():
            low, high = (float(end) for end in posterior.interval(confidence))
            found = {"mean": float(posterior.mean), "sd": float(posterior.sd)}
            rows.append({"system": name, **self.facts[name], **found, "low": low, "high": high})
        return pd.DataFrame(rows)
