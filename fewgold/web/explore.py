"""Explore: the campaign at a glance, for its owner."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fewgold._text import fixed
from fewgold.campaign.status import goal_line, stop_line
from fewgold.errors import FewgoldError
from fewgold.report.figures import WITHOUT, available
from fewgold.web import explore_files, explore_settings
from fewgold.web.explore_tables import TABLES, roc_shown
from fewgold.web.explore_view import (
    Store,
    View,
    announcement,
    costs,
    cut_hints,
    growth,
    headline,
    looking,
    spoken,
    version,
)
from fewgold.web.site import Site

_SCATTERS = 12  # on the page; every metric has a page of its own besides


def routes(site: Site) -> APIRouter:
    """The pages."""
    router, store = APIRouter(), Store()
    router.include_router(explore_files.routes(site, store))
    router.include_router(explore_settings.routes(site))

    @router.get("/explore", response_class=HTMLResponse)
    def explore(request: Request, cut: str | None = None) -> HTMLResponse:
        site.owner(request)
        with looking(site, store) as view:
            values = _number(view) | _rest(view) | _judged(view, cut, "/explore")
            return site.page(request, "explore.html", **values)

    @router.get("/explore/number", response_class=HTMLResponse)
    def number(request: Request, seen: str | None = None, page: str | None = None) -> Response:
        site.owner(request)
        with site.open() as campaign:
            if seen is not None and seen == version(campaign):
                return Response(status_code=204)  # nothing changed, and the page stays as it is
        with looking(site, store) as view:
            values = _number(view) | {"old": page is not None and page != view.version}
            return site.page(request, "explore_number.html", fragment=True, **values)

    @router.get("/explore/metric/{place}", response_class=HTMLResponse)
    def metric(request: Request, place: str, cut: str | None = None) -> HTMLResponse:
        site.owner(request)
        with looking(site, store) as view:
            if place not in {str(k) for k in range(len(view.metrics))}:
                raise HTTPException(404, "There is no such metric.")
            name, study = view.metrics[int(place)], view.study
            found, short = None, {}
            if study is not None:
                rows = study.correlations
                found = rows[rows["metric"] == name].iloc[0].to_dict()
                short = {end: fixed(found[end], 2) for end in ("r", "low", "high")}
            values = _judged(view, cut, f"/explore/metric/{place}")
            return site.page(
                request, "explore_metric.html", metric=name, place=place, found=found, short=short,
                judge=view.campaign.pool.orientation.get(name) != 0, figures=available(),
                without=WITHOUT, told=view.status, at=view.version, level=headline(view)["level"],
                **values,
            )  # fmt: skip

    @router.post("/explore/more")
    def more(
        request: Request, count: str | None = Form(None), waves: str | None = Form(None)
    ) -> RedirectResponse:
        site.owner(request)
        budget = _whole("the number of segments to draw", count)
        with site.open() as campaign:
            drawn = len(campaign.waves)
            if waves != str(drawn):
                raise FewgoldError(
                    "a wave was drawn since that page was made. Look at it again, and draw "
                    "another one if it is still wanted."
                )
            if drawn:
                campaign.more(budget)
            else:
                campaign.select(budget)
        return RedirectResponse("/explore#waves", 303)

    @router.post("/explore/adopt")
    def adopt(request: Request) -> RedirectResponse:
        site.owner(request)
        with site.open() as campaign:
            campaign.adopt()
        return RedirectResponse("/explore#answers", 303)

    return router


def _number(view: View) -> dict[str, Any]:
    """What changes while one looks."""
    status = view.status
    return {
        "told": status,
        "at": view.version,
        "head": headline(view),
        "announcement": announcement(view),
        "goal": None if status.goal is None else goal_line(status.goal),
        "stop": None if status.stop is None else stop_line(status.stop),
        "spoken": spoken(view),
        "looks": growth(view) if status.estimate is not None else None,
        "figures": available(),
        "without": WITHOUT,
        "old": False,
    }


def _rest(view: View) -> dict[str, Any]:
    """What is made anew when one asks for the page."""
    study, campaign = view.study, view.campaign
    tables = {name: kind.shown(name, view) for name, kind in TABLES.items()}
    return {
        "tables": tables,
        "costs": costs(view),
        "agreement": _agreement(view),
        "left": len(campaign.pool) - view.status.sampled,
        "learns": campaign.strategy.sampler.step is not None,
        "metrics": list(enumerate(view.metrics)),
        "scatters": [] if study is None else list(enumerate(view.metrics))[:_SCATTERS],
        "documents": None if study is None else study.documents,
        "formats": explore_files.formats_told(),
    }


def _agreement(view: View) -> list[str]:
    """What the report says of how far raters agree."""
    from fewgold.report.study_sections import agreement

    study = view.study
    if study is None or study.raters is None:
        return []
    return agreement(study)


def _judged(view: View, cut: str | None, here: str) -> dict[str, Any]:
    """The part about ROC curves, for the cut that was chosen."""
    study = view.study
    scores = [] if study is None else study.ratings.scores.tolist()
    hints = cut_hints(scores)
    binary = bool(scores) and not hints and len(set(scores)) == 2
    asked = (cut or "").strip()[:40]
    found, why = (None, "")
    if study is not None and (asked or binary):
        table, why = view.tried_roc(asked)
        found = roc_shown(view, asked) if table is not None else None
    equal = study is None or bool(
        study.weights["weight_max"] == study.weights["weight_min"]  # drawn with equal chances
    )
    return {
        "cut": asked, "cut_hints": hints, "roc": found, "roc_why": why, "here": here,
        "equal_weights": equal, "binary": binary,
    }  # fmt: skip


def _whole(what: str, text: str | None) -> int:
    """A whole number that somebody typed."""
    told = (text or "").strip()
    if not told.isascii() or not told.isdigit() or len(told) > 9 or int(told) < 1:
        raise FewgoldError(f"{what} must be a whole number of at least 1; got {told[:40]!r}.")
    return int(told)
