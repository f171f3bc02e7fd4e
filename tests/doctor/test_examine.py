"""What holds for every file: no traceback, plain records, the right verdict."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doctor.tables import pool
from fewgold.doctor import Diagnosis, examine
from fewgold.doctor.diagnosis import _REMARKS
from fewgold.doctor.findings import TEXTS, Command, Finding
from fewgold.errors import UnknownNameError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_exit_codes_follow_the_gravest_finding() -> None:
    note, warning, error = (Finding(s, "c", "what") for s in ("note", "warning", "error"))  # type: ignore[arg-type]
    assert Diagnosis("x", "k", "t").exit_code == 0
    assert Diagnosis("x", "k", "t", findings=(note,)).exit_code == 0
    assert Diagnosis("x", "k", "t", findings=(note, warning)).exit_code == 1
    found = Diagnosis("x", "k", "t", findings=(note, error, warning))
    assert found.exit_code == 3
    assert [f.severity for f in found.findings] == ["error", "warning", "note"]


def test_brief() -> None:
    found = Diagnosis(
        "x", "k", "t", findings=(Finding("warning", "c", "it is small"), Finding("note", "d", "n")),
        next_commands=(Command("fewgold demo", "why"),),
    )  # fmt: skip
    assert found._brief() == "warning: it is small\nnext: fewgold demo"
    assert Diagnosis("x", "k", "t")._brief() == "fine"


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_the_same_table_in_every_format(suffix: str) -> None:
    frame = pool(human=True)
    path = f"x.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif suffix in ("jsonl", "json"):
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    found = examine(path)
    assert (found.kind, found.exit_code) == ("table", 0), found.summary()
    assert found.facts["rows"] == 60
    assert list(found.facts["metrics"]) == ["comet", "bleu"]
    assert found.next_commands[0].text.startswith(f"fewgold simulate {path} --human human")


def test_a_column_that_does_not_exist() -> None:
    pool().to_csv("x.csv", index=False)
    with pytest.raises(UnknownNameError, match="verdict"):
        examine("x.csv", human="verdict")


def test_why_not_the_other_strategies() -> None:
    pool().drop(columns="document").to_csv("x.csv", index=False)
    said = {s.name: (s.ok, s.detail) for s in examine("x.csv").supports}
    assert said["by document"][0] is False and "no document column" in said["by document"][1]
    assert said["reliability"] == (False, "no document column")
    pool().drop(columns=["comet", "bleu"]).to_csv("y.csv", index=False)
    said = {s.name: (s.ok, s.detail) for s in examine("y.csv").supports}
    assert said["by metric"][0] is False
    assert said["estimators"][1].startswith("mean only")


@pytest.mark.parametrize(
    ("scores", "scale"),
    [
        ([1, 2, 3, 4, 5], "1 to 5?"), ([0, 33, 71, 100], "0 to 100?"), ([0, 0.5, 1], "0 to 1?"),
        ([0, 1, 5, 25, 12], "0 to 25?"), ([-25, -5, 0, -1], "-25 to 0?"), ([1, 7, 4], "1 to 7?"),
    ],
)  # fmt: skip
def test_scales(scores: list[float], scale: str) -> None:
    pool().assign(human=np.resize(scores, 60)).to_csv("x.csv", index=False)
    assert f"scale {scale}" in examine("x.csv").facts["human scores"]["human"]


def test_mqm_is_known_by_name_however_small() -> None:
    pool().assign(mqm=np.resize([0, 1, 0, 2], 60)).to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert "scale 0 to 25?" in found.facts["human scores"]["mqm"]
    bounds = next(s.detail for s in found.supports if s.name == "bounds")
    assert "--limits mqm" in bounds
    cut = next(s.detail for s in found.supports if s.name == "binary model")
    assert "--adequate '<=" in cut


def test_mutated_files_give_a_diagnosis() -> None:
    rng = np.random.default_rng(5)
    base = pool(systems=2, human=True).to_csv(index=False).encode()
    seen = set()
    for k in range(40):
        data = bytearray(base)
        for place in rng.integers(0, len(data), rng.integers(1, 40)).tolist():
            data[place] = int(rng.integers(0, 256)) if k % 2 else int(rng.choice(list(b',;"\n\t')))
        if k % 5 == 0:
            del data[int(rng.integers(1, len(data))) :]
        Path("m.csv").write_bytes(bytes(data))
        found = examine("m.csv")
        seen.add(found.exit_code)
        assert found.exit_code == 0 or found.findings
    assert 3 in seen


def test_20_000_rows_of_five_systems_are_fine() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.tile([f"s{k}" for k in range(4000)], 5),
            "system": np.repeat(list("abcde"), 4000),
            "document": np.tile([f"d{k // 12}" for k in range(4000)], 5),
            "mqm": rng.integers(0, 26, 20_000),
            **{f"m{k}": rng.normal(size=20_000).round(6) for k in range(5)},
        }
    )
    frame.to_csv("big.csv", index=False)
    found = examine("big.csv")
    assert found.exit_code == 0, found.summary()


def test_ratings_of_some_rows_are_warned_about() -> None:
    frame = pool(human=True).astype({"human": object})
    frame.loc[20:, "human"] = ""
    frame.to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert (found.exit_code, found.codes) == (1, {"partly-rated", "labels-not-random"})
    assert "40 outputs without a human score" in found.findings[0].what
    assert "labelled rows come earlier in the table" in found.findings[1].where
    text = "fewgold estimate x.csv --human human --chosen whole:document"  # all rows of some
    assert found.next_commands[0].text == text


def test_whole_documents_with_labels_are_recognised() -> None:
    frame = pool(human=True).astype({"human": object}).assign(talk=np.arange(60) // 5)
    frame = frame.rename(columns={"document": "part", "talk": "conversation"})
    frame.loc[~frame["conversation"].isin([1, 4, 7, 9]), "human"] = ""
    frame.to_csv("x.csv", index=False)
    text = "fewgold estimate x.csv --human human --chosen whole:conversation"
    assert examine("x.csv").next_commands[0].text == text
    frame.loc[5, "human"] = ""  # one label is missing, so not all of the conversation was labelled
    frame.to_csv("x.csv", index=False)
    text = "fewgold estimate x.csv --human human --chosen random"
    assert examine("x.csv").next_commands[0].text == text


def test_a_column_with_spaces_is_quoted() -> None:
    pool(human=True).assign(**{"Quick check": np.arange(60) % 3}).to_csv("x.csv", index=False)
    found = [f for f in examine("x.csv").findings if f.code == "maybe-human"]
    assert "--human 'Quick check'" in found[0].do


def test_labels_need_no_ids() -> None:
    frame = pool(human=True).drop(columns=["id", "document"]).astype({"human": object})
    frame = frame.sample(frac=1, random_state=3, ignore_index=True)
    frame.loc[np.arange(60) % 3 > 0, "human"] = ""
    frame.to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert found.exit_code == 1 and {"no-ids", "labels"} <= found.codes
    assert found.next_commands[0].text == "fewgold estimate x.csv --human human --chosen random"


def test_one_of_several_raters_is_enough() -> None:
    ann, bob = (pool(human=True).assign(rater=name).astype({"human": object}) for name in "ab")
    bob["human"] = ""
    pd.concat([ann, bob]).to_csv("x.csv", index=False)
    assert "partly-rated" not in examine("x.csv").codes


# Cells that only look like numbers: their codes come with the columns.
_SORTS = {"thousands", "percent", "spreadsheet-error", "infinite"}
ROOT = Path(__file__).parents[2]


def test_the_page_names_every_finding() -> None:
    codes = {key.partition("/")[0] for key in TEXTS}
    assert len(codes) > 60
    page = (ROOT / "docs" / "doctor.md").read_text()
    assert codes | _codes_of_the_reader() <= set(re.findall(r"`([a-z-]+)`", page))


def test_the_page_names_nothing_that_cannot_be_found() -> None:
    page = (ROOT / "docs" / "doctor.md").read_text()
    table = page.split("## What it finds")[1].split("Some of them")[0]
    named = set(re.findall(r"`([a-z-]+)`", table))
    assert len(named) > 60
    assert named <= {key.partition("/")[0] for key in TEXTS} | _codes_of_the_reader()


def test_every_text_is_used_and_every_finding_has_a_text() -> None:
    source = "".join(p.read_text() for p in (ROOT / "fewgold" / "doctor").glob("*.py"))
    asked = set(re.findall(r'finding\(\s*"([a-z/-]+)"', source))
    assert asked <= set(TEXTS)
    assert all(source.count(f'"{key}"') > 1 for key in TEXTS if key not in _SORTS)


def _codes_of_the_reader() -> set[str]:
    """What the reader refuses, and which of its remarks the doctor shows."""
    places = {"TableError": 1, "_error": 0, "_Problem": 0}
    found = set(_REMARKS)
    for path in (ROOT / "fewgold" / "io").glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call):
                name = getattr(call.func, "id", getattr(call.func, "attr", ""))
                code = call.args[places[name]] if name in places else None
                if isinstance(code, ast.Constant):
                    found.add(code.value)
    assert {"ragged", "binary", "broken-quotes", "no-rows", "encoding"} <= found
    return found - {"wrong-separator"}  # of a file that must be TSV: fewgold import --from tsv


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "doctor.md").read_text()
    shown = re.findall(r"```text\n\$ fewgold doctor ratings.csv\n(.*?)```", page, re.DOTALL)[0]
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0].split("with tempfile")[0]
    exec(compile(f"{code}\ntable.to_csv('ratings.csv', index=False)", "page", "exec"), {})
    assert examine("ratings.csv").summary().strip() == shown.strip()


def test_parquet_with_damaged_text() -> None:
    pytest.importorskip("pyarrow")
    pool().to_parquet("x.parquet", compression="none", use_dictionary=False)
    data = Path("x.parquet").read_bytes()
    Path("x.parquet").write_bytes(data.replace(b"s007", b"s0\xff7"))
    found = examine("x.parquet")
    assert found.exit_code == 3 and found.codes == {"parquet"}
    assert "Column 0: " in found.findings[0].what
