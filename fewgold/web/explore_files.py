"""Files out of a campaign, and answers into it."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, File, Form, HTTPException, Request, Response, UploadFile
from fastapi.responses import HTMLResponse

from fewgold import formats
from fewgold._temporary import TemporaryFolder
from fewgold._text import plain_value
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Names
from fewgold.io import SUFFIXES
from fewgold.web.explore_tables import TABLES, NoSuchFigure, csv, drawn, known
from fewgold.web.explore_view import Store, looking
from fewgold.web.site import Site

if TYPE_CHECKING:
    from fewgold.campaign.answers import Receipt

_KINDS = {"svg": "image/svg+xml", "png": "image/png"}
_REPORTS = {"html": "text/html", "md": "text/markdown"}
_WHICH = ("unrated", "wanting", "all", "last")
_GAPS = ("wait", "at-random")
_UNPACKED = 300_000_000  # bytes that a packed upload may have once unpacked
_ENDINGS = tuple(f"{s}{z}" for s in (*SUFFIXES, ".txt") for z in ("", ".gz"))


def formats_told() -> list[tuple[str, str]]:
    """Names and titles of all formats."""
    return [(name, formats.get(name).title) for name in formats.names()]


def routes(site: Site, store: Store) -> APIRouter:
    """The pages."""
    router = APIRouter()

    @router.get("/explore/figure/{name}.{kind}")
    def figure(request: Request, name: str, kind: str, cut: str | None = None) -> Response:
        site.owner(request)
        with looking(site, store) as view:
            if kind not in _KINDS or not known(view, name):
                raise HTTPException(404, "There is no such figure.")
            try:
                made = drawn(view, name, kind, (cut or "").strip()[:40])
            except NoSuchFigure as error:
                raise HTTPException(404, str(error)) from None
        disposition = f'inline; filename="{name}.{kind}"'
        return Response(made, media_type=_KINDS[kind], headers={"content-disposition": disposition})

    @router.get("/explore/table/{name}.csv")
    def table(request: Request, name: str, cut: str | None = None) -> Response:
        site.owner(request)
        with looking(site, store) as view:
            if name == "roc":
                frame = view.roc((cut or "").strip()[:40]).to_frame()
            elif name in TABLES:
                made = TABLES[name].make(view)
                if made is None:
                    raise HTTPException(404, "There is nothing in that table yet.")
                frame = made
            else:
                raise HTTPException(404, "There is no such table.")
            return _download(csv(frame).encode(), f"{name}.csv", "text/csv")

    @router.get("/explore/status.json")
    def status(request: Request) -> Response:
        site.owner(request)
        with looking(site, store) as view:
            told = json.dumps(plain_value(view.status.to_dict()), indent=2, ensure_ascii=False)
        return _download(told.encode(), "status.json", "application/json")

    @router.get("/explore/report.{kind}")
    def report(request: Request, kind: str, gaps: str | None = None) -> Response:
        site.owner(request)
        if kind not in _REPORTS:
            raise HTTPException(404, "A report is HTML (report.html) or Markdown (report.md).")
        how = gaps or "at-random"
        if how not in _GAPS:
            raise FewgoldError(f"gaps must be one of {', '.join(_GAPS)}; got {how[:40]!r}.")
        with looking(site, store) as view, store.drawing:
            made = view.campaign.report(how)
            text = made.html() if kind == "html" else made.markdown()
        return _download(text.encode(), f"report.{kind}", _REPORTS[kind])

    @router.get("/explore/answers")
    def answers(request: Request, to: str | None = None) -> Response:
        site.owner(request)
        form = formats.get(to or "csv")
        with looking(site, store) as view:
            tasks, rated = view.campaign.tasks("all"), view.campaign.rated()
            return _written("answers", form, lambda path: form.write_ratings(tasks, rated, path))

    @router.get("/explore/tasks")
    def tasks(request: Request, to: str | None = None, which: str | None = None) -> Response:
        site.owner(request)
        form, wanted = formats.get(to or "csv"), which or "unrated"
        if wanted not in _WHICH:
            raise FewgoldError(f"which must be one of {', '.join(_WHICH)}; got {wanted[:40]!r}.")
        with looking(site, store) as view:
            found = view.campaign.tasks(wanted)
            if not found.to_rate:
                raise DataError("there is nothing to rate: every such segment has its answers.")
            return _written("to_rate", form, lambda path: form.write_tasks(found, path))

    @router.get("/explore/import", response_class=HTMLResponse)
    def asked(request: Request) -> HTMLResponse:
        site.owner(request)
        return _page(site, request)

    @router.post("/explore/import", response_class=HTMLResponse)
    def imported(
        request: Request,
        file: Annotated[UploadFile | None, File()] = None,
        form: str | None = Form(None, alias="format"),
        by: str | None = Form(None),
        id: str | None = Form(None),
        score: str | None = Form(None),
        rater: str | None = Form(None),
    ) -> HTMLResponse:
        site.owner(request)
        try:
            if file is None or not file.filename:
                raise DataError("no file was chosen. Choose one with answers.")
            names = Names(*(_typed(v) or None for v in (id, score, rater)))
            receipt = _receive(site, file, _typed(form) or None, names, _typed(by))
        except FewgoldError as error:
            return _page(site, request, trouble=str(error), status=400)
        return _page(site, request, receipt=receipt)

    return router


def _page(
    site: Site, request: Request, *, receipt: Receipt | None = None, trouble: str = "",
    status: int = 200,
) -> HTMLResponse:  # fmt: skip
    with site.open() as campaign:
        return site.page(
            request, "explore_import.html", status, receipt=receipt, trouble=trouble,
            formats=formats_told(), title=campaign.settings.name,
            adoptable=campaign.store.adoptable(),
        )  # fmt: skip


def _typed(text: str | None) -> str:
    return (text or "").strip()[:200]


def _receive(site: Site, file: UploadFile, form: str | None, names: Names, by: str) -> Receipt:
    """Import a file that was sent. Its name is told and never used as a path."""
    told = Path((file.filename or "").replace("\\", "/")).name[:120] or "upload"
    told = "".join(c if c.isprintable() else " " for c in told)
    ending = next((e for e in sorted(_ENDINGS, key=len, reverse=True)
                   if told.lower().endswith(e)), "")  # fmt: skip
    with TemporaryFolder() as folder:
        path = folder / f"upload{ending}"
        with open(path, "wb") as target:
            while part := file.file.read(1 << 20):
                target.write(part)
        _check_size(path)
        try:
            with site.open() as campaign:
                return campaign.import_file(path, form, names, by=by, source=told)
        except FewgoldError as error:
            said = str(error).replace(str(path), told).replace(str(folder), "")
            raise DataError(said) from None


def _check_size(path: Path) -> None:
    """Refuse what would fill the memory once unpacked."""
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
        raise DataError(f"that is too large: {_UNPACKED // 1_000_000} MB at most once unpacked.")


def _written(name: str, form: formats.Format, write: Callable[[Path], None]) -> Response:
    """What a format writes: one file as it is, several or a folder in a ZIP."""
    with TemporaryFolder() as folder:
        suffix = form.suffixes[0] if form.suffixes else ""
        try:
            write(folder / f"{name}{suffix}")
        except ImportError as error:
            raise DataError(f"{form.title} needs {error.name}, which is not installed.") from None
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        if len(files) == 1 and files[0].parent == folder:
            return _download(files[0].read_bytes(), files[0].name, "application/octet-stream")
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.write(path, path.relative_to(folder).as_posix())
        return _download(packed.getvalue(), f"{name}-{form.name}.zip", "application/zip")


def _download(data: bytes, name: str, kind: str) -> Response:
    return Response(
        data, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'}
    )
