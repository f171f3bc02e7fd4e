"""Pearmut: campaigns to add, annotations as JSON lines."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold.common.markdown import to_html
from fewgold.errors import DataError
from fewgold.formats import json as shared
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Segment, Tasks
from fewgold.formats.json import EXTRA, Layout, as_text, dumps, list_of, object_of, text_of
from fewgold.formats.rows import Rows, matched, number, plain
from fewgold.io import plain as plain_name
from fewgold.io import read_text, write_texts
from fewgold.io.columns import INPUT_NAMES, OUTPUT_NAMES

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
    """Read a campaign, in which everything is blank; False if the file is not one."""
    try:
        found = shared.parse(read_text(path), repr(str(path)))
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
                rows.reject(
                    place, f"there is no {names.id or 'item_id'!r} to identify the segment.", item
                )
        elif models:
            for _ in models:
                rows.unanswered(segment)
        else:
            rows.context += 1
    rows.notes.append("this is a campaign to add to Pearmut: it holds no answers yet.")
    return True


def _items(found: Any, place: str, depth: int = 3) -> Iterator[tuple[str, Any]]:
    """The items of a campaign: documents are lists, and so are the tasks of a user."""
    if isinstance(found, list) and depth:
        for number, inner in enumerate(found, start=1):
            yield from _items(inner, f"{place}, {number}", depth - 1)
    else:
        yield place, found


def is_download(found: Any) -> bool:
    """True for annotations from the dashboard: lists of lines by campaign."""
    return (
        isinstance(found, dict)
        and bool(found)
        and all(isinstance(lines, list) for lines in found.values())
        and any(_is_line(line) for lines in found.values() for line in lines)
    )


def _is_line(line: Any) -> bool:
    """True for an object that looks like a line of a log."""
    if not isinstance(line, dict) or "annotation" not in line or "user_id" not in line:
        return False
    return "item_i" in line or line["annotation"] == _RESET


def _lines_of(path: str | Path) -> list[tuple[str, str, Any]]:
    """The campaign, place and content of each line of a log, or of a download."""
    try:
        found = shared.parse(read_text(path), repr(str(path)))
    except DataError:
        found = None
    if not is_download(found):
        return [("", f"line {at}", line) for at, line in shared.read_lines(path)]
    return [
        (name, f"campaign {name!r}, answer {at}", line)
        for name, lines in found.items()
        for at, line in enumerate(lines, start=1)
    ]


def read_log(rows: Rows, path: str | Path, names: Names) -> None:
    """Read the lines of a log."""
    lines = _lines_of(path)
    objects = [line for _, _, line in lines if isinstance(line, dict)]
    # A reset revokes everything a user has done before, or one document if it names one.
    resets = {
        (campaign, *_task(line)): place
        for place, (campaign, _, line) in enumerate(lines)
        if isinstance(line, dict) and line.get("annotation") == _RESET
    }
    slider = _slider(rows, objects, names.score)
    taken_back = 0
    for place, (campaign, where, line) in enumerate(lines):
        if isinstance(line, DataError):
            rows.reject(where, str(line), "")
        elif not isinstance(line, dict):
            rows.reject(where, "expected an object {…}.", line)
        elif line.get("annotation") == _RESET:
            rows.context += 1
        else:
            aside = as_text(line.get("item_i")).startswith(_ASIDE)
            user, document = _task(line)
            last = max(resets.get((campaign, user, one), -1) for one in (document, ""))
            taken_back += place < last
            _line(rows, where, line, slider, names, aside or place < last)
    if taken_back:
        one = "a document was reset: its answers before that do not count."
        many = f"{taken_back} lines were reset: their answers do not count."
        rows.notes.append(one if taken_back == 1 else many)


def _task(line: Mapping[str, Any]) -> tuple[str, str]:
    return text_of(line, "user_id"), as_text(line.get("item_i"))


def _slider(rows: Rows, lines: list[dict[str, Any]], wanted: str | None) -> str | None:
    """The slider with the score; None means Pearmut's own scale."""
    found = [
        name
        for line in lines
        for answers in list_of(line, "annotation")
        if isinstance(answers, dict)
        for answer in answers.values()
        if isinstance(answer, dict)
        for name in object_of(answer, "sliders")
    ]
    if (wanted == "score" and wanted not in found) or (not found and wanted is None):
        return None
    chosen = shared.choose("slider", found, found, wanted)
    rows.note_choice(chosen, found)
    return chosen


def _line(
    rows: Rows, where: str, line: Mapping[str, Any], slider: str | None, names: Names, aside: bool
) -> None:
    items, annotation = line.get("item"), line.get("annotation")
    if aside:
        listed = annotation if isinstance(annotation, list) else [None]
        rows.context += sum(max(1, len(a)) if isinstance(a, dict) else 1 for a in listed or [None])
        return None
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
            rows.context += 1
        elif answers is not None and not isinstance(answers, dict):
            rows.reject(spot, "expected an object of answers by system.", answers)
        elif not segment:
            for _ in answers or [None]:
                rows.reject(
                    spot, f"there is no {names.id or 'item_id'!r} to identify the segment.", item
                )
        elif answers is None:
            rows.unanswered(segment)
        else:
            for system, answer in answers.items():
                known = "" if system == MODEL else system
                blank = Rating(segment, 0.0, rater, time, known)
                _answer(rows, f"{spot}, system {system!r}", answer, slider, blank)
    return None


def _answer(rows: Rows, spot: str, answer: Any, slider: str | None, rating: Rating) -> None:
    """Add one answer; ``rating`` has everything except the score and the details."""
    if not isinstance(answer, dict):
        return rows.reject(spot, "expected an object with a 'score'.", answer)
    sliders = object_of(answer, "sliders")
    details = {n: plain(answer[n]) for n in ("error_spans", "textfield") if answer.get(n)}
    others = {name: plain(value) for name, value in sliders.items() if name != slider}
    if others:
        details["sliders"] = others
    score = answer.get("score") if slider is None else sliders.get(slider)
    rating = replace(rating, details=details)
    return shared.take_answer(rows, spot, rating, "its score", score, answer)


# Items of a Pearmut campaign, and lines of its log ------------------------------------------------

_REFERENCES = ("reference", "ref")


def logged(place: int, group: list[tuple[Segment, Rating]]) -> dict[str, Any]:
    """A line of the log: a rater's answers submitted together."""
    first = group[0][1]
    actions = [{"time": shared.as_number(first.time), "action": "submit"}] if first.time else []
    return {
        "user_id": first.rater,
        "item_i": place,
        "item": [{**item(s, r.system or MODEL), "item_id": r.segment} for s, r in group],
        "annotation": [{r.system or MODEL: _item_answer(r)} for _, r in group],
        "actions": actions,
    }


def _item_answer(rating: Rating) -> dict[str, Any]:
    details = dict(rating.details)
    spans = details.pop("error_spans") if isinstance(details.get("error_spans"), list) else []
    if "error_spans" in rating.details and not spans:
        details["error_spans"] = rating.details["error_spans"]
    comment = details.get("textfield")
    text = details.pop("textfield") if isinstance(comment, str) and comment else None
    kept = shared.extra(details, answer=rating.answer)
    made = {"score": number(rating.score), "error_spans": spans, "textfield": text}
    return {**made, EXTRA: kept} if kept else made


def item(segment: Segment, model: str = MODEL) -> dict[str, Any]:
    """A segment as Pearmut shows it."""
    sources, references, outputs = _roles(segment.texts)
    made: dict[str, Any] = {
        "item_id": segment.key, "segment_id": segment.id, "document": segment.document,
        "position": segment.position,
    }  # fmt: skip
    for field, found in (("src", sources), ("ref", references)):
        if found:
            made[field] = _shown("\n".join(found.values()))
    if segment.rate:
        return {**made, "tgt": {model: _shown("\n".join(outputs.values()))}}
    told = [shared.MARK, *(f"{name}: {text}" for name, text in outputs.items())]
    return {**made, "tgt": {}, "instructions": "<br>".join(map(html.escape, told))}


def _roles(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Which texts are sources, references and outputs; by default the last is the output."""
    references = {n: t for n, t in texts.items() if plain_name(n) in _REFERENCES}
    others = {n: t for n, t in texts.items() if n not in references}
    known = [n for n in others if plain_name(n) in OUTPUT_NAMES]
    left = [n for n in others if plain_name(n) not in INPUT_NAMES] or list(others)
    output = known[-1:] or left[-1:]
    sources = {n: t for n, t in others.items() if n not in output}
    return sources, references, {n: texts[n] for n in output}


def _shown(text: str) -> str:
    """Text that Pearmut displays as text, since it treats text starting with a tag as an image."""
    return f"\u200b{text}" if text.lstrip().startswith("<") else text


def _info(tasks: Tasks, assignment: str, users: list[str] | int) -> dict[str, Any]:
    """What Pearmut must know about a campaign besides its items."""
    info: dict[str, Any] = {
        "assignment": assignment,
        "protocol": "DA",
        "shuffle": False,
        "instructions": to_html(tasks.instructions) + html.escape(tasks._instruction),
        "users": users,
    }
    # Pearmut's own slider goes from 0 to 100, and more is better.
    own = tasks.limits == (0, 100) and tasks.higher_is_better is not False
    if tasks.limits is not None and not own:
        low, high = map(number, tasks.limits)
        by = 1 if shared.options(tasks.limits) else shared.step(tasks.limits)
        info["sliders"] = [{"name": Layout(tasks).score, "min": low, "max": high, "step": by}]
    return info


def _documents(tasks: Tasks) -> list[list[dict[str, Any]]]:
    """The items of each document in which there is something to rate."""
    documents: list[list[Segment]] = []
    for segment in tasks.segments:
        last = documents[-1][-1] if documents else None
        if last and last.document and last.document == segment.document:
            documents[-1].append(segment)
        else:
            documents.append([segment])
    return [list(map(item, found)) for found in documents if any(s.rate for s in found)]


def _of_rater(documents: list[Any], each: int, rater: int, raters: int) -> list[Any]:
    """The documents of one rater: each document goes to ``each`` of them, in turn.

    Raters begin at different places.

    >>> [_of_rater(list("abcd"), 2, rater, 3) for rater in range(3)]
    [['a', 'c', 'd'], ['b', 'd', 'a'], ['c', 'b']]
    """
    own = [d for k, d in enumerate(documents) if (rater - k) % raters < each]
    start = rater * len(own) // raters
    return own[start:] + own[:start]


class Pearmut(Format):
    """Campaigns and annotations of Pearmut.

    Documents are exported whole. Neighbours that give context are items without any output to rate;
    their outputs are in the message above, marked as not to be rated. All raters draw documents
    from one pool (``single-stream``), so each segment is rated once. If more raters per segment
    are wanted, or raters are named at export, each has a list of documents (``task-based``). The
    key is the ``item_id``. A scale other than 0 to 100, or one where less is better, becomes a
    separate slider.

    A **row** is one output of one segment in one line: a line with a document of 5 segments and 2
    systems has 10. A segment without outputs is one row of context; a skipped segment (null) is one
    row, and so is a malformed line. Tutorials and attention checks (``welcome_…``, ``random_…``,
    ``goodbye_…``) are context, and so are answers revoked by a reset. A score of null leaves the
    segment blank. Answers are read from ``data/annotations/NAME.jsonl`` and from the dashboard's
    download ``annotations.json``. Campaign files are read too: all blank.

    The time is that of the last action, in seconds since 1970 as Pearmut writes it. Error spans and
    comments go into the details. Pearmut has no answer ids; `write_ratings` keeps them, and other
    details, in a field ``fewgold``. A model called ``default`` means no system.
    """

    name = "pearmut"
    title = "Pearmut"
    suffixes = (".json", ".jsonl")
    _assigns = True

    def _recognises(self, probe: Probe) -> bool:
        """True for lines with item, annotation and user, and for a campaign."""
        if probe.is_folder:
            return False
        return _is_line(probe.first_object) or is_campaign(probe.json) or is_download(probe.json)

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the annotations in a log; see the class for what a row is."""
        rows = Rows(self.name)
        if not read_campaign(rows, path, names):
            read_log(rows, path, names)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write a campaign, for ``pearmut add``."""
        data: list[Any] = _documents(tasks)
        if tasks.each > 1:
            count = len(tasks.raters) or tasks.each
            info = _info(tasks, "task-based", list(tasks.raters) or count)
            data = [_of_rater(data, tasks.each, rater, count) for rater in range(count)]
        else:
            info = _info(tasks, "single-stream", list(tasks.raters) or 1)
        campaign = {"campaign_id": tasks.name, "info": info, "data": data}
        write_texts({Path(path): dumps(campaign, indent=1) + "\n"})

    def _write_assigned(self, tasks: Mapping[str, Tasks], path: str | Path) -> None:
        """Write a campaign in which every rater has their own documents."""
        first = next(iter(tasks.values()))
        info = _info(first, "task-based", list(tasks))
        data = [_documents(own) for own in tasks.values()]
        campaign = {"campaign_id": first.name, "info": info, "data": data}
        write_texts({Path(path): dumps(campaign, indent=1) + "\n"})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write a log: one line per rater, document and time."""
        groups: list[list[tuple[Segment, Rating]]] = []
        for segment, rating in matched(tasks, ratings):
            group = groups[-1] if groups else []
            given = segment.document, rating.rater, rating.time
            together = [(s.document, r.rater, r.time) for s, r in group[-1:]] == [given]
            if together and all(r.segment != rating.segment for _, r in group):
                group.append((segment, rating))
            else:
                groups.append([(segment, rating)])
        lines = [dumps(logged(place, group)) + "\n" for place, group in enumerate(groups)]
        write_texts({Path(path): "".join(lines)})
