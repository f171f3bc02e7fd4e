"""The figures of a study; none where matplotlib is not installed."""

from __future__ import annotations

import numpy as np

from fewgold import plots, report
from fewgold.common.arrays import FloatArray
from fewgold.common.text import shorter
from fewgold.report.study import StudyNumbers

WITHOUT = (
    "Figures need matplotlib, which is not installed here: `pip install 'fewgold[plots]'`. All "
    "numbers are on this page without it."
)
# Dots of a scatter plot; more take room and show no more.
_DOTS = 400


def figures(study: StudyNumbers) -> list[report.Figure]:
    """All figures that this study has the numbers for."""
    found = [_alternatives(study), _path(study), *_metric(study)]
    return [figure for figure in found if figure is not None]


def _alternatives(study: StudyNumbers) -> report.Figure | None:
    frame = study.alternatives
    if not np.isfinite(frame[["low", "high"]].to_numpy(dtype=float)).all(axis=1).any():
        return None
    own, *others = frame["name"]
    named = frame.assign(name=[f"{own} (this report)", *(f"{n}, for comparison" for n in others)])
    ax = plots.interval_rows(named, label=f"{study.what}, {study.level} intervals")
    told = "; ".join(
        f"{name} {study.shown(value)}"
        for name, value in zip(named["name"], frame["value"], strict=True)
    )
    svg = plots.to_svg(ax, alt=f"Estimates with intervals: {told}.")
    caption = "The estimate of this report, and what other estimators make of the same ratings."
    return report.Figure("The estimate among others", svg, caption)


def _path(study: StudyNumbers) -> report.Figure | None:
    frame = study.path
    if frame is None or len(frame) < 2:
        return None
    ax = plots.interval_path(frame, label="estimate")
    count, step = len(frame), "wave" if study.waves and "se" not in frame else "look"
    svg = plots.to_svg(ax, alt=f"Estimate and interval after each of {count} {step}s.")
    caption = (
        f"The estimate and its {study.level} interval as ratings came in. Each interval is for one "
        "look decided on beforehand, not for stopping when it looks good."
    )
    return report.Figure("How it settled", svg, caption)


def _metric(study: StudyNumbers) -> list[report.Figure]:
    """The metric that follows the ratings best: against them, and in the sample and the pool."""
    frame = study.correlations
    if not len(frame) or not np.isfinite(frame["r"][0]):
        return []
    name, sample = str(frame["metric"][0]), study.ratings.sample
    over, at = sample.pool.metrics[name], sample.pool.metrics[name][sample.indices]
    short = shorter(name, 40)
    score = "1 if adequate, else 0" if study.linear is None else "human score"
    line = weighted_line(at, study.ratings.scores, sample.design.weights)
    ax = plots.scatter_fit(
        at[:_DOTS], study.ratings.scores[:_DOTS], line, xlabel=short, ylabel=score
    )
    r = f"{frame['r'][0]:.2f}".replace("-", "−")
    dots = "" if study.n <= _DOTS else f" The first {_DOTS} of {study.n} are drawn."
    scatter = report.Figure(
        "Human scores and the best metric",
        plots.to_svg(ax, alt=f"Human score against {short}, correlation {r}."),
        f"Rated segments by {short}, which follows the ratings best (r = {r}), and the line of "
        f"least squares, weighted as drawn.{dots}",
    )
    ax = plots.two_distributions(over, at, sample.design.weights, label=short)
    shape = report.Figure(
        "The same metric in pool and sample",
        plots.to_svg(ax, alt=f"Distribution of {short} over the pool and over the sample."),
        "Grey: all segments. Line: the rated ones, weighted as drawn. They should look alike.",
    )
    return [scatter, shape]


def weighted_line(x: FloatArray, y: FloatArray, w: FloatArray) -> tuple[float, float]:
    """Intercept and slope of weighted least squares; flat where x does not vary."""
    w = w / w.sum()
    mx, my = float(w @ x), float(w @ y)
    spread = float(w @ (x - mx) ** 2)
    slope = float(w @ ((x - mx) * (y - my))) / spread if spread > 0 else 0.0
    return my - slope * mx, slope
