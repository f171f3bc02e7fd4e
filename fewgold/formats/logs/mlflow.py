"""Evaluation tables and traces of MLflow."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Probe
from fewgold.formats.logs.base import (
    EvalLog,
    Gathered,
    HumanScore,
    LogFile,
    LogFormat,
    Output,
    at,
    by_output,
    by_source,
    dumped,
    label,
    lines_of,
    matched,
    mean_score,
    number,
    objects,
    parsed,
    said,
)
from fewgold.io import write_texts

_METRIC = re.compile(r"(.+?)(?:/v\d+)?/(?:score|value)")
_INPUTS = ("inputs", "request", "input", "question", "prompt", "request_preview")
_OUTPUTS = ("outputs", "response", "predictions", "prediction", "output", "response_preview")
_TARGETS = ("targets", "ground_truth", "expectations", "target", "expected_response")
_IDS = ("trace_id", "request_id", "client_request_id", "id")
_SESSION = "mlflow.trace.session"
# Columns that MLflow computes besides scores.
_BESIDE = {"latency", "token_count"}


class MLflow(LogFormat):
    """MLflow. A row or a trace is an item; a session is a conversation."""

    name = "mlflow"
    title = "MLflow"
    takes = (
        "a table in split orient with one more column, as mlflow.load_table reads it; for traces, "
        "JSON lines with the arguments of mlflow.log_feedback"
    )

    def recognises(self, file: LogFile) -> bool:
        """A table whose columns end in /score or /value, or traces with assessments."""
        probe = file.probe
        if probe.is_folder:
            return False
        if _is_split(file):
            return _is_table(map(str, file.whole["columns"]))
        first = file.first
        info = first.get("info")
        if isinstance(info, Mapping) and ("trace_id" in info or "request_id" in info):
            return True
        return _is_table(first)

    def read(self, file: LogFile) -> EvalLog:
        """One output for each row or trace."""
        found = Gathered(self)
        seen: dict[str, str] = {}
        for k, (place, row, raw) in enumerate(_rows(file), 1):
            if isinstance(row, str):
                found.reject(place, row, raw)
                continue
            flat = _flat(row) if isinstance(row.get("info"), Mapping) else row
            # Tables of `mlflow.genai.evaluate` hold each trace as JSON as well. In a CSV file the
            # columns beside it are written as Python shows them, which is not JSON.
            trace = parsed(row.get("trace"))
            if isinstance(at(trace, "info"), Mapping):
                flat = {**row, **_flat(trace)}
            asked = _of(flat, _INPUTS)
            id_ = next((i for n in _IDS if (i := label(flat.get(n)))), "")
            if asked is None and not id_:
                found.reject(place, "it has neither inputs nor a trace_id.", raw)
                continue
            # Rows with the same input are repeats of one item, since tables have no other ids.
            key = dumped([asked, _of(flat, _TARGETS)]) if asked is not None else id_
            base = seen.setdefault(key, id_ or str(k))
            found.use(_output(flat, base, id_))
        return found.done()

    def write(
        self,
        path: Path,
        scores: Sequence[HumanScore],
        out: Path,
        name: str,
        result: Mapping[str, float],
    ) -> None:
        """Write a table with one more column; for traces, arguments of ``mlflow.log_feedback``."""
        file = LogFile(Probe(path))
        log = self.read(file)
        log.require(str(path))
        pairs = matched(log, scores)
        if all("trace_id" in o.keep for o, _ in pairs) and out.suffix in (".jsonl", ".ndjson"):
            write_texts({out: lines_of(
                {"trace_id": o.keep["trace_id"], "name": name, "value": s.score,
                 "source": {"source_type": "HUMAN", "source_id": s.rater or "rater"},
                 **({"rationale": s.comment} if s.comment else {})}
                for o, s in pairs
            )})  # fmt: skip
            return
        if not _is_split(file):
            return super().write(path, scores, out, name, result)
        given = by_output(pairs)
        made = [mean_score(given[id(o)]) if id(o) in given else None for o in log.outputs]
        column = f"{name}/v1/score"
        old = [str(c) for c in file.whole["columns"]]
        if column in old:
            raise DataError(f"the table already has a column {column!r}. Rename the scores.")
        data = [[*row, v] for row, v in zip(file.whole["data"], made, strict=True)]
        whole = {"columns": [*old, column], "data": data}
        write_texts({out: json.dumps(whole, ensure_ascii=False) + "\n"})


def _is_split(file: LogFile) -> bool:
    probe = file.probe
    if not probe.is_text or not probe.text.lstrip().startswith("{"):
        return False
    if '"columns"' not in probe.text and '"data"' not in probe.text:
        return False
    whole = file.whole
    return isinstance(at(whole, "columns"), list) and isinstance(at(whole, "data"), list)


def _is_table(names: Any) -> bool:
    columns = set(names)
    if any(_METRIC.fullmatch(n) for n in columns) and columns & {*_INPUTS, *_OUTPUTS, *_IDS}:
        return True
    return "assessments" in columns and bool(columns & {"trace_id", "request_id"})


def _rows(file: LogFile) -> Iterator[tuple[str, Any, Any]]:
    if not _is_split(file):
        yield from file.records()
        return
    columns = list(map(str, file.whole["columns"]))
    if len(set(columns)) < len(columns):
        raise DataError(f"cannot read {str(file.path)!r}: two columns have the same name.")
    for k, cells in enumerate(file.whole["data"], 1):
        if not isinstance(cells, list) or len(cells) != len(columns):
            size = len(cells) if isinstance(cells, list) else "no"
            yield f"row {k}", f"it has {size} cells for {len(columns)} columns.", cells
        else:
            pairs = zip(columns, cells, strict=True)
            yield f"row {k}", {n: v for n, v in pairs if v is not None}, cells


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A trace as a row, from its info and its root span."""
    info = row["info"]
    spans = objects(at(row, "data", "spans"))
    root = next((s for s in spans if not s.get("parent_id") and not s.get("parent_span_id")), {})
    held = at(root, "attributes")
    found = {
        "request": at(row, "data", "request") or at(held, "mlflow.spanInputs"),
        "response": at(row, "data", "response") or at(held, "mlflow.spanOutputs"),
        **{k: v for k, v in info.items() if v is not None},
    }  # fmt: skip
    return {k: v for k, v in found.items() if v is not None}


def _of(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((parsed(row[n]) for n in names if row.get(n) is not None), None)


def _output(row: Mapping[str, Any], base: str, id_: str) -> Output:
    scores: dict[str, Any] = {}
    for name, value in row.items():
        if made := _METRIC.fullmatch(str(name)):
            if not made[1].startswith("expected_"):
                scores[made[1]] = value
        elif name in _BESIDE and number(value) is not None:
            scores[str(name)] = value
    given = []
    reference = said(_of(row, _TARGETS))
    for one in objects(parsed(row.get("assessments"))):
        name = label(one.get("assessment_name")) or label(one.get("name"))
        value = at(one, "feedback", "value") if "feedback" in one else one.get("value")
        if "expectation" in one:
            scores.pop(name, None)  # the table has a column for it, too
            kept = at(one, "expectation", "serialized_value", "value")
            reference = reference or said(at(one, "expectation", "value") or parsed(kept))
            continue
        source = at(one, "source", "source_type") or at(one, "source", "sourceType")
        people = str(source).upper() == "HUMAN"
        # What a person took back no longer counts; a judge's score stays, even if a person has
        # corrected it.
        if not (people and one.get("valid") is False):
            given.append((people, name, value))
    judges, human = by_source(given)
    scores = {k: v for k, v in scores.items() if k not in human} | judges
    held = parsed(row.get("trace_metadata")) or parsed(row.get("request_metadata"))
    tags = parsed(row.get("tags"))
    session = label(at(held, _SESSION)) or label(at(tags, _SESSION))
    keep = {
        "trace_id": id_, "metadata": held if isinstance(held, Mapping) else None,
        "error": said(row.get("error_message")), "context": said(row.get("context")),
    }  # fmt: skip
    return Output(
        base, said(_of(row, _INPUTS)), said(_of(row, _OUTPUTS)), reference,
        label(row.get("model")) or label(at(held, "mlflow.modelId")), session, "", scores, human,
        {k: v for k, v in keep.items() if v},
    )  # fmt: skip
