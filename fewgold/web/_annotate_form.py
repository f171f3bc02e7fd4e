"""Forms as they come: whatever somebody sends is a text or is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fastapi import Request

_FIELDS = 50  # more than any form of ours has


@dataclass(frozen=True)
class Fields:
    """The fields of a form."""

    given: Mapping[str, list[str]]

    def text(self, name: str) -> str:
        """One field; nothing if it is missing."""
        return next(iter(self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        """All fields of a name, such as boxes that were ticked."""
        return self.given.get(name, [])


async def fields(request: Request) -> Fields:
    """The form of a request, for ``Depends``: the page itself then runs in a thread."""
    found: dict[str, list[str]] = {}
    async with request.form(max_files=0, max_fields=_FIELDS) as form:
        for name, value in form.multi_items():
            if isinstance(value, str):
                found.setdefault(name, []).append(value)
    return Fields(found)
