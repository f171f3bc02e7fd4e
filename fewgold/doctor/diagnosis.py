"""Find out what a file is, and examine it: tables here, everything else in its own module."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold import formats, io, sheets
from fewgold.doctor.advice import able, commands, label_findings, out_name
from fewgold.doctor.answers import (
    examine_answers,
    examine_submission,
    has_keys,
    is_submission,
    recognised,
)
from fewgold.doctor.findings import (
    Command,
    Diagnosis,
    Finding,
    Severity,
    finding,
    some,
    unreadable,
)
from fewgold.doctor.identity import (
    document_findings,
    id_findings,
    keys,
    roleless,
    segments_of,
    system_findings,
)
from fewgold.doctor.scores import (
    cell_findings,
    describe,
    human_findings,
    leaks,
    metric_findings,
    orientations,
    text_findings,
)
from fewgold.doctor.seen import Seen, see, spoken
from fewgold.doctor.sheet import FILE, examine_campaign, examine_design, examine_sheet
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats import logs
from fewgold.formats.logs import LogFormat
from fewgold.io import TableFile
from fewgold.io.columns import TEXT_NAMES, joined_id, nested_paths

_SQLITE = b"SQLite format 3\x00"


def examine(
    path: str | Path,
    human: str | Sequence[str] | None = None,
    *,
    id: str | None = None,
    document: str | None = None,
    system: str | None = None,
    texts: str | Sequence[str] | None = None,
    metrics: str | Sequence[str] | None = None,
    source: str | None = None,
) -> Diagnosis:
    """Report what a file is, what it holds and supports, what is wrong, and what to run next.

    Parameters
    ----------
    path
        A table, a sheet of ``fewgold select`` or its design file, a campaign, the export of an
        annotation tool, or a folder.
    human
        The column of human scores, if its name does not show it; several mean one per rater.
    id, document, system, texts, metrics
        Columns of a table, if names and cells do not show them. The suggested commands name them
        too. ``metrics="none"`` for no metric.
    source
        The evaluation log's tool, if its content does not show it.

    Returns
    -------
    Diagnosis
        Its ``exit_code`` is 0 for a file that is fine, 1 for one with warnings and 3 for one that
        cannot be used as it is. Problems of the file are findings, never exceptions.

    Raises
    ------
    UnknownNameError
        If the file has no such column.
    DataError
        If a column is given two roles.

    Examples
    --------
    >>> import tempfile
    >>> from fewgold.datasets import demo_frame
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     demo_frame().to_csv(f"{folder}/demo.csv", index=False)
    ...     found = examine(f"{folder}/demo.csv")
    >>> found.kind, found.exit_code
    ('table', 0)
    """
    given = {
        "id": id, "document": document, "system": system, "texts": _list(texts),
        "metrics": _list(metrics),
    }  # fmt: skip
    log = None if source is None else logs.get(source)
    found = _examine(str(path), _list(human) or [], given, log)
    unused = [r for r, v in {"human": human, **given}.items() if v is not None]
    if not unused or found.kind in ("table", "log", "unknown"):
        return found
    note = finding("options-unused", some([f"--{role}" for role in unused], 6))
    return replace(found, findings=(*found.findings, note))


def _list(names: str | Sequence[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def _examine(
    name: str, human: list[str], given: Mapping[str, Any], log: LogFormat | None
) -> Diagnosis:
    place = Path(name)
    if formats.is_tree_of_pair(place):
        return examine_tree(name, formats.get("mt-metrics-eval"), human, given)
    if not place.exists():
        return _unknown(name, "nothing", finding("missing"))
    if log is not None:
        return examine_log(name, log, human, given, named=True)
    if place.is_dir():
        return _folder(name, place, human, given)
    with place.open("rb") as file:
        if file.read(16) == _SQLITE:
            return examine_campaign(name, place)
        file.seek(0)
        design = b'"fewgold.sample/' in file.read(2000)
    if design or name.lower().endswith(".design.json"):
        return examine_design(name)
    if sheets.design_path(name).is_file():
        return examine_sheet(name)
    try:
        if is_submission(_text(place)):
            return examine_submission(name)
        if (form := recognised(name)) is not None:
            return examine_answers(name, form)
        if (log := logs.recognise(name)) is not None:
            return examine_log(name, log, human, given)
        return examine_table(io.read_file(name), human, given)
    except io.TableError as error:
        return _unknown(name, "a file that cannot be read", unreadable(error))


def _text(place: Path) -> str:
    """The beginning of a text file; empty for other files."""
    probe = formats.Probe(place)
    return "" if b"\x00" in probe.head[:64] else probe.text


def _folder(name: str, place: Path, human: list[str], given: Mapping[str, Any]) -> Diagnosis:
    if (place / FILE).is_file():
        return examine_campaign(name, place / FILE)
    form = recognised(name)
    if form is not None:
        return examine_tree(name, form, human, given)
    if (log := logs.recognise(name)) is not None:
        return examine_log(name, log, human, given)
    if io.is_dataset(name):
        try:
            return examine_table(io.read_file(name), human, given)
        except io.TableError as error:
            return _unknown(name, "a dataset that cannot be read", unreadable(error))
    inside = sorted(p.name for p in place.iterdir())
    where = f"it holds {some(inside, 6)}" if inside else "it is empty"
    return _unknown(name, "a folder", finding("folder", where))


def _unknown(name: str, title: str, *findings: Finding) -> Diagnosis:
    return Diagnosis(name, "unknown", title, findings=findings)


#: Severity of the table reader's remarks.
_REMARKS: dict[str, Severity] = {
    "byte-order-mark": "note", "encoding": "warning", "unnamed-column": "note",
    "spaces-in-names": "note", "empty-rows": "note", "sheets": "note",
}  # fmt: skip
_SIGNS = {
    1: "larger is better",
    -1: "larger is worse",
    0: "covariate",
    None: "direction unknown",
}


def examine_table(
    file: TableFile, human: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> Diagnosis:
    """Examine a table as the commands read it, and its columns."""
    path, title = file.path, f"a table ({file.title})"
    findings = [
        Finding(_REMARKS[r.code], r.code, r.what, r.where, r.do)
        for r in file.remarks
        if r.code in _REMARKS
    ]
    try:
        frame = file.frame()
    except DataError as error:
        findings.append(unreadable(error))
        return Diagnosis(path, "table", title, {"columns": list(file.header)}, tuple(findings))
    told = [*human, *spoken(given or {})]
    frame = _with(frame, told, (given or {}).get("id"))
    if inner := [] if told else nested_paths(frame):
        findings.append(finding("nested-fields", some(inner, 8), path=inner[0]))
    if not told and has_keys(frame) and (form := formats.recognise(path)) is not None:
        return examine_answers(path, form)
    return _diagnose(path, title, see(path, frame, human, given), findings)


def _with(frame: Any, told: Sequence[str], id: str | None) -> Any:
    """The table with the columns named by the user; an error if one is missing."""
    frame = io.with_paths(joined_id(frame, id), told)
    for name in told:
        if name not in frame.columns:
            raise UnknownNameError("column", name, list(frame.columns))
        if told.count(name) > 1:
            raise DataError(f"the column {name!r} is given two roles. Give it only one.")
    return frame


def examine_tree(
    path: str, form: formats.Format, human: Sequence[str], given: Mapping[str, Any]
) -> Diagnosis:
    """Examine a folder of answers, or of outputs if it has no human scores or several kinds."""
    try:
        form.read(path)
    except FewgoldError:
        if form.name == "mt-metrics-eval" and len(pairs := formats.Tree.at(path).pairs) > 1:
            title = f"test sets in the format of {form.title}"
            facts = {"languages": f"{len(pairs)}: {some(pairs, 12)}"}
            one = f"{path.rstrip('/')}/{pairs[0]}"
            told = finding("several-languages/tree", some(pairs, 12), n=len(pairs), one=one)
            more = Command(f"fewgold doctor {shlex.quote(one)}", "look at one of them")
            return Diagnosis(path, "tree", title, facts, (told,), (), (more,))
        with suppress(FewgoldError):
            found = formats.rated_table(path)
            assert found is not None
            frame = _with(found.frame, [*human, *spoken(given)], given.get("id"))
            title = f"test set in the format of {form.title}"
            return replace(_diagnose(path, title, see(path, frame, human, given), []), kind="tree")
    return examine_answers(path, form)


def examine_log(
    path: str,
    form: LogFormat,
    human: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    *,
    named: bool = False,
) -> Diagnosis:
    """Examine an evaluation log as the commands read it: as a table of outputs."""
    title = f"an evaluation log of {form.title}"
    try:
        log = logs.read(path, form.name)
    except DataError as error:
        return Diagnosis(path, "log", title, findings=(unreadable(error),))
    named_id = (given or {}).get("id")
    frame = _with(log.frame(), [*human, *spoken(given or {})], named_id)
    said = [finding("log", text) for text in log.sentences[1:]]
    if named and logs.recognise(path) is not form:
        out = out_name(path, "-table.csv")
        text = f"fewgold export {shlex.quote(path)} --from {form.name} --out {out}"
        why = (
            "its content does not show which tool wrote it: convert it to a table, and continue "
            "with that"
        )
        return Diagnosis(path, "log", title, {"outputs": len(frame)}, tuple(said),
                         (), (Command(text, why),))  # fmt: skip
    found = _diagnose(path, title, see(path, frame, human, given), said)
    return replace(found, kind="log")


def _diagnose(path: str, title: str, seen: Seen, findings: list[Finding]) -> Diagnosis:
    given_away, leaking = leaks(seen)
    seen = replace(seen, leaks=given_away)
    columns = list(seen.cells.values())
    missing = _sheet_without_design(seen)
    ids = list(id_findings(seen))
    bare = [c.name for c in columns if c.blank.all()]
    no_ids = any(f.severity == "error" for f in ids)
    findings += [
        *ids, *system_findings(seen),
        *([] if missing or no_ids else document_findings(seen)),
        *cell_findings(columns, seen.table, seen.human),
        *([finding("empty-columns", some(bare), n=len(bare))] if bare else []),
        *text_findings(seen.table, _texts(seen)), *_elsewhere(seen), *roleless(seen),
        *human_findings(seen),
        *leaking, *metric_findings(seen), *missing,
    ]  # fmt: skip
    fit = able(seen)
    graver = any(f.severity == "error" for f in findings)
    findings += [] if graver else fit.findings
    if fit.rated and fit.unrated and not missing:
        about = label_findings(seen, fit)
        findings += [finding("partly-rated", n=fit.unrated), *about]
        if about:  # existing labels need no ids; only drawing samples does
            findings = [
                replace(f, severity="warning") if f.code == "no-ids" else f for f in findings
            ]
    if missing:
        return Diagnosis(
            path, "sheet", "a sheet of fewgold select without its design file",
            facts=_facts(seen), findings=tuple(findings),
        )  # fmt: skip
    return Diagnosis(
        path, "table", title, facts=_facts(seen), findings=tuple(findings),
        supports=fit.supports, next_commands=tuple(commands(seen, fit, findings)),
    )  # fmt: skip


def _elsewhere(seen: Seen) -> list[Finding]:
    """Texts that the commands would not show by default."""
    if seen.texts_named or not seen.texts or "texts" in seen.told:
        return []
    known = [t for t in seen.texts if io.plain(t) in TEXT_NAMES]
    strange = [t for t in seen.texts if t not in known]
    alone = f"“{known[0]}”" if len(known) == 1 else "the others" if known else "ids"
    return [
        finding("texts-elsewhere", some(strange, 6), "warning" if known else "note", alone=alone)
    ]


def _texts(seen: Seen) -> list[str]:
    """Text columns: those shown to raters, and others."""
    return [
        n
        for n, c in seen.cells.items()
        if not c.numeric and not c.blank.all() and n not in (seen.document, seen.system, seen.rater)
    ]


def _sheet_without_design(seen: Seen) -> list[Finding]:
    """True for a sheet: id first, score last, no metric and no system."""
    names = list(seen.table.columns)
    if names[0] != "id" or names[-1] != "score" or seen.metrics or seen.system or len(names) < 2:
        return []
    blind = "segment" in names and all(re.fullmatch(r"r\d+", i) for i in seen.labels("id"))
    if not (blind or seen.cells["score"].gaps or len(names) > 2):
        return []
    if seen.left_out:
        return []
    tool = "fewgold compare" if blind else "fewgold estimate"
    where = f"expected {Path(seen.path).name}.design.json"
    return [finding("design-missing", where, tool=tool)]


def _facts(seen: Seen) -> dict[str, Any]:
    facts: dict[str, Any] = {"rows": seen.rows}
    if seen.id is not None:
        extra = keys(seen)
        of = "" if not extra else f", one row per {' and '.join(['segment', *extra])}"
        facts["segments"] = f"{len({i for i, _ in segments_of(seen)}):,} (column {seen.id}{of})"
    if seen.document is not None:
        facts["documents"] = f"{seen.count(seen.document):,} (column {seen.document})"
    for role, name in (("system", seen.system), ("rater", seen.rater)):
        labels = [v for v in dict.fromkeys(seen.labels(name)) if v] if name is not None else []
        if labels:
            shown = ", ".join(labels[:4]) + (", …" if len(labels) > 4 else "")
            facts[f"{role}s"] = f"{len(labels):,} (column {name}): {shown}"
    none = "none (no column looks like it; name one with --human)"
    facts["human scores"] = {h: describe(seen, h) for h in seen.humans} or none
    signs = orientations(seen)
    facts["metrics"] = {m: _SIGNS[signs[m]] for m in seen.usable_metrics} or "none"
    if seen.left_out:
        facts["not metrics"] = {name: str(why) for name, why in seen.left_out.items()}
    if seen.texts:
        facts["texts"] = list(seen.texts)
    if seen.cost:
        facts["cost"] = seen.cost
    return facts
