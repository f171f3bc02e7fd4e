"""Ratings as lists of errors: the tab-separated MQM files of Google's evaluations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._export import dumps
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Segment, Tasks
from fewgold.formats._mqm_read import reading_of
from fewgold.formats._mqm_rows import CONTEXT, HEADER, OURS, is_header, is_row, rows_of
from fewgold.formats._mqm_weights import MqmWeights, plain_severity
from fewgold.formats._texts import UNNAMED, disarmed, matched, source_of, target_of
from fewgold.tables import write_texts

_STANDARD = MqmWeights()


class MqmTsv(Format):
    """Google MQM: a line an error, ``No-error`` for a clean segment, no quoting.

    Both styles are read: ``system doc doc_id seg_id rater source target category severity
    [comment]`` and that of the viewer Marot, ``system doc docSegId globalSegId rater source target
    category severity metadata``, with or without a header. The second one is written.

    One rating a system, segment and rater; ``score`` is the sum of the weights, 0 for perfect.
    ``segment`` is the key that went out in the metadata (field ``fewgold``) or that stands
    somewhere in the comment; else the global segment id; else, where that is no id because
    segments of different documents share it, ``document:position``. ``details`` keeps
    ``document``, ``position``, ``segment``, ``source``, ``target`` and ``errors``: category,
    severity, the target with the span marked by ``<v>``, comment and metadata of each.

    Test items of severity ``HOTW-test`` are context, and so are errors of a segment that the file
    repeats further down. A rater's segment with one line that cannot be read is rejected as a
    whole, since its score would be too low.
    """

    name = "mqm"
    title = "Google MQM (TSV, one line per error)"
    suffixes = (".tsv",)

    def recognises(self, probe: Probe) -> bool:
        """By the header, or by the severities where there is none."""
        if probe.is_folder or not probe.lines:
            return False
        lines = [line.split("\t") for line in probe.lines[:20] if line.strip()]
        return bool(lines) and (is_header(lines[0]) or all(is_row(cells) for cells in lines))

    def read(
        self,
        path: str | Path,
        names: Names = Names(),  # noqa: B008
        weights: MqmWeights = _STANDARD,
    ) -> Reading:
        """The ratings in a file; ``names.id`` and ``names.rater`` may name other columns."""
        return reading_of(rows_of(path, names), weights)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """A line a segment, category and severity left to fill in; context says so.

        Raters copy the line for each further error. The key travels in the metadata.
        """
        lines = []
        for s in tasks.segments:
            ours = {"key": s.key} if s.rate else {"key": s.key, "context": True}
            category = "" if s.rate else CONTEXT
            lines.append([*_front(s, "", {}), category, "", dumps({OURS: ours})])
        _write(path, lines)

    def write_ratings(
        self,
        tasks: Tasks,
        ratings: Iterable[Rating],
        path: str | Path,
        weights: MqmWeights = _STANDARD,
    ) -> None:
        """A line an error, from ``details["errors"]``; segments without errors as No-error."""
        lines: list[Sequence[str]] = []
        for segment, rating in matched(tasks, ratings):
            lines.extend(_error_lines(segment, rating, weights))
        _write(path, lines)


def _front(segment: Segment, system: str, details: Mapping[str, Any]) -> list[str]:
    """The cells up to the target."""
    return [
        system or UNNAMED,
        str(details.get("document", segment.document)),
        str(details.get("position", segment.position)),
        str(details.get("segment", segment.id)),
        "",
        str(details.get("source", source_of(segment.texts))),
        str(details.get("target", target_of(segment.texts))),
    ]


def _error_lines(segment: Segment, rating: Rating, weights: MqmWeights) -> Iterator[list[str]]:
    errors = rating.details.get("errors") or []
    _check(rating, errors, weights)
    clean = {"category": "No-error", "severity": "No-error"}
    extras = {n: rating.details[n] for n in ("comment", "metadata") if n in rating.details}
    front = _front(segment, rating.system, rating.details)
    front[4] = rating.rater
    for error in errors or [{**clean, **extras}]:
        metadata = dict(error.get("metadata", {}))
        if "comment" in error:
            metadata["note"] = error["comment"]
        ours = {"key": rating.segment} if rating.segment == segment.key else {}
        if rating.time and "timestamp" not in metadata:
            ours["time"] = rating.time
        if rating.answer:
            ours["answer"] = rating.answer
        if ours:
            metadata[OURS] = ours
        cells = list(front)
        cells[5] = str(error.get("source", cells[5]))
        cells[6] = str(error.get("target", cells[6]))
        yield [*cells, error["category"], error["severity"], dumps(metadata) if metadata else ""]


def _check(rating: Rating, errors: Sequence[Mapping[str, Any]], weights: MqmWeights) -> None:
    who = f"the rating of {rating.segment!r} by {rating.rater!r}"
    if not errors and rating.score != 0:
        raise DataError(
            f"{who} is a score of {rating.score:g} without errors. MQM files hold errors and no "
            "scores: only a score of 0 can be written without them. Write CSV instead."
        )
    for error in errors:
        if not {"category", "severity"} <= error.keys():
            raise DataError(f"{who}: expected a category and a severity in each error.")
        if why := weights.unknown(error["severity"]):
            raise DataError(f"{who}: {why}")
    total = weights.score((e["category"], e["severity"]) for e in errors)
    if abs(total - rating.score) > 1e-6:
        raise DataError(
            f"{who} is {rating.score:g}, but its errors add up to {total:g}. Give the weights that "
            "the score was made with."
        )


def _write(path: str | Path, lines: Iterable[Sequence[str]]) -> None:
    texts = ["\t".join(HEADER), *("\t".join(map(disarmed, cells)) for cells in lines)]
    write_texts({Path(path): "\n".join(texts) + "\n"})


def error_counts(rating: Rating) -> Counter[str]:
    """How many errors of each severity a rating has."""
    return Counter(plain_severity(e["severity"]) for e in rating.details["errors"])
