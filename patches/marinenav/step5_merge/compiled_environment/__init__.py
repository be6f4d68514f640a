"""The environment with all robots computed at once, by compiled code where numba is installed.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step and MarineNavEnv3.get_observations
Removes:  what vector_environment does in array operations: two calls per step are left, and Python that reads robots'
          attributes and makes the lists that the legacy code returns
Keeps:    everything that vector_environment keeps, bit for bit

Without numba, where its code is found to round otherwise, where it was switched off, and for all that it does not support,
vector_environment does the work.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from patches.marinenav.step5_merge import vector_environment
from patches.marinenav.step5_merge.compiled_environment import loading, sensing, stepping
from patches.marinenav.step5_merge.vector_environment.stepping import carry_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.step5_merge.vector_environment.sensing import Observed

__all__ = ["get_observations", "prepare", "step"]


def prepare() -> None:
    """Compile what will be needed, or read it from the cache, and try it: no step is to wait for that."""
    loading.verdict()
    loading.verdict(loading.DESCENT)
    loading.verdict(loading.NETWORKS)


def step(self: Any, actions: Sequence[Any], is_continuous_action: bool = True) -> tuple[Any, ...]:
    """Let every active robot carry out its action, then observe; see vector_environment."""
    kernels = loading.kernels()
    if kernels is None:
        return vector_environment.step(self, actions, is_continuous_action)
    return carry_out(self, actions, is_continuous_action, partial(stepping.plot, kernels))


def get_observations(self: Any) -> Observed:
    """Let every robot look around; see vector_environment."""
    kernels = loading.kernels()
    if kernels is None:
        return vector_environment.get_observations(self)
    return sensing.observe(kernels, self)
