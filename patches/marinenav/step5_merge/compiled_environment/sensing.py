"""What all robots observe, computed by compiled code.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.get_observations, as vector_environment.sensing does
Removes:  what that does in arrays and per candidate; what is left per robot is reading its attributes and making
          the lists that the legacy code returns
Keeps:    everything that vector_environment.sensing keeps

Left to the array code: what that leaves to the legacy code, positions that are integers, numbers beyond 1e100,
generators with a normal left over, and robots with their own ideas of collisions or encounters.
"""

from __future__ import annotations

import struct
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.compiled_environment.generators import Generators
from patches.marinenav.step5_merge.vector_environment import legacy, sensing
from patches.marinenav.step5_merge.vector_environment.scene import is_supported

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.loading import Kernels
    from patches.marinenav.step5_merge.vector_environment.sensing import Observation, Observed

MEETING_ROBOT = legacy.Guard(
    Robot, "check_collision", "check_left_crossing", "check_head_on"
)  # fmt: skip
_HAS_LOOKED, _HAS_OTHER_DRAWS = 0, 2

_NUMBERS = attrgetter(
    "perception.pos_std", "perception.vel_std", "perception.range", "perception.angle",
    "perception.r_mean_ratio", "perception.r_kappa", "goal_dis", "head_on_zone_x_dim", "head_on_zone_y_dim",
)  # fmt: skip
_FLOATS = frozenset({float, np.float64})
_OBSERVER = struct.Struct(f"={tables.OBSERVER}d")
_THING = struct.Struct(f"={tables.THING}d")


class Lookout:
    """Arrays for robots that look at each other, made once per number of robots and obstacles."""

    def __init__(self, robots: int, obstacles: int) -> None:
        self.size = robots, obstacles
        things = robots + obstacles
        self.observers = np.empty((robots, tables.OBSERVER))
        self.things = np.empty((things, tables.THING))
        self.summary = np.zeros((robots, tables.SUMMARY), dtype=np.int64)
        self.own = np.empty((robots, tables.OWN))
        self.found = np.empty((robots * things, tables.FOUND))
        self.numbers = np.empty((2, robots * things), dtype=np.int64)


class Memory:
    """What is kept about an environment between calls; its robots may change in any way meanwhile."""

    def __init__(self) -> None:
        self.generators = Generators()
        self.lookout = Lookout(0, 0)


_memories: WeakKeyDictionary[Any, Memory] = WeakKeyDictionary()


def observe(kernels: Kernels, environment: Any) -> Observed:
    """Let every robot look around; return observations, collision flags and arrival flags."""
    active = [index for index, robot in enumerate(environment.robots) if not robot.deactivated]
    if active:
        in_robot_frame = bool(environment.observation_in_robot_frame)
        try:
            memory = _look(kernels, environment, active, in_robot_frame)
        except Exception:  # whatever it was, the legacy function raises it at the proper place
            memory = None
        if memory is not None:
            observed = _tell(environment, active, memory.lookout, in_robot_frame)
            return sensing.report(environment, active, observed)
    return sensing.get_observations(environment)


def _look(
    kernels: Kernels, environment: Any, active: list[int], in_robot_frame: bool
) -> Memory | None:
    """Fill an environment's lookout; None, with nothing changed, if that takes other code."""
    robots = [environment.robots[index] for index in active]
    if not (
        legacy.SENSING_ROBOT.is_intact()
        and MEETING_ROBOT.is_intact()
        and legacy.SENSOR.is_intact()
        and all(map(legacy.SENSING_ROBOT.covers, environment.robots))
        and all(map(MEETING_ROBOT.covers, robots))
        and all(map(is_supported, robots))
    ):
        return None
    memory = _memories.get(environment)
    if memory is None:
        memory = _memories[environment] = Memory()
    obstacles = environment.obstacles
    if memory.lookout.size != (len(robots), len(obstacles)):
        memory.lookout = Lookout(len(robots), len(obstacles))
    lookout, generators = memory.lookout, [robot.perception.rd for robot in robots]
    if not (
        _describe(robots, obstacles, lookout)
        and memory.generators.enter(
            generators, active, len(environment.robots), lookout.summary
        )
    ):  # fmt: skip
        return None
    result = kernels.look(in_robot_frame, len(obstacles), lookout)
    if result == _HAS_OTHER_DRAWS and memory.generators.learn_again(
        generators, active, lookout.summary
    ):
        result = kernels.look(in_robot_frame, len(obstacles), lookout)
    if result != _HAS_LOOKED:
        return None
    memory.generators.keep(active, lookout.summary)
    return memory


def _describe(robots: list[Any], obstacles: Any, lookout: Lookout) -> bool:
    """Write down who looks at what; return whether numbers are of the usual types."""
    observers, things = memoryview(lookout.observers).cast("B"), memoryview(lookout.things).cast("B")
    types: set[type] = set()
    position_types: set[type] = set()
    for number, obstacle in enumerate(obstacles):
        x, y, r = obstacle.x, obstacle.y, obstacle.r
        position_types.update((type(x), type(y)))
        types.add(type(r))
        _THING.pack_into(things, _THING.size * number, x, y, 0.0, 0.0, r)
    for number, robot in enumerate(robots):
        x, y, heading, radius = robot.x, robot.y, robot.theta, robot.r
        values = _NUMBERS(robot)
        zone = *robot.left_crossing_zone_x_dim, *robot.left_crossing_zone_y_dim_front
        position_types.update((type(x), type(y)))
        types.update(map(type, (heading, radius, *values, *zone)))
        v_x, v_y, _ = robot.velocity.tolist()
        _OBSERVER.pack_into(
            observers, _OBSERVER.size * number,
            x, y, heading, radius, *robot.goal.tolist(), v_x, v_y, *values, *zone,
        )  # fmt: skip
        _THING.pack_into(things, _THING.size * (len(obstacles) + number), x, y, v_x, v_y, radius)
        row = lookout.summary[number]
        row[tables.LIMIT], row[tables.HAS_COLLIDED] = robot.perception.max_obj_num, robot.collision
    return position_types <= _FLOATS and legacy.PLAIN_NUMBERS.issuperset(types)


def _tell(
    environment: Any, active: list[int], lookout: Lookout, in_robot_frame: bool
) -> list[Observation]:
    """Leave in robots and sensors what was seen, and return it."""
    obstacles = environment.obstacles
    robots = [environment.robots[index] for index in active]
    everything = [*obstacles, *robots]
    counts = lookout.summary[:, tables.COUNT].tolist()
    total = sum(counts)
    numbers = list(lookout.found[:total, :4].flat)
    radii = lookout.found[:total, 4].tolist()
    things, places = lookout.numbers[:, :total].tolist()
    own, own_numbers = list(lookout.own[:, :4].flat), lookout.own[:, 4].tolist()
    plain = [type(thing.r) is not np.float64 for thing in everything]

    observations: list[Observation] = []
    begin = 0
    for index, (robot, count, happened) in enumerate(
        zip(robots, counts, lookout.summary[:, tables.EVENTS].tolist(), strict=True)
    ):
        end = begin + count
        is_plain = type(robot.perception.r_mean_ratio) is not np.float64
        seen = things[begin:end]
        found = [
            [*numbers[4 * place : 4 * place + 4], radius if is_plain and plain[thing] else np.float64(radius)]
            for place, radius, thing in zip(range(begin, end), radii[begin:end], seen, strict=True)
        ]
        if not in_robot_frame:
            sensing.restore_types(obstacles, everything, found, seen)
        own_state = sensing.own_state(robot, own[4 * index : 4 * index + 4], in_robot_frame)
        sensing.remember(len(obstacles), active, robot, own_state, found, seen)
        limit = max(robot.perception.max_obj_num, 0)
        nearest = [found[place].copy() for place in places[begin:end][:limit]]
        observations.append((own_state, nearest))
        _mark(robot, happened, own_numbers[index], own_state, nearest)
        begin = end
    return observations


def _mark(
    robot: Any, happened: int, angle: float, own_state: list[Any], nearest: list[list[Any]]
) -> None:
    """Set a robot's flags and turn angle."""
    if happened & tables.REACHED:
        robot.reach_goal = True
    if happened & tables.COLLIDED:
        robot.collision = True
    robot.apply_COLREGs = bool(happened & tables.GIVES_WAY)
    if happened & tables.HAS_ANGLE:
        robot.phi = np.float64(angle)
    elif happened & tables.ASKS:
        robot.apply_COLREGs = any(
            robot.check_apply_COLREGs(own_state, each) for each in nearest
        )  # fmt: skip


