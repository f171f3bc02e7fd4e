"""Damaged files for the readers of all formats, made from valid ones, the same for a given seed.

`case` makes the k-th mutant of a format, `outcome` reads it and says what is wrong with the way it
was read: nothing, if it came back as a `Reading` whose rows add up or as an error in a sentence.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import io
import json
import math
import random
import re
import shutil
import signal
import traceback
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

import pandas as pd

from fewgold import formats
from fewgold.doctor import examine
from fewgold.errors import FewgoldError
from fewgold.formats import _WHERE, Probe, Rating, Reading, Segment, Tasks, key, logs
from fewgold.formats.logs.base import LogFile
from fewgold.io import read_table, read_text
from formats import log_samples

LONGEST = 20.0  # seconds of this process that reading one small file may take
TEXTS = (
    ('Grüße, "Welt"; it\'s 3,5', "=HYPERLINK(1)\tGreetings"),
    ("第一句。\n次の行", "First <v>sentence</v>."),
    ("مرحبا", "-1 hello\r\nthere"),
    ("emoji 🙂\u2028x", "@sum"),
)
TOKENS = (
    b"\x00", b'"', b'""', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\\", b"{", b"}", b"[",
    b"]", b"nan", b"NaN", b"inf", b"-Infinity", b"1e999", b"9" * 400, b"9" * 5000, b"3,5", b"None",
    b"null", b"true", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\xe2\x80\xa8",
    b"[" * 3000, b'{"a":' * 3000, b"<", b"&", b"]]>", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"\x1a",
    b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"0", b"-", b" ", b"x" * 20000, "é".encode("latin-1"),
)  # fmt: skip
VALUES = (
    None, True, False, 0, -1, 3.5, 1e308, 10**400, "", " ", "nan", "3,5", "text", "\x00", [], {},
    [None], [[]], {"": None}, {"score": 1}, ["a", 1], "fg-1-aaaaaa", "\ud800", [[[[[1]]]]],
    float("nan"), float("inf"), "9" * 5000,
)  # fmt: skip


NASTY = (float("nan"), float("inf"), "\ud800", 10**400, "1e999", True)
ODD_NUMBERS = (
    b"nan", b"inf", b"1e999", b"-1e999", b"3,5", b"", b"None", b"9" * 400, b"True", b"1.5.5",
    b"0x10", b"1_000", b"1e5", b"-0", b"007", b" 7 ",
)  # fmt: skip


def there() -> tuple[str, ...]:
    """The formats whose modules exist."""
    return tuple(
        name
        for name, where in _WHERE.items()
        if importlib.util.find_spec(f"fewgold.formats.{where.partition(':')[0]}") is not None
    )


def study() -> Tasks:
    """Two documents of four segments; one segment of each is context."""
    segments = []
    for document in ("news:1", "talk 2"):
        for position in range(1, 5):
            place = len(segments)
            source, output = TEXTS[place % 4]
            id_ = {0: "=1+1", 1: "007"}.get(place, f"{document}#{position}")
            made = key(place, id_, "fuzz")
            texts = {"source": source, "output": output}
            segments.append(Segment(made, id_, texts, document, position, position != 3))
    return Tasks(tuple(segments), limits=(0.0, 100.0), raters=("Ann", "Bö b"))


def answers(tasks: Tasks, systems: bool) -> list[Rating]:
    """Two raters, scores that many tools can hold."""
    return [
        Rating(s.key, float((7 * k + 11 * j) % 100), rater, system="sysA" if systems else "")
        for k, s in enumerate(tasks.to_rate)
        for j, rater in enumerate(("rater1", "rater2"))
    ]


def errors(tasks: Tasks) -> list[Rating]:
    """Answers that are errors, for formats that hold no scores."""
    minor = {
        "category": "Fluency/Grammar",
        "severity": "Minor",
        "source": "x",
        "target": "y <v>z</v>",
    }
    major = {**minor, "category": "Accuracy/Omission", "severity": "Major"}
    return [
        Rating(s.key, score, rater, system="sysA", details={"errors": found} if found else {})
        for s in tasks.to_rate
        for rater, score, found in (("rater1", 0.0, []), ("rater2", 6.0, [minor, major]))
    ]


def valid(name: str, folder: Path) -> list[Path]:
    """Small valid files of a format: tasks and answers, the text files also packed."""
    form, tasks = formats.get(name), study()
    end = form.suffixes[0] if form.suffixes else ""
    made: list[Path] = []
    for kind in ("tasks", "answers", "systems", "errors"):
        path = folder / f"{kind}{end}"
        try:
            if kind == "tasks":
                form.write_tasks(tasks, path)
            elif kind == "errors":
                form.write_ratings(tasks, errors(tasks), path)
            else:
                form.write_ratings(tasks, answers(tasks, kind == "systems"), path)
        except FewgoldError:
            if path.exists():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            continue
        if path.exists():
            made.append(path)
    assert made, f"{name} wrote nothing at all"
    for path in list(made):
        if path.is_file() and name not in ("xlsx", "parquet") and path.stem == "answers":
            packed = path.with_name(f"{path.name}.gz")
            packed.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
            made.append(packed)
    return made


# Mutations of bytes ---------------------------------------------------------------------------


def flip(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if found:
            found[rng.randrange(len(found))] ^= 1 << rng.randrange(8)
    return bytes(found)


def insert(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 3))):
        k = rng.randrange(len(data) + 1)
        data = data[:k] + rng.choice(TOKENS) + data[k:]
    return data


def overwrite(data: bytes, rng: random.Random) -> bytes:
    k, token = rng.randrange(len(data) + 1), rng.choice(TOKENS)
    return data[:k] + token + data[k + len(token) :]


def cut(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in "ab")
    return data[:a] + data[b:]


def double(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in "ab")
    return data[:b] + data[a:b] + data[b:]


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def lines(data: bytes, rng: random.Random) -> bytes:
    found = data.splitlines(keepends=True) or [b""]
    k, j = rng.randrange(len(found)), rng.randrange(len(found))
    how = rng.choice(("drop", "double", "swap", "join", "shuffle", "blank", "many"))
    if how == "drop":
        del found[k]
    elif how == "double":
        found.insert(j, found[k])
    elif how == "swap":
        found[k], found[j] = found[j], found[k]
    elif how == "join":
        found[k] = found[k].rstrip(b"\r\n")
    elif how == "shuffle":
        rng.shuffle(found)
    elif how == "blank":
        separators = bytes(c for c in found[0] if c in b",;\t")
        found[k:k] = [b"\n", b" \n", b"\r\n", separators + b"\n", separators + b" \n"]
    else:
        found[k:k] = [found[k]] * 300
    return b"".join(found)


def cells(data: bytes, rng: random.Random) -> bytes:
    """Cells of one line dropped, doubled, swapped or replaced."""
    found = data.splitlines(keepends=True) or [b""]
    k = rng.randrange(len(found))
    separator = max((b",", b"\t", b";", b" "), key=found[k].count)
    row = found[k].split(separator)
    i, j = rng.randrange(len(row)), rng.randrange(len(row))
    how = rng.choice(("drop", "double", "swap", "replace", "replace"))
    if how == "drop":
        del row[i]
    elif how == "double":
        row.insert(j, row[i])
    elif how == "swap":
        row[i], row[j] = row[j], row[i]
    else:
        row[i] = rng.choice(TOKENS)
    found[k] = separator.join(row)
    return b"".join(found)


def numbers(data: bytes, rng: random.Random) -> bytes:
    """One number replaced by something odd."""
    spots = list(re.finditer(rb"-?\d+(\.\d+)?", data))
    if not spots:
        return insert(data, rng)
    spot = rng.choice(spots)
    odd = rng.choice(ODD_NUMBERS if rng.random() < 0.7 else TOKENS)
    return data[: spot.start()] + odd + data[spot.end() :]


def encode(data: bytes, rng: random.Random) -> bytes:
    """Another encoding, other ends of lines, another separator, a byte order mark."""
    text = data.decode("utf-8", errors="replace")
    how = rng.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "\r", "\r\n", "mark"))
    if how == "mark":
        return b"\xef\xbb\xbf" + data
    if how in ("\r", "\r\n"):
        return text.replace("\n", how).encode()
    return text.encode(how, errors="replace")


def separate(data: bytes, rng: random.Random) -> bytes:
    a, b = rng.sample((b",", b";", b"\t", b"|", b" ", b'"', b":"), 2)
    return data.replace(a, b, rng.choice((-1, 1, 3)))


def pack(data: bytes, rng: random.Random) -> bytes:
    """A gzip file, whole or damaged."""
    packed = gzip.compress(data, mtime=0)
    how = rng.choice((flip, truncate, cut, None, "more"))
    if how == "more":
        return packed + rng.choice(TOKENS)
    return packed if how is None else how(packed, rng)


def nothing(data: bytes, rng: random.Random) -> bytes:
    return rng.choice((b"", b"\n", b" \n \n", b"\x00" * 64, b"\xef\xbb\xbf", b"[]", b"{}", b"null"))


BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, insert, overwrite, cut, double, truncate, lines, cells, numbers, encode, separate, pack,
    nothing,
)  # fmt: skip


# Mutations of JSON trees, zip files and folders -------------------------------------------------


def nodes(tree: object) -> Iterator[tuple[object, object]]:
    """Every place in a tree as (container, key)."""
    waiting = [tree]
    while waiting:
        at = waiting.pop()
        for k, v in at.items() if isinstance(at, dict) else enumerate(at):
            yield at, k
            if isinstance(v, dict | list):
                waiting.append(v)


def prune(tree: object, rng: random.Random) -> object:
    """One place of a tree dropped, doubled, replaced, renamed or of another type."""
    places = list(nodes(tree)) if isinstance(tree, dict | list) else []
    if not places:
        return rng.choice(VALUES)
    at, k = rng.choice(places)
    how = rng.choice(("drop", "double", "replace", "replace", "rename", "type", "swap", "wrap"))
    value = at[k]
    if how == "drop":
        del at[k]
    elif how == "double" and isinstance(at, list):
        at.insert(k, value)
    elif how == "rename" and isinstance(at, dict):
        at[rng.choice(("", "id", "score", f"{k}x", f" {k}"))] = at.pop(k)
    elif how == "type":
        at[k] = {"a": value} if isinstance(value, list) else str(value)
    elif how == "swap":
        other, j = rng.choice(places)
        at[k] = json.loads(json.dumps(other[j]))
    elif how == "wrap":
        at[k] = [value]
    else:
        at[k] = rng.choice(VALUES if rng.random() < 0.7 else NASTY)
    return tree


def json_tree(data: bytes, rng: random.Random) -> bytes:
    """A JSON file, or a line of JSON lines, with a place in it changed."""
    text = data.decode("utf-8-sig", errors="replace")
    try:
        tree: object = json.loads(text)
        for _ in range(rng.choice((1, 1, 3))):
            tree = prune(tree, rng)
        return json.dumps(tree).encode()
    except ValueError:
        found = text.split("\n")
        whole = [k for k, line in enumerate(found) if line.startswith("{")]
        if not whole:
            return cells(data, rng)
        k = rng.choice(whole)
        try:
            found[k] = json.dumps(prune(json.loads(found[k]), rng))
        except ValueError:
            found[k] = "{"
        return "\n".join(found).encode()


def csv_cells(data: bytes, rng: random.Random) -> bytes:
    """Well-formed CSV with odd cells."""
    try:
        rows = [r for r in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) if r]
        row = rng.choice(rows)
    except (csv.Error, UnicodeDecodeError, IndexError):
        return cells(data, rng)
    odd = rng.choice(VALUES if rng.random() < 0.5 else NASTY)
    row[rng.randrange(len(row))] = str(odd).replace("\ud800", "")
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def zip_parts(data: bytes, rng: random.Random) -> bytes:
    """A zip file with one of its parts damaged, dropped, doubled or renamed."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        parts = [(n, book.read(n)) for n in book.namelist()]
    likely = [k for k, (n, _) in enumerate(parts) if "sheet1" in n or "workbook" in n]
    k = rng.choice([*likely, *likely, rng.randrange(len(parts))])
    name, body = parts[k]
    how = rng.choice(("bytes",) * 4 + ("rows", "rows", "drop", "double", "rename"))
    if how == "bytes":
        parts[k] = (name, rng.choice(BYTES)(body, rng))
    elif how == "rows":
        pieces = re.split(rb"(?=<row|<c |<v>|<is>)", body)
        i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        pieces[i], pieces[j] = rng.choice(
            ((pieces[j], pieces[i]), (b"", pieces[j]), (pieces[i] * 2, pieces[j]))
        )
        parts[k] = (name, b"".join(pieces))
    elif how == "drop":
        del parts[k]
    elif how == "double":
        parts.append((name if rng.random() < 0.5 else f"xl/{name}", body))
    else:
        parts[k] = (name.replace("xl", "yl"), body)
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as book:
        warnings.simplefilter("ignore")  # two parts of one name are wanted
        for n, b in parts:
            book.writestr(n, b)
    return out.getvalue()


def book_cells(data: bytes, rng: random.Random) -> bytes:
    """A sound spreadsheet with odd cells, rows and columns."""
    from openpyxl import load_workbook
    from openpyxl.cell.cell import MergedCell

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = load_workbook(io.BytesIO(data))
    except Exception:  # damaged before
        return flip(data, rng)
    if not book.worksheets:
        return data
    sheet = book.worksheets[0]
    for _ in range(rng.choice((1, 2, 5))):
        row, column = rng.randint(1, sheet.max_row + 1), rng.randint(1, sheet.max_column + 1)
        how = rng.choice(("cell",) * 4 + ("drop", "insert", "column", "merge", "sheet"))
        if how == "cell":
            values = [None, True, 7, 7.5, 1e300, "text", "=A1", "#N/A", "", "nan", "3,5", " x "]
            values += [datetime(2026, 1, 2, 3, 4), date(2026, 1, 2), "_x0041_", "'=1"]
            if not isinstance(sheet.cell(row, column), MergedCell):
                sheet.cell(row, column).value = rng.choice(values)
        elif how == "drop":
            sheet.delete_rows(row)
        elif how == "insert":
            sheet.insert_rows(row)
        elif how == "column":
            rng.choice((sheet.delete_cols, sheet.insert_cols))(column)
        elif how == "merge":
            sheet.merge_cells(
                start_row=row, end_row=row + 1, start_column=column, end_column=column + 1
            )
        else:
            book.create_sheet("other", rng.choice((0, None)))
            sheet = book.worksheets[0]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet_columns(data: bytes, rng: random.Random) -> bytes:
    """A sound Parquet file with odd columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError, ValueError):
        return flip(data, rng)
    n = table.num_rows
    k = rng.randrange(table.num_columns)
    odd = rng.choice(
        (
            [None] * n,
            [True] * n,
            list(range(n)),
            [float("nan")] * n,
            [1.5, None, math.inf] * n,
            ["text", None, "3,5", "7"] * n,
            [b"\xff\x00"] * n,
            [[1, 2]] * n,
            [{"a": 1}] * n,
            [datetime(2026, 1, 2)] * n,
            [date(2026, 1, 2)] * n,
            [Decimal("1.50")] * n,
            ["\x00"] * n,
        )
    )[:n]
    name = table.column_names[k]
    how = rng.choice(("replace",) * 5 + ("drop", "rename", "double", "slice", "empty"))
    if how == "replace":
        table = table.set_column(k, name, pa.array(odd))
    elif how == "drop" and table.num_columns > 1:
        table = table.remove_column(k)
    elif how == "rename":
        names = list(table.column_names)
        names[k] = rng.choice(("", "id", "score", "x"))
        table = table.rename_columns(names)
    elif how == "double":
        table = table.append_column(name, table.column(k))
    else:
        table = table.slice(0, 0 if how == "empty" else rng.randint(0, n))
    out = pa.BufferOutputStream()
    pq.write_table(table, out, compression=rng.choice(("none", "snappy", "zstd")))
    return out.getvalue().to_pybytes()


def inside(data: bytes, rng: random.Random) -> bytes:
    """A sound gzip file with damaged text in it."""
    try:
        text = gzip.decompress(data)
    except (EOFError, OSError, zlib.error):
        return flip(data, rng)
    mutate = rng.choice((*BYTES, json_tree) if text[:1] in b"[{" else (*BYTES, csv_cells))
    return gzip.compress(mutate(text, rng), mtime=0)


def tree(folder: Path, rng: random.Random) -> str:
    """A folder with one of its files damaged, dropped, renamed, or a folder in its place."""
    found = sorted(p for p in folder.rglob("*") if p.is_file())
    path = rng.choice(found)
    how = rng.choice(("bytes",) * 6 + ("drop", "rename", "folder", "copy", "parent"))
    if how == "bytes":
        mutate = rng.choice(BYTES)
        path.write_bytes(mutate(path.read_bytes(), rng))
        how = mutate.__name__
    elif how == "drop":
        path.unlink()
    elif how == "rename":
        path.rename(path.with_name(rng.choice(("x", f"x{path.name}", f"{path.stem}.x", "a.b.c"))))
    elif how == "folder":
        path.unlink()
        path.mkdir()
    elif how == "copy":
        other = rng.choice(found)
        if other != path:
            shutil.copy(other, path)
    elif path.parent != folder:
        shutil.rmtree(path.parent)
    return f"{how} in {path.relative_to(folder)}"


# One case ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A damaged file, and how it was made."""

    path: Path
    story: str


def case(name: str, k: int, seed: int, bases: list[Path], folder: Path) -> Case:
    """The k-th mutant of a format."""
    rng = random.Random(f"{seed}:{name}:{k}")
    base = rng.choice(bases)
    path = folder / base.name
    if path.is_dir():
        shutil.rmtree(path)
    if base.is_dir():
        shutil.copytree(base, path)
        told = [tree(path, rng) for _ in range(rng.choice((1, 1, 2)))]
        return Case(path, f"seed {seed}, {name}, mutant {k}: {base.name}, {', '.join(told)}")
    data = base.read_bytes()
    told = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        kinds = [*BYTES]
        if data[:1] in (b"[", b"{"):
            kinds += [json_tree] * 12
        elif data[:4] == b"PK\x03\x04" and zipfile.is_zipfile(io.BytesIO(data)):
            kinds += [zip_parts] * 15 + [book_cells] * 15
        elif data[:4] == b"PAR1":
            kinds += [parquet_columns] * 20
        elif data[:2] == b"\x1f\x8b":
            kinds += [inside] * 20
        elif name not in ("xlsx", "parquet"):
            kinds += [csv_cells, cells, lines, lines, numbers, numbers, numbers]
        mutate = rng.choice(kinds)
        try:
            data = mutate(data, rng)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError):
            data = flip(data, rng)
        told.append(mutate.__name__)
    if rng.random() < 0.1:
        path = path.with_name(f"{path.stem}{rng.choice(('.csv', '.tsv', '.jsonl', '.json', '.x'))}")
    path.write_bytes(data)
    return Case(path, f"seed {seed}, {name}, mutant {k}: {base.name}, {', '.join(told)}")


class TooSlow(BaseException):
    """Reading took too long. No reader may catch this."""


@contextmanager
def hurry(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def outcome(path: Path, name: str | None) -> str:
    """What is wrong with the way a file is read, or an empty string."""
    try:
        with hurry(LONGEST):
            reading = formats.read(path, name)
    except FewgoldError as error:
        words = str(error)
        fine = len(words) > 15 and words.rstrip()[-1] in ".?!)" and "Traceback" not in words
        return "" if fine else f"not a sentence: {words!r}"
    except TooSlow:
        return f"took longer than {LONGEST} s"
    except Exception:
        return traceback.format_exc(limit=-4)
    return wrong(reading, path)


def wrong(reading: Reading, path: Path) -> str:
    """What is wrong with a reading, or an empty string."""
    told = reading.used + len(reading.blank) + reading.context + len(reading.rejected)
    if told != reading.rows or min(reading.used, reading.context, reading.rows) < 0:
        return f"{reading.rows} rows, but {told} accounted for"
    if bool(reading.used) != bool(reading.ratings):
        return f"{reading.used} rows used for {len(reading.ratings)} ratings"
    for r in reading.ratings:
        if not isinstance(r.score, float) or not math.isfinite(r.score):
            return f"the score {r.score!r}"
        names = (r.segment, r.rater, r.time, r.system, r.answer)
        if not all(isinstance(v, str) for v in names) or not r.segment.strip():
            return f"a name that is no text in {r}"
        try:
            json.dumps([*names, dict(r.details)], allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError) as error:
            return f"{r} cannot be stored: {error}"
    for r in reading.rejected:
        if not (r.place and r.why and isinstance(r.raw, str)):
            return f"rejected without a reason: {r}"
    count = rows_in(path, reading.format)
    if count is not None and count != reading.rows:
        return f"{reading.rows} rows read as {reading.format}, but {count} in the file"
    return ""


#: Formats of a row a line, and how many lines at the top are none.
LINES = {"csv": 1, "tsv": 1, "mqm": 1, "mqm-averages": 1, "wmt-da": 1, "jsonl": 0, "appraise": 0}


def rows_in(path: Path, name: str) -> int | None:
    """Rows of a file, counted without any reader, or None where quotes make that hard."""
    if name == "parquet":
        import pyarrow.parquet as pq

        return int(pq.read_metadata(path).num_rows)
    if name == "xlsx":
        return rows_in_sheet(path)
    if path.is_dir() or name not in LINES:
        return None
    text = read_text(path)
    if name in ("jsonl", "appraise") and text.lstrip().startswith("["):
        return len(json.loads(text)) if name == "jsonl" else None
    if name == "jsonl":
        return sum(1 for line in text.split("\n") if line.strip())
    if name != "mqm" and ('"' in text or text.startswith("sep=")):
        return None
    if name == "mqm" and "severity" not in text.lstrip().partition("\n")[0]:
        return None  # it may do without a header
    if name not in ("csv", "tsv") and "\r" in text.replace("\r\n", ""):
        return None  # they take a lone carriage return for a character
    return sum(1 for line in re.split(r"\r\n|\r|\n", text) if line.strip(" ")) - LINES[name]


def rows_in_sheet(path: Path) -> int | None:
    """Rows with anything in them below the first such row, found by their tags alone."""
    raw = path.read_bytes()
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw  # every reader unpacks gzip
    with zipfile.ZipFile(io.BytesIO(raw)) as book:
        links = book.read("xl/_rels/workbook.xml.rels").lower()
        sheets = re.findall(rb'<sheet\b[^>]*name="([^"]*)"', book.read("xl/workbook.xml"))
        if b'target="/xl/worksheets/sheet1.xml"' not in links or sheets[:1] not in _FIRST:
            return None
        data = book.read("xl/worksheets/sheet1.xml")
    if b"\x00" in data:
        return None  # in UTF-16
    found = re.findall(rb"<row\b[^>]*(?<!/)>(.*?)</row>", data, flags=re.DOTALL)
    return sum(1 for row in found if re.search(rb"<(?:v|t)\b[^>]*>[^<]|<f\b", row)) - 1


_FIRST = ([b"tasks"], [b"ratings"])


def run(name: str, count: int, seed: int, folder: Path) -> list[str]:
    """Failures of ``count`` mutants of a format, each read by name and by recognising it."""
    source, target = folder / "valid", folder / "damaged"
    source.mkdir()
    target.mkdir()
    bases = valid(name, source)
    failures = []
    for base in bases:
        for asked in (name, None):
            if problem := outcome(base, asked):
                failures.append(f"{name}, valid file {base.name}, read as {asked}: {problem}")
    for k in range(count):
        made = case(name, k, seed, bases, target)
        for asked in (name, None):
            if problem := outcome(made.path, asked):
                failures.append(f"{made.story}, read as {asked or 'whatever it is'}: {problem}")
    return failures


def replaced(name: str, count: int, seed: int, folder: Path) -> list[str]:
    """Failures when one value of a JSON format is replaced: rows then must stay as many."""
    failures = []
    rng = random.Random(f"{seed}:{name}:replaced")
    for base in valid(name, folder):
        if base.suffix == ".gz":
            continue
        rows = formats.read(base, name).rows
        texts = [base.read_text(encoding="utf-8")]
        if not _is_json(texts[0]):
            texts = [line for line in texts[0].split("\n") if line.strip()]
        trees = [json.loads(text) for text in texts]
        places = [
            (at, k) for t in trees for at, k in nodes(t) if not isinstance(at[k], dict | list)
        ]
        for at, k in rng.choices(places, k=count):
            before, at[k] = at[k], rng.choice([v for v in VALUES if not isinstance(v, dict | list)])
            path = folder / f"replaced{base.suffix}"
            path.write_text("\n".join(json.dumps(t) for t in trees))
            story = f"{name}, {base.name}, {k!r}: {at[k]!r} instead of {before!r}"
            at[k] = before
            if problem := outcome(path, name):
                failures.append(f"{story}: {problem}")
                continue
            try:
                found = formats.read(path, name).rows
            except FewgoldError:
                continue
            if found != rows:
                failures.append(f"{story}: {found} rows instead of {rows}")
    return failures


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def tabled(count: int, seed: int, folder: Path) -> list[str]:
    """Failures of reading damaged files as the table of a pool."""
    failures = []
    for name in ("csv", "tsv", "jsonl", "xlsx", "parquet"):
        source, target = folder / f"valid-{name}", folder / f"damaged-{name}"
        source.mkdir()
        target.mkdir()
        bases = valid(name, source)
        for k in range(count):
            made = case(name, k, seed, bases, target)
            try:
                with hurry(LONGEST):
                    read_table(made.path)
            except FewgoldError:
                pass
            except TooSlow:
                failures.append(f"{made.story}: too slow as a table")
            except Exception:
                failures.append(f"{made.story}, as a table: {traceback.format_exc(limit=-4)}")
    return failures


@cache
def share(total: int) -> int:
    """Mutants of each format that make ``total`` over all of them."""
    return -(-total // len(formats.names()))


# Logs of evaluation tools -----------------------------------------------------------------------


def log_parts(data: bytes, rng: random.Random) -> bytes:
    """A log that is a zip file, with one of its JSON files changed, dropped or doubled."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts = [(n, packed.read(n)) for n in packed.namelist()]
    k = rng.randrange(len(parts))
    name, body = parts[k]
    how = rng.choice(("tree",) * 6 + ("bytes", "bytes", "drop", "double", "rename"))
    if how == "drop":
        del parts[k]
    elif how == "double":
        parts.append(parts[k])
    elif how == "rename":
        parts[k] = (rng.choice((f"x{name}", name.replace("samples", "other"), "a.json")), body)
    else:
        parts[k] = (name, (json_tree if how == "tree" else rng.choice(BYTES))(body, rng))
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as packed:
        warnings.simplefilter("ignore")  # two parts of one name are wanted
        for n, b in parts:
            packed.writestr(n, b)
    return out.getvalue()


def logged(name: str, count: int, seed: int, folder: Path) -> list[str]:
    """Failures of ``count`` mutants of the logs of a tool, read by name and by recognising them."""
    target = folder / "damaged"
    target.mkdir()
    bases = log_samples.make(name, folder)
    failures = []
    for k in range(count):
        rng = random.Random(f"{seed}:{name}:{k}")
        base = rng.choice(bases)
        if base.suffix == ".eval" and rng.random() < 0.8:
            made = Case(target / base.name, f"seed {seed}, {name}, mutant {k}: {base.name}, parts")
            made.path.write_bytes(log_parts(base.read_bytes(), rng))
        else:
            made = case(name, k, seed, [base], target)
        for asked in (name, None):
            if problem := log_outcome(made.path, asked):
                failures.append(f"{made.story}, read as {asked or 'whatever it is'}: {problem}")
        made.path.unlink()
    return failures


def log_outcome(path: Path, name: str | None) -> str:
    """What is wrong with the way a log is read, or an empty string."""
    try:
        with hurry(LONGEST):
            form = logs.recognise(path) if name is None else logs.get(name)
            if form is None:
                return ""
            log = form.read(LogFile(Probe(path)))
            frame = log.frame()
            if name is None:
                examine(path)
    except FewgoldError as error:
        words = str(error)
        fine = len(words) > 15 and words.rstrip()[-1] in ".?!)" and "Traceback" not in words
        return "" if fine else f"not a sentence: {words!r}"
    except TooSlow:
        return f"took longer than {LONGEST} s"
    except Exception:
        return traceback.format_exc(limit=-4)
    return wrong_log(log, frame, path)


def wrong_log(log: logs.EvalLog, frame: pd.DataFrame, path: Path) -> str:
    """What is wrong with what was read of a log, or an empty string."""
    if log.used + log.context + len(log.rejected) != log.rows:
        return f"{log.rows} rows do not add up"
    if len(frame) != len(log.outputs):
        return f"{len(frame)} rows of a table for {len(log.outputs)} outputs"
    if len(frame) and not all(isinstance(i, str) and i.strip() for i in frame["id"]):
        return "an id that is no text"
    keys = [c for c in ("id", "system") if c in frame.columns]
    if len(frame) and frame.duplicated(keys).any():
        return "an id and a system that stand twice"
    for column in frame.columns:
        for value in frame[column].tolist():
            if isinstance(value, float) and math.isinf(value):
                return f"{value} in {column!r}"
    try:
        frame[[c for c in ("id", "system", "input", "output") if c in frame]].to_csv().encode()
    except UnicodeEncodeError as error:
        return f"cannot be written: {error}"
    if any(not (r.place and r.why) for r in log.rejected):
        return "rejected without a reason"
    if path.suffix == ".jsonl" and path.read_bytes()[:1] == b"{":
        lines = [line for line in read_text(path).split("\n") if line.strip()]
        if len(lines) > 1 and len(lines) != log.rows and log.format != "inspect":
            return f"{log.rows} rows read, but {len(lines)} lines in the file"
    return ""
