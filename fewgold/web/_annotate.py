"""Annotate: one segment at a time, for raters who have a link.

Every form names its segment and carries a name of its own. A form that is sent twice is stored
once, and what is stored is about the segment that the rater saw, whatever happened meanwhile.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from fewgold.campaign import Campaign
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating
from fewgold.web._annotate_form import Fields, fields
from fewgold.web._annotate_view import Typed, scale_of, view
from fewgold.web._site import Site

COMMENT = 10_000  # characters
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,64}")
_LONGEST = 3600.0  # whoever takes longer than an hour was not there all the time

Form = Annotated[Fields, Depends(fields)]


def routes(site: Site) -> APIRouter:
    """The pages of raters; each is reached by the secret in its address and by nothing else."""
    router = APIRouter(prefix="/rate/{token}")

    def answer(request: Request, campaign: Campaign, token: str, **more: Any) -> Response:
        """A page for whoever asked without JavaScript, else the part of it that changes."""
        status = more.pop("status", 200)
        seen = more.pop("seen", None)
        values = view(campaign, _rater(campaign, token), token, **more)
        if _partial(request) and seen and values.get("seen") == seen:
            return Response(status_code=204)  # somebody waits, and it is as it was
        name = "rate_desk.html" if _partial(request) else "rate.html"
        return site.page(request, name, status, fragment=_partial(request), **values)

    def onward(request: Request, campaign: Campaign, token: str, **more: Any) -> Response:
        """After a change: the next segment at once, or an address that may be loaded again."""
        if _partial(request):
            return answer(request, campaign, token, **more)
        told = f"?again={more['again']}" if more.get("again") else ""
        told = "?kept=1" if more.get("said") == KEPT else told
        return RedirectResponse(f"/rate/{token}{told}", 303)

    @router.get("")
    def desk(
        request: Request,
        token: str,
        again: str | None = None,
        kept: str | None = None,
        seen: str | None = None,
    ) -> Response:
        with site.open() as campaign:
            rater = _rater(campaign, token)
            shown = again if again and _may_see_again(campaign, rater, again) else None
            said = KEPT if kept else ""
            return answer(request, campaign, token, again=shown, said=said, seen=seen)

    @router.post("")
    def rate(request: Request, token: str, form: Form) -> Response:
        with site.open() as campaign:
            rater = _rater(campaign, token)
            key, nonce = form.text("segment"), form.text("form")
            campaign.id_of(key)
            if not _NONCE.fullmatch(nonce):
                raise DataError("this form is not whole. Nothing was stored. Load the page again.")
            # A button says more than a field beside it that was filled before.
            told = form.text("press") or form.text("score")
            comment = form.text("comment").replace("\r\n", "\n")
            try:
                score = scale_of(campaign).parse(told)
                if len(comment) > COMMENT:
                    raise FewgoldError(
                        f"The comment has {len(comment):,} characters; {COMMENT:,} is the most."
                    )
            except FewgoldError as error:
                typed = Typed(told, comment, str(error), nonce, form.text("since"))
                return answer(request, campaign, token, again=key, typed=typed, status=400)
            kept = campaign.rate(
                Rating(key, score, rater, _now(), "", nonce, _details(comment, form.text("since")))
            )
            said = "Stored." if kept.new or kept.score == score else KEPT
            return onward(request, campaign, token, said=said)

    @router.post("/skip")
    def skip(request: Request, token: str, form: Form) -> Response:
        with site.open() as campaign:
            rater = _rater(campaign, token)
            campaign.skip(campaign.id_of(form.text("segment")), rater)
            return onward(request, campaign, token, said="Skipped.")

    @router.post("/undo")
    def undo(request: Request, token: str, form: Form) -> Response:
        with site.open() as campaign:
            rater = _rater(campaign, token)
            if form.text("what") == "skip":
                campaign.unskip(rater, campaign.id_of(form.text("name")))
                return onward(request, campaign, token, said="Here is the segment you skipped.")
            id = campaign.withdraw(rater, form.text("name"))
            if id is None:
                return onward(request, campaign, token, said="There was nothing to take back.")
            key = campaign.key_of(id)
            again = key if _may_see_again(campaign, rater, key) else None
            return onward(request, campaign, token, again=again, said="Taken back.")

    @router.post("/skipped")
    def skipped(request: Request, token: str) -> Response:
        with site.open() as campaign:
            campaign.unskip(_rater(campaign, token))
            return onward(request, campaign, token, said="Here is what you skipped.")

    return router


KEPT = (
    "That form was sent before, and its first answer is stored. Undo takes it back if you meant "
    "another."
)


def _rater(campaign: Campaign, token: str) -> str:
    found = campaign.rater_of(token)
    if found is None:
        raise HTTPException(
            404, "This link leads nowhere (any more). Ask whoever gave it to you for a new one."
        )
    return found


def _partial(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


def _may_see_again(campaign: Campaign, rater: str, key: str) -> bool:
    """Only what the rater took back and has not answered since; other addresses are made up."""
    try:
        return campaign.taken_back(rater, key) is not None
    except DataError:
        return False


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _details(comment: str, since: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {"via": "page"}
    if comment.strip():
        found["comment"] = comment.strip()
    try:
        seconds = time.time() - float(since)
    except ValueError:
        return found
    if 0 < seconds <= _LONGEST:
        found["seconds"] = round(seconds, 1)
    return found
