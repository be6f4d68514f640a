"""The way from slopes of a network's outputs to those of its parameters or inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from patches.marinenav.step5_merge.compiled_networks.tapes import operations
from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Piece

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network
    from patches.marinenav.step5_merge.compiled_networks.tapes.operations import Rows

_MANY: Final = 32_768
"""Numbers that torch would give to several threads."""


class WayBack:
    """The way from slopes of outputs to those of some inputs."""

    def __init__(self, network: Network, wanted: frozenset[int]) -> None:
        self.tape: Rows = []
        self.sums: dict[int, Piece] = {}
        """Slopes whose rows add up to those of a bias, by its slot."""
        self.results: dict[int, int] = {}
        """Slots for the slopes of what is given, by the slot of that."""
        self._network = network
        self._wanted = wanted
        self._given_as = {copied: given for given, copied in network.copies.items()}
        self._found: dict[int, Piece] = {}
        self.incoming = [
            Piece(network.memory.take(), each.rows, each.width) for each in network.outputs
        ]
        for answer, slopes in zip(network.answers, self.incoming, strict=True):
            self._found[answer.slot] = slopes
        for layer in reversed(network.layers):
            if layer.output.slot in self._found and any(map(self.wants, layer.inputs)):
                layer.backward(self, self._found[layer.output.slot])

    def wants(self, piece: Piece) -> bool:
        """Whether slopes of a piece lead anywhere."""
        return not self._wanted.isdisjoint(self._network.origins[piece.slot])

    def room_like(self, piece: Piece) -> Piece:
        """Make room."""
        return self._network.memory.make(piece.rows, piece.width)

    def open(self, piece: Piece) -> Piece:
        """Return where slopes of a piece go; `close` follows unless nothing else leads to it."""
        slot = self._given_as.get(piece.slot, piece.slot)
        if slot in self._network.given and slot not in self.results:
            self.results[slot] = self._network.memory.take()
            return Piece(self.results[slot], piece.rows, piece.width)
        return self.room_like(piece)

    def sum(self, bias: Piece, slopes: Piece) -> None:
        """Sum slopes to those of a bias: many by torch, which would have a thread for each part of them, unless there are groups."""
        if slopes.length >= _MANY and not self._network.is_grouped:
            self.sums[bias.slot] = slopes
        else:
            to = self.open(bias)
            self.tape.append((operations.SUM, to.slot, slopes.slot, 0, slopes.rows, slopes.width))

    def close(self, piece: Piece, slopes: Piece) -> None:
        """Add slopes to those that are there."""
        before = self._found.get(piece.slot)
        if before is None:
            self._found[piece.slot] = slopes
        else:
            self.tape.append((operations.ADD, before.slot, slopes.slot, 0, slopes.length))
