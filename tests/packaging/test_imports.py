"""What is heavy is loaded when it is used, and not before."""

import json
import subprocess
import sys
from pathlib import Path

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
