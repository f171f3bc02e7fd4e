"""An owner who never opens a terminal: from a table on the desk to a ranking, and back as files."""

from __future__ import annotations

import csv
import io
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from web.e2e import live
from web.e2e.test_access import axe, wide

Visit = Callable[..., Any]
SYSTEMS = {"gamma-7b": 0.0, "delta-7b": 1.2, "omega-7b": 2.4}


def outputs(path: Path, n: int = 60) -> None:
    """A table of three systems; the number in an output is what people would give it."""
    rng = np.random.default_rng(8)
    hard = rng.normal(size=n)
    rows = []
    for name, shift in SYSTEMS.items():
        human = np.clip(np.round(3 + 0.6 * hard + shift - 1.2 + rng.normal(0, 0.4, n)), 1, 5)
        rows += [
            {"id": f"s{k:02d}", "document": f"d{k // 5}", "system": name, "source": f"Text {k}.",
             "output": f"Worth {human[k]:.0f}, item {k}.", "metric": human[k] + rng.normal(0, 0.7)}
            for k in range(n)
        ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)


def good(page: Any, width: int = 1200) -> None:
    """Everybody can use it, at a desk and on a phone."""
    page.wait_for_load_state("load")  # with its styles
    for across in (360, width):
        page.set_viewport_size({"width": across, "height": 900})
        assert wide(page) == "", (page.url, across)
        assert axe(page) == [], (page.url, across)
        assert page.locator("h1").count() == 1


def rate(page: Any, most: int) -> int:
    """Answer as the output says, by pressing; how many."""
    for done in range(most):
        text = page.inner_text("#desk")
        worth = re.search(r"Worth (\d), item", text)
        if worth is None:
            return done
        page.locator(f"[data-testid=press-{worth[1]}]").first.click()
        page.wait_for_function("(b) => document.querySelector('#desk').innerText !== b", arg=text)
    return most


@pytest.mark.slow
def test_three_systems_are_ranked_by_two_raters(visit: Visit, tmp_path: Path) -> None:
    table = tmp_path / "our outputs.csv"
    outputs(table)
    place = tmp_path / "served"
    place.mkdir()
    with live.Server(place) as server:
        owner = visit(server.owner)
        owner.click("text=Begin a campaign")
        good(owner)
        owner.set_input_files("#file", str(table))
        owner.get_by_role("button", name="Upload").click()
        owner.wait_for_url("**/table")
        assert "Nothing is wrong with this table" in owner.inner_text("main")
        assert owner.locator("input[name=systems]:checked").count() == 3
        good(owner)
        owner.click("text=Use these columns")
        owner.wait_for_url("**/plan")
        before = owner.inner_text("[data-testid=half]")
        owner.select_option("#scale", "1,5")
        owner.fill("#budget", "12")
        owner.wait_for_function(
            "(b) => document.querySelector('[data-testid=half]').innerText !== b", arg=before
        )
        owner.wait_for_function(
            "() => document.querySelector('[data-testid=headline]').innerText.includes('36 rating')"
        )
        good(owner)
        owner.click("text=Continue")
        owner.wait_for_url("**/texts")
        owner.fill("#question", "How good is this answer?")
        good(owner)
        owner.click("text=Begin the campaign")
        owner.wait_for_url("**/c/our-outputs/overview")
        good(owner)
        root = f"{server.origin}/c/our-outputs"

        owner.click("text=Add raters")
        links = {}
        for k, name in enumerate(("ann", "bob")):
            owner.fill("[data-testid=name]", name)
            owner.click("[data-testid=add]")
            owner.wait_for_function(
                "(k) => document.querySelectorAll('[data-testid=link]').length > k", arg=k
            )
            links[name] = owner.locator("[data-testid=link]").nth(k).input_value()
        good(owner)

        ann = visit(links["ann"])
        bob = visit(links["bob"], width=360, height=740, has_touch=True, is_mobile=True)
        for page in (ann, bob):
            assert page.inner_text("h1") == "How good is this answer?"
            shown = page.content()
            assert not any(system in shown for system in (*SYSTEMS, "our-outputs", "our outputs"))
        assert rate(ann, 10) == 10
        assert rate(bob, 6) == 6

        # The machine goes down; what was answered is there, and everybody goes on.
        visit.troubles.excused = True  # type: ignore[attr-defined]
        server.stop(signal.SIGKILL)
        server.start()
        with Campaign(place / "our-outputs") as campaign:
            assert len(campaign.answers()) == 16
        for page in (ann, bob):
            page.reload()
        visit.troubles.excused = False  # type: ignore[attr-defined]
        while rate(ann, 3) + rate(bob, 3):
            pass
        with Campaign(place / "our-outputs") as campaign:
            found = campaign.answers()
            assert len(found) == 36
            assert set(found["rater"]) == {"ann", "bob"}

        owner.goto(server.owner)
        owner.goto(f"{root}/overview")
        good(owner)
        owner.goto(f"{root}/waves")
        good(owner)
        owner.fill("#count", "8")
        owner.click("text=Draw another wave")
        owner.wait_for_url("**/waves")
        assert "in 2 waves" in owner.inner_text("main")
        for page in (ann, bob):
            page.reload()
        while rate(ann, 3) + rate(bob, 3):
            pass

        owner.goto(f"{root}/overview")
        owner.get_by_role("link", name="Compare", exact=True).click()
        owner.locator("[data-testid=ranking]").wait_for()
        order = owner.locator("[data-testid=ranking] tbody th").all_inner_texts()
        assert order == ["omega-7b", "delta-7b", "gamma-7b"]
        good(owner)
        owner.goto(f"{root}/downloads")
        good(owner)
        files = owner.context.request
        report = files.get(f"{root}/explore/report.html")
        assert report.status == 200
        assert "omega-7b" in report.text()
        answers = files.get(f"{root}/explore/answers?to=csv")
        rows = list(csv.DictReader(io.StringIO(answers.text().lstrip("\ufeff"))))
        assert len([row for row in rows if row.get("score")]) == 60


def begun(owner: Any, table: Path) -> None:
    """Upload a table, from the list of campaigns."""
    owner.click("text=Begin a campaign")
    owner.set_input_files("#file", str(table))
    owner.get_by_role("button", name="Upload").click()
    owner.wait_for_url("**/table")


def invited(owner: Any, name: str) -> str:
    """Add a rater, from the overview; their link."""
    owner.get_by_role("link", name="Raters", exact=True).click()
    owner.fill("[data-testid=name]", name)
    owner.click("[data-testid=add]")
    return str(owner.locator("[data-testid=link]").first.input_value())


def press(page: Any, button: str) -> None:
    """Press a button and wait for what comes next."""
    before = page.inner_text("#desk")
    page.locator(f"[data-testid={button}]").first.click()
    page.wait_for_function("(b) => document.querySelector('#desk').innerText !== b", arg=before)


@pytest.mark.slow
def test_three_systems_in_pairs(visit: Visit, tmp_path: Path) -> None:
    """Two outputs side by side, begun, judged and ranked in the browser, on a desk and a phone."""
    good_ones = {"gamma-7b": 1, "delta-7b": 2, "omega-7b": 3}
    names = [*good_ones]
    rows = [
        {"id": f"p{k:02d}", "source": f"Text {k}.", "one": f"Worth {good_ones[a]}, item {k}.",
         "two": f"Worth {good_ones[b]}, item {k}.", "model_a": a, "model_b": b}
        for k in range(48)
        for a, b in [(names[k % 3], names[(k + 1 + k % 2) % 3])]
    ]  # fmt: skip
    table = tmp_path / "pairs.csv"
    pd.DataFrame(rows).to_csv(table, index=False)
    place = tmp_path / "served"
    place.mkdir()
    with live.Server(place) as server:
        owner = visit(server.owner)
        begun(owner, table)
        owner.click("text=Two outputs side by side")
        for role, column in [("sides-1", "one"), ("sides-2", "two"), ("between-1", "model_a"),
                             ("between-2", "model_b")]:  # fmt: skip
            owner.select_option(f"#f-{role}", column)
        good(owner)
        owner.click("text=Use these columns")
        owner.wait_for_url("**/plan")
        assert "side by side" in owner.inner_text("main")
        assert not owner.locator("#scale").count()
        owner.fill("#budget", "30")
        owner.wait_for_function(
            "() => document.querySelector('[data-testid=headline]').innerText.includes('30 rating')"
        )
        good(owner)
        owner.click("text=Continue")
        owner.wait_for_url("**/texts")
        owner.fill("#practice", "2")
        good(owner)
        owner.click("text=Begin the campaign")
        owner.wait_for_url("**/c/pairs/overview")
        link = invited(owner, "ann")

        ann = visit(link, width=360, height=740, has_touch=True, is_mobile=True)
        good(ann, 360)
        for turn in (1, 2):
            assert f"Practice {turn} of 2." in ann.inner_text("[data-testid=practice]")
            press(ann, "press-tie")
        assert "Practice is over" in ann.inner_text("#desk")
        for k in range(30):
            both = re.findall(r"Worth (\d), item", ann.inner_text("[data-testid=sides]"))
            assert len(both) == 2 and not any(name in ann.content() for name in names)
            # One in ten is judged the other way, or nobody who wins everything could be ranked.
            left = (both[0] > both[1]) != (k % 10 == 0)
            press(ann, "press-left" if left else "press-right")
        assert "Done" in ann.inner_text("#desk")
        with Campaign(place / "pairs") as campaign:
            assert len(campaign.answers()) == 30

        owner.goto(f"{server.origin}/c/pairs/overview")
        assert "preference for the first output" in owner.inner_text("main")
        good(owner)
        owner.get_by_role("link", name="Compare", exact=True).click()
        owner.locator("[data-testid=ranking]").wait_for()
        order = owner.locator("[data-testid=ranking] tbody th").all_inner_texts()
        assert order == ["omega-7b", "delta-7b", "gamma-7b"]
        assert "fewgold preferences" in owner.text_content("[data-testid=command]")
        good(owner)
        files = owner.context.request
        for name in ("ranking", "differences"):
            assert "omega-7b" in files.get(
                f"{server.origin}/c/pairs/compare/table/{name}.csv"
            ).text()  # fmt: skip
        figure = files.get(f"{server.origin}/c/pairs/compare/figure/preferences.svg")
        assert figure.status == 200 and "<svg" in figure.text()


@pytest.mark.slow
def test_two_criteria_with_practice(visit: Visit, tmp_path: Path) -> None:
    """A score for each of two criteria; practice items with the right answer and why."""
    table = tmp_path / "answers.csv"
    outputs(table)
    frame = pd.read_csv(table)
    frame[frame["system"] == "gamma-7b"].drop(columns="system").to_csv(table, index=False)
    place = tmp_path / "served"
    place.mkdir()
    with live.Server(place) as server:
        owner = visit(server.owner)
        begun(owner, table)
        owner.click("text=Use these columns")
        owner.wait_for_url("**/plan")
        owner.select_option("#rated", "several")
        assert not owner.locator("#scale").is_visible()
        for k, (name, scale) in enumerate([("fluency", "1-5"), ("accuracy", "0-1")], start=1):
            owner.fill(f"#criterion-{k}", name)
            owner.fill(f"#criterion-{k}-scale", scale)
        owner.fill("#budget", "6")
        owner.wait_for_function(
            "() => document.querySelector('[data-testid=headline]').innerText.includes('6 rating')"
        )
        good(owner)
        owner.click("text=Continue")
        owner.wait_for_url("**/texts")
        assert "Fluency (1 = worst, 5 = best)" in owner.inner_text("main")
        owner.fill("#instructions", "Read **all** of it.")
        owner.fill("#practice", "1")
        owner.click("text=Update the preview")
        owner.locator(".card strong", has_text="all").wait_for()
        good(owner)
        owner.click("text=Begin the campaign")
        owner.wait_for_url("**/c/answers/overview")
        with Campaign(place / "answers") as campaign:
            drawn = set(campaign.sample.ids.tolist())
            free = next(str(i) for i in campaign.pool.ids if i not in drawn)
        owner.goto(f"{server.origin}/c/answers/work/practice")
        owner.fill("[name=id]", free)
        owner.fill("[name=answer-0]", "2")
        owner.fill("[name=explanation]", "It **breaks off**.")
        good(owner)
        owner.get_by_role("button", name="Add").click()
        owner.locator("th", has_text=free).wait_for()
        link = invited(owner, "ann")

        ann = visit(link)
        assert "Practice 1 of 1." in ann.inner_text("#desk")
        good(ann)
        ann.keyboard.press("4")
        ann.keyboard.press("1")
        ann.keyboard.press("Enter")
        ann.wait_for_selector("text=breaks off")
        assert "fluency 2" in ann.inner_text("main")
        good(ann)
        ann.click("[data-testid=on]")
        ann.wait_for_selector("[data-testid=over]")
        for _ in range(6):
            before = ann.get_attribute("#segment", "data-segment")
            for key in ("3", "1", "Enter"):
                ann.keyboard.press(key)
            ann.wait_for_function(
                "(b) => document.querySelector('#segment')?.dataset.segment !== b", arg=before
            )
        with Campaign(place / "answers") as campaign:
            found = campaign.answers()
            assert found["fluency"].tolist() == [3.0] * 6
            assert found["accuracy"].tolist() == [1.0] * 6

        owner.goto(f"{server.origin}/c/answers/explore/settings")
        owner.fill("#instructions", "Read *none* of it.")
        owner.click("text=Change settings")
        owner.wait_for_url("**/settings?changed=1")
        good(owner)
        assert owner.locator("em", has_text="none").count() == 1
