"""An mt-metrics-eval tree as a table of segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._mtme_files import Tree, texts_of

if TYPE_CHECKING:
    import pandas as pd


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
    files = {**tree.metrics(pair), **{f"human_{name}": known[name] for name in wanted}}
    columns = {name: _column(tree, pair, path, systems, count) for name, path in files.items()}
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
