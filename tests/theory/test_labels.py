"""Coverage of intervals from labels that exist, for the table and for a new one like it."""

import numpy as np
import pandas as pd
import pytest

import fewgold

pytestmark = pytest.mark.slow
DRAWS, SIZE = 400, 600
EXPECTED = 1.5  # mean of what `population` makes


def population(rng: np.random.Generator) -> pd.DataFrame:
    """Sixty documents of ten rows, four languages, a judge, skewed scores."""
    document = np.repeat(np.arange(SIZE // 10), 10)
    truth = rng.normal(size=SIZE) + 0.6 * rng.normal(size=SIZE // 10)[document]
    language = rng.choice(4, SIZE, p=[0.4, 0.3, 0.2, 0.1])
    judge = truth + 0.5 * rng.normal(size=SIZE)
    return pd.DataFrame({
        "id": np.arange(SIZE), "document": document, "judge": judge,
        "language": [f"l{k}" for k in language], "rate": np.clip(0.05 + 0.06 * abs(judge), 0, 1),
        "human": truth + rng.exponential(size=SIZE) + 0.5 * language,
    })  # fmt: skip


def labelled(table: pd.DataFrame, how: str, rng: np.random.Generator) -> pd.DataFrame:
    kind = how.partition(":")[0]
    if kind == "random":
        keep = rng.permutation(SIZE)[:100]
    elif kind == "strata":
        rows = table.groupby("language").indices.values()
        keep = np.concatenate([rng.permutation(r)[:25] for r in rows])
    elif kind == "whole":
        keep = np.flatnonzero(table["document"].isin(rng.permutation(SIZE // 10)[:20]))
    else:
        keep = np.flatnonzero(rng.random(SIZE) < table["rate"])
    return table.assign(human=table["human"].where(table.index.isin(keep)))


@pytest.mark.parametrize("target", ["pool", "process"])
@pytest.mark.parametrize("metrics", [[], ["judge"]], ids=["alone", "judge"])
@pytest.mark.parametrize("how", ["random", "strata:language", "whole:document", "chances:rate"])
def test_intervals_cover(how: str, metrics: list[str], target: str) -> None:
    rng = np.random.default_rng(11)
    hits, errors, claimed = 0, [], []
    for _ in range(DRAWS):
        table = population(rng)
        wanted = table["human"].mean() if target == "pool" else EXPECTED
        made = fewgold.estimate_mean(
            labelled(table, how, rng), human="human", metrics=metrics, chosen=how, id="id",
            document="document", texts=[], target=target,
        )  # fmt: skip
        low, high = made.interval()
        hits += bool(low <= wanted <= high)
        errors.append(float(made.value) - wanted)
        claimed.append(float(made.se) ** 2)
    print(f"\n{how} {'judge' if metrics else 'alone'} {target}: coverage {hits / DRAWS:.3f}")
    # Three standard deviations of 400 draws are 3.3 %; twenty documents may cost another 1.5 %.
    assert hits / DRAWS > (0.9 if how.startswith("whole") else 0.917)
    ratio = np.mean(claimed) / np.var(errors)
    assert 0.75 < ratio < 1.4
    assert abs(np.mean(errors)) < 4 * np.std(errors) / np.sqrt(DRAWS)


@pytest.mark.parametrize("rated", [100, 400], ids=["a quarter", "all"])
@pytest.mark.parametrize("alike", [0.15, 0.4])
@pytest.mark.parametrize("documents", ["8 even", "50 uneven"])
def test_intervals_for_new_documents_cover(documents: str, alike: float, rated: int) -> None:
    """A few documents, or a few long ones among many, show little of how documents differ."""
    rng = np.random.default_rng(5)
    size, hits = 400, 0
    for _ in range(DRAWS):
        count, spread = (8, 0.0) if documents == "8 even" else (50, 0.8)
        length = rng.lognormal(0, spread, count)
        document = np.sort(rng.choice(count, size, p=length / length.sum()))
        effect = np.sqrt(alike) * rng.normal(size=count)[document]
        human = effect + np.sqrt(1 - alike) * rng.normal(size=size)
        human[rng.permutation(size)[rated:]] = np.nan
        table = pd.DataFrame({"id": np.arange(size), "document": document, "human": human})
        low, high = fewgold.estimate_mean(
            table, human="human", metrics=[], id="id", document="document", target="process"
        ).interval()
        hits += bool(low <= 0 <= high)
    print(f"\n{documents}, alike {alike}, {rated} rated: coverage {hits / DRAWS:.3f}")
    assert hits / DRAWS > 0.9
