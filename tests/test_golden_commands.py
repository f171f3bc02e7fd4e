"""Every command prints the same JSON as before (`tests/golden/commands`)."""

import pytest

from tests.golden.commands import STEPS, differences, kept, run


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_command_prints_what_it_did(slow: bool) -> None:
    found = run(slow)
    wanted = kept()
    assert set(wanted) == {k for k, line in STEPS.items() if not line.startswith("rate ")}
    assert not differences(found, {k: v for k, v in wanted.items() if k in found})


@pytest.mark.parametrize(
    ("found", "wanted"),
    [({"a": 1.0}, {"a": 1.001}), ({"a": 1}, {"a": 1, "b": 2}), ([1], [1, 2]), ("x", "y")],
)
def test_a_difference_is_seen(found: object, wanted: object) -> None:
    assert differences(found, wanted)
