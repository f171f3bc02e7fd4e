"""Practice items: what a new rater sees first, marked as practice and never counted.

They are segments outside the sample. Their answers are in a separate table, which no estimate
reads.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from fewgold.campaign import sides
from fewgold.campaign.answers import why_not
from fewgold.campaign.database import note, now
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating

if TYPE_CHECKING:
    from fewgold.campaign.store import Store

_LONGEST = 10_000  # characters of an explanation
_DRAWN = "EXISTS (SELECT 1 FROM drawn WHERE drawn.segment = practised.segment)"


@dataclass(frozen=True)
class PracticeItem:
    """A segment to practise on, chosen by the owner.

    Parameters
    ----------
    segment
        Its id in the pool.
    scores
        The right answer, if it should be shown: by criterion, or under ``""`` for a single score.
        For outputs side by side it is 1 if the first is better, −1 if the second is, and 0 for
        neither.
    explanation
        Shown after rating, in Markdown.
    """

    segment: str
    scores: Mapping[str, float] = field(default_factory=dict)
    explanation: str = ""


@dataclass(frozen=True)
class Turn:
    """The practice item that a rater sees: its row, its number, and how many there are."""

    place: int
    number: int
    of: int


@dataclass(frozen=True)
class Practised:
    """A rater's answer to a practice item, with the owner's answer and explanation."""

    place: int
    score: float
    details: str
    known: Mapping[str, float]
    explanation: str

    @property
    def explained(self) -> bool:
        """Whether there is anything to show after rating."""
        return bool(self.known or self.explanation)


# The items that the owner chose


def items(store: Store) -> list[PracticeItem]:
    """The items that the owner chose, in the order in which raters see them."""
    rows = store.database.execute(
        "SELECT id, answer, explanation FROM practice_items "
        "JOIN segments ON segments.place = practice_items.segment ORDER BY number"
    )
    return [PracticeItem(id, json.loads(known), told) for id, known, told in rows.fetchall()]


def name_items(store: Store, named: Sequence[PracticeItem]) -> int:
    """Add items to practise on; an item that is there already gets the new text."""
    places = {str(id): place for place, id in enumerate(store.pool.ids.tolist())}
    drawn = set(store.drawn().tolist())
    rows = []
    for item in named:
        place = places.get(item.segment)
        if place is None:
            raise DataError(
                f"the pool has no segment {item.segment[:40]!r} to practise on. Give the id of a "
                "segment."
            )
        if place in drawn:
            raise DataError(
                f"{item.segment[:40]!r} is in the sample, so its rating counts. Choose a segment "
                "outside the sample."
            )
        _check(store, item)
        rows.append((place, json.dumps(dict(item.scores)), item.explanation.strip()))
    with store.transaction() as database:
        database.executemany(
            "INSERT INTO practice_items (segment, answer, explanation) VALUES (?, ?, ?) "
            "ON CONFLICT (segment) DO UPDATE SET answer = excluded.answer, "
            "explanation = excluded.explanation",
            rows,
        )
        note(database, "practice items", {"count": len(rows)})
    return len(rows)


def drop_item(store: Store, segment: str) -> bool:
    """Remove a practice item; False if there is none for this segment."""
    with store.transaction() as database:
        gone = database.execute(
            "DELETE FROM practice_items WHERE segment = (SELECT place FROM segments WHERE id = ?)",
            (segment,),
        ).rowcount
        note(database, "practice item dropped", {"segment": segment})
    return bool(gone)


def _check(store: Store, item: PracticeItem) -> None:
    """Refuse an answer that no rater could give."""
    if item.scores:
        one = item.scores.get("", 0.0)
        several = {name: score for name, score in item.scores.items() if name}
        why = why_not(Rating(item.segment, one, scores=several), store.settings)
        if why:
            raise FewgoldError(f"the answer to practice item {item.segment[:40]!r}: {why}.")
    if len(item.explanation) > _LONGEST or "\x00" in item.explanation:
        raise FewgoldError(f"an explanation may have up to {_LONGEST:,} characters.")


# What a rater gets to see

_STATE = f"""
SELECT
    (SELECT COUNT(*) FROM practised WHERE rater = :rater AND stored_at IS NOT NULL),
    (SELECT segment FROM practised WHERE rater = :rater AND stored_at IS NULL AND NOT {_DRAWN}
     LIMIT 1),
    EXISTS (SELECT 1 FROM ratings WHERE rater = :rater)
    OR EXISTS (SELECT 1 FROM withdrawn WHERE rater = :rater)
    OR EXISTS (SELECT 1 FROM skips WHERE rater = :rater)
    OR EXISTS (SELECT 1 FROM checks WHERE rater = :rater),
    EXISTS (SELECT 1 FROM drawn)
"""


def hand_out(store: Store, rater: str) -> Turn | None:
    """The practice item that a rater gets now; None if they have finished or began rating
    before."""
    wanted = store.settings.practice
    if not wanted:
        return None
    given = {"rater": rater}
    done, open_, began, drawn = store.database.execute(_STATE, given).fetchone()
    if done >= wanted or began or not drawn:
        return None
    with store.transaction() as database:
        left = _candidates(store, database, rater, wanted - done)
        if open_ is None and left:
            open_ = left[0]
            database.execute(
                "INSERT OR IGNORE INTO practised (rater, segment) VALUES (?, ?)", (rater, open_)
            )
    return None if open_ is None else Turn(int(open_), done + 1, done + max(len(left), 1))


def _candidates(store: Store, database: sqlite3.Connection, rater: str, count: int) -> list[int]:
    """Items a rater can still practise on: first the chosen ones, then others at random."""
    drawn = {int(p) for (p,) in database.execute("SELECT segment FROM drawn").fetchall()}
    before = database.execute(
        "SELECT segment FROM practised WHERE rater = ? AND stored_at IS NOT NULL", (rater,)
    ).fetchall()
    known = database.execute("SELECT segment FROM known").fetchall()
    named = database.execute("SELECT segment FROM practice_items ORDER BY number").fetchall()
    taken = drawn | {int(p) for (p,) in before}
    found = [int(p) for (p,) in named if int(p) not in taken][:count]
    taken |= {int(p) for (p,) in (*known, *named)}
    if len(found) < count:
        rng = np.random.default_rng([store.settings.seed, 6])
        for place in rng.permutation(len(store.pool)).tolist():
            if place not in taken:
                found.append(place)
                if len(found) == count:
                    break
    return found


def store_answer(
    store: Store, rater: str, place: int, score: float | None, details: str = "{}"
) -> bool:
    """Store a rater's first answer to a practice item; without a score the item is skipped.

    False if there is an answer already, or if the rater was not given that item.
    """
    with store.transaction() as database:
        changed = database.execute(
            "UPDATE practised SET score = ?, details = ?, stored_at = ? "
            "WHERE rater = ? AND segment = ? AND stored_at IS NULL",
            (score, details, now(), rater, place),
        ).rowcount
    return bool(changed)


def answered(store: Store, rater: str, place: int) -> Practised | None:
    """A rater's answer to a practice item; None if there is none."""
    row = store.database.execute(
        "SELECT score, details, COALESCE(answer, '{}'), COALESCE(explanation, '') FROM practised "
        "LEFT JOIN practice_items USING (segment) "
        "WHERE rater = ? AND practised.segment = ? AND score IS NOT NULL",
        (rater, place),
    ).fetchone()
    if row is None:
        return None
    score, details, known, explanation = row
    return Practised(place, float(score), details, json.loads(known), explanation)


def given(store: Store) -> dict[str, int]:
    """How many practice items each rater answered."""
    rows = store.database.execute(
        "SELECT rater, COUNT(*) FROM practised WHERE score IS NOT NULL GROUP BY rater"
    )
    return {str(rater): int(count) for rater, count in rows.fetchall()}


def parse_answer(store: Store, text: str) -> float:
    """Read an answer as the owner writes it: a number, or which of two outputs is better."""
    told, named = text.strip(), store.settings.sides
    if named:
        words = {named[0]: 1.0, named[1]: -1.0, sides.TIE: 0.0, sides.BOTH_BAD: 0.0}
        if told in words:
            return words[told]
    try:
        return float(told.replace(",", ".").replace("−", "-"))
    except ValueError:
        wanted = f"{named[0]}, {named[1]} or {sides.TIE}" if named else "a number"
        raise FewgoldError(f"the right answer must be {wanted}; got {told[:40]!r}.") from None
