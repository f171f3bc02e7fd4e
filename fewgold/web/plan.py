"""Planning: every page's state is its address."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from fewgold.report import number
from fewgold.web import plan_binary as binary
from fewgold.web import plan_scores as scores
from fewgold.web.files import csv, download, known
from fewgold.web.forms import Form, Part
from fewgold.web.site import Site

#: Parts of the binary page that htmx asks for by themselves.
_PIECES: dict[str, Part] = {
    "needed": binary.needed, "map": binary.heat_map, "split": binary.divided
}  # fmt: skip


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/plan")
    site.templates.filters["number"] = number

    def page(request: Request, name: str, form: Form, **parts: Any) -> HTMLResponse:
        link = f"/plan/{name.partition('_')[0]}?{form.query}"
        values: dict[str, Any] = {"form": form, "link": link, "beside": False} | parts
        return site.page(request, f"plan_{name}.html", **values)

    def results(request: Request, name: str, form: Form, lacking: str, **parts: Any) -> Response:
        # Sentences beside fields, and the headline, lie outside of what is replaced.
        answer = page(request, f"{name}_results", form, beside=True, **parts)
        answer.headers["HX-Replace-Url"] = f"/plan/{name}?{form.query}"
        if lacking and "hx-request" in request.headers:
            answer.headers["HX-Reswap"] = "none"  # what was shown so far stays
        return answer

    @router.get("/binary", response_class=HTMLResponse)
    def binary_page(request: Request) -> Any:
        form = binary.read(request.query_params)
        pieces = {name: piece.tried(form) for name, piece in _PIECES.items()}
        return page(request, "binary", form, **_study(form), **pieces)

    @router.get("/binary/results", response_class=HTMLResponse)
    def binary_results(request: Request) -> Any:
        form = binary.read(request.query_params)
        return results(request, "binary", form, form.lacks(*binary.STUDY), **_study(form))

    @router.get("/binary/results.csv")
    def binary_csv(request: Request) -> Response:
        form = binary.read(request.query_params)
        found = binary.answer(form)
        names = ("epsilon", "found", "alone", "worth", "mean", "sd", "low", "high")
        row = [form[name] for name in binary.STUDY] + [found[name] for name in names]
        return _csv("binary", [*binary.STUDY, *names], [row])

    @router.get("/binary/map.csv")
    def map_csv(request: Request) -> Response:
        found = binary.heat_map(binary.read(request.query_params))
        rows = [
            [y, x, value]
            for y, line in zip(found["rows"], found["values"], strict=True)
            for x, value in zip(found["columns"], line, strict=True)
        ]
        return _csv("map", [found["y"], found["x"], "difference"], rows)

    @router.get("/binary/split.csv")
    def split_csv(request: Request) -> Response:
        tried = binary.divided(binary.read(request.query_params))["split"].tried
        return _csv("split", tried[0]._fields, tried)

    @router.get("/binary/{name}", response_class=HTMLResponse)
    def binary_piece(request: Request, name: str) -> Any:
        piece = _PIECES[known(name, _PIECES, "part")]
        form = binary.read(request.query_params)
        if "hx-request" in request.headers and form.lacks(*piece.fields):
            return Response(status_code=204)  # what was shown so far stays
        return page(request, f"binary_{name}", form, **{name: piece.tried(form)})

    @router.get("/scores", response_class=HTMLResponse)
    def scores_page(request: Request) -> Any:
        form = scores.read(request.query_params)
        return page(request, "scores", form, answer=scores.answer(form).tried(form))

    @router.get("/scores/results", response_class=HTMLResponse)
    def scores_results(request: Request) -> Any:
        form = scores.read(request.query_params)
        answer = scores.answer(form)
        lacking = form.lacks(*answer.fields)
        return results(request, "scores", form, lacking, answer=answer.tried(form))

    @router.get("/scores/results.csv")
    def scores_csv(request: Request) -> Response:
        form = scores.read(request.query_params)
        names = ("strategy", "n", "share", "cost", "reached", "saved", "saved_share", "note")
        rows = scores.answer(form)(form)["rows"]
        return _csv("scores", names, [[row[name] for name in names] for row in rows])

    @router.get("/scores/curves.csv")
    def curves_csv(request: Request) -> Response:
        form = scores.read(request.query_params)
        needs = scores.answer(form)(form)["plan"].needs
        rows = [[need.strategy, n, x] for need in needs for n, x in need.curve.items()]
        return _csv("curves", ["strategy", "n", "reached"], rows)

    return router


def _study(form: Form) -> dict[str, Any]:
    """What a study with these numbers can measure."""
    return {
        "answer": binary.answer.tried(form), "chance": binary.chance.tried(form),
        "whole_set": binary.whole_set.tried(form), "rates_unknown": binary.rates_unknown(form),
    }  # fmt: skip


def _csv(name: str, heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> Response:
    return download(csv(heads, rows).encode(), f"fewgold-plan-{name}.csv", "text/csv")
