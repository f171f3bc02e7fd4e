"""Logs of evaluation tools: what is read of them, and the whole way through the commands."""

from __future__ import annotations

import gzip
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold import formats
from fewgold.cli import app
from fewgold.doctor import examine
from fewgold.errors import DataError, UnknownNameError
from fewgold.formats import logs
from fewgold.formats.logs.base import EvalLog, as_scores, mean, said
from fewgold.io.columns import roles
from fewgold.sheets import open_table
from formats import log_samples as made

KINDS = [(tool, file) for tool, files in made.MAKERS.items() for file in files]


def one(tool: str, file: str, folder: Path) -> Path:
    return made.MAKERS[tool][file](folder / file)


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == code, f"{words}: {done.output}{done.exception!r}"
    return done


def rate(sheet: Path) -> None:
    """Scores of people that follow the id."""
    table = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    table["score"] = [str(sum(map(ord, i)) % 5) for i in table["id"]]
    table.to_csv(sheet, index=False)


@pytest.mark.parametrize(("tool", "file"), KINDS)
def test_a_log_is_recognised_whatever_its_name(tool: str, file: str, tmp_path: Path) -> None:
    path = one(tool, file, tmp_path)
    found = logs.recognise(path)
    assert found is not None and found.name == tool
    other = path.rename(tmp_path / "log.dat")
    found = logs.recognise(other)
    assert found is not None and found.name == tool
    listed = formats.recognise(other)
    assert listed is None or listed.name in formats.TABULAR


@pytest.mark.parametrize(("tool", "file"), KINDS)
def test_the_whole_way_from_the_doctor_to_an_estimate(
    tool: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = one(tool, file, tmp_path)
    found = examine(path.name)
    assert found.kind == "log" and found.exit_code in (0, 1), found.summary()
    several = found.facts.get("systems", "1").startswith("2")
    shared = ["--shared"] if several else []
    texts = [] if "texts" in found.facts else ["--texts", "none"]
    run("select", path.name, "--budget", "20", "--seed", "3", "-o", "sheet.csv", *shared, *texts)
    rate(Path("sheet.csv"))
    if several:
        table = json.loads(run("compare", "sheet.csv", "--json", "-q").stdout)
        assert table["systems"] == 2
        return
    result = json.loads(run("estimate", "sheet.csv", "--json", "-q").stdout)
    assert result["n"] == 20 and math.isfinite(result["value"]) and result["se"] > 0
    proposed = [c.text for c in found.next_commands]
    assert any(text.startswith("fewgold select ") for text in proposed)


def columns(tool: str, file: str, folder: Path) -> pd.DataFrame:
    return open_table(one(tool, file, folder))


def test_inspect_letters_are_numbers_and_epochs_are_documents(tmp_path: Path) -> None:
    table = columns("inspect", "epochs.json", tmp_path)
    assert len(table) == 3 * made.N and table["document"].nunique() == made.N
    assert table["id"].tolist()[:4] == ["1#1", "1#2", "1#3", "2#1"]
    one = table[table["id"].str.endswith("#1")].set_index("document")["match"]
    assert one["4"] == 0.5 and one["6"] == 0 and one["1"] == 1 and one["2"] == 0
    assert set(table["system"]) == {"openai/small"}
    assert table["input"][0].startswith("What is 3") and table["output"][0].startswith("Adding")
    assert {"rubric.accuracy", "rubric.clarity"} <= set(table.columns)
    assert roles(table).metrics == ("match", "rubric.accuracy", "rubric.clarity")


def test_both_files_of_inspect_say_the_same(tmp_path: Path) -> None:
    log = made.inspect_log(epochs=2)
    one = open_table(made.dump(tmp_path / "a.json", log))
    two = open_table(made.inspect_eval(tmp_path / "a.eval", log))
    same = one.merge(two, on="id", suffixes=("", ".2"))
    assert len(same) == len(one) == len(two)
    for name in ("match", "rubric.accuracy", "input", "output", "document"):
        assert same[name].tolist() == same[f"{name}.2"].tolist()


def test_a_folder_of_inspect_logs_is_several_systems(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    made.inspect_eval(folder / "a.eval", made.inspect_log("openai/small"))
    made.dump(folder / "b.json", made.inspect_log("local/tiny"))
    table = open_table(folder)
    assert set(table["system"]) == {"openai/small", "local/tiny"} and len(table) == 2 * made.N
    assert table["id"].nunique() == made.N
    assert examine(folder).kind == "log"


def test_two_runs_of_one_model_are_repeats(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in "ab":
        made.dump(folder / f"{name}.json", made.inspect_log())
    table = open_table(folder)
    assert table["id"].is_unique and table["document"].nunique() == made.N


def test_attachments_and_errors_of_inspect(tmp_path: Path) -> None:
    log = made.inspect_log()
    log["samples"][0] |= {
        "input": "attachment://0123456789abcdef", "attachments": {"0123456789abcdef": "long text"}
    }  # fmt: skip
    log["samples"][1] |= {"output": {"choices": []}, "scores": None, "error": {"message": "broke"}}
    log["status"] = "error"
    heard: list[str] = []
    table = open_table(made.dump(tmp_path / "a.json", log), heard.append)
    assert table["input"][0] == "long text" and table["error"][1] == "broke"
    assert math.isnan(table["match"][1]) and len(table) == made.N
    assert any("1 sample ended with an error" in s for s in heard)
    assert any("status 'error'" in s for s in heard)


def test_repeats_of_promptfoo_are_documents(tmp_path: Path) -> None:
    table = columns("promptfoo", "repeat.jsonl", tmp_path)
    assert len(table) == 4 * made.N and table["document"].nunique() == made.N
    assert set(table["system"]) == {"openai:small", "local:tiny"}
    assert not table.duplicated(["id", "system"]).any()
    assert table["metric.passed"].isin([0, 1]).all() and "llm-rubric" in table.columns


def test_promptfoo_csv_and_json_say_the_same(tmp_path: Path) -> None:
    one = columns("promptfoo", "results.json", tmp_path)
    two = columns("promptfoo", "results.csv", tmp_path)
    one, two = (t[t["system"].str.contains("openai")].reset_index() for t in (one, two))
    assert one["metric.passed"].tolist() == two["metric.passed"].tolist()
    assert two["metric.score"].tolist() == pytest.approx(one["metric.score"].round(2).tolist())
    assert one["output"].tolist() == two["output"].tolist()


def test_filters_of_lm_eval_are_metrics_of_one_item(tmp_path: Path) -> None:
    rows = made.lm_eval_rows()
    file = "samples_sums_2026-11-18T10-00-00.000000.jsonl"
    path = made.dump_lines(tmp_path / file, rows)
    beside = tmp_path / "results_2026-11-18T10-00-00.000000.json"
    beside.write_text(json.dumps({"model_name": "small-7b"}), encoding="utf-8")
    table = open_table(path)
    assert len(table) == made.N and set(table["system"]) == {"small-7b"}
    strict, loose = "exact_match.strict-match", "exact_match.flexible-extract"
    assert table[strict].sum() < table[loose].sum()
    assert table["output"][0].startswith("Adding") and "Question: " in table["input"][0]


def test_the_likeliest_choice_is_the_response(tmp_path: Path) -> None:
    table = columns("lm-eval", "samples_choice.jsonl", tmp_path)
    assert table["output"].tolist()[:4] == ["choice 0", "choice 1", "choice 2", "choice 0"]


def test_several_tasks_of_lm_eval_keep_their_ids_apart(tmp_path: Path) -> None:
    for task in ("one", "two"):
        made.dump_lines(tmp_path / f"samples_{task}.jsonl", made.lm_eval_rows())
    table = open_table(tmp_path)
    assert len(table) == 2 * made.N and table["id"][0] == "one:0" and table["id"].is_unique


def test_events_of_openai_evals_make_one_output_for_each_sample(tmp_path: Path) -> None:
    path = one("openai-evals", "events.jsonl", tmp_path)
    log = logs.read(path)
    assert (log.rows, log.used, log.context) == (3 * made.N + 2, 3 * made.N, 2)
    table = log.frame()
    assert len(table) == made.N and set(table["system"]) == {"gpt-small"}
    assert "system: Be brief." in table["input"][0] and table["correct"].isin([0, 1]).all()


def test_other_events_of_openai_evals_may_hold_anything(tmp_path: Path) -> None:
    rows = made.openai_events()
    event = {**rows[1], "event_id": 900}
    rows[2:2] = [{**event, "type": "extra", "data": ["a", 1]},
                 {**event, "type": "raw_sample", "data": "line"}]  # fmt: skip
    log = logs.read(made.dump_lines(tmp_path / "events.jsonl", rows))
    assert (log.rows, log.used, len(log.outputs)) == (3 * made.N + 4, 3 * made.N + 2, made.N)
    rows[2]["type"] = "match"
    with pytest.raises(DataError, match=r"line 3: its data is not an object"):
        logs.read(made.dump_lines(tmp_path / "broken.jsonl", rows))


def test_annotations_of_langfuse_are_human_scores_and_sessions_documents(tmp_path: Path) -> None:
    table = columns("langfuse", "traces.jsonl", tmp_path)
    found = roles(table)
    assert found.human == ("human",) and found.metrics == ("helpfulness",)
    assert table["human"].notna().sum() == 10 and table["document"].nunique() == 10
    assert table["input"][0].startswith("What is") and table["trace_id"][0] == "tr0"


def test_columns_of_scores_in_a_table_of_langfuse(tmp_path: Path) -> None:
    table = columns("langfuse", "traces.csv", tmp_path)
    assert table["helpfulness"].dtype == "float64" and table["tone"][0] == "warm"
    assert table["input"][0].startswith("What is") and table["output"][0].startswith("Adding")


def test_steps_inside_of_traces_of_langfuse_are_no_items(tmp_path: Path) -> None:
    table = columns("langfuse", "observations.csv", tmp_path)
    assert len(table) == made.N and set(roles(table).metrics) == {"helpfulness"}
    assert table["observation_id"][0] == "root0" and table["system"][0] == "small-1"
    log = logs.read(one("langfuse", "observations.csv", tmp_path))
    assert log.context == made.N and "not counted as items" in log.notes[0]
    calls = [r for r in made.langfuse_observations() if r["name"] == "call"]
    found = logs.read(made.dump_csv(tmp_path / "calls.csv", calls))  # filtered before the export
    assert len(found.outputs) == made.N and not found.context


def test_an_export_of_scores_of_langfuse(tmp_path: Path) -> None:
    table = columns("langfuse", "scores.csv", tmp_path)
    assert list(table["id"][:2]) == ["tr0", "tr1"] and len(table) == made.N
    assert list(table["tone"][:2]) == ["warm", "cold"] and table["helpfulness"].notna().all()
    assert table["human"].dropna().isin([0, 1]).all() and table["human"].notna().sum() == 10
    assert logs.read(one("langfuse", "scores.csv", tmp_path)).context == 1


def test_scores_of_langfuse_name_what_they_are_about(tmp_path: Path) -> None:
    """Version 3 of the API: a trace, one of its observations, or a session."""
    both = {"projectId": "p", "timestamp": "2026-11-18", "environment": "default"}
    rows: list[dict[str, Any]] = []
    for k, *_, judged, passed in made.items():
        rows.append({**both, "id": f"s{k}", "name": "helpfulness", "value": judged,
                     "dataType": "NUMERIC", "source": "EVAL",
                     "subject": {"kind": "trace", "id": f"tr{k}"}})  # fmt: skip
        if k < 10:
            part = {"kind": "observation", "id": f"root{k}", "traceId": f"tr{k}"}
            rows.append({**both, "id": f"h{k}", "name": "correct", "value": passed,
                         "dataType": "BOOLEAN", "source": "ANNOTATION",
                         "subject": part})  # fmt: skip
            # What should have been said is not a score of a person.
            rows.append({**both, "id": f"c{k}", "name": "output", "value": "" if k else "Seven.",
                         "dataType": "CORRECTION", "source": "ANNOTATION",
                         "subject": part})  # fmt: skip
    rows.append({**both, "id": "z", "name": "mood", "value": 1, "dataType": "NUMERIC",
                 "source": "EVAL", "subject": {"kind": "session", "id": "talk0"}})  # fmt: skip
    for path in (
        made.dump(tmp_path / "a.json", {"data": rows, "meta": {"limit": 50}}),
        made.dump_lines(tmp_path / "a.jsonl", rows),
    ):
        found = logs.recognise(path)
        assert found is not None and found.name == "langfuse"
        table = open_table(path)
        assert table["id"].tolist() == [f"tr{k}" for k in range(made.N)]
        assert table["human"].dropna().tolist() == [float(k % 4 != 1) for k in range(10)]
        assert table["helpfulness"].notna().all() and "mood" not in table
    bare = [{k: v for k, v in row.items() if k != "subject"} for row in rows]
    with pytest.raises(DataError, match="fields=subject"):
        open_table(made.dump_lines(tmp_path / "b.jsonl", bare))


def test_scores_of_langfuse_in_one_file_with_what_they_score(tmp_path: Path) -> None:
    traces = [{n: v for n, v in row.items() if n != "scores"} for row in made.langfuse_traces()]
    table = open_table(made.dump_lines(tmp_path / "a.jsonl", [*traces, *made.langfuse_scores()]))
    assert len(table) == made.N and table["helpfulness"].notna().all()
    parts = [
        {**{n: v for n, v in row.items() if n != "helpfulness"},
         "isRootObservation": not row["parentObservationId"]}
        for row in made.langfuse_observations()
    ]  # fmt: skip
    of_parts = [
        {**row, "name": part, "observationId": f"{part}{row['traceId'][2:]}", "id": f"{part[0]}{k}"}
        for part in ("root", "call")
        for k, row in enumerate(made.langfuse_scores())
    ]
    rows = [*parts, *made.langfuse_scores(), *of_parts]
    table = open_table(made.dump_lines(tmp_path / "b.jsonl", rows))
    assert len(table) == made.N and table["id"][0] == "root0"
    assert {"helpfulness", "root", "call"} <= set(roles(table).metrics)
    assert "isRootObservation" not in table
    heard: list[str] = []
    named = [{**row, "scores": ["s1", "s2"]} for row in traces]  # as a list of traces has them
    made.dump(tmp_path / "c.json", {"data": named, "meta": {"page": 1}})
    open_table(tmp_path / "c.json", heard.append)
    assert any("30 traces with the ids of scores, not the scores" in told for told in heard)


def test_tables_of_results_of_langsmith(tmp_path: Path) -> None:
    for file in ("experiment.csv", "results.csv", "objects.csv"):
        table = columns("langsmith", file, tmp_path)
        assert table["input"][0].startswith("What is") and table["reference"][0] == "7", file
        assert table["correctness"].isin([0, 1]).all() and table["run_id"].is_unique, file
    found = roles(table)
    assert found.human == ("human",) and set(found.metrics) == {"correctness", "brevity"}
    assert table["human"].notna().sum() == 10 and table["id"][0] == "e0"


@pytest.mark.parametrize("people_first", [False, True])
def test_a_judge_and_people_may_score_under_one_name(people_first: bool, tmp_path: Path) -> None:
    rows = [dict(row) for row in made.mlflow_traces()]
    for row in rows:
        judged = row["info"]["assessments"][0]
        person = {**judged, "source": {"source_type": "HUMAN"}, "feedback": {"value": 1.0}}
        both = [person, judged] if people_first else [judged, person]
        row["info"] = {**row["info"], "assessments": both}
    table = logs.read(made.dump_lines(tmp_path / "mlflow.jsonl", rows)).frame()
    assert table["relevance"].notna().all() and (table["human"] == 1).all()
    runs = []
    for row in made.langsmith_runs():
        judged = {"key": "correctness", "score": 0.25, "feedback_source": {"type": "model"}}
        person = {"key": "correctness", "score": 1.0, "feedback_source": {"type": "app"}}
        runs.append({**row, "feedback": [person, judged] if people_first else [judged, person]})
    table = logs.read(made.dump_lines(tmp_path / "langsmith.jsonl", runs)).frame()
    assert (table["correctness"] == 0.25).all() and (table["human"] == 1).all()


def test_experiments_of_langsmith_are_systems_and_repetitions_documents(tmp_path: Path) -> None:
    table = columns("langsmith", "runs.jsonl", tmp_path)
    assert set(table["system"]) == {"base", "tuned"} and table["document"].nunique() == made.N
    assert len(table) == 4 * made.N and table["run_id"].is_unique
    log = logs.read(one("langsmith", "runs.jsonl", tmp_path))
    assert log.context == 4 * made.N


def test_assessments_of_mlflow_by_people_are_human_scores(tmp_path: Path) -> None:
    table = columns("mlflow", "traces.json", tmp_path)
    found = roles(table)
    assert found.human == ("human",) and set(found.metrics) == {"relevance", "safe"}
    assert table["reference"][0] == "7" and table["human"].notna().sum() == made.N // 2
    assert table["safe"].isin([0, 1]).all() and table["document"].nunique() == made.N // 2


def test_conversations_of_deepeval_are_items(tmp_path: Path) -> None:
    table = columns("deepeval", "run.json", tmp_path)
    assert len(table) == made.N + 4 and "metric.Faithfulness" in table.columns
    assert "assistant: How can I help you" in table["output"].iloc[-1]


@pytest.mark.parametrize(("tool", "file"), KINDS)
def test_rows_add_up_and_packed_files_are_the_same(tool: str, file: str, tmp_path: Path) -> None:
    path = one(tool, file, tmp_path)
    log = logs.read(path)
    assert isinstance(log, EvalLog) and log.used + log.context == log.rows
    if path.suffix in (".eval", ".parquet"):
        return
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    found = logs.recognise(packed)
    assert found is not None and found.name == tool
    pd.testing.assert_frame_equal(logs.read(packed).frame(), log.frame())


def test_a_broken_sample_refuses_the_log_and_names_it(tmp_path: Path) -> None:
    log = made.inspect_log()
    log["samples"][3] = "nothing"
    path = made.dump(tmp_path / "a.json", log)
    with pytest.raises(DataError, match=r"1 of 30 rows .* the first is sample 4: is not an object"):
        open_table(path)
    assert examine(path).exit_code == 3
    log["samples"] = []
    with pytest.raises(DataError, match="holds no outputs"):
        open_table(made.dump(tmp_path / "b.json", log))
    path = tmp_path / "c.eval"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("header.json", "{}")
    with pytest.raises(DataError, match="without samples"):
        open_table(path)


def test_a_log_that_is_named_is_taken_for_it(tmp_path: Path) -> None:
    path = made.dump_lines(tmp_path / "a.jsonl", [
        {"id": f"r{k}", "inputs": {"q": "Why is it so?"}, "outputs": {"a": "Since it is."}}
        for k in range(30)
    ])  # fmt: skip
    assert logs.recognise(path) is None
    found = examine(path, source="langsmith")
    assert found.kind == "log" and "export" in found.next_commands[0].text
    with pytest.raises(UnknownNameError, match="evaluation log"):
        examine(path, source="nobody")


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([True, "no", None, "0.5"], [1.0, 0.0, None, 0.5]),
        (["A", 1, None], ["A", "1", ""]),
        ([float("nan"), 2, "PASS"], [None, 2.0, 1.0]),
        ([10**400, 1], [str(10**400), "1"]),
    ],
)
def test_scores_are_numbers_or_words(values: list[Any], wanted: list[Any]) -> None:
    found = [None if isinstance(v, float) and math.isnan(v) else v for v in as_scores(values)]
    assert found == wanted


def test_several_scores_of_one_name_are_averaged() -> None:
    assert mean([1, 0, None, True]) == pytest.approx(2 / 3)
    assert mean(["warm", "cold"]) == "warm" and mean([]) is None


def test_prompts_are_read_as_people_would() -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": "Look:"}, "x"]}]
    assert "Look:" in said(parts)
    assert said({"generations": [[{"text": "Hi"}]], "llm_output": None}) == "Hi"
    assert said({"question": "Why?", "style": "short"}) == '{"question": "Why?", "style": "short"}'
    assert said(None) == "" and said(["a", "b"]) == "a\nb" and said(3) == "3"


def test_promptfoo_tables_with_a_status_column(tmp_path: Path) -> None:
    """The newer CSV: verdict and scores stand in columns after each output."""
    told = "Status,Score,Named Scores,Metric: tone,Grader Reason,Comment"
    (tmp_path / "n.csv").write_text(
        f'question,"[gpt] Answer {{{{q}}}}",{told},"[o3] Answer {{{{q}}}}",{told}\n'
        "2+2?,4,PASS,1.00,,0.5,fine,,five,FAIL,0.25,,,wrong,\n"
        "Spain?,,ERROR,,,,timeout,,Madrid,PASS,0.90,,1,ok,\n",
        encoding="utf-8",
    )
    frame = logs.read(tmp_path / "n.csv").frame()
    assert len(frame) == 4 and frame["system"].nunique() == 2
    assert set(frame["system"]) == {"gpt", "o3"}
    first = frame[frame["system"] == "o3"].set_index("input")
    assert [float(v) for v in first["metric.passed"]] == [0, 1]
    assert [float(v) for v in first["metric.score"]] == [0.25, 0.9]
    assert "human" not in frame and "Score" not in frame


def test_grading_by_hand_in_promptfoo_is_a_human_score_and_its_verdicts_are_no_metrics(
    tmp_path: Path,
) -> None:
    """A person's score overwrites the verdict, which then is no metric of that output."""
    rows = made.promptfoo_rows()
    reason = "Manual result (overrides all other grading results)"
    for row, score in zip(rows[:3], (0.25, 1, 0), strict=True):
        row["score"], row["success"] = score, score > 0.5
        row["gradingResult"] |= {"score": score, "pass": score > 0.5, "reason": reason}
    # Thumbs add an assertion; a score alone does not.
    rows[1]["gradingResult"]["componentResults"].append(
        {"pass": True, "score": 1, "reason": reason, "assertion": {"type": "human"}}
    )
    path = made.dump_lines(tmp_path / "r.jsonl", rows)
    log = logs.read(path)
    frame = log.frame()
    assert frame["human"].dropna().tolist() == [0.25, 1, 0]
    assert not {"metric.passed", "metric.score"} & set(frame.columns)
    assert {"contains", "llm-rubric", "clarity"} <= set(frame.columns)
    assert "graded by hand" in " ".join(log.sentences)
    told = "Status,Score,Metric: tone,Grader Reason,Comment"
    (tmp_path / "n.csv").write_text(
        f'q,"[gpt] Say {{{{q}}}}",{told}\n'
        f"2+2?,4,PASS,0.90,0.5,{reason},\n3+3?,7,FAIL,0.00,0.25,wrong,\n"
        f"4+4?,8,ERROR,0.00,1,{reason},\n",  # as is written of one that had passed
        encoding="utf-8",
    )
    frame = logs.read(tmp_path / "n.csv").frame()
    assert frame["human"].dropna().tolist() == [0.9, 0] and frame["tone"].tolist() == [0.5, 0.25, 1]
    assert frame["output"].tolist() == ["4", "7", "8"] and "error" not in frame
    assert "metric.score" not in frame
    (tmp_path / "o.csv").write_text(
        'q,"[gpt] Say {{q}}"\n'
        f'2+2?,"[PASS] (0.75)\n\n4\n\nPass Reason: {reason}"\n3+3?,"[FAIL] (0.1)\n\n7"\n',
        encoding="utf-8",
    )
    frame = logs.read(tmp_path / "o.csv").frame()
    assert frame["human"].dropna().tolist() == [0.75] and frame["output"].tolist() == ["4", "7"]


def test_one_long_prompt_of_promptfoo_is_one_for_all_providers(tmp_path: Path) -> None:
    long = "Answer in one sentence, politely, and without any word that is not needed: "
    rows = []
    for k, (provider, prompt) in enumerate((s, t) for s in "ab" for t in (long, long + "!")):
        rows.append({
            "testIdx": 0, "promptIdx": k, "provider": {"id": provider}, "vars": {"q": "2+2?"},
            "prompt": {"raw": prompt, "label": prompt}, "success": True, "score": 0.5,
            "gradingResult": {"pass": True, "score": 0.5}, "namedScores": {},
            "response": {"output": "4"},
        })  # fmt: skip
    path = made.dump_lines(tmp_path / "two.jsonl", rows)
    systems = logs.read(path).frame()["system"].tolist()
    assert systems == ["a / prompt 1", "a / prompt 2", "b / prompt 1", "b / prompt 2"]
    path = made.dump_lines(tmp_path / "one.jsonl", rows[::2])
    assert logs.read(path).frame()["system"].tolist() == ["a", "b"]
    heads = ",".join(f'"[{r["provider"]["id"]}] {r["prompt"]["label"]}"' for r in rows)
    (tmp_path / "t.csv").write_text(f"q,{heads}\n2+2?" + ",[PASS] 4" * 4 + "\n", encoding="utf-8")
    assert logs.read(tmp_path / "t.csv").frame()["system"].tolist() == systems


def test_tables_of_mlflow_hold_traces_that_say_who_gave_a_score(tmp_path: Path) -> None:
    """What is expected is no metric, and a score of a person is none either, in CSV too."""
    rows = []
    for k in range(4):
        given: list[dict[str, Any]] = [
            {"assessment_name": "judge", "source": {"source_type": "LLM_JUDGE"},
             "feedback": {"value": k / 4}},
            {"assessment_name": "expected_facts", "source": {"source_type": "HUMAN"},
             "expectation": {"value": 7}},
            {"assessment_name": "goal", "source": {"source_type": "HUMAN"},
             "expectation": {"value": 3}},
        ]  # fmt: skip
        if k < 2:
            given.append({"assessment_name": "quality", "source": {"source_type": "HUMAN"},
                          "feedback": {"value": k + 1}})  # fmt: skip
        spans = [{"attributes": {"mlflow.spanInputs": json.dumps({"question": f"Q{k} \u2028"}),
                                 "mlflow.spanOutputs": json.dumps(f"A{k}")}}]  # fmt: skip
        info = {"trace_id": f"tr-{k}", "assessments": given}
        rows.append({
            "trace_id": f"tr-{k}", "judge/value": k / 4, "goal/value": 3,
            "expected_facts/value": 7, "quality/value": k + 1 if k < 2 else "",
            "trace": json.dumps({"info": info, "data": {"spans": spans}}),
            "request": str({"question": f"Q{k} \u2028"}), "response": f"A{k}",
            "assessments": str(given),  # as pandas writes it
        })  # fmt: skip
    frame = logs.read(made.dump_csv(tmp_path / "table.csv", rows)).frame()
    assert frame["input"].tolist() == [f"Q{k} \u2028" for k in range(4)]
    assert frame["output"].tolist() == [f"A{k}" for k in range(4)]
    assert frame["judge"].tolist() == [k / 4 for k in range(4)]
    assert frame["human"].dropna().tolist() == [1, 2]
    assert not {"goal", "quality", "expected_facts"} & set(frame.columns)


def test_the_output_folder_of_lm_eval_has_a_folder_for_each_model(tmp_path: Path) -> None:
    for model in ("ant", "bee"):
        folder = tmp_path / "out" / model
        folder.mkdir(parents=True)
        when = "2026-11-19T01-18-51.495916"
        made.dump_lines(folder / f"samples_sums_{when}.jsonl", made.lm_eval_rows())
        made.dump(folder / f"results_{when}.json", {"model_name": model})
    frame = logs.read(tmp_path / "out").frame()
    one = logs.read(tmp_path / "out" / "ant").frame()
    assert set(frame["system"]) == {"ant", "bee"} and len(frame) == 2 * len(one)
    assert set(frame["id"]) == set(one["id"]) and not frame.duplicated(["id", "system"]).any()
    (tmp_path / "out" / "bee" / f"samples_sums_{when}.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"bee.samples_sums_{when}.jsonl, "):
        logs.read(tmp_path / "out")
