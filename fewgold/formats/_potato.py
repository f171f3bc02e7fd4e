"""Potato: tasks and configuration, states of users and annotated instances."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fewgold.errors import DataError
from fewgold.formats._export import as_number, beside, dumps, extra, is_number
from fewgold.formats._export import number as as_written
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._json import EXTRA, KEY, Rows, first_object
from fewgold.formats._layout import Layout, Lookup
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.formats._potato_config import RESERVED, config
from fewgold.formats._potato_states import LABELS, LINES, STATE, entries, read_entries
from fewgold.tables import write_texts

_BEHAVIOUR = ("total_time_ms", "time_string")
_LONGEST = 80


class Potato(Format):
    """Tasks and answers of Potato.

    Tasks are JSON lines with the key as ``id``, and the configuration of the server is written
    beside them as ``tasks.yaml``.

    Answers are read from the folder of a task (``annotation_output``, with a folder per user),
    from one ``user_state.json``, and from ``annotated_instances.jsonl``. In a user's folder the
    state counts and the lines beside it are passed over, as they tell the same.

    A **row** is an instance of one user: each that they were assigned or answered, or each line.
    An instance without an answer to the question is blank, or context if somebody else has rated
    it. Two answers of one user to a question with one choice are rejected: old versions of
    Potato kept every option that was clicked, and ``potato repair-annotations`` tells the last.

    The question is the scheme ``Names.score``, else the only one with numbers. The rater is the
    ``user_id``, else the name of the folder. The time is that of the last change, in seconds
    since 1970; time taken and answers to other questions go into the details. `write_ratings`
    writes ``.jsonl`` lines, a ``.json`` state of a single user, or a folder of states where the
    path has no ending; a state holds one answer per segment. What Potato has no field for (the
    system, answer ids, other details) stands in a field ``fewgold``.
    """

    name = "potato"
    title = "Potato"
    suffixes = (".jsonl", ".json")

    config = staticmethod(config)

    def beside(self, path: str | Path) -> Path:
        """Where `write_tasks` puts the configuration of the server: ``tasks.yaml``."""
        return beside(path, ".yaml")

    def recognises(self, probe: Probe) -> bool:
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
        first = first_object(probe)
        if first is not None and "label_annotations" in first:
            return "id" in first or "instance_id" in first
        return isinstance(probe.json, dict) and LABELS in probe.json

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The answers of all users; see the class for what a row is."""
        rows = Rows(self.name)
        read_entries(rows, entries(rows, path, names), names)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """The instances, and the configuration of the server beside them."""
        layout = Layout(tasks, RESERVED)
        lines = []
        for segment in tasks.to_rate:
            about = {**layout.carried(segment), **layout.texts(segment)}
            lines.append(dumps({"id": about.pop(KEY), **about}) + "\n")
        made = config(tasks, Path(path).name)
        write_texts({Path(path): "".join(lines), self.beside(path): made})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Lines, the state of one user, or a folder of states, by the ending of the path."""
        layout, find, path = Layout(tasks, RESERVED), Lookup(tasks), Path(path)
        found = [(find(rating), rating) for rating in ratings]
        if path.suffix == ".jsonl":
            lines = []
            for segment, rating in found:
                label, behaviour, kept = _parts(rating)
                shown = list(segment.texts.values())[-1:]
                line: dict[str, Any] = {
                    "user_id": rating.rater,
                    "instance_id": rating.segment,
                    "displayed_text": shown[0] if shown else "",
                    "label_annotations": {layout.score: {"number": label}},
                    "span_annotations": {},
                    "behavioral_data": behaviour,
                }
                lines.append(dumps({**line, EXTRA: kept} if kept else line) + "\n")
            return write_texts({path: "".join(lines)})
        by_user: dict[str, list[Rating]] = {}
        for _, rating in found:
            by_user.setdefault(rating.rater, []).append(rating)
        states = {user: _state(layout.score, user, mine) for user, mine in by_user.items()}
        if path.suffix:
            if len(states) > 1:
                raise DataError(
                    f"a state of Potato holds one user, and there are {len(states)}. Give a path "
                    "that ends in .jsonl, or a folder."
                )
            state = next(iter(states.values()), _state(layout.score, "", []))
            return write_texts({path: dumps(state) + "\n"})
        for user in states:
            (path / _folder(user)).mkdir(parents=True, exist_ok=True)
        return write_texts(
            {path / _folder(user) / STATE: dumps(s) + "\n" for user, s in states.items()}
        )


def _folder(user: str) -> str:
    """A folder's name for a user, whatever characters theirs has."""
    name = quote(user, safe="@ ", errors="replace").replace(".", "%2E") or "_"
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _parts(rating: Rating) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The answer, what Potato tells about how it was given, and the rest."""
    details = dict(rating.details)
    behaviour: dict[str, Any] = {}
    for name in _BEHAVIOUR:
        value = details.get(name)
        if is_number(value) or (isinstance(value, str) and value):
            behaviour[name] = details.pop(name)
    if rating.time:
        behaviour["session_end"] = as_number(rating.time)
    kept = extra(details, system=rating.system, answer=rating.answer)
    return repr(as_written(rating.score)), behaviour, kept


def _state(score: str, user: str, ratings: list[Rating]) -> dict[str, Any]:
    labels: dict[str, Any] = {}
    behaviours: dict[str, Any] = {}
    extras: dict[str, Any] = {}
    for rating in ratings:
        if rating.segment in labels:
            raise DataError(
                f"{user!r} has rated {rating.segment!r} twice, and a state of Potato holds one "
                "answer. Give a path that ends in .jsonl."
            )
        label, behaviour, kept = _parts(rating)
        labels[rating.segment] = [[{"schema": score, "name": "number"}, label]]
        behaviours[rating.segment] = behaviour
        if kept:
            extras[rating.segment] = kept
    made = {
        "user_id": user,
        "instance_id_ordering": list(labels),
        "instance_id_to_behavioral_data": behaviours,
        LABELS: labels,
        "instance_id_to_span_to_value": {},
    }
    return {**made, EXTRA: extras} if extras else made
