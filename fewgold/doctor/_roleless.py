"""Columns that no command will use, and the option that would give each a role."""

from __future__ import annotations

from fewgold import tables
from fewgold.doctor._documents import FEW
from fewgold.doctor._model import Finding, some
from fewgold.doctor._seen import Seen
from fewgold.roles import HIDDEN, wordy


def roleless(seen: Seen) -> list[Finding]:
    """A note on columns of several values that are neither shown to raters nor used otherwise.

    References and comments are left out: nobody expects them to be shown.
    """
    if seen.id is None:
        return []
    taken = {
        seen.id, seen.document, seen.system, seen.rater, seen.cost, *seen.texts, *seen.humans,
        *seen.metrics, *seen.left_out,
    }  # fmt: skip
    free = [n for n in seen.columns if n not in taken and not HIDDEN & set(tables.parts(n))]
    said = [f"{n} ({_hint(seen, n)})" for n in free if seen.count(n) > 1]
    if not said:
        return []
    return [
        Finding("note", "no-role", "columns without a role", some(said, 6),
                "Nothing uses them and raters do not see them, unless you name them.")
    ]  # fmt: skip


def _hint(seen: Seen, name: str) -> str:
    if wordy(seen.labels(name)):
        return "running text; for raters? --texts"
    values = f"{seen.count(name):,} values"
    return f"{values}; documents? --document" if _groups(seen, name) else values


def _groups(seen: Seen, name: str) -> bool:
    """Whether a column puts segments into groups, each segment into one."""
    assert seen.id is not None
    if seen.document is not None or seen.columns[name].blank.any():
        return False
    groups = seen.count(name)
    pairs = set(zip(seen.labels(seen.id), seen.labels(name), strict=True))
    return FEW <= groups < seen.count(seen.id) == len(pairs)
