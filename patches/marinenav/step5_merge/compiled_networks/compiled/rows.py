"""Compiled: takes rows apart into what networks look at, and weighs values by what else they say.

Replaces: observations.observation_of, gather and scatter_add_ of actions, the sums of `targets`
Removes:  a view or a copy per field and batch, an operation per product
Keeps:    every number, which objects are absent, every product and sum in its order
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


@compiled
def pick(rows: Any, column: int, values: Any, picked: Any) -> bool:
    """Write the values of the actions that were taken.

    Args:
        rows: Floats.
        column: Where they say which action that was.
        values: (n, m, actions)
        picked: (n, m), written.

    Returns:
        Whether there are such actions.
    """
    for row in range(len(values)):
        action = int(rows[row, column])
        if not 0 <= action < values.shape[2]:
            return False
        for place in range(values.shape[1]):
            picked[row, place] = values[row, place, action]
    return True


@compiled
def put(rows: Any, column: int, picked: Any, values: Any) -> None:
    """Write what `pick` would find, and zeros elsewhere; arguments are its own."""
    for row in range(len(values)):
        action = int(rows[row, column])
        for place in range(values.shape[1]):
            values[row, place, :] = np.float32(0.0)
            # As torch adds it to a zero.
            values[row, place, action] = np.float32(0.0) + picked[row, place]


@compiled
def earn(rows: Any, column: int, values: Any, gamma: Any, rest_first: bool, earned: Any) -> None:
    """Write rewards plus what the values that follow are worth.

    Args:
        rows: Floats.
        column: Where rewards are; beside them it says whether nothing follows.
        values: (n, m)
        gamma: What later values are worth.
        rest_first: Whether that is multiplied by whether anything follows before it is by values.
        earned: (n, m), written.
    """
    for row in range(len(values)):
        rest = np.float32(1.0) - rows[row, column + 1]
        for place in range(values.shape[1]):
            value = values[row, place]
            later = rest * gamma * value if rest_first else gamma * value * rest
            earned[row, place] = rows[row, column] + later
