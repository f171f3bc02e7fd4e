"""``fewgold serve``: pages for planning, annotating and exploring, behind one guard."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from fewgold.errors import FewgoldError
from fewgold.web import annotate, begin, explore, judge, monitor, overview, plan, replay, work
from fewgold.web import slices as slice_pages
from fewgold.web.folder import Campaigns
from fewgold.web.replay_data import NoTable
from fewgold.web.site import HEADERS, LOOPBACK, Guard, Site, same

__all__ = ["create_app"]

_HERE = Path(__file__).parent
#: Pages of one campaign, and those that need none.
_CAMPAIGN = (
    annotate.routes, annotate.owner_routes, explore.routes, judge.routes, monitor.routes,
    overview.routes, slice_pages.routes, work.routes,
)  # fmt: skip
_GENERAL = (plan.routes, replay.routes)


def create_app(
    campaign: str | Path | None = None, *, folder: str | Path | None = None,
    token: str | None = None, hosts: frozenset[str] = LOOPBACK, port: int = 0,
    secure: bool = False,
) -> FastAPI:  # fmt: skip
    """The application, ready for any ASGI server.

    Parameters
    ----------
    campaign
        A campaign to annotate and to explore.
    folder
        A folder of campaigns instead, in which new ones can be begun. Without either, there are
        only the pages for planning.
    token
        Secret of the owner; a new one by default. It is ``app.state.site.token``.
    hosts
        Host names under which the server answers.
    port
        Port of the server, which distinguishes its cookie from others on the same machine.
    secure
        True behind HTTPS: the cookie is then sent over HTTPS only.
    """
    path = None if campaign is None else Path(campaign)
    given = token or secrets.token_urlsafe(24)
    place = None if folder is None else Path(folder)
    site = Site(path, given, f"fewgold_owner_{port}", secure, place)
    app = _app(site, *_GENERAL) if path is None else _campaign(site, *_GENERAL)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    campaigns: Campaigns | None = None
    if place is not None:
        campaigns = Campaigns(place, lambda at: _campaign(replace(site, campaign=at, kept={})))
        app.include_router(begin.routes(site, campaigns))
        app.mount("/c/{campaign}", campaigns.owner())
        app.mount("/rate", campaigns.raters())

    @app.get("/", response_class=HTMLResponse)
    def home(request: Request, token: str | None = None) -> Any:
        if token is None:
            listed = [] if campaigns is None or not site.is_owner(request) else campaigns.told()
            return site.page(request, "home.html", campaigns=listed)
        if not same(token, site.token):
            raise HTTPException(403, "This address is not the one that fewgold serve printed.")
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            site.cookie, site.token, httponly=True, samesite="lax", secure=site.secure, path="/"
        )
        return answer

    app.add_middleware(Guard, hosts=hosts, cookie=site.cookie, token=site.token)
    return app


def _campaign(site: Site, *more: Callable[[Site], APIRouter]) -> FastAPI:
    """Pages of a campaign; each of several systems has pages under its own address too."""
    app = _app(site, *_CAMPAIGN, *more)
    if site.systems:
        app.mount("/of/{place}", _of_systems(site))
    return app


def _of_systems(site: Site) -> ASGIApp:
    made: dict[str, ASGIApp] = {}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        place = scope["path_params"]["place"]
        places = {str(k): name for k, name in enumerate(site.systems)}
        if place not in places or scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(404, "There is no such system here.")
        if place not in made:
            part = replace(site, system=places[place], kept={})
            own = (explore.routes, judge.routes, monitor.routes, slice_pages.routes)
            made[place] = _app(part, *own)
        await made[place](scope, receive, send)

    return app


def _app(site: Site, *pages: Callable[[Site], APIRouter]) -> FastAPI:
    """Pages, with readable errors."""
    app = FastAPI(title="fewgold", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.site = site
    for routes in pages:
        app.include_router(routes(site))

    @app.exception_handler(FewgoldError)
    def mistake(request: Request, error: FewgoldError) -> HTMLResponse:
        return site.page(request, "trouble.html", 400, sentence=error.message_for("web"))

    @app.exception_handler(NoTable)
    def no_table(request: Request, error: NoTable) -> Any:
        if request.method == "GET" and not request.query_params.get("data"):
            return RedirectResponse("/replay", 303)
        sentence, back = error.message_for("web"), ("/replay", "Choose a table")
        return site.page(request, "trouble.html", 404, sentence=sentence, back=back)

    @app.exception_handler(StarletteHTTPException)
    def trouble(request: Request, error: StarletteHTTPException) -> HTMLResponse:
        told = "There is no such page here." if error.detail == "Not Found" else str(error.detail)
        return site.page(request, "trouble.html", error.status_code, sentence=told)

    @app.exception_handler(RequestValidationError)
    def misfit(request: Request, error: RequestValidationError) -> HTMLResponse:
        fields = ", ".join(sorted({str(e["loc"][-1]) for e in error.errors()}))
        sentence = f"This cannot be read: {fields}. Go back and try again."
        return site.page(request, "trouble.html", 400, sentence=sentence)

    @app.exception_handler(Exception)
    def fault(request: Request, error: Exception) -> HTMLResponse:
        # Starlette calls this outside of all middleware and then raises the error again, so the
        # server writes it to stderr with its traceback.
        sentence = (
            "Something went wrong. The terminal of the server shows what. Stored answers are safe."
        )
        page = site.page(request, "trouble.html", 500, sentence=sentence)
        page.raw_headers += [*HEADERS, (b"cache-control", b"no-store")]
        return page

    return app
