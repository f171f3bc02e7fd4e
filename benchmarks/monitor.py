"""Delay of alarms and rate of false alarms, compared with truescore and glide-py.

    python benchmarks/monitor.py [--streams 40] [--python python3.12]

FRANK's summaries (factual or not, with BertScore as the judge) are replayed as streams of 50
batches of 150, with 40 of each rated. From the eleventh batch on, the share of factual summaries is
15 points lower. All methods get the same ratings and a rate of false alarms of 0.05. truescore and
glide-py compare with the true share before the drop, and so does fewgold with --against. Without
it, fewgold compares with the batches before, or with the first four, where nobody knows the true
share. The other packages run in their own environment in the user's cache folder (glide-py needs
Python 3.12). If one is missing, the output says so.

For docs/howto/monitor.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import peers
from _common import arguments as common
from _common import need, read, table

BATCHES, SIZE, RATED, QUIET, DROP = 50, 150, 40, 10, 0.15

THEIRS = """
import sys, warnings
import numpy as np
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
Y, Z, target, quiet = data["Y"], data["Z"], float(data["target"]), int(data["quiet"])
def told(name, found):
    print(name, *found, sep=",")
try:
    from truescore.sequential import first_exclusion
except ImportError:
    print("truescore is not installed: left out.", file=sys.stderr)
else:
    late = []
    for y in Y:
        at = first_exclusion(y[~np.isnan(y)], target, alpha=0.05, direction="below")
        rated = int((~np.isnan(y[0])).sum())
        late.append("inf" if at is None else (at - 1) // rated - quiet + 1)
    told("truescore first_exclusion, target", late)
try:
    from glide.monitors import AsymptoticPPRM
except ImportError:
    print("glide-py is not installed: left out.", file=sys.stderr)
else:
    late = []
    for y, z in zip(Y, Z):
        batches = np.repeat(np.arange(len(y)), y.shape[1])
        made = AsymptoticPPRM().detect(
            y.ravel(), z.ravel(), batches, True, target, confidence_level=0.95
        )
        at = made.first_alarm_index
        late.append("inf" if at is None else at - quiet + 1)
    told("glide-py AsymptoticPPRM, target", late)
"""


def streams(count: int) -> tuple[dict[str, Any], list[Any]]:
    """The ratings for the peers (NaN where unrated), and the same as batches of ours."""
    from fewgold import Pool
    from fewgold.datasets import real_frame
    from fewgold.design import Design
    from fewgold.monitoring import Batch, Batches
    from fewgold.sample import Ratings, Sample

    frame = real_frame("frank")
    frame = frame[frame["BertScore_P_Art"].notna()]
    human = frame["factual_binary"].to_numpy(float)
    judge = frame["BertScore_P_Art"].to_numpy(float)
    judge = (judge - judge.min()) / np.ptp(judge)
    good, bad, target = np.flatnonzero(human == 1), np.flatnonzero(human == 0), human.mean()
    y, z = np.full((count, BATCHES, SIZE), np.nan), np.zeros((count, BATCHES, SIZE))
    ours = []
    for i in range(count):
        rng, parts = np.random.default_rng([5, i]), []
        for k in range(BATCHES):
            factual = rng.random(SIZE) < target - DROP * (k >= QUIET)
            rows = np.where(factual, rng.choice(good, SIZE), rng.choice(bad, SIZE))
            taken = rng.permutation(SIZE)[:RATED]
            y[i, k, taken], z[i, k] = human[rows[taken]], judge[rows]
            sample = Sample(Pool(np.arange(SIZE), {"judge": judge[rows]}), taken,
                            Design.simple(RATED, SIZE))  # fmt: skip
            ratings = Ratings(sample, human[rows[taken]], (0.0, 1.0))
            parts.append(Batch(str(k), np.arange(SIZE) + SIZE * k, ratings, RATED))
        ours.append(Batches(tuple(parts), "batch", SIZE * BATCHES))
    return {"Y": y, "Z": z, "target": target, "quiet": QUIET}, ours


def row(name: str, late: np.ndarray[Any, Any]) -> list[str]:
    real = late[late > 0]
    middle = f"{np.median(real):.0f}" if real.size else "–"
    slow = f"{np.quantile(real, 0.9, method='higher'):.0f}" if real.size else "–"
    return [name, middle, slow, str(int((late <= 0).sum())), str(int(np.isinf(late).sum()))]


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--python", help="the Python to make the environment with")
    return parser


def main() -> None:
    options = read(arguments(), streams=2)
    need("frank")
    from fewgold.monitoring import FalseAlarms, monitor

    data, ours = streams(options.streams)
    ways: dict[str, dict[str, Any]] = {
        "fewgold, target": {"target": float(data["target"])},
        "fewgold, batches before": {}, "fewgold, first 4 batches": {"baseline": 4},
    }  # fmt: skip
    rows = []
    for name, how in ways.items():
        late = []
        for one in ours:
            found = monitor(one, drop=DROP, false_alarms=FalseAlarms(0.05, BATCHES), **how)
            late.append(np.inf if found.alarm is None else int(found.alarm.batch) - QUIET + 1)
        rows.append(row(name, np.array(late)))
    peers.PEERS = ("truescore", "glide-py")
    python = peers.set_up(options.python or peers.newest())
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "streams.npz", **data)
        script = Path(folder) / "theirs.py"
        script.write_text(THEIRS, encoding="utf-8")
        done = subprocess.run(
            [str(python), str(script), str(Path(folder) / "streams.npz")],
            stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    for line in done.stdout.splitlines():
        first, second, values = line.split(",", 2)
        rows.append(row(f"{first},{second}", np.array(values.split(","), dtype=float)))
    table(["batches until the alarm", "median", "90 %", "false", "missed"], rows)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
