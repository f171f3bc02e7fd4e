"""Find out what a file is, and let the right part of the doctor look at it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold import files
from fewgold.doctor._answers import examine_answers, recognised
from fewgold.doctor._campaign import FILE, examine_campaign
from fewgold.doctor._model import Diagnosis, Finding, some
from fewgold.doctor._raw import Raw, look
from fewgold.doctor._sheet import examine_design, examine_sheet
from fewgold.doctor._submission import examine_submission, is_submission
from fewgold.doctor._table import ending, examine_table

_EXPECTED = (
    "Expected a table (.csv, .tsv, .jsonl, .parquet, .xlsx), a sheet of fewgold select, a "
    "campaign, or the export of an annotation tool."
)


def examine(
    path: str | Path,
    human: str | Sequence[str] | None = None,
    *,
    id: str | None = None,
    document: str | None = None,
    system: str | None = None,
    texts: str | Sequence[str] | None = None,
    metrics: str | Sequence[str] | None = None,
) -> Diagnosis:
    """Say what a file is, what it holds and supports, what is wrong, and what to run next.

    Parameters
    ----------
    path
        A table, a sheet of ``fewgold select`` or its design file, a campaign, the export of an
        annotation tool, or a folder.
    human
        The column of human scores, if its name does not tell; several are a rater each.
    id, document, system, texts, metrics
        Columns of a table, where names and cells do not tell. The commands that are proposed
        name them too. ``metrics="none"`` for no metric.

    Returns
    -------
    Diagnosis
        Its ``exit_code`` is 0 for a file that is fine, 1 for one with warnings and 3 for one that
        cannot be used as it is. Whatever the file holds is a finding, never an exception.

    Raises
    ------
    UnknownNameError
        If the file has no such column.
    DataError
        If a column is named for two things.

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
    found = _examine(str(path), _list(human) or [], given)
    unused = [r for r, v in {"human": human, **given}.items() if v is not None]
    if not unused or found.kind in ("table", "unknown"):
        return found
    note = Finding("note", "options-unused", "only a plain table needs columns to be named",
                   some([f"--{role}" for role in unused], 6), "Not used here.")  # fmt: skip
    return replace(found, findings=(*found.findings, note))


def _list(names: str | Sequence[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def _examine(name: str, human: list[str], given: Mapping[str, Any]) -> Diagnosis:
    place = Path(name)
    if not place.exists():
        return _unknown(name, "nothing", Finding("error", "missing", "there is no such file.",
                                                 do="Check the path."))  # fmt: skip
    if place.is_dir():
        return _folder(name, place)
    raw = look(place)
    if raw.container == "unusable":
        return _unknown(name, "no usable file", *raw.findings)
    if raw.container == "sqlite":
        return examine_campaign(name, place)
    if raw.container == "text" and _is_design(name, raw):
        return examine_design(name)
    if files.design_path(name).is_file():
        return examine_sheet(name)
    if raw.container == "text" and is_submission(raw.text):
        return examine_submission(name)
    if raw.container != "foreign" and (form := recognised(name)) is not None:
        return examine_answers(name, form)
    if ending(name) and _fits(ending(name), raw):
        return examine_table(name, raw, human, given)
    return _neither(name, raw)


def _is_design(name: str, raw: Raw) -> bool:
    return name.lower().endswith(".design.json") or '"fewgold.sample/' in raw.text[:2000]


def _fits(suffix: str, raw: Raw) -> bool:
    """Whether the bytes may be what the name says."""
    if suffix == ".json" and not _is_records(raw.text):
        return False
    wanted = {".parquet": "parquet", ".xlsx": "zip"}.get(suffix)
    return raw.container == wanted if wanted else raw.container in ("text", "foreign")


def _folder(name: str, place: Path) -> Diagnosis:
    if (place / FILE).is_file():
        return examine_campaign(name, place / FILE)
    form = recognised(name)
    if form is not None:
        return examine_answers(name, form)
    inside = sorted(p.name for p in place.iterdir())
    return _unknown(
        name, "a folder",
        Finding("error", "folder", "a folder, but no campaign and no mt-metrics-eval tree",
                f"it holds {some(inside, 6)}" if inside else "it is empty",
                "Name one file in it."),
    )  # fmt: skip


def _neither(name: str, raw: Raw) -> Diagnosis:
    """A file whose content does not go with its name, or text that is no table."""
    findings = list(raw.findings)
    if raw.container in ("parquet", "zip"):
        right = {"parquet": ".parquet", "zip": ".xlsx"}[raw.container]
        what = (
            "a Parquet file" if raw.container == "parquet" else "a ZIP archive (XLSX is one, too)"
        )
        findings.append(
            Finding("error", "wrong-name", f"the content is {what}, which the name does not say",
                    do=f"If it is a table, let its name end in {right}; unpack other archives.")
        )  # fmt: skip
        return _unknown(name, what, *findings)
    if ending(name) and ending(name) != ".json":
        findings.append(
            Finding("error", "wrong-name", f"it is text, not what {ending(name)} stands for",
                    do="Give the file the name of what it is, such as .csv.")
        )  # fmt: skip
        return _unknown(name, "text", *findings)
    if _is_json(raw.text):
        findings.append(
            Finding("error", "json", "JSON that is no export of an annotation tool known here",
                    do="A table in JSON is a list of objects, or an object a line in a file that "
                    "ends in .jsonl. "
                    + _EXPECTED)
        )  # fmt: skip
        return _unknown(name, "JSON", *findings)
    findings.append(
        Finding("error", "not-a-table", "text, but no table that its name would tell", do=_EXPECTED)
    )
    return _unknown(name, "text", *findings)


def _is_records(text: str) -> bool:
    """A list of objects in JSON, which is a table."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list) and bool(found) and all(isinstance(r, dict) for r in found)


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _unknown(name: str, title: str, *findings: Finding) -> Diagnosis:
    return Diagnosis(name, "unknown", title, findings=findings)
