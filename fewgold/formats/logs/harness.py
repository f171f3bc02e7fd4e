"""Logs of benchmarks: lm-evaluation-harness samples, and OpenAI evals events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fewgold.common.text import counted
from fewgold.errors import DataError
from fewgold.formats.base import Probe
from fewgold.formats.logs.base import (
    EvalLog,
    Gathered,
    LogFile,
    LogFormat,
    Output,
    at,
    dumped,
    label,
    mean,
    number,
    said,
)

# Fields of a sample that are not metrics.
_SAMPLE = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash", "task_name", "system_instruction",
}  # fmt: skip
_SAMPLES = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d.:-]+))?\.jsonl?(?:\.gz)?")


class LmEval(LogFormat):
    """lm-evaluation-harness. A document of a task is an item; filters make several metrics."""

    name = "lm-eval"
    title = "lm-evaluation-harness"

    def recognises(self, file: LogFile) -> bool:
        """Rows with doc_id, resps and arguments; or a folder with files of such rows."""
        if file.probe.is_folder:
            return bool(_sample_files(file.path))
        return {"doc_id", "arguments"} <= set(file.first) and bool(
            {"resps", "filtered_resps"} & set(file.first)
        )

    def read(self, file: LogFile) -> EvalLog:
        """Read one output per document, with one metric per metric and filter."""
        found = Gathered(self)
        paths = _sample_files(file.path) if file.probe.is_folder else [file.path]
        tasks = [_task_of(p) for p in paths]
        several = len(set(tasks)) > 1
        for path, task in zip(paths, tasks, strict=True):
            where = f"{path.relative_to(file.path)}, " if len(paths) > 1 else ""
            _task(found, LogFile(Probe(path)), where, task, several)
        return found.done()


def _sample_files(folder: Path) -> list[Path]:
    """Sample files in a folder, else in its folders: ``--output_path`` gets one per model."""
    for pattern in ("samples_*.json*", "*/samples_*.json*"):
        if found := sorted(p for p in folder.glob(pattern) if _SAMPLES.fullmatch(p.name)):
            return found
    return []


def _task_of(path: Path) -> str:
    named = _SAMPLES.fullmatch(path.name)
    return named[1] if named else ""


def _model(path: Path) -> str:
    """The model, from the results file next to the samples."""
    named = _SAMPLES.fullmatch(path.name)
    beside = path.with_name(f"results_{named[2]}.json") if named and named[2] else None
    if beside is None or not beside.is_file():
        return ""
    try:
        whole = json.loads(beside.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        return ""
    return label(at(whole, "model_name")) or label(at(whole, "model_name_sanitized"))


def _task(found: Gathered, file: LogFile, where: str, task: str, several: bool) -> None:
    """The samples of one task; rows of one document, one for each filter, make one output."""
    rows: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for place, row, raw in file.records():
        if isinstance(row, str):
            found.reject(f"{where}{place}", row, raw)
        elif not (doc := label(row.get("doc_id"))):
            found.reject(f"{where}{place}", "it has no doc_id.", raw)
        else:
            found.use()
            rows.setdefault(doc, []).append((label(row.get("filter")), row))
    filters = {name for made in rows.values() for name, _ in made}
    model = _model(file.path)
    sampled = 0
    for doc, made in rows.items():
        names = [name for name, _ in made]
        # If a file was written twice, each filter occurs twice: these are repeats.
        times = max(names.count(name) for name in names)
        for time in range(times):
            scores: dict[str, Any] = {}
            taken = []
            for name in dict.fromkeys(names):
                one = [r for n, r in made if n == name]
                if time < len(one):
                    taken.append(one[time])
                    for metric, value in _metrics(one[time]):
                        whole = name and len(filters) > 1
                        scores[f"{metric}.{name}" if whole else metric] = value
            row = taken[0]
            asked, answer, many = _texts(row)
            sampled += many > 1
            keep = {"task": task, "record": row.get("doc"), "doc_hash": row.get("doc_hash")}
            found.outputs.append(Output(
                f"{task}:{doc}" if several else doc, asked, answer, said(row.get("target")), model,
                scores=scores, keep={k: v for k, v in keep.items() if v},
            ))  # fmt: skip
    if sampled:
        found.notes.append(
            f"{counted(sampled, 'document')} with several responses under one score: the first is "
            "shown"
        )


def _metrics(row: Mapping[str, Any]) -> list[tuple[str, Any]]:
    named = row.get("metrics")
    names = [m for m in named if isinstance(m, str)] if isinstance(named, list) else None
    free = [n for n in row if n not in _SAMPLE] if names is None else names
    return [(n, row[n]) for n in free if n in row and number(row[n]) is not None]


def _texts(row: Mapping[str, Any]) -> tuple[str, str, int]:
    """The prompt, the response, and the number of responses.

    If likelihoods choose among continuations, the most likely one is the response.
    """
    asked = row.get("arguments")
    calls: list[Any] = list(asked.values()) if isinstance(asked, Mapping) else []
    calls = asked if isinstance(asked, list) else calls
    pairs = [
        (c.get("arg_0"), c.get("arg_1"))
        if isinstance(c, Mapping)
        else (at(c, 0), at(c, 1)) if isinstance(c, list | tuple) else (c, None)
        for c in calls
    ]  # fmt: skip
    prompt = said(pairs[0][0]) if pairs else ""
    resps = row.get("resps")
    filtered = row.get("filtered_resps")
    likely = [_likelihood(at(filtered, k) or at(resps, k, 0)) for k in range(len(pairs))]
    if likely and all(v is not None for v in likely) and isinstance(pairs[0][1], str):
        best = max(range(len(likely)), key=lambda k: likely[k] or float("-inf"))
        return prompt, said(pairs[best][1]).strip(), 1
    answers = at(resps, 0)
    several = len(answers) if isinstance(answers, list) else 1
    first = at(answers, 0) if isinstance(answers, list) else answers
    return prompt, said(first if first is not None else at(filtered, 0)), several


def _likelihood(value: Any) -> float | None:
    """The log-likelihood in ``[-1.2, False]``."""
    if not (isinstance(value, list | tuple) and len(value) == 2):
        return None
    greedy = value[1] in (True, False, "True", "False")
    return number(value[0]) if greedy else None


# The events that are read; the data of others may be of any kind.
_EVENTS = ("sampling", "match", "metrics", "error")


class OpenAIEvals(LogFormat):
    """OpenAI evals. Events of one sample make one output."""

    name = "openai-evals"
    title = "OpenAI evals"

    def recognises(self, file: LogFile) -> bool:
        """Lines with a spec of a run, or with run_id, event_id, type and data."""
        keys = set(file.first)
        if {"run_id", "event_id", "sample_id", "type", "data"} <= keys:
            return True
        return "spec" in keys and isinstance(at(file.first, "spec", "run_id"), str)

    def read(self, file: LogFile) -> EvalLog:
        """Read one output per sample: its first completion, with its matches and metrics."""
        found = Gathered(self)
        system = ""
        events: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        systems: dict[str, str] = {}
        for place, row, raw in file.records():
            if isinstance(row, str):
                found.reject(place, row, raw)
            elif isinstance(spec := row.get("spec"), Mapping):
                system = label(at(spec, "completion_fns", 0)) or label(spec.get("model_name"))
                systems[label(spec.get("run_id"))] = system
                found.skip()
            elif "final_report" in row:
                found.skip()
            elif not (sample := label(row.get("sample_id"))):
                found.reject(place, "it has no sample_id.", raw)
            elif not isinstance(row.get("data"), Mapping) and row.get("type") in _EVENTS:
                found.reject(place, "its data is not an object {…}.", raw)
            else:
                found.use()
                run = label(row.get("run_id"))
                events.setdefault((sample, systems.get(run, system)), []).append(row)
        if not events and not found.rejected:
            raise DataError(f"{str(file.path)!r} is a log of OpenAI evals without samples.")
        for (sample, model), made in events.items():
            found.outputs.append(_sample(sample, model, made))
        return found.done()


def _sample(sample: str, model: str, events: list[Mapping[str, Any]]) -> Output:
    asked = answer = reference = ""
    scores: dict[str, list[Any]] = {}
    words: dict[str, Any] = {}
    for event in events:
        kind, data = label(event.get("type")), event["data"]
        if kind == "sampling" and not answer:  # later ones are those of a grading model
            asked, answer = said(data.get("prompt")), said(data.get("sampled"))
        elif kind == "match":
            scores.setdefault("correct", []).append(data.get("correct"))
            reference = reference or said(data.get("expected"))
            answer = answer or said(data.get("picked"))
        elif kind == "metrics":
            for name, value in data.items():
                if number(value) is not None:
                    scores.setdefault(str(name), []).append(value)
                elif name == "choice":
                    words["choice"] = said(value)
        elif kind == "error":
            words["error"] = said(data.get("message")) or dumped(data)
    return Output(
        sample, asked, answer, reference, model,
        scores={n: mean(v) for n, v in scores.items()}, keep=words,
    )  # fmt: skip
