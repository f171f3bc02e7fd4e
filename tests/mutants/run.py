"""Plant faults in the code, one at a time, and see whether the tests notice.

    python tests/mutants/run.py                  all of them
    python tests/mutants/run.py --list           what would be planted
    python tests/mutants/run.py --only bounds    those whose id or file contains "bounds"
    python tests/mutants/run.py --jobs 2         two at a time

The faults are in `faults.toml`: plausible slips of one line, each with the tests that should notice
it. They are planted in copies of the project in a temporary folder; the working tree is only read.
First the tests run on a copy without any fault, since a failing test notices everything.

Exit status 1: fewer than 95 % were caught, a fault no longer fits the code, or the tests fail
without a fault.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("faults.toml")
#: Share of the faults that the tests must catch.
ENOUGH = 0.95
#: Seconds after which a run of tests is ended; a fault that makes code run for ever is caught.
LONGEST = 300.0
#: Runs of tests that are under way, to be ended with this one.
_running: set[subprocess.Popen[str]] = set()
_LEFT_BEHIND = (".git", ".venv*", "build", "dist", ".hypothesis", ".*_cache")


@dataclass(frozen=True)
class Fault:
    """One slip: in ``file``, ``old`` becomes ``new``; ``tests`` should notice."""

    id: str
    file: str
    means: str
    old: str
    new: str
    tests: tuple[str, ...]

    def stale(self, root: Path = ROOT) -> str:
        """Why the fault can no longer be planted; empty if it can."""
        place = root / self.file
        count = place.read_text(encoding="utf-8").count(self.old) if place.is_file() else 0
        if count != 1:
            others = [
                path.relative_to(root).as_posix()
                for path in sorted((root / "fewgold").rglob("*.py"))
                if path != place and self.old in path.read_text(encoding="utf-8")
            ]
            hint = f" It stands in {', '.join(others)}." if others and not count else ""
            return (
                f"{self.id}: expected the old text once in {self.file}, found it {count} times."
                f"{hint} Update tests/mutants/faults.toml."
            )
        for test in self.tests:
            name, _, function = test.partition("::")
            path = root / name
            if not path.exists() or (function and f"def {function}(" not in path.read_text()):
                return f"{self.id}: there is no test {test}. Update tests/mutants/faults.toml."
        return ""


def read_faults(path: Path = LIST) -> list[Fault]:
    """The list of faults, in its order."""
    with path.open("rb") as file:
        listed = tomllib.load(file)["fault"]
    return [Fault(**{**entry, "tests": tuple(entry["tests"])}) for entry in listed]


def copy_project(folder: Path) -> Path:
    """A copy of the project to plant faults in."""
    ignored = shutil.ignore_patterns(*_LEFT_BEHIND)
    shutil.copytree(ROOT, folder, ignore=ignored, symlinks=True)
    return folder


def run_tests(folder: Path, tests: Iterable[str], *, stop: bool = True) -> tuple[int | None, str]:
    """Exit status of pytest in a copy, None if it had to be ended, and what it printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header"]
    command += ["-x"] * stop
    # The copy comes first on the path, for the processes that tests start as well. Bytecode of
    # a planted fault must not outlive it, so none is written.
    setting = {
        "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": "",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    with subprocess.Popen(
        [*command, *tests], cwd=folder, env={**os.environ, **setting}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as process:  # fmt: skip
        _running.add(process)
        try:
            printed, _ = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            return None, printed
        finally:
            _running.discard(process)
    return process.returncode, printed


def try_fault(fault: Fault, folder: Path) -> tuple[str, str]:
    """Plant a fault in a copy, run its tests, and take it out again: verdict, and output."""
    place = folder / fault.file
    sound = place.read_text(encoding="utf-8")
    Path(cache_from_source(str(place))).unlink(missing_ok=True)
    place.write_text(sound.replace(fault.old, fault.new), encoding="utf-8")
    try:
        status, printed = run_tests(folder, fault.tests)
    finally:
        place.write_text(sound, encoding="utf-8")
    if status == 0:
        return "survived", printed
    # 1: a test failed; 2: a test file could not be imported; None: it ran for ever.
    return ("caught" if status in (1, 2, None) else "broken"), printed


def chosen_tests(faults: Sequence[Fault]) -> list[str]:
    """All tests of the faults, each once: not those of a file that is taken whole."""
    every = {test for fault in faults for test in fault.tests}
    return sorted(t for t in every if "::" not in t or t.partition("::")[0] not in every)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the faults and end")
    parser.add_argument("--only", metavar="PATTERN", default="", help="part of an id or a file")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="faults at a time")
    parser.add_argument("--verbose", action="store_true", help="print the tests of survivors")
    asked = parser.parse_args(arguments)
    faults = [f for f in read_faults() if asked.only in f.id or asked.only in f.file]
    if not faults:
        print(f"no fault has {asked.only!r} in its id or file. See --list.", file=sys.stderr)
        return 1
    if asked.list:
        for fault in faults:
            print(f"{fault.id:34} {fault.means}")
        return 0
    stale = [why for fault in faults if (why := fault.stale())]
    if stale:
        print(*stale, sep="\n", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="fewgold-mutants-") as temporary:
        return _plant(faults, Path(temporary), max(asked.jobs, 1), asked.verbose)


def _plant(faults: Sequence[Fault], temporary: Path, jobs: int, verbose: bool) -> int:
    copies: queue.Queue[Path] = queue.Queue()
    for number in range(jobs):
        copies.put(copy_project(temporary / str(number)))
    begun = time.monotonic()
    # Files side by side here too, each in a process of its own as with a fault.
    groups: dict[str, list[str]] = {}
    for test in chosen_tests(faults):
        groups.setdefault(test.partition("::")[0], []).append(test)

    def without_fault(tests: list[str]) -> str:
        folder = copies.get()
        try:
            status, printed = run_tests(folder, tests)
        finally:
            copies.put(folder)
        return "" if status == 0 else f"{' '.join(tests)} fails without a fault:\n{printed}"

    def with_fault(fault: Fault) -> tuple[str, str]:
        folder = copies.get()
        try:
            verdict, printed = try_fault(fault, folder)
        finally:
            copies.put(folder)
        print(f"{verdict:8} {fault.id:34} {fault.means}", flush=True)
        return verdict, printed

    pool = ThreadPoolExecutor(jobs)
    try:
        failing = [why for why in pool.map(without_fault, groups.values()) if why]
        if failing:
            print(*failing, sep="\n", file=sys.stderr)
            return 1
        print(f"{len(groups)} test files pass without a fault", flush=True)
        results = list(pool.map(with_fault, faults))
    finally:  # after Ctrl-C too, before the copies are removed
        pool.shutdown(wait=False, cancel_futures=True)
        for process in tuple(_running):
            os.killpg(process.pid, signal.SIGKILL)
        pool.shutdown()
    count = Counter(verdict for verdict, _ in results)
    for fault, (verdict, printed) in zip(faults, results, strict=True):
        if verdict == "broken" or (verbose and verdict == "survived"):
            print(f"\n{fault.id}, {verdict}: {' '.join(fault.tests)}\n{printed}", file=sys.stderr)
    caught, share = count["caught"], count["caught"] / len(faults)
    minutes = (time.monotonic() - begun) / 60
    print(f"{caught} of {len(faults)} faults caught ({share:.0%}) in {minutes:.1f} minutes")
    return 0 if share >= ENOUGH and not count["broken"] else 1


if __name__ == "__main__":
    sys.exit(main())
