"""What a network remembers of its decisions, and how it learns from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import smooth_l1_loss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from syncprobe.workloads.packing.config import PackingOptions

RATE: Final = 1e-3
JOINT_RATE: Final = 1e-4
"""From the first joint episode on."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Memory:
    """One decision."""

    maps: Any
    scalars: Any
    reward: Any
    ahead: Any
    """What was to be had next."""
    is_done: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Batch:
    """Some of them, on the device."""

    maps: Tensor
    scalars: Tensor
    reward: Tensor
    ahead: Tensor
    is_done: Tensor


class Learner:
    """A network, its memory and its optimizer.

    Args:
        network: Takes maps and numbers.
        options: How to learn.
        device: Where the network is.
    """

    def __init__(self, network: nn.Module, options: PackingOptions, device: torch.device) -> None:
        self.network = network
        self.options = options
        self.device = device
        self.optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
        self.entries: list[Memory] = []
        self.position = 0

    def __len__(self) -> int:
        return len(self.entries)

    def remember(self, memory: Memory) -> None:
        """Keep a decision; the oldest one gives way."""
        if len(self.entries) < self.options.replay_size:
            self.entries.append(memory)
        else:
            self.entries[self.position] = memory
        self.position = (self.position + 1) % self.options.replay_size

    def slow_down(self) -> None:
        """Learn at the rate of joint episodes from now on."""
        for group in self.optimizer.param_groups:
            group["lr"] = JOINT_RATE

    def learn(self) -> Iterator[Any]:
        """Some updates after an episode, if enough is remembered; yields the loss of each."""
        if len(self) < self.options.batch_size:
            return
        self.network.train()
        for _ in range(self.options.updates):
            yield self.update()
        self.network.eval()

    def update(self) -> Any:
        """One step of the optimizer, on a batch in parts."""
        self.optimizer.zero_grad()
        losses = [self.part() for _ in range(self.options.accumulation)]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        return sum(losses)

    def part(self) -> Any:
        """Gradients of one part of a batch; returns the loss."""
        batch = self.batch(self.draw())
        wanted = batch.reward + (1 - batch.is_done) * self.options.gamma * batch.ahead
        values = self.network.value(batch.maps, batch.scalars)  # type: ignore[operator]  # both have one
        loss = smooth_l1_loss(values, wanted) / self.options.accumulation
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        return self.noted(loss)

    def noted(self, loss: Tensor) -> Any:
        """A loss for the log."""
        return loss.item()

    def draw(self) -> Any:
        """Places of different memories, by NumPy's global generator."""
        count = self.options.micro_batch
        return np.random.choice(len(self), count, replace=False)  # noqa: NPY002  # as it was written

    def batch(self, places: Any) -> Batch:
        """What is remembered there, sent to the device."""
        columns = self.columns(places)
        return Batch(
            **{name: torch.from_numpy(each).to(self.device) for name, each in columns.items()}
        )

    def columns(self, places: Any) -> dict[str, Any]:
        """What is remembered there, on the host."""
        drawn = [self.entries[place] for place in places]
        return {
            "maps": np.stack([each.maps for each in drawn]),
            "scalars": np.stack([each.scalars for each in drawn]),
            "reward": np.array([each.reward for each in drawn], dtype=np.float32),
            "ahead": np.array([each.ahead for each in drawn], dtype=np.float32),
            "is_done": np.array([each.is_done for each in drawn], dtype=np.float32),
        }
