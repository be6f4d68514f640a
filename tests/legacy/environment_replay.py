"""Recorded roll-outs run again: the caller's part of an episode, and its state as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
    from tests.legacy import golden

MAX_OBJECTS = 5
INFO_CODES = {
    "normal": 0,
    "collision": 1,
    "reach goal": 2,
    "deactivated after collision": 3,
    "deactivated after reaching goal": 4,
    "too long episode": 5,
}


def make_environment(arguments: dict[str, Any]) -> MarineNavEnv3:
    return MarineNavEnv3(
        seed=arguments["seed"],
        schedule=arguments["schedule"],
        is_eval_env=arguments.get("is_eval_env", False),
    )


def layout(environment: MarineNavEnv3) -> dict[str, Any]:
    """The map that a reset made, under the names of the recording."""
    robots = environment.robots
    cores = [[core.x, core.y, core.clockwise, core.Gamma] for core in environment.cores]
    obstacles = [[obstacle.x, obstacle.y, obstacle.r] for obstacle in environment.obstacles]
    return {
        "start": [robot.start for robot in robots],
        "goal": [robot.goal for robot in robots],
        "init_theta": [robot.init_theta for robot in robots],
        "perception_seed": [robot.perception.seed for robot in robots],
        "cores": np.reshape(cores, (-1, 4)),
        "obstacles": np.reshape(obstacles, (-1, 3)),
    }


def first_observation(reset: tuple[Any, Any, Any]) -> dict[str, Any]:
    observations, collisions, reach_goals = reset
    own, objects, counts = pad_observations(observations)
    return {
        "reset_self": own,
        "reset_obj": objects,
        "reset_cnt": counts,
        "reset_collision": collisions,
        "reset_reach": reach_goals,
    }


def first_state(robots: Sequence[Robot]) -> dict[str, Any]:
    return {
        "reset_pose": [pose(robot) for robot in robots],
        "reset_velocity_r": [robot.velocity_r for robot in robots],
        "reset_velocity": [robot.velocity for robot in robots],
        "reset_thrust": [thrust(robot) for robot in robots],
        "reset_apply_colregs": [robot.apply_COLREGs for robot in robots],
    }


def run_steps(
    environment: MarineNavEnv3, actions: np.ndarray, is_continuous_action: bool
) -> Iterator[dict[str, Any]]:
    """Step with recorded actions, deactivating robots as a trainer would; yields what was recorded.

    Ends early when every robot is deactivated, as the recording did.
    """
    robots = environment.robots
    for row in actions:
        active = [not robot.deactivated for robot in robots]
        given = [
            _as_action(action) if used else None for action, used in zip(row, active, strict=True)
        ]
        observations, rewards, dones, infos = environment.step(given, is_continuous_action)
        deactivate_finished(robots)
        own, objects, counts = pad_observations(observations)
        # A robot that was not active keeps the flag of its last observation, without a penalty.
        penalised = [
            used and robot.apply_COLREGs for used, robot in zip(active, robots, strict=True)
        ]
        yield {
            "action_used": active,
            "self_obs": own,
            "obj_obs": objects,
            "obj_cnt": counts,
            "rewards": rewards,
            "dones": dones,
            "info": [INFO_CODES[info["state"]] for info in infos],
            "pose": [pose(robot) for robot in robots],
            "velocity_r": [robot.velocity_r for robot in robots],
            "velocity": [robot.velocity for robot in robots],
            "thrust": [thrust(robot) for robot in robots],
            "collision": [robot.collision for robot in robots],
            "reach_goal": [robot.reach_goal for robot in robots],
            "deactivated": [robot.deactivated for robot in robots],
            "apply_colregs": penalised,
            "phi": [
                robot.phi if is_penalised else np.nan
                for robot, is_penalised in zip(robots, penalised, strict=True)
            ],
        }
        if environment.check_all_deactivated():
            return


def check_episode(
    recorded: golden.Arrays,
    environment: MarineNavEnv3,
    reset: tuple[Any, Any, Any],
    is_continuous_action: bool,
    prefix: str = "",
) -> None:
    """Hold a map, its first observation and the steps that follow to the recording."""
    start = layout(environment) | first_observation(reset) | first_state(environment.robots)
    for key, value in start.items():
        recorded.check(prefix + key, value)
    steps = list(run_steps(environment, recorded.given(prefix + "actions"), is_continuous_action))
    for key in steps[0]:
        if prefix + key in recorded:
            recorded.check(prefix + key, [step[key] for step in steps])


def deactivate_finished(robots: Sequence[Robot]) -> None:
    for robot in robots:
        if not robot.deactivated and (robot.collision or robot.reach_goal):
            robot.deactivated = True


def pad_observations(observations: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Own states, objects padded with zeros, and their numbers: -1 for a deactivated robot."""
    width = max((len(own) for own, _ in observations if own is not None), default=7)
    own_states = np.full((len(observations), width), np.nan)
    padded = np.zeros((len(observations), MAX_OBJECTS, 5))
    counts = np.full(len(observations), -1)
    for index, (own, objects) in enumerate(observations):
        if own is not None:
            own_states[index] = own
            padded[index, : len(objects)] = np.reshape(objects, (-1, 5))
            counts[index] = len(objects)
    return own_states, padded, counts


def probe_generators(environment: MarineNavEnv3) -> list[float]:
    """One more draw of every generator, which tells whether earlier draws were as many as recorded."""
    generators = [environment.rd, *(robot.perception.rd for robot in environment.robots)]
    return [generator.random_sample() for generator in generators]


def pose(robot: Robot) -> list[float]:
    return [robot.x, robot.y, robot.theta]


def thrust(robot: Robot) -> list[float]:
    return [robot.left_thrust, robot.right_thrust]


def _as_action(action: np.ndarray | np.integer) -> list[float] | int:
    return action.tolist()
