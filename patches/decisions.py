"""Actions of several robots at once: one upload, one forward (or one per robot), one read-back.

Replaces: policy.agent:Agent.act_* called robot by robot (adds Agent.act_batch)
Removes:  three conversions, three uploads, one to four blocking reads and a batch-of-one forward per robot
Keeps:    the draws of every generator, robot by robot: random() for each, directly followed by choice for an
          exploring robot of a discrete agent, uniforms of exploring robots in order, fractions of all robots,
          normals of greedy robots one by one (they only merge below 16 numbers); the types of the actions;
          the network is in training mode afterwards. In exact mode also every bit of the actions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from patches import forwards
from patches.agents import Notes, notes_of
from patches.forwards import Observation
from patches.rows import OBJECT, OBJECTS, OWN, SEEN, STATE, state_rows
from patches.staging import Section, Views

FRACTIONS = 32
_NOTHING = np.empty((0, 0), dtype=np.float32)


class Draws:
    """What chance decides about one decision, drawn in the order of the robots."""

    def __init__(self, agent: Any, count: int, eps: float, choices: Any) -> None:
        self.greedy: list[int] = []
        self.random_actions: dict[int, Any] = {}
        for robot in range(count):
            if random.random() > eps:
                self.greedy.append(robot)
            elif agent.kind.is_continuous:
                # Another generator than random(), so only the order among robots matters.
                self.random_actions[robot] = agent._random_action()  # noqa: SLF001
            else:
                self.random_actions[robot] = random.choice(choices)


def act_batch(
    agent: Any, states: Sequence[Any], eps: float = 0.0, cvar: float = 1.0, use_eval: bool = True
) -> list[Any]:
    """One action per state, each as the agent's act method would have answered in turn."""
    notes = notes_of(agent)
    if notes is None or not states:
        options: dict[str, Any] = {"eps": eps, "use_eval": use_eval}
        if agent.agent_type in {"AC-IQN", "IQN"}:
            options["cvar"] = cvar
        return [agent.kind.act(agent, state, **options) for state in states]
    draws = Draws(agent, len(states), eps, action_choices(agent, notes))
    inputs = upload_decision(agent, notes, states, draws)
    actions: list[Any] = [draws.random_actions.get(robot) for robot in range(len(states))]
    if draws.greedy:
        with torch.no_grad():
            answers = answer(agent, notes, inputs, draws.greedy, cvar, use_eval)
        for robot, action in zip(draws.greedy, answers, strict=True):
            actions[robot] = action
    restore_training_mode(agent)
    return actions


def restore_training_mode(agent: Any) -> None:
    """Legacy leaves the network that acted in training mode, whatever it was in before."""
    network = agent.policy_local.actor if agent.kind.networks else agent.policy_local
    if not network.training:
        network.train()


def upload_decision(agent: Any, notes: Notes, states: Sequence[Any], draws: Draws) -> Decision:
    """Send states, noise and transitions that wait for a place in replay to the device at once."""
    count = len(states)
    pending = waiting_rows(agent)
    is_exact = notes.settings.is_exact
    views = notes.decision.open(
        (count, pending.shape),
        lambda: (*_sections(agent, count, is_exact), Section("pending", pending.shape)),
    )
    rows = notes.scratch(("states", count), (count, STATE))
    state_rows(states, rows)
    _spread(rows, views.arrays, is_exact)
    draw_noise(agent, views, draws.greedy, count)
    if len(pending):
        views.arrays["pending"][:] = pending
    tensors = notes.decision.send()
    if len(pending):
        agent.memory.commit(tensors["pending"])
    return Decision(tensors, is_exact)


def waiting_rows(agent: Any) -> Any:
    """Rows of transitions that the memory wants to have on the device."""
    memory: Any = getattr(agent, "memory", None)
    return memory.waiting() if hasattr(memory, "waiting") else _NOTHING


class Decision:
    """The inputs of one decision on the device."""

    def __init__(self, tensors: dict[str, Tensor], is_exact: bool) -> None:
        self.tensors = tensors
        self.is_exact = is_exact

    def observation(self) -> Observation:
        """All robots at once."""
        tensors = self.tensors
        return Observation(tensors["own"], tensors["objects"], tensors["absent"])

    def observation_of(self, robot: int) -> Observation:
        """One robot, in memory laid out as if it were alone."""
        tensors = self.tensors
        return Observation(
            tensors[f"own{robot}"], tensors[f"objects{robot}"], tensors[f"absent{robot}"]
        )

    def noise(self, robot: int | None = None) -> Tensor | None:
        """Fractions or normals of one robot or of all."""
        noise = self.tensors.get("noise")
        return noise if noise is None or robot is None else noise[robot : robot + 1]


def _sections(agent: Any, count: int, is_exact: bool) -> tuple[Section, ...]:
    found: list[Section] = []
    if is_exact:
        for robot in range(count):
            found += [
                Section(f"own{robot}", (1, OWN)),
                Section(f"objects{robot}", (OBJECTS, OBJECT)),
                Section(f"absent{robot}", (1, OBJECTS, 1), torch.bool),
            ]
    else:
        found += [
            Section("own", (count, 1, OWN)),
            Section("objects", (count, OBJECTS, OBJECT)),
            Section("absent", (count, OBJECTS, 1), torch.bool),
        ]
    found += noise_sections(agent, count)
    return tuple(found)


def noise_sections(agent: Any, count: int) -> list[Section]:
    """Room for what the host draws for a forward."""
    if agent.agent_type == "IQN":
        return [Section("noise", (count, FRACTIONS, 1))]
    if agent.agent_type == "SAC":
        return [Section("noise", (count, 2))]
    return []


def draw_noise(agent: Any, views: Views, greedy: Sequence[int], count: int) -> None:
    """Draw fractions or normals into host memory."""
    if agent.agent_type == "IQN":
        noise = views.host["noise"]
        torch.rand((count, FRACTIONS, 1), out=noise)
    elif agent.agent_type == "SAC":
        noise = views.host["noise"]
        noise.zero_()
        for robot in greedy:
            noise[robot : robot + 1].normal_()


def _spread(rows: Any, arrays: dict[str, Any], is_exact: bool) -> None:
    """Copy rows to where the encoders want them."""
    absent = rows[:, OWN + SEEN :] < 0.5
    if not is_exact:
        arrays["own"][:, 0] = rows[:, :OWN]
        arrays["objects"].reshape(len(rows), SEEN)[:] = rows[:, OWN : OWN + SEEN]
        arrays["absent"][:, :, 0] = absent
        return
    for robot, row in enumerate(rows):
        arrays[f"own{robot}"][0] = row[:OWN]
        arrays[f"objects{robot}"].reshape(SEEN)[:] = row[OWN : OWN + SEEN]
        arrays[f"absent{robot}"][0, :, 0] = absent[robot]


def answer(
    agent: Any, notes: Notes, inputs: Any, greedy: Sequence[int], cvar: float, use_eval: bool
) -> list[Any]:
    """Actions of the greedy robots, as the legacy act methods return them."""
    chosen = notes.reads.read(choose(agent, notes, inputs, greedy, cvar, use_eval))
    if agent.kind.is_continuous:
        rows: list[Any] = chosen.tolist()
    elif agent.kind.is_prioritized:
        rows = chosen.tolist()
    else:
        rows = [np.int64(action) for action in chosen.tolist()]
    return rows if inputs.is_exact else [rows[robot] for robot in greedy]


def choose(
    agent: Any, notes: Notes, inputs: Any, greedy: Sequence[int], cvar: float, use_eval: bool
) -> Tensor:
    """Actions on the device: of all robots in fast mode, of the greedy ones in exact mode."""
    forward = _FORWARDS[agent.agent_type](agent, notes, cvar, use_eval)
    if not inputs.is_exact:
        return _decide(agent, forward(inputs.observation(), inputs.noise()).flatten(end_dim=-2))
    answers = [forward(inputs.observation_of(robot), inputs.noise(robot)) for robot in greedy]
    return _decide(agent, torch.cat(answers) if len(answers) > 1 else answers[0])


def _decide(agent: Any, answers: Tensor) -> Tensor:
    return answers if agent.kind.is_continuous else answers.argmax(1)


Forward = Callable[[Observation, Any], Tensor]


def _deterministic(agent: Any, notes: Notes, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    actor = agent.policy_local.actor
    function = notes.function(forwards.deterministic_actions)
    return lambda seen, _: function(actor, seen)


def _sampled(agent: Any, notes: Notes, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    actor = agent.policy_local.actor
    function = notes.function(forwards.sampled_actions)
    return lambda seen, normals: function(actor, seen, normals)


def _quantiles(agent: Any, notes: Notes, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    function = notes.function(forwards.all_quantiles)

    def forward(seen: Observation, taus: Tensor) -> Tensor:
        taus = taus if cvar == 1.0 else taus * cvar
        means: Tensor = function(network, seen, taus).mean(dim=1)
        return means

    return forward


def _values(agent: Any, notes: Notes, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    function = notes.function(forwards.action_values)
    return lambda seen, _: function(network, seen)


def _expectations(agent: Any, notes: Notes, cvar: float, use_eval: bool) -> Forward:  # noqa: ARG001
    network = agent.policy_local
    weights = cached_weights(notes, network, with_noise=not use_eval)
    function = notes.function(forwards.atom_probs)

    def forward(seen: Observation, _: Any) -> Tensor:
        expected: Tensor = (function(network, seen, weights) * agent.support).sum(2)
        return expected

    return forward


_FORWARDS: dict[str, Callable[[Any, Notes, float, bool], Forward]] = {
    "AC-IQN": _deterministic,
    "DDPG": _deterministic,
    "SAC": _sampled,
    "IQN": _quantiles,
    "DQN": _values,
    "Rainbow": _expectations,
}


def cached_weights(notes: Notes, network: Any, *, with_noise: bool) -> forwards.Weights:
    """Rainbow's effective weights, computed again only when a mean, deviation or noise has changed.

    In-place changes such as `reset_noise` and loading count a tensor's version up; optimizer steps over many
    tensors at once need not, on every device, so they have a hook that forgets the weights.
    """
    if not with_noise:
        return forwards.noisy_weights(network, with_noise=False)
    versions = [tensor._version for tensor in forwards.noisy_tensors(network)]  # noqa: SLF001  # no public name
    cached = notes.weights
    if cached is None or cached[0] is not network or cached[1] != versions:
        cached = notes.weights = network, versions, forwards.noisy_weights_at_once(network)
    weights: forwards.Weights = cached[2]
    return weights


def action_choices(agent: Any, notes: Notes) -> Any:
    """Indices of all actions, as legacy hands them to `random.choice`."""
    key = ("actions", agent.action_size)
    if key not in notes.arrays:
        notes.arrays[key] = np.arange(agent.action_size)
    return notes.arrays[key]
