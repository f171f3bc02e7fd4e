"""Real data by name, and scores of metrics as submitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.datasets import (
    data_folder,
    load_real,
    read_metric_submission,
    real_frame,
    real_systems,
)
from fewgold.errors import DataError

pytestmark = pytest.mark.filterwarnings("error")

needs_data = pytest.mark.skipif(
    data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have them tested"
)

# Published means of MQM scores (0 perfect to 25), by the first part of the system's name.
PUBLISHED = {
    "wmt20_ende": {
        "Human-B": 0.75, "Human-P": 1.41, "Tohoku": 2.02, "OPPO": 2.25, "eTranslation": 2.33,
        "Tencent": 2.35, "Huoshan": 2.45, "Online-B": 2.48, "Online-A": 2.99,
    },
    "wmt20_zhen": {
        "Human-B": 3.62, "Huoshan": 5.03, "WeChat": 5.13, "Tencent": 5.19, "OPPO": 5.20,
        "THUNLP": 5.34, "DeepMind": 5.41, "DiDi_NLP": 5.48, "Online-B": 5.85,
    },
}  # fmt: skip


def raw(name: str) -> Path:
    folder = data_folder()
    assert folder is not None
    return folder / "raw" / name


# ------------------------------------------------------------------ the data sets


@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_system_means_are_the_published_ones(name: str) -> None:
    systems = real_systems(name)
    assert len(systems) == len(PUBLISHED[name])
    for start, mean in PUBLISHED[name].items():
        (system,) = [s for s in systems if s.startswith(start)]
        _, gold = load_real(name, system=system)
        assert gold.mean() == pytest.approx(mean, abs=0.006)


@needs_data
@pytest.mark.parametrize(
    ("name", "segments", "documents"),
    [
        ("wmt20_ende", 1418, 130),
        ("wmt20_zhen", 2000, 155),
        ("wmt21_ende", 527, 32),
        ("wmt21_zhen", 650, 51),
        ("ted_ende", 529, 5),
        ("frank", 250, 250),
        ("topicalchat", 60, 60),
    ],
)
def test_default_system_is_a_machine_with_usable_metrics(
    name: str, segments: int, documents: int
) -> None:
    folder = data_folder()
    if folder is None or not (folder / f"{name}.csv.gz").is_file():
        pytest.skip(f"the folder with real data has no {name}")
    pool, gold = load_real(name)
    assert len(pool) == len(gold) == segments
    assert int(pool.codes.max()) + 1 == documents
    assert np.isfinite(gold).all()
    assert pool.system is not None
    table = real_frame(name)
    assert (table.loc[table["system"] == pool.system[0], "is_human"] == 0).all()
    human = {c for c in table.columns if c.startswith(("human_", "mqm", "fact", "n_"))}
    assert not human & set(pool.metrics)
    assert {"is_human", "seg_id", "doc_seg_id"}.isdisjoint(pool.metrics)
    assert set(pool.metrics) <= set(pool.orientation)


@needs_data
def test_incomplete_metrics_are_left_out_for_that_system_only() -> None:
    human, _ = load_real("wmt20_ende", system="Human-B.0")
    machine, _ = load_real("wmt20_ende", system="OPPO.1535")
    assert "COMET-QE" in machine.metrics and "COMET-QE" not in human.metrics
    assert set(human.metrics) < set(machine.metrics)
    assert np.array_equal(human.ids, machine.ids)
    assert machine.orientation["target_length"] == 0 and machine.orientation["COMET"] == 1


@needs_data
def test_one_rater_and_other_human_scores() -> None:
    pool, gold = load_real("ted_ende", system="Nemo", rater="rater1")
    table = real_frame("ted_ende")
    part = table[(table["system"] == "Nemo") & (table["rater"] == "rater1")]
    assert len(pool) == len(part) < 529
    assert np.array_equal(gold, part["mqm"])
    _, binary = load_real("frank", system="bart")
    _, share = load_real("frank", system="bart", human="factuality")
    assert set(binary) == {0.0, 1.0}
    assert np.array_equal(binary, share == 1)


@needs_data
def test_unknown_names_are_explained() -> None:
    with pytest.raises(ValueError, match=r"unknown system of 'wmt20_ende' 'OPPO'.*Known: Human-B"):
        load_real("wmt20_ende", system="OPPO")
    with pytest.raises(ValueError, match="unknown rater of 'Nemo' in 'ted_ende' 'rater99'"):
        load_real("ted_ende", system="Nemo", rater="rater99")
    with pytest.raises(ValueError, match=r"unknown human score of 'frank' 'mqm'.*factuality"):
        load_real("frank", human="mqm")
    with pytest.raises(DataError, match="expected no rater, because the scores of 'wmt20_ende'"):
        load_real("wmt20_ende", rater="rater1")


def test_unknown_data_set() -> None:
    with pytest.raises(ValueError, match=r"unknown real data set 'wmt99'.*Known: frank, ted_ende"):
        load_real("wmt99")


def test_absent_folder_says_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FEWGOLD_DATA", str(tmp_path / "nowhere"))
    assert data_folder() is None
    with pytest.raises(
        FileNotFoundError, match=r"names '.*nowhere', which is no.*Set FEWGOLD_DATA"
    ):
        real_frame("frank")
    monkeypatch.setenv("FEWGOLD_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    with pytest.raises(FileNotFoundError, match=r"expected frank\.csv\.gz in the folder"):
        real_frame("frank")


def test_folder_beside_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("FEWGOLD_DATA", raising=False)
    folder = tmp_path / "shared" / "data"
    folder.mkdir(parents=True)
    (folder / "columns.json").write_text("{}")
    project = tmp_path / "project" / "deep"
    project.mkdir(parents=True)
    monkeypatch.chdir(project)
    assert data_folder() == folder


def test_several_ratings_of_a_segment_are_averaged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "columns.json").write_text(
        '{"ted_ende": {"columns": {"mqm": {"role": "human", "orientation": -1},'
        ' "length": {"orientation": 0}, "flat": {"orientation": 1}}}}'
    )
    pd.DataFrame(
        {
            "system": ["A", "A", "A", "B"],
            "is_human": 0,
            "doc_id": ["x", "x", "NA", "x"],
            "seg_id": [1, 1, 2, 1],
            "rater": ["r1", "r2", "r1", "r1"],
            "mqm": [1.0, 4.0, 0.0, 9.0],
            "length": [7, 7, 8, 7],
            "flat": 1.0,
        }
    ).to_csv(tmp_path / "ted_ende.csv.gz", index=False)
    monkeypatch.setenv("FEWGOLD_DATA", str(tmp_path))
    pool, gold = load_real("ted_ende")
    assert pool.ids.tolist() == ["seg0001", "seg0002"] and gold.tolist() == [2.5, 0.0]
    assert list(pool.metrics) == ["length"]
    assert pool.documents is not None and pool.documents.tolist() == ["x", "NA"]
    pool, gold = load_real("ted_ende", system="A", rater="r1")
    assert gold.tolist() == [1.0, 0.0]


# ------------------------------------------------------------------ submissions of metrics


@needs_data
def test_metric_submission_matches_the_table() -> None:
    read = read_metric_submission(raw("EQ_static.seg.score.gz"))
    assert len(read) == 55_852 and set(read["lp"]) == {"en-zh", "zh-en"}
    table = real_frame("wmt20_zhen").rename(columns={"doc_id": "doc"})
    both = table.merge(read[read["lp"] == "zh-en"], on=["system", "doc", "doc_seg_id"])
    assert len(both) == len(table)
    assert np.allclose(both["EQ_static"], both["score"], atol=1e-5)


def test_a_submission_of_another_shape_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "wrong.seg.score"
    path.write_text("m\tlp\tt\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"expected the 8 tab-separated columns.*got 3"):
        read_metric_submission(path)
    cells = ["m", "en-de", "t", "r", "A", "doc", "1", "0.5"]
    for place, wrong, sentence in (
        (6, "1.5", "whole numbers.*SEGID"),
        (7, "high", "numbers in.*'high'"),
    ):
        path.write_text("\t".join([*cells[:place], wrong, *cells[place + 1 :]]), encoding="utf-8")
        with pytest.raises(DataError, match=sentence):
            read_metric_submission(path)
