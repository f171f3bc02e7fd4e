"""What all pages share: templates, the campaign, and who the owner is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from fewgold._version import __version__
from fewgold.campaign import Campaign
from fewgold.web._security import same

if TYPE_CHECKING:
    from fewgold.pool import Pool


@dataclass(eq=False)
class Site:
    """What all pages share.

    Parameters
    ----------
    campaign
        Path of the campaign, or None for planning alone.
    token
        Secret of the owner: it comes with the address that is printed, and then with a cookie.
    cookie
        Name of that cookie; servers on other ports of this machine have others.
    secure
        Browsers reach it by HTTPS, whatever speaks to this server itself.
    """

    campaign: Path | None
    token: str
    cookie: str
    secure: bool = False

    def __post_init__(self) -> None:
        self.templates = Environment(
            loader=PackageLoader("fewgold.web", "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.globals |= {
            "version": __version__,
            "has_campaign": self.campaign is not None,
        }
        self.templates.filters["sentence"] = sentence
        self._pool: Pool | None = None

    def open(self) -> Campaign:
        """The campaign, on a connection of the caller's own; the pool is read once for all."""
        if self.campaign is None:
            raise HTTPException(404, "There is no campaign here: fewgold serve CAMPAIGN.")
        found = Campaign(self.campaign, pool=self._pool)
        self._pool = found.pool
        return found

    def page(self, request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page from a template; everything in it is escaped."""
        values |= {"request": request, "owner": self.is_owner(request)}
        return HTMLResponse(self.templates.get_template(name).render(**values), status)

    def is_owner(self, request: Request) -> bool:
        """Whether the owner asks."""
        return same(request.cookies.get(self.cookie), self.token)

    def owner(self, request: Request) -> None:
        """Refuse everybody else."""
        if not self.is_owner(request):
            raise HTTPException(
                403, "This page is for the owner. Open the address that fewgold serve printed."
            )


def sentence(text: str) -> str:
    """Errors begin in lower case, as they follow ``error:`` elsewhere; on a page they stand alone.

    >>> sentence("there are no ratings yet."), sentence("'a.csv' is empty.")
    ('There are no ratings yet.', "'a.csv' is empty.")
    """
    return text[:1].upper() + text[1:]
