"""Chooses for all stations: chance draws in the order of the stations, networks answer on the device.

Replaces: syncprobe.workloads.uara.training:Trainer.select
Removes:  with step 1 all reads of actions but one, with step 4 all uploads of actions but one
Keeps:    the draws and their order, the actions
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import torch

from patches.blocks.staging import Segment
from patches.replacement import Replacement
from patches.uara.notes import TRAINER, notes_of
from syncprobe.workloads.uara.training import Choice

if TYPE_CHECKING:
    from torch import Tensor

    from patches.uara.notes import Notes
    from syncprobe.workloads.uara.training import Trainer


def select(self: Trainer, state: Tensor, threshold: float) -> Choice:
    """Draw what chance decides, ask networks for the rest, and read all answers at once."""
    notes = notes_of(self)
    drawn = [
        -1 if random.random() < threshold else random.randrange(self.users) for _ in self.agents
    ]
    exploits = [each < 0 for each in drawn]
    vector = (_packed if notes.has(4) else _one_by_one)(self, notes, state, drawn)
    users = None
    if notes.has(1):
        users = notes.read_back.read(vector).tolist() if any(exploits) else drawn
    return Choice(actions=vector, exploits=exploits, users=users)


def _packed(trainer: Trainer, notes: Notes, state: Tensor, drawn: list[int]) -> Tensor:
    """What was drawn goes up in one piece."""
    count = len(drawn)
    views = notes.slab.open(("drawn", count), lambda: (Segment("drawn", (count,), torch.int64),))
    views.arrays["drawn"][:] = drawn
    chosen = notes.slab.send()["drawn"].clone()
    if min(drawn) >= 0:
        return chosen
    if notes.stack is not None:
        return torch.where(chosen < 0, notes.stack.best(state), chosen)
    for number, user in enumerate(drawn):
        if user < 0:
            chosen[number] = trainer.agents[number].exploit(state)
    return chosen


def _one_by_one(trainer: Trainer, notes: Notes, state: Tensor, drawn: list[int]) -> Tensor:
    """What was drawn goes up number by number, as unpatched code does it."""
    is_asked = notes.stack is not None and min(drawn) < 0
    best = notes.stack.best(state) if is_asked and notes.stack is not None else None
    chosen = []
    for number, user in enumerate(drawn):
        if user >= 0:
            chosen.append(torch.tensor(user, device=trainer.device))
        else:
            asked = trainer.agents[number].exploit(state) if best is None else best[number]
            chosen.append(asked)
    return torch.stack(chosen)


ROWS = (Replacement(TRAINER, "select", select),)
