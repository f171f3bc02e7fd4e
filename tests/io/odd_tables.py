"""Small tables written in all the odd ways that people's files are, and what they hold.

Each table is its content (`Odd.truth`: a frame of plain values), the way it is written, and what a
reader must do with it: read exactly that content with these roles, or refuse it in a sentence with
these words. The files are written with the standard library or pandas, never with fewgold.
"""

from __future__ import annotations

import csv
import functools
import gzip
import io
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

ANY = "(any)"  # a role on which commands need only agree
N = 60  # rows
N_DOCUMENTS = 11
PROBE = 2  # the row whose output is compared letter by letter; the web page shows the first five
#: Commas, semicolons, quotes, a line break and letters beyond ASCII, all of which cp1252 can hold.
RICH = 'Er sagte: "Größe 5; Preis 3,50 €", dann\nging er – “so” war’s.'
FLAT = 'Müller said "hi"; a 5" pipe, 3,50 € – “so”'


def base(variant: str = "one", probe: str = RICH) -> pd.DataFrame:
    """60 outputs in 11 documents: of one system, or (``two``) 30 segments of two systems each."""
    rng = random.Random(7)
    segments = N if variant == "one" else N // 2
    rows = []
    for k in range(N):
        segment = k % segments
        human = rng.randint(0, 10) / 2
        row = {
            "id": f"s{segment:02d}x",
            "document": f"doc {segment * N_DOCUMENTS // segments}",
            "system": "AB"[k // segments] if variant == "two" else "",
            "source": f"Eingabe {segment}, mit Komma",
            "output": f"Output number {k} is good; really",
            "comet": round(0.1 + human / 8 + rng.gauss(0, 0.2), 3),
            "bleu": round(20 + 3 * human + rng.gauss(0, 6), 2),
            "human": human,
        }
        rows.append(row)
    frame = pd.DataFrame(rows).astype(object)
    frame.loc[PROBE, "output"] = probe
    return frame if variant == "two" else frame.drop(columns="system")


# ---------------------------------------------------------------------- how files are written


def text(value: Any) -> str:
    """A value as one types it."""
    return "" if value is None else value if isinstance(value, str) else repr(value)


def lines(
    frame: pd.DataFrame, sep: str = ",", quoting: int = csv.QUOTE_MINIMAL, eol: str = "\n"
) -> str:
    """A frame as delimited text with quotes where needed."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep, quoting=quoting, lineterminator=eol)  # type: ignore[arg-type]
    writer.writerow(frame.columns)
    writer.writerows([[text(v) for v in row] for row in frame.to_numpy().tolist()])
    return out.getvalue()


def raw_tsv(frame: pd.DataFrame) -> bytes:
    """Tabs and no quoting at all, as the released MQM files are written."""
    rows = [list(frame.columns), *([text(v) for v in r] for r in frame.to_numpy().tolist())]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def csv_bytes(frame: pd.DataFrame) -> bytes:
    return lines(frame).encode()


def tsv_bytes(frame: pd.DataFrame) -> bytes:
    """As ``frame.to_csv(sep="\\t", index=False)``."""
    made: str = frame.to_csv(sep="\t", index=False)
    return made.encode()


def indexed(sep: str) -> Callable[[pd.DataFrame], bytes]:
    """As ``frame.to_csv(sep=…)`` with the index, which gives a first column without a name."""
    return lambda frame: str(frame.to_csv(sep=sep)).encode()


def separated(sep: str, first: str = "") -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: (first + lines(frame, sep)).encode()


def encoded(encoding: str, mark: bytes = b"") -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: mark + lines(frame).encode(encoding)


def ended(eol: str) -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: lines(frame, eol=eol).encode()


def decimal_commas(frame: pd.DataFrame) -> pd.DataFrame:
    return _mapped(frame, ("comet", "bleu", "human"), lambda v: text(v).replace(".", ","))


def _mapped(frame: pd.DataFrame, names: tuple[str, ...], way: Callable[[Any], Any]) -> pd.DataFrame:
    return frame.assign(**{n: _objects([way(v) for v in frame[n]]) for n in names})


def _objects(values: list[Any]) -> pd.Series[Any]:
    """Values as they are: pandas would make NaN of None among numbers."""
    return pd.Series(values, dtype=object)


def shown(
    name: str, way: Callable[[Any], Any], write: Callable[[pd.DataFrame], bytes] = csv_bytes
) -> Callable[[pd.DataFrame], bytes]:
    """Written with the cells of a column in another form."""
    return lambda frame: write(_mapped(frame, (name,), way))


def on_lines(change: Callable[[list[str]], list[str]]) -> Callable[[pd.DataFrame], bytes]:
    """CSV whose physical lines are changed after writing."""
    return lambda frame: "".join(change(lines(frame).splitlines(keepends=True))).encode()


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.to_numpy().tolist()]


def jsonl(frame: pd.DataFrame) -> bytes:
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records(frame)).encode()


def jsonl_without_gaps(frame: pd.DataFrame) -> bytes:
    """A key that has no value is not there."""
    kept = [{k: v for k, v in r.items() if v is not None} for r in records(frame)]
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in kept).encode()


def json_array(frame: pd.DataFrame) -> bytes:
    return json.dumps(records(frame), ensure_ascii=False, indent=1).encode()


def packed(write: Callable[[pd.DataFrame], bytes]) -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: gzip.compress(write(frame), mtime=0)


def xlsx(
    frame: pd.DataFrame, way: Callable[[Any], Any] = lambda v: v, second: bool = False
) -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.append(list(frame.columns))
    for row in frame.to_numpy().tolist():
        sheet.append([way(v) for v in row])
    if second:
        other = book.create_sheet("Notes")
        other.append(["id", "remark"])
        other.append(["s00x", "look here"])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def parquet(frame: pd.DataFrame, types: Mapping[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    plain = frame.infer_objects().astype(dict(types or {}))
    plain.to_parquet(out, index=False)
    return out.getvalue()


# ------------------------------------------------------------------------------- the tables


@dataclass(frozen=True, eq=False)
class Odd:
    """A table and what must become of it.

    Parameters
    ----------
    write
        The bytes of the file from the table.
    file
        Its name.
    change
        What its content is, from the plain one.
    probe
        The text of the row `PROBE`.
    variants
        ``one``: a row for each segment; ``two``: two systems, whose ids repeat.
    roles
        Roles that differ from those of the plain table; None for a role that no column has, `ANY`
        where it is enough that all commands agree.
    left_out
        Columns that are no metrics, and what the notes must say beside their names.
    filled
        Metrics with gaps, and how many the notes must say are filled.
    notes
        What the notes must say (regular expressions).
    refused
        What the refusal must say (regular expressions); none if the table is to be read.
    only
        A refusal of those commands only that use ``ids``, ``unique ids`` or the ``human`` scores.
    rows_apart
        ``import`` sets aside the bad row and keeps the others.
    agree
        It may be read or refused, by all commands alike.
    asked
        Commands that take one column of scores may ask which one, naming these.
    stdin
        Also read from standard input.
    """

    name: str
    write: Callable[[pd.DataFrame], bytes] = csv_bytes
    file: str = "table.csv"
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame
    probe: str = RICH
    variants: tuple[str, ...] = ("one", "two")
    roles: Mapping[str, Any] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    filled: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    only: str = ""
    rows_apart: bool = False
    agree: bool = False
    asked: tuple[str, ...] = ()
    stdin: bool = False

    @functools.cache  # noqa: B019 - there are a hundred, and they stay
    def truth(self, variant: str) -> pd.DataFrame:
        """The content: one row for each row of the file."""
        return self.change(base(variant, self.probe))

    @functools.cache  # noqa: B019
    def content(self, variant: str) -> bytes:
        """The file."""
        return self.write(self.truth(variant))

    def save(self, folder: Path, variant: str) -> Path:
        """Write the file."""
        path = folder / self.file
        path.write_bytes(self.content(variant))
        return path

    @property
    def packed(self) -> bool:
        """Whether the file is compressed."""
        return self.content("one")[:2] == b"\x1f\x8b"

    def expected_roles(self, variant: str) -> dict[str, Any]:
        """Which columns are what."""
        roles: dict[str, Any] = {
            "id": "id",
            "document": "document",
            "system": "system" if variant == "two" else None,
            "human": ("human",),
            "metrics": ("comet", "bleu"),
            "texts": ("source", "output"),
        }
        return roles | dict(self.roles)

    @functools.cache  # noqa: B019
    def has(self, need: str, variant: str) -> bool:
        """Whether the table has what a command needs, going by its content."""
        frame, roles = self.truth(variant), self.expected_roles(variant)
        if need == "rows":
            return len(frame) > 1
        if need == "systems":
            return roles["system"] is not None and frame[roles["system"]].nunique() > 1
        if need == "unique ids":
            return self.only == "unique ids" or frame[roles["id"]].is_unique
        if need == "one row each":
            keys = [roles["id"], *([roles["system"]] if roles["system"] else [])]
            return self.only == "unique ids" or not frame.duplicated(keys).any()
        if need == "full human":
            return self.only == "human" or bool(frame[list(roles["human"])].notna().all(axis=None))
        found: Any = roles[need]
        return bool(found)


def _ids(way: Callable[[int], str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Other ids, the same for the outputs of one segment."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        places = {old: k for k, old in enumerate(dict.fromkeys(frame["id"]))}
        return frame.assign(id=[way(places[i]) for i in frame["id"]])

    return change


def _some_ids(named: list[str]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return _ids(lambda k: named[k] if k < len(named) else f"s{k:02d}x")


def _cells(name: str, values: Mapping[int, Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Other values in some rows of a column."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        cells = [values.get(k, v) for k, v in enumerate(frame[name])]
        return frame.assign(**{name: _objects(cells)})

    return change


def _verdicts(name: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    middle = {"comet": 0.4, "human": 2.5}[name]
    return lambda frame: frame.assign(**{name: [1.0 if v >= middle else 0.0 for v in frame[name]]})


def _said(yes: str, no: str) -> Callable[[Any], str]:
    return lambda v: yes if v else no


def _insert(place: int, line: str) -> Callable[[list[str]], list[str]]:
    return lambda all_lines: [*all_lines[:place], line, *all_lines[place:]]


def _edit(number: int, way: Callable[[str], str]) -> Callable[[list[str]], list[str]]:
    """Change a physical line; the first is line 1."""
    return lambda all_lines: [way(v) if k == number - 1 else v for k, v in enumerate(all_lines)]


def _ends_with(tail: str, header: bool = True) -> Callable[[list[str]], list[str]]:
    return lambda all_lines: [
        v if k == 0 and not header else v.rstrip("\n") + tail + "\n"
        for k, v in enumerate(all_lines)
    ]


def _spaced(frame: pd.DataFrame) -> bytes:
    return csv_bytes(frame.set_axis([f" {c} " for c in frame.columns], axis=1))


def _wide(frame: pd.DataFrame) -> pd.DataFrame:
    """Two raters, a column each, who do not agree."""
    second = [min(v + 0.5 * (k % 3), 5.0) for k, v in enumerate(frame["human"])]
    return frame.rename(columns={"human": "rater1"}).assign(rater2=second)


def _long(frame: pd.DataFrame) -> pd.DataFrame:
    """Two raters, a row each."""
    again = frame.assign(human=[5.0 - v for v in frame["human"]])
    both = pd.concat([frame.assign(rater="ann"), again.assign(rater="bob")], ignore_index=True)
    return both


GAPS = dict.fromkeys((4, 17, 30, 55))
_COMMAS = ("comma",)
_UTF16 = ("UTF-?16",)
_CP1252 = ("(?i)cp-?1252|windows-1252",)
_LATIN = 'Über Größe: "naïve", 5; ça va'
_LONG = "long text " * 20_000
LINE = 17  # of what is broken

ODD: tuple[Odd, ...] = (
    Odd("plain csv", stdin=True),
    # Separators
    Odd("tsv of pandas", tsv_bytes, "table.tsv", stdin=True),
    Odd("tsv of pandas with index", indexed("\t"), "table.tsv"),
    Odd("csv of pandas with index", indexed(",")),
    Odd("tsv without quoting", raw_tsv, "table.tsv", probe=FLAT),
    Odd("tsv with a lone quote in front", raw_tsv, "table.tsv", probe='"So what, he said'),
    Odd("semicolons", separated(";"), stdin=True),
    Odd(
        "semicolons and decimal commas",
        lambda f: lines(decimal_commas(f), ";").encode(),
        notes=_COMMAS,
        stdin=True,
    ),
    Odd("commas and decimal commas", lambda f: csv_bytes(decimal_commas(f)), notes=_COMMAS),
    Odd("tabs in .csv", separated("\t")),
    Odd("commas in .tsv", csv_bytes, "table.tsv"),
    Odd("bars", separated("|")),
    Odd("sep=; line", separated(";", "sep=;\n")),
    Odd("sep=, line", separated(",", "sep=,\r\n")),
    # Encodings
    Odd("utf-8 mark", encoded("utf-8-sig"), stdin=True),
    Odd("utf-16 le mark", encoded("utf-16-le", b"\xff\xfe"), notes=_UTF16),
    Odd("utf-16 be mark", encoded("utf-16-be", b"\xfe\xff"), notes=_UTF16),
    Odd("utf-16 le no mark", encoded("utf-16-le"), notes=_UTF16),
    Odd("utf-16 be no mark", encoded("utf-16-be"), notes=_UTF16),
    Odd(
        "utf-16 tsv of a spreadsheet",
        lambda f: b"\xff\xfe" + lines(f, "\t", eol="\r\n").encode("utf-16-le"),
        "table.txt",
        notes=_UTF16,
    ),
    Odd("cp1252", encoded("cp1252"), notes=_CP1252),
    Odd(
        "cp1252 of a spreadsheet",
        lambda f: lines(decimal_commas(f), ";", eol="\r\n").encode("cp1252"),
        notes=(*_CP1252, *_COMMAS),
    ),
    Odd("latin-1", encoded("latin-1"), probe=_LATIN, notes=_CP1252),
    # Lines
    Odd("crlf", ended("\r\n"), stdin=True),
    Odd("lone cr", ended("\r"), probe=FLAT),
    Odd("blank lines at the end", lambda f: csv_bytes(f) + b"\n\n\n"),
    Odd("blank line in the middle", on_lines(_insert(20, "\n"))),
    Odd("rows of nothing but commas", lambda f: csv_bytes(f) + b"," * (f.shape[1] - 1) + b"\n"),
    Odd("no line end at the end", lambda f: csv_bytes(f).rstrip(b"\n")),
    Odd("a comma after every row", on_lines(_ends_with(",")), probe=FLAT),
    Odd(
        "a comma after every row but the header",
        on_lines(_ends_with(",", header=False)),
        probe=FLAT,
        refused=(r"cells",),
        agree=True,
        variants=("one",),
    ),
    # Headers
    Odd("spaces around names", _spaced),
    Odd("everything in quotes", lambda f: lines(f, quoting=csv.QUOTE_ALL).encode()),
    Odd(
        "two columns of one name",
        lambda f: csv_bytes(f.rename(columns={"bleu": "comet"})),
        refused=(r"comet", r"two columns|twice"),
    ),
    # Ids and documents
    Odd("leading zeros", change=_ids(lambda k: f"{k:03d}")),
    Odd("leading zeros in a workbook", xlsx, "table.xlsx", change=_ids(lambda k: f"{k:03d}")),
    Odd("ids like floats", change=_ids(lambda k: f"{k // 2}.1{'0' * (k % 2)}")),
    Odd("ids like dates", change=_ids(lambda k: f"{k % 12 + 1}/{k // 12 + 1}/2024")),
    Odd("ids like exponents", change=_ids(lambda k: f"{k}E5")),
    Odd("ids like gaps", change=_some_ids(["NA", "null", "None", "nan", "NaN", "N/A", "<NA>"])),
    Odd(
        "ids like gaps in jsonl",
        jsonl,
        "table.jsonl",
        change=_some_ids(["NA", "null", "None", "nan", "NaN", "N/A", "<NA>"]),
    ),
    Odd(
        "ids like truth values", change=_some_ids(["True", "False"]), variants=("one",)
    ),
    Odd(
        "whole numbers as ids in a workbook",
        lambda f: xlsx(f.assign(id=[int(i) for i in f["id"]])),
        "table.xlsx",
        change=_ids(lambda k: str(k * 7 + 100)),
    ),
    Odd(
        "an empty id",
        change=_cells("id", {9: ""}),
        refused=(r"\bid\b|\bids\b",),
        only="ids",
        rows_apart=True,
        variants=("one",),
    ),
    Odd(
        "an id twice",
        change=_cells("id", {9: "s03x"}),
        refused=(r"s03x",),
        only="unique ids",
        variants=("one",),
    ),
    Odd("a document called NA", change=lambda f: f.assign(
        document=["NA" if d == "doc 0" else "null" if d == "doc 1" else d for d in f["document"]]
    )),
    # Numbers
    Odd(
        "a metric with gaps",
        change=_cells("bleu", GAPS),
        filled={"bleu": 4},
    ),
    Odd(
        "a metric with words for gaps",
        shown("bleu", lambda v: "NaN" if v is None else v),
        change=_cells("bleu", GAPS),
        filled={"bleu": 4},
    ),
    Odd(
        "a metric with NA, None and null",
        lambda f: csv_bytes(f.assign(bleu=[
            ("NA", "None", "null")[k % 3] if v is None else v for k, v in enumerate(f["bleu"])
        ])),
        change=_cells("bleu", GAPS),
        filled={"bleu": 4},
    ),
    Odd(
        "thousands with points",
        shown("bleu", lambda v: f"{v * 100:,.1f}"),
        roles={"metrics": ("comet",)},
        left_out={"bleu": ""},
    ),
    Odd(
        "thousands or decimal commas",
        shown("bleu", lambda v: f"{round(v * 10) % 9 + 1},{round(v * 100) % 900 + 100}"),
        roles={"metrics": ("comet",)},
        left_out={"bleu": ""},
    ),
    Odd(
        "points and decimal commas in one column",
        lambda f: csv_bytes(f.assign(bleu=[
            text(v).replace(".", ",") if k % 2 else v for k, v in enumerate(f["bleu"])
        ])),
        roles={"metrics": ("comet",)},
        left_out={"bleu": ""},
    ),
    Odd(
        "some human scores are missing",
        change=_cells("human", dict.fromkeys((0, 13, 14, 41))),
        variants=("one",),
    ),
    Odd("human scores true and false", shown("human", _said("True", "False")),
        change=_verdicts("human")),
    Odd("human scores yes and no", shown("human", _said("yes", "no")), change=_verdicts("human")),
    Odd("human scores pass and fail", shown("human", _said("Pass", "FAIL")),
        change=_verdicts("human")),
    Odd("a judge who says yes and no", shown("comet", _said("Yes", "No")),
        change=_verdicts("comet")),
    Odd("verdicts in jsonl", shown("human", bool, jsonl), "table.jsonl",
        change=_verdicts("human")),
    Odd(
        "human scores in words",
        shown("human", lambda v: "fine" if v > 2 else "poor" if v < 1 else "so-so"),
        roles={"human": ANY},
        refused=("number",),
        only="human",
        rows_apart=True,
    ),
    # Texts
    Odd("a line separator in a text", probe="one\u2028two\u2029three\x85four"),
    Odd("a line separator in jsonl", jsonl, "table.jsonl", probe="one\u2028two\x85three"),
    Odd("a nul byte in a text", probe="one\x00two", refused=("NUL character",), rows_apart=True),
    Odd("a cell of 200 kB", probe=_LONG, variants=("one",)),
    Odd("a text like a formula", probe='=HYPERLINK("http://example.org")'),
    Odd("a text of several lines", probe="first\n\n\nlast, with a comma\r\nand an end"),
    # Broken rows
    Odd(
        "a row with too few cells",
        on_lines(_edit(LINE, lambda v: v[: v.rindex(",")] + "\n")),
        probe=FLAT, refused=(rf"line {LINE}\b",), rows_apart=True,
    ),
    Odd(
        "a row with too many cells",
        on_lines(_edit(LINE, lambda v: v.rstrip("\n") + ",more\n")),
        probe=FLAT, refused=(rf"line {LINE}\b",), rows_apart=True,
    ),
    Odd(
        "too many cells after a text of two lines",
        on_lines(_edit(LINE, lambda v: v.rstrip("\n") + ",more\n")),
        refused=(rf"line {LINE}\b",), rows_apart=True,
    ),
    Odd(
        "a row with too few cells in tsv",
        lambda f: b"\n".join(
            v.rpartition(b"\t")[0] if k == LINE - 1 else v
            for k, v in enumerate(raw_tsv(f).split(b"\n"))
        ),
        "table.tsv", probe=FLAT, refused=(rf"line {LINE}\b",), rows_apart=True,
    ),
    Odd(
        "a quote that does not end",
        on_lines(_edit(LINE, lambda v: v.replace("Output", '"Output'))),
        probe=FLAT, refused=(rf"line {LINE}\b", "quot"), rows_apart=True,
    ),
    Odd("a header only", lambda f: lines(f).partition("\n")[0].encode() + b"\n",
        refused=("no rows",), variants=("one",)),
    Odd("an empty file", lambda f: b"", refused=("empty",), variants=("one",)),
    Odd("one row", change=lambda f: f.iloc[[PROBE]].reset_index(drop=True),
        roles={"metrics": ANY}, variants=("one",)),
    # JSON
    Odd("jsonl", jsonl, "table.jsonl"),
    Odd("jsonl without some keys", jsonl_without_gaps, "table.jsonl",
        change=_cells("bleu", GAPS), filled={"bleu": 4}),
    Odd("a json array", json_array, "table.json"),
    Odd("a json array in .jsonl", json_array, "table.jsonl"),
    Odd("json lines in .json", jsonl, "table.json"),
    Odd("a broken line of jsonl", lambda f: b"\n".join(
        v[:-5] if k == LINE - 1 else v for k, v in enumerate(jsonl(f).split(b"\n"))
    ), "table.jsonl", refused=(rf"line {LINE}\b",), rows_apart=True),
    # Packed and binary
    Odd("packed csv", packed(csv_bytes), "table.csv.gz"),
    Odd("packed tsv", packed(tsv_bytes), "table.tsv.gz"),
    Odd("packed jsonl", packed(jsonl), "table.jsonl.gz"),
    Odd("a workbook", xlsx, "table.xlsx"),
    Odd("a workbook with numbers as text", lambda f: xlsx(f, text), "table.xlsx"),
    Odd("a workbook with a second sheet", lambda f: xlsx(f, second=True), "table.xlsx"),
    Odd("parquet", parquet, "table.parquet"),
    Odd(
        "parquet with nullable numbers and categories",
        lambda f: parquet(f, {"human": "Int64", "document": "category", "bleu": "Float64"}),
        "table.parquet",
        change=lambda f: f.assign(human=[float(int(v)) for v in f["human"]]),
    ),
    Odd(
        "parquet with whole numbers as ids",
        lambda f: parquet(f.assign(id=[int(i) for i in f["id"]])),
        "table.parquet",
        change=_ids(lambda k: str(k * 7 + 100)),
    ),
    # Names that do not tell
    Odd("csv in .txt", csv_bytes, "table.txt"),
    Odd("tsv in .txt", tsv_bytes, "table.txt"),
    Odd("csv without a suffix", csv_bytes, "nosuffix"),
    Odd("a workbook in .csv", xlsx, "table.csv"),
    Odd("parquet in .csv", parquet, "table.csv"),
    Odd("jsonl in .csv", jsonl, "table.csv"),
    Odd("packed csv in .csv", packed(csv_bytes), "table.csv"),
    # Systems and raters; two systems are the second variant of every table
    Odd("one system", change=lambda f: f.assign(system="A"), roles={"system": "system"},
        variants=("one",)),
    Odd(
        "two raters, a column each",
        change=_wide,
        roles={"human": ("rater1", "rater2")},
        asked=("rater1", "rater2"),
    ),
    Odd("two raters, a row each", change=_long, variants=("one",)),
)  # fmt: skip

MQM = "\t".join(
    ["system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity"]
)


def mqm(path: Path) -> dict[str, float]:
    """Errors of two systems as the released MQM files list them; the score of each output.

    A row is an error, quotes stand as they are, and nothing is quoted: major errors count 5, minor
    ones 1, and outputs without an error have a row that says so.
    """
    said = ('He said "hi"', 'a 5" pipe', '"Open', "plain")
    rows, scores = [MQM], {}
    for k in range(12):
        for j, system in enumerate(("A", "B")):
            found = ["Major", "Minor"][: (k + j) % 3] or ["No-error"]
            for severity in found:
                kind = "No-error" if severity == "No-error" else "Accuracy/Mistranslation"
                rows.append("\t".join([
                    system, f"talk{k // 4}", f"{k // 4}", str(k + 1), "rater1", said[k % 4],
                    f"Ausgabe {k} <v>{said[k % 4]}</v>", kind, severity,
                ]))  # fmt: skip
            points = {"Major": 5.0, "Minor": 1.0, "No-error": 0.0}
            scores[f"{system}:{k + 1}"] = sum(points[s] for s in found)
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return scores


def tree(folder: Path) -> pd.DataFrame:
    """A small mt-metrics-eval tree of one system, and the table that it stands for."""
    frame = base("one", FLAT).assign(id=[str(k + 1) for k in range(N)])
    frame["document"] = [d.replace(" ", "-") for d in frame["document"]]

    def put(place: str, rows: list[str]) -> None:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    put("sources/en-de.txt", list(frame["source"]))
    put("documents/en-de.docs", [f"news\t{d}" for d in frame["document"]])
    put("references/en-de.refA.txt", [f"reference {k}" for k in range(N)])
    put("system-outputs/en-de/A.txt", list(frame["output"]))
    put("metric-scores/en-de/comet-refA.seg.score", [f"A\t{v!r}" for v in frame["comet"]])
    put("human-scores/en-de.mqm.seg.score", [f"A\t{v!r}" for v in frame["human"]])
    return frame
