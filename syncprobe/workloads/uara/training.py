"""The training loop: all stations pick users, rates follow, every agent learns."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from syncprobe.workloads.uara.agent import Agent
from syncprobe.workloads.uara.config import ConfigError
from syncprobe.workloads.uara.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from syncprobe.workloads.uara.config import Options, ScenarioConfig


@dataclass(kw_only=True)
class Choice:
    """What the stations picked."""

    actions: list[Tensor] | Tensor
    """On the device, a number each."""
    exploits: list[bool]
    """Whether the network chose."""
    users: list[int] | None = None
    """The same on the host, once somebody has read it."""


@dataclass(kw_only=True)
class Outcome:
    """What came of it; lists go by station."""

    users: list[int]
    rewards: list[Any]
    """On the device, a number each."""
    rates: list[float]
    """The same on the host, before they are rounded."""
    connected: list[int]
    layers: list[int]
    state: Tensor
    """Which users are connected, on the device."""


@dataclass(frozen=True, kw_only=True)
class StepRecord:
    """One step, for whoever looks on; what is on the device stays there."""

    episode: int
    step: int
    choice: Choice
    outcome: Outcome
    losses: list[Tensor | None]
    is_early_end: bool
    """All users were connected, which ends the episode."""


class Trainer:
    """Stations, their agents, and what they do step by step."""

    def __init__(self, scenario: Scenario, options: Options, device: str) -> None:
        if options.nagents != scenario.config.stations:
            raise ConfigError(
                f"nagents is {options.nagents}, but there are {scenario.config.stations} stations."
            )
        self.scenario = scenario
        self.options = options
        self.device = torch.device(device)
        self.users = scenario.config.nUsers
        self.agents = [Agent(self.users, options, self.device) for _ in range(options.nagents)]

    def run(self) -> Iterator[StepRecord]:
        """Train, handing out every step once it is done."""
        for episode in range(self.options.nepisodes):
            yield from self.run_episode(episode)

    def run_episode(self, episode: int) -> Iterator[StepRecord]:
        """Steps until all users are connected, or there have been enough of them."""
        state = torch.zeros(self.users, device=self.device)
        for step in range(self.options.nsteps):
            record = self.step(state, step, episode)
            yield record
            if record.is_early_end:
                return
            state = record.outcome.state.clone()

    def step(self, state: Tensor, step: int, episode: int) -> StepRecord:
        """One step of all agents."""
        choice = self.select(state, self.options.threshold(step, episode))
        outcome = self.associate(choice)
        losses = self.learn(state, choice, outcome, step)
        return StepRecord(
            episode=episode,
            step=step,
            choice=choice,
            outcome=outcome,
            losses=losses,
            is_early_end=self.is_over(outcome),
        )

    def select(self, state: Tensor, threshold: float) -> Choice:
        """Ask one agent after the other."""
        actions, exploits = [], []
        for agent in self.agents:
            exploits.append(random.random() < threshold)
            actions.append(agent.exploit(state) if exploits[-1] else agent.explore())
        return Choice(actions=actions, exploits=exploits)

    def associate(self, choice: Choice) -> Outcome:
        """What every station gets for its choice."""
        users = [int(action.item()) for action in choice.actions]
        served = [self.serve(station, choice.actions) for station in range(len(users))]
        rates, connected, layers = (list(column) for column in zip(*served, strict=True))
        return Outcome(
            users=users,
            rates=rates,
            rewards=[self.reward_tensor(rate) for rate in rates],
            connected=connected,
            layers=layers,
            state=self.connect(users, connected),
        )

    def serve(self, station: int, actions: list[Tensor] | Tensor) -> tuple[float, int, int]:
        """Reward, whether the user is connected, and layers, of one station."""
        user = int(actions[station].item())
        interference = 0.0
        for other, action in enumerate(actions):
            if action.item() == user and other != station:
                interference += self.scenario.power(other, user)
        noise = 10 ** (self.scenario.noise_db[station] / 10)
        ratio = self.scenario.power(station, user) / (interference + noise)
        rate = self.scenario.bandwidth(station) * math.log2(1 + ratio) / 1e6
        return self.rate_worth(rate, user)

    def rate_worth(self, rate: float, user: int) -> tuple[float, int, int]:
        """What a rate is worth to a user."""
        base, layer = self.scenario.base[user], self.scenario.layer[user]
        if rate < base:
            return self.scenario.config.negative_cost, 0, 0
        return rate, 1, 1 + math.floor((rate - base) / layer)

    def reward_tensor(self, rate: float) -> Tensor:
        """A reward on the device."""
        return torch.tensor(rate, dtype=torch.float32, device=self.device)

    def connect(self, users: list[int], connected: list[int]) -> Tensor:
        """Which users are connected: where several stations picked one, the last one's word counts."""
        state = torch.zeros(self.users, device=self.device)
        for user, is_connected in zip(users, connected, strict=True):
            state[user] = is_connected
        return state.clone()

    def learn(
        self, state: Tensor, choice: Choice, outcome: Outcome, step: int
    ) -> list[Tensor | None]:
        """Let every agent remember and train; returns the losses."""
        losses = []
        for number, agent in enumerate(self.agents):
            self.remember(number, state, choice, outcome)
            losses.append(agent.train())
            if step % self.options.nupdate == 0:
                agent.follow()
        return losses

    def remember(self, number: int, state: Tensor, choice: Choice, outcome: Outcome) -> None:
        """Let one agent store what it did."""
        action, reward = choice.actions[number], outcome.rewards[number]
        self.agents[number].remember(state, action, outcome.state, reward)

    def is_over(self, outcome: Outcome) -> bool:
        """Whether all users are connected."""
        return bool(torch.all(outcome.state == 1))


def seeded_trainer(config: ScenarioConfig, options: Options, seed: int, device: str) -> Trainer:
    """Seed the three generators, then build scenario and agents from them."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the scenario draws from the legacy generator
    torch.manual_seed(seed)
    return Trainer(Scenario(config), options, device)
