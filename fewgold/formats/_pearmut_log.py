"""Reads what Pearmut has logged, and campaigns that nobody has answered yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._format import Names
from fewgold.formats._json import (
    Rows,
    as_text,
    choose,
    list_of,
    object_of,
    parse,
    plain,
    read_lines,
    score_of,
    text_of,
    with_extra,
)
from fewgold.formats._model import Rating
from fewgold.tables import read_text

#: The model of a segment whose system is not known.
MODEL = "default"
_RESET = "__RESET__"
_ASIDE = ("welcome_", "random_", "goodbye_")


def is_campaign(found: Any) -> bool:
    """True for a campaign as `pearmut add` takes it."""
    return (
        isinstance(found, dict)
        and isinstance(found.get("info"), dict)
        and "campaign_id" in found
        and isinstance(found.get("data"), list)
    )


def read_campaign(rows: Rows, path: str | Path, names: Names) -> bool:
    """Take in a campaign, in which all is blank; False for a file that is none."""
    try:
        found = parse(read_text(path), repr(str(path)))
    except DataError:
        return False
    if not is_campaign(found):
        return False
    for place, item in _items(found["data"], "data"):
        if not isinstance(item, dict):
            rows.reject(place, "expected an item {…}.", item)
            continue
        models = object_of(item, "tgt")
        segment = text_of(item, names.id or "item_id").strip()
        if models and not segment:
            for _ in models:
                rows.reject(place, f"no {names.id or 'item_id'!r} tells which segment it is.", item)
        elif models:
            for _ in models:
                rows.unanswered(segment)
        else:
            rows.context()
    rows.note("this is a campaign to add to Pearmut: it holds no answers yet.")
    return True


def _items(found: Any, place: str, depth: int = 3) -> Iterator[tuple[str, Any]]:
    """The items of a campaign: documents are lists, and so are the tasks of a user."""
    if isinstance(found, list) and depth:
        for number, inner in enumerate(found, start=1):
            yield from _items(inner, f"{place}, {number}", depth - 1)
    else:
        yield place, found


def read_log(rows: Rows, path: str | Path, names: Names) -> None:
    """Take in the lines of a log."""
    lines = read_lines(path)
    objects = [line for _, line in lines if isinstance(line, dict)]
    resets = {
        _task(line): place
        for place, (_, line) in enumerate(lines)
        if isinstance(line, dict) and line.get("annotation") == _RESET
    }
    slider = _slider(rows, objects, names.score)
    taken_back = 0
    for place, (number, line) in enumerate(lines):
        where = f"line {number}"
        if isinstance(line, DataError):
            rows.reject(where, str(line), "")
        elif not isinstance(line, dict):
            rows.reject(where, "expected an object {…}.", line)
        elif line.get("annotation") == _RESET:
            rows.context()
        else:
            aside = as_text(line.get("item_i")).startswith(_ASIDE)
            back = place < resets.get(_task(line), -1)
            taken_back += back
            _line(rows, where, line, slider, names, aside or back)
    rows.count(
        taken_back,
        "a document was reset: its answers before that do not count.",
        "{} lines were reset: their answers do not count.",
    )


def _task(line: Mapping[str, Any]) -> tuple[str, str]:
    return text_of(line, "user_id"), as_text(line.get("item_i"))


def _slider(rows: Rows, lines: list[dict[str, Any]], wanted: str | None) -> str | None:
    """The slider with the score, None for Pearmut's own scale."""
    found = [
        name
        for line in lines
        for answers in list_of(line, "annotation")
        if isinstance(answers, dict)
        for answer in answers.values()
        if isinstance(answer, dict)
        for name in object_of(answer, "sliders")
    ]
    if wanted == "score" and wanted not in found:
        return None
    if not found and wanted is None:
        return None
    chosen = choose("slider", found, found, wanted)
    rows.chose(chosen, found)
    return chosen


def _line(
    rows: Rows, where: str, line: Mapping[str, Any], slider: str | None, names: Names, aside: bool
) -> None:
    items, annotation = line.get("item"), line.get("annotation")
    if aside:
        listed = annotation if isinstance(annotation, list) else [None]
        rows.context(sum(max(1, len(a)) if isinstance(a, dict) else 1 for a in listed or [None]))
        return
    if not isinstance(items, list) or not isinstance(annotation, list) or not items:
        return rows.reject(where, "expected lists 'item' and 'annotation'.", line)
    if len(items) != len(annotation):
        why = f"{len(items)} segments but {len(annotation)} annotations."
        return rows.reject(where, why, line)
    rater = text_of(line, names.rater or "user_id")
    actions = [a for a in list_of(line, "actions") if isinstance(a, dict)]
    time = text_of(actions[-1], "time") if actions else ""
    for place, (item, answers) in enumerate(zip(items, annotation, strict=True), start=1):
        spot = f"{where}, segment {place}"
        segment = text_of(item, names.id or "item_id").strip() if isinstance(item, dict) else ""
        if isinstance(answers, dict) and not answers:
            rows.context()
        elif answers is not None and not isinstance(answers, dict):
            rows.reject(spot, "expected an object of answers by system.", answers)
        elif not segment:
            for _ in answers or [None]:
                rows.reject(spot, f"no {names.id or 'item_id'!r} tells which segment it is.", item)
        elif answers is None:
            rows.unanswered(segment)
        else:
            for system, answer in answers.items():
                known = "" if system == MODEL else system
                blank = Rating(segment, 0.0, rater, time, known)
                _answer(rows, f"{spot}, system {system!r}", answer, slider, blank)
    return None


def _answer(rows: Rows, spot: str, answer: Any, slider: str | None, rating: Rating) -> None:
    """Take in one answer; ``rating`` tells all but the score."""
    if not isinstance(answer, dict):
        return rows.reject(spot, "expected an object with a 'score'.", answer)
    sliders = object_of(answer, "sliders")
    try:
        score = score_of(answer.get("score") if slider is None else sliders.get(slider))
    except DataError as error:
        return rows.reject(spot, f"its score: {error}", answer)
    if score is None:
        return rows.unanswered(rating.segment)
    details: dict[str, Any] = {}
    for name in ("error_spans", "textfield"):
        if answer.get(name):
            details[name] = plain(answer[name])
    others = {name: plain(value) for name, value in sliders.items() if name != slider}
    if others:
        details["sliders"] = others
    return rows.rating(with_extra(replace(rating, score=score, details=details), answer))
