"""The forward of each agent, and what its answers make robots do, on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from patches.marinenav import forwards
from patches.marinenav.observations import Observation

if TYPE_CHECKING:
    from patches.marinenav.agents import Notes


def networks_for(agent: Any, notes: Notes, parameters: list[Any], *seen: Tensor) -> Any:
    """How networks are asked: by `forwards`, or by compiled functions of the same names.

    Args:
        agent: Whose networks.
        notes: Of the agent.
        parameters: Of the network that acts.
        seen: Tensors of an observation that come from elsewhere, and may be of any kind.
    """
    find = getattr(agent, "compiled_networks", None)  # only with step 5
    if find is None or notes.settings.extras or notes.device.type != "cpu":
        return forwards
    compiled = find(parameters, *seen)
    return forwards if compiled is None else compiled


def asks_one_by_one(notes: Notes, networks: Any) -> bool:
    """Whether robots are asked about in turns: every bit needs that, unless compiled code does it by itself."""
    return notes.settings.is_exact and networks is forwards


def may_leave_out(notes: Notes, networks: Any, count: int) -> bool:
    """Whether only greedy robots need be asked about: none changes what another one is answered."""
    return (
        networks is not forwards and not notes.settings.is_free and bool(networks.tell_apart(count))
    )


def choose(
    agent: Any, notes: Notes, inputs: Any, greedy: Sequence[int], cvar: float, use_eval: bool
) -> Tensor:
    """Actions on the device: of all robots, or of the greedy ones if they are asked about one by one."""
    forward = _FORWARDS[agent.agent_type](agent, notes, inputs.networks, cvar, use_eval)
    if not inputs.one_by_one:
        return _decide(agent, forward(inputs.observation(), inputs.noise()).flatten(end_dim=-2))
    answers = [forward(inputs.observation_of(robot), inputs.noise(robot)) for robot in greedy]
    return _decide(agent, torch.cat(answers) if len(answers) > 1 else answers[0])


def _decide(agent: Any, answers: Tensor) -> Tensor:
    return answers if agent.kind.is_continuous else answers.argmax(1)


Forward = Callable[[Observation, Any], Tensor]


def _deterministic(agent: Any, notes: Notes, networks: Any, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    actor = agent.policy_local.actor
    function = notes.function(networks.deterministic_actions)
    return lambda seen, _: function(actor, seen)


def _sampled(agent: Any, notes: Notes, networks: Any, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    actor = agent.policy_local.actor
    function = notes.function(networks.sampled_actions)
    return lambda seen, normals: function(actor, seen, normals)


def _quantiles(agent: Any, notes: Notes, networks: Any, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    function = notes.function(networks.all_quantiles)

    def forward(seen: Observation, taus: Tensor) -> Tensor:
        taus = taus if cvar == 1.0 else taus * cvar
        means: Tensor = function(network, seen, taus).mean(dim=1)
        return means

    return forward


def _values(agent: Any, notes: Notes, networks: Any, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    function = notes.function(networks.action_values)
    return lambda seen, _: function(network, seen)


def _expectations(agent: Any, notes: Notes, networks: Any, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    # Computed for every decision: a change through `.data` leaves no trace that a cache could be told by.
    weights = (
        forwards.noisy_weights(network, with_noise=False)
        if use_eval
        else networks.noisy_weights_at_once(network)
    )
    function = notes.function(networks.atom_probs)

    def forward(seen: Observation, _: Any) -> Tensor:
        expected: Tensor = (function(network, seen, weights) * agent.support).sum(2)
        return expected

    return forward


_FORWARDS: dict[str, Callable[[Any, Notes, Any, float, bool], Forward]] = {
    "AC-IQN": _deterministic,
    "DDPG": _deterministic,
    "SAC": _sampled,
    "IQN": _quantiles,
    "DQN": _values,
    "Rainbow": _expectations,
}
