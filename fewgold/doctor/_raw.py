"""A file as bytes: packed or not, text or not, and in which encoding."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path

from fewgold.doctor._model import Finding
from fewgold.tables import is_wide

_GZIP, _ZIP, _PARQUET, _SQLITE = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"SQLite format 3\x00"
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13}


@dataclass(frozen=True)
class Raw:
    """What the bytes are: ``text`` with its text, or the name of a container, or why not."""

    container: str
    packed: bool = False
    text: str = ""
    findings: tuple[Finding, ...] = ()
    encoding: str = "utf-8"


def look(path: Path) -> Raw:
    """Read a file, whatever it is. Never raises for its content."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return _bad("unreadable", f"the file cannot be read: {error.strerror}.", "")
    packed = data[:2] == _GZIP
    if packed:
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            return _bad(
                "damaged-gzip",
                f"the gzip file is damaged or cut off: {error}",
                "Fetch or write it again; the download may have stopped half way.",
            )
    if not data.strip():
        return _bad("empty", "the file is empty.", "Expected a header line and a row a segment.")
    for head, name in ((_SQLITE, "sqlite"), (_PARQUET, "parquet"), (_ZIP, "zip")):
        if data.startswith(head):
            return Raw(name, packed)
    return _text(data, packed)


def _text(data: bytes, packed: bool) -> Raw:
    if is_wide(data):
        marked = data[:2] in _MARKS
        ends = "" if marked else "BE" if data[:1] == b"\x00" else "LE"
        return _foreign(data, packed, f"UTF-16{ends}")
    if b"\x00" in data:
        return _rubbish()
    findings: tuple[Finding, ...] = ()
    if data.startswith(b"\xef\xbb\xbf"):
        findings = (
            Finding("note", "byte-order-mark", "the file begins with a byte order mark.",
                    do="Harmless: fewgold reads it as spreadsheets do."),
        )  # fmt: skip
    try:
        return Raw("text", packed, data.decode("utf-8-sig"), findings)
    except UnicodeDecodeError:
        head = data[:65536]
        if sum(byte in _CONTROL for byte in head) > len(head) // 50:
            return _rubbish()
        return _foreign(data, packed, "WINDOWS-1252")


def _foreign(data: bytes, packed: bool, encoding: str) -> Raw:
    """Text in another encoding: most likely ``encoding``, since a spreadsheet wrote it."""
    where = ""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        where = f"first in line {line:,}, byte {error.start:,}"
    wide = encoding.startswith("UTF-16")
    text = data.decode(encoding if wide else "cp1252", errors="replace")
    found = Finding(
        "error",
        "encoding",
        f"the text is not in UTF-8 but in {encoding}, it seems",
        "" if wide else where,
        "Save it as UTF-8 (in a spreadsheet: “CSV UTF-8”), or convert it with the command below "
        "and see whether names with accents look right.",
    )
    return Raw("foreign", packed, text, (found,), encoding)


def _rubbish() -> Raw:
    return _bad(
        "binary",
        "this is neither text nor a kind of file that fewgold reads.",
        "Expected CSV, TSV, JSON lines, Parquet, XLSX, or the export of an annotation tool.",
    )


def _bad(code: str, what: str, do: str) -> Raw:
    return Raw("unusable", findings=(Finding("error", code, what, do=do),))
