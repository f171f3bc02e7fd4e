"""A study on disk: draw, collect answers for days, estimate, top up, report."""

from __future__ import annotations

from fewgold.campaign.answers import Receipt
from fewgold.campaign.database import is_campaign
from fewgold.campaign.settings import Settings
from fewgold.campaign.status import Status
from fewgold.campaign.study import Campaign
from fewgold.campaign.waves import Wave

__all__ = ["Campaign", "Receipt", "Settings", "Status", "Wave", "is_campaign"]
