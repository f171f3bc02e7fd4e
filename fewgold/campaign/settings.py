"""The settings of a campaign."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from fewgold.campaign.database import damaged, reading
from fewgold.common.checks import as_limits, as_names, check_choice, check_confidence, check_count
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.formats import Criterion, RatingScale
from fewgold.formats.base import parse_criteria

REPEATS = ("last", "first", "mean")
AMONG = ("mean", "median")
RULES = ("kelly", "hall")
#: Columns of a campaign's answers. The scores of several criteria follow them.
COLUMNS = (
    "segment", "score", "rater", "time", "answer", "details", "import", "stored_at",
)  # fmt: skip
ADJUDICATION = ("replaces", "joins")
PREFERENCE = (-1.0, 1.0)
SHOWN = ("metrics", "system", "estimate")


_LONGEST_END = 80
_MOST_PRACTICE = 20
_LONGEST_INSTRUCTIONS = 50_000


@dataclass(frozen=True)
class Settings:
    """Decisions made before the first answer, so that answers cannot influence them.

    Parameters
    ----------
    name
        Name of the campaign.
    strategy
        How segments are chosen and the score is estimated, such as ``docs-balanced+ridge``.
    seed
        Random seed of the first wave; the seeds of later waves are derived from it.
    limits
        Ends of the rating scale, such as ``(0, 100)``. Answers outside are rejected.
    tolerance
        Target half-width of the interval.
    confidence
        Confidence level of the intervals.
    bound
        Method for the intervals; None for the estimator's own.
    rule
        Stopping rule, for plain random samples: ``kelly`` or ``hall``.
    each
        Number of raters per segment.
    repeats
        Which answer counts if a rater rates a segment twice: ``last``, ``first`` or ``mean``.
    among
        How the answers of several raters become one score: ``mean`` or ``median``.
    question
        Question that raters see; empty for one that fits the scale (see `asked`).
    higher_is_better
        Which end of the scale is good; None if unknown. A scale given by name implies it: ``mqm``
        counts errors, and on the others more is better.
    system
        The system whose outputs are in the pool, if files of answers contain several.
    shown
        What raters may see on pages besides texts: ``metrics``, ``system``, ``estimate``. Nothing
        by default, since it could influence them.
    budget
        Total number of ratings, for strategies that hand out one segment at a time.
    uniform, chances
        With uneven chances: the share of equal chances, if set, and a sentence for reports that
        says where the chances come from.
    criteria
        Several things to rate about each segment: `fewgold.criteria.Criterion`, or text such as
        ``"fluency:1-5"``. The first one leads: ``limits``, ``higher_is_better``, the tolerance, the
        stopping rule, checks, adjudication and strategies that learn use it.
    systems
        The systems to compare, if the campaign has outputs of several; see `Campaign.of`.
    shared
        Whether these are rated on the same segments. Otherwise each has a sample of its own.
    second
        Share of the sampled segments, chosen at random, that get one rater more than ``each``.
    hold
        Seconds for which a segment is kept for the rater who got it. After that it goes to the next
        rater, but a late answer is stored all the same.
    check_every
        Number of answers between two attention checks of a rater; 0 for no checks.
    differ
        Segments on which raters differ by this much or more go to an adjudicator; None for no
        adjudication. It is fixed before anything is settled, so that what is settled does not
        depend on who looks.
    adjudication
        What a settled score does: it ``replaces`` the raters' answers, or ``joins`` them as one
        more rater.
    ends
        Labels of the low and the high end of the scale, such as ``("useless", "perfect")``.
    instructions
        Instructions for raters in Markdown, shown on pages and in files for raters.
    sides
        The two texts to show side by side, in random order, if raters say which output is better. A
        score is then 1 if the first is better, −1 if the second is, and 0 for a tie or if both are
        bad. Its mean is the net preference for the first.
    practice
        Number of items that a new rater practises on before the first one that counts.
    fingerprint, created_at, version
        Fingerprint of the pool, time of creation, and version of fewgold.
    """

    name: str
    strategy: str
    seed: int
    limits: tuple[float, float] | None = None
    tolerance: float | None = None
    confidence: float = 0.95
    bound: str | None = None
    rule: str = "kelly"
    each: int = 1
    repeats: str = "last"
    among: str = "mean"
    question: str = ""
    system: str | None = None
    shown: tuple[str, ...] = ()
    budget: int | None = None
    fingerprint: str = ""
    created_at: str = ""
    version: str = ""
    higher_is_better: bool | None = None
    uniform: float | None = None
    chances: str = ""
    criteria: tuple[Criterion, ...] = ()
    systems: tuple[str, ...] = ()
    shared: bool = True
    second: float = 0.0
    hold: float = 1800.0
    check_every: int = 0
    differ: float | None = None
    adjudication: str = "replaces"
    ends: tuple[str, str] | None = None
    instructions: str = ""
    sides: tuple[str, ...] = ()
    practice: int = 0

    def __post_init__(self) -> None:
        self._check_criteria()
        check_confidence(self.confidence)
        check_choice("repeats", self.repeats, REPEATS)
        check_choice("among", self.among, AMONG)
        check_choice("rule", self.rule, RULES)
        object.__setattr__(
            self, "shown", tuple(check_choice("shown", s, SHOWN) for s in as_names(self.shown))
        )
        object.__setattr__(self, "systems", as_names(self.systems))
        check_count("each", self.each)
        if self.higher_is_better not in (None, True, False):
            raise FewgoldError(
                f"higher_is_better must be True, False or None; got {self.higher_is_better!r}."
            )
        check_choice("adjudication", self.adjudication, ADJUDICATION)
        if not 0 <= self.second <= 1:
            raise FewgoldError(
                "second is the share of segments that get one more rater, from 0 to 1; got "
                f"{self.second:g}."
            )
        if not 0 < self.hold <= 1e9:
            raise FewgoldError(f"hold must be a time above 0; got {self.hold:g} seconds.")
        if self.check_every:
            check_count("the number of answers between attention checks", self.check_every, 2)
        if not 0 <= self.practice <= _MOST_PRACTICE:
            raise FewgoldError(
                f"practice is the number of practice items, from 0 to {_MOST_PRACTICE}; got "
                f"{self.practice}."
            )
        if self.differ is not None and not 0 < self.differ < float("inf"):
            raise FewgoldError(
                "differ is the smallest difference between raters that is adjudicated, above 0; "
                f"got {self.differ:g}."
            )
        check_seed(self.seed)
        self._check_sides()
        ends = as_limits(self.limits)
        if isinstance(self.limits, str) and self.higher_is_better is None:
            object.__setattr__(self, "higher_is_better", self.limits.lower() != "mqm")
        object.__setattr__(self, "limits", ends)
        self._check_words()
        if self.tolerance is not None:
            most = float("inf") if ends is None else (ends[1] - ends[0]) / 2
            if not 0 < self.tolerance < most:
                raise FewgoldError(
                    f"tolerance must be above 0 and below half of the scale ({most:g}); got "
                    f"{self.tolerance:g}."
                )

    def _check_words(self) -> None:
        """Check the labels of the ends, and the instructions."""
        if self.ends is not None:
            called = tuple(" ".join(str(name).split()) for name in self.ends)
            if len(called) != 2 or not all(called) or max(map(len, called)) > _LONGEST_END:
                raise FewgoldError(
                    "ends are labels for the low and the high end of the scale, such as "
                    f"('useless', 'perfect'), of up to {_LONGEST_END} characters each; got "
                    f"{self.ends!r}."
                )
            if self.limits is None or self.criteria:
                raise FewgoldError("labels of the ends need a single scale with limits.")
            object.__setattr__(self, "ends", called)
        if len(self.instructions) > _LONGEST_INSTRUCTIONS or "\x00" in self.instructions:
            raise FewgoldError(
                f"instructions may have up to {_LONGEST_INSTRUCTIONS:,} characters; got "
                f"{len(self.instructions):,}."
            )

    def _check_criteria(self) -> None:
        """Criteria as objects, with the scale of the first one as that of the campaign."""
        given: Any = self.criteria
        listed = [given] if isinstance(given, str | Criterion) else given
        found = parse_criteria(
            Criterion.from_dict(c) if isinstance(c, Mapping) else c for c in listed
        )
        object.__setattr__(self, "criteria", found)
        if taken := [c.name for c in found if c.name in COLUMNS]:
            raise FewgoldError(
                f"a criterion cannot be called {taken[0]!r}, since answers have a column of that "
                "name. Choose the raters' word, such as fluency."
            )
        if not found:
            return
        if as_limits(self.limits) not in (None, found[0].limits):
            raise FewgoldError(
                f"with several criteria, each has its own scale, such as {found[0].name}:1-5; "
                f"got {self.limits} for all of them."
            )
        object.__setattr__(self, "limits", found[0].limits)
        object.__setattr__(self, "higher_is_better", found[0].higher_is_better)

    def _check_sides(self) -> None:
        """Set the scale of a preference."""
        object.__setattr__(self, "sides", as_names(self.sides))
        if not self.sides:
            return
        if self.criteria or self.systems or as_limits(self.limits) not in (None, PREFERENCE):
            raise FewgoldError(
                "outputs side by side have their own scale: leave out the limits, criteria and "
                "systems to compare."
            )
        object.__setattr__(self, "limits", PREFERENCE)
        object.__setattr__(self, "higher_is_better", True)

    def criterion(self, name: str) -> Criterion:
        """The criterion with this name."""
        known = {c.name: c for c in self.criteria}
        if name not in known:
            raise UnknownNameError("criterion", name, known)
        return known[name]

    @property
    def asked(self) -> str:
        """The question as raters see it."""
        if self.sides:
            return self.question.strip() or "Which output is better?"
        if self.criteria and not self.question.strip():
            return "Rate this output."
        return self.scale.asked(self.question)

    @property
    def scale(self) -> RatingScale:
        """The scale as raters see it; that of the first of several criteria."""
        return RatingScale(self.limits, self.higher_is_better, self.ends)


def check_seed(seed: int) -> int:
    """Check that the file can store this seed."""
    if not 0 <= seed < 2**63:
        raise FewgoldError(f"seed must be from 0 to {2**63 - 1}; got {seed}.")
    return seed


def save_settings(database: sqlite3.Connection, settings: Settings) -> None:
    """Write all settings. The caller holds a transaction."""
    database.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [(name, json.dumps(value)) for name, value in asdict(settings).items()],
    )


def load_settings(database: sqlite3.Connection) -> Settings:
    """The settings of a campaign."""
    with reading("the settings"):
        found: Mapping[str, Any] = {
            name: json.loads(value) for name, value in database.execute("SELECT * FROM meta")
        }
    known = {f.name for f in fields(Settings)}
    try:
        return Settings(**{k: v for k, v in found.items() if k in known})
    except (TypeError, ValueError, AttributeError) as error:
        raise damaged(f"the settings: {error}") from None
