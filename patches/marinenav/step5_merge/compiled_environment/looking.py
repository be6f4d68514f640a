"""Compiled: noise, detection, collisions, the nearest objects and the regulations, for all robots.

Replaces: vector_environment.view and most of vector_environment.sensing
Removes:  array operations over all candidates, two calls of a generator and a few lists per candidate
Keeps:    the draws and their order, the order of objects, and every number
"""

from __future__ import annotations

import math
from typing import Any

from patches.marinenav.step5_merge.compiled_environment import encounters, tables
from patches.marinenav.step5_merge.compiled_environment.arithmetic import compiled, sum_of_two
from patches.marinenav.step5_merge.compiled_environment.encounters import is_moving, meet
from patches.marinenav.step5_merge.compiled_environment.noise import (
    WORDS,
    cosine_of_angle,
    pair_in_circle,
    steepness,
    two_normals,
    von_mises,
    words_at,
)

DONE, IS_SPECIAL, HAS_OTHER_DRAWS = range(3)
"""`look` did it; the array code has to; somebody else drew from a generator. The latter two change nothing."""

_LARGEST = 1e100
"""Squares of larger numbers may overflow, which numpy warns about."""
_LARGEST_NORMAL = 20.0
"""Larger than the length of any two normals: those are made of 53 bits each, which end before 13."""


@compiled
def look(
    forms: Any, two: float, in_robot_frame: bool, obstacles: int, observers: Any, summary: Any,
    things: Any, own: Any, angles: Any, found: Any, gaps: Any, numbers: Any,
) -> int:  # fmt: skip
    """Let n robots look at the obstacles and at each other.

    Args:
        forms: How products are rounded.
        two: The number, unknown to the compiler.
        in_robot_frame: Whether objects are reported in the robots' frames or in the world's.
        obstacles: Their number.
        observers: (n, 22), see `tables`.
        summary: (n, 6), see `tables`; all but address and limit are written.
        things: (obstacles + n, 5): position, velocity and radius of obstacles; those of robots are written.
        own: (n, 4), written: goals and velocities in the robots' frames.
        angles: (n,), written where there is one.
        found: (n * things, 4), written: what each robot found, one after the other.
        gaps: (2, n * things), written: radii of what was found, and how far it is from the hull.
        numbers: (2, n * things), written: rows of `things` for what was found, and for each robot the places of
            the nearest objects among its own.
    """
    for index in range(len(observers)):
        thing, robot = things[obstacles + index], observers[index]
        thing[0], thing[1], thing[4] = robot[tables.X], robot[tables.Y], robot[tables.RADIUS]
        thing[2], thing[3] = robot[tables.V_X], robot[tables.V_Y]
    if not (_are_moderate(observers) and _are_moderate(things)):
        return IS_SPECIAL
    for index in range(len(observers)):
        words = words_at(summary[index, tables.ADDRESS])
        is_known = (
            words[0] == summary[index, tables.WORD]
            and words[WORDS] == summary[index, tables.POSITION]
        )
        if not is_known:
            return HAS_OTHER_DRAWS
        if observers[index, tables.FRONT] == 0.0:
            return IS_SPECIAL
        if summary[index, tables.LIMIT] > tables.MOST_OBJECTS:
            return IS_SPECIAL
    begin = 0
    for index in range(len(observers)):
        begin += _look_around(
            forms, two, in_robot_frame, obstacles, index, observers[index], summary[index], things,
            own[index], angles[index : index + 1], found[begin:], gaps[:, begin:], numbers[:, begin:],
        )  # fmt: skip
    for index in range(len(observers)):
        words = words_at(summary[index, tables.ADDRESS])
        summary[index, tables.WORD] = words[0]
        summary[index, tables.POSITION] = words[WORDS]
    return DONE


@compiled
def _are_moderate(table: Any) -> bool:
    for value in table.flat:
        if not abs(value) < _LARGEST:
            return False
    return True


@compiled
def _look_around(
    forms: Any, two: float, in_robot_frame: bool, obstacles: int, index: int, robot: Any, summary: Any,
    things: Any, own: Any, angle_owed: Any, found: Any, gaps: Any, numbers: Any,
) -> int:  # fmt: skip
    """Let one robot look; return how many objects it found."""
    dot, turned = forms[0], forms[1]
    cosine, sine = math.cos(robot[tables.HEADING]), math.sin(robot[tables.HEADING])
    x, y, radius = robot[tables.X], robot[tables.Y], robot[tables.RADIUS]
    shift_x = sum_of_two(turned, -cosine, x, -sine, y)
    shift_y = sum_of_two(turned, sine, x, -cosine, y)
    goal_x, goal_y = robot[tables.GOAL_X], robot[tables.GOAL_Y]
    own[0] = sum_of_two(turned, cosine, goal_x, sine, goal_y) + shift_x
    own[1] = sum_of_two(turned, -sine, goal_x, cosine, goal_y) + shift_y
    v_x, v_y = robot[tables.V_X], robot[tables.V_Y]
    own[2] = sum_of_two(turned, cosine, v_x, sine, v_y)
    own[3] = sum_of_two(turned, -sine, v_x, cosine, v_y)
    events = 0
    to_goal_x, to_goal_y = goal_x - x, goal_y - y
    goal_distance = math.sqrt(sum_of_two(dot, to_goal_x, to_goal_x, to_goal_y, to_goal_y))
    if goal_distance <= robot[tables.GOAL_REACH]:
        events |= tables.REACHED

    words = words_at(summary[tables.ADDRESS])
    kappa, ratio = robot[tables.KAPPA], robot[tables.RATIO]
    s = steepness(kappa)
    half_angle = 0.5 * robot[tables.ANGLE]
    has_collided = robot[tables.HAS_COLLIDED] != 0.0
    count = 0
    for number in range(len(things)):
        if number == obstacles + index:
            continue
        thing = things[number]
        position_pair = pair_in_circle(words)
        velocity_pair = pair_in_circle(words)
        cosine_drawn, is_negative = cosine_of_angle(words, kappa, s)
        if _is_out_of_sight(robot, thing):
            continue
        noise_x, noise_y = two_normals(*position_pair)
        angle = von_mises(kappa, cosine_drawn, is_negative)
        # The generator adds the mean, which turns -0.0 into 0.0.
        p_x = thing[0] + (0.0 + robot[tables.POSITION_DEVIATION] * noise_x)
        p_y = thing[1] + (0.0 + robot[tables.POSITION_DEVIATION] * noise_y)
        r = ratio * thing[4] + (1.0 - ratio) * angle / math.pi * thing[4]
        near_x = sum_of_two(turned, cosine, p_x, sine, p_y) + shift_x
        near_y = sum_of_two(turned, -sine, p_x, cosine, p_y) + shift_y
        distance = math.sqrt(sum_of_two(dot, near_x, near_x, near_y, near_y))
        if distance > robot[tables.RANGE] + r:
            continue
        if half_angle < math.pi and not (-half_angle <= math.atan2(near_y, near_x) <= half_angle):
            continue
        if not has_collided:
            square = math.pow(x - thing[0], two) + math.pow(y - thing[1], two)
            has_collided = math.sqrt(square) - thing[4] - radius <= 0.0
            if has_collided:
                events |= tables.COLLIDED
        noise_v_x, noise_v_y = two_normals(*velocity_pair)
        p_v_x = thing[2] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_v_x)
        p_v_y = thing[3] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_v_y)
        observed = found[count]
        if in_robot_frame:
            observed[0], observed[1] = near_x, near_y
            observed[2] = sum_of_two(turned, cosine, p_v_x, sine, p_v_y)
            observed[3] = sum_of_two(turned, -sine, p_v_x, cosine, p_v_y)
        else:
            observed[0], observed[1], observed[2], observed[3] = p_x, p_y, p_v_x, p_v_y
        gaps[0, count] = r
        square = math.pow(observed[0], two) + math.pow(observed[1], two)
        gaps[1, count] = math.sqrt(square) - r - radius
        numbers[0, count] = number
        count += 1
    _sort(count, gaps[1], numbers[1])
    summary[tables.COUNT] = count
    chosen = min(count, max(summary[tables.LIMIT], 0))
    if in_robot_frame:
        v_x, v_y = own[2], own[3]
    events |= _apply_regulations(
        forms, two, robot, v_x, v_y, found, gaps[0], numbers[1, :chosen], angle_owed
    )
    summary[tables.EVENTS] = events
    return count


@compiled
def _is_out_of_sight(robot: Any, thing: Any) -> bool:
    """Return whether no noise that can be drawn brings a thing into the sensor's range."""
    offset_x, offset_y = thing[0] - robot[tables.X], thing[1] - robot[tables.Y]
    reach = (
        robot[tables.RANGE]
        + abs(thing[4]) * (abs(robot[tables.RATIO]) + abs(1.0 - robot[tables.RATIO]))
        + _LARGEST_NORMAL * robot[tables.POSITION_DEVIATION]
    )
    size = abs(thing[0]) + abs(thing[1]) + abs(robot[tables.X]) + abs(robot[tables.Y])
    bound = abs(reach) + 1e-6 * (1.0 + size + abs(reach))
    return offset_x * offset_x + offset_y * offset_y > bound * bound


@compiled
def _sort(count: int, gaps: Any, places: Any) -> None:
    """List the places of objects by how close they are; equal ones stay in order."""
    for index in range(count):
        gap = gaps[index]
        place = index
        while place > 0 and gaps[places[place - 1]] > gap:
            places[place] = places[place - 1]
            place -= 1
        places[place] = index


@compiled
def _apply_regulations(
    forms: Any, two: float, robot: Any, v_x: float, v_y: float, found: Any, radii: Any, chosen: Any,
    angle_owed: Any,
) -> int:  # fmt: skip
    """Look at the nearest objects until one asks for a turn; note the last angle."""
    events = 0
    if not is_moving(forms[0], v_x, v_y):
        return events
    for rank in range(len(chosen)):
        vehicle, radius = found[chosen[rank]], radii[chosen[rank]]
        if not is_moving(forms[0], vehicle[2], vehicle[3]):
            continue
        encounter, angle = meet(forms, two, robot, v_x, v_y, vehicle, radius)
        if encounter == encounters.NO_ENCOUNTER:
            continue
        angle_owed[0] = angle
        events |= tables.HAS_ANGLE
        if encounter == encounters.NO_ANGLE:
            events |= tables.LACKS_ANGLE << rank
        elif angle > 0.0:
            return events | tables.GIVES_WAY
    return events
