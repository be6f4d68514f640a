"""What all robots observe, computed by compiled code.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.get_observations, as vector_environment.sensing does
Removes:  what that does in arrays and per candidate; what is left per robot is reading its attributes and making
          the lists that the legacy code returns
Keeps:    everything that vector_environment.sensing keeps

Left to the array code: what that leaves to the legacy code, positions that are integers, numbers beyond 1e100,
generators with a normal left over, and robots with their own ideas of collisions or encounters.
"""

from __future__ import annotations

from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.generators import enter, noted
from patches.marinenav.step5_merge.compiled_environment.memory import Lookout, are_same, memory_of
from patches.marinenav.step5_merge.compiled_environment.telling import tell
from patches.marinenav.step5_merge.vector_environment import legacy, sensing
from patches.marinenav.step5_merge.vector_environment.scene import is_supported

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.kernels import Kernels
    from patches.marinenav.step5_merge.vector_environment.sensing import Observed

_MEETING_ROBOT = legacy.Guard(Robot, "check_collision", "check_left_crossing", "check_head_on")
_HAS_LOOKED, _HAS_OTHER_DRAWS = 0, 2

_CHANGING = attrgetter("x", "y", "theta", "goal", "velocity", "collision", "perception")
_NUMBERS = attrgetter("r", "goal_dis", "head_on_zone_x_dim", "head_on_zone_y_dim")
_ZONES = attrgetter("left_crossing_zone_x_dim", "left_crossing_zone_y_dim_front")
_ZONE = 2
"""Numbers of a zone."""
_SENSOR = attrgetter(
    "pos_std", "vel_std", "range", "angle", "r_mean_ratio", "r_kappa", "max_obj_num", "rd"
)
_OBSTACLE = attrgetter("x", "y", "r")
_FLOATS = frozenset({float, np.float64})


def observe(kernels: Kernels, environment: Any) -> Observed:
    """Let every robot look around; return observations, collision flags and arrival flags."""
    active = [index for index, robot in enumerate(environment.robots) if not robot.deactivated]
    if active:
        in_robot_frame = bool(environment.observation_in_robot_frame)
        try:
            lookout = _look(kernels, environment, active, in_robot_frame)
        except Exception:  # whatever it was, the legacy function raises it at the proper place
            lookout = None
        if lookout is not None:
            observed = tell(environment, active, lookout, in_robot_frame)
            robots = environment.robots
            memory_of(environment).have_looked(
                lambda: kernels.watch(robots, [robots[index] for index in active])
            )
            return sensing.report(environment, active, observed)
    return sensing.get_observations(environment)


def _look(
    kernels: Kernels, environment: Any, active: list[int], in_robot_frame: bool
) -> Lookout | None:
    """Fill an environment's lookout; None, with nothing changed, if that takes other code."""
    robots = [environment.robots[index] for index in active]
    obstacles = environment.obstacles
    if not (
        legacy.SENSING_ROBOT.is_intact()
        and _MEETING_ROBOT.is_intact()
        and legacy.SENSOR.is_intact()
    ):
        return None
    memory = memory_of(environment)
    former = memory.lookout
    if former.size != (len(robots), len(obstacles)):
        memory.unwatch()
        memory.lookout = Lookout(len(robots), len(obstacles))
    lookout = memory.lookout
    if not _see_obstacles(obstacles, lookout):
        return None
    watch = memory.watch
    if watch is not None and watch.is_of(environment.robots):
        result = _look_with(kernels, in_robot_frame, lookout, watch.for_sight)
        if result != tables.HAS_CHANGED:
            return lookout if result == _HAS_LOOKED else None
    memory.unwatch()
    if not (
        legacy.SENSING_ROBOT.covers_all(environment.robots)
        and _MEETING_ROBOT.covers_all(robots)
        and _see_robots(robots, lookout)
        and _see_generators(lookout, former)
    ):
        return None
    result = _look_with(kernels, in_robot_frame, lookout)
    return lookout if result == _HAS_LOOKED else None


def _see_generators(lookout: Lookout, former: Lookout) -> bool:
    """Write down who draws, where that is not known; return whether all generators may be drawn from."""
    generators = lookout.constants[-lookout.size[0] :]
    if are_same(generators, lookout.generators):
        return True
    return _meet(generators, lookout, noted(former.generators, former.summary))


def _look_with(kernels: Kernels, in_robot_frame: bool, lookout: Lookout, *noted: Any) -> int:
    """Call compiled code, again if somebody else has drawn from a generator that may be drawn from."""
    obstacles = lookout.size[1]
    result = kernels.look(in_robot_frame, obstacles, lookout, *noted)
    if result == _HAS_OTHER_DRAWS and _meet(lookout.generators, lookout, {}):
        return kernels.look(in_robot_frame, obstacles, lookout, *noted)
    return result


def _meet(generators: tuple[Any, ...], lookout: Lookout, known: dict[int, Any]) -> bool:
    """Write down who draws from which generator; return whether all of those may be drawn from."""
    lookout.generators = ()
    if enter(generators, lookout.summary, known):
        lookout.generators = generators
        return True
    return False


def _see_obstacles(obstacles: Any, lookout: Lookout) -> bool:
    """Write down what stands in the way; return whether it is all of the usual sort."""
    values = tuple(chain.from_iterable(map(_OBSTACLE, obstacles)))
    if are_same(values, lookout.obstacles):
        return True
    lookout.obstacles = ()
    rows = np.array(values, dtype=np.float64).reshape(-1, 3)
    positions = (*values[::3], *values[1::3])
    if not (_FLOATS.issuperset(map(type, positions)) and legacy.are_plain(values)):
        return False
    lookout.things[: len(rows)] = 0.0
    lookout.things[: len(rows), [0, 1, 4]] = rows
    lookout.obstacles = values
    return True


def _see_robots(robots: list[Any], lookout: Lookout) -> bool:
    """Write down who looks; return whether they are all of the usual sort."""
    xs, ys, headings, goals, velocities, collisions, sensors = zip(
        *map(_CHANGING, robots), strict=True
    )
    if not (
        _FLOATS.issuperset(map(type, (*xs, *ys)))
        and legacy.are_plain(headings)
        and legacy.SENSOR.covers_all(sensors)
        and _know(robots, sensors, lookout)
        and lookout.goals.join(goals, "safe")
        and lookout.velocities.join(velocities, "no")
    ):
        return False
    lookout.poses.write(*xs, *ys, *headings, *map(bool, collisions))
    return True


def _know(robots: list[Any], sensors: tuple[Any, ...], lookout: Lookout) -> bool:
    """Write down what rarely changes, where it did; return whether it is all of the usual sort."""
    zones = tuple(chain.from_iterable(map(_ZONES, robots)))
    if set(map(len, zones)) != {_ZONE}:
        return False
    *features, generators = zip(*map(_SENSOR, sensors), strict=True)
    constants = (
        *chain.from_iterable(map(_NUMBERS, robots)),
        *chain.from_iterable(zones),
        *chain.from_iterable(features),
        *sensors,
        *generators,
    )
    if are_same(constants, lookout.constants):
        return True
    lookout.constants = ()
    *numbers, limits = features
    for index, robot in enumerate(robots):
        zone = chain.from_iterable(_ZONES(robot))
        row = (*_NUMBERS(robot), *zone, *(column[index] for column in numbers))
        if not (is_supported(robot) and legacy.are_plain(row)):
            return False
        lookout.observers[index, tables.OBSERVER_CHANGING :] = row
        lookout.summary[index, tables.LIMIT] = limits[index]
    lookout.constants = constants
    return True
