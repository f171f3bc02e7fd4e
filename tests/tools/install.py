"""Installs real annotation and evaluation tools, each into an environment of its own.

    python tests/tools/install.py             all of tools.toml
    python tests/tools/install.py pearmut     one of them

The environments are .venv-tools-NAME beside pyproject.toml, made with venv and pip, and for tools
in JavaScript with an npm that pip brings. A tool that cannot be installed is named at the end with
the reason, and its tests are skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))
MINUTES = 60  # a slow line, or a machine with much else to do


def place(name: str) -> Path:
    """Where the environment of a tool is; FEWGOLD_TOOLS names another folder than the root."""
    return Path(os.environ.get("FEWGOLD_TOOLS") or ROOT) / f".venv-tools-{name}"


def version(name: str) -> tuple[int, ...]:
    """The version of a Python, such as (3, 12); empty if it does not start."""
    try:
        found = subprocess.run(
            [name, "-c", "import ensurepip, sys; print(*sys.version_info[:2])"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return ()
    return tuple(map(int, found.stdout.split()))


def python(least: str) -> str:
    """A Python that is new enough: this one, else one on the PATH or from pyenv."""
    wanted = tuple(map(int, least.split(".")))
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    listed = [sys.executable, *(f"python3.{minor}" for minor in (12, 13, 14))]
    listed += map(str, sorted(pyenv.glob("3.1[2-9].*/bin/python")))
    for name in listed:
        if version(name) >= wanted:
            return name
    raise RuntimeError(f"needs Python {least} or newer, and none was found on the PATH")


def run(*words: str | Path) -> None:
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=60 * MINUTES, check=False
    )
    if done.returncode:
        told = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(told[-1] if told else f"{words[0]} failed")


def install(name: str) -> None:
    """Create the environment of one tool, unless it exists with this version."""
    tool, folder = TOOLS[name], place(name)
    packages = [tool["package"], *tool.get("with", [])]
    ready, wanted = folder / ".ready", " ".join([*packages, *tool.get("npm", [])])
    if ready.is_file() and ready.read_text() == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    run(python(tool.get("python", "3.11")), "-m", "venv", folder)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    run(*pip, "--disable-pip-version-check", *packages)
    if tool.get("npm"):
        npm = [folder / "bin" / "npm", "install", "--prefix", folder, "--no-audit", "--no-fund"]
        run(*npm, "--omit=optional", "--ignore-scripts", "--no-package-lock", *tool["npm"])
    ready.write_text(wanted)


def main(names: list[str]) -> int:
    failed = {}
    for name in names or list(TOOLS):
        if name not in TOOLS:
            print(f"There is no tool {name!r}. Known: {', '.join(TOOLS)}.", file=sys.stderr)
            return 2
        print(
            " ".join([TOOLS[name]["package"], *TOOLS[name].get("npm", [])[:1]]), "...", flush=True
        )
        try:
            install(name)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            failed[name] = str(error)
    for name, why in failed.items():
        print(f"{name} could not be installed, so its tests are skipped: {why}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
