"""The common form of evaluation logs: one row per output, with its judges as metrics."""

from __future__ import annotations

import json
import math
import re
import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from fewgold.errors import DataError
from fewgold.formats.base import Probe, Rejected
from fewgold.io import (
    as_text,
    cell,
    is_empty,
    looks_human,
    read_file,
    read_text,
    refuse,
    write_texts,
)
from fewgold.io.cells import NUMBER, text_of
from fewgold.io.columns import METRIC, looks_like_position

if TYPE_CHECKING:
    import pandas as pd

_MOST_RAW = 300
_WORDS = {
    "pass": 1.0, "passed": 1.0, "yes": 1.0, "true": 1.0, "correct": 1.0, "success": 1.0,
    "fail": 0.0, "failed": 0.0, "no": 0.0, "false": 0.0, "incorrect": 0.0, "failure": 0.0,
}  # fmt: skip
# Fields that hold what was asked or answered, best first.
_SAYS = (
    "content", "text", "completion", "output", "answer", "response", "question", "input", "prompt",
    "query", "message", "messages", "generations", "choices", "result", "parts",
)  # fmt: skip
_DEEPEST = 12


@dataclass(frozen=True)
class Output:
    """One output of one system, as in a log.

    Parameters
    ----------
    id
        The id of the item (sample, test case, example) in the log; the same for all systems, and
        for repeated samples of one item.
    system
        The model or variant that made the output, or an empty string.
    document
        The conversation that the item belongs to, or an empty string.
    replicate
        Which of several samples of one item it is; empty if the log does not say.
    scores
        The scores of scorers and judges by name, as in the log, not yet as numbers.
    human
        Human scores, by name.
    keep
        Further columns, such as the ids the tool needs to import scores.
    """

    id: str
    input: str = ""
    output: str = ""
    reference: str = ""
    system: str = ""
    document: str = ""
    replicate: str = ""
    scores: Mapping[str, Any] = field(default_factory=dict)
    human: Mapping[str, Any] = field(default_factory=dict)
    keep: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class EvalLog:
    """The content of a log, with every row accounted for.

    Parameters
    ----------
    format, title
        The name of the format, and what people call it.
    rows
        Samples, test cases, runs or events: what the log counts.
    used
        Rows that became outputs; several may form one output.
    outputs
        The outputs, in the order of the log.
    context
        Rows that belong to no output, such as a header or the steps inside a run.
    rejected
        Rows that could not be read.
    notes
        Remarks for the reader.
    """

    format: str
    title: str
    rows: int
    used: int
    outputs: tuple[Output, ...]
    context: int = 0
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        told = self.used + self.context + len(self.rejected)
        if told != self.rows:
            raise DataError(
                f"{self.rows} rows in the log, but {self.used} used, {self.context} context and "
                f"{len(self.rejected)} rejected. This is a mistake in the reader {self.format!r}: "
                "please report it."
            )

    def require(self, path: str) -> None:
        """Refuse a log without outputs or with unreadable rows."""
        if self.rejected:
            first = self.rejected[0]
            raise DataError(
                f"{len(self.rejected)} of {self.rows} rows of {path!r} ({self.title}) cannot be "
                f"read; the first is {first.place}: {first.why}"
            )
        if not self.outputs:
            raise DataError(f"{path!r} holds no outputs ({self.title}).")

    @cached_property
    def _replicated(self) -> bool:
        """Whether some item has several outputs of one system."""
        return max(Counter((o.id, o.system) for o in self.outputs).values(), default=0) > 1

    @cached_property
    def names(self) -> tuple[tuple[str, str], ...]:
        """The id and the document of each output in the table.

        Repeated samples of one item are one document of several segments.
        """
        if not self._replicated:
            return tuple((o.id, o.document) for o in self.outputs)
        seen = Counter[tuple[str, str]]()
        twice = Counter((o.id, o.system, o.replicate) for o in self.outputs)
        found = []
        for o in self.outputs:
            seen[o.id, o.system] += 1
            sure = o.replicate and twice[o.id, o.system, o.replicate] == 1
            which = o.replicate if sure else str(seen[o.id, o.system])
            found.append((f"{o.id}#{which}", o.document or o.id))
        if len({(n, o.system) for (n, _), o in zip(found, self.outputs, strict=True)}) < len(found):
            found = [(f"{n}#{k}", d) for k, (n, d) in enumerate(found, 1)]
        return tuple(found)

    def frame(self) -> pd.DataFrame:
        """The log as a table: ``id``, ``document``, ``system``, texts, metrics, human scores."""
        import pandas as pd

        pairs = self.names
        columns: dict[str, list[Any]] = {"id": [name for name, _ in pairs]}
        documents = [name for _, name in pairs]
        items = len(set(columns["id"]))
        if any(documents) and 0 < len(set(documents)) < items:
            columns["document"] = [d or n for n, d in pairs]
        for name in ("system", "input", "output", "reference"):
            cells = [getattr(o, name) for o in self.outputs]
            if any(cells):
                columns[name] = cells
        scored = [o.scores for o in self.outputs]
        for name in dict.fromkeys(n for row in scored for n in row):
            column = as_scores([row.get(name) for row in scored])
            columns[_free(metric_name(name, column), columns)] = column
        people = dict.fromkeys(n for o in self.outputs for n in o.human)
        for name in people:
            column = as_scores([o.human.get(name) for o in self.outputs])
            called = "human" if len(people) == 1 else f"human.{_sound(name)}"
            columns[_free(called, columns)] = column
        for name in dict.fromkeys(n for o in self.outputs for n in o.keep):
            cells = [_kept(o.keep.get(name)) for o in self.outputs]
            if not all(map(is_empty, cells)):
                if all(isinstance(v, str | None) for v in cells):
                    cells = [v or "" for v in cells]
                columns[_free(_sound(name), columns)] = cells
        frame = pd.DataFrame({n: pd.Series(v, dtype=_kind(v)) for n, v in columns.items()})
        if "document" not in columns:
            return frame
        # Repeats of an item, and turns of a conversation, are kept together.
        place = {name: k for k, name in reversed(list(enumerate(columns["document"])))}
        order = sorted(range(len(frame)), key=lambda k: place[columns["document"][k]])
        return frame.iloc[order].reset_index(drop=True)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Remarks about the log, as sentences."""
        found = [f"an evaluation log of {self.title}", *self.notes]
        if self._replicated:
            items = len({o.id for o in self.outputs})
            found.append(
                f"{len(self.outputs):,} outputs of {items:,} items: repeated samples of an item "
                "are one document, not new items"
            )
        return tuple(found)


def _kept(value: Any) -> Any:
    """A value unchanged, except for numbers that are not finite or cannot be written."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1 << 1000:
        return None
    return _sound(value) if isinstance(value, str) else value


def _kind(cells: Sequence[Any]) -> Any:
    return "float64" if cells and all(isinstance(v, float) for v in cells) else "object"


def _free(name: str, taken: Iterable[str]) -> str:
    """An unused column name."""
    used, made, k = set(taken), name, 2
    while made in used:
        made, k = f"{name}.{k}", k + 1
    return made


def metric_name(name: str, column: Sequence[Any] = ()) -> str:
    """A scorer's column name: as in the log, unless it could be mistaken for human scores.

    >>> metric_name("includes"), metric_name("Faithfulness"), metric_name("score")
    ('includes', 'metric.Faithfulness', 'metric.score')
    """
    plain = " ".join(_sound(name).split()) or "unnamed"
    own = {"id", "document", "system", "input", "output", "reference", "error", "cost", "label"}
    if looks_human(plain) or looks_like_position(plain) or plain.lower() in own:
        return f"{METRIC}{plain}"
    return plain


# Values ------------------------------------------------------------------------------------------


def number(value: Any) -> float | None:
    """A score as a number: pass and yes are 1, fail and no are 0; None if it is not a number.

    >>> number(True), number("Fail"), number("0.5"), number("B")
    (1.0, 0.0, 0.5, None)
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        try:
            found = float(value)
        except OverflowError:
            return None
        return found if math.isfinite(found) else None
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in _WORDS:
            return _WORDS[text.lower()]
        if NUMBER.fullmatch(text):
            found = float(text)
            return found if math.isfinite(found) else None
    return None


def as_scores(values: Sequence[Any]) -> list[Any]:
    """A column of scores: numbers, NaN if missing; text if some value is not a number."""
    known = [None if is_empty(v) or _is_nan(v) else v for v in values]
    found = [None if v is None else number(v) for v in known]
    if any(f is None and v is not None for f, v in zip(found, known, strict=True)):
        return ["" if v is None else v if isinstance(v, str) else dumped(v) for v in known]
    return [math.nan if f is None else f for f in found]


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def mean(values: Iterable[Any]) -> Any:
    """The mean of several scores with one name; the first if some are not numbers."""
    known = [v for v in values if not is_empty(v) and not _is_nan(v)]
    numbers = [number(v) for v in known]
    if len(known) < 2 or any(n is None for n in numbers):
        return known[0] if known else None
    return math.fsum(n for n in numbers if n is not None) / len(numbers)


def by_source(
    given: Iterable[tuple[bool, str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores of judges and of people by name, several of one name averaged.

    >>> by_source([(False, "tone", 3), (True, "tone", 5), (False, "tone", 4)])
    ({'tone': 3.5}, {'tone': 5})
    """
    found: tuple[dict[str, list[Any]], dict[str, list[Any]]] = ({}, {})
    for people, name, value in given:
        if name:
            found[people].setdefault(name, []).append(value)
    judges, humans = ({n: mean(v) for n, v in one.items()} for one in found)
    return judges, humans


def dumped(value: Any) -> str:
    """Any value in a line of JSON; text as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=text_of)
    except (ValueError, RecursionError):
        return str(value)


def label(value: Any) -> str:
    """A name or an id: a word or a whole number, without blanks around; else empty."""
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int | float):
        try:
            return str(value)
        except ValueError:  # thousands of digits
            return ""
    return _sound(value).strip() if isinstance(value, str) else ""


def _sound(text: str) -> str:
    """Text without lone surrogates, which no file can hold."""
    return text.encode("utf-8", "replace").decode() if re.search("[\ud800-\udfff]", text) else text


def said(value: Any, depth: int = 0) -> str:
    """A prompt or reply in readable form: text, messages one after the other, else JSON.

    >>> said([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}])
    'user: Hi\\n\\nassistant: Hello.'
    >>> said({"question": "2+2?"}), said([{"role": "user", "content": "2+2?"}])
    ('2+2?', '2+2?')
    """
    if value is None or _is_nan(value):
        return ""
    if isinstance(value, str):
        return _sound(value)
    if depth > _DEEPEST:
        return _sound(dumped(value))
    if isinstance(value, Mapping):
        if len(value) == 1:
            return said(next(iter(value.values())), depth + 1)
        if isinstance(value.get("role"), str) or isinstance(value.get("type"), str):
            inner = next((value[k] for k in _SAYS if value.get(k)), "")
            return said(inner, depth + 1)
        known = [k for k in _SAYS if value.get(k)]
        if known and all(not isinstance(v, str) or k == known[0] for k, v in value.items()):
            return said(value[known[0]], depth + 1)
        return _sound(dumped(value))
    if isinstance(value, Sequence) and value and all(isinstance(v, Mapping) for v in value):
        parts = [(label(v.get("role")), said(v, depth + 1)) for v in value]
        told = [(role, text) for role, text in parts if text]
        if len(told) == 1:
            return told[0][1]
        return "\n\n".join(f"{role}: {text}" if role else text for role, text in told)
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        if len(value) == 1:
            return said(value[0], depth + 1)
        if all(isinstance(v, str) for v in value):
            return "\n".join(map(_sound, value))
    return _sound(dumped(value))


def parsed(value: Any) -> Any:
    """The content of a CSV cell as JSON, such as ``{"question": …}``; else the cell as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def at(value: Any, *path: str | int) -> Any:
    """The value at a path in nested objects and lists, or None.

    >>> at({"a": [{"b": 1}]}, "a", 0, "b"), at({"a": 1}, "b", "c")
    (1, None)
    """
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list | tuple) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a list; nothing for anything else."""
    items = value if isinstance(value, list | tuple) else ()
    return [v for v in items if isinstance(v, Mapping)]


def raw(value: Any) -> str:
    """The beginning of a row, for its rejection message."""
    text = _sound(dumped(value))
    return text if len(text) <= _MOST_RAW else f"{text[:_MOST_RAW]}…"


# The content of a file ----------------------------------------------------------------------------


class LogFile:
    """A file that may be a log: its beginning, and its whole content on demand."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.path = probe.path

    @cached_property
    def whole(self) -> Any:
        """The file as one JSON value; None if it is not JSON."""
        return self.probe.json

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first record of a list, of JSON lines or of a table, as far as it is needed here.

        Cells of CSV and Parquet are empty: their header is what matters.
        """
        if self.probe.is_folder:
            return {}
        if self.probe.head[:4] == b"PAR1":
            return dict.fromkeys(self._stored)
        if not self.probe.is_text:
            return {}
        start = self.probe.text.lstrip()[:1]
        if start == "[":
            return next(iter(objects(self.whole)), {})
        if start == "{":
            return self.probe.first_object or {}
        return dict.fromkeys(self._header)

    @cached_property
    def _stored(self) -> tuple[str, ...]:
        """The columns of a Parquet file."""
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            return ()
        try:
            return tuple(pq.read_schema(self.path).names)
        except (pa.ArrowException, OSError, ValueError):
            return ()

    @cached_property
    def _header(self) -> list[str]:
        """The columns of CSV or TSV; a header may hold line breaks inside quotes."""
        import csv

        try:
            sample = self.probe.text[:20_000]
            first = sample.partition("\n")[0]
            separator = max((",", "\t", ";"), key=first.count)
            return next(csv.reader(sample.splitlines(keepends=True), delimiter=separator), [])
        except csv.Error:
            return []

    def records(self) -> Iterator[tuple[str, Mapping[str, Any] | str, Any]]:
        """Each row of a list, JSON lines or a table: its place, the row or an error, its raw text.

        Gaps are left out, and a row without anything is an empty object.
        """
        table = read_file(self.path)
        for row in table.rows:
            if row.why:
                yield row.place, row.why, row.raw
            else:
                pairs = zip(table.header, row.cells, strict=True)
                yield row.place, {n.strip(): v for n, v in pairs if not is_empty(v)}, row.raw

    def object(self) -> Mapping[str, Any]:
        """The file as one JSON object."""
        try:
            found = json.loads(read_text(self.path))
        except (ValueError, RecursionError) as error:
            why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
            raise DataError(
                f"cannot read {str(self.path)!r}: it is not JSON: {why.rstrip('.')}."
            ) from None
        if not isinstance(found, Mapping):
            raise DataError(
                f"cannot read {str(self.path)!r}: expected one JSON object {{…}}, "
                f"got a {type(found).__name__}."
            )
        return found


class Gathered:
    """Collects the outputs found by a reader, and what became of each row."""

    def __init__(self, form: LogFormat) -> None:
        self._form = form
        self.rows = self.used = self.context = 0
        self.outputs: list[Output] = []
        self.rejected: list[Rejected] = []
        self.notes: list[str] = []

    def reject(self, place: str, why: str, value: Any) -> None:
        """Record a row that could not be read."""
        self.rows += 1
        self.rejected.append(Rejected(place, why, raw(value)))

    def skip(self) -> None:
        """Count a row that belongs to no output."""
        self.rows += 1
        self.context += 1

    def use(self, *outputs: Output) -> None:
        """Count a row, with the outputs made from it; none if it adds to an earlier output."""
        self.rows += 1
        self.used += 1
        self.outputs += outputs

    def done(self) -> EvalLog:
        """The log."""
        return EvalLog(
            self._form.name, self._form.title, self.rows, self.used, tuple(self.outputs),
            self.context, tuple(self.rejected), tuple(self.notes),
        )  # fmt: skip


@dataclass(frozen=True)
class HumanScore:
    """A score to write back: which output, by its id and system in the table, and the score."""

    id: str
    score: float
    system: str = ""
    rater: str = ""
    comment: str = ""


class LogFormat(ABC):
    """The log of one evaluation tool. Instances have no state."""

    #: Its name on the command line.
    name: ClassVar[str]
    #: Its readable name.
    title: ClassVar[str]
    #: Description of files that return scores to the tool; None if it cannot import any.
    takes: ClassVar[str] = ""

    @abstractmethod
    def recognises(self, file: LogFile) -> bool:
        """Whether the file is such a log, judged by its content. Never raises."""

    @abstractmethod
    def read(self, file: LogFile) -> EvalLog:
        """Read the outputs in a log, with every row accounted for."""

    def write(
        self,
        path: Path,
        scores: Sequence[HumanScore],
        out: Path,
        name: str,
        result: Mapping[str, float],
    ) -> None:
        """Write human scores in a form that the tool can import.

        If it cannot import scores, write a table with one row per score and the tool's ids of the
        output, to join with its results.

        Parameters
        ----------
        path
            The log with the scored outputs.
        scores
            Each score, with the id and system from the log's table.
        out
            The file to write.
        name
            Name of the scores.
        result
            The estimated score of all outputs (``value``, ``se``, ``low``, ``high``), if known;
            only used by tools with a place for it.
        """
        rows = []
        for output, score in matched(self.read(LogFile(Probe(path))), scores):
            kept = {k: v for k, v in output.keep.items() if k in JOINS}
            rater = {"rater": score.rater} if score.rater else {}
            system = {"system": output.system} if output.system else {}
            rows.append({"id": score.id, **kept, **system, **rater, name: score.score})
        names = list(dict.fromkeys(k for row in rows for k in row))
        if out.suffix in (".jsonl", ".ndjson"):
            write_texts({out: lines_of(rows)})
            return
        separator = {".csv": ",", ".tsv": "\t"}.get(out.suffix)
        if separator is None:
            raise DataError(
                f"{self.title} cannot import scores, so they are written as a table to join with "
                "its results: "
                f"expected a .csv, .tsv or .jsonl file; got {str(out)!r}."
            )
        cells = [[cell(row.get(n, ""), separator) for n in names] for row in rows]
        write_texts({out: as_text([names, *cells], separator)})


#: Columns that identify an output in the tool.
JOINS = ("run_id", "trace_id", "observation_id", "sample_uuid", "result_id", "testIdx",
         "promptIdx", "doc_hash", "name", "task")  # fmt: skip


def matched(log: EvalLog, scores: Sequence[HumanScore]) -> list[tuple[Output, HumanScore]]:
    """Each score with the output that it is of; refuses one that the log does not have."""
    by: dict[tuple[str, str], Output] = {}
    for (name, _), output in zip(log.names, log.outputs, strict=True):
        by[name, output.system] = output
        by.setdefault((name, ""), output)
    strange = [s.id for s in scores if (s.id, s.system) not in by]
    refuse(
        "have scores but are not in the log",
        strange,
        {
            "python": "Do they belong to another log?",
            "cli": "Do they belong to another log? Name it with --log.",
        },
    )
    return [(by[s.id, s.system], s) for s in scores]


def lines_of(rows: Iterable[Mapping[str, Any]]) -> str:
    """Records as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, default=text_of) + "\n" for row in rows)


def steady_id(*parts: str) -> str:
    """A reproducible id, so that a score that is sent twice replaces itself."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, "\x1f".join(("fewgold", *parts))))


def by_output(pairs: Iterable[tuple[Output, HumanScore]]) -> dict[int, list[HumanScore]]:
    """The scores of each output, by its identity."""
    found: dict[int, list[HumanScore]] = {}
    for output, score in pairs:
        found.setdefault(id(output), []).append(score)
    return found


def mean_score(scores: Sequence[HumanScore]) -> float:
    """The mean score of one output over its raters."""
    return math.fsum(s.score for s in scores) / len(scores)
