"""Build sdist and wheel, install the wheel alone in a clean environment, and try it there.

    make package        # or: python tests/packaging/package.py [FOLDER]

Run it in a clean clone: the sdist must hold the files of the repository and no others. The wheel
is built twice, from the tree and from the unpacked sdist, and must be the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "packaging"
NOT_IN_SDIST = {".ci/run"}


def run(*command: str, cwd: Path = ROOT) -> str:
    return subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(source: Path, out: Path, kind: str) -> Path:
    run(sys.executable, "-m", "build", f"--{kind}", "--outdir", str(out), str(source))
    suffix = "*.whl" if kind == "wheel" else "*.tar.gz"
    (made,) = out.glob(suffix)
    print(f"  ok  {made.name}, {made.stat().st_size / 1e6:.1f} MB")
    return made


def contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as file:
        return {n: hashlib.sha256(file.read(n)).hexdigest() for n in file.namelist()}


def tracked() -> set[str]:
    return set(run("git", "ls-files").splitlines())


def check_sdist(sdist: Path, folder: Path) -> Path:
    """The repository and what describes the package, nothing else; unpacked, to build from."""
    with tarfile.open(sdist) as file:
        file.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    found = {str(p.relative_to(unpacked)) for p in unpacked.rglob("*") if p.is_file()}
    missing = sorted(tracked() - NOT_IN_SDIST - found)
    strange = sorted(found - tracked() - {"PKG-INFO"})
    assert not missing, f"not in the sdist: {missing}"
    assert not strange, f"in the sdist, but not in the repository: {strange}"
    print(f"  ok  the sdist holds the {len(found) - 1} files of the repository, tests among them")
    return unpacked


def check_wheel(wheel: Path, again: Path) -> None:
    ours = contents(wheel)
    package = {name for name in tracked() if name.startswith("fewgold/")}
    missing = sorted(package - set(ours))
    assert not missing, f"not in the wheel: {missing}"
    strange = sorted(n for n in set(ours) - package if ".dist-info/" not in n)
    assert not strange, f"in the wheel, but not in the package: {strange}"
    assert ours == contents(again), "the wheels of the tree and of the sdist differ"
    print(f"  ok  the wheel holds the {len(package)} files of the package, from either source")


def environment(folder: Path) -> tuple[str, list[str]]:
    """A new environment: its Python, and the command that installs into it."""
    scripts = "Scripts" if os.name == "nt" else "bin"
    python = str(folder / scripts / "python")
    if uv := shutil.which("uv"):
        run(uv, "venv", "--quiet", "--python", sys.executable, str(folder))
        return python, [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", python]
    run(sys.executable, "-m", "venv", str(folder))
    return python, [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def main(out: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        print("Building")
        sdist = build(ROOT, folder / "dist", "sdist")
        wheel = build(ROOT, folder / "dist", "wheel")
        unpacked = check_sdist(sdist, folder / "unpacked")
        check_wheel(wheel, build(unpacked, folder / "again", "wheel"))
        print("In a clean environment, without extras")
        python, install = environment(folder / "clean")
        run(*install, "-c", str(ROOT / "constraints.txt"), str(wheel))
        subprocess.run([python, "-I", str(HERE / "smoke.py")], cwd=folder, check=True)
        out.mkdir(exist_ok=True)
        for made in (sdist, wheel):
            shutil.copy(made, out)
    print(f"Both are good, and in {out}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
