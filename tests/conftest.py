"""Long tests first, so that no worker is left with one at the end."""

from __future__ import annotations

import pytest

_LONG = ("tests/web/e2e", "test_load.py", "test_crash.py", "test_docs.py", "test_replay.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not any(part in item.nodeid for part in _LONG))
