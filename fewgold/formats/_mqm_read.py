"""Lines of an MQM file put together into ratings, every line accounted for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fewgold.formats._model import Rating, Reading, Rejected
from fewgold.formats._mqm_rows import Row
from fewgold.formats._mqm_weights import NO_ERROR, MqmWeights, plain_severity


def reading_of(rows: Sequence[Row], weights: MqmWeights) -> Reading:
    """One rating a system, segment and rater; what else the lines are is counted."""
    segment, notes = _segments(rows)
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        # A broken line counts for the segment that it seems to be about.
        if row.why or row.kind == "error":
            groups.setdefault((*row.whereabouts, row["rater"]), []).append(i)
    ratings, answered = [], set()
    rejected: dict[int, Rejected] = {}
    copies: set[int] = set()
    both = 0
    for group in groups.values():
        again = _copies(rows, group)
        places = [i for i in group if i not in again]
        made = [rows[i] for i in places]
        why = _wrong(made, weights)
        if why is not None:
            rejected |= {i: rows[i].line.rejected(why(rows[i])) for i in group}
            continue
        copies.update(again)
        both += len(made) > 1 and any(plain_severity(r["severity"]) == NO_ERROR for r in made)
        ratings.append(_rating(made, segment, weights))
        answered.add(made[0].whereabouts)
    rest = [row for i, row in enumerate(rows) if row.kind != "error" and i not in rejected]
    blank = [segment(r) for r in rest if r.kind == "blank" and r.whereabouts not in answered]
    counts = {
        "are test items (HOTW-test): not counted.": sum(row.kind == "control" for row in rest),
        "repeat what the file says before of the same rater and segment: not counted again.": len(
            copies
        ),
        "mark a segment as No-error that has other lines as well.": both,
    }
    return Reading(
        format="mqm",
        rows=len(rows),
        used=len(rows) - len(rest) - len(copies) - len(rejected),
        ratings=tuple(ratings),
        blank=tuple(blank),
        context=len(rest) - len(blank) + len(copies),
        rejected=tuple(rejected[i] for i in sorted(rejected)),
        notes=(*notes, *(f"{count} lines {what}" for what, count in counts.items() if count)),
    )


def _wrong(rows: Sequence[Row], weights: MqmWeights) -> Callable[[Row], str] | None:
    """Why each line of a rater and segment is rejected; None if they can all be read."""
    found = {id(row): row.why or weights.unknown(row["severity"]) for row in rows}
    keys = sorted({row.key for row in rows} - {""})
    if len(keys) > 1:
        return lambda row: f"lines of one segment carry different keys: {', '.join(keys)}"
    first = next((row for row in rows if found[id(row)]), None)
    if first is None:
        return None
    place, reason = first.line.place, found[id(first)]
    beside = f"of the same rater and segment as {place}, where {reason}"
    return lambda row: found.get(id(row)) or beside


def _copies(rows: Sequence[Row], places: Sequence[int]) -> set[int]:
    """Lines of a rater and segment that come a second time, as in exports put together.

    Tools write the errors of a segment together, so that equal lines beside each other are two
    errors, and a block of lines that comes again further down is the same block.
    """
    runs: list[list[int]] = []
    for i in places:
        if runs and runs[-1][-1] + 1 == i:
            runs[-1].append(i)
        else:
            runs.append([i])
    first = [rows[i].line.text for i in runs[0]]
    again = [run for run in runs[1:] if [rows[i].line.text for i in run] == first]
    return {i for run in again for i in run}


def _segments(rows: Sequence[Row]) -> tuple[Callable[[Row], str], list[str]]:
    """What to call the segment of a row, and what to tell about it."""
    places: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        if not row.why and row["segment"]:
            places.setdefault(row["segment"], set()).add((row["doc"], row["position"]))
    shared = next((seg for seg, found in places.items() if len(found) > 1), None)
    # The viewer's manual says to write 0 where there is no numbering over all documents.
    numbered = shared is None and places.keys() != {"0"}
    keyed: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        if row.key:
            keyed.setdefault(row.whereabouts, set()).add(row.key)

    def name(row: Row) -> str:
        keys = {row.key} if row.key else keyed.get(row.whereabouts, set())
        if len(keys) == 1:  # raters may delete it from some of the lines
            return next(iter(keys))
        if row["id"]:
            return row["id"]
        if numbered and row["segment"]:
            return row["segment"]
        return f"{row['doc']}:{row['position'] or row['segment']}"

    without = [row for row in rows if not row.why and row.whereabouts not in keyed]
    notes = []
    if shared is not None and any(not row["id"] for row in without):
        notes.append(
            f"the segment id {shared!r} stands for several segments, so segments are called "
            "document:position."
        )
    return name, notes


def _rating(rows: Sequence[Row], segment: Callable[[Row], str], weights: MqmWeights) -> Rating:
    first = rows[0]
    errors: list[dict[str, Any]] = []
    extras: dict[str, Any] = {}
    for row in rows:
        if plain_severity(row["severity"]) == NO_ERROR and not _non_translation(row):
            extras.update(row.extras)
            continue
        error: dict[str, Any] = {"category": row["category"], "severity": row["severity"]}
        if row["target"]:
            error["target"] = row["target"]
        if "<v>" in row["source"]:
            error["source"] = row["source"]
        errors.append({**error, **row.extras})
    about = {"document": "doc", "position": "position", "segment": "segment"}
    details: dict[str, Any] = {n: first[role] for n, role in about.items() if first[role]}
    details |= {n: _unmarked(first[n]) for n in ("source", "target") if first[n]}
    times = [str(t) for row in rows if (t := row.ours.get("time", row.metadata.get("timestamp")))]
    return Rating(
        segment=segment(next((row for row in rows if row.key), first)),
        score=weights.score((row["category"], row["severity"]) for row in rows),
        rater=first["rater"],
        time=max(times, key=lambda t: (len(t), t), default=""),
        system=first.system,
        answer=next((str(a) for row in rows if (a := row.ours.get("answer"))), ""),
        details={**details, "errors": errors, **extras},
    )


def _non_translation(row: Row) -> bool:
    return row["category"].lower().startswith("non-translation")


def _unmarked(text: str) -> str:
    return text.replace("<v>", "").replace("</v>", "")
