"""MarineNav for one robot, with gymnasium's signatures: `legacy_marinenav` itself stays as it is."""

from __future__ import annotations

import importlib
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

SIMULATOR: Final = "legacy_marinenav.marinenav_env.envs.marinenav_env"
CORES: Final = 4
OBSTACLES: Final = 4
SEEN: Final = 5
"""Objects in an observation; fewer are filled up with zeros."""
OWN_STATE: Final = 7
OBJECT: Final = 5
FAR: Final = 10_000.0
"""More than any number in an observation: thrusts are the largest."""

Array = npt.NDArray[Any]


class SingleRobot(gymnasium.Env[Array, np.int64]):
    """One robot among currents and obstacles; the generator of the maps is the simulator's own."""

    def __init__(self) -> None:
        # Named, not imported, so that syncprobe installs alone.
        self.simulator: Any = importlib.import_module(SIMULATOR).MarineNavEnv3(seed=0)
        self.simulator.num_robots = 1
        self.simulator.num_cores = CORES
        self.simulator.num_obs = OBSTACLES
        actions = self.simulator.get_action_space_dimension()
        self.action_space = gymnasium.spaces.Discrete(actions)
        size = OWN_STATE + SEEN * OBJECT
        self.observation_space = gymnasium.spaces.Box(-FAR, FAR, (size,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Draw a new map; a seed starts the generator of maps anew."""
        super().reset(seed=seed, options=options)
        if seed is not None:
            self.simulator.rd = np.random.RandomState(seed % 2**32)
        observations, _, _ = self.simulator.reset()
        return _flat(observations[0]), {}

    def step(self, action: np.int64) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Let the robot carry out an action; the time limit is a truncation."""
        observations, rewards, dones, infos = self.simulator.step(
            [int(action)], is_continuous_action=False
        )
        is_too_long = infos[0]["state"] == "too long episode"
        is_over = bool(dones[0]) and not is_too_long
        # Rounded here, so that both kinds of vectors hand on the same number.
        reward = float(np.float32(rewards[0]))
        return _flat(observations[0]), reward, is_over, is_too_long, infos[0]


def _flat(observation: tuple[list[float], list[list[float]]]) -> Array:
    own, objects = observation
    flat = np.zeros(OWN_STATE + SEEN * OBJECT, dtype=np.float32)
    flat[:OWN_STATE] = own
    for place, each in enumerate(objects[:SEEN]):
        start = OWN_STATE + place * OBJECT
        flat[start : start + OBJECT] = each
    return flat
