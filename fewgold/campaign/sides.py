"""Two outputs of one source side by side: raters say which one is better.

The pool has one row per pair. A score is 1 if the first output is better, −1 if the second is, and
0 for a tie or if both are bad. The mean is the net preference for the first.

Raters see left and right. Which output is on the left is random and encoded in the key that raters
get, so an answer finds its way back to the right system from any tool. It is recorded with the
answer.
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
#: Separator of the two systems' names, if they differ from pair to pair.
VERSUS = " vs "


@dataclass(frozen=True)
class SideKeys:
    """Keys of pairs, from which the campaign can tell which output was on the left.

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
        """The key of a pair; ``flipped`` if the second output is on the left."""
        return self._keys.of(2 * place + flipped, id)

    def find(self, name: str, id_of: Any) -> int | None:
        """The row of the pair that a key names."""
        found = self._keys.find(name, lambda place: id_of(place // 2))
        return None if found is None else found // 2

    def side(self, name: str, id_of: Any) -> bool:
        """Whether the second output was on the left."""
        found = self._keys.find(name, lambda place: id_of(place // 2))
        return found is not None and bool(found % 2)


def check(pool: Pool, sides: tuple[str, ...]) -> None:
    """Refuse a pool without the two outputs."""
    if len(sides) != 2 or sides[0] == sides[1]:
        raise DataError(
            "sides are the names of two texts to show side by side; got "
            f"{', '.join(sides) or 'none'}."
        )
    for name in sides:
        if name not in pool.texts:
            raise DataError(
                f"the pool has no text {name!r} to show on one side. It has "
                f"{', '.join(pool.texts) or 'none'}.",
                hints={
                    "python": "Name the texts when you make the pool (texts=[…]).",
                    "cli": "Name one of its texts, or add a column with --texts.",
                },
            )
    for label in [] if pool.system is None else sorted(set(map(str, pool.system.tolist()))):
        if len(set(label.split(VERSUS))) != 2:
            raise DataError(
                f"the pair {label!r} does not name two systems. Name both, with {VERSUS!r} "
                "between them."
            )


def with_pairs(pool: Pool, table: pd.DataFrame, between: Sequence[str]) -> Pool:
    """Add the names of the two systems of each pair, from two columns of the table."""
    for name in between:
        if name not in table.columns:
            raise UnknownNameError("column", name, [str(c) for c in table.columns])
    labels = [
        f"{a}{VERSUS}{b}"
        for a, b in zip(*(table[name].astype(str).str.strip() for name in between), strict=True)
    ]
    if len(labels) != len(pool):
        raise DataError(
            "if columns name the systems of each pair, every row must be a different pair."
        )
    return replace(pool, system=np.array(labels, dtype=object))


def systems_of(pool: Pool, sides: tuple[str, ...], place: int) -> tuple[str, str]:
    """The names of the systems of a pair, first output and second output."""
    if pool.system is None:
        return sides[0], sides[1]
    first, _, second = str(pool.system[place]).partition(VERSUS)
    return first, second


def flipped(store: Store, place: int, rater: str = "") -> bool:
    """Whether the second output of a drawn pair is on the left, at random.

    In each wave every second pair, in a random order, is swapped, so both outputs are on the left
    equally often, for each rater and in a sheet. A coin per wave and one per rater decide which
    half is swapped.
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
    """The texts of a pair as raters see them, by name: common ones, then left and right."""
    found = {n: str(column[place]) for n, column in pool.texts.items() if n not in sides}
    one, two = (str(pool.texts[name][place]) for name in sides)
    return found | dict(zip((LEFT, RIGHT), (two, one) if turned else (one, two), strict=True))


def score_of(verdict: str, turned: bool) -> float:
    """The score of the first output for left, right, tie or both bad: 1, 0 or −1."""
    if verdict in (TIE, BOTH_BAD):
        return 0.0
    return 1.0 if (verdict == LEFT) != turned else -1.0


def details_of(
    pool: Pool, sides: tuple[str, ...], place: int, turned: bool, verdict: str
) -> dict[str, str]:
    """What is recorded with an answer: the verdict, and which system was on the left."""
    names = systems_of(pool, sides, place)
    return {"verdict": verdict, "left": names[1] if turned else names[0]}


def oriented(rating: Rating, pool: Pool, sides: tuple[str, ...]) -> tuple[Rating, str]:
    """Translate an answer about left and right to the first output; also says if it is invalid.

    An answer that names its pair by the id is about the first output already.
    """
    if not sides:
        return rating, ""
    keys = SideKeys(len(pool), pool.fingerprint)

    def id_of(place: int) -> str:
        return str(pool.ids[place])

    place = keys.find(rating.segment, id_of)
    if place is None:
        return rating, ""
    verdict = CODES.get(int(rating.score)) if float(rating.score).is_integer() else None
    if verdict is None:
        return rating, f"{rating.score:g} is not a verdict ({EXPLAINED})"
    turned = keys.side(rating.segment, id_of)
    told = dict(rating.details) | details_of(pool, sides, place, turned, verdict)
    return replace(rating, score=score_of(verdict, turned), details=told), ""


def _keys(store: Store) -> SideKeys:
    return SideKeys(len(store.pool), store.settings.fingerprint)


def as_exported(store: Store, rating: Rating) -> Rating:
    """Translate an answer about the first output to what raters write in an exported sheet."""
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
    """Every pair of the pool with its systems, its metrics, and the raters' verdict.

    ``people`` is A, B, tie or ``both bad`` by the majority of the raters, and empty if nobody
    judged the pair.
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
            "this campaign shows one output at a time, so there are no preferences.",
            hints={
                "python": "Begin a campaign with sides=(…, …).",
                "cli": "Begin a campaign with fewgold init --side-by-side.",
            },
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
        other = (table["first"] != first).to_numpy()  # the same two systems in the other order
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
