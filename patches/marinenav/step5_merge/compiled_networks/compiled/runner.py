"""Compiled: goes through a tape of operations on addresses.

Removes:  a call through Python, the dispatcher and autograd, and memory of its own, per layer and operation
Keeps:    every product: the same function of the same library with the same arguments as torch calls it with, for
          operands that begin where torch's would, or one that sums in the same order; all other sums in torch's
          order; the rest has only one right result
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import (
    compiled,
    compiled_unlocked,
)
from patches.marinenav.step5_merge.compiled_networks.compiled.product import brgemm, sgemm
from patches.marinenav.step5_merge.compiled_networks.compiled.row_sums import sum_rows
from patches.marinenav.step5_merge.compiled_networks.compiled.turning import GAP, turn
from patches.marinenav.step5_merge.compiled_networks.tapes.operations import (
    ADD,
    BLOCKS,
    COPY,
    DUEL,
    DUEL_BACK,
    JOIN,
    PART,
    PRODUCT,
    RECTIFY,
    RECTIFY_BACK,
    SPREAD,
    SUM,
    TIMES,
    TIMES_SUM,
    TURN,
)

SCALARS = np.array([0.0, 1.0], dtype=np.float32)
"""What products are told by address to multiply by: what was there before, and themselves."""


def _pointer_to(kind: Any) -> Any:
    def as_pointer(_context: Any, _address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(sig.return_type))

        return types.CPointer(kind)(types.int64), generate

    return intrinsic(as_pointer)


_numbers_at: Any = _pointer_to(types.float32)
_flags_at: Any = _pointer_to(types.uint8)


@compiled_unlocked
def run(  # noqa: C901, PLR0912 - a branch for each operation, and compiled
    lanes: int, tape: Any, addresses: Any, strides: Any, groups: int, scalars: Any
) -> None:
    """Go through a tape for each of several groups.

    Args:
        lanes: Numbers that torch adds up side by side.
        tape: (n, 14), see `operations`.
        addresses: (slots,), where the memory of the first group begins.
        strides: (slots,), bytes from one group to the next.
        groups: How many there are.
        scalars: 0 and 1, which products are told by address.
    """
    here, one = tape.ctypes.data, scalars.ctypes.data + 4
    width = tape.shape[1] * 8
    for group in range(groups):
        for row in range(len(tape)):
            kind = tape[row, 0]
            first = addresses[tape[row, 1]] + group * strides[tape[row, 1]]
            second = addresses[tape[row, 2]] + group * strides[tape[row, 2]]
            third = addresses[tape[row, 3]] + group * strides[tape[row, 3]]
            if kind == PRODUCT:
                # The tape's own numbers are what the product's arguments point to.
                start = here + row * width
                sgemm(
                    start + 32, start + 40, start + 48, start + 56, start + 64, one,
                    second, start + 72, third, start + 80,
                    scalars.ctypes.data + 4 * tape[row, 11], first, start + 48,
                )  # fmt: skip
            elif kind == BLOCKS:
                _multiply_in_blocks(
                    first, second, third, addresses[tape[row, 12]] + group * strides[tape[row, 12]],
                    tape[row, 4:14],
                )  # fmt: skip
            elif kind == TURN:
                if group == 0:
                    turn(first, second, tape[row, 4], tape[row, 5], tape[row, 6])
            elif kind == SPREAD:
                _spread(first, second, tape[row, 4], tape[row, 5])
            elif kind == RECTIFY:
                _rectify(first, tape[row, 4])
            elif kind == RECTIFY_BACK:
                _rectify_back(first, second, tape[row, 4])
            elif kind == JOIN:
                _join(first, second, third, addresses[tape[row, 4]] + group * strides[tape[row, 4]],
                      tape[row, 5], tape[row, 6], tape[row, 7], tape[row, 8])  # fmt: skip
            elif kind == PART:
                _part(first, second, third, addresses[tape[row, 4]] + group * strides[tape[row, 4]],
                      tape[row, 5], tape[row, 6], tape[row, 7], tape[row, 8])  # fmt: skip
            elif kind == TIMES:
                _times(first, second, third, tape[row, 4], tape[row, 5], tape[row, 6])
            elif kind == TIMES_SUM:
                _times_sum(first, second, third, tape[row, 4], tape[row, 5], tape[row, 6])
            elif kind == SUM:
                _sum(first, second, tape[row, 4], tape[row, 5], lanes)
            elif kind == ADD:
                _add(first, second, tape[row, 4])
            elif kind == COPY:
                _copy(first, second, tape[row, 4])
            elif kind == DUEL:
                _duel(first, second, third, tape[row, 4], tape[row, 5], tape[row, 6], lanes)
            elif kind == DUEL_BACK:
                _duel_back(first, second, third, tape[row, 4], tape[row, 5], tape[row, 6], lanes)


@compiled_unlocked
def mix(addresses: Any, lengths: Any) -> None:
    """Write means plus deviations times noise.

    Args:
        addresses: (4, n), of what is written and of these three.
        lengths: (n,)
    """
    for row in range(len(lengths)):
        length = lengths[row]
        target = carray(_numbers_at(addresses[0, row]), (length,))
        mean = carray(_numbers_at(addresses[1, row]), (length,))
        deviation = carray(_numbers_at(addresses[2, row]), (length,))
        noise = carray(_numbers_at(addresses[3, row]), (length,))
        for place in range(length):
            target[place] = mean[place] + deviation[place] * noise[place]


@compiled
def _multiply_in_blocks(to: int, a: int, b: int, room: int, sizes: Any) -> None:
    """Multiply by rows, where matrices by columns are the turned ones by rows, and factors change places."""
    columns, rows, terms, ahead, behind, adds = sizes[2:8]
    if sizes[1] == _TURNED:
        turn(room, b, terms, rows, behind)
        b, behind = room, terms + GAP
        room += 4 * rows * behind
    if sizes[0] != _TURNED:
        _multiply(to, b, a, rows, columns, terms, behind, ahead, columns, adds, sizes[9])
        return
    # What is turned is used while it is near.
    part = columns_at_once(terms)
    for begin in range(0, columns, part):
        here = min(part, columns - begin)
        turn(room, a + 4 * begin * ahead, here, terms, ahead)
        _multiply(
            to + 4 * begin, b, room, rows, here, terms, behind, here + GAP, columns, adds, sizes[9]
        )  # fmt: skip


_TURNED = ord("T")
_NEAR = 1 << 15


@compiled
def columns_at_once(terms: int) -> int:
    """How many columns of so many terms are turned together."""
    return max(_NEAR // terms // 64, 1) * 64


@compiled
def _multiply(
    to: int, a: int, b: int, rows: int, columns: int, terms: int, of_a: int, of_b: int, of_c: int, adds: int, step: int
) -> None:  # fmt: skip
    for begin in range(0, terms, step):
        brgemm(
            rows, columns, min(step, terms - begin), of_a, of_b, of_c, adds or begin > 0,
            a + 4 * begin, b + 4 * begin * of_b, to, 0,
        )  # fmt: skip


@compiled
def _spread(to: int, bias: int, rows: int, width: int) -> None:
    target, source = carray(_numbers_at(to), (rows, width)), carray(_numbers_at(bias), (width,))
    for row in range(rows):
        for place in range(width):
            target[row, place] = source[place]


@compiled
def _rectify(to: int, length: int) -> None:
    numbers = carray(_numbers_at(to), (length,))
    for place in range(length):
        # What is no number stays, and so does a zero's sign.
        numbers[place] = max(numbers[place], np.float32(0.0))


@compiled
def _rectify_back(to: int, outputs: int, length: int) -> None:
    slope, output = carray(_numbers_at(to), (length,)), carray(_numbers_at(outputs), (length,))
    for place in range(length):
        slope[place] = np.float32(0.0) if output[place] <= np.float32(0.0) else slope[place]


@compiled
def _join(to: int, own: int, objects: int, absent: int, rows: int, first: int, count: int, each: int) -> None:  # fmt: skip
    width = first + count * each
    target, mine = carray(_numbers_at(to), (rows, width)), carray(_numbers_at(own), (rows, first))
    others = carray(_numbers_at(objects), (rows, count, each))
    missing = carray(_flags_at(absent), (rows, count))
    for row in range(rows):
        for place in range(first):
            target[row, place] = mine[row, place]
        for thing in range(count):
            begin = first + thing * each
            if missing[row, thing]:
                target[row, begin : begin + each] = np.float32(0.0)
            else:
                for place in range(each):
                    target[row, begin + place] = others[row, thing, place]


@compiled
def _part(slopes: int, own: int, objects: int, absent: int, rows: int, first: int, count: int, each: int) -> None:  # fmt: skip
    width = first + count * each
    slope, mine = (
        carray(_numbers_at(slopes), (rows, width)),
        carray(_numbers_at(own), (rows, first)),
    )
    others = carray(_numbers_at(objects), (rows, count, each))
    missing = carray(_flags_at(absent), (rows, count))
    for row in range(rows):
        for place in range(first):
            mine[row, place] = slope[row, place]
        for thing in range(count):
            begin = first + thing * each
            if missing[row, thing]:
                others[row, thing, :] = np.float32(0.0)
            else:
                for place in range(each):
                    others[row, thing, place] = slope[row, begin + place]


@compiled
def _times(to: int, once: int, often: int, rows: int, times: int, width: int) -> None:
    target = carray(_numbers_at(to), (rows, times, width))
    factor = carray(_numbers_at(once), (rows, width))
    other = carray(_numbers_at(often), (rows, times, width))
    for row in range(rows):
        for time in range(times):
            for place in range(width):
                target[row, time, place] = factor[row, place] * other[row, time, place]


@compiled
def _times_sum(to: int, slopes: int, often: int, rows: int, times: int, width: int) -> None:
    total = carray(_numbers_at(to), (rows, width))
    slope = carray(_numbers_at(slopes), (rows, times, width))
    other = carray(_numbers_at(often), (rows, times, width))
    for row in range(rows):
        total[row, :] = np.float32(0.0)
        for time in range(times):
            for place in range(width):
                total[row, place] += slope[row, time, place] * other[row, time, place]


@compiled
def _sum(to: int, source: int, rows: int, width: int, lanes: int) -> None:
    sum_rows(carray(_numbers_at(to), (width,)), carray(_numbers_at(source), (rows, width)), lanes)


@compiled
def _add(to: int, more: int, length: int) -> None:
    target, source = carray(_numbers_at(to), (length,)), carray(_numbers_at(more), (length,))
    for place in range(length):
        target[place] += source[place]


@compiled
def _copy(to: int, source: int, length: int) -> None:
    target, numbers = carray(_numbers_at(to), (length,)), carray(_numbers_at(source), (length,))
    for place in range(length):
        target[place] = numbers[place]


@compiled
def _duel(to: int, value: int, more: int, rows: int, actions: int, atoms: int, lanes: int) -> None:
    target = carray(_numbers_at(to), (rows, actions, atoms))
    base = carray(_numbers_at(value), (rows, atoms))
    advantage = carray(_numbers_at(more), (rows, actions, atoms))
    mean = np.empty(atoms, dtype=np.float32)
    for row in range(rows):
        sum_rows(mean, advantage[row], lanes)
        mean /= np.float32(actions)
        for action in range(actions):
            for atom in range(atoms):
                together = base[row, atom] + advantage[row, action, atom]
                target[row, action, atom] = together - mean[atom]


@compiled
def _duel_back(slopes: int, value: int, more: int, rows: int, actions: int, atoms: int, lanes: int) -> None:  # fmt: skip
    slope = carray(_numbers_at(slopes), (rows, actions, atoms))
    base = carray(_numbers_at(value), (rows, atoms))
    advantage = carray(_numbers_at(more), (rows, actions, atoms))
    mean = np.empty(atoms, dtype=np.float32)
    for row in range(rows):
        sum_rows(base[row], slope[row], lanes)
        # Not the sum with another sign: zeros have one, too.
        for action in range(actions):
            for atom in range(atoms):
                advantage[row, action, atom] = -slope[row, action, atom]
        sum_rows(mean, advantage[row], lanes)
        mean /= np.float32(actions)
        for action in range(actions):
            for atom in range(atoms):
                advantage[row, action, atom] = slope[row, action, atom] + mean[atom]
