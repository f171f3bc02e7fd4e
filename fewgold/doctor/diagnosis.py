"""Find out what a file is, and let the right part of the doctor look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold import formats, io, sheets
from fewgold.doctor.answers import examine_answers, examine_submission, is_submission, recognised
from fewgold.doctor.campaign import FILE, examine_campaign
from fewgold.doctor.findings import Diagnosis, Finding, some
from fewgold.doctor.sheet import examine_design, examine_sheet
from fewgold.doctor.table import examine_table
from fewgold.doctor.texts import finding, unreadable

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
    note = finding("options-unused", some([f"--{role}" for role in unused], 6))
    return replace(found, findings=(*found.findings, note))


def _list(names: str | Sequence[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else None if names is None else list(names)


def _examine(name: str, human: list[str], given: Mapping[str, Any]) -> Diagnosis:
    place = Path(name)
    if not place.exists():
        return _unknown(name, "nothing", finding("missing"))
    if place.is_dir():
        return _folder(name, place)
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
        return examine_table(io.read_file(name), human, given)
    except io.TableError as error:
        return _unknown(name, "a file that cannot be read", unreadable(error))


def _text(place: Path) -> str:
    """The beginning of a text file; empty for other files."""
    probe = formats.Probe(place)
    return "" if b"\x00" in probe.head[:64] else probe.text


def _folder(name: str, place: Path) -> Diagnosis:
    if (place / FILE).is_file():
        return examine_campaign(name, place / FILE)
    form = recognised(name)
    if form is not None:
        return examine_answers(name, form)
    inside = sorted(p.name for p in place.iterdir())
    where = f"it holds {some(inside, 6)}" if inside else "it is empty"
    return _unknown(name, "a folder", finding("folder", where))


def _unknown(name: str, title: str, *findings: Finding) -> Diagnosis:
    return Diagnosis(name, "unknown", title, findings=findings)
