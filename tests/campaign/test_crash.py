"""Nothing that was acknowledged is lost: writers are killed at random moments, two at a time."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating
from waiting import until

WRITER = Path(__file__).with_name("writer.py")
MOST = 40


@pytest.mark.parametrize(
    ("least", "answers"), [(2, 100), pytest.param(10, 1000, marks=pytest.mark.slow)]
)
def test_killed_writers_lose_nothing(
    campaign: Campaign, tmp_path: Path, least: int, answers: int
) -> None:
    campaign.select(20)
    path = str(campaign.path)
    campaign.close()
    chance = random.Random(7)
    acknowledged: set[str] = set()
    kills = 0
    while kills < least or len(acknowledged) < answers:
        assert kills < MOST, f"only {len(acknowledged)} answers in {kills} runs"
        logs = [tmp_path / f"{kills}-{k}.log" for k in range(2)]
        writers = []
        for log in logs:
            with open(log, "w") as out:
                command = [sys.executable, str(WRITER), path, log.stem]
                writers.append(subprocess.Popen(command, stdout=out))
        for log, writer in zip(logs, writers, strict=True):
            until(lambda log=log: log.stat().st_size, writer)  # until it has begun
        for writer in chance.sample(writers, 2):
            time.sleep(chance.uniform(0.0, 0.6))
            writer.kill()
            writer.wait()
            kills += 1
        for log in logs:
            text = log.read_text()
            # A line that was cut short was not read by anybody as an acknowledgement.
            acknowledged.update(text[: text.rfind("\n") + 1].split())
    with Campaign(path) as after:
        assert after.store.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        stored = after.answers()["rater"].tolist()
        assert len(stored) == len(set(stored))
        assert acknowledged <= set(stored)
        # At most the one answer that each writer was at work on is there without being announced.
        assert len(set(stored) - acknowledged) <= kills
        assert after.add([Rating(after.sample.ids[0], 1.0, "afterwards")]).stored == 1


def test_two_processes_draw_one_wave_between_them(campaign: Campaign) -> None:
    """Of two that draw at once one fails with a sentence, and no segment is drawn twice."""
    campaign.select(10)
    script = (
        "import sys; from fewgold.campaign import Campaign; from fewgold.errors import DataError\n"
        "c = Campaign(sys.argv[1]); c.pool; print('ready', flush=True); sys.stdin.readline()\n"
        "try:\n    print(c.more(5).number)\n"
        "except DataError as error:\n    print(error)\n"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(campaign.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for one in both:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    said = []
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in both:
        said.append(one.communicate()[0].strip())
    waves = campaign.waves
    assert said.count("2") == 1
    assert "3" in said or any("somebody else drew a wave" in s for s in said)
    drawn = [i for wave in waves for i in wave.ids]
    assert len(drawn) == len(set(drawn)) == 10 + 5 * (len(waves) - 1)


def test_writers_of_a_process_wait_in_line() -> None:
    """First come, first served: nobody is overtaken by those who came later."""
    import threading
    import time

    from fewgold.campaign.database import Line

    line, order = Line(), list[int]()

    def work(number: int) -> None:
        with line:
            order.append(number)

    with line:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(20)]
        for k, thread in enumerate(threads):
            thread.start()
            while len(line._waiting) <= k:  # until it stands in the line
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == list(range(20)) and not line._taken
