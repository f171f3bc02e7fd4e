"""Intervals of a judge's measures hold as often as they say, for any sampler.

``FEWGOLD_SEED`` sets another seed, ``FEWGOLD_DRAWS`` more samples. Run with ``-s`` for the figures.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewgold.datasets import data_folder

pytestmark = pytest.mark.slow

SEED = int(os.environ.get("FEWGOLD_SEED", "7"))
DRAWS = int(os.environ.get("FEWGOLD_DRAWS", "500"))
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: The measures that are promised to be covered 93 to 97 % of the time.
PROMISED = ("kappa", "ac1", "f1", "ece", "kappa_linear", "kappa_quadratic")


@pytest.fixture(scope="module")
def benchmark() -> Any:
    """The studies of ``benchmarks/judge.py``."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("judge_benchmark", BENCHMARKS / "judge.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(BENCHMARKS))


def check(benchmark: Any, studies: Any, sampler: str) -> None:
    """Each cell within 91 to 99 %, all together within 93 to 97 %, but for the noise of draws.

    A few documents drawn as a whole, or a handful of good segments, are intervals of their own
    kind: single cells may leave 93 to 97 % there by a little, and rather cover too often.
    """
    noise = 4 * np.sqrt(0.95 * 0.05 / DRAWS)
    held: dict[str, list[float]] = {}
    for study in studies:
        found = benchmark.coverage(study, sampler, 120, DRAWS, SEED)
        for key in (k for k in PROMISED if k in found):
            print(f"{study.name:24} {sampler:14} {key:16} {found[key]:.3f}")
            assert 0.91 - noise < found[key] < 0.99 + noise, (study.name, key)
            held.setdefault(key, []).append(found[key])
    for key, shares in held.items():
        error = noise / np.sqrt(len(shares))
        assert 0.93 - error < np.mean(shares) < 0.97 + error + 0.01 * (sampler == "docs-whole"), key


@pytest.mark.parametrize(
    "sampler", ["random", "docs-prop", "docs-sys", "docs-balanced", "docs-whole"]
)
class TestCoverage:
    def test_simulated(self, benchmark: Any, sampler: str) -> None:
        check(benchmark, benchmark.simulated(), sampler)

    @pytest.mark.skipif(data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA")
    def test_real(self, benchmark: Any, sampler: str) -> None:
        check(benchmark, benchmark.real(), sampler)


def test_estimates_have_little_bias(benchmark: Any) -> None:
    """Of κ, F1 and the corrected calibration error, against the sampling error."""
    from fewgold.design import simple_design
    from fewgold.judge import figures
    from fewgold.samplers import SimpleRandom

    for study in benchmark.simulated():
        size = len(study.pool)
        sample = SimpleRandom().draw(study.pool, 150, draws=DRAWS, rng=SEED)
        rows = sample.indices
        found = figures(study.human[rows], study.judge[rows], sample.design, study.judge, bins=7)
        truth = figures(study.human, study.judge, simple_design(size, size), study.judge, bins=7)
        for key in ("kappa", "f1", "ac1", "ece"):
            if key in found:
                values = found[key].value
                off = values.mean() - truth[key].value
                assert abs(off) < 0.35 * values.std() + 4 * values.std() / np.sqrt(DRAWS), key
