from __future__ import annotations

import random

import pytest

from syncprobe.equivalence.trend import TOLERANCE, trend_of


def episodes(count: int, robots: int = 5, seed: int = 1) -> list[list[float]]:
    generator = random.Random(seed)
    return [[generator.gauss(0, 1) for _ in range(robots)] for _ in range(count)]


def shifted(rewards: list[list[float]], by: float, noise: float, seed: int) -> list[list[float]]:
    generator = random.Random(seed)
    return [[value + by + generator.gauss(0, noise) for value in robots] for robots in rewards]


def test_rewards_within_the_tolerance_are_the_same():
    off = 0.9 * TOLERANCE
    trend = trend_of([[1.0, -300.0]], [[1.0 + off, -300.0 * (1 + off)]])
    assert trend.is_within
    assert not trend.is_significant


@pytest.mark.parametrize("seed", range(10))
def test_chance_is_not_significant(seed):
    first = episodes(8, seed=seed)
    trend = trend_of(first, shifted(first, 0.0, 1.0, seed + 100))
    assert not trend.is_within
    assert not trend.is_significant


@pytest.mark.parametrize("count", [4, 5, 8])
def test_a_shift_of_all_episodes_is_significant(count):
    first = episodes(count)
    trend = trend_of(first, shifted(first, -1.0, 0.3, 2))
    assert trend.is_significant
    assert trend.mean == pytest.approx(-1, abs=0.3)


def test_one_episode_that_went_elsewhere_is_chance():
    first = episodes(5)
    second = [list(robots) for robots in first]
    second[4] = [value - 9.0 for value in second[4]]
    assert not trend_of(first, second).is_significant


def test_a_mean_within_the_tolerance_is_not_significant_however_certain():
    first = [[0.0, 0.0]] * 6
    trend = trend_of(first, [[2.5 * TOLERANCE, -1.5 * TOLERANCE]] * 6)
    assert trend.mean == pytest.approx(0.5 * TOLERANCE)
    assert not trend.is_within
    assert not trend.is_significant


def test_the_same_rewards_give_the_same_interval():
    first, second = [[1.0], [2.0], [3.0]], [[2.0], [0.0], [9.0]]
    assert trend_of(first, second) == trend_of(first, second)


def test_no_rewards_are_no_difference():
    assert trend_of([], []).is_within


def test_rewards_come_in_pairs():
    with pytest.raises(ValueError, match="same robots"):
        trend_of([[1.0]], [[]])
