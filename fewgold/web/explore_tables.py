"""The tables of the pages: shown shortened, and downloaded whole, with all digits."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import HTTPException

from fewgold import plots
from fewgold._text import fixed, shorter
from fewgold.errors import FewgoldError
from fewgold.plots.style import available
from fewgold.report import number
from fewgold.report.figures import WITHOUT, weighted_line
from fewgold.web import files
from fewgold.web.explore_view import View, growth, steps, stopping_path

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROWS = 25  # shown; the rest is in the download


@dataclass(frozen=True)
class Kind:
    """How a table is made and shown; ``make`` gives None where there is nothing to tell."""

    title: str
    make: Callable[[View], pd.DataFrame | None]
    caption: str = ""
    formats: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    last: bool = False  # the last rows are the interesting ones

    def shown(self, name: str, view: View) -> dict[str, Any] | None:
        """The table with the digits that people read; None where it has no rows."""
        frame = self.make(view)
        if frame is None or not len(frame):
            return None
        part = frame.tail(ROWS) if self.last else frame.head(ROWS)
        heads, cells = [], []
        for k, column in enumerate(map(str, frame.columns)):
            values = part.iloc[:, k].tolist()
            told = [v for v in values if v is not None]
            numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in told)
            heads.append((self.names.get(column, column), numeric))
            form = self.formats.get(column, _text)
            gaps = [v is None or (isinstance(v, float) and np.isnan(v)) for v in values]
            cells.append(["–" if gap else form(v) for v, gap in zip(values, gaps, strict=True)])
        return {
            "name": name, "title": self.title, "caption": self.caption, "heads": heads,
            "rows": list(zip(*cells, strict=True)), "total": len(frame),
        }  # fmt: skip


def _text(value: Any) -> str:
    return number(value, digits=4) if isinstance(value, float) else shorter(value, 160)


def _waves(view: View) -> pd.DataFrame:
    """Every wave, with the estimate after it where its answers and those before are complete."""
    import pandas as pd

    rated = set(view.answers["segment"])
    after = [] if view.study is None else list(view.study.waves)
    rows = []
    for k, wave in enumerate(view.campaign.waves):
        made = after[k] if k < len(after) else {}
        rows.append(
            {
                "wave": wave.number, "drawn": wave.drawn_at[:16].replace("T", " "),
                "segments": wave.n, "rated": sum(i in rated for i in wave.ids),
                "strategy": wave.strategy, "seed": str(wave.seed), "value": made.get("value"),
                "low": made.get("low"), "high": made.get("high"),
            }
        )  # fmt: skip
    frame = pd.DataFrame(rows)
    return frame if frame.empty or frame["value"].notna().any() else frame.iloc[:, :6]


def _documents(view: View) -> pd.DataFrame | None:
    """Every document that was reached, and how many segments of it."""
    import pandas as pd

    pool = view.campaign.pool
    if pool.documents is None or not view.status.sampled:
        return None
    sample, scores = view.campaign.sample, view.campaign.scores()
    names = pd.Series(pool.documents.astype(str))
    part = pd.DataFrame({"document": names[sample.indices].tolist(), "score": scores})
    groups = part.groupby("document", sort=False)["score"]
    frame = pd.DataFrame({"sampled": groups.size(), "rated": groups.count(), "mean": groups.mean()})
    frame.insert(0, "segments", names.value_counts().reindex(frame.index))
    return frame.reset_index().sort_values(
        ["rated", "sampled", "document"], ascending=[False, False, True], ignore_index=True
    )


def _of(name: str) -> Callable[[View], pd.DataFrame | None]:
    """A table of the study."""
    return lambda view: None if view.study is None else getattr(view.study, name)


def _unrated(view: View) -> pd.DataFrame | None:
    import pandas as pd

    if not view.status.unrated:
        return None
    pool = view.campaign.pool
    frame = pd.DataFrame({"segment": list(view.status.unrated)})
    if pool.documents is None:
        return frame
    where = dict(zip(map(str, pool.ids.tolist()), map(str, pool.documents.tolist()), strict=True))
    return frame.assign(document=[where[i] for i in frame["segment"]])


def _alternatives(view: View) -> pd.DataFrame | None:
    frame = None if view.study is None else view.study.alternatives
    return None if frame is None else frame.replace([np.inf, -np.inf], np.nan)


Form = Callable[[Any], str]


def _digits(digits: int, *columns: str) -> dict[str, Form]:
    """Columns with so many digits after the point."""
    return dict.fromkeys(columns, lambda v: fixed(v, digits))


def _percent(digits: int, *columns: str) -> dict[str, Form]:
    return dict.fromkeys(columns, lambda v: f"{v:.{digits}%}")


_SCORE: dict[str, Form] = {"score": lambda v: f"{v:.6g}"}
_LABELS: dict[str, Form] = dict.fromkeys(("segment", "document"), lambda v: shorter(v, 60))

#: Every table by its name in addresses.
TABLES: dict[str, Kind] = {
    "growth": Kind(
        "The estimate as answers came", growth,
        "What the status would have said after so many answers. Segments without an answer by then "
        "are taken as chance. Each interval is for one look, not for stopping when it looks good.",
        names={"n": "segments rated", "se": "standard error"}, last=True,
    ),
    "sequence": Kind(
        "The stopping rule, rating by rating", steps,
        "In the order of drawing, up to the first segment without an answer.", last=True,
    ),
    "waves": Kind(
        "Waves", _waves,
        "Every draw. Value, low and high: the estimate and its interval after it, where all "
        "answers up to it are there.", last=True,
    ),
    "documents": Kind(
        "Documents", _documents,
        "Documents that were reached, those with most ratings first. Mean: of the ratings of that "
        "document, as they are.", _digits(2, "mean"),
    ),
    "strata": Kind(
        "Strata", _of("strata"), "Share: of the pool, by the weights.", _percent(1, "share")
    ),
    "correlations": Kind(
        "Metrics and human scores", _of("correlations"),
        "Pearson's correlation over the pool, weighted as drawn, with its interval. A metric that "
        "is lower for better output has the other sign.", _digits(2, "r", "low", "high"),
    ),
    "likeness": Kind(
        "Sample and pool", _of("likeness"),
        "Metric means of the rated segments, weighted as drawn, and of the pool. Difference: in "
        "standard deviations of the pool. Against chance: in standard errors of a plain random "
        "sample; beyond 2 is rare, beyond 3 suspicious.",
        _digits(3, "difference") | _digits(1, "chance"),
        {"pool": "pool mean", "sample": "sample mean", "chance": "against chance"},
    ),
    "estimators": Kind(
        "Other estimators", _alternatives,
        "The first line is the estimate. The others are a check: to choose among them by the "
        "result would spoil the interval.",
        names={"name": "estimator", "se": "standard error", "interval": "kind of interval"},
    ),
    "pulls": Kind(
        "Segments that pull most", _of("pulls"),
        "By how much a segment moves the estimate, and its share of the sum of all squares. If one "
        "dominates, look at its rating again.", _percent(0, "share") | _LABELS | _SCORE,
    ),
    "raters": Kind(
        "Raters", _of("raters"),
        "Shared: segments that others rated too, on which the next ones go. Deviation: by how much "
        "above the mean of the others. Same: share of the others who gave the same score.",
        _digits(2, "mean", "sd", "correlation", "self_difference")
        | _percent(0, "same", "self_same"),
        {"deviation_se": "± standard error", "correlation": "r with others",
         "self_same": "same again", "self_difference": "differs again by"},
    ),
    "answers": Kind("Answers", lambda view: view.answers, "The last ones.", _SCORE, last=True),
    "set-aside": Kind(
        "Set aside", lambda view: view.campaign.store.set_aside(),
        "Answers that are kept and do not count, and why.", _SCORE,
    ),
    "rejected": Kind(
        "Rejected", lambda view: view.campaign.store.rejected(),
        "Rows that could not be read, and why. They are kept as they came.",
    ),
    "journal": Kind(
        "Journal", lambda view: view.campaign.store.journal(), "What happened, and when.", last=True
    ),
    "unrated": Kind(
        "Not rated yet", _unrated, "Sampled segments without an answer, in the order of drawing."
    ),
    "scores": Kind(
        "Scores and metrics", lambda view: view.scores if view.status.rated else None,
        "Every rated segment of the sample.",
    ),
}  # fmt: skip

ROC = Kind(
    "Metrics as judges",
    lambda view: None,
    "AUC: chance that an adequate segment has a better metric score than an inadequate one, with "
    "its interval. ρ: share of adequate ones recognised, η: of inadequate ones, at the cut "
    "where both are most alike. Over the rated segments as they are, not weighted.",
    _digits(2, "auc", "auc_low", "auc_high", "rho", "eta", "alpha", "K") | _digits(3, "auc_se"),
    {"auc": "AUC", "auc_se": "standard error", "auc_low": "low", "auc_high": "high", "rho": "ρ",
     "eta": "η", "alpha": "adequate"},
)  # fmt: skip


def roc_shown(view: View, cut: str) -> tuple[dict[str, Any] | None, str]:
    """The table of ROC curves, or None and why there is none."""
    try:
        kept = view.roc(cut).to_frame().drop(columns=["system", "gaps"])
    except FewgoldError as error:
        return None, error.message_for("web")
    return replace(ROC, make=lambda _: kept).shown("roc", view), ""


# The figures of the pages, as files; none where matplotlib is not installed.


#: Every figure by its name in addresses; the last ones are followed by the place of a metric.
PLAIN = ("growth", "sequence", "estimators", "roc")
BY_METRIC = ("scatter", "shape", "roc")
_DOTS = 400  # of a scatter plot; more take room and show no more


def drawn_figure(view: View, name: str, kind: str, cut: str = "") -> bytes:
    """A figure as SVG or PNG; not found where there is nothing to draw."""
    base, _, place = name.rpartition("-")
    of_metric = base in BY_METRIC and place in {str(k) for k in range(len(view.metrics))}
    if kind not in files.IMAGES or not (of_metric or name in PLAIN):
        raise HTTPException(404, "There is no such figure.")
    if not available():
        raise HTTPException(404, WITHOUT)
    plot = functools.partial(_figure, view, name, cut)
    return view.figures.get((name, kind, cut), lambda: files.drawn(plot, kind))


def _figure(view: View, name: str, cut: str) -> Axes | Figure:
    if name == "growth":
        frame = growth(view)
        if not len(frame):
            raise HTTPException(404, "There is no estimate yet, and nothing to draw.")
        count = frame["answers"]  # the first intervals are very wide, and would hide the others
        late = frame.assign(n=count)[count >= count.iloc[-1] / 4].reset_index(drop=True)
        ax = plots.interval_path(late, label="estimate")
        ax.set_xlabel("answers")
        return ax
    if name == "sequence":
        path = stopping_path(view)
        if path is None:
            raise HTTPException(
                404, "There is no stopping rule here: it needs a plain random sample."
            )
        return path.plot()
    study = view.study
    if study is None:
        raise HTTPException(404, "There is no estimate yet, and nothing to draw.")
    if name == "estimators":
        frame = study.alternatives
        return plots.interval_rows(frame, label=f"{study.what}, {study.level} intervals")
    if name == "roc":
        return view.roc(cut).plot()
    base, _, place = name.rpartition("-")
    metric = view.metrics[int(place)]
    if base == "roc":
        import pandas as pd

        table = view.roc(cut)
        if metric not in table.rocs:
            raise HTTPException(404, f"{shorter(metric)} is a covariate, and judges nothing.")
        roc, point = table.roc(metric), table.point(metric)
        marked = pd.DataFrame([{"system": metric, "fpr": 1 - point.eta, "tpr": point.rho}])
        return plots.roc_curves(roc.curve().assign(system=metric, auc=roc.auc), marked)
    sample, scores = study.ratings.sample, study.ratings.scores
    values, weights = view.campaign.pool.metrics[metric], sample.design.weights
    at, label = values[sample.indices], shorter(metric, 40)
    if base == "scatter":
        line = weighted_line(at, scores, weights)
        return plots.scatter_fit(at[:_DOTS], scores[:_DOTS], line, xlabel=label)
    return plots.two_distributions(values, at, weights, label=label)
