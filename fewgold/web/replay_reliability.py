"""How steady scores and rankings are by number of documents: ``fewgold reliability``, as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError
from fewgold.web import replay_form as form
from fewgold.web.replay_data import Columns, guess
from fewgold.web.replay_form import Fields

if TYPE_CHECKING:
    from fewgold.reliability import Reliability
    from fewgold.web.jobs import Progress, Work
    from fewgold.web.replay_data import Data

FIGURES = {
    "sd": ("Spread by documents", "Of the first score: the bootstrap's, with the power law."),
    "ranks": ("Ranks by documents", "How soon systems are ranked as in the end."),
}
TABLES = ("curves", "fits", "ranks")
RESAMPLES = ("segments", "documents")
ORDERS, DRAWS, MOST_ORDERS, MOST_DRAWS = "20", "500", 100, 5_000


def chosen(fields: Fields, data: Data) -> Columns:
    """The columns of the form, or the guess where none was sent yet."""
    if not fields.sent:
        return guess(data)
    return Columns(
        tuple(fields.columns("score", "scores", data)),
        fields.column("system", "systems", data),
        fields.column("id", "segments", data),
        fields.column("document", "documents", data),
        (),
    )


def prepare(fields: Fields, data: Data) -> Work:
    """What the form asks for, checked; it runs with a function that hears of its progress."""
    from fewgold.reliability import reliability

    orders = form.whole(fields.text("orders", ORDERS), "the number of orders", 1, MOST_ORDERS)
    draws = form.whole(fields.text("draws", DRAWS), "the number of draws", 2, MOST_DRAWS)
    seed = form.whole(fields.text("seed", "0"), "the seed", 0, 2**53)
    resample = fields.choice("resample", "kind of bootstrap", RESAMPLES, "segments")
    if data.demo is not None:
        raters = [c for c in data.columns if c.startswith("rater")]
        frame = data.frame.assign(score=data.frame[raters].mean(axis=1)).drop(columns=raters)
        columns = Columns(("score",), "system", "segment", "document", ())
    else:
        frame, columns = data.frame, chosen(fields, data)
    if not columns.human or columns.document is None:
        what = "the scores" if not columns.human else "the documents"
        raise DataError(f"which column holds {what}? Choose it above.")

    def work(progress: Progress) -> Reliability:
        return reliability(
            frame, score=list(columns.human), document=columns.document, system=columns.system,
            segment=columns.id, orders=orders, draws=draws, resample=resample, rng=seed,
            gaps="drop" if fields.text("drop_gaps") else "error", progress=progress,
        )  # fmt: skip

    return work


def command(fields: Fields, data: Data) -> str | None:
    """The command that gives the same numbers; None where a name cannot be typed there."""
    options: list[tuple[str, str | None]] = []
    if data.demo is None:
        columns = chosen(fields, data)
        scores = form.listed(columns.human)
        if scores is None:
            return None
        options += [("--score", scores), ("--document", columns.document or "")]
        options += [("--system", columns.system or "none"), ("--segment", columns.id or "none")]
        options += [("--drop-gaps", None)] if fields.text("drop_gaps") else []
    for name, default in {"orders": ORDERS, "draws": DRAWS, "seed": "0"}.items():
        options.append((f"--{name}", fields.text(name, default)))
    if fields.text("resample", "segments") != "segments":
        options.append(("--resample", fields.text("resample")))
    return form.command("reliability", data, options)


def frame_of(result: Reliability, name: str) -> Any:
    """A table of the result, to download."""
    return result.to_frame() if name == "curves" else getattr(result, name)()


def show(result: Reliability) -> dict[str, Any]:
    """What the page shows: the words of ``fewgold reliability``."""
    title, _, rest = result.summary().partition("\n")
    several = len(result.systems) > 1
    return {
        "lead": title,
        "text": rest.strip("\n"),
        "figures": {k: v for k, v in FIGURES.items() if several or k != "ranks"},
        "tables": [t for t in TABLES if several or t != "ranks"],
    }


def plot(result: Reliability, kind: str) -> Any:
    """A figure, of the first score."""
    return result.plot(kind, score=result.scores[0])
