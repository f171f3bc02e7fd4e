"""Pictures of the pages for docs/pages.md: ``python tests/web/e2e/screenshots.py``."""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tests"))

from fewgold.campaign import Campaign  # noqa: E402
from fewgold.formats import Rating  # noqa: E402
from web.e2e import live  # noqa: E402

OUT = ROOT / "docs" / "pages"


def study(path: Path) -> str:
    """A campaign on the demo's data, half of it rated; the secret of a rater."""
    data = path.parent / "data"
    for command in (
        ["demo", "--save", data],
        ["init", path, data / "pool.csv", "--limits", "mqm", "--tolerance", "0.5", "--seed", "1"],
        ["select", path, "--budget", "120"],
    ):
        words = [sys.executable, "-m", "fewgold", *map(str, command)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    with open(data / "human.csv", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    scores = {id: float(score) for id, score in rows}
    with Campaign(path) as made:
        for k in range(70):
            rater = ("ann", "bob")[k % 2]
            given = made.next(rater)
            assert given is not None
            made.add([Rating(given.id, scores[given.id], rater)])
        made.desk.add_rater("ann")
        return made.desk.add_rater("zoë")


def main() -> None:
    from playwright.sync_api import sync_playwright

    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        path = Path(folder) / "study"
        secret = study(path)
        browser = play.chromium.launch(executable_path=live.chromium(), args=live.FLAGS)

        def shot(name: str, url: str, width: int, height: int, **options: Any) -> None:
            context = browser.new_context(viewport={"width": width, "height": height}, **options)
            page = context.new_page()
            page.goto(server.owner)
            page.goto(f"{server.origin}{url}", wait_until="load")
            page.wait_for_timeout(500)
            page.screenshot(path=OUT / f"{name}.png")
            context.close()
            size = (OUT / f"{name}.png").stat().st_size
            print(f"{name}.png: {size / 1000:.0f} KB")
            assert size < 150_000, "too large for the documentation"

        with live.Server(path) as server:
            shot("plan", "/plan/binary?human=500&metric=20000", 1000, 720)
            shot("scores", "/plan/scores", 1000, 720)
            shot("rate", f"/rate/{secret}", 1000, 800)
            shot("rate-phone", f"/rate/{secret}", 390, 760, color_scheme="dark", has_touch=True,
                 is_mobile=True)  # fmt: skip
            shot("explore", "/explore", 1000, 800)
        browser.close()


if __name__ == "__main__":
    main()
