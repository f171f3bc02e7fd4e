"""Pools on disk: time relative to a plain scan, peak memory, growth; for docs/howto/large.md.

    python benchmarks/large.py [--rows 1e6,1e7] [--repeats 3] [--folder DIR]
    python benchmarks/large.py --rows 1e6,3e6,1e7,3e7,1e8 --repeats 2 --plot   # docs/large.svg
    python benchmarks/large.py --quick                                    # a hundred thousand rows

First a synthetic log is written to Parquet, in files of ten million rows: text ids, conversations
of about twelve rows, three numbers and an output. Each task then runs in a process of its own, in
turns with a plain scan: DuckDB reads and aggregates the same columns and writes as many rows. Times
exclude the start of Python, and memory is the peak of the whole process. The ratio is that of the
best times.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _common import arguments as common
from _common import read, table

HERE = Path(__file__).parent
SVG = HERE.parent / "docs" / "large.svg"
FILE_ROWS = 10_000_000
BUDGET = 500
METRICS = ("judge", "chrf", "length")
TASKS = {
    "moments of three metrics": "moments",
    "select in balance (docs-balanced)": "docs-balanced",
    "select with uneven chances (docs-uneven)": "docs-uneven",
    "select by documents (docs-sys)": "docs-sys",
    "select by metric bins (metrics-prop)": "metrics-prop",
    "select at random": "random",
}


def make(folder: Path, rows: int) -> Path:
    """A log with that many rows, always the same."""
    import duckdb

    out = folder / f"log-{rows}"
    out.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as connection:
        for part, first in enumerate(range(0, rows, FILE_ROWS)):
            last = min(first + FILE_ROWS, rows)
            file = out / f"part-{part:03}.parquet"
            if file.exists():
                continue
            # Pseudo-random numbers from that of the row: multiplied, middle digits taken.
            connection.execute(
                f"""COPY (
                    SELECT printf('req-%016x', (i * 11400714819 + 7) % 1000000000039) AS id,
                        printf('conv-%08x', (i * 7919) % {max(rows // 12, 1)}) AS conversation,
                        (hash(i) % 1000003) / 1000003.0 AS judge,
                        round((hash(i + 1) % 10007) / 100.07, 2) AS chrf,
                        (5 + hash(i + 2) % 60)::INTEGER AS length,
                        'the answer to question ' || (i * 31 % 99991) AS output
                    FROM range({first}, {last}) AS t(i)
                ) TO '{file}.part' (FORMAT parquet)"""
            )
            Path(f"{file}.part").rename(file)
    return out


def plain(folder: str, task: str, sheet: str) -> None:
    """The plain scan: read the columns, sum them up, write a sample."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "2GB"})
    source = f"read_parquet('{folder}/*.parquet')"
    parts = ["count(*)"]
    for m in METRICS:
        parts += [f"avg({m})", f"stddev_pop({m})", f"min({m})", f"max({m})"]
    if task == "moments":
        connection.execute(f"SELECT {', '.join(parts)} FROM {source}").fetchall()
        return
    parts += ["sum(length(id))", "sum(length(output))"]
    connection.execute(f"SELECT {', '.join(parts)} FROM {source}").fetchall()
    if task.startswith("docs-"):
        connection.execute(
            f"SELECT count(*) FROM (SELECT conversation, count(*) FROM {source} GROUP BY 1)"
        ).fetchall()
    if task == "metrics-prop":
        connection.execute(
            f"SELECT floor(50 * judge) AS bin, count(*) FROM {source} GROUP BY 1"
        ).fetchall()
    connection.execute(
        f"COPY (SELECT id, conversation, output FROM {source} LIMIT {BUDGET}) TO '{sheet}'"
    )


def ours(folder: str, task: str, sheet: str) -> None:
    from fewgold import registry, sheets
    from fewgold.stored import StoredPool

    columns: dict[str, Any] = {
        "id": "id", "document": "conversation", "metrics": list(METRICS), "texts": ["output"]
    }  # fmt: skip
    if task == "docs-uneven":
        columns["spread"] = "judge:probability"
    with StoredPool(folder, **columns) as pool:
        if task == "moments":
            _ = pool._scan.moments
            return
        strategy = f"{task}+ridge"
        sample = registry.strategy(strategy, pool).select(pool, BUDGET, rng=1)
        sheets.save_sample(
            sample, sheet, strategy=strategy, columns=columns, pool_path=[folder], overwrite=True
        )


def run(who: str, folder: Path, task: str) -> tuple[float, float]:
    """Seconds and peak megabytes of one run in a process of its own."""
    command = [sys.executable, __file__, "--one", who, "--folder", str(folder), "--task", task]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return found["seconds"], found["megabytes"]


def one(who: str, folder: str, task: str) -> None:
    import duckdb  # noqa: F401  (imported before the clock starts, in both)

    import fewgold.registry  # noqa: F401

    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        (ours if who == "fewgold" else plain)(folder, task, f"{out}/sheet.csv")
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak}))


def measure(folder: Path, rows: int, repeats: int) -> list[dict[str, Any]]:
    """One row per task: ratio of times, times, peak memory."""
    log = make(folder, rows)
    found = []
    for name, task in TASKS.items():
        runs: dict[str, list[tuple[float, float]]] = {"plain": [], "fewgold": []}
        for _ in range(repeats):
            for who, took in runs.items():
                took.append(run(who, log, task))
        best = {who: min(t for t, _ in took) for who, took in runs.items()}
        found.append(
            {
                "rows": rows,
                "task": name,
                "ratio": best["fewgold"] / best["plain"],
                "seconds": best["fewgold"],
                "plain": best["plain"],
                "megabytes": max(m for _, m in runs["fewgold"]),
            }
        )
        print(f"{rows:,} rows, {name}: {found[-1]['ratio']:.2f}", file=sys.stderr)
    return found


def plot(found: list[dict[str, Any]], path: Path) -> None:
    """Time by rows, both axes logarithmic, relative to the scan of the fewest rows."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "fewgold"
    figure, axis = plt.subplots(figsize=(6.4, 4))
    unit = found[0]["plain"]
    for name in TASKS:
        own = [f for f in found if f["task"] == name]
        (line,) = axis.plot([f["rows"] for f in own], [f["seconds"] / unit for f in own], "o-")
        line.set_label(name)
    sizes = sorted({f["rows"] for f in found})
    first = min(f["seconds"] for f in found if f["rows"] == sizes[-1]) / unit
    axis.plot(sizes, [first * s / sizes[-1] for s in sizes], ":", color="grey", label="linear")
    axis.set(
        xscale="log", yscale="log", xlabel="rows", ylabel="time (1: a scan of the fewest rows)"
    )
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None}, transparent=True)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--rows", default="1e6,1e7", help="sizes, such as 1e6,1e7,1e8")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="keep the logs there; default: a temporary one")
    parser.add_argument("--plot", action="store_true", help=f"write {SVG.name} of docs")
    parser.add_argument("--one", choices=("plain", "fewgold"), help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    asked = read(arguments(), rows="1e5", repeats=1)
    if asked.one:
        one(asked.one, str(asked.folder), asked.task)
        return
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="fewgold-large-") as temporary:
        for rows in asked.rows.split(","):
            folder = asked.folder or Path(temporary)
            found += measure(folder, int(float(rows)), asked.repeats)
    table(
        ["task", "rows", "time, plain scan = 1", "peak memory, MB"],
        [
            [f["task"], f"{f['rows']:,}", f"{f['ratio']:.2f}", f"{f['megabytes']:.0f}"]
            for f in found
        ],
    )
    if asked.plot:
        plot(found, SVG)


if __name__ == "__main__":
    main()
