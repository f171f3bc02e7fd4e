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
        return [
            Finding(
                "error",
                "no-ids",
                "no column names the segments",
                f"columns: {some(list(seen.frame.columns), 8)}",
                "If each row is a segment, add a column “id” (the command below numbers the rows). "
                "If a column names them, say which with --id; rows of several systems also need "
                "--system.",
            )
        ]
    ids = seen.labels(seen.id)
    findings = [*_missing(seen.id, ids), *_mangled(seen.id, ids), *_padded(seen)]
    if _crossed_unasked(seen):
        findings.append(_crossed(seen))
    elif _unknown_id(seen) and all(ids) and keys(seen) is not None:
        findings.append(
            Finding(
                "note",
                "ids-elsewhere",
                f"no column is called id, but “{seen.id}” names each segment once"
                + (" for each system" if len(set(ids)) < len(ids) else ""),
                do=f"The commands take it, too; to be sure, name it: --id {shlex.quote(seen.id)}.",
            )
        )
    return [*findings, *_doubled(seen, ids)]


def _unknown_id(seen: Seen) -> bool:
    return seen.guessed.get("id") is None and "id" not in seen.told


def _crossed_unasked(seen: Seen) -> bool:
    """Whether only the cells say that a column holds systems."""
    named = "system" in seen.told or seen.guessed.get("system") is not None
    return seen.system is not None and not named and seen.system in (keys(seen) or ())


def _crossed(seen: Seen) -> Finding:
    system = shlex.quote(seen.system or "")
    told = f"--id {shlex.quote(seen.id or '')} --system {system}"
    return Finding(
        "warning",
        "crossed-columns",
        f"rows are told apart by “{seen.id}” and “{seen.system}” together",
        f"{seen.count(seen.id):,} × {plural(seen.count(seen.system), 'value')}",
        f"If these are segments and systems, go on with {told}, as the commands below do. If "
        f"“{seen.system}” holds raters, call the column rater; if neither, name the segments with "
        "--id.",
    )


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


def _missing(name: str, ids: Sequence[str]) -> list[Finding]:
    gaps = [k + 1 for k, i in enumerate(ids) if not i]
    if not gaps:
        return []
    return [
        Finding("error", "missing-ids", f"{plural(len(gaps), 'row')} without an id in “{name}”",
                f"row {some(gaps)}", "Every row needs an id; remove rows that are empty.")
    ]  # fmt: skip


def _mangled(name: str, ids: Sequence[str]) -> list[Finding]:
    findings = []
    powers = [i for i in ids if _SCIENTIFIC.fullmatch(i)]
    if powers:
        findings.append(
            Finding("error", "scientific-ids",
                    f"{plural(len(powers), 'id')} in “{name}” in scientific notation: a "
                    "spreadsheet has cut their digits off", some(powers),
                    "Take the file from before the spreadsheet, and import the column as text.")
        )  # fmt: skip
    dates = [i for i in ids if _DATE.fullmatch(i)]
    if dates:
        findings.append(
            Finding("warning", "date-ids",
                    f"{plural(len(dates), 'id')} in “{name}” that look like dates: spreadsheets "
                    "make them of ids such as 3-4", some(dates),
                    "Take the file from before the spreadsheet, and import the column as text.")
        )  # fmt: skip
    digits = [i for i in ids if i.isdecimal()]
    zeros = [i for i in digits if len(i) > 1 and i.startswith("0")]
    if zeros and len(digits) == len(ids):
        width = Counter(map(len, zeros)).most_common(1)[0][0]
        short = [i for i in digits if len(i) < width]
        if short:
            findings.append(
                Finding("warning", "lost-zeros",
                        f"some ids in “{name}” have leading zeros and {len(short):,} are shorter: "
                        "a spreadsheet may have dropped theirs",
                        f"{some(zeros, 2)}; but {some(short, 2)}",
                        "Compare with the file they come from; ids must match to the letter.")
            )  # fmt: skip
        else:
            findings.append(
                Finding("note", "leading-zeros", f"the ids in “{name}” have leading zeros",
                        some(zeros), "fewgold keeps them. A spreadsheet drops them unless the "
                        "column is imported as text.")
            )  # fmt: skip
    halves = [i for i in ids if re.fullmatch(r"\d+\.0", i)]
    if halves and len(halves) == len([i for i in ids if i]):
        findings.append(
            Finding("warning", "decimal-ids", f"the ids in “{name}” are written as decimals",
                    some(halves), "Written by pandas after a gap? Make them whole numbers again.")
        )  # fmt: skip
    return findings


def _padded(seen: Seen) -> list[Finding]:
    findings = []
    for name in (seen.id, seen.document, seen.system):
        if name is None:
            continue
        cells = [v for v in seen.frame[name].tolist() if isinstance(v, str)]
        padded = [v for v in cells if v != v.strip() and v.strip()]
        if padded:
            same = {v.strip() for v in padded} & set(cells)
            twins = f"; {some(sorted(same))} with and without" if same else ""
            findings.append(
                Finding("warning", "spaces-in-ids",
                        f"{plural(len(padded), 'cell')} of “{name}” with blanks around",
                        some([repr(v) for v in padded]) + twins,
                        "Remove them: “a” and “a ” are two different names.")
            )  # fmt: skip
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
        return [Finding("error", "duplicate-rows", f"{head}: {plural(extra, 'row')} in full",
                        where, "Remove the second copies.")]  # fmt: skip
    if seen.document is not None:
        parts = [seen.labels(seen.document), *([seen.labels(seen.system)] if seen.system else [])]
        joint = list(zip(ids, *parts, strict=True))
        if len(set(joint)) == len(joint):
            return [
                Finding("error", "ids-by-document",
                        f"{head}: they start again in each document", where,
                        "Make ids of document and segment together; the command below does.")
            ]  # fmt: skip
    return [
        Finding("error", "duplicate-ids", head, where,
                "Are there several systems or raters? Then a column must say which (system, "
                "rater). Otherwise keep one row of each.")
    ]  # fmt: skip


def not_crossed(outputs: int, segments: int, systems: int) -> Finding:
    """Not every system has an output (or a rating) for every segment."""
    return Finding(
        "note",
        "not-crossed",
        f"{outputs:,} of {segments * systems:,} pairs of segment and system: not every system is "
        "there for every segment",
        do="Systems are compared on the segments that they share.",
    )


def system_findings(seen: Seen) -> list[Finding]:
    """A column of systems that is none."""
    if seen.system is None:
        return []
    findings = []
    labels = seen.labels(seen.system)
    gaps = [k + 1 for k, s in enumerate(labels) if not s]
    if gaps:
        findings.append(
            Finding("error", "missing-systems",
                    f"{plural(len(gaps), 'row')} without a name in “{seen.system}”",
                    f"row {some(gaps)}", "Say which system made each output.")
        )  # fmt: skip
    count = seen.count(seen.system)
    if seen.id is not None and count > 1 and seen.system in (keys(seen) or ()):
        outputs = len(set(zip(seen.labels(seen.id), labels, strict=True)))
        segments = len(set(seen.labels(seen.id)))
        if outputs < segments * count and outputs > segments:
            findings.append(not_crossed(outputs, segments, count))
    if count > max(20, seen.rows // 2):
        findings.append(
            Finding("warning", "many-systems",
                    f"“{seen.system}” has {count:,} different names in {seen.rows:,} rows: that "
                    "may be ids or texts rather than systems",
                    some(labels), "If so, rename the column, so that nothing takes it for systems.")
        )  # fmt: skip
    return findings


# Documents: how many, how long, and whether their segments lie together.


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
        findings.append(
            Finding("warning", "tiny-pool", f"only {plural(len(ids), 'segment')}",
                    do="With so few, rate them all: sampling saves next to nothing.")
        )  # fmt: skip
    if seen.document is None:
        return findings
    if len(segments) > len(ids):
        twice = [i for i, count in Counter(i for i, _ in segments).items() if count > 1]
        findings.append(
            Finding("error", "two-documents",
                    f"{plural(len(twice), 'segment')} in two documents at once", some(twice),
                    "If ids start again in each document, make ids of document and segment "
                    "together; the command below does.")
        )  # fmt: skip
        return findings
    names = [d for _, d in segments]
    gaps = [i for i, d in segments if not d]
    if gaps:
        findings.append(
            Finding("error", "missing-documents",
                    f"{plural(len(gaps), 'segment')} without a document in “{seen.document}”",
                    some(gaps), "Every row needs one; give segments that stand alone one each.")
        )  # fmt: skip
        return findings
    sizes = Counter(names)
    if len(sizes) == len(names):
        findings.append(
            Finding("warning", "single-segments",
                    f"every document in “{seen.document}” has one segment only",
                    do="Documents then tell nothing: strategies by document act as plain random "
                    "ones.")
        )  # fmt: skip
    elif len(sizes) == 1:
        findings.append(
            Finding("warning", "one-document", f"there is one document only, “{names[0]}”",
                    do="Strategies by document need several, and a score of one document says "
                    "little about others.")
        )  # fmt: skip
    else:
        name, size = sizes.most_common(1)[0]
        if size > len(names) / 2:
            findings.append(
                Finding("warning", "giant-document",
                        f"one document, “{name}”, holds {size:,} of {len(names):,} segments",
                        do="Is it one document, or a name for “no document”? Whole documents "
                        "(docs-whole) are too uneven here.")
            )  # fmt: skip
        if len(sizes) < FEW:
            findings.append(
                Finding("warning", "few-documents", f"only {len(sizes)} documents",
                        do="Scores hold for these documents; what others would get, so few cannot "
                        "tell. Sampling whole documents (docs-whole) is too coarse.")
            )  # fmt: skip
    runs = [name for name, _ in groupby(names)]
    apart = [name for name, count in Counter(runs).items() if count > 1]
    if apart and len(sizes) < len(names):
        findings.append(
            Finding("note", "scattered-documents",
                    f"the segments of {plural(len(apart), 'document')} do not lie together",
                    some(apart), "Raters want the order of the text, and docs-chunks takes rows "
                    "that follow each other: sort by document and place.")
        )  # fmt: skip
    return findings


# Columns that no command will use, and the option that would give each a role.


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
