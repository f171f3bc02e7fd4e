"""Published mean scores, one line per segment and system: averages of MQM, direct assessment."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats.base import Format, Names, Probe, Rating, Reading, Tasks
from fewgold.formats.rows import (
    NUL,
    UNNAMED,
    Rows,
    TextLine,
    absent,
    finite,
    lines_of,
    matched,
    number,
    word,
)
from fewgold.io import write_texts


def blank_separated(
    path: str | Path, expected: Sequence[str]
) -> Iterator[tuple[TextLine, dict[str, str] | str]]:
    """Rows of a table separated by blanks or tabs: cells by name, or why they cannot be read."""
    lines = lines_of(path)
    header = lines[0].text.split() if lines else []
    missing = [name for name in expected if name not in header]
    if missing:
        raise DataError(
            f"{path}: expected the columns {', '.join(expected)}, got "
            f"{', '.join(header) or 'none'} (no {', '.join(missing)})."
        )
    for line in lines[1:]:
        cells = line.text.split()
        if "\0" in line.text:
            yield line, NUL
        elif len(cells) != len(header):
            yield line, f"expected {len(header)} values ({', '.join(header)}), got {len(cells)}"
        else:
            yield line, dict(zip(header, cells, strict=True))


class Means(Format):
    """Mean scores separated by blanks, without texts and raters."""

    _means: ClassVar[bool] = True
    #: The columns, as published, and which of them names the segment.
    header: ClassVar[tuple[str, ...]]
    id: ClassVar[str]

    @abstractmethod
    def _rating(self, cells: dict[str, str], wanted: str) -> Rating | None:
        """A line as a rating: None if the score is missing, a `DataError` if malformed."""

    @abstractmethod
    def _line(self, system: str, name: str, ratings: Sequence[Rating]) -> str:
        """The line for an output, which may have no rating yet."""

    def _recognises(self, probe: Probe) -> bool:
        """By the header alone, which must be the published one."""
        return bool(probe.lines) and tuple(probe.lines[0].split()) == self.header

    def _read(self, path: str | Path, wanted: str, note: str) -> Reading:
        """Read every line as a rating, as blank, or as rejected; ``note`` describes the scores."""
        rows = Rows(self.name)
        rows.notes.append(note)
        for line, cells in blank_separated(path, self.header):
            try:
                if isinstance(cells, str):
                    raise DataError(cells)
                rating = self._rating(cells, wanted)
            except DataError as error:
                rows.rejected.append(line.rejected(str(error)))
                continue
            if rating is None:
                rows.blank.append(cells[self.id])
            else:
                rows.ratings.append(rating)
        return rows.reading()

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write every segment to rate without a score; the format has no texts or context."""
        self.write_ratings(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write the mean rating of each system and segment; no score if there are none."""
        found: dict[tuple[str, str], list[Rating]] = {}
        rated = set()
        for segment, rating in matched(tasks, ratings):
            found.setdefault((rating.system, rating.segment), []).append(rating)
            rated.add(segment.key)
        lines = [" ".join(self.header)]
        for (system, name), made in found.items():
            whose = word(system or UNNAMED, "the system")
            lines.append(self._line(whose, word(name, "the id"), made))
        left = [s.key for s in tasks.to_rate if s.key not in rated]
        lines += [self._line(UNNAMED, word(key, "the key"), ()) for key in left]
        write_texts({Path(path): "\n".join(lines) + "\n"})


def _score(text: str, what: str, gap: str) -> float | None:
    """The number in a cell, None for a gap, or an error."""
    value = finite(text)
    if value is None and not absent(text):
        raise DataError(f"expected a number or {gap} as {what}, got {text!r}")
    return value


class MqmAverages(Means):
    """``*.avg_seg_scores.tsv``: ``system mqm_avg_score seg_id``, one line per segment and system.

    Published files mix blanks and tabs, negate scores, and write ``None`` for a missing one. Here
    larger is worse, as in every MQM file, and a missing score is blank.
    """

    name = "mqm-averages"
    title = "MQM averages (avg_seg_scores.tsv)"
    suffixes = (".avg_seg_scores.tsv", ".tsv")
    header = ("system", "mqm_avg_score", "seg_id")
    id = "seg_id"

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the averages as ratings without a rater; larger is worse."""
        if any((names.id, names.score, names.rater)):
            raise DataError(
                f"files of MQM averages have only the columns {', '.join(self.header)}."
            )
        note = "scores were negated: 0 is perfect, larger is worse."
        return self._read(path, "mqm_avg_score", note)

    def _rating(self, cells: dict[str, str], wanted: str) -> Rating | None:
        value = _score(cells[wanted], "the score", "None")
        system = "" if cells["system"] == UNNAMED else cells["system"]
        # Adding 0 turns the -0.0 of a negated perfect score into 0.0.
        return None if value is None else Rating(cells["seg_id"], -value + 0.0, system=system)

    def _line(self, system: str, name: str, ratings: Sequence[Rating]) -> str:
        if not ratings:
            return f"{system} None {name}"
        return f"{system} {number(-sum(r.score for r in ratings) / len(ratings) + 0.0)} {name}"


_DA_SCORES = {"RAW.SCR": "raw", "Z.SCR": "z"}


class WmtDa(Means):
    """``ad-seg-scores-*.csv``: ``SYS SID RAW.SCR Z.SCR N``, separated by blanks.

    Each line is the mean of N assessments of a system's output of a segment, which is called
    "document_7", counting from 0. ``score`` is the raw mean on 0 to 100; ``names.score`` may ask
    for ``Z.SCR``, standardised by rater. ``details`` keeps ``raw``, ``z`` and ``n``.

    A rating that is itself a mean counts as often as ``details["n"]`` says when it is written. The
    standardised score is known only if every rating has ``details["z"]``.
    """

    name = "wmt-da"
    title = "WMT direct assessment (SYS SID RAW.SCR Z.SCR N)"
    suffixes = (".csv",)
    header = ("SYS", "SID", "RAW.SCR", "Z.SCR", "N")
    id = "SID"

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the means as ratings without a rater; larger is better."""
        wanted = names.score or "RAW.SCR"
        if wanted not in _DA_SCORES:
            raise UnknownNameError("score column", wanted, _DA_SCORES)
        if names.id or names.rater:
            columns = ", ".join(self.header)
            raise DataError(f"files of WMT assessments have only the columns {columns}.")
        note = f"the score is {wanted}, a mean over raters; larger is better."
        return self._read(path, wanted, note)

    def _rating(self, cells: dict[str, str], wanted: str) -> Rating | None:
        values = {name: _score(cells[c], c, "NA") for c, name in _DA_SCORES.items()}
        details: dict[str, Any] = {name: v for name, v in values.items() if v is not None}
        count = finite(cells["N"])
        if count is None or count != int(count) or count < 0:
            raise DataError(f"expected a whole number of assessments as N, got {cells['N']!r}")
        if count == 0 and details:
            raise DataError("there is a score, but N says that nobody gave it")
        score = values[_DA_SCORES[wanted]]
        if score is None:
            return None
        system = "" if cells["SYS"] == UNNAMED else cells["SYS"]
        return Rating(cells["SID"], score, system=system, details={**details, "n": int(count)})

    def _line(self, system: str, name: str, ratings: Sequence[Rating]) -> str:
        counts = [max(1, int(r.details.get("n", 1))) for r in ratings]
        z = [float(r.details.get("z", math.nan)) for r in ratings]
        # A score read only as a z score is that z score.
        raw = [float(r.details.get("raw", math.nan if "z" in r.details else r.score))
               for r in ratings]  # fmt: skip
        return f"{system} {name} {_mean(raw, counts)} {_mean(z, counts)} {sum(counts)}"


def _mean(values: list[float], counts: list[int]) -> str:
    if not values or any(math.isnan(v) for v in values):
        return "NA"
    if len(values) == 1:  # exactly as read
        return str(number(values[0]))
    total = math.fsum(v * n for v, n in zip(values, counts, strict=True))
    return str(number(total / sum(counts)))
