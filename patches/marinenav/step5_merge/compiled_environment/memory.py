"""What is kept about an environment between calls: arrays, and what was last written into them.

Robots may be changed in any way from outside. Their numbers are read in every call; those that rarely change are
compared by identity with what was read last, which for numbers means that they are the same and of the same type.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from patches.marinenav.step5_merge.compiled_environment import tables

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

Things = tuple[Any, ...]


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


class Fleet:
    """Arrays for so many robots that move."""

    def __init__(self, robots: int) -> None:
        self.size = robots
        self.vessels = np.zeros((robots, tables.VESSEL))
        self.bytes = self.vessels.data.cast("B")
        self.constants: list[Things] = [()] * robots
        self.matrices: list[list[bytes]] = [[]] * robots
        self.coefficients: Coefficients | None = None


class Lookout:
    """Arrays for so many robots that look at each other and at so many obstacles."""

    def __init__(self, robots: int, obstacles: int) -> None:
        self.size = robots, obstacles
        things = robots + obstacles
        self.observers = np.zeros((robots, tables.OBSERVER))
        self.bytes = self.observers.data.cast("B")
        self.constants: list[Things] = [()] * robots
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


class Memory:
    """What is kept about one environment."""

    def __init__(self) -> None:
        self.water = Water((), b"", np.empty((0, 3)))
        self.fleet = Fleet(1)
        self.lookout = Lookout(1, 0)


_memories: WeakKeyDictionary[Any, Memory] = WeakKeyDictionary()


def memory_of(environment: Any) -> Memory:
    """Return what is kept about an environment, for as long as that lives."""
    memory = _memories.get(environment)
    if memory is None:
        memory = _memories[environment] = Memory()
    return memory
