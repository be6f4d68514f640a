"""Who looks at what: the active robots, their sensors, and everything they might see, as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.vector_environment import legacy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.step5_merge.vector_environment.legacy import Array

# Columns of the observers.
POSITION = slice(0, 2)
HEADING, RADIUS = 2, 3
GOAL_AND_VELOCITY = slice(4, 8)
DEVIATIONS = slice(8, 10)
RANGE, ANGLE, RATIO = 10, 11, 12


@dataclass(frozen=True, slots=True)
class Scene:
    """Who looks at what; of n active robots each looks at the obstacles and at the n - 1 others."""

    robots: list[Any]
    numbers: list[int]
    """The active robots' places in the environment's list."""
    obstacles: Sequence[Any]
    things: Array
    """(obstacles + n, 5): x, y, velocity and radius of obstacles, then of active robots."""
    observers: Array
    """(n, 13): x, y, heading and radius; goal and velocity; the sensor's standard deviations of position
    and velocity, range, angle and mean ratio of the radius."""


def gather(environment: Any, active: list[int]) -> Scene | None:
    """Read what there is to see and who sees it; None if only the legacy code can look at it."""
    try:
        robots = [environment.robots[index] for index in active]
        obstacles = environment.obstacles
        if not (
            legacy.SENSING_ROBOT.is_intact()
            and legacy.SENSOR.is_intact()
            and all(map(legacy.SENSING_ROBOT.covers, environment.robots))
            and all(map(is_supported, robots))
        ):
            return None
        rows = [_observer(robot) for robot in robots]
        things = [(thing.x, thing.y, 0.0, 0.0, thing.r) for thing in obstacles]
        things += [(x, y, v_x, v_y, r) for x, y, _, r, _, _, v_x, v_y, *_ in rows]
        if not legacy.are_plain(chain.from_iterable(chain(rows, things))):
            return None
        observers, table = np.array(rows), np.array(things)
    except Exception:  # whatever it was, the legacy function raises it at the proper place
        return None
    if not (np.isfinite(observers).all() and np.isfinite(table).all()):
        return None
    return Scene(robots, active, obstacles, table, observers)


def is_supported(robot: Any) -> bool:
    """Return whether a robot, its sensor and its generator are of the usual sort."""
    perception, goal = robot.perception, robot.goal
    return (
        legacy.SENSOR.covers(perception)
        and type(perception.rd) is np.random.RandomState
        and type(perception.max_obj_num) is int
        # Negative ones are refused by the generator, in the middle of the draws.
        and perception.pos_std >= 0.0
        and perception.vel_std >= 0.0
        and 0.0 <= perception.r_kappa < math.inf
        and legacy.is_vector(robot.velocity, 3)
        and type(goal) is np.ndarray
        and goal.shape == (2,)
    )


def _observer(robot: Any) -> tuple[Any, ...]:
    """Return a row of the scene's observers."""
    perception = robot.perception
    v_x, v_y, _ = robot.velocity.tolist()
    return (
        robot.x,
        robot.y,
        robot.theta,
        robot.r,
        *robot.goal.tolist(),
        v_x,
        v_y,
        perception.pos_std,
        perception.vel_std,
        perception.range,
        perception.angle,
        perception.r_mean_ratio,
    )
