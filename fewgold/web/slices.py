"""Slices and several criteria of a campaign, for the owner."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse

from fewgold.common.text import decimals, fixed, latex, plain_value
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.plots.style import available
from fewgold.report.study_sections import WITHOUT
from fewgold.slices import LEAST
from fewgold.web import files
from fewgold.web.explore_view import Results, View, cut_hints, looking, slicing_columns
from fewgold.web.forms import Fields, named
from fewgold.web.site import Site

if TYPE_CHECKING:
    from fewgold.criteria import CriteriaEstimate
    from fewgold.slices import Slices

_KINDS = {"json": "application/json", "tex": "application/x-tex", "csv": "text/csv"}
_OWN_LEVEL = ("judge", "monitor")  # commands that do not use the campaign's confidence level
_MOST = 3  # columns to cross


def routes(site: Site) -> APIRouter:
    """The pages, the figure and the files."""
    router = APIRouter(prefix="/explore", dependencies=[Depends(site.owner)])
    _of_slices(router, site)
    _of_criteria(router, site)
    return router


def command(site: Site, view: View, verb: str, *words: str) -> str:
    """A command about this campaign, as one would type it."""
    system = [] if site.system is None else ["--system", site.system]
    more = ["--gaps", "at-random"] if view.status.unrated else []
    level = view.campaign.settings.confidence
    if verb in _OWN_LEVEL and level != 0.95:
        more += ["--confidence", f"{level:.10g}"]
    return f"fewgold {verb} {named(site.campaign)} {shlex.join([*system, *words, *more])}".strip()


# Slices


@dataclass(frozen=True)
class SlicesPage:
    """What the address asks for: columns, a cut, and how slices are scored."""

    by: tuple[str, ...]
    cut: str
    least: str
    shrink: bool
    criterion: str

    @classmethod
    def of(cls, request: Request, view: View) -> SlicesPage:
        fields = Fields.of(request.query_params)
        cut, least, criterion = (fields.text(n)[:200] for n in ("cut", "least", "criterion"))
        if not criterion and (criteria := view.campaign.settings.criteria):
            criterion = criteria[0].name
        by = tuple(dict.fromkeys(name[:200] for name in fields.many("by") if name))
        return cls(by, cut[:40], least[:20], bool(fields.text("shrink")), criterion)

    @property
    def query(self) -> str:
        """These choices as an address."""
        pairs = [*(("by", name) for name in self.by), ("cut", self.cut), ("least", self.least)]
        pairs += [("shrink", "1" if self.shrink else ""), ("criterion", self.criterion)]
        return urlencode([(k, v) for k, v in pairs if v])

    @property
    def words(self) -> list[str]:
        """These choices as options of ``fewgold estimate``."""
        told = ["--by", ",".join(self.by)]
        told += ["--shrink"] if self.shrink else []
        for option, value in (
            ("--least", self.least), ("--share", self.cut), ("--criteria", self.criterion)
        ):  # fmt: skip
            told += [option, value] if value else []
        return told

    def found(self, view: View) -> Slices:
        """The slices, computed once per state of the campaign."""
        if view.study is None:
            raise DataError("there is no estimate yet, so there are no slices.")
        made: Slices = view.results.get(("slices", self.query), lambda: self._made(view))
        return made

    def _made(self, view: View) -> Slices:
        if len(self.by) > _MOST:
            raise DataError(f"choose at most {_MOST} columns; got {len(self.by)}.")
        least = self.least or str(LEAST)
        if not least.isascii() or not least.isdigit() or len(least) > 9:
            raise DataError(f"the fewest ratings must be a whole number; got {least[:40]!r}.")
        criteria = [c.name for c in view.campaign.settings.criteria]
        if self.criterion and self.criterion not in criteria:
            raise UnknownNameError("criterion", self.criterion, criteria)
        found = view.campaign.slices(
            list(self.by), "at-random", cut=self.cut or None, least=int(least), shrink=self.shrink,
            criterion=self.criterion or None,
        )  # fmt: skip
        if self.shrink:
            found.to_frame()  # raises an error now if it cannot be shrunk
        return found


def _of_slices(router: APIRouter, site: Site) -> None:
    known = Results()

    @router.get("/slices", response_class=HTMLResponse)
    def page(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            asked, found, why = SlicesPage.of(request, view), None, ""
            if asked.by:
                try:
                    found = asked.found(view)
                except FewgoldError as error:
                    why = error.message_for("web")
            level, criteria = view.campaign.settings.confidence, view.campaign.settings.criteria
            heads, rows = ([], []) if found is None else found.cells(level)
            rows = [[row[0], *(cell.replace("-", "−") for cell in row[1:])] for row in rows]
            scores = [] if view.study is None else view.study.ratings.scores.tolist()
            lines = [(command(site, view, "estimate", *asked.words), "Compute the same table.")]
            return site.page(
                request, "explore_slices.html", told=view.status, at=view.version, asked=asked,
                query=asked.query, columns=slicing_columns(view),
                criteria=[c.name for c in criteria],
                found=found, why=why, heads=heads, rows=rows, study=view.study is not None,
                whole=None if found is None else _whole(found, level), level=f"{100 * level:.6g}%",
                figures=available(), without=WITHOUT, least=LEAST,
                cut_hints=cut_hints(scores, view.campaign.settings.higher_is_better),
                commands=lines if asked.by else [],
            )  # fmt: skip

    @router.get("/slices/forest.{kind}")
    def figure(request: Request, kind: str) -> Response:
        with looking(site, known) as view:
            asked = SlicesPage.of(request, view)
            if kind not in files.IMAGES or not available() or not asked.by:
                raise HTTPException(404, "There is no such figure.")
            found, level = asked.found(view), view.campaign.settings.confidence
            key = ("slices", asked.query, kind)
            made = view.figures.get(
                key, lambda: files.drawn(lambda: found.plot(confidence=level), kind)
            )
        return files.download(made, f"forest.{kind}", files.IMAGES[kind], save=False)

    @router.get("/slices/slices.{kind}")
    def whole(request: Request, kind: str) -> Response:
        with looking(site, known) as view:
            asked = SlicesPage.of(request, view)
            if kind not in _KINDS or not asked.by:
                told = ", ".join(f"slices.{k}" for k in _KINDS)
                raise HTTPException(404, f"The files are {told}.")
            found, level = asked.found(view), view.campaign.settings.confidence
            if kind == "csv":
                return files.frame_csv(found.to_frame(level), "slices")
            if kind == "tex":
                text = latex(*found.cells(level), [found.signature(level), *found.notes])
                return files.download(f"{text}\n".encode(), "slices.tex", _KINDS["tex"])
            return _json("slices", found.to_dict(level))


def _whole(found: Slices, level: float) -> str:
    """The score of all segments, in a sentence."""
    ends = found.whole.interval(level)
    digits = decimals(float(found.whole.se))
    value, low, high = (fixed(float(v), digits) for v in (found.whole.value, *ends))
    return f"All segments together: {value}, {100 * level:.6g}% interval {low} to {high}."


# Several criteria


def _of_criteria(router: APIRouter, site: Site) -> None:
    known = Results()

    def made(view: View, cut: str) -> CriteriaEstimate:
        if not view.campaign.settings.criteria:
            raise HTTPException(404, "This campaign has a single score, not several criteria.")
        found: CriteriaEstimate = view.results.get(
            ("criteria", cut), lambda: view.campaign.estimates("at-random", cut=cut or None)
        )
        return found

    def typed(request: Request) -> tuple[str, bool]:
        fields = Fields.of(request.query_params)
        return fields.text("cut").strip()[:40], bool(fields.text("simultaneous"))

    @router.get("/criteria", response_class=HTMLResponse)
    def page(request: Request) -> HTMLResponse:
        with looking(site, known) as view:
            (cut, together), found, why = typed(request), None, ""
            try:
                found = made(view, cut)
            except FewgoldError as error:
                why = error.message_for("web")
            level = view.campaign.settings.confidence
            told = {} if found is None else found.to_dict(level, simultaneous=together)
            words = ["--share", cut] if cut else []
            words += ["--simultaneous"] if together else []
            query = urlencode([("cut", cut)] * bool(cut) + [("simultaneous", "1")] * together)
            return site.page(
                request, "explore_criteria.html", told=view.status, cut=cut, together=together,
                query=query, why=why, notes=told.get("notes", []), level=f"{100 * level:.6g}%",
                scores=[_score(row) for row in told.get("criteria", [])],
                pairs=[_pair(row) for row in told.get("correlations", [])],
                each=f"{100 * told.get('level', level):.4g}%",
                columns=slicing_columns(view),
                commands=[(command(site, view, "estimate", *words), "Compute the same numbers.")],
            )  # fmt: skip

    @router.get("/criteria/{name}.{kind}")
    def whole(request: Request, name: str, kind: str) -> Response:
        if (name, kind) not in {
            ("criteria", "csv"), ("criteria", "json"), ("correlations", "csv")
        }:  # fmt: skip
            raise HTTPException(404, "There is no such file.")
        with looking(site, known) as view:
            cut, together = typed(request)
            found, level = made(view, cut), view.campaign.settings.confidence
            if kind == "json":
                return _json("criteria", found.to_dict(level, simultaneous=together))
            frame = found.correlations(level)
            if name == "criteria":
                frame = found.table(level, simultaneous=together)
            return files.frame_csv(frame, name)


def _score(row: dict[str, Any]) -> list[str]:
    """A row for a criterion: name, scale, score, interval, standard error, ratings."""
    error = row.get("se")
    digits = decimals(error or 0.0)
    limits = row["limits"]
    scale = "–" if limits is None else f"{limits[0]:g} to {limits[1]:g}"
    way = {True: ", higher is better", False: ", lower is better", None: ""}
    value = "–" if row.get("value") is None else fixed(row["value"], digits)
    ends = "unknown"
    if row["low"] is not None and row["high"] is not None:
        ends = f"{fixed(row['low'], digits)} to {fixed(row['high'], digits)}"
    told = "–" if error is None else fixed(error, digits)
    scale += way[row["higher_is_better"]]
    return [row["criterion"], scale, value, ends, told, str(row["n"])]


def _pair(row: dict[str, Any]) -> list[str]:
    """Two criteria and their correlation."""
    told = ["–" if row[k] is None else fixed(row[k], 2) for k in ("value", "low", "high")]
    ends = "unknown" if row["low"] is None else f"{told[1]} to {told[2]}"
    return [f"{row['first']} and {row['second']}", told[0], ends, str(row["n"])]


def _json(name: str, record: dict[str, Any]) -> Response:
    text = json.dumps(plain_value(record), indent=2, ensure_ascii=False, allow_nan=False)
    return files.download(text.encode(), f"{name}.json", _KINDS["json"])
