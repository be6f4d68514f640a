"""Whether an agent and its networks are still what the patches stand in for.

An agent that brings its own version of a method, a network with hooks, parametrizations, other layers or a
forward of its own, a memory with its own way to sample: all of these have to be asked, not second-guessed.
Decisions and updates of such agents are left to the legacy code.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn
from torch.nn.modules import module as torch_modules

from legacy_marinenav.policy import AC_IQN_model, DDPG_model, SAC_model
from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.policy.DQN_model import DQN_Policy
from legacy_marinenav.policy.IQN_model import IQN_Policy
from legacy_marinenav.policy.networks.encoders import CosineEmbedding
from legacy_marinenav.policy.Rainbow_model import NoisyLinear, Rainbow_Policy
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.replay_memory_rainbow import ReplayMemory
from patches.blocks.device_replay import DeviceReplay
from patches.marinenav.authorship import is_own_class, is_own_work

if TYPE_CHECKING:
    from collections.abc import Callable

_ENCODERS: Final = frozenset({"self_encoder", "object_encoder", "action_encoder"})
_TWO_ENCODERS: Final = ("self_encoder", "object_encoder")
_HIDDEN: Final = ("hidden_layer", "hidden_layer_2")
_VALUE: Final = ("action_encoder", *_HIDDEN, "output_layer")
_STREAMS: Final = tuple(
    f"{name}_{stream}{number}"
    for name, number in (("hidden_layer", ""), ("hidden_layer", "_2"), ("output_layer", ""))
    for stream in "va"
)
_CHILDREN: Final[dict[type, tuple[str, ...]]] = {
    AC_IQN_model.Actor: (*_TWO_ENCODERS, *_HIDDEN, "output_layer"),
    AC_IQN_model.Critic: (*_TWO_ENCODERS, "cos_embedding", *_VALUE),
    DDPG_model.Actor: (*_TWO_ENCODERS, *_HIDDEN, "output_layer"),
    DDPG_model.Critic: (*_TWO_ENCODERS, *_VALUE),
    SAC_model.Actor: (*_TWO_ENCODERS, *_HIDDEN, "output_layer_mu", "output_layer_log_std"),
    SAC_model.Critic: (*_TWO_ENCODERS, *_VALUE),
    DQN_Policy: (*_TWO_ENCODERS, *_HIDDEN, "output_layer"),
    IQN_Policy: (*_TWO_ENCODERS, "cos_embedding", *_HIDDEN, "output_layer"),
    Rainbow_Policy: (*_TWO_ENCODERS, *_STREAMS),
}
"""Layers of the networks that are computed here, in their order."""

_OF_NETWORKS: Final = frozenset(
    {
        "forward",
        "observation_features",
        "hidden_features",
        "squash",
        "compute_action",
        "calc_cos",
        "reset_noise",
    }
)
_OF_AGENTS: Final = frozenset(
    {
        *(kind.act_method for kind in AGENT_KINDS.values()),
        "_act_continuous",
        "_forward",
        "state_to_tensor",
    }
)
_OF_BATCHES: Final = frozenset({"state_to_tensor"})
_OF_MEMORIES: Final = frozenset({"add", "append", "sample", "state_batch", "update_priorities"})
_OF_OPTIMIZERS: Final = frozenset({"zero_grad"})
_OF_LAYERS: Final = frozenset({"forward"})
_FRACTIONS: Final = (32, 64)
"""To act by, and cosines of each: staging memory has room for so many."""
_LAYERS: Final = (nn.Linear, nn.ReLU, nn.Sequential, NoisyLinear)


def decides_as_legacy(agent: Any) -> bool:
    """Return whether an agent chooses actions by the legacy methods and networks."""
    if not (_is_of_its_kind(agent) and is_own_work(agent, _OF_AGENTS)):
        return False
    memory = vars(agent).get("memory")
    if memory is not None and not is_own_work(memory, _OF_MEMORIES):
        return False
    policy = agent.policy_local
    return _is_plain(policy.actor if agent.kind.networks else policy)


def learns_as_legacy(agent: Any) -> bool:
    """Return whether an agent learns by the legacy update, with nobody listening to gradients."""
    if not (_is_of_its_kind(agent) and samples_as_legacy(agent) and _is_in_one_mode(agent)):
        return False
    # Legacy's IQN wants as many transitions as the agent says, and gets as many as its memory says.
    if not agent.kind.is_prioritized and agent.memory.batch_size != agent.BATCH_SIZE:
        return False
    found: list[Any] = []
    local: list[list[Any]] = []
    for policy in (agent.policy_local, agent.policy_target):
        for network in agent.kind.networks_of(policy):
            parameters = _parameters(network)
            is_local = policy is agent.policy_local
            if not (_is_plain(network) and _learn_quietly(parameters, is_local)):
                return False
            found += parameters
            if is_local:
                local.append(parameters)
    return _is_each_once(found) and _optimizers_own(agent, local, set(map(id, found)))


def _is_in_one_mode(agent: Any) -> bool:
    """Return whether all noisy layers of a network add their noise, or none does."""
    return not agent.kind.is_prioritized or all(
        child.training is network.training
        for network in (agent.policy_local, agent.policy_target)
        for child in network._modules.values()  # noqa: SLF001
    )


def follows_as_legacy(agent: Any) -> bool:
    """Return whether the parameters of an agent's targets are those of its policies, one for one."""
    followed, following = (
        [each for network in agent.kind.networks_of(policy) for each in _parameters(network)]
        for policy in (agent.policy_local, agent.policy_target)
    )
    shapes = (
        [None if each is None else each.shape for each in side] for side in (followed, following)
    )
    return _is_each_once(followed + following) and operator.eq(*shapes)


def _is_each_once(parameters: list[Any]) -> bool:
    """Return whether no parameter is in two places: torch lists, clips and moves such a one once."""
    return len(set(map(id, parameters))) == len(parameters)


def _optimizers_own(agent: Any, networks: list[list[Any]], known: set[int]) -> bool:
    """Return whether each optimizer has a whole network or, as after `Agent.load_model`, nothing that is known.

    One that has a part, or another network, clears the gradients of that alone; one with its own way to clear
    may keep them. The others pile up, and are clipped together.
    """
    for name, parameters in zip(agent.kind.optimizer_names, networks, strict=True):
        optimizer = getattr(agent, name)
        if not is_own_work(optimizer, _OF_OPTIMIZERS):
            return False
        optimized = {id(each) for group in optimizer.param_groups for each in group["params"]}
        if not optimized.isdisjoint(known) and optimized != set(map(id, parameters)):
            return False
    return True


def samples_as_legacy(agent: Any) -> bool:
    """Return whether the batches of an agent come from a memory of legacy's or ours, and become tensors as usual."""
    memory = agent.memory
    is_known = isinstance(memory, DeviceReplay) or type(memory) in {ReplayBuffer, ReplayMemory}
    return is_known and is_own_work(memory, _OF_MEMORIES) and is_own_work(agent, _OF_BATCHES)


def stores_together(agent: Any) -> bool:
    """Return whether transitions may go into the memory of an agent at once."""
    memory = getattr(agent, "memory", None)
    return (
        isinstance(memory, DeviceReplay)
        and _is_of_its_kind(agent)
        and is_own_work(memory, _OF_MEMORIES)
    )


def _is_of_its_kind(agent: Any) -> bool:
    return agent.kind is AGENT_KINDS.get(agent.agent_type)


_has_global_hooks: Callable[[], bool] = torch_modules._has_any_global_hook  # noqa: SLF001  # no public name


def _is_plain(network: Any) -> bool:
    """Return whether a network has its own layers, and nothing but their weights decides what it answers."""
    names = _CHILDREN.get(type(network))
    if names is None or _has_global_hooks() or not _are_layers_of_torch():
        return False
    if not (is_own_work(network, _OF_NETWORKS) and _is_silent(network)):
        return False
    children = network._modules  # noqa: SLF001  # a quarter of the cost of asking the module
    if tuple(children) != names or not _has_usual_fractions(network):
        return False
    wanted: type[nn.Module] = NoisyLinear if type(network) is Rainbow_Policy else nn.Linear
    for name, child in children.items():
        is_plain = _is_plain_encoder(child) if name in _ENCODERS else _is_plain_layer(child, wanted)
        if not is_plain:
            return False
    return True


def _are_layers_of_torch() -> bool:
    return all(is_own_class(layer, _OF_LAYERS) for layer in _LAYERS)


def _has_usual_fractions(network: Any) -> bool:
    return not isinstance(network, CosineEmbedding) or (network.K, network.n) == _FRACTIONS


def _is_plain_encoder(encoder: Any) -> bool:
    if type(encoder) is not nn.Sequential or not _is_silent(encoder):
        return False
    layers = tuple(encoder._modules.values())  # noqa: SLF001
    return (
        len(layers) == 2
        and _is_plain_layer(layers[0], nn.Linear)
        and type(layers[1]) is nn.ReLU
        and _is_silent(layers[1])
    )


def _is_plain_layer(layer: Any, wanted: type[nn.Module]) -> bool:
    if type(layer) is not wanted or not _is_silent(layer):
        return False
    # A weight that is normalised or parametrized is no parameter of the layer any more.
    parameters = layer._parameters  # noqa: SLF001
    if len(parameters) != (2 if wanted is nn.Linear else 4):
        return False
    for parameter in parameters.values():  # a generator would take twice as long
        if parameter is None or parameter.dtype is not torch.float32:
            return False
    return True


def _is_silent(module: Any) -> bool:
    """Return whether nobody listens to a module, and it computes by the forward of its class, not compiled."""
    inside = module.__dict__
    return not (
        inside["_forward_hooks"]
        or inside["_forward_pre_hooks"]
        or inside["_backward_hooks"]
        or inside["_backward_pre_hooks"]
        or "forward" in inside
        or inside.get("_compiled_call_impl") is not None
    )


def _learn_quietly(parameters: list[Any], is_local: bool) -> bool:
    """Return whether some of a network's parameters learn, and none has hooks."""
    learns = False
    for parameter in parameters:
        if parameter._backward_hooks or parameter._post_accumulate_grad_hooks:  # noqa: SLF001
            return False
        learns = learns or parameter.requires_grad
    return learns or not is_local


def _parameters(module: Any) -> list[Any]:
    """Return all parameters of a module, those that are None included."""
    found = list(module._parameters.values())  # noqa: SLF001
    for child in module._modules.values():  # noqa: SLF001
        if child._modules:  # noqa: SLF001
            found += _parameters(child)
        else:
            found += child._parameters.values()  # noqa: SLF001
    return found
