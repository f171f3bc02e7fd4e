"""Planning: every page's state is its address."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from fewgold.errors import FewgoldError
from fewgold.report import number
from fewgold.web import plan_binary as binary
from fewgold.web import plan_scores as scores
from fewgold.web.forms import Form
from fewgold.web.plan_binary import heat_map
from fewgold.web.site import Site

T = TypeVar("T")


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/plan")
    site.templates.filters["number"] = number

    def whole(request: Request, name: str, form: Form, **parts: Any) -> HTMLResponse:
        link = f"/plan/{name}?{form.query}"
        return site.page(request, f"plan_{name}.html", form=form, link=link, beside=False, **parts)

    def piece(
        request: Request, name: str, form: Form, fields: Sequence[str], **parts: Any
    ) -> Response:
        """A part of the page. Where a value is missing, what htmx has shown so far stays."""
        page, _, part = name.partition("_")
        link, stays = f"/plan/{page}?{form.query}", _by_htmx(request) and form.lacks(*fields)
        if part != "results":
            if stays:
                return Response(status_code=204)
            return site.page(
                request, f"plan_{name}.html", form=form, link=link, beside=False, **parts
            )
        # Sentences beside fields, and the headline, lie outside of what is replaced.
        answer = site.page(request, f"plan_{name}.html", form=form, link=link, beside=True, **parts)
        answer.headers["HX-Replace-Url"] = link
        if stays:
            answer.headers["HX-Reswap"] = "none"
        return answer

    @router.get("/binary", response_class=HTMLResponse)
    def binary_page(request: Request) -> Any:
        form = binary.read(request.query_params)
        parts = _main(form) | {"needed": _needed(form), "map": _map(form), "split": _split(form)}
        return whole(request, "binary", form, **parts)

    @router.get("/binary/results", response_class=HTMLResponse)
    def binary_results(request: Request) -> Any:
        form = binary.read(request.query_params)
        return piece(request, "binary_results", form, binary.STUDY, **_main(form))

    @router.get("/binary/needed", response_class=HTMLResponse)
    def binary_needed(request: Request) -> Any:
        form = binary.read(request.query_params)
        return piece(request, "binary_needed", form, _NEEDED, needed=_needed(form))

    @router.get("/binary/map", response_class=HTMLResponse)
    def binary_map(request: Request) -> Any:
        form = binary.read(request.query_params)
        return piece(request, "binary_map", form, _MAP, map=_map(form))

    @router.get("/binary/split", response_class=HTMLResponse)
    def binary_split(request: Request) -> Any:
        form = binary.read(request.query_params)
        return piece(request, "binary_split", form, _SPLIT, split=_split(form))

    @router.get("/binary/results.csv")
    def binary_csv(request: Request) -> Response:
        form = binary.read(request.query_params)
        found = binary.answer(_usable(form, *binary.STUDY))
        names = ("epsilon", "found", "alone", "worth", "mean", "sd", "low", "high")
        row = [form[name] for name in binary.STUDY] + [getattr(found, name) for name in names]
        return _csv([[*binary.STUDY, *names], row], "binary")

    @router.get("/binary/map.csv")
    def binary_map_csv(request: Request) -> Response:
        form = _usable(binary.read(request.query_params), *_MAP)
        found = heat_map(form)
        rows = [
            [y, x, value]
            for y, line in zip(found.rows, found.values, strict=True)
            for x, value in zip(found.columns, line, strict=True)
        ]
        return _csv([[found.y, found.x, "difference"], *rows], "map")

    @router.get("/binary/split.csv")
    def binary_split_csv(request: Request) -> Response:
        form = _usable(binary.read(request.query_params), *_SPLIT)
        tried = binary.divided(form).split.tried
        return _csv([list(tried[0]._fields), *(list(mix) for mix in tried)], "split")

    @router.get("/scores", response_class=HTMLResponse)
    def scores_page(request: Request) -> Any:
        form = scores.read(request.query_params)
        return whole(request, "scores", form, answer=_scores(form))

    @router.get("/scores/results", response_class=HTMLResponse)
    def scores_results(request: Request) -> Any:
        form = scores.read(request.query_params)
        return piece(request, "scores_results", form, scores.used(form), answer=_scores(form))

    @router.get("/scores/results.csv")
    def scores_csv(request: Request) -> Response:
        form = scores.read(request.query_params)
        found = scores.answer(_usable(form, *scores.used(form)))
        names = ("strategy", "n", "share", "cost", "reached", "saved", "saved_share", "note")
        rows = [[getattr(row, name) for name in names] for row in found.rows]
        return _csv([list(names), *rows], "scores")

    @router.get("/scores/curves.csv")
    def curves_csv(request: Request) -> Response:
        form = scores.read(request.query_params)
        found = scores.answer(_usable(form, *scores.used(form))).plan
        rows = [[need.strategy, n, x] for need in found.needs for n, x in need.curve.items()]
        return _csv([["strategy", "n", "reached"], *rows], "curves")

    return router


_NEEDED = ("difference", "alpha", "metric", "rho", "eta", "rates", "level", "power")
_MAP = (*binary.STUDY, "x", "y")
_SPLIT = (
    "budget", "human_cost", "metric_cost", "alpha", "rho", "eta", "rates", "level", "power", "items"
)  # fmt: skip
Part = tuple[T | None, str]


def _by_htmx(request: Request) -> bool:
    return "hx-request" in request.headers


def _main(form: Form) -> dict[str, Any]:
    return {
        "answer": _part(form, binary.answer, *binary.STUDY),
        "chance": _part(form, binary.chance, *binary.STUDY, "difference"),
        "whole_set": _part(form, binary.whole_set, *binary.STUDY, "items"),
        "blind": binary.blind(form),
    }


def _needed(form: Form) -> Part[binary.Needed]:
    return _part(form, binary.needed, *_NEEDED)


def _map(form: Form) -> Part[Any]:
    return _part(form, heat_map, *_MAP)


def _split(form: Form) -> Part[binary.Divided]:
    return _part(form, binary.divided, *_SPLIT)


def _scores(form: Form) -> Part[scores.Answer]:
    return _part(form, scores.answer, *scores.used(form))


def _part(form: Form, make: Callable[[Form], T], *fields: str) -> Part[T]:
    """A part of a page, or a sentence that says why it is not there."""
    lacking = form.lacks(*fields)
    if lacking:
        return None, lacking
    try:
        return make(form), ""
    except FewgoldError as error:
        return None, str(error)


def _usable(form: Form, *fields: str) -> Form:
    """The form; a sentence instead if one of these fields cannot be used."""
    for name in fields:
        if name in form.errors:
            raise FewgoldError(f"{form.fields[name].label}: {form.errors[name]}")
    return form


def _csv(rows: Sequence[Sequence[Any]], name: str) -> Response:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return Response(
        out.getvalue(),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="fewgold-plan-{name}.csv"'},
    )
