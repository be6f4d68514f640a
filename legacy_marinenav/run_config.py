"""Training configurations: read, checked in full before anything runs, and expanded into trials."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from legacy_marinenav.errors import (
    ConfigurationError,
    DeviceUnavailableError,
    RunDirectoryExistsError,
)
from legacy_marinenav.marinenav_env.envs.utils.schedule import (
    check_eval_schedule,
    check_training_schedule,
)
from legacy_marinenav.policy.agent_kinds import agent_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

CONFIG_DIRECTORY = Path(__file__).parent / "config"
SMALL_CONFIG = CONFIG_DIRECTORY / "small.json"

AGENT_SEED_OFFSET = 100
EVAL_SEED = 253
# numpy takes 32 bits, and the agent's networks use the seed plus the offset and up to 2.
MAX_SEED = 2**32 - 1 - AGENT_SEED_OFFSET - 2

SCHEDULES: dict[str, Callable[[Any], None]] = {
    "training_schedule": check_training_schedule,
    "eval_schedule": check_eval_schedule,
}
SIZES = ("total_timesteps", "eval_freq", "learning_starts", *SCHEDULES)
"""What makes a run long or short; a small run takes these from the small configuration."""


def _is_whole(value: Any, smallest: int, largest: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and smallest <= value <= largest


REQUIRED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "seed": (lambda value: _is_whole(value, 0, MAX_SEED), f"whole numbers from 0 to {MAX_SEED}"),
    "total_timesteps": (lambda value: _is_whole(value, 1), "whole numbers from 1"),
    "eval_freq": (lambda value: _is_whole(value, 1), "whole numbers from 1"),
    "save_dir": (lambda value: isinstance(value, str) and bool(value), "the path of a directory"),
    "imitation_learning": (lambda value: isinstance(value, bool), "false"),
    "agent_type": (lambda value: isinstance(value, str), "the name of an agent type"),
}
OPTIONAL: dict[str, tuple[Callable[[Any], bool], str]] = {
    "load_model": (
        lambda value: isinstance(value, str) and bool(value),
        "the path of a model directory",
    ),
    "learning_starts": (lambda value: _is_whole(value, 0), "whole numbers from 0"),
}


def read_config(path: str | Path) -> dict[str, Any]:
    """Read a configuration file without looking at what it says.

    Raises:
        ConfigurationError: There is no such file, or it does not hold a JSON object.
    """
    try:
        config = json.loads(Path(path).read_text())
    except OSError as error:
        raise ConfigurationError(
            f"config-file: {path} cannot be read ({error.strerror})"
        ) from error
    except ValueError as error:
        raise ConfigurationError(f"config-file: {path} is not JSON ({error})") from error
    if not isinstance(config, dict):
        raise ConfigurationError(
            f"config-file: {path} must hold a JSON object, not {type(config).__name__}"
        )
    return config


def shrink(config: dict[str, Any]) -> dict[str, Any]:
    """The same training with the lengths and schedules of the small configuration."""
    small = read_config(SMALL_CONFIG)
    return {**config, **{key: small[key] for key in SIZES}}


def check_config(config: dict[str, Any]) -> None:
    """Refuse a configuration that could not be trained to its end.

    Raises:
        ConfigurationError: Names the key and what is allowed.
        UnknownAgentTypeError: Likewise, for the agent type.
    """
    known = [*REQUIRED, *SCHEDULES, *OPTIONAL]
    for key in (*REQUIRED, *SCHEDULES):
        if key not in config:
            raise ConfigurationError(
                f"{key}: the key is missing from the configuration; needed: {', '.join(known[:8])}"
            )
    for key in config:
        if key not in known:
            raise ConfigurationError(f"{key}: there is no such key; allowed: {', '.join(known)}")
    for key, (is_allowed, allowed) in {**REQUIRED, **OPTIONAL}.items():
        if key in config:
            _check_values(key, config[key], is_allowed, allowed)
    _check_schedules(config)

    if True in _alternatives(config["imitation_learning"]):
        raise ConfigurationError(
            "imitation_learning: true cannot work, there is no agent to imitate; allowed: false"
        )
    kinds = [agent_kind(agent_type) for agent_type in _alternatives(config["agent_type"])]
    for directory, kind in itertools.product(_alternatives(config.get("load_model", [])), kinds):
        kind.load_policy(directory)


def check_device(device: str) -> None:
    """Refuse a device that torch cannot put tensors on.

    Raises:
        DeviceUnavailableError: Names the device and torch's reason.
    """
    try:
        if torch.device(device).type == "meta":
            raise DeviceUnavailableError(device, "it holds no values")
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise DeviceUnavailableError(device, str(error).splitlines()[0]) from error


def make_trials(config: dict[str, Any]) -> list[dict[str, Any]]:
    """One set of parameters per combination of alternatives, with schedules and start time.

    Raises:
        ConfigurationError: Two trials would share a directory, or one exists already.
    """
    schedules = {key: config[key] for key in SCHEDULES}
    parameters = {key: value for key, value in config.items() if key not in SCHEDULES}
    training_time = time.strftime("%Y-%m-%d-%H-%M-%S")
    trials = [
        {**trial, "training_time": training_time, **schedules} for trial in trial_params(parameters)
    ]
    directories = [run_directory(trial) for trial in trials]
    for directory in directories:
        if directory.exists():
            raise RunDirectoryExistsError(directory)
        if directories.count(directory) > 1:
            raise ConfigurationError(
                f"seed: several trials would write to {directory}; give each its own seed or save_dir"
            )
    return trials


def run_directory(trial: dict[str, Any]) -> Path:
    """Where a trial writes its files."""
    return Path(trial["save_dir"]) / f"training_{trial['training_time']}" / f"seed_{trial['seed']}"


def product(*pools: Iterable[Any], repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    """Cartesian product, the last pool varying fastest."""
    yield from itertools.product(*pools, repeat=repeat)


def trial_params(params: Any) -> list[Any]:
    """All combinations of alternatives: a list offers some, a dictionary combines those of its values."""
    if isinstance(params, (str, int, float)):
        return [params]
    if isinstance(params, list):
        return params
    if isinstance(params, dict):
        choices = product(*(trial_params(value) for value in params.values()))
        return [dict(zip(params, values, strict=True)) for values in choices]
    raise TypeError(f"A parameter must be text, a number, a list or a dictionary, not {params!r}.")


def _check_values(key: str, value: Any, is_allowed: Callable[[Any], bool], allowed: str) -> None:
    alternatives = _alternatives(value)
    if not alternatives:
        raise ConfigurationError(f"{key}: the list is empty; allowed: {allowed}")
    for alternative in alternatives:
        if not is_allowed(alternative):
            raise ConfigurationError(f"{key}: {alternative!r} is not allowed; allowed: {allowed}")


def _check_schedules(config: dict[str, Any]) -> None:
    for key, check in SCHEDULES.items():
        try:
            check(config[key])
        except ValueError as error:
            raise ConfigurationError(str(error)) from error
    if not sum(config["eval_schedule"]["num_episodes"]):
        raise ConfigurationError(
            "eval_schedule: 'num_episodes' has no episode at all; allowed: at least one"
        )


def _alternatives(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
