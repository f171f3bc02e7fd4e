"""The command ``fewgold``: parse, call the library, print. Nothing is computed here."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fewgold._version import __version__
from fewgold.cli import _demo, _estimate, _select, _strategies
from fewgold.cli._console import BAD_DATA, fail
from fewgold.errors import FewgoldError

SETTINGS = "fewgold.toml"


class _Commands(TyperGroup):
    """One place that turns errors into a sentence and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except FewgoldError as error:
            fail(str(error))
        except BrokenPipeError:
            # The reader has seen enough. Python would complain when it closes stdout at the end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as error:
            name = f"{error.filename!r}: " if error.filename else ""
            fail(f"{name}{error.strerror or error}.")
        except KeyboardInterrupt:
            raise typer.Exit(130) from None


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "FEWGOLD"},
    epilog="Try [bold]fewgold demo[/bold] first: it needs no data and no answers.",
)
app.command("demo")(_demo.demo)
app.command("select")(_select.select)
app.command("estimate")(_estimate.estimate)
app.command("strategies")(_strategies.strategies)


def _show_version(value: bool) -> None:
    if value:
        print(f"fewgold {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Score a whole test set from few human ratings.

    [bold]select[/bold] chooses which segments people should rate; [bold]estimate[/bold] turns their
    ratings, with automatic metrics, into a score for all segments and says how sure it is.
    """


def settings(folder: Path) -> dict[str, Any]:
    """Defaults of a project: a table for each command in ``fewgold.toml``; flags go first."""
    path = folder / SETTINGS
    if not path.is_file():
        return {}
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FewgoldError(f"cannot read {SETTINGS}: {error}.") from None
    return {
        command: {option.replace("-", "_"): value for option, value in table.items()}
        for command, table in found.items()
        if isinstance(table, dict)
    }


def main() -> None:
    """Run the command with the settings of the current folder."""
    try:
        defaults = settings(Path.cwd())
    except FewgoldError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(BAD_DATA)
    app(prog_name="fewgold", default_map=defaults)
