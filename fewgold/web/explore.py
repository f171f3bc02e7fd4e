"""Explore: the campaign at a glance, its files and its settings, for its owner."""

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from starlette.datastructures import UploadFile

from fewgold import formats
from fewgold.campaign.desk import WHICH
from fewgold.campaign.settings import AMONG, REPEATS, RULES
from fewgold.campaign.status import goal_line, stop_line
from fewgold.common.checks import SCALES, as_limits
from fewgold.common.markdown import to_html
from fewgold.common.temporary import TemporaryFolder
from fewgold.common.text import fixed, plain_value
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Names
from fewgold.formats.handout import hand_out, hand_out_to
from fewgold.plots.style import available
from fewgold.report.study_sections import WITHOUT
from fewgold.web import explore_view as views
from fewgold.web.explore_view import OF_ALL, TABLES, Results, View, drawn_figure, looking, roc_shown
from fewgold.web.files import DRAWING, IMAGES, download, frame_csv, received
from fewgold.web.forms import Fields, Sent, SentFiles, named
from fewgold.web.site import Site
from fewgold.web.slices import command

if TYPE_CHECKING:
    from fewgold.campaign import Campaign
    from fewgold.campaign.answers import Receipt

_SCATTERS = 12  # on this page; every metric also has its own page
_REPORTS = {"html": "text/html", "md": "text/markdown"}
_GAPS = ("wait", "at-random")
_UNPACKED = 300_000_000  # limit for a compressed upload, in bytes after unpacking


def routes(site: Site) -> APIRouter:
    """The pages."""
    # Check for the owner before anything else, including the form.
    router, known = (
        APIRouter(prefix="/explore", dependencies=[Depends(site.owner)]),
        Results.shared(site),
    )
    _at_a_glance(router, site, known)
    _files(router, site, known)
    _importing(router, site)
    _settings(router, site)
    return router


# The campaign at a glance


def _at_a_glance(router: APIRouter, site: Site, known: Results) -> None:
    @router.get("", response_class=HTMLResponse)
    def explore(request: Request, cut: str | None = None) -> HTMLResponse:
        with looking(site, known) as view:
            if view.campaign.systems:
                place, waiting = named(site.campaign), view.status.unrated
                lines = [
                    (
                        f"fewgold compare {place}{' --rated-only' if waiting else ''}",
                        "Compare the systems.",
                    ),
                    (
                        command(site, view, "report", "-o", "report.html"),
                        "Write all of this as one page.",
                    ),
                    (f"fewgold status {place}", "Show the progress of each system."),
                ]
                return site.page(request, "explore_systems.html", **_systems(view), commands=lines)
            values = _number(view) | _rest(view) | _judged(view, cut, "/explore")
            lines = [
                (
                    command(site, view, "estimate"),
                    "Show the score, its interval and its signature.",
                ),
                (
                    command(site, view, "report", "-o", "report.html"),
                    "Write all of this as one page.",
                ),
            ]
            return site.page(
                request, "explore.html", **values, commands=lines,
                criteria=view.campaign.settings.criteria,
            )  # fmt: skip

    @router.get("/number", response_class=HTMLResponse)
    def number(request: Request, seen: str | None = None, page: str | None = None) -> Response:
        with site.open() as campaign:
            if seen is not None and seen == views.version(campaign):
                return Response(status_code=204)  # nothing has changed, so the page stays as it is
        with looking(site, known) as view:
            values = _number(view) | {"old": page is not None and page != view.version}
            return site.page(request, "explore_number.html", fragment=True, **values)

    @router.get("/metric/{place}", response_class=HTMLResponse)
    def metric(
        request: Request, place: str, cut: str | None = None, threshold: str | None = None
    ) -> HTMLResponse:
        with looking(site, known) as view:
            if place not in {str(k) for k in range(len(view.metrics))}:
                raise HTTPException(404, "There is no such metric.")
            name, study = view.metrics[int(place)], view.study
            found, short = None, {}
            if study is not None:
                rows = study.correlations
                found = rows[rows["metric"] == name].iloc[0].to_dict()
                short = {end: fixed(found[end], 2) for end in ("r", "low", "high")}
            values = _judged(view, cut, f"/explore/metric/{place}")
            values |= _agreement(view, name, values["cut"], threshold)
            return site.page(
                request, "explore_metric.html", metric=name, place=place, found=found, short=short,
                judge=view.campaign.pool.orientation.get(name) != 0, figures=available(),
                without=WITHOUT, told=view.status, at=view.version,
                level=views.headline(view)["level"], **values,
                commands=_judging(site, view, name, cut, threshold),
            )  # fmt: skip

    @router.post("/adopt")
    def adopt(request: Request) -> RedirectResponse:
        with site.open() as campaign:
            campaign.adopt()
        return RedirectResponse("/explore#answers", 303)


def _systems(view: View) -> dict[str, Any]:
    """With several systems: links to the pages of each, and the tables of all."""
    status = view.status
    return {
        "told": status,
        "ranking": views.ranking(view),
        "each": views.by_system(view),
        "tables": {name: TABLES[name].shown(name, view) for name in OF_ALL},
    }


def _number(view: View) -> dict[str, Any]:
    """The part that updates itself."""
    status = view.status
    return {
        "told": status, "at": view.version, "head": views.headline(view),
        "announcement": views.announcement(view), "spoken": views.spoken(view),
        "goal": None if status.goal is None else goal_line(status.goal),
        "stop": None if status.stop is None else stop_line(status.stop),
        "looks": views.growth(view) if status.estimate is not None else None,
        "figures": available(), "without": WITHOUT, "old": False,
    }  # fmt: skip


def _rest(view: View) -> dict[str, Any]:
    """The part that changes only when the page is reloaded."""
    from fewgold.report.study_sections import agreement

    study, campaign, metrics = view.study, view.campaign, list(enumerate(view.metrics))
    return {
        "tables": {name: kind.shown(name, view) for name, kind in TABLES.items()},
        "costs": views.costs(view),
        "agreement": [] if study is None or study.raters is None else agreement(study),
        "left": len(campaign.pool) - view.status.sampled,
        "metrics": metrics,
        "scatters": [] if study is None else metrics[:_SCATTERS],
        "documents": None if study is None else study.documents,
    }


def _judged(view: View, cut: str | None, here: str) -> dict[str, Any]:
    """The part about ROC curves, for the chosen cut."""
    study = view.study
    scores = [] if study is None else study.ratings.scores.tolist()
    hints = views.cut_hints(scores, view.campaign.settings.higher_is_better)
    binary = bool(scores) and not hints and len(set(scores)) == 2
    asked = (cut or "").strip()[:40]
    found, why = None, ""
    if study is not None and (asked or binary):
        found, why = roc_shown(view, asked)
    # Whether all segments had equal chances.
    equal = study is None or bool(study.weights["weight_max"] == study.weights["weight_min"])
    return {
        "cut": asked, "cut_hints": hints, "roc": found, "roc_why": why, "here": here,
        "equal_weights": equal, "binary": binary,
    }  # fmt: skip


def _judging(
    site: Site, view: View, name: str, cut: str | None, threshold: str | None
) -> list[tuple[str, str]]:
    """The command that measures one metric against people."""
    if view.campaign.pool.orientation.get(name) == 0:
        return []
    words = ["--judge", name]
    words += ["--adequate", cut] if cut else []
    words += ["--threshold", threshold] if threshold else []
    return [(command(site, view, "judge", *words), "Measure how well it agrees with people.")]


def _agreement(view: View, name: str, cut: str, threshold: str | None) -> dict[str, Any]:
    """How well a metric agrees with people, for the chosen cuts."""
    asked = (threshold or "").strip()[:40]
    values: dict[str, Any] = {"threshold": asked, "agreement": None, "agreement_why": ""}
    if view.study is None:
        return values
    try:
        found = view.judges((name,), cut, asked, None, None)
    except FewgoldError as error:
        return values | {"agreement_why": error.message_for("web")}
    rows = found.table().to_numpy().tolist()
    return values | {"agreement": found, "agreement_rows": rows}


# Downloads


def _files(router: APIRouter, site: Site, known: Results) -> None:
    @router.get("/figure/{name}.{kind}")
    def figure(request: Request, name: str, kind: str, cut: str | None = None) -> Response:
        with looking(site, known) as view:
            made = drawn_figure(view, name, kind, (cut or "").strip()[:40])
        return download(made, f"{name}.{kind}", IMAGES[kind], save=False)

    @router.get("/table/{name}.csv")
    def table(request: Request, name: str, cut: str | None = None) -> Response:
        with looking(site, known) as view:
            if name == "roc":
                return frame_csv(view.roc((cut or "").strip()[:40]).to_frame(), name)
            if name not in (OF_ALL if view.campaign.systems else TABLES):
                raise HTTPException(404, "There is no such table.")
            made = TABLES[name].make(view)
            if made is None:
                raise HTTPException(404, "This table is still empty.")
            return frame_csv(made, name)

    @router.get("/status.json")
    def status(request: Request) -> Response:
        with looking(site, known) as view:
            told = json.dumps(plain_value(view.status.to_dict()), indent=2, ensure_ascii=False)
        return download(told.encode(), "status.json", "application/json")

    @router.get("/report.{kind}")
    def report(request: Request, kind: str, gaps: str | None = None) -> Response:
        if kind not in _REPORTS:
            raise HTTPException(404, "A report is HTML (report.html) or Markdown (report.md).")
        how = gaps or "at-random"
        if how not in _GAPS:
            raise FewgoldError(f"gaps must be one of {', '.join(_GAPS)}; got {how[:40]!r}.")
        with looking(site, known) as view, DRAWING:
            made = view.campaign.report(how)
            text = made.html() if kind == "html" else made.markdown()
        return download(text.encode(), f"report.{kind}", _REPORTS[kind])

    @router.get("/answers")
    def answers(request: Request, to: str | None = None) -> Response:
        form = formats.get(to or "csv")
        with looking(site, known) as view:
            # For the owner, who knows the systems.
            tasks, rated = view.campaign.tasks("all", masked=False), view.campaign.store.rated()
            formats.check_fits(form, tasks)
            return _written("answers", form, lambda path: form.write_ratings(tasks, rated, path))

    @router.get("/tasks")
    def tasks(
        request: Request, to: str | None = None, which: str | None = None, raters: str = ""
    ) -> Response:  # fmt: skip
        form, wanted = formats.get(to or "csv"), which or "unrated"
        if wanted not in WHICH:
            raise FewgoldError(f"which must be one of {', '.join(WHICH)}; got {wanted[:40]!r}.")
        with looking(site, known) as view:
            names = [name for part in raters.split(",") if (name := part.strip())]
            each = view.campaign.tasks_for(names, wanted) if names else {}
            written = [*each.values()] or [view.campaign.tasks(wanted)]
            found = max(written, key=lambda tasks: len(tasks.to_rate))
            if not found.to_rate:
                raise DataError("there is nothing to rate: all these segments have their answers.")
            formats.check_fits(form, found)

            def write(path: Path) -> None:
                hand_out_to(form, each, path) if each else hand_out(form, found, path)

            return _written("to_rate", form, write)


def _formats() -> list[tuple[str, str]]:
    """Names and titles of all formats."""
    return [(name, formats.get(name).title) for name in formats.names()]


def _written(name: str, form: formats.Format, write: Callable[[Path], None]) -> Response:
    """The output of a format: a single file as it is, several files or a folder as a ZIP."""
    with TemporaryFolder() as folder:
        suffix = form.suffixes[0] if form.suffixes else ""
        try:
            write(folder / f"{name}{suffix}")
        except ImportError as error:
            raise DataError(f"{form.title} needs {error.name}, which is not installed.") from None
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        if len(files) == 1 and files[0].parent == folder:
            return download(files[0].read_bytes(), files[0].name, "application/octet-stream")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.write(path, path.relative_to(folder).as_posix())
        return download(packed.getvalue(), f"{name}-{form.name}.zip", "application/zip")


# Imports


def _importing(router: APIRouter, site: Site) -> None:
    def page(
        request: Request, status: int = 200, receipt: Receipt | None = None, trouble: str = ""
    ) -> HTMLResponse:
        with site.open() as campaign:
            return site.page(
                request, "explore_import.html", status, receipt=receipt, trouble=trouble,
                formats=_formats(), title=campaign.settings.name,
                adoptable=campaign.store.adoptable(),
                commands=[
                    (f"fewgold import {named(site.campaign)} FILE",
                     "Read answers from a file; add --by NAME if it does not name raters."),
                ],
            )  # fmt: skip

    @router.get("/import", response_class=HTMLResponse)
    def asked(request: Request) -> HTMLResponse:
        return page(request)

    @router.post("/import", response_class=HTMLResponse)
    def imported(request: Request, form: SentFiles) -> HTMLResponse:
        file, fields = form.get("file"), Fields.of(form)
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError("no file was chosen. Choose one with answers.")
            form_name, by, *names = (
                fields.text(n)[:200] for n in ("format", "by", "id", "score", "rater")
            )
            columns = Names(*(name or None for name in names))
            with received(file.filename, file.file) as (path, told), site.open() as campaign:
                _check_size(path)
                receipt = campaign.import_file(path, form_name or None, columns, by=by, source=told)
        except FewgoldError as error:
            return page(request, 400, trouble=error.message_for("web"))
        return page(request, receipt=receipt)


def _check_size(path: Path) -> None:
    """Refuse what would fill the memory when unpacked."""
    with open(path, "rb") as file:
        start = file.read(4)
    seen = 0
    try:
        if start[:2] == b"\x1f\x8b":
            with gzip.open(path) as packed:
                while seen <= _UNPACKED and (part := packed.read(1 << 20)):
                    seen += len(part)
        elif start == b"PK\x03\x04":
            with zipfile.ZipFile(path) as folder:
                seen = sum(info.file_size for info in folder.infolist())
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile):
        return  # the reader says what is wrong with it
    if seen > _UNPACKED:
        raise DataError(
            f"the file is too large: the limit is {_UNPACKED // 1_000_000} MB unpacked."
        )


# Settings that can still be changed

#: Fields of the form; each is a setting of the same name.
FIELDS = (
    "tolerance", "confidence", "rule", "each", "repeats", "among", "limits", "question",
    "higher_is_better", "instructions",
)  # fmt: skip
_ENDS = ("low_end", "high_end")
_DIRECTIONS = {"not specified": None, "higher is better": True, "lower is better": False}
_LONGEST = 2000


def _settings(router: APIRouter, site: Site) -> None:
    def page(
        request: Request, campaign: Campaign, shown: dict[str, str], status: int = 200, *,
        said: str = "", trouble: str = "",
    ) -> HTMLResponse:  # fmt: skip
        settings = campaign.settings
        return site.page(
            request, "explore_settings.html", status, shown=shown, said=said, trouble=trouble,
            title=settings.name, strategy=settings.strategy, seed=settings.seed,
            commands=[
                (f"fewgold settings {named(site.campaign)}", "Show all settings."),
                (f"fewgold settings {named(site.campaign)} --tolerance 2 --each 2 --instructions "
                 "guide.md", "Change some of them."),
            ],
            single=not settings.sides and not settings.criteria,
            instructions=Markup(to_html(settings.instructions)),
            chances=settings.chances, answers=len(campaign.answers()), scales=sorted(SCALES),
            choices={
                "rule": RULES, "repeats": REPEATS, "among": AMONG,
                "higher_is_better": tuple(_DIRECTIONS),
            },
        )  # fmt: skip

    @router.get("/settings", response_class=HTMLResponse)
    def settings(request: Request, changed: str | None = None) -> HTMLResponse:
        with site.open() as campaign:
            said = "The settings were changed. The journal lists it." if changed == "1" else ""
            return page(request, campaign, _as_typed(campaign), said=said)

    @router.post("/settings")
    def change(request: Request, form: Sent) -> Response:
        sent = {name for name, _ in form.pairs}
        typed = {name: form.text(name) for name in (*FIELDS, *_ENDS) if name in sent}
        with site.open() as campaign:
            try:
                values = _changes(campaign, typed)
            except FewgoldError as error:
                shown, trouble = _as_typed(campaign) | typed, error.message_for("web")
                return page(request, campaign, shown, 400, trouble=trouble)
            if values:
                campaign.change(**values)
        return RedirectResponse(f"/explore/settings{'?changed=1' if values else ''}", 303)


def _as_typed(campaign: Campaign) -> dict[str, str]:
    """The settings as the form shows them."""
    found = campaign.settings
    ends = "" if found.limits is None else " to ".join(f"{end:.15g}" for end in found.limits)
    tolerance = "" if found.tolerance is None else f"{found.tolerance:.15g}"
    low, high = found.ends or ("", "")
    return {
        "low_end": low, "high_end": high, "instructions": found.instructions,
        "tolerance": tolerance, "confidence": f"{found.confidence:.15g}", "rule": found.rule,
        "each": str(found.each), "repeats": found.repeats, "among": found.among, "limits": ends,
        "question": found.asked,
        "higher_is_better": next(k for k, v in _DIRECTIONS.items() if v is found.higher_is_better),
    }  # fmt: skip


def _changes(campaign: Campaign, typed: dict[str, str]) -> dict[str, Any]:
    """The fields that differ from the settings, checked; an error says what is wrong."""
    before = _as_typed(campaign)
    cleaned = {name: text.replace("\r\n", "\n").strip() for name, text in typed.items()}
    changed = {name: text for name, text in cleaned.items() if text != before[name].strip()}
    read = {name: _read(name, text) for name, text in changed.items() if name not in _ENDS}
    if set(changed) & set(_ENDS):
        low, high = (cleaned.get(name, before[name]) for name in _ENDS)
        if bool(low) != bool(high):
            raise FewgoldError("label both ends of the scale, or neither.")
        read["ends"] = (low, high) if low else None
    values = {name: v for name, v in read.items() if v != getattr(campaign.settings, name)}
    replace(campaign.settings, **values)
    return values


def _read(name: str, text: str) -> Any:
    if name == "limits":
        return _limits(text)
    if name in ("tolerance", "confidence"):
        return None if name == "tolerance" and not text else _real(name, text)
    if name == "each":
        if not text.isascii() or not text.isdigit() or len(text) > 4:
            raise FewgoldError(f"the raters per segment must be a whole number; got {text[:40]!r}.")
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


def _real(name: str, text: str) -> float:
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
        return as_limits((_real("limits", parts[0]), _real("limits", parts[1])))
    return as_limits(text[:40])
