"""One suite on every machine, and a quick one: signals, bytecode, garbage, long tests first."""

from __future__ import annotations

import functools
import gc
import os
import signal
import sys

import pytest
import typer.main
from hypothesis import settings

from sweeps import mark_slow_combinations

# Some hundred processes are started here, and each would compile the package and every worker all
# tests, where the environment says that no bytecode is to be kept.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A job in the background of a shell is told to ignore Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Typer makes all commands and options anew for every call of its test runner, which takes longer
# than most of these calls. They do not change, so once is enough. (This has to come before
# `typer.testing` is imported, which takes the function by its name.)
typer.main.get_command = functools.cache(typer.main.get_command)

# A busy machine may take long for an example, which says nothing about the code.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

_LONG = ("tests/web/e2e", "test_load.py", "test_crash.py", "test_docs.py", "test_replay.py")
_LONG += ("test_site.py", "test_reproduce.py")


@pytest.hookimpl(tryfirst=True)  # before the slow ones are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first, so that no worker is left with one at the end; sweeps thinned out."""
    mark_slow_combinations(items)
    items.sort(key=lambda item: not any(part in item.nodeid for part in _LONG))


def pytest_collection_finish() -> None:
    """What was imported and collected stays: no use in looking through it for garbage."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Let go of everything in the end, as always."""
    gc.unfreeze()
