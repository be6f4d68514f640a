"""A small sea: one robot, four vortices, four obstacles; the cheap extreme, for tests and for comparison."""

from __future__ import annotations

from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt

ACCELERATIONS: Final = (-0.4, 0.0, 0.4)
TURN_RATES: Final = (-np.pi / 6, 0.0, np.pi / 6)
TIME_STEP: Final = 0.1
SUB_STEPS: Final = 5
FASTEST: Final = 2.0
SCALE: Final = 50.0
CORE_RADIUS: Final = 0.5
GOAL_RADIUS: Final = 2.0
CLEARANCE: Final = 0.5
MAP: Final = (-5.0, 60.0)
LONGEST: Final = 200

Array = npt.NDArray[Any]


class NavLite(gymnasium.Env[Array, np.int64]):
    """Reach the goal, past obstacles, through currents.

    Args:
        longest: Steps after which an episode is cut off.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self.observation_space = gymnasium.spaces.Box(-100.0, 100.0, (16,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(9)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Draw a new map."""
        super().reset(seed=seed, options=options)
        draw = self.np_random
        self._position = draw.uniform(5, 15, 2)
        self._goal = draw.uniform(40, 50, 2)
        self._heading = float(draw.uniform(-np.pi, np.pi))
        self._vortices = draw.uniform(15, 40, (4, 2))
        self._signs = 2.0 * draw.integers(0, 2, 4) - 1.0
        self._obstacles = draw.uniform(15, 40, (4, 2))
        self._radii = draw.uniform(0.5, 1.5, 4)
        self._speed = 0.0
        self._velocity = self._current()
        self._steps = 0
        return self._observe(), {}

    def step(self, action: np.int64) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Accelerate and turn for half a second."""
        acceleration, turn_rate = ACCELERATIONS[int(action) // 3], TURN_RATES[int(action) % 3]
        before = self._goal_distance()
        for _ in range(SUB_STEPS):
            self._speed = min(max(self._speed + TIME_STEP * acceleration, 0.0), FASTEST)
            self._heading += TIME_STEP * turn_rate
            ahead = np.array([np.cos(self._heading), np.sin(self._heading)])
            self._velocity = self._speed * ahead + self._current()
            self._position = self._position + TIME_STEP * self._velocity
        self._steps += 1
        after = self._goal_distance()
        reward, is_over = -0.1 + before - after, False
        if after < GOAL_RADIUS:
            reward, is_over = reward + 100, True
        distances = np.linalg.norm(self._obstacles - self._position, axis=1)
        if np.any(distances - self._radii < CLEARANCE):
            reward, is_over = reward - 50, True
        if self._position.min() < MAP[0] or self._position.max() > MAP[1]:
            is_over = True
        is_too_long = not is_over and self._steps >= self._longest
        # Rounded here, so that both kinds of vectors hand on the same number.
        return self._observe(), float(np.float32(reward)), is_over, is_too_long, {}

    def _goal_distance(self) -> float:
        return float(np.linalg.norm(self._goal - self._position))

    def _current(self) -> Array:
        """What the vortices do to the robot: rigid rotation inside the cores, else 1/d."""
        offsets = self._position - self._vortices
        distances = np.maximum(np.linalg.norm(offsets, axis=1), 1e-9)
        speeds = np.where(distances < CORE_RADIUS, distances / CORE_RADIUS, CORE_RADIUS / distances)
        tangents = np.stack([-offsets[:, 1], offsets[:, 0]], axis=1) / distances[:, None]
        current: Array = ((self._signs * speeds)[:, None] * tangents).sum(axis=0)
        return current

    def _observe(self) -> Array:
        cosine, sine = np.cos(self._heading), np.sin(self._heading)
        to_body = np.array([[cosine, sine], [-sine, cosine]])
        offsets = self._obstacles - self._position
        order = np.argsort(np.linalg.norm(offsets, axis=1), kind="stable")
        seen = np.column_stack([offsets[order] @ to_body.T / SCALE, self._radii[order]])
        goal = to_body @ (self._goal - self._position) / SCALE
        return np.concatenate([goal, to_body @ self._velocity, seen.ravel()]).astype(np.float32)
