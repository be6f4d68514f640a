from __future__ import annotations

from syncprobe.analysis.levels import levels_of
from tests.rendering import factories


def test_levels_are_held_against_the_first():
    profile = factories.profile()
    first, second = levels_of(
        [("baseline", profile, [8.0, 10.0, 9.0]), ("step1", profile, [4.0, 5.0, 4.5])]
    )
    assert (first.speedup.median, first.ms_per_step) == (1.0, 9.0)
    assert (second.speedup.median, second.ms_per_step) == (2.0, 4.5)
