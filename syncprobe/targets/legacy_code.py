"""The code base that targets run and verifications compare: named, built, seeded and fed from outside."""

from __future__ import annotations

import importlib
import logging
import random
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from syncprobe.errors import SyncprobeError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

AGENTS: Final = ("AC-IQN", "IQN", "DDPG", "DQN", "SAC", "Rainbow")
PIPELINES: Final = ("original", "torchrl")

# Legacy code and patches are named, not imported, so that syncprobe installs alone.
ENVIRONMENT: Final = "legacy_marinenav.marinenav_env.envs.marinenav_env:MarineNavEnv3"
TORCHRL_ENVIRONMENT: Final = "legacy_marinenav:MarineNavTorchRLEnv"
AGENT: Final = "legacy_marinenav.policy.agent:Agent"
AGENT_KINDS: Final = "legacy_marinenav.policy.agent_kinds:AGENT_KINDS"
TRAINER: Final = "legacy_marinenav.policy.trainer:Trainer"
TORCHRL_TRAINER: Final = "legacy_marinenav:TorchRLTrainer"
PATCHES: Final = "patches:applied"
PLANS: Final = {
    "original": "patches:PLAN",
    "torchrl": "patches:PLAN",
    "uara": "patches.uara.plan:PLAN",
    "packing": "patches.packing.plan:PLAN",
    "vecenv": "patches.vecenv.plan:PLAN",
}
"""The plan for each pipeline: those of MarineNav, and the workloads."""

EVALUATION_SEED: Final = 253
"""What the training scripts seed their evaluation environment with."""

Schedule = dict[str, list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What it takes to build a trainer."""

    agent: str
    seed: int
    schedule: Schedule
    eval_schedule: Schedule
    agent_options: Mapping[str, Any] = field(default_factory=dict)
    trainer_options: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)
    """Attributes of both simulators that differ from their defaults, such as the width of the map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A trainer and what it is made of."""

    trainer: Any
    agent: Any
    environment: Any
    """What the trainer steps."""
    simulator: Any
    """The environment itself, or what it wraps."""


def build(pipeline: str, recipe: Recipe, device: str) -> Parts:
    """Environments, agent and trainer, as the training script of the pipeline makes them."""
    if pipeline == "original":
        make, make_trainer, placed = resolve(ENVIRONMENT), resolve(TRAINER), {}
    else:
        make, make_trainer = resolve(TORCHRL_ENVIRONMENT), resolve(TORCHRL_TRAINER)
        placed = {"device": device}
    train_env = make(seed=recipe.seed, schedule=recipe.schedule, **placed)
    eval_env = make(seed=EVALUATION_SEED, is_eval_env=True, **placed)
    for environment in (train_env, eval_env):
        for name, value in recipe.world.items():
            setattr(simulator_of(environment), name, value)
    agent = resolve(AGENT)(
        device=device, seed=recipe.seed + 100, agent_type=recipe.agent, **recipe.agent_options
    )
    trainer = make_trainer(
        train_env, eval_env, recipe.eval_schedule, agent, **placed, **recipe.trainer_options
    )
    return Parts(
        trainer=trainer, agent=agent, environment=train_env, simulator=simulator_of(train_env)
    )


def patched(pipeline: str, patches: tuple[int, ...], mode: str) -> AbstractContextManager[Any]:
    """Steps of a pipeline's plan in force while the context is open; none leaves its code alone."""
    if not patches:
        return nullcontext()
    applied: AbstractContextManager[Any] = resolve(PATCHES)(
        patches, mode=mode, plan=resolve(PLANS[pipeline])
    )
    return applied


def simulator_of(environment: Any) -> Any:
    """The simulator behind an environment of either pipeline."""
    return getattr(environment, "_env", environment)


def act_method(agent: str) -> str:
    """Name of the method that chooses one robot's action."""
    name: str = resolve(AGENT_KINDS)[agent].act_method
    return name


def wrap(owner: Any, method: str, around: Callable[..., Any]) -> None:
    """Put ``around(original, *args, **kwargs)`` in the place of a method of this one object."""
    original = getattr(owner, method)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    setattr(owner, method, wrapped)


def seed_everything(seed: int) -> None:
    """Seed the global generators, after construction because the constructors reseed some of them."""
    import numpy as np  # the built-in targets need it, importing syncprobe does not
    import torch

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  # the code base draws from the legacy generator
    torch.manual_seed(seed)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Runs repeat themselves, and print nothing but what the code base prints."""
    torchrl = logging.getLogger("torchrl")
    level = torchrl.level
    torchrl.setLevel(logging.WARNING)  # it announces every buffer that it makes
    try:
        with one_thread(), warnings.catch_warnings():
            # The code base makes tensors the slow way on purpose, and torch says so.
            warnings.filterwarnings("ignore", message="Creating a tensor from a list")
            warnings.filterwarnings("ignore", message="the matrix subclass is not")
            yield
    finally:
        torchrl.setLevel(level)


@contextmanager
def one_thread() -> Iterator[None]:
    """Batch-of-one forwards round differently with more threads, and two passes must agree."""
    import torch  # the built-in targets need it, importing syncprobe does not

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def validated_distributions() -> Iterator[None]:
    """Argument validation as torch has it: importing torchrl switches it off for the whole process.

    The original pipeline knows nothing of torchrl, so whoever imported it must not change what is counted.
    """
    from torch.distributions import Distribution  # the built-in targets need it

    before = Distribution._validate_args  # noqa: SLF001  # torch lets it be set, but not asked for
    Distribution.set_default_validate_args(True)
    try:
        yield
    finally:
        Distribution.set_default_validate_args(before)


def resolve(name: str) -> Any:
    """What ``module:attribute`` names."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SyncprobeError(
            f"The built-in targets need {name}, which could not be imported ({error}). "
            "Install this project with its 'rl' extra."
        ) from error


def agent_name(name: str) -> str:
    """The agent that a user means, however it is capitalised."""
    wanted = name.lower().replace("_", "-")
    for known in AGENTS:
        if known.lower() == wanted:
            return known
    raise UnknownNameError("agent", name, AGENTS)
