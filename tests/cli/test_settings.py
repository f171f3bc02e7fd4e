"""fewgold settings: what was decided about a campaign, and changes that are noted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewgold.campaign import Campaign

Run = Callable[..., Any]


@pytest.fixture
def study(run: Run) -> str:
    Path("pool.csv").write_text(
        "id,output,comet\n" + "".join(f"s{k},text {k},{k % 7}.5\n" for k in range(30)), "utf-8"
    )
    run("init", "study", "pool.csv", "--limits", "0,100", "--higher-is-better", "--seed", "1")
    return "study"


def told(run: Run, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("settings", "study", *options, "--json").stdout)
    return found


def test_settings_are_shown_and_changed(run: Run, study: str) -> None:
    before = told(run)
    assert before["limits"] == [0, 100] and before["changed"] == []
    Path("guide.md").write_text("Take **care**.", "utf-8")
    after = told(
        run, "--ends", "useless,perfect", "--instructions", "guide.md", "--question", "How good?",
        "--each", "2", "--tolerance", "3", "--confidence", "90%", "--show", "metrics",
        "--repeats", "first", "--among", "median", "--rule", "hall",
    )  # fmt: skip
    assert after["changed"] == [
        "among", "confidence", "each", "ends", "instructions", "question", "repeats", "rule",
        "shown", "tolerance",
    ]  # fmt: skip
    with Campaign(study) as campaign:
        found = campaign.settings
        assert found.ends == ("useless", "perfect") and found.instructions == "Take **care**."
        assert (found.each, found.tolerance, found.confidence) == (2, 3.0, 0.9)
        assert found.shown == ("metrics",)
        assert campaign.store.journal()["what"].iloc[-1] == "change"
        changes = len(campaign.store.journal())
    assert told(run, "--each", "2")["changed"] == []  # as it is: nothing is noted
    with Campaign(study) as campaign:
        assert len(campaign.store.journal()) == changes
    text = run("settings", study).stdout
    assert "0 = useless (worst), 100 = perfect (best)" in text and "How good?" in text


def test_none_takes_a_setting_away(run: Run, study: str) -> None:
    told(run, "--ends", "bad,good", "--tolerance", "3", "--show", "metrics")
    after = told(
        run, "--ends", "none", "--tolerance", "none", "--show", "none", "--instructions", "none",
        "--question", "", "--no-direction", "--limits", "none",
    )  # fmt: skip
    assert after["ends"] is None and after["tolerance"] is None and after["shown"] == []
    assert after["limits"] is None and after["higher_is_better"] is None
    assert after["question"] == "Rate this output."


def test_what_cannot_be_is_refused(run: Run, study: str) -> None:
    for code, options, said in (
        (2, ("--ends", "useless"), "must name both ends"),
        (3, ("--tolerance", "70"), "half of the scale"),
        (3, ("--instructions", "nowhere.md"), "there is no file"),
        (3, ("--show", "everything"), "everything"),
        (2, ("--higher-is-better", "--no-direction"), "cannot be combined"),
    ):
        refused = run("settings", study, *options, code=code)
        assert said in " ".join(refused.output.split()), options
    with Campaign(study) as campaign:
        assert "change" not in set(campaign.store.journal()["what"])
