"""Compiled: sums over rows in the order in which torch makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled, inlined


@compiled
def sum_rows(total: Any, numbers: Any, lanes: int) -> None:
    """Sum over rows.

    Columns that fill four vectors are summed row by row, the others in four turns; one column alone is cut into
    vectors, whose lanes are summed last.

    Args:
        total: (n,), written.
        numbers: (rows, n)
        lanes: Numbers of a vector.
    """
    width = numbers.shape[1]
    if width == 1:
        total[0] = _sum_of_one(numbers[:, 0], lanes)
        return
    block = 4 * lanes if width >= lanes else 4
    whole = width // block * block
    if whole:
        _sum_by_rows(total, numbers, whole)
    if whole < width:
        _sum_others(total, numbers, whole)


@inlined
def sum_line(numbers: Any, lanes: int) -> Any:
    """Return the sum of numbers that lie next to each other."""
    if len(numbers) >= 2 * lanes:
        return _sum_of_one(numbers, lanes)
    # One vector at most: its lanes are summed last.
    whole = len(numbers) // lanes * lanes
    total = np.float32(0.0)
    for place in range(whole, len(numbers)):
        total += numbers[place]
    for place in range(whole):
        total += numbers[place]
    return total


_STEP = 16
"""Numbers that are summed before their sum is added to another; 16 of these are a number again."""


@compiled
def _sum_by_rows(total: Any, numbers: Any, width: int) -> None:
    sums = np.zeros((3, width), dtype=np.float32)
    for row in range(len(numbers)):
        for place in range(width):
            sums[0, place] += numbers[row, place]
        if (row + 1) % _STEP == 0:
            _carry(sums, (row + 1) % (_STEP * _STEP) == 0)
    for place in range(width):
        total[place] = (sums[0, place] + sums[1, place]) + sums[2, place]


@compiled
def _carry(sums: Any, goes_on: bool) -> None:
    for place in range(sums.shape[1]):
        sums[1, place] += sums[0, place]
        sums[0, place] = np.float32(0.0)
        if goes_on:
            sums[2, place] += sums[1, place]
            sums[1, place] = np.float32(0.0)


@compiled
def _sum_others(total: Any, numbers: Any, first: int) -> None:
    """What `_sum_in_turns` does with a column, for the first one and all that follow, side by side."""
    width = len(total) - first
    sums = np.zeros((3, 4 * width), dtype=np.float32)
    turns = len(numbers) // 4
    for turn in range(turns):
        for row in range(4):
            for place in range(width):
                sums[0, row * width + place] += numbers[4 * turn + row, first + place]
        if (turn + 1) % _STEP == 0:
            _carry(sums, (turn + 1) % (_STEP * _STEP) == 0)
    for place in range(4 * width):
        sums[0, place] = (sums[0, place] + sums[1, place]) + sums[2, place]
    for row in range(4 * turns, len(numbers)):
        for place in range(width):
            sums[0, place] += numbers[row, first + place]
    for place in range(width):
        pair = sums[0, place] + sums[0, width + place]
        total[first + place] = (pair + sums[0, 2 * width + place]) + sums[0, 3 * width + place]


@compiled
def _sum_in_turns(column: Any) -> Any:
    sums = np.zeros((3, 4), dtype=np.float32)
    turns = len(column) // 4
    for turn in range(turns):
        for place in range(4):
            sums[0, place] += column[4 * turn + place]
        if (turn + 1) % _STEP == 0:
            _carry(sums, (turn + 1) % (_STEP * _STEP) == 0)
    parts = (sums[0] + sums[1]) + sums[2]
    for place in range(4 * turns, len(column)):
        parts[0] += column[place]
    return ((parts[0] + parts[1]) + parts[2]) + parts[3]


@compiled
def _sum_of_one(column: Any, lanes: int) -> Any:
    vectors = len(column) // lanes
    total = np.float32(0.0)
    for place in range(vectors * lanes, len(column)):
        total += column[place]
    for lane in range(lanes):
        if vectors < 4:  # no turn is whole
            part = np.float32(0.0)
            for vector in range(vectors):
                part += column[vector * lanes + lane]
            total += part
        else:
            total += _sum_in_turns(column[lane : vectors * lanes : lanes])
    return total
