"""Figures of reliability: what they show, where their marks are, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.datasets import demo_frame
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.plots import rank_stability, reliability_curves, save, tangent, to_svg
from fewgold.reliability import Reliability, documents_needed, reliability

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def found() -> Reliability:
    frame = demo_frame("ende")
    frame = frame[frame["system"].isin(["human", "alpha"])]
    return reliability(
        frame, score=["comet", "bleu"], document="document", system="system", segment="segment",
        orders=3, draws=60, rng=0,
    )  # fmt: skip


def lines(ax) -> dict[str, np.ndarray]:
    return {str(line.get_gid()): line.get_xydata() for line in ax.lines if line.get_gid()}


def test_points_are_those_of_the_frame(found: Reliability) -> None:
    ax = found.plot("sd", score="bleu")
    frame = found.to_frame()
    part = frame[(frame["score"] == "bleu") & (frame["system"] == "alpha")]
    assert lines(ax)["line-1"] == pytest.approx(part[["documents", "relative_sd"]].to_numpy())
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert found.plot("sd", score="bleu", log=False).get_xscale() == "linear"
    fit = found.power("bleu", "alpha")
    curve = ax.lines[-1].get_xydata()
    assert curve[:, 1] == pytest.approx(fit(curve[:, 0]))
    texts = [text.get_text() for text in ax.texts]
    assert "human" in texts and "alpha" in texts


def test_mean(found: Reliability) -> None:
    ax = found.plot("mean", score="bleu", title="BLEU")
    frame = found.to_frame()
    part = frame[(frame["score"] == "bleu") & (frame["system"] == "human")]
    assert lines(ax)["line-0"] == pytest.approx(part[["documents", "mean"]].to_numpy())
    assert ax.get_ylabel() == "bleu" and ax.get_title(loc="left") == "BLEU"


def test_tangent(found: Reliability) -> None:
    """The dashed line goes from the curve at x_i to the axis at x_min, and has its slope."""
    ax = found.plot("tangent", score="bleu", systems=["alpha"])
    (window,) = ax.child_axes
    fit = found.power("bleu", "alpha")
    dashed = [line for line in window.lines if line.get_linestyle() == "--"]
    ends = dashed[0].get_xydata()
    assert ends[0] == pytest.approx([1, fit.a]) and ends[1] == pytest.approx([fit.x_min(), 0])
    slope = (ends[1, 1] - ends[0, 1]) / (ends[1, 0] - ends[0, 0])
    assert slope == pytest.approx(float(fit.slope(1.0)))
    assert f"x_min {fit.x_min():.2f}" in [text.get_text() for text in window.texts]
    assert f"x_max {fit.x_max():.0f}" in [text.get_text() for text in ax.texts]
    near = found.plot("tangent", score="bleu", epsilon=1e-2)
    assert not near.child_axes or near.get_xlim()[1] >= 130


def test_tangent_without_a_window() -> None:
    frame = pd.DataFrame({"system": "S1", "documents": range(1, 16)})
    frame["relative_sd"] = 0.02 * frame["documents"] ** -0.5
    fits = pd.DataFrame({"system": ["S1"], "a": [0.02], "b": [0.5]})
    ax = tangent(frame, fits, epsilon=2e-4)
    assert not ax.child_axes
    assert {"x_min 3.00", "x_max 14"} <= {text.get_text() for text in ax.texts}
    flat = tangent(frame, fits.assign(b=-0.1))
    assert not flat.texts  # a curve that rises has neither


def test_ranks(found: Reliability) -> None:
    ax = found.plot("ranks")
    ranks = found.ranks()
    part = ranks[ranks["score"] == "bleu"]
    assert lines(ax)["pairs-1"] == pytest.approx(part[["documents", "pairs"]].to_numpy())
    assert lines(ax)["settled-1"][-1] == pytest.approx([130, 1])
    one = found.plot("ranks", score="bleu")
    assert {"resampled", "as they are"} <= {text.get_text() for text in one.texts}


@pytest.mark.parametrize("kind", ["sd", "mean", "tangent"])
def test_files(found: Reliability, tmp_path: Path, kind: str) -> None:
    figure = found.plot(kind, score="comet")
    assert save(figure, tmp_path / "figure.png").stat().st_size > 10_000
    assert "<title>alpha</title>" in to_svg(figure)


def test_half_widths() -> None:
    table = pd.DataFrame({"doc": np.repeat(range(8), 3), "y": np.arange(24) % 7 * 1.0})
    told = {"score": "y", "document": "doc"}
    plan = documents_needed(table, half_width=0.5, **told)
    ax = plan.plot()
    drawn = lines(ax)["line-0"]
    assert drawn[:, 1] == pytest.approx(plan.at(drawn[:, 0])[0, 0])
    (mark,) = [line for line in ax.lines if line.get_marker() == "o"]
    assert mark.get_xydata()[0] == pytest.approx([plan.documents[0, 0], 0.5])
    assert {"y", "±0.5"} <= {text.get_text() for text in ax.texts}
    few = documents_needed(table, half_width=0.5, population="these", **told).plot()
    assert lines(few)["line-0"][:, 0].max() == 7
    two = documents_needed(table.assign(z=1.0), score=["y", "z"], document="doc", half_width=0.5)
    with pytest.raises(DataError, match="choose one of y, z"):
        two.plot()
    flat = two.plot(score="z")
    assert (lines(flat)["line-0"][:, 1] == 0).all()


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["sd", "mean", "tangent"])
@pytest.mark.parametrize(
    ("scores", "what"),
    [
        ([2, 2, 2, 2, 2, 2], "segments"),
        ([0, 0, 0, 0, 0, 5], "documents"),
        ([1, 2, 3, 5, 4, 4], "segments"),
    ],
)
def test_little_to_draw(kind: str, scores: list[int], what: str, tmp_path: Path) -> None:
    table = pd.DataFrame({"doc": np.repeat(range(3), 2), "y": scores})
    found = reliability(table, score="y", document="doc", draws=20, resample=what, rng=0)
    assert save(found.plot(kind), tmp_path / "figure.svg").stat().st_size > 1000


def test_one_system_is_named_after_the_score() -> None:
    table = pd.DataFrame({"doc": np.repeat(range(6), 3), "y": np.arange(18) % 5})
    found = reliability(table, score="y", document="doc", draws=20, rng=0)
    assert "y" in [text.get_text() for text in found.plot().texts]


def test_what_is_wrong(found: Reliability) -> None:
    with pytest.raises(FewgoldError, match="sd, mean, tangent, ranks"):
        found.plot("rank")
    with pytest.raises(DataError, match="choose one of comet, bleu"):
        found.plot("sd")
    with pytest.raises(UnknownNameError, match="unknown score 'blue'"):
        found.plot("sd", score="blue")
    with pytest.raises(UnknownNameError, match="unknown system 'omega'"):
        found.plot("tangent", score="bleu", systems=["omega"])
    with pytest.raises(DataError, match="lacks the columns pairs, settled"):
        rank_stability(pd.DataFrame({"score": ["a"], "documents": [1]}))
    with pytest.raises(DataError, match="lacks the columns relative_sd"):
        reliability_curves(pd.DataFrame({"system": ["a"], "documents": [1]}))
