"""Report sections beyond the overall score: weights, slices, criteria, preferences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.common.text import decimals, plain_value
from fewgold.report.sections import Facts, Figure, Section, Table

if TYPE_CHECKING:
    from fewgold.bayes.pairwise import Preferences
    from fewgold.comparison import PairRanking
    from fewgold.criteria import CriteriaEstimate
    from fewgold.quantities import DomainEstimate
    from fewgold.slices import Slices


def weighted_sections(found: DomainEstimate, confidence: float) -> list[Section]:
    """The score with other weights, such as another traffic mix."""
    record = found.to_dict(confidence)
    digits = decimals(record["se"])
    ends = "unknown"
    if record["low"] is not None and record["high"] is not None:
        ends = f"{record['low']:.{digits}f} to {record['high']:.{digits}f}"
    level = f"{100 * confidence:.6g}% interval"
    facts = [
        ("score", f"{record['value']:.{digits}f}"),
        (level, f"{ends} ({record['bound_label']})"),
        ("ratings", f"{record['n']}, of {record['pool_size']} segments with weight"),
        *(("note", note) for note in record["notes"]),
        ("signature", record["signature"]),
    ]
    return [Facts(f"The {found.of}", facts)]


def slice_sections(found: Slices, confidence: float, drawn: bool) -> list[Section]:
    """The scores of slices as a table, and as a forest plot if matplotlib is installed."""
    import pandas as pd

    from fewgold.plots import to_svg
    from fewgold.plots.style import available

    heads, rows = found.cells(confidence)
    level = heads[4]
    # A level may occur twice.
    names = {f"column {k}": head for k, head in enumerate(heads)}
    frame = pd.DataFrame(rows, columns=list(names))
    told = [
        f"Scores by {found.by} from the same ratings. {level}: interval of this slice alone.",
        *("All at once: interval that holds for all slices together; p: of the difference from all "
            "other segments, corrected for the number of slices." for _ in [0] if not found.shrink),
        *(f"{note[:1].upper()}{note[1:]}." for note in found.notes),
        f"Signature: {found.signature(confidence)}",
    ]  # fmt: skip
    made: list[Section] = [Table(f"By {found.by}", frame, " ".join(told), names=names)]
    if drawn and available() and any(e is not None for e in found.estimates):
        svg = to_svg(found.plot(confidence=confidence), alt=f"Scores by {found.by}")
        made.append(Figure(f"By {found.by}, drawn", svg, "Dots are scores, lines intervals."))
    return made


def criteria_sections(found: CriteriaEstimate, confidence: float) -> list[Section]:
    """The scores of all criteria side by side, and their correlations."""
    level = f"{100 * confidence:.6g}% interval"
    numbers = dict.fromkeys(("value", "se", "low", "high"), ".4g")
    names = {
        "value": "score", "se": "standard error", "low": f"{level} from", "high": "to",
        "n": "ratings",
    }  # fmt: skip
    first = next(iter(found.estimates))
    told = " ".join([
        "All criteria were rated on the same sample; each interval is for one criterion alone.",
        *([] if len(found.estimates) < 2 else [
            f"Everything else on this page, also scores by slice, is about {first}."
        ]),
        *(f"Note: {note}." for note in found.notes),
    ])  # fmt: skip
    made: list[Section] = [
        Table("Criteria", found.table(confidence), told, formats=numbers, names=names)
    ]
    frame = found.ratings.correlations(confidence)
    if len(frame):
        made.append(
            Table(
                "How criteria correlate", frame,
                "Pearson's correlation over the whole test set.",
                formats=dict.fromkeys(("value", "se", "low", "high"), ".2f"),
                names=names | {"value": "correlation"},
            )
        )  # fmt: skip
    return made


def preference_sections(found: Preferences | PairRanking, confidence: float) -> list[Section]:
    """Which system people prefer: shares of two systems, or the ranking of several."""
    from fewgold.comparison import PairRanking

    told, level = " ".join(f"Note: {note}." for note in found.notes), f"{100 * confidence:.6g}%"
    if not isinstance(found, PairRanking):
        frame = found.to_frame(confidence)[["preferred", "people", "mean", "low", "high"]]
        names = {"mean": "all pairs", "low": f"{level} interval from", "high": "to"}
        about = "Shares of the pairs; net is the share of the first minus that of the second."
        numbers = dict.fromkeys(("people", "mean", "low", "high"), ".3f")
        return [Table("Preferences", frame, f"{about} {told}".strip(), numbers, names=names)]
    ranks = found.to_frame()[[
        "system", "share", "share_low", "share_high", "rank_low", "rank_high", "pairs", "wins",
        "ties", "losses",
    ]]  # fmt: skip
    about = (
        "Points are the share of pairs that a system wins against the others, where a tie is half "
        "a win (Bradley–Terry model)."
    )
    pairs = found.differences()[["first", "second", "preferred", "low", "high", "p_adjusted"]]
    shares = dict.fromkeys(("share", "share_low", "share_high"), ".3f")
    return [
        Table(
            "Which system people prefer", ranks, f"{about} {told}".strip(), shares,
            names={"share": "points", "share_low": f"{level} interval from", "share_high": "to",
                   "rank_low": "rank from", "rank_high": "rank to", "pairs": "judged"},
        ),
        Table(
            "All pairs of systems", pairs,
            "Probability that the first is preferred. p is corrected for all pairs.",
            dict.fromkeys(("preferred", "low", "high", "p_adjusted"), ".3f"),
            names={"preferred": "probability", "low": f"{level} interval from", "high": "to",
                   "p_adjusted": "p"},
        ),
    ]  # fmt: skip


def preference_record(found: Preferences | PairRanking, confidence: float) -> dict[str, Any]:
    """The same in plain values, for JSON."""
    from fewgold.comparison import PairRanking

    if isinstance(found, PairRanking):
        return found.to_dict()
    told: dict[str, Any] = plain_value(found.to_dict(confidence))
    return told
