"""A campaign at a glance for the owner: progress, what comes next, waves and downloads."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from fewgold import formats
from fewgold.campaign.status import goal_line, stop_line
from fewgold.common.text import decimals, fixed, plain_frame
from fewgold.comparison.result import needed_line
from fewgold.errors import FewgoldError
from fewgold.plots.style import available
from fewgold.report import number
from fewgold.web import explore_view as views
from fewgold.web import files, preferred
from fewgold.web.drawing import chart
from fewgold.web.explore_view import OF_ALL, TABLES, Results, View, looking
from fewgold.web.files import IMAGES, TextTable, download, frame_csv
from fewgold.web.files import known as of
from fewgold.web.forms import Sent, named
from fewgold.web.replay import ComparePage
from fewgold.web.site import Site

if TYPE_CHECKING:
    from fewgold.comparison import Comparison, SlicedComparison


@dataclass(frozen=True)
class Step:
    """What to do next: a heading, the reason, and the page to do it on."""

    what: str
    why: str
    page: str
    button: str


def routes(site: Site) -> APIRouter:
    """The pages."""
    router, known = APIRouter(dependencies=[Depends(site.owner)]), Results.shared(site)

    @router.get("/overview", response_class=HTMLResponse)
    def overview(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            return site.page(request, "overview.html", **_state(view), **_about(site, view))

    @router.get("/overview/state", response_class=HTMLResponse)
    def state(request: Request, seen: str | None = None) -> Response:
        with site.open() as campaign:
            if seen is not None and seen == views.version(campaign):
                return Response(status_code=204)  # nothing has changed, so the page stays as it is
        with looking(site, known) as view:
            return site.page(request, "overview_state.html", **_state(view))

    @router.get("/waves", response_class=HTMLResponse)
    def waves(request: Request, count: str | None = None) -> HTMLResponse:
        with looking(site, known) as view:
            return site.page(request, "waves.html", **_waves(site, view, count))

    @router.post("/waves")
    def more(form: Sent) -> RedirectResponse:
        count = form.text("count")
        if not count.isascii() or not count.isdigit() or len(count) > 9 or int(count) < 1:
            raise FewgoldError(
                "the number of segments to draw must be a whole number of at least 1; got "
                f"{count[:40]!r}."
            )
        with site.open() as campaign:
            drawn, budget = len(campaign.waves), int(count)
            if form.text("waves") != str(drawn):
                raise FewgoldError(
                    "a wave has been drawn since this page was loaded. Check the waves below, "
                    "and draw another one if you still need it."
                )
            if drawn:
                campaign.more(budget)
            else:
                campaign.select(budget)
        return RedirectResponse("/waves", 303)

    @router.get("/compare", response_class=HTMLResponse)
    def compare(request: Request, by: str | None = None) -> HTMLResponse:
        with looking(site, known) as view:
            found, place = view.comparison, named(site.campaign)
            if view.campaign.settings.sides:
                judges = preferred.judges_of(view, request)
                return site.page(
                    request, "preferred.html", figures=available(),
                    **preferred.shown(view, judges, place),
                )  # fmt: skip
            gaps = " --rated-only" if view.status.unrated else ""
            by, sliced, why = (by or "")[:200], None, ""
            if by and found is not None:
                try:
                    sliced = view.sliced(by)
                except FewgoldError as error:
                    why = error.message_for("web")
            within = f" --by {shlex.quote(by)}" if by else ""
            line = f"fewgold compare {place}{within}{gaps}"
            return site.page(
                request, "compare.html", told=view.status, at=view.version,
                shown=None if found is None else ComparePage().show(found), apart=not_apart(view),
                figures=available(), by=by, columns=views.slicing_columns(view), sliced=sliced,
                grid=None if sliced is None else _grid(sliced), why=why,
                query=urlencode({"by": by}),
                commands=[(line, "Compute the ranking, differences and groups.")],
            )  # fmt: skip

    @router.get("/compare/slices.{suffix}")
    def within(suffix: str, by: str | None = None) -> Response:
        with looking(site, known) as view:
            _compared(view)
            sliced = view.sliced((by or "")[:200])
            if suffix == "csv":
                return frame_csv(sliced.differences(), "slices")
            of(suffix, IMAGES, "figure")
            key = ("compare by", by, suffix)
            made = view.figures.get(key, lambda: files.drawn(sliced.plot, suffix))
        return download(made, f"slices.{suffix}", IMAGES[suffix], save=False)

    @router.get("/compare/figure/{kind}.{suffix}")
    def figure(
        request: Request, kind: str, suffix: str, keep: str | None = None
    ) -> Response:  # fmt: skip
        with looking(site, known) as view:
            if view.campaign.settings.sides:
                of(kind, preferred.FIGURES, "figure"), of(suffix, IMAGES, "figure")
                judges = preferred.judges_of(view, request)
                drawn = preferred.found(view, judges)
                made = view.figures.get(
                    ("preferred", judges, suffix), lambda: files.drawn(drawn.plot, suffix)
                )
                return download(made, f"{kind}.{suffix}", IMAGES[suffix], save=bool(keep))
            found = _compared(view)
            of(kind, ComparePage.FIGURES, "figure"), of(suffix, IMAGES, "figure")
            made = view.figures.get(
                ("compare", kind, suffix), lambda: files.drawn(lambda: found.plot(kind), suffix)
            )
        return download(made, f"{kind}.{suffix}", IMAGES[suffix], save=bool(keep))

    @router.get("/compare/table/{name}.csv")
    def table(request: Request, name: str) -> Response:
        with looking(site, known) as view:
            if view.campaign.settings.sides:
                judges = preferred.judges_of(view, request)
                made = preferred.found(view, judges)
                frames = preferred.frames(made, view.status.confidence)
                return frame_csv(frames[of(name, frames, "table")], name)
            page, found = ComparePage(), _compared(view)
            of(name, page.show(found)["tables"], "table")
            return frame_csv(page.frame(found, name), name)

    @router.get("/downloads", response_class=HTMLResponse)
    def downloads(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            place = named(site.campaign)
            tables = {n: TABLES[n] for n in (OF_ALL if site.systems else TABLES)}
            commands = [
                (f"fewgold report {place} -o report.html", "Write the report."),
                (
                    f"fewgold export {place} -o to_rate.csv",
                    "Write the segments to rate as a sheet.",
                ),
                (f"fewgold export {place} -o answers.csv --what ratings", "Write all answers."),
                (f"fewgold status {place} --json", "Print the status for scripts."),
            ]
            return site.page(
                request, "downloads.html", told=view.status, head=views.headline(view),
                formats=[(name, formats.get(name).title) for name in formats.names()],
                tables=[(n, k.title) for n, k in tables.items() if k.make(view) is not None],
                commands=commands,
            )  # fmt: skip

    return router


def _compared(view: View) -> Comparison:
    found = view.comparison
    if found is None:
        raise HTTPException(404, "There is no comparison yet.")
    return found


def _grid(sliced: SlicedComparison) -> dict[str, Any]:
    """The differences within slices, as a table for the page."""
    heads, rows = sliced.cells()
    heads[4] = "first − second"
    order = [0, 3, 1, 2, 4, 5, 6]  # columns of text first
    return {
        "id": "slices", "caption": f"Differences by {sliced.by}", "words": 2,
        "heads": [heads[k] for k in order], "rows": [[row[k] for k in order] for row in rows],
    }  # fmt: skip


def _state(view: View) -> dict[str, Any]:
    """The part that updates itself."""
    status = view.status
    return {
        "ranking": views.ranking(view), "apart": not_apart(view),
        "told": status, "at": view.version, "head": views.headline(view),
        "announcement": views.announcement(view), "next": next_step(view),
        "pairs": bool(view.campaign.settings.sides), "criteria": _criteria(view),
        "goal": None if status.goal is None else goal_line(status.goal),
        "stop": None if status.stop is None else stop_line(status.stop),
    }  # fmt: skip


def _criteria(view: View) -> TextTable | None:
    """The progress and score of each of several criteria; None if there is a single score."""
    rows = []
    for one in view.status.criteria:
        score = ends = "none yet"
        if one.get("value") is not None:
            digits = decimals(one["se"] or 0.0)
            score = fixed(one["value"], digits)
            if one["low"] is not None and one["high"] is not None:
                ends = f"{fixed(one['low'], digits)} to {fixed(one['high'], digits)}"
        rows.append([one["criterion"], str(one["rated"]), score, ends])
    level = f"{100 * view.status.confidence:.6g}% interval"
    heads = ["criterion", "rated", "score so far", level]
    return TextTable("criteria", "Scores of all criteria", heads, rows) if rows else None


def _about(site: Site, view: View) -> dict[str, Any]:
    """The part that does not change."""
    settings, pool, place = view.campaign.settings, view.campaign.pool, named(site.campaign)
    documents = (
        "" if pool.documents is None else f" in {len(set(pool.documents.tolist())):,} documents"
    )
    size = view.status.pool_size
    facts = [
        ("Segments", f"{size:,}{documents}"),
        *([("Systems", ", ".join(site.systems))] if site.systems else []),
        ("Strategy", settings.strategy),
        ("Metrics", ", ".join(pool.metrics) or "none"),
        ("Raters see", ", ".join(pool.texts) or "ids only"),
        *([("Side by side", " and ".join(settings.sides))] if settings.sides else []),
        *((f"Criterion {c.name}", c.scale.words or "any number") for c in settings.criteria),
        ("Raters per segment", str(settings.each)),
        ("Question", settings.asked),
    ]
    commands = [
        (f"fewgold status {place}", "Show the progress, the estimate so far, and what comes next."),
        (f"fewgold estimate {place}", "Compute the estimate once every drawn segment is rated."),
        (f"fewgold serve {place}", "Open these pages."),
    ]
    return {"facts": facts, "commands": commands}


def next_step(view: View) -> Step:
    """What the owner should do next."""
    status, desk = view.status, view.campaign.desk
    waiting = len(status.unrated)
    if not status.sampled:
        return Step(
            "Choose what to rate", "No segment has been drawn yet, so raters have nothing to do.",
            "/waves", "Draw segments",
        )  # fmt: skip
    if waiting and not desk.links():
        return Step(
            "Invite people to rate",
            f"{_drawn_ones(view, waiting)} without an answer. Add the people who will rate, and "
            "send each of them their link.",
            "/raters", "Add raters",
        )  # fmt: skip
    if waiting:
        return Step(
            f"Have the {'outputs' if status.systems else 'segments'} rated",
            f"{_drawn_ones(view, waiting)} without an answer. The page Raters shows how many "
            "each rater has done, and their links.",
            "/raters", "See the raters",
        )  # fmt: skip
    if view.campaign.settings.differ is not None and (count := len(view.campaign.differing())):
        return Step(
            "Settle where raters differ",
            f"{count:,} item{'' if count == 1 else 's'} on which raters differ by "
            f"{number(view.campaign.settings.differ)} or more {'has' if count == 1 else 'have'} "
            "no final score yet.",
            "/work/queue", "Settle them",
        )  # fmt: skip
    if status.incomplete:
        return Step(
            "Have segments rated by more people",
            f"{_drawn_ones(view, status.incomplete)} rated by fewer than {status.each} raters.",
            "/raters", "See the raters",
        )  # fmt: skip
    if view.comparison is not None and (more := _more(view)):
        return Step(
            "Add a wave",
            "Some systems cannot be told apart yet. If the true differences are as found so "
            f"far, about {more:,} more segments would separate all pairs that this pool can "
            "separate.",
            f"/waves?count={more}", "Add a wave",
        )  # fmt: skip
    if status.goal is not None and status.goal["more"]:
        more = status.goal["more"]
        return Step(
            "Add a wave",
            f"The interval is wider than you wanted. About {more:,} more ratings would make it "
            "narrow enough.",
            f"/waves?count={more}", "Add a wave",
        )  # fmt: skip
    return Step(
        "Download the result",
        "Every drawn segment is rated. The report has the result and how it was obtained.",
        "/downloads", "Download",
    )  # fmt: skip


# Several systems


def not_apart(view: View) -> list[str]:
    """Pairs of systems that cannot be told apart yet, and what that would take."""
    if view.comparison is None:
        return []
    return [needed_line(row) for row in plain_frame(view.comparison.needed()) or []]


def _more(view: View) -> int:
    """How many more segments would separate all pairs that the pool can separate."""
    if view.comparison is None:
        return 0
    more = view.comparison.needed()["more"].dropna()
    left = view.status.pool_size - _drawn(view)
    return min(int(more.max()), left) if len(more) else 0


def _drawn(view: View) -> int:
    """The number of drawn segments; with several systems, each has several outputs."""
    return sum(wave.get("segments", wave["n"]) for wave in view.status.waves)


def _drawn_ones(view: View, count: int) -> str:
    what = "output" if view.status.systems else "segment"
    return f"{count:,} drawn {what} is" if count == 1 else f"{count:,} drawn {what}s are"


# Another wave, and what it would achieve


def _waves(site: Site, view: View, asked: str | None) -> dict[str, Any]:
    status, place = view.status, named(site.campaign)
    drawn = _drawn(view)
    left = status.pool_size - drawn
    goal = status.goal
    count = min(left, 100) if not status.sampled else ""
    if more := _more(view):
        count = min(left, more)
    if goal is not None and goal["more"]:
        count = min(left, goal["more"])
    if asked and asked.isascii() and asked.isdigit() and 0 < int(asked[:9]) <= left:
        count = int(asked)
    learns = view.campaign._strategy.sampler.step is not None
    wide = count or min(left, 50)
    option = "--more" if status.sampled else "--budget"
    made = status.estimate
    outlook = [] if made is None else widths(made, status.sampled, status.pool_size)
    shown = None
    if len(outlook) > 2 and made is not None:
        now = (made["high"] - made["low"]) / 2
        shown = chart(
            [("± of the interval", outlook, (float(status.sampled), outlook[0][1]))],
            "segments rated in all", "± of the interval", height=260,
            level=None if goal is None else goal["tolerance"],
        ) | {"now": number(now)}  # fmt: skip
    return {
        "told": status, "left": left, "count": count, "learns": learns, "shown": shown,
        "drawn": drawn, "apart": not_apart(view),
        "rows": [(n - status.sampled, n, number(half)) for n, half in outlook[1:]],
        "table": TABLES["waves"].shown("waves", view), "at": view.version,
        "commands": [(f"fewgold select {place} {option} {wide}", "Draw a wave.")]
        if left else [],
    }  # fmt: skip


def widths(made: dict[str, Any], drawn: int, size: int) -> list[tuple[int, float]]:
    """Half-widths to expect from more ratings, starting from those drawn; empty if unknown.

    The width is taken as proportional to √(1/n − 1/N). ``made`` is the estimate of a status; its
    ``n`` is the number of ratings.

    >>> widths({"low": 1.0, "high": 3.0, "n": 100, "se": 0.5}, 100, 1000)[:2]
    [(100, 1.0), (150, 0.793...)]
    """
    if made["low"] is None or made["high"] is None or not made["se"] or made["n"] >= size:
        return []
    half, n = (made["high"] - made["low"]) / 2, made["n"]
    unit = half / math.sqrt(1 / n - 1 / size)
    most = min(size, max(4 * drawn, drawn + 20))
    return [(k, unit * math.sqrt(1 / k - 1 / size)) for k in _round_steps(drawn, most)]


def _round_steps(first: int, last: int) -> Sequence[int]:
    """About a dozen round numbers between two numbers, including both."""
    rough = max((last - first) / 12, 1)
    size = 10 ** math.floor(math.log10(rough))
    step = next(int(m * size) for m in (1, 2, 5, 10) if m * size >= rough * 0.999)
    inner = range((first // step + 1) * step, last, step)
    return [first, *inner, last] if last > first else [first]
