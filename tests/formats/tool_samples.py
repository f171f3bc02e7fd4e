"""Tasks and ratings that the tests of annotation tools share, and what each of them must do."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fewgold.errors import FewgoldError
from fewgold.formats import Format, Names, Rating, Reading, Segment, Tasks, get, key, recognise

DEEP = "[" * 700 + "]" * 700
NASTY = '=1+1 <b>"fett"</b> & \'so\' $x\n\t{"a": [1]} \u2028 é 日本 😀 ]]>'


def tasks(limits: tuple[float, float] | None = (0, 100)) -> Tasks:
    """Two documents; three segments to rate among context, one in no document."""

    def made(place: int, document: str, position: int, rate: bool = True) -> Segment:
        id = f"{document}:{position}"
        texts = {"source": f"Quelle {place}", "machine output": f"output {place} {NASTY}"}
        return Segment(key(place, id, "9f2c11"), id, texts, document, position, rate)

    return Tasks(
        (
            made(0, "a", 1, rate=False),
            made(1, "a", 2),
            made(2, "a", 3, rate=False),
            made(3, "b", 1),
            made(4, "b", 2),
            made(5, "", 1),
        ),
        name="study <1>",
        question='How "good" is <this> & that, for $5?',
        limits=limits,
    )


def ratings(found: Tasks) -> list[Rating]:
    """Two raters, one segment rated twice, one not at all; every field in use."""
    one, two, three, _ = found.to_rate
    spans = [{"start_i": 0, "end_i": 4, "severity": "minor", "category": None}]
    return [
        Rating(one.key, 83.0, "anna@example.org", "2026-11-16T09:00:00.5Z", "", "17", {}),
        Rating(one.key, 0.1 + 0.2, "7", "1771313450.637", "sys-A", "a-9", {"lead_time": 4.25}),
        Rating(two.key, -1e-7, 'Bert, B. "x"', "", "sys B", "", {"error_spans": spans}),
        Rating(three.key, 100.0, "", "", "", "", {}),
        Rating(three.key, 55.0, "=cmd()", "t", "", "007", {"note": {"a": [None, True, "é"]}}),
    ]


def check_round_trip(name: str, folder: Path, ending: str | None = None) -> Reading:
    """What goes out comes back, and the file is recognised for what it is."""
    format_, found = get(name), tasks()
    path = folder / f"ratings{format_.suffixes[0] if ending is None else ending}"
    format_.write_ratings(found, ratings(found), path)
    assert recognise(path) is format_
    reading = format_.read(path)
    assert reading.rejected == ()
    assert reading._require() and set(map(repr, reading.ratings)) == set(map(repr, ratings(found)))
    assert len(reading.ratings) == reading.used == 5
    return reading


def check_tasks(name: str, folder: Path) -> Path:
    """A file of tasks reads back as blank, with the keys of what is to be rated."""
    format_, found = get(name), tasks()
    path = folder / f"tasks{format_.suffixes[0]}"
    format_.write_tasks(found, path)
    reading = format_.read(path)
    assert reading.ratings == () and reading.rejected == ()
    assert list(reading.blank) == [s.key for s in found.to_rate]
    return path


def broken(text: str, rng: random.Random) -> str:
    """A file with something wrong: values of other types, keys gone, text cut, odd numbers."""
    try:
        tree = [json.loads(line) for line in text.strip().split("\n")]
        lines = True
    except ValueError:
        tree, lines = json.loads(text), False
    odd = ("null", "[]", "{}", '""', '"x"', "-3", "true", "[[]]", '{"": null}', '"\\ud800"',
           "1e308", "[null]", "[{}]", "0.5", '{"score": 4}', '[["a", 1], 2]', DEEP)  # fmt: skip
    for _ in range(rng.randint(1, 3)):
        holder: Any = tree
        while True:
            places = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            if not places:
                break
            place = rng.choice(places)
            if isinstance(holder[place], dict | list) and rng.random() < 0.8:
                holder = holder[place]
            elif rng.random() < 0.3:
                del holder[place]
                break
            else:
                holder[place] = json.loads(rng.choice(odd))
                break
    made = "\n".join(map(json.dumps, tree)) if lines else json.dumps(tree)
    chance = rng.random()
    if chance < 0.1:
        return made[: rng.randrange(len(made) + 1)]
    if chance < 0.2:
        at = rng.randrange(len(made) + 1)
        return made[:at] + rng.choice(["\x00", "[", "}", '"', "NaN", "1e999", "\ufeff"]) + made[at:]
    if chance < 0.25:
        return made.replace("83", rng.choice(["NaN", "1e999", "9" * 5000, "-0", "[" * 2000]))
    return made


def check_broken(
    name: str,
    text: str,
    path: Path,
    seed: int,
    count: Callable[[str], int | None] = lambda text: None,
) -> None:
    """Broken files give a reading with every row accounted for, or an error in a sentence.

    ``count`` tells the rows of a file in a way of its own.
    """
    rng = random.Random(seed)
    for _ in range(60):
        made = broken(text, rng)
        path.write_text(made, encoding="utf-8")
        recognise(path)
        for names in (Names(), Names(id="x", score="score", rater="y")):
            try:
                reading = get(name).read(path, names)
            except FewgoldError as error:
                assert len(str(error)) > 10
            else:
                assert count(made) in (None, reading.rows)
                for rating in reading.ratings:
                    assert isinstance(rating.score, float) and rating.score - rating.score == 0
                    json.dumps(rating.details)
                    f"{rating}{reading.rejected}{reading.blank}".encode()


def check_refused(format_: Format, path: Path, text: str, match: str) -> None:
    """A file that makes no sense is an error in a sentence."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FewgoldError, match=match):
        format_.read(path)
