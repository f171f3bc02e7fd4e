"""A signal between any two steps leaves nothing behind."""

from __future__ import annotations

import gc
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest

from fewgold.campaign import database as _database
from fewgold.common.temporary import TemporaryFolder, unbroken
from fewgold.io import write_texts
from fewgold.stored import DuckDB

# Whose steps are interrupted; what they call otherwise is a part of a step.
OURS = {"temporary.py", "tempfile.py", "files.py", "database.py", "engine.py"}


class Ended(BaseException):
    """What the handler raises."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder, also for what is temporary; SIGTERM raises."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def end(*_: object) -> None:
        raise Ended

    before = signal.signal(signal.SIGTERM, end)
    gc.freeze()  # else each look for garbage is one through all that was imported
    yield tmp_path
    gc.unfreeze()
    signal.signal(signal.SIGTERM, before)
    tempfile.tempdir = None


def interrupted(work: Callable[[], Any], kind: str, step: int) -> bool:
    """Do some work with a signal at that line or opcode of it; False if it has fewer."""
    left = step

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if Path(frame.f_code.co_filename).name not in OURS:
            return None
        frame.f_trace_opcodes = kind == "opcode"
        if event == kind:
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGTERM)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Ended:
        pass
    finally:
        sys.settrace(before)
    return left <= 0


def folder(place: Path) -> None:
    tempfile.tempdir = None  # as in a new process, which looks for a place first
    with TemporaryFolder() as made:
        (made / "file").write_text("x")


def files(place: Path) -> None:
    write_texts({place / "a.txt": "a", place / "b.txt": b"b"})


def campaign(place: Path) -> None:
    _database.create(place / "study" / "c.fewgold", lambda database: None)


def without_links(place: Path) -> None:
    """As a campaign gets its place on a file system that has no links."""
    with TemporaryFolder(place) as made, patch("os.link", side_effect=OSError):
        (made / "a.txt").write_text("a")
        _database._place(made / "a.txt", place / "a.txt")


def engine(place: Path) -> None:
    DuckDB(folder=place, threads=1).close()


# A file that was open at that step is closed as it is forgotten, which Python tells.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("work", "kind"),
    [
        pytest.param(folder, "opcode", marks=pytest.mark.slow),
        (folder, "line"),
        (files, "line"),
        (campaign, "line"),
        (without_links, "line"),
        (engine, "line"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_signal_at_any_step_leaves_nothing_behind(place: Path, work: Any, kind: str) -> None:
    wanted = {place / "a.txt", place / "b.txt", place / "study", place / "study" / "c.fewgold"}
    step = 1
    while interrupted(lambda: work(place), kind, step):
        gc.collect()
        found = set(place.rglob("*"))
        assert found <= wanted, f"left behind at step {step}"
        for path in sorted(found, reverse=True):  # what was asked for is there, whole
            if path.is_dir():
                path.rmdir()
            else:
                assert path.stat().st_size > 0, f"broken at step {step}"
                path.unlink()
        step += 1
    assert step > 20


def test_signals_wait_for_steps_that_belong_together(place: Path) -> None:
    done = []
    with pytest.raises(Ended):  # noqa: SIM117
        with unbroken():
            signal.raise_signal(signal.SIGTERM)
            done.append("after")
    assert done == ["after"]
    with pytest.raises(Ended):
        signal.raise_signal(signal.SIGTERM)
