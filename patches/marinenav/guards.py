"""Whether an agent and its networks are still what the patches stand in for.

An agent that brings its own version of a method, a network with hooks, parametrizations, other layers or a
forward of its own, a memory with its own way to sample: all of these have to be asked, not second-guessed.
Decisions and updates of such agents are left to the legacy code.
"""

from __future__ import annotations

import operator
from itertools import chain
from operator import attrgetter
from typing import Any, Final, NamedTuple

from torch.optim import Adam
from torch.optim.optimizer import _global_optimizer_post_hooks, _global_optimizer_pre_hooks

from legacy_marinenav.policy.agent_kinds import AGENT_KINDS
from legacy_marinenav.policy.replay_buffer import ReplayBuffer
from legacy_marinenav.policy.replay_memory_rainbow import ReplayMemory
from patches.blocks.device_replay import DeviceReplay
from patches.marinenav.authorship import is_own_work
from patches.marinenav.plain_networks import look_through

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
_OF_STEPS: Final = frozenset({"step"})

_hears_of = attrgetter("_backward_hooks")
_hears_after = attrgetter("_post_accumulate_grad_hooks")
_learns = attrgetter("requires_grad")


def parameters_to_act(agent: Any) -> list[Any] | None:
    """Return the parameters of the network that acts, or None unless an agent chooses actions by the legacy methods."""
    if not (_is_of_its_kind(agent) and is_own_work(agent, _OF_AGENTS)):
        return None
    memory = vars(agent).get("memory")
    if memory is not None and not is_own_work(memory, _OF_MEMORIES):
        return None
    policy = agent.policy_local
    found = look_through((policy.actor if agent.kind.networks else policy,))
    return None if found is None else found[0]


class Learners(NamedTuple):
    """The networks of an update with their parameters, as they are when it begins."""

    networks: list[Any]
    """Of the policy, then of its target."""
    learning: list[Any]
    """Parameters of the policy."""
    everything: list[Any]
    """Parameters of all networks."""
    parameters: dict[Any, list[Any]]
    """Of each network; empty where optimizers run code of others, who may put other parameters in their place."""


def learners_of(agent: Any) -> Learners | None:
    """Return who learns, or None unless an agent learns by the legacy update, with nobody listening to gradients."""
    if not (_is_of_its_kind(agent) and samples_as_legacy(agent) and _is_in_one_mode(agent)):
        return None
    # Legacy's IQN wants as many transitions as the agent says, and gets as many as its memory says.
    if not agent.kind.is_prioritized and agent.memory.batch_size != agent.BATCH_SIZE:
        return None
    local, target = _networks(agent)
    networks = [*local, *target]
    found = look_through(networks)
    if found is None or not _can_learn(agent, found[: len(local)], found):
        return None
    parameters = dict(zip(networks, found, strict=True)) if _steps_alone(agent) else {}
    learning = list(chain.from_iterable(found[: len(local)]))
    return Learners(networks, learning, list(chain.from_iterable(found)), parameters)


def _can_learn(agent: Any, local: list[list[Any]], found: list[list[Any]]) -> bool:
    everything = list(chain.from_iterable(found))
    return (
        _is_each_once(everything)
        and _are_quiet(everything)
        and all(any(map(_learns, parameters)) for parameters in local)
        and _optimizers_own(agent, local, set(map(id, everything)))
    )


def _networks(agent: Any) -> tuple[list[Any], list[Any]]:
    """Return the networks of the policy and of its target."""
    find = agent.kind.networks_of
    return list(find(agent.policy_local)), list(find(agent.policy_target))


def _are_quiet(parameters: list[Any]) -> bool:
    """Return whether no parameter has hooks."""
    return not (any(map(_hears_of, parameters)) or any(map(_hears_after, parameters)))


def _steps_alone(agent: Any) -> bool:
    """Return whether no optimizer runs anything of somebody else when it steps."""
    if _global_optimizer_pre_hooks or _global_optimizer_post_hooks:
        return False
    for name in agent.kind.optimizer_names:
        optimizer = getattr(agent, name)
        if type(optimizer) is not Adam or not is_own_work(optimizer, _OF_STEPS):
            return False
        if optimizer._optimizer_step_pre_hooks or optimizer._optimizer_step_post_hooks:  # noqa: SLF001
            return False
    return True


def _is_in_one_mode(agent: Any) -> bool:
    """Return whether all noisy layers of a network add their noise, or none does."""
    return not agent.kind.is_prioritized or all(
        child.training is network.training
        for network in (agent.policy_local, agent.policy_target)
        for child in network._modules.values()  # noqa: SLF001
    )


def followers_of(agent: Any) -> tuple[list[Any], list[Any]] | None:
    """Return the parameters of an agent's targets and those that they follow, or None unless they match one for one."""
    followed, following = (
        [each for network in networks for each in _parameters(network)]
        for networks in _networks(agent)
    )
    shapes = (
        [None if each is None else each.shape for each in side] for side in (followed, following)
    )
    if not (_is_each_once(followed + following) and operator.eq(*shapes)):
        return None
    targets, locals_ = (
        [each for each in side if each is not None] for side in (following, followed)
    )
    return targets, locals_


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
        optimized = [id(each) for group in optimizer.param_groups for each in group["params"]]
        own = list(map(id, parameters))
        if optimized != own and not known.isdisjoint(optimized) and set(optimized) != set(own):
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


def _parameters(module: Any) -> list[Any]:
    """Return all parameters of a module, those that are None included."""
    found = list(module._parameters.values())  # noqa: SLF001
    for child in module._modules.values():  # noqa: SLF001
        if child._modules:  # noqa: SLF001
            found += _parameters(child)
        else:
            found += child._parameters.values()  # noqa: SLF001
    return found
