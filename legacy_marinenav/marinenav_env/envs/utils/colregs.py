"""Geometry of the collision regulations at sea (COLREGs): encounters and the turn they ask for."""

import numpy as np


def ego_in_vehicle_frame(ego_velocity, vehicle):
    """Return the ego position and velocity in a frame that points along a vehicle's motion.

    Args:
        ego_velocity: Velocity (x, y) of the ego robot in its own frame.
        vehicle: Observation (x, y, v_x, v_y, r) of the vehicle in the ego frame.
    """
    heading = np.arctan2(vehicle[3], vehicle[2])
    rotation = np.matrix([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
    to_vehicle = np.transpose(rotation)
    position = -to_vehicle * np.matrix([[vehicle[0]], [vehicle[1]]])
    velocity = to_vehicle * np.matrix([[ego_velocity[0]], [ego_velocity[1]]])
    return (position[0, 0], position[1, 0]), (velocity[0, 0], velocity[1, 0])


def compute_turn_angle(ego_velocity, vehicle, ego_radius):
    """Return the angle the ego robot still has to turn to pass on the proper side of a vehicle.

    It is not a number if the vehicle is closer than its radius and a margin of one metre.

    Args:
        ego_velocity: Velocity (x, y) of the ego robot in its own frame.
        vehicle: Observation (x, y, v_x, v_y, r) of the vehicle in the ego frame.
        ego_radius: Radius of the ego robot.
    """
    clearance = vehicle[4] + 1.0
    distance = np.linalg.norm(np.array(vehicle[:2]))
    clearance_angle = np.arcsin(clearance / distance)
    tangent = np.sqrt(distance**2 - clearance**2)
    ego_angle = np.arctan2(ego_radius, tangent)

    bearing = np.arctan2(vehicle[1], vehicle[0])
    desired = wrap_to_pi(bearing + clearance_angle + ego_angle)
    return wrap_to_pi(desired - np.arctan2(ego_velocity[1], ego_velocity[0]))


def wrap_to_pi(angle):
    """Return the same angle in [-pi, pi); not-a-number passes through."""
    while angle < -np.pi:
        angle += 2 * np.pi
    while angle >= np.pi:
        angle -= 2 * np.pi
    return angle
