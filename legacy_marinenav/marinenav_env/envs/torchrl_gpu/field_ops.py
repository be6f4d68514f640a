"""A vectorised vortex field that nothing calls.

It is not the field of `MarineNavEnv3.get_velocity`: the radial vector points from core to position, which
turns the velocity around, distances are clamped, and cores are summed in list order and single precision.
"""

from __future__ import annotations

import math
from typing import Any

import torch

MIN_DISTANCE = 1e-6


def compute_vortex_velocity(
    pos: Any, cores_xy: Any, clockwise: Any, Gamma: Any, core_r: float, device: str | torch.device
) -> torch.Tensor:
    """Velocity of the water at several positions in several environments.

    Args:
        pos: Positions ``[E, R, 2]``.
        cores_xy: Centres of the cores ``[E, C, 2]``.
        clockwise: 1 for clockwise cores, else 0, ``[E, C]``.
        Gamma: Circulations ``[E, C]``.
        core_r: Radius within which a core rotates like a rigid body.
        device: Where to compute.

    Returns:
        Velocities ``[E, R, 2]``.
    """
    pos, cores_xy, clockwise, Gamma = (
        torch.as_tensor(values, dtype=torch.float32, device=device)
        for values in (pos, cores_xy, clockwise, Gamma)
    )
    radial = pos.unsqueeze(2) - cores_xy.unsqueeze(1)
    distance = torch.linalg.norm(radial, dim=-1).clamp(min=MIN_DISTANCE)
    unit = radial / distance.unsqueeze(-1)
    is_clockwise = (clockwise > 0.5).unsqueeze(1).unsqueeze(-1)
    tangent = torch.where(
        is_clockwise,
        torch.stack((-unit[..., 1], unit[..., 0]), dim=-1),
        torch.stack((unit[..., 1], -unit[..., 0]), dim=-1),
    )
    Gamma = Gamma.unsqueeze(1)
    speed = torch.where(
        distance <= core_r,
        Gamma / (2 * math.pi * core_r * core_r) * distance,
        Gamma / (2 * math.pi * distance),
    )
    return (tangent * speed.unsqueeze(-1)).sum(dim=2)
