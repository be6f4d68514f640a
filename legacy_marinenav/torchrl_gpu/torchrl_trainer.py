"""Training through TorchRL environments and the policy wrapper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from legacy_marinenav.policy.training_loop import StepOutcome, TrainingLoop
from legacy_marinenav.torchrl_gpu.policy_wrapper import PolicyWrapper
from legacy_marinenav.torchrl_gpu.robot_rows import read_robot_state

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensordict import TensorDictBase


class TorchRLTrainer(TrainingLoop):
    """Trains an agent on a `MarineNavTorchRLEnv` and evaluates it on another.

    Takes the arguments of `Trainer` and three more: ``device``, and ``buffer_size`` and ``batch_size``, which have
    no influence because the agent brings its own.
    """

    def __init__(
        self,
        train_env: Any,
        eval_env: Any,
        eval_schedule: dict[str, list[Any]],
        rl_agent: Any,
        device: str = "cuda",
        UPDATE_EVERY: int = 4,
        learning_starts: int = 2000,
        target_update_interval: int = 10000,
        exploration_fraction: float = 0.25,
        initial_eps: float = 0.6,
        final_eps: float = 0.05,
        buffer_size: int = 1_000_000,  # noqa: ARG002 - part of the interface
        batch_size: int = 64,
        imitation: bool = False,
        il_agent: Any = None,
    ) -> None:
        super().__init__(
            train_env,
            eval_env,
            eval_schedule,
            rl_agent,
            UPDATE_EVERY=UPDATE_EVERY,
            learning_starts=learning_starts,
            target_update_interval=target_update_interval,
            exploration_fraction=exploration_fraction,
            initial_eps=initial_eps,
            final_eps=final_eps,
            imitation=imitation,
            il_agent=il_agent,
        )
        self.device = device
        self.batch_size = batch_size
        self.policy_wrapper = PolicyWrapper(
            il_agent if imitation else rl_agent, train_env.max_obj_num
        )

    @property
    def eval_simulator(self) -> Any:
        """The environment that the evaluation environment wraps."""
        return self.eval_env._env  # noqa: SLF001

    def _reset_training(self) -> TensorDictBase:
        return self.train_env.reset()

    def _step_training(self, observation: TensorDictBase, eps: float) -> StepOutcome:
        self.policy_wrapper.set_epsilon(eps)
        observation = self.policy_wrapper(observation)
        next_observation = self.train_env.step(observation)
        rewards = next_observation["reward"].cpu().numpy().flatten()
        dones = next_observation["done"].cpu().numpy().flatten()

        def transition(i: int) -> tuple[Any, ...]:
            state = read_robot_state(observation, i)
            next_state = read_robot_state(next_observation, i)
            action = observation["action"][i].cpu().numpy()
            if not self.policy_wrapper.is_continuous:
                action = int(action[0])
            return state, action, rewards[i], next_state, dones[i]

        return StepOutcome(next_observation, rewards, transition)

    def evaluation(self) -> None:
        """Evaluate as `TrainingLoop.evaluation` does, with the wrapper out of its training mode."""
        self.policy_wrapper.set_training_mode(False)
        try:
            super().evaluation()
        finally:
            self.policy_wrapper.set_training_mode(True)

    def _reset_evaluation(self, config: dict[str, Any]) -> TensorDictBase:
        return self.eval_env.reset_with_eval_config(config)

    def _step_evaluation(
        self, observation: TensorDictBase
    ) -> tuple[TensorDictBase, Sequence[float]]:
        next_observation = self.eval_env._step(self.policy_wrapper(observation))  # noqa: SLF001
        return next_observation, next_observation["reward"].cpu().numpy().flatten()

    def _robot_states(self) -> list[str]:
        return [_state_in_words(robot) for robot in self.train_env.robots]


def _state_in_words(robot: Any) -> str:
    if not robot.deactivated:
        return "normal"
    return "deactivated after collision" if robot.collision else "deactivated after reaching goal"
