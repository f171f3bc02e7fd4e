"""The report of a study: what it says, for every kind of study, and that it stands alone."""

import builtins
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold import Pool
from fewgold.datasets import demo_frame, load_demo
from fewgold.errors import DataError
from fewgold.estimator import Estimator
from fewgold.estimators import Mean
from fewgold.missing import PartialRatings
from fewgold.registry import strategy
from fewgold.report import StudyReport, study_report
from fewgold.report.descriptions import describe_estimator, describe_sampler
from fewgold.report.methods import BIBTEX, bound_papers, in_text, methods
from fewgold.report.study_sections import commands
from fewgold.sample import Ratings

RECOMMENDED = "docs-balanced+ridge"
HOSTILE = '<script>alert("x")</script> | `a` *b* _c_ 系统 & [l](u)\n# h'
N = 40


@cache
def zhen() -> tuple[Pool, np.ndarray]:
    return load_demo("zhen")


@cache
def rated(name: str, n: int, limits: tuple[float, float] | None) -> tuple[Ratings, Estimator]:
    pool, gold = zhen()
    chosen = strategy(name, pool)
    sample = chosen.select(pool, n, rng=7)
    return sample.rate(gold[sample.indices], limits=limits), chosen


def demo(name: str = RECOMMENDED, n: int = 100, **more: Any) -> StudyReport:
    ratings, chosen = rated(name, n, more.pop("limits", None))
    return study_report(ratings, chosen, strategy=name, **more)


@cache
def demo_page() -> str:
    """The page of the plain demo, drawn once."""
    return demo().html()


def small(**more: Any) -> Pool:
    return Pool(ids=[f"s{i}" for i in range(N)], **more)


def scores() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.clip(np.round(5 + 2 * metric() + rng.normal(size=N)), 0, 10)


def metric() -> np.ndarray:
    return np.random.default_rng(1).normal(size=N)


def documents() -> list[str]:
    return [f"d{i // 5}" for i in range(N)]


def answers(report: StudyReport) -> pd.DataFrame:
    frame = demo_frame("zhen")
    frame = frame[frame["system"] == "alpha"]
    raters = [f"rater{j}" for j in range(1, 7)]
    long = frame.melt("segment", raters, "rater", "score").dropna()
    ids = set(report.study.ratings.sample.ids.tolist())
    return long[long["segment"].isin(ids)].assign(time="2026-01-05")


def test_the_numbers_are_those_of_the_estimate() -> None:
    report = demo()
    study = report.study
    record = study.estimator.estimate(study.ratings).to_dict()
    got = report.to_dict()
    assert got["estimate"] == record
    for page in (demo_page(), report.markdown()):
        assert f"{record['value']:.2f}" in page
        assert f"{record['low']:.2f} to {record['high']:.2f} (likelihood, approximate)" in page
        assert record["signature"] in page
        assert "Approximate: about 95% of such intervals" in page
        assert f"about {round(got['saved']['plain_random_ratings'], -1):.0f} ratings" in page
        assert "pip install" not in page


def test_what_was_sampled_is_told() -> None:
    text = demo().markdown()
    assert "Sampler `docs-balanced`: Segments were drawn at random, with equal chances" in text
    assert "Estimator `ridge`: The mean of the ratings was corrected" in text
    assert "Every segment had the same chance of being rated, 0.05. Seed: 7." in text
    other = demo("docs-opt+mean").markdown()
    assert re.search(r"Segments had chances from 0\.\d+ to 0\.\d+ of being rated", other)


def test_the_same_study_gives_the_same_bytes() -> None:
    one, two = demo(), demo()
    assert one.html() == demo_page()
    assert one.markdown() == two.markdown() == one.markdown()


def test_the_page_is_small_and_loads_nothing() -> None:
    report = demo("random+ridge", 1500)
    html = report.html()
    assert html.count("<svg") == 4
    assert len(html.encode()) < 300_000
    assert not re.search(r"https?://|@import|\bsrc=", html)


def test_without_matplotlib_all_numbers_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = demo_page()
    real = builtins.__import__

    def without(name: str, *args: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    html = demo().html()
    assert "<svg" not in html
    assert "pip install" in html

    def numbers(page: str) -> list[str]:
        cut = re.sub(r"<section id=\"section-4\".*?</section>", "", page, flags=re.DOTALL)
        return re.findall(r"\d+\.\d+", cut)

    assert numbers(html) == numbers(whole)


@pytest.mark.parametrize(
    ("name", "n", "words"),
    [
        ("random+mean", 1, ["unknown (too few ratings)", "one rating does not show"]),
        (RECOMMENDED, 2, ["2 ratings are too few for slopes", "2 ratings hardly show"]),
        (RECOMMENDED, N, ["Exact for these ratings", "none were saved"]),
        ("random+cv-m", 12, ["Metrics and human scores"]),
        ("docs-whole+mean", 15, ["documents or runs of segments drawn as a whole"]),
        ("docs-incr-human+mean", 12, ["is biased"]),
        ("docs-prop-printed+cv-multi-printed", 15, ["as printed in the paper"]),
        ("metrics-opt+mean", 20, ["### Strata"]),
        ("random+alpha-m:bins", 20, ["Share of adequate segments", "Credible: given the model"]),
    ],
)
def test_every_kind_of_study_has_a_report(name: str, n: int, words: list[str]) -> None:
    pool = small(metrics={"m": metric()}, documents=documents())
    chosen = strategy(name, pool)
    sample = chosen.select(pool, n, rng=1)
    gold = (scores() > 5).astype(float) if "alpha" in name else scores()
    report = study_report(sample.rate(gold[sample.indices]), chosen, strategy=name)
    text = report.markdown()
    for word in words:
        assert word in text
    assert report.html().startswith("<!doctype html>")
    json.dumps(report.to_dict(), allow_nan=False)
    assert not re.search(r"\b(nan|NaN|inf|None)\b", text)


def test_a_pool_with_nothing_but_ids() -> None:
    sample = Mean().select(small(), 20, rng=1)
    report = study_report(sample.rate(scores()[sample.indices]), Mean(), strategy="random+mean")
    assert "The pool has no automatic metrics" in report.markdown()
    assert "rated documents" not in report.markdown()
    assert report.to_dict()["documents"] is None
    assert report.html().count("<svg") == 2  # the estimate, and how it settled


@pytest.mark.parametrize("limits", [None, (0, 5)])
def test_constant_ratings(limits: tuple[float, float] | None) -> None:
    pool = small(metrics={"m": metric()})
    sample = Mean().select(pool, 20, rng=1)
    ratings = sample.rate(np.ones(20), limits=limits)
    report = study_report(ratings, strategy("random+ridge", pool), strategy="random+ridge")
    text = report.markdown()
    assert "All ratings are equal" in text
    assert "ratings do not vary" in text
    assert ("unknown (too few ratings)" in text) == (limits is None)
    assert report.html()


def test_names_are_text_whatever_they_hold() -> None:
    pool = Pool(
        ids=[f"{i} {HOSTILE}" for i in range(N)],
        metrics={HOSTILE: metric()},
        documents=[f"{d} {HOSTILE}" for d in documents()],
    )
    chosen = strategy("docs-sys+ridge", pool)
    sample = chosen.select(pool, 20, rng=1)
    ratings = sample.rate(scores()[sample.indices])
    told = pd.DataFrame({"segment": sample.ids, "rater": HOSTILE, "score": ratings.scores})
    report = study_report(
        ratings,
        chosen,
        strategy="docs-sys+ridge",
        title=HOSTILE,
        answers=told,
        waves=[{"number": 1, "n": 20, "seed": HOSTILE, "strategy": HOSTILE, "date": HOSTILE}],
        unrated=[HOSTILE],
        context={"system": HOSTILE, "score": HOSTILE, HOSTILE: HOSTILE, "gaps": HOSTILE},
    )
    html = report.html()
    assert html.count("<script>") == 1
    assert "<script>alert" not in html
    outside = re.sub(r"(`{3,})\w*\n.*?\n\1\n", "", report.markdown(), flags=re.DOTALL)
    outside = re.sub(r"(?<!\\)`[^`]*(?<!\\)`", "", outside)  # code
    assert not re.search(r"(?<!\\)<[a-z/]", outside)
    assert "\n# h" not in outside
    tables = re.findall(r"(?:^\|.*\n)+", outside, flags=re.MULTILINE)
    assert len(tables) > 5
    for table in tables:
        ends = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(ends) == 1


def test_waves_gaps_and_strays_are_told() -> None:
    waves = [
        {"number": 1, "n": 60, "seed": 7, "strategy": RECOMMENDED, "date": "2026-01-05"},
        {"number": 2, "n": 42, "seed": 8, "strategy": RECOMMENDED},
    ]
    report = demo(waves=waves, unrated=["seg1", "seg2"], strays=1)
    text = report.markdown()
    assert "2 waves, 102 segments in all." in text
    assert "2 sampled segments have no rating: seg1, seg2. The score represents the pool" in text
    assert "1 answer for segments that were never sampled is set aside and not used" in text
    assert "The waves add up" not in text
    assert "Seeds: 7, 8." in text
    assert "2 sampled segments have no rating." in methods(report.study)
    short = demo(waves=waves[:1]).markdown()
    assert "The waves add up to 60 segments, but 100 are rated and 0 listed" in short


def test_gaps_that_the_estimate_speaks_of_are_not_explained_twice() -> None:
    pool, gold = zhen()
    sample = Mean().select(pool, 50, rng=1)
    partial = np.where(np.arange(50) < 45, gold[sample.indices], np.nan)
    ratings = PartialRatings(sample, partial).at_random()
    missing = sample.ids[45:].tolist()
    report = study_report(ratings, Mean(), strategy="random+mean", unrated=missing)
    text = report.markdown()
    assert "5 of 50 segments are unrated, treated as missing at random" in text
    assert "5 sampled segments have no rating:" in text
    assert "The score represents the pool only if" not in text


def test_the_interval_after_each_wave_is_drawn_where_told() -> None:
    waves = [
        {"n": 60, "seed": 1, "value": 5.0, "low": 4.0, "high": 6.0},
        {"n": 40, "seed": 2, "value": 5.2, "low": 4.5, "high": 6.1},
    ]
    path = demo(waves=waves).study.path
    assert path is not None
    assert path["n"].tolist() == [60, 100]
    assert path["high"].tolist() == [6.0, 6.1]
    assert demo().study.path is None


def test_the_path_of_a_random_sample_ends_at_the_estimate() -> None:
    study = demo("random+mean").study
    path = study.path
    assert path is not None
    assert path["value"].iloc[-1] == pytest.approx(float(study.estimate.value), rel=1e-12)
    k = int(path["n"][0])
    assert path["value"][0] == pytest.approx(study.ratings.scores[:k].mean(), rel=1e-12)
    spread = study.ratings.scores[:k].std(ddof=1)
    assert path["se"][0] == pytest.approx(spread * np.sqrt(1 / k - 1 / study.size), rel=1e-12)


def test_raters_are_compared() -> None:
    told = answers(demo())
    report = demo(answers=told)
    got = report.to_dict()
    assert got["answers"]["answers"] == len(told)
    assert got["answers"]["raters"] == 6
    assert got["answers"]["repeats"] == 0
    mine = told[told["rater"] == got["raters"][0]["rater"]]["score"]
    assert got["raters"][0]["answers"] == len(mine)
    assert got["raters"][0]["mean"] == pytest.approx(mine.mean())
    assert got["any_raters"]["se"] > got["estimate"]["se"]
    assert "Krippendorff's α is" in report.markdown()
    assert f"6 raters gave {len(told)} answers, 3 for each" in report.markdown()


def test_answers_that_do_not_make_the_ratings_say_nothing_of_other_raters() -> None:
    told = answers(demo()).assign(score=lambda f: f["score"] + 1)
    assert demo(answers=told).to_dict()["any_raters"] is None


def test_odd_answers_are_counted() -> None:
    told = pd.DataFrame(
        {
            "segment": ["s1", "s1", "s1", "s2", "s9", "s3"],
            "rater": ["ann", "ann", "bob", None, "ann", "bob"],
            "score": [1, 2, 3, 4, 5, None],
        }
    )
    sample = Mean().select(small(), N, rng=1).pool
    drawn = Mean().select(sample, N, rng=1)
    rows = [i for i, s in enumerate(drawn.ids.tolist()) if s != "s9"]
    ratings = PartialRatings(drawn, np.where(np.isin(np.arange(N), rows), 1.0, np.nan)).at_random()
    report = study_report(ratings, Mean(), strategy="random+mean", answers=told)
    counts = report.to_dict()["answers"]
    assert counts["answers"] == 4
    assert counts["repeats"] == 1
    assert counts["several_raters"] == 1
    assert counts["without_score"] == 1
    assert counts["elsewhere"] == 1
    assert "(not named)" in report.markdown()


def test_the_tolerance_tells_what_is_missing() -> None:
    study = demo(context={"tolerance": 0.3}).study
    record = study.record
    half, se = (record["high"] - record["low"]) / 2, record["se"]
    needed = study.needed
    assert needed is not None
    shrunk = se**2 * (1 / needed - 1 / study.size) / (1 / study.n - 1 / study.size)
    assert np.sqrt(shrunk) * half / se == pytest.approx(0.3)
    assert "ratings still needed for it" in demo(context={"tolerance": 0.3}).markdown()
    assert "half-width reached" in demo(context={"tolerance": 3}).markdown()


def test_commands_draw_the_same_segments() -> None:
    assert commands(demo(limits=(0, 25)).study).splitlines() == [
        "fewgold select POOL.csv --metrics comet,bleurt,qe,chrf,bleu,ter,words --orientation "
        "qe=+1 --strategy docs-balanced+ridge --budget 100 --seed 7 -o wave1.csv",
        "fewgold estimate wave1.csv --limits 0,25",
    ]
    waves = [{"n": 60, "seed": 7}, {"n": 40, "seed": 8}]
    lines = commands(demo(waves=waves, confidence=0.9).study).splitlines()
    assert lines[1].startswith("fewgold select POOL.csv --given wave1.csv")
    assert lines[2] == "fewgold estimate wave2.csv --confidence 0.9"
    own = demo(context={"commands": ["fewgold report study"]}).study
    assert commands(own) == "fewgold report study"


def test_uneven_chances_in_words_and_commands() -> None:
    known = small(metrics={"comet": metric()}, documents=documents(), spread=np.arange(1.0, N + 1))
    earlier = known.with_metrics(history=metric() ** 2)
    for pool, option in ((known, "--uncertainty COLUMN"), (earlier, "--history HISTORY.csv")):
        chosen = strategy("docs-uneven+ridge", pool)
        sample = chosen.select(pool, 20, rng=1)
        told = {"chances": "The expected spread was guessed."}
        made = study_report(
            sample.rate(scores()[sample.indices]), chosen, strategy="docs-uneven+ridge",
            context=told,
        )  # fmt: skip
        first = commands(made.study).splitlines()[0]
        assert first.startswith(f"fewgold select POOL.csv --metrics comet {option} --strategy")
        text = methods(made.study)
        assert "with a larger chance where the rating was expected to differ more" in text
        assert told["chances"] in text


def test_papers_are_those_of_the_methods() -> None:
    refs = demo().to_dict()["references"]
    assert any(r.startswith("Deville and Tillé (2004)") for r in refs)
    assert any(r.startswith("Owen (1988)") for r in refs)
    assert "(Deville and Tillé, 2004; Hasler and Tillé, 2014)" in methods(demo().study)
    assert bound_papers(demo().study)[0].startswith("Owen (1988)")
    assert in_text(["A, B and C (2001), Title", "after D (1999), T"]) == "A et al., 2001; D, 1999"


def test_the_metrics_named_are_those_used() -> None:
    assert "Metric: comet." in methods(demo("random+cv-comet").study)
    assert "Metrics: comet, bleurt, qe, chrf, bleu, ter, words." in methods(demo().study)
    assert "Metric" not in methods(demo("random+mean").study)
    ratings = demo("random+mean").study.ratings.cut("<= 1")
    chosen = strategy("random+alpha-comet>=0.5", ratings.sample.pool)
    told = study_report(ratings, chosen, strategy="random+alpha-comet>=0.5").study
    assert "Metric: comet >= 0.5." in methods(told)


def test_words_for_every_name() -> None:
    from fewgold.registry import estimator_names, sampler_names

    for name in sampler_names():
        words = describe_sampler(name)
        assert words.papers
        assert words.does.endswith(".")
        assert ("as printed" in words.does) == name.endswith("-printed")
    for name in [*estimator_names(), "cv-comet", "alpha-comet>=0.5"]:
        assert describe_estimator(name).papers
    assert describe_sampler("docs-chunks12") == describe_sampler("docs-chunks3")
    assert describe_sampler("mine", "Draws what I like.\n\nMore.").does == "Draws what I like."
    assert describe_sampler("randomised", "Other.").does == "Other."


def test_files(tmp_path: Path) -> None:
    report = demo(n=12)
    assert report.write(tmp_path / "r.html").read_text(encoding="utf-8") == report.html()
    assert report.write(str(tmp_path / "r.md")).read_text(encoding="utf-8") == report.markdown()
    with pytest.raises(DataError, match=r"must end in \.html or \.md; got"):
        report.write(tmp_path / "r.pdf")


def test_bad_input_is_refused() -> None:
    pool, gold = zhen()
    batch = Mean().select(pool, 10, draws=3, rng=1)
    with pytest.raises(DataError, match=r"Use one draw: ratings\.draw"):
        study_report(batch.rate(gold[batch.indices]), Mean(), strategy="random+mean")
    with pytest.raises(DataError, match="it has no segment, only"):
        demo(answers=pd.DataFrame({"id": [1], "score": [2]}))
    with pytest.raises(DataError, match="strays must be a number of answers"):
        demo(strays=-1)
    with pytest.raises(DataError, match="each wave must be a mapping"):
        demo(waves=[3])


def test_the_citation_is_that_of_the_project() -> None:
    whole = Path(__file__).parents[2].joinpath("CITATION.cff").read_text(encoding="utf-8")
    for key in ("title", "license"):
        value = re.search(rf'^{key}: "?([^"\n]+)', whole, flags=re.MULTILINE)
        assert value
        assert value[1] in BIBTEX
    authors = re.findall(r"^  - name: (.+)$", whole, flags=re.MULTILINE)
    assert authors
    assert all(author in BIBTEX for author in authors)
