"""Results of promptfoo: JSON of ``promptfoo eval -o results.json``, JSON lines and CSV."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fewgold.errors import DataError
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
    objects,
    parsed,
    said,
)
from fewgold.io import TableFile, is_empty, read_file

_FIELDS = {"vars", "provider", "success", "gradingResult", "namedScores", "testIdx", "promptIdx",
           "latencyMs", "testCase"}  # fmt: skip
# A cell of CSV: the verdict, perhaps scores in brackets, the output, perhaps the grader's reason.
_CELL = re.compile(r"\[(PASS|FAIL|ERROR)\][ \t]*(?:\(([^)\n]*)\))?\s*(.*)", re.DOTALL)
# The reason in results that a person graded, which overwrites verdict and score.
_MANUAL = "Manual result"
_GRADED = (
    "graded by hand, which overwrites verdict and score: these two are not used as metrics, while "
    "assertions and named scores are"
)
_REASON = re.compile(r"\n\s*(?:Pass|Fail) Reason: .*\Z", re.DOTALL)


class Promptfoo(LogFormat):
    """promptfoo. A test case is an item; provider and prompt are the system."""

    name = "promptfoo"
    title = "promptfoo"

    def recognises(self, file: LogFile) -> bool:
        """Results under ``results``, lines with ``gradingResult``, or cells like [PASS]."""
        if file.probe.is_folder or not file.probe.is_text:
            return False
        if len(_FIELDS & set(file.first)) >= 4:
            return True
        start = file.probe.text.lstrip()[:1]
        if start == "{":
            if '"results"' not in file.probe.text:
                return False
            return _is_results(file.whole)
        names = list(file.first)
        places = [k for k, name in enumerate(names) if _is_system(name)]
        told = _verdicts(file) > 0 or any(_beside(names, k) for k in places)
        return start != "[" and bool(places) and told

    def read(self, file: LogFile) -> EvalLog:
        """The results, one output for each test case, provider and prompt."""
        found = Gathered(self)
        if len(_FIELDS & set(file.first)) >= 4:
            rows = [(place, row) for place, row, _ in file.records()]
        elif file.probe.text.lstrip()[:1] == "{":
            rows = list(_results(file))
        else:
            _table(found, read_file(file.path))
            return _done(found)
        whole = [r for _, r in rows if isinstance(r, Mapping)]
        prompts = _prompts((_place(r), _label(r)) for r in whole)
        first: dict[str, str] = {}  # the first test case with these variables
        for place, row in rows:
            if not isinstance(row, Mapping):
                why = row if isinstance(row, str) else "is not an object {…}."
                found.reject(place, why, row)
                continue
            test = label(row.get("testIdx"))
            held = row.get("vars") if row.get("vars") is not None else at(row, "testCase", "vars")
            variables = dumped(held)
            if not test and held is None:
                found.reject(place, "it has neither testIdx nor vars.", row)
                continue
            # Repeats of a test case have their own numbers and the same variables.
            told = dumped(at(row, "testCase", "assert")) if held in (None, {}) else ""
            base = first.setdefault(
                f"{variables}{told}{label(row.get('description'))}", test or str(len(first))
            )
            system = _system(_provider(row), prompts[_label(row)])
            found.use(_output(row, base, system, held))
        return _done(found)


def _is_results(whole: Any) -> bool:
    inner = at(whole, "results")
    rows = at(inner, "results") if isinstance(inner, Mapping) else inner
    if isinstance(rows, list) and rows:
        return any(len(_FIELDS & set(row)) >= 3 for row in objects(rows)[:3])
    return isinstance(at(inner, "table", "body"), list)


def _results(file: LogFile) -> Iterator[tuple[str, Any]]:
    whole = file.object()
    inner = whole.get("results")
    rows = at(inner, "results") if isinstance(inner, Mapping) else inner
    if not isinstance(rows, list) or not rows:
        raise DataError(
            f"{str(file.path)!r} is a file of promptfoo without results. Write it again with: "
            "promptfoo export eval latest -o results.json."
        )
    yield from ((f"result {k}", row) for k, row in enumerate(rows, 1))


def _provider(row: Mapping[str, Any]) -> str:
    given = row.get("provider")
    if isinstance(given, Mapping):
        return label(given.get("label")) or label(given.get("id"))
    return label(given)


def _label(row: Mapping[str, Any]) -> str:
    """What tells a prompt from others: its label, else its number."""
    return label(at(row, "prompt", "label")) or label(row.get("promptIdx"))


def _place(row: Mapping[str, Any]) -> float:
    place = number(row.get("promptIdx"))
    return math.inf if place is None else place


def _prompts(given: Iterable[tuple[float, str]]) -> dict[str, str]:
    """Names of prompts by label: long labels become numbers, and a single prompt has no name."""
    labels = dict.fromkeys(text for _, text in sorted(given))
    short = {t: len(t) <= 60 and "\n" not in t and not t.isdigit() for t in labels}
    called = {t: t if short[t] else f"prompt {k}" for k, t in enumerate(labels, 1)}
    return called if len(called) > 1 else dict.fromkeys(called, "")


def _system(provider: str, prompt: str) -> str:
    return " / ".join(filter(None, (provider, prompt)))


def _by_hand(row: Mapping[str, Any]) -> Any:
    """The score that a person gave on the page of promptfoo, or None."""
    grading = row.get("gradingResult")
    if str(at(grading, "reason") or "").startswith(_MANUAL):
        return at(grading, "score")
    for part in objects(at(grading, "componentResults")):
        if label(at(part, "assertion", "type")) == "human":
            return part.get("score") if part.get("score") is not None else part.get("pass")
    return None


def _done(found: Gathered) -> EvalLog:
    """The log, without the verdicts and scores where people may have overwritten them."""
    if any(o.human for o in found.outputs):
        found.notes.append(_GRADED)
        found.outputs = [
            replace(o, scores={n: v for n, v in o.scores.items() if n not in ("passed", "score")})
            for o in found.outputs
        ]
    return found.done()


def _output(row: Mapping[str, Any], base: str, system: str, variables: Any) -> Output:
    grading = row.get("gradingResult")
    scores: dict[str, Any] = {}
    given = _by_hand(row)
    human = {} if given is None else {"human": given}
    error = row.get("error")
    bare = not grading and row.get("response") is None
    failed = row.get("failureReason") == 2 or (bare and bool(error))
    if not failed:
        scores["passed"] = row.get("success") if "success" in row else at(grading, "pass")
        scores["score"] = row.get("score") if "score" in row else at(grading, "score")
    named = row.get("namedScores") or at(grading, "namedScores")
    for name, value in named.items() if isinstance(named, Mapping) else ():
        scores[str(name)] = value
    parts: dict[str, list[Any]] = {}
    for part in objects(at(grading, "componentResults")):
        kind = label(at(part, "assertion", "type"))
        value = part.get("score") if part.get("score") is not None else part.get("pass")
        if kind and kind != "human" and not at(part, "assertion", "metric"):
            parts.setdefault(kind, []).append(value)
    for kind, values in parts.items():
        if kind not in scores:
            scores[kind] = mean(values)
    prompt = at(row, "prompt", "raw") or at(row, "prompt", "display")
    asked = said(_chat(prompt)) or said(variables)
    response = row.get("response")
    answer = response.get("output") if isinstance(response, Mapping) else response
    keep = {
        "description": row.get("description") or at(row, "testCase", "description"),
        "vars": variables or None, "error": said(error) if error and failed else None,
        "testIdx": label(row.get("testIdx")), "promptIdx": label(row.get("promptIdx")),
        "result_id": row.get("id"),
    }  # fmt: skip
    return Output(
        base, asked, said(answer), "", system, _conversation(row), "", scores, human,
        {k: v for k, v in keep.items() if v not in (None, "")},
    )  # fmt: skip


def _conversation(row: Mapping[str, Any]) -> str:
    for place in (("metadata",), ("testCase", "metadata")):
        for name in ("conversationId", "sessionId"):
            if found := label(at(row, *place, name)):
                return found
    return ""


def _chat(prompt: Any) -> Any:
    """A prompt as messages if it is a JSON list of them."""
    found = parsed(prompt)
    return found if isinstance(found, list) and objects(found) else prompt


# CSV: a column for each variable, and one for each provider and prompt --------------------------


_HEADING = re.compile(r"\s*\[([^\]]+)\]\s*(.*?)\s*", re.DOTALL)


def _is_system(name: str) -> bool:
    return _HEADING.match(name) is not None


def _heading(name: str) -> tuple[str, str]:
    """Provider and prompt."""
    found = _HEADING.fullmatch(name)
    assert found is not None  # of _is_system
    return found[1], found[2]


_BESIDE = ("status", "score", "named scores", "grader reason", "comment")


def _plain_name(name: str) -> str:
    """A heading without the suffix that marks repeats."""
    return re.sub(r"(\s*\(\d+\)|[._]\d+)$", "", name.strip()).lower()


def _beside(header: Sequence[str], place: int) -> dict[str, int]:
    """Columns after an output with the graders' results, in newer files."""
    found: dict[str, int] = {}
    for k in range(place + 1, len(header)):
        name = _plain_name(header[k])
        if name not in _BESIDE and not name.startswith("metric:"):
            break
        found[header[k].strip() if name.startswith("metric:") else name] = k
    return found if "status" in found else {}


def _verdicts(file: LogFile) -> int:
    return sum(file.probe.text.count(f"[{word}]") for word in ("PASS", "FAIL", "ERROR"))


def _table(found: Gathered, table: TableFile) -> None:
    places = [k for k, n in enumerate(table.header) if _is_system(n)]
    beside = {p: _beside(table.header, p) for p in places}
    taken = {*places, *(k for columns in beside.values() for k in columns.values())}
    variables = [k for k in range(len(table.header)) if k not in taken]
    headings = {p: _heading(table.header[p]) for p in places}
    prompts = _prompts((p, prompt) for p, (_, prompt) in headings.items())
    systems = {p: _system(made, prompts[prompt]) for p, (made, prompt) in headings.items()}
    first: dict[str, str] = {}
    for k, row in enumerate(table.rows, 1):
        if row.why:
            found.reject(row.place, row.why, row.raw)
            continue
        given = {table.header[v]: row.cells[v] for v in variables if not is_empty(row.cells[v])}
        base = first.setdefault(dumped(given), str(k))
        outputs = []
        for p in places:
            scores: dict[str, Any] = {}
            by_hand = False
            if beside[p]:
                said_of = {n: str(row.cells[k] or "").strip() for n, k in beside[p].items()}
                verdict, text = said_of["status"].upper(), str(row.cells[p] or "").strip()
                if verdict not in ("PASS", "FAIL", "ERROR"):
                    continue
                by_hand = said_of.get("grader reason", "").startswith(_MANUAL)
                if by_hand and verdict == "ERROR":
                    verdict = "FAIL"  # what promptfoo writes if a person failed an output
                graded = {"score": said_of.get("score", "")}
                graded |= {
                    n[7:].strip(): v for n, v in said_of.items() if n[:7].lower() == "metric:"
                }
                if verdict != "ERROR":
                    scores = {"passed": verdict == "PASS"} | {n: v for n, v in graded.items() if v}
            else:
                cell = _CELL.fullmatch(str(row.cells[p] or "").strip())
                if cell is None:
                    continue
                verdict, numbers, text = cell[1], cell[2] or "", _REASON.sub("", cell[3]).strip()
                by_hand = f" Reason: {_MANUAL}" in cell[3]
                if verdict != "ERROR":
                    scores = {"passed": verdict == "PASS", **_numbers(numbers)}
            failed = {"error": text} if verdict == "ERROR" else {}
            human = {"human": scores.get("score", scores.get("passed"))} if by_hand else {}
            outputs.append(Output(
                base, said(given), "" if failed else text, "", systems[p],
                scores=scores, human=human, keep={"vars": given, **failed},
            ))  # fmt: skip
        if outputs:
            found.use(*outputs)
        elif given or any(not is_empty(c) for c in row.cells):
            found.reject(row.place, "has no cell that begins with [PASS], [FAIL] or [ERROR].",
                         row.raw)  # fmt: skip
        else:
            found.skip()


def _numbers(text: str) -> dict[str, Any]:
    """Scores in brackets, such as ``0.50, relevance: 1.00``."""
    found = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, colon, value = part.rpartition(":")
        found[name.strip() if colon else "score"] = value.strip()
    return found
