"""The design of the segments that were answered, had chance decided which they are."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray, codes_of
from fewgold.design import Design

#: What the kind of such a design ends in: bounds with a guarantee do not take it.
WITH_GAPS = " with gaps"
# Segments of a unit, on average, from which it has a response rate of its own; and those of a class
# of neighbours.
_LARGE, _ENOUGH = 8, 20


def classes(design: Design) -> tuple[IntArray, IntArray]:
    """Within which segments are taken to be missing at random, and what is compared: (n,) both.

    Strata, where these were drawn from; units, where they are large; else the groups. Neighbours on
    a line are too few for a response rate of their own, which would make weights uneven for
    nothing: groups with the same weight are put together along the line, before any answer is
    looked at, until there are twenty segments.
    """
    groups = _codes(design.groups)
    if design.strata is not None:
        return _codes(design.strata), groups
    groups = _codes(_widened(groups, design.weights)[groups])
    if design.units is not None and design.n >= _LARGE * np.unique(design.units).size:
        return _codes(design.units), groups
    return groups, groups


def _widened(groups: IntArray, weights: FloatArray) -> IntArray:
    """New label of each group: neighbours of one weight together until they are enough."""
    size = np.bincount(groups)
    most, least = np.zeros(size.size), np.full(size.size, np.inf)
    np.maximum.at(most, groups, weights)
    np.minimum.at(least, groups, weights)
    label, held = np.zeros(size.size, dtype=np.int64), int(size[0])
    for g in range(1, size.size):
        ends = max(most[g - 1], most[g]), min(least[g - 1], least[g])
        alike = ends[0] - ends[1] <= 1e-9 * ends[0]
        last = alike and int(size[g:].sum()) < _ENOUGH  # too few are left for a class of their own
        joined = alike and (held < _ENOUGH or last)
        label[g] = label[g - 1] + (not joined)
        held = held + int(size[g]) if joined else int(size[g])
    return label


def answered(design: Design, keep: BoolArray, within: str = "groups") -> Design:
    """The design of the answered segments: a second phase, in which chance drew them.

    Given how many of each class were answered, every such set of them is as likely as any other.
    So the answered ones stand for their class, w' = w/ρ with the response rate ρ, and the mean of
    the answered has the mean of the sample as its expectation: its variance is that of the full
    sample plus that of the second phase, and both can be seen in the answered (Särndal, Swensson
    and Wretman 1992, section 15.6). Of a deviation e from the group's mean the first phase makes
    the share (influence · e)²/ρ and the second (w e)² (1 − ρ)/ρ², which add up to
    (w' e)² (1 − π ρ) where influence is w √(1 − π).

    A class without any answer gives its weight to its group, a group without any to the one beside
    it. A group with one answered unit is compared with its neighbour, as lone strata are.

    Balance is dropped. The answered segments are balanced by chance only, so that the second phase
    has all of their spread; for the first this is too large, as it leaves out what balancing won.

    Units that were drawn as a whole and are answered in part: the spread of their estimated means
    has that of the second phase in it, and the correction for the pool's size, 1 − π ρ instead of
    1 − π on what differs between units, is on the safe side by a share of π (1 − ρ).

    Parameters
    ----------
    design
        Of the whole sample, (n,).
    keep
        (n,) True where answered; at least one.
    within
        ``groups`` for the classes of the design, ``sample`` where the chance of an answer is the
        same throughout: then weights stay as even as they were, and all units are compared with
        each other, because chance may have left any of them.
    """
    whole = np.zeros(design.n, dtype=np.int64)
    cells, groups = (whole, whole) if within == "sample" else classes(design)
    weights = _refilled(design.weights, keep, cells, groups)
    before = design.weights[keep]
    rate = np.minimum(before / weights, 1.0)
    influence = np.sqrt(np.square(design.influence[keep]) / rate + (1 - rate) * weights**2)
    units = None if design.units is None else codes_of(design.units[keep])
    return Design(
        kind=design.kind.removesuffix(WITH_GAPS) + WITH_GAPS,
        size=design.size,
        weights=weights,
        inclusion=design.inclusion[keep] * rate,
        groups=_comparable(_codes(groups[keep]), units, influence),
        influence=influence,
        units=units,
        strata=None if design.strata is None else _codes(design.strata[keep]),
        unbiased=design.unbiased,
    )


def _codes(labels: IntArray) -> IntArray:
    """Labels as 0, 1, … in their own order, in which neighbours are neighbours."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64).ravel()


def _refilled(
    weights: FloatArray, keep: BoolArray, cells: IntArray, groups: IntArray
) -> FloatArray:
    """Weights of the answered segments (r,), which carry those of the unanswered as well."""
    left = weights[keep]
    due, held = np.bincount(cells, weights), np.bincount(cells[keep], left, cells.max() + 1)
    left = left * (due / np.where(held > 0, held, 1.0))[cells[keep]]
    due = np.bincount(groups, weights)
    held = np.bincount(groups[keep], left, due.size)
    count = np.bincount(groups[keep], minlength=due.size)
    there = np.flatnonzero(count)
    load = due.copy()
    for lost in np.flatnonzero(count == 0):
        place = int(np.searchsorted(there, lost))
        beside = there[max(place - 1, 0) : place + 1]
        # Of the neighbours on both sides, the one whose answers have less to carry so far.
        load[beside[np.argmin((load / np.maximum(count, 1))[beside])]] += due[lost]
    return np.asarray(left * (load / np.where(held > 0, held, 1.0))[groups[keep]])


def _comparable(groups: IntArray, units: IntArray | None, influence: FloatArray) -> IntArray:
    """Groups in which units can be compared: a lone one joins the next with chance in it."""
    first = np.arange(groups.size) if units is None else np.unique(units, return_index=True)[1]
    members = np.bincount(groups[first], minlength=int(groups.max()) + 1)
    open_ones = np.flatnonzero(np.bincount(groups, influence) > 0)
    label = np.arange(members.size)
    for place, group in enumerate(open_ones):
        if members[group] > 1 or (label == label[group]).sum() > 1:
            continue
        others = open_ones if open_ones.size > 1 else label
        at = place if open_ones.size > 1 else int(group)
        if others.size > 1:
            other = others[at + 1] if at + 1 < others.size else others[at - 1]
            label[group] = label[other]
    return _codes(label[groups])
