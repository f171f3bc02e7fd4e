"""Pictures on the pages are those that their commands make."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from xml.etree import ElementTree

import pytest

GAIN = Path(__file__).parents[2] / "docs" / "pictures" / "gain.svg"


def _figures(text: str) -> list[str]:
    """The lines that show figures, one way of doing a study after the other."""
    return [v for v in text.splitlines() if "<circle" in v or "typical error" in v]


def test_two_of_three_parts_of_the_picture_of_the_gain() -> None:
    """The third, of balanced samples, takes five times as long."""
    spec = spec_from_file_location("gain", GAIN.with_suffix(".py"))
    assert spec is not None and spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.WAYS.popitem()[0] == "docs-balanced+ridge"
    made = _figures(script.draw())
    assert len(made) == 2 * 501
    assert made == _figures(GAIN.read_text(encoding="utf-8"))[: 2 * 501]


@pytest.mark.slow
def test_the_picture_of_the_gain_is_what_its_command_makes(tmp_path: Path) -> None:
    made = tmp_path / "gain.svg"
    subprocess.run([sys.executable, str(GAIN.with_suffix(".py")), str(made)], check=True)
    assert made.read_text(encoding="utf-8") == GAIN.read_text(encoding="utf-8")
    root = ElementTree.fromstring(made.read_text(encoding="utf-8"))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 3 * 500
