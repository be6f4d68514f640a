"""Collision regulations for all robots at once.

Replaces: marinenav_env.envs.utils.robot:Robot.check_apply_COLREGs, as perception uses it
Removes:  four matrix objects per object seen
Keeps:    the order in which objects are looked at, that the first one that asks for a turn ends the
          search, and every turn angle computed on the way (`phi`, also when it is not a number)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils import colregs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.step5_merge.vector_environment.legacy import Array

_COMPUTE_TURN_ANGLE: Final[Any] = colregs.compute_turn_angle

SPEED_MIN = 0.5
"""What moves more slowly, the robot itself or an object, has no course to give way to."""


def apply_regulations(
    robots: Sequence[Any],
    own_states: Sequence[Any],
    objects: Sequence[Any],
    owners: Sequence[int],
) -> None:
    """Set `apply_COLREGs`, and `phi` where there is an encounter.

    Args:
        robots: The active robots.
        own_states: What each observed of itself.
        objects: Moving objects, each as its owner observed it, in the order they are looked at.
        owners: For each object the index of the robot that observed it.
    """
    for robot in robots:
        robot.apply_COLREGs = False
    if not objects:
        return
    positions, velocities = _ego_in_vehicle_frames(
        np.array([own_states[owner][2:4] for owner in owners]), np.array(objects)
    )
    for owner, vehicle, position, velocity in zip(
        owners, objects, positions, velocities, strict=True
    ):
        robot = robots[owner]
        if robot.apply_COLREGs:
            continue
        if robot.check_left_crossing(position, velocity) or robot.check_head_on(position, velocity):
            robot.phi = _COMPUTE_TURN_ANGLE(own_states[owner][2:4], vehicle, robot.r)
            if robot.phi > 0:
                robot.apply_COLREGs = True


def _ego_in_vehicle_frames(ego_velocities: Array, vehicles: Array) -> tuple[Any, Any]:
    """Return ego positions and velocities in frames that point along the vehicles' motion."""
    count = len(vehicles)
    headings = np.arctan2(vehicles[:, 3], vehicles[:, 2])
    rotations = np.empty((2, count, 2, 2))
    forward = rotations[1]
    forward[:, 0, 0] = forward[:, 1, 1] = np.cos(headings)
    forward[:, 1, 0] = np.sin(headings)
    np.negative(forward[:, 1, 0], forward[:, 0, 1])
    np.negative(forward, rotations[0])

    vectors = np.empty((2, count, 2, 1))
    vectors[0, :, :, 0] = vehicles[:, :2]
    vectors[1, :, :, 0] = ego_velocities
    positions, velocities = np.matmul(rotations.swapaxes(2, 3), vectors)[..., 0].tolist()
    return positions, velocities
