"""MQM scores averaged over raters, as published beside the files of errors."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._means import by_output, read_means
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.formats._textfiles import absent, number
from fewgold.formats._texts import UNNAMED, plain_number, word
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
        note = "scores were negated: 0 is perfect, larger is worse."
        return read_means(self.name, path, HEADER, "seg_id", _rating, note)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """None for every segment to rate. The format has no texts, so no context either."""
        self.write_ratings(tasks, (), path)

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """The mean over raters of each system and segment, negated; None where there is none."""
        found, unrated = by_output(tasks, ratings)
        lines = [" ".join(HEADER)]
        for (system, name), made in found.items():
            mean = plain_number(-sum(r.score for r in made) / len(made) + 0.0)
            lines.append(f"{word(system or UNNAMED, 'the system')} {mean} {word(name, 'the id')}")
        lines += [f"{UNNAMED} None {word(s.key, 'the key')}" for s in unrated]
        write_texts({Path(path): "\n".join(lines) + "\n"})


def _rating(cells: dict[str, str]) -> Rating | None:
    text = cells["mqm_avg_score"]
    if absent(text):
        return None
    value = number(text)
    if value is None:
        raise DataError(f"expected a number or None as the score, got {text!r}")
    system = "" if cells["system"] == UNNAMED else cells["system"]
    # Adding 0 turns the -0.0 of a negated perfect score into 0.0.
    return Rating(cells["seg_id"], -value + 0.0, system=system)
