"""The file of a campaign: SQLite with a write-ahead log, synchronised at every commit.

A commit returns once the log is on disk, so what was acknowledged survives a crash of the process
or the machine. Writers wait for each other; readers never wait.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from fewgold.common.temporary import TemporaryFolder, unbroken
from fewgold.errors import DataError, FewgoldError

P = ParamSpec("P")
T = TypeVar("T")

# SQLite errors as sentences that people can act on

_SAID = {
    sqlite3.SQLITE_BUSY: "another program has been writing to the campaign for too long. Try again "
    "when it has finished",
    sqlite3.SQLITE_READONLY: "the campaign cannot be written to: its file or folder is read-only. "
    "Copy it to a folder of yours",
    sqlite3.SQLITE_FULL: "the campaign cannot be written to: the disk is full. "
    "None of this was stored; free some space and try again",
    sqlite3.SQLITE_IOERR: "the campaign cannot be read or written: the disk failed or is full. "
    "None of this was stored; free some space and try again",
    sqlite3.SQLITE_CANTOPEN: "the campaign cannot be opened: you may not read or write its file or "
    "folder. Copy it to a folder of yours",
}
_SAID[sqlite3.SQLITE_LOCKED] = _SAID[sqlite3.SQLITE_BUSY]


def sentence(error: Exception) -> DataError:
    """Turn an SQLite error into one that people can act on."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the lowest byte is the kind of error
    if code in _SAID:
        return DataError(f"{_SAID[code]} ({error}).")
    return damaged(str(error), getattr(error, "sqlite_errorname", ""))


def damaged(why: str, code: str = "") -> DataError:
    """The error for a file that lacks what it must have."""
    return DataError(
        f"the campaign's file is damaged ({' '.join(why.split())[:120]}). Restore a backup.",
        code=code,
    )


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Report as damage anything that goes wrong while a part of the file is read."""
    try:
        yield
    except FewgoldError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError) as e:
        raise damaged(f"{what}: {type(e).__name__} {e}") from None


def _in_words(method: Callable[P, T]) -> Callable[P, T]:
    """A method of sqlite3 that raises errors people can act on."""

    @wraps(method)
    def called(*args: P.args, **options: P.kwargs) -> T:
        try:
            return method(*args, **options)
        except sqlite3.ProgrammingError:  # a bug in fewgold
            raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise sentence(error) from None

    return called


class Cursor(sqlite3.Cursor):
    """A cursor that raises errors people can act on."""

    execute = _in_words(sqlite3.Cursor.execute)
    executemany = _in_words(sqlite3.Cursor.executemany)
    fetchone = _in_words(sqlite3.Cursor.fetchone)
    fetchall = _in_words(sqlite3.Cursor.fetchall)
    __next__ = _in_words(sqlite3.Cursor.__next__)  # type: ignore[arg-type]


class Connection(sqlite3.Connection):
    """A connection that raises errors people can act on."""

    def __del__(self) -> None:
        """Close a forgotten file without the warning of Python 3.13.

        The garbage collector may run in another thread, where `close` is an error; Python itself
        then closes the file.
        """
        with suppress(sqlite3.ProgrammingError):
            self.close()

    def execute(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).execute(*args)

    def executemany(self, *args: Any) -> Cursor:
        """As in sqlite3."""
        return self.cursor(Cursor).executemany(*args)


#: "fewg", so that programs recognise the file.
APPLICATION = 0x66657767
VERSION = 1
#: Name of the file in a campaign folder.
FILE = "campaign.fewgold"
_TIMEOUT = 60.0  # seconds to wait for another writer, unless FEWGOLD_PATIENCE says otherwise

_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segments (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, document TEXT, system TEXT, cost REAL,
    texts TEXT NOT NULL
);
CREATE TABLE metrics (
    name TEXT PRIMARY KEY, place INTEGER NOT NULL, orientation INTEGER, scores BLOB NOT NULL
);
CREATE TABLE spread (expected BLOB NOT NULL);
CREATE TABLE outputs (
    place INTEGER PRIMARY KEY REFERENCES segments (place), segment TEXT NOT NULL
);
CREATE TABLE waves (
    number INTEGER PRIMARY KEY, drawn_at TEXT NOT NULL, strategy TEXT NOT NULL,
    sampler TEXT NOT NULL, seed INTEGER NOT NULL, budget TEXT NOT NULL, n INTEGER NOT NULL,
    own TEXT NOT NULL, whole TEXT NOT NULL
);
CREATE TABLE drawn (
    segment INTEGER PRIMARY KEY REFERENCES segments (place),
    wave INTEGER NOT NULL REFERENCES waves (number), place INTEGER NOT NULL, turn INTEGER NOT NULL
);
CREATE TABLE imports (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, source TEXT NOT NULL,
    format TEXT NOT NULL, counts TEXT NOT NULL
);
CREATE TABLE ratings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER NOT NULL REFERENCES drawn (segment),
    score REAL NOT NULL, rater TEXT NOT NULL, time TEXT NOT NULL, answer TEXT NOT NULL,
    details TEXT NOT NULL, import INTEGER NOT NULL REFERENCES imports (number),
    stored_at TEXT NOT NULL, twin TEXT NOT NULL UNIQUE
);
CREATE TABLE set_aside (
    number INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER, named TEXT NOT NULL,
    system TEXT NOT NULL, why TEXT NOT NULL, score REAL NOT NULL, rater TEXT NOT NULL,
    time TEXT NOT NULL, answer TEXT NOT NULL, details TEXT NOT NULL,
    import INTEGER NOT NULL REFERENCES imports (number), stored_at TEXT NOT NULL,
    twin TEXT NOT NULL UNIQUE
);
CREATE TABLE rejected (
    number INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT NOT NULL, why TEXT NOT NULL,
    raw TEXT NOT NULL, import INTEGER NOT NULL REFERENCES imports (number),
    twin TEXT NOT NULL UNIQUE
);
CREATE TABLE claims (
    segment INTEGER NOT NULL REFERENCES drawn (segment), rater TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (segment, rater)
);
CREATE TABLE withdrawn (
    number INTEGER PRIMARY KEY, segment INTEGER NOT NULL REFERENCES drawn (segment),
    score REAL NOT NULL, rater TEXT NOT NULL, time TEXT NOT NULL, answer TEXT NOT NULL,
    details TEXT NOT NULL, import INTEGER NOT NULL REFERENCES imports (number),
    stored_at TEXT NOT NULL, withdrawn_at TEXT NOT NULL
);
CREATE TABLE skips (
    segment INTEGER NOT NULL REFERENCES drawn (segment), rater TEXT NOT NULL, at TEXT NOT NULL,
    PRIMARY KEY (segment, rater)
);
CREATE TABLE raters (
    name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, made_at TEXT NOT NULL
);
CREATE TABLE journal (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, what TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX ratings_by_segment ON ratings (segment);
CREATE INDEX ratings_by_form ON ratings (rater, answer);
CREATE INDEX drawn_by_turn ON drawn (wave, turn);
CREATE INDEX outputs_by_segment ON outputs (segment);
"""


# Tables that files of earlier versions lack. Earlier versions ignore these tables, so they can
# still open the file; see `_complete`.
_LATER = """
CREATE TABLE IF NOT EXISTS lots (
    segment INTEGER PRIMARY KEY REFERENCES drawn (segment), lot REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS known (
    segment INTEGER PRIMARY KEY REFERENCES segments (place), low REAL NOT NULL, high REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS checks (
    number INTEGER PRIMARY KEY AUTOINCREMENT, rater TEXT NOT NULL, kind TEXT NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments (place), after INTEGER NOT NULL,
    handed_at TEXT NOT NULL, skipped TEXT, score REAL, time TEXT, answer TEXT,
    details TEXT, stored_at TEXT, UNIQUE (rater, kind, segment)
);
CREATE TABLE IF NOT EXISTS settled (
    number INTEGER PRIMARY KEY AUTOINCREMENT, segment INTEGER NOT NULL REFERENCES drawn (segment),
    score REAL NOT NULL, rater TEXT NOT NULL, time TEXT NOT NULL, answer TEXT NOT NULL,
    details TEXT NOT NULL, stored_at TEXT NOT NULL, twin TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS practice_items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    segment INTEGER NOT NULL UNIQUE REFERENCES segments (place), answer TEXT NOT NULL,
    explanation TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS practised (
    number INTEGER PRIMARY KEY AUTOINCREMENT, rater TEXT NOT NULL,
    segment INTEGER NOT NULL REFERENCES segments (place), score REAL, details TEXT,
    stored_at TEXT, UNIQUE (rater, segment)
);
CREATE TABLE IF NOT EXISTS labels (
    place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, cells TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS checks_by_rater ON checks (rater, number);
"""
_LATER_TABLES = ("lots", "known", "checks", "settled", "practice_items", "practised", "labels")


def database_path(path: str | Path) -> Path:
    """The file of a campaign, given its folder or the file itself."""
    if not str(path).strip():
        raise DataError("a campaign needs the name of a folder or of a .fewgold file.")
    place = Path(path)
    return place if place.suffix == Path(FILE).suffix else place / FILE


def is_campaign(path: str | Path) -> bool:
    """Whether the path is a campaign: its folder or its file.

    Do not call it for a campaign that this process has open (see `_check`).
    """
    try:
        with open(database_path(path), "rb") as file:
            head = file.read(72)
    except (OSError, ValueError):  # not a valid name
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION.to_bytes(4, "big")


def create(path: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Create a new file, whole or not at all: it is written next to its place and then moved."""
    fresh = not path.parent.exists()
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise DataError(
                f"the folder {str(path.parent)!r} cannot be made: there is a file of that name. "
                "Name a new folder."
            ) from None
        with TemporaryFolder(path.parent, f".{path.name}.") as folder:
            made = folder / path.name
            made.touch()  # with the usual permissions; SQLite would set narrower ones
            with closing(_connect(made, new=True)) as database, transaction(database):
                for statement in f"{_SCHEMA}{_LATER}".split(";"):
                    database.execute(statement)
                database.execute(f"PRAGMA application_id = {APPLICATION}")
                database.execute(f"PRAGMA user_version = {VERSION}")
                fill(database)
            _place(made, path)
    except FileExistsError:
        raise DataError(
            f"{str(path)!r} exists already. Choose another name; a campaign is never overwritten."
        ) from None
    finally:
        if fresh and not path.exists():
            with suppress(OSError):  # somebody has put something into it
                path.parent.rmdir()


def _place(made: Path, path: Path) -> None:
    """Move a file to a place where there must be none; if two try at once, one fails."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with unbroken():
            path.touch(exist_ok=False)
            os.replace(made, path)


def connect(path: Path, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open an existing file and check its kind and version."""
    if not path.is_file():
        raise DataError(
            f"there is no campaign at {str(path)!r}. Begin one with: fewgold init FOLDER POOL."
        )
    database = _connect(path, any_thread=any_thread)
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        database.close()
        raise DataError(
            f"{str(path)!r} is a campaign of version {version}, but this fewgold reads version "
            f"{VERSION}. Open it with the fewgold that wrote it."
        )
    return database


def _connect(path: Path, *, new: bool = False, any_thread: bool = False) -> sqlite3.Connection:
    # A campaign in a read-only place can still be read, although SQLite cannot put its log
    # beside the file. A log that is there has answers in it and must be read.
    log = Path(f"{path}-wal")
    fixed = not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    archived = fixed and not (log.is_file() and log.stat().st_size)
    mode = "ro&immutable=1" if archived else "rw"
    database = _open(f"{path.resolve().as_uri()}?mode={mode}", any_thread)
    try:
        if not new:
            _check(database, path)
        if not fixed:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA foreign_keys = ON")
        # The operating system keeps the file's pages in memory anyway. Dozens of connections would
        # each keep a copy on top of that, 2 MB by default.
        database.execute("PRAGMA cache_size = -512")
        if not new:
            _complete(database, fixed)
    except BaseException:
        database.close()
        raise
    return database


def _complete(database: sqlite3.Connection, fixed: bool) -> None:
    """Add the tables that a file of an earlier version lacks.

    If the file is read-only, empty temporary tables stand in for them while it is open.
    """
    asked = ", ".join(f"'{name}'" for name in _LATER_TABLES)
    (found,) = database.execute(
        f"SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name IN ({asked})"
    ).fetchone()
    if found == len(_LATER_TABLES):
        return
    if fixed:
        for statement in _LATER.split(";"):
            if "INDEX" not in statement:
                database.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))
        return
    with transaction(database):
        for statement in _LATER.split(";"):
            database.execute(statement)


def _check(database: sqlite3.Connection, path: Path) -> None:
    """Refuse what is not a campaign, before anything in it is changed.

    This must go through SQLite. A process that opens and closes the file itself loses the locks of
    all its connections, and other processes may then remove the log while it is in use.
    """
    why = f"{str(path)!r} is not a campaign of fewgold, or it is damaged."
    try:
        (found,) = database.execute("PRAGMA application_id").fetchone()
    except DataError as error:
        raise (DataError(why) if error.code == "SQLITE_NOTADB" else error) from None
    if found != APPLICATION:
        raise DataError(why)


def has_table(database: sqlite3.Connection, name: str) -> bool:
    """Whether the file has this table, which campaigns of earlier versions may lack."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return database.execute(query, (name,)).fetchone() is not None


def _open(uri: str, any_thread: bool) -> sqlite3.Connection:
    told = os.environ.get("FEWGOLD_PATIENCE", "")
    try:
        timeout = max(float(told), 0.0) if told else _TIMEOUT
    except ValueError:
        raise FewgoldError(f"FEWGOLD_PATIENCE must be a number of seconds; got {told!r}.") from None
    try:
        found = sqlite3.connect(
            uri, timeout=timeout, isolation_level=None, uri=True, factory=Connection,
            check_same_thread=not any_thread,
        )  # fmt: skip
    except sqlite3.Error as error:
        raise sentence(error) from None
    found.create_function("lot", 2, _lot, deterministic=True)
    return found


def _lot(rater: str, place: int) -> int:
    """A hash that gives each rater their own order of the outputs of a segment."""
    return int.from_bytes(hashlib.sha256(f"{rater}\x1f{place}".encode()).digest()[:7])


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Write everything or nothing, with no other writer in between; it is on disk afterwards."""
    try:
        database.execute("BEGIN IMMEDIATE")
        yield database
        database.execute("COMMIT")
    except BaseException:
        _undo(database)
        raise


class Line:
    """A queue of threads, first come, first served.

    SQLite lets waiting writers retry now and then, in no particular order. If fifty write to one
    file at once, one of them may wait for minutes.
    """

    def __init__(self) -> None:
        self._guard, self._waiting = Lock(), deque[Any]()
        self._taken = False

    def __enter__(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # until the thread before releases it
        except BaseException:  # an interruption
            with self._guard:
                waits = mine in self._waiting
                if waits:
                    self._waiting.remove(mine)
            if not waits:
                self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


_LINES: dict[Path, Line] = {}
_LINES_GUARD = Lock()


def line_of(path: Path) -> Line:
    """The queue of this process's writers to a file."""
    with _LINES_GUARD:
        return _LINES.setdefault(path.resolve(), Line())


@contextmanager
def snapshot(database: sqlite3.Connection) -> Iterator[None]:
    """Read everything as of one moment, whatever others write meanwhile. Calls may be nested."""
    if database.in_transaction:
        yield
        return
    try:
        database.execute("BEGIN")
        yield
    finally:
        _undo(database)


def _undo(database: sqlite3.Connection) -> None:
    with suppress(DataError):  # the file cannot be read any more; the first error counts
        if database.in_transaction:
            database.execute("ROLLBACK")


def now() -> str:
    """This moment, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def note(database: sqlite3.Connection, what: str, details: Mapping[str, Any]) -> None:
    """Add to the journal. The caller holds a transaction."""
    database.execute(
        "INSERT INTO journal (at, what, details) VALUES (?, ?, ?)",
        (now(), what, json.dumps(details, default=str)),
    )
