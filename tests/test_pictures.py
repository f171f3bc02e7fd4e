"""Pictures on the pages are those that their commands make."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent


def test_the_picture_of_the_gain_is_what_its_command_makes(tmp_path: Path) -> None:
    kept = ROOT / "docs" / "pictures" / "gain.svg"
    made = tmp_path / "gain.svg"
    subprocess.run([sys.executable, str(kept.with_suffix(".py")), str(made)], check=True)
    assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    root = ElementTree.fromstring(made.read_text(encoding="utf-8"))
    assert len(root.findall("{http://www.w3.org/2000/svg}circle")) == 3 * 500
