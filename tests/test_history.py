"""A history: what earlier ratings predict, and how far the next ones are expected to stray."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from fewgold import History, Pool
from fewgold.errors import DataError


def study(seed, size=600, documents=60, shared=None):
    """Error counts that grow and spread with what the metric says, segments partly alike."""
    rng = np.random.default_rng(seed)
    m = rng.normal(size=size)
    hard = np.zeros(size) if shared is None else shared
    y = np.maximum(0.0, np.exp(0.6 * m) * (1 + 0.7 * rng.normal(size=size)) + hard)
    pool = Pool(
        [f"s{k}" for k in range(size)],
        {"m": m, "noise": rng.normal(size=size)},
        np.array([f"d{k * documents // size}" for k in range(size)]),
    )
    return pool, y


def left_over(pool, y):
    x = np.vstack([np.ones(len(y)), pool.standardised()]).T
    return y - x @ np.linalg.lstsq(x, y, rcond=None)[0]


def test_it_predicts_the_score_and_its_spread():
    pool, y = study(0)
    informed = History([study(1), study(2)], same_segments=False).inform(pool)
    assert list(informed.metrics) == ["m", "noise", "history"]
    # The score is not linear in the metric: what is predicted explains more than a line.
    assert left_over(informed, y).std() < 0.97 * left_over(pool, y).std()
    strayed = np.abs(left_over(informed, y))
    low, high = np.quantile(informed.spread, [0.25, 0.75])
    assert strayed[informed.spread > high].mean() > 2 * strayed[informed.spread < low].mean()


def test_the_same_segments_of_other_systems_tell_more():
    hard = np.random.default_rng(9).gamma(0.3, 5.0, 600)
    pool, y = study(0, shared=hard)
    others = [study(k, shared=hard) for k in (1, 2, 3)]
    without = History(others, same_segments=False).inform(pool)
    same = History(others).inform(pool)
    assert left_over(same, y).std() < 0.8 * left_over(without, y).std()
    # One earlier study alone can tell them too.
    single = History(others[:1]).inform(pool)
    assert left_over(single, y).std() < 0.9 * left_over(without, y).std()


def test_other_segments_of_the_same_name_do_not_count():
    pool, _ = study(0)
    earlier, y = study(1)
    renamed = Pool(earlier.ids, earlier.metrics, np.char.add("last year ", earlier.documents))
    np.testing.assert_array_equal(
        History([(renamed, y)]).inform(pool).metrics["history"],
        History([(earlier, y)], same_segments=False).inform(pool).metrics["history"],
    )


def test_scales_of_earlier_ratings_do_not_matter():
    pool, _ = study(0)
    (one, y1), (two, y2) = study(1), study(2)
    plain = History([(one, y1), (two, y2)]).inform(pool)
    scaled = History([(one, 100 - 4 * (25 - y1)), (two, 3 * y2 + 7)]).inform(pool)
    np.testing.assert_allclose(scaled.metrics["history"], plain.metrics["history"], atol=2e-6)
    np.testing.assert_allclose(scaled.spread, plain.spread, atol=1e-4)


def test_partly_rated_studies_count_as_far_as_they_are_rated():
    pool, _ = study(0)
    earlier, y = study(1)
    gaps = y.copy()
    gaps[::2] = np.nan
    informed = History([(earlier, gaps)]).inform(pool)
    assert np.isfinite(informed.metrics["history"]).all() and np.isfinite(informed.spread).all()
    # It learns nothing from what is missing.
    other = np.where(np.isnan(gaps), 1e6, gaps)
    assert not np.allclose(
        History([(earlier, other)]).inform(pool).metrics["history"], informed.metrics["history"]
    )


def test_from_a_table_with_several_systems():
    frames = []
    for k, (pool, y) in enumerate((study(1), study(2))):
        frame = pd.DataFrame({**pool.metrics, "id": pool.ids, "doc": pool.documents, "human": y})
        frames.append(frame.assign(system=f"system {k}"))
    table = pd.concat(frames)
    table.loc[table.index[:5], "human"] = np.nan
    history = History.from_table(
        table, human="human", id="id", metrics=["m", "noise"], document="doc", system="system"
    )
    assert [len(s.pool) for s in history.studies] == [600, 600]
    assert np.isnan(history.studies[0].scores[:5]).all()
    pool, _ = study(0)
    assert "history" in history.inform(pool).metrics


def test_few_ratings_make_a_line_and_no_more():
    pool, _ = study(0)
    earlier, y = study(1, size=40, documents=8)
    informed = History([(earlier, y)], same_segments=False).inform(pool)
    fitted = left_over(Pool(pool.ids, dict(pool.metrics)), informed.metrics["history"])
    # Rounded to six digits, the prediction is linear in the metrics: no trees with so few ratings.
    assert np.abs(fitted).max() < 2e-6


def test_what_does_not_fit_is_said():
    pool, y = study(0)
    with pytest.raises(DataError, match=r"no metric in common\. The pool has m, noise;"):
        History([(Pool(pool.ids, {"other": pool.metrics["m"]}), y)]).inform(pool)
    with pytest.raises(DataError, match="at least 30 ratings to learn from; got 12"):
        History([(pool, np.where(np.arange(600) < 12, y, np.nan))])
    with pytest.raises(DataError, match=r"one score per segment, shape \(600,\)"):
        History([(pool, y[:10])])
    with pytest.raises(DataError, match="a metric called 'history' already"):
        History([(pool, y)]).inform(History([(pool, y)]).inform(pool))
    with pytest.raises(DataError, match="score is infinite, first for id s3"):
        History([(pool, np.where(np.arange(600) == 3, np.inf, y))])
    with pytest.raises(DataError, match="the earlier scores of a history must be numbers"):
        History([(pool, np.full(600, "good"))])
    with pytest.raises(DataError, match="needs a Pool with each study's scores; got ndarray"):
        History([(pool.metrics["m"], y)])
    with pytest.raises(DataError, match="all predictions are equal"):
        History([(pool, np.ones(600))]).inform(pool)


def test_ratings_that_are_replayed_are_recognised():
    pool, y = study(0)
    own = History([(pool, np.where(np.arange(600) % 3 == 0, y, np.nan))]).studies[0]
    assert own.holds(pool, y)
    assert not own.holds(pool, y + 1)
    other, z = study(1)
    assert not History([(other, z)]).studies[0].holds(pool, y)
    renamed = Pool([f"x{k}" for k in range(600)], pool.metrics)
    assert not own.holds(renamed, y)
