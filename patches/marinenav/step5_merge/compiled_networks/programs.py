"""Tapes of a network with memory to run them in."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import torch
from torch import Tensor

from patches.marinenav.step5_merge.compiled_networks import products
from patches.marinenav.step5_merge.compiled_networks.compiled import runner
from patches.marinenav.step5_merge.compiled_networks.tapes.memory import BYTES
from patches.marinenav.step5_merge.compiled_networks.tapes.operations import as_tape
from patches.marinenav.step5_merge.compiled_networks.tapes.way_back import WayBack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.blocks.companion import Companion
    from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Piece
    from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network


HALVES: Final = 2
"""Groups that a batch is split into for two threads."""


class Asked(Protocol):
    """A network that can be asked, and learned from; what lies in between is kept in its own kind of space."""

    def forward(self, tensors: Sequence[Tensor], groups: int = 0) -> tuple[list[Tensor], Any]:
        """Compute outputs, of so many groups if the network was drawn for groups."""

    def backward(
        self, tensors: Sequence[Tensor], slopes: Sequence[Tensor], space: Any
    ) -> list[Tensor]:
        """Compute slopes of what is wanted from those of outputs."""

    def give_back(self, space: Any) -> None:
        """Say that a space is not needed any more."""


class Space:
    """Memory of one run, and the addresses of everything that it touches."""

    def __init__(self, network: Network, rooms: int) -> None:
        memory = network.memory
        self.numbers = torch.empty(rooms * memory.length, dtype=torch.float32, device="cpu")
        self.addresses = np.zeros(memory.slots, dtype=np.int64)
        begin = self.numbers.data_ptr()
        for slot, offset in memory.offsets.items():
            self.addresses[slot] = begin + BYTES * offset

    def matrix(self, network: Network, piece: Piece) -> Tensor:
        """A piece of this memory as a tensor."""
        offset = network.memory.offsets[piece.slot]
        return self.numbers[offset : offset + piece.length].view(piece.rows, piece.width)


class Program:
    """A network's tape, and the one back to the slopes of some of what it is given.

    Args:
        network: Drawn to its answers.
        wanted: Slots of what slopes are wanted of.
        lanes: Numbers that torch adds up side by side.
        companion: Runs the second half of a batch, if there is one: the network is drawn for both as groups.
    """

    def __init__(
        self,
        network: Network,
        wanted: frozenset[int],
        lanes: int,
        companion: Companion | None = None,
    ) -> None:
        self._lanes, self._companion = lanes, companion
        self._network = network
        self._usual_groups = 1 if companion is None else HALVES
        self._spaces: list[Space] = []
        tape = network.write()
        self._told = np.array([*network.given, *(each.slot for each in network.outputs)])
        self._sizes: dict[int, tuple[list[int], list[Tensor]]] = {}
        self._way = WayBack(network, wanted)
        products.choose(tape, self._way.tape, memory=network.memory)
        if network.is_grouped and companion is None:
            products.turn_first(tape, network.memory)
        self._tape, self._tape_back = as_tape(tape), as_tape(self._way.tape)
        self._told_back = np.array(
            [*(each.slot for each in self._way.incoming), *self._way.results.values()]
        )
        for piece in self._way.incoming:
            network.part(piece.slot, piece.length)
        places = {slot: place for place, slot in enumerate(network.given)}
        self._summed = [places[slot] for slot in self._way.sums]
        self._sloped = [places[slot] for slot in self._way.results]
        self._wanted = [places[slot] for slot in network.given if slot in wanted]
        self._added = [
            place for place in self._sloped if network.given[place] in network.parameters
        ]
        """What each group has slopes of, which are added up."""
        for slot, result in self._way.results.items():
            network.part(result, math.prod(network.shapes[places[slot]]))
        # What nobody looks at afterwards is in the same place for all groups, one after the other.
        self._strides = network.strides(0 if companion is None else BYTES * network.memory.length)

    def forward(self, tensors: Sequence[Tensor], groups: int = 0) -> tuple[list[Tensor], Space]:
        """Compute outputs, in memory of their own."""
        groups = groups or self._usual_groups
        lengths, examples = self._sizes.get(groups) or self._sizes_of(groups)
        # Compiled code reads what lies behind what is too short.
        assert list(map(Tensor.numel, tensors)) == lengths, "tensors of other shapes"
        space = self._spaces.pop() if self._spaces else Space(self._network, self._usual_groups)
        outputs = list(map(torch.empty_like, examples))
        space.addresses[self._told] = begins((*tensors, *outputs))
        self._run(self._tape, space.addresses, groups)
        return outputs, space

    def _sizes_of(self, groups: int) -> tuple[list[int], list[Tensor]]:
        """How many numbers are given, and tensors that outputs are like."""
        network = self._network
        lengths = [
            math.prod(shape) * (1 if slot in network.parameters else groups)
            for slot, shape in zip(network.given, network.shapes, strict=True)
        ]
        with torch.inference_mode(mode=False):  # outputs are asked for outside of it later
            examples = [
                torch.empty((groups * each.rows, each.width), dtype=torch.float32, device="cpu")
                for each in network.outputs
            ]
        found = self._sizes[groups] = lengths, examples
        return found

    def backward(
        self, tensors: Sequence[Tensor], slopes: Sequence[Tensor], space: Space
    ) -> list[Tensor]:
        """Slopes of what is wanted, in the order in which it is given, after a run in the same space."""
        found: dict[int, Tensor] = {place: self._room(tensors, place) for place in self._sloped}
        space.addresses[self._told_back] = begins((*slopes, *found.values()))
        self._run(self._tape_back, space.addresses, 1)
        if self._companion is not None and self._added:
            self._add_up(found)
        for place, piece in zip(self._summed, self._way.sums.values(), strict=True):
            found[place] = self._matrix(piece, slopes, space).sum(0)
        return [found[place] for place in self._wanted]

    def _room(self, tensors: Sequence[Tensor], place: int) -> Tensor:
        if self._companion is not None and place in self._added:
            return tensors[place].new_empty((HALVES, *tensors[place].shape))
        return torch.empty_like(tensors[place])

    def _add_up(self, found: dict[int, Tensor]) -> None:
        first, *others = zip(*(found[place].unbind() for place in self._added), strict=True)
        for other in others:
            torch._foreach_add_(first, other)  # no public name
        found.update(zip(self._added, first, strict=True))

    def _matrix(self, piece: Piece, slopes: Sequence[Tensor], space: Space) -> Tensor:
        is_incoming = piece in self._way.incoming
        return (
            slopes[self._way.incoming.index(piece)]
            if is_incoming
            else space.matrix(self._network, piece)
        )

    def _run(self, tape: Any, addresses: Any, groups: int) -> None:
        strides, scalars = self._strides, runner.SCALARS
        if self._companion is None:
            runner.run(self._lanes, tape, addresses, strides, groups, scalars)
            return
        own, other = (
            partial(runner.run, self._lanes, tape, begins, strides, 1, scalars)
            for begins in (addresses, addresses + strides)
        )
        self._companion.share(own, other)

    def give_back(self, space: Space) -> None:
        """Let the next run have the memory of one that is over."""
        self._spaces.append(space)


def begins(tensors: Any) -> list[int]:
    """Where tensors are in memory."""
    return list(map(Tensor.data_ptr, tensors))
