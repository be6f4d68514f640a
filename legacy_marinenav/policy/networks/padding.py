"""Padding of the observed objects to the fixed number of rows that the networks take."""

from __future__ import annotations

from typing import Any

RobotState = tuple[list[float], list[list[float]]]
"""Own state and one row per observed object."""


def pad_objects(
    objects: list[list[float]], max_object_num: int, object_length: int
) -> tuple[list[Any], list[float]]:
    """Fill up with zero rows; the mask is 1 for observed rows and 0 for the filling."""
    missing = max_object_num - len(objects)
    padded = list(objects) + [[0.0] * object_length for _ in range(missing)]
    mask = [1.0] * len(objects) + [0.0] * missing
    return padded, mask


def batch_states(
    states: list[RobotState], max_object_num: int, object_length: int
) -> tuple[list[Any], list[Any], list[Any]]:
    """Own states, padded objects and masks as nested lists; the last two are empty if nobody sees an object."""
    self_states = []
    object_lists = []
    for self_state, objects in states:
        self_states.append(self_state)
        object_lists.append(objects)

    if max(len(objects) for objects in object_lists) == 0:
        return self_states, [], []

    padded_batch = []
    mask_batch = []
    for objects in object_lists:
        padded, mask = pad_objects(objects, max_object_num, object_length)
        padded_batch.append(padded)
        mask_batch.append(mask)
    return self_states, padded_batch, mask_batch
