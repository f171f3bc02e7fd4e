"""Campaigns of several systems: one sample for all of them, or one for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from fewgold.campaign import Campaign
from fewgold.common.text import plain_frame
from fewgold.comparison import compare
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating
from fewgold.pool import Pool

SYSTEMS = ("alpha", "beta", "gamma")
N = 80
GOOD = {"alpha": 70.0, "beta": 60.0, "gamma": 45.0}


def outputs(lacking: int = 0) -> tuple[Pool, np.ndarray]:
    """Outputs of three systems for 80 segments in 16 documents, and the segment of each."""
    rng = np.random.default_rng(8)
    rows: list[tuple[Any, ...]] = []
    for system in SYSTEMS:
        for i in range(N):
            if system == "gamma" and i < lacking:
                continue
            rows.append((system, f"{i:03d}", f"doc{i // 5}", rng.normal(), rng.normal()))
    system, segment, document, comet, length = (np.array(c) for c in zip(*rows, strict=True))
    pool = Pool(
        ids=np.array([f"{s}:{i}" for s, i in zip(system, segment, strict=True)]),
        system=system, documents=document,
        metrics={"comet": comet.astype(float), "length": length.astype(float)},
        texts={
            "source": np.array([f"source {i}" for i in segment]),
            "output": np.array([f"output {k * 7919 % 1000}" for k in range(system.size)]),
        },
        orientation={"comet": 1, "length": 0},
    )  # fmt: skip
    return pool, segment


def truth(system: str, segment: str) -> float:
    """What people think of an output."""
    own = (int(segment) * (13 + len(system)) + ord(system[0])) % 7  # of this very output
    return GOOD[system] + (int(segment) * 37) % 23 - 11 + own


def begun(tmp_path: Path, name: str = "study", lacking: int = 0, **options: Any) -> Campaign:
    pool, segments = outputs(lacking)
    options = {"seed": 4, "limits": (0, 100), "higher_is_better": True} | options
    return Campaign.create(tmp_path / name, pool, segments=segments, **options)


def rate(study: Campaign, ids: Any, rater: str = "") -> int:
    told = [Rating(i, truth(*i.split(":")), rater) for i in ids]
    return study.add(told).stored


def test_all_systems_are_rated_on_the_same_segments(tmp_path: Path) -> None:
    study = begun(tmp_path)
    wave = study.select(20)
    assert (wave.n, wave.segments) == (60, 20)
    assert wave.to_dict()["segments"] == 20
    drawn = [i.split(":") for i in wave.ids]
    by_system = {s: {i for own, i in drawn if own == s} for s in SYSTEMS}
    assert by_system["alpha"] == by_system["beta"] == by_system["gamma"]
    assert len(study.sample.pool) == N and study.sample.n == 20
    assert rate(study, wave.ids) == 60
    study.close()
    again = Campaign(tmp_path / "study")  # as it was closed
    assert again.systems == SYSTEMS
    found = again.compare()
    assert list(found.ranking()["system"]) == ["alpha", "beta", "gamma"]
    assert found.facts["n"] == 20 and found.facts["pool_size"] == N


def test_it_is_the_comparison_of_the_table(tmp_path: Path) -> None:
    """A campaign gives what `compare` gives of the same ratings and sample."""
    pool, segments = outputs()
    study = begun(tmp_path)
    wave = study.select(25)
    rate(study, wave.ids)
    import pandas as pd

    rated = set(wave.ids)
    frame = pd.DataFrame(
        {
            "segment": segments, "system": pool.system, "document": pool.documents,
            **pool.metrics,
            "score": [truth(*i.split(":")) if i in rated else np.nan for i in pool.ids.tolist()],
        }
    )  # fmt: skip
    direct = compare(
        frame, human="score", system="system", id="segment", document="document",
        metrics=["comet", "length"], sample=study.sample, limits=(0, 100), higher_is_better=True,
        orientation={"comet": 1, "length": 0},
    )  # fmt: skip
    found = study.compare()
    assert found.differences().equals(direct.differences())
    assert found.scores().equals(direct.scores())
    # And each system by itself is what the comparison says of it.
    for name, made in zip(direct.systems, direct.estimates, strict=True):
        own = study.of(name).estimate()
        assert own.n == 25 and len(study.of(name).pool) == N
        assert float(own.value) == pytest.approx(float(made.value), abs=2.0)


def test_waves_and_top_ups(tmp_path: Path) -> None:
    study = begun(tmp_path)
    rate(study, study.select(15).ids)
    first = study.compare()
    wave = study.more(10)
    assert (wave.number, wave.n, wave.segments, study.sample.n) == (2, 30, 10, 25)
    with pytest.raises(DataError, match="30 of 75 chosen outputs have no answer"):
        study.compare()
    # What nobody has begun yet is left out.
    assert study.compare("at-random").facts["n"] == 15
    assert study.compare(waves=1).differences().equals(first.differences())
    rate(study, wave.ids)
    assert study.compare().facts["n"] == 25
    assert study.of("beta").waves[1].n == 10
    assert study.of("beta").estimate(waves=1).n == 15
    with pytest.raises(FewgoldError, match="all 240 outputs of the pool have been drawn"):
        study.more(N - 25)
        study.more(1)


def test_missing_cells(tmp_path: Path) -> None:
    study = begun(tmp_path)
    wave = study.select(30)
    gaps = set(np.random.default_rng(3).choice(list(wave.ids), 12, replace=False).tolist())
    rate(study, [i for i in wave.ids if i not in gaps])
    assert set(study.unrated) == gaps
    found = study.compare("at-random")
    assert list(found.ranking()["system"]) == ["alpha", "beta", "gamma"]
    per_system = {s: sum(i.startswith(s) for i in gaps) for s in SYSTEMS}
    assert {s: study.of(s).estimate("at-random").n for s in SYSTEMS} == {
        s: 30 - k for s, k in per_system.items()
    }


def test_outputs_that_a_system_lacks(tmp_path: Path) -> None:
    """Segments that only two of three systems have an output for are drawn like the others."""
    study = begun(tmp_path, lacking=30)
    wave = study.select(40)
    lacking = sum(int(i) < 30 for i in study.sample.ids.tolist())
    assert wave.n == 120 - lacking and lacking
    rate(study, wave.ids)
    found = study.compare()
    assert found.facts["n"] == 40
    assert study.of("gamma").sample.n == 40 - lacking
    assert study.of("gamma").sample.design.size == N - 30
    assert study.of("gamma").estimate().n == 40 - lacking


def test_each_system_with_a_sample_of_its_own(tmp_path: Path) -> None:
    study = begun(tmp_path, shared=False)
    wave = study.select(20)
    assert wave.n == 60
    own = {s: {i.split(":")[1] for i in wave.ids if i.startswith(s)} for s in SYSTEMS}
    assert all(len(ids) == 20 for ids in own.values()) and own["alpha"] != own["beta"]
    with pytest.raises(DataError, match="Name a system"):
        study.sample  # noqa: B018
    rate(study, wave.ids)
    found = study.compare()
    assert list(found.ranking()["system"]) == ["alpha", "beta", "gamma"]
    assert set(found.differences()["basis"]) <= {"partly", "separate"}
    more = study.more(5)
    assert more.n == 15 and study.of("beta").sample.n == 25
    rate(study, more.ids)
    assert study.of("beta").estimate().n == 25
    with pytest.raises(FewgoldError, match="target needs systems that are rated on the same"):
        study.compare(target="process")


def test_a_number_needs_a_system(tmp_path: Path) -> None:
    study = begun(tmp_path)
    rate(study, study.select(10).ids)
    with pytest.raises(FewgoldError, match=r"campaign\.of\('alpha'\)"):
        study.estimate()
    with pytest.raises(FewgoldError, match="unknown system 'delta'"):
        study.of("delta")


def test_answers_of_several_raters(tmp_path: Path) -> None:
    study = begun(tmp_path, each=2)
    wave = study.select(20)
    rate(study, wave.ids, "ann")
    study.add([Rating(i, max(truth(*i.split(":")) - 5, 0), "bob") for i in wave.ids])
    found = study.compare()
    assert found.people is not None and set(found.people.names) == {"ann", "bob"}
    raters = found.raters().set_index("rater")["bias"]
    assert raters["ann"] > raters["bob"]
    assert study.compare(adjust_raters=True).differences()["significant"].all()
    # The median of several raters is one score per output, and no bias of raters is told.
    study.change(among="median")
    assert study.compare().people is None


def test_answers_by_system_and_segment(tmp_path: Path) -> None:
    """Files that name the system beside the segment are matched as they are."""
    study = begun(tmp_path)
    wave = study.select(5)
    system, segment = wave.ids[0].split(":")
    receipt = study.add([Rating(segment, 50.0, "ann", system=system)])
    assert (receipt.stored, receipt.set_aside) == (1, {})
    assert study.of(system).answers()["segment"].tolist() == [segment]


def test_how_many_more_to_tell_two_apart(tmp_path: Path) -> None:
    study = begun(tmp_path)
    wave = study.select(12)
    rng = np.random.default_rng(0)
    study.add(
        Rating(i, float(np.clip(50 + 3 * (i[0] == "a") + rng.normal(0, 9), 0, 100)))
        for i in wave.ids
    )
    result = study.compare()
    told = result.needed()
    frame = result.differences().set_index(["first", "second"])
    assert len(told) == (~frame["significant"]).sum() > 0
    assert told["segments"].notna().any()
    times = ndtri(1 - 0.05 / len(told) / 2) + ndtri(0.8)  # as Holm tests the first of them
    for row in told.dropna().to_dict("records"):
        pair, n = frame.loc[(row["first"], row["second"])], row["segments"]
        assert row["more"] == n - 12
        # With that many segments the difference is so many standard errors, just about.
        errors = [pair["se"] * np.sqrt((1 / k - 1 / N) / (1 / 12 - 1 / N)) for k in (n, n - 1)]
        ratio = abs(pair["difference"]) / np.array(errors)
        assert ratio[0] >= times > ratio[1] or n == 13
    assert study.status().comparison["needed"] == plain_frame(told)  # type: ignore[index]


def test_the_state_of_all_systems(tmp_path: Path) -> None:
    study = begun(tmp_path, tolerance=2.0)
    assert study.status().comparison is None
    wave = study.select(20)
    assert (study.status().sampled, study.status().rated) == (60, 0)
    rate(study, wave.ids[:45], "ann")
    found = study.status()
    assert (found.sampled, found.rated, found.pool_size) == (60, 45, N)
    assert [row["system"] for row in found.systems] == list(SYSTEMS)
    assert sum(row["rated"] for row in found.systems) == 45
    assert found.comparison is not None
    assert found.comparison["ranking"][0]["system"] == "alpha"
    assert any("15 chosen outputs without an answer" in note for note in found.notes)
    assert found.systems[0]["goal"]["tolerance"] == 2.0
    told = study.of("alpha").status()
    assert told.rated == found.systems[0]["rated"] and told.estimate == found.systems[0]["estimate"]
    assert "systems" not in told.to_dict() and "systems" in found.to_dict()


def test_what_cannot_be_begun(tmp_path: Path) -> None:
    pool, segments = outputs()
    with pytest.raises(DataError, match="there are 3 segments for 240"):
        Campaign.create(tmp_path / "a", pool, segments=["1", "2", "3"])
    one = pool.take(np.arange(N))
    with pytest.raises(DataError, match="only one system"):
        Campaign.create(tmp_path / "b", one, segments=segments[:N])
    with pytest.raises(DataError, match="two outputs of the system 'alpha'"):
        Campaign.create(tmp_path / "c", pool, segments=["1"] * len(pool))
    with pytest.raises(FewgoldError, match="learns from each answer"):
        Campaign.create(tmp_path / "d", pool, segments=segments, strategy="docs-incr-human")
    assert not any(tmp_path.iterdir())


# Raters at work


def test_a_rater_gets_whole_segments_in_an_order_of_their_own(tmp_path: Path) -> None:
    study = begun(tmp_path, each=2)
    study.select(20)
    names = {study.desk.key_at(p): str(study.pool.ids[p]) for p in range(len(study.pool))}
    given: dict[str, list[str]] = {"ann": [], "bob": [], "eve": []}
    for _ in range(80):
        for rater, seen in given.items():
            segment = study.next(rater)
            if segment is None:
                continue
            id = names[segment.key]
            study.desk.rate(
                Rating(segment.key, truth(*id.split(":")), rater, answer=f"{rater}{id}")
            )
            seen.append(id)
    assert sum(map(len, given.values())) == 120
    assert not study.desk.left("ann")[1]
    orders: dict[str, set[tuple[str, ...]]] = {}
    for rater, seen in given.items():
        triples = [seen[k : k + 3] for k in range(0, len(seen), 3)]
        # All three outputs of a segment come one after the other.
        assert all(len({i.split(":")[1] for i in three}) == 1 for three in triples)
        orders[rater] = {tuple(i.split(":")[0] for i in three) for three in triples}
        assert len(orders[rater]) > 2
    # And two raters of one segment see its outputs in different orders, often.
    order: dict[str, dict[str, tuple[str, ...]]] = {}
    for rater, seen in given.items():
        parts = [tuple(seen[k : k + 3]) for k in range(0, len(seen), 3)]
        order[rater] = {three[0].split(":")[1]: three for three in parts}
    both = [s for s in order["ann"] if s in order["bob"]]
    assert both and any(order["ann"][s] != order["bob"][s] for s in both)


def test_an_abandoned_segment_goes_to_others(tmp_path: Path) -> None:
    study = begun(tmp_path)
    study.select(2)
    assert study.next("ann") is not None
    other = {study.next("bob").key for _ in range(1)}  # type: ignore[union-attr]
    assert other and study.desk.left("eve")[1] == 6
    assert study.next("eve") is None  # one segment is Ann's, the other Bob's
    assert study.next("eve", hold=0.0) is not None


def test_rows_that_were_shifted_against_their_keys_are_noticed(tmp_path: Path) -> None:
    """A key stands in place of the id as well, so a sheet sorted by one column gives it away."""
    study = begun(tmp_path)
    study.select(4)
    first, second, *rest = study.tasks().to_rate
    assert first.id == first.key
    receipt = study.add(
        [
            Rating(first.key, 50.0, "ann", details={"id": second.id}),
            *(Rating(s.key, 50.0, "ann", details={"id": s.id}) for s in rest),
        ]
    )
    assert receipt.stored == len(rest)
    assert receipt.set_aside == {"the key and the id name different segments": 1}
