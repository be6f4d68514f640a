"""Operations of a network: forwards, backwards, and as torch does them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import linear

from patches.marinenav.step5_merge.compiled_networks.tapes import operations

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.compiled_networks.tapes.memory import Piece
    from patches.marinenav.step5_merge.compiled_networks.tapes.operations import Rows
    from patches.marinenav.step5_merge.compiled_networks.tapes.way_back import WayBack

Values = dict[int, Tensor]
"""What is in pieces of memory, by slot."""


class Layer(ABC):
    """An operation of a network with its way back."""

    @abstractmethod
    def forward(self, tape: Rows) -> None:
        """Write what computes the output."""

    @abstractmethod
    def backward(self, way: WayBack, slopes: Piece) -> None:
        """Write what takes the slopes of the output to those of the inputs."""

    @abstractmethod
    def compute(self, values: Values) -> Tensor:
        """Let torch compute the output."""

    @property
    @abstractmethod
    def inputs(self) -> tuple[Piece, ...]:
        """What the output depends on."""

    output: Piece


@dataclass(frozen=True)
class Dense(Layer):
    """A linear layer, with a rectifier or without."""

    source: Piece
    weight: Piece
    bias: Piece
    output: Piece
    is_rectified: bool

    @property
    def inputs(self) -> tuple[Piece, ...]:
        """Its source, its weight and its bias."""
        return self.source, self.weight, self.bias

    def forward(self, tape: Rows) -> None:
        """Bias, plus the product, then the rectifier."""
        rows, terms, width = self.source.rows, self.source.width, self.output.width
        tape.append((operations.SPREAD, self.output.slot, self.bias.slot, 0, rows, width))
        sizes = (width, rows, terms, terms, terms)
        tape.append(_product(self.output, self.weight, self.source, "TN", sizes, 1))
        if self.is_rectified:
            tape.append((operations.RECTIFY, self.output.slot, 0, 0, rows * width))

    def compute(self, values: Values) -> Tensor:
        """By torch's linear layer."""
        weight, bias = values[self.weight.slot], values[self.bias.slot]
        sums = linear(values[self.source.slot], weight, bias)
        return torch.relu(sums) if self.is_rectified else sums

    def backward(self, way: WayBack, slopes: Piece) -> None:
        """Slopes of weight and bias, then those of the source."""
        if self.is_rectified:
            way.tape.append(
                (operations.RECTIFY_BACK, slopes.slot, self.output.slot, 0, slopes.length)
            )
        rows, terms, width = self.source.rows, self.source.width, self.output.width
        if way.wants(self.weight):
            sizes = (terms, width, rows, terms, width)
            to = way.open(self.weight)
            way.tape.append(_product(to, self.source, slopes, "NT", sizes, 0))
        if way.wants(self.bias):
            way.sum(self.bias, slopes)
        if way.wants(self.source):
            sizes = (terms, rows, width, terms, width)
            to = way.open(self.source)
            way.tape.append(_product(to, self.weight, slopes, "NN", sizes, 0))
            way.close(self.source, to)


@dataclass(frozen=True)
class Joined(Layer):
    """Features of own states and of objects side by side, zero where there is no object."""

    own: Piece
    objects: Piece
    absent: int
    output: Piece

    @property
    def inputs(self) -> tuple[Piece, ...]:
        """Both features."""
        return self.own, self.objects

    def _row(self, kind: int, whole: Piece, own: Piece, objects: Piece) -> tuple[int, ...]:
        return (
            kind, whole.slot, own.slot, objects.slot, self.absent, own.rows, own.width,
            objects.rows // own.rows, objects.width,
        )  # fmt: skip

    def forward(self, tape: Rows) -> None:
        """Copy."""
        tape.append(self._row(operations.JOIN, self.output, self.own, self.objects))

    def compute(self, values: Values) -> Tensor:
        """Fill and join."""
        own, rows = values[self.own.slot], self.own.rows
        absent = values[self.absent].view(rows, -1, 1)
        objects = values[self.objects.slot].view(rows, absent.shape[1], -1)
        return torch.cat((own, objects.masked_fill(absent, 0.0).view(rows, -1)), 1)

    def backward(self, way: WayBack, slopes: Piece) -> None:
        """Copy back."""
        own, objects = way.room_like(self.own), way.room_like(self.objects)
        way.tape.append(self._row(operations.PART, slopes, own, objects))
        way.close(self.own, own)
        way.close(self.objects, objects)


@dataclass(frozen=True)
class Times(Layer):
    """Rows times rows, of which several share one."""

    once: Piece
    often: Piece
    output: Piece

    @property
    def inputs(self) -> tuple[Piece, ...]:
        """Both factors."""
        return self.once, self.often

    def _row(self, kind: int, to: Piece, one: Piece, other: Piece) -> tuple[int, ...]:
        rows = self.once.rows
        return (
            kind, to.slot, one.slot, other.slot, rows, self.often.rows // rows, self.once.width,
        )  # fmt: skip

    def forward(self, tape: Rows) -> None:
        """Multiply."""
        tape.append(self._row(operations.TIMES, self.output, self.once, self.often))

    def compute(self, values: Values) -> Tensor:
        """Multiply."""
        often = values[self.often.slot].view(self.once.rows, -1, self.once.width)
        return (values[self.once.slot].unsqueeze(1) * often).view(self.often.rows, -1)

    def backward(self, way: WayBack, slopes: Piece) -> None:
        """Multiply by the other factor, and sum where rows were shared."""
        if way.wants(self.once):
            to = way.open(self.once)
            way.tape.append(self._row(operations.TIMES_SUM, to, slopes, self.often))
            way.close(self.once, to)
        if way.wants(self.often):
            to = way.open(self.often)
            way.tape.append(self._row(operations.TIMES, to, self.once, slopes))
            way.close(self.often, to)


@dataclass(frozen=True)
class Duel(Layer):
    """The value of a state, plus by how much each action is better than all of them on average."""

    value: Piece
    advantage: Piece
    output: Piece

    @property
    def inputs(self) -> tuple[Piece, ...]:
        """Both streams."""
        return self.value, self.advantage

    def _row(self, kind: int, whole: Piece, value: Piece, advantage: Piece) -> tuple[int, ...]:
        atoms = value.width
        return (
            kind, whole.slot, value.slot, advantage.slot, value.rows, advantage.width // atoms, atoms,
        )  # fmt: skip

    def forward(self, tape: Rows) -> None:
        """Add, and subtract the mean."""
        tape.append(self._row(operations.DUEL, self.output, self.value, self.advantage))

    def compute(self, values: Values) -> Tensor:
        """Add, and subtract the mean."""
        value = values[self.value.slot].unsqueeze(1)
        advantage = values[self.advantage.slot].view(len(value), -1, self.value.width)
        together = value + advantage - advantage.mean(1, keepdim=True)
        return together.view(self.output.rows, -1)

    def backward(self, way: WayBack, slopes: Piece) -> None:
        """Sum, and pass the mean's share back to each action."""
        value, advantage = way.room_like(self.value), way.room_like(self.advantage)
        way.tape.append(self._row(operations.DUEL_BACK, slopes, value, advantage))
        way.close(self.value, value)
        way.close(self.advantage, advantage)


def _product(
    to: Piece, one: Piece, other: Piece, letters: str, sizes: tuple[int, ...], adds: int
) -> tuple[int, ...]:
    return (operations.PRODUCT, to.slot, one.slot, other.slot, *map(ord, letters), *sizes, adds)
