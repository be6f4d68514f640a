"""One step of the environment, with the motion computed by compiled code.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step, as vector_environment.stepping does
Removes:  what that does in arrays: hundreds of operations per step become one call
Keeps:    everything that vector_environment.stepping keeps
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.memory import (
    Fleet,
    Water,
    are_same,
    memory_of,
)
from patches.marinenav.step5_merge.vector_environment import legacy, stepping
from patches.marinenav.step5_merge.vector_environment.coefficients import (
    coefficients_of,
    key_of,
    parameters_of,
)
from patches.marinenav.step5_merge.vector_environment.current import vortices_of
from patches.marinenav.step5_merge.vector_environment.stepping import Course

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels
    from patches.marinenav.step5_merge.compiled_environment.memory import Memory
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

_CHANGING = attrgetter(
    "x", "y", "theta", "left_thrust", "right_thrust", "velocity_r", "goal", "N"
)  # fmt: skip
_CORE = attrgetter("x", "y", "clockwise", "Gamma")
_HULL = attrgetter("left_pos", "right_pos", "width", "length", "min_thrust", "max_thrust", "dt")
_MATRICES = attrgetter("M_RB", "M_A", "D")
_HAS_MOVED = 0
_FLOATS = frozenset({float, np.float64})
_LARGEST_CHANGE, _AS_INDEXED, _IS_DONE = 1000.0, 1.0, 0.0
"""Factors: an action is a part of the largest change; the change itself; thrusts have been changed."""


def plot(
    kernels: Kernels,
    environment: Any,
    robots: list[Any],
    actions: list[Any],
    is_continuous_action: bool,
) -> Course | None:
    """Compute where the robots go, without moving them; None if only the legacy code can."""
    memory = memory_of(environment)
    try:
        course = _plot_on(
            kernels, memory, environment, robots, actions, is_continuous_action
        ) or _plot(kernels, memory, environment, robots, actions, is_continuous_action)
    except Exception:  # whatever it was, the legacy step raises it at the proper place
        course = None
    if course is None:
        return stepping.plot(environment, robots, actions, is_continuous_action)
    return course


@dataclass(frozen=True, slots=True)
class _Course(Course):
    """A course whose end is remembered."""

    memory: Memory
    is_usual: bool
    """Whether the vessels' thrusts are doubles."""

    def follow(self, robots: list[Any]) -> tuple[list[Array], list[Array]]:
        """Write the computed state back to the robots, and take note of that."""
        ground, water = Course.follow(self, robots)
        self.memory.have_moved(self.poses, ground, water, is_usual=self.is_usual)
        return ground, water


def _plot_on(
    kernels: Kernels,
    memory: Memory,
    environment: Any,
    robots: list[Any],
    actions: list[Any],
    is_continuous_action: bool,
) -> Course | None:
    """Compute where robots go that are as the last step left them; None if they are not, or may not be."""
    watch, fleet = memory.watch, memory.fleet
    if watch is None:
        return None
    if not (watch.is_of(environment.robots) and legacy.MOVING_ROBOT.is_intact()):
        memory.unwatch()
        return None
    substeps = robots[0].N
    cores = _cores(memory, environment)
    changes, factor = _changes(robots, actions, is_continuous_action)
    if (
        cores is None
        or fleet.coefficients is None
        or not (fleet.is_known and fleet.has_usual_thrusters)
        or not legacy.MOVING_ENVIRONMENT.covers_subclass(environment)
        or not _FLOATS.issuperset(map(type, changes))
    ):
        return None
    fleet.is_known = False
    fleet.changes.write(*changes)
    result = kernels.advance(
        substeps, factor, cores, environment.r, fleet.vessels, fleet.coefficients, watch.for_motion
    )
    if result == tables.HAS_CHANGED:
        memory.unwatch()
    return _course_of(memory, _changed(fleet), is_usual=True) if result == _HAS_MOVED else None


def _plot(
    kernels: Kernels,
    memory: Memory,
    environment: Any,
    robots: list[Any],
    actions: list[Any],
    is_continuous_action: bool,
) -> Course | None:
    substeps = robots[0].N
    if not stepping.move_as_usual(environment, robots, substeps):
        return None
    if memory.watch is not None and not memory.watch.holds():
        memory.unwatch()
    cores = _cores(memory, environment)
    if cores is None:
        return None
    fleet = memory.fleet
    if fleet.size != len(robots):
        fleet = memory.fleet = Fleet(len(robots))
    coefficients = _coefficients(fleet, robots)
    if coefficients is None:
        return None
    xs, ys, headings, lefts, rights, water, goals, counts = zip(
        *map(_CHANGING, robots), strict=True
    )
    if not (
        set(counts) == {substeps}
        and fleet.water.join(water, "no")
        and fleet.goals.join(goals, "safe")
    ):
        return None
    thrusts = (*lefts, *rights)
    changes, factor = _changes(robots, actions, is_continuous_action)
    if not (fleet.has_usual_thrusters and _FLOATS.issuperset(map(type, (*thrusts, *changes)))):
        factor = _IS_DONE
        changed = [
            stepping.changed_thrusts(robot, action, is_continuous_action)
            for robot, action in zip(robots, actions, strict=True)
        ]
        thrusts = (*(left for left, _ in changed), *(right for _, right in changed))
        changes = thrusts
    fleet.numbers.write(*xs, *ys, *headings, *thrusts, *changes)
    vessels = fleet.vessels
    if kernels.advance(substeps, factor, cores, environment.r, vessels, coefficients):
        return None
    is_usual = factor != _IS_DONE
    return _course_of(memory, _changed(fleet) if is_usual else changed, is_usual=is_usual)


def _changed(fleet: Fleet) -> list[tuple[Any, Any]]:
    """Return the thrusts of vessels that have moved."""
    numbers = list(fleet.vessels[:, tables.THRUSTS : tables.CHANGES].flat)
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _course_of(memory: Memory, thrusts: list[tuple[Any, Any]], *, is_usual: bool) -> Course:
    """Return where vessels went that have moved."""
    vessels = memory.fleet.vessels
    return _Course(
        poses=vessels[:, : tables.THRUSTS],
        ground=vessels[:, tables.GROUND : tables.PROGRESS].copy(),
        water=vessels[:, tables.WATER : tables.VESSEL_GOAL].copy(),
        thrusts=thrusts,
        progress=vessels[:, tables.PROGRESS],
        memory=memory,
        is_usual=is_usual,
    )


def _changes(
    robots: list[Any], actions: list[Any], is_continuous_action: bool
) -> tuple[tuple[Any, ...], float]:
    """Return what changes the left thrusts and then the right ones, and what to multiply it with."""
    if is_continuous_action:
        lefts, rights = [action[0] for action in actions], [action[1] for action in actions]
        return (*lefts, *rights), _LARGEST_CHANGE
    chosen = [robot.actions[action] for robot, action in zip(robots, actions, strict=True)]
    return (*(left for left, _ in chosen), *(right for _, right in chosen)), _AS_INDEXED


def _cores(memory: Memory, environment: Any) -> Array | None:
    """Return centres and circulations of the cores; None if only the legacy code knows the current."""
    cores = tuple(chain.from_iterable(map(_CORE, environment.cores)))
    tree = environment.core_centers.data.tobytes() if cores else b""
    if not (tree == memory.water.tree and are_same(cores, memory.water.cores)):
        table = vortices_of(environment)
        if table is None:
            return None
        memory.water = Water(cores, tree, table)
    return memory.water.table


def _coefficients(fleet: Fleet, robots: list[Any]) -> Coefficients | None:
    """Return the constants of the fleet, and write those of its hulls where they changed."""
    hulls = tuple(chain.from_iterable(map(_HULL, robots)))
    if not are_same(hulls, fleet.hulls):
        fleet.hulls = ()
        if not legacy.are_plain(hulls):
            return None
        rows = np.array(hulls, dtype=np.float64).reshape(len(robots), -1)
        fleet.vessels[:, tables.THRUSTER_ANGLES :] = rows[:, :-1]
        limits = chain(hulls[4::7], hulls[5::7])
        fleet.has_usual_thrusters = set(map(type, limits)) == {float}
        fleet.hulls = hulls
    parameters = list(map(parameters_of, robots))
    matrices = tuple(chain.from_iterable(map(_MATRICES, robots)))
    entries = b"".join(matrices)
    # Equal parameters make the same coefficients, of whatever type they are.
    if not (
        entries == fleet.entries
        and are_same(matrices, fleet.matrices)
        and parameters == fleet.parameters
    ):
        fleet.coefficients = None
        fleet.entries, fleet.matrices, fleet.parameters = entries, matrices, parameters
    if fleet.coefficients is None:
        fleet.coefficients = coefficients_of([key_of(robot) for robot in robots])
    return fleet.coefficients
