"""Trees of mt-metrics-eval."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from fewgold import formats
from fewgold.errors import DataError
from fewgold.formats import Names, Probe, Rating, Segment, Tasks, key, read_tree
from fewgold.formats.mtme import MtMetricsEval
from fewgold.pool import Pool

KEYS = [key(i, f"s{i}", "pool") for i in range(4)]


def put(root: Path, name: str, *lines: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "wmt99"
    put(root, "sources/en-de.txt", "One.", "Two.", "Three.")
    put(root, "documents/en-de.docs", "news a", "news a", "talk b")
    put(root, "references/en-de.refA.txt", "Eins.", "Zwei.", "Drei.")
    put(root, "system-outputs/en-de/sysA.txt", "Eis.", "", "Dreh.")
    put(root, "system-outputs/en-de/refA.txt", "Eins.", "Zwei.", "Drei.")
    put(root, "metric-scores/en-de/BLEU-refA.seg.score", "sysA 10", "sysA\t0", "sysA 5.5")
    put(root, "metric-scores/en-de/BLEU-refA.sys.score", "sysA 7")
    put(root, "metric-scores/en-de/QE-src.seg.score", *(f"{s} {i}" for s in ("refA", "sysA")
                                                        for i in (1, 2, 3)))  # fmt: skip
    put(root, "human-scores/en-de.mqm.seg.score", "sysA -1.5", "sysA None", "sysA 0",
        "refA 0", "refA 0", "refA -0.1")  # fmt: skip
    put(root, "human-scores/en-de.mqm.sys.score", "sysA -1")
    return root


# ------------------------------------------------------------------ reading


def test_human_scores(tree: Path) -> None:
    assert formats.recognise(tree) is formats.get("mt-metrics-eval")
    got = MtMetricsEval().read(tree)
    assert got.rows == 6 and got.blank == ("2",) and not got.rejected
    assert [(r.system, r.segment, r.score) for r in got.ratings] == [
        ("sysA", "1", -1.5), ("sysA", "3", 0.0), ("refA", "1", 0.0), ("refA", "2", 0.0),
        ("refA", "3", -0.1),
    ]  # fmt: skip
    one = tree / "human-scores" / "en-de.mqm.seg.score"
    assert formats.recognise(one) is formats.get("mt-metrics-eval")
    assert MtMetricsEval().read(one).ratings == got.ratings


def test_several_kinds_of_human_scores_need_a_name(tree: Path) -> None:
    put(tree, "human-scores/en-de.wmt-z.seg.score", *["sysA 1"] * 3)
    with pytest.raises(DataError, match=r"one kind of human.*got en-de.mqm, en-de.wmt-z. Name one"):
        MtMetricsEval().read(tree)
    for name in ("wmt-z", "en-de.wmt-z"):
        assert [r.score for r in MtMetricsEval().read(tree, Names(score=name)).ratings] == [1.0] * 3
    with pytest.raises(DataError, match=r"the human scores 'da' of segments.*got en-de.mqm"):
        MtMetricsEval().read(tree, Names(score="da"))


def test_raters_errors_are_weighed(tree: Path) -> None:
    def marked(*severities: str) -> str:
        errors = [{"start": 0, "end": 1, "category": "x", "severity": s} for s in severities]
        return json.dumps({"errors": errors})

    put(
        tree,
        "human-scores/en-de.mqm.rater1.seg.rating",
        f"sysA\t{marked('major', 'minor')}\tann",
        "sysA\tNone",
        f"sysA\t{marked()}",
        f"refA\t{marked('awful')}",
        "refA\t{oops",
        "refA",
    )
    got = MtMetricsEval().read(tree, Names(score="mqm.rater1"))
    assert got.rows == 6 and got.blank == ("2",)
    assert [(r.segment, r.score, r.rater) for r in got.ratings] == [
        ("1", 6.0, "ann"), ("3", 0.0, "mqm.rater1")
    ]  # fmt: skip
    assert got.ratings[0].details["errors"][0]["severity"] == "major"
    assert [r.place.split(", ")[1] for r in got.rejected] == ["line 4", "line 5", "line 6"]
    assert "expected the severities" in got.rejected[0].why


def test_errors_of_all_raters_where_there_is_nothing_else(tree: Path) -> None:
    (tree / "human-scores/en-de.mqm.seg.score").unlink()
    with pytest.raises(DataError, match=r"one kind of human scores of segments.*got none"):
        MtMetricsEval().read(tree)
    for name in ("r1", "r2"):
        put(tree, f"human-scores/en-de.{name}.seg.rating", *['sysA\t{"errors": []}'] * 3)
    assert {r.rater for r in MtMetricsEval().read(tree).ratings} == {"r1", "r2"}


def test_lines_whose_segment_cannot_be_told_are_rejected(tree: Path) -> None:
    put(tree, "human-scores/en-de.mqm.seg.score", "sysA 1", "sysA much", "sysA 3", "refA 1",
        "refA 2", "other 1", "", "sysA\0 1")  # fmt: skip
    got = MtMetricsEval().read(tree)
    assert got.rows == 8 and [r.segment for r in got.ratings] == ["1", "3"]
    why = [r.why for r in got.rejected]
    assert "got 'much'" in why[0]
    assert why[1] == why[2] and "expected 3 lines of refA, one per segment, got 2" in why[1]
    assert "no system 'other'" in why[3] and "got 0 values" in why[4] and "NUL" in why[5]


def test_no_tree(tmp_path: Path, tree: Path) -> None:
    with pytest.raises(DataError, match="holds several test sets: wmt99"):
        read_tree(tmp_path)
    with pytest.raises(DataError, match="is not an mt-metrics-eval tree"):
        MtMetricsEval().read(tree / "sources")
    assert not MtMetricsEval()._recognises(Probe(tmp_path))
    assert not MtMetricsEval()._recognises(Probe(put(tmp_path, "x.seg.score", "sysA 1")))
    assert not MtMetricsEval()._recognises(
        Probe(put(tree, "human-scores/en-de.x.sys.score", "A 1"))
    )
    with pytest.raises(DataError, match="no columns for ids"):
        MtMetricsEval().read(tree, Names(id="x"))


def test_newer_trees_keep_texts_in_json_lines(tree: Path) -> None:
    (tree / "sources/en-de.txt").unlink()
    put(tree, "sources/en-de.jsonl", *(json.dumps({"source": s}) for s in ("a\nb", "c", "d")))
    put(tree, "system-outputs/en-de/new.jsonl", *(json.dumps({"hypothesis": s}) for s in "xyz"))
    frame = read_tree(tree, system="new")
    assert frame["source"].tolist() == ["a\nb", "c", "d"] and frame["output"].tolist() == [*"xyz"]
    put(tree, "system-outputs/en-de/new.jsonl", '{"hypothesis": "x"}', "[1]", "{}")
    with pytest.raises(DataError, match="line 2: expected a JSON object"):
        read_tree(tree, system="new")
    put(tree, "system-outputs/en-de/new.jsonl", '{"target": "x"}')
    with pytest.raises(DataError, match="line 1: expected the field 'hypothesis'"):
        read_tree(tree, system="new")


# ------------------------------------------------------------------ tables and lists


def test_table_of_one_system_makes_a_pool(tree: Path) -> None:
    frame = read_tree(tree, system="sysA")
    assert list(frame) == ["id", "document", "domain", "position", "system", "source", "output",
                           "reference", "BLEU-refA", "QE-src", "human_mqm"]  # fmt: skip
    assert frame["id"].tolist() == ["1", "2", "3"]
    assert frame["position"].tolist() == [1, 2, 1] and frame["domain"].tolist()[2] == "talk"
    assert frame["output"].tolist() == ["Eis.", "", "Dreh."]
    assert frame["BLEU-refA"].tolist() == [10.0, 0.0, 5.5]
    assert frame["human_mqm"].tolist()[::2] == [-1.5, 0.0] and math.isnan(frame["human_mqm"][1])
    pool = Pool.from_table(
        frame, id="id", document="document", metrics=["BLEU-refA", "QE-src"], system="system"
    )
    assert len(pool) == 3 and list(pool.metrics) == ["BLEU-refA", "QE-src"]


def test_table_of_all_systems(tree: Path) -> None:
    frame = read_tree(tree, pair="en-de", human=())
    assert frame["id"].tolist() == ["refA:1", "refA:2", "refA:3", "sysA:1", "sysA:2", "sysA:3"]
    assert "human_mqm" not in frame
    assert frame["BLEU-refA"].isna().tolist() == [True] * 3 + [False] * 3
    put(tree, "references/en-de.refB.txt", *"abc")
    assert {"reference_refA", "reference_refB"} <= set(read_tree(tree, human="mqm"))


def test_tables_explain_what_is_missing(tree: Path) -> None:
    with pytest.raises(ValueError, match=r"unknown language pair 'de-en'.*Known: en-de"):
        read_tree(tree, pair="de-en")
    with pytest.raises(ValueError, match=r"unknown system of en-de 'sysB'.*Known: refA, sysA"):
        read_tree(tree, system="sysB")
    with pytest.raises(ValueError, match=r"unknown human score of en-de 'da'.*Known: mqm"):
        read_tree(tree, human="da")
    put(tree, "sources/en-cs.txt", "One.")
    with pytest.raises(DataError, match=r"one language pair.*en-cs, en-de. Add it .*wmt99/en-cs\."):
        read_tree(tree)
    put(tree, "metric-scores/en-de/BLEU-refA.seg.score", "sysA 10")
    with pytest.raises(DataError, match=r"BLEU-refA.seg.score, line 1: expected 3 lines of sysA"):
        read_tree(tree, pair="en-de")
    put(tree, "documents/en-de.docs", "news a", "b")
    with pytest.raises(DataError, match=r"line 2: expected a domain and the name of a document"):
        read_tree(tree, pair="en-de")


def test_a_path_may_end_with_a_language_pair(tree: Path) -> None:
    put(tree, "sources/en-cs.txt", "One.")
    put(tree, "system-outputs/en-cs/sysA.txt", "Jeden.")
    put(tree, "human-scores/en-cs.mqm.seg.score", "sysA -7")
    one = tree / "en-de"
    assert formats.recognise(one) is formats.get("mt-metrics-eval")
    assert read_tree(one).equals(read_tree(tree, pair="en-de"))
    found = formats.rated_table(one)
    assert found is not None and len(found.frame) == 6
    assert [r.score for r in MtMetricsEval().read(one).ratings] == [-1.5, 0.0, 0.0, 0.0, -0.1]
    with pytest.raises(ValueError, match="unknown language pair 'en-cs'"):
        read_tree(one, pair="en-cs")
    assert formats.rated_table(tree / "en-xx") is None
    (tree / "en-de").mkdir()  # a folder of that name is a folder
    with pytest.raises(DataError, match="not an mt-metrics-eval tree"):
        read_tree(tree / "en-de")


# ------------------------------------------------------------------ there and back


def tasks() -> Tasks:
    texts = [("Eins.", "One."), ("Zwei", "Two\nlines"), ("Drei", ""), ("Vier", "Four")]
    return Tasks(
        tuple(
            Segment(KEYS[i], f"s{i}", {"source": s, "output": o}, "d 1" if i < 3 else "", i + 1,
                    rate=i != 1)
            for i, (s, o) in enumerate(texts)
        ),
        name="de-en",
    )  # fmt: skip


def test_tasks_come_back_blank(tmp_path: Path) -> None:
    root = tmp_path / "out"
    MtMetricsEval().write_tasks(tasks(), root)
    assert formats.recognise(root) is formats.get("mt-metrics-eval")
    got = MtMetricsEval().read(root)
    assert got.blank == (KEYS[0], KEYS[2], KEYS[3]) and got.context == 1 and got.rows == 4
    frame = read_tree(root)
    assert frame["output"].tolist() == ["One.", "Two lines", "", "Four"]
    assert frame["document"].tolist() == ["d_1"] * 3 + ["segment_4"]
    with pytest.raises(DataError, match="already exists"):
        MtMetricsEval().write_tasks(tasks(), root)
    with pytest.raises(DataError, match="no folder"):
        MtMetricsEval().write_tasks(tasks(), tmp_path / "no" / "out")


def test_ratings_round_trip(tmp_path: Path) -> None:
    given = [
        Rating(KEYS[0], 1 / 3, "ann/1", system="A"),
        Rating(KEYS[2], 2.0, "ann/1", system="A"),
        Rating(KEYS[2], -1.5, "ann 1", system="A"),
    ]
    root = tmp_path / "out"
    MtMetricsEval().write_ratings(tasks(), given, root)
    got = MtMetricsEval().read(root)
    assert list(got.ratings) == given
    # Lines of the second rater that the first one rated need no second answer.
    assert got.rows == 8 and got.blank == (KEYS[3], KEYS[3]) and got.context == 3
    assert sorted(p.name for p in (root / "human-scores").iterdir()) == [
        "de-en.score.ann_1.seg.score", "de-en.score.ann_1_2.seg.score"
    ]  # fmt: skip


def test_what_cannot_be_written(tmp_path: Path) -> None:
    root = tmp_path / "out"
    twice = [Rating(KEYS[0], 1.0, "ann"), Rating(KEYS[0], 2.0, "ann")]
    with pytest.raises(DataError, match=r"'ann' rated .* twice"):
        MtMetricsEval().write_ratings(tasks(), twice, root)
    two = [Rating(KEYS[0], 1.0, system="A"), Rating(KEYS[0], 2.0, system="B")]
    with pytest.raises(DataError, match=r"ratings of one system.*got 2: A, B"):
        MtMetricsEval().write_ratings(tasks(), two, root)
    for system in ("A B", "../A"):
        with pytest.raises(DataError, match="cannot be"):
            MtMetricsEval().write_ratings(tasks(), [Rating(KEYS[0], 1.0, system=system)], root)
    with pytest.raises(DataError, match="finite"):
        MtMetricsEval().write_ratings(tasks(), [Rating(KEYS[0], math.nan)], root)
    assert not root.exists()


def test_a_torn_note_is_told_about(tmp_path: Path) -> None:
    root = tmp_path / "out"
    MtMetricsEval().write_tasks(tasks(), root)
    (root / "fewgold.json").write_text("{")
    with pytest.raises(DataError, match="does not match the files next to it"):
        MtMetricsEval().read(root)
