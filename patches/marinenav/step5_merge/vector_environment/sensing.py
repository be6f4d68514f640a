"""What all robots observe, at once.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.get_observations
Removes:  the loops over robots and candidates, two deep copies per robot, matrix objects throughout
Keeps:    observations with their structure and the types of their numbers, what sensors remember, flags,
          the nearest objects and their order, every generator's state

Left to the legacy function: robots or sensors with their own methods, other generators than
``numpy.random.RandomState``, numbers that are neither doubles nor Python integers or not finite.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.vector_environment import legacy
from patches.marinenav.step5_merge.vector_environment.encounters import SPEED_MIN, apply_regulations
from patches.marinenav.step5_merge.vector_environment.legacy import lengths
from patches.marinenav.step5_merge.vector_environment.scene import gather
from patches.marinenav.step5_merge.vector_environment.view import look

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from patches.marinenav.step5_merge.vector_environment.legacy import Array
    from patches.marinenav.step5_merge.vector_environment.scene import Scene


Observation = tuple[list[Any], list[Any]]
"""Own state and nearest objects of a robot."""
Observed = tuple[list[Any], list[Any], list[Any]]
"""Observations, collision flags and arrival flags of all robots."""


def get_observations(self: Any) -> Observed:
    """Let every robot look around; return observations, collision flags and arrival flags."""
    active = [index for index, robot in enumerate(self.robots) if not robot.deactivated]
    observed: list[Observation] = []
    if active:
        scene = gather(self, active)
        if scene is None:
            result: Observed = legacy.GET_OBSERVATIONS(self)
            return result
        observed = _observe(scene, bool(self.observation_in_robot_frame))
    return report(self, active, observed)


def report(environment: Any, active: list[int], observed: list[Observation]) -> Observed:
    """Return what active robots observed in the form that the legacy code returns it."""
    robots = environment.robots
    observations: list[Any] = [(None, None)] * len(robots)
    for index, observation in zip(active, observed, strict=True):
        observations[index] = observation
    if environment.is_eval_env:
        for robot, observation in zip(robots, observations, strict=True):
            robot.observation_history.append([observation[0], observation[1]])
    collisions = [robot.collision for robot in robots]
    return observations, collisions, [robot.reach_goal for robot in robots]


def _observe(scene: Scene, in_robot_frame: bool) -> list[Observation]:
    """Let the robots of a scene look around; return own state and nearest objects of each."""
    view = look(scene, in_robot_frame)
    rows, columns = view.detected.nonzero()
    values = (view.projected if in_robot_frame else view.noisy)[rows, columns]
    speeds = lengths(values[:, 2:]).tolist()
    things = view.candidates[rows, columns].tolist()
    objects = _as_objects(scene, values, view.radii[rows, columns], rows.tolist(), things)
    if not in_robot_frame:
        everything = [*scene.obstacles, *scene.robots]
        restore_types(scene.obstacles, everything, objects, things)

    counts = np.bincount(rows, minlength=len(scene.robots)).tolist()
    observations: list[Observation] = []
    moving: list[Any] = []
    owners: list[int] = []
    begin = 0
    for index, robot in enumerate(scene.robots):
        end = begin + counts[index]
        if view.goal_distances[index] <= robot.goal_dis:
            robot.reach_goal = True
        own = own_state(robot, view.own[index], in_robot_frame)
        found = objects[begin:end]
        remember(len(scene.obstacles), scene.numbers, robot, own, found, things[begin:end])
        chosen = _nearest(robot, found)
        nearest = [found[place].copy() for place in chosen]
        observations.append((own, nearest))
        if view.own_speeds[index] >= SPEED_MIN:
            for place, vehicle in zip(chosen, nearest, strict=True):
                if speeds[begin + place] >= SPEED_MIN:
                    moving.append(vehicle)
                    owners.append(index)
        begin = end
    own_states = [own for own, _ in observations]
    apply_regulations(scene.robots, own_states, moving, owners)
    return observations


def _as_objects(
    scene: Scene, values: Array, radii: Array, rows: list[int], things: list[int]
) -> list[list[Any]]:
    """Return observed objects as lists of numbers.

    A radius is a Python float if the sensor's ratio and the true radius are, as those of obstacles are.
    """
    plain_ratios = [type(robot.perception.r_mean_ratio) is not np.float64 for robot in scene.robots]
    plain_radii = [type(thing.r) is not np.float64 for thing in (*scene.obstacles, *scene.robots)]
    numbers = list(values.flat)
    return [
        [
            *numbers[begin : begin + 4],
            float(radius) if plain_ratios[row] and plain_radii[thing] else radius,
        ]
        for begin, radius, row, thing in zip(
            range(0, len(numbers), 4), radii, rows, things, strict=True
        )
    ]


def restore_types(
    obstacles: Sequence[Any], everything: list[Any], objects: list[list[Any]], things: list[int]
) -> None:
    """Make those numbers of the world frame Python floats that are sums of Python floats."""
    for observed, number in zip(objects, things, strict=True):
        thing = everything[number]
        is_obstacle = number < len(obstacles)
        is_plain = (
            type(thing.x) is not np.float64,
            type(thing.y) is not np.float64,
            is_obstacle,
            is_obstacle,
        )
        observed[:4] = [
            float(value) if plain else value
            for value, plain in zip(observed[:4], is_plain, strict=True)
        ]


def own_state(robot: Any, own: Iterable[Any], in_robot_frame: bool) -> list[Any]:
    """Return what a robot observes of itself; `own` are goal and velocity in its frame."""
    if in_robot_frame:
        return [*own, robot.velocity[2], robot.left_thrust, robot.right_thrust]
    thrusts = (robot.left_thrust, robot.right_thrust)
    return [robot.x, robot.y, *robot.velocity, *thrusts, *robot.goal]


def remember(
    obstacles: int,
    numbers: list[int],
    robot: Any,
    own: list[Any],
    found: list[Any],
    things: list[int],
) -> None:
    """Leave in the robot's sensor what the legacy code leaves there."""
    perception = robot.perception
    perception.observation["self"] = own.copy()
    perception.observation["objects"][:] = found
    perception.observed_obs[:] = [thing for thing in things if thing < obstacles]
    perception.observed_objs[:] = [
        numbers[thing - obstacles] for thing in things if thing >= obstacles
    ]


def _nearest(robot: Any, found: list[Any]) -> list[int]:
    """Return the places of the nearest objects, the nearest first."""
    limit, radius = robot.perception.max_obj_num, robot.r
    try:
        clearances = [
            math.sqrt(math.pow(x, 2.0) + math.pow(y, 2.0)) - r - radius for x, y, _, _, r in found
        ]
    except OverflowError:  # numpy would go on with infinity
        return heapq.nsmallest(
            limit,
            range(len(found)),
            key=lambda place: robot._clearance(found[place]),  # noqa: SLF001
        )
    return sorted(range(len(found)), key=clearances.__getitem__)[: max(limit, 0)]
