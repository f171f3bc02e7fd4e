"""Direct assessment of WMT: means per segment, raw and standardised."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Tasks
from fewgold.formats.rows import number
from fewgold.formats.text import UNNAMED, absent, by_output, finite, read_means, word
from fewgold.io import write_texts

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
        note = f"the score is {wanted}, a mean over raters; larger is better."
        return read_means(self.name, path, HEADER, "SID", partial(_rating, wanted), note)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """NA for every segment to rate. The format has no texts, so no context either."""
        self.write_ratings(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Means over the assessments of each system and segment; NA where there are none.

        A rating that is itself a mean counts as often as ``details["n"]`` says. The standardised
        score is known only where every rating brings ``details["z"]``.
        """
        found, unrated = by_output(tasks, ratings)
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
        lines += [f"{UNNAMED} {word(s.key, 'the key')} NA NA 0" for s in unrated]
        write_texts({Path(path): "\n".join(lines) + "\n"})


def _rating(wanted: str, cells: dict[str, str]) -> Rating | None:
    values = {name: _score(column, cells[column]) for column, name in _SCORES.items()}
    details: dict[str, Any] = {name: v for name, v in values.items() if v is not None}
    count = finite(cells["N"])
    if count is None or count != int(count) or count < 0:
        raise DataError(f"expected a whole number of assessments as N, got {cells['N']!r}")
    if count == 0 and details:
        raise DataError("there is a score, but N says that nobody gave it")
    score = values[_SCORES[wanted]]
    if score is None:
        return None
    system = "" if cells["SYS"] == UNNAMED else cells["SYS"]
    return Rating(cells["SID"], score, system=system, details={**details, "n": int(count)})


def _score(column: str, text: str) -> float | None:
    if absent(text):
        return None
    value = finite(text)
    if value is None:
        raise DataError(f"expected a number or NA as {column}, got {text!r}")
    return value


def _mean(values: list[float], counts: list[int]) -> str:
    if any(math.isnan(v) for v in values):
        return "NA"
    if len(values) == 1:  # exactly as it came
        return str(number(values[0]))
    total = math.fsum(v * n for v, n in zip(values, counts, strict=True))
    return str(number(total / sum(counts)))
