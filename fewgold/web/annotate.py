"""Annotate: one segment at a time for raters who have a link, and the raters for the owner.

Every form names its segment and has its own name. A form that is sent twice is stored once, and the
answer is stored for the segment that the rater saw, whatever happened meanwhile.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from markupsafe import Markup

from fewgold import report
from fewgold.campaign import Campaign, practice, sides
from fewgold.campaign.answers import split_details, stored_details
from fewgold.campaign.database import now
from fewgold.campaign.desk import Desk, members, segment
from fewgold.campaign.study import next_place
from fewgold.common.markdown import to_html
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating, RatingScale
from fewgold.pool import Pool
from fewgold.web.forms import Fields, Sent, named
from fewgold.web.site import Site, sentence

# The scale as a rater sees it: buttons, a slider, or a field

_NUMBER = re.compile(r"[+-]?(\d{1,15}([.,]\d{0,15})?|[.,]\d{1,15})")
_STEPS = 7  # with more buttons than this, a field is faster
_PENALTIES = (0, 1, 2, 5, 10, 25)


@dataclass(frozen=True)
class Button:
    """A button: what it sends, its label, and the keys that press it."""

    value: str
    label: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scale:
    """How scores are entered, from the ends of the scale and which end is good (if known).

    >>> [Scale(ends).kind for ends in [(0, 1), (1, 5), (0, 100), (0, 25), None]]
    ['binary', 'steps', 'slider', 'penalty', 'open']
    >>> Scale((0, 100)).parse(" 62,5 ")
    62.5
    >>> Scale((0, 25), higher_is_better=False).words
    '0 = best, 25 = worst'
    """

    limits: tuple[float, float] | None
    higher_is_better: bool | None = None
    ends_called: tuple[str, str] | None = None

    @property
    def _told(self) -> RatingScale:
        return RatingScale(self.limits, self.higher_is_better, self.ends_called)

    @property
    def kind(self) -> str:
        """``binary``, ``steps``, ``slider``, ``penalty`` or ``open``."""
        if self.limits is None:
            return "open"
        low, high = self.limits
        if (low, high) == (0, 1):
            return "binary"
        if (low, high) == (0, 25) and not self.higher_is_better:
            return "penalty"
        whole = float(low).is_integer() and float(high).is_integer()
        return "steps" if whole and high - low < _STEPS else "slider"

    @property
    def ends(self) -> str:
        """The ends of the scale, such as ``0 to 100``, or nothing."""
        return "" if self.limits is None else f"{plain(self.limits[0])} to {plain(self.limits[1])}"

    @property
    def labels(self) -> tuple[str, str] | None:
        """The labels at both ends of the control, in the order of its buttons."""
        if self.kind != "binary":
            return self._told.ends
        if self.ends_called is not None:
            words = {True: ("best", "worst"), False: ("worst", "best"), None: None}
            way = words[self.higher_is_better]
            high, low = (f" ({word})" for word in way) if way else ("", "")
            return f"Yes = {self.ends_called[1]}{high}", f"No = {self.ends_called[0]}{low}"
        if self.higher_is_better is None:
            return None  # its buttons say yes and no
        return (
            ("Yes = best", "No = worst") if self.higher_is_better else ("Yes = worst", "No = best")
        )

    @property
    def words(self) -> str:
        """The labels in one line, such as ``0 = best, 25 = worst``."""
        return self._told.words

    @property
    def step(self) -> str:
        """Step of the slider, which has about a hundred of them."""
        if self.limits is None:
            return "any"
        low, high = self.limits
        return plain(10.0 ** math.floor(math.log10(high - low) - 1.9))

    @property
    def buttons(self) -> tuple[Button, ...]:
        """The answers that have a button."""
        if self.kind == "binary":
            return Button("1", "Yes", ("1", "y")), Button("0", "No", ("0", "n"))
        if self.kind == "penalty":
            return tuple(Button(str(v), str(v)) for v in _PENALTIES)
        if self.kind != "steps" or self.limits is None:
            return ()
        low, high = (int(end) for end in self.limits)
        values = range(low, high + 1)
        digits = low >= 0 and high <= 9
        return tuple(
            Button(str(v), str(v).replace("-", "−"), (str(v if digits else place),))
            for place, v in enumerate(values, 1)
        )

    @property
    def typed(self) -> bool:
        """Whether there is a field to type a score into."""
        return self.kind in ("slider", "penalty", "open")

    def parse(self, text: str | None) -> float:
        """Read the score that was sent; an error says what is wrong with it."""
        told = (text or "").strip().replace("−", "-")
        if not told:
            raise FewgoldError(f"Give a score first{self._wanted()}.")
        if not _NUMBER.fullmatch(told):
            raise FewgoldError(f"{_short(told)} is not a number. Give one{self._wanted()}.")
        score = float(told.replace(",", "."))
        if self.limits is not None and not self.limits[0] <= score <= self.limits[1]:
            raise FewgoldError(f"{_short(told)} is outside the scale. Give one{self._wanted()}.")
        if not self.typed and not score.is_integer():
            raise FewgoldError(f"{_short(told)} is between two answers. Press one of the buttons.")
        return score

    def _wanted(self) -> str:
        return f": a number from {self.ends}" if self.limits is not None else ", such as 3.5"


def plain(score: float) -> str:
    """A score as one would type it, with all its digits.

    >>> plain(4.0), plain(0.1), plain(-2.5), plain(1e-7)
    ('4', '0.1', '-2.5', '0.0000001')
    """
    if float(score).is_integer() and abs(score) < 1e15:
        return str(int(score))
    text = repr(float(score))
    return text if "e" not in text else f"{score:.17f}".rstrip("0").rstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:20]}…"


# What a rater sees

_NEIGHBOURS = 2  # neighbours on each side


@dataclass(frozen=True)
class Typed:
    """What a rater has typed and must not lose, and what is wrong with it.

    ``nonce`` is the name of the form and ``since`` the time when it was first shown; both are kept.
    """

    score: str = ""
    comment: str = ""
    trouble: str = ""
    nonce: str = ""
    since: str = ""
    scores: Mapping[str, str] = field(default_factory=dict)  # of several criteria


def view(
    campaign: Campaign, rater: str, token: str, place: int | None, *,
    typed: Typed | None = None, said: str = "", turn: practice.Turn | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Everything that the page shows about a segment, or why there is none at the moment.

    ``typed`` is what the rater had typed, ``said`` is what just happened, and ``turn`` marks a
    practice item.
    """
    progress = campaign.desk.progress(rater)
    values: dict[str, Any] = {
        "token": token, "rater": rater, "said": said, "question": campaign.settings.asked,
        "scale": scale_of(campaign), "progress": progress,
        "instructions": Markup(to_html(campaign.settings.instructions)),
        "last": campaign.desk.last(rater), "estimate": _estimate(campaign),
        "asked": questions(campaign), "turn": turn,
    }  # fmt: skip
    trained = campaign.settings.practice and not turn and not progress.own
    values["over"] = bool(trained and practice.given(campaign.store).get(rater))
    if place is None:
        state, skipped = _idle(campaign, rater)
        seen = f"{state}-{skipped}-{progress.all}"
        return values | {"state": state, "skipped": skipped, "seen": seen}
    old = campaign.desk.taken_back(rater, place)
    if typed is None and old is not None:
        before_that = {name: plain(score) for name, score in old.scores.items()}
        comment = str(old.details.get("comment", ""))
        verdict = str(old.details.get("verdict", ""))
        typed = Typed(verdict or plain(old.score), comment, scores=before_that)
    typed = typed or Typed()
    before: list[int] = []
    after: list[int] = []
    two = bool(campaign.settings.sides)  # neighbours would reveal the systems
    if campaign.pool.documents is not None and campaign.pool.texts and not two:
        # Neighbours are from the same document and system. Outputs of other systems are not
        # context.
        whole = members(campaign.pool, place)
        at = whole.index(place)
        before, after = whole[max(at - _NEIGHBOURS, 0) : at], whole[at + 1 : at + 1 + _NEIGHBOURS]
    return values | {
        "state": "rate", "key": campaign.desk.key_at(place, rater),
        **shown(campaign, place, rater),
        "before": [_texts(campaign.pool, p) for p in before],
        "after": [_texts(campaign.pool, p) for p in after],
        "facts": _facts(campaign, place), "typed": typed,
        "old": "" if old is None else _told(old),
        "nonce": typed.nonce or secrets.token_urlsafe(12),
        "since": typed.since or f"{time.time():.3f}",
    }  # fmt: skip


class SideScale(Scale):
    """Which of two outputs is better."""

    @property
    def kind(self) -> str:
        return "sides"

    @property
    def labels(self) -> None:
        return None

    @property
    def words(self) -> str:
        return "left, right, equally good, or both bad"

    @property
    def buttons(self) -> tuple[Button, ...]:
        return (
            Button(sides.LEFT, "Left", ("1", "ArrowLeft")),
            Button(sides.RIGHT, "Right", ("2", "ArrowRight")),
            Button(sides.TIE, "Equally good", ("3", "t")),
            Button(sides.BOTH_BAD, "Both bad", ("4", "b")),
        )

    def verdict(self, text: str) -> str:
        """Read which button was pressed; an error says what is wrong."""
        if text not in sides.CODES.values():
            raise FewgoldError(f"Press one of the buttons: {self.words}.")
        return text


def scale_of(campaign: Campaign) -> Scale:
    """The scale of a campaign."""
    settings = campaign.settings
    if settings.sides:
        return SideScale(settings.limits, True)
    return Scale(settings.limits, settings.higher_is_better, settings.ends)


@dataclass(frozen=True)
class Question:
    """One of several criteria on the form: the name of its field, the question and the scale."""

    field: str
    name: str
    asked: str
    scale: Scale


def questions(campaign: Campaign) -> tuple[Question, ...]:
    """The criteria of a campaign; none if there is a single score."""
    return tuple(
        Question(f"score-{k}", c.name, c.asked, Scale(c.limits, c.higher_is_better))
        for k, c in enumerate(campaign.settings.criteria)
    )


def _told(rating: Rating) -> str:
    """The score or scores of an answer in one line."""
    if "verdict" in rating.details:
        return str(rating.details["verdict"])
    if not rating.scores:
        return plain(rating.score)
    return ", ".join(f"{name} {plain(score)}" for name, score in rating.scores.items())


def comment_of(details: str) -> str:
    """The rater's comment in the stored details of an answer."""
    return str(split_details(details)[0].get("comment", ""))


def shown(campaign: Campaign, place: int, rater: str) -> dict[str, Any]:
    """The texts to rate; for a pair, the common texts, and left and right."""
    if not campaign.settings.sides:
        texts = _texts(campaign.pool, place) or {"segment": segment(campaign, place).id}
        return {"texts": texts, "sides": {}}
    texts = dict(segment(campaign, place, rater=rater).texts)
    both = {name.capitalize(): texts.pop(name) for name in (sides.LEFT, sides.RIGHT)}
    return {"texts": texts, "sides": both}


def _texts(pool: Pool, place: int) -> dict[str, str]:
    """The texts by name. If a pool has none, raters only see the id."""
    return {name: str(column[place]) for name, column in pool.texts.items()}


def _practised(
    campaign: Campaign, rater: str, token: str, done: practice.Practised
) -> dict[str, Any]:
    """What the page shows after a practice item with a right answer or an explanation."""
    details, scores = split_details(done.details)
    given = _told(Rating("", done.score, rater, details=details, scores=scores))
    known = ", ".join(f"{name} {plain(s)}".strip() for name, s in done.known.items())
    keys = campaign.store.keys
    if isinstance(keys, sides.SideKeys) and done.known:
        turned = sides.flipped(campaign.store, done.place, rater)
        better = {0.0: "neither", 1.0: sides.RIGHT if turned else sides.LEFT}
        known = better.get(done.known[""], sides.LEFT if turned else sides.RIGHT)
    return {
        "rater": rater, "token": token, "question": campaign.settings.asked, "given": given,
        "known": known, "explanation": Markup(to_html(done.explanation)),
        **shown(campaign, done.place, rater),
    }  # fmt: skip


def _idle(campaign: Campaign, rater: str) -> tuple[str, int]:
    """Why there is nothing to rate (early, wait, skipped or done), and how many were skipped."""
    skipped, other = campaign.desk.left(rater)
    waves, most = campaign.waves, min(campaign.settings.budget or 0, len(campaign.pool))
    # A strategy that learns draws more once open segments are answered.
    learns = campaign._strategy.sampler.step is not None and sum(w.n for w in waves) < most
    if not waves:
        return "early", skipped
    if other or learns:
        return "wait", skipped
    return ("skipped" if skipped else "done"), skipped


def _facts(campaign: Campaign, place: int) -> Mapping[str, str]:
    """What the owner lets raters see besides the texts, by default nothing."""
    shown, pool = campaign.settings.shown, campaign.pool
    found: dict[str, str] = {}
    if "system" in shown:
        system = campaign.settings.system if pool.system is None else str(pool.system[place])
        if system:
            found["system"] = system
    if "metrics" in shown:
        found |= {name: report.number(float(v[place])) for name, v in pool.metrics.items()}
    return found


def _estimate(campaign: Campaign) -> str:
    """The running estimate in a sentence, if the owner lets raters see it."""
    if "estimate" not in campaign.settings.shown:
        return ""
    found = campaign.status().estimate
    if found is None or found["value"] is None:
        return "There is no estimate yet."
    text = f"The estimate so far is {report.number(found['value'])}"
    if found["low"] is None or found["high"] is None:
        return f"{text}."
    return (
        f"{text} ({found['confidence']:.0%} interval {report.number(found['low'])} to "
        f"{report.number(found['high'])})."
    )


COMMENT = 10_000  # characters
NO_LINK = "This link does not work (any more). Ask whoever gave it to you for a new one."
_NONCE = re.compile(r"[A-Za-z0-9_-]{8,64}")
_LONGEST = 3600.0  # a rater who takes longer than an hour has been away


@dataclass(frozen=True)
class Seat:
    """A rater at work: the campaign, the rater's name, and the secret of their link."""

    campaign: Campaign
    rater: str
    token: str

    @property
    def desk(self) -> Desk:
        return self.campaign.desk

    def taken_back(self, key: str) -> int | None:
        """The row of a segment whose answer the rater took back and has not replaced.

        None for any other segment: such an address is made up.
        """
        try:
            place = self.desk.place_of(key)
        except DataError:
            return None
        return None if self.desk.taken_back(self.rater, place) is None else place

    def practised(self, key: str) -> practice.Practised | None:
        """Their answer to a practice item, given its key; None for anything else."""
        try:
            place = self.desk.place_of(key)
        except DataError:
            return None
        return practice.answered(self.campaign.store, self.rater, place)


def _read(at: Seat, key: str, nonce: str, since: str, form: Fields) -> Rating | Typed:
    """Read the answer in a form, or return what was typed and what is wrong with it."""
    # A pressed button overrides a field that was filled in before.
    told = form.text("press") or form.text("score")
    comment = form.text("comment").replace("\r\n", "\n")
    asked = questions(at.campaign)
    each = {q.name: form.text(q.field) for q in asked}
    scores: dict[str, float] = {}
    more: Mapping[str, Any] = {}
    try:
        for q in asked:
            try:
                scores[q.name] = q.scale.parse(each[q.name])
            except FewgoldError as error:
                raise FewgoldError(f"{q.name}: {error.message_for('web')}") from None
        scale = scale_of(at.campaign)
        if isinstance(scale, SideScale):
            score, more = _preferred(at, key, scale.verdict(told))
        else:
            score = next(iter(scores.values())) if asked else scale.parse(told)
        if len(comment) > COMMENT:
            raise FewgoldError(
                f"The comment has {len(comment):,} characters; the limit is {COMMENT:,}."
            )
    except FewgoldError as error:
        return Typed(told, comment, error.message_for("web"), nonce, since, each)
    details = {**_details(comment, since), **more}
    return Rating(key, score, at.rater, now(), "", nonce, details, scores)


def routes(site: Site) -> APIRouter:
    """The pages of raters; each is reached only by the secret in its address."""
    router = APIRouter(prefix="/rate/{token}")

    @contextmanager
    def sitting(token: str) -> Iterator[Seat]:
        with site.open() as campaign:
            rater = campaign.desk.rater_of(token)
            if rater is None:
                raise HTTPException(404, NO_LINK)
            yield Seat(campaign, rater, token)

    def answer(
        request: Request, at: Seat, place: int | None, *, status: int = 200,
        seen: str | None = None, **more: Any,
    ) -> Response:  # fmt: skip
        """A whole page without JavaScript, otherwise the part that changes."""
        values = view(at.campaign, at.rater, at.token, place, **more)
        if _partial(request) and seen and values.get("seen") == seen:
            return Response(status_code=204)  # nothing has changed for a waiting rater
        name = "rate_desk.html" if _partial(request) else "rate.html"
        return site.page(request, name, status, fragment=_partial(request), **values)

    def begin(request: Request, at: Seat, *, said: str = "", seen: str | None = None) -> Response:
        """What a rater sees on opening the page: practice first, if they are new."""
        turn = practice.hand_out(at.campaign.store, at.rater)
        place = turn.place if turn else next_place(at.campaign, at.rater)
        return answer(request, at, place, said=said, seen=seen, turn=turn)

    def onward(
        request: Request, at: Seat, said: str, query: str = "", place: int | None = None
    ) -> Response:
        """After a change: the next segment at once, or a redirect that is safe to reload."""
        if not _partial(request):
            return RedirectResponse(f"/rate/{at.token}{query}", 303)
        if place is None:
            place = next_place(at.campaign, at.rater)
        return answer(request, at, place, said=said)

    @router.get("")
    def desk(
        request: Request, token: str, again: str | None = None, kept: str | None = None,
        seen: str | None = None, practised: str | None = None,
    ) -> Response:  # fmt: skip
        with sitting(token) as at:
            if practised and (done := at.practised(practised)) is not None:
                told = _practised(at.campaign, at.rater, token, done)
                return site.page(request, "rate_practised.html", **told)
            place = at.taken_back(again) if again else None
            said = KEPT if kept else ""
            if place is None:
                return begin(request, at, said=said, seen=seen)
            return answer(request, at, place, said=said, seen=seen)

    @router.post("")
    def rate(request: Request, token: str, form: Sent) -> Response:
        with sitting(token) as at:
            key, nonce, since = (form.text(name) for name in ("segment", "form", "since"))
            if not _NONCE.fullmatch(nonce):
                at.desk.place_of(key)
                raise DataError("this form is incomplete. Nothing was stored. Load the page again.")
            given = _read(at, key, nonce, since, form)
            if isinstance(given, Typed):
                return answer(request, at, at.desk.place_of(key), typed=given, status=400)
            place = None
            if _partial(request):
                stored, place = at.desk.rate_and_claim(given)
            else:
                stored = at.desk.rate(given)
            if stored.new or (stored.score, stored.scores) == (given.score, given.scores):
                return onward(request, at, "Stored.", place=place)
            return onward(request, at, KEPT, "?kept=1", place)

    @router.post("/practice")
    def practise(request: Request, token: str, form: Sent) -> Response:
        with sitting(token) as at:
            key, nonce, since = (form.text(name) for name in ("segment", "form", "since"))
            place, store = at.desk.place_of(key), at.campaign.store
            if form.text("skip"):
                practice.store_answer(store, at.rater, place, None)
                query = ""
            else:
                given = _read(at, key, nonce, since, form)
                turn = practice.hand_out(store, at.rater)
                if isinstance(given, Typed) and turn is not None and turn.place == place:
                    return answer(request, at, place, typed=given, status=400, turn=turn)
                if isinstance(given, Rating):
                    practice.store_answer(
                        store, at.rater, place, given.score, stored_details(given)
                    )
                done = at.practised(key)
                query = f"?practised={key}" if done is not None and done.explained else ""
            if not _partial(request):
                return RedirectResponse(f"/rate/{token}{query}", 303)
            if query and done is not None:
                told = _practised(at.campaign, at.rater, token, done)
                return site.page(request, "rate_practised_desk.html", fragment=True, **told)
            return begin(request, at, said="That was practice.")

    @router.post("/skip")
    def skip(request: Request, token: str, form: Sent) -> Response:
        with sitting(token) as at:
            at.desk.skip(form.text("segment"), at.rater)
            return onward(request, at, "Skipped.")

    @router.post("/undo")
    def undo(request: Request, token: str, form: Sent) -> Response:
        with sitting(token) as at:
            if form.text("what") == "skip":
                at.desk.unskip(at.rater, form.text("name"))
                return onward(request, at, "Here is the segment you skipped.")
            key = at.desk.withdraw(at.rater, form.text("name"))
            if key is None:
                return onward(request, at, "There was nothing to undo.")
            place = at.taken_back(key)
            query = "" if place is None else f"?again={key}"
            return onward(request, at, "Undone.", query, place)

    @router.post("/skipped")
    def skipped(request: Request, token: str) -> Response:
        with sitting(token) as at:
            at.desk.unskip(at.rater)
            return onward(request, at, "Here is what you skipped.")

    return router


KEPT = (
    "This form was sent before, and its first answer is stored. If you meant another answer, use "
    "Undo."
)


def _preferred(at: Seat, key: str, verdict: str) -> tuple[float, Mapping[str, str]]:
    """The score of a verdict on a pair, given which output was where, and the details to record."""
    pool, place, keys = at.campaign.pool, at.desk.place_of(key), at.campaign.store.keys
    assert isinstance(keys, sides.SideKeys)
    turned = keys.side(key, lambda place: str(pool.ids[place]))
    told = sides.details_of(pool, at.campaign.settings.sides, place, turned, verdict)
    return sides.score_of(verdict, turned), told


def _partial(request: Request) -> bool:
    return request.headers.get("hx-request") == "true"


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


# Raters, for the owner

#: What raters may be shown.
SHOWN = {
    "metrics": "the scores of the automatic metrics",
    "system": "the system that made the output",
    "estimate": "the estimate so far",
}


def owner_routes(site: Site) -> APIRouter:
    """The owner's pages about raters: links, progress, and what raters may see."""
    # Check for the owner before anything else, including the form.
    router = APIRouter(prefix="/raters", dependencies=[Depends(site.owner)])

    def page(request: Request, campaign: Campaign, status: int = 200, **more: Any) -> Response:
        given = {"trouble": {}, "named": "", "each": str(campaign.settings.each)}
        return site.page(
            request, "raters.html", status, **_raters(site, request, campaign), **given | more
        )

    @router.get("")
    def raters(request: Request) -> Response:
        with site.open() as campaign:
            return page(request, campaign)

    @router.get("/state")
    def state(request: Request) -> Response:
        with site.open() as campaign:
            return site.page(request, "raters_state.html", **_raters(site, request, campaign))

    @router.post("")
    def add(request: Request, form: Sent) -> Response:
        name = form.text("name")
        with site.open() as campaign:
            try:
                campaign.desk.add_rater(name)
            except FewgoldError as error:
                trouble = {"name": sentence(error.message_for("web"))}
                return page(request, campaign, 400, named=name, trouble=trouble)
        return RedirectResponse("/raters", 303)

    @router.get("/remove")
    def ask(request: Request, name: str = "") -> Response:
        if not name:
            raise FewgoldError("which rater is to be removed? Choose one on the page Raters.")
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
                told = f"Give a whole number from 1 to 999; got {each[:20]!r}."
                return page(request, campaign, 400, each=each, trouble={"each": told})
            chosen = tuple(s for s in SHOWN if s in form.many("shown"))
            if (chosen, int(each)) != (campaign.settings.shown, campaign.settings.each):
                campaign.change(shown=chosen, each=int(each))
        return RedirectResponse("/raters", 303)

    return router


def _raters(site: Site, request: Request, campaign: Campaign) -> dict[str, Any]:
    place = named(site.campaign)
    base = str(request.base_url.replace(scheme="https") if site.secure else request.base_url)
    people = [
        {
            "name": name, "mark": hashlib.sha256(name.encode()).hexdigest()[:10],
            "link": f"{base}rate/{token}", "rated": campaign.desk.rated_by(name),
            "skipped": campaign.desk.skipped(name),
        }
        for name, token in campaign.desk.links().items()
    ]  # fmt: skip
    return {
        "people": people, "progress": campaign.desk.progress(""), "settings": campaign.settings,
        "choices": SHOWN, "texts": list(campaign.pool.texts), "drawn": bool(campaign.waves),
        "announced": _announced(campaign),
        "commands": [
            (f"fewgold settings {place} --each {campaign.settings.each} --show "
             f"{','.join(campaign.settings.shown) or 'none'}",
             "Set the raters per segment and what they see."),
            (f"fewgold status {place}", "See how many answers each rater has given."),
        ],
    }  # fmt: skip


def _announced(campaign: Campaign) -> list[str]:
    """What the owner should know now: that the goal is reached, or that rating can stop."""
    try:
        found = campaign.status()
    except FewgoldError as error:
        return [sentence(error.message_for("web"))]
    said = []
    if found.stop is not None and found.stop["fired"]:
        said.append(
            f"The stopping rule ({found.stop['rule']}) fired after {found.stop['after']} ratings "
            "in the order of drawing. You can stop now."
        )
    elif (goal := found.goal) and goal["more"] == 0 and goal["half_width"] <= goal["tolerance"]:
        said.append(
            f"The interval is as narrow as wanted: ± {report.number(goal['half_width'])}, "
            f"and the goal was ± {report.number(goal['tolerance'])}. It is valid for one look at "
            "the end; if you stop the moment it looks narrow, it misses the true score more "
            "often than it should."
        )
    if found.sampled and not found.incomplete:
        said.append("Every sampled segment has all its answers.")
    return said
