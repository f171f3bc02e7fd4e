"""Results that are made while the page loads: a form, what it gives, figures and tables of it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from fewgold.errors import FewgoldError
from fewgold.web import _replay_compare, _replay_roc
from fewgold.web._replay_columns import guess
from fewgold.web._replay_data import Tables
from fewgold.web._replay_form import Fields, checked
from fewgold.web._replay_show import (
    KINDS,
    Recent,
    csv_answer,
    drawn,
    figure_answer,
    figures_there,
    known,
)
from fewgold.web._site import Site

# All have chosen, run, show, command, plot, frame_of, FIGURES and TABLES.
_KINDS: dict[str, Any] = {"compare": _replay_compare, "roc": _replay_roc}


def add_routes(router: APIRouter, site: Site, tables: Tables) -> None:
    """The pages, each with the addresses of its figures and tables."""
    for name, part in _KINDS.items():
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
