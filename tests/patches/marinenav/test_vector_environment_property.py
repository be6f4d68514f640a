"""Legacy and patched environments stay the same, whatever is done to them between steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.legacy.environment_replay import deactivate_finished
from tests.patches.marinenav.test_vector_environment_twins import Twins, counted_fallbacks, crowded
from tests.slowness import examples

if TYPE_CHECKING:
    from collections.abc import Callable

    from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3

    Change = Callable[[Any, Any, np.random.RandomState], None]

SLOW = settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)

seeds = st.integers(0, 10_000)


def place(environment: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.x, robot.y = random.uniform(0, environment.width, 2)


def place_plainly(environment: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.x, robot.y = random.uniform(0, environment.width, 2).tolist()
    robot.theta = random.randint(-20, 20)


def stop(_: Any, robot: Any, __: np.random.RandomState) -> None:
    robot.velocity_r = np.zeros(3)
    robot.left_thrust = robot.right_thrust = 0.0
    robot.theta = 0.0


def speed_up(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.velocity_r = random.uniform(-3, 3, 3)
    robot.velocity = random.uniform(-3, 3, 3)


def meet(environment: Any, robot: Any, random: np.random.RandomState) -> None:
    """Put a robot on a crossing or opposite course to the first one."""
    other = environment.robots[0]
    distance, angle = random.uniform(5, 15), random.uniform(0, 2 * np.pi)
    robot.x, robot.y = other.x + distance * np.cos(angle), other.y + distance * np.sin(angle)
    robot.theta = (angle + np.pi) % (2 * np.pi)
    robot.velocity_r = np.array([-2 * np.cos(angle), -2 * np.sin(angle), 0.0])
    robot.velocity = robot.velocity_r.copy()


def see_less(_: Any, robot: Any, random: np.random.RandomState) -> None:
    perception = robot.perception
    perception.range = random.uniform(1, 30)
    perception.angle = random.uniform(0, 2 * np.pi)
    perception.max_obj_num = random.randint(0, 7)


def see_otherwise(_: Any, robot: Any, random: np.random.RandomState) -> None:
    perception = robot.perception
    perception.pos_std, perception.vel_std = random.uniform(0, 0.5), 0.0
    perception.r_kappa = random.choice([0.0, 1e-7, 0.3, 5.0])
    perception.r_mean_ratio = np.float64(random.uniform(0.2, 1.2))


def share_generator(environment: Any, robot: Any, _: np.random.RandomState) -> None:
    robot.perception.rd = environment.robots[0].perception.rd


def grow(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.r = random.uniform(0.5, 4.0)
    robot.goal_dis = 6
    robot.head_on_zone_x_dim = 30.0
    robot.left_crossing_zone_y_dim_front = [-30.0, -2.0]


def load(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.m = random.uniform(100, 900)
    if random.randint(2):
        robot.compute_constant_matrices()


def rebuild(_: Any, robot: Any, random: np.random.RandomState) -> None:
    """Give a robot a full set of coefficients, none of them zero."""
    for name in ("yDotV", "yDotR", "nDotV", "yR", "yRV", "yVR", "yRR", "nV", "nVV", "nRV", "nVR"):
        setattr(robot, name, random.uniform(-30, 30))
    robot.compute_constant_matrices()


def turn_thrusters(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.left_pos, robot.right_pos = random.uniform(-1, 1, 2)
    robot.min_thrust, robot.max_thrust = -50, 120


def slow_down(environment: Any, _: Any, random: np.random.RandomState) -> None:
    dt = random.uniform(0.01, 0.2)
    for robot in environment.robots:
        robot.dt, robot.N = dt, 3


def retire(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.deactivated = True
    robot.collision = bool(random.randint(2))
    robot.reach_goal = not robot.collision


def return_to_service(_: Any, robot: Any, __: np.random.RandomState) -> None:
    robot.deactivated = robot.collision = robot.reach_goal = False


def retarget(_: Any, robot: Any, random: np.random.RandomState) -> None:
    robot.goal = random.randint(0, 30, 2)


def widen_cores(environment: Any, _: Any, __: np.random.RandomState) -> None:
    environment.r = 8.0


def move_obstacle(environment: Any, robot: Any, _: np.random.RandomState) -> None:
    if environment.obstacles:
        obstacle = environment.obstacles[0]
        obstacle.x, obstacle.y, obstacle.r = float(robot.x) + 3.0, float(robot.y), 2


def change_rewards(environment: Any, _: Any, __: np.random.RandomState) -> None:
    environment.timestep_penalty, environment.COLREGs_penalty = -1, -0.7
    environment.episode_timesteps = 1000


def change_frame(environment: Any, _: Any, __: np.random.RandomState) -> None:
    environment.observation_in_robot_frame = not environment.observation_in_robot_frame


VECTORISED: list[Change] = [
    place, place_plainly, stop, speed_up, meet, meet, meet, see_less, see_otherwise, share_generator, grow,
    load, rebuild, turn_thrusters, slow_down, retire, return_to_service, retarget, widen_cores,
    move_obstacle, change_rewards, change_frame,
]  # fmt: skip
"""What the patch handles itself."""


def differ_in_substeps(_: Any, robot: Any, __: np.random.RandomState) -> None:
    robot.N = 4


def use_single_precision(_: Any, robot: Any, __: np.random.RandomState) -> None:
    robot.x, robot.r = np.float32(robot.x), np.float32(robot.r)


def move_core(environment: Any, robot: Any, _: np.random.RandomState) -> None:
    if environment.cores:
        environment.cores[0].x, environment.cores[0].y = robot.x + 2.0, robot.y


def lose_bearings(_: Any, robot: Any, __: np.random.RandomState) -> None:
    robot.theta = float("nan")


HANDED_OVER: list[Change] = [differ_in_substeps, use_single_precision, move_core, lose_bearings]
"""What the patch leaves to the legacy code."""


def draw_actions(
    environment: MarineNavEnv3, kind: str, random: np.random.RandomState
) -> list[list[float] | np.ndarray | int | None]:
    def draw() -> Any:
        values = random.uniform(-1.5, 1.5, 2)
        match kind:
            case "list":
                return values.tolist()
            case "array":
                return values
            case "single":
                return values.astype(np.float32)
            case _:
                return random.randint(0, 25)

    return [None if robot.deactivated else draw() for robot in environment.robots]


def run(
    twins: Twins, kind: str, changes: list[list[Change]], random: np.random.RandomState
) -> None:
    twins.do(lambda environment: environment.reset())
    for step in changes:
        for change in step:
            index, seed = random.randint(len(twins.legacy.robots)), random.randint(1000)

            def apply(
                environment: Any, change: Change = change, at: int = index, seed: int = seed
            ) -> None:
                change(environment, environment.robots[at], np.random.RandomState(seed))

            twins.do(apply)
        actions = draw_actions(twins.legacy, kind, random)
        # A step may fail, in both: when all robots have arrived, or when one has lost its bearings.
        twins.attempt(lambda environment: environment.step(actions, kind != "index"))  # noqa: B023
        twins.do(lambda environment: deactivate_finished(environment.robots))


kinds = st.sampled_from(["list", "array", "single", "index"])


def schedules(changes: list[Change]) -> st.SearchStrategy[list[list[Change]]]:
    step = st.lists(st.sampled_from(changes), max_size=3)
    return st.lists(step, min_size=1, max_size=6)


@SLOW
@given(
    seed=seeds,
    robots=st.integers(1, 7),
    cores=st.sampled_from([0, 1, 2, 4, 9]),
    obstacles=st.integers(0, 5),
    is_eval_env=st.booleans(),
    kind=kinds,
    changes=schedules(VECTORISED),
)
def test_robots_changed_between_steps(
    seed: int,
    robots: int,
    cores: int,
    obstacles: int,
    is_eval_env: bool,
    kind: str,
    changes: list[list[Change]],
) -> None:
    with counted_fallbacks() as fallbacks:
        twins = Twins(lambda: crowded(seed, robots, cores, obstacles, is_eval_env))
        run(twins, kind, changes, np.random.RandomState(seed))
    assert not fallbacks


@settings(SLOW, max_examples=examples(15))
@given(seed=seeds, kind=kinds, changes=schedules(VECTORISED + HANDED_OVER * 3))
def test_robots_changed_to_what_the_legacy_code_must_handle(
    seed: int, kind: str, changes: list[list[Change]]
) -> None:
    twins = Twins(lambda: crowded(seed, robots=4))
    run(twins, kind, changes, np.random.RandomState(seed))


@pytest.mark.slow
@settings(SLOW, max_examples=examples(6))
@given(seed=seeds, kind=kinds)
def test_whole_episodes(seed: int, kind: str) -> None:
    """Actions that are kept for a while bring robots to speed, so that they meet and collide."""
    twins = Twins(lambda: crowded(seed, robots=6))
    random = np.random.RandomState(seed)
    twins.do(lambda environment: environment.reset())
    actions = draw_actions(twins.legacy, kind, random)
    for step in range(25):
        if step % 8 == 0:
            actions = draw_actions(twins.legacy, kind, random)
        twins.step(actions, kind != "index")
        twins.do(lambda environment: deactivate_finished(environment.robots))
        actions = [
            None if robot.deactivated else action
            for robot, action in zip(twins.legacy.robots, actions, strict=True)
        ]
        if twins.legacy.check_all_deactivated():
            twins.do(lambda environment: environment.reset())
            actions = draw_actions(twins.legacy, kind, random)
