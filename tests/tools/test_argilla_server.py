"""Argilla's server, its client, and raters who answer as its page does.

The server keeps datasets, records and answers in a database of its own (SQLite here), and asks a
search engine only which records to show. Elasticsearch and OpenSearch are not on PyPI: `Search`
stands in for them and answers the few requests that come up. Its Redis is `fakeredis`, in the
server's memory.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest

from tools.conftest import Study, Tool, called, free_port, installed, served

pytestmark = pytest.mark.tools
TOOL = "argilla"
KEY = "owner.key"
PASSWORD = "12345678"


class Search:
    """As much of Elasticsearch as the server asks for here; any other request is refused."""

    def __init__(self) -> None:
        self.indices: dict[str, dict[str, dict[str, Any]]] = {}
        self.refused: list[str] = []

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        index, _, what = path.strip("/").partition("/")
        match (method, index, what):
            case ("HEAD" | "GET", "", ""):
                return 200, {"version": {"number": "8.7.0"}, "tagline": "a stand-in"}
            case ("PUT" | "POST", "_bulk", ""):
                return 200, self._bulk([json.loads(line) for line in body.split("\n") if line])
            case ("HEAD", name, ""):
                return (200 if name in self.indices else 404), {}
            case ("PUT", name, ""):
                self.indices[name] = {}
                return 200, {"acknowledged": True, "index": name}
            case ("POST", name, "_search") if name in self.indices:
                return 200, self._search(self.indices[name], json.loads(body))
            case ("POST", name, _) if name in self.indices and what.startswith("_update/"):
                document = self.indices[name][what.removeprefix("_update/")]
                return 200, self._update(document, json.loads(body))
        self.refused.append(f"{method} {path} {body[:200]}")
        return 400, {"error": "not known to the stand-in"}

    def _bulk(self, lines: list[Any]) -> Any:
        done = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            told = action["index"]
            self.indices[told["_index"]][told["_id"]] = document
            done.append({"index": {"_id": told["_id"], "status": 201}})
        return {"errors": False, "items": done}

    def _update(self, document: dict[str, Any], body: Any) -> Any:
        if "doc" in body:
            document.update(body["doc"])
        else:  # the one script there is adds a response, in place of the one with its id
            new = body["script"]["params"]["response"]
            kept = [r for r in document.get("responses") or [] if r["id"] != new["id"]]
            document["responses"] = [*kept, new]
        return {"result": "updated"}

    def _search(self, documents: dict[str, dict[str, Any]], body: Any) -> Any:
        found = [i for i, d in documents.items() if _holds(body["query"], d)]
        start = body.get("from", 0)
        shown = found[start : start + body.get("size", 10)]
        hits = [{"_id": i, "_score": 1.0} for i in shown]
        return {"hits": {"total": {"value": len(found), "relation": "eq"}, "hits": hits}}


def _holds(query: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether a query finds a document; raises KeyError for what it does not know."""
    ((kind, told),) = query.items()
    if kind == "match_all":
        return True
    if kind == "function_score":
        return _holds(told["query"], document)
    if kind == "nested":
        nested = document.get(told["path"]) or []
        return any(_holds(told["query"], {told["path"]: [n]}) for n in nested)
    if kind in ("term", "terms"):
        ((field, wanted),) = told.items()
        first, _, rest = field.partition(".")
        value = document.get(first) or []
        given = [v.get(rest) for v in value] if isinstance(value, list) else [value]
        return bool(set(given) & set(wanted if kind == "terms" else [wanted]))
    if kind == "bool":
        parts = {k: v if isinstance(v, list) else [v] for k, v in told.items()}
        least = parts.pop("minimum_should_match", [0])[0]
        should = sum(_holds(q, document) for q in parts.pop("should", []))
        all_ = [*parts.pop("must", []), *parts.pop("filter", [])]
        none = parts.pop("must_not", [])
        assert not parts, parts
        return (
            should >= least
            and all(_holds(q, document) for q in all_)
            and not any(_holds(q, document) for q in none)
        )
    raise KeyError(kind)


@contextmanager
def searching() -> Iterator[tuple[Search, str]]:
    """The stand-in on a port of its own."""
    search = Search()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Silent."""

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            try:
                code, told = search.answer(self.command, urlsplit(self.path).path, body)
            except Exception as error:
                search.refused.append(f"{self.command} {self.path} {body[:500]} {error!r}")
                code, told = 500, {}
            raw = json.dumps(told).encode()
            self.send_response(code)
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("content-type", "application/vnd.elasticsearch+json;compatible-with=8")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(raw)

        do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield search, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


BEGIN = f"""
import sys
import argilla as rg

_, url, name, *raters = sys.argv
client = rg.Argilla(api_url=url, api_key={KEY!r})
space = rg.Workspace(name, client=client).create()
for rater in raters:
    user = rg.User(username=rater, password={PASSWORD!r}, role="annotator", client=client)
    space.add_user(user.create())
settings = rg.Settings.from_json("tasks.settings.json")
dataset = rg.Dataset(name, workspace=space, settings=settings, client=client).create()
dataset.records.from_json("tasks.json")
"""
EXPORT = f"""
import sys
import argilla as rg

_, url, name = sys.argv
client = rg.Argilla(api_url=url, api_key={KEY!r})
client.datasets(name, workspace=name).records.to_json("answered.json")
"""
# The server, whose queue of jobs is kept in its memory: nothing here waits for a job.
START = """
import sys
import fakeredis, redis

redis.from_url = lambda url: fakeredis.FakeRedis()
from argilla_server.cli import app

sys.argv = ["argilla_server", "start", "--host", "127.0.0.1", "--port", sys.argv[1]]
app()
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with an owner."""
    server, folder, port = installed("argilla-server"), tmp_path_factory.mktemp("a"), free_port()
    with searching() as (search, engine):
        told = {
            "ARGILLA_HOME_PATH": str(folder), "ARGILLA_ELASTICSEARCH": engine,
            "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1",
            "ARGILLA_AUTH_SECRET_KEY": "secret" * 8,
        }  # fmt: skip
        database = ("python", "-m", "argilla_server", "database")
        server.run(*database, "migrate", cwd=folder, **told)
        server.run(*database, "users", "create_default", "--api-key", KEY, cwd=folder, **told)
        words = [server.bin("python"), "-c", START, str(port)]
        address = f"http://127.0.0.1:{port}"
        with served(words, f"{address}/api/v1/version", folder, **told):
            yield address
        assert not search.refused, search.refused


def answer(url: str, rater: str, opinions: Mapping[str, float]) -> int:
    """Answers all that is waiting for a rater, page by page as the page asks; how many it was."""
    form = urlencode({"username": rater, "password": PASSWORD}).encode()
    kind = {"content-type": "application/x-www-form-urlencoded"}
    token = called(f"{url}/api/v1/token", form, **kind)["access_token"]
    own = {"authorization": f"Bearer {token}"}
    (dataset,) = called(f"{url}/api/v1/me/datasets", **own)["items"]
    at = f"{url}/api/v1/datasets/{dataset['id']}"
    (question,) = called(f"{at}/questions", **own)["items"]
    scopes = [{"entity": entity, "property": "status"} for entity in ("response", "record")]
    pending = [{"type": "terms", "scope": scope, "values": ["pending"]} for scope in scopes]
    search = f"{url}/api/v1/me/datasets/{dataset['id']}/records/search?offset=0&limit=5"
    done = 0
    while items := called(search, {"query": {}, "filters": {"and": pending}}, **own)["items"]:
        for record in (item["record"] for item in items):
            score = opinions[record["external_id"]]
            if question["settings"]["type"] == "rating":
                value: int | str = int(score)
                assert {"value": value} in question["settings"]["options"]
            else:
                value = f"{score:g}"
            called(
                f"{url}/api/v1/records/{record['id']}/responses",
                {"status": "submitted", "values": {question["name"]: {"value": value}}}, **own,
            )  # fmt: skip
            done += 1
    return done


@pytest.mark.parametrize("limits", [(0, 100), (1, 5)], ids=["text", "rating"])
def test_two_raters_answer_all_on_the_server(
    study: Callable[..., Study], tool: Tool, tmp_path: Path, url: str, limits: tuple[float, float]
) -> None:
    made = study("argilla", "tasks.json", limits=limits, each=2)
    name = f"study-{uuid4().hex}"
    raters = [f"{name}-{k}" for k in (1, 2)]
    tool.run("python", "-c", BEGIN, url, name, *raters, cwd=tmp_path)
    # Each record stays on the second rater's page although the first has answered it.
    counts = [answer(url, rater, made.opinions) for rater in raters]
    assert counts == [len(made.opinions)] * 2
    tool.run("python", "-c", EXPORT, url, name, cwd=tmp_path)
    made.check(tmp_path / "answered.json", raters=2, format="argilla")
