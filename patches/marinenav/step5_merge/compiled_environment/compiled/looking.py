"""Compiled: noise, detection, collisions, the nearest objects and the regulations, for all robots.

Replaces: vector_environment.view and most of vector_environment.sensing
Removes:  array operations over all candidates, two calls of a generator and a few lists per candidate
Keeps:    the draws and their order, the order of objects, and every number
"""

from __future__ import annotations

import math
from typing import Any

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled import encounters
from patches.marinenav.step5_merge.compiled_environment.compiled.angles import arctan2, prepared
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    sum_of_two,
)
from patches.marinenav.step5_merge.compiled_environment.compiled.encounters import is_moving, meet
from patches.marinenav.step5_merge.compiled_environment.compiled.noise import (
    WORDS,
    draw_for,
    steepness,
    survey,
    two_normals,
    von_mises,
    words_at,
)
from patches.marinenav.step5_merge.compiled_environment.compiled.objects import read_on

DONE, IS_SPECIAL, HAS_OTHER_DRAWS = range(3)
"""`look` did it; the array code has to; somebody else drew from a generator. The latter two change nothing."""

_LARGEST = 1e100
"""Squares of larger numbers may overflow, which numpy warns about."""
_MARGIN = 1.0 + 1e-6
_LARGEST_NORMAL = 20.0
"""Larger than the length of any two normals: those are made of 53 bits each, which end before 13."""


@compiled
def look(
    forms: Any, arcs: Any, two: float, in_robot_frame: bool, obstacles: int, observers: Any, summary: Any,
    things: Any, own: Any, angles: Any, found: Any, gaps: Any, numbers: Any, block: Any, bounds: Any,
    sights: Any, uniforms: Any, places: Any, words: Any, vectors: Any,
) -> int:  # fmt: skip
    """Let n robots look at the obstacles and at each other.

    Args:
        forms: How products are rounded.
        arcs: What is given to numpy's arcs.
        two: The number, unknown to the compiler.
        in_robot_frame: Whether objects are reported in the robots' frames or in the world's.
        obstacles: Their number.
        observers: (n, 22), see `tables`; whether they have collided is written.
        summary: (n, 6), see `tables`; all but address and limit are written.
        things: (obstacles + n, 5): position, velocity and radius of obstacles; those of robots are written.
        own: (n, 4), written: goals and velocities in the robots' frames.
        angles: (n,), written where there is one.
        found: (n * things, 4), written: what each robot found, one after the other.
        gaps: (2, n * things), written: radii of what was found, and how far it is from the hull.
        numbers: (2, n * things), written: rows of `things` for what was found, and for each robot the places of
            the nearest objects among its own.
        block: (BLOCK,), overwritten.
        bounds: (2, PARTS + 1, 2): what `survey` found of some concentration, and bounds that leave everything open.
        sights: (4, things), overwritten.
        uniforms: (things, 6), overwritten.
        places: As for `read_on`, and the rest, too.
        words: What was noted when the observers were told, or have moved.
        vectors: Lists of goals and of velocities.
    """
    goals = observers[:, tables.GOAL_X : tables.V_X]
    velocities = observers[:, tables.V_X : tables.OBSERVER_CHANGING]
    if not read_on(places, words, vectors, goals, velocities):
        return tables.HAS_CHANGED
    for index in range(len(observers)):
        thing, robot = things[obstacles + index], observers[index]
        thing[0], thing[1], thing[4] = robot[tables.X], robot[tables.Y], robot[tables.RADIUS]
        thing[2], thing[3] = robot[tables.V_X], robot[tables.V_Y]
    if not (_are_moderate(observers) and _are_moderate(things)):
        return IS_SPECIAL
    result: int = _may_be_drawn_for(observers, summary)
    if result != DONE:
        return result
    _line_up(things, sights)
    if len(observers) > 0 and bounds[0, tables.PARTS, 0] != observers[0, tables.KAPPA]:
        survey(observers[0, tables.KAPPA], bounds[0])
    ready = prepared(arcs)
    begin = 0
    for index in range(len(observers)):
        begin += _look_around(
            forms, ready, two, in_robot_frame, obstacles, index, observers[index], summary[index], things,
            own[index], angles[index : index + 1], found[begin:], gaps[:, begin:], numbers[:, begin:],
            block, bounds, sights, uniforms,
        )  # fmt: skip
    for index in range(len(observers)):
        words = words_at(summary[index, tables.ADDRESS])
        summary[index, tables.WORD] = words[0]
        summary[index, tables.POSITION] = words[WORDS]
    return DONE


@compiled
def _may_be_drawn_for(observers: Any, summary: Any) -> Any:
    """Return whether compiled code can look for all robots, as far as that depends on no position."""
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
    return DONE


@compiled
def _are_moderate(table: Any) -> bool:
    largest = 0.0
    for value in table.flat:
        # Written so that one that is not a number counts as large.
        largest = max(largest, abs(value))
        if not largest < _LARGEST:
            break
    return largest < _LARGEST


@compiled
def _look_around(
    forms: Any, arcs: Any, two: float, in_robot_frame: bool, obstacles: int, index: int, robot: Any, summary: Any,
    things: Any, own: Any, angle_owed: Any, found: Any, gaps: Any, numbers: Any, block: Any, bounds: Any,
    sights: Any, uniforms: Any,
) -> int:  # fmt: skip
    """Let one robot look; return how many objects it found."""
    frame = _look_at_itself(forms, robot, own)
    events = 0
    to_goal_x, to_goal_y = (
        robot[tables.GOAL_X] - robot[tables.X],
        robot[tables.GOAL_Y] - robot[tables.Y],
    )
    goal_distance = math.sqrt(sum_of_two(forms[0], to_goal_x, to_goal_x, to_goal_y, to_goal_y))
    if goal_distance <= robot[tables.GOAL_REACH]:
        events |= tables.REACHED

    kappa = robot[tables.KAPPA]
    s = steepness(kappa)
    known = bounds[0] if kappa == bounds[0, tables.PARTS, 0] else bounds[1]
    has_collided = robot[tables.HAS_COLLIDED] != 0.0
    _measure(robot, sights)
    near = draw_for(
        words_at(summary[tables.ADDRESS]), kappa, block, known, sights[3], obstacles + index, numbers[1], uniforms
    )  # fmt: skip
    count = 0
    for place in range(near):
        number, drawn = numbers[1, place], uniforms[place]
        thing = things[number]
        normals, angle = two_normals(drawn[0], drawn[1]), von_mises(kappa, s, drawn[4], drawn[5])
        radius = _detect(forms, arcs, frame, robot, thing, normals, angle, found[count])
        if math.isnan(radius):
            continue
        if not has_collided and _touch(two, robot, thing):
            has_collided = True
            robot[tables.HAS_COLLIDED] = 1.0
            events |= tables.COLLIDED
        normals = two_normals(drawn[2], drawn[3])
        _add_velocity(forms, frame, in_robot_frame, robot, thing, normals, found[count])
        gaps[0, count] = radius
        square = math.pow(found[count, 0], two) + math.pow(found[count, 1], two)
        gaps[1, count] = math.sqrt(square) - radius - robot[tables.RADIUS]
        numbers[0, count] = number
        count += 1
    _sort(count, gaps[1], numbers[1])
    summary[tables.COUNT] = count
    nearest = numbers[1, : min(count, max(summary[tables.LIMIT], 0))]
    v_x, v_y = robot[tables.V_X], robot[tables.V_Y]
    if in_robot_frame:
        v_x, v_y = own[2], own[3]
    events |= _apply_regulations(
        forms, arcs, two, robot, v_x, v_y, found, gaps[0], nearest, angle_owed
    )  # fmt: skip
    summary[tables.EVENTS] = events
    return count


@compiled
def _look_at_itself(forms: Any, robot: Any, own: Any) -> tuple[float, float, float, float]:
    """Note a robot's goal and velocity in its frame; return that frame: cosine, sine and shift."""
    turned = forms[1]
    cosine, sine = math.cos(robot[tables.HEADING]), math.sin(robot[tables.HEADING])
    x, y = robot[tables.X], robot[tables.Y]
    shift_x = sum_of_two(turned, -cosine, x, -sine, y)
    shift_y = sum_of_two(turned, sine, x, -cosine, y)
    x, y = robot[tables.GOAL_X], robot[tables.GOAL_Y]
    own[0] = sum_of_two(turned, cosine, x, sine, y) + shift_x
    own[1] = sum_of_two(turned, -sine, x, cosine, y) + shift_y
    x, y = robot[tables.V_X], robot[tables.V_Y]
    own[2] = sum_of_two(turned, cosine, x, sine, y)
    own[3] = sum_of_two(turned, -sine, x, cosine, y)
    return cosine, sine, shift_x, shift_y


@compiled
def _detect(
    forms: Any, arcs: Any, frame: Any, robot: Any, thing: Any, noise: Any, angle: float, observed: Any
) -> Any:  # fmt: skip
    """Note where a thing seems to be, in the world and in the robot's frame; return its radius, nan if undetected."""
    cosine, sine, shift_x, shift_y = frame
    dot, turned = forms[0], forms[1]
    noise_x, noise_y = noise
    # The generator adds the mean, which turns -0.0 into 0.0.
    x = thing[0] + (0.0 + robot[tables.POSITION_DEVIATION] * noise_x)
    y = thing[1] + (0.0 + robot[tables.POSITION_DEVIATION] * noise_y)
    ratio = robot[tables.RATIO]
    radius = ratio * thing[4] + (1.0 - ratio) * angle / math.pi * thing[4]
    near_x = sum_of_two(turned, cosine, x, sine, y) + shift_x
    near_y = sum_of_two(turned, -sine, x, cosine, y) + shift_y
    distance = math.sqrt(sum_of_two(dot, near_x, near_x, near_y, near_y))
    if distance > robot[tables.RANGE] + radius:
        return math.nan
    half_angle = 0.5 * robot[tables.ANGLE]
    if half_angle < math.pi and not (-half_angle <= arctan2(arcs, near_y, near_x) <= half_angle):
        return math.nan
    observed[0], observed[1], observed[2], observed[3] = near_x, near_y, x, y
    return radius


@compiled
def _touch(two: float, robot: Any, thing: Any) -> Any:
    """Return whether two hulls touch, by powers, as legacy; products tell of those that are clearly apart."""
    x, y = robot[tables.X] - thing[0], robot[tables.Y] - thing[1]
    reach = _MARGIN * (abs(thing[4]) + abs(robot[tables.RADIUS]))
    if x * x + y * y > reach * reach:
        return False
    distance = math.sqrt(math.pow(x, two) + math.pow(y, two))
    return distance - thing[4] - robot[tables.RADIUS] <= 0.0


@compiled
def _add_velocity(
    forms: Any, frame: Any, in_robot_frame: bool, robot: Any, thing: Any, noise: Any, observed: Any
) -> None:  # fmt: skip
    """Complete what was detected, in the frame that is asked for."""
    cosine, sine, _, _ = frame
    noise_x, noise_y = noise
    x = thing[2] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_x)
    y = thing[3] + (0.0 + robot[tables.VELOCITY_DEVIATION] * noise_y)
    if in_robot_frame:
        observed[2] = sum_of_two(forms[1], cosine, x, sine, y)
        observed[3] = sum_of_two(forms[1], -sine, x, cosine, y)
    else:
        observed[0], observed[1], observed[2], observed[3] = observed[2], observed[3], x, y


@compiled
def _line_up(things: Any, sights: Any) -> None:
    """Copy positions and sizes of things to rows: those are gone through several numbers at a time."""
    for number in range(len(things)):
        sights[0, number] = things[number, 0]
        sights[1, number] = things[number, 1]
        sights[2, number] = abs(things[number, 4])


@compiled
def _measure(robot: Any, sights: Any) -> None:
    """Write a positive number to the last row for what no noise that can be drawn brings into the sensor's range."""
    spread = abs(robot[tables.RATIO]) + abs(1.0 - robot[tables.RATIO])
    reach = robot[tables.RANGE] + _LARGEST_NORMAL * robot[tables.POSITION_DEVIATION]
    robot_x, robot_y = robot[tables.X], robot[tables.Y]
    size = 1.0 + abs(robot_x) + abs(robot_y)
    xs, ys, radii, beyond = sights[0], sights[1], sights[2], sights[3]
    for number in range(len(beyond)):
        offset_x, offset_y = xs[number] - robot_x, ys[number] - robot_y
        farthest = abs(reach + radii[number] * spread)
        bound = farthest + 1e-6 * (size + abs(xs[number]) + abs(ys[number]) + farthest)
        beyond[number] = offset_x * offset_x + offset_y * offset_y - bound * bound


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
    forms: Any, arcs: Any, two: float, robot: Any, v_x: float, v_y: float, found: Any, radii: Any,
    chosen: Any, angle_owed: Any,
) -> int:  # fmt: skip
    """Look at the nearest objects until one asks for a turn; note the last angle."""
    events = 0
    if not is_moving(forms[0], v_x, v_y):
        return events
    for rank in range(len(chosen)):
        vehicle, radius = found[chosen[rank]], radii[chosen[rank]]
        if not is_moving(forms[0], vehicle[2], vehicle[3]):
            continue
        encounter, angle = meet(forms, arcs, two, robot, v_x, v_y, vehicle, radius)
        if encounter == encounters.NO_ENCOUNTER:
            continue
        angle_owed[0] = angle
        events |= tables.HAS_ANGLE
        if encounter == encounters.NO_ANGLE:
            events |= tables.LACKS_ANGLE << rank
        elif angle > 0.0:
            return events | tables.GIVES_WAY
    return events
