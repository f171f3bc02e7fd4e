"""Temporary files and folders, whose removal is arranged before they are created.

A signal may arrive between any two steps, so a file created first and registered for removal
afterwards could be left behind.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Signals that ask a process to end: from its parent, or because the terminal closed.
ENDING = tuple(s for s in signal.Signals if s.name in ("SIGTERM", "SIGHUP"))


class Temporary:
    """An unused path; whatever is created there is removed on exit."""

    def __init__(self, folder: Path, prefix: str) -> None:
        self.path = folder / f"{prefix}{secrets.token_urlsafe(6)}"
        self._end = weakref.finalize(self, _remove, self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove whatever exists at the path. Calling it twice is harmless."""
        with unbroken():
            self._end()


class TemporaryFolder(Temporary):
    """A folder that exists as long as it is needed.

    Examples
    --------
    >>> with TemporaryFolder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """

    def __init__(self, parent: str | Path | None = None, prefix: str = "fewgold-") -> None:
        with unbroken():  # Python creates and removes a file to find the folder for temporary files
            folder = Path(parent or tempfile.gettempdir())
        super().__init__(folder, prefix)
        self.path.mkdir(mode=0o700)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def unbroken() -> Iterator[None]:
    """Run a block without interruption: Ctrl-C and other signals wait until it is done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals raise in the main thread only
        return
    noted: list[int] = []
    before = {which: signal.getsignal(which) for which in (signal.SIGINT, *ENDING)}
    try:
        for which, handler in before.items():
            if callable(handler) or handler is signal.SIG_DFL:  # ignored ones stay ignored
                signal.signal(which, lambda got, _: noted.append(got))
        yield
    finally:
        for which, handler in before.items():
            if handler is not None:  # None: not set from Python
                signal.signal(which, handler)
        for got in noted[:1]:
            signal.raise_signal(got)
