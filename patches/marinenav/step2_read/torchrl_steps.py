"""The TorchRL trainer takes rewards, flags and states from the host, where they came from.

Replaces: torchrl_gpu.torchrl_trainer:TorchRLTrainer._step_training, _step_evaluation
Removes:  two reads per step and seven per robot and step
Keeps:    transitions as legacy rebuilds them: float32 values, action arrays (indices as int), float32 rewards
"""

from __future__ import annotations

from typing import Any

from legacy_marinenav.policy.training_loop import StepOutcome
from legacy_marinenav.torchrl_gpu.robot_rows import read_robot_state
from legacy_marinenav.torchrl_gpu.torchrl_trainer import TorchRLTrainer
from patches.marinenav.rows import as_state
from patches.marinenav.torchrl_environment import environment_notes

_legacy_step_training = TorchRLTrainer._step_training  # noqa: SLF001
_legacy_step_evaluation = TorchRLTrainer._step_evaluation  # noqa: SLF001


def step_training(self: Any, observation: Any, eps: float) -> Any:
    """`TorchRLTrainer._step_training`: what came of the step, as the host already knows it."""
    notes = environment_notes(self.train_env)
    if notes is None:
        return _legacy_step_training(self, observation, eps)
    self.policy_wrapper.set_epsilon(eps)
    observation = self.policy_wrapper(observation)
    next_observation = self.train_env.step(observation)
    before, after = notes.find(observation), notes.find(next_observation)
    if before is None or after is None or before.actions is None:
        return _outcome_from_device(self, observation, next_observation)
    is_continuous = self.policy_wrapper.is_continuous

    def transition(i: int) -> tuple[Any, ...]:
        action = before.actions[i] if is_continuous else int(before.actions[i, 0])
        return (
            as_state(before.rows[i]),
            action,
            after.rewards[i],
            as_state(after.rows[i]),
            after.dones[i],
        )

    return StepOutcome(next_observation, after.rewards, transition)


def _outcome_from_device(self: Any, observation: Any, next_observation: Any) -> Any:
    """Somebody put other tensordicts in place of the environment's own: read what they say."""
    rewards = next_observation["reward"].cpu().numpy().flatten()
    dones = next_observation["done"].cpu().numpy().flatten()

    def transition(i: int) -> tuple[Any, ...]:
        action = observation["action"][i].cpu().numpy()
        if not self.policy_wrapper.is_continuous:
            action = int(action[0])
        state = read_robot_state(observation, i)
        return state, action, rewards[i], read_robot_state(next_observation, i), dones[i]

    return StepOutcome(next_observation, rewards, transition)


def step_evaluation(self: Any, observation: Any) -> tuple[Any, Any]:
    """`TorchRLTrainer._step_evaluation`: the same without exploration."""
    notes = environment_notes(self.eval_env)
    if notes is None:
        return _legacy_step_evaluation(self, observation)
    next_observation = self.eval_env._step(self.policy_wrapper(observation))  # noqa: SLF001
    after = notes.find(next_observation)
    if after is None:
        return next_observation, next_observation["reward"].cpu().numpy().flatten()
    return next_observation, after.rewards
