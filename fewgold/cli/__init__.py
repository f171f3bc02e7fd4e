"""The command ``fewgold``: parses options, calls the library, prints. Computes nothing itself."""

from __future__ import annotations

import functools
import io
import os
import signal
import sys
import tomllib
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import typer
import typer.main

from fewgold._version import __version__
from fewgold.cli import (
    adequate,
    begin,
    compare,
    datasets,
    estimate,
    exchange,
    gate,
    init,
    judge,
    monitor,
    plan,
    reliability,
    report,
    reproduce,
    select,
    serve,
    settings,
    simulate,
    status,
    stop,
    verdicts,
    work,
)
from fewgold.cli.console import BAD_DATA, fail, working
from fewgold.cli.help import ShortHelpCommand, ShortHelpGroup
from fewgold.cli.options import flag
from fewgold.common.temporary import ENDING
from fewgold.errors import FewgoldError, UnknownNameError

SETTINGS = "fewgold.toml"


class _Commands(ShortHelpGroup):
    """Turns errors into a sentence and an exit code, in one place."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except FewgoldError as error:
            fail(error.message_for("cli"))
        except BrokenPipeError:
            # The reader has seen enough. Python would complain when it closes stdout at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            name = f"{error.filename!r}: " if error.filename else ""
            fail(f"{name}{error.strerror or error}.")
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


class _Command(ShortHelpCommand):
    """A command that shows that it is still working when it takes a while."""

    def invoke(self, ctx: Any) -> Any:
        name = str(self.name)
        with working(name, bool(ctx.params.get("quiet")) or name == "serve"):
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="New here? Run [bold]fewgold demo[/bold]: it needs no data and no ratings.\n"
    "[bold]fewgold COMMAND --help[/bold] explains a command.",
)
_PANELS: dict[str, list[Callable[..., None]]] = {
    "The main path": [
        begin.doctor, select.select, estimate.estimate, report.report, compare.compare,
        judge.judge,
    ],
    "Try it out and plan": [
        begin.demo, begin.strategies, plan.plan, simulate.simulate, reliability.reliability,
        reproduce.reproduce, datasets.datasets,
    ],
    "While ratings come in": [
        init.init, exchange.export, exchange.import_answers, status.status, serve.serve,
        stop.stop, gate.gate, monitor.monitor,
        work.work, work.adjudicate, settings.settings,
    ],
    "Success rates: pass or fail, adequate or not": [
        adequate.alpha, adequate.roc, verdicts.raters, verdicts.preferences, verdicts.naive,
    ],
}  # fmt: skip
for _panel, _commands in _PANELS.items():
    for _one in _commands:
        _name = "import" if _one is exchange.import_answers else _one.__name__
        app.command(_name, cls=_Command, rich_help_panel=_panel)(_one)


def _show_version(value: bool) -> None:
    if value:
        print(f"fewgold {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = flag(
        False, "--version", "Show the version.", callback=_show_version, is_eager=True
    ),
) -> None:
    """Score a whole test set from a few human ratings.

    [bold]select[/bold] chooses the segments that people should rate. [bold]estimate[/bold] combines
    their ratings with automatic metrics into a score, with an interval, for all
    segments.
    """


@functools.cache
def _command() -> Any:
    """All commands and their options, built once because building takes as long as the imports."""
    return typer.main.get_command(app)


def project_settings(folder: Path, environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Default options of the project, by command. Flags override them.

    ``FEWGOLD_SELECT_BUDGET=5%`` overrides a table ``[select]`` with ``budget = "5%"`` in
    ``fewgold.toml``. A name in the file that matches no option is an error.
    """
    path = folder / SETTINGS
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FewgoldError(f"cannot read {SETTINGS}: {error}.") from None
    commands: dict[str, Any] = vars(_command())["commands"]
    wrong = set(found) - set(commands)
    if wrong:
        raise UnknownNameError(f"table in {SETTINGS}", sorted(wrong)[0], commands)
    result: dict[str, dict[str, Any]] = {}
    for command, parsed in commands.items():
        options = {
            flag.removeprefix("--"): p.name
            for p in parsed.params
            for flag in p.opts
            if flag.startswith("--")
        }
        values = found.get(command, {})
        wrong = set(values) - set(options)
        if wrong:
            raise UnknownNameError(f"[{command}] setting in {SETTINGS}", sorted(wrong)[0], options)
        for option in options:
            key = f"FEWGOLD_{command}_{option}".upper().replace("-", "_")
            if key in environment:
                values[option] = environment[key]
        result[command] = {options[k]: _as_typed(v) for k, v in values.items()}
    return result


def _as_typed(value: Any) -> Any:
    """A setting as it would be typed on the command line; lists become comma-separated."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, bool) else str(value)


def main() -> None:
    """Run the command with the settings of the current folder."""
    for which in ENDING:
        # Raises, so that temporary files are removed. Ignored signals (nohup) stay ignored.
        if signal.getsignal(which) is signal.SIG_DFL:
            signal.signal(which, lambda got, _: sys.exit(128 + got))
    for stream in (sys.stdin, sys.stdout):
        # Pipes carry tables, and tables are UTF-8 whatever the locale says.
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")
    warnings.showwarning = _noted(warnings.showwarning)
    try:
        defaults = project_settings(Path.cwd(), os.environ)
    except FewgoldError as error:
        _stop(str(error))
    try:
        _command()(prog_name="fewgold", default_map=defaults)
    except MemoryError:
        _stop("there is not enough memory for this.")
    except Exception:
        # Python would exit with 1, which is an answer of gate, monitor and others.
        traceback.print_exc()
        _stop("this is a bug in fewgold. Please report it with the lines above.")


def _noted(show: Callable[..., None]) -> Callable[..., None]:
    """Show warnings of fewgold itself as notes, each once, and others as before."""
    said: set[str] = set()

    def shown(message: Warning | str, category: type[Warning], *where: Any) -> None:
        if not category.__module__.startswith("fewgold."):
            show(message, category, *where)
        elif (sentence := str(message)) not in said:
            said.add(sentence)
            print(f"note: {sentence}", file=sys.stderr)

    return shown


def _stop(sentence: str) -> NoReturn:
    print(f"error: {sentence}", file=sys.stderr)
    sys.exit(BAD_DATA)
