"""What all pages share: templates, the campaign, and access for the owner."""

from __future__ import annotations

import hmac
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fewgold._version import __version__
from fewgold.campaign import Campaign
from fewgold.campaign.store import Store

if TYPE_CHECKING:
    from fewgold.pool import Pool

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: Sent with every response. The referrer goes to this server only. It is not switched off: without
#: it, browsers hide where a form comes from, so forms of other sites could not be recognised.
HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Guard:
    """Middleware that checks every request before any page does.

    The host must be one of ours, which stops other sites from reaching the server through their own
    host names. Requests that change something must come from one of our own pages. Bodies have a
    maximal size, and responses tell browsers to load nothing from elsewhere.
    """

    app: ASGIApp
    hosts: frozenset[str] = LOOPBACK
    cookie: str = ""  # identifies the owner, by its name and the token in it
    token: str = ""
    most: int = 50_000_000  # largest body of a request from the owner, in bytes
    little: int = 1_000_000  # and from others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            given = (cookie_parser(value).get(self.cookie) for value in _values(scope, b"cookie"))
            owner = bool(self.token) and any(same(g, self.token) for g in given)
            most = self.most if owner else self.little
            trouble = self._trouble(scope, most)
            if trouble is not None:
                await _refuse(send, *trouble)
            else:
                await self.app(scope, _bounded(receive, most), _with_headers(scope, send))

    def _trouble(self, scope: Scope, most: int) -> tuple[int, str] | None:
        host, *others = _values(scope, b"host") or [""]
        name = _HOST.fullmatch(host.lower())
        if others or name is None or name[1].strip("[]") not in self.hosts:
            return 421, "This server does not answer under that name."
        if scope["method"] not in _SAFE and not _own(scope, host):
            return 403, "This was not sent by a page of this server."
        for size in _values(scope, b"content-length"):
            if not (size.isascii() and size.isdecimal() and len(size) < 16):
                return 400, "The length of the request is not a number."
            if int(size) > most:
                return 413, _too_large(most)
        return None


def _bounded(receive: Receive, most: int) -> Receive:
    """Count the bytes received, since the stated length may be missing or wrong."""
    seen = 0

    async def bounded() -> Message:
        nonlocal seen
        message = await receive()
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            if seen > most:
                raise StarletteHTTPException(413, _too_large(most))
        return message

    return bounded


def _too_large(most: int) -> str:
    return f"That is too large: {most // 1_000_000} MB at most."


def _values(scope: Scope, name: bytes) -> list[str]:
    """All values of a header; some attacks send one twice."""
    return [v.decode("latin-1") for k, v in scope["headers"] if k.lower() == name]


def _own(scope: Scope, host: str) -> bool:
    """Whether one of our pages sent it, by headers that other pages cannot forge."""
    origins, sites = _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
    ours = {f"http://{host}".lower(), f"https://{host}".lower()}
    said = [o.lower() in ours for o in origins] + [s == "same-origin" for s in sites]
    return bool(said) and all(said)


def _with_headers(scope: Scope, send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", [])) + list(HEADERS)
            if not scope["path"].startswith("/static/"):
                own.append((b"cache-control", b"no-store"))
            message = {**message, "headers": own}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})


def same(given: str | None, wanted: str) -> bool:
    """Whether two secrets are equal, compared in constant time."""
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())


_IDLE = 8  # open files kept for the next requests


@dataclass(eq=False)
class Site:
    """What all pages share."""

    campaign: Path | None  # its path, or None for planning only
    token: str  # the owner's secret, first in the printed address, then in a cookie
    cookie: str  # its name, different for servers on other ports of this machine
    secure: bool = False  # browsers use HTTPS, even if a proxy in front does not
    folder: Path | None = None  # the folder of campaigns
    kept: dict[str, Any] = field(default_factory=dict)  # shared by the pages of a campaign
    system: str | None = None  # for pages about one of several systems

    def __post_init__(self) -> None:
        self.templates = Environment(
            loader=PackageLoader("fewgold.web", "templates"), autoescape=True,
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self.templates.globals |= {
            "version": __version__, "has_campaign": self.campaign is not None,
            "has_folder": self.folder is not None, "has_systems": False,
        }  # fmt: skip
        self.templates.filters["sentence"] = sentence
        self._pool: Pool | None = None
        self.systems: tuple[str, ...] = ()
        # Files stay open between requests, since SQLite cleans up whenever the last connection
        # closes, which would be after every answer. Opening one now also reports errors before
        # anybody comes.
        self._idle: deque[Store] = deque()
        if self.campaign is not None:
            store = Store(self.campaign, any_thread=True)
            self.systems = store.settings.systems
            self.templates.globals["has_systems"] = bool(self.systems or store.settings.sides)
            self._idle.append(store)

    @contextmanager
    def open(self) -> Iterator[Campaign]:
        """The campaign, on the caller's own connection; the pool is read only once."""
        if self.campaign is None:
            raise HTTPException(404, "There is no campaign here: fewgold serve CAMPAIGN.")
        store = self._store(self.campaign)
        found = Campaign(store, pool=self._pool)
        self._pool = found.pool
        try:
            yield found if self.system is None else found.of(self.system)
        finally:
            if len(self._idle) < _IDLE and not store.database.in_transaction:
                self._idle.append(store)
            else:
                store.close()

    def _store(self, path: Path) -> Store:
        while self._idle:
            with suppress(IndexError):  # another thread took the last one
                store = self._idle.pop()
                if store.is_current():
                    store.reload()
                    return store
                store.close()
        return Store(path, any_thread=True)

    def page(self, request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A page from a template, with everything escaped.

        ``root`` is the prefix of the pages' addresses, and ``path`` the rest of this page's
        address. On pages about one system, ``top`` is the prefix for the whole campaign.
        """
        at = request.scope.get("root_path", "")
        values |= {
            "request": request, "owner": self.is_owner(request), "root": quote(at),
            "path": request.url.path.removeprefix(quote(at)), "system": self.system,
            "top": quote(at) if self.system is None else quote(at.rpartition("/of/")[0]),
        }  # fmt: skip
        return HTMLResponse(self.templates.get_template(name).render(**values), status)

    def is_owner(self, request: Request) -> bool:
        """Whether the request is from the owner."""
        return same(request.cookies.get(self.cookie), self.token)

    def owner(self, request: Request) -> None:
        """Refuse everybody but the owner."""
        if not self.is_owner(request):
            raise HTTPException(
                403, "This page is for the owner. Open the address that fewgold serve printed."
            )


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """Capitalise an error, which begins in lower case to follow ``error:`` on the command line.

    A text that begins with one of the ``names`` stays as it is.

    >>> sentence("there are no ratings yet."), sentence("'a.csv' is empty.")
    ('There are no ratings yet.', "'a.csv' is empty.")
    >>> sentence("comet is a score.", ["comet"])
    'comet is a score.'
    """
    return text if text.startswith(tuple(names)) else text[:1].upper() + text[1:]
