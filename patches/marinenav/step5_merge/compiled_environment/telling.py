"""From what compiled code found to what the legacy code returns and leaves behind."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils.colregs import compute_turn_angle
from patches.marinenav.step5_merge.compiled_environment import tables
from patches.marinenav.step5_merge.vector_environment import sensing

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_environment.memory import Lookout
    from patches.marinenav.step5_merge.vector_environment.sensing import Observation

_COMPUTE_TURN_ANGLE: Final[Any] = compute_turn_angle


def tell(
    environment: Any, active: list[int], lookout: Lookout, in_robot_frame: bool
) -> list[Observation]:
    """Leave in robots and sensors what was seen, and return it."""
    obstacles = environment.obstacles
    robots = [environment.robots[index] for index in active]
    counts = lookout.summary[:, tables.COUNT].tolist()
    events = lookout.summary[:, tables.EVENTS].tolist()
    total = sum(counts)
    things, places = lookout.numbers[:, :total].tolist()
    everything = [*obstacles, *robots]
    objects = _objects(robots, everything, lookout, counts, things)
    if not in_robot_frame:
        sensing.restore_types(obstacles, everything, objects, things)
    own_numbers, angles = list(lookout.own.flat), lookout.angles.tolist()
    first = len(obstacles)
    names = [*range(first), *active]
    known_as = [names[thing] for thing in things]

    observations: list[Observation] = []
    begin = 0
    for index, robot in enumerate(robots):
        perception = robot.perception
        own = sensing.own_state(robot, own_numbers[4 * index : 4 * index + 4], in_robot_frame)
        remembered = perception.observation
        remembered["self"] = own.copy()
        end = begin + counts[index]
        found, seen = objects[begin:end], things[begin:end]
        remembered["objects"][:] = found
        cut = bisect_left(seen, first)
        perception.observed_obs[:] = seen[:cut]
        perception.observed_objs[:] = known_as[begin + cut : end]
        limit = max(perception.max_obj_num, 0)
        nearest = [found[place].copy() for place in places[begin:end][:limit]]
        if events[index]:
            _mark(robot, events[index], angles[index], own, nearest)
        else:
            robot.apply_COLREGs = False
        observations.append((own, nearest))
        begin = end
    return observations


def _objects(
    robots: list[Any], everything: list[Any], lookout: Lookout, counts: list[int], things: list[int]
) -> list[list[Any]]:
    """Return observed objects as lists of numbers.

    A radius is a Python float if the sensor's ratio and the true radius are, as those of obstacles are.
    """
    numbers = list(lookout.found[: len(things)].flat)
    radii = lookout.gaps[0, : len(things)]
    plain, doubles = radii.tolist(), list(radii.flat)
    has_plain_radius = [type(thing.r) is not np.float64 for thing in everything]
    is_plain = [has_plain_radius[thing] for thing in things]
    begin = 0
    for robot, count in zip(robots, counts, strict=True):
        end = begin + count
        if type(robot.perception.r_mean_ratio) is np.float64:
            is_plain[begin:end] = [False] * count
        begin = end
    typed = [plain[place] if each else doubles[place] for place, each in enumerate(is_plain)]
    columns = numbers[::4], numbers[1::4], numbers[2::4], numbers[3::4], typed
    return list(map(list, zip(*columns, strict=True)))


def _mark(
    robot: Any, happened: int, angle: float, own: list[Any], nearest: list[list[Any]]
) -> None:
    """Set a robot's flags and turn angle."""
    if happened & tables.REACHED:
        robot.reach_goal = True
    if happened & tables.COLLIDED:
        robot.collision = True
    robot.apply_COLREGs = bool(happened & tables.GIVES_WAY)
    if not happened & tables.HAS_ANGLE:
        return
    turn = np.float64(angle)
    if happened >= tables.LACKS_ANGLE:
        lacking = turn
        for rank, vehicle in enumerate(nearest):
            if happened & (tables.LACKS_ANGLE << rank):
                # For its warnings, and for the sign of what is no number: that is the machine's to choose.
                lacking = _COMPUTE_TURN_ANGLE(own[2:4], vehicle, robot.r)
        if np.isnan(turn):
            turn = lacking
    robot.phi = turn
