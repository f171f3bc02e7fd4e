"""Formats by name, and which of them a file is in."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from fewgold.errors import DataError, UnknownNameError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Reading

# In the order in which they are asked whether a file is theirs: the choosy ones first, plain
# tables last.
_WHERE = {
    "mt-metrics-eval": "_mtme:MtMetricsEval",
    "label-studio": "_label_studio:LabelStudioJson",
    "label-studio-csv": "_label_studio:LabelStudioCsv",
    "pearmut": "_pearmut:Pearmut",
    "argilla": "_argilla:Argilla",
    "potato": "_potato:Potato",
    "mqm": "_mqm:MqmTsv",
    "mqm-averages": "_mqm_averages:MqmAverages",
    "appraise": "_appraise:Appraise",
    "wmt-da": "_wmt_da:WmtDa",
    "xlsx": "_tabular_binary:Xlsx",
    "parquet": "_tabular_binary:Parquet",
    "jsonl": "_tabular_plain:JsonLines",
    "tsv": "_tabular_plain:Tsv",
    "csv": "_tabular_plain:Csv",
}


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(_WHERE)


@cache
def get(name: str) -> Format:
    """The format of that name."""
    if name not in _WHERE:
        raise UnknownNameError("format", name, _WHERE)
    module, _, cls = _WHERE[name].partition(":")
    made = getattr(import_module(f"fewgold.formats.{module}"), cls)()
    assert isinstance(made, Format)
    return made


def recognise(path: str | Path) -> Format | None:
    """The format that a file (or folder) is in, going by its content; None if nobody knows it."""
    probe = Probe(path)
    if not probe.path.exists():
        raise DataError(f"there is no file {str(path)!r}.")
    return next((f for f in map(get, _WHERE) if f.recognises(probe)), None)


def read(path: str | Path, format: str | None = None, names: Names = Names()) -> Reading:  # noqa: B008
    """The answers in a file, its format recognised unless given."""
    found = recognise(path) if format is None else get(format)
    if found is None:
        raise DataError(
            f"{str(path)!r} is in none of the formats that are known: {', '.join(_WHERE)}. If it "
            "is in one of them after all, name it with --from (format=)."
        )
    return found.read(path, names)
