"""Real tools in their own environments, and campaigns that go to them and come back."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold.campaign import Campaign, Receipt
from fewgold.cli import app
from fewgold.formats import Tasks, recognise
from fewgold.pool import Pool
from tools.install import place

NASTY = "=1+1 <b>\"bold\"</b> & 'so' $x {{ x }} \u2028 é 日本 😀"
SYSTEMS = ("ant", "bee", "cow")


@dataclass(frozen=True)
class Tool:
    """A tool that is installed."""

    name: str
    folder: Path

    def bin(self, name: str) -> str:
        """One of its commands."""
        return str(self.folder / "bin" / name)

    def run(self, *words: str | Path, cwd: Path, **environment: str) -> str:
        """What a command prints; it must succeed."""
        done = subprocess.run(
            [self.bin(str(words[0])), *map(str, words[1:])], cwd=cwd, timeout=300, check=False,
            env=clean(cwd) | environment, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout


def clean(home: Path) -> dict[str, str]:
    """Variables that make a tool write to one folder only, and send nothing over the network."""
    return {
        "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(home), "NO_PROXY": "127.0.0.1",
        "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip


@pytest.fixture
def tool(request: pytest.FixtureRequest) -> Tool:
    """The tool that the test module names as ``TOOL``; skipped where it is not installed."""
    return installed(request.module.TOOL)


def installed(name: str) -> Tool:
    """A tool, or a skip where it is not installed."""
    folder = place(name)
    if not (folder / ".ready").is_file():
        pytest.skip(f"{name} is not installed: make tools")
    return Tool(name, folder)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(
    words: list[str], url: str, cwd: Path, seconds: float = 240, **environment: str
) -> Iterator[None]:
    """A server that runs as long as the block, once it answers at ``url``."""
    log = cwd / "server.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            words, cwd=cwd, env=clean(cwd) | environment, stdout=out, stderr=out,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:
        end = time.monotonic() + seconds
        while True:
            try:
                with opened(url, timeout=5):
                    break
            except (OSError, urllib.error.URLError):
                told = log.read_text(errors="replace")[-3000:]
                assert process.poll() is None, f"it stopped by itself:\n{told}"
                assert time.monotonic() < end, f"no answer within {seconds:g} s:\n{told}"
                time.sleep(0.2)
        yield
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, sign)
                process.wait(20)


#: Straight to the server, whatever proxy the machine has.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def opened(url: str | urllib.request.Request, timeout: float = 60) -> Any:
    return _DIRECT.open(url, timeout=timeout)


def called(url: str, body: Any = None, method: str | None = None, **headers: str) -> Any:
    """The answer of an API: JSON if it is JSON, else bytes."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    wanted = urllib.request.Request(url, data, method=method)
    for name, value in {"content-type": "application/json", **headers}.items():
        wanted.add_header(name, value)
    try:
        with opened(wanted) as answer:
            raw, kind = answer.read(), answer.headers.get_content_type()
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{url}: {error.code} {error.read()[:2000]!r}") from None
    return json.loads(raw) if kind == "application/json" and raw else raw


def command(*words: str | Path, codes: tuple[int, ...] = (0,)) -> str:
    """What a command of ours prints."""
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code in codes, done.output
    return done.stdout


def estimated(log: Path, folder: Path, *options: str) -> pd.DataFrame:
    """A log on its way from the doctor to an estimate; the rated sheet, which is ``sheet.csv``."""
    command("doctor", log)
    sheet = folder / "sheet.csv"
    command(
        "select", log, "--budget", "8", "--strategy", "random", "--seed", "1",
        "-o", sheet, "-q", *options,
    )  # fmt: skip
    table = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    scores = [k % 5 + 1 for k in range(len(table))]
    table["score"] = list(map(str, scores))
    table.to_csv(sheet, index=False)
    told = json.loads(command("estimate", sheet, "--json", "-q"))
    assert told["n"] == len(scores) == 8 and told["se"] > 0
    assert told["value"] == pytest.approx(np.mean(scores))
    return table


# Campaigns ----------------------------------------------------------------------------------------

KINDS = ("one system", "three systems", "pairs")


@dataclass
class Study:
    """A campaign, its exported tasks, and the opinions of its raters."""

    kind: str
    campaign: Campaign
    tasks: Tasks
    file: Path

    @property
    def opinions(self) -> dict[str, float]:
        """What a rater says of each segment, by its key."""
        low, high = self.tasks.limits or (0, 100)
        span = int(high - low)
        keys = [s.key for s in self.tasks.to_rate]
        return {k: low + (i * 7 + 3) % (span + 1) for i, k in enumerate(keys)}

    def check(self, path: Path, raters: int = 1, format: str | None = None) -> Receipt:
        """All answers come back from what the tool exports, each once and to the right segment."""
        if format is not None:
            found = recognise(path)
            assert found is not None and found.name == format
        receipt = self.campaign.import_file(path)
        assert not receipt.rejected and not receipt.set_aside and not receipt.blank, receipt
        wanted = self.opinions
        assert receipt.stored == raters * len(wanted), receipt
        back = self.campaign.store.rated()
        assert len(back) == raters * len(wanted)
        keys = {s.key for s in self.tasks.to_rate}
        assert {r.segment for r in back} == keys
        assert {(r.segment, r.score) for r in back} == set(wanted.items())
        assert len({r.rater for r in back}) == raters and all(r.rater for r in back)
        assert self.campaign.import_file(path).stored == 0  # recognised when it is imported again
        if self.kind == "three systems":
            ranked = self.campaign.compare()
            assert sorted(ranked.ranking()["system"]) == sorted(SYSTEMS)
        else:
            estimate = self.campaign.estimate()
            assert estimate.n == len(wanted) and np.isfinite(estimate.value)
        return receipt


def pool(kind: str) -> tuple[Pool, np.ndarray | None]:
    """Twelve segments of four documents, with texts that are hard to carry."""
    rng = np.random.default_rng(5)
    count = 12
    segments = np.array([f"seg-{i}" for i in range(count)])
    source = np.array([f"Quelle {i} {NASTY}" for i in range(count)])
    documents = np.array([f"doc{i // 3}" for i in range(count)])
    if kind == "pairs":
        texts = {
            "source": source, "ours": np.array([f"first {i} {NASTY}" for i in range(count)]),
            "theirs": np.array([f"second {i}\nline {NASTY}" for i in range(count)]),
        }  # fmt: skip
        return Pool(ids=segments, metrics={"judge": rng.normal(size=count)}, texts=texts), None
    many = SYSTEMS if kind == "three systems" else ("",)
    output = np.array([f"output {i}\n{NASTY}" for i in rng.permutation(count * len(many))])
    system = np.repeat(many, count)
    made = Pool(
        ids=np.array([f"{s}:{i}" if s else i for s in many for i in segments]),
        metrics={"judge": rng.normal(size=system.size)},
        texts={"source": np.tile(source, len(many)), "output": output},
        documents=np.tile(documents, len(many)),
        system=system if len(many) > 1 else None,
    )  # fmt: skip
    return made, np.tile(segments, len(many)) if len(many) > 1 else None


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def study(kind: str, tmp_path: Path) -> Iterator[Callable[..., Study]]:
    """Begins a campaign, draws segments, and writes the tasks for a tool."""
    begun = []

    def begin(format: str, name: str, **options: Any) -> Study:
        from fewgold import formats

        made, segments = pool(kind)
        if kind == "pairs":
            options |= {"sides": ("ours", "theirs"), "limits": None}
            options.pop("higher_is_better", None)
        else:
            options = {"limits": (0, 100), "higher_is_better": True} | options
        folder = tmp_path / f"study-{len(begun)}"
        told = "## Read\n\nRead **all** of it."
        campaign = Campaign.create(
            folder, made, segments=segments, seed=7, strategy="random", name="A study: 1 < 2",
            instructions=told, **options,
        )  # fmt: skip
        begun.append(campaign)
        campaign.select(6)
        tasks = campaign.tasks("all")
        path = tmp_path / name
        formats.get(format).write_tasks(tasks, path)
        return Study(kind, campaign, tasks, path)

    yield begin
    for campaign in begun:
        campaign.close()
