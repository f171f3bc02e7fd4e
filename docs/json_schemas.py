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

#: What keys mean that several commands have.
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
}

INTRODUCTION = """
With `--json` a command prints one JSON object on standard output and nothing else. Notes go
to standard error, and `-q` silences them. Unknown numbers are `null`, never NaN. Keys are stable:
they are removed only as CONTRIBUTING.md describes, but new keys may be added.

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
            **described(schema_of(values)),
        }
        for name, values in sorted(found.items())
    }


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """With what keys mean, as far as several commands share them."""
    for name, inner in schema.get("properties", {}).items():
        if name in MEANINGS:
            inner["description"] = MEANINGS[name]
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
            lines.append(f"| `{key}`{mark} | {' or '.join(kinds)} | {MEANINGS.get(key, '')} |")
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
