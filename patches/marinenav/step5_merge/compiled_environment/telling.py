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
    everything = [*obstacles, *robots]
    has_plain_radius = [type(thing.r) is not np.float64 for thing in everything]
    counts = lookout.summary[:, tables.COUNT].tolist()
    events = lookout.summary[:, tables.EVENTS].tolist()
    total = sum(counts)
    numbers = list(lookout.found[:total].flat)
    radii = lookout.gaps[0, :total].tolist()
    things, places = lookout.numbers[:, :total].tolist()
    own_numbers, angles = list(lookout.own.flat), lookout.angles.tolist()

    observations: list[Observation] = []
    begin = 0
    for index, robot in enumerate(robots):
        end = begin + counts[index]
        seen = things[begin:end]
        perception = robot.perception
        has_plain_ratio = type(perception.r_mean_ratio) is not np.float64
        found = [
            [
                *numbers[4 * place : 4 * place + 4],
                radii[place]
                if has_plain_ratio and has_plain_radius[things[place]]
                else np.float64(radii[place]),
            ]
            for place in range(begin, end)
        ]
        if not in_robot_frame:
            sensing.restore_types(obstacles, everything, found, seen)
        own = sensing.own_state(robot, own_numbers[4 * index : 4 * index + 4], in_robot_frame)
        perception.observation["self"] = own.copy()
        perception.observation["objects"][:] = found
        cut = bisect_left(seen, len(obstacles))
        perception.observed_obs[:] = seen[:cut]
        perception.observed_objs[:] = [active[thing - len(obstacles)] for thing in seen[cut:]]
        limit = max(perception.max_obj_num, 0)
        nearest = [found[place].copy() for place in places[begin:end][:limit]]
        _mark(robot, events[index], angles[index], own, nearest)
        observations.append((own, nearest))
        begin = end
    return observations


def _mark(
    robot: Any, happened: int, angle: float, own: list[Any], nearest: list[list[Any]]
) -> None:
    """Set a robot's flags and turn angle."""
    if happened & tables.REACHED:
        robot.reach_goal = True
    if happened & tables.COLLIDED:
        robot.collision = True
    robot.apply_COLREGs = bool(happened & tables.GIVES_WAY)
    turn = np.float64(angle)
    if happened >= tables.LACKS_ANGLE:
        lacking = turn
        for rank, vehicle in enumerate(nearest):
            if happened & (tables.LACKS_ANGLE << rank):
                # For its warnings, and for the sign of what is no number: that is the machine's to choose.
                lacking = _COMPUTE_TURN_ANGLE(own[2:4], vehicle, robot.r)
        if np.isnan(turn):
            turn = lacking
    if happened & tables.HAS_ANGLE:
        robot.phi = turn
