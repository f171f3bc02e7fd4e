"""What is heavy is loaded when it is used, and not before."""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = {
    "dask", "distributed", "duckdb", "fastapi", "ibis", "jinja2", "matplotlib", "openpyxl",
    "polars", "pyarrow", "pyspark", "sphinx", "starlette", "uvicorn",
}  # fmt: skip
LARGE = {"joblib", "numpy", "pandas", "rich", "scipy", "sklearn", "statsmodels"}
HELP = (
    "import contextlib, io, sys; sys.argv = ['fewgold', '--help']; from fewgold.cli import main\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()"
)


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        pytest.param("import fewgold", EXTRAS | LARGE, id="import"),
        # rich draws the help; pandas, scipy and the like must wait
        pytest.param(HELP, EXTRAS | LARGE - {"rich"}, id="help"),
        # pandas loads pyarrow by itself
        pytest.param(
            "from fewgold import *",
            EXTRAS - {"pyarrow"} | {"sklearn", "statsmodels", "scipy.optimize", "scipy.stats"},
            id="all",
        ),
    ],
)
def test_heavy_modules_wait(code: str, heavy: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        cwd=ROOT, env={"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "fewgold" in loaded
    assert sorted(loaded & heavy) == []


COMMAND = (
    "import atexit, json, pathlib, sys; from fewgold.cli import main\n"
    "ours = lambda: [name for name in sys.modules if name.partition('.')[0] == 'fewgold']\n"
    "atexit.register(lambda: pathlib.Path('loaded.json').write_text(json.dumps(ours())))\n"
    "main()"
)


def test_commands_load_what_they_use(tmp_path: Path) -> None:
    def loaded(*words: str) -> list[str]:
        subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=True,
        )  # fmt: skip
        return sorted(json.loads((tmp_path / "loaded.json").read_text()))

    loaded("demo", "--save", ".")
    names = loaded("select", "pool.csv", "--budget", "20", "--seed", "1", "-o", "sheet.csv")
    assert len(names) <= 120, names
    sheet, human = (pd.read_csv(tmp_path / f"{name}.csv", dtype=str) for name in ("sheet", "human"))
    scores = dict(zip(human["id"], human["human"], strict=True))
    sheet.assign(score=sheet["id"].map(scores)).to_csv(tmp_path / "sheet.csv", index=False)
    names = loaded("estimate", "sheet.csv")
    assert len(names) <= 114, names
