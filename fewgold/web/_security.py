"""Who may do what, checked before any page is asked.

Every request passes here first. The host must be one that we answer for, which stops pages
elsewhere from reaching us through a name of their own. A request that changes something must come
from one of our own pages. Bodies have a size, and answers tell browsers to load nothing from
elsewhere.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


@dataclass(frozen=True)
class Guard:
    """Middleware that lets through what is allowed.

    Parameters
    ----------
    app
        What comes behind it.
    hosts
        Names and addresses under which we answer.
    most
        Bytes that the body of a request may have.
    """

    app: App
    hosts: frozenset[str] = LOOPBACK
    most: int = 50_000_000

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # no other protocol is spoken here
        headers = {k.decode("latin-1").lower(): v.decode("latin-1") for k, v in scope["headers"]}
        trouble = self._trouble(scope, headers)
        if trouble is not None:
            await _refuse(send, *trouble)
            return
        await self.app(scope, self._bounded(receive), _with_headers(scope, send))

    def _trouble(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if _name(f"//{host}") not in self.hosts:
            return 421, "This server does not answer under that name."
        if scope["method"] not in _SAFE and not _own(headers, host):
            return 403, "This was not sent by a page of this server."
        size = headers.get("content-length", "0")
        if not size.isdigit() or int(size) > self.most:
            return 413, f"That is too large: {self.most // 1_000_000} MB at most."
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """Count what comes: a sender need not tell the length, or may tell a wrong one."""
        seen = 0

        async def bounded() -> Message:
            nonlocal seen
            message = await receive()
            if message["type"] == "http.request":
                seen += len(message.get("body", b""))
                if seen > self.most:
                    return {"type": "http.disconnect"}
            return message

        return bounded


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _own(headers: dict[str, str], host: str) -> bool:
    """Whether a page of ours sent it, by what browsers say and pages cannot forge."""
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2].lower() == host.lower()
    return headers.get("sec-fetch-site") == "same-origin"


def _with_headers(scope: Scope, send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", [])) + list(_HEADERS)
            if not scope["path"].startswith("/static/"):
                own.append((b"cache-control", b"no-store"))
            message = {**message, "headers": own}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, sentence: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": sentence.encode()})


def same(given: str | None, wanted: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return given is not None and hmac.compare_digest(given.encode(), wanted.encode())
