"""What a format must do: say whether a file is its own, read answers, write tasks and answers."""

from __future__ import annotations

import gzip
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.tables import TableError, decode, read_text

_HEAD = 65536


@dataclass(frozen=True)
class Names:
    """Which fields of a file hold what; None where the reader shall find out."""

    id: str | None = None
    score: str | None = None
    rater: str | None = None


class Probe:
    """A first look at a file, shared by all formats that ask whether it is theirs."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.name.lower().removesuffix(".gz")
        self.is_folder = self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB, unpacked; empty for folders."""
        if self.is_folder:
            return b""
        with open(self.path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        try:
            if packed:
                with gzip.open(self.path, "rb") as file:
                    return file.read(_HEAD)
            with open(self.path, "rb") as file:
                return file.read(_HEAD)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            return b""

    @cached_property
    def is_text(self) -> bool:
        """Whether the head is text in an encoding that can be read."""
        return self._decoded is not None

    @cached_property
    def text(self) -> str:
        """The head as text; a character cut in two at its end is left out."""
        found = self._decoded
        return self.head.decode("utf-8-sig", errors="replace") if found is None else found

    @cached_property
    def _decoded(self) -> str | None:
        head = self.head
        if len(head) == _HEAD:
            # The last line may be cut within a character, which is then no UTF-8 (nor UTF-16) any
            # more. The end of a line is a safe place; in UTF-16 it takes two bytes.
            end = head.rfind(b"\n") + 1
            head = head[: end + end % 2 if b"\x00" in head[:64] else end or None]
        try:
            return decode(head, str(self.path)).text
        except TableError:
            return None

    @cached_property
    def lines(self) -> list[str]:
        """Whole lines of the head."""
        # Not splitlines(), which also breaks at characters that texts may hold, such as U+2028.
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        cut = len(self.head) == _HEAD and b"\n" not in self.head  # else the text ends with a line
        return lines[:-1] if cut and len(lines) > 1 else lines

    @cached_property
    def json(self) -> Any:
        """The whole file as JSON, or None where it is none."""
        if self.is_folder or not self.text.lstrip().startswith(("[", "{")):
            return None
        try:
            return json.loads(read_text(self.path))
        except (ValueError, RecursionError):
            return None

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The object in the first line, for JSON lines."""
        line = next((line for line in self.lines if line.strip()), "")
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


class Format(ABC):
    """One format of annotation tools or of published ratings. Instances have no state."""

    #: What the command line calls it.
    name: ClassVar[str]
    #: What people call it.
    title: ClassVar[str]
    #: How its files end; the first is what is written.
    suffixes: ClassVar[tuple[str, ...]]

    def beside(self, path: str | Path) -> Path | None:
        """A second file that `write_tasks` puts beside the first, such as a configuration."""
        return None

    @abstractmethod
    def recognises(self, probe: Probe) -> bool:
        """Whether the file is in this format, going by its content. Never raises."""

    @abstractmethod
    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The answers in a file, every row accounted for.

        A row that makes no sense is rejected with a reason; a file that makes none is a
        `DataError`.
        """

    @abstractmethod
    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """What the tool imports: segments to rate, their context marked as such."""

    @abstractmethod
    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Answers, as the tool itself would export them; `read` gives the same ratings back.

        ``tasks`` bring the texts; ``Rating.segment`` is the `key` (or id) of one of them.
        """
