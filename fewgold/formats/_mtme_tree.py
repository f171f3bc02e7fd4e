"""An mt-metrics-eval tree as a table of segments, and what it holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._mtme_files import Tree, texts_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TreePair:
    """What a tree holds of one pair of languages.

    Parameters
    ----------
    pair
        Such as ``en-de``.
    segments, documents
        How many there are.
    systems, references, metrics, human, ratings
        Names of what there is: outputs, references, metrics with scores of segments, human scores
        of segments, and raters' lists of errors.
    problems
        What does not fit together, in sentences.
    """

    pair: str
    segments: int
    documents: int
    systems: tuple[str, ...]
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    human: tuple[str, ...]
    ratings: tuple[str, ...]
    problems: tuple[str, ...] = ()


def list_tree(folder: str | Path) -> tuple[TreePair, ...]:
    """What a tree holds, pair by pair, every score file looked through for problems."""
    tree = Tree.at(folder)
    return tuple(_listed(tree, pair) for pair in tree.pairs)


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
        The pair of languages; may be left out where there is one.
    system
        One system, or None for all of them.
    human
        Which human scores to add; None for all.

    Returns
    -------
    pandas.DataFrame
        ``id``, ``document``, ``domain``, ``position`` (in the document), ``system``, ``source``,
        ``output``, ``reference`` (or ``reference_NAME`` where there are several), a column a
        metric, and ``human_NAME``, missing where nobody rated. Ids are the numbers of the segments
        from 1; of all systems together they are ``SYSTEM:NUMBER``. Signs are as in the files: in
        those of MQM, larger is better.
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
    columns: dict[str, list[float]] = {}
    for name, path in tree.metrics(pair).items():
        columns[name] = _column(tree, pair, path, systems, count)
    for name in wanted:
        columns[f"human_{name}"] = _column(tree, pair, known[name], systems, count)
    taken = sorted(set(columns) & set(frame))
    if taken:
        raise DataError(f"scores are called like columns of texts: {', '.join(taken)}.")
    return pd.DataFrame({**frame, **columns})


def _texts(tree: Tree, pair: str, systems: Sequence[str]) -> dict[str, list[Any]]:
    count = len(tree.sources(pair))
    documents = tree.documents(pair) or [("", "")] * count
    _same_length(tree.root / "documents" / f"{pair}.docs", len(documents), count)
    positions, seen = [], dict[str, int]()
    for _, document in documents:
        seen[document] = seen.get(document, 0) + 1
        positions.append(seen[document])
    references = {
        name: _texts_of(path, "references", count) for name, path in tree.references(pair).items()
    }
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
    files = tree.outputs(pair)
    made["output"] = [t for s in systems for t in _texts_of(files[s], "system-outputs", count)]
    for name, texts in references.items():
        made["reference" if alone else f"reference_{name}"] = texts * len(systems)
    return made


def _texts_of(path: Path, part: str, count: int) -> list[str]:
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


def _listed(tree: Tree, pair: str) -> TreePair:
    problems = []
    count = len(tree.sources(pair))
    documents: list[tuple[str, str]] = []
    try:
        documents = tree.documents(pair)
    except DataError as error:
        problems.append(str(error))
    else:
        if not documents:
            problems.append(f"there is no file documents/{pair}.docs.")
        elif len(documents) != count:
            problems.append(f"{len(documents)} lines in documents/{pair}.docs, {count} segments.")
        runs = Counter(
            d for i, (_, d) in enumerate(documents) if i == 0 or documents[i - 1][1] != d
        )
        torn = sorted(d for d, times in runs.items() if times > 1)
        if torn:
            problems.append(f"segments of documents are not together: {', '.join(torn[:5])}.")
    texts = {"references": tree.references(pair), "system-outputs": tree.outputs(pair)}
    for part, files in texts.items():
        for path in files.values():
            try:
                _texts_of(path, part, count)
            except DataError as error:
                problems.append(str(error))
    if not texts["system-outputs"]:
        problems.append(f"there is no file in system-outputs/{pair}.")
    for files in (tree.human(pair), tree.metrics(pair)):
        for path in files.values():
            problems += _score_problems(tree, pair, path)
    return TreePair(
        pair=pair,
        segments=count,
        documents=len({d for _, d in documents}),
        systems=tuple(tree.outputs(pair)),
        references=tuple(tree.references(pair)),
        metrics=tuple(tree.metrics(pair)),
        human=tuple(tree.human(pair)),
        ratings=tuple(tree.ratings(pair)),
        problems=tuple(problems),
    )


def _score_problems(tree: Tree, pair: str, path: Path) -> list[str]:
    try:
        wrong = [found for found in tree.scores(path, pair) if found.why]
    except DataError as error:
        return [str(error)]
    if not wrong:
        return []
    first = wrong[0]
    return [f"{first.line.place}: {first.why} ({len(wrong)} such lines)."]
