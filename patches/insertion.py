"""Transitions of all robots of a step go into the memory together.

Replaces: policy.training_loop:TrainingLoop._collect
Removes:  one call chain, and with a device memory one upload, per robot and step
Keeps:    the order of transitions, episode rewards to the bit, who is deactivated and when
"""

from __future__ import annotations

from typing import Any

from legacy_marinenav.policy.training_loop import TrainingLoop
from patches.agents import notes_of
from patches.replacement import Replacement

_legacy_collect = TrainingLoop._collect  # noqa: SLF001


def _collect(self: Any, outcome: Any, episode: Any) -> None:
    agent = self.rl_agent
    if notes_of(agent) is None:
        _legacy_collect(self, outcome, episode)
        return
    discount = agent.GAMMA**episode.length
    robots = self.train_env.robots
    active = [i for i, robot in enumerate(robots) if not robot.deactivated]
    for i in active:
        episode.rewards[i] += discount * outcome.rewards[i]
    if agent.training:
        store_all(agent, [outcome.transition(i) for i in active])
    for i in active:
        robot = robots[i]
        if robot.collision or robot.reach_goal:
            robot.deactivated = True
            episode.deactivated_at[i] = episode.length


def store_all(agent: Any, transitions: list[tuple[Any, ...]]) -> None:
    """Put transitions into whatever memory the agent has, at once if it can."""
    memory = agent.memory
    extend = getattr(memory, "extend", None)
    if extend is not None:
        extend(transitions)
        return
    for transition in transitions:
        agent.kind.store(memory, *transition)


REPLACEMENTS = (
    Replacement("legacy_marinenav.policy.training_loop:TrainingLoop", "_collect", _collect),
)
