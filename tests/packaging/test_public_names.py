"""The public names are those of public_names.txt."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import public_names


def test_public_names_are_as_listed() -> None:
    changed = "\n".join(public_names.changes())
    assert not changed, (
        f"{changed}\nIf this is meant: python tests/packaging/public_names.py --write, and see "
        "CONTRIBUTING.md for what a removal takes."
    )
