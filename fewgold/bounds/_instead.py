"""What bounds name when they refuse: every refusal says what does cover the case."""

from __future__ import annotations


def for_design(kind: str) -> str:
    """Bounds for samples of that kind."""
    if kind == "stratified":
        return (
            "bound=StratifiedBetting(), which covers it, or bound=Student(), which is approximate"
        )
    if kind == "waves":
        return (
            "bound=Student(), which is approximate: a top-up makes two waves, and the size of the "
            "second may have been chosen by looking at the first. To look and go on with a "
            "guarantee, see fewgold.bounds.sequence and fewgold stop"
        )
    if kind.endswith("with gaps"):
        return (
            "bound=Auto() or bound=Student(), which are approximate: that the unrated segments are "
            "missing at random is an assumption, and no guarantee can rest on it. "
            "PartialRatings.bounds(estimator) assumes nothing of them and keeps the guarantee"
        )
    return "bound=Student(), which is approximate and covers every design"


def limits_of(name: str) -> str:
    """What to do where the limits of the scale are not known."""
    return (
        f"{name} needs to know between which limits scores lie. Give them with the ratings, "
        "sample.rate(scores, limits=(0, 25)), from the scale and not from the answers; or use "
        "bound=Student(), which is approximate and goes without."
    )
