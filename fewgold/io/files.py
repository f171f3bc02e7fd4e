"""Text files: decoding in any common encoding, and writing files completely or not at all."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from fewgold.common.temporary import Temporary
from fewgold.errors import DataError

_GZIP = b"\x1f\x8b"
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13}
#: What encodings are called in sentences.
TITLES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
          "cp1252": "Windows-1252"}  # fmt: skip


class TableError(DataError):
    """A file that cannot be read as a table: a code, what is wrong, where, and what to do.

    Every command raises this error, and ``fewgold doctor`` shows its parts.
    """

    def __init__(self, path: str, code: str, what: str, do: str, where: str = "") -> None:
        self.what, self.do, self.where = what, do, where
        detail = f" ({where})" if where else ""
        said = f"cannot read {path!r}: {what}" if code != "missing" else f"{what} {path!r}"
        super().__init__(f"{said}{detail}. {do}".strip(), code=code)


@dataclass(frozen=True)
class Decoded:
    """The text of a file, and the encoding that it was in."""

    text: str
    encoding: str


def read_bytes(path: str | Path, shown: str | None = None) -> tuple[bytes, bool]:
    """The content of a file, decompressed if gzipped, and whether it was.

    ``shown`` is the name to use in messages instead of the path.
    """
    name = shown or str(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise TableError(name, "unreadable", what, "Check the path.") from None
    return unpacked(data, name)


def unpacked(data: bytes, name: str) -> tuple[bytes, bool]:
    """The bytes, decompressed if gzipped, and whether they were."""
    if data[:2] != _GZIP:
        return data, False
    try:
        return gzip.decompress(data), True
    except (OSError, EOFError, zlib.error) as error:
        raise TableError(
            name, "damaged-gzip", f"the gzip file is damaged or cut off: {error}",
            "Fetch or write it again; the download may have stopped halfway.",
        ) from None  # fmt: skip


def decode(data: bytes, name: str) -> Decoded:
    """Text in UTF-8, UTF-16 or Windows-1252, with or without a byte order mark.

    UTF-8 is hardly ever valid by accident, so whatever is valid UTF-8 is read as UTF-8. Anything
    else is read as Windows-1252, in which spreadsheet programs save CSV in much of the world.
    """
    wide = _wide(data)
    if wide is not None:
        try:
            return Decoded(data.decode(wide).removeprefix("\ufeff"), wide)
        except UnicodeDecodeError as error:
            raise _binary(
                name, f"it begins like UTF-16, but byte {error.start:,} is not valid"
            ) from None
    head = data[: 1 << 16]
    if head.count(b"\x00") > len(head) // 10:
        raise _binary(name)
    try:
        marked = data.startswith(b"\xef\xbb\xbf")
        return Decoded(data.decode("utf-8-sig"), "utf-8-sig" if marked else "utf-8")
    except UnicodeDecodeError as error:
        place = error.start
    if sum(byte in _CONTROL for byte in head) > len(head) // 50:
        raise _binary(name)
    try:
        return Decoded(data.decode("cp1252"), "cp1252")
    except UnicodeDecodeError:
        line = data.count(b"\n", 0, place) + 1
        raise TableError(
            name, "encoding", "the text is not in UTF-8, UTF-16 or Windows-1252",
            "Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”).",
            f"line {line:,}, byte {place:,}",
        ) from None  # fmt: skip


def read_text(path: str | Path) -> str:
    """A text file, plain or gzip, in any of the encodings that `decode` knows."""
    return decode(read_bytes(path)[0], str(path)).text


def _wide(data: bytes) -> str | None:
    """Which kind of UTF-16, by its mark; without one, by every other byte being a zero."""
    if data[:2] in _MARKS:
        return "utf-16-le" if data[:2] == _MARKS[0] else "utf-16-be"
    # In other binary files zeros are at both odd and even positions.
    even, odd = (data[k:64:2].count(b"\x00") for k in (0, 1))
    if min(even, odd) or max(even, odd) * 4 <= len(data[:64]):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _binary(name: str, where: str = "") -> TableError:
    return TableError(
        name, "binary", "this is neither text nor a kind of file that fewgold reads",
        "Expected CSV, TSV, JSON lines, Parquet, XLSX, or the export of an annotation tool.", where,
    )  # fmt: skip


def write_texts(contents: Mapping[Path, str | bytes]) -> None:
    """Write all files or none: each is first written next to its target, then moved into place."""
    made: dict[Path, Path] = {}
    with ExitStack() as gone:
        for target, text in contents.items():
            if not target.parent.is_dir():
                raise DataError(
                    f"there is no folder {str(target.parent)!r} to write to. Create it."
                )
            made[target] = gone.enter_context(Temporary(target.parent, f".{target.name}."))
            with open(made[target], "xb") as file:
                file.write(text.encode() if isinstance(text, str) else text)
                file.flush()
                os.fsync(file.fileno())
        for target, place in made.items():
            os.replace(place, target)
