"""What files of mean scores share: a line a segment and system, no texts and no raters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._model import Rating, Reading, Rejected, Segment, Tasks
from fewgold.formats._textfiles import blank_separated
from fewgold.formats._texts import matched


def read_means(
    format: str,
    path: str | Path,
    header: Sequence[str],
    id: str,
    rating_of: Callable[[dict[str, str]], Rating | None],
    note: str,
) -> Reading:
    """Every line of a file as a rating, as blank, or as rejected.

    Parameters
    ----------
    format
        Name of the format.
    id
        The column that names the segment.
    rating_of
        Makes a rating of the cells by column: None where the score is absent, a `DataError` that
        says why where it makes no sense.
    note
        What a reader should know about the scores.
    """
    ratings: list[Rating] = []
    blank: list[str] = []
    rejected: list[Rejected] = []
    for line, cells in blank_separated(path, header):
        if isinstance(cells, str):
            rejected.append(line.rejected(cells))
            continue
        try:
            rating = rating_of(cells)
        except DataError as error:
            rejected.append(line.rejected(str(error)))
            continue
        if rating is None:
            blank.append(cells[id])
        else:
            ratings.append(rating)
    return Reading(
        format=format,
        rows=len(ratings) + len(blank) + len(rejected),
        used=len(ratings),
        ratings=tuple(ratings),
        blank=tuple(blank),
        rejected=tuple(rejected),
        notes=(note,),
    )


def by_output(
    tasks: Tasks, ratings: Iterable[Rating]
) -> tuple[dict[tuple[str, str], list[Rating]], list[Segment]]:
    """Ratings by system and segment, and the segments to rate that have none."""
    found: dict[tuple[str, str], list[Rating]] = {}
    rated = set()
    for segment, rating in matched(tasks, ratings):
        found.setdefault((rating.system, rating.segment), []).append(rating)
        rated.add(segment.key)
    return found, [s for s in tasks.to_rate if s.key not in rated]
