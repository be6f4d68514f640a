"""The velocity of the water at many positions at once.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.get_velocity, as `step` uses it
Removes:  a tree query, one matrix object and more per core, and C(C-1)/2 products without effect, all
          of it per robot and substep
Keeps:    the sum over cores from the nearest to the farthest, and what happens inside a core

Asked one by one, by the legacy function, are positions inside a core or equally far from two cores: how
the search tree orders equal distances is its own affair.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.vector_environment.legacy import Array
    from patches.marinenav.step5_merge.vector_environment.vessels import Current

_TWO_PI = np.array(2 * np.pi)
"""As an array, because a number would be made one in each operation."""
_NO_CORES = np.empty((0, 3))


def current_of(environment: Any, count: int) -> Current | None:
    """Return the current for a number of positions, or None if only the legacy code knows it."""
    vortices = vortices_of(environment)
    if vortices is None:
        return None
    if len(vortices) == 0:
        return StillWater(count)
    return Vortices(environment, vortices[:, :2], vortices[:, 2], count)


def vortices_of(environment: Any) -> Array | None:
    """Return the cores as rows of centre and circulation, which is positive if clockwise; or None."""
    cores = environment.cores
    if len(cores) == 0:
        return _NO_CORES
    table = np.array([(core.x, core.y, core.Gamma) for core in cores], dtype=np.float64)
    tree = environment.core_centers
    # Cores moved by hand since the tree was built are ordered by where they were.
    if not np.isfinite(table).all() or table[:, :2].tobytes() != tree.data.tobytes():
        return None
    table[:, 2] *= [1.0 if core.clockwise else -1.0 for core in cores]
    return table


class StillWater:
    """No current anywhere."""

    def __init__(self, count: int) -> None:
        self._velocity = np.zeros((3, count))

    def at(self, poses: Array) -> Array:  # noqa: ARG002 - the same everywhere
        """Return zeros."""
        return self._velocity


class Vortices:
    """The current that the cores of an environment make.

    Args:
        environment: Whose cores they are; asked about positions of the special kinds.
        centers: (C, 2), positions of the cores.
        circulations: (C,), positive for a clockwise core.
        count: How many positions will be asked about.
    """

    def __init__(self, environment: Any, centers: Array, circulations: Array, count: int) -> None:
        self._environment = environment
        # Inside a core speed follows another law; the margin is for the square root not taken.
        self._inside = environment.r * environment.r * (1 + 1e-9)
        cores = len(centers)
        self._centers = centers.T[:, None, :]
        # Offset to the centre (2), its square and circulation; per position, per core.
        table = np.empty((4, count, cores))
        table[3] = circulations
        self._offsets, self._squares = table[:2], table[2]
        self._vectors = self._offsets.transpose(1, 2, 0)
        self._columns = table.reshape(4, count * cores)
        self._first = np.arange(0, count * cores, cores)[:, None] + np.zeros(cores, dtype=np.intp)
        # The same with the nearest core first.
        self._sorted = np.empty_like(table)
        self._contributions = self._sorted[:2]
        self._x, self._y, self._sorted_squares, self._circulations = self._sorted
        squares = self._sorted_squares.reshape(-1)
        self._farther, self._nearer = squares[1:], squares[:-1]
        self._nearest = self._sorted_squares[:, 0]
        self._distances = np.empty((count, cores))
        self._speeds = np.empty((count, cores))
        self._sums = np.empty((2, count, cores))
        self._total_x, self._total_y = self._sums[:, :, -1]
        self._velocity = np.zeros((3, count))
        self._v_x, self._v_y, self._zero = self._velocity

    def at(self, poses: Array) -> Array:
        """Return the velocity at each pose; the array is overwritten by the next call."""
        vectors, squares = self._vectors, self._squares
        np.subtract(self._centers, poses[:2, :, None], self._offsets)
        np.vecdot(vectors, vectors, squares)
        order = squares.argsort(1)
        np.add(order, self._first, order)
        self._columns.take(order, 1, self._sorted, "clip")

        # The last core of one position may tie with the first of the next: that is looked into.
        has_tie = np.count_nonzero(self._farther == self._nearer)
        nearest = self._nearest.tolist()
        # What is not a number is passed over by `min` unless it comes first, but not by a sum.
        if has_tie or not (min(nearest) > self._inside and sum(nearest) < math.inf):
            return self._at_special(poses)
        self._sum()
        return self._velocity

    def _sum(self) -> None:
        """Add up what each core contributes, the nearest first."""
        x, y, distances, speeds = self._x, self._y, self._distances, self._speeds
        np.sqrt(self._sorted_squares, distances)
        np.divide(x, distances, x)
        np.divide(y, distances, y)
        np.multiply(distances, _TWO_PI, speeds)
        np.divide(self._circulations, speeds, speeds)
        np.multiply(x, speeds, x)
        np.multiply(y, speeds, y)
        # Accumulated, because a plain sum over a contiguous axis would be taken in pairs.
        np.add.accumulate(self._contributions, 2, None, self._sums)
        # A quarter turn; no sum that starts from 0.0 is -0.0.
        np.subtract(self._zero, self._total_y, self._v_x)
        np.add(self._zero, self._total_x, self._v_y)

    def _at_special(self, poses: Array) -> Array:
        squares = self._sorted_squares
        is_tied = (squares[:, 1:] == squares[:, :-1]).any(axis=1)
        is_inside = ~(self._nearest > self._inside)
        with np.errstate(all="ignore"):
            self._sum()
        for index in (is_tied | is_inside).nonzero()[0]:
            x, y, _ = poses[:, index]
            self._velocity[:, index] = self._environment.get_velocity(x, y)
        return self._velocity
