"""A campaign: a SQLite file, or the folder that it lies in."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from fewgold.doctor.findings import Command, Diagnosis, Support
from fewgold.doctor.texts import finding

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
    """What a campaign holds so far, and what comes next."""
    title = "a fewgold campaign"
    try:
        facts = _read(file)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter quotes damaged names
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
    supports, commands = _what_next(shlex.quote(path), facts, open_rows)
    return Diagnosis(path, "campaign", title, facts, tuple(findings), supports, commands)


def _read(file: Path) -> dict[str, Any] | None:
    """Counts of what the campaign holds; None for a database of somebody else."""
    with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as database:
        (mark,) = database.execute("PRAGMA application_id").fetchone()
        if mark != _APPLICATION:
            return None
        (state,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        return {name: database.execute(sql).fetchone()[0] for name, sql in _COUNTS.items()}


def _what_next(
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
