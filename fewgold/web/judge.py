"""Judges compared with people: metrics of the campaign side by side, for the owner."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from fewgold.common.text import latex_table, plain_value
from fewgold.errors import FewgoldError
from fewgold.plots.style import available
from fewgold.report.sections import Table
from fewgold.report.study_sections import WITHOUT
from fewgold.web import files
from fewgold.web.explore_view import Results, View, cut_hints, headline, looking, slicing_columns
from fewgold.web.forms import Fields
from fewgold.web.site import Site
from fewgold.web.slices import command

if TYPE_CHECKING:
    from fewgold.judge import Assessment

_FIRST = 3  # judges shown by default
_MOST = 6  # at the same time
_LISTED = 10  # disagreements shown per judge; the downloads have all
_KINDS = {"html": "text/html", "json": "application/json", "tex": "application/x-tex",
          "csv": "text/csv"}  # fmt: skip


_ASKED = ("cut", "threshold", "by", "against", "criterion")


@dataclass(frozen=True)
class JudgePage:
    """What the address asks for: judges (by number of the metric), cuts and columns."""

    places: tuple[int, ...]
    cut: str
    threshold: str
    by: str
    against: str
    criterion: str

    @classmethod
    def of(cls, request: Request, view: View) -> JudgePage:
        fields = Fields.of(request.query_params)
        known = _judges(view)
        told = fields.many("judge")
        wrong = [place for place in told if place not in map(str, known)]
        if wrong:
            raise HTTPException(404, "There is no such metric, or it is not a judge.")
        if len(told) > _MOST:
            raise FewgoldError(f"choose at most {_MOST} judges; got {len(told)}.")
        places = tuple(int(place) for place in told) or tuple(known)[:_FIRST]
        texts = [fields.text(name)[:200] for name in _ASKED]
        if not texts[-1] and (criteria := view.campaign.settings.criteria):
            texts[-1] = criteria[0].name
        return cls(places, *texts)

    def names(self, view: View) -> tuple[str, ...]:
        return tuple(view.metrics[place] for place in self.places)

    def words(self, view: View) -> list[str]:
        """These choices as options of ``fewgold judge``."""
        told = {"--judges": ",".join(self.names(view)), "--adequate": self.cut}
        told |= {"--threshold": self.threshold, "--by": self.by, "--against": self.against}
        told |= {"--human": self.criterion}
        return [word for option, v in told.items() if v for word in (option, v)]

    @property
    def query(self) -> str:
        from urllib.parse import urlencode

        pairs = [("judge", str(place)) for place in self.places]
        pairs += [(k, getattr(self, k)) for k in _ASKED]
        return urlencode([(k, v) for k, v in pairs if v])

    def found(self, view: View) -> Assessment:
        return view.judges(
            self.names(view), self.cut[:40], self.threshold[:40], self.by or None,
            self.against or None, self.criterion,
        )  # fmt: skip


def routes(site: Site) -> APIRouter:
    """The page, its figures and its files."""
    router = APIRouter(prefix="/explore/judge", dependencies=[Depends(site.owner)])
    known = Results()

    @router.get("", response_class=HTMLResponse)
    def page(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            asked = JudgePage.of(request, view)
            lines = [
                (command(site, view, "judge", *asked.words(view)), "Compute the same measures.")
            ]
            return site.page(
                request, "explore_judge.html", **_values(view, asked),
                commands=lines,
            )  # fmt: skip

    @router.get("/figure/{place}/{name}.{kind}")
    def figure(request: Request, place: int, name: str, kind: str) -> Response:
        with looking(site, known) as view:
            asked = JudgePage.of(request, view)
            if place not in asked.places or kind not in files.IMAGES or not available():
                raise HTTPException(404, "There is no such figure.")
            found, judge = asked.found(view), view.metrics[place]
            if name not in found[judge].plots:
                raise HTTPException(404, "There is no such figure.")
            key = ("judge", asked.query, place, name, kind)
            made = view.figures.get(key, lambda: files.drawn(lambda: found.plot(name, judge), kind))
        return files.download(made, f"{name}-{place}.{kind}", files.IMAGES[kind], save=False)

    @router.get("/judge.{kind}")
    def whole(request: Request, kind: str) -> Response:
        if kind not in _KINDS:
            raise HTTPException(404, f"The files are {', '.join(f'judge.{k}' for k in _KINDS)}.")
        with looking(site, known) as view:
            found = JudgePage.of(request, view).found(view)
            if kind == "csv":
                return files.frame_csv(found.to_frame(), "judge")
            made = _WRITTEN[kind](found)
        return files.download(made.encode(), f"judge.{kind}", _KINDS[kind])

    @router.get("/disagreements-{place}.csv")
    def disagreements(request: Request, place: int) -> Response:
        with looking(site, known) as view:
            asked = JudgePage.of(request, view)
            if place not in asked.places:
                raise HTTPException(404, "There is no such judge here.")
            frame = asked.found(view).disagreements(view.metrics[place])
            return files.frame_csv(frame, f"disagreements-{place}")

    return router


def _page(found: Assessment) -> str:
    with files.DRAWING:
        return found.page()


_WRITTEN: dict[str, Callable[[Any], str]] = {
    "html": _page,
    "json": lambda found: json.dumps(
        plain_value(found.to_dict()), indent=2, ensure_ascii=False, allow_nan=False
    ),
    "tex": lambda found: latex_table(found.to_frame().to_dict("records")) + "\n",
}


def _judges(view: View) -> dict[int, str]:
    """Numbers and names of the metrics that are not covariates."""
    signs = view.campaign.pool.orientation
    return {k: name for k, name in enumerate(view.metrics) if signs.get(name) != 0}


def _columns(view: View) -> tuple[list[str], list[str]]:
    """Columns for slices, and columns that errors may depend on."""
    pool = view.campaign.pool
    numbers = [name for name, values in pool.metrics.items() if np.ptp(values) > 0]
    few = [name for name in slicing_columns(view) if name not in numbers]
    return [*few, *numbers], [*pool.texts, *numbers]


def _parts(found: Assessment) -> list[Any]:
    """The sections below the notes; the page shows the notes itself."""
    parts = found.sections(_LISTED, figures=False)
    parts = parts[1:] if found.notes else parts
    return [replace(part, download=False) if isinstance(part, Table) else part for part in parts]


def _values(view: View, asked: JudgePage) -> dict[str, Any]:
    """What the page shows; for contradictory choices it shows an error."""
    study = view.study
    found, why, scores = None, "", [] if study is None else study.ratings.scores.tolist()
    if study is not None and asked.places:
        try:
            found = asked.found(view)
            if not asked.cut:
                scores = found.ratings.scores.tolist()
        except FewgoldError as error:
            why = error.message_for("web")
    by, against = _columns(view)
    kinds = [] if found is None else [
        (place, view.metrics[place], kind, shows)
        for place in asked.places
        for kind, shows in found[view.metrics[place]].plots.items()
    ]  # fmt: skip
    return {
        "told": view.status, "at": view.version, "asked": asked, "query": asked.query,
        "judges": _judges(view), "columns_by": by, "columns_against": against, "why": why,
        "found": found, "study": study is not None, "level": headline(view)["level"],
        "parts": [] if found is None else _parts(found),
        "kinds": kinds if available() else [], "figures": available(), "without": WITHOUT,
        "cut_hints": cut_hints(scores, view.campaign.settings.higher_is_better),
        "criteria": [criterion.name for criterion in view.campaign.settings.criteria],
        "chosen": [(place, view.metrics[place]) for place in asked.places],
    }  # fmt: skip
