"""Every benchmark runs, with few draws: the same code as the tables of the pages."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fewgold.datasets import data_folder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ELSEWHERE = {"alternatives.py", "monitor.py", "nuts.py", "peers.py", "thesis_bleu.py"}
SCRIPTS = sorted((ROOT / "benchmarks").glob("[!_]*.py"))
MORE = [  # other ways through the same files
    "calibration.py --noise",
    "cells.py --wide",
    "cells.py --speed",
    "binary_coverage.py --real",
    "intervals.py --choose",
    "intervals.py --skewed",
    "intervals.py --time",
    "stopping.py --speed",
    "wmt20.py --all",
]


@pytest.mark.parametrize("command", [*(path.name for path in SCRIPTS), *MORE])
def test_quick_run(command: str) -> None:
    if command == "evidence.py":
        command += " --list"
    script, *options = command.split()
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / script), *options, "--quick"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    # Without the real ratings, or without a package that is no dependency of ours.
    if done.returncode == 3 and (data_folder() is None or script in ELSEWHERE):
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    if script != "evidence.py":
        assert re.search(r"^\|(?: -+:? \|)+$", done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize("script", ["intervals.py", "reliability.py", "speed.py --scaling"])
def test_figures(script: str, tmp_path: Path) -> None:
    name, *options = script.split()
    target = tmp_path / "figure.svg"
    done = subprocess.run(
        [sys.executable, f"benchmarks/{name}", *options, "--plot", str(target), "--quick"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert target.read_text(encoding="utf-8").rstrip().endswith("</svg>")
