"""Columns for slices in a campaign: kept from raters, and used for every kind of score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from fewgold.comparison import compare_by, compare_samples
from fewgold.errors import DataError, FewgoldError, UnknownNameError
from fewgold.formats import Rating
from fewgold.slices import slices

SYSTEMS = ("one", "two")


def table(size: int = 90) -> pd.DataFrame:
    """Outputs of two systems in three languages and two domains."""
    rng = np.random.default_rng(3)
    lang, domain = rng.choice(["de", "fr", "is"], size), rng.choice(["news", "chat"], size)
    base = rng.normal(60, 10, size)
    parts = []
    for k, system in enumerate(SYSTEMS):
        score = base + 8 * k * (lang == "de") + rng.normal(0, 4, size)
        parts.append(pd.DataFrame({
            "id": [f"s{i:02d}" for i in range(size)], "system": system, "lang": lang,
            "domain": domain, "source": [f"source {i}" for i in range(size)],
            "output": [f"{system} {i}" for i in range(size)],
            "judge": score + rng.normal(0, 5, size), "truth": score,
        }))  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def begun(run: Any, path: str, *words: str) -> Campaign:
    frame = table()
    frame.drop(columns="truth").to_csv("outputs.csv", index=False)
    run("init", path, "outputs.csv", "--metrics", "judge", "--seed", "1", *words, "-q")
    study = Campaign(path)
    wave = study.select(60)
    truth = {f"{r.system}:{r.id}": r.truth for r in frame.itertuples()}
    truth |= {r.id: r.truth for r in frame.itertuples() if r.system == "two"}
    study.add(Rating(i, truth[i], "ann") for i in wave.ids)
    return study


def test_columns_are_kept_from_raters(run: Any) -> None:
    with begun(run, "study", "--only-system", "two") as study:
        assert list(study.labels) == ["lang", "domain"]
        shown = {name for s in study.tasks("all").segments for name in s.texts}
        assert shown == {"source", "output"} and "lang" not in study.pool.texts
        alone = study.slices("lang", least=2)
        by_hand = slices(study.ratings(), study._estimator(), study.slicing("lang"), least=2)
        assert alone.to_frame().equals(by_hand.to_frame()) and set(alone.names) == {
            "de",
            "fr",
            "is",
        }
        sizes = study.labels["lang"].tolist()
        assert {n: sizes.count(n) for n in alone.names} == dict(
            zip(alone.names, alone.sizes, strict=True)
        )
        with pytest.raises(UnknownNameError, match=r"Campaign\.create\(labels=…\)"):
            study.slices("nothing")
        with pytest.raises(FewgoldError, match="one system"):
            study.compare_by("lang")
    told = json.loads(run("estimate", "study", "--by", "lang", "--json").stdout)
    wanted = [list(row) for row in alone.to_frame()[["slice", "value"]].to_numpy()]
    assert [[r["slice"], r["value"]] for r in told["slices"]["slices"]] == [
        [name, pytest.approx(value)] for name, value in wanted
    ]
    report = json.loads(run("report", "study", "--by", "lang", "-o", "r.md", "--json").stdout)
    assert report["slices"] == told["slices"]
    assert report["commands"] == ["fewgold estimate study --by lang"]
    judged = json.loads(run("judge", "study", "--by", "lang", "--json").stdout)
    assert {row["slice"] for row in judged["slices"]} == {"de", "fr", "is"}


def test_named_columns_and_none(run: Any) -> None:
    with begun(run, "named", "--only-system", "two", "--by", "domain") as study:
        assert list(study.labels) == ["domain"]
    with begun(run, "none", "--only-system", "two", "--by", "none") as study:
        assert study.labels == {}
    wrong = run("init", "x", "outputs.csv", "--by", "nothing", code=3).output
    assert "unknown column 'nothing'" in wrong and not Path("x").exists()


@pytest.mark.parametrize("shared", [True, False])
def test_systems_within_slices(run: Any, shared: bool) -> None:
    words = ["--system", "system", *([] if shared else ["--unshared"])]
    with begun(run, "study", *words) as study:
        found = study.compare_by("lang")
        part = study.of("two")
        assert list(part.labels) == ["lang", "domain"]
        assert part.labels["lang"].shape == (len(part.pool),)
        own = part.slices("lang")["de"]
        plain = study.compare()
    assert found.whole.differences().equals(plain.differences())
    low, high = found["de"].differences()[["low", "high"]].iloc[0]
    assert low <= abs(8.0) + 6 and high > 0
    if not shared:
        with Campaign("study") as study:
            done = {s: study.of(s).ratings() for s in SYSTEMS}
            cells = {s: study.of(s).slicing("lang") for s in SYSTEMS}
        again = compare_by(done, cells, higher_is_better=None, level=0.05)
        assert again.differences().equals(found.differences())
        assert float(own.value) == pytest.approx(
            found["de"].scores().set_index("system")["score"]["two"], abs=2
        )
        with pytest.raises(DataError, match="labels for each system; 'two' has none"):
            compare_by(done, {"one": cells["one"]})
        assert compare_samples(done, level=0.05).signature() in found.signature()
    assert "Name one, such as --system one" in run("judge", "study", code=3).stderr
    told = json.loads(run("compare", "study", "--by", "lang", "--json").stdout)
    assert told["slices"]["differences"] == json.loads(json.dumps(found.to_dict()["differences"]))
    report = json.loads(run("report", "study", "--by", "lang", "-o", "r.html", "--json").stdout)
    assert report["slices"] == told["slices"]
    assert report["commands"] == ["fewgold compare study --by lang"]
    assert "<h2" in Path("r.html").read_text(encoding="utf-8")
    assert "By lang" in Path("r.html").read_text(encoding="utf-8")


def test_files_without_such_columns_open(run: Any) -> None:
    with (
        begun(run, "study", "--only-system", "two") as study,
        study.store.transaction() as database,
    ):
        database.execute("DROP TABLE labels")
    with Campaign("study") as study:
        assert study.labels == {}
        assert study.estimate().n == 60


def test_labels_must_fit(tmp_path: Path) -> None:
    from fewgold.pool import Pool

    pool = Pool(ids=np.array(["a", "b"]), texts={"source": np.array(["x", "y"])})
    for labels, why in (({"lang": ["de"]}, "one value per row"), ({"source": [1, 2]}, "already")):
        with pytest.raises(DataError, match=why):
            Campaign.create(tmp_path / "study", pool, seed=1, labels=labels)
    assert not (tmp_path / "study").exists()
