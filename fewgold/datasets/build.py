"""Tables of real human ratings, made from clones of the public repositories that publish them.

Nothing is downloaded, and fewgold includes none of the data. Columns whose files are missing are
left out and listed; every other column is compared with a stored checksum.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, FewgoldError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

#: Repositories by folder name, and where they are published.
REPOSITORIES = {
    "wmt-mqm-human-evaluation": "https://github.com/google/wmt-mqm-human-evaluation",
    "wmt20-metrics": "https://github.com/WMT-Metrics-task/wmt20-metrics",
    "UA_COMET": "https://github.com/deep-spin/UA_COMET",
    "billboard": "https://github.com/jungokasai/billboard",
    "frank": "https://github.com/artidoro/frank",
    "UniEval": "https://github.com/maszhongming/UniEval",
}
_EXPECTED = Path(__file__).with_name("expected.json")


@dataclass(frozen=True)
class Clones:
    """Clones of the repositories in one folder, each in a folder with the repository's name."""

    folder: Path

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise DataError(
                f"there is no folder {str(self.folder)!r}. Clone the repositories into one folder "
                f"and name that: {', '.join(REPOSITORIES)}."
            )
        if not any((self.folder / name).is_dir() for name in REPOSITORIES):
            raise DataError(
                f"{str(self.folder)!r} holds none of the repositories {', '.join(REPOSITORIES)}. "
                "Clone them into it, for example: git clone "
                f"{REPOSITORIES['frank']} {self.folder / 'frank'}."
            )

    def find(self, repository: str, path: str) -> Path:
        """A file of a repository; raises `_MissingError` if it is missing."""
        root = self.folder / repository
        found = root / path
        if not root.is_dir():
            raise _MissingError(f"repository {repository} ({REPOSITORIES[repository]})")
        if not found.is_file():
            raise _MissingError(f"file {repository}/{path}")
        return found

    @property
    def absent(self) -> list[str]:
        """Repositories that are missing."""
        return [name for name in REPOSITORIES if not (self.folder / name).is_dir()]


class _MissingError(Exception):
    """A repository or a file is missing."""


@dataclass(frozen=True, eq=False)
class Built:
    """One table that was made.

    ``verified`` columns are as expected and ``different`` ones are not; ``unchecked`` ones have no
    checksum. ``missing`` says for each omitted column what it lacks.
    """

    name: str
    rows: int
    verified: tuple[str, ...]
    different: tuple[str, ...]
    unchecked: tuple[str, ...]
    missing: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "table": self.name, "rows": self.rows, "verified": list(self.verified),
            "different": list(self.different), "unchecked": list(self.unchecked),
            "missing": dict(self.missing),
        }  # fmt: skip


#: Creates the cells of some columns, by the keys of the rows.
_Maker = Callable[[], Mapping[Any, tuple[Any, ...]]]


@dataclass
class _Draft:
    """A table under construction: its rows, and the columns that cannot be made."""

    frame: pd.DataFrame
    keys: list[str]
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, columns: Iterable[str], make: _Maker) -> None:
        """Join columns by the keys of the rows, or record what is missing."""
        import pandas as pd

        names = list(columns)
        try:
            found = make()
        except _MissingError as error:
            self.missing.update(dict.fromkeys(names, str(error)))
            return
        where = self.frame[self.keys].itertuples(index=False, name=None)
        none = (None,) * len(names)
        values = [found.get(key, none) for key in where]
        made = pd.DataFrame(values, columns=names, index=self.frame.index)
        if made.isna().all(axis=None):
            self.missing.update(dict.fromkeys(names, "a file with scores of these segments"))
            return
        self.frame = pd.concat([self.frame, made], axis=1)


# WMT20 --------------------------------------------------------------------------------------------

#: Language pair of a table: our short name, that of WMT, and of UA_COMET.
_PAIRS = {"ende": ("en-de", "en_de"), "zhen": ("zh-en", "zh_en")}
_SUBMITTED = {
    "ende": {
        "baselines": ("TER", "chrF"),
        "submissions": ("YiSi-2", "Yisi-combi", "bleurt-combi", "parbleu", "parchrf++"),
    },
    "zhen": {
        "baselines": ("TER", "chrF"),
        "submissions": (
            "BAQ_dyn", "BAQ_static", "EQ_dyn", "EQ_static", "SWSS+METEOR", "YiSi-2", "parbleu",
            "parchrf++",
        ),
    },
}  # fmt: skip
_REFSET = {("zhen", "EQ_dyn"): "newstestB2020", ("zhen", "EQ_static"): "newstestB2020"}
_BILLBOARD = {
    "ende": (
        "BERTScore", "CharacTER", "MoverScore", "Prism-ref", "Prism-src", "SentBLEU", "TER", "chrF",
        "chrFpp", "wmt20-comet-da",
    ),
    "zhen": (
        "BERTScore", "BLEURT", "CharacTER", "METEOR", "MoverScore", "Prism-ref", "Prism-src",
        "ROUGE-3", "ROUGE-L", "SentBLEU", "TER", "chrF", "chrFpp", "wmt20-comet-da",
    ),
}  # fmt: skip
_REFERENCE = "Human-A"  # reference of the metrics; left out as a system


def _wmt20(clones: Clones, pair: str) -> _Draft:
    import pandas as pd

    wmt, ua = _PAIRS[pair]
    scores = _average_scores(clones, f"newstest2020/{pair}/mqm_newstest2020_{pair}")
    places = _places(clones, wmt)
    rows = [
        (wmt, system, int(system.startswith("Human")), *places[seg], seg, -value)
        for (system, seg), value in scores.items()
        if not system.startswith(_REFERENCE)
    ]
    names = ["lp", "system", "is_human", "doc_id", "doc_seg_id", "seg_id", "mqm"]
    frame = pd.DataFrame(rows, columns=names).sort_values(["system", "seg_id"], kind="stable")
    draft = _Draft(frame.reset_index(drop=True), ["system", "seg_id"])
    systems = list(draft.frame["system"].unique())
    plain = {system: system.rsplit(".", 1)[0] for system in systems}

    def ua_files(setup: str) -> dict[str, list[dict[str, Any]]]:
        folder = f"evaluation/data/model_outputs/wmt20/{ua}/newstest2020/{setup}"
        return {
            system: json.loads(
                clones.find("UA_COMET", f"{folder}/system_{plain[system]}.json").read_text("utf-8")
            )
            for system in systems
        }

    def texts() -> dict[Any, tuple[Any, ...]]:
        for setup in ("original_comet_setup", "ensemble_1719/d0_n1_nrefs1_1719_seed7"):
            try:
                files = ua_files(setup)
                break
            except _MissingError as error:
                last = error
        else:
            raise last
        return {
            (system, k): _text_scores(item["src"], item["mt"], item["ref"])
            for system, items in files.items()
            for k, item in enumerate(items, 1)
        }

    def comet(*setups: str) -> dict[Any, tuple[Any, ...]]:
        found: dict[Any, list[float]] = defaultdict(list)
        for setup in setups:
            for system, items in ua_files(setup).items():
                for k, item in enumerate(items, 1):
                    runs = item["dp_runs_scores"]
                    found[system, k].append(sum(runs) / len(runs))
        return {key: (sum(values) / len(values),) for key, values in found.items()}

    draft.add(_TEXT_COLUMNS, texts)
    draft.add(["COMET"], lambda: comet("original_comet_setup"))
    if pair == "ende":
        draft.add(["UA-COMET-QE"], lambda: comet("original_comet_setup_qe"))
    seeds = [f"ensemble_1719/d0_n1_nrefs1_1719_seed{seed}" for seed in (3, 7, 89, 891)]
    draft.add(["COMET_ens4"], lambda: comet(*seeds))
    numbers = {place: seg for seg, place in places.items()}
    for kind, metrics in _SUBMITTED[pair].items():
        for metric in metrics:
            draft.add([metric], partial(_submission, clones, kind, metric, pair, numbers))
    for metric in (*_BILLBOARD[pair], "wmt20-comet-qe-da"):
        name = "COMET-QE" if metric == "wmt20-comet-qe-da" else f"bb_{metric}"
        draft.add([name], partial(_billboard, clones, metric, wmt, systems, numbers))
    return draft


def _places(clones: Clones, pair: str) -> dict[int, tuple[str, int]]:
    """Document and position of each segment of newstest2020."""
    path = clones.find("wmt20-metrics", f"input/details/{pair}.txt")
    rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
    return {int(row[0]): (row[3], int(row[4])) for row in rows}


def _average_scores(clones: Clones, stem: str) -> dict[tuple[str, int], float]:
    """Published means of the raters; tabs and spaces are mixed in these files."""
    path = clones.find("wmt-mqm-human-evaluation", f"{stem}.avg_seg_scores.tsv")
    found = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        system, value, seg = line.split()
        if value != "None":
            found[system, int(seg)] = float(value)
    return found


def _submission(
    clones: Clones, kind: str, metric: str, pair: str, numbers: Mapping[tuple[str, int], int]
) -> dict[Any, tuple[Any, ...]]:
    path = clones.find("wmt20-metrics", f"final-metric-scores/{kind}/{metric}.seg.score.gz")
    wmt, refset = _PAIRS[pair][0], _REFSET.get((pair, metric), "newstest2020")
    found = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            _, lp, testset, refs, system, document, place, score = line.rstrip("\n").split("\t")
            if lp == wmt and testset == "newstest2020" and refs == refset:
                found[system, numbers[document, int(place)]] = (float(score),)
    return found


def _billboard(
    clones: Clones,
    metric: str,
    pair: str,
    systems: Iterable[str],
    numbers: Mapping[tuple[str, int], int],
) -> dict[Any, tuple[Any, ...]]:
    found, last = {}, _MissingError("")
    for system in systems:
        try:
            path = clones.find("billboard", f"results/wmt20-{pair}/{system}||{metric}.csv")
        except _MissingError as error:
            last = error
            continue  # the references have no scores
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                document, place = row["seg_id"].split("::")
                found[system, numbers[document, int(place)]] = (float(row["score"]),)
    if not found:
        raise last
    return found


# WMT21 and TED talks: texts and errors of Google's MQM files -------------------------------------

_TEXT_COLUMNS = (
    "target_length", "target_chars", "source_chars", "sb_BLEU", "sb_chrF", "sb_chrFpp",
)  # fmt: skip


def _text_scores(source: str, target: str, reference: str | None) -> tuple[Any, ...]:
    """Lengths, and BLEU, chrF and chrF++ of one output; no scores for the reference."""
    metrics = (None,) * 3 if reference is None else _string_metrics(target, [reference])
    return len(target.split()), len(target), len(source), *metrics


def _string_metrics(target: str, references: list[str]) -> tuple[float, float, float]:
    try:
        import sacrebleu
    except ImportError:
        raise FewgoldError(
            "the string metrics need sacrebleu. Install it with: pip install 'fewgold[sacrebleu]'."
        ) from None
    return (
        sacrebleu.sentence_bleu(target, references).score,
        sacrebleu.sentence_chrf(target, references).score,
        sacrebleu.sentence_chrf(target, references, word_order=2).score,
    )


def _mqm_rows(path: Path) -> Iterator[dict[str, str]]:
    """Rows of an MQM file, with span marks removed from the texts."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            for text in ("source", "target"):
                row[text] = row[text].replace("<v>", "").replace("</v>", "")
            yield row


def _weight(category: str, severity: str) -> float:
    """Google's weights: major 5, minor 1, minor punctuation 0.1, non-translation 25."""
    if category.startswith("Non-translation"):
        return 25.0
    if severity.lower() == "minor":
        return 0.1 if category == "Fluency/Punctuation" else 1.0
    return 5.0 if severity.lower() == "major" else 0.0


def _ted(clones: Clones) -> _Draft:
    import pandas as pd

    path = clones.find("wmt-mqm-human-evaluation", "ted/ende/mqm_ted_ende.tsv")
    found: dict[tuple[str, int, str], list[Any]] = {}
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    for row in _mqm_rows(path):
        key = row["system"], int(row["seg_id"]), row["rater"]
        texts[key[:2]] = row["source"], row["target"]
        told = found.setdefault(key, [row["doc"], int(row["doc_id"]), 0.0, 0, 0])
        if row["category"].lower() not in ("no-error", "no error"):
            told[2] += _weight(row["category"], row["severity"])
            told[3] += 1
            told[4] += row["severity"].lower() == "major"
    references = {seg: text for (system, seg), (_, text) in texts.items() if system == "ref"}
    rows = [
        ("en-de", system, int(system.startswith("ref")), doc, place, seg, rater, min(mqm, 25.0),
         errors, major)
        for (system, seg, rater), (doc, place, mqm, errors, major) in found.items()
    ]  # fmt: skip
    names = ["lp", "system", "is_human", "doc_id", "doc_seg_id", "seg_id", "rater", "mqm",
             "n_errors", "n_major"]  # fmt: skip
    frame = pd.DataFrame(rows, columns=names)
    frame = frame.sort_values(["system", "seg_id", "rater"], kind="stable").reset_index(drop=True)
    draft = _Draft(frame, ["system", "seg_id"])
    draft.add(
        _TEXT_COLUMNS,
        lambda: {
            (system, seg): _text_scores(
                source, target, None if system == "ref" else references[seg]
            )
            for (system, seg), (source, target) in texts.items()
        },
    )
    return draft


#: Reference of the metrics, and the human translations of WMT21.
_WMT21_REFERENCE = {"ende": "ref-C", "zhen": "ref-B"}


def _wmt21(clones: Clones, pair: str) -> _Draft:
    import pandas as pd

    wmt, stem = _PAIRS[pair][0], f"newstest2021/{pair}/mqm_newstest2021_{pair}"
    scores = _average_scores(clones, stem)
    # Rated segments and texts are in the file of single errors.
    path = clones.find("wmt-mqm-human-evaluation", f"{stem}.tsv")
    texts: dict[tuple[str, int], tuple[str, str]] = {}
    places: dict[int, tuple[str, int]] = {}
    for row in _mqm_rows(path):
        texts[row["system"], int(row["seg_id"])] = row["source"], row["target"]
        places[int(row["seg_id"])] = row["doc"], int(row["doc_id"])
    reference = _WMT21_REFERENCE[pair]
    rows = [
        (wmt, system, int(system.startswith("ref")), *places[seg], seg, -value)
        for (system, seg), value in scores.items()
        if seg in places and system != reference
    ]
    names = ["lp", "system", "is_human", "doc_id", "doc_seg_id", "seg_id", "mqm"]
    frame = pd.DataFrame(rows, columns=names).sort_values(["system", "seg_id"], kind="stable")
    draft = _Draft(frame.reset_index(drop=True), ["system", "seg_id"])
    humans = sorted({system for system, _ in texts if system.startswith("ref")})

    def single() -> dict[Any, tuple[Any, ...]]:
        return {
            (system, seg): _text_scores(source, target, texts[reference, seg][1])
            for (system, seg), (source, target) in texts.items()
            if (reference, seg) in texts
        }

    def several() -> dict[Any, tuple[Any, ...]]:
        found = {}
        for (system, seg), (_, target) in texts.items():
            others = [
                texts[name, seg][1] for name in humans if name != system and (name, seg) in texts
            ]
            if others:
                found[system, seg] = (max(_string_metrics(target, [one])[1] for one in others),)
        return found

    draft.add(_TEXT_COLUMNS, single)
    draft.add(["sb_chrF_multiref"], several)
    return draft


# Summaries and dialogues -------------------------------------------------------------------------


def _frank(clones: Clones) -> _Draft:
    import pandas as pd

    people = json.loads(clones.find("frank", "data/human_annotations.json").read_text("utf-8"))
    rows = [
        (r["dataset"], r["model_name"], 0, r["hash"], r["split"], r["Factuality"],
         int(r["Factuality"] == 1))
        for r in people
    ]  # fmt: skip
    names = ["dataset", "system", "is_human", "doc_id", "split", "factuality", "factual_binary"]
    draft = _Draft(pd.DataFrame(rows, columns=names), ["doc_id", "system"])

    def metrics() -> list[dict[str, Any]]:
        path = clones.find("frank", "data/baseline_factuality_metrics_outputs.json")
        made: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
        return made

    columns = (
        "Rouge 1", "Rouge 2", "Rouge L", "Bleu", "Meteor", "BertScore P", "BertScore R",
        "BertScore F1", "BertScore P Art", "BertScore R Art", "BertScore F1 Art", "FactCC", "FEQA",
        "Dep Entail", "QAGS",
    )  # fmt: skip
    draft.add(
        [name.replace(" ", "_") for name in columns],
        lambda: {
            (r["hash"], r["model_name"]): tuple(r.get(name) for name in columns) for r in metrics()
        },
    )
    return draft


def _topicalchat(clones: Clones) -> _Draft:
    import pandas as pd

    path = "reproduce/unieval_predict/dialogue/topical_chat_result.json"
    items = json.loads(clones.find("UniEval", path).read_text("utf-8"))
    human = ("understandability", "naturalness", "coherence", "engagingness", "groundedness",
             "overall")  # fmt: skip
    judge = ("naturalness", "coherence", "engagingness", "groundedness", "understandability",
             "overall")  # fmt: skip
    contexts: dict[str, str] = {}
    rows = []
    for item in items:
        key = item["source"] + "\n" + item["context"]
        doc = contexts.setdefault(key, f"ctx{len(contexts):02d}")
        name = item["system_id"]
        rows.append((
            name, int(name in ("Original Ground Truth", "New Human Generated")), doc,
            *(item["scores"][c] for c in human), *(item["predict_scores"][c] for c in judge),
            len(item["system_output"].split()),
        ))  # fmt: skip
    names = ["system", "is_human", "doc_id", *(f"human_{c}" for c in human),
             *(f"UniEval_{c}" for c in judge), "target_length"]  # fmt: skip
    return _Draft(pd.DataFrame(rows, columns=names), ["doc_id", "system"])


# All tables ---------------------------------------------------------------------------------------

_TABLES: dict[str, Callable[[Clones], _Draft]] = {
    "wmt20_ende": lambda clones: _wmt20(clones, "ende"),
    "wmt20_zhen": lambda clones: _wmt20(clones, "zhen"),
    "wmt21_ende": lambda clones: _wmt21(clones, "ende"),
    "wmt21_zhen": lambda clones: _wmt21(clones, "zhen"),
    "ted_ende": _ted,
    "frank": _frank,
    "topicalchat": _topicalchat,
}


def build(
    folder: str | Path,
    clones: str | Path,
    tables: Iterable[str] = (),
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Built]:
    """Make the tables of real data that `load_real` reads.

    Parameters
    ----------
    folder
        Folder for the tables (``*.csv.gz``) and ``columns.json``; set ``FEWGOLD_DATA`` to it.
    clones
        The folder with clones of the public repositories (`REPOSITORIES`), each named like its
        repository.
    tables
        Names of tables; all by default. Columns that lack their repository are listed in the
        result.
    progress
        Called with a name, how many tables are done, and how many there are.

    Returns
    -------
    list of Built
        The tables made, whether they match the checksums, and what is missing.
    """
    import pandas as pd

    names = [tables] if isinstance(tables, str) else list(tables) or list(_TABLES)
    for name in names:
        if name not in _TABLES:
            raise UnknownNameError("real data set", name, _TABLES)
    found, target = Clones(Path(clones)), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    facts_file, results = target / "columns.json", []
    facts = json.loads(facts_file.read_text("utf-8")) if facts_file.is_file() else {}
    for k, name in enumerate(names):
        try:
            draft = _TABLES[name](found)
        except _MissingError as error:
            results.append(Built(name, 0, (), (), (), {"all columns": str(error)}))
        else:
            written = target / f"{name}.csv.gz"
            draft.frame.round(6).to_csv(
                written, index=False, float_format="%.6g",
                compression={"method": "gzip", "mtime": 0},
            )  # fmt: skip
            facts[name] = {
                "rows": len(draft.frame),
                "columns": {column: _fact(column) for column in draft.frame.columns},
            }
            # Read back as written, so that rounding is the same.
            whole = pd.read_csv(written, keep_default_na=False, na_values=[""])
            results.append(_compared(name, whole, draft.missing))
        if progress is not None:
            progress("tables", k + 1, len(names))
    facts_file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return results


_KEYS = ("lp", "system", "is_human", "doc_id", "doc_seg_id", "seg_id", "rater", "dataset", "split")
_SIZES = ("target_length", "target_chars", "source_chars")


def _fact(column: str) -> dict[str, Any]:
    """The orientation or role of a column."""
    if column in _KEYS:
        return {"role": "key"}
    if column == "mqm":
        return {"role": "human", "orientation": -1}
    if column in ("n_errors", "n_major"):
        return {"role": "human"}
    if column.startswith("human_") or column in ("factuality", "factual_binary"):
        return {"role": "human", "orientation": 1}
    return {"orientation": 0 if column in _SIZES else 1}


def _compared(name: str, frame: pd.DataFrame, missing: Mapping[str, str]) -> Built:
    """Compare the table with its checksums."""
    expected = json.loads(_EXPECTED.read_text("utf-8")).get(name, {"columns": {}})["columns"]
    seen = checksums(frame)
    verified = tuple(c for c in seen if expected.get(c) == seen[c])
    different = tuple(c for c in seen if c in expected and expected[c] != seen[c])
    unchecked = tuple(c for c in seen if c not in expected)
    return Built(name, len(frame), verified, different, unchecked, missing)


def checksums(frame: pd.DataFrame) -> dict[str, str]:
    """A checksum of each column with six digits, rows in the order of their keys."""
    keys = [c for c in ("seg_id", "doc_id", "system", "rater") if c in frame]
    ordered = frame.sort_values(keys, kind="stable")
    made = {}
    for column in frame.columns:
        cells = "\n".join(_printed(value) for value in ordered[column].tolist())
        made[str(column)] = hashlib.sha256(cells.encode()).hexdigest()[:16]
    return made


def _printed(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None or value != value else f"{float(value) + 0.0:.6g}"
