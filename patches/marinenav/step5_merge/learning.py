"""How networks learn from a batch: by compiled code where it can, by autograd elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from patches.blocks.companion import has_room
from patches.marinenav.circumstances import are_plain
from patches.marinenav.step5_merge import by_autograd
from patches.marinenav.step5_merge.compiled_environment import loading
from patches.marinenav.step5_merge.descent import have_only_layers, parameters_of

if TYPE_CHECKING:
    from torch import Tensor

    from patches.marinenav.observations import Observation
    from patches.settings import Settings


def learning_for(agent: Any, states: Observation) -> Any:
    """`by_autograd`, or compiled functions of the same names."""
    # Without gradients legacy fails, and how is autograd's to say.
    if states.objects is None or not states.own.is_cpu or not torch.is_grad_enabled():
        return by_autograd
    compiled = loading.kernels(loading.NETWORKS)
    if compiled is None or not _is_ordinary(agent, states):
        return by_autograd
    is_free = agent.patch_notes.settings.is_free
    return (compiled.freely() if is_free else compiled).learning


def shares_work(settings: Settings) -> bool:
    """Whether compiled networks are there, which compute half of large batches in a thread of their own."""
    return settings.has(5) and has_room() and loading.kernels(loading.NETWORKS) is not None


def compiled_networks(self: Any, *seen: Tensor) -> Any:
    """`Agent.compiled_networks`: what step 1 asks instead of `forwards` to decide; None if it cannot be used.

    Args:
        self: The agent.
        seen: Tensors that it is asked about, as far as they are not of our own making.
    """
    compiled = loading.kernels(loading.NETWORKS)
    network = self.policy_local.actor if self.kind.networks else self.policy_local
    is_ordinary = have_only_layers(network) and are_plain((*parameters_of(network), *seen))
    return compiled if is_ordinary else None


def _is_ordinary(agent: Any, states: Observation) -> bool:
    """Whether all parameters are those of layers, in ordinary memory, and the agent's own all learn."""
    local, target = (
        list(agent.kind.networks_of(policy)) for policy in (agent.policy_local, agent.policy_target)
    )
    learning = [each for network in local for each in parameters_of(network)]
    if not all(each.requires_grad for each in learning):
        return False
    others = [each for network in target for each in parameters_of(network)]
    return have_only_layers(*local, *target) and are_plain((*learning, *others, states.own))
