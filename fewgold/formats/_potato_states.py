"""Reads what users of Potato have answered, from states and from lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._format import Names
from fewgold.formats._json import (
    EXTRA,
    Rows,
    as_text,
    brief,
    choose,
    list_of,
    mostly_scores,
    object_of,
    parse,
    plain,
    read_json,
    read_lines,
    score_of,
    text_of,
    with_extra,
)
from fewgold.formats._model import Rating
from fewgold.tables import read_text

STATE, LINES = "user_state.json", "annotated_instances.jsonl"
LABELS = "instance_id_to_label_to_value"
_BEHAVIOUR = "instance_id_to_behavioral_data"
_ASIDE = "free_response"


@dataclass(frozen=True)
class Entry:
    """An instance of one user: what they answered to each scheme."""

    place: str
    segment: str
    rater: str
    answers: Mapping[str, list[Any]]
    behaviour: Mapping[str, Any]
    holder: Mapping[str, Any]


def entries(rows: Rows, path: str | Path, names: Names) -> list[Entry]:
    """All instances of all users in a file or folder; what makes no sense is rejected."""
    path = Path(path)
    if not path.is_dir():
        return _file(rows, path, "", "", names)
    files = _files(path)
    if not files:
        raise DataError(
            f"the folder {str(path)!r} holds no {STATE} and no {LINES}, nor does a folder in it. "
            "Give the folder that Potato writes to (output_annotation_dir)."
        )
    found: list[Entry] = []
    for file in files:
        user = "" if file.parent == path else file.parent.name
        try:
            found += _file(rows, file, f"{file.relative_to(path)}, ", user, names)
        except DataError as error:
            rows.reject(str(file.relative_to(path)), str(error), "")
    return found


def _files(path: Path) -> list[Path]:
    """The file of each user; the lines of all, where there are no users' folders."""
    users = sorted(p for p in path.iterdir() if p.is_dir())
    found = []
    for folder in users:
        here = [folder / name for name in (STATE, LINES) if (folder / name).is_file()]
        found += here[:1]
    return found or [path / name for name in (STATE, LINES) if (path / name).is_file()][:1]


def _file(rows: Rows, path: Path, place: str, user: str, names: Names) -> list[Entry]:
    text = read_text(path)
    try:
        whole = parse(text, "the file")
    except DataError:
        whole = None
    if isinstance(whole, dict) and LABELS in whole:
        return _state(rows, whole, place, user, names)
    if path.name.lower().endswith(".json") and whole is None:
        read_json(path)
    if isinstance(whole, list):
        lines = [(f"entry {i}", line) for i, line in enumerate(whole, start=1)]
    else:
        lines = [(f"line {i}", line) for i, line in read_lines(path)]
    return _lines(rows, lines, place, user, names)


def _state(
    rows: Rows, state: Mapping[str, Any], place: str, user: str, names: Names
) -> list[Entry]:
    labels = state[LABELS]
    if not isinstance(labels, dict):
        raise DataError(f"its {LABELS!r} is no object.")
    told = names.rater or "user_id"
    rater = text_of(state, told) if told in state else user
    behaviour, extras = object_of(state, _BEHAVIOUR), object_of(state, EXTRA)
    found = []
    assigned = []
    for instance in list_of(state, "instance_id_ordering"):
        if as_text(instance):
            assigned.append(as_text(instance))
        else:
            rows.reject(f"{place}instance_id_ordering", "expected an id.", instance)
    for instance in dict.fromkeys([*assigned, *labels]):
        where = f"{place}instance {brief(instance, 60)!r}"
        answers = _answers(labels.get(instance))
        if answers is None or not instance.strip():
            rows.reject(where, "its answers make no sense.", labels.get(instance))
            continue
        how = behaviour.get(instance)
        how = how if isinstance(how, dict) else {}
        holder = {EXTRA: object_of(extras, instance)}
        found.append(Entry(where, instance.strip(), rater, answers, how, holder))
    return found


def _lines(
    rows: Rows, lines: list[tuple[str, Any]], place: str, user: str, names: Names
) -> list[Entry]:
    found = []
    for number, line in lines:
        where = f"{place}{number}"
        if isinstance(line, DataError):
            rows.reject(where, str(line), "")
            continue
        if not isinstance(line, dict):
            rows.reject(where, "expected an object {…}.", line)
            continue
        fields = [names.id] if names.id else ["instance_id", "id"]
        segment = text_of(line, *fields).strip()
        answers = _answers(line.get("label_annotations"))
        if not segment or answers is None:
            why = "its answers make no sense." if segment else "it has no id."
            rows.reject(where, why, line)
            continue
        told = names.rater or "user_id"
        rater = text_of(line, told) if told in line else user
        how = object_of(line, "behavioral_data")
        found.append(Entry(where, segment, rater, answers, how, line))
    return found


def _answers(found: Any) -> dict[str, list[Any]] | None:
    """What was answered to each scheme; None where it makes no sense.

    Potato keeps pairs ``[{"schema": …, "name": …}, value]``, or objects by scheme and name. The
    value of an option that was chosen may be ``true``: then its name is the answer.
    """
    answers: dict[str, list[Any]] = {}
    if found is None:
        return answers
    if isinstance(found, list):
        for pair in found:
            label = pair[0] if isinstance(pair, list) and len(pair) == 2 else None
            if not isinstance(label, dict) or not isinstance(label.get("schema"), str):
                return None
            _add(answers, label["schema"], text_of(label, "name"), pair[1])
        return answers
    if not isinstance(found, dict):
        return None
    for scheme, named in found.items():
        inner = object_of(named, "labels") if isinstance(named, dict) else {"": named}
        for name, value in (inner or named).items():
            _add(answers, scheme, name, value)
    return answers


def _add(answers: dict[str, list[Any]], scheme: str, name: str, value: Any) -> None:
    listed = answers.setdefault(scheme, [])
    said = value.strip().lower() if isinstance(value, str) else value
    if name == _ASIDE or said is None or said == "" or said is False:
        return
    if said == "false" and name:
        return
    chosen = (said is True or said == "true") and bool(name)
    listed.append(name.removeprefix("scale_") if chosen else value)


def read_entries(rows: Rows, found: list[Entry], names: Names) -> None:
    """Make ratings of the answers to the question with the score."""
    values: dict[str, list[Any]] = {}
    for entry in found:
        for scheme, listed in entry.answers.items():
            values.setdefault(scheme, []).extend(listed)
    likely = [q for q, every in values.items() if mostly_scores(every)]
    question = choose("scheme", values, likely, names.score) if values else None
    if question is not None:
        rows.chose(question, values)
    for entry in found:
        listed = entry.answers.get(question, []) if question else []
        try:
            score = score_of(listed)
        except DataError as error:
            rows.reject(entry.place, f"the answer to {question!r}: {error}", listed)
            continue
        if score is None:
            rows.unanswered(entry.segment)
            continue
        others = {q: plain(v) for q, v in entry.answers.items() if q != question and v}
        details = {n: plain(entry.behaviour[n]) for n in _told(entry.behaviour)}
        rating = Rating(
            segment=entry.segment,
            score=score,
            rater=entry.rater,
            time=_time(entry.behaviour),
            details={**details, "answers": others} if others else details,
        )
        rows.rating(with_extra(rating, entry.holder))


def _told(behaviour: Mapping[str, Any]) -> list[str]:
    """Which fields tell how long it took."""
    return [n for n in ("total_time_ms", "time_string") if behaviour.get(n) not in (None, "")]


def _time(behaviour: Mapping[str, Any]) -> str:
    """When the answer was changed last."""
    changes = [c for c in list_of(behaviour, "annotation_changes") if isinstance(c, dict)]
    last = text_of(changes[-1], "timestamp") if changes else ""
    return last or text_of(behaviour, "session_end", "timestamp")
