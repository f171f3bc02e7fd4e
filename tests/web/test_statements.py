"""How many SQL statements a rating takes: each is a moment that every other rater may wait for."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from campaign.test_systems import begun
from fewgold.campaign import Campaign
from fewgold.web import create_app

MOST = 12
HTMX = {"Origin": "http://127.0.0.1", "HX-Request": "true"}


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that any connection runs from now on, PRAGMAs and BEGIN included."""
    told: list[str] = []
    connect = sqlite3.connect

    def connected(*args: Any, **options: Any) -> sqlite3.Connection:
        found = connect(*args, **options)
        found.set_trace_callback(told.append)
        return found

    monkeypatch.setattr(sqlite3, "connect", connected)
    return told


@pytest.fixture
def ann(
    traced: list[str], study: tuple[Path, dict[str, str]]
) -> Iterator[tuple[TestClient, str, list[str]]]:
    path, secrets = study
    with TestClient(create_app(path), base_url="http://127.0.0.1", headers=HTMX) as client:
        yield client, f"/rate/{secrets['ann']}", traced


def fields(page: str) -> dict[str, str]:
    found = {
        name: re.search(rf'name="{name}" value="([^"]*)"', page)[1] for name in ("segment", "form")
    }
    return {**found, "score": "50"}


def test_a_rating_takes_few_statements(
    ann: tuple[TestClient, str, list[str]], study: tuple[Path, dict[str, str]]
) -> None:
    client, link, traced = ann
    page = client.get(link).text
    for _ in range(4):
        form = fields(page)
        traced.clear()
        page = client.post(link, data=form).text
        counted = list(traced)
        assert len(counted) <= MOST, "\n".join(counted)
        # The answer and the next segment are one transaction, which is on the disk at its end.
        assert sum(s.startswith("BEGIN IMMEDIATE") for s in counted) == 1
        assert sum(s.startswith("COMMIT") for s in counted) == 1
        assert fields(page)["segment"] != form["segment"]
    with Campaign(study[0]) as campaign:
        assert len(campaign.answers()) == 4


def test_a_rating_of_one_of_several_systems_takes_as_few(traced: list[str], tmp_path: Path) -> None:
    with begun(tmp_path) as made:
        made.select(5)
        link = f"/rate/{made.desk.add_rater('ann')}"
    with TestClient(
        create_app(tmp_path / "study"), base_url="http://127.0.0.1", headers=HTMX
    ) as client:
        page = client.get(link).text
        for _ in range(14):  # the first, second and last output of a segment, and the next segment
            form = fields(page)
            traced.clear()
            page = client.post(link, data=form).text
            assert len(traced) <= MOST, "\n".join(traced)


def test_connections_that_are_kept_wait_for_the_disk(
    ann: tuple[TestClient, str, list[str]],
) -> None:
    client, link, _ = ann
    client.get(link)
    with client.app.state.site.open() as campaign:  # type: ignore[attr-defined]
        for name, value in (("synchronous", 2), ("foreign_keys", 1), ("journal_mode", "wal")):
            found = campaign.store.database.execute(f"PRAGMA {name}").fetchone()[0]
            assert found == value, name


def test_settings_that_others_change_count_at_once(
    ann: tuple[TestClient, str, list[str]], study: tuple[Path, dict[str, str]]
) -> None:
    client, link, _ = ann
    assert "Is it blue?" not in client.get(link).text
    with Campaign(study[0]) as campaign:
        campaign.change(question="Is it blue?")
    assert "Is it blue?" in client.get(link).text


def test_a_file_that_was_put_in_its_place_is_opened_anew(
    ann: tuple[TestClient, str, list[str]], study: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    client, link, _ = ann
    path = study[0] / "campaign.fewgold"
    copy = tmp_path / "copy.fewgold"
    with Campaign(path) as campaign, sqlite3.connect(copy) as target:
        campaign.store.database.backup(target)
    target.close()
    client.post(link, data=fields(client.get(link).text))
    for log in ("-wal", "-shm"):
        Path(f"{path}{log}").unlink(missing_ok=True)
    copy.replace(path)
    client.post(link, data=fields(client.get(link).text))
    with Campaign(path) as campaign:
        assert len(campaign.answers()) == 1
