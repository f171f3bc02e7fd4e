"""The folders of an mt-metrics-eval tree: which files it has, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._textfiles import Line, absent, json_of, number
from fewgold.tables import read_text

_PARTS = ("sources", "system-outputs")
# Newer trees keep texts in JSON lines, under these names.
_FIELDS = {"sources": "source", "references": "target", "system-outputs": "hypothesis"}


@dataclass(frozen=True)
class ScoreLine:
    """A line of a score file: the system, the segment's number from 1, its score or None."""

    line: Line
    system: str
    place: int
    score: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Tree:
    """A test set on disk: one folder a kind of file, one pair of languages a file name."""

    root: Path
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def at(cls, folder: str | Path) -> Tree:
        """The tree in a folder, which must hold one; an error says where one may be."""
        root = Path(folder)
        if is_tree(root):
            return cls(root)
        below = sorted(p.name for p in root.iterdir() if is_tree(p)) if root.is_dir() else []
        if below:
            raise DataError(
                f"{str(folder)!r} holds several test sets: {', '.join(below)}. Name one."
            )
        raise DataError(
            f"{str(folder)!r} is no mt-metrics-eval tree: expected the folders sources and "
            "system-outputs in it, and documents, human-scores and metric-scores beside them."
        )

    @property
    def pairs(self) -> list[str]:
        """The pairs of languages, such as en-de."""
        return sorted({p.stem for p in self._texts("sources") if "-" in p.stem})

    def pair(self, name: str | None) -> str:
        """The pair of that name, or the only one there is."""
        if name is not None:
            if name not in self.pairs:
                raise UnknownNameError("language pair", name, self.pairs)
            return name
        if len(self.pairs) != 1:
            raise DataError(
                f"expected one language pair in {str(self.root)!r}, got "
                f"{', '.join(self.pairs) or 'none'}. Say which one."
            )
        return self.pairs[0]

    def sources(self, pair: str) -> list[str]:
        """Source segments in order; their number is that of segments."""
        if pair not in self._kept:
            found = [p for p in self._texts("sources") if p.stem == pair]
            self._kept[pair] = texts_of(found[0], "sources")
        made: list[str] = self._kept[pair]
        return made

    def documents(self, pair: str) -> list[tuple[str, str]]:
        """Domain and document of each segment; nothing where the tree has no documents."""
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

    def human(self, pair: str) -> dict[str, Path]:
        """Files of human scores of segments, by name."""
        return self._named(self.root / "human-scores", f"{pair}.", ".seg.score")

    def ratings(self, pair: str) -> dict[str, Path]:
        """Files of raters' errors in segments, by name."""
        return self._named(self.root / "human-scores", f"{pair}.", ".seg.rating")

    def metrics(self, pair: str) -> dict[str, Path]:
        """Files of metric scores of segments, by name and reference."""
        return self._named(self.root / "metric-scores" / pair, "", ".seg.score")

    def scores(self, path: Path, pair: str) -> Iterator[ScoreLine]:
        """Every line of a score file.

        Which segment a line is about goes by counting, so that of a system with too few or too many
        lines none can be told.
        """
        segments, systems = len(self.sources(pair)), self.outputs(pair)
        seen: dict[str, int] = {}
        made = []
        for place, text in enumerate(texts_of(path), 1):
            system, score, why = _score(text)
            seen[system] = seen.get(system, 0) + 1
            made.append(
                ScoreLine(
                    Line(f"{path.name}, line {place}", text), system, seen[system], score, why
                )
            )
        for found in made:
            why = found.why
            if found.system not in systems:
                why = why or f"there is no system {found.system!r} in system-outputs/{pair}"
            elif seen[found.system] != segments:
                why = (
                    f"expected {segments} lines of {found.system}, one a segment, got "
                    f"{seen[found.system]}: which segment this is cannot be told"
                )
            yield ScoreLine(found.line, found.system, found.place, found.score, why)

    def metadata(self, pair: str, system: str) -> list[dict[str, Any]]:
        """What this package wrote about each output of a system; nothing where it wrote none."""
        path = self.root / "metadata" / pair / f"{system}.jsonl"
        if not path.is_file():
            return []
        made = list(_objects(path))
        if not any("fewgold" in found for found in made):
            return []  # somebody else's
        if len(made) != len(self.sources(pair)):
            raise DataError(
                f"{path}: expected {len(self.sources(pair))} lines, one a segment, got {len(made)}."
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
        return system, None, "the line holds a NUL character: it was damaged on its way"
    if len(cells) != 2:
        return system, None, f"expected a system and its score, got {len(cells)} values"
    if absent(cells[1]):
        return system, None, ""
    value = number(cells[1])
    why = f"expected a number or None as the score, got {cells[1]!r}" if value is None else ""
    return system, value, why
