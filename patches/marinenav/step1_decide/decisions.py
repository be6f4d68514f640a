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
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from patches.blocks.staging import Segment, Views
from patches.marinenav.agents import Notes, notes_of, waiting_rows
from patches.marinenav.guards import parameters_to_act
from patches.marinenav.observations import Observation, joined
from patches.marinenav.rows import OBJECT, OBJECTS, OWN, SEEN, STATE, state_rows
from patches.marinenav.step1_decide.choosing import (
    asks_one_by_one,
    choose,
    may_leave_out,
    networks_for,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.settings import Settings

FRACTIONS = 32


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
    parameters = parameters_to_act(agent) if notes is not None and states else None
    if notes is None or parameters is None:
        options: dict[str, Any] = {"eps": eps, "use_eval": use_eval}
        if agent.agent_type in {"AC-IQN", "IQN"}:
            options["cvar"] = cvar
        return [agent.kind.act(agent, state, **options) for state in states]
    draws = Draws(agent, len(states), eps, action_choices(agent, notes))
    inputs = upload_decision(agent, notes, states, draws, parameters)
    actions: list[Any] = [draws.random_actions.get(robot) for robot in range(len(states))]
    if draws.greedy:
        with torch.no_grad():
            answers = answer(agent, notes, inputs, draws.greedy, cvar, use_eval)
        for robot, action in zip(draws.greedy, answers, strict=True):
            actions[robot] = action
    restore_training_mode(agent)
    return actions


def restore_training_mode(agent: Any) -> None:
    """Legacy leaves the network that acted in training mode, and all its layers, whatever they were in before."""
    network = agent.policy_local.actor if agent.kind.networks else agent.policy_local
    if not _is_training(network):
        network.train()


def _is_training(module: Any) -> bool:
    return module.training and all(map(_is_training, module._modules.values()))  # noqa: SLF001


def upload_decision(
    agent: Any, notes: Notes, states: Sequence[Any], draws: Draws, parameters: list[Any]
) -> Decision:
    """Send states, noise and transitions that wait for a place in replay to the device at once."""
    count = len(states)
    pending = waiting_rows(agent)
    networks = networks_for(agent, notes, parameters)
    one_by_one = asks_one_by_one(notes, networks)
    leaves_out = len(draws.greedy) < count and may_leave_out(notes, networks, count)
    first = slice(len(draws.greedy)) if leaves_out else None
    views = notes.decision.open(
        (count, one_by_one, pending.shape),
        lambda: (*_sections(agent, count, one_by_one), Segment("pending", pending.shape)),
    )
    rows = notes.scratch(("states", count), (count, STATE))
    arrays = views.arrays
    if first is not None:
        states, rows = [states[robot] for robot in draws.greedy], rows[first]
        arrays = {name: array[first] for name, array in arrays.items()}
    state_rows(states, rows)
    _spread(rows, arrays, one_by_one)
    draw_noise(agent, views, draws.greedy, count)
    if first is not None and "noise" in arrays:
        arrays["noise"][:] = views.arrays["noise"][draws.greedy]
    if len(pending):
        views.arrays["pending"][:] = pending
    tensors = notes.decision.send()
    if len(pending):
        agent.memory.commit(tensors["pending"])
    return Decision(tensors, notes.settings, networks, first, one_by_one=one_by_one)


class Decision:
    """The inputs of one decision on the device."""

    def __init__(
        self,
        tensors: dict[str, Tensor],
        settings: Settings,
        networks: Any,
        first: slice | None,
        *,
        one_by_one: bool,
    ) -> None:
        self.tensors = tensors
        self._first = first
        self.networks, self.one_by_one = networks, one_by_one
        self.is_free = settings.is_free

    def observation(self) -> Observation:
        """All robots that are asked about at once."""
        tensors = self.tensors
        seen = Observation(tensors["own"], tensors["objects"], tensors["absent"])
        if self._first is not None:
            seen = Observation(*(tensors[name][self._first] for name in Observation._fields))
        return joined(seen) if self.is_free else seen

    def observation_of(self, robot: int) -> Observation:
        """One robot, in memory laid out as if it were alone."""
        tensors = self.tensors
        return Observation(
            tensors[f"own{robot}"], tensors[f"objects{robot}"], tensors[f"absent{robot}"]
        )

    def noise(self, robot: int | None = None) -> Tensor | None:
        """Fractions or normals of one robot, or of all that are asked about."""
        noise = self.tensors.get("noise")
        if noise is None:
            return None
        if robot is not None:
            return noise[robot : robot + 1]
        return noise if self._first is None else noise[self._first]


def _sections(agent: Any, count: int, one_by_one: bool) -> tuple[Segment, ...]:
    found: list[Segment] = []
    if one_by_one:
        for robot in range(count):
            found += [
                Segment(f"own{robot}", (1, OWN)),
                Segment(f"objects{robot}", (OBJECTS, OBJECT)),
                Segment(f"absent{robot}", (1, OBJECTS, 1), torch.bool),
            ]
    else:
        found += [
            Segment("own", (count, 1, OWN)),
            Segment("objects", (count, OBJECTS, OBJECT)),
            Segment("absent", (count, OBJECTS, 1), torch.bool),
        ]
    found += noise_sections(agent, count)
    return tuple(found)


def noise_sections(agent: Any, count: int) -> list[Segment]:
    """Room for what the host draws for a forward."""
    if agent.agent_type == "IQN":
        return [Segment("noise", (count, FRACTIONS, 1))]
    if agent.agent_type == "SAC":
        return [Segment("noise", (count, 2))]
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


def _spread(rows: Any, arrays: dict[str, Any], one_by_one: bool) -> None:
    """Copy rows to where the encoders want them."""
    absent = rows[:, OWN + SEEN :] < 0.5
    if not one_by_one:
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
    return [rows[robot] for robot in greedy] if len(rows) > len(greedy) else rows


def action_choices(agent: Any, notes: Notes) -> Any:
    """Indices of all actions, as legacy hands them to `random.choice`."""
    key = ("actions", agent.action_size)
    if key not in notes.arrays:
        notes.arrays[key] = np.arange(agent.action_size)
    return notes.arrays[key]
