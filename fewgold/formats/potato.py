"""Potato: tasks and configuration, states of users and annotated instances."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fewgold.errors import DataError
from fewgold.formats import json as shared
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Tasks
from fewgold.formats.json import EXTRA, KEY, Layout, as_text, dumps, list_of, object_of, text_of
from fewgold.formats.rows import Rows, brief, matched, number, plain
from fewgold.io import read_text, write_texts

#: Names that an instance has already.
RESERVED = ("id", "instance_id", "user_id", "displayed_text", "fewgold")


def config(tasks: Tasks, data: str = "tasks.jsonl") -> str:
    """The server's configuration, for ``potato start``; written for Potato 2.

    A scale with few whole numbers becomes one button each, any other a number field. A slider's
    starting position could not be distinguished from an answer.

    Parameters
    ----------
    data
        The file of tasks, next to the configuration.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 100))
    >>> print(config(tasks).partition("annotation_schemes:")[2])
    <BLANKLINE>
      - annotation_type: "number"
        name: "score"
        description: "Rate this output. (0 to 100)"
        label_requirement:
          required: true
        min_value: 0
        max_value: 100
    user_config:
      allow_all_users: true
      users: []
    <BLANKLINE>
    """
    layout = Layout(tasks, RESERVED)
    shown = [{"key": k, "type": "text", "label": label} for k, label in layout.shown.items()]
    made: dict[str, Any] = {
        "annotation_task_name": tasks.name,
        "task_dir": ".",
        "data_files": [data],
        "item_properties": {"id_key": "id", "text_key": layout.main},
        "output_annotation_dir": f"{Path(data).stem}_output",
        "instance_display": {"fields": shown},
        "annotation_schemes": [_scheme(asked, name) for name, asked in layout.controls.items()],
        "user_config": {"allow_all_users": not tasks.raters, "users": list(tasks.raters)},
    }
    return "\n".join(_yaml(made)) + "\n"


def _scheme(tasks: Tasks, name: str) -> dict[str, Any]:
    points = shared.options(tasks.limits)
    made: dict[str, Any] = {
        "annotation_type": "number" if points is None else "radio",
        "name": name,
        "description": "\n\n".join(
            filter(None, (html.escape(tasks.instructions.strip()), tasks._instruction))
        ),
        "label_requirement": {"required": True},
    }
    if points is not None:
        return {**made, "labels": [str(point) for point in points]}
    if tasks.limits is not None:
        low, high = map(number, tasks.limits)
        made |= {"min_value": low, "max_value": high}
    return made


def _yaml(value: dict[str, Any], indent: str = "") -> list[str]:
    """Objects, lists and scalars as YAML; text in quotes, as JSON writes it."""
    lines: list[str] = []
    for name, inner in value.items():
        if isinstance(inner, dict) and inner:
            lines += [f"{indent}{name}:", *_yaml(inner, f"{indent}  ")]
        elif isinstance(inner, list) and inner:
            lines.append(f"{indent}{name}:")
            for item in inner:
                if isinstance(item, dict):
                    first, *rest = _yaml(item, f"{indent}    ")
                    lines += [f"{indent}  - {first.lstrip()}", *rest]
                else:
                    lines.append(f"{indent}  - {_scalar(item)}")
        else:
            lines.append(f"{indent}{name}: {_scalar(inner)}")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        value = (
            shared.clean(value).replace("\u2028", " ").replace("\u2029", " ").replace("\ufeff", "")
        )
    return json.dumps(value, ensure_ascii=False)


# Reading the answers of Potato's users, from states and from lines --------------------------------

STATE, LINES = "user_state.json", "annotated_instances.jsonl"
LABELS = "instance_id_to_label_to_value"
_BEHAVIOUR = "instance_id_to_behavioral_data"
_ASIDE = "free_response"
#: Fields with the time an answer took.
_TIME_FIELDS = ("total_time_ms", "time_string")


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
    """All instances of all users in a file or folder; malformed ones are rejected."""
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
    """The file of each user; the lines of all users if there are no user folders."""

    def first(folder: Path) -> list[Path]:
        return [folder / name for name in (STATE, LINES) if (folder / name).is_file()][:1]

    users = sorted(p for p in path.iterdir() if p.is_dir())
    return [file for folder in users for file in first(folder)] or first(path)


def _file(rows: Rows, path: Path, place: str, user: str, names: Names) -> list[Entry]:
    text = read_text(path)
    try:
        whole = shared.parse(text, "the file")
    except DataError:
        whole = None
    if isinstance(whole, dict) and LABELS in whole:
        return _state(rows, whole, place, user, names)
    if path.name.lower().endswith(".json") and whole is None:
        shared.read_json(path)
    if isinstance(whole, list):
        lines = [(f"entry {i}", line) for i, line in enumerate(whole, start=1)]
    else:
        lines = [(f"line {i}", line) for i, line in shared.read_lines(path)]
    return _lines(rows, lines, place, user, names)


def _state(
    rows: Rows, state: Mapping[str, Any], place: str, user: str, names: Names
) -> list[Entry]:
    labels = state[LABELS]
    if not isinstance(labels, dict):
        raise DataError(f"its {LABELS!r} is not an object.")
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
            rows.reject(where, "its answers are malformed.", labels.get(instance))
            continue
        how, holder = object_of(behaviour, instance), {EXTRA: object_of(extras, instance)}
        found.append(Entry(where, instance.strip(), rater, answers, how, holder))
    return found


def _lines(
    rows: Rows, lines: list[tuple[str, Any]], place: str, user: str, names: Names
) -> list[Entry]:
    found = []
    for at, line in lines:
        where = f"{place}{at}"
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
            why = "its answers are malformed." if segment else "it has no id."
            rows.reject(where, why, line)
            continue
        told = names.rater or "user_id"
        rater = text_of(line, told) if told in line else user
        how = object_of(line, "behavioral_data")
        found.append(Entry(where, segment, rater, answers, how, line))
    return found


def _answers(found: Any) -> dict[str, list[Any]] | None:
    """The answers to each scheme; None if malformed.

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
    """Make ratings from the answers to the question with the score."""
    values: dict[str, list[Any]] = {}
    for entry in found:
        for scheme, listed in entry.answers.items():
            values.setdefault(scheme, []).extend(listed)
    question = shared.question_of(rows, "scheme", values, names.score)
    for entry in found:
        listed = entry.answers.get(question, []) if question else []
        others = {q: plain(v) for q, v in entry.answers.items() if q != question and v}
        told = {n: entry.behaviour.get(n) for n in _TIME_FIELDS}
        details = {n: plain(v) for n, v in told.items() if v not in (None, "")}
        details |= {"answers": others} if others else {}
        changes = [c for c in list_of(entry.behaviour, "annotation_changes") if isinstance(c, dict)]
        last = text_of(changes[-1], "timestamp") if changes else ""
        time = last or text_of(entry.behaviour, "session_end", "timestamp")
        rating = Rating(entry.segment, 0.0, entry.rater, time, details=details)
        what = f"the answer to {question!r}"
        shared.take_answer(rows, entry.place, rating, what, listed, entry.holder, listed)


_LONGEST = 80


class Potato(Format):
    """Tasks and answers of Potato.

    Tasks are JSON lines with the key as ``id``, and the configuration of the server is written
    beside them as ``tasks.yaml``.

    Answers are read from the folder of a task (``annotation_output``, with a folder per user), from
    one ``user_state.json``, and from ``annotated_instances.jsonl``. In a user's folder the state is
    used and the lines next to it are ignored, since they repeat it.

    A **row** is an instance of one user: each that they were assigned or answered, or each line. An
    instance without an answer to the question is blank, or context if somebody else has rated it.
    Two answers of one user to a question with one choice are rejected: old versions of Potato kept
    every option that was clicked, and ``potato repair-annotations`` finds the last.

    The question is the scheme ``Names.score``, else the only one with numbers. The rater is the
    ``user_id``, else the name of the folder. The time is that of the last change, in seconds since
    1970; time taken and answers to other questions go into the details. `write_ratings` writes
    ``.jsonl`` lines, a ``.json`` state of a single user, or a folder of states if the path has no
    extension; a state holds one answer per segment. Values without a field in Potato (the system,
    answer ids, other details) go into a field ``fewgold``.
    """

    name = "potato"
    title = "Potato"
    suffixes = (".jsonl", ".json")
    _several = True

    config = staticmethod(config)

    def _beside(self, path: str | Path) -> Path:
        """Where `write_tasks` puts the configuration of the server: ``tasks.yaml``."""
        return shared.beside(path, ".yaml")

    def _recognises(self, probe: Probe) -> bool:
        """True for states of users, a folder of them, and lines of annotated instances."""
        if probe.is_folder:
            try:
                return any(
                    next(iter(probe.path.glob(f"{depth}{name}")), None) is not None
                    for depth in ("", "*/")
                    for name in (STATE, LINES)
                )
            except OSError:
                return False
        first = probe.first_object
        if first is not None and "label_annotations" in first:
            return "id" in first or "instance_id" in first
        return isinstance(probe.json, dict) and LABELS in probe.json

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the answers of all users; see the class for what a row is."""
        rows = Rows(self.name)
        read_entries(rows, entries(rows, path, names), names)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write the instances, and the configuration of the server next to them."""
        layout = Layout(tasks, RESERVED)
        lines = []
        for segment in tasks.to_rate:
            about = {**layout.carried(segment), **layout.texts(segment)}
            lines.append(dumps({"id": about.pop(KEY), **about}) + "\n")
        made = config(tasks, Path(path).name)
        write_texts({Path(path): "".join(lines), self._beside(path): made})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write lines, one user's state, or a folder of states, depending on the path."""
        layout, path = Layout(tasks, RESERVED), Path(path)
        found = matched(tasks, ratings)
        if path.suffix == ".jsonl":
            lines = []
            for segment, rating in found:
                labels, behaviour, kept = _parts(layout, rating)
                shown = list(segment.texts.values())[-1:]
                line: dict[str, Any] = {
                    "user_id": rating.rater, "instance_id": rating.segment,
                    "displayed_text": shown[0] if shown else "",
                    "label_annotations": {name: {"number": v} for name, v in labels.items()},
                    "span_annotations": {}, "behavioral_data": behaviour,
                }  # fmt: skip
                lines.append(dumps({**line, EXTRA: kept} if kept else line) + "\n")
            return write_texts({path: "".join(lines)})
        by_user: dict[str, list[Rating]] = {}
        for _, rating in found:
            by_user.setdefault(rating.rater, []).append(rating)
        states = {user: _saved_state(layout, user, mine) for user, mine in by_user.items()}
        if path.suffix:
            if len(states) > 1:
                raise DataError(
                    f"a state of Potato holds one user, and there are {len(states)}. Give a path "
                    "that ends in .jsonl, or a folder."
                )
            state = next(iter(states.values()), _saved_state(layout, "", []))
            return write_texts({path: dumps(state) + "\n"})
        for user in states:
            (path / _folder(user)).mkdir(parents=True, exist_ok=True)
        return write_texts(
            {path / _folder(user) / STATE: dumps(s) + "\n" for user, s in states.items()}
        )


def _folder(user: str) -> str:
    """A safe folder name for a user."""
    name = quote(user, safe="@ ", errors="replace").replace(".", "%2E") or "_"
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _parts(layout: Layout, rating: Rating) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
    """The answers by scheme, Potato's information on how they were given, and the rest."""
    details = dict(rating.details)
    behaviour: dict[str, Any] = {}
    for name in _TIME_FIELDS:
        value = details.get(name)
        if shared.is_number(value) or (isinstance(value, str) and value):
            behaviour[name] = details.pop(name)
    if rating.time:
        behaviour["session_end"] = shared.as_number(rating.time)
    kept = shared.extra(details, system=rating.system, answer=rating.answer)
    scores = shared.scores_of(layout, rating)
    return {name: repr(number(score)) for name, score in scores.items()}, behaviour, kept


def _saved_state(layout: Layout, user: str, ratings: list[Rating]) -> dict[str, Any]:
    labels: dict[str, Any] = {}
    behaviours: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for rating in ratings:
        if rating.segment in labels:
            raise DataError(
                f"{user!r} has rated {rating.segment!r} twice, and a state of Potato holds one "
                "answer. Give a path that ends in .jsonl."
            )
        answers, behaviour, kept = _parts(layout, rating)
        labels[rating.segment] = [
            [{"schema": name, "name": "number"}, value] for name, value in answers.items()
        ]
        behaviours[rating.segment] = behaviour
        if kept:
            extras[rating.segment] = kept
    made = {
        "user_id": user, "instance_id_ordering": list(labels), _BEHAVIOUR: behaviours,
        LABELS: labels, "instance_id_to_span_to_value": {},
    }  # fmt: skip
    return {**made, EXTRA: extras} if extras else made
