"""Compare, simulate and ROC on the pages: the numbers of the command line, and bad input."""

import csv
import gzip
import html
import io
import json
import re
import shlex
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from typer.testing import CliRunner

from fewgold.cli import app as cli
from fewgold.datasets import demo_frame
from fewgold.simulation import result as simulation_result
from fewgold.web import create_app, files, forms, replay_data
from waiting import PATIENCE, until

ORIGIN = {"Origin": "http://127.0.0.1"}
RATERS = ",".join(f"rater{k}" for k in range(1, 7))


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_app()


@pytest.fixture(scope="module")
def owner(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, base_url="http://127.0.0.1", headers=ORIGIN) as client:
        client.get("/", params={"token": app.state.site.token})
        yield client


@pytest.fixture(scope="module")
def demo_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first of the two lines of a reproducing command writes."""
    path = tmp_path_factory.mktemp("demo") / "demo-ende.csv"
    demo_frame("ende").to_csv(path, index=False)
    return path


def cells(text: str, table: str) -> list[list[str]]:
    """The rows of a table of a page."""
    body = re.search(rf'data-testid="{table}".*?<tbody>(.*?)</tbody>', text, re.DOTALL)
    assert body, f"no table {table}"
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL)
    return [
        [html.unescape(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def command(text: str) -> list[str]:
    """The arguments of the command that a page shows, without the line that writes the data."""
    shown = re.search(r'data-testid="command"><code>(.*?)</code>', text, re.DOTALL)
    assert shown
    return shlex.split(html.unescape(shown[1]).split("\n")[-1])[1:]


def run(arguments: list[str]) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [*arguments, "--json", "--quiet"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def upload(client: TestClient, name: str, content: bytes) -> Any:
    return client.post("/replay/upload", files={"file": (name, content)}, follow_redirects=False)


def uploaded(client: TestClient, name: str, content: bytes) -> str:
    answer = upload(client, name, content)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"]).partition("data=")[2]


def small(systems: tuple[str, ...] = ("A", "B"), n: int = 40) -> pd.DataFrame:
    rows = [
        {
            "id": f"s{k}", "doc": f"d{k // 5}", "system": s, "mqm": (k * 7 + j * 3) % 6,
            "comet": ((k * 7 + j * 3) % 6 + (k * 5 % 4) / 2) / -10,
        }
        for j, s in enumerate(systems)
        for k in range(n)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def ended(client: TestClient, address: str) -> str:
    text = ""

    def over() -> bool:
        nonlocal text
        text = client.get(address).text
        return 'id="progress"' not in text

    until(over)
    return text


@pytest.mark.parametrize(
    "path",
    ["/replay", "/replay/table?data=demo-ende", "/replay/compare?data=demo-ende",
     "/replay/simulate?data=demo-ende", "/replay/roc?data=demo-ende", "/replay/job/x",
     "/replay/reliability?data=demo-ende", "/replay/job/x/progress", "/replay/job/x/report.html"],
)  # fmt: skip
def test_pages_are_for_the_owner(app: FastAPI, path: str) -> None:
    stranger = TestClient(app, base_url="http://127.0.0.1", headers=ORIGIN)
    assert stranger.get(path).status_code == 403


def test_only_the_owner_uploads_and_starts(app: FastAPI, owner: TestClient) -> None:
    stranger = TestClient(app, base_url="http://127.0.0.1", headers=ORIGIN)
    assert upload(stranger, "a.csv", b"id\n1\n").status_code == 403
    assert stranger.post("/replay/simulate", data={"data": "demo-ende"}).status_code == 403
    elsewhere = {"Origin": "http://example.org"}
    answer = owner.post("/replay/simulate", data={"data": "demo-ende"}, headers=elsewhere)
    assert answer.status_code == 403


@pytest.mark.parametrize("page", ["table", "compare", "simulate", "roc", "reliability"])
def test_forms_open_with_what_the_names_suggest(owner: TestClient, page: str) -> None:
    answer = owner.get(f"/replay/{page}?data=demo-ende")
    assert answer.status_code == 200
    assert answer.text.count("<h1>") == 1
    assert "style=" not in answer.text and "onclick" not in answer.text
    if page in ("compare", "roc"):
        assert '<option value="system" selected>' in answer.text
        assert 'name="metrics" value="comet" checked' in answer.text
        assert 'name="metrics" value="rater1" checked' not in answer.text


def test_compare_says_what_the_command_line_says(owner: TestClient, demo_csv: Path) -> None:
    query = {
        "data": "demo-ende", "go": "1", "human": RATERS.split(","), "system": "system",
        "id": "segment", "document": "document", "metrics": ["comet", "ter"], "limits": "mqm",
        "level": "10%", "target": "process",
    }  # fmt: skip
    address = f"/replay/compare?{urlencode(query, doseq=True)}"
    text = owner.get(address).text
    arguments = command(text)
    assert arguments[:2] == ["compare", "demo-ende.csv"]
    told = run(["compare", str(demo_csv), *arguments[2:]])
    assert html.escape(told["signature"]) in text
    assert told["notes"][0][1:] in html.unescape(text)
    shown = CliRunner().invoke(cli, ["compare", str(demo_csv), *arguments[2:], "--quiet"]).stdout
    plain = " ".join(shown.split())
    for row in cells(text, "ranking"):
        rank, system, _, score, interval, best = row
        assert f"{rank} {system} {score} {interval} {best}" in plain
    assert len(cells(text, "differences")) == len(told["differences"]) == 10
    for row in cells(text, "differences"):
        assert " ".join(row[:4]) in plain
        assert row[5] in ("yes", "not shown")
    groups = [row["group"] for row in told["ranking"]]
    assert [int(row[2]) for row in cells(text, "ranking")] == groups
    assert "does not mean that they are equal" in text
    restored = re.search(r'data-testid="restore" href="(.*?)"', text)
    assert restored
    again = owner.get(html.unescape(restored[1])).text
    assert cells(again, "differences") == cells(text, "differences")
    kept = owner.get(address.replace("/compare?", "/compare/table/differences.csv?"))
    rows = list(csv.DictReader(io.StringIO(kept.text)))
    assert [float(r["difference"]) for r in rows] == [r["difference"] for r in told["differences"]]
    assert "attachment" in kept.headers["content-disposition"]
    figure = owner.get(address.replace("/compare?", "/compare/figure/forest.svg?"))
    assert figure.content[:5] == b"<?xml"
    assert figure.headers["content-type"] == "image/svg+xml"


def test_simulation_says_what_the_command_line_says(
    owner: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One figure of six will do, here and there: drawing is what takes long.
    monkeypatch.setattr(
        simulation_result, "_figures", lambda done: {"coverage": done.plot("coverage")}
    )
    form = {
        "data": "demo-ende", "go": "1", "strategy": ["random+mean", "random+cv-multi"],
        "more": "docs-sys+mean", "budgets": "5%:10%:5%", "draws": "4", "seed": "7",
        "bound": "hoeffding", "limits": "0,25",
    }  # fmt: skip
    begun = owner.post("/replay/simulate", data=form, follow_redirects=False)
    assert begun.status_code == 303
    address = begun.headers["location"]
    text = ended(owner, address)
    arguments = command(text)
    folder = tmp_path / "out"
    summary = CliRunner().invoke(cli, [*arguments, "--out", str(folder), "--quiet"]).stdout
    signature = next(line for line in summary.splitlines() if line.startswith("pools:"))
    assert html.escape(signature) in text
    lines = [" ".join(line.split()) for line in summary.splitlines()]
    ranking = cells(text, "ranking")
    assert len(ranking) == 3
    for row in ranking:
        assert " ".join(row) in lines
    kept = owner.get(f"{address}/table/cells.csv").text
    assert list(csv.reader(io.StringIO(kept))) == list(
        csv.reader(io.StringIO((folder / "cells.csv").read_text()))
    )
    report = owner.get(f"{address}/report.html")
    assert "attachment" in report.headers["content-disposition"]
    assert report.text == (folder / "report.html").read_text()
    figure = owner.get(f"{address}/figure/coverage.png?keep=1")
    assert figure.content == (folder / "coverage.png").read_bytes()
    link = re.search(r'data-testid="restore" href="(.*?)"', text)
    assert link
    restored = owner.get(html.unescape(link[1])).text
    assert 'value="random+cv-multi" checked' in restored
    assert 'value="docs-sys+mean" checked' in restored
    assert 'name="seed" value="7"' in restored
    progress = owner.get(f"{address}/progress")
    assert progress.headers["hx-redirect"] == address


def test_simulation_of_an_upload(owner: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    small().to_csv(path, index=False)
    key = uploaded(owner, "rated.csv", path.read_bytes())
    form = {
        "data": key, "go": "1", "human": "mqm", "id": "id", "document": "doc", "by": "system",
        "metrics": "comet", "strategy": "docs-prop+mean", "budgets": "8", "draws": "20",
        "adequate": "<=1",
    }  # fmt: skip
    begun = owner.post("/replay/simulate", data=form, follow_redirects=False)
    text = ended(owner, begun.headers["location"])
    arguments = command(text)
    assert arguments[1] == "rated.csv"
    told = run(["simulate", str(path), *arguments[2:]])
    assert html.escape(told["signature"]) in text
    by_budget = cells(text, "by-budget")
    assert [row[:3] for row in by_budget] == [
        ["random+mean", "8", "8"], ["docs-prop+mean", "8", "8"]
    ]  # fmt: skip


@pytest.mark.parametrize("of", ["demo", "upload"])
def test_reliability_says_what_the_command_line_says(
    owner: TestClient, tmp_path: Path, of: str
) -> None:
    path = tmp_path / "rated.csv"
    small().to_csv(path, index=False)
    form = {"data": "demo-zhen", "go": "1", "orders": "2", "draws": "20", "seed": "3"}
    if of == "upload":
        form |= {"data": uploaded(owner, "rated.csv", path.read_bytes()), "score": "mqm"}
        form |= {"document": "doc", "system": "system", "id": "id", "resample": "documents"}
    begun = owner.post("/replay/reliability", data=form, follow_redirects=False)
    text = html.unescape(ended(owner, begun.headers["location"]))
    arguments = command(text)
    if of == "upload":
        arguments[1] = str(path)
    summary = CliRunner().invoke(cli, [*arguments, "--quiet"]).stdout
    first, _, rest = summary.partition("\n")
    assert first in text and rest.strip() in text
    kept = owner.get(begun.headers["location"] + "/table/curves.csv").text
    rows = list(csv.DictReader(io.StringIO(kept)))
    assert [float(r["sd"]) for r in rows] == [r["sd"] for r in run(arguments)["curves"]]
    assert owner.get(begun.headers["location"] + "/figure/ranks.svg").status_code == 200
    assert owner.get(begun.headers["location"] + "/report.html").status_code == 404


def test_roc_says_what_the_command_line_says(owner: TestClient, demo_csv: Path) -> None:
    query = {
        "data": "demo-ende", "go": "1", "human": "rater1", "system": "system", "adequate": "<=1",
        "metrics": ["comet", "ter"], "per_system": "1",
    }  # fmt: skip
    address = f"/replay/roc?{urlencode(query, doseq=True)}"
    text = owner.get(address).text
    arguments = ["roc", str(demo_csv), *command(text)[2:]]
    told = run(arguments)
    plain = " ".join(CliRunner().invoke(cli, [*arguments, "--quiet"]).stdout.split())
    rows = [*cells(text, "roc-0"), *cells(text, "roc-1")]
    assert len(rows) == len(told["rows"]) == 12
    for row in rows:
        assert " ".join(row).replace("−", "-") in plain.replace("−", "-")
    kept = list(
        csv.DictReader(io.StringIO(owner.get(address.replace("/roc?", "/roc/table/roc.csv?")).text))
    )
    assert [float(r["auc"]) for r in kept] == [r["auc"] for r in told["rows"]]
    assert owner.get(address.replace("/roc?", "/roc/figure/roc.svg?")).content[:5] == b"<?xml"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "parquet", "xlsx"])
def test_every_format_of_table_is_read(owner: TestClient, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    frame = small()
    if suffix in ("csv", "tsv"):
        frame.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    elif suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif suffix == "xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    key = uploaded(owner, f"T.{suffix.upper()}", path.read_bytes())
    query = {
        "data": key, "go": "1", "human": "mqm", "system": "system", "id": "id", "document": "doc",
        "metrics": "comet",
    }  # fmt: skip
    answer = owner.get("/replay/compare", params=query)
    assert answer.status_code == 200
    own = CliRunner().invoke(
        cli, ["compare", str(path), "--human", "mqm", "--json", "--quiet", "--metrics", "comet"]
    )
    assert html.escape(json.loads(own.stdout)["signature"]) in answer.text


NASTY = "<script>alert(1)</script>"


def test_texts_of_a_table_are_escaped(owner: TestClient) -> None:
    frame = small((NASTY, "=cmd|'x'!A1")).rename(columns={"doc": "<img src=x onerror=alert(1)>"})
    content = frame.to_csv(index=False).encode()
    key = uploaded(owner, f"{NASTY.replace('/', '')}.csv", content)
    query = {"data": key, "go": "1", "human": "mqm", "system": "system", "id": "id"}
    pages = [
        owner.get("/replay").text,
        owner.get(f"/replay/table?data={key}").text,
        owner.get(f"/replay/compare?data={key}").text,
        owner.get(f"/replay/simulate?data={key}").text,
        owner.get("/replay/compare", params=query).text,
        owner.get("/replay/compare", params={**query, "level": NASTY}).text,
    ]
    for text in pages:
        assert "<script>alert" not in text and "<img src=x" not in text
    assert html.escape(NASTY) in pages[4]
    kept = owner.get("/replay/compare/table/scores.csv", params=query).text
    assert {row["system"] for row in csv.DictReader(io.StringIO(kept))} == {
        NASTY, "'=cmd|'x'!A1"
    }  # fmt: skip


def test_names_of_files_are_no_paths(owner: TestClient, tmp_path: Path) -> None:
    content = small().to_csv(index=False).encode()
    uploaded(owner, "../../../../tmp/fewgold-escape.csv", content)
    assert not Path("/tmp/fewgold-escape.csv").exists()
    assert "fewgold-escape.csv" in owner.get("/replay").text
    assert files.base_name("C:\\data\\my table.csv") == "my table.csv"
    assert len(files.base_name("x" * 500 + ".csv")) == 80


def test_nothing_of_an_upload_stays_on_the_disk(
    owner: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    key = uploaded(owner, "rated.csv", small().to_csv(index=False).encode())
    assert list(tmp_path.iterdir()) == []
    assert owner.get(f"/replay/table?data={key}").status_code == 200
    owner.post("/replay/forget", data={"data": key})
    gone = owner.get(f"/replay/table?data={key}")
    assert gone.status_code == 404
    assert "This table is no longer here" in gone.text and "Upload it again" in gone.text
    assert 'href="/replay">Choose a table<' in gone.text


@pytest.mark.parametrize("page", ["table", "compare", "roc", "simulate", "reliability"])
def test_without_a_table_one_is_chosen_first(owner: TestClient, page: str) -> None:
    answer = owner.get(f"/replay/{page}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/replay")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", b"Dear all\nplease rate\n", "Cannot read 'a.txt': it is text but not a table"),
        (
            "a.csv.gz",
            gzip.compress(b"id\n1\n", mtime=0)[:-9],
            "the gzip file is damaged or incomplete",
        ),
        ("a.csv", b"", "Cannot read 'a.csv': it is empty"),
        ("a.csv", b"id,mqm\n", "Cannot read 'a.csv': it has no rows"),
        ("a.csv", b"id,mqm,mqm\n1,2,3\n", "two columns are called 'mqm'"),
        ("a.csv", b"id,mqm\n1,2\n2\n", "line 3 has 1"),
        ("a.jsonl", b"[1", "Cannot read 'a.jsonl'"),
        ("a.parquet", b"PAR1", "Cannot read 'a.parquet'"),
        ("a.xlsx", b"PK", "a.xlsx"),
        ("", b"id\n1\n", "No file was sent"),
    ],
)
def test_uploads_that_cannot_be_read(
    owner: TestClient, name: str, content: bytes, sentence: str
) -> None:
    answer = upload(owner, name, content)
    assert answer.status_code == 400
    assert sentence in html.unescape(answer.text)
    assert "/tmp" not in answer.text


def test_a_form_without_a_file_is_told_so(owner: TestClient) -> None:
    answer = owner.post("/replay/upload", data={"file": "text"})
    assert answer.status_code == 400
    assert "No file was sent" in answer.text


def test_tables_are_bounded(owner: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_data, "MOST_ROWS", 10)
    frame = small()
    assert "80 rows; the limit is 10 rows" in upload(owner, "a.csv", frame.to_csv().encode()).text
    if pytest.importorskip("pyarrow"):
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        assert "80 rows; the limit is 10 rows" in upload(owner, "a.parquet", buffer.getvalue()).text
    monkeypatch.setattr(replay_data, "_MOST_LINES", 20)
    assert "81 lines; the limit is 10 rows" in upload(owner, "a.csv", frame.to_csv().encode()).text
    answer = owner.post("/replay/upload", content=b"x", headers={"Content-Length": "50000001"})
    assert answer.status_code == 413


def test_packed_tables_are_bounded_by_what_they_unpack_to(
    owner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = small().to_csv(index=False).encode()
    assert upload(owner, "a.csv.gz", gzip.compress(data)).status_code == 303
    monkeypatch.setattr(replay_data, "MOST_BYTES", len(data) - 1)
    answer = upload(owner, "a.csv.gz", gzip.compress(data))
    assert answer.status_code == 400
    assert "unpacks to" in answer.text
    monkeypatch.undo()
    monkeypatch.setattr(replay_data, "_MOST_LINES", 20)
    assert "81 lines" in upload(owner, "a.csv.gz", gzip.compress(data)).text


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252"])
def test_uploads_in_other_encodings_are_read_with_a_note(owner: TestClient, encoding: str) -> None:
    content = small(("Bär", "B")).to_csv(index=False, sep=";", decimal=",").encode(encoding)
    data = uploaded(owner, "a.csv", content)
    text = html.unescape(owner.get(f"/replay/table?data={data}").text)
    assert "The text is not in UTF-8 and was read as" in text
    assert "Decimal commas in comet are read as points." in text
    query = {"data": data, "go": "1", "human": "mqm", "system": "system", "id": "id",
             "metrics": "comet"}  # fmt: skip
    answer = owner.get("/replay/compare", params=query)
    assert answer.status_code == 200
    assert "Bär" in html.unescape(answer.text)


def test_the_last_uploads_are_kept_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = replay_data.Tables()
    content = small().to_csv(index=False).encode()
    keys = [tables.add(f"{k}.csv", io.BytesIO(content)).key for k in range(5)]
    assert [d.name for d in tables.uploads()] == ["4.csv", "3.csv", "2.csv", "1.csv"]
    assert tables.get(keys[1]).name == "1.csv"
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 7 * 3600)
    assert tables.uploads() == []


@pytest.mark.parametrize(
    ("page", "change", "sentence"),
    [
        ("compare", {"level": "7"}, "The chance of error must be like 0.05 or 5%; got '7'"),
        ("compare", {"limits": "5"}, "The ends of the rating scale must be like 0,25"),
        ("compare", {"human": "nope"}, "Unknown column (human scores) 'nope'"),
        ("compare", {"human": ""}, "Which column holds the human scores?"),
        ("compare", {"system": ""}, "Which column holds the systems?"),
        ("compare", {"metrics": "rater1"}, "'rater1' is chosen twice"),
        ("compare", {"correction": "x"}, "Unknown correction 'x'"),
        ("roc", {"adequate": ""}, "Scores run from 0 to"),
        ("roc", {"adequate": "few"}, "A cut is a sign and a number"),
        ("roc", {"metrics": ""}, "No metric is selected"),
        ("roc", {"confidence": "1"}, "The confidence must be like 0.95 or 95%"),
    ],
)
def test_bad_fields_get_a_sentence(
    owner: TestClient, page: str, change: dict[str, str], sentence: str
) -> None:
    query = {
        "data": "demo-ende", "go": "1", "human": "rater1", "system": "system", "id": "segment",
        "metrics": "comet", "adequate": "<=1",
    }  # fmt: skip
    answer = owner.get(f"/replay/{page}", params={**query, **change})
    assert answer.status_code == 400
    assert sentence in html.unescape(answer.text)
    assert f'id="{page}"' in answer.text  # the form is still there


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"strategy": ""}, "No strategy is selected"),
        ({"strategy": "magic+mean"}, "Unknown sampler 'magic'"),
        ({"draws": "501"}, "The number of draws must be a whole number from 2 to 500; got '501'"),
        ({"draws": "1e3"}, "The number of draws must be a whole number"),
        ({"seed": "-1"}, "The seed must be a whole number"),
        ({"budgets": "five"}, "Budgets must be like 5%:50%:5%"),
        ({"budgets": "1:100000:1"}, "too many budgets"),
        ({"bound": "nope"}, "Unknown bound 'nope'"),
        (
            {"strategy": "docs-uneven-rank+ridge", "limits": "0,1", "adequate": "<=4"},
            "but not a scale from 0 to 1: there, ratings do not vary most where the metrics are "
            "worst. Choose docs-balanced+ridge or docs-two-wave+ridge.",
        ),
    ],
)
def test_bad_simulations_get_a_sentence(
    owner: TestClient, change: dict[str, str], sentence: str
) -> None:
    form = {"data": "demo-ende", "go": "1", "strategy": "random+mean", "draws": "2"}
    answer = owner.post("/replay/simulate", data={**form, **change})
    assert answer.status_code == 400
    assert sentence in html.unescape(answer.text)
    assert 'id="simulate"' in answer.text  # the form is still there


@pytest.mark.parametrize("field", ["strategy", "more", "baseline"])
def test_pages_import_no_code(
    owner: TestClient, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A regressor of sklearn has a name; a dotted path would run whatever module it leads to."""
    (tmp_path / "hostile_model.py").write_text(
        "from sklearn.linear_model import LinearRegression as Model\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    form = {"data": "demo-ende", "go": "1", "strategy": "random+mean", "draws": "2"}
    path = "random+cv-sklearn:hostile_model:Model"
    answer = owner.post("/replay/simulate", data={**form, field: path})
    assert answer.status_code == 400
    told = html.unescape(answer.text)
    assert "Pages do not import code" in told and "hist_gradient_boosting" in told
    assert "hostile_model" not in sys.modules


def test_a_simulation_shows_its_progress_and_can_be_cancelled(
    owner: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    on, off = threading.Event(), threading.Event()

    def slow(studies: Any, *, progress: Any, **asked: Any) -> None:
        progress(3, 8)
        on.set()
        assert off.wait(PATIENCE)
        while True:
            progress(4, 8)
            time.sleep(0.01)

    monkeypatch.setattr("fewgold.simulation.simulate", slow)
    form = {"data": "demo-ende", "go": "1", "strategy": "random+mean", "draws": "2"}
    addresses = []
    for _ in range(2):
        begun = owner.post("/replay/simulate", data=form, follow_redirects=False)
        addresses.append(begun.headers["location"])
    assert on.wait(PATIENCE)
    full = owner.post("/replay/simulate", data=form)
    assert full.status_code == 400
    assert "2 jobs are running already" in full.text
    text = owner.get(addresses[0]).text
    assert '<progress max="8" value="3"' in text
    assert 'hx-trigger="every 1s"' in text and 'id="cancel"' in text
    assert owner.get(f"{addresses[0]}/report.html").status_code == 404
    part = owner.get(f"{addresses[0]}/progress", headers={"HX-Request": "true"}).text
    assert "<html" not in part and "3 of 8 parts" in part
    off.set()
    for address in addresses:
        assert owner.post(f"{address}/cancel").status_code == 200
        assert "Cancelled after" in ended(owner, address)


def test_what_a_job_finds_out_is_a_sentence(owner: TestClient) -> None:
    form = {"data": "demo-ende", "go": "1", "strategy": "random+mean", "draws": "2"}
    form |= {"budgets": "99999"}  # more than there are segments
    begun = owner.post("/replay/simulate", data=form)
    text = ended(owner, str(begun.url))
    assert 'data-testid="state"' in text
    assert "No strategy worked on these data" in text


def test_nested_cells_are_text(owner: TestClient) -> None:
    rows = small().assign(system=[["A"]] * 40 + [["B"]] * 40).to_dict("records")
    key = uploaded(owner, "a.json", json.dumps(rows).encode())
    query = {"data": key, "go": "1", "human": "mqm", "system": "system", "id": "id"}
    text = owner.get("/replay/compare", params=query).text
    assert {row[1] for row in cells(text, "ranking")} == {"['A']", "['B']"}


def test_unknown_addresses(owner: TestClient) -> None:
    query = "data=demo-ende&go=1&human=rater1&system=system&id=segment"
    for path in (
        "/replay/job/unknown",
        "/replay/compare/figure/x.svg?" + query,
        "/replay/compare/figure/ranks.exe?" + query,
        "/replay/compare/table/pairs.csv?" + query,
    ):
        assert owner.get(path).status_code == 404
    assert owner.get("/replay/compare?data=../../etc/passwd").status_code == 404


@pytest.mark.parametrize(
    "text", ["5%:50%:5%", "50,100,200", "10%", "100%", "0.3", "7:9:1", "12.5%, 40", "1", "1.0"]
)
def test_budgets_are_those_of_the_command_line(text: str) -> None:
    from fewgold.cli import parse

    ours, theirs = forms.budgets(text), parse.budgets(text)
    assert ours == theirs
    assert [type(b) for b in ours] == [type(b) for b in theirs]


def test_uneven_chances_can_be_ticked_and_are_judged(owner: TestClient) -> None:
    page = owner.get("/replay/simulate?data=demo-ende").text
    assert "docs-uneven-rank+ridge" in page and "docs-two-wave+ridge" in page
    form = {
        "data": "demo-ende", "go": "1", "draws": "3", "budgets": "5%",
        "strategy": ["docs-balanced+ridge", "docs-uneven-rank+ridge"],
    }  # fmt: skip
    begun = owner.post("/replay/simulate", data=form, follow_redirects=False)
    shown = html.unescape(ended(owner, begun.headers["location"]))
    assert "The error of docs-uneven-rank+ridge is" in shown
    assert "that of docs-balanced+ridge:" in shown
