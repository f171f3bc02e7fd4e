"""Reports: what a page holds, that nothing slips through unescaped, and that it stands alone."""

import base64
import hashlib
import io
import re
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from fewgold import report
from fewgold.errors import DataError

SVG = '<svg viewBox="0 0 9 9"><path d="M0 0L9 9"/></svg>'
HOSTILE = ["<script>alert(1)</script>", 'a"onload="x', "b & c's", "系统 Ω <b>", "</title></style>"]
VOID = {"meta", "path"}


class Reader(HTMLParser):
    """The tags, attributes and text of a page; fails where tags do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.text.append((self.open[-1] if self.open else "", data.strip()))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]

    def words(self, tag: str) -> list[str]:
        return [text for name, text in self.text if name == tag]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "strategy": HOSTILE,
            "reduction": [0.1713, -0.02, np.nan, np.inf, 0.0],
            "reduction_mc": [0.0041, 0.012, np.nan, 0.01, 0.0],
            "n": [1418, 20, 3, 4, 5],
            "note": ["=1+1", "x", None, "-5", "a\nb"],
        }
    )


def everything() -> str:
    return report.page(
        HOSTILE[0],
        [HOSTILE[1], "see `a<b>`"],
        [
            report.Facts(HOSTILE[2], [(HOSTILE[3], HOSTILE[0])]),
            report.Table(HOSTILE[1], frame(), HOSTILE[0], errors={"reduction": "reduction_mc"}),
            report.Figure(HOSTILE[0], SVG, HOSTILE[2], HOSTILE[1]),
            report.Text(HOSTILE[4], HOSTILE),
        ],
        HOSTILE[0],
    )


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (0.17134, 0.0041, "0.171 ± 0.004"),
        (0.17134, 0.0012, "0.1713 ± 0.0012"),
        (0.17134, 0.0096, "0.171 ± 0.010"),
        (-3.21, 0.5, "−3.2 ± 0.5"),
        (123.4, 12.3, "123 ± 12"),
        (1234.5, 250.0, "1234 ± 250"),
        (-0.00001, 0.004, "0.000 ± 0.004"),
        (2.12218, None, "2.12"),
        (9.996, None, "10.0"),
        (0.0, 0.0, "0"),
        (0.5, float("nan"), "0.500"),
        (float("nan"), 0.1, "–"),
        (None, None, "–"),
        (pd.NA, None, "–"),
        (float("inf"), 0.1, "∞"),
        (float("-inf"), None, "−∞"),
        (1e-12, None, "1.00e−12"),
    ],
)
def test_numbers_have_the_digits_that_count(value: float, error: float | None, text: str) -> None:
    assert report.number(value, error) == text


def test_per_cent() -> None:
    assert report.number(0.17134, 0.0041, percent=True) == "17.1 ± 0.4%"
    assert report.number(0.95, percent=True, digits=2) == "95%"


def test_hostile_text_stays_text() -> None:
    reader = Reader(everything())
    scripts = reader.all("script")
    assert len(scripts) == 1
    assert "alert" not in "".join(reader.words("script"))
    assert not any(name.startswith("on") for _, attrs in reader.tags for name in attrs)
    assert reader.words("title") == [HOSTILE[0]]
    assert reader.words("h1") == [HOSTILE[0]]
    assert reader.words("h2") == [HOSTILE[2], HOSTILE[1], HOSTILE[0], HOSTILE[4]]
    assert reader.words("dt") == [HOSTILE[3]]
    assert reader.words("dd") == reader.words("caption") == [HOSTILE[0]]
    assert reader.words("figcaption") == [HOSTILE[2]]
    assert reader.words("code") == ["a<b>"]
    assert reader.words("th")[-5:] == HOSTILE  # the heads of the rows
    assert reader.words("p")[-6:] == [*HOSTILE, HOSTILE[0]]
    assert not reader.all("b")


def test_the_page_loads_nothing() -> None:
    html = everything()
    assert not re.search(r"https?://|//\w+\.\w|@import", html)
    assert not re.findall(r"url\((?!#)", html)
    reader = Reader(html)
    assert not any("src" in attrs for _, attrs in reader.tags)
    links = [attrs["href"] or "" for _, attrs in reader.tags if "href" in attrs]
    assert links
    assert all(link.startswith(("#", "data:text/csv")) for link in links)
    assert {tag for tag, _ in reader.tags}.isdisjoint({"link", "img", "iframe", "base", "object"})


def test_browsers_may_run_our_script_only() -> None:
    html = everything()
    (policy,) = [m["content"] or "" for m in Reader(html).all("meta") if m.get("http-equiv")]
    script = html.partition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    )


def test_a_page_has_what_readers_and_machines_look_for() -> None:
    reader = Reader(everything())
    (root,) = reader.all("html")
    assert root["lang"] == "en"
    assert any(m.get("name") == "viewport" for m in reader.all("meta"))
    tags = Counter(tag for tag, _ in reader.tags)
    assert tags["h1"] == tags["main"] == tags["nav"] == tags["header"] == tags["footer"] == 1
    assert tags["h2"] == tags["section"] == 4
    ids = [attrs["id"] for _, attrs in reader.tags if attrs.get("id")]
    assert len(ids) == len(set(ids))
    targets = [(a["href"] or "")[1:] for a in reader.all("a") if (a["href"] or "")[0] == "#"]
    assert len(targets) == 4
    assert set(targets) <= set(ids)
    assert {attrs["aria-labelledby"] for attrs in reader.all("section")} <= set(ids)


def test_one_section_needs_no_contents() -> None:
    assert not Reader(report.page("x", sections=[report.Text("a", "b")])).all("nav")


def cells(table: report.Table) -> list[list[str]]:
    rows = re.findall(r"<tr>(.*?)</tr>", table.body(), flags=re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]


def test_a_table_shows_values_with_their_errors() -> None:
    table = report.Table(
        "T",
        frame(),
        formats={"reduction": "%", "note": str.upper},
        errors={"reduction": "reduction_mc"},
        names={"reduction": "gain"},
    )
    got = cells(table)
    assert got[0] == ["strategy", "gain", "n", "note"]
    assert [row[1] for row in got[1:]] == ["17.1 ± 0.4%", "−2.0 ± 1.2%", "–", "∞", "0%"]
    assert [row[2] for row in got[1:]] == ["1418", "20", "3", "4", "5"]
    assert [row[3] for row in got[2:4]] == ["X", "–"]
    reader = Reader(table.body())
    assert [h.get("scope") for h in reader.all("th")] == ["col"] * 4 + ["row"] * 5
    assert [h.get("class") for h in reader.all("th")[:4]] == [None, "num", "num", None]
    sort = [c.get("data-value") for c in reader.all("td") if c.get("class") == "num"]
    assert sort[::2] == ["0.1713", "-0.02", None, "Infinity", "0.0"]
    assert reader.words("caption") == ["T"]


def test_a_format_of_python_works_too() -> None:
    table = report.Table("T", pd.DataFrame({"a": ["x"], "b": [-1.5]}), formats={"b": ".3f"})
    assert cells(table)[1] == ["x", "−1.500"]


def test_an_empty_table_says_so() -> None:
    assert "No rows." in report.Table("T", frame().iloc[:0]).body()


def test_a_table_knows_its_columns() -> None:
    with pytest.raises(DataError, match="'T' has no columns gain; it has strategy, reduction"):
        report.Table("T", frame(), formats={"gain": "%"}).body()


def test_the_download_holds_all_digits_and_no_formula() -> None:
    (link,) = Reader(report.Table("My / table: <1>", frame()).body()).all("a")
    assert link["download"] == "my-table-1.csv"
    text = unquote((link["href"] or "").partition(",")[2])
    back = pd.read_csv(io.StringIO(text))
    assert list(back.columns) == list(frame().columns)
    assert list(back["strategy"]) == HOSTILE
    np.testing.assert_array_equal(back["reduction"], frame()["reduction"])
    assert back["note"].tolist()[:2] == ["'=1+1", "x"]


def test_figures_are_svg_and_have_a_text_in_their_place() -> None:
    (card,) = [
        a for a in Reader(report.Figure("t", SVG, alt='a "b"').body()).all("div") if a["class"]
    ]
    assert (card["role"], card["aria-label"]) == ("img", 'a "b"')
    named = SVG.replace("<svg", '<svg role="img" aria-label="own"')
    assert report.Figure("t", named, alt="other").body().count("aria-label") == 1
    for wrong in ("<img src=x>", "<svg><SCRIPT>1</SCRIPT></svg>"):
        with pytest.raises(DataError, match=r"expected <svg>…</svg> without scripts; got '<"):
            report.Figure("t", wrong)


def test_sections_of_your_own() -> None:
    @dataclass(frozen=True)
    class Rule(report.Section):
        title: str

        def body(self) -> str:
            return "<hr>"

    assert "<hr></section>" in report.page("t", sections=[Rule("x")])


def test_colours_have_contrast_in_light_and_dark() -> None:
    css = Path(report.__file__).with_name("page.css").read_text(encoding="utf-8")
    themes = [dict(re.findall(r"--(\w+): (#\w+)", block)) for block in css.split("@media")[:2]]
    for theme in themes:
        for text in ("ink", "soft", "link"):
            for ground in ("paper", "card", "stripe"):
                assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground, theme)


def contrast(one: str, two: str) -> float:
    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        rgb = np.array([int(digits[i : i + 2], 16) for i in (0, 2, 4)]) / 255
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def test_write_is_whole_or_nothing(tmp_path: Path) -> None:
    path = report.write(tmp_path / "r.html", "old")
    report.write(str(path), everything())
    assert path.read_text(encoding="utf-8") == everything()
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]
    with pytest.raises(DataError, match="no folder"):
        report.write(tmp_path / "none" / "r.html", "x")


def test_markdown_has_the_same_text_and_no_markup_of_others() -> None:
    text = report.markdown(
        HOSTILE[0],
        [HOSTILE[1], "see `a<b>`"],
        [
            report.Facts(HOSTILE[2], [(HOSTILE[3], HOSTILE[0]), ("a|b", "`c|d`")]),
            report.Table(HOSTILE[1], frame(), HOSTILE[0], errors={"reduction": "reduction_mc"}),
            report.Figure("F", SVG, HOSTILE[2], HOSTILE[1]),
            report.Text(HOSTILE[4], HOSTILE),
        ],
        HOSTILE[0],
        top=[
            report.Headline("What", "1.5", [HOSTILE[0]]),
            report.Notes("Careful", [HOSTILE[0], "- not a list"]),
        ],
    )
    bare = re.sub(r"`[^`]*`", "", text)
    assert not re.search(r"(?<!\\)<[A-Za-z/!]", bare)
    assert "`a<b>`" in text
    assert text.startswith("# \\<script>alert(1)\\</script>\n")
    assert "What: **1.5**\n" in text
    assert "> - \\- not a list\n" in text
    assert "| a\\|b " in text
    assert "| `c\\|d` " in text
    assert "|  0.171 ± 0.004 | 1418 |" in text
    assert "<svg" not in text
    assert text.endswith("\\</script>\n")
    assert "\n\n\n" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("seg_01_b", "seg_01_b"),
        ("_a_ **b**", r"\_a\_ \*\*b\*\*"),
        ("3 < 4 & 5", "3 < 4 & 5"),
        ("&lt; <b>", r"\&lt; \<b>"),
        ("[x](y)", r"\[x\](y)"),
        ("# h", r"\# h"),
        ("- a", r"\- a"),
        ("1. a", r"1\. a"),
        ("−1.5 to 2", "−1.5 to 2"),
        ("-5 %", "-5 %"),
        ("a\n# b", "a # b"),
        ("~~a~~ $x$", r"\~\~a\~\~ \$x\$"),
        ("x `y_` _z_", r"x `y_` \_z\_"),
        ("lone ` tick", r"lone \` tick"),
    ],
)
def test_text_stays_text_in_markdown(text: str, shown: str) -> None:
    assert report.Text("", text).markdown() == f"{shown}\n\n"


def test_columns_line_up_in_a_terminal() -> None:
    table = pd.DataFrame({"name": ["系统", "é", "e\u0301", "plain"], "n": [1, 10, 100, 1000]})
    lines = report.Table("T", table).markdown().strip().splitlines()
    assert lines == [
        "| name  |    n |",
        "| ----- | ---: |",
        "| 系统  |    1 |",
        "| é     |   10 |",
        "| e\u0301     |  100 |",
        "| plain | 1000 |",
    ]
    assert "| No rows." in report.Table("T", table.iloc[:0]).markdown()
    with pytest.raises(DataError, match="has no columns gain"):
        report.Table("T", table, formats={"gain": "%"}).markdown()


def test_boxes() -> None:
    code = report.Code("C", "a ``` b\n<c>")
    assert "<code>a ``` b\n&lt;c&gt;</code>" in code.body()
    assert code.markdown() == "````text\na ``` b\n<c>\n````\n\n"
    group = report.Group("G", [report.Text("T", "x"), report.BulletList("", ["a", "b"])], "lead")
    assert "<h3>T</h3>" in group.body()
    assert group.markdown() == "lead\n\n### T\n\nx\n\n- a\n- b\n\n"
    top = report.page("t", top=[report.Headline("What", "<1>")])
    assert '<p class="value">&lt;1&gt;</p>' in top.partition("</header>")[0]
    Reader(report.page("t", sections=[group, code, report.Notes("N", ["x"])]))


def test_a_section_without_markdown_says_so() -> None:
    @dataclass(frozen=True)
    class Rule(report.Section):
        title: str

        def body(self) -> str:
            return "<hr>"

    with pytest.raises(DataError, match=r"'x' \(Rule\) cannot be written as Markdown"):
        report.markdown("t", sections=[Rule("x")])
