"""Scores over time: the batches of a campaign with their line and alarm, for the owner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from fewgold.common.text import plain_value
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.plots.style import available
from fewgold.report.study_sections import WITHOUT
from fewgold.web import files
from fewgold.web.explore_view import Results, View, looking
from fewgold.web.forms import Fields
from fewgold.web.site import Site
from fewgold.web.slices import command

if TYPE_CHECKING:
    from fewgold.monitoring import Monitoring

_MOST = 400  # largest number of batches that a column may have
_KINDS = {"html": "text/html", "json": "application/json", "csv": "text/csv"}


@dataclass(frozen=True)
class TimePage:
    """What the address asks for, as typed."""

    batch: str
    every: str
    drop: str
    against: str

    @classmethod
    def of(cls, request: Request) -> TimePage:
        fields = Fields.of(request.query_params)
        return cls(*(fields.text(name).strip()[:200] for name in cls.__dataclass_fields__))

    @property
    def query(self) -> str:
        """These choices as an address."""
        return urlencode([(k, v) for k, v in vars(self).items() if v])

    @property
    def words(self) -> list[str]:
        """These choices as options of ``fewgold monitor``."""
        return [w for k, v in vars(self).items() if v for w in (f"--{k}", v)]

    def found(self, view: View) -> Monitoring:
        """The scores over time, computed once per state of the campaign."""
        if view.study is None:
            raise DataError("there is no estimate yet, so there is nothing to follow.")
        made: Monitoring = view.results.get(("monitor", self.query), lambda: self._made(view))
        return made

    def _made(self, view: View) -> Monitoring:
        from fewgold.monitoring import from_ratings, monitor

        columns = _columns(view)
        if self.batch not in columns:
            raise UnknownNameError("column", self.batch, columns)
        assert view.study is not None
        batches = from_ratings(
            view.study.ratings, columns[self.batch], every=self.every or None, name=self.batch
        )
        settings = view.campaign.settings
        return monitor(
            batches, drop=_number("drop", self.drop), target=_number("target", self.against),
            higher_is_better=settings.higher_is_better is not False,
            confidence=settings.confidence,
        )  # fmt: skip


def routes(site: Site) -> APIRouter:
    """The page, its figure and its files."""
    router = APIRouter(prefix="/explore/time", dependencies=[Depends(site.owner)])
    known = Results()

    @router.get("", response_class=HTMLResponse)
    def page(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            asked, found, why = TimePage.of(request), None, ""
            if asked.batch:
                try:
                    found = asked.found(view)
                except FewgoldError as error:
                    why = error.message_for("web")
            heads, rows = ([], []) if found is None else found.cells()
            return site.page(
                request, "explore_time.html", told=view.status, at=view.version, asked=asked,
                query=asked.query, columns=list(_columns(view)), found=found, why=why, heads=heads,
                rows=rows, study=view.study is not None, figures=available(), without=WITHOUT,
                commands=[(command(site, view, "monitor", *asked.words), "Compute the same.")]
                if asked.batch else [],
            )  # fmt: skip

    @router.get("/line.{kind}")
    def figure(request: Request, kind: str) -> Response:
        with looking(site, known) as view:
            asked = TimePage.of(request)
            if kind not in files.IMAGES or not available() or not asked.batch:
                raise HTTPException(404, "There is no such figure.")
            found = asked.found(view)
            key = ("monitor", asked.query, kind)
            made = view.figures.get(key, lambda: files.drawn(found.plot, kind))
        return files.download(made, f"line.{kind}", files.IMAGES[kind], save=False)

    @router.get("/time.{kind}")
    def whole(request: Request, kind: str) -> Response:
        asked = TimePage.of(request)
        if kind not in _KINDS or not asked.batch:
            raise HTTPException(404, f"The files are {', '.join(f'time.{k}' for k in _KINDS)}.")
        with looking(site, known) as view:
            found = asked.found(view)
            if kind == "csv":
                return files.frame_csv(found.to_frame(), "time")
            if kind == "html":
                with files.DRAWING:
                    text = found.page()
            else:
                told = plain_value(found.to_dict())
                text = json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False)
        return files.download(text.encode(), f"time.{kind}", _KINDS[kind])

    return router


def _columns(view: View) -> dict[str, Any]:
    """Columns of the pool that may have batches."""
    pool = view.campaign.pool
    labels = {} if pool.documents is None else {"document": pool.documents}
    labels |= {**view.campaign.labels, **pool.texts, **pool.metrics}
    return {
        name: values for name, values in labels.items()
        if 1 < len(set(map(str, values.tolist()))) <= _MOST
    }  # fmt: skip


def _number(name: str, text: str) -> float | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise DataError(f"the {name} must be a number, such as 0.1; got {text[:40]!r}.") from None
