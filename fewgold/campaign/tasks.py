"""Segments as raters get them, with their neighbours for context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.common.arrays import IntArray
from fewgold.common.checks import check_choice, check_count
from fewgold.formats import Keys, Segment, Tasks, alias, holds_name
from fewgold.pool import Pool

if TYPE_CHECKING:
    from fewgold.campaign.study import Campaign

WHICH = ("unrated", "wanting", "all", "last")


def segment(
    campaign: Campaign, place: int, *, position: int | None = None, rate: bool = True,
    masked: bool = True,
) -> Segment:  # fmt: skip
    """A segment as it is shown. Neither metrics nor the system are: they would sway raters.

    Nor are ids and documents that could tell the system, unless ``masked`` is False.
    """
    pool = campaign.pool
    id = str(pool.ids[place])
    key = Keys(len(pool), pool.fingerprint).of(place, id)
    document = "" if pool.documents is None else str(pool.documents[place])
    if position is None:
        position = members(pool, place).index(place) + 1 if document else 1
    system = "" if pool.system is None else str(pool.system[place])
    if document and masked and tells(campaign, document):
        document = alias(pool.fingerprint, system, document)
    elif document and pool._has_several_systems:
        document = f"{system}:{document}"  # or formats would take one for context of the other
    return Segment(
        key=key,
        id=key if masked and tells(campaign, id) else id,
        texts={name: str(column[place]) for name, column in pool.texts.items()},
        document=document,
        position=position,
        rate=rate,
    )


def members(pool: Pool, place: int) -> list[int]:
    """The places of all segments of a document, as the same system wrote it, in reading order."""
    return [int(p) for p in np.flatnonzero(pool._passages == pool._passages[place])]


def tells(campaign: Campaign, label: str) -> bool:
    """Whether an id or a document could tell which system it is.

    Among several systems any could: the file may list one after the other.
    """
    pool, system = campaign.pool, campaign.settings.system
    if pool._has_several_systems:
        return True
    return holds_name(label, system if pool.system is None else str(pool.system[0]))


def tasks(campaign: Campaign, which: str, context: int, masked: bool = True) -> Tasks:
    """What is to be rated, document by document in reading order.

    Documents come in a random order that the seed fixes: whoever stops half-way has then rated
    documents that chance chose, and not those that stand first in the pool.
    """
    check_choice("which", which, WHICH)
    check_count("context", context, 0)
    pool, sample, settings = campaign.pool, campaign.sample, campaign.settings
    wanted = set(sample.indices.tolist())
    if which == "last":
        wanted = set(sample.indices[-campaign.waves[-1].n :].tolist())
    if which == "unrated":
        names = set(campaign.unrated)
        wanted = {p for p in wanted if str(pool.ids[p]) in names}
    if which == "wanting":
        raters = campaign.answers().groupby("segment")["rater"].nunique().to_dict()
        wanted = {p for p in wanted if raters.get(str(pool.ids[p]), 0) < settings.each}
    rng = np.random.default_rng([settings.seed, 2])
    if pool.documents is None or not context:
        line = rng.permutation(sorted(wanted)).tolist()
        shown = [
            segment(campaign, place, position=k if pool.documents is None else None, masked=masked)
            for k, place in enumerate(line, 1)
        ]
    else:
        documents = rng.permutation(int(pool._passages.max()) + 1)
        shown = _with_context(campaign, wanted, context, documents, masked)
    systems = [settings.system] if pool.system is None else np.unique(pool.system).tolist()
    named = masked and any(holds_name(settings.name, s and str(s)) for s in systems)
    name = Tasks.name if named else settings.name
    return Tasks(
        tuple(shown), name=name, question=settings.question, limits=settings.limits,
        higher_is_better=settings.higher_is_better,
    )  # fmt: skip


def _with_context(
    campaign: Campaign, wanted: set[int], context: int, line: IntArray, masked: bool
) -> list[Segment]:
    """Wanted segments and up to ``context`` neighbours on either side, documents by ``line``."""
    codes = campaign.pool._passages
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    shown = []
    for code in sorted({int(codes[place]) for place in wanted}, key=line.__getitem__):
        whole = order[starts[code] : starts[code + 1]].tolist()
        rated = [k for k, place in enumerate(whole) if place in wanted]
        near = sorted({n for k in rated for n in range(k - context, k + context + 1)})
        shown += [
            segment(campaign, whole[k], position=k + 1, rate=whole[k] in wanted, masked=masked)
            for k in near
            if 0 <= k < len(whole)
        ]
    return shown
