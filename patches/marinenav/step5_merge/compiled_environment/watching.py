"""Whether robots are still as they were left: no attribute, list or matrix of theirs was changed meanwhile.

Reading what may have changed takes most of a step, and nearly always it has not. CPython 3.11 notes changes of
dictionaries (`compiled/objects.py`), which is asked here for the attributes of robots and sensors and of their classes.
Lists and matrices that they own are compared by content; vectors are read with each step. What changed is read again in
full, and so is everything where `notices_changes` finds that changes are noted otherwise, or not at all.
"""

from __future__ import annotations

import gc
import sys
from operator import attrgetter, is_
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils.perception import Perception
from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from patches.marinenav.step5_merge.compiled_environment.compiled import objects
from patches.marinenav.step5_merge.vector_environment.legacy import is_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    Addresses = npt.NDArray[np.int64]

_CLASSES: Final = (*Robot.__mro__[:-1], *Perception.__mro__[:-1])
_KINDS: Final = (id(np.ndarray), id(np.dtype(np.float64)))
_make: Any = Robot
_zones_of = attrgetter("left_crossing_zone_x_dim", "left_crossing_zone_y_dim_front")


def notices_changes() -> bool:
    """Return whether changes of robots are noticed here, as they were found to be in CPython 3.11."""
    if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11):
        return False
    changes: tuple[Callable[[Any], object], ...] = (
        lambda robot: setattr(robot, "x", 1.0),
        _drift,
        lambda robot: vars(robot).update(y=1.0),
        lambda robot: vars(robot).pop("y"),
        lambda robot: setattr(robot, "__dict__", dict(vars(robot))),
        lambda robot: setattr(robot.perception, "range", 1.0),
        lambda robot: robot.left_crossing_zone_x_dim.__setitem__(0, -1.0),
        lambda robot: robot.left_crossing_zone_x_dim.append(1.0),
        lambda robot: robot.D.__setitem__((0, 0), 1.0),
        lambda robot: setattr(robot.D, "shape", (1, 9)),
    )
    for change in changes:
        robot = _make()
        robot.x = 0.0
        robot.goal, robot.velocity, robot.velocity_r = np.zeros(2), np.zeros(3), np.zeros(3)
        for _ in range(_OFTEN):
            _drift(robot)
        watch = Watch([robot], [robot])
        if not (watch.is_possible and watch.holds()):
            return False
        change(robot)
        if watch.holds():
            return False
    return True


_OFTEN: Final = 100
"""So often Python runs code before it takes a shorter way to the attributes of what it has always met there."""


def _drift(robot: Any) -> None:
    robot.x = robot.x + 1.0


class Watch:
    """What was noted about the robots of an environment.

    Args:
        everybody: All robots.
        robots: The active ones.
    """

    def __init__(self, everybody: Sequence[Any], robots: Sequence[Any]) -> None:
        self._everybody = tuple(everybody)
        sensors = [robot.perception for robot in robots]
        owners = [*everybody, *sensors]
        dictionaries = [*map(vars, owners), *map(_dictionary_of, _CLASSES)]
        lists = [zone for robot in robots for zone in _zones_of(robot) if type(zone) is not tuple]
        matrices = [each for robot in robots for each in (robot.M_RB, robot.M_A, robot.D)]
        # Memory that is looked at must not become somebody else's.
        self._alive = owners, dictionaries, lists, matrices
        self.goals = [robot.goal for robot in robots]
        self.velocities = [robot.velocity for robot in robots]
        self.waters = [robot.velocity_r for robot in robots]
        sensing = _addresses((*_KINDS, id(self.goals), id(self.velocities)))
        moving = _addresses((*_KINDS, id(self.goals), id(self.waters)))

        tags, rest = len(dictionaries), objects.OBJECT_WORDS * len(owners)
        looked_at = tags + rest + objects.LIST_WORDS * len(lists)
        self.places = np.empty(looked_at + objects.MATRIX_WORDS * len(matrices), dtype=np.int64)
        self.is_possible = (
            all(type(each) is list and len(each) == 2 for each in lists)
            and all(map(_is_plain_matrix, matrices))
            and all(is_vector(each, 2) for each in self.goals)
            and all(is_vector(each, 3) for each in (*self.velocities, *self.waters))
            and objects.find_places(
                *map(_addresses_of, (owners, dictionaries, lists, matrices)), self.places
            )
        )
        self.words = np.zeros(len(self.places), dtype=np.int64)
        self._tags = self.places[:tags], self.words[:tags]
        self.for_motion = self.places, self.words, moving
        # Matrices matter for motion only.
        self.for_sight = self.places[:looked_at], self.words[:looked_at], sensing
        self.uses = 0
        if self.is_possible:
            objects.note(self.places, self.words)

    def is_of(self, everybody: Any) -> bool:
        """Return whether it is about these robots."""
        return len(everybody) == len(self._everybody) and all(map(is_, everybody, self._everybody))

    def holds(self) -> bool:
        """Return whether nobody has changed anything."""
        return bool(objects.are_as_noted(self.places, self.words))

    def accept(self) -> None:
        """Note attributes as they are now, after they were changed by whoever watches."""
        self.uses += 1
        objects.note(*self._tags)


def _is_plain_matrix(matrix: Any) -> bool:
    return (
        isinstance(matrix, np.ndarray)
        and matrix.dtype is np.dtype(np.float64)
        and matrix.shape == (3, 3)
        and matrix.flags.c_contiguous
    )


def _dictionary_of(owner: type) -> dict[str, Any]:
    (found,) = (each for each in gc.get_referents(vars(owner)) if type(each) is dict)
    return found


def _addresses_of(things: Iterable[Any]) -> Addresses:
    return _addresses(map(id, things))


def _addresses(numbers: Iterable[int]) -> Addresses:
    return np.fromiter(numbers, dtype=np.int64)
