"""Compiled: steps of Adam and of targets in one pass over memory, for all tensors of a network at once.

Replaces: the operations on the host that descent.clip, descent.step and descent.soft_update are made of
Removes:  most of a dozen passes over memory, and a call per tensor and operation
Keeps:    every product, sum and their order; what torch's vectorised loops fuse is fused here, too (`probing` tries which)
"""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import torch
from numba import carray, float32, float64, njit, types
from numba.extending import intrinsic
from torch.autograd.graph import increment_version

from patches.marinenav.step5_merge.compiled_environment.compiled.arithmetic import compiled
from patches.marinenav.step5_merge.compiled_environment.compiled.torch_library import foreign, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from patches.blocks.companion import Companion

_MANY: Final = 200_000
"""Numbers of a network as of which two threads are quicker than one."""

_PIECE: Final = 1024
"""Numbers of a tensor that stay near while a step is taken."""

_ROOTS: Final = "patches_roots"
_MODE: Final = 0x140102
"""High accuracy, tiny numbers as they are, no errors: what torch asks for."""
library_roots: Any = foreign(_ROOTS, 4)
"""How many numbers, where they are, where roots go, and the mode."""
HAS_ROOTS: Final = show(_ROOTS, "vmsSqrt")
"""Whether torch's library has roots of its own."""

PARAMETER, GRADIENT, AVERAGE, SQUARE, COUNT, SIZE = range(6)
"""Columns of a table: addresses of a tensor's memory, and how many numbers it has."""


def _as_pointer(_context: Any, _address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(types.int64), generate


def _fused(_context: Any, _a: Any, _b: Any, _c: Any) -> Any:
    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return float32(float32, float32, float32), generate


def _compiled_freely(function: Any) -> Any:
    """Compile a function whose sums may be reordered and fused, and that other threads can run beside."""
    return njit(error_model="numpy", fastmath={"reassoc", "contract", "arcp"}, nogil=True)(function)


_pointer: Any = intrinsic(_as_pointer)
_fused_single: Any = intrinsic(_fused)


def _norm_by(lanes: int) -> Any:
    """Compile a norm for vectors of a width, which has to be known by then to be quick."""

    @compiled
    def norm(numbers: Any) -> Any:
        """The root of a sum of squares; what does not fill a vector comes last, four and then one at a time."""
        sums = np.zeros(lanes, dtype=np.float32)
        end = len(numbers) // lanes * lanes
        for begin in range(0, end, lanes):
            for lane in range(lanes):
                sums[lane] += numbers[begin + lane] * numbers[begin + lane]
        total = sums[0]
        for lane in range(1, lanes):
            total += sums[lane]
        fours = end + (len(numbers) - end) // 4 * 4
        for place in range(end, fours):
            total += numbers[place] * numbers[place]
        for place in range(fours, len(numbers)):
            total = _fused_single(numbers[place], numbers[place], total)
        return np.sqrt(total)

    return norm


_norm_by_4, _norm_by_8, _norm_by_16 = map(_norm_by, (4, 8, 16))


@compiled
def _norm(lanes: int, numbers: Any) -> Any:
    if lanes == 8:
        return _norm_by_8(numbers)
    return _norm_by_16(numbers) if lanes == 16 else _norm_by_4(numbers)


@compiled
def scale_of(lanes: int, table: Any, largest: Any) -> Any:
    """What gradients are multiplied by so that their common norm is at most the largest.

    Args:
        lanes: Squares that torch adds up side by side: 4, 8 or 16.
        table: As below.
        largest: In single precision.
    """
    norms = np.empty(len(table), dtype=np.float32)
    for row in range(len(table)):
        norms[row] = _norm(lanes, carray(_pointer(table[row, GRADIENT]), (table[row, SIZE],)))
    quotient = float32(1.0) / (_norm(lanes, norms) + float32(1e-6)) * largest
    return min(quotient, float32(1.0))


@compiled
def _prepare(table: Any, betas: Any, rate: Any, half: Any, numbers: Any) -> None:
    """Write what a step does with each tensor: its count, the correction of its roots, and what averages are multiplied by.

    The powers are the library's that Python asks, so what is half is not told before: it would become another root.
    """
    for row in range(len(table)):
        count = float64(carray(_pointer(table[row, COUNT]), (1,))[0]) + 1.0
        numbers[0, row] = float32(count)
        numbers[1, row] = float32((1.0 - betas[1] ** count) ** half)
        numbers[2, row] = float32(-(rate / (1.0 - betas[0] ** count)))


@compiled
def step(
    forms: Any, lanes: int, table: Any, largest: Any, betas: Any, rate: Any, half: Any, epsilon: Any, numbers: Any
) -> bool:  # fmt: skip
    """Clip gradients and take a step of Adam, piece by piece, so that each number is fetched once.

    Args:
        forms: Whether the last products of averages and of squares are added without being rounded, and whether
            roots are those of torch's library, which are not always the nearest.
        lanes: See `scale_of`.
        table: (n, 6), see `PARAMETER` and its neighbours.
        largest: What the common norm of the gradients may be, in single precision.
        betas: Of the averages and of the squares.
        rate: Of learning.
        half: 0.5.
        epsilon: Added to roots, in single precision.
        numbers: (3, n), written, see `_prepare`; counts go to the steps' tensors.

    Returns:
        Whether it did. Nothing is written where the norm is infinite or no number: signs of the latter are torch's to choose.
    """
    scale = scale_of(lanes, table, largest)
    if not scale > float32(0.0):
        return False
    _prepare(table, betas, rate, half, numbers)
    roots = np.empty(_PIECE, dtype=np.float32)
    for row in range(len(table)):
        carray(_pointer(table[row, COUNT]), (1,))[0] = numbers[0, row]
        for begin in range(0, table[row, SIZE], _PIECE):
            length = min(_PIECE, table[row, SIZE] - begin)
            mean = carray(_pointer(table[row, AVERAGE] + 4 * begin), (length,))
            square = carray(_pointer(table[row, SQUARE] + 4 * begin), (length,))
            gradient = carray(_pointer(table[row, GRADIENT] + 4 * begin), (length,))
            _average(forms, betas, scale, gradient, mean, square, roots)
            if forms[2]:
                library_roots(length, roots.ctypes.data, roots.ctypes.data, _MODE)
            else:
                for place in range(length):
                    roots[place] = np.sqrt(roots[place])
            parameter = carray(_pointer(table[row, PARAMETER] + 4 * begin), (length,))
            correction, size = numbers[1, row], numbers[2, row]
            for place in range(length):
                root = roots[place] if square[place] != float32(0.0) else float32(0.0)
                parameter[place] += size * mean[place] / (root / correction + epsilon)
    return True


@compiled
def _average(
    forms: Any, betas: Any, scale: Any, gradient: Any, mean: Any, square: Any, squares: Any
) -> None:
    weight, decay, rest = float32(1.0 - betas[0]), float32(betas[1]), float32(1.0 - betas[1])
    fuses_averages, fuses_squares, _ = forms
    for place in range(len(gradient)):
        slope = gradient[place] * scale
        gradient[place] = slope
        if fuses_averages:
            mean[place] = _fused_single(weight, slope - mean[place], mean[place])
        else:
            mean[place] += weight * (slope - mean[place])
        if fuses_squares:
            second = _fused_single(rest * slope, slope, square[place] * decay)
        else:
            second = square[place] * decay + rest * slope * slope
        square[place] = second
        # Roots of zeros take torch's library ten times as long as others; the caller knows them without it.
        squares[place] = second if second != float32(0.0) else float32(1.0)


@compiled
def approach(targets: Any, locals_: Any, lengths: Any, part: Any, rest: Any) -> bool:
    """Move targets towards local tensors: addresses (n,) each, lengths (n,), weights of both.

    Returns:
        Whether it did: of two that are no numbers, it is torch's choice which one a sum is.
    """
    strange = 0
    for row in range(len(targets)):
        target = carray(_pointer(targets[row]), (lengths[row],))
        local = carray(_pointer(locals_[row]), (lengths[row],))
        for place in range(lengths[row]):
            strange += (local[place] != local[place]) | (target[place] != target[place])
    if strange:
        return False
    for row in range(len(targets)):
        target = carray(_pointer(targets[row]), (lengths[row],))
        local = carray(_pointer(locals_[row]), (lengths[row],))
        for place in range(lengths[row]):
            target[place] = local[place] * part + target[place] * rest
    return True


@compiled
def _range_of(length: int, part: int, parts: int) -> tuple[int, int]:
    """Return where a part of a tensor begins, in bytes, and how many numbers it has."""
    begin = length * part // parts
    return 4 * begin, length * (part + 1) // parts - begin


@_compiled_freely
def prepare_freely(
    table: Any, betas: Any, rate: Any, half: Any, numbers: Any, part: int, parts: int, sums: Any
) -> None:
    """Add up the squares of a part of the gradients; the first part prepares numbers for all.

    Args:
        table: As above, as are betas, rate, half and numbers.
        betas: Of the averages.
        rate: Of learning.
        half: 0.5.
        numbers: Written by the first part.
        part: Which one, of each tensor.
        parts: How many there are.
        sums: (parts,), written at this part's place.
    """
    if part == 0:
        _prepare(table, betas, rate, half, numbers)
    total = float32(0.0)
    for row in range(len(table)):
        begin, length = _range_of(table[row, SIZE], part, parts)
        gradient = carray(_pointer(table[row, GRADIENT] + begin), (length,))
        for place in range(length):
            total += gradient[place] * gradient[place]
    sums[part] = total


@_compiled_freely
def descend_freely(
    table: Any, largest: Any, betas: Any, numbers: Any, epsilon: Any, part: int, parts: int, sums: Any
) -> None:  # fmt: skip
    """Do the rest of a step for that part, with sums and roots that round as is quickest, once all squares are there."""
    weight, decay, rest = float32(1.0 - betas[0]), float32(betas[1]), float32(1.0 - betas[1])
    scale = min(largest / (np.sqrt(sums.sum()) + float32(1e-6)), float32(1.0))
    for row in range(len(table)):
        begin, length = _range_of(table[row, SIZE], part, parts)
        parameter = carray(_pointer(table[row, PARAMETER] + begin), (length,))
        gradient = carray(_pointer(table[row, GRADIENT] + begin), (length,))
        mean = carray(_pointer(table[row, AVERAGE] + begin), (length,))
        square = carray(_pointer(table[row, SQUARE] + begin), (length,))
        correction, size = numbers[1, row], numbers[2, row]
        if part == 0:
            carray(_pointer(table[row, COUNT]), (1,))[0] = numbers[0, row]
        for place in range(length):
            slope = gradient[place] * scale
            gradient[place] = slope
            first = mean[place] + weight * (slope - mean[place])
            second = square[place] * decay + rest * slope * slope
            mean[place], square[place] = first, second
            parameter[place] += size * first / (np.sqrt(second) / correction + epsilon)


ENTRIES: tuple[Any, ...] = (step, approach, prepare_freely, descend_freely)
"""What is called from Python, and therefore cached."""


class Kernels(NamedTuple):
    """Compiled functions that round as this machine's torch does."""

    forms: tuple[bool, bool, bool]
    """See `step`."""
    lanes: int = 8
    """See `scale_of`."""

    def adam(
        self,
        betas: tuple[float, float],
        epsilon: float,
        rate: float,
        largest: float,
        tensors: Sequence[tuple[Tensor, ...]],
    ) -> bool:
        """Clip to the largest norm and take a step; return whether that was done.

        It is not where the norm is infinite or no number: signs of the latter are torch's to choose.

        Args:
            betas: Of the averages.
            epsilon: Added to roots.
            rate: Of learning.
            largest: What the common norm of the gradients may be.
            tensors: A parameter, its gradient, average, square and count each.
        """
        table, numbers = _table_of(tensors)
        has_stepped: bool = step(
            self.forms, self.lanes, table, np.float32(largest), *_as_floats(betas, rate), 0.5, np.float32(epsilon), numbers
        )  # fmt: skip
        if has_stepped:
            increment_version(chain.from_iterable(tensors))
        return has_stepped

    def descend_freely(
        self,
        betas: tuple[float, float],
        epsilon: float,
        rate: float,
        largest: float,
        tensors: Sequence[tuple[Tensor, ...]],
        companion: Companion | None,
    ) -> None:
        """Clip to the largest norm and take a step, rounding as is quickest; a companion does half of a large one."""
        table, numbers = _table_of(tensors)
        betas, rate = _as_floats(betas, rate)
        is_large = table[:, SIZE].sum() >= _MANY
        sums = np.empty(2 if companion and is_large else 1, np.float32)
        prepare = partial(prepare_freely, table, betas, rate, 0.5, numbers)
        step = partial(
            descend_freely, table, np.float32(largest), betas, numbers, np.float32(epsilon)
        )
        for function in (prepare, step):
            works = [partial(function, part, len(sums), sums) for part in range(len(sums))]
            if companion and is_large:
                companion.share(*works)
            else:
                works[0]()
        increment_version(chain.from_iterable(tensors))

    def approach(self, targets: Sequence[Tensor], locals_: Sequence[Tensor], part: float) -> bool:
        """Move targets towards local tensors by a part of the way; return whether that was done."""
        has_moved: bool = approach(
            np.array([each.data_ptr() for each in targets]),
            np.array([each.data_ptr() for each in locals_]),
            np.array([each.numel() for each in targets]),
            np.float32(part),
            np.float32(1.0 - part),
        )
        if has_moved:
            increment_version(targets)
        return has_moved


def _table_of(tensors: Sequence[tuple[Tensor, ...]]) -> tuple[Any, Any]:
    """A table, and room for the numbers of a step."""
    rows = len(tensors)
    table = np.empty((rows, SIZE + 1), np.int64)
    addresses = list(map(torch.Tensor.data_ptr, chain.from_iterable(tensors)))
    table[:, :SIZE] = np.array(addresses).reshape(rows, SIZE)
    table[:, SIZE] = [parameter.numel() for parameter, *_ in tensors]
    return table, np.empty((3, rows), np.float32)


def _as_floats(betas: Sequence[float], rate: float) -> tuple[tuple[float, float], float]:
    """Whatever numbers an optimizer was given, as the kind that is compiled already."""
    one, other = betas
    return (float(one), float(other)), float(rate)
