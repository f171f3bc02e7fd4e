"""A study on disk: a sheet of ``fewgold select`` with its design file, or a campaign."""

from __future__ import annotations

import re
import shlex
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import io, shared_sheets, sheets
from fewgold.doctor.advice import out_name, python
from fewgold.doctor.findings import Command, Diagnosis, Finding, Support, finding, some, unreadable
from fewgold.doctor.scores import cell_findings, scale_of, to_points
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import alias
from fewgold.io import Column, column_of, neutral
from fewgold.io.columns import texts_of

if TYPE_CHECKING:
    import pandas as pd


def examine_design(path: str) -> Diagnosis:
    """The design file alone: what was drawn, and where the sheet should be."""
    sheet = path.removesuffix(".design.json")
    title = "the design file of a sheet of fewgold select"
    try:
        record = sheets.read_record(path)
        facts = _facts(record)
    except (FewgoldError, KeyError, TypeError, AttributeError) as error:
        found = finding("design-damaged", why=_sentence(error))
        return Diagnosis(path, "design", title, findings=(found,))
    if Path(sheet).is_file() and sheet != path:
        command = Command(f"fewgold doctor {shlex.quote(sheet)}", "check its sheet")
        return Diagnosis(path, "design", title, facts, next_commands=(command,))
    found = finding("sheet-missing", f"expected {Path(sheet).name}")
    return Diagnosis(path, "design", title, facts, (found,))


def examine_sheet(path: str) -> Diagnosis:
    """Check a sheet and its design file: is everything present, and is every row rated?"""
    side = sheets.design_path(path)
    title = "a sheet of fewgold select with its design"
    try:
        record = sheets.read_record(side)
        facts = _facts(record)
        blind = "systems" in record
        scores = [c.name for c in sheets.criteria_of(record)] or [record["score_column"]]
        drawn = [s["id"] for s in record["sample"]["segments"]]
        aliases = {alias(record["pool"]["fingerprint"], str(id)): id for id in drawn}
        expected = [r["id"] for r in record["systems"]["rows"]] if blind else drawn
    except (FewgoldError, KeyError, TypeError, AttributeError) as error:
        found = finding("design-damaged", why=_sentence(error))
        return Diagnosis(path, "sheet", title, findings=(found,))
    findings = list(_pool_findings(record, blind))
    try:
        frame = io.read_table(path).rename(columns=str)
    except DataError as error:
        findings.append(unreadable(error))
        return Diagnosis(path, "sheet", title, facts, tuple(findings))
    lost = [name for name in (sheets.ID, *scores) if name not in frame.columns]
    if lost:
        where = f"it has {some(list(frame.columns), 8)}"
        findings.append(finding("column-missing", where, name=lost[0]))
        return Diagnosis(path, "sheet", title, facts, tuple(findings))
    ids = [aliases.get(i, i) for i in texts_of(frame[sheets.ID])]
    findings += _id_findings(ids, expected)
    columns = [column_of(frame[name], name) for name in scores]
    column = columns[0]
    findings += cell_findings(columns, frame, scores)
    answered = [all(known) for known in zip(*map(_answered, columns), strict=True)]
    rated = [i for i, known in zip(ids, answered, strict=True) if known]
    missing = len(set(expected)) - len({i for i in rated if i in set(expected)})
    facts["rated"] = f"{len(expected) - missing:,} of {len(expected):,} rows"
    in_order = record["sample"]["kind"] == "simple" and not blind and ids == drawn
    if missing == len(expected):
        findings.append(finding("unrated"))
    elif missing:
        from_top = in_order and answered == sorted(answered, reverse=True)
        key = "partly-rated/from-top" if from_top else "partly-rated/sheet"
        findings.append(finding(key, n=missing, total=len(expected)))
    known = column.values[column.finite]
    # Several criteria have their own scales, if they were given to select --criteria.
    scale = None if column.odd or len(scores) > 1 else scale_of(known)
    if scale is not None:
        facts["scale"] = f"{scale[0]:g} to {scale[1]:g}?"
    wrong = any(f.severity == "error" for f in findings)
    supports, made = _what_next(path, record, blind, missing, len(expected), in_order, scale, wrong)
    made = _points(path, columns, frame, blind) or made
    if blind:
        title = "a blind sheet of several systems (select --shared) with its design"
    kind = "shared-sheet" if blind else "sheet"
    return Diagnosis(path, kind, title, facts, tuple(findings), supports, made)


def _answered(column: Column) -> list[bool]:
    """Which rows have an answer, even an unreadable one, which is an error rather than a gap."""
    if not column.numeric:
        return [bool(known) for known in column.finite]
    return [not bare for bare in column.blank]


def _points(
    path: str, columns: list[Column], frame: pd.DataFrame, blind: bool
) -> tuple[Command, ...]:
    """Commands that write decimal points in a copy of the sheet; the design stays in place."""
    out = out_name(path, "-points.csv")
    (name,) = shlex.split(out)
    code = to_points(path, columns, frame, name)
    if code is None:
        return ()
    tool = "compare" if blind else "estimate"
    side = shlex.quote(str(sheets.design_path(path)))
    return (
        Command(python(code), "write decimal points, in a copy of the sheet"),
        Command(f"fewgold {tool} {out} --design {side}", "then the result", now=False),
    )


def _sentence(error: Exception) -> str:
    if isinstance(error, FewgoldError):
        return error.message_for("cli")
    return f"the design file is damaged ({type(error).__name__}: {error})"


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    pool = record["pool"]
    facts: dict[str, Any] = {
        "strategy": record["strategy"],
        "seed": record["seed"],
        "drawn": f"{record['n']:,} of {pool['size']:,} segments",
        "pool": "in the design file" if "table" in pool else pool["path"] or "from standard input",
    }
    if record.get("given"):
        facts["before"] = f"{len(record['given']['segments']):,} ratings of an earlier wave"
    if "systems" in record:
        facts["systems"] = len({r["system"] for r in record["systems"]["rows"]})
    return facts


def _pool_findings(record: sheets.Record, blind: bool) -> Iterator[Finding]:
    """Whether the pool is still in place and unchanged."""
    try:
        table = sheets.pool_table(record)
    except FewgoldError as error:
        yield finding("pool-missing", why=error.message_for("cli"))
        return
    try:
        with sheets.intact(record.path):
            columns = dict(record["pool"]["columns"])
            build = shared_sheets.build_joint_pool if blind else sheets.build_pool
            pool = sheets.with_added(build(table, columns), record["pool"].get("added"))
            sheets.load_sample(record, pool)
    except FewgoldError as error:
        yield finding("pool-changed", why=error.message_for("cli"))


def _id_findings(ids: list[str], expected: list[str]) -> Iterator[Finding]:
    known = {*expected, *(neutral(i) for i in expected)}
    foreign = [i for i in ids if i not in known]
    bare = {re.sub(r"^0+(?=.)", "", i): i for i in expected}
    if foreign and all(i in bare for i in foreign):
        where = some([f"{i} was {bare[i]}" for i in foreign])
        yield finding("lost-zeros/sheet", where, n=len(foreign))
    elif foreign:
        yield finding("foreign-ids", some(foreign), n=len(foreign))
    if twice := [i for i, count in Counter(ids).items() if count > 1]:
        yield finding("duplicate-ids/sheet", some(twice), n=len(twice))
    gone = [i for i in expected if i not in set(ids) and neutral(i) not in set(ids)]
    if gone and not foreign:
        yield finding("rows-missing", some(gone), n=len(gone))


def _what_next(
    path: str,
    record: dict[str, Any],
    blind: bool,
    missing: int,
    total: int,
    in_order: bool,
    scale: tuple[float, float, str] | None,
    wrong: bool,
) -> tuple[tuple[Support, ...], tuple[Command, ...]]:
    name = shlex.quote(path)
    tool = "compare" if blind else "estimate"
    ready = not missing and not wrong
    why = "every row is rated" if ready else "once every row has a score and no error is left"
    supports = [Support(tool, ready, why)]
    commands = [Command(f"fewgold {tool} {name}", f"{why}: the result", now=ready)]
    if not blind:
        guaranteed = record["strategy"] == "random+mean"
        ends = f"--limits {scale[0]:g},{scale[1]:g}" if scale else "--limits LOW,HIGH"
        said = f"with {ends}" if guaranteed else "only for samples of --strategy random+mean"
        supports.append(Support("guaranteed bounds", guaranteed, said))
        supports.append(
            Support("stopping", in_order, "rated from the top" if in_order else
                    "only for sheets of select --strategy random --in-order")
        )  # fmt: skip
        if guaranteed and ready and scale:
            commands.append(
                Command(f"fewgold estimate {name} --bound star {ends}", "a guaranteed interval")
            )
        if 0 < missing < total and not wrong:
            text = f"fewgold estimate {name} --gaps at-random"
            commands.append(Command(text, "only if the others are missing at random"))
        if in_order and 0 < missing < total and scale and not wrong:
            width = (scale[1] - scale[0]) / 20
            text = f"fewgold stop {name} --tolerance {width:g} {ends}"
            commands.insert(0, Command(text, "whether the ratings so far are enough"))
        if ready:
            sheet = shlex.quote(re.sub(r"(\.[ct]sv)$", r"-more\1", path))
            stored = record["pool"]["path"]
            if stored and record["pool"]["size"] - total >= 20 and not record.get("given"):
                pool = shlex.quote(str(Path(sheets.design_path(path)).parent / stored))
                text = f"fewgold select {pool} --given {name} --budget 20 --out {sheet}"
                commands.append(Command(text, "20 further segments, if that is not precise enough"))
            half = 0.1 if scale is None else (scale[1] - scale[0]) / 40
            text = f"fewgold plan --half-width {half:g} --pilot {name}"
            commands.append(Command(text, "how many ratings a given precision needs"))
    return tuple(supports), tuple(commands)


# A campaign: a SQLite file, or its folder ---------------------------------------------------------

#: "fewg", which every campaign's file carries.
_APPLICATION = 0x66657767
FILE = "campaign.fewgold"
_COUNTS = {
    "segments": "SELECT COUNT(*) FROM segments",
    "metrics": "SELECT COUNT(*) FROM metrics",
    "waves": "SELECT COUNT(*) FROM waves",
    "drawn": "SELECT COUNT(*) FROM drawn",
    "rated": "SELECT COUNT(DISTINCT segment) FROM ratings",
    "ratings": "SELECT COUNT(*) FROM ratings",
    "raters": "SELECT COUNT(DISTINCT rater) FROM ratings",
    "set aside": "SELECT COUNT(*) FROM set_aside",
    "rejected": "SELECT COUNT(*) FROM rejected",
}


def examine_campaign(path: str, file: Path) -> Diagnosis:
    """Report what a campaign holds so far, and what comes next."""
    title = "a fewgold campaign"
    try:
        facts = _read_campaign(file)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter is raised for damaged names
        found = finding("database-damaged", why=error)
        return Diagnosis(path, "campaign", title, findings=(found,))
    if facts is None:
        found = finding("other-database")
        return Diagnosis(path, "database", "a SQLite database", findings=(found,))
    findings = []
    if facts["set aside"]:
        findings.append(finding("foreign-ids/campaign", n=facts["set aside"]))
    if facts["rejected"]:
        findings.append(finding("rejected/campaign", n=facts["rejected"]))
    open_rows = facts["drawn"] - facts["rated"]
    if facts["drawn"] and open_rows:
        key = "partly-rated/campaign" if facts["rated"] else "unrated/campaign"
        findings.append(finding(key, n=open_rows, drawn=facts["drawn"]))
    supports, commands = _next_of_campaign(shlex.quote(path), facts, open_rows)
    return Diagnosis(path, "campaign", title, facts, tuple(findings), supports, commands)


def _read_campaign(file: Path) -> dict[str, Any] | None:
    """Counts of a campaign's content; None for an unrelated database."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        if mark != _APPLICATION:
            return None
        (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        return {name: database.execute(sql).fetchone()[0] for name, sql in _COUNTS.items()}


def _next_of_campaign(
    name: str, facts: dict[str, Any], open_rows: int
) -> tuple[tuple[Support, ...], tuple[Command, ...]]:
    status = Command(f"fewgold status {name}", "where the campaign stands")
    select = Command(f"fewgold select {name} --budget 50", "draw segments for people to rate")
    estimate = Command(f"fewgold estimate {name}", "the score so far and how sure it is")
    ready = bool(facts["rated"]) and not open_rows
    why = "every drawn segment is rated" if ready else (
        f"{open_rows:,} drawn segments wait for a rating" if facts["drawn"] else "nothing drawn yet"
    )  # fmt: skip
    supports = (Support("estimate", ready, why), Support("further waves", True, "select --more"))
    if not facts["drawn"]:
        return supports, (select, status)
    tasks = f"{Path(shlex.split(name)[0]).stem}-tasks.csv"
    export = Command(f"fewgold export {name} --out {shlex.quote(tasks)}", "tasks for the raters")
    if ready:
        return supports, (estimate, status)
    return supports, ((status, export) if facts["rated"] else (export, status))
