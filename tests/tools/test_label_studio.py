"""Label Studio: projects made by its API, annotations, exports as JSON and CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from fewgold.formats import get
from tools.conftest import Study, Tool, called, free_port, installed, served

pytestmark = pytest.mark.tools
TOOL = "label-studio"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
ANN = "ann@example.org"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server with its own folder and SQLite; its first start takes minutes."""
    tool: Tool = installed(TOOL)
    home = tmp_path_factory.mktemp("label-studio")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    words = [tool.bin("label-studio"), "start", "--no-browser", "--internal-host", "127.0.0.1"]
    words += ["--port", str(port), "--username", ANN, "--password", "a long password"]
    words += ["--user-token", TOKEN, "--enable-legacy-api-token"]
    settings = {"LABEL_STUDIO_BASE_DATA_DIR": str(home / "data"), "COLLECT_ANALYTICS": "false"}
    with served(words, f"{url}/health", home, seconds=900, **settings):
        yield url


def api(url: str, path: str, body: Any = None, method: str | None = None) -> Any:
    return called(f"{url}/api/{path}", body, method, Authorization=f"Token {TOKEN}")


def controls(config: str) -> dict[str, tuple[str, str]]:
    """The questions of a labelling interface: their kind and what they are about."""
    kinds = {"Number": "number", "Choices": "choices"}
    found = [e for e in ElementTree.fromstring(config).iter() if e.tag in kinds]
    return {e.attrib["name"]: (kinds[e.tag], e.attrib["toName"]) for e in found}


@pytest.mark.parametrize("name", ["label-studio", "label-studio-csv"])
@pytest.mark.parametrize("limits", [(0, 100), (1, 5)], ids=["number", "buttons"])
def test_all_answers_come_back(
    study: Callable[..., Study], server: str, tmp_path: Path, limits: tuple[float, float], name: str
) -> None:
    ending = get(name).suffixes[0]
    made = study(name, f"tasks{ending}", limits=limits)
    config = (tmp_path / "tasks.config.xml").read_text(encoding="utf-8")
    project = api(server, "projects", {"title": "A study", "label_config": config})["id"]
    if ending == ".json":
        tasks = json.loads(made.file.read_text(encoding="utf-8"))
        api(server, f"projects/{project}/import", tasks)
    else:
        upload(server, project, made.file)
    listed = api(server, f"tasks?project={project}&page_size=100&fields=all")["tasks"]
    assert len(listed) == len(made.opinions)
    ((question, (kind, about)),) = controls(config).items()
    for task in listed:
        score = made.opinions[task["data"]["fewgold_key"]]
        value = {"number": score} if kind == "number" else {"choices": [f"{score:g}"]}
        result = {"from_name": question, "to_name": about, "type": kind, "value": value}
        api(server, f"tasks/{task['id']}/annotations", {"result": [result], "lead_time": 3.5})
    for wanted in ("JSON", "JSON_MIN", "CSV", "TSV"):
        raw = api(server, f"projects/{project}/export?exportType={wanted}&download_all_tasks=true")
        path = tmp_path / f"export-{wanted}.{wanted.partition('_')[0].lower()}"
        path.write_bytes(json.dumps(raw).encode() if not isinstance(raw, bytes) else raw)
        if wanted == "JSON":
            made.check(path, format="label-studio")
        else:
            receipt = made.campaign.import_file(path)
            assert not receipt.rejected and not receipt.set_aside and not receipt.blank
            assert (receipt.stored, receipt.known) == (0, len(made.opinions)), wanted


def upload(url: str, project: int, path: Path) -> None:
    """Import a file as the page does: as a form with the file in it."""
    edge = "edge-of-a-part"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{path.name}"\r\n'
    body = f"{head}Content-Type: text/csv\r\n\r\n".encode() + path.read_bytes()
    headers = {"content-type": f"multipart/form-data; boundary={edge}"}
    body += f"\r\n--{edge}--\r\n".encode()
    headers["Authorization"] = f"Token {TOKEN}"
    called(f"{url}/api/projects/{project}/import", body, **headers)
