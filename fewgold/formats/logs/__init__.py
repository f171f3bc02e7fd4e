"""Logs of evaluation tools: outputs with judges' scores, as tables to sample from.

>>> from fewgold.formats import logs
>>> "inspect" in logs.names()
True
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from fewgold.errors import UnknownNameError
from fewgold.formats.base import Probe
from fewgold.formats.logs.base import EvalLog, HumanScore, LogFile, LogFormat, Output

__all__ = ["EvalLog", "HumanScore", "LogFormat", "Output", "get", "names", "read", "recognise"]

# In the order in which they are tried on a file: the most specific first.
_WHERE = {
    "inspect": "inspect:Inspect",
    "promptfoo": "promptfoo:Promptfoo",
    "deepeval": "deepeval:DeepEval",
    "lm-eval": "harness:LmEval",
    "openai-evals": "harness:OpenAIEvals",
    "langsmith": "platforms:LangSmith",
    "mlflow": "mlflow:MLflow",
    "langfuse": "platforms:Langfuse",
}
# Formats that may be CSV; other text files need only these loaded.
_TABLES = ("promptfoo", "langsmith", "mlflow", "langfuse")


def names() -> tuple[str, ...]:
    """The names of all known log formats."""
    return tuple(_WHERE)


@cache
def get(name: str) -> LogFormat:
    """The log format with this name."""
    if name not in _WHERE:
        raise UnknownNameError("evaluation log", name, _WHERE)
    module, _, cls = _WHERE[name].partition(":")
    made = getattr(import_module(f"fewgold.formats.logs.{module}"), cls)()
    assert isinstance(made, LogFormat)
    return made


def recognise(path: str | Path) -> LogFormat | None:
    """The log format of a file (or folder), judged by its content; None if it is not a log."""
    probe = Probe(path)
    if not probe.path.exists():
        return None
    file = LogFile(probe)
    table = not probe.is_folder and probe.is_text and probe.text.lstrip()[:1] not in ("{", "[")
    likely = _TABLES if table else names()
    return next((f for f in map(get, likely) if f.recognises(file)), None)


def read(path: str | Path, format: str | None = None) -> EvalLog:
    """Read the outputs in a log, recognising its format unless given; refuses unreadable rows."""
    found = recognise(path) if format is None else get(format)
    if found is None:
        raise UnknownNameError("evaluation log", str(path), _WHERE)
    log = found.read(LogFile(Probe(path)))
    log.require(str(path))
    return log
