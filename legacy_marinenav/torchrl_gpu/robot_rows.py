"""Rows of observation tensordicts back to the lists that agents and memories take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensordict import TensorDictBase

    from legacy_marinenav.policy.networks.padding import RobotState


def read_robot_state(observation: TensorDictBase, row: int) -> RobotState:
    """State of one robot, read from the device with one copy per tensor."""
    self_state = observation["self_state"][row].cpu().numpy()
    objects = observation["objects_state"][row].cpu().numpy()
    mask = observation["objects_mask"][row].cpu().numpy()
    object_list = [objects[i].tolist() for i in range(len(mask)) if mask[i] > 0.5]
    return self_state.tolist(), object_list
