"""Compiled: takes rows apart into what networks look at.

Replaces: observations.observation_of
Removes:  a view or a copy per field and batch
Keeps:    every number, and which objects are absent
"""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled


@compiled
def observe(rows: Any, first: int, column: int, own: Any, objects: Any, absent: Any) -> None:
    """Write own states, objects and which of these are absent.

    Args:
        rows: Floats.
        first: Where the rows of the states begin.
        column: Where the columns of the states begin.
        own: (n, 7), written.
        objects: (n, 25), written.
        absent: (n, 5), written.
    """
    behind = column + own.shape[1]
    mask = behind + objects.shape[1]
    for row in range(len(own)):
        for place in range(own.shape[1]):
            own[row, place] = rows[first + row, column + place]
        for place in range(objects.shape[1]):
            objects[row, place] = rows[first + row, behind + place]
        for place in range(absent.shape[1]):
            absent[row, place] = rows[first + row, mask + place] < np.float32(0.5)


@compiled
def copy_columns(rows: Any, column: int, target: Any) -> None:
    """Write some columns of rows ``(n, m)`` to a matrix of their own."""
    for row in range(len(target)):
        for place in range(target.shape[1]):
            target[row, place] = rows[row, column + place]
