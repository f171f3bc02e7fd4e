"""Documents: how many, how long, and whether their segments lie together."""

from __future__ import annotations

from collections import Counter
from itertools import groupby

from fewgold.doctor._model import Finding, plural, some
from fewgold.doctor._seen import Seen

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
