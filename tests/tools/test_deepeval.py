"""DeepEval: a test run with metrics that need no model, kept as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewgold.formats import logs
from tools.conftest import NASTY, Tool, estimated

pytestmark = pytest.mark.tools
TOOL = "deepeval"

RUN = f"""
from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Share(BaseMetric):
    threshold = 0.5

    def measure(self, case, *args, **kwargs):
        if "7" in case.input:
            raise ValueError("no score for sevens")
        self.score = int(case.expected_output) / 24
        self.success, self.reason = self.score >= self.threshold, "as it is"
        return self.score

    async def a_measure(self, case, *args, **kwargs):
        return self.measure(case)

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Share"


cases = [
    LLMTestCase(input=f"Question {{k}}", actual_output=f"Output {{k}} " + {NASTY!r},
                expected_output=str(k))
    for k in range(24)
]
evaluate(
    cases, [Share()], hyperparameters={{"model": "ant"}},
    async_config=AsyncConfig(run_async=False), error_config=ErrorConfig(ignore_errors=True),
    cache_config=CacheConfig(write_cache=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
)
"""


def test_a_test_run_goes_from_the_doctor_to_an_estimate(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    tool.run(
        "python", "run.py", cwd=tmp_path, DEEPEVAL_TELEMETRY_OPT_OUT="YES",
        DEEPEVAL_DISABLE_DOTENV="1", DEEPEVAL_RESULTS_FOLDER="results",
    )  # fmt: skip
    (log,) = (tmp_path / "results").glob("*.json")
    found = logs.recognise(log)
    assert found is not None and found.name == "deepeval"
    table = logs.read(log).frame()
    assert table["input"].tolist() == [f"Question {k}" for k in range(24)]
    assert table["output"].tolist() == [f"Output {k} {NASTY}" for k in range(24)]
    assert table["reference"].tolist() == list(map(str, range(24)))
    assert set(table["system"]) == {"ant"}
    for k, score in enumerate(table["Share"]):
        assert score != score if k in (7, 17) else score == pytest.approx(k / 24)
    estimated(log, tmp_path, "--metrics", "none")
