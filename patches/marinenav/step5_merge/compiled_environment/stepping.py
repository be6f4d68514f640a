"""One step of the environment, with the motion computed by compiled code.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step, as vector_environment.stepping does
Removes:  what that does in arrays: hundreds of operations per step become one call
Keeps:    everything that vector_environment.stepping keeps
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.vector_environment import stepping
from patches.marinenav.step5_merge.vector_environment.coefficients import coefficients_of, key_of
from patches.marinenav.step5_merge.vector_environment.current import vortices_of
from patches.marinenav.step5_merge.vector_environment.stepping import Course

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.loading import Kernels

_POSE = attrgetter("x", "y", "theta")


def plot(
    kernels: Kernels,
    environment: Any,
    robots: list[Any],
    actions: list[Any],
    is_continuous_action: bool,
) -> Course | None:
    """Compute where the robots go, without moving them; None if only the legacy code can."""
    try:
        course = _plot(kernels, environment, robots, actions, is_continuous_action)
    except Exception:  # whatever it was, the legacy step raises it at the proper place
        course = None
    if course is None:
        return stepping.plot(environment, robots, actions, is_continuous_action)
    return course


def _plot(
    kernels: Kernels,
    environment: Any,
    robots: list[Any],
    actions: list[Any],
    is_continuous_action: bool,
) -> Course | None:
    substeps = robots[0].N
    if not stepping.are_supported(environment, robots, substeps):
        return None
    cores = vortices_of(environment)
    if cores is None:
        return None
    states = np.empty((len(robots), 10))
    goals = np.empty((len(robots), 2))
    propulsion = np.empty((len(robots), 3))
    thrusts = []
    for index, (robot, action) in enumerate(zip(robots, actions, strict=True)):
        left, right = stepping.changed_thrusts(robot, action, is_continuous_action)
        thrusts.append((left, right))
        states[index, :3] = _POSE(robot)
        states[index, 6:9] = robot.velocity_r
        goals[index] = robot.goal
        propulsion[index] = stepping.propulsion_of(robot, left, right)
    coefficients = coefficients_of([key_of(robot) for robot in robots])
    if kernels.advance(substeps, cores, environment.r, states, goals, propulsion, coefficients):
        return None
    return Course(
        states[:, :3], states[:, 3:6].copy(), states[:, 6:9].copy(), thrusts, states[:, 9]
    )  # fmt: skip


