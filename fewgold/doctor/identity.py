"""Ids, systems, raters and documents: whether each row says which segment it is about."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from fewgold import io
from fewgold.doctor.findings import Finding, plural, some
from fewgold.doctor.seen import Seen
from fewgold.doctor.texts import finding
from fewgold.io.columns import HIDDEN, wordy

_SCIENTIFIC = re.compile(r"\d(\.\d+)?[eE]\+\d+")
_DATE = re.compile(
    r"\d{1,2}[-/. ](jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*([-/. ]\d{2,4})?"
    r"|(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. ]\d{1,4}",
    re.IGNORECASE,
)


def id_findings(seen: Seen) -> list[Finding]:
    """Missing, doubled and mangled ids."""
    if seen.id is None:
        return [finding("no-ids", f"columns: {some(list(seen.frame.columns), 8)}")]
    ids = seen.labels(seen.id)
    findings = [*_mangled(seen.id, ids), *_padded(seen)]
    gaps = [k + 1 for k, i in enumerate(ids) if not i]
    if gaps:
        findings.insert(0, finding("missing-ids", f"row {some(gaps)}", n=len(gaps), name=seen.id))
    unnamed = seen.guessed.get("id") is None and "id" not in seen.told
    if _crossed_unasked(seen):
        quoted = [shlex.quote(name or "") for name in (seen.id, seen.system)]
        findings.append(
            finding(
                "crossed-columns",
                f"{seen.count(seen.id):,} × {plural(seen.count(seen.system), 'value')}",
                id=seen.id, system=seen.system, options="--id {} --system {}".format(*quoted),
            )
        )  # fmt: skip
    elif unnamed and all(ids) and keys(seen) is not None:
        each = " for each system" if len(set(ids)) < len(ids) else ""
        quoted_id = shlex.quote(seen.id)
        findings.append(finding("ids-elsewhere", name=seen.id, each=each, quoted=quoted_id))
    return [*findings, *_doubled(seen, ids)]


def _crossed_unasked(seen: Seen) -> bool:
    """Whether only the cells say that a column holds systems."""
    named = "system" in seen.told or seen.guessed.get("system") is not None
    return seen.system is not None and not named and seen.system in (keys(seen) or ())


def keys(seen: Seen) -> tuple[str, ...] | None:
    """Which columns beside the id tell rows apart: none, the system, the rater, or both."""
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


def _mangled(name: str, ids: Sequence[str]) -> list[Finding]:
    findings = []
    for code, pattern in (("scientific-ids", _SCIENTIFIC), ("date-ids", _DATE)):
        if hits := [i for i in ids if pattern.fullmatch(i)]:
            findings.append(finding(code, some(hits), n=len(hits), name=name))
    digits = [i for i in ids if i.isdecimal()]
    zeros = [i for i in digits if len(i) > 1 and i.startswith("0")]
    if zeros and len(digits) == len(ids):
        width = Counter(map(len, zeros)).most_common(1)[0][0]
        if short := [i for i in digits if len(i) < width]:
            where = f"{some(zeros, 2)}; but {some(short, 2)}"
            findings.append(finding("lost-zeros", where, n=len(short), name=name))
        else:
            findings.append(finding("leading-zeros", some(zeros), name=name))
    decimals = [i for i in ids if re.fullmatch(r"\d+\.0", i)]
    if decimals and len(decimals) == len([i for i in ids if i]):
        findings.append(finding("decimal-ids", some(decimals), name=name))
    return findings


def _padded(seen: Seen) -> list[Finding]:
    findings = []
    for name in filter(None, (seen.id, seen.document, seen.system)):
        cells = [v for v in seen.frame[name].tolist() if isinstance(v, str)]
        padded = [v for v in cells if v != v.strip() and v.strip()]
        if padded:
            same = {v.strip() for v in padded} & set(cells)
            twins = f"; {some(sorted(same))} with and without" if same else ""
            where = some([repr(v) for v in padded]) + twins
            findings.append(finding("spaces-in-ids", where, n=len(padded), name=name))
    return findings


def _doubled(seen: Seen, ids: list[str]) -> list[Finding]:
    filled = [i for i in ids if i]
    twice = [i for i, count in Counter(filled).items() if count > 1]
    if not twice or (len(filled) == len(ids) and keys(seen) is not None):
        return []
    rows = seen.frame.astype(str)
    assert seen.id is not None
    where = some([f"{i} ({Counter(filled)[i]} rows)" for i in twice[:3]] + twice[3:])
    extra = int(rows.duplicated().sum())
    head = f"{plural(len(twice), 'id')} in “{seen.id}” {'stands' if len(twice) == 1 else 'stand'} "
    if seen.system is not None:
        pairs = list(zip(ids, seen.labels(seen.system), strict=True))
        pairs = [p for p, count in Counter(pairs).items() if count > 1 and p[0]]
        if not pairs:
            return []
        head = f"{plural(len(pairs), 'pair')} of id and system in more than one row"
        where = some([f"{i} of {s}" for i, s in pairs])
    else:
        head += "in more than one row"
    if extra and extra >= len(filled) - len(set(filled)):
        return [finding("duplicate-rows", where, head=head, n=extra)]
    if seen.document is not None:
        parts = [seen.labels(seen.document), *([seen.labels(seen.system)] if seen.system else [])]
        joint = list(zip(ids, *parts, strict=True))
        if len(set(joint)) == len(joint):
            return [finding("ids-by-document", where, head=head)]
    return [finding("duplicate-ids", where, head=head)]


def not_crossed(outputs: int, segments: int, systems: int) -> Finding:
    """Not every system has an output (or a rating) for every segment."""
    return finding("not-crossed", outputs=outputs, pairs=segments * systems)


def system_findings(seen: Seen) -> list[Finding]:
    """A column of systems that is none."""
    if seen.system is None:
        return []
    findings = []
    labels = seen.labels(seen.system)
    gaps = [k + 1 for k, s in enumerate(labels) if not s]
    if gaps:
        where = f"row {some(gaps)}"
        findings.append(finding("missing-systems", where, n=len(gaps), name=seen.system))
    count = seen.count(seen.system)
    if seen.id is not None and count > 1 and seen.system in (keys(seen) or ()):
        outputs = len(set(zip(seen.labels(seen.id), labels, strict=True)))
        segments = len(set(seen.labels(seen.id)))
        if outputs < segments * count and outputs > segments:
            findings.append(not_crossed(outputs, segments, count))
    if count > max(20, seen.rows // 2):
        findings.append(
            finding("many-systems", some(labels), name=seen.system, n=count, rows=seen.rows)
        )
    return findings


# Documents: how many, how long, and whether their segments lie together ---------------------------

FEW = 10
TINY = 20


def segments_of(seen: Seen) -> list[tuple[str, str]]:
    """(id, document) of each segment once, in the order of the file."""
    assert seen.id is not None
    documents = seen.labels(seen.document) if seen.document else [""] * seen.rows
    pairs = zip(seen.labels(seen.id), documents, strict=True)
    return [pair for pair in dict.fromkeys(pairs) if pair[0]]


def document_findings(seen: Seen) -> list[Finding]:
    """What the sizes and the order of the documents mean for sampling."""
    if seen.id is None:
        return []
    segments = segments_of(seen)
    findings = []
    ids = {i for i, _ in segments}
    if len(ids) < TINY:
        findings.append(finding("tiny-pool", n=len(ids)))
    if seen.document is None:
        return findings
    if len(segments) > len(ids):
        twice = [i for i, count in Counter(i for i, _ in segments).items() if count > 1]
        return [*findings, finding("two-documents", some(twice), n=len(twice))]
    names = [d for _, d in segments]
    gaps = [i for i, d in segments if not d]
    if gaps:
        found = finding("missing-documents", some(gaps), n=len(gaps), name=seen.document)
        return [*findings, found]
    sizes = Counter(names)
    if len(sizes) == len(names):
        findings.append(finding("single-segments", name=seen.document))
    elif len(sizes) == 1:
        findings.append(finding("one-document", name=names[0]))
    else:
        name, size = sizes.most_common(1)[0]
        if size > len(names) / 2:
            findings.append(finding("giant-document", name=name, n=size, segments=len(names)))
        if len(sizes) < FEW:
            findings.append(finding("few-documents", n=len(sizes)))
    runs = [name for name, _ in groupby(names)]
    apart = [name for name, count in Counter(runs).items() if count > 1]
    if apart and len(sizes) < len(names):
        findings.append(finding("scattered-documents", some(apart), n=len(apart)))
    return findings


# Columns that no command will use, and the option that would give each a role ---------------------


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
    free = [n for n in seen.columns if n not in taken and not HIDDEN & set(io.parts(n))]
    said = [f"{n} ({_hint(seen, n)})" for n in free if seen.count(n) > 1]
    return [finding("no-role", some(said, 6))] if said else []


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
