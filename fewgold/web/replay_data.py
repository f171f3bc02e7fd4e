"""Tables to compare and simulate on: two embedded ones, and the owner's uploads.

An upload stays in memory until it has not been used for a while or newer ones replace it.
"""

from __future__ import annotations

import gzip
import secrets
import threading
import time
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fewgold import formats, io
from fewgold.errors import DataError, FewgoldError
from fewgold.web.files import received

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.web.forms import Fields

# An upload is written to a temporary file, read, and removed at once, so nothing is left behind
# however the server ends. It is refused if it is too large.

SUFFIXES = tuple(io.SUFFIXES)
MOST_ROWS = 200_000
MOST_COLUMNS = 1_000
_MOST_LINES = 2_000_000  # in a text file; texts may have line breaks
MOST_BYTES = 500_000_000  # limit for an unpacked Parquet file


def read_bounded(path: Path, shown: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table in a file, if it is not too large, with plain cells, and notes about it."""
    with path.open("rb") as file:
        head = file.read(4)
    if head[:2] == b"\x1f\x8b":
        _unpack(path, shown)
        with path.open("rb") as file:
            head = file.read(4)
    if head == b"PAR1":
        _check_parquet(path, shown)
    elif head != b"PK\x03\x04":
        with path.open("rb") as file:
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        if lines > _MOST_LINES:
            raise _too_long(f"{lines} lines")
    rated = formats.rated_table(path)
    if rated is None:
        table = io.read_file(path, shown=shown)
        frame, notes = table.frame(), table.notes
    else:
        frame, notes = rated.frame, rated.notes
    if len(frame) > MOST_ROWS:
        raise _too_long(f"{len(frame)} rows")
    if len(frame.columns) > MOST_COLUMNS:
        raise DataError(
            f"the table has {len(frame.columns)} columns; {MOST_COLUMNS} at most. Leave some out."
        )
    return _flat(frame), tuple(note.rstrip(".") for note in notes)


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn lists and objects in cells, which JSON and Parquet allow, into text."""
    from pandas.api.types import is_scalar

    nested = {
        name: [v if is_scalar(v) else str(v) for v in frame[name].tolist()]
        for name in frame.columns
        if frame[name].dtype == object and not all(map(is_scalar, frame[name].tolist()))
    }
    return frame.assign(**nested)


def _unpack(path: Path, shown: str) -> None:
    """Unpack a gzip file in its place, and stop before it fills the disk or the memory."""
    plain = path.with_name("unpacked")
    size = 0
    try:
        with gzip.open(path, "rb") as packed, plain.open("wb") as file:
            while block := packed.read(1 << 20):
                size += len(block)
                if size > MOST_BYTES:
                    raise DataError(
                        f"{shown!r} unpacks to more than {MOST_BYTES // 1_000_000} MB. Leave out "
                        "columns that are not needed, such as texts."
                    )
                file.write(block)
    except (OSError, EOFError, zlib.error) as error:
        raise io.TableError(
            shown,
            "damaged-gzip",
            f"the gzip file is damaged or incomplete: {error}",
            "Upload it again.",
        ) from None
    plain.replace(path)


def _check_parquet(path: Path, shown: str) -> None:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        return  # the reader says what to install
    try:
        with ParquetFile(path) as file:
            meta = file.metadata
            size = sum(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
    except (ArrowException, OSError) as error:
        raise DataError(f"cannot read {shown!r} as Parquet: {error}.") from None
    if meta.num_rows > MOST_ROWS:
        raise _too_long(f"{meta.num_rows} rows")
    if size > MOST_BYTES:
        raise DataError(
            f"the table unpacks to {size // 1_000_000} MB; {MOST_BYTES // 1_000_000} MB at most. "
            "Leave out columns that are not needed, such as texts."
        )


def _too_long(what: str) -> DataError:
    return DataError(
        f"the table has {what}; the limit is {MOST_ROWS} rows. For larger tables use the command "
        "line: fewgold compare, fewgold simulate."
    )


DEMOS = {
    "demo-ende": "Embedded: English to German, 5 systems, 1418 segments, 6 raters (synthetic)",
    "demo-zhen": "Embedded: Chinese to English, 5 systems, 2000 segments, 6 raters (synthetic)",
}
_MOST_TABLES = 4
_SECONDS = 6 * 3600.0


class NoTable(FewgoldError):
    """The address names no table, or one that is no longer kept."""


@dataclass(eq=False)
class Data:
    """A table and its name."""

    key: str
    name: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()  # about the file
    used: float = field(default_factory=time.monotonic)
    guessed: Columns | None = None  # the roles of the columns, guessed once

    @property
    def demo(self) -> str | None:
        """``ende`` or ``zhen`` for the embedded sets."""
        return self.key.removeprefix("demo-") if self.key in DEMOS else None

    @property
    def short(self) -> str:
        """Its short name."""
        return self.key if self.demo else self.name

    @cached_property
    def columns(self) -> list[str]:
        return [str(c) for c in self.frame.columns]

    @property
    def file(self) -> str:
        """The file name for commands."""
        return f"{self.key}.csv" if self.demo else self.name


class Tables:
    """The tables of this server, by a key that cannot be guessed."""

    def __init__(self) -> None:
        self._known: dict[str, Data] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> Data:
        """The table with this key."""
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
                    "this table is no longer here: the server keeps the last "
                    f"{_MOST_TABLES} uploads for some hours. Upload it again."
                )
            found.used = time.monotonic()
            return found

    def uploads(self) -> list[Data]:
        """All uploads, latest first."""
        with self._lock:
            self._forget()
            return [d for d in self._known.values() if d.demo is None][::-1]

    def add(self, name: str, content: IO[bytes]) -> Data:
        """Read an upload and keep it; it may replace the oldest one."""
        with received(name, content) as (path, shown):
            data = Data(secrets.token_urlsafe(12), shown, *read_bounded(path, shown))
        with self._lock:
            mine = [k for k, d in self._known.items() if d.demo is None]
            for old in mine[: max(len(mine) - _MOST_TABLES + 1, 0)]:
                del self._known[old]
            self._known[data.key] = data
        return data

    def remove(self, key: str) -> None:
        """Remove an upload now."""
        with self._lock:
            self._known.pop(key, None)

    def _forget(self) -> None:
        late = time.monotonic() - _SECONDS
        for key in [k for k, d in self._known.items() if d.used < late]:
            del self._known[key]


@dataclass(frozen=True)
class Columns:
    """The role of each column, guessed from the names until the owner chooses.

    ``by`` splits the table into pools for a simulation.
    """

    human: tuple[str, ...]
    system: str | None
    id: str | None
    document: str | None
    metrics: tuple[str, ...]
    by: str | None = None
    notes: tuple[str, ...] = ()


def guess(data: Data) -> Columns:
    """A guess of the columns' roles; None where the names do not say."""
    if data.guessed is None:
        from fewgold.io.columns import roles

        found = roles(data.frame, texts=[], need_id=False)
        repeats = found.id is not None and data.frame[found.id].duplicated().any()
        data.guessed = Columns(
            found.human or found.humans[:1], found.system, found.id, found.document, found.metrics,
            found.system if repeats else None,
            tuple(note.rstrip(".") for note in (*data.notes, *found.notes("web"))),
        )  # fmt: skip
    return data.guessed


def chosen(fields: Fields, data: Data) -> Columns:
    """The columns of a form, or the guess if none was sent yet."""
    if not fields.sent:
        return guess(data)
    human = fields.columns("human", "human scores", data) or fields.columns("score", "scores", data)
    return Columns(
        tuple(human), fields.column("system", "systems", data),
        fields.column("id", "segments", data), fields.column("document", "documents", data),
        tuple(fields.columns("metrics", "metrics", data)), fields.column("by", "pools", data),
    )  # fmt: skip
