"""Label Studio: tasks to import, exports as JSON, JSON_MIN and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from fewgold.errors import DataError
from fewgold.formats import json as shared
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Segment, Tasks
from fewgold.formats.json import CARRIED, EXTRA, KEY, Layout, as_number, dumps, text_of
from fewgold.formats.rows import Rows, number, plain
from fewgold.io import as_text as as_table
from fewgold.io import bare, guard, read_text, write_texts

#: Columns that Label Studio adds to its flat exports, and names of ours.
RESERVED = (
    "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement",
    "history", "fewgold",
)  # fmt: skip
#: Columns by which the flat exports are known.
FLAT = ("annotation_id", "annotator")
_VALUES = ("rating", "number", "choices", "text")


def config(tasks: Tasks) -> str:
    """The interface as XML, to paste under Settings > Labeling Interface > Code.

    A scale with few whole numbers becomes one button each, any other a number field. Context is
    shown above and below, under a heading that says not to rate it.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 1))
    >>> print(config(tasks))
    <View>
      <Header value="output"/>
      <Text name="output" value="$output"/>
      <Header value="Is this output adequate? (0 = no, 1 = yes)"/>
      <Choices name="score" toName="output" choice="single" showInline="true" required="true">
        <Choice value="0"/>
        <Choice value="1"/>
      </Choices>
    </View>
    """
    layout = Layout(tasks, RESERVED)
    lines = ["<View>"]
    for told in tasks.instructions.splitlines():
        if told.strip():
            lines.append(f'  <Header size="5" value={_attribute(told.strip())}/>')
    for field, title in layout.shown.items():
        if field != "segment_id":
            lines.append(f"  <Header value={_attribute(title)}/>")
        lines.append(f'  <Text name="{field}" value="${field}"/>')
    for name, asked in layout.controls.items():
        lines.append(f"  <Header value={_attribute(asked._instruction)}/>")
        lines += _control(asked, name, layout.main)
    return "\n".join([*lines, "</View>", ""])


def _control(tasks: Tasks, name: str, main: str) -> list[str]:
    points = shared.options(tasks.limits)
    start = f'name="{name}" toName="{main}"'
    if points is not None:
        return [
            f'  <Choices {start} choice="single" showInline="true" required="true">',
            *(f'    <Choice value="{point}"/>' for point in points),
            "  </Choices>",
        ]
    ends = ""
    if tasks.limits is not None:
        low, high = map(number, tasks.limits)
        ends = f' min="{low}" max="{high}" step="{shared.step(tasks.limits)}"'
    return [f'  <Number {start}{ends} required="true"/>']


def _attribute(text: str) -> str:
    """An attribute's value, quoted; a dollar sign would name a field of the task."""
    return quoteattr(shared.clean(text).replace("$", "$\u200b"))


class LabelStudio(Format):
    """Shared by both formats: the labelling interface for the tasks."""

    config = staticmethod(config)
    _several = True

    def _beside(self, path: str | Path) -> Path:
        """Where `write_tasks` puts the labelling interface: ``tasks.config.xml``."""
        return shared.beside(path, ".config.xml")


def data_of(layout: Layout, segment: Segment, key: str) -> dict[str, Any]:
    """The data of a task, with ``key`` to identify its segment."""
    return {**layout.carried(segment), **layout.texts(segment), KEY: key}


def kept_of(rating: Rating) -> tuple[Any, dict[str, Any]]:
    """The seconds taken, and values for which Label Studio has no field."""
    lead = rating.details.get("lead_time")
    held = shared.is_number(lead)
    others = {n: v for n, v in rating.details.items() if n != "lead_time" or not held}
    return (lead if held else None), shared.extra(others, system=rating.system)


# The flat exports, JSON_MIN and CSV: one record per annotation ------------------------------------


def value_of(value: Any) -> Any:
    """The answer without Label Studio's wrapping."""
    names = _VALUES if isinstance(value, dict) else ()
    return next((value[name] for name in names if name in value), value)


def answer_of(value: Any) -> Any:
    """The answer in a field of a flat export, such as ``[{"rating": 4}]``."""
    return list(map(value_of, value)) if isinstance(value, list) else value_of(value)


def read_flat(rows: Rows, records: Sequence[tuple[str, Any]], names: Names) -> Reading:
    """Read records, given with their places in the file; each record counts as one row."""
    objects = [r for _, r in records if isinstance(r, dict)]
    # `id` is Label Studio's own number of the task, not a segment id unless the user says so.
    fields = ({n: v for n, v in r.items() if n != "id" or names.id} for r in objects)
    field = shared.key_field(fields, names)
    question = _flat_question(objects, names.score, field)
    if question is not None and names.score is None:
        rows.notes.append(f"the score is the answer to {question!r}.")
    _note_field(rows, field)
    for place, record in records:
        segment = text_of(record, field or "").strip() if isinstance(record, dict) else ""
        if not isinstance(record, dict):
            rows.reject(place, "expected an object {…}.", record)
        elif not segment:
            why = f"there is no {KEY!r} to identify the segment. Name the field that does."
            rows.reject(place, why, record)
        else:
            lead = record.get("lead_time")
            lead = as_number(lead) if isinstance(lead, str) else lead
            rating = Rating(
                segment, 0.0, text_of(record, names.rater or "annotator"),
                text_of(record, "updated_at", "created_at"),
                answer=text_of(record, "annotation_id"),
                details={} if lead is None or lead == "" else {"lead_time": plain(lead)},
            )  # fmt: skip
            answer = answer_of(record.get(question)) if question else None
            shared.take_answer(rows, place, rating, f"the answer to {question!r}", answer, record)
    return rows.reading(names)


def _note_field(rows: Rows, field: str | None) -> None:
    if field is not None and field != KEY:
        rows.notes.append(f"the field {field!r} names the segments.")


def _flat_question(
    objects: Sequence[Mapping[str, Any]], wanted: str | None, field: str | None
) -> str | None:
    """The field with the score.

    Answers and data are mixed in these exports. Answers in Label Studio's wrapping are obvious; a
    choice is bare text, so any other field with mostly numbers may be one.
    """
    if wanted is not None:
        return shared.choose("question", (str(n) for r in objects for n in r), (), wanted)
    ours = {*RESERVED, *CARRIED, shared.BEFORE, shared.AFTER, EXTRA, field}
    found: dict[str, list[Any]] = {}
    for record in objects:
        for name, value in record.items():
            if name not in ours and value not in (None, "", []):
                found.setdefault(name, []).append(value)
    wrapped = [n for n, values in found.items() if any(map(_is_wrapped, values))]
    if wrapped:
        likely = [n for n in wrapped if any(shared.has_score(answer_of(v)) for v in found[n])]
        return shared.choose("question", wrapped, likely, None)
    if not any(text_of(record, *FLAT) for record in objects):
        return None
    numeric = [n for n, values in found.items() if shared.mostly_scores(values)]
    if not numeric:
        raise DataError(
            f"no field holds numbers. Fields: {', '.join(map(repr, found)) or 'none'}.",
            hints={
                "python": "Name the score: Names(score=…).",
                "cli": "Name the score with --human.",
                "web": "Name the column of scores.",
            },
        )
    return shared.choose("question", numeric, numeric, None)


def _is_wrapped(value: Any) -> bool:
    inner = value[0] if isinstance(value, list) and value else value
    return isinstance(inner, dict) and any(name in inner for name in _VALUES)


class LabelStudioCsv(LabelStudio):
    """Tasks and exports of Label Studio as CSV (or with tabs or semicolons).

    Tasks are one line per segment to rate with the same fields as the JSON, and the same labelling
    interface beside them. Cells that a spreadsheet would treat as a formula get a leading
    apostrophe, which is removed on reading.

    A **row** is a line below the header. Answers are read in Label Studio's wrapping (``[{"number":
    83}]``) and bare. Label Studio omits skipped annotations from this export. `write_ratings` keeps
    the whole rating, using a column ``fewgold`` for values without a field.
    """

    name = "label-studio-csv"
    title = "Label Studio CSV"
    suffixes = (".csv", ".tsv")

    def _recognises(self, probe: Probe) -> bool:
        """True for a header with the columns that Label Studio adds."""
        header = probe.lines[0] if probe.lines else ""
        try:
            names = next(csv.reader([header], delimiter=_delimiter(header)), [])
        except csv.Error:
            return False
        return all(name in names for name in (*FLAT, "lead_time"))

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the annotations in an export; see the class for what a row is."""
        lines = _table(path)
        header = [bare(cell) for cell in lines[0]]
        twice = sorted({n for n in header if header.count(n) > 1})
        if twice:
            raise DataError(f"{str(path)!r} has more than one column {twice[0]!r}.")
        if len(lines) == 1:
            raise DataError(f"{str(path)!r} has no rows below its header.")
        rows = Rows(self.name)
        records = []
        for at, cells in enumerate(lines[1:], start=2):
            if len(cells) != len(header):
                why = f"{len(cells)} cells under {len(header)} columns."
                rows.reject(f"row {at}", why, cells)
                continue
            named = zip(header, cells, strict=True)
            records.append((f"row {at}", {name: _cell(name, cell) for name, cell in named}))
        return read_flat(rows, records, names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write the tasks to import, and the labelling interface next to them."""
        layout = Layout(tasks, RESERVED)
        listed = [data_of(layout, s, s.key) for s in tasks.to_rate]
        write_texts({Path(path): _csv(listed), self._beside(path): config(tasks)})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write an export with all segments to rate, answered or not."""
        layout = Layout(tasks, RESERVED)
        listed = []
        for segment, key, found in shared.grouped(tasks, ratings):
            data = data_of(layout, segment, key) | dict.fromkeys(layout.controls, "")
            empty = dict.fromkeys((*FLAT, "created_at", "updated_at", "lead_time", EXTRA), "")
            listed += [{**data, **_flat(layout, r)} for r in found] or [{**data, **empty}]
        write_texts({Path(path): _csv(listed)})


def _flat(layout: Layout, rating: Rating) -> dict[str, Any]:
    lead, kept = kept_of(rating)
    scores = shared.scores_of(layout, rating)
    return {
        **{name: dumps([{"number": number(score)}]) for name, score in scores.items()},
        "annotator": rating.rater,
        "annotation_id": rating.answer, "created_at": rating.time, "updated_at": rating.time,
        "lead_time": "" if lead is None else repr(lead), EXTRA: dumps(kept) if kept else "",
    }  # fmt: skip


def _csv(records: list[dict[str, Any]]) -> str:
    columns = list(records[0])
    lines = [[guard(str(record[name])) for name in columns] for record in records]
    text = as_table([columns, *lines], ",")
    return text.encode("utf-8", "replace").decode()


def _delimiter(header: str) -> str:
    return max(",\t;", key=header.count)


def _table(path: str | Path) -> list[list[str]]:
    """The cells of all lines that are not empty."""
    text = read_text(path)
    limit = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=_delimiter(text.partition("\n")[0]),
            strict=True,
        )
        lines = [cells for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise DataError(f"{str(path)!r} is not CSV: {error}. Was it cut off?") from None
    finally:
        csv.field_size_limit(limit)
    if not lines:
        raise DataError(f"{str(path)!r} is empty.")
    return lines


def _cell(name: str, cell: str) -> Any:
    """The content of a cell: an object or a list if it is JSON, else its text."""
    text = bare(cell)
    if name not in {*RESERVED, *CARRIED} - {EXTRA} and text.startswith(("[{", '{"')):
        try:
            return shared.parse(text, "the cell")
        except DataError:
            return text
    return text


class LabelStudioJson(LabelStudio):
    """Tasks and exports of Label Studio as JSON.

    Tasks are ``[{"data": {…}}]``, one per segment to rate, with the key in ``fewgold_key`` and
    neighbours in ``context_before`` and ``context_after``. The labelling interface is written next
    to it, as ``tasks.config.xml``.

    A **row** is an annotation, or a task that has none; in JSON_MIN, which is read as well, it is
    a record. An annotation that its rater skipped (``was_cancelled``) or left without an answer
    leaves the segment blank, or counts as context if somebody else has rated it.

    The score is the answer to the question ``Names.score``, else to the only question with numbers.
    The rater is the e-mail address of ``completed_by``, else its number; the time is when the
    annotation was last changed. Seconds taken (``lead_time``) and answers to other questions go
    into the details. `write_ratings` keeps all of a rating; values without a field in Label Studio
    (the system, further details) go into a field ``fewgold``.
    """

    name = "label-studio"
    title = "Label Studio JSON"
    suffixes = (".json",)

    def _recognises(self, probe: Probe) -> bool:
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
        """Read the annotations in an export; see the class for what a row is."""
        found = shared.read_json(path)
        tasks = [found] if isinstance(found, dict) else found
        if not isinstance(tasks, list) or not tasks:
            raise DataError(f"{str(path)!r} holds no tasks. Expected a list [{{…}}, …] of them.")
        flat = [t for t in tasks if isinstance(t, dict) and "data" not in t and FLAT[0] in t]
        if flat:
            records = [(f"record {i}", record) for i, record in enumerate(tasks, start=1)]
            return read_flat(Rows(self.name), records, names)
        return _read_tasks(self.name, tasks, names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write the tasks to import, and the labelling interface next to them."""
        layout = Layout(tasks, RESERVED)
        listed = [{"data": data_of(layout, s, s.key)} for s in tasks.to_rate]
        write_texts({Path(path): dumps(listed, indent=1) + "\n", self._beside(path): config(tasks)})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write an export with all segments to rate, answered or not."""
        layout = Layout(tasks, RESERVED)
        listed = []
        for at, (segment, key, found) in enumerate(shared.grouped(tasks, ratings), start=1):
            annotations = [_annotation(layout, rating) for rating in found]
            data = data_of(layout, segment, key)
            listed.append({"id": at, "data": data, "annotations": annotations})
        write_texts({Path(path): dumps(listed, indent=1) + "\n"})


def _read_tasks(format: str, tasks: list[Any], names: Names) -> Reading:
    rows = Rows(format)
    datas = (shared.object_of(t, "data") for t in tasks if isinstance(t, dict))
    field = shared.key_field(datas, names)
    _note_field(rows, field)
    question = _question(rows, tasks, names.score)
    skipped = 0
    for at, task in enumerate(tasks, start=1):
        place = f"task {at}"
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(task, dict) or not isinstance(data, dict):
            rows.reject(place, "expected a task with an object 'data'.", task)
            continue
        annotations = _annotations(task)
        segment = text_of(data, field).strip() if field else ""
        if not isinstance(annotations, list):
            rows.reject(place, "its 'annotations' are not a list.", task)
        elif not segment:
            why = f"its data has no {KEY!r} to identify the segment. Name the field that does."
            for _ in annotations or [None]:
                rows.reject(place, why, data)
        elif not annotations:
            rows.unanswered(segment)
        else:
            for i, annotation in enumerate(annotations, start=1):
                where = f"{place}, annotation {i}"
                skipped += _read_annotation(rows, where, annotation, segment, question, data, names)
    if skipped:
        many = f"raters skipped {skipped} tasks."
        rows.notes.append("a rater skipped a task." if skipped == 1 else many)
    return rows.reading(names)


def _annotations(task: Mapping[str, Any]) -> Any:
    """The annotations of a task, under their current or old name."""
    found = task.get("annotations", task.get("completions"))
    return [] if found is None else found


def _results(annotation: Any) -> list[dict[str, Any]] | None:
    """The results of an annotation, None if malformed."""
    found = annotation.get("result") if isinstance(annotation, dict) else 0
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(r, dict) for r in found):
        return None
    return found


def _question(rows: Rows, tasks: list[Any], wanted: str | None) -> str | None:
    """The question with the score, None if nobody has answered any."""
    listed = (_annotations(task) for task in tasks if isinstance(task, dict))
    annotations = [a for some in listed if isinstance(some, list) for a in some]
    results = [r for a in annotations for r in _results(a) or [] if text_of(r, "from_name")]
    found = [text_of(r, "from_name") for r in results]
    if not found:
        return None
    likely = [
        name
        for name, r in zip(found, results, strict=True)
        if r.get("type") != "textarea" and shared.has_score(value_of(r.get("value")))
    ]
    chosen = shared.choose("question", found, likely, wanted)
    rows.note_choice(chosen, found)
    return chosen


def _read_annotation(
    rows: Rows, place: str, annotation: Any, segment: str, question: str | None,
    data: Mapping[str, Any], names: Names,
) -> int:  # fmt: skip
    """Add one annotation; returns 1 if its rater skipped the task."""
    results = _results(annotation)
    if results is None:
        rows.reject(place, "expected an annotation with a list 'result' of objects.", annotation)
        return 0
    if annotation.get("was_cancelled") or annotation.get("skipped"):
        rows.unanswered(segment)
        return 1
    answers = [r for r in results if question and text_of(r, "from_name") == question]
    if len(answers) > 1:
        why = f"the question {question!r} is answered {len(answers)} times."
        rows.reject(place, why, annotation)
        return 0
    by = annotation.get("completed_by")
    rater = text_of(by, "email", "username", "id") if isinstance(by, dict) else shared.as_text(by)
    if names.rater is not None:
        rater = text_of(annotation, names.rater) or text_of(data, names.rater)
    told = {n: annotation.get(n) for n in ("lead_time", "ground_truth")}
    details = {n: plain(v) for n, v in told.items() if v is not None and v is not False}
    others = {text_of(r, "from_name"): plain(value_of(r.get("value"))) for r in results}
    others.pop(question or "", None)
    rating = Rating(
        segment, 0.0, rater, text_of(annotation, "updated_at", "created_at"),
        answer=text_of(annotation, "id"),
        details={**details, "answers": others} if others else details,
    )  # fmt: skip
    answer = value_of(answers[0].get("value")) if answers else None
    shared.take_answer(rows, place, rating, f"the answer to {question!r}", answer, annotation)
    return 0


def _annotation(layout: Layout, rating: Rating) -> dict[str, Any]:
    lead, kept = kept_of(rating)
    whole = isinstance(as_number(rating.rater), int)
    by = as_number(rating.rater) if whole else {"email": rating.rater}
    result = [
        {"from_name": name, "to_name": layout.main, "type": "number",
         "value": {"number": number(score)}}
        for name, score in shared.scores_of(layout, rating).items()
    ]  # fmt: skip
    made = {
        "id": as_number(rating.answer) if rating.answer else None,
        "completed_by": by if rating.rater else None, "result": result, "was_cancelled": False,
        "created_at": rating.time or None, "updated_at": rating.time or None, "lead_time": lead,
    }  # fmt: skip
    return {**made, EXTRA: kept} if kept else made
