"""Raters cannot tell which system made what: not by any export, sheet or page, nor its order."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from starlette.testclient import TestClient

from fewgold import formats, web
from fewgold.campaign import Campaign
from fewgold.formats import Rating, key
from sweeps import quick

Run = Callable[..., Any]

SYSTEMS = ("zeta.9", "KAPPA-x", "omicron_5")
METRIC = "QuuxScore"
VALUE = "0.7319"  # how every score of the metric begins
SIZE, LENGTH = 40, 4  # segments of a system, and of a document
#: What an output says -> the system, document and position (from 1) that it is of.
Truth = dict[str, tuple[str, str, int]]


def output(system: int, segment: int) -> str:
    return f"Satz {(segment * 3 + system) * 7919 % 99991}"


def truth() -> Truth:
    return {
        output(s, i): (name, f"news{i // LENGTH}", i % LENGTH + 1)
        for s, name in enumerate(SYSTEMS)
        for i in range(SIZE)
    }


def score(system: int, segment: int) -> float:
    return float(VALUE) + ((segment * 37 + system) % 101) * 1e-6


def write_tree(root: Path = Path("tree")) -> None:
    files = {
        "sources/en-de.txt": [f"source {i}" for i in range(SIZE)],
        "documents/en-de.docs": [f"all news{i // LENGTH}" for i in range(SIZE)],
        f"metric-scores/en-de/{METRIC}-src.seg.score": [
            f"{name}\t{score(s, i)}" for s, name in enumerate(SYSTEMS) for i in range(SIZE)
        ],
    }
    for s, name in enumerate(SYSTEMS):
        files[f"system-outputs/en-de/{name}.txt"] = [output(s, i) for i in range(SIZE)]
    for path, lines in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("".join(f"{line}\n" for line in lines))


def table(documents: bool = True) -> pd.DataFrame:
    """A table in which ids, and documents, name the system; one system after the other."""
    rows = [
        {
            "id": f"{name}/{i}", "document": f"news{i // LENGTH}.{name}", "system": name,
            "source": f"source {i}", "output": output(s, i), METRIC: score(s, i),
        }
        for s, name in enumerate(SYSTEMS)
        for i in range(SIZE)
    ]  # fmt: skip
    return pd.DataFrame(rows).drop(columns=[] if documents else ["document"])


def begin(run: Run, pool: str, budget: int = 60) -> str:
    options: tuple[str, ...] = ()
    if pool == "tree":
        write_tree()
        options = ("--pair", "en-de")
    else:
        table(documents=pool == "table.csv").to_csv(pool, index=False)
    run("init", "study", pool, "--seed", "5", "--limits", "0,100", "--higher-is-better", *options)
    # Of the tree, each segment is rated for all systems; the tables have ids of their own for each.
    run("select", "study", "--budget", budget // len(SYSTEMS) if pool == "tree" else budget)
    return "study"


def sampled(campaign: Campaign) -> set[str]:
    """Ids of the outputs that were chosen."""
    return set(campaign.pool.ids[campaign.store.drawn()].tolist())


def read_all(place: Path) -> str:
    """All that a curious rater finds in a file or folder, names of files included."""
    if place.is_dir():
        return "\n".join(f"{path.name}\n{read_all(path)}" for path in sorted(place.iterdir()))
    data = place.read_bytes()
    if data[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return "\n".join(f"{n}\n{book.read(n).decode()}" for n in book.namelist())
    if data[:4] == b"PAR1":
        return pd.read_parquet(io.BytesIO(data)).to_csv() + data.decode("latin-1")
    return data.decode()


def assert_tells_nothing(text: str) -> None:
    found = [w for w in (*SYSTEMS, METRIC, VALUE) if w.lower() in text.lower()]
    assert not found, f"it tells {found}: {text[:2000]}"


def runs(systems: list[str]) -> int:
    """How often the next one is of another system, and 1: 3 where they are sorted by system."""
    return 1 + sum(a != b for a, b in pairwise(systems))


POOLS = ("tree", "table.csv", "bare.csv")


@pytest.mark.parametrize("pool", quick(POOLS, ["tree"]))
def test_no_export_tells_the_system_or_a_metric(run: Run, pool: str) -> None:
    study = begin(run, pool)
    for to in formats.names():
        folder = Path("out", to)
        folder.mkdir(parents=True)
        name = folder / f"tasks{formats.get(to).suffixes[0]}"
        run("export", study, "-o", name, "--to", to)
        assert_tells_nothing(read_all(folder))
        with Campaign(study) as campaign:
            back = campaign.import_file(name, to)
            assert back.blank == len(sampled(campaign)) == 60 and not back.rejected, to
            blank = {
                campaign.pool.ids[campaign.desk.place_of(k)] for k in formats.read(name, to).blank
            }
            assert blank == sampled(campaign), to


@pytest.mark.parametrize("pool", quick(POOLS, ["tree"]))
def test_no_file_of_one_rater_tells_the_system_or_a_metric(run: Run, pool: str) -> None:
    study, known = begin(run, pool), truth()
    for to in formats.names():
        folder = Path("out", to)
        folder.mkdir(parents=True)
        name = folder / f"tasks{formats.get(to).suffixes[0]}"
        if to in ("mqm", "mqm-averages", "mt-metrics-eval", "wmt-da"):
            told = run("export", study, "-o", name, "--to", to, "--raters", "ann,bob", code=3)
            assert "cannot give each rater an order" in told.stderr
            continue
        run("export", study, "-o", name, "--to", to, "--raters", "ann,bob")
        assert_tells_nothing(read_all(folder))
    with Campaign(study) as campaign:
        for own in campaign.tasks_for(["ann", "bob"], context=0).values():
            line = [known[s.texts["output"]][0] for s in own.to_rate]
            assert set(line) == set(SYSTEMS) and runs(line) > 4


@pytest.mark.parametrize("pool", POOLS)
def test_neither_keys_nor_rows_nor_documents_group_the_systems(run: Run, pool: str) -> None:
    study = begin(run, pool)
    known = truth()
    for context in (0, 2):
        with Campaign(study) as campaign:
            tasks = campaign.tasks("all", context=context)
        mine = [(known[s.texts["output"]][0], s) for s in tasks.to_rate]
        assert {system for system, _ in mine} == set(SYSTEMS)
        number = {s.key: int(s.key.split("-")[1]) for _, s in mine}
        for order in (
            mine,
            sorted(mine, key=lambda m: number[m[1].key]),
            sorted(mine, key=lambda m: m[1].id),
            sorted(mine, key=lambda m: (m[1].document, m[1].position)),
        ):
            assert runs([system for system, _ in order]) > 12
        # A document of two systems is two documents, so that nobody puts them together.
        if pool != "bare.csv":
            named = {s.document: set[Any]() for s in tasks.segments}
            for s in tasks.segments:
                named[s.document].add(known[s.texts["output"]][:2])
            assert all(len(whose) == 1 for whose in named.values())


@pytest.mark.parametrize("pool", ["tree", "table.csv"])
def test_context_is_of_the_same_system_and_document(run: Run, pool: str) -> None:
    study, known = begin(run, pool), truth()
    run("export", study, "-o", "tasks.json", "--to", "label-studio", "--context", "2")
    tasks = [task["data"] for task in json.loads(Path("tasks.json").read_text())]
    assert len(tasks) == 60
    for task in tasks:
        system, document, position = known[task["output"]]
        assert task["position"] == position
        for field, wanted in (
            ("context_before", range(position - 2, position)),
            ("context_after", range(position + 1, position + 3)),
        ):
            shown = [known[t] for t in re.findall(r"output: (Satz \d+)", task[field])]
            places = [p for p in wanted if 1 <= p <= LENGTH]
            assert shown == [(system, document, p) for p in places]
    with Campaign(study) as campaign:  # one at a time, it says the same
        given = campaign.next("ann")
        assert given is not None and given.position == known[given.texts["output"]][2]
        assert_tells_nothing(repr(given))


def test_answers_come_back_whatever_names_them(run: Run) -> None:
    """By new keys, by those of earlier exports, and by the ids of the pool."""
    study, known = begin(run, "tree"), truth()
    run("export", study, "-o", "tasks.csv", "--context", "0")
    sheet = pd.read_csv("tasks.csv", dtype=str, keep_default_na=False)
    numbers = {text: k for k, text in enumerate(known)}
    sheet["score"] = [str(numbers[text] % 100) for text in sheet["output"]]
    sheet["rater"] = "ann"
    sheet[:20].to_csv("new.csv", index=False)
    sheet[20:30].drop(columns="key").to_csv("no_key.csv", index=False)
    with Campaign(study) as campaign:
        pool = campaign.pool
        place = {str(t): k for k, t in enumerate(pool.texts["output"].tolist())}
        old = sheet[30:45].copy()
        old["id"] = [str(pool.ids[place[t]]) for t in old["output"]]
        old["key"] = [key(place[t], str(pool.ids[place[t]]), pool.fingerprint)
                      for t in old["output"]]  # fmt: skip
        old.to_csv("old.csv", index=False)
    ids = sheet[45:].drop(columns="key")
    ids["id"] = [str(pool.ids[place[t]]) for t in ids["output"]]
    ids.to_csv("ids.csv", index=False)
    for name, count in {"new.csv": 20, "no_key.csv": 10, "old.csv": 15, "ids.csv": 15}.items():
        assert json.loads(run("import", study, name, "--json").stdout)["stored"] == count, name
    with Campaign(study) as campaign:
        found = campaign.answers()
        wanted = {str(i): float(numbers[str(t)] % 100) for i, t in zip(
            pool.ids.tolist(), pool.texts["output"].tolist(), strict=True)}  # fmt: skip
        assert len(found) == 60
        assert all(wanted[i] == s for i, s in zip(found["segment"], found["score"], strict=True))
    # The owner gets the ids of the pool with the answers, and documents of each system apart.
    with Campaign(study) as campaign:
        plain = campaign.tasks("all", masked=False).segments
        wanted_ids = {s.id for s in plain if s.rate}
        assert wanted_ids == sampled(campaign)
        assert all(s.document == ":".join(known[s.texts["output"]][:2]) for s in plain)
    run("export", study, "--what", "ratings", "-o", "ratings.csv")
    assert set(pd.read_csv("ratings.csv")["pool_id"]) == set(wanted) & set(found["segment"])


@pytest.mark.parametrize("pool", quick(POOLS, ["table.csv"]))
def test_no_page_tells_the_system_or_a_metric(run: Run, pool: str) -> None:
    study, known = begin(run, pool, budget=21), truth()
    with Campaign(study) as campaign:
        token = campaign.desk.add_rater("ann")
    client = TestClient(web.create_app(study), base_url="http://127.0.0.1")
    here, origin = f"/rate/{token}", {"Origin": "http://127.0.0.1"}
    page = client.get(here, headers=origin).text
    for _ in range(21):
        assert_tells_nothing(page)
        shown = [known[t] for t in re.findall(r">(Satz \d+)<", page)]
        assert shown and len({s[:2] for s in shown}) == 1
        found = re.findall(r'name="(segment|form|since)" value="([^"]*)"', page)
        form = dict(reversed(found)) | {"score": "50"}
        page = client.post(here, data=form, headers=origin).text
    assert_tells_nothing(page)
    assert 'data-testid="done"' in page


def test_without_texts_a_page_shows_a_key(run: Run) -> None:
    table(documents=False)[["id", "system", METRIC]].to_csv("ids.csv", index=False)
    run("init", "study", "ids.csv", "--seed", "1")
    run("select", "study", "--budget", "5")
    with Campaign("study") as campaign:
        token = campaign.desk.add_rater("ann")
        keys = {campaign.desk.key_at(p) for p in campaign.sample.indices.tolist()}
    page = TestClient(web.create_app("study"), base_url="http://127.0.0.1").get(f"/rate/{token}")
    assert_tells_nothing(page.text)
    assert re.findall(r'dir="auto">(fg-[^<]*)</div>', page.text)[0] in keys


def test_one_system_keeps_its_ids_unless_they_name_it(run: Run) -> None:
    one = table()[:SIZE]
    one.to_csv("one.csv", index=False)
    run("init", "named", "one.csv", "--seed", "1", "--name", "Study of zeta.9")
    one.assign(id=[f"{i:03d}" for i in range(SIZE)], document=[f"d{i // 4}" for i in range(SIZE)]
               ).to_csv("one.csv", index=False)  # fmt: skip
    run("init", "plain", "one.csv", "--seed", "1")
    for study in ("named", "plain"):
        run("select", study, "--budget", "10", "-o", f"{study}.jsonl")
        assert_tells_nothing(Path(f"{study}.jsonl").read_text())
    assert '"id": "0' in Path("plain.jsonl").read_text()
    assert '"document": "d' in Path("plain.jsonl").read_text()
    run("export", "named", "-o", "named.json", "--to", "pearmut")
    assert_tells_nothing(Path("named.json").read_text())


@pytest.mark.sweep
@pytest.mark.parametrize("documents", [True, False])
@pytest.mark.parametrize("on_disk", [False, True])
def test_sheets_of_several_systems_tell_nothing(run: Run, documents: bool, on_disk: bool) -> None:
    frame, known = table(documents), truth()
    pool = ["pool.parquet"]
    if on_disk:
        pool = ["a.parquet", "b.parquet"]
        frame[:50].to_parquet("a.parquet")
        frame[50:].to_parquet("b.parquet")
    else:
        frame.to_parquet("pool.parquet")
    run("select", *pool, "--budget", "45", "--seed", "2", "--strategy", "random+mean", "--metrics",
        METRIC, "-o", "sheet.csv")  # fmt: skip
    assert_tells_nothing(Path("sheet.csv").read_text())
    sheet = pd.read_csv("sheet.csv", dtype=str)
    assert runs([known[t][0] for t in sheet["output"]]) > 12
    assert runs([known[t][0] for t in sheet.sort_values("id")["output"]]) > 12
    numbers = {text: k for k, text in enumerate(known)}
    sheet["score"] = [numbers[t] for t in sheet["output"]]
    sheet.to_csv("sheet.csv", index=False)
    made = json.loads(run("estimate", "sheet.csv", "--json").stdout)
    assert made["value"] == pytest.approx(sheet["score"].mean())
    if not on_disk:
        looked = json.loads(run("doctor", "sheet.csv", "--json").stdout)
        assert not looked["findings"], looked
    # A sheet from before has the ids of the pool, in an order of its own.
    ids = dict(zip(frame["output"], frame["id"], strict=True))
    sheet.assign(id=[ids[t] for t in sheet["output"]]).to_csv("sheet.csv", index=False)
    assert json.loads(run("estimate", "sheet.csv", "--json").stdout)["value"] == made["value"]


def test_keys_of_other_pools_are_foreign(run: Run) -> None:
    study = begin(run, "tree")
    keys = formats.Keys(120, "another pool")
    with Campaign(study) as campaign:
        ids = [str(i) for i in campaign.pool.ids]
        given = [Rating(keys.of(k, i), 1.0, "ann") for k, i in enumerate(ids)]
        receipt = campaign.add([*given, Rating(f"fg-{'9' * 5000}-abcdef", 1.0, "ann")])
    assert receipt.set_aside == {"the key belongs to another campaign": 121}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100, 1025])
def test_every_segment_has_a_key_of_its_own(size: int) -> None:
    keys = formats.Keys(size, "9f2c11")
    ids = [f"id{k}" for k in range(size)]
    made = [keys.of(k, i) for k, i in enumerate(ids)]
    assert sorted(int(m.split("-")[1]) for m in made) == list(range(size))
    assert [keys.find(m, ids.__getitem__) for m in made] == list(range(size))
    assert [keys.find(m.upper(), ids.__getitem__) for m in made] == list(range(size))
    old = [key(k, i, "9f2c11") for k, i in enumerate(ids)]
    assert [keys.find(o, ids.__getitem__) for o in old] == list(range(size))
