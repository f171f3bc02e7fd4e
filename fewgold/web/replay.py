"""Compare and simulate on ratings that one has: the pages under /replay, for the owner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect

from fewgold.errors import DataError, FewgoldError
from fewgold.web import replay_compare, replay_data, replay_reliability, replay_roc, replay_simulate
from fewgold.web.jobs import Job, Jobs
from fewgold.web.replay_data import Tables, guess
from fewgold.web.replay_form import Fields, checked
from fewgold.web.replay_results import (
    KINDS,
    Recent,
    attached,
    csv_answer,
    drawn,
    drawn_page,
    figure_answer,
    figures_there,
    known,
)
from fewgold.web.site import Site

# Results that are made while the page loads: a form, what it gives, figures and tables of it.


# All have chosen, run, show, command, plot, frame_of, FIGURES and TABLES.
_DIRECT_KINDS: dict[str, Any] = {"compare": replay_compare, "roc": replay_roc}


def add_routes(router: APIRouter, site: Site, tables: Tables) -> None:
    """The pages, each with the addresses of its figures and tables."""
    for name, part in _DIRECT_KINDS.items():
        _add(router, site, tables, name, part)


def _add(router: APIRouter, site: Site, tables: Tables, name: str, part: Any) -> None:
    recent, images = Recent(6), Recent(40)

    def result(fields: Fields) -> Any:
        data = tables.get(fields.text("data"))
        return recent.get(fields.query(), lambda: part.run(fields, data))

    @router.get(f"/{name}", name=name)
    def page(request: Request) -> HTMLResponse:
        fields = Fields.of(request.query_params)
        data = tables.get(fields.text("data"))
        shown, trouble, line = None, None, None
        columns = guess(data)
        try:
            columns = part.chosen(fields, data)
            if fields.sent:
                shown = part.show(result(fields))
                line = part.command(fields, data)
        except FewgoldError as error:
            trouble = str(error)
        return site.page(
            request, f"replay_{name}.html", 400 if trouble else 200, data=data, fields=fields,
            columns=columns, shown=shown, trouble=trouble, command=line, query=fields.query(),
            figures=figures_there(), options=part, humans=checked(data.columns, columns.human),
            metrics=checked(data.columns, columns.metrics),
        )  # fmt: skip

    @router.get(f"/{name}/figure/{{kind}}.{{suffix}}", name=f"{name} figure")
    def figure(request: Request, kind: str, suffix: str) -> Response:
        known(kind, part.FIGURES, "figure"), known(suffix, KINDS, "figure")
        fields = Fields.of(request.query_params)
        found = result(Fields(tuple(p for p in fields.pairs if p[0] != "keep")))
        # With the result, whose id is of no other as long as it is kept.
        made, _ = images.get(
            (id(found), kind, suffix),
            lambda: (drawn(lambda: part.plot(found, kind), suffix), found),
        )
        return figure_answer(made, suffix, kind, bool(fields.text("keep")))

    @router.get(f"/{name}/table/{{table}}.csv", name=f"{name} table")
    def download(request: Request, table: str) -> Response:
        known(table, part.TABLES, "table")
        found = result(Fields.of(request.query_params))
        return csv_answer(part.frame_of(found, table), f"{table}.csv")


async def _sent(request: Request) -> AsyncIterator[FormData]:
    """What a form sent, files included, read only after the owner was recognised."""
    try:
        async with request.form(max_files=1, max_fields=3000, max_part_size=1 << 20) as form:
            yield form
    except ClientDisconnect:
        raise HTTPException(413, "That is too large.") from None


# What runs as a job, by kind: both have show, plot and frame_of.
_KINDS: dict[str, Any] = {"simulate": replay_simulate, "reliability": replay_reliability}
Sent = Annotated[FormData, Depends(_sent)]


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/replay", dependencies=[Depends(site.owner)])
    tables, jobs = Tables(), Jobs()
    _choosing(router, site, tables, jobs)
    add_routes(router, site, tables)
    _simulating(router, site, tables, jobs)
    _counting(router, site, tables, jobs)
    _watching(router, site, jobs)
    return router


def _choosing(router: APIRouter, site: Site, tables: Tables, jobs: Jobs) -> None:
    def start(request: Request, status: int = 200, trouble: str | None = None) -> HTMLResponse:
        return site.page(
            request, "replay.html", status, demos=replay_data.DEMOS, uploads=tables.uploads(),
            suffixes=replay_data.SUFFIXES, most=replay_data.MOST_ROWS, jobs=jobs.all(),
            trouble=trouble,
        )  # fmt: skip

    @router.get("")
    def choose(request: Request) -> HTMLResponse:
        return start(request)

    @router.post("/upload")
    def upload(request: Request, form: Sent) -> Response:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError("no file came. Choose one first.")
            data = tables.add(file.filename, file.file)
        except FewgoldError as error:
            return start(request, 400, str(error))
        return RedirectResponse(f"/replay/table?data={data.key}", 303)

    @router.post("/forget")
    def forget(request: Request, form: Sent) -> Response:
        tables.remove(Fields.of(form).text("data"))
        return RedirectResponse("/replay", 303)

    @router.get("/table")
    def table(request: Request) -> HTMLResponse:
        data = tables.get(Fields.of(request.query_params).text("data"))
        rows = [[str(v)[:80] for v in row] for row in data.frame.head(5).to_numpy().tolist()]
        return site.page(request, "replay_table.html", data=data, rows=rows, found=guess(data))


def _simulating(router: APIRouter, site: Site, tables: Tables, jobs: Jobs) -> None:
    def form(request: Request, fields: Fields, trouble: str | None = None) -> HTMLResponse:
        from fewgold.registry import bound_names

        data = tables.get(fields.text("data"))
        try:
            columns, by = replay_simulate.chosen(fields, data)
        except FewgoldError:  # a column that is not there: the sentence says so
            columns, by = guess(data), None
        names = replay_simulate.strategies(data, columns)
        ticked = replay_simulate.ticked(fields, names)
        typed = ", ".join(name for name in ticked if name not in names)
        return site.page(
            request, "replay_simulate.html", 400 if trouble else 200, data=data, fields=fields,
            columns=columns, by=by, trouble=trouble, options=replay_simulate, typed=typed,
            strategies=checked(names, ticked), bounds=checked(bound_names(), fields.many("bound")),
            metrics=checked(data.columns, columns.metrics),
        )  # fmt: skip

    @router.get("/simulate")
    def simulate(request: Request) -> HTMLResponse:
        return form(request, Fields.of(request.query_params))

    @router.post("/simulate")
    def start(request: Request, sent: Sent) -> Response:
        fields = Fields.of(sent)
        data = tables.get(fields.text("data"))
        try:
            made = replay_simulate.prepare(fields, data)
            job = jobs.start(
                f"Simulation on {data.short}", made.run, kind="simulate", notes=made.notes,
                form=f"/replay/simulate?{fields.query()}",
                command=replay_simulate.command(fields, data),
            )  # fmt: skip
        except FewgoldError as error:
            return form(request, fields, str(error))
        return RedirectResponse(f"/replay/job/{job.id}", 303)


def _counting(router: APIRouter, site: Site, tables: Tables, jobs: Jobs) -> None:
    def form(request: Request, fields: Fields, trouble: str | None = None) -> HTMLResponse:
        data = tables.get(fields.text("data"))
        try:
            columns = replay_reliability.chosen(fields, data)
        except FewgoldError:  # a column that is not there: the sentence says so
            columns = guess(data)
        return site.page(
            request, "replay_reliability.html", 400 if trouble else 200, data=data, fields=fields,
            columns=columns, trouble=trouble, options=replay_reliability,
            scores=checked(data.columns, columns.human),
        )  # fmt: skip

    @router.get("/reliability")
    def reliability(request: Request) -> HTMLResponse:
        return form(request, Fields.of(request.query_params))

    @router.post("/reliability")
    def start(request: Request, sent: Sent) -> Response:
        fields = Fields.of(sent)
        data = tables.get(fields.text("data"))
        try:
            job = jobs.start(
                f"Reliability on {data.short}", replay_reliability.prepare(fields, data),
                kind="reliability", notes=(), form=f"/replay/reliability?{fields.query()}",
                command=replay_reliability.command(fields, data),
            )  # fmt: skip
        except FewgoldError as error:
            return form(request, fields, str(error))
        return RedirectResponse(f"/replay/job/{job.id}", 303)


def _watching(router: APIRouter, site: Site, jobs: Jobs) -> None:
    images = Recent(60)

    def of(id: str) -> Job:
        found = jobs.get(id)
        if found is None:
            raise HTTPException(404, "This job is not known here (any more).")
        return found

    def finished(id: str) -> tuple[Any, Any]:
        job = of(id)
        if job.state != "finished":
            raise HTTPException(404, "This job has no result.")
        return job.result, _KINDS[job.facts["kind"]]

    @router.get("/job/{id}")
    def page(request: Request, id: str) -> HTMLResponse:
        job = of(id)
        state = job.state
        shown = _KINDS[job.facts["kind"]].show(job.result) if state == "finished" else None
        return site.page(
            request, "replay_job.html", job=job, state=state, shown=shown, figures=figures_there()
        )

    @router.get("/job/{id}/progress")
    def progress(request: Request, id: str) -> Response:
        job = of(id)
        if job.state != "running":
            return Response(status_code=200, headers={"HX-Redirect": f"/replay/job/{job.id}"})
        return site.page(request, "replay_progress.html", job=job)

    @router.post("/job/{id}/cancel")
    def cancel(request: Request, id: str) -> Response:
        job = of(id)
        jobs.cancel(job)
        job.wait(1.0)
        return RedirectResponse(f"/replay/job/{job.id}", 303)

    @router.get("/job/{id}/figure/{kind}.{suffix}")
    def figure(request: Request, id: str, kind: str, suffix: str) -> Response:
        result, part = finished(id)
        known(kind, part.show(result)["figures"], "figure")
        known(suffix, KINDS, "figure")
        made = images.get(
            (id, kind, suffix), lambda: drawn(lambda: part.plot(result, kind), suffix)
        )
        return figure_answer(made, suffix, kind, bool(request.query_params.get("keep")))

    @router.get("/job/{id}/table/{name}.csv")
    def table(id: str, name: str) -> Response:
        result, part = finished(id)
        known(name, part.show(result)["tables"], "table")
        return csv_answer(part.frame_of(result, name), f"{name}.csv")

    @router.get("/job/{id}/report.html")
    def report(id: str) -> Response:
        result, part = finished(id)
        if part is not replay_simulate:
            raise HTTPException(404, "There is no such page of this job.")
        made = images.get((id, "report"), lambda: drawn_page(result.to_html))
        return HTMLResponse(made, headers=attached("report.html"))
