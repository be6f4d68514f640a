"""Draws a network, layer by layer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.compiled_networks.tapes import operations
from patches.marinenav.step5_merge.compiled_networks.tapes.layers import (
    Dense,
    Duel,
    Joined,
    Layer,
    Times,
)
from patches.marinenav.step5_merge.compiled_networks.tapes.memory import BYTES, Memory, Piece

if TYPE_CHECKING:
    from collections.abc import Iterable

    from patches.marinenav.step5_merge.compiled_networks.tapes.operations import Rows


class Network:
    """Layers over numbered memory.

    Args:
        layers: Names of the linear layers in the order of their parameters, with the shapes of their weights.
        is_grouped: Whether it is run for several groups, each as if it were alone.
    """

    def __init__(self, layers: Iterable[tuple[str, tuple[int, ...]]], *, is_grouped: bool) -> None:
        self.memory = Memory()
        self.answers: list[Piece] = []
        self.outputs: list[Piece] = []
        """Where answers are left for whoever asked."""
        self.given: list[int] = []
        """Slots of parameters and inputs, in the order in which they are told."""
        self.shapes: list[tuple[int, ...]] = []
        """Of these, of one group."""
        self.flags: int = -1
        """The slot of flags."""
        self.fits = True
        """Whether every layer gets what it is made for; torch has an error for those that do not."""
        self.origins: dict[int, frozenset[int]] = {}
        """Which given slots a piece depends on."""
        self.layers: list[Layer] = []
        self.is_grouped = is_grouped
        self._apart: dict[int, int] = {}
        """Bytes between the matrices of two groups, by slot; parameters are shared."""
        self.copies: dict[int, int] = {}
        """Slots that inputs are copied to."""
        self._parameters = {
            name: (self._take((width, terms)), self._take((width,)))
            for name, (width, terms) in layers
        }
        self.parameters = tuple(self.given)

    def _take(self, shape: tuple[int, ...]) -> Piece:
        slot = self.memory.take()
        self.given.append(slot)
        self.shapes.append(shape)
        self.origins[slot] = frozenset({slot})
        return Piece(slot, math.prod(shape[:-1]), shape[-1])

    def take(self, rows: int, width: int) -> Piece:
        """Expect an input to be given, for each group."""
        given = self._take((rows, width))
        if not self.is_grouped:
            return given
        # To where it would begin if it were alone.
        copied = self.memory.make(rows, width)
        self.part(given.slot, given.length)
        self.copies[given.slot] = copied.slot
        self.origins[copied.slot] = self.origins[given.slot]
        return copied

    def take_flags(self, count: int) -> int:
        """Expect flags to be given, for each group."""
        self.flags = self._take((1, count)).slot
        self._apart[self.flags] = count
        return self.flags

    def give(self, *pieces: Piece) -> None:
        """Say what the answers are."""
        self.answers.extend(pieces)

    def write(self) -> Rows:
        """Write all layers."""
        lengths = dict(zip(self.given, map(math.prod, self.shapes), strict=True))
        tape: Rows = [
            (operations.COPY, to, given, 0, lengths[given]) for given, to in self.copies.items()
        ]
        for layer in self.layers:
            layer.forward(tape)
        for answer in self.answers:
            self._hand_over(answer, tape)
        return tape

    def _hand_over(self, answer: Piece, tape: Rows) -> None:
        if not self.is_grouped:
            del self.memory.offsets[answer.slot]
            self.outputs.append(answer)
            return
        output = answer._replace(slot=self.memory.take())
        self.part(output.slot, output.length)
        tape.append((operations.COPY, output.slot, answer.slot, 0, answer.length))
        self.outputs.append(output)

    def part(self, slot: int, length: int) -> None:
        """Say that groups have so many numbers each at a slot, one after the other."""
        self._apart[slot] = BYTES * length

    def strides(self, between: int) -> Any:
        """Bytes from one group to the next, slot by slot; so many from what a run has for itself to that of the next."""
        found = np.zeros(self.memory.slots, dtype=np.int64)
        for slot in self.memory.offsets:
            found[slot] = between
        for slot, apart in self._apart.items():
            found[slot] = apart
        return found

    def hidden(self, source: Piece, *names: str) -> Piece:
        """Add layers with rectifiers, one after the other."""
        for name in names:
            source = self.dense(source, name)
        return source

    def dense(self, source: Piece, name: str, *, is_rectified: bool = True) -> Piece:
        """Add a linear layer."""
        weight, bias = self._parameters[name]
        width = weight.rows
        self.fits = self.fits and weight.width == source.width
        output = self.memory.make(source.rows, width)
        return self._add(Dense(source, weight, bias, output, is_rectified))

    def joined(self, own: Piece, objects: Piece, absent: int) -> Piece:
        """Put features side by side."""
        count = objects.rows // own.rows
        output = self.memory.make(own.rows, own.width + count * objects.width)
        return self._add(Joined(own, objects, absent, output))

    def times(self, once: Piece, often: Piece) -> Piece:
        """Multiply."""
        self.fits = self.fits and once.width == often.width
        return self._add(Times(once, often, self.memory.make(often.rows, often.width)))

    def duel(self, value: Piece, advantage: Piece) -> Piece:
        """Put two streams together."""
        self.fits = self.fits and advantage.width % value.width == 0
        return self._add(Duel(value, advantage, self.memory.make(advantage.rows, advantage.width)))

    def _add(self, layer: Layer) -> Piece:
        self.layers.append(layer)
        origins = [self.origins[each.slot] for each in layer.inputs]
        self.origins[layer.output.slot] = frozenset().union(*origins)
        return layer.output
