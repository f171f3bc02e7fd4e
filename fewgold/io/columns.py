"""The roles of a table's columns: given by the user, otherwise guessed from names and cells.

Every command, every page and the doctor use `roles`, so that all interpret a table alike.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray
from fewgold.common.text import counted, verb
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.cells import Column, as_numbers, column_of, is_empty, read_as_sentence

if TYPE_CHECKING:
    import pandas as pd

# What people call their columns, and what a name says about a column ------------------------------

# Names that people give to these columns, best first. Compared in lower case without separators.
ID_NAMES = ("id", "segment", "segmentid", "segid", "seg", "globalsegid", "itemid", "item", "uid")
DOCUMENT_NAMES = (
    "document", "documentid", "docid", "doc", "conversation", "conversationid", "dialogue",
    "dialogueid", "dialog", "dialogid", "thread", "threadid", "ticket", "ticketid",
)  # fmt: skip
HUMAN_NAMES = (
    "human", "score", "rating", "gold", "mqm", "da", "humanscore", "label", "passed", "stars",
    "adequate",
)  # fmt: skip
COST_NAMES = ("cost", "seconds", "price")
SYSTEM_NAMES = ("system", "model", "sys", "systemid", "systemname", "modelname", "modelid")
POSITION_NAMES = ("position", "docsegid", "index", "line")
RATER_NAMES = (
    "rater", "raterid", "annotator", "annotatorid", "user", "userid", "username", "worker",
    "workerid", "evaluator", "evaluatorid", "participant", "completedby",
)  # fmt: skip
TIME_NAMES = ("time", "timestamp", "ratedat", "createdat", "updatedat", "submittedat", "date")
# Texts that raters look at. References are left out: in most protocols raters must not see them.
INPUT_NAMES = ("source", "src", "input", "prompt", "question", "article", "context")
OUTPUT_NAMES = (
    "output", "target", "tgt", "mt", "translation", "hypothesis", "hyp", "response", "answer",
    "summary", "reply", "completion", "text",
)  # fmt: skip
REFERENCE_NAMES = ("reference", "references", "groundtruth", "expectedoutput")
TEXT_NAMES = (*INPUT_NAMES, *OUTPUT_NAMES)
#: Every name above: a header that has one of them is a header.
KNOWN_NAMES = frozenset(
    (*ID_NAMES, *DOCUMENT_NAMES, *HUMAN_NAMES, *COST_NAMES, *SYSTEM_NAMES, *POSITION_NAMES,
     *RATER_NAMES, *TIME_NAMES, *TEXT_NAMES, "key", "rate", "comment", "details")
)  # fmt: skip
# Parts of names that indicate human scores, and parts that do so unless they belong to a judge or
# a known metric ("Judge score", "COMET-DA", "bert_score").
_HUMAN_PARTS = {"human", "gold", "rater", "raters", "annotator", "rating", "ratings", "label"}
_HUMAN_UNLESS_METRIC = {
    "score", "scores", "mqm", "da", "z", "adequacy", "fluency", "likert", "factuality", "factual",
    "faithfulness", "naturalness", "coherence", "engagingness", "errors", "major", "minor",
}  # fmt: skip
_METRIC_PARTS = {"judge", "llm", "metric"}
_POSITION_PARTS = {
    "id", "ids", "position", "pos", "index", "idx", "line", "row", "number", "no", "nr",
}  # fmt: skip


def plain(name: str) -> str:
    """A column's name in lower case, letters and digits only."""
    return "".join(c for c in name.lower() if c.isalnum())


def guess_column(columns: Iterable[str], names: Iterable[str]) -> str | None:
    """The column whose name is among ``names``; the earliest name wins, and ties give no guess."""
    found = list(columns)
    for wanted in names:
        hits = [c for c in found if plain(str(c)) == wanted]
        if len(hits) == 1:
            return hits[0]
        if hits:
            return None
    return None


def parts(name: str) -> list[str]:
    """The words of a column's name: ``"raterA_score2"`` gives rater, a, score."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return re.findall(r"[^\W\d_]+", spaced.lower())


# Words in the name of a column that say how certain a rating is. A judge's confidence c in its
# verdict is the probability of a pass or of a fail, and √(c(1 − c)) is the same for both.
_SURENESS = {
    "spread": ("uncertainty", "uncertain", "spread", "sd", "std", "stdev", "sigma", "entropy"),
    "probability": ("probability", "prob", "confidence"),
}


def sureness(name: str) -> str | None:
    """Whether a column's name suggests a ``spread`` of ratings or a ``probability``.

    >>> sureness("judge_prob"), sureness("uncertainty"), sureness("comet")
    ('probability', 'spread', None)
    """
    words = set(parts(name))
    found = [kind for kind, known in _SURENESS.items() if words & set(known)]
    return found[0] if len(found) == 1 else None


#: A column whose name begins with one of these is a metric, whatever follows.
METRIC = "metric."


def looks_human(name: str, known_metric: bool = False) -> bool:
    """True for a column that may hold human scores, and so must never be used as a metric.

    ``known_metric`` says that the name is a common automatic metric's.

    >>> looks_human("faithfulness"), looks_human("metric.faithfulness"), looks_human("Judge score")
    (True, False, False)
    """
    if str(name).startswith(METRIC):
        return False
    words = set(parts(name))
    if plain(name).startswith("human") or words & _HUMAN_PARTS:
        return True
    if known_metric or words & _METRIC_PARTS:
        return False
    return plain(name) in HUMAN_NAMES or bool(words & _HUMAN_UNLESS_METRIC)


def looks_like_position(name: str) -> bool:
    """True for a column that numbers or names segments, such as ``doc_seg_id``."""
    if str(name).startswith(METRIC):
        return False
    return plain(name) in POSITION_NAMES or bool(set(parts(name)) & _POSITION_PARTS)


# Which way common metrics point: +1 larger is better, -1 larger is worse, 0 neither ---------------

# Looked up as a part of the plain column name, longest first, so that "characTER" and "metricX" are
# not mistaken for something else.
_LARGER_IS_BETTER = (
    "comet", "bleurt", "bleu", "chrf", "bertscore", "bartscore", "moverscore", "meteor", "rouge",
    "yisi", "prism", "xcomet", "cometkiwi", "kiwi", "unieval", "unite", "gemba", "factcc", "qags",
    "feqa", "summac", "alignscore", "sentsim", "nist", "parchrf", "parbleu", "esim", "swss",
)  # fmt: skip
_LARGER_IS_WORSE = ("metricx", "perplexity", "characterrate")
# Error rates: larger is worse, but often published negated, so that the sign of the values decides.
_ERROR_RATES = ("ter", "hter", "wer", "cer", "character", "parter", "eed", "bbter", "bbcharacter")
_COVARIATES = ("length", "words", "tokens", "chars", "characters", "sentences")


def known_orientation(name: str, values: FloatArray) -> int | None:
    """Orientation of a metric with a common name, else None (unknown)."""
    key = plain(name.removeprefix(METRIC))
    if any(key == word or key.endswith(word) for word in _COVARIATES):
        return 0
    if key in _ERROR_RATES:
        if (values >= 0).all():
            return -1
        return 1 if (values <= 0).all() else None
    if any(word in key for word in _LARGER_IS_WORSE):
        return -1
    if any(word in key for word in _LARGER_IS_BETTER):
        return 1
    return None


def told_orientation(signs: Mapping[str, int], metrics: Mapping[str, FloatArray]) -> str:
    """Orientations that cannot be inferred from names, in the form for ``--orientation``."""
    own = {m: v for m, v in signs.items() if v != known_orientation(m, metrics[m])}
    return ",".join(f"{metric}={sign:+d}" for metric, sign in sorted(own.items()))


#: A metric with a larger share of gaps is not used unless it is named.
MOST_GAPS = 0.2
#: Words in the names of columns that raters must not see, or need not.
HIDDEN = {"ref", "refs", "reference", "references", "comment", "comments", "note", "notes"}
# Parts of the names of columns that count raters' marks.
_COUNTED = {"errors", "major", "minor"}
#: Columns with more values than this are not taken as systems unless named accordingly.
_MOST_SYSTEMS = 20
# The share of all pairs of segment and system that must be present: a few outputs may have failed.
_CROSSED = 0.9
_ONE = ("id", "document", "system", "rater", "cost")


class Reason(Enum):
    """Why a column of numbers is not used as a metric, in words."""

    HUMAN = "may be human scores"
    ROW_NUMBERS = "numbers the rows"
    REFERENCE = "a reference"
    CONSTANT = "the same everywhere"
    GAPS = "gaps"
    ODD_CELLS = "cells without a number"
    LABELLED = "filled in for labelled rows only"


@dataclass(frozen=True)
class LeftOut:
    """A column that is not used as a metric, the reason, and whether naming it would help."""

    reason: Reason
    details: str = ""
    usable: bool = False

    def __str__(self) -> str:
        return self.details or self.reason.value


#: Human scores are never a metric unless the user says so.
MAYBE_HUMAN = LeftOut(Reason.HUMAN, usable=True)


@dataclass(frozen=True, eq=False)
class Roles:
    """A table and the roles of its columns.

    Parameters
    ----------
    table
        The table, with the columns of scores as numbers.
    id, document, system, rater, cost
        One column name each, or None.
    human
        The column of human scores, or one per rater; empty if unclear.
    humans
        All columns that look like human scores.
    metrics
        The metrics; ``left_out`` lists columns not used, and why.
    texts
        Texts that raters see.
    guessed
        The guessed column of each role that the user did not name.
    gaps
        Number of gaps in each metric used; they are filled with its mean.
    cells
        Every column as numbers, parsed on first use.
    """

    table: pd.DataFrame
    id: str | None = None
    document: str | None = None
    system: str | None = None
    rater: str | None = None
    cost: str | None = None
    human: tuple[str, ...] = ()
    humans: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    orientation: Mapping[str, int] = field(default_factory=dict)
    guessed: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)
    gaps: Mapping[str, int] = field(default_factory=dict)
    cells: _Cells = field(default_factory=lambda: _Cells({}), repr=False)

    @property
    def columns(self) -> dict[str, Any]:
        """The roles as arguments of `Pool.from_table`, also stored in sample files."""
        return {
            "id": self.id, "document": self.document, "metrics": list(self.metrics),
            "cost": self.cost, "system": self.system, "texts": list(self.texts),
            "orientation": dict(self.orientation),
        }  # fmt: skip

    @property
    def gappy(self) -> list[str]:
        """Columns that would be metrics if they had no gaps, or no words in place of gaps."""
        return [
            name
            for name, why in self.left_out.items()
            if why.reason is Reason.GAPS
            or (why.reason is Reason.ODD_CELLS and set(self.cells[name].odd) == {"words"})
        ]

    def notes(self, audience: str = "cli") -> list[str]:
        """What was guessed, left out or filled, in sentences.

        On a page (``"web"``) the forms show the guesses, and there are no options to name.
        """
        lines = []
        if self.guessed and audience != "web":
            parts = ", ".join(f"{role} = {what}" for role, what in self.guessed.items())
            lines.append(f"columns guessed: {parts}")
        if self.left_out:
            parts = ", ".join(f"{name} ({why})" for name, why in self.left_out.items())
            usable = audience != "web" and any(why.usable for why in self.left_out.values())
            hint = " To use one of them anyway, name the metrics with --metrics."
            lines.append(f"not used as metrics: {parts}.{hint if usable else ''}")
        if self.gaps:
            parts = ", ".join(f"{name} ({count})" for name, count in self.gaps.items())
            lines.append(f"gaps in metrics, filled with the mean of the metric: {parts}")
        read = {n: self.cells[n].read_as for n in (*self.metrics, *self.human) if n in self.cells}
        return [*lines, *(read_as_sentence(n, how) for n, how in read.items() if how)]

    def one_human(self) -> str:
        """The single column of human scores; raises an error if there are none or several."""
        found = self.some_humans()
        if len(found) > 1:
            raise self._which(found)
        return found[0]

    def some_humans(self, option: str = "--human") -> tuple[str, ...]:
        """The columns of human scores, one per rater; raises an error if unclear."""
        if not self.human:
            raise self._which(self.humans, option)
        return self.human

    def _which(self, likely: Sequence[str], option: str = "--human") -> DataError:
        names = [str(c) for c in self.table.columns]
        hint = f" ({' or '.join(likely)}?)" if likely else f": {', '.join(names)}"
        words = [n for n in human_columns(names) if n not in (self.rater, *self.humans)]
        said = ""
        if not likely and words:
            said = f" {words[0]!r} may be it, but it holds words and not a number in each row."
        return DataError(
            "which column holds the human scores?",
            hints={
                "python": f"Name it{hint}.{said}",
                "cli": f"Name it with {option}{hint}.{said}",
                "web": f"Choose it{hint}.{said}",
            },
        )

    def per_output(self) -> Roles:
        """Merge the rows of several raters into one row per output, with the mean score.

        Other columns keep the value of the first row. A table without such rows is unchanged.
        """
        keys = [c for c in (self.id, self.system) if c is not None]
        if self.rater is None or self.id is None or not self.table.duplicated(keys).any():
            return self
        if self.table.duplicated([*keys, self.rater]).any():
            return self  # not one row per rater: building the pool will report what is wrong
        groups = self.table.groupby(keys, sort=False, dropna=False)
        first = groups.head(1).reset_index(drop=True)
        for name in self.human:
            table = self.table.assign(**{name: self.cells[name].values})
            scores = table.groupby(keys, sort=False, dropna=False)[name]
            first[name] = scores.mean().to_numpy()
        table = first.drop(columns=[self.rater])
        return replace(self, table=table, rater=None, cells=_Cells(table))


class _Cells(Mapping[str, Column]):
    """The columns of a table as numbers, each parsed when it is first asked for."""

    def __init__(self, frame: Any) -> None:
        self._frame, self._made = frame, dict[str, Column]()
        self._texts: dict[str, list[str]] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._made:
            self._made[name] = column_of(self._frame[name], name)
        return self._made[name]

    def labels(self, name: str) -> list[str]:
        """The cells of a column as text without surrounding blanks, cached."""
        if name not in self._texts:
            self._texts[name] = texts_of(self._frame[name])
        return self._texts[name]

    def __iter__(self) -> Any:
        return (str(c) for c in self._frame)

    def __len__(self) -> int:
        return len(list(iter(self)))


Labels = Callable[[str], list[str]]


def roles(
    frame: pd.DataFrame,
    *,
    id: str | None = None,
    document: str | None = None,
    system: str | None = None,
    rater: str | None = None,
    cost: str | None = None,
    metrics: Sequence[str] | None = None,
    texts: Sequence[str] | None = None,
    human: Sequence[str] | None = None,
    orientation: Mapping[str, int] | None = None,
    other: Sequence[str] = (),
    need_id: bool = True,
    fill: bool = True,
) -> Roles:
    """The roles of the columns.

    Parameters
    ----------
    frame
        The table as returned by `fewgold.io.read_table`.
    id, document, system, rater, cost, metrics, texts, human
        The columns named by the user, or None; ``"none"`` for a role without any column.
    orientation
        Which way metrics point, as given by the user.
    other
        Columns needed for other purposes.
    need_id
        Whether a table without ids is an error.
    fill
        Whether gaps in metrics can be filled; if not, metrics with gaps are left out.
    """
    frame = joined_id(frame.set_axis([str(c) for c in frame.columns], axis=1), id)
    spoken = (id, document, system, rater, cost, *(metrics or ()), *(texts or ()), *(human or ()))
    frame = with_paths(frame, (*spoken, *other, *(orientation or ())))
    names = list(frame.columns)
    told: dict[str, Any] = {
        "id": id, "document": document, "system": system, "rater": rater, "cost": cost,
        "metrics": metrics, "texts": texts, "human": human,
    }  # fmt: skip
    lone, listed, banned = _told(told, names)
    taken = {v for v in lone.values() if v} | {v for many in listed.values() for v in many}
    for name in (*taken, *other):
        if name not in names and name != lone.get("cost"):
            raise UnknownNameError("column", name, names)
    taken |= set(other)
    cells = _Cells(frame)
    labels = cells.labels
    guessed: dict[str, str] = {}
    chosen: dict[str, str | None] = {role: lone.get(role) for role in _ONE}

    # A name or a text is inside an object, at a path that only the user knows.
    nested = {n for n in names if has_fields(frame[n])}
    for role in ("id", "document", "system"):
        told_name = chosen[role]
        if told_name is not None and told_name in nested:
            paths = nested_paths(frame[[told_name]])
            raise DataError(
                f"the cells of {told_name!r} are objects with fields. Name a field"
                f"{f', such as {paths[0]}' if paths else ''}."
            )

    def free() -> list[str]:
        return [n for n in names if n not in taken and n not in nested]

    def take(role: str, column: str | None) -> None:
        if column is not None and chosen[role] is None and role not in banned:
            chosen[role] = guessed[role] = column
            taken.add(column)

    def numeric(name: str) -> bool:
        return cells[name].numeric or bool(cells[name].blank.all())

    take("rater", guess_column(free(), RATER_NAMES))
    judge = guess_column(free(), ("judge",))
    if judge is not None and not cells[judge].numeric:
        take("rater", judge)
    told_human = tuple(listed.get("human", ()))
    maybe = [n for n in names if n not in taken or n in told_human]
    likely = tuple(n for n in human_columns(maybe) if numeric(n))
    people = told_human or clear_human(maybe, numeric)
    taken |= set(people)
    take("id", guess_column(free(), ID_NAMES))
    if chosen["id"] is None:
        found = _other_id(free(), cells, labels, chosen, set(listed.get("texts", ())))
        for role, column in found.items():
            take(role, column)
    if chosen["id"] is None and need_id:
        listing = ", ".join(names)
        raise DataError(
            "cannot tell which column holds the ids.",
            hints={
                "python": f"Name it with id=…: {listing}. If none does, number the rows first: "
                "frame.insert(0, 'id', range(len(frame))).",
                "cli": "Name it with --id, or two that tell rows apart (--id a,b): "
                f"{listing}. If none does, number the rows first: fewgold doctor prints a command "
                "for that.",
                "web": f"Choose it: {listing}. If none does, number the rows first.",
            },
        )
    take("document", guess_column(free(), DOCUMENT_NAMES))
    take("system", guess_column(free(), SYSTEM_NAMES))
    price = guess_column(free(), COST_NAMES)
    if price is not None and cells[price].finite.all() and (cells[price].values > 0).all():
        take("cost", price)  # only of positive numbers: a guess must not end in an error
    if "texts" not in listed and "texts" not in banned:
        shown = [n for n in free() if plain(n) in TEXT_NAMES]
        listed["texts"] = sorted(shown, key=lambda n: plain(n) in OUTPUT_NAMES)  # prompts first
        if listed["texts"]:
            guessed["texts"] = ", ".join(listed["texts"])
    taken |= set(listed.get("texts", ()))
    if chosen["system"] is None and chosen["rater"] is None and chosen["id"] is not None:
        # Systems under another name: a column with few values, each of which occurs with every id.
        ids = labels(chosen["id"])
        few = [n for n in free() if n not in likely and _few(cells[n], labels(n))]
        if len(set(ids)) < len(ids):
            hits = (n for n in few if not wordy(labels(n)) and crossed(ids, labels(n)))
            take("system", next(hits, None))
    left: dict[str, LeftOut] = {}
    if "metrics" not in listed and "metrics" not in banned:
        systems = None if chosen["system"] is None else np.array(labels(chosen["system"]))
        joined = {part.strip() for part in (id or "").split(",")}  # columns of a joined id
        rest = [n for n in free() if n not in joined]
        listed["metrics"], left = _metrics(rest, cells, fill, systems)
        guessed["metrics"] = ", ".join(listed["metrics"]) or "none"
    if human is None and people:
        guessed["human"] = ", ".join(people)
    measured = tuple(listed.get("metrics", ()))
    return Roles(
        as_numbers(frame, [n for n in (*measured, *people, chosen["cost"]) if n]),
        **chosen, human=people, humans=tuple(dict.fromkeys([*people, *likely])),
        metrics=measured, texts=tuple(listed.get("texts", ())),
        orientation=dict(orientation or {}),
        guessed={k: guessed[k] for k in (*_ONE, "human", "texts", "metrics") if k in guessed},
        left_out=left, cells=cells,
        gaps={m: int(cells[m].blank.sum()) for m in measured if fill and cells[m].blank.any()},
    )  # fmt: skip


def _told(
    told: Mapping[str, Any], names: Sequence[str]
) -> tuple[dict[str, str | None], dict[str, list[str]], set[str]]:
    """The roles that the user named: single columns, lists of columns, and ignored ones."""
    lone: dict[str, str | None] = {}
    listed: dict[str, list[str]] = {}
    banned = set()
    for role, value in told.items():
        if value is None:
            continue
        if value in ("none", ["none"]) and "none" not in names:
            banned.add(role)
        elif role in _ONE:
            lone[role] = value
        else:
            listed[role] = [value] if isinstance(value, str) else list(value)
    return lone, listed, banned


def texts_of(column: Any) -> list[str]:
    """The cells of a column as text without surrounding blanks; empty if missing."""
    return ["" if is_empty(v) else str(v).strip() for v in column.tolist()]


# Metrics in practice: with gaps, words or categories ----------------------------------------------

#: Largest number of values of a category that was named, and of one that was guessed.
MOST_LEVELS, _FEW_LEVELS = 30, 10
# Fewest labels per extra column for which unnamed categories are used.
_LABELS_PER_LEVEL = 20
# Values with fewer rows than this, or metrics with fewer gaps, get no separate column.
_LEAST_ROWS, _LEAST_SHARE = 5, 0.01


def as_controls(
    found: Roles, *, named: bool = False, without: Sequence[str] = (), labels: int = 0
) -> tuple[dict[str, FloatArray], list[str]]:
    """Metrics as numbers without gaps, and sentences on what was done.

    Gaps are filled with the mean of the metric; if there are several, a 0/1 column ``judge
    missing`` marks them, so that estimators can distinguish them. A category becomes a 0/1 column
    for each value but the most frequent; values with few rows are merged with that one.

    Parameters
    ----------
    found
        The table and its columns.
    named
        Whether the user named the metrics. Otherwise columns with few different words, such as
        languages, are taken as categories if there are at least twenty ``labels`` for each value.
    without
        Columns to leave out, such as strata.
    labels
        Number of rows that people labelled.
    """
    made: dict[str, FloatArray] = {}
    notes: list[str] = []
    flags: dict[bytes, str] = {}
    size = len(found.table)
    least = max(_LEAST_ROWS, _LEAST_SHARE * size)
    categories = []
    for name in found.metrics:
        column = found.cells[name]
        if not column.numeric:
            categories.append(name)
            continue
        known = column.finite
        if set(column.odd) == {"words"}:
            words = column.odd["words"]
            example = str(found.table[name].iloc[words[0]])
            notes.append(
                f"{counted(len(words), 'cell')} of {name} without a number, such as {example!r}, "
                f"{verb(len(words), 'are')} taken as gaps"
            )
        elif column.odd or not known.any():
            what = _odd(column, found.cells) if column.odd else "no number"
            raise DataError(f"the metric {name!r} cannot be used: {what}.")
        if (column.values[known] == column.values[known][0]).all():
            notes.append(f"{name} is constant and is not used")
            continue
        made[name] = np.where(known, column.values, column.values[known].mean())
        if (gone := (~known).sum()) >= least and gone < size:
            flags.setdefault((~known).tobytes(), name)
    for gaps, name in flags.items():
        made[f"{name} missing"] = np.frombuffer(gaps, dtype=np.bool_).astype(np.float64)
    if not named:
        taken = {
            found.id, found.document, found.rater, *found.human, *found.humans, *found.texts,
            *found.metrics, *without,
        }  # fmt: skip
        free = [str(c) for c in found.table.columns if str(c) not in taken]
        levels = {n: len(set(found.cells.labels(n))) for n in free if not found.cells[n].numeric}
        few = [n for n, k in levels.items() if 2 <= k <= _FEW_LEVELS]
        for name in sorted(few, key=lambda n: levels[n]):
            spent = len(made) + sum(levels[n] - 1 for n in categories) + levels[name] - 1
            if labels >= _LABELS_PER_LEVEL * spent and 10 * levels[name] <= size:
                categories.append(name)
    for name in categories:
        texts = found.cells.labels(name)
        counts = Counter(texts)
        if len(counts) > MOST_LEVELS:
            raise DataError(
                f"the column {name!r} has {len(counts):,} different values, too many for a "
                f"category (at most {MOST_LEVELS}), and they are not numbers. Leave it out of the "
                "metrics."
            )
        others = [value for value, _ in counts.most_common()][1:]
        for value in sorted(v for v in others if counts[v] >= least):
            label = f"{name}={value or 'empty'}"
            made[label] = np.array([float(t == value) for t in texts])
    if categories:
        notes.append(f"taken as categories: {', '.join(categories)}")
    return made, notes


def with_ids(found: Roles) -> tuple[NDArray[Any], list[str]]:
    """An id for every row: its own, combined with system or document if repeated, or its number."""
    labels, rows = found.cells.labels, [str(k + 1) for k in range(len(found.table))]
    if found.id is None:
        return np.array(rows), ["there is no column of ids, so rows are identified by their number"]
    first = labels(found.id)
    for other in (None, found.system, found.document):
        more = [] if other is None else [labels(other)]
        both = list(map(":".join, zip(*more, first, strict=True)))
        if len(set(both)) == len(both) and all(first):
            return np.array(both), []
    note = f"{found.id} is not unique, so rows are identified by their number"
    return np.array(rows), [note]


def with_paths(frame: pd.DataFrame, names: Iterable[str | None]) -> pd.DataFrame:
    """The table with a column for each name that is a path into nested cells.

    ``data.id`` is the field ``id`` of the objects in the column ``data``, and ``turns.0.text`` and
    ``turns.-1.text`` belong to the first and last elements of a list. Cells of CSV may hold JSON.

    >>> import pandas as pd
    >>> nested = pd.DataFrame({"data": [{"id": "a", "turns": ["Hi", "Bye"]}]})
    >>> with_paths(nested, ["data.id", "data.turns.-1"]).iloc[0, 1:].tolist()
    ['a', 'Bye']
    """
    known = set(map(str, frame.columns))
    made = {}
    for name in names:
        if name is None or name in known or "." not in name:
            continue
        steps = name.split(".")
        heads = (k for k in range(len(steps) - 1, 0, -1) if ".".join(steps[:k]) in known)
        if (k := next(heads, None)) is not None:
            column = frame[".".join(steps[:k])].tolist()
            cells = [_inside(value, steps[k:]) for value in column]
            if any(v is not None for v in cells):
                made[name] = cells
    return frame.assign(**made) if made else frame


def _inside(value: Any, steps: Sequence[str]) -> Any:
    """The value at a path inside a cell; None where there is none."""
    for step in steps:
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return None
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple | np.ndarray) and re.fullmatch(r"-?\d{1,6}", step):
            k = int(step)
            value = value[k] if -len(value) <= k < len(value) else None
        else:
            return None
    return value.item() if isinstance(value, np.generic) else value


def has_fields(column: Any) -> bool:
    """Whether the cells of a column, by the first of them, are objects with fields."""
    return column.dtype == object and any(isinstance(v, Mapping) for v in column.head(100).tolist())


def nested_paths(frame: pd.DataFrame, most: int = 12) -> list[str]:
    """Paths to values inside nested cells in the form for `with_paths`, from the first rows."""
    found: dict[str, None] = {}

    def walk(name: str, value: Any, depth: int) -> None:
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, Mapping) and depth < 4:
            for key, inner in value.items():
                walk(f"{name}.{key}", inner, depth + 1)
        elif isinstance(value, list) and value and depth < 4:
            walk(f"{name}.0", value[0], depth + 1)
        elif depth and value is not None:
            found[name] = None

    for name in frame.columns:
        for value in frame[name].head(3).tolist():
            if isinstance(value, Mapping | list | np.ndarray):
                walk(str(name), value, 0)
    return list(found)[:most]


def joined_id(frame: pd.DataFrame, id: str | None) -> pd.DataFrame:
    """The table with an id column joined from several columns, such as ``conversation,turn``."""
    names = [part.strip() for part in (id or "").split(",")]
    if id is None or id in frame.columns or len(names) < 2:
        return frame
    frame = with_paths(frame, names)
    for name in names:
        if name not in frame.columns:
            raise UnknownNameError("column", name, [str(c) for c in frame.columns])
    return frame.assign(
        **{id: list(map(":".join, zip(*(texts_of(frame[n]) for n in names), strict=True)))}
    )


# Human scores and metrics -----------------------------------------------------------------------


def human_columns(names: Sequence[str]) -> list[str]:
    """The columns that look like human scores.

    Not known metrics such as ``MoverScore`` or ``wmt20-comet-da``, nor a flag for human systems
    (``is_human``); error counts only if there is nothing else.

    >>> human_columns(["is_human", "mqm", "n_major", "wmt20-comet-da", "bb_MoverScore"])
    ['mqm']
    """
    common = {n for n in names if known_orientation(n, np.empty(0)) is not None}
    found = [n for n in names if looks_human(n, n in common) and parts(n)[:1] != ["is"]]
    return [n for n in found if not set(parts(n)) & _COUNTED] or found


def clear_human(names: Sequence[str], numeric: Callable[[str], bool]) -> tuple[str, ...]:
    """The column of human scores, or one per rater; empty if unclear.

    Among several candidates, an unambiguous name such as ``mqm`` or ``score`` decides.

    >>> clear_human(["id", "mqm", "mqm_z", "comet"], lambda name: True)
    ('mqm',)
    >>> clear_human(["rater1", "rater2"], lambda name: True)
    ('rater1', 'rater2')
    >>> clear_human(["score", "rating"], lambda name: True)
    ()
    """
    likely = tuple(n for n in human_columns(names) if numeric(n))
    exact = tuple(n for n in likely if plain(n) in HUMAN_NAMES)
    if len(exact) == 1 or len(likely) < 2:
        return exact or likely
    raters = all({"rater", "annotator"} & set(parts(n)) for n in likely)
    return likely if raters else ()


def _metrics(
    names: Sequence[str],
    cells: Mapping[str, Column],
    fill: bool,
    systems: NDArray[Any] | None = None,
) -> tuple[list[str], dict[str, LeftOut]]:
    found: list[str] = []
    left: dict[str, LeftOut] = {}
    for name in names:
        column = cells[name]
        if not column.numeric or not (column.finite.any() or column.odd):
            continue
        if column.odd:
            left[name] = LeftOut(Reason.ODD_CELLS, _odd(column, cells))
            continue
        known = column.values[column.finite]
        if looks_human(name, known_orientation(name, known) is not None):
            left[name] = MAYBE_HUMAN
        elif plain(name) in REFERENCE_NAMES:
            left[name] = LeftOut(Reason.REFERENCE)
        elif looks_like_position(name) or _counts(column.values):
            left[name] = LeftOut(Reason.ROW_NUMBERS, usable=True)
        elif (known == known[0]).all():
            left[name] = LeftOut(Reason.CONSTANT)
        elif column.gaps and (not fill or _share(~column.finite, systems) > MOST_GAPS):
            count = f"{column.gaps} gap{'s' if column.gaps > 1 else ''}"
            why = count if fill else f"{count}, to be filled first"
            left[name] = LeftOut(Reason.GAPS, why, usable=fill)
        else:
            found.append(name)
    return found, left


def _share(gaps: NDArray[np.bool_], systems: NDArray[Any] | None) -> float:
    """The share of gaps in a metric; with several systems, the largest share of any."""
    if systems is None:
        return float(gaps.mean())
    return max(float(gaps[systems == s].mean()) for s in set(systems.tolist()))


def _odd(column: Column, cells: Mapping[str, Column]) -> str:
    """Why a column that mixes numbers with other cells cannot be a metric."""
    sort, rows = next(iter(column.odd.items()))
    frame = cells._frame if isinstance(cells, _Cells) else {}
    example = f", such as {str(frame[column.name].iloc[rows[0]])!r}"
    if sort in ("decimal-comma", "thousands"):
        return f"commas that may be decimal or not{example}: write points"
    return f"{len(rows)} not a number{example}: empty such cells"


def _counts(values: Any) -> bool:
    """True for 0, 1, 2, … or 1, 2, 3, …: the number of the row."""
    first = values[0]
    return values.size > 2 and first in (0, 1) and bool((values[1:] - values[:-1] == 1).all())


# Columns with uninformative names, judged by their cells ------------------------------------------


def _other_id(
    names: Sequence[str],
    cells: Mapping[str, Column],
    labels: Labels,
    chosen: Mapping[str, str | None],
    shown: set[str],
) -> dict[str, str | None]:
    """A column that identifies segments though its name does not say so, perhaps with the system.

    Each value must occur once, or once per system; this also finds systems columns under another
    name. Running text never names segments, however different its cells are. A column that is named
    like an id but has damaged cells is also used, so that an error is raised.
    """
    system = chosen["system"] or guess_column(names, SYSTEM_NAMES)
    document = chosen["document"] or guess_column(names, DOCUMENT_NAMES)
    words = {n for n in names if plain(n) in TEXT_NAMES or wordy(labels(n))} | shown
    free = [n for n in names if n not in words and n not in (system, chosen["document"])]
    named = [n for n in free if not cells[n].numeric or looks_like_position(n)]
    for name in named:
        all_of = labels(name)
        alone = len(set(all_of)) == len(all_of) and "" not in all_of
        if alone or (system is not None and once_each(all_of, labels(system))):
            return {"id": name, "system": system}
    called = [n for n in named if {"id", "ids"} & set(parts(n)) and n != document]
    counted = [n for n in free if n != document and (n in named or _whole(cells[n]))]
    if system is not None:
        numbers = [n for n in counted if crossed(labels(n), labels(system))]
        if numbers:
            return {"id": numbers[0], "system": system}
    else:
        few = [n for n in free if n != document and _few(cells[n], labels(n))]
        pairs = [(n, s) for n in called for s in few if once_each(labels(n), labels(s))]
        pairs += [(n, s) for n in counted for s in few if crossed(labels(n), labels(s))]
        if pairs:
            return dict(zip(("id", "system"), pairs[0], strict=True))
    if document is not None:
        for name in called:
            both = set(zip(labels(name), labels(document), strict=True))
            if len(both) == len(labels(name)):
                return {"id": name}
    most = max(called, key=lambda n: len(set(labels(n)) - {""}), default=None)
    if most is not None and 2 * len(set(labels(most)) - {""}) > len(labels(most)):
        return {"id": most}
    return {}


def crossed(ids: Sequence[str], systems: Sequence[str]) -> bool:
    """True where nearly every id occurs once with each of a few systems.

    >>> crossed(["a", "a", "b", "b", "c", "c"], ["x", "y", "x", "y", "x", "y"])
    True
    >>> crossed(["a", "b", "c", "d", "e", "e"], ["x", "y", "x", "y", "x", "y"])
    False
    """
    many, few = len(set(ids)), len(set(systems))
    return many > few and once_each(ids, systems) and len(ids) >= _CROSSED * many * few


def once_each(labels: Sequence[str], systems: Sequence[str]) -> bool:
    """True where labels repeat, but never with the same system."""
    pairs = set(zip(labels, systems, strict=True))
    return len(pairs) == len(labels) and len(set(labels)) < len(labels)


def other_texts(found: Roles) -> tuple[str, ...]:
    """Text columns with other names; raters see them only if the user says so.

    Running text counts as text. Two or three words may be a category, unless they differ between
    rows and raters would otherwise see inputs but no outputs. References are not for raters.
    """
    short = bool(found.texts)
    if found.texts and not only_inputs(found.texts):
        return ()
    labels = found.cells.labels
    taken = {found.id, found.document, found.system, found.rater, *found.human}
    return tuple(
        n
        for n in map(str, found.table.columns)
        if n not in taken
        and not HIDDEN & set(parts(n))
        and not has_fields(found.table[n])  # the texts are inside
        and (wordy(labels(n)) or (short and _varied(labels(n))))
    )


def only_inputs(texts: Sequence[str]) -> bool:
    """True where raters would see the systems' inputs but none of their outputs.

    >>> only_inputs(["source"]), only_inputs(["source", "output"]), only_inputs([])
    (True, False, False)
    """
    return bool(texts) and {plain(t) for t in texts} <= set(INPUT_NAMES)


def wordy(labels: Sequence[str]) -> bool:
    """True for running text: more than three words per cell on average."""
    filled = [v for v in labels if v]
    return bool(filled) and sum(len(v.split()) for v in filled) > 3 * len(filled)


def _varied(labels: Sequence[str]) -> bool:
    """True for cells of several words that mostly differ, as short replies do."""
    filled = [v for v in labels if v]
    several = [v for v in filled if " " in v and any(map(str.isalpha, v))]
    return 2 * len(set(several)) > len(filled)


def _few(column: Column, labels: Sequence[str]) -> bool:
    """True for two to twenty different names, none missing and none a number."""
    return not column.numeric and "" not in labels and 2 <= len(set(labels)) <= _MOST_SYSTEMS


def _whole(column: Column) -> bool:
    """True if all cells are whole numbers, as in numbered segments."""
    return bool(column.finite.all() and (column.values == np.round(column.values)).all())
