"""Pearmut: `pearmut add`, answers through the API of its page, the log and the download."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tools.conftest import Study, Tool, called, free_port, served

pytestmark = pytest.mark.tools
TOOL = "pearmut"


@pytest.mark.parametrize(
    ("limits", "each"), [((0, 100), 1), ((1, 5), 1), ((0, 100), 2)],
    ids=["own slider", "slider of ours", "two raters"],
)  # fmt: skip
def test_all_answers_come_back(
    study: Callable[..., Study], tool: Tool, tmp_path: Path, limits: tuple[float, float], each: int
) -> None:
    made = study("pearmut", "campaign.json", limits=limits, each=each)
    home = tmp_path / "pearmut"
    home.mkdir()
    tool.run("pearmut", "add", made.file, cwd=home)
    campaign = json.loads(made.file.read_text(encoding="utf-8"))
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with served([tool.bin("pearmut"), "run", "--port", str(port)], f"{url}/index.html", home):
        progress = json.loads(
            next((home / "data" / "progress").glob("*.json")).read_text(encoding="utf-8")
        )
        assert len(progress) == each
        for user in progress:
            asked = {"campaign_id": campaign["campaign_id"], "user_id": user}
            while (item := called(f"{url}/get-next-item", asked))["status"] == "ok":
                info, shown = item["info"], item["payload"]
                answers = []
                for segment in shown:
                    said = {}
                    for model in segment["tgt"]:
                        score = made.opinions[segment["item_id"]]
                        sliders = [s["name"] for s in info.get("sliders", [])]
                        given = {"score": None, "sliders": dict.fromkeys(sliders, score)}
                        given = given if sliders else {"score": score}
                        said[model] = {**given, "error_spans": [], "textfield": None}
                    answers.append(said)
                payload = {
                    "annotation": answers, "item": shown,
                    "actions": [{"time": time.time(), "action": "load"}],
                }  # fmt: skip
                told = {**asked, "item_i": info["item_i"], "payload": payload}
                called(f"{url}/log-response", told)
            assert item["status"] == "goodbye"
        query = urlencode({"campaign_id": campaign["campaign_id"]})
        download = called(f"{url}/download-annotations?{query}")
    log = next((home / "data" / "annotations").glob("*.jsonl"))
    made.check(log, raters=each, format="pearmut")
    # And the download of the dashboard holds the same.
    whole = tmp_path / "annotations.json"
    whole.write_text(json.dumps(download), encoding="utf-8")
    receipt = made.campaign.import_file(whole)
    assert receipt.known == each * len(made.opinions) and not receipt.rejected
