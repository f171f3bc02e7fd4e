"""Twenty raters at once: every answer is stored, and stored once."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from fewgold.campaign import Campaign
from fewgold.pool import Pool
from waiting import PATIENCE
from web.e2e.live import Server

RATERS = 20
MANY = pytest.mark.parametrize("ratings", [200, pytest.param(1000, marks=pytest.mark.slow)])


def hidden(page: str, name: str) -> str:
    """The value of a field in a form."""
    for tag in re.findall(r"<input[^>]*>", page):
        if f'name="{name}"' in tag:
            return unescape(re.search(r'value="([^"]*)"', tag)[1])
    raise AssertionError(f"no field {name} in {page}")


@dataclass
class Rater:
    """Somebody who answers as fast as the server does, and presses twice now and then."""

    number: int
    secret: str
    port: int
    told: dict[str, float] = field(default_factory=dict)
    codes: Counter[int] = field(default_factory=Counter)

    def work(self, count: int) -> None:
        wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        page = self.ask(wire, "GET")
        for k in range(count):
            key, score = hidden(page, "segment"), float((7 * k + self.number) % 101)
            form = {"segment": key, "form": hidden(page, "form"), "score": f"{score:g}"}
            page = self.ask(wire, "POST", form)
            assert key not in self.told
            self.told[key] = score  # acknowledged
            if k % 10 == 0:
                page = self.ask(wire, "POST", form)
        wire.close()

    def ask(
        self, wire: http.client.HTTPConnection, method: str, form: dict[str, str] | None = None
    ) -> str:
        headers = {
            "Origin": f"http://127.0.0.1:{self.port}",
            "Content-Type": "application/x-www-form-urlencoded",
            "HX-Request": "true",
        }
        wire.request(method, f"/rate/{self.secret}", urlencode(form or {}), headers)
        answer = wire.getresponse()
        text = answer.read().decode()
        self.codes[answer.status] += 1
        assert answer.status == 200, text
        return text


SYSTEMS = 5
CROWD = 50


def begun_of_systems(path: Path, ratings: int) -> list[str]:
    """A campaign of five systems on the same segments; the secrets of its fifty raters."""
    size = ratings // SYSTEMS + 2 * CROWD
    rng = np.random.default_rng(2)
    segments = np.tile([f"{k:05d}" for k in range(size)], SYSTEMS)
    systems = np.repeat([f"system {k}" for k in range(SYSTEMS)], size)
    pool = Pool(
        ids=np.array([f"{a}:{b}" for a, b in zip(systems, segments, strict=True)]),
        system=systems,
        metrics={"comet": rng.normal(size=size * SYSTEMS)},
        documents=np.array([f"doc{int(k) // 8}" for k in segments]),
        texts={"output": np.array([f"Output {k}" for k in range(size * SYSTEMS)])},
    )
    with Campaign.create(path, pool, seed=1, limits=(0, 100), segments=segments) as made:
        made.select(ratings // SYSTEMS + CROWD)  # each has a segment before them at the end
        return [made.desk.add_rater(f"rater {k}") for k in range(CROWD)]


def memory_of(process: int) -> float:
    """Megabytes that a process has in memory, 0 where that cannot be told."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0.0
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
    return int(found[1]) / 1024 if found else 0.0


@pytest.mark.parametrize("ratings", [250, pytest.param(5000, marks=pytest.mark.slow)])
def test_fifty_raters_of_five_systems(tmp_path: Path, ratings: int) -> None:
    """Every rating is stored once, nothing fails, and memory does not grow with the ratings."""
    path = tmp_path / "study"
    secrets = begun_of_systems(path, ratings)
    parts = 2 if ratings >= 5000 else 1
    used = []
    with Server(path) as server:
        raters = [Rater(k, secret, server.port) for k, secret in enumerate(secrets)]
        began = time.perf_counter()
        for _ in range(parts):
            with ThreadPoolExecutor(CROWD) as crowd:
                count = ratings // CROWD // parts
                for done in [crowd.submit(r.work, count) for r in raters]:
                    done.result()
            used.append(memory_of(server.process.pid))
        seconds = time.perf_counter() - began
    codes = sum((r.codes for r in raters), Counter())
    print(
        f"{ratings} ratings in {seconds:.1f} s: {ratings / seconds:.0f} a second; {dict(codes)}; "
        f"memory {', '.join(f'{mb:.0f}' for mb in used)} MB"
    )
    assert set(codes) == {200}
    if parts == 2:  # the second half takes no more room than caches do
        assert used[1] < 1.1 * used[0] + 10
    with Campaign(path) as campaign:
        stored = campaign.store.rated()
        assert len(stored) == len({r.segment for r in stored}) == ratings
        assert {(r.rater, r.segment): r.score for r in stored} == {
            (f"rater {r.number}", key): score for r in raters for key, score in r.told.items()
        }
        # All five outputs of a segment were given to one rater, but where somebody was in between.
        answers = campaign.answers()
        label = answers["segment"].str.split(":").str[1]
        people = answers.groupby(label)["rater"].nunique()
        assert (people == 1).mean() > 0.9
        found = campaign.compare("at-random")
        assert found.facts["n"] >= ratings // SYSTEMS
    assert not any("Traceback" in line for line in server.errors)


def begun(path: Path, ratings: int) -> list[str]:
    """A campaign in which so many are to be rated; the secrets of its raters."""
    size = ratings + 200
    rng = np.random.default_rng(2)
    pool = Pool(
        ids=np.array([f"seg{k}" for k in range(size)]),
        metrics={"comet": rng.normal(size=size)},
        documents=np.array([f"doc{k // 8}" for k in range(size)]),
        texts={"output": np.array([f"Output {k}" for k in range(size)])},
    )
    with Campaign.create(path, pool, seed=1, limits=(0, 100)) as made:
        made.select(ratings + RATERS)  # each is shown one more at the end
        return [made.desk.add_rater(f"rater {k}") for k in range(RATERS)]


@MANY
def test_twenty_raters_at_once(tmp_path: Path, ratings: int) -> None:
    path = tmp_path / "study"
    secrets = begun(path, ratings)
    with Server(path) as server:
        raters = [Rater(k, secret, server.port) for k, secret in enumerate(secrets)]
        began = time.perf_counter()
        with ThreadPoolExecutor(RATERS) as crowd:
            for done in [crowd.submit(r.work, ratings // RATERS) for r in raters]:
                done.result()
        seconds = time.perf_counter() - began
    codes = sum((r.codes for r in raters), Counter())
    print(f"{ratings} ratings in {seconds:.1f} s: {ratings / seconds:.0f} a second; {dict(codes)}")
    assert codes == {200: ratings * 11 // 10 + RATERS}

    with Campaign(path) as campaign:
        stored = campaign.store.rated()
        assert len(stored) == ratings
        assert len({r.segment for r in stored}) == ratings  # one rater was wanted for each
        assert {(r.rater, r.segment): r.score for r in stored} == {
            (f"rater {r.number}", key): score for r in raters for key, score in r.told.items()
        }
        assert len(campaign.unrated) == RATERS
    assert not any("Traceback" in line for line in server.errors)


def test_others_may_look_while_it_is_served(tmp_path: Path) -> None:
    """A process that opens the campaign and closes it takes nothing away from the server."""
    path = tmp_path / "study"
    secrets = begun(path, 20)
    look = f"from fewgold.campaign import Campaign as C\nwith C({str(path)!r}) as c: print(len(c.store.rated()))"  # noqa: E501
    with Server(path) as server:
        rater = Rater(0, secrets[0], server.port)
        rater.work(2)
        told = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True)
        assert int(told.stdout) == 2
        rater.work(2)
    with Campaign(path) as campaign:
        assert len(campaign.store.rated()) == 4
