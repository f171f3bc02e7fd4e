"""What must work right after `pip install fewgold`, without any extra. Run by package.py.

python tests/packaging/smoke.py     # by the Python of an environment with nothing else in it
"""

from __future__ import annotations

import csv
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

FEWGOLD = str(Path(sys.executable).with_name("fewgold"))
EXTRAS = ("distributed", "duckdb", "fastapi", "ibis", "matplotlib", "openpyxl", "pyarrow", "sphinx")


def run(*args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([FEWGOLD, *args], capture_output=True, text=True, check=False)
    told = f"fewgold {' '.join(args)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    assert done.returncode == code, told
    return done


def say(what: str) -> None:
    print(f"  ok  {what}")


def imports() -> None:
    import fewgold

    assert fewgold.__version__ == version("fewgold")
    assert Path(fewgold.__file__).with_name("py.typed").is_file()
    for name in fewgold.__all__:
        getattr(fewgold, name)
    public = [m.name for m in pkgutil.iter_modules(fewgold.__path__) if m.name[0] != "_"]
    assert len(public) > 20
    for name in set(public) - {"web"}:  # the pages are an extra as a whole
        import_module(f"fewgold.{name}")
    say(f"import fewgold and {len(public) - 1} public modules")


def study() -> None:
    """From the demo's table to a number, as in the README."""
    assert "covers the truth" in run("demo").stdout
    run("demo", "--save", "data")
    run("select", "data/pool.csv", "--budget", "80", "--seed", "1", "-o", "sheet.csv")
    with open("data/human.csv", encoding="utf-8", newline="") as file:
        human = {row["id"]: row["human"] for row in csv.DictReader(file)}
    with open("sheet.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 80
    with open("sheet.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(row | {"score": human[row["id"]]} for row in rows)
    found = json.loads(run("estimate", "sheet.csv", "--json").stdout)
    truth = sum(map(float, human.values())) / len(human)
    assert found["n"] == 80
    assert abs(found["value"] - truth) < 4 * found["se"], (found, truth)
    say("fewgold demo, select, estimate")


@contextmanager
def asks_for(extra: str) -> Iterator[None]:
    """The body must fail with a sentence that names the extra."""
    from fewgold.errors import FewgoldError

    try:
        yield
    except FewgoldError as error:
        assert f"fewgold[{extra}]" in str(error), error
        say(f"asks for fewgold[{extra}]: {error}")
    else:
        raise AssertionError(f"nothing asked for fewgold[{extra}]")


def extras() -> None:
    present = [name for name in EXTRAS if find_spec(name)]
    assert not present, f"not a clean environment: {present} are installed"
    import fewgold
    from fewgold.datasets import load_demo
    from fewgold.simulation import running_on

    with asks_for("cluster"), running_on("dask"):
        pass
    pool, gold = load_demo()
    replayed = fewgold.simulate(pool, gold, ["random+mean", "docs-sys+mean"], [0.1], draws=20)
    with asks_for("plots"):
        replayed.plot()
    Path("pool.parquet").write_bytes(b"PAR1")
    with asks_for("parquet"):
        fewgold.Pool.from_file("pool.parquet")
    told = run("serve", "study", code=3).stderr
    assert "fewgold[web]" in told, told
    run("init", "study", "data/pool.csv")
    run("select", "study", "--budget", "20")
    told = run("export", "study", "-o", "tasks.xlsx", code=3).stderr
    assert "fewgold[xlsx]" in told, told
    say("fewgold serve and export to .xlsx name their extras")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        imports()
        study()
        extras()
