"""Reads an uploaded table, refused where it is too large before it fills the memory.

An upload is written to a temporary file under a name of ours, read, and removed at once, so that
nothing of it is left behind however the server ends.
"""

from __future__ import annotations

import gzip
import shutil
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, TYPE_CHECKING, NamedTuple

from fewgold import formats, tables
from fewgold._temporary import TemporaryFolder
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = tuple(tables.SUFFIXES)
MOST_ROWS = 200_000
MOST_COLUMNS = 1_000
_MOST_LINES = 2_000_000  # of a text file: texts may hold line breaks
_MOST_BYTES = 500_000_000  # that a Parquet file may unpack to


class Upload(NamedTuple):
    """What to call an uploaded table, the table, and what is odd about its file."""

    name: str
    frame: pd.DataFrame
    notes: tuple[str, ...]


def uploaded(name: str, content: IO[bytes]) -> Upload:
    """The table in an upload; ``name`` is what people call it and no path of ours."""
    shown = base_name(name)
    suffix = next((s for s in SUFFIXES if shown.lower().endswith(s)), "")
    with TemporaryFolder() as folder:
        path = folder / f"upload{suffix}"
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        return _read(path, shown)


def base_name(name: str) -> str:
    """The last part of a file's name, printable and not too long, for people to recognise.

    >>> base_name("..\\\\..\\\\etc/rated\\n.csv")
    'rated.csv'
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    plain = "".join(c for c in last if c.isprintable())
    return plain if len(plain) <= 80 else f"{plain[:40]}…{plain[-39:]}"


def _read(path: Path, shown: str) -> Upload:
    """The table of a file that is not too large, a name a column and a plain value a cell."""
    with path.open("rb") as file:
        head = file.read(4)
    if head[:2] == b"\x1f\x8b":
        _unpack(path, shown)
        with path.open("rb") as file:
            head = file.read(4)
    if head == b"PAR1":
        _check_parquet(path, shown)
    elif head != b"PK\x03\x04":
        _check_lines(path)
    try:
        rated = formats.rated_table(path)
    except DataError as error:  # its sentence names the temporary file
        raise DataError(str(error).replace(str(path), shown)) from None
    if rated is None:
        table = tables.read_file(path, shown=shown)
        frame, notes = table.frame(), table.notes
    else:
        frame, notes = rated.frame, rated.notes
    if len(frame) > MOST_ROWS:
        raise _too_long(f"{len(frame)} rows")
    if len(frame.columns) > MOST_COLUMNS:
        raise DataError(
            f"the table has {len(frame.columns)} columns; {MOST_COLUMNS} at most. Leave some out."
        )
    return Upload(shown, _flat(frame), tuple(note.rstrip(".") for note in notes))


def _flat(frame: pd.DataFrame) -> pd.DataFrame:
    """With lists and objects in cells, which JSON and Parquet may hold, as text."""
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
                if size > _MOST_BYTES:
                    raise DataError(
                        f"{shown!r} unpacks to more than {_MOST_BYTES // 1_000_000} MB. Leave out "
                        "columns that are not needed, such as texts."
                    )
                file.write(block)
    except (OSError, EOFError, zlib.error) as error:
        raise tables.TableError(
            shown, "damaged-gzip", f"the gzip file is damaged or cut off: {error}", "Send it again."
        ) from None
    plain.replace(path)


def _check_lines(path: Path) -> None:
    with path.open("rb") as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    if lines > _MOST_LINES:
        raise _too_long(f"{lines} lines")


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
    if size > _MOST_BYTES:
        raise DataError(
            f"the table unpacks to {size // 1_000_000} MB; {_MOST_BYTES // 1_000_000} MB at most. "
            "Leave out columns that are not needed, such as texts."
        )


def _too_long(what: str) -> DataError:
    return DataError(
        f"the table has {what}; {MOST_ROWS} rows at most. Take the command line for larger ones: "
        "fewgold compare, fewgold simulate."
    )
