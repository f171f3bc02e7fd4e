"""Plan."""

from __future__ import annotations

from fastapi import APIRouter

from fewgold.web._site import Site


def routes(site: Site) -> APIRouter:
    """The pages."""
    return APIRouter()
