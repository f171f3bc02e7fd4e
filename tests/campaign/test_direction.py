"""Raters are told which end of the scale is good, or nothing where nobody said so."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from fewgold import formats, web
from fewgold.campaign import Campaign
from fewgold.errors import FewgoldError
from fewgold.pool import Pool

#: Formats that have room for instructions.
TALKATIVE = ("label-studio", "label-studio-csv", "pearmut", "argilla", "potato", "xlsx")
GOOD, BAD, NEUTRAL = (
    "How good is this output?", "How bad are the errors in this output?", "Rate this output.",
)  # fmt: skip
CASES = [
    ((0, 25), False, BAD, "0 = best, 25 = worst"),
    ((0, 25), True, GOOD, "0 = worst, 25 = best"),
    ((0, 25), None, NEUTRAL, "0 to 25"),
    ((0, 100), True, GOOD, "0 = worst, 100 = best"),
    ((-25, 0), None, NEUTRAL, "-25 to 0"),
    ((1, 5), False, BAD, "1 = best, 5 = worst"),
    ((0, 1), True, "Is this output adequate?", "0 = no (worst), 1 = yes (best)"),
    ((0, 1), False, "Does this output have an error?", "0 = no (best), 1 = yes (worst)"),
    (None, False, BAD, "more is worse"),
]


def page_of(study: Campaign) -> str:
    token = study.desk.add_rater("ann")
    client = TestClient(web.create_app(study.path), base_url="http://127.0.0.1")
    return str(client.get(f"/rate/{token}").text)


def written(folder: Path) -> str:
    found = []
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as book:
                found += [book.read(name).decode() for name in book.namelist()]
        else:
            found.append(data.decode())
    return "\n".join(found)


@pytest.mark.parametrize(("limits", "higher", "question", "words"), CASES)
def test_pages_and_exports_say_which_end_is_good(
    tmp_path: Path, pool: Pool, limits: Any, higher: bool | None, question: str, words: str
) -> None:
    study = Campaign.create(
        tmp_path / "study", pool, seed=4, limits=limits, higher_is_better=higher
    )
    study.select(6)
    page = page_of(study)
    assert question in page and (higher is True or "How good" not in page)
    assert limits == (0, 1) or words in page
    claims = [w for w in ("best", "worst", "better", "worse") if w in page]
    assert bool(claims) == (higher is not None)
    for to in TALKATIVE:
        folder = tmp_path / to
        folder.mkdir()
        form = formats.get(to)
        form.write_tasks(study.tasks(), folder / f"tasks{form.suffixes[0]}")
        text = written(folder)
        assert question in text and (words in text or words.capitalize() in text), to
        assert higher is True or "How good" not in text, to
        assert higher is not None or ("best" not in text and "worst" not in text), to


def test_both_ends_are_labelled_beside_the_control(tmp_path: Path, pool: Pool) -> None:
    study = Campaign.create(tmp_path / "study", pool, seed=4, limits="mqm")
    study.select(3)
    assert "<span>0 = best</span> <span>25 = worst</span>" in page_of(study)
    study.change(limits=(0, 1), question="Is it fluent?", higher_is_better=True)
    study.desk.remove_rater("ann")
    page = page_of(study)
    assert "<span>Yes = best</span> <span>No = worst</span>" in page and "Is it fluent?" in page


def test_the_name_of_a_scale_tells_the_direction(tmp_path: Path, pool: Pool) -> None:
    made = {
        name: Campaign.create(tmp_path / name, pool, seed=4, limits=name).settings
        for name in ("mqm", "da", "likert5", "binary")
    }
    assert {n: s.higher_is_better for n, s in made.items()} == {
        "mqm": False, "da": True, "likert5": True, "binary": True,
    }  # fmt: skip
    turned = Campaign.create(tmp_path / "turned", pool, limits="da", higher_is_better=False)
    assert turned.settings.higher_is_better is False
    with pytest.raises(FewgoldError, match="higher_is_better must be True, False or None"):
        turned.change(higher_is_better="no")


def test_campaigns_of_earlier_versions_ask_neutrally(tmp_path: Path, pool: Pool) -> None:
    """They stored a question that nobody chose, and no direction."""
    study = Campaign.create(tmp_path / "study", pool, seed=4, limits=(0, 25))
    study.select(6)
    study.close()
    with sqlite3.connect(study.path) as database:
        database.execute("DELETE FROM meta WHERE name = 'higher_is_better'")
        database.execute(
            "UPDATE meta SET value = '\"How good is this output?\"' WHERE name = 'question'"
        )
    database.close()
    with Campaign(tmp_path / "study") as old:
        assert old.settings.higher_is_better is None and old.settings.asked == NEUTRAL
        assert old.tasks().question == NEUTRAL and NEUTRAL in page_of(old)
        old.change(higher_is_better=False)
        assert old.settings.asked == BAD
    with Campaign(tmp_path / "study") as again:
        assert again.settings.higher_is_better is False


def test_a_tool_that_asks_the_other_way_round_is_pointed_out(tmp_path: Path, pool: Pool) -> None:
    from typer.testing import CliRunner

    from fewgold.cli import app

    for higher in (True, False):
        path = tmp_path / str(higher)
        with Campaign.create(path, pool, limits=(0, 100), higher_is_better=higher) as study:
            study.select(3)
        out = ["-o", str(path / "tasks.json"), "--to", "appraise"]
        said = CliRunner().invoke(app, ["export", str(path), *out])
        assert said.exit_code == 0 and ("Reverse the scores" in said.stderr) == (not higher)


def test_what_the_owner_asks_is_asked(tmp_path: Path, pool: Pool) -> None:
    study = Campaign.create(
        tmp_path / "study", pool, limits=(0, 25), question="Count them.", higher_is_better=False
    )
    study.select(3)
    assert "Count them." in page_of(study)
    assert study.tasks()._instruction == "Count them. (0 = best, 25 = worst)"


def test_the_owner_names_the_ends_and_writes_instructions(tmp_path: Path, pool: Pool) -> None:
    study = Campaign.create(
        tmp_path / "study", pool, seed=4, limits=(0, 100), higher_is_better=True,
        question="How fluent is it?", ends=("broken", "as a native speaker would"),
        instructions="# Before you begin\n\n- Read **all** of it.\n- <script>alert(1)</script>",
    )  # fmt: skip
    study.select(6)
    page = page_of(study)
    words = "0 = broken (worst), 100 = as a native speaker would (best)"
    assert "<span>0 = broken (worst)</span>" in page and words in page
    assert "<h2>Before you begin</h2>" in page and "<strong>all</strong>" in page
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    for to in TALKATIVE:
        folder = tmp_path / to
        folder.mkdir()
        form = formats.get(to)
        form.write_tasks(study.tasks(), folder / f"tasks{form.suffixes[0]}")
        text = written(folder)
        assert "How fluent is it?" in text and words in text, to
        assert "Before you begin" in text and "<script>" not in text.lower(), to


def test_the_ends_of_yes_and_no(tmp_path: Path, pool: Pool) -> None:
    study = Campaign.create(
        tmp_path / "study", pool, seed=4, limits=(0, 1), higher_is_better=False,
        question="Is anything wrong?", ends=("all is right", "something is wrong"),
    )  # fmt: skip
    study.select(3)
    page = page_of(study)
    assert "<span>Yes = something is wrong (worst)</span>" in page
    assert "<span>No = all is right (best)</span>" in page


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"ends": ("good", "")}, "ends are labels for the low and the high end"),
        ({"ends": ("a" * 81, "b")}, "up to 80 characters"),
        ({"ends": ("low", "high"), "limits": None}, "need a single scale with limits"),
        ({"instructions": "x" * 50_001}, "50,000 characters"),
    ],
)
def test_words_that_cannot_be(tmp_path: Path, pool: Pool, wrong: Any, told: str) -> None:
    options = {"limits": (0, 100), "seed": 1} | wrong
    with pytest.raises(FewgoldError, match=told):
        Campaign.create(tmp_path / "study", pool, **options)
