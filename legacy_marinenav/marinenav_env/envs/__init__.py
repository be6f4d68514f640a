"""The environment class that the Gymnasium registration points to."""

from legacy_marinenav.marinenav_env.envs.marinenav_env import MarineNavEnv3

__all__ = ["MarineNavEnv3"]
