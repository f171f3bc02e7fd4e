"""A table as scores of segments in documents, the same segments for every system."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._arrays import codes_of
from fewgold._validate import check_choice
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool
from fewgold.reliability._columns import (
    Score,
    labels_of,
    numbers_of,
    opened,
    pool_columns,
    scores_given,
)
from fewgold.reliability._scores import ONE, DocumentScores
from fewgold.reliability._units import check_enough, check_paired, cube_of, positions, refuse_gaps


def read_scores(
    data: Any,
    *,
    score: Score,
    document: str | None,
    system: str | None,
    segment: str | None,
    gaps: str,
) -> DocumentScores:
    """Read a frame or a pool; see `fewgold.reliability.reliability` for the arguments."""
    check_choice("gaps", gaps, ("error", "drop"))
    column, names = opened(data)
    if isinstance(data, Pool):
        document, system, segment = pool_columns(data, document, system, segment)
    if document is None:
        raise DataError("reliability goes by documents: name the column that holds them.")
    given = scores_given(score, column, names)
    for name in (document, system, segment):
        if name is not None and name not in names:
            raise UnknownNameError("column", name, names)
    roles = [name for name in (document, system, segment) if name is not None]
    if len(set(roles)) < len(roles):
        raise DataError(f"documents, systems and segments need a column each; got {roles}.")
    docs = labels_of(document, column(document))
    n = docs.size
    teams = np.full(n, ONE) if system is None else labels_of(system, column(system))
    values = np.stack([numbers_of(name, v, n) for name, v in given.items()])
    doc, team = codes_of(docs), codes_of(teams)
    if segment is None:
        place = positions(doc, team)
        check_paired(doc, team, docs)
    else:
        place = codes_of(labels_of(segment, column(segment)))
    unit = codes_of(doc * (int(place.max()) + 1) + place)
    cube = cube_of(values, team, unit, repeat=segment or "position", alone=system is None)
    first = np.unique(unit, return_index=True)[1]
    by_doc = np.argsort(doc[first], kind="stable")
    cube, of_doc = cube[..., by_doc], doc[first][by_doc]
    whole = np.isfinite(cube).all((0, 1))
    if not whole.all():
        refuse_gaps(cube, tuple(given), gaps)
        cube, of_doc = cube[..., whole], of_doc[whole]
    kept, sizes = np.unique(of_doc, return_counts=True)
    check_enough(kept.size, of_doc.size)
    cube.setflags(write=False)
    return DocumentScores(
        scores=tuple(given),
        systems=tuple(str(t) for t in teams[np.unique(team, return_index=True)[1]]),
        documents=tuple(str(d) for d in docs[np.unique(doc, return_index=True)[1]][kept]),
        values=cube,
        sizes=sizes.astype(np.int64),
        left_out=int((~whole).sum()),
    )
