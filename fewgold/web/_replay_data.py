"""Tables to compare and to simulate on: two embedded ones, and those that the owner uploads.

An uploaded table lives in memory until it was not used for a while, or newer ones take its place.
"""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

from fewgold.errors import FewgoldError
from fewgold.web._replay_upload import uploaded

if TYPE_CHECKING:
    import pandas as pd

DEMOS = {
    "demo-ende": "Embedded: English to German, 5 systems, 1418 segments, 6 raters (synthetic)",
    "demo-zhen": "Embedded: Chinese to English, 5 systems, 2000 segments, 6 raters (synthetic)",
}
_MOST_TABLES = 4
_SECONDS = 6 * 3600.0


class NoTable(FewgoldError):
    """The address names no table, or one that is not kept any more."""


@dataclass(eq=False)
class Data:
    """A table and what to call it."""

    key: str
    name: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()  # what is odd about the file
    used: float = field(default_factory=time.monotonic)
    guessed: Any = None  # what the columns are, worked out once

    @property
    def demo(self) -> str | None:
        """``ende`` or ``zhen`` for the embedded sets."""
        return self.key.removeprefix("demo-") if self.key in DEMOS else None

    @property
    def short(self) -> str:
        """What to call it where there is little room."""
        return self.key if self.demo else self.name

    @cached_property
    def columns(self) -> list[str]:
        return [str(c) for c in self.frame.columns]

    @property
    def file(self) -> str:
        """The file that the command line would read."""
        return f"{self.key}.csv" if self.demo else self.name


class Tables:
    """The tables of this server, by a key that cannot be guessed."""

    def __init__(self) -> None:
        self._known: dict[str, Data] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> Data:
        """The table of that key."""
        with self._lock:
            self._forget()
            found = self._known.get(key)
            if found is None and key in DEMOS:
                from fewgold.datasets import demo_frame

                found = Data(key, DEMOS[key], demo_frame(key.removeprefix("demo-")))
                self._known[key] = found
            if not key:
                raise NoTable("no table is chosen yet.")
            if found is None:
                raise NoTable(
                    "this table is not here any more: the server keeps the last "
                    f"{_MOST_TABLES} uploads for some hours. Upload it again."
                )
            found.used = time.monotonic()
            return found

    def uploads(self) -> list[Data]:
        """What was uploaded, the latest first."""
        with self._lock:
            self._forget()
            return [d for d in self._known.values() if d.demo is None][::-1]

    def add(self, name: str, content: IO[bytes]) -> Data:
        """Read an upload and keep it in the place of the oldest one."""
        found = uploaded(name, content)
        data = Data(secrets.token_urlsafe(12), found.name, found.frame, found.notes)
        with self._lock:
            mine = [k for k, d in self._known.items() if d.demo is None]
            for old in mine[: max(len(mine) - _MOST_TABLES + 1, 0)]:
                del self._known[old]
            self._known[data.key] = data
        return data

    def remove(self, key: str) -> None:
        """Forget an upload now."""
        with self._lock:
            self._known.pop(key, None)

    def _forget(self) -> None:
        late = time.monotonic() - _SECONDS
        for key in [k for k, d in self._known.items() if d.used < late]:
            del self._known[key]
