"""Data from outside is held to the declared types."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from syncprobe.conversion import ConversionError, converted
from syncprobe.events import CallSite
from syncprobe.profiles.model import SyncClass
from syncprobe.profiles.quantities import Count

A_SITE = {"path": "a.py", "line": 1, "function": "f"}


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (1, int, 1),
        (1, float, 1.0),
        (1.5, float, 1.5),
        ("x", str, "x"),
        ("bad\udc80name", str, "bad\udc80name"),
        (None, int | None, None),
        ([1, 2], tuple[int, ...], (1, 2)),
        ({"a": 1}, Mapping[str, int], {"a": 1}),
        ("needed", SyncClass | None, SyncClass.NEEDED),
        (A_SITE, CallSite, CallSite("a.py", 1, "f")),
        ({**A_SITE, "later": 1}, CallSite, CallSite("a.py", 1, "f")),
    ],
)
def test_what_fits_passes(value, hint, expected):
    found = converted(value, hint, "it")
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("value", "hint", "message"),
    [
        (True, int, "it is True: expected `int`, got `bool`"),
        (1.5, int, "it is 1.5: expected `int`, got `float`"),
        (-1, Count, "it is -1: expected `int` >= 0"),
        (10**400, float, f"it is {str(10**400)[:39]}…: number out of range"),
        ("1", float, "it is '1': expected `float`, got `str`"),
        (1, tuple[int, ...], "it is 1: expected `array`, got `int`"),
        ([1, "x"], tuple[int, ...], "it[1]: expected `int`, got `str`"),
        ({"a": "x"}, Mapping[str, int], "it[...]: expected `int`, got `str`"),
        ("idle", SyncClass, "it is 'idle': invalid enum value 'idle'"),
        ("bad\udc80name", SyncClass, "it is no text"),
        ({**A_SITE, "line": "1"}, CallSite, "it.line: expected `int`, got `str`"),
        ({"path": "a.py"}, Mapping[str, CallSite], "it[...]: expected `object`, got `str`"),
        ("y" * 99, int, f"it is '{'y' * 38}…: expected `int`, got `str`"),
    ],
)
def test_what_does_not_fit_is_named(value, hint, message):
    with pytest.raises(ConversionError) as caught:
        converted(value, hint, "it")
    assert str(caught.value) == message


def test_the_place_stands_alone_where_the_whole_has_no_name():
    with pytest.raises(ConversionError, match=r"^line: expected `int`, got `str`$"):
        converted({**A_SITE, "line": "1"}, CallSite)


def test_a_problem_is_one_short_line():
    with pytest.raises(ConversionError) as caught:
        converted("y\n" * 500, SyncClass, "it")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
