"""The counts behind each way to estimate a success rate with a metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from fewgold._arrays import BoolArray
from fewgold.bayes._binary_table import BinaryTable
from fewgold.bayes._counts import Counts
from fewgold.bayes._priors import Priors
from fewgold.cut import Cut
from fewgold.errors import FewgoldError


class Tally(NamedTuple):
    """Ones and how many there are."""

    ones: int
    total: int


class Items(NamedTuple):
    """What was counted on the items of one system, for one metric."""

    cells: dict[str, int]  # rated by both
    human: Tally  # rated by humans, whether the metric scored them or not
    alone: Tally  # rated by humans, without a score of the metric
    rest: Tally  # by the metric alone
    said: Tally  # all labels of the metric


class Way(NamedTuple):
    """A name, and what a posterior is made of."""

    how: str
    counts: Counts
    priors: Priors | None


def count_items(
    table: BinaryTable, metric: str, cuts: dict[str, Cut], seen: BoolArray
) -> dict[str, Items]:
    """The counts of each system that the metric scored; ``seen`` ratings may be used."""
    found = {}
    for name, cut in cuts.items():
        own = table.of(name)
        scores, labels, rated = table.scores[metric][own], table.labels[own] == 1, seen[own]
        scored = ~np.isnan(scores)
        if not scored.any():
            continue
        ones = np.zeros(scores.size, dtype=bool)
        ones[scored] = cut(scores[scored])
        both = rated & scored
        cells = {
            "tp": labels & ones, "fn": labels & ~ones, "fp": ~labels & ones, "tn": ~labels & ~ones
        }  # fmt: skip
        found[name] = Items(
            {cell: int((which & both).sum()) for cell, which in cells.items()},
            _tally(labels[rated]),
            _tally(labels[rated & ~scored]),
            _tally(ones[scored & ~rated]),
            _tally(ones[scored]),
        )
    return found


def _tally(labels: BoolArray) -> Tally:
    return Tally(int(labels.sum()), labels.size)


def naive_way(items: Items) -> Way:
    """The metric's labels in the place of human ones."""
    said = Counts(human_ones=items.said.ones, human_total=items.said.total)
    return Way("naive", said, None)


def corrected_ways(
    items: dict[str, Items], name: str, known: tuple[float, float] | None
) -> Iterator[Way]:
    """The ways that correct the metric's errors on the system ``name``."""
    own = items[name]
    yield Way("own", _counts(own.cells, own.alone, own.rest), None)
    if len(items) > 1:
        # The labels of paired items tell about this system's α, and those of all systems about
        # the ρ and η they share: as many factors of the likelihood as with "own".
        everyone = _sum(found.cells for found in items.values())
        yield Way("pooled", _counts(everyone, own.human, own.rest, "calibration"), None)
        others = _sum(found.cells for other, found in items.items() if other != name)
        yield Way("transfer", _counts(others, Tally(0, 0), own.said, "calibration"), None)
    if known is not None:
        yield Way("known", _counts({}, own.human, own.rest), _given(known))


def _counts(cells: dict[str, int], human: Tally, auto: Tally, pairs: str = "sample") -> Counts:
    return Counts(
        **cells, human_ones=human.ones, human_total=human.total, metric_ones=auto.ones,
        metric_total=auto.total, pairs=pairs,
    )  # fmt: skip


def _sum(tables: Iterable[dict[str, int]]) -> dict[str, int]:
    total = dict.fromkeys(("tp", "fn", "fp", "tn"), 0)
    for cells in tables:
        total = {cell: total[cell] + cells[cell] for cell in total}
    return total


def _given(known: tuple[float, float]) -> Priors:
    rho, eta = map(float, known)
    if rho + eta <= 1:
        raise FewgoldError(
            f"a known metric must have rho + eta above 1; got {rho:g} and {eta:g}. If it points "
            "the wrong way, give it the orientation -1 and the rates 1 - rho and 1 - eta."
        )
    return Priors(rho=rho, eta=eta)
