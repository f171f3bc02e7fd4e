"""Forms as they come: whatever somebody sends is a text or is not there."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request
from starlette.datastructures import FormData


@dataclass(frozen=True)
class Fields:
    """The fields of a form."""

    given: FormData

    def text(self, name: str) -> str:
        """One field; nothing if it is missing or a file."""
        return next(iter(self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        """All fields of a name, such as boxes that were ticked."""
        return [v for v in self.given.getlist(name) if isinstance(v, str)]


async def fields(request: Request) -> Fields:
    """The form of a request, for ``Depends``: the page itself then runs in a thread."""
    return Fields(await request.form())
