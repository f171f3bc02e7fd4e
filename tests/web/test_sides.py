"""Outputs side by side on the page of a rater, and attention checks."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.pool import Pool
from fewgold.web import create_app

ORIGIN = {"Origin": "http://127.0.0.1"}


def texts(page: str) -> dict[str, str]:
    """What is shown, by its heading."""
    found = re.findall(r'<h2>([^<]*)</h2><div class="words" dir="auto">([^<]*)</div>', page)
    return {name: html.unescape(text) for name, text in found}


def hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'name="(segment|form|since)" value="([^"]*)"', page))


def test_a_rater_compares_two_outputs(tmp_path: Path) -> None:
    n = 12
    pool = Pool(
        ids=np.array([f"gpt-{i}" for i in range(n)]),
        documents=np.array([f"doc{i // 3}" for i in range(n)]),
        metrics={"judge": np.linspace(-1, 1, n)},
        texts={
            "source": np.array([f"question {i}" for i in range(n)]),
            "gpt": np.array([f"first {i}" for i in range(n)]),
            "ours": np.array([f"second {i}" for i in range(n)]),
        },
    )
    study = Campaign.create(tmp_path / "s", pool, seed=1, strategy="random", sides=("gpt", "ours"))
    study.select(8)
    link = f"/rate/{study.desk.add_rater('ann')}"
    with TestClient(create_app(study.path), base_url="http://127.0.0.1", headers=ORIGIN) as client:
        page, left = client.get(link).text, 0
        assert "Which output is better?" in page and 'data-testid="sides"' in page
        for k in range(8):
            shown = texts(page)
            assert set(shown) == {"source", "Left", "Right"}  # no neighbours, no names
            assert "gpt" not in page and "ours" not in page.replace("yours", "").replace(
                "hours", ""
            )
            left += shown["Left"].startswith("first")
            press = ["left", "right", "tie", "both bad"][k % 4]
            told = client.post(link, data={**hidden(page), "press": press})
            assert told.status_code == 200
            (answer,) = study.answers().tail(1).to_dict("records")
            first = shown["Left"].startswith("first")
            score = 0 if k % 4 > 1 else 1 if (press == "left") == first else -1
            details = json.loads(answer["details"])
            assert answer["score"] == score and details["verdict"] == press
            assert details["left"] == ("gpt" if first else "ours") and details["via"] == "page"
            page = told.text
        assert left == 4 and "Done. Thank you!" in page
        page = client.post(f"{link}/undo", data={"what": "answer", "name": answer["answer"]}).text
        assert "Your earlier answer: both bad" in page
        bad = client.post(link, data={**hidden(page), "press": "best"})
        assert bad.status_code == 400 and "Press one of the buttons" in bad.text
        assert client.post(link, data={**hidden(bad.text), "press": "tie"}).status_code == 200
    assert len(study.answers()) == 8


def test_checks_look_like_any_other_segment(tmp_path: Path) -> None:
    n = 30
    pool = Pool(
        ids=np.array([f"s{i}" for i in range(n)]),
        metrics={"m": np.arange(n) * 1.0},
        texts={"output": np.array([f"output {i}" for i in range(n)])},
    )
    study = Campaign.create(tmp_path / "s", pool, seed=1, strategy="random", limits=(0, 100))
    study.select(10)
    drawn = set(study.sample.ids.tolist())
    study.set_known({next(i for i in pool.ids.tolist() if i not in drawn): 50.0})
    study.change(check_every=2)
    link = f"/rate/{study.desk.add_rater('ann')}"
    with TestClient(create_app(study.path), base_url="http://127.0.0.1", headers=ORIGIN) as client:
        page, seen, shapes = client.get(link).text, [], set()
        while 'data-testid="answer"' in page:
            (shown,) = texts(page).values()
            seen.append(shown)
            own = re.search(r'<strong id="own">(\d+)</strong>', page)
            assert own is not None and int(own[1]) == len(seen) - 1  # a check moves it too
            shapes.add(re.sub(r"fg-\d+-\w+|\d+|value=\"[^\"]*\"", "", page.replace(shown, "")))
            page = client.post(link, data={**hidden(page), "score": "50"}).text
    assert len(shapes) <= 2  # but for the first page, where nothing can be taken back
    assert len(seen) == 15 and len(set(seen)) == 11  # ten drawn, one known, four again
    assert len(study.answers()) == 10
    row = study.work().to_frame().iloc[0]
    assert (row["repeats"], row["same"], row["known"], row["right"]) == (4, 1.0, 1, 1.0)
