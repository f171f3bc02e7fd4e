"""Tables of real data from clones: here of small made-up repositories of the same shape."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold import datasets
from fewgold.cli import app
from fewgold.datasets import build as module
from fewgold.datasets.build import build, checksums
from fewgold.errors import DataError, UnknownNameError

SYSTEMS = ("Human-A.0", "Human-B.0", "Good.1", "Bad.2")
TEXTS = [("ein Hund", "a dog"), ("eine Katze", "a cat"), ("das Haus brennt", "the house burns")]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    """Six repositories, three segments each."""
    root = tmp_path / "clones"
    wmt20(root)
    mqm = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment\n"
    talk = [
        ("A", "r1", "a <v>dogg</v>", "Accuracy/Mistranslation", "Major"),
        ("A", "r1", "a dogg", "Fluency/Punctuation", "Minor"),
        ("A", "r1", "a dogg", "Style/Awkward", "minor"),
        ("B", "r2", "a dog", "No-error", "no-error"),
        ("ref", "r2", 'a "dog', "Non-translation!", "Major"),
    ]
    lines = [f"{s}\ttalk.1\t1\t1\t{r}\tein Hund\t{t}\t{c}\t{v}\t\n" for s, r, t, c, v in talk]
    google = root / "wmt-mqm-human-evaluation"
    write(google / "ted/ende/mqm_ted_ende.tsv", mqm + "".join(lines))
    for pair, reference in (("ende", "ref-C"), ("zhen", "ref-B")):
        systems = ("X", reference, "ref-A")
        rows = [
            f"{s}\tdoc\t{k}\t{k}\tr\t{src}\t{mt}{'!' * (s != reference)}\tNo-error\tNo-error\t\n"
            for s in systems for k, (src, mt) in enumerate(TEXTS, 1)
        ]  # fmt: skip
        write(google / f"newstest2021/{pair}/mqm_newstest2021_{pair}.tsv", mqm + "".join(rows))
        means = [f"{s}\t{-0.5 * k:f} {k}\n" for s in systems for k in (1, 2, 3)]
        head = "system mqm_avg_score seg_id\n"
        write(
            google / f"newstest2021/{pair}/mqm_newstest2021_{pair}.avg_seg_scores.tsv",
            head + "".join(means) + "X\tNone 4\n",
        )
    people = [
        {"hash": "h", "model_name": m, "dataset": "cnndm", "Factuality": f, "split": "test"}
        for m, f in (("bart", 1.0), ("pgn", 0.5))
    ]
    write(root / "frank/data/human_annotations.json", json.dumps(people))
    metrics = [{"hash": "h", "model_name": "pgn", "Rouge 1": 0.25, "FactCC": 1.0}]
    write(root / "frank/data/baseline_factuality_metrics_outputs.json", json.dumps(metrics))
    names = ("naturalness", "coherence", "engagingness", "groundedness", "understandability")
    both = dict.fromkeys((*names, "overall"), 1.5)
    items = [
        {
            "source": f"q{k}", "context": "c", "system_id": who, "system_output": "two words",
            "scores": both, "predict_scores": both,
        }
        for k in (1, 2) for who in ("New Human Generated", "Argmax Decoding")
    ]  # fmt: skip
    write(
        root / "UniEval/reproduce/unieval_predict/dialogue/topical_chat_result.json",
        json.dumps(items),
    )
    return root


def wmt20(root: Path) -> None:
    """The four repositories that WMT20 comes from."""
    google, metrics = root / "wmt-mqm-human-evaluation", root / "wmt20-metrics"
    for pair, (wmt, ua) in module._PAIRS.items():
        means = [f"{s} {-k:f} {k}\n" for s in SYSTEMS for k in (1, 2, 3)]
        write(
            google / f"newstest2020/{pair}/mqm_newstest2020_{pair}.avg_seg_scores.tsv",
            "system mqm_avg_score seg_id\n" + "".join(means),
        )
        details = [f"{k}\tnewstest2020\t{wmt}\tdoc{(k + 1) // 2}\t{2 - k % 2}\n" for k in (1, 2, 3)]
        write(metrics / f"input/details/{wmt}.txt", "".join(details))
        for system in SYSTEMS:
            for setup, shift in (("original_comet_setup", 0.0), ("original_comet_setup_qe", 5.0)):
                told = [
                    {"src": s, "mt": f"{t} {system}", "ref": t, "dp_runs_scores": [shift + k]}
                    for k, (s, t) in enumerate(TEXTS)
                ]
                name = system.rsplit(".", 1)[0]
                folder = f"evaluation/data/model_outputs/wmt20/{ua}/newstest2020/{setup}"
                write(root / "UA_COMET" / folder / f"system_{name}.json", json.dumps(told))
            for metric in (*module._BILLBOARD[pair], "wmt20-comet-qe-da"):
                rows = [f"{system},doc1::{k},0,{metric},{k / 8}\n" for k in (1, 2)]
                write(
                    root / f"billboard/results/wmt20-{wmt}/{system}||{metric}.csv",
                    "SYS,seg_id,set_id,metric,score\n" + "".join(rows),
                )
        for kind, names in module._SUBMITTED[pair].items():
            for metric in names:
                refs = module._REFSET.get((pair, metric), "newstest2020")
                path = metrics / f"final-metric-scores/{kind}/{metric}.seg.score.gz"
                before = gzip.decompress(path.read_bytes()).decode() if path.exists() else ""
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = [
                    f"{metric}\t{wmt}\tnewstest2020\t{r}\t{s}\tdoc2\t1\t{v}\n"
                    for s in SYSTEMS for r, v in ((refs, 0.75), ("other", 9))
                ]  # fmt: skip
                path.write_bytes(gzip.compress((before + "".join(lines)).encode()))


def test_every_table_is_made_and_read(
    clones: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sacrebleu")
    made = {one.name: one for one in build(tmp_path / "data", clones)}
    assert list(made) == list(datasets.real.HUMAN_SCORE)
    assert {name: one.rows for name, one in made.items()} == {
        "wmt20_ende": 9, "wmt20_zhen": 9, "wmt21_ende": 6, "wmt21_zhen": 6, "ted_ende": 3,
        "frank": 2, "topicalchat": 4,
    }  # fmt: skip
    missing = {name: set(one.missing) for name, one in made.items()}
    seeds = {"COMET_ens4"}
    assert missing == {n: seeds if n.startswith("wmt20") else set() for n in made}
    assert not made["frank"].verified and "factuality" in made["frank"].different
    monkeypatch.setenv("FEWGOLD_DATA", str(tmp_path / "data"))
    for name in made:
        pool, gold = datasets.load_real(name)
        assert len(pool) == len(gold)
    talk = datasets.real_frame("ted_ende").set_index("system")
    assert talk["mqm"].tolist() == [6.1, 0.0, 25.0]
    assert talk["n_errors"].tolist() == [3, 0, 1] and talk["n_major"].tolist() == [1, 0, 1]
    assert talk["target_chars"].tolist() == [6, 5, 6]  # span marks are no text, quotes are
    assert talk.loc["A", "sb_chrF"] < talk.loc["B", "sb_chrF"] and talk["sb_chrF"].isna()["ref"]
    news = datasets.real_frame("wmt20_ende")
    assert set(news["system"]) == {"Human-B.0", "Good.1", "Bad.2"}
    good = news[news["system"] == "Good.1"]
    assert good["mqm"].tolist() == [1, 2, 3] and good["doc_id"].tolist() == ["doc1", "doc1", "doc2"]
    assert good["COMET"].tolist() == [0, 1, 2] and good["UA-COMET-QE"].tolist() == [5, 6, 7]
    assert good["YiSi-2"].tolist()[2] == 0.75 and good["YiSi-2"].isna().sum() == 2
    assert good["bb_TER"].tolist()[:2] == [0.125, 0.25]
    chat = datasets.real_frame("topicalchat")
    assert chat["doc_id"].tolist() == ["ctx00"] * 2 + ["ctx01"] * 2
    year = datasets.real_frame("wmt21_ende")
    assert set(year["system"]) == {"X", "ref-A"} and len(year) == 6  # None was not rated
    assert (year["sb_chrF_multiref"] > 0).all()


def test_what_is_missing_is_told(clones: Path, tmp_path: Path) -> None:
    (clones / "UniEval").rename(clones / "elsewhere")
    (clones / "frank/data/baseline_factuality_metrics_outputs.json").unlink()
    chat, frank = build(tmp_path, clones, ["topicalchat", "frank"])
    assert chat.rows == 0 and "github.com/maszhongming/UniEval" in chat.missing["all columns"]
    assert frank.rows == 2 and len(frank.missing) == 15
    assert set(frank.missing.values()) == {
        "file frank/data/baseline_factuality_metrics_outputs.json"
    }


def test_what_it_refuses(clones: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        build(tmp_path, tmp_path / "nowhere")
    with pytest.raises(DataError, match="holds none of the repositories"):
        build(tmp_path, tmp_path)
    with pytest.raises(UnknownNameError, match="real data set 'franc'"):
        build(tmp_path, clones, "franc")


def test_checksums_do_not_depend_on_the_order_of_rows() -> None:
    frame = pd.DataFrame({"doc_id": list("abc"), "system": "s", "x": [1.0, 2.0, float("nan")]})
    assert checksums(frame) == checksums(frame.iloc[::-1])
    other = checksums(frame.assign(x=[1.0, 2.00001, float("nan")]))
    assert other["doc_id"] == checksums(frame)["doc_id"] and other["x"] != checksums(frame)["x"]


def test_shared_tables_have_the_checksums() -> None:
    if datasets.data_folder() is None:
        pytest.skip("the public ratings are not there; set FEWGOLD_DATA")
    expected = json.loads(module._EXPECTED.read_text(encoding="utf-8"))
    for name in ("frank", "topicalchat"):
        frame = datasets.real_frame(name)
        assert checksums(frame) == expected[name]["columns"]
        assert len(frame) == expected[name]["rows"]


def test_command(clones: Path, tmp_path: Path) -> None:
    words = ["datasets", "build", str(tmp_path / "out"), "--from", str(clones)]

    def run(*more: str) -> Any:
        return CliRunner().invoke(app, [*words, *more])

    done = run("--only", "topicalchat", "--json")
    assert done.exit_code == 0, done.output
    (table,) = json.loads(done.stdout)["tables"]
    assert table["table"] == "topicalchat" and table["rows"] == 4
    assert run("--only", "topicalchat", "--fail").exit_code == 1
    (clones / "UniEval").rename(clones / "elsewhere")
    text = run("--only", "topicalchat,frank").stdout
    assert "topicalchat: not made" in text and "FEWGOLD_DATA" in text
    assert "git clone https://github.com/maszhongming/UniEval" in text
    assert run("--only", "x").exit_code == 3
