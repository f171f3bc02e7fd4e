"""The embedded sets: published figures of the imitated setting, and the loaders."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.datasets import demo_frame, demo_systems, load_demo
from fewgold.datasets.demo import KINDS, ORIENTATION, RATERS
from reference.demo_data import synthesize, write

MACHINES = ("alpha", "beta", "gamma", "delta")

# From the appendix of the paper that describes the imitated setting: segments and documents
# (Table 7), system means (Table 8), correlations of metrics and length with one rater (Table 9),
# errors of predicting each rater from the two others (Table 12).
SIZES = {"ende": (1418, 130), "zhen": (2000, 155)}
MEANS = {
    "ende": {"human": 0.91, "alpha": 2.02, "beta": 2.25, "gamma": 2.48, "delta": 2.99},
    "zhen": {"human": 3.62, "alpha": 5.03, "beta": 5.19, "gamma": 5.41, "delta": 5.85},
}
METRIC_RANGE = {"ende": (0.22, 0.41), "zhen": (0.42, 0.47)}
LENGTH = {"ende": 0.223, "zhen": 0.439}
INTRACLASS = {"ende": 0.15, "zhen": 0.28}
RATER_ERRORS = {
    "ende": [0.13, 0.22, 0.47, 0.32, 0.14, 0.33],
    "zhen": [0.37, 0.60, 0.38, 1.55, 1.40, 0.69],
}

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def frame(kind: str) -> pd.DataFrame:
    return demo_frame(kind)


def machines(frame: pd.DataFrame) -> list[pd.DataFrame]:
    return [frame[frame["system"] == system] for system in MACHINES]


def intraclass(scores: np.ndarray, groups: np.ndarray) -> float:
    """One-way analysis of variance, unequal group sizes."""
    parts = [scores[groups == group] for group in np.unique(groups)]
    sizes = np.array([len(part) for part in parts])
    between = sum(len(p) * (p.mean() - scores.mean()) ** 2 for p in parts) / (len(parts) - 1)
    within = sum(((p - p.mean()) ** 2).sum() for p in parts) / (len(scores) - len(parts))
    size = (len(scores) - (sizes**2).sum() / len(scores)) / (len(parts) - 1)
    return float((between - within) / (between + (size - 1) * within))


def test_sizes_and_contiguous_documents(kind: str, frame: pd.DataFrame) -> None:
    segments, documents = SIZES[kind]
    assert demo_systems(kind) == ["human", *MACHINES]
    for _, part in frame.groupby("system"):
        assert part["segment"].nunique() == len(part) == segments
        assert part["document"].nunique() == documents
        assert (part["document"] != part["document"].shift()).sum() == documents
        sizes = part.groupby("document").size()
        assert sizes.min() >= 4 and sizes.max() <= 30 and sizes.std() > 4


def test_raters_see_half_of_the_documents_and_three_see_each(frame: pd.DataFrame) -> None:
    ratings = frame[list(RATERS)]
    assert (ratings.notna().sum(axis=1) == 3).all()
    one = frame[frame["system"] == "alpha"]
    for rater in RATERS:
        seen = one[one[rater].notna()]
        # Table 7: between 48.2 and 51.1 % of segments, 49.0 and 51.0 % of documents.
        assert 0.48 < len(seen) / len(one) < 0.52
        assert 0.48 < seen["document"].nunique() / one["document"].nunique() < 0.52
    # A rater sees a document as a whole, and in all systems.
    seen_in = ratings.notna().groupby([frame["document"]]).nunique()
    assert (seen_in == 1).all(axis=None)


def test_scores_look_like_weighted_error_counts(frame: pd.DataFrame) -> None:
    scores = frame.loc[frame["system"] != "human", list(RATERS)].to_numpy()
    scores = scores[~np.isnan(scores)]
    assert scores.min() == 0.0 and scores.max() == 25.0
    assert np.array_equal(scores, scores.round(1))
    assert (scores == 0).mean() > 0.25
    assert (scores == 25).mean() < 0.06
    assert scores.mean() > np.median(scores) + 0.5


def test_system_means_near_table_8(kind: str) -> None:
    # Two standard errors of a system's mean are about 0.15 (ende) and 0.25 (zhen).
    for system, published in MEANS[kind].items():
        _, gold = load_demo(kind, system=system)
        assert gold.mean() == pytest.approx(published, abs=0.12 if kind == "ende" else 0.25)


def test_metric_correlations_near_table_9(kind: str, frame: pd.DataFrame) -> None:
    found = {}
    for metric, sign in ORIENTATION.items():
        values = [part[metric].corr(part[rater]) for part in machines(frame) for rater in RATERS]
        found[metric] = float(np.mean(values)) * (-sign or 1)
    assert found.pop("words") == pytest.approx(LENGTH[kind], abs=0.03)
    low, high = METRIC_RANGE[kind]
    assert min(found.values()) == pytest.approx(low, abs=0.03)
    assert max(found.values()) == pytest.approx(high, abs=0.03)
    if kind == "ende":
        best, second = sorted(found.values(), reverse=True)[:2]
        assert best - second > 0.04


def test_metrics_agree_with_each_other(frame: pd.DataFrame) -> None:
    names = [name for name, sign in ORIENTATION.items() if sign]
    signs = np.array([ORIENTATION[name] for name in names])
    for part in machines(frame):
        agreement = part[names].corr().to_numpy() * np.outer(signs, signs)
        assert agreement.min() > 0.2
        assert agreement[~np.eye(len(names), dtype=bool)].max() < 0.9


def test_relation_with_metrics_is_not_linear(frame: pd.DataFrame) -> None:
    # The score falls more steeply at the bad end of a metric than at the good end.
    for part in machines(frame):
        score = part[list(RATERS)].mean(axis=1)
        thirds = pd.qcut(part["bleurt"], 3, labels=False)
        bad, middle, good = score.groupby(thirds).mean()
        assert bad - middle > 1.2 * (middle - good) > 0


def test_metric_scales(frame: pd.DataFrame) -> None:
    assert frame["chrf"].between(0, 100).all() and frame["bleu"].between(0, 100).all()
    assert (frame["ter"] >= 0).all()
    assert frame["words"].between(3, 90).all()
    assert frame["words"].mean() > frame["words"].median() + 2  # skewed
    assert abs(frame["comet"].mean() - 0.4) < 0.2 and 0.25 < frame["comet"].std() < 0.45
    assert abs(frame["bleurt"].mean() - 0.1) < 0.25 and 0.3 < frame["bleurt"].std() < 0.55


def test_intraclass_correlation_of_documents(kind: str, frame: pd.DataFrame) -> None:
    values = [
        intraclass(part[list(RATERS)].mean(axis=1).to_numpy(), part["document"].to_numpy())
        for part in machines(frame)
    ]
    assert np.mean(values) == pytest.approx(INTRACLASS[kind], abs=0.03)


def test_raters_disagree_as_in_table_12(kind: str, frame: pd.DataFrame) -> None:
    errors = []
    for rater in RATERS:
        others = [other for other in RATERS if other != rater]
        gap = (frame[rater] - frame[others].mean(axis=1))[frame[rater].notna()]
        errors.append(float(gap.groupby(frame["system"]).mean().abs().mean()))
    published = RATER_ERRORS[kind]
    assert np.mean(errors) == pytest.approx(np.mean(published), rel=0.15)
    assert max(errors) > 3 * min(errors)
    assert np.corrcoef(errors, published)[0, 1] > 0.8


def test_generator_reproduces_the_shipped_table(kind: str, frame: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(synthesize(kind), frame, check_dtype=False, rtol=0, atol=1e-9)


def test_another_seed_gives_another_table(kind: str, frame: pd.DataFrame) -> None:
    other = synthesize(kind, seed=1)
    assert other.shape == frame.shape
    assert (other["comet"] != frame["comet"]).mean() > 0.9


def test_writing_twice_gives_the_same_small_files(tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in write(tmp_path)}
    second = {path.name: path.read_bytes() for path in write(tmp_path)}
    assert first == second
    assert sorted(first) == [f"demo-{kind}.csv.gz" for kind in KINDS]
    for packed in first.values():
        assert len(packed) < 250_000
        assert packed[4:8] == b"\0\0\0\0"  # no time of writing in the gzip header
        assert b"\r" not in gzip.decompress(packed)


def test_pool_and_gold_fit(kind: str, frame: pd.DataFrame) -> None:
    pool, gold = load_demo(kind, system="beta")
    part = frame[frame["system"] == "beta"]
    assert gold.dtype == np.float64 and gold.shape == (len(pool),) == (SIZES[kind][0],)
    assert pool.ids[6] == "seg0007"
    assert list(pool.metrics) == list(ORIENTATION)
    assert {name: pool.orientation[name] for name in ORIENTATION} == ORIENTATION
    assert pool.cost is not None
    assert np.allclose(pool.cost, 10 + 0.8 * part["words"])
    assert pool.system is not None and set(pool.system) == {"beta"}
    assert not pool.texts
    row = part.iloc[100]
    assert gold[100] == pytest.approx(np.nanmean(row[list(RATERS)].to_numpy(dtype=float)))


def test_one_rater(kind: str, frame: pd.DataFrame) -> None:
    pool, gold = load_demo(kind, system="gamma", rater="rater4")
    part = frame[(frame["system"] == "gamma") & frame["rater4"].notna()]
    assert pool.ids.tolist() == part["segment"].tolist()
    assert np.array_equal(gold, part["rater4"])


def test_texts_have_the_right_length_and_repeat() -> None:
    pool, _ = load_demo("ende", texts=True)
    again, _ = load_demo("ende", texts=True)
    other, _ = load_demo("ende", system="beta", texts=True)
    assert np.array_equal(pool.texts["output"], again.texts["output"])
    assert np.array_equal(pool.texts["source"], other.texts["source"])
    assert (pool.texts["output"] != other.texts["output"]).mean() > 0.9
    lengths = [len(text.split()) for text in pool.texts["output"]]
    assert np.array_equal(lengths, pool.metrics["words"])
    assert len(set(pool.texts["source"])) == len(pool)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"kind": "ende2"}, "unknown demo set 'ende2'.*Did you mean 'ende'.*Known: ende, zhen"),
        ({"system": "alfa"}, "unknown system of the demo set 'ende' 'alfa'.*'alpha'.*Known: alpha"),
        ({"rater": "rater7"}, "unknown rater 'rater7'.*Known: rater1.*mean of three"),
    ],
)
def test_unknown_names_are_explained(arguments: dict[str, str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        load_demo(**arguments)  # type: ignore[arg-type]
