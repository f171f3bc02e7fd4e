"""Sentences about what is odd or wanting in a campaign."""

from __future__ import annotations

from fewgold.campaign._status import Status


def advice(found: Status, rule: str) -> list[str]:
    """Sentences about what is odd or wanting."""
    said = []
    if found.estimate is not None and found.estimate["gaps"]:
        said.append(
            f"{found.estimate['gaps']} sampled segments have no answer yet; the estimate so far "
            "takes that as chance. Segments that are left for last because they are hard would "
            "bias it."
        )
    elif found.estimate is not None and found.unrated:
        said.append(
            f"{len(found.unrated)} segments of the last waves have no answer yet; the estimate so "
            "far is that of the waves before, which tell more by themselves until then."
        )
    if found.changed:
        said.append(
            f"{found.changed} segments were rated twice by the same rater and not alike; the "
            f"{rule} answer counts." if rule != "mean" else
            f"{found.changed} segments were rated twice by the same rater and not alike; the mean "
            "of the answers counts."
        )  # fmt: skip
    if found.raters.get("") and (found.changed or found.each > 1 or len(found.raters) > 1):
        said.append(
            f"{found.raters['']} answers name no rater and count as one person's. Import files of "
            "several people with --by NAME each."
        )
    if found.set_aside:
        reasons = "; ".join(f"{count}: {why}" for why, count in found.set_aside.items())
        said.append(f"answers that were set aside and do not count: {reasons}.")
    if found.adoptable:
        said.append(
            f"{found.adoptable} of them are of segments that were sampled since; they count after "
            "fewgold import CAMPAIGN --adopt."
        )
    if found.rejected:
        said.append(f"{found.rejected} rows of imported files could not be read and are kept.")
    fired = found.stop is not None and found.stop["fired"]
    if found.goal is not None and found.goal["more"] == 0 and not fired:
        said.append(
            "the interval is as narrow as wanted. It holds for one look at the end: stopping the "
            "moment it looks narrow makes it err more often than it says."
        )
    return said
