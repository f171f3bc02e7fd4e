"""What people call their columns, and what a name tells about a column."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Names that people give to these columns, best first. Compared in lower case without separators.
ID_NAMES = ("id", "segment", "segmentid", "segid", "seg", "globalsegid", "itemid", "item", "uid")
DOCUMENT_NAMES = (
    "document", "documentid", "docid", "doc", "conversation", "conversationid", "dialogue",
    "dialogueid", "dialog", "dialogid", "thread", "threadid", "ticket", "ticketid",
)  # fmt: skip
HUMAN_NAMES = (
    "human", "score", "rating", "gold", "mqm", "da", "humanscore", "label", "passed", "stars",
    "adequate",
)  # fmt: skip
COST_NAMES = ("cost", "seconds", "price")
SYSTEM_NAMES = ("system", "model", "sys", "systemid", "systemname", "modelname", "modelid")
POSITION_NAMES = ("position", "docsegid", "index", "line")
RATER_NAMES = (
    "rater", "raterid", "annotator", "annotatorid", "user", "userid", "username", "worker",
    "workerid", "evaluator", "evaluatorid", "participant", "completedby",
)  # fmt: skip
TIME_NAMES = ("time", "timestamp", "ratedat", "createdat", "updatedat", "submittedat", "date")
# What raters look at. References stay out: in most protocols raters must not see them.
TEXT_NAMES = (
    "source", "src", "input", "prompt", "question", "article", "context", "output", "hypothesis",
    "hyp", "translation", "target", "tgt", "mt", "summary", "response", "answer", "reply",
    "completion", "text",
)  # fmt: skip
#: Every name above: a header that has one of them is a header.
KNOWN_NAMES = frozenset(
    (*ID_NAMES, *DOCUMENT_NAMES, *HUMAN_NAMES, *COST_NAMES, *SYSTEM_NAMES, *POSITION_NAMES,
     *RATER_NAMES, *TIME_NAMES, *TEXT_NAMES, "key", "rate", "comment", "details")
)  # fmt: skip
# Parts of names that betray human scores, and parts that do unless a known metric carries them
# ("COMET-DA", "bert_score").
_HUMAN_PARTS = {"human", "gold", "rater", "raters", "annotator", "rating", "ratings", "label"}
_HUMAN_UNLESS_METRIC = {
    "score", "scores", "mqm", "da", "z", "adequacy", "fluency", "likert", "factuality", "factual",
    "faithfulness", "naturalness", "coherence", "engagingness", "errors", "major", "minor",
}  # fmt: skip
_POSITION_PARTS = {
    "id", "ids", "position", "pos", "index", "idx", "line", "row", "number", "no",
    "nr",
}  # fmt: skip


def plain(name: str) -> str:
    """A column's name in lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())


def guess_column(columns: Iterable[str], names: Iterable[str]) -> str | None:
    """The one column whose name is among ``names``; the earliest name wins, a tie is no guess."""
    found = list(columns)
    for wanted in names:
        hits = [c for c in found if plain(str(c)) == wanted]
        if len(hits) == 1:
            return hits[0]
        if hits:
            return None
    return None


def parts(name: str) -> list[str]:
    """The words of a column's name: ``"raterA_score2"`` gives rater, a, score."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return re.findall(r"[^\W\d_]+", spaced.lower())


def looks_human(name: str, known_metric: bool = False) -> bool:
    """True for a column that may hold human scores: it must never slip in among the metrics.

    ``known_metric`` says that the name is that of a common automatic metric.
    """
    words = set(parts(name))
    if plain(name).startswith("human") or words & _HUMAN_PARTS:
        return True
    if known_metric:
        return False
    return plain(name) in HUMAN_NAMES or bool(words & _HUMAN_UNLESS_METRIC)


def looks_like_position(name: str) -> bool:
    """True for a column that counts segments or names them, such as ``doc_seg_id``."""
    return plain(name) in POSITION_NAMES or bool(set(parts(name)) & _POSITION_PARTS)
