"""Campaigns in preparation: an uploaded table and the choices about it, kept on disk.

Each draft has its own folder with a generated name. It has the upload and the owner's choices so
far, so nothing is lost if the server stops.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from fewgold import formats
from fewgold.errors import DataError, FewgoldError
from fewgold.formats.mtme import Tree, is_tree
from fewgold.web.files import ENDINGS, base_name
from fewgold.web.replay_data import MOST_BYTES, read_bounded

if TYPE_CHECKING:
    import pandas as pd

_PLACE = ".fewgold"  # hidden, in the folder of campaigns
_KEY = re.compile(r"[A-Za-z0-9_-]{16}")
_STATE = "draft.json"
_MOST_FILES = 20_000  # in an archive
_MOST_DRAFTS = 50
_ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz")


@dataclass(eq=False)
class Draft:
    """A campaign in preparation."""

    folder: Path
    state: dict[str, Any]

    @property
    def key(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @property
    def name(self) -> str:
        """The owner's name for the upload."""
        return str(self.state["name"])

    @property
    def path(self) -> Path:
        """The table, or the folder of mt-metrics-eval."""
        return self.folder / str(self.state["file"])

    @property
    def shown(self) -> str:
        """Its name in commands, for which an archive must be unpacked first."""
        return str(self.state["shown"])

    @property
    def pair(self) -> str | None:
        """The chosen language pair, if a folder has several."""
        found = self.state.get("pair")
        return None if found is None else str(found)

    @property
    def pairs(self) -> list[str]:
        """The language pairs to choose from; none for a table."""
        return Tree.at(self.path).pairs if self.path.is_dir() else []

    def keep(self, **changed: Any) -> None:
        """Store the choices; they are on disk when this returns."""
        self.state |= changed
        made = self.folder / f"{_STATE}.new"
        with made.open("w", encoding="utf-8") as file:
            json.dump(self.state, file, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(made, self.folder / _STATE)

    def read(self) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """The table, with one row per output, and notes about the file."""
        with self.named():
            if not self.path.is_dir():
                return read_bounded(self.path, self.name)
            found = formats.rated_table(self.path, self.pair)
            assert found is not None
            return found.frame, found.notes

    def named(self) -> Naming:
        """A context whose errors name the upload instead of our file."""
        return Naming(self)

    def told(self, text: str) -> str:
        """Replace our path with the name of the upload in a sentence or a command."""
        for path in (self.path, self.folder):
            text = text.replace(shlex.quote(str(path)), shlex.quote(self.shown))
            text = text.replace(str(path), self.shown)
        return text


@dataclass
class Naming:
    """A context in which errors use the name of the upload."""

    draft: Draft

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, FewgoldError):
            told = error.message_for("web")
            if str(self.draft.folder) in told:
                raise DataError(self.draft.told(told)) from None


@dataclass
class Drafts:
    """The drafts in a folder of campaigns."""

    folder: Path
    _known: dict[str, Draft] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        """The folder that has them."""
        return self.folder / _PLACE

    def all(self) -> list[Draft]:
        """All drafts that can be continued, latest first."""
        with suppress(OSError):
            keys = [p.name for p in self.place.iterdir() if _KEY.fullmatch(p.name)]
            found = [d for key in keys if (d := self.get(key)) is not None]
            return sorted(found, key=lambda d: -float(d.state.get("at", 0)))
        return []

    def get(self, key: str) -> Draft | None:
        """The draft of that name."""
        if not _KEY.fullmatch(key):
            return None
        folder = self.place / key
        try:
            state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None  # it is incomplete, or somebody changed it
        ours = isinstance(state, dict) and all(
            isinstance(state.get(name), str) for name in ("name", "file", "shown")
        )
        found = Draft(folder, state) if ours else None
        return found if found is not None and found.path.exists() else None

    def begin(self, name: str, content: IO[bytes]) -> Draft:
        """Store an upload; `unpack` then unpacks and checks it."""
        shown = base_name(name) or "upload"
        if len(self.all()) >= _MOST_DRAFTS:
            raise DataError(
                f"there are {_MOST_DRAFTS} unfinished campaigns already. Finish or delete some of "
                "them first."
            )
        ending = next((e for e in reversed(ENDINGS) if shown.lower().endswith(e)), "")
        ending = ending or next((e for e in _ARCHIVES if shown.lower().endswith(e)), "")
        folder = self.place / secrets.token_urlsafe(12)
        folder.mkdir(parents=True)
        draft = Draft(folder, {"name": shown, "file": f"upload{ending}", "shown": shown})
        with draft.path.open("wb") as file:
            shutil.copyfileobj(content, file)
        return draft

    def remove(self, draft: Draft) -> None:
        """Delete a draft and its upload."""
        shutil.rmtree(draft.folder, ignore_errors=True)
        with suppress(OSError):
            self.place.rmdir()  # if it was the last one


def unpack(draft: Draft) -> None:
    """Unpack an archive and find the data in it. From then on the draft is kept."""
    path = draft.path
    if _is_archive(path):
        inside = draft.folder / "content"
        inside.mkdir()
        try:
            _extract(path, inside, draft.name)
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError) as error:
            raise DataError(
                f"{draft.name!r} is damaged or incomplete: {error}. Upload it again."
            ) from None
        except (RuntimeError, NotImplementedError) as error:  # a password, or odd compression
            raise DataError(f"{draft.name!r} cannot be unpacked: {error}.") from None
        path.unlink()
        found = _content(inside, draft.name)
        draft.state |= {
            "file": found.relative_to(draft.folder).as_posix(),
            "shown": found.relative_to(inside).as_posix() if found != inside else
            re.sub(r"\.(zip|tar|tgz|tar\.gz)$", "", draft.name, flags=re.IGNORECASE),
        }  # fmt: skip
    draft.keep(at=time.time())


def _is_archive(path: Path) -> bool:
    """Whether it is an archive of files. A spreadsheet is technically one too, but is a table."""
    if zipfile.is_zipfile(path):
        with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            return "[Content_Types].xml" not in archive.namelist()
        return False
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if packed and not path.name.endswith((".tgz", ".tar.gz")):
        return False  # a compressed table
    with suppress(OSError, EOFError, zlib.error):
        return tarfile.is_tarfile(path)
    return False


def _extract(path: Path, to: Path, name: str) -> None:
    """Unpack the files of an archive, within limits of number and size, into its folder only."""
    seen = 0
    for count, (inner, file) in enumerate(_members(path)):
        if count >= _MOST_FILES:
            raise DataError(f"{name!r} has more than {_MOST_FILES:,} files.")
        parts = PurePosixPath(inner.replace("\\", "/")).parts
        odd = any(p in ("..", "/") or ":" in p or "\x00" in p for p in parts)
        if odd or not parts or len(inner) > 400:
            raise DataError(f"{name!r} has a file whose path leads outside of it: {inner[:80]!r}.")
        place = to.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        with file, place.open("xb") as made:
            while block := file.read(1 << 20):
                seen += len(block)
                if seen > MOST_BYTES:
                    raise DataError(
                        f"{name!r} unpacks to more than {MOST_BYTES // 1_000_000} MB. Leave out "
                        "what you do not need, such as other languages."
                    )
                made.write(block)


def _members(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Names and contents of the files in an archive, without links and devices."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir() and not info.filename.startswith("__MACOSX/"):
                    yield info.filename, archive.open(info)
        return
    with tarfile.open(path) as archive_of_tar:
        for member in archive_of_tar:
            content = archive_of_tar.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name.removeprefix("./"), content


def _content(inside: Path, name: str) -> Path:
    """The folder of mt-metrics-eval in an unpacked archive, or the only file."""
    folders = [inside, *(p for p in sorted(inside.rglob("*")) if p.is_dir())]
    trees = [p for p in folders if is_tree(p)]
    if len(trees) == 1:
        return trees[0]
    if trees:
        names = ", ".join(p.relative_to(inside).as_posix() for p in trees[:6])
        raise DataError(f"{name!r} has several test sets: {names}. Pack one of them.")
    files = [p for p in inside.rglob("*") if p.is_file()]
    if len(files) == 1:
        return files[0]
    raise DataError(
        f"{name!r} has {len(files)} files and no folder of mt-metrics-eval (with sources and "
        "system-outputs in it). Pack such a folder, or upload one table."
    )


def plain_state(values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert to values that a draft can store."""
    found: dict[str, Any] = json.loads(json.dumps(dict(values), default=str))
    return found
