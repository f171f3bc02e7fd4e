"""Campaigns of several systems on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from fewgold.formats import Rating, names

Run = Callable[..., Any]
SYSTEMS = {"nightowl": 1.0, "skylark": 2.5, "kingfisher": 6.0}
LIMITS = ("--limits", "0,25", "--lower-is-better", "--seed", 3)


def outputs(n: int = 60) -> pd.DataFrame:
    """Outputs of three systems with metrics and, to be left out, what people said."""
    rng = np.random.default_rng(2)
    rows = []
    for system, errors in SYSTEMS.items():
        for i in range(n):
            quality = rng.normal()
            rows.append(
                {
                    "segment": f"{i:03d}", "doc": f"d{i // 5}", "system": system,
                    "engine": f"engine of {system}", "source": f"Satz {i}",
                    "output": f"sentence {rng.integers(10**6)}", "comet": quality,
                    "human": round(float(np.clip(errors - quality + rng.normal(), 0, 25)), 2),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def systems(folder: Path) -> pd.DataFrame:
    made = outputs()
    made.to_csv("outputs.csv", index=False)
    return made


def rate(place: str, table: pd.DataFrame, count: int | None = None, rater: str = "") -> None:
    both = zip(table["system"], table["segment"], strict=True)
    gold = dict(zip((f"{s}:{i}" for s, i in both), table["human"], strict=True))
    with Campaign(place) as study:
        for i in study.unrated[:count]:
            errors = [{"category": "Style/Awkward", "severity": "Minor"}] * int(gold[i])
            study.add([Rating(i, gold[i], rater, details={"errors": errors})])


def test_from_a_table_of_systems_to_a_ranking(run: Run, systems: pd.DataFrame) -> None:
    begun = run("init", "study", "outputs.csv", "--system", "system", *LIMITS,
                "--texts", "engine,source,output")  # fmt: skip
    assert "3 (nightowl, skylark, kingfisher), all on the same segments" in begun.stdout
    assert "'engine' reveals the system of an output" in begun.stderr
    chosen = run("select", "study", "--budget", 20, "-o", "to_rate.csv").stdout
    assert "Chose 20 of 60 segments" in chosen and "60: those of 3 systems" in chosen
    rate("study", systems, 50)
    status = run("status", "study").stdout
    assert "50 of 60 chosen outputs rated" in status and "nightowl" in status
    assert "have no answer, first" in run("compare", "study", code=3).stderr
    assert "rank" in run("compare", "study", "--rated-only").stdout
    rate("study", systems)
    found = json.loads(run("compare", "study", "--json").stdout)
    assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)
    assert found["n"] == 20 and found["pool_size"] == 60 and not found["higher_is_better"]
    assert len(found["needed"]) == sum(not row["significant"] for row in found["differences"])
    each = json.loads(run("estimate", "study", "--json").stdout)
    assert [row["system"] for row in each["systems"]] == list(SYSTEMS)
    one = json.loads(run("estimate", "study", "--system", "skylark", "--json").stdout)
    assert one["value"] == each["systems"][1]["value"] and one["n"] == 20
    assert "Differences are more precise" in run("estimate", "study").stdout
    more = json.loads(run("select", "study", "--more", 10, "--json").stdout)
    assert (more["n"], more["outputs"], more["sampled"]) == (10, 30, 30)
    rate("study", systems)
    assert json.loads(run("compare", "study", "--waves", 1, "--json").stdout)["n"] == 20
    assert json.loads(run("compare", "study", "--json").stdout)["n"] == 30
    told = json.loads(run("status", "study", "--json").stdout)
    assert [w["n"] for w in told["waves"]] == [60, 30] and len(told["systems"]) == 3


def test_reports(run: Run, systems: pd.DataFrame) -> None:
    run("init", "study", "outputs.csv", *LIMITS)
    run("select", "study", "--budget", 20)
    rate("study", systems)
    run("report", "study", "-o", "all.html")
    page = Path("all.html").read_text(encoding="utf-8")
    assert "3 systems compared" in page and page.count("<svg") == 3
    run("report", "study", "-o", "all.md")
    text = Path("all.md").read_text(encoding="utf-8")
    assert "## Ranking" in text and "fewgold compare study" in text
    run("report", "study", "--system", "skylark", "-o", "one.md")
    one = Path("one.md").read_text(encoding="utf-8")
    assert "study: skylark" in one and "fewgold estimate study --system skylark" in one
    assert "takes no estimator" in run(
        "report", "study", "--estimator", "mean", "-o", "x.md", code=3).stderr  # fmt: skip


def test_a_sample_of_its_own_for_each(run: Run, systems: pd.DataFrame) -> None:
    run("init", "study", "outputs.csv", "--unshared", *LIMITS)
    chosen = run("select", "study", "--budget", 15).stdout
    assert "Chose 45 of 180 outputs, separately for each of 3 systems" in chosen
    rate("study", systems)
    found = json.loads(run("compare", "study", "--json").stdout)
    assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)
    assert {row["basis"] for row in found["differences"]} <= {"partly", "separate"}


def test_one_of_several_systems(run: Run, systems: pd.DataFrame) -> None:
    run("init", "study", "outputs.csv", "--only-system", "skylark", *LIMITS)
    with Campaign("study") as study:
        assert not study.systems and len(study.pool) == 60
        assert study.pool.ids[0] == "000" and study.settings.system == "skylark"
    wrong = run("init", "other", "outputs.csv", "--only-system", "magpie", *LIMITS, code=3)
    assert "unknown system 'magpie'" in wrong.stderr


def test_what_needs_a_system(run: Run, systems: pd.DataFrame) -> None:
    run("init", "study", "outputs.csv", *LIMITS)
    run("select", "study", "--budget", 10)
    rate("study", systems)
    assert "name one with --system" in run("estimate", "study", "--share", "<=1", code=2).stderr
    assert "unknown system" in run("estimate", "study", "--system", "magpie", code=3).stderr
    assert "for campaigns" in run("estimate", "outputs.csv", "--system", "x", code=2).stderr
    assert "cannot be given with a campaign" in run(
        "compare", "study", "--human", "human", code=2).stderr  # fmt: skip
    systems[systems["system"] == "skylark"].to_csv("one.csv", index=False)
    assert "--unshared is for tables of several systems" in run(
        "init", "other", "one.csv", "--unshared", *LIMITS, code=2).stderr  # fmt: skip


@pytest.mark.parametrize("form", names())
def test_every_format_brings_answers_back(
    run: Run, systems: pd.DataFrame, tmp_path: Path, form: str
) -> None:
    """Ratings written in any format and read into a fresh campaign give the same comparison."""
    from fewgold import formats

    for name in ("study", "again"):
        run("init", name, "outputs.csv", *LIMITS)
        run("select", name, "--budget", 12)
    if form == "mqm":  # whose files hold errors, and no scores
        systems["human"] = systems["human"].round()
    rate("study", systems, rater="ann")
    out = tmp_path / f"answers{formats.get(form).suffixes[0]}"
    run("export", "study", "--what", "ratings", "--to", form, "-o", out)
    receipt = json.loads(run("import", "again", out, "--from", form, "--json").stdout)
    assert receipt["stored"] == 36, receipt
    with Campaign("study") as one, Campaign("again") as two:
        first, second = one.compare(), two.compare()
        assert np.allclose(first.pairs.value, second.pairs.value, atol=1e-9)


def test_a_tree_of_all_systems(run: Run, systems: pd.DataFrame) -> None:
    """Ratings written as a tree of mt-metrics-eval have each segment on the same line for all."""
    from fewgold.formats import read_tree

    run("init", "study", "outputs.csv", *LIMITS)
    run("select", "study", "--budget", 12)
    rate("study", systems, rater="ann")
    run("export", "study", "--what", "ratings", "--to", "mt-metrics-eval", "-o", "tree")
    tree = read_tree("tree")
    assert tree["human_score.ann"].notna().sum() == 36
    both = systems.set_index(["system", "output"])
    for row in tree.dropna(subset="human_score.ann").to_dict("records"):
        own = both.loc[(row["system"], row["output"])]
        assert own["human"] == row["human_score.ann"] and own["source"] == row["source"]
    shared = tree.groupby(tree["id"].str.split(":").str[1])["source"].nunique()
    assert (shared == 1).all()


def write_tree(root: Path, systems: pd.DataFrame, human: bool) -> None:
    """The outputs as a tree of mt-metrics-eval, with a metric whose name sounds like people's."""
    first = systems[systems["system"] == "nightowl"]
    files = {
        "sources/en-de.txt": first["source"], "documents/en-de.docs": "all " + first["doc"],
        "metric-scores/en-de/QualityScore-src.seg.score": systems["system"] + "\t"
        + systems["comet"].astype(str),
    }  # fmt: skip
    for name, own in systems.groupby("system"):
        files[f"system-outputs/en-de/{name}.txt"] = own["output"]
    if human:
        told = systems["system"] + "\t" + (-systems["human"]).astype(str)
        files["human-scores/en-de.mqm.seg.score"] = files["human-scores/en-de.da.seg.score"] = told
    for path, lines in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize("human", [False, True])
def test_a_tree_is_taken_as_it_is(run: Run, systems: pd.DataFrame, human: bool) -> None:
    write_tree(Path("tree"), systems, human)
    looked = json.loads(run("doctor", "tree", "--json").stdout)
    assert looked["kind"] == "tree" and not [
        f for f in looked["findings"] if f["severity"] == "error"
    ]
    assert looked["facts"]["metrics"] == {"metric.QualityScore-src": "direction unknown"}
    chosen = run("select", "tree", "--shared", "--budget", 10, "-o", "sheet.csv")
    assert "one row for each of 3 systems, 30 ratings" in chosen.stdout
    run("init", "study", "tree", *LIMITS)
    with Campaign("study") as study:
        assert set(study.systems) == set(SYSTEMS) and len(study.store.frame) == 60
        assert list(study.pool.metrics) == ["metric.QualityScore-src"]
        assert list(study.pool.texts) == ["source", "output"]
    if human:
        found = json.loads(run("compare", "tree", "--human", "human_mqm", "--json").stdout)
        assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)
    else:  # a metric is never taken for what people said
        assert "human" in run("compare", "tree", code=3).stderr


@pytest.mark.parametrize("human", [False, True])
def test_one_language_pair_of_a_tree(run: Run, systems: pd.DataFrame, human: bool) -> None:
    """Published trees have many pairs: the path names one, in every command."""
    write_tree(Path("tree"), systems, human)
    for path in [p for p in Path("tree").rglob("*en-de*") if p.is_file()]:
        path.with_name(path.name.replace("en-de", "en-cs")).write_bytes(path.read_bytes())
    told = run("doctor", "tree", code=3).stdout
    assert "2 language pairs" in told and "fewgold doctor tree/en-cs" in told
    for words in (
        ("select", "tree", "--shared", "--budget", 9, "-o", "a.csv"),
        ("compare", "tree"),
    ):
        assert "Add it to the path: tree/en-cs" in run(*words, code=3).stderr
    looked = json.loads(run("doctor", "tree/en-de", "--json").stdout)
    assert looked["facts"]["systems"].startswith("3 (column system)")
    run("select", "tree/en-de", "--shared", "--budget", 20, "-o", "sheet.csv")
    sheet = pd.read_csv("sheet.csv", keep_default_na=False)
    known = systems.set_index("output")["human"]
    sheet.assign(score=sheet["output"].map(known)).to_csv("sheet.csv", index=False)
    run("compare", "sheet.csv")  # opens the tree again
    run("init", "study", "tree/en-de", *LIMITS)
    with Campaign("study") as study:
        assert len(study.store.frame) == 60
    if human:
        found = json.loads(run("compare", "tree/en-de", "--human", "human_mqm", "--json").stdout)
        assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)


def test_errors_of_mqm_are_taken_as_they_are(run: Run, systems: pd.DataFrame) -> None:
    heads = "system doc doc_id seg_id rater source target category severity"
    rows = ["\t".join(heads.split())]
    for row in systems.to_dict("records"):
        for _ in range(max(int(row["human"]), 1)):
            kind = "Style/Awkward\tMinor" if int(row["human"]) else "No-error\tNo-error"
            told = [row["system"], row["doc"], str(int(row["segment"])), row["segment"], "ann",
                    row["source"], row["output"], kind]  # fmt: skip
            rows.append("\t".join(told))
    Path("mqm.tsv").write_text("\n".join(rows) + "\n")
    found = json.loads(run("compare", "mqm.tsv", "--json").stdout)
    assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)
    assert not found["higher_is_better"]
    run("init", "study", "mqm.tsv", *LIMITS)
    with Campaign("study") as study:
        assert set(study.systems) == set(SYSTEMS) and not study.pool.metrics
    run("select", "mqm.tsv", "--shared", "--budget", 10, "-o", "sheet.csv")
    assert len(pd.read_csv("sheet.csv")) == 30
