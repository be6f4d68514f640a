"""Learns for all agents: transitions are stored once for all of them, batches are made together.

Replaces: syncprobe.workloads.uara.training:Trainer.learn
Removes:  with step 3 conversions per agent, with step 5 operators per agent
Keeps:    the draws and their order, the update rule, the target copy after training
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from patches.replacement import Replacement
from patches.uara.notes import TRAINER, notes_of
from syncprobe.workloads.uara.agent import Transition

if TYPE_CHECKING:
    from torch import Tensor

    from patches.uara.notes import Notes
    from syncprobe.workloads.uara.training import Choice, Outcome, Trainer


def learn(
    self: Trainer, state: Tensor, choice: Choice, outcome: Outcome, step: int
) -> list[Tensor | None]:
    """Store, draw batches for all agents, train, and let targets follow."""
    notes = notes_of(self)
    if notes.ring is not None:
        notes.ring.store(outcome, is_first=step == 0)
    else:
        for number in range(len(self.agents)):
            self.remember(number, state, choice, outcome)
    batch = _batch(self, notes)
    if notes.ring is not None:
        outcome.state = notes.ring.newest_state()
    losses: list[Tensor | None] = [None] * len(self.agents)
    if batch is not None:
        losses = _train(self, notes, batch)
    if step % self.options.nupdate == 0:
        _follow(self, notes)
    return losses


def _batch(trainer: Trainer, notes: Notes) -> Transition | None:
    """A batch for each agent, stacked; None while there are too few transitions."""
    if notes.ring is not None:
        return notes.ring.sample(trainer.options.batch_size)
    if len(trainer.agents[0].memory) < trainer.options.batch_size:
        return None
    each = [agent.sample() for agent in trainer.agents]
    return Transition(*(torch.stack(column) for column in zip(*each, strict=True)))


def _train(trainer: Trainer, notes: Notes, batch: Transition) -> list[Tensor | None]:
    if notes.stack is not None:
        return list(notes.stack.train(batch))
    return [
        agent.learn_from(Transition(*(column[number] for column in batch)))
        for number, agent in enumerate(trainer.agents)
    ]


def _follow(trainer: Trainer, notes: Notes) -> None:
    if notes.stack is not None:
        notes.stack.follow()
    else:
        for agent in trainer.agents:
            agent.follow()


ROWS = (Replacement(TRAINER, "learn", learn),)
