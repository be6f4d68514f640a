"""Checks of the curricula that decide how many robots, cores and obstacles an episode has."""

import numbers
from collections.abc import Mapping, Sequence

import numpy as np

LAYOUT_KEYS = ("num_robots", "num_cores", "num_obstacles", "min_start_goal_dis")
TRAINING_KEYS = ("timesteps", *LAYOUT_KEYS)
EVAL_KEYS = ("num_episodes", *LAYOUT_KEYS)

COUNTS = ("num_episodes", "num_robots", "num_cores", "num_obstacles")
"""Entries of these lists are whole numbers; the others may be fractions."""


def check_training_schedule(schedule):
    """Refuse a training schedule that the environment could not follow.

    Args:
        schedule: Lists of equal length under the keys `TRAINING_KEYS`, one entry per stage.

    Raises:
        ValueError: A key is missing or its list is unusable; the message names the key.
    """
    _check("training_schedule", schedule, TRAINING_KEYS)


def check_eval_schedule(schedule):
    """Refuse an evaluation schedule that no evaluation episodes can be made from.

    Args:
        schedule: Lists of equal length under the keys `EVAL_KEYS`, one entry per stage.

    Raises:
        ValueError: A key is missing or its list is unusable; the message names the key.
    """
    _check("eval_schedule", schedule, EVAL_KEYS)


def _check(name, schedule, keys):
    if not isinstance(schedule, Mapping):
        raise ValueError(  # noqa: TRY004 - callers handle one error type for every malformed config
            f"{name}: must map {_quoted(keys)} to lists, not be {schedule!r}"
        )
    for key in keys:
        if key not in schedule:
            raise ValueError(f"{name}: '{key}' is missing; needed are {_quoted(keys)}")
        if not _is_list(schedule[key]):
            raise ValueError(
                f"{name}: '{key}' must be a list with one entry per stage, not {schedule[key]!r}"
            )
    _check_lengths(name, schedule, keys)
    for key in keys:
        for value in schedule[key]:
            _check_entry(name, key, value)


def _check_lengths(name, schedule, keys):
    first = keys[0]
    stages = len(schedule[first])
    if stages == 0:
        raise ValueError(f"{name}: '{first}' is empty; at least one stage is needed")
    for key in keys:
        if len(schedule[key]) != stages:
            raise ValueError(
                f"{name}: '{key}' has {len(schedule[key])} entries but '{first}' has {stages}; "
                "all lists need one entry per stage"
            )


def _check_entry(name, key, value):
    smallest = 1 if key == "num_robots" else 0
    kind, noun = (numbers.Integral, "whole numbers") if key in COUNTS else (numbers.Real, "numbers")
    if not isinstance(value, kind) or isinstance(value, bool) or not smallest <= value < np.inf:
        raise ValueError(
            f"{name}: '{key}' has the entry {value!r}; allowed are {noun} >= {smallest}"
        )


def _is_list(value):
    return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)


def _quoted(keys):
    return ", ".join(f"'{key}'" for key in keys)
