"""Print the lower bounds of pyproject.toml as pins: what `make oldest` installs.

    python tests/packaging/oldest.py > oldest.txt && pip install -c oldest.txt -e '.[dev]'

All that users may install is pinned, extras included; the tools of `dev` alone are not.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOUND = re.compile(r"([A-Za-z0-9._-]+)(?:\[[a-z,]+\])?>=([0-9.]+)(?:,<[0-9.]+)?")


def requirements() -> list[str]:
    """What the core and every extra but `dev` ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return sorted(
        {*project["dependencies"], *(r for name in extras if name != "dev" for r in extras[name])}
    )


def pins() -> list[str]:
    """Each requirement as `name==bound`; one without a lower bound is a mistake."""
    found = []
    for requirement in requirements():
        match = BOUND.fullmatch(requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml needs a lower bound: name>=1.2")
        found.append(f"{match[1]}=={match[2]}")
    return found


if __name__ == "__main__":
    print("\n".join(pins()))
