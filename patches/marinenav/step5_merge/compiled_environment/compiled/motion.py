"""Compiled: the current and the vessels' dynamics over all substeps of an action.

Replaces: vector_environment.current and vector_environment.vessels
Removes:  some fifty array operations per substep
Keeps:    every product, sum and their order, the nearest core first, the heading's wrap

Left to the array code, which is told by the result: positions whose cores are equally far, or nearly so, and
everything that ends up not finite.
"""

from __future__ import annotations

import math
from typing import Any

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    sum_of_three,
    sum_of_two,
)
from patches.marinenav.step5_merge.compiled_environment.compiled.objects import read_on
from patches.marinenav.step5_merge.vector_environment.coefficients import SELECTION

DONE, IS_SPECIAL = 0, 1

_WATER, _GROUND = tables.WATER, tables.GROUND

_TWO_PI = 2 * math.pi
_MANY_TURNS = 1e6
"""Not only are headings beyond odd, turning them back takes long: an interrupt has to get through."""
_LARGEST = 1e100
"""Squares of larger numbers may overflow, which numpy warns about."""
_NEARLY_TIED = 1e-12
"""How the search tree orders distances that differ by less, relative to them, is its own affair."""


@compiled
def _sort_cores(x: float, y: float, form: int, cores: Any, nearest: Any) -> bool:
    """List the cores, the nearest first, as rows (square of the distance, offset, circulation)."""
    for index in range(len(cores)):
        offset_x, offset_y = cores[index, 0] - x, cores[index, 1] - y
        square = sum_of_two(form, offset_x, offset_x, offset_y, offset_y)
        place = index
        while place > 0 and nearest[place - 1, 0] > square:
            nearest[place] = nearest[place - 1]
            place -= 1
        nearest[place, 0] = square
        nearest[place, 1] = offset_x
        nearest[place, 2] = offset_y
        nearest[place, 3] = cores[index, 2]
    for place in range(1, len(cores)):
        if nearest[place, 0] - nearest[place - 1, 0] <= _NEARLY_TIED * nearest[place, 0]:
            return False
    return True


@compiled
def _current(radius: float, count: int, nearest: Any) -> tuple[float, float]:
    """Add up what each core contributes, the nearest first."""
    total_x = total_y = 0.0
    for place in range(count):
        distance = math.sqrt(nearest[place, 0])
        if distance <= radius:
            speed = nearest[place, 3] / (_TWO_PI * radius * radius) * distance
        else:
            speed = nearest[place, 3] / (_TWO_PI * distance)
        total_x += nearest[place, 1] / distance * speed
        total_y += nearest[place, 2] / distance * speed
    return 0.0 - total_y, 0.0 + total_x


@compiled
def _accelerate(
    form: int, motion: Any, propulsion: Any, factors: Any, drag: Any, response: Any, terms: Any,
    changes: Any,
) -> None:  # fmt: skip
    """Compute a vessel's acceleration; `motion` is (u, v) over ground, then (u, v, r, 1, |u|, |v|, |r|)."""
    u, v = motion[0], motion[1]
    u_r, v_r, r = motion[2], motion[3], motion[4]
    for place in range(54):
        terms[place] = motion[2 + SELECTION[place]] * factors[place]
    for place in range(27):
        terms[place] += terms[27 + place]
    for place in range(18):
        terms[place] += drag[place]
    for place in range(9):
        terms[9 + place] -= terms[18 + place]
    for row in range(3):
        k = 3 * row
        force = sum_of_three(form, terms[k], u, terms[k + 1], v, terms[k + 2], r)
        k += 9
        force -= sum_of_three(form, terms[k], u_r, terms[k + 1], v_r, terms[k + 2], r)
        changes[3 + row] = force + propulsion[row]
    b_x, b_y, b_r = changes[3], changes[4], changes[5]
    for row in range(3):
        a, b, c = response[row, 0], response[row, 1], response[row, 2]
        changes[row] = sum_of_three(form, a, b_x, b, b_y, c, b_r)


@compiled
def _change_thrusts(vessel: Any, factor: float, time_step: float, substeps: int) -> None:
    """Carry out an action, within the limits of the thrusters."""
    if factor == 0.0:
        return
    for side in range(2):
        change = vessel[tables.CHANGES + side] * factor * time_step * substeps
        thrust = vessel[tables.THRUSTS + side] + change
        if not thrust > vessel[tables.LOWEST]:
            thrust = vessel[tables.LOWEST]
        if not thrust < vessel[tables.HIGHEST]:
            thrust = vessel[tables.HIGHEST]
        vessel[tables.THRUSTS + side] = thrust


@compiled
def _propel(vessel: Any, propulsion: Any) -> None:
    """Compute forces and turning moment of both thrusters in the robot frame."""
    left, right = vessel[tables.THRUSTS], vessel[tables.THRUSTS + 1]
    left_angle, right_angle = vessel[tables.THRUSTER_ANGLES], vessel[tables.THRUSTER_ANGLES + 1]
    width, length = vessel[tables.WIDTH], vessel[tables.LENGTH]
    left_x, left_y = left * math.cos(left_angle), left * math.sin(left_angle)
    right_x, right_y = right * math.cos(right_angle), right * math.sin(right_angle)
    moment = left_x * width / 2.0 + -left_y * length / 2.0
    moment = moment + -right_x * width / 2.0 + -right_y * length / 2.0
    propulsion[0], propulsion[1], propulsion[2] = left_x + right_x, left_y + right_y, moment


@compiled
def _is_moderate(vessel: Any) -> bool:
    is_moderate = True
    for value in vessel:
        is_moderate = is_moderate and abs(value) < _LARGEST
    return is_moderate


@compiled
def _wrapped(heading: float) -> float:
    while heading < 0.0:
        heading += _TWO_PI
    while heading >= _TWO_PI:
        heading -= _TWO_PI
    return heading


@compiled
def _distance(form: int, x: float, y: float, vessel: Any) -> float:
    x, y = vessel[tables.VESSEL_GOAL] - x, vessel[tables.VESSEL_GOAL + 1] - y
    return math.sqrt(sum_of_two(form, x, x, y, y))


@compiled
def advance(
    forms: Any, substeps: int, factor: float, cores: Any, core_radius: float, vessels: Any,
    time_steps: Any, factors: Any, drag: Any, response: Any, scratch: Any,
    places: Any, words: Any, vectors: Any,
) -> int:  # fmt: skip
    """Integrate n vessels over some substeps, in place.

    Args:
        forms: How products are rounded.
        substeps: Their number.
        factor: What changes of the thrusts are multiplied with; 0.0 if the thrusts have been changed.
        cores: (C, 3), centre and circulation, which is positive if clockwise.
        core_radius: Within it the water turns like a solid.
        vessels: (n, 22), see `tables`.
        time_steps: (3, n); this and the rest as in `Coefficients`.
        factors: (54, n)
        drag: (18, n)
        response: (n, 3, 3)
        scratch: (C + 36, 4) or more, overwritten.
        places: As for `read_on`, and the rest, too.
        words: What was noted when the vessels were moved last.
        vectors: Lists of goals and of velocities relative to the water.

    Returns:
        `DONE`, or `IS_SPECIAL` if the array code has to do it, or `HAS_CHANGED`.
    """
    goals, water = vessels[:, tables.VESSEL_GOAL : _GROUND], vessels[:, _WATER : tables.VESSEL_GOAL]
    if not read_on(places, words, vectors, goals, water):
        return tables.HAS_CHANGED
    nearest = scratch[: len(cores)]
    numbers = scratch[len(cores) :].ravel()
    terms, motion, changes, propulsion = (
        numbers[:54],
        numbers[54:63],
        numbers[63:69],
        numbers[69:72],
    )
    # Copies, because what many vessels share is apart in memory, and every substep needs all of it.
    own_factors, own_drag = numbers[72:126], numbers[126:144]
    dot, turned, pair, triple = forms
    for index in range(len(vessels)):
        vessel = vessels[index]
        x, y, heading = vessel[0], vessel[1], vessel[2]
        before = _distance(dot, x, y, vessel)
        water_x, water_y, yaw_rate = vessel[_WATER], vessel[_WATER + 1], vessel[_WATER + 2]
        time_step = time_steps[0, index]
        own_factors[:] = factors[:, index]
        own_drag[:] = drag[:, index]
        vessel[tables.GROUND : tables.PROGRESS + 1] = 0.0
        if not _is_moderate(vessel):
            return IS_SPECIAL
        _change_thrusts(vessel, factor, time_step, substeps)
        _propel(vessel, propulsion)
        ground_x = ground_y = ground_r = 0.0
        for _ in range(substeps):
            current_x = current_y = 0.0
            if len(cores) > 0:
                if not _sort_cores(x, y, dot, cores, nearest):
                    return IS_SPECIAL
                current_x, current_y = _current(core_radius, len(cores), nearest)
            ground_x, ground_y, ground_r = water_x + current_x, water_y + current_y, yaw_rate + 0.0
            x += ground_x * time_step
            y += ground_y * time_step
            heading += ground_r * time_step
            if not abs(heading) < _MANY_TURNS:
                return IS_SPECIAL
            heading = _wrapped(heading)
            cosine, sine = math.cos(heading), math.sin(heading)
            motion[0] = sum_of_two(turned, cosine, ground_x, sine, ground_y)
            motion[1] = sum_of_two(turned, -sine, ground_x, cosine, ground_y)
            motion[2] = sum_of_two(turned, cosine, water_x, sine, water_y)
            motion[3] = sum_of_two(turned, -sine, water_x, cosine, water_y)
            motion[4] = ground_r
            motion[5] = 1.0
            motion[6], motion[7], motion[8] = abs(motion[2]), abs(motion[3]), abs(ground_r)
            _accelerate(
                triple, motion, propulsion, own_factors, own_drag, response[index], terms, changes
            )  # fmt: skip
            u_r = motion[2] + changes[0] * time_step
            v_r = motion[3] + changes[1] * time_step
            yaw_rate = motion[4] + changes[2] * time_step
            water_x = sum_of_two(pair, cosine, u_r, -sine, v_r)
            water_y = sum_of_two(pair, sine, u_r, cosine, v_r)
        vessel[0], vessel[1], vessel[2] = x, y, heading
        vessel[_GROUND], vessel[_GROUND + 1], vessel[_GROUND + 2] = ground_x, ground_y, ground_r
        vessel[_WATER], vessel[_WATER + 1], vessel[_WATER + 2] = water_x, water_y, yaw_rate
        vessel[tables.PROGRESS] = before - _distance(dot, x, y, vessel)
        if not _is_moderate(vessel):
            return IS_SPECIAL
    return DONE
