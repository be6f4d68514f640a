"""Stored episodes: what is written, in which order, and what loading one gives back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from tests.legacy import environment_replay as replay

if TYPE_CHECKING:
    from pathlib import Path


def small_environment(*, is_eval_env: bool = True, seed: int = 4) -> MarineNavEnv3:
    environment = MarineNavEnv3(seed=seed, is_eval_env=is_eval_env)
    environment.num_robots, environment.num_cores, environment.num_obs = 2, 2, 1
    environment.min_start_goal_dis = 25.0
    return environment


def test_keys_are_in_the_original_order() -> None:
    environment = small_environment()
    environment.reset()
    data = environment.episode_data()
    assert list(data) == ["env", "robots"]
    assert " ".join(data["env"]) == (
        "seed is_eval_env width height r v_rel_max p v_range obs_r_range clear_r angular_speed_max "
        "angular_speed_penalty timestep_penalty COLREGs_penalty collision_penalty goal_reward num_robots "
        "cores obstacles"
    )
    assert list(data["env"]["cores"]) == ["positions", "clockwise", "Gamma"]
    assert list(data["env"]["obstacles"]) == ["positions", "r"]
    assert " ".join(data["robots"]) == (
        "dt N length width detect_r r goal_dis power_coefficient min_thrust max_thrust left_thrust_change "
        "right_thrust_change m Izz xDotU yDotV yDotR nDotR nDotV xU xUU yV yVV yR yRV yVR yRR nR nRR nV nVV "
        "nRV nVR start goal init_theta init_velocity_r init_left_pos init_right_pos init_left_thrust "
        "init_right_thrust perception observation_history action_history trajectory"
    )
    assert " ".join(data["robots"]["perception"]) == (
        "range angle max_obj_num pos_std vel_std r_kappa r_mean_ratio"
    )


def test_a_saved_episode_sets_up_the_same_map(tmp_path: Path) -> None:
    saved = small_environment()
    saved.reset()
    saved.step([[0.5, 0.4]] * 2)
    saved.save_episode(tmp_path / "episode.json")
    loaded = MarineNavEnv3(seed=99)
    loaded.reset_with_eval_config(json.loads((tmp_path / "episode.json").read_text()))

    for key, expected in replay.layout(saved).items():
        if key != "perception_seed":
            np.testing.assert_array_equal(replay.layout(loaded)[key], expected)
    assert loaded.seed == saved.seed
    assert loaded.is_eval_env
    assert loaded.episode_timesteps == 0
    assert [len(robot.trajectory) for robot in loaded.robots] == [1, 1]
    assert [len(robot.observation_history) for robot in loaded.robots] == [1, 1]
    assert [robot.action_history for robot in loaded.robots] == [[], []]


def test_perception_seeds_come_from_the_receiving_environments_own_number_of_robots() -> None:
    saved = small_environment()
    saved.reset()
    loaded = MarineNavEnv3(seed=99)
    loaded.reset_with_eval_config(saved.episode_data())
    assert loaded.num_robots == 6
    generator = np.random.RandomState(saved.seed)
    drawn = [generator.randint(0, 30) for _ in range(2)]
    assert [robot.perception.seed for robot in loaded.robots] == drawn


def test_a_loaded_robot_starts_in_the_current() -> None:
    environment = small_environment()
    environment.reset()
    assert all((robot.velocity == 0.0).all() for robot in environment.robots)
    environment.reset_with_eval_config(environment.episode_data())
    for robot in environment.robots:
        np.testing.assert_array_equal(robot.velocity, environment.get_velocity(*robot.start))
        assert robot.velocity.any()


def test_changed_parameters_reach_the_loaded_robots() -> None:
    environment = small_environment()
    environment.reset()
    data = environment.episode_data()
    data["robots"]["m"] = [500, 400]
    data["robots"]["left_thrust_change"] = [[1.0, 2.0], [3.0]]
    data["robots"]["perception"]["range"] = [7.0, 8.0]
    environment.reset_with_eval_config(data)
    first, second = environment.robots
    assert (first.M_RB[0, 0], second.M_RB[0, 0]) == (500.0, 400.0)
    assert (first.compute_actions_dimension(), second.compute_actions_dimension()) == (10, 5)
    assert (first.perception.range, second.perception.range) == (7.0, 8.0)


def test_episode_data_does_not_change_with_later_steps() -> None:
    environment = small_environment()
    environment.reset()
    data = environment.episode_data()
    environment.step([[0.5, 0.4]] * 2)
    assert [len(rows) for rows in data["robots"]["trajectory"]] == [1, 1]
    assert [len(rows) for rows in data["robots"]["observation_history"]] == [1, 1]


def test_a_robot_that_was_never_placed_cannot_be_loaded() -> None:
    environment = small_environment()
    environment.reset()
    data = environment.episode_data()
    data["env"]["num_robots"] = 3
    with pytest.raises(IndexError):
        environment.reset_with_eval_config(data)


def test_numpy_integers_in_the_action_history_cannot_be_saved(tmp_path: Path) -> None:
    environment = small_environment()
    environment.reset()
    environment.step([np.int64(3), np.int64(4)], is_continuous_action=False)
    with pytest.raises(TypeError):
        environment.save_episode(tmp_path / "episode.json")


def test_histories_are_kept_in_evaluation_only() -> None:
    for is_eval_env, length in ((True, 3), (False, 1)):
        environment = small_environment(is_eval_env=is_eval_env)
        environment.reset()
        for _ in range(2):
            environment.step([[0.1, 0.1]] * 2)
        robot = environment.robots[0]
        assert len(robot.trajectory) == length
        assert len(robot.trajectory[0]) == 13
        assert len(robot.action_history) == length - 1
        assert len(robot.observation_history) == (length if is_eval_env else 0)


def test_a_deactivated_robot_records_that_it_saw_nothing() -> None:
    environment = small_environment()
    environment.reset()
    environment.robots[0].collision = environment.robots[0].deactivated = True
    environment.step([None, [0.0, 0.0]])
    assert environment.robots[0].observation_history[-1] == [None, None]
    assert environment.robots[0].action_history == []
