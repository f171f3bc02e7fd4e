"""The pages for planning show the numbers of the library, and lines that give them again."""

import contextlib
import csv
import html
import io
import itertools
import re
import shlex
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

pytest.importorskip("fastapi")
from starlette.testclient import TestClient
from typer.testing import CliRunner

from fewgold.bayes import AlphaPosterior, Counts, PoolPosterior, Priors
from fewgold.cli import app as commands
from fewgold.planning import (
    Goal,
    Outlook,
    Setting,
    best_split,
    detection_power,
    difference_table,
    measurable_difference,
    plan,
    plan_binary,
    plan_worst_case,
    ratings_needed,
)
from fewgold.report import number
from fewgold.web import create_app
from fewgold.web import plan as pages
from fewgold.web.drawing import Axis, luminance, shade
from fewgold.web.forms import Form

STUDIES = [
    {},
    {"rates": "known", "metric": "2000"},
    {"paired": "200", "human": "300"},
    {"paired": "200", "human": "300", "rates": "known"},
    {"power": "", "metric": "0"},
    {"items": "12000", "alpha": "0.9", "level": "0.01"},
    {"items": "700", "metric": "0"},
    {"items": "900", "rates": "known", "rho": "0.7", "eta": "0.8", "power": "0.95"},
    {"human": "0", "alpha": "0.3"},
]


@pytest.fixture(scope="module")
def client() -> TestClient:
    return TestClient(create_app(), base_url="http://127.0.0.1", raise_server_exceptions=True)


def get(client, path, **sent):
    found = client.get(f"{path}?{urlencode(sent)}")
    assert found.status_code == 200, found.text
    return found.text


def text(page, name):
    """What stands in the element with this data-testid, without tags."""
    match = re.search(rf'<(\w+)[^>]*data-testid="{name}"[^>]*>(.*?)</\1>', page, re.S)
    assert match, name
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", match[2])).split())


def code(page, name):
    match = re.search(rf'<pre id="{name}"[^>]*>(.*?)</pre>', page, re.S)
    assert match, name
    return html.unescape(match[1])


def table(page, name):
    match = re.search(rf'<table id="{name}">(.*?)</table>', page, re.S)
    assert match, name
    rows = re.findall(r"<tr>(.*?)</tr>", match[1], re.S)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S) for row in rows]
    return [
        [" ".join(html.unescape(re.sub(r"<[^>]*>", "", c)).split()) for c in row] for row in cells
    ]


def run(lines):
    """What the lines of Python print."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(lines, "page", "exec"), {})
    return out.getvalue()


def shell(line):
    name, *options = shlex.split(line)
    assert name == "fewgold"
    found = CliRunner().invoke(commands, options)
    assert found.exit_code == 0, found.output
    return found.output


def of(sent):
    """The study as the library takes it, written here once more."""
    v = {name: field.default for name, field in pages.BINARY_FIELDS.items()} | sent
    study = {"alpha": float(v["alpha"]), "human": int(v["human"]), "metric": int(v["metric"])}
    study |= {"rho": float(v["rho"]), "eta": float(v["eta"]), "known": v["rates"] == "known"}
    study["paired"] = int(v["paired"]) if v["paired"] else None
    power = float(v["power"]) if v["power"] else None
    return v, study, float(v["level"]), power


@pytest.mark.parametrize("sent", STUDIES)
def test_the_main_numbers_are_those_of_the_library(client, sent):
    page = get(client, "/plan/binary/results", **sent)
    v, study, level, power = of(sent)
    rows = {row[0]: row[1] for row in table(page, "results-table")}
    epsilon = measurable_difference(**study, level=level)
    assert text(page, "epsilon") == number(epsilon)
    assert rows[
        f"Smallest observed difference that is significant at level {v['level']} (ε)"
    ] == number(epsilon)
    if power is None:
        assert 'data-testid="found"' not in page
    else:
        assert text(page, "found") == number(
            measurable_difference(**study, level=level, power=power)
        )
    assert text(page, "power") == number(detection_power(0.05, **study, level=level))
    people = study["human"] + (study["paired"] or 0)
    assert text(page, "alone") == number(
        measurable_difference(alpha=study["alpha"], human=people, level=level)
    )
    priors = Priors(rho=study["rho"], eta=study["eta"]) if study["known"] else Priors()
    posterior = AlphaPosterior(Setting(**study).expected(), priors)
    assert text(page, "mean") == number(posterior.mean, digits=4)
    assert text(page, "sd") == number(posterior.sd)
    low, high = posterior.interval(1 - level)
    assert rows["Credible interval of α"] == (
        f"{number(low, digits=4)} to {number(high, digits=4)}"
    )


def test_whether_the_metric_helps(client):
    epsilon = float(measurable_difference(alpha=0.6, rho=0.9, eta=0.9, human=500, metric=10_000))
    alone = float(measurable_difference(alpha=0.6, human=500))
    said = text(get(client, "/plan/binary/results"), "verdict")
    assert f"falls by {number(1 - epsilon / alone, percent=True, digits=2)}" in said
    assert f"as if people had rated {ratings_needed(epsilon, alpha=0.6):,} items" in said
    said = text(get(client, "/plan/binary/results", rho="0.5", eta="0.5"), "verdict")
    assert said.startswith("The metric hardly matters")
    said = text(get(client, "/plan/binary/results", metric="0"), "verdict")
    assert said.startswith("No items are rated by the metric alone.")
    page = get(client, "/plan/binary/results", human="0")
    assert "unknown how often the metric is right" in text(page, "blind")
    for sent in ({}, {"human": "0", "rates": "known"}, {"human": "0", "paired": "5"}):
        assert 'data-testid="blind"' not in get(client, "/plan/binary/results", **sent)


def test_a_test_set_of_people_alone_and_with_a_metric(client):
    page = get(client, "/plan/binary/results", items="700", human="500", metric="0", alpha="0.6")
    pool = PoolPosterior(Counts(human_ones=300, human_total=500), unrated=200)
    assert text(page, "pool") == f"{number(pool.mean, digits=4)} ± {number(pool.sd)}"
    page = get(client, "/plan/binary/results", items="1002", human="527", metric="10", alpha="0.6")
    pool = PoolPosterior(Setting(alpha=0.6, rho=0.9, eta=0.9, human=527, metric=475).expected())
    assert text(page, "pool") == f"{number(pool.mean, digits=4)} ± {number(pool.sd)}"
    # The plan by the command line for such a test set has the same half-width.
    goal = Goal(half_width=1.959963984540054 * float(pool.sd) * (1 + 1e-9))
    found = plan_binary(goal, alpha=0.6, rho=0.9, eta=0.9, size=1002)
    assert found["with the metric"].n <= 527


@pytest.mark.parametrize("sent", STUDIES)
def test_the_python_lines_give_the_numbers_of_the_page(client, sent):
    page = get(client, "/plan/binary/results", **sent)
    printed = [
        [float(x) for x in line.split()] for line in run(code(page, "results-python")).splitlines()
    ]
    v, _, _, power = of(sent)
    shown = iter(printed)
    assert text(page, "epsilon") == number(next(shown)[0])
    if power is not None:
        assert text(page, "found") == number(next(shown)[0])
    assert text(page, "alone") == number(next(shown)[0])
    mean, sd = next(shown)
    assert (text(page, "mean"), text(page, "sd")) == (number(mean, digits=4), number(sd))
    rows = dict(table(page, "results-table"))
    ends = " to ".join(number(end, digits=4) for end in next(shown))
    assert rows["Credible interval of α"] == ends
    assert text(page, "power") == number(next(shown)[0])
    if v["items"]:
        mean, sd = next(shown)
        assert text(page, "pool") == f"{number(mean, digits=4)} ± {number(sd)}"
        assert rows["Credible interval of that share"] == " to ".join(
            number(e, digits=4) for e in next(shown)
        )
    assert not list(shown)


@pytest.mark.parametrize("sent", [{}, {"power": ""}, {"rates": "known"}, {"metric": "0"}])
def test_the_ratings_needed_in_python_and_on_the_command_line(client, sent):
    page = get(client, "/plan/binary/needed", **sent, difference="0.06", level="0.1")
    shown = [row[1] for row in table(page, "needed-table")]
    assert run(code(page, "needed-python")).split() == shown
    said = shell(code(page, "needed-command"))
    assert re.findall(r"^(?:people alone|with the metric)\s+(\d+)", said, re.M) == shown


def test_no_number_of_people_is_enough_is_said(client):
    page = get(client, "/plan/binary/needed", difference="0.9", alpha="0.6")
    assert "cannot differ by 0.9" in html.unescape(page)
    assert "<table" not in page


@pytest.mark.parametrize(
    "sent",
    [{}, {"power": ""}, {"rates": "known"}, {"metric_cost": "0", "items": "4000"}, {"rho": "0.6"}],
)  # fmt: skip
def test_the_split_in_python_and_on_the_command_line(client, sent):
    page = get(client, "/plan/binary/split", **sent, budget="400", human_cost="1.5", level="0.02")
    v, study, _, power = of(sent)
    study = {name: study[name] for name in ("alpha", "rho", "eta", "known")}
    split = best_split(
        400, 1.5, float(v["metric_cost"]), **study,
        items=int(v["items"]) if v["items"] else None, level=0.02, power=power,
    )  # fmt: skip
    wanted = [
        [str(m.human), str(m.metric), number(m.sd), number(m.difference), f"{m.cost:.6g}"]
        for m in (split.best, split.humans_alone, split.formula)
    ]
    assert [row[1:] for row in table(page, "split-table")[1:]] == wanted
    assert run(code(page, "split-python")).strip() == split.summary()
    said, told = shell(code(page, "split-command")), split.summary()
    if power is None:  # the same difference in other words
        told = told.replace("is significant", "is found with power 0.5")
    assert said.strip() == told
    assert ("The metric pays" in page) == split.pays


def test_the_heat_map_of_sizes_is_the_table_of_the_library(client):
    page = get(client, "/plan/binary/map", power="", human="500", metric="10000")
    rows = table(page, "map-table")
    wanted = difference_table(
        alpha=0.6, rho=0.9, eta=0.9, human=[50, 100, 200, 500, 1000, 2000, 5000, 10_000],
        metric=[0, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000],
    )  # fmt: skip
    assert [row[1:] for row in rows[1:]] == [[number(x) for x in row] for row in wanted.to_numpy()]
    assert rows[0][1:] == [f"{n:,}" for n in wanted.columns]
    assert [row[0] for row in rows[1:]] == [f"{n:,}" for n in wanted.index]
    # The study itself is one of the cells, and framed.
    assert page.count('stroke-width="2.5"') == 1


@pytest.mark.parametrize(("x", "y"), list(itertools.combinations(pages.AXES, 2)))
def test_every_heat_map_agrees_with_its_python_lines(client, x, y):
    sent = {"x": x, "y": y, "human": "320", "metric": "900", "rho": "0.45", "eta": "0.75"}
    page = get(client, "/plan/binary/map", **sent, alpha="0.35", level="0.03", power="0.85")
    values = eval(run(code(page, "map-python")))  # a list of lists of floats
    shown = [row[1:] for row in table(page, "map-table")[1:]]
    assert shown == [[number(v) for v in row] for row in values]
    own = {**sent, "alpha": "0.35", "level": "0.03", "power": "0.85"}
    _, study, level, power = of(own)
    columns = table(page, "map-table")[0][1:]
    if x in own and y in own and {x, y} != {"rho", "eta"} and "paired" not in (x, y):
        at = [row[0] for row in table(page, "map-table")].index(own[y]) - 1
        cell = shown[at][columns.index(own[x])]
        assert cell == number(measurable_difference(**study, level=level, power=power))


def test_an_axis_twice_is_refused_beside_its_field(client):
    page = get(client, "/plan/binary", x="rho", y="rho")
    assert text_of(page, "error-y") == "Expected another quantity than under “Across”."
    assert "Please correct: Down." in page
    assert text(page, "epsilon")


def text_of(page, identity):
    match = re.search(rf'<(\w+)[^>]*\bid="{identity}"[^>]*>(.*?)</\1>', page, re.S)
    assert match, identity
    return html.unescape(match[2]).strip()


@pytest.mark.parametrize(
    ("sent", "field", "sentence", "parts"),
    [
        ({"human": "many"}, "human", "a whole number from 0 to 1,000,000; got 'many'", "split"),
        ({"human": "-5"}, "human", "got '-5'", "split"),
        ({"human": "1.5"}, "human", "got '1.5'", "split"),
        ({"human": ""}, "human", "Expected a whole number", "split"),
        ({"rho": "nan"}, "rho", "a number from 0 to 1; got 'nan'", ""),
        ({"rho": "0.3", "eta": "0.4"}, "eta", "ρ + η must be 1 or more; got 0.7", ""),
        ({"power": "0.01"}, "power", "more than γ/2 = 0.025", ""),
        ({"budget": "0"}, "budget", "got '0'", "results needed map"),
        ({"metric_cost": "0"}, "metric_cost", "any number of items", "results needed map"),
        ({"items": "400"}, "items", "at least the 500 items", "results needed map"),
        ({"rates": "guessed"}, "rates", "Expected one of estimated, known", ""),
        ({"difference": "2"}, "difference", "from 0.0001 to 0.9999; got '2'", "results map split"),
    ],
)  # fmt: skip
def test_a_bad_value_gets_a_sentence_and_the_rest_stays(client, sent, field, sentence, parts):
    page = get(client, "/plan/binary", **sent)
    assert sentence in text_of(page, f"error-{field}")
    assert re.search(rf'id="{field}" name="{field}"[^>]*aria-invalid="true"', page)
    for part in parts.split():
        assert f'<table id="{part}-table">' in page
    piece = get(client, "/plan/binary/results", **sent)
    assert f'<p id="error-{field}" hx-swap-oob="innerHTML">' in piece
    assert sentence in text_of(piece, f"error-{field}")


def test_what_was_shown_stays_while_a_value_is_missing(client):
    htmx = {"HX-Request": "true"}
    for part in ("needed", "map"):
        assert client.get(f"/plan/binary/{part}?alpha=7", headers=htmx).status_code == 204
        assert client.get(f"/plan/binary/{part}?budget=x", headers=htmx).status_code == 200
    assert client.get("/plan/binary/split?budget=x", headers=htmx).status_code == 204
    for path, bad, unused in (
        ("/plan/binary/results", "alpha=7", "budget=x"),
        ("/plan/scores/results", "sd=0", "high=-1"),
    ):
        kept = client.get(f"{path}?{bad}", headers=htmx)
        assert kept.headers["HX-Reswap"] == "none"
        assert "The numbers below are the previous ones." in text_of(kept.text, "headline")
        assert "HX-Reswap" not in client.get(f"{path}?{unused}", headers=htmx).headers


def test_what_is_sent_is_escaped_and_cut(client):
    nasty = '"><script>alert(1)</script>' + "x" * 500
    for path, fields in (
        ("/plan/binary", pages.BINARY_FIELDS),
        ("/plan/scores", pages.SCORES_FIELDS),
    ):
        page = get(client, path, **dict.fromkeys(fields, nasty))
        assert "<script>alert" not in page
        assert "x" * 60 not in page


class _Rules(HTMLParser):
    """Nothing that the Content-Security-Policy forbids, and labels for all fields."""

    def __init__(self):
        super().__init__()
        self.bad, self.ids, self.fields, self.labels, self.h1 = [], [], [], set(), 0

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "style" in given or tag == "style" or any(name.startswith("on") for name in given):
            self.bad.append((tag, given))
        if tag == "script" and "src" not in given:
            self.bad.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "label":
            self.labels.add(given["for"])
        if tag in ("input", "select") and "aria-label" not in given:
            self.fields.append(given["id"])
        self.h1 += tag == "h1"


@pytest.mark.parametrize("path", ["/plan/binary", "/plan/scores", "/plan/scores?known=scale"])
def test_pages_keep_the_rules(client, path):
    rules = _Rules()
    rules.feed(client.get(path).text)
    assert not rules.bad
    assert len(rules.ids) == len(set(rules.ids))
    assert set(rules.fields) <= rules.labels
    assert rules.h1 == 1


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/plan/binary", {"human": "77", "paired": "", "power": "", "x": "rho", "y": "alpha"}),
        ("/plan/binary", {"paired": "30", "budget": "12.5", "human": "oops"}),
        ("/plan/scores", {"goal": "difference", "wanted": "0.5", "size": "", "icc": ""}),
    ],
)
def test_the_address_restores_the_view(client, path, sent):
    piece = client.get(f"{path}/results?{urlencode(sent)}", headers={"HX-Request": "true"})
    link = piece.headers["HX-Replace-Url"]
    assert urlsplit(link).path == path
    state = {k: v[0] for k, v in parse_qs(urlsplit(link).query, keep_blank_values=True).items()}
    fields = pages.BINARY_FIELDS if path.endswith("binary") else pages.SCORES_FIELDS
    assert state == {name: sent.get(name, field.default) for name, field in fields.items()}
    page = client.get(link).text
    shared = html.unescape(re.search(r'id="link"[^>]* value="([^"]*)"', page)[1])
    assert shared == f"http://127.0.0.1{link}"
    for name, value in state.items():
        if fields[name].choices:
            assert re.search(
                rf'<select id="{name}".*?<option value="{value}" selected>', page, re.S
            )
        else:
            assert f'name="{name}" form="plan-form" value="{value}"' in page


def test_csv_has_all_digits(client):
    rows = list(csv.DictReader(io.StringIO(get(client, "/plan/binary/results.csv", human="321"))))
    study = {"alpha": 0.6, "rho": 0.9, "eta": 0.9, "human": 321, "metric": 10_000}
    assert float(rows[0]["epsilon"]) == float(measurable_difference(**study))
    rows = list(csv.DictReader(io.StringIO(get(client, "/plan/binary/map.csv", power=""))))
    one = next(r for r in rows if (r["human"], r["metric"]) == ("1000", "5000"))
    wanted = measurable_difference(alpha=0.6, rho=0.9, eta=0.9, human=1000, metric=5000)
    np.testing.assert_allclose(float(one["difference"]), float(wanted), rtol=1e-12)
    rows = list(csv.DictReader(io.StringIO(get(client, "/plan/binary/split.csv"))))
    split = best_split(500, 1, 0.02, alpha=0.6, rho=0.9, eta=0.9, power=0.8)
    assert [(int(r["human"]), float(r["sd"])) for r in rows] == [
        (m.human, m.sd) for m in split.tried
    ]
    refused = client.get("/plan/binary/results.csv?human=x")
    assert refused.status_code == 400
    assert "Human ratings: Expected a whole number" in refused.text


OUTLOOKS = [
    {},
    {"slopes": "12", "correlation": "0.7", "cost": "2.5", "wanted": "0.2"},
    {"goal": "tolerance", "wanted": "0.25", "confidence": "0.9", "icc": ""},
    {"goal": "difference", "wanted": "0.5", "power": "0.9", "size": ""},
    {"goal": "half_width", "wanted": "0.01", "size": "200"},
    {"known": "scale", "wanted": "1"},
    {"known": "scale", "goal": "difference", "wanted": "2", "low": "-1", "high": "1", "size": ""},
]


@pytest.mark.parametrize("sent", OUTLOOKS)
def test_ratings_by_strategy_are_those_of_the_library(client, sent):
    page = get(client, "/plan/scores/results", **sent)
    v = {name: field.default for name, field in pages.SCORES_FIELDS.items()} | sent
    v = {n: t if pages.SCORES_FIELDS[n].choices else float(t) if t else None for n, t in v.items()}
    size = None if v["size"] is None else int(v["size"])
    goal = Goal(**{v["goal"]: v["wanted"]}, confidence=v["confidence"], power=v["power"])
    if v["known"] == "scale":
        found = plan_worst_case(goal, (v["low"], v["high"]), size, v["cost"])
    else:
        guess = {n: v[n] for n in ("sd", "correlation", "icc", "per_document", "cost")}
        found = plan(goal, Outlook(**guess, slopes=int(v["slopes"]), size=size))
    frame = found.to_frame()
    rows = table(page, "results-table")[1:]
    assert [row[0] for row in rows] == list(frame["strategy"])
    assert [int(row[1]) for row in rows] == list(frame["n"])
    assert [row[-1] for row in rows] == [number(x) for x in frame["reached"]]
    assert [row[-2] for row in rows] == [f"{x:.6g}" for x in frame["cost"]]
    if size is not None:
        assert [row[2] for row in rows] == [f"{x:.1%}" for x in frame["share"]]
    saved = [f"{x:.0%}".replace("-", "−") for x in frame["saved_share"]]
    assert [row[-3] for row in rows][1:] == saved[1:]
    summary = run(code(page, "results-python")).strip()
    assert summary == found.summary()
    assert shell(code(page, "results-command")).strip() == summary
    sheet = list(csv.DictReader(io.StringIO(get(client, "/plan/scores/results.csv", **sent))))
    for row, wanted in zip(sheet, frame.to_dict("records"), strict=True):
        assert int(row["n"]) == wanted["n"]
        assert float(row["reached"]) == wanted["reached"]
        assert float(row["saved_share"]) == wanted["saved_share"]
    curves = list(csv.DictReader(io.StringIO(get(client, "/plan/scores/curves.csv", **sent))))
    assert [float(r["reached"]) for r in curves] == list(found.curves()["reached"])


def test_short_names_in_the_answer_are_explained(client):
    told = "icc: how alike the scores within a document are."
    page = get(client, "/plan/scores")
    assert ", icc 0.15</caption>" in page and told in page
    page = get(client, "/plan/scores", icc="")
    assert "icc 0.15" not in page and told not in page


def test_bad_values_of_scores(client):
    page = get(client, "/plan/scores", sd="0", known="guess")
    assert "got '0'" in text_of(page, "error-sd")
    assert "Please correct: Spread of the scores (sd)." in page
    page = get(client, "/plan/scores", known="scale", low="3", high="3", sd="0")
    assert "more than 3, the low end of the scale" in text_of(page, "error-high")
    # What is not used does not stand in the way.
    assert '<table id="results-table">' in get(client, "/plan/scores", known="scale", sd="0")


def test_any_values_have_an_answer_or_a_sentence(client):
    rng = np.random.default_rng(20)
    for _ in range(10):
        for path, fields in (
            ("/plan/binary/results", pages.BINARY_FIELDS),
            ("/plan/binary/needed", pages.BINARY_FIELDS),
            ("/plan/scores/results", pages.SCORES_FIELDS),
        ):
            sent = {}
            for name, field in fields.items():
                if field.choices:
                    sent[name] = str(rng.choice([value for value, _ in field.choices]))
                    continue
                ends = field.slider or (field.low, min(field.high, 1e6), 0)
                value = rng.choice(
                    [field.low, field.high, ends[0], ends[1], rng.uniform(*ends[:2])]
                )
                sent[name] = f"{round(value)}" if field.whole else f"{value:.6g}"
                if field.optional and rng.random() < 0.3:
                    sent[name] = ""
            page = get(client, path, **sent)
            assert "<table" in page or 'class="note"' in page, sent


def test_ink_on_every_shade_can_be_read():
    for share in np.linspace(0, 1, 101):
        fill, ink = shade(float(share))
        ground = luminance([int(fill[k : k + 2], 16) for k in (1, 3, 5)])
        other = {"#000000": 0.0, "#ffffff": 1.0}[ink]
        high, low = max(ground, other), min(ground, other)
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_axes():
    assert Axis(0, 10, 100, 0)(2.5) == 75
    assert Axis(1, 100, 0, 200, log=True)(10) == 100
    assert Axis(3, 3, 0, 10)(3) == 5
    assert [label for _, label in Axis(0, 0.21, 0, 1).ticks()] == [
        "0",
        "0.05",
        "0.1",
        "0.15",
        "0.2",
    ]
    assert [label for _, label in Axis(40, 1500, 0, 1, log=True).ticks()] == [
        "50", "100", "200", "500", "1,000"
    ]  # fmt: skip


def test_numbers_are_read_strictly():
    for text_ in ("1e3", "1_000", "٣", "0x10", "+5", "1,000"):
        form = Form.of(pages.BINARY_FIELDS, {"human": text_})
        assert form["human"] is None, text_
        assert "human" in form.errors
    for text_ in ("inf", "1_0.5", "0,5"):
        assert "alpha" in Form.of(pages.BINARY_FIELDS, {"alpha": text_}).errors
    assert Form.of(pages.BINARY_FIELDS, {"human": " 70 "})["human"] == 70


def test_a_budget_beyond_all_bounds_gets_a_sentence(client: TestClient) -> None:
    page = client.get("/plan/binary/split?budget=1e9")
    assert page.status_code == 200 and "more than 10,000,000 ratings" in page.text
    assert client.get("/plan/binary?budget=1e9").status_code == 200
    assert client.get("/plan/binary/split.csv?budget=1e9").status_code == 400


def test_what_takes_long_gets_a_sentence(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """These pages are open to everybody: nobody may keep the server busy for long."""
    large = {"human": "1000000", "metric": "1000000", "rho": "0.999", "eta": "0.999"}
    monkeypatch.setattr(pages, "_PATIENCE", 0.0)
    assert "takes longer than 0 seconds" in get(client, "/plan/binary/map", x="paired", **large)
    page = get(client, "/plan/binary/needed", **large)
    assert "too slow for a page" in page and "ratings_needed" in page
    known = get(client, "/plan/binary/needed", **large, rates="known")
    assert "takes longer" not in known


def test_large_maps_are_those_of_the_library():
    form = pages.read_binary({"human": "60000", "x": "level", "y": "power"})
    found = pages.heat_map(form)
    wanted = measurable_difference(
        alpha=0.6, rho=0.9, eta=0.9, human=60_000, metric=10_000,
        power=np.array(found["rows"])[:, None], level=list(found["columns"]),
    )  # fmt: skip
    np.testing.assert_allclose(found["values"], wanted, rtol=1e-9)
