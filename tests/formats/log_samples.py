"""Small logs of evaluation tools, made here after the fields that their documentation lists."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

N = 30


def items(n: int = N) -> Iterator[tuple[int, str, str, str, float, bool]]:
    """Number, question, answer, reference, a judge's score and whether it passed."""
    for k in range(n):
        wrong = k % 4 == 1
        total = 3 * k + 7 + wrong
        question = f"What is {2 * k + 3} plus {k + 4}, and how do you add them?"
        answer = f"Adding both numbers step by step gives {total}. „Fertig“, said it"
        yield k, question, answer, str(3 * k + 7), round(0.9 - 0.6 * wrong - 0.01 * k, 3), not wrong


def dump(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def dump_lines(path: Path, rows: list[Any]) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    return path


def dump_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    out = io.StringIO()
    names = list(dict.fromkeys(n for row in rows for n in row))
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue(), encoding="utf-8")
    return path


# Inspect AI ---------------------------------------------------------------------------------------


def inspect_log(model: str = "openai/small", epochs: int = 1) -> dict[str, Any]:
    """A log as one object; of the letters C, I, P and N all occur."""
    samples = []
    for epoch in range(1, epochs + 1):
        for k, question, answer, target, judged, passed in items():
            letter = "P" if k % 7 == 3 else "N" if k == 5 else "C" if passed else "I"
            samples.append({
                "id": k + 1, "epoch": epoch, "input": [{"role": "user", "content": question}],
                "target": target, "metadata": {"topic": "sums" if k % 2 else "more"},
                "messages": [{"role": "user", "content": question},
                             {"role": "assistant", "content": answer}],
                "output": {"model": model, "choices": [
                    {"message": {"role": "assistant", "content": answer}, "stop_reason": "stop"}]},
                "scores": {
                    "match": {"value": letter, "answer": answer, "explanation": "compared"},
                    "rubric": {"value": {"accuracy": judged, "clarity": 1 - k % 3 / 2}},
                },
                "attachments": {}, "uuid": f"u{epoch}x{k}",
            })  # fmt: skip
    return {
        "version": 2, "status": "success",
        "eval": {"task": "sums", "task_id": "t1", "run_id": "r1", "created": "2026-11-18T10:00:00",
                 "model": model, "dataset": {"name": "sums", "samples": N},
                 "config": {"epochs": epochs}},
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}]},
        "results": {"total_samples": N * epochs, "completed_samples": N * epochs, "scores": [
            {"name": "match", "scorer": "match", "metrics": {
                "accuracy": {"name": "accuracy", "value": 0.7}}}]},
        "stats": {"started_at": "2026-11-18T10:00:00", "completed_at": "2026-11-18T10:01:00"},
        "samples": samples,
    }  # fmt: skip


def inspect_eval(path: Path, log: dict[str, Any], samples: bool = True) -> Path:
    """The same as a zip file."""
    head = {k: v for k, v in log.items() if k != "samples"}
    brief = ("id", "epoch", "input", "target", "scores")
    summaries = [{k: s[k] for k in brief} for s in log["samples"]]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        start = {k: head[k] for k in ("version", "eval", "plan")}
        packed.writestr("_journal/start.json", json.dumps(start))
        for s in log["samples"] if samples else ():
            packed.writestr(f"samples/{s['id']}_epoch_{s['epoch']}.json", json.dumps(s))
        packed.writestr("_journal/summaries/1.json", json.dumps(summaries))
        packed.writestr("summaries.json", json.dumps(summaries))
        packed.writestr("header.json", json.dumps(head))
    return path


# promptfoo ----------------------------------------------------------------------------------------


def promptfoo_rows(repeat: int = 1) -> list[dict[str, Any]]:
    rows = []
    for turn in range(repeat):
        for k, question, answer, reference, judged, passed in items():
            for p, provider in enumerate(("openai:small", "local:tiny")):
                ok = passed if p == 0 else k % 3 > 0
                score = judged if p == 0 else 0.5 + 0.1 * (k % 3)
                rows.append({
                    "id": f"res-{turn}-{k}-{p}", "testIdx": turn * N + k, "promptIdx": p,
                    "promptId": "ab12", "provider": {"id": provider, "label": ""},
                    "prompt": {"raw": f"Answer: {question}", "label": "Answer: {{question}}"},
                    "vars": {"question": question}, "description": None,
                    "testCase": {"vars": {"question": question}, "assert": [
                        {"type": "contains", "value": reference},
                        {"type": "llm-rubric", "value": "explains the steps"}]},
                    "response": {"output": answer, "tokenUsage": {"total": 20}},
                    "success": ok, "score": score, "latencyMs": 120, "cost": 0.001,
                    "namedScores": {"clarity": 1 - k % 5 / 4}, "failureReason": int(not ok),
                    "gradingResult": {"pass": ok, "score": score, "reason": "graded",
                        "componentResults": [
                            {"pass": ok, "score": float(ok),
                             "assertion": {"type": "contains", "value": reference}},
                            {"pass": True, "score": score,
                             "assertion": {"type": "llm-rubric", "value": "explains"}}]},
                })  # fmt: skip
    return rows


def promptfoo_csv(path: Path) -> Path:
    rows = []
    for k, question, answer, _, judged, passed in items():
        word = "PASS" if passed else "FAIL"
        cells = {"question": question}
        for provider in ("openai:small", "local:tiny"):
            cells[f"[{provider}] Answer: {{{{question}}}}"] = (
                f"[{word}] ({judged:.2f}, clarity: {1 - k % 5 / 4:.2f})\n\n{answer}\n\n"
                f"{'Pass' if passed else 'Fail'} Reason: graded"
            )
        rows.append(cells)
    return dump_csv(path, rows)


# DeepEval -----------------------------------------------------------------------------------------


def deepeval_run() -> dict[str, Any]:
    cases = [
        {
            "name": f"test_case_{k}", "input": question, "actualOutput": answer,
            "expectedOutput": reference, "retrievalContext": ["a page on sums"], "success": passed,
            "order": k, "metadata": {"topic": "sums"},
            "metricsData": [
                {"name": "Answer Relevancy", "threshold": 0.5, "success": passed, "score": judged,
                 "reason": "compared", "strictMode": False, "evaluationModel": "judge"},
                {"name": "Faithfulness", "threshold": 0.5, "success": True,
                 "score": 1 - k % 5 / 10, "evaluationModel": "judge"},
            ],
        }
        for k, question, answer, reference, judged, passed in items()
    ]  # fmt: skip
    talks = [
        {
            "name": f"talk_{k}", "success": k % 2 == 0, "scenario": f"pupil {k} asks", "order": k,
            "turns": [{"role": "user", "content": "Hello there.", "order": 0},
                      {"role": "assistant", "content": f"How can I help you, number {k}?",
                       "order": 1}],
            "metricsData": [{"name": "Answer Relevancy", "score": 0.1 * k, "success": True}],
        }
        for k in range(4)
    ]  # fmt: skip
    return {
        "testFile": "test_sums.py", "testCases": cases, "conversationalTestCases": talks,
        "metricsScores": [{"metric": "Answer Relevancy", "scores": [0.9], "passes": 1}],
        "hyperparameters": {"model": "small-1"}, "testPassed": 20, "testFailed": 14,
    }  # fmt: skip


# lm-evaluation-harness and OpenAI evals -----------------------------------------------------------


def lm_eval_rows() -> list[dict[str, Any]]:
    rows = []
    for k, question, answer, reference, _, passed in items():
        for name in ("strict-match", "flexible-extract"):
            right = float(passed and (name == "flexible-extract" or k % 5 > 0))
            rows.append({
                "doc_id": k, "doc": {"question": question, "answer": reference},
                "target": reference,
                "arguments": {"gen_args_0": {"arg_0": f"Question: {question}\nAnswer:",
                                             "arg_1": {"until": ["\n"], "do_sample": False}}},
                "resps": [[answer]], "filtered_resps": [reference], "filter": name,
                "metrics": ["exact_match"], "doc_hash": f"d{k}", "prompt_hash": f"p{k}",
                "target_hash": f"t{k}", "exact_match": right,
            })  # fmt: skip
    return rows


def lm_eval_choices() -> list[dict[str, Any]]:
    """Likelihoods of four continuations, in the older form of arguments."""
    return [
        {
            "doc_id": k, "doc": {"question": question}, "target": k % 4,
            "arguments": [[f"Question: {question}", f" choice {c}"] for c in range(4)],
            "resps": [[[-1.0 - (c != k % 3), False]] for c in range(4)],
            "filtered_resps": [[-1.0 - (c != k % 3), False] for c in range(4)],
            "acc": float(k % 3 == k % 4), "acc_norm": float(k % 2),
        }
        for k, question, *_ in items()
    ]  # fmt: skip


def openai_events() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [{"spec": {
        "completion_fns": ["gpt-small"], "eval_name": "sums.dev.v0", "base_eval": "sums",
        "split": "dev", "run_id": "261118AB", "created_at": "2026-11-18"}}]  # fmt: skip
    for k, question, answer, reference, _, passed in items():
        both = {"run_id": "261118AB", "sample_id": f"sums.dev.{k}", "created_by": "", "created_at":
                "2026-11-18 10:00:00"}  # fmt: skip
        rows += [
            {**both, "event_id": 3 * k, "type": "sampling", "data": {
                "prompt": [{"role": "system", "content": "Be brief."},
                           {"role": "user", "content": question}], "sampled": [answer]}},
            {**both, "event_id": 3 * k + 1, "type": "match", "data": {
                "correct": passed, "expected": reference, "picked": answer}},
            {**both, "event_id": 3 * k + 2, "type": "metrics", "data": {
                "similarity": 0.5 + k % 7 / 14, "choice": "A"}},
        ]  # fmt: skip
    return [*rows, {"final_report": {"accuracy": 0.75}}]


# Langfuse and LangSmith ---------------------------------------------------------------------------


def langfuse_traces() -> list[dict[str, Any]]:
    """Traces as the public API gives them; people annotated the first ten."""
    rows = []
    for k, question, answer, _, judged, passed in items():
        scores = [{"id": f"s{k}", "traceId": f"tr{k}", "name": "helpfulness", "value": judged,
                   "dataType": "NUMERIC", "source": "EVAL"}]  # fmt: skip
        if k < 10:
            scores.append({"id": f"h{k}", "traceId": f"tr{k}", "name": "correct",
                           "value": float(passed), "dataType": "BOOLEAN",
                           "source": "ANNOTATION"})  # fmt: skip
        rows.append({
            "id": f"tr{k}", "timestamp": f"2026-11-{1 + k % 28:02}T10:00:00Z", "name": "chat",
            "input": {"messages": [{"role": "user", "content": question}]},
            "output": {"role": "assistant", "content": answer}, "sessionId": f"talk{k // 3}",
            "userId": "u1", "release": "1.2", "version": None, "metadata": {"channel": "web"},
            "tags": ["sums"], "public": False, "environment": "default", "scores": scores,
        })  # fmt: skip
    return rows


def langfuse_table() -> list[dict[str, Any]]:
    """Traces as the table of the web page exports them: a column for each score."""
    return [
        {
            "id": f"tr{k}", "timestamp": "2026-11-18T10:00:00.000Z", "name": "chat", "userId": "u1",
            "sessionId": f"talk{k // 3}", "release": "", "version": "", "environment": "default",
            "tags": '["sums"]', "bookmarked": "false", "public": "false",
            "input": json.dumps({"question": question}), "output": json.dumps(answer),
            "metadata": "{}", "comments": "[]",
            "helpfulness": json.dumps([judged]), "tone": json.dumps(["warm"]),
        }
        for k, question, answer, _, judged, _ in items()
    ]  # fmt: skip


def langfuse_observations() -> list[dict[str, Any]]:
    """Observations as the web page exports them: the root of each trace and a call inside of it."""
    rows = []
    for k, question, answer, _, judged, _ in items():
        for part, parent in (("root", ""), ("call", f"root{k}")):
            rows.append({
                "id": f"{part}{k}", "traceId": f"tr{k}", "traceName": "chat", "type": "SPAN",
                "name": part, "startTime": "2026-11-18T10:00:00.000Z", "endTime": "",
                "completionStartTime": "", "environment": "default", "version": "",
                "userId": "u1", "sessionId": f"talk{k // 3}", "level": "DEFAULT",
                "statusMessage": "", "promptName": "", "promptId": "", "promptVersion": "",
                "modelId": "", "providedModelName": "small-1", "modelParameters": "{}",
                "usageDetails": '{"total":31}', "costDetails": "{}", "totalCost": "0.001",
                "input": json.dumps({"question": question}), "output": json.dumps(answer),
                "metadata": "{}", "latencyMs": "1200", "timeToFirstTokenMs": "300",
                "tags": "[]", "release": "", "parentObservationId": parent, "comments": "[]",
                "helpfulness": json.dumps([judged]) if part == "root" else "",
            })  # fmt: skip
    return rows


def langfuse_scores() -> list[dict[str, Any]]:
    return [
        {"id": f"s{k}{name}", "timestamp": "2026-11-18", "traceId": f"tr{k}", "observationId": None,
         "name": name, "value": value, "stringValue": None, "dataType": "NUMERIC", "source": "EVAL"}
        for k, *_, judged, passed in items()
        for name, value in (("helpfulness", judged), ("correct", float(passed)))
    ]  # fmt: skip


def langfuse_scores_table() -> list[dict[str, Any]]:
    """Scores as the web page exports them; words have no value, and sessions no trace."""
    both = {"datasetRunId": "", "timestamp": "2026-11-18T10:00:00.000Z", "comment": "",
            "metadata": "{}", "observationId": "", "traceName": "chat", "userId": "u1",
            "traceTags": "[]", "environment": "default", "authorUserName": ""}  # fmt: skip
    rows = []
    for k, *_, judged, passed in items():
        for name, kind, value, word, source in (
            ("helpfulness", "NUMERIC", str(judged), "", "EVAL"),
            ("tone", "CATEGORICAL", "", ("warm", "cold")[k % 2], "EVAL"),
            ("correct", "BOOLEAN", str(int(passed)), str(passed), "ANNOTATION"),
        )[: 3 if k < 10 else 2]:  # people scored the first ten
            rows.append({"id": f"s{k}{name}", "traceId": f"tr{k}", "sessionId": "",
                         "source": source, "name": name, "dataType": kind, "value": value,
                         "stringValue": word, **both})  # fmt: skip
    rows.append({"id": "whole", "traceId": "", "sessionId": "talk0", "source": "EVAL",
                 "name": "mood", "dataType": "NUMERIC", "value": "1", "stringValue": "",
                 **both})  # fmt: skip
    return rows


def langsmith_table() -> list[dict[str, Any]]:
    """Results of an experiment as ``to_pandas().to_csv()`` writes them."""
    return [
        {
            "inputs.question": question, "outputs.answer": answer, "error": "",
            "reference.answer": reference, "feedback.correctness": passed,
            "feedback.similarity": judged, "execution_time": 0.4,
            "example_id": f"e0000000-0000-4000-8000-{k:012}",
            "id": f"a0000000-0000-4000-8000-{k:012}",
        }
        for k, question, answer, reference, judged, passed in items()
    ]  # fmt: skip


def langsmith_results() -> list[dict[str, Any]]:
    """Results of an experiment as ``Client.get_test_results`` gives them: no ids of examples."""
    return [
        {
            "reference.answer": reference, "input.question": question, "outputs.answer": answer,
            "feedback.correctness": float(passed), "feedback.similarity": judged,
            "execution_time": 0.4, "error": "", "id": f"a0000000-0000-4000-8000-{k:012}",
        }
        for k, question, answer, reference, judged, passed in items()
    ]  # fmt: skip


def langsmith_objects() -> list[dict[str, Any]]:
    """Results of an experiment with objects in cells, to which somebody added two columns."""
    return [
        {
            "example_id": f"e{k}", "run_id": f"r{k}", "inputs": json.dumps({"question": question}),
            "outputs": json.dumps({"answer": answer}), "execution_time": 0.4, "error": "",
            "reference": json.dumps({"answer": reference}), "feedback.correctness": float(passed),
            "brevity": judged, "human": passed if k < 10 else "",
        }
        for k, question, answer, reference, judged, passed in items()
    ]  # fmt: skip


def langsmith_runs(repeats: int = 2) -> list[dict[str, Any]]:
    """Runs of two experiments, each example twice, with a step inside of each run."""
    rows = []
    for project in ("base", "tuned"):
        for turn in range(repeats):
            for k, question, answer, _, judged, passed in items():
                run = f"run-{project}-{turn}-{k}"
                both = {"trace_id": run, "session_id": f"id-{project}", "session_name": project,
                        "start_time": "2026-11-18T10:00:00", "run_type": "chain"}  # fmt: skip
                rows += [
                    {**both, "id": run, "name": "target", "inputs": {"question": question},
                     "outputs": {"answer": answer}, "parent_run_id": None, "dotted_order": "1",
                     "reference_example_id": f"ex{k}", "error": None,
                     "feedback_stats": {"correctness": {"n": 1, "avg": float(passed)},
                                        "similarity": {"n": 1, "avg": judged - 0.1 * turn}}},
                    {**both, "id": f"{run}-llm", "name": "llm", "inputs": {}, "outputs": {},
                     "parent_run_id": run, "dotted_order": "1.2"},
                ]  # fmt: skip
    return rows


# MLflow -------------------------------------------------------------------------------------------


def mlflow_split() -> dict[str, Any]:
    columns = ["inputs", "ground_truth", "outputs", "token_count", "toxicity/v1/score",
               "answer_correctness/v1/score", "answer_correctness/v1/justification"]  # fmt: skip
    data = [
        [question, reference, answer, 12 + k % 5, 0.001 * k, 5 if passed else 2, "because"]
        for k, question, answer, reference, _, passed in items()
    ]
    return {"columns": columns, "data": data}


def mlflow_traces() -> list[dict[str, Any]]:
    rows = []
    for k, question, answer, reference, judged, passed in items():
        given = [
            {"assessment_name": "relevance", "source": {"source_type": "LLM_JUDGE"},
             "feedback": {"value": judged}},
            {"assessment_name": "relevance", "source": {"source_type": "HUMAN"}, "valid": False,
             "feedback": {"value": 0.0}},
            {"assessment_name": "safe", "source": {"source_type": "LLM_JUDGE"},
             "feedback": {"value": "yes" if passed else "no"}},
            {"assessment_name": "expected", "source": {"source_type": "HUMAN"},
             "expectation": {"serialized_value": {
                 "serialization_format": "JSON_FORMAT", "value": json.dumps([reference])}}},
        ]  # fmt: skip
        if k % 2:
            given.append({"assessment_name": "correct", "source": {"source_type": "HUMAN"},
                          "feedback": {"value": passed}})  # fmt: skip
        rows.append({
            "info": {"trace_id": f"tr-{k:04}", "state": "OK", "request_time": "2026-11-18",
                     "trace_metadata": {"mlflow.trace.session": f"s{k // 2}"},
                     "assessments": given},
            "data": {"spans": [{"name": "root", "parent_id": None, "attributes": {
                "mlflow.spanInputs": json.dumps({"question": question}),
                "mlflow.spanOutputs": json.dumps(answer)}}]},
        })  # fmt: skip
    return rows


def mlflow_results(path: Path) -> Path:
    """The table of results of genai evaluations, as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {"request_id": f"q{k}", "inputs": {"question": question}, "outputs": answer,
         "relevance/value": judged, "relevance/rationale": "because",
         "safe/value": "yes" if passed else "no", "trace_id": f"tr-{k}"}
        for k, question, answer, _, judged, passed in items()
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


# All of them --------------------------------------------------------------------------------------

MAKERS: dict[str, dict[str, Callable[[Path], Path]]] = {
    "inspect": {
        "log.json": lambda p: dump(p, inspect_log()),
        "epochs.json": lambda p: dump(p, inspect_log(epochs=3)),
        "log.eval": lambda p: inspect_eval(p, inspect_log(epochs=2)),
        "brief.eval": lambda p: inspect_eval(p, inspect_log(), samples=False),
    },
    "promptfoo": {
        "results.json": lambda p: dump(
            p, {"evalId": "eval-1", "results": {"version": 3, "timestamp": "2026-11-18",
                "prompts": [], "results": promptfoo_rows(), "stats": {}}, "config": {}}),
        "results.jsonl": lambda p: dump_lines(p, promptfoo_rows()),
        "repeat.jsonl": lambda p: dump_lines(p, promptfoo_rows(2)),
        "old.json": lambda p: dump(
            p, {"results": {"version": 2, "results": promptfoo_rows(), "stats": {}}}),
        "results.csv": promptfoo_csv,
    },
    "deepeval": {
        "run.json": lambda p: dump(p, deepeval_run()),
        "latest.json": lambda p: dump(p, {"testRunData": deepeval_run(), "testRunLink": None}),
    },
    "lm-eval": {
        "samples_sums_2026-11-18T10-00-00.000000.jsonl": lambda p: dump_lines(p, lm_eval_rows()),
        "samples_choice.jsonl": lambda p: dump_lines(p, lm_eval_choices()),
    },
    "openai-evals": {"events.jsonl": lambda p: dump_lines(p, openai_events())},
    "langfuse": {
        "api.json": lambda p: dump(p, {"data": langfuse_traces(), "meta": {"page": 1}}),
        "traces.json": lambda p: dump(p, langfuse_traces()),
        "traces.jsonl": lambda p: dump_lines(p, langfuse_traces()),
        "traces.csv": lambda p: dump_csv(p, langfuse_table()),
        "observations.csv": lambda p: dump_csv(p, langfuse_observations()),
        "scores.jsonl": lambda p: dump_lines(p, langfuse_scores()),
        "scores.csv": lambda p: dump_csv(p, langfuse_scores_table()),
    },
    "langsmith": {
        "experiment.csv": lambda p: dump_csv(p, langsmith_table()),
        "experiment.json": lambda p: dump(p, langsmith_table()),
        "results.csv": lambda p: dump_csv(p, langsmith_results()),
        "objects.csv": lambda p: dump_csv(p, langsmith_objects()),
        "runs.jsonl": lambda p: dump_lines(p, langsmith_runs()),
    },
    "mlflow": {
        "eval_results_table.json": lambda p: dump(p, mlflow_split()),
        "traces.json": lambda p: dump(p, mlflow_traces()),
        "traces.jsonl": lambda p: dump_lines(p, mlflow_traces()),
        "results.parquet": mlflow_results,
    },
}  # fmt: skip


def make(name: str, folder: Path) -> list[Path]:
    """Every kind of log of a tool, each in a folder of its own."""
    made = []
    for file, maker in MAKERS[name].items():
        place = folder / name / file.replace(".", "-")
        place.mkdir(parents=True)
        made.append(maker(place / file))
    return made
