"""The tree of folders in which mt-metrics-eval keeps test sets of the WMT metrics tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Rejected, Tasks
from fewgold.formats._mqm_weights import MqmWeights
from fewgold.formats._mtme_files import ScoreLine, Tree, is_tree, texts_of
from fewgold.formats._mtme_list import TreePair, list_tree
from fewgold.formats._mtme_tree import read_tree
from fewgold.formats._mtme_write import NOTE, write_tree
from fewgold.formats._textfiles import Line, json_of
from fewgold.formats._texts import UNNAMED

__all__ = ["MtMetricsEval", "TreePair", "list_tree", "read_tree"]

_ENDS = (".seg.score", ".seg.rating")


@dataclass(frozen=True)
class _Source:
    """A file of human scores, and whose they are where that is known."""

    path: Path
    pair: str
    name: str
    rater: str = ""

    @property
    def lists_errors(self) -> bool:
        return self.path.name.endswith(".rating")


class MtMetricsEval(Format):
    """A folder ``sources, documents, system-outputs, human-scores, metric-scores``.

    ``read`` takes the human scores of segments: those in ``human-scores/PAIR.NAME.seg.score``, or
    the errors that raters marked in ``PAIR.NAME.seg.rating``, weighed as in MQM. Where there are
    several, ``names.score`` says which, as ``NAME`` or ``PAIR.NAME``; a file of the folder can be
    read as well. Segments are called by their number from 1, or by the key in
    ``metadata/PAIR/SYSTEM.jsonl`` if they went out with one. Signs are as in the file.

    What is written are trees of one system. A rater's scores are a file of their own; times and
    details have no place in a tree. `read_tree` makes a table of segments, `list_tree` tells what
    is there.
    """

    name = "mt-metrics-eval"
    title = "mt-metrics-eval tree (folder)"
    suffixes = ("",)

    def recognises(self, probe: Probe) -> bool:
        """A folder with sources and outputs, or a file of segment scores in one."""
        if probe.is_folder:
            return is_tree(probe.path)
        inside = probe.path.parent.name == "human-scores"
        return inside and probe.path.name.endswith(_ENDS) and is_tree(probe.path.parent.parent)

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The human scores of a tree."""
        if names.id or names.rater:
            raise DataError("trees have no columns for ids and raters: leave their names out.")
        tree, sources = _chosen(Path(path), names.score)
        lines: list[tuple[ScoreLine, str, bool, Rating | None]] = []
        for source in sources:
            keys = _Keys(tree, source.pair)
            found = _errors(tree, source) if source.lists_errors else _scores(tree, source)
            lines += [(line, *keys.of(line.system, line.place), rating) for line, rating in found]
        answered = {(line.system, line.place) for line, _, _, rating in lines if rating is not None}
        ratings: list[Rating] = []
        blank: list[str] = []
        rejected: list[Rejected] = []
        for line, segment, rate, rating in lines:
            if line.why:
                rejected.append(line.line.rejected(line.why))
            elif rating is not None:
                ratings.append(_called(rating, segment))
            elif rate and (line.system, line.place) not in answered:
                blank.append(segment)
        return Reading(
            format=self.name,
            rows=len(lines),
            used=len(ratings),
            ratings=tuple(ratings),
            blank=tuple(blank),
            context=len(lines) - len(ratings) - len(blank) - len(rejected),
            rejected=tuple(rejected),
            notes=(
                f"human scores from {', '.join(s.path.name for s in sources)}, signs as there.",
            ),
        )

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """A tree whose human scores are None; context is marked in the metadata."""
        write_tree(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """A tree with the scores, None where there are none."""
        write_tree(tasks, ratings, path)


class _Keys:
    """What segments are called, and whether they are to be rated."""

    def __init__(self, tree: Tree, pair: str) -> None:
        self.tree, self.pair, self._known = tree, pair, dict[str, list[dict[str, Any]]]()

    def of(self, system: str, place: int) -> tuple[str, bool]:
        if system not in self._known:
            safe = system in self.tree.outputs(self.pair)
            self._known[system] = self.tree.metadata(self.pair, system) if safe else []
        known = self._known[system]
        ours = known[place - 1].get("fewgold") if place <= len(known) else None
        if not isinstance(ours, dict):
            return str(place), True
        return str(ours.get("key", place)), bool(ours.get("rate", True))


def _called(rating: Rating, segment: str) -> Rating:
    system = "" if rating.system == UNNAMED else rating.system
    return Rating(segment, rating.score, rating.rater, system=system, details=rating.details)


def _chosen(path: Path, wanted: str | None) -> tuple[Tree, list[_Source]]:
    """The tree, and the files of human scores that were asked for."""
    if path.is_file():
        tree = Tree.at(path.parent.parent)
        every = [source for source in _sources(tree) if source.path.name == path.name]
        if not every:
            raise DataError(
                f"{path.name!r} is no file of human scores of segments: expected a name such as "
                "en-de.mqm.seg.score, for a language pair that the tree has."
            )
        return tree, every
    tree = Tree.at(path)
    every = list(_sources(tree))
    if wanted is None:
        if ours := _ours(tree, every):
            return tree, ours
        found = [s for s in every if not s.lists_errors]
        if not found and every and len({s.pair for s in every}) == 1:
            return tree, every  # the errors of all raters
    else:
        found = [s for s in every if wanted in (s.name, f"{s.pair}.{s.name}")]
        found = [s for s in found if not s.lists_errors] or found
    if len(found) == 1:
        return tree, found
    known = ", ".join(f"{s.pair}.{s.name}" for s in every) or "none"
    what = "one kind of human scores" if wanted is None else f"the human scores {wanted!r}"
    raise DataError(
        f"expected {what} of segments in {str(path)!r}, got {known}. Name one of them as the score."
    )


def _sources(tree: Tree) -> Iterator[_Source]:
    for pair in tree.pairs:
        for files in (tree.human(pair), tree.ratings(pair)):
            for name, path in files.items():
                yield _Source(path, pair, name)


def _ours(tree: Tree, every: list[_Source]) -> list[_Source]:
    """The files that this package wrote, with their raters."""
    note = tree.root / NOTE
    if not note.is_file():
        return []
    try:
        raters = json_of(note.read_text(encoding="utf-8"))["raters"]
        named = {s.path.name: s for s in every}
        return [
            _Source(named[n].path, named[n].pair, named[n].name, str(r)) for n, r in raters.items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            f"{note} does not fit the files beside it. Delete it, and name the score to read."
        ) from None


def _scores(tree: Tree, source: _Source) -> Iterator[tuple[ScoreLine, Rating | None]]:
    for found in tree.scores(source.path, source.pair):
        if found.why or found.score is None:
            yield found, None
        else:
            yield found, Rating("", found.score, source.rater, system=found.system)


def _errors(tree: Tree, source: _Source) -> Iterator[tuple[ScoreLine, Rating | None]]:
    """Lines ``SYSTEM JSON|None [RATER]``, separated by tabs; errors of all severities count."""
    segments, systems = len(tree.sources(source.pair)), tree.outputs(source.pair)
    cells = [text.split("\t") for text in texts_of(source.path)]
    counts = Counter(found[0].strip() for found in cells)
    seen: dict[str, int] = {}
    for i, found in enumerate(cells, 1):
        system = found[0].strip()
        seen[system] = seen.get(system, 0) + 1
        rating, why = _marked(found, source, system)
        if system not in systems:
            why = f"there is no system {system!r} in system-outputs/{source.pair}"
        elif counts[system] != segments:
            why = f"expected {segments} lines of {system}, one a segment, got {counts[system]}"
        line = Line(f"{source.path.name}, line {i}", "\t".join(found))
        yield ScoreLine(line, system, seen[system], None, why), None if why else rating


def _marked(cells: list[str], source: _Source, system: str) -> tuple[Rating | None, str]:
    if len(cells) not in (2, 3):
        return None, f"expected a system, its errors and a rater, separated by tabs: {len(cells)}"
    if cells[1].strip() == "None":
        return None, ""
    try:
        errors = json_of(cells[1])["errors"]
        marked = [(str(e.get("category") or ""), str(e.get("severity") or "")) for e in errors]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, 'expected None or {"errors": [...]} after the system'
    weights = MqmWeights()
    why = next((w for _, severity in marked if (w := weights.unknown(severity))), "")
    if why:
        return None, why
    rater = cells[2].strip() if len(cells) == 3 else source.name
    score = weights.score(marked)
    return Rating("", score, rater, system=system, details={"errors": errors}), ""
