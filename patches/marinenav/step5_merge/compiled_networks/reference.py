"""The same networks by torch and autograd: what tapes are tried against, and what does their work where they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from patches.marinenav.step5_merge.compiled_networks.tapes.layers import Values
    from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network


class Reference:
    """Has the methods of `Program`; arguments are the same."""

    def __init__(self, network: Network, wanted: frozenset[int]) -> None:
        self._network = network
        self._wanted = wanted

    def forward(self, tensors: Sequence[Tensor], groups: int = 0) -> tuple[list[Tensor], Values]:
        """Compute outputs, group by group."""
        groups = max(groups, 1)
        found = [self._answers(self._values(tensors, group, groups)) for group in range(groups)]
        values = found[0][1]
        outputs = [
            torch.cat(each).detach() for each in zip(*(one for one, _ in found), strict=True)
        ]
        return outputs, values

    def _values(self, tensors: Sequence[Tensor], group: int, groups: int) -> Values:
        network = self._network
        values: Values = {}
        for slot, shape, tensor in zip(network.given, network.shapes, tensors, strict=True):
            if slot in network.parameters:
                value = tensor.detach()
            else:
                # In memory of its own, as it would be alone.
                value = tensor.detach().view(groups, *shape)[group].clone()
            values[slot] = value.requires_grad_(slot in self._wanted)
            values[network.copies.get(slot, slot)] = values[slot]
        return values

    def _answers(self, values: Values) -> tuple[list[Tensor], Values]:
        with torch.enable_grad():
            for layer in self._network.layers:
                values[layer.output.slot] = layer.compute(values)
        return [values[each.slot] for each in self._network.answers], values

    def backward(
        self, tensors: Sequence[Tensor], slopes: Sequence[Tensor], space: Values
    ) -> list[Tensor]:
        """Slopes of what is wanted, in the order in which it is given."""
        answers = [space[each.slot] for each in self._network.answers]
        wanted = [space[slot] for slot in self._network.given if slot in self._wanted]
        incoming = [each.view_as(one) for each, one in zip(slopes, answers, strict=True)]
        found = torch.autograd.grad(answers, wanted, incoming)
        given = [
            each
            for each, slot in zip(tensors, self._network.given, strict=True)
            if slot in self._wanted
        ]
        return [slope.view_as(each) for slope, each in zip(found, given, strict=True)]

    def give_back(self, space: Values) -> None:
        """Nothing is kept."""
