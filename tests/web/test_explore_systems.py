"""Explore for a campaign of several systems: all of them, and each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from campaign.test_systems import SYSTEMS, begun, rate
from fewgold.web import create_app

TOKEN = "o" * 20


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[TestClient]:
    with begun(tmp_path) as study:
        rate(study, study.select(20).ids, "ann")
        study.more(5)
    app = create_app(tmp_path / "study", token=TOKEN)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.get(f"/?token={TOKEN}")
        yield client


def test_all_systems_are_ranked(owner: TestClient) -> None:
    page = owner.get("/explore")
    assert page.status_code == 200
    order = re.findall(r'<th scope="row"><a href="[^"]*system=(\w+)">', page.text)
    assert order == list(SYSTEMS)
    assert "60 of 75 chosen outputs of 3 systems are rated" in page.text
    for address in re.findall(r'src="([^"]*/figure/[^"]*)"', page.text):
        drawn = owner.get(address)
        assert drawn.status_code == 200 and drawn.text.lstrip().startswith(("<svg", "<?xml"))
    assert "3 systems compared" in owner.get("/explore/report.html").text


def test_one_system_has_a_page_of_its_own(owner: TestClient) -> None:
    page = owner.get("/explore", params={"system": "beta"})
    assert "about the system beta alone" in page.text and "study: beta" in page.text
    figures = re.findall(r'src="([^"]*/figure/[^"]*)"', page.text)
    assert figures and all("system=beta" in address for address in figures)
    links = re.findall(r'href="([^"]*/explore/table/[^"]*)"', page.text)
    assert links and all("system=beta" in address for address in links)
    # Another page in the same browser does not change what this one loads.
    owner.get("/explore", params={"system": "alpha"})
    beta, alpha = (
        owner.get("/explore/table/scores.csv", params={"system": s}).text for s in ("beta", "alpha")
    )
    assert beta != alpha and len(beta.splitlines()) == 21
    assert owner.get("/explore/number").text.count("study: alpha") <= 1
    assert "study: alpha" in owner.get("/explore/report.md").text
    # Answers and tasks are those of the whole campaign all the same.
    assert len(owner.get("/explore/answers", params={"to": "csv"}).text.splitlines()) > 60
    back = owner.get("/explore", params={"system": ""})
    assert "3 systems" in back.text


def test_an_unknown_system_is_none(owner: TestClient) -> None:
    assert "3 systems are rated" in owner.get("/explore", params={"system": "<b>"}).text
