"""What a notebook shows: small tables with intervals, in which no text is taken for HTML."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd

from fewgold.bounds import Hoeffding
from fewgold.comparison import compare
from fewgold.criteria import from_table
from fewgold.datasets import load_demo
from fewgold.estimators import Mean, Ridge
from fewgold.pool import Pool
from fewgold.quantities import quantile, ratio, total, weighted_mean
from fewgold.registry import estimator
from fewgold.sample import Ratings
from fewgold.samplers import SimpleRandom
from fewgold.slices import slices

HOSTILE = "<script>alert('&\"')</script>"


class Cells(HTMLParser):
    """Text of cells, and every tag."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)

    def handle_data(self, data) -> None:
        self.texts.append(data)


def hostile():
    rng = np.random.default_rng(0)
    ids = np.array([f"{HOSTILE}{k}" for k in range(60)])
    pool = Pool(ids=ids, metrics={HOSTILE: rng.normal(size=60)})
    sample = SimpleRandom().draw(pool, 30, rng=1)
    return pool, sample, sample.rate(rng.normal(size=30))


def test_names_are_not_taken_for_html() -> None:
    pool, sample, ratings = hostile()
    made = Ridge().estimate(ratings)
    frame = pd.DataFrame(
        {
            "seg": np.tile(np.arange(20), 2), "sys": np.repeat([HOSTILE, "b"], 20),
            "human": np.random.default_rng(0).normal(size=40),
        }
    )  # fmt: skip
    result = compare(frame, human="human", system="sys", id="seg", higher_is_better=True)
    for thing in (pool, sample, ratings, made, result):
        found = Cells(thing._repr_html_())
        assert "script" not in found.tags and "table" in found.tags
    for thing in (pool, sample, result):
        assert any(HOSTILE in text for text in Cells(thing._repr_html_()).texts)


def test_an_estimate_shows_its_interval() -> None:
    pool, gold = load_demo("ende")
    sample = SimpleRandom().draw(pool, 80, rng=1)
    made = Ridge().estimate(sample.rate(gold[sample.indices]))
    low, high = made.interval()
    told = f"{low:.4f} to {high:.4f}"
    assert told in repr(made)
    assert told in Cells(made._repr_html_()).texts
    ax = made.plot()
    assert f"{100 * 0.95:g}% intervals" in ax.get_xlabel()
    # A bound that refuses the estimate leaves the rest.
    unlimited = Mean(bound=Hoeffding()).estimate(sample.rate(gold[sample.indices]))
    assert "to" not in repr(unlimited).split(",")[1]
    assert "none" in Cells(unlimited._repr_html_()).texts


def test_batches_say_so() -> None:
    pool, gold = load_demo("ende")
    draws = SimpleRandom().draw(pool, 30, draws=3, rng=1)
    made = Mean().estimate(draws.rate(gold[draws.indices]))
    assert "3" in Cells(draws._repr_html_()).texts
    assert "3" in Cells(made._repr_html_()).texts
    assert [t.get_text() for t in made.plot().get_yticklabels()] == ["draw 1", "draw 2", "draw 3"]


def test_a_posterior_says_once_what_it_is_from() -> None:
    pool, gold = load_demo("ende")
    sample = SimpleRandom().draw(pool, 80, rng=1)
    made = estimator("alpha-comet:equal", pool).estimate(
        sample.rate((gold[sample.indices] < 1).astype(float))
    )
    low, high = made.interval()
    assert f"95% {low:.4f} to {high:.4f}" in repr(made)
    assert "80 of 1418 segments" in Cells(made._repr_html_()).texts


def test_single_results_are_floats_with_a_short_repr() -> None:
    pool, gold = load_demo()
    ratings = Mean().select(pool, 60, rng=1)
    made = ratings.rate(gold[ratings.indices], limits=(0, 25))
    words = pool.metrics["words"]
    found = {
        "quantile 0.5": quantile(made, Ridge(), 0.5), "total": total(made, Ridge()),
        "ratio": ratio(made, Ridge(), words), "weighted mean": weighted_mean(made, Ridge(), words),
    }  # fmt: skip
    for name, one in found.items():
        for number in (one.value, one.se, *one.interval()):
            assert isinstance(number, float), name
        assert name in repr(one) and "95%" in repr(one) and len(repr(one)) < 120


def test_slices_and_criteria_state_how_rows_were_chosen() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"judge": rng.normal(size=300), "site": rng.choice(["a", "b"], 300)})
    for name in ("human", "other"):
        frame[name] = np.where(np.arange(300) < 100, frame["judge"] + rng.normal(size=300), None)
    told = "the 100 labelled rows are taken to be a simple random sample of the 300 rows"
    ratings = Ratings.from_table(frame, human="human", metrics=["judge"], texts=["site"])
    parts = slices(ratings, Ridge(), by="site")
    both = from_table(frame, ["human", "other"], metrics=["judge"]).estimate()
    for thing in (parts, both):
        assert told in thing._repr_html_() and f"note: {told}" in thing.summary()
