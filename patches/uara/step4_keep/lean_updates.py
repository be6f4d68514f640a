"""Updates without copies to where things are, and without tensors that nobody uses.

Replaces: syncprobe.workloads.uara.agent:Agent.learn_from, syncprobe.workloads.uara.training:Trainer.reward_tensor
Removes:  2A uploads per step of A stations: rewards one by one, and masks; gradients of the targets
Keeps:    losses, gradients of the policies, parameters, bit for bit
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import smooth_l1_loss

if TYPE_CHECKING:
    from torch import Tensor

    from syncprobe.workloads.uara.agent import Agent, Transition
    from syncprobe.workloads.uara.training import Trainer


def learn_from(self: Agent, batch: Transition) -> Tensor:
    """One step of the optimizer."""
    with torch.no_grad():
        best = self.policy(batch.next_state).argmax(1, keepdim=True)
        future = self.target(batch.next_state).gather(1, best).squeeze(1)
        wanted = batch.reward + self.options.gamma * future
    values = self.policy(batch.state).gather(1, batch.action)
    loss = smooth_l1_loss(values, wanted.unsqueeze(1))
    self.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]  # torch's own
    self.clip()
    self.optimizer.step()
    return loss.detach()


def reward_tensor(_self: Trainer, rate: float) -> float:
    """The reward as it is: whoever stores it sends it along."""
    return rate
