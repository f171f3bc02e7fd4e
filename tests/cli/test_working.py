"""Long work shows that it goes on, where somebody is looking."""

import io
import sys
import threading

import pytest

from fewgold.cli.console import progress, working


class Terminal(io.StringIO):
    """A terminal that says when a word appears on it."""

    def __init__(self, word: str) -> None:
        super().__init__()
        self.word, self.seen = word, threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        if self.word in text:
            self.seen.set()
        return count


def test_silent_work_is_shown_and_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal("result"), Terminal("working")
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with working("judge", quiet=False, after=0.02):
        assert err.seen.wait(60)
        print("result")
        assert err.getvalue().endswith("\r\x1b[K")
    assert "fewgold judge is working: " in err.getvalue()
    assert out.getvalue() == "result\n"
    assert sys.stdout is out and sys.stderr is err


def test_it_leaves_other_progress_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal("working")
    monkeypatch.setattr(sys, "stderr", err)
    with working("demo", quiet=False, after=0.01):
        progress("1 of 2", quiet=False)
        assert not err.seen.wait(0.2)
        progress("", quiet=False)
        assert err.seen.wait(60)


def test_quiet_and_pipes_see_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    err = Terminal("working")
    monkeypatch.setattr(sys, "stderr", err)
    with working("judge", quiet=True, after=0.001):
        assert sys.stderr is err
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    piped = sys.stderr
    with working("judge", quiet=False, after=0.001):
        assert sys.stderr is piped
