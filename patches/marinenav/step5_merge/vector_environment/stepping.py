"""One step of the environment, all active robots at once.

Replaces: marinenav_env.envs.marinenav_env:MarineNavEnv3.step
Removes:  the loop over robots and substeps: 50 updates per step become ten with five robots
Keeps:    every value and type that the legacy step returns or leaves in a robot: rewards, flags,
          texts, poses, velocities, thrusts (single precision if the action was), histories, errors

State is gathered from the robots, computed in arrays and written back within a call; nothing is kept
between calls, so robots can be read and changed from outside as ever. Until it is written back nothing
has changed, so whatever is not supported, or goes wrong, is left to the legacy step from the start:
robots or environments with their own methods, robots that differ in their number of substeps, numbers
that are neither doubles nor integers or not finite, actions that do not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from legacy_marinenav.marinenav_env.envs import marinenav_env
from patches.marinenav.step5_merge.vector_environment import legacy, vessels
from patches.marinenav.step5_merge.vector_environment.coefficients import coefficients_of, key_of
from patches.marinenav.step5_merge.vector_environment.current import current_of
from patches.marinenav.step5_merge.vector_environment.legacy import lengths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from patches.marinenav.step5_merge.vector_environment.coefficients import Coefficients
    from patches.marinenav.step5_merge.vector_environment.legacy import Array
    from patches.marinenav.step5_merge.vector_environment.vessels import Current


@dataclass(frozen=True, slots=True)
class Fleet:
    """The active robots' state, as arrays, at the beginning of a step."""

    goals: Array
    poses: Array
    velocities: Array
    thrusts: list[tuple[Any, Any]]
    propulsion: Array
    coefficients: Coefficients
    current: Current
    substeps: int


@dataclass(frozen=True, slots=True)
class Course:
    """What a step made of the fleet, one row per robot; the arrays become the robots' own."""

    poses: Array
    ground: Array
    water: Array
    thrusts: list[tuple[Any, Any]]
    progress: Array

    def follow(self, robots: list[Any]) -> tuple[list[Array], list[Array]]:
        """Write the computed state back to the robots; return their velocities over ground and through water."""
        ground, water = list(self.ground), list(self.water)
        numbers = list(self.poses.flat)
        poses = numbers[::3], numbers[1::3], numbers[2::3]
        for robot, x, y, theta, velocity, velocity_r, thrusts in zip(
            robots, *poses, ground, water, self.thrusts, strict=True
        ):
            robot.x = x
            robot.y = y
            robot.theta = theta
            robot.velocity = velocity
            robot.velocity_r = velocity_r
            robot.left_thrust, robot.right_thrust = thrusts
        return ground, water


Plot = Callable[[Any, list[Any], list[Any], bool], Course | None]
"""Computes where robots go, without moving them, given the environment, the robots and their actions."""


def step(self: Any, actions: Sequence[Any], is_continuous_action: bool = True) -> tuple[Any, ...]:
    """Let every active robot carry out its action, then observe.

    Args:
        self: The environment.
        actions: One action per robot; that of a deactivated robot may be None.
        is_continuous_action: Whether actions are pairs of numbers in [-1, 1] or indices.

    Returns:
        Observations, rewards, done flags and info dictionaries, one of each per robot.
    """
    return carry_out(self, actions, is_continuous_action, plot)


def carry_out(
    environment: Any, actions: Sequence[Any], is_continuous_action: bool, plot_course: Plot
) -> tuple[Any, ...]:
    """Let active robots follow the course that is plotted for them, then observe."""
    all_robots = environment.robots
    assert len(actions) == len(all_robots), "Number of actions not equal number of robots!"
    assert not environment.check_all_reach_goal(), (
        "All robots reach goals, no actions are available!"
    )

    active = [index for index, robot in enumerate(all_robots) if not robot.deactivated]
    robots = [all_robots[index] for index in active]
    rewards: list[Any] = [0] * len(all_robots)
    if robots:
        commands = [actions[index] for index in active]
        course = plot_course(environment, robots, commands, is_continuous_action)
        if course is None:
            result: tuple[Any, ...] = legacy.STEP(environment, actions, is_continuous_action)
            return result
        course.follow(robots)
        for index, gain in zip(active, _gains(environment, course), strict=True):
            rewards[index] = gain
        if environment.is_eval_env:
            for robot, command in zip(robots, commands, strict=True):
                robot.action_history.append(command)
                robot.save_trajectory()
    return _judge(environment, rewards)


def _gains(environment: Any, course: Course) -> list[Any]:
    """Return the rewards for time and progress."""
    penalty = environment.timestep_penalty
    if type(penalty) is float:
        return list((course.progress + penalty).flat)
    return [penalty + progress for progress in list(course.progress.flat)]


def _judge(environment: Any, rewards: list[Any]) -> tuple[Any, ...]:
    """Observe, complete the rewards and say who is done."""
    observations, collisions, reach_goals = environment.get_observations()
    dones = []
    infos = []
    is_in_time = (
        environment.episode_timesteps < marinenav_env.EPISODE_TIMESTEPS_MAX
        and legacy.JUDGING_ENVIRONMENT.covers_subclass(environment)
    )
    for index, robot in enumerate(environment.robots):
        if robot.deactivated:
            rewards[index] = 0
            done, state = True, environment._deactivation_state(robot)  # noqa: SLF001
        elif is_in_time and not (robot.apply_COLREGs or collisions[index] or reach_goals[index]):
            # Nothing has happened; the zeros that legacy adds then turn -0.0 into 0.0.
            rewards[index] += 0.0
            done, state = False, "normal"
        else:
            rewards[index] += environment._COLREGs_reward(robot)  # noqa: SLF001
            terminal_reward, done, state = environment._outcome(  # noqa: SLF001
                collisions[index], reach_goals[index]
            )
            rewards[index] += terminal_reward
        dones.append(done)
        infos.append({"state": state})
    environment.episode_timesteps += 1
    environment.total_timesteps += 1
    return observations, rewards, dones, infos


def plot(
    environment: Any, robots: list[Any], actions: list[Any], is_continuous_action: bool
) -> Course | None:
    """Compute where the robots go, without moving them; None if only the legacy code can."""
    try:
        fleet = _gather(environment, robots, actions, is_continuous_action)
        if fleet is None:
            return None
        before = _goal_distances(fleet)
        vessels.advance(
            fleet.poses,
            fleet.velocities,
            fleet.propulsion,
            fleet.coefficients,
            fleet.current,
            fleet.substeps,
        )
        after = _goal_distances(fleet)
        # The legacy code stops where a number is lost: the search for the nearest cores refuses it.
        if not (np.isfinite(fleet.poses).all() and np.isfinite(fleet.velocities).all()):
            return None
    except Exception:  # whatever it was, the legacy step raises it at the proper place
        return None
    ground, water = fleet.velocities
    return Course(fleet.poses.T, ground.T.copy(), water.T.copy(), fleet.thrusts, before - after)


def _gather(
    environment: Any, robots: list[Any], actions: list[Any], is_continuous_action: bool
) -> Fleet | None:
    substeps = robots[0].N
    if not _are_supported(environment, robots, substeps):
        return None
    poses = np.empty((3, len(robots)))
    poses.T[:] = [(robot.x, robot.y, robot.theta) for robot in robots]
    velocities = np.empty((2, 3, len(robots)))
    velocities[1].T[:] = [robot.velocity_r.tolist() for robot in robots]
    goals = np.array([robot.goal for robot in robots])
    current = current_of(environment, len(robots))
    if current is None or not (np.isfinite(poses).all() and np.isfinite(velocities[1]).all()):
        return None
    thrusts = [
        changed_thrusts(robot, action, is_continuous_action)
        for robot, action in zip(robots, actions, strict=True)
    ]
    propulsion = [
        propulsion_of(robot, left, right)
        for robot, (left, right) in zip(robots, thrusts, strict=True)
    ]
    return Fleet(
        goals=goals,
        poses=poses,
        velocities=velocities,
        thrusts=thrusts,
        propulsion=np.array(propulsion).T.copy(),
        coefficients=coefficients_of([key_of(robot) for robot in robots]),
        current=current,
        substeps=substeps,
    )


def _are_supported(environment: Any, robots: list[Any], substeps: Any) -> bool:
    """Return whether robots move as usual, all of them by so many substeps."""
    return move_as_usual(environment, robots, substeps) and all(
        _is_supported(robot, substeps) for robot in robots
    )


def move_as_usual(environment: Any, robots: list[Any], substeps: Any) -> bool:
    """Return whether robots, of which there are any, and the water move by the legacy methods."""
    return (
        type(substeps) is int
        and substeps > 0
        and legacy.MOVING_ROBOT.is_intact()
        and legacy.MOVING_ENVIRONMENT.covers_subclass(environment)
        and legacy.MOVING_ROBOT.covers_all(robots)
    )


def _is_supported(robot: Any, substeps: int) -> bool:
    return (
        substeps == robot.N
        and legacy.is_vector(robot.velocity_r, 3)
        and type(robot.goal) is np.ndarray
        and robot.goal.shape == (2,)
    )


def changed_thrusts(robot: Any, action: Any, is_continuous_action: bool) -> tuple[Any, Any]:
    """Return what an action makes of the two thrusts, in the type that it makes of them."""
    if is_continuous_action:
        left_change, right_change = action[0] * 1000.0, action[1] * 1000.0
    else:
        left_change, right_change = robot.actions[action]
    left = robot.left_thrust + left_change * robot.dt * robot.N
    right = robot.right_thrust + right_change * robot.dt * robot.N
    low, high = robot.min_thrust, robot.max_thrust
    return _clip(left, low, high), _clip(right, low, high)


def _clip(thrust: Any, low: Any, high: Any) -> Any:
    """Return ``numpy.clip`` of a number, sparing its overhead where the number is within bounds."""
    if type(low) is float and type(high) is float:
        is_double = type(thrust) is float or type(thrust) is np.float64
        if is_double and thrust == thrust:  # noqa: PLR0124 - false for not-a-number
            return np.float64(min(high, max(low, thrust)))
        if type(thrust) is np.float32 and low <= thrust <= high:
            return thrust
    return np.clip(thrust, low, high)


def propulsion_of(robot: Any, left: Any, right: Any) -> tuple[Any, Any, Any]:
    """Return forces and turning moment of both thrusters in the robot frame, in the types that legacy makes of them."""
    width, length = robot.width, robot.length
    left_x, left_y = _resolve(left, robot.left_pos)
    right_x, right_y = _resolve(right, robot.right_pos)
    moment = (
        left_x * width / 2 + -left_y * length / 2 + -right_x * width / 2 + -right_y * length / 2
    )
    return left_x + right_x, left_y + right_y, moment


def _resolve(thrust: Any, angle: Any) -> tuple[Any, Any]:
    if type(angle) is float and angle == 0.0:
        return np.float64(thrust), np.float64(thrust) * angle
    return thrust * np.cos(angle), thrust * np.sin(angle)


def _goal_distances(fleet: Fleet) -> Array:
    return lengths(fleet.goals - fleet.poses[:2].T)
