"""``fewgold select --shared`` and ``fewgold compare``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fewgold.comparison import compare
from fewgold.shared_sheets import load_shared, read_shared

SYSTEMS = ("zeta", "alpha", "mid")


def make_systems(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = []
    for k in range(n):
        level = rng.gamma(1, 2)
        for s, name in enumerate(SYSTEMS):
            error = rng.normal()
            rows.append(
                {
                    "segment": f"{k:04d}", "doc": f"dök{k // 8}", "model": name,
                    "source": f"=Satz {k}", "output": f"text {k}-{rng.integers(1000)}",
                    "comet": round(-error + rng.normal(), 4), "words": int(rng.integers(3, 30)),
                    "mqm": round(max(level + 1.5 * s + error, 0.0), 3),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def systems(folder: Path) -> pd.DataFrame:
    frame = make_systems()
    frame.to_csv("systems.csv", index=False)
    return frame


def fill(path: str, frame: pd.DataFrame, share: float = 1.0) -> None:
    """What raters would write into the sheet; they know no more than the key does."""
    gold = {(r.segment, r.model): r.mqm for r in frame.itertuples()}
    key = json.loads(Path(f"{path}.design.json").read_text(encoding="utf-8"))["systems"]["rows"]
    known = {row["id"]: gold[row["segment"], row["system"]] for row in key}
    sheet = pd.read_csv(path, dtype=str, keep_default_na=False)
    lot = np.random.default_rng(1).random(len(sheet)) < share
    sheet["score"] = [str(known[i]) if ok else "" for i, ok in zip(sheet["id"], lot, strict=True)]
    sheet.iloc[::-1].to_csv(path, index=False)


def test_the_whole_loop(run, systems) -> None:
    told = run("select", "systems.csv", "--shared", "--budget", 30, "-o", "sheet.csv", "--seed", 4)
    assert "fewgold compare sheet.csv" in told.output
    sheet = pd.read_csv("sheet.csv", dtype=str)
    assert list(sheet.columns) == ["id", "segment", "document", "source", "output", "score"]
    assert len(sheet) == 90
    assert sheet["id"].is_unique
    assert sheet["source"].str.startswith("'=").all()  # no formula
    text = Path("sheet.csv").read_text(encoding="utf-8")
    assert not any(name in text for name in SYSTEMS)
    fill("sheet.csv", systems)
    found = json.loads(run("compare", "sheet.csv", "--limits", "mqm", "--json", "-q").stdout)
    assert [row["system"] for row in found["ranking"]] == list(SYSTEMS)
    assert found["n"] == 30
    assert found["pool_size"] == 120
    assert found["design"] == "docs-balanced"
    assert not any("simple random" in note for note in found["notes"])
    # The library says the same.
    shared = load_shared("sheet.csv.design.json")
    frame = read_shared("sheet.csv", shared)
    told = compare(
        frame, human="score", system="model", id="segment", document="doc",
        metrics=shared.columns["metrics"], sample=shared.sample, limits="mqm",
    )  # fmt: skip
    assert told.to_dict()["differences"] == found["differences"]


def test_ids_of_two_columns(run, systems) -> None:
    """The same result as with one column that has both."""
    split = systems.assign(number=systems["segment"].astype(int) % 8).drop(columns="segment")
    split.assign(segment=split["doc"] + ":" + split["number"].astype(str)).to_csv(
        "one.csv", index=False
    )
    split.to_csv("two.csv", index=False)
    found = []
    for table, id in (("one.csv", "segment"), ("two.csv", "doc,number")):
        run(
            "select", table, "--shared", "--id", id, "--document", "doc", "--system", "model",
            "--metrics", "comet", "--budget", 30, "-o", "sheet.csv", "--seed", 4, "--force",
        )  # fmt: skip
        sheet = pd.read_csv("sheet.csv", dtype=str)
        sheet.assign(score=sheet["output"].map(systems.set_index("output")["mqm"])).to_csv(
            "sheet.csv", index=False
        )
        result = run("compare", "sheet.csv", "--limits", "mqm", "--json", "-q").stdout
        found.append(json.loads(result)["differences"])
    assert found[0] == found[1]


def test_systems_are_in_random_order(run, systems) -> None:
    run("select", "systems.csv", "--shared", "--budget", 100, "-o", "sheet.csv", "--seed", 4)
    key = json.loads(Path("sheet.csv.design.json").read_text())["systems"]["rows"]
    first = [row["system"] for row in key[::3]]
    counts = [first.count(name) for name in SYSTEMS]
    assert sum(counts) == 100
    assert min(counts) > 15
    sheet = pd.read_csv("sheet.csv", dtype=str)
    assert sheet["segment"].tolist() == [row["segment"] for row in key]
    run("select", "systems.csv", "--shared", "--budget", 100, "-o", "again.csv", "--seed", 4)
    assert Path("again.csv").read_text() == Path("sheet.csv").read_text()


def test_unrated_rows_are_gaps(run, systems) -> None:
    run("select", "systems.csv", "--shared", "--budget", 60, "-o", "sheet.csv", "--seed", 4)
    fill("sheet.csv", systems, share=0.8)
    said = run("compare", "sheet.csv", code=3).stderr
    assert (
        " of 180 outputs are not rated: " in said
        and "ids of" not in said
        and "--rated-only" in said
    )
    found = json.loads(run("compare", "sheet.csv", "--rated-only", "--json").stdout)
    assert any("not all rated on the same segments" in note for note in found["notes"])
    assert all(row["n"] < 60 for row in found["differences"])


def test_several_raters_of_a_sheet(run, systems) -> None:
    run("select", "systems.csv", "--shared", "--budget", 40, "-o", "sheet.csv", "--seed", 4)
    fill("sheet.csv", systems)
    sheet = pd.read_csv("sheet.csv", dtype=str).rename(columns={"score": "ann"})
    sheet["bob"] = (sheet["ann"].astype(float) + 1).astype(str)
    sheet.to_csv("sheet.csv", index=False)
    found = json.loads(run("compare", "sheet.csv", "--human", "ann,bob", "--json").stdout)
    assert [r["bias"] for r in found["raters"]["raters"]] == pytest.approx([-0.5, 0.5])
    long = sheet.melt(["id"], ["ann", "bob"], var_name="who", value_name="points")
    long.to_csv("sheet.csv", index=False)
    again = json.loads(
        run("compare", "sheet.csv", "--human", "points", "--rater", "who", "--json").stdout
    )
    assert [r["difference"] for r in again["differences"]] == pytest.approx(
        [r["difference"] for r in found["differences"]]
    )
    text = run("compare", "sheet.csv", "--human", "points", "--rater", "who").output
    assert "Krippendorff" in text


def test_any_table(run, systems) -> None:
    found = json.loads(run("compare", "systems.csv", "--json").stdout)
    assert found["target"] == "process"
    assert found["unit"] == "document"
    assert found["higher_is_better"] is False
    named = ("--human", "mqm", "--system", "model", "--id", "segment")
    same = json.loads(run("compare", "systems.csv", *named, "--json").stdout)
    assert same["differences"] == found["differences"]
    bare = json.loads(run("compare", "systems.csv", "--document", "none", "--json").stdout)
    assert bare["unit"] == "segment"
    frame = systems.assign(mqm=systems["mqm"].where(systems["segment"] < "0050"))
    frame.to_csv("partly.csv", index=False)
    part = run("compare", "partly.csv", "--limits", "mqm", "--correction", "fdr", "--level", "10%")
    assert "all 120 segments" in part.output
    assert "by FDR" in part.output


def test_formats_and_files(run, systems) -> None:
    rows = run("compare", "systems.csv", "--format", "csv", "-q").stdout.splitlines()
    assert rows[0].startswith("first,second,difference,se,low,high")
    assert len(rows) == 4
    assert "tabular" in run("compare", "systems.csv", "--format", "latex", "-q").stdout
    pytest.importorskip("matplotlib")
    told = run("compare", "systems.csv", "-o", "results")
    assert "written: results/ranks.png" in told.output
    assert pd.read_csv("results/ranking.csv")["system"].tolist() == list(SYSTEMS)


def test_a_table_on_stdin(run, systems) -> None:
    text = Path("systems.csv").read_text(encoding="utf-8")
    assert "zeta" in run("compare", "-", stdin=text).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("systems.csv", "--human", "da"), 3, "unknown column 'da'"),
        (("one.csv",), 3, "one system only"),
        (("plain.csv",), 3, "which column holds the systems"),
        (("words.csv",), 3, "'mqm' may be it, but it holds words and not a number in each row."),
        (("words.csv", "--human", "mqm"), 3, "have no number in column 'mqm'"),
        (("twice.csv",), 3, "has more than one row for the system"),
        (("systems.csv", "--target", "all"), 2, "--target"),
        (("systems.csv", "--level", "2"), 2, "--level must be like 0.05 or 5%"),
        (("systems.csv", "--pool", "x.csv"), 2, "--pool is for a sheet"),
        (("sheet.csv", "--system", "model"), 2, "says what the columns are"),
        (("sheet.csv", "--human", "points"), 3, "has no column 'points'"),
        (("gone.csv",), 3, "there is no file"),
        (("single.csv",), 3, "holds one system only. Get its score"),
    ],
)  # fmt: skip
def test_errors(run, systems, arguments, code, sentence) -> None:
    systems[systems["model"] == "mid"].to_csv("one.csv", index=False)
    systems[systems["model"] == "mid"].drop(columns="model").to_csv("plain.csv", index=False)
    systems.assign(mqm="quite nice").to_csv("words.csv", index=False)
    pd.concat([systems, systems]).to_csv("twice.csv", index=False)
    run("select", "systems.csv", "--shared", "--budget", 5, "-o", "sheet.csv")
    run("select", "pool.csv", "--budget", 5, "-o", "single.csv")
    told = run("compare", *arguments, code=code)
    assert sentence in " ".join(told.stderr.replace("│", " ").split())


def test_systems_under_another_name(run, systems) -> None:
    asked = ("--format", "csv")
    systems.rename(columns={"model": "maker"}).to_csv("other.csv", index=False)
    done = run("compare", "other.csv", *asked)
    assert done.stdout == run("compare", "systems.csv", *asked).stdout
    assert "system = maker" in done.stderr


def test_select_and_estimate_say_what_to_do_with_systems(run, systems) -> None:
    told = run("select", "systems.csv", "--budget", 5, "-o", "x.csv", code=3)
    assert "holds 3 systems" in told.stderr
    assert "--shared" in told.stderr
    run("select", "systems.csv", "--shared", "--budget", 5, "-o", "sheet.csv")
    assert "fewgold compare" in run("estimate", "sheet.csv", code=3).stderr
    told = run(
        "select", "systems.csv", "--shared", "--in-order", "--budget", 5, "-o", "y.csv", code=2
    )
    assert "--shared cannot be combined with" in " ".join(told.stderr.split())


def test_a_changed_pool_is_refused(run, systems) -> None:
    run("select", "systems.csv", "--shared", "--budget", 20, "-o", "sheet.csv")
    fill("sheet.csv", systems)
    systems.assign(comet=systems["comet"] + 1).to_csv("systems.csv", index=False)
    assert "metric comet changed" in run("compare", "sheet.csv", code=3).stderr
    sheet = pd.read_csv("sheet.csv", dtype=str)
    sheet["id"] = ["r99", *sheet["id"][1:]]
    make_systems().to_csv("systems.csv", index=False)
    sheet.to_csv("sheet.csv", index=False)
    assert "r99" in run("compare", "sheet.csv", code=3).stderr


def test_costs_and_tsv(run, systems) -> None:
    told = run(
        "select", "systems.csv", "--shared", "--cost", "5+1*words", "--cost-budget", 2000,
        "-o", "sheet.tsv", "--json",
    )  # fmt: skip
    record = json.loads(told.stdout)
    assert record["pool_cost"] == pytest.approx((5 + systems["words"]).sum())
    assert record["systems"] == 3
    sheet = pd.read_csv("sheet.tsv", sep="\t", dtype=str, keep_default_na=False)
    assert len(sheet) == 3 * record["n"]


def _version_files() -> None:
    """Two versions of a product on requests of their own, 60 of 200 rated."""
    rng = np.random.default_rng(3)
    for k, name in enumerate(("old", "new")):
        quality = rng.normal(size=200)
        frame = pd.DataFrame({"id": [f"{name}{i}" for i in range(200)]})
        frame["human"] = np.where(np.arange(200) < 60, 50 + 6 * k + 10 * quality, np.nan)
        frame["comet"] = quality + 0.3 * rng.normal(size=200)
        frame.to_csv(f"{name}.csv", index=False)


def test_a_file_for_each_system(run) -> None:
    _version_files()
    columns = ["--human", "human", "--id", "id"]
    bare = json.loads(
        run("compare", "old.csv", "new.csv", *columns, "--metrics", "none", "--json").stdout
    )
    told = json.loads(run("compare", "old.csv", "new.csv", *columns, "--json").stdout)
    assert [row["system"] for row in told["ranking"]] == ["new", "old"]
    assert told["differences"][0]["se"] < 0.6 * bare["differences"][0]["se"]
    assert told["differences"][0]["basis"] == "separate"
    assert "on 120 rated segments" in run("compare", "old.csv", "new.csv", *columns).output


def test_a_sheet_for_each_system(run) -> None:
    """Sheets of select with their own designs: the difference of the two estimates."""
    _version_files()
    numbers = []
    for name in ("old", "new"):
        pool = ["--id", "id", "--metrics", "comet"]
        run("select", f"{name}.csv", *pool, "--budget", "40", "-o", f"{name}_sheet.csv")
        table = pd.read_csv(f"{name}.csv").set_index("id")
        sheet = pd.read_csv(f"{name}_sheet.csv")
        sheet["score"] = 10 * table.loc[sheet["id"], "comet"].to_numpy() ** 2
        sheet.to_csv(f"{name}_sheet.csv", index=False)
        how = ["--estimator", "ridge", "--higher-is-better"]
        numbers.append(json.loads(run("estimate", f"{name}_sheet.csv", *how, "--json").stdout))
    sheets = ["old_sheet.csv", "new_sheet.csv"]
    told = json.loads(run("compare", *sheets, "--higher-is-better", "--json").stdout)
    (row,) = told["differences"]
    old, new = numbers
    sign = 1 if row["first"] == "old_sheet" else -1
    assert sign * row["difference"] == pytest.approx(old["value"] - new["value"])
    assert row["se"] == pytest.approx(np.hypot(old["se"], new["se"]))
    for files, sentence in (
        (["old.csv", "new_sheet.csv"], "not both"),
        ([*sheets, "--target", "process"], "--target cannot be used with"),
        (["old.csv", "old.csv"], "each file needs a different name"),
    ):
        said = run("compare", *files, code=2).output.replace("│", " ")
        assert sentence in " ".join(said.split())


def test_by_slices(run, tmp_path) -> None:
    frame = pd.DataFrame({
        "id": np.tile(np.arange(120), 2), "system": np.repeat(["a", "b"], 120),
        "language": np.tile(np.repeat(["de", "fr", "ja"], 40), 2),
    })  # fmt: skip
    rng = np.random.default_rng(1)
    better = (frame["system"] == "b") & (frame["language"] == "fr")
    frame["human"] = rng.integers(1, 5, 240) + 2.0 * better
    frame.loc[frame["id"] % 40 >= 30, "human"] = np.nan
    frame.to_csv("rated.csv", index=False)
    asked = ["compare", "rated.csv", "--human", "human", "--higher-is-better", "-q", "--by"]
    told = json.loads(run(*asked, "language", "--json").stdout)["slices"]
    sure = {row["slice"]: row["significant"] for row in told["differences"]}
    assert sure == {"de": False, "fr": True, "ja": False}
    text = run(*asked, "language").output
    assert "significant after the correction for all pairs in all 3 slices" in text
    assert r"\begin{tabular}" in run(*asked, "language", "--format", "latex").stdout
    assert "too few" in run(*asked, "language", "--least", "31").output
    assert "'nation'" in run(*asked, "nation", code=3).output
    chosen = [*asked, "language", "--chosen", "random", "--system", "system", "--json"]
    labelled = json.loads(run(*chosen).stdout)["slices"]
    assert [row["rated"] for row in labelled["slices"]] == [30, 30, 30]


def test_a_blind_sheet_by_a_column_of_its_pool(run, tmp_path) -> None:
    """Raters see no language; the slices come from the pool, enough of each."""
    rng = np.random.default_rng(1)
    pool = pd.DataFrame({
        "id": np.tile(np.arange(120), 2), "system": np.repeat(["a", "b"], 120),
        "output": [f"text {k}" for k in range(240)], "comet": rng.normal(size=240),
        "language": np.tile(np.where(np.arange(120) < 90, "de", "fr"), 2),
    })  # fmt: skip
    pool.to_csv("pool.csv", index=False)
    select = ["select", "pool.csv", "--shared", "--budget", "40", "--seed", "1", "-o", "s.csv"]
    same = run(*select, "--by", "output", code=3)
    assert "must be in the same slice" in same.output
    run(*select, "--by", "language", "--per-slice", "18")
    sheet = pd.read_csv("s.csv")
    assert "language" not in sheet.columns
    sheet.assign(score=rng.integers(1, 5, len(sheet))).to_csv("s.csv", index=False)
    told = json.loads(run("compare", "s.csv", "--by", "language", "--json").stdout)["slices"]
    rated = {row["slice"]: row["rated"] for row in told["slices"]}
    assert rated["fr"] >= 18 and rated["de"] >= 18 and sum(rated.values()) == 40
    assert {row["slice"]: row["size"] for row in told["slices"]} == {"de": 90, "fr": 30}
    assert "'nation'" in run("compare", "s.csv", "--by", "nation", code=3).output
