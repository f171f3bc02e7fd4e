"""JSON Schemas of what commands print with ``--json``, and the page that lists them.

    python docs/json_schemas.py     writes docs/reference/schemas/*.json and docs/reference/json.md

They are made of real results, those of tests/golden/commands: a key that every result of a command
has is required, and its types are those that were seen. A test compares both.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference" / "schemas"
PAGE = ROOT / "docs" / "reference" / "json.md"
GOLDEN = ROOT / "tests" / "golden" / "commands"

#: What keys mean; `command.key` where a key of one command means something else.
MEANINGS = {
    "value": "the estimated score of all segments",
    "se": "its standard error",
    "low": "lower end of the interval",
    "high": "upper end of the interval",
    "confidence": "confidence level of the interval, such as 0.95",
    "bound": "how the interval was made",
    "bound_kind": "guaranteed or approximate",
    "bound_label": "how the interval was made, and what it promises",
    "n": "number of ratings behind the result",
    "pool_size": "number of segments in the pool",
    "pool_documents": "number of documents in the pool",
    "signature": "the settings in one line, to cite with the result",
    "notes": "what a reader should know, in sentences",
    "method": "the estimator",
    "strategy": "how segments were chosen and the score is estimated: SAMPLER+ESTIMATOR",
    "design": "how segments were drawn",
    "seed": "seed of the draw; the same seed chooses the same segments",
    "file": "the file that was read or written",
    "files": "the files that were read or written",
    "findings": "what the doctor found: severity, code, what, where, do",
    "next_commands": "commands to run next: text, why, now",
    "supports": "what the file can be used for: name, ok, detail",
    "facts": "what the file contains",
    "exit_code": "exit code of the command",
    "campaign": "folder or file of the campaign",
    "count": "number of rows that were written",
    "differences": "each pair of systems: difference, interval, p",
    "scores": "one record per system",
    "ranking": "one record per system or strategy, the best first",
    "rank_probabilities": "probability of each rank, by system",
    "higher_is_better": "whether larger scores are better",
    "human": "column or columns of human scores",
    "metrics": "columns of metrics",
    "texts": "columns that raters see",
    "documents": "number of documents, or details about them",
    "segments": "number of segments",
    "target": "what the result is about: pool (this test set) or process (new text like it)",
    "unit": "what counts as independent: segment or document",
    "level": "significance level",
    "power": "probability of detecting the difference",
    "correction": "correction for many comparisons",
    "systems": "the systems, or how many there are",
    "raters": "the raters, or one record per rater",
    "waves": "one record per wave of the sample",
    "unrated": "ids of chosen segments without a rating",
    "rated": "number of segments with a rating",
    "sampled": "number of segments chosen so far",
    "limits": "ends of the scale",
    "tolerance": "the half-width that is asked for",
    "criteria": "one record per criterion, if there are several",
    "df": "degrees of freedom",
    "plain_mean": "plain mean of the ratings",
    "random_se": "standard error of a plain random sample of the same size",
    "rho": "share of adequate items that the metric recognises",
    "eta": "share of inadequate items that the metric recognises",
    "columns": "columns of the table, by role",
    "guessed": "columns that were guessed, by role",
    "recommended": "the recommended strategy, or whether this is it",
    "verdict": "the answer of the command",
    "passed": "true, false, or null while it is not known",
    "bar": "the score to reach",
    "more": "number of further ratings needed, roughly",
    "sentence": "the result in one sentence",
    "draws": "number of repetitions",
    "failures": "what could not be computed, and why",
    "strategies": "one record per strategy",
    "judges": "columns of the judges",
    "batches": "one record per batch",
    "alarm": "the alarm with its batch, or null if there is none",
    "stop": "whether rating can stop",
    "half_width": "half the width of the interval",
    "title": "title of the file or report",
    "kind": "the kind of file, plan or promise",
    "rhat": "worst R-hat of the chains",
    "ess": "effective number of draws",
    "settled": "number of segments that were settled by this command",
    "differ": "segments whose raters differ by at least this much are listed",
    "adjudication": "whether a settled score replaces those of the raters, or joins them",
    "queue": "one record per segment on which raters differ",
    "adjudicate.left": "number of segments still to settle",
    "metric": "the metric or judge that was used",
    "pairs": "how the rated items were chosen: sample or calibration",
    "preferences.pairs": "number of pairs",
    "comparisons": "each pair of systems: difference, probability (first is better), p, level",
    "control_gain": "share of the variance of differences that metrics removed",
    "data": "name of the data",
    "system": "the system that was scored",
    "truth": "the true score, which only made-up data have",
    "study": "the result of one study",
    "error": "estimate minus truth",
    "holds_truth": "whether the interval contains the truth",
    "typical_error": "mean distance of the estimate from the truth over the repetitions",
    "typical_error_random": "the same for the plain mean of a random sample",
    "worth": "number of plain random ratings that would have the same error",
    "demo.saved": "share of the ratings saved, compared with plain random ones",
    "report.saved": "plain random ratings with the same standard error, and how many were saved",
    "intervals": "one record per kind of interval: how often it holds, and its half-width",
    "path": "the file",
    "plain_mean_se": "standard error of the plain mean",
    "plain_mean_low": "lower end of the interval of the plain mean",
    "plain_mean_high": "upper end of the interval of the plain mean",
    "interval_label": "how the interval was made, and what it promises",
    "adequate": "the cut of human scores that defines adequate, if any",
    "export.what": "what was written, such as unrated",
    "report.what": "what the score is, such as mean human score",
    "looks": "number of looks that the promise covers",
    "size": "number of segments in the pool",
    "label": "how the interval was made, and what it promises",
    "of": "what the score is: the mean, or the mean of one batch",
    "advice": "what to do while the answer is not known",
    "imports": "one record per file that was read",
    "stored": "number of new answers that were stored",
    "adopted": "number of answers set aside earlier that now count",
    "slices": "columns kept for slices, or one record per slice",
    "question": "the question that raters see",
    "by": "columns that define slices or batches",
    "against": "columns that the judge's errors were compared with",
    "judge_verdict": "whether people and metrics still agree, in one sentence",
    "judge_alarm": "the alarm about the metrics, or null if there is none",
    "drop": "the smallest drop that matters",
    "baseline": "what batches are compared with",
    "growing": "whether each batch is compared with all earlier ones",
    "baseline_value": "score of the baseline",
    "baseline_se": "standard error of the baseline",
    "reference": "the score that the alarm compares with",
    "false_alarms": "what is promised about false alarms: rate, looks, average_run",
    "promise": "what is promised, in one sentence",
    "line_kind": "what the intervals of all batches are: guaranteed or approximate",
    "line_promise": "what the intervals of batches promise, in one sentence",
    "unit_sd": "standard deviation of a rating, corrected by the metrics",
    "next": "how many ratings the next batch should get",
    "plan": "how late an alarm would be, by ratings per batch",
    "drift": "whether a judge has changed, by the anchor set",
    "rows": "one record per metric, system and kind of rate or threshold",
    "plan.goal": "what is to be reached: half_width, difference or tolerance",
    "status.goal": "the tolerance, the half-width so far, and roughly how many ratings it takes",
    "source": "what the plan is based on",
    "have": "number of ratings that exist already",
    "best": "the best split of the budget",
    "humans_alone": "what people alone would reach with the budget",
    "formula": "the split by a large-sample formula",
    "pays": "whether the metric is worth its cost",
    "saving": "share of the variance that the metric removes, compared with people alone",
    "information": "K, the squared correlation of metric and human labels",
    "break_even": "cost of a metric rating below which it pays, as a share of a human rating",
    "cost_ratio": "cost of a metric rating, as a share of a human rating",
    "a": "name of the first system",
    "b": "name of the second system",
    "preferences": "shares of pairs for A, tie and B: by people, by judges, and corrected",
    "probability_better": "probability that the first system wins more pairs than the second",
    "gain": "share of the variance that the judges removed",
    "left_out": "number of segments left out because a score is missing",
    "orders": "number of random orders of the documents",
    "resample": "what the bootstrap draws: segments or documents",
    "relative": "whether standard deviations are divided by the mean",
    "x_i": "number of documents at which the tangent for x_min touches the curve",
    "epsilon": "slope below which the curve counts as flat, for x_max",
    "curves": "mean and standard deviation for each score, system and number of documents",
    "fits": "the fitted curves, with x_min and x_max",
    "clusters": "how alike the segments of a document are: icc and deff",
    "ranks": "how often systems are in their final order, by number of documents",
    "needed": "number of documents for the half-width that was asked for",
    "schema": "version of this record",
    "estimate": "the estimate: value, se, interval and the rest",
    "weighted": "the score for another mix, if one was asked for",
    "ratings_needed": "number of further ratings for the tolerance, roughly",
    "seeds": "seeds of the draws",
    "weights": "spread of the weights, and what it costs",
    "correlations": "correlation of each metric with human scores",
    "sample_and_pool": "mean of each metric in the sample and in the pool",
    "strata": "one record per stratum, if there are any",
    "pulls": "the most influential segments",
    "estimators": "what other estimators would have said",
    "report.answers": "number of segments without an answer, and of answers for other segments",
    "status.answers": "number of answers that count",
    "agreement": "how well raters agree",
    "any_raters": "the error for any raters like these",
    "methods": "a paragraph for the methods section",
    "references": "the papers behind the methods",
    "commands": "the commands that repeat the study",
    "contents": "every table and figure of the paper, and whether it was reproduced",
    "disagreements": "figures that differ from the printed ones, with the cause",
    "unexplained": "figures that differ without a known cause",
    "tables": "the tables, by name",
    "roc.rule": "how the threshold was chosen",
    "rule": "the stopping rule",
    "heterogeneity": "how much metrics differ between systems",
    "rated_before": "number of ratings from earlier waves",
    "cost": "cost of the chosen segments, if costs are known",
    "pool_cost": "cost of the whole pool, if costs are known",
    "sheet": "the sheet for the raters",
    "fingerprint": "fingerprint of the pool, by which a changed table is noticed",
    "step": "ratings per step, for strategies that learn from each rating",
    "in_order": "whether rows are in random order, for fewgold stop",
    "engine": "what read the pool",
    "wave": "number of the wave",
    "budget": "number of segments that were asked for",
    "ids": "ids of the chosen segments",
    "name": "name of the campaign",
    "instructions": "instructions for raters, in Markdown",
    "ends": "labels of the two ends of the scale",
    "side_by_side": "the two columns of outputs that raters compare, if any",
    "shown": "what raters see besides texts",
    "each": "number of raters per segment",
    "repeats": "which answer counts if a rater gives several",
    "among": "how the scores of several raters are combined",
    "settings.changed": "settings that were changed by this command",
    "status.changed": "number of segments that a rater scored twice, differently",
    "cells": "one record per pool, strategy and budget",
    "incomplete": "number of segments with fewer raters than asked for",
    "set_aside": "number of answers that do not count, by reason",
    "adoptable": "number of these whose segments have been sampled since",
    "rejected": "number of rows that could not be read",
    "open": "whether answers are missing or the goal is not reached",
    "mean": "plain mean of the ratings",
    "stopped_after": "number of ratings that were enough, or null",
    "more_low": "lower end of the range for the number of further ratings",
    "more_high": "upper end of that range",
    "in_sheet": "number of segments in the sheet",
    "rule_kind": "guaranteed or approximate",
    "checks": "one record per attention check",
    "timed": "number of answers whose time is known",
    "seconds_per_cost": "seconds of rating per unit of cost",
    "seconds_left": "seconds that the unrated segments will take, roughly",
    "held": "segments that somebody opened and has not answered",
    "agreement_note": "why agreement could not be measured, if so",
    "handed_on": "number of segments that were released",
    "known_answers": "number of known answers that were read",
    "check_every": "an attention check comes after this many answers",
    "second": "share of the segments that get one more rater",
    "hold": "seconds for which an opened segment is reserved",
    "practice": "number of practice items",
    "practice_items": "number of practice items that were chosen",
}

INTRODUCTION = """
This page is for scripts and coding agents that run fewgold. With `--json` a command prints one
JSON object on standard output and nothing else. Notes go to standard error, and `-q` silences
them. Unknown numbers are `null`, never NaN. Keys are stable: they are removed only as
CONTRIBUTING.md describes, but new keys may be added.

Each command below has a JSON Schema in the folder `docs/reference/schemas`. `datasets` and `serve`
also print JSON, but have no schema yet. The schemas are generated from the results that the tests
keep: a key is required if all of these results have it, and its types are those that occur.

An error is one line `error: …` on standard error, with exit code 2 for wrong usage and 3 for data
that cannot be used.
"""

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}


def schema_of(values: Sequence[Any]) -> dict[str, Any]:
    """The smallest schema of this kind that all values fit."""
    kinds = sorted({_kind(v) for v in values})
    if "number" in kinds and "integer" in kinds:
        kinds.remove("integer")
    made: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
    inner = [v for v in values if isinstance(v, dict)]
    if inner:
        names = list(dict.fromkeys(k for v in inner for k in v))
        if _are_names(inner, names):
            made["additionalProperties"] = schema_of([x for v in inner for x in v.values()])
        else:
            made["properties"] = {n: schema_of([v[n] for v in inner if n in v]) for n in names}
            made["required"] = [n for n in names if all(n in v for v in inner)]
    items = [x for v in values if isinstance(v, list) for x in v]
    if items:
        made["items"] = schema_of(items)
    return made


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else _TYPES[type(value)]


def _are_names(inner: Sequence[dict[str, Any]], names: Sequence[str]) -> bool:
    """Whether keys are names from the data, such as those of systems, and not fields."""
    return bool(names) and not all(n.replace("_", "").isalnum() and n.islower() for n in names)


def schemas() -> dict[str, dict[str, Any]]:
    """A schema for each command, from its results."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    from tests.golden.commands import STEPS

    found: dict[str, list[Any]] = {}
    for step, line in STEPS.items():
        path = GOLDEN / f"{step}.json"
        if path.is_file():
            found.setdefault(shlex.split(line)[0], []).append(
                json.loads(path.read_text(encoding="utf-8"))
            )
    return {
        name: {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"fewgold {name} --json",
            **described(name, schema_of(values)),
        }
        for name, values in sorted(found.items())
    }


def meaning(command: str, key: str) -> str:
    """What a key means in the results of a command."""
    return MEANINGS.get(f"{command}.{key}") or MEANINGS[key]


def described(command: str, schema: dict[str, Any]) -> dict[str, Any]:
    """With what keys mean."""
    for key, inner in schema.get("properties", {}).items():
        inner["description"] = meaning(command, key)
    return schema


def page(found: dict[str, dict[str, Any]]) -> str:
    """The page that lists the keys of each command."""
    lines = ["# Results as JSON", "", *INTRODUCTION.strip().splitlines()]
    for name, schema in found.items():
        lines += ["", f"## fewgold {name}", "", "| key | type | meaning |", "|---|---|---|"]
        required = set(schema.get("required", ()))
        for key, inner in schema.get("properties", {}).items():
            kinds = inner["type"] if isinstance(inner["type"], list) else [inner["type"]]
            mark = "" if key in required else " (not always)"
            lines.append(f"| `{key}`{mark} | {' or '.join(kinds)} | {meaning(name, key)} |")
    return "\n".join(lines) + "\n"


def texts() -> dict[Path, str]:
    """The files, as they should be."""
    found = schemas()
    made = {
        FOLDER / f"{name}.json": json.dumps(s, indent=1, ensure_ascii=False) + "\n"
        for name, s in found.items()
    }
    return {**made, PAGE: page(found)}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
