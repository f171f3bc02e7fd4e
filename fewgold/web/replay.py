"""Compare and simulate on ratings that one has: the pages under /replay, for the owner."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile

from fewgold.errors import DataError, FewgoldError
from fewgold.plots.style import available
from fewgold.web import replay_data
from fewgold.web.files import DRAWING, IMAGES, Recent, download, drawn, frame_csv, known
from fewgold.web.forms import Fields, SentFiles
from fewgold.web.jobs import Job, Jobs
from fewgold.web.replay_data import Data, Tables, chosen, guess
from fewgold.web.replay_pages import ComparePage, Page, ReliabilityPage, RocPage, SimulatePage
from fewgold.web.site import Site

#: Pages that show their result at once, and those that run as jobs.
AT_ONCE: tuple[Page, ...] = (ComparePage(), RocPage())
AS_JOBS: dict[str, Page] = {page.name: page for page in (SimulatePage(), ReliabilityPage())}


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/replay", dependencies=[Depends(site.owner)])
    tables, jobs = Tables(), Jobs()
    _choosing(router, site, tables, jobs)
    for page in AT_ONCE:
        _at_once(router, site, tables, page)
    for page in AS_JOBS.values():
        _as_job(router, site, tables, jobs, page)
    _watching(router, site, jobs)
    return router


def _choosing(router: APIRouter, site: Site, tables: Tables, jobs: Jobs) -> None:
    """Tables to choose from, and what is known of one."""

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
    def upload(request: Request, form: SentFiles) -> Response:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError("no file came. Choose one first.")
            data = tables.add(file.filename, file.file)
        except FewgoldError as error:
            return start(request, 400, error.message_for("web"))
        return RedirectResponse(f"/replay/table?data={data.key}", 303)

    @router.post("/forget")
    def forget(request: Request, form: SentFiles) -> Response:
        tables.remove(Fields.of(form).text("data"))
        return RedirectResponse("/replay", 303)

    @router.get("/table")
    def table(request: Request) -> HTMLResponse:
        data = tables.get(Fields.of(request.query_params).text("data"))
        rows = [[str(v)[:80] for v in row] for row in data.frame.head(5).to_numpy().tolist()]
        return site.page(request, "replay_table.html", data=data, rows=rows, found=guess(data))


def _filled(
    site: Site, request: Request, page: Page, fields: Fields, data: Data, trouble: str, **more: Any
) -> HTMLResponse:
    """The form as it was filled in, with what is wrong with it."""
    try:
        columns = chosen(fields, data)
    except FewgoldError as error:  # a column that is not there
        columns, trouble = guess(data), trouble or error.message_for("web")
    return site.page(
        request, f"replay_{page.name}.html", 400 if trouble else 200, data=data, fields=fields,
        columns=columns, trouble=trouble, options=page, **page.form(fields, data, columns), **more,
    )  # fmt: skip


def _at_once(router: APIRouter, site: Site, tables: Tables, page: Page) -> None:
    """A page whose result is made while it loads, with the addresses of its figures and tables."""
    recent, images = Recent(6), Recent(40)

    def result(fields: Fields) -> tuple[Any, dict[str, Any]]:
        data = tables.get(fields.text("data"))

        def make() -> tuple[Any, dict[str, Any]]:
            found = page.prepare(fields, data)[0](lambda done, total: None)
            return found, page.show(found)

        return recent.get(fields.query(keep=""), make)

    @router.get(f"/{page.name}", name=page.name)
    def form(request: Request) -> HTMLResponse:
        fields = Fields.of(request.query_params)
        data = tables.get(fields.text("data"))
        shown, trouble, line = None, "", None
        try:
            if fields.sent:
                shown, line = result(fields)[1], page.command(fields, data)
        except FewgoldError as error:
            trouble = error.message_for("web")
        return _filled(
            site, request, page, fields, data, trouble, shown=shown, command=line,
            query=fields.query(), figures=available(),
        )  # fmt: skip

    @router.get(f"/{page.name}/figure/{{kind}}.{{suffix}}", name=f"{page.name} figure")
    def figure(request: Request, kind: str, suffix: str) -> Response:
        found, shown = result(Fields.of(request.query_params))
        return _image(images, page, found, shown, kind, suffix, request)

    @router.get(f"/{page.name}/table/{{table}}.csv", name=f"{page.name} table")
    def table(request: Request, table: str) -> Response:
        found, shown = result(Fields.of(request.query_params))
        return frame_csv(page.frame(found, known(table, shown["tables"], "table")), table)


def _as_job(router: APIRouter, site: Site, tables: Tables, jobs: Jobs, page: Page) -> None:
    """A page that starts a job."""

    @router.get(f"/{page.name}", name=page.name)
    def form(request: Request) -> HTMLResponse:
        fields = Fields.of(request.query_params)
        return _filled(site, request, page, fields, tables.get(fields.text("data")), "")

    @router.post(f"/{page.name}", name=f"start {page.name}")
    def start(request: Request, sent: SentFiles) -> Response:
        fields = Fields.of(sent)
        data = tables.get(fields.text("data"))
        try:
            work, notes = page.prepare(fields, data)
            title = "Simulation" if page.name == "simulate" else "Reliability"
            job = jobs.start(
                f"{title} on {data.short}", work, kind=page.name, notes=notes,
                form=f"/replay/{page.name}?{fields.query()}", command=page.command(fields, data),
            )  # fmt: skip
        except FewgoldError as error:
            return _filled(site, request, page, fields, data, error.message_for("web"))
        return RedirectResponse(f"/replay/job/{job.id}", 303)


def _watching(router: APIRouter, site: Site, jobs: Jobs) -> None:
    """Jobs: their progress and their results."""
    images = Recent(60)

    def of(id: str) -> Job:
        found = jobs.get(id)
        if found is None:
            raise HTTPException(404, "This job is not known here (any more).")
        return found

    def finished(id: str) -> tuple[Any, Page]:
        job = of(id)
        if job.state != "finished":
            raise HTTPException(404, "This job has no result.")
        return job.result, AS_JOBS[job.facts["kind"]]

    @router.get("/job/{id}")
    def page(request: Request, id: str) -> HTMLResponse:
        job = of(id)
        state = job.state
        shown = AS_JOBS[job.facts["kind"]].show(job.result) if state == "finished" else None
        return site.page(
            request, "replay_job.html", job=job, state=state, shown=shown, figures=available()
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
        job.stop.set()  # it does when it next reports its progress
        job.wait(1.0)
        return RedirectResponse(f"/replay/job/{job.id}", 303)

    @router.get("/job/{id}/figure/{kind}.{suffix}")
    def figure(request: Request, id: str, kind: str, suffix: str) -> Response:
        result, page = finished(id)
        return _image(images, page, result, page.show(result), kind, suffix, request)

    @router.get("/job/{id}/table/{name}.csv")
    def table(id: str, name: str) -> Response:
        result, page = finished(id)
        known(name, page.show(result)["tables"], "table")
        return frame_csv(page.frame(result, name), name)

    @router.get("/job/{id}/report.html")
    def report(id: str) -> Response:
        result, page = finished(id)
        if page.name != "simulate":
            raise HTTPException(404, "There is no such page of this job.")
        with DRAWING:
            made = images.get((id, "report"), result.to_html)
        return download(made.encode(), "report.html", "text/html")


def _image(
    images: Recent, page: Page, result: Any, shown: dict[str, Any], kind: str, suffix: str,
    request: Request,
) -> Response:  # fmt: skip
    """A figure of a result, drawn when it is first asked for."""
    known(kind, shown["figures"], "figure"), known(suffix, IMAGES, "figure")
    # With the result, whose id is of no other as long as it is kept.
    made, _ = images.get(
        (id(result), kind, suffix),
        lambda: (drawn(lambda: page.plot(result, kind), suffix), result),
    )
    keep = bool(request.query_params.get("keep"))
    return download(made, f"{kind}.{suffix}", IMAGES[suffix], save=keep)
