"""A study on disk: draw, collect answers for days, estimate, top up, report."""

from __future__ import annotations

from fewgold.campaign._answers import Receipt
from fewgold.campaign._campaign import Campaign
from fewgold.campaign._database import is_campaign
from fewgold.campaign._settings import Settings
from fewgold.campaign._status import Status
from fewgold.campaign._waves import Wave

__all__ = ["Campaign", "Receipt", "Settings", "Status", "Wave", "is_campaign"]
