"""Values against values: bits, limits, and sentences about them."""

from __future__ import annotations

import numpy as np
import pytest

from syncprobe.equivalence.entries import Entry
from syncprobe.equivalence.matching import KEPT, Margin, match
from syncprobe.equivalence.verdict import Case

CASE = Case(agent="SAC", pipeline="torchrl", patches=(1, 4), mode="exact", seed=3, steps=20)


def entry(value, quantity="reward", **place):
    place = {"step": 5, "robot": 2, **place}
    value = np.array(value) if isinstance(value, (float, int, list)) else value
    return Entry(quantity, place.get("detail", ""), place["step"], place["robot"], value)


def compare(first, second, limit=None):
    limits = {"reward": limit} if limit else None
    return match("exact", [entry(first)], [entry(second)], limits)


@pytest.mark.parametrize("value", [1.5, [1.0, float("nan")], "text", None, 3])
def test_equal_values_match(value):
    result = compare(value, value)
    assert (result.compared, result.found) == (1, 0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1.0, np.nextafter(1.0, 2.0).item()),
        (0.0, -0.0),
        ([1.0, 2.0], [1.0]),
        (1, 2),
        (1, 1.0),
        ("a", "b"),
        (None, 1.0),
        (1.0, None),
        (1.0, "a"),
    ],
)
def test_the_last_bit_and_the_type_count(first, second):
    assert compare(first, second).found == 1


def test_a_difference_says_where_and_what():
    (difference,) = compare([1.0, 2.0, 3.0], [1.0, 2.5, 3.5]).differences
    assert difference.sentence(CASE) == (
        "SAC, torchrl pipeline, patches 1,4, exact mode, seed 3: reward, number 1, and 1 more "
        "at step 5, robot 2 is 2.5, legacy has 2.0 [exact]"
    )


def test_limits_leave_room_and_say_how_much_was_used():
    result = compare([1.0, 200.0], [1.0 + 1e-7, 200.0], Margin(absolute=1e-6))
    assert result.found == 0
    (deviation,) = result.deviations
    assert deviation.largest == pytest.approx(1e-7, rel=1e-6)
    assert deviation.used == pytest.approx(0.1, rel=1e-6)
    assert deviation.limit == "1e-06"


def test_limits_end_somewhere():
    (difference,) = compare(1.0, 1.1, Margin(absolute=1e-3, relative=1e-2)).differences
    assert difference.limit == "0.001 or 0.01 relative"
    assert "(may differ by 0.001 or 0.01 relative)" in difference.sentence(CASE)


def test_what_is_not_a_number_is_outside_unless_legacy_has_it_too():
    limit = Margin(absolute=1.0)
    assert compare(float("nan"), float("nan"), limit).found == 0
    assert compare(1.0, float("nan"), limit).found == 1


def test_integers_have_no_limits():
    assert compare(7, 8, Margin(absolute=10.0)).found == 1


def test_missing_and_additional_values_are_differences():
    first, second = entry(1.0, step=1), entry(1.0, step=2)
    result = match("exact", [first], [second])
    assert [(item.expected, item.found) for item in result.differences] == [
        ("1.0", "nothing"),
        ("nothing", "1.0"),
    ]


def test_only_the_first_differences_are_kept_but_all_are_counted():
    many = [entry(1.0, step=step) for step in range(50)]
    others = [entry(2.0, step=step) for step in range(50)]
    result = match("exact", many, others)
    assert result.found == 50
    assert [item.step for item in result.differences] == list(range(KEPT))


def test_texts_are_shown_from_the_first_line_that_differs():
    (difference,) = compare("same\nold\nrest", "same\nnew\nrest").differences
    assert (difference.expected, difference.found) == ("'old'", "'new'")


def test_what_is_not_checked_does_not_count():
    result = match(
        "x", [entry(1.0)], [entry(2.0)], is_checked=lambda item: item.quantity != "reward"
    )
    assert (result.compared, result.found) == (0, 0)
