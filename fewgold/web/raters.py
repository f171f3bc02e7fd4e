"""Raters: their links, how far they have come, and what they may see. For the owner alone."""

from __future__ import annotations

import hashlib
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from fewgold import report
from fewgold.campaign import Campaign
from fewgold.errors import FewgoldError
from fewgold.web.forms import Sent
from fewgold.web.site import Site

#: What raters may be shown, in words.
SHOWN = {
    "metrics": "the scores of the automatic metrics",
    "system": "the system that made the output",
    "estimate": "the estimate so far",
}


def routes(site: Site) -> APIRouter:
    """The pages."""
    # The owner is asked for before anything else is looked at, the form included.
    router = APIRouter(prefix="/raters", dependencies=[Depends(site.owner)])

    def page(request: Request, campaign: Campaign, status: int = 200, **more: Any) -> Response:
        given = {"trouble": {}, "named": "", "each": str(campaign.settings.each)}
        return site.page(
            request, "raters.html", status, **_values(site, request, campaign), **given | more
        )

    @router.get("")
    def raters(request: Request) -> Response:
        with site.open() as campaign:
            return page(request, campaign)

    @router.get("/state")
    def state(request: Request) -> Response:
        with site.open() as campaign:
            return site.page(request, "raters_state.html", **_values(site, request, campaign))

    @router.post("")
    def add(request: Request, form: Sent) -> Response:
        name = form.text("name")
        with site.open() as campaign:
            try:
                campaign.desk.add_rater(name)
            except FewgoldError as error:
                return page(request, campaign, 400, named=name, trouble={"name": _said(error)})
        return RedirectResponse("/raters", 303)

    @router.get("/remove")
    def ask(request: Request, name: str | None = None) -> Response:
        with site.open() as campaign:
            if name not in campaign.desk.links():
                raise FewgoldError(f"there is no rater {name!r}.")
            return site.page(
                request, "raters_remove.html", named=name, rated=campaign.desk.rated_by(name)
            )

    @router.post("/remove")
    def remove(form: Sent) -> Response:
        with site.open() as campaign:
            campaign.desk.remove_rater(form.text("name"))
        return RedirectResponse("/raters", 303)

    @router.post("/settings")
    def settings(request: Request, form: Sent) -> Response:
        each = form.text("each").strip()
        with site.open() as campaign:
            if not (each.isascii() and each.isdigit() and 1 <= len(each) <= 3 and int(each)):
                sentence = f"Give a whole number from 1 to 999; got {each[:20]!r}."
                return page(request, campaign, 400, each=each, trouble={"each": sentence})
            chosen = tuple(s for s in SHOWN if s in form.many("shown"))
            if (chosen, int(each)) != (campaign.settings.shown, campaign.settings.each):
                campaign.change(shown=chosen, each=int(each))
        return RedirectResponse("/raters", 303)

    return router


def _values(site: Site, request: Request, campaign: Campaign) -> dict[str, Any]:
    base = str(request.base_url.replace(scheme="https") if site.secure else request.base_url)
    people = [
        {
            "name": name,
            "mark": hashlib.sha256(name.encode()).hexdigest()[:10],
            "link": f"{base}rate/{token}",
            "rated": campaign.desk.rated_by(name),
            "skipped": campaign.desk.skipped(name),
        }
        for name, token in campaign.desk.links().items()
    ]
    return {
        "people": people,
        "progress": campaign.desk.progress(""),
        "settings": campaign.settings,
        "choices": SHOWN,
        "texts": list(campaign.pool.texts),
        "drawn": bool(campaign.waves),
        "announced": announced(campaign),
    }


def announced(campaign: Campaign) -> list[str]:
    """What the owner should know now: that the goal is reached, and that it may be stopped."""
    try:
        found = campaign.status()
    except FewgoldError as error:
        return [_said(error)]
    said = []
    if found.stop is not None and found.stop["fired"]:
        said.append(
            f"The stopping rule ({found.stop['rule']}) says that it is enough: it fired after "
            f"{found.stop['after']} ratings in the order of drawing. You may stop now."
        )
    elif (
        found.goal is not None
        and found.goal["more"] == 0
        and found.goal["half_width"] <= (found.goal["tolerance"])
    ):
        said.append(
            f"The interval is as narrow as wanted: ± {report.number(found.goal['half_width'])}, "
            f"and ± {report.number(found.goal['tolerance'])} was the goal. It holds for one look "
            "at the end: stopping the moment it looks narrow makes it err more often than it says."
        )
    if found.sampled and not found.wanting:
        said.append("Every sampled segment has the answers that it shall have.")
    return said


def _said(error: FewgoldError) -> str:
    text = error.message_for("web")
    return text[:1].upper() + text[1:]
