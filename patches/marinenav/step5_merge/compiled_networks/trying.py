"""Whether a program gives the bits that torch gives, on random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from patches.marinenav.step5_merge.compiled_networks.programs import Asked
    from patches.marinenav.step5_merge.compiled_networks.tapes.network import Network


_ROUNDING: Final = 1e-4


def agree(
    program: Asked,
    reference: Asked,
    network: Network,
    groups: int,
    *,
    learns: bool,
    are_same: Callable[[Tensor, Tensor], bool] = torch.equal,
) -> bool:
    """Whether a program gives the same bits as torch: how sums are split depends on shapes, threads and the CPU."""
    tensors = _tensors(network, max(groups, 1), torch.Generator().manual_seed(0))
    ours, theirs = (_found(each, tensors, groups, learns=learns) for each in (program, reference))
    return all(are_same(one, other) for one, other in zip(ours, theirs, strict=True))


def about_equal(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors differ by rounding only: numbers next to zero are what is left of large ones."""
    return bool((one - other).abs().max() <= _ROUNDING * other.abs().max())


def _found(asked: Asked, tensors: list[Tensor], groups: int, *, learns: bool) -> list[Tensor]:
    outputs, space = asked.forward(tensors, groups)
    random = torch.Generator().manual_seed(1)
    slopes = [_numbers(output.shape, random) for output in outputs]
    found = asked.backward(tensors, slopes, space) if learns else []
    asked.give_back(space)
    return [*outputs, *found]


def _tensors(network: Network, groups: int, random: torch.Generator) -> list[Tensor]:
    found = []
    for slot, (count, *others) in zip(network.given, network.shapes, strict=True):
        shape = (count if slot in network.parameters else count * groups, *others)
        numbers = _numbers(shape, random)
        found.append(numbers > 0 if slot == network.flags else numbers)
    return found


def _numbers(shape: tuple[int, ...], random: torch.Generator) -> Tensor:
    # Whatever the program has made torch's defaults: it is the host's single precision that is tried.
    return torch.randn(shape, generator=random, device="cpu", dtype=torch.float32)
