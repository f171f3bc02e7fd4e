"""The state of a campaign at one moment."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Status:
    """The state of a campaign at one moment.

    Parameters
    ----------
    name, strategy, confidence
        As the campaign was set up.
    pool_size, sampled, rated
        Segments of the pool, of the sample, and of the sample with an answer.
    unrated
        Ids of sampled segments without an answer, in the order of drawing.
    waves
        Every draw.
    answers, raters, each, wanting
        Answers that count, how many each rater gave, how many raters a segment shall have, and how
        many sampled segments have fewer.
    changed
        Segments that somebody rated twice, and not alike.
    set_aside, adoptable, rejected
        Answers that do not count by reason, those among them whose segments were sampled since,
        and rows that could not be read.
    estimate
        The estimate so far in plain values, or None.
    goal
        The tolerance, the half-width so far, and how many ratings it takes, about; or None.
    stop
        What the stopping rule says, for plain random samples with a tolerance; or None.
    notes
        What to know and what to do.
    """

    name: str
    strategy: str
    confidence: float
    pool_size: int
    sampled: int
    rated: int
    unrated: tuple[str, ...]
    waves: tuple[dict[str, Any], ...]
    answers: int
    raters: dict[str, int]
    each: int
    wanting: int
    changed: int
    set_aside: dict[str, int]
    adoptable: int
    rejected: int
    estimate: dict[str, Any] | None
    goal: dict[str, Any] | None
    stop: dict[str, Any] | None
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """In plain values, for JSON."""
        return asdict(self)
