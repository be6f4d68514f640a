"""The loop that both pipelines run: act, step, store, learn, evaluate."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils.schedule import check_eval_schedule
from legacy_marinenav.policy.agent_kinds import agent_kind
from legacy_marinenav.policy.evaluation import Evaluation
from legacy_marinenav.policy.evaluation_file import FILE_NAME, save_evaluations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from legacy_marinenav.policy.agent_kinds import AgentKind

MAX_EPISODE_LENGTH = 1000

RESULTS = (
    "timesteps",
    "observations",
    "actions",
    "trajectories",
    "rewards",
    "successes",
    "times",
    "energies",
    "relations",
)
"""Evaluation results; the loop collects each in a list named ``eval_<name>``."""


class Episode:
    """What the loop keeps about the training episode under way."""

    def __init__(self, num_robots: int) -> None:
        self.rewards = np.zeros(num_robots)
        self.deactivated_at = [-1] * num_robots
        self.length = 0


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """What one step of the training environment led to."""

    observation: Any
    """What the next step starts from."""
    rewards: Sequence[float]
    transition: Callable[[int], tuple[Any, ...]]
    """State, action, reward, next state and done flag of a robot."""


class TrainingLoop(ABC):
    """Base of `Trainer` and `TorchRLTrainer`; they differ in how they talk to their environments.

    Constructing a loop resets the evaluation environment once per evaluation episode to draw its layouts.
    """

    def __init__(
        self,
        train_env: Any,
        eval_env: Any,
        eval_schedule: dict[str, list[Any]],
        rl_agent: Any,
        *,
        UPDATE_EVERY: int,
        learning_starts: int,
        target_update_interval: int,
        exploration_fraction: float,
        initial_eps: float,
        final_eps: float,
        imitation: bool,
        il_agent: Any,
    ) -> None:
        self.train_env = train_env
        self.eval_env = eval_env
        self.rl_agent = rl_agent
        self.eval_config: list[dict[str, Any]] = []
        self.create_eval_configs(eval_schedule)

        self.UPDATE_EVERY = UPDATE_EVERY
        self.learning_starts = 0 if imitation else learning_starts
        self.target_update_interval = target_update_interval
        self.exploration_fraction = exploration_fraction
        self.initial_eps = initial_eps
        self.final_eps = final_eps
        self.imitation = imitation
        self.il_agent = il_agent
        if imitation:
            assert il_agent is not None, "Imitation learning needs an il_agent to imitate."

        self.current_timestep = 0
        self.learning_timestep = 0
        for name in RESULTS:
            setattr(self, f"eval_{name}", [])

    @property
    def kind(self) -> AgentKind:
        """Row of the learning agent in the table of agents."""
        return agent_kind(self.rl_agent.agent_type)

    @property
    @abstractmethod
    def eval_simulator(self) -> Any:
        """The `MarineNavEnv3` behind the evaluation environment."""

    @abstractmethod
    def _reset_training(self) -> Any:
        """Begin a training episode and return its first observation."""

    @abstractmethod
    def _step_training(self, observation: Any, eps: float) -> StepOutcome:
        """Choose actions with exploration rate ``eps`` and step the training environment."""

    @abstractmethod
    def _reset_evaluation(self, config: dict[str, Any]) -> Any:
        """Set up an evaluation episode and return its first observation."""

    @abstractmethod
    def _step_evaluation(self, observation: Any) -> tuple[Any, Sequence[float]]:
        """Choose actions without exploration, step, and return the next observation and the rewards."""

    @abstractmethod
    def _robot_states(self) -> list[str]:
        """How each robot of the training environment is doing, in words."""

    def create_eval_configs(self, eval_schedule: dict[str, list[Any]]) -> None:
        """Draw the layouts of all evaluation episodes from the evaluation environment."""
        check_eval_schedule(eval_schedule)
        simulator = self.eval_simulator
        for stage, num_episodes in enumerate(eval_schedule["num_episodes"]):
            for _ in range(num_episodes):
                simulator.num_robots = eval_schedule["num_robots"][stage]
                simulator.num_cores = eval_schedule["num_cores"][stage]
                simulator.num_obs = eval_schedule["num_obstacles"][stage]
                simulator.min_start_goal_dis = eval_schedule["min_start_goal_dis"][stage]
                simulator.reset()
                self.eval_config.append(simulator.episode_data())

    def save_eval_config(self, directory: str | Path) -> None:
        """Write the layouts of the evaluation episodes to ``eval_configs.json``."""
        with (Path(directory) / "eval_configs.json").open("w") as file:
            json.dump(self.eval_config, file)

    def learn(
        self, total_timesteps: int, eval_freq: int, eval_log_path: str | Path, verbose: bool = True
    ) -> None:
        """Train for ``total_timesteps`` + 1 steps.

        Args:
            total_timesteps: The last timestep.
            eval_freq: Evaluate and save whenever the timestep is a multiple of it, and when learning starts.
            eval_log_path: Directory for evaluations and models.
            verbose: Print a block after each episode.
        """
        observation = self._reset_training()
        episode = Episode(len(self.train_env.robots))
        ep_num = 0
        eps = 0.0
        while self.current_timestep <= total_timesteps:
            if not self.imitation:
                eps = self.linear_eps(total_timesteps)
            outcome = self._step_training(observation, eps)
            self._collect(outcome, episode)
            end_episode = (
                episode.length >= MAX_EPISODE_LENGTH or self.train_env.check_all_deactivated()
            )

            if self.current_timestep >= self.learning_starts and self.rl_agent.training:
                self._learn_if_due(eval_freq, eval_log_path)

            if end_episode:
                ep_num += 1
                if verbose:
                    self._print_episode(episode, ep_num, eps, total_timesteps)
                observation = self._reset_training()
                episode = Episode(len(self.train_env.robots))
            else:
                observation = outcome.observation
                episode.length += 1
            self.current_timestep += 1

    def linear_eps(self, total_timesteps: int) -> float:
        """Exploration rate of the current timestep."""
        progress = self.current_timestep / total_timesteps
        if progress < self.exploration_fraction:
            fraction = progress / self.exploration_fraction
            return self.initial_eps + fraction * (self.final_eps - self.initial_eps)
        return self.final_eps

    def _collect(self, outcome: StepOutcome, episode: Episode) -> None:
        """Store the transitions of active robots and deactivate those that collided or arrived."""
        for i, robot in enumerate(self.train_env.robots):
            if robot.deactivated:
                continue
            episode.rewards[i] += self.rl_agent.GAMMA**episode.length * outcome.rewards[i]
            if self.rl_agent.training:
                self.kind.store(self.rl_agent.memory, *outcome.transition(i))
            if robot.collision or robot.reach_goal:
                robot.deactivated = True
                episode.deactivated_at[i] = episode.length

    def _learn_if_due(self, eval_freq: int, eval_log_path: str | Path) -> None:
        timestep = self.current_timestep
        agent = self.rl_agent
        if timestep % self.UPDATE_EVERY == 0 and self.kind.stored(agent.memory) > agent.BATCH_SIZE:
            agent.train()
        if timestep % self.target_update_interval == 0:
            agent.soft_update()
        if timestep == self.learning_starts or timestep % eval_freq == 0:
            self.evaluation()
            self.save_evaluation(eval_log_path)
            agent.save_latest_model(eval_log_path)

    def evaluation(self) -> None:
        """Run the policy on every evaluation layout and append the results to the ``eval_*`` lists.

        Shares the random generators with training, which it therefore moves on.
        """
        results = Evaluation()
        for number, config in enumerate(self.eval_config):
            print(f"Evaluating episode {number}")
            self._evaluate_episode(config, results)
        results.averages().show()
        self.eval_timesteps.append(self.current_timestep)
        for name in RESULTS[1:]:
            getattr(self, f"eval_{name}").append(getattr(results, name))

    def _evaluate_episode(self, config: dict[str, Any], results: Evaluation) -> None:
        observation = self._reset_evaluation(config)
        robots = self.eval_env.robots
        rewards, times, energies = ([0.0] * len(robots) for _ in range(3))
        length = 0
        end_episode = False
        while not end_episode:
            observation, step_rewards = self._step_evaluation(observation)
            for i, robot in enumerate(robots):
                if robot.deactivated:
                    continue
                rewards[i] += self.rl_agent.GAMMA**length * step_rewards[i]
                times[i] += robot.dt * robot.N
                energies[i] += robot.compute_step_energy_cost()
                if robot.collision or robot.reach_goal:
                    robot.deactivated = True
            end_episode = (
                length >= MAX_EPISODE_LENGTH
                or self.eval_env.check_any_collision()
                or self.eval_env.check_all_deactivated()
            )
            length += 1
        results.add_episode(robots, self.eval_env.check_all_reach_goal(), rewards, times, energies)

    def save_evaluation(self, directory: str | Path) -> None:
        """Write the results of all evaluations so far to ``evaluations.npz``."""
        results = {name: getattr(self, f"eval_{name}") for name in RESULTS}
        save_evaluations(Path(directory) / FILE_NAME, results)

    def _print_episode(
        self, episode: Episode, ep_num: int, eps: float, total_timesteps: int
    ) -> None:
        print(f"======== {'IL' if self.imitation else 'RL'} Episode Info ========")
        print("current ep_length: ", episode.length)
        print("current ep_num: ", ep_num)
        if not self.imitation:
            print("current exploration rate: ", eps)
        print("current timesteps: ", self.current_timestep)
        print("total timesteps: ", total_timesteps)
        print("======== Episode Info ========\n")
        print("======== Robots Info ========")
        for i, state in enumerate(self._robot_states()):
            when = (
                f" at step {episode.deactivated_at[i]}" if state.startswith("deactivated") else ""
            )
            print(f"Robot {i} ep reward: {episode.rewards[i]:.2f}, {state}{when}")
        print("======== Robots Info ========\n")
