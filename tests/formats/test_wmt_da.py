"""Files of WMT direct assessment."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from fewgold import formats
from fewgold.datasets import data_folder, real_frame
from fewgold.errors import DataError
from fewgold.formats import Names, Probe, Rating, Segment, Tasks, key
from fewgold.formats.means import WmtDa

HEADER = "SYS SID RAW.SCR Z.SCR N "
KEYS = [key(i, f"s{i}", "pool") for i in range(3)]
TASKS = Tasks(
    tuple(Segment(KEYS[i], f"s{i}", {"output": "x"}, "d", i + 1, rate=i != 1) for i in range(3))
)


def put(tmp_path: Path, *lines: str, packed: bool = False) -> Path:
    path = tmp_path / "da.csv"
    data = ("\ufeff" + "\r\n".join(lines) + "\r\n").encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_means_and_what_is_wrong(tmp_path: Path, packed: bool) -> None:
    lines = [
        HEADER, "A d_0 71.5 -0.25 2 ", "A d_1\tNA NA 0", "", "A d_2 60 NA 1", "A d_3 high 0.1 1",
        "A d_4 1 1", "A d_5 10 0.1 1.5", "A d_6 10 0.1 0", "A d_7 1\0 0 1", "A d_8 NA 0.5 2",
    ]  # fmt: skip
    path = put(tmp_path, *lines, packed=packed)
    assert formats.recognise(path) is formats.get("wmt-da")
    got = WmtDa().read(path)
    assert got.rows == 9 and got.blank == ("d_1", "d_8")
    assert got.ratings == (
        Rating("d_0", 71.5, system="A", details={"raw": 71.5, "z": -0.25, "n": 2}),
        Rating("d_2", 60.0, system="A", details={"raw": 60.0, "n": 1}),
    )
    assert [r.place for r in got.rejected] == [f"line {i}" for i in (6, 7, 8, 9, 10)]
    for rejected, part in zip(
        got.rejected,
        ("as RAW.SCR, got 'high'", "expected 5 values", "whole number", "nobody gave it", "NUL"),
        strict=True,
    ):
        assert part in rejected.why
    standard = WmtDa().read(path, Names(score="Z.SCR"))
    assert [(r.segment, r.score) for r in standard.ratings] == [("d_0", -0.25), ("d_8", 0.5)]
    assert standard.blank == ("d_1", "d_2")


def test_other_files(tmp_path: Path) -> None:
    path = put(tmp_path, "SYS SID RAW.SCR N", "A d 1 1")
    assert not WmtDa()._recognises(Probe(path))
    with pytest.raises(DataError, match=r"\(no Z.SCR\)"):
        WmtDa().read(path)
    path = put(tmp_path, HEADER)
    assert WmtDa().read(path).rows == 0
    with pytest.raises(ValueError, match=r"unknown score column 'raw'.*Known: RAW.SCR, Z.SCR"):
        WmtDa().read(path, Names(score="raw"))
    with pytest.raises(DataError, match="have only the columns"):
        WmtDa().read(path, Names(rater="x"))


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "da.csv"
    given = [
        Rating(KEYS[0], 1 / 3, system="A", details={"raw": 1 / 3, "z": -1e-7, "n": 3}),
        Rating("s2", 80.0, details={"raw": 80.0, "n": 1}),
    ]
    WmtDa().write_ratings(TASKS, given, path)
    got = WmtDa().read(path)
    assert list(got.ratings) == given and not got.blank
    WmtDa().write_tasks(TASKS, path)
    assert WmtDa().read(path).blank == (KEYS[0], KEYS[2])


def test_raters_are_averaged(tmp_path: Path) -> None:
    path = tmp_path / "da.csv"
    given = [Rating(KEYS[0], 10.0, "a"), Rating(KEYS[0], 40.0, "b", details={"n": 2})]
    WmtDa().write_ratings(TASKS, given, path)
    got = WmtDa().read(path)
    assert got.ratings == (Rating(KEYS[0], 30.0, details={"raw": 30.0, "n": 3}),)
    assert got.blank == (KEYS[2],)
    z_only = WmtDa().read(put(tmp_path, HEADER, f"A {KEYS[0]} NA 0.5 2"), Names(score="Z.SCR"))
    WmtDa().write_ratings(TASKS, z_only.ratings, path)
    assert f"A {KEYS[0]} NA 0.5 2\n" in path.read_text()


@pytest.mark.skipif(
    data_folder() is None, reason="no folder with real data; set FEWGOLD_DATA to have them tested"
)
def test_published_file() -> None:
    folder = data_folder()
    assert folder is not None
    path = folder / "raw" / "ad-seg-scores-en-de.csv.gz"
    assert formats.recognise(path) is formats.get("wmt-da")
    got = WmtDa().read(path)
    assert got.used == got.rows == 11_360
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")[1:]
    cells = [line.split() for line in lines if line.strip()]
    assert [r.score for r in got.ratings] == [float(c[2]) for c in cells]
    assert [r.details["z"] for r in got.ratings] == [float(c[3]) for c in cells]
    # Shifted by one segment, these and the MQM scores of the same outputs would hardly agree.
    table = real_frame("wmt20_ende")
    keys = zip(table["system"], table["doc_id"], table["doc_seg_id"], strict=True)
    mqm = dict(zip(keys, table["mqm"], strict=True))
    near = {}
    for shift in (0, 1):
        both = []
        for r in got.ratings:
            document, _, place = r.segment.rpartition("_")  # which counts from 0
            score = mqm.get((r.system, document, int(place) + 1 - shift))
            both += [] if score is None else [(r.details["z"], score)]
        near[shift] = np.corrcoef(np.array(both).T)[0, 1]
    assert near[0] < -0.3 < near[1]
