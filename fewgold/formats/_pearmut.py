"""Pearmut: campaigns to add, annotations as JSON lines."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fewgold.formats._export import as_number, dumps, extra, number, options, step
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._json import EXTRA, Rows, first_object
from fewgold.formats._layout import MARK, Layout, Lookup
from fewgold.formats._model import Rating, Reading, Segment, Tasks
from fewgold.formats._pearmut_log import MODEL, is_campaign, read_campaign, read_log
from fewgold.tables import plain, write_texts

_SOURCES = ("source", "src", "input", "prompt", "question", "article", "context")
_REFERENCES = ("reference", "ref")
_OUTPUTS = ("output", "hypothesis", "hyp", "translation", "target", "tgt", "mt", "summary",
            "response", "answer")  # fmt: skip


class Pearmut(Format):
    """Campaigns and annotations of Pearmut.

    Documents go out whole. Neighbours that give context are items without any output to rate;
    what a system made of them stands in the message above, marked as not to be rated. All raters
    draw documents from one pool (``single-stream``), so each segment is rated once. The key is
    the ``item_id``. A scale other than 0 to 100 becomes a slider of its own.

    A **row** is one output of one segment in one line: a line with a document of 5 segments and
    2 systems has 10. A segment without outputs is one row of context; a segment that was passed
    over (null), and a line that makes no sense, is one row. Tutorials and attention checks
    (``welcome_…``, ``random_…``, ``goodbye_…``) are context, and so is what a reset has taken
    back. A score of null leaves the segment blank. Campaign files are read too: all blank.

    The time is that of the last action, in seconds since 1970 as Pearmut writes it. Error spans
    and comments go into the details. Pearmut knows no answer ids; `write_ratings` keeps them,
    and other details, in a field ``fewgold``. A model called ``default`` stands for no system.
    """

    name = "pearmut"
    title = "Pearmut"
    suffixes = (".json", ".jsonl")

    def recognises(self, probe: Probe) -> bool:
        """True for lines with item, annotation and user, and for a campaign."""
        if probe.is_folder:
            return False
        first = first_object(probe)
        if first is not None and "annotation" in first and "item_i" in first:
            return "user_id" in first
        return is_campaign(probe.json)

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The annotations in a log; see the class for what a row is."""
        rows = Rows(self.name)
        if not read_campaign(rows, path, names):
            read_log(rows, path, names)
        return rows.reading(names)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """A campaign, for ``pearmut add``."""
        layout = Layout(tasks)
        info: dict[str, Any] = {
            "assignment": "single-stream",
            "protocol": "DA",
            "shuffle": False,
            "instructions": html.escape(tasks.question),
            "users": list(tasks.raters) or 1,
        }
        if tasks.limits is not None and tasks.limits != (0, 100):
            low, high = map(number, tasks.limits)
            by = 1 if options(tasks.limits) else step(tasks.limits)
            info["sliders"] = [{"name": layout.score, "min": low, "max": high, "step": by}]
        documents: list[list[Segment]] = []
        for segment in tasks.segments:
            last = documents[-1][-1] if documents else None
            if last and last.document and last.document == segment.document:
                documents[-1].append(segment)
            else:
                documents.append([segment])
        listed = [list(map(_item, found)) for found in documents if any(s.rate for s in found)]
        campaign = {"campaign_id": tasks.name, "info": info, "data": listed}
        write_texts({Path(path): dumps(campaign, indent=1) + "\n"})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """A log: a line per rater, document and time."""
        find = Lookup(tasks)
        groups: list[list[tuple[Segment, Rating]]] = []
        for rating in ratings:
            segment = find(rating)
            group = groups[-1] if groups else []
            fits = group and _same(group[-1], (segment, rating))
            if fits and all(r.segment != rating.segment for _, r in group):
                group.append((segment, rating))
            else:
                groups.append([(segment, rating)])
        lines = [dumps(_line(number, group)) + "\n" for number, group in enumerate(groups)]
        write_texts({Path(path): "".join(lines)})


def _same(one: tuple[Segment, Rating], other: tuple[Segment, Rating]) -> bool:
    """True for ratings that a rater gave with one press of the button."""
    return (one[0].document, one[1].rater, one[1].time) == (
        other[0].document,
        other[1].rater,
        other[1].time,
    )


def _line(place: int, group: list[tuple[Segment, Rating]]) -> dict[str, Any]:
    first = group[0][1]
    actions = [{"time": as_number(first.time), "action": "submit"}] if first.time else []
    return {
        "user_id": first.rater,
        "item_i": place,
        "item": [
            {**_item(segment, rating.system or MODEL), "item_id": rating.segment}
            for segment, rating in group
        ],
        "annotation": [{rating.system or MODEL: _answer(rating)} for _, rating in group],
        "actions": actions,
    }


def _answer(rating: Rating) -> dict[str, Any]:
    details = dict(rating.details)
    spans = details.pop("error_spans") if isinstance(details.get("error_spans"), list) else []
    if "error_spans" in rating.details and not spans:
        details["error_spans"] = rating.details["error_spans"]
    comment = details.get("textfield")
    text = details.pop("textfield") if isinstance(comment, str) and comment else None
    kept = extra(details, answer=rating.answer)
    made = {"score": number(rating.score), "error_spans": spans, "textfield": text}
    return {**made, EXTRA: kept} if kept else made


def _item(segment: Segment, model: str = MODEL) -> dict[str, Any]:
    """A segment as Pearmut shows it."""
    sources, references, outputs = _roles(segment.texts)
    made: dict[str, Any] = {
        "item_id": segment.key,
        "segment_id": segment.id,
        "document": segment.document,
        "position": segment.position,
    }
    for field, found in (("src", sources), ("ref", references)):
        if found:
            made[field] = _shown("\n".join(found.values()))
    if segment.rate:
        return {**made, "tgt": {model: _shown("\n".join(outputs.values()))}}
    told = [MARK, *(f"{name}: {text}" for name, text in outputs.items())]
    return {**made, "tgt": {}, "instructions": "<br>".join(map(html.escape, told))}


def _roles(texts: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Which texts are sources, references and outputs; with no known output it is the last."""
    references = {n: t for n, t in texts.items() if plain(n) in _REFERENCES}
    others = {n: t for n, t in texts.items() if n not in references}
    known = [n for n in others if plain(n) in _OUTPUTS]
    left = [n for n in others if plain(n) not in _SOURCES] or list(others)
    output = known[-1:] or left[-1:]
    sources = {n: t for n, t in others.items() if n not in output}
    return sources, references, {n: texts[n] for n in output}


def _shown(text: str) -> str:
    """Text that Pearmut shows as text: it takes one that begins with a tag for a picture."""
    return f"\u200b{text}" if text.lstrip().startswith("<") else text
