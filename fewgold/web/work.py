"""Raters' work, for the owner: answers, agreement, open items, settling, practice."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from fewgold.campaign import Campaign, checks, practice, sides
from fewgold.campaign.settings import ADJUDICATION
from fewgold.campaign.work import hours, waited
from fewgold.common.markdown import to_html
from fewgold.common.text import plain_frame
from fewgold.errors import FewgoldError
from fewgold.report import number
from fewgold.web import annotate
from fewgold.web.forms import Field, Form, Sent, by_name, named
from fewgold.web.site import Site, sentence

_PAGE = 20  # items of the queue to show at once

#: Settings for how raters work, which can be changed at any time.
HOW = by_name(
    Field("check_every", "Answers between checks", "0", 0, 10_000, True,
          hint="0 for no attention checks. A check looks like any other item and never counts."),
    Field("second", "Share with one more rater", "0", 0, 1,
          hint="Of the sampled items, at random, such as 0.2. They show how far raters agree."),
    Field("hold", "Minutes an item is reserved", "30", 0.1, 100_000,
          hint="After that time the next rater gets an item that was opened but not answered."),
    Field("practice", "Practice items", "0", 0, 20, True,
          hint="How many a new rater sees first. They never count."),
)  # fmt: skip
RULES = {
    "replaces": "it replaces the raters' answers",
    "joins": "it counts as one more rater",
}


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/work", dependencies=[Depends(site.owner)])

    def page(request: Request, campaign: Campaign, form: Form, status: int = 200) -> HTMLResponse:
        return site.page(request, "work.html", status, form=form, **_told(site, campaign))

    @router.get("", response_class=HTMLResponse)
    def work(request: Request) -> HTMLResponse:
        with site.open() as campaign:
            return page(request, campaign, Form.of(HOW, _standing(campaign)))

    @router.post("")
    def change(request: Request, sent: Sent) -> Response:
        with site.open() as campaign:
            form = Form.of(HOW, {name: sent.text(name) for name in HOW})
            if form.errors:
                return page(request, campaign, form, 400)
            found = {name: form[name] for name in HOW} | {"hold": 60 * form["hold"]}
            if found["check_every"] == 1:
                told = "Expected 0, or at least 2, so that there are answers between two checks."
                return page(request, campaign, form.but(check_every=told), 400)
            now = campaign.settings
            values = {name: v for name, v in found.items() if v != getattr(now, name)}
            if values:
                campaign.change(**values)
        return RedirectResponse("/work", 303)

    @router.post("/hand-on")
    def hand_on(sent: Sent) -> Response:
        with site.open() as campaign:
            campaign.desk.hand_on(None if sent.text("all") else sent.text("rater"))
        return RedirectResponse("/work", 303)

    _settling(router, site)
    _practice(router, site)
    _known(router, site)
    return router


def _standing(campaign: Campaign) -> dict[str, str]:
    """The settings as the form shows them."""
    now = campaign.settings
    return {
        "check_every": str(now.check_every), "second": f"{now.second:g}",
        "hold": f"{now.hold / 60:g}", "practice": str(now.practice),
    }  # fmt: skip


def _told(site: Site, campaign: Campaign) -> dict[str, Any]:
    """What raters did, in words."""
    found, place = campaign.work(), named(site.campaign)
    trained = practice.given(campaign.store)
    rows = [
        {
            "rater": row["rater"], "name": row["rater"] or "unnamed", "answers": row["answers"],
            "seconds": "" if row["seconds"] is None else hours(row["seconds"]),
            "same": _share(row, "same", "repeats"), "right": _share(row, "right", "known"),
            "skipped": row["skipped"], "held": row["held"],
            "practised": trained.get(row["rater"], 0),
        }
        for row in plain_frame(found.raters) or []
    ]  # fmt: skip
    grown = [
        {
            "shared": row["shared"], "same": f"{row['same']:.0%}",
            "alpha": "unknown" if row["alpha"] is None else _two(row["alpha"]),
            "ends": "" if row["low"] is None else f"{_two(row['low'])} to {_two(row['high'])}",
        }
        for row in plain_frame(found.agreement) or []
    ]  # fmt: skip
    held = [
        {"segment": h.segment, "rater": h.rater, "since": waited(h), "abandoned": h.abandoned}
        for h in found.held
    ]
    differ = campaign.settings.differ
    return {
        "rows": rows, "grown": grown, "now": grown[-1] if grown else None, "held": held,
        "remark": found.remark, "level": f"{found.confidence:.0%}",
        "checked": any(row["same"] or row["right"] for row in rows),
        "trained": bool(trained), "settings": campaign.settings,
        "median": hours(found.seconds) if found.timed else "", "timed": found.timed,
        "left": hours(found.left) if found.left > 0 else "",
        "queue": None if differ is None else len(campaign.differing()),
        "commands": [
            (f"fewgold work {place}", "Show what raters have done."),
            (f"fewgold work {place} --hand-on all",
             "Give items that raters left open to others; NAME instead of all for one rater's."),
            (f"fewgold work {place} --check-every 20 --second 0.2 --practice 3",
             "Set attention checks, second raters and practice."),
        ],
    }  # fmt: skip


def _two(value: float) -> str:
    """A number with two digits after the point."""
    return f"{value:.2f}".replace("-", "−")


def _share(row: dict[str, Any], what: str, count: str) -> str:
    """A share as text, such as ``90% of 10 (55% to 100%)``; empty if there were none."""
    if not row[count]:
        return ""
    low, high = row[f"{what}_low"], row[f"{what}_high"]
    return f"{row[what]:.0%} of {row[count]} ({low:.0%} to {high:.0%})"


# Settling items on which raters differ


def _settling(router: APIRouter, site: Site) -> None:
    def page(
        request: Request, campaign: Campaign, by: str, status: int = 200, trouble: str = "",
        at: str = "", score: str = "", why: str = "",
    ) -> HTMLResponse:  # fmt: skip
        return site.page(
            request, "work_queue.html", status, by=by, trouble=trouble, at=at, score=score, why=why,
            **_queue(site, campaign),
        )  # fmt: skip

    @router.get("/queue", response_class=HTMLResponse)
    def queue(request: Request, by: str = "") -> HTMLResponse:
        with site.open() as campaign:
            return page(request, campaign, by[:80])

    @router.post("/queue/rule")
    def rule(request: Request, sent: Sent) -> Response:
        with site.open() as campaign:
            try:
                differ = float(sent.text("differ").strip().replace(",", "."))
                campaign.change(differ=differ, adjudication=sent.text("adjudication"))
            except ValueError:
                told = "Give the difference as a number, such as 20."
                return page(request, campaign, "", 400, told)
            except FewgoldError as error:
                return page(request, campaign, "", 400, sentence(error.message_for("web")))
        return RedirectResponse("/work/queue", 303)

    @router.post("/queue")
    def settle(request: Request, sent: Sent) -> Response:
        key, by, told = sent.text("segment"), sent.text("by").strip(), sent.text("score")
        with site.open() as campaign:
            try:
                campaign.settle(
                    key, _score(campaign, told), by=by, comment=sent.text("comment")[:2000]
                )
            except FewgoldError as error:
                why = sentence(error.message_for("web"))
                return page(request, campaign, by, 400, why, key, told, sent.text("comment"))
            whole = _query(by)
        return RedirectResponse(f"/work/queue{whole}", 303)


def _query(by: str) -> str:
    """The adjudicator's name in the address, so it need not be typed for each item."""
    return f"?{urlencode({'by': by})}" if by else ""


def _scale(campaign: Campaign) -> annotate.Scale:
    asked = annotate.questions(campaign)
    return asked[0].scale if asked else annotate.scale_of(campaign)


def _score(campaign: Campaign, told: str) -> float:
    """Read the given score; for a pair, as the code of a verdict on left and right."""
    scale = _scale(campaign)
    if not isinstance(scale, annotate.SideScale):
        return scale.parse(told)
    codes = {verdict: code for code, verdict in sides.CODES.items()}
    return float(codes[scale.verdict(told)])


def _queue(site: Site, campaign: Campaign) -> dict[str, Any]:
    """The segments to settle, with their texts and each rater's answer."""
    settings, place = campaign.settings, named(site.campaign)
    found: list[dict[str, Any]] = []
    count = done = 0
    if settings.differ is not None:
        listed = campaign.differing()
        count, done = len(listed), len(campaign.store.settled())
        answers = campaign.answers()
        of = {str(id): k for k, id in enumerate(campaign.pool.ids.tolist())}
        for row in (plain_frame(listed) or [])[:_PAGE]:
            at = of[str(row["segment"])]
            own = answers[answers["segment"].astype(str) == str(row["segment"])]
            turned = bool(settings.sides) and sides.flipped(campaign.store, at, "")
            found.append({
                "key": campaign.desk.key_at(at), "difference": number(row["difference"]),
                **annotate.shown(campaign, at, ""),
                "answers": [
                    {"rater": a["rater"] or "unnamed",
                     "score": _side(a["score"], turned) if settings.sides
                     else annotate.plain(float(a["score"])),
                     "comment": annotate.comment_of(a["details"])}
                    for a in own.to_dict("records")
                ],
            })  # fmt: skip
    key = found[0]["key"] if found else "KEY"
    return {
        "items": found, "count": count, "done": done, "settings": settings, "rules": RULES,
        "kinds": ADJUDICATION, "scale": _scale(campaign), "question": settings.asked,
        "leads": settings.criteria[0].name if settings.criteria else "",
        "commands": [
            (f"fewgold adjudicate {place}", "List the items to settle."),
            (f"fewgold adjudicate {place} --segment {key} --score SCORE --by NAME",
             "Settle one of them."),
            (f"fewgold adjudicate {place} --differ D --rule replaces",
             "Set the smallest difference to settle, and what a settled score does."),
        ],
    }  # fmt: skip


def _side(score: float, turned: bool) -> str:
    """A preference as the adjudicator sees the pair: left or right is better, or neither."""
    if not score:
        return "neither"
    return f"{sides.LEFT if (score > 0) != turned else sides.RIGHT} is better"


# Practice


def _practice(router: APIRouter, site: Site) -> None:
    def page(
        request: Request, campaign: Campaign, status: int = 200, trouble: str = "",
        **typed: str,
    ) -> HTMLResponse:  # fmt: skip
        place = named(site.campaign)
        drawn = set(campaign.store.drawn().tolist())
        of = {str(id): k for k, id in enumerate(campaign.pool.ids.tolist())}
        rows = [
            {"segment": item.segment, "explanation": Markup(to_html(item.explanation)),
             "answer": ", ".join(f"{n} {annotate.plain(s)}".strip()
                                 for n, s in item.scores.items()),
             "drawn": of[item.segment] in drawn}
            for item in practice.items(campaign.store)
        ]  # fmt: skip
        free = [id for id, k in of.items() if k not in drawn]
        names = [c.name for c in campaign.settings.criteria] or [""]
        return site.page(
            request, "work_practice.html", status, rows=rows, trouble=trouble, typed=typed,
            settings=campaign.settings, names=names, free=len(free), some=free[:200],
            commands=[
                (f"fewgold work {place} --practice 3", "Set the number of practice items."),
                (f"fewgold work {place} --practice-items FILE",
                 "Choose them: a table with the columns id, score and explanation."),
            ],
        )  # fmt: skip

    @router.get("/practice", response_class=HTMLResponse)
    def listed(request: Request) -> HTMLResponse:
        with site.open() as campaign:
            return page(request, campaign)

    @router.post("/practice")
    def add(request: Request, sent: Sent) -> Response:
        typed = {"id": sent.text("id").strip(), "explanation": sent.text("explanation")}
        with site.open() as campaign:
            names = [c.name for c in campaign.settings.criteria] or [""]
            given = {name: sent.text(f"answer-{k}") for k, name in enumerate(names)}
            try:
                scores = {
                    name: practice.parse_answer(campaign.store, text)
                    for name, text in given.items()
                    if text.strip()
                }
                told = typed["explanation"].replace("\r\n", "\n")
                campaign.practise_on([practice.PracticeItem(typed["id"], scores, told)])
            except FewgoldError as error:
                why = sentence(error.message_for("web"))
                return page(request, campaign, 400, why, **typed)
        return RedirectResponse("/work/practice", 303)

    @router.post("/practice/drop")
    def drop(sent: Sent) -> Response:
        with site.open() as campaign:
            practice.drop_item(campaign.store, sent.text("id"))
        return RedirectResponse("/work/practice", 303)


# Known answers, for attention checks


def _known(router: APIRouter, site: Site) -> None:
    def page(
        request: Request, campaign: Campaign, status: int = 200, trouble: str = "",
        **typed: str,
    ) -> HTMLResponse:  # fmt: skip
        place, ids = named(site.campaign), campaign.pool.ids
        drawn = {str(id) for id in ids[campaign.store.drawn()].tolist()}
        free = [id for id in map(str, ids.tolist()) if id not in drawn]
        rows = [
            {"segment": id, "low": annotate.plain(low), "high": annotate.plain(high),
             "drawn": id in drawn}
            for id, (low, high) in checks.known(campaign.store).items()
        ]  # fmt: skip
        leads = campaign.settings.criteria[0].name if campaign.settings.criteria else ""
        return site.page(
            request, "work_known.html", status, rows=rows, trouble=trouble, typed=typed,
            settings=campaign.settings, some=free[:200], leads=leads,
            commands=[
                (f"fewgold work {place} --known FILE",
                 "Set them: a table with the columns id and score, or id, low and high."),
                (f"fewgold work {place} --check-every 20",
                 "Set the number of answers between checks."),
            ],
        )  # fmt: skip

    @router.get("/known", response_class=HTMLResponse)
    def listed(request: Request) -> HTMLResponse:
        with site.open() as campaign:
            return page(request, campaign)

    @router.post("/known")
    def add(request: Request, sent: Sent) -> Response:
        typed = {name: sent.text(name) for name in ("id", "low", "high")}
        with site.open() as campaign:
            try:
                low = practice.parse_answer(campaign.store, typed["low"])
                high = practice.parse_answer(campaign.store, typed["high"] or typed["low"])
                campaign.set_known({typed["id"]: (low, high)})
            except FewgoldError as error:
                why = sentence(error.message_for("web"))
                return page(request, campaign, 400, why, **typed)
        return RedirectResponse("/work/known", 303)

    @router.post("/known/drop")
    def drop(sent: Sent) -> Response:
        with site.open() as campaign:
            checks.drop_known(campaign.store, sent.text("id"))
        return RedirectResponse("/work/known", 303)
