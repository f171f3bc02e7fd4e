"""Files of our own making: one that is fine, and many that are broken in one way each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd


def pool(n: int = 60, *, human: bool = False, systems: int = 1) -> pd.DataFrame:
    """A table with nothing wrong: a row a segment (and system)."""
    rng = np.random.default_rng(3)
    parts = []
    for k in range(systems):
        comet = rng.normal(0.1 * k, 1, n).round(4)
        frame = pd.DataFrame(
            {
                "id": [f"s{i:03d}" for i in range(n)],
                "document": [f"d{i // 5}" for i in range(n)],
                "source": [f"a text of {i % 7} words" for i in range(n)],
                "comet": comet,
                "bleu": (30 + 5 * comet + rng.normal(0, 6, n)).round(3),
            }
        )
        if systems > 1:
            frame.insert(1, "system", f"sys{k}")
        if human:
            frame["human"] = np.clip(np.round(3 + comet + rng.normal(0, 0.5, n)), 1, 5).astype(int)
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Broken:
    """A broken file, and what must be said about it: codes of findings and the exit code."""

    name: str
    make: Callable[[Path], None]
    codes: tuple[str, ...]
    exit_code: int
    says: str = ""
    file: str = "x.csv"


def _csv(frame: pd.DataFrame, **options: object) -> Callable[[Path], None]:
    return lambda path: frame.to_csv(path, index=False, **options)  # type: ignore[call-overload]


def _raw(text: str | bytes) -> Callable[[Path], None]:
    data = text if isinstance(text, bytes) else text.encode()
    return lambda path: (path.write_bytes(data), None)[1]


def _with(column: str, rows: dict[int, object], **options: bool) -> pd.DataFrame:
    frame = pool(**options).astype({column: object})  # type: ignore[arg-type]
    for row, value in rows.items():
        frame.loc[row, column] = value
    return frame


def _text(frame: pd.DataFrame, **options: object) -> str:
    return str(frame.to_csv(index=False, **options))  # type: ignore[call-overload]


def _assign(rated: bool = False, **columns: object) -> pd.DataFrame:
    return pool(human=rated).assign(**columns)  # type: ignore[arg-type]


BASE = pool()
RATED = pool(human=True)
LATIN = _assign(source="schön für Äpfel")
N = len(BASE)

BROKEN = [
    Broken("empty", _raw(""), ("empty",), 3, "empty"),
    Broken("header only", _raw("id,comet\n"), ("no-rows",), 3, "no rows"),
    Broken("binary rubbish", _raw(bytes(range(256)) * 8), ("binary",), 3, "neither text nor"),
    Broken("text called parquet", _csv(BASE), (), 0, "a table (CSV)", "x.parquet"),
    Broken("a line called parquet", _raw(b"hello there"), ("no-rows",), 3, "", "x.parquet"),
    Broken("damaged gzip", _raw(b"\x1f\x8b\x08\x00abc"), ("damaged-gzip",), 3, "", "x.csv.gz"),
    Broken("prose", _raw("Dear all,\nplease rate.\n"), ("not-a-table",), 3, "", "x.txt"),
    Broken("other JSON", _raw('{"a": [1, 2]}'), ("json",), 3, "", "x.json"),
    Broken("latin-1", _raw(_text(LATIN).encode("latin-1")), ("encoding",), 1,
           "read as Windows-1252"),
    Broken("utf-16", _raw(_text(LATIN).encode("utf-16")), ("encoding",), 1,
           "read as UTF-16"),
    Broken("no encoding at all", _raw(_text(LATIN).encode("latin-1") + b"\x81\n"), ("encoding",), 3,
           "line 2,"),
    Broken("tabs in .csv", _csv(BASE, sep="\t"), (), 0, "60 (column id)"),
    Broken("commas in .tsv", _csv(BASE), (), 0, "60 (column id)", "x.tsv"),
    Broken("bars", _csv(BASE, sep="|"), (), 0, "60 (column id)"),
    Broken("a line that names the separator", _raw("sep=|\n" + _text(BASE, sep="|")), (), 0,
           "60 (column id)"),
    Broken("a row too long", _raw(_text(BASE) + "a,b,c,0.5,1,2,3\n"), ("ragged",), 3,
           f"line {N + 2} has 7"),
    Broken("a row too short", _raw(_text(BASE) + "z1,d99\n"), ("ragged",), 3,
           f"line {N + 2} has 2"),
    Broken("no header", _csv(BASE, header=False), ("no-header",), 3, "column names"),
    Broken("header too short", _raw(_text(BASE).replace("id,document", "document", 1)),
           ("header-too-short",), 3, "wrong column"),
    Broken("two columns alike", _raw(_text(BASE).replace("comet,bleu", "comet,comet", 1)),
           ("duplicate-columns",), 3, "two columns are called 'comet'"),
    Broken("blanks around names", _raw(_text(BASE).replace(",comet", ", comet", 1)),
           ("spaces-in-names",), 0, "' comet'"),
    Broken("index column", BASE.to_csv, ("unnamed-column",), 0, "index=False"),
    Broken("empty column", _csv(_assign(remark="")), ("empty-columns",), 0, "remark"),
    Broken("no ids", _csv(BASE.drop(columns=["id", "source"])), ("no-ids",), 3, "--id"),
    Broken("ids missing", _csv(_with("id", {4: "", 7: ""})), ("missing-ids",), 3, "row 5, 8"),
    Broken("ids twice", _csv(_with("id", {4: "s001"})), ("duplicate-ids",), 3, "s001 (2 rows)"),
    Broken("rows twice", _csv(pd.concat([BASE, BASE.iloc[:3]])), ("duplicate-rows",), 3, "3 rows"),
    Broken("ids by document", _csv(_assign(id=[str(i % 5) for i in range(N)])),
           ("ids-by-document",), 3, "start again in each document"),
    Broken("scientific ids", _csv(_with("id", {0: "1.23E+15", 1: "1.24E+15"})),
           ("scientific-ids",), 3, "1.23E+15"),
    Broken("zeros lost", _csv(_assign(id=[f"{i:03d}" if i % 2 else str(i) for i in range(N)])),
           ("lost-zeros",), 1, "shorter"),
    Broken("leading zeros", _csv(_assign(id=[f"{i:03d}" for i in range(N)])),
           ("leading-zeros",), 0, "fewgold keeps them"),
    Broken("ids as dates", _csv(_with("id", {3: "04-Mar", 5: "05-Apr"})), ("date-ids",), 1,
           "04-Mar"),
    Broken("blanks around ids", _csv(_with("id", {3: " s003"})), ("spaces-in-ids",), 1, "' s003'"),
    Broken("gaps in a metric", _csv(_with("bleu", {9: ""})), ("filled-gaps",), 0, "row 10"),
    Broken("many gaps in a metric", _csv(_with("bleu", dict.fromkeys(range(9, 22), ""))),
           ("metric-gaps",), 1, "row 10"),
    Broken("constant metric", _csv(_assign(qe=0.5)), ("constant-metric",), 1, "qe"),
    Broken("copied metric", _csv(_assign(qe=BASE["comet"] * 2 + 1)), ("copied-metric",), 0,
           "qe of comet"),
    Broken("leak", _csv(_assign(rated=True, judge=RATED["human"] * 20.0)), ("leak",), 1,
           "“judge” is a copy of"),
    Broken("turned metric", _csv(_assign(rated=True, chrf=-RATED["comet"])), ("orientation",), 1,
           "chrf=-1"),
    Broken("decimal commas", _csv(_assign(bleu=[f"{k},5" for k in range(N)])),
           ("decimal-comma",), 0, "larger is better: comet, bleu"),
    Broken("decimal commas and points",
           _csv(_assign(bleu=[f"{k},5" if k % 2 else f"{k}.5" for k in range(N)])),
           ("decimal-comma",), 1, "Write 3.5 and not 3,5"),
    Broken("decimal commas of people",
           _csv(_assign(human=[f"{v % 5},5" for v in range(N)])), ("decimal-comma",), 0,
           "human: 0.5 to 4.5"),
    Broken("decimal commas and points of people",
           _csv(_assign(human=[f"{v % 5}{'.,'[v % 2]}5" for v in range(N)])), ("decimal-comma",), 3,
           "Write 3.5 and not 3,5"),
    Broken("commas that may be either", _csv(_assign(human=[f"1,{v:03d}" for v in range(N)])),
           ("thousands",), 3, "60 cells with commas between thousands"),
    Broken("thousands", _csv(_assign(bleu=[f"1,{k:03d}.5" for k in range(N)])), ("thousands",), 1,
           "1,000.5"),
    Broken("words among numbers", _csv(_with("bleu", {2: "good"})), ("mixed-types",), 1,
           "row 3: good"),
    Broken("None", _csv(_with("bleu", {2: "None", 5: "NaN"})), ("filled-gaps",), 0, "row 3, 6"),
    Broken("infinity", _csv(_with("bleu", {2: "inf"})), ("infinite",), 1, "row 3: inf"),
    Broken("percent", _csv(_assign(bleu=[f"{k}%" for k in range(N)])), ("percent",), 1, "0%"),
    Broken("spreadsheet errors", _csv(_with("bleu", {6: "#REF!"})), ("spreadsheet-error",), 1,
           "#REF!"),
    Broken("formulas", _csv(_with("source", {6: '=HYPERLINK("http://x")'})), ("formula",), 0,
           "apostrophe"),
    Broken("escaped", _csv(_assign(source="Tom &amp; Jerry")), ("html-escaped",), 1, "unescape"),
    Broken("scattered", _csv(BASE.sample(frac=1, random_state=1)), ("scattered-documents",), 0,
           "sort by document"),
    Broken("single segments", _csv(_assign(document=[f"d{i}" for i in range(N)])),
           ("single-segments",), 1, "only one segment"),
    Broken("one document", _csv(_assign(document="d")), ("one-document",), 1, "one document only"),
    Broken("giant document", _csv(_assign(document=["d"] * 45 + [f"d{i}" for i in range(N - 45)])),
           ("giant-document",), 1, "45 of 60"),
    Broken("few documents", _csv(_assign(document=[f"d{i // 20}" for i in range(N)])),
           ("few-documents",), 1, "only 3 documents"),
    Broken("tiny", _csv(pool(12)), ("tiny-pool", "few-documents"), 1, "rate them all"),
    Broken("outlier", _csv(_with("bleu", {8: -9999})), ("outliers",), 1, "row 9: -9999"),
    Broken("off the scale", _csv(_with("human", {8: 44}, human=True)), ("off-scale",), 1,
           "row 9: 44"),
    Broken("rare class", _csv(_assign(passed=[1] * (N - 1) + [0])), ("imbalance",), 1, "98.3%"),
    Broken("one score for all", _csv(_assign(human=3)), ("constant-human",), 1, "are 3"),
    Broken("ids as systems", _csv(_assign(system=[f"m{i}" for i in range(N)])), ("many-systems",),
           1, "60 different names"),
    Broken("systems missing", _csv(pool(systems=2).assign(system=["a"] * N + [""] * N)),
           ("missing-systems",), 3, "row 61"),
    Broken("bytes of a mark", _raw(b"\xef\xbb\xbf" + _text(BASE).encode()), ("byte-order-mark",),
           0, "Harmless"),
    Broken("line ends of Windows", _raw(_text(BASE, lineterminator="\r\n")), (), 0),
    Broken("semicolons", _csv(BASE, sep=";"), (), 0),
    Broken("title above", _raw("Ratings of May,,,,\n" + _text(BASE)), ("no-header",), 3,
           "1 of 5 columns"),
    Broken("remark above", _raw("# of May\n" + _text(BASE)), ("no-header",), 3, "remark above"),
    Broken("words for scores", _csv(_assign(rating=["fine", "poor"] * (N // 2))),
           ("human-words",), 1, "1 for good"),
    Broken("grades under another name", _csv(_assign(bewertung=[k % 5 for k in range(N)])),
           ("maybe-human",), 0, "--human bewertung"),
    Broken("decimal commas of three digits", _csv(_assign(bleu=["1,25", "1,125"] * (N // 2))),
           ("decimal-comma",), 0, "larger is better: comet, bleu"),
    Broken("open quote", _raw(_text(BASE).replace("a text of 1 words", '"a text', 1)),
           ("broken-quotes",), 3, "line 3 has broken quotes"),
    Broken("NUL", _raw(_text(BASE).replace("s002", "s0\x002", 1)), ("nul",), 3, "line 4"),
    Broken("broken quotes above", _raw(_text(BASE).replace("source", '"source', 1)),
           ("broken-quotes",), 3, "the header (line 1)"),
    Broken("verdicts", _csv(_assign(judge=["pass", "fail"] * (N // 2),
                                    human=["yes", "no", "n/a"] * (N // 3))),
           ("partly-rated",), 1, "human: 0 and 1, 50% ones"),
    Broken("bad JSON line", _raw('{"id": 1}\n{"id": \n'), ("json",), 3, "line 2 is not JSON",
           "x.jsonl"),
    Broken("design gone", _raw("id,document,source,score\na,d,t,\nb,d,t,3\n"),
           ("design-missing",), 3, "x.csv.design.json"),
    Broken("design damaged", _raw('{"schema": "fewgold.sample/1"}'), ("design-damaged",), 3, "",
           "x.csv.design.json"),
]  # fmt: skip
