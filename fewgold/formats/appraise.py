"""Appraise, the tool of the WMT campaigns: batches out, scores back."""

from __future__ import annotations

import ast
import csv
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fewgold.common.text import counted
from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Segment, Tasks, is_key
from fewgold.formats.rows import (
    NUL,
    UNNAMED,
    Rows,
    TextLine,
    finite,
    guarded,
    lines_of,
    matched,
    number,
    source_of,
    target_of,
)
from fewgold.io import as_text, bare, read_text, write_texts

#: Items of a batch, as in the campaigns of WMT; documents are not split over batches.
BATCH = 100

_DOCUMENT = 100  # characters of a document's name that Appraise keeps
_ITEM = {"itemID", "itemType", "targetID", "sourceID", "targetText", "sourceText"}


def is_batches(found: Any) -> bool:
    """True for batches of Appraise."""
    if not isinstance(found, list) or not found:
        return False
    if not all(isinstance(b, dict) and {"items", "task"} <= b.keys() for b in found):
        return False
    lists = [b["items"] for b in found]
    return all(
        isinstance(items, list)
        and all(isinstance(i, dict) for i in items)
        and all(i.keys() >= _ITEM for i in items[:1])
        for items in lists
    )


def batches(tasks: Tasks, languages: tuple[str, str]) -> list[dict[str, Any]]:
    """Batches of whole documents.

    Raters assess every item that they see, so context goes into the fields meant for it, and
    isolated segments become separate documents. The key is the target's id, which comes back with
    the answer; Appraise's own item id must be a number.
    """
    made: list[list[dict[str, Any]]] = [[]]
    for count, run in enumerate(_runs(tasks), 1):
        items = _items(tasks, run, count)
        if made[-1] and len(made[-1]) + len(items) > BATCH:
            made.append([])
        made[-1].extend(items)
    places = {id(item): i for i, item in enumerate(i for items in made for i in items)}
    return [
        {
            "items": [{"_block": -1, "_item": places[id(item)], **item} for item in items],
            "task": {
                "batchNo": number,
                "batchSize": len(items),
                "randomSeed": 0,
                "requiredAnnotations": min(50, max(1, len(tasks.raters))),
                "sourceLanguage": languages[0],
                "targetLanguage": languages[1],
            },
        }
        for number, items in enumerate(made, 1)
        if items
    ]


def _runs(tasks: Tasks) -> list[list[Segment]]:
    """Consecutive segments to rate in a document."""
    runs: list[list[Segment]] = []
    last: Segment | None = None
    for segment in tasks.segments:
        if segment.rate:
            if not (
                last is not None
                and last.rate
                and last.document == segment.document != ""
                and last.position + 1 == segment.position
            ):
                runs.append([])
            runs[-1].append(segment)
        last = segment
    return runs


def _items(tasks: Tasks, run: Sequence[Segment], number: int) -> list[dict[str, Any]]:
    end = f"#{number}"  # distinguishes runs of one document
    document = f"{run[0].document[: _DOCUMENT - len(end)]}{end}"
    items = [_item(tasks, segment, document) for segment in run]
    whole = {
        **items[-1],
        "itemID": int(items[-1]["itemID"]) + 1,
        "targetID": tasks.name or "document",
        "isCompleteDocument": True,
        "sourceText": " ".join(source_of(s.texts) for s in run),
        "targetText": " ".join(target_of(s.texts) for s in run),
    }
    return [*items, whole]


def _item(tasks: Tasks, segment: Segment, document: str) -> dict[str, Any]:
    if "+" in segment.key:
        raise DataError(
            f"the key {segment.key!r} cannot go through Appraise, which splits names at '+'."
        )
    before, after = tasks._around(segment, reach=10)
    return {
        "documentID": document,
        "isCompleteDocument": False,
        "itemID": segment.position,
        "itemType": "TGT",
        "sourceContextLeft": "\n".join(source_of(s.texts) for s in before),
        "sourceContextRight": "\n".join(source_of(s.texts) for s in after),
        "sourceID": segment.id,
        "sourceText": source_of(segment.texts),
        "targetContextLeft": "\n".join(target_of(s.texts) for s in before),
        "targetContextRight": "\n".join(target_of(s.texts) for s in after),
        "targetID": segment.key,
        "targetText": target_of(segment.texts),
    }


_TYPES = {"TGT": "", "BAD": "deliberately degraded", "REF": "references", "CHK": "repeats"}
_IDS = ("item", "document:item", "system")


class Appraise(Format):
    """Appraise's scores: CSV without a header, written by ``ExportSystemScoresToCSV``.

    ``user, system, item, type, source language, target language, score``, for documents also
    ``document, is document score``, in newer versions the errors that were marked, then start and
    end, and batch and item number if asked for.

    Assessments of type ``TGT`` are ratings. Others are quality controls: degraded outputs (BAD),
    references (REF) and repeats (CHK); they and scores of whole documents count as context.
    ``segment`` is the key that went out as the target's id; else ``document:item``, since item
    numbers may start again in each document, or the item if there are no documents; ``names.id``
    may ask for ``item``, ``document:item`` or ``system``.

    Tasks are written as a batch file for campaigns of type Document, for which Appraise also needs
    a manifest with the same languages. Scores are whole numbers from 0 to 100 there.
    """

    name = "appraise"
    title = "Appraise (scores as CSV, batches as JSON)"
    suffixes = (".csv", ".json")

    def _recognises(self, probe: Probe) -> bool:
        """Lines whose fourth cell is a type of item and whose seventh is a score; or batches."""
        if probe.is_folder:
            return False
        if probe.text.lstrip().startswith("["):
            return is_batches(probe.json)
        lines = [line for line in probe.lines[:20] if line.strip()]
        try:
            rows = list(csv.reader(lines, strict=True))
        except csv.Error:
            return False
        return bool(rows) and all(
            len(r) >= 7 and r[3] in _TYPES and finite(r[6]) is not None and _is_language(r[4])
            for r in rows
        )

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The scores of a campaign; for a batch file, the segments still to be rated."""
        if names.id is not None and names.id not in _IDS:
            raise UnknownNameError("kind of id in files of Appraise", names.id, _IDS)
        if names.score or names.rater:
            raise DataError("Appraise's files have no header, so there is no column to name.")
        if read_text(path).lstrip().startswith("["):
            return self._tasks(path)
        rows, lines = Rows(self.name), lines_of(path)
        skipped: Counter[str] = Counter()
        for line in lines:
            cells, why = _cells(line)
            if why:
                rows.rejected.append(line.rejected(why))
                continue
            kind = "scores of whole documents" if cells.get("whole") else _TYPES[cells["type"]]
            if kind:
                skipped[kind] += 1
            else:
                rows.ratings.append(_rating(cells, names.id))
        if lines and len(rows.rejected) == len(lines):
            first = rows.rejected[0]
            raise DataError(
                f"{str(path)!r} is not a file of Appraise's scores: expected lines such as "
                f"user,system,12,TGT,eng,deu,80, but in {first.place} {first.why}."
            )
        rows.context = skipped.total()
        rows.notes += [f"{counted(n, 'line')} not counted: {kind}." for kind, n in skipped.items()]
        return rows.reading()

    def _tasks(self, path: str | Path) -> Reading:
        try:
            found = json.loads(read_text(path))
        except (ValueError, RecursionError):
            found = None
        if not is_batches(found):
            raise DataError(
                f"{str(path)!r} is not a batch file of Appraise: expected "
                '[{"items": [...], "task": {...}}, ...].'
            )
        rows = Rows(self.name)
        rows.notes.append("this file holds tasks and no answers.")
        for place, item in enumerate((item for batch in found for item in batch["items"]), 1):
            if str(item.get("itemType")) not in _TYPES or not item.get("targetID"):
                why = f"expected a targetID and an itemType ({', '.join(_TYPES)})"
                rows.rejected.append(TextLine(f"item {place}", str(item)).rejected(why))
            elif item["itemType"] == "TGT" and item.get("isCompleteDocument") is not True:
                rows.blank.append(str(item["targetID"]))
            else:
                rows.context += 1
        return rows.reading()

    def write_tasks(
        self, tasks: Tasks, path: str | Path, languages: tuple[str, str] = ("eng", "eng")
    ) -> None:
        """Write a batch file; ``languages`` are Appraise's codes, as in the manifest."""
        made = json.dumps(batches(tasks, languages), ensure_ascii=False, indent=2)
        write_texts({Path(path): made + "\n"})

    def write_ratings(
        self,
        tasks: Tasks,
        ratings: Iterable[Rating],
        path: str | Path,
        languages: tuple[str, str] = ("eng", "eng"),
    ) -> None:
        """Write scores as in Appraise's export, with the segment's name as item number."""
        lines = []
        for segment, rating in matched(tasks, ratings):
            about = rating.details
            document = str(about.get("document", segment.document))
            item = rating.segment
            if not is_key(item):
                # Read back as document:item, so that an id without a document must stand alone.
                inside = item.startswith(f"{document}:")
                item, document = (item[len(document) + 1 :], document) if inside else (item, "")
            cells = [
                rating.rater, rating.system or UNNAMED, item, "TGT",
                str(about.get("source_language", languages[0])),
                str(about.get("target_language", languages[1])),
                str(number(rating.score)), document, "False",
                json.dumps(about.get("errors", []), ensure_ascii=False),
            ]  # fmt: skip
            if rating.time:
                cells += [str(about.get("start", rating.time)), rating.time]
            lines.append([guarded(cell) for cell in cells])
        write_texts({Path(path): as_text(lines, ",")})


def _is_language(code: str) -> bool:
    return 2 <= len(code) <= 10 and code.replace("-", "").replace("_", "").isalpha()


def _cells(line: TextLine) -> tuple[dict[str, Any], str]:
    """The cells of a line by name, or why it cannot be read."""
    if "\0" in line.text:
        return {}, NUL
    try:
        rows = list(csv.reader([line.text], strict=True))
    except csv.Error as error:
        return {}, f"the quotation marks do not match ({error})"
    cells = [bare(cell) for cell in rows[0]] if rows else []
    if len(cells) < 7:
        return {}, f"expected at least 7 values separated by commas, got {len(cells)}"
    names = ("rater", "system", "item", "type", "source_language", "target_language", "score")
    made: dict[str, Any] = dict(zip(names, (c.strip() for c in cells), strict=False))
    if made["type"] not in _TYPES:
        return {}, f"expected a type of item ({', '.join(_TYPES)}), got {made['type']!r}"
    made["value"] = finite(made["score"])
    if made["value"] is None:
        return {}, f"expected a number as the score, got {made['score']!r}"
    if not made["item"]:
        return {}, "the line names no item"
    rest = cells[7:]
    if len(rest) >= 2 and rest[1] in ("False", "True"):
        made |= {"document": rest[0], "whole": rest[1] == "True"}
        rest = rest[2:]
        if rest and finite(rest[0]) is None:
            made["errors"] = _errors(rest.pop(0))
    # Appraise writes times as numbers. Ours may be any text, and always come after the errors.
    numbers = rest[2:] if "errors" in made else rest
    if len(rest) not in (0, 2, 4) or any(finite(cell) is None for cell in numbers):
        return {}, (
            "after the score, expected document, is document score, errors, start and end, got "
            f"{', '.join(map(repr, cells[7:]))}"
        )
    return made | dict(zip(("start", "end", "batch", "number"), rest, strict=False)), ""


def _errors(cell: str) -> Any:
    """The marked errors, from JSON or (older versions) Python literals; else the text."""
    parsers = (json.loads, ast.literal_eval) if len(cell) < 20_000 else (json.loads,)
    for parse in parsers if cell[:1] in ("[", "{") else ():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # about odd literals in text that is not Python
                # Through JSON in UTF-8, which knows no sets, no nan and no halves of characters.
                plain = json.dumps(parse(cell), allow_nan=False, ensure_ascii=False).encode()
                found = json.loads(plain)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError, Warning):
            continue
        if isinstance(found, list | dict):
            return found
    return cell


def _rating(cells: dict[str, Any], wanted: str | None) -> Rating:
    system, item, document = cells["system"], cells["item"], cells.get("document", "")
    if wanted == "system" or (wanted is None and is_key(system)):
        segment, system = system, ""
    elif wanted == "item" or not document or is_key(item):
        segment = item
    else:
        segment = f"{document}:{item}"
    kept = ("document", "source_language", "target_language", "errors", "start", "batch", "number")
    details = {name: cells[name] for name in kept if cells.get(name) not in (None, "", [])}
    system = "" if system == UNNAMED else system
    time = cells.get("end", "")
    return Rating(segment, cells["value"], cells["rater"], time, system, details=details)
