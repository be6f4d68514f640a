"""What a run is made of, and the tuning profiles: they change what is learnt, so they are no step of a plan."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import SyncprobeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

ALGORITHMS: Final = ("ppo", "dqn")
VECTORS: Final = ("auto", "dummy", "subproc")


class ConfigError(SyncprobeError):
    """A configuration that cannot be run."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """One run; names are the library's. What one algorithm has no use for is ignored by it."""

    algorithm: str = "ppo"
    environment: str = "marinenav"
    n_envs: int = 1
    vector: str = "auto"
    seed: int = 0
    batch_size: int = 64
    net: tuple[int, ...] = (128, 128)
    """Widths of the hidden layers."""
    n_steps: int = 256
    """PPO: vector steps in a rollout."""
    n_epochs: int = 4
    buffer_size: int = 10_000
    """DQN: transitions that are remembered."""
    learning_starts: int = 100
    train_freq: int = 4
    """DQN: vector steps between updates."""

    @property
    def period(self) -> int:
        """Vector steps from one update to the next."""
        return self.n_steps if self.algorithm == "ppo" else self.train_freq

    @property
    def vector_steps_before_learning(self) -> int:
        """Vector steps until the first update is over."""
        if self.algorithm == "ppo":
            return self.n_steps
        rollouts = self.learning_starts // (self.train_freq * self.n_envs) + 1
        return rollouts * self.train_freq


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """One column of the table of tuning profiles."""

    vector: str
    n_envs: int
    ppo: Mapping[str, Any]
    dqn: Mapping[str, Any]

    def values(self, algorithm: str) -> dict[str, Any]:
        """What it sets for an algorithm, the vector class left out."""
        return {"n_envs": self.n_envs, **(self.ppo if algorithm == "ppo" else self.dqn)}


_CPU: Final = Tuning(
    vector="dummy",
    n_envs=1,
    ppo={"batch_size": 64, "n_steps": 256, "n_epochs": 4, "net": (128, 128)},
    dqn={"batch_size": 32, "net": (128, 128), "buffer_size": 10_000},
)
TUNINGS: Final[Mapping[str, Tuning]] = {
    "none": replace(_CPU, vector="auto"),
    "cpu": _CPU,
    "gpu-before": Tuning(
        vector="dummy",
        n_envs=4,
        ppo={"batch_size": 128, "n_steps": 256, "n_epochs": 4, "net": (128, 128)},
        dqn={"batch_size": 64, "net": (128, 128), "buffer_size": 10_000},
    ),
    "gpu": Tuning(
        vector="subproc",
        n_envs=8,
        ppo={"batch_size": 256, "n_steps": 512, "n_epochs": 10, "net": (256, 256)},
        dqn={"batch_size": 128, "net": (256, 256, 256), "buffer_size": 50_000},
    ),
}
"""By name; ``auto`` stands for one of them."""

KNOBS: Final = (
    "n_envs",
    "batch_size",
    "n_steps",
    "n_epochs",
    "net",
    "buffer_size",
    "learning_starts",
    "train_freq",
)
"""What can be set one by one."""


def tuning_named(name: str, *, is_accelerated: bool) -> str:
    """The profile that a name stands for: ``auto`` goes by the device."""
    if name == "auto":
        return "gpu" if is_accelerated else "cpu"
    if name not in TUNINGS:
        raise UnknownNameError("tuning profile of vecenv", name, ("auto", *TUNINGS))
    return name


def configured(
    algorithm: str,
    environment: str,
    *,
    tuning: str = "none",
    envs: int | None = None,
    vector: str | None = None,
    knobs: str = "",
    seed: int = 0,
) -> Config:
    """The values of a tuning profile, then what was asked for by name, then single knobs.

    Raises:
        SyncprobeError: There is no such thing, or a value cannot be.
    """
    if algorithm not in ALGORITHMS:
        raise UnknownNameError("algorithm of vecenv", algorithm, ALGORITHMS)
    if vector is not None and vector not in VECTORS:
        raise UnknownNameError("vector class", vector, VECTORS)
    profile = TUNINGS[tuning]
    values = profile.values(algorithm)
    if envs is not None:
        values["n_envs"] = envs
    values.update(_read_knobs(knobs))
    config = Config(
        algorithm=algorithm,
        environment=environment,
        vector=vector or profile.vector,
        seed=seed,
        **values,
    )
    for each in fields(config):
        value = getattr(config, each.name)
        numbers = value if isinstance(value, tuple) else (value,)
        if each.name in KNOBS and min(numbers) < (0 if each.name == "learning_starts" else 1):
            raise ConfigError(f"{each.name} cannot be {value}.")
    if algorithm == "ppo" and config.n_envs * config.n_steps < 2:
        raise ConfigError("A rollout needs at least two transitions: more n_envs or n_steps.")
    return config


def _read_knobs(text: str) -> dict[str, Any]:
    """Settings such as ``n_steps=64,net=64x64``."""
    chosen: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.strip().partition("=")
        if name not in KNOBS:
            raise UnknownNameError("setting of vecenv", name, KNOBS)
        numbers = value.split("x")
        if not all(number.isdecimal() for number in numbers) or (
            name != "net" and len(numbers) != 1
        ):
            raise ConfigError(f"--set {part} is not understood. Write n_steps=64 or net=64x64.")
        chosen[name] = tuple(map(int, numbers)) if name == "net" else int(value)
    return chosen
