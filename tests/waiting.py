"""How long tests wait: for events, and only then for the clock."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

#: Seconds until something that never comes is given up. Never a measure of speed: on a busy machine
#: everything may take minutes, and where all is well nobody waits for it.
PATIENCE = 300.0


def until(true: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait until something is true, for as long as a process lives that makes it so."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert process is None or process.poll() is None, "the process ended"
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
