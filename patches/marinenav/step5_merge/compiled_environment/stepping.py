"""One step of the environment, with the motion computed by compiled code.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step, as vector_environment.stepping does
Removes:  what that does in arrays: hundreds of operations per step become one call
Keeps:    everything that vector_environment.stepping keeps
"""

from __future__ import annotations

import struct
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.memory import (
    Fleet,
    Water,
    are_same,
    memory_of,
)
from patches.marinenav.step5_merge.vector_environment import legacy, stepping
from patches.marinenav.step5_merge.vector_environment.coefficients import (
    PARAMETERS,
    coefficients_of,
    key_of,
)
from patches.marinenav.step5_merge.vector_environment.current import vortices_of
from patches.marinenav.step5_merge.vector_environment.stepping import Course

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels
    from patches.marinenav.step5_merge.compiled_environment.memory import Memory
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

_CHANGING = attrgetter("x", "y", "theta", "velocity_r", "goal")
_CORE = attrgetter("x", "y", "clockwise", "Gamma")
_CONSTANTS = attrgetter("left_pos", "right_pos", "width", "length", *PARAMETERS)
_HULL = 4
"""How many of them are the hull's."""
_MATRICES = attrgetter("M_RB", "M_A", "D")
_PACK_CHANGING = struct.Struct(f"={tables.VESSEL_CHANGING}d").pack_into
_ROW = 8 * tables.VESSEL


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
    memory = memory_of(environment)
    cores = _cores(memory, environment)
    if cores is None:
        return None
    fleet = memory.fleet
    if fleet.size != len(robots):
        fleet = memory.fleet = Fleet(len(robots))
    thrusts = []
    for index, (robot, action) in enumerate(zip(robots, actions, strict=True)):
        left, right = stepping.changed_thrusts(robot, action, is_continuous_action)
        thrusts.append((left, right))
        x, y, heading, water, goal = _CHANGING(robot)
        _PACK_CHANGING(
            fleet.bytes, index * _ROW,
            x, y, heading, 0.0, 0.0, 0.0, *water.tolist(), 0.0, *goal.tolist(), left, right,
        )  # fmt: skip
    coefficients = _coefficients(fleet, robots)
    if coefficients is None:
        return None
    vessels = fleet.vessels
    if kernels.advance(substeps, cores, environment.r, vessels, coefficients):
        return None
    return Course(
        poses=vessels[:, : tables.GROUND],
        ground=vessels[:, tables.GROUND : tables.WATER].copy(),
        water=vessels[:, tables.WATER : tables.PROGRESS].copy(),
        thrusts=thrusts,
        progress=vessels[:, tables.PROGRESS],
    )


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
    for index, robot in enumerate(robots):
        constants = _CONSTANTS(robot)
        matrices = [matrix.tobytes() for matrix in _MATRICES(robot)]
        if matrices != fleet.matrices[index] or not are_same(constants, fleet.constants[index]):
            fleet.coefficients = None
            fleet.constants[index] = ()
            hull = constants[:_HULL]
            if not legacy.are_plain(hull):
                return None
            fleet.vessels[index, tables.THRUSTER_ANGLES :] = hull
            fleet.constants[index], fleet.matrices[index] = constants, matrices
    if fleet.coefficients is None:
        fleet.coefficients = coefficients_of([key_of(robot) for robot in robots])
    return fleet.coefficients
