"""What bounds that go by the range of the scores have in common."""

from __future__ import annotations

from fewgold.errors import DesignError
from fewgold.estimate import LinearEstimate


def score_range(estimate: LinearEstimate, bound: str, given: float | None) -> float:
    """The range R of the scores, from the bound or from the limits of the scale."""
    if given is not None:
        return given
    if estimate.limits is None:
        raise DesignError(
            f"{bound} needs to know between which limits scores lie. Give them with the ratings, "
            "sample.rate(scores, limits=(0, 25)), from the scale and not from the answers."
        )
    low, high = estimate.limits
    return high - low


def refuse_tuned(estimate: LinearEstimate, bound: str) -> None:
    """Finite-sample proofs do not hold when the control was fitted to the same ratings."""
    if estimate.tuned:
        raise DesignError(
            f"{bound} holds only if the control was not tuned on these ratings, and "
            f"{estimate.method!r} was. Use bound=Student(), the plain mean, or slopes fixed "
            "beforehand; or printed=True to apply the formula as the paper did, without guarantee."
        )


def refuse_design(estimate: LinearEstimate, bound: str, kinds: tuple[str, ...]) -> None:
    """A bound covers the designs that its proof covers."""
    if estimate.design.kind not in kinds:
        raise DesignError(
            f"{bound} covers {' and '.join(kinds)} samples, and this one is "
            f"{estimate.design.kind}. Use bound=Student(), which covers every design; or "
            "printed=True to apply the formula as the paper did, without guarantee."
        )
