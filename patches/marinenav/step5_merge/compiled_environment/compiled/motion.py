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

import numpy as np

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    sum_of_three,
    sum_of_two,
)
from patches.marinenav.step5_merge.compiled_environment.compiled.objects import read_on
from patches.marinenav.step5_merge.vector_environment.coefficients import ONE, SELECTION

DONE, IS_SPECIAL = 0, 1
_ENTRIES, _DRAGGED = 27, 18
_ALL = np.arange(_ENTRIES)
_VARYING = np.array(
    [place for place in range(_ENTRIES) if (SELECTION[[place, _ENTRIES + place]] != ONE).any()]
)
"""Entries of the matrices that depend on how a vessel moves."""

_WATER, _GROUND = tables.WATER, tables.GROUND

_TWO_PI = 2 * math.pi
_MANY_TURNS = 1e6
"""Not only are headings beyond odd, turning them back takes long: an interrupt has to get through."""
_LARGEST = 1e100
"""Squares of larger numbers may overflow, which numpy warns about."""
_NEARLY_TIED = 1e-12
"""How the search tree orders distances that differ by less, relative to them, is its own affair."""


@compiled
def _measure(x: float, y: float, form: int, radius: float, cores: Any, water: Any) -> None:
    """Compute from a position, core by core, the square of the distance and what the core contributes.

    Args:
        x: Of the position.
        y: Its other coordinate.
        form: How products are rounded.
        radius: Within it the water turns like a solid.
        cores: (3, C), centres and circulations.
        water: (3, C), written.
    """
    for index in range(cores.shape[1]):
        offset_x, offset_y = cores[0, index] - x, cores[1, index] - y
        square = sum_of_two(form, offset_x, offset_x, offset_y, offset_y)
        distance = math.sqrt(square)
        if distance <= radius:
            speed = cores[2, index] / (_TWO_PI * radius * radius) * distance
        else:
            speed = cores[2, index] / (_TWO_PI * distance)
        water[0, index] = square
        water[1, index] = offset_x / distance * speed
        water[2, index] = offset_y / distance * speed


@compiled
def _sort(squares: Any, order: Any) -> bool:
    """Put cores into the order of their distances, most often that of before; return whether no two are as far."""
    for number in range(1, len(order)):
        core, place = order[number], number
        square = squares[core]
        while place > 0 and squares[order[place - 1]] > square:
            order[place] = order[place - 1]
            place -= 1
        order[place] = core
    for place in range(1, len(order)):
        square = squares[order[place]]
        if square - squares[order[place - 1]] <= _NEARLY_TIED * square:
            return False
    return True


@compiled
def _current(water: Any, order: Any) -> tuple[float, float]:
    """Add up what each core contributes, the nearest first."""
    total_x = total_y = 0.0
    for core in order:
        total_x += water[1, core]
        total_y += water[2, core]
    return 0.0 - total_y, 0.0 + total_x


@compiled
def _fill(places: Any, motion: Any, factors: Any, drag: Any, terms: Any) -> None:
    """Compute entries of the matrices."""
    for place in places:
        term = motion[2 + SELECTION[place]] * factors[place]
        term += motion[2 + SELECTION[_ENTRIES + place]] * factors[_ENTRIES + place]
        if place < _DRAGGED:
            term += drag[place]
        terms[place] = term


@compiled
def _accelerate(
    form: int, motion: Any, propulsion: Any, factors: Any, drag: Any, response: Any, terms: Any,
    changes: Any,
) -> None:  # fmt: skip
    """Compute a vessel's acceleration; `motion` is (u, v) over ground, then (u, v, r, 1, |u|, |v|, |r|).

    Entries that depend on none of those are in `terms` already.
    """
    u, v = motion[0], motion[1]
    u_r, v_r, r = motion[2], motion[3], motion[4]
    _fill(_VARYING, motion, factors, drag, terms)
    for row in range(3):
        k = 3 * row
        force = sum_of_three(form, terms[k], u, terms[k + 1], v, terms[k + 2], r)
        k += 9
        a, b, c = (
            terms[k] - terms[k + 9],
            terms[k + 1] - terms[k + 10],
            terms[k + 2] - terms[k + 11],
        )
        force -= sum_of_three(form, a, u_r, b, v_r, c, r)
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
    time_steps: Any, factors: Any, drag: Any, response: Any,
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
        places: As for `read_on`, and the rest, too.
        words: What was noted when the vessels were moved last.
        vectors: Lists of goals and of velocities relative to the water.

    Returns:
        `DONE`, or `IS_SPECIAL` if the array code has to do it, or `HAS_CHANGED`.
    """
    goals, water = vessels[:, tables.VESSEL_GOAL : _GROUND], vessels[:, _WATER : tables.VESSEL_GOAL]
    if not read_on(places, words, vectors, goals, water):
        return tables.HAS_CHANGED
    centers, order = cores.T.copy(), np.arange(len(cores))
    water_of_cores, numbers = np.empty((3, len(cores))), np.empty(117)
    terms, motion, changes, propulsion = (
        numbers[:27],
        numbers[27:36],
        numbers[36:42],
        numbers[42:45],
    )
    # Copies, because what many vessels share is apart in memory, and every substep needs all of it.
    own_factors, own_drag = numbers[45:99], numbers[99:117]
    dot, turned, pair, triple = forms
    motion[5] = 1.0
    for index in range(len(vessels)):
        vessel = vessels[index]
        x, y, heading = vessel[0], vessel[1], vessel[2]
        before, time_step = _distance(dot, x, y, vessel), time_steps[0, index]
        water_x, water_y, yaw_rate = vessel[_WATER], vessel[_WATER + 1], vessel[_WATER + 2]
        own_factors[:] = factors[:, index]
        own_drag[:] = drag[:, index]
        vessel[tables.GROUND : tables.PROGRESS + 1] = 0.0
        if not _is_moderate(vessel):
            return IS_SPECIAL
        _change_thrusts(vessel, factor, time_step, substeps)
        _propel(vessel, propulsion)
        _fill(_ALL, motion, own_factors, own_drag, terms)
        ground_x = ground_y = ground_r = 0.0
        for _ in range(substeps):
            current_x = current_y = 0.0
            if len(cores) > 0:
                _measure(x, y, dot, core_radius, centers, water_of_cores)
                if not _sort(water_of_cores[0], order):
                    return IS_SPECIAL
                current_x, current_y = _current(water_of_cores, order)
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
