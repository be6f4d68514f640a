"""The environment with all robots computed at once.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step and MarineNavEnv3.get_observations
Removes:  the loops over robots, substeps, cores and candidates, and all small matrix objects
Keeps:    everything observable, bit for bit: observations, rewards, flags, robots' attributes and
          histories, the state of every generator, errors
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from patches.vector_environment.sensing import get_observations
from patches.vector_environment.stepping import step

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["REPLACEMENTS", "get_observations", "step"]

_ENVIRONMENT = "legacy_marinenav.marinenav_env.envs.marinenav_env:MarineNavEnv3"

REPLACEMENTS: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    (_ENVIRONMENT, "step", step),
    (_ENVIRONMENT, "get_observations", get_observations),
)
"""Class (module:attribute), name of the method, what to put in its place; each works alone."""
