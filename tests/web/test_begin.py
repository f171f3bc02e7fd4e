"""Begin a campaign in the browser: every step, what is refused, and what survives."""

from __future__ import annotations

import gzip
import html
import io
import os
import re
import shlex
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from typer.testing import CliRunner

from fewgold.campaign import Campaign
from fewgold.cli import app as command_line
from fewgold.planning import Outlook
from fewgold.web import beginning, create_app, drafts
from waiting import PATIENCE
from web.e2e import live
from web.page_forms import form_of
from web.test_security import check

Client = Callable[..., TestClient]


def table(n: int = 120, systems: tuple[str, ...] = ()) -> pd.DataFrame:
    """A table of outputs; with several systems one row for each."""
    parts = []
    for k, system in enumerate(systems or ("",)):
        rng = np.random.default_rng(k)
        comet = rng.normal(size=n)
        part = pd.DataFrame(
            {
                "id": [f"s{i:03d}" for i in range(n)],
                "document": [f"d{i // 6}" for i in range(n)],
                "source": [f"Quelle {i}" for i in range(n)],
                "output": [f"Output {i} {'abc'[k]}" for i in range(n)],
                "comet": comet.round(3),
                "human": (70 - 5 * k + 12 * comet + rng.normal(0, 6, n)).round().clip(0, 100),
            }
        )
        parts.append(part.assign(system=system) if systems else part)
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    return create_app(folder=tmp_path, token=live.TOKEN)


def upload(owner: TestClient, name: str, content: bytes, **more: Any) -> Any:
    return owner.post("/begin", files={"file": (name, content)}, **more)


def key_of(answer: Any) -> str:
    found = re.search(r"/begin/([\w-]{16})/", str(answer.url))
    assert found is not None, (answer.status_code, answer.text[-2000:])
    return found[1]


def shown(answer: Any) -> str:
    """The words of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def told(answer: Any) -> str:
    """The sentence that says what went wrong."""
    found = re.search(r'role="alert"[^>]*>([^<]*)<', answer.text)
    return "" if found is None else html.unescape(found[1])


def commands(answer: Any) -> list[str]:
    return [
        html.unescape(c) for c in re.findall(r'data-testid="command"><code>([^<]*)<', answer.text)
    ]


def whole_way(owner: TestClient, content: bytes, name: str = "outputs.csv", **plan: str) -> Any:
    """From the upload to the last page before the campaign begins."""
    page = upload(owner, name, content)
    key = key_of(page)
    page = owner.post(f"/begin/{key}/table", data=form_of(page.text, f"/begin/{key}/table"))
    assert page.url.path.endswith("/plan"), told(page)
    page = owner.post(f"/begin/{key}/plan", data=form_of(page.text, f"/begin/{key}/plan") | plan)
    assert page.url.path.endswith("/texts"), page.text
    return page


def test_the_pages_begin_the_campaign_that_the_commands_begin(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = client(owner=True, app=app)
    content = table().to_csv(index=False).encode()
    page = whole_way(owner, content, budget="30", scale="0,100", tolerance="4")
    key = key_of(page)
    given = {
        "name": "Spring test", "question": "Is it  good?\nReally?", "low_end": "useless",
        "high_end": "perfect", "instructions": "# Read this\n\nTake **care**.",
    }  # fmt: skip
    page = owner.post(f"/begin/{key}/texts", data={**given, "go": "look"})
    lines = commands(page)
    assert "0 = useless (worst), 100 = perfect (best)" in shown(page)
    assert "<strong>care</strong>" in page.text
    assert "neither" in told(owner.post(f"/begin/{key}/texts", data=given | {"low_end": ""}))
    page = owner.post(f"/begin/{key}/texts", data=given)
    assert page.url.path == "/c/spring-test/overview", told(page)
    assert "0 of 30" in page.text
    assert "invite people to rate" in page.text
    assert owner.get(f"/begin/{key}/table").status_code == 404
    assert not (tmp_path / ".fewgold").exists()

    (tmp_path / "instructions.md").write_text(given["instructions"])
    with same_by_commands(tmp_path, monkeypatch, lines, content, "spring-test") as mine:
        assert mine.settings.question == "Is it  good?\nReally?"
        assert mine.settings.name == "Spring test"
        assert mine.settings.ends == ("useless", "perfect")


@contextmanager
def same_by_commands(
    place: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], content: bytes, name: str
) -> Iterator[Campaign]:
    """The campaign of that name, if the commands of its page begin the same one elsewhere."""
    work = place / "terminal"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "outputs.csv").write_bytes(content)
    if (place / "instructions.md").exists():
        (place / "instructions.md").rename(work / "instructions.md")
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "fewgold"
        done = CliRunner().invoke(command_line, words[1:])
        assert done.exit_code == 0, (line, done.output)
    with Campaign(place / name) as mine, Campaign(work / name) as theirs:
        assert mine.waves[0].ids == theirs.waves[0].ids
        assert mine.pool.fingerprint == theirs.pool.fingerprint
        assert list(mine.pool.texts) == list(theirs.pool.texts)
        changing = {"created_at"}
        ours, others = vars(mine.settings), vars(theirs.settings)
        assert {k: v for k, v in ours.items() if k not in changing} == {
            k: v for k, v in others.items() if k not in changing
        }
        yield mine


def test_several_criteria_and_practice_begin_in_the_browser(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = client(owner=True, app=app)
    content = table().to_csv(index=False).encode()
    page = upload(owner, "outputs.csv", content)
    key = key_of(page)
    page = owner.post(f"/begin/{key}/table", data=form_of(page.text, f"/begin/{key}/table"))
    fields = form_of(page.text, f"/begin/{key}/plan") | {"budget": "20", "rated": "several"}
    where = f"/begin/{key}/plan"
    assert "Name one or more" in owner.post(where, data=fields).text
    named = {"criterion-1": "fluency", "criterion-2": "accuracy", "criterion-2-scale": "mqm"}
    for wrong, sentence in [
        ({"criterion-2": "fluency"}, "fluency is given twice"),
        ({"criterion-2": "a:b"}, "without commas, colons"),
        ({"criterion-2": "rater"}, "Every answer already has a rater"),
        ({"criterion-2-scale": "five"}, "two ends such as 1-5"),
        ({"criterion-2-scale": "5-1"}, "two ends such as 1-5"),
        ({"criterion-2-better": "up"}, "Expected one of"),
    ]:
        refused = owner.post(where, data=fields | named | wrong)
        assert refused.status_code == 400
        assert sentence in html.unescape(refused.text), wrong
    # What the single scale says does not matter then.
    ignored = {"scale": "other", "low": "x", "high": ""}
    more = {"criterion-3": "style", "criterion-3-scale": "", "criterion-3-better": ""}
    shown_with = owner.get(where, params=fields | named | more)
    assert 'id="criterion-4"' in shown_with.text and 'id="criterion-5"' not in shown_with.text
    page = owner.post(where, data=fields | named | more | ignored)
    assert page.url.path.endswith("/texts"), page.text
    assert "Accuracy (0 = best, 25 = worst)" in shown(page)
    assert "low_end" not in page.text
    for wrong in ("-1", "21", "two", "1.5"):
        refused = owner.post(f"/begin/{key}/texts", data={"name": "c", "practice": wrong})
        assert refused.status_code == 400
        assert "whole number from 0 to 20" in told(refused)
    page = owner.post(f"/begin/{key}/texts", data={"name": "c", "practice": "3", "go": "look"})
    lines = commands(page)
    page = owner.post(f"/begin/{key}/texts", data=form_of(page.text, f"/begin/{key}/texts"))
    assert page.url.path == "/c/c/overview", told(page)
    with same_by_commands(tmp_path, monkeypatch, lines, content, "c") as made:
        assert [c.spelled for c in made.settings.criteria] == [
            "fluency:1-5:higher", "accuracy:0-25:lower", "style",
        ]  # fmt: skip
        assert made.settings.practice == 3


def pairs(n: int = 60) -> pd.DataFrame:
    """A table with a pair of outputs in each row, of three systems."""
    rng = np.random.default_rng(7)
    both = np.array([rng.permutation(3)[:2] for _ in range(n)])
    names = np.array(["ant-model", "bee-model", "cow-model"])
    return pd.DataFrame(
        {
            "id": [f"q{k:02d}" for k in range(n)],
            "question": [f"What is {k}?" for k in range(n)],
            "answer_a": [f"One says {k}." for k in range(n)],
            "answer_b": [f"Two says {k}." for k in range(n)],
            "model_a": names[both[:, 0]], "model_b": names[both[:, 1]],
            "judge": rng.choice([-1.0, 0.0, 1.0], n),
        }
    )  # fmt: skip


@pytest.mark.parametrize("between", [False, True])
def test_pairs_begin_in_the_browser(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between: bool
) -> None:
    owner = client(owner=True, app=app)
    frame = pairs() if between else pairs().drop(columns=["model_a", "model_b"])
    content = frame.to_csv(index=False).encode()
    page = upload(owner, "outputs.csv", content)
    key = key_of(page)
    where = f"/begin/{key}/table"
    fields = form_of(page.text, where) | {"texts": ["question"]}
    two = {"sides-1": "answer_a", "sides-2": "answer_b"}
    if between:
        two |= {"between-1": "model_a", "between-2": "model_b"}
    for wrong, sentence in [
        (two | {"sides-2": ""}, "choose two columns"),
        (two | {"sides-2": "answer_a"}, "choose two columns"),
        (two | {"sides-2": "nothing"}, "unknown column 'nothing'"),
        (two | {"metrics": ["answer_a"]}, "chosen twice"),
        ({"between-1": "question", "between-2": "answer_a"}, "choose the two texts as well"),
    ]:
        refused = owner.post(where, data=fields | wrong)
        assert refused.status_code == 400
        assert sentence.lower() in told(refused).lower(), wrong
    looked = owner.post(where, data=fields | two | {"go": "look"})
    assert "answer_a and answer_b" in shown(looked)
    assert form_of(looked.text, where)["sides-2"] == ["answer_b"]
    page = owner.post(where, data=fields | two | {"go": "on"})
    assert page.url.path.endswith("/plan"), told(page)
    assert 'name="scale"' not in page.text
    assert "net preference" in shown(page)
    page = owner.post(
        f"/begin/{key}/plan", data=form_of(page.text, f"/begin/{key}/plan") | {"budget": "15"}
    )
    assert page.url.path.endswith("/texts"), page.text
    assert "Which output is better?" in shown(page)
    assert "model" not in page.text.partition("commands")[0]
    lines = commands(page)
    page = owner.post(f"/begin/{key}/texts", data=form_of(page.text, f"/begin/{key}/texts"))
    assert page.url.path == "/c/outputs/overview", told(page)
    with same_by_commands(tmp_path, monkeypatch, lines, content, "outputs") as made:
        assert made.settings.sides == ("answer_a", "answer_b")
        assert made.settings.limits == (-1, 1)
        assert list(made.pool.texts) == ["question", "answer_a", "answer_b"]
        assert (made.pool.system is not None) == between
        if between:
            row = frame.iloc[0]
            assert made.pool.system[0] == f"{row.model_a} vs {row.model_b}"
        assert made.waves[0].n == 15


@pytest.mark.parametrize("column", ["judge_prob", "doubt"])
@pytest.mark.parametrize("systems", [(), ("a", "b")])
def test_a_column_of_the_uncertainty_makes_chances_uneven(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str,
    systems: tuple[str, ...],
) -> None:  # fmt: skip
    owner, frame = client(owner=True, app=app), table(systems=systems)
    rng = np.random.default_rng(3)
    frame["judge_prob"] = (1 / (1 + np.exp(-frame["comet"]))).round(4)
    frame["doubt"] = rng.gamma(2.0, 1.0, len(frame)).round(3)
    content = frame.to_csv(index=False).encode()
    page = upload(owner, "outputs.csv", content)
    key = key_of(page)
    where = f"/begin/{key}/table"
    fields = form_of(page.text, where)
    assert fields["uncertainty"] == [""]
    assert "Known:" in told(owner.post(where, data=fields | {"uncertainty": "none-such"}))
    assert "needs a number" in told(owner.post(where, data=fields | {"uncertainty": "source"}))
    page = owner.post(where, data=fields | {"uncertainty": column})
    assert page.url.path.endswith("/plan"), told(page)
    assert form_of(owner.get(where).text, where)["uncertainty"] == [column]
    assert "docs-uneven+ridge (chosen)" in shown(page)
    assert "docs-balanced+ridge" in shown(page)
    fields = form_of(page.text, f"/begin/{key}/plan") | {"budget": "30", "scale": "0,100"}
    owner.post(f"/begin/{key}/plan", data=fields)
    page = owner.post(f"/begin/{key}/texts", data={"name": "Uneven", "go": "look"})
    lines = commands(page)
    page = owner.post(f"/begin/{key}/texts", data={"name": "Uneven"})
    assert page.url.path == "/c/uneven/overview", told(page)
    with same_by_commands(tmp_path, monkeypatch, lines, content, "uneven") as mine:
        assert mine.settings.strategy == "docs-uneven+ridge"
        assert np.ptp(mine.sample.design.inclusion) > 0.01
        assert f"column {column}" in mine.settings.chances


def test_two_campaigns_of_one_name_have_folders_of_their_own(
    client: Client, app: FastAPI, tmp_path: Path
) -> None:
    owner, content = client(owner=True, app=app), table().to_csv(index=False).encode()
    for place in ("same", "same-2"):
        key = key_of(whole_way(owner, content))
        page = owner.post(f"/begin/{key}/texts", data={"name": "Same!"})
        assert page.url.path == f"/c/{place}/overview"
    assert {p.name for p in tmp_path.iterdir()} == {"same", "same-2"}


def test_nothing_but_the_owner_gets_in(client: Client, app: FastAPI) -> None:
    owner, stranger = client(owner=True, app=app), client(app=app)
    key = key_of(upload(owner, "a.csv", table().to_csv().encode()))
    for page in (
        "",
        f"/{key}/table",
        f"/{key}/plan",
        f"/{key}/plan/results",
        f"/{key}/texts",
        "/job/x",
    ):
        assert stranger.get(f"/begin{page}").status_code == 403, page
    for page in ("", "/demo", f"/{key}/table", f"/{key}/plan", f"/{key}/texts", f"/{key}/delete",
                 f"/{key}/pair", "/job/x/cancel"):  # fmt: skip
        assert stranger.post(f"/begin{page}").status_code == 403, page
    assert upload(stranger, "a.csv", b"id\n1\n").status_code == 403
    assert owner.get("/begin/../../etc/table").status_code == 404
    assert owner.get("/begin/" + "x" * 16 + "/table").status_code == 404


# What the doctor says, and the columns


def test_the_doctor_speaks_and_columns_can_be_named(client: Client, app: FastAPI) -> None:
    owner = client(owner=True, app=app)
    frame = table().rename(columns={"id": "nr", "comet": "judge_a", "output": "made"})
    frame.loc[3, "judge_a"] = np.nan
    page = upload(owner, "odd <names>.csv", frame.to_csv(index=False).encode())
    key, where = key_of(page), str(page.url.path)
    assert "odd <names>.csv" in shown(page)
    assert str(app.state.site.folder) not in page.text
    fields = form_of(page.text, where) | {"id": ["nr"], "texts": ["source", "made"]}
    looked = owner.post(where, data=fields | {"go": "look"})
    assert looked.url.path == where
    assert form_of(looked.text, where)["texts"] == ["source", "made"]
    assert "fewgold doctor 'odd <names>.csv' --id nr" in commands(looked)[0]
    for wrong, sentence in [
        ({"id": ""}, "which column has the ids of the segments"),
        ({"id": "made", "texts": ["source", "made"]}, "chosen twice"),
        ({"document": "nothing"}, "Unknown column 'nothing'"),
        ({"metrics": ["nothing"]}, "Unknown column 'nothing'"),
    ]:
        refused = owner.post(where, data=fields | wrong)
        assert refused.status_code == 400
        assert sentence.lower() in told(refused).lower()
    page = owner.post(where, data=fields)
    assert page.url.path == f"/begin/{key}/plan"


def test_ids_that_come_twice_are_refused_with_a_sentence(client: Client, app: FastAPI) -> None:
    owner, frame = client(owner=True, app=app), table(40)
    frame.loc[1, "id"] = frame.loc[0, "id"]
    page = upload(owner, "a.csv", frame.to_csv(index=False).encode())
    where = str(page.url.path)
    assert "Must be fixed" in page.text
    refused = owner.post(where, data=form_of(page.text, where))
    assert refused.status_code == 400
    assert "s000" in told(refused)


def test_one_of_several_systems_may_be_chosen(client: Client, app: FastAPI, tmp_path: Path) -> None:
    owner, frame = client(owner=True, app=app), table(60, ("one", "two", "three"))
    page = upload(owner, "a.csv", frame.to_csv(index=False).encode())
    key, where = key_of(page), str(page.url.path)
    fields = form_of(page.text, where)
    assert fields["systems"] == ["one", "two", "three"]
    none = owner.post(where, data={k: v for k, v in fields.items() if k != "systems"})
    assert "no system is selected" in told(none).lower()
    # No option chooses some of several systems, so the file must not have the others.
    page = owner.post(where, data=fields | {"systems": ["one", "three"]})
    page = owner.post(f"/begin/{key}/plan", data=form_of(page.text, f"/begin/{key}/plan"))
    assert "keep only the rows of one, three" in page.text
    page = owner.post(where, data=fields | {"systems": ["two"]})
    page = owner.post(f"/begin/{key}/plan", data=form_of(page.text, f"/begin/{key}/plan"))
    assert "keep only the rows" not in page.text and "--only-system two" in page.text
    page = owner.post(f"/begin/{key}/texts", data={"name": "two"})
    assert page.url.path == "/c/two/overview"
    with Campaign(tmp_path / "two") as made:
        assert len(made.pool) == 60
        assert set(made.pool.texts["output"].tolist()) == {f"Output {i} b" for i in range(60)}


# Uploads that come wrong


def zipped(**files: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return made.getvalue()


def tarred(name: str, content: bytes = b"", link: str = "") -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        info = tarfile.TarInfo(name)
        if link:
            info.type, info.linkname = tarfile.SYMTYPE, link
        info.size = 0 if link else len(content)
        archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "it is empty"),
        ("a.csv", b"id,human\n", "no rows"),
        ("a.csv", b"\x00\x01\x02" * 50, "a.csv"),
        ("a.csv", b"id,x,x\n1,2,3\n", "two columns are called 'x'"),
        ("a.csv.gz", gzip.compress(b"id\n1\n" * 99)[:-9], "damaged or incomplete"),
        ("a.xlsx", b"PK\x03\x04 nothing", "a.xlsx"),
        ("a.parquet", b"PAR1", "a.parquet"),
        ("a.jsonl", b"[1", "a.jsonl"),
        ("campaign.fewgold", b"SQLite format 3\x00" + bytes(100), "campaign.fewgold"),
        ("a.zip", b"PK\x03\x04 nothing", "a.zip"),
        ("a.zip", zipped(a=b"id\n1\n", b=b"id\n1\n"), "2 files and no folder of mt-metrics-eval"),
        ("a.zip", zipped(), "0 files"),
        ("a.zip", zipped(**{"../evil.csv": b"id\n1\n"}), "leads outside"),
        ("a.zip", zipped(**{"/evil.csv": b"id\n1\n"}), "leads outside"),
        ("a.zip", zipped(**{"a\\..\\evil.csv": b"id\n1\n"}), "leads outside"),
        ("a.tgz", tarred("../evil.csv", b"id\n1\n"), "leads outside"),
        ("a.tgz", tarred("evil.csv", link="/etc/passwd"), "0 files"),
        ("", b"id\n1\n", "no file was sent"),
    ],
    ids=[f"case{k}" for k in range(18)],
)  # fmt: skip
def test_uploads_that_cannot_be_used(
    client: Client, app: FastAPI, tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    answer = upload(client(owner=True, app=app), name, content)
    check(answer, name)
    assert answer.status_code == 400
    assert sentence.lower() in told(answer).lower()
    assert str(tmp_path) not in answer.text
    assert [p.name for p in tmp_path.rglob("*")] in ([], [".fewgold"])  # nothing is left
    assert not (tmp_path.parent / "evil.csv").exists()


def test_archives_are_bounded_by_what_they_unpack_to(
    client: Client, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = client(owner=True, app=app)
    monkeypatch.setattr(drafts, "MOST_BYTES", 10_000)
    bomb = zipped(a=b"0" * 5_000_000)
    assert len(bomb) < 10_000
    assert "unpacks to more than" in told(upload(owner, "a.zip", bomb))
    monkeypatch.setattr(drafts, "_MOST_FILES", 3)
    many = zipped(**{f"f{k}": b"x" for k in range(5)})
    assert "more than 3 files" in told(upload(owner, "a.zip", many))
    answer = owner.post("/begin", content=b"x", headers={"Content-Length": "50000001"})
    assert answer.status_code == 413


def test_a_table_in_an_archive_is_a_table(client: Client, app: FastAPI) -> None:
    content = table(30).to_csv(index=False).encode()
    for name, packed in [
        ("a.zip", zipped(folder__outputs=content)),
        ("a.tar.gz", tarred("./outputs.csv", content)),
        ("a.csv.gz", gzip.compress(content)),
    ]:
        page = upload(client(owner=True, app=app), name, packed)
        assert page.status_code == 200, told(page)
        assert "Segments 30" in shown(page)


def test_a_tree_of_test_sets_with_its_languages(
    client: Client, app: FastAPI, tmp_path: Path
) -> None:
    lines = {
        "sources/en-de.txt": [f"Source {k}." for k in range(12)],
        "sources/en-ru.txt": [f"Source {k}." for k in range(4)],
        "documents/en-de.docs": [f"news d{k // 3}" for k in range(12)],
        "system-outputs/en-de/sysA.txt": [f"A {k}" for k in range(12)],
        "system-outputs/en-ru/sysA.txt": [f"A {k}" for k in range(4)],
        "metric-scores/en-de/QE-src.seg.score": [f"sysA {k}.5" for k in range(12)],
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in lines.items():
            archive.writestr(f"mt-metrics-eval-v2/wmt99/{name}", "\n".join(text) + "\n")
    owner = client(owner=True, app=app)
    page = upload(owner, "wmt99.zip", made.getvalue())
    key = key_of(page)
    assert form_of(page.text, f"/begin/{key}/pair")["pair"] == [""]
    assert commands(page)[0].endswith("wmt99/en-de")
    assert owner.post(f"/begin/{key}/pair", data={"pair": "en-xx"}).status_code == 400
    page = owner.post(f"/begin/{key}/pair", data={"pair": "en-de"})
    assert "Segments 12" in shown(page)
    page = owner.post(f"/begin/{key}/table", data=form_of(page.text, f"/begin/{key}/table"))
    assert page.url.path.endswith("/plan"), told(page)
    page = owner.post(
        f"/begin/{key}/plan", data=form_of(page.text, f"/begin/{key}/plan") | {"budget": "5"}
    )
    assert "--pair en-de" in commands(page)[0]
    page = owner.post(f"/begin/{key}/texts", data={"name": "tree"})
    assert page.url.path == "/c/tree/overview", told(page)
    with Campaign(tmp_path / "tree") as campaign:
        assert len(campaign.pool) == 12
        assert campaign.waves[0].n == 5


def test_texts_that_wish_us_ill_are_shown_and_never_run(client: Client, app: FastAPI) -> None:
    n = 40
    evil = [live.ATTACKS[k % len(live.ATTACKS)] for k in range(n)]
    frame = pd.DataFrame(
        {
            "id": [f"{e} {k}" for k, e in enumerate(evil)],
            "document": [f"{live.SCRIPT}{k // 4}" for k in range(n)],
            f"output{live.IMAGE}": evil, "source": evil[::-1],
            f"comet{live.SCRIPT}": np.arange(n) % 7 + 0.5,
        }
    )  # fmt: skip
    owner = client(owner=True, app=app)
    page = upload(owner, f"{live.SCRIPT}.csv", frame.to_csv(index=False).encode())
    check(page, "table")
    key = key_of(page)
    fields = form_of(page.text, f"/begin/{key}/table")
    fields |= {"texts": ["source", f"output{live.IMAGE}"]}
    for step, more in [("table", fields), ("plan", {"scale": "other"}), ("plan", {})]:
        before = form_of(page.text, f"/begin/{key}/{step}") if step == "plan" else {}
        page = owner.post(f"/begin/{key}/{step}", data={**before, "scale": "0,100", **more})
        check(page, step)
    page = owner.post(
        f"/begin/{key}/texts", data={
            "name": live.SCRIPT, "question": live.IMAGE, "go": "look", "low_end": live.SCRIPT,
            "high_end": live.IMAGE, "instructions": "\n\n".join(live.ATTACKS),
        },
    )  # fmt: skip
    check(page, "texts")
    check(owner.get("/begin"), "begin")
    page = owner.post(f"/begin/{key}/texts", data={"name": live.SCRIPT, "question": live.IMAGE})
    assert page.url.path == "/c/script-alert-x-script/overview"
    check(page, "overview")
    for more in ("waves", "downloads", "raters", "explore"):
        check(owner.get(f"/c/script-alert-x-script/{more}"), more)
    check(owner.get("/"), "home")


# What survives, and work that takes longer


def test_a_draft_survives_the_end_of_the_server(
    client: Client, app: FastAPI, tmp_path: Path
) -> None:
    owner = client(owner=True, app=app)
    page = whole_way(owner, table().to_csv(index=False).encode(), budget="23")
    key = key_of(page)
    owner.post(f"/begin/{key}/texts", data={"name": "kept", "question": "Why?", "go": "look"})
    half = tmp_path / ".fewgold" / ("h" * 16)  # an upload that was cut off
    half.mkdir()
    (half / "upload.csv").write_text("id\n1")

    again = client(owner=True, app=create_app(folder=tmp_path, token=live.TOKEN))
    listed = again.get("/begin").text
    assert f"/begin/{key}/table" in listed
    assert "h" * 16 not in listed
    fields = form_of(again.get(f"/begin/{key}/plan").text, f"/begin/{key}/plan")
    assert fields["budget"] == ["23"]
    fields = form_of(again.get(f"/begin/{key}/texts").text, f"/begin/{key}/texts")
    assert (fields["name"], fields["question"]) == (["kept"], ["Why?"])
    assert again.post(f"/begin/{key}/texts", data=fields).url.path == "/c/kept/overview"
    for spoilt in ("{", "[]", '{"name": 3}', '{"name": "a", "file": "../../x", "shown": "a"}'):
        (half / "draft.json").write_text(spoilt)
        assert again.get(f"/begin/{'h' * 16}/table").status_code == 404
    (half / "draft.json").write_text('{"name": "a", "file": "upload.csv", "shown": "a"}')
    assert again.post(f"/begin/{'h' * 16}/delete").url.path == "/begin"
    assert not half.exists()


def test_reading_takes_long_and_can_be_cancelled(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on, real = threading.Event(), beginning.DraftTable.read

    def slow(draft: drafts.Draft) -> beginning.DraftTable:
        assert on.wait(PATIENCE)
        return real(draft)

    monkeypatch.setattr(beginning.DraftTable, "read", slow)
    monkeypatch.setattr("fewgold.web.begin._SOON", 0.05)
    owner = client(owner=True, app=app)
    page = upload(owner, "slow.csv", table().to_csv(index=False).encode())
    assert page.url.path.startswith("/begin/job/")
    assert "Reading slow.csv" in page.text
    assert 'role="status"' in page.text
    progress = owner.get(f"{page.url.path}/progress")
    assert "1 of 3 parts" in progress.text
    stopped = owner.post(f"{page.url.path}/cancel")
    assert "Stopping after the current part" in stopped.text
    on.set()
    for _ in range(200):
        stopped = owner.get(page.url.path)
        if "Cancelled" in stopped.text:
            break
        threading.Event().wait(0.05)
    assert "Cancelled. Nothing was changed." in stopped.text
    assert owner.get(f"{page.url.path}/progress").headers["hx-redirect"] == page.url.path
    assert list(tmp_path.rglob("*.csv")) == []


def test_a_campaign_begins_whole_or_not_at_all(
    client: Client, app: FastAPI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = client(owner=True, app=app)
    key = key_of(whole_way(owner, table().to_csv(index=False).encode()))

    def fails(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(Campaign, "select", fails)
        page = owner.post(f"/begin/{key}/texts", data={"name": "whole"})
        assert page.status_code == 400
    assert [p.name for p in tmp_path.iterdir()] == [".fewgold"]
    assert owner.post(f"/begin/{key}/texts", data={"name": "whole"}).url.path == "/c/whole/overview"


# The plan


def test_the_expected_interval_is_that_of_the_outlook(client: Client, app: FastAPI) -> None:
    owner = client(owner=True, app=app)
    frame = table().drop(columns="human")
    page = upload(owner, "a.csv", frame.to_csv(index=False).encode())
    key = key_of(page)
    page = owner.post(f"/begin/{key}/table", data=form_of(page.text, f"/begin/{key}/table"))
    fields = {k: v[-1] for k, v in form_of(page.text, f"/begin/{key}/plan").items()}
    fields |= {"sd": "20", "correlation": "0.6", "budget": "40", "strategy": "random+ridge"}
    answer = owner.get(f"/begin/{key}/plan/results", params=fields)
    outlook = Outlook(sd=20, correlation=0.6, size=120, icc=0.15, per_document=6.0)
    labels = re.findall(r"<label[^>]*>([^<]*)<", page.text)
    assert "Wanted ±" in labels and not any("Campaign" in label for label in labels)
    half = re.search(r'data-testid="half">± ([\d.]+)<', answer.text)
    assert half is not None
    assert float(half[1]) == pytest.approx(outlook.half_width("random+ridge", 40), rel=0.01)
    assert outlook.half_width("random+ridge", 120) == 0.0
    for field, value in [("budget", "121"), ("budget", "0"), ("sd", "-1"), ("tolerance", "80"),
                         ("confidence", "2"), ("scale", "x"), ("strategy", "x")]:  # fmt: skip
        wrong = owner.get(f"/begin/{key}/plan/results", params=fields | {field: value})
        assert "Expected" in wrong.text, field
        refused = owner.post(f"/begin/{key}/plan", data=fields | {field: value})
        assert refused.status_code == 400
        assert "Please correct" in refused.text
    other = {"scale": "other", "low": "5", "high": "1"}
    assert "Expected more than 5" in owner.post(f"/begin/{key}/plan", data=fields | other).text


def test_human_scores_of_another_scale_are_not_used(client: Client, app: FastAPI) -> None:
    owner = client(owner=True, app=app)
    page = upload(owner, "a.csv", table().to_csv(index=False).encode())  # 0 to 100
    key = key_of(page)
    page = owner.post(f"/begin/{key}/table", data=form_of(page.text, f"/begin/{key}/table"))
    fields = {k: v[-1] for k, v in form_of(page.text, f"/begin/{key}/plan").items()}
    where = f"/begin/{key}/plan/results"
    assert "uses the 120 human scores" in shown(owner.get(where, params=fields))
    for other in (
        {"scale": "1,5"},
        {"rated": "several", "criterion-1": "fluency"},
        {"scale": "other", "low": "0", "high": "5000"},
    ):
        told = shown(owner.get(where, params=fields | other))
        assert "are on a different scale and are not used" in told, other
        assert "This is a guess" in told
    own = shown(owner.get(where, params=fields | {"sd": "3"}))
    assert "This assumes a standard deviation of 3.00" in own


@pytest.mark.parametrize(
    ("scores", "name", "scale"),
    [
        ([0, 1, 1], "human", {"scale": "0,1"}),
        ([1, 3, 5], "human", {"scale": "1,5"}),
        ([0, 50, 100], "human", {"scale": "0,100"}),
        ([60, 65, 80], "human", {"scale": "0,100"}),
        ([0, 1, 9], "mqm", {"scale": "mqm", "better": "lower"}),
        ([0, 4, 10], "human", {"scale": "other", "low": "0", "high": "10"}),
        ([-1.5, 0.2, 1.5], "human", {"scale": "none"}),
    ],
)
def test_the_scale_is_that_of_the_human_scores_in_the_table(
    client: Client, app: FastAPI, scores: list[float], name: str, scale: dict[str, str]
) -> None:
    frame = table()
    order = frame["comet"].rank().to_numpy() * len(scores) / (len(frame) + 1)
    given = np.array(scores, float)[order.astype(int)]  # follows the metric
    if name == "mqm":
        given = given[::-1]
    frame = frame.drop(columns="human").assign(**{name: given})
    owner = client(owner=True, app=app)
    key = key_of(upload(owner, "a.csv", frame.to_csv(index=False).encode()))
    where = f"/begin/{key}/table"
    columns = form_of(owner.get(where).text, where) | {"human": [name]}
    columns["metrics"] = [m for m in columns["metrics"] if m != name]
    page = owner.post(where, data=columns)
    fields = {k: v[-1] for k, v in form_of(page.text, f"/begin/{key}/plan").items()}
    wanted = {"low": "", "high": "", "better": "higher"} | scale
    assert {k: fields[k] for k in wanted} == wanted
    assert "A guess from the human scores in the table." in page.text
    assert "are on a different scale" not in page.text


def test_human_scores_in_the_table_replace_the_guess(tmp_path: Path) -> None:
    """The spread is that within systems, and the similarity that of their scores."""
    rng = np.random.default_rng(4)
    n = 400
    ids = [f"s{k}" for k in range(n)]
    hard = rng.normal(size=n)
    parts = [
        pd.DataFrame(
            {"id": ids, "system": name, "output": [f"o{k} {name}" for k in range(n)],
             "metric": hard + rng.normal(size=n), "human": 50 + shift + 10 * hard
             + rng.normal(0, 5, n)}
        )
        for name, shift in (("a", 0), ("b", 30))
    ]  # fmt: skip
    frame = pd.concat(parts)
    place = drafts.Drafts(tmp_path)
    draft = place.begin("a.csv", io.BytesIO(frame.to_csv(index=False).encode()))
    drafts.unpack(draft)
    made = beginning.DraftTable.read(draft)
    about = beginning.known(made)
    assert about is not None
    by_system = frame.groupby("system")["human"].var(ddof=1).mean()
    assert about.sd == pytest.approx(np.sqrt(by_system))
    assert about.labels == 2 * n
    wide = frame.pivot(index="id", columns="system", values="human")
    assert about.similar == pytest.approx(wide["a"].corr(wide["b"]), abs=1e-6)
    apart = beginning.outlook(made, about, differences=True)
    assert apart.sd == pytest.approx((wide["a"] - wide["b"]).std(), rel=0.02)
    r2 = np.mean([g["metric"].corr(g["human"]) ** 2 for _, g in frame.groupby("system")])
    assert about.correlation == pytest.approx(np.sqrt(r2), abs=0.02)
    few = beginning.DraftTable.read(draft)
    few.frame.loc[few.frame.index[:], "human"] = np.nan
    assert beginning.known(few.with_columns(few.chosen)) is None


def test_a_draft_is_on_the_disk_when_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    draft = drafts.Drafts(tmp_path).begin("a.csv", io.BytesIO(b"id\n1\n"))
    drafts.unpack(draft)
    assert synced
