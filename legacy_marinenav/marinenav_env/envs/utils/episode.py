"""How an episode is written down: which values of the environment and its robots, in which order."""

import copy

import numpy as np

ENVIRONMENT_KEYS = (
    "seed",
    "is_eval_env",
    "width",
    "height",
    "r",
    "v_rel_max",
    "p",
    "v_range",
    "obs_r_range",
    "clear_r",
    "angular_speed_max",
    "angular_speed_penalty",
    "timestep_penalty",
    "COLREGs_penalty",
    "collision_penalty",
    "goal_reward",
)
ROBOT_KEYS = (
    "dt",
    "N",
    "length",
    "width",
    "detect_r",
    "r",
    "goal_dis",
    "power_coefficient",
    "min_thrust",
    "max_thrust",
    "left_thrust_change",
    "right_thrust_change",
    "m",
    "Izz",
    "xDotU",
    "yDotV",
    "yDotR",
    "nDotR",
    "nDotV",
    "xU",
    "xUU",
    "yV",
    "yVV",
    "yR",
    "yRV",
    "yVR",
    "yRR",
    "nR",
    "nRR",
    "nV",
    "nVV",
    "nRV",
    "nVR",
    "start",
    "goal",
    "init_theta",
    "init_velocity_r",
    "init_left_pos",
    "init_right_pos",
    "init_left_thrust",
    "init_right_thrust",
)
PERCEPTION_KEYS = (
    "range",
    "angle",
    "max_obj_num",
    "pos_std",
    "vel_std",
    "r_kappa",
    "r_mean_ratio",
)
HISTORY_KEYS = ("observation_history", "action_history", "trajectory")


def describe_environment(environment):
    """Return the parameters and the map of an environment as JSON-serialisable data."""
    cores, obstacles = environment.cores, environment.obstacles
    return {
        **{key: copy.deepcopy(getattr(environment, key)) for key in ENVIRONMENT_KEYS},
        "num_robots": environment.num_robots,
        "cores": {
            "positions": [[core.x, core.y] for core in cores],
            "clockwise": [core.clockwise for core in cores],
            "Gamma": [core.Gamma for core in cores],
        },
        "obstacles": {
            "positions": [[obstacle.x, obstacle.y] for obstacle in obstacles],
            "r": [obstacle.r for obstacle in obstacles],
        },
    }


def describe_robots(robots):
    """Return parameters and histories of robots: under each key a list with one entry per robot."""
    return {
        **{key: [_as_plain(getattr(robot, key)) for robot in robots] for key in ROBOT_KEYS},
        "perception": {
            key: [getattr(robot.perception, key) for robot in robots] for key in PERCEPTION_KEYS
        },
        **{key: [copy.deepcopy(getattr(robot, key)) for robot in robots] for key in HISTORY_KEYS},
    }


def restore_environment(environment, description):
    """Give an environment the stored parameters; the wanted numbers of things stay its own."""
    for key in ENVIRONMENT_KEYS:
        setattr(environment, key, copy.deepcopy(description[key]))


def restore_robot(robot, descriptions, index):
    """Give a robot the stored parameters of the robot with this index; histories are not stored back."""
    for key in ROBOT_KEYS:
        setattr(robot, key, _as_array(descriptions[key][index]))
    for key in PERCEPTION_KEYS:
        setattr(robot.perception, key, descriptions["perception"][key][index])


def _as_plain(value):
    return list(value) if isinstance(value, np.ndarray) else value


def _as_array(value):
    return np.array(value) if isinstance(value, list) else value
