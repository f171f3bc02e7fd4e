"""Speed of one study of 500 of 10,000 segments, compared with other libraries; for docs/speed.md.

    python benchmarks/peers.py [--python python3.13] [--repeats 300]

Makes a separate environment in the user's cache folder, with fewgold from this clone and the other
libraries, and runs all of them in one process on the same data. The others are ppi-python
(`ppi_py.ppi_mean_ci`) and, if the Python is new enough, glide-py.

The time is from the raters' scores to an interval: fewgold joins them to the sample, estimates, and
computes the standard error and Student's interval. "new pool" includes standardising the metrics,
which a pool does once.
"""

from __future__ import annotations

import argparse
import os
import pickle
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _common import NO_DATA, read
from _common import arguments as common

ROOT = Path(__file__).resolve().parent.parent
PEERS = ("ppi-python", "glide-py")
NEWEST_FIRST = ("python3.14", "python3.13", "python3.12", "python3.11")

Work = Callable[[], Any]


# The environment ------------------------------------------------------------------------------


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


def newest() -> str:
    """The newest Python available, which some libraries need."""
    if sys.version_info >= (3, 12):
        return sys.executable
    found = (p for p in NEWEST_FIRST if shutil.which(p) and run(p, "--version").returncode == 0)
    return next(found, sys.executable)


def set_up(python: str) -> Path:
    """Create an environment with fewgold and the peers that can be installed; its Python."""
    version = run(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    env = cache / "fewgold" / f"peers-{version}"
    own = env / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    uv = shutil.which("uv")
    if not own.exists():
        make = [uv, "venv", "--quiet", "--python", python] if uv else [python, "-m", "venv"]
        subprocess.run([*make, str(env)], check=True)
    pip = [uv, "pip", "install", "--python", str(own)] if uv else [str(own), "-m", "pip", "install"]
    for what in (["-e", str(ROOT)], *([peer] for peer in PEERS)):
        done = run(*pip, "--quiet", *what)
        if done.returncode and what[0] == "-e":
            print(
                f"fewgold cannot be installed for Python {version}:\n{done.stderr}", file=sys.stderr
            )
            raise SystemExit(NO_DATA)
        if done.returncode:
            print(f"{what[0]} cannot be installed for Python {version}{reason(done.stderr)}")
    return own


def reason(text: str) -> str:
    """Why the installer failed, if the reason is the version of Python."""
    asked = re.search(r"[><=]=?\s?3\.\d+", text)
    return f": it asks for Python {asked[0]}" if asked else f":\n{text}"


# The measurement ------------------------------------------------------------------------------


def in_turns(ways: dict[str, Callable[[], Work]], repeats: int) -> dict[str, float]:
    """The best time of each; taken in turns, a busy moment of the machine hits all of them."""
    times = dict.fromkeys(ways, float("inf"))
    for _ in range(repeats):
        for name, prepare in ways.items():
            work = prepare()
            start = time.perf_counter()
            work()
            times[name] = min(times[name], time.perf_counter() - start)
    return times


def measure(repeats: int) -> None:
    import numpy as np
    from _common import table

    from fewgold import Estimator, Pool, Sample
    from fewgold.bounds import Student
    from fewgold.estimators import ControlVariates, Mean, Ridge
    from fewgold.samplers import SimpleRandom

    rng = np.random.default_rng(0)
    size, n = 10_000, 500
    metrics = {f"m{k}": rng.normal(size=size) for k in range(7)}
    gold = np.asarray(sum(metrics.values())) + 2 * rng.normal(size=size)
    pool = Pool(np.arange(size), metrics)
    rows = SimpleRandom().draw(pool, n, rng=0).indices
    scores, rest = gold[rows], np.setdiff1d(np.arange(size), rows)

    def ours(estimator: Estimator, new: bool) -> Callable[[], Work]:
        def finish(sample: Sample) -> Any:
            made = estimator.estimate(sample.rate(scores))
            return made.value, made.se, made.interval(0.95)

        def prepare() -> Work:
            # A pickled pool loses what it has computed, so this one counts as new.
            own = pickle.loads(pickle.dumps(pool)) if new else pool
            sample = SimpleRandom().draw(own, n, rng=0)
            return lambda: finish(sample)

        return prepare

    theirs = peers(metrics, scores, rows, rest)
    t, m0 = Student(), ("m0",)
    single = [ControlVariates(metrics=m0, bound=t), Ridge(metrics=m0, bound=t), Mean(bound=t)]
    print(f"Python {sys.version.split()[0]}, numpy {np.__version__}, best of {repeats}\n")
    lines = []
    for title, work, estimators in theirs:
        low, high = (float(np.ravel(end)[0]) for end in work())
        for estimator in estimators or single:
            ways = {"new": ours(estimator, True), "known": ours(estimator, False)}
            times = in_turns({"theirs": lambda w=work: w, **ways}, repeats)  # type: ignore[misc]
            new, known = (times["theirs"] / times[way] for way in ("new", "known"))
            mine = ways["known"]()()[2]
            ends = f"{low:.3f} to {high:.3f}", f"{mine.low:.3f} to {mine.high:.3f}"
            lines.append([f"{title} / {estimator.name}", f"{new:.2f}", f"{known:.2f}", *ends])
    heads = ["theirs / ours: times faster", "new pool", "known pool"]
    table([*heads, "their 95 % interval", "ours"], lines)


def peers(
    metrics: dict[str, Any], scores: Any, rows: Any, rest: Any
) -> list[tuple[str, Work, Any]]:
    """Title, what is timed and what to compare with (None for the estimators of one metric)."""
    import numpy as np

    from fewgold.bounds import Student
    from fewgold.estimators import ControlVariates, Ridge

    found: list[tuple[str, Work, Any]] = []
    z = metrics["m0"]
    try:
        from ppi_py import ppi_mean_ci  # type: ignore[import-not-found]
    except ImportError:
        print("ppi-python is not installed: left out.")
    else:
        at, elsewhere = z[rows], z[rest]
        found.append(("ppi_mean_ci", lambda: ppi_mean_ci(scores, at, elsewhere, alpha=0.05), None))
    try:
        from glide.estimators import (  # type: ignore[import-not-found]
            MultiPPIMeanEstimator,
            PPIMeanEstimator,
        )
    except ImportError:
        print("glide-py is not installed: left out.")
        return found
    known = np.full(z.size, np.nan)
    known[rows] = scores
    table = np.stack(list(metrics.values()), axis=-1)

    def ends(made: Any) -> tuple[float, float]:
        return made.confidence_interval.lower_bound, made.confidence_interval.upper_bound

    found.append(("glide PPI", lambda: ends(PPIMeanEstimator().estimate(known, z)), None))
    several = [ControlVariates(bound=Student()), Ridge(bound=Student())]
    title = "glide MultiPPI"
    found.append((title, lambda: ends(MultiPPIMeanEstimator().estimate(known, table)), several))
    return found


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--python", help="the Python to make the environment with")
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    options = read(arguments(), repeats=3)
    if options.inside:
        measure(options.repeats)
        return
    python = set_up(options.python or newest())
    command = [str(python), __file__, "--inside", "--repeats", str(options.repeats)]
    threads = {"OPENBLAS_NUM_THREADS": "1"}
    sys.exit(subprocess.run(command, env={**os.environ, **threads}, check=False).returncode)


if __name__ == "__main__":
    main()
