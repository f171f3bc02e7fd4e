"""Items of a Pearmut campaign, and lines of its log."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from fewgold.formats._export import as_number, extra, number
from fewgold.formats._json import EXTRA
from fewgold.formats._layout import MARK
from fewgold.formats._model import Rating, Segment
from fewgold.formats._pearmut_log import MODEL
from fewgold.formats._texts import SOURCES
from fewgold.tables import plain as plain_name

_REFERENCES = ("reference", "ref")
_OUTPUTS = ("output", "hypothesis", "hyp", "translation", "target", "tgt", "mt", "summary",
            "response", "answer")  # fmt: skip


def given_together(one: tuple[Segment, Rating], other: tuple[Segment, Rating]) -> bool:
    """True for ratings that a rater gave with one press of the button."""
    return (one[0].document, one[1].rater, one[1].time) == (
        other[0].document,
        other[1].rater,
        other[1].time,
    )


def logged(place: int, group: list[tuple[Segment, Rating]]) -> dict[str, Any]:
    """A line of the log: what a rater answered with one press of the button."""
    first = group[0][1]
    actions = [{"time": as_number(first.time), "action": "submit"}] if first.time else []
    return {
        "user_id": first.rater,
        "item_i": place,
        "item": [
            {**item(segment, rating.system or MODEL), "item_id": rating.segment}
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


def item(segment: Segment, model: str = MODEL) -> dict[str, Any]:
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
    references = {n: t for n, t in texts.items() if plain_name(n) in _REFERENCES}
    others = {n: t for n, t in texts.items() if n not in references}
    known = [n for n in others if plain_name(n) in _OUTPUTS]
    left = [n for n in others if plain_name(n) not in SOURCES] or list(others)
    output = known[-1:] or left[-1:]
    sources = {n: t for n, t in others.items() if n not in output}
    return sources, references, {n: texts[n] for n in output}


def _shown(text: str) -> str:
    """Text that Pearmut shows as text: it takes one that begins with a tag for a picture."""
    return f"\u200b{text}" if text.lstrip().startswith("<") else text
