"""A folder of campaigns: the pages of each are under its own address, ``/c/NAME``.

Raters' links do not reveal the campaign. They begin with ``/rate``, as on a server with one
campaign, and the secret in them identifies the campaign.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fewgold.campaign.database import FILE
from fewgold.campaign.desk import Desk
from fewgold.campaign.store import Store
from fewgold.errors import FewgoldError
from fewgold.web.annotate import NO_LINK

Make = Callable[[Path], ASGIApp]


@dataclass(frozen=True)
class Told:
    """The progress of a campaign, or why it cannot be opened."""

    name: str
    address: str
    title: str = ""
    sampled: int = 0
    rated: int = 0
    trouble: str = ""


class Campaigns:
    """The campaigns in a folder and the pages of each, made when first requested."""

    def __init__(self, folder: Path, make: Make) -> None:
        self.folder = folder
        self._make = make
        self._apps: dict[Path, ASGIApp] = {}
        self._links: dict[str, Path] = {}
        self._lock = threading.Lock()

    def all(self) -> dict[str, Path]:
        """The campaigns by name, in alphabetical order."""
        try:
            found = [p for p in self.folder.iterdir() if not p.name.startswith(".")]
        except OSError:
            return {}
        named = {p.name.removesuffix(".fewgold") if p.is_file() else p.name: p for p in found}
        return {name: named[name] for name in sorted(named) if _holds_campaign(named[name])}

    @staticmethod
    def address(name: str) -> str:
        """The prefix of the addresses of a campaign's pages."""
        return f"/c/{quote(name)}"

    def told(self) -> list[Told]:
        """The progress of each campaign, for the list of campaigns."""
        return [_told(name, path) for name, path in self.all().items()]

    def owner(self) -> ASGIApp:
        """Pages of the owner, mounted under the campaign's name."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            path = (await run_sync(self.all)).get(scope["path_params"]["campaign"])
            if path is None:
                raise HTTPException(404, "There is no campaign of this name (any more).")
            await self._app(path)(scope, receive, _rooted(scope, send))

        return app

    def raters(self) -> ASGIApp:
        """Pages of raters, mounted at ``/rate``; their secret comes next in the address."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            token = scope["path"].removeprefix(scope["root_path"]).strip("/").partition("/")[0]
            path = self._links.get(token)
            if path is None or not _holds_campaign(path):
                path = await run_sync(self._holder, token)
            if path is None:
                raise HTTPException(404, NO_LINK)
            inner = {**scope, "root_path": scope.get("app_root_path", "")}
            await self._app(path)(inner, receive, send)

        return app

    def _app(self, path: Path) -> ASGIApp:
        with self._lock:
            if path not in self._apps:
                self._apps[path] = self._make(path)
            return self._apps[path]

    def _holder(self, token: str) -> Path | None:
        """The campaign in which a rater has that link."""
        for path in self.all().values():
            with suppress(FewgoldError):
                store = Store(path)
                try:
                    if Desk(store).rater_of(token) is not None:
                        self._links[token] = path
                        return path
                finally:
                    store.close()
        return None


def _holds_campaign(path: Path) -> bool:
    with suppress(OSError):
        return (path / FILE).is_file() if path.is_dir() else path.suffix == ".fewgold"
    return False


def _told(name: str, path: Path) -> Told:
    address = Campaigns.address(name)
    try:
        store = Store(path)
        try:
            (sampled,), (rated,) = (
                store.database.execute(f"SELECT COUNT(DISTINCT segment) FROM {table}").fetchone()
                for table in ("drawn", "ratings")
            )
            return Told(name, address, store.settings.name, sampled, rated)
        finally:
            store.close()
    except FewgoldError as error:
        return Told(name, address, trouble=error.message_for("web"))


def _rooted(scope: Scope, send: Send) -> Send:
    """Makes redirects of a campaign's pages stay within the campaign."""
    root = quote(scope["root_path"]).encode()

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [
                (k, root + v if k.lower() == b"location" and v.startswith(b"/") else v)
                for k, v in message.get("headers", [])
            ]
            message = {**message, "headers": headers}
        await send(message)

    return sending
