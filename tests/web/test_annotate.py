"""A rater's pages: what they see, what is stored, undo, skip, and a server that is killed."""

from __future__ import annotations

import html
import json
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.errors import FewgoldError
from fewgold.pool import Pool
from fewgold.web import create_app
from fewgold.web.annotate import Scale, plain
from waiting import PATIENCE, until

N = 48
ORIGIN = {"Origin": "http://127.0.0.1"}
HTMX = {**ORIGIN, "HX-Request": "true"}


def small_pool() -> Pool:
    rng = np.random.default_rng(3)
    return Pool(
        ids=np.array([f"sysA:{i:03d}" for i in range(N)]),
        documents=np.array([f"secretdoc{i // 8}" for i in range(N)]),
        system=np.array(["megasystem" if i % 2 else "othersystem" for i in range(N)]),
        metrics={"comet": rng.normal(size=N) + 7.123456},
        texts={
            "source": np.array([f"source {i} <script>alert({i})</script>" for i in range(N)]),
            "output": np.array([f"  output {i}\n\tשלום" for i in range(N)]),
        },
        orientation={"comet": 1},
    )


@dataclass
class Rater:
    """Somebody with a link and a browser without JavaScript."""

    client: Any
    token: str
    text: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=lambda: dict(ORIGIN))

    def _keep(self, answer: Any) -> Rater:
        self.text, self.status = answer.text, answer.status_code
        return self

    def look(self, query: str = "") -> Rater:
        return self._keep(self.client.get(f"/rate/{self.token}{query}", headers=self.headers))

    @property
    def form(self) -> dict[str, str]:
        """The hidden fields of the form for answers."""
        found = re.findall(r'name="(segment|form|since)" value="([^"]*)"', self.text)
        return {name: html.unescape(value) for name, value in reversed(found)}

    @property
    def undo_form(self) -> dict[str, str]:
        return dict(re.findall(r'name="(what|name)" value="([^"]*)"', self.text))

    def post(self, path: str = "", **fields: str) -> Rater:
        sent = self.client.post(f"/rate/{self.token}{path}", data=fields, headers=self.headers)
        return self._keep(sent)

    def rate(self, score: str, **fields: str) -> Rater:
        return self.post(**{**self.form, "score": score, **fields})


def begin(folder: Path, **settings: Any) -> Campaign:
    given: dict[str, Any] = {"seed": 2, "limits": (0, 100), "strategy": "random+mean"}
    return Campaign.create(folder / "study", small_pool(), **given | settings)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    found = begin(tmp_path)
    found.select(6)
    return found


def rater(campaign: Campaign, name: str = "ann") -> Rater:
    client = TestClient(create_app(campaign.path), base_url="http://127.0.0.1")
    return Rater(client, campaign.desk.links().get(name) or campaign.desk.add_rater(name))


def stored(campaign: Campaign) -> list[tuple[str, float, str]]:
    found = campaign.answers()
    return list(zip(found["segment"], found["score"], found["rater"], strict=True))


@pytest.mark.parametrize(
    ("limits", "kind", "buttons"),
    [
        ((0, 1), "binary", ["1", "0"]),
        ((1, 5), "steps", ["1", "2", "3", "4", "5"]),
        ((-3, 3), "steps", ["-3", "-2", "-1", "0", "1", "2", "3"]),
        ((0, 7), "slider", []),
        ((0, 100), "slider", []),
        ((0.5, 1.5), "slider", []),
        ((0, 25), "penalty", ["0", "1", "2", "5", "10", "25"]),
        (None, "open", []),
    ],
)
def test_scales(limits: tuple[float, float] | None, kind: str, buttons: list[str]) -> None:
    scale = Scale(limits)
    assert scale.kind == kind and [b.value for b in scale.buttons] == buttons
    keys = [key for b in scale.buttons for key in b.keys]
    assert len(keys) == len(set(keys)) and not {"u", "s", "c", "?"} & set(keys)
    assert all(plain(scale.parse(b.value)) == b.value for b in scale.buttons)


def test_scores_as_people_type_them() -> None:
    scale = Scale((0, 100))
    typed = {"62": 62, " 62,5 ": 62.5, ".5": 0.5, "7.": 7, "+3": 3, "٣": 3, "0": 0, "100": 100}
    assert {text: scale.parse(text) for text in typed} == typed
    assert Scale(None).parse("−2.5") == -2.5
    for bad in ("", "  ", None):
        with pytest.raises(FewgoldError, match="Give a score first: a number from 0 to 100"):
            scale.parse(bad)
    for bad in ("x", "1_0", "nan", "inf", "1e2", "1,2,3", "0x1", "1 2", "--1", "9" * 400):
        with pytest.raises(FewgoldError, match="is not a number"):
            scale.parse(bad)
    for bad in ("-1", "100.01", "101"):
        with pytest.raises(FewgoldError, match="outside the scale"):
            scale.parse(bad)
    with pytest.raises(FewgoldError, match="between two answers"):
        Scale((1, 5)).parse("2.5")


def test_a_page_shows_texts_and_context_and_hides_the_rest(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    assert ann.status == 200 and ann.text.count("<h1") == 1
    place = campaign.desk.place_of(ann.form["segment"])
    pool = campaign.pool
    assert "<script>alert" not in ann.text
    assert html.escape(str(pool.texts["source"][place]), quote=False) in ann.text
    assert f'dir="auto">{pool.texts["output"][place]}</div>' in ann.text  # blanks and all
    # Neighbours are of the same document and system: the next ones are two places away.
    near = [p for p in (place - 4, place - 2, place + 2, place + 4) if p // 8 == place // 8]
    shown = {int(i) for i in re.findall(r"source (\d+) ", ann.text)}
    assert shown == {place, *(p for p in near if 0 <= p < N)}
    for secret in ("megasystem", "othersystem", "sysA", "secretdoc", "comet", "7.12", "stimate"):
        assert secret not in ann.text
    assert "study" not in ann.text  # the name of a campaign may tell, too


def test_the_owner_may_show_more(campaign: Campaign) -> None:
    campaign.change(shown=("metrics", "system", "estimate"))
    ann = rater(campaign).look()
    assert "There is no estimate yet." in ann.text and "<dt>comet</dt>" in ann.text
    assert "megasystem" in ann.text or "othersystem" in ann.text
    for score in ("10", "30", "60"):
        ann.rate(score)
    found = campaign.status().estimate
    assert found is not None
    from fewgold.report import number

    low, high = number(found["low"]), number(found["high"])
    assert f"estimate so far is {number(found['value'])} (95% interval {low} to {high})" in ann.text


def test_answers_are_stored_with_what_belongs_to_them(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    form = ann.form
    ann.rate("62,5", comment=" good\r\n<b>but</b> ")
    assert ann.status == 200 and 'You: <strong id="own">1</strong>' in ann.text
    assert ann.form["segment"] != form["segment"] and ann.form["form"] != form["form"]
    (row,) = campaign.answers().to_dict("records")
    assert row["segment"] == campaign.pool.ids[campaign.desk.place_of(form["segment"])]
    assert (row["score"], row["rater"], row["answer"]) == (62.5, "ann", form["form"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", row["time"])
    details = json.loads(row["details"])
    assert 0 <= details.pop("seconds", 0) < 60
    assert details == {"via": "page", "comment": "good\n<b>but</b>"}


def test_times_that_make_no_sense_are_left_out(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    for since in ("", "x", "nan", "inf", "0", "9e99"):
        ann.rate("5", since=since)
    rows = campaign.answers().to_dict("records")
    assert [json.loads(row["details"]) for row in rows] == [{"via": "page"}] * 6


def test_a_form_sent_twice_rates_what_was_seen_once(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    form = ann.form
    for _ in range(3):
        ann.post(**form, score="40")
        assert ann.status == 200 and "was sent before" not in ann.text
    assert stored(campaign) == [
        (campaign.pool.ids[campaign.desk.place_of(form["segment"])], 40.0, "ann")
    ]
    ann.post(**form, score="50")
    assert "its first answer is stored" in ann.text
    assert [s for _, s, _ in stored(campaign)] == [40.0]


def test_an_answer_counts_for_the_segment_of_its_form(campaign: Campaign) -> None:
    """Two pages of one rater are open, and the older one is answered last."""
    ann = rater(campaign).look()
    old = ann.form
    ann.rate("10")
    later = ann.form
    ann.rate("20")
    ann.post(**{**old, "form": "anotherform"}, score="30")
    first, second = (
        campaign.pool.ids[campaign.desk.place_of(old["segment"])],
        campaign.pool.ids[campaign.desk.place_of(later["segment"])],
    )
    assert stored(campaign) == [(first, 10, "ann"), (second, 20, "ann"), (first, 30, "ann")]


@pytest.mark.parametrize("headers", [ORIGIN, HTMX])
def test_a_wrong_score_loses_nothing(campaign: Campaign, headers: dict[str, str]) -> None:
    ann = rater(campaign).look()
    form = ann.form
    ann.headers = headers
    ann.rate('1"><i>0', comment="my <words>")
    assert ann.status == 400 and ann.form == form
    assert 'role="alert">1&#34;&gt;&lt;i&gt;0 is not a number.' in ann.text
    assert 'value="1&#34;&gt;&lt;i&gt;0"' in ann.text and "my &lt;words&gt;</textarea>" in ann.text
    ann.rate("5", comment="x" * 10_001)
    assert ann.status == 400 and "10,001 characters; the limit is 10,000" in ann.text
    assert stored(campaign) == []
    ann.rate("5")
    assert ann.status == 200 and len(stored(campaign)) == 1


def test_broken_forms_get_a_sentence(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    form = ann.form
    assert ann.post(score="5").status == 400 and "was not sampled in this campaign" in ann.text
    ann.post(segment=form["segment"], score="5")
    assert ann.status == 400 and "This form is incomplete" in ann.text
    assert ann.post("/skip").status == 400
    assert ann.post("/undo", what="skip", name="no").status == 400
    assert ann.post("/undo", what="answer", name="no").status == 200
    files = {"score": ("a.txt", b"5"), "segment": ("b.txt", b"x")}
    assert ann.client.post(f"/rate/{ann.token}", files=files, headers=ORIGIN).status_code == 400
    assert ann.client.post(f"/rate/{ann.token}", data=form).status_code == 403  # from elsewhere
    assert stored(campaign) == []


@pytest.mark.parametrize("headers", [ORIGIN, HTMX])
def test_undo_shows_the_segment_with_its_answer(
    campaign: Campaign, headers: dict[str, str]
) -> None:
    ann = rater(campaign).look()
    first = ann.form
    ann.headers = headers
    ann.rate("62.5", comment="hm")
    ann.rate("70")
    ann.post("/undo", **ann.undo_form)
    undo = ann.undo_form
    ann.post("/undo", **undo)
    assert ann.form["segment"] == first["segment"] and ann.form["form"] != first["form"]
    assert 'value="62.5"' in ann.text and "\nhm</textarea>" in ann.text
    assert "Your earlier answer: 62.5" in ann.text and stored(campaign) == []
    ann.post("/undo", **undo)  # pressed twice: it takes back nothing else
    assert ann.form["segment"] == first["segment"]
    ann.look()  # loaded again
    assert ann.form["segment"] == first["segment"] and 'value="62.5"' in ann.text
    ann.rate("63")
    assert [s for _, s, _ in stored(campaign)] == [63.0]
    assert ann.look(f"?again={first['segment']}").form["segment"] != first["segment"]


def test_only_what_was_taken_back_can_be_asked_for(campaign: Campaign) -> None:
    ann, bob = rater(campaign).look(), rater(campaign, "bob").look()
    mine = ann.form["segment"]
    assert mine != bob.form["segment"]
    for asked in (bob.form["segment"], "fg-1-aaaaaa", "x" * 3000, "%00"):
        assert ann.look(f"?again={asked}").form["segment"] == mine


def test_skipped_ones_come_at_the_end(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    skipped = ann.form["segment"]
    ann.post("/skip", segment=skipped)
    assert ann.form["segment"] != skipped
    ann.post("/undo", **ann.undo_form)
    assert ann.form["segment"] == skipped
    ann.post("/skip", segment=skipped)
    for _ in range(5):
        ann.rate("50")
    assert "You have finished, except for what you skipped" in ann.text
    ann.post("/skipped")
    assert ann.form["segment"] == skipped
    ann.rate("50")
    assert "Done. Thank you!" in ann.text and "You rated 6 segments" in ann.text
    assert len(stored(campaign)) == 6 and campaign.unrated == ()


def test_raters_wait_for_each_other(campaign: Campaign) -> None:
    ann, bob = rater(campaign).look(), rater(campaign, "bob").look()
    for _ in range(5):
        ann.rate("50")
    assert 'data-testid="wait"' in ann.text and 'hx-trigger="every 5s"' in ann.text
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in ann.text
    (seen,) = re.findall(r'hx-get="/rate/[^"?]+(\?seen=[^"]+)"', ann.text)
    ann.headers = HTMX
    assert ann.look(seen).status == 204  # nothing has changed
    bob.rate("40")
    assert ann.look(seen).status == 200 and "Done. Thank you!" in ann.text
    assert "Done. Thank you!" in ann.look().text and "Done. Thank you!" in bob.look().text
    assert sorted(r for _, _, r in stored(campaign)) == ["ann"] * 5 + ["bob"]


def test_before_the_first_draw_there_is_nothing_to_rate(tmp_path: Path) -> None:
    campaign = begin(tmp_path)
    assert "There is nothing to rate yet" in rater(campaign).look().text
    campaign.select(3)
    assert rater(campaign).look().form["segment"]


def test_a_strategy_that_learns_chooses_the_next(tmp_path: Path) -> None:
    campaign = begin(tmp_path, strategy="docs-incr-human")
    campaign.select(20)
    first = campaign.sample.n
    assert first < 20
    ann, bob = rater(campaign).look(), rater(campaign, "bob")
    for k in range(first - 1):
        ann.rate(str(k % 101))
    skipped = ann.form["segment"]
    other = bob.look().form["segment"]
    assert other != skipped and campaign.sample.n == first + 1  # nobody waits for ann
    ann.post("/skip", segment=skipped)
    third = ann.look().form["segment"]
    assert len({skipped, other, third}) == 3 and campaign.sample.n == first + 2
    bob.rate("3")
    assert bob.look().form["segment"] == skipped  # nobody has it now
    for k in range(100):
        if 'data-testid="answer"' not in bob.look().text:
            break
        bob.rate(str(k % 101))
    assert 'data-testid="wait"' in bob.text and campaign.sample.n == 20  # but for what ann has
    ann.look().rate("4")
    assert len(stored(campaign)) == 20 == campaign.sample.n
    assert "Done. Thank you!" in ann.look().text


def test_links_give_no_other_rights(campaign: Campaign) -> None:
    ann = rater(campaign).look()
    for path in ("/raters", "/raters/state", "/raters/remove?name=ann"):
        assert ann.client.get(path).status_code == 403
    for path in ("/raters", "/raters/remove", "/raters/settings"):
        assert ann.client.post(path, data={"name": "ann"}, headers=ORIGIN).status_code == 403
    assert campaign.desk.links() == {"ann": ann.token}
    form = ann.form
    campaign.desk.remove_rater("ann")
    assert ann.look().status == 404 and "This link does not work" in ann.text
    assert ann.post(**form, score="5").status == 404
    assert ann.post("/undo").status == ann.post("/skip").status == 404
    assert stored(campaign) == []


def test_names_of_raters_are_escaped(campaign: Campaign) -> None:
    assert "<b>x</b>" not in rater(campaign, "<b>x</b>").look().text


def serve(campaign: Path) -> tuple[subprocess.Popen[str], str]:
    """A real server, and its address."""
    command = [sys.executable, "-m", "fewgold", "serve", str(campaign), "--json"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    told = json.loads(_document(server.stdout))
    return server, f"http://127.0.0.1:{told['port']}"


def _document(lines: Any) -> str:
    text = ""
    for line in lines:
        text += line
        try:
            json.loads(text)
        except ValueError:
            continue
        return text
    raise AssertionError(f"the server said: {text}")


def work(person: Rater, acknowledged: list[tuple[str, float]], first: int) -> None:
    """Rate until the server is gone; note what it has acknowledged."""
    for score in range(first, 101):
        try:
            person.look()
            form = person.form
            own = int(re.findall(r'id="own">(\d+)<', person.text)[0])
            person.rate(str(score))
            if person.status != 200 or f'id="own">{own + 1}<' not in person.text:
                return
        except httpx.HTTPError:
            return
        acknowledged.append((form["segment"], float(score)))


@pytest.mark.slow
def test_killed_servers_lose_nothing_that_two_raters_were_told(tmp_path: Path) -> None:
    campaign = begin(tmp_path)
    campaign.select(40)
    tokens = {name: campaign.desk.add_rater(name) for name in ("ann", "bob")}
    acknowledged: dict[str, list[tuple[str, float]]] = {name: [] for name in tokens}
    for round in range(2):
        server, address = serve(campaign.path)
        try:
            threads = []
            for name, token in tokens.items():
                client = httpx.Client(base_url=address, follow_redirects=True, timeout=PATIENCE)
                person = Rater(client, token, headers={"Origin": address})
                given = (person, acknowledged[name], 10 * round)
                threads.append(threading.Thread(target=work, args=given))
            before = sum(map(len, acknowledged.values()))
            for thread in threads:
                thread.start()
            enough = before + 8 + round
            until(lambda n=enough: sum(map(len, acknowledged.values())) >= n, server)
        finally:
            server.send_signal(signal.SIGKILL)
            server.wait()
            assert server.stdout is not None
            server.stdout.close()
        for thread in threads:
            thread.join()
    found = stored(campaign)
    told = {
        (campaign.pool.ids[campaign.desk.place_of(key)], score, name)
        for name, answers in acknowledged.items()
        for key, score in answers
    }
    assert len(told) == sum(map(len, acknowledged.values())) >= 16
    assert told <= set(found) and len(found) == len(set(found))
    # At most what each was at work on when the server went is there without their knowing.
    assert len(found) - len(told) <= 2 * 2
    segments = [segment for segment, _, _ in found]
    assert len(segments) == len(set(segments))  # nobody was given what the other had


def test_a_question_that_yes_and_no_answer(tmp_path: Path) -> None:
    """The question that nobody chose asks how good it is; yes is no answer to that."""
    campaign = begin(tmp_path, limits=(0, 1))
    campaign.select(3)
    assert "Is this output adequate?" in rater(campaign).look().text
    campaign.change(question="Is it fluent?")
    assert "Is it fluent?" in rater(campaign).look().text


CRITERIA = ["fluency:1-5:higher", "adequacy:0-100:higher"]


def several(folder: Path) -> Rater:
    study = begin(folder, limits=None, criteria=CRITERIA)
    study.select(4)
    return rater(study)


def test_one_form_asks_for_every_criterion(tmp_path: Path) -> None:
    ann = several(tmp_path).look()
    assert "Fluency" in ann.text and "Adequacy" in ann.text
    assert "(0 = worst, 100 = best)" in ann.text and 'name="score"' not in ann.text
    first = ann.form["segment"]
    told = {"score-0": "4", "score-1": "62,5"}
    assert ann.post(**ann.form, **told).look().status == 200
    with Campaign(tmp_path / "study") as study:
        (one,) = study.store.rated()
        assert one.segment == first and one.scores == {"fluency": 4, "adequacy": 62.5}
        assert one.score == 4 and one.details["via"] == "page"
    assert ann.form["segment"] != first
    # Undo shows both again, and either may be changed.
    ann.post("/undo", **ann.undo_form)
    assert (
        ann.form["segment"] == first and "Your earlier answer: fluency 4, adequacy 62.5" in ann.text
    )
    assert re.search(r'name="score-0" value="4" checked', ann.text)
    assert re.search(r'name="score-1"[^>]* value="62.5"', ann.text)


def test_a_form_that_is_not_filled_is_not_stored(tmp_path: Path) -> None:
    ann = several(tmp_path).look()
    first = ann.form
    for told, why in (
        ({"score-0": "4"}, "adequacy: Give a score first"),
        ({"score-0": "6", "score-1": "3"}, "fluency: 6 is outside the scale"),
        ({"score-0": "4", "score-1": "many"}, "adequacy: many is not a number"),
        ({"score": "4"}, "fluency: Give a score first"),
    ):
        assert ann.post(**ann.form, **told).status == 400 and why in ann.text
        assert ann.form == first  # the same form, with what was typed
    assert re.search(r'name="score-1"[^>]* value=""', ann.text)
    with Campaign(tmp_path / "study") as study:
        assert study.store.rated() == []


def test_a_form_sent_twice_is_stored_once(tmp_path: Path) -> None:
    ann = several(tmp_path).look()
    first = ann.form
    ann.post(**first, **{"score-0": "4", "score-1": "50"})
    ann.post(**first, **{"score-0": "4", "score-1": "50"})
    assert "sent before" not in ann.text
    ann.post(**first, **{"score-0": "4", "score-1": "51"})
    assert "sent before" in ann.text
    with Campaign(tmp_path / "study") as study:
        assert [r.scores["adequacy"] for r in study.store.rated()] == [50]
