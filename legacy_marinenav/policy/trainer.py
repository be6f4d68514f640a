"""Training on the environment itself, one robot at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from legacy_marinenav.policy.agent_kinds import agent_kind
from legacy_marinenav.policy.training_loop import StepOutcome, TrainingLoop

if TYPE_CHECKING:
    from collections.abc import Sequence


class Trainer(TrainingLoop):
    """Trains an agent on a `MarineNavEnv3` and evaluates it on another.

    Args:
        train_env: The environment to learn in.
        eval_env: The environment to evaluate in, which must keep histories (``is_eval_env``).
        eval_schedule: Lists ``num_episodes``, ``num_robots``, ``num_cores``, ``num_obstacles`` and
            ``min_start_goal_dis``, one entry per group of evaluation episodes.
        rl_agent: The agent that learns.
        UPDATE_EVERY: Timesteps between training steps.
        learning_starts: First timestep with a training step and an evaluation.
        target_update_interval: Timesteps between updates of the target policy.
        exploration_fraction: Share of the run over which exploration decreases.
        initial_eps: Exploration rate at the start.
        final_eps: Exploration rate from then on.
        imitation: Let ``il_agent`` act from the first timestep on.
        il_agent: The agent to learn from.
    """

    def __init__(
        self,
        train_env: Any,
        eval_env: Any,
        eval_schedule: dict[str, list[Any]],
        rl_agent: Any,
        UPDATE_EVERY: int = 4,
        learning_starts: int = 2000,
        target_update_interval: int = 10000,
        exploration_fraction: float = 0.25,
        initial_eps: float = 0.6,
        final_eps: float = 0.05,
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
        self._infos: list[dict[str, str]] = []

    @property
    def eval_simulator(self) -> Any:
        """The evaluation environment."""
        return self.eval_env

    def _reset_training(self) -> list[Any]:
        states, _, _ = self.train_env.reset()
        return states

    def _step_training(self, states: list[Any], eps: float) -> StepOutcome:
        agent = self.il_agent if self.imitation else self.rl_agent
        kind = agent_kind(agent.agent_type)
        actions = [
            None if robot.deactivated else kind.act(agent, state, eps=eps, use_eval=False)
            for robot, state in zip(self.train_env.robots, states, strict=True)
        ]
        next_states, rewards, dones, self._infos = self.train_env.step(actions, kind.is_continuous)

        def transition(i: int) -> tuple[Any, ...]:
            return states[i], actions[i], rewards[i], next_states[i], dones[i]

        return StepOutcome(next_states, rewards, transition)

    def _reset_evaluation(self, config: dict[str, Any]) -> list[Any]:
        states, _, _ = self.eval_env.reset_with_eval_config(config)
        return states

    def _step_evaluation(self, states: list[Any]) -> tuple[list[Any], Sequence[float]]:
        actions = [
            None if robot.deactivated else self.kind.act(self.rl_agent, state)
            for robot, state in zip(self.eval_env.robots, states, strict=True)
        ]
        next_states, rewards, _, _ = self.eval_env.step(actions, self.kind.is_continuous)
        return next_states, rewards

    def _robot_states(self) -> list[str]:
        return [info["state"] for info in self._infos]
