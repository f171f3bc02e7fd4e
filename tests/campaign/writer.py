"""Adds answers to a campaign until it is killed; says so after each that was acknowledged."""

from __future__ import annotations

import itertools
import sys

from fewgold.campaign import Campaign
from fewgold.formats import Rating


def main(path: str, name: str) -> None:
    campaign = Campaign(path)
    ids = campaign.sample.ids.tolist()
    for k, segment in zip(itertools.count(), itertools.cycle(ids)):
        campaign.add([Rating(segment, float(k % 101), f"{name}-{k}")])
        print(f"{name}-{k}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
