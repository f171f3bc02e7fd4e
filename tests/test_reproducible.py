"""A seed gives the same sample on every machine, though their linear algebra rounds otherwise."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout

import pytest

PROGRAM = """
import hashlib
from fewgold import registry
from fewgold.datasets import load_demo
for kind in ("ende", "zhen"):
    pool, gold = load_demo(kind)
    for name in ("docs-balanced", "metrics-prop", "docs-opt", "docs-sys", "docs-prop"):
        rows = registry.sampler(name).draw(pool, 100, draws=20, rng=7).indices
        print(kind, name, hashlib.sha256(rows.astype("<i8").tobytes()).hexdigest())
"""


def samples() -> str:
    """Digests of some samples, drawn here."""
    with redirect_stdout(io.StringIO()) as printed:
        exec(PROGRAM, {})
    return printed.getvalue()


def samples_with(kernels: str) -> str:
    """The same, drawn with the linear algebra of another processor."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.skipif(sys.platform == "darwin", reason="numpy has no OpenBLAS kernels to choose here")
def test_samples_do_not_depend_on_the_machine() -> None:
    new, old = samples(), samples_with("Nehalem")
    assert new.count("\n") == 10
    assert new == old
