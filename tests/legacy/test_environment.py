"""What an episode of the environment does: maps, currents, steps, rewards and their quirks."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from legacy_marinenav.marinenav_env.envs.marinenav_env import Core, MarineNavEnv3, Obstacle
from tests.legacy import environment_replay as replay


def make_environment(
    *, robots: int = 2, cores: int = 0, obstacles: int = 0, seed: int = 3
) -> MarineNavEnv3:
    environment = MarineNavEnv3(seed=seed)
    environment.num_robots, environment.num_cores, environment.num_obs = robots, cores, obstacles
    environment.reset()
    return environment


def idle(environment: MarineNavEnv3) -> list[list[float]]:
    return [[0.0, 0.0] for _ in environment.robots]


def generator_states(environment: MarineNavEnv3) -> list[float]:
    states = []
    for robot in environment.robots:
        copied = np.random.RandomState()
        copied.set_state(robot.perception.rd.get_state())
        states.append(copied.random_sample())
    return states


class TestConstruction:
    def test_six_perception_seeds_are_drawn_whatever_the_schedule_says(self) -> None:
        schedule = {
            "timesteps": [0],
            "num_robots": [1],
            "num_cores": [0],
            "num_obstacles": [0],
            "min_start_goal_dis": [30.0],
        }
        environment = MarineNavEnv3(seed=8, schedule=schedule)
        generator = np.random.RandomState(8)
        drawn = [generator.randint(0, 30) for _ in range(6)]
        assert [robot.perception.seed for robot in environment.robots] == drawn
        assert environment.rd.random_sample() == generator.random_sample()

    def test_there_are_25_discrete_actions(self) -> None:
        environment = MarineNavEnv3()
        assert environment.get_action_space_dimension() == 25
        assert environment.robots[0].actions[5 * 2 + 3] == (-1000.0, 500.0)

    def test_there_is_no_search_tree_before_there_are_cores(self) -> None:
        assert not hasattr(make_environment(cores=0), "core_centers")
        assert hasattr(make_environment(cores=2), "core_centers")

    def test_records_have_the_original_attributes(self) -> None:
        core, obstacle = Core(1.0, 2.0, 1, 3.0), Obstacle(1.0, 2.0, 0.5)
        assert (core.x, core.y, core.clockwise, core.Gamma) == (1.0, 2.0, 1, 3.0)
        assert (obstacle.x, obstacle.y, obstacle.r) == (1.0, 2.0, 0.5)

    def test_importing_the_environment_does_not_import_torch(self) -> None:
        program = (
            "import sys, legacy_marinenav.marinenav_env.envs.marinenav_env; "
            "sys.exit('torch' in sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


class TestRegistration:
    def test_importing_the_package_registers_the_environment(self) -> None:
        specification = gymnasium.spec("marinenav_env-v0")
        assert specification.entry_point == "legacy_marinenav.marinenav_env.envs:MarineNavEnv3"

    def test_registering_twice_does_not_warn(self) -> None:
        program = (
            "import importlib, legacy_marinenav.marinenav_env as package; importlib.reload(package)"
        )
        subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)

    def test_gymnasium_makes_the_environment_unless_asked_to_check_its_interface(self) -> None:
        made = gymnasium.make("marinenav_env-v0", disable_env_checker=True, seed=5)
        assert isinstance(made.unwrapped, MarineNavEnv3)
        assert made.unwrapped.seed == 5


class TestReset:
    def test_the_same_seed_gives_the_same_maps(self) -> None:
        first, second = (make_environment(robots=3, cores=3, obstacles=3) for _ in range(2))
        for _ in range(2):
            for key, value in replay.layout(first).items():
                np.testing.assert_array_equal(replay.layout(second)[key], value)
            first.reset()
            second.reset()

    def test_fewer_robots_than_asked_for_are_accepted_silently(self) -> None:
        environment = make_environment(robots=40)
        assert len(environment.robots) < 40
        assert environment.num_robots == 40

    def test_lists_are_cleared_in_place(self) -> None:
        environment = make_environment(robots=2, cores=2, obstacles=2)
        robots, cores, obstacles = environment.robots, environment.cores, environment.obstacles
        environment.reset()
        assert environment.robots is robots
        assert environment.cores is cores
        assert environment.obstacles is obstacles

    def test_a_core_needs_no_more_room_above_than_the_width_allows(self) -> None:
        """The upper side is tested against the width of the map: a quirk of the original."""
        environment = make_environment(robots=1)
        environment.robots.clear()
        environment.height = 30
        assert environment.check_core(Core(20.0, 50.0, 1, 9.0))
        assert not environment.check_obstacle(Obstacle(20.0, 50.0, 1.0))


class TestCurrent:
    def test_without_cores_the_water_is_still(self) -> None:
        np.testing.assert_array_equal(make_environment().get_velocity(1.0, 2.0), np.zeros(3))

    def test_a_single_core_turns_the_water_around_it(self) -> None:
        environment = make_environment(cores=1)
        core = environment.cores[0]
        core.clockwise = 1
        velocity = environment.get_velocity(core.x + 2.0, core.y)
        assert velocity.shape == (3,)
        np.testing.assert_allclose(
            velocity, [0.0, -core.Gamma / (2 * np.pi * 2.0), 0.0], atol=1e-12
        )
        core.clockwise = 0
        np.testing.assert_array_equal(environment.get_velocity(core.x + 2.0, core.y), -velocity)

    def test_speed_grows_inside_a_core_and_falls_outside(self) -> None:
        environment = make_environment(cores=1)
        assert environment.compute_speed(3.0 * np.pi, 0.25) == pytest.approx(1.5)
        assert environment.compute_speed(3.0 * np.pi, 0.5) == pytest.approx(3.0)
        assert environment.compute_speed(3.0 * np.pi, 1.0) == pytest.approx(1.5)

    def test_cores_behind_nearer_ones_contribute_too(self) -> None:
        environment = make_environment(cores=2)
        near, far = environment.cores
        near.x, near.y, near.clockwise = 10.0, 20.0, 1
        far.x, far.y, far.clockwise = 20.0, 20.0, 1
        environment._index_cores()
        both = environment.get_velocity(5.0, 20.0)
        speeds = environment.compute_speed(near.Gamma, 5.0) + environment.compute_speed(
            far.Gamma, 15.0
        )
        assert np.abs(both[1]) == pytest.approx(speeds)

    def test_the_test_current_is_uniform(self) -> None:
        np.testing.assert_array_equal(
            MarineNavEnv3().get_velocity_test(1, 2), np.ones(2) / np.sqrt(2)
        )


class TestStep:
    def test_one_action_per_robot_is_needed(self) -> None:
        environment = make_environment(robots=2)
        with pytest.raises(AssertionError, match="Number of actions not equal number of robots!"):
            environment.step([[0.0, 0.0]])

    def test_there_is_nothing_to_do_when_all_have_arrived(self) -> None:
        environment = make_environment(robots=2)
        for robot in environment.robots:
            robot.reach_goal = True
        with pytest.raises(AssertionError, match="All robots reach goals"):
            environment.step(idle(environment))

    def test_the_step_limit_ends_the_1001st_step(self) -> None:
        environment = make_environment(robots=1)
        environment.episode_timesteps = environment.total_timesteps = 999
        _, _, dones, infos = environment.step(idle(environment))
        assert (dones, infos) == ([False], [{"state": "normal"}])
        _, _, dones, infos = environment.step(idle(environment))
        assert (dones, infos) == ([True], [{"state": "too long episode"}])
        assert environment.episode_timesteps == environment.total_timesteps == 1001

    def test_at_the_step_limit_a_collision_costs_nothing(self) -> None:
        environment = make_environment(robots=1)
        environment.robots[0].collision = True
        environment.episode_timesteps = 1000
        _, rewards, _, infos = environment.step(idle(environment))
        assert infos == [{"state": "too long episode"}]
        assert rewards == [pytest.approx(-0.1)]

    def test_collision_and_arrival_are_rewarded_once_seen(self) -> None:
        environment = make_environment(robots=2)
        environment.robots[0].collision = True
        environment.robots[1].reach_goal = True
        _, rewards, dones, infos = environment.step(idle(environment))
        assert rewards == [pytest.approx(-5.1), pytest.approx(9.9)]
        assert dones == [True, True]
        assert infos == [{"state": "collision"}, {"state": "reach goal"}]
        assert not environment.check_all_deactivated()
        assert environment.check_any_collision()

    def test_reset_starts_the_episode_count_again_but_not_the_total(self) -> None:
        environment = make_environment(robots=1)
        environment.step(idle(environment))
        environment.reset()
        assert (environment.episode_timesteps, environment.total_timesteps) == (0, 1)

    def test_empty_lists_of_robots_count_as_arrived_and_deactivated(self) -> None:
        environment = make_environment()
        environment.robots.clear()
        assert environment.check_all_reach_goal()
        assert environment.check_all_deactivated()
        assert not environment.check_any_collision()

    def test_the_boundary_check_refers_to_a_robot_that_does_not_exist(self) -> None:
        with pytest.raises(AttributeError, match="robot"):
            make_environment().out_of_boundary()


class TestDeactivation:
    def test_a_deactivated_robot_stays_and_draws_no_noise(self) -> None:
        environment = make_environment(robots=2, obstacles=2)
        robot = environment.robots[0]
        robot.collision = robot.deactivated = True
        pose, before = replay.pose(robot), generator_states(environment)
        observations, rewards, dones, infos = environment.step([None, [0.5, 0.5]])
        after = generator_states(environment)
        assert replay.pose(robot) == pose
        assert (after[0] == before[0], after[1] == before[1]) == (True, False)
        assert observations[0] == (None, None)
        assert (rewards[0], dones[0]) == (0, True)
        assert isinstance(rewards[0], int)
        assert infos[0] == {"state": "deactivated after collision"}

    def test_a_deactivated_robot_is_not_seen_and_costs_others_no_draws(self) -> None:
        environment = make_environment(robots=2)
        environment.robots[0].reach_goal = environment.robots[0].deactivated = True
        before = generator_states(environment)
        observations, _, _, infos = environment.step([None, [0.5, 0.5]])
        assert generator_states(environment) == before
        assert observations[1][1] == []
        assert infos[0] == {"state": "deactivated after reaching goal"}

    def test_a_robot_deactivated_for_no_reason_is_an_error(self) -> None:
        environment = make_environment(robots=2)
        environment.robots[0].deactivated = True
        with pytest.raises(RuntimeError, match="collision or reaching goal"):
            environment.step([None, [0.5, 0.5]])
