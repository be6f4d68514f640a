"""Compiled: the collision regulations for one robot and one object that it sees.

Replaces: vector_environment.encounters
Keeps:    zones and turn angles to the last bit

Objects so close that there is no angle are left to the legacy code, for it warns about them.
"""

from __future__ import annotations

import math
from typing import Any

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled.angles import arcsin, arctan2
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    sum_of_two,
)
from patches.marinenav.step5_merge.vector_environment.encounters import SPEED_MIN

NO_ENCOUNTER, ENCOUNTER, NO_ANGLE = range(3)

_HEAD_ON_X, _HEAD_ON_Y = tables.HEAD_ON_X, tables.HEAD_ON_Y
_REAR, _FRONT, _FAR, _CORNER = tables.REAR, tables.FRONT, tables.FAR, tables.CORNER
_RADIUS = tables.RADIUS
_PI = math.pi
_MARGIN = 1e-9
"""Relative; rounding moves positions and velocities by a millionth of that."""


@compiled
def _crosses_from_left(robot: Any, x: float, y: float, heading: float) -> bool:
    front, corner = robot[_FRONT], robot[_CORNER]
    if not (robot[_REAR] <= x <= front and robot[_FAR] <= y <= 0.0):
        return False
    if y - corner > corner / front * (x - front):
        return False
    return _PI / 4 <= heading <= 3 * _PI / 4


@compiled
def _comes_from_ahead(robot: Any, x: float, y: float, heading: float) -> bool:
    if not 0.0 <= x <= robot[_HEAD_ON_X]:
        return False
    if abs(y) > 0.5 * robot[_HEAD_ON_Y]:
        return False
    return abs(heading) > 3 * _PI / 4


@compiled
def _wrapped(angle: float) -> float:
    while angle < -_PI:
        angle += 2 * _PI
    while angle >= _PI:
        angle -= 2 * _PI
    return angle


@compiled
def is_moving(dot: int, v_x: float, v_y: float) -> bool:
    """Return whether something is fast enough to have a course."""
    return not math.sqrt(sum_of_two(dot, v_x, v_x, v_y, v_y)) < SPEED_MIN


@compiled
def _may_meet(robot: Any, own_x: float, own_y: float, vehicle: Any) -> Any:
    """Return whether zones and courses are not clearly others, told without angles and with a margin for rounding."""
    speed = math.sqrt(vehicle[2] * vehicle[2] + vehicle[3] * vehicle[3])
    cosine, sine = vehicle[2] / speed, vehicle[3] / speed
    x = -cosine * vehicle[0] - sine * vehicle[1]
    y = sine * vehicle[0] - cosine * vehicle[1]
    v_x, v_y = cosine * own_x + sine * own_y, cosine * own_y - sine * own_x
    near = _MARGIN * (1.0 + abs(vehicle[0]) + abs(vehicle[1]))
    slow = _MARGIN * (abs(own_x) + abs(own_y))
    may_cross = (
        (robot[_REAR] - near <= x)
        & (x <= robot[_FRONT] + near)
        & (robot[_FAR] - near <= y)
        & (y <= near)
        & (abs(v_x) <= v_y + slow)
    )
    may_come = (
        (-near <= x)
        & (x <= robot[_HEAD_ON_X] + near)
        & (abs(y) <= 0.5 * robot[_HEAD_ON_Y] + near)
        & (abs(v_y) <= slow - v_x)
    )
    return may_cross | may_come


@compiled
def meet(
    forms: Any, arcs: Any, two: float, robot: Any, own_x: float, own_y: float, vehicle: Any, radius: float
) -> tuple[int, float]:  # fmt: skip
    """Return whether a moving robot and a moving object meet, and the angle to turn by.

    Args:
        forms: How products are rounded.
        arcs: Numpy's arcs, `prepared`.
        two: The number, unknown to the compiler: it would make products of powers, which round otherwise.
        robot: A row of the observers.
        own_x: The robot's velocity, as it observes it.
        own_y: Its other component.
        vehicle: Position and velocity of the object, as the robot observes it.
        radius: Its radius.
    """
    if not _may_meet(robot, own_x, own_y, vehicle):
        return NO_ENCOUNTER, 0.0
    dot, turned = forms[0], forms[1]
    heading = arctan2(arcs, vehicle[3], vehicle[2])
    cosine, sine = math.cos(heading), math.sin(heading)
    x = sum_of_two(turned, -cosine, vehicle[0], -sine, vehicle[1])
    y = sum_of_two(turned, sine, vehicle[0], -cosine, vehicle[1])
    v_x = sum_of_two(turned, cosine, own_x, sine, own_y)
    v_y = sum_of_two(turned, -sine, own_x, cosine, own_y)
    course = arctan2(arcs, v_y, v_x)
    if not (_crosses_from_left(robot, x, y, course) or _comes_from_ahead(robot, x, y, course)):
        return NO_ENCOUNTER, 0.0

    clearance = radius + 1.0
    square = sum_of_two(dot, vehicle[0], vehicle[0], vehicle[1], vehicle[1])
    distance = math.sqrt(square)
    ratio = clearance / distance
    tangent_square = math.pow(distance, two) - math.pow(clearance, two)
    if not (-1.0 <= ratio <= 1.0 and tangent_square >= 0.0):
        return NO_ANGLE, math.nan
    own_angle = arctan2(arcs, robot[_RADIUS], math.sqrt(tangent_square))
    bearing = arctan2(arcs, vehicle[1], vehicle[0])
    desired = _wrapped(bearing + arcsin(arcs, ratio) + own_angle)
    return ENCOUNTER, _wrapped(desired - arctan2(arcs, own_y, own_x))
