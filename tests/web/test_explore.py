"""Explore: its numbers are those of the library, and nobody but the owner sees them."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import shlex
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from fewgold.bayes import roc_table
from fewgold.campaign import Campaign
from fewgold.cli import app
from fewgold.common.text import decimals, plain_value
from fewgold.formats import Rating
from fewgold.judge import assess
from fewgold.plots.style import available
from fewgold.pool import Pool
from fewgold.web import create_app, explore, explore_view, files
from fewgold.web.explore_view import TABLES, cut_hints, looks
from fewgold.web.site import Site
from web.e2e.live import SCRIPT, small_pool

WORSE = '=HYPERLINK("http://x")'
PATHS = [
    "/explore", "/explore/number", "/explore/metric/0", "/explore/figure/growth.svg",
    "/explore/table/journal.csv", "/explore/status.json", "/explore/report.html",
    "/explore/judge", "/explore/judge/judge.json", "/explore/judge/figure/0/scores.svg",
    "/explore/judge/disagreements-0.csv", "/explore/time", "/explore/time/time.json?batch=document",
    "/explore/slices", "/explore/slices/slices.csv?by=document", "/explore/criteria",
    "/explore/answers", "/explore/tasks", "/explore/import", "/explore/settings",
]  # fmt: skip


def begin(path: Path, rated: int = 45, budget: int = 60, **settings: Any) -> Campaign:
    """A campaign whose first segments, in the order of drawing, are rated, some by two people."""
    pool, human = small_pool()
    made = Campaign.create(path, pool, seed=3, **{"limits": (0, 100), **settings})
    wave = made.select(budget)
    given = []
    for k, segment in enumerate(wave.ids[:rated]):
        given.append(Rating(segment, human[segment], "ann"))
        if k % 3 == 0:
            given.append(Rating(segment, min(100.0, human[segment] + k % 7), SCRIPT))
    made.add(given)
    return made


def client_of(path: Path, owner: bool = True) -> TestClient:
    app = create_app(path, token="t")
    client = TestClient(
        app, base_url="http://127.0.0.1", headers={"Origin": "http://127.0.0.1"},
        raise_server_exceptions=True,
    )  # fmt: skip
    if owner:
        client.cookies.set(app.state.site.cookie, "t")
    return client


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that is only looked at."""
    path = tmp_path_factory.mktemp("explore") / "study"
    with begin(path, tolerance=2.0) as made:
        made.add([Rating(WORSE, 5, WORSE), Rating(made.waves[0].ids[0], 500, "ann")])
    return path


@pytest.fixture(scope="module")
def owner(place: Path) -> Iterator[TestClient]:
    with client_of(place) as client:
        yield client


def frame(client: TestClient, name: str, query: str = "") -> pd.DataFrame:
    answer = client.get(f"/explore/table/{name}.csv{query}")
    assert answer.status_code == 200
    return pd.read_csv(io.StringIO(answer.text), keep_default_na=False, na_values=[""])


def test_all_is_for_the_owner_alone(place: Path) -> None:
    with client_of(place, owner=False) as stranger:
        for path in PATHS:
            assert stranger.get(path).status_code == 403, path
        for path in ("/overview", "/overview/state", "/waves", "/downloads"):
            assert stranger.get(path).status_code == 403, path
        for path in ("/waves", "/explore/adopt", "/explore/settings", "/explore/import"):
            sent = stranger.post(path, data={"count": "3"})
            assert sent.status_code == 403, path


def test_the_number_is_that_of_the_status(place: Path, owner: TestClient) -> None:
    with Campaign(place) as campaign:
        found = campaign.status()
    made = found.estimate
    assert made is not None
    digits = decimals(made["se"])
    for path in ("/explore", "/explore/number"):
        text = html.unescape(owner.get(path).text)
        for name in ("value", "low", "high"):
            assert f'id="{name}" value="{made[name]!r}">{made[name]:.{digits}f}<' in text
        assert f"({made['bound_label']})" in text
        assert f"{found.rated} of {found.sampled} sampled segments rated" in text
        assert f"about {found.goal['needed']} ratings" in text  # type: ignore[index]
        for note in found.notes:
            assert note[:1].upper() + note[1:] in text
    told = json.loads(owner.get("/explore/status.json").text)
    assert told == json.loads(json.dumps(found.to_dict()))


@pytest.mark.parametrize(
    ("table", "part"),
    [
        ("correlations", "correlations"), ("likeness", "sample_and_pool"), ("pulls", "pulls"),
        ("estimators", "estimators"), ("raters", "raters"),
    ],
)  # fmt: skip
def test_tables_are_those_of_the_report(
    place: Path, owner: TestClient, table: str, part: str
) -> None:
    with Campaign(place) as campaign:
        wanted = campaign.report("at-random").to_dict()[part]
    found = frame(owner, table).to_dict("records")
    assert len(found) == len(wanted) > 0
    for row, other in zip(found, wanted, strict=True):
        for name, value in other.items():
            if isinstance(value, float | int):
                assert row[name] == value, name  # to the last digit
            elif value is None:
                assert math.isnan(row[name])
            else:
                assert str(row[name]) == value


def test_documents_are_counted(place: Path, owner: TestClient) -> None:
    found = frame(owner, "documents")
    with Campaign(place) as campaign:
        sample, scores = campaign.sample, campaign.scores()
        names = campaign.pool.documents
    assert names is not None
    assert found["sampled"].sum() == sample.n == 60
    assert found["rated"].sum() == (~np.isnan(scores)).sum() == 45
    assert (found["segments"] == 6).all()
    first = found["document"][0]
    inside = scores[names[sample.indices] == first]
    assert found["mean"][0] == pytest.approx(np.nanmean(inside), rel=1e-12)


def test_strata_are_those_of_the_report(tmp_path: Path) -> None:
    with begin(tmp_path / "s", rated=60, strategy="metrics-prop+mean") as campaign:
        wanted = campaign.report().to_dict()["strata"]
    with client_of(tmp_path / "s") as owner:
        assert frame(owner, "strata").to_dict("records") == wanted
        assert 'data-testid="table-strata"' in owner.get("/explore").text


def test_growth_is_what_the_status_said_then(
    place: Path, owner: TestClient, tmp_path: Path
) -> None:
    found = frame(owner, "growth").set_index("answers")
    with Campaign(place) as campaign:
        rows, made = campaign.answers(), campaign.status().estimate
        seed = campaign.settings.seed
    assert made is not None
    assert found.index.tolist() == [*looks(len(rows)), len(rows)]
    assert found["value"].iloc[-1] == made["value"]
    pool, _ = small_pool()
    with Campaign.create(tmp_path / "then", pool, seed=seed, limits=(0, 100)) as then:
        then.select(60)
        seen = 0
        for k in (20, 50):
            part = rows[seen:k].itertuples()
            then.add([Rating(row.segment, row.score, row.rater) for row in part])
            seen = k
            wanted = then.status().estimate
            assert wanted is not None
            for name in ("n", "value", "se", "low", "high"):
                assert found.loc[k, name] == wanted[name]


def test_growth_over_waves(tmp_path: Path) -> None:
    pool, human = small_pool()
    with Campaign.create(tmp_path / "s", pool, seed=3, limits=(0, 100)) as made:
        said = {}
        for _ in range(2):
            wave = made.more(20) if made.waves else made.select(20)
            for k in range(0, 20, 5):
                made.add([Rating(i, human[i], "ann") for i in wave.ids[k : k + 5]])
                said[len(made.answers())] = made.status().estimate
    with client_of(tmp_path / "s") as owner:
        found = frame(owner, "growth")
        waves = frame(owner, "waves")
    assert found["answers"].tolist() == [5, 8, 10, 12, 15, 20, 25, 30, 40]
    shared = found[found["answers"].isin(list(said))]
    assert shared["answers"].tolist() == [5, 10, 15, 20, 25, 30, 40]
    for count, value, low in zip(shared["answers"], shared["value"], shared["low"], strict=True):
        assert said[count] is not None
        assert (value, low) == (said[count]["value"], said[count]["low"])
    assert waves["value"].tolist() == [said[20]["value"], said[40]["value"]]


def test_nothing_is_sent_again_until_something_changed(tmp_path: Path) -> None:
    with begin(tmp_path / "s", rated=12) as campaign, client_of(tmp_path / "s") as owner:

        def seen() -> str:
            return owner.get("/explore/number").text.partition('name="seen" value="')[2][:16]

        first = seen()
        assert owner.get("/explore/number", params={"seen": first}).status_code == 204
        given = campaign.next("ann")
        assert given is not None
        before = owner.get("/explore/number").text
        campaign.desk.rate(Rating(given.key, 3, "ann", answer="a form"))
        after = owner.get("/explore/number", params={"seen": first, "page": first})
        assert after.status_code == 200
        assert 'href="/explore">Update all tables' in after.text
        assert 'value="13"></progress>' in after.text and after.text != before
        second = seen()
        campaign.desk.withdraw("ann")
        third = seen()
        campaign.change(confidence=0.9)
        assert len({first, second, third, seen()}) == 4
        for page in ("/explore/number", "/overview"):
            told = owner.get(page).text
            assert "90% interval" in told
            assert "Approximate: about 90% of such intervals contain the true value" in told


def test_costly_parts_are_made_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count, lock, real = {"status": 0, "report": 0}, threading.Lock(), Campaign.status
    report = Campaign.report

    def status(self: Campaign) -> Any:
        with lock:
            count["status"] += 1
        return real(self)

    def reported(self: Campaign, *a: Any, **k: Any) -> Any:
        with lock:
            count["report"] += 1
        return report(self, *a, **k)

    monkeypatch.setattr(Campaign, "status", status)
    monkeypatch.setattr(Campaign, "report", reported)
    with client_of(place) as owner, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: owner.get("/explore").text, range(8)))
    assert len(set(answers)) == 1
    assert count == {"status": 1, "report": 1}


def test_first_and_further_waves(tmp_path: Path) -> None:
    pool, _ = small_pool()
    Campaign.create(tmp_path / "s", pool, seed=3, limits=(0, 100)).close()
    with client_of(tmp_path / "s") as owner:
        assert "Draw the first wave" in owner.get("/explore").text
        send = {"count": "30", "waves": "0"}
        drawn = owner.post("/waves", data=send, follow_redirects=False)
        assert (drawn.status_code, drawn.headers["location"]) == (303, "/waves")
        again = owner.post("/waves", data=send)
        assert again.status_code == 400 and "A wave has been drawn since" in again.text
        assert "none is rated yet" in owner.get("/explore").text
        owner.post("/waves", data={"count": "10", "waves": "1"})
        for bad in ("0", "-3", "many", "1e3", "", "٣"):
            refused = owner.post("/waves", data={"count": bad, "waves": "2"})
            assert refused.status_code == 400 and "whole number" in refused.text
        assert owner.post("/waves").status_code == 400
        assert frame(owner, "waves")["segments"].tolist() == [30, 10]


def test_settings_say_where_uneven_chances_come_from(tmp_path: Path) -> None:
    told = f"The expected spread was learnt from {SCRIPT}."
    with begin(tmp_path / "s", chances=told), client_of(tmp_path / "s") as owner:
        page = owner.get("/explore/settings").text
        assert SCRIPT not in page and told in html.unescape(page)


def test_settings_are_changed_and_noted(tmp_path: Path) -> None:
    with begin(tmp_path / "s") as campaign, client_of(tmp_path / "s") as owner:
        form = {
            "tolerance": "1.5", "confidence": "0.9", "rule": "kelly", "each": "2",
            "repeats": "first", "among": "median", "limits": "-5, 120", "question": f"{SCRIPT}?",
        }  # fmt: skip
        sent = owner.post("/explore/settings", data=form)
        assert sent.status_code == 200 and "The settings were changed" in sent.text
        assert SCRIPT not in sent.text
        with Campaign(tmp_path / "s") as now:
            found, journal = now.settings, now.store.journal()
        assert (found.tolerance, found.confidence, found.each) == (1.5, 0.9, 2)
        assert (found.repeats, found.among, found.limits) == ("first", "median", (-5.0, 120.0))
        noted = json.loads(journal["details"].iloc[-1])
        assert journal["what"].iloc[-1] == "change" and "rule" not in noted
        assert noted["tolerance"] == 1.5
        owner.post("/explore/settings", data=form)
        assert len(campaign.store.journal()) == len(journal)  # nothing changed, nothing noted
        for name, value, said in (
            ("limits", "0 to 10", "outside the scale"), ("limits", "nonsense", "nonsense"),
            ("tolerance", "x", "must be a number"), ("tolerance", "1000", "half of the scale"),
            ("confidence", "2", "Confidence must lie"), ("each", "0", "whole number"),
            ("repeats", "never", "Repeats must be one of"),
            ("question", " ", "The question"), ("higher_is_better", "up", "got"),
        ):  # fmt: skip
            refused = owner.post("/explore/settings", data=form | {name: value})
            assert refused.status_code == 400 and said in refused.text, (name, value)
        assert len(campaign.store.journal()) == len(journal)
        campaign.change(question="")
        asked = "Rate this output."
        for told, value, then in (
            ("lower is better", False, "How bad are the errors in this output?"),
            ("not specified", None, "Rate this output."),
        ):
            form = {"higher_is_better": told, "question": asked}
            sent = owner.post("/explore/settings", data=form)
            assert then in sent.text and f"<option selected>{told}" in sent.text
            with Campaign(tmp_path / "s") as now:
                assert now.settings.higher_is_better is value and now.settings.question == ""
            asked = then


def test_ends_and_instructions_are_changed(tmp_path: Path) -> None:
    with begin(tmp_path / "s") as campaign, client_of(tmp_path / "s") as owner:
        link = campaign.desk.add_rater("ann")
        told = "# Read this\r\n\r\nTake **care**. " + SCRIPT
        form = {"low_end": "useless", "high_end": "perfect", "instructions": told}
        page = owner.post("/explore/settings", data=form).text
        assert 'value="useless"' in page and "<strong>care</strong>" in page
        assert SCRIPT not in page
        with Campaign(tmp_path / "s") as now:
            assert now.settings.ends == ("useless", "perfect")
            assert now.settings.instructions == told.replace("\r", "")
        seen = owner.get(f"/rate/{link}").text
        assert "0 = useless" in seen and "<strong>care</strong>" in seen
        for wrong in ({"low_end": ""}, {"high_end": "  "}):
            refused = owner.post("/explore/settings", data=wrong)
            assert refused.status_code == 400 and "both ends" in refused.text
        owner.post("/explore/settings", data={"instructions": "Short.", "high_end": "very good"})
        with Campaign(tmp_path / "s") as now:
            assert now.settings.ends == ("useless", "very good")
            assert now.settings.instructions == "Short."
        owner.post("/explore/settings", data=dict.fromkeys(form, ""))
        with Campaign(tmp_path / "s") as now:
            assert now.settings.ends is None and not now.settings.instructions


@pytest.mark.parametrize("more", [{"criteria": "fluency:1-5"}, {"sides": ("source", "output")}])
def test_scales_of_their_own_are_not_changed(tmp_path: Path, more: dict[str, Any]) -> None:
    with begin(tmp_path / "s", rated=0, limits=None, **more), client_of(tmp_path / "s") as owner:
        page = owner.get("/explore/settings").text
        for name in ("limits", "higher_is_better", "low_end", "high_end"):
            assert f'name="{name}"' not in page
        assert owner.post("/explore/settings", data={"each": "2"}).status_code == 200
        with Campaign(tmp_path / "s") as now:
            assert now.settings.each == 2


def test_import_shows_a_receipt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    with begin(tmp_path / "s", rated=10) as campaign, client_of(tmp_path / "s") as owner:
        wave, undrawn = campaign.waves[0].ids, campaign.pool.ids.tolist()
        undrawn = [i for i in undrawn if i not in wave]
        rows = [(wave[20], "50"), (wave[21], "999"), (undrawn[0], "3"), (SCRIPT, "4")]
        text = "id,score\n" + "".join(f"{i},{s}\n" for i, s in rows)
        name = f"../../{SCRIPT}.csv"
        sent = owner.post(
            "/explore/import", data={"by": "bob"}, files={"file": (name, text.encode())}
        )
        assert sent.status_code == 200 and SCRIPT not in sent.text
        assert "Stored 1 new answer<" in sent.text
        assert f"<code>fewgold import {tmp_path / 's'} FILE</code>" in sent.text
        assert "the segment was not sampled" in sent.text and "is outside 0 to 100" in sent.text
        assert campaign.answers()["rater"].iloc[-1] == "bob"
        again = owner.post("/explore/import", files={"file": ("a.csv", b"")})
        assert again.status_code == 400 and "a.csv" in again.text
        assert "temporary" not in again.text  # where it lay for a moment is nobody's business
        assert owner.post("/explore/import").status_code == 400
        odd = owner.post("/explore/import", data={"format": "odd"}, files={"file": ("a.csv", text)})
        assert odd.status_code == 400 and "odd" in odd.text
        assert not list((tmp_path / "temporary").iterdir())
        campaign.more(len(campaign.pool) - 60)
        assert "Let them count" in owner.get("/explore").text
        assert owner.post("/explore/adopt", follow_redirects=False).status_code == 303
        assert campaign.store.adoptable() == 0
        assert campaign.answers()["segment"].iloc[-1] == undrawn[0]


def test_files_that_unpack_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    monkeypatch.setattr("fewgold.web.explore._UNPACKED", 1000)
    with begin(tmp_path / "s", rated=3), client_of(tmp_path / "s") as owner:
        data = gzip.compress(b"id,score\n" + b"x,1\n" * 1000)
        refused = owner.post("/explore/import", files={"file": ("a.csv.gz", data)})
        assert refused.status_code == 400 and "too large" in refused.text


def test_answers_go_round(place: Path, owner: TestClient, tmp_path: Path) -> None:
    from fewgold import formats

    with Campaign(place) as campaign:
        wanted = sorted((r.segment, r.score, r.rater) for r in campaign.store.rated())
    for name in ("csv", "jsonl", "label-studio"):
        sent = owner.get("/explore/answers", params={"to": name})
        file = tmp_path / f"back{formats.get(name).suffixes[0]}"
        file.write_bytes(sent.content)
        read = formats.get(name).read(file).ratings
        found = sorted((r.segment, r.score, r.rater) for r in read)
        assert found == wanted
    packed = owner.get("/explore/tasks", params={"to": "label-studio", "which": "unrated"})
    names = zipfile.ZipFile(io.BytesIO(packed.content)).namelist()
    assert names == ["to_rate.config.xml", "to_rate.json"]
    assert owner.get("/explore/answers", params={"to": "../x"}).status_code == 400
    assert owner.get("/explore/tasks", params={"which": "x"}).status_code == 400


def test_the_report_is_the_report(place: Path, owner: TestClient) -> None:
    with Campaign(place) as campaign:
        wanted = campaign.report("at-random").markdown()
    sent = owner.get("/explore/report.md")
    assert sent.text == wanted
    assert sent.headers["content-disposition"] == 'attachment; filename="report.md"'
    page = owner.get("/explore/report.html")
    assert page.text.startswith("<!doctype html") and SCRIPT not in page.text
    waiting = owner.get("/explore/report.md?gaps=wait")
    assert waiting.status_code == 400 and "are unrated" in waiting.text
    assert owner.get("/explore/report.pdf").status_code == 404
    assert owner.get("/explore/report.md?gaps=odd").status_code == 400


def test_figures(owner: TestClient) -> None:
    for name in ("growth", "estimators", "scatter-0", "shape-1", "roc-0"):
        drawn = owner.get(f"/explore/figure/{name}.svg?cut=>%3D 70")
        assert drawn.status_code == 200
        assert drawn.headers["content-type"] == "image/svg+xml" and b"<svg" in drawn.content
    assert owner.get("/explore/figure/scatter-1.png").content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "path",
    [
        "/explore/figure/scatter-2.svg", "/explore/figure/scatter-00.svg",
        "/explore/figure/odd.svg", "/explore/figure/growth.pdf", "/explore/table/odd.csv",
        "/explore/figure/..%2f..%2fgrowth.svg", "/explore/metric/2", "/explore/metric/-1",
        "/explore/metric/x", "/explore/table/..%2fjournal.csv", "/explore/figure/sequence.svg",
        "/explore/table/strata.csv",
    ],
)  # fmt: skip
def test_names_come_from_fixed_lists(owner: TestClient, path: str) -> None:
    assert owner.get(path).status_code == 404


def test_roc_is_that_of_the_library(place: Path, owner: TestClient) -> None:
    with Campaign(place) as campaign:
        ratings = campaign.ratings("at-random")
        at = ratings.sample.indices
        own = {name: v[at] for name, v in campaign.pool.metrics.items()}
    table = pd.DataFrame({"human": ratings.scores} | own)
    wanted = roc_table(table, human="human", metrics=list(own), adequate=">= 70").to_frame()
    found = frame(owner, "roc", "?cut=>%3D+70")
    pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    page = owner.get("/explore?cut=>%3D+70").text
    assert f">{wanted['auc'][0]:.2f}</td>" in page
    for bad in ("nonsense", ">= 1000", "<= 100"):
        page = owner.get("/explore", params={"cut": bad})
        assert page.status_code == 200 and 'id="roc-trouble"' in page.text
    assert owner.get("/explore/table/roc.csv?cut=odd").status_code == 400


def test_the_stopping_rule_announces_itself(tmp_path: Path) -> None:
    made = begin(tmp_path / "s", rated=150, budget=160, strategy="random+mean", tolerance=12.0)
    with made as campaign:
        stop = campaign.status().stop
        assert stop is not None and stop["fired"]
    with client_of(tmp_path / "s") as owner:
        page = owner.get("/explore").text
        assert "The stopping rule says: stop" in page
        assert f"stop: {stop['after']} ratings are enough" in page
        steps = frame(owner, "sequence")
        assert len(steps) == stop["looked_at"]
        assert (steps["low"].iloc[-1], steps["high"].iloc[-1]) == (stop["low"], stop["high"])
        assert owner.get("/explore/figure/sequence.svg").status_code == 200


def test_a_tolerance_that_is_reached(tmp_path: Path) -> None:
    begin(tmp_path / "s", rated=60, tolerance=20.0).close()
    with client_of(tmp_path / "s") as owner:
        assert "The tolerance is reached" in owner.get("/explore/number").text


def test_what_is_complete_is_not_called_so_far(tmp_path: Path) -> None:
    size = len(small_pool()[0])
    for name, rated, budget in (("part", 45, 60), ("sample", 60, 60), ("all", size, size)):
        begin(tmp_path / name, rated=rated, budget=budget, strategy="random+mean").close()
        with client_of(tmp_path / name) as owner:
            text = owner.get("/explore/number").text
        assert ("segments, so far<" in text) == (name == "part")
        assert ("(every segment is rated)" in text) == (name == "all")
        assert ("approximate" in text) == (name != "all")


def test_what_others_wrote_is_escaped_and_neutral(place: Path, owner: TestClient) -> None:
    for path in ("/explore", "/explore/number", "/explore/metric/0", "/explore/import"):
        text = owner.get(path).text
        assert SCRIPT not in text and " style=" not in text and " onclick" not in text
    assert (
        SCRIPT.replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#39;")
        in owner.get("/explore").text
    )
    rows = list(csv.reader(io.StringIO(owner.get("/explore/table/set-aside.csv").text)))
    assert rows[1][0] == "'" + WORSE
    assert all(not c.startswith(("=", "@")) for row in rows for c in row)


def test_cells() -> None:
    given = pd.DataFrame({"=a": ["-1+2", None], "b": [-0.1, math.nan]})
    assert files.csv(given.columns, given.itertuples(index=False)) == "'=a,b\n'-1+2,-0.1\n,\n"


def test_without_matplotlib(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "available", lambda: False)
    monkeypatch.setattr(explore_view, "available", lambda: False)
    with client_of(place) as owner:
        page = owner.get("/explore").text
        assert "Figures need matplotlib" in page and "<img" not in page
        assert owner.get("/explore/figure/growth.svg").status_code == 404


def test_an_empty_campaign_has_all_pages(tmp_path: Path) -> None:
    pool, _ = small_pool()
    Campaign.create(tmp_path / "s", pool, seed=3).close()
    with client_of(tmp_path / "s") as owner:
        for path in ("/explore", "/explore/number", "/explore/metric/0", "/explore/settings"):
            assert owner.get(path).status_code == 200, path
        assert owner.get("/explore/figure/growth.svg").status_code == 404
        for name in set(TABLES) - {"journal"}:
            assert owner.get(f"/explore/table/{name}.csv").status_code in (200, 404)
        assert owner.get("/explore/report.md").status_code == 400
        assert owner.get("/explore/answers").status_code == 400


@pytest.mark.parametrize("rated", [1, 2, 3])
def test_few_answers(tmp_path: Path, rated: int) -> None:
    begin(tmp_path / "s", rated=rated).close()
    with client_of(tmp_path / "s") as owner:
        assert owner.get("/explore?cut=>%3D+70").status_code == 200
        assert owner.get("/explore/metric/1").status_code == 200


def test_a_strategy_that_learns(tmp_path: Path) -> None:
    pool, human = small_pool()
    path = tmp_path / "s"
    with Campaign.create(
        path, pool, seed=3, limits=(0, 100), strategy="docs-incr-human+mean"
    ) as made:
        made.select(12)
        for _ in range(6):
            given = made.next("ann")
            assert given is not None
            made.add([Rating(given.id, human[given.id], "ann")])
        assert made.next("ann") is not None  # drawn, and without an answer
        said = made.status().estimate
        assert said is not None and said["gaps"] == 1 and said["n"] == 6
    with client_of(path) as owner:
        shown = f"{said['value']:.{decimals(said['se'])}f}"
        assert shown in owner.get("/explore/number").text
        assert owner.get("/explore").status_code == 200
    with Campaign(path) as made:
        while (given := made.next("ann")) is not None:
            made.add([Rating(given.id, human[given.id], "ann")])
    with client_of(path) as owner:
        page = owner.get("/waves")
        assert page.status_code == 200 and "learns from answers" in page.text


def test_cuts_to_begin_with() -> None:
    assert cut_hints([0.0, 1.0, 1.0]) == []
    assert cut_hints([3.0]) == []
    assert cut_hints([0.0, 0.0, 5.0]) == ["<= 0", ">= 5"]
    assert cut_hints([1.0, 2.0, 3.0]) == ["<= 2", ">= 2"]
    assert cut_hints([1.0, 2.0, 3.0], higher=True) == [">= 2"]
    assert cut_hints([1.0, 2.0, 3.0], higher=False) == ["<= 2"]
    assert cut_hints([0.0, 1.0, 1.0], higher=True) == []


def test_a_metric_as_a_judge(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    begin(tmp_path / "study").close()
    client = client_of(tmp_path / "study")
    plain = client.get("/explore/metric/0").text
    assert "Is it a good judge?" in plain and "Spearman" in plain
    asked = {"cut": ">= 60", "threshold": ">= 0"}
    page = html.unescape(client.get("/explore/metric/0", params=asked).text)
    with Campaign(tmp_path / "study") as campaign:
        ratings = campaign.ratings("at-random").cut(">= 60")
        name = next(iter(campaign.pool.metrics))
        found = assess(ratings, name, threshold=">= 0")
    for interval in found.table()["95% interval"]:
        assert interval in page
    trouble = client.get("/explore/metric/0", params={"threshold": ">= 0"}).text
    assert "the human scores are not 0 and 1" in trouble
    wrong = client.get("/explore/metric/0", params={"cut": ">= 60", "threshold": "x"})
    assert wrong.status_code == 200 and "cut is a sign and a number" in wrong.text


def test_judges_side_by_side(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    begin(tmp_path / "study").close()
    client = client_of(tmp_path / "study")
    with Campaign(tmp_path / "study") as campaign:
        names = list(campaign.pool.metrics)
        ratings = campaign.ratings("at-random")
    plain = client.get("/explore/judge").text
    assert all(name in plain for name in names[:3]) and "Judges compared" in plain
    asked = {
        "judge": ["0", "1"], "cut": ">= 60", "threshold": ">= 0", "by": names[1],
        "against": names[0],
    }  # fmt: skip
    page = html.unescape(client.get("/explore/judge", params=asked).text)
    found = assess(ratings.cut(">= 60"), names[:2], threshold=">= 0", by=names[1], against=names[0])
    for heading in ("Agreement", "Judges compared", f"By {names[1]}", "What errors depend on"):
        assert f"<h2>{heading}</h2>" in page
    for cell in found.table()[names[0]]:
        assert cell in page
    figures = re.findall(r'src="(/explore/judge/figure/[^"]*)"', page)
    assert len(figures) == sum(len(trial.plots) for trial in found.judges) > 1
    for address in figures:
        assert b"<svg" in client.get(address).content
    made = {
        kind: client.get(f"/explore/judge/judge.{kind}", params=asked)
        for kind in ("html", "json", "tex", "csv")
    }
    assert {answer.status_code for answer in made.values()} == {200}
    assert made["json"].json()["judges"] == json.loads(json.dumps(found.to_dict()))["judges"]
    assert made["tex"].text.startswith(r"\begin{tabular}") and r"\bottomrule" in made["tex"].text
    frame = pd.read_csv(io.StringIO(made["csv"].text))
    np.testing.assert_allclose(frame["value"], found.to_frame()["value"])
    listed = client.get("/explore/judge/disagreements-1.csv", params=asked).text
    assert len(pd.read_csv(io.StringIO(listed))) == len(found.disagreements(names[1]))


def test_slips_about_judges(tmp_path: Path) -> None:
    begin(tmp_path / "study").close()
    client = client_of(tmp_path / "study")
    for params in ({"cut": ">> 1"}, {"threshold": ">= 0"}, {"by": "nothing"}):
        page = client.get("/explore/judge", params=params)
        assert page.status_code == 200 and 'id="judge-trouble"' in page.text, params
    for path in ("?judge=9", "/judge.pdf", "/figure/0/nothing.svg", "/disagreements-9.csv"):
        assert client.get(f"/explore/judge{path}").status_code == 404, path
    with Campaign.create(tmp_path / "new", small_pool()[0], seed=1) as campaign:
        campaign.select(5)
    page = client_of(tmp_path / "new").get("/explore/judge")
    assert page.status_code == 200 and "There is no estimate yet" in page.text


def test_scores_over_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pool, human = small_pool()
    releases = np.array([f"release {k // 60}" for k in range(len(pool))])
    pool = Pool(pool.ids, pool.metrics, documents=releases, texts=pool.texts)
    with Campaign.create(tmp_path / "study", pool, seed=3, limits=(0, 100)) as campaign:
        wave = campaign.select(60)
        campaign.add([Rating(segment, human[segment], "ann") for segment in wave.ids])
    client = client_of(tmp_path / "study")
    assert "Scores over time" in client.get("/explore").text
    asked = {"batch": "document", "drop": "20"}
    page = html.unescape(client.get("/explore/time", params=asked).text)
    told = client.get("/explore/time/time.json", params=asked).json()
    assert told["verdict"] in page and told["line_promise"] in page
    assert all(f'<th scope="row">{row["batch"]}</th>' in page for row in told["batches"])
    frame = pd.read_csv(io.StringIO(client.get("/explore/time/time.csv", params=asked).text))
    scores = [np.nan if r["value"] is None else r["value"] for r in told["batches"]]
    np.testing.assert_allclose(frame["value"], scores)
    assert b"<svg" in client.get("/explore/time/line.svg", params=asked).content
    assert "One row per batch" in client.get("/explore/time/time.html", params=asked).text


def test_slips_over_time(tmp_path: Path) -> None:
    begin(tmp_path / "study").close()
    client = client_of(tmp_path / "study")
    for params in (
        {"batch": "nothing"}, {"batch": "document", "drop": "much"},
        {"batch": "document", "drop": "20"},  # batches of one or two ratings
        {"batch": "document", "drop": "-1"}, {"batch": "document", "every": "week"},
    ):  # fmt: skip
        page = client.get("/explore/time", params=params)
        assert page.status_code == 200 and 'id="time-trouble"' in page.text, params
    for path in ("/time.pdf?batch=document", "/line.svg", "/line.gif?batch=document"):
        assert client.get(f"/explore/time{path}").status_code == 404, path
    with Campaign.create(tmp_path / "new", small_pool()[0], seed=1) as campaign:
        campaign.select(5)
    page = client_of(tmp_path / "new").get("/explore/time")
    assert page.status_code == 200 and "There is no estimate yet" in page.text
    lone = Pool(np.arange(600), {}, texts={"output": np.array([f"Text {k}" for k in range(600)])})
    with Campaign.create(tmp_path / "lone", lone, seed=1, limits=(0, 100)) as campaign:
        campaign.add([Rating(segment, 50.0 + k, "ann") for k, segment in
                      enumerate(campaign.select(20).ids)])  # fmt: skip
    page = client_of(tmp_path / "lone").get("/explore/time")
    told = re.search("<code>fewgold (init [^<]+)</code>", page.text)
    assert told is not None and "raters do not see it" in page.text
    pool = tmp_path / "pool.csv"
    pool.write_text(
        "id,text,date\n" + "".join(f"{k},Text {k},2026-01-0{1 + k % 9}\n" for k in range(30))
    )
    words = [*shlex.split(told[1].replace("pool.csv", str(pool))), "-q"]
    words[1] = str(tmp_path / "dated")
    assert CliRunner().invoke(app, words).exit_code == 0
    with Campaign(tmp_path / "dated") as campaign:
        assert "date" in campaign.labels and "date" not in campaign.pool.texts


def test_scores_of_slices(tmp_path: Path) -> None:
    """The page, its files and its command have the numbers of the campaign."""
    pool, human = small_pool()
    part = np.array(["a", "b", "c"])[np.arange(len(pool)) % 3]
    rare = np.where(np.arange(len(pool)) < 8, "rare", "usual")
    study = tmp_path / "study"
    with Campaign.create(study, pool, seed=3, limits=(0, 100),
                         labels={"part": part, "kind": rare}) as campaign:  # fmt: skip
        wave = campaign.select(90)
        campaign.add(Rating(i, human[i], "ann") for i in wave.ids[:80])
        found = campaign.slices("part", "at-random", shrink=True)
        crossed = campaign.slices(["part", "kind"], "at-random")
    client = client_of(study)
    assert 'href="/explore/slices"' in client.get("/explore").text
    assert "/explore/criteria" not in client.get("/explore").text
    page = client.get("/explore/slices").text
    assert 'value="part"' in page and 'value="kind"' in page and "table-slices" not in page
    page = html.unescape(client.get("/explore/slices?by=part&shrink=1").text)
    for row in found.cells()[1]:
        for cell in row:
            assert f">{cell}<" in page
    command = re.findall(r'data-testid="command"><code>(.*?)</code>', page)
    assert command == [f"fewgold estimate {study} --by part --shrink --gaps at-random"]
    told = json.loads(CliRunner().invoke(app, [*command[0].split()[1:], "--json", "-q"]).stdout)
    sent = client.get("/explore/slices/slices.json?by=part&shrink=1").json()
    assert told["slices"] == sent == json.loads(json.dumps(found.to_dict()))
    frame = pd.read_csv(io.StringIO(client.get("/explore/slices/slices.csv?by=part&by=kind").text))
    np.testing.assert_allclose(frame["value"], crossed.to_frame()["value"])
    assert "too few" in client.get("/explore/slices?by=part&by=kind").text
    tex = client.get("/explore/slices/slices.tex?by=part").text
    assert tex.startswith(r"\begin{tabular}") and "all at once" in tex
    if available():
        for kind, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
            drawn = client.get(f"/explore/slices/forest.{kind}?by=part")
            assert drawn.status_code == 200 and drawn.content.startswith(start)
    for asked in ("by=nothing", "by=part&cut=x", "by=part&least=x", "by=part&least=1",
                  "by=kind&shrink=1"):  # fmt: skip
        answer = client.get(f"/explore/slices?{asked}")
        assert answer.status_code == 200 and 'id="slices-trouble"' in answer.text, asked
    for path in ("forest.pdf?by=part", "slices.html?by=part", "slices.csv"):
        assert client.get(f"/explore/slices/{path}").status_code == 404, path
    judged = client.get("/explore/judge?by=part").text
    assert "By part" in judged and "fewgold judge" in judged


def test_names_of_judges_keep_their_case(place: Path) -> None:
    page = html.unescape(client_of(place).get("/explore/judge").text)
    assert re.search(r'<p class="note">comet and people use different scales[^<]*[^.]\.</p>', page)


def test_many_undecided_pairs_are_folded() -> None:
    made = Site(None, "t", "c").templates.get_template("owner_parts.html").module
    told = [f"a vs b{k}: not resolved" for k in range(7)]
    few, many = str(made.undecided(told[:6])), str(made.undecided(told))  # type: ignore[attr-defined]
    assert few.count("<p>a vs b") == 6 and "<details>" not in few
    assert many.count("<li>a vs b") == 7 and "7 pairs cannot be told apart yet" in many


def test_criteria_side_by_side(tmp_path: Path) -> None:
    pool, human = small_pool()
    study = tmp_path / "study"
    with Campaign.create(
        study, pool, seed=3, criteria=["adequacy:0-100:higher", "fluency:1-5"],
        labels={"part": np.arange(len(pool)) % 2},
    ) as campaign:  # fmt: skip
        assert client_of(study).get("/explore/criteria").status_code == 200  # nothing drawn yet
        wave = campaign.select(60)
        campaign.add(
            Rating(i, rater="ann", scores={"adequacy": human[i], "fluency": float(1 + k % 5)})
            for k, i in enumerate(wave.ids)
        )
        found = campaign.estimates()
    client = client_of(study)
    assert 'href="/explore/criteria"' in client.get("/explore").text
    page = html.unescape(client.get("/explore/criteria?simultaneous=1").text)
    command = re.findall(r'data-testid="command"><code>(.*?)</code>', page)
    assert command == [f"fewgold estimate {study} --simultaneous"]
    told = json.loads(CliRunner().invoke(app, [*command[0].split()[1:], "--json", "-q"]).stdout)
    sent = client.get("/explore/criteria/criteria.json?simultaneous=1").json()
    wanted = json.loads(json.dumps(found.to_dict(simultaneous=True)))
    assert sent == wanted and {k: told[k] for k in wanted} == wanted
    for row in wanted["criteria"]:
        digits = decimals(row["se"])
        assert f">{row['value']:.{digits}f}<" in page and row["criterion"] in page
    pair = wanted["correlations"][0]
    assert f"{pair['value']:.2f}".replace("-", "−") in page
    csv_of = client.get("/explore/criteria/correlations.csv").text
    assert pd.read_csv(io.StringIO(csv_of))["value"][0] == pytest.approx(pair["value"])
    assert 'id="criteria-trouble"' in client.get("/explore/criteria?cut=x").text
    for asked, name in (("&criterion=fluency", "fluency"), ("", "adequacy")):
        judged = client.get(f"/explore/judge/judge.json?judge=0{asked}").json()
        with Campaign(study) as made:
            judge = next(iter(made.pool.metrics))
            wanted = assess(made.ratings("at-random", name), [judge], columns=made.labels)
        assert judged["judges"] == json.loads(json.dumps(plain_value(wanted.to_dict())))["judges"]
    page = html.unescape(client.get("/explore/judge?judge=0&criterion=fluency").text)
    assert '<option value="fluency" selected>' in page and "--human fluency" in page
    assert 'id="judge-trouble"' in client.get("/explore/judge?criterion=nope").text
    assert client.get("/explore/criteria/criteria.tex").status_code == 404
    slices = html.unescape(client.get("/explore/slices?by=part&criterion=fluency").text)
    assert "--criteria fluency" in slices
    with Campaign(study) as campaign:
        for cell in campaign.slices("part", criterion="fluency").cells()[1][0]:
            assert f">{cell}<" in slices
    begin(tmp_path / "single").close()
    assert client_of(tmp_path / "single").get("/explore/criteria").status_code == 404
