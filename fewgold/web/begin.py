"""Begin a campaign in the browser: upload a table, check it, plan, and set what raters see."""

from __future__ import annotations

import io
import math
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from starlette.datastructures import UploadFile

from fewgold.campaign.settings import COLUMNS, PREFERENCE
from fewgold.common.checks import as_limits
from fewgold.common.markdown import to_html
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats import Criterion, RatingScale
from fewgold.planning import Outlook
from fewgold.report import number
from fewgold.web import beginning
from fewgold.web.beginning import NONE, ROLES, CampaignPlan, DraftTable, Known, NamedColumns
from fewgold.web.drafts import Draft, Drafts, unpack
from fewgold.web.drawing import chart
from fewgold.web.files import Recent
from fewgold.web.folder import Campaigns
from fewgold.web.forms import Field, Fields, Form, Sent, SentFiles, by_name, plan_command
from fewgold.web.jobs import Job, Jobs, Progress
from fewgold.web.replay_data import MOST_ROWS, SUFFIXES
from fewgold.web.site import Site

_SOON = 1.5  # seconds to wait for a job before showing its progress
_ROWS = 5  # shown as an example


class DraftDesk:
    """Drafts, their tables and the jobs that work on them, for one server."""

    def __init__(self, site: Site, campaigns: Campaigns) -> None:
        self.site, self.campaigns = site, campaigns
        self.drafts, self.jobs = Drafts(campaigns.folder), Jobs()
        self._tables = Recent(4)

    def draft(self, key: str) -> Draft:
        """The draft of that name."""
        found = self.drafts.get(key)
        if found is None:
            raise HTTPException(
                404, "This campaign is not in preparation (any more). Perhaps it has begun already."
            )
        return found

    def table(self, draft: Draft, chosen: NamedColumns | None = None) -> DraftTable:
        """The table of a draft, read once, with the chosen columns."""
        read = self._tables.get((draft.key, draft.pair), lambda: DraftTable.read(draft))
        now = NamedColumns.of(draft) if chosen is None else chosen
        return self._tables.get(
            (draft.key, draft.pair, now), lambda: read.with_columns(now)
        )  # fmt: skip


def routes(site: Site, campaigns: Campaigns) -> APIRouter:
    """The pages, for the owner."""
    router = APIRouter(prefix="/begin", dependencies=[Depends(site.owner)])
    desk = DraftDesk(site, campaigns)
    _uploading(router, desk)
    _watching(router, desk)
    _checking(router, desk)
    _planning(router, desk)
    _creating(router, desk)
    return router


# 1. Upload


def _uploading(router: APIRouter, desk: DraftDesk) -> None:
    def page(request: Request, status: int = 200, trouble: str = "") -> HTMLResponse:
        return desk.site.page(
            request, "begin.html", status, drafts=desk.drafts.all(), trouble=trouble,
            suffixes=[*SUFFIXES, ".zip", ".tgz", ".tar", ".gz"], most=MOST_ROWS,
            commands=[
                ("fewgold doctor FILE", "Check a file."),
                ("fewgold init STUDY FILE", "Begin a campaign with it."),
            ],
        )  # fmt: skip

    @router.get("", response_class=HTMLResponse)
    def begin(request: Request) -> HTMLResponse:
        return page(request)

    @router.post("")
    def upload(request: Request, form: SentFiles) -> Response:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError("no file was sent. Choose one first.")
            draft = desk.drafts.begin(file.filename, file.file)
            return _look(desk, draft)
        except FewgoldError as error:
            return page(request, 400, error.message_for("web"))

    @router.post("/demo")
    def demo(request: Request) -> Response:
        try:
            made = io.BytesIO(_demo().encode())
            return _look(desk, desk.drafts.begin("demo-systems.csv", made))
        except FewgoldError as error:
            return page(request, 400, error.message_for("web"))

    @router.post("/{key}/delete")
    def delete(key: str) -> Response:
        desk.drafts.remove(desk.draft(key))
        return RedirectResponse("/begin", 303)


def _look(desk: DraftDesk, draft: Draft) -> Response:
    """Unpack and read an upload. What cannot be read is not kept."""

    def work(progress: Progress) -> str:
        try:
            progress(0, 3)
            unpack(draft)
            progress(1, 3)
            if len(draft.pairs) < 2:  # otherwise the owner has to choose one first
                table = desk.table(draft)
                progress(2, 3)
                _ = table.diagnosis
            return f"/begin/{draft.key}/table"
        except BaseException:
            desk.drafts.remove(draft)
            raise

    try:
        job = desk.jobs.start(f"Reading {draft.name}", work)
    except FewgoldError:
        desk.drafts.remove(draft)
        raise
    return _onward(job)


def _onward(job: Job) -> Response:
    """Redirect to the result of a job if it is ready soon, otherwise to its progress."""
    job.wait(_SOON)
    if job.state == "finished":
        return RedirectResponse(job.result, 303)
    if job.state == "failed":
        raise DataError(job.sentence)
    return RedirectResponse(f"/begin/job/{job.id}", 303)


def _demo() -> str:
    """Three systems of the embedded data, with texts and metrics but without ratings."""
    import pandas as pd

    from fewgold.datasets import demo_systems, load_demo

    parts = []
    for k, system in enumerate(demo_systems("ende")[:3]):
        pool, _ = load_demo("ende", system=system, texts=True)
        columns: dict[str, Any] = {"segment": pool.ids, "document": pool.documents}
        columns |= {"system": f"system {k + 1}", **pool.texts}
        columns |= {m: np.round(pool.metrics[m], 4) for m in ("comet", "bleurt", "chrf")}
        parts.append(pd.DataFrame(columns))
    return str(pd.concat(parts).to_csv(index=False, lineterminator="\n"))


def _watching(router: APIRouter, desk: DraftDesk) -> None:
    """Long jobs: show their progress and cancel them."""

    def of(id: str) -> Job:
        found = desk.jobs.get(id)
        if found is None:
            raise HTTPException(404, "There is no such job (any more).")
        return found

    @router.get("/job/{id}")
    def job(request: Request, id: str) -> Response:
        found = of(id)
        if found.state == "finished":
            return RedirectResponse(found.result, 303)
        return desk.site.page(request, "begin_job.html", job=found, state=found.state)

    @router.get("/job/{id}/progress")
    def progress(request: Request, id: str) -> Response:
        found = of(id)
        if found.state != "running":
            return Response(status_code=200, headers={"HX-Redirect": f"/begin/job/{id}"})
        return desk.site.page(request, "begin_progress.html", job=found)

    @router.post("/job/{id}/cancel")
    def cancel(id: str) -> Response:
        found = of(id)
        found.stop.set()  # it stops when it next reports its progress
        found.wait(_SOON)
        return RedirectResponse(f"/begin/job/{id}", 303)


# 2. The table: the doctor's findings, and the role of each column


def _checking(router: APIRouter, desk: DraftDesk) -> None:
    def page(
        request: Request, draft: Draft, table: DraftTable, status: int = 200, trouble: str = ""
    ) -> HTMLResponse:
        found, names = table.roles, table.columns
        cells = found.cells
        preview = table.frame.head(_ROWS)
        place = draft.shown if draft.pair is None else f"{draft.shown}/{draft.pair}"
        words = ["fewgold", "doctor", place, *_doctor_options(table)]
        told = table.diagnosis.findings
        return desk.site.page(
            request, "begin_table.html", status, draft=draft, table=table, found=found,
            names=names, trouble=trouble, findings=told, facts=_facts(table),
            numbers=[n for n in names if cells[n].numeric or n in found.metrics + found.human],
            words=[n for n in names if not cells[n].numeric or n in found.texts],
            rows=[[str(v)[:200] for v in row] for row in preview.to_numpy().tolist()],
            pairs=draft.pairs, labels={1: "larger is better", -1: "larger is worse", 0: "neither"},
            commands=[(shlex.join(words), "Check the file.")],
        )  # fmt: skip

    @router.get("/{key}/table", response_class=HTMLResponse)
    def table(request: Request, key: str) -> Response:
        draft = desk.draft(key)
        if draft.pair is None and len(draft.pairs) > 1:
            told = shlex.quote(f"{draft.shown}/{draft.pairs[0]}")
            lines = [(f"fewgold doctor {told}", "Check one language pair.")]
            return desk.site.page(request, "begin_pair.html", draft=draft, commands=lines)
        return page(request, draft, desk.table(draft))

    @router.post("/{key}/pair")
    def pair(request: Request, key: str, form: Sent) -> Response:
        draft, chosen = desk.draft(key), form.text("pair")
        if chosen not in draft.pairs:
            raise UnknownNameError("language pair", chosen, draft.pairs)
        draft.keep(pair=chosen, columns={})
        return _reread(desk, draft)

    @router.post("/{key}/table")
    def choose(request: Request, key: str, form: SentFiles) -> Response:
        draft, fields = desk.draft(key), Fields.of(form)
        before = desk.table(draft)
        try:
            chosen = _chosen(fields, before)
            after = desk.table(draft, chosen)
            _ = after.roles
        except FewgoldError as error:
            return page(request, draft, before, 400, error.message_for("web"))
        kept = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(chosen).items()}
        try:
            if fields.text("go") == "look":
                draft.keep(columns=kept)
                return RedirectResponse(f"/begin/{key}/table", 303)
            _check(after)
        except FewgoldError as error:
            return page(request, draft, after, 400, error.message_for("web"))
        draft.keep(columns=kept)
        return RedirectResponse(f"/begin/{key}/plan", 303)


def _reread(desk: DraftDesk, draft: Draft) -> Response:
    def work(progress: Progress) -> str:
        progress(0, 2)
        table = desk.table(draft)
        progress(1, 2)
        _ = table.diagnosis
        return f"/begin/{draft.key}/table"

    return _onward(desk.jobs.start(f"Reading {draft.name}", work))


def _doctor_options(table: DraftTable) -> list[str]:
    words = []
    for name, value in table.chosen.told.items():
        if name != "cost":
            told = ",".join(value) if isinstance(value, list) else value
            words += [f"--{name}", told]
    return words if table.chosen != NamedColumns() else []


def _facts(table: DraftTable) -> list[tuple[str, str]]:
    """What was found, in brief."""
    found = table.roles
    facts = [("Rows", f"{len(table.frame):,}")]
    for name, column in (("Segments", found.id), ("Documents", found.document)):
        count = 0 if column is None else len(set(found.cells.labels(column)) - {""})
        facts.append((name, f"{count:,}" if column is not None else "not found"))
    if table.all_systems:
        facts.append(("Systems", f"{len(table.all_systems):,}"))
    if table.chosen.sides:
        facts.append(("Side by side", " and ".join(table.chosen.sides)))
    facts.append(("Metrics", f"{len(found.metrics):,}"))
    facts.append(("Texts for raters", ", ".join(found.texts) or "none"))
    return facts


def _chosen(fields: Fields, table: DraftTable) -> NamedColumns:
    """The columns of the form."""
    told: dict[str, Any] = {}
    for role in ROLES:
        column = fields.text(role)
        if column and column not in table.columns:
            raise UnknownNameError("column", column, table.columns)
        told[role] = column or (None if role == "id" else NONE)
    told["uncertainty"] = fields.text("uncertainty") or None
    if told["uncertainty"] not in (None, *table.columns):
        raise UnknownNameError("column", told["uncertainty"], table.columns)
    for role in ("metrics", "texts", "human"):
        columns = fields.many(role)
        for column in columns:
            if column not in table.columns:
                raise UnknownNameError("column", column, table.columns)
        told[role] = tuple(columns)
    if told["id"] is None:
        raise DataError("which column has the ids of the segments? Choose it.")
    told |= _two(fields, table)
    if told["sides"]:  # each row is a pair; other columns may name its systems
        told["system"] = NONE
        own = {*told["sides"], *told["between"]}
        told["texts"] = (*(t for t in told["texts"] if t not in own), *told["sides"])
    taken = [v for k, v in told.items() if k in ROLES and v not in (None, NONE)]
    taken += [c for role in ("metrics", "texts", "human", "between") for c in told[role]]
    if (twice := next((c for c in taken if taken.count(c) > 1), None)) is not None:
        raise DataError(f"the column {twice!r} is chosen twice. Choose it for one purpose only.")
    # The list of systems belongs to the column that was chosen before.
    if told["system"] == (table.roles.system or NONE) and len(table.all_systems) > 1:
        ticked = tuple(s for s in table.all_systems if s in fields.many("systems"))
        told["systems"] = None if set(ticked) == set(table.all_systems) else ticked
    return NamedColumns(**told)


def _two(fields: Fields, table: DraftTable) -> dict[str, tuple[str, ...]]:
    """The columns of two outputs side by side and, if chosen, of their systems."""
    found = {}
    for role, what in (("sides", "two texts"), ("between", "the columns of both systems")):
        both = tuple(fields.text(f"{role}-{k}") for k in (1, 2))
        for column in filter(None, both):
            if column not in table.columns:
                raise UnknownNameError("column", column, table.columns)
        if any(both) and (not all(both) or both[0] == both[1]):
            raise DataError(f"side by side needs {what}: choose two columns, or none.")
        found[role] = both if all(both) else ()
    if found["between"] and not found["sides"]:
        raise DataError(
            "columns for the two systems need two outputs side by side. Choose the two texts as "
            "well."
        )
    return found


def _check(table: DraftTable) -> None:
    """Refuse a table that is too small for a campaign."""
    pool = table.segments
    if len(pool) < 2:
        raise DataError(
            f"the table has {len(pool)} segment, but there must be at least two to choose from."
        )


# 3. The plan: scale, strategy and budget, with the expected ±

SCALES = {
    "0,1": "yes or no (0 or 1)",
    "1,5": "1 to 5",
    "1,7": "1 to 7",
    "0,100": "0 to 100",
    "mqm": "error points (MQM, 0 to 25)",
    "other": "other ends",
    "none": "any number",
}
BETTER = {"": "not specified", "higher": "higher is better", "lower": "lower is better"}
#: What raters give an output. For two side by side it is always which one is better.
RATED = {"one": "one score", "several": "a score for each of several criteria"}
_CRITERIA = 6  # at most


def _criteria_fields(sent: Mapping[str, str]) -> list[Field]:
    """Fields for each named criterion, and some empty ones."""
    named = [k for k in range(1, _CRITERIA + 1) if sent.get(f"criterion-{k}", "").strip()]
    found = []
    for k in range(1, min(max(3, max(named, default=0) + 1), _CRITERIA) + 1):
        found += [
            Field(f"criterion-{k}", f"Criterion {k}", "", length=60,
                  hint="The first one leads: the goal and the plan use it." if k == 1 else ""),
            Field(f"criterion-{k}-scale", f"Scale of criterion {k}", "1-5", length=20,
                  hint="Such as 1-5, 0-100 or mqm; empty for any number." if k == 1 else ""),
            Field(f"criterion-{k}-better", f"Which end of criterion {k} is good", "higher",
                  choices=tuple(BETTER.items())),
        ]  # fmt: skip
    return found


def _usual_scale(table: DraftTable) -> tuple[str, str, str, str]:
    """The scale of the human scores in the table, as the form has it: its name, both ends if it is
    none of the usual ones, and the good end. Without human scores the name is empty.
    """
    found = beginning.own_scale(table)
    if found is None:
        return "", "", "", "higher"
    ends, higher = found
    better = "higher" if higher else "lower"
    if ends is None:
        return "none", "", "", better
    low, high = (f"{end:g}" for end in ends)
    if ends == as_limits("mqm") and not higher:
        return "mqm", "", "", better
    if (name := f"{low},{high}") in SCALES:
        return name, "", "", better
    return "other", low, high, better


def plan_fields(
    table: DraftTable, about: Known | None, sent: Mapping[str, str]
) -> dict[str, Field]:  # fmt: skip
    """The fields of the plan, for that table."""
    pool = table.segments
    size, several = len(pool), len(table.systems) > 1 and table.crossed
    most = size
    usual = min(100, -(-size // 2))
    told = "from the human scores in the table" if about is not None else "a guess from the scale"
    scale, low, high, better = _usual_scale(table)
    fields = [] if table.chosen.sides else [
        Field("rated", "What raters give", "one", choices=tuple(RATED.items())),
        Field("scale", "Rating scale", scale or "0,100", choices=tuple(SCALES.items()),
              hint="A guess from the human scores in the table." if scale else ""),
        Field("low", "Scale from", low, -1e9, 1e9, optional=True, hint="If you chose other ends."),
        Field("high", "Scale to", high, -1e9, 1e9, optional=True),
        Field("better", "Which end is good", better, choices=tuple(BETTER.items()),
              hint="Raters see this beside the scale."),
        *_criteria_fields(sent),
    ]  # fmt: skip
    fields += [
        Field("strategy", "How segments are chosen", beginning.strategies(pool)[0][0],
              choices=tuple((n, n if k else f"{n} (recommended)")
                            for k, (n, _) in enumerate(beginning.strategies(pool)))),
        Field("budget", "Segments to rate", str(usual), 1, most, True,
              slider=(min(10, most), most, 1) if most > 10 else None,
              hint="Each is rated for every system." if several else ""),
        Field("each", "Raters per segment", "1", 1, 99, True),
        Field("confidence", "Confidence", "0.95", 0.5, 0.9999),
        Field("tolerance", "Wanted ±", "", 1e-9, 1e9, optional=True,
              hint="Optional. The pages then show how many ratings are still needed."),
        Field("sd", "Spread of the scores (sd)", "", 1e-9, 1e9, optional=True,
              hint=f"Empty: {told}."),
    ]  # fmt: skip
    if pool.metrics:
        fields.append(
            Field("correlation", "Correlation of the metrics with people", "", -0.999, 0.999,
                  optional=True, hint=f"Empty: {told if about is not None else '0.5, a guess'}.")
        )  # fmt: skip
    return by_name(*fields)


def criteria_of(form: Form) -> tuple[Criterion, ...]:
    """The named criteria, with their scales."""
    if form.fields.get("rated") is None or form["rated"] != "several":
        return ()
    return tuple(_criterion(form, name) for name in _named(form))


def _named(form: Form) -> list[str]:
    """The fields with names of criteria."""
    return [n for n in form.fields if re.fullmatch(r"criterion-\d", n) and form[n]]


def _criterion(form: Form, name: str) -> Criterion:
    """One criterion; an error says what is wrong with its name or scale."""
    scale = Criterion.parse(f"x:{told}" if (told := form[f"{name}-scale"]) else "x")
    better = {"higher": True, "lower": False}.get(form[f"{name}-better"] or "")
    if scale.higher_is_better is False:  # a scale that counts errors
        better = False
    return replace(scale, name=form[name], higher_is_better=better)


def scale_of(form: Form) -> tuple[str | tuple[float, float] | None, bool | None]:
    """The scale and its good end, as a campaign takes them; those of the first of several criteria.

    Outputs side by side have their own scale.
    """
    if "rated" not in form.fields:
        return PREFERENCE, True
    if criteria := criteria_of(form):
        return criteria[0].limits, criteria[0].higher_is_better
    better = {"higher": True, "lower": False}.get(form["better"] or "")
    name = form["scale"]
    if name == "none" or name is None:
        return None, better
    if name == "mqm":
        return "mqm", False
    if name == "other":
        if form["low"] is None or form["high"] is None:
            raise FewgoldError("give both ends of the scale.")
        return (form["low"], form["high"]), better
    low, high = name.split(",")
    return (float(low), float(high)), better


def read_plan(table: DraftTable, about: Known | None, sent: Mapping[str, str]) -> Form:
    """The form as sent, with errors about fields that contradict each other."""
    form = Form.of(plan_fields(table, about, sent), sent)
    if "rated" not in form.fields:
        pass
    elif form["rated"] == "several":
        form = _with_criteria(form)
    elif form["scale"] == "other":
        low, high = form["low"], form["high"]
        if low is None or high is None:
            form = form.but(**{"low" if low is None else "high": "Expected a number."})
        elif not low < high:
            form = form.but(high=f"Expected more than {low:g}, the low end of the scale.")
    if form["tolerance"] is not None and not form.errors:
        ends = as_limits(scale_of(form)[0])
        if ends is not None and form["tolerance"] >= (ends[1] - ends[0]) / 2:
            most = (ends[1] - ends[0]) / 2
            form = form.but(tolerance=f"Expected less than half of the scale ({most:g}).")
    return form


def _with_criteria(form: Form) -> Form:
    """Errors about criteria. The single scale does not matter."""
    single = ("scale", "low", "high", "better")
    form = replace(form, errors={k: v for k, v in form.errors.items() if k not in single})
    seen: list[str] = []
    for name in _named(form):
        told, scale = form[name], form[f"{name}-scale"]
        said = ""
        if set(told) & set(",:=") or not told.isprintable():
            said = "Expected a name without commas, colons and '='."
        elif told in seen:
            said = f"{told} is given twice. Name each criterion once."
        elif told in COLUMNS:
            said = f"Every answer already has a {told}. Choose another name."
        seen.append(told)
        form = form.but(**{name: said}) if said else form
        try:
            Criterion.parse(f"x:{scale}" if scale else "x")
        except FewgoldError:
            said = f"Expected two ends such as 1-5 or 0-100, or mqm; got {scale!r}."
            form = form.but(**{f"{name}-scale": said})
    return form if seen or form.errors else form.but(**{"criterion-1": "Name one or more."})


def expected(
    table: DraftTable, about: Known | None, form: Form
) -> tuple[dict[str, Any] | None, str]:
    """What the budget would achieve with each strategy, or why that is unknown."""
    lacking = form.lacks(*form.fields)
    if lacking:
        return None, lacking
    try:
        return _expected(table, about, form), ""
    except FewgoldError as error:
        return None, error.message_for("web")


def _expected(table: DraftTable, about: Known | None, form: Form) -> dict[str, Any]:
    limits, better = scale_of(form)
    ends = as_limits(limits)
    other = about if about is not None and not about.fits(ends) else None
    taken = beginning.guess(ends, better, table) if about is None or other else about
    if form["sd"] is not None:
        taken = replace(taken, sd=form["sd"], labels=0)
    if "correlation" in form.fields and form["correlation"] is not None:
        taken = replace(taken, correlation=form["correlation"])
    several = table.crossed and len(table.systems) > 1
    n, level, size = form["budget"], form["confidence"], len(table.segments)
    outlook = beginning.outlook(table, taken)
    apart = beginning.outlook(table, taken, differences=True) if several else None
    rows, series = [], []
    for name, does in beginning.strategies(table.segments):
        by = beginning.formula(name)
        half = outlook.half_width(by, n, level)
        own = name == form["strategy"]
        rows.append({
            "strategy": name, "does": does, "half": _width(half), "own": own,
            "apart": "" if apart is None else _width(apart.half_width(by, n, level)),
        })  # fmt: skip
        if own or name == "random+mean":
            points = _curve(outlook, by, n, level)
            mark = (float(n), half) if math.isfinite(half) else None
            series.append((name, points, mark))
    series.sort(key=lambda one: one[0] != form["strategy"])
    own_row = next(row for row in rows if row["own"])
    shown = None
    if all(len(points) > 2 for _, points, _ in series):
        shown = chart(
            series, "segments rated", "± of the interval", height=300, level=form["tolerance"]
        )
    options: dict[str, Any] = {
        "half_width": round(outlook.half_width(beginning.formula(form["strategy"]), n, level), 4),
        "confidence": level if level != 0.95 else None, "sd": taken.sd,
        "correlation": taken.correlation or None,
        "metrics": outlook.slopes if taken.correlation else None, "icc": outlook.icc,
        "per_document": None if outlook.per_document is None else round(outlook.per_document, 2),
        "size": size,
    }  # fmt: skip
    finite = math.isfinite(options["half_width"]) and options["half_width"] > 0
    systems = max(len(table.systems), 1) if several else 1
    return {
        "rows": rows, "shown": shown, "half": own_row["half"], "apart": own_row["apart"],
        "strategy": form["strategy"], "n": n, "size": size, "level": f"{100 * level:g}%",
        "ratings": n * systems * form["each"], "systems": systems, "each": form["each"],
        "sides": table.chosen.sides, "known": taken,
        "guessed": not taken.labels and form["sd"] is None, "other": other,
        "sd": number(taken.sd), "scale": RatingScale(ends, better).words,
        "command": plan_command(options) if finite else "",
    }  # fmt: skip


def _width(half: float) -> str:
    return number(half) if math.isfinite(half) else "unknown"


def _curve(outlook: Outlook, strategy: str, n: int, level: float) -> list[tuple[float, float]]:
    """Half-widths by number of ratings around the budget, without very small numbers."""
    size = outlook.size or 4 * n
    counts = np.unique(np.geomspace(max(min(n / 4, size), 4), min(4 * n, size), 40).round())
    points = [(float(k), outlook.half_width(strategy, int(k), level)) for k in {*counts, float(n)}]
    own = outlook.half_width(strategy, n, level)
    most = 4 * own if math.isfinite(own) and own > 0 else math.inf
    return sorted((k, half) for k, half in points if math.isfinite(half) and half <= most)


def _planning(router: APIRouter, desk: DraftDesk) -> None:
    def ready(key: str) -> tuple[Draft, DraftTable, Known | None]:
        draft = desk.draft(key)
        table = desk.table(draft)
        _check(table)
        return draft, table, beginning.known(table)

    def kept(draft: Draft) -> dict[str, str]:
        found = draft.state.get("plan")
        return {k: str(v) for k, v in found.items()} if isinstance(found, dict) else {}

    def page(
        request: Request, name: str, draft: Draft, table: DraftTable, about: Known | None,
        form: Form, status: int = 200, **more: Any,
    ) -> HTMLResponse:  # fmt: skip
        answer = expected(table, about, form)
        lines = [(f"fewgold strategies {shlex.quote(draft.shown)}", "See more strategies.")]
        if answer[0] is not None and answer[0]["command"]:
            lines.insert(0, (answer[0]["command"], "Compute how many ratings a goal needs."))
        return desk.site.page(
            request, name, status, draft=draft, table=table, about=about, form=form,
            answer=answer, commands=lines, beside="results" in name, **more,
        )  # fmt: skip

    @router.get("/{key}/plan", response_class=HTMLResponse)
    def plan(request: Request, key: str) -> Response:
        draft, table, about = ready(key)
        form = read_plan(table, about, {**kept(draft), **request.query_params})
        return page(request, "begin_plan.html", draft, table, about, form)

    @router.get("/{key}/plan/results", response_class=HTMLResponse)
    def results(request: Request, key: str) -> Response:
        draft, table, about = ready(key)
        form = read_plan(table, about, request.query_params)
        asked = tuple(request.query_params)  # a page may lack the row for another criterion
        answer = page(request, "begin_plan_results.html", draft, table, about, form, asked=asked)
        if form.errors and "hx-request" in request.headers:
            answer.headers["HX-Reswap"] = "none"  # leave the page as it is
        return answer

    @router.post("/{key}/plan")
    def planned(request: Request, key: str, sent: Sent) -> Response:
        draft, table, about = ready(key)
        form = read_plan(table, about, dict(sent.pairs))
        if form.errors:
            return page(request, "begin_plan.html", draft, table, about, form, 400)
        draft.keep(plan=dict(form.texts))
        return RedirectResponse(f"/begin/{key}/texts", 303)


# 4. What raters see, and the campaign

_QUESTION = 2000  # characters
_TEXTS = ("name", "question", "low_end", "high_end", "instructions", "practice")
_MOST_PRACTICE = 20


def _creating(router: APIRouter, desk: DraftDesk) -> None:
    def ready(key: str) -> tuple[Draft, DraftTable, Form]:
        draft = desk.draft(key)
        table = desk.table(draft)
        _check(table)
        kept = draft.state.get("plan")
        about = beginning.known(table)
        plan = {k: str(v) for k, v in kept.items()} if isinstance(kept, dict) else {}
        return draft, table, read_plan(table, about, plan)

    def page(
        request: Request, draft: Draft, table: DraftTable, plan: Form, texts: Mapping[str, str],
        status: int = 200, trouble: str = "",
    ) -> HTMLResponse:  # fmt: skip
        wanted = _wanted(draft, table, plan, texts)
        ends = wanted.settings.get("ends")
        scale = RatingScale(as_limits(wanted.limits), wanted.higher_is_better, ends)
        name = beginning.folder_name(wanted.name, desk.campaigns.all())
        pool, _, notes = table.pool
        example, two = {k: str(v[0]) for k, v in pool.texts.items()}, table.chosen.sides
        return desk.site.page(
            request, "begin_texts.html", status, draft=draft, table=table, wanted=wanted,
            texts={**dict.fromkeys(_TEXTS, ""), **texts}, scale=scale,
            instructions=Markup(to_html(str(texts.get("instructions") or ""))),
            has_ends=_has_ends(table, wanted), usual=_usual(table, wanted, scale),
            example=example, criteria=wanted.settings.get("criteria", ()),
            two={"Left": example[two[0]], "Right": example[two[1]]} if two else {},
            both=[name for name in example if name not in two], most_practice=_MOST_PRACTICE,
            notes=notes, folder=name, trouble=trouble,
            commands=beginning.commands(table, wanted, name),
        )  # fmt: skip

    @router.get("/{key}/texts", response_class=HTMLResponse)
    def texts(request: Request, key: str) -> Response:
        draft, table, plan = ready(key)
        if plan.errors or not isinstance(draft.state.get("plan"), dict):
            return RedirectResponse(f"/begin/{key}/plan", 303)
        kept = draft.state.get("texts")
        return page(request, draft, table, plan, kept if isinstance(kept, dict) else {})

    @router.post("/{key}/texts")
    def create(request: Request, key: str, sent: Sent) -> Response:
        draft, table, plan = ready(key)
        given = {name: sent.text(name).replace("\r\n", "\n") for name in _TEXTS}
        given["name"] = given["name"][:200]
        try:
            if plan.errors:
                raise FewgoldError("some fields of the plan are not valid. Go back to the plan.")
            if len(given["question"]) > _QUESTION or "\x00" in given["question"]:
                raise FewgoldError(f"the question must not exceed {_QUESTION} characters.")
            if bool(given["low_end"]) != bool(given["high_end"]):
                raise FewgoldError("label both ends of the scale, or neither.")
            _practice_of(given)
            wanted = _wanted(draft, table, plan, given)
            if not given["name"]:
                raise FewgoldError("give the campaign a name.")
            wanted.check()
            draft.keep(texts=given)
            if sent.text("go") == "look":
                return RedirectResponse(f"/begin/{key}/texts", 303)
            folder = desk.campaigns.folder
            name = beginning.folder_name(wanted.name, desk.campaigns.all())

            def work(progress: Progress) -> str:
                beginning.create(draft, wanted, folder, name, progress)
                desk.drafts.remove(draft)
                return f"{desk.campaigns.address(name)}/overview"

            return _onward(desk.jobs.start(f"Beginning {wanted.name}", work))
        except FewgoldError as error:
            return page(request, draft, table, plan, given, 400, error.message_for("web"))


def _wanted(draft: Draft, table: DraftTable, plan: Form, texts: Mapping[str, str]) -> CampaignPlan:
    """Everything that was decided."""
    limits, better = scale_of(plan)
    told = {k: str(texts.get(k) or "").strip() for k in _TEXTS}
    settings: dict[str, Any] = {k: told[k] for k in ("question", "instructions") if told[k]}
    if criteria := criteria_of(plan):
        settings["criteria"] = criteria
    with suppress(FewgoldError):  # reported when the form is sent
        settings |= {"practice": count} if (count := _practice_of(told)) else {}
    wanted = CampaignPlan(
        name=told["name"] or _name(draft), strategy=plan["strategy"], budget=plan["budget"],
        seed=_seed(draft), limits=limits, higher_is_better=better, confidence=plan["confidence"],
        tolerance=plan["tolerance"], each=plan["each"], settings=settings,
    )  # fmt: skip
    if told["low_end"] and told["high_end"] and _has_ends(table, wanted):
        settings["ends"] = (told["low_end"], told["high_end"])
    return wanted


def _has_ends(table: DraftTable, wanted: CampaignPlan) -> bool:
    """Whether there is a single scale whose ends the owner can label."""
    several = bool(table.chosen.sides or wanted.settings.get("criteria"))
    return not several and as_limits(wanted.limits) is not None


def _usual(table: DraftTable, wanted: CampaignPlan, scale: RatingScale) -> str:
    """The question for raters if the owner does not write one."""
    if table.chosen.sides:
        return "Which output is better?"
    return "Rate this output." if wanted.settings.get("criteria") else scale.asked()


def _practice_of(texts: Mapping[str, str]) -> int:
    """The number of practice items for a new rater."""
    told = texts["practice"].strip() or "0"
    if not told.isascii() or not told.isdigit() or int(told[:9]) > _MOST_PRACTICE:
        raise FewgoldError(
            f"the number of practice items must be a whole number from 0 to {_MOST_PRACTICE}; got "
            f"{told[:20]!r}."
        )
    return int(told)


def _name(draft: Draft) -> str:
    """The default name of a campaign: that of its table."""
    return draft.name.partition(".")[0].replace("_", " ").strip() or "campaign"


def _seed(draft: Draft) -> int:
    """A seed that stays the same while the page is open, from the random key of the draft."""
    return int.from_bytes(draft.key.encode()) % 10**6
