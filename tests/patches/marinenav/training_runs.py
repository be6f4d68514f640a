"""Short training runs, noted down to the last bit."""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

import patches
from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3
from legacy_marinenav.policy import training_loop
from legacy_marinenav.policy.agent import Agent
from legacy_marinenav.policy.trainer import Trainer

AGENTS = ("AC-IQN", "IQN", "DDPG", "DQN", "SAC", "Rainbow")
PIPELINES = ("original", "torchrl")

# The number of robots changes, the ring wraps around, episodes end, an evaluation lies in between.
SCHEDULE = {
    "timesteps": [0, 20],
    "num_robots": [4, 3],
    "num_cores": [1, 1],
    "num_obstacles": [1, 2],
    "min_start_goal_dis": [20.0, 20.0],
}
EVALUATION = {
    "num_episodes": [1],
    "num_robots": [2],
    "num_cores": [0],
    "num_obstacles": [1],
    "min_start_goal_dis": [12.0],
}
EPISODE_LENGTH = 14
LAST_TIMESTEP = 56


class Run:
    """One training run; `record` is everything that must not change."""

    def __init__(
        self, agent_type: str, pipeline: str, *, device: str = "cpu", seed: int = 3
    ) -> None:
        is_rainbow = agent_type == "Rainbow"
        self.agent = Agent(
            agent_type=agent_type,
            seed=seed + 100,
            BUFFER_SIZE=120 if is_rainbow else 70,
            BATCH_SIZE=4 if is_rainbow else 16,
            device=device,
        )
        self.trainer, self.simulator = self._build(pipeline, device, seed)
        self.actions: list[Any] = []
        self.rewards: list[Any] = []
        self.losses: list[Any] = []
        self._watch()
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)

    def _build(self, pipeline: str, device: str, seed: int) -> tuple[Any, Any]:
        options = {"UPDATE_EVERY": 4, "learning_starts": 24, "target_update_interval": 20}
        if pipeline == "original":
            train_env = MarineNavEnv3(seed=seed, schedule=SCHEDULE)
            eval_env = MarineNavEnv3(seed=253, is_eval_env=True)
            return Trainer(train_env, eval_env, EVALUATION, self.agent, **options), train_env
        from legacy_marinenav import MarineNavTorchRLEnv, TorchRLTrainer

        torchrl_env = MarineNavTorchRLEnv(seed=seed, schedule=SCHEDULE, device=device)
        eval_torchrl = MarineNavTorchRLEnv(seed=253, is_eval_env=True, device=device)
        trainer = TorchRLTrainer(
            torchrl_env, eval_torchrl, EVALUATION, self.agent, device=device, **options
        )
        return trainer, torchrl_env._env

    def _watch(self) -> None:
        step, train = self.simulator.step, self.agent.train

        def noted_step(actions: Any, is_continuous_action: bool = True) -> Any:
            self.actions.append(
                [None if a is None else (type(a).__name__, np.asarray(a).tolist()) for a in actions]
            )
            result = step(actions, is_continuous_action)
            self.rewards.append([float(reward) for reward in result[1]])
            return result

        def noted_train() -> Any:
            losses = train()
            several = losses if isinstance(losses, tuple) else (losses,)
            self.losses.append([np.asarray(loss).tolist() for loss in several])
            return losses

        self.simulator.step, self.agent.train = noted_step, noted_train

    def go(self) -> dict[str, Any]:
        """Train, and return what was done and what is left."""
        with tempfile.TemporaryDirectory() as directory:
            self.trainer.learn(LAST_TIMESTEP, 40, directory, verbose=False)
            files = {
                file.name: hashlib.sha256(file.read_bytes()).hexdigest()
                for file in sorted(Path(directory).iterdir())
            }
        agent = self.agent
        generators = [random.random(), np.random.random_sample(), torch.rand(3).tolist()]
        return {
            "actions": self.actions,
            "rewards": self.rewards,
            "losses": self.losses,
            "generators": generators,
            "parameters": _parameters(agent),
            "optimizers": _optimizers(agent),
            "memory": _memory(agent),
            "evaluation": [self.trainer.eval_rewards, self.trainer.eval_energies],
            "files": files,
        }


def run(
    agent_type: str, pipeline: str, steps: Any = None, mode: str = "exact", device: str = "cpu"
) -> dict[str, Any]:
    """A whole run with some steps of the plan, or with none of the patches at all."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if steps is not None:
            stack.enter_context(patches.applied(steps, mode=mode))
        usual, training_loop.MAX_EPISODE_LENGTH = training_loop.MAX_EPISODE_LENGTH, EPISODE_LENGTH
        stack.callback(setattr, training_loop, "MAX_EPISODE_LENGTH", usual)
        return Run(agent_type, pipeline, device=device).go()


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Names of what differs; repr tells every float from every other, negative zeros included."""
    return [name for name in expected if repr(expected[name]) != repr(found[name])]


def _parameters(agent: Any) -> list[Any]:
    return [
        (name, tensor.cpu().tolist())
        for policy in (agent.policy_local, agent.policy_target)
        for network in agent.kind.networks_of(policy)
        for name, tensor in network.state_dict().items()
    ]


def _optimizers(agent: Any) -> list[Any]:
    return [
        [
            {name: value.cpu().tolist() for name, value in state.items()}
            for state in getattr(agent, name).state_dict()["state"].values()
        ]
        for name in agent.kind.optimizer_names
    ]


def _memory(agent: Any) -> list[Any]:
    memory = agent.memory
    if agent.kind.is_prioritized:
        tree = memory.transitions
        data = memory.data if hasattr(memory, "data") else tree.data
        leaves = [tree.sum_tree.tolist(), tree.index, tree.full, float(tree.max), memory.t]
        return [leaves, [data[name].tolist() for name in data.dtype.names]]
    return [
        [np.float32(part).tolist() for part in (s[0], s[1], a, r, n[0], n[1], d)]
        for s, a, r, n, d in memory.memory
    ]
