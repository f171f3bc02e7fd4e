"""What can go wrong with the file of a campaign, said in a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fewgold.errors import DataError, FewgoldError

_SAID = {
    "locked": "another program has been writing to the campaign for too long. Try again when it "
    "has ended",
    "readonly": "the campaign cannot be written to: its file or folder is read-only. Copy it to a "
    "folder of yours",
    "full": "the campaign cannot be written to: there is no room left on the disk. Nothing of this "
    "was stored; make room and try again",
    "disk i/o": "the campaign cannot be read or written: the disk failed or is full. Nothing of "
    "this was stored; make room and try again",
    "unable to open": "the campaign cannot be opened: its file or folder may not be read or "
    "written. Copy it to a folder of yours",
}


def sentence(error: Exception) -> DataError:
    """An error of SQLite as one that people can act on."""
    told = str(error)
    for part, said in _SAID.items():
        if part in told.lower() and isinstance(error, sqlite3.OperationalError):
            return DataError(f"{said} ({told}).")
    return damaged(told)


def damaged(why: str) -> DataError:
    """The file does not hold what it must."""
    return DataError(
        f"the campaign's file is damaged ({' '.join(why.split())[:120]}). Take a copy from before."
    )


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn what cannot be made sense of while reading a part of the file into a sentence."""
    try:
        yield
    except FewgoldError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as e:
        raise damaged(f"{what}: {type(e).__name__} {e}") from None


class Cursor(sqlite3.Cursor):
    """A cursor whose errors are sentences."""

    def execute(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        with _sentences():
            super().execute(*args)
        return self

    def executemany(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        with _sentences():
            super().executemany(*args)
        return self

    def fetchone(self) -> Any:
        """As in sqlite3."""
        with _sentences():
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        """As in sqlite3."""
        with _sentences():
            return super().fetchall()

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise sentence(error) from None


class Connection(sqlite3.Connection):
    """A connection whose errors are sentences."""

    def execute(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).execute(*args)

    def executemany(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).executemany(*args)


@contextmanager
def _sentences() -> Iterator[None]:
    try:
        yield
    except sqlite3.ProgrammingError:  # a mistake of ours
        raise
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise sentence(error) from None
