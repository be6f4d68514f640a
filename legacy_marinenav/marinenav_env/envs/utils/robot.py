"""A robot of the environment: a vessel with a start, a goal, and an eye on its surroundings."""

import copy
import heapq

import numpy as np

from legacy_marinenav.marinenav_env.envs.utils import colregs
from legacy_marinenav.marinenav_env.envs.utils.perception import Perception
from legacy_marinenav.marinenav_env.envs.utils.vessel import Vessel


class Robot(Vessel):
    """Vessel on its way to a goal that sees what is near, touches it or gives way to it.

    `apply_COLREGs` and `phi` exist from the first observation that sets them.

    Args:
        seed: Seed of the perception noise.
    """

    def __init__(self, seed=0):
        super().__init__()
        self.perception = Perception(seed)
        self.safe_dis = 10.0
        self.goal_dis = 2.0
        self.goal_angluar_speed = np.pi / 12
        self.head_on_zone_x_dim = 17.0
        self.head_on_zone_y_dim = 9.0
        self.left_crossing_zone_x_dim = [-9.0, 12.0]
        self.left_crossing_zone_y_dim_front = [-17.0, -7.0]

        self.start = None
        self.goal = None
        self.collision = False
        self.reach_goal = False
        self.deactivated = False

        self.observation_history = []
        self.action_history = []
        self.trajectory = []

    def dist_to_goal(self):
        """Return the distance from the present position to the goal."""
        return np.linalg.norm(self.goal - np.array([self.x, self.y]))

    def check_reach_goal(self):
        """Remember it if the goal is within reach."""
        if self.dist_to_goal() <= self.goal_dis:
            self.reach_goal = True

    def reset_state(self, current_velocity):
        """Go back to the start with the initial heading, velocity and thrust.

        Args:
            current_velocity: Velocity of the water at the start position.
        """
        self.observation_history.clear()
        self.action_history.clear()
        self.trajectory.clear()
        self.x = self.start[0]
        self.y = self.start[1]
        self.theta = self.init_theta
        self.velocity_r = self.init_velocity_r
        self.velocity = self.velocity_r + current_velocity
        self.left_pos = self.init_left_pos
        self.right_pos = self.init_right_pos
        self.left_thrust = self.init_left_thrust
        self.right_thrust = self.init_right_thrust
        self.save_trajectory()

    def save_trajectory(self):
        """Append the present pose, velocities and thruster states to the trajectory."""
        self.trajectory.append(
            [
                self.x,
                self.y,
                self.theta,
                *self.velocity_r,
                *self.velocity,
                self.left_pos,
                self.right_pos,
                self.left_thrust,
                self.right_thrust,
            ]
        )

    def perception_output(self, obstacles, robots, in_robot_frame=True):
        """Look around once, drawing noise for everything that could be seen.

        Args:
            obstacles: All obstacles.
            robots: All robots, this one included.
            in_robot_frame: Whether observations are in the robot frame or in the world frame.

        Returns:
            The observation (own state, list of nearest objects), whether the robot has collided and
            whether it has reached its goal. The observation of a deactivated robot is (None, None).
        """
        if self.deactivated:
            return (None, None), self.collision, self.reach_goal

        perception = self.perception
        perception.observation["self"] = self._observe_self(in_robot_frame)
        perception.observation["objects"].clear()
        perception.observed_obs.clear()
        perception.observed_objs.clear()
        self.check_reach_goal()

        for index, obstacle in enumerate(obstacles):
            if self._observe_object(obstacle, (0.0, 0.0), in_robot_frame):
                perception.observed_obs.append(index)
        for index, robot in enumerate(robots):
            if robot is self or robot.deactivated:
                continue
            if self._observe_object(robot, robot.velocity, in_robot_frame):
                perception.observed_objs.append(index)

        own_state = copy.deepcopy(perception.observation["self"])
        objects = copy.deepcopy(
            heapq.nsmallest(
                perception.max_obj_num, perception.observation["objects"], key=self._clearance
            )
        )
        self.apply_COLREGs = False
        for object_state in objects:
            if self.check_apply_COLREGs(own_state, object_state):
                self.apply_COLREGs = True
                break
        return (own_state, objects), self.collision, self.reach_goal

    def _observe_self(self, in_robot_frame):
        if in_robot_frame:
            goal = self.project_to_robot_frame(self.goal, is_vector=False)
            velocity = self.project_to_robot_frame(self.velocity[:2])
            return [*goal, *velocity, self.velocity[2], self.left_thrust, self.right_thrust]
        return [self.x, self.y, *self.velocity, self.left_thrust, self.right_thrust, *self.goal]

    def _observe_object(self, thing, velocity, in_robot_frame):
        """Observe an obstacle or robot; return whether it was detected.

        Five numbers are drawn in any case. Only a detected object can be collided with.
        """
        x, y = self.perception.pos_observation(thing.x, thing.y)
        v_x, v_y = self.perception.velocity_observation(velocity[0], velocity[1])
        r = self.perception.r_observation(thing.r)
        if not self.check_detection(x, y, r):
            return False

        if not self.collision:
            self.check_collision(thing.x, thing.y, thing.r)
        if in_robot_frame:
            x, y = self.project_to_robot_frame(np.array([x, y]), is_vector=False)
            v_x, v_y = self.project_to_robot_frame(np.array([v_x, v_y]))
        self.perception.observation["objects"].append([x, y, v_x, v_y, r])
        return True

    def check_detection(self, x, y, r):
        """Return whether an object with this world-frame position and radius is in sensor range."""
        position = self.project_to_robot_frame(np.array([x, y]), is_vector=False)
        if np.linalg.norm(position) > self.perception.range + r:
            return False
        bearing = np.arctan2(position[1], position[0])
        return -0.5 * self.perception.angle <= bearing <= 0.5 * self.perception.angle

    def check_collision(self, x, y, r):
        """Remember it if an object with this world-frame position and radius is touched."""
        distance = np.sqrt((self.x - x) ** 2 + (self.y - y) ** 2) - r - self.r
        if distance <= 0.0:
            self.collision = True

    def _clearance(self, object_state):
        """Return the gap between the hull and an object observed in the robot frame."""
        x, y, _, _, r = object_state
        return np.sqrt(x**2 + y**2) - r - self.r

    def check_apply_COLREGs(self, own_state, object_state):
        """Return whether the robot owes an object a turn, and store the angle as `phi`.

        Args:
            own_state: Observation of the robot itself.
            object_state: Observation (x, y, v_x, v_y, r) of the object.
        """
        ego_velocity = own_state[2:4]
        if np.linalg.norm(np.array(object_state[2:4])) < 0.5:
            return False
        if np.linalg.norm(np.array(ego_velocity)) < 0.5:
            return False

        position, velocity = colregs.ego_in_vehicle_frame(ego_velocity, object_state)
        if self.check_left_crossing(position, velocity) or self.check_head_on(position, velocity):
            self.phi = colregs.compute_turn_angle(ego_velocity, object_state, self.r)
            return self.phi > 0
        return False

    def check_left_crossing(self, position, velocity):
        """Return whether the robot crosses from the left, seen in the other vehicle's frame."""
        x, y = position
        rear, front = self.left_crossing_zone_x_dim
        far, corner = self.left_crossing_zone_y_dim_front
        if not (rear <= x <= front and far <= y <= 0.0):
            return False
        if y - corner > corner / front * (x - front):
            return False
        heading = np.arctan2(velocity[1], velocity[0])
        return np.pi / 4 <= heading <= 3 * np.pi / 4

    def check_head_on(self, position, velocity):
        """Return whether the robot comes from ahead, seen in the other vehicle's frame."""
        x, y = position
        if not 0.0 <= x <= self.head_on_zone_x_dim:
            return False
        if np.abs(y) > 0.5 * self.head_on_zone_y_dim:
            return False
        heading = np.arctan2(velocity[1], velocity[0])
        return np.abs(heading) > 3 * np.pi / 4
