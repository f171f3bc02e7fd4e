"""The public names are those of public_names.txt, and nothing heavy is loaded to reach them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_public_names_are_as_listed() -> None:
    done = subprocess.run(
        [sys.executable, "tests/packaging/public_names.py"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "nothing has changed\n", (
        f"{done.stdout}If this is meant: python tests/packaging/public_names.py --write, and see "
        "CONTRIBUTING.md for what a removal takes."
    )
