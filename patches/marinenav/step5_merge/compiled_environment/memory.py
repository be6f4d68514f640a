"""What is kept about an environment between calls: arrays, and what was last written into them.

Robots may be changed in any way from outside. Their numbers are read in every call; those that rarely change are
compared by identity with what was read last, which for numbers means that they are the same and of the same type.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from patches.marinenav.step5_merge.compiled_environment import tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from patches.marinenav.step5_merge.compiled_environment.watching import Watch
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

Things = tuple[Any, ...]

_ARRAYS = {np.ndarray}
_WORTH_WATCHING = 8
"""Uses of a watch that make up for the time it takes to begin one."""
_MOST_PATIENCE = 100
_NEVER = (-1.0, 2.0)
"""Bounds of uniforms that none of them is beyond."""


def are_same(some: Things, others: Things) -> bool:
    """Return whether two tuples hold the very same objects."""
    return len(some) == len(others) and all(map(is_, some, others))


@dataclass(frozen=True, slots=True)
class Water:
    """The cores of an environment."""

    cores: Things
    """Their numbers."""
    tree: bytes
    """Where the search tree has them."""
    table: Array
    """Centres and circulations."""


class Numbers:
    """Columns of a table that all numbers are written to at once."""

    def __init__(self, columns: Array) -> None:
        self._columns = columns
        turned = np.empty(columns.shape[::-1])
        self._source = turned.T
        self._bytes = turned.data.cast("B")
        self._pack_into = struct.Struct(f"={turned.size}d").pack_into

    def write(self, *values: Any) -> None:
        """Write so many values, column by column; numbers only."""
        self._pack_into(self._bytes, 0, *values)
        np.copyto(self._columns, self._source)


class Vectors:
    """Columns of a table that come from one array per row.

    Args:
        columns: Those of the table.
        length: Numbers of an array; those that there are no columns for are left out.
    """

    def __init__(self, columns: Array, length: int) -> None:
        self._columns = columns
        self._length = {length}
        self._joined = np.empty(len(columns) * length)
        self._source = self._joined.reshape(-1, length)[:, : columns.shape[1]]

    def join(self, arrays: Things, casting: Any) -> bool:
        """Write one array after the other; return whether they all are arrays of so many numbers.

        Raises:
            TypeError: One has numbers that may not be cast so, or no length.
            ValueError: One has more axes.
        """
        if set(map(type, arrays)) == _ARRAYS and set(map(len, arrays)) == self._length:
            np.concatenate(arrays, out=self._joined, casting=casting)
            np.copyto(self._columns, self._source)
            return True
        return False


class Fleet:
    """Arrays for so many robots that move."""

    def __init__(self, robots: int) -> None:
        self.size = robots
        self.vessels = np.zeros((robots, tables.VESSEL))
        self.numbers = Numbers(self.vessels[:, : tables.WATER])
        self.changes = Numbers(self.vessels[:, tables.CHANGES : tables.WATER])
        self.water = Vectors(self.vessels[:, tables.WATER : tables.VESSEL_GOAL], 3)
        self.goals = Vectors(self.vessels[:, tables.VESSEL_GOAL : tables.GROUND], 2)
        self.hulls: Things = ()
        self.has_usual_thrusters = False
        self.parameters: list[Things] = []
        self.matrices: Things = ()
        self.entries = b""
        self.coefficients: Coefficients | None = None
        self.is_known = False
        """Whether the vessels are as the robots were left, if nobody has changed those."""


class Lookout:
    """Arrays for so many robots that look at each other and at so many obstacles."""

    def __init__(self, robots: int, obstacles: int) -> None:
        self.size = robots, obstacles
        things = robots + obstacles
        self.observers = np.zeros((robots, tables.OBSERVER))
        self.poses = Numbers(self.observers[:, : tables.GOAL_X])
        self.goals = Vectors(self.observers[:, tables.GOAL_X : tables.V_X], 2)
        self.velocities = Vectors(self.observers[:, tables.V_X : tables.OBSERVER_CHANGING], 3)
        self.constants: Things = ()
        self.things = np.zeros((things, tables.THING))
        self.obstacles: Things = ()
        self.summary = np.zeros((robots, tables.SUMMARY), dtype=np.int64)
        self.generators: Things = ()
        self.own = np.empty((robots, tables.OWN))
        self.angles = np.zeros(robots)
        self.found = np.empty((robots * things, tables.FOUND))
        self.gaps = np.empty((2, robots * things))
        self.numbers = np.empty((2, robots * things), dtype=np.int64)
        self.block = np.empty(tables.BLOCK)
        self.bounds = np.array([[_NEVER] * (tables.PARTS + 1)] * 2)
        self.sights = np.empty((4, things))
        self.uniforms = np.empty((things, 6))


class Memory:
    """What is kept about one environment."""

    def __init__(self) -> None:
        self.water = Water((), b"", np.empty((0, 3)))
        self.fleet = Fleet(1)
        self.lookout = Lookout(1, 0)
        self.watch: Watch | None = None
        """By which robots are known to be as the lookout has them."""
        self._steps_until_watch = 0
        self._patience = 0

    def have_moved(
        self, poses: Array, ground: list[Array], water: list[Array], *, is_usual: bool
    ) -> None:
        """Take note of what robots were given: poses, and velocities over ground and relative to the water."""
        if self.watch is not None:
            self.watch.velocities[:] = ground
            self.watch.waters[:] = water
            self.lookout.observers[:, : tables.HAS_COLLIDED] = poses
            self.watch.accept()
            self.fleet.is_known = is_usual

    def have_looked(self, watch: Callable[[], Watch | None]) -> None:
        """Take note of what robots were given, or begin to watch them."""
        if self.watch is not None:
            self.watch.accept()
        elif self._steps_until_watch:
            self._steps_until_watch -= 1
        else:
            self.fleet.is_known = False
            self.watch = watch()
            if self.watch is None:
                self._wait()

    def unwatch(self) -> None:
        """Stop watching robots, which somebody has changed; who does so often is not watched for a while."""
        if self.watch is not None:
            if self.watch.uses < _WORTH_WATCHING:
                self._wait()
            else:
                self._patience = 0
            self.watch = None

    def _wait(self) -> None:
        self._patience = min(2 * self._patience + 1, _MOST_PATIENCE)
        self._steps_until_watch = self._patience


_memories: dict[int, tuple[ref[Any], Memory]] = {}
"""By the identity of an environment: a weak dictionary takes several times as long."""


def memory_of(environment: Any) -> Memory:
    """Return what is kept about an environment, for as long as that lives."""
    key = id(environment)
    found = _memories.get(key)
    if found is None or found[0]() is not environment:
        found = ref(environment, partial(_forget, key)), Memory()
        _memories[key] = found
    return found[1]


def _forget(key: int, gone: ref[Any]) -> None:
    found = _memories.get(key)
    # Another environment may be where the one that is gone was.
    if found is not None and found[0] is gone:
        del _memories[key]
