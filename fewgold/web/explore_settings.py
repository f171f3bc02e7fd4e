"""The settings of a campaign that may still be changed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fewgold._validate import SCALES, as_limits
from fewgold.campaign.settings import AMONG, REPEATS, RULES
from fewgold.errors import FewgoldError
from fewgold.web.site import Site

if TYPE_CHECKING:
    from fewgold.campaign import Campaign

#: Fields of the form, all of them settings of the same name.
FIELDS = (
    "tolerance", "confidence", "rule", "each", "repeats", "among", "limits", "question",
    "higher_is_better",
)  # fmt: skip
_DIRECTIONS = {"not told": None, "higher is better": True, "lower is better": False}
_LONGEST = 2000


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter()

    @router.get("/explore/settings", response_class=HTMLResponse)
    def settings(request: Request, changed: str | None = None) -> HTMLResponse:
        site.owner(request)
        with site.open() as campaign:
            said = "The settings are changed, and the journal says so." if changed == "1" else ""
            return _page(site, request, campaign, told(campaign), said=said)

    @router.post("/explore/settings")
    def change(
        request: Request,
        tolerance: str | None = Form(None),
        confidence: str | None = Form(None),
        rule: str | None = Form(None),
        each: str | None = Form(None),
        repeats: str | None = Form(None),
        among: str | None = Form(None),
        limits: str | None = Form(None),
        question: str | None = Form(None),
        higher_is_better: str | None = Form(None),
    ) -> Response:
        site.owner(request)
        given = dict(
            zip(
                FIELDS,
                (
                    tolerance,
                    confidence,
                    rule,
                    each,
                    repeats,
                    among,
                    limits,
                    question,
                    higher_is_better,
                ),
                strict=True,
            )
        )
        typed = {name: value for name, value in given.items() if value is not None}
        with site.open() as campaign:
            try:
                values = changes(campaign, typed)
            except FewgoldError as error:
                shown = told(campaign) | typed
                return _page(site, request, campaign, shown, trouble=str(error), status=400)
            if values:
                campaign.change(**values)
        return RedirectResponse(f"/explore/settings{'?changed=1' if values else ''}", 303)

    return router


def _page(
    site: Site, request: Request, campaign: Campaign, shown: dict[str, str], *, said: str = "",
    trouble: str = "", status: int = 200,
) -> HTMLResponse:  # fmt: skip
    settings = campaign.settings
    return site.page(
        request, "explore_settings.html", status, shown=shown, said=said, trouble=trouble,
        title=settings.name, strategy=settings.strategy, seed=settings.seed,
        answers=len(campaign.answers()), scales=sorted(SCALES),
        choices={
            "rule": RULES, "repeats": REPEATS, "among": AMONG,
            "higher_is_better": tuple(_DIRECTIONS),
        },
    )  # fmt: skip


def told(campaign: Campaign) -> dict[str, str]:
    """The settings as they stand in the form."""
    found = campaign.settings
    ends = "" if found.limits is None else " to ".join(f"{end:.15g}" for end in found.limits)
    tolerance = "" if found.tolerance is None else f"{found.tolerance:.15g}"
    return {
        "tolerance": tolerance, "confidence": f"{found.confidence:.15g}", "rule": found.rule,
        "each": str(found.each), "repeats": found.repeats, "among": found.among, "limits": ends,
        "question": found.asked,
        "higher_is_better": next(k for k, v in _DIRECTIONS.items() if v is found.higher_is_better),
    }  # fmt: skip


def changes(campaign: Campaign, typed: dict[str, str]) -> dict[str, Any]:
    """What differs from the settings, checked; an error says what is wrong with it."""
    before = told(campaign)
    cleaned = {name: text.replace("\r\n", "\n").strip() for name, text in typed.items()}
    read = {
        name: _read(name, text) for name, text in cleaned.items() if text != before[name].strip()
    }
    values = {name: v for name, v in read.items() if v != getattr(campaign.settings, name)}
    replace(campaign.settings, **values)
    return values


def _read(name: str, text: str) -> Any:
    if name == "limits":
        return _limits(text)
    if name == "tolerance":
        return _number(name, text) if text else None
    if name == "confidence":
        return _number(name, text)
    if name == "each":
        if not text.isascii() or not text.isdigit() or len(text) > 4:
            raise FewgoldError(f"each must be a whole number of raters; got {text[:40]!r}.")
        return int(text)
    if name == "question":
        if not text or len(text) > _LONGEST or "\x00" in text:
            raise FewgoldError(f"the question must have 1 to {_LONGEST} characters.")
        return text
    if name == "higher_is_better":
        if text not in _DIRECTIONS:
            raise FewgoldError(f"expected {', '.join(_DIRECTIONS)}; got {text[:40]!r}.")
        return _DIRECTIONS[text]
    return text


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise FewgoldError(f"{name} must be a number, such as 0.5; got {text[:40]!r}.")
    return value


def _limits(text: str) -> tuple[float, float] | None:
    """Two numbers, the name of a scale, or nothing."""
    if not text:
        return None
    parts = text.replace(",", " ").replace(" to ", " ").split()
    if len(parts) == 2:
        return as_limits((_number("limits", parts[0]), _number("limits", parts[1])))
    return as_limits(text[:40])
