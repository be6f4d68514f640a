from __future__ import annotations

import pytest

from syncprobe.profiles.timing import region_means, step_spread

MILLISECOND = 1_000_000


def test_spread_is_over_whole_steps() -> None:
    steps = [{"env": n * MILLISECOND, "act": n * MILLISECOND} for n in range(1, 12)]
    spread = step_spread(steps)
    assert (spread.p10, spread.median, spread.p90) == pytest.approx((4.0, 12.0, 20.0))


def test_one_step_has_no_spread() -> None:
    spread = step_spread([{"env": 3 * MILLISECOND}])
    assert (spread.p10, spread.median, spread.p90) == (3.0, 3.0, 3.0)


def test_region_means_add_up_to_the_mean_step() -> None:
    steps = [{"env": 4 * MILLISECOND}, {"env": 2 * MILLISECOND, "learn": 6 * MILLISECOND}]
    assert region_means(steps) == {"env": 3.0, "learn": 3.0}
