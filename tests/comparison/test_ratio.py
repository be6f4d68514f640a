from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncprobe.comparison.ratio import Ratio, ratio_of

times = st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=1, max_size=12)


def test_noise_that_hits_both_alike_cancels() -> None:
    machine = [1.0, 3.0, 1.5, 9.0, 2.0]
    ratio = ratio_of([8.0 * slow for slow in machine], machine)
    assert (ratio.low, ratio.median, ratio.high) == pytest.approx((8.0, 8.0, 8.0))
    assert ratio.rounds == 5


def test_one_outlier_does_not_move_the_median() -> None:
    assert ratio_of([2.0, 2.0, 2.0, 2.0, 200.0], [1.0] * 5).median == 2.0


@given(times)
def test_the_interval_holds_the_median(values: list[float]) -> None:
    ratio = ratio_of(values, list(reversed(values)))
    assert ratio.low <= ratio.median <= ratio.high


def test_a_bound_inside_the_interval_is_inconclusive() -> None:
    ratio = ratio_of([1.0, 2.0, 3.0, 4.0, 5.0], [1.0] * 5)
    assert ratio.at_least(0.5) is True
    assert ratio.at_least(3.0) is None
    assert ratio.at_least(9.0) is False


def test_measurements_must_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="pairs"):
        ratio_of([1.0], [])


def test_the_inverse_turns_the_interval_round() -> None:
    ratio = Ratio(median=2.0, low=1.0, high=4.0, rounds=3)
    assert ratio.inverse == Ratio(median=0.5, low=0.25, high=1.0, rounds=3)
