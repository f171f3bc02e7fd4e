"""Tables with names of their owner's: texts are no ids, spoilt ids are told of."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from fewgold.doctor import Diagnosis, examine


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _table() -> pd.DataFrame:
    rows = [
        {
            "utterance_id": f"{d:02d}-{t}",
            "dialog": f"d{d:02d}",
            "user_prompt": f"could you tell me about number {10 * d + t}",
            "model_answer": f"it is the number {10 * d + t} of them all",
            "bertscore": 0.8 + (7 * d + 3 * t) % 11 / 100,
        }
        for d in range(12)
        for t in range(4)
    ]
    return pd.DataFrame(rows)


def _seen(table: pd.DataFrame) -> Diagnosis:
    table.to_csv("bot.csv", index=False)
    return examine("bot.csv")


def _codes(found: Diagnosis) -> set[str]:
    return {f.code for f in found.findings}


def test_raters_get_the_texts() -> None:
    found = _seen(_table())
    assert found.exit_code == 0
    assert "12 (column dialog)" in found.facts["documents"]
    assert {"ids-elsewhere", "texts-elsewhere"} <= _codes(found)
    for command in found.next_commands:
        assert "--id utterance_id --texts user_prompt,model_answer" in command.text


def test_references_are_not_shown() -> None:
    table = _table().rename(columns={"user_prompt": "human_reference"})
    assert "--texts model_answer" in _seen(table).next_commands[0].text


def test_spoilt_ids_are_told_of_and_no_text_takes_their_place() -> None:
    table = _table()
    table.loc[3, "utterance_id"] = table.loc[2, "utterance_id"]
    table.loc[9, "utterance_id"] = None
    found = _seen(table)
    assert found.exit_code == 3
    assert {"missing-ids", "duplicate-ids"} <= _codes(found)
    assert "ids-elsewhere" not in _codes(found)


def test_ids_that_start_again_in_each_dialogue() -> None:
    table = _table()
    table["utterance_id"] = table["utterance_id"].str[-1]
    found = _seen(table)
    assert "ids-by-document" in _codes(found)
    assert "t['dialog']" in found.next_commands[0].text


def test_systems_under_another_name() -> None:
    table = pd.concat([_table().assign(chatbot=name) for name in ("one", "two")])
    table["model_answer"] = table["chatbot"] + " says: " + table["model_answer"]
    found = _seen(table)
    assert found.facts["segments"].startswith("48 (column utterance_id")
    assert "--shared --id utterance_id --system chatbot" in found.next_commands[0].text


def test_texts_alone_are_no_ids() -> None:
    found = _seen(_table().drop(columns=["utterance_id", "dialog"]))
    assert "no-ids" in _codes(found)
