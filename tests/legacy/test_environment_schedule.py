"""Schedules: which stage a reset is in, and what is refused before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.marinenav_env.envs.utils.schedule import (
    check_eval_schedule,
    check_training_schedule,
)

STAGES: dict[str, list[Any]] = {
    "timesteps": [0, 10, 20],
    "num_robots": [1, 2, 3],
    "num_cores": [0, 1, 2],
    "num_obstacles": [2, 1, 0],
    "min_start_goal_dis": [20.0, 25.0, 30.0],
}
EVALUATION: dict[str, list[Any]] = {
    "num_episodes": [2, 2, 2],
    **{key: values for key, values in STAGES.items() if key != "timesteps"},
}


@pytest.mark.parametrize(
    ("total_timesteps", "stage"), [(0, 0), (9, 0), (10, 1), (19, 1), (20, 2), (10_000, 2)]
)
def test_reset_uses_the_last_stage_that_has_begun(total_timesteps: int, stage: int) -> None:
    environment = MarineNavEnv3(seed=1, schedule=STAGES)
    environment.total_timesteps = total_timesteps
    environment.reset()
    assert environment.num_robots == len(environment.robots) == STAGES["num_robots"][stage]
    assert environment.num_cores == len(environment.cores) == STAGES["num_cores"][stage]
    assert environment.num_obs == len(environment.obstacles) == STAGES["num_obstacles"][stage]
    assert environment.min_start_goal_dis == STAGES["min_start_goal_dis"][stage]


def test_before_the_first_stage_the_last_one_applies() -> None:
    environment = MarineNavEnv3(seed=1, schedule=STAGES | {"timesteps": [5, 10, 20]})
    environment.reset()
    assert environment.num_robots == 3


def test_reset_prints_the_stage(capsys: pytest.CaptureFixture[str]) -> None:
    MarineNavEnv3(seed=1, schedule=STAGES).reset()
    assert capsys.readouterr().out == (
        "\n======== training schedule ========\n"
        "num of robots:  1\n"
        "num of cores:  0\n"
        "num of obstacles:  2\n"
        "min start goal dis:  20.0\n"
        "======== training schedule ========\n\n"
    )


def test_without_a_schedule_nothing_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    environment = MarineNavEnv3(seed=1)
    environment.num_robots, environment.num_cores, environment.num_obs = 1, 0, 0
    environment.reset()
    assert capsys.readouterr().out == ""


def test_wanting_no_robots_is_an_assertion() -> None:
    environment = MarineNavEnv3(seed=1)
    environment.num_robots = 0
    with pytest.raises(AssertionError, match="num_robots must be > 0"):
        environment.reset()


def test_proper_schedules_pass() -> None:
    check_training_schedule(STAGES)
    check_eval_schedule(EVALUATION)
    check_training_schedule({key: tuple(values) for key, values in STAGES.items()})
    check_training_schedule({key: np.array(values) for key, values in STAGES.items()})


@pytest.mark.parametrize("key", STAGES)
def test_a_missing_key_is_named_with_all_that_are_needed(key: str) -> None:
    schedule = {name: values for name, values in STAGES.items() if name != key}
    with pytest.raises(ValueError, match="training_schedule") as caught:
        check_training_schedule(schedule)
    assert str(caught.value) == (
        f"training_schedule: '{key}' is missing; needed are 'timesteps', 'num_robots', "
        "'num_cores', 'num_obstacles', 'min_start_goal_dis'"
    )


def test_lists_of_different_lengths_are_named() -> None:
    with pytest.raises(ValueError, match="training_schedule") as caught:
        check_training_schedule(STAGES | {"num_cores": [1, 2]})
    assert str(caught.value) == (
        "training_schedule: 'num_cores' has 2 entries but 'timesteps' has 3; "
        "all lists need one entry per stage"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("num_robots", [1, 0, 3], "the entry 0; allowed are whole numbers >= 1"),
        ("num_robots", [1, -2, 3], "the entry -2; allowed are whole numbers >= 1"),
        ("num_cores", [0, -1, 0], "the entry -1; allowed are whole numbers >= 0"),
        ("num_obstacles", [0, 0, -5], "the entry -5; allowed are whole numbers >= 0"),
        ("num_obstacles", [0, 0, 1.5], "the entry 1.5; allowed are whole numbers >= 0"),
        ("num_cores", [0, True, 0], "the entry True; allowed are whole numbers >= 0"),
        ("min_start_goal_dis", [1.0, -1.0, 1.0], "the entry -1.0; allowed are numbers >= 0"),
        ("min_start_goal_dis", [1.0, float("nan"), 1.0], "the entry nan; allowed are numbers >= 0"),
        ("min_start_goal_dis", [1.0, "30", 1.0], "the entry '30'; allowed are numbers >= 0"),
        ("timesteps", [0, -1, 5], "the entry -1; allowed are numbers >= 0"),
        ("timesteps", 0, "must be a list with one entry per stage, not 0"),
        ("timesteps", "012", "must be a list with one entry per stage, not '012'"),
        ("timesteps", [], "is empty; at least one stage is needed"),
    ],
)
def test_unusable_entries_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValueError, match=f"training_schedule: '{key}'") as caught:
        check_training_schedule(STAGES | {key: value})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_something_else_than_a_mapping_is_refused() -> None:
    with pytest.raises(ValueError, match="training_schedule: must map 'timesteps'"):
        check_training_schedule([1, 2, 3])


def test_evaluation_schedules_are_checked_alike() -> None:
    with pytest.raises(ValueError, match="eval_schedule: 'num_episodes' is missing"):
        check_eval_schedule(STAGES)
    with pytest.raises(ValueError, match="eval_schedule: 'num_robots' has 1 entries but 'num_epi"):
        check_eval_schedule(EVALUATION | {"num_robots": [1]})
    with pytest.raises(ValueError, match="eval_schedule: 'num_episodes' has the entry -1"):
        check_eval_schedule(EVALUATION | {"num_episodes": [2, -1, 2]})


def test_the_environment_refuses_a_malformed_schedule() -> None:
    with pytest.raises(ValueError, match="training_schedule: 'num_obstacles' is missing"):
        MarineNavEnv3(schedule={key: STAGES[key] for key in STAGES if key != "num_obstacles"})
