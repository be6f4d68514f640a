from __future__ import annotations

from syncprobe.comparison.levels import levels_of
from tests.rendering import factories


def test_levels_are_held_against_the_first():
    profile = factories.profile()
    first, second = levels_of(
        [("baseline", profile, [8.0, 10.0, 9.0]), ("step1", profile, [4.0, 5.0, 4.5])]
    )
    assert (first.speedup.median, first.ms_per_step) == (1.0, 9.0)
    assert (second.speedup.median, second.ms_per_step) == (2.0, 4.5)


def test_of_an_even_number_of_passes_the_median_lies_between_the_middle_two():
    profile = factories.profile()
    (level,) = levels_of([("baseline", profile, [8.0, 14.0, 9.0, 10.0])])
    assert level.ms_per_step == 9.5
