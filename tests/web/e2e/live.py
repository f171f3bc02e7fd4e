"""A server in a process of its own, campaigns to serve, and the browser."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from fewgold.pool import Pool
from waiting import PATIENCE

TOKEN = "owner-token-of-the-tests"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]

SCRIPT = "<script>alert('x')</script>"
IMAGE = '<img src=x onerror="alert(1)">'
LINK = '<a href="javascript:alert(2)">click</a>'
TEMPLATE = "{{ 7*7 }}{% raw %}${7*7}"
#: What somebody who wishes us ill writes wherever text can be written.
ATTACKS = (
    SCRIPT,
    IMAGE,
    LINK,
    TEMPLATE,
    "\"' onmouseover=alert(3) x='",
    "</textarea></title></style>" + SCRIPT,
    "javascript:alert(4)",
    "../../etc/passwd",
    "x\r\nSet-Cookie: stolen=1",
    '"><svg/onload=alert(5)>',
)


def chromium() -> str | None:
    """Where the browser is, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if (found := shutil.which(name))), None)


def small_pool(n: int = 240) -> tuple[Pool, dict[str, float]]:
    """A pool with texts, documents and two metrics, and what people would say."""
    rng = np.random.default_rng(5)
    comet = rng.normal(size=n)
    human = np.clip(np.round(70 + 15 * comet + rng.normal(0, 8, n)), 0, 100)
    ids = [f"seg{k:04d}" for k in range(n)]
    pool = Pool(
        ids=np.array(ids),
        metrics={"comet": comet, "chrf": 50 + 10 * comet + rng.normal(0, 8, n)},
        documents=np.array([f"doc{k // 6:02d}" for k in range(n)]),
        texts={
            "source": np.array([f"Quelle {k}: das Haus ist groß." for k in range(n)]),
            "output": np.array([f"Output {k}: the house is big." for k in range(n)]),
        },
    )
    return pool, dict(zip(ids, human.tolist(), strict=True))


def campaign(
    path: Path, *raters: str, budget: int = 60, rated: int = 0, **settings: Any
) -> dict[str, str]:
    """Begin one with that many segments to rate, some of them rated; the raters' secrets."""
    pool, human = small_pool()
    with Campaign.create(path, pool, seed=3, **{"limits": (0, 100), **settings}) as made:
        made.select(budget)
        for k in range(rated):
            given = made.next(f"early{k % 2}")
            assert given is not None
            made.add([Rating(given.id, human[given.id], f"early{k % 2}")])
        return {name: made.desk.add_rater(name) for name in raters}


def hostile(path: Path, rated: int = 24) -> str:
    """A campaign in which every text is an attack; the secret of its rater."""
    n = 80
    rng = np.random.default_rng(1)
    comet = rng.normal(size=n)
    evil = [ATTACKS[k % len(ATTACKS)] for k in range(n)]
    pool = Pool(
        ids=np.array([f"{e} {k}" for k, e in enumerate(evil)]),
        metrics={f"comet{SCRIPT}": comet, "chrf": comet + rng.normal(size=n)},
        documents=np.array([f"{ATTACKS[(k // 4) % len(ATTACKS)]} d{k // 4}" for k in range(n)]),
        texts={"source": np.array(evil), f"output{IMAGE}": np.array(evil[::-1])},
    )
    name = f"{SCRIPT} 評価 \"' {TEMPLATE}"
    with Campaign.create(
        path, pool, name=name, seed=3, limits=(0, 100), question=f"How good? {IMAGE} {SCRIPT}",
        shown=("metrics", "estimate"),
    ) as made:  # fmt: skip
        made.select(48)
        for k in range(rated):
            who = f"{(SCRIPT, IMAGE)[k % 2]} rater"
            given = made.next(who)
            assert given is not None
            note = {"comment": ATTACKS[k % len(ATTACKS)]}
            made.add([Rating(given.id, float(50 + 7 * (k % 6)), who, details=note)])
        return made.desk.add_rater(f"{IMAGE} {TEMPLATE}")


@dataclass
class Server:
    """``fewgold serve`` in a process of its own, on one port for its whole life."""

    path: Path | None = None
    options: tuple[str, ...] = ()
    port: int = 0
    errors: list[str] = field(default_factory=list)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def owner(self) -> str:
        return f"{self.origin}/?token={TOKEN}"

    def start(self) -> None:
        """Start and wait until it listens."""
        where = [] if self.path is None else [str(self.path)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fewgold", "serve", *where, "--port", str(self.port),
             *self.options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "FEWGOLD_TOKEN": TOKEN, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert self.process.stdout is not None
        told = self.process.stdout.readline()
        assert told, self.process.stderr.read() if self.process.stderr else ""
        self.port = int(told.partition("/?token=")[0].rpartition(":")[2])
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.errors.extend(self.process.stderr)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code
