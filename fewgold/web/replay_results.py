"""Tables and figures of results, ready for pages and for downloads."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from fastapi import HTTPException
from fastapi.responses import Response

from fewgold import io
from fewgold._temporary import TemporaryFolder
from fewgold.web.drawing import DRAWING

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
KINDS = {"svg": "image/svg+xml", "png": "image/png"}


@dataclass(frozen=True)
class Grid:
    """A table as text. ``words`` counts the columns that are text; those after it are figures."""

    id: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: int = 1


class Recent:
    """Results asked for lately, made once each: the figures of a page come right after it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of that key."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
                while len(self._made) > self._most:
                    self._made.popitem(last=False)
            self._made.move_to_end(key)
            found: T = self._made[key]
            return found


def drawn(plot: Callable[[], Any], suffix: str) -> bytes:
    """A figure as SVG or PNG, the same bytes as the library writes."""
    from fewgold import plots

    with DRAWING, TemporaryFolder() as folder:
        return plots.save(plot(), folder / f"figure.{suffix}").read_bytes()


def drawn_page(write: Callable[[], str]) -> str:
    """A page with figures in it."""
    with DRAWING:
        return write()


def figures_there() -> bool:
    """Whether figures can be drawn."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def figure_answer(content: bytes, suffix: str, name: str, download: bool) -> Response:
    """A figure for an ``<img>``, or to keep."""
    headers = attached(f"{name}.{suffix}") if download else {}
    return Response(content, media_type=KINDS[suffix], headers=headers)


def csv_answer(frame: pd.DataFrame, name: str) -> Response:
    """A table to keep; no spreadsheet takes a cell of it for a formula."""
    shown = frame.rename(columns=lambda c: io.neutral(str(c)))
    for name_ in shown.columns:
        if shown[name_].dtype.kind not in "biuf":
            shown[name_] = [io.neutral(v) if isinstance(v, str) else v for v in shown[name_]]
    text = shown.to_csv(index=False, lineterminator="\n")
    return Response(text, media_type="text/csv; charset=utf-8", headers=attached(name))


def attached(name: str) -> dict[str, str]:
    """Headers of something to keep."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


def known(name: str, names: Iterable[str], what: str) -> str:
    """A part of an address that must be one of some names."""
    if name not in names:
        raise HTTPException(404, f"There is no {what} of that name here.")
    return name


def minus(text: str) -> str:
    """With a true minus sign, as the command line prints."""
    return text.replace("-", "−")
