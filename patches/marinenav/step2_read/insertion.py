"""Transitions of all robots of a step go into the memory together.

Replaces: policy.training_loop:TrainingLoop._collect
Removes:  one upload per robot and step into a memory on the device
Keeps:    the order of transitions, episode rewards to the bit, who is deactivated and when
"""

from __future__ import annotations

from typing import Any

from legacy_marinenav.policy.training_loop import TrainingLoop
from patches.marinenav.agents import notes_of
from patches.marinenav.guards import stores_together

_legacy_collect = TrainingLoop._collect  # noqa: SLF001


def collect(self: Any, outcome: Any, episode: Any) -> None:
    """`TrainingLoop._collect`: add up rewards, store all transitions, note who is out."""
    agent = self.rl_agent
    # Memories of legacy, or of the user's own, are told one by one: that is what legacy does. A loop with another
    # idea of its agent's kind wants that to store transitions.
    if not stores_together(agent) or notes_of(agent) is None or self.kind is not agent.kind:
        _legacy_collect(self, outcome, episode)
        return
    discount = agent.GAMMA**episode.length
    robots = self.train_env.robots
    active = [i for i, robot in enumerate(robots) if not robot.deactivated]
    for i in active:
        episode.rewards[i] += discount * outcome.rewards[i]
    if agent.training:
        agent.memory.extend([outcome.transition(i) for i in active])
    for i in active:
        robot = robots[i]
        if robot.collision or robot.reach_goal:
            robot.deactivated = True
            episode.deactivated_at[i] = episode.length
