"""Test runs of DeepEval: the JSON in its results folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fewgold.formats.logs.base import (
    EvalLog,
    Gathered,
    LogFile,
    LogFormat,
    Output,
    at,
    dumped,
    label,
    objects,
    said,
)

_SINGLE = ("testCases", "test_cases")
_TALKS = ("conversationalTestCases", "conversational_test_cases")
_RESULTS = ("test_results", "testResults")
_METRICS = ("metricsData", "metrics_data", "metricsMetadata")


class DeepEval(LogFormat):
    """DeepEval. A test case is an item, and so is a whole conversation, which is judged as one."""

    name = "deepeval"
    title = "DeepEval"

    def recognises(self, file: LogFile) -> bool:
        """An object with test cases that have metrics, perhaps under ``testRunData``."""
        probe = file.probe
        if probe.is_folder or not probe.is_text or not probe.text.lstrip().startswith("{"):
            return False
        if not any(f'"{m}"' in probe.text for m in (*_METRICS, *_SINGLE, *_TALKS, *_RESULTS)):
            return False
        run = _run(file.whole)
        cases = [c for _, c in _cases(run)]
        return any(any(m in c for m in _METRICS) for c in objects(cases[:5]))

    def read(self, file: LogFile) -> EvalLog:
        """The test cases, single ones first, then conversations."""
        found = Gathered(self)
        run = _run(file.object())
        system = label(at(run, "hyperparameters", "model")) or label(
            at(run, "configurations", "model")
        )
        seen: dict[str, str] = {}
        cases = _cases(run)
        names = [_name(c) for _, c in cases]
        for (place, case), name in zip(cases, names, strict=True):
            if not isinstance(case, Mapping):
                found.reject(place, "is not an object {…}.", case)
                continue
            asked = case.get("input")
            turns = objects(case.get("turns") or case.get("messages"))
            if asked is None and not turns:
                found.reject(place, "it has neither an input nor turns.", case)
                continue
            # Cases are named by their number or by their test, so the input tells which are
            # repeats of one item.
            scene = case.get("scenario") or [said(t.get("content")) for t in turns]
            wanted = _of(case, "expectedOutput", "expected_output", "expectedOutcome")
            key = dumped([asked, scene, wanted])
            base = seen.setdefault(key, name if name and names.count(name) == 1 else place)
            found.use(_output(case, base, system, turns))
        return found.done()


def _run(whole: Any) -> Any:
    for name in ("testRunData", "test_run_data", "testRun"):
        if isinstance(inner := at(whole, name), Mapping):
            return inner
    return whole


def _cases(run: Any) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for names, what in ((_SINGLE, "test case"), (_TALKS, "conversation"), (_RESULTS, "result")):
        for name in names:
            if isinstance(cases := at(run, name), list) and cases:
                found += [(f"{what} {k}", c) for k, c in enumerate(cases, 1)]
                break
    return found


def _name(case: Any) -> str:
    return label(at(case, "name"))


def _of(case: Mapping[str, Any], *names: str) -> Any:
    return next((case[n] for n in names if case.get(n) is not None), None)


def _output(case: Mapping[str, Any], base: str, system: str, turns: list[Any]) -> Output:
    scores: dict[str, Any] = {}
    for metric in objects(_of(case, *_METRICS)):
        name = label(metric.get("name")) or label(metric.get("metric"))
        if name and metric.get("error") in (None, ""):
            value = metric.get("score")
            scores[name] = metric.get("success") if value is None else value
    scores["passed"] = case.get("success")
    asked, answer = said(case.get("input")), said(_of(case, "actualOutput", "actual_output"))
    if turns:
        asked, answer = said(case.get("scenario")), said(turns)
    context = _of(case, "retrievalContext", "retrieval_context", "context")
    more = _of(case, "metadata", "additionalMetadata", "additional_metadata")
    keep = {
        "name": _name(case), "metadata": more, "context": said(context) or None,
        "comments": case.get("comments"),
    }  # fmt: skip
    thread = label(at(more, "conversation_id")) or label(at(more, "session_id"))
    return Output(
        base, asked, answer, said(_of(case, "expectedOutput", "expected_output",
                                      "expectedOutcome", "expected_outcome")),
        system, thread, "", scores, {},
        {k: v for k, v in keep.items() if v not in (None, "", {}, [])},
    )  # fmt: skip
