"""Segments as raters get them, with their neighbours for context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import IntArray
from fewgold._validate import check_choice, check_count
from fewgold.formats import Segment, Tasks, key
from fewgold.pool import Pool

if TYPE_CHECKING:
    from fewgold.campaign._campaign import Campaign

WHICH = ("unrated", "wanting", "all", "last")


def segment(pool: Pool, place: int, position: int | None = None, rate: bool = True) -> Segment:
    """A segment as it is shown. Neither metrics nor the system are: they would sway raters."""
    id = str(pool.ids[place])
    return Segment(
        key=key(place, id, pool.fingerprint),
        id=id,
        texts={name: str(column[place]) for name, column in pool.texts.items()},
        document="" if pool.documents is None else str(pool.documents[place]),
        position=_position(pool, place) if position is None else position,
        rate=rate,
    )


def _position(pool: Pool, place: int) -> int:
    if pool.documents is None:
        return place + 1
    return int((pool.codes[:place] == pool.codes[place]).sum()) + 1


def tasks(campaign: Campaign, which: str, context: int) -> Tasks:
    """What is to be rated, document by document in reading order.

    Documents come in a random order that the seed fixes: whoever stops half-way has then rated
    documents that chance chose, and not those that stand first in the pool.
    """
    check_choice("which", which, WHICH)
    check_count("context", context, 0)
    pool, sample = campaign.pool, campaign.sample
    wanted = set(sample.indices.tolist())
    if which == "last":
        wanted = set(sample.indices[-campaign.waves[-1].n :].tolist())
    if which == "unrated":
        names = set(campaign.unrated)
        wanted = {p for p in wanted if str(pool.ids[p]) in names}
    if which == "wanting":
        answers = campaign.answers()
        raters = answers.groupby("segment")["rater"].nunique().to_dict()
        each = campaign.settings.each
        wanted = {p for p in wanted if raters.get(str(pool.ids[p]), 0) < each}
    settings = campaign.settings
    rng = np.random.default_rng([settings.seed, 2])
    if pool.documents is None or not context:
        shown = [segment(pool, place) for place in rng.permutation(sorted(wanted)).tolist()]
    else:
        shown = _with_context(pool, wanted, context, rng.permutation(int(pool.codes.max()) + 1))
    return Tasks(
        tuple(shown), name=settings.name, question=settings.question, limits=settings.limits
    )


def _with_context(pool: Pool, wanted: set[int], context: int, line: IntArray) -> list[Segment]:
    """Wanted segments and up to ``context`` neighbours on either side, documents by ``line``."""
    codes = pool.codes
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    shown = []
    for code in sorted({int(codes[place]) for place in wanted}, key=line.__getitem__):
        members = order[starts[code] : starts[code + 1]].tolist()
        rated = [k for k, place in enumerate(members) if place in wanted]
        near = sorted({n for k in rated for n in range(k - context, k + context + 1)})
        shown += [
            segment(pool, members[k], position=k + 1, rate=members[k] in wanted)
            for k in near
            if 0 <= k < len(members)
        ]
    return shown
