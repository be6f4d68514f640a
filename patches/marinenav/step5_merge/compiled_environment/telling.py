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
    rows = lookout.summary[:, tables.LIMIT :].tolist()
    total = sum([count for _, count, _ in rows])
    things, places = lookout.numbers[:, :total].tolist()
    everything = [*obstacles, *robots]
    objects = _objects(robots, everything, lookout, rows, things)
    if not in_robot_frame:
        sensing.restore_types(obstacles, everything, objects, things)
    own_numbers = iter(list(lookout.own.flat))
    goals_and_velocities = zip(own_numbers, own_numbers, own_numbers, own_numbers, strict=True)
    first = len(obstacles)
    names = [*range(first), *active]
    known_as = [names[thing] for thing in things]

    observations: list[Observation] = []
    end = 0
    for robot, numbers, (most, count, happened), angle in zip(
        robots, goals_and_velocities, rows, lookout.angles.tolist(), strict=True
    ):
        perception = robot.perception
        if in_robot_frame:
            own = [*numbers, robot.velocity[2], robot.left_thrust, robot.right_thrust]
        else:
            own = sensing.own_state(robot, numbers, in_robot_frame)
        remembered = perception.observation
        remembered["self"] = own.copy()
        begin, end = end, end + count
        if count:
            found, seen = objects[begin:end], things[begin:end]
            remembered["objects"][:] = found
            cut = bisect_left(seen, first)
            perception.observed_obs[:] = seen[:cut]
            perception.observed_objs[:] = known_as[begin + cut : end]
            limit = max(most, 0)
            nearest = [found[place].copy() for place in places[begin:end][:limit]]
        else:
            remembered["objects"][:] = perception.observed_obs[:] = perception.observed_objs[:] = ()
            nearest = []
        if happened:
            _mark(robot, happened, angle, own, nearest)
        else:
            robot.apply_COLREGs = False
        observations.append((own, nearest))
    return observations


def _objects(
    robots: list[Any],
    everything: list[Any],
    lookout: Lookout,
    rows: list[list[int]],
    things: list[int],
) -> list[list[Any]]:
    """Return observed objects as lists of numbers.

    A radius is a Python float if the sensor's ratio and the true radius are, as those of obstacles are.
    """
    numbers = list(lookout.found[: len(things)].flat)
    radii = lookout.gaps[0, : len(things)]
    is_plain = [type(everything[thing].r) is not np.float64 for thing in things]
    begin = 0
    for robot, (_, count, _) in zip(robots, rows, strict=True):
        if count:
            if type(robot.perception.r_mean_ratio) is np.float64:
                is_plain[begin : begin + count] = [False] * count
            begin += count
    plain, doubles = radii.tolist(), list(radii.flat)
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
