"""Three-degree-of-freedom dynamics of many vessels at once.

Replaces: marinenav_env.envs.utils.vessel:Vessel.update_state and what it calls
Removes:  about 290 small matrix objects and ten LAPACK inversions per robot and action
Keeps:    every product in the form BLAS was given it (C-ordered, or a transposed view), the order of
          sums, signed zeros, the heading's wrap by repeated addition

Products go through stacked ``numpy.matmul``, which hands BLAS the same small matrices as the legacy
code did; written as sums they would miss its fused multiply-adds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from patches.marinenav.step5_merge.vector_environment.coefficients import (
    FEATURES,
    MAGNITUDES,
    SELECTION,
)

if TYPE_CHECKING:
    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array

TWO_PI = 2 * np.pi


class Current(Protocol):
    """The water's velocity at some positions."""

    def at(self, poses: Array) -> Array:
        """Return the velocity, (3, n) with a last row of 0.0, at poses (3, n)."""


def advance(
    poses: Array,
    velocities: Array,
    propulsion: Array,
    coefficients: Coefficients,
    current: Current,
    substeps: int,
) -> None:
    """Integrate n vessels over some substeps, in place.

    Args:
        poses: (3, n), x, y and heading.
        velocities: (2, 3, n) over ground and relative to the water; only the latter is read.
        propulsion: (3, n), constant over the substeps.
        coefficients: Constants of the vessels.
        current: The water's velocity.
        substeps: Their number.
    """
    count = poses.shape[1]
    ground, water = velocities
    headings, yaw_rates = poses[2], ground[2]
    rotations = np.empty((count, 4))
    first_cosines, negative_sines, sines, second_cosines = rotations.T
    to_world = rotations.reshape(count, 2, 2)
    to_body = to_world.swapaxes(1, 2)

    body = np.ones((2, FEATURES, count))
    features = body[1]
    body_yaw_rates, water_body, magnitudes = body[:, 2], features[:3], features[MAGNITUDES]
    terms = np.empty((54, count))
    sums, second_terms = terms[:27], terms[27:]
    entries, resistance, quadratic_drag = sums[:18], sums[9:18], sums[18:]
    matrices = np.empty((2, count, 3, 3))
    matrix_entries = matrices.reshape(2, count, 9).swapaxes(1, 2)
    new_entries = entries.reshape(2, 9, count)
    forces = np.empty((2, 3, count))
    force, drag_force, change = *forces, np.empty((3, count))

    # Vectors as BLAS wants them, one column each.
    world_vectors, body_vectors = _vectors(velocities[:, :2]), _vectors(body[:, :2])
    body_states, force_vectors = _vectors(body[:, :3]), _vectors(forces)
    force_vector, change_vector = force_vectors[0], _vectors(change)
    water_body_vectors, water_world_vectors = body_vectors[1], world_vectors[1]

    for _ in range(substeps):
        np.add(water, current.at(poses), ground)
        np.multiply(ground, coefficients.time_step, change)
        np.add(poses, change, poses)
        turned = headings.tolist()
        if not (min(turned) >= 0.0 and max(turned) < TWO_PI):
            headings[:] = [_wrap(heading) for heading in turned]

        np.cos(headings, first_cosines)
        np.sin(headings, sines)
        np.negative(sines, negative_sines)
        second_cosines[:] = first_cosines
        np.matmul(to_body, world_vectors, body_vectors)
        body_yaw_rates[:] = yaw_rates

        np.abs(water_body, magnitudes)
        features.take(SELECTION, 0, terms, "clip")
        np.multiply(terms, coefficients.factors, terms)
        np.add(sums, second_terms, sums)
        np.add(entries, coefficients.drag, entries)
        np.subtract(resistance, quadratic_drag, resistance)
        matrix_entries[:] = new_entries
        np.matmul(matrices, body_states, force_vectors)
        np.subtract(force, drag_force, force)
        np.add(force, propulsion, force)
        np.matmul(coefficients.response, force_vector, change_vector)
        np.multiply(change, coefficients.time_step, change)
        np.add(water_body, change, water_body)

        np.matmul(to_world, water_body_vectors, water_world_vectors)
        water[2] = water_body[2]


def _vectors(rows: Array) -> Array:
    """View (…, k, n) as n vectors (…, n, k, 1)."""
    return rows.swapaxes(-1, -2)[..., None]


def _wrap(heading: float) -> float:
    while heading < 0.0:
        heading += TWO_PI
    while heading >= TWO_PI:
        heading -= TWO_PI
    return heading
