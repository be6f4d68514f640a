"""All agents' networks as stacked tensors: one product per layer, one optimizer, whatever their number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, smooth_l1_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncprobe.workloads.uara.agent import Agent, Transition
    from syncprobe.workloads.uara.config import Options
    from syncprobe.workloads.uara.training import Trainer


class StackedAgents:
    """Owns the parameters of all agents; their own networks become views of them.

    Args:
        trainer: Whose agents.
        is_exact: Make products agent by agent, which rounds as unpatched code does.
    """

    def __init__(self, trainer: Trainer, *, is_exact: bool) -> None:
        self.options = trainer.options
        self.count = len(trainer.agents)
        self.policy = _stacked(trainer.agents, "policy")
        self.target = _stacked(trainer.agents, "target")
        self._forward = _forward_one_by_one if is_exact else _forward_together
        self._losses = _losses_one_by_one if is_exact else _losses_together
        self.optimizer = torch.optim.RMSprop(
            self.policy, lr=self.options.learningrate, momentum=self.options.momentum
        )

    def best(self, state: Tensor) -> Tensor:
        """The user that each agent's network finds best."""
        with torch.no_grad():
            rows = state.expand(self.count, 1, -1)
            return self._forward(self.policy, rows).argmax(2).squeeze(1)

    def train(self, batch: Transition) -> Tensor:
        """One step of the optimizer for all agents; returns a loss for each."""
        with torch.no_grad():
            best = self._forward(self.policy, batch.next_state).argmax(2, keepdim=True)
            future = self._forward(self.target, batch.next_state).gather(2, best).squeeze(2)
            wanted = batch.reward + self.options.gamma * future
        values = self._forward(self.policy, batch.state).gather(2, batch.action)
        losses = self._losses(values, wanted.unsqueeze(2))
        self.optimizer.zero_grad()
        losses.sum().backward()  # type: ignore[no-untyped-call]  # torch's own
        _clip([each.grad for each in self.policy], self.count, self.options)
        self.optimizer.step()
        return losses.detach()

    def follow(self) -> None:
        """Let the targets be what the policies are."""
        with torch.no_grad():
            for target, policy in zip(self.target, self.policy, strict=True):
                target.copy_(policy)


def _stacked(agents: Sequence[Agent], name: str) -> list[nn.Parameter]:
    """Weights and biases of one network of each agent, layer by layer."""
    networks: list[nn.Sequential] = [getattr(agent, name) for agent in agents]
    stacked = []
    for layers in zip(*networks, strict=True):
        if isinstance(layers[0], nn.Linear):
            for part in ("weight", "bias"):
                together = torch.stack([getattr(layer, part).detach() for layer in layers])
                for layer, view in zip(layers, together.unbind(), strict=True):
                    setattr(layer, part, nn.Parameter(view))
                stacked.append(nn.Parameter(together))
    return stacked


def _clip(gradients: list[Any], count: int, options: Options) -> None:
    """Hold gradients to what one step may use, each agent's by themselves."""
    if not options.clips_norm:
        for gradient in gradients:
            gradient.clamp_(-1, 1)
        return
    for number in range(count):
        own = [gradient[number] for gradient in gradients]
        share = torch.clamp(1.0 / (nn.utils.get_total_norm(own) + 1e-6), max=1.0)
        for gradient in own:
            gradient.mul_(share)


def _forward_together(parameters: list[nn.Parameter], rows: Tensor) -> Tensor:
    for place in range(0, len(parameters), 2):
        weight, bias = parameters[place : place + 2]
        rows = torch.baddbmm(bias.unsqueeze(1), rows, weight.transpose(1, 2))
        if place + 2 < len(parameters):
            rows = rows.relu()
    return rows


def _forward_one_by_one(parameters: list[nn.Parameter], rows: Tensor) -> Tensor:
    for place in range(0, len(parameters), 2):
        layers = zip(
            rows.unbind(), *(each.unbind() for each in parameters[place : place + 2]), strict=True
        )
        rows = torch.stack([linear(*layer) for layer in layers])
        if place + 2 < len(parameters):
            rows = rows.relu()
    return rows


def _losses_together(values: Tensor, wanted: Tensor) -> Tensor:
    return smooth_l1_loss(values, wanted, reduction="none").mean((1, 2))


def _losses_one_by_one(values: Tensor, wanted: Tensor) -> Tensor:
    pairs = zip(values.unbind(), wanted.unbind(), strict=True)
    return torch.stack([smooth_l1_loss(*pair) for pair in pairs])
