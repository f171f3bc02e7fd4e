"""Pages for planning, annotating and exploring: ``fewgold serve``."""

from fewgold.web.app import create_app

__all__ = ["create_app"]
