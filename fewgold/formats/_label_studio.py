"""Label Studio: tasks to import, exports as JSON and JSON_MIN; the CSV is next door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._export import as_number, dumps
from fewgold.formats._export import number as as_written
from fewgold.formats._format import Names, Probe
from fewgold.formats._json import (
    EXTRA,
    KEY,
    Rows,
    as_text,
    choose,
    has_score,
    key_field,
    object_of,
    plain,
    read_json,
    score_of,
    text_of,
    with_extra,
)
from fewgold.formats._label_studio_config import (
    FLAT,
    RESERVED,
    LabelStudio,
    config,
    data_of,
    kept_of,
)
from fewgold.formats._label_studio_csv import LabelStudioCsv
from fewgold.formats._label_studio_flat import read_flat, value_of
from fewgold.formats._layout import Layout, grouped
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.tables import write_texts

__all__ = ["LabelStudioCsv", "LabelStudioJson"]


class LabelStudioJson(LabelStudio):
    """Tasks and exports of Label Studio as JSON.

    Tasks are ``[{"data": {…}}]``, one per segment to rate, with the key in ``fewgold_key`` and
    neighbours in ``context_before`` and ``context_after``. The labelling interface is written
    beside, as ``tasks.config.xml``.

    A **row** is an annotation, or a task that has none; in JSON_MIN, which is read as well, it is
    a record. An annotation that its rater skipped (``was_cancelled``) or left without an answer
    leaves the segment blank, or counts as context if somebody else has rated it.

    The score is the answer to the question ``Names.score``, else to the only question with
    numbers. The rater is the e-mail address of ``completed_by``, else its number; the time is
    when the annotation was last changed. Seconds taken (``lead_time``) and answers to other
    questions go into the details. `write_ratings` keeps all of a rating; what Label Studio has no
    field for (the system, further details) stands in a field ``fewgold``.
    """

    name = "label-studio"
    title = "Label Studio JSON"
    suffixes = (".json",)

    def recognises(self, probe: Probe) -> bool:
        """True for tasks with annotations, predictions or a key of ours, and for JSON_MIN."""
        found = probe.json
        first = found[0] if isinstance(found, list) and found else found
        if not isinstance(first, dict):
            return False
        if all(name in first for name in FLAT) and isinstance(found, list):
            return True
        data = first.get("data")
        listed = ("annotations", "completions", "predictions")
        return isinstance(data, dict) and (
            KEY in data or any(isinstance(first.get(name), list) for name in listed)
        )

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The annotations in an export; see the class for what a row is."""
        found = read_json(path)
        tasks = [found] if isinstance(found, dict) else found
        if not isinstance(tasks, list) or not tasks:
            raise DataError(f"{str(path)!r} holds no tasks. Expected a list [{{…}}, …] of them.")
        flat = [t for t in tasks if isinstance(t, dict) and "data" not in t and FLAT[0] in t]
        if flat:
            records = [(f"record {i}", record) for i, record in enumerate(tasks, start=1)]
            return read_flat(self.name, records, names)
        return _read_tasks(self.name, tasks, names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """The tasks to import, and the labelling interface beside them."""
        layout = Layout(tasks, RESERVED)
        listed = [{"data": data_of(layout, s, s.key)} for s in tasks.to_rate]
        write_texts({Path(path): dumps(listed, indent=1) + "\n", self.beside(path): config(tasks)})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """An export with every segment that was to be rated, answered or not."""
        layout = Layout(tasks, RESERVED)
        listed = []
        for number, (segment, key, found) in enumerate(grouped(tasks, ratings), start=1):
            annotations = [_annotation(layout, rating) for rating in found]
            data = data_of(layout, segment, key)
            listed.append({"id": number, "data": data, "annotations": annotations})
        write_texts({Path(path): dumps(listed, indent=1) + "\n"})


def _read_tasks(format: str, tasks: list[Any], names: Names) -> Reading:
    rows = Rows(format)
    field = key_field((object_of(t, "data") for t in tasks if isinstance(t, dict)), names)
    if field is not None and field != KEY:
        rows.note(f"the field {field!r} names the segments.")
    question = _question(rows, tasks, names.score)
    skipped = 0
    for number, task in enumerate(tasks, start=1):
        place = f"task {number}"
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(task, dict) or not isinstance(data, dict):
            rows.reject(place, "expected a task with an object 'data'.", task)
            continue
        annotations = _annotations(task)
        segment = text_of(data, field).strip() if field else ""
        if not isinstance(annotations, list):
            rows.reject(place, "its 'annotations' are no list.", task)
        elif not segment:
            why = f"its data has no {KEY!r}. Name another field with --id."
            for _ in annotations or [None]:
                rows.reject(place, why, data)
        elif not annotations:
            rows.unanswered(segment)
        else:
            for i, annotation in enumerate(annotations, start=1):
                where = f"{place}, annotation {i}"
                skipped += _read_annotation(rows, where, annotation, segment, question, data, names)
    rows.count(skipped, "a rater skipped a task.", "raters skipped {} tasks.")
    return rows.reading(names)


def _annotations(task: Mapping[str, Any]) -> Any:
    """The annotations of a task, under their name of today or of old."""
    found = task.get("annotations", task.get("completions"))
    return [] if found is None else found


def _results(annotation: Any) -> list[dict[str, Any]] | None:
    """The results of an annotation, None where they make no sense."""
    found = annotation.get("result") if isinstance(annotation, dict) else 0
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(r, dict) for r in found):
        return None
    return found


def _question(rows: Rows, tasks: list[Any], wanted: str | None) -> str | None:
    """The question with the score, None where nobody has answered any."""
    found: list[str] = []
    likely: list[str] = []
    for task in tasks:
        annotations = _annotations(task) if isinstance(task, dict) else []
        for annotation in annotations if isinstance(annotations, list) else []:
            for result in _results(annotation) or []:
                name = text_of(result, "from_name")
                found += [name] if name else []
                if name and result.get("type") != "textarea":
                    likely += [name] if has_score(value_of(result.get("value"))) else []
    if not found:
        return None
    chosen = choose("question", found, likely, wanted)
    rows.chose(chosen, found)
    return chosen


def _read_annotation(
    rows: Rows,
    place: str,
    annotation: Any,
    segment: str,
    question: str | None,
    data: Mapping[str, Any],
    names: Names,
) -> int:
    """Take one annotation in; 1 if its rater skipped the task."""
    results = _results(annotation)
    if results is None:
        rows.reject(place, "expected an annotation with a list 'result' of objects.", annotation)
        return 0
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        rows.unanswered(segment)
        return 1
    answers = [r for r in results if question and text_of(r, "from_name") == question]
    try:
        if len(answers) > 1:
            raise DataError(f"it is given {len(answers)} times.")
        score = score_of(value_of(answers[0].get("value"))) if answers else None
    except DataError as error:
        rows.reject(place, f"the answer to {question!r}: {error}", annotation)
        return 0
    if score is None:
        rows.unanswered(segment)
        return 0
    by = annotation.get("completed_by")
    rater = text_of(by, "email", "username", "id") if isinstance(by, dict) else as_text(by)
    if names.rater is not None:
        rater = text_of(annotation, names.rater) or text_of(data, names.rater)
    told = {n: annotation.get(n) for n in ("lead_time", "ground_truth")}
    details = {n: plain(v) for n, v in told.items() if v is not None and v is not False}
    others = {text_of(r, "from_name"): plain(value_of(r.get("value"))) for r in results}
    others.pop(question or "", None)
    rating = Rating(
        segment=segment,
        score=score,
        rater=rater,
        time=text_of(annotation, "updated_at", "created_at"),
        answer=text_of(annotation, "id"),
        details={**details, "answers": others} if others else details,
    )
    rows.rating(with_extra(rating, annotation))
    return 0


def _annotation(layout: Layout, rating: Rating) -> dict[str, Any]:
    lead, kept = kept_of(rating)
    whole = isinstance(as_number(rating.rater), int)
    by = as_number(rating.rater) if whole else {"email": rating.rater}
    to = list(layout.fields.values())[-1] if layout.fields else "segment_id"
    result = {
        "from_name": layout.score,
        "to_name": to,
        "type": "number",
        "value": {"number": as_written(rating.score)},
    }
    made = {
        "id": as_number(rating.answer) if rating.answer else None,
        "completed_by": by if rating.rater else None,
        "result": [result],
        "was_cancelled": False,
        "created_at": rating.time or None,
        "updated_at": rating.time or None,
        "lead_time": lead,
    }
    return {**made, EXTRA: kept} if kept else made
