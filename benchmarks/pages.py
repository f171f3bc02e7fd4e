"""Time of the planning pages, relative to the computation behind them; for docs/speed.md.

    python benchmarks/pages.py

Every question is new, so that nothing comes from a cache. A request goes through the
whole application (guard, routes, computation, template) except the socket. The same
numbers are also computed by direct calls of the library. Shows the processor time of each in ms
(medians) and their ratio, which should stay below 2.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urlencode

import numpy as np
from _common import arguments as common
from _common import read, table

from fewgold.bayes import AlphaPosterior
from fewgold.planning import (
    Goal,
    Outlook,
    Setting,
    best_split,
    detection_power,
    measurable_difference,
    plan,
    ratings_needed,
)
from fewgold.web import create_app
from fewgold.web.plan import GRIDS

APP = create_app()
STUDY: dict[str, Any] = {"alpha": 0.6, "rho": 0.9, "eta": 0.9, "metric": 10_000}


def request(path: str, **sent: Any) -> None:
    """One request to the application."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "path": path, "raw_path": path.encode(), "query_string": urlencode(sent).encode(),
        "root_path": "", "scheme": "http", "headers": [(b"host", b"127.0.0.1")],
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    status: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    loop().run_until_complete(APP(scope, receive, send))
    if status != [200]:
        raise RuntimeError(f"{path} answered {status}.")


def main_numbers(human: int) -> None:
    epsilon = float(measurable_difference(**STUDY, human=human))
    measurable_difference(**STUDY, human=human, power=0.8)
    measurable_difference(alpha=0.6, human=human)
    ratings_needed(epsilon, alpha=0.6)
    detection_power(0.05, **STUDY, human=human)
    posterior = AlphaPosterior(Setting(**STUDY, human=human).expected())
    mean, sd = float(posterior.mean), float(posterior.sd)
    posterior.interval(0.95)
    posterior.pdf(np.linspace(mean - 4.5 * sd, mean + 4.5 * sd, 123))


def needed(metric: int) -> None:
    ratings_needed(0.05, alpha=0.6, power=0.8)
    ratings_needed(0.05, alpha=0.6, rho=0.9, eta=0.9, metric=metric, power=0.8)


def heat_map(human: int) -> None:
    rows = np.array(sorted({*GRIDS["human"], human}))[:, None]
    measurable_difference(**STUDY | {"metric": list(GRIDS["metric"])}, human=rows, power=0.8)


def split(budget: int) -> None:
    best_split(budget, 1.0, 0.02, alpha=0.6, rho=0.9, eta=0.9, power=0.8)


def by_strategy(k: int, **goal: float) -> None:
    plan(
        Goal(**goal),
        Outlook(sd=2 + k / 1000, correlation=0.5, icc=0.15, per_document=14, size=1418),
    )


def timed(what: Callable[[int], None], k: int) -> float:
    start = time.process_time()
    what(k)
    return 1000 * (time.process_time() - start)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--repeats", type=int, default=30)
    return parser


def main() -> None:
    repeats = read(arguments(), repeats=2).repeats
    scores = "/plan/scores/results"
    cases: dict[str, tuple[Callable[[int], None], Callable[[int], None]]] = {
        "binary, main numbers": (
            lambda k: request("/plan/binary/results", human=501 + k),
            lambda k: main_numbers(501 + k),
        ),
        "binary, ratings needed": (
            lambda k: request("/plan/binary/needed", metric=9001 + k),
            lambda k: needed(9001 + k),
        ),
        "binary, heat map": (
            lambda k: request("/plan/binary/map", human=501 + k),
            lambda k: heat_map(501 + k),
        ),
        "binary, budget": (
            lambda k: request("/plan/binary/split", budget=501 + k),
            lambda k: split(501 + k),
        ),
        "scores, half-width": (
            lambda k: request(scores, sd=2 + k / 1000),
            lambda k: by_strategy(k, half_width=0.3),
        ),
        "scores, difference": (
            lambda k: request(scores, sd=2 + k / 1000, goal="difference", wanted=0.5),
            lambda k: by_strategy(k, difference=0.5),
        ),
    }
    rows = []
    for name, (page, bare) in cases.items():
        for once in (page, bare):
            once(-1)  # templates and tables are made once
        pairs = [(timed(page, k), timed(bare, k)) for k in range(repeats)]
        ours, library = np.median(pairs, axis=0)
        rows.append([name, f"{ours:.1f}", f"{library:.1f}", f"{ours / library:.2f}"])
    table(["page", "page, ms", "library, ms", "ratio"], rows)


@cache
def loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


if __name__ == "__main__":
    main()
