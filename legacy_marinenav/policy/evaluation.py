"""What one evaluation of a policy yields, and how it is summed up."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BANNER = "++++++++ Evaluation Info ++++++++"


@dataclass
class Evaluation:
    """Results of the episodes of one evaluation, one entry per episode in each list."""

    observations: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    trajectories: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    """Discounted sums, averaged over the robots."""
    successes: list[bool] = field(default_factory=list)
    """Whether all robots reached their goals."""
    times: list[float] = field(default_factory=list)
    energies: list[float] = field(default_factory=list)
    relations: list[list[list[Any]]] = field(default_factory=list)
    """An empty list per robot: nothing has ever filled it, but readers expect it."""

    def add_episode(
        self,
        robots: list[Any],
        success: bool,
        rewards: list[float],
        times: list[float],
        energies: list[float],
    ) -> None:
        """Take over the histories of the robots and the averages of what each of them collected."""
        self.observations.append([copy.deepcopy(robot.observation_history) for robot in robots])
        self.actions.append([copy.deepcopy(robot.action_history) for robot in robots])
        self.trajectories.append([copy.deepcopy(robot.trajectory) for robot in robots])
        self.rewards.append(np.mean(rewards))
        self.successes.append(success)
        self.times.append(np.mean(times))
        self.energies.append(np.mean(energies))
        self.relations.append([[] for _ in robots])

    def averages(self) -> Averages:
        """Averages over the episodes; time and energy over the successful ones only."""
        return Averages.of(self.rewards, self.successes, self.times, self.energies)


@dataclass(frozen=True, slots=True)
class Averages:
    """One evaluation in four numbers."""

    reward: float
    success_rate: float
    time: float | None
    """None if no episode was a success."""
    energy: float | None
    """None if no episode was a success."""

    @classmethod
    def of(
        cls, rewards: list[float], successes: list[bool], times: list[float], energies: list[float]
    ) -> Averages:
        """Average the results of the episodes of one evaluation."""
        succeeded = np.flatnonzero(successes)
        return cls(
            reward=np.mean(rewards),
            success_rate=np.sum(successes) / len(successes),
            time=np.mean(np.array(times)[succeeded]) if succeeded.size else None,
            energy=np.mean(np.array(energies)[succeeded]) if succeeded.size else None,
        )

    def show(self) -> None:
        """Print the block that follows an evaluation."""
        print(BANNER)
        print(f"Avg cumulative reward: {self.reward:.2f}")
        print(f"Success rate: {self.success_rate:.2f}")
        if self.time is not None:
            print(f"Avg time: {self.time:.2f}")
            print(f"Avg energy: {self.energy:.2f}")
        print(f"{BANNER}\n")
