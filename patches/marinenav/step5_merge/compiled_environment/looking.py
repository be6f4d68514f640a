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
    steepness,
    two_normals,
    von_mises,
    words_at,
)

DONE, IS_SPECIAL, HAS_OTHER_DRAWS = range(3)
"""`look` did it; the array code has to; somebody else drew from a generator. The latter two change nothing."""

_LARGEST = 1e100
"""Squares of larger numbers may overflow, which numpy warns about."""


@compiled
def look(
    forms: Any, two: float, in_robot_frame: bool, obstacles: int, observers: Any, summary: Any,
    things: Any, own: Any, found: Any, numbers: Any,
) -> int:  # fmt: skip
    """Let n robots look at the obstacles and at each other.

    Args:
        forms: How products are rounded.
        two: The number, unknown to the compiler.
        in_robot_frame: Whether objects are reported in the robots' frames or in the world's.
        obstacles: Their number.
        observers: (n, 21), see `tables`.
        summary: (n, 7), see `tables`; two columns of it are written.
        things: (obstacles + n, 5): position, velocity and radius of obstacles, then of robots.
        own: (n, 5), written.
        found: (n * things, 6), written: what each robot found, one after the other.
        numbers: (2, n * things), written: rows of `things` for what was found, and for each robot the places of
            the nearest objects among its own.
    """
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
    begin = 0
    for index in range(len(observers)):
        begin += _look_around(
            forms, two, in_robot_frame, obstacles, index, observers[index], summary[index], things,
            own[index], found[begin:], numbers[:, begin:],
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
    things: Any, own: Any, found: Any, numbers: Any,
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
    has_collided = summary[tables.HAS_COLLIDED] != 0
    count = 0
    for number in range(len(things)):
        if number == obstacles + index:
            continue
        thing = things[number]
        noise_x, noise_y = two_normals(words)
        noise_v_x, noise_v_y = two_normals(words)
        angle = von_mises(words, kappa, s)
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
        p_v_x = thing[2] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_v_x)
        p_v_y = thing[3] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_v_y)
        observed = found[count]
        if in_robot_frame:
            observed[0], observed[1] = near_x, near_y
            observed[2] = sum_of_two(turned, cosine, p_v_x, sine, p_v_y)
            observed[3] = sum_of_two(turned, -sine, p_v_x, cosine, p_v_y)
        else:
            observed[0], observed[1], observed[2], observed[3] = p_x, p_y, p_v_x, p_v_y
        observed[4] = r
        clearance = math.sqrt(math.pow(observed[0], two) + math.pow(observed[1], two))
        observed[5] = clearance - r - radius
        numbers[0, count] = number
        count += 1
    _sort(count, found, numbers[1])
    summary[tables.COUNT] = count
    chosen = min(count, max(summary[tables.LIMIT], 0))
    if in_robot_frame:
        v_x, v_y = own[2], own[3]
    events |= _apply_regulations(forms, two, robot, v_x, v_y, found, numbers[1, :chosen], own)
    summary[tables.EVENTS] = events
    return count


@compiled
def _sort(count: int, found: Any, places: Any) -> None:
    """List the places of objects by their clearance; equal ones stay in order."""
    for index in range(count):
        clearance = found[index, 5]
        place = index
        while place > 0 and found[places[place - 1], 5] > clearance:
            places[place] = places[place - 1]
            place -= 1
        places[place] = index


@compiled
def _apply_regulations(
    forms: Any, two: float, robot: Any, v_x: float, v_y: float, found: Any, chosen: Any, own: Any
) -> int:
    """Look at the nearest objects until one asks for a turn; put the last angle behind the own state."""
    events = 0
    if not is_moving(forms[0], v_x, v_y):
        return events
    for place in chosen:
        vehicle = found[place]
        if not is_moving(forms[0], vehicle[2], vehicle[3]):
            continue
        encounter, angle = meet(forms, two, robot, v_x, v_y, vehicle)
        if encounter == encounters.NO_ANGLE:
            return tables.ASKS
        if encounter == encounters.ENCOUNTER:
            own[4] = angle
            events = tables.HAS_ANGLE
            if angle > 0.0:
                return events | tables.GIVES_WAY
    return events
