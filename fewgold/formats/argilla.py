"""Argilla: records to log, records with their responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats import json as shared
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Segment, Tasks
from fewgold.formats.json import EXTRA, Layout, dumps, list_of, text_of
from fewgold.formats.rows import Rows, number, plain
from fewgold.io import read_text, write_texts

#: Names that a record has already.
RESERVED = (
    "id", "fields", "metadata", "suggestions", "responses", "vectors", "status", "external_id",
    "fewgold",
)  # fmt: skip
_LOWEST, _HIGHEST = 0, 10


def settings(tasks: Tasks) -> dict[str, Any]:
    """Settings for ``rg.Settings.from_json``: the fields to show and the question to ask.

    A scale of whole numbers within 0 to 10 becomes a rating question; any other is asked for as
    text.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 100))
    >>> settings(tasks)["questions"][0]["description"]
    'A number from 0 to 100.'
    """
    layout = Layout(tasks, RESERVED, lower=True)
    always = [
        field
        for name, field in layout.fields.items()
        if all(s.texts.get(name) for s in tasks.to_rate)
    ]
    required = always[-1:] or list(layout.shown)[-1:]
    return {
        "guidelines": "\n".join(
            [
                # Argilla shows it as Markdown, which may contain HTML.
                *filter(None, [tasks.instructions.strip().replace("<", "&lt;")]),
                *(asked._instruction for asked in layout.controls.values()),
            ]
        ),
        "questions": [_setting_question(t, name) for name, t in layout.controls.items()],
        "fields": [
            {
                "name": field, "title": title, "required": field in required, "type": "text",
                "settings": {"type": "text", "use_markdown": False},
            }
            for field, title in layout.shown.items()
        ],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": tasks.each},
        "mapping": None,
    }  # fmt: skip


def _setting_question(tasks: Tasks, name: str) -> dict[str, Any]:
    points = shared.options(tasks.limits)
    kind: dict[str, Any] = {"type": "text", "use_markdown": False}
    told = "A number."
    if tasks.limits is not None:
        low, high = map(number, tasks.limits)
        told = f"A number from {low} to {high}."
    if points is not None and points[0] >= _LOWEST and points[-1] <= _HIGHEST:
        kind = {"type": "rating", "options": [{"value": point} for point in points]}
    return {
        "name": name, "title": tasks.question, "required": True, "type": kind["type"],
        "description": f"{told} {tasks._scale.sentence}".strip(), "settings": kind,
    }  # fmt: skip


_FLAT = ".responses"


class Argilla(Format):
    """Records of Argilla: a list as written by `Dataset.records.to_json`, or one per line.

    The key of a segment is the ``id`` of its record; texts and context are fields. The settings of
    the dataset (fields and question) are written to ``tasks.settings.json``, for
    ``rg.Settings.from_json``. Argilla's rating questions go from 0 to 10, so a longer or a finer
    scale is asked for as text.

    A **row** is a response to the question, or a record that has none. Responses are read as
    version 2 exports them (by question), flat (``score.responses``), and as the server and version
    1 keep them (a list by user, where other questions' answers go into the details). If there is a
    status, only submitted responses count: a draft or discarded one leaves the segment blank, or
    counts as context if somebody else has rated it, and a note says how many.

    The question is ``Names.score``, else the only one with numbers. The export of version 2 has no
    time, answer ids or details; `write_ratings` keeps those, and the system, in a field ``fewgold``
    of the record, which Argilla ignores. The rater is the ``user_id``.
    """

    name = "argilla"
    title = "Argilla"
    suffixes = (".json", ".jsonl")

    settings = staticmethod(settings)
    _several = True

    def _beside(self, path: str | Path) -> Path:
        """Where `write_tasks` puts the settings: ``tasks.settings.json``."""
        return shared.beside(path, ".settings.json")

    def _recognises(self, probe: Probe) -> bool:
        """True for records with an id, fields and responses, nested or flat."""
        if probe.is_folder:
            return False
        found = probe.json
        first = found[0] if isinstance(found, list) and found else probe.first_object
        if not isinstance(first, dict) or not ({"id", "external_id"} & set(first)):
            return False
        nested = isinstance(first.get("fields"), dict) and "responses" in first
        return nested or any(f"{name}.users" in first for name in first if name.endswith(_FLAT))

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the responses in a file of records; see the class for what a row is."""
        rows = Rows(self.name)
        records = _records(path)
        answers = {place: _answers(record, names) for place, record in records}
        values: dict[str, list[Any]] = {}
        for answer in (a for found in answers.values() for a in found or () if a.question):
            values.setdefault(answer.question, []).append(answer.value)
        question = shared.question_of(rows, "question", values, names.score)
        unsubmitted = 0
        for place, record in records:
            found = answers[place]
            if isinstance(record, DataError):
                rows.reject(place, str(record), "")
                continue
            if found is None:
                rows.reject(place, "expected a record with an id, fields and responses.", record)
                continue
            segment = text_of(record, *([names.id] if names.id else ["id", "external_id"])).strip()
            mine = [a for a in found if a.question in (question, "")]
            if not segment:
                why = f"there is no {names.id or 'id'!r} to identify the segment."
                for _ in range(max(1, len(mine))):
                    rows.reject(place, why, record)
            elif not mine:
                rows.unanswered(segment)
            else:
                for at, answer in enumerate(mine, start=1):
                    if answer.status.lower() in ("draft", "discarded", "pending"):
                        unsubmitted += 1
                        rows.unanswered(segment)
                        continue
                    rating = replace(answer.rating, segment=segment)
                    where = f"{place}, response {at}"
                    shared.take_answer(
                        rows, where, rating, "its value", answer.value, answer.holder, answer.value
                    )
        if unsubmitted:
            many = f"{unsubmitted} responses are drafts or discarded: they do not count."
            one = "a response is a draft or discarded: it does not count."
            rows.notes.append(one if unsubmitted == 1 else many)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write the records to log, and the settings of the dataset next to them."""
        layout = Layout(tasks, RESERVED, lower=True)
        listed = [_record(layout, s, s.key) for s in tasks.to_rate]
        files = {Path(path): listed, self._beside(path): settings(tasks)}
        write_texts({place: dumps(made, indent=1) + "\n" for place, made in files.items()})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write records of all segments to rate, answered or not."""
        layout = Layout(tasks, RESERVED, lower=True)
        listed = []
        for segment, key, found in shared.grouped(tasks, ratings):
            record = _record(layout, segment, key)
            responses: dict[str, list[Any]] = {}
            kept = []
            for r in found:
                told = {"user_id": r.rater, "status": "submitted"}
                scores = shared.scores_of(layout, r)
                for name, asked in layout.controls.items():
                    # A missing score becomes a gap, so that all lists have the same order.
                    value = _value(asked, scores[name]) if name in scores else None
                    responses.setdefault(name, []).append({"value": value, **told})
                kept.append(shared.extra(r.details, time=r.time, system=r.system, answer=r.answer))
            if found:
                record["responses"] = responses
            listed.append({**record, EXTRA: kept} if any(kept) else record)
        write_texts({Path(path): dumps(listed, indent=1) + "\n"})


@dataclass(frozen=True)
class _Answer:
    """A response, in whichever layout the file has it."""

    question: str
    value: Any
    status: str
    rating: Rating
    holder: Mapping[str, Any]


def _records(path: str | Path) -> list[tuple[str, Any]]:
    """The records with their places, from a list or from lines."""
    text = read_text(path)
    if text.lstrip()[:1] == "[":
        found = shared.parse(text, repr(str(path)))
        if not found:
            raise DataError(f"{str(path)!r} holds no records.")
        return [(f"record {i}", record) for i, record in enumerate(found, start=1)]
    return [(f"line {i}", record) for i, record in shared.read_lines(path)]


def _answers(record: Any, names: Names) -> list[_Answer] | None:
    """The responses of a record; None if malformed."""
    if not isinstance(record, dict):
        return None
    kept = list_of(record, EXTRA)
    found = record.get("responses")
    if isinstance(found, dict):
        return _by_question(found, kept, names)
    if isinstance(found, list):
        return _by_user(found, names)
    if found is not None:
        return None
    flat = {}
    for name, values in record.items():
        if name.endswith(_FLAT) and isinstance(values, list):
            users, states = (list_of(record, f"{name}{end}") for end in (".users", ".status"))
            gap: list[Any] = [None] * len(values)  # users and states may be shorter lists
            flat[name.removesuffix(_FLAT)] = [
                {"value": value, "user_id": user, "status": status}
                for value, user, status in zip(values, users + gap, states + gap, strict=False)
            ]
    return _by_question(flat, kept, names)


def _by_question(found: Mapping[str, Any], kept: list[Any], names: Names) -> list[_Answer] | None:
    answers = []
    for question, listed in found.items():
        if listed is None:
            continue
        if not isinstance(listed, list) or not all(isinstance(a, dict) for a in listed):
            return None
        for place, a in enumerate(listed):
            extras = kept[place] if place < len(kept) and isinstance(kept[place], dict) else {}
            rating = Rating("", 0.0, text_of(a, names.rater or "user_id"))
            status = text_of(a, "status")
            answers.append(_Answer(question, a.get("value"), status, rating, {EXTRA: extras}))
    return answers


def _by_user(found: list[Any], names: Names) -> list[_Answer] | None:
    answers = []
    for response in found:
        values = response.get("values") if isinstance(response, dict) else 0
        if not isinstance(response, dict) or not isinstance(values, dict | None):
            return None
        told = {q: v.get("value") if isinstance(v, dict) else v for q, v in (values or {}).items()}
        # A response that was discarded may hold no values at all, and is a row all the same.
        for question, value in (told or {"": None}).items():
            others = {q: plain(v) for q, v in told.items() if q != question}
            rating = Rating(
                "", 0.0, text_of(response, names.rater or "user_id"),
                text_of(response, "updated_at", "inserted_at"), answer=text_of(response, "id"),
                details={"answers": others} if others else {},
            )  # fmt: skip
            answers.append(_Answer(question, value, text_of(response, "status"), rating, {}))
    return answers


def _record(layout: Layout, segment: Segment, key: str) -> dict[str, Any]:
    about = {"segment_id": segment.id, "document": segment.document, "position": segment.position}
    return {
        "id": key, "fields": layout.texts(segment) or {"segment_id": segment.id},
        "metadata": about, "suggestions": {}, "responses": {}, "vectors": {},
    }  # fmt: skip


def _value(tasks: Tasks, given: float) -> int | float | str:
    """A point of a rating question, or the text of a text question."""
    score = number(given)
    points = shared.options(tasks.limits)
    return score if points is not None and score in points else repr(score)
