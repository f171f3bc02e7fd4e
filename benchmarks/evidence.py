"""Make the tables and figures of the docs again, or list which of them would change.

    python benchmarks/evidence.py --list              # list them, with the date of the last run
    python benchmarks/evidence.py --only choose       # make one again, and write it into its page
    python benchmarks/evidence.py --check             # change nothing; exit code 1 if one differs
    python benchmarks/evidence.py --quick             # run every command with few draws

On a page, a table is between two comments, after the command that makes it:

    <!-- evidence: choose -->

        python benchmarks/intervals.py --choose --draws 2000

    … what the command prints …

    *Made on 2026-11-17 with fewgold 0.1.0, numpy 2.4.6.*

    <!-- end -->

Seeds are fixed, so the same version gives the same table. ``, ratios`` after the name marks times,
which differ from run to run, so they are written but not compared. ``, figure`` marks a file that
the command writes with ``--plot``. Files are compared byte by byte, so another version of
matplotlib may make a difference. Commands whose data are missing (exit code 3) change nothing.
"""

from __future__ import annotations

import argparse
import datetime
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
from _common import NO_DATA
from _common import arguments as common

from fewgold import __version__

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"<!-- evidence: (?P<name>[\w-]+)(?:, (?P<kind>ratios|figure))? -->\n\n"
    r" {4}(?P<command>[^\n]+)\n\n(?P<shown>.*?)\n\n(?P<made>\*[^\n]+\*)\n\n<!-- end -->",
    re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One table or figure on a page."""

    page: Path
    name: str
    kind: str
    command: str
    shown: str
    made: str

    def filled(self, text: str, shown: str) -> str:
        """The page with this block replaced by new output."""
        old = f"    {self.command}\n\n{self.shown}\n\n{self.made}\n\n<!-- end -->"
        if text.count(old) != 1:
            raise ValueError(f"expected {self.name} once in {self.page}; got {text.count(old)}.")
        return text.replace(
            old, f"    {self.command}\n\n{shown}\n\n{stamp(self.kind)}\n\n<!-- end -->"
        )


def pages(root: Path = ROOT) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """All blocks of a page; an opening comment without a block is an error."""
    text = page.read_text(encoding="utf-8")
    found = [
        Block(page, m["name"], m["kind"] or "table", m["command"], m["shown"], m["made"])
        for m in BLOCK.finditer(text)
    ]
    opened = re.findall(r"^<!-- evidence: (.*) -->$", text, re.MULTILINE)
    if len(opened) != len(found):
        raise ValueError(f"{page} opens {opened}, of which {[b.name for b in found]} are whole.")
    return found


def stamp(kind: str) -> str:
    today = datetime.date.today().isoformat()
    made = f"on {today} with fewgold {__version__}, numpy {np.__version__}"
    if kind == "ratios":
        return f"*Measured {made}; times and their ratios differ from run to run.*"
    return f"*Made {made}.*"


def run(command: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run a command as written on a page: variables first, and `python` is the one running this."""
    words = shlex.split(command)
    environment = dict(os.environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    if words[0] != "python":
        raise ValueError(f"expected a command of python; got {command!r}.")
    return subprocess.run(
        [sys.executable, *words[1:], *more],
        cwd=ROOT, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


def drawn(block: Block, check: bool, quick: bool) -> tuple[subprocess.CompletedProcess[str], bool]:
    """Run the command of a figure; only to check it, into a temporary file."""
    words = block.command.split()
    target = ROOT / words[words.index("--plot") + 1]
    if not (check or quick):
        before = target.read_bytes()
        done = run(block.command)
        return done, target.read_bytes() == before
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / target.name
        done = run(block.command, "--plot", str(other), *["--quick"] * quick)
        return done, done.returncode == 0 and other.read_bytes() == target.read_bytes()


def remake(block: Block, check: bool, quick: bool) -> str:
    """Run one command and return the outcome in one word."""
    if block.kind == "figure":
        done, same = drawn(block, check, quick)
        shown = block.shown
    else:
        done = run(block.command, *["--quick"] * quick)
        shown = done.stdout.strip()
        same = block.kind == "ratios" or shown == block.shown
    if done.returncode == NO_DATA:
        return "left as it is: " + done.stderr.strip().splitlines()[-1]
    if done.returncode:
        return f"failed with exit code {done.returncode}:\n{done.stderr}"
    if quick:
        return "runs"
    if check and block.kind == "ratios":
        return "runs (times are not compared)"
    if not check:
        text = block.page.read_text(encoding="utf-8")
        block.page.write_text(block.filled(text, shown), encoding="utf-8")
    return "same" if same else "differs" if check else "written, with changes"


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--only", help="names, separated by commas")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--list", action="store_true", help="list all, and run nothing")
    return parser


def main(argv: Sequence[str] | None = None) -> None:
    parser = arguments()
    options = parser.parse_args(argv)
    found = [block for page in pages() for block in blocks(page)]
    if options.only:
        wanted = options.only.split(",")
        known = [block.name for block in found]
        strange = [name for name in wanted if name not in known]
        if strange:
            parser.error(f"no evidence is called {strange[0]!r}; there are {', '.join(known)}.")
        found = [block for block in found if block.name in wanted]
    bad = False
    for block in found:
        place = block.page.relative_to(ROOT)
        if options.list:
            print(f"{block.name}: {place}, {block.made.strip('*')}\n    {block.command}")
            continue
        start = perf_counter()
        became = remake(block, options.check, options.quick)
        print(f"{block.name} ({place}): {became} [{perf_counter() - start:.0f} s]", flush=True)
        bad |= became == "differs" or became.startswith("failed")
    if bad:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
