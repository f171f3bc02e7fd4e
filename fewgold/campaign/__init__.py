"""A study on disk: draw, collect answers over days, estimate, draw more, report."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fewgold.campaign.database import is_campaign

if TYPE_CHECKING:
    from fewgold.campaign.answers import Receipt
    from fewgold.campaign.settings import Settings
    from fewgold.campaign.status import Status
    from fewgold.campaign.store import Wave
    from fewgold.campaign.study import Campaign
    from fewgold.campaign.work import Work

__all__ = ["Campaign", "Receipt", "Settings", "Status", "Wave", "Work", "is_campaign"]

# Loaded when first used, since commands on a sheet only need `is_campaign`.
_HOME = {
    "Campaign": "study", "Receipt": "answers", "Settings": "settings", "Status": "status",
    "Wave": "store", "Work": "work",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"fewgold.campaign.{_HOME[name]}"), name)
    raise AttributeError(f"module 'fewgold.campaign' has no attribute {name!r}")
