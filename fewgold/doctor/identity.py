"""Ids, systems, raters and documents: whether each row identifies its segment."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd

from fewgold import io
from fewgold.doctor.findings import Finding, finding, plural, some
from fewgold.doctor.seen import Seen
from fewgold.io.columns import HIDDEN, has_fields, wordy

_SCIENTIFIC = re.compile(r"\d(\.\d+)?[eE]\+\d+")
_DATE = re.compile(
    r"\d{1,2}[-/. ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*([-/. ]\d{2,4})?"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. ]\d{1,4}",
    re.IGNORECASE,
)


def id_findings(seen: Seen) -> Iterator[Finding]:
    """Missing, duplicate and damaged ids."""
    if seen.id is None:
        where = f"columns: {some(list(seen.table.columns), 8)}"
        if (number := _counted(seen)) is not None:
            both = shlex.quote(f"{seen.document},{number}")
            where = f"“{seen.document}” and “{number}” do so together: --id {both}"
        yield finding("no-ids", where)
        return
    ids = seen.labels(seen.id)
    if gaps := [k + 1 for k, i in enumerate(ids) if not i]:
        yield finding("missing-ids", f"row {some(gaps)}", n=len(gaps), name=seen.id)
    yield from _mangled(seen.id, ids)
    yield from _padded(seen)
    by_cells = {r for r in ("id", "system") if seen.named.get(r) is None and r not in seen.told}
    if seen.system is not None and "system" in by_cells and seen.system in (keys(seen) or ()):
        where = f"{seen.count(seen.id):,} × {plural(seen.count(seen.system), 'value')}"
        options = f"--id {shlex.quote(seen.id)} --system {shlex.quote(seen.system)}"
        yield finding("crossed-columns", where, id=seen.id, system=seen.system, options=options)
    elif "id" in by_cells and all(ids) and keys(seen) is not None:
        each = " for each system" if len(set(ids)) < len(ids) else ""
        yield finding("ids-elsewhere", name=seen.id, each=each, quoted=shlex.quote(seen.id))
    yield from _doubled(seen, ids)


def _counted(seen: Seen) -> str | None:
    """The column that counts the rows of each document without a gap, such as a turn number."""
    if seen.document is None or "," in seen.document:
        return None
    documents = seen.labels(seen.document)
    for name in map(str, seen.table.columns):
        numbers = pd.to_numeric(seen.table[name], errors="coerce")
        if name in (seen.document, *seen.human) or "," in name or (numbers % 1 != 0).any():
            continue
        of = numbers.groupby(documents)
        sizes = of.size()
        if sizes.max() > 1 and ((of.nunique() == sizes) & (of.max() - of.min() < sizes)).all():
            return name
    return None


def keys(seen: Seen) -> tuple[str, ...] | None:
    """Which columns besides the id identify rows: none, the system, the rater, or both."""
    assert seen.id is not None
    ids = seen.labels(seen.id)
    options: list[tuple[str, ...]] = [()]
    options += [(c,) for c in (seen.system, seen.rater) if c is not None]
    if seen.system is not None and seen.rater is not None:
        options.append((seen.system, seen.rater))
    for extra in options:
        rows = list(zip(ids, *(seen.labels(c) for c in extra), strict=True))
        if len(set(rows)) == len(rows):
            return extra
    return None


def _mangled(name: str, ids: Sequence[str]) -> Iterator[Finding]:
    for code, pattern in (("scientific-ids", _SCIENTIFIC), ("date-ids", _DATE)):
        if hits := [i for i in ids if pattern.fullmatch(i)]:
            yield finding(code, some(hits), n=len(hits), name=name)
    digits = [i for i in ids if i.isdecimal()]
    zeros = [i for i in digits if len(i) > 1 and i.startswith("0")]
    if zeros and len(digits) == len(ids):
        width = Counter(map(len, zeros)).most_common(1)[0][0]
        if short := [i for i in digits if len(i) < width]:
            where = f"{some(zeros, 2)}; but {some(short, 2)}"
            yield finding("lost-zeros", where, n=len(short), name=name)
        else:
            yield finding("leading-zeros", some(zeros), name=name)
    decimals = [i for i in ids if re.fullmatch(r"\d+\.0", i)]
    if decimals and len(decimals) == len([i for i in ids if i]):
        yield finding("decimal-ids", some(decimals), name=name)


def _padded(seen: Seen) -> Iterator[Finding]:
    for name in filter(None, (seen.id, seen.document, seen.system)):
        cells = [v for v in seen.table[name].tolist() if isinstance(v, str)]
        if padded := [v for v in cells if v != v.strip() and v.strip()]:
            same = {v.strip() for v in padded} & set(cells)
            twins = f"; {some(sorted(same))} with and without" if same else ""
            where = some([repr(v) for v in padded]) + twins
            yield finding("spaces-in-ids", where, n=len(padded), name=name)


def _doubled(seen: Seen, ids: list[str]) -> Iterator[Finding]:
    counts = Counter(i for i in ids if i)
    twice = [i for i, count in counts.items() if count > 1]
    if not twice or (all(ids) and keys(seen) is not None):
        return
    if seen.system is not None:
        pairs = Counter(zip(ids, seen.labels(seen.system), strict=True))
        shown = [f"{i} of {s}" for (i, s), count in pairs.items() if count > 1 and i]
        if not shown:
            return
        head = f"{plural(len(shown), 'pair')} of id and system in more than one row"
    else:
        shown = [f"{i} ({counts[i]} rows)" for i in twice]
        stand = "stands" if len(twice) == 1 else "stand"
        head = f"{plural(len(twice), 'id')} in “{seen.id}” {stand} in more than one row"
    where = some(shown)
    copies = int(seen.table.astype(str).duplicated().sum())
    parts = [seen.labels(name) for name in (seen.document, seen.system) if name is not None]
    if copies and copies >= counts.total() - len(counts):
        yield finding("duplicate-rows", where, head=head, n=copies)
    elif seen.document is not None and len(set(zip(ids, *parts, strict=True))) == len(ids):
        yield finding("ids-by-document", where, head=head)
    else:
        yield finding("duplicate-ids", where, head=head)


def system_findings(seen: Seen) -> Iterator[Finding]:
    """Problems with the column of systems."""
    if seen.system is None:
        return
    labels = seen.labels(seen.system)
    if gaps := [k + 1 for k, s in enumerate(labels) if not s]:
        yield finding("missing-systems", f"row {some(gaps)}", n=len(gaps), name=seen.system)
    count = seen.count(seen.system)
    if seen.id is not None and count > 1 and seen.system in (keys(seen) or ()):
        outputs = len(set(zip(seen.labels(seen.id), labels, strict=True)))
        segments = len(set(seen.labels(seen.id)))
        if outputs < segments * count and outputs > segments:
            yield finding("not-crossed", outputs=outputs, pairs=segments * count)
    if count > max(20, seen.rows // 2):
        yield finding("many-systems", some(labels), name=seen.system, n=count, rows=seen.rows)


# Documents: how many, how long, and whether their segments are contiguous -------------------------

FEW = 10
TINY = 20


def segments_of(seen: Seen) -> list[tuple[str, str]]:
    """(id, document) of each segment once, in the order of the file."""
    assert seen.id is not None
    documents = seen.labels(seen.document) if seen.document else [""] * seen.rows
    pairs = zip(seen.labels(seen.id), documents, strict=True)
    return [pair for pair in dict.fromkeys(pairs) if pair[0]]


def document_findings(seen: Seen) -> Iterator[Finding]:
    """Findings on the sizes and the order of documents that matter for sampling."""
    if seen.id is None:
        return
    segments = segments_of(seen)
    ids = Counter(i for i, _ in segments)
    if len(ids) < TINY:
        yield finding("tiny-pool", n=len(ids))
    if seen.document is None:
        return
    if twice := [i for i, count in ids.items() if count > 1]:
        yield finding("two-documents", some(twice), n=len(twice))
        return
    if gaps := [i for i, d in segments if not d]:
        yield finding("missing-documents", some(gaps), n=len(gaps), name=seen.document)
        return
    names = [d for _, d in segments]
    sizes = Counter(names)
    if len(sizes) == len(names):
        yield finding("single-segments", name=seen.document)
    elif len(sizes) == 1:
        yield finding("one-document", name=names[0])
    else:
        name, size = sizes.most_common(1)[0]
        if size > len(names) / 2:
            yield finding("giant-document", name=name, n=size, segments=len(names))
        if len(sizes) < FEW:
            yield finding("few-documents", n=len(sizes))
    runs = [name for name, _ in groupby(names)]
    apart = [name for name, count in Counter(runs).items() if count > 1]
    if apart and len(sizes) < len(names):
        yield finding("scattered-documents", some(apart), n=len(apart))


# Columns that no command will use, and the option that would give each a role ---------------------


def roleless(seen: Seen) -> Iterator[Finding]:
    """A note on columns of several values that are neither shown to raters nor used otherwise.

    References and comments are left out, since nobody expects raters to see them.
    """
    if seen.id is None:
        return
    taken = {
        seen.id, seen.document, seen.system, seen.rater, seen.cost, *seen.texts, *seen.humans,
        *seen.metrics, *seen.left_out,
    }  # fmt: skip
    free = [n for n in seen.cells if n not in taken and not HIDDEN & set(io.parts(n))]
    said = []
    for name in free:
        count = seen.count(name)
        hint = "; documents? --document" if _groups(seen, name) else ""
        if has_fields(seen.table[name]):
            said.append(f"{name} (objects with fields)")
        elif count > 1 and wordy(seen.labels(name)):
            said.append(f"{name} (running text; for raters? --texts)")
        elif count > 1:
            said.append(f"{name} ({count:,} values{hint})")
    if said:
        yield finding("no-role", some(said, 6))


def _groups(seen: Seen, name: str) -> bool:
    """Whether a column groups segments, with each segment in one group."""
    assert seen.id is not None
    if seen.document is not None or seen.cells[name].blank.any():
        return False
    groups = seen.count(name)
    pairs = set(zip(seen.labels(seen.id), seen.labels(name), strict=True))
    return FEW <= groups < seen.count(seen.id) == len(pairs)
