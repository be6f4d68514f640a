"""Rainbow's noise and its projection by compiled code, where that gives torch's bits.

Replaces: Rainbow_Policy.reset_noise, projection.project
Removes:  roots, signs, a product and two copies for each noisy layer; some twenty operations per projection
Keeps:    the draws, one by one, and every bit of what they become; torch does what nobody could compute
"""

from __future__ import annotations

from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch.autograd.graph import increment_version

from legacy_marinenav.policy.Rainbow_model import NoisyLinear
from patches.marinenav import forwards, projection
from patches.marinenav.authorship import is_own_work
from patches.marinenav.circumstances import are_plain
from patches.marinenav.step5_merge.compiled_networks.compiled import atoms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from patches.marinenav.agents import Notes

_OF_LAYERS: Final = frozenset({"reset_noise", "_scaled_noise"})
_TRIED: Final = ((256, 128), (128, 51), (3, 1275), (16, 7))
"""Inputs and outputs of layers."""


def renew_noise(network: Any) -> None:
    """Draw new noise for all noisy layers of a plain network."""
    layers = [network._modules[name] for name in forwards.NOISY_LAYERS]  # noqa: SLF001
    if all(map(_draws_as_legacy, layers)) and _is_noise_right():
        _renew(layers)
    else:
        network.reset_noise()


def _draws_as_legacy(layer: Any) -> bool:
    buffers = layer._buffers  # noqa: SLF001
    weights, biases = buffers.get("weight_epsilon"), buffers.get("bias_epsilon")
    if not (is_own_work(layer, _OF_LAYERS) and are_plain((weights, biases))):
        return False
    width, rows = layer.in_features, layer.out_features
    return (*weights.shape, *biases.shape) == (rows, width, rows)


@torch.no_grad()
def _renew(layers: Sequence[Any]) -> None:
    sizes = [(layer.in_features, layer.out_features) for layer in layers]
    drawn = torch.empty(sum(map(sum, sizes)), dtype=torch.float32, device="cpu")
    for part in torch.split_with_sizes(drawn, list(chain.from_iterable(sizes))):
        part.normal_()  # normals that are drawn together are others
    noise = drawn.sign().mul_(drawn.abs().sqrt_())
    targets = [
        (layer._buffers["weight_epsilon"], layer._buffers["bias_epsilon"])  # noqa: SLF001
        for layer in layers
    ]
    addresses = [[each.data_ptr() for each in pair] for pair in targets]
    atoms.spread_noise(noise.numpy(), np.array(addresses), np.array(sizes))
    increment_version(chain.from_iterable(targets))


@cache
def _is_noise_right() -> bool:
    """Whether noise is legacy's, and drawn alike, for layers that leave remainders of vectors and those that do not."""
    before = torch.get_rng_state()
    try:
        ours, theirs = ([NoisyLinear(*sizes) for sizes in _TRIED] for _ in range(2))
        begin = torch.get_rng_state()
        _renew(ours)
        end = torch.get_rng_state()
        torch.set_rng_state(begin)
        for layer in theirs:
            layer.reset_noise()
        is_right = torch.equal(end, torch.get_rng_state())
    finally:
        torch.set_rng_state(before)
    return is_right and all(
        torch.equal(one, other)
        for layers in zip(ours, theirs, strict=True)
        for one, other in zip(*(layer.buffers() for layer in layers), strict=True)
    )


def project(
    agent: Any, notes: Notes, probs: Tensor, returns: Tensor, nonterminals: Tensor
) -> Tensor:
    """Shift and shrink distributions ``[B, 51]`` and share them out between the atoms."""
    projected = torch.empty_like(probs)
    is_done = (
        are_plain((probs, returns, nonterminals, agent.support))
        and probs.shape == (agent.BATCH_SIZE, agent.atoms)
        and agent.support.shape == probs.shape[1:]
        and returns.shape == probs.shape[:1]
        and nonterminals.shape == (*returns.shape, 1)
        and atoms.project(
            probs.numpy(), returns.numpy(), nonterminals.numpy(), agent.support.numpy(),
            np.float32(agent.GAMMA**agent.n), (np.float32(agent.Vmin), np.float32(agent.Vmax)),
            np.float32(agent.delta_z), projected.numpy(),
        )
    )  # fmt: skip
    return projected if is_done else projection.project(agent, notes, probs, returns, nonterminals)
