"""Adjudication: final scores for the segments on which raters disagree most.

The rule for which segments are settled is fixed beforehand (`Settings.differ`), so every segment of
the pool would have been treated in the same way. The raters' own answers are kept, and agreement is
computed from them alone.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from fewgold.agreement import Answers
from fewgold.campaign import sides
from fewgold.campaign.answers import in_time, twin_of, why_not
from fewgold.campaign.database import note, now
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign.settings import Settings
    from fewgold.campaign.store import Store


def differences(answers: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Segments that two or more raters answered, largest difference first.

    ``low`` and ``high`` are the lowest and highest score, using each rater's answer that counts.
    """
    import pandas as pd

    names = ["segment", "raters", "low", "high", "difference"]
    if answers.empty:
        return pd.DataFrame(columns=names)
    told = in_time(answers)
    one = Answers.from_table(told, segment="segment", rater="rater", score="score")
    segment, _, score = one._one_each(settings.repeats)
    each = pd.DataFrame({"segment": segment, "score": score}).groupby("segment")["score"]
    found = each.agg(["count", "min", "max"])
    found.columns = pd.Index(names[1:4])
    found["difference"] = found["high"] - found["low"]
    found.insert(0, "segment", [one._ids[k] for k in found.index])
    found = found[found["raters"] > 1]
    return found.sort_values("difference", ascending=False, kind="stable", ignore_index=True)


def queue(store: Store, *, settled: bool = False) -> pd.DataFrame:
    """Segments that need a final score, largest difference first.

    With ``settled``, includes those that have one already, with their ``score``.
    """
    differ = store.settings.differ
    if differ is None:
        raise FewgoldError(
            "adjudication needs a rule: the smallest difference between raters that is "
            "adjudicated.",
            hints={
                "python": "Set it with campaign.change(differ=…).",
                "cli": "Set it with fewgold adjudicate CAMPAIGN --differ D.",
                "web": "Set it first.",
            },
        )
    found = differences(store.answers(), store.settings)
    found = found[found["difference"] >= differ * (1 - 1e-12)].copy()
    found["score"] = found["segment"].map(store.settled()).astype(float)
    return (found if settled else found[found["score"].isna()]).reset_index(drop=True)


def settle(store: Store, rating: Rating) -> bool:
    """Store an adjudicator's score for a segment; False if the same answer was stored before.

    ``rating.rater`` is the adjudicator. A later score for the same segment replaces an earlier one;
    both are kept in the file. A pair is settled as it is rated: under its key by the codes of the
    sheets, since the key says which output was on the left, and under its id by 1, 0 or −1.
    """
    settings = store.settings
    if settings.differ is None:
        queue(store)  # raises an error that says what is missing
    if not rating.rater.strip():
        raise FewgoldError(
            "a settled score needs the name of the adjudicator.",
            hints={"python": "Give it with by=.", "cli": "Give it with --by NAME."},
        )
    rating, why = sides.oriented(rating, store.pool, settings.sides)
    alone = replace(settings, criteria=())  # the first criterion has the scale of the campaign
    if why := why or why_not(rating, alone):
        raise DataError(f"{why}; it was not stored.")
    ids = store.pool.ids
    place = store.keys.find(rating.segment, lambda place: str(ids[place]))
    name = rating.segment if place is None else str(ids[place])
    open_ = queue(store, settled=True)
    if name not in set(open_["segment"]):
        raise DataError(
            f"no two raters differ by {settings.differ:g} or more on the segment {name[:40]!r}, "
            "so it needs no adjudicator. Nothing was stored."
        )
    (place,) = store.database.execute("SELECT place FROM segments WHERE id = ?", (name,)).fetchone()
    with store.transaction() as database:
        new = database.execute(
            "INSERT OR IGNORE INTO settled (segment, score, rater, time, answer, details, "
            "stored_at, twin) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                place, rating.score, rating.rater.strip(), rating.time, rating.answer,
                json.dumps(dict(rating.details), default=str), now(), twin_of(place, rating),
            ),
        ).rowcount  # fmt: skip
        if new:
            told = {"segment": name, "score": rating.score, "by": rating.rater}
            note(database, "settle", told)
    return bool(new)
