"""Figures: what is drawn, where the labels go, and the bytes that are written."""

import itertools
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text
from sklearn.isotonic import IsotonicRegression

from fewgold import plots
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.plots import PALETTE, style
from fewgold.plots.style import GREY, INK, SOFT, push_apart
from sweeps import quick

BUDGETS = np.arange(1, 11) * 0.05
NAMES = [f"{s}+{e}" for s in ("random", "docs-prop", "docs-sys") for e in ["mean", "cv", "ridge"]]


def by_budget(names: list[str] = NAMES, budgets: np.ndarray = BUDGETS) -> pd.DataFrame:
    """Later names have less error."""
    rng = np.random.default_rng(1)
    rows = [
        {
            "strategy": name,
            "budget": budget,
            "n": round(1000 * budget) if budget <= 1 else int(budget),
            "abs_error": (0.1 + 0.02 / (i + 1)) / np.sqrt(budget) + rng.normal(0, 1e-4),
            "abs_error_sd": 0.08 / np.sqrt(budget),
            "abs_error_mc": 0.002 + 0.0001 * i,
            "reduction": i / 100,
            "reduction_mc": 0.01 * (i > 0),
            "coverage": 0.94 + 0.002 * i,
            "coverage_mc": 0.03,
        }
        for i, name in enumerate(names)
        for budget in budgets
    ]
    return pd.DataFrame(rows)


def ranked() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "strategy": ["worse", "best", "failed", "base", "unclear"],
            "reduction": [-0.2, 0.3, np.nan, 0.0, 0.01],
            "reduction_mc": [0.02, 0.03, np.nan, 0.0, 0.02],
            "win": [0.31, 0.66, np.nan, np.nan, 0.5],
        }
    )


def line(ax: Axes, name: str) -> Line2D:
    (found,) = [item for item in ax.lines if item.get_label() == name]
    return found


def colours(ax: Axes) -> dict[str, str]:
    return {str(item.get_label()): to_hex(item.get_color()) for item in ax.lines}


def bands(ax: Axes) -> list[tuple[np.ndarray, np.ndarray]]:
    """Lower and upper edge of each band, at each budget."""
    found = []
    for collection in ax.collections:
        points = np.concatenate([path.vertices for path in collection.get_paths()])
        edges = [points[np.isclose(points[:, 0], x), 1] for x in np.unique(points[:, 0].round(9))]
        found.append((np.array([e.min() for e in edges]), np.array([e.max() for e in edges])))
    return found


def names_beside(ax: Axes) -> list[Annotation]:
    return [child for child in ax.get_children() if isinstance(child, Annotation)]


def assert_apart(ax: Axes) -> None:
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(a) for a in names_beside(ax)]  # without the leading lines
    assert len(boxes) >= 2
    for one, two in itertools.combinations(boxes, 2):
        assert not one.overlaps(two)
    for box in boxes:
        assert box.x0 >= ax.bbox.x1
        assert box.x1 <= figure.bbox.x1


# Lines and bands


def test_every_strategy_is_drawn_with_its_numbers() -> None:
    frame = by_budget().sample(frac=1, random_state=0)  # rows in any order
    ax = plots.error_curves(frame, baseline=NAMES[0])
    assert sorted(colours(ax)) == sorted(NAMES)
    for name, rows in frame.sort_values("budget").groupby("strategy"):
        np.testing.assert_allclose(line(ax, str(name)).get_xdata(), BUDGETS)
        np.testing.assert_array_equal(line(ax, str(name)).get_ydata(), rows["abs_error"])


def test_roles_have_their_colours() -> None:
    ax = plots.error_curves(by_budget(), baseline=NAMES[0])
    best = NAMES[:-5:-1]  # the four of least error, best first
    assert [colours(ax)[name] for name in best] == list(PALETTE[:4])
    assert colours(ax)[NAMES[0]] == INK
    assert line(ax, NAMES[0]).get_linestyle() == "--"
    assert {colours(ax)[name] for name in NAMES[1:-4]} == {GREY}
    assert [a.get_text() for a in names_beside(ax)] == [*best, NAMES[0]]
    legend = ax.get_legend()
    assert legend is not None
    assert [t.get_text() for t in legend.get_texts()] == ["4 others", "± 2 Monte-Carlo errors"]


def test_given_highlights_come_in_their_order() -> None:
    ax = plots.error_curves(by_budget(), highlight=[NAMES[5], NAMES[2]], band=None)
    assert colours(ax)[NAMES[5]] == PALETTE[0]
    assert colours(ax)[NAMES[2]] == PALETTE[1]
    assert not ax.collections


def test_few_strategies_are_all_highlighted() -> None:
    ax = plots.error_curves(by_budget(NAMES[:5]))
    assert set(colours(ax).values()) == set(PALETTE[:5])


def test_a_strategy_that_fails_at_small_budgets_is_not_the_best_for_it() -> None:
    frame = by_budget()
    frame.loc[(frame["strategy"] == NAMES[0]) & (frame["budget"] < 0.3), "abs_error"] = np.nan
    ax = plots.error_curves(frame)
    assert colours(ax)[NAMES[0]] == GREY


@pytest.mark.parametrize(("band", "times"), [("mc", 2), ("sd", 1)])
def test_bands_are_where_they_claim(band: str, times: int) -> None:
    frame = by_budget(NAMES[:3])
    ax = plots.error_curves(frame, highlight=NAMES[1:2], band=band)
    (low, high), rows = bands(ax)[0], frame[frame["strategy"] == NAMES[1]]
    half = times * rows[f"abs_error_{band}"]
    np.testing.assert_allclose(low, rows["abs_error"] - half)
    np.testing.assert_allclose(high, rows["abs_error"] + half)


def test_an_error_is_never_below_zero() -> None:
    frame = by_budget(NAMES[:1]).assign(abs_error_sd=10.0)
    ((low, _),) = bands(plots.error_curves(frame, band="sd"))
    np.testing.assert_array_equal(low, 0)


def test_relative_errors_are_multiples_of_the_baseline() -> None:
    frame = by_budget(NAMES[:3])
    base, other = (frame[frame["strategy"] == name] for name in NAMES[:2])
    ratio = other["abs_error"].to_numpy() / base["abs_error"].to_numpy()
    ax = plots.error_curves(frame, baseline=NAMES[0], highlight=NAMES[1:2], relative=True)
    np.testing.assert_allclose(line(ax, NAMES[0]).get_ydata(), 1)
    np.testing.assert_allclose(line(ax, NAMES[1]).get_ydata(), ratio)
    low, high = bands(ax)[0]
    np.testing.assert_allclose((high - low) / 2, 2 * other["reduction_mc"])
    # Without the error of the ratio, that of the error itself, to the same scale.
    frame = frame.drop(columns="reduction_mc")
    ax = plots.error_curves(frame, baseline=NAMES[0], highlight=NAMES[1:2], relative=True)
    low, high = bands(ax)[0]
    expected = 2 * other["abs_error_mc"].to_numpy() / base["abs_error"].to_numpy()
    np.testing.assert_allclose((high - low) / 2, expected)


def test_coverage_stands_beside_its_promise() -> None:
    ax = plots.coverage_curves(by_budget(), confidence=0.9, baseline=NAMES[0])
    assert np.unique(line(ax, "_reference").get_ydata()).tolist() == [0.9]
    assert "nominal 90%" in [a.get_text() for a in names_beside(ax)]
    rows = by_budget().query("strategy == @NAMES[-1]")
    np.testing.assert_allclose(line(ax, NAMES[-1]).get_ydata(), rows["coverage"])
    low, high = bands(ax)[0]  # of the strategy of least error, whose coverage is 0.956
    np.testing.assert_allclose(low, rows["coverage"] - 0.06)
    np.testing.assert_array_equal(high, 1)
    assert_apart(ax)


def widths(names: list[str]) -> pd.DataFrame:
    parts = []
    for times, bound in enumerate(("student", "hoeffding", "bernstein"), 1):
        part = by_budget(names)[["strategy", "budget", "abs_error"]]
        parts.append(part.assign(bound=bound, half_width=2 * times * part.pop("abs_error")))
    return pd.concat(parts, ignore_index=True)


def test_widths_have_a_line_a_bound_with_gaps_where_infinite() -> None:
    frame = widths(NAMES[:1])
    first = (frame["bound"] == "bernstein") & (frame["budget"] < 0.12)
    frame.loc[first, "half_width"] = np.inf
    ax = plots.width_curves(frame)
    assert list(colours(ax)) == ["student", "hoeffding", "bernstein"]
    assert np.isnan(line(ax, "bernstein").get_ydata()).sum() == 2
    assert_apart(ax)


def test_widths_of_many_strategies_show_the_narrowest_of_each_bound() -> None:
    ax = plots.width_curves(widths(NAMES), log=True)
    best = [f"{NAMES[-1]}, {bound}" for bound in ("student", "hoeffding", "bernstein")]
    assert [a.get_text() for a in names_beside(ax)] == best
    ax = plots.width_curves(widths(NAMES), highlight=NAMES[:1])
    assert all(a.get_text().startswith(NAMES[0]) for a in names_beside(ax))


# Axes


def ticks(ax: Axes) -> list[str]:
    figure = ax.get_figure()
    assert figure is not None
    figure.draw_without_rendering()  # type: ignore[union-attr]
    return [t.get_text() for t in ax.get_xticklabels()]


def test_shares_are_in_per_cent_and_counts_are_not() -> None:
    assert "20%" in ticks(plots.error_curves(by_budget(NAMES[:2])))
    counts = plots.error_curves(by_budget(NAMES[:2], np.array([1, 50, 100, 200])))
    assert not any("%" in t for t in ticks(counts))
    assert counts.get_xlabel() == "ratings"


def test_shares_among_counts_are_counted() -> None:
    ax = plots.error_curves(by_budget(NAMES[:2], np.array([0.05, 0.2, 100, 300])))
    np.testing.assert_array_equal(line(ax, NAMES[0]).get_xdata(), [50, 100, 200, 300])


def test_axes_in_axes_out() -> None:
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    assert plots.error_curves(by_budget(), left, title="left") is left
    assert plots.ranking(ranked(), right) is right
    assert left.get_title(loc="left") == "left"
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(a) for a in names_beside(left)]
    assert all(box.x1 < right.bbox.x0 for box in boxes)


def test_one_budget_can_be_seen() -> None:
    ax = plots.error_curves(by_budget(budgets=np.array([0.1])), baseline=NAMES[0])
    assert all(item.get_marker() not in ("", "None", None) for item in ax.lines)
    assert len(ax.collections) == 5  # whiskers, side by side
    places = {float(item.get_segments()[0][0][0]) for item in ax.collections}
    assert len(places) == 5
    assert ticks(ax) == ["10%"]


def test_counts_have_ticks_at_whole_numbers() -> None:
    ax = plots.error_curves(by_budget(NAMES[:2], np.array([2, 3, 4])))
    assert set(ticks(ax)) <= set("012345")
    few = pd.DataFrame({"n": [3, 4], "value": 0.5, "low": 0.4, "high": 0.6})
    assert set(ticks(plots.interval_path(few))) <= set("2345")


def test_the_legend_covers_no_line() -> None:
    ax = plots.error_curves(by_budget(), baseline=NAMES[0])
    figure, legend = ax.get_figure(), ax.get_legend()
    assert figure is not None and legend is not None
    figure.draw_without_rendering()  # type: ignore[union-attr]
    assert legend.get_window_extent().y0 >= ax.bbox.y1


def test_a_strategy_without_numbers_is_left_out_quietly() -> None:
    frame = by_budget(NAMES[:3])
    frame.loc[frame["strategy"] == NAMES[1], ["abs_error", "coverage"]] = np.nan
    ax = plots.error_curves(frame, baseline=NAMES[0], relative=True)
    assert NAMES[1] not in [a.get_text() for a in names_beside(ax)]
    nothing = frame.assign(abs_error=np.nan)
    assert plots.to_svg(plots.error_curves(nothing)).startswith("<svg")


# Names at the ends of lines


@pytest.mark.parametrize("count", [4, pytest.param(25, marks=pytest.mark.slow)])
def test_names_do_not_overlap(count: int) -> None:
    names = [f"strategy-{i}+with-an-estimator" for i in range(count)]
    ax = plots.error_curves(by_budget(names), highlight=names)
    assert_apart(ax)
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    figure.set_size_inches(6, 3)  # they find new places when the figure changes
    ax.set_ylim(0, 3)
    assert_apart(ax)


def test_long_names_leave_room_for_the_figure() -> None:
    names = [f"{i}-{'very-' * 30}long+{i}" for i in range(4)]
    ax = plots.error_curves(by_budget(names))
    assert_apart(ax)
    assert ax.get_position().width > 0.4
    assert all("…" in a.get_text() for a in names_beside(ax))


def test_pushing_apart_is_the_least_move() -> None:
    rng = np.random.default_rng(3)
    for size in (1, 2, 7, 20):
        wanted = rng.normal(50, 10, size)
        placed = push_apart(wanted, gap=4, low=0, high=100)
        order = np.argsort(wanted)
        steps = 4 * np.arange(size)
        twin = IsotonicRegression(y_min=0, y_max=100 - steps[-1])
        expected = twin.fit_transform(np.arange(size), wanted[order] - steps) + steps
        np.testing.assert_allclose(placed[order], expected)
        assert np.all(np.diff(placed[order]) >= 4 - 1e-9)


def test_pushing_apart_without_room_keeps_the_gap() -> None:
    placed = push_apart(np.zeros(30), gap=4, low=0, high=100)
    np.testing.assert_allclose(np.diff(placed), 4)
    assert placed.mean() == pytest.approx(50)


# Ranking


def test_ranking_keeps_the_order_and_has_whiskers() -> None:
    order = ["best", "unclear", "base", "worse", "failed"]
    frame = ranked().set_index("strategy").loc[order].reset_index()
    ax = plots.ranking(frame, baseline="base", highlight=["best"])
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == order
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first row on top
    dots: dict[int, tuple[float, str, str]] = {}
    whiskers: dict[int, tuple[float, float]] = {}
    for item in ax.collections:
        if hasattr(item, "get_segments"):
            for (x0, y), (x1, _) in item.get_segments():
                whiskers[round(y)] = (x0, x1)
        else:
            for x, y in np.asarray(item.get_offsets()):
                face, edge = item.get_facecolor()[0], item.get_edgecolor()[0]
                dots[round(y)] = (x, to_hex(face), to_hex(edge))
    assert dots[0] == (0.3, PALETTE[0], PALETTE[0])
    assert dots[1] == (0.01, "#ffffff", SOFT)
    assert dots[3] == (-0.2, PALETTE[1], PALETTE[1])
    assert whiskers[0] == pytest.approx((0.24, 0.36))
    assert whiskers[3] == pytest.approx((-0.24, -0.16))
    texts = {round(t.get_position()[1]): t.get_text() for t in ax.texts}
    assert texts == {-1: "wins", 0: "66%", 1: "50%", 2: "–", 3: "31%", 4: "–"}
    weights = {t.get_text(): t.get_fontweight() for t in ax.get_yticklabels()}
    assert (weights["best"], weights["worse"]) == ("bold", "normal")


def test_ranking_puts_what_is_far_off_at_the_edge() -> None:
    frame = ranked().set_index("strategy")
    frame.loc["worse", ["reduction", "reduction_mc"]] = [-3.857, 0.2]
    ax = plots.ranking(frame.reset_index())
    assert ax.get_xlim()[0] > -1.2
    assert "−386%" in [t.get_text() for t in ax.texts]
    drawn = np.concatenate(
        [
            np.asarray(c.get_offsets())[:, 0]
            for c in ax.collections
            if not hasattr(c, "get_segments")
        ]
    )
    assert drawn.min() == -1.0


def test_ranking_rows_do_not_overlap() -> None:
    frame = pd.DataFrame({"strategy": [f"strategy-{i}" for i in range(25)]})
    frame = frame.assign(reduction=np.linspace(0.3, -0.1, 25), reduction_mc=0.01, win=0.5)
    ax = plots.ranking(frame)
    ticks(ax)
    for texts in (ax.get_yticklabels(), ax.texts):
        boxes = [t.get_window_extent() for t in texts]
        assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


# Files


@pytest.mark.parametrize("suffix", quick(["svg", "png", "pdf"], ["svg", "png"]))
def test_files_are_the_same_twice(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        ax = plots.error_curves(by_budget(), baseline=NAMES[0])
        assert plots.save(ax, tmp_path / f"{name}.{suffix}").is_file()
    one, two = (tmp_path / f"{name}.{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_size > 5000


def test_save_says_what_it_can_write(tmp_path: Path) -> None:
    ax = plots.ranking(ranked())
    with pytest.raises(DataError, match=r"ends in \.png, \.svg or \.pdf; got .*x\.doc"):
        plots.save(ax, tmp_path / "x.doc")
    with pytest.raises(DataError, match="no folder"):
        plots.save(ax, tmp_path / "none" / "x.png")


def test_inline_svg_is_the_same_twice_and_stands_alone() -> None:
    one, two = (plots.to_svg(plots.ranking(ranked()), alt="a") for _ in range(2))
    assert one == two
    assert one.startswith("<svg")
    assert one.endswith("</svg>")
    for outside in ("<?xml", "<!DOCTYPE", "http", "xlink", "<style", "<metadata"):
        assert outside not in one
    ElementTree.fromstring(one)


def test_ids_of_two_figures_do_not_meet() -> None:
    frame = by_budget()
    svgs = [plots.to_svg(plots.error_curves(frame)), plots.to_svg(plots.coverage_curves(frame))]
    ids = [re.findall(r'\bid="([^"]+)"', svg) for svg in svgs]
    both = ids[0] + ids[1]
    assert len(both) == len(set(both)) > 50
    for svg, own in zip(svgs, ids, strict=True):
        used = re.findall(r'(?:href="#|url\(#)([^")]+)', svg)
        assert used
        assert set(used) <= set(own)


def test_hostile_names_stay_text() -> None:
    names = ["<script>alert(1)</script>", "a\"&'b", "$x_1$ $", "_hidden", "系统 Ω é", "plain", "x"]
    ax = plots.error_curves(by_budget(names), baseline=names[0])
    svg = plots.to_svg(ax, alt='"><script>')
    assert "<script" not in svg
    root = ElementTree.fromstring(svg)
    assert root.get("aria-label") == '"><script>'
    assert {e.text for e in root.iter("title")} == set(names)
    assert set(names) <= {e.text for e in root.iter("text")}


def test_ticks_are_the_budgets_if_there_is_room() -> None:
    def ticks(budgets: list[float]) -> list[str]:
        ax = plots.error_curves(by_budget(NAMES[:2], np.array(budgets)))
        ax.figure.draw_without_rendering()
        low, high = ax.get_xlim()
        shown = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        return [label.get_text() for at, label in shown if low <= at <= high]

    assert ticks([0.05, 0.15]) == ["5%", "15%"]
    assert ticks([50, 120, 400]) == ["50", "120", "400"]
    assert ticks([10, 20, 1000]) == ["0", "200", "400", "600", "800", "1000"]


def test_names_in_legends_are_not_formulas() -> None:
    frame = pd.DataFrame({"strategy": "a$_b$_$", "n": [10, 20], "reached": [0.2, 0.1]})
    ax = plots.budget_curves(frame, {"a$_b$_$": (1500, 0.15)}, 0.15)
    svg = plots.to_svg(ax)
    root = ElementTree.fromstring(svg)
    assert "a$_b$_$: 1,500" in {e.text for e in root.iter("text")}


def test_a_legend_of_many_strategies_covers_no_line() -> None:
    n = np.arange(20.0, 1001.0, 20.0)
    parts = [
        pd.DataFrame({"strategy": f"docs-balanced+number-{k}", "n": n, "reached": k / np.sqrt(n)})
        for k in range(1, 13)
    ]
    marks = {str(part["strategy"][0]): (100, 0.1) for part in parts}
    ax = plots.budget_curves(pd.concat(parts), marks, 0.1)
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    assert legend is not None and len(legend.get_texts()) == 12
    words = legend.get_window_extent()
    assert words.y1 < ax.xaxis.label.get_window_extent().y0
    assert words.y0 >= 0 and words.x0 >= 0 and words.x1 <= ax.figure.bbox.x1
    keys = {(to_hex(k.get_color()), str(k.get_linestyle())) for k in legend.get_lines()}
    assert len(keys) == 12  # the line itself, since markers and colours come twice


# Letters that matplotlib's own font lacks


def lettered(text: str) -> Axes:
    ax = plots.budget_curves(pd.DataFrame({"strategy": "a", "n": [10], "reached": [0.2]}),
                             {"a": (10, 0.2)}, None)  # fmt: skip
    ax.set_title(text)
    return ax


def test_letters_that_no_font_has_are_told_once_and_stay_text_in_svg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "_OTHER_FONTS", ("No Such Font",))
    ax = lettered("翻訳 2")
    for kind in ("png", "pdf"):
        with pytest.warns(style.FontWarning, match="letter 翻 and 1 others") as said:
            plots.save(ax, tmp_path / f"a.{kind}")
        assert len(said) == 1
    assert "翻訳 2" in plots.save(ax, tmp_path / "a.svg").read_text(encoding="utf-8")
    plain = plots.save(lettered("2"), tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "<text" not in plain  # paths, the same everywhere


def test_letters_are_taken_from_another_font(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It comes with matplotlib, and has this combining circle, which the figures' own font lacks.
    monkeypatch.setattr(style, "_OTHER_FONTS", ("No Such Font", "STIXGeneral"))
    ax, circle = lettered("a \u20dd"), {}
    for kind in ("png", "pdf", "svg"):
        circle[kind] = plots.save(ax, tmp_path / f"a.{kind}").read_bytes()
    assert b"<text" not in circle["svg"] and b"STIXGeneral" in circle["svg"]
    assert ax.title.get_fontfamily() == ["sans-serif"]
    assert "STIX" not in plots.to_svg(ax)


# Ordinal scores


def test_grades_against_a_metric_are_spread_out_within_their_grade() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=200), rng.integers(1, 6, 200).astype(float)
    ax = plots.scatter_fit(x, y, (3.0, 0.0))
    dots = np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections])
    assert len(dots) == 200
    at = dict(zip(x.tolist(), y.tolist(), strict=True))
    away = np.array([up - at[across] for across, up in dots.tolist()])
    assert 0.15 < np.abs(away).max() <= 0.2 + 1e-9
    assert "dots spread out within each grade" in [t.get_text() for t in ax.texts]
    # On a grid of grades, areas count the segments, and every dot stays in its place.
    ax = plots.scatter_fit(np.round(x), y, (3.0, 0.0))
    dots = np.concatenate([np.asarray(c.get_offsets()) for c in ax.collections])
    np.testing.assert_array_equal(dots, np.round(dots))
    counts = np.unique(np.column_stack([np.round(x), y]), axis=0, return_counts=True)[1]
    assert [t.get_text() for t in ax.texts] == [f"largest dot: {counts.max()} segments"]


def test_only_grades_get_a_tick_each() -> None:
    few = plots.scatter_fit(np.array([0.13, 0.57, 2.9]), np.array([1.0, 2.0, 5.0]), (0.0, 1.0))
    assert [t.get_text() for t in few.get_yticklabels()] == ["1", "2", "5"]
    assert "0.57" not in ticks(few)
    one = plots.two_distributions(np.ones(9), np.ones(3), np.ones(3))
    assert ticks(one) == ["1"]


# Manners


def test_settings_and_pyplot_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    plots.to_svg(plots.error_curves(by_budget()))
    assert dict(matplotlib.rcParams) == before
    code = (
        "import sys, pandas as pd\n"
        "from fewgold import plots\n"
        "assert 'matplotlib' not in sys.modules\n"
        "f = pd.DataFrame({'strategy': ['a'], 'reduction': [0.1], 'reduction_mc': [0.01]})\n"
        "plots.to_svg(plots.ranking(f))\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    ax = plots.ranking(ranked())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (
        lambda: plots.error_curves(by_budget()),
        lambda: plots.coverage_curves(by_budget()),
        lambda: plots.width_curves(widths(NAMES)),
        lambda: plots.ranking(ranked()),
        lambda: plots.to_svg(ax),
    ):
        with pytest.raises(FewgoldError, match=r'pip install "fewgold\[plots\]"'):
            call()


def test_colours_are_readable_on_white() -> None:
    for colour in (*PALETTE, INK, SOFT):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        assert 1.05 / (luminance + 0.05) >= 4.5, colour


def test_wrong_frames_get_a_sentence() -> None:
    frame = by_budget()
    with pytest.raises(DataError, match="lacks the columns abs_error_mc; it has strategy, budget"):
        plots.error_curves(frame.drop(columns="abs_error_mc"))
    with pytest.raises(DataError, match=r"'random\+mean' has several rows for the budget 0\.05"):
        plots.error_curves(pd.concat([frame, frame]))
    with pytest.raises(DataError, match="no rows"):
        plots.ranking(ranked().iloc[:0])
    with pytest.raises(UnknownNameError, match=r"unknown strategy 'randm\+mean'.*random\+mean"):
        plots.error_curves(frame, baseline="randm+mean")
    with pytest.raises(UnknownNameError, match="unknown strategy 'no'"):
        plots.coverage_curves(frame, highlight=["no"])
    with pytest.raises(FewgoldError, match="relative=True needs the baseline"):
        plots.error_curves(frame, relative=True)
    with pytest.raises(FewgoldError, match="band must be one of mc, sd; got 'ci'"):
        plots.error_curves(frame, band="ci")
    with pytest.raises(FewgoldError, match="confidence must lie between 0 and 1"):
        plots.coverage_curves(frame, confidence=95)
