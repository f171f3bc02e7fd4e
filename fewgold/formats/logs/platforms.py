"""Exports of Langfuse and LangSmith: traces or runs, with scores or feedback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold.common.text import counted
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
    by_source,
    label,
    lines_of,
    matched,
    mean,
    number,
    objects,
    parsed,
    said,
    steady_id,
)
from fewgold.io import looks_human, plain, write_texts

# Langfuse: fields of traces and observations, in camel case or with underscores -----------------

_TRACE = {
    "id", "traceid", "projectid", "timestamp", "name", "userid", "sessionid", "release", "version",
    "environment", "tags", "bookmarked", "public", "input", "output", "metadata", "latency",
    "usage", "usagedetails", "inputcost", "outputcost", "totalcost", "costdetails", "level",
    "errorcount", "warningcount", "defaultcount", "debugcount", "observationcount", "inputtokens",
    "outputtokens", "totaltokens", "prompttokens", "completiontokens", "createdat", "updatedat",
    "externalid", "htmlpath", "observations", "scores", "comments", "type", "starttime", "endtime",
    "completionstarttime", "model", "modelid", "providedmodelname", "internalmodelid",
    "modelparameters", "statusmessage", "parentobservationid", "promptid", "promptname",
    "promptversion", "timetofirsttoken", "unit", "tracename", "tracetags", "tracetimestamp",
    "inputprice", "outputprice", "totalprice", "usagepricingtiername", "usagepricingtierid",
    "toolcalls", "tooldefinitions", "toolcallnames", "isdeleted", "eventts", "key", "prompt",
    "latencyms", "timetofirsttokenms", "userids", "isrootobservation",
}  # fmt: skip
_TRACE_MARKS = {"sessionid", "userid", "bookmarked", "public", "environment", "release", "tags",
                "timestamp", "htmlpath", "parentobservationid", "providedmodelname"}  # fmt: skip
_SCORE = {"name", "value", "datatype"}
_SCORE_MARKS = {"id", "source", "observationid", "stringvalue"}
# What a score of version 3 of the API is about, and the field that older ones have for it.
_SUBJECTS = {
    "trace": "traceid", "observation": "observationid", "session": "sessionid",
    "experiment": "datasetrunid",
}  # fmt: skip


class Langfuse(LogFormat):
    """Langfuse. A trace is an item, its session the conversation; annotations are by people."""

    name = "langfuse"
    title = "Langfuse"
    takes = "JSON lines for POST /api/public/scores, one object per score"

    def recognises(self, file: LogFile) -> bool:
        """Traces, observations or scores: a table, a list, or ``data`` of the public API."""
        if _traces_of(_peek(file)) is not None:
            return True
        keys = set(map(plain, file.first))
        if _has_score(keys):
            return True
        return {"id", "input", "output"} <= keys and len(keys & _TRACE_MARKS) >= 4

    def read(self, file: LogFile) -> EvalLog:
        """One output for each trace or observation."""
        found = Gathered(self)
        inner = _traces_of(_peek(file))
        rows: list[tuple[str, Any, Any]]
        if inner is None:
            rows = list(file.records())
        else:
            rows = [(f"trace {k}", row, row) for k, row in enumerate(inner, 1)]
        scores: list[Mapping[str, Any]] = []
        ids = {label(row.get("id")) for _, row, _ in rows if isinstance(row, Mapping)} - {""}
        inside = of_sessions = named = 0
        for place, row, raw in rows:
            if not isinstance(row, Mapping):
                found.reject(place, row if isinstance(row, str) else "is not an object {…}.", raw)
                continue
            plainly = _plainly(row)
            if _is_score(plainly):
                if label(plainly.get("traceid")):
                    found.use()
                    scores.append(plainly)
                elif label(plainly.get("sessionid")) or label(plainly.get("datasetrunid")):
                    of_sessions += 1
                    found.skip()
                else:
                    why = "the score does not name its trace. Ask the API with fields=subject."
                    found.reject(place, why, raw)
            elif not (id_ := label(plainly.get("id"))):
                found.reject(place, "it has no id.", raw)
            elif label(plainly.get("parentobservationid")) in ids:
                inside += 1
                found.skip()
            else:
                listed = parsed(plainly.get("scores"))
                named += isinstance(listed, list) and any(isinstance(s, str) for s in listed)
                found.use(_trace(id_, row, plainly))
        if inside:
            many = counted(inside, "observation")
            found.notes.append(f"{many} inside others, not counted as items")
        if of_sessions:
            found.notes.append(
                f"{counted(of_sessions, 'score')} of a whole session or run, not of a trace"
            )
        if named and not scores:
            found.notes.append(
                f"{counted(named, 'trace')} with the ids of scores, not the scores: for these "
                "download the scores, or each trace by itself"
            )
        traces = [(o.keep["trace_id"], k) for k, o in enumerate(found.outputs)]
        known = dict(reversed(traces)) | {o.id: k for k, o in enumerate(found.outputs)}
        of: dict[str, list[Mapping[str, Any]]] = {}
        for row in scores:
            part = label(row.get("observationid"))
            of.setdefault(part if part in known else label(row["traceid"]), []).append(row)
        for name, made in of.items():
            metrics, human = _scored(made)
            if name in known:
                own = found.outputs[known[name]]
                found.outputs[known[name]] = replace(
                    own, scores={**own.scores, **metrics}, human={**own.human, **human}
                )
            else:
                found.outputs.append(
                    Output(name, scores=metrics, human=human, keep={"trace_id": name})
                )
        return found.done()

    def write(
        self,
        path: Path,
        scores: Sequence[HumanScore],
        out: Path,
        name: str,
        result: Mapping[str, float],
    ) -> None:
        """Write one object per score, for the public API."""
        rows = []
        for output, score in matched(self.read(LogFile(Probe(path))), scores):
            place = {"traceId": output.keep["trace_id"]}
            if "observation_id" in output.keep:
                place["observationId"] = output.keep["observation_id"]
            told = {"comment": score.comment} if score.comment else {}
            rater = {"metadata": {"rater": score.rater}} if score.rater else {}
            rows.append({
                "id": steady_id(name, score.id, score.system, score.rater), **place, "name": name,
                "value": score.score, "dataType": "NUMERIC", **told, **rater,
            })  # fmt: skip
        write_texts({out: lines_of(rows)})


def _peek(file: LogFile) -> Any:
    """The whole file if it is one JSON object that may hold traces; else None."""
    probe = file.probe
    if probe.is_folder or not probe.is_text or not probe.text.lstrip().startswith("{"):
        return None
    marks = ('"data"', '"trace"', '"observations"')
    return file.whole if any(m in probe.text for m in marks) else None


def _traces_of(whole: Any) -> list[Any] | None:
    """The traces in an answer of the public API, or in the download of one trace."""
    data = at(whole, "data")
    if isinstance(data, list) and isinstance(at(whole, "meta"), Mapping):
        return data if any(_is_trace(d) for d in objects(data[:3])) else None
    if isinstance(inner := at(whole, "trace"), Mapping) and _is_trace(inner):
        loose = [s for s in objects(at(whole, "scores")) if "scores" not in inner]
        return [dict(inner) | ({"scores": loose} if loose else {})]
    return [whole] if isinstance(whole, Mapping) and _is_trace(whole) else None


def _is_trace(row: Mapping[str, Any]) -> bool:
    keys = set(map(plain, map(str, row)))
    return (
        ({"id", "input", "output"} <= keys and len(keys & _TRACE_MARKS) >= 3)
        or keys >= {"traceid", "name", "value"}
        or _has_score(keys)
    )


def _has_score(keys: set[str]) -> bool:
    """Whether these are the fields of a score; scores of version 3 of the API have no trace id."""
    told = keys >= _SCORE and len(keys & _SCORE_MARKS) > 1
    return told and bool(keys & {"traceid", "subject", "environment"})


def _plainly(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with plain names of fields; the subject of a score gets the names of older versions."""
    made = {plain(str(k)): v for k, v in row.items()}
    subject = made.get("subject")
    if field := _SUBJECTS.get(label(at(subject, "kind"))):
        made[field] = at(subject, "id")
        if made.get("traceid") is None and at(subject, "traceId") is not None:
            made["traceid"] = at(subject, "traceId")
    return made


def _is_score(row: Mapping[str, Any]) -> bool:
    """Whether a row is a score; empty cells of a table are left out of it."""
    if "input" in row or "output" in row or "name" not in row:
        return False
    return {"traceid", "value"} <= set(row) or "datatype" in row


def _trace(id_: str, row: Mapping[str, Any], plainly: Mapping[str, Any]) -> Output:
    metrics, human = _scored([
        _plainly(s) for s in objects(parsed(plainly.get("scores")))
    ])  # fmt: skip
    more: dict[str, Any] = {}
    for name, value in row.items():  # tables have a column for each score
        if plain(str(name)) not in _TRACE:
            given = parsed(value)
            one = mean(given) if isinstance(given, list) else given
            if number(one) is not None:
                metrics.setdefault(str(name), one)
            else:
                more[str(name)] = said(given)
    flat = parsed(plainly.get("scores"))
    for name, value in flat.items() if isinstance(flat, Mapping) else ():
        metrics.setdefault(str(name), mean(value) if isinstance(value, list) else value)
    model = next(
        (m for n in ("providedmodelname", "model", "modelid") if (m := label(plainly.get(n)))), ""
    )
    held = parsed(plainly.get("metadata"))
    trace = label(plainly.get("traceid"))
    keep = {"trace_id": trace or id_, "name": plainly.get("name"), "metadata": held or None,
            "time": plainly.get("timestamp") or plainly.get("starttime"), **more}  # fmt: skip
    if trace:
        keep["observation_id"] = id_
    return Output(
        id_, said(parsed(plainly.get("input"))), said(parsed(plainly.get("output"))), "",
        model or label(at(held, "model")), label(plainly.get("sessionid")), "", metrics, human,
        {k: v for k, v in keep.items() if v},
    )  # fmt: skip


def _scored(scores: list[Mapping[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores by judges and by people; several of one name are averaged.

    A text or a corrected output that somebody wrote is no score of a person.
    """
    given = []
    for score in scores:
        value, kind = score.get("value"), plain(str(score.get("datatype") or ""))
        if kind in ("categorical", "text") or value is None:
            value = score.get("stringvalue", value)
        words = kind in ("text", "correction")
        people = not words and str(score.get("source") or "").upper() == "ANNOTATION"
        given.append((people, label(score.get("name")), value))
    return by_source(given)


# LangSmith ----------------------------------------------------------------------------------------

_RUN = {"inputs", "outputs", "run_type", "trace_id", "session_id", "dotted_order",
        "reference_example_id", "feedback_stats", "parent_run_id", "start_time"}  # fmt: skip
_FEEDBACK = ("feedback.", "feedback/", "evaluators.")
# Further fields of runs, of examples and of tables of either; any other column of a table is a
# score or a label that somebody added.
_RUN_BESIDE = {
    "id", "run_id", "example_id", "dataset_id", "name", "status", "error", "end_time", "extra",
    "events", "serialized", "tags", "attachments", "child_run_ids", "child_runs", "app_path",
    "manifest_id", "session_name", "experiment", "experiment_name", "repetition", "reference",
    "reference_outputs", "reference_example", "metadata", "feedback", "feedbacks", "runs",
    "evaluation_results", "first_token_time", "parent_run_ids", "in_dataset", "created_at",
    "modified_at", "execution_time", "latency", "tokens", "cost", "notes", "input", "output",
    "prompt_tokens", "completion_tokens", "total_tokens", "prompt_token_details", "split",
    "completion_token_details", "prompt_cost", "completion_cost", "total_cost", "is_root",
    "prompt_cost_details", "completion_cost_details", "tenant_id", "trace_tier", "ttl_seconds",
    "last_queued_at", "inputs_preview", "outputs_preview", "first_token_at", "share_token",
    "source_run_id", "attachment_urls", "messages", "thread_id", "session",
}  # fmt: skip
_THREADS = ("thread_id", "session_id", "conversation_id")


class LangSmith(LogFormat):
    """LangSmith. An example is an item, an experiment is a system; a run without one stands alone.

    Runs of one thread are one conversation.
    """

    name = "langsmith"
    title = "LangSmith"
    takes = "JSON lines with the arguments of Client.create_feedback, one object per score"

    def recognises(self, file: LogFile) -> bool:
        """Runs, examples with runs, or a table with inputs, outputs and feedback."""
        first = file.first
        keys = set(map(str, first))
        if any(k.startswith(_FEEDBACK) for k in keys) and any(
            k in ("inputs", "example_id") or k.startswith(("inputs.", "input.")) for k in keys
        ):
            return True
        if {"reference_outputs", "inputs", "outputs"} <= keys and keys & {"run_id", "id", "status"}:
            return True
        if {"inputs", "runs"} <= keys and isinstance(first.get("runs"), list):
            return True
        return "inputs" in keys and len(keys & _RUN) >= 4

    def read(self, file: LogFile) -> EvalLog:
        """One output for each root run."""
        found = Gathered(self)
        inner = 0
        for place, row, raw in file.records():
            if isinstance(row, str):
                found.reject(place, row, raw)
            elif isinstance(runs := row.get("runs"), list) and "inputs" in row:
                example = label(row.get("id"))
                if not example:
                    found.reject(place, "the example has no id.", raw)
                    continue
                made = [_run(r, example, row) for r in objects(runs)]
                found.use(*made)
            elif label(row.get("parent_run_id")):
                inner += 1
                found.skip()
            elif not (label(row.get("id")) or _example(row) or label(row.get("run_id"))):
                found.reject(place, "it has neither an id nor an example.", raw)
            else:
                found.use(_run(row, _example(row)))
        if inner:
            found.notes.append(f"{counted(inner, 'step')} inside runs, not counted as items")
        return found.done()

    def write(
        self,
        path: Path,
        scores: Sequence[HumanScore],
        out: Path,
        name: str,
        result: Mapping[str, float],
    ) -> None:
        """Write the arguments of ``Client.create_feedback``, one object per score."""
        rows = []
        for output, score in matched(self.read(LogFile(Probe(path))), scores):
            if not output.keep.get("run_id"):
                raise DataError(
                    f"{str(path)!r} does not say which run made the output {score.id!r}, and "
                    "feedback is about runs. Use an export with run ids."
                )
            told = {"comment": score.comment} if score.comment else {}
            rater = {"source_info": {"rater": score.rater}} if score.rater else {}
            rows.append({
                "run_id": output.keep["run_id"], "key": name, "score": score.score,
                "feedback_id": steady_id(name, score.id, score.system, score.rater),
                "feedback_source_type": "api", **told, **rater,
            })  # fmt: skip
        write_texts({out: lines_of(rows)})


def _example(row: Mapping[str, Any]) -> str:
    return label(row.get("reference_example_id")) or label(row.get("example_id"))


def _added(name: str) -> bool:
    """Whether a column is not one of those that LangSmith has for every run."""
    bare = name.partition(".")[0]
    return bare not in _RUN and bare not in _RUN_BESIDE


def _part(row: Mapping[str, Any], *names: str) -> Any:
    """A field, or all columns that begin with its name and a dot."""
    for name in names:
        if row.get(name) is not None:
            return parsed(row[name])
        inner = {k.partition(".")[2]: parsed(v) for k, v in row.items() if k.startswith(f"{name}.")}
        if inner:
            return inner
    return None


def _run(row: Mapping[str, Any], example: str, item: Mapping[str, Any] | None = None) -> Output:
    run = label(row.get("run_id")) or label(row.get("id"))
    metrics: dict[str, Any] = {}
    human: dict[str, Any] = {}
    for name, value in row.items():
        key = next((name.removeprefix(p) for p in _FEEDBACK if name.startswith(p)), None)
        if key and not key.endswith((".comment", "_comment", ".reasoning")):
            metrics[key] = value
        elif key is None and _added(name) and number(value) is not None:
            (human if looks_human(name) else metrics)[name] = value
    stats = parsed(row.get("feedback_stats"))
    for key, told in stats.items() if isinstance(stats, Mapping) else ():
        metrics[str(key)] = at(told, "avg") if isinstance(told, Mapping) else told
    listed = row.get("feedback") or row.get("feedbacks") or row.get("evaluation_results")
    given = []
    for one in objects(parsed(at(listed, "results") or listed)):
        people = label(at(one, "feedback_source", "type")) in ("app", "human")
        value = one.get("score") if one.get("score") is not None else one.get("value")
        given.append((people, label(one.get("key")), value))
    judges, people_said = by_source(given)
    # A column or a statistic of that name is the average over all sources.
    metrics = {k: v for k, v in metrics.items() if k not in people_said} | judges
    human |= people_said
    extra = at(parsed(row.get("extra")), "metadata")
    held = extra if isinstance(extra, Mapping) else parsed(row.get("metadata"))
    thread = next((t for n in _THREADS if (t := label(at(held, n)))), "")
    system = next(filter(None, (
        label(row.get("session_name")), label(row.get("experiment")),
        label(row.get("experiment_name")), label(at(held, "ls_model_name")),
        label(row.get("session_id")),
    )), "")  # fmt: skip
    reference = _part(row, "reference_outputs", "reference", "reference_example")
    if reference is None and item is not None:
        reference = item.get("outputs")
    keep = {
        "run_id": run, "name": row.get("name"), "metadata": held or None,
        "error": said(row.get("error")) or None, "time": row.get("start_time"),
    }  # fmt: skip
    asked = _part(row, "inputs", "input")
    return Output(
        example or run, said(asked if asked is not None or item is None else item.get("inputs")),
        said(_part(row, "outputs", "output")), said(reference), system, thread,
        label(row.get("repetition")), metrics, human, {k: v for k, v in keep.items() if v},
    )  # fmt: skip
