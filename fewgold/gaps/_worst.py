"""An interval that holds whatever the unrated scores are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fewgold.bayes import RatedPosterior
from fewgold.estimate import Estimate, Interval, LinearEstimate


@dataclass(frozen=True, eq=False)
class GapBounds:
    """The mean of the pool between two extremes: all unrated scores at one end of the scale.

    Let each segment of the pool be one that would be rated or one that would not. Scores with the
    latter at the low end are a variable like any other, rated throughout the sample, and its mean
    over the pool is no more than that of the scores. So the lower end of its interval lies above
    the mean of the pool no more often than a lower end may; likewise the upper end, with the
    unrated at the high end. Nothing is assumed of the unrated scores, only that which segments go
    unrated does not depend on which others were drawn.

    Parameters
    ----------
    low, high
        Estimates with the unrated at the low and at the high end of the scale.
    unrated, sampled
        Segments without a rating, and all that were drawn.
    confidence
        Level of the interval unless another is asked for.
    before
        What was assumed of gaps in earlier waves, as a sentence and as signatures have it.
    """

    low: LinearEstimate | RatedPosterior
    high: LinearEstimate | RatedPosterior
    unrated: int
    sampled: int
    confidence: float = 0.95
    before: tuple[str, str] | None = None

    def __repr__(self) -> str:
        low, high = self.region
        return f"GapBounds({low:.4f} to {high:.4f}, {self.unrated} of {self.sampled} unrated)"

    @property
    def region(self) -> Interval:
        """The estimates at both extremes: what the gaps alone leave open."""
        return Interval(self.low.value, self.high.value)

    def interval(self, confidence: float | None = None) -> Interval:
        """The interval: what the gaps and the drawing together leave open."""
        level = self.confidence if confidence is None else confidence
        return Interval(_ends(self.low, level).low, _ends(self.high, level).high)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        mine = (
            f"{self.unrated} of {self.sampled} segments are unrated, and may have any score: "
            "nothing is assumed of them",
        )
        early = () if self.before is None else (f"in an earlier wave, {self.before[0]}",)
        own = [n for e in (self.low, self.high) for n in e.remarks if n not in e.ratings.warnings]
        return (*mine, *early, *dict.fromkeys(own))

    def signature(self, confidence: float | None = None) -> str:
        """All that is needed to tell how the interval was made, in one line."""
        level = self.confidence if confidence is None else confidence
        gaps = f"gaps:{self.unrated}-worst-case"
        if self.before is not None:
            gaps += f"+{self.before[1]}"
        parts = self.low.signature(level).split("|")
        return "|".join(gaps if part.startswith("gaps:") else part for part in parts)

    def summary(self, confidence: float | None = None) -> str:
        """A few lines for people."""
        level = self.confidence if confidence is None else confidence
        (first, last), (low, high) = self.region, self.interval(level)
        lines = [
            f"{first:.4f} to {last:.4f}, whatever the unrated scores are",
            f"{100 * level:.10g}% interval {low:.4f} to {high:.4f} ({self._label(level)})",
            f"from {self.sampled - self.unrated} of {len(self.low.ratings.sample.pool)} segments",
            *(f"note: {note}" for note in self.notes),
            self.signature(level),
        ]
        return "\n".join(lines)

    def _label(self, level: float) -> str:
        return str(self.low.to_dict(level)["bound_label"])

    def to_dict(self, confidence: float | None = None) -> dict[str, Any]:
        """The bounds in plain numbers, for JSON."""
        level = self.confidence if confidence is None else confidence
        told = self.low.to_dict(level)
        kept = ("bound", "bound_kind", "bound_label", "method", "pool_size")
        low, high = self.interval(level)
        return {
            "region": [float(end) for end in self.region],
            "low": float(low),
            "high": float(high),
            "confidence": level,
            **{name: told[name] for name in kept if name in told},
            "n": self.sampled - self.unrated,
            "unrated": self.unrated,
            "notes": list(self.notes),
            "signature": self.signature(level),
        }


def _ends(estimate: Estimate, confidence: float) -> Interval:
    """The interval with as much left out below as above: one end of each is used."""
    if isinstance(estimate, RatedPosterior):
        return estimate.interval(confidence, "equal")
    return estimate.interval(confidence)
