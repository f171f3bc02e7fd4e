"""Formats of annotation tools and of published ratings: read answers, write tasks.

>>> from fewgold import formats
>>> "label-studio" in formats.names()
True
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats import logs
from fewgold.formats.base import Criterion as Criterion  # all with "as": not public
from fewgold.formats.base import Format, Names, Rating, Reading, Segment, Tasks
from fewgold.formats.base import Keys as Keys
from fewgold.formats.base import Probe as Probe
from fewgold.formats.base import RatingScale as RatingScale
from fewgold.formats.base import Rejected as Rejected
from fewgold.formats.base import alias as alias
from fewgold.formats.base import holds_name as holds_name
from fewgold.formats.base import is_key as is_key
from fewgold.formats.base import key as key
from fewgold.formats.mqm import MqmWeights
from fewgold.formats.mtme import Tree as Tree
from fewgold.formats.mtme import is_tree_of_pair as is_tree_of_pair
from fewgold.formats.mtme import read_tree
from fewgold.io.columns import METRIC, known_orientation, looks_human, looks_like_position

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "Format", "MqmWeights", "Names", "Rating", "Reading", "Segment", "Tasks", "get", "names",
    "rated_table", "read", "read_tree", "recognise",
]  # fmt: skip


# In the order in which they are tried on a file: the most specific first, plain tables last.
_WHERE = {
    "mt-metrics-eval": "mtme:MtMetricsEval",
    "label-studio": "label_studio:LabelStudioJson",
    "label-studio-csv": "label_studio:LabelStudioCsv",
    "pearmut": "pearmut:Pearmut",
    "argilla": "argilla:Argilla",
    "potato": "potato:Potato",
    "mqm": "mqm:MqmTsv",
    "mqm-averages": "means:MqmAverages",
    "appraise": "appraise:Appraise",
    "wmt-da": "means:WmtDa",
    "xlsx": "excel:Xlsx",
    "parquet": "excel:Parquet",
    "jsonl": "tabular:JsonLines",
    "tsv": "tabular:Tsv",
    "csv": "tabular:Csv",
}

#: Formats that are plain tables, which may hold anything.
TABULAR = ("xlsx", "parquet", "jsonl", "tsv", "csv")


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(_WHERE)


@cache
def get(name: str) -> Format:
    """The format with this name."""
    if name not in _WHERE:
        raise UnknownNameError("format", name, _WHERE)
    module, _, cls = _WHERE[name].partition(":")
    made = getattr(import_module(f"fewgold.formats.{module}"), cls)()
    assert isinstance(made, Format)
    return made


def recognise(path: str | Path) -> Format | None:
    """The format of a file (or folder), judged by its content; None if unknown."""
    if is_tree_of_pair(Path(path)):
        return get("mt-metrics-eval")
    probe = Probe(path)
    if not probe.path.exists():
        raise DataError(f"there is no file {str(path)!r}.")
    return next((f for f in map(get, _WHERE) if f._recognises(probe)), None)


def read(
    path: str | Path, format: str | None = None, names: Names = Names(),  # noqa: B008
    criteria: Sequence[Criterion] = (),
) -> Reading:  # fmt: skip
    """Read the answers in a file, with several criteria if any; recognises its format."""
    found = recognise(path) if format is None else get(format)
    if found is None:
        raise DataError(
            f"{str(path)!r} is in none of the known formats: {', '.join(_WHERE)}.",
            hints={
                "python": "If it is one of them anyway, name it with format=.",
                "cli": "If it is one of them anyway, name it with --from.",
                "web": "If it is one of them anyway, choose it.",
            },
        )
    if criteria:
        from fewgold.formats.criteria import read_criteria

        return read_criteria(found, path, names, criteria)
    return found.read(path, names)


def check_fits(format: Format, tasks: Tasks) -> None:
    """Refuse several criteria where answers have one score, and verdicts where there are means."""
    if tasks.criteria and not format._several:
        able = ", ".join(name for name in _WHERE if get(name)._several)
        raise DataError(
            f"{format.title} holds one score per answer, but there are {len(tasks.criteria)} "
            f"criteria ({', '.join(tasks._scores)}). These hold several: {able}."
        )
    if tasks.pairs and format._means:
        raise DataError(
            f"{format.title} holds mean scores, and verdicts on pairs have no mean. Choose a "
            "format with an answer per rater, such as csv."
        )


@dataclass(frozen=True, eq=False)
class RatedTable:
    """Ratings as a table for every command: one row per output, or per output and rater."""

    frame: pd.DataFrame
    format: str
    notes: tuple[str, ...] = ()


def _logged(log: logs.EvalLog) -> RatedTable:
    return RatedTable(log.frame(), log.format, log.sentences)


def rated_table(
    path: str | Path, pair: str | None = None, raters: bool = False, source: str | None = None
) -> RatedTable | None:
    """Read published ratings, an annotation tool's export or an evaluation log as a table.

    None for other files.

    Parameters
    ----------
    path
        A file, or a folder of mt-metrics-eval.
    pair
        The language pair in such a folder; optional if there is only one, or if the path ends with
        it, such as ``wmt20/en-de``.
    raters
        Keep one row for each rater; otherwise the score of an output is the mean of its ratings.
    source
        The tool that wrote the evaluation log (see `fewgold.formats.logs.names`), if its content
        does not show it.

    Returns
    -------
    RatedTable
        ``id``, ``document``, ``system``, ``rater``, ``source`` and ``target`` as far as the file
        has them, and the scores in ``mqm`` or ``score``. For a folder, the result of `read_tree`,
        with ids that are the same for all systems. For an evaluation log, the scores of judges as
        metrics and human scores in ``human``.
    """
    place = Path(path)
    if not place.exists() and not is_tree_of_pair(place):
        return None
    if source is not None:
        return _logged(logs.read(path, source))
    found = recognise(path)
    if found is None or found.name in TABULAR:
        log = logs.recognise(path)
        return None if log is None else _logged(logs.read(path, log.name))
    if found.name == "mt-metrics-eval" and not place.is_file():
        tree = read_tree(place, pair)
        both = zip(tree["id"], tree["system"], strict=True)
        ids = [id.removeprefix(f"{system}:") for id, system in both]
        return RatedTable(_metrics_marked(tree.assign(id=ids)), found.name)
    reading = found.read(path)
    if not reading._require():
        raise DataError(f"{str(path)!r} holds no ratings ({found.title}).")
    notes = [f"ratings in the format of {found.title}", *reading.notes]
    if reading.blank:
        count = len(reading.blank)
        notes.append(f"{count} row{'s' * (count > 1)} without an answer left out")
    frame = _frame(reading)
    if not raters and "rater" in frame.columns:
        keys = [name for name in ("id", "system") if name in frame.columns]
        rows = len(frame)
        scores = frame.groupby(keys, sort=False)[frame.columns[-1]].mean()
        frame = frame.drop_duplicates(keys).drop(columns="rater").reset_index(drop=True)
        frame[frame.columns[-1]] = scores.to_numpy()
        if len(frame) < rows:
            notes.append(f"{rows} ratings of {len(frame)} outputs: the mean of each is taken")
    return RatedTable(frame, found.name, tuple(notes))


def _metrics_marked(tree: pd.DataFrame) -> pd.DataFrame:
    """The table of a tree, whose metrics are never taken for human scores, whatever their name."""
    texts = {"id", "document", "domain", "position", "system", "source", "output"}
    called = {}
    for name in map(str, tree.columns):
        if name in texts or name.startswith(("reference", "human_")):
            continue
        known = known_orientation(name, tree[name].dropna().to_numpy(dtype=float)) is not None
        if looks_human(name, known) or looks_like_position(name):
            called[name] = f"{METRIC}{name}"
    return tree.rename(columns=called)


def _frame(reading: Reading) -> pd.DataFrame:
    import pandas as pd

    score = "mqm" if reading.format.startswith("mqm") else "score"
    rows: list[dict[str, Any]] = [
        {
            "id": r.segment, "document": r.details.get("document", ""), "system": r.system,
            "rater": r.rater, "source": r.details.get("source", ""),
            "target": r.details.get("target", ""), score: r.score,
        }
        for r in reading.ratings
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame[[name for name in frame.columns if name == score or (frame[name] != "").any()]]
