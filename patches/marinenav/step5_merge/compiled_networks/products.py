"""Which matrix product is asked: torch's own, or oneDNN's where that sums in the same order and is quicker.

On some processors the library that torch multiplies by leaves half of their width unused. Whether the other one adds
up the same terms in the same order is found out by trying, shape by shape: first in blocks of as many terms as the
former takes at once.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch

from patches.marinenav.step5_merge.compiled_networks.compiled import runner
from patches.marinenav.step5_merge.compiled_networks.compiled.product import HAS_BLOCKS
from patches.marinenav.step5_merge.compiled_networks.compiled.turning import GAP
from patches.marinenav.step5_merge.compiled_networks.tapes.operations import (
    BLOCKS,
    PRODUCT,
    TURN,
    as_tape,
)

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Memory
    from patches.marinenav.step5_merge.compiled_networks.tapes.operations import Rows

_STEPS: Final = (128, 192, 256, 320, 336, 384, 448, 512)
"""Terms that matrix products are known to add up at once, if they have more."""
_FEW: Final = 1 << 16
"""Multiplications that are not worth a trial."""
_REPETITIONS: Final = 4

_found: dict[Any, int] = {}
"""How many terms to sum at once, by sizes and threads; 0 for torch's own product."""


def choose(*tapes: Rows, memory: Memory) -> None:
    """Write the quicker product into tapes, with room for operands that it wants turned."""
    places = [
        (tape, place, step)
        for tape in tapes
        for place, row in enumerate(tape)
        if row[0] == PRODUCT and (step := _terms_at_once(row[4:12]))
    ]
    if not places:
        return
    room = memory.make(1, max(_room_for(tape[place][4:12]) for tape, place, _ in places)).slot
    for tape, place, step in places:
        _, *rest = tape[place]
        tape[place] = (BLOCKS, *rest, room, step)


def turn_first(tape: Rows, memory: Memory) -> None:
    """Turn the first factors, which are weights, before all else: once for all groups."""
    turns: Rows = []
    for place, row in enumerate(tape):
        if row[0] == BLOCKS and row[4] == ord("T"):
            _, to, weight, other, _, letter, columns, rows, terms, ahead, *rest = row
            room = memory.make(terms, columns + GAP).slot
            turns.append((TURN, room, weight, 0, columns, terms, ahead))
            tape[place] = (
                BLOCKS, to, room, other, ord("N"), letter, columns, rows, terms, columns + GAP, *rest,
            )  # fmt: skip
    tape[:0] = turns


def _terms_at_once(sizes: tuple[int, ...]) -> int:
    key = sizes, torch.get_num_threads()
    found = _found.get(key)
    if found is None:
        found = _found[key] = _try(sizes)
    return found


def _room_for(sizes: tuple[int, ...]) -> int:
    _, _, columns, rows, terms, *_ = sizes
    at_once: int = runner.columns_at_once(terms)
    return rows * (terms + GAP) + terms * (min(columns, at_once) + GAP)


def _try(sizes: tuple[int, ...]) -> int:
    _, _, columns, rows, terms, *_ = sizes
    if columns * rows * terms < _FEW or not HAS_BLOCKS:
        return 0
    trial = _Trial(sizes)
    wanted = trial.results((PRODUCT, 0, 1, 2, *sizes))
    for step in (terms, *(step for step in _STEPS if step < terms)):
        row = BLOCKS, 0, 1, 2, *sizes, 3, step
        if all(map(np.array_equal, trial.results(row), wanted)):
            is_quicker = trial.seconds(row) < trial.seconds((PRODUCT, 0, 1, 2, *sizes))
            return step if is_quicker else 0
    return 0


class _Trial:
    """Random factors of every kind: of ordinary size with zeros among them, and of very different ones, tiny ones included."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self._count = sizes[2] * sizes[3]
        random = torch.Generator().manual_seed(0)
        lengths = sizes[2] * sizes[4], sizes[3] * sizes[4], self._count

        def numbers() -> list[torch.Tensor]:
            return [
                torch.randn(length, generator=random, device="cpu", dtype=torch.float32)
                for length in lengths
            ]

        ordinary, uneven, sizes_ = numbers(), numbers(), numbers()
        ordinary[1].clamp_(min=0.0)
        for each, exponent in zip(uneven, sizes_, strict=True):
            each.mul_(torch.exp(8.0 * exponent - 20.0))
        self._factors = ordinary, uneven
        self._room = torch.empty(_room_for(sizes), dtype=torch.float32, device="cpu")

    def results(self, row: tuple[int, ...]) -> list[Any]:
        """What a row makes of the factors, bit by bit."""
        found = []
        for *factors, before in self._factors:
            result = before.clone()
            self._run(row, result, *factors)
            found.append(result.numpy().view(np.int32))
        return found

    def seconds(self, row: tuple[int, ...]) -> float:
        """How long a row takes when nothing disturbs it."""
        *factors, before = self._factors[0]
        result = before.clone()
        found = []
        for _ in range(_REPETITIONS):
            begin = time.perf_counter()
            self._run(row, result, *factors)
            found.append(time.perf_counter() - begin)
        return min(found)

    def _run(self, row: tuple[int, ...], *matrices: torch.Tensor) -> None:
        addresses = np.array([each.data_ptr() for each in (*matrices, self._room)])
        strides = np.zeros_like(addresses)
        runner.run(8, as_tape([row]), addresses, strides, 1, runner.SCALARS)
