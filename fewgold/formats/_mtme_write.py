"""Write an mt-metrics-eval tree of one system."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._model import Rating, Tasks
from fewgold.formats._texts import (
    UNNAMED,
    matched,
    one_line,
    plain_number,
    source_of,
    target_of,
    word,
)
from fewgold.tables import write_texts

#: Says which file holds whose scores; mt-metrics-eval does not look at it.
NOTE = "fewgold.json"

_PAIR = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


def write_tree(tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
    """Texts, metadata with keys, and a file of human scores for each rater."""
    root = Path(path)
    pairs = matched(tasks, ratings)
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
                "score a rater and segment: keep one of them, or write CSV."
            )
        scores[place] = plain_number(rating.score)
    called = _file_names(list(by_rater), _safe(tasks.score) or "score")
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


def _make(root: Path, texts: dict[str, list[str]]) -> None:
    if root.is_file() or (root.is_dir() and any(root.iterdir())):
        raise DataError(f"{str(root)!r} is there already. Name a folder that is new or empty.")
    if not root.parent.is_dir():
        raise DataError(f"there is no folder {str(root.parent)!r} to write to. Make it.")
    for name in texts:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
    write_texts({root / name: "".join(f"{t}\n" for t in lines) for name, lines in texts.items()})


def _system(names: set[str]) -> str:
    if len(names) > 1:
        raise DataError(
            f"expected ratings of one system, whose outputs the tasks bring, got {len(names)}: "
            f"{', '.join(sorted(names))}. Write a tree for each."
        )
    name = word(next(iter(names), "") or UNNAMED, "the system")
    if "/" in name or "\\" in name or name.startswith("."):
        raise DataError(f"the system {name!r} cannot be the name of a file. Rename it.")
    return name


def _safe(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name).strip("_")


def _file_names(raters: list[str], score: str) -> dict[str, str]:
    """Names of score files, different for each rater on any disk."""
    made: dict[str, str] = {}
    for rater in raters:
        base = name = f"{score}.{_safe(rater) or 'rater'}" if rater else score
        number = 2
        while name.lower() in {n.lower() for n in made.values()}:
            name, number = f"{base}_{number}", number + 1
        made[rater] = name
    return made


def _documents(tasks: Tasks) -> list[str]:
    """A name without blanks for each segment's document; those without one are their own."""
    made: dict[str, str] = {}
    names = []
    for i, segment in enumerate(tasks.segments, 1):
        if segment.document not in made or not segment.document:
            base = name = "_".join(one_line(segment.document).split()) or f"segment_{i}"
            number = 2
            while name in made.values():
                name, number = f"{base}_{number}", number + 1
            made[segment.document or f"\0{i}"] = name
        names.append(made[segment.document or f"\0{i}"])
    return names
