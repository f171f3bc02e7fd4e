"""Import times, relative to numpy + scipy.stats + pandas in the same run; for docs/speed.md.

    python benchmarks/imports.py [--repeats 15]

Every statement runs in a fresh Python, in turn with the others, and the time of a Python that
imports nothing is subtracted. Names are loaded when first used, so `import fewgold` alone would
look too fast. The limit of 1.3 therefore also applies to all public names together. If it is
exceeded, the exit code is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median
from time import perf_counter

from _common import arguments as common
from _common import read, table

LIMIT = 1.3
JUDGED = ("import fewgold", "from fewgold import *")
NOTHING = "pass"
BASE = "import numpy, scipy.stats, pandas"
STATEMENTS = {
    NOTHING: NOTHING,
    BASE: BASE,
    "import fewgold": "import fewgold",
    "from fewgold import Pool, Estimator": "from fewgold import Pool, Estimator",
    "from fewgold import *": "from fewgold import *",
    "fewgold --help": (
        "import sys; sys.argv = ['fewgold', '--help']\n"
        "from fewgold.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass"
    ),
}


def seconds(code: str) -> float:
    """Wall time of a fresh Python that runs ``code``."""
    start = perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def ratios(repeats: int) -> dict[str, float]:
    """Median time of each statement over that of the three libraries, start-up taken off."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for code in STATEMENTS.values():
        seconds(code)  # fills the caches of bytecode and of the disk
    for _ in range(repeats):
        for name, code in STATEMENTS.items():
            times[name].append(seconds(code))
    empty = median(times.pop(NOTHING))
    base = median(times[BASE]) - empty
    return {name: (median(taken) - empty) / base for name, taken in times.items()}


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    return parser


def main() -> int:
    options = read(arguments(), repeats=1)
    found = ratios(options.repeats)
    table(("statement", "ratio"), ((f"`{name}`", f"{ratio:.2f}") for name, ratio in found.items()))
    over = [name for name in JUDGED if found[name] > LIMIT]
    print(f"Over the limit of {LIMIT}: {', '.join(over) or 'none'}")
    return int(bool(over) and not options.quick)


if __name__ == "__main__":
    sys.exit(main())
