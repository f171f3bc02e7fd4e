"""Tables, figures and files of pages: shown, kept for a while, and sent to be saved."""

from __future__ import annotations

import math
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

from fastapi import HTTPException
from fastapi.responses import Response

from fewgold import io
from fewgold._temporary import TemporaryFolder

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
#: Kinds of figures.
IMAGES = {"svg": "image/svg+xml", "png": "image/png"}
#: One figure at a time: matplotlib's settings belong to the whole process.
DRAWING = RLock()


class Recent:
    """Results asked for lately, each worked out once, by whoever comes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of that key; errors are not kept."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            return cast("T", self._made[key])


@dataclass(frozen=True)
class Grid:
    """A table as text. ``words`` counts the columns that are text; those after it are figures."""

    id: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


def known(name: str, names: Iterable[str], what: str) -> str:
    """A part of an address that must be one of some names."""
    if name not in names:
        raise HTTPException(404, f"There is no {what} of that name here.")
    return name


def drawn(plot: Callable[[], Any], kind: str) -> bytes:
    """A figure as SVG or PNG, the same bytes as the library writes."""
    from fewgold import plots

    with DRAWING, TemporaryFolder() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return plots.save(plot(), folder / f"figure.{kind}").read_bytes()


def csv(heads: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A table with all digits, in cells that no spreadsheet takes for a formula."""
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
