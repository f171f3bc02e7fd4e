"""Heat maps say the numbers that they are given, readably."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_rgb

from fewgold import plots
from fewgold.errors import DataError
from fewgold.plots.heatmap import _luminance

TABLE = pd.DataFrame(
    [[0.8, 0.4, 0.31], [0.2, 0.05, np.nan]],
    index=pd.Index([0, 1000], name="human"),
    columns=pd.Index([0, 500, 25_000], name="metric"),
)


def test_every_cell_has_its_number() -> None:
    ax = plots.heat(TABLE, title="A title")
    said = [text.get_text() for text in ax.texts]
    assert said == ["0.800", "0.400", "0.310", "0.200", "0.050", "–"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "500", "25,000"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["0", "1,000"]
    assert ax.get_xlabel() == "metric-only ratings"
    assert ax.get_ylabel() == "human ratings"


def test_darker_is_more_and_the_text_stands_out() -> None:
    values = np.geomspace(0.001, 1, 40)
    ax = plots.heat(pd.DataFrame([values]))
    shades = ax.collections[0].get_array()[0]
    light = [_luminance(shade) for shade in shades]
    assert np.all(np.diff(light) < 0)
    for cell, text in zip(light, ax.texts, strict=True):
        pair = sorted([cell, _luminance(np.array(to_rgb(text.get_color())))])
        assert (pair[1] + 0.05) / (pair[0] + 0.05) > 3.9


def test_target_frames_the_cells_that_reach_it() -> None:
    ax = plots.heat(TABLE, target=0.3)
    edges = {tuple(map(tuple, line.get_xydata())) for line in ax.lines}
    assert len(edges) == 6  # two cells side by side
    assert ((-0.5, 0.5), (0.5, 0.5)) in edges
    assert ((1.5, 0.5), (1.5, 1.5)) in edges
    assert any("at most 0.3" in text.get_text() for text in ax.texts)


def test_same_numbers_and_linear_shades(tmp_path) -> None:
    ax = plots.heat(pd.DataFrame([[-1.0, -1.0]]), log=False, fmt=".0f", xlabel="x", ylabel="y")
    assert [text.get_text() for text in ax.texts] == ["-1", "-1"]
    assert plots.save(ax, tmp_path / "heat.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pd.DataFrame(), "no cells"),
        (pd.DataFrame([["a"]]), "a dataframe of numbers"),
        (pd.DataFrame([[np.nan]]), "finite number"),
        (pd.DataFrame([[0.0, 1.0]]), "log=False"),
    ],
)
def test_refusals(frame: pd.DataFrame, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        plots.heat(frame)


def test_pages_can_show_matrices() -> None:
    """As shapes: the policy of pages lets no bitmap through, not even within an SVG."""
    assert "<image" not in plots.to_svg(plots.heat(TABLE), alt="cells")
    pairs = pd.DataFrame([[0.5, 0.9], [0.1, 0.5]], list("ab"), list("ab"))
    drawn = plots.significance_matrix(pairs, [[0, 1], [1, 0]], levels=[0.05])
    assert "<image" not in plots.to_svg(drawn, alt="pairs")
    assert drawn.get_ylim() == (1.5, -0.5)  # the first row on top
