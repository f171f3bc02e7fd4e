"""Exports of annotation tools and published ratings: their format and content."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import formats
from fewgold.doctor.advice import out_name, python
from fewgold.doctor.findings import (
    Command,
    Diagnosis,
    Finding,
    Severity,
    Support,
    finding,
    plural,
    some,
)
from fewgold.doctor.scores import is_binary, scale_of
from fewgold.doctor.sheet import FILE
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Format, Reading
from fewgold.io import is_empty
from fewgold.io.cells import NUMBER

if TYPE_CHECKING:
    import pandas as pd

# Fewest ratings for an informative simulation.
_REPLAYED = 50


def recognised(path: str) -> Format | None:
    """The annotation tool's or shared task's format that a file is in; None for plain tables."""
    found = formats.recognise(path)
    return None if found is None or found.name in formats.TABULAR else found


def examine_answers(path: str, form: Format) -> Diagnosis:
    """Read the answers and report what they can be used for."""
    title = f"ratings in the format of {form.title}"
    try:
        reading = form.read(path)
    except FewgoldError as error:
        found = finding("unreadable", why=error.message_for("cli"))
        return Diagnosis(path, form.name, title, findings=(found,))
    findings, facts = tuple(_findings(reading)), _facts(reading)
    if not reading.ratings and reading.blank:
        title = f"tasks for raters in the format of {form.title}"
    if not reading.ratings and not from_campaign(reading):
        return Diagnosis(path, form.name, title, facts, findings)
    supports, commands = _what_next(path, reading)
    return Diagnosis(path, form.name, title, facts, findings, supports, commands)


def from_campaign(reading: Reading) -> bool:
    """Whether the answers carry the keys of a campaign."""
    names = {*(r.segment for r in reading.ratings), *reading.blank}
    return bool(names) and all(formats.is_key(name) for name in names)


def has_keys(frame: pd.DataFrame) -> bool:
    """Whether a column of a table holds the keys of a campaign's segments."""
    for name in frame.columns:
        cells = [str(v).strip() for v in frame[name].tolist() if not is_empty(v)]
        if cells and formats.is_key(cells[0]) and all(map(formats.is_key, cells)):
            return True
    return False


def _facts(reading: Reading) -> dict[str, Any]:
    ratings = reading.ratings
    facts: dict[str, Any] = {"rows": reading.rows, "ratings": len(ratings)}
    facts["segments"] = len({r.segment for r in ratings})
    for role in ("system", "rater"):
        names = sorted({getattr(r, role) for r in ratings} - {""})
        if names:
            facts[f"{role}s"] = f"{len(names)}: {some(names, 4)}"
    scores = np.array([r.score for r in ratings])
    if scores.size and is_binary(scores):
        facts["scores"] = f"0 and 1, {scores.mean():.0%} ones"
    elif scores.size:
        scale = scale_of(scores, "mqm" if reading.format.startswith("mqm") else "")
        ends = "" if scale is None else f", scale {scale[0]:g} to {scale[1]:g}?"
        facts["scores"] = (
            f"{scores.min():.4g} to {scores.max():.4g}, mean {scores.mean():.4g}{ends}"
        )
    if reading.blank:
        facts["not answered"] = len(reading.blank)
    if reading.context:
        facts["context"] = f"{plural(reading.context, 'row')} not to be rated"
    if reading.notes:
        facts["read as"] = "; ".join(n.rstrip(".") for n in reading.notes)
    return facts


def _findings(reading: Reading) -> Iterator[Finding]:
    if reading.rejected:
        where = "; ".join(f"{r.place}: {r.why}" for r in reading.rejected[:2])
        grave: Severity = "warning" if reading.ratings or reading.blank else "error"
        lost = len(reading.rejected)
        yield finding("rejected", where, grave, n=lost, rows=reading.rows)
    if reading.blank:
        key = "partly-rated/answers" if reading.ratings else "unrated/answers"
        yield finding(key, some(reading.blank), n=len(reading.blank))
    if not reading.ratings and not reading.blank and not reading.rejected:
        yield finding("no-ratings")
    pairs = {(r.segment, r.system) for r in reading.ratings if r.system}
    segments, systems = {i for i, _ in pairs}, {s for _, s in pairs}
    if len(systems) > 1 and len(pairs) < len(segments) * len(systems):
        yield finding("not-crossed", outputs=len(pairs), pairs=len(segments) * len(systems))
    counts = Counter((r.segment, r.system, r.rater) for r in reading.ratings)
    if repeats := [k for k, count in counts.items() if count > 1]:
        shown = [" / ".join(p for p in k if p) for k in repeats]
        yield finding("repeat-ratings", some(shown), n=len(repeats))


def _what_next(path: str, reading: Reading) -> tuple[tuple[Support, ...], tuple[Command, ...]]:
    if from_campaign(reading):
        place = _campaign_near(path)
        text = f"fewgold import {shlex.quote(place or 'CAMPAIGN')} {shlex.quote(path)}"
        why = "store the answers in their campaign"
        why += "" if place else "; replace CAMPAIGN with its folder or file"
        ready = bool(reading.ratings)
        why = why if ready else f"when raters have answered: {why}"
        said = "the rows carry the keys of a campaign, " + (
            "so the answers can be matched to segments" if ready else "but nobody has answered yet"
        )
        return (
            (Support("import", ready, said),),
            (Command(text, why, now=ready and place is not None),),
        )
    frame = reading.frame()
    systems = frame["system"].nunique()
    raters = bool((frame["rater"] != "").all())
    file = shlex.quote(path)
    supports = [Support("table", True, "every command that takes a table also takes this file")]
    problem = _comparable(frame, systems, raters)
    said = problem or f"{systems} systems: fewgold compare"
    supports.append(Support("comparison", problem is None, said))
    supports.append(
        Support("estimate", False, "needs the pool and the sampling design, which are missing")
    )  # fmt: skip
    commands = []
    if problem is None:
        lower = " --lower-is-better" if reading.format.startswith("mqm") else ""
        commands.append(Command(f"fewgold compare {file}{lower}", "rank the systems"))
    if len(frame) >= _REPLAYED:
        text = f"fewgold simulate {file} --strategies random+mean --budgets 10%,20% --draws 50"
        commands.append(
            Command(text, "see how large the errors of samples of these ratings would be")
        )
    return tuple(supports), tuple(commands)


def _comparable(frame: Any, systems: int, raters: bool) -> str | None:
    """Why the systems cannot be compared, or None if they can."""
    from fewgold.comparison.table import read

    if systems < 2:
        return "one system only" if systems else "the file does not identify systems"
    try:
        table = read(frame, human="score", system="system", id="segment",
                     rater="rater" if raters else None)  # fmt: skip
    except FewgoldError as error:
        return error.message_for("cli")
    both = np.isfinite(table.human).sum(0)
    return None if (both > 1).any() else "no segment is rated for two systems"


def _campaign_near(path: str) -> str | None:
    """The only campaign next to the file or in the current folder."""
    found: list[Path] = []
    for folder in dict.fromkeys([Path(path).resolve().parent, Path.cwd().resolve()]):
        found += [p for p in sorted(folder.glob("*.fewgold")) if p.name != FILE]
        found += [p.parent for p in sorted(folder.glob(f"*/{FILE}"))]
        found += [folder] if (folder / FILE).is_file() else []
    if len(found) != 1:
        return None
    return os.path.relpath(found[0]) if found[0].is_relative_to(Path.cwd()) else str(found[0])


# Metric scores submitted to the WMT metrics task: no human ratings, only a metric -----------------

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
    """Report the metric, languages and systems, and how to make a table of them."""
    from fewgold.datasets import read_metric_submission

    title = "scores of a metric (WMT metrics task), without human ratings"
    try:
        table = read_metric_submission(path)
    except DataError as error:
        found = finding("unreadable", why=error.message_for("cli"))
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
    findings = [finding("no-ratings/metric")]
    if len(pairs) > 1:
        findings.append(finding("several-languages", some(pairs, 6), n=len(pairs)))
    if gaps:
        findings.append(finding("metric-gaps/scores", n=gaps))
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
