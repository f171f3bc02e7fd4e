"""Ratings that come in one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fewgold.bounds.sequence.paths import (
    Path,
    check_design,
    known_limits,
    path,
    unit_scores,
    unit_tolerance,
)
from fewgold.bounds.sequence.rules import Rule, make_rule
from fewgold.common.checks import Limits, check_count
from fewgold.design import simple_design
from fewgold.errors import DataError, DesignError
from fewgold.estimate import Interval
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample


@dataclass(frozen=True, eq=False)
class Monitor:
    """The interval so far, while ratings come in; each `add` returns a new monitor.

    Segments must be rated in a random order fixed beforehand, such as that of
    ``SimpleRandom().draw(pool, 1.0)``: leaving hard ones for later breaks the guarantee. The
    interval equals the last point of `path` for the same ratings.

    Parameters
    ----------
    pool
        The pool, or how many segments it has. A metric needs the pool.
    limits
        Ends of the rating scale, such as ``(0, 25)`` or "mqm".
    tolerance, confidence, metric, rule, upper
        As in `path`.

    Examples
    --------
    >>> from fewgold.bounds.sequence import Monitor
    >>> monitor = Monitor(200, limits="mqm", tolerance=2.0)
    >>> monitor = monitor.add(1.0).add([0.0, 5.0])
    >>> monitor.n, monitor.stop
    (3, False)
    """

    pool: Pool | int
    limits: Limits
    tolerance: float
    confidence: float = 0.95
    metric: str | None = None
    rule: str = "kelly"
    upper: float = 0.5
    scores: tuple[float, ...] = field(default=(), repr=False)
    rows: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.pool, Pool):
            check_count("the size of the pool", self.pool)
            if self.metric is not None:
                raise DataError(
                    f"the metric {self.metric!r} must be known for all segments. Give the pool "
                    "instead of its size."
                )
        self._rule()  # reports what is wrong with it

    def _rule(self) -> Rule:
        tolerance = unit_tolerance(self.tolerance, known_limits(self.limits))
        return make_rule(self.rule, tolerance, self.confidence, self.upper)

    @property
    def n(self) -> int:
        """Ratings so far."""
        return len(self.scores)

    @property
    def _size(self) -> int:
        """Segments in the pool."""
        return len(self.pool) if isinstance(self.pool, Pool) else int(self.pool)

    def add(self, score: float | Sequence[float], id: Any = None) -> Monitor:
        """Add one more rating, or several, in the order of drawing.

        ``id`` names the segments (as many as scores); only needed with a metric.
        """
        new = [float(s) for s in np.atleast_1d(np.asarray(score, dtype=np.float64))]
        if self.n + len(new) > self._size:
            raise DataError(
                f"the pool has {self._size} segments, and {self.n} are rated; got {len(new)} more."
            )
        rows = self._rows(len(new), id)
        made = replace(self, scores=(*self.scores, *new), rows=(*self.rows, *rows))
        if new:
            _ = made._ratings  # reports a wrong score while it can still be corrected
        return made

    def _rows(self, count: int, id: Any) -> list[int]:
        if id is None:
            if self.metric is not None:
                raise DataError(
                    f"name the rated segment with add(score, id=…): the metric {self.metric!r} "
                    "is looked up by id."
                )
            if self.rows != tuple(range(self.n)):
                raise DataError(
                    "earlier ratings came with ids. Give ids for all ratings or for none."
                )
            return list(range(self.n, self.n + count))
        if not isinstance(self.pool, Pool):
            raise DataError("ids are useless without the pool. Give the pool instead of its size.")
        wanted = [str(i) for i in np.atleast_1d(np.asarray(id, dtype=object))]
        if len(wanted) != count:
            raise DataError(f"there must be an id for each score; got {len(wanted)} for {count}.")
        known = {str(i): row for row, i in enumerate(self.pool.ids)}
        unknown = [i for i in wanted if i not in known]
        if unknown:
            raise DataError(f"{unknown[0]!r} is not in the pool. Check the id.")
        rows = [known[i] for i in wanted]
        if len({*self.rows, *rows}) < self.n + count:
            raise DataError("a segment was rated twice. Give each once; average several raters.")
        return rows

    @cached_property
    def _ratings(self) -> Ratings:
        """The ratings so far, as a simple random sample."""
        if not self.n:
            raise DataError("there is no rating yet. Add one first.")
        pool = self.pool if isinstance(self.pool, Pool) else Pool(np.arange(self.pool))
        sample = Sample(pool, np.array(self.rows), simple_design(self.n, self._size))
        return sample.rate(np.array(self.scores), limits=self.limits)

    @cached_property
    def interval(self) -> Interval:
        """The interval so far; the whole scale before the first rating."""
        low, high = known_limits(self.limits)
        if not self.n:
            return Interval(np.asarray(low), np.asarray(high))
        scores, control = unit_scores(self._ratings, self.metric)
        ends = self._rule().last(scores, self._size, control)
        return Interval(*(low + (high - low) * end[0] for end in ends))

    @property
    def stop(self) -> bool:
        """True once the rule has stopped."""
        if self.rule == "kelly":  # once narrow, always narrow
            low, high = self.interval
            return bool(high - low <= 2 * self.tolerance * (1 + 1e-12))
        return self.n > 0 and self.path.stopped > 0

    @cached_property
    def path(self) -> Path:
        """The interval after each rating so far."""
        return path(
            self._ratings, self.tolerance, self.confidence, metric=self.metric, rule=self.rule,
            upper=self.upper,
        )  # fmt: skip

    def summary(self) -> str:
        """A readable summary of a few lines."""
        return self.path.summary() if self.n else "No rating yet: continue."


def first(sample: Sample, n: int) -> Sample:
    """The first n segments of a simple random sample, which are a simple random sample too."""
    check_design(sample.design)
    if sample.given is not None:
        raise DesignError(
            "this sample continues another one, whose size may have been chosen by looking at "
            "ratings. Draw one sample of all the segments that may be rated, and rate it from "
            "the top."
        )
    return Sample(
        sample.pool, sample.indices[:n], simple_design(n, len(sample.pool)), info=sample.info
    )
