"""Logs of Inspect AI: ``.eval`` (a zip file of JSON) and ``.json``; a folder of them."""

from __future__ import annotations

import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fewgold.common.text import counted
from fewgold.errors import DataError
from fewgold.formats.base import Probe
from fewgold.formats.logs.base import (
    EvalLog,
    Gathered,
    HumanScore,
    LogFile,
    LogFormat,
    Output,
    at,
    by_output,
    label,
    matched,
    mean,
    mean_score,
    objects,
    said,
)
from fewgold.io import write_texts

# Correct, incorrect, partially correct and no answer, with Inspect's own values.
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
_MOST_BYTES = 2_000_000_000
_ATTACHED = re.compile(r"attachment://([0-9a-zA-Z]{8,64})")
SUFFIXES = (".eval", ".json")


class Inspect(LogFormat):
    """Inspect AI. A sample is an item, its epochs are repeats, its model is the system."""

    name = "inspect"
    title = "Inspect AI"
    takes = "a copy of the log with one more score on each rated sample"

    def recognises(self, file: LogFile) -> bool:
        """A zip file with a header or samples, or an object with ``eval`` and ``plan``."""
        if file.probe.is_folder:
            found = log_files(file.path)
            return bool(found) and all(self.recognises(LogFile(Probe(p))) for p in found)
        if file.probe.head[:4] == b"PK\x03\x04":
            try:
                with zipfile.ZipFile(file.path) as packed:
                    names = packed.namelist()
            except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
                return False
            marks = ("header.json", "_journal/start.json", "start.json")
            return any(n in marks or n.startswith("samples/") for n in names)
        if not file.probe.is_text or '"eval"' not in file.probe.text:
            return False
        whole = file.whole
        return isinstance(whole, Mapping) and isinstance(whole.get("eval"), Mapping) and (
            "samples" in whole or {"plan", "status"} <= set(whole)
        )  # fmt: skip

    def read(self, file: LogFile) -> EvalLog:
        """The samples of one log, or of all logs in a folder."""
        found = Gathered(self)
        paths = log_files(file.path) if file.probe.is_folder else [file.path]
        logs = [(p, *_opened(p)) for p in paths]
        tasks = {_task(header) for _, header, _ in logs}
        for path, header, samples in logs:
            where = f"{path.name}, " if len(paths) > 1 else ""
            for place, sample in samples:
                _sample(found, f"{where}{place}", sample, header, len(tasks) > 1)
            if header.get("status") not in ("success", None):
                found.notes.append(
                    f"the run of {path.name} ended with status {label(header['status'])!r}: "
                    "samples may be missing"
                )
        failed = sum("error" in o.keep for o in found.outputs)
        if failed:
            found.notes.append(f"{counted(failed, 'sample')} ended with an error (column error)")
        return found.done()

    def write(
        self,
        path: Path,
        scores: Sequence[HumanScore],
        out: Path,
        name: str,
        result: Mapping[str, float],
    ) -> None:
        """Write a copy of the log with a human score on each rated sample.

        Its results get one more scorer: the mean of the ratings and, if known, the estimate for all
        samples with its interval.
        """
        if path.is_dir():
            raise DataError(
                f"{str(path)!r} is a folder of logs. Write scores into one of them.",
                hints={"python": "Give its path.", "cli": "Name it with --log."},
            )
        log = self.read(LogFile(Probe(path)))
        log.require(str(path))
        given = by_output(matched(log, scores))
        made = {k: _score(given[id(o)]) for k, o in enumerate(log.outputs) if id(o) in given}
        _, samples = _opened(path)
        if all(place.startswith("summary ") for place, _ in samples):
            raise DataError(f"{str(path)!r} has summaries only, and no samples to write to.")
        for k, score in made.items():
            sample = samples[k][1]
            held = sample.get("scores")
            sample["scores"] = {**(held if isinstance(held, Mapping) else {}), name: score}
        total = _scorer(name, [s["value"] for s in made.values()], len(samples), result)
        with path.open("rb") as start:
            zipped = start.read(4) == b"PK\x03\x04"
        if not zipped:
            whole = dict(LogFile(Probe(path)).object())
            whole["samples"] = [sample for _, sample in samples]
            whole["results"] = _with_scorer(whole.get("results"), total)
            write_texts({out: _dumped(whole)})
            return
        write_texts({out: _packed(path, dict(samples), total)})


def _score(scores: Sequence[HumanScore]) -> dict[str, Any]:
    """The human ratings of a sample, as a score."""
    raters = sorted({s.rater for s in scores} - {""})
    comments = [s.comment for s in scores if s.comment]
    return {
        "value": mean_score(scores), "answer": None, "explanation": "\n".join(comments) or None,
        "metadata": {"scored_by": "people", "ratings": len(scores), "raters": raters},
        "history": [],
    }  # fmt: skip


def _scorer(
    name: str, values: Sequence[float], samples: int, result: Mapping[str, float]
) -> dict[str, Any]:
    """The results of one more scorer."""
    metrics = {"mean_of_rated": math.fsum(values) / len(values)} if values else {}
    known = {"value": "estimate", "se": "stderr", "low": "ci_low", "high": "ci_high"}
    metrics |= {told: float(result[k]) for k, told in known.items() if k in result}
    return {
        "name": name, "scorer": name, "scored_samples": len(values),
        "unscored_samples": samples - len(values), "params": {},
        "metrics": {k: {"name": k, "value": v, "params": {}} for k, v in metrics.items()},
        "metadata": {"scored_by": "people"},
    }  # fmt: skip


def _with_scorer(results: Any, total: Mapping[str, Any]) -> dict[str, Any]:
    held = dict(results) if isinstance(results, Mapping) else {}
    others = [s for s in objects(held.get("scores")) if s.get("name") != total["name"]]
    return {**held, "scores": [*others, total]}


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _packed(path: Path, samples: Mapping[str, Any], total: Mapping[str, Any]) -> bytes:
    """The zip file of a log, with these samples and one more scorer in its results."""
    scores = {
        (label(s.get("id")), label(s.get("epoch"))): s["scores"]
        for s in samples.values() if s.get("scores")
    }  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in {i.filename: i for i in old.infolist()}.values():
            name, body = info.filename, _unpacked(old, info)
            if name in samples:
                body = _dumped(samples[name]).encode()
            elif name in ("header.json", "results.json"):
                held = json.loads(body)
                held["results"] = _with_scorer(held.get("results"), total)
                body = _dumped(held).encode()
            elif "summar" in name and isinstance(brief := json.loads(body), list):
                for s in objects(brief):
                    if made := scores.get((label(s.get("id")), label(s.get("epoch")))):
                        s["scores"] = made  # type: ignore[index]
                body = _dumped(brief).encode()
            new.writestr(name, body)
    return out.getvalue()


def log_files(folder: Path) -> list[Path]:
    """The files in a folder if the names of all look like logs; otherwise an empty list."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    files = [p for p in files if p.name not in ("logs.json", "listing.json")]
    return files if all(p.suffix in SUFFIXES for p in files) else []


def _task(header: Mapping[str, Any]) -> str:
    return label(at(header, "eval", "task"))


def _opened(path: Path) -> tuple[Mapping[str, Any], list[tuple[str, Any]]]:
    """The header of a log and its samples, each with its place."""
    with path.open("rb") as start:
        zipped = start.read(4) == b"PK\x03\x04"
    if not zipped:
        whole = LogFile(Probe(path)).object()
        samples = whole.get("samples")
        if not isinstance(samples, list):
            raise DataError(
                f"{str(path)!r} is a log of Inspect AI without samples. Run the evaluation with "
                "samples logged, or use the log of a completed run."
            )
        return whole, [(f"sample {k}", s) for k, s in enumerate(samples, 1)]
    try:
        with zipfile.ZipFile(path) as packed:
            parts = dict(_parts(packed, path))
    except (zipfile.BadZipFile, OSError, EOFError, zlib.error, NotImplementedError,
            RuntimeError, ValueError) as error:  # fmt: skip
        raise DataError(
            f"cannot read {str(path)!r}: the zip file is damaged or compressed with an unknown "
            f"method ({error}). Write it again with: inspect log convert --to json."
        ) from None
    header: dict[str, Any] = {}
    for name in ("_journal/start.json", "start.json", "results.json", "header.json"):
        if isinstance(parts.get(name), Mapping):
            header |= parts[name]
    samples = [(n, v) for n, v in parts.items() if n.startswith("samples/")]
    if samples:
        return header, samples
    lists = [(n, v) for n, v in parts.items() if "summar" in n and isinstance(v, list)]
    joint = [v for n, v in lists if n in ("summaries.json", "summary.json")]
    summaries = [s for v in joint[:1] or [v for _, v in lists] for s in v]
    if not summaries:
        raise DataError(f"{str(path)!r} is a log of Inspect AI without samples.")
    return header, [(f"summary {k}", s) for k, s in enumerate(summaries, 1)]


def _parts(packed: zipfile.ZipFile, path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON files in a log; if a file occurs twice, the last one, as in Inspect."""
    wanted = {i.filename: i for i in packed.infolist() if i.filename.endswith(".json")}
    size = sum(i.file_size for i in wanted.values())
    if size > _MOST_BYTES:
        raise DataError(
            f"{str(path)!r} unpacks to {size / 1e9:.1f} GB, more than {_MOST_BYTES / 1e9:g} GB. "
            "Split the run into several logs."
        )
    for name, info in wanted.items():
        if name.startswith("samples/") or "/" not in name or name.startswith("_journal/"):
            text = _unpacked(packed, info)
            try:
                yield name, json.loads(text)
            except (ValueError, RecursionError) as error:
                yield name, f"is not JSON: {error}"


#: The compression method of newer versions of Inspect; Python supports it from 3.14.
_ZSTANDARD = 93


def _unpacked(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """A file of a log, decompressed even if it uses Zstandard."""
    try:
        return packed.read(info)
    except NotImplementedError:
        if info.compress_type != _ZSTANDARD or packed.fp is None:
            raise
    try:
        import pyarrow as pa
    except ImportError:
        raise NotImplementedError(
            "it is compressed with Zstandard, which needs pip install 'fewgold[parquet]' or "
            "Python 3.14"
        ) from None
    packed.fp.seek(info.header_offset)
    head = packed.fp.read(30)  # the local header, which ends with the lengths of what follows
    packed.fp.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), 1)
    raw = packed.fp.read(info.compress_size)
    with pa.input_stream(pa.BufferReader(raw), compression="zstd") as stream:
        body: bytes = stream.read()
    if len(body) != info.file_size or zlib.crc32(body) != info.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")
    return body


def _sample(
    found: Gathered, place: str, sample: Any, header: Mapping[str, Any], several: bool
) -> None:
    """One sample of one epoch."""
    if not isinstance(sample, Mapping):
        why = sample if isinstance(sample, str) and "JSON" in sample else "is not an object {…}."
        return found.reject(place, why, sample)
    id_ = label(sample.get("id"))
    if not id_:
        return found.reject(place, "the sample has no id.", sample)
    held = sample.get("attachments")
    attached = held if isinstance(held, Mapping) else {}

    def shown(value: Any) -> str:
        return _ATTACHED.sub(lambda m: said(attached.get(m[1], m[0])), said(value))

    scores: dict[str, Any] = {}
    human: dict[str, Any] = {}
    for name, score in _scores(sample).items():
        value = score.get("value") if isinstance(score, Mapping) else score
        by_people = _by_people(name, score)
        for part, one in _values(name, value):
            (human if by_people else scores)[part] = one
    output = sample.get("output")
    answer = at(output, "completion") or at(output, "choices", 0, "message", "content")
    if not answer and not output:  # a summary has no output, but scores keep the answer
        answer = next((a for s in _scores(sample).values() if (a := at(s, "answer"))), "")
    choices = sample.get("choices")
    task = _task(header)
    keep = {
        "task": task, "metadata": sample.get("metadata") or None, "sample_uuid": sample.get("uuid"),
        "error": said(at(sample, "error", "message") or sample.get("error") or None) or None,
    }  # fmt: skip
    asked = shown(sample.get("input"))
    if isinstance(choices, list) and choices:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        listed = [f"{letters[k % 26]}) {said(c)}" for k, c in enumerate(choices)]
        asked = "\n".join([asked, *listed])
    found.use(Output(
        f"{task}:{id_}" if several else id_, asked, shown(answer), shown(sample.get("target")),
        label(at(header, "eval", "model")), "", label(sample.get("epoch")), scores, human,
        {k: v for k, v in keep.items() if v},
    ))  # fmt: skip


def _scores(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """The scores of a sample by scorer; logs of early versions have one without a name."""
    found = sample.get("scores")
    if isinstance(found, Mapping):
        return found
    return {"score": sample["score"]} if isinstance(sample.get("score"), Mapping) else {}


def _by_people(name: str, score: Any) -> bool:
    """Whether a score was given by people: named accordingly, or written by fewgold."""
    return name.lower().startswith("human") or at(score, "metadata", "scored_by") == "people"


def _values(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each value of a score under its name; letters as numbers."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield f"{name}.{key}", _letter(inner)
    elif isinstance(value, list):
        yield name, mean(map(_letter, value))
    else:
        yield name, _letter(value)


def _letter(value: Any) -> Any:
    return _LETTERS.get(value, value) if isinstance(value, str) else value
