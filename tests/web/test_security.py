"""Whoever wishes us ill: what is refused, what is escaped, and what strangers may not see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urljoin

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from fewgold.web import create_app
from fewgold.web.site import same
from web.e2e import live

Client = Callable[..., TestClient]
OPEN = re.compile(r"/|/plan(/.*)?|/rate/.*")  # what people without the owner's token may ask for
URL_ATTRIBUTES = {"href", "src", "action", "formaction", "hx-get", "hx-post", "xlink:href", "data"}


def routes(app: Any) -> Iterator[tuple[str, str]]:
    """Method and path of everything that the app answers to, however deep."""
    for route in app.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes(inner)
        elif getattr(route, "methods", None):
            for method in sorted(route.methods):
                yield method, route.path


def filled(path: str, value: str = "x") -> str:
    return re.sub(r"\{[^}]*\}", quote(value, safe=""), path)


class Look(HTMLParser):
    """What a page is made of that it must not be, and where it leads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.links: set[str] = set()
        self._script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k.lower(): v or "" for k, v in attrs}
        self._script = tag == "script"
        if tag in ("style", "iframe", "object", "embed", "base"):
            self.bad.append(f"<{tag}>")
        if tag == "script" and not given.get("src", "").startswith("/static/"):
            self.bad.append(f"<script {given}>")
        for name, value in given.items():
            if name == "style" or name.startswith(("on", "hx-on")):
                self.bad.append(f"<{tag} {name}={value!r}>")
            if name in URL_ATTRIBUTES:
                if not re.match(r"/(?!/)|[#?]|[A-Za-z0-9_.-]+$|data:,$|$", value):
                    self.bad.append(f"<{tag} {name}={value!r}>")
                if name in ("href", "src") and not value.startswith(("#", "data:")):
                    self.links.add(value)

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.bad.append(f"<script>{data}")

    def handle_endtag(self, tag: str) -> None:
        self._script = False


def check(answer: Any, where: str) -> Look | None:
    """The headers that every answer must have, and a page that holds no code of others."""
    policy = answer.headers.get_list("content-security-policy")
    assert len(policy) == 1, where
    assert "default-src 'none'" in policy[0]
    assert "unsafe" not in policy[0]
    assert answer.headers["x-content-type-options"] == "nosniff", where
    assert answer.headers["x-frame-options"] == "DENY", where
    assert "stolen" not in answer.headers.get("set-cookie", ""), where
    if not answer.headers.get("content-type", "").startswith("text/html"):
        return None
    if "attachment" in answer.headers.get("content-disposition", ""):
        return None  # a file of its own, such as a report
    look = Look(answer.text)
    assert look.bad == [], where
    assert "Traceback" not in answer.text, where
    return look


def crawl(client: TestClient, *starts: str, most: int = 300) -> dict[str, int]:
    """Follow every link from there; the status of each page.

    Of the pictures that hold no text, one is enough: each takes as long as many pages.
    """
    todo, seen = list(starts), {}
    while todo and len(seen) < most:
        url = todo.pop(0)
        if url in seen or (".png" in url and any(".png" in other for other in seen)):
            continue
        answer = client.get(url)
        seen[url] = answer.status_code
        look = check(answer, url)
        todo += [urljoin(url, link) for link in sorted(look.links)] if look else []
    return seen


# Who may ask


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example@127.0.0.1", "127.0.0.1@evil.example",
     "127.0.0.1/x", "127.0.0.1?x", "127.0.0.1#x", "0.0.0.0", "", "127.0.0.1:80:80", "[::1", "[]",
     "127.0.0.1\x00", "localhost.", "127.1", "2130706433", "127.0.0.1:999999"],
)  # fmt: skip
def test_other_names_are_refused(client: Client, host: str) -> None:
    answer = client(owner=True).get("/", headers={"Host": host})
    assert answer.status_code == 421
    check(answer, host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]:8000"])
def test_own_names_are_answered(client: Client, host: str) -> None:
    assert client().get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, False),
        ({"Origin": "http://127.0.0.1"}, True),
        ({"Origin": "HTTP://127.0.0.1"}, True),
        ({"Origin": "https://127.0.0.1"}, True),  # HTTPS in front of us
        ({"Origin": "http://127.0.0.1:81"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://127.0.0.1.evil.example"}, False),
        ({"Origin": "http://evil.example/http://127.0.0.1"}, False),
        ({"Origin": "evil://127.0.0.1"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, False),
    ],
)
def test_changes_come_from_our_own_pages(
    client: Client, headers: dict[str, str], allowed: bool
) -> None:
    asked = client(owner=True)
    del asked.headers["Origin"]
    for method in ("POST", "PUT", "DELETE", "PATCH", "TRACE"):
        answer = asked.request(method, "/", headers=headers)
        assert answer.status_code == (405 if allowed else 403), method
        check(answer, method)


def test_two_hosts_or_two_origins_are_refused(client: Client) -> None:
    asked = client(owner=True)
    del asked.headers["Origin"]
    twice = [("Host", "127.0.0.1"), ("Host", "127.0.0.1")]
    assert asked.get("/", headers=twice).status_code == 421
    origins = [("Origin", "http://evil.example"), ("Origin", "http://127.0.0.1")]
    assert asked.post("/", headers=origins).status_code == 403


def test_the_owner_comes_with_the_token(client: Client) -> None:
    stranger = client()
    for token in ("", "wrong", live.TOKEN[:-1], live.TOKEN + "x", "é", "\x00"):
        answer = stranger.get("/", params={"token": token})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        check(answer, token)
    answer = stranger.get("/", params={"token": live.TOKEN}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie
    assert "domain" not in cookie
    assert stranger.get("/raters").status_code == 200


def test_behind_https_the_cookie_stays_there(client: Client) -> None:
    app = create_app(token=live.TOKEN, secure=True)
    answer = client(app=app).get("/", params={"token": live.TOKEN}, follow_redirects=False)
    assert "secure" in answer.headers["set-cookie"].lower()


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: asked.append((a, b)) or a == b)
    assert same("secret", "secret")
    assert not same("é", "secret")
    assert not same(None, "secret")
    assert asked == [(b"secret", b"secret"), ("é".encode(), b"secret")]


def test_new_secrets_are_long() -> None:
    tokens = {create_app().state.site.token for _ in range(3)}
    assert len(tokens) == 3
    assert all(len(t) >= 32 for t in tokens)


def test_all_that_is_not_open_is_for_the_owner(
    hostile: tuple[FastAPI, str], client: Client
) -> None:
    app, secret = hostile
    found = list(routes(app))
    closed = [(m, p) for m, p in found if not OPEN.fullmatch(p)]
    assert {p.split("/")[1] for _, p in closed} >= {"explore", "raters", "replay"}
    assert {p.split("/")[1] for _, p in found} >= {"", "plan", "rate"}
    stranger, rater = client(), client()
    rater.get(f"/rate/{secret}")  # whatever it leaves behind gives no further rights
    rater.cookies.set(app.state.site.cookie, secret)
    for method, path in closed:
        for who in (stranger, rater):
            for value in ("x", secret, "a..b"):
                answer = who.request(method, filled(path, value), params={"token": secret})
                assert answer.status_code == 403, (method, path, value)
                check(answer, path)


def test_strangers_see_nothing_of_the_campaign(
    hostile: tuple[FastAPI, str], client: Client
) -> None:
    stranger = client()
    for method, path in routes(hostile[0]):
        if OPEN.fullmatch(path):
            answer = stranger.request(method, filled(path, "not-a-secret"))
            assert answer.status_code < 500
            assert "評価" not in answer.text, path
            if path.startswith("/rate/"):
                assert answer.status_code in (403, 404), (method, path)


def test_raters_do_not_see_what_would_sway_them(study: Any, client: Client) -> None:
    path, secrets = study
    app = create_app(path, token=live.TOKEN)
    answer = client(app=app).get(f"/rate/{secrets['ann']}")
    assert answer.status_code == 200
    assert not re.search("comet|chrf|estimate|interval", answer.text, re.I)
    assert secrets["bob"] not in answer.text
    assert live.TOKEN not in answer.text


# What is sent


def test_large_bodies(hostile: tuple[FastAPI, str], client: Client) -> None:
    stranger, owner = client(), client(owner=True)
    paths = [filled(p) for m, p in routes(hostile[0]) if m == "POST"]
    assert paths
    for path in paths:
        for asked, most in ((stranger, 1_000_000), (owner, 50_000_000)):
            told = {"content-length": str(most + 1)}
            assert asked.post(path, content=b"x", headers=told).status_code == 413
    form = {"content-type": "application/x-www-form-urlencoded"}
    for path in paths:
        answer = stranger.post(
            path, content=(b"a=" + b"x" * 100_000 for _ in range(11)), headers=form
        )
        refused = (404, 413) if path.startswith("/rate/") else (403, 413)
        assert answer.status_code in refused, path
        check(answer, path)


@pytest.mark.parametrize("size", ["-1", "1e3", "²", "9" * 5000, "0x10", " ", "1, 1"])
def test_lengths_that_are_none(client: Client, size: str) -> None:
    header = [("content-length", size.encode("latin-1"))]
    answer = client().get("/", headers=[(k.encode(), v) for k, v in header])
    assert answer.status_code == 400
    check(answer, size)


def test_too_much_without_a_length_is_a_sentence(client: Client) -> None:
    app = create_app(token=live.TOKEN)

    from fastapi import Form

    @app.post("/plan/echo")
    def echo(a: str = Form()) -> str:
        return a

    answer = client(app=app).post(
        "/plan/echo", content=(b"a=" + b"x" * 100_000 for _ in range(11)),
        headers={"content-type": "application/x-www-form-urlencoded"},
    )  # fmt: skip
    assert answer.status_code == 413
    assert "1 MB at most" in answer.text
    answer = client(app=app).post("/plan/echo")
    assert answer.status_code == 400
    assert "cannot be read: a." in answer.text
    check(answer, "echo")


# What comes back


def test_pages_hold_no_code_of_others(hostile: tuple[FastAPI, str], client: Client) -> None:
    app, secret = hostile
    starts = [filled(p) for m, p in routes(app) if m == "GET"]
    seen = crawl(client(owner=True), "/", f"/rate/{secret}", *starts)
    assert all(code < 500 for code in seen.values()), seen
    assert seen[f"/rate/{secret}"] == seen["/explore"] == seen["/raters"] == 200
    assert len(seen) > len(starts)
    stranger = crawl(client(), "/", f"/rate/{secret}")
    assert all(code == 200 for code in stranger.values()), stranger


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_attacks_in_addresses(hostile: tuple[FastAPI, str], client: Client, share: int) -> None:
    """Every attack on a quarter of the addresses, or on all of them."""
    owner = client(owner=True, faults=False)
    names = {
        name for look in (check(owner.get(p), p) for p in ("/plan/binary", "/plan/scores", "/explore", "/replay"))  # noqa: E501
        if look for link in look.links for name in re.findall(r"[?&]([a-z_]+)=", link)
    }  # fmt: skip
    for k, (_, path) in enumerate(routes(hostile[0])):
        for attack in live.ATTACKS[k % share :: share]:
            url = filled(path, attack)
            answer = owner.get(url, params=dict.fromkeys({*names, "a", "q"}, attack))
            assert answer.status_code < 500, (url, attack)
            check(answer, url)
            assert "root:" not in answer.text
            assert "49{%" not in answer.text


@pytest.mark.parametrize(
    "path",
    ["../_app.py", "..%2f_app.py", "%2e%2e/_app.py", "..%5c_app.py",
     "%2e%2e%2f%2e%2e%2f_version.py",
     "/etc/passwd", "%00", "style.css%00.html", "....//_app.py", "x" * 5000, "C:%5cx", "%ff%fe"],
)  # fmt: skip
def test_files_outside_are_not_served(client: Client, path: str) -> None:
    answer = client(faults=False).get(f"/static/{path}")
    assert answer.status_code == 404
    assert "create_app" not in answer.text
    check(answer, path)


def test_faults_are_a_sentence(client: Client) -> None:
    app = create_app(token=live.TOKEN)

    @app.get("/plan/fault")
    def fault() -> None:
        raise RuntimeError("a secret in /home/somebody")

    answer = client(app=app, faults=False).get("/plan/fault")
    assert answer.status_code == 500
    assert "Something went wrong" in answer.text
    assert "secret" not in answer.text
    assert "/home" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    check(answer, "/plan/fault")


def test_methods_that_are_not_meant(client: Client) -> None:
    for method in ("HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"):
        answer = client(owner=True).request(method, "/raters")
        assert answer.status_code in (200, 405), method
        check(answer, method)
        assert "access-control-allow-origin" not in answer.headers
    for path in (
        "/docs",
        "/redoc",
        "/openapi.json",
        "/nothing",
        "/raters/",
        "/%0d%0aX:1",
    ):
        answer = client(owner=True, faults=False).get(path, follow_redirects=False)
        assert answer.status_code in (404, 307), path
        check(answer, path)


def test_nothing_but_pages_is_spoken(client: Client) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect) as refused, client(owner=True).websocket_connect("/"):
        pass
    assert refused.value.code == 1008


def test_only_static_files_are_kept_by_browsers(client: Client) -> None:
    assert client().get("/").headers["cache-control"] == "no-store"
    assert client().get("/static/style.css").headers.get("cache-control") != "no-store"
