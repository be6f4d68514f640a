"""Noise, detection and collisions of all robots at once.

Replaces: marinenav_env.envs.utils.robot:Robot._observe_object and what it calls
Removes:  three projections by matrix objects and three of five calls of a generator per candidate
Keeps:    the draws of every generator and their order: four normals in one call and a von Mises angle in
          another are the same stream as five calls
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from patches.marinenav.step5_merge.vector_environment import scene as columns
from patches.marinenav.step5_merge.vector_environment.legacy import lengths

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.vector_environment.legacy import Array, Indices
    from patches.marinenav.step5_merge.vector_environment.scene import Scene

# Numbers as arrays, because each operation would make them one.
_ZERO, _PI = np.array(0.0), np.array(np.pi)

_COLLISION_MARGIN = np.array(1 + 1e-6)
"""Candidates this close are asked about one by one: distances there are by powers, not products."""


@dataclass(frozen=True, slots=True)
class View:
    """What the robots see of a scene, as arrays; candidates are in the order of the draws."""

    own: Array
    """(n, 4): goal and velocity in the robot frame."""
    detected: Any
    """(n, candidates), whether it is."""
    candidates: Indices
    """(n, candidates), rows of the scene's things."""
    noisy: Array
    """(n, candidates, 4): position and velocity in the world frame."""
    projected: Array
    """(n, candidates, 4): the same in the robot frame."""
    radii: Array
    """(n, candidates)"""
    goal_distances: list[float]
    own_speeds: list[float]


@lru_cache(maxsize=256)
def _candidates(obstacles: int, robots: int) -> Indices:
    """For each robot the rows of the things it looks at: obstacles, then the other robots."""
    fixed = list(range(obstacles))
    others = [[obstacles + j for j in range(robots) if j != i] for i in range(robots)]
    rows = [fixed + row for row in others]
    return np.array(rows, dtype=np.intp).reshape(robots, obstacles + robots - 1)


def _draw_noise(robots: list[Any], count: int) -> tuple[Array, Array]:
    """Draw for so many candidates per robot: four standard normals and an angle for each."""
    normals: list[Any] = []
    angles: list[float] = []
    for robot in robots:
        generator = robot.perception.rd
        draw_normals, draw_angle = generator.standard_normal, generator.vonmises
        # A number would be made an array in each call.
        kappa = np.array(robot.perception.r_kappa, dtype=np.float64)
        for _ in range(count):
            normals.append(draw_normals(4))
            angles.append(draw_angle(_ZERO, kappa))
    shape = (len(robots), count)
    return np.frombuffer(b"".join(normals)).reshape(*shape, 4), np.array(angles).reshape(shape)


def look(scene: Scene, in_robot_frame: bool) -> View:
    """Draw the noise and compute what is seen."""
    count, observers = len(scene.robots), scene.observers
    candidates = _candidates(len(scene.obstacles), count)
    seen = scene.things.take(candidates, 0)
    true_radii = seen[:, :, 4]
    normals, angles = _draw_noise(scene.robots, candidates.shape[1])
    noise = normals * observers[:, None, columns.DEVIATIONS].repeat(2, 2)
    noise += _ZERO  # as the generator adds the mean, which turns -0.0 into 0.0

    # The first row is not noisy: goal and velocity of the robot itself.
    vectors = np.empty((count, 1 + candidates.shape[1], 4))
    vectors[:, 0] = observers[:, columns.GOAL_AND_VELOCITY]
    np.add(seen[:, :, :4], noise, vectors[:, 1:])
    ratios = observers[:, columns.RATIO, None]
    radii = (1 - ratios) * angles
    radii /= _PI
    radii *= true_radii
    radii += ratios * true_radii

    projected = _project(observers, vectors)
    own, positions = projected[:, 0], projected[:, 1:, :2]
    detected = lengths(positions) <= observers[:, columns.RANGE, None] + radii
    half_angles = 0.5 * observers[:, columns.ANGLE, None]
    if not (half_angles >= _PI).all():
        bearings = np.arctan2(positions[:, :, 1], positions[:, :, 0])
        detected &= (-half_angles <= bearings) & (bearings <= half_angles)

    _collide(scene, seen, detected, candidates)
    own_velocities = own[:, 2:] if in_robot_frame else vectors[:, 0, 2:]
    return View(
        own=own,
        detected=detected,
        candidates=candidates,
        noisy=vectors[:, 1:],
        projected=projected[:, 1:],
        radii=radii,
        goal_distances=lengths(vectors[:, 0, :2] - observers[:, :2]).tolist(),
        own_speeds=lengths(own_velocities).tolist(),
    )


def _project(observers: Array, vectors: Array) -> Array:
    """Bring positions and velocities, (n, k, 4), of the world frame to the robots' frames."""
    count = len(observers)
    rotations = np.empty((2, count, 4))
    forward, backward = rotations
    np.cos(observers[:, columns.HEADING, None], forward[:, ::3])
    np.sin(observers[:, columns.HEADING], forward[:, 2])
    np.negative(forward[:, 2], forward[:, 1])
    np.negative(forward, backward)
    to_robot, negated = rotations.reshape(2, count, 2, 2).swapaxes(2, 3)

    pairs = vectors.reshape(count, -1, 2, 2, 1)
    projected = np.matmul(to_robot[:, None, None], pairs)
    shifts = np.matmul(negated, observers[:, :2, None])
    projected[:, :, 0] += shifts[:, None]
    return np.reshape(projected, (count, -1, 4))


def _collide(scene: Scene, seen: Array, detected: Any, candidates: Indices) -> None:
    """Let robots check for a collision with what they detected and what is close to them."""
    offsets = scene.observers[:, None, :2] - seen[:, :, :2]
    reach = seen[:, :, 4] + scene.observers[:, columns.RADIUS, None]
    reach *= _COLLISION_MARGIN
    is_close = np.vecdot(offsets, offsets) <= reach * reach
    is_close &= detected
    if np.count_nonzero(is_close):
        things = [*scene.obstacles, *scene.robots]
        for row, column in np.argwhere(is_close).tolist():
            robot, thing = scene.robots[row], things[candidates[row, column]]
            if not robot.collision:
                robot.check_collision(thing.x, thing.y, thing.r)
