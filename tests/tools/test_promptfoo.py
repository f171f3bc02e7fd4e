"""promptfoo: an evaluation of its own, its files to ranks, and people who grade on its page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fewgold.formats import logs
from tools.conftest import NASTY, Tool, called, command, free_port, installed, served

pytestmark = pytest.mark.tools
TOOL = "promptfoo"
ITEMS = 24
ALONE = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1", "PROMPTFOO_DISABLE_SHARING": "1",
}  # fmt: skip
PROMPT = "Answer in one sentence, politely, and without any word that is not needed: {{question}}"
MODEL = """
module.exports = class {
  constructor(options) { this.said = options.config.said; }
  id() { return "echo"; }
  async callApi(prompt, context) { return { output: this.said[context.vars.item] }; }
};
"""


@dataclass(frozen=True)
class Run:
    """An evaluation that promptfoo has made."""

    tool: Tool
    folder: Path
    said: dict[str, list[str]]

    def words(self, *more: str | Path) -> list[str]:
        main = self.tool.folder / "node_modules/promptfoo/dist/src/entrypoint.js"
        return [self.tool.bin("node"), str(main), *map(str, more)]

    @property
    def environment(self) -> dict[str, str]:
        return ALONE | {"PROMPTFOO_CONFIG_DIR": str(self.folder / "home")}

    def do(self, *more: str | Path) -> str:
        _, *words = self.words(*more)
        # Exits with 100 where an assertion failed, as some do here.
        told = self.environment | {"PROMPTFOO_FAILED_TEST_EXIT_CODE": "0"}
        return self.tool.run("node", *words, cwd=self.folder, **told)

    def file(self, kind: str) -> Path:
        return self.folder / f"results.{kind}"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two models answer 24 questions; the assertions fail some of the answers."""
    folder = tmp_path_factory.mktemp("promptfoo")
    said = {
        name: [f"{name} says {k} {'sure' if (k * 7 + odd) % 5 else 'perhaps'}\n{NASTY}" + "." * k
               for k in range(ITEMS)]
        for odd, name in enumerate(("ant", "bee"))
    }  # fmt: skip
    made = Run(installed(TOOL), folder, said)
    (folder / "model.cjs").write_text(MODEL, encoding="utf-8")
    tests = [{"vars": {"item": k, "question": f"Is it {k}?"}, "assert": [
        {"type": "icontains", "value": "sure"},
        {"type": "javascript", "value": "output.length / 100", "metric": "length"},
    ]} for k in range(ITEMS)]  # fmt: skip
    providers = [{"id": "file://model.cjs", "label": n, "config": {"said": said[n]}} for n in said]
    whole = {"description": "sums", "prompts": [PROMPT], "providers": providers, "tests": tests}
    (folder / "promptfooconfig.json").write_text(json.dumps(whole), encoding="utf-8")
    outputs = [w for kind in ("json", "jsonl", "csv") for w in ("-o", f"results.{kind}")]
    made.do("eval", "--no-cache", "--no-table", "--no-progress-bar", *outputs)
    return made


def item(row: Any) -> int:
    """Which question a row of a table is about."""
    return int(str(row["output"]).split()[2])


def test_its_three_files_say_the_same(run: Run) -> None:
    tables = []
    for kind in ("json", "jsonl", "csv"):
        found = logs.recognise(run.file(kind))
        assert found is not None and found.name == "promptfoo"
        table = logs.read(run.file(kind)).frame()
        assert len(table) == 2 * ITEMS and set(table["system"]) == set(run.said)
        told = {(r["system"], item(r)): r["output"] for _, r in table.iterrows()}
        assert told == {(s, k): text for s, all_ in run.said.items() for k, text in enumerate(all_)}
        table["item"] = [item(r) for _, r in table.iterrows()]
        assert table.groupby("id")["item"].nunique().max() == 1  # one id for both systems
        scores = table.set_index(["system", "item"]).sort_index()
        tables.append(scores[["metric.passed", "metric.score", "length"]])
    for other in tables[1:]:  # CSV has two decimals
        pd.testing.assert_frame_equal(tables[0], other, atol=0.00501, rtol=0)
    sure = ["perhaps" not in run.said[s][k] for s, k in tables[0].index]
    assert tables[0]["metric.passed"].tolist() == sure
    assert 0 < sum(sure) < len(sure)


@pytest.mark.parametrize("kind", ["json", "jsonl", "csv"])
def test_systems_are_ranked_from_scores_of_people(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    command("doctor", run.file(kind))
    command("select", run.file(kind), "--shared", "--budget", "8", "--seed", "1", "-o", "s.csv")
    sheet = pd.read_csv("s.csv", dtype=str, keep_default_na=False)
    assert len(sheet) == 16
    texts = {text: s for s, all_ in run.said.items() for text in all_}
    sheet["score"] = [str(3 + (texts[o] == "bee")) for o in sheet["output"]]
    sheet.to_csv("s.csv", index=False)
    told = json.loads(command("compare", "s.csv", "--json", "-q"))
    assert told["systems"] == 2
    best = told["ranking"][0]
    assert best["system"] == "bee"


def test_scores_that_people_gave_on_its_page_come_back(run: Run, tmp_path: Path) -> None:
    command(
        "select", run.file("json"), "--shared", "--budget", "6", "--seed", "2",
        "-o", tmp_path / "s.csv",
    )  # fmt: skip
    sheet = pd.read_csv(tmp_path / "s.csv", dtype=str, keep_default_na=False)
    drawn = set(sheet["output"])
    whole = json.loads(run.file("json").read_text(encoding="utf-8"))
    evaluation = whole["evalId"]
    given: dict[str, float] = {}
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    words = run.words("view", "--port", str(port), "--no")
    with served(words, f"{url}/health", run.folder, **run.environment):
        for row in whole["results"]["results"]:
            text = row["response"]["output"]
            if text not in drawn:
                continue
            score = [0, 0.25, 0.5, 1][len(given) % 4]
            given[text] = score
            reason = "Manual result (overrides all other grading results)"
            grading = row["gradingResult"] | {"score": score, "reason": reason, "comment": "seen"}
            if score in (0, 1):  # its thumbs add an assertion, its field for a score does not
                grading["pass"] = score == 1
                grading["componentResults"].append({
                    "pass": score == 1, "score": score, "reason": reason,
                    "assertion": {"type": "human"},
                })  # fmt: skip
            called(f"{url}/api/eval/{evaluation}/results/{row['id']}/rating", grading)
    for kind in ("json", "csv"):
        graded = tmp_path / f"graded.{kind}"
        run.do("export", "eval", evaluation, "-o", graded)
        table = logs.read(graded).frame()
        rated = table[table["human"].notna()]
        assert dict(zip(rated["output"], rated["human"], strict=True)) == given
        assert len(given) == 12 and len(table) == 2 * ITEMS
        # What a person overwrote is no metric of the machine.
        assert not {"metric.passed", "metric.score"} & set(table.columns)
        # It warns that the log does not say how the graded outputs were chosen.
        doctor = command("doctor", graded, codes=(1,))
        assert "graded by hand" in " ".join(doctor.split())
        told = json.loads(command("compare", graded, "--json", "-q"))
        assert told["systems"] == 2
