"""The simulated sea: robots with goals, vortices that carry them along, and obstacles in the way."""

import json
from dataclasses import dataclass
from pathlib import Path

import gymnasium
import numpy as np
import scipy.spatial

from legacy_marinenav.marinenav_env.envs.utils import episode
from legacy_marinenav.marinenav_env.envs.utils.robot import Robot
from legacy_marinenav.marinenav_env.envs.utils.schedule import check_training_schedule

PLACEMENT_ATTEMPTS = 500
"""Candidates drawn for the robots, the cores and the obstacles of a map; rejected ones count too."""

EPISODE_TIMESTEPS_MAX = 1000


@dataclass
class Core:
    """A vortex: centre, direction of rotation (1 clockwise, 0 not) and circulation."""

    x: float
    y: float
    clockwise: int
    Gamma: float


@dataclass
class Obstacle:
    """A disc that does not move."""

    x: float
    y: float
    r: float


class MarineNavEnv3(gymnasium.Env):
    """Several robots navigate to their goals among currents and obstacles.

    Observations, actions and rewards are lists with one entry per robot, so neither `reset` nor
    `step` has Gymnasium's signature, and there are no spaces. Whoever steps the environment
    deactivates robots that have collided or arrived.

    Args:
        seed: Seed of maps, initial headings and perception seeds.
        schedule: Lists `timesteps`, `num_robots`, `num_cores`, `num_obstacles` and
            `min_start_goal_dis`; a reset uses the last entry whose timestep has been reached.
        is_eval_env: Whether robots keep a history of observations, actions and poses.

    Raises:
        ValueError: The schedule is malformed.
    """

    def __init__(self, seed=0, schedule=None, is_eval_env=False):
        if schedule is not None:
            check_training_schedule(schedule)
        self.seed = seed
        self.rd = np.random.RandomState(seed)
        self.is_eval_env = is_eval_env

        self.width = 55
        self.height = 55
        self.r = 0.5
        self.v_rel_max = 1.0
        self.p = 0.8
        self.v_range = [3, 3]
        self.obs_r_range = [1, 1]
        self.clear_r = 10.0

        self.angular_speed_max = np.pi / 2
        self.angular_speed_penalty = -1.0
        self.steering_reward_angle_max = np.pi / 3
        self.steering_reward_speed_min = 1.0
        self.steering_reward = 0.5
        self.timestep_penalty = -0.1
        self.COLREGs_penalty = -0.1
        self.collision_penalty = -5.0
        self.goal_reward = 10.0

        self.num_cores = 8
        self.num_obs = 8
        self.min_start_goal_dis = 30.0
        self.num_robots = 6
        self.robots = [Robot(self._draw_perception_seed()) for _ in range(self.num_robots)]
        self.cores = []
        self.obstacles = []

        self.schedule = schedule
        self.episode_timesteps = 0
        self.total_timesteps = 0
        self.observation_in_robot_frame = True

    def get_action_space_dimension(self):
        """Return the number of discrete actions."""
        return self.robots[0].compute_actions_dimension()

    def reset(self):
        """Draw a new map and put the robots at their starts.

        Returns:
            Observations, collision flags and arrival flags, one of each per robot. There may be fewer
            robots, cores and obstacles than asked for: placing them stops after 500 attempts.
        """
        if self.schedule is not None:
            self._apply_schedule()
        assert self.num_robots > 0, "num_robots must be > 0"

        self.episode_timesteps = 0
        self.cores.clear()
        self.obstacles.clear()
        self.robots.clear()

        self._generate_robots()
        if self.num_cores > 0:
            self._generate_cores()
        self._index_cores()
        if self.num_obs > 0:
            self._generate_obstacles()
        return self.get_observations()

    def _apply_schedule(self):
        """Take the numbers of the stage that `total_timesteps` is in.

        Before the first stage begins, the index is -1 and the last stage applies.
        """
        reached = np.array(self.schedule["timesteps"]) <= self.total_timesteps
        stage = np.count_nonzero(reached) - 1
        self.num_robots = self.schedule["num_robots"][stage]
        self.num_cores = self.schedule["num_cores"][stage]
        self.num_obs = self.schedule["num_obstacles"][stage]
        self.min_start_goal_dis = self.schedule["min_start_goal_dis"][stage]

        print("\n======== training schedule ========")
        print("num of robots: ", self.num_robots)
        print("num of cores: ", self.num_cores)
        print("num of obstacles: ", self.num_obs)
        print("min start goal dis: ", self.min_start_goal_dis)
        print("======== training schedule ========\n")

    def _draw_perception_seed(self):
        return self.rd.randint(0, 5 * self.num_robots)

    def _draw_position(self, margin):
        """Draw a position, x first, that keeps a margin from the sides of the map."""
        low = margin * np.ones(2)
        high = np.array([self.width - margin, self.height - margin])
        return self.rd.uniform(low=low, high=high)

    def _generate_robots(self):
        for _ in range(PLACEMENT_ATTEMPTS):
            start = self._draw_position(margin=2.0)
            goal = self._draw_position(margin=2.0)
            if self.check_start_and_goal(start, goal):
                robot = Robot(self._draw_perception_seed())
                robot.start = start
                robot.goal = goal
                self.reset_robot(robot)
                self.robots.append(robot)
            if len(self.robots) == self.num_robots:
                break

    def _generate_cores(self):
        for _ in range(PLACEMENT_ATTEMPTS):
            x, y = self._draw_position(margin=0.0)
            clockwise = self.rd.binomial(1, 0.5)
            v_edge = self.rd.uniform(low=self.v_range[0], high=self.v_range[1])
            core = Core(x, y, clockwise, 2 * np.pi * self.r * v_edge)
            if self.check_core(core):
                self.cores.append(core)
            if len(self.cores) == self.num_cores:
                break

    def _index_cores(self):
        """Build the search tree over the core centres; without cores an old tree stays, unused."""
        if self.cores:
            centers = np.array([[core.x, core.y] for core in self.cores])
            self.core_centers = scipy.spatial.KDTree(centers)

    def _generate_obstacles(self):
        for _ in range(PLACEMENT_ATTEMPTS):
            x, y = self._draw_position(margin=5.0)
            r = self.rd.uniform(low=self.obs_r_range[0], high=self.obs_r_range[1])
            obstacle = Obstacle(x, y, r)
            if self.check_obstacle(obstacle):
                self.obstacles.append(obstacle)
            if len(self.obstacles) == self.num_obs:
                break

    def reset_robot(self, robot):
        """Put a robot with given start and goal into its initial state, with a random heading."""
        robot.reach_goal = False
        robot.collision = False
        robot.deactivated = False
        robot.init_theta = self.rd.uniform(low=0.0, high=2 * np.pi)
        robot.init_velocity_r = np.zeros(3)
        robot.init_pos = 0.0
        robot.init_thrust = 0.0
        current_velocity = self.get_velocity(robot.start[0], robot.start[1])
        robot.reset_state(current_velocity)

    def check_start_and_goal(self, start, goal):
        """Return whether a robot may have this start and goal next to the robots accepted so far."""
        if np.linalg.norm(goal - start) < self.min_start_goal_dis:
            return False
        for robot in self.robots:
            if np.linalg.norm(robot.start - start) <= self.clear_r:
                return False
            if np.linalg.norm(robot.goal - goal) <= self.clear_r:
                return False
        return True

    def check_core(self, core_j):
        """Return whether a core fits the map, the robots and the cores accepted so far."""
        if core_j.x - self.r < 0.0 or core_j.x + self.r > self.width:
            return False
        # The map is square, so the width does for the upper side too.
        if core_j.y - self.r < 0.0 or core_j.y + self.r > self.width:
            return False
        if not self._is_clear_of_robots(core_j, self.r):
            return False
        return all(self._are_cores_compatible(core_i, core_j) for core_i in self.cores)

    def _are_cores_compatible(self, core_i, core_j):
        """Return whether two vortices are far enough apart to be told from each other."""
        distance = np.sqrt((core_i.x - core_j.x) ** 2 + (core_i.y - core_j.y) ** 2)
        if core_i.clockwise == core_j.clockwise:
            boundary_i = core_i.Gamma / (2 * np.pi * self.v_rel_max)
            boundary_j = core_j.Gamma / (2 * np.pi * self.v_rel_max)
            return distance >= boundary_i + boundary_j
        Gamma_large = max(core_i.Gamma, core_j.Gamma)
        Gamma_small = min(core_i.Gamma, core_j.Gamma)
        v_large = Gamma_large / (2 * np.pi * (distance - 2 * self.r))
        v_small = Gamma_small / (2 * np.pi * self.r)
        return v_large <= self.p * v_small

    def check_obstacle(self, obstacle):
        """Return whether an obstacle fits the map, the robots, the cores and other obstacles."""
        if obstacle.x - obstacle.r < 0.0 or obstacle.x + obstacle.r > self.width:
            return False
        if obstacle.y - obstacle.r < 0.0 or obstacle.y + obstacle.r > self.height:
            return False
        if not self._is_clear_of_robots(obstacle, obstacle.r):
            return False
        for core in self.cores:
            distance = np.sqrt((core.x - obstacle.x) ** 2 + (core.y - obstacle.y) ** 2)
            if distance <= self.r + obstacle.r:
                return False
        for other in self.obstacles:
            distance = np.sqrt((other.x - obstacle.x) ** 2 + (other.y - obstacle.y) ** 2)
            if distance <= other.r + obstacle.r:
                return False
        return True

    def _is_clear_of_robots(self, thing, r):
        center = np.array([thing.x, thing.y])
        for robot in self.robots:
            if np.linalg.norm(center - robot.start) < r + self.clear_r:
                return False
            if np.linalg.norm(center - robot.goal) < r + self.clear_r:
                return False
        return True

    def step(self, actions, is_continuous_action=True):
        """Let every active robot carry out its action, then observe.

        Args:
            actions: One action per robot; that of a deactivated robot may be None.
            is_continuous_action: Whether actions are pairs of numbers in [-1, 1] or indices.

        Returns:
            Observations, rewards, done flags and info dictionaries, one of each per robot.
        """
        assert len(actions) == len(self.robots), "Number of actions not equal number of robots!"
        assert not self.check_all_reach_goal(), "All robots reach goals, no actions are available!"

        rewards = [
            self._move(robot, action, is_continuous_action)
            for robot, action in zip(self.robots, actions, strict=True)
        ]
        observations, collisions, reach_goals = self.get_observations()
        dones = []
        infos = []
        for index, robot in enumerate(self.robots):
            if robot.deactivated:
                rewards[index] = 0
                done, state = True, self._deactivation_state(robot)
            else:
                rewards[index] += self._COLREGs_reward(robot)
                terminal_reward, done, state = self._outcome(collisions[index], reach_goals[index])
                rewards[index] += terminal_reward
            dones.append(done)
            infos.append({"state": state})

        self.episode_timesteps += 1
        self.total_timesteps += 1
        return observations, rewards, dones, infos

    def _move(self, robot, action, is_continuous_action):
        """Integrate one robot over an action; return the reward for time and progress."""
        if robot.deactivated:
            return 0
        dis_before = robot.dist_to_goal()
        for substep in range(robot.N):
            current_velocity = self.get_velocity(robot.x, robot.y)
            robot.update_state(action, current_velocity, substep == 0, is_continuous_action)
        if self.is_eval_env:
            robot.action_history.append(action)
            robot.save_trajectory()
        dis_after = robot.dist_to_goal()
        return self.timestep_penalty + (dis_before - dis_after)

    def _COLREGs_reward(self, robot):
        return self.COLREGs_penalty * robot.phi if robot.apply_COLREGs else 0.0

    def _outcome(self, collision, reach_goal):
        """Return terminal reward, done flag and state of an active robot; the time limit goes first."""
        if self.episode_timesteps >= EPISODE_TIMESTEPS_MAX:
            return 0.0, True, "too long episode"
        if collision:
            return self.collision_penalty, True, "collision"
        if reach_goal:
            return self.goal_reward, True, "reach goal"
        return 0.0, False, "normal"

    def _deactivation_state(self, robot):
        if robot.collision:
            return "deactivated after collision"
        if robot.reach_goal:
            return "deactivated after reaching goal"
        raise RuntimeError(
            "Robot being deactivated can only be caused by collision or reaching goal!"
        )

    def get_observations(self):
        """Let every robot look around; return observations, collision flags and arrival flags."""
        observations = []
        collisions = []
        reach_goals = []
        for robot in self.robots:
            observation, collision, reach_goal = robot.perception_output(
                self.obstacles, self.robots, self.observation_in_robot_frame
            )
            if self.is_eval_env:
                robot.observation_history.append([observation[0], observation[1]])
            observations.append(observation)
            collisions.append(collision)
            reach_goals.append(reach_goal)
        return observations, collisions, reach_goals

    def check_all_deactivated(self):
        """Return whether no robot is active any more."""
        return all(robot.deactivated for robot in self.robots)

    def check_all_reach_goal(self):
        """Return whether every robot has arrived."""
        return all(robot.reach_goal for robot in self.robots)

    def check_any_collision(self):
        """Return whether any robot has collided."""
        return any(robot.collision for robot in self.robots)

    def out_of_boundary(self):
        """Return whether the robot has left the map.

        Nothing calls this: it dates from the time of one robot, and `robot` no longer exists.
        """
        x_out = self.robot.x < 0.0 or self.robot.x > self.width
        y_out = self.robot.y < 0.0 or self.robot.y > self.height
        return x_out or y_out

    def get_velocity(self, x, y):
        """Return the velocity (x, y, yaw rate 0) of the water at a position."""
        if len(self.cores) == 0:
            return np.zeros(3)

        _, indices = self.core_centers.query([x, y], k=len(self.cores))
        if len(self.cores) == 1:
            indices = [indices]

        velocity = np.zeros((2, 1))
        nearer_cores = []
        for index in indices:
            core = self.cores[index]
            radial = np.matrix([[core.x - x], [core.y - y]])
            # Meant to leave out cores in the shadow of nearer ones, but it only leaves out the rest of
            # an empty loop body: every core contributes. Users' results depend on it.
            for nearer in nearer_cores:
                if (np.transpose(nearer) * radial)[0, 0] > 0.0:
                    continue
            nearer_cores.append(radial)

            distance = np.linalg.norm(radial)
            if core.clockwise:
                quarter_turn = np.matrix([[0.0, -1.0], [1.0, 0.0]])
            else:
                quarter_turn = np.matrix([[0.0, 1.0], [-1.0, 0.0]])
            tangent = quarter_turn * (radial / distance)
            velocity = velocity + tangent * self.compute_speed(core.Gamma, distance)
        return np.array([velocity[0, 0], velocity[1, 0], 0.0])

    def get_velocity_test(self, x, y):  # noqa: ARG002 - stands in for get_velocity
        """Return a current that is the same everywhere."""
        return np.ones(2) / np.sqrt(2)

    def compute_speed(self, Gamma, d):
        """Return the speed at a distance from a vortex: rigid rotation inside the core, else 1/d."""
        if d <= self.r:
            return Gamma / (2 * np.pi * self.r * self.r) * d
        return Gamma / (2 * np.pi * d)

    def reset_with_eval_config(self, eval_config):
        """Set up the map and the robots of a stored episode; its histories are not used.

        The generator restarts from the stored seed. Perception seeds are drawn from a range given by
        this environment's own `num_robots`, which keeps its value.

        Args:
            eval_config: What `episode_data` returned, possibly by way of JSON.

        Returns:
            Observations, collision flags and arrival flags, one of each per robot.
        """
        self.episode_timesteps = 0
        stored = eval_config["env"]
        episode.restore_environment(self, stored)
        self.rd = np.random.RandomState(self.seed)
        self._load_cores(stored["cores"])
        self._load_obstacles(stored["obstacles"])
        self._load_robots(eval_config["robots"], stored["num_robots"])
        return self.get_observations()

    def _load_cores(self, stored):
        self.cores.clear()
        for (x, y), clockwise, Gamma in zip(
            stored["positions"], stored["clockwise"], stored["Gamma"], strict=True
        ):
            self.cores.append(Core(x, y, clockwise, Gamma))
        self._index_cores()

    def _load_obstacles(self, stored):
        self.obstacles.clear()
        for (x, y), r in zip(stored["positions"], stored["r"], strict=True):
            self.obstacles.append(Obstacle(x, y, r))

    def _load_robots(self, stored, num_robots):
        self.robots.clear()
        for index in range(num_robots):
            robot = Robot(self._draw_perception_seed())
            episode.restore_robot(robot, stored, index)
            robot.compute_actions()
            robot.compute_constant_matrices()
            current_velocity = self.get_velocity(robot.start[0], robot.start[1])
            robot.reset_state(current_velocity)
            self.robots.append(robot)

    def episode_data(self):
        """Return map, parameters and histories of the present episode as JSON-serialisable data."""
        return {
            "env": episode.describe_environment(self),
            "robots": episode.describe_robots(self.robots),
        }

    def save_episode(self, filename):
        """Write `episode_data` to a JSON file."""
        with Path(filename).open("w") as file:
            json.dump(self.episode_data(), file)
