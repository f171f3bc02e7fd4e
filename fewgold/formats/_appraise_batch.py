"""The batch files that Appraise imports: documents to assess, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._model import Segment, Tasks
from fewgold.formats._texts import source_of, target_of

#: Items of a batch, as in the campaigns of WMT; documents are not split over batches.
BATCH = 100

_DOCUMENT = 100  # letters that Appraise keeps of a document's name
_ITEM = {"itemID", "itemType", "targetID", "sourceID", "targetText", "sourceText"}


def is_batches(found: Any) -> bool:
    """True for what Appraise takes for batches."""
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(b, dict) and {"items", "task"} <= b.keys() for b in found)
        and all(
            isinstance(b["items"], list) and all(isinstance(i, dict) for i in b["items"])
            for b in found
        )
        and all(i.keys() >= _ITEM for b in found for i in b["items"][:1])
    )


def batches(tasks: Tasks, languages: tuple[str, str]) -> list[dict[str, Any]]:
    """Batches of whole documents.

    Raters assess every item that they see, so that context goes into the fields made for it and
    segments that stand alone make a document of their own. The key is the target's id, which comes
    back with the answer; Appraise's own item id must be a number.
    """
    made: list[list[dict[str, Any]]] = [[]]
    for number, run in enumerate(_runs(tasks), 1):
        items = _items(tasks, run, number)
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
    """Segments to rate that follow on each other in a document."""
    runs: list[list[Segment]] = []
    last: Segment | None = None
    for segment in tasks.segments:
        if segment.rate:
            together = (
                last is not None
                and last.rate
                and last.document == segment.document != ""
                and last.position + 1 == segment.position
            )
            if together:
                runs[-1].append(segment)
            else:
                runs.append([segment])
        last = segment
    return runs


def _items(tasks: Tasks, run: Sequence[Segment], number: int) -> list[dict[str, Any]]:
    document = document_name(run[0], number)
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
    before, after = tasks.around(segment, reach=10)
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


def document_name(segment: Segment, number: int) -> str:
    """A name for the documents of a batch; the number keeps apart runs of one document."""
    end = f"#{number}"
    return f"{segment.document[: _DOCUMENT - len(end)]}{end}"
