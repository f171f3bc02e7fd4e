"""The folder tree of mt-metrics-eval with test sets of the WMT metrics tasks."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Segment, Tasks
from fewgold.formats.mqm import MqmWeights, unknown_severity
from fewgold.formats.rows import (
    NUL,
    UNNAMED,
    Rows,
    TextLine,
    absent,
    distinct,
    finite,
    json_of,
    matched,
    number,
    one_line,
    source_of,
    target_of,
    word,
)
from fewgold.io import read_text, write_texts

if TYPE_CHECKING:
    import pandas as pd

# The folders of an mt-metrics-eval tree: its files and their contents -----------------------------

_PARTS = ("sources", "system-outputs")
# Newer trees keep texts in JSON lines, under these names.
_FIELDS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}


@dataclass(frozen=True)
class ScoreLine:
    """A line of a score file: the system, the segment's number from 1, its score or None."""

    line: TextLine
    system: str
    place: int
    score: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Tree:
    """A test set on disk: one folder per kind of file, one pair of languages per file name.

    A path may end with one of its language pairs, such as ``wmt20/en-de``.
    """

    root: Path
    only: str | None = None  # the pair at the end of the path
    _kept: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def at(cls, folder: str | Path) -> Tree:
        """The tree in a folder; if there is none, the error says where one may be."""
        root = Path(folder)
        if is_tree(root):
            return cls(root)
        if is_tree_of_pair(root):
            return cls(root.parent, root.name)
        below = sorted(p.name for p in root.iterdir() if is_tree(p)) if root.is_dir() else []
        if below:
            raise DataError(
                f"{str(folder)!r} holds several test sets: {', '.join(below)}. Name one."
            )
        raise DataError(
            f"{str(folder)!r} is not an mt-metrics-eval tree: expected the folders sources and "
            "system-outputs in it, with documents, human-scores and metric-scores."
        )

    @property
    def pairs(self) -> list[str]:
        """The language pairs, such as en-de."""
        if self.only is not None:
            return [self.only]
        return sorted({p.stem for p in self._texts("sources") if "-" in p.stem})

    def pair(self, name: str | None) -> str:
        """The pair with this name, or the only one."""
        if name is not None:
            if name not in self.pairs:
                raise UnknownNameError("language pair", name, self.pairs)
            return name
        if len(self.pairs) != 1:
            found = ", ".join(self.pairs) or "none"
            end = f" Add it to the path: {self.root / self.pairs[0]}." if self.pairs else ""
            raise DataError(f"expected one language pair in {str(self.root)!r}, got {found}.{end}")
        return self.pairs[0]

    def sources(self, pair: str) -> list[str]:
        """The source segments in order; outputs have as many."""
        if pair not in self._kept:
            found = [p for p in self._texts("sources") if p.stem == pair]
            self._kept[pair] = texts_of(found[0], "sources")
        made: list[str] = self._kept[pair]
        return made

    def documents(self, pair: str) -> list[tuple[str, str]]:
        """Domain and document of each segment; empty if the tree has no documents."""
        path = self.root / "documents" / f"{pair}.docs"
        if not path.is_file():
            return []
        cells = [line.split() for line in texts_of(path)]
        bad = next((i for i, found in enumerate(cells, 1) if len(found) != 2), None)
        if bad is not None:
            raise DataError(
                f"{path}, line {bad}: expected a domain and the name of a document, separated by a "
                f"blank, got {' '.join(cells[bad - 1])!r}."
            )
        return [(domain, document) for domain, document in cells]

    def outputs(self, pair: str) -> dict[str, Path]:
        """Files of outputs by system."""
        return {p.stem: p for p in self._texts(f"system-outputs/{pair}")}

    def references(self, pair: str) -> dict[str, Path]:
        """Files of references by name."""
        found = self._texts("references")
        return {p.stem.removeprefix(f"{pair}."): p for p in found if p.name.startswith(f"{pair}.")}

    def human(self, pair: str, end: str = ".seg.score") -> dict[str, Path]:
        """Files of human scores of segments, or of raters' errors (``.seg.rating``), by name."""
        return self._named(self.root / "human-scores", f"{pair}.", end)

    def metrics(self, pair: str) -> dict[str, Path]:
        """Files of metric scores of segments, by name and reference."""
        return self._named(self.root / "metric-scores" / pair, "", ".seg.score")

    def scores(self, path: Path, pair: str) -> Iterator[ScoreLine]:
        """Every line of a score file."""
        texts = texts_of(path)
        found = [_score(text) for text in texts]
        places = self.placed(path, pair, texts, [system for system, _, _ in found])
        for (line, place, off), (system, score, why) in zip(places, found, strict=True):
            yield ScoreLine(line, system, place, score, why or off)

    def placed(
        self, path: Path, pair: str, texts: Sequence[str], systems: Sequence[str]
    ) -> Iterator[tuple[TextLine, int, str]]:
        """Each line of a file, with its segment number, or why that is unknown.

        The segment of a line is found by counting, so with too few or too many lines for a system
        none is known.
        """
        segments, known, counts = len(self.sources(pair)), self.outputs(pair), Counter(systems)
        seen: Counter[str] = Counter()
        for at, (text, system) in enumerate(zip(texts, systems, strict=True), 1):
            seen[system] += 1
            why = ""
            if system not in known:
                why = f"there is no system {system!r} in system-outputs/{pair}"
            elif counts[system] != segments:
                why = (
                    f"expected {segments} lines of {system}, one per segment, got "
                    f"{counts[system]}: the segment of this line is unknown"
                )
            yield TextLine(f"{path.name}, line {at}", text), seen[system], why

    def key(self, pair: str, system: str, place: int) -> tuple[str, bool]:
        """The name of a segment, and whether it should be rated."""
        if (pair, system) not in self._kept:
            safe = system in self.outputs(pair)
            self._kept[pair, system] = self.metadata(pair, system) if safe else []
        known = self._kept[pair, system]
        ours = known[place - 1].get("fewgold") if place <= len(known) else None
        if not isinstance(ours, dict):
            return str(place), True
        return str(ours.get("key", place)), bool(ours.get("rate", True))

    def metadata(self, pair: str, system: str) -> list[dict[str, Any]]:
        """The metadata that fewgold wrote about each output of a system, if any."""
        path = self.root / "metadata" / pair / f"{system}.jsonl"
        if not path.is_file():
            return []
        made = list(_objects(path))
        if not any("fewgold" in found for found in made):
            return []  # metadata of another program
        if len(made) != len(self.sources(pair)):
            raise DataError(
                f"{path}: expected {len(self.sources(pair))} lines, one per segment, got "
                f"{len(made)}."
            )
        return made

    def _texts(self, part: str) -> list[Path]:
        folder = self.root / part
        found = [*folder.glob("*.txt"), *folder.glob("*.jsonl")] if folder.is_dir() else []
        return sorted(p for p in found if p.is_file())

    @staticmethod
    def _named(folder: Path, start: str, end: str) -> dict[str, Path]:
        found = sorted(folder.glob(f"*{end}")) if folder.is_dir() else []
        named = [p for p in found if p.is_file() and p.name.startswith(start)]
        return {p.name.removeprefix(start).removesuffix(end): p for p in named}


def is_tree_of_pair(path: Path) -> bool:
    """Whether a path is a tree and one of its language pairs, such as ``wmt20/en-de``."""
    return not path.exists() and is_tree(path.parent) and path.name in Tree(path.parent).pairs


def is_tree(path: Path) -> bool:
    """True for a folder that holds a test set."""
    return all((path / part).is_dir() for part in _PARTS)


def texts_of(path: Path, part: str | None = None) -> list[str]:
    """The lines of a text file; empty ones count, as they may be outputs."""
    if path.suffix == ".jsonl":
        name = _FIELDS[part or ""]
        made = list(_objects(path))
        lost = next((i for i, found in enumerate(made, 1) if name not in found), None)
        if lost is not None:
            raise DataError(f"{path}, line {lost}: expected the field {name!r}.")
        return [str(found[name]) for found in made]
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip() for line in lines]


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    lines = [line for line in read_text(path).split("\n") if line.strip()]
    for i, line in enumerate(lines, 1):
        try:
            found = json_of(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise DataError(f"{path}, line {i}: expected a JSON object.")
        yield found


def _score(text: str) -> tuple[str, float | None, str]:
    cells = text.split()
    system = cells[0] if cells else ""
    if "\0" in text:
        return system, None, NUL
    if len(cells) != 2:
        return system, None, f"expected a system and its score, got {len(cells)} values"
    if absent(cells[1]):
        return system, None, ""
    value = finite(cells[1])
    why = f"expected a number or None as the score, got {cells[1]!r}" if value is None else ""
    return system, value, why


# An mt-metrics-eval tree as a table of segments ---------------------------------------------------


def read_tree(
    folder: str | Path,
    pair: str | None = None,
    system: str | None = None,
    human: str | Sequence[str] | None = None,
) -> pd.DataFrame:
    """A table of segments from a tree, fit for `Pool.from_table`.

    Parameters
    ----------
    folder
        The test set, such as ``mt-metrics-eval-v2/wmt22``.
    pair
        The language pair; optional if there is only one.
    system
        One system, or None for all of them.
    human
        Which human scores to add; None for all.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``document``, ``domain``, ``position`` (in the document), ``system``, ``source``,
        ``output``, ``reference`` (or ``reference_NAME`` if there are several), one column per
        metric, and ``human_NAME``, missing if unrated. Ids are the segment numbers from 1; for all
        systems together they are ``SYSTEM:NUMBER``. Signs are as in the files: for MQM, larger is
        better.
    """
    import pandas as pd

    tree = Tree.at(folder)
    pair = tree.pair(pair)
    outputs = tree.outputs(pair)
    if system is not None and system not in outputs:
        raise UnknownNameError(f"system of {pair}", system, outputs)
    known = tree.human(pair)
    wanted = list(known) if human is None else [human] if isinstance(human, str) else list(human)
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"human score of {pair}", name, known)
    systems = list(outputs) if system is None else [system]
    count = len(tree.sources(pair))
    frame = _texts(tree, pair, systems)
    files = {**tree.metrics(pair), **{f"human_{name}": known[name] for name in wanted}}
    columns = {name: _column(tree, pair, path, systems, count) for name, path in files.items()}
    if taken := sorted(set(columns) & set(frame)):
        raise DataError(f"scores have the names of text columns: {', '.join(taken)}. Rename them.")
    return pd.DataFrame({**frame, **columns})


def _texts(tree: Tree, pair: str, systems: Sequence[str]) -> dict[str, list[Any]]:
    count = len(tree.sources(pair))
    documents = tree.documents(pair) or [("", "")] * count
    _same_length(tree.root / "documents" / f"{pair}.docs", len(documents), count)
    positions, seen = [], Counter[str]()
    for _, document in documents:
        seen[document] += 1
        positions.append(seen[document])
    files = tree.references(pair)
    references = {name: checked_texts(path, "references", count) for name, path in files.items()}
    alone = len(references) == 1
    made: dict[str, list[Any]] = {
        "id": [str(i + 1) if len(systems) == 1 else f"{s}:{i + 1}" for s in systems
               for i in range(count)],
        "document": [document for _, document in documents] * len(systems),
        "domain": [domain for domain, _ in documents] * len(systems),
        "position": positions * len(systems),
        "system": [s for s in systems for _ in range(count)],
        "source": tree.sources(pair) * len(systems),
    }  # fmt: skip
    outputs = tree.outputs(pair)
    made["output"] = [
        t for s in systems for t in checked_texts(outputs[s], "system-outputs", count)
    ]
    for name, texts in references.items():
        made["reference" if alone else f"reference_{name}"] = texts * len(systems)
    return made


def checked_texts(path: Path, part: str, count: int) -> list[str]:
    """The lines of a file of texts, as many as there are segments."""
    texts = texts_of(path, part)
    _same_length(path, len(texts), count)
    return texts


def _same_length(path: Path, found: int, count: int) -> None:
    if found != count:
        raise DataError(f"{path}: expected {count} lines, as many as source segments, got {found}.")


def _column(tree: Tree, pair: str, path: Path, systems: Sequence[str], count: int) -> list[float]:
    start = {system: i * count for i, system in enumerate(systems)}
    made = [math.nan] * (count * len(systems))
    for found in tree.scores(path, pair):
        if found.system not in start:
            continue
        if found.why:
            raise DataError(f"{path.parent}: {found.line.place}: {found.why}.")
        if found.score is not None:
            made[start[found.system] + found.place - 1] = found.score
    return made


# Write an mt-metrics-eval tree ------------------------------------------------------

#: Says which file holds whose scores; mt-metrics-eval ignores it.
NOTE = "fewgold.json"

_PAIR = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


def write_tree(tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
    """Texts, metadata with keys, and a file of human scores for each rater."""
    root = Path(path)
    pairs = matched(tasks, ratings)
    if any(s.system for s in tasks.segments):
        return _make(root, _several(tasks, pairs))
    system = _system({rating.system for _, rating in pairs})
    pair = tasks.name if _PAIR.fullmatch(tasks.name) else "src-tgt"
    places = {s.key: i for i, s in enumerate(tasks.segments)}
    by_rater: dict[str, list[str]] = {} if pairs else {"": ["None"] * len(places)}
    for segment, rating in pairs:
        scores = by_rater.setdefault(rating.rater, ["None"] * len(places))
        place = places[segment.key]
        if scores[place] != "None":
            raise DataError(
                f"{rating.rater or 'nobody'!r} rated {rating.segment!r} twice. A tree holds one "
                "score per rater and segment: keep one of them, or write CSV."
            )
        scores[place] = str(number(rating.score))
    called = _score_files(tasks, by_rater)
    files = {f"{pair}.{called[rater]}.seg.score": rater for rater in by_rater}
    ours = [{"key": s.key, "id": s.id, "rate": s.rate} for s in tasks.segments]
    texts = {
        f"documents/{pair}.docs": [f"all {name}" for name in _documents(tasks)],
        f"sources/{pair}.txt": [one_line(source_of(s.texts)) for s in tasks.segments],
        f"system-outputs/{pair}/{system}.txt": [
            one_line(target_of(s.texts)) for s in tasks.segments
        ],
        f"metadata/{pair}/{system}.jsonl": [json.dumps({"fewgold": o}) for o in ours],
        NOTE: [json.dumps({"raters": files}, ensure_ascii=False)],
    }
    for name, rater in files.items():
        texts[f"human-scores/{name}"] = [f"{system} {score}" for score in by_rater[rater]]
    _make(root, texts)


def _score_files(tasks: Tasks, raters: Iterable[str]) -> dict[str, str]:
    """Names of score files, different for each rater even where disks ignore case."""
    score = _safe(tasks.score) or "score"
    called: dict[str, str] = {}
    for rater in raters:
        name = f"{score}.{_safe(rater) or 'rater'}" if rater else score
        called[rater] = distinct(name, called.values())
    return called


def _several(tasks: Tasks, pairs: Sequence[tuple[Segment, Rating]]) -> dict[str, list[str]]:
    """The files of a tree of several systems: outputs of one segment on the same line.

    If a system has no output for a segment, its line is empty and marked as not to be rated.
    """

    def bare(label: str, system: str) -> str:
        return label.removeprefix(f"{system}:")

    systems = [_system({s}) for s in dict.fromkeys(s.system for s in tasks.segments)]
    cells: dict[str, dict[str, Segment]] = {}
    for s in tasks.segments:
        cells.setdefault(bare(s.id, s.system), {})[s.system] = s
    firsts = [next(iter(own.values())) for own in cells.values()]
    lines = [replace(s, document=bare(s.document, s.system)) for s in firsts]
    begins: dict[str, int] = {}  # documents stand together, each from its first line on
    for k, line in enumerate(lines):
        begins.setdefault(line.document or f"\0{k}", k)
    order = sorted(
        range(len(lines)),
        key=lambda k: (begins[lines[k].document or f"\0{k}"], lines[k].position),
    )
    labels, lines = [list(cells)[k] for k in order], [lines[k] for k in order]
    pair = tasks.name if _PAIR.fullmatch(tasks.name) else "src-tgt"
    by_rater: dict[str, dict[str, str]] = {} if pairs else {"": {}}
    for segment, rating in pairs:
        scores = by_rater.setdefault(rating.rater, {})
        if segment.key in scores:
            raise DataError(
                f"{rating.rater or 'nobody'!r} rated {rating.segment!r} twice. A tree holds one "
                "score per rater and segment: keep one of them, or write CSV."
            )
        scores[segment.key] = str(number(rating.score))
    files = {f"{pair}.{name}.seg.score": r for r, name in _score_files(tasks, by_rater).items()}
    texts = {
        f"documents/{pair}.docs": [
            f"all {name}" for name in _documents(replace(tasks, segments=tuple(lines)))
        ],
        f"sources/{pair}.txt": [one_line(source_of(s.texts)) for s in lines],
        NOTE: [json.dumps({"raters": files}, ensure_ascii=False)],
    }
    for system in systems:
        own = [cells[label].get(system) for label in labels]
        texts[f"system-outputs/{pair}/{system}.txt"] = [
            "" if s is None else one_line(target_of(s.texts)) for s in own
        ]
        texts[f"metadata/{pair}/{system}.jsonl"] = [
            json.dumps(
                {"fewgold": {"rate": False} if s is None
                 else {"key": s.key, "id": s.id, "rate": s.rate}}
            )
            for s in own
        ]  # fmt: skip
    for name, rater in files.items():
        texts[f"human-scores/{name}"] = [
            f"{system} {by_rater[rater].get(cell.key, 'None') if cell else 'None'}"
            for system in systems
            for cell in (cells[label].get(system) for label in labels)
        ]
    return texts


def _make(root: Path, texts: dict[str, list[str]]) -> None:
    if root.is_file() or (root.is_dir() and any(root.iterdir())):
        raise DataError(f"{str(root)!r} already exists. Name a new or empty folder.")
    if not root.parent.is_dir():
        raise DataError(f"there is no folder {str(root.parent)!r} to write to. Create it.")
    for name in texts:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    write_texts({root / name: "".join(f"{t}\n" for t in lines) for name, lines in texts.items()})


def _system(names: set[str]) -> str:
    if len(names) > 1:
        raise DataError(
            f"expected ratings of one system, the one in the tasks, got {len(names)}: "
            f"{', '.join(sorted(names))}. Write a tree for each."
        )
    name = word(next(iter(names), "") or UNNAMED, "the system")
    if "/" in name or "\\" in name or name.startswith("."):
        raise DataError(f"the system {name!r} cannot be the name of a file. Rename it.")
    return name


def _safe(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name).strip("_")


def _documents(tasks: Tasks) -> list[str]:
    """A name without blanks for each segment's document; segments without one get their own."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    keys = [s.document or f"\0{i}" for i, s in enumerate(tasks.segments, 1)]
    for i, (key, segment) in enumerate(zip(keys, tasks.segments, strict=True), 1):
        if key not in made:
            base = "_".join(one_line(segment.document).split()) or f"segment_{i}"
            names = itertools.chain([base], (f"{base}_{k}" for k in itertools.count(2)))
            made[key] = next(name for name in names if name not in taken)
            taken.add(made[key])
    return [made[key] for key in keys]


_ENDS = (".seg.score", ".seg.rating")


@dataclass(frozen=True)
class _Source:
    """A file of human scores, and the rater if known."""

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
    the errors that raters marked in ``PAIR.NAME.seg.rating``, weighted as in MQM. If there are
    several, ``names.score`` selects one, as ``NAME`` or ``PAIR.NAME``; a single file of the folder
    can also be read. Segments are named by their number from 1, or by the key in
    ``metadata/PAIR/SYSTEM.jsonl`` if they were exported with one. Signs are as in the file.

    Tasks are written as trees of one system, ratings with all systems. Each rater's scores are a
    separate file; times and details have no place in a tree. `read_tree` makes a table of segments.
    """

    name = "mt-metrics-eval"
    title = "mt-metrics-eval tree (folder)"
    suffixes = ("",)

    def _recognises(self, probe: Probe) -> bool:
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
        rows = Rows(self.name)
        files = ", ".join(source.path.name for source in sources)
        rows.notes.append(f"human scores from {files}, signs as there.")
        lines: list[tuple[ScoreLine, str, Rating | None]] = []
        for source in sources:
            found = _errors(tree, source) if source.lists_errors else _scores(tree, source)
            lines += [(line, source.pair, rating) for line, rating in found]
        answered = {(line.system, line.place) for line, _, rating in lines if rating is not None}
        for line, pair, rating in lines:
            segment, rate = tree.key(pair, line.system, line.place)
            if line.why:
                rows.rejected.append(line.line.rejected(line.why))
            elif rating is not None:
                system = "" if rating.system == UNNAMED else rating.system
                rows.ratings.append(replace(rating, segment=segment, system=system))
            elif rate and (line.system, line.place) not in answered:
                rows.blank.append(segment)
            else:
                rows.context += 1
        return rows.reading()

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write a tree whose human scores are None; context is marked in the metadata."""
        write_tree(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write a tree with the scores, None for missing ones."""
        write_tree(tasks, ratings, path)


def _chosen(path: Path, wanted: str | None) -> tuple[Tree, list[_Source]]:
    """The tree, and the requested files of human scores."""
    if path.is_file():
        tree = Tree.at(path.parent.parent)
        every = [source for source in _sources(tree) if source.path.name == path.name]
        if not every:
            raise DataError(
                f"{path.name!r} is not a file of segment-level human scores: expected a name "
                "such as en-de.mqm.seg.score, for a language pair that the tree has."
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
        for end in _ENDS:
            for name, path in tree.human(pair, end).items():
                yield _Source(path, pair, name)


def _ours(tree: Tree, every: list[_Source]) -> list[_Source]:
    """The files written by fewgold, with their raters."""
    note = tree.root / NOTE
    if not note.is_file():
        return []
    try:
        raters = json_of(note.read_text(encoding="utf-8"))["raters"]
        named = {s.path.name: s for s in every}
        return [replace(named[n], rater=str(r)) for n, r in raters.items()]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            f"{note} does not match the files next to it. Delete it, and name the score to read."
        ) from None


def _scores(tree: Tree, source: _Source) -> Iterator[tuple[ScoreLine, Rating | None]]:
    for found in tree.scores(source.path, source.pair):
        if found.why or found.score is None:
            yield found, None
        else:
            yield found, Rating("", found.score, source.rater, system=found.system)


def _errors(tree: Tree, source: _Source) -> Iterator[tuple[ScoreLine, Rating | None]]:
    """Lines ``SYSTEM JSON|None [RATER]``, separated by tabs; errors of all severities count."""
    texts = texts_of(source.path)
    cells = [text.split("\t") for text in texts]
    systems = [found[0].strip() for found in cells]
    places = tree.placed(source.path, source.pair, texts, systems)
    for (line, place, off), system, found in zip(places, systems, cells, strict=True):
        rating, why = _marked(found, source, system)
        yield ScoreLine(line, system, place, None, off or why), None if off else rating


def _marked(cells: list[str], source: _Source, system: str) -> tuple[Rating | None, str]:
    if len(cells) not in (2, 3):
        return (
            None,
            f"expected a system, its errors and a rater, separated by tabs; got {len(cells)}",
        )
    if cells[1].strip() == "None":
        return None, ""
    try:
        errors = json_of(cells[1])["errors"]
        marked = [(str(e.get("category") or ""), str(e.get("severity") or "")) for e in errors]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None, 'expected None or {"errors": [...]} after the system'
    weights = MqmWeights()
    why = next((w for _, severity in marked if (w := unknown_severity(severity, weights))), "")
    if why:
        return None, why
    rater = cells[2].strip() if len(cells) == 3 else source.name
    score = weights.score(marked)
    return Rating("", score, rater, system=system, details={"errors": errors}), ""
