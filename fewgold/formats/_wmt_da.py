"""Direct assessment of WMT: means per segment, raw and standardised."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Rejected, Tasks
from fewgold.formats._textfiles import absent, blank_separated, number
from fewgold.formats._texts import UNNAMED, matched, plain_number, word
from fewgold.tables import write_texts

HEADER = ("SYS", "SID", "RAW.SCR", "Z.SCR", "N")
_SCORES = {"RAW.SCR": "raw", "Z.SCR": "z"}


class WmtDa(Format):
    """``ad-seg-scores-*.csv``: ``SYS SID RAW.SCR Z.SCR N``, separated by blanks.

    Each line is the mean of N assessments of a system's output of a segment, which is called
    "document_7", counting from 0. ``score`` is the raw mean on 0 to 100; ``names.score`` may ask
    for ``Z.SCR``, standardised by rater. ``details`` keeps ``raw``, ``z`` and ``n``.
    """

    name = "wmt-da"
    title = "WMT direct assessment (SYS SID RAW.SCR Z.SCR N)"
    suffixes = (".csv",)

    def recognises(self, probe: Probe) -> bool:
        """By the header alone, which must be the published one."""
        return bool(probe.lines) and tuple(probe.lines[0].split()) == HEADER

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The means as ratings without a rater; larger is better."""
        wanted = names.score or "RAW.SCR"
        if wanted not in _SCORES:
            raise UnknownNameError("score column", wanted, _SCORES)
        if names.id or names.rater:
            raise DataError(f"files of WMT assessments have the columns {', '.join(HEADER)} alone.")
        ratings: list[Rating] = []
        blank: list[str] = []
        rejected: list[Rejected] = []
        for line, cells in blank_separated(path, HEADER):
            if isinstance(cells, str):
                rejected.append(line.rejected(cells))
            elif why := _wrong(cells):
                rejected.append(line.rejected(why))
            elif absent(cells[wanted]):
                blank.append(cells["SID"])
            else:
                ratings.append(_rating(cells, wanted))
        return Reading(
            format=self.name,
            rows=len(ratings) + len(blank) + len(rejected),
            used=len(ratings),
            ratings=tuple(ratings),
            blank=tuple(blank),
            rejected=tuple(rejected),
            notes=(f"the score is {wanted}, a mean over raters; larger is better.",),
        )

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """NA for every segment to rate. The format has no texts, so no context either."""
        self.write_ratings(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Means over the assessments of each system and segment; NA where there are none.

        A rating that is itself a mean counts as often as ``details["n"]`` says. The standardised
        score is known only where every rating brings ``details["z"]``.
        """
        found: dict[tuple[str, str], list[Rating]] = {}
        rated = set()
        for segment, rating in matched(tasks, ratings):
            found.setdefault((rating.system, rating.segment), []).append(rating)
            rated.add(segment.key)
        lines = [" ".join(HEADER)]
        for (system, name), made in found.items():
            counts = [max(1, int(r.details.get("n", 1))) for r in made]
            z = [float(r.details.get("z", math.nan)) for r in made]
            # A score that came with nothing but its z is that z.
            raw = [
                float(r.details.get("raw", math.nan if "z" in r.details else r.score)) for r in made
            ]
            lines.append(
                f"{word(system or UNNAMED, 'the system')} {word(name, 'the id')} "
                f"{_mean(raw, counts)} {_mean(z, counts)} {sum(counts)}"
            )
        lines += [
            f"{UNNAMED} {word(s.key, 'the key')} NA NA 0"
            for s in tasks.to_rate
            if s.key not in rated
        ]
        write_texts({Path(path): "\n".join(lines) + "\n"})


def _wrong(cells: dict[str, str]) -> str:
    for name in _SCORES:
        if not absent(cells[name]) and number(cells[name]) is None:
            return f"expected a number or NA as {name}, got {cells[name]!r}"
    count = number(cells["N"])
    if count is None or count != int(count) or count < 0:
        return f"expected a whole number of assessments as N, got {cells['N']!r}"
    if count == 0 and not all(absent(cells[name]) for name in _SCORES):
        return "there is a score, but N says that nobody gave it"
    return ""


def _rating(cells: dict[str, str], wanted: str) -> Rating:
    values = {name: number(cells[column]) for column, name in _SCORES.items()}
    details: dict[str, Any] = {name: v for name, v in values.items() if v is not None}
    score = values[_SCORES[wanted]]
    assert score is not None  # checked before
    system = "" if cells["SYS"] == UNNAMED else cells["SYS"]
    return Rating(
        cells["SID"], score, system=system, details={**details, "n": int(float(cells["N"]))}
    )


def _mean(values: list[float], counts: list[int]) -> str:
    if any(math.isnan(v) for v in values):
        return "NA"
    if len(values) == 1:  # exactly as it came
        return plain_number(values[0])
    total = math.fsum(v * n for v, n in zip(values, counts, strict=True))
    return plain_number(total / sum(counts))
