"""The policy wrapper decides for all rows at once, on the device that the observation is on.

Replaces: torchrl_gpu.policy_wrapper:PolicyWrapper.forward
Removes:  three reads, an act call and up to four uploads per robot, and the actions' way to the host and back
Keeps:    draws for every row, deactivated robots included; ``action`` as float32 ``[R, 2 or 1]`` in the given
          tensordict. In exact mode also every bit of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from legacy_marinenav.torchrl_gpu.policy_wrapper import PolicyWrapper
from patches.blocks.staging import Segment
from patches.marinenav.agents import Notes, notes_of, waiting_rows
from patches.marinenav.guards import parameters_to_act
from patches.marinenav.observations import Observation, joined
from patches.marinenav.rows import OBJECT, OBJECTS
from patches.marinenav.step1_decide.choosing import asks_one_by_one, choose, networks_for
from patches.marinenav.step1_decide.decisions import (
    Draws,
    action_choices,
    draw_noise,
    noise_sections,
    restore_training_mode,
)

if TYPE_CHECKING:
    from patches.settings import Settings

_legacy_forward = PolicyWrapper.forward


class RowInputs:
    """A tensordict's observation as the inputs of a decision."""

    def __init__(
        self,
        tensordict: Any,
        sent: dict[str, Tensor],
        settings: Settings,
        networks: Any,
        *,
        one_by_one: bool,
    ) -> None:
        self.own = tensordict["self_state"]
        self.objects = tensordict["objects_state"]
        self.absent = tensordict["objects_mask"].unsqueeze(-1) < 0.5
        self._noise = sent.get("noise")
        self.networks, self.one_by_one = networks, one_by_one
        self.is_free = settings.is_free

    def observation(self) -> Observation:
        """All rows at once."""
        seen = Observation(self.own.unsqueeze(1), self.objects, self.absent)
        return joined(seen) if self.is_free else seen

    def observation_of(self, row: int) -> Observation:
        """One row, in memory of its own as if it were alone."""
        one = slice(row, row + 1)
        objects = self.objects[row].clone().view(OBJECTS, OBJECT)
        return Observation(self.own[one].clone(), objects, self.absent[one])

    def noise(self, row: int | None = None) -> Tensor | None:
        """Fractions or normals of one row or of all."""
        return self._noise if self._noise is None or row is None else self._noise[row : row + 1]


def forward(self: Any, tensordict: Any) -> Any:
    """`PolicyWrapper.forward`: put the actions of all rows into the tensordict."""
    agent = self.agent
    notes = notes_of(agent)
    waiting = getattr(tensordict, "waiting_step", None)
    device = tensordict["self_state"].device if waiting is None else tensordict.wanted_device
    is_here = notes is not None and device.type == notes.device.type
    parameters = parameters_to_act(agent) if is_here else None
    if notes is None or parameters is None:
        return _legacy_forward(self, tensordict)
    eps, use_eval = (self.epsilon, False) if self.training_mode else (0.0, True)
    count = len(tensordict["self_state"] if waiting is None else waiting.rows)
    draws = Draws(agent, count, eps, action_choices(agent, notes))
    sent = _upload(agent, notes, draws, count, self.action_dim, waiting)
    if waiting is not None:
        tensordict.fill(sent)
    seen = (tensordict[name] for name in ("self_state", "objects_state", "objects_mask"))
    networks = networks_for(agent, notes, parameters, *seen)
    one_by_one = asks_one_by_one(notes, networks)
    inputs = RowInputs(tensordict, sent, notes.settings, networks, one_by_one=one_by_one)
    with torch.no_grad():
        action = _merge(agent, notes, inputs, draws, sent, count, use_eval)
    restore_training_mode(agent)
    tensordict.set("action", action)
    return tensordict


def _upload(
    agent: Any, notes: Notes, draws: Draws, count: int, width: int, waiting: Any
) -> dict[str, Tensor]:
    """Send noise, random actions, waiting transitions and a waiting observation at once."""
    pending = waiting_rows(agent)
    explores = bool(draws.random_actions)
    if not (explores or len(pending) or waiting or noise_sections(agent, count)):
        return {}
    rows = count if explores else 0

    def sections() -> list[Segment]:
        return [
            *noise_sections(agent, count),
            *(waiting.sections() if waiting else ()),
            Segment("explores", (rows, 1), torch.bool),
            Segment("random", (rows, width)),
            Segment("pending", pending.shape),
        ]

    is_reset = waiting is not None and waiting.rewards is None
    key = ("rows", count, explores, pending.shape, waiting is None, is_reset)
    views = notes.decision.open(key, sections)
    draw_noise(agent, views, draws.greedy, count)
    if waiting is not None:
        waiting.write(views)
    if explores:
        views.arrays["explores"][:] = False
        views.arrays["random"][:] = 0.0
        for row, action in draws.random_actions.items():
            views.arrays["explores"][row] = True
            views.arrays["random"][row] = action
    if len(pending):
        views.arrays["pending"][:] = pending
    # Observations are kept by whoever holds the tensordict, so they get memory of their own.
    sent = notes.decision.send_fresh()
    if len(pending):
        agent.memory.commit(sent["pending"])
    return sent


def _merge(
    agent: Any,
    notes: Notes,
    inputs: RowInputs,
    draws: Draws,
    sent: dict[str, Tensor],
    count: int,
    use_eval: bool,
) -> Tensor:
    """Greedy and random actions of all rows, in memory of their own."""
    if not draws.greedy:
        return sent["random"]
    chosen = choose(agent, notes, inputs, draws.greedy, 1.0, use_eval)
    if not agent.kind.is_continuous:
        chosen = chosen.unsqueeze(1).to(torch.float32)
    if not draws.random_actions:
        return chosen
    if not inputs.one_by_one:
        return torch.where(sent["explores"], sent["random"], chosen)
    rows = [sent["random"][row] for row in range(count)]
    for position, row in enumerate(draws.greedy):
        rows[row] = chosen[position]
    return torch.stack(rows)
