"""Constants of the vessels' equations of motion, arranged for computing with many at once.

The entries of the two matrices that depend on the velocity, and the quadratic drag, are 27 sums of two
terms; each term is a factor times one of seven features (velocities, their magnitudes, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from patches.marinenav.step5_merge.vector_environment.legacy import Array

    Key = tuple[Hashable, ...]

PARAMETERS = (
    "dt", "m", "xDotU", "yDotV", "yDotR", "xUU", "yVV", "yRV", "yVR", "yRR", "nVV", "nRV", "nVR", "nRR"
)  # fmt: skip
parameters_of = attrgetter(*PARAMETERS)
"""Numbers that a vessel's coefficients depend on."""

# Rows of the features that the entries of the matrices are made of.
_U, _V, _R, ONE, _ABS_U, _ABS_V, _ABS_R = range(7)
FEATURES = 7
MAGNITUDES = slice(_ABS_U, _ABS_R + 1)
SELECTION = np.array(
    [
        # First terms: rigid-body Coriolis forces, those of added mass, quadratic drag; row by row ...
        ONE, _R, ONE, _R, ONE, ONE, ONE, ONE, ONE,
        ONE, ONE, _V, ONE, ONE, _U, _V, _U, ONE,
        _ABS_U, ONE, ONE, ONE, _ABS_V, _ABS_V, ONE, _ABS_V, _ABS_V,
        # ... and second terms.
        ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE, ONE,
        ONE, ONE, _R, ONE, ONE, ONE, _R, ONE, ONE,
        ONE, ONE, ONE, ONE, _ABS_R, _ABS_R, ONE, _ABS_R, _ABS_R,
    ]
)  # fmt: skip
"""The feature that each factor of `Coefficients` belongs to."""


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Constants of n vessels.

    Vessels are along the last axis wherever no matrix product needs them elsewhere: operations on whole
    contiguous blocks cost a third of those on columns.
    """

    time_step: Array
    """(3, n), the same three times."""
    factors: Array
    """(54, n): what to multiply the selected features with."""
    drag: Array
    """(18, n): what does not depend on the velocity, the linear drag in the second half."""
    response: Array
    """(n, 3, 3): from force to acceleration."""


def key_of(robot: Any) -> Key:
    """Return everything that a vessel's coefficients depend on."""
    matrices = (robot.M_RB.tobytes(), robot.M_A.tobytes(), robot.D.tobytes())
    return (*parameters_of(robot), *matrices)


def coefficients_of(keys: Sequence[Key]) -> Coefficients:
    """Return the constants of vessels with these keys.

    Raises:
        numpy.linalg.LinAlgError: A mass matrix is singular.
        TypeError: A parameter is not a number.
        ValueError: A matrix is not 3x3.
    """
    first = keys[0]
    if keys.count(first) == len(keys):
        return _build_alike(first, len(keys))
    return _join([_build(key) for key in keys])


@lru_cache(maxsize=256)
def _build_alike(key: Key, count: int) -> Coefficients:
    return _join([_build(key)] * count)


def _join(parts: list[tuple[Array, Array, Array, Array]]) -> Coefficients:
    time_step, factors, drag, response = zip(*parts, strict=True)
    return Coefficients(
        time_step=np.stack(time_step, axis=-1),
        factors=np.stack(factors, axis=-1),
        drag=np.stack(drag, axis=-1),
        response=np.stack(response),
    )


@lru_cache(maxsize=256)
def _build(key: Key) -> tuple[Array, Array, Array, Array]:
    parameters: Any = key[:-3]
    dt, m, xDotU, yDotV, yDotR, xUU, yVV, yRV, yVR, yRR, nVV, nRV, nVR, nRR = parameters  # noqa: N806
    rigid_body, added, drag = (_matrix(raw) for raw in key[-3:])
    mass = rigid_body + added
    response = np.dot(np.linalg.inv(np.dot(mass.T, mass)), mass.T)

    # Adding -0.0 changes nothing, not even the sign of a zero.
    none, zero = (-0.0, -0.0), (0.0, -0.0)
    pairs = [
        # Rigid-body Coriolis forces, row by row, negated with their zeros.
        none, (m, -0.0), none,
        (-float(m), -0.0), none, none,
        none, none, none,
        # Added-mass Coriolis forces. A difference is a sum with the second sign turned, but the first
        # sign is the parameter's own, and the integer zero has none.
        zero, zero, (yDotV, yDotR),
        zero, zero, (-xDotU, -0.0),
        (-yDotV, -float(yDotR)), (xDotU, -0.0), zero,
        # Quadratic drag.
        (xUU, -0.0), zero, zero,
        zero, (yVV, yRV), (yVR, yRR),
        zero, (nVV, nRV), (nVR, nRR),
    ]  # fmt: skip
    factors = [float(pair[0]) for pair in pairs] + [float(pair[1]) for pair in pairs]
    constant = np.concatenate([np.full(9, -0.0), drag.reshape(9)])
    return np.full(3, float(dt)), np.array(factors), constant, response


def _matrix(raw: Any) -> Array:
    return np.frombuffer(raw, dtype=np.float64).reshape(3, 3)
