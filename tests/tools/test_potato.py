"""Potato: the server with our configuration, answers as its page sends them, its states."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tools.conftest import Study, Tool, free_port, served

pytestmark = pytest.mark.tools
TOOL = "potato"
_INPUT = re.compile(r"<input\b[^>]*\bannotation-input\b[^>]*>")


class Browser:
    """What a rater's browser sends: one session with its cookies."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )

    def get(self, path: str) -> str:
        with self._opener.open(f"{self.url}{path}", timeout=60) as found:
            return str(found.read().decode())

    def post(self, path: str, body: bytes, kind: str) -> str:
        wanted = urllib.request.Request(f"{self.url}{path}", body, {"content-type": kind})
        with self._opener.open(wanted, timeout=60) as found:
            return str(found.read().decode())

    def json(self, path: str, body: object) -> dict[str, object]:
        return dict(json.loads(self.post(path, json.dumps(body).encode(), "application/json")))


def attribute(tag: str, name: str) -> str:
    found = re.search(rf'\s{name}="([^"]*)"', tag)
    return found[1] if found else ""


@pytest.mark.parametrize("limits", [(0, 100), (1, 5)], ids=["number", "buttons"])
def test_all_answers_come_back(
    study: Callable[..., Study], tool: Tool, tmp_path: Path, limits: tuple[float, float]
) -> None:
    made = study("potato", "tasks.jsonl", limits=limits)
    home = made.file.parent
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    words = [tool.bin("potato"), "start", "tasks.yaml", "--host", "127.0.0.1", "-p", str(port)]
    words += ["--require-password", "false"]
    with served(words, f"{url}/health", home):
        rater = Browser(url)
        form = urlencode({"email": "ann", "pass": ""}).encode()
        page = rater.post("/auth", form, "application/x-www-form-urlencoded")
        seen = set()
        for _ in made.tasks.to_rate:
            page = rater.get("/annotate")
            found = re.search(r'id="instance_id"[^>]*value="([^"]+)"', page)
            assert found, page[:3000]
            key = found[1]
            seen.add(key)
            score = made.opinions[key]
            controls = [t for t in _INPUT.findall(page) if attribute(t, "schema") == "score"]
            labels = {attribute(t, "label_name"): attribute(t, "type") for t in controls}
            if set(labels.values()) == {"radio"}:
                assert f"{score:g}" in labels
                said = {f"score:{score:g}": f"{score:g}"}
            else:
                assert labels == {"number": "number"}
                said = {"score:number": f"{score:g}"}
            stored = rater.json("/updateinstance", {"instance_id": key, "annotations": said})
            assert stored["status"] in ("ok", "success"), stored
            moved = json.dumps({"action": "next_instance", "instance_id": key}).encode()
            rater.post("/annotate", moved, "application/json")
        assert seen == set(made.opinions)
    made.check(home / "tasks_output", format="potato")
