"""Shell sessions on pages: run and compare them, or write what they print.

``python tests/sessions.py PAGE`` writes. A ``console`` block holds commands after a dollar sign and
what they print on standard output. All blocks of a page run in one folder, from top to bottom; a
``py`` block is a script for them, called as its first line says (``# answer.py``).
"""

from __future__ import annotations

import glob
import io
import os
import random
import re
import runpy
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import fewgold

BLOCK = re.compile(r"```(console|py)\n(.*?)```", re.DOTALL)
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def has_session(text: str) -> bool:
    """True for a page with commands to run."""
    return "```console\n" in text


def played(text: str, folder: Path) -> str:
    """The page with what its commands print now."""
    return BLOCK.sub(lambda match: _block(match[1], match[2], folder), text)


def _block(kind: str, body: str, folder: Path) -> str:
    if kind == "py":
        name = body.partition("\n")[0].removeprefix("# ")
        (folder / name).write_text(body, encoding="utf-8")
        return f"```py\n{body}```"
    lines = []
    for command in re.findall(r"^\$ (.*)$", body, re.MULTILINE):
        lines += [f"$ {command}", *_run(command, folder)]
    return "```console\n" + "".join(f"{line}\n" for line in lines) + "```"


def _run(command: str, folder: Path) -> list[str]:
    start = _start(command)
    told, errors = _here(start, command, folder) if start else _in_a_shell(command, folder)
    # What goes wrong is said on standard error; notes there are left out.
    told += "".join(
        line for line in errors.splitlines(True) if line.startswith(("error:", "Traceback"))
    )
    return [line.rstrip() for line in told.rstrip("\n").splitlines()] if told else []


def _start(command: str) -> Callable[[], object] | None:
    """What runs a command here; None if it needs a shell."""
    if re.search(r"[|<>?&;$`]", command):
        return None
    if command.startswith("fewgold "):
        from fewgold.cli import main

        return main
    return _script if re.match(r"python \w+\.py\b", command) else None


def _script() -> None:
    """The script that ``sys.argv`` names, which leaves nothing behind but files."""
    state = random.getstate()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # Python alone does not show them
        runpy.run_path(sys.argv[0], run_name="__main__")
    random.setstate(state)


def _words(command: str) -> list[str]:
    """The words of a command, with the names of files for a pattern."""
    words = shlex.split(command)
    found = [sorted(glob.glob(word)) if "*" in word else [word] for word in words]
    return [word for several in found for word in several][words[0] == "python" :]


def _here(start: Callable[[], object], command: str, folder: Path) -> tuple[str, str]:
    """In this process: a new one would spend most of its time on imports."""
    out, errors = io.StringIO(), io.StringIO()
    with (
        chdir(folder),
        patch.object(sys, "argv", _words(command)),
        patch.dict(os.environ, {"COLUMNS": "80"}),
        redirect_stdout(out),
        redirect_stderr(errors),
        suppress(SystemExit),  # how each command ends
    ):
        start()
    return out.getvalue(), errors.getvalue()


def _in_a_shell(command: str, folder: Path) -> tuple[str, str]:
    root = str(Path(fewgold.__file__).parents[1])
    programs = str(Path(sys.executable).parent)
    environment = {
        **os.environ, "PYTHONPATH": root, "COLUMNS": "80",
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
        check=False, encoding="utf-8",
    )  # fmt: skip
    return done.stdout, done.stderr


def undated(text: str) -> str:
    """Without dates, which are those of today."""
    return DATE.sub("DATE", text)


if __name__ == "__main__":
    import tempfile

    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as place:
            page.write_text(played(page.read_text(encoding="utf-8"), Path(place)), encoding="utf-8")
