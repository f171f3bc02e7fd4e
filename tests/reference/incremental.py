"""Incremental allocation (Saldías et al. 2022, section 2.1), one study and one rating at a time."""

import statistics


def next_strata(strata, rated, scores, *, spread, measure="sd", k=25, metrics=None):
    """The strata that the next rating may go to, several where they tie.

    ``strata`` has the stratum of every segment, ``rated`` the segments rated so far with their
    ``scores``, ``metrics`` a standardised vector for every segment. Where there are fewer scores
    than segments, those of the last ones are still to come.
    """
    names = sorted(set(strata))
    size = {h: list(strata).count(h) for h in names}
    taken = {h: sum(strata[i] == h for i in rated) for h in names}
    spreads = _spreads(strata, rated, scores, spread, k, metrics, names)
    power = 2 if measure == "variance" else 1
    mass = {h: size[h] * spreads[h] ** power if taken[h] < size[h] else 0.0 for h in names}
    if sum(mass.values()) == 0:
        mass = {h: float(size[h] - taken[h]) for h in names}
    total = sum(mass.values())
    short = {h: (len(rated) + 1) * mass[h] / total - taken[h] for h in names if mass[h] > 0}
    most = max(short.values())
    return {h for h, gap in short.items() if gap > most - 1e-6}


def _spreads(strata, rated, scores, spread, k, metrics, names):
    few = 2 if spread == "human" else max(k + 1, 2)
    if len(scores) < few:
        return dict.fromkeys(names, 1.0)
    found = {}
    for h in names:
        if spread == "human":
            own = [y for i, y in zip(rated, scores, strict=False) if strata[i] == h]
            found[h] = statistics.stdev(own) if len(own) > 1 else statistics.stdev(scores)
        else:
            free = [i for i in range(len(strata)) if strata[i] == h and i not in rated]
            guessed = [_nearest(i, rated, scores, k, metrics) for i in free]
            found[h] = statistics.pstdev(guessed) if guessed else 0.0
    return found


def _nearest(segment, rated, scores, k, metrics):
    def away(j):
        return sum((a - b) ** 2 for a, b in zip(metrics[segment], metrics[j], strict=True))

    near = sorted(zip(rated, scores, strict=False), key=lambda pair: away(pair[0]))[:k]
    return statistics.fmean(y for _, y in near)
