"""The training loop: the library's own, with a name for each part that patches can replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.buffers import ReplayBuffer, RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback

from syncprobe.workloads.vecenv.environments import makers
from syncprobe.workloads.vecenv.vectors import Vectors, make_vec

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from syncprobe.workloads.vecenv.config import Config


class Rollouts(RolloutBuffer):
    """What PPO collects between two updates."""

    def contents(self) -> Mapping[str, Any]:
        """What is in it as arrays by step and environment, for those who look on.

        Rewards are complete, and advantages there, once the rollout is over.
        """
        known = ("observations", "actions", "episode_starts", "values", "log_probs")
        worked_out = ("rewards", "advantages", "returns") if self.full else ()
        return {
            name: self.unflattened(self.array_of(name))[: self.pos]
            for name in (*known, *worked_out)
        }

    def array_of(self, name: str) -> Any:
        """One of its arrays, as it is."""
        return getattr(self, name)

    def unflattened(self, array: Any) -> Any:
        """An array by step and environment: minibatches have it the other way round, and flat."""
        if array.shape[:2] == (self.buffer_size, self.n_envs):
            return np.array(array).reshape(self.buffer_size, self.n_envs, -1)
        by_environment = array.reshape(self.n_envs, self.buffer_size, -1)
        return np.array(by_environment.swapaxes(0, 1))


class Replay(ReplayBuffer):
    """What DQN remembers."""

    def contents(self) -> Mapping[str, Any]:
        """Everything in it as arrays, in the order of their places, for those who look on."""
        filled = self.buffer_size if self.full else self.pos
        names = ("observations", "actions", "next_observations", "rewards")
        ends = self.dones[:filled] * (1 - self.timeouts[:filled])
        return {**{name: getattr(self, name)[:filled] for name in names}, "ends": ends}


class Ppo(PPO):
    """The library's PPO."""

    def logged(self) -> dict[str, Any]:
        """What the last update noted for the log."""
        return _training_notes(self.logger.name_to_value)


class Dqn(DQN):
    """The library's DQN."""

    def logged(self) -> dict[str, Any]:
        """What the last update noted for the log."""
        return _training_notes(self.logger.name_to_value)


@dataclass(frozen=True, kw_only=True)
class Training:
    """A model and its environments."""

    config: Config
    model: Any
    vectors: Vectors

    def run(self, vector_steps: int) -> None:
        """Train for so many steps of all environments, with the update that they complete."""
        total = vector_steps * self.config.n_envs
        self.model.learn(total, callback=_Stop(vector_steps, self.config.period))

    def close(self) -> None:
        """End worker processes."""
        self.vectors.env.close()


class _Stop(BaseCallback):
    """Ends a run within a rollout; one that ends with a rollout ends by itself, after its update."""

    def __init__(self, last: int, period: int) -> None:
        super().__init__()
        self._last = last if last % period else None

    def _on_step(self) -> bool:
        return self.n_calls != self._last


def build(
    config: Config,
    device: str,
    *,
    is_accelerated: bool = False,
    watch: Callable[[Any], Any] | None = None,
) -> Training:
    """Environments and a model, all seeded.

    Args:
        config: What to build.
        device: Where the networks are.
        is_accelerated: They leave the CPU's cores alone.
        watch: Wraps each environment where it runs.
    """
    vectors = make_vec(
        makers(config.environment, config.n_envs, watch),
        config.vector,
        is_accelerated=is_accelerated,
    )
    try:
        model = (_ppo if config.algorithm == "ppo" else _dqn)(config, vectors.env, device)
    except BaseException:
        vectors.env.close()
        raise
    return Training(config=config, model=model, vectors=vectors)


def _ppo(config: Config, env: Any, device: str) -> Any:
    net = list(config.net)
    return Ppo(
        "MlpPolicy",
        env,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.n_epochs,
        rollout_buffer_class=Rollouts,
        policy_kwargs={"net_arch": {"pi": net, "vf": net}},
        device=device,
        seed=config.seed,
    )


def _dqn(config: Config, env: Any, device: str) -> Any:
    return Dqn(
        "MlpPolicy",
        env,
        batch_size=config.batch_size,
        buffer_size=config.buffer_size,
        learning_starts=config.learning_starts,
        train_freq=config.train_freq,
        replay_buffer_class=Replay,
        policy_kwargs={"net_arch": list(config.net)},
        device=device,
        seed=config.seed,
    )


def _training_notes(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name.startswith("train/")}
