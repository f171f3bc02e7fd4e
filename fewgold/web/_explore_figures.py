"""The figures of the pages, as files; none where matplotlib is not installed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from fewgold import plots
from fewgold._temporary import TemporaryFolder
from fewgold.errors import FewgoldError
from fewgold.reporting._figures import WITHOUT, available, weighted_line
from fewgold.reporting._phrases import shorter
from fewgold.web._explore_growth import growth, stopping_path
from fewgold.web._explore_view import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Every figure by its name in addresses; the last ones are followed by the place of a metric.
PLAIN = ("growth", "sequence", "estimators", "roc")
BY_METRIC = ("scatter", "shape", "roc")
_DOTS = 400  # of a scatter plot; more take room and show no more


class NoSuchFigure(FewgoldError):
    """There is nothing to draw, and why."""


def drawn(view: View, name: str, kind: str, cut: str = "") -> bytes:
    """A figure as SVG or PNG."""
    if not available():
        raise NoSuchFigure(WITHOUT)
    return view.figures.get((name, kind, cut), lambda: _file(view, name, kind, cut))


def _file(view: View, name: str, kind: str, cut: str) -> bytes:
    with view.store.drawing, TemporaryFolder() as folder, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        return plots.save(_figure(view, name, cut), folder / f"figure.{kind}").read_bytes()


def _figure(view: View, name: str, cut: str) -> Axes | Figure:
    if name == "growth":
        frame = growth(view)
        if not len(frame):
            raise NoSuchFigure("There is no estimate yet, and nothing to draw.")
        count = frame["answers"]  # the first intervals are very wide, and would hide the others
        late = frame.assign(n=count)[count >= count.iloc[-1] / 4].reset_index(drop=True)
        ax = plots.interval_path(late, label="estimate")
        ax.set_xlabel("answers")
        return ax
    if name == "sequence":
        path = stopping_path(view)
        if path is None:
            raise NoSuchFigure("There is no stopping rule here: it needs a plain random sample.")
        return path.plot()
    study = view.study
    if study is None:
        raise NoSuchFigure("There is no estimate yet, and nothing to draw.")
    if name == "estimators":
        frame = study.alternatives
        return plots.interval_rows(frame, label=f"{study.what}, {study.level} intervals")
    if name == "roc":
        return view.roc(cut).plot()
    base, _, place = name.rpartition("-")
    metric = view.metrics[int(place)]
    if base == "roc":
        return _roc(view, metric, cut)
    sample, scores = study.ratings.sample, study.ratings.scores
    values, weights = view.campaign.pool.metrics[metric], sample.design.weights
    at, label = values[sample.indices], shorter(metric, 40)
    if base == "scatter":
        line = weighted_line(at, scores, weights)
        return plots.scatter_fit(at[:_DOTS], scores[:_DOTS], line, xlabel=label)
    return plots.two_distributions(values, at, weights, label=label)


def _roc(view: View, metric: str, cut: str) -> Axes:
    """The curve of one metric."""
    import pandas as pd

    table = view.roc(cut)
    if metric not in table.rocs:
        raise NoSuchFigure(f"{shorter(metric)} is a covariate, and judges nothing.")
    roc, point = table.roc(metric), table.point(metric)
    marked = pd.DataFrame([{"system": metric, "fpr": 1 - point.eta, "tpr": point.rho}])
    return plots.roc_curves(roc.curve().assign(system=metric, auc=roc.auc), marked)


def known(view: View, name: str) -> bool:
    """Whether there is a figure of that name."""
    base, _, place = name.rpartition("-")
    if name in PLAIN:
        return True
    return base in BY_METRIC and place in {str(k) for k in range(len(view.metrics))}
