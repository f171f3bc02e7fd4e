"""Every command reads every table alike: the same rows, roles and texts, or the same refusal.

`COMMANDS` says how each command is called and what it lets one see of what it read. `ODD` says what
is in each file. What each command shows is held against that, and the commands against one another.
Where it depends on the command what becomes of a table, all commands read it. With the other tables
the quick suite takes the doctor and about half of the other commands, so that any two of them meet
on several; the slow tests take all. A command is added with one entry.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import html
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer.main
from click.testing import CliRunner
from starlette.testclient import TestClient

from fewgold.campaign import Campaign
from fewgold.cli import app
from fewgold.web import create_app
from sweeps import quick
from tests.io.odd_tables import ANY, ODD, PROBE, N, Odd, jsonl, mqm, tree

CLI = typer.main.get_command(app)  # made once: it takes longer than reading a small table
CUT = 2.5  # human scores from here on are adequate; verdicts are 0 and 1
ROLES = ("id", "document", "system", "human", "metrics", "texts")
TABLES = {odd.name: odd for odd in ODD}


@dataclass(frozen=True)
class Seen:
    """What a command read, as far as it shows; None where it does not.

    Parameters
    ----------
    rows
        Rows of the table.
    ids
        Of all segments, in any order.
    documents
        The document of each id; ``n_documents`` where only their number is shown.
    roles
        The columns of the roles that the command tells.
    text
        The output of the row `PROBE`; its first characters, if that is what is shown.
    human
        The human score of each id; ``mean`` or ``share`` (of adequate ones) where only that is
        shown.
    notes
        All that it says about the file.
    rejected
        Rows that ``import`` could not read: where they stand and why.
    """

    rows: int | None = None
    ids: frozenset[str] | None = None
    documents: dict[str, str] | None = None
    n_documents: int | None = None
    roles: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    human: dict[str, float] | None = None
    mean: float | None = None
    share: float | None = None
    notes: str = ""
    rejected: str = ""


@dataclass(frozen=True)
class Refused:
    """The sentence in which a command refused a file, which it calls FILE."""

    sentence: str


@dataclass(frozen=True)
class Call:
    """A table to read, and a folder to work in."""

    odd: Odd
    variant: str
    folder: Path
    path: Path
    stdin: bool = False

    @property
    def file(self) -> str:
        """What the command line names: the file, or standard input."""
        return "-" if self.stdin else str(self.path)

    @property
    def name(self) -> Callable[[str], str]:
        """The column of a role that the user has to name."""
        roles = self.odd.expected_roles(self.variant)
        return lambda role: (
            ",".join(_human(self.odd, self.variant)) if role == "human" else roles[role]
        )

    def run(self, *arguments: object) -> Any:
        """Run a command, whose standard output is JSON."""
        given = self.path.read_bytes() if self.stdin else None
        record, notes = run(self.folder, *arguments, "--json", given=given)
        return record, notes

    def text(self, ids: list[str], texts: list[str]) -> str:
        """The output of the row `PROBE` among those of a sheet, which may be in another order."""
        truth = self.odd.truth(self.variant)
        wanted = truth["id"][min(PROBE, len(truth) - 1)]
        found = [t for i, t in zip(ids, texts, strict=True) if i == wanted]
        # Sheets put an apostrophe before what a spreadsheet would run.
        found = [t.removeprefix("'") for t in found]
        return next(
            (t for t in found if t == self.odd.probe), found[0] if found else "(no such id)"
        )


def _human(odd: Odd, variant: str) -> tuple[str, ...]:
    """The columns of human scores, or the one that would be."""
    named: Any = odd.expected_roles(variant)["human"]
    return ("human",) if named == ANY else named


class RefusedError(Exception):
    """A command refused."""


def run(folder: Path, *arguments: object, given: bytes | None = None) -> tuple[Any, str]:
    """The JSON that a command printed and its notes; an exception if it refused."""
    with contextlib.chdir(folder):
        result = CliRunner().invoke(CLI, [str(a) for a in arguments], input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 1) or not result.stdout.lstrip().startswith("{"):
        said = [v for v in result.stderr.splitlines() if not v.startswith("note: ")]
        raise RefusedError(" ".join(said).removeprefix("error: ") or result.stdout)
    record = json.loads(result.stdout)
    return record, "\n".join([result.stderr, *map(str, record.get("notes", []))])


def told(notes: str) -> dict[str, Any]:
    """The roles that the notes of a command tell."""
    roles: dict[str, Any] = {}
    for line in re.findall(r"columns guessed: (.*)", notes):
        parts = re.split(r"(?:^|, )(\w+) = ", line)
        roles |= dict(zip(parts[1::2], parts[2::2], strict=True))
    for role, line in re.findall(r"(human scores|systems) guessed: ([^(\n]*)", notes):
        roles[role] = line.strip()
    for other, role in {"human scores": "human", "systems": "system", "score": "human",
                        "segment": "id"}.items():  # fmt: skip
        if other in roles:
            roles[role] = roles.pop(other)
    return columns(roles)


def columns(roles: dict[str, Any]) -> dict[str, Any]:
    """Roles with their columns in one form: a name, or for those that may have several, a tuple."""
    made: dict[str, Any] = {}
    for role in ROLES:
        if role not in roles:
            continue
        value = roles[role]
        if role in ("human", "metrics", "texts"):
            listed = re.split(r",\s*", value) if isinstance(value, str) else list(value or ())
            names = tuple(v.strip() for v in listed if v and v not in ("none", "not found"))
            made[role] = names or None
        else:
            made[role] = None if value in (None, "not found") else value.strip()
    return made


# ------------------------------------------------------------------- what each command shows


def _doctor(call: Call) -> Seen:
    record, _ = _examined(call)
    facts = record["facts"]

    def column(what: str) -> tuple[int, str | None]:
        if what not in facts:
            return 0, None
        number, name = re.match(r"([\d,]+) \(column ([^,)]*)", facts[what]).groups()  # type: ignore[union-attr]
        return int(number.replace(",", "")), name.strip()

    human = facts.get("human scores")
    metrics = facts.get("metrics")
    return Seen(
        rows=facts["rows"],
        n_documents=column("documents")[0],
        roles=columns({
            "id": column("segments")[1], "document": column("documents")[1],
            "system": column("systems")[1],
            "human": list(human) if isinstance(human, dict) else [],
            "metrics": list(metrics) if isinstance(metrics, dict) else [],
            "texts": facts.get("texts", []),
        }),
        notes=json.dumps(record, ensure_ascii=False),
    )  # fmt: skip


def _examined(call: Call) -> tuple[Any, str]:
    with contextlib.chdir(call.folder):
        result = CliRunner().invoke(CLI, ["doctor", call.file, "--json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    record = json.loads(result.stdout)
    if record["exit_code"] == 3:
        grave = [f for f in record["findings"] if f["severity"] == "error"]
        raise RefusedError(" / ".join(f"{f['what']} {f['where']} {f['do']}" for f in grave))
    return record, result.stderr


def _sheet(path: Path) -> pd.DataFrame:
    """A sheet of select, with every cell as it stands."""
    least = csv.field_size_limit(10**7)
    try:
        rows = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")))
    finally:  # it holds for the whole process, and the commands must do without
        csv.field_size_limit(least)
    return pd.DataFrame(rows[1:], columns=rows[0], dtype=object)


def _select(call: Call) -> Seen:
    several = call.variant == "two"
    record, notes = call.run(
        "select", call.file, "--budget", "100%", "--strategy", "random", "--seed", 1,
        "-o", "sheet.csv", *(["--shared"] if several else []),
    )  # fmt: skip
    sheet = _sheet(call.folder / "sheet.csv")
    ids = list(sheet["segment" if several else "id"])
    shown = "output" in sheet
    return Seen(
        rows=len(sheet),
        ids=frozenset(ids),
        documents=dict(zip(ids, sheet["document"], strict=True)) if "document" in sheet else None,
        roles=columns({k: v for k, v in record["columns"].items() if k != "human"}),
        text=call.text(ids, list(sheet["output"])) if shown else None,
        notes=notes,
    )


def _init(call: Call) -> Seen:
    record, notes = call.run("init", "begun", call.file, "--seed", 1)
    with Campaign(call.folder / "begun") as study:
        pool = study.pool
    ids = [str(i) for i in pool.ids.tolist()]
    documents = None if pool.documents is None else map(str, pool.documents.tolist())
    return Seen(
        rows=len(ids),
        ids=frozenset(ids),
        documents=None if documents is None else dict(zip(ids, documents, strict=True)),
        roles=columns({k: v for k, v in record["columns"].items() if k != "human"}),
        text=call.text(ids, list(map(str, pool.texts["output"])))
        if "output" in pool.texts
        else None,
        notes=notes,
    )


def _simulate(call: Call) -> Seen:
    record, notes = call.run(
        "simulate", call.file, "--draws", 2, "--budgets", "50%", "--strategies", "random+mean"
    )
    cells = record["cells"]
    total = sum(c["truth"] * c["size"] for c in cells)
    rows = sum(c["size"] for c in cells)
    return Seen(rows=rows, roles=told(notes), mean=total / rows, notes=notes)


def _plan(call: Call) -> Seen:
    record, notes = call.run(
        "plan", "--history", call.file, "--half-width", 0.5, "--draws", 20,
        "--strategies", "random+mean",
    )  # fmt: skip
    return Seen(rows=record["size"], roles=told(notes), notes=notes)


def _compare(call: Call) -> Seen:
    record, notes = call.run("compare", call.file)
    rows = sum(s["ratings"] for s in record["scores"])
    total = sum(s["score"] * s["ratings"] for s in record["scores"])
    roles = told(notes) | columns({"human": record["human"]})
    return Seen(rows=rows, roles=roles, mean=total / rows, notes=notes)


def _alpha(call: Call) -> Seen:
    record, notes = call.run("alpha", call.file, "--adequate", _cut(call))
    rows = sum(s["items"] for s in record["systems"])
    ones = sum(s["human"] * s["rated"] for s in record["systems"])
    roles = {k: v for k, v in told(notes).items() if k in ("human", "system")}
    rated = sum(s["rated"] for s in record["systems"])
    return Seen(rows=rows, roles=roles, share=ones / rated, notes=notes)


def _roc(call: Call) -> Seen:
    record, notes = call.run(
        "roc", call.file, "--human", call.name("human"), "--adequate", _cut(call)
    )
    parts = [r for r in record["rows"] if r["metric"] == record["rows"][0]["metric"]]
    # With several systems the first line is all of them together.
    parts = parts[:1] if len(parts) > 1 else parts
    metrics = list(dict.fromkeys(r["metric"] for r in record["rows"]))
    roles = told(notes) | columns({"metrics": metrics})
    # Rows that nobody rated are not counted.
    whole = call.odd.has("full human", call.variant)
    rows = parts[0]["n"] + parts[0]["gaps"] if whole else None
    return Seen(rows=rows, roles=roles, share=parts[0]["alpha"], notes=notes)


def _reliability(call: Call) -> Seen:
    record, notes = call.run("reliability", call.file, "--draws", 2, "--orders", 1, "--at", "1,2")
    rows = record["segments"] * len(record["systems"])
    roles = told(notes) | columns({"human": record["scores"]})
    return Seen(rows=rows, n_documents=record["documents"], roles=roles, notes=notes)


def _drawn(call: Call) -> Path:
    """A sheet for all segments of the table's content, written plainly."""
    return bench().sheet(call.odd, call.variant) / "sheet.csv"


def _estimate(call: Call) -> Seen:
    """The file is the rated sheet."""
    record, notes = call.run(
        "estimate", call.file, "--design", f"{_drawn(call)}.design.json",
        "--human", call.name("human"), "--id", call.name("id"),
    )  # fmt: skip
    return Seen(rows=record["n"], mean=record["value"], notes=notes)


def _estimate_pool(call: Call) -> Seen:
    """The file is the pool, whose digest must be that of the content."""
    record, notes = call.run("estimate", _drawn(call), "--human", "score", "--pool", call.file)
    return Seen(rows=record["pool_size"], notes=notes)


def _import(call: Call) -> Seen:
    shutil.copytree(bench().campaign(call.odd, call.variant), call.folder / "study")
    record, notes = call.run("import", "study", call.file)
    receipt = record["imports"][0]
    with Campaign(call.folder / "study") as study:
        came = study.answers()
    found = re.search(r"segments are named by '([^']*)', scores are in (.*?)\.(?:\n|$)", notes)
    roles = {} if found is None else {"id": found[1], "human": found[2].replace("'", "")}
    return Seen(
        rows=receipt["rows"] - receipt["context"],
        ids=frozenset(came["segment"]),
        roles=columns(roles),
        human=dict(zip(came["segment"], came["score"], strict=True)),
        notes=notes,
        rejected=" ".join(f"{r['place']}: {r['why']}" for r in receipt["refused"]),
    )


def _web(call: Call) -> Seen:
    client = bench().client
    sent = {"file": (call.path.name, call.path.read_bytes())}
    answer = client.post("/replay/upload", files=sent, follow_redirects=False)
    if answer.status_code != 303:
        assert answer.status_code == 400, answer.status_code
        trouble = re.search(r'role="alert"[^>]*>(.*?)</', answer.text, re.S)
        raise RefusedError(html.unescape(trouble[1] if trouble else answer.text).strip())
    page = client.get(answer.headers["location"]).text
    facts = {
        name: html.unescape(value)
        for name, value in re.findall(r"<div><dt>(.*?)</dt><dd[^>]*>(.*?)</dd></div>", page, re.S)
    }
    names = [html.unescape(v) for v in re.findall(r'<th scope="col">(.*?)</th>', page, re.S)]
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [
        [html.unescape(v) for v in re.findall(r"<td>(.*?)</td>", row, re.S)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.S)
    ]
    cells = [dict(zip(map(str.strip, names), row, strict=True)) for row in rows]
    return Seen(
        rows=int(facts["rows"]),
        roles=columns({
            "human": facts["human scores"], "system": facts["systems"], "id": facts["segments"],
            "document": facts["documents"], "metrics": facts["metrics"],
        }),
        text=cells[min(PROBE, len(cells) - 1)].get("output") if cells else None,
        notes=page,
    )  # fmt: skip


def _cut(call: Call) -> str:
    verdicts = set(call.odd.truth(call.variant)["human"]) <= {0.0, 1.0} if _plain(call) else False
    return ">=1" if verdicts else f">={CUT}"


def _plain(call: Call) -> bool:
    return "human" in call.odd.truth(call.variant)


@dataclass(frozen=True)
class Command:
    """How to find out what a command reads.

    Parameters
    ----------
    see
        Runs it and says what it read; an exception if it refused.
    reveals
        What it shows of a plain table, so that silence is noticed.
    needs
        What a table must have: unique ids, systems, human scores for every row, a document.
    variants
        Which variants of a table it is for.
    uses
        Whether it minds about ids and about human scores.
    stdin
        Whether it reads standard input.
    one_human
        Whether it takes a single column of human scores and asks if there are several.
    packed
        Whether it must read packed files; a server may refuse them if it says so, since they may
        unpack to any size.
    """

    see: Callable[[Call], Seen]
    reveals: str
    needs: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("one",)
    uses: tuple[str, ...] = ()
    stdin: bool = True
    one_human: bool = False
    packed: bool = True


_BOTH = ("one", "two")
_POOL = ("ids", "unique ids")
COMMANDS: dict[str, Command] = {
    "doctor": Command(
        _doctor, "rows n_documents id document human metrics texts", variants=_BOTH, uses=_POOL,
        stdin=False,
    ),
    "select": Command(
        _select, "rows ids documents id document metrics texts text", ("one row each",), _BOTH,
        _POOL,
    ),
    "init": Command(
        _init, "rows ids documents id document metrics texts text", ("unique ids",), uses=_POOL
    ),
    "simulate": Command(
        _simulate, "rows id document human metrics mean", ("full human", "rows", "unique ids"),
        uses=(*_POOL, "human"), one_human=True,
    ),
    "plan": Command(
        _plan, "rows id document human metrics", ("full human", "rows", "unique ids"),
        uses=(*_POOL, "human"), one_human=True,
    ),
    "compare": Command(
        _compare, "rows id document system human metrics mean", ("human", "systems"), ("two",),
        ("ids", "human"),
    ),
    "alpha": Command(
        _alpha, "rows human share", ("human", "rows"), uses=("human",), one_human=True
    ),
    "roc": Command(
        _roc, "rows metrics share", ("human", "metrics", "rows"), ("one",), ("human",),
        one_human=True,
    ),
    "reliability": Command(
        _reliability, "rows n_documents document human", ("full human", "document", "rows"), _BOTH,
        ("human",), one_human=True,
    ),
    "estimate": Command(
        _estimate, "rows mean", ("full human", "unique ids"), uses=(*_POOL, "human")
    ),
    "estimate --pool": Command(_estimate_pool, "rows", ("full human", "unique ids"), uses=_POOL),
    "import": Command(
        _import, "rows ids id human scores", ("human",), uses=("ids", "human")
    ),
    "web upload": Command(_web, "rows id document human metrics text", stdin=False, packed=False),
}  # fmt: skip


# ------------------------------------------------------------------------------ the bench


class Bench:
    """Folders to work in, and what is made once for all tables of the same content."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._numbers = count()
        self._made: dict[tuple[str, str], Path] = {}
        self.client = TestClient(
            create_app(), base_url="http://127.0.0.1", headers={"Origin": "http://127.0.0.1"}
        )
        self.client.get("/", params={"token": self.client.app.state.site.token})  # type: ignore[attr-defined]

    def folder(self) -> Path:
        made = self._root / str(next(self._numbers))
        made.mkdir()
        return made

    def _of(self, what: str, odd: Odd, variant: str, make: Callable[[Path], None]) -> Path:
        content = jsonl(self._rateable(odd, variant)).decode()
        what += " ".join(self._columns(odd, variant))
        if (what, content) not in self._made:
            place = self.folder()
            (place / "pool.jsonl").write_text(content, encoding="utf-8")
            make(place)
            self._made[what, content] = place
        return self._made[what, content]

    @staticmethod
    def _rateable(odd: Odd, variant: str) -> pd.DataFrame:
        """The content as a pool: every id once, and none that is empty."""
        frame = odd.truth(variant)
        return frame[~frame["id"].duplicated() & (frame["id"] != "")]

    def _columns(self, odd: Odd, variant: str) -> list[str]:
        roles = odd.expected_roles(variant)
        known = roles["metrics"] not in (None, ANY)
        metrics = ",".join(roles["metrics"]) if known else "none"
        return ["--id", roles["id"], "--document", roles["document"], "--metrics", metrics]

    def sheet(self, odd: Odd, variant: str) -> Path:
        """A rated sheet of all segments, and its design."""

        def make(place: Path) -> None:
            run(place, "select", "pool.jsonl", "--budget", "100%", "--strategy", "random",
                "--seed", 1, "-o", "sheet.csv", *self._columns(odd, variant), "--json")  # fmt: skip
            sheet = _sheet(place / "sheet.csv")
            human = _human(odd, variant)[0]
            frame = self._rateable(odd, variant)
            gold = dict(zip(frame["id"], frame[human], strict=True))
            sheet.assign(score=[gold[i] for i in sheet["id"]]).to_csv(
                place / "sheet.csv", index=False
            )

        return self._of("sheet", odd, variant, make)

    def campaign(self, odd: Odd, variant: str) -> Path:
        """A campaign in which all segments are to be rated."""

        def make(place: Path) -> None:
            run(place, "init", "study", "pool.jsonl", "--seed", 1, "--strategy", "random",
                *self._columns(odd, variant), "--json")  # fmt: skip
            run(place, "select", "study", "--budget", "100%", "-o", "tasks.jsonl", "--json")

        return self._of("campaign", odd, variant, make) / "study"


_bench: list[Bench] = []


def bench() -> Bench:
    return _bench[-1]


@pytest.fixture(scope="module", autouse=True)
def _one_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    _bench.append(Bench(tmp_path_factory.mktemp("matrix")))
    with _bench[-1].client:
        yield
    look.cache_clear()
    _bench.pop()


@functools.cache
def look(name: str, variant: str, command: str, stdin: bool = False) -> Seen | Refused | Exception:
    """What a command makes of a table; an exception that it should have caught is returned."""
    odd = TABLES[name]
    folder = bench().folder()
    path = odd.save(folder, variant)
    try:
        return COMMANDS[command].see(Call(odd, variant, folder, path, stdin))
    except RefusedError as error:
        return Refused(_anonymous(str(error), path))
    except Exception as error:
        return error


def _anonymous(sentence: str, path: Path) -> str:
    """A sentence that calls the file FILE, wherever it lies."""
    for name in (str(path), path.name, "'-'"):
        sentence = sentence.replace(f"'{name}'", "FILE").replace(name, "FILE")
    return " ".join(sentence.split()).rstrip(" .")


# ------------------------------------------------------------------------------- the tests


def applies(odd: Odd, variant: str, command: Command) -> bool:
    """Whether the table is one for the command, going by what it holds."""
    return variant in command.variants and all(odd.has(n, variant) for n in command.needs)


def must_refuse(odd: Odd, command: Command) -> bool:
    return bool(odd.refused) and (not odd.only or odd.only in command.uses)


def may_refuse(odd: Odd, command: Command) -> bool:
    """Whether a refusal with a reason of its own is as good as reading."""
    return (bool(odd.asked) and command.one_human) or (not command.packed and odd.packed)


CELLS = [
    (odd.name, variant, name)
    for odd in ODD
    for variant in odd.variants
    for name, command in COMMANDS.items()
    if applies(odd, variant, command)
]
CHOSEN = [
    (table, variant, name)
    for table, variant, name in CELLS
    if name == "doctor"
    or TABLES[table].only  # what becomes of these depends on the command
    or hashlib.sha256(f"{name} {table} {variant}".encode()).digest()[0] % 5 < 2
]
PIPED = [
    (odd.name, "two" if name == "compare" else "one", name)
    for odd in ODD
    for name, command in COMMANDS.items()
    if odd.stdin and command.stdin
]


def differs(odd: Odd, variant: str, name: str, found: Seen | Refused | Exception) -> list[str]:
    """How what a command made of a table differs from what is in it."""
    command = COMMANDS[name]
    if isinstance(found, Exception):
        return [f"crashed: {type(found).__name__}: {str(found)[:200]}"]
    if must_refuse(odd, command) and isinstance(found, Seen):
        if name == "import" and odd.rows_apart:
            return _apart(odd, variant, found)
        if not odd.agree:
            return [f"was read ({found.rows} rows) and should be refused: {odd.refused}"]
    if isinstance(found, Refused):
        if may_refuse(odd, command):
            wanted = odd.asked or ("gz|pack",)
        elif must_refuse(odd, command):
            wanted = odd.refused
        else:
            return [f"was refused: {found.sentence[:300]}"]
        unsaid = [w for w in wanted if not re.search(w, found.sentence)]
        return [f"the refusal does not say {w!r}: {found.sentence[:300]}" for w in unsaid]
    return [*_content(odd, variant, found), *_roles(odd, variant, found)]


def _apart(odd: Odd, variant: str, found: Seen) -> list[str]:
    """``import`` keeps the good rows as they are and says where the bad ones stand."""
    wrong = [f"rejected rows do not say {w!r}: {found.rejected[:300]}" for w in odd.refused
             if not re.search(w, found.rejected)]  # fmt: skip
    gold = _gold(odd, variant)
    off = {i: s for i, s in (found.human or {}).items() if gold.get(i) != s}
    if off and odd.only != "human":
        wrong.append(f"stored other scores than the file has: {off}")
    return wrong


def _content(odd: Odd, variant: str, found: Seen) -> list[str]:
    truth, wrong = odd.truth(variant), []
    if found.rows not in (None, len(truth)):
        wrong.append(f"{found.rows} rows instead of {len(truth)}")
    ids = frozenset(truth["id"] if found.human is None else _gold(odd, variant))
    if found.ids is not None and found.ids != ids:
        missing, more = sorted(ids - found.ids)[:4], sorted(found.ids - ids)[:4]
        wrong.append(f"ids: {missing} missing, {more} instead")
    documents = dict(zip(truth["id"], truth["document"], strict=True))
    if found.documents is not None and found.documents != documents:
        off = [d for d in found.documents.values() if d not in set(documents.values())]
        wrong.append(f"documents: {off[:3] or 'others'}")
    count_ = len(set(documents.values()))
    if found.n_documents not in (None, count_):
        wrong.append(f"{found.n_documents} documents instead of {count_}")
    if found.text is not None:
        # The page shows the beginning of a cell, and HTML has no NUL and no carriage return.
        full = truth["output"][min(PROBE, len(truth) - 1)]
        if found.text not in (full, full[:80]):
            wrong.append(f"text {found.text[:60]!r} instead of {full[:60]!r}")
    return wrong + _scores(odd, variant, found)


@functools.cache
def _rated(odd: Odd, variant: str) -> pd.Series[float]:
    """The human score of each row."""
    return odd.truth(variant)[list(_human(odd, variant))].astype(float).mean(axis=1)


def _gold(odd: Odd, variant: str) -> dict[str, float]:
    """The human score of each id that has one."""
    scores = _rated(odd, variant)
    return {i: s for i, s in zip(odd.truth(variant)["id"], scores, strict=True) if s == s}


def _scores(odd: Odd, variant: str, found: Seen) -> list[str]:
    truth, wrong = odd.truth(variant), []
    named, scores = _human(odd, variant), _rated(odd, variant).dropna()
    if found.mean is not None and found.mean != pytest.approx(scores.mean(), abs=1e-9):
        wrong.append(f"mean of human scores {found.mean} instead of {scores.mean()}")
    cut = 1 if set(scores) <= {0.0, 1.0} else CUT
    share = (scores >= cut).mean()
    if found.share is not None and found.share != pytest.approx(share, abs=1e-9):
        wrong.append(f"share of adequate outputs {found.share} instead of {share}")
    if found.human is not None and len(named) == 1 and truth["id"].is_unique:
        gold = _gold(odd, variant)
        off = {i: s for i, s in found.human.items() if gold.get(i) != s}
        if off or len(found.human) != len(gold):
            wrong.append(
                f"{len(found.human)} human scores, of which wrong: {dict([*off.items()][:3])}"
            )
    return wrong


def _roles(odd: Odd, variant: str, found: Seen) -> list[str]:
    roles = odd.expected_roles(variant)
    wrong = [
        f"{role} is {value} instead of {roles[role]}"
        for role, value in found.roles.items()
        if roles[role] not in (ANY, value)
    ]
    flat = " ".join(found.notes.split())
    wrong += [f"no note says {w!r}" for w in odd.notes if not re.search(w, flat)]
    if "metrics" in found.roles:
        wrong += [
            f"no note says why {name} is no metric ({why})"
            for name, why in odd.left_out.items()
            if not re.search(rf"\b{name}\b.{{0,60}}{why}|{why}.{{0,60}}\b{name}\b", flat)
        ]
        wrong += [
            f"no note says that {count} gaps of {name} are filled"
            for name, count in odd.filled.items()
            if not re.search(rf"\bgaps\b.*\b{name}\b\W+{count}\b.*|fill", flat)
        ]
    return wrong


_EACH = pytest.mark.parametrize(
    ("table", "variant"), [(odd.name, variant) for odd in ODD for variant in odd.variants]
)


@_EACH
def test_commands_read_what_is_in_the_table(table: str, variant: str) -> None:
    """And whatever is right, it is the same for all: what the doctor takes, every command takes."""
    _read(table, variant, [name for t, v, name in CHOSEN if (t, v) == (table, variant)])


@pytest.mark.slow
@_EACH
def test_every_command_reads_what_is_in_the_table(table: str, variant: str) -> None:
    _read(table, variant, [name for t, v, name in CELLS if (t, v) == (table, variant)])


def _read(table: str, variant: str, commands: list[str]) -> None:
    wrong = {c: differs(TABLES[table], variant, c, look(table, variant, c)) for c in commands}
    assert {c: said for c, said in wrong.items() if said} == {}
    _agree(table, variant, commands)


def _agree(table: str, variant: str, commands: list[str]) -> None:
    """The same rows, the same roles or the same refusal everywhere."""
    odd = TABLES[table]
    seen: dict[str, Seen] = {}
    refused: dict[str, str] = {}
    for name in commands:
        if may_refuse(odd, COMMANDS[name]):
            continue
        found = look(table, variant, name)
        if isinstance(found, Seen):
            seen[name] = found
        else:
            refused[name] = found.sentence if isinstance(found, Refused) else repr(found)
    minding = {n for n in seen if not odd.only or odd.only in COMMANDS[n].uses}
    if odd.rows_apart:
        minding -= {"import"}
    assert not (refused and minding), f"read by {sorted(minding)}, refused by {refused}"
    # What to do about ids and scores depends on the command; what is wrong with a file does not.
    words = {} if odd.only else {name: _words(said) for name, said in refused.items()}
    shortest = min(words, key=lambda n: len(words[n]), default=None)
    apart = {n: refused[n] for n in words if words[shortest] not in words[n]}  # type: ignore[index]
    assert not apart, f"{shortest} says {refused[shortest]!r}, but {apart}"  # type: ignore[index]
    for role in ROLES:
        values = {n: s.roles[role] for n, s in seen.items() if role in s.roles}
        if odd.only == role and odd.rows_apart:  # it says of each row what is wrong
            values.pop("import", None)
        assert len(set(values.values())) <= 1, f"{role}: {values}"
    for what in ("rows", "ids", "n_documents", "mean", "share"):
        shown = {n: getattr(s, what) for n, s in seen.items() if getattr(s, what) is not None}
        if odd.rows_apart or not odd.has("full human", variant):  # it stores rated rows alone
            shown.pop("import", None)
        first = next(iter(shown.values()), None)
        wanted = pytest.approx(first) if isinstance(first, float) else first
        assert all(v == wanted for v in shown.values()), f"{what}: {shown}"


def _words(sentence: str) -> str:
    return " ".join(re.findall(r"\w+", sentence.lower()))


@pytest.mark.parametrize(("table", "variant", "command"), quick(PIPED, slice(None, None, 2)))
def test_standard_input_is_read_like_the_file(table: str, variant: str, command: str) -> None:
    found = look(table, variant, command, stdin=True)
    assert differs(TABLES[table], variant, command, found) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_show_what_they_read(command: str) -> None:
    """Else the matrix would compare nothing with nothing."""
    variant = "two" if command == "compare" else "one"
    found = look("plain csv", variant, command)
    assert isinstance(found, Seen), found
    shown = {k for k in ("rows", "ids", "documents", "n_documents", "text", "mean", "share")
             if getattr(found, k) is not None}  # fmt: skip
    shown |= {k for k, v in found.roles.items() if v}
    shown |= {"scores"} if found.human else set()
    assert set(COMMANDS[command].reveals.split()) <= shown


def test_few_pairs_are_left_out() -> None:
    """A table is kept from a command only by what it does not hold."""
    possible = [
        (odd.name, v, n)
        for odd in ODD for v in odd.variants for n, c in COMMANDS.items() if v in c.variants
    ]  # fmt: skip
    left = set(possible) - set(CELLS)
    lacking = {"one row", "some human scores are missing", "two raters, a row each"}
    assert {name for name, _, _ in left} == lacking


def test_any_two_commands_meet_on_several_tables() -> None:
    """In the quick suite as well, and each reads a third of what it could at least."""
    every = {c: {(t, v) for t, v, name in CELLS if name == c} for c in COMMANDS}
    tables = {c: {(t, v) for t, v, name in CHOSEN if name == c} for c in COMMANDS}
    for c in COMMANDS:
        assert len(tables[c]) > len(every[c]) / 3, c
    for a, b in combinations(COMMANDS, 2):
        assert len(tables[a] & tables[b]) >= len(every[a] & every[b]) / 8, (a, b)
    assert {(t, v) for t, v, _ in CHOSEN} == {(t, v) for t, v, _ in CELLS}


# ------------------------------------------------------------------------- further formats


def test_the_mqm_file_is_read_by_import_and_known_to_doctor(tmp_path: Path) -> None:
    scores = mqm(tmp_path / "errors.tsv")
    mine = {k.partition(":")[2]: v for k, v in scores.items() if k.startswith("A:")}
    pool = pd.DataFrame({"id": list(mine), "comet": [k * 0.37 % 1 for k in range(len(mine))]})
    (tmp_path / "pool.jsonl").write_bytes(jsonl(pool.astype(object)))
    run(tmp_path, "init", "study", "pool.jsonl", "--only-system", "A", "--seed", 1,
        "--strategy", "random", "--json")  # fmt: skip
    run(tmp_path, "select", "study", "--budget", "100%", "-o", "tasks.jsonl", "--json")
    record, _ = run(tmp_path, "import", "study", "errors.tsv", "--json")
    assert record["imports"][0]["format"] == "mqm" and not record["imports"][0]["refused"]
    run(tmp_path, "export", "study", "--what", "ratings", "-o", "came.jsonl", "--json")
    came = [json.loads(v) for v in (tmp_path / "came.jsonl").read_text("utf-8").splitlines()]
    assert {r["pool_id"]: r["score"] for r in came} == mine
    found, _ = run(tmp_path, "doctor", "errors.tsv", "--json")
    assert found["exit_code"] in (0, 1) and "MQM" in found["title"]


def test_a_tree_of_mt_metrics_eval_is_read_by_init_and_known_to_doctor(tmp_path: Path) -> None:
    frame = tree(tmp_path / "wmt")
    record, _ = run(tmp_path, "init", "study", "wmt", "--seed", 1, "--json")
    assert record["pool_size"] == N
    with Campaign(tmp_path / "study") as study:
        pool = study.pool
    assert pool.ids.tolist() == list(frame["id"])
    assert pool.documents.tolist() == list(frame["document"])
    assert pool.texts["output"][PROBE] == frame["output"][PROBE]
    assert pool.metrics["comet-refA"].tolist() == list(frame["comet"])
    found, _ = run(tmp_path, "doctor", "wmt", "--json")
    assert found["exit_code"] in (0, 1) and "mt-metrics-eval" in found["title"]
