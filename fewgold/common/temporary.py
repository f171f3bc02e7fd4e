"""Temporary files and folders, whose removal is arranged before they are created.

A signal may come between any two steps. A file that is created first and guarded afterwards could
be left behind.
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

#: Signals that ask a process to end: one by whoever started it, one as its terminal closes.
ENDING = tuple(s for s in signal.Signals if s.name in ("SIGTERM", "SIGHUP"))


class Temporary:
    """A name that nothing has. What is made there goes when this is left or forgotten, and when
    Python ends.
    """

    def __init__(self, folder: Path, prefix: str) -> None:
        self.path = folder / f"{prefix}{secrets.token_urlsafe(6)}"
        self._end = weakref.finalize(self, _remove, self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove what is there. Doing so twice does no harm."""
        with unbroken():
            self._end()


class TemporaryFolder(Temporary):
    """A folder for as long as it is needed.

    Examples
    --------
    >>> with TemporaryFolder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """

    def __init__(self, parent: str | Path | None = None, prefix: str = "fewgold-") -> None:
        with unbroken():  # Python makes a file to find out where folders go, and removes it
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
    """Steps between which no signal raises: Ctrl-C and the like wait until they are done."""
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
            if handler is not None:  # else it is not Python's
                signal.signal(which, handler)
        for got in noted[:1]:
            signal.raise_signal(got)
