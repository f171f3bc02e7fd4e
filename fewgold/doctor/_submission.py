"""Metric scores as handed in to the WMT metrics task: no human ratings, but a metric."""

from __future__ import annotations

import shlex

from fewgold.doctor._commands import out_name, python
from fewgold.doctor._model import Command, Diagnosis, Finding, Support, plural, some
from fewgold.errors import DataError
from fewgold.tables import NUMBER

_FIELDS = 8


def is_submission(text: str) -> bool:
    """METRIC, LP, TESTSET, REFSET, SYSTEM, DOC, SEGID, SCORE with tabs and without a header."""
    rows = [line.split("\t") for line in text[:20_000].splitlines()[:50]]
    rows = rows[:-1] if len(text) > 20_000 else rows
    return bool(rows) and all(
        len(r) == _FIELDS and r[6].strip().isdecimal() and "-" in r[1] and _score(r[7])
        for r in rows
    )


def _score(text: str) -> bool:
    return bool(NUMBER.fullmatch(text.strip())) or text.strip().lower() in ("nan", "none", "na")


def examine_submission(path: str) -> Diagnosis:
    """Say which metric, languages and systems, and how to make a table of it."""
    from fewgold.datasets import read_metric_submission

    title = "scores of a metric (WMT metrics task), without human ratings"
    try:
        table = read_metric_submission(path)
    except DataError as error:
        found = Finding("error", "unreadable", str(error))
        return Diagnosis(path, "metric-submission", title, findings=(found,))
    pairs = list(dict.fromkeys(table["lp"]))
    gaps = int(table["score"].isna().sum())
    facts = {
        "rows": len(table),
        "metric": some(list(dict.fromkeys(table["metric"]))),
        "languages": f"{len(pairs)}: {some(pairs, 6)}",
        "systems": int(table[["lp", "system"]].drop_duplicates().shape[0]),
        "documents": int(table[["lp", "doc"]].drop_duplicates().shape[0]),
    }
    findings = [
        Finding("warning", "no-ratings", "it holds a metric and no segments' texts or ratings",
                do="Join it as a column to the table of your segments, on system, document and "
                "place in the document.")
    ]  # fmt: skip
    if len(pairs) > 1:
        findings.append(
            Finding("note", "several-languages", f"{len(pairs)} language pairs in one file",
                    some(pairs, 6), "Keep the rows of one (column lp).")
        )  # fmt: skip
    if gaps:
        findings.append(Finding("warning", "metric-gaps", f"{plural(gaps, 'score')} missing"))
    out = out_name(path.removesuffix(".gz").removesuffix(".seg.score"), ".csv").strip("'")
    code = (
        "from fewgold.datasets import read_metric_submission as read; "
        f"t = read({path!r}); t.insert(0, 'id', t.doc + ':' + t.doc_seg_id.astype(str)); "
        f"t[t.lp == {pairs[0]!r}].rename(columns={{'score': "
        f"{table['metric'].iloc[0]!r}}}).to_csv({out!r}, index=False)"
    )
    supports = (
        Support("metric", True, "as a column of a table of segments"),
        Support("estimate", False, "no human ratings, and no ids of segments"),
    )
    commands = (
        Command(python(code), f"a plain table of {pairs[0]}, to join with your segments"),
        Command(f"fewgold doctor {shlex.quote(out)}", "then look again", now=False),
    )
    return Diagnosis(path, "metric-submission", title, facts, tuple(findings), supports, commands)
