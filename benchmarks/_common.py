"""What the benchmarks share: options, Markdown tables, and the error if real data are missing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter

from fewgold.datasets import data_folder

NO_DATA = 3  # the exit code, as that of the command line for data that cannot be read


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """A parser with ``--quick``; its help is the docstring of the script."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="run in seconds instead of minutes; the figures then mean little",
    )
    return parser


def read(
    parser: argparse.ArgumentParser, argv: Sequence[str] | None = None, **quick: object
) -> argparse.Namespace:
    """Parse the command line; with ``--quick`` the options take the values given here."""
    options = parser.parse_args(argv)
    if options.quick:
        for name, value in quick.items():
            setattr(options, name, value)
    return options


def need(*names: str) -> None:
    """End with an error and exit code 3 if a real data set is missing."""
    folder = data_folder()
    missing = [n for n in names if folder is None or not (folder / f"{n}.csv.gz").is_file()]
    if missing:
        print(
            f"This needs real ratings ({', '.join(missing)}), which are public but not part of "
            "fewgold. docs/evidence.md, section “The real data”, says where they are from; set "
            "FEWGOLD_DATA to the folder that holds them.",
            file=sys.stderr,
        )
        raise SystemExit(NO_DATA)


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], left: int = 1) -> None:
    """Print a Markdown table; all but the first ``left`` columns are aligned right."""
    body = [[str(cell) for cell in row] for row in rows]
    lines = [list(heads), *body]
    widths = [max(3, *(len(line[k]) for line in lines)) for k in range(len(heads))]
    rule = ["-" * w if k < left else "-" * (w - 1) + ":" for k, w in enumerate(widths)]
    for line in (lines[0], rule, *body):
        cells = (
            cell.ljust(w) if k < left else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        print("| " + " | ".join(cells) + " |")
    print(flush=True)


def best_of(times: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs, which is least disturbed by other programs."""
    taken = []
    for _ in range(times):
        start = perf_counter()
        work()
        taken.append(perf_counter() - start)
    return min(taken)
