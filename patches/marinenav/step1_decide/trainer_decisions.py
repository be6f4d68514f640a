"""The original trainer decides for all active robots at once.

Replaces: policy.trainer:Trainer._step_training, _step_evaluation
Removes:  one act call per robot and step
Keeps:    which robots act and in which order, what the environment is told, what a step returns
"""

from __future__ import annotations

from typing import Any

from legacy_marinenav.policy.agent_kinds import agent_kind
from legacy_marinenav.policy.trainer import Trainer
from legacy_marinenav.policy.training_loop import StepOutcome
from patches.marinenav.agents import notes_of

_legacy_step_training = Trainer._step_training  # noqa: SLF001
_legacy_step_evaluation = Trainer._step_evaluation  # noqa: SLF001


def decide(robots: list[Any], states: list[Any], agent: Any, **options: Any) -> list[Any]:
    """Actions of all robots, None for those that are deactivated."""
    active = [i for i, robot in enumerate(robots) if not robot.deactivated]
    actions: list[Any] = [None] * len(robots)
    # Asked through the instance, so that outside code can wrap it.
    chosen = agent.act_batch([states[i] for i in active], **options)
    for i, action in zip(active, chosen, strict=True):
        actions[i] = action
    return actions


def step_training(self: Any, states: list[Any], eps: float) -> Any:
    """`Trainer._step_training`: decide for all active robots, then move them."""
    agent = self.il_agent if self.imitation else self.rl_agent
    if notes_of(agent) is None:
        return _legacy_step_training(self, states, eps)
    kind = agent_kind(agent.agent_type)
    actions = decide(self.train_env.robots, states, agent, eps=eps, use_eval=False)
    next_states, rewards, dones, self._infos = self.train_env.step(actions, kind.is_continuous)

    def transition(i: int) -> tuple[Any, ...]:
        return states[i], actions[i], rewards[i], next_states[i], dones[i]

    return StepOutcome(next_states, rewards, transition)


def step_evaluation(self: Any, states: list[Any]) -> tuple[list[Any], Any]:
    """`Trainer._step_evaluation`: the same without exploration."""
    if notes_of(self.rl_agent) is None or self.kind is not self.rl_agent.kind:
        return _legacy_step_evaluation(self, states)
    actions = decide(self.eval_env.robots, states, self.rl_agent)
    next_states, rewards, _, _ = self.eval_env.step(actions, self.kind.is_continuous)
    return next_states, rewards
