"""Files of pages: uploads, and tables and figures to download."""

from __future__ import annotations

import math
import shutil
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from threading import RLock
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from fastapi import HTTPException
from fastapi.responses import Response

from fewgold import io
from fewgold.common.temporary import TemporaryFolder
from fewgold.errors import DataError, FewgoldError

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
#: Kinds of figures.
IMAGES = {"svg": "image/svg+xml", "png": "image/png"}
#: One figure at a time, since matplotlib's settings are global.
DRAWING = RLock()


class Recent:
    """Recent results, each computed once, when first requested."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result for a key; errors are not kept."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return cast("T", self._made[key])


@dataclass(frozen=True)
class TextTable:
    """A table as text. The first ``words`` columns are text, the others numbers."""

    id: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def known(name: str, names: Iterable[str], what: str) -> str:
    """Check a part of an address that must be one of some names."""
    if name not in names:
        raise HTTPException(404, f"There is no {what} of that name here.")
    return name


def drawn(plot: Callable[[], Any], kind: str) -> bytes:
    """A figure as SVG or PNG, with the same bytes as the library writes."""
    from fewgold import plots

    with DRAWING, TemporaryFolder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", plots.style.FontWarning)
        return plots.save(plot(), folder / f"figure.{kind}").read_bytes()


def csv(heads: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table with all digits, whose cells no spreadsheet takes for formulas."""
    body = [[_cell(value) for value in row] for row in rows]
    return io.as_text([[io.cell(head, ",") for head in heads], *body], ",")


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else io.cell(value, ",")


def frame_csv(frame: pd.DataFrame, name: str) -> Response:
    """A data frame to save."""
    text = csv(frame.columns, frame.itertuples(index=False, name=None))
    return download(text.encode(), f"{name}.csv", "text/csv")


def download(data: bytes, name: str, kind: str, *, save: bool = True) -> Response:
    """A file to save, or to show."""
    how = "attachment" if save else "inline"
    headers = {"content-disposition": f'{how}; filename="{name}"'}
    return Response(data, media_type=kind, headers=headers)


ENDINGS = sorted((f"{s}{z}" for s in (*io.SUFFIXES, ".txt") for z in ("", ".gz")), key=len)


@contextmanager
def received(name: str, content: IO[bytes]) -> Iterator[tuple[Path, str]]:
    """An upload as a temporary file, and its name for messages.

    The name is shown but never used as a path. Errors name the upload, not the temporary file.
    """
    shown = base_name(name) or "upload"
    ending = next((e for e in reversed(ENDINGS) if shown.lower().endswith(e)), "")
    with TemporaryFolder() as folder:
        path = folder / f"upload{ending}"
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        try:
            yield path, shown
        except FewgoldError as error:
            told = error.message_for("web")
            if str(folder) not in told:
                raise
            raise DataError(told.replace(str(path), shown).replace(str(folder), "")) from None


def base_name(name: str) -> str:
    """The last part of a file's name, printable and not too long.

    >>> base_name("..\\\\..\\\\etc/rated\\n.csv")
    'rated.csv'
    """
    last = PureWindowsPath(PurePosixPath(name).name).name
    plain = "".join(c for c in last if c.isprintable())
    return plain if len(plain) <= 80 else f"{plain[:40]}…{plain[-39:]}"
