"""The environment with all robots computed at once.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step and MarineNavEnv3.get_observations
Removes:  the loops over robots, substeps, cores and candidates, and all small matrix objects
Keeps:    everything observable, bit for bit: observations, rewards, flags, robots' attributes and
          histories, the state of every generator, errors
"""

from __future__ import annotations

from patches.marinenav.step5_merge.vector_environment.sensing import get_observations
from patches.marinenav.step5_merge.vector_environment.stepping import step

__all__ = ["get_observations", "step"]
