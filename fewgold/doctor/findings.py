"""The doctor's report: findings with their sentences, what a file supports, commands to run."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from string import Formatter
from typing import Any, Literal, NamedTuple

from fewgold.errors import FewgoldError
from fewgold.io import TableError

Severity = Literal["error", "warning", "note"]
_ORDER = {"error": 0, "warning": 1, "note": 2}
_SHOWN = ("severity", "code", "what", "where", "do")


@dataclass(frozen=True)
class Finding:
    """Something the owner of a file should know.

    Parameters
    ----------
    severity
        ``error``: not usable until fixed; ``warning``: usable, but check it; ``note``: harmless.
    code
        A short name that stays the same from version to version, for scripts.
    what
        A sentence.
    where
        Rows, columns or the first ids.
    do
        What to do about it.
    data
        The data used in the sentences, by name.
    """

    severity: Severity
    code: str
    what: str
    where: str = ""
    do: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Support:
    """Whether something can be done with a file, and how or why not."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Command:
    """A command and its purpose; ``now`` is False if something else must happen first."""

    text: str
    why: str
    now: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """The doctor's complete report on a file.

    Parameters
    ----------
    path
        The file.
    kind
        A short name of what it is, such as ``table``, ``sheet``, ``campaign`` or ``unknown``.
    title
        The same in a phrase.
    facts
        Its content, in plain JSON values.
    findings
        What is wrong or worth knowing, the most severe first.
    supports
        What can be done with it, and what not.
    next_commands
        Suggested commands; run the first one next.
    """

    path: str
    kind: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    supports: tuple[Support, ...] = ()
    next_commands: tuple[Command, ...] = ()

    def __post_init__(self) -> None:
        ordered = sorted(self.findings, key=lambda f: _ORDER[f.severity])
        object.__setattr__(self, "findings", tuple(ordered))

    @property
    def exit_code(self) -> int:
        """0: fine, 1: usable with warnings, 3: not usable as it is."""
        found = {f.severity for f in self.findings}
        return 3 if "error" in found else 1 if "warning" in found else 0

    @property
    def codes(self) -> frozenset[str]:
        """The short names of all findings."""
        return frozenset(f.code for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis in plain values, fit for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "title": self.title,
            "exit_code": self.exit_code,
            "facts": dict(self.facts),
            "findings": [{n: getattr(f, n) for n in _SHOWN} for f in self.findings],
            "supports": [asdict(s) for s in self.supports],
            "next_commands": [asdict(c) for c in self.next_commands],
        }

    def summary(self) -> str:
        """A readable report, 80 columns wide."""
        return _render(self)

    def _brief(self) -> str:
        """The findings that matter and the next command, one line each."""
        lines = [f"{f.severity}: {f.what}" for f in self.findings if f.severity != "note"]
        lines += [f"next: {c.text}" for c in self.next_commands[:1]]
        return "\n".join(lines or ["fine"])


def some(items: Sequence[Any], count: int = 3) -> str:
    """The first few of a list, and how many there are beyond."""
    shown = ", ".join(str(i) for i in items[:count])
    return shown + (f" and {len(items) - count} more" if len(items) > count else "")


def plural(count: int, noun: str) -> str:
    """``1 row``, ``2 rows``, ``1,234 rows``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# A diagnosis as text: 80 columns, no colour needed ------------------------------------------------

_WIDTH = 80
_VERDICT = {
    0: "Fine: no problems found.",
    1: "Usable; read the warnings first.",
    3: "Not usable as it is.",
}


def _render(found: Diagnosis) -> str:
    parts = ["\n".join(_wrap(f"{found.path}: {found.title}", "", ""))]
    wide = max((len(str(name)) for name in found.facts), default=0)
    facts = [_wrap(_shown(v), f"  {name:<{wide}}  ") for name, v in found.facts.items()]
    wide = max((len(s.name) for s in found.supports), default=0)
    supports = [
        _wrap(s.detail, f"  {'yes' if s.ok else 'no '}  {s.name:<{wide}}  ") for s in found.supports
    ]
    findings = list(map(_finding, found.findings))
    for title, blocks in (("Holds", facts), ("Findings", findings), ("Supports", supports)):
        if blocks:
            parts.append("\n".join([title, *(line for block in blocks for line in block)]))
    parts.append(_VERDICT[found.exit_code])
    if found.next_commands:
        first, *more = found.next_commands
        parts.append(("Next\n" if first.now else "Later\n") + _command(first))
        for head, now in (("Then", False), ("Or", True)):
            if those := [_command(c) for c in more if c.now is now]:
                parts.append("\n".join([head, *those]))
    return "\n\n".join(parts)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        said: dict[str, list[str]] = {}
        for name, what in value.items():
            said.setdefault(str(what), []).append(str(name))
        if len(said) == len(value):
            return "; ".join(f"{k}: {v}" for k, v in value.items())
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in said.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _finding(found: Finding) -> list[str]:
    where = f" ({found.where})" if found.where else ""
    lines = _wrap(f"{found.what.removesuffix('.')}{where}.", f"  {found.severity:<7}  ")
    return lines + (_wrap(found.do, " " * 11, " " * 11) if found.do else [])


def _command(command: Command) -> str:
    lines = _wrap(f"# {command.why}", "  ", "  # ")
    return "\n".join([*lines, *_continued(command.text)])


def _continued(text: str) -> list[str]:
    """A command over several lines that pastes as one; quoted parts stay whole."""
    if len(text) <= _WIDTH - 2 or " -c " in text:
        return [f"  {text}"]
    first, *options = text.split(" --")
    lines = [f"  {first}"]
    for option in options:
        joined = f"{lines[-1]} --{option}"
        if len(joined) <= _WIDTH - 2:
            lines[-1] = joined
        else:
            lines.append(f"    --{option}")
    return [f"{line} \\" for line in lines[:-1]] + [lines[-1]]


def _wrap(text: str, lead: str, rest: str | None = None) -> list[str]:
    rest = " " * len(lead) if rest is None else rest
    return textwrap.wrap(
        text, _WIDTH, initial_indent=lead, subsequent_indent=rest, break_on_hyphens=False
    ) or [lead.rstrip()]


# The sentences, by code -----------------------------------------------------------------------
#
# The rest of the package reports findings as a code with data; `finding` turns them into sentences.
# A template may use the data by name; ``{n:row}`` is a number with its noun, such as ``3 rows``. If
# a code has more than one sentence, the key says which: ``lost-zeros/sheet``.


class _Said(NamedTuple):
    """The severity of a finding, and templates of its sentence and of what to do."""

    severity: Severity
    what: str
    do: str = ""


class _CountFormatter(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, int) and len(format_spec) > 1 and format_spec.isalpha():
            return plural(value, format_spec)
        return str(super().format_field(value, format_spec))


def finding(key: str, where: str = "", severity: Severity | None = None, **data: Any) -> Finding:
    """The finding for a code, in sentences; ``severity`` overrides the usual one."""
    text, made = TEXTS[key], _CountFormatter()
    return Finding(
        severity or text.severity, key.partition("/")[0], made.vformat(text.what, (), data), where,
        made.vformat(text.do, (), data), data,
    )  # fmt: skip


def unreadable(error: FewgoldError) -> Finding:
    """The commands' message about a file that they cannot read."""
    if isinstance(error, TableError):
        return Finding("error", error.code, error.what, error.where, error.do)
    return finding("unreadable", why=error.message_for("cli"))


_BEFORE_SPREADSHEET = "Use the original file, and import the column as text."

TEXTS = {
    # Files
    "missing": _Said("error", "there is no such file.", "Check the path."),
    "unreadable": _Said("error", "{why}"),
    "folder": _Said("error", "a folder, but not a campaign, an mt-metrics-eval tree, a set of "
        "evaluation logs or a dataset",
        "Name one file in it."),
    "log": _Said("note", "how the log was read"),
    "nested-fields": _Said("note", "cells hold objects or lists with fields of their own",
        "Every option that names a column accepts a path to them, such as {path}."),
    "options-unused": _Said("note", "only a plain table needs columns to be named",
        "Not used here."),
    # Ids, systems and documents
    "no-ids": _Said("error", "no column identifies the segments",
        "If a column identifies them, name it with --id; if two do together, name both, as in "
        "--id document,number. Otherwise add a column “id” (the command below numbers the rows). "
        "Rows of several systems also need --system."),
    "ids-elsewhere": _Said("note",
        "no column is called id, but “{name}” identifies each segment{each}",
        "The commands use it too; to be sure, name it: --id {quoted}."),
    "crossed-columns": _Said("warning", "rows are identified by “{id}” and “{system}” together",
        "If these are segments and systems, use {options}, as the commands below do. If "
        "“{system}” holds raters, call the column rater; otherwise name the segment column with "
        "--id."),
    "missing-ids": _Said("error", "{n:row} without an id in “{name}”",
        "Every row needs an id; remove rows that are empty."),
    "scientific-ids": _Said("error",
        "{n:id} in “{name}” in scientific notation: a spreadsheet has truncated their digits",
        _BEFORE_SPREADSHEET),
    "date-ids": _Said("warning",
        "{n:id} in “{name}” that look like dates: spreadsheets turn ids such as 3-4 into dates",
        _BEFORE_SPREADSHEET),
    "lost-zeros": _Said("warning", "some ids in “{name}” have leading zeros and {n:,} are "
        "shorter: a spreadsheet may have dropped theirs",
        "Compare with the original file; ids must match exactly."),
    "lost-zeros/sheet": _Said("error",
        "{n:id} lost leading zeros: a spreadsheet treated them as numbers",
        "Import the id column as text, or restore the zeros."),
    "leading-zeros": _Said("note", "the ids in “{name}” have leading zeros",
        "fewgold keeps them. A spreadsheet drops them unless the column is imported as text."),
    "decimal-ids": _Said("warning", "the ids in “{name}” are written as decimals",
        "Written by pandas after a gap? Make them whole numbers again."),
    "spaces-in-ids": _Said("warning", "{n:cell} of “{name}” with surrounding blanks",
        "Remove them: “a” and “a ” count as different names."),
    "duplicate-rows": _Said("error",
        "{head}: {n:row} duplicated entirely", "Remove the duplicates."),
    "ids-by-document": _Said("error", "{head}: they start again in each document",
        "Name both columns, as in --id document,segment, or combine them into one; the command "
        "below does this."),
    "duplicate-ids": _Said("error", "{head}",
        "Are there several systems or raters? Then a column must identify them (system, rater). "
        "Otherwise keep one row of each."),
    "duplicate-ids/sheet": _Said("error", "{n:id} in more than one row",
        "Keep one row of each; for several raters give each a column."),
    "not-crossed": _Said("note",
        "{outputs:,} of {pairs:,} pairs of segment and system: some systems lack some segments",
        "Systems are compared on the segments that they share."),
    "missing-systems": _Said("error", "{n:row} without a name in “{name}”",
        "Say which system made each output."),
    "many-systems": _Said("warning",
        "“{name}” has {n:,} different names in {rows:,} rows: these may be ids or texts rather "
        "than systems",
        "If so, rename the column, so that it is not taken for systems."),
    "tiny-pool": _Said("warning", "only {n:segment}",
        "With so few, rate them all: sampling saves almost nothing."),
    "two-documents": _Said("error", "{n:segment} in two documents at once",
        "If ids start again in each document, combine document and segment into ids; the "
        "command below does this."),
    "missing-documents": _Said("error", "{n:segment} without a document in “{name}”",
        "Every row needs one; give each isolated segment its own."),
    "single-segments": _Said("warning", "every document in “{name}” has only one segment",
        "Documents then carry no information: strategies by document work like plain random ones."),
    "one-document": _Said("warning", "there is only one document, “{name}”",
        "Strategies by document need several, and the score of one document says little about "
        "others."),
    "giant-document": _Said("warning", "one document, “{name}”, holds {n:,} of {segments:,} "
        "segments",
        "Is this one document, or a placeholder for “no document”? Their sizes are too uneven "
        "to sample whole documents (docs-whole)."),
    "few-documents": _Said("warning", "only {n} documents",
        "Scores hold for these documents, but so few say little about others. Sampling whole "
        "documents (docs-whole) is too coarse."),
    "scattered-documents": _Said("note", "the segments of {n:document} are not contiguous",
        "Raters need the order of the text, and docs-chunks takes consecutive rows: sort by "
        "document and position."),
    "no-role": _Said("note", "columns without a role",
        "They are not used, and raters do not see them, unless you name them."),
    # Cells and texts
    "decimal-comma": _Said("note", "column “{name}”: decimal commas, read as points"),
    "decimal-comma/cells": _Said("warning", "column “{name}”: {n:cell} with a decimal comma",
        "Write 3.5 instead of 3,5."),
    "thousands": _Said("warning", "column “{name}”: {n:cell} with commas between thousands",
        "Write 1234.5 instead of 1,234.5."),
    "percent": _Said("warning", "column “{name}”: {n:cell} with a percent sign",
        "Write 85 or 0.85 instead of 85%, consistently."),
    "spreadsheet-error": _Said("warning", "column “{name}”: {n:cell} with a spreadsheet error",
        "Fix the formula there."),
    "infinite": _Said("warning", "column “{name}”: {n:cell} infinite",
        "Find out what went wrong, and leave the cell empty."),
    "mixed-types": _Said("warning", "column “{name}”: {n:cell} not a number",
        "Every cell must hold a number or nothing."),
    "empty-columns": _Said("note", "{n:column} completely empty",
        "Nothing to do: they are not used."),
    "html-escaped": _Said("warning", "texts with escaped characters such as &amp;",
        "Unescape them (Python: html.unescape) before showing them to raters or scoring them."),
    "formula": _Said("note", "texts that a spreadsheet would treat as formulas",
        "fewgold's sheets put an apostrophe before them; your own exports should too."),
    "texts-elsewhere": _Said("note", "text columns whose names the commands do not know",
        "Raters see the columns named with --texts, otherwise only {alone}. Leave out what they "
        "must not see."),
    # Human scores
    "several-humans": _Said("note", "several columns look like human scores; “{name}” is used here",
        "Choose another with --human. None of them is a metric."),
    "human-words": _Said("warning", "“{name}” may be human ratings, but holds no numbers",
        "To use them, write numbers, such as 1 for good and 0 for bad."),
    "maybe-human": _Said("note",
        "{n:column} with few whole numbers and an unknown name, treated as a metric here",
        "If these are human scores, use --human {name}."),
    "constant-human": _Said("warning", "all scores in “{name}” are {score:g}",
        "Is it the right column? There is nothing to estimate from it."),
    "imbalance": _Said("warning", "{share:.1%} of the scores in “{name}” are 1: one of the two "
        "values is rare",
        "Small samples may contain none of it. Use intervals that are made for this (--limits "
        "0,1 with the bound star, or the model alpha)."),
    "off-scale": _Said("warning",
        "{n:score} in “{name}” outside {low:g} to {high:g}, the range of nearly all others",
        "Typing errors? Correct them: guaranteed bounds refuse scores beyond --limits."),
    # Metrics
    "leak": _Said("warning", "“{name}” {what} the human scores “{target}” (correlation {r:+.3f})",
        "It must not be used as a metric: results would look better than they are. The commands "
        "below leave it out with --metrics."),
    "constant-metric": _Said("warning", "{n:column} with the same number everywhere",
        "Did the metric fail? It is left out."),
    "metric-gaps": _Said("warning", "{n:metric} with many gaps, left out unless named",
        "Score every output, or remove rows without a score."),
    "metric-gaps/scores": _Said("warning", "{n:score} missing"),
    "filled-gaps": _Said("note", "{n:metric} with a few gaps",
        "They are filled with the mean of the metric, which is safe: metrics only reduce the "
        "error, and human ratings decide."),
    "not-metrics": _Said("note", "{n:column} may be human scores and so {are} not used as metrics",
        "If one is in fact automatic, name it with --metrics."),
    "copied-metric": _Said("note", "{n:pair} of identical metrics",
        "Harmless, but one of each pair is enough; check that each is what its name says."),
    "outliers": _Said("warning",
        "{n:value} in “{name}” extremely far from the others (half of them are in {low:.4g} to "
        "{high:.4g})",
        "A missing decimal point, or a code for “no score” such as -999? Correct it."),
    "orientation": _Said("warning",
        "{n:metric} with a direction that contradicts the name, judging by the human scores and "
        "the other metrics",
        "If so, give the direction: --orientation {signs}"),
    # Sheets and designs
    "design-damaged": _Said("error", "{why}", "Restore the original file."),
    "design-missing": _Said("error",
        "it looks like a sheet of fewgold select, but its design file is missing",
        "Restore it, or give its path: {tool} SHEET --design FILE. Without the design it is "
        "unknown how the segments were drawn, and no estimate is valid."),
    "sheet-missing": _Said("warning", "the sheet of this design file is missing",
        "Restore it: the human scores go there."),
    "column-missing": _Said("error", "the sheet no longer has a column “{name}”",
        "Rename it back, or name it with --id or --human."),
    "pool-missing": _Said("error", "{why}", "Without the pool there can be no estimate."),
    "pool-changed": _Said("error", "{why}"),
    "no-pool": _Said("error", "it cannot be used as a pool: {why}"),
    "foreign-ids": _Said("error", "{n:id} not in the sample",
        "Did a spreadsheet rewrite them, or does the sheet belong to another sample? Ratings of "
        "segments that were not drawn cannot enter the estimate."),
    "rows-missing": _Said("error", "{n:row} missing from the sheet",
        "Every drawn segment must be present: leaving some out biases the estimate."),
    "unrated": _Said("warning", "nobody has rated anything yet", "Fill in the score of every row."),
    "partly-rated/sheet": _Said("warning", "{n:row} of {total:,} not rated",
        "An estimate needs all of them: leaving some out biases it."),
    "partly-rated/from-top": _Said("warning", "{n:row} of {total:,} not rated",
        "They were rated from the top, so fewgold stop can say whether that is enough."),
    "partly-rated": _Said("warning",
        "{n:output} without a human score, and the table does not say how the others were chosen",
        "If they were chosen at random, results hold for all; if not, only for the rated ones. "
        "Samples of fewgold select come with a design that records this."),
    "labels": _Said("note", "{n:row} labelled, which look like a random subset of the table",
        "No test can prove that they are: they may depend on the labels themselves."),
    "labels-not-random": _Said("warning", "{n:row} labelled, which do not look like a random "
        "subset of the table",
        "If they were chosen by strata, as a whole or with known chances, use --chosen "
        "strata:COLUMN, whole:COLUMN or chances:COLUMN. Otherwise results hold for them only."),
    # Answers of annotation tools, and campaigns
    "rejected": _Said("warning", "{n:row} of {rows:,} cannot be read",
        "Fix them; they do not enter any result."),
    "rejected/campaign": _Said("warning", "{n:row} could not be read when answers were imported",
        "Fix them and import again."),
    "unrated/answers": _Said("warning", "nobody has answered yet",
        "Wait for them, or see the campaign's status for the effect of the gaps."),
    "partly-rated/answers": _Said("warning", "{n:row} without an answer",
        "Wait for them, or see the campaign's status for the effect of the gaps."),
    "unrated/campaign": _Said("note", "{n:,} of {drawn:,} drawn segments wait for a rating"),
    "partly-rated/campaign": _Said("note", "{n:,} of {drawn:,} drawn segments wait for a rating"),
    "no-ratings": _Said("error", "there is no rating in it"),
    "no-ratings/metric": _Said("warning", "it holds a metric, but no texts or ratings",
        "Join it as a column to the table of your segments, by system, document and position in "
        "the document."),
    "several-languages": _Said("note", "{n} language pairs in one file",
        "Keep the rows of one (column lp)."),
    "several-languages/tree": _Said("error", "{n} language pairs in one folder",
        "Add one of them to the path, such as {one}."),
    "repeat-ratings": _Said("warning", "{n:output} rated more than once by the same rater",
        "All are kept; choose which one counts before you estimate."),
    "foreign-ids/campaign": _Said("warning",
        "{n:answer} set aside, for segments that were never drawn or are unclear",
        "They enter no estimate; fewgold status lists them."),
    "database-damaged": _Said("error", "the database cannot be read: {why}",
        "Check that you may read its folder, or restore the last good copy."),
    "other-database": _Said("error", "a SQLite database, but not a fewgold campaign",
        "Export the table that you need as CSV."),
}  # fmt: skip
