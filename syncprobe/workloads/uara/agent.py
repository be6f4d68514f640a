"""One station's agent: its networks, its memory, and how it learns."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from syncprobe.workloads.uara.config import Options


class Transition(NamedTuple):
    """What an agent remembers; tensors of one row each, or batches of them."""

    state: Tensor
    action: Tensor
    next_state: Tensor
    reward: Tensor


class Memory:
    """A ring of transitions, the oldest giving way to the newest."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.entries: list[Transition] = []
        self.position = 0

    def push(self, transition: Transition) -> None:
        """Keep a transition."""
        if len(self.entries) < self.capacity:
            self.entries.append(transition)
        else:
            self.entries[self.position] = transition
        self.position = (self.position + 1) % self.capacity

    def __len__(self) -> int:
        return len(self.entries)


def make_network(users: int) -> nn.Sequential:
    """From the connection of every user to the worth of picking each."""
    return nn.Sequential(
        nn.Linear(users, 64),
        nn.ReLU(),
        nn.Linear(64, 32),
        nn.ReLU(),
        nn.Linear(32, 32),
        nn.ReLU(),
        nn.Linear(32, users),
    )


def begin_uniform(network: nn.Sequential) -> None:
    """Weights by Xavier, biases at zero."""
    for layer in network:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)


class Agent:
    """Double DQN on what one station sees."""

    def __init__(self, users: int, options: Options, device: torch.device) -> None:
        self.users = users
        self.options = options
        self.device = device
        self.policy = make_network(users).to(device)
        self.target = make_network(users).to(device)
        if options.has_xavier_weights:
            begin_uniform(self.policy)
        self.follow()
        self.memory = Memory(options.capacity)
        self.optimizer = torch.optim.RMSprop(
            self.policy.parameters(), lr=options.learningrate, momentum=options.momentum
        )

    def exploit(self, state: Tensor) -> Tensor:
        """The user that the network finds best, on the device."""
        with torch.no_grad():
            values: Tensor = self.policy(state.unsqueeze(0).to(self.device))
            return values.argmax()

    def explore(self) -> Tensor:
        """A user that chance picks."""
        return torch.tensor(random.randrange(self.users), device=self.device)

    def remember(self, state: Tensor, action: Any, next_state: Tensor, reward: Any) -> None:
        """Store a transition; ``action`` and ``reward`` are numbers or tensors of one."""
        kept_action = torch.tensor([[action]], device=self.device).to(self.device)
        kept_reward = torch.tensor([reward], dtype=torch.float32, device=self.device)
        rows = state.unsqueeze(0), next_state.unsqueeze(0)
        self.memory.push(Transition(rows[0], kept_action, rows[1], kept_reward.to(self.device)))

    def train(self) -> Tensor | None:
        """Learn from a batch, if there are enough transitions; returns the loss."""
        if len(self.memory) < self.options.batch_size:
            return None
        return self.learn_from(self.sample())

    def sample(self) -> Transition:
        """A batch of what is remembered."""
        drawn = random.sample(self.memory.entries, self.options.batch_size)
        return Transition(*(torch.cat(column) for column in zip(*drawn, strict=True)))

    def learn_from(self, batch: Transition) -> Tensor:
        """One step of the optimizer."""
        state, action, next_state, reward = (each.to(self.device) for each in batch)
        # Neither is used, and the target's gradients are added up for nobody: that is how it was written.
        torch.tensor([True] * len(state), device=self.device)
        torch.zeros(len(state), device=self.device)
        values = self.policy(state).gather(1, action)
        best = self.policy(next_state).argmax(1, keepdim=True)
        future = self.target(next_state).gather(1, best).squeeze(1)
        wanted = reward + self.options.gamma * future
        loss = nn.functional.smooth_l1_loss(values, wanted.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch's own
        self.clip()
        self.optimizer.step()
        return loss.detach()

    def clip(self) -> None:
        """Hold gradients to what one step may use."""
        if self.options.clips_norm:
            nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            return
        for parameter in self.policy.parameters():
            assert parameter.grad is not None, "all layers take part"
            parameter.grad.data.clamp_(-1, 1)

    def follow(self) -> None:
        """Let the target be what the policy is."""
        self.target.load_state_dict(self.policy.state_dict())
