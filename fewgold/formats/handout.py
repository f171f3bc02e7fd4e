"""What goes to raters: tasks for a tool, the scale with them, an order for each rater."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fewgold.errors import DataError, FewgoldError
from fewgold.formats.base import Format, Tasks

#: Plain tables have no place for the question; a text file beside them has it.
_PLAIN = ("csv", "tsv", "jsonl", "parquet")
#: Formats without a place for the question that raters are asked.
_MUTE = ("appraise", "mqm", "mqm-averages", "mt-metrics-eval", "wmt-da")
#: Tools that show everybody the same order, and what each rater needs to have one of their own.
_SHARED = {
    "label-studio": "a project", "label-studio-csv": "a project", "argilla": "a dataset",
    "potato": "a server", "appraise": "a campaign",
}  # fmt: skip
#: Formats of published ratings, not meant for raters.
_PUBLISHED = ("mqm", "mqm-averages", "mt-metrics-eval", "wmt-da")


@dataclass(frozen=True)
class Handout:
    """What was written for raters, and what the owner must know about it."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()
    per_rater: tuple[Path, ...] = ()


def hand_out(form: Format, tasks: Tasks, path: str | Path) -> Handout:
    """Write tasks for all raters, with the question and the scale beside a plain table."""
    return _written(form, tasks, Path(path))


def hand_out_to(form: Format, tasks: Mapping[str, Tasks], path: str | Path) -> Handout:
    """Write tasks for each rater, in a different order for each.

    One file if the tool gives each rater a list (Pearmut); otherwise one file per rater, with the
    rater's name in the name of the file.
    """
    if form.name in _PUBLISHED:
        raise DataError(
            f"{form.title} is for published ratings and cannot give each rater an order. Leave out "
            "the raters, or choose a format that people rate in."
        )
    kept = {rater: own for rater, own in tasks.items() if own.to_rate}
    if form._assigns:
        form._write_assigned(kept, path)
        return Handout((Path(path),))
    places = _places(kept, Path(path))
    made = [_written(form, own, place) for own, place in places]
    notes = dict.fromkeys(note for one in made for note in one.notes)
    if (what := _SHARED.get(form.name)) is not None:
        told = (
            f"{form.title} shows everybody the same order: create {what} for each rater, with "
            "that rater's file"
        )
        notes = {told: None, **notes}
    files = tuple(file for one in made for file in one.files)
    return Handout(files, tuple(notes), tuple(place for _, place in places))


def raters_of(names: Iterable[str]) -> tuple[str, ...]:
    """Names of raters, each once."""
    told = tuple(name.strip() for name in names)
    for name in told:
        if not name or len(name) > 80 or not name.isprintable():
            raise FewgoldError("a rater needs a name of 1 to 80 characters that can be printed.")
        if told.count(name) > 1:
            raise FewgoldError(f"the rater {name!r} is given twice. Name each rater once.")
    return told


def _places(tasks: Mapping[str, Tasks], path: Path) -> list[tuple[Tasks, Path]]:
    """The file of each rater: ``to_rate.xlsx`` becomes ``to_rate-ann.xlsx``."""
    suffix = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    stem, taken = path.name.removesuffix(suffix), set[str]()
    found = []
    for rater, own in tasks.items():
        plain = re.sub(r"[^\w-]+", "-", rater).strip("-") or "rater"
        name, count = plain, 1
        while name.lower() in taken:
            count += 1
            name = f"{plain}-{count}"
        taken.add(name.lower())
        found.append((own, path.with_name(f"{stem}-{name}{suffix}")))
    return found


def _written(form: Format, tasks: Tasks, path: Path) -> Handout:
    form.write_tasks(tasks, path)
    files, notes = [path], []
    if form.name in _PLAIN:
        beside = Path(f"{path}.README.txt")
        beside.write_text(_for_raters(tasks), encoding="utf-8")
        files.append(beside)
        notes.append(f"what raters are asked, with the scale, is in {str(beside)!r}")
    elif form.name in _MUTE:
        notes.append(f"{form.title} has no place for the scale: tell raters {tasks._instruction!r}")
        if form.name == "mqm-averages":
            notes.append(f"{form.title} holds scores with the opposite sign, such as -3.5 for 3.5")
    if tasks.each > 1 and form.name.startswith("label-studio"):
        notes.append(
            f"for {tasks.each} raters per segment, set maximum_annotations of the project in "
            f"Label Studio to {tasks.each}"
        )
    if (second := form._beside(path)) is not None:
        files.append(second)
        notes.append(f"{form.title} needs its configuration as well: {str(second)!r}")
    return Handout(tuple(files), tuple(notes))


def _for_raters(tasks: Tasks) -> str:
    """What raters must know about a plain table: the question, the scale and the instructions."""
    told = [*(each._instruction.strip() for each in tasks._each), tasks.instructions.strip()]
    how = "Fill in the score of every row that says yes under rate. Leave key as it is."
    return "\n\n".join([*filter(None, told), how]) + "\n"
