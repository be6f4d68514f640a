"""Data from outside is held to the declared types."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from syncprobe.analysis.model import SyncClass
from syncprobe.conformance import complaint
from syncprobe.events import CallSite


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (1, int),
        (1, float),
        (1.5, float),
        ("x", str),
        (None, int | None),
        ((1, 2), tuple[int, ...]),
        ({"a": 1}, Mapping[str, int]),
        (SyncClass.NEEDED, SyncClass | None),
        (CallSite("a.py", 1, "f"), CallSite),
    ],
)
def test_what_fits_passes(value, hint):
    assert complaint(value, hint, "it") is None


@pytest.mark.parametrize(
    ("value", "hint", "message"),
    [
        (True, int, "it is True, not int"),
        (1.5, int, "it is 1.5, not int"),
        (float("inf"), float, "it is inf, not float"),
        ("1", float, "it is '1', not float"),
        ([1], tuple[int, ...], "it is [1]"),
        ((1, "x"), tuple[int, ...], "it[1] is 'x', not int"),
        ({"a": "x"}, Mapping[str, int], "it['a'] is 'x', not int"),
        ("needed", SyncClass, "it is 'needed', not a known name"),
        (CallSite("a.py", "1", "f"), CallSite, "it.line is '1', not int"),
        ("y" * 99, int, f"it is '{'y' * 38}…, not int"),
    ],
)
def test_what_does_not_fit_is_named(value, hint, message):
    assert complaint(value, hint, "it") == message
