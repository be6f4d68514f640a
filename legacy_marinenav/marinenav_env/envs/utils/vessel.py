"""The hull that a robot steers: dimensions, thrusters and three-degree-of-freedom dynamics."""

import itertools

import numpy as np


class Vessel:
    """Catamaran with two thrusters that moves in the plane.

    Positions, headings and velocities are in the world frame unless said otherwise. `velocity_r` is
    relative to the water, `velocity` over ground; the third component of both is the yaw rate.
    """

    def __init__(self):
        self.dt = 0.05
        self.N = 10
        self._set_dimensions()
        self._set_thrusters()
        self._set_hydrodynamics()
        self.compute_actions()
        self.compute_constant_matrices()

        self.init_theta = 0.0
        self.init_velocity_r = np.zeros(3)
        self.init_left_pos = 0.0
        self.init_right_pos = 0.0
        self.init_left_thrust = 0.0
        self.init_right_thrust = 0.0

        self.x = None
        self.y = None
        self.theta = None
        self.velocity_r = None
        self.velocity = None
        self.left_pos = None
        self.right_pos = None
        self.left_thrust = None
        self.right_thrust = None

    def _set_dimensions(self):
        self.length = 5.0
        self.width = 2.5
        self.detect_r = 0.5 * np.sqrt(self.length**2 + self.width**2)
        self.r = self.detect_r
        self.max_angular_speed = np.pi / 3

        # The rest is for drawing.
        self.hull_width = 0.2 * self.width
        self.hull_tip_length = 0.25 * self.length
        self.hull_tip_width = 0.5 * self.hull_width
        self.hull_rear_length = 0.2 * self.length
        self.hull_rear_width = 0.8 * self.hull_width
        self.thruster_gap = 0.02 * self.length
        self.thruster_length = 0.1 * self.length
        self.thruster_tip_width = 0.6 * self.hull_rear_width
        self.thruster_rear_width = 0.75 * self.hull_rear_width
        self.beam_length = self.width - self.hull_width
        self.beam_width = 0.2 * self.hull_width
        self.beam_distance = 0.3 * self.length
        self.beam_base_length = 0.5 * self.length
        self.beam_base_width = 0.5 * self.hull_width
        self.platform_length = 0.4 * self.length
        self.platform_width = 0.45 * self.width

    def _set_thrusters(self):
        self.power_coefficient = 1.0
        self.min_thrust = -500.0
        self.max_thrust = 1000.0
        self.left_thrust_change = np.array([0.0, -500.0, -1000.0, 500.0, 1000.0])
        self.right_thrust_change = np.array([0.0, -500.0, -1000.0, 500.0, 1000.0])

    def _set_hydrodynamics(self):
        self.m = 400
        self.Izz = 450

        self.xDotU = 20
        self.yDotV = 0
        self.yDotR = 0
        self.nDotR = -980
        self.nDotV = 0

        self.xU = -100
        self.xUU = -150
        self.yV = -100
        self.yVV = -150
        self.yR = 0
        self.yRV = 0
        self.yVR = 0
        self.yRR = 0
        self.nR = -980
        self.nRR = -950
        self.nV = 0
        self.nVV = 0
        self.nRV = 0
        self.nVR = 0

    def compute_actions(self):
        """Build the table of discrete actions: pairs of left and right thrust change."""
        self.actions = list(itertools.product(self.left_thrust_change, self.right_thrust_change))

    def compute_actions_dimension(self):
        """Return the number of discrete actions."""
        return len(self.actions)

    def compute_constant_matrices(self):
        """Build the rigid-body mass, added mass and linear drag matrices."""
        self.M_RB = np.matrix([[self.m, 0.0, 0.0], [0.0, self.m, 0.0], [0.0, 0.0, self.Izz]])
        self.M_A = -1.0 * np.matrix(
            [[self.xDotU, 0.0, 0.0], [0.0, self.yDotV, self.yDotR], [0.0, self.nDotV, self.nDotR]]
        )
        self.D = -1.0 * np.matrix(
            [[self.xU, 0.0, 0.0], [0.0, self.yV, self.yR], [0.0, self.nV, self.nR]]
        )

    def compute_step_energy_cost(self):
        """Return the energy that both thrusters take for one action."""
        left = self.power_coefficient * np.abs(self.left_thrust) * self.dt * self.N
        right = self.power_coefficient * np.abs(self.right_thrust) * self.dt * self.N
        return left + right

    def check_over_spin(self):
        """Return whether the robot turns faster than it should."""
        return np.abs(self.velocity[2]) > self.max_angular_speed

    def get_robot_transform(self):
        """Return rotation (2x2) and translation (2x1) from the robot frame to the world frame."""
        rotation = np.matrix(
            [
                [np.cos(self.theta), -np.sin(self.theta)],
                [np.sin(self.theta), np.cos(self.theta)],
            ]
        )
        translation = np.matrix([[self.x], [self.y]])
        return rotation, translation

    def project_to_robot_frame(self, x, is_vector=True):
        """Return a world-frame vector or point in the robot frame.

        Args:
            x: Array of shape (2,).
            is_vector: Whether only the rotation applies, as to a velocity.
        """
        assert isinstance(x, np.ndarray), "the input needs to be a numpy array"
        assert np.shape(x) == (2,), "the input needs to have shape (2,)"

        rotation, translation = self.get_robot_transform()
        to_robot = np.transpose(rotation)
        shift = -to_robot * translation

        projected = to_robot * np.reshape(x, (2, 1))
        if not is_vector:
            projected = projected + shift
        return np.array(projected).reshape(2)

    def update_state(self, action, current_velocity, is_new_action, is_continuous_action):
        """Advance by one integration substep of `dt` seconds.

        `velocity` is not refreshed at the end: observers see the one this substep started with.

        Args:
            action: Thrust changes relative to the largest one, or the index of a discrete action.
            current_velocity: Velocity of the water at the present position.
            is_new_action: Whether this is the first substep of the action; only then thrust changes.
            is_continuous_action: Whether the action is a pair of numbers in [-1, 1].
        """
        self.velocity = self.velocity_r + current_velocity
        self.x += self.velocity[0] * self.dt
        self.y += self.velocity[1] * self.dt
        self.theta += self.velocity[2] * self.dt
        while self.theta < 0.0:
            self.theta += 2 * np.pi
        while self.theta >= 2 * np.pi:
            self.theta -= 2 * np.pi

        if is_new_action:
            self._change_thrust(action, is_continuous_action)
        self.compute_motion()

    def _change_thrust(self, action, is_continuous_action):
        if is_continuous_action:
            left_change = action[0] * 1000.0
            right_change = action[1] * 1000.0
        else:
            left_change, right_change = self.actions[action]

        self.left_thrust += left_change * self.dt * self.N
        self.left_thrust = np.clip(self.left_thrust, self.min_thrust, self.max_thrust)
        self.right_thrust += right_change * self.dt * self.N
        self.right_thrust = np.clip(self.right_thrust, self.min_thrust, self.max_thrust)

    def compute_motion(self):
        """Advance the velocity relative to the water by one substep of the 3-DOF vessel model."""
        u_r, v_r = self.project_to_robot_frame(self.velocity_r[:2])
        u, v = self.project_to_robot_frame(self.velocity[:2])
        r = self.velocity[2]

        C_RB = np.matrix([[0.0, -self.m * r, 0.0], [self.m * r, 0.0, 0.0], [0.0, 0.0, 0.0]])
        resistance = self._compute_resistance(u_r, v_r, r)
        propulsion = self.compute_propulsion()
        ground_velocity = np.matrix([[u], [v], [r]])
        water_velocity = np.matrix([[u_r], [v_r], [r]])

        A = self.M_RB + self.M_A
        b = -C_RB * ground_velocity - resistance * water_velocity + propulsion
        acceleration = np.linalg.inv(np.transpose(A) * A) * np.transpose(A) * b

        water_velocity = water_velocity + acceleration * self.dt
        rotation, _ = self.get_robot_transform()
        water_velocity[:2] = rotation * water_velocity[:2]
        self.velocity_r = np.array(
            [water_velocity[0, 0], water_velocity[1, 0], water_velocity[2, 0]]
        )

    def _compute_resistance(self, u_r, v_r, r):
        """Return the matrix of added-mass Coriolis forces, linear and quadratic drag."""
        C_A = np.matrix(
            [
                [0.0, 0.0, self.yDotV * v_r + self.yDotR * r],
                [0.0, 0.0, -self.xDotU * u_r],
                [-self.yDotV * v_r - self.yDotR * r, self.xDotU * u_r, 0.0],
            ]
        )
        forward, sideways, yaw = np.abs(u_r), np.abs(v_r), np.abs(r)
        D_n = -1.0 * np.matrix(
            [
                [self.xUU * forward, 0.0, 0.0],
                [
                    0.0,
                    self.yVV * sideways + self.yRV * yaw,
                    self.yVR * sideways + self.yRR * yaw,
                ],
                [
                    0.0,
                    self.nVV * sideways + self.nRV * yaw,
                    self.nVR * sideways + self.nRR * yaw,
                ],
            ]
        )
        return C_A + self.D + D_n

    def compute_propulsion(self):
        """Return forces and turning moment (3x1) of both thrusters in the robot frame."""
        F_x_left = self.left_thrust * np.cos(self.left_pos)
        F_y_left = self.left_thrust * np.sin(self.left_pos)
        M_x_left = F_x_left * self.width / 2
        M_y_left = -F_y_left * self.length / 2

        F_x_right = self.right_thrust * np.cos(self.right_pos)
        F_y_right = self.right_thrust * np.sin(self.right_pos)
        M_x_right = -F_x_right * self.width / 2
        M_y_right = -F_y_right * self.length / 2

        moment = M_x_left + M_y_left + M_x_right + M_y_right
        return np.matrix([[F_x_left + F_x_right], [F_y_left + F_y_right], [moment]])
