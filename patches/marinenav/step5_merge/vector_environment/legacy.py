"""What the vectorised functions stand in for, and whether that is still what would run.

A robot or an environment whose class, or which itself, brings its own version of a method that is
computed in arrays here has to be asked, not second-guessed: such a step is left to the legacy code.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.marinenav_env.envs.utils.perception import Perception
from legacy_marinenav.marinenav_env.envs.utils.robot import Robot

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

STEP: Final[Any] = MarineNavEnv3.step
GET_OBSERVATIONS: Final[Any] = MarineNavEnv3.get_observations

_FLOAT64 = np.dtype(np.float64)
PLAIN_NUMBERS = frozenset({float, int, np.float64})
"""Numbers whose sums and products with a double are doubles; a float32 would round them."""


class Guard:
    """Tells whether the methods of a class are still the legacy ones.

    Args:
        owner: The class.
        names: Methods that are not called any more, because arrays do their work.
    """

    def __init__(self, owner: type, *names: str) -> None:
        self._owner = owner
        self._names = frozenset(names)
        self._resolve = attrgetter(*names)
        self._legacy = self._resolve(owner)

    def is_intact(self) -> bool:
        """Return whether nobody replaced a method on the class."""
        return bool(self._resolve(self._owner) == self._legacy)

    def covers(self, thing: Any) -> bool:
        """Return whether a thing is of this very class and overrides nothing itself."""
        return type(thing) is self._owner and vars(thing).keys().isdisjoint(self._names)

    def covers_all(self, things: Sequence[Any]) -> bool:
        """Return whether it covers each of some things, of which there are any."""
        names = self._names
        if set(map(type, things)) != {self._owner}:
            return False
        for thing in things:  # noqa: SIM110 - half as long as with a generator
            if not vars(thing).keys().isdisjoint(names):
                return False
        return True

    def covers_subclass(self, thing: Any) -> bool:
        """Return whether a thing, of this class or derived from it, uses the legacy methods."""
        return (
            self._resolve(type(thing)) == self._legacy
            and vars(thing).keys().isdisjoint(self._names)
        )  # fmt: skip


MOVING_ENVIRONMENT = Guard(MarineNavEnv3, "_move", "get_velocity", "compute_speed")
JUDGING_ENVIRONMENT = Guard(MarineNavEnv3, "_COLREGs_reward", "_outcome")
MOVING_ROBOT = Guard(
    Robot,
    "update_state",
    "_change_thrust",
    "compute_motion",
    "_compute_resistance",
    "compute_propulsion",
    "project_to_robot_frame",
    "get_robot_transform",
    "dist_to_goal",
)
SENSING_ROBOT = Guard(
    Robot,
    "perception_output",
    "_observe_self",
    "_observe_object",
    "check_detection",
    "_clearance",
    "check_apply_COLREGs",
    "check_reach_goal",
    "dist_to_goal",
    "project_to_robot_frame",
    "get_robot_transform",
)
SENSOR = Guard(Perception, "pos_observation", "velocity_observation", "r_observation")


def are_plain(values: Iterable[object]) -> bool:
    """Return whether all values are doubles or integers."""
    return PLAIN_NUMBERS.issuperset(map(type, values))


def is_vector(value: object, length: int) -> bool:
    """Return whether a value is an array of so many doubles."""
    return type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == (length,)


def lengths(vectors: Array) -> Array:
    """Return Euclidean norms along the last axis, by the dot product that ``numpy.linalg.norm`` takes."""
    squares: Array = np.vecdot(vectors, vectors)
    return np.sqrt(squares)
