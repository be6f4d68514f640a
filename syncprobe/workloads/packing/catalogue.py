"""What there is to pack and how it can be turned; all of it on the host."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

GRID: Final = 16
"""Cells along each edge of an object's occupancy."""
SIZE: Final = 24
SEED: Final = 2024

Angles = tuple[float, float, float]
"""Roll, pitch, yaw."""
Rotation = tuple[tuple[int, int, int], ...]
"""A signed permutation of the axes, by rows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape:
    """An entry of the catalogue."""

    kind: int
    dimensions: Any
    """Three edges of its bounding box in metres."""
    voxels: Any
    """Which cells of its bounding box it fills."""

    @property
    def fill(self) -> float:
        """Share of its bounding box."""
        return float(self.voxels.mean())


@dataclass(frozen=True, kw_only=True)
class PackedObject:
    """An object of an episode: a shape at a scale."""

    shape: Shape
    dimensions: Any

    @property
    def bounding_volume(self) -> float:
        """Of its bounding box."""
        return float(np.prod(self.dimensions))

    @property
    def volume(self) -> float:
        """Its own."""
        return self.shape.fill * self.bounding_volume

    @property
    def flatness(self) -> float:
        """Its smallest edge against its largest face."""
        low, middle, high = sorted(self.dimensions)
        return float(low / math.sqrt(middle * high))


@cache
def catalogue() -> tuple[Shape, ...]:
    """All shapes there are, the same in every run."""
    generator = np.random.default_rng(SEED)
    shapes = []
    for number in range(SIZE):
        dimensions = generator.uniform(0.03, 0.09, 3)
        thickness = float(generator.uniform(0.3, 0.7))
        shapes.append(
            Shape(kind=number % 6, dimensions=dimensions, voxels=_voxels(number % 6, thickness))
        )
    return tuple(shapes)


def _voxels(kind: int, thickness: float) -> Any:
    centres = (np.arange(GRID) + 0.5) / GRID * 2 - 1
    x, y, z = np.meshgrid(centres, centres, centres, indexing="ij")
    edge, radius = 2 * thickness - 1, x**2 + y**2
    return (
        np.ones_like(x, dtype=bool),
        radius + z**2 <= 1,
        (x < edge) | (z < edge),
        np.abs(x) + np.abs(y) <= 1 - thickness * (z + 1) / 2,
        (thickness**2 <= radius) & (radius <= 1),
        (np.abs(x) < thickness) | (np.abs(y) < thickness),
    )[kind]


def scaled(shape: Shape, scale: float, side: float) -> PackedObject:
    """A shape at a scale, or at the largest one at which it fits into the box."""
    scale = min(scale, float(side / np.max(shape.dimensions)))
    return PackedObject(shape=shape, dimensions=shape.dimensions * scale)


def orientations(step: float) -> list[Angles]:
    """All triples of angles, in the order in which they are tried; several are the same rotation."""
    values = np.arange(0, 2 * math.pi - 1e-9, step)
    yaw, pitch, roll = (each.ravel().tolist() for each in np.meshgrid(values, values, values))
    return list(zip(roll, pitch, yaw, strict=True))


@cache
def rotation_of(angles: Angles) -> Rotation:
    """What a triple of angles does: Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, sr), (cp, sp), (cy, sy) = (
        (round(math.cos(angle)), round(math.sin(angle))) for angle in angles
    )
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return tuple(tuple(map(int, row)) for row in yaw @ pitch @ roll)  # type: ignore[misc]  # rows have three


def axes_of(rotation: Rotation) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Which old axis each new one is, and which new ones run backwards."""
    order = tuple(int(np.argmax(np.abs(row))) for row in rotation)
    backwards = [axis for axis, row in enumerate(rotation) if sum(row) < 0]
    return order, tuple(backwards)


def combinations(seed: int, pool_size: int, count: int) -> list[Any]:
    """Which shapes are packed in an episode, by its number; drawn from a generator of its own."""
    generator = np.random.default_rng(seed)
    drawn = (generator.choice(SIZE, count, replace=count > SIZE) for _ in itertools.count())
    return list(itertools.islice(drawn, pool_size))
