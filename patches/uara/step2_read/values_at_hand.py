"""Saves transitions, and ends episodes, by what the host knows already.

Replaces: syncprobe.workloads.uara.training:Trainer.remember and .is_over
Removes:  2A + 1 reads per step of A stations: tensors inside lists, and the test whether all users are connected
Keeps:    what is stored, and when episodes end
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.uara.training import Choice, Outcome, Trainer


def remember(self: Trainer, number: int, state: Tensor, _choice: Choice, outcome: Outcome) -> None:
    """Let one agent store what it did."""
    action, reward = outcome.users[number], outcome.rates[number]
    self.agents[number].remember(state, action, outcome.state, reward)


def is_over(self: Trainer, outcome: Outcome) -> bool:
    """Whether all users are connected, of whom no station has more than one."""
    if self.users > len(outcome.users):
        return False
    last_word = dict(zip(outcome.users, outcome.connected, strict=True))
    return len(last_word) == self.users and all(last_word.values())
