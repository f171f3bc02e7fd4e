"""Every result has a figure that says what the result says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold import plots
from fewgold.bayes import (
    AlphaPosterior,
    CellPosterior,
    Counts,
    PoolPosterior,
    PreferencePosterior,
    RaterPosterior,
    Roc,
    naive_table,
    success_rates,
)
from fewgold.bayes.posterior import Posterior
from fewgold.datasets import judged_frame
from fewgold.errors import FewgoldError
from fewgold.planning import best_split, measurable_differences, sample_estimates

PAIRED = Counts(tp=43, fn=18, fp=12, tn=29, metric_ones=54, metric_total=100)


@pytest.mark.parametrize(
    "posterior",
    [
        AlphaPosterior(PAIRED), PoolPosterior(PAIRED), AlphaPosterior(Counts(tp=9, tn=9)).rho,
        CellPosterior([[6, 1], [2, 9]], [32, 50]),
        AlphaPosterior(Counts(human_ones=0, human_total=5)),
        PreferencePosterior([[30, 9, 6], [8, 10, 7]], [160, 110]),
        PoolPosterior(Counts(human_ones=5, human_total=7)),
    ],
    ids=lambda p: type(p).__name__,
)  # fmt: skip
def test_a_posterior(posterior: Posterior) -> None:
    ax = posterior.plot(confidence=0.9)
    low, high = posterior.interval(0.9)
    said = ax.texts[0].get_text().replace("−", "-")
    assert f"{float(posterior.mean):.3f}" in said and f"90%: {low:.3f} to {high:.3f}" in said
    whole, inside = ax.patches
    area = [float(p.get_data().values @ np.diff(p.get_data().edges)) for p in (whole, inside)]
    if posterior.sd > 0:
        assert area[0] == pytest.approx(0.999, abs=2e-3)
        assert area[1] == pytest.approx(0.9, abs=0.06)  # whole bars
    assert plots.to_svg(ax).startswith("<svg")


def test_a_batch_has_none() -> None:
    with pytest.raises(FewgoldError, match="plot is for one posterior"):
        AlphaPosterior(Counts(human_ones=[1, 2], human_total=5)).plot()


def test_rates_and_naive_tables() -> None:
    frame = judged_frame()
    rates = success_rates(frame, human="passed", metric="judge", system="system")
    ax = rates.plot()
    table = rates.to_frame()
    assert [t.get_text() for t in ax.get_yticklabels()] == list(table["system"])
    rings = np.asarray(ax.collections[-1].get_offsets())
    assert rings[:, 0] == pytest.approx(table["naive"])
    naive = naive_table(frame, human="passed", metrics=["judge"], system="system")
    dots = np.asarray(naive.plot().collections[1].get_offsets())
    own = naive.frame[naive.frame["how"] == "own"]
    assert dots[:, 0] == pytest.approx(own["mean"])
    with pytest.raises(FewgoldError, match="no estimates 'known'"):
        naive.plot(how="known")


def test_raters_and_roc() -> None:
    labels = pd.DataFrame({"ann": [1, 0, 1, 1] * 10, "bob": [1, 0, 0, 1] * 10})
    posterior = RaterPosterior(labels, effective=100)
    names = [t.get_text() for t in posterior.plot_raters().get_yticklabels()]
    assert names == ["ann ρ", "ann η", "bob ρ", "bob η"]
    roc = Roc.of([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert "cut &gt;= 0.4" in plots.to_svg(roc.plot())


def test_plans() -> None:
    rates = {"alpha": 0.6, "rho": 0.9, "eta": 0.9}
    found = measurable_differences(**rates, human=[100, 400], metric=[0, 1000], draws=20, rng=1)
    ax = found.plot(target=0.1)
    assert [t.get_text() for t in ax.texts[:4]] == [f"{x:.3f}" for x in found.epsilon.ravel()]
    drawn = sample_estimates(**rates, human=[100, 400], draws=20, rng=1)
    dots = np.asarray(drawn.plot().collections[1].get_offsets())
    assert dots[:, 0] == pytest.approx(drawn.bias)
    split = best_split(200, 1.0, 0.02, **rates)
    assert f"with the metric: {split.best.human}" in plots.to_svg(split.plot())
    dear = best_split(200, 1.0, 0.9, alpha=0.6, rho=0.6, eta=0.6)
    assert not dear.pays and "with the metric" not in plots.to_svg(dear.plot())
