"""Environments by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import gymnasium
import numpy as np
from gymnasium import spaces

from syncprobe.workloads.vecenv.config import ConfigError
from syncprobe.workloads.vecenv.marine import SingleRobot
from syncprobe.workloads.vecenv.navlite import NavLite

if TYPE_CHECKING:
    from collections.abc import Callable

OWN: Final[dict[str, Callable[[], Any]]] = {
    "marinenav": SingleRobot,
    "navlite": NavLite,
    "navlite-brief": partial(NavLite, longest=25),
}
"""The last one is cut off so often that proofs see it happen."""

Maker = partial[Any]


def makers(name: str, count: int, watch: Callable[[Any], Any] | None = None) -> list[Maker]:
    """Functions that make one environment each, for worker processes, too.

    Args:
        name: As `make` takes it.
        count: How many.
        watch: Wraps each environment where it runs; None leaves it as it is.
    """
    return [partial(_made, name, watch) for _ in range(count)]


def _made(name: str, watch: Callable[[Any], Any] | None) -> Any:
    environment = make(name)
    return environment if watch is None else watch(environment)


def make(name: str) -> Any:
    """An environment with flat float32 observations and a choice of actions.

    Raises:
        ConfigError: Gymnasium has no such environment, or it has other spaces.
    """
    if name in OWN:
        return OWN[name]()
    try:
        environment = gymnasium.make(name)
    except gymnasium.error.Error as error:
        known = ", ".join(OWN)
        raise ConfigError(
            f"--env {name}: {error} Choose {known} or an id that gymnasium knows."
        ) from error
    if not isinstance(environment.observation_space, spaces.Box) or not isinstance(
        environment.action_space, spaces.Discrete
    ):
        raise ConfigError(f"--env {name} needs a Box of observations and Discrete actions.")
    if len(environment.observation_space.shape) != 1:
        environment = gymnasium.wrappers.FlattenObservation(environment)
    if environment.observation_space.dtype != np.float32:
        environment = gymnasium.wrappers.DtypeObservation(environment, np.float32)
    return environment
