"""Odd ids, damaged files, full disks, long waits: a sentence each time, and no wrong number."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from fewgold import formats
from fewgold.campaign import Campaign, is_campaign
from fewgold.campaign.database import transaction
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Rating, key
from fewgold.pool import Pool

ODD = [
    "ü ñ 中", "007", "7", "=cmd|'/c calc'!A0", "x" * 10_000, "line\nbreak", "tab\there",
    "fg-1-abcdef", "fg-999-abcdef", "FG-2-ABCDEF", "Case", "case", "o'neil", "'o'neil", "  lead",
    "trail ", "1.0", "1", "1e3", "NaN", "None", "-5", "@x", 'q"q', "a,b", "<script>", "e\u0301",
    "é", "\u2028ls", "../x", "#", "%20",
]  # fmt: skip


def odd_pool() -> Pool:
    return Pool(
        ids=np.array(ODD, dtype=object),
        documents=np.array([f"d{k % 3}" for k in range(len(ODD))]),
        texts={"output": np.array([f"=out {k}\n<b>" for k in range(len(ODD))])},
    )


def test_odd_ids_get_their_own_answers(tmp_path: Path) -> None:
    pool = odd_pool()
    truth = {i: float(k) for k, i in enumerate(ODD)}
    by_id = [Rating(i, truth[i], "ann") for i in ODD]
    by_key = [
        Rating(key(k, i, pool.fingerprint), truth[i], "ann", details={"id": i})
        for k, i in enumerate(ODD)
    ]
    for name, given in (("id", by_id), ("key", by_key)):
        with Campaign.create(tmp_path / name, pool, strategy="random+mean", seed=1) as study:
            study.select(len(ODD))
            assert study.add(given).stored == len(ODD)
        with Campaign(tmp_path / name) as again:
            assert again.pool.ids.tolist() == ODD
            assert dict(zip(again.sample.ids.tolist(), again.scores(), strict=True)) == truth
            for format in ("csv", "xlsx", "jsonl"):
                path = tmp_path / f"{name}.{format}"
                formats.get(format).write_ratings(again.tasks("all"), again.store.rated(), path)
                assert again.import_file(path).known == len(ODD)


@pytest.mark.parametrize("pair", [("trail", "trail "), ("=x", "'=x"), (" a", "a ")])
def test_ids_that_would_be_confused_are_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    """An answer to one of them could come back as one to the other."""
    with pytest.raises(DataError, match="cannot be told apart"):
        Campaign.create(tmp_path / "s", Pool(ids=np.array([*pair, "b"])), seed=1)
    assert not (tmp_path / "s").exists()


def test_one_long_text_does_not_take_the_room_of_all(tmp_path: Path) -> None:
    texts = np.array(["short"] * 2999 + ["long " * 4000], dtype=object)
    pool = Pool(ids=np.arange(3000), texts={"source": texts})
    assert pool.texts["source"].nbytes < 10**6
    with Campaign.create(tmp_path / "s", pool, seed=1) as study:
        back = study.pool.texts["source"]
    assert back.nbytes < 10**6 and back.tolist() == texts.tolist()


@pytest.mark.parametrize("files", [21, pytest.param(60, marks=pytest.mark.slow)])
def test_damaged_files_get_a_sentence(tmp_path: Path, campaign: Campaign, files: int) -> None:
    """Random bytes, lost ends and zeros anywhere: an answer or a sentence, never anything else."""
    wave = campaign.select(20)
    campaign.add(Rating(i, 5.0, "ann") for i in wave.ids[:15])
    campaign.more(5)
    campaign.close()
    data, rng = campaign.path.read_bytes(), np.random.default_rng(3)
    refused = 0
    for k in range(files):
        hurt = bytearray(data)
        at = int(rng.integers(100, len(data)))
        if k % 3 == 0:
            del hurt[at:]
        else:
            size = 5000 if k % 3 == 1 else 3
            hurt[at : at + size] = rng.bytes(size)
        path = tmp_path / f"{k}.fewgold"
        path.write_bytes(hurt)
        for act in (
            lambda s: s.status(), lambda s: s.tasks(), lambda s: s.store.rated(),
            lambda s: s.more(3), lambda s: s.next("bob"),
            lambda s: s.add([Rating(wave.ids[16], 7.0)]),
        ):  # fmt: skip
            try:
                with Campaign(path) as study:
                    act(study)
            except DataError as error:
                refused += 1
                assert str(error).endswith(".")
    assert refused > files


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_wave_that_is_missing_is_noticed(campaign: Campaign, number: int) -> None:
    """The last one as well, whose segments then belong to nothing."""
    campaign.select(10)
    campaign.more(5)
    campaign.more(5)
    with closing(sqlite3.connect(campaign.path)) as other, other:
        other.execute("DELETE FROM waves WHERE number = ?", (number,))
    with pytest.raises(DataError, match="segments are missing"), Campaign(campaign.path) as again:
        again.status()


def test_a_wave_that_is_written_meanwhile_is_seen_whole_or_not_at_all(campaign: Campaign) -> None:
    campaign.select(10)
    with Campaign(campaign.path) as reader, Campaign(campaign.path) as writer:
        seen: list[str] = []

        def draws(statement: str) -> None:
            """Another wave before each statement that reads them."""
            if " drawn" in statement or "FROM waves" in statement:
                seen.append(statement)
                writer.more(3)

        reader.store.database.set_trace_callback(draws)
        found = reader.waves
        reader.store.database.set_trace_callback(None)
        assert len(seen) > 1
        assert [w.n for w in found] == [len(w.ids) for w in found]
        assert len(found) < len(reader.waves) == len(seen) + 1


@pytest.mark.parametrize("application", [0, 7])
def test_databases_of_others_are_refused_and_left_alone(tmp_path: Path, application: int) -> None:
    path = tmp_path / "other.fewgold"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE notes (text TEXT)")
        other.execute(f"PRAGMA application_id = {application}")
        other.execute("PRAGMA user_version = 1")  # that of our campaigns
    before = path.read_bytes()
    with pytest.raises(DataError, match="is not a campaign of fewgold"):
        Campaign(path)
    assert path.read_bytes() == before and not is_campaign(path)
    assert [p.name for p in tmp_path.iterdir()] == ["other.fewgold"]


def test_a_campaign_that_somebody_holds_is_waited_for(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = campaign.select(5).ids[0]
    monkeypatch.setenv("FEWGOLD_PATIENCE", "0.1")
    with Campaign(campaign.path) as other:
        campaign.store.database.execute("BEGIN IMMEDIATE")
        with pytest.raises(DataError, match="another program has been writing"):
            other.add([Rating(one, 5.0)])
        assert other.status().answers == 0  # one may look meanwhile
        campaign.store.database.execute("ROLLBACK")
        assert other.add([Rating(one, 5.0)]).stored == 1


@pytest.mark.parametrize(
    ("order", "said"),
    [("max_page_count = 1", "the disk is full"), ("query_only = ON", "is read-only")],
)
def test_a_campaign_that_cannot_be_written_says_why(
    campaign: Campaign, order: str, said: str
) -> None:
    one = campaign.select(5).ids[0]
    campaign.store.database.execute(f"PRAGMA {order}")
    with pytest.raises(DataError, match=said):
        campaign.add(Rating(one, 5.0, "ann", answer=f"{k}" * 100) for k in range(500))
    assert campaign.answers().empty


def test_places_with_odd_names(tmp_path: Path, pool: Pool) -> None:
    for name in ("a b", "ü?x=1#y%20", "what?mode=ro"):
        with Campaign.create(tmp_path / name, pool, seed=1) as study:
            study.select(5)
        assert [p.name for p in (tmp_path / name).iterdir()] == ["campaign.fewgold"]
        with Campaign(tmp_path / name) as study:
            assert study.sample.n == 5


def test_nothing_is_left_to_draw(campaign: Campaign) -> None:
    campaign.select(60)
    with pytest.raises(FewgoldError, match="all 60 segments of the pool have been drawn already"):
        campaign.more(1)


def test_seeds_and_places_that_cannot_be(tmp_path: Path, campaign: Campaign, pool: Pool) -> None:
    for seed in (-1, 2**63):
        with pytest.raises(FewgoldError, match="seed must be from 0 to"):
            campaign.select(5, seed=seed)
        with pytest.raises(FewgoldError, match="seed must be from 0 to"):
            Campaign.create(tmp_path / "s", pool, seed=seed)
    assert not campaign.waves and not (tmp_path / "s").exists()
    (tmp_path / "file").write_text("")
    for place in ("file", "file/x"):
        with pytest.raises(DataError, match="there is a file of that name"):
            Campaign.create(tmp_path / place, pool)
    with pytest.raises(DataError, match="needs the name of a folder"):
        Campaign.create("", pool)
    assert not is_campaign("") and not is_campaign("a\0b")


@pytest.mark.parametrize(
    ("late", "early"),
    [
        ("2026-11-16T12:00:00", "2026-11-16T11:00:00"),
        ("2026-11-16 12:00:00.25", "2026-11-16 12:00"),
        ("1763300000.5", "1763300000.25"),
        ("1763300000000", "1763200000000"),
        ("1763300000", "2020-01-01T00:00:00Z"),
        ("Mon, 16 Nov 2026 12:00:00 GMT", "Mon, 16 Nov 2026 11:00:00 GMT"),
        ("9999-12-31T23:59:59Z", "2026-01-01"),
    ],
)
def test_times_of_every_kind_have_an_order(campaign: Campaign, late: str, early: str) -> None:
    one, two = campaign.select(5).ids[:2]
    campaign.add([Rating(one, 40, "ann", late), Rating(two, 20, "ann", early)])
    campaign.add([Rating(one, 80, "ann", early), Rating(two, 10, "ann", late)])
    assert sorted(campaign.scores()[:2].tolist()) == [10, 40]


def test_times_that_are_none_leave_the_order_of_arrival(campaign: Campaign) -> None:
    for k, id in enumerate(campaign.select(5).ids):
        first, then = [("11/16/2026", "11/15/2026"), ("soon", "2020-01-01"), ("9" * 400, "1e999"),
                       ("", "nan"), ("0000-00-00", "2026-01-01")][k]  # fmt: skip
        campaign.add([Rating(id, 1, "ann", first)])
        campaign.add([Rating(id, 2, "ann", then)])
    assert campaign.scores().tolist() == [2.0] * 5


def test_a_beginning_that_fails_leaves_nothing(
    tmp_path: Path, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fewgold.campaign.store.save_settings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Campaign.create(tmp_path / "s", pool, seed=1)
    assert not list(tmp_path.iterdir())


def test_a_transaction_keeps_other_writers_out_before_it_writes(campaign: Campaign) -> None:
    """Else two could read the same state, and each write what follows from it."""
    with closing(sqlite3.connect(campaign.path, timeout=0)) as other:
        locked = pytest.raises(sqlite3.OperationalError, match="locked")
        with transaction(campaign.store.database), locked:
            other.execute("BEGIN IMMEDIATE")
        other.execute("BEGIN IMMEDIATE")
        other.execute("ROLLBACK")
