"""What an mt-metrics-eval tree holds, and what in it does not fit together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._mtme_files import Tree
from fewgold.formats._mtme_tree import checked_texts


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
                checked_texts(path, part, count)
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
