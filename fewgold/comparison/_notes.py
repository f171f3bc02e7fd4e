"""What a reader must know about gaps and raters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray
from fewgold.comparison._gaps import shared_counts
from fewgold.comparison._raters import Raters


def about_gaps(
    systems: Sequence[str], scores: FloatArray, basis: NDArray[np.str_], factor: FloatArray
) -> list[str]:
    count = shared_counts(scores)
    above = np.triu_indices(len(systems), 1)
    apart = [(int(i), int(j)) for i, j in zip(*above, strict=True) if basis[i, j] != "shared"]
    notes = []
    if len(apart) < above[0].size:
        notes.append(
            "systems were not all rated on the same segments: pairs are compared on those that "
            "both have, as if chance had left out the others, and without metrics"
        )
    if apart:
        i, j = min(apart, key=lambda pair: int(count[pair]))
        which = f"{systems[i]} and {systems[j]}"
        if len(apart) > 1:
            which = f"{len(apart)} pairs, such as {which},"
        seen = factor[np.isfinite(factor)]
        cost = (
            f"about 1/{np.median(seen):.1f} of the variance of separate ones, as the shared "
            "segments tell"
            if seen.size
            else "1/2 to 1/5 of the variance of separate ones on public test sets of translation"
        )
        notes.append(
            f"{which} share few segments ({count[i, j]}) and are compared by all that each was "
            f"rated on, as if chance had chosen it. Differences on the same segments have {cost}"
        )
    return notes


def about_raters(
    people: Raters,
    shift: FloatArray,
    se: FloatArray,
    systems: Sequence[str],
    adjusted: bool,
) -> list[str]:
    notes = []
    if people.basis == "segments":
        notes.append(
            "too few outputs were rated by several people: biases of raters are from what they "
            "gave to different systems on the same segments"
        )
    if not people.connected:
        notes.append("some raters share nothing with the others: their biases are not comparable")
    if np.isnan(people.bias).any():
        lone = people.names[int(np.isnan(people.bias).argmax())]
        notes.append(f"the bias of {lone} is unknown: nobody else rated the same outputs")
    gap = np.abs(shift[:, None] - shift[None, :])
    known = np.isfinite(se) & (se > 0)
    ratio = np.where(known, gap / np.where(known, se, 1.0), 0.0)
    if not adjusted and ratio.max() > 0.25:
        i, j = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
        notes.append(
            f"raters are spread unevenly over systems: their biases shift {systems[i]} against "
            f"{systems[j]} by {shift[i] - shift[j]:+.3g}, {ratio.max():.1f} standard errors; "
            "adjust_raters=True (--adjust-raters) takes them out"
        )
    return notes
