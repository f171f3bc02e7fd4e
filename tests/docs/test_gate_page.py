"""The workflow on docs/howto/gate.md is YAML, and its commands run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fewgold

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "gate.md"


def test_the_workflow_runs(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = PAGE.read_text(encoding="utf-8")
    made = re.search(r"```py\n(# make.py\n.*?)```", text, re.DOTALL)
    flow = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert made and flow
    steps = yaml.safe_load(flow[1])["jobs"]["gate"]["steps"]
    commands = [s["run"] for s in steps if "run" in s]
    assert commands[0] == "pip install fewgold" and len(commands) == 3
    (tmp_path / "make.py").write_text(made[1], encoding="utf-8")
    root, programs = str(Path(fewgold.__file__).parents[1]), str(Path(sys.executable).parent)
    environment = {**os.environ, "PYTHONPATH": root,
                   "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}  # fmt: skip
    for command in ("python make.py", *commands[1:]):
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment,
                              capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "above the bar of 0.8" in done.stdout
    assert json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))["verdict"] == "better"
