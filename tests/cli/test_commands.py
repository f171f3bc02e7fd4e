"""The command as a whole: help, formats, exit codes, settings, pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import fewgold
from fewgold.cli import _noted, app, main, project_settings
from fewgold.cli.console import to_json
from fewgold.common.text import decimals
from fewgold.errors import FewgoldError, UnknownNameError
from fewgold.plots.style import FontWarning
from waiting import PATIENCE

Run = Callable[..., Any]
Process = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    result = CliRunner().invoke(app, ["demo", "--draws", "60", "--json"])
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_demo_tells_the_truth(demo: dict[str, Any]) -> None:
    assert demo["n"] == 71
    assert demo["pool_size"] == 1418
    assert demo["truth"] == pytest.approx(1.97, abs=0.01)
    assert demo["error"] == pytest.approx(demo["study"]["value"] - demo["truth"])
    assert demo["holds_truth"] == (demo["study"]["low"] <= demo["truth"] <= demo["study"]["high"])
    rows = {row["strategy"]: row for row in demo["strategies"]}
    plain = rows["random+mean"]
    # 60 draws: the standard error of a mean squared error is about 18 %, so allow four of them.
    assert 71 / 1.75 < plain["worth"] < 71 * 1.75
    assert demo["worth"] == rows[demo["strategy"]]["worth"]
    assert demo["saved"] == pytest.approx(1 - 71 / demo["worth"])
    assert all(0.75 < row["holds_truth"] <= 1 for row in rows.values())


def test_demo_for_people(run: Run) -> None:
    args = ("demo", "--draws", 4, "--budget", 30, "--strategy", "random+cv-comet", "--kind", "zhen")
    text = run(*args).stdout
    assert max(map(len, text.splitlines())) <= 80
    for part in ("One study", "random+cv-comet", "typical error", "fewgold select", "2,000"):
        assert part in text
    assert run(*args).stdout == text
    assert "…" not in run("demo", "--draws", 4).stdout  # no heading is cut off
    rows = run(*args, "--format", "csv").stdout.splitlines()
    assert rows[0] == "strategy,n,typical_error,worth,holds_truth,width"
    assert len(rows) == 7


def test_demo_refuses_what_it_does_not_know(run: Run) -> None:
    assert "Known: ende, zhen" in run("demo", "--kind", "fr", code=3).stderr
    assert "alpha" in run("demo", "--system", "alhpa", code=3).stderr
    run("demo", "--draws", 1, code=2)


def test_strategies(run: Run) -> None:
    text = run("strategies").stdout
    assert "docs-balanced+ridge" in text
    assert max(map(len, text.splitlines())) <= 80
    record = json.loads(run("strategies", "--json").stdout)
    names = {row["name"] for row in record["strategies"]}
    assert {"random", "docs-prop-printed", "ridge", "cv-knn", "star", "auto"} <= names
    assert all(row["about"] for row in record["strategies"])
    assert "cv-comet" in run("strategies", "pool.csv").stdout
    assert "guessed" in run("strategies", "pool.csv").stderr
    assert run("strategies", "--format", "csv").stdout.startswith("kind,name,about,see\n")
    assert r"docs-prop" in run("strategies", "--format", "latex").stdout


def test_every_registered_name_is_described() -> None:
    from fewgold import registry
    from fewgold.report.descriptions import ESTIMATORS, SAMPLERS, short_line

    for name in registry.sampler_names():
        assert short_line(name, SAMPLERS, registry.sampler), name
    for name in registry.estimator_names():
        assert short_line(name, ESTIMATORS, registry.estimator), name
    own = (type(registry.sampler("random")).__doc__ or "").partition("\n")[0]
    assert short_line("random", {}, registry.sampler) == own


def test_help_and_version(run: Run) -> None:
    assert run("--version").stdout == f"fewgold {fewgold.__version__}\n"
    for command in ("demo", "select", "estimate", "strategies"):
        assert command in run("--help").stdout
        assert "Usage" in run(command, "-h").stdout
    assert "No such command" in run("selct", code=2).stderr


def test_json_of_any_value() -> None:
    record = {
        "float": np.float32(0.5),
        "int": np.int64(3),
        "bool": np.bool_(True),
        "array": np.arange(3),
        "text": np.str_("ü"),
        "nan": float("nan"),
        "inf": np.float64("inf"),
        "path": Path("a"),
        "mapping": MappingProxyType({1: (1.5, None)}),
    }
    assert json.loads(to_json(record)) == {
        "float": 0.5, "int": 3, "bool": True, "array": [0, 1, 2], "text": "ü", "nan": None,
        "inf": None, "path": "a", "mapping": {"1": [1.5, None]},
    }  # fmt: skip


def test_digits_follow_the_error() -> None:
    assert [decimals(e) for e in (0.0, float("inf"), 0.152, 3.0, 250.0, 1e-30)] == [
        4, 4, 3, 2, 0, 12,
    ]  # fmt: skip


def test_settings(tmp_path: Path) -> None:
    assert project_settings(tmp_path, {})["select"] == {}
    (tmp_path / "fewgold.toml").write_text(
        '[select]\nbudget = 7\nmetrics = ["comet", "bleu"]\nscore-column = "x"\nforce = true\n'
    )
    found = project_settings(tmp_path, {"FEWGOLD_SELECT_BUDGET": "5%", "FEWGOLD_OTHER": "1"})[
        "select"
    ]
    assert found == {
        "budget": "5%", "metrics": "comet,bleu", "score_column": "x", "force": True,
    }  # fmt: skip
    (tmp_path / "fewgold.toml").write_text("[select]\nbugdet = 7\n")
    with pytest.raises(UnknownNameError, match="Did you mean 'budget'"):
        project_settings(tmp_path, {})
    (tmp_path / "fewgold.toml").write_text("[selct]\nbudget = 7\n")
    with pytest.raises(UnknownNameError, match="Did you mean 'select'"):
        project_settings(tmp_path, {})
    (tmp_path / "fewgold.toml").write_text("[select\n")
    with pytest.raises(FewgoldError, match=r"cannot read fewgold\.toml"):
        project_settings(tmp_path, {})


def test_flag_over_environment_over_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fewgold.toml").write_text('[select]\nbudget = 7\nout = "s.csv"\nforce = true\n')

    def n(*args: str) -> int:
        monkeypatch.setattr(sys, "argv", ["fewgold", "select", "pool.csv", "--json", "-q", *args])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
        return int(json.loads(capsys.readouterr().out)["n"])

    assert n() == 7
    monkeypatch.setenv("FEWGOLD_SELECT_BUDGET", "10%")
    assert n() == 15
    assert n("--budget", "3") == 3


def test_errors_of_the_process(folder: Path, process: Process) -> None:
    result = process("estimate", "none.csv", cwd=folder)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("error: there is no file 'none.csv'")
    assert result.stderr.count("\n") == 1


def test_settings_that_cannot_be_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "fewgold.toml").write_text("[")
    monkeypatch.setattr(sys, "argv", ["fewgold", "strategies"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    assert capsys.readouterr().err.startswith("error: cannot read fewgold.toml")


@pytest.mark.parametrize(
    ("error", "said"), [(ZeroDivisionError, "this is a bug in fewgold"), (MemoryError, "memory")]
)
def test_a_bug_is_not_the_answer_no(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    error: type[Exception], said: str,
) -> None:  # fmt: skip
    def fails(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr("fewgold.gate.gate", fails)
    gate = ["gate", "pool.csv", "--chosen", "random", "--bar", "3"]
    monkeypatch.setattr(sys, "argv", ["fewgold", *gate])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    last = shown.err.splitlines()[-1]
    assert last.startswith("error: ")
    assert said in last


def test_pipes_speak_utf8_whatever_the_locale(folder: Path, process: Process) -> None:
    text = (folder / "pool.csv").read_text(encoding="utf-8")
    args = ("select", "-", "--budget", "4", "-o", "-", "--design", "d.json", "-q")
    result = process(*args, cwd=folder, input=text, env={"PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0, result.stderr
    assert "dök" in result.stdout


@pytest.mark.parametrize(
    "command",
    [["strategies"], pytest.param(["strategies", "--json"], marks=pytest.mark.slow)],
    ids=" ".join,
)
def test_a_broken_pipe_is_quiet(folder: Path, command: list[str]) -> None:
    root = str(Path(fewgold.__file__).parents[1])
    bare = {"PYTHONPATH": root, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "fewgold", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=bare, cwd=folder,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()  # nobody reads
        assert running.stderr.read() == b""
        assert running.wait(PATIENCE) == 0


def test_interrupts_and_io_errors(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from fewgold import registry

    def stop() -> list[str]:
        raise KeyboardInterrupt

    def broken() -> list[str]:
        raise PermissionError(13, "Permission denied", "pool.csv")

    monkeypatch.setattr(registry, "sampler_names", stop)
    run("strategies", code=130)
    monkeypatch.setattr(registry, "sampler_names", broken)
    assert run("strategies", code=3).stderr == "error: 'pool.csv': Permission denied.\n"


def test_no_colour_where_none_is_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" in run("strategies").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("strategies").stdout
    monkeypatch.delenv("FORCE_COLOR")
    monkeypatch.delenv("NO_COLOR")
    assert "\x1b[3" not in run("strategies").stdout


def test_a_warning_of_fewgold_is_a_note_and_is_said_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    others: list[tuple[object, ...]] = []
    show = _noted(lambda *told: others.append(told))
    for _ in range(2):
        show(FontWarning("no font has it."), FontWarning, "a.py", 1)
    show(UserWarning("mind this"), UserWarning, "b.py", 2)
    assert capsys.readouterr().err == "note: no font has it.\n"
    assert len(others) == 1 and others[0][1:] == (UserWarning, "b.py", 2)
