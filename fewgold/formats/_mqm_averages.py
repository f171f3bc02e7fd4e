"""MQM scores averaged over raters, as published beside the files of errors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Rejected, Tasks
from fewgold.formats._textfiles import absent, blank_separated, number
from fewgold.formats._texts import UNNAMED, matched, plain_number, word
from fewgold.tables import write_texts

HEADER = ("system", "mqm_avg_score", "seg_id")


class MqmAverages(Format):
    """``*.avg_seg_scores.tsv``: ``system mqm_avg_score seg_id``, one line a segment and system.

    Blanks and tabs mix in the published files, scores are negated there, and ``None`` is a
    missing one. Here larger is worse, as in every MQM file, and a missing score is blank.
    """

    name = "mqm-averages"
    title = "MQM averages (avg_seg_scores.tsv)"
    suffixes = (".avg_seg_scores.tsv", ".tsv")

    def recognises(self, probe: Probe) -> bool:
        """By the header alone, which must be the published one."""
        return bool(probe.lines) and tuple(probe.lines[0].split()) == HEADER

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The averages as ratings without a rater; larger is worse."""
        if any((names.id, names.score, names.rater)):
            raise DataError(f"files of MQM averages have the columns {', '.join(HEADER)} alone.")
        ratings: list[Rating] = []
        blank: list[str] = []
        rejected: list[Rejected] = []
        for line, cells in blank_separated(path, HEADER):
            if isinstance(cells, str):
                rejected.append(line.rejected(cells))
            elif absent(cells["mqm_avg_score"]):
                blank.append(cells["seg_id"])
            elif (value := number(cells["mqm_avg_score"])) is None:
                why = f"expected a number or None as the score, got {cells['mqm_avg_score']!r}"
                rejected.append(line.rejected(why))
            else:
                system = "" if cells["system"] == UNNAMED else cells["system"]
                # Adding 0 turns the -0.0 of a negated perfect score into 0.0.
                ratings.append(Rating(cells["seg_id"], -value + 0.0, system=system))
        return Reading(
            format=self.name,
            rows=len(ratings) + len(blank) + len(rejected),
            used=len(ratings),
            ratings=tuple(ratings),
            blank=tuple(blank),
            rejected=tuple(rejected),
            notes=("scores were negated: 0 is perfect, larger is worse.",),
        )

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """None for every segment to rate. The format has no texts, so no context either."""
        self.write_ratings(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """The mean over raters of each system and segment, negated; None where there is none."""
        found: dict[tuple[str, str], list[float]] = {}
        rated = set()
        for segment, rating in matched(tasks, ratings):
            found.setdefault((rating.system, rating.segment), []).append(rating.score)
            rated.add(segment.key)
        lines = [" ".join(HEADER)]
        for (system, name), scores in found.items():
            mean = plain_number(-sum(scores) / len(scores) + 0.0)
            lines.append(f"{word(system or UNNAMED, 'the system')} {mean} {word(name, 'the id')}")
        lines += [
            f"{UNNAMED} None {word(s.key, 'the key')}" for s in tasks.to_rate if s.key not in rated
        ]
        write_texts({Path(path): "\n".join(lines) + "\n"})
