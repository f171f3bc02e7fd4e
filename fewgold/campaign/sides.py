"""Side by side: two outputs of one source, left and right by lot, and which of them is better.

The pool has a row for each pair. A score is 1 where the first output is better, −1 where the
second is, and 0 for a tie, also where both are bad: its mean is the net preference of the first.
What raters see is left and right. Which output that is, is decided by lot and stands in the key of
what went out, so that an answer comes back to the right system from any tool; it is recorded with
the answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.checks import as_names
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats import Keys, Rating
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes.pairwise import Preferences
    from fewgold.campaign.store import Store
    from fewgold.campaign.study import Campaign
    from fewgold.comparison import PairRanking

LEFT, RIGHT, TIE, BOTH_BAD = "left", "right", "tie", "both bad"
#: What raters write in sheets and choose in other tools.
CODES = {1: LEFT, 2: RIGHT, 3: TIE, 4: BOTH_BAD}
EXPLAINED = "1 = left is better, 2 = right is better, 3 = equally good, 4 = both are bad"
#: Between the names of the two systems of a pair, where pairs differ in them.
VERSUS = " vs "


@dataclass(frozen=True)
class SideKeys:
    """Keys of pairs that say which output stood left, as far as the campaign can tell.

    >>> keys = SideKeys(1000, "9f2c11")
    >>> name = keys.of(12, "doc3:7", flipped=True)
    >>> keys.find(name, {12: "doc3:7"}.get), keys.side(name, {12: "doc3:7"}.get)
    (12, True)
    """

    size: int
    fingerprint: str

    @property
    def _keys(self) -> Keys:
        return Keys(2 * self.size, self.fingerprint)

    def of(self, place: int, id: str, flipped: bool = False) -> str:
        """The key of a pair whose second output stands left if it is ``flipped``."""
        return self._keys.of(2 * place + flipped, id)

    def find(self, name: str, id_of: Any) -> int | None:
        """The place of the pair that a key names."""
        found = self._keys.find(name, lambda place: id_of(place // 2))
        return None if found is None else found // 2

    def side(self, name: str, id_of: Any) -> bool:
        """Whether the second output stood left."""
        found = self._keys.find(name, lambda place: id_of(place // 2))
        return found is not None and bool(found % 2)


def check(pool: Pool, sides: tuple[str, ...]) -> None:
    """Refuse a pool that does not hold the two outputs."""
    if len(sides) != 2 or sides[0] == sides[1]:
        raise DataError(
            "sides are the names of two texts, the outputs to show side by side; got "
            f"{', '.join(sides) or 'none'}."
        )
    for name in sides:
        if name not in pool.texts:
            raise DataError(
                f"the pool has no text {name!r} to show on one side. It has "
                f"{', '.join(pool.texts) or 'none'}: name texts with --texts."
            )
    for label in [] if pool.system is None else sorted(set(map(str, pool.system.tolist()))):
        if len(set(label.split(VERSUS))) != 2:
            raise DataError(
                f"the pair {label!r} does not name two systems. Name both, with {VERSUS!r} between."
            )


def with_pairs(pool: Pool, table: pd.DataFrame, between: Sequence[str]) -> Pool:
    """A pool of pairs with the names of the two systems of each, from two columns of its table."""
    for name in between:
        if name not in table.columns:
            raise UnknownNameError("column", name, [str(c) for c in table.columns])
    labels = [
        f"{a}{VERSUS}{b}"
        for a, b in zip(*(table[name].astype(str).str.strip() for name in between), strict=True)
    ]
    if len(labels) != len(pool):
        raise DataError("every row of the table must be a pair of its own to name its systems.")
    return replace(pool, system=np.array(labels, dtype=object))


def systems_of(pool: Pool, sides: tuple[str, ...], place: int) -> tuple[str, str]:
    """Names of the systems whose outputs are the first and the second of a pair."""
    if pool.system is None:
        return sides[0], sides[1]
    first, _, second = str(pool.system[place]).partition(VERSUS)
    return first, second


def flipped(store: Store, place: int, rater: str = "") -> bool:
    """Whether the second output of a drawn pair stands left, by lot.

    In each wave every second pair in the order of its lots is turned, so that both outputs stand
    left equally often, for one rater as for a sheet. A coin for the wave and one for the rater
    decide which half that is.
    """
    row = store.database.execute(
        "SELECT wave, (SELECT COUNT(*) FROM lots JOIN drawn AS other USING (segment) "
        "WHERE other.wave = drawn.wave AND lot < (SELECT lot FROM lots WHERE segment = :place)) "
        "FROM drawn WHERE segment = :place",
        {"place": place},
    ).fetchone()
    wave, rank = (0, place) if row is None else row
    told = f"{store.settings.seed}\x1f{wave}\x1f{rater}".encode()
    return bool((int(rank) + hashlib.sha256(told).digest()[0]) % 2)


def texts(pool: Pool, sides: tuple[str, ...], place: int, turned: bool) -> dict[str, str]:
    """What raters see of a pair, by name: what both share, then left and right."""
    found = {n: str(column[place]) for n, column in pool.texts.items() if n not in sides}
    one, two = (str(pool.texts[name][place]) for name in sides)
    return found | dict(zip((LEFT, RIGHT), (two, one) if turned else (one, two), strict=True))


def score_of(verdict: str, turned: bool) -> float:
    """What left, right, tie or both bad says of the first output: 1, 0 or −1."""
    if verdict in (TIE, BOTH_BAD):
        return 0.0
    return 1.0 if (verdict == LEFT) != turned else -1.0


def details_of(
    pool: Pool, sides: tuple[str, ...], place: int, turned: bool, verdict: str
) -> dict[str, str]:
    """What is recorded of an answer: the verdict, and which system stood left."""
    names = systems_of(pool, sides, place)
    return {"verdict": verdict, "left": names[1] if turned else names[0]}


def oriented(rating: Rating, pool: Pool, sides: tuple[str, ...]) -> tuple[Rating, str]:
    """An answer with a key as one about the first output, and why it makes no sense, if so.

    One that names its pair by the id is about the first output already.
    """
    keys = SideKeys(len(pool), pool.fingerprint)

    def id_of(place: int) -> str:
        return str(pool.ids[place])

    place = keys.find(rating.segment, id_of)
    if place is None:
        return rating, ""
    verdict = CODES.get(int(rating.score)) if float(rating.score).is_integer() else None
    if verdict is None:
        return rating, f"{rating.score:g} is no verdict ({EXPLAINED})"
    turned = keys.side(rating.segment, id_of)
    told = dict(rating.details) | details_of(pool, sides, place, turned, verdict)
    return replace(rating, score=score_of(verdict, turned), details=told), ""


def _keys(store: Store) -> SideKeys:
    return SideKeys(len(store.pool), store.settings.fingerprint)


def as_exported(store: Store, rating: Rating) -> Rating:
    """An answer about the first output as raters of an exported sheet would write it."""
    ids = store.pool.ids
    place = store.keys.find(rating.segment, lambda place: str(ids[place]))
    assert place is not None
    turned = flipped(store, place)
    rating = replace(rating, segment=_keys(store).of(place, str(ids[place]), turned))
    told = {k: v for k, v in rating.details.items() if k not in ("verdict", "left")}
    by_score = {score_of(v, turned): k for k, v in CODES.items() if v != BOTH_BAD}
    code = by_score[rating.score]
    if rating.details.get("verdict") == BOTH_BAD:
        code = 4
    return replace(rating, score=float(code), details=told)


def frame(campaign: Campaign) -> pd.DataFrame:
    """Every pair of the pool with its systems, its metrics, and what people say of it, if they do.

    ``people`` is A, B or tie by the majority of the raters, or ``both bad`` where most of them say
    so; it is empty where nobody judged the pair.
    """
    import pandas as pd

    pool, sides = campaign.pool, campaign.settings.sides
    names = [systems_of(pool, sides, place) for place in range(len(pool))]
    answers = campaign.answers()
    place = {str(i): k for k, i in enumerate(pool.ids.tolist())}
    people = np.full(len(pool), "", dtype=object)
    bad = answers["details"].str.contains('"verdict": "both bad"', regex=False)
    share = bad.groupby(answers["segment"]).mean()
    if campaign.waves:
        sample = campaign.sample
        for id, score in zip(sample.ids.tolist(), campaign.scores().tolist(), strict=True):
            if not np.isnan(score):
                word = "A" if score > 0 else "B" if score < 0 else "tie"
                most = word == "tie" and share.get(str(id), 0.0) > 0.5
                people[place[str(id)]] = BOTH_BAD if most else word
    base = {"first": [a for a, _ in names], "second": [b for _, b in names], "people": people}
    return pd.DataFrame({**pool.metrics, "id": pool.ids.astype(str), **base})


def preferences(
    campaign: Campaign, judges: str | Sequence[str], target: str
) -> Preferences | PairRanking:
    """See `Campaign.preferences`."""
    from fewgold.bayes.pairwise import preferences as corrected
    from fewgold.campaign.study import waves_to_use
    from fewgold.comparison import bradley_terry

    settings = campaign.settings
    if not settings.sides:
        raise FewgoldError(
            "this campaign shows one output at a time, so that nothing was preferred to anything. "
            "Begin one with --side-by-side (sides=(…, …))."
        )
    names = list(as_names(judges))
    for name in names:
        if name not in campaign.pool.metrics:
            raise UnknownNameError("metric", name, campaign.pool.metrics)
    table = frame(campaign)
    drawn = campaign._partial(waves_to_use(campaign)).at_random().sample
    ids = drawn.ids.astype(str).tolist()
    table.loc[~table["id"].isin(set(ids)), "people"] = ""
    first, second = str(table["first"].iloc[0]), str(table["second"].iloc[0])
    if set(table["first"]) | set(table["second"]) == {first, second} and drawn.design.drawn_as(
        "simple"
    ):
        other = (table["first"] != first).to_numpy()  # the same two, the other way round
        table.loc[other, "people"] = table.loc[other, "people"].replace({"A": "B", "B": "A"})
        table.loc[other, names] *= -1
        return corrected(table, human="people", judges=names, a=first, b=second, target=target)
    # The judged rows in the order of the design.
    order = {id: k for k, id in enumerate(ids)}
    table = table.iloc[np.argsort([order.get(i, len(order)) for i in table["id"]], kind="stable")]
    return bradley_terry(
        table.reset_index(drop=True), human="people", first="first", second="second",
        judges=names, chosen=drawn.design, target=target, level=1 - settings.confidence,
    )  # fmt: skip
